/* reactor_loop.c - the reactor's thread: events in their order, from the bus or the journal, and the cursor.
 *
 * The cursor and what the rules remember go to the store together, as of one event: when all that events up
 * to it have set off is on the disk. Whatever came after is looked at again after a restart, and what is on
 * the disk already is recognised by its note.
 *
 * A change of the rules holds for events behind the one that was the newest when it was made, whenever the
 * thread gets to them. What the line did not bring, because it was not asked for in time, is read in the
 * journal. */
#include "master/reactor/reactor_int.h"

#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/net/sock.h"
#include "salt/log.h"
#include "salt/value.h"

#define PIECE        500   /* events of the journal, or of the line, in one turn */
#define CONNECT_MS   200   /* between attempts */
#define COMMIT_MS    60000 /* for events that are not in the journal yet: a slow disk */
#define COMMIT_STEP  5
#define SNAP_MS      20    /* between snapshots, at least, */
#define SNAP_PART    32    /* and as many times as long as one takes: rules may remember much */
#define FENCE_MS     5000  /* between questions that only move the cursor */
#define BACKLOG_MS   60000 /* between two words about it, at least */
#define BACKLOG_PART 10    /* a tenth of reactor_worker_hwm that waits is told */

/* ---- the cursor ---------------------------------------------------------------------------------------- */

/* What is on the disk of what was written. */
static void
s_settle(rloop_t *self)
{
    if (self->restored && store_committed(self->shared->store) >= self->ticket)
        atomic_store(&self->shared->settled, self->written);
}

static void
s_write(rloop_t *self, uint64_t seq, const char *rules)
{
    json_auto_t *begun = work_begun(self);
    AUTO_FREE char *list = value_dump(begun);
    AUTO_FREE char *text = xasprintf("{\"seq\":%llu,\"rules\":%s,\"begun\":%s}", (unsigned long long) seq,
                                     rules, list);
    s_settle(self);
    uint64_t ticket = store_put_meta(self->shared->store, STORE_REACTOR, text);
    if (ticket == 0) { /* no room: the next snapshot says it */
        self->dirty = true;
        return;
    }
    self->ticket = ticket;
    self->written = seq;
}

static void
s_snap_done(rloop_t *self)
{
    if (!self->snap_rules || self->snap_open > 0)
        return;
    s_write(self, self->snap_seq, self->snap_rules);
    free(STEAL(self->snap_rules));
}

/* Every task that there is now is one that the snapshot waits for. */
static size_t
s_mark(rloop_t *self)
{
    size_t n = 0;
    for (rtask_t *t = self->open; t; t = t->open_next)
        if (t->n_unbegun > 0 || !t->list) {
            t->snapped = true;
            n++;
        }
    return n;
}

static void
s_snap(rloop_t *self, int64_t now_ms)
{
    s_settle(self);
    s_snap_done(self);
    if (self->snap_rules || now_ms < self->snap_next_ms || (!self->dirty && self->routed == self->written))
        return;
    int64_t begin_ms = clock_mono_ms();
    json_auto_t *state = rules_state(self->rules);
    self->snap_rules = value_dump(state);
    self->snap_seq = self->routed;
    self->snap_open = s_mark(self);
    self->dirty = false;
    s_snap_done(self);
    int64_t end_ms = clock_mono_ms(), rest_ms = (end_ms - begin_ms) * SNAP_PART;
    self->snap_next_ms = end_ms + (rest_ms > SNAP_MS ? rest_ms : SNAP_MS);
}

/* What the journal had to drop before it was looked at, of the events up to `to`. */
static void
s_tell_gone(rloop_t *self, uint64_t to)
{
    uint64_t first = 0, last = 0;
    fail_auto_t err = FAIL_INIT;
    if (store_seq_range(self->reader, &first, &last, &err) < 0)
        log_error("reactor: which events are no longer in the journal can't be known: %s", fail_text(&err));
    if (first <= self->routed + 1)
        return;
    work_error(self, NULL, self->routed, "events %llu to %llu are no longer in the journal",
               (unsigned long long) self->routed + 1, (unsigned long long) (first <= to ? first - 1 : to));
}

