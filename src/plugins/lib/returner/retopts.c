/* retopts.c - see retopts.h. */
#include "plugins/lib/returner/retopts.h"

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/py/py_json.h"
#include "common/py/py_ops.h"

/* ---- options ---------------------------------------------------------------------------------------- */

static json_t *
master_opts_of(call_ctx_t *ctx)
{
    return value_get(ctx_pillar(ctx), "master");
}

json_t *
retopts_setting(call_ctx_t *ctx, const char *name)
{
    json_t *(*const places[])(call_ctx_t *) = { ctx_opts, ctx_grains, ctx_pillar, master_opts_of };
    json_t *found = NULL;

    for (size_t i = 0; found == NULL && i < NELEMS(places); i++)
        found = value_get(places[i](ctx), name);
    return found;
}

/* An option below one name: NAME: {key} before NAME.key. BORROWED; NULL: neither is set. */
static json_t *
setting_below(call_ctx_t *ctx, const char *name, const char *key)
{
    AUTO_FREE char *whole = xasprintf("%s.%s", name, key);
    json_t *inside = value_get(retopts_setting(ctx, name), key);

    return inside != NULL ? inside : retopts_setting(ctx, whole);
}

json_t *
retopts(call_ctx_t *ctx, const char *name, const json_t *ret, const retopt_t *rows, size_t n)
{
    const char *other = value_str(ret, "ret_config", "");
    AUTO_FREE char *alternative = *other != '\0' ? xasprintf("%s.%s", other, name) : NULL;
    json_t *found = json_object(), *more = value_get(ret, "ret_kwargs");

    for (size_t i = 0; i < n; i++) {
        const char *key = rows[i].key != NULL ? rows[i].key : rows[i].name;
        json_t *v = alternative != NULL ? setting_below(ctx, alternative, key) : NULL;
        v = value_truthy(v) ? v : setting_below(ctx, name, key);
        if (value_truthy(v))
            json_object_set(found, rows[i].name, v);
        else if (rows[i].dflt != NULL)
            json_object_set_new(found, rows[i].name, json_loads(rows[i].dflt, JSON_DECODE_ANY, NULL));
    }
    if (json_is_object(more))
        (void) json_object_update(found, more);
    return found;
}

/* ---- texts ------------------------------------------------------------------------------------------ */

/* As json.dumps writes any value, by way of Python's. */
static char *
ret_json_python(const json_t *v)
{
    static const py_dumps_t how = { .indent = -1, .ensure_ascii = false };
    AUTO(py) value = py_from_json(v);
    AUTO(py) text = value != NULL ? py_json_dumps(value, &how) : NULL;
    size_t len;

    if (text == NULL) {
        py_clear();
        return value_dump(v);
    }
    const char *bytes = py_text(text, &len);
    return xstrndup(bytes, len);
}

/* Python's escapes: digits of \u are small letters, and what is beyond ASCII stands as it is. */
static void
put_quoted(buf_t *out, const char *text, size_t len)
{
    static const char from[] = "\b\f\n\r\t\"\\", to[] = "bfnrt\"\\";
    size_t done = 0;

    buf_putc(out, '"');
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char) text[i];
        if (c >= ' ' && c != '"' && c != '\\')
            continue;
        const char *at = c != '\0' ? strchr(from, c) : NULL;
        buf_add(out, text + done, i - done);
        done = i + 1;
        if (at != NULL)
            buf_add(out, (const char[]){ '\\', to[at - from] }, 2);
        else
            buf_printf(out, "\\u%04x", c);
    }
    buf_add(out, text + done, len - done);
    buf_putc(out, '"');
}

/* Appends the value. `depth`: levels that may still be entered; false: there are more. */
static bool
put_json(buf_t *out, const json_t *v, int depth)
{
    json_t *it_of = (json_t *) v; /* the iterators take no const; nothing is changed */
    size_t from = out->len + 1;

    if (json_is_object(v)) {
        buf_putc(out, '{');
        for (void *it = json_object_iter(it_of); it != NULL; it = json_object_iter_next(it_of, it)) {
            if (out->len > from)
                buf_add(out, ", ", 2);
            put_quoted(out, json_object_iter_key(it), json_object_iter_key_len(it));
            buf_add(out, ": ", 2);
            if (depth == 0 || !put_json(out, json_object_iter_value(it), depth - 1))
                return false;
        }
        buf_putc(out, '}');
    } else if (json_is_array(v)) {
        buf_putc(out, '[');
        for (size_t i = 0; i < json_array_size(v); i++) {
            if (i > 0)
                buf_add(out, ", ", 2);
            if (depth == 0 || !put_json(out, json_array_get(v, i), depth - 1))
                return false;
        }
        buf_putc(out, ']');
    } else if (json_is_string(v)) {
        put_quoted(out, json_string_value(v), json_string_length(v));
    } else if (json_is_integer(v)) {
        buf_printf(out, "%lld", (long long) json_integer_value(v));
    } else if (json_is_boolean(v) || v == NULL || json_is_null(v)) {
        buf_puts(out, json_is_true(v) ? "true" : json_is_false(v) ? "false" : "null");
    } else {
        AUTO_FREE char *text = ret_json_python(v); /* a float, which Python writes otherwise than jansson */
        buf_puts(out, text);
    }
    return true;
}

