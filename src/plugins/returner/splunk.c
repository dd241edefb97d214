/* splunk.c - returner `splunk`: returns and events for the HTTP Event Collector (POST of {time, host, event,
 * index, sourcetype} with a token in the header). Its options are below `splunk_http_forwarder` and not, as
 * those of other returners, below its name. `url` replaces the address that `indexer` gives. */
#include <unistd.h>

#include "common/base/clock.h"
#include "plugins/lib/returner/httpreturn.h"

enum { HOST_MAX = 256 };

static int
splunk_post(call_ctx_t *ctx, const json_t *unused, const json_t *event, httppost_t *post, fail_t *err)
{
    const json_t *opts = retopts_setting(ctx, "splunk_http_forwarder");
    const char *token = value_str(opts, "token", ""), *indexer = value_str(opts, "indexer", "");
    const char *url = value_str(opts, "url", NULL);
    char host[HOST_MAX] = "";

    if (*token == '\0' || (*indexer == '\0' && url == NULL))
        return fail_kind(err, FAIL_INVOCATION, -EINVAL,
                         "Splunk HTTP Forwarder parameters not present in config.");
    /* The host is the machine that sends, a master or a minion, and not who returned. */
    (void) gethostname(host, sizeof(host) - 1);
    json_auto_t *payload = json_pack("{s:o, s:O*, s:O*, s:O, s:s}", "time",
                                     value_fmt("%lld", (long long) (clock_wall_us() / 1000000)), "index",
                                     value_get(opts, "index"), "sourcetype", value_get(opts, "sourcetype"),
                                     "event", event, "host", host);
    AUTO_FREE char *text = ret_json(payload);
    buf_puts(&post->body, text);
    post->url = url != NULL ? xstrdup(url) : xasprintf("https://%s:8088/services/collector/event", indexer);
    post->header = xasprintf("Authorization: Splunk %s", token);
    post->insecure = !value_bool(opts, "verify_ssl", true);
    return 0;
}

static const httpshape_t splunk_shape = { "splunk", NULL, 0, splunk_post, splunk_post };

static const func_t funcs[] = { RET_ROW_RETURNER(http_returner, .data.ptr = &splunk_shape),
                                RET_ROW_EVENTS(http_event_return, .data.ptr = &splunk_shape) };

PLUGIN(returner, splunk, .doc = "Send returns and events to Splunk's HTTP Event Collector", FUNCS(funcs));
