/* mpillar.c - the minion's pillar over time: requested from a master when it connects, when grains change and
 * when a job asks for a refresh; kept in memory for the jobs. Without a master each job compiles its own
 * (pillar_local.h).
 *
 * A request that `keep`s replaces the pillar in memory; any other is compiled for one job and only answered
 * to it. Requests to a master that restarts are sent again. When no master was connected for offline_after,
 * jobs get the pillar in memory, marked as offline.
 */
#include "minion/jobs/jobserver.h"

#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/local/client.h"
#include "minion/parts/pillar_local.h"
#include "salt/limits.h"
#include "salt/log.h"
#include "salt/value.h"

#define WAIT_MS   90000 /* for a master's answer: longer than it takes to compile at most */
#define KEPT_NAME "pillar.json"

/* An open request to a master. */
typedef struct question {
    struct question *next;
    json_int_t n;
    pid_t asker;  /* pid of the child that waits; 0: none */
    json_t *body; /* owned: the message's body */
    bool keep;    /* the answer becomes the pillar in memory */
    bool sent;    /* to `master` */
    bool offline; /* answered from memory, as no master is connected */
    int master;
    int64_t until_ms, again_ms; /* monotonic; again_ms: not to be sent before, 0: at once */
} question_t;

typedef struct mpillar {
    jobserver_t *js;
    question_t *open;
    json_int_t last_n;
    uint64_t ready; /* a bit per master */
    json_t *tops;   /* owned: the master's last answer about master_tops, for times without it */
} mpillar_t;

/* ---- asking ---------------------------------------------------------------------------------- */

/* The first connected master; -1: none. */
static int
mpillar_first_ready(const mpillar_t *self)
{
    for (int i = 0; i < LIMIT_MASTERS; i++)
        if (self->ready >> i & 1)
            return i;
    return -1;
}

/* Sends a request that is due: to its own master, else to the first connected one. */
static void
mpillar_send(const mpillar_t *self, question_t *q)
{
    if (q->master < 0 || !(self->ready >> q->master & 1))
        q->master = mpillar_first_ready(self);
    if (q->sent || q->master < 0 || clock_mono_ms() < q->again_ms)
        return;
    q->sent = true;
    json_t *frame = json_pack("{s:s, s:i, s:O}", "t", "pillar_ask", "master", q->master, "body", q->body);
    jobserver_down(self->js, &frame);
}

/* Opens a request. `asker`: the job that waits, NULL: none; its master is preferred. BORROWED until
 * closed. */
static question_t *
mpillar_new(mpillar_t *self, const job_proc_t *asker, json_t *ask, int timeout_ms)
{
    question_t *q = xcalloc(1, sizeof(*q)), **end = &self->open;
    while (*end)
        end = &(*end)->next;
    *end = q;
    q->n = ++self->last_n;
    q->asker = asker != NULL ? asker->pid : 0;
    q->master = asker != NULL ? (int) value_int(asker->job, "master", -1) : -1;
    q->master = q->master < LIMIT_MASTERS ? q->master : -1;
    q->body = pillar_ask_complete(self->js->opts, ask);
    json_object_set_new(q->body, "n", json_integer(q->n));
    if (asker != NULL && value_get(asker->job, "jid") != NULL)
        json_object_set(q->body, "jid", value_get(asker->job, "jid"));
    q->until_ms = clock_mono_ms() + timeout_ms;
    return q;
}

/* Answers the waiting child, if it still runs. `error` NULL: `value` is the answer. */
static void
mpillar_tell(jobserver_t *js, const question_t *q, json_t *value, const char *error)
{
    for (job_proc_t *p = js->jobs; p != NULL && q->asker != 0; p = p->next) {
        if (p->pid != q->asker)
            continue;
        json_t *answer = error != NULL ? json_pack("{s:b, s:s}", "ok", false, "error", error)
                                       : json_pack("{s:b, s:O, s:b}", "ok", true, "value", value, "offline",
                                                   q->offline);
        job_answer(p, &answer);
    }
}

static char *
mpillar_file(const jobserver_t *js)
{
    return fs_join(value_str(js->opts, "cachedir", ""), "pillar/" KEPT_NAME);
}

/* Writes the pillar to disk under minion_pillar_cache, else removes the file: a pillar may hold secrets. */
static void
mpillar_keep(jobserver_t *js)
{
    fail_auto_t err = FAIL_INIT;
    AUTO_FREE char *path = mpillar_file(js), *dir = xstrndup(path, strlen(path) - strlen("/" KEPT_NAME));
    if (!value_bool(js->opts, "minion_pillar_cache", false)) {
        (void) unlink(path);
        return;
    }
    AUTO_FREE char *text = value_dump(js->pillar);
    if (fs_own_dir(dir, 0700, &err) < 0 || fs_write_atomic(path, text, strlen(text), 0600, &err) < 0)
        log_error("minion_pillar_cache: %s", fail_text(&err));
}