/* Directly, without Python's values in between, which would take three times as long. */
char *
ret_json(const json_t *v)
{
    enum { DEPTH = 64 };
    buf_auto_t out = BUF_INIT;

    return put_json(&out, v, DEPTH) ? xstrndup(buf_str(&out), out.len) : ret_json_python(v);
}

bool
ret_told(json_t *told, const char *name)
{
    bool was = value_get(told, name) != NULL;

    if (told != NULL && !was)
        json_object_set_new(told, name, json_true());
    return was;
}

char *
ret_jid_time(const char *jid)
{
    char text[CLOCK_STAMP_LEN];

    return xstrdup(clock_jid_to_time(jid, text) ? text : "");
}

json_t *
ret_job_instance(const char *jid, const json_t *load)
{
    static const struct {
        const char *shown, *key, *dflt;
    } rows[] = { { "Function", "fun", "\"unknown-function\"" },
                 { "Arguments", "arg", "[]" },
                 { "Target", "tgt", "\"unknown-target\"" },
                 { "Target-type", "tgt_type", "\"list\"" },
                 { "User", "user", "\"root\"" } };
    json_t *out = json_object(), *metadata = value_get(load, "metadata"), *inside, *v;

    for (size_t i = 0; i < NELEMS(rows); i++) {
        v = value_get(load, rows[i].key);
        json_object_set_new(out, rows[i].shown,
                            v != NULL ? json_incref(v) : json_loads(rows[i].dflt, JSON_DECODE_ANY, NULL));
    }
    inside = value_get(value_get(load, "kwargs"), "metadata");
    if (metadata != NULL || inside != NULL)
        json_object_set(out, "Metadata", metadata != NULL ? metadata : inside);
    if (value_get(load, "Minions") != NULL)
        json_object_set(out, "Minions", value_get(load, "Minions"));
    AUTO_FREE char *start = ret_jid_time(jid);
    json_object_set_new(out, "StartTime", json_string(start));
    return out;
}

int
ret_prep_jid(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *passed = value_get(args, "passed_jid");
    char jid[CLOCK_STAMP_LEN];

    if (json_is_string(passed)) {
        *ret_value = json_incref(passed);
        return 0;
    }
    clock_jid(jid);
    *ret_value = json_string(jid);
    return 0;
}

/* ---- arguments of the interface --------------------------------------------------------------------- */

#define RET_ARG_JID ARG("jid", ARG_STR, ARG_REQUIRED, "The job's id")

const arg_t ret_args_returner[] = { ARG("ret", ARG_DICT, ARG_REQUIRED, "The return"), ARGS_END };
const arg_t ret_args_events[] = { ARG("events", ARG_LIST, ARG_REQUIRED, "Events, each with tag and data"),
                                  ARGS_END };
const arg_t ret_args_prep[] = { ARG("nocache", ARG_BOOL, "false", "Not used"),
                                ARG("passed_jid", ARG_ANY, "null", "A job id that exists already"),
                                ARGS_END };
const arg_t ret_args_load[] = { RET_ARG_JID, ARG("load", ARG_DICT, ARG_REQUIRED, "What was published"),
                                ARG("minions", ARG_ANY, "null", "The minions that have the job"), ARGS_END };
const arg_t ret_args_jid[] = { RET_ARG_JID, ARGS_END };
const arg_t ret_args_fun[] = { ARG("fun", ARG_STR, ARG_REQUIRED, "The function"), ARGS_END };
const arg_t ret_args_cursor[] = { ARG("follower", ARG_STR, ARG_REQUIRED, "The follower's name"), ARGS_END };
const arg_t ret_args_batch[] = {
    ARG("follower", ARG_STR, ARG_REQUIRED, "The follower's name"),
    ARG("after", ARG_ANY, ARG_REQUIRED, "The last event that was stored before; None: none was"),
    ARG("next", ARG_INT, ARG_REQUIRED, "The last event of these"),
    ARG("writes", ARG_LIST, ARG_REQUIRED, "{event: {tag, data}}, {jid, load} or {ret, load?} each, with seq"),
    ARGS_END
};
