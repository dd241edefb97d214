/* fetch.h - files by URL, as Salt's file client gets them: salt:// from the file server, http, https and ftp
 * by libcurl, file:// and bare paths from here.
 *
 * Layer      plugins/lib/transfer
 * Threads    one
 * Ownership  results are NEW
 * Errors     a file of the file server that is not there is no error: 0 with NULL. Else Salt's text in *err
 * Tests      tests/cases/exec/cp.*.json
 */
#ifndef PLUGINS_LIB_TRANSFER_FETCH_H
#define PLUGINS_LIB_TRANSFER_FETCH_H

#include "common/base/buf.h"
#include "common/files/fileclient.h"
#include "salt/plugin.h"

/* Python's urlparse, as far as it is needed. Texts are owned. */
typedef struct url {
    char *scheme; /* lower case; "" for a bare path */
    char *netloc, *path, *query;
} url_t;
void url_parse(url_t *self, const char *text);
void url_free(url_t *self);
#define url_auto_t __attribute__((cleanup(url_free))) url_t

typedef struct fetch {
    const char *url;
    const char *saltenv; /* of salt:// URLs without one of their own, and of the place in the cache */
    const char *dest;    /* a path or a folder; NULL or "": the minion's cache */
    bool makedirs;
    const char *source_hash; /* "sha256=..." or digits: a cached file of a remote URL that has it is kept */
    bool insecure;           /* no check of certificates */
    bool use_etag;
} fetch_t;

/* The environment that is meant: `given`, else the option `saltenv`, else "base". BORROWED. */
const char *fetch_env(call_ctx_t *ctx, const char *given);
/* The same for the argument `saltenv`. */
const char *fetch_env_arg(call_ctx_t *ctx, const json_t *args);
/* Result of a fetch in Salt's words: the path, or `missing`, which is consumed. NEW. */
json_t *fetch_path_or(const char *path, json_t *missing);
/* The file server, or NULL with *err. */
fileclient_t *fetch_files(call_ctx_t *ctx, fail_t *err);
/* get_url: *ret_path is where the file lies now; NULL: not found, or no folder for it and !makedirs. */
int fetch_url(call_ctx_t *ctx, const fetch_t *what, char **ret_path, fail_t *err);
/* The same into memory, at most LIMIT_FILE_READ; *ret_found false: not found. */
int fetch_bytes(call_ctx_t *ctx, const fetch_t *what, buf_t *out, bool *ret_found, fail_t *err);
/* Only salt://: what url is below the roots, to `dest` or the cache. */
int fetch_salt(call_ctx_t *ctx, const fetch_t *what, char **ret_path, fail_t *err);
/* Cache path of a URL that is not salt://; "Invalid path" for one that would leave the cache. */
char *fetch_extern_place(call_ctx_t *ctx, const char *url, const char *saltenv);
/* Copy a file of this machine; the folders above `dest` are made. */
int fetch_copy(const char *path, const char *dest, fail_t *err);
/* Put a text at `dest`: 1; 0 when its folder is missing and !makedirs; or a negative errno. */
int fetch_write(const buf_t *text, const char *dest, bool makedirs, fail_t *err);
/* cachedir/PART/REST */
char *fetch_cache_place(call_ctx_t *ctx, const char *part, const char *rest);

/* webget.c: into a file of its own, then to `dest`, whose folder exists. -EREMOTEIO with Salt's text. */
int webget(call_ctx_t *ctx, const fetch_t *what, const char *dest, fail_t *err);

#endif
