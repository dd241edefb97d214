/* gitfs_conf.c - settings of gitfs_remotes: defaults for all remotes, overridden per remote, overridden per
 * environment of a remote. */
#include "common/files/gitauth.h"
#include "common/files/gitfs_int.h"

#include "common/base/digest.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/match/match.h"
#include "common/match/regex.h"
#include "salt/value.h"

static const char *const settings[] = { "base",
                                        "root",
                                        "mountpoint",
                                        "fallback",
                                        "ref_types",
                                        "update_interval",
                                        "saltenv_whitelist",
                                        "saltenv_blacklist",
                                        "ssl_verify",
                                        "privkey",
                                        "pubkey",
                                        "passphrase",
                                        "user",
                                        "password",
                                        "insecure_auth",
                                        "disable_saltenv_mapping" };
static const char *const own_settings[] = { "name", "saltenv", "all_saltenvs" };

/* Merge a list of one-key mappings into one mapping. NEW. */
static json_t *
packed(json_t *list)
{
    json_t *all = json_object(), *one;
    size_t i;
    if (json_is_object(list))
        (void) json_object_update(all, list);
    json_array_foreach (list, i, one)
        (void) json_object_update(all, one);
    return all;
}

/* Merge {env: [{ref: x}, ...]}, or a list of such, over the existing settings. */
static void
take_saltenvs(json_t *into, json_t *list)
{
    json_auto_t *envs = packed(list);
    const char *env;
    json_t *conf;
    json_object_foreach (envs, env, conf) {
        json_auto_t *own = packed(conf);
        json_t *was = value_get(into, env);
        if (was != NULL)
            (void) json_object_update(was, own);
        else
            json_object_set(into, env, own);
    }
}

static void
tree_free(void *tree)
{
    map_t *map = tree;
    map_destroy(&map);
}

/* Read one entry: an URL, or {URL: settings}. An URL that starts with '-' would be an option of git. */
static int
remote(json_t *opts, json_t *entry, git_remote_t *r, fail_t *err)
{
    void *it = json_is_object(entry) ? json_object_iter(entry) : NULL;
    const char *url = it != NULL ? json_object_iter_key(it) : json_string_value(entry);
    json_auto_t *own = it != NULL ? packed(json_object_iter_value(it)) : json_object();
    const char *cachedir = value_str(opts, "cachedir", "");
    if (str_empty(url) || *url == '-')
        return fail_set(err, -EINVAL, "gitfs_remotes: an item is not a URL");
    AUTO_FREE char *what = xasprintf("%s\n%s", value_str(own, "name", ""), url);
    AUTO_FREE char *hash = digest_bytes("sha256", what, strlen(what), NULL);
    r->url = xstrdup(url);
    r->dir = xasprintf("%s/gitfs/%.32s", cachedir, hash);
    r->blobs = xasprintf("%s/gitfs/blobs", cachedir);
    r->conf = json_object();
    r->saltenvs = json_object();
    r->refs = json_object();
    r->trees = map_new(tree_free);
    r->whole = map_new(NULL);

    /* Reads the remote's own settings. */
    const char *key;
    json_t *v;
    for (size_t i = 0; i < NELEMS(settings); i++) {
        AUTO_FREE char *option = xasprintf("gitfs_%s", settings[i]);
        if ((v = value_get(opts, option)))
            json_object_set(r->conf, settings[i], v);
    }
    json_object_foreach (own, key, v) {
        bool known = false;
        for (size_t i = 0; i < NELEMS(settings) && !known; i++)
            known = str_eq(settings[i], key);
        for (size_t i = 0; i < NELEMS(own_settings) && !known; i++)
            known = str_eq(own_settings[i], key);
        if (!known)
            return fail_set(err, -EINVAL, "gitfs_remotes: '%s': '%s' can't be set for a remote", r->url, key);
        json_object_set(r->conf, key, v);
    }
    if (git_auth_check(r->conf, r->url, err) < 0)
        return -EINVAL;
    take_saltenvs(r->saltenvs, value_get(opts, "gitfs_saltenv"));
    take_saltenvs(r->saltenvs, value_get(r->conf, "saltenv"));
    return 0;
}

