/* reactor_loop.c - the reactor's thread: events in order, from the bus or the journal, and the cursor.
 *
 * The cursor and the rules' state are stored together as a snapshot of one event, once every reaction to
 * events up to it is durable. After a restart, later events are looked at again, and reactions that are
 * durable already are recognised by their notes; so each happens once.
 *
 * A change of the rules is in force after the event that was the newest when it was made, whenever the thread
 * gets there. Events that the connection did not deliver, because their tags were not subscribed to in time,
 * are read from the journal. */
#include "master/reactor/reactor_int.h"

#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/net/sock.h"
#include "salt/log.h"
#include "salt/value.h"

#define PIECE        500   /* events of the journal, or of the connection, per turn */
#define CONNECT_MS   200   /* between attempts to connect */
#define COMMIT_MS    60000 /* wait for events to reach the journal: a slow disk */
#define COMMIT_STEP  5
#define SNAP_MS      20    /* pause between snapshots, at least, */
#define SNAP_PART    32    /* and this many times the duration of one, as rules may hold much state */
#define FENCE_MS     5000  /* between fences that only move the cursor */
#define BACKLOG_MS   60000 /* between warnings, at least */
#define BACKLOG_PART 10    /* warn when a tenth of reactor_worker_hwm waits */

/* ---- the cursor ---------------------------------------------------------------------------------------- */

/* Publish the cursor that is committed, for the store's expiry. */
static void
reactor_loop_settle(rloop_t *self)
{
    if (self->restored && store_committed(self->shared->store) >= self->ticket)
        atomic_store(&self->shared->settled, self->written);
}

/* Queue the snapshot: cursor, state of the rules, and the master's functions under way. */
static void
reactor_loop_write(rloop_t *self, uint64_t seq, const char *rules)
{
    json_auto_t *begun = work_begun(self);
    AUTO_FREE char *list = value_dump(begun);
    AUTO_FREE char *text = xasprintf("{\"seq\":%llu,\"rules\":%s,\"begun\":%s}", (unsigned long long) seq,
                                     rules, list);
    reactor_loop_settle(self);
    uint64_t ticket = store_put_meta(self->shared->store, STORE_REACTOR, text);
    if (ticket == 0) { /* the queue is full: the next snapshot repeats it */
        self->dirty = true;
        return;
    }
    self->ticket = ticket;
    self->written = seq;
}

/* Write the snapshot once the last task that it waits for is durable. */
static void
snap_done(rloop_t *self)
{
    if (self->snap_rules == NULL || self->snap_open > 0)
        return;
    reactor_loop_write(self, self->snap_seq, self->snap_rules);
    free(STEAL(self->snap_rules));
}

/* Mark every task with reactions that are not durable: the snapshot is written when the last of them is. */
static size_t
reactor_loop_mark(rloop_t *self)
{
    size_t n = 0;
    for (rtask_t *t = self->open; t; t = t->open_next)
        if (t->n_unbegun > 0 || t->list == NULL) {
            t->snapped = true;
            n++;
        }
    return n;
}

/* Report events before `to` that the journal dropped before they were looked at. */
static void
tell_gone(rloop_t *self, uint64_t to)
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

/* ---- changes ------------------------------------------------------------------------------------------- */

typedef struct change {
    struct change *next;
    uint64_t seq; /* in force after this event */
    bool leader;
    rules_t *rules; /* owned; NULL: unchanged */
} change_t;

static void
change_free(change_t *c)
{
    rules_destroy(&c->rules);
    free(c);
}

/* Apply the oldest change. The new rules take over the state of the former ones. */
static void
reactor_loop_change(rloop_t *self)
{
    change_t *c = self->changes;
    self->changes = c->next;
    self->leader = c->leader;
    if (c->rules != NULL) {
        json_auto_t *state = self->rules != NULL ? rules_state(self->rules) : NULL;
        rules_restore(c->rules, state);
        rules_destroy(&self->rules);
        self->rules = STEAL(c->rules);
        self->unchecked = true;
    }
    change_free(c);
}

/* Record that every event up to `seq` was looked at, and apply changes that are due. */
static void
reactor_loop_reach(rloop_t *self, uint64_t seq)
{
    self->routed = seq;
    while (self->changes != NULL && self->changes->seq <= seq)
        reactor_loop_change(self);
}

/* ---- the front loop's words ---------------------------------------------------------------------------- */

/* NEW rules when the option differs and is valid; NULL: keep the former. Files of rules are read anew with
 * `anew`. */
