/* cp.c - execution module `cp`: files from the file server, from the web, and what is cached of them. */
#include "salt/plugin.h"

#include <dirent.h>
#include <sys/stat.h>

#include "common/base/digest.h"
#include "common/base/fs.h"
#include "common/base/map.h"
#include "common/base/str.h"
#include "common/match/match.h"
#include "common/match/regex.h"
#include "minion/modlib/cppush.h"
#include "minion/modlib/cprecv.h"
#include "minion/modlib/cptemplate.h"
#include "minion/modlib/fetch.h"
#include "salt/log.h"

/* NEW: what came of a fetch in Salt's words: the path, or `missing`. */
static json_t *
path_or(const char *path, json_t *missing)
{
    if (path == NULL)
        return missing;
    json_decref(missing);
    return value_utf8(path, strlen(path));
}

static const char *
env_of(call_ctx_t *ctx, const json_t *args)
{
    return fetch_env(ctx, value_str(args, "saltenv", NULL));
}

/* ---- lists -------------------------------------------------------------------------------- */

static int
list(call_ctx_t *ctx, files_kind_t kind, const json_t *args, json_t **ret_value, fail_t *err)
{
    fileclient_t *files = fetch_files(ctx, err);

    if (files == NULL)
        return -ENOTSUP;
    *ret_value = fileclient_list(files, kind, env_of(ctx, args), value_str(args, "prefix", ""), err);
    return *ret_value != NULL ? 0 : -EIO;
}

static int
cp_list_master(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return list(ctx, FILES_FILES, args, ret_value, err);
}

static int
cp_list_master_dirs(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return list(ctx, FILES_DIRS, args, ret_value, err);
}

static int
cp_list_master_symlinks(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return list(ctx, FILES_SYMLINKS, args, ret_value, err);
}

static int
cp_envs(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    fileclient_t *files = fetch_files(ctx, err);

    (void) args;
    if (files == NULL)
        return -ENOTSUP;
    *ret_value = fileclient_envs(files, err);
    return *ret_value != NULL ? 0 : -EIO;
}

static int
by_text(const void *a, const void *b)
{
    return strcmp(json_string_value(*(json_t *const *) a), json_string_value(*(json_t *const *) b));
}

/* NEW sorted array of an object's keys. */
static json_t *
sorted_keys(json_t *set)
{
    json_t **keys = xcalloc(json_object_size(set) + 1, sizeof(json_t *)), *v, *out = json_array();
    const char *key;
    size_t n = 0;

    json_object_foreach (set, key, v)
        keys[n++] = json_string(key);
    qsort(keys, n, sizeof(json_t *), by_text);
    for (size_t i = 0; i < n; i++)
        json_array_append_new(out, keys[i]);
    free(keys);
    return out;
}

/* "web/init.sls" is the state `web`, "web/conf.sls" is `web.conf`. */
static int
cp_list_states(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *all = NULL, *states = json_object();
    json_t *path;
    size_t i;
    int rc = list(ctx, FILES_FILES, args, &all, err);

    if (rc < 0)
        return rc;
    json_array_foreach (all, i, path) {
        const char *text = json_string_value(path);
        if (!str_ends(text, ".sls"))
            continue;
        size_t cut = str_ends(text, "/init.sls") ? strlen("/init.sls") : strlen(".sls");
        AUTO_FREE char *stem = xstrndup(text, strlen(text) - cut);
        AUTO_FREE char *name = str_replace(stem, "/", ".");
        json_object_set_new(states, name, json_true());
    }
    *ret_value = sorted_keys(states);
    return 0;
}

/* Every file below `folder`, as Python's os.walk with followlinks finds them. */
static void
walk(const char *folder, int depth, json_t *into)
{
    DIR *dir = depth < LIMIT_FILE_DEPTH ? opendir(folder) : NULL;

    for (struct dirent *d; dir != NULL && (d = readdir(dir)) != NULL;) {
        if (str_eq(d->d_name, ".") || str_eq(d->d_name, ".."))
            continue;
        AUTO_FREE char *path = fs_join(folder, d->d_name);
        if (fs_is_dir(path))
            walk(path, depth + 1, into);
        else
            json_object_set_new(into, path, json_true());
    }
    if (dir != NULL)
        closedir(dir);
}

static int
cp_list_minion(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *cached = fetch_cache_place(ctx, "files", env_of(ctx, args));
    AUTO_FREE char *local = fetch_cache_place(ctx, "localfiles", "");
    json_auto_t *set = json_object();

    (void) err;
    walk(cached, 0, set);
    walk(local, 0, set);
    *ret_value = sorted_keys(set);
    return 0;
}

/* ---- hash, stat --------------------------------------------------------------------------- */

