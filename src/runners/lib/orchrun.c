/* orchrun.c - see orchrun.h. The journal row of a step is written when it begins and when it ends; steps that
 * can't be followed after a crash wait for the write. Steps run in several threads: `lock` guards their
 * entries. The journal is written by the run's own thread; what steps tell meanwhile goes over each thread's
 * own line to the master. */
#include "runners/lib/orchrun.h"

#include <pthread.h>

#include "common/base/clock.h"
#include "common/base/digest.h"
#include "common/base/map.h"
#include "common/base/str.h"
#include "salt/log.h"
#include "salt/state.h"

enum { TAG_MAX = 512, AT_EVERY_MS = 250, FAILURES_MAX = 10, PLAN_TOLD_MAX = 1000, COMMENT_TOLD_MAX = 1000 };

/* A step as the journal has it. */
typedef struct step {
    int64_t go, begin_us, end_us;
    json_t *ret; /* owned: of the last go that ended */
    uint64_t seq;
    unsigned parts;   /* named in this go */
    size_t done, of;  /* its minions, as told last; 0 of 0: of none */
    int64_t told_ms;  /* when its progress was told last */
    bool begun, open; /* in this process; and its end is still to be written */
    bool secret;      /* its changes are left out of the journal */
} step_t;

struct orchrun {
    master_api_t *api;
    char *run;
    pthread_mutex_t lock; /* for the steps */
    map_t *steps;         /* by tag: step_t */
    map_t *before;        /* tags of steps that `from` leaves out */
    bool anew;            /* from `from` on everything runs, whatever the journal says */
    bool rerun_unsure;
    bool claimed;
    json_t *stop; /* owned: {chunk, user, time} of a soft_kill; NULL: none */
};

/* Runs under way in this process: one go at a time. */
static pthread_mutex_t claims_lock = PTHREAD_MUTEX_INITIALIZER;
static map_t *claims;
static const char kept_key;

bool
orchrun_under_way(const char *run)
{
    (void) pthread_mutex_lock(&claims_lock);
    bool is = claims != NULL && map_get(claims, run) != NULL;
    (void) pthread_mutex_unlock(&claims_lock);
    return is;
}

/* ---- life ---------------------------------------------------------------------------------- */

static void
free_step(void *p)
{
    step_t *step = p;

    json_decref(step->ret);
    free(step);
}

static orchrun_t *
orchrun_make(master_api_t *api, const char *run, const orchrun_ask_t *ask, fail_t *err)
{
    orchrun_t *self = xcalloc(1, sizeof(*self));

    self->api = api;
    self->run = xstrdup(run);
    self->rerun_unsure = ask->rerun_unsure;
    (void) pthread_mutex_init(&self->lock, NULL);
    self->steps = map_new(free_step);
    self->before = map_new(NULL);

    /* Reserves a run within this process; false when another thread has it. Runs of other masters are not
     * considered: one master owns a journal. */
    (void) pthread_mutex_lock(&claims_lock);
    if (claims == NULL)
        claims = map_new(NULL);
    bool free_yet = map_get(claims, run) == NULL;
    if (free_yet)
        map_set(claims, run, &claims);
    (void) pthread_mutex_unlock(&claims_lock);
    self->claimed = free_yet;

    if (self->claimed)
        return self;
    (void) fail_kind(err, FAIL_COMMAND, -EBUSY, "The orchestration %s is under way", run);
    orchrun_destroy(&self);
    return NULL;
}

void
orchrun_destroy(orchrun_t **self_p)
{
    orchrun_t *self = STEAL(*self_p);

    if (self == NULL)
        return;
    if (self->claimed) {
        /* The map goes with its last entry, so that leak checkers stay quiet at exit. */
        (void) pthread_mutex_lock(&claims_lock);
        (void) map_take(claims, self->run);
        if (map_len(claims) == 0)
            map_destroy(&claims);
        (void) pthread_mutex_unlock(&claims_lock);
    }
    map_destroy(&self->steps);
    map_destroy(&self->before);
    json_decref(self->stop);
    (void) pthread_mutex_destroy(&self->lock);
    free(self->run);
    free(self);
}

