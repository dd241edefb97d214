/* cp.c - execution module `cp`: files from the file server, from the web, and what is cached of them.
 * Fetching itself is in plugins/lib/transfer; these functions choose the place and the answer that Salt
 * gives. Salt tells "not there" as "" by some functions, False by others and {} by one; that is kept, since
 * states test for it. */
#include "salt/plugin.h"

#include <sys/stat.h>

#include "common/base/binary.h"
#include "common/base/digest.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/file/fileops.h"
#include "plugins/lib/transfer/cptemplate.h"
#include "plugins/lib/transfer/fetch.h"
#include "salt/log.h"

/* ---- hash, stat --------------------------------------------------------------------------- */

/* A file of this machine: {"hsum", "hash_type"}, empty when there is none. The type is the option hash_type,
 * as for files of the master. */
static int
hash_here(call_ctx_t *ctx, const char *path, json_t **ret_value, fail_t *err)
{
    const char *type = value_str(ctx_opts(ctx), "hash_type", "sha256");
    AUTO_FREE char *hex = NULL;
    int file = fs_look_file(path, err);

    if (file < 0)
        return file;
    if (file == 0) {
        log_warning("specified file %s is not present to generate hash", path);
        *ret_value = json_object();
        return 0;
    }
    int rc = digest_file(path, type, &hex, err);
    if (rc == 0)
        *ret_value = json_pack("{s:s, s:s}", "hsum", hex, "hash_type", type);
    return rc;
}

/* {"hash_type", "hsum"}; "" when the file server has no such file. Its "mode" and "size" are stat_file's.
 * Without a file server (no master and no file_roots) the call fails. */
static int
cp_hash_file(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *path = value_str(args, "path", "");

    if (!str_starts(path, "salt://"))
        return hash_here(ctx, path, ret_value, err);
    fileclient_t *files = fetch_files(ctx, err);
    if (files == NULL)
        return -ENOTSUP;
    int rc = fileclient_hash(files, path, fetch_env_arg(ctx, args), ret_value, err);
    if (rc == -ENOENT)
        *ret_value = json_string("");
    json_object_del(*ret_value, "mode");
    json_object_del(*ret_value, "size");
    return rc == -ENOENT ? 0 : rc;
}