/* A file of this machine: {"hsum", "hash_type"}, empty when there is none. */
static int
hash_here(call_ctx_t *ctx, const char *path, json_t **ret_value, fail_t *err)
{
    const char *type = value_str(ctx_opts(ctx), "hash_type", "sha256");
    AUTO_FREE char *hex = NULL;
    struct stat st;

    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode)) {
        log_warning("specified file %s is not present to generate hash", path);
        *ret_value = json_object();
        return 0;
    }
    int rc = digest_file(path, type, &hex, err);
    if (rc == 0)
        *ret_value = json_pack("{s:s, s:s}", "hsum", hex, "hash_type", type);
    return rc;
}

/* {"hash_type", "hsum"}, with "mode" and "size" where the file server has the file; "" when it has not. */
static int
hash_url(call_ctx_t *ctx, const json_t *args, json_t **ret_value, fail_t *err)
{
    fileclient_t *files = fetch_files(ctx, err);

    if (files == NULL)
        return -ENOTSUP;
    int rc = fileclient_hash(files, value_str(args, "path", ""), env_of(ctx, args), ret_value, err);
    if (rc == -ENOENT)
        *ret_value = json_string("");
    return rc == -ENOENT ? 0 : rc;
}

static int
cp_hash_file(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *path = value_str(args, "path", "");

    if (!str_starts(path, "salt://"))
        return hash_here(ctx, path, ret_value, err);
    int rc = hash_url(ctx, args, ret_value, err);
    if (rc == 0) {
        json_object_del(*ret_value, "mode");
        json_object_del(*ret_value, "size");
    }
    return rc;
}

static int
cp_stat_file(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *path = value_str(args, "path", "");
    fileclient_t *files = str_starts(path, "salt://") ? fetch_files(ctx, err) : NULL;
    json_auto_t *hash = NULL;
    struct stat st = { 0 };

    if (str_starts(path, "salt://")) {
        int rc = files != NULL ? fileclient_stat(files, path, env_of(ctx, args), &hash, err) : -ENOTSUP;
        if (rc < 0 && rc != -ENOENT)
            return rc;
        st.st_mode = (mode_t) value_int(hash, "mode", 0);
    } else if (stat(path, &st) != 0 || !S_ISREG(st.st_mode)) {
        st.st_mode = 0;
    }
    if (st.st_mode == 0)
        *ret_value = json_null();
    else if (json_is_true(value_get(args, "octal")))
        *ret_value = value_fmt("%04o", (unsigned) st.st_mode & 07777);
    else
        *ret_value = json_integer(st.st_mode);
    return 0;
}

/* ---- fetching ----------------------------------------------------------------------------- */

/* `template`: the two paths of the call are templates themselves. `args` is changed. */
static int
render_paths(call_ctx_t *ctx, json_t *args, fail_t *err)
{
    static const char *const names[] = { "path", "dest" };
    const char *engine = value_str(args, "template", "");

    if (*engine == '\0')
        return 0;
    if (!cptemplate_known(engine))
        return fail_kind(err, FAIL_COMMAND, -EINVAL,
                         "Attempted to render file paths with unavailable engine %s", engine);
    for (size_t i = 0; i < NELEMS(names); i++) {
        const char *text = value_str(args, names[i], "");
        buf_auto_t out = BUF_INIT;
        fail_auto_t why = FAIL_INIT;
        if (cptemplate_render(ctx, args, engine, NULL, text, strlen(text), &out, &why) < 0)
            return fail_kind(err, FAIL_COMMAND, -EINVAL, "Failed to render file path with error: %s",
                             fail_text(&why));
        json_object_set_new(args, names[i], value_utf8(buf_str(&out), out.len));
    }
    return 0;
}

/* Whether there is such a file, here or on the file server: 1 or 0, or a negative errno. */
static int
is_there(call_ctx_t *ctx, const fetch_t *what, fail_t *err)
{
    fileclient_t *files = fetch_files(ctx, err);
    json_auto_t *found = NULL;

    if (!str_starts(what->url, "salt://"))
        return fs_exists(what->url) && !fs_is_dir(what->url);
    int rc = files != NULL ? fileclient_stat(files, what->url, what->saltenv, &found, err) : -ENOTSUP;
    return rc == -ENOENT ? 0 : rc < 0 ? rc : 1;
}

static int
cp_get_file(call_ctx_t *ctx, json_t *call, json_t **ret_value, fail_t *err)
{
    json_auto_t *args = json_copy(call);
    if (render_paths(ctx, args, err) < 0)
        return err->code;
    fetch_t what = { .url = value_str(args, "path", ""),
                     .saltenv = env_of(ctx, args),
                     .dest = value_str(args, "dest", NULL),
                     .makedirs = value_truthy(value_get(args, "makedirs")) };
    AUTO_FREE char *path = NULL;

    int there = is_there(ctx, &what, err), rc = there > 0 ? fetch_salt(ctx, &what, &path, err) : there;
    if (rc == 0)
        *ret_value = path_or(path, there > 0 ? json_false() : json_string(""));
    return rc;
}

