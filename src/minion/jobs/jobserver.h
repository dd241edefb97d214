/* jobserver.h - the minion's first process: forks the networking process and one child per job, keeps the
 * spool.
 *
 * It has no thread and no socket of libzmq, so that it may fork at any time. The networking process may crash
 * and is started again while jobs run on; returns go to the spool first.
 *
 * All that is not jobs is the work of parts (part.h): each has its file, its fields and a row in parts.def.
 * What a job may ask of it ({"op": ...}, through ctx_host) are the requests of its parts.
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

#define PARTS_MAX 64

/* What is built in. BORROWED. */
typedef struct jobserver_tables {
    registry_t *registry, *states;
    const plugin_t *const *grain_plugins;
    size_t n_grain_plugins;
    const minion_part_t *const *parts; /* ends with NULL */
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
    size_t n_parts;   /* that have started */
    json_t *grains;   /* owned: what is known now; their part replaces it */
    json_t *pillar;   /* owned: the one in memory, as common/py/py_wire.h has it; NULL while none has come */
    outbox_t *outbox; /* what goes to the masters; the link sends it */
    job_env_t env;
    job_proc_t *jobs;
    size_t n_jobs;
    json_t *waiting; /* jobs over LIMIT_JOBS_RUNNING */
    int64_t busy_ms; /* monotonic: when there was something to do last */
    int signal_fd;
    jobserver_ending_t ending; /* asked for by a job, once that has returned */
    pid_t ending_job;
    bool stop, in_session; /* in_session: we are the forked networking process */
    int exit_code;
} jobserver_t;

/* NEW, or NULL with *err. TAKES *conf_p. */
jobserver_t *jobserver_new(conf_t **conf_p, const char *conf_dir, json_t *overrides,
                           const jobserver_tables_t *tables, fail_t *err);
void jobserver_destroy(jobserver_t **self_p);
/* Until SIGTERM; the exit code. */
int jobserver_run(jobserver_t *self);

/* Calls a hook of each part that has it and has started, in the order of the table. */
#define EACH_PART(js, hook, ...)                                                                             \
    do {                                                                                                     \
        for (size_t i_ = 0; i_ < (js)->n_parts; i_++) {                                                      \
            if ((js)->parts[i_].row->hook)                                                                   \
                (js)->parts[i_].row->hook((js)->parts[i_].self, ##__VA_ARGS__);                              \
        }                                                                                                    \
    } while (0)

/* One frame down to the networking process. TAKES. */
void jobserver_down(jobserver_t *self, json_t **frame_p);
/* One that came from there, to the parts that have a row for it. */
void jobserver_message(jobserver_t *self, json_t *frame);
/* To the masters, and to those who listen on this minion. The members of `more` go beside the data; NULL:
 * none do. */
void jobserver_event(jobserver_t *self, const char *tag, json_t *data, json_t *more);
/* A job fired it: the parts with a row for such a tag do what it asks for. */
void jobserver_heed(jobserver_t *self, const char *tag, json_t *data);
/* Run it, or let it wait its turn. `job` as the master sends it; BORROWED. With "own": true it is the
 * minion's own affair: no mark on the disk, no return. */
void jobserver_job(jobserver_t *self, json_t *job, int master);

/* A part's request and that part. BORROWED; NULL: there is none. */
const part_request_t *jobserver_request(const jobserver_t *self, const char *op, void **ret_part);
/* NEW: how those are written that a client of the bus may ask, as the rest of a sentence. */
char *jobserver_bus_requests(const jobserver_t *self);

/* When jobs are answered from what is here because no master is (offline_after), in monotonic ms; 0:
 * never, or somebody is there. */
int64_t jobserver_offline_ms(const jobserver_t *self);
bool jobserver_is_offline(const jobserver_t *self);

#endif
