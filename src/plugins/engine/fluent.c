/* fluent.c - engine `fluent`: sends the data of events to Fluentd or Fluent Bit, as a message of the forward
 * protocol each: the MessagePack array ["saltstack.APP", seconds, data]. Source: Fluentd's forward protocol. */
#include "common/base/clock.h"
#include "common/data/msgpack.h"
#include "plugins/lib/engine/enginebus.h"
#include "plugins/lib/engine/forward.h"

/* Never returns: an engine runs until its process ends. Events wait while Fluentd takes none. */
static int
fluent_run(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *tag = xasprintf("saltstack.%s", value_str(args, "app", ""));
    enginebus_t *bus = enginebus_new(ctx, NULL, err);

    if (bus == NULL)
        return err->code;
    forward_t *out = forward_new("fluent", value_str(args, "host", ""), (int) value_int(args, "port", 0),
                                 false);
    for (;;) {
        json_auto_t *event = enginebus_next(bus), *data = json_incref(value_get(event, "data"));
        json_auto_t *message = json_pack("[s, I, O?]", tag, (json_int_t) (clock_wall_us() / 1000000), data);
        buf_auto_t bytes = BUF_INIT;
        msgpack_put(&bytes, message);
        forward_send(out, &bytes);
    }
}

static const arg_t args[] = {
    ARG("host", ARG_STR, "\"localhost\"", "Where Fluentd listens, or unix:///path"),
    ARG("port", ARG_INT, "24224", "Its port"),
    ARG("app", ARG_STR, "\"engine\"", "The second part of the tag, saltstack.engine"), ARGS_END
};

static const func_t funcs[] = { { "start", fluent_run, args, 0,
                                  "Send the data of events to Fluentd, in its forward protocol." } };

PLUGIN(engine, fluent, .doc = "Sends events to Fluentd or Fluent Bit", FUNCS(funcs));