static rules_t *
new_rules(rloop_t *self, json_t *option, bool anew)
{
    fail_auto_t err = FAIL_INIT;
    if (!anew && json_equal(option, self->option))
        return NULL;
    rules_t *rules = rules_new(option, &err);
    if (rules != NULL) {
        json_decref(self->option);
        self->option = json_incref(option);
        return rules;
    }
    work_error(self, NULL, self->routed, "what there was stays: %s", fail_text(&err));
    return self->rules != NULL ? NULL : rules_new(NULL, NULL);
}

/* Read one message of the front loop. False: terminate. Only the front loop decides that, as it would go on
 * sending to a thread that had ended itself. */
static bool
reactor_loop_told(rloop_t *self)
{
    AUTO_FREE char *text = NULL;
    if (sock_hear(self->pipe, &text, 1) != 1 || str_eq(text, "$TERM"))
        return false;
    self->heard++;

    /* Handle the front loop's message {"opts", "reactor", "leader", "seq"}; opts only when it changed. */
    json_auto_t *said = json_loads(text, JSON_ALLOW_NUL, NULL);
    json_t *opts = value_get(said, "opts");
    change_t **end = &self->changes, *change = xcalloc(1, sizeof(*change));
    if (opts != NULL) {
        json_decref(self->opts);
        self->opts = json_incref(opts);
        rrender_reload(self);
    }
    change->seq = (uint64_t) value_int(said, "seq", 0);
    change->leader = value_bool(said, "leader", true);
    change->rules = new_rules(self, value_get(said, "reactor"), opts != NULL);
    while (*end)
        end = &(*end)->next;
    *end = change;
    if (self->rules == NULL)
        reactor_loop_change(self); /* the first applies at once: no rules hold for events of before */
    self->subscribed = false;
    self->fence = 0; /* a fence under way was for other tags */

    return true;
}

/* Events and answers were sent after changes that may still be in the pipe: read those first. */
static void
hear_changes(rloop_t *self)
{
    while (self->heard < atomic_load(&self->shared->told) && reactor_loop_told(self))
        ;
}

/* ---- events -------------------------------------------------------------------------------------------- */

/* TAKES firings. */
static void
tasks(rloop_t *self, json_t *firings)
{
    json_t *one;
    size_t i;
    json_array_foreach (firings, i, one) {
        /* Queues the reaction's task. */
        rtask_t *task = xcalloc(1, sizeof(*task));
        task->firing = value_dump(one);
        task->file = xstrdup(value_str(one, "file", ""));
        rstats_fired(self->shared->stats, one);
        task->seq = (uint64_t) value_int(one, "seq", 0);
        task->jids = ancestry_jids(task->seq, value_str(one, "tag", ""), value_get(one, "data"));
        rtask_open(self, task);
        rrender_add(self, &task);
    }
    json_decref(firings);
}

/* Look at one event, once: numbers up to the cursor are skipped. */
static void
reactor_loop_event(rloop_t *self, const json_t *event)
{
    json_t *data = value_get(event, "data");
    uint64_t seq = (uint64_t) value_int(event, "seq", 0);
    int64_t us = 0;
    if (seq <= self->routed)
        return;
    reactor_loop_reach(self, seq - 1);
    self->routed = seq;
    /* As in Salt: events of the reactor's own runners and wheel functions set off nothing. */
    if (!self->leader || str_eq(value_str(data, "user", ""), "Reactor")) {
        log_trace("reactor: event %llu '%s' is %s: nothing reacts", (unsigned long long) seq,
                  value_str(event, "tag", ""),
                  self->leader ? "the reactor's own doing" : "another master's to react to");
        return;
    }
    if (!clock_stamp_parse(value_str(data, "_stamp", ""), &us))
        us = clock_wall_us();
    tasks(self, rules_due(self->rules, us));
    tasks(self, rules_event(self->rules, seq, us, value_str(event, "tag", ""), data));
    if (rules_next_due(self->rules) != 0)
        self->dirty = true;
}

/* Backpressure: no more events are read at reactor_worker_hwm waiting tasks or LIMIT_REACTOR_BYTES of
 * events. */
static bool
reactor_loop_has_room(const rloop_t *self)
{
    size_t most = (size_t) value_int(self->opts, "reactor_worker_hwm", 10000);
    return self->n_waiting + self->n_reactions < (most > 0 ? most : 1) && self->bytes < LIMIT_REACTOR_BYTES;
}