/* The rendered text of a cached template. A failure of the template is logged: there is no file then. */
static int
render_file(call_ctx_t *ctx, json_t *args, const char *path, buf_t *out, fail_t *err)
{
    const char *engine = value_str(args, "template", "");
    buf_auto_t text = BUF_INIT;
    fail_auto_t why = FAIL_INIT;
    int rc = fs_read(path, LIMIT_TEMPLATE, &text, err);

    if (rc < 0)
        return rc == -ENOENT ? (fail_clear(err), rc) : rc;
    if (!cptemplate_known(engine)) {
        log_error("Attempted to render template with unavailable engine %s", engine);
        return -ENOENT;
    }
    if (cptemplate_render(ctx, args, engine, path, buf_str(&text), text.len, out, &why) == 0)
        return 0;
    log_error("Failed to render template with error: %s", fail_text(&why));
    return -ENOENT;
}

/* 1: it lies at `dest` now; 0: there is no template, no engine or no folder. */
static int
template_to(call_ctx_t *ctx, json_t *args, const fetch_t *what, char **dest_p, fail_t *err)
{
    AUTO_FREE char *source = NULL, *path = NULL, *env = NULL;
    buf_auto_t text = BUF_INIT;
    bool own_place = **dest_p == '\0';

    int rc = fetch_url(ctx, what, &source, err);
    if (rc < 0 || source == NULL)
        return rc;
    rc = render_file(ctx, args, source, &text, err);
    if (rc < 0)
        return rc == -ENOENT ? 0 : rc;
    if (own_place) {
        bool ours = fileclient_split(what->url, what->saltenv, &path, &env, NULL) == 0;
        free(*dest_p);
        *dest_p = fetch_extern_place(ctx, ours ? path : what->url, ours ? env : what->saltenv);
    }
    return fetch_write(&text, *dest_p, own_place || value_truthy(value_get(args, "makedirs")), err);
}

static int
cp_get_template(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    fetch_t what = { .url = value_str(args, "path", ""), .saltenv = env_of(ctx, args), .makedirs = true };
    AUTO_FREE char *dest = xstrdup(value_str(args, "dest", ""));
    int rc = template_to(ctx, args, &what, &dest, err);

    if (rc < 0)
        return rc;
    *ret_value = rc > 0 ? value_utf8(dest, strlen(dest)) : json_string("");
    return 0;
}

/* Contents instead of a path: dest=None. */
static int
get_content(call_ctx_t *ctx, const fetch_t *what, json_t **ret_value, fail_t *err)
{
    buf_auto_t bytes = BUF_INIT;
    bool found = false;
    int rc = fetch_bytes(ctx, what, &bytes, &found, err);

    if (rc == 0)
        *ret_value = found ? value_utf8(buf_str(&bytes), bytes.len) : json_false();
    return rc;
}

static int
cp_get_url(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    fetch_t what = { .url = value_str(args, "path", ""),
                     .saltenv = env_of(ctx, args),
                     .dest = value_str(args, "dest", NULL),
                     .makedirs = value_truthy(value_get(args, "makedirs")),
                     .source_hash = value_str(args, "source_hash", NULL) };
    AUTO_FREE char *path = NULL;
    int rc;

    if (!json_is_string(value_get(args, "dest"))) {
        rc = get_content(ctx, &what, ret_value, err);
    } else {
        rc = fetch_url(ctx, &what, &path, err);
        if (rc == 0)
            *ret_value = path_or(path, str_starts(what.url, "salt://") ? json_false() : json_string(""));
    }
    if (rc == 0 && !value_truthy(*ret_value))
        log_error("Unable to fetch file %s from saltenv %s.", what.url, what.saltenv);
    return rc;
}

static bool
is_remote(const char *path)
{
    return strstr(path, "://") != NULL && !str_starts(path, "salt://") && !str_starts(path, "file://");
}

/* A remote URL is fetched once in a job: nobody tells whether it has changed. */
static int
cp_cache_file(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    fetch_t what = { .url = value_str(args, "path", ""),
                     .saltenv = env_of(ctx, args),
                     .makedirs = true,
                     .source_hash = value_str(args, "source_hash", NULL),
                     .insecure = json_is_false(value_get(args, "verify_ssl")),
                     .use_etag = value_truthy(value_get(args, "use_etag")) };
    AUTO_FREE char *key = xasprintf("cp.cache_file_|-%s_|-%s", what.url, what.saltenv);
    AUTO_FREE char *path = NULL;
    const char *known = value_str(ctx_context(ctx), key, NULL);

    if (known != NULL && fs_exists(known)) {
        *ret_value = json_string(known);
        return 0;
    }
    int rc = fetch_url(ctx, &what, &path, err);
    if (rc < 0)
        return rc;
    if (path == NULL)
        log_error("Unable to cache file '%s' from saltenv '%s'.", what.url, what.saltenv);
    *ret_value = path_or(path, json_false());
    if (is_remote(what.url))
        json_object_set(ctx_context(ctx), key, *ret_value);
    return 0;
}

static int
cp_get_file_str(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *cached = NULL;
    buf_auto_t text = BUF_INIT;
    int rc = cp_cache_file(ctx, args, &cached, err);

    if (rc < 0)
        return rc;
    rc = json_is_string(cached) ? fs_read(json_string_value(cached), LIMIT_FILE_READ, &text, err) : -ENOENT;
    if (rc == -EFBIG)
        return rc;
    fail_clear(err);
    *ret_value = rc == 0 ? value_utf8(buf_str(&text), text.len) : json_false();
    return 0;
}

