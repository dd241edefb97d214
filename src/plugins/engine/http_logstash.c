/* http_logstash.c - engine `http_logstash`: posts the data of events as JSON to an address. */
#include "common/base/str.h"
#include "plugins/lib/engine/enginebus.h"
#include "plugins/lib/http/web.h"
#include "plugins/lib/returner/retopts.h"
#include "salt/log.h"

/* An answer's text is of no use; it is read to see its status only. */
enum { ANSWER_MAX = 64 * 1024, TIMEOUT_S = 30 };

/* Posts one event. 0 or a negative errno with *err, also when the server refuses it. */
static int
logstash_post(const char *url, const json_t *event, fail_t *err)
{
    web_auto_t web = WEB_INIT;
    buf_auto_t answer = BUF_INIT, body = BUF_INIT;
    AUTO_FREE char *text = ret_json(value_get(event, "data"));

    if (web_open(&web, CURLPROTO_HTTP | CURLPROTO_HTTPS, 0, &answer, err) < 0)
        return -EINVAL;
    buf_puts(&body, text);
    web_text(&web, CURLOPT_URL, url);
    web_field(&web, "Content-Type: application/json");
    web_limit(&web, ANSWER_MAX);
    web_seconds(&web, CURLOPT_TIMEOUT_MS, TIMEOUT_S);
    web_send(&web, &body);
    int rc = web_run(&web, err);
    if (rc < 0)
        return rc;
    if (web.trouble != NULL)
        return fail_kind(err, FAIL_COMMAND, -EIO, "%s", web.trouble);
    return web.status / 100 == 2 ? 0
                                 : fail_kind(err, FAIL_COMMAND, -EIO, "the server answers %ld", web.status);
}

static int
logstash_start(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    /* The address may have a password in it, which is not for the log. */
    const char *url = value_str(args, "url", "");
    AUTO_FREE char *shown = str_redacted(url);
    enginebus_t *bus = enginebus_new(ctx, value_get(args, "tags"), err);

    if (bus == NULL)
        return err->code;
    for (;;) {
        fail_auto_t why = FAIL_INIT;
        json_auto_t *event = enginebus_next(bus);

        /* With `funs`, events of other functions are left out; those of no function at all are sent. */
        json_t *funs = value_get(args, "funs"), *fun = value_get(value_get(event, "data"), "fun");
        bool other = json_array_size(funs) > 0 && fun != NULL && !value_has(funs, fun);
        if (!other && logstash_post(url, event, &why) < 0)
            log_error("engine http_logstash: %s: %s", shown, fail_text(&why));
    }
}

static const arg_t args[] = { ARG("url", ARG_STR, ARG_REQUIRED, "Where to"),
                              ARG("funs", ARG_LIST, "null",
                                  "Of events with a function, only those of these functions"),
                              ARG("tags", ARG_LIST, "null", "Globs of tags"), ARGS_END };

static const func_t funcs[] = { { "start", logstash_start, args, 0,
                                  "Post the data of events as JSON to an address." } };

PLUGIN(engine, http_logstash, .doc = "Posts events as JSON, to Logstash or others", FUNCS(funcs));
