/* grains_set.c - see grains_set.h. Later sources win; the id is set last. */
#include "minion/grains_set.h"

#include "common/base/fs.h"
#include "common/host/grainsfile.h"
#include "common/base/grainsid.h"
#include "common/base/map.h"
#include "common/base/str.h"
#include "common/data/yaml.h"
#include "common/match/match.h"
#include "pyhost/pygrains.h"
#include "salt/limits.h"
#include "salt/log.h"

#define CACHE_FILE "grains.cache.json"

/* True when a pattern of grains_blacklist matches the key. */
static bool
is_blocked(const json_t *patterns, const char *key)
{
    size_t i;
    json_t *item;

    json_array_foreach (patterns, i, item) {
        const char *pattern = json_string_value(item);
        if (pattern != NULL && match_expr(pattern, key))
            return true;
    }
    return false;
}

/* Merges a producer's grains, without blacklisted keys; recursively under grains_deep_merge. `found` is
 * changed. */
static void
grains_set_merge(const json_t *opts, json_t *into, json_t *found)
{
    /* Drops the grains that `grains_blacklist` names. */
    const json_t *patterns = value_get(opts, "grains_blacklist");
    const char *key;
    void *next;
    json_t *value;
    json_object_foreach_safe (found, next, key, value) {
        if (is_blocked(patterns, key))
            json_object_del(found, key);
    }

    if (value_bool(opts, "grains_deep_merge", false))
        value_merge(into, found, false);
    else
        json_object_update(into, found);
}

/* ---- producers ------------------------------------------------------------------------------- */

/* Orders producers by file name, so that the result does not depend on the order of linking. */
static int
by_file(const void *a, const void *b)
{
    return strcmp((*(const plugin_t *const *) a)->file, (*(const plugin_t *const *) b)->file);
}

void
grains_collect(const plugin_t *const *plugins, size_t n, grain_cost_t cost, const char *root, json_t *opts,
               json_t *into)
{
    AUTO_FREE const plugin_t **sorted = xcalloc(n + 1, sizeof(*sorted));
    const json_t *disabled = value_get(opts, "disable_grains");

    for (size_t i = 0; i < n; i++)
        sorted[i] = plugins[i];
    qsort(sorted, n, sizeof(*sorted), by_file);
    for (size_t i = 0; i < n; i++) {
        if (sorted[i]->cost == cost && !value_lists(disabled, sorted[i]->file)) {
            /* Runs one producer. It writes to an object of its own, so that a failure half-way leaves
             * nothing behind. */
            const plugin_t *plugin = sorted[i];
            grain_ctx_t ctx = { root, opts, into };
            json_auto_t *found = json_object();
            fail_auto_t err = FAIL_INIT;
            if (plugin->collect(&ctx, found, &err) < 0)
                log_warning("grains of %s are missing: %s", plugin->file, fail_text(&err));
            else
                grains_set_merge(opts, into, found);
        }
    }
    if (cost == GRAIN_SLOW && *root == '\0') {
        /* Adds the grains of custom modules, which see all others. */
        fail_auto_t err = FAIL_INIT;
        json_auto_t *lists = pygrains_gather(opts, into, &err);
        json_t *found;
        size_t i;

        if (lists == NULL)
            log_warning("grains of custom modules are missing: %s", fail_text(&err));
        json_array_foreach (lists, i, found)
            grains_set_merge(opts, into, found);
    }
}

int
grains_check(const plugin_t *const *plugins, size_t n, fail_t *err)
{
    map_t *owners = map_new(NULL);
    int rc = 0;

    for (size_t i = 0; i < n && rc == 0; i++) {
        for (const char *const *key = plugins[i]->keys; *key != NULL && rc == 0; key++) {
            const plugin_t *owner = map_get(owners, *key);
            if (owner != NULL)
                rc = fail_set(err, -EEXIST, "the grain %s is produced by both %s and %s", *key, owner->file,
                              plugins[i]->file);
            map_set(owners, *key, (void *) plugins[i]);
        }
    }
    map_destroy(&owners);
    return rc;
}

/* ---- files and options ------------------------------------------------------------------------ */

/* NEW content of the grains file; NULL when there is none, or with *err when it can't be read. *ret_twice: NEW
 * text about a grain that stands twice. */
static json_t *
grains_set_read_file(const char *path, yaml_lines_t **ret_lines, char **ret_twice, fail_t *err)
{
    buf_auto_t text = BUF_INIT;

    if (fs_absent(path) || fs_read(path, LIMIT_CONF_FILE, &text, err) < 0)
        return NULL;
    json_t *found = yaml_load_repeated(buf_str(&text), text.len, path, ret_lines, ret_twice, err);
    if (found == NULL)
        fail_prefix(err, "the grains file is skipped: ");
    return found;
}

void
grains_check_file(const json_t *opts)
{
    AUTO_FREE char *path = grains_file_path(opts);
    const char *id = value_str(opts, "id", "");
    yaml_lines_t *lines = NULL;
    AUTO_FREE char *twice = NULL; /* told when the grains are gathered */
    json_auto_t *found = grains_set_read_file(path, &lines, &twice, NULL);

    if (value_get(found, "id") != NULL && !grains_are_of(found, id))
        log_warning("%s:%d: the grain 'id' is ignored: it is always the minion's id ('%s'), which the option "
                    "'id' sets",
                    path, yaml_line_of(lines, "id"), id);
    yaml_lines_destroy(&lines);
}

void
grains_finish(json_t *opts, json_t *into)
{
    json_t *configured = value_get(opts, "grains");

    /* Adds the grains of the file, which come last. */
    AUTO_FREE char *path = grains_file_path(opts);
    fail_auto_t err = FAIL_INIT;
    AUTO_FREE char *twice = NULL;
    json_auto_t *found = grains_set_read_file(path, NULL, &twice, &err);
    if (twice != NULL)
        log_warning("the grains file: %s", twice);
    if (err.code < 0)
        log_warning("%s", fail_text(&err));
    else if (json_is_object(found))
        grains_set_merge(opts, into, found);

    if (json_is_object(configured)) {
        json_auto_t *copy = json_deep_copy(configured);
        json_object_update(into, copy);
    }
    grains_set_id(into, value_str(opts, "id", ""));
}

/* ---- the cache ------------------------------------------------------------------------------- */

json_t *
grains_cache_load(const char *cachedir)
{
    AUTO_FREE char *path = fs_join(cachedir, CACHE_FILE);
    fail_auto_t err = FAIL_INIT;
    buf_auto_t text = BUF_INIT;
    json_t *grains = NULL;

    if (fs_read(path, LIMIT_WIRE_MSG, &text, &err) == 0)
        grains = value_parse(buf_str(&text), text.len, LIMIT_WIRE_MSG, path, &err);
    if (err.code != 0 && err.code != -ENOENT)
        log_warning("the kept grains are not used: %s", fail_text(&err));
    if (!json_is_object(grains)) {
        json_decref(grains);
        grains = json_object();
    }
    return grains;
}

int
grains_cache_save(const char *cachedir, const json_t *grains, fail_t *err)
{
    AUTO_FREE char *path = fs_join(cachedir, CACHE_FILE);
    AUTO_FREE char *text = value_dump(grains);
    int rc = fs_mkdirs(cachedir, 0700, err);

    return rc < 0 ? rc : fs_write_atomic(path, text, strlen(text), 0600, err);
}