/* Mode of the file, on the server or here; None when there is none. */
static int
cp_stat_file(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *path = value_str(args, "path", "");
    fileclient_t *files = str_starts(path, "salt://") ? fetch_files(ctx, err) : NULL;
    json_auto_t *hash = NULL;
    struct stat st = { 0 };

    if (str_starts(path, "salt://")) {
        int rc = files != NULL ? fileclient_stat(files, path, fetch_env_arg(ctx, args), &hash, err)
                               : -ENOTSUP;
        if (rc < 0 && rc != -ENOENT)
            return rc;
        st.st_mode = (mode_t) value_int(hash, "mode", 0);
    } else if (stat(path, &st) != 0 && !fs_is_absence(-errno)) {
        return fs_fail(err, -errno, "look at", path);
        /* Folders and devices here have no mode for Salt, and None stands for them. */
    } else if (!S_ISREG(st.st_mode)) {
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

/* Looks for the file locally or on the file server: 1, 0, or a negative errno. A folder is no file: 0. */
static int
is_there(call_ctx_t *ctx, const fetch_t *what, fail_t *err)
{
    fileclient_t *files = fetch_files(ctx, err);
    json_auto_t *found = NULL;

    if (!str_starts(what->url, "salt://"))
        return fs_is_dir(what->url) ? 0 : fs_look(what->url, err);
    int rc = files != NULL ? fileclient_stat(files, what->url, what->saltenv, &found, err) : -ENOTSUP;
    return rc == -ENOENT ? 0 : rc < 0 ? rc : 1;
}

/* "" when the source does not exist, False when the destination could not be written. Asking first tells a
 * missing source from a missing folder: fetch_salt() has one answer for both. */
static int
cp_get_file(call_ctx_t *ctx, json_t *call, json_t **ret_value, fail_t *err)
{
    json_auto_t *args = json_copy(call);
    if (cptemplate_paths(ctx, args, err) < 0)
        return err->code;
    fetch_t what = { .url = value_str(args, "path", ""),
                     .saltenv = fetch_env_arg(ctx, args),
                     .dest = value_str(args, "dest", NULL),
                     .makedirs = value_truthy(value_get(args, "makedirs")) };
    AUTO_FREE char *path = NULL;

    int there = is_there(ctx, &what, err), rc = there > 0 ? fetch_salt(ctx, &what, &path, err) : there;
    if (rc == 0)
        *ret_value = fetch_path_or(path, there > 0 ? json_false() : json_string(""));
    return rc;
}

/* The rendered text of a cached template. A failure of the template is logged: there is no file then. -ENOENT
 * without *err then, so that the caller can tell it from a failure of this machine. */
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
    if (binary_no_template(buf_str(&text), text.len)) {
        buf_add(out, buf_str(&text), text.len);
        return 0;
    }
    if (cptemplate_render(ctx, args, engine, path, buf_str(&text), text.len, out, &why) == 0)
        return 0;
    log_error("Failed to render template with error: %s", fail_text(&why));
    return -ENOENT;
}

/* 1: it lies at `dest` now; 0: there is no template, no engine or no folder. *dest_p is changed to the place
 * in the cache when it was "". */
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

/* The template's own text is cached by its URL; the rendered one goes to `dest`, or into the cache as a file
 * from outside. */
static int
cp_get_template(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    fetch_t what = { .url = value_str(args, "path", ""),
                     .saltenv = fetch_env_arg(ctx, args),
                     .makedirs = true };
    AUTO_FREE char *dest = xstrdup(value_str(args, "dest", ""));
    int rc = template_to(ctx, args, &what, &dest, err);

    if (rc < 0)
        return rc;
    *ret_value = rc > 0 ? value_utf8(dest, strlen(dest)) : json_string("");
    return 0;
}

/* Of a salt:// URL False means not found, of others "": Salt's client has different code for them. */
static int
cp_get_url(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    fetch_t what = { .url = value_str(args, "path", ""),
                     .saltenv = fetch_env_arg(ctx, args),
                     .dest = value_str(args, "dest", NULL),
                     .makedirs = value_truthy(value_get(args, "makedirs")),
                     .source_hash = value_str(args, "source_hash", NULL) };
    AUTO_FREE char *path = NULL;
    int rc;

    /* Anything but a text, None above all, asks for the contents; "" is the cache. */
    if (!json_is_string(value_get(args, "dest"))) {
        /* Contents instead of a path: dest=None. */
        buf_auto_t bytes = BUF_INIT;
        bool found = false;
        rc = fetch_bytes(ctx, &what, &bytes, &found, err);
        if (rc == 0)
            *ret_value = found ? value_utf8(buf_str(&bytes), bytes.len) : json_false();
    } else {
        rc = fetch_url(ctx, &what, &path, err);
        if (rc == 0)
            *ret_value = fetch_path_or(path,
                                       str_starts(what.url, "salt://") ? json_false() : json_string(""));
    }
    if (rc == 0 && !value_truthy(*ret_value))
        log_error("Unable to fetch file %s from saltenv %s.", what.url, what.saltenv);
    return rc;
}

/* A remote URL is fetched once in a job: nobody tells whether it has changed. The path is in the job's
 * context for the other functions of the same job, states above all. Files of the file server are asked for
 * each time: there a digest tells at once. */
static int
cp_cache_file(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    fetch_t what = { .url = value_str(args, "path", ""),
                     .saltenv = fetch_env_arg(ctx, args),
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
    *ret_value = fetch_path_or(path, json_false());
    if (strstr(what.url, "://") != NULL && !str_starts(what.url, "salt://") &&
        !str_starts(what.url, "file://"))
        json_object_set(ctx_context(ctx), key, *ret_value);
    return 0;
}

/* Contents of a cached file, False when it can't be had. A file that is too large to be returned is an
 * error. */
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

/* One path or False for each URL. An item that is not text ends the call. A text is split at commas, with no
 * blanks taken off. */
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
        fetch_t what = { .url = json_string_value(url),
                         .saltenv = fetch_env_arg(ctx, args),
                         .makedirs = true };
        AUTO_FREE char *path = NULL;
        int rc = what.url != NULL
                     ? fetch_url(ctx, &what, &path, err)
                     : fail_kind(err, FAIL_INVOCATION, -EINVAL, "paths: item %zu is not text", i + 1);
        if (rc < 0)
            return rc;
        json_array_append_new(all, fetch_path_or(path, json_false()));
    }
    *ret_value = json_incref(all);
    return 0;
}

/* ---- the cache ---------------------------------------------------------------------------- */

/* NEW path of what the cache has of a path or URL, or NULL. Three folders are looked through, in this order:
 * files of the file server by environment, local files that were cached, files of the web. A name that begins
 * with "|" is escaped (it holds a "?"), and the answer begins so too. */
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

