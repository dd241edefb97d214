/* catchup.c - replay a job's stored returns to a follower in pieces, then its verdicts and its end. Each
 * connection has a queue of jobs; the cursor of a job is the last minion id that was sent. The local
 * connection calls catchup_fill whenever its output queue is empty, so memory stays bounded by PIECE and one
 * return. */
#include "master/jobs/catchup.h"

#include "common/base/str.h"
#include "common/local/client.h"
#include "master/jobs/ret.h"
#include "master/jobs/verdict.h"
#include "salt/log.h"
#include "salt/value.h"

#define PIECE (256 * 1024) /* bytes; a piece ends with the return that reaches this */

struct catchup {
    catchup_t *next;
    char *jid;
    char *after; /* cursor: the last id that was sent; "" before the first */
};

void
catchup_add(catchup_t **self_p, const char *jid)
{
    while (*self_p)
        self_p = &(*self_p)->next;
    *self_p = xcalloc(1, sizeof(**self_p));
    (*self_p)->jid = xstrdup(jid);
    (*self_p)->after = xstrdup("");
}

static void
drop_first(catchup_t **self_p)
{
    catchup_t *self = *self_p;
    *self_p = self->next;
    free(self->jid);
    free(self->after);
    free(self);
}

void
catchup_destroy(catchup_t **self_p)
{
    while (*self_p)
        drop_first(self_p);
}

bool
catchup_waits(const catchup_t *self, const char *jid)
{
    while (self != NULL && !str_eq(self->jid, jid))
        self = self->next;
    return self != NULL;
}

static void
add_frame(buf_t *out, json_t *msg)
{
    json_auto_t *own = msg;
    if (own != NULL)
        frame_add(out, own);
}

typedef struct piece {
    catchup_t *job;
    buf_t *out;
    bool full;
} piece_t;

/* store_return_fn: take one return and move the cursor; stop when the piece is full. */
static bool
catchup_take(void *cookie, const char *id, const char *text, size_t len)
{
    piece_t *piece = cookie;

    /* A return in its plain form goes from the store to the connection as text, without building values. */
    buf_t *out = piece->out;
    ret_t ret;
    buf_auto_t push = BUF_INIT;
    if (ret_begin(&ret, text, len, NULL) == 0)
        ret_add_push(&ret, id, &push);
    ret_end(&ret);
    if (push.len > 0) {
        frame_add_text(out, push.data, push.len);
    } else {
        /* A row that ret_begin rejects is not a minion's message, such as a runner's return: merge the stored
         * document into the push as it is. The fields of the push win over those of the document. */
        json_auto_t *doc = value_parse(text, len, LIMIT_LOCAL_MSG, "store", NULL);
        json_t *msg = json_pack("{s:s, s:s, s:s}", "push", "ret", "jid", piece->job->jid, "id", id);
        (void) json_object_update_missing(msg, doc);
        add_frame(out, msg);
    }

    free(piece->job->after);
    piece->job->after = xstrdup(id);
    piece->full = piece->out->len >= PIECE;
    return !piece->full;
}

/* A read error ends the job's replay as if it were complete: the follower gets the verdicts and the end
 * rather than waiting for ever. */
void
catchup_fill(catchup_t **self_p, front_t *front, buf_t *out)
{
    fail_auto_t err = FAIL_INIT;
    piece_t piece = { .job = *self_p, .out = out };
    if (store_returns_each(front->reader, piece.job->jid, piece.job->after, catchup_take, &piece, &err) < 0)
        log_error("job %s: not all of its returns can be told: %s", piece.job->jid, fail_text(&err));
    if (piece.full)
        return;

    /* The job is still in the table: send the verdicts so far, and the end only when no target is open. A
     * job that left the table has ended. */
    const char *jid = piece.job->jid;
    job_t *job = jobs_get(front->jobs, jid);
    for (size_t i = 0; job != NULL && i < job->n_targets; i++)
        add_frame(out, verdict_push(front, job, &job->targets[i]));
    if (job == NULL || job->n_open == 0)
        add_frame(out, json_pack("{s:s, s:s}", "push", "done", "jid", jid));

    drop_first(self_p);
}
