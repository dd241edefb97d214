/* fileclient.c - URLs, and the calls that every source of files answers. See fileclient.h. */
#include "common/files/fileclient.h"

#include <sys/stat.h>

#include "common/base/digest.h"
#include "common/base/str.h"
#include "common/files/backend.h"
#include "salt/log.h"
#include "salt/value.h"

#define SCHEME     "salt://"
#define SALTENV    "?saltenv="
#define FORMER_ENV "?env=" /* not an environment any more, but no part of the path either */
#define BASE_ENV   "base"
#define NO_SIZE    INT64_MAX /* of no file: no digest is wanted */

struct fileclient {
    const fileclient_class_t *cls;
    void *self;
};

fileclient_t *
fileclient_new(const fileclient_class_t *cls, void *self)
{
    fileclient_t *client = xcalloc(1, sizeof(*client));
    client->cls = cls;
    client->self = self;
    return client;
}

/* From now on another source answers: a state's child asks through its parent (common/state/run_relay.c). */
void
fileclient_divert(fileclient_t *self, const fileclient_class_t *cls, void *source)
{
    self->cls = cls;
    self->self = source;
}

void
fileclient_destroy(fileclient_t **self_p)
{
    fileclient_t *self = STEAL(*self_p);
    if (self == NULL)
        return;
    if (self->cls->free != NULL)
        self->cls->free(self->self);
    free(self);
}

/* ---- URLs ------------------------------------------------------------------------------------ */

