/* extracted_source.c - see extracted.h: the archive in the cache, and its digests. */
#include "plugins/lib/archive/extracted.h"

#include "common/base/digest.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/file/fileops.h"
#include "plugins/lib/file/fstate.h"
#include "plugins/lib/file/source.h"
#include "plugins/lib/transfer/fetch.h"

static const char *
extracted_hash_type(const extracted_t *x)
{
    return value_str(ctx_opts(x->ctx), "hash_type", "sha256");
}

/* Where Salt keeps the digest of an archive, below cachedir/archive_hash. NEW. */
static char *
sum_place(const extracted_t *x, const char *path)
{
    const char *cache = value_str(ctx_opts(x->ctx), "cachedir", "");
    size_t n = strlen(cache);

    if (n > 0 && str_starts(path, cache) && path[n] == '/') {
        AUTO_FREE char *rest = xasprintf("%s.hash", path + n + 1);
        return fetch_cache_place(x->ctx, "archive_hash", rest);
    }
    AUTO_FREE char *rest = xasprintf("local/%s", path + strspn(path, "/"));
    return fetch_cache_place(x->ctx, "archive_hash", rest);
}

json_t *
extracted_kept_sum(const extracted_t *x, const char *path, const char *type)
{
    AUTO_FREE char *place = sum_place(x, path);
    buf_auto_t text = BUF_INIT;
    json_t *sum = NULL;

    if (fs_read_any(place, LIMIT_FILE_READ, &text, NULL) <= 0)
        return NULL;
    char **lines = str_split(buf_str(&text), "\n", true);
    for (size_t i = 0; sum == NULL && lines[i] != NULL; i++) {
        size_t n = strcspn(lines[i], ":");
        if (strlen(type) == n && strncmp(lines[i], type, n) == 0 && lines[i][n] == ':')
            sum = json_pack("{s:s, s:s}", "hash_type", type, "hsum", lines[i] + n + 1);
    }
    strv_free(lines);
    return sum;
}

/* The arguments about signatures, as those of another function. */
static void
add_signers(const extracted_t *x, json_t *args)
{
    for (size_t i = 0; i < SOURCE_SIGNERS; i++)
        json_object_set(args, source_signers[i], value_get(x->args, source_signers[i]));
    json_object_set(args, "source_hash_sig", value_get(x->args, "source_hash_sig"));
}

static int
read_sum(extracted_t *x)
{
    json_auto_t *args = json_pack("{s:s, s:O, s:O, s:s}", "source", x->source, "source_hash",
                                  value_get(x->args, "source_hash"), "source_hash_name",
                                  value_get(x->args, "source_hash_name"), "saltenv", ctx_saltenv(x->ctx));
    fail_auto_t why = FAIL_INIT;

    add_signers(x, args);
    if (extracted_asked(x, "source_hash") && source_sum(x->ctx, args, &x->sum, &why) < 0)
        return extracted_fail(x, "%s", fail_text(&why));
    return 0;
}

/* The copy in the cache, where there is one. NEW. */
static char *
cached_path(extracted_t *x)
{
    json_auto_t *list = json_pack("[s, s]", x->source, ctx_saltenv(x->ctx)), *path = NULL;
    fail_auto_t why = FAIL_INIT;

    if (x->local)
        return xstrdup(x->source);
    if (ctx_call(x->ctx, "cp.is_cached", list, NULL, &path, &why) < 0 || str_empty(json_string_value(path)))
        return NULL;
    return xstrdup(json_string_value(path));
}

