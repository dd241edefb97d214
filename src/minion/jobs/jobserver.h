/* jobserver.h - the minion's first process: forks the networking process and one child per job, keeps the
 * spool.
 *
 * The job server has no thread and no libzmq socket, so it may fork at any time. The networking process may
 * crash and is started again while jobs run on; returns go to the spool first.
 *
 * All that is not jobs is done by parts (part.h), each with its file, its fields and a row in parts.def. What
 * a job's child may ask ({"op": ...}, through ctx_host) are the requests of the parts.
 *
 * Layer      minion
 * Threads    one
 * Tests      tests/unit/minion/test_parts.c, tests/t
 */
#ifndef MINION_JOBS_JOBSERVER_H
#define MINION_JOBS_JOBSERVER_H

#include "common/conf/conf.h"
#include "minion/jobs/job.h"
#include "uplink/outbox.h"
#include "minion/parts/part.h"
#include "salt/base.h"
#include "salt/plugin.h"

typedef enum jobserver_ending { JOBSERVER_STAYS, JOBSERVER_STOP, JOBSERVER_RESTART } jobserver_ending_t;

#define PARTS_MAX  64
#define JOBS_ASIDE 4 /* children beside the jobs that end, */
#define JOBS_STAY  2 /* and that stay: one may be there while the one of before still ends */

/* The built-in plug-ins and parts. BORROWED. */
typedef struct jobserver_tables {
    registry_t *registry, *states;
    const plugin_t *const *grain_plugins;
    size_t n_grain_plugins;
    const plugin_t *const *beacon_plugins;
    size_t n_beacon_plugins;
    const minion_part_t *const *parts; /* ends with NULL */
    registry_t *returners;
} jobserver_tables_t;

typedef struct jobserver {
    conf_t *conf;
    json_t *opts; /* BORROWED from conf */
    char *conf_dir;
    json_t *overrides;
    jobserver_tables_t tables;
    struct {
        const minion_part_t *row;
        void *self;
    } parts[PARTS_MAX];
    size_t n_parts;   /* how many have started */
    json_t *grains;   /* owned: the present grains; the part "grains" replaces them */
    json_t *pillar;   /* owned: the pillar in memory, as common/py/py_wire.h has it; NULL: none yet */
    outbox_t *outbox; /* owned: queue to the masters; the part "link" sends it */
    job_env_t env;
    job_proc_t *jobs;
    size_t n_jobs, n_aside, n_stay; /* counted apart; all are in `jobs` */
    json_t *waiting;                /* owned array: jobs over the limit of running ones, oldest first */
    int64_t busy_ms;                /* monotonic: the last turn with anything to do */
    int signal_fd;
    jobserver_ending_t ending; /* asked for by a job; happens when `ending_job` has ended */
    pid_t ending_job;
    bool stop, in_session; /* in_session: this is the forked networking process */
    int exit_code;
} jobserver_t;

/* NEW, or NULL with *err. TAKES *conf_p. `overrides` is referenced, `tables` and what they name BORROWED. */
jobserver_t *jobserver_new(conf_t **conf_p, const char *conf_dir, json_t *overrides,
                           const jobserver_tables_t *tables, fail_t *err);
void jobserver_destroy(jobserver_t **self_p);
/* Runs until SIGTERM, SIGINT or a job's request to end; returns the process's exit code. It also returns in
 * the networking process, with in_session set, when that is over. */
int jobserver_run(jobserver_t *self);

/* Calls a hook of each part that has it and has started, in the order of the table. */
#define EACH_PART(js, hook, ...)                                                                             \
    do {                                                                                                     \
        for (size_t i_ = 0; i_ < (js)->n_parts; i_++) {                                                      \
            if ((js)->parts[i_].row->hook)                                                                   \
                (js)->parts[i_].row->hook((js)->parts[i_].self, ##__VA_ARGS__);                              \
        }                                                                                                    \
    } while (0)

/* Sends a frame to the networking process. TAKES *frame_p; dropped while there is none. */
void jobserver_down(jobserver_t *self, json_t **frame_p);
/* Hands a frame from the networking process to every part with a row for it. */
void jobserver_message(jobserver_t *self, json_t *frame);
/* Fires an event to the masters and to listeners on this minion. The members of `more` travel beside the
 * data; NULL: none. An event that can't be queued is logged and dropped. */
void jobserver_event(jobserver_t *self, const char *tag, json_t *data, json_t *more);
/* Hands an event that a job fired to the parts with a row for its tag: it asks the minion for something. */
void jobserver_heed(jobserver_t *self, const char *tag, json_t *data);
/* Starts a job, queues it, or refuses it with a failed return. `job` as the master sends it, BORROWED, gets
 * "master". `master`: its index, -1: none. With "own": true it is internal: no mark in the spool, no
 * return. */
void jobserver_job(jobserver_t *self, json_t *job, int master);
/* Starts a child for a part's own work beside the jobs: it is none of them for the limit of running ones and
 * for jobops.c, and no hook but job_over and job_returned hears of it (its job has "aside"). TAKES
 * `job`, an object with jid and fun. `limit_ms`: it is killed after so long, and at most JOBS_ASIDE of those are
 * there at one time; 0: it stays, and takes none of their places. BORROWED until job_over, or NULL with *err, -EAGAIN
 * when there is no place. */
job_proc_t *jobserver_aside(jobserver_t *self, json_t *job, int limit_ms, fail_t *err);

/* Finds the row of a request and its part. BORROWED; NULL: no part has it. */
const part_request_t *jobserver_request(const jobserver_t *self, const char *op, void **ret_part);
/* NEW text that lists the requests open to clients of the minion's bus, to end a sentence. */
char *jobserver_bus_requests(const jobserver_t *self);

/* When jobs are answered from the cache, as no master has been connected for offline_after; monotonic ms. 0:
 * never, or a master is connected. */
int64_t jobserver_offline_ms(const jobserver_t *self);
bool jobserver_is_offline(const jobserver_t *self);

#endif
