/* fileline.c - between minions and the file workers: requests in, chunks out. The front loop looks at no byte
 * of them. */
#include "master/gate.h"

#include "salt/log.h"

#define TURN_BUDGET 64 /* messages per turn of the loop */

void
fileline_asked(front_t *self, peer_t *peer, wire_msg_t msg, const json_t *body, const void *raw, size_t len)
{
    size_t n;
    const void *bytes = wire_bytes(raw, len, &n);
    if (!peer->minion)
        return;
    if (msg == MSG_file_open)
        files_open(self->files, peer, body);
    else if (msg == MSG_file_more)
        files_more(self->files, peer, body);
    else if (msg == MSG_file_part)
        files_part(self->files, peer, body, bytes, n);
    else if (msg == MSG_file_done)
        files_done(self->files, peer, body);
    else
        files_stop(self->files, peer, body);
}

/* Called by libzmq's thread; tests/lib/tsan.supp knows the name. */
static void
s_chunk_sent(void *data, void *hint)
{
    free(data);
}

/* Without a copy: libzmq frees the chunk when it is sent. */
static int
s_send(front_t *self, files_out_t *out)
{
    zmq_msg_t frame;
    if (zmq_msg_init_data(&frame, out->data, out->len, s_chunk_sent, NULL) != 0)
        salt_no_memory(out->len);
    out->data = NULL;
    return sock_send_frame_to(self->router, out->rid, out->rid_len, &frame);
}

int
fileline_ready(zloop_t *loop, zmq_pollitem_t *item, void *arg)
{
    front_t *self = arg;
    for (files_names_t *q; (q = files_names_next(self->files));) {
        if (q->who)
            requests_named(q->who, q->n, q->found);
        files_names_free(q);
    }
    for (int i = 0; i < TURN_BUDGET; i++) {
        files_out_t *out = files_next(self->files);
        if (!out)
            break;
        int rc = s_send(self, out);
        self->counters.out += rc == 0;
        const peer_t *peer = rc == 0 ? peers_by_rid(self->peers, out->rid, out->rid_len) : NULL;
        if (peer)
            gate_said(self, peer->fd, out->len);
        if (rc < 0) {
            log_debug("a part of a file can't be sent: %s", zmq_strerror(-rc));
            files_gone(self->files, out->rid, out->rid_len);
        }
        files_out_free(out);
    }
    return 0;
}