static int
cp_cache_files(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *all = json_array(), *urls = json_array();
    json_t *paths = value_get(args, "paths"), *url;
    size_t i;

    if (json_is_string(paths)) {
        char **words = str_split(json_string_value(paths), ",", false);
        for (char **w = words; *w != NULL; w++)
            json_array_append_new(urls, json_string(*w));
        strv_free(words);
    } else if (json_is_array(paths)) {
        json_array_extend(urls, paths);
    }
    json_array_foreach (urls, i, url) {
        fetch_t what = { .url = json_string_value(url), .saltenv = env_of(ctx, args), .makedirs = true };
        AUTO_FREE char *path = NULL;
        int rc = what.url != NULL
                     ? fetch_url(ctx, &what, &path, err)
                     : fail_kind(err, FAIL_INVOCATION, -EINVAL, "paths: item %zu is no text", i + 1);
        if (rc < 0)
            return rc;
        json_array_append_new(all, path_or(path, json_false()));
    }
    *ret_value = json_incref(all);
    return 0;
}

/* ---- folders ------------------------------------------------------------------------------ */

/* Cache one path of the file server's own list, or copy it to `dest`; its name may hold any character. */
static int
take_listed(call_ctx_t *ctx, const char *path, const char *env, const char *dest, json_t *into, fail_t *err)
{
    AUTO_FREE char *url = xasprintf("salt://|%s", path);
    AUTO_FREE char *got = NULL;
    fetch_t what = { .url = url, .saltenv = env, .dest = dest, .makedirs = true };
    int rc = fetch_salt(ctx, &what, &got, err);

    if (rc == 0)
        json_array_append_new(into, path_or(got, json_false()));
    return rc;
}

/* "salt://a/b/" is "a/b" in its own environment or the given one. */
static int
folder_of(call_ctx_t *ctx, const json_t *args, char **ret_path, char **ret_env, fail_t *err)
{
    const char *url = value_str(args, "path", "");

    if (!str_starts(url, "salt://"))
        return fail_set(err, -EINVAL, "Unsupported path: %s", url);
    if (fileclient_split(url, env_of(ctx, args), ret_path, ret_env, NULL) == 0)
        return 0;
    /* All of an environment: the one path that is not below its root. */
    char *rest = xstrndup(url + strlen("salt://"), strcspn(url + strlen("salt://"), "?"));
    bool all = rest[strspn(rest, "/.")] == '\0' && strstr(rest, "..") == NULL;
    free(rest);
    if (!all)
        return fail_set(err, -EINVAL, "'%s' is no path below the file server's roots", url);
    *ret_path = xstrdup("");
    *ret_env = xstrdup(env_of(ctx, args));
    return 0;
}

/* Below the folder, not merely with a name that begins alike. */
static bool
is_below(const char *path, const char *folder)
{
    size_t n = strlen(folder);

    return n == 0 || (str_starts(path, folder) && path[n] == '/');
}

/* For each of a list's paths below `folder`. */
typedef int each_fn(call_ctx_t *ctx, const char *path, void *cookie, fail_t *err);
static int
each_below(call_ctx_t *ctx, files_kind_t kind, const char *env, const char *folder, each_fn *fn, void *cookie,
           fail_t *err)
{
    fileclient_t *files = fetch_files(ctx, err);
    json_auto_t *all = files != NULL ? fileclient_list(files, kind, env, folder, err) : NULL;
    json_t *path;
    size_t i;
    int rc = all != NULL ? 0 : -EIO;

    json_array_foreach (all, i, path) {
        if (rc == 0 && is_below(json_string_value(path), folder))
            rc = fn(ctx, json_string_value(path), cookie, err);
    }
    return rc;
}

typedef struct copying {
    const char *env, *folder, *dest;
    json_t *patterns; /* the call's arguments: include_pat, exclude_pat */
    json_t *into;
} copying_t;

/* Where a path goes: the folder itself is kept, those above it are not. NEW. */
static char *
copied_to(const copying_t *c, const char *path)
{
    const char *slash = strrchr(c->folder, '/');
    const char *rest = path + (slash != NULL ? (size_t) (slash - c->folder) : 0);

    return xasprintf("%s/%s", c->dest, rest + strspn(rest, "/"));
}

static int
copy_file(call_ctx_t *ctx, const char *path, void *cookie, fail_t *err)
{
    const copying_t *c = cookie;
    AUTO_FREE char *dest = copied_to(c, path);

    return take_listed(ctx, path, c->env, dest, c->into, err);
}

static int
make_folder(const char *path, json_t *into, fail_t *err)
{
    int rc = fs_mkdirs(path, 0777, err);

    if (rc == 0)
        json_array_append_new(into, value_utf8(path, strlen(path)));
    return rc;
}

