/* follow.c - see follow.h. */
#include "follower/follow.h"

#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/local/client.h"
#include "common/plugin/returning.h"
#include "common/py/py_error.h"
#include "salt/limits.h"
#include "salt/log.h"

#define BATCH_MAX  500               /* events in one batch, unless event_return_queue wants more, */
#define BATCH_SIZE (8 * 1024 * 1024) /* and bytes: servers bound a request, and each batch has one deadline */
#define IDLE_MS    1000              /* the file follows as fast, */
#define QUIET_MS   60000 /* and nothing is looked at for so long when it says all and nothing comes */
#define FAILED_MS  500   /* before a batch is given again: doubled each time, */
#define FAILED_MAX 30000 /* up to this */
#define CONNECT_MS 1000

typedef struct follow {
    call_ctx_t *ctx;
    const follow_spec_t *spec;
    char *dir; /* owned: of the follower's files */
    local_client_t *line;
    json_t *writes;   /* owned: the batch, */
    size_t weight;    /* and its bytes, about */
    json_t *load;     /* owned: of the last return (writes_of); NULL: none */
    uint64_t after;   /* last event that is stored */
    uint64_t reached; /* last event that was looked at */
    uint64_t told;    /* as of which the file is */
    bool none;        /* nothing was ever stored: `after` is where it begins */
    bool batch;       /* the returner takes batches */
    bool keeps;       /* the target keeps the cursor */
    bool singly;      /* it takes events one by one */
    int64_t first_ms; /* when the batch began */
    int64_t told_ms;
} follow_t;

/* ---- the target --------------------------------------------------------------------------------------- */

static int
follow_call(follow_t *self, const char *fun, json_t *args, json_t **ret_value, fail_t *err)
{
    const py_limits_t limits = { .deadline_ms = clock_mono_ms() + LIMIT_RETURNER_MS };
    py_scope_t scope;

    py_scope_enter(&scope, &limits);
    int rc = returning_call(self->ctx, self->spec->returner, fun, args, ret_value, err);
    py_scope_leave(&scope);
    return rc;
}

/* Gives the batch at once, with the cursor. */
static int
give_batch(follow_t *self, fail_t *err)
{
    json_t *after = self->none ? json_null() : json_integer((json_int_t) self->after);
    json_auto_t *args = json_pack("[s, o, I, O]", self->spec->name, after, (json_int_t) self->reached,
                                  self->writes);

    return follow_call(self, "batch", args, NULL, err);
}

/* The first write of the batch is over: the next one begins after it. */
static void
write_done(follow_t *self)
{
    self->after = (uint64_t) value_int(json_array_get(self->writes, 0), "seq", 0);
    self->none = false;
    json_array_remove(self->writes, 0);
}

/* Calls the functions of Salt's interface; writes that are stored leave the batch. Events go one by one where
 * that costs little: of several in one call nobody knows how many were stored before it failed, and those
 * would come twice. */
static int
give_apart(follow_t *self, fail_t *err)
{
    json_t *events = json_array(), *write;
    size_t i;

    json_array_foreach (self->writes, i, write) {
        if (value_get(write, "event") != NULL && !self->singly)
            json_array_append(events, value_get(write, "event"));
    }
    json_auto_t *args = json_pack("[o]", events);
    if (json_array_size(events) > 0)
        return follow_call(self, "event_return", args, NULL, err);
    while (json_array_size(self->writes) > 0) {
        write = json_array_get(self->writes, 0);
        /* Salt's interface has a function per kind of write: event_return, returner, save_load. */
        json_t *ret = value_get(write, "ret"); /* a load beside it is for those that have none */
        json_t *event = value_get(write, "event");
        json_auto_t *load_args = event != NULL ? json_pack("[[O]]", event)
                                 : ret != NULL
                                     ? json_pack("[O]", ret)
                                     : json_pack("[O, O, O?]", value_get(write, "jid"),
                                                 value_get(write, "load"), value_get(write, "minions"));
        int rc = follow_call(self,
                             event != NULL ? "event_return"
                             : ret != NULL ? "returner"
                                           : "save_load",
                             load_args, NULL, err);
        if (rc < 0)
            return rc;
        write_done(self);
    }
    return 0;
}

/* ---- the file ------------------------------------------------------------------------------------------ */

static void
follow_tell(follow_t *self, const char *failed, bool durable)
{
    fail_auto_t err = FAIL_INIT;

    /* Where something waits, `reached` is behind it. */
    bool all = json_array_size(self->writes) == 0;
    const cursor_t at = { self->after, all ? self->reached : 0 };
    if (cursor_write(self->dir, self->spec->name, &at, failed, durable, &err) < 0)
        log_error("follower %s: %s", self->spec->name, fail_text(&err));
    self->told = failed == NULL ? at.seen : 0;
    self->told_ms = clock_mono_ms();
}

