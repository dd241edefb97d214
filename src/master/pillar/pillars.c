/* pillars.c - compile minions' pillars: a queue, a pool of actors, and a cache of compiled pillars.
 *
 * A request becomes a task, which the loop fills with deep copies (jansson's trees are not shared between
 * threads) and passes to an idle actor. The actor answers from the minion's cached pillar if its key
 * (everything but files) is equal and every file it read is unchanged; otherwise it compiles. One minion's
 * tasks run one after another. */
#include <stdatomic.h>

#include "common/base/clock.h"
#include "common/base/digest.h"
#include "common/base/str.h"
#include "common/net/sock.h"
#include "common/pillar/pillar.h"
#include "common/pillar/tops.h"
#include "common/py/py_error.h"
#include "common/py/py_json.h"
#include "common/py/py_wire.h"
#include "master/events/bus.h"
#include "master/minions/gate.h"
#include "master/minions/miniondata.h"
#include "master/minions/message.h"
#include "master/front/part.h"
#include "master/pillar/pillargit.h"
#include "master/minions/post.h"
#include "master/minions/refused.h"
#include "salt/log.h"
#include "salt/value.h"

#define END_WAIT_MS     1000   /* for compiles under way when the master ends */
#define REFUSED_MAX     10     /* values that one compile reports by events */
#define AGAIN_MS        5000   /* pause before a minion asks again when the queue is full */
#define FRESH_MS        300000 /* a cached pillar is compiled anew after this, whatever its files say */
#define SOURCE_NAME_MAX 64     /* bytes of a name repeated in a message */

/* A cached pillar, passed to an actor and back. */
typedef struct kept {
    char *key;  /* owned: digest of all inputs but files */
    char *text; /* owned: JSON of py_wire.h */
    pillar_reads_t *reads;
    int64_t made_ms; /* monotonic */
} kept_t;

/* A request, from arrival to answer. Owned by the actor while it has it. */
typedef struct task {
    struct task *next;
    uint32_t slot;
    size_t bytes; /* size of the request */
    char z85[KEY_Z85_LEN];
    uint8_t rid[RID_MAX];
    size_t rid_len;
    json_t *ask; /* owned and unshared, as everything below */
    char *id;
    json_t *grains, *opts; /* opts NULL: unchanged */
    uint64_t generation;   /* of the configuration */
    kept_t *kept;
    char *frame; /* the encoded answer */
    size_t frame_len;
    json_t *refused; /* values reported through call_env's `refused`; NULL: none */
    json_t *shown;   /* the pillar for targets; NULL: unchanged, or not kept */
    atomic_bool passed;
} task_t;

typedef struct worker {
    zactor_t *actor;
    struct pillars *owner;
    bool busy, stale; /* stale: its configuration is out of date */
    uint32_t slot;    /* minion of its task */
} worker_t;

typedef struct pillars {
    front_t *front;
    worker_t pool[LIMIT_PILLAR_WORKERS];
    size_t n_pool, n_queue, queue_bytes;
    task_t *queue, **queue_tail;
    pillargit_t *git;
    pillar_claims_t *claims;
    map_t *kept; /* id -> kept_t */
    size_t kept_bytes;
    uint64_t generation;
} pillars_t;

static pillars_t *
pillars_own(const front_t *front)
{
    return front->own[PART_pillars];
}

static void
kept_free(kept_t *k)
{
    if (k == NULL)
        return;
    pillar_reads_destroy(&k->reads);
    free(k->key);
    free(k->text);
    free(k);
}

static void
kept_free_void(void *k)
{
    kept_free(k);
}

static void
task_free(task_t *t)
{
    json_decref(t->ask);
    json_decref(t->grains);
    json_decref(t->opts);
    json_decref(t->shown);
    json_decref(t->refused);
    kept_free(t->kept);
    free(t->id);
    free(t->frame);
    free(t);
}

/* Pass a task's ownership through the pipe. The pipe orders memory as well, but inside a library that the
 * thread sanitizer can't see; the atomic shows it. */