/* A step is named by its ID or by its tag. */
static bool
is_named(const json_t *chunk, const char *name)
{
    AUTO_FREE char *tag = state_tag(chunk);

    return str_eq(value_str(chunk, "__id__", NULL), name) || str_eq(tag, name);
}

/* `from`: what stands before it in the plan is left out. */
static int
orchrun_leave_out(orchrun_t *self, const json_t *chunks, const json_t *from, fail_t *err)
{
    const char *name = json_string_value(from);
    size_t n = json_array_size(chunks), at = 0;

    if (from == NULL)
        return 0;
    while (at < n && name != NULL && !is_named(json_array_get(chunks, at), name))
        at++;
    if (name == NULL || at == n) {
        AUTO_FREE char *shown = value_repr(from);
        return fail_kind(err, FAIL_INVOCATION, -ENOENT, "from=%s: the plan has no step with this ID", shown);
    }
    for (size_t i = 0; i < at; i++) {
        AUTO_FREE char *tag = state_tag(json_array_get(chunks, i));
        map_set(self->before, tag, self);
    }
    return 0;
}

/* Notifies the runner's followers. TAKES `more`. */
static void
orchrun_tell(master_api_t *api, const json_t *chunk, const char *phase, json_t *more)
{
    fail_auto_t err = FAIL_INIT;
    json_auto_t *reply = NULL;
    AUTO_FREE char *tag = chunk != NULL ? state_tag(chunk) : xstrdup("");
    json_t *request = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s}", "op", "progress", "jid", api_run(api),
                                "tag", tag, "phase", phase, "id", value_str(chunk, "__id__", "?"), "state",
                                value_str(chunk, "state", ""), "fun", value_str(chunk, "fun", ""));

    json_object_update(request, more);
    json_decref(more);
    if (api_request(api, &request, &reply, &err) < 0)
        log_debug("progress: %s", fail_text(&err));
}

/* Tells followers which steps there are. */
static void
orchrun_tell_plan(const orchrun_t *self, const json_t *chunks)
{
    json_t *steps = json_array(), *chunk;
    size_t i, n = json_array_size(chunks);

    json_array_foreach ((json_t *) chunks, i, chunk) {
        if (i == PLAN_TOLD_MAX)
            break;
        AUTO_FREE char *tag = state_tag(chunk);
        json_array_append_new(
            steps, json_pack("{s:s, s:s, s:s, s:s}", "tag", tag, "id", value_str(chunk, "__id__", "?"),
                             "state", value_str(chunk, "state", ""), "fun", value_str(chunk, "fun", "")));
    }
    orchrun_tell(self->api, NULL, "plan",
                 json_pack("{s:s, s:o, s:I}", "run", self->run, "steps", steps, "more",
                           (json_int_t) (n > PLAN_TOLD_MAX ? n - PLAN_TOLD_MAX : 0)));
}

/* Begins a journal: the run's row with its plan. NULL with *err for an unknown `from` or a run under way. */
orchrun_t *
orchrun_new(master_api_t *api, const char *run, json_t *chunks, const orchrun_ask_t *ask, fail_t *err)
{
    orchrun_t *self = orchrun_make(api, run, ask, err);

    if (self == NULL)
        return NULL;
    json_auto_t *row = json_pack("{s:s, s:s, s:O, s:O, s:I}", "what", "run", "run", run, "doc", ask->doc,
                                 "plan", chunks, "start_us", (json_int_t) clock_wall_us());
    if (orchrun_leave_out(self, chunks, ask->from, err) < 0 || api_journal(api, row, false, err) < 0)
        orchrun_destroy(&self);
    else
        orchrun_tell_plan(self, chunks);
    return self;
}

/* The plan comes from the journal, not from the SLS files, which may have changed since. With `from` all
 * steps from there on run again. */
