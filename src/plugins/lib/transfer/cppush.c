/* cppush.c - see cppush.h. Failures are logged and answered with false, as Salt does. Paths with "../" are
 * refused. */
#include "plugins/lib/transfer/cppush.h"

#include <sys/stat.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/match/match.h"
#include "plugins/lib/transfer/fetch.h"
#include "salt/log.h"

/* Logs and returns false. */
static bool
cppush_failed(const char *path, const char *why)
{
    log_error("cp.push %s: %s", path, why);
    return false;
}

/* A regular file. NEW path, or NULL with *err. */
static char *
cppush_source_of(const cppush_t *what, fail_t *err)
{
    AUTO_FREE char *path = NULL;

    if (strstr(what->path, "../") != NULL || *what->path != '/')
        return (void) fail_set(err, -EINVAL, "give an absolute path without '../'"), NULL;
    path = what->keep_symlinks ? xstrdup(what->path) : realpath(what->path, NULL);
    if (path == NULL)
        return (void) fs_fail(err, -errno, "look at", what->path), NULL;
    int rc = fs_look_file(path, err);
    if (rc == 0)
        fail_set(err, -EINVAL, "there is no such file, or it is not a regular one");
    return rc > 0 ? STEAL(path) : NULL;
}

bool
cppush_file(call_ctx_t *ctx, const cppush_t *what)
{
    fail_auto_t err = FAIL_INIT;
    AUTO_FREE char *path = cppush_source_of(what, &err);

    if (path == NULL)
        return cppush_failed(what->path, fail_text(&err));
    const char *to = str_empty(what->upload_path) ? path : what->upload_path;
    if (strstr(to, "../") != NULL)
        return cppush_failed(path, "give an upload_path without '../'");
    fileclient_t *files = fetch_files(ctx, &err);
    if (files == NULL || fileclient_put(files, path, to + strspn(to, "/"), &err) < 0)
        return cppush_failed(path, fail_text(&err));
    if (what->remove_source && unlink(path) != 0) {
        log_error("cp.push failed to remove file '%s': %s", path, strerror(errno));
        return false;
    }
    return true;
}

typedef struct pushing {
    call_ctx_t *ctx;
    const char *top, *glob, *upload_path;
    size_t n;
} pushing_t;

static bool cppush_walk(pushing_t *p, const char *folder, int depth);

/* Folders that are links are left out, as os.walk does. */
static bool
push_entry(pushing_t *p, const char *path, int depth)
{
    fail_auto_t err = FAIL_INIT;
    struct stat st;

    if (lstat(path, &st) != 0)
        return cppush_failed(path, strerror(errno));
    if (S_ISDIR(st.st_mode))
        return cppush_walk(p, path, depth + 1);
    int rc = fs_look_dir(path, &err);
    if (rc != 0)
        return rc < 0 ? cppush_failed(path, fail_text(&err)) : true;
    /* A file is pushed when the glob matches its name. */
    const char *rest = path + strlen(p->top);
    AUTO_FREE char *to = str_empty(p->upload_path) ? NULL : fs_join(p->upload_path, rest);
    const cppush_t one = { .path = path, .upload_path = to };
    if (p->glob != NULL && !match_glob(p->glob, strrchr(path, '/') + 1))
        return true;
    p->n++;
    return cppush_file(p->ctx, &one);
}

/* Stops at the first failure. LIMIT_FILE_DEPTH bounds the depth. */
static bool
cppush_walk(pushing_t *p, const char *folder, int depth)
{
    fail_auto_t err = FAIL_INIT;
    char **names = NULL;
    bool ok = true;

    if (depth >= LIMIT_FILE_DEPTH)
        return cppush_failed(folder, "folders are too deep here");
    if (fs_names(folder, &names, &err) < 0)
        return cppush_failed(folder, fail_text(&err));
    for (size_t i = 0; names[i] != NULL && ok; i++) {
        AUTO_FREE char *path = fs_join(folder, names[i]);
        ok = push_entry(p, path, depth);
    }
    strv_free(names);
    return ok;
}

bool
cppush_dir(call_ctx_t *ctx, const char *path, const char *glob, const char *upload_path)
{
    fail_auto_t err = FAIL_INIT;

    if (strstr(path, "../") != NULL || *path != '/')
        return cppush_failed(path, "give an absolute path without '../'");
    AUTO_FREE char *real = realpath(path, NULL);
    if (real == NULL)
        return cppush_failed(path, strerror(errno));
    int rc = fs_look_dir(real, &err);
    if (rc < 0)
        return cppush_failed(path, fail_text(&err));
    if (rc == 0) {
        const cppush_t one = { .path = real, .upload_path = upload_path };
        return cppush_file(ctx, &one);
    }
    pushing_t p = { .ctx = ctx, .top = real, .glob = glob, .upload_path = upload_path };
    if (!cppush_walk(&p, real, 0))
        return false;
    return p.n > 0 || cppush_failed(path, "no file there has such a name");
}
