/* fetch.c - see fetch.h. Schemes are dispatched by fetch_url; without a destination a file goes into the
 * minion's cache, as Salt places it (files/ENV for salt://, extrn_files for others). */
#include "plugins/lib/transfer/fetch.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/digest.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/files/fileserver.h"
#include "common/files/putfile.h"
#include "common/files/destpath.h"

/* ---- places ------------------------------------------------------------------------------- */

/* Argument, else the minion's saltenv, else "base". */
const char *
fetch_env(call_ctx_t *ctx, const char *given)
{
    const char *set = value_str(ctx_opts(ctx), "saltenv", "");

    return !str_empty(given) ? given : *set != '\0' ? set : "base";
}

const char *
fetch_env_arg(call_ctx_t *ctx, const json_t *args)
{
    return fetch_env(ctx, value_str(args, "saltenv", NULL));
}

json_t *
fetch_path_or(const char *path, json_t *missing)
{
    if (path == NULL)
        return missing;
    json_decref(missing);
    return value_utf8(path, strlen(path));
}

fileclient_t *
fetch_files(call_ctx_t *ctx, fail_t *err)
{
    fileclient_t *files = ctx_files(ctx);

    if (files == NULL)
        fail_kind(err, FAIL_COMMAND, -ENOTSUP, "There is no file server here");
    return files;
}

/* True when `path` has a component "..", which could escape the folder that it is placed in. */
static bool
climbs(const char *path)
{
    char **parts = str_split(path, "/", true);
    bool found = false;

    for (size_t i = 0; parts[i] != NULL; i++)
        found = found || str_eq(parts[i], "..");
    strv_free(parts);
    return found;
}

/* Place in the cache for a URL: saltenv, host, path and query; a name that is too long becomes its digest.
 * The credentials of the URL are not part of it. NEW. */
char *
fetch_extern_place(call_ctx_t *ctx, const char *url, const char *saltenv)
{
    url_auto_t u = { NULL, NULL, NULL, NULL };

    url_parse(&u, url);
    /* The host is a folder's name: without the colons of one that has a port, as apt takes no path with a colon for a
     * package. */
    const char *login = strrchr(u.netloc, '@'), *bare = login != NULL ? login + 1 : u.netloc,
               *colon = strrchr(bare, ':');
    bool port = colon != NULL && colon[1] != '\0' && strspn(colon + 1, "0123456789") == strlen(colon + 1);
    AUTO_FREE char *host = port ? str_replace(bare, ":", "") : xstrdup(bare);
    AUTO_FREE char *name = *u.query != '\0' ? xasprintf("%s-%s", u.path, u.query) : xstrdup(u.path);
    if (climbs(name) || climbs(saltenv) || climbs(host))
        return xstrdup("Invalid path");
    if (strlen(name) > NAME_MAX) {
        char *digest = digest_bytes("sha256", name, strlen(name), NULL);
        free(name);
        name = digest;
    }
    AUTO_FREE char *rest = xasprintf("%s%s%s/%s", saltenv, *host != '\0' ? "/" : "", host,
                                     name + strspn(name, "/"));
    return fetch_cache_place(ctx, "extrn_files", rest);
}

/* A folder gets the URL's last part behind it. NEW. */
static char *
dest_of(const char *dest, const char *name)
{
    return fs_is_dir(dest) || str_ends(dest, "/") ? fs_join(dest, name) : xstrdup(dest);
}

static const char *
last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

/* 1: the folder of `dest` is there now; 0: it is not, and is not wanted; or a negative errno. */
static int
folder_ready(const char *dest, bool makedirs, fail_t *err)
{
    const char *slash = strrchr(dest, '/');
    AUTO_FREE char *folder = xstrndup(dest, slash != NULL ? (size_t) (slash - dest) : 0);

    int there = slash == dest ? 1 : *folder != '\0' ? fs_look_dir(folder, err) : 0;
    if (there != 0)
        return there;
    if (!makedirs)
        return 0;
    int rc = destpath_make_folder(folder, 0, &destpath_made_ours, err);
    return rc < 0 ? rc : 1;
}

