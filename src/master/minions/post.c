/* post.c - see post.h. Encodes by messages.def and sends through the gate, which counts the bytes. */
#include "master/minions/post.h"

#include "master/minions/gate.h"
#include "salt/log.h"

int
post_send(front_t *front, const peer_t *peer, wire_msg_t msg, const json_t *body)
{
    fail_auto_t err = FAIL_INIT;
    size_t len = 0;
    AUTO_FREE char *text = wire_encode(msg, body, &len, &err);
    if (text == NULL) {
        log_error("%s", fail_text(&err));
        return err.code;
    }
    front->counters.out++;
    return gate_send(front, peer, text, len);
}
