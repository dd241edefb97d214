/* job.h - one job as a process: a child with limits, the socketpair to it, and the return that it leaves.
 *
 * The child is forked from the job server, runs the functions of one job and writes frames
 * (common/local/client.h):
 *   {"m": "ret", ...}                                  once: the return as it goes to the master (jobret.h)
 *   {"t": "fire", tag, data}                           any number
 *   {"t": "at", step, of, what}                        any number, of a watched job: where its state run is
 *   {"t": "host", request}   answered with {"ok": true, value} or {"ok": false, error, code}; either may have
 *                            "offline": true, when it comes from the cache for want of a master
 *
 * Layer      minion
 * Threads    the job server's; the child has one thread
 * Tests      tests/unit/minion/test_job.c
 */
#ifndef MINION_JOBS_JOB_H
#define MINION_JOBS_JOB_H

#include <sys/types.h>

#include "common/base/buf.h"
#include "common/plugin/registry.h"
#include "minion/jobs/parting.h"
#include "salt/base.h"
#include "uplink/jobret.h"

/* The environment that every job runs in. BORROWED; the child has a copy. */
typedef struct job_env {
    registry_t *registry, *states, *returners;
    const plugin_t *const *grain_plugins; /* to gather grains again; NULL with 0: not possible */
    size_t n_grain_plugins;
    const plugin_t *const *beacon_plugins;
    size_t n_beacon_plugins;
    json_t *opts, *grains;
    json_t *pillar; /* in memory, as common/py/py_wire.h has it; NULL: not known yet */
    const char *id;
    int timeout_s;       /* 0: none */
    size_t memory_limit; /* 0: none */
    size_t output_limit;
} job_env_t;

/* A child and what is known of it. */
typedef struct job_proc {
    json_t *job;   /* owned: as the master sent it, with "master" added */
    jobret_t *ret; /* owned: once the child has said it */
    pid_t pid;
    int fd; /* our end of the socketpair; -1: closed */
    buf_t in;
    int64_t deadline_ms; /* monotonic; 0: none */
    json_t *at;          /* owned: what is still to be told of where it is; NULL: nothing */
    int64_t at_told_ms;  /* monotonic: when that was last told */
    bool timed_out, oversize;
    int unread;    /* negative errno: it sent a frame that can't be parsed */
    bool returned; /* its return was queued; it may not have exited yet */
    bool exited;
    int status;         /* of waitpid */
    parting_t *parting; /* owned; NULL: it can't outlive the job server */
    bool parted;        /* it goes on without the job server */
    struct job_proc *next;
} job_proc_t;

/* Forks the child. TAKES *job_p. NEW, or NULL with *err; the job is freed in any case, so the caller keeps a
 * reference to what it needs. */
job_proc_t *job_start(const job_env_t *env, json_t **job_p, fail_t *err);
/* Frees what is known of a child; it neither signals nor reaps it. */
void job_proc_destroy(job_proc_t **self_p);
/* Reads what has come. 1: *ret_frame NEW is a fire, at or host frame; 0: no whole frame; negative: the stream
 * ended or is unusable. A return is kept in `ret`. A frame above `limit`, its job's
 * own size apart, kills the child. */
int job_read(job_proc_t *self, size_t limit, json_t **ret_frame);
/* Sends the answer to a host frame. TAKES *answer_p. Waits while the child's buffer is full; after a second
 * without progress the child reads EOF instead. */
void job_answer(job_proc_t *self, json_t **answer_p);
/* Signals the child and every program that it started, however deep. 0, or the negative errno of the child's
 * own. */
int job_signal(const job_proc_t *self, int sig);
/* Signals this child and all behind it in the list, with their programs; NULL: none. */
void job_signal_all(const job_proc_t *first, int sig);
/* Asks the child to outlive the job server (parting.h), with what is left of its time limit. */
void job_part(const job_proc_t *self);
/* NEW: the return that the child has said, which is taken from `self`; a child that left none gets a failed
 * one that says why. */
jobret_t *job_return(job_proc_t *self);
/* NEW return of a job of which only the spool's mark is left; NULL when that names no function. */
jobret_t *job_interrupted(const json_t *job);

#endif