git_remote_t **
git_remotes_new(json_t *opts, fail_t *err)
{
    json_t *list = value_get(opts, "gitfs_remotes"), *entry;
    git_remote_t **all = xcalloc(json_array_size(list) + 1, sizeof(*all));
    size_t i;
    json_array_foreach (list, i, entry) {
        all[i] = xcalloc(1, sizeof(**all));
        if (remote(opts, entry, all[i], err) < 0) {
            git_remotes_free(all);
            return NULL;
        }
    }
    return all;
}

void
git_remotes_free(git_remote_t **remotes)
{
    for (size_t i = 0; remotes != NULL && remotes[i] != NULL; i++) {
        git_remote_t *r = remotes[i];
        json_decref(r->conf);
        json_decref(r->saltenvs);
        json_decref(r->refs);
        map_destroy(&r->trees);
        map_destroy(&r->whole);
        free(r->url);
        free(r->dir);
        free(r->blobs);
        free(r);
    }
    free(remotes);
}

/* ---- asking ---------------------------------------------------------------------------------- */

/* A setting for an environment: of the environment itself, else the remote's. The setting `ref` is the
 * branch, tag or id that the environment stands for. NEW; NULL: the environment is not of this remote. */
char *
git_setting(const git_remote_t *r, const char *key, const char *saltenv)
{
    const json_t *env = value_get(r->saltenvs, saltenv);
    const char *own = value_str(env, key, NULL);
    if (!str_eq(key, "ref")) {
        /* "salt://web/" becomes "web". */
        const char *text = own != NULL ? own : value_str(r->conf, key, "");
        text += str_starts(text, "salt://") ? strlen("salt://") : 0;
        text += strspn(text, "/");
        size_t n = strlen(text);
        while (n > 0 && text[n - 1] == '/')
            n--;
        return xstrndup(text, n);
    }
    const char *all = value_str(r->conf, "all_saltenvs", NULL);
    if (all != NULL || str_eq(saltenv, "base"))
        return xstrdup(all != NULL ? all : value_str(r->conf, "base", "master"));
    if (own != NULL)
        return xstrdup(own);
    return value_bool(r->conf, "disable_saltenv_mapping", false) ? NULL : xstrdup(saltenv);
}

bool
git_is_exposed(const git_remote_t *r, const char *saltenv)
{
    return files_is_exposed(value_get(r->conf, "saltenv_whitelist"), value_get(r->conf, "saltenv_blacklist"),
                            saltenv);
}

/* Add the environments of a branch or tag. */
static void
add_ref(const git_remote_t *r, const char *name, json_t *set)
{
    const char *env;
    json_t *conf;
    bool mapped = false;
    json_object_foreach (r->saltenvs, env, conf) {
        if (!str_eq(value_str(conf, "ref", ""), name))
            continue;
        json_object_set_new(set, env, json_true());
        mapped = true;
    }
    if (mapped)
        return;
    if (str_eq(name, value_str(r->conf, "base", "master")))
        json_object_set_new(set, "base", json_true());
    else if (!value_bool(r->conf, "disable_saltenv_mapping", false))
        json_object_set_new(set, name, json_true());
}

/* ref_types: which kinds of refs are environments; all, where the list is empty. */
static bool
uses(const git_remote_t *r, const char *type)
{
    json_t *types = value_get(r->conf, "ref_types");
    if (value_lists(types, type))
        return true;
    return json_array_size(types) == 0;
}

/* True when at least one environment of the ref may be served. */
bool
git_exposes_ref(const git_remote_t *r, const char *ref)
{
    json_auto_t *envs = json_object();
    const char *env;
    json_t *one;
    bool exposed = false;
    if (uses(r, str_starts(ref, "heads/") ? "branch" : "tag"))
        add_ref(r, strchr(ref, '/') + 1, envs);
    json_object_foreach (envs, env, one)
        exposed = exposed || git_is_exposed(r, env);
    return exposed;
}

void
git_add_envs(const git_remote_t *r, json_t *set)
{
    json_auto_t *all = json_object();
    const char *ref;
    json_t *commit;
    json_object_foreach (r->refs, ref, commit)
        if (uses(r, str_starts(ref, "heads/") ? "branch" : "tag"))
            add_ref(r, strchr(ref, '/') + 1, all);
    json_object_foreach (all, ref, commit)
        if (git_is_exposed(r, ref))
            json_object_set_new(set, ref, json_true());
}