/* What the last run was at; `meta` is its text, or null. */
static void
s_restore(rloop_t *self, const json_t *meta)
{
    const char *text = json_string_value(meta);
    json_auto_t *kept = text ? json_loads(text, JSON_ALLOW_NUL, NULL) : NULL;
    json_t *one;
    size_t i;
    self->routed = (uint64_t) value_int(kept, "seq", (json_int_t) self->shared->begin);
    self->written = self->routed;
    rules_restore(self->rules, value_get(kept, "rules"));
    s_tell_gone(self, UINT64_MAX);
    json_array_foreach (value_get(kept, "begun"), i, one) {
        fail_auto_t err = FAIL_INIT;
        json_auto_t *returns = store_returns(self->reader, value_str(one, "jid", ""), &err);
        if (!returns)
            log_error("reactor: whether job %s has ended can't be known: %s", value_str(one, "jid", ""),
                      fail_text(&err));
        else if (json_object_size(returns) == 0)
            work_error(self, one, self->routed,
                       "%s (job %s) was under way when the master ended: it is not begun again",
                       value_str(one, "fun", ""), value_str(one, "jid", ""));
    }
}

/* ---- changes ------------------------------------------------------------------------------------------- */

typedef struct change {
    struct change *next;
    uint64_t seq; /* it holds behind this event */
    bool leader;
    rules_t *rules; /* NULL: as before */
} change_t;

static void
s_change_free(change_t *c)
{
    rules_destroy(&c->rules);
    free(c);
}

/* The oldest change holds from now on. */
static void
s_change(rloop_t *self)
{
    change_t *c = self->changes;
    self->changes = c->next;
    self->leader = c->leader;
    if (c->rules) {
        json_auto_t *state = self->rules ? rules_state(self->rules) : NULL;
        rules_restore(c->rules, state);
        rules_destroy(&self->rules);
        self->rules = STEAL(c->rules);
        self->unchecked = true;
    }
    s_change_free(c);
}

/* Every event up to `seq` was looked at. */
static void
s_reach(rloop_t *self, uint64_t seq)
{
    self->routed = seq;
    while (self->changes && self->changes->seq <= seq)
        s_change(self);
}

static const rules_t *
s_newest_rules(const rloop_t *self)
{
    const rules_t *rules = self->rules;
    for (const change_t *c = self->changes; c; c = c->next)
        rules = c->rules ? c->rules : rules;
    return rules;
}

/* ---- the front loop's words ---------------------------------------------------------------------------- */

/* NEW rules when these are others, and sound. */
static rules_t *
s_new_rules(rloop_t *self, json_t *option, bool anew)
{
    fail_auto_t err = FAIL_INIT;
    if (!anew && json_equal(option, self->option))
        return NULL;
    rules_t *rules = rules_new(option, &err);
    if (rules) {
        json_decref(self->option);
        self->option = json_incref(option);
        return rules;
    }
    work_error(self, NULL, self->routed, "what there was stays: %s", fail_text(&err));
    return self->rules ? NULL : rules_new(NULL, NULL);
}

/* {"opts", "reactor", "leader", "seq"}; opts only when it changed. */
static void
s_configure(rloop_t *self, const char *text)
{
    json_auto_t *said = json_loads(text, JSON_ALLOW_NUL, NULL);
    json_t *opts = value_get(said, "opts");
    change_t **end = &self->changes, *change = xcalloc(1, sizeof(*change));
    if (opts) {
        json_decref(self->opts);
        self->opts = json_incref(opts);
        rrender_reload(self);
    }
    change->seq = (uint64_t) value_int(said, "seq", 0);
    change->leader = value_bool(said, "leader", true);
    change->rules = s_new_rules(self, value_get(said, "reactor"), opts != NULL);
    while (*end)
        end = &(*end)->next;
    *end = change;
    if (!self->rules)
        s_change(self); /* the first: there are none that hold for what was before */
    self->in_tune = false;
    self->fence = 0; /* an answer that is under way is one for other tags */
}

/* False: the end, which only the front loop says: a thread that is gone would read none of its words. */
static bool
s_told(rloop_t *self)
{
    AUTO_FREE char *text = NULL;
    if (sock_hear(self->pipe, &text, 1) != 1 || str_eq(text, "$TERM"))
        return false;
    self->heard++;
    s_configure(self, text);
    return true;
}