static void
pillars_pass(void *to, task_t *t)
{
    atomic_store_explicit(&t->passed, true, memory_order_release);
    (void) zsock_send(to, "p", t);
}

/* NULL: terminate. */
static task_t *
pillars_take(void *from)
{
    task_t *t = NULL;
    if (zsock_recv(from, "p", &t) != 0 || t == NULL)
        return NULL;
    (void) atomic_load_explicit(&t->passed, memory_order_acquire);
    return t;
}

/* ---- inside the actor ------------------------------------------------------------------------ */

typedef struct actor_env {
    registry_t *modules;
    json_t *opts;
    pillargit_t *git;        /* BORROWED, as the next */
    pillar_claims_t *claims; /* locks itself */
} actor_env_t;

/* Encode the answer; one that is too large becomes an error. */
static void
pillars_answer(task_t *t, json_t *pillar, const char *error)
{
    fail_auto_t err = FAIL_INIT;
    json_t *n = value_get(t->ask, "n");
    json_auto_t *body = json_pack("{s:O*, s:O*, s:s*}", "n", n, "pillar", pillar, "error", error);
    t->frame = wire_encode(MSG_pillar, body, &t->frame_len, &err);
    if (t->frame != NULL)
        return;
    json_auto_t *failed = json_pack("{s:O*, s:s}", "n", n, "error", fail_text(&err));
    t->frame = wire_encode(MSG_pillar, failed, &t->frame_len, NULL);
}

/* True when the cached pillar equals what a compile would give. With pillar_cache, results of functions count
 * as unchanged for pillar_cache_ttl seconds. */
static bool
pillars_holds(const kept_t *k, const char *key, json_t *opts)
{
    int64_t age = clock_mono_ms() - k->made_ms;
    bool cache = value_bool(opts, "pillar_cache", false);
    if (!str_eq(k->key, key) || (pillar_reads_world(k->reads) && !cache) ||
        age > (cache ? value_int(opts, "pillar_cache_ttl", 3600) * 1000 : FRESH_MS))
        return false;
    return pillar_reads_hold(k->reads, opts);
}

/* Answer from the cache if it holds; `clean` in the request forces a compile. The cached pillar stays with
 * the task and returns to the cache with it. */
static bool
answer_kept(const actor_env_t *env, task_t *t, const char *key)
{
    if (t->kept == NULL || value_bool(t->ask, "clean", false) || !pillars_holds(t->kept, key, env->opts))
        return false;
    log_debug("pillar of %s: nothing that it is made of has changed: it is the cached one", t->id);
    json_auto_t *pillar = json_loads(t->kept->text, JSON_ALLOW_NUL, NULL);
    pillars_answer(t, pillar, NULL);
    return true;
}

/* True when the result may be kept for targets and the mine: compiled without overrides or sources that the
 * minion brought. */
static bool
pillars_is_kept(const json_t *ask)
{
    return value_bool(ask, "keep", false) && !value_truthy(value_get(ask, "pillar")) &&
           !value_truthy(value_get(ask, "ext"));
}

/* call_env's `refused`: collect values for events, fired when the task is back in the loop. */
static void
pillars_refused(void *cookie, json_t *what)
{
    task_t *t = cookie;
    if (t->refused == NULL)
        t->refused = json_array();
    if (json_array_size(t->refused) < REFUSED_MAX)
        json_array_append(t->refused, what);
}

/* Answers what master_tops says, if that is the question: of the minion as its key names it. */
static bool
pillars_tops(const actor_env_t *env, task_t *t)
{
    if (!value_bool(t->ask, "tops", false))
        return false;
    pillar_env_t pe = { .opts = env->opts,
                        .registry = env->modules,
                        .id = t->id,
                        .grains = t->grains,
                        .saltenv = value_str(t->ask, "saltenv", NULL),
                        .pillarenv = value_str(t->ask, "pillarenv", NULL),
                        .peer_grains = true };
    json_auto_t *tops = tops_find(&pe);
    pillars_answer(t, tops, NULL);
    return true;
}