/* ---- from the journal ---------------------------------------------------------------------------------- */

/* Read events up to `to` from the journal; the connection is ignored meanwhile. */
static void catch (rloop_t *self, uint64_t to)
{
    self->catch_to = to;
    self->catch_until_ms = clock_mono_ms() + COMMIT_MS;
    reactor_loop_reach(self, self->routed);
}

static bool
is_catching(const rloop_t *self)
{
    return self->routed < self->catch_to;
}

/* True when an event missing from the journal may still appear there: the store can't be read, or can't be
 * written at the moment. */
static bool
is_closed(const rloop_t *self, const json_t *found)
{
    AUTO_FREE char *trouble = store_trouble(self->shared->store);
    return found == NULL || trouble != NULL;
}

/* ---- the line ------------------------------------------------------------------------------------------ */

/* Drop both connections; they are made again after CONNECT_MS. Requests without an answer are sent again. */
static void
hang_up(rloop_t *self, const char *why)
{
    if (self->events != NULL)
        log_debug("reactor: %s", why);
    local_client_destroy(&self->events);
    self->line_more = false;
    self->fence = 0;
    self->catch_to = 0;
    self->connect_next_ms = clock_mono_ms() + CONNECT_MS;
    work_lost(self);
}

/* NEW request to subscribe to the rules' tags, or to all when there are more than a listener may name. */
static json_t *
listen_request(const rloop_t *self)
{
    /* The rules that will be in force last: what to subscribe to. */
    const rules_t *rules = self->rules;
    for (const change_t *c = self->changes; c; c = c->next)
        rules = c->rules != NULL ? c->rules : rules;
    json_auto_t *tags = rules_tags(rules);
    if (json_array_size(tags) > LIMIT_LISTEN_TAGS)
        return json_pack("{s:s, s:s}", "op", "events", "tag", "*");
    return json_pack("{s:s, s:O}", "op", "events", "tags", tags);
}

/* Subscribe first, then read the journal up to the number in the answer: no event falls between. */
static void
reactor_loop_connect(rloop_t *self)
{
    fail_auto_t err = FAIL_INIT;
    json_t *request = listen_request(self);
    json_auto_t *reply = NULL;
    self->events = local_connect(self->shared->sock_dir, &err);
    self->line = self->events != NULL ? local_connect(self->shared->sock_dir, &err) : NULL;
    if (self->line == NULL || local_call(self->events, &request, &reply, &err) < 0) {
        json_decref(request);
        hang_up(self, fail_text(&err));
        return;
    }
    self->subscribed = true;
    self->events_more = true;
    hear_changes(self);
    catch (self, (uint64_t) value_int(reply, "seq", 0));
}

/* Open the store and read the last run's cursor, retrying for as long as it takes: an unreadable store is not
 * an empty one. */
static bool
is_ready(rloop_t *self, int64_t now_ms)
{
    fail_auto_t err = FAIL_INIT;
    if (self->restored)
        return true;
    if (self->rules == NULL || now_ms < self->connect_next_ms)
        return false;
    self->connect_next_ms = now_ms + CONNECT_MS;
    if (self->reader == NULL)
        self->reader = store_reader_new(self->shared->store_path, &err);
    json_auto_t *meta = self->reader != NULL ? store_meta(self->reader, STORE_REACTOR, &err) : NULL;
    if (meta == NULL) {
        if (!self->shown_unread)
            log_error("reactor: %s; nothing reacts to events until the store can be read", fail_text(&err));
        self->shown_unread = true;
        store_reader_destroy(&self->reader);
        return false;
    }
    if (self->shown_unread)
        log_info("reactor: the store can be read again");
    reactor_loop_connect(self);

    /* Restore cursor and rules from `meta`, the stored text or null. Functions of the master that were
     * under way then are reported as failed unless they returned: they are not repeated. */
    const char *text = json_string_value(meta);
    json_auto_t *kept = text != NULL ? json_loads(text, JSON_ALLOW_NUL, NULL) : NULL;
    json_t *one;
    size_t i;
    self->routed = (uint64_t) value_int(kept, "seq", (json_int_t) self->shared->begin);
    self->written = self->routed;
    rules_restore(self->rules, value_get(kept, "rules"));
    tell_gone(self, UINT64_MAX);
    json_array_foreach (value_get(kept, "begun"), i, one) {
        fail_auto_t why = FAIL_INIT;
        json_auto_t *returns = store_returns(self->reader, value_str(one, "jid", ""), &why);
        if (returns == NULL)
            log_error("reactor: whether job %s has ended can't be known: %s", value_str(one, "jid", ""),
                      fail_text(&why));
        else if (json_object_size(returns) == 0)
            work_error(self, one, self->routed,
                       "%s (job %s) was under way when the master ended: it is not begun again",
                       value_str(one, "fun", ""), value_str(one, "jid", ""));
    }

    rrender_warm(self);
    self->restored = true;
    return true;
}