orchrun_t *
orchrun_resume(master_api_t *api, const char *run, const orchrun_ask_t *ask, json_t **ret_doc,
               json_t **ret_chunks, fail_t *err)
{
    /* This process owns the journal from now on; nothing else writes what is read next. */
    orchrun_t *self = orchrun_make(api, run, ask, err);
    json_auto_t *found = self != NULL ? api_run_row(api, run, err) : NULL;
    json_auto_t *rows = found != NULL ? api_steps(api, run, err) : NULL;
    json_t *plan = value_get(found, "plan"), *row;
    const json_t *from = ask->from != NULL ? ask->from : value_get(found, "from");
    size_t i;

    if (rows != NULL && !json_is_array(plan))
        (void) fail_kind(
            err, FAIL_INVOCATION, -ENOENT,
            "There is no orchestration %s in the journal; salt-run orchestrate.list shows those there are",
            run);
    if (rows == NULL || !json_is_array(plan) || orchrun_leave_out(self, plan, from, err) < 0) {
        orchrun_destroy(&self);
        return NULL;
    }
    self->anew = ask->from != NULL;
    json_array_foreach (rows, i, row) {
        /* Keeps the newest go of each step; older ones only count. */
        const char *tag = value_str(row, "tag", "");
        step_t *step = xcalloc(1, sizeof(*step));
        step->go = value_int(row, "go", 1);
        step->begin_us = value_int(row, "begin_us", 0);
        step->end_us = value_int(row, "end_us", 0);
        step->seq = (uint64_t) value_int(row, "seq", 0);
        step->ret = json_incref(value_get(row, "ret"));
        const step_t *other = map_get(self->steps, tag);
        if (other == NULL || other->go < step->go)
            map_set(self->steps, tag, step);
        else
            free_step(step);
    }
    orchrun_tell_plan(self, plan);
    *ret_chunks = json_incref(plan);
    *ret_doc = json_incref(found);
    return self;
}

/* Clears the end of the run, so that it counts as unfinished until it ends again. */
int
orchrun_reopen(orchrun_t *self, fail_t *err)
{
    json_auto_t *row = json_pack("{s:s, s:s, s:n, s:i}", "what", "end", "run", self->run, "result", "end_us",
                                 0);

    return api_journal(self->api, row, false, err);
}

const char *
orchrun_name(const orchrun_t *self)
{
    return self->run;
}

/* Writes the result unless the master is ending: a run that fails only because its master stops stays
 * unfinished and can be resumed. */
void
orchrun_end(orchrun_t *self, const json_t *running, bool success)
{
    fail_auto_t err = FAIL_INIT;
    json_t *result = json_pack("{s:b, s:{}}", "success", success, "steps"), *ret;
    const char *tag;

    json_object_foreach ((json_t *) running, tag, ret)
        json_object_set_new(value_get(result, "steps"), tag,
                            json_pack("{s:O?, s:O?}", "result", value_get(ret, "result"), "comment",
                                      value_get(ret, "comment")));
    if (self->stop != NULL)
        json_object_set_new(result, "stopped",
                            json_pack("{s:O?, s:O?, s:O?}", "By", value_get(self->stop, "user"), "At",
                                      value_get(self->stop, "time"), "Before",
                                      value_get(value_get(self->stop, "chunk"), "__id__")));
    json_auto_t *row = json_pack("{s:s, s:s, s:o, s:I}", "what", "end", "run", self->run, "result", result,
                                 "end_us", (json_int_t) clock_wall_us());
    if (!success && !api_alive(self->api))
        return;
    /* Writes the end into the list of runs before followers are notified of it. */
    if (api_journal(self->api, row, true, &err) < 0)
        log_error("orchestration %s: %s", self->run, fail_text(&err));
    /* The operator's summary at the end: {ID: comment} of steps that failed by themselves. */
    json_t *out = json_object(), *one;
    const char *state;

    json_object_foreach ((json_t *) running, state, one) {
        const char *comment = value_str(one, "comment", "");
        if (json_is_false(value_get(one, "result")) && !str_starts(comment, "One or more requisite failed") &&
            json_object_size(out) < FAILURES_MAX)
            json_object_set_new(out, value_str(one, "__id__", state), json_string(comment));
    }
    orchrun_tell(self->api, NULL, "over",
                 json_pack("{s:s, s:b, s:o}", "run", self->run, "success", success, "failed", out));
}

/* ---- telling ------------------------------------------------------------------------------- */