static int
copy_folder(call_ctx_t *ctx, const char *path, void *cookie, fail_t *err)
{
    const copying_t *c = cookie;
    AUTO_FREE char *dest = copied_to(c, path);

    (void) ctx;
    return make_folder(dest, c->into, err);
}

/* NEW: Python's sorted() of texts and False. */
static json_t *
sorted_list(json_t *items)
{
    json_auto_t *set = json_object();
    json_t *v;
    size_t i;

    json_array_foreach (items, i, v) {
        if (json_is_string(v))
            json_object_set_new(set, json_string_value(v), json_true());
    }
    return sorted_keys(set);
}

static int
cp_get_dir(call_ctx_t *ctx, json_t *call, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *folder = NULL, *env = NULL;
    json_auto_t *got = json_array(), *args = json_copy(call);
    if (render_paths(ctx, args, err) < 0)
        return err->code;
    copying_t c = { .dest = value_str(args, "dest", ""), .into = got };

    int rc = folder_of(ctx, args, &folder, &env, err);
    c.folder = folder;
    c.env = env;
    if (rc == 0)
        rc = each_below(ctx, FILES_FILES, env, folder, copy_file, &c, err);
    if (rc == 0)
        rc = each_below(ctx, FILES_EMPTYDIRS, env, folder, copy_folder, &c, err);
    if (rc == 0)
        *ret_value = sorted_list(got);
    return rc;
}

/* "E@REGEX" is searched for, anything else is a glob. */
static bool
matches(const char *pattern, const char *path)
{
    if (!str_starts(pattern, "E@"))
        return match_glob(pattern, path);
    AUTO(rx) rx = rx_new(pattern + 2, 0, NULL);
    return rx != NULL && rx_search(rx, path, strlen(path), 0, NULL) == 1;
}

static bool
matches_any(json_t *patterns, const char *path)
{
    json_t *p;
    size_t i;

    if (json_is_string(patterns))
        return matches(json_string_value(patterns), path);
    json_array_foreach (patterns, i, p) {
        if (json_is_string(p) && matches(json_string_value(p), path))
            return true;
    }
    return false;
}

static int
cache_one(call_ctx_t *ctx, const char *path, void *cookie, fail_t *err)
{
    const copying_t *c = cookie;
    json_t *in = value_get(c->patterns, "include_pat"), *out = value_get(c->patterns, "exclude_pat");

    if ((value_truthy(in) && !matches_any(in, path)) || (value_truthy(out) && matches_any(out, path)))
        return 0;
    return take_listed(ctx, path, c->env, NULL, c->into, err);
}

static int
cache_empty(call_ctx_t *ctx, const char *path, void *cookie, fail_t *err)
{
    const copying_t *c = cookie;
    AUTO_FREE char *rest = fs_join(c->env, path);
    AUTO_FREE char *place = fetch_cache_place(ctx, "files", rest);

    return make_folder(place, c->into, err);
}

static int
cp_cache_dir(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *folder = NULL, *env = NULL;
    json_auto_t *got = json_array();
    copying_t c = { .patterns = args, .into = got };

    int rc = folder_of(ctx, args, &folder, &env, err);
    c.env = env;
    if (rc == 0)
        rc = each_below(ctx, FILES_FILES, env, folder, cache_one, &c, err);
    if (rc == 0 && value_truthy(value_get(args, "include_empty")))
        rc = each_below(ctx, FILES_EMPTYDIRS, env, folder, cache_empty, &c, err);
    if (rc == 0)
        *ret_value = json_incref(got);
    return rc;
}

static int
cp_cache_master(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *got = json_array();
    copying_t c = { .env = env_of(ctx, args), .into = got };
    int rc = each_below(ctx, FILES_FILES, c.env, "", cache_one, &c, err);

    if (rc == 0)
        *ret_value = json_incref(got);
    return rc;
}

/* ---- the cache ---------------------------------------------------------------------------- */

/* NEW path of what the cache has of a path or URL, or NULL. */
static char *
cached_place(call_ctx_t *ctx, const char *url, const char *saltenv)
{
    bool ours = str_starts(url, "salt://");
    const char *path = ours ? url + strlen("salt://") : url, *query = strstr(path, "?saltenv=");
    AUTO_FREE char *bare = xstrndup(path, ours && query != NULL ? (size_t) (query - path) : strlen(path));
    const char *env = ours && query != NULL && query[9] != '\0' ? query + 9 : saltenv;
    AUTO_FREE char *rest = fs_join(env, bare + strspn(bare, "|/"));
    char *places[] = { fetch_cache_place(ctx, "files", rest),
                       fetch_cache_place(ctx, "localfiles", bare + strspn(bare, "|/")),
                       fetch_extern_place(ctx, bare, env) };
    char *found = NULL;

    for (size_t i = 0; i < NELEMS(places); i++) {
        if (found == NULL && fs_exists(places[i]))
            found = *bare == '|' && i < 2 ? xasprintf("|%s", places[i]) : xstrdup(places[i]);
        free(places[i]);
    }
    return found;
}