/* Set which minion and job this thread's log lines are about. The jid is the minion's claim. */
static void
log_for(const char *id, const json_t *ask)
{
    const char *jid = value_str(ask, "jid", "");
    log_for_minion(id);
    log_job(clock_is_jid(jid) ? jid : "");
}

/* Answer a task from the cache, by compiling, or with an error, whose text stays in the log. Only pillars
 * that may be kept go to targets and the cache. */
static void
pillars_work(const actor_env_t *env, task_t *t)
{
    fail_auto_t err = FAIL_INIT;
    AUTO(pillar_reads) reads = pillar_reads_new();

    /* Members of the request that do not change the result are left out. */
    json_auto_t *ask = json_copy(t->ask);
    static const char *const no_input[] = { "n", "clean", "keep", "grains", "jid" };
    for (size_t i = 0; i < NELEMS(no_input); i++)
        (void) json_object_del(ask, no_input[i]);
    json_auto_t *all = json_pack("[I, s, O, O*]", (json_int_t) t->generation, t->id, ask, t->grains);
    AUTO_FREE char *text = value_dump(all);
    AUTO_FREE char *key = digest_bytes("sha256", text, strlen(text), NULL);

    if (pillars_tops(env, t) || answer_kept(env, t, key))
        return;
    /* Compile for an untrusted minion: its grains and overrides are marked as a peer's (py_peer.h), so values
     * made of them are recognised, and refused where files must not depend on them. A failure leaves `err` or
     * a Python error raised. */
    pillar_env_t pe = { .opts = env->opts,
                        .registry = env->modules,
                        .id = t->id,
                        .grains = t->grains,
                        .reads = reads,
                        .peer_grains = true,
                        .peer_override = true,
                        .refused = pillars_refused,
                        .cookie = t,
                        .claims = env->claims };
    pillar_env_ask(&pe, t->ask);
    pillargit_also(env->git, pe.ext);
    int64_t begin_us = clock_mono_us();
    AUTO(py) pillar = pillar_compile(&pe, &err);
    log_debug("pillar of %s: %s in %.6f s", t->id, pillar != NULL ? "compiled" : "did not compile",
              (double) (clock_mono_us() - begin_us) / 1e6);
    py_unref(pe.override);
    json_auto_t *wire = pillar != NULL ? py_to_wire_peer(pillar) : NULL;
    if (wire == NULL) {
        log_error("%s", err.text != NULL ? fail_text(&err) : py_raised_text());
        pillars_answer(t, NULL, "the pillar can't be compiled; the master's log says why");
        py_clear();
        return;
    }
    pillars_answer(t, wire, NULL);
    if (!pillars_is_kept(t->ask))
        return;
    t->shown = py_to_json(pillar);
    py_clear();
    kept_free(STEAL(t->kept));

    /* A pillar with errors is not cached: it may compile next time from the same files. */
    if (!py_is(pillar, PY_DICT) || py_dict_gets(pillar, "_errors") == NULL) {
        /* Attach a compiled pillar to its task, for the cache. */
        t->kept = xcalloc(1, sizeof(*t->kept));
        t->kept->key = STEAL(key);
        t->kept->text = value_dump(wire);
        t->kept->reads = STEAL(reads);
        t->kept->made_ms = clock_mono_ms();
    }
}

/* TAKES env. */
static void
env_free(actor_env_t *env)
{
    json_decref(env->opts);
    free(env);
}

/* zactor_fn: work on tasks until the pipe says to end. Log lines carry the minion's id and job meanwhile. */
static void
pillars_actor(zsock_t *pipe, void *arg)
{
    actor_env_t *env = arg;
    (void) zsock_signal(pipe, 0);
    for (task_t *t; (t = pillars_take(pipe));) {
        if (t->opts != NULL) {
            json_decref(env->opts);
            env->opts = STEAL(t->opts);
        }
        log_for(t->id, t->ask);
        pillars_work(env, t);
        log_for("", NULL);
        pillars_pass(pipe, t);
    }
    env_free(env);
}

/* ---- the front loop's side ------------------------------------------------------------------- */

