/* api.h - everything that a runner may ask of the master: requests over the local socket, and the store,
 * read-only but for the journal of orchestrations.
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

/* Made per worker thread: a local connection and a store reader. NEW, or NULL with *err. */
master_api_t *api_new(const char *sock_dir, const char *store_path, fail_t *err);
void api_destroy(master_api_t **self_p);
/* The worker's handle, from a runner's context (ctx_private). BORROWED. */
master_api_t *api_of(call_ctx_t *ctx);

/* The execution modules, for pillar templates that run here. Kept by pointer, returned BORROWED; NULL by
 * default. */
struct registry;
void api_set_modules(master_api_t *self, struct registry *modules);
struct registry *api_modules(const master_api_t *self);

/* The jid of the runner. Functions that it begins are recorded as begun by it. */
void api_set_run(master_api_t *self, const char *jid);
const char *api_run(const master_api_t *self); /* BORROWED; "" by default */
/* The user on whose behalf it runs; a reaction's is "Reactor". */
void api_set_user(master_api_t *self, const char *user);
const char *api_user(const master_api_t *self); /* BORROWED; "" by default */
/* True when it works with text of a minion's, as a reaction's arguments; passed on to what it begins. */
void api_set_peer(master_api_t *self, bool peer);
bool api_peer(const master_api_t *self);

/* The master as a minion, for compiling and running states here. Kept by pointer; NULL by default. */
struct masterctx_tables;
void api_set_host(master_api_t *self, const struct masterctx_tables *host);
const struct masterctx_tables *api_host(const master_api_t *self);

/* The store that api_journal writes to. Kept by pointer; NULL by default: read-only. */
struct store;
void api_set_store(master_api_t *self, struct store *store);
/* The registries of runners and wheel functions. Kept by pointer; NULL by default. */
void api_set_functions(master_api_t *self, struct registry *runners, struct registry *wheels);
struct registry *api_wheels(const master_api_t *self); /* BORROWED */
/* A function's row, BORROWED; NULL without one. `ctx`: the caller. */
const func_t *api_function(const master_api_t *self, call_ctx_t *ctx, bool wheel, const char *fun);

/* Another handle on the same master for another thread. NEW, or NULL with *err. */
master_api_t *api_another(const master_api_t *self, fail_t *err);

/* The journal of orchestrations. `row`, BORROWED:
 *   {"what": "run", "run", "doc": {...}, "plan": [chunk], "start_us"}     a run begins
 *   {"what": "end", "run", "result": {...}, "end_us"}                     it ends; end_us 0: under way again
 *   {"what": "step", "run", "tag", "go", "begin_us", "end_us": 0 while it runs, "doc": {...}}
 * `wait`: return when it is on the disk, with everything that was written before. */
int api_journal(master_api_t *self, const json_t *row, bool wait, fail_t *err);
/* master/store/store_read.h's store_runs, store_run, store_steps, store_notes of kind "orch". */
json_t *api_runs(master_api_t *self, size_t limit, fail_t *err);
json_t *api_run_row(master_api_t *self, const char *run, fail_t *err);
json_t *api_steps(master_api_t *self, const char *run, fail_t *err);
json_t *api_notes(master_api_t *self, const char *run, fail_t *err);

/* Copies of the master's own store, see store_backup, store_check and store_restore in
 * master/store/store_copy.h. They take long: `go_on` gets the progress and cancels with false; `whole`, if
 * not NULL, runs before a backup gets its name. The `path` of a check may be NULL: the store itself. */
typedef struct api_watch {
    bool (*go_on)(void *cookie, uint64_t done, uint64_t of, const char *what);
    int (*whole)(void *cookie, fail_t *err);
    void *cookie;
} api_watch_t;
json_t *api_backup(master_api_t *self, const char *to, const api_watch_t *watch, fail_t *err);
json_t *api_check(master_api_t *self, const char *path, bool full, const api_watch_t *watch, fail_t *err);
json_t *api_restore(master_api_t *self, const char *from, const api_watch_t *watch, fail_t *err);

/* Make a request (include/salt/requests.def) and wait for the reply. TAKES *request_p. 0, or a negative errno
 * with *err. */
int api_request(master_api_t *self, json_t **request_p, json_t **ret_reply, fail_t *err);
/* The same for masterctx_env_t: `self` is the handle. */
int api_request_of(void *self, json_t **request_p, json_t **ret_reply, fail_t *err);
/* Publish and wait until every target has returned or can't, or nothing was heard for `timeout_ms` while no
 * minion works on it. *ret_value NEW: {id: {"verdict": TEXT, "return": ..., "retcode": N, "success": B}},
 * verdict "returned" for returns. */
int api_execute(master_api_t *self, json_t **request_p, int timeout_ms, json_t **ret_value, fail_t *err);
/* The same with the reply's fields: *ret_value NEW {"jid": "" when no minion matched, "again"?: true,
 * "minions": as above, "missing": [ids that are named and not accepted]}. A minion that has the job but is
 * disconnected has "away": true. `news` (may be NULL) is called after each return. */
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
/* The next event after the request `events`: 1 and *ret_event NEW {seq, tag, data}; 0 after `timeout_ms`. */
int api_next_event(master_api_t *self, int timeout_ms, json_t **ret_event, fail_t *err);
/* True while the master answers: it may be ending. */
bool api_alive(master_api_t *self);
/* {"job": {jid, fun, arg, tgt, tgt_type, user, start_us, minions, metadata, ...}, "returns": {id: {return,
 * retcode, success, ...}}}; json null without such a job; NULL with *err when the store can't be read.
 * `globs`: only returns of matching minions; NULL: all. -EMSGSIZE when they exceed a message. */
json_t *api_job(master_api_t *self, const char *jid, const json_t *globs, fail_t *err);
/* The "job" alone. */
json_t *api_job_row(master_api_t *self, const char *jid, fail_t *err);
/* Call `fn` with each return, as store_returns_each in master/store/store_read.h. */
typedef bool api_return_fn(void *cookie, const char *id, const char *text, size_t len);
int api_returns_each(master_api_t *self, const char *jid, api_return_fn *fn, void *cookie, fail_t *err);
/* Array of "job" objects, newest last; `filter` as for store_jobs (master/store/store_read.h). */
json_t *api_jobs(master_api_t *self, const json_t *filter, fail_t *err);
/* {id: grains} as last stored, also of absent minions; of one minion when `id` is given. */
json_t *api_grains(master_api_t *self, const char *id, fail_t *err);
/* The same for pillars, as last compiled. */
json_t *api_pillar(master_api_t *self, const char *id, fail_t *err);
/* The same for the mine. */
json_t *api_mine(master_api_t *self, const char *id, fail_t *err);
/* The newest job's jid: json string, "" without one. */
json_t *api_last_jid(master_api_t *self, fail_t *err);

#endif
