/* logstash.c - engine `logstash`: sends events to Logstash by UDP or TCP, each in the form of the Python
 * package `logstash`, version 1: the data's members beside those of a line of a log. */
#include <time.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/str.h"
#include "plugins/lib/engine/enginebus.h"
#include "plugins/lib/engine/forward.h"
#include "plugins/lib/returner/retopts.h"
#include "salt/log.h"

enum { HOST_MAX = 256, STAMP_MAX = 32 };

/* Members that a line of Python's log has itself, and that package leaves out. `id` is not one here, as it
 * says whose event it is. */
static const char *const own_names[] = {
    "args",        "asctime",         "auth_token", "created",
    "exc_info",    "exc_text",        "extra",      "filename",
    "funcName",    "levelname",       "levelno",    "lineno",
    "module",      "msecs",           "message",    "msg",
    "name",        "password",        "pathname",   "process",
    "processName", "relativeCreated", "stack_info", "thread",
    "threadName",
};

/* True for a name of the list above. */
static bool
logstash_is_own(const char *name)
{
    for (size_t i = 0; i < NELEMS(own_names); i++)
        if (str_eq(own_names[i], name))
            return true;
    return false;
}

/* The message of one event: the members of the package first, then those of the data, which may overwrite
 * them. NEW. */
static json_t *
logstash_message(const char *tag, const json_t *data, const char *host)
{
    int64_t now_us = clock_wall_us();
    time_t now = (time_t) (now_us / 1000000);
    struct tm tm;
    char stamp[STAMP_MAX];
    const char *key;
    json_t *v;

    (void) gmtime_r(&now, &tm);
    (void) strftime(stamp, sizeof(stamp), "%Y-%m-%dT%H:%M:%S", &tm);
    json_t *message = json_pack("{s:o, s:s, s:s, s:s, s:s, s:[], s:s, s:s, s:s}", "@timestamp",
                                value_fmt("%s.%03dZ", stamp, (int) (now_us / 1000 % 1000)), "@version", "1",
                                "message", tag, "host", host, "path", "salt-engine", "tags", "type",
                                "logstash", "level", "INFO", "logger_name", "python-logstash-logger");
    json_object_foreach ((json_t *) data, key, v)
        if (!logstash_is_own(key))
            json_object_set(message, key, v);
    return message;
}

static int
logstash_run(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *proto = value_str(args, "proto", "udp");
    char host[HOST_MAX] = "";
    bool udp = str_eq(proto, "udp");

    if (!udp && !str_eq(proto, "tcp"))
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "logstash: proto '%s' is neither udp nor tcp", proto);
    enginebus_t *bus = enginebus_new(ctx, NULL, err);
    if (bus == NULL)
        return err->code;
    (void) gethostname(host, sizeof(host) - 1);
    forward_t *out = forward_new("logstash", value_str(args, "host", ""), (int) value_int(args, "port", 0),
                                 udp);
    for (;;) {
        /* A packet of UDP is a message of its own; in a stream a newline ends each. */
        json_auto_t *event = enginebus_next(bus);
        json_auto_t *message = logstash_message(value_str(args, "tag", ""), value_get(event, "data"), host);
        AUTO_FREE char *text = ret_json(message);
        buf_auto_t bytes = BUF_INIT;
        buf_puts(&bytes, text);
        if (!udp)
            buf_putc(&bytes, '\n');
        forward_send(out, &bytes);
    }
}

static const arg_t args[] = {
    ARG("host", ARG_STR, ARG_REQUIRED, "Where Logstash listens"), ARG("port", ARG_INT, "5959", "Its port"),
    ARG("tag", ARG_STR, "\"salt/engine/logstash\"", "The member `message` of each event"),
    ARG("proto", ARG_STR, "\"udp\"", "udp or tcp"), ARGS_END
};

static const func_t funcs[] = { { "start", logstash_run, args, 0,
                                  "Send events to Logstash by UDP or TCP." } };

PLUGIN(engine, logstash, .doc = "Sends events to Logstash", FUNCS(funcs));