/* Take a minion's pillar out of the cache: the task owns it until it returns. */
static kept_t *
take_kept(pillars_t *self, const char *id)
{
    kept_t *k = map_take(self->kept, id);
    if (k != NULL)
        self->kept_bytes -= strlen(k->text);
    return k;
}

/* Deliver a finished task, if its minion still has the same key: events, cache, answer. */
static void
pillars_deliver(pillars_t *self, task_t *t)
{
    front_t *front = self->front;
    minion_t *m = peers_by_slot(front->peers, t->slot);
    peer_t *peer = peers_by_rid(front->peers, t->rid, t->rid_len);
    bool known = m != NULL && m->state == KEY_ACCEPTED && str_eq(m->id, t->id) && str_eq(m->z85, t->z85);
    if (!known)
        return;

    /* Cache a pillar (NULL: drop it). Beyond LIMIT_PILLAR_KEPT the oldest entries go, as they would be
     * compiled again soonest. */
    const char *id = t->id;
    kept_t *k = STEAL(t->kept);
    kept_t *old = map_take(self->kept, id);
    const char *key;
    void *v;
    if (old != NULL)
        self->kept_bytes -= strlen(old->text);
    kept_free(old);
    if (k != NULL) {
        self->kept_bytes += strlen(k->text);
        map_set(self->kept, id, k);
        for (size_t i = 0; self->kept_bytes > LIMIT_PILLAR_KEPT && map_next(self->kept, &i, &key, &v);) {
            self->kept_bytes -= strlen(((kept_t *) v)->text);
            (void) map_del(self->kept, key);
        }
    }

    /* Fire events about values of the minion that pillar files must not depend on. */
    json_t *one;
    size_t i;
    json_array_foreach (t->refused, i, one) {
        if (!minion_may_tell(m, 0, clock_mono_ms()))
            break;
        json_t *data = json_copy(one);
        json_object_set_new(data, "id", json_string(m->id));
        (void) bus_fire(front, "salt/gate/value", &data);
    }

    if (t->shown != NULL) {
        /* Keep the pillar for targets, unless minion_data_cache is off. */
        if (conf_bool(front->conf, "minion_data_cache"))
            miniondata_keep(front, m, STORE_PILLAR, t->shown);
    }
    /* A connecting minion's refresh event was fired with its grains. */
    if (!value_bool(t->ask, "tops", false) &&
        (!pillars_is_kept(t->ask) || value_bool(t->ask, "clean", false))) {
        /* Tell listeners that the master's data of this minion is new, with minion_data_cache_events, as
         * in Salt. */
        if (conf_bool(front->conf, "minion_data_cache_events") && minion_may_tell(m, 0, clock_mono_ms())) {
            json_t *data = json_pack("{s:s}", "Minion data cache refresh", m->id);
            AUTO_FREE char *tag = xasprintf("minion/refresh/%s", m->id);
            (void) bus_fire(front, tag, &data);
        }
    }
    if (peer == NULL || peer->minion != m || !str_eq(peer->z85, t->z85) || t->frame == NULL)
        return;
    front->counters.out++;
    (void) gate_send(front, peer, t->frame, t->frame_len);
}

static worker_t *pillars_idle_worker(pillars_t *self);

static bool
is_worked_on(const pillars_t *self, uint32_t slot)
{
    for (size_t i = 0; i < self->n_pool; i++)
        if (self->pool[i].busy && self->pool[i].slot == slot)
            return true;
    return false;
}

/* The first queued task whose minion has none at work; NULL without one. */
static task_t *
pillars_next(pillars_t *self)
{
    for (task_t **at = &self->queue; *at; at = &(*at)->next) {
        task_t *t = *at;
        if (is_worked_on(self, t->slot))
            continue;
        *at = t->next;
        if (t->next == NULL)
            self->queue_tail = at;
        self->n_queue--;
        self->queue_bytes -= t->bytes;
        t->next = NULL;
        return t;
    }
    return NULL;
}