/* Notifies followers of a step's progress, at most every AT_EVERY_MS. */
void
orchrun_at(call_ctx_t *ctx, size_t done, size_t of)
{
    orchrun_t *self = orchrun_of(ctx);
    AUTO_FREE char *tag = state_tag(ctx_chunk(ctx));
    int64_t now = clock_mono_ms();

    if (self == NULL)
        return;
    (void) pthread_mutex_lock(&self->lock);
    step_t *step = map_get(self->steps, tag);
    bool due = step != NULL && now - step->told_ms >= AT_EVERY_MS;
    if (due)
        step->told_ms = now;
    if (step != NULL) {
        step->done = done;
        step->of = of;
    }
    (void) pthread_mutex_unlock(&self->lock);
    if (due)
        orchrun_tell(api_of(ctx), ctx_chunk(ctx), "at",
                     json_pack("{s:I, s:I}", "done", (json_int_t) done, "of", (json_int_t) of));
}

/* ---- steps begin and end ------------------------------------------------------------------- */

/* A step's return as the journal has it. NEW. */
static json_t *
orchrun_shown(const step_t *step, const json_t *ret)
{
    json_t *out = json_copy((json_t *) ret);

    if (step->secret)
        json_object_set_new(out, "changes", json_pack("{s:s}", "return", "VALUE_TRIMMED"));
    return out;
}

/* Writes the step's row. `wait` returns after the row is on disk. */
static int
write_step(orchrun_t *self, const char *tag, const step_t *step, const json_t *ret, bool wait, fail_t *err)
{
    json_t *doc = json_pack("{s:I}", "seq", (json_int_t) step->seq);

    if (ret != NULL)
        json_object_set_new(doc, "ret", orchrun_shown(step, ret));
    json_auto_t *row = json_pack("{s:s, s:s, s:s, s:I, s:I, s:I, s:o}", "what", "step", "run", self->run,
                                 "tag", tag, "go", (json_int_t) step->go, "begin_us",
                                 (json_int_t) step->begin_us, "end_us", (json_int_t) step->end_us, "doc",
                                 doc);
    return api_journal(self->api, row, wait, err);
}

/* NEW return of a step that is not called. */
static json_t *
instead(const json_t *chunk, bool result, const char *comment)
{
    return json_pack("{s:O?, s:{}, s:b, s:s, s:O?, s:O?, s:f}", "name", value_get(chunk, "name"), "changes",
                     "result", result, "comment", comment, "__sls__", value_get(chunk, "__sls__"), "__id__",
                     value_get(chunk, "__id__"), "duration", 0.0);
}

/* Remembers the first step that a soft_kill kept from running, and who asked for it. */
void
orchrun_stopped(void *cookie, const json_t *chunk, const json_t *said)
{
    orchrun_t *self = cookie;

    if (self->stop == NULL)
        self->stop = json_pack("{s:O, s:O*, s:O*}", "chunk", chunk, "user", value_get(said, "user"), "time",
                               value_get(said, "time"));
}

void
orchrun_add_stop(orchrun_t *self, json_t *running)
{
    const json_t *chunk = value_get(self->stop, "chunk");

    if (chunk == NULL)
        return;
    AUTO_FREE char *tag = state_tag(chunk);
    AUTO_FREE char *text = xasprintf("%s ended the run before this step by state.soft_kill, at %s. To go on "
                                     "with it: salt-run state.orchestrate resume=%s",
                                     value_str(self->stop, "user", "Somebody"),
                                     value_str(self->stop, "time", "an unknown time"), self->run);
    json_t *ret = instead(chunk, false, text);

    json_object_set_new(ret, "__run_num__", json_integer((json_int_t) json_object_size(running)));
    json_object_set_new(running, tag, ret);
}

/* True for steps that can be repeated after a crash: their jobs have names to follow, or they only wait. */
static bool
is_followed(const json_t *chunk)
{
    return str_eq(value_str(chunk, "state", ""), "salt");
}

/* NEW. */
static char *
unsure_text(const orchrun_t *self)
{
    return xasprintf(
        "The master ended while it did this step; whether it was done is not known, so it is not done again. "
        "To leave it as it is and go on behind it: resume=%s from=STEP. To do it again: resume=%s "
        "unsure=rerun",
        self->run, self->run);
}

