/* extmods.c - see extmods.h. */
#include "common/files/extmods.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/files/fileclient.h"
#include "salt/log.h"

#define DEPTH_MAX 16 /* folders inside each other that are cleaned */

typedef struct sync {
    const extmods_t *what;
    fileclient_t *files; /* BORROWED */
    char *dir;
    json_t *only, *never; /* lists, or NULL: no such list for this form */
    json_t *remote;       /* paths below `dir` that there are to be */
    json_t *changed;      /* BORROWED: the answer */
} sync_t;

char *
extmods_dir(call_ctx_t *ctx, const char *form)
{
    const char *top = value_str(ctx_opts(ctx), "extension_modules", "");
    AUTO_FREE char *usual = *top ? NULL : fs_join(value_str(ctx_opts(ctx), "cachedir", ""), "extmods");
    return fs_join(usual ? usual : top, form);
}

/* The names for this form. NEW; NULL: none are said. */
static json_t *
s_names(call_ctx_t *ctx, const char *form, json_t *given, const char *option)
{
    json_t *names = json_is_string(given) ? given : NULL;
    json_t *by_form = given == NULL || json_is_null(given) ? value_get(ctx_opts(ctx), option) : given;
    if (!names)
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

static bool
s_has(const json_t *list, const char *name)
{
    size_t i;
    json_t *v;
    json_array_foreach (list, i, v)
        if (json_is_string(v) && str_eq(json_string_value(v), name))
            return true;
    return false;
}

/* "pkg/web.py" is pkg.web. NEW; NULL for what is no module. */
static char *
s_module_name(const char *path)
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

/* `path` as the file server has it, below _FORM/. */
static int
s_one(sync_t *self, const char *env, const char *path, fail_t *err)
{
    AUTO_FREE char *url = xasprintf("salt://%s", path);
    AUTO_FREE char *top = xasprintf("_%s/", self->what->form);
    AUTO_FREE char *inside = NULL, *own_env = NULL;
    int rc = fileclient_split(url, env, &inside, &own_env, err);
    if (rc < 0 || !str_starts(inside, top))
        return rc;
    const char *rel = inside + strlen(top);
    AUTO_FREE char *name = s_module_name(rel);
    if (!name || (self->only && !s_has(self->only, name)) || (self->never && s_has(self->never, name)))
        return 0;
    AUTO_FREE char *dest = fs_join(self->dir, rel);
    AUTO_FREE char *folder = xstrndup(dest, (size_t) (strrchr(dest, '/') - dest));
    bool same = false;
    json_object_set_new(self->remote, rel, json_true());
    if (fs_exists(dest))
        rc = fileclient_same(self->files, url, env, dest, &same, err);
    else
        rc = fs_mkdirs(folder, 0700, err);
    if (rc == 0 && !same) {
        rc = fileclient_get(self->files, url, env, dest, err);
        if (rc == 0)
            json_array_append_new(self->changed, value_fmt("%s.%s", self->what->form, name));
    }
    return rc;
}

static int
s_environment(sync_t *self, const char *env, fail_t *err)
{
    AUTO_FREE char *top = xasprintf("_%s/", self->what->form);
    json_auto_t *paths = fileclient_list(self->files, FILES_FILES, env, top, err);
    size_t i;
    json_t *path;
    int rc = paths ? 0 : -EIO;
    json_array_foreach (paths, i, path)
        if (rc == 0 && json_is_string(path))
            rc = s_one(self, env, json_string_value(path), err);
    return rc;
}

/* Remove what the file server has not, and folders that are empty then. */
static void
s_clean(const sync_t *self, const char *rel, int depth)
{
    AUTO_FREE char *dir = *rel ? fs_join(self->dir, rel) : xstrdup(self->dir);
    DIR *d = depth < DEPTH_MAX ? opendir(dir) : NULL;
    struct dirent *e;
    while (d && (e = readdir(d))) {
        if (str_eq(e->d_name, ".") || str_eq(e->d_name, ".."))
            continue;
        AUTO_FREE char *below = *rel ? fs_join(rel, e->d_name) : xstrdup(e->d_name);
        AUTO_FREE char *path = fs_join(dir, e->d_name);
        struct stat st;
        if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
            s_clean(self, below, depth + 1);
            (void) rmdir(path); /* fails as long as there is something in it */
        } else if (!value_get(self->remote, below) && unlink(path) != 0) {
            log_error("%s: %s", path, strerror(errno));
        }
    }
    if (d)
        (void) closedir(d);
}

json_t *
extmods_sync(call_ctx_t *ctx, const extmods_t *what)
{
    json_t *changed = json_array(), *env;
    json_auto_t *remote = json_object();
    json_auto_t *only = s_names(ctx, what->form, what->only, "extmod_whitelist");
    json_auto_t *never = s_names(ctx, what->form, what->never, "extmod_blacklist");
    AUTO_FREE char *dir = extmods_dir(ctx, what->form);
    fail_auto_t err = FAIL_INIT;
    sync_t self = {
        .what = what, .dir = dir, .only = only, .never = never, .remote = remote, .changed = changed
    };
    mode_t mask = umask(077);
    size_t i;

    self.files = ctx_files(ctx);
    int rc = self.files ? fs_mkdirs(dir, 0700, &err) : -ENOTSUP;
    json_array_foreach (what->envs, i, env)
        if (rc == 0 && json_is_string(env))
            rc = s_environment(&self, json_string_value(env), &err);
    (void) umask(mask);
    if (rc < 0)
        log_error("Failed to sync %s module: %s", what->form, fail_text(&err));
    else if (value_bool(ctx_opts(ctx), "clean_dynamic_modules", true))
        s_clean(&self, "", 0);
    return changed;
}