/* "" when nothing is cached. */
static int
cp_is_cached(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *found = cached_place(ctx, value_str(args, "path", ""), fetch_env_arg(ctx, args));

    *ret_value = fetch_path_or(found, json_string(""));
    return 0;
}

/* The place where cache_file would put the URL, whether or not it is there. A bare path is its own place; a
 * scheme that has none gives None. */
static int
cp_cache_dest(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *url = value_str(args, "url", ""), *saltenv = fetch_env_arg(ctx, args);
    AUTO_FREE char *path = NULL, *env = NULL, *place = NULL;
    url_auto_t u = { NULL, NULL, NULL, NULL };

    url_parse(&u, url);
    /* A path of this machine needs no cache. */
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
    *ret_value = fetch_path_or(place, json_null());
    return 0;
}

/* By digest; a file that can't be read is the same as none. */
static bool
is_same_file(call_ctx_t *ctx, const char *a, const char *b)
{
    json_auto_t *hash_a = NULL, *hash_b = NULL;

    return hash_here(ctx, a, &hash_a, NULL) == 0 && hash_here(ctx, b, &hash_b, NULL) == 0 &&
           json_object_size(hash_a) > 0 && json_equal(hash_a, hash_b);
}

/* Copies into the cache unless an equal copy is there. */
static int
cp_cache_local_file(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *path = value_str(args, "path", "");
    /* Without "..", which would lead out of the cache. */
    AUTO_FREE char *rooted = xasprintf("/%s", path), *plain = fop_normpath(rooted);
    AUTO_FREE char *known = cached_place(ctx, plain, fetch_env(ctx, NULL));

    int there = fs_look(path, err);
    if (there <= 0) {
        *ret_value = there == 0 ? json_string("") : NULL;
        return there;
    }
    /* A copy of other contents is replaced, wherever in the cache the first one was found. */
    if (known == NULL || !is_same_file(ctx, path, known)) {
        free(known);
        known = fetch_cache_place(ctx, "localfiles", plain + strspn(plain, "/"));
        int rc = fetch_copy(path, known, err);
        if (rc < 0)
            return rc;
    }
    *ret_value = value_utf8(known, strlen(known));
    return 0;
}

/* ---- the table ---------------------------------------------------------------------------- */

#define ENV_ARG                                                                                              \
    ARG("saltenv", ARG_STR, "null", "The environment; the option saltenv, or base, when there is none")
#define PATH_ARG ARG("path", ARG_STR, ARG_REQUIRED, "salt://path/to/file, optionally with ?saltenv=ENV")
#define KWARGS   ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Further variables of the template", "*")

static const arg_t path_args[] = { PATH_ARG, ENV_ARG, ARGS_END };
static const arg_t local_args[] = { ARG("path", ARG_STR, ARG_REQUIRED, "A file of the minion"), ARGS_END };
static const arg_t url_args[] = { ARG("url", ARG_STR, ARG_REQUIRED, "A URL of any kind"), ENV_ARG, ARGS_END };
static const arg_t paths_args[] = {
    ARG("paths", ARG_ANY, ARG_REQUIRED, "URLs, separated by commas, or a list of them"),
    ENV_ARG,
    ARGS_END,
};
static const arg_t stat_args[] = {
    PATH_ARG,
    ENV_ARG,
    ARG("octal", ARG_ANY, "true", "The permissions as octal text; else st_mode as a number"),
    ARGS_END,
};
static const arg_t get_file_args[] = {
    PATH_ARG,
    ARG("dest", ARG_STR, ARG_REQUIRED, "A path of the minion, or a folder"),
    ENV_ARG,
    ARG("makedirs", ARG_ANY, "false", "Make the folders above it"),
    ARG("template", ARG_STR, "null", "Render path and dest with this engine first: jinja"),
    ARG("gzip", ARG_ANY, "null", "Accepted; transfers are not compressed"),
    KWARGS,
    ARGS_END,
};
static const arg_t get_url_args[] = {
    ARG("path", ARG_STR, ARG_REQUIRED, "A URL: salt, http, https, ftp, file, or a path"),
    ARG("dest", ARG_ANY, "\"\"",
        "A path of the minion, or a folder; empty: the cache; None: return the contents"),
    ENV_ARG,
    ARG("makedirs", ARG_ANY, "false", "Make the folders above it"),
    ARG("source_hash", ARG_STR, "null", "A cached file with this digest is not fetched again"),
    ARGS_END,
};
static const arg_t get_template_args[] = {
    PATH_ARG,
    ARG("dest", ARG_STR, ARG_REQUIRED, "A path of the minion; empty: the cache"),
    ARG("template", ARG_STR, "\"jinja\"", "The engine"),
    ENV_ARG,
    ARG("makedirs", ARG_ANY, "false", "Make the folders above it"),
    KWARGS,
    ARGS_END,
};
static const arg_t cache_file_args[] = {
    ARG("path", ARG_STR, ARG_REQUIRED, "A URL: salt, http, https, ftp, file, or a path"),
    ENV_ARG,
    ARG("source_hash", ARG_STR, "null", "A cached file with this digest is not fetched again"),
    ARG("verify_ssl", ARG_ANY, "true", "False: accept any certificate"),
    ARG("use_etag", ARG_ANY, "false", "Fetch again only when the web server's ETag has changed"),
    ARGS_END,
};

