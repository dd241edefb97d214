/* extmods.c - see extmods.h. Files are compared and written through descriptors below the folder
 * (common/base's beneath), without following links: the folder's content is not trusted with root's
 * rights. */
#include "common/files/extmods.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include "common/base/beneath.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/files/fileclient.h"
#include "common/python/userfile.h"
#include "common/plugin/call.h"
#include "salt/limits.h"
#include "salt/log.h"

#define DEPTH_MAX 16 /* folders inside each other that are cleaned */

typedef struct sync {
    const extmods_t *what;
    fileclient_t *files; /* BORROWED */
    char *dir;
    int fd;               /* of `dir` */
    json_t *only, *never; /* lists, or NULL: no such list for this form */
    json_t *remote;       /* paths below `dir` that there are to be */
    json_t *changed;      /* BORROWED: the answer */
    bool gone;            /* a file was removed */
} sync_t;

/* The list of names for this form. NEW; NULL: not configured. */
static json_t *
extmods_names(call_ctx_t *ctx, const char *form, json_t *given, const char *option)
{
    json_t *names = json_is_string(given) ? given : NULL;
    json_t *by_form = given == NULL || json_is_null(given) ? value_get(ctx_opts(ctx), option) : given;
    if (names == NULL)
        names = value_get(by_form, form);
    if (!json_is_string(names))
        return json_is_array(names) ? json_incref(names) : NULL;
    json_t *list = json_array();
    char **parts = str_split(json_string_value(names), ",", false);
    for (char **p = parts; *p; p++)
        json_array_append_new(list, json_string(*p));
    strv_free(parts);
    return list;
}

/* "pkg/web.py" is pkg.web. NEW; NULL when the file is not a module. */
static char *
module_name(const char *path)
{
    static const char *const ends[] = { ".py", ".pyx", ".so", ".zip" };
    for (size_t i = 0; i < NELEMS(ends); i++) {
        if (!str_ends(path, ends[i]))
            continue;
        AUTO_FREE char *stem = xstrndup(path, strlen(path) - strlen(ends[i]));
        return str_replace(stem, "/", ".");
    }
    return NULL;
}

/* Copy the file server's file to `rel`, unless the content is the same. */
static int
bring(sync_t *self, const char *url, const char *env, const char *rel, bool *ret_changed, fail_t *err)
{
    AUTO_FREE char *local = NULL;
    buf_auto_t is = BUF_INIT, was = BUF_INIT;
    const char *name;
    int rc = fileclient_cache(self->files, url, env, &local, err);
    if (rc == 0)
        rc = fs_read(local, LIMIT_FILE_READ, &is, err);
    if (rc < 0)
        return rc;
    if (beneath_read(self->fd, rel, LIMIT_FILE_READ, &was) == 0 && was.len == is.len &&
        (is.len == 0 || memcmp(was.data, is.data, is.len) == 0))
        return 0;
    AUTO_FD folder = beneath_parent(self->fd, rel, BENEATH_NO_LINKS, 0700, &name);
    rc = folder < 0 ? folder : beneath_put(folder, name, buf_str(&is), is.len, 0600, false);
    *ret_changed = rc == 0;
    return rc < 0 ? fail_set(err, rc, "%s/%s: %s", self->dir, rel, strerror(-rc)) : 0;
}

/* Sync one file; `path` is the file server's, below _FORM/. */
static int
extmods_one(sync_t *self, const char *env, const char *path, fail_t *err)
{
    AUTO_FREE char *url = xasprintf("salt://%s", path);
    AUTO_FREE char *top = xasprintf("_%s/", self->what->form);
    AUTO_FREE char *inside = NULL, *own_env = NULL;
    int rc = fileclient_split(url, env, &inside, &own_env, err);
    if (rc < 0 || !str_starts(inside, top))
        return rc;
    const char *rel = inside + strlen(top);
    AUTO_FREE char *name = module_name(rel);
    if (name == NULL || (self->only != NULL && !value_lists(self->only, name)) ||
        (self->never != NULL && value_lists(self->never, name)))
        return 0;
    json_object_set_new(self->remote, rel, json_true());
    bool changed = false;
    rc = bring(self, url, env, rel, &changed, err);
    if (rc == 0 && changed)
        json_array_append_new(self->changed, value_fmt("%s.%s", self->what->form, name));
    return rc;
}

