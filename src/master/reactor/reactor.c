/* reactor.c - the reactor's side on the front loop. The reactor is a thread that listens to the event bus,
 * renders the files that match an event's tag (SLS), and runs the reactions in them: jobs, runners, wheel
 * functions. The front loop sends it the configuration through the actor's pipe and reads counters from
 * reactor_shared_t; all else goes through the local socket, like an operator's requests.
 *
 * An event that matches rules becomes one task per file (rtask_t). A render actor turns it into reactions
 * (react_t), which are requested with a note once what they require has succeeded. A task ends with its last
 * reaction.
 *
 *   reactor.c         what the thread is told, and the operation `reactor`
 *   reactor_loop.c    the thread: events in their order, catching up, the cursor
 *   reactor_render.c  actors that render files
 *   reactor_work.c    reactions on their way: what requires what, limits, answers
 *   reactor_task.c    a task, on the list of all
 *   reactor_ancestry.c     which reaction descends from which
 *   reactor_stats.c   what each file has done
 */
#include "master/reactor/reactor_int.h"

#include "common/base/str.h"
#include "common/net/sock.h"
#include "master/front/part.h"
#include "master/front/request.h"
#include "master/store/storage.h"
#include "salt/log.h"
#include "salt/value.h"

typedef struct reactor {
    front_t *front;
    zactor_t *actor; /* NULL: there are no reactors yet, so no thread */
    reactor_shared_t shared;
    json_t *list; /* owned: option and runner's changes; or a string, the file's name */
    bool leader;
} reactor_t;

static reactor_t *
reactor_own(const front_t *front)
{
    return front->own[PART_reactor];
}

/* ---- messages to the thread ---------------------------------------------------------------------------- */

/* Send the configuration to the thread. Never blocks: a thread that does not read is reported as an error. */
static int
reactor_tell(reactor_t *self, bool opts, fail_t *err)
{
    json_auto_t *said = json_pack("{s:O, s:b, s:I}", "reactor", self->list, "leader", self->leader, "seq",
                                  (json_int_t) self->front->seq);
    if (opts)
        json_object_set(said, "opts", self->front->opts);
    AUTO_FREE char *text = value_dump(said);
    int rc = sock_send(zsock_resolve(self->actor), text, strlen(text));
    if (rc < 0)
        return fail_set(err, rc,
                        "the reactor's thread takes no further change at the moment (%s): try again, or "
                        "restart the master",
                        strerror(-rc));
    atomic_fetch_add(&self->shared.told, 1);
    return 0;
}

/* Start the thread, or tell it of the new list. Without reactors there is no thread, and an empty cursor:
 * later reactors do not look at events of before. */
static int
reactor_begin(reactor_t *self, bool opts, fail_t *err)
{
    if (self->actor != NULL)
        return reactor_tell(self, opts, err);
    if (!value_truthy(self->list)) {
        (void) store_put_meta(self->front->store, STORE_REACTOR, "");
        return 0;
    }

    /* Store a cursor for a reactor that has none, so that events from now on are seen even if the master
     * dies before the thread's first snapshot. */
    fail_auto_t why = FAIL_INIT;
    json_auto_t *kept = store_meta(self->front->reader, STORE_REACTOR, &why);
    self->shared.begin = self->front->seq;
    if (why.text == NULL && str_empty(json_string_value(kept))) {
        AUTO_FREE char *text = xasprintf("{\"seq\":%llu}", (unsigned long long) self->shared.begin);
        (void) store_put_meta(self->front->store, STORE_REACTOR, text);
    }

    self->actor = sock_room_for_actor() ? zactor_new(reactor_actor, &self->shared) : NULL;
    return self->actor != NULL
               ? reactor_tell(self, true, err)
               : fail_set(err, -EAGAIN, "no thread can be started: raise the limits of the master's process");
}

static void
reactor_reload(front_t *front)
{
    fail_auto_t err = FAIL_INIT;
    reactor_t *self = reactor_own(front);

    /* Take the list from the option; changes by the runner are dropped. */
    json_t *option = conf_get(self->front->conf, "reactor");
    json_decref(self->list);
    self->list = value_truthy(option) ? json_deep_copy(option) : json_array();

    if (reactor_begin(self, true, &err) < 0)
        log_error("reactor: %s", fail_text(&err));
}

