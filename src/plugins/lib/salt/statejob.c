/* statejob.c - see statejob.h. A state run claims its turn by a locked file cachedir/state_run/JID, by which
 * runs of salt-call and of the minion learn of each other; the lock ends with the process, so that no claim
 * outlives a crash. */
#include "plugins/lib/salt/statejob.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "common/base/beneath.h"
#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/salt/stateopts.h"
#include "salt/log.h"

enum { QUEUE_POLL_MS = 200, MODE_DIR = 0700, MODE_FILE = 0600 };

/* ---- one at a time ------------------------------------------------------------------------- */

static char *
claims_dir(call_ctx_t *ctx)
{
    return fs_join(value_str(ctx_opts(ctx), "cachedir", ""), "state_run");
}

/* A failure is only logged: the run goes on, unseen by others. A run within a run, by a template or a state
 * that calls the state module, is part of the job that the outer one claims. */
void
statejob_claim(stateclaim_t *self, call_ctx_t *ctx, const char *fun)
{
    AUTO_FREE char *dir = claims_dir(ctx);
    json_auto_t *who = json_pack("{s:s, s:i, s:s}", "fun", fun, "pid", (int) getpid(), "jid", ctx_jid(ctx));
    AUTO_FREE char *text = value_dump(who);

    *self = (stateclaim_t){ .fd = -1 };
    if (str_empty(ctx_jid(ctx)) || str_empty(value_str(ctx_opts(ctx), "cachedir", "")) ||
        fs_mkdirs(dir, MODE_DIR, NULL) < 0)
        return;
    if (!beneath_is_name(ctx_jid(ctx)))
        return;
    self->path = fs_join(dir, ctx_jid(ctx));
    self->fd = open(self->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, MODE_FILE);
    bool held = self->fd >= 0 && flock(self->fd, LOCK_EX | LOCK_NB) == 0;
    if (self->fd >= 0 && !held && errno == EWOULDBLOCK) {
        (void) close(self->fd);
        self->fd = -1;
        return;
    }
    if (!held || fs_write_all(self->fd, text, strlen(text)) < 0)
        log_warning("%s: %s: salt-call may not learn of this state run", self->path, strerror(errno));
}

void
statejob_release(stateclaim_t *self)
{
    if (self->fd >= 0) {
        (void) unlink(self->path);
        (void) close(self->fd);
    }
    free(self->path);
    *self = (stateclaim_t){ .fd = -1 };
}

bool
statejob_listed(const json_t *jobs, const char *jid)
{
    json_t *job;
    size_t i;

    json_array_foreach ((json_t *) jobs, i, job) {
        if (str_eq(value_str(job, "jid", ""), jid))
            return true;
    }
    return false;
}

/* A claim that nobody holds any more is taken away. */
static int
add_claim(call_ctx_t *ctx, const char *path, const char *jid, json_t *jobs, fail_t *err)
{
    if (str_eq(jid, ctx_jid(ctx)) || statejob_listed(jobs, jid))
        return 0;
    AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    buf_auto_t text = BUF_INIT;

    if (fd < 0)
        return errno == ENOENT || errno == ELOOP ? 0 : fail_set(err, -errno, "%s: %s", path, strerror(errno));
    if (flock(fd, LOCK_SH | LOCK_NB) == 0) {
        (void) unlink(path);
        return 0;
    }
    json_t *who = fs_read_fd(fd, LIMIT_WIRE_SMALL, &text) < 0
                      ? NULL
                      : value_parse(buf_str(&text), text.len, LIMIT_WIRE_SMALL, path, NULL);
    /* The holder of the lock has not written its entry yet, or could not; report it as running all the
     * same. */
    json_array_append_new(
        jobs, json_is_object(who) ? json_incref(who)
                                  : json_pack("{s:s, s:i, s:s}", "fun", "state.apply", "pid", 0, "jid", jid));
    json_decref(who);
    return 0;
}

/* Adds claimed runs that are not among the minion's jobs. */
static int
add_claims(call_ctx_t *ctx, json_t *jobs, fail_t *err)
{
    AUTO_FREE char *dir = claims_dir(ctx);
    DIR *d = opendir(dir);
    int rc = 0;

    if (d == NULL)
        return errno == ENOENT ? 0 : fail_set(err, -errno, "%s: %s", dir, strerror(errno));
    for (const struct dirent *e; (e = fs_next(d, &rc)) != NULL;) {
        AUTO_FREE char *path = fs_join(dir, e->d_name);
        if (e->d_name[0] != '.' && (rc = add_claim(ctx, path, e->d_name, jobs, err)) < 0)
            break;
    }
    (void) closedir(d);
    return rc < 0 ? fail_set(err, rc, "%s: %s", dir, strerror(-rc)) : 0;
}

/* NEW list of the jobs of the state module, without this one. NULL when it can't be known: a run that
 * another one may be in the way of does not begin. */
static json_t *
state_jobs(call_ctx_t *ctx, fail_t *err)
{
    json_auto_t *args = json_pack("[s]", "state.*");
    json_t *jobs = NULL;

    int rc = ctx_call(ctx, "saltutil.is_running", args, NULL, &jobs, err);
    if (rc == 0)
        rc = add_claims(ctx, jobs, err);
    if (rc == 0)
        return jobs;
    json_decref(jobs);
    fail_prefix(err, "whether another state run is under way can't be known: ");
    return NULL;
}

/* Of two jobs that arrive together the earlier one proceeds; a later one blocks it only when it has already
 * begun. Jids of one length sort as texts. */
