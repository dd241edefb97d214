/* fileserver.c - see fileserver.h. Asks the backends in order; the first that has a file wins, lists are
 * merged. Digests are cached by device, inode, size and times. The table of backends is near the end. */
#include "common/files/fileserver.h"

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/digest.h"
#include "common/base/fs.h"
#include "common/base/map.h"
#include "common/base/str.h"
#include "common/files/backend.h"
#include "salt/limits.h"
#include "salt/log.h"
#include "salt/value.h"

typedef struct backend {
    const file_backend_t *cls;
    void *self;
} backend_t;

struct fileserver {
    backend_t *backends; /* in the order of fileserver_backend */
    size_t n;
    char *hash_type;
    map_t *hashes; /* "dev:ino:size:mtime:ctime" to hexadecimal text */
    fail_t broken; /* why it serves nothing */
};

/* ---- asking ---------------------------------------------------------------------------------- */

/* A name that leads out of the roots is a file that does not exist, not an error: minions may ask for
 * anything. */
int
fileserver_find(fileserver_t *self, const char *path, const char *saltenv, served_t *ret, fail_t *err)
{
    if (!files_is_below(path) || !files_is_below(saltenv))
        return -ENOENT;
    if (self->broken.text != NULL)
        return fail_set(err, self->broken.code, "%s", self->broken.text);
    AUTO_FREE char *flat = files_flatten(path);
    for (size_t i = 0; i < self->n; i++) {
        int rc = self->backends[i].cls->find(self->backends[i].self, flat, saltenv, ret, err);
        if (rc == -ENOENT)
            continue;
        log_debug("salt://%s in saltenv '%s': %s", flat, saltenv, rc == 0 ? ret->path : strerror(-rc));
        return rc;
    }
    log_debug("salt://%s in saltenv '%s': not found", flat, saltenv);
    return -ENOENT;
}

/* The names that begin with `prefix`, in the order of Python's sorted(). NEW array. */
static json_t *
files_fileserver_sorted(json_t *set, const char *prefix)
{
    size_t n = 0;
    const char **names = xcalloc(json_object_size(set) + 1, sizeof(*names)), *name;
    json_t *v, *out = json_array();
    json_object_foreach (set, name, v)
        if (str_starts(name, prefix))
            names[n++] = name;
    qsort(names, n, sizeof(*names), str_by_text);
    for (size_t i = 0; i < n; i++)
        json_array_append_new(out, json_string(names[i]));
    free(names);
    return out;
}

json_t *
fileserver_list(fileserver_t *self, files_kind_t kind, const char *saltenv, const char *prefix, fail_t *err)
{
    json_auto_t *files = json_object(), *dirs = json_object(), *empty = json_object(), *links = json_object();
    json_t *sets[] = { files, dirs, empty, links };
    file_lists_t lists = { files, dirs, empty, links, 0 };

    /* Python's text.strip("/"). */
    prefix += strspn(prefix, "/");
    size_t n = strlen(prefix);
    while (n > 0 && prefix[n - 1] == '/')
        n--;
    AUTO_FREE char *want = xstrndup(prefix, n);

    int rc = self->broken.text != NULL ? fail_set(err, self->broken.code, "%s", self->broken.text) : 0;
    for (size_t i = 0; rc == 0 && i < self->n && files_is_below(saltenv); i++)
        rc = self->backends[i].cls->list(self->backends[i].self, saltenv, &lists, err);
    if (rc < 0)
        return NULL;
    if (kind != FILES_SYMLINKS)
        return files_fileserver_sorted(sets[kind], want);

    /* Links come with their targets, so their list is an object. */
    json_t *out = json_object(), *target;
    const char *name;
    json_object_foreach (links, name, target)
        if (str_starts(name, want))
            json_object_set(out, name, target);
    return out;
}

json_t *
fileserver_envs(fileserver_t *self, fail_t *err)
{
    json_auto_t *set = json_object();
    int rc = self->broken.text != NULL ? fail_set(err, self->broken.code, "%s", self->broken.text) : 0;
    for (size_t i = 0; rc == 0 && i < self->n; i++)
        rc = self->backends[i].cls->envs(self->backends[i].self, set, err);
    return rc < 0 ? NULL : files_fileserver_sorted(set, "");
}

bool
fileserver_has_remotes(const fileserver_t *self)
{
    for (size_t i = 0; i < self->n; i++)
        if (self->backends[i].cls->update != NULL)
            return true;
    return false;
}

/* Seconds until the next remote is due; 0: there are none. `now` fetches all. */
int
fileserver_update(fileserver_t *self, bool now, fileserver_fetch_t *ret)
{
    int wait_s = 0;
    *ret = (fileserver_fetch_t){ 0 };
    for (size_t i = 0; i < self->n; i++) {
        int own = self->backends[i].cls->update != NULL
                      ? self->backends[i].cls->update(self->backends[i].self, now, ret)
                      : 0;
        wait_s = own > 0 && (wait_s == 0 || own < wait_s) ? own : wait_s;
    }
    return wait_s;
}