/* Send a fence: subscribing again, whose answer follows every earlier event on the connection. It moves the
 * cursor past events of other tags, applies changed tags, and tells when time-based rules may fire. */
static void
fence(rloop_t *self, int64_t now_ms)
{
    int64_t due = rules_next_due(self->rules), now_us = clock_wall_us();
    fail_auto_t err = FAIL_INIT;
    if (self->events == NULL || self->fence != 0 || is_catching(self) ||
        (self->subscribed && (due == 0 || due > now_us) && now_ms < self->fence_next_ms))
        return;
    json_t *request = listen_request(self);
    self->fence_us = now_us;
    self->fence_next_ms = now_ms + FENCE_MS;
    if (local_post(self->events, &request, &self->fence, &err) < 0)
        hang_up(self, fail_text(&err));
}

/* Read the messages of one of the two connections, up to PIECE. False: it broke. */
static bool
reactor_loop_drain(rloop_t *self, local_client_t *line, bool events)
{
    bool *more = events ? &self->events_more : &self->line_more;
    for (int i = 0; i < PIECE; i++) {
        fail_auto_t err = FAIL_INIT;
        json_auto_t *msg = NULL;
        if (events && (is_catching(self) || !reactor_loop_has_room(self))) {
            *more = true;
            return true;
        }
        int rc = local_next(line, 0, &msg, &err);
        if (rc == 0 || rc == -EINTR) {
            *more = rc != 0;
            return true;
        }
        if (rc < 0) {
            hang_up(self, fail_text(&err));
            return false;
        }
        if (!events) {
            work_heard(self, msg);
            continue;
        }
        hear_changes(self);

        /* While the subscription is out of date, gaps between events are unknown: ignore them, the journal
         * is read instead. */
        const char *kind = value_str(msg, "push", "");
        if (str_eq(kind, "event") && self->subscribed)
            reactor_loop_event(self, msg);
        else if (str_eq(kind, "missed") && self->subscribed)
            catch (self, (uint64_t) value_int(msg, "to", 0));
        else if (self->fence != 0 && value_int(msg, "n", 0) == self->fence) {
            /* After a change of tags the journal is read up to the fence; otherwise its number becomes the
             * cursor. */
            uint64_t seq = (uint64_t) value_int(msg, "seq", 0);
            self->fence = 0;
            if (!self->subscribed) {
                self->subscribed = true;
                catch (self, seq);
                continue;
            }
            if (seq > self->routed)
                reactor_loop_reach(self, seq);
            json_t *firings = rules_due(self->rules, self->fence_us);
            self->dirty = self->dirty || json_array_size(firings) > 0;
            tasks(self, firings);
        }
    }
    *more = true;
    return true;
}

/* ---- backlog ------------------------------------------------------------------------------------------- */

/* Update the counters; warn and fire an event when the backlog grows large, again only after it halved. */
static void
tell_backlog(rloop_t *self)
{
    size_t waiting = self->n_waiting + self->n_reactions;
    size_t most = (size_t) value_int(self->opts, "reactor_worker_hwm", 10000) / BACKLOG_PART;
    atomic_store(&self->shared->waiting, waiting);
    atomic_store(&self->shared->under_way, self->n_running);
    atomic_store(&self->shared->seq, self->routed);
    if (self->shown_backlog && waiting < most / 2 + 1)
        self->shown_backlog = false;
    if (self->shown_backlog || waiting <= most || self->line == NULL ||
        clock_mono_ms() < self->backlog_next_ms)
        return;
    self->shown_backlog = true;
    self->backlog_next_ms = clock_mono_ms() + BACKLOG_MS;
    log_warning("reactor: %zu reactions wait; a slow file, or too few of reactor_worker_threads?", waiting);
    json_t *data = json_pack("{s:I, s:I, s:I}", "waiting", (json_int_t) waiting, "under_way",
                             (json_int_t) self->n_running, "seq", (json_int_t) self->routed);
    work_fire(self, RULES_OWN_TAG "backlog", &data);
}

