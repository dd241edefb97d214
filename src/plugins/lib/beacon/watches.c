/* watches.c - see watches.h. A tree is walked a part at a time, so that a large one keeps nobody waiting. */
#include "plugins/lib/beacon/watches.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/fs.h"
#include "common/base/map.h"
#include "common/base/str.h"
#include "common/match/regex.h"
#include "salt/limits.h"
#include "salt/log.h"
#include "salt/value.h"

enum {
    STEP = 256,        /* folders that one look begins to watch */
    MISSING_MS = 1000, /* between looks for paths that are not there */
};

typedef struct root {
    char *path; /* owned */
    uint32_t mask;
    bool recurse, auto_add, missing;
    int said;        /* the error of watching it that was told last; 0: none */
    rx_t **excludes; /* owned, n_excludes of them */
    size_t n_excludes;
} root_t;

/* A path that is watched. The kernel has one watch for a file, whatever leads to it: its paths are a chain,
 * and each is told what its own mask asks for. */
typedef struct watch {
    size_t root;        /* number of the spec; SIZE_MAX: given up, while others of the chain are not */
    bool link;          /* of the link that has the spec's path, not of what it leads to */
    char *path;         /* owned */
    struct watch *next; /* owned: another path of the same file */
} watch_t;

struct watches {
    int fd;
    root_t *roots; /* owned */
    size_t n_roots;
    map_t *all; /* owned: wd as text -> watch_t chain */
    json_t
        *pending; /* owned [[path, root, fresh], ...]: folders that are to be watched; fresh: made just now */
    bool full;    /* LIMIT_BEACON_WATCHES was said */
};

/* Frees the whole chain. */
static void
watch_free(void *p)
{
    for (watch_t *watch = p, *next; watch != NULL; watch = next) {
        next = watch->next;
        free(watch->path);
        free(watch);
    }
}

/* No path yet. NULL with *err: a user may have only so many of the kernel's queues. */
watches_t *
watches_new(fail_t *err)
{
    int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (fd < 0)
        return (void) fail_set(err, -errno, "inotify_init: %s; see fs.inotify.max_user_instances",
                               strerror(errno)),
               NULL;
    watches_t *self = xcalloc(1, sizeof(*self));
    self->fd = fd;
    self->all = map_new(watch_free);
    self->pending = json_array();
    return self;
}

void
watches_destroy(watches_t **self_p)
{
    watches_t *self = STEAL(*self_p);
    if (self == NULL)
        return;
    (void) close(self->fd);
    for (size_t i = 0; i < self->n_roots; i++) {
        for (size_t k = 0; k < self->roots[i].n_excludes; k++)
            rx_destroy(&self->roots[i].excludes[k]);
        free(self->roots[i].excludes);
        free(self->roots[i].path);
    }
    free(self->roots);
    map_destroy(&self->all);
    json_decref(self->pending);
    free(self);
}

/* For the loop that waits; readable when something has happened. */
int
watches_fd(const watches_t *self)
{
    return self->fd;
}

/* ---- adding ------------------------------------------------------------------------------------------- */

/* The same path of the same spec is taken once. The place of a path that was given up is used again. */
static void
watches_note(watches_t *self, int wd, size_t root, bool link, const char *path)
{
    char key[16];
    (void) snprintf(key, sizeof(key), "%d", wd);
    watch_t *first = map_get(self->all, key), *given_up = NULL, *last = first;
    for (watch_t *one = first; one != NULL; last = one, one = one->next) {
        if (one->root == root && one->link == link && str_eq(one->path, path))
            return;
        if (one->root == SIZE_MAX)
            given_up = one;
    }
    watch_t *watch = given_up != NULL ? given_up : xcalloc(1, sizeof(*watch));
    free(watch->path);
    *watch = (watch_t){ root, link, xstrdup(path), watch->next };
    if (first == NULL)
        map_set(self->all, key, watch);
    else if (given_up == NULL)
        last->next = watch;
}

/* Watches one file or folder; false when it is not there. That of a spec tells when it is renamed: another
 * may get its path. IN_MASK_ADD: a file of two specs has one watch, whose mask must be that of both. */
static bool
watches_one(watches_t *self, size_t at, const char *path)
{
    root_t *root = &self->roots[at];
    uint32_t more = str_eq(path, root->path) ? IN_MOVE_SELF : 0;
    for (size_t i = 0; i < root->n_excludes; i++)
        if (rx_match(root->excludes[i], path, strlen(path), 0, NULL) == 1)
            return true;
    /* The kernel holds about a kilobyte for each. What is left out is said once. */
    if (map_len(self->all) >= LIMIT_BEACON_WATCHES) {
        if (!self->full)
            log_error("%s: %d files and folders are watched already; the others are not", root->path,
                      LIMIT_BEACON_WATCHES);
        self->full = true;
        return true;
    }
    int wd = inotify_add_watch(self->fd, path, root->mask != 0 ? root->mask | more | IN_MASK_ADD : 0);
    if (wd < 0) {
        /* Told once while the error stays the same. */
        int code = errno;
        bool absent = fs_is_absence(-code);
        if (!absent && root->said != code)
            log_error("%s can't be watched: %s%s", path, strerror(code),
                      code == ENOSPC ? "; see fs.inotify.max_user_watches" : "");
        if (!absent)
            root->said = code;
        return false;
    }
    watches_note(self, wd, at, false, path);
    return true;
}