/* What the lines bring was told after changes that still are in the pipe: those come first. */
static void
s_hear_changes(rloop_t *self)
{
    while (self->heard < atomic_load(&self->shared->told) && s_told(self))
        ;
}

/* ---- events -------------------------------------------------------------------------------------------- */

static void
s_task(rloop_t *self, const json_t *firing)
{
    rtask_t *task = xcalloc(1, sizeof(*task));
    task->firing = value_dump(firing);
    task->seq = (uint64_t) value_int(firing, "seq", 0);
    task->jids = kin_jids(task->seq, value_str(firing, "tag", ""), value_get(firing, "data"));
    rtask_open(self, task);
    rrender_add(self, &task);
}

static void
s_tasks(rloop_t *self, json_t *firings)
{
    json_t *one;
    size_t i;
    json_array_foreach (firings, i, one)
        s_task(self, one);
    json_decref(firings);
}

static void
s_event(rloop_t *self, const json_t *event)
{
    json_t *data = value_get(event, "data");
    uint64_t seq = (uint64_t) value_int(event, "seq", 0);
    int64_t us = 0;
    if (seq <= self->routed)
        return;
    s_reach(self, seq - 1);
    self->routed = seq;
    /* As Salt: what runners and wheel functions of the reactor tell sets off nothing. */
    if (!self->leader || str_eq(value_str(data, "user", ""), "Reactor")) {
        log_trace("reactor: event %llu '%s' is %s: nothing reacts", (unsigned long long) seq,
                  value_str(event, "tag", ""),
                  self->leader ? "the reactor's own doing" : "another master's to react to");
        return;
    }
    if (!clock_stamp_parse(value_str(data, "_stamp", ""), &us))
        us = clock_wall_us();
    s_tasks(self, rules_due(self->rules, us));
    s_tasks(self, rules_event(self->rules, seq, us, value_str(event, "tag", ""), data));
    if (rules_next_due(self->rules) != 0)
        self->dirty = true;
}

static bool
s_has_room(const rloop_t *self)
{
    size_t most = (size_t) value_int(self->opts, "reactor_worker_hwm", 10000);
    return self->n_waiting + self->n_reactions < (most > 0 ? most : 1) && self->bytes < LIMIT_REACTOR_BYTES;
}

/* ---- from the journal ---------------------------------------------------------------------------------- */

static void
s_catch(rloop_t *self, uint64_t to)
{
    self->catch_to = to;
    self->catch_until_ms = clock_mono_ms() + COMMIT_MS;
    s_reach(self, self->routed);
}

static bool
s_is_catching(const rloop_t *self)
{
    return self->routed < self->catch_to;
}

/* Whether what is not found in the journal may only not be found yet: it can't be read, or takes nothing
 * at the moment. */
static bool
s_is_closed(const rloop_t *self, const json_t *found)
{
    AUTO_FREE char *trouble = store_trouble(self->shared->store);
    return !found || trouble;
}

/* A piece of what is not told on the line. */
static void
s_catch_turn(rloop_t *self)
{
    fail_auto_t err = FAIL_INIT;
    uint64_t cursor = self->routed;
    json_auto_t *events = store_events(self->reader, &cursor, PIECE, &err);
    json_t *event;
    size_t i;
    if (!events && !self->shown_unread)
        log_error("reactor: %s; nothing reacts to events behind number %llu until they can be read",
                  fail_text(&err), (unsigned long long) self->routed);
    self->shown_unread = !events;
    if ((uint64_t) value_int(json_array_get(events, 0), "seq", 0) > self->routed + 1)
        s_tell_gone(self, self->catch_to);
    json_array_foreach (events, i, event)
        if ((uint64_t) value_int(event, "seq", 0) <= self->catch_to)
            s_event(self, event);
    if (cursor >= self->catch_to)
        s_reach(self, self->catch_to);
    else if (i > 0 || s_is_closed(self, events))
        self->catch_until_ms = clock_mono_ms() + COMMIT_MS;
    else if (clock_mono_ms() > self->catch_until_ms) {
        log_warning("reactor: events %llu to %llu are not in the journal: nothing reacts to them",
                    (unsigned long long) self->routed + 1, (unsigned long long) self->catch_to);
        s_reach(self, self->catch_to);
    }
}

