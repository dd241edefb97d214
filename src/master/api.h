/* api.h - all that a runner may ask of the master: the local operations and the store, read-only.
 *
 * Layer      master; the only header of it that runners include
 * Threads    a handle belongs to one worker
 * Ownership  results are NEW
 * Tests      tests/unit/runners (runners on a scripted master and a real store)
 */
#ifndef MASTER_API_H
#define MASTER_API_H

#include "salt/plugin.h"

typedef struct master_api master_api_t;

/* Built per worker thread: a local client and a reading connection to the store. */
master_api_t *api_new(const char *sock_dir, const char *store_path, fail_t *err);
void api_destroy(master_api_t **self_p);
/* The worker's handle, from a runner's context (ctx_private). BORROWED. */
master_api_t *api_of(call_ctx_t *ctx);

/* The execution modules, for what runs their functions here (templates of pillar): kept by pointer, given
 * back BORROWED; NULL by default. */
struct registry;
void api_set_modules(master_api_t *self, struct registry *modules);
struct registry *api_modules(const master_api_t *self);

/* Which runner asks. What it begins by the operations `runner` and `wheel` is said to be begun by it. */
void api_set_run(master_api_t *self, const char *jid);
const char *api_run(const master_api_t *self); /* BORROWED; "" by default */
/* For which user it does; a reaction's is "Reactor". */
void api_set_user(master_api_t *self, const char *user);
const char *api_user(const master_api_t *self); /* BORROWED; "" by default */
/* Whether what it works with came from a minion, as a reaction's arguments do; what it begins does too. */
void api_set_peer(master_api_t *self, bool peer);
bool api_peer(const master_api_t *self);

/* The master as a minion, for what compiles and runs states here: kept by pointer; NULL by default. */
struct masterctx_tables;
void api_set_host(master_api_t *self, const struct masterctx_tables *host);
const struct masterctx_tables *api_host(const master_api_t *self);

/* Where api_journal writes; kept by pointer, NULL by default: nothing can be written. */
struct store;
void api_set_store(master_api_t *self, struct store *store);
/* What runners and wheel functions there are: the registries, kept by pointer; NULL by default. */
void api_set_functions(master_api_t *self, struct registry *runners, struct registry *wheels);
struct registry *api_wheels(const master_api_t *self); /* BORROWED */
/* The row of one; NULL when there is none. `ctx`: who asks. BORROWED. */
const func_t *api_function(const master_api_t *self, call_ctx_t *ctx, bool wheel, const char *fun);

/* Another handle on the same master, for another thread. NEW, or NULL with *err. */
master_api_t *api_another(const master_api_t *self, fail_t *err);

/* The journal of orchestrations. `row`, BORROWED:
 *   {"what": "run", "run", "doc": {...}, "plan": [chunk], "start_us"}     a run begins
 *   {"what": "end", "run", "result": {...}, "end_us"}                     it is over; end_us 0: again under way
 *   {"what": "step", "run", "tag", "go", "begin_us", "end_us": 0 while it runs, "doc": {...}}
 * `wait`: return when it is on the disk, with everything that was written before. */
int api_journal(master_api_t *self, const json_t *row, bool wait, fail_t *err);
/* master/store/store_read.h's store_runs, store_run, store_steps, store_notes of kind "orch". */
json_t *api_runs(master_api_t *self, size_t limit, fail_t *err);
json_t *api_run_row(master_api_t *self, const char *run, fail_t *err);
json_t *api_steps(master_api_t *self, const char *run, fail_t *err);
json_t *api_notes(master_api_t *self, const char *run, fail_t *err);

/* Copies of the store, which take their time: store_backup, store_check and store_restore of
 * master/store/store_copy.h, on the master's own store. `go_on` is told how far it is, and may be told to give
 * up by false; `whole`, if not NULL, does what belongs to a backup before that has its name. `path` of a
 * check may be NULL: the store itself. */
