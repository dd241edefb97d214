/* reactor.c - the front loop's side of the reactor: what it is told, and the operation `reactor`. */
#include "master/reactor_int.h"

#include "common/base/str.h"
#include "common/net/sock.h"
#include "salt/log.h"
#include "salt/value.h"

struct reactor {
    front_t *front;
    zactor_t *actor; /* NULL: nothing has reacted to anything yet */
    reactor_shared_t shared;
    json_t *list; /* owned: the option, and what the runner added; a text: a file's name */
    bool leader;
};

/* ---- what the thread is told --------------------------------------------------------------------------- */

/* The front loop never waits for the thread, whatever has become of it. */
static int
s_tell(reactor_t *self, bool opts, fail_t *err)
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

/* A reactor that has no place to go on from begins now, also when the master dies before it has said so. */
static void
s_mark_begin(reactor_t *self)
{
    fail_auto_t err = FAIL_INIT;
    json_auto_t *kept = store_meta(self->front->reader, STORE_REACTOR, &err);
    self->shared.begin = self->front->seq;
    if (err.text || !str_empty(json_string_value(kept))) /* what can't be read now is not to be overwritten */
        return;
    AUTO_FREE char *text = xasprintf("{\"seq\":%llu}", (unsigned long long) self->shared.begin);
    (void) store_put_meta(self->front->store, STORE_REACTOR, text);
}

/* Without anything to react to there is no thread, and no place to go on from. */
static int
s_start(reactor_t *self, bool opts, fail_t *err)
{
    if (self->actor)
        return s_tell(self, opts, err);
    if (!value_truthy(self->list)) {
        (void) store_put_meta(self->front->store, STORE_REACTOR, "");
        return 0;
    }
    s_mark_begin(self);
    self->actor = sock_room_for_actor() ? zactor_new(reactor_actor, &self->shared) : NULL;
    return self->actor
               ? s_tell(self, true, err)
               : fail_set(err, -EAGAIN, "no thread can be started: raise the limits of the master's process");
}

static void
s_take_option(reactor_t *self)
{
    json_t *option = conf_get(self->front->conf, "reactor");
    json_decref(self->list);
    self->list = value_truthy(option) ? json_deep_copy(option) : json_array();
}

reactor_t *
reactor_new(front_t *front, const char *sock_dir, const char *store_path)
{
    reactor_t *self = xcalloc(1, sizeof(*self));
    self->front = front;
    self->leader = true;
    self->shared.sock_dir = xstrdup(sock_dir);
    self->shared.store_path = xstrdup(store_path);
    self->shared.store = front->store;
    self->shared.runners = front->runners;
    self->shared.wheels = front->wheels;
    self->shared.host = front->host;
    self->shared.born = born_new();
    reactor_reload(self);
    return self;
}

bool
reactor_destroy(reactor_t **self_p)
{
    reactor_t *self = STEAL(*self_p);
    if (!self)
        return true;
    zactor_destroy(&self->actor);
    (void) atomic_load_explicit(&self->shared.over, memory_order_acquire);
    bool ended = !self->shared.cut;
    json_decref(self->list);
    if (!ended) /* a thread goes on with what else there is, until the process ends */
        return false;
    born_destroy(&self->shared.born);
    free(self->shared.sock_dir);
    free(self->shared.store_path);
    free(self);
    return true;
}

void
reactor_reload(reactor_t *self)
{
    fail_auto_t err = FAIL_INIT;
    s_take_option(self);
    if (s_start(self, true, &err) < 0)
        log_error("reactor: %s", fail_text(&err));
}

void
reactor_begot(reactor_t *self, const char *parent, const char *jid, uint64_t first, uint64_t last)
{
    char name[32];
    if (!self->actor)
        return;
    if (*jid)
        born_add(self->shared.born, jid, parent);
    for (uint64_t seq = first; seq <= last; seq++) {
        born_event(name, seq);
        born_add(self->shared.born, name, parent);
    }
}

uint64_t
reactor_settled(const reactor_t *self)
{
    return self->actor ? atomic_load(&self->shared.settled) : UINT64_MAX;
}

