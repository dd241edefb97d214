/* mattermost.c - returner `mattermost`: a message for each return or event, by an incoming webhook: POST of
 * a form with the member `payload`, a text of JSON. The address is api_url/hooks/HOOK; the hook is the
 * secret. */
#include "plugins/lib/returner/httpreturn.h"

static const retopt_t options[] = {
    { "channel", NULL, NULL }, { "username", NULL, NULL }, { "hook", NULL, NULL }, { "api_url", NULL, NULL }
};

/* The message in the form of a webhook, between three backticks, which show it as it is. Without a channel
 * the webhook's own is used. */
static int
mattermost_post(const json_t *opts, const char *message, httppost_t *post, fail_t *err)
{
    const char *hook = value_str(opts, "hook", ""), *url = value_str(opts, "api_url", "");
    json_auto_t *payload = json_object();

    if (*hook == '\0' || *url == '\0')
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "mattermost.%s not defined in salt config",
                         *hook == '\0' ? "hook" : "api_url");
    if (value_get(opts, "channel") != NULL)
        json_object_set(payload, "channel", value_get(opts, "channel"));
    if (value_get(opts, "username") != NULL)
        json_object_set(payload, "username", value_get(opts, "username"));
    json_object_set_new(payload, "text", value_fmt("```%s```", message));
    AUTO_FREE char *hooks = httpreturn_join(url, "/hooks/");
    post->url = httpreturn_join(hooks, hook);
    httpreturn_form(payload, post);
    return 0;
}

static int
mattermost_ret(call_ctx_t *ctx, const json_t *opts, const json_t *ret, httppost_t *post, fail_t *err)
{
    static const struct {
        const char *label, *key;
    } rows[] = { { "id", "id" },
                 { "function", "fun" },
                 { "function args", "fun_args" },
                 { "jid", "jid" },
                 { "return", "return" } };
    buf_auto_t message = BUF_INIT;

    for (size_t i = 0; i < NELEMS(rows); i++) {
        json_t *v = value_get(ret, rows[i].key);
        AUTO_FREE char *text = v != NULL ? value_pystr(v) : xstrdup("None");
        buf_printf(&message, "%s: %s\r\n", rows[i].label, text);
    }
    return mattermost_post(opts, buf_str(&message), post, err);
}

static int
mattermost_event(call_ctx_t *ctx, const json_t *opts, const json_t *event, httppost_t *post, fail_t *err)
{
    buf_auto_t message = BUF_INIT;
    const char *key;
    json_t *v;

    buf_printf(&message, "tag: %s\r\n", value_str(event, "tag", ""));
    json_object_foreach (value_get(event, "data"), key, v) {
        AUTO_FREE char *text = value_pystr(v);
        buf_printf(&message, "%s: %s\r\n", key, text);
    }
    return mattermost_post(opts, buf_str(&message), post, err);
}

static const httpshape_t mattermost_shape = { "mattermost", options, NELEMS(options), mattermost_ret,
                                              mattermost_event };

static const func_t funcs[] = { RET_ROW_RETURNER(http_returner, .data.ptr = &mattermost_shape),
                                RET_ROW_EVENTS(http_event_return, .data.ptr = &mattermost_shape) };

PLUGIN(returner, mattermost, .doc = "Send returns and events to a channel of Mattermost", FUNCS(funcs));