/* ---- the line ------------------------------------------------------------------------------------------ */

static void
s_hang_up(rloop_t *self, const char *why)
{
    if (self->ears)
        log_debug("reactor: %s", why);
    local_client_destroy(&self->ears);
    self->line_more = false;
    self->fence = 0;
    self->catch_to = 0;
    self->connect_next_ms = clock_mono_ms() + CONNECT_MS;
    work_lost(self);
}

/* What the rules want, or everything when they name more than a listener may. */
static json_t *
s_listen_request(const rloop_t *self)
{
    json_auto_t *tags = rules_tags(s_newest_rules(self));
    if (json_array_size(tags) > LIMIT_LISTEN_TAGS)
        return json_pack("{s:s, s:s}", "op", "events", "tag", "*");
    return json_pack("{s:s, s:O}", "op", "events", "tags", tags);
}

static void
s_connect(rloop_t *self)
{
    fail_auto_t err = FAIL_INIT;
    json_t *request = s_listen_request(self);
    json_auto_t *reply = NULL;
    self->ears = local_connect(self->shared->sock_dir, &err);
    self->line = self->ears ? local_connect(self->shared->sock_dir, &err) : NULL;
    if (!self->line || local_call(self->ears, &request, &reply, &err) < 0) {
        json_decref(request);
        s_hang_up(self, fail_text(&err));
        return;
    }
    self->in_tune = true;
    self->ears_more = true;
    s_hear_changes(self);
    s_catch(self, (uint64_t) value_int(reply, "seq", 0));
}

/* The store is opened and what the last run left there is read, however often that must be tried: what
 * can't be read is not the same as nothing. */
static bool
s_is_ready(rloop_t *self, int64_t now_ms)
{
    fail_auto_t err = FAIL_INIT;
    if (self->restored)
        return true;
    if (!self->rules || now_ms < self->connect_next_ms)
        return false;
    self->connect_next_ms = now_ms + CONNECT_MS;
    if (!self->reader)
        self->reader = store_reader_new(self->shared->store_path, &err);
    json_auto_t *meta = self->reader ? store_meta(self->reader, STORE_REACTOR, &err) : NULL;
    if (!meta) {
        if (!self->shown_unread)
            log_error("reactor: %s; nothing reacts to events until the store can be read", fail_text(&err));
        self->shown_unread = true;
        store_reader_destroy(&self->reader);
        return false;
    }
    if (self->shown_unread)
        log_info("reactor: the store can be read again");
    s_connect(self);
    s_restore(self, meta);
    rrender_warm(self);
    self->restored = true;
    return true;
}

/* A question whose answer comes after every event of before. */
static void
s_fence(rloop_t *self, int64_t now_ms)
{
    int64_t due = rules_next_due(self->rules), now_us = clock_wall_us();
    fail_auto_t err = FAIL_INIT;
    if (!self->ears || self->fence != 0 || s_is_catching(self) ||
        (self->in_tune && (due == 0 || due > now_us) && now_ms < self->fence_next_ms))
        return;
    json_t *request = s_listen_request(self);
    self->fence_us = now_us;
    self->fence_next_ms = now_ms + FENCE_MS;
    if (local_post(self->ears, &request, &self->fence, &err) < 0)
        s_hang_up(self, fail_text(&err));
}

static void
s_fenced(rloop_t *self, const json_t *reply)
{
    uint64_t seq = (uint64_t) value_int(reply, "seq", 0);
    self->fence = 0;
    if (!self->in_tune) {
        self->in_tune = true;
        s_catch(self, seq);
        return;
    }
    if (seq > self->routed)
        s_reach(self, seq);
    json_t *firings = rules_due(self->rules, self->fence_us);
    self->dirty = self->dirty || json_array_size(firings) > 0;
    s_tasks(self, firings);
}

/* Out of tune, what is between the events that come is not known: all of them are read in the journal. */
static void
s_heard(rloop_t *self, const json_t *msg)
{
    const char *kind = value_str(msg, "push", "");
    if (str_eq(kind, "event") && self->in_tune)
        s_event(self, msg);
    else if (str_eq(kind, "missed") && self->in_tune)
        s_catch(self, (uint64_t) value_int(msg, "to", 0));
    else if (self->fence != 0 && value_int(msg, "n", 0) == self->fence)
        s_fenced(self, msg);
}

