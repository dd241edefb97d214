/* inotify.c - beacon inotify: changes of files and folders, told as pyinotify names them. Bits and words are
 * those of inotify(7). Files that do not exist yet are waited for, and overflown queues are handled, by
 * plugins/lib/beacon/watches.h. */
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/match/match.h"
#include "common/match/regex.h"
#include "plugins/lib/beacon/watches.h"
#include "salt/plugin.h"

/* Words of a mask, and of an event in upper case. `valid`: Salt takes it in a configuration. */
static const struct {
    const char *name, *event;
    uint32_t bit;
    bool valid;
} masks[] = {
    { "access", "IN_ACCESS", IN_ACCESS, true },
    { "attrib", "IN_ATTRIB", IN_ATTRIB, true },
    { "close_nowrite", "IN_CLOSE_NOWRITE", IN_CLOSE_NOWRITE, true },
    { "close_write", "IN_CLOSE_WRITE", IN_CLOSE_WRITE, true },
    { "create", "IN_CREATE", IN_CREATE, true },
    { "delete", "IN_DELETE", IN_DELETE, true },
    { "delete_self", "IN_DELETE_SELF", IN_DELETE_SELF, true },
    { "modify", "IN_MODIFY", IN_MODIFY, true },
    { "moved_from", "IN_MOVED_FROM", IN_MOVED_FROM, true },
    { "moved_to", "IN_MOVED_TO", IN_MOVED_TO, true },
    { "move_self", "IN_MOVE_SELF", IN_MOVE_SELF, true },
    { "open", "IN_OPEN", IN_OPEN, true },
    { "unmount", "IN_UNMOUNT", IN_UNMOUNT, true },
    { "ignored", "IN_IGNORED", IN_IGNORED, true },
    { "q_overflow", "IN_Q_OVERFLOW", IN_Q_OVERFLOW, false },
    { "excl_unlink", NULL, IN_EXCL_UNLINK, true },
    { "oneshot", NULL, IN_ONESHOT, true },
    { "onlydir", NULL, IN_ONLYDIR, true },
    { "dont_follow", NULL, IN_DONT_FOLLOW, true },
};

/* What is wrong with the configuration of a path. NEW text, or NULL. */
static char *
inotify_check(const json_t *how)
{
    static const char *const flags[] = { "auto_add", "recurse" };
    json_t *mask = value_get(how, "mask"), *one;
    size_t i;
    if (mask == NULL && value_get(how, "recurse") == NULL && value_get(how, "auto_add") == NULL)
        return xstrdup("Configuration for inotify beacon must contain mask, recurse or auto_add items.");
    for (i = 0; i < NELEMS(flags); i++)
        if (value_get(how, flags[i]) != NULL && !json_is_boolean(value_get(how, flags[i])))
            return xasprintf("Configuration for inotify beacon %s must be boolean.", flags[i]);
    if (mask != NULL && !json_is_array(mask))
        return xstrdup("Configuration for inotify beacon mask must be list.");
    json_array_foreach (mask, i, one) {
        size_t k = 0;
        while (k < NELEMS(masks) && (!masks[k].valid || !str_eq(masks[k].name, json_string_value(one))))
            k++;
        if (k < NELEMS(masks))
            continue;
        AUTO_FREE char *shown = value_pystr(one);
        return xasprintf("Configuration for inotify beacon invalid mask option %s.", shown);
    }
    return NULL;
}

static char *
inotify_validate(const json_t *list, const json_t *config)
{
    json_t *files = value_get(config, "files"), *how;
    const char *path;
    if (files == NULL)
        return xstrdup("Configuration for inotify beacon must include files.");
    if (!json_is_object(files))
        return xstrdup("Configuration for inotify beacon invalid, files must be a dict.");
    json_object_foreach (files, path, how) {
        char *why = json_is_object(how)
                        ? inotify_check(how)
                        : xstrdup("Configuration for inotify beacon must be a list of dictionaries.");
        if (why != NULL)
            return why;
    }
    return NULL;
}

/* The bits to watch. Without a mask these are Salt's default. The kernel sends IN_IGNORED and IN_UNMOUNT
 * unasked, and refuses them in a request. */