typedef struct api_watch {
    bool (*go_on)(void *cookie, uint64_t done, uint64_t of, const char *what);
    int (*whole)(void *cookie, fail_t *err);
    void *cookie;
} api_watch_t;
json_t *api_backup(master_api_t *self, const char *to, const api_watch_t *watch, fail_t *err);
json_t *api_check(master_api_t *self, const char *path, bool full, const api_watch_t *watch, fail_t *err);
json_t *api_restore(master_api_t *self, const char *from, const api_watch_t *watch, fail_t *err);

/* One local operation (include/salt/requests.def). TAKES *request_p. */
int api_request(master_api_t *self, json_t **request_p, json_t **ret_reply, fail_t *err);
/* The same, for masterctx_env_t: `self` is the handle. */
int api_request_of(void *self, json_t **request_p, json_t **ret_reply, fail_t *err);
/* Publish and wait until every target has returned or can't, or `timeout_ms` passed without any news while no
 * minion is known to work on it. *ret_value NEW: {id: {"verdict": TEXT, "return": ..., "retcode": N,
 * "success": B}}, verdict "returned" for those who did. */
int api_execute(master_api_t *self, json_t **request_p, int timeout_ms, json_t **ret_value, fail_t *err);
/* The same with its jid and what went wrong before: *ret_value NEW {"jid": "" when nobody matched, "again"?:
 * true, "minions": as above, "missing": [id named but not accepted]}. An entry of a minion that has the job
 * but lost its connection has "away": true. `news`, if not NULL, is told after each return. */
typedef struct api_wait {
    int timeout_ms;
    void (*news)(void *cookie, size_t returned, size_t of);
    void *cookie;
} api_wait_t;
int api_publish(master_api_t *self, json_t **request_p, const api_wait_t *wait, json_t **ret_value,
                fail_t *err);
/* Begin a runner or wheel function and wait for its end. TAKES *request_p, with its "op". *ret_value NEW: the
 * push (include/salt/requests.def), with "jid". */
int api_run_function(master_api_t *self, json_t **request_p, json_t **ret_value, fail_t *err);
/* The next event after `events` was asked for: 1 and *ret_event NEW {seq, tag, data}, 0 after `timeout_ms`.
 */
int api_next_event(master_api_t *self, int timeout_ms, json_t **ret_event, fail_t *err);
/* Whether the master still answers: it may be ending. */
bool api_alive(master_api_t *self);
/* {"job": {jid, fun, arg, tgt, tgt_type, user, start_us, minions, metadata, ...}, "returns": {id: {return,
 * retcode, success, ...}}}; json null when there is no such job. NULL with *err when the store can't be
 * read. `globs`: only the returns of minions that one of them fits; NULL: all. -EMSGSIZE when they are
 * more than a message holds. */
json_t *api_job(master_api_t *self, const char *jid, const json_t *globs, fail_t *err);
/* Its "job" alone. */
json_t *api_job_row(master_api_t *self, const char *jid, fail_t *err);
/* Its returns one after the other, however many there are: master/store/store_read.h's store_returns_each, of all. */
typedef bool api_return_fn(void *cookie, const char *id, const char *text, size_t len);
int api_returns_each(master_api_t *self, const char *jid, api_return_fn *fn, void *cookie, fail_t *err);
/* Newest last: array of "job" objects; `filter` as store_jobs (master/store/store_read.h). */
json_t *api_jobs(master_api_t *self, const json_t *filter, fail_t *err);
/* {id: grains} as last stored, also of minions that are away; of one minion when `id` is given. */
json_t *api_grains(master_api_t *self, const char *id, fail_t *err);
/* The same of pillars, as last compiled. */
json_t *api_pillar(master_api_t *self, const char *id, fail_t *err);
/* The same of the mine, as the minions sent it. */
json_t *api_mine(master_api_t *self, const char *id, fail_t *err);
/* The jid of the newest job: json string, "" when there is none. */
json_t *api_last_jid(master_api_t *self, fail_t *err);

#endif
