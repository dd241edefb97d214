/* managed.c - file.get_managed: the source of a managed file fetched, verified and rendered. The result is
 * managed_t: a local file (temporary when rendered), its digest, and a comment that tells what failed. */
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/binary.h"
#include "common/base/digest.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/files/fileclient.h"
#include "common/py/py_json.h"
#include "common/py/py_peer.h"
#include "common/py/py_traverse.h"
#include "common/render/render.h"
#include "salt/state.h"
#include "plugins/lib/file/content.h"
#include "plugins/lib/file/fileops.h"
#include "plugins/lib/file/source.h"

void
managed_free(managed_t *m)
{
    if (m->temp)
        unlink(m->sfn);
    free(m->sfn);
    json_decref(m->sum);
    free(m->comment);
    *m = (managed_t) MANAGED_INIT;
}

/* ---- templates ------------------------------------------------------------------------------- */

bool
template_known(const char *name)
{
    return render_is_template(name);
}

/* Numbers as keys, bytes and the like reach the template as they are, where nothing has replaced what JSON
 * made of them. */
static void
restore_natives(call_ctx_t *ctx, const char *arg, json_t *vars, py_t *context)
{
    AUTO(py) native = ctx_native_arg(ctx, arg);
    py_t *key, *value;

    if (native == NULL || !py_is(native, PY_DICT))
        return;
    for (size_t i = 0; py_dict_next(native, &i, &key, &value);) {
        json_auto_t *said = py_to_json(value);
        if (py_is(key, PY_STR) && said != NULL && json_equal(said, value_get(vars, py_cstr(key))))
            (void) py_dict_set(context, key, value);
        py_clear();
    }
}

/* True when another minion provided part of the contents of the running state. */
static bool
contents_are_said(call_ctx_t *ctx, const json_t *args)
{
    json_t *keys = value_get(args, "contents_pillar"), *one;
    json_auto_t *list = json_is_array(keys) ? json_incref(keys) : json_pack("[O*]", keys);
    const char *delimiter = value_str(args, "contents_delimiter", ":");
    AUTO(py) given = ctx_native_arg(ctx, "contents");
    bool said = given != NULL && py_holds_peer(given);
    size_t i;

    json_array_foreach (list, i, one) {
        AUTO_FREE char *path = value_pystr(one);
        AUTO(py) key = py_strz(path);
        AUTO(py) found = py_traverse(ctx_native_pillar(ctx), key, delimiter);
        said = said || (found != NULL && py_holds_peer(found));
        py_clear();
    }
    return said;
}

/* Renders a file, or `text` when given. Contents that came from another minion are marked, so that the engine
 * treats them as data and evaluates nothing in them. */
int
template_render(call_ctx_t *ctx, json_t *args, const char *path, const char *text, size_t len, buf_t *out,
                fail_t *err)
{
    buf_auto_t read = BUF_INIT;

    /* The variables of a template: what the caller was called with (a source's only), defaults over that,
     * context over those. */
    bool of_source = text == NULL;
    static const char *const shown[] = { "name", "source", "user", "group", "mode", "attrs" };
    json_t *kwargs = value_get(args, "kwargs");
    json_auto_t *vars = of_source && json_is_object(kwargs) ? json_copy(kwargs) : json_object();
    for (size_t i = 0; of_source && i < NELEMS(shown); i++) {
        if (value_get(args, shown[i]) != NULL)
            json_object_set(vars, shown[i], value_get(args, shown[i]));
    }
    if (json_is_object(value_get(args, "defaults")))
        json_object_update(vars, value_get(args, "defaults"));
    if (json_is_object(value_get(args, "context")))
        json_object_update(vars, value_get(args, "context"));

    AUTO_FREE char *below = NULL, *env = NULL;
    const char *source = value_str(args, "source", "");

    if (text == NULL && fop_read(path, &read, err) != 0)
        return -EIO;
    if (text == NULL && binary_no_template(buf_str(&read), read.len)) {
        buf_add(out, buf_str(&read), read.len);
        return 0;
    }
    if (str_starts(source, "salt://"))
        (void) fileclient_split(source, value_str(args, "saltenv", "base"), &below, &env, NULL);
    AUTO(py) context = py_from_json(vars);
    restore_natives(ctx, "defaults", vars, context);
    restore_natives(ctx, "context", vars, context);
    if (json_object_size(ctx_chunk(ctx)) > 0)
        py_order_dicts(context); /* an SLS has it, so that a dump as YAML keeps the order */
    render_t *render = render_new(ctx, ctx_files(ctx));
    spans_auto_t said = SPANS_INIT;
    if (text != NULL && len > 0 && contents_are_said(ctx, args))
        spans_add(&said, 0, len, 0);
    else if (text != NULL)
        call_text_spans(ctx, text, len, &said);
    const render_source_t what = { .text = text != NULL ? text : buf_str(&read),
                                   .len = text != NULL ? len : read.len,
                                   .path = path,
                                   .pipeline = value_str(args, "template", "jinja"),
                                   .fixed = true,
                                   .peer = &said,
                                   .tmplpath = below,
                                   .saltenv = value_str(args, "saltenv", "base"),
                                   .context = context };
    int rc = render_text(render, &what, out, err);
    render_destroy(&render);
    return rc;
}

