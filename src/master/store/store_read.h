/* store_read.h - questions to the master's store: read-only, on a connection of one's own.
 *
 * Layer      master
 * Threads    a reader belongs to one thread; any number of readers beside the writer
 * Ownership  results are NEW
 * Errors     NULL with *err when the database can't be read; "no such row" is data (json null, an empty list)
 * Tests      tests/unit/master/test_store.c, tests/unit/master/test_store_plans.c
 */
#ifndef MASTER_STORE_STORE_READ_H
#define MASTER_STORE_STORE_READ_H

#include "common/base/buf.h"
#include "master/store/store.h"
#include "salt/base.h"

typedef struct store_reader store_reader_t;

/* The database must exist. NEW, or NULL with *err. */
store_reader_t *store_reader_new(const char *path, fail_t *err);
void store_reader_destroy(store_reader_t **self_p);

/* The job as given to store_add_job, with start_us, n_minions, n_returned, n_failed; json null when unknown.
 */
json_t *store_job(store_reader_t *self, const char *jid, fail_t *err);
/* The same without what was asked for, of which there may be megabytes: jid, minions, the numbers, and
 * `bytes`: what the row takes in memory. */
json_t *store_job_head(store_reader_t *self, const char *jid, fail_t *err);
/* {id: the return as the minion sent it} in order of ids; -EMSGSIZE when several have more than
 * LIMIT_LOCAL_MSG bytes together: no message holds them. */
json_t *store_returns(store_reader_t *self, const char *jid, fail_t *err);
/* The same of the ids that one of the globs fits. */
json_t *store_returns_of(store_reader_t *self, const char *jid, const json_t *globs, fail_t *err);
/* The same as the texts that are stored, of the ids behind `after` ("": all), until `fn` says false:
 * BORROWED for the call. 0, or a negative errno. */
typedef bool store_return_fn(void *cookie, const char *id, const char *text, size_t len);
int store_returns_each(store_reader_t *self, const char *jid, const char *after, store_return_fn *fn,
                       void *cookie, fail_t *err);
/* [id] of those who returned. */
json_t *store_returned(store_reader_t *self, const char *jid, fail_t *err);
/* Whether this one's return is stored: 1 or 0, or a negative errno. */
int store_has_return(store_reader_t *self, const char *jid, const char *id, fail_t *err);
/* Whether the job was for this one: 1 or 0; -ENOENT: no such job. */
int store_is_target(store_reader_t *self, const char *jid, const char *id, fail_t *err);
/* Jobs, newest last, without their lists of minions; an error when they are more than LIMIT_JOBS_LISTED.
 * `filter` (may be NULL): {limit?: the newest N of those that match, function?: [glob], not_function?:
 * [glob], target?: [glob], start_us?, end_us?, metadata?: {key: value} of which one must fit, failed?:
 * true, minions?: true and returned?: true add these lists}. */
json_t *store_jobs(store_reader_t *self, const json_t *filter, fail_t *err);
/* [jid] of the jobs begun after `since_us` whose minions have not all returned, oldest first: the newest
 * whose rows have `max_bytes` together, as they take in memory; *ret_left is how many older ones there
 * are. */
json_t *store_unfinished(store_reader_t *self, int64_t since_us, size_t max_bytes, size_t *ret_left,
                         fail_t *err);

/* The next block of the journal, without those of its events whose number is not over `after`: frames
 * (eframe.h) are added to `out`; *ret_last is the last one's number. 1; 0 when the journal ends there; or a
 * negative errno. */
int store_event_block(store_reader_t *self, uint64_t after, buf_t *out, uint64_t *ret_last, fail_t *err);
/* Events after *cursor_p, oldest first: [{seq, tag, data}], at most `limit`. *cursor_p moves to the last
 * one: call again until it stays where it is. */
json_t *store_events(store_reader_t *self, uint64_t *cursor_p, size_t limit, fail_t *err);
/* The number before that of the first block with an event of this time or later; that of the last event when
 * there is none. 0, or a negative errno. */
int store_event_since(store_reader_t *self, int64_t wall_us, uint64_t *ret_after, fail_t *err);
/* When the newest event was; 0: there is none. 0, or a negative errno. */
int store_event_time(store_reader_t *self, int64_t *ret_us, fail_t *err);
/* 0, or a negative errno. An empty journal: 0 for both. */
int store_seq_range(store_reader_t *self, uint64_t *ret_first, uint64_t *ret_last, fail_t *err);
/* [jid] of the newest jobs whose jid begins so, newest first, at most `limit`. */
json_t *store_jids(store_reader_t *self, const char *prefix, size_t limit, fail_t *err);
/* The newest job's jid, "" when there is none: a json string. */
json_t *store_last_jid(store_reader_t *self, fail_t *err);

/* {id: grains}, or pillars as targets see them, or {name: value} in the mine: of all minions, or of one
 * (an empty object when unknown). The grain `id` is the row's. */
json_t *store_docs(store_reader_t *self, store_doc_t what, const char *id, fail_t *err);
/* The same as the texts that are stored, one by one, with whatever grain `id` is in them: BORROWED for the
 * call. 0, or a negative errno. */
typedef void store_doc_fn(void *cookie, const char *id, const char *text);
int store_docs_each(store_reader_t *self, store_doc_t what, store_doc_fn *fn, void *cookie, fail_t *err);
/* The jid of the job with this note: a json string, or json null. */
json_t *store_noted(store_reader_t *self, const char *kind, const char *ref, const char *part, fail_t *err);
/* {part: jid} of all notes of one kind and reference. */
json_t *store_notes(store_reader_t *self, const char *kind, const char *ref, fail_t *err);
/* Orchestrations, newest first: [{run, start_us, end_us (0: none yet), ...what was asked, result?}]. */
json_t *store_runs(store_reader_t *self, size_t limit, fail_t *err);
/* One of them, with "plan"; json null when unknown. */
json_t *store_run(store_reader_t *self, const char *run, fail_t *err);
/* Its steps in the order in which they began: [{tag, go, begin_us, end_us, ...}]. */
json_t *store_steps(store_reader_t *self, const char *run, fail_t *err);
/* The text put under `key`: a json string, or json null. */
json_t *store_meta(store_reader_t *self, const char *key, fail_t *err);
/* {key: text} of all whose key begins with `prefix`, in order of keys. */
json_t *store_metas(store_reader_t *self, const char *prefix, fail_t *err);

#endif
