/* frame.c - length-prefixed JSON on the local socket, shared by both sides. The length is checked against a
 * limit before any byte of the body is parsed. */
#include "common/local/client.h"

#include <arpa/inet.h>

#include "common/base/plainwrite.h"
#include "salt/limits.h"
#include "salt/value.h"

/* Appends a frame's head and its JSON; the length is set by frame_close(). */
static size_t
frame_open(buf_t *out, const json_t *msg)
{
    size_t at = out->len;
    buf_fill(out, '\0', FRAME_HEAD);
    int rc = plain_add(msg, out);
    salt_assert(rc == 0);
    return at;
}

static void
frame_close(buf_t *out, size_t at)
{
    salt_assert(out->len - at - FRAME_HEAD <= UINT32_MAX);
    uint32_t n = htonl((uint32_t) (out->len - at - FRAME_HEAD));
    memcpy(out->data + at, &n, FRAME_HEAD);
}

void
frame_add(buf_t *out, const json_t *msg)
{
    frame_close(out, frame_open(out, msg));
}

void
frame_add_with(buf_t *out, const json_t *msg, const char *text, size_t len)
{
    size_t at = frame_open(out, msg);
    buf_putc(out, '\0');
    buf_add(out, text, len);
    frame_close(out, at);
}

void
frame_add_text(buf_t *out, const char *text, size_t len)
{
    salt_assert(len <= UINT32_MAX);
    uint32_t n = htonl((uint32_t) len);
    buf_add(out, &n, FRAME_HEAD);
    buf_add(out, text, len);
}

int
frame_peek(const buf_t *in, size_t at, size_t limit, const char **ret_text, size_t *ret_len, fail_t *err)
{
    if (in->len - at < FRAME_HEAD)
        return 0;
    uint32_t head;
    memcpy(&head, in->data + at, FRAME_HEAD);
    *ret_len = ntohl(head);
    *ret_text = in->data + at + FRAME_HEAD;
    if (*ret_len > limit)
        return fail_set(err, -EMSGSIZE, "local socket: a message of %zu bytes, the limit is %zu", *ret_len,
                        limit);
    return in->len - at - FRAME_HEAD >= *ret_len;
}

/* Refuse a message that is not an object. TAKES msg, which may be NULL. */
static json_t *
local_frame_object(json_t *msg, fail_t *err)
{
    if (msg == NULL || json_is_object(msg))
        return msg;
    json_decref(msg);
    (void) fail_set(err, -EPROTO, "local socket: a message that is not an object");
    return NULL;
}

json_t *
frame_parse(const char *text, size_t len, fail_t *err)
{
    return local_frame_object(value_parse_frame(text, len, "local socket", err), err);
}

json_t *
frame_parse_request(const char *text, size_t len, fail_t *err)
{
    return local_frame_object(value_parse_peer(text, len, len, "local socket", err), err);
}

int
frame_take(buf_t *in, size_t limit, json_t **ret_msg, fail_t *err)
{
    fail_auto_t why = FAIL_INIT;
    const char *text;
    size_t len;
    int rc = frame_peek(in, 0, limit, &text, &len, err);
    if (rc <= 0)
        return rc;
    json_t *msg = frame_parse(text, len, &why);
    buf_consume(in, FRAME_HEAD + len);
    if (msg == NULL)
        return fail_set(err, why.code, "%s", fail_text(&why));
    *ret_msg = msg;
    return 1;
}
