/* store_read.h - read-only queries on the master's store, each reader with a connection of its own.
 *
 * Layer      master
 * Threads    a reader belongs to one thread; any number of readers beside the writer
 * Ownership  results are NEW
 * Errors     NULL (or a negative errno) with *err when the database can't be read; a missing row is a result
 *            (json null, an empty list)
 * Tests      tests/unit/master/test_store.c, tests/unit/master/test_store_plans.c
 */
#ifndef MASTER_STORE_STORE_READ_H
#define MASTER_STORE_STORE_READ_H

#include "common/base/buf.h"
#include "master/store/store.h"
#include "salt/base.h"

typedef struct store_reader store_reader_t;

/* Open an existing database. NEW, or NULL with *err. */
store_reader_t *store_reader_new(const char *path, fail_t *err);
void store_reader_destroy(store_reader_t **self_p);

/* The job as given to store_add_job, with start_us, n_minions, n_returned and n_failed added; json null when
 * unknown. */
json_t *store_job(store_reader_t *self, const char *jid, fail_t *err);
/* The same without the request, which may have megabytes: jid, minions, the numbers, and `bytes`, the memory
 * that the whole job would take. */
json_t *store_job_head(store_reader_t *self, const char *jid, fail_t *err);
/* {id: return as the minion sent it}, ordered by id; -EMSGSIZE when several exceed LIMIT_LOCAL_MSG bytes
 * together, as no message could hold them. */
json_t *store_returns(store_reader_t *self, const char *jid, fail_t *err);
/* The same for ids that match one of the globs. */
json_t *store_returns_of(store_reader_t *self, const char *jid, const json_t *globs, fail_t *err);
/* Call `fn` with each stored text, for ids after `after` ("": all), until it returns false. Texts are
 * BORROWED for the call. 0, or a negative errno. */
typedef bool store_return_fn(void *cookie, const char *id, const char *text, size_t len);
int store_returns_each(store_reader_t *self, const char *jid, const char *after, store_return_fn *fn,
                       void *cookie, fail_t *err);
/* [id] that returned. */
json_t *store_returned(store_reader_t *self, const char *jid, fail_t *err);
/* 1 when the store has a row of the job, 0, or a negative errno. */
int store_has_job(store_reader_t *self, const char *jid, fail_t *err);
/* 1 when the return of `id` is stored, 0, or a negative errno. */
int store_has_return(store_reader_t *self, const char *jid, const char *id, fail_t *err);
/* 1 when `id` was a target of the job, 0; STORE_ADOPTED when the row was made of returns, as a minion's own
 * job has it; -ENOENT: no such job. */
enum { STORE_ADOPTED = 2 };
int store_is_target(store_reader_t *self, const char *jid, const char *id, fail_t *err);
/* Jobs, newest last, without their lists of minions; an error when they are more than LIMIT_JOBS_LISTED.
 * `filter` (may be NULL): {limit?: the newest N of those that match, function?: [glob], not_function?:
 * [glob], target?: [glob], start_us?, end_us?, metadata?: {key: value} of which one must fit, failed?:
 * true, minions?: true and returned?: true add these lists}. */
json_t *store_jobs(store_reader_t *self, const json_t *filter, fail_t *err);
/* [jid] of jobs begun after `since_us` that lack returns and have no recorded end, oldest first: the newest
 * ones whose rows take up to `max_bytes` in memory. *ret_left: how many older ones were left out. */
json_t *store_unfinished(store_reader_t *self, int64_t since_us, size_t max_bytes, size_t *ret_left,
                         fail_t *err);

/* Append the next block of the journal to `out`: frames (eframe.h) of events numbered above `after`.
 * *ret_last: the block's last number. 1, 0 at the journal's end, or a negative errno. */
int store_event_block(store_reader_t *self, uint64_t after, buf_t *out, uint64_t *ret_last, fail_t *err);
/* Events after *cursor_p, oldest first: [{seq, tag, data}], at most `limit`. *cursor_p moves to the last one;
 * repeat until it no longer moves. */
json_t *store_events(store_reader_t *self, uint64_t *cursor_p, size_t limit, fail_t *err);
/* A number to resume after so as not to miss events from `wall_us` on: the one before the first block that
 * reaches that time, or the last event's. 0, or a negative errno. */
int store_event_since(store_reader_t *self, int64_t wall_us, uint64_t *ret_after, fail_t *err);
/* Time of the newest event in microseconds; 0 without one. Returns 0, or a negative errno. */
int store_event_time(store_reader_t *self, int64_t *ret_us, fail_t *err);
/* Lowest and highest event number in the journal; both 0 when it is empty. Returns 0, or a negative errno. */
int store_seq_range(store_reader_t *self, uint64_t *ret_first, uint64_t *ret_last, fail_t *err);
/* [jid] of the newest jobs whose jid starts with `prefix`, newest first, at most `limit`. */
json_t *store_jids(store_reader_t *self, const char *prefix, size_t limit, fail_t *err);
/* The newest job's jid as a json string; "" without one. */
json_t *store_last_jid(store_reader_t *self, fail_t *err);

/* {id: document} of all minions, or of one (empty when unknown): grains, pillars as targets see them, or
 * {name: value} of the mine. The grain `id` is corrected to the row's. */
json_t *store_docs(store_reader_t *self, store_doc_t what, const char *id, fail_t *err);
/* Call `fn` with each stored text, BORROWED for the call; the grain `id` is not corrected. 0, or a negative
 * errno. */
typedef void store_doc_fn(void *cookie, const char *id, const char *text);
int store_docs_each(store_reader_t *self, store_doc_t what, store_doc_fn *fn, void *cookie, fail_t *err);
/* The jid that has this note, as a json string; json null without one. */
json_t *store_noted(store_reader_t *self, const char *kind, const char *ref, const char *part, fail_t *err);
/* {part: jid} of all notes of one kind and reference. */
json_t *store_notes(store_reader_t *self, const char *kind, const char *ref, fail_t *err);
/* Orchestrations, newest first: [{run, start_us, end_us (0: under way), ...request, result?}]. */
json_t *store_runs(store_reader_t *self, size_t limit, fail_t *err);
/* A run with its "plan"; json null when unknown. */
json_t *store_run(store_reader_t *self, const char *run, fail_t *err);
/* A run's steps, ordered by their start: [{tag, go, begin_us, end_us, ...}]. */
json_t *store_steps(store_reader_t *self, const char *run, fail_t *err);
/* The text stored under `key` as a json string; json null without one. */
json_t *store_meta(store_reader_t *self, const char *key, fail_t *err);
/* {key: text} of all keys that start with `prefix`, ordered by key. */
json_t *store_metas(store_reader_t *self, const char *prefix, fail_t *err);

#endif