/* 1 when written; 0 when the folder is missing and not to be made; or negative with *err. */
int
fetch_write(const buf_t *text, const char *dest, bool makedirs, fail_t *err)
{
    int rc = folder_ready(dest, makedirs, err);

    if (rc > 0)
        rc = putfile_text(text, dest, err) < 0 ? -EIO : 1;
    return rc;
}

/* Follows links of the source, as the caller named it; pipes and folders are refused. */
int
fetch_copy(const char *path, const char *dest, fail_t *err)
{
    AUTO_FD fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    struct stat st = { 0 };

    if (fd < 0 || fstat(fd, &st) != 0)
        return fail_set(err, -errno, "[Errno %d] %s: '%s'", errno, strerror(errno), path);
    if (S_ISFIFO(st.st_mode)) /* a wait without end */
        return fail_set(err, -EINVAL, "%s is a named pipe", path);
    if (S_ISDIR(st.st_mode))
        return fail_set(err, -EISDIR, "[Errno %d] %s: '%s'", EISDIR, strerror(EISDIR), path);
    int rc = folder_ready(dest, true, err);
    return rc < 0 ? rc : putfile_copy(fd, dest, err);
}

/* ---- salt:// ------------------------------------------------------------------------------ */

/* Copies a file that a local file client serves from elsewhere, so that the result is always a file of the
 * cache. One that a minion sent lies there already, and is known by its place for that minion's word. */
static int
into_cache(call_ctx_t *ctx, const fetch_t *what, char **ret_path, fail_t *err)
{
    fileclient_t *files = fetch_files(ctx, err);
    AUTO_FREE char *local = NULL, *path = NULL, *env = NULL, *place = NULL;
    bool same = true;
    const char *cachedir = value_str(ctx_opts(ctx), "cachedir", "");

    int rc = fileclient_split(what->url, what->saltenv, &path, &env, NULL);
    if (rc < 0)
        return 0;
    uint64_t sent = files_sent();
    rc = fileclient_cache(files, what->url, what->saltenv, &local, err);
    if (rc < 0)
        return rc == -ENOENT ? 0 : rc;
    if (files_sent() != sent) {
        *ret_path = STEAL(local);
        return 0;
    }
    AUTO_FD folder = -1;
    rc = putfile_cache_folder(cachedir, env, path, &folder, &place, err);
    if (rc == 0 && !str_eq(local, place))
        rc = fileclient_same(files, what->url, what->saltenv, place, &same, err);
    if (rc == 0 && !same)
        rc = fileclient_get(files, what->url, what->saltenv, place, err);
    if (rc == 0)
        *ret_path = STEAL(place);
    return rc;
}

/* Compares digests first; an equal file is not fetched. 0 with *ret_path NULL when the server lacks the
 * file. */
int
fetch_salt(call_ctx_t *ctx, const fetch_t *what, char **ret_path, fail_t *err)
{
    fileclient_t *files = fetch_files(ctx, err);
    bool same;

    if (files == NULL)
        return -ENOTSUP;
    if (!str_starts(what->url, "salt://"))
        return fail_set(err, -EINVAL, "Unsupported path: %s", what->url);
    if (str_empty(what->dest))
        return into_cache(ctx, what, ret_path, err);
    AUTO_FREE char *name = xstrndup(what->url, strcspn(what->url, "?"));
    AUTO_FREE char *dest = dest_of(what->dest, last_part(name));
    int rc = fileclient_same(files, what->url, what->saltenv, dest, &same, err);
    if (rc < 0)
        return rc == -ENOENT ? 0 : rc;
    if (!same) {
        rc = folder_ready(dest, what->makedirs, err);
        if (rc <= 0)
            return rc;
        rc = fileclient_get(files, what->url, what->saltenv, dest, err);
        if (rc < 0)
            return rc == -ENOENT ? 0 : rc;
    }
    *ret_path = STEAL(dest);
    return 0;
}

/* ---- other schemes ------------------------------------------------------------------------ */