/* Remove files that the file server does not have any more, and folders that become empty; Python's own cache
 * beside a file stays. Closes `fd`. */
static void
extmods_clean(sync_t *self, int fd, const char *rel, int depth)
{
    DIR *d = fd >= 0 && depth < DEPTH_MAX ? fdopendir(fd) : NULL;
    const struct dirent *e;
    int rc = 0;
    if (d == NULL && fd >= 0)
        (void) close(fd);
    while (d != NULL && (e = fs_next(d, &rc))) {
        AUTO_FREE char *below = *rel ? fs_join(rel, e->d_name) : xstrdup(e->d_name);
        if (str_eq(e->d_name, "__pycache__"))
            continue;
        int inner = beneath_open(dirfd(d), e->d_name, BENEATH_NO_LINKS, O_RDONLY | O_DIRECTORY, 0);
        if (inner >= 0) {
            extmods_clean(self, inner, below, depth + 1);
            (void) unlinkat(dirfd(d), e->d_name,
                            AT_REMOVEDIR); /* fails as long as there is something in it */
        } else if (value_get(self->remote, below) == NULL) {
            if (unlinkat(dirfd(d), e->d_name, 0) != 0)
                log_error("%s/%s: %s", self->dir, below, strerror(errno));
            self->gone = true;
        }
    }
    if (rc < 0)
        log_error("%s/%s: not all that the file server has no more is gone: %s", self->dir, rel,
                  strerror(-rc));
    if (d != NULL)
        (void) closedir(d);
}

/* NEW list of the modules that came or changed, "modules.NAME". A failure is logged and ends the round: what
 * is there stays, as nothing was listed for sure. */
json_t *
extmods_sync(call_ctx_t *ctx, const extmods_t *what)
{
    json_t *changed = json_array(), *env;
    json_auto_t *remote = json_object();
    json_auto_t *only = extmods_names(ctx, what->form, what->only, "extmod_whitelist");
    json_auto_t *never = extmods_names(ctx, what->form, what->never, "extmod_blacklist");
    AUTO_FREE char *dir = extmods_dir(ctx, what->form);
    fail_auto_t err = FAIL_INIT;
    sync_t self = {
        .what = what, .dir = dir, .only = only, .never = never, .remote = remote, .changed = changed
    };
    size_t i;

    self.files = ctx_files(ctx);
    int rc = self.files != NULL ? fs_mkdirs(dir, 0700, &err) : -ENOTSUP;
    AUTO_FD fd = rc == 0 ? open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    self.fd = fd;
    if (rc == 0 && fd < 0)
        rc = fail_set(&err, -errno, "%s: %s", dir, strerror(errno));
    /* Later environments replace earlier ones' files of the same name, as in Salt. */
    AUTO_FREE char *top = xasprintf("_%s/", what->form);
    json_array_foreach (what->envs, i, env) {
        if (rc < 0 || !json_is_string(env))
            continue;
        json_auto_t *paths = fileclient_list(self.files, FILES_FILES, json_string_value(env), top, &err);
        json_t *path;
        size_t k;
        rc = paths != NULL ? 0 : -EIO;
        json_array_foreach (paths, k, path)
            if (rc == 0 && json_is_string(path))
                rc = extmods_one(&self, json_string_value(env), json_string_value(path), &err);
    }
    if (rc < 0)
        log_error("Failed to sync %s module: %s", what->form, fail_text(&err));
    else if (!what->keep && value_bool(ctx_opts(ctx), "clean_dynamic_modules", true))
        extmods_clean(&self, fcntl(fd, F_DUPFD_CLOEXEC, 0), "", 0);
    if (json_array_size(changed) > 0 || self.gone)
        call_refresh_modules(ctx);
    if (json_array_size(changed) > 0)
        userfile_check(ctx, what->form, changed);
    return changed;
}