json_t *
reactor_figures(const reactor_t *self)
{
    const reactor_shared_t *s = &self->shared;
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:b}", "waiting", (json_int_t) atomic_load(&s->waiting),
                     "under_way", (json_int_t) atomic_load(&s->under_way), "begun",
                     (json_int_t) atomic_load(&s->begun), "failed", (json_int_t) atomic_load(&s->failed),
                     "seq", (json_int_t) atomic_load(&s->seq), "leader", self->leader);
}

/* ---- the operation ------------------------------------------------------------------------------------- */

/* {status, comment}, in Salt's words. */
static json_t *
s_result(bool done, const char *comment)
{
    return json_pack("{s:{s:b, s:s}}", "result", "status", done, "comment", comment);
}

/* The index of the entry that begins with `tag`, or -1. */
static int
s_find(const reactor_t *self, const char *tag)
{
    json_t *entry;
    size_t i;
    json_array_foreach (self->list, i, entry)
        if (str_eq(json_object_iter_key(json_object_iter(entry)), tag))
            return (int) i;
    return -1;
}

static json_t *
s_list(reactor_t *self, const json_t *request, fail_t *err)
{
    json_t *list = rules_list(self->list, err);
    return list ? json_pack("{s:o}", "result", list) : NULL;
}

/* A list that is in a file is changed there. */
static bool
s_is_ours(const reactor_t *self, fail_t *err)
{
    if (json_is_array(self->list))
        return true;
    (void) fail_set(err, -EINVAL, "the reactors are in %s: change them there", json_string_value(self->list));
    return false;
}

/* Another list from now on; the one that was when the thread can't be told. TAKES *list_p. */
static int
s_change(reactor_t *self, json_t **list_p, fail_t *err)
{
    json_t *before = self->list;
    self->list = STEAL(*list_p);
    int rc = s_start(self, false, err);
    if (rc < 0) {
        json_t *refused = self->list;
        self->list = before;
        before = refused;
    }
    json_decref(before);
    return rc;
}

static json_t *
s_add(reactor_t *self, const json_t *request, fail_t *err)
{
    const char *tag = value_str(request, "event", "");
    json_auto_t *entry = json_object();
    size_t at;
    if (!s_is_ours(self, err))
        return NULL;
    if (s_find(self, tag) >= 0)
        return s_result(false, "Reactor already exists.");
    json_object_set(entry, tag, value_get(request, "reactors"));
    json_auto_t *list = json_copy(self->list);
    json_array_append(list, entry);
    if (rules_check(list, &at, err) < 0 || s_change(self, &list, err) < 0)
        return NULL;
    return s_result(true, "Reactor added.");
}

static json_t *
s_delete(reactor_t *self, const json_t *request, fail_t *err)
{
    if (!s_is_ours(self, err))
        return NULL;
    int at = s_find(self, value_str(request, "event", ""));
    if (at < 0)
        return s_result(false, "Reactor does not exists.");
    json_auto_t *list = json_copy(self->list);
    json_array_remove(list, (size_t) at);
    if (s_change(self, &list, err) < 0)
        return NULL;
    return s_result(true, "Reactor deleted.");
}

static json_t *
s_is_leader(reactor_t *self, const json_t *request, fail_t *err)
{
    return json_pack("{s:b}", "result", self->leader);
}

static json_t *
s_set_leader(reactor_t *self, const json_t *request, fail_t *err)
{
    bool before = self->leader;
    self->leader = value_bool(request, "value", true);
    if (self->actor && s_tell(self, false, err) < 0) {
        self->leader = before;
        return NULL;
    }
    return s_is_leader(self, request, err);
}

static const struct action {
    const char *name;
    json_t *(*fn)(reactor_t *self, const json_t *request, fail_t *err);
} actions[] = { { "list", s_list },
                { "add", s_add },
                { "delete", s_delete },
                { "is_leader", s_is_leader },
                { "set_leader", s_set_leader } };

json_t *
reactor_request(reactor_t *self, const json_t *request, fail_t *err)
{
    const char *name = value_str(request, "action", "");
    for (size_t i = 0; i < NELEMS(actions); i++)
        if (str_eq(actions[i].name, name))
            return actions[i].fn(self, request, err);
    (void) fail_set(err, -EINVAL, "reactor: there is no action '%s'", name);
    return NULL;
}