/* Folders beyond the bound are left out: so many folders are not watched anyway. */
static void
watches_queue(watches_t *self, const char *path, size_t root, bool fresh)
{
    if (json_array_size(self->pending) < LIMIT_BEACON_WATCHES)
        json_array_append_new(self->pending, json_pack("[s, I, b]", path, (json_int_t) root, fresh));
}

/* Begins with a path of a spec, when it is there. Links are watched, and not walked. A link has a second
 * watch, of itself: when it is pointed elsewhere, the file that it led to tells nothing. */
static void
watches_begin(watches_t *self, size_t at)
{
    root_t *root = &self->roots[at];
    struct stat st;
    root->missing = !watches_one(self, at, root->path);
    if (root->missing || lstat(root->path, &st) != 0)
        return;
    root->said = 0;
    if (root->recurse && S_ISDIR(st.st_mode))
        watches_queue(self, root->path, at, false);
    if (!S_ISLNK(st.st_mode) || root->mask & IN_DONT_FOLLOW)
        return;
    int wd = inotify_add_watch(self->fd, root->path,
                               IN_DONT_FOLLOW | IN_MOVE_SELF | IN_DELETE_SELF | IN_MASK_ADD);
    if (wd >= 0)
        watches_note(self, wd, at, true, root->path);
}

/* Goes on with a folder: those in it are watched, and of a new one, what was made in it meanwhile is told.
 * Between its making and its watch a folder may have got files, of which no event comes. */
static void
watches_folder(watches_t *self, const json_t *item, watch_fn *fn, void *cookie)
{
    const char *path = json_string_value(json_array_get(item, 0));
    size_t root = (size_t) json_integer_value(json_array_get(item, 1));
    bool fresh = json_is_true(json_array_get(item, 2));
    fail_auto_t why = FAIL_INIT;
    char **names = NULL;
    if (fs_names(path, &names, &why) < 0)
        return;
    for (size_t i = 0; names[i] != NULL; i++) {
        AUTO_FREE char *inner = fs_join(path, names[i]);
        struct stat st;
        if (lstat(inner, &st) != 0)
            continue;
        if (fresh && fn != NULL) {
            const watch_event_t event = { root, path, names[i],
                                          IN_CREATE | (S_ISDIR(st.st_mode) ? IN_ISDIR : 0), 0 };
            fn(cookie, &event);
        }
        if (S_ISDIR(st.st_mode) && watches_one(self, root, inner))
            watches_queue(self, inner, root, fresh);
    }
    strv_free(names);
}

/* Goes on with folders that are to be watched. */
static void
watches_step(watches_t *self, watch_fn *fn, void *cookie)
{
    for (size_t i = 0; i < STEP && json_array_size(self->pending) > 0; i++) {
        json_auto_t *item = json_incref(json_array_get(self->pending, 0));
        json_array_remove(self->pending, 0);
        watches_folder(self, item, fn, cookie);
    }
}

/* The first part of the tree is watched at once; the rest as watches_read() is called. */
void
watches_add(watches_t *self, const watch_spec_t *spec)
{
    json_t *one;
    size_t i;
    self->roots = xrealloc(self->roots, (self->n_roots + 1) * sizeof(*self->roots));
    root_t *root = &self->roots[self->n_roots];
    *root = (root_t){ .path = xstrdup(spec->path),
                      .mask = spec->mask | (spec->auto_add ? IN_CREATE : 0),
                      .recurse = spec->recurse,
                      .auto_add = spec->auto_add };
    for (size_t len = strlen(root->path); len > 1 && root->path[len - 1] == '/'; len--)
        root->path[len - 1] = '\0';
    root->excludes = xcalloc(json_array_size(spec->excludes) + 1, sizeof(*root->excludes));
    json_array_foreach (spec->excludes, i, one) {
        fail_auto_t why = FAIL_INIT;
        rx_t *rx = json_is_string(one) ? rx_new(json_string_value(one), 0, &why) : NULL;
        if (rx != NULL)
            root->excludes[root->n_excludes++] = rx;
        else
            log_warning("%s: an exclusion is left out: %s", spec->path, fail_text(&why));
    }
    watches_begin(self, self->n_roots++);
    watches_step(self, NULL, NULL);
}

/* Stops watching what has this path, or is below it, for one spec. A file that other specs watch, or that has
 * another path, stays watched. */
