/* source.h - where a file's content comes from: salt://, file:// and other URLs, paths, lists of them,
 * digests, templates.
 *
 * Arguments come as an object with the names that the functions of `file` have: source, source_hash,
 * source_hash_name, source_hash_sig, template, context, defaults, saltenv, skip_verify, verify_ssl, use_etag, name,
 * user, group, mode, attrs, kwargs (further variables of the template).
 *
 * Layer      plugins/lib/file
 * Threads    a job's child
 * Ownership  results are NEW
 * Errors     as Salt's functions raise them
 * Tests      tests/unit/plugins/test_source.c, tests/cases/exec/file.get_managed.json,
 *            tests/cases/state/file.managed.json
 */
#ifndef PLUGINS_LIB_FILE_SOURCE_H
#define PLUGINS_LIB_FILE_SOURCE_H

#include "common/base/buf.h"
#include "salt/plugin.h"

/* Scheme of an URL, "" for a path, by urlparse's rules. NEW. */
char *source_scheme(const char *url);
/* True for schemes that are fetched over the network but not from the file server. */
bool source_is_remote(const char *scheme);
/* The local path of an URL or path; NULL without *err: there is no such file. `hsum` may be NULL: a cached
 * copy with that digest need not be fetched again. */
char *source_cache(call_ctx_t *ctx, const char *url, const char *saltenv, const char *hsum, json_t *args,
                   fail_t *err);
/* cp.stat_file: "0644"; NULL when it can't be told. */
char *source_mode(call_ctx_t *ctx, const char *url, const char *saltenv, fail_t *err);
/* The first source of a list that exists, and its digest; one that can't be looked at is an error, and
 * only one of a web server is passed over then. A single source is taken as it is. *ret_hash is None or a
 * text; *ret_source NULL for none. */
int source_pick(call_ctx_t *ctx, json_t *source, json_t *source_hash, const char *saltenv, char **ret_source,
                json_t **ret_hash, fail_t *err);
/* Whether the keys of `args` have signed a file, by gpg.verify with signed_by_any, signed_by_all, keyring and gnupghome.
 * `signature` is True where the file is a text with its signature within, else the URL or path of a signature that stands
 * apart. Copies in the cache that don't pass are removed, so that the next run fetches them anew. 0, or negative with
 * Salt's sentence. With `out` it is appended what was signed, and nothing else of the file. */
int source_signed(call_ctx_t *ctx, const char *file, const json_t *signature, json_t *args, buf_t *out,
                  fail_t *err);
/* Keys of `args` that source_signed reads, to be handed on. */
extern const char *const source_signers[];
enum { SOURCE_SIGNERS = 4 };
/* Rows of arguments of functions that hand them on. */
#define SOURCE_SIGNER_ROWS                                                                                   \
    ARG("source_hash_sig", ARG_ANY, "null",                                                                  \
        "Signature of the file of sums: True where it is within, else its URL"),                             \
        ARG("signed_by_any", ARG_ANY, "null", "Fingerprints of keys of which one must have signed"),         \
        ARG("signed_by_all", ARG_ANY, "null", "Fingerprints of keys that must all have signed"),             \
        ARG("keyring", ARG_ANY, "null", "File of the keys"),                                                 \
        ARG("gnupghome", ARG_ANY, "null", "Folder of the keys")
#define SOURCE_SIGNATURE_ROW                                                                                 \
    ARG("signature", ARG_ANY, "null", "Signature of the source: True where it is within, else its URL")
/* file.get_source_sum. */
int source_sum(call_ctx_t *ctx, json_t *args, json_t **ret_sum, fail_t *err);

/* Results of file.get_managed. */
typedef struct managed {
    char *sfn;     /* local file; NULL: not fetched yet */
    bool temp;     /* sfn is a temporary file of ours */
    json_t *sum;   /* {"hash_type", "hsum"}, or {} */
    char *comment; /* what is wrong, or NULL */
} managed_t;
#define MANAGED_INIT   ROW(NULL, false, NULL, NULL)
#define managed_auto_t __attribute__((cleanup(managed_free))) managed_t

/* Removes the temporary file. */
void managed_free(managed_t *m);
/* args["source"] is one source or None. */
int managed_get(call_ctx_t *ctx, json_t *args, managed_t *out, fail_t *err);

/* True when the template engine exists. */
bool template_known(const char *name);
/* Render a text, or the file at `path` when `text` is NULL. Appends. */
int template_render(call_ctx_t *ctx, json_t *args, const char *path, const char *text, size_t len, buf_t *out,
                    fail_t *err);

func_fn file_source_list, file_get_managed, file_apply_template_on_contents;

#endif