/* Pair idle actors with queued tasks until either runs out. */
static void
assign_all(pillars_t *self)
{
    worker_t *w;
    task_t *t;
    while ((w = pillars_idle_worker(self)) && (t = pillars_next(self))) {
        /* Fill a task with deep copies for its actor, unless the minion is gone. */
        minion_t *m = peers_by_slot(self->front->peers, t->slot);
        json_t *grains = value_get(t->ask, "grains");
        if (m == NULL || m->state != KEY_ACCEPTED || !str_eq(m->z85, t->z85)) {
            task_free(t);
            continue;
        }
        t->id = xstrdup(m->id);
        if (!json_is_object(grains))
            grains = miniondata_get(self->front, m, STORE_GRAINS);
        t->grains = grains != NULL ? json_deep_copy(grains) : json_object();
        t->opts = w->stale ? json_deep_copy(self->front->opts) : NULL;
        t->generation = self->generation;
        t->kept = take_kept(self, t->id);
        w->stale = false;

        w->busy = true;
        w->slot = t->slot;
        pillars_pass(w->actor, t);
    }
}

/* Start queued tasks for which there was no worker before. */
static void
pillars_tick(front_t *front, int64_t now_ms)
{
    pillars_t *self = pillars_own(front);
    if (self->n_queue > 0)
        assign_all(self);
}

static int
pillars_finished(zloop_t *loop, zsock_t *reader, void *arg)
{
    worker_t *w = arg;
    task_t *t = pillars_take(w->actor);
    if (t == NULL)
        return 0;
    w->busy = false;
    pillars_deliver(w->owner, t);
    task_free(t);
    assign_all(w->owner);
    return 0;
}

/* An idle actor, or a new one while tasks wait; NULL when the pool is full or sockets are short. */
static worker_t *
pillars_idle_worker(pillars_t *self)
{
    for (size_t i = 0; i < self->n_pool; i++)
        if (!self->pool[i].busy)
            return &self->pool[i];
    if (self->n_pool == NELEMS(self->pool) || self->n_queue == 0 || !sock_room_for_actor())
        return NULL;
    actor_env_t *env = xcalloc(1, sizeof(*env));
    env->modules = self->front->modules;
    env->opts = json_object();
    env->git = self->git;
    env->claims = self->claims;
    worker_t *w = &self->pool[self->n_pool];
    w->owner = self;
    w->stale = true;
    w->actor = zactor_new(pillars_actor, env);
    if (w->actor == NULL) {
        env_free(env);
        return NULL;
    }
    self->n_pool++;
    (void) zloop_reader(self->front->loop, zactor_sock(w->actor), pillars_finished, w);
    return w;
}

/* True when the queue has room, in all and within one minion's share. */
static bool
pillars_has_room(const pillars_t *self, uint32_t slot, size_t bytes)
{
    size_t n = 0, waiting = bytes;
    if (self->n_queue >= LIMIT_PILLAR_QUEUE || self->queue_bytes + bytes > LIMIT_PILLAR_BYTES)
        return false;
    for (const task_t *t = self->queue; t; t = t->next)
        if (t->slot == slot) {
            n++;
            waiting += t->bytes;
        }
    return n == 0 || (n < LIMIT_PILLAR_EACH && waiting <= LIMIT_PILLAR_BYTES / 4);
}

/* Refuse sources that are not allowed on demand here, where refusals are counted and paced; the pillar is
 * compiled without them. */
static void
without_ext(front_t *front, const peer_t *peer, json_t *ask)
{
    const char *name = pillar_not_on_demand(front->opts, value_get(ask, "ext"));
    if (name == NULL)
        return;
    refused_tell(front, REFUSED_MESSAGE, peer->address,
                 "minion %s: ext_pillar %s is not allowed on demand (option on_demand_ext_pillar)",
                 peer->minion->id, strlen(name) <= SOURCE_NAME_MAX ? name : "(a long name)");
    (void) json_object_del(ask, "ext");
}

