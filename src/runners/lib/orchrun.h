/* orchrun.h - one run of an orchestration: its journal, the names of its jobs, and what is told to who waits.
 *
 * The journal has a row per go at a step: a step that failed and is run again has a second one. Jobs are
 * published with a note (include/salt/requests.def) of kind "orch", reference RUN and part "TAG/GO.N", so
 * that what a go has published is found again after a crash, and followed instead of published anew.
 *
 * Layer      runners/lib
 * Threads    what takes a context from any thread of the run; all else from the run's own
 * Ownership  said per function
 * Tests      tests/t/6000-orchestrate.bats
 */
#ifndef RUNNERS_LIB_ORCHRUN_H
#define RUNNERS_LIB_ORCHRUN_H

#include "common/state/run.h"
#include "master/api.h"

typedef struct orchrun orchrun_t;

/* Request to begin or to resume a run. All BORROWED for the call. */
typedef struct orchrun_ask {
    const json_t *doc;  /* {mods, arguments..., user}: kept with a new run */
    const json_t *from; /* string: an ID before which nothing runs; NULL */
    bool rerun_unsure;  /* what a master was doing when it was killed is done again */
} orchrun_ask_t;

/* A new run whose name is `run`. `chunks` BORROWED while it lives. NEW, or NULL with *err. */
orchrun_t *orchrun_new(master_api_t *api, const char *run, json_t *chunks, const orchrun_ask_t *ask,
                       fail_t *err);
/* An old one, with its plan and its document: *ret_doc and *ret_chunks NEW. NULL with *err when there is
 * none, or when it is under way. */
orchrun_t *orchrun_resume(master_api_t *api, const char *run, const orchrun_ask_t *ask, json_t **ret_doc,
                          json_t **ret_chunks, fail_t *err);
/* An old one goes on: it has no end any more until it ends again, so that nothing forgets it and nobody
 * takes it for done. */
int orchrun_reopen(orchrun_t *self, fail_t *err);
/* Writes the end of the run, unless the master is ending. `running` as state_run()'s. */
void orchrun_end(orchrun_t *self, const json_t *running, bool success);
void orchrun_destroy(orchrun_t **self_p);

const char *orchrun_name(const orchrun_t *self); /* BORROWED: RUN */

bool orchrun_under_way(const char *run); /* any thread */
/* Common prefix of the notes of a step. NEW. */
char *orchrun_part_of(const char *tag);

/* For state_run_env_t's begins and ended; the cookie is the run. */
json_t *orchrun_begins(void *self, const json_t *chunk);
void orchrun_ended(void *self, const json_t *chunk, const json_t *ret);

/* For its stopped: who ended the run, when and before which step. */
void orchrun_stopped(void *self, const json_t *chunk, const json_t *said);
/* Adds a failed return to `running` for the step at which the run was stopped. */
void orchrun_add_stop(orchrun_t *self, json_t *running);

/* Make it known to the functions of a context, and find it there: NULL outside of an orchestration. */
void orchrun_dress(void *self, call_ctx_t *ctx);
orchrun_t *orchrun_of(call_ctx_t *ctx);

/* The note for the next thing that this step begins. NEW object; NULL outside of an orchestration. */
json_t *orchrun_note(call_ctx_t *ctx);
/* Withdraws the last note: its step began nothing. The next note reuses its number, as in a run that is
 * resumed. */
void orchrun_unnote(call_ctx_t *ctx);
/* The event's number after which the present go at this step may see events; 0: from now on. */
uint64_t orchrun_since(call_ctx_t *ctx);
/* True when steps that were under way at a master's crash run again. */
bool orchrun_reruns(call_ctx_t *ctx);
/* Reports that this step's outcome is unknown: the journal keeps it as under way. NEW text for the
 * operator. */
char *orchrun_unsure(call_ctx_t *ctx);
/* Marks this step's return as secret: the journal leaves its changes out. */
void orchrun_hush(call_ctx_t *ctx);
/* Reports the progress of this step. */
void orchrun_at(call_ctx_t *ctx, size_t done, size_t of);

#endif
