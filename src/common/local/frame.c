/* frame.c - length-prefixed JSON on the local socket, the same for both sides. */
#include "common/local/client.h"

#include <arpa/inet.h>

#include "salt/limits.h"
#include "salt/value.h"

#define FRAME_HEAD 4

static int
append_dump(const char *bytes, size_t n, void *cookie)
{
    buf_add(cookie, bytes, n);
    return 0;
}

void
frame_add(buf_t *out, const json_t *msg)
{
    size_t at = out->len;
    buf_fill(out, '\0', FRAME_HEAD);
    int rc = json_dump_callback(msg, append_dump, out, JSON_COMPACT | JSON_ENCODE_ANY);
    salt_assert(rc == 0 && out->len - at - FRAME_HEAD <= UINT32_MAX);
    uint32_t n = htonl((uint32_t) (out->len - at - FRAME_HEAD));
    memcpy(out->data + at, &n, FRAME_HEAD);
}

int
frame_take(buf_t *in, size_t limit, json_t **ret_msg, fail_t *err)
{
    if (in->len < FRAME_HEAD)
        return 0;
    uint32_t head;
    memcpy(&head, in->data, FRAME_HEAD);
    size_t n = ntohl(head);
    if (n > limit)
        return fail_set(err, -EMSGSIZE, "local socket: a message of %zu bytes, the limit is %zu", n, limit);
    if (in->len < FRAME_HEAD + n)
        return 0;
    json_t *msg = value_parse(in->data + FRAME_HEAD, n, limit, "local socket", err);
    buf_consume(in, FRAME_HEAD + n);
    if (!msg)
        return err && err->code ? err->code : -EPROTO;
    if (!json_is_object(msg)) {
        json_decref(msg);
        return fail_set(err, -EPROTO, "local socket: a message that is not an object");
    }
    *ret_msg = msg;
    return 1;
}