/* m->sfn becomes the rendered text of itself. */
static int
render_source(call_ctx_t *ctx, json_t *args, managed_t *m, fail_t *err)
{
    const char *engine = value_str(args, "template", "");
    buf_auto_t text = BUF_INIT;
    char *hex = NULL;

    json_decref(m->sum);
    m->sum = json_object();
    if (!template_known(engine)) {
        m->comment = xasprintf("Specified template format %s is not supported", engine);
        return 0;
    }
    int rc = template_render(ctx, args, m->sfn, NULL, 0, &text, err);
    if (rc != 0)
        return rc;
    char *temp = content_temp(NULL, NULL, buf_str(&text), text.len, err);
    if (temp == NULL)
        return -EIO;
    free(m->sfn);
    m->sfn = temp;
    m->temp = true;
    if (digest_file(temp, "sha256", &hex, err) != 0)
        return -EIO;
    json_decref(m->sum);
    m->sum = json_pack("{s:s, s:s}", "hash_type", "sha256", "hsum", hex);
    free(hex);
    return 0;
}

int
file_apply_template_on_contents(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *engine = value_str(args, "template", "");
    json_t *contents = value_get(args, "contents");
    buf_auto_t text = BUF_INIT;

    if (!template_known(engine)) {
        *ret_value = json_pack("{s:b, s:o}", "result", 0, "comment",
                               value_fmt("Specified template format %s is not supported", engine));
        return 0;
    }
    int rc = template_render(ctx, args, NULL, json_is_string(contents) ? json_string_value(contents) : "",
                             json_string_length(contents), &text, err);
    if (rc == 0)
        *ret_value = value_utf8(buf_str(&text), text.len);
    return rc;
}

/* ---- verification ---------------------------------------------------------------------------- */

/* Determines the digest that the source must have (m->sum), or explains in m->comment why it can't: the file
 * server's, the local file's, or the one that source_hash names. Remote sources without one are refused
 * unless skip_verify or use_etag is given. A file of digests that can't be fetched is an error, as in Salt. */
static int
managed_verify(call_ctx_t *ctx, json_t *args, const char *source, const char *scheme, managed_t *m,
               fail_t *err)
{
    const char *saltenv = value_str(args, "saltenv", "base");
    bool hashed = value_truthy(value_get(args, "source_hash"));
    bool local = str_eq(scheme, "") || str_eq(scheme, "file");

    if (local) {
        m->sfn = xstrdup(str_eq(scheme, "file") ? source + strlen("file://") : source);
        fail_auto_t why = FAIL_INIT;
        int there = fop_exists(m->sfn, &why);
        if (there <= 0) {
            m->comment = there < 0 ? xstrdup(fail_text(&why))
                                   : xasprintf("Local file source %s does not exist", m->sfn);
            free(STEAL(m->sfn));
            return 0;
        }
        int dir = fop_exists_as(m->sfn, S_IFDIR, &why);
        if (dir < 0) {
            m->comment = xstrdup(fail_text(&why));
            free(STEAL(m->sfn));
            return 0;
        }
        if (dir == 0 && !fop_is_source(m->sfn)) {
            m->comment = xasprintf(
                "Local file source %s is a pipe or a device, and no file that can be copied", m->sfn);
            free(STEAL(m->sfn));
            return 0;
        }
    }
    if (str_eq(scheme, "salt")) {
        /* Sums a file of the file server. */
        fail_auto_t why = FAIL_INIT;
        json_auto_t *hash = NULL;
        int rc = ctx_files(ctx) == NULL ? -ENOENT
                                        : fileclient_hash(ctx_files(ctx), source, saltenv, &hash, &why);
        if (rc == 0) {
            json_decref(m->sum);
            m->sum = json_pack("{s:s, s:s}", "hash_type", value_str(hash, "hash_type", "sha256"), "hsum",
                               value_str(hash, "hsum", ""));
        } else if (rc == -ENOENT) {
            m->comment = xasprintf("Source file %s not found in saltenv '%s'", source, saltenv);
        } else {
            return fail_set(err, rc, "%s", fail_text(&why));
        }
        return 0;
    }
    if (!hashed && local) {
        /* Sums a local file. */
        AUTO_FREE char *hex = NULL;
        int rc = digest_file(m->sfn, "sha256", &hex, err);
        if (rc == 0) {
            json_decref(m->sum);
            m->sum = json_pack("{s:s, s:s}", "hsum", hex, "hash_type", "sha256");
        }
        return rc;
    }
    if (value_truthy(value_get(args, "skip_verify")))
        return 0;
    if (hashed) {
        fail_auto_t why = FAIL_INIT;
        json_auto_t *call = json_copy(args);
        json_t *sum = NULL;
        json_object_set(call, "file_name", value_get(args, "name"));
        int rc = source_sum(ctx, call, &sum, &why);
        if (rc != 0 && why.kind != FAIL_COMMAND)
            return fail_kind(err, why.kind, rc, "%s", fail_text(&why));
        if (rc == 0) {
            json_decref(m->sum);
            m->sum = sum;
        }
        m->comment = rc != 0 ? xstrdup(fail_text(&why)) : NULL;
    } else if (!value_truthy(value_get(args, "use_etag"))) {
        AUTO_FREE char *shown = str_redacted(source);
        m->comment = xasprintf("Unable to verify upstream hash of source file %s, please set source_hash or "
                               "set skip_verify to True",
                               shown);
    }
    return 0;
}

