/* fuzz_wire.c - frames of minions and masters. The first byte chooses direction and key state, the rest is
 * the frame. A frame that is accepted holds a message that may be sent there, and is written and read back
 * the same.
 */
#include "common/net/wire.h"
#include "salt/value.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char states[] = { 'A', 'P' };

    if (size < 1)
        return 0;
    wire_dir_t dir = data[0] & 1 ? WIRE_UP : WIRE_DOWN;
    char state = states[data[0] >> 1 & 1];
    wire_msg_t msg = MSG_COUNT, again_msg = MSG_COUNT;
    json_auto_t *body = NULL, *again = NULL;
    fail_auto_t err = FAIL_INIT;

    if (wire_decode(data + 1, size - 1, dir, state, &msg, &body, &err) < 0) {
        salt_assert(err.text && !body);
        return 0;
    }
    salt_assert(msg < MSG_COUNT && json_is_object(body));
    json_object_del(body, "m");
    size_t len = 0;
    AUTO_FREE char *text = wire_encode(msg, body, &len, NULL);
    if (!text) /* numbers may be longer when they are written again */
        return 0;
    salt_assert(wire_decode(text, len, dir, state, &again_msg, &again, NULL) == 0);
    json_object_del(again, "m");
    salt_assert(again_msg == msg && json_equal(body, again));
    return 0;
}