/* The message pillar_ask. */
static void
pillars_ask(front_t *front, peer_t *peer, const inbound_t *in)
{
    pillars_t *self = pillars_own(front);
    const minion_t *m = peer->minion;
    const json_t *body = in->body;
    size_t len = in->len;
    if (m == NULL || !json_is_integer(value_get(body, "n")))
        return;
    if (!pillars_has_room(self, m->slot, len)) {
        /* Tell a minion to repeat its request in AGAIN_MS; it is not queued. */
        json_auto_t *answer = json_pack("{s:O*, s:s, s:i}", "n", value_get(body, "n"), "error",
                                        "the master has too many pillars to compile", "again", AGAIN_MS);
        (void) post_send(self->front, peer, MSG_pillar, answer);

        return;
    }
    task_t *t = xcalloc(1, sizeof(*t));
    t->slot = m->slot;
    t->bytes = len;
    t->rid_len = peer->rid_len;
    memcpy(t->rid, peer->rid, peer->rid_len);
    (void) str_copy(t->z85, sizeof(t->z85), peer->z85);
    t->ask = json_deep_copy(body);
    without_ext(self->front, peer, t->ask);
    *self->queue_tail = t;
    self->queue_tail = &t->next;
    self->n_queue++;
    self->queue_bytes += len;
    assign_all(self);
}

const message_row_t message_pillar_ask = { .body = pillars_ask, .most = LIMIT_GRAINS_VALUES };

/* Hook: drop the minion's cached pillar. */
static int
pillars_forget(front_t *front, minion_t *m, const char *what, fail_t *err)
{
    if (str_eq(what, "kept_pillar"))
        kept_free(take_kept(pillars_own(front), m->id));
    return 0;
}

/* Nothing that is cached holds with a new configuration; `generation` invalidates what actors have. */
static void
pillars_reload(front_t *front)
{
    pillars_t *self = pillars_own(front);
    self->generation++;
    self->kept_bytes = 0;
    map_clear(self->kept);
    pillargit_reload(self->git, self->front->opts);
    for (size_t i = 0; i < self->n_pool; i++)
        self->pool[i].stale = true;
}

/* Actors are started on demand, see pillars_idle_worker; cache, claims and the fetching thread live as long
 * as the part. */
static int
pillars_start(front_t *front, fail_t *err)
{
    pillars_t *self = pillars_own(front);
    self->front = front;
    self->queue_tail = &self->queue;
    self->kept = map_new(kept_free_void);
    self->claims = pillar_claims_new();
    self->git = pillargit_new(front->modules, front->opts);
    return 0;
}

/* True when an actor finishes before `until_ms`; its task is freed. */
static bool
pillars_ends(worker_t *w, int64_t until_ms)
{
    task_t *t = NULL;
    int64_t left = until_ms - clock_mono_ms();
    zmq_pollitem_t item = { zsock_resolve(w->actor), 0, ZMQ_POLLIN, 0 };
    if (!w->busy)
        return true;
    if (zmq_poll(&item, 1, left > 0 ? (long) left : 0) <= 0)
        return false;
    if (zsock_recv(w->actor, "p", &t) == 0 && t != NULL)
        task_free(t);
    return true;
}

/* Wait END_WAIT_MS for compiles under way. */
static bool
pillars_destroy(front_t *front)
{
    pillars_t *self = pillars_own(front);
    int64_t until = clock_mono_ms() + END_WAIT_MS;
    bool ended = true;
    for (size_t i = 0; i < self->n_pool; i++) {
        worker_t *w = &self->pool[i];
        if (pillars_ends(w, until))
            zactor_destroy(&w->actor);
        else
            log_warning("a pillar was not compiled in time: its work is cut off");
        ended = ended && w->actor == NULL;
    }
    if (ended)
        ended = pillargit_destroy(&self->git);
    while (self->queue != NULL) {
        task_t *t = self->queue;
        self->queue = t->next;
        task_free(t);
    }
    map_destroy(&self->kept);
    if (ended)
        pillar_claims_destroy(&self->claims);
    return ended;
}

const front_part_t part_pillars = { .name = "pillars",
                                    .size = sizeof(pillars_t),
                                    .start = pillars_start,
                                    .destroy = pillars_destroy,
                                    .reload = pillars_reload,
                                    .tick = pillars_tick,
                                    .forget = pillars_forget };
