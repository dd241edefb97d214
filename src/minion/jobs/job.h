/* job.h - one job: a child with limits, its pipe, and what became of it.
 *
 * The child is forked from the job server, runs one job's functions and writes frames
 * (common/local/client.h's framing):
 *   {"t": "ret", return, retcode, success}   once
 *   {"t": "fire", tag, data}                 any number
 *   {"t": "host", request}                   answered with {"ok": true, value} or {"ok": false, error}
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

typedef struct job_env {
    registry_t *registry, *states;
    const plugin_t *const *grain_plugins; /* for who wants the grains anew; NULL with 0: as they are */
    size_t n_grain_plugins;
    json_t *opts, *grains;
    json_t *pillar; /* in memory, as common/py/py_wire.h has it; NULL: not known yet */
    const char *id;
    int timeout_s;       /* 0: none */
    size_t memory_limit; /* 0: none */
    size_t output_limit;
} job_env_t;

typedef struct job_proc {
    json_t *job; /* owned: as the master sent it, with "master" added */
    json_t *ret; /* owned: {return, retcode, success} once the child has said it */
    pid_t pid;
    int fd; /* our end; -1 when closed */
    buf_t in;
    int64_t deadline_ms; /* monotonic; 0: none */
    bool timed_out, oversize;
    int unread;    /* negative errno: it said what can't be read */
    bool returned; /* its return went out; it may not have exited yet */
    bool exited;
    int status;         /* of waitpid */
    parting_t *parting; /* owned; NULL: it can't part */
    bool parted;        /* it goes on without us */
    struct job_proc *next;
} job_proc_t;

/* Fork the child. TAKES *job_p. NEW, or NULL with *err (the job is then lost to the caller: it keeps what it
 * needs). */
job_proc_t *job_start(const job_env_t *env, json_t **job_p, fail_t *err);
void job_proc_destroy(job_proc_t **self_p);
/* Read what is there. 1: *ret_frame NEW holds a fire or host frame; 0: nothing whole; negative: the pipe
 * ended. */
int job_read(job_proc_t *self, size_t limit, json_t **ret_frame);
void job_answer(job_proc_t *self, json_t **answer_p); /* TAKES */
/* Signal the child and all that it started, however deep. */
int job_signal(const job_proc_t *self, int sig);
/* The same for this one and all behind it; NULL: none. */
void job_signal_all(const job_proc_t *first, int sig);
/* Ask it to go on without us; seconds and what it answers as parting.h has them. */
void job_part(const job_proc_t *self);
/* What goes to the master: NEW, as jobret.h has it; a message can hold it. */
json_t *job_return(const job_proc_t *self);
/* The same for a job of which only the mark is left. */
json_t *job_interrupted(const json_t *job);

#endif