/* ---- batches ------------------------------------------------------------------------------------------- */

/* Stores the batch, however long that takes. Only a follower that another one has overtaken ends. One write
 * that the target refuses for what it is (-EBADMSG) until the pause is the longest is left out, as it would
 * keep back all others. */
static int
flush(follow_t *self, fail_t *err)
{
    int64_t pause_ms = FAILED_MS;

    for (;;) {
        fail_auto_t why = FAIL_INIT;
        size_t n = json_array_size(self->writes);
        int rc = self->batch ? give_batch(self, &why) : give_apart(self, &why);
        if (rc == -ESTALE)
            return fail_set(err, rc, "%s", fail_text(&why));
        if (rc == 0)
            break;
        const char *text = *fail_text(&why) != '\0' ? fail_text(&why)
                                                    : "there is no such returner, or it lacks the function";
        if (json_array_size(self->writes) < n) /* some were stored */
            pause_ms = FAILED_MS;
        if (pause_ms == FAILED_MS)
            log_error("follower %s: %s", self->spec->name, text);
        if (rc == -EBADMSG && !self->batch && pause_ms == FAILED_MAX) {
            AUTO_FREE char *shown = returning_shown(json_array_get(self->writes, 0));
            log_error("follower %s: left out, as the target refuses it: %s", self->spec->name, shown);
            write_done(self);
            pause_ms = FAILED_MS;
            continue;
        }
        follow_tell(self, text, !self->keeps);
        clock_pause((double) pause_ms / 1000);
        pause_ms = pause_ms * 2 < FAILED_MAX ? pause_ms * 2 : FAILED_MAX;
    }
    if (pause_ms != FAILED_MS)
        log_warning("follower %s: the target takes events again", self->spec->name);
    log_debug("follower %s: what it wants of the events up to %llu is stored", self->spec->name,
              (unsigned long long) self->reached);
    json_array_clear(self->writes);
    self->weight = 0;
    self->after = self->reached;
    self->none = false;
    /* Who takes batches keeps the number itself, or stores the same again: that may be a second's. */
    if (!self->batch || clock_mono_ms() - self->told_ms >= IDLE_MS)
        follow_tell(self, NULL, !self->keeps);
    return 0;
}

static void
take_event(follow_t *self, const json_t *push)
{
    const follow_spec_t *spec = self->spec;
    uint64_t seq = (uint64_t) value_int(push, "seq", 0);
    const char *tag = value_str(push, "tag", "");
    bool wanted = !str_eq(spec->kind, "event_return") || writes_wanted(spec->opts, tag);

    if (seq <= self->reached)
        return;
    self->reached = seq;
    json_t *write = wanted ? writes_of(spec->kind, tag, value_get(push, "data"), &self->load) : NULL;
    if (!wanted)
        log_trace("follower %s: event %llu '%s' is not wanted by event_return_whitelist and _blacklist",
                  spec->name, (unsigned long long) seq, tag);
    if (write == NULL)
        return;
    if (json_array_size(self->writes) == 0)
        self->first_ms = clock_mono_ms();
    json_object_set_new(write, "seq", json_integer((json_int_t) seq));
    self->weight += writes_weight(write);
    json_array_append_new(self->writes, write);
}

/* True when the batch is to be given now. */
static bool
is_due(const follow_t *self)
{
    json_int_t queue = value_int(self->spec->opts, "event_return_queue", 0),
               seconds = value_int(self->spec->opts, "event_return_queue_max_seconds", 0);
    size_t n = json_array_size(self->writes);
    bool events = str_eq(self->spec->kind, "event_return");

    if (n == 0)
        return false;
    if (n >= (events && queue > BATCH_MAX ? (size_t) queue : BATCH_MAX) || self->weight >= BATCH_SIZE)
        return true;
    if (local_more(self->line))
        return false;
    return !events || (json_int_t) n >= queue ||
           (seconds > 0 && clock_mono_ms() - self->first_ms >= seconds * 1000);
}

/* ---- the line ------------------------------------------------------------------------------------------ */

static int
begin(follow_t *self, fail_t *err)
{
    json_auto_t *reply = NULL;
    json_t *request = writes_request(self->spec, self->reached);

    self->line = local_connect(value_str(self->spec->opts, "sock_dir", ""), err);
    if (self->line == NULL) {
        json_decref(request);
        return err->code;
    }
    int rc = local_call(self->line, &request, &reply, err);
    if (rc < 0)
        return rc;
    uint64_t newest = (uint64_t) value_int(reply, "seq", 0);
    if (newest >= self->reached)
        return 0;
    log_error(
        "follower %s: the master's newest event is %llu, and %llu was stored already: it goes on from there",
        self->spec->name, (unsigned long long) newest, (unsigned long long) self->reached);
    self->reached = newest;
    self->told = 0;
    return -EAGAIN;
}

