/* fluent.c - engine `fluent`: sends the data of events to Fluentd or Fluent Bit, as a message of the forward
 * protocol each: the MessagePack array ["saltstack.APP", seconds, data]. Source: Fluentd's forward protocol,
 * MessagePack's specification. */
#include "common/base/clock.h"
#include "plugins/lib/engine/enginebus.h"
#include "plugins/lib/engine/forward.h"

/* ---- MessagePack --------------------------------------------------------------------------------------- */

/* The low `n` bytes of a number, the highest first. */
static void
pack_bytes(buf_t *out, uint64_t v, int n)
{
    while (n-- > 0)
        buf_putc(out, (char) (v >> (8 * n)));
}

/* The head of a text, an array or a map: `fix` with the length in it below `fix_max`, else `wide` (16 bits)
 * or the one after it; texts have one of 8 bits before that. */
static void
pack_head(buf_t *out, size_t n, int fix, size_t fix_max, int wide)
{
    if (n < fix_max)
        buf_putc(out, (char) (fix | (int) n));
    else if (n <= UINT8_MAX && wide == 0xda)
        pack_bytes(out, 0xd900 | n, 2);
    else if (n <= UINT16_MAX)
        pack_bytes(out, (uint64_t) wide << 16 | n, 3);
    else
        pack_bytes(out, (uint64_t) (wide + 1) << 32 | n, 5);
}

static void
pack_text(buf_t *out, const char *text, size_t len)
{
    pack_head(out, len, 0xa0, 32, 0xda);
    buf_add(out, text, len);
}

/* The shortest form, as Python's msgpack writes it. */
static void
pack_int(buf_t *out, json_int_t v)
{
    static const struct {
        json_int_t least;
        uint64_t most;
        int byte, size;
    } forms[] = { { -32, 127, -1, 1 },        { 0, UINT8_MAX, 0xcc, 1 },  { 0, UINT16_MAX, 0xcd, 2 },
                  { 0, UINT32_MAX, 0xce, 4 }, { 0, UINT64_MAX, 0xcf, 8 }, { INT8_MIN, 0, 0xd0, 1 },
                  { INT16_MIN, 0, 0xd1, 2 },  { INT32_MIN, 0, 0xd2, 4 },  { INT64_MIN, 0, 0xd3, 8 } };
    size_t i = 0;

    while (v < forms[i].least || (v > 0 && (uint64_t) v > forms[i].most))
        i++;
    if (forms[i].byte >= 0)
        buf_putc(out, (char) forms[i].byte);
    pack_bytes(out, (uint64_t) v, forms[i].size);
}

static void
pack_value(buf_t *out, const json_t *v)
{
    const char *key;
    json_t *one;
    size_t i;
    union {
        double number;
        uint64_t bits;
    } real;

    switch (json_typeof(v)) {
    case JSON_OBJECT:
        pack_head(out, json_object_size(v), 0x80, 16, 0xde);
        json_object_foreach ((json_t *) v, key, one) {
            pack_text(out, key, strlen(key));
            pack_value(out, one);
        }
        break;
    case JSON_ARRAY:
        pack_head(out, json_array_size(v), 0x90, 16, 0xdc);
        json_array_foreach ((json_t *) v, i, one)
            pack_value(out, one);
        break;
    case JSON_STRING:
        pack_text(out, json_string_value(v), json_string_length(v));
        break;
    case JSON_INTEGER:
        pack_int(out, json_integer_value(v));
        break;
    case JSON_REAL:
        real.number = json_real_value(v);
        buf_putc(out, (char) 0xcb);
        pack_bytes(out, real.bits, 8);
        break;
    default:
        buf_putc(out, (char) (json_is_true(v) ? 0xc3 : json_is_false(v) ? 0xc2 : 0xc0));
    }
}

/* ---- the engine ---------------------------------------------------------------------------------------- */

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
        pack_value(&bytes, message);
        forward_send(out, &bytes);
    }
}

static const arg_t args[] = { { "host", ARG_STR, "\"localhost\"", "Where Fluentd listens, or unix:///path" },
                              { "port", ARG_INT, "24224", "Its port" },
                              { "app", ARG_STR, "\"engine\"",
                                "The second part of the tag, saltstack.engine" },
                              ARGS_END };

static const func_t funcs[] = { { "start", fluent_run, args, 0,
                                  "Send the data of events to Fluentd, in its forward protocol." } };

PLUGIN(engine, fluent, .doc = "Sends events to Fluentd or Fluent Bit", FUNCS(funcs));