static const func_t funcs[] = {
    { "cache_dest", cp_cache_dest, url_args, FN_READONLY,
      "Where a URL lies in the cache once it is cached." CLI_EXAMPLE(
          "salt '*' cp.cache_dest https://foo.com/bar.rpm\n    salt '*' cp.cache_dest salt://my/file") },
    { "cache_file", cp_cache_file, cache_file_args, 0,
      "Cache a file; return its path, or False when the file server has none." CLI_EXAMPLE(
          "salt '*' cp.cache_file salt://path/to/file"),
      ABSENT("path", "{} was not fetched; 'cp.list_master' lists the file server's files") },
    { "cache_files", cp_cache_files, paths_args, 0,
      "Cache several files; return their paths." CLI_EXAMPLE(
          "salt '*' cp.cache_files salt://pathto/file1,salt://pathto/file1"),
      ABSENT("paths", "{} was not fetched; 'cp.list_master' lists the file server's files") },
    { "cache_local_file", cp_cache_local_file, local_args, 0,
      "Copy a file of the minion into its cache; return the copy's path." CLI_EXAMPLE(
          "salt '*' cp.cache_local_file /etc/hosts"),
      ABSENT("path", "There is no file {} on this machine") },
    { "get_file", cp_get_file, get_file_args, 0,
      "Copy a file of the file server; return its path, \"\" when there is no such file, False when the "
      "folder is missing." CLI_EXAMPLE(
          "salt '*' cp.get_file salt://path/to/file /minion/dest\n    salt '*' cp.get_file "
          "\"salt://{{grains.os}}/vimrc\" /etc/vimrc template=jinja"),
      ABSENT("path", "{} was not fetched; 'cp.list_master' lists the file server's files") },
    { "get_file_str", cp_get_file_str, path_args, 0,
      "Cache a file and return its contents, or False." CLI_EXAMPLE(
          "salt '*' cp.get_file_str salt://my/file"),
      ABSENT("path", "{} was not fetched; 'cp.list_master' lists the file server's files") },
    { "get_template", cp_get_template, get_template_args, 0,
      "Render a file as a template and put the text down; return its path, or \"\"." CLI_EXAMPLE(
          "salt '*' cp.get_template salt://path/to/template /minion/dest"),
      ABSENT("path", "{} was not fetched; 'cp.list_master' lists the file server's files") },
    { "get_url", cp_get_url, get_url_args, 0,
      "Get a file by URL; return its path." CLI_EXAMPLE(
          "salt '*' cp.get_url salt://my/file /tmp/this_file_is_mine\n    salt '*' cp.get_url "
          "http://www.slashdot.org /tmp/index.html"),
      ABSENT("path", "{} was not fetched; 'cp.list_master' lists the file server's files") },
    { "hash_file", cp_hash_file, path_args, FN_READONLY,
      "The digest of a file of the file server (salt://) or of the minion." CLI_EXAMPLE(
          "salt '*' cp.hash_file salt://path/to/file"),
      ABSENT("path", "{} was not fetched; 'cp.list_master' lists the file server's files") },
    { "is_cached", cp_is_cached, path_args, FN_READONLY,
      "The path of a file's copy in the cache, or \"\"." CLI_EXAMPLE(
          "salt '*' cp.is_cached salt://path/to/file") },
    { "stat_file", cp_stat_file, stat_args, FN_READONLY,
      "The permissions of a file of the file server (salt://) or of the minion." CLI_EXAMPLE(
          "salt '*' cp.stat_file salt://path/to/file"),
      ABSENT("path", "{} was not fetched; 'cp.list_master' lists the file server's files") },
};

PLUGIN(exec, cp, .doc = "Files from the file server and from the web", FUNCS(funcs));