/* Reads and stores until the line breaks: 0; or negative with *err. */
static int
follow_line(follow_t *self, fail_t *err)
{
    for (;;) {
        fail_auto_t why = FAIL_INIT;
        json_auto_t *push = NULL;
        bool quiet = json_array_size(self->writes) == 0 && self->reached <= self->told;
        int rc = local_next(self->line, quiet ? QUIET_MS : IDLE_MS, &push, &why);
        if (rc < 0 && rc != -EINTR) {
            log_info("follower %s: %s", self->spec->name, fail_text(&why));
            return 0;
        }
        if (str_eq(value_str(push, "push", ""), "event"))
            take_event(self, push);
        else if (str_eq(value_str(push, "push", ""), "mark"))
            self->reached = (uint64_t) value_int(push, "seq", (json_int_t) self->reached);
        else if (str_eq(value_str(push, "push", ""), "missed"))
            log_error("follower %s: events %lld to %lld are no longer in the journal", self->spec->name,
                      (long long) value_int(push, "from", 0), (long long) value_int(push, "to", 0));
        if (is_due(self) && flush(self, err) < 0)
            return err->code;
        /* Unwanted events move the cursor too: marks come seldom, so the file is seldom written. */
        if (json_array_size(self->writes) == 0 && self->reached > self->told &&
            clock_mono_ms() - self->told_ms >= IDLE_MS) {
            if (!self->keeps)
                self->after = self->reached;
            follow_tell(self, NULL, !self->keeps);
        }
    }
}

/* Finds out where to begin. */
static int
find_cursor(follow_t *self, fail_t *err)
{
    json_auto_t *args = json_pack("[s]", self->spec->name), *kept = NULL;
    int64_t pause_ms = FAILED_MS;
    fail_auto_t damage = FAIL_INIT;
    cursor_t file = { 0 };
    int rc = cursor_read(self->dir, self->spec->name, &file, &damage);

    self->batch = returning_is_native(self->ctx, self->spec->returner, "batch");
    self->keeps = returning_is_native(self->ctx, self->spec->returner, "cursor");
    self->singly = returning_is_native(self->ctx, self->spec->returner, "event_return");
    if (rc < 0 && !self->keeps)
        return fail_set(err, rc, "%s", fail_text(&damage));
    if (rc < 0)
        log_warning("follower %s: %s: the database's own position is taken", self->spec->name,
                    fail_text(&damage));
    self->none = rc <= 0;
    self->after = self->none ? self->spec->since : file.seq;
    for (; self->keeps; pause_ms = pause_ms * 2 < FAILED_MAX ? pause_ms * 2 : FAILED_MAX) {
        fail_auto_t why = FAIL_INIT;
        if (follow_call(self, "cursor", args, &kept, &why) == 0)
            break;
        if (pause_ms == FAILED_MS)
            log_error("follower %s: %s", self->spec->name, fail_text(&why));
        follow_tell(self, fail_text(&why), false);
        clock_pause((double) pause_ms / 1000);
    }
    if (json_is_integer(kept))
        self->after = (uint64_t) json_integer_value(kept);
    if (self->keeps)
        self->none = !json_is_integer(kept);
    /* A database that was restored has an older number than the file: all since then comes again. */
    self->reached = rc > 0 && file.seq == self->after && file.seen > file.seq ? file.seen : self->after;
    /* A new follower that is killed now begins here again, though the master has had more events by then. */
    if (pause_ms != FAILED_MS || rc == 0)
        follow_tell(self, NULL, !self->keeps);
    self->told = 0; /* what the file says of a failure before the start is over in a moment */
    return 0;
}

int
follow_run(call_ctx_t *ctx, const follow_spec_t *spec, fail_t *err)
{
    follow_t self = { .ctx = ctx, .spec = spec, .writes = json_array() };

    self.dir = fs_join(value_str(spec->opts, "cachedir", ""), "followers");
    int lock = fs_own_dir(self.dir, 0700, err) < 0 ? -1 : cursor_lock(self.dir, spec->name, err);
    int rc = lock < 0 ? lock : find_cursor(&self, err);
    while (rc >= 0) {
        fail_auto_t why = FAIL_INIT;
        rc = begin(&self, &why) == 0 ? follow_line(&self, err) : 0;
        local_client_destroy(&self.line);
        if (*fail_text(&why) != '\0' && why.code < 0)
            log_debug("follower %s: %s", spec->name, fail_text(&why));
        clock_pause(CONNECT_MS / 1000.0);
    }
    json_decref(self.writes);
    json_decref(self.load);
    free(self.dir);
    if (lock >= 0)
        (void) close(lock);
    return rc;
}