static int
cp_is_cached(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *found = cached_place(ctx, value_str(args, "path", ""), env_of(ctx, args));

    (void) err;
    *ret_value = path_or(found, json_string(""));
    return 0;
}

static int
cp_cache_dest(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *url = value_str(args, "url", ""), *saltenv = env_of(ctx, args);
    AUTO_FREE char *path = NULL, *env = NULL, *place = NULL;
    url_auto_t u = { NULL, NULL, NULL, NULL };

    url_parse(&u, url);
    if (*u.scheme == '\0') {
        place = xstrdup(url);
    } else if (!str_eq(u.scheme, "salt")) {
        place = fetch_extern_place(ctx, url, saltenv);
    } else {
        int rc = fileclient_split(url, saltenv, &path, &env, err);
        if (rc < 0)
            return rc;
        AUTO_FREE char *rest = fs_join(env, path);
        place = fetch_cache_place(ctx, "files", rest);
    }
    *ret_value = path_or(place, json_null());
    return 0;
}

static bool
is_same_file(call_ctx_t *ctx, const char *a, const char *b)
{
    json_auto_t *hash_a = NULL, *hash_b = NULL;

    return hash_here(ctx, a, &hash_a, NULL) == 0 && hash_here(ctx, b, &hash_b, NULL) == 0 &&
           json_object_size(hash_a) > 0 && json_equal(hash_a, hash_b);
}

static int
cp_cache_local_file(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *path = value_str(args, "path", "");
    AUTO_FREE char *known = cached_place(ctx, path, fetch_env(ctx, NULL));

    if (!fs_exists(path)) {
        *ret_value = json_string("");
        return 0;
    }
    if (known == NULL || !is_same_file(ctx, path, known)) {
        free(known);
        known = fetch_cache_place(ctx, "localfiles", path + strspn(path, "/"));
        int rc = fetch_copy(path, known, err);
        if (rc < 0)
            return rc;
    }
    *ret_value = value_utf8(known, strlen(known));
    return 0;
}

/* ---- from salt-cp -------------------------------------------------------------------------- */

static int
cp_recv(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    (void) ctx, (void) err;
    *ret_value = cprecv_files(value_get(args, "files"), value_str(args, "dest", ""));
    return 0;
}

static int
cp_recv_chunked(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    cprecv_chunk_t piece = { .dest = value_str(args, "dest", ""),
                             .chunk = value_str(args, "chunk", NULL),
                             .append = value_truthy(value_get(args, "append")),
                             .compressed = value_truthy(value_get(args, "compressed")),
                             .mode = (int) value_int(args, "mode", -1) };
    bool failed = false;

    *ret_value = cprecv_piece(&piece, &failed, err);
    if (failed)
        ctx_set_retcode(ctx, 1);
    return *ret_value != NULL ? 0 : -EINVAL;
}

/* ---- to the master ------------------------------------------------------------------------ */

static int
cp_push(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const cppush_t what = { .path = value_str(args, "path", ""),
                            .upload_path = value_str(args, "upload_path", NULL),
                            .keep_symlinks = value_truthy(value_get(args, "keep_symlinks")),
                            .remove_source = value_truthy(value_get(args, "remove_source")) };

    (void) err;
    *ret_value = json_boolean(cppush_file(ctx, &what));
    return 0;
}

static int
cp_push_dir(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    (void) err;
    *ret_value = json_boolean(cppush_dir(ctx, value_str(args, "path", ""), value_str(args, "glob", NULL),
                                         value_str(args, "upload_path", NULL)));
    return 0;
}

/* ---- the table ---------------------------------------------------------------------------- */

#define ENV_ARG                                                                                              \
    {                                                                                                        \
        "saltenv", ARG_STR, "null", "The environment; the option saltenv, or base, when there is none"       \
    }
#define PATH_ARG                                                                                             \
    {                                                                                                        \
        "path", ARG_STR, ARG_REQUIRED, "salt://path/to/file, optionally with ?saltenv=ENV"                   \
    }
#define KWARGS                                                                                               \
    {                                                                                                        \
        "kwargs", ARG_ANY, ARG_STARSTAR, "Further variables of the template"                                 \
    }