/* Hook: record the jobs and events that a function running as `parent` caused, for the detection of loops. */
static void
caused(front_t *front, const char *parent, const char *jid, uint64_t first, uint64_t last)
{
    reactor_t *self = reactor_own(front);
    char name[32];
    if (self->actor == NULL)
        return;
    if (*jid)
        parents_add(self->shared.parents, jid, parent);
    for (uint64_t seq = first; seq <= last; seq++) {
        parents_event(name, seq);
        parents_add(self->shared.parents, name, parent);
    }
}

/* Hook: events up to this number are never looked at again, not even after a crash. */
static uint64_t
reactor_settled(const front_t *front)
{
    const reactor_t *self = reactor_own(front);
    return self->actor != NULL ? atomic_load(&self->shared.settled) : UINT64_MAX;
}

/* NEW figures of the whole reactor. */
static json_t *
reactor_figures(const reactor_t *self)
{
    const reactor_shared_t *s = &self->shared;
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:b}", "waiting", (json_int_t) atomic_load(&s->waiting),
                     "under_way", (json_int_t) atomic_load(&s->under_way), "begun",
                     (json_int_t) atomic_load(&s->begun), "failed", (json_int_t) atomic_load(&s->failed),
                     "seq", (json_int_t) atomic_load(&s->seq), "leader", self->leader);
}

static void
reactor_status(front_t *front, json_t *reply)
{
    json_object_set_new(reply, "reactor", reactor_figures(reactor_own(front)));
}

/* ---- the operation ------------------------------------------------------------------------------------- */

/* {status, comment}, in Salt's words. */
static json_t *
result(bool done, const char *comment)
{
    return json_pack("{s:{s:b, s:s}}", "result", "status", done, "comment", comment);
}

/* Index of the entry for `tag`, or -1. */
static int
reactor_find(const reactor_t *self, const char *tag)
{
    json_t *entry;
    size_t i;
    json_array_foreach (self->list, i, entry)
        if (str_eq(json_object_iter_key(json_object_iter(entry)), tag))
            return (int) i;
    return -1;
}

static json_t *
reactor_list(reactor_t *self, const json_t *request, fail_t *err)
{
    json_t *list = rules_list(self->list, err);
    return list != NULL ? json_pack("{s:o}", "result", list) : NULL;
}

/* False with *err when the list is a file's: it must be changed there. */
static bool
reactor_is_ours(const reactor_t *self, fail_t *err)
{
    if (json_is_array(self->list))
        return true;
    (void) fail_set(err, -EINVAL, "the reactors are in %s: change them there", json_string_value(self->list));
    return false;
}

/* Replace the list; on failure the former one stays. TAKES *list_p. */
static int
reactor_change(reactor_t *self, json_t **list_p, fail_t *err)
{
    json_t *before = self->list;
    self->list = STEAL(*list_p);
    int rc = reactor_begin(self, false, err);
    if (rc < 0) {
        json_t *refused = self->list;
        self->list = before;
        before = refused;
    }
    json_decref(before);
    return rc;
}

/* As Salt's reactor.add: an entry with the same tag is an answer, not an error. */
static json_t *
reactor_add(reactor_t *self, const json_t *request, fail_t *err)
{
    const char *tag = value_str(request, "event", "");
    json_auto_t *entry = json_object();
    size_t at;
    if (!reactor_is_ours(self, err))
        return NULL;
    if (reactor_find(self, tag) >= 0)
        return result(false, "Reactor already exists.");
    json_object_set(entry, tag, value_get(request, "reactors"));
    json_auto_t *list = json_copy(self->list);
    json_array_append(list, entry);
    if (rules_check(list, &at, err) < 0 || reactor_change(self, &list, err) < 0)
        return NULL;
    return result(true, "Reactor added.");
}