/* The number of the last event, for steps that wait for some. */
static uint64_t
last_event(orchrun_t *self, const json_t *chunk)
{
    fail_auto_t err = FAIL_INIT;
    json_auto_t *reply = NULL;
    json_t *request = json_pack("{s:s}", "op", "status");

    if (!str_eq(value_str(chunk, "fun", ""), "wait_for_event")) {
        json_decref(request);
        return 0;
    }
    return api_request(self->api, &request, &reply, &err) == 0 ? (uint64_t) value_int(reply, "seq", 0) : 0;
}

/* With the lock held. What becomes of a step that the journal may have: NEW return, or NULL to call it. */
static json_t *
orchrun_decide(orchrun_t *self, const char *tag, const json_t *chunk)
{
    step_t *step = map_get(self->steps, tag);
    bool done = step != NULL && step->end_us != 0 && !step->begun &&
                !json_is_false(value_get(step->ret, "result"));

    if (map_get(self->before, tag) != NULL)
        return done ? json_deep_copy(step->ret)
                    : instead(chunk, true, "Not run: the run goes on behind this step (from)");
    /* A step that handles a failure is evaluated anew, because the failed step runs again. */
    if (done && !self->anew &&
        !(value_get(chunk, "onfail") != NULL || value_get(chunk, "onfail_any") != NULL ||
          value_get(chunk, "onfail_all") != NULL))
        return json_deep_copy(step->ret);
    if (step == NULL) {
        step = xcalloc(1, sizeof(*step));
        map_set(self->steps, tag, step);
    } else if (step->end_us == 0 && !step->begun) {
        step->begun = true;
        if (is_followed(chunk)) {
            step->open = true;
            return NULL;
        }
        if (!self->rerun_unsure) {
            /* The failed return of a step whose outcome a crash hid. */
            AUTO_FREE char *text = unsure_text(self);
            return instead(chunk, false, text);
        }
    }

    /* Another go at the step. */
    fail_auto_t err = FAIL_INIT;
    step->go++;
    step->begin_us = clock_wall_us();
    step->end_us = 0;
    step->seq = last_event(self, chunk);
    step->begun = step->open = true;
    if (write_step(self, tag, step, NULL, !is_followed(chunk), &err) == 0)
        return NULL;
    step->open = false;
    return instead(chunk, false, fail_text(&err));
}

/* Called before each step: NEW return to use instead of calling it, or NULL to call it. */
json_t *
orchrun_begins(void *cookie, const json_t *chunk)
{
    orchrun_t *self = cookie;
    AUTO_FREE char *tag = state_tag(chunk);

    (void) pthread_mutex_lock(&self->lock);
    json_t *had = orchrun_decide(self, tag, chunk);
    (void) pthread_mutex_unlock(&self->lock);
    if (had == NULL)
        orchrun_tell(self->api, chunk, "begin", json_object());
    return had;
}

/* The beginning of a comment. NEW. */
static json_t *
short_comment(const json_t *ret)
{
    const char *text = value_str(ret, "comment", "");
    size_t len = strlen(text);

    return value_utf8(text, len < COMMENT_TOLD_MAX ? len : COMMENT_TOLD_MAX);
}

/* Called after each step that was called; writes its return. */
void
orchrun_ended(void *cookie, const json_t *chunk, const json_t *ret)
{
    orchrun_t *self = cookie;
    fail_auto_t err = FAIL_INIT;
    AUTO_FREE char *tag = state_tag(chunk);
    step_t *step = map_get(self->steps, tag);
    bool failed = json_is_false(value_get(ret, "result"));

    if (step == NULL || !step->open) {
        orchrun_tell(self->api, chunk, "end",
                     json_pack("{s:O?, s:b, s:b}", "result", value_get(ret, "result"), "ran", false, "kept",
                               step != NULL && step->end_us != 0));
        return;
    }
    /* A master that ends makes everything fail that asks it. That is not a failure of the step. */
    if (failed && !api_alive(self->api))
        return;
    (void) pthread_mutex_lock(&self->lock);
    step->open = false;
    step->end_us = clock_wall_us();
    int rc = write_step(self, tag, step, ret, !is_followed(chunk), &err);
    (void) pthread_mutex_unlock(&self->lock);
    if (rc < 0)
        log_error("orchestration %s, step %s: %s", self->run, tag, fail_text(&err));
    json_t *more = json_pack("{s:O?, s:I, s:I}", "result", value_get(ret, "result"), "done",
                             (json_int_t) step->done, "of", (json_int_t) step->of);
    if (failed)
        json_object_set_new(more, "comment", short_comment(ret));
    orchrun_tell(self->api, chunk, "end", more);
}

