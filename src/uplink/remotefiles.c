/* remotefiles.c - one function per operation of fileclient_class_t: ask the master, and fall back to the
 * cache on -EHOSTUNREACH. A file in the cache is current when its digest equals the master's; only then it is
 * not fetched again.
 *
 * A file that another minion sent (the master's backend minionfs) is noted by files_note_sent(), and its copy
 * has the mode FILES_SENT_MODE, by which it is known without a master, too. */
#include "uplink/remotefiles.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "common/base/digest.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/files/fileserver.h"
#include "common/files/putfile.h"
#include "salt/limits.h"
#include "salt/log.h"
#include "salt/value.h"

enum { MODE_OPTIONS = 0600 };

typedef struct remote {
    char *cachedir;
    remotefiles_ask_fn *ask;
    void *cookie;
} remote_t;

/* Sends one request. `more` (fields to add) is consumed; NULL: none. -ENOENT is not an error in *err. */
static int
remotefiles_ask(remote_t *self, const char *op, const char *path, const char *saltenv, json_t *more,
                json_t **ret_value, fail_t *err)
{
    fail_auto_t why = FAIL_INIT;
    json_auto_t *ask = json_pack("{s:s, s:s, s:s, s:s}", "what", "files", "op", op, "path", path, "saltenv",
                                 saltenv);
    json_auto_t *held = more;
    (void) json_object_update(ask, held);
    int rc = self->ask(self->cookie, ask, ret_value, &why);
    if (rc == 0 && value_bool(*ret_value, "sent", false))
        files_note_sent();
    if (rc < 0 && rc != -ENOENT)
        (void) fail_set(err, rc, "%s", fail_text(&why));
    return rc;
}

/* ---- without a master ------------------------------------------------------------------------- */

/* NEW path of a file's copy in the cache. */
static char *
remotefiles_copy(const remote_t *self, const char *path, const char *saltenv)
{
    return xasprintf("%s/files/%s/%s", self->cachedir, saltenv, path);
}

/* Checks the cached copy: 0 and its size; -EHOSTUNREACH: there is none. */
static int
remotefiles_have(const char *copy, const char *path, int64_t *ret_size, fail_t *err)
{
    struct stat st;
    if (lstat(copy, &st) != 0 && !fs_is_absence(-errno))
        return fs_fail(err, -errno, "look at", copy);
    if (lstat(copy, &st) != 0 || !S_ISREG(st.st_mode))
        return fail_set(err, -EHOSTUNREACH, "salt://%s: no master is connected, and it is not in the cache",
                        path);
    *ret_size = st.st_size;
    if ((st.st_mode & FILES_SENT_MODE) != 0)
        files_note_sent();
    return 0;
}

static int
hash_offline(remote_t *self, const char *path, const char *saltenv, int64_t size, json_t **ret_hash,
             fail_t *err)
{
    AUTO_FREE char *copy = remotefiles_copy(self, path, saltenv), *sum = NULL;
    int64_t have = 0;
    int rc = remotefiles_have(copy, path, &have, err);
    if (rc == 0 && (size < 0 || size == have))
        rc = digest_file(copy, "sha256", &sum, err);
    if (rc == 0)
        *ret_hash = json_pack("{s:s, s:s*, s:i, s:I}", "hash_type", "sha256", "hsum", sum, "mode", 0644,
                              "size", (json_int_t) have);
    return rc;
}