/* What has come for one of the two lines. False: it is gone. */
static bool
s_drain(rloop_t *self, local_client_t *line, bool events)
{
    bool *more = events ? &self->ears_more : &self->line_more;
    for (int i = 0; i < PIECE; i++) {
        fail_auto_t err = FAIL_INIT;
        json_auto_t *msg = NULL;
        if (events && (s_is_catching(self) || !s_has_room(self))) {
            *more = true;
            return true;
        }
        int rc = local_next(line, 0, &msg, &err);
        if (rc == 0 || rc == -EINTR) {
            *more = rc != 0;
            return true;
        }
        if (rc < 0) {
            s_hang_up(self, fail_text(&err));
            return false;
        }
        if (!events) {
            work_heard(self, msg);
            continue;
        }
        s_hear_changes(self);
        s_heard(self, msg);
    }
    *more = true;
    return true;
}

/* ---- backlog ------------------------------------------------------------------------------------------- */

static void
s_tell_backlog(rloop_t *self)
{
    size_t waiting = self->n_waiting + self->n_reactions;
    size_t most = (size_t) value_int(self->opts, "reactor_worker_hwm", 10000) / BACKLOG_PART;
    atomic_store(&self->shared->waiting, waiting);
    atomic_store(&self->shared->under_way, self->n_running);
    atomic_store(&self->shared->seq, self->routed);
    if (self->shown_backlog && waiting < most / 2 + 1)
        self->shown_backlog = false;
    if (self->shown_backlog || waiting <= most || !self->line || clock_mono_ms() < self->backlog_next_ms)
        return;
    self->shown_backlog = true;
    self->backlog_next_ms = clock_mono_ms() + BACKLOG_MS;
    log_warning("reactor: %zu reactions wait; a slow file, or too few of reactor_worker_threads?", waiting);
    json_t *data = json_pack("{s:I, s:I, s:I}", "waiting", (json_int_t) waiting, "under_way",
                             (json_int_t) self->n_running, "seq", (json_int_t) self->routed);
    work_fire(self, RULES_OWN_TAG "backlog", &data);
}

/* ---- the rules' files ---------------------------------------------------------------------------------- */

static void
s_check_files(rloop_t *self)
{
    json_auto_t *files = rules_files(self->rules);
    fileclient_t *client = fileclient_local(self->opts, NULL);
    json_t *one;
    size_t i;
    self->unchecked = false;
    json_array_foreach (files, i, one) {
        AUTO_FREE char *why = reaction_missing(client, value_str(one, "file", ""));
        if (why)
            work_error(self, one, self->routed, "for %s: %s", value_str(one, "for", ""), why);
    }
    fileclient_destroy(&client);
}

/* ---- the loop ------------------------------------------------------------------------------------------ */

enum { ITEM_PIPE, ITEM_EARS, ITEM_LINE, ITEM_WORKERS };

static int64_t
s_patience(const rloop_t *self, int64_t now_ms)
{
    if (!self->restored)
        return CONNECT_MS;
    int64_t wait = FENCE_MS, due = rules_next_due(self->rules);
    if (s_is_catching(self))
        return s_has_room(self) ? COMMIT_STEP : SNAP_MS;
    if (!self->ears)
        wait = self->connect_next_ms - now_ms;
    if (self->line_more || (self->ears_more && s_has_room(self)))
        return 0;
    if (self->dirty || (self->snap_rules && self->snap_open == 0) ||
        (!self->snap_rules && self->routed != self->written)) {
        int64_t rest_ms = self->snap_next_ms - now_ms;
        wait = rest_ms < SNAP_MS ? SNAP_MS : rest_ms < FENCE_MS ? rest_ms : FENCE_MS;
    }
    bool again = self->n_waiting > 0 || self->ask_after_ms[0] > now_ms || self->ask_after_ms[1] > now_ms;
    if (again && wait > RENDER_AGAIN_MS)
        wait = RENDER_AGAIN_MS;
    if (due != 0 && self->fence == 0 && self->ears) {
        int64_t until = (due - clock_wall_us()) / 1000 + 1;
        wait = until < wait ? until : wait;
    }
    return wait > 0 ? wait : 0;
}