/* ---- for the functions of steps ------------------------------------------------------------ */

/* The run outlives its contexts. */
static void
orchrun_leave(void *self)
{
}

/* Attaches the run to a context, so that functions of steps find it by orchrun_of(). */
void
orchrun_dress(void *self, call_ctx_t *ctx)
{
    call_attach(ctx, &kept_key, self, orchrun_leave);
}

orchrun_t *
orchrun_of(call_ctx_t *ctx)
{
    return call_attached(ctx, &kept_key);
}

/* A tag of any length as part of a note. NEW. */
static char *
orchrun_short_tag(const char *tag)
{
    return strlen(tag) <= TAG_MAX ? xstrdup(tag) : digest_bytes("sha256", tag, strlen(tag), NULL);
}

char *
orchrun_part_of(const char *tag)
{
    AUTO_FREE char *name = orchrun_short_tag(tag);

    return xasprintf("%s/", name);
}

/* Identifies the next job of this step for the store: {kind, ref, part}, where part is TAG/GO.N. A resumed
 * run makes the same notes in the same order and so finds its jobs. NEW, or NULL outside of a run. */
json_t *
orchrun_note(call_ctx_t *ctx)
{
    orchrun_t *self = orchrun_of(ctx);
    AUTO_FREE char *tag = state_tag(ctx_chunk(ctx));

    if (self == NULL)
        return NULL;
    (void) pthread_mutex_lock(&self->lock);
    step_t *step = map_get(self->steps, tag);
    unsigned n = step != NULL ? ++step->parts : 0;
    int64_t go = step != NULL ? step->go : 0;
    (void) pthread_mutex_unlock(&self->lock);
    if (step == NULL)
        return NULL;
    AUTO_FREE char *name = orchrun_short_tag(tag);
    return json_pack("{s:s, s:s, s:o}", "kind", "orch", "ref", self->run, "part",
                     value_fmt("%s/%lld.%u", name, (long long) go, n));
}

/* Change the step that asks, which other threads look at; none outside of an orchestration. */
static void
change_step(call_ctx_t *ctx, void (*change)(step_t *step))
{
    orchrun_t *self = orchrun_of(ctx);
    AUTO_FREE char *tag = state_tag(ctx_chunk(ctx));

    if (self == NULL)
        return;
    (void) pthread_mutex_lock(&self->lock);
    step_t *step = map_get(self->steps, tag);
    if (step != NULL)
        change(step);
    (void) pthread_mutex_unlock(&self->lock);
}

static void
take_part_back(step_t *step)
{
    step->parts -= step->parts > 0;
}

void
orchrun_unnote(call_ctx_t *ctx)
{
    change_step(ctx, take_part_back);
}

static void
make_secret(step_t *step)
{
    step->secret = true;
}

void
orchrun_hush(call_ctx_t *ctx)
{
    change_step(ctx, make_secret);
}

uint64_t
orchrun_since(call_ctx_t *ctx)
{
    orchrun_t *self = orchrun_of(ctx);
    AUTO_FREE char *tag = state_tag(ctx_chunk(ctx));

    if (self == NULL)
        return 0;
    (void) pthread_mutex_lock(&self->lock);
    step_t *step = map_get(self->steps, tag);
    uint64_t seq = step != NULL ? step->seq : 0;
    (void) pthread_mutex_unlock(&self->lock);
    return seq;
}

bool
orchrun_reruns(call_ctx_t *ctx)
{
    const orchrun_t *self = orchrun_of(ctx);

    return self != NULL && self->rerun_unsure;
}

char *
orchrun_unsure(call_ctx_t *ctx)
{
    orchrun_t *self = orchrun_of(ctx);
    AUTO_FREE char *tag = state_tag(ctx_chunk(ctx));

    if (self == NULL)
        return xstrdup("The master ended while it did this");
    (void) pthread_mutex_lock(&self->lock);
    step_t *step = map_get(self->steps, tag);
    if (step != NULL)
        step->open = false;
    (void) pthread_mutex_unlock(&self->lock);
    return unsure_text(self);
}