static int
get_offline(remote_t *self, const char *path, const char *saltenv, const char *dest, fail_t *err)
{
    AUTO_FREE char *copy = remotefiles_copy(self, path, saltenv);
    int64_t have = 0;
    int rc = remotefiles_have(copy, path, &have, err);
    if (rc < 0)
        return rc;
    AUTO_FD fd = open(copy, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    return fd < 0 ? fail_set(err, -errno, "%s: %s", copy, strerror(errno)) : putfile_copy(fd, dest, err);
}

static char *
options_path(const remote_t *self)
{
    return fs_join(self->cachedir, "master_options");
}

/* ---- with one --------------------------------------------------------------------------------- */

static int
ask_hash(void *cookie, const char *path, const char *saltenv, int64_t size, json_t **ret_hash, fail_t *err)
{
    return remotefiles_ask(cookie, "hash", path, saltenv,
                           size < 0 ? NULL : json_pack("{s:I}", "size", (json_int_t) size), ret_hash, err);
}

static int
remotefiles_hash(void *cookie, const char *path, const char *saltenv, int64_t size, json_t **ret_hash,
                 fail_t *err)
{
    fail_auto_t why = FAIL_INIT;
    int rc = ask_hash(cookie, path, saltenv, size, ret_hash, &why);
    if (rc == -EHOSTUNREACH)
        return hash_offline(cookie, path, saltenv, size, ret_hash, err);
    return rc < 0 && rc != -ENOENT ? fail_set(err, rc, "%s", fail_text(&why)) : rc;
}

/* Sets *ret_is when the cached copy equals the master's file; -ENOENT when the master has none. The size is
 * sent along, so the master computes no digest for a file that differs anyway. */
static int
is_current(remote_t *self, const char *path, const char *saltenv, const char *copy, bool *ret_is, fail_t *err)
{
    struct stat st;
    *ret_is = false;
    if (lstat(copy, &st) != 0 || !S_ISREG(st.st_mode))
        return 0;
    json_auto_t *hash = NULL;
    int rc = ask_hash(self, path, saltenv, st.st_size, &hash, err);
    const char *want = value_str(hash, "hsum", "");
    AUTO_FREE char *have = NULL;
    if (rc == 0 && *want)
        *ret_is = digest_file(copy, value_str(hash, "hash_type", ""), &have, NULL) == 0 && str_eq(have, want);
    return rc;
}

/* Keeps at the copy whether another minion sent it. */
static int
keep_whose(const char *copy, bool sent, fail_t *err)
{
    AUTO_FD fd = open(copy, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat st;

    if (fd < 0 || fstat(fd, &st) != 0)
        return fs_fail(err, -errno, "look at", copy);
    mode_t mode = (st.st_mode & 0777) | (sent ? FILES_SENT_MODE : 0);
    return mode == (st.st_mode & 07777) || fchmod(fd, mode) == 0 ? 0 : fs_fail(err, -errno, "chmod", copy);
}

static int
remotefiles_cache(void *cookie, const char *path, const char *saltenv, char **ret_local, fail_t *err)
{
    remote_t *self = cookie;
    AUTO_FREE char *copy = remotefiles_copy(self, path, saltenv);
    fail_auto_t why = FAIL_INIT;
    bool current;
    int64_t have;
    uint64_t sent = files_sent();
    int rc = is_current(self, path, saltenv, copy, &current, &why);
    log_debug("salt://%s in saltenv '%s': %s", path, saltenv,
              rc == -ENOENT ? "the master has none"
              : rc < 0      ? fail_text(&why)
              : current     ? "what is in the cache is what the master has"
                            : "it is fetched from the master");
    if (rc == 0 && !current) {
        json_auto_t *value = NULL;
        rc = remotefiles_ask(self, "get", path, saltenv, json_pack("{s:s}", "cache", self->cachedir), &value,
                             &why);
    }
    if (rc == 0)
        rc = keep_whose(copy, files_sent() != sent, &why);
    if (rc == -EHOSTUNREACH) {
        fail_clear(&why);
        rc = remotefiles_have(copy, path, &have, &why);
    }
    /* -ENOENT lets a caller that tries several names go on to the next; the log has the reason. */
    if (rc == -EHOSTUNREACH) {
        log_warning("%s", fail_text(&why));
        return -ENOENT;
    }
    if (rc < 0 && rc != -ENOENT)
        (void) fail_set(err, rc, "%s", fail_text(&why));
    if (rc == 0)
        *ret_local = STEAL(copy);
    return rc;
}

static int
remotefiles_get(void *cookie, const char *path, const char *saltenv, const char *dest, fail_t *err)
{
    json_auto_t *value = NULL;
    fail_auto_t why = FAIL_INIT;
    int rc = remotefiles_ask(cookie, "get", path, saltenv, json_pack("{s:s}", "dest", dest), &value, &why);
    if (rc == -EHOSTUNREACH)
        return get_offline(cookie, path, saltenv, dest, err);
    return rc < 0 && rc != -ENOENT ? fail_set(err, rc, "%s", fail_text(&why)) : rc;
}

static json_t *
remotefiles_list(void *cookie, files_kind_t kind, const char *saltenv, const char *prefix, fail_t *err)
{
    static const char *const ops[] = { "files", "dirs", "empty_dirs", "links" };
    json_auto_t *value = NULL;
    if (remotefiles_ask(cookie, ops[kind], prefix, saltenv, NULL, &value, err) != 0)
        return NULL;
    return json_incref(value_bool(value, "sent", false) ? value_get(value, "list") : value);
}

static json_t *
remotefiles_envs(void *cookie, fail_t *err)
{
    json_t *value = NULL;
    fail_auto_t why = FAIL_INIT;
    int rc = remotefiles_ask(cookie, "envs", "", "base", NULL, &value, &why);
    if (rc == -EHOSTUNREACH) {
        /* Without a master the environments of the cache count. */
        const remote_t *self = cookie;
        AUTO_FREE char *dir = xasprintf("%s/files", self->cachedir);
        json_auto_t *all = json_object();
        DIR *d = opendir(dir);
        int code = d != NULL || errno == ENOENT ? 0 : -errno;
        const struct dirent *e;
        while (d != NULL && (e = fs_next(d, &code)))
            if (e->d_name[0] != '.')
                json_object_set_new(all, e->d_name, json_true());
        if (d != NULL)
            (void) closedir(d);
        if (code < 0)
            (void) fail_set(err, code, "%s: %s", dir, strerror(-code));
        return code < 0 ? NULL : value_sorted_keys(all);
    }
    if (rc < 0 && rc != -ENOENT)
        (void) fail_set(err, rc, "%s", fail_text(&why));
    return rc == 0 ? value : NULL;
}

static int
options(void *cookie, json_t **ret_told, fail_t *err)
{
    fail_auto_t why = FAIL_INIT;
    int rc = remotefiles_ask(cookie, "options", "", "base", NULL, ret_told, &why);
    if (rc == -EHOSTUNREACH) {
        /* Reads the master's options as they were last told: a custom top file or failhard counts without
         * a master too. */
        const remote_t *self = cookie;
        AUTO_FREE char *path = options_path(self);
        buf_auto_t text = BUF_INIT;
        fail_auto_t failed = FAIL_INIT;
        int done = fs_read(path, LIMIT_FILE_TEXT, &text, &failed);
        if (done == -ENOENT) {
            log_warning("no master is connected, and none has told its options yet: the minion's own count");
            return 0;
        }
        if (done == 0)
            *ret_told = value_parse(buf_str(&text), text.len, LIMIT_FILE_TEXT, path, &failed);
        return *ret_told
                   ? 0
                   : fail_set(err, failed.code, "%s; no master is connected that would tell its options",
                              fail_text(&failed));
    }
    if (rc < 0)
        return fail_set(err, rc, "the master does not tell its options for state runs: %s", fail_text(&why));
    /* Kept for when no master is there; that this fails harms only then. */
    AUTO_FREE char *path = options_path(cookie), *text = value_dump(*ret_told);
    fail_auto_t unkept = FAIL_INIT;
    if (fs_write_quick(path, text, strlen(text), MODE_OPTIONS, &unkept) < 0)
        log_warning("the master's options are not kept for when it is away: %s", fail_text(&unkept));
    return 0;
}

static int
remotefiles_put(void *cookie, const char *local, const char *path, fail_t *err)
{
    json_auto_t *value = NULL;
    return remotefiles_ask(cookie, "put", path, "base", json_pack("{s:s}", "local", local), &value, err);
}

static void
remotefiles_free(void *cookie)
{
    remote_t *self = cookie;
    free(self->cachedir);
    free(self);
}

fileclient_t *
remotefiles_new(const char *cachedir, remotefiles_ask_fn *ask, void *cookie)
{
    static const fileclient_class_t cls = { remotefiles_cache, remotefiles_get,  remotefiles_list,
                                            remotefiles_hash,  remotefiles_envs, options,
                                            remotefiles_put,   remotefiles_free };
    remote_t *self = xcalloc(1, sizeof(*self));
    self->cachedir = xstrdup(cachedir);
    self->ask = ask;
    self->cookie = cookie;
    return fileclient_new(&cls, self);
}