static void
watches_forget(watches_t *self, size_t root, const char *path)
{
    size_t len = strlen(path), i = 0;
    const char *key;
    void *value;
    while (map_next(self->all, &i, &key, &value)) {
        bool left = false;
        for (watch_t *one = value; one != NULL; one = one->next) {
            if (one->root == root && str_starts(one->path, path) &&
                (one->path[len] == '\0' || one->path[len] == '/'))
                one->root = SIZE_MAX;
            left |= one->root != SIZE_MAX;
        }
        if (left)
            continue;
        (void) inotify_rm_watch(self->fd, (int) strtol(key, NULL, 10));
        (void) map_del(self->all, key);
    }
}

/* Another file has the spec's path now. */
void
watches_again(watches_t *self, size_t root)
{
    watches_forget(self, root, self->roots[root].path);
    watches_begin(self, root);
}

/* ---- reading ------------------------------------------------------------------------------------------ */

/* Keeps the set of watches true to what an event tells. A folder that was moved in, or made, is watched with
 * all that is in it; one that was moved away would tell a path that it no longer has. */
static void
watches_follow(watches_t *self, const watch_event_t *event)
{
    root_t *root = &self->roots[event->root];
    AUTO_FREE char *path = fs_join(event->path, event->name);
    if (event->mask & IN_IGNORED)
        root->missing |= str_eq(event->path, root->path);
    else if (event->mask & IN_ISDIR && event->mask & IN_MOVED_FROM)
        watches_forget(self, event->root, path);
    else if (event->mask & IN_ISDIR && event->mask & (IN_CREATE | IN_MOVED_TO) && root->auto_add &&
             *event->name != '\0' && watches_one(self, event->root, path))
        watches_queue(self, path, event->root, event->mask & IN_CREATE);
}

/* Tells one event of the kernel to one path of its file, when the path's mask asks for it. */
static void
watches_tell_path(watches_t *self, const struct inotify_event *raw, const watch_t *watch, watch_fn *fn,
                  void *cookie)
{
    const root_t *root = &self->roots[watch->root];
    const uint32_t own = IN_MOVE_SELF | IN_DELETE_SELF | IN_IGNORED;
    if (watch->link) { /* it leads elsewhere, or is gone */
        if (raw->mask & own)
            watches_again(self, watch->root);
        return;
    }
    const watch_event_t event = { watch->root, watch->path, raw->len > 0 ? raw->name : "", raw->mask,
                                  raw->cookie };
    bool renamed = raw->mask & IN_MOVE_SELF && str_eq(watch->path, root->path);
    if (raw->mask & (root->mask | IN_IGNORED | IN_UNMOUNT))
        fn(cookie, &event);
    if (renamed)
        watches_again(self, watch->root);
    else if (raw->mask & (root->mask | IN_IGNORED))
        watches_follow(self, &event);
}

/* Tells one event of the kernel. An overflow belongs to no path: all who listen must look for themselves. */
static void
watches_tell(watches_t *self, const struct inotify_event *raw, watch_fn *fn, void *cookie)
{
    char key[16];
    watch_t *copy = NULL, **end = &copy;
    (void) snprintf(key, sizeof(key), "%d", raw->wd);
    if (raw->mask & IN_Q_OVERFLOW) {
        const watch_event_t lost = { 0, "", "", raw->mask, 0 };
        fn(cookie, &lost);
    }
    /* Nobody has one that was given up. What follows changes the chain, so a copy is walked. */
    for (const watch_t *one = map_get(self->all, key); one != NULL; one = one->next) {
        if (one->root == SIZE_MAX)
            continue;
        *end = xcalloc(1, sizeof(**end));
        **end = (watch_t){ one->root, one->link, xstrdup(one->path), NULL };
        end = &(*end)->next;
    }
    if (raw->mask & IN_IGNORED)
        (void) map_del(self->all, key);
    for (const watch_t *one = copy; one != NULL; one = one->next)
        watches_tell_path(self, raw, one, fn, cookie);
    watch_free(copy);
}

/* Tells what has happened, and goes on with folders and with paths that were missing. It never waits. */
int
watches_read(watches_t *self, watch_fn *fn, void *cookie, fail_t *err)
{
    buf_auto_t room = BUF_INIT;
    buf_reserve(&room, LIMIT_BEACON_READ); /* not cleared: an idle minion would have all its pages */
    ssize_t n = read(self->fd, room.data, LIMIT_BEACON_READ);
    if (n < 0 && errno != EAGAIN && errno != EINTR)
        return fail_set(err, -errno, "inotify: %s", strerror(errno));
    for (ssize_t at = 0; at < n;) {
        struct inotify_event *raw = (struct inotify_event *) (void *) (room.data + at);
        watches_tell(self, raw, fn, cookie);
        at += (ssize_t) (sizeof(*raw) + raw->len);
    }
    watches_step(self, fn, cookie);
    for (size_t i = 0; i < self->n_roots; i++)
        if (self->roots[i].missing)
            watches_begin(self, i);
    return 0;
}

/* When watches_read() has more to do although no event comes; -1: never. */
int
watches_again_ms(const watches_t *self)
{
    if (json_array_size(self->pending) > 0)
        return 0;
    for (size_t i = 0; i < self->n_roots; i++)
        if (self->roots[i].missing)
            return MISSING_MS;
    return -1;
}