/* ---- the loop ------------------------------------------------------------------------------------------ */

enum { ITEM_PIPE, ITEM_EVENTS, ITEM_LINE, ITEM_WORKERS };

/* Milliseconds until the next turn has something to do. */
static int64_t
reactor_loop_patience(const rloop_t *self, int64_t now_ms)
{
    if (!self->restored)
        return CONNECT_MS;
    int64_t wait = FENCE_MS, due = rules_next_due(self->rules);
    if (is_catching(self))
        return reactor_loop_has_room(self) ? COMMIT_STEP : SNAP_MS;
    if (self->events == NULL)
        wait = self->connect_next_ms - now_ms;
    if (self->line_more || (self->events_more && reactor_loop_has_room(self)))
        return 0;
    if (self->dirty || (self->snap_rules != NULL && self->snap_open == 0) ||
        (self->snap_rules == NULL && self->routed != self->written)) {
        int64_t rest_ms = self->snap_next_ms - now_ms;
        wait = rest_ms < SNAP_MS ? SNAP_MS : rest_ms < FENCE_MS ? rest_ms : FENCE_MS;
    }
    bool again = self->n_waiting > 0 || self->ask_after_ms[0] > now_ms || self->ask_after_ms[1] > now_ms;
    if (again && wait > RENDER_AGAIN_MS)
        wait = RENDER_AGAIN_MS;
    if (due != 0 && self->fence == 0 && self->events != NULL) {
        int64_t until = (due - clock_wall_us()) / 1000 + 1;
        wait = until < wait ? until : wait;
    }
    return wait > 0 ? wait : 0;
}

/* Run every stage once; each is bounded, so that the poll for the front loop's messages is never far away. */
static void
reactor_loop_turn(rloop_t *self)
{
    int64_t now_ms = clock_mono_ms();
    if (!is_ready(self, now_ms))
        return;
    if (self->events == NULL && now_ms >= self->connect_next_ms)
        reactor_loop_connect(self);
    if (self->events != NULL && is_catching(self) && reactor_loop_has_room(self)) {
        /* Read one piece of the journal. Events that do not appear within COMMIT_MS, while the store
         * works, are given up with a warning. */
        fail_auto_t err = FAIL_INIT;
        uint64_t cursor = self->routed;
        json_auto_t *events = store_events(self->reader, &cursor, PIECE, &err);
        json_t *event;
        size_t i;
        if (events == NULL && !self->shown_unread)
            log_error("reactor: %s; nothing reacts to events behind number %llu until they can be read",
                      fail_text(&err), (unsigned long long) self->routed);
        self->shown_unread = events == NULL;
        if ((uint64_t) value_int(json_array_get(events, 0), "seq", 0) > self->routed + 1)
            tell_gone(self, self->catch_to);
        json_array_foreach (events, i, event)
            if ((uint64_t) value_int(event, "seq", 0) <= self->catch_to)
                reactor_loop_event(self, event);
        if (cursor >= self->catch_to)
            reactor_loop_reach(self, self->catch_to);
        else if (i > 0 || is_closed(self, events))
            self->catch_until_ms = clock_mono_ms() + COMMIT_MS;
        else if (clock_mono_ms() > self->catch_until_ms) {
            log_warning("reactor: events %llu to %llu are not in the journal: nothing reacts to them",
                        (unsigned long long) self->routed + 1, (unsigned long long) self->catch_to);
            reactor_loop_reach(self, self->catch_to);
        }
    } else if (self->events_more && self->events != NULL)
        (void) reactor_loop_drain(self, self->events, true);
    if (self->line_more && self->line != NULL)
        (void) reactor_loop_drain(self, self->line, false);
    fence(self, now_ms);
    if (self->unchecked && self->line != NULL) {
        /* Report files of the rules that do not exist, once per change. */
        json_auto_t *files = rules_files(self->rules);
        fileclient_t *client = fileclient_local(self->opts, NULL);
        json_t *one;
        size_t i;
        self->unchecked = false;
        json_array_foreach (files, i, one) {
            AUTO_FREE char *why = reaction_missing(client, value_str(one, "file", ""));
            if (why != NULL)
                work_error(self, one, self->routed, "for %s: %s", value_str(one, "for", ""), why);
        }
        fileclient_destroy(&client);
    }
    rrender_turn(self);
    work_turn(self);

    /* Take a snapshot when the last one is written, the pause is over and something changed. */
    reactor_loop_settle(self);
    snap_done(self);
    if (self->snap_rules == NULL && now_ms >= self->snap_next_ms &&
        !(!self->dirty && self->routed == self->written)) {
        int64_t begin_ms = clock_mono_ms();
        json_auto_t *state = rules_state(self->rules);
        self->snap_rules = value_dump(state);
        self->snap_seq = self->routed;
        self->snap_open = reactor_loop_mark(self);
        self->dirty = false;
        snap_done(self);
        int64_t end_ms = clock_mono_ms(), rest_ms = (end_ms - begin_ms) * SNAP_PART;
        self->snap_next_ms = end_ms + (rest_ms > SNAP_MS ? rest_ms : SNAP_MS);
    }

    tell_backlog(self);
}

