/* wire.c - see wire.h. The message's name is read without a JSON parser, because "m" comes first: direction,
 * permission and size are checked against the row before the body is parsed. */
#include "common/net/wire.h"

#include "common/base/buf.h"
#include "common/base/plainwrite.h"
#include "salt/value.h"

typedef struct wire_row {
    const char *name;
    size_t name_len;
    wire_dir_t dir;
    const char *states;
    size_t limit;
} wire_row_t;

#define UP                                     WIRE_UP
#define DOWN                                   WIRE_DOWN
#define MESSAGE(name, dir, states, limit, doc) { #name, sizeof(#name) - 1, dir, states, limit },
static const wire_row_t rows[MSG_COUNT] = {
#include "salt/messages.def"
};
#undef MESSAGE

#define PREFIX "{\"m\":\""

const char *
wire_name(wire_msg_t msg)
{
    salt_assert(msg < MSG_COUNT);
    return rows[msg].name;
}

/* The row of the frame's name, MSG_COUNT when unknown. */
static wire_msg_t
wire_peek(const char *data, size_t len)
{
    size_t skip = strlen(PREFIX);
    if (len <= skip || memcmp(data, PREFIX, skip) != 0)
        return MSG_COUNT;
    const char *name = data + skip, *quote = memchr(name, '"', len - skip);
    size_t n = quote != NULL ? (size_t) (quote - name) : 0;
    wire_msg_t i = 0;
    while (i < MSG_COUNT && (rows[i].name_len != n || memcmp(name, rows[i].name, n) != 0))
        i++;
    return i;
}

int
wire_open(const void *data, size_t len, wire_dir_t dir, char state, wire_msg_t *ret_msg, size_t *ret_len,
          fail_t *err)
{
    wire_msg_t msg = wire_peek(data, len);
    if (msg == MSG_COUNT || rows[msg].dir != dir)
        return fail_set(err, -EPROTO, "unknown message of %zu bytes", len);
    const wire_row_t *row = &rows[msg];
    if (dir == UP && strchr(row->states, state) == NULL)
        return fail_set(err, -EPERM, "message '%s' is not allowed before the key is accepted", row->name);
    if (len > row->limit)
        return fail_set(err, -EMSGSIZE, "message '%s' of %zu bytes, its limit is %zu", row->name, len,
                        row->limit);
    const char *nul = strchr(row->states, 'B') != NULL ? memchr(data, '\0', len) : NULL;
    *ret_len = nul != NULL ? (size_t) (nul - (const char *) data) : len;
    *ret_msg = msg;
    return 0;
}

int
wire_decode(const void *data, size_t len, wire_dir_t dir, char state, wire_msg_t *ret_msg, json_t **ret_body,
            fail_t *err)
{
    wire_msg_t msg;
    size_t n = 0;
    int rc = wire_open(data, len, dir, state, &msg, &n, err);
    if (rc < 0)
        return rc;
    fail_auto_t why = FAIL_INIT;
    json_t *body = value_parse_peer(data, n, rows[msg].limit, rows[msg].name, &why);
    if (body == NULL)
        return fail_set(err, why.code == -ENOMEM ? -ENOMEM : -EPROTO, "%s", fail_text(&why));
    *ret_msg = msg;
    *ret_body = body;
    return 0;
}

const void *
wire_bytes(const void *data, size_t len, size_t *ret_n)
{
    const char *nul = memchr(data, '\0', len), *end = (const char *) data + len;
    *ret_n = nul != NULL ? (size_t) (end - nul - 1) : 0;
    return nul != NULL ? nul + 1 : end;
}

char *
wire_encode(wire_msg_t msg, const json_t *body, size_t *ret_len, fail_t *err)
{
    salt_assert(msg < MSG_COUNT);
    buf_auto_t out = BUF_INIT;
    if (!value_nests(body, LIMIT_JSON_DEPTH)) {
        (void) fail_set(err, -EMSGSIZE, "message '%s' is nested deeper than the %d levels allowed",
                        rows[msg].name, LIMIT_JSON_DEPTH);
        return NULL;
    }
    buf_printf(&out, PREFIX "%s\"", rows[msg].name);
    size_t brace = out.len;
    if (json_object_size(body) == 0) {
        buf_putc(&out, '}');
    } else if (plain_add(body, &out) < 0) {
        (void) fail_set(err, -EINVAL, "message '%s' can't be written as JSON", rows[msg].name);
        return NULL;
    } else {
        out.data[brace] = ','; /* the body continues our object */
    }
    if (out.len > rows[msg].limit) {
        (void) fail_set(err, -EMSGSIZE, "message '%s' of %zu bytes, its limit is %zu", rows[msg].name,
                        out.len, rows[msg].limit);
        return NULL;
    }
    *ret_len = out.len;
    return buf_steal(&out);
}

char *
wire_with(wire_msg_t msg, const char *text, size_t len, const char *key, json_int_t value, size_t *ret_len)
{
    salt_assert(msg < MSG_COUNT && len > 0 && text[len - 1] == '}');
    buf_auto_t out = BUF_INIT;
    buf_add(&out, text, len - 1);
    buf_printf(&out, ",\"%s\":%" JSON_INTEGER_FORMAT "}", key, value);
    if (out.len > rows[msg].limit)
        return NULL;
    *ret_len = out.len;
    return buf_steal(&out);
}
