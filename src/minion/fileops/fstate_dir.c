/* fstate_dir.c - what states do below a folder: which paths a pattern means, what must stay, what is removed.
 */
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/map.h"
#include "common/base/str.h"
#include "common/match/match.h"
#include "common/match/regex.h"
#include "minion/fileops/fileops.h"
#include "minion/fileops/fstate_dir.h"

/* ---- patterns -------------------------------------------------------------------------------- */

static bool
pattern_fits(const char *path, const json_t *pattern)
{
    const char *text = json_string_value(pattern);
    fail_auto_t why = FAIL_INIT;

    if (text == NULL)
        return false;
    if (!str_starts(text, "E@"))
        return match_glob(text, path);
    AUTO(rx) rx = rx_new(text + 2, 0, &why);
    return rx != NULL && rx_search(rx, path, strlen(path), 0, &why) == 1;
}

static bool
any_fits(const char *path, const json_t *patterns)
{
    size_t i;
    json_t *one;

    if (!json_is_array(patterns))
        return pattern_fits(path, patterns);
    json_array_foreach (patterns, i, one) {
        if (pattern_fits(path, one))
            return true;
    }
    return false;
}

bool
fstate_included(const char *path, const json_t *include, const json_t *exclude)
{
    if (value_truthy(include) && !any_fits(path, include))
        return false;
    return !value_truthy(exclude) || !any_fits(path, exclude);
}

const char *
fstate_below(const char *root, const char *path)
{
    size_t n = strlen(root);

    while (n > 0 && root[n - 1] == '/')
        n--;
    return strncmp(path, root, n) == 0 && path[n] == '/' ? path + n + 1 : path;
}

/* ---- walking --------------------------------------------------------------------------------- */

static int
not_dots(const struct dirent *entry)
{
    return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

static bool
entry_is_dir(const char *path, const struct dirent *entry)
{
    return entry->d_type == DT_DIR ||
           ((entry->d_type == DT_LNK || entry->d_type == DT_UNKNOWN) && fop_is_dir(path));
}

int
fstate_walk(const char *top, json_int_t max_depth, fstate_walk_fn *visit, void *cookie)
{
    struct dirent **entries = NULL;
    int n = scandir(top, &entries, not_dots, alphasort), rc = 0;

    /* Files before folders, a folder before what is in it. */
    for (int pass = 0; pass < 3; pass++) {
        for (int i = 0; i < n && rc == 0; i++) {
            AUTO_FREE char *path = fop_join2(top, entries[i]->d_name);
            bool dir = entry_is_dir(path, entries[i]);
            if (pass == 0 && !dir)
                rc = visit(cookie, path, false);
            else if (pass == 1 && dir && max_depth != 0)
                rc = visit(cookie, path, true);
            else if (pass == 2 && dir && max_depth != 0 && fop_is_dir(path) && !fop_is_link(path))
                rc = fstate_walk(path, max_depth > 0 ? max_depth - 1 : -1, visit, cookie);
        }
    }
    for (int i = 0; i < n; i++)
        free(entries[i]);
    free(entries);
    return rc;
}

static int
collect(void *cookie, const char *path, bool is_dir)
{
    (void) is_dir;
    json_array_append_new(cookie, value_utf8(path, strlen(path)));
    return 0;
}

/* ---- what is kept ---------------------------------------------------------------------------- */

static bool
is_child(const char *path, const char *folder)
{
    AUTO_FREE char *a = fop_normpath(path), *b = fop_normpath(folder);
    size_t n = strlen(b);

    return strcmp(b, "/") == 0 || (strncmp(a, b, n) == 0 && (a[n] == '/' || a[n] == '\0'));
}

static int
keep_of(fstate_t *s, json_t *low, json_t *kept, fail_t *err)
{
    const char *path = value_str(low, "name", "");

    if (!fop_is_dir(path)) {
        collect(kept, path, false);
        return 0;
    }
    if (!is_child(path, s->name))
        return 0;
    if (str_eq(value_str(low, "fun", ""), "recurse"))
        return fstate_recurse_kept(s->ctx, low, kept, err);
    collect(kept, path, true);
    return fstate_walk(path, -1, collect, kept);
}

json_t *
fstate_kept(fstate_t *s, fail_t *err)
{
    json_auto_t *kept = json_array();
    json_t *require = fstate_arg(s, "require"), *one, *low;
    size_t i, k;

    if (!json_is_array(require))
        return json_incref(kept);
    json_array_foreach (require, i, one) {
        const char *file = value_str(one, "file", NULL);
        json_array_foreach (ctx_chunks(s->ctx), k, low) {
            if (file == NULL || (!str_eq(value_str(low, "name", NULL), file) &&
                                 !str_eq(value_str(low, "__id__", NULL), file)))
                continue;
            if (keep_of(s, low, kept, err) != 0)
                return NULL;
        }
    }
    return json_incref(kept);
}

/* ---- what is removed ------------------------------------------------------------------------- */

typedef struct broom {
    fstate_t *s;
    map_t *keep; /* paths, and the folders above them */
    const char *root;
    json_t *exclude, *removed;
} broom_t;

static void
keep_with_parents(broom_t *b, const char *path)
{
    if (*path != '/')
        return;
    AUTO_FREE char *normal = fop_normpath(path);
    for (char *end = normal + strlen(normal); end > normal; end = strrchr(normal, '/')) {
        *end = '\0';
        if (*normal == '\0' || map_get(b->keep, normal) != NULL)
            return;
        map_set(b->keep, normal, b);
    }
}

static int
sweep(broom_t *b, const char *folder, fail_t *err)
{
    struct dirent **entries = NULL;
    int n = scandir(folder, &entries, not_dots, alphasort), rc = 0;

    for (int i = 0; i < n; i++) {
        AUTO_FREE char *path = fop_join2(folder, entries[i]->d_name);
        bool dir = entry_is_dir(path, entries[i]) && !fop_is_link(path);
        if (rc == 0 && map_get(b->keep, path) == NULL &&
            fstate_included(fstate_below(b->root, path), NULL, b->exclude)) {
            collect(b->removed, path, dir);
            if (!b->s->test)
                rc = fs_remove_tree(path, err);
        }
        if (rc == 0 && dir && fop_is_dir(path))
            rc = sweep(b, path, err);
        free(entries[i]);
    }
    free(entries);
    return rc;
}

json_t *
fstate_clean(fstate_t *s, const json_t *kept, fail_t *err)
{
    json_auto_t *removed = json_array();
    broom_t b = { s, map_new(NULL), s->name, fstate_arg(s, "exclude_pat"), removed };
    size_t i;
    json_t *path;

    map_set(b.keep, s->name, &b);
    json_array_foreach (kept, i, path)
        keep_with_parents(&b, json_string_value(path));
    int rc = sweep(&b, s->name, err);
    map_destroy(&b.keep);
    return rc == 0 ? json_incref(removed) : NULL;
}