json_t *
fileserver_update_event(const fileserver_fetch_t *fetch)
{
    return json_pack("{s:b, s:s}", "changed", fetch->changed, "backend", gitfs_backend.name);
}

json_t *
fileserver_clear(fileserver_t *self, fail_t *err)
{
    json_auto_t *cleared = json_array();
    for (size_t i = 0; i < self->n; i++) {
        if (self->backends[i].cls->clear == NULL)
            continue;
        if (self->backends[i].cls->clear(self->backends[i].self, err) < 0)
            return NULL;
        json_array_append_new(cleared, json_string(self->backends[i].cls->name));
    }
    return json_incref(cleared);
}

json_t *
fileserver_lock(fileserver_t *self, const char *glob, bool on, fail_t *err)
{
    json_auto_t *said = json_array();
    for (size_t i = 0; i < self->n; i++)
        if (self->backends[i].cls->lock != NULL &&
            self->backends[i].cls->lock(self->backends[i].self, glob, on, said, err) < 0)
            return NULL;
    return json_incref(said);
}

const char *
fileserver_hash_type(const fileserver_t *self)
{
    return self->hash_type;
}

/* Cache key that changes whenever the file does: a writer can restore a file's mtime, but not its ctime.
 * NEW. */
static char *
hash_key(const served_t *file)
{
    return xasprintf("%llx:%llx:%llx:%llx:%llx", (unsigned long long) file->dev,
                     (unsigned long long) file->ino, (unsigned long long) file->size,
                     (unsigned long long) file->mtime_ns, (unsigned long long) file->ctime_ns);
}

const char *
fileserver_known_hash(const fileserver_t *self, const served_t *file)
{
    AUTO_FREE char *key = hash_key(file);
    return map_get(self->hashes, key);
}

void
fileserver_learn_hash(fileserver_t *self, const served_t *file, const char *hex)
{
    AUTO_FREE char *key = hash_key(file);
    if (map_len(self->hashes) >= LIMIT_FILE_HASHES)
        map_clear(self->hashes);
    map_set(self->hashes, key, xstrdup(hex));
}

/* Hexadecimal digest by the option hash_type. NEW. */
int
fileserver_hash(fileserver_t *self, const served_t *file, char **ret_hex, fail_t *err)
{
    const char *known = fileserver_known_hash(self, file);
    if (known != NULL) {
        *ret_hex = xstrdup(known);
        return 0;
    }
    int rc = digest_fd(file->fd, self->hash_type, ret_hex, err);
    if (rc < 0)
        fail_prefix(err, "%s: ", file->path);
    else
        fileserver_learn_hash(self, file, *ret_hex);
    return rc;
}

/* ---- life ------------------------------------------------------------------------------------ */

static const file_backend_t *const backends[] = { &roots_backend, &gitfs_backend, &minionfs_backend };

/* A backend that can't be made sets `broken`, so that the whole server fails: serving only a part could serve
 * the wrong file. */
static void
add_backend(fileserver_t *self, const char *name, json_t *opts, json_t *roots)
{
    for (size_t i = 0; i < NELEMS(backends); i++) {
        if (!str_eq(backends[i]->name, name))
            continue;
        void *made = backends[i]->new (opts, roots, &self->broken);
        if (made != NULL)
            self->backends[self->n++] = (backend_t){ backends[i], made };
        return;
    }
    log_warning("fileserver_backend: '%s' is not known here and serves nothing", name);
}

fileserver_t *
fileserver_new(json_t *opts, json_t *roots)
{
    fileserver_t *self = xcalloc(1, sizeof(*self));
    json_t *names = roots != NULL ? NULL : value_get(opts, "fileserver_backend"), *name;
    size_t i;
    self->backends = xcalloc(json_array_size(names) + 1, sizeof(*self->backends));
    self->hash_type = xstrdup(value_str(opts, "hash_type", "sha256"));
    self->hashes = map_new(free);
    json_array_foreach (names, i, name)
        add_backend(self, json_is_string(name) ? json_string_value(name) : "", opts, roots);
    if (json_array_size(names) == 0)
        add_backend(self, roots_backend.name, opts, roots);
    return self;
}

void
fileserver_destroy(fileserver_t **self_p)
{
    fileserver_t *self = STEAL(*self_p);
    if (self == NULL)
        return;
    for (size_t i = 0; i < self->n; i++)
        self->backends[i].cls->free(self->backends[i].self);
    free(self->backends);
    free(self->hash_type);
    map_destroy(&self->hashes);
    fail_clear(&self->broken);
    free(self);
}