/* Shows listeners of the minion's bus that a refresh has ended, as Salt does. */
static void
mpillar_refreshed(jobserver_t *js, bool complete)
{
    json_auto_t *data = json_pack("{s:b}", "complete", complete);
    EACH_PART(js, shown, MINION_PILLAR_REFRESHED, data);
}

/* The question is what master_tops says. */
static bool
mpillar_is_tops(const question_t *q)
{
    return value_bool(q->body, "tops", false);
}

/* Closes a request: stores and answers the pillar, or logs and answers `error`, then frees it. */
static void
mpillar_close(mpillar_t *self, question_t *q, json_t *pillar, const char *error)
{
    jobserver_t *js = self->js;
    for (question_t **at = &self->open; *at; at = &(*at)->next)
        if (*at == q) {
            *at = q->next;
            break;
        }
    if (q->keep && pillar != NULL) {
        json_decref(js->pillar);
        js->pillar = json_incref(pillar);
        mpillar_keep(js);
        EACH_PART(js, pillar_changed);
    } else if (q->keep) {
        log_error("the pillar of before stays: %s", error);
    }
    if (pillar != NULL && !q->offline && mpillar_is_tops(q)) {
        json_decref(self->tops);
        self->tops = json_incref(pillar);
    }
    json_auto_t *done = json_boolean(error == NULL);
    if (q->keep)
        mpillar_refreshed(js, error == NULL);
    mpillar_tell(js, q, q->keep ? done : pillar, q->keep ? NULL : error);
    json_decref(q->body);
    free(q);
}

/* Requests a new pillar in memory. `asker` (NULL: nobody waits) is answered when it has come or `timeout_ms`
 * has passed. On a masterless minion each job compiles its own anyway, so that is answered at once. */
static void
mpillar_refresh(mpillar_t *self, const job_proc_t *asker, bool clean, int timeout_ms)
{
    if (pillar_is_local(self->js->opts)) {
        /* Each job compiles it anew. */
        question_t told = { .asker = asker != NULL ? asker->pid : 0 };
        json_auto_t *done = json_true();
        mpillar_tell(self->js, &told, done, NULL);
        mpillar_refreshed(self->js, true);
        return;
    }
    if (asker == NULL && mpillar_first_ready(self) < 0)
        return; /* mpillar_master_up() requests it */
    json_auto_t *ask = clean ? json_pack("{s:b}", "clean", true) : json_object();
    json_object_set_new(ask, "keep", json_true());
    question_t *q = mpillar_new(self, asker, ask, asker != NULL ? timeout_ms : WAIT_MS);
    q->keep = true;
    mpillar_send(self, q);
}

static void
mpillar_grains_changed(void *part)
{
    mpillar_refresh(part, NULL, false, 0); /* top files and templates may depend on grains */
}

static void
mpillar_event(void *part, json_t *data)
{
    mpillar_refresh(part, NULL, value_bool(data, "clean_cache", false), 0);
}

/* {timeout: seconds, clean_cache} -> true when the new pillar came in time. */
static json_t *
mpillar_request_refresh(void *part, job_proc_t *asker, json_t *request, fail_t *err)
{
    json_int_t seconds = value_int(request, "timeout", 30);
    mpillar_refresh(part, asker, value_bool(request, "clean_cache", false),
                    seconds > 0 && seconds < 3600 ? (int) seconds * 1000 : 30000);
    return NULL;
}

/* Marks requests to a master as unsent: its new connection knows nothing of them. -1: all. */
static void
mpillar_forgotten(const mpillar_t *self, int master)
{
    for (question_t *q = self->open; q; q = q->next)
        q->sent = q->sent && master >= 0 && q->master != master;
}

static void
mpillar_master_up(void *part, int master)
{
    mpillar_t *self = part;
    if (master >= LIMIT_MASTERS)
        return;
    mpillar_forgotten(self, master);
    self->ready |= 1ULL << master;
    for (question_t *q = self->open; q; q = q->next)
        mpillar_send(self, q);
    if (mpillar_first_ready(self) == master)
        mpillar_refresh(self, NULL, false, WAIT_MS);
}

static void
mpillar_master_down(void *part, int master)
{
    mpillar_t *self = part;
    if (master >= LIMIT_MASTERS)
        return;
    mpillar_forgotten(self, master);
    self->ready &= master < 0 ? 0 : ~(1ULL << master);
}

/* ---- answers --------------------------------------------------------------------------------- */

/* Handles a master's answer: a pillar, an error, or `again`, the ms after which a busy master wants to be
 * asked again. */
