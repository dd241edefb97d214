/* cppush.c - see cppush.h. */
#include "minion/modlib/cppush.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/match/match.h"
#include "minion/modlib/fetch.h"
#include "salt/log.h"

bool
cppush_file(call_ctx_t *ctx, const cppush_t *what)
{
    fail_auto_t err = FAIL_INIT;
    fileclient_t *files = fetch_files(ctx, &err);
    struct stat st;

    if (strstr(what->path, "../") != NULL || *what->path != '/')
        return false;
    AUTO_FREE char *path = what->keep_symlinks ? xstrdup(what->path) : realpath(what->path, NULL);
    if (path == NULL || stat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return false;
    const char *to = str_empty(what->upload_path) ? path : what->upload_path;
    if (strstr(to, "../") != NULL)
        return false;
    if (files == NULL || fileclient_put(files, path, to + strspn(to, "/"), &err) < 0) {
        log_error("cp.push %s: %s", path, fail_text(&err));
        return false;
    }
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

static bool
push_below(pushing_t *p, const char *path)
{
    const char *rest = path + strlen(p->top);
    AUTO_FREE char *to = str_empty(p->upload_path) ? NULL : fs_join(p->upload_path, rest);
    const cppush_t one = { .path = path, .upload_path = to };

    if (p->glob != NULL && !match_glob(p->glob, strrchr(path, '/') + 1))
        return true;
    p->n++;
    return cppush_file(p->ctx, &one);
}

/* Folders that are links are left out, as os.walk does. */
static bool
walk(pushing_t *p, const char *folder, int depth)
{
    struct dirent **names = NULL;
    int n = depth < LIMIT_FILE_DEPTH ? scandir(folder, &names, NULL, alphasort) : -1;
    bool ok = n >= 0;

    for (int i = 0; i < n; i++) {
        AUTO_FREE char *path = fs_join(folder, names[i]->d_name);
        bool dots = str_eq(names[i]->d_name, ".") || str_eq(names[i]->d_name, "..");
        struct stat st;
        if (ok && !dots && lstat(path, &st) == 0)
            ok = S_ISDIR(st.st_mode) ? walk(p, path, depth + 1) : fs_is_dir(path) || push_below(p, path);
        free(names[i]);
    }
    free(names);
    return ok;
}

bool
cppush_dir(call_ctx_t *ctx, const char *path, const char *glob, const char *upload_path)
{
    if (strstr(path, "../") != NULL || *path != '/')
        return false;
    AUTO_FREE char *real = realpath(path, NULL);
    if (real == NULL)
        return false;
    if (!fs_is_dir(real)) {
        const cppush_t one = { .path = real, .upload_path = upload_path };
        return cppush_file(ctx, &one);
    }
    pushing_t p = { .ctx = ctx, .top = real, .glob = glob, .upload_path = upload_path };
    return walk(&p, real, 0) && p.n > 0;
}