static void
s_turn(rloop_t *self)
{
    int64_t now_ms = clock_mono_ms();
    if (!s_is_ready(self, now_ms))
        return;
    if (!self->ears && now_ms >= self->connect_next_ms)
        s_connect(self);
    if (self->ears && s_is_catching(self) && s_has_room(self))
        s_catch_turn(self);
    else if (self->ears_more && self->ears)
        (void) s_drain(self, self->ears, true);
    if (self->line_more && self->line)
        (void) s_drain(self, self->line, false);
    s_fence(self, now_ms);
    if (self->unchecked && self->line)
        s_check_files(self);
    rrender_turn(self);
    work_turn(self);
    s_snap(self, now_ms);
    s_tell_backlog(self);
}

static bool
s_poll(rloop_t *self)
{
    zmq_pollitem_t items[ITEM_WORKERS + LIMIT_REACTOR_WORKERS] = { { 0 } };
    bool deaf = s_is_catching(self) || !s_has_room(self);
    size_t n_pool = self->n_pool;
    items[ITEM_PIPE] = (zmq_pollitem_t){ zsock_resolve(self->pipe), 0, ZMQ_POLLIN, 0 };
    for (int i = ITEM_EARS; i <= ITEM_LINE; i++) {
        const local_client_t *c = i == ITEM_LINE ? self->line : deaf ? NULL : self->ears;
        /* Nothing to look at: the pipe's own place twice does no harm. */
        items[i] = c ? (zmq_pollitem_t){ NULL, local_fd(c), ZMQ_POLLIN, 0 } : items[ITEM_PIPE];
    }
    for (size_t i = 0; i < n_pool; i++)
        items[ITEM_WORKERS + i] = (zmq_pollitem_t){ zsock_resolve(self->pool[i].actor), 0, ZMQ_POLLIN, 0 };
    if (zmq_poll(items, ITEM_WORKERS + (int) n_pool, (long) s_patience(self, clock_mono_ms())) < 0)
        return errno == EINTR;
    if (items[ITEM_PIPE].revents && !s_told(self))
        return false;
    for (size_t i = 0; i < n_pool; i++)
        if (items[ITEM_WORKERS + i].revents)
            rrender_ready(self, &self->pool[i]);
    if (self->line && !items[ITEM_LINE].socket && items[ITEM_LINE].revents &&
        !s_drain(self, self->line, false))
        return true;
    if (self->ears && !items[ITEM_EARS].socket && items[ITEM_EARS].revents)
        (void) s_drain(self, self->ears, true);
    return true;
}

static void
s_begin(rloop_t *self)
{
    self->opts = json_object();
    self->files = map_new(free);
    self->asked = map_new(NULL);
    self->begun = map_new(NULL);
    self->warned = map_new(NULL);
    self->kin = kin_new(self->shared->born);
    for (int i = 0; i < 2; i++)
        self->ready_tail[i] = &self->ready[i];
}

static bool
s_end(rloop_t *self)
{
    bool ended = rrender_destroy(self);
    local_client_destroy(&self->ears);
    local_client_destroy(&self->line);
    while (ended && self->open) {
        rtask_t *task = self->open;
        rtask_close(self, task);
        rtask_free(task);
    }
    map_destroy(&self->asked);
    map_destroy(&self->begun);
    map_destroy(&self->warned);
    kin_destroy(&self->kin);
    store_reader_destroy(&self->reader);
    rules_destroy(&self->rules);
    while (self->changes) {
        change_t *c = self->changes;
        self->changes = c->next;
        s_change_free(c);
    }
    json_decref(self->opts);
    json_decref(self->option);
    free(self->snap_rules);
    return ended;
}

void
reactor_actor(zsock_t *pipe, void *arg)
{
    rloop_t self = { .shared = arg, .pipe = pipe };
    s_begin(&self);
    (void) zsock_signal(pipe, 0);
    while (s_poll(&self))
        s_turn(&self);
    self.shared->cut = !s_end(&self);
    atomic_store_explicit(&self.shared->over, true, memory_order_release);
}