/* True for "http:" and its like; a Windows drive letter is not a scheme. */
static bool
other_scheme(const char *url)
{
    size_t n = strspn(url, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+.-");
    return n > 1 && str_starts(url + n, "://");
}

/* Salt's order: "?env=" is cut off first, then "?saltenv=", then any other query. */
int
fileclient_split(const char *url, const char *saltenv, char **ret_path, char **ret_saltenv, fail_t *err)
{
    bool full = str_starts(url, SCHEME);
    if (!full && other_scheme(url))
        return fail_set(err, -EINVAL, "Unsupported path: %s", url);
    AUTO_FREE char *rest = xstrdup(full ? url + strlen(SCHEME) : url);
    AUTO_FREE char *env = NULL;
    char *former = strstr(rest, FORMER_ENV), *own = former != NULL ? NULL : strstr(rest, SALTENV);
    if (former != NULL)
        *former = '\0';
    if (own != NULL) {
        *own = '\0';
        env = xstrdup(own + strlen(SALTENV));
    }

    /* Remove the query from a path. In "|path" every character is literal. "saltenv=" counts behind "&"
     * too. */
    char *query = *rest == '|' ? NULL : strchr(rest, '?');
    if (query != NULL) {
        *query = '\0';
        char **words = str_split(query + 1, "&?", true);
        for (size_t i = 0; words[i]; i++) {
            if (!str_starts(words[i], "saltenv="))
                continue;
            free(env);
            env = xstrdup(words[i] + strlen("saltenv="));
        }
        strv_free(words);
    }

    const char *path = rest + strspn(rest, "|");
    path += full ? strspn(path, "/") : 0; /* salt:///path is meant as salt://path */
    if (str_empty(env)) {
        free(env);
        env = xstrdup(str_empty(saltenv) ? BASE_ENV : saltenv);
    }
    if (!files_is_below(path))
        return fail_set(err, -EINVAL, "'%s' is not a path below the file server's roots", url);
    if (!files_is_below(env))
        return fail_set(err, -EINVAL, "'%s' is not an environment", env);
    *ret_path = files_flatten(path);
    *ret_saltenv = STEAL(env);
    return 0;
}

/* The same, but a path that leaves the roots counts as a file that does not exist. */
static int
fileclient_place(const char *url, const char *saltenv, char **ret_path, char **ret_saltenv, fail_t *err)
{
    bool ours = str_starts(url, SCHEME) || !other_scheme(url);
    int rc = fileclient_split(url, saltenv, ret_path, ret_saltenv, ours ? NULL : err);
    return rc < 0 && ours ? -ENOENT : rc;
}

/* ---- calls ----------------------------------------------------------------------------------- */

int
fileclient_cache(fileclient_t *self, const char *url, const char *saltenv, char **ret_local, fail_t *err)
{
    AUTO_FREE char *path = NULL, *env = NULL;
    int rc = fileclient_place(url, saltenv, &path, &env, err);
    return rc < 0 ? rc : self->cls->cache(self->self, path, env, ret_local, err);
}

int
fileclient_get(fileclient_t *self, const char *url, const char *saltenv, const char *dest, fail_t *err)
{
    AUTO_FREE char *path = NULL, *env = NULL;
    int rc = fileclient_place(url, saltenv, &path, &env, err);
    return rc < 0 ? rc : self->cls->get(self->self, path, env, dest, err);
}

int
fileclient_hash_of_size(fileclient_t *self, const char *url, const char *saltenv, int64_t size,
                        json_t **ret_hash, fail_t *err)
{
    AUTO_FREE char *path = NULL, *env = NULL;
    int rc = fileclient_place(url, saltenv, &path, &env, err);
    return rc < 0 ? rc : self->cls->hash(self->self, path, env, size, ret_hash, err);
}

int
fileclient_hash(fileclient_t *self, const char *url, const char *saltenv, json_t **ret_hash, fail_t *err)
{
    return fileclient_hash_of_size(self, url, saltenv, -1, ret_hash, err);
}

int
fileclient_stat(fileclient_t *self, const char *url, const char *saltenv, json_t **ret_stat, fail_t *err)
{
    return fileclient_hash_of_size(self, url, saltenv, NO_SIZE, ret_stat, err);
}

/* Compare sizes first: digests of large files take time on both sides. */
int
fileclient_same(fileclient_t *self, const char *url, const char *saltenv, const char *local, bool *ret_same,
                fail_t *err)
{
    struct stat st;
    bool there = stat(local, &st) == 0 && S_ISREG(st.st_mode);
    json_auto_t *hash = NULL;
    AUTO_FREE char *have = NULL;
    int rc = fileclient_hash_of_size(self, url, saltenv, there ? st.st_size : NO_SIZE, &hash, err);
    const char *want = value_str(hash, "hsum", "");
    *ret_same = rc == 0 && there && *want &&
                digest_file(local, value_str(hash, "hash_type", ""), &have, NULL) == 0 &&
                strcasecmp(have, want) == 0;
    return rc;
}

json_t *
fileclient_list(fileclient_t *self, files_kind_t kind, const char *saltenv, const char *prefix, fail_t *err)
{
    /* Drop listed names that lead out of the roots or are not text: callers build paths from them, and the
     * server may be hostile. */
    json_t *names = self->cls->list(self->self, kind, str_empty(saltenv) ? BASE_ENV : saltenv,
                                    prefix != NULL ? prefix : "", err);
    const char *key;
    json_t *v;
    void *next;
    for (size_t i = json_array_size(names); i-- > 0;) {
        const char *name = json_string_value(json_array_get(names, i));
        if (name != NULL && strlen(name) == json_string_length(json_array_get(names, i)) &&
            files_is_below(name))
            continue;
        log_error("the file server lists '%s', which is not a path below its roots: it is left out",
                  name != NULL ? name : "?");
        (void) json_array_remove(names, i);
    }
    json_object_foreach_safe (names, next, key, v) {
        if (json_is_string(v) && files_is_below(key))
            continue;
        log_error("the file server lists '%s', which is not a path below its roots: it is left out", key);
        (void) json_object_del(names, key);
    }
    return names;
}

json_t *
fileclient_envs(fileclient_t *self, fail_t *err)
{
    return self->cls->envs(self->self, err);
}

int
fileclient_options(fileclient_t *self, json_t **ret_told, fail_t *err)
{
    *ret_told = NULL;
    return self->cls->options != NULL ? self->cls->options(self->self, ret_told, err) : 0;
}

int
fileclient_put(fileclient_t *self, const char *local, const char *path, fail_t *err)
{
    if (self->cls->put == NULL)
        return fail_set(err, -ENOTSUP, "there is no master here to send it to");
    return self->cls->put(self->self, local, path, err);
}
