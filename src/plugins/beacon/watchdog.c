/* watchdog.c - beacon watchdog: changes in folders, in the words of Python's watchdog. The kernel tells a
 * move as two events with one number: the first is kept until the second comes, and counts as a deletion when
 * it does not. Like there, a folder is modified when something in it is made or deleted. */
#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/beacon/watches.h"
#include "salt/plugin.h"

/* Words of a mask, what the events are called, and the kernel's bits of them. */
static const struct {
    const char *word, *change;
    uint32_t bits;
} kinds[] = {
    { "create", "created", IN_CREATE | IN_MOVED_TO },
    { "modify", "modified", IN_MODIFY | IN_ATTRIB },
    { "delete", "deleted", IN_DELETE | IN_MOVED_FROM },
    { "move", "moved", IN_MOVED_FROM | IN_MOVED_TO },
};

typedef struct watchdog {
    watches_t *watches;
    char *moved; /* owned: where something was before it moved, until the event of its new name; NULL: none */
    uint32_t cookie;   /* of that */
    size_t moved_root; /* and its folder's number */
} watchdog_t;

static char *
watchdog_validate(const json_t *list, const json_t *config)
{
    json_t *folders = value_get(config, "directories"), *how, *one;
    const char *path;
    size_t i, k;
    if (folders == NULL)
        return xstrdup("Configuration for watchdog beacon must include directories.");
    if (!json_is_object(folders))
        return xstrdup("Configuration for watchdog beacon directories must be a dictionary.");
    json_object_foreach (folders, path, how) {
        json_t *mask = value_get(how, "mask");
        if (!json_is_object(how))
            return xstrdup("Configuration for watchdog beacon directory path must be a dictionary.");
        if (mask != NULL && !json_is_array(mask))
            return xstrdup("Configuration for watchdog beacon mask must be list.");
        json_array_foreach (mask, i, one) {
            for (k = 0; k < NELEMS(kinds) && !str_eq(kinds[k].word, json_string_value(one)); k++)
                continue;
            if (k == NELEMS(kinds))
                return xstrdup("Configuration for watchdog beacon contains invalid mask");
        }
    }
    return NULL;
}

/* Watches all that any mask may ask for: which events are told is decided when they come. */
static void *
watchdog_open(beacon_look_t *look, fail_t *err)
{
    watches_t *watches = watches_new(err);
    const char *path;
    json_t *how;
    if (watches == NULL)
        return NULL;
    json_object_foreach (value_get(look->config, "directories"), path, how) {
        const watch_spec_t spec = { .path = path,
                                    .mask = IN_CREATE | IN_DELETE | IN_MODIFY | IN_ATTRIB | IN_CLOSE_WRITE |
                                            IN_MOVED_FROM | IN_MOVED_TO };
        watches_add(watches, &spec);
    }
    watchdog_t *self = xcalloc(1, sizeof(*self));
    self->watches = watches;
    return self;
}

/* Adds an event when the folder's mask has its word. */
static void
watchdog_add(beacon_look_t *look, size_t root, size_t kind, const char *path)
{
    json_t *folders = value_get(look->config, "directories");
    void *at = json_object_iter(folders);
    for (size_t i = 0; i < root && at != NULL; i++)
        at = json_object_iter_next(folders, at);
    json_t *mask = value_get(json_object_iter_value(at), "mask");
    if (json_array_size(mask) > 0 && !value_lists(mask, kinds[kind].word))
        return;
    json_auto_t *event = json_pack("{s:s, s:s, s:s}", "tag", "watchdog", "path", path, "change",
                                   kinds[kind].change);
    if (!json_equal(event, json_array_get(look->events, json_array_size(look->events) - 1)))
        json_array_append(look->events, event); /* the same thing twice in a row is told once */
}

/* A folder changed with what is in it. */
static void
watchdog_folder_of(beacon_look_t *look, size_t root, const char *path)
{
    const char *slash = strrchr(path, '/');
    AUTO_FREE char *folder = xstrndup(path, slash > path ? (size_t) (slash - path) : 1);
    watchdog_add(look, root, 1, folder);
}

/* Something left a watched folder and came to none: it counts as deleted. */
static void
watchdog_left(watchdog_t *self, beacon_look_t *look)
{
    AUTO_FREE char *path = STEAL(self->moved);
    if (path == NULL)
        return;
    watchdog_add(look, self->moved_root, 2, path);
    watchdog_folder_of(look, self->moved_root, path);
}

static void
watchdog_event(void *cookie, const watch_event_t *event)
{
    beacon_look_t *look = cookie;
    watchdog_t *self = look->own;
    AUTO_FREE char *path = *event->name != '\0' ? fs_join(event->path, event->name) : xstrdup(event->path);
    if (event->mask & IN_MOVED_TO && self->moved != NULL && self->cookie == event->cookie) {
        watchdog_add(look, self->moved_root, 3, self->moved);
        watchdog_folder_of(look, self->moved_root, self->moved);
        watchdog_folder_of(look, event->root, path);
        free(STEAL(self->moved));
        return;
    }
    watchdog_left(self, look);
    if (event->mask & IN_MOVED_FROM) {
        self->moved = STEAL(path);
        self->cookie = event->cookie;
        self->moved_root = event->root;
        return;
    }
    for (size_t i = 0; i < 3; i++)
        if (event->mask & kinds[i].bits)
            watchdog_add(look, event->root, i, path);
    if (event->mask & (IN_CREATE | IN_DELETE | IN_MOVED_TO | IN_CLOSE_WRITE))
        watchdog_folder_of(look, event->root, path);
}

static int
watchdog_look(beacon_look_t *look, fail_t *err)
{
    watchdog_t *self = look->own;
    int rc = watches_read(self->watches, watchdog_event, look, err);
    watchdog_left(self, look);
    return rc;
}

static int
watchdog_fd(const void *own)
{
    return watches_fd(((const watchdog_t *) own)->watches);
}

static int
watchdog_again_ms(const void *own)
{
    return watches_again_ms(((const watchdog_t *) own)->watches);
}

static void
watchdog_close(void *own, bool copied)
{
    watchdog_t *self = own;
    watches_destroy(&self->watches);
    free(self->moved);
    free(self);
}

static const beacon_row_t row = { .validate = watchdog_validate,
                                  .look = watchdog_look,
                                  .edges = true,
                                  .open = watchdog_open,
                                  .fd = watchdog_fd,
                                  .close = watchdog_close,
                                  .again_ms = watchdog_again_ms };

PLUGIN(beacon, watchdog, .doc = "Folders: fires what is made, changed, moved and deleted in them.",
       .beacon = &row);