static const arg_t list_args[] = {
    ENV_ARG,
    { "prefix", ARG_STR, "\"\"", "Only what begins with this" },
    ARGS_END,
};
static const arg_t env_args[] = { ENV_ARG, ARGS_END };
static const arg_t path_args[] = { PATH_ARG, ENV_ARG, ARGS_END };
static const arg_t local_args[] = { { "path", ARG_STR, ARG_REQUIRED, "A file of the minion" }, ARGS_END };
static const arg_t url_args[] = { { "url", ARG_STR, ARG_REQUIRED, "A URL of any kind" }, ENV_ARG, ARGS_END };
static const arg_t paths_args[] = {
    { "paths", ARG_ANY, ARG_REQUIRED, "URLs, separated by commas, or a list of them" },
    ENV_ARG,
    ARGS_END,
};
static const arg_t stat_args[] = {
    PATH_ARG,
    ENV_ARG,
    { "octal", ARG_ANY, "true", "The permissions as octal text; else st_mode as a number" },
    ARGS_END,
};
static const arg_t get_file_args[] = {
    PATH_ARG,
    { "dest", ARG_STR, ARG_REQUIRED, "A path of the minion, or a folder" },
    ENV_ARG,
    { "makedirs", ARG_ANY, "false", "Make the folders above it" },
    { "template", ARG_STR, "null", "Render path and dest with this engine first: jinja" },
    { "gzip", ARG_ANY, "null", "Accepted; transfers are not compressed" },
    KWARGS,
    ARGS_END,
};
static const arg_t get_dir_args[] = {
    { "path", ARG_STR, ARG_REQUIRED, "salt://path/to/dir" },
    { "dest", ARG_STR, ARG_REQUIRED, "A folder of the minion" },
    ENV_ARG,
    { "template", ARG_STR, "null", "Render path and dest with this engine first: jinja" },
    { "gzip", ARG_ANY, "null", "Accepted; transfers are not compressed" },
    KWARGS,
    ARGS_END,
};
static const arg_t push_args[] = {
    { "path", ARG_STR, ARG_REQUIRED, "A file of the minion" },
    { "keep_symlinks", ARG_ANY, "false", "Its path as it is written, links in it not resolved" },
    { "upload_path", ARG_STR, "null", "Another path below the minion's folder on the master" },
    { "remove_source", ARG_ANY, "false", "Remove the file afterwards" },
    ARGS_END,
};
static const arg_t push_dir_args[] = {
    { "path", ARG_STR, ARG_REQUIRED, "A folder of the minion" },
    { "glob", ARG_STR, "null", "Only files whose names match" },
    { "upload_path", ARG_STR, "null", "Another folder below the minion's on the master" },
    ARGS_END,
};
static const arg_t recv_args[] = {
    { "files", ARG_DICT, ARG_REQUIRED, "Contents by path" },
    { "dest", ARG_STR, ARG_REQUIRED, "A path of the minion, or a folder" },
    ARGS_END,
};
static const arg_t recv_chunked_args[] = {
    { "dest", ARG_STR, ARG_REQUIRED, "A path of the minion" },
    { "chunk", ARG_STR, "null", "Bytes as base64; None: dest is an empty folder" },
    { "append", ARG_ANY, "false", "Behind what is there" },
    { "compressed", ARG_ANY, "true", "They are packed by gzip" },
    { "mode", ARG_INT, "null", "Permissions, with the first piece" },
    ARGS_END,
};
static const arg_t get_url_args[] = {
    { "path", ARG_STR, ARG_REQUIRED, "A URL: salt, http, https, ftp, file, or a path" },
    { "dest", ARG_ANY, "\"\"",
      "A path of the minion, or a folder; empty: the cache; None: return the contents" },
    ENV_ARG,
    { "makedirs", ARG_ANY, "false", "Make the folders above it" },
    { "source_hash", ARG_STR, "null", "A cached file with this digest is not fetched again" },
    ARGS_END,
};
static const arg_t get_template_args[] = {
    PATH_ARG,
    { "dest", ARG_STR, ARG_REQUIRED, "A path of the minion; empty: the cache" },
    { "template", ARG_STR, "\"jinja\"", "The engine" },
    ENV_ARG,
    { "makedirs", ARG_ANY, "false", "Make the folders above it" },
    KWARGS,
    ARGS_END,
};
static const arg_t cache_file_args[] = {
    { "path", ARG_STR, ARG_REQUIRED, "A URL: salt, http, https, ftp, file, or a path" },
    ENV_ARG,
    { "source_hash", ARG_STR, "null", "A cached file with this digest is not fetched again" },
    { "verify_ssl", ARG_ANY, "true", "False: accept any certificate" },
    { "use_etag", ARG_ANY, "false", "Fetch again only when the web server's ETag has changed" },
    ARGS_END,
};
static const arg_t cache_dir_args[] = {
    { "path", ARG_STR, ARG_REQUIRED, "salt://path/to/dir" },
    ENV_ARG,
    { "include_empty", ARG_ANY, "false", "Make empty folders too" },
    { "include_pat", ARG_ANY, "null", "Only these: a glob, E@REGEX, or a list" },
    { "exclude_pat", ARG_ANY, "null", "Not these" },
    ARGS_END,
};