/* True when the cached file has the digest that the caller knows: "TYPE=DIGITS" or "DIGITS". */
static bool
fetch_is_known(const char *path, const char *source_hash)
{
    const char *eq = source_hash != NULL ? strrchr(source_hash, '=') : NULL;
    const char *digits = eq != NULL ? eq + 1 : source_hash;
    const char *type = digits != NULL ? digest_of_len(strlen(digits)) : NULL;

    AUTO_FREE char *have = NULL;

    return type != NULL && fs_exists(path) && !fs_is_dir(path) && digest_file(path, type, &have, NULL) == 0 &&
           strcasecmp(have, digits) == 0;
}

static bool
is_web(const char *scheme)
{
    static const char *const known[] = { "http", "https", "ftp" };

    for (size_t i = 0; i < NELEMS(known); i++) {
        if (str_eq(scheme, known[i]))
            return true;
    }
    return false;
}

/* The file:// URL's path, or the bare path. NEW, or NULL with *err. */
static char *
fetch_here(const char *text, const url_t *u, fail_t *err)
{
    bool bare = *u->scheme == '\0';
    char *path = xstrdup(bare ? text : u->path);

    for (size_t n = strlen(path); n > 0 && path[n - 1] == '/'; n--)
        path[n - 1] = '\0';
    if (*path == '/')
        return path;
    fail_kind(err, FAIL_COMMAND, -EINVAL, "Path '%s%s' is not absolute", u->netloc, path);
    free(path);
    return NULL;
}

int
fetch_url(call_ctx_t *ctx, const fetch_t *what, char **ret_path, fail_t *err)
{
    url_auto_t u = { NULL, NULL, NULL, NULL };

    url_parse(&u, what->url);
    if (str_eq(u.scheme, "salt"))
        return fetch_salt(ctx, what, ret_path, err);
    if (is_web(u.scheme)) {
        /* A cached file is kept when it has the digest that the caller knows, else fetched again. */
        bool has_name = *u.query != '\0' || (strlen(u.path) > 1 && !str_ends(u.path, "/"));
        bool cached = str_empty(what->dest);
        AUTO_FREE char *dest = cached ? fetch_extern_place(ctx, what->url, what->saltenv)
                                      : dest_of(what->dest, has_name ? last_part(what->url) : "index.html");
        if (*dest != '/' && cached)
            return fail_set(err, -EINVAL, "%s: %s", dest, what->url);
        if (!cached || !fetch_is_known(dest, what->source_hash)) {
            int rc = folder_ready(dest, what->makedirs || cached, err);
            if (rc > 0)
                rc = webget(ctx, what, dest, err);
            else if (rc == 0)
                return 0;
            if (rc < 0)
                return rc;
        }
        *ret_path = STEAL(dest);
        return 0;
    }
    if (*u.scheme != '\0' && !str_eq(u.scheme, "file"))
        return fail_set(err, -ENOTSUP,
                        "'%s://' is not a source of files here: use salt, http, https, ftp or file",
                        u.scheme);
    *ret_path = fetch_here(what->url, &u, err);
    return *ret_path != NULL ? 0 : -EINVAL;
}

/* Web files pass through a temporary file, which is removed. */
int
fetch_bytes(call_ctx_t *ctx, const fetch_t *what, buf_t *out, bool *ret_found, fail_t *err)
{
    url_auto_t u = { NULL, NULL, NULL, NULL };
    AUTO_FREE char *path = NULL;
    AUTO_FREE char *temp = xasprintf("%s/halite-fetch.XXXXXX", fs_temp_dir());

    url_parse(&u, what->url);
    bool web = is_web(u.scheme);
    AUTO_FD fd = web ? mkostemp(temp, O_CLOEXEC) : -1;
    fetch_t one = *what;
    if (web)
        one.dest = temp;
    int rc = web && fd < 0 ? fail_set(err, -errno, "%s: %s", temp, strerror(errno))
                           : fetch_url(ctx, &one, &path, err);
    if (rc == 0 && path != NULL)
        rc = fs_read(path, LIMIT_FILE_READ, out, err);
    if (web && fd >= 0)
        unlink(temp);
    *ret_found = path != NULL;
    return rc;
}
