/* source.c - URLs and paths of sources: which of several exists, its local copy in the cache, its mode.
 * salt:// goes through the file client, remote schemes through cp.cache_file and http.query, everything else
 * is local. */
#include "plugins/lib/file/source.h"

#include <ctype.h>
#include <sys/stat.h>

#include "common/base/str.h"
#include "common/files/fileclient.h"
#include "plugins/lib/file/fileops.h"
#include "plugins/lib/transfer/fetch.h"

/* Scheme of a URL in lower case (RFC 3986), "" for a path. NEW. */
char *
source_scheme(const char *url)
{
    const char *colon = strchr(url, ':');
    size_t n = colon != NULL ? (size_t) (colon - url) : 0;

    for (size_t i = 0; i < n; i++) {
        if (!isalnum((unsigned char) url[i]) && strchr("+-.", url[i]) == NULL)
            n = 0;
    }
    if (n == 0 || !isalpha((unsigned char) url[0]))
        return xstrdup("");
    char *scheme = xstrndup(url, n);
    for (char *p = scheme; *p != '\0'; p++)
        *p = (char) tolower((unsigned char) *p);
    return scheme;
}

bool
source_is_remote(const char *scheme)
{
    static const char *const remote[] = { "http", "https", "ftp", "swift", "s3" };

    for (size_t i = 0; i < NELEMS(remote); i++) {
        if (str_eq(scheme, remote[i]))
            return true;
    }
    return false;
}

/* NEW path of a file:// URL. */
static char *
file_url_path(const char *url)
{
    const char *path = str_starts(url, "file://") ? url + strlen("file://") : url + strlen("file:");

    return xstrdup(path);
}

/* Local copy of a source. NULL without *err when it does not exist. */
char *
source_cache(call_ctx_t *ctx, const char *url, const char *saltenv, const char *hsum, json_t *args,
             fail_t *err)
{
    AUTO_FREE char *scheme = source_scheme(url);
    char *local = NULL;

    if (str_eq(scheme, "salt")) {
        if (ctx_files(ctx) == NULL)
            return NULL;
        const fetch_t what = { .url = url, .saltenv = saltenv };
        return fetch_salt(ctx, &what, &local, err) == 0 ? local : NULL;
    }
    if (source_is_remote(scheme)) {
        /* Calls cp.cache_file, so that overridden modules and the job's settings apply. */
        json_auto_t *list = json_pack("[s, s]", url, saltenv);
        json_auto_t *kwargs = json_pack("{s:s?, s:b, s:b}", "source_hash", hsum, "verify_ssl",
                                        value_bool(args, "verify_ssl", true), "use_etag",
                                        value_bool(args, "use_etag", false));
        json_auto_t *cached = NULL;
        if (ctx_call(ctx, "cp.cache_file", list, kwargs, &cached, err) != 0 ||
            str_empty(json_string_value(cached)))
            return NULL;
        return xstrdup(json_string_value(cached));
    }
    local = str_eq(scheme, "file") ? file_url_path(url) : fop_expanduser(url);
    if (fop_exists_as(local, S_IFREG, err) > 0)
        return local;
    free(local);
    return NULL;
}

/* Mode as "0644". NEW; NULL when the source is missing or its mode unknown. */
char *
source_mode(call_ctx_t *ctx, const char *url, const char *saltenv, fail_t *err)
{
    AUTO_FREE char *scheme = source_scheme(url);
    struct stat st;

    if (str_eq(scheme, "salt")) {
        fail_auto_t why = FAIL_INIT;
        json_auto_t *hash = NULL;
        int rc = ctx_files(ctx) == NULL ? -ENOENT
                                        : fileclient_hash(ctx_files(ctx), url, saltenv, &hash, &why);
        if (rc != 0 && rc != -ENOENT)
            fail_set(err, rc, "%s", fail_text(&why));
        if (rc != 0)
            return NULL;
        json_t *mode = value_get(hash, "mode");
        return json_is_integer(mode) ? xasprintf("%04o", (unsigned) json_integer_value(mode) & 07777)
                                     : fop_normalize_mode(mode);
    }
    AUTO_FREE char *path = str_eq(scheme, "file") ? file_url_path(url) : xstrdup(url);
    return fop_stat(path, &st, err) > 0 ? xasprintf("%04o", st.st_mode & 07777) : NULL;
}

/* ---- lists of sources ------------------------------------------------------------------------ */

/* Result of a failed lookup on the file server: 0 when the file is absent as far as is known without a
 * master; else the error, since absence is not proven. */
