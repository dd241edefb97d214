/* fileline.c - the part between minions and the file workers: hands requests over and sends the chunks that
 * come back. The front loop neither reads nor copies them. */
#include "common/base/str.h"
#include "common/net/sock.h"
#include "master/events/bus.h"
#include "master/files/files.h"
#include "master/minions/gate.h"
#include "master/minions/message.h"
#include "master/front/part.h"
#include "master/front/request.h"
#include "salt/log.h"
#include "salt/value.h"

#define TURN_BUDGET 64 /* messages per turn of the loop */

static files_t *
fileline_own(const front_t *front)
{
    return front->own[PART_files];
}

/* ---- minions' requests ----------------------------------------------------------------------- */

/* Hand a message to the workers by its kind. Connections that speak for no minion are ignored. */
static void
fileline_asked(front_t *front, peer_t *peer, const inbound_t *in)
{
    size_t n;
    const void *bytes = wire_bytes(in->text, in->len, &n);
    files_t *self = fileline_own(front);
    if (peer->minion == NULL)
        return;
    if (in->msg == MSG_file_open)
        files_open(self, peer, in->body);
    else if (in->msg == MSG_file_more)
        files_more(self, peer, in->body);
    else if (in->msg == MSG_file_part)
        files_part(self, peer, in->body, bytes, n);
    else if (in->msg == MSG_file_done)
        files_done(self, peer, in->body);
    else
        files_stop(self, peer, in->body);
}

const message_row_t message_file_open = { .body = fileline_asked };
const message_row_t message_file_more = { .body = fileline_asked };
const message_row_t message_file_part = { .body = fileline_asked };
const message_row_t message_file_done = { .body = fileline_asked };
const message_row_t message_file_stop = { .body = fileline_asked };

static void
peer_left(front_t *front, peer_t *peer)
{
    files_gone(fileline_own(front), peer->rid, peer->rid_len);
}

/* ---- operators' requests --------------------------------------------------------------------- */

static int
fileline_names(front_t *front, lconn_t *c, const json_t *request, fail_t *err)
{
    const char *kind = value_str(request, "kind", "");
    if (!str_eq(kind, "sls") && !str_eq(kind, "saltenvs"))
        return 0;
    int rc = files_names(fileline_own(front), c, request, err);
    return rc == 0 ? 1 : rc;
}

/* Answers that come later are dropped, as q->who is NULL. */
static void
fileline_line_closed(front_t *front, lconn_t *c)
{
    files_names_gone(fileline_own(front), c);
}

/* ---- results of the workers ------------------------------------------------------------------ */

/* zmq_free_fn, called by libzmq's I/O thread; tests/lib/tsan.supp knows the name. */
static void
chunk_sent(void *data, void *hint)
{
    free(data);
}

/* Answers for local connections first, then up to TURN_BUDGET messages. A connection that can't be sent to
 * loses all its requests. */
static void
fileline_readable(front_t *front)
{
    files_t *self = fileline_own(front);
    fileserver_fetch_t fetch = files_fetched(self);
    if (fetch.fetched && conf_bool(front->conf, "fileserver_events")) {
        json_t *data = fileserver_update_event(&fetch);
        (void) bus_fire(front, FILESERVER_UPDATE_TAG, &data);
    }
    for (files_names_t *q; (q = files_names_next(self));) {
        if (q->who != NULL)
            request_answer(q->who, q->n, json_pack("{s:O}", "names", q->found), NULL);
        files_names_free(q);
    }
    for (int i = 0; i < TURN_BUDGET; i++) {
        files_out_t *out = files_next(self);
        if (out == NULL)
            break;

        /* Send a chunk without copying: libzmq takes over out->data and frees it. */
        zmq_msg_t frame;
        if (zmq_msg_init_data(&frame, out->data, out->len, chunk_sent, NULL) != 0)
            salt_no_memory(out->len);
        out->data = NULL;
        int rc = sock_send_frame_to(front->router, out->rid, out->rid_len, &frame);

        front->counters.out += rc == 0;
        const peer_t *peer = rc == 0 ? peers_by_rid(front->peers, out->rid, out->rid_len) : NULL;
        if (peer != NULL)
            gate_sent(front, peer->fd, out->len);
        if (rc < 0) {
            log_debug("a part of a file can't be sent: %s", zmq_strerror(-rc));
            files_gone(self, out->rid, out->rid_len);
        }
        files_out_free(out);
    }
}

/* ---- life ------------------------------------------------------------------------------------ */

static int
fileline_start(front_t *front, fail_t *err)
{
    front->own[PART_files] = files_new(front->opts, err);
    return front->own[PART_files] != NULL ? 0 : err->code;
}

static bool
fileline_destroy(front_t *front)
{
    files_t *self = fileline_own(front);
    return files_destroy(&self);
}

/* Workers take the new options between two steps. */
static void
fileline_reload(front_t *front)
{
    files_reload(fileline_own(front), front->opts);
}

static int
fileline_fd(const front_t *front)
{
    return files_fd(fileline_own(front));
}

const front_part_t part_files = { .name = "files",
                                  .start = fileline_start,
                                  .destroy = fileline_destroy,
                                  .reload = fileline_reload,
                                  .fd = fileline_fd,
                                  .readable = fileline_readable,
                                  .peer_left = peer_left,
                                  .line_closed = fileline_line_closed,
                                  .names = fileline_names };