/* With skip_files_list_verify the kept digest alone decides. */
static int
skip_by_sum(extracted_t *x)
{
    if (!extracted_asked(x, "skip_files_list_verify"))
        return 0;
    AUTO_FREE char *cached = cached_path(x);
    AUTO_FREE char *expected = cached == NULL ? fetch_extern_place(x->ctx, x->source, ctx_saltenv(x->ctx))
                                              : NULL;
    const char *path = cached != NULL ? cached : expected;
    json_auto_t *kept = path != NULL ? extracted_kept_sum(x, path, extracted_hash_type(x)) : NULL;

    if (x->unfinished || x->sum == NULL || kept == NULL ||
        !str_eq(value_str(kept, "hsum", NULL), value_str(x->sum, "hsum", "")))
        return 0;
    state_ret_set(x->ret, ctx_test(x->ctx) ? STATE_NONE : STATE_TRUE,
                  "Archive %s existing source sum is the same as the expected one and skip_files_list_verify "
                  "argument was set to True. Extraction is not needed",
                  x->shown);
    return 1;
}

static int
cache_source(extracted_t *x)
{
    json_auto_t *kwargs = NULL, *ret = NULL;
    fail_auto_t why = FAIL_INIT;

    if (x->local) {
        x->cached = xstrdup(x->source);
        return 0;
    }
    if (ctx_test(x->ctx)) {
        state_ret_set(
            x->ret, STATE_NONE,
            "Archive %s would be cached (if necessary) and checked to discover if extraction is needed",
            x->shown);
        return 1;
    }
    kwargs = json_pack("{s:s, s:O, s:O, s:b, s:s, s:b}", "name", x->source, "source_hash",
                       value_get(x->args, "source_hash"), "source_hash_name",
                       value_get(x->args, "source_hash_name"), "skip_verify",
                       extracted_asked(x, "skip_verify"), "saltenv", ctx_saltenv(x->ctx), "use_etag",
                       extracted_asked(x, "use_etag"));
    add_signers(x, kwargs);
    if (ctx_state(x->ctx, "file.cached", kwargs, &ret, &why) < 0)
        return extracted_fail(x, "Failed to cache %s: %s", x->shown, fail_text(&why));
    if (!value_truthy(value_get(ret, "result"))) {
        json_object_update(x->ret, ret);
        return 1;
    }
    x->cached = cached_path(x);
    return x->cached != NULL ? 0 : extracted_fail(x, "Failed to cache %s: it is not in the cache", x->shown);
}

/* Before anything looks into the archive. */
static int
extracted_check_signature(extracted_t *x)
{
    fail_auto_t why = FAIL_INIT;

    if (!extracted_asked(x, "signature"))
        return 0;
    json_auto_t *args = json_pack("{s:s, s:O*}", "saltenv", ctx_saltenv(x->ctx), "verify_ssl",
                                  value_get(x->args, "verify_ssl"));
    add_signers(x, args);
    if (source_signed(x->ctx, x->cached, extracted_arg(x, "signature"), args, NULL, &why) == 0)
        return 0;
    return extracted_fail(x, "Failed verifying the source file's signature: %s", fail_text(&why));
}

static int
note_sums(extracted_t *x)
{
    int rc;

    x->old_sum = extracted_kept_sum(x, x->cached, extracted_hash_type(x));
    if (ctx_test(x->ctx) || !extracted_asked(x, "source_hash") || !extracted_asked(x, "source_hash_update") ||
        extracted_asked(x, "skip_verify"))
        return 0;
    AUTO_FREE char *place = sum_place(x, x->cached), *above = fop_dirname(place), *hex = NULL;
    if (digest_file(x->cached, extracted_hash_type(x), &hex, x->err) < 0)
        return x->err->code;
    AUTO_FREE char *line = xasprintf("%s:%s\n", extracted_hash_type(x), hex);
    rc = fs_mkdirs(above, 0755, x->err);
    return rc < 0 ? rc : fs_write_atomic(place, line, strlen(line), 0644, x->err);
}

int
extracted_fetch(extracted_t *x)
{
    static int (*const steps[])(extracted_t *) = { read_sum, skip_by_sum, cache_source,
                                                   extracted_check_signature, note_sums };
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < NELEMS(steps); i++)
        rc = steps[i](x);
    return rc;
}
