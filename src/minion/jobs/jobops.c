/* jobops.c - the job server's own requests, from a job's child or through the bus: list the running jobs,
 * signal one, stop or restart the minion.
 */
#include "minion/jobs/jobserver.h"

#include <signal.h>
#include <unistd.h>

#include "common/base/str.h"
#include "salt/value.h"

/* True for what an asker sees as a running job: not itself, nor a child of a part's own work
 * (jobserver_aside). */
static bool
jobops_counts(const job_proc_t *p, const job_proc_t *asker)
{
    return p != asker && !p->returned && !value_bool(p->job, "aside", false);
}

/* NEW array of the running jobs as saltutil.running shows them: the published fields and the child's pid. The
 * asking job is left out. */
static json_t *
jobops_running(void *part, job_proc_t *asker, json_t *request, fail_t *err)
{
    static const char *const fields[] = { "tgt", "jid", "tgt_type", "ret", "user", "arg", "fun", "schedule" };
    const jobserver_t *self = part;
    json_t *all = json_array(), *v;
    for (const job_proc_t *p = self->jobs; p; p = p->next) {
        if (!jobops_counts(p, asker))
            continue;
        json_t *shown = json_object();
        for (size_t i = 0; i < NELEMS(fields); i++)
            if ((v = value_get(p->job, fields[i])))
                json_object_set(shown, fields[i], v);
        json_object_set_new(shown, "pid", json_integer(p->pid));
        json_array_append_new(all, shown);
    }
    return all;
}

/* {jid, signal} -> {pid}; null when no such job runs. */
static json_t *
jobops_signal(void *part, job_proc_t *asker, json_t *request, fail_t *err)
{
    const jobserver_t *self = part;
    const char *jid = value_str(request, "jid", "");
    int sig = (int) value_int(request, "signal", SIGTERM);
    for (const job_proc_t *p = self->jobs; p; p = p->next) {
        if (!jobops_counts(p, asker) || !str_eq(value_str(p->job, "jid", ""), jid))
            continue;
        int rc = sig > 0 && sig < NSIG ? job_signal(p, sig) : -EINVAL;
        if (rc == 0)
            return json_pack("{s:i}", "pid", (int) p->pid);
        (void) fail_set(err, rc, "signal %d to job %s: %s", sig, jid, strerror(-rc));
        return NULL;
    }
    return json_null();
}

/* Ends the minion once the asking job has exited (end_job), so that its return is not lost; at once for a
 * client of the bus. */
static json_t *
jobops_end(jobserver_t *self, const job_proc_t *asker, jobserver_ending_t ending)
{
    self->ending = ending;
    self->ending_job = asker != NULL ? asker->pid : 0;
    self->stop = self->stop || asker == NULL;
    return json_pack("{s:i}", "pid", (int) getpid());
}

static json_t *
jobops_stop(void *part, job_proc_t *asker, json_t *request, fail_t *err)
{
    return jobops_end(part, asker, JOBSERVER_STOP);
}

static json_t *
jobops_restart(void *part, job_proc_t *asker, json_t *request, fail_t *err)
{
    return jobops_end(part, asker, JOBSERVER_RESTART);
}

static const part_request_t requests[] = {
    { "running", jobops_running, "{op: running}" },
    { "signal", jobops_signal, "{op: signal, jid, signal}" },
    { "stop", jobops_stop, "{op: stop}" },
    { "restart", jobops_restart, "{op: restart}" },
    { 0 },
};

const minion_part_t minion_part_jobs = { .name = "jobs", .requests = requests };