/* A copy that was fetched before and needs no second look. NEW, or NULL. */
static char *
cached_before(call_ctx_t *ctx, json_t *args, const char *source, managed_t *m)
{
    const char *type = value_str(m->sum, "hash_type", "sha256");
    bool skip = value_truthy(value_get(args, "skip_verify"));
    json_auto_t *list = json_pack("[s, s]", source, value_str(args, "saltenv", "base"));
    json_auto_t *path = NULL;
    fail_auto_t why = FAIL_INIT;
    AUTO_FREE char *hex = NULL;

    if ((!value_truthy(value_get(args, "source_hash")) && !skip) || !ctx_has(ctx, "cp.is_cached") ||
        ctx_call(ctx, "cp.is_cached", list, NULL, &path, &why) != 0 || str_empty(json_string_value(path)) ||
        digest_file(json_string_value(path), type, &hex, &why) != 0)
        return NULL;
    if (skip) {
        json_decref(m->sum);
        m->sum = json_pack("{s:s, s:s}", "hsum", hex, "hash_type", type);
    } else if (!str_eq(hex, value_str(m->sum, "hsum", NULL))) {
        return NULL;
    }
    return xstrdup(json_string_value(path));
}

/* True when the file that is managed has the source's digest already. */
static bool
has_digest(const json_t *args, const managed_t *m)
{
    const char *want = value_str(m->sum, "hsum", NULL);
    AUTO_FREE char *hex = NULL;
    fail_auto_t why = FAIL_INIT;

    return want != NULL && value_truthy(value_get(args, "source_hash")) &&
           digest_file(value_str(args, "name", ""), value_str(m->sum, "hash_type", "sha256"), &hex, &why) ==
               0 &&
           strcasecmp(hex, want) == 0;
}

/* A local copy now, because it is rendered or because the network may not be asked twice. */
static int
managed_fetch(call_ctx_t *ctx, json_t *args, const char *source, const char *scheme, managed_t *m,
              fail_t *err)
{
    AUTO_FREE char *shown = str_redacted(source);
    fail_auto_t why = FAIL_INIT;

    if (source_is_remote(scheme) && m->sfn == NULL)
        m->sfn = cached_before(ctx, args, source, m);
    if (m->sfn == NULL)
        m->sfn = source_cache(ctx, source, value_str(args, "saltenv", "base"),
                              value_str(m->sum, "hsum", NULL), args, &why);
    int there = why.code != 0 || m->sfn == NULL ? 0 : fop_exists(m->sfn, &why);
    if (why.code != 0) {
        m->comment = xasprintf("Failed to cache %s: %s", shown, fail_text(&why));
    } else if (there == 0) {
        json_object_clear(m->sum);
        m->comment = xasprintf("Source file '%s' not found", shown);
    } else if (str_eq(m->sfn, value_str(args, "name", NULL))) {
        return fop_invalid(err, "Source file cannot be the same as destination");
    }
    return 0;
}

/* Verify, fetch, render; a comment set by one step ends the sequence. Local and salt:// sources are fetched
 * here only when they are rendered. */
int
managed_get(call_ctx_t *ctx, json_t *args, managed_t *out, fail_t *err)
{
    const char *source = value_str(args, "source", NULL);
    bool template = value_truthy(value_get(args, "template"));

    out->sum = json_object();
    if (str_empty(source))
        return 0;
    AUTO_FREE char *given = source_scheme(source);
    bool known = source_is_remote(given) || str_eq(given, "salt") || str_eq(given, "file");
    const char *scheme = known ? given : "";
    int rc = managed_verify(ctx, args, source, scheme, out, err);
    if (rc == 0 && out->comment == NULL && (template || (source_is_remote(scheme) && !has_digest(args, out))))
        rc = managed_fetch(ctx, args, source, scheme, out, err);
    if (rc == 0 && out->comment == NULL && template)
        rc = render_source(ctx, args, out, err);
    return rc;
}

int
file_get_managed(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    managed_auto_t m = MANAGED_INIT;
    int rc = managed_get(ctx, args, &m, err);

    if (rc != 0)
        return rc;
    m.temp = false; /* the caller's from here on */
    *ret_value = json_pack("[s, O, s]", m.sfn != NULL ? m.sfn : "", m.sum,
                           m.comment != NULL ? m.comment : "");
    return 0;
}