static const func_t funcs[] = {
    { "cache_dest", cp_cache_dest, url_args, FN_READONLY,
      "Where a URL lies in the cache once it is cached." CLI_EXAMPLE(
          "salt '*' cp.cache_dest https://foo.com/bar.rpm\n    salt '*' cp.cache_dest salt://my/file") },
    { "cache_dir", cp_cache_dir, cache_dir_args, 0,
      "Cache everything below a folder of the file server; return the paths." CLI_EXAMPLE(
          "salt '*' cp.cache_dir salt://path/to/dir\n    salt '*' cp.cache_dir salt://path/to/dir "
          "include_pat='E@*.py$'") },
    { "cache_file", cp_cache_file, cache_file_args, 0,
      "Cache a file; return its path, or False when the file server has none." CLI_EXAMPLE(
          "salt '*' cp.cache_file salt://path/to/file") },
    { "cache_files", cp_cache_files, paths_args, 0,
      "Cache several files; return their paths." CLI_EXAMPLE(
          "salt '*' cp.cache_files salt://pathto/file1,salt://pathto/file1") },
    { "cache_local_file", cp_cache_local_file, local_args, 0,
      "Copy a file of the minion into its cache; return the copy's path." CLI_EXAMPLE(
          "salt '*' cp.cache_local_file /etc/hosts") },
    { "cache_master", cp_cache_master, env_args, 0,
      "Cache all files of an environment; return their paths." CLI_EXAMPLE("salt '*' cp.cache_master") },
    { "envs", cp_envs, NULL, FN_READONLY,
      "The environments of the file server." CLI_EXAMPLE("salt '*' cp.envs") },
    { "get_dir", cp_get_dir, get_dir_args, 0,
      "Copy a folder of the file server with all below it; return the paths." CLI_EXAMPLE(
          "salt '*' cp.get_dir salt://path/to/dir/ /minion/dest") },
    { "get_file", cp_get_file, get_file_args, 0,
      "Copy a file of the file server; return its path, \"\" when there is no such file, False when the "
      "folder "
      "is missing." CLI_EXAMPLE(
          "salt '*' cp.get_file salt://path/to/file /minion/dest\n    salt '*' cp.get_file "
          "\"salt://{{grains.os}}/vimrc\" /etc/vimrc template=jinja") },
    { "get_file_str", cp_get_file_str, path_args, 0,
      "Cache a file and return its contents, or False." CLI_EXAMPLE(
          "salt '*' cp.get_file_str salt://my/file") },
    { "get_template", cp_get_template, get_template_args, 0,
      "Render a file as a template and put the text down; return its path, or \"\"." CLI_EXAMPLE(
          "salt '*' cp.get_template salt://path/to/template /minion/dest") },
    { "get_url", cp_get_url, get_url_args, 0,
      "Get a file by URL; return its path." CLI_EXAMPLE(
          "salt '*' cp.get_url salt://my/file /tmp/this_file_is_mine\n    salt '*' cp.get_url "
          "http://www.slashdot.org /tmp/index.html") },
    { "hash_file", cp_hash_file, path_args, FN_READONLY,
      "The digest of a file of the file server (salt://) or of the minion." CLI_EXAMPLE(
          "salt '*' cp.hash_file salt://path/to/file") },
    { "is_cached", cp_is_cached, path_args, FN_READONLY,
      "The path of a file's copy in the cache, or \"\"." CLI_EXAMPLE(
          "salt '*' cp.is_cached salt://path/to/file") },
    { "list_master", cp_list_master, list_args, FN_READONLY,
      "The files of an environment." CLI_EXAMPLE("salt '*' cp.list_master") },
    { "list_master_dirs", cp_list_master_dirs, list_args, FN_READONLY,
      "The folders of an environment." CLI_EXAMPLE("salt '*' cp.list_master_dirs") },
    { "list_master_symlinks", cp_list_master_symlinks, list_args, FN_READONLY,
      "The links of an environment, and where they lead." CLI_EXAMPLE("salt '*' cp.list_master_symlinks") },
    { "list_minion", cp_list_minion, env_args, FN_READONLY,
      "The files in the minion's cache." CLI_EXAMPLE("salt '*' cp.list_minion") },
    { "list_states", cp_list_states, env_args, FN_READONLY,
      "The SLS files of an environment, by the names that states use." CLI_EXAMPLE(
          "salt '*' cp.list_states") },
    { "push", cp_push, push_args, 0,
      "Send a file to the master, which keeps it in cachedir/minions/ID/files if its option file_recv allows "
      "it." CLI_EXAMPLE(
          "salt '*' cp.push /etc/fstab\n    salt '*' cp.push /etc/fstab upload_path='/new/path/fstab'") },
    { "push_dir", cp_push_dir, push_dir_args, 0,
      "Send the files of a folder to the master, as cp.push does." CLI_EXAMPLE(
          "salt '*' cp.push_dir /etc/modprobe.d/ glob='*.conf'") },
    { "recv", cp_recv, recv_args, 0,
      "Write files that salt-cp sends; return which were written." CLI_EXAMPLE("salt '*' cp.recv") },
    { "recv_chunked", cp_recv_chunked, recv_chunked_args, 0,
      "Write a piece of a file that salt-cp sends." CLI_EXAMPLE("salt '*' cp.recv_chunked") },
    { "stat_file", cp_stat_file, stat_args, FN_READONLY,
      "The permissions of a file of the file server (salt://) or of the minion." CLI_EXAMPLE(
          "salt '*' cp.stat_file salt://path/to/file") },
};

PLUGIN(exec, cp, .doc = "Files from the file server and from the web", FUNCS(funcs));
