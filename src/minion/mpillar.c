/* mpillar.c - see mpillar.h. */
#include "minion/mpillar.h"

#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "minion/jobserver.h"
#include "minion/mschedule.h"
#include "minion/pillar_local.h"
#include "salt/limits.h"
#include "salt/log.h"
#include "salt/value.h"

#define WAIT_MS   90000 /* for a master's answer; longer than it may compile */
#define KEPT_NAME "pillar.json"

/* One question under way. */
typedef struct question {
    struct question *next;
    json_int_t n;
    pid_t asker;  /* a child that waits; 0: none */
    json_t *body; /* owned: what was asked */
    bool keep;    /* the answer is this minion's pillar from then on */
    bool sent;    /* to `master` */
    bool offline; /* answered for want of one */
    int master;
    int64_t until_ms, again_ms; /* monotonic; again_ms: not sent before, 0: at once */
} question_t;

struct mpillar {
    json_t *known;
    question_t *open;
    json_int_t last_n;
    uint64_t ready; /* a bit per master */
};

mpillar_t *
mpillar_new(void)
{
    return xcalloc(1, sizeof(mpillar_t));
}

static void
s_question_free(question_t *q)
{
    json_decref(q->body);
    free(q);
}

void
mpillar_destroy(mpillar_t **self_p)
{
    mpillar_t *self = STEAL(*self_p);
    if (!self)
        return;
    while (self->open) {
        question_t *q = self->open;
        self->open = q->next;
        s_question_free(q);
    }
    json_decref(self->known);
    free(self);
}

json_t *
mpillar_known(const mpillar_t *self)
{
    return self->known;
}

/* ---- asking ---------------------------------------------------------------------------------- */

static int
s_first_ready(const mpillar_t *self)
{
    for (int i = 0; i < LIMIT_MASTERS; i++)
        if (self->ready >> i & 1)
            return i;
    return -1;
}

static void
s_send(jobserver_t *js, question_t *q)
{
    mpillar_t *self = js->pillar;
    if (q->master < 0 || !(self->ready >> q->master & 1))
        q->master = s_first_ready(self);
    if (q->sent || q->master < 0 || clock_mono_ms() < q->again_ms)
        return;
    q->sent = true;
    json_t *frame = json_pack("{s:s, s:i, s:O}", "t", "pillar_ask", "master", q->master, "body", q->body);
    jobserver_down(js, &frame);
}

static question_t *
s_new(jobserver_t *js, const job_proc_t *asker, json_t *ask, int timeout_ms)
{
    mpillar_t *self = js->pillar;
    question_t *q = xcalloc(1, sizeof(*q)), **end = &self->open;
    while (*end)
        end = &(*end)->next;
    *end = q;
    q->n = ++self->last_n;
    q->asker = asker ? asker->pid : 0;
    q->master = asker ? (int) value_int(asker->job, "master", -1) : -1;
    q->master = q->master < LIMIT_MASTERS ? q->master : -1;
    q->body = pillar_ask_complete(js->opts, ask);
    json_object_set_new(q->body, "n", json_integer(q->n));
    if (asker && value_get(asker->job, "jid"))
        json_object_set(q->body, "jid", value_get(asker->job, "jid"));
    q->until_ms = clock_mono_ms() + timeout_ms;
    return q;
}

static void
s_tell(jobserver_t *js, const question_t *q, json_t *value, const char *error)
{
    for (job_proc_t *p = js->jobs; p && q->asker != 0; p = p->next) {
        if (p->pid != q->asker)
            continue;
        json_t *answer = error ? json_pack("{s:b, s:s}", "ok", false, "error", error)
                               : json_pack("{s:b, s:O, s:b}", "ok", true, "value", value, "offline",
                                           q->offline);
        job_answer(p, &answer);
    }
}

static char *
s_file(const jobserver_t *js)
{
    return fs_join(value_str(js->opts, "cachedir", ""), "pillar/" KEPT_NAME);
}

/* It may hold secrets: to be kept on the disk it must be wanted. */
static void
s_keep(jobserver_t *js)
{
    fail_auto_t err = FAIL_INIT;
    AUTO_FREE char *path = s_file(js), *dir = xstrndup(path, strlen(path) - strlen("/" KEPT_NAME));
    if (!value_bool(js->opts, "minion_pillar_cache", false)) {
        (void) unlink(path);
        return;
    }
    AUTO_FREE char *text = value_dump(js->pillar->known);
    if (fs_own_dir(dir, 0700, &err) < 0 || fs_write_atomic(path, text, strlen(text), 0600, &err) < 0)
        log_error("minion_pillar_cache: %s", fail_text(&err));
}

void
mpillar_restore(jobserver_t *js)
{
    AUTO_FREE char *path = s_file(js);
    buf_auto_t text = BUF_INIT;
    if (!value_bool(js->opts, "minion_pillar_cache", false) || fs_read(path, LIMIT_WIRE_MSG, &text, NULL) < 0)
        return;
    fail_auto_t err = FAIL_INIT;
    js->pillar->known = value_parse(buf_str(&text), text.len, LIMIT_WIRE_MSG, path, &err);
    if (!js->pillar->known)
        log_error("minion_pillar_cache: %s", fail_text(&err));
}