static json_t *
reactor_delete(reactor_t *self, const json_t *request, fail_t *err)
{
    if (!reactor_is_ours(self, err))
        return NULL;
    int at = reactor_find(self, value_str(request, "event", ""));
    if (at < 0)
        return result(false, "Reactor does not exists.");
    json_auto_t *list = json_copy(self->list);
    json_array_remove(list, (size_t) at);
    if (reactor_change(self, &list, err) < 0)
        return NULL;
    return result(true, "Reactor deleted.");
}

static json_t *
is_leader(reactor_t *self, const json_t *request, fail_t *err)
{
    return json_pack("{s:b}", "result", self->leader);
}

/* The figures, how many events of the bus are not looked at yet, and what the rules' files have done. */
static json_t *
reactor_told(reactor_t *self, const json_t *request, fail_t *err)
{
    json_t *told = reactor_figures(self);
    uint64_t seq = atomic_load(&self->shared.seq), newest = self->front->seq;
    json_object_set_new(told, "behind",
                        json_integer(self->actor != NULL && newest > seq ? (json_int_t) (newest - seq) : 0));
    json_object_set_new(told, "rules", rstats_told(self->shared.stats));
    return json_pack("{s:o}", "result", told);
}

/* As Salt's reactor.set_leader: a master that is not a leader reacts to nothing, but its cursor moves on. */
static json_t *
set_leader(reactor_t *self, const json_t *request, fail_t *err)
{
    bool before = self->leader;
    self->leader = value_bool(request, "value", true);
    if (self->actor != NULL && reactor_tell(self, false, err) < 0) {
        self->leader = before;
        return NULL;
    }
    return is_leader(self, request, err);
}

static const struct action {
    const char *name;
    json_t *(*fn)(reactor_t *self, const json_t *request, fail_t *err);
} actions[] = { { "list", reactor_list },   { "add", reactor_add },       { "delete", reactor_delete },
                { "is_leader", is_leader }, { "set_leader", set_leader }, { "status", reactor_told } };

static json_t *
reactor(front_t *front, lconn_t *c, const json_t *request, fail_t *err)
{
    reactor_t *self = reactor_own(front);
    const char *name = value_str(request, "action", "");
    for (size_t i = 0; i < NELEMS(actions); i++)
        if (str_eq(actions[i].name, name))
            return actions[i].fn(self, request, err);
    (void) fail_set(err, -EINVAL, "reactor: there is no action '%s'", name);
    return NULL;
}

const request_row_t request_reactor = { .fn = reactor };

/* ---- life
 * ----------------------------------------------------------------------------------------------- */

static int
reactor_start(front_t *front, fail_t *err)
{
    reactor_t *self = reactor_own(front);
    self->front = front;
    self->leader = true;
    self->shared.sock_dir = xstrdup(conf_str(front->conf, "sock_dir"));
    self->shared.store_path = storage_path(front);
    self->shared.store = front->store;
    self->shared.runners = front->runners;
    self->shared.wheels = front->wheels;
    self->shared.host = front->host;
    self->shared.parents = parents_new();
    self->shared.stats = rstats_new();
    reactor_reload(front);
    return 0;
}

/* The local socket is closed by now, so the thread's requests end. False when a template still renders: its
 * thread keeps using the shared struct, which is then not freed until the process ends. */
static bool
reactor_destroy(front_t *front)
{
    reactor_t *self = reactor_own(front);
    zactor_destroy(&self->actor);
    (void) atomic_load_explicit(&self->shared.over, memory_order_acquire);
    bool ended = !self->shared.cut;
    json_decref(self->list);
    if (ended) {
        parents_destroy(&self->shared.parents);
        rstats_destroy(&self->shared.stats);
        free(self->shared.sock_dir);
        free(self->shared.store_path);
    } else {
        front->own[PART_reactor] = NULL; /* leak on purpose: parts.c frees what is here */
    }
    return ended;
}

const front_part_t part_reactor = { .name = "reactor",
                                    .size = sizeof(reactor_t),
                                    .start = reactor_start,
                                    .destroy = reactor_destroy,
                                    .reload = reactor_reload,
                                    .settled = reactor_settled,
                                    .caused = caused,
                                    .status = reactor_status };