static uint32_t
inotify_mask(const json_t *words)
{
    uint32_t bits = 0;
    json_t *one;
    size_t i, k;
    json_array_foreach (words, i, one)
        for (k = 0; k < NELEMS(masks); k++)
            if (str_eq(masks[k].name, json_string_value(one)) && masks[k].bit != IN_IGNORED &&
                masks[k].bit != IN_UNMOUNT)
                bits |= masks[k].bit;
    return words != NULL ? bits : IN_CREATE | IN_DELETE | IN_MODIFY;
}

/* An item of `exclude`: its text, and whether it is a regular expression. */
static const char *
inotify_exclude(const json_t *item, bool *ret_regex)
{
    void *at = json_object_iter((json_t *) item);
    *ret_regex = at != NULL && value_bool(json_object_iter_value(at), "regex", false);
    return at != NULL ? json_object_iter_key(at) : json_string_value(item);
}

/* Begins to watch. Folders that are excluded by a plain prefix or a regular expression need no watches below
 * them; a glob may exclude files alone. */
static void *
inotify_open(beacon_look_t *look, fail_t *err)
{
    watches_t *watches = watches_new(err);
    const char *path;
    json_t *how, *item;
    size_t i;
    json_object_foreach (watches != NULL ? value_get(look->config, "files") : NULL, path, how) {
        json_auto_t *excludes = json_array();
        bool regex;
        json_array_foreach (value_get(how, "exclude"), i, item) {
            const char *text = inotify_exclude(item, &regex);
            if (text != NULL && (regex || !match_has_glob(text)))
                json_array_append_new(excludes, json_string(text));
        }
        const watch_spec_t spec = { path, inotify_mask(value_get(how, "mask")),
                                    value_bool(how, "recurse", false), value_bool(how, "auto_add", false),
                                    excludes };
        watches_add(watches, &spec);
    }
    return watches;
}

/* True when the spec of a path excludes what happened there. */
static bool
inotify_is_excluded(const json_t *how, const char *path)
{
    json_t *item;
    size_t i;
    json_array_foreach (value_get(how, "exclude"), i, item) {
        bool regex, hit;
        const char *text = inotify_exclude(item, &regex);
        fail_auto_t why = FAIL_INIT;
        AUTO(rx) rx = regex ? rx_new(text, 0, &why) : NULL;
        if (text == NULL)
            continue;
        if (regex)
            hit = rx != NULL && rx_search(rx, path, strlen(path), 0, NULL) == 1;
        else
            hit = strchr(text, '*') != NULL ? match_glob(text, path) : str_starts(path, text);
        if (hit)
            return true;
    }
    return false;
}

/* Adds an event for each bit that happened. `root` is the number of the path in the configuration's order. */
static void
inotify_event(void *cookie, const watch_event_t *event)
{
    const beacon_look_t *look = cookie;
    void *at = json_object_iter(value_get(look->config, "files"));
    for (size_t i = 0; i < event->root && at != NULL; i++)
        at = json_object_iter_next(value_get(look->config, "files"), at);
    AUTO_FREE char *path = *event->name != '\0' ? fs_join(event->path, event->name) : xstrdup(event->path);
    if (inotify_is_excluded(json_object_iter_value(at), path))
        return;
    for (size_t i = 0; i < NELEMS(masks); i++)
        if (masks[i].event != NULL && event->mask & masks[i].bit)
            json_array_append_new(look->events,
                                  json_pack("{s:s, s:s, s:s+}", "tag", event->path, "path", path, "change",
                                            masks[i].event, event->mask & IN_ISDIR ? "|IN_ISDIR" : ""));
}

static int
inotify_look(beacon_look_t *look, fail_t *err)
{
    return watches_read(look->own, inotify_event, look, err);
}

static int
inotify_fd(const void *own)
{
    return watches_fd(own);
}

static int
inotify_again_ms(const void *own)
{
    return watches_again_ms(own);
}

static void
inotify_close(void *own, bool copied)
{
    watches_t *watches = own;
    watches_destroy(&watches);
}

static const beacon_row_t row = { .validate = inotify_validate,
                                  .look = inotify_look,
                                  .edges = true,
                                  .open = inotify_open,
                                  .fd = inotify_fd,
                                  .close = inotify_close,
                                  .again_ms = inotify_again_ms };

PLUGIN(beacon, inotify, .doc = "Files and folders: fires what happens to them, at once.", .beacon = &row);