static bool
is_in_the_way(call_ctx_t *ctx, const char *jid)
{
    if (str_empty(ctx_jid(ctx)) || strcmp(jid, ctx_jid(ctx)) < 0)
        return true;
    /* A run that has begun holds the lock of its claim. */
    AUTO_FREE char *dir = claims_dir(ctx);
    AUTO_FREE char *path = fs_join(dir, jid);
    AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    return fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) < 0;
}

json_t *
statejob_running(call_ctx_t *ctx, fail_t *err)
{
    json_auto_t *jobs = state_jobs(ctx, err);
    json_t *out = jobs != NULL ? json_array() : NULL, *job;
    size_t i;

    json_array_foreach (jobs, i, job) {
        const char *jid = value_str(job, "jid", "");
        if (!is_in_the_way(ctx, jid))
            continue;
        char when[CLOCK_STAMP_LEN] = "";
        (void) clock_jid_to_time(jid, when);
        json_array_append_new(out, value_fmt("The function \"%s\" is running as PID %lld and was started at "
                                             "%s with jid %s",
                                             value_str(job, "fun", ""), (long long) value_int(job, "pid", 0),
                                             when, jid));
    }
    return out;
}

/* Number of these jobs that this one waits for, or a negative errno. */
static json_int_t
ahead(call_ctx_t *ctx, fail_t *err)
{
    json_auto_t *jobs = state_jobs(ctx, err);
    json_t *job;
    json_int_t n = 0;
    size_t i;

    if (jobs == NULL)
        return -EIO;
    json_array_foreach (jobs, i, job)
        n += is_in_the_way(ctx, value_str(job, "jid", ""));
    return n;
}

/* True when `queue` lets this run wait for its turn: true, or a number of places that are not all taken. 1, 0
 * or a negative errno. */
static int
may_queue(call_ctx_t *ctx, const json_t *args, fail_t *err)
{
    const json_t *queue = value_get(args, "queue");

    if (queue == NULL || json_is_null(queue))
        queue = value_get(ctx_opts(ctx), "state_queue");
    if (!json_is_integer(queue) || json_integer_value(queue) <= 0)
        return json_is_true(queue);
    json_int_t n = ahead(ctx, err);
    return n < 0 ? (int) n : n < json_integer_value(queue);
}

/* 0 to go on; 1 with *ret_value, the texts about other runs; or negative. */
int
statejob_conflict(call_ctx_t *ctx, const json_t *args, json_t **ret_value, fail_t *err)
{
    int rc = may_queue(ctx, args, err);

    if (rc < 0)
        return rc;
    if (rc > 0) {
        /* Without a limit: the runs before may take as long as they take. */
        json_int_t n;
        while ((n = ahead(ctx, err)) > 0) {
            struct timespec pause = { .tv_nsec = QUEUE_POLL_MS * 1000000L };
            (void) nanosleep(&pause, NULL);
        }
        return (int) n;
    }
    if (value_truthy(value_get(value_get(args, "kwargs"), "concurrent")))
        return 0;
    json_t *texts = statejob_running(ctx, err);
    if (texts == NULL)
        return -EIO;
    if (json_array_size(texts) == 0) {
        json_decref(texts);
        return 0;
    }
    ctx_set_retcode(ctx, STATE_COMPILER_ERROR);
    *ret_value = texts;
    return 1;
}

/* ---- test mode ----------------------------------------------------------------------------- */

bool
statejob_test(call_ctx_t *ctx, const json_t *args)
{
    json_t *asked = value_get(args, "test"), *kwargs = value_get(args, "kwargs"), *v;
    const char *key;

    if (asked != NULL && !json_is_null(asked))
        return value_truthy(asked);
    /* TEST=True is meant as well, and no harm may come from it. */
    json_object_foreach (kwargs, key, v) {
        if (strcasecmp(key, "test") == 0 && value_truthy(v))
            return true;
    }
    /* A run that a template or a state starts is as its outer run is. */
    if (ctx_test(ctx) || value_bool(ctx_opts(ctx), "test", false))
        return true;
    /* Grains and pillar may ask for test mode, too. */
    fail_auto_t err = FAIL_INIT;
    json_auto_t *names = json_pack("[s]", "test"), *how = json_pack("{s:b}", "omit_opts", 1), *set = NULL;
    return ctx_call(ctx, "config.get", names, how, &set, &err) == 0 && json_is_true(set);
}

/* ---- the run ------------------------------------------------------------------------------- */

static void
statejob_show_progress(void *cookie, const state_progress_t *at)
{
    ctx_progress(cookie, at->done + 1, at->total, "%s.%s %s", value_str(at->chunk, "state", ""),
                 value_str(at->chunk, "fun", ""), value_str(at->chunk, "name", ""));
}

static state_run_env_t
run_env(call_ctx_t *ctx, json_t *ask, bool mocked)
{
    return (state_run_env_t){ .ctx = ctx,
                              .jid = ctx_jid(ctx),
                              .pillar_ask = ask,
                              .progress = statejob_show_progress,
                              .progress_cookie = ctx,
                              .mocked = mocked };
}

json_t *
statejob_run(call_ctx_t *ctx, json_t *chunks, json_t *ask, const char *only_id, bool mocked)
{
    state_run_env_t env = run_env(ctx, ask, mocked);
    AUTO(state_fork) workers = state_fork_new(ctx);

    env.workers = &state_fork_workers;
    env.workers_self = workers;
    env.only_id = only_id;
    return state_run(&env, chunks);
}

json_t *
statejob_run_one(call_ctx_t *ctx, json_t *chunk, json_t *ask, bool mocked)
{
    state_run_env_t env = run_env(ctx, ask, mocked);

    return state_run_one(&env, chunk);
}
