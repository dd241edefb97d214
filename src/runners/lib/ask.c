/* ask.c - see ask.h. The master as runners see it: local operations, targets, jobs of execution functions and
 * their returns. */
#include "runners/lib/ask.h"

#include "common/base/buf.h"
#include "common/base/str.h"
#include "master/api.h"
#include "salt/limits.h"

#define TIMEOUT_S 5 /* where the configuration has none */

json_t *
ask_master_with(call_ctx_t *ctx, const char *op, json_t **fields_p, fail_t *err)
{
    json_t *reply = NULL;

    json_object_set_new(*fields_p, "op", json_string(op));
    return api_request(api_of(ctx), fields_p, &reply, err) == 0 ? reply : NULL;
}

json_t *
ask_master(call_ctx_t *ctx, const char *op, fail_t *err)
{
    json_t *none = json_object();

    return ask_master_with(ctx, op, &none, err);
}

json_t *
ask_targets(call_ctx_t *ctx, json_t *args, fail_t *err)
{
    json_t *fields = json_pack("{s:O, s:O}", "tgt", value_get(args, "tgt"), "tgt_type",
                               value_get(args, "tgt_type"));
    json_auto_t *reply = ask_master_with(ctx, "match", &fields, err);

    return reply != NULL ? value_sorted_texts(value_get(reply, "minions")) : NULL;
}

/* Waits for the returns, `timeout` seconds without any (0: the configuration's). NEW {id: entry}, or NULL
 * with *err. */
json_t *
ask_execute(call_ctx_t *ctx, const json_t *tgt, const char *tgt_type, const char *fun, json_t *arg,
            json_int_t timeout, fail_t *err)
{
    json_t *request = json_pack("{s:O, s:s, s:s, s:o}", "tgt", tgt, "tgt_type", tgt_type, "fun", fun, "arg",
                                arg != NULL ? json_incref(arg) : json_array());
    json_t *value = NULL;

    if (timeout <= 0)
        timeout = value_int(ctx_opts(ctx), "timeout", TIMEOUT_S);
    timeout = timeout < LIMIT_SILENCE_S ? timeout : LIMIT_SILENCE_S;
    return api_execute(api_of(ctx), &request, (int) (timeout * 1000), &value, err) == 0 ? value : NULL;
}

/* Only minions that returned. NEW {id: return}. */
json_t *
ask_returns(json_t *minions)
{
    json_t *out = json_object(), *entry;
    const char *id;

    json_object_foreach (minions, id, entry)
        if (str_eq(value_str(entry, "verdict", NULL), "returned"))
            json_object_set(out, id, value_get(entry, "return"));
    return out;
}

int
ask_progress(call_ctx_t *ctx, const char *text, fail_t *err)
{
    AUTO_FREE char *tag = xasprintf("salt/run/%s/progress", ctx_jid(ctx));
    json_auto_t *data = json_pack("{s:s}", "message", text);

    return ctx_fire(ctx, tag, data, err);
}

/* A list stays one, a text is split at commas; elements are trimmed. NULL for None. */
json_t *
ask_split(const json_t *v)
{
    json_t *out;
    size_t i;
    json_t *element;

    if (v == NULL || json_is_null(v))
        return NULL;
    out = json_array();
    if (json_is_array(v)) {
        json_array_foreach (v, i, element) {
            AUTO_FREE char *text = value_pystr(element);
            json_array_append_new(out, json_string(str_trim(text)));
        }
        return out;
    }
    AUTO_FREE char *text = value_pystr(v);
    char **parts = str_split(text, ",", false);
    for (char **p = parts; *p != NULL; p++)
        json_array_append_new(out, json_string(str_trim(*p)));
    strv_free(parts);
    return out;
}

/* Elements with commas between. NEW. */
char *
ask_joined(const json_t *list)
{
    buf_t out = BUF_INIT;
    size_t i;
    json_t *one;

    json_array_foreach ((json_t *) list, i, one) {
        AUTO_FREE char *text = value_pystr(one);
        buf_printf(&out, "%s%s", i > 0 ? "," : "", text);
    }
    return buf_steal(&out);
}

json_t *
ask_words(const char *text)
{
    char **words = str_split(text, " \t\r\n", true);
    json_t *out = json_array();

    for (char **w = words; *w != NULL; w++)
        json_array_append_new(out, json_string(*w));
    strv_free(words);
    return out;
}