/* Wait and dispatch. False: terminate. */
static bool
reactor_loop_poll(rloop_t *self)
{
    zmq_pollitem_t items[ITEM_WORKERS + LIMIT_REACTOR_WORKERS] = { { 0 } };
    bool paused = is_catching(self) || !reactor_loop_has_room(self);
    size_t n_pool = self->n_pool;
    items[ITEM_PIPE] = (zmq_pollitem_t){ zsock_resolve(self->pipe), 0, ZMQ_POLLIN, 0 };
    for (int i = ITEM_EVENTS; i <= ITEM_LINE; i++) {
        const local_client_t *c = i == ITEM_LINE ? self->line : paused ? NULL : self->events;
        /* An absent connection is replaced by the pipe's item, which zmq_poll may have twice. */
        items[i] = c != NULL ? (zmq_pollitem_t){ NULL, local_fd(c), ZMQ_POLLIN, 0 } : items[ITEM_PIPE];
    }
    for (size_t i = 0; i < n_pool; i++)
        items[ITEM_WORKERS + i] = (zmq_pollitem_t){ zsock_resolve(self->pool[i].actor), 0, ZMQ_POLLIN, 0 };
    if (zmq_poll(items, ITEM_WORKERS + (int) n_pool, (long) reactor_loop_patience(self, clock_mono_ms())) < 0)
        return errno == EINTR;
    if (items[ITEM_PIPE].revents && !reactor_loop_told(self))
        return false;
    for (size_t i = 0; i < n_pool; i++)
        if (items[ITEM_WORKERS + i].revents)
            rrender_ready(self, &self->pool[i]);
    if (self->line != NULL && items[ITEM_LINE].socket == NULL && items[ITEM_LINE].revents &&
        !reactor_loop_drain(self, self->line, false))
        return true;
    if (self->events != NULL && items[ITEM_EVENTS].socket == NULL && items[ITEM_EVENTS].revents)
        (void) reactor_loop_drain(self, self->events, true);
    return true;
}

/* Tasks are freed only if no render actor still has some. False: the shared struct must stay. */
static bool
reactor_loop_end(rloop_t *self)
{
    bool ended = rrender_destroy(self);
    local_client_destroy(&self->events);
    local_client_destroy(&self->line);
    while (ended && self->open != NULL) {
        rtask_t *task = self->open;
        rtask_close(self, task);
        rtask_free(task);
    }
    map_destroy(&self->asked);
    map_destroy(&self->begun);
    map_destroy(&self->warned);
    ancestry_destroy(&self->ancestry);
    store_reader_destroy(&self->reader);
    rules_destroy(&self->rules);
    while (self->changes != NULL) {
        change_t *c = self->changes;
        self->changes = c->next;
        change_free(c);
    }
    json_decref(self->opts);
    json_decref(self->option);
    free(self->snap_rules);
    return ended;
}

/* czmq's actor: signal readiness, run until terminated, and publish whether everything ended. */
void
reactor_actor(zsock_t *pipe, void *arg)
{
    rloop_t self = { .shared = arg, .pipe = pipe };

    self.opts = json_object();
    self.files = map_new(free);
    self.asked = map_new(NULL);
    self.begun = map_new(NULL);
    self.warned = map_new(NULL);
    self.ancestry = ancestry_new(self.shared->parents);
    for (int i = 0; i < 2; i++)
        self.ready_tail[i] = &self.ready[i];

    (void) zsock_signal(pipe, 0);
    while (reactor_loop_poll(&self))
        reactor_loop_turn(&self);
    self.shared->cut = !reactor_loop_end(&self);
    atomic_store_explicit(&self.shared->over, true, memory_order_release);
}