static int
not_served(int rc, const fail_t *why, fail_t *err)
{
    return rc == -ENOENT || rc == -EHOSTUNREACH ? 0 : fail_set(err, rc, "%s", fail_text(why));
}

/* True when `path` is a folder on the file server: fileclient_hash() only knows files. */
static int
served_folder(call_ctx_t *ctx, const char *path, const char *env, fail_t *err)
{
    fail_auto_t why = FAIL_INIT;
    json_auto_t *dirs = fileclient_list(ctx_files(ctx), FILES_DIRS, env, path, &why);
    size_t i;
    json_t *dir;

    if (dirs == NULL)
        return not_served(why.code, &why, err);
    json_array_foreach (dirs, i, dir) {
        if (str_eq(json_string_value(dir), path))
            return 1;
    }
    return 0;
}

/* True when a web server answers for the URL; a source that does not answer is skipped. */
static bool
reachable(call_ctx_t *ctx, const char *url)
{
    fail_auto_t why = FAIL_INIT;
    json_auto_t *list = json_pack("[s]", url);
    json_auto_t *kwargs = json_pack("{s:s, s:b}", "method", "HEAD", "decode_body", 0);
    json_auto_t *answer = NULL;

    if (!ctx_has(ctx, "http.query")) {
        AUTO_FREE char *copy = source_cache(ctx, url, "base", NULL, NULL, &why);
        return copy != NULL;
    }
    return ctx_call(ctx, "http.query", list, kwargs, &answer, &why) == 0 &&
           value_get(answer, "error") == NULL;
}

/* 1, 0 or negative. */
static int
source_exists(call_ctx_t *ctx, const char *url, const char *saltenv, fail_t *err)
{
    AUTO_FREE char *scheme = source_scheme(url);

    if (str_eq(scheme, "salt")) {
        /* The file server has a file or folder of that URL: 1, 0 or negative. */
        fail_auto_t why = FAIL_INIT;
        AUTO_FREE char *path = NULL, *env = NULL;
        json_auto_t *hash = NULL;
        if (ctx_files(ctx) == NULL || fileclient_split(url, saltenv, &path, &env, NULL) != 0)
            return 0;
        int rc = fileclient_hash(ctx_files(ctx), url, saltenv, &hash, &why);
        if (rc == 0)
            return 1;
        rc = not_served(rc, &why, err);
        return rc < 0 ? rc : served_folder(ctx, path, env, err);
    }
    if (str_eq(scheme, "file")) {
        AUTO_FREE char *path = file_url_path(url);
        return fop_exists(path, err);
    }
    if (source_is_remote(scheme))
        return reachable(ctx, url);
    return *url == '/' ? fop_exists(url, err) : 0;
}

/* Takes the first source of a list that exists, with its own digest when the element carries one. *ret_source
 * and *ret_hash NEW. A single source is taken unchecked. */
int
source_pick(call_ctx_t *ctx, json_t *source, json_t *source_hash, const char *saltenv, char **ret_source,
            json_t **ret_hash, fail_t *err)
{
    size_t i;
    json_t *element;

    if (!json_is_array(source)) {
        *ret_source = value_truthy(source) ? value_pystr(source) : NULL;
        *ret_hash = source_hash != NULL ? json_incref(source_hash) : json_null();
        return 0;
    }
    json_array_foreach (source, i, element) {
        /* A URL, or {URL: digest}, whose digest goes before the call's. */
        void *first = json_object_size(element) == 1 ? json_object_iter(element) : NULL;
        json_t *own = first != NULL ? json_object_iter_value(first) : NULL;
        json_t *hash = value_truthy(own) ? own : source_hash;
        const char *url = first != NULL ? json_object_iter_key(first) : json_string_value(element);
        int rc = url != NULL ? source_exists(ctx, url, saltenv, err) : 0;
        if (rc < 0)
            return rc;
        if (rc == 0)
            continue;
        *ret_source = xstrdup(url);
        *ret_hash = hash != NULL ? json_incref(hash) : json_null();
        return 0;
    }
    return fop_failed(err, "none of the specified sources were found");
}

int
file_source_list(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *source = NULL;
    json_auto_t *hash = NULL;
    int rc = source_pick(ctx, value_get(args, "source"), value_get(args, "source_hash"),
                         value_str(args, "saltenv", "base"), &source, &hash, err);

    if (rc == 0)
        *ret_value = json_pack("[s?, O]", source, hash);
    return rc;
}