static void
mpillar_answered(void *part, json_t *frame)
{
    mpillar_t *self = part;
    json_t *body = value_get(frame, "body"), *pillar = value_get(body, "pillar");
    json_int_t n = value_int(body, "n", 0), again = value_int(body, "again", 0);
    question_t *q = self->open;
    while (q != NULL && q->n != n)
        q = q->next;
    if (q == NULL || q->master != (int) value_int(frame, "master", -1))
        return;
    if (again > 0) {
        q->sent = false;
        q->again_ms = clock_mono_ms() + (again < WAIT_MS ? again : WAIT_MS);
        return;
    }
    bool good = json_is_object(pillar);
    log_debug("The master's answer about the pillar is here: %s", good ? "a pillar" : "none");
    mpillar_close(self, q, good ? pillar : NULL,
                  good ? NULL : value_str(body, "error", "the master sent no pillar"));
}

/* True when the pillar in memory is what was asked for: no other pillarenv, no pillar given as override. */
static bool
mpillar_is_usual(const jobserver_t *js, const question_t *q)
{
    json_auto_t *usual = pillar_ask_complete(js->opts, NULL);
    return value_get(q->body, "pillar") == NULL &&
           str_eq(value_str(q->body, "pillarenv", ""), value_str(usual, "pillarenv", ""));
}

static void
mpillar_tick(void *part, int64_t now_ms)
{
    mpillar_t *self = part;
    jobserver_t *js = self->js;
    bool offline = jobserver_is_offline(js);
    /* Offline: answer jobs from memory. */
    for (question_t *q = self->open, *next; q != NULL && offline; q = next) {
        next = q->next;
        if (q->keep)
            continue;
        json_auto_t *kept = json_incref(mpillar_is_tops(q) ? self->tops : js->pillar);
        q->offline = kept != NULL && (mpillar_is_tops(q) || mpillar_is_usual(js, q));
        mpillar_close(self, q, q->offline ? kept : NULL,
                      q->offline ? NULL
                                 : "no master is connected, and its answer of before is not kept here");
    }
    for (question_t *q = self->open, *next; q; q = next) {
        next = q->next;
        if (now_ms >= q->until_ms)
            mpillar_close(self, q, NULL,
                          q->sent ? "the master did not send a pillar in time"
                                  : "no master is connected that could compile the pillar");
        else if (!q->sent && now_ms >= q->again_ms)
            mpillar_send(self, q);
    }
}

static int64_t
mpillar_next_ms(void *part)
{
    const mpillar_t *self = part;
    int64_t next = self->open != NULL ? jobserver_offline_ms(self->js) : 0;
    next = next > clock_mono_ms() ? next : 0;
    for (const question_t *q = self->open; q; q = q->next) {
        bool again = !q->sent && q->again_ms && mpillar_first_ready(self) >= 0;
        next = part_sooner(next, again ? q->again_ms : q->until_ms);
    }
    return next;
}

/* {ask} as ctx_compile_pillar's -> the pillar compiled for it, in common/py/py_wire.h's form. */
static json_t *
mpillar_request(void *part, job_proc_t *asker, json_t *request, fail_t *err)
{
    mpillar_t *self = part;
    mpillar_send(self, mpillar_new(self, asker, value_get(request, "ask"), WAIT_MS));
    mpillar_tick(self, clock_mono_ms());
    return NULL;
}

/* ---- life ------------------------------------------------------------------------------------ */

/* Reads the pillar kept under minion_pillar_cache, so that jobs have one before a master answers. */
static void *
mpillar_start(jobserver_t *js, fail_t *err)
{
    mpillar_t *self = xcalloc(1, sizeof(*self));
    AUTO_FREE char *path = mpillar_file(js);
    buf_auto_t text = BUF_INIT;
    self->js = js;
    if (!value_bool(js->opts, "minion_pillar_cache", false) || fs_read(path, LIMIT_WIRE_MSG, &text, NULL) < 0)
        return self;
    fail_auto_t why = FAIL_INIT;
    js->pillar = value_parse(buf_str(&text), text.len, LIMIT_WIRE_MSG, path, &why);
    if (js->pillar == NULL)
        log_error("minion_pillar_cache: %s", fail_text(&why));
    return self;
}

static void
mpillar_destroy(void *part)
{
    mpillar_t *self = part;
    while (self->open != NULL) {
        question_t *q = self->open;
        self->open = q->next;
        json_decref(q->body);
        free(q);
    }
    json_decref(self->tops);
    free(self);
}

static const part_message_t messages[] = { { "pillar", mpillar_answered }, { 0 } };
static const part_request_t requests[] = {
    { "refresh_pillar", mpillar_request_refresh, NULL },
    { "pillar", mpillar_request, NULL },
    { 0 },
};
static const part_event_t events[] = { { "pillar_refresh", mpillar_event }, { 0 } };

const minion_part_t minion_part_pillar = {
    .name = "pillar",
    .start = mpillar_start,
    .destroy = mpillar_destroy,
    .tick = mpillar_tick,
    .next_ms = mpillar_next_ms,
    .master_up = mpillar_master_up,
    .master_down = mpillar_master_down,
    .grains_changed = mpillar_grains_changed,
    .messages = messages,
    .requests = requests,
    .events = events,
};