/* Answers and forgets it. Without a pillar: `error` is why. */
static void
s_close(jobserver_t *js, question_t *q, json_t *pillar, const char *error)
{
    mpillar_t *self = js->pillar;
    for (question_t **at = &self->open; *at; at = &(*at)->next)
        if (*at == q) {
            *at = q->next;
            break;
        }
    if (q->keep && pillar) {
        json_decref(self->known);
        self->known = json_incref(pillar);
        s_keep(js);
        mschedule_pillar(js->schedule);
    } else if (q->keep) {
        log_error("the pillar of before stays: %s", error);
    }
    json_auto_t *done = json_boolean(error == NULL);
    s_tell(js, q, q->keep ? done : pillar, q->keep ? NULL : error);
    s_question_free(q);
}

void
mpillar_refresh(jobserver_t *js, const job_proc_t *asker, bool clean, int timeout_ms)
{
    if (pillar_is_local(js->opts)) {
        /* Each job compiles it anew. */
        question_t told = { .asker = asker ? asker->pid : 0 };
        json_auto_t *done = json_true();
        s_tell(js, &told, done, NULL);
        return;
    }
    if (!asker && s_first_ready(js->pillar) < 0)
        return; /* it is asked for when a master is there */
    json_auto_t *ask = clean ? json_pack("{s:b}", "clean", true) : json_object();
    json_object_set_new(ask, "keep", json_true());
    question_t *q = s_new(js, asker, ask, asker ? timeout_ms : WAIT_MS);
    q->keep = true;
    s_send(js, q);
}

void
mpillar_ask(jobserver_t *js, const job_proc_t *asker, json_t *ask)
{
    s_send(js, s_new(js, asker, ask, WAIT_MS));
    mpillar_tick(js, clock_mono_ms());
}

/* A master that has come back has forgotten what it was asked. */
void
mpillar_master(jobserver_t *js, int master, bool ready)
{
    mpillar_t *self = js->pillar;
    bool all = master < 0;
    if (master >= LIMIT_MASTERS)
        return;
    for (question_t *q = self->open; q; q = q->next)
        q->sent = q->sent && !all && q->master != master;
    if (!ready) {
        self->ready &= all ? 0 : ~(1ULL << master);
        return;
    }
    self->ready |= 1ULL << master;
    for (question_t *q = self->open; q; q = q->next)
        s_send(js, q);
    if (s_first_ready(self) == master)
        mpillar_refresh(js, NULL, false, WAIT_MS);
}

/* ---- answers --------------------------------------------------------------------------------- */

void
mpillar_answered(jobserver_t *js, json_t *frame)
{
    json_t *body = value_get(frame, "body"), *pillar = value_get(body, "pillar");
    json_int_t n = value_int(body, "n", 0), again = value_int(body, "again", 0);
    question_t *q = js->pillar->open;
    while (q && q->n != n)
        q = q->next;
    if (!q || q->master != (int) value_int(frame, "master", -1))
        return;
    if (again > 0) {
        q->sent = false;
        q->again_ms = clock_mono_ms() + (again < WAIT_MS ? again : WAIT_MS);
        return;
    }
    bool good = json_is_object(pillar);
    log_debug("The master's answer about the pillar is here: %s", good ? "a pillar" : "none");
    s_close(js, q, good ? pillar : NULL, good ? NULL : value_str(body, "error", "the master sent no pillar"));
}

/* Whether the pillar in memory is what was asked for. */
static bool
s_is_usual(const jobserver_t *js, const question_t *q)
{
    json_auto_t *usual = pillar_ask_complete(js->opts, NULL);
    return !value_get(q->body, "pillar") &&
           str_eq(value_str(q->body, "pillarenv", ""), value_str(usual, "pillarenv", ""));
}

/* For want of a master: what is known. */
static void
s_offline(jobserver_t *js, question_t *q)
{
    bool known = js->pillar->known && s_is_usual(js, q);
    q->offline = known;
    s_close(js, q, known ? js->pillar->known : NULL,
            known ? NULL : "no master is connected, and this pillar is not kept here");
}

void
mpillar_tick(jobserver_t *js, int64_t now_ms)
{
    bool offline = jobserver_is_offline(js);
    for (question_t *q = js->pillar->open, *next; q && offline; q = next) {
        next = q->next;
        if (!q->keep)
            s_offline(js, q);
    }
    for (question_t *q = js->pillar->open, *next; q; q = next) {
        next = q->next;
        if (now_ms >= q->until_ms)
            s_close(js, q, NULL,
                    q->sent ? "the master did not send a pillar in time"
                            : "no master is connected that could compile the pillar");
        else if (!q->sent && now_ms >= q->again_ms)
            s_send(js, q);
    }
}

int64_t
mpillar_next_ms(const jobserver_t *js)
{
    const mpillar_t *self = js->pillar;
    int64_t next = self->open ? jobserver_offline_ms(js) : 0;
    next = next > clock_mono_ms() ? next : 0;
    for (const question_t *q = self->open; q; q = q->next) {
        int64_t when = !q->sent && q->again_ms && s_first_ready(self) >= 0 ? q->again_ms : q->until_ms;
        next = next == 0 || when < next ? when : next;
    }
    return next;
}
