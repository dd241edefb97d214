/* recurse_plan.c - see recurse_plan.h. Links come first: files behind one that is kept as a link are the
 * link's. */
#include "plugins/lib/file/recurse_plan.h"

#include "common/base/str.h"
#include "common/files/fileclient.h"
#include "plugins/lib/file/fileops.h"
#include "plugins/lib/file/source.h"

void
recurse_plan_free(recurse_plan_t *p)
{
    free(p->srcpath);
    free(p->env);
    json_decref(p->files);
    json_decref(p->dirs);
    json_decref(p->links);
    json_decref(p->kept);
    fstate_pats_free(&p->pats);
}

/* 1 and the part of a served path below the source, BORROWED; 0 for what is not below it or not asked for;
 * or a negative errno. */
static int
recurse_plan_wanted(const recurse_plan_t *p, json_t *args, const char *served, const char **ret_rel,
                    fail_t *err)
{
    size_t n = strlen(p->srcpath), depth = 0;
    json_t *max = value_get(args, "maxdepth");

    if (strncmp(served, p->srcpath, n) != 0 || (n > 0 && served[n] != '/'))
        return 0;
    const char *rel = served + n + (n > 0);
    for (const char *c = rel; *c != '\0'; c++)
        depth += *c == '/';
    if (*rel == '\0' || (json_is_integer(max) && (json_int_t) depth > json_integer_value(max)))
        return 0;
    *ret_rel = rel;
    return fstate_pats_let(&p->pats, rel, err);
}

/* Served paths of one kind. NEW, or NULL with *err; empty without a file client. */
json_t *
recurse_served(call_ctx_t *ctx, const recurse_plan_t *p, files_kind_t kind, fail_t *err)
{
    if (ctx_files(ctx) == NULL)
        return kind == FILES_SYMLINKS ? json_object() : json_array();
    return fileclient_list(ctx_files(ctx), kind, p->env, p->srcpath, err);
}

void
recurse_put(json_t *object, const char *path, json_t *value)
{
    json_auto_t *key = value_utf8(path, strlen(path));

    json_object_set_new(object, json_string_value(key), value);
}

/* True when a served path lies below one of the links. */
static bool
in_link(json_t *links, const char *path)
{
    const char *link;
    json_t *target;

    json_object_foreach (links, link, target) {
        size_t n = strlen(link);
        if (strncmp(path, link, n) == 0 && path[n] == '/')
            return true;
    }
    return false;
}

/* Adds the links that are wanted and drops the others from `links`, so that files behind them are copied. */
static int
plan_links(recurse_plan_t *p, json_t *args, const char *name, json_t *links, fail_t *err)
{
    const char *link, *rel;
    json_t *target;
    void *next;

    json_object_foreach_safe (links, next, link, target) {
        int want = recurse_plan_wanted(p, args, link, &rel, err);
        if (want < 0)
            return want;
        if (want == 0) {
            json_object_del(links, link);
            continue;
        }
        AUTO_FREE char *path = fop_join2(name, rel);
        recurse_put(p->links, path, json_incref(target));
        recurse_put(p->kept, path, json_true());
    }
    return 0;
}

/* Adds each file with its folder; paths below a link are left to the link. */
static int
plan_files(recurse_plan_t *p, json_t *args, const char *name, const json_t *files, json_t *links, fail_t *err)
{
    const char *rel;
    size_t i;
    json_t *file;

    json_array_foreach (files, i, file) {
        const char *fn = json_string_value(file);
        int want = recurse_plan_wanted(p, args, fn, &rel, err);
        if (want < 0)
            return want;
        if (want == 0 || json_object_get(links, fn) != NULL || in_link(links, fn))
            continue;
        AUTO_FREE char *path = fop_join2(name, rel), *folder = fop_dirname(path);
        recurse_put(p->files, path, value_fmt("salt://%s?saltenv=%s", fn, p->env));
        recurse_put(p->dirs, folder, json_true());
        recurse_put(p->kept, path, json_true());
    }
    return 0;
}

static int
plan_dirs(recurse_plan_t *p, json_t *args, const char *name, const json_t *dirs, json_t *links, fail_t *err)
{
    const char *rel;
    size_t i;
    json_t *dir;

    json_array_foreach (dirs, i, dir) {
        /* The source itself is "." to Salt: test mode tells it as NAME/. */
        bool itself = str_eq(json_string_value(dir), p->srcpath);
        int want = itself ? fstate_pats_let(&p->pats, rel = ".", err)
                          : recurse_plan_wanted(p, args, json_string_value(dir), &rel, err);
        if (want < 0)
            return want;
        if (want == 0 || in_link(links, json_string_value(dir)))
            continue;
        AUTO_FREE char *path = fop_join2(name, rel);
        recurse_put(p->dirs, path, json_true());
        recurse_put(p->kept, path, json_true());
    }
    return 0;
}

int
recurse_plan_make(call_ctx_t *ctx, json_t *args, const char *name, const char *source, const char *env,
                  recurse_plan_t *p, fail_t *err)
{
    p->files = json_object();
    p->dirs = json_object();
    p->links = json_object();
    p->kept = json_object();
    if (fileclient_split(source, env, &p->srcpath, &p->env, err) != 0)
        return -EINVAL;
    int rc = fstate_pats_read(&p->pats, value_get(args, "include_pat"), value_get(args, "exclude_pat"), err);
    if (rc != 0)
        return rc;
    for (size_t n = strlen(p->srcpath); n > 0 && p->srcpath[n - 1] == '/'; n--)
        p->srcpath[n - 1] = '\0';
    json_auto_t *links = value_truthy(value_get(args, "keep_symlinks"))
                             ? recurse_served(ctx, p, FILES_SYMLINKS, err)
                             : json_object();
    json_auto_t *files = recurse_served(ctx, p, FILES_FILES, err);
    json_auto_t *dirs = value_truthy(value_get(args, "include_empty"))
                            ? recurse_served(ctx, p, FILES_DIRS, err)
                            : json_array();
    if (links == NULL || files == NULL || dirs == NULL)
        return -EIO;
    rc = plan_links(p, args, name, links, err);
    if (rc == 0)
        rc = plan_files(p, args, name, files, links, err);
    if (rc == 0)
        rc = plan_dirs(p, args, name, dirs, links, err);

    /* A folder before those in it. */
    size_t n = 0;
    const char **keys = xcalloc(json_object_size(p->dirs) + 1, sizeof(*keys)), *key;
    json_t *sorted = json_object(), *v;
    json_object_foreach (p->dirs, key, v)
        keys[n++] = key;
    qsort(keys, n, sizeof(*keys), str_by_text);
    for (size_t i = 0; i < n; i++)
        json_object_set(sorted, keys[i], json_object_get(p->dirs, keys[i]));
    free(keys);
    json_decref(p->dirs);
    p->dirs = sorted;

    return rc;
}

json_t *
recurse_kept(call_ctx_t *ctx, json_t *low, fail_t *err)
{
    recurse_plan_auto_t plan = { 0 };
    AUTO_FREE char *source = NULL;
    json_auto_t *hash = NULL;
    const char *env = value_str(low, "__env__", "base");
    int rc = source_pick(ctx, value_get(low, "source"), NULL, env, &source, &hash, err);

    if (rc == 0)
        rc = recurse_plan_make(ctx, low, value_str(low, "name", ""), source != NULL ? source : "", env, &plan,
                               err);
    return rc == 0 ? json_incref(plan.kept) : NULL;
}
