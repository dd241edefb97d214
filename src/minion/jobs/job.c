/* job.c - see job.h. First the child's side, which ends by _exit and uses nothing of the job server but
 * copies; then the job server's.
 *
 * Child and job server talk in lock-step over host frames, so a function has at most one open request. The
 * child is in a session of its own, dies with the job server (unless it parted, parting.h), and has soft
 * limits.
 */
#include "minion/jobs/job.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/output/suited.h"
#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/host/proc.h"
#include "common/host/procfs.h"
#include "common/base/str.h"
#include "common/files/fileclient.h"
#include "common/local/client.h"
#include "common/plugin/call.h"
#include "common/py/py_wire.h"
#include "minion/jobs/blackout.h"
#include "minion/grains_set.h"
#include "minion/jobs/jobcache.h"
#include "minion/jobs/returners.h"
#include "uplink/jobret.h"
#include "minion/parts/beacon_run.h"
#include "minion/parts/pillar_local.h"
#include "minion/parts/reactor_run.h"
#include "uplink/remotefiles.h"
#include "uplink/spool.h"
#include "salt/limits.h"
#include "salt/log.h"
#include "salt/value.h"

#define READ_CHUNK (64 * 1024)

/* ---- the child ------------------------------------------------------------------------------- */

typedef struct child {
    int fd;
    const job_env_t *env;
    const json_t *job;
    buf_t in;
    py_t *pillar; /* owned: the pillar in memory, once a function asked for it */
    bool offline; /* a host answer came from the cache, as no master was connected */
} child_t;

/* Sends what `out` holds, blocking. 0 or a negative errno. */
static int
child_write_all(const child_t *self, const buf_t *out)
{
    for (size_t at = 0; at < out->len;) {
        ssize_t n = send(self->fd, out->data + at, out->len - at, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        at += (size_t) n;
    }
    return 0;
}

static int
child_write(const child_t *self, const json_t *frame)
{
    buf_auto_t out = BUF_INIT;
    frame_add(&out, frame);
    return child_write_all(self, &out);
}

static json_t *
child_grains(void *cookie)
{
    return ((child_t *) cookie)->env->grains;
}

/* NEW: all grains gathered anew in this child, slow ones included; NULL: not possible. */
static json_t *
child_grains_again(void *cookie)
{
    const job_env_t *env = ((child_t *) cookie)->env;
    if (env->n_grain_plugins == 0)
        return NULL;
    json_t *all = json_object();
    grains_collect(env->grain_plugins, env->n_grain_plugins, GRAIN_CHEAP, "", env->opts, all);
    grains_collect(env->grain_plugins, env->n_grain_plugins, GRAIN_SLOW, "", env->opts, all);
    grains_finish(env->opts, all);
    return all;
}

/* Fires an event through the job server. -EMSGSIZE above max_event_size. */
static int
child_fire(void *cookie, const char *tag, json_t *data, fail_t *err)
{
    const child_t *self = cookie;
    json_auto_t *frame = json_pack("{s:s, s:s, s:O}", "t", "fire", "tag", tag, "data", data);
    size_t size = json_dumpb(frame, NULL, 0, JSON_COMPACT),
           limit = (size_t) value_int(self->env->opts, "max_event_size", 0);
    if (limit > 0 && size > limit)
        return fail_set(err, -EMSGSIZE, "event %s has %zu bytes, max_event_size is %zu", tag, size, limit);
    int rc = child_write(cookie, frame);
    return rc < 0 ? fail_set(err, rc, "the job server does not listen: %s", strerror(-rc)) : 0;
}

/* Says of a watched job where it is: the function, not its arguments, which may be secrets. */
static void
child_progress(void *cookie, size_t step, size_t of, const char *what)
{
    json_auto_t *frame = json_pack("{s:s, s:I, s:I, s:s%}", "t", "at", "step", (json_int_t) step, "of",
                                   (json_int_t) of, "what", what, strcspn(what, " "));
    (void) child_write(cookie, frame);
}

/* Sends a host request and waits for its answer. Fails with -EPIPE when the job has parted: nobody
 * answers. */
static int
child_host(void *cookie, json_t *request, json_t **ret_value, fail_t *err)
{
    child_t *self = cookie;
    json_auto_t *frame = json_pack("{s:s, s:O}", "t", "host", "request", request);
    int rc = child_write(self, frame);
    while (rc >= 0 && !parting_is_gone()) {
        json_auto_t *answer = NULL;
        rc = frame_take(&self->in, LIMIT_LOCAL_MSG, &answer, err);
        self->offline = self->offline || value_bool(answer, "offline", false);
        if (rc > 0 && value_bool(answer, "ok", false)) {
            json_t *v = value_get(answer, "value");
            *ret_value = v != NULL ? json_incref(v) : json_null();
            return 0;
        }
        if (rc > 0)
            return fail_set(err, -(int) value_int(answer, "code", ENOTSUP), "%s",
                            value_str(answer, "error", "refused"));
        buf_reserve(&self->in, READ_CHUNK);
        ssize_t n = rc == 0 ? recv(self->fd, self->in.data + self->in.len, READ_CHUNK, 0) : -1;
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            rc = -EPIPE;
        else
            self->in.len += (size_t) n;
    }
    if (parting_is_gone())
        return fail_set(
            err, -EPIPE,
            "the minion was stopped or restarted while this job runs, which can ask it for nothing "
            "any more: what restarts the minion comes last in a job");
    return fail_set(err, rc, "the job server does not answer: %s", strerror(-rc));
}

/* A pillar compiled for `ask`: here, or by a master. NEW, or NULL with *err. */
static py_t *
child_compile(child_t *self, json_t *ask, fail_t *err)
{
    const job_env_t *env = self->env;
    if (pillar_is_local(env->opts))
        return pillar_local(env->opts, env->registry, env->id, env->grains, ask, self->pillar, err);
    /* A master compiles it; the job server, which holds the connection, asks for it. */
    json_auto_t *request = json_pack("{s:s, s:O*}", "op", "pillar", "ask", ask);
    json_auto_t *answer = NULL;
    fail_auto_t why = FAIL_INIT;
    if (child_host(self, request, &answer, &why) == 0)
        return py_from_wire(answer);
    (void) fail_kind(err, FAIL_COMMAND, -EIO, "%s", fail_text(&why));
    return NULL;
}

/* The pillar: without `ask` the one in memory, which is fetched or compiled on first use; with `ask` one
 * compiled for it. A local compilation needs the one in memory first, as templates see it. NEW reference. */
static py_t *
child_pillar(void *cookie, json_t *ask, fail_t *err)
{
    child_t *self = cookie;
    if (self->pillar == NULL && !pillar_is_local(self->env->opts) && self->env->pillar != NULL)
        self->pillar = py_from_wire(self->env->pillar);
    else if (self->pillar == NULL && (ask == NULL || pillar_is_local(self->env->opts)))
        self->pillar = child_compile(self, NULL, err);
    if (ask == NULL || (self->pillar == NULL && pillar_is_local(self->env->opts)))
        return py_ref(self->pillar);
    return child_compile(self, ask, err);
}

/* call_env's `tops`. */
static json_t *
child_tops(void *cookie, const char *saltenv, fail_t *err)
{
    child_t *self = cookie;
    const job_env_t *env = self->env;
    json_t *answer = NULL;
    if (pillar_is_local(env->opts))
        return tops_local(env->opts, env->registry, env->id, env->grains, saltenv);
    json_auto_t *request = json_pack("{s:s, s:{s:b, s:s*}}", "op", "pillar", "ask", "tops", true, "saltenv",
                                     saltenv);
    return child_host(self, request, &answer, err) == 0 ? answer : NULL;
}

/* Applies blackout by the grains, then by the pillar in memory. A masterless minion compiles its pillar for
 * that only when a master sent the job, as Salt does. */
static int
child_may(void *cookie, const char *fun, fail_t *err)
{
    child_t *self = cookie;
    int rc = blackout_check(self->env->grains, fun, err);
    if (rc == 0 && !pillar_is_local(self->env->opts))
        return blackout_check(self->env->pillar, fun, err);
    if (rc < 0 || value_int(self->job, "master", -1) < 0)
        return rc;
    fail_auto_t why = FAIL_INIT; /* ignored: a broken pillar must not block the jobs that repair it */
    AUTO(py) pillar = child_pillar(self, NULL, &why);
    json_auto_t *wire = pillar != NULL ? py_to_wire(pillar) : NULL;
    return blackout_check(wire, fun, err);
}

/* Runs one function of a job. `arg`: its arguments. */
static void
child_one(call_ctx_t *ctx, const json_t *job, const char *fun, json_t *arg, call_result_t *res)
{
    json_auto_t *none = json_array();
    json_t *words = json_is_array(arg) ? arg : none;
    /* Salt shows __pub_arg with the keywords' object, but without its marker. */
    json_auto_t *shown = json_deep_copy(words);
    json_t *last = json_array_get(shown, json_array_size(shown) - 1);
    if (value_get(last, "__kwarg__") != NULL)
        json_object_del(last, "__kwarg__");
    /* The __pub_* keywords that Salt passes to functions with **kwargs; __pub_id: the minion that asked. */
    static const char asker[] =
        "minion:"; /* in the name of a user: the master's word, of which no user has one */
    const char *user = value_str(job, "user", "");
    bool asked = value_bool(job, "peer", false) && str_starts(user, asker);
    static const char *const members[] = { "tgt",  "jid",      "ret",        "tgt_type",
                                           "user", "metadata", "ret_config", "ret_kwargs" };
    json_auto_t *pub = json_pack("{s:s, s:O, s:s*}", "__pub_fun", fun, "__pub_arg", shown, "__pub_id",
                                 asked ? user + strlen(asker) : NULL);
    for (size_t i = 0; i < NELEMS(members); i++) {
        AUTO_FREE char *name = xasprintf("__pub_%s", members[i]);
        if (value_get(job, members[i]) != NULL)
            json_object_set(pub, name, value_get(job, members[i]));
    }
    call_run(ctx, fun, words, pub, res);
    if (call_absent(ctx) != NULL)
        log_warning("%s: %s", fun, call_absent(ctx));
}

/* Runs several functions in order; each of return, retcode and success is an object by function name. What
 * they did not find is one text, a line for each. */
static json_t *
child_many(const call_env_t *env, const json_t *job, json_t *funs)
{
    json_t *returns = json_object(), *codes = json_object(), *oks = json_object(), *fun,
           *args = value_get(job, "arg");
    buf_auto_t absent = BUF_INIT;
    size_t i;
    json_array_foreach (funs, i, fun) {
        AUTO(call_ctx) ctx = call_ctx_new(env);
        call_result_t res = { 0 };
        child_one(ctx, job, json_string_value(fun), json_array_get(args, i), &res);
        json_object_set(returns, json_string_value(fun), res.value);
        json_object_set_new(codes, json_string_value(fun), json_integer(res.retcode));
        json_object_set_new(oks, json_string_value(fun), json_boolean(res.success));
        if (call_absent(ctx) != NULL)
            buf_printf(&absent, "%s%s: %s", absent.len > 0 ? "\n" : "", json_string_value(fun),
                       call_absent(ctx));
        call_result_free(&res);
    }
    return json_pack("{s:o, s:o, s:o, s:s*}", "return", returns, "retcode", codes, "success", oks, "absent",
                     absent.len > 0 ? buf_str(&absent) : NULL);
}

/* Runs the minion's reactor (reactor_run.h) in place of a function. */
static json_t *
child_react(call_ctx_t *ctx, const json_t *job)
{
    int failed = 0;
    json_t *did = reactor_run(ctx, value_get(job, "react"), &failed);
    return json_pack("{s:o, s:i, s:b}", "return", did, "retcode", failed > 0, "success", failed == 0);
}

/* Looks for a beacon (beacon_run.h) in place of a function. */
static json_t *
child_look(const child_t *self, call_ctx_t *ctx, const json_t *job)
{
    const job_env_t *env = self->env;
    json_t *look = value_get(job, "look");
    const beacon_row_t *row = beacon_run_row(env->beacon_plugins, env->n_beacon_plugins,
                                             value_str(look, "module", ""));
    if (row != NULL)
        return json_pack("{s:o, s:i, s:b}", "return", beacon_run_look(ctx, row, look), "retcode", 0,
                         "success", true);
    beacon_run_python(ctx);
    return json_pack("{s:n, s:i, s:b}", "return", "retcode", 0, "success", true);
}

static int
child_file(void *cookie, json_t *ask, json_t **ret_value, fail_t *err)
{
    json_auto_t *request = json_pack("{s:s, s:O}", "op", "ask", "ask", ask);
    return child_host(cookie, request, ret_value, err);
}

/* NEW file client: file_roots of this host, or the master's files. */
static fileclient_t *
child_files(child_t *self)
{
    json_t *opts = self->env->opts;
    return str_eq(value_str(opts, "file_client", ""), "local")
               ? fileclient_local(opts, NULL)
               : remotefiles_new(value_str(opts, "cachedir", ""), child_file, self);
}

/* What the contexts of the job see. All of it is BORROWED. */
static call_env_t
child_env(child_t *self, const json_t *job, fileclient_t *files)
{
    return (call_env_t){ .registry = self->env->registry,
                         .states = self->env->states,
                         .returners = self->env->returners,
                         .opts = self->env->opts,
                         .id = self->env->id,
                         .jid = value_str(job, "jid", ""),
                         .user = value_str(job, "user", NULL),
                         .grains = child_grains,
                         .grains_again = child_grains_again,
                         .pillar = child_pillar,
                         .tops = child_tops,
                         .files = files,
                         .may = child_may,
                         .fire = child_fire,
                         .progress = value_bool(job, "watched", false) ? child_progress : NULL,
                         .host = child_host,
                         .peer_args = value_bool(job, "peer", false),
                         .cookie = self };
}

/* Runs the job. NEW {return, retcode, success}. */
static json_t *
job_child_run(child_t *self, const json_t *job)
{
    AUTO(fileclient) files = child_files(self);
    const call_env_t env = child_env(self, job, files);
    json_t *fun = value_get(job, "fun");
    if (json_is_array(fun))
        return child_many(&env, job, fun);
    AUTO(call_ctx) ctx = call_ctx_new(&env);
    if (value_get(job, "react") != NULL)
        return child_react(ctx, job);
    if (value_get(job, "look") != NULL)
        return child_look(self, ctx, job);
    call_result_t res = { 0 };
    child_one(ctx, job, json_string_value(fun), value_get(job, "arg"), &res);
    json_t *result = json_pack("{s:O, s:i, s:b, s:s*, s:s*}", "return", res.value, "retcode", res.retcode,
                               "success", res.success, "out", res.out, "absent", call_absent(ctx));
    call_result_free(&res);
    return result;
}

/* Lowers a soft limit, unless the hard limit is lower already. */
static void
soft_limit(__rlimit_resource_t what, rlim_t limit)
{
    struct rlimit rl;
    if (getrlimit(what, &rl) != 0 || rl.rlim_max < limit)
        return;
    rl.rlim_cur = limit;
    (void) setrlimit(what, &rl);
}

/* NEW return of a job that ran to its end; NULL for the minion's own affair, which has no jid and no
 * function: nobody waits for what it returns. */
static jobret_t *
child_return(const child_t *self, const json_t *job, const json_t *result)
{
    const char *out = value_str(result, "out", output_suited(value_str(job, "fun", NULL)));
    json_t *ret = jobret_of(job, result);
    if (ret == NULL)
        return NULL;
    if (out != NULL)
        json_object_set_new(ret, "out", json_string(out));
    if (value_get(result, "absent") != NULL)
        json_object_set(ret, "absent", value_get(result, "absent"));
    if (self->offline) {
        /* The return's metadata says that it is based on cached pillar or files. */
        json_t *metadata = value_get(ret, "metadata");
        metadata = json_is_object(metadata) ? json_copy(metadata) : json_object();
        json_object_set_new(metadata, "offline", json_true());
        json_object_set_new(ret, "metadata", metadata);
        log_warning("job %s: no master was there: pillar and files were taken as they last came from one",
                    value_str(job, "jid", ""));
    }
    return jobret_make(&ret);
}

/* Sends a return to the job server. 0 or a negative errno. */
static int
child_say(const child_t *self, const jobret_t *ret)
{
    buf_auto_t out = BUF_INIT;
    frame_add_text(&out, ret->text, ret->len);
    return child_write_all(self, &out);
}

/* Writes the return of a parted job to the spool. 0 or a negative errno. */
static int
child_leave(const job_env_t *env, const json_t *job, const jobret_t *ret)
{
    fail_auto_t err = FAIL_INIT;
    AUTO_FREE char *dir = fs_join(value_str(env->opts, "cachedir", ""), "spool");
    jobcache_keep(env->opts, ret);
    int rc = spool_leave(dir, ret, value_str(job, "asker", NULL), &err);
    if (rc < 0)
        log_error("job %s: %s", value_str(job, "jid", ""), fail_text(&err));
    return rc;
}

/* Gives the return to the job's returners, if there are any; it is on its way to the master already. */
static void
child_returners(child_t *self, const json_t *job, const jobret_t *ret)
{
    AUTO_FREE char *names = returners_of(self->env->opts, job);
    if (*names == '\0')
        return;
    AUTO(fileclient) files = child_files(self);
    const call_env_t env = child_env(self, job, files);
    AUTO(call_ctx) ctx = call_ctx_new(&env);
    json_auto_t *value = jobret_value(ret);
    returners_call(ctx, names, job, value);
}

/* The child's main function. Order matters: signals are let through only when parting_join() has installed
 * its handler, and proc_end_with() would undo a parting that came before. */
static NORETURN void
job_child_main(const job_env_t *env, json_t *job, int fd, pid_t parent, parting_t *parting)
{
    sigset_t empty;
    (void) sigemptyset(&empty);
    parting_join(parting);
    (void) sigprocmask(SIG_SETMASK, &empty, NULL);
    (void) setsid();
    if (!parting_is_gone())
        proc_end_with(parent);
    /* Inherited descriptors are close-on-exec; they stay open here, as the log's is among them. */
    /* Soft limits are for the module itself; programs that it runs get the hard ones back
     * (common/host/proc.c), as many of them reserve more memory than they use. */
    if (env->memory_limit > 0)
        soft_limit(RLIMIT_AS, env->memory_limit);
    soft_limit(RLIMIT_CORE, 0);
    child_t self = { .fd = fd, .env = env, .job = job };
    log_job(value_str(job, "jid", ""));
    json_auto_t *result = job_child_run(&self, job);
    AUTO(jobret) ret = child_return(&self, job, result);
    if (ret == NULL)
        _exit(0);
    int rc = parting_return() ? child_say(&self, ret) : child_leave(env, job, ret);
    if (!value_bool(job, "aside", false))
        child_returners(&self, job, ret);
    _exit(rc == 0 ? 0 : 1);
}

/* ---- the job server's side ------------------------------------------------------------------- */

job_proc_t *
job_start(const job_env_t *env, json_t **job_p, fail_t *err)
{
    json_t *job = STEAL(*job_p);
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        (void) fail_set(err, -errno, "socketpair: %s", strerror(errno));
        json_decref(job);
        return NULL;
    }
    parting_t *parting = parting_new();
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        (void) close(ends[0]);
        job_child_main(env, job, ends[1], parent, parting);
    }
    int code = errno;
    (void) close(ends[1]);
    if (pid < 0) {
        (void) close(ends[0]);
        (void) fail_set(err, -code, "fork: %s", strerror(code));
        json_decref(job);
        parting_destroy(&parting);
        return NULL;
    }
    (void) fcntl(ends[0], F_SETFL, O_NONBLOCK);
    job_proc_t *self = xcalloc(1, sizeof(*self));
    self->job = job;
    self->pid = pid;
    self->fd = ends[0];
    self->parting = parting;
    self->deadline_ms = env->timeout_s > 0 ? clock_mono_ms() + env->timeout_s * 1000LL : 0;
    return self;
}

void
job_proc_destroy(job_proc_t **self_p)
{
    job_proc_t *self = STEAL(*self_p);
    if (self == NULL)
        return;
    if (self->fd >= 0)
        (void) close(self->fd);
    buf_free(&self->in);
    json_decref(self->job);
    json_decref(self->at);
    jobret_destroy(&self->ret);
    parting_destroy(&self->parting);
    free(self);
}

void
job_part(const job_proc_t *self)
{
    int64_t left_ms = self->deadline_ms ? self->deadline_ms - clock_mono_ms() : 0;
    unsigned seconds = left_ms > 0 ? (unsigned) (left_ms / 1000 + 1) : 0;
    parting_ask(self->parting, self->pid, self->deadline_ms && seconds == 0 ? 1 : seconds);
}

/* Closes our end. Shut down first: children forked later hold copies of the descriptor, so closing alone
 * would leave this child waiting. */
static void
job_close(job_proc_t *self)
{
    (void) shutdown(self->fd, SHUT_RDWR);
    (void) close(self->fd);
    self->fd = -1;
}

/* Takes one frame of the child: its return, or *ret_frame NEW. 1, or a negative errno. */
static int
job_take(job_proc_t *self, const char *text, size_t len, json_t **ret_frame)
{
    fail_auto_t err = FAIL_INIT;
    if (len > 4 && memcmp(text, "{\"m\"", 4) == 0) {
        jobret_destroy(&self->ret);
        int rc = jobret_read(text, len, value_str(self->job, "jid", ""), &self->ret);
        return rc < 0 ? rc : 1;
    }
    *ret_frame = frame_parse(text, len, &err);
    return *ret_frame != NULL ? 1 : err.code;
}

int
job_read(job_proc_t *self, size_t limit, json_t **ret_frame)
{
    while (self->fd >= 0) {
        const char *text;
        size_t len;
        json_t *frame = NULL;
        int rc = frame_peek(&self->in, 0, limit, &text, &len, NULL);
        if (rc == -EMSGSIZE) /* a return repeats what the job was asked with, which is not its output */
            rc = frame_peek(&self->in, 0, limit + json_dumpb(self->job, NULL, 0, JSON_COMPACT), &text, &len,
                            NULL);
        if (rc == -EMSGSIZE) {
            self->oversize = true;
            (void) job_signal(self, SIGKILL);
        }
        if (rc > 0)
            rc = job_take(self, text, len, &frame);
        if (rc < 0) {
            self->unread = rc;
            job_close(self);
            return rc;
        }
        if (rc > 0)
            buf_consume(&self->in, FRAME_HEAD + len);
        if (frame != NULL) {
            *ret_frame = frame;
            return 1;
        }
        if (rc > 0)
            continue;
        buf_reserve(&self->in, READ_CHUNK);
        ssize_t n = recv(self->fd, self->in.data + self->in.len, READ_CHUNK, 0);
        if (n > 0)
            self->in.len += (size_t) n;
        else if (n < 0 && errno == EINTR)
            continue;
        else if (n < 0 && errno == EAGAIN)
            return 0;
        else
            job_close(self);
    }
    return -EPIPE;
}

void
job_answer(job_proc_t *self, json_t **answer_p)
{
    json_auto_t *answer = STEAL(*answer_p);
    buf_auto_t out = BUF_INIT;
    frame_add(&out, answer);
    /* The child waits for this answer and reads at once, so a buffer that stays full means that it is stopped
     * or gone. */
    size_t at = 0;
    while (self->fd >= 0 && at < out.len) {
        ssize_t n = send(self->fd, out.data + at, out.len - at, MSG_NOSIGNAL);
        struct pollfd pfd = { self->fd, POLLOUT, 0 };
        if (n > 0)
            at += (size_t) n;
        else if (errno != EINTR && (errno != EAGAIN || poll(&pfd, 1, 1000) <= 0))
            break;
    }
    /* An answer cut short: EOF keeps the child from waiting for the rest, and it can still return. */
    if (self->fd >= 0 && at < out.len)
        (void) shutdown(self->fd, SHUT_WR);
}

/* True when `pid` is the child of one of the jobs from `first` on, before `end`. */
static bool
job_is_child(const job_proc_t *first, const job_proc_t *end, pid_t pid)
{
    while (first != end && (first->exited || first->pid != pid))
        first = first->next;
    return first != end;
}

/* Signals the children of a range of jobs and their descendants. Programs that a module runs have sessions of
 * their own, so a signal to a group misses them; they are found by walking /proc's parents, before the
 * children die, as orphans are re-parented. Returns 0 or the errno of the last child; -ESRCH: none. */
static int
job_own_signal(const job_proc_t *first, const job_proc_t *end, int sig)
{
    size_t n, kept = 0;
    fail_auto_t why = FAIL_INIT;
    AUTO_FREE procfs_kin_t *kin = procfs_kin(&n, &why);
    if (why.code != 0)
        log_error("programs that the job has started go on without it: %s", fail_text(&why));
    AUTO_FREE pid_t *pids = xcalloc(n + 1, sizeof(*pids));
    int rc = -ESRCH;
    for (size_t i = 0; i < n; i++) {
        pid_t up = kin[i].parent;
        for (int depth = 1; depth < LIMIT_CALL_DEPTH && up > 1 && !job_is_child(first, end, up); depth++)
            up = procfs_parent(kin, n, up);
        if (up > 1 && job_is_child(first, end, up))
            pids[kept++] = kin[i].pid;
    }
    /* An exited child was reaped, so its pid may belong to another process. A group is killed at once, so no
     * process of a module that forks for ever is missed: each may have moved on to another number since the
     * walk. */
    for (const job_proc_t *p = first; p != end; p = p->next) {
        if (!p->exited && sig == SIGKILL)
            (void) kill(-p->pid, sig); /* before setsid() there is no such group */
        if (!p->exited)
            rc = kill(p->pid, sig) == 0 ? 0 : -errno;
    }
    for (size_t i = 0; i < kept; i++)
        (void) kill(pids[i], sig);
    return rc;
}

int
job_signal(const job_proc_t *self, int sig)
{
    return job_own_signal(self, self->next, sig);
}

void
job_signal_all(const job_proc_t *first, int sig)
{
    if (first != NULL)
        (void) job_own_signal(first, NULL, sig);
}

/* NEW failed return for the first cause that applies, from the most to the least specific. */
static json_t *
job_failed(const job_proc_t *self)
{
    if (self->oversize)
        return jobret_failed(
            self->job,
            xasprintf("The job's return is larger than this minion allows (job_output_max); have the "
                      "function write to a file instead"));
    if (self->timed_out)
        return jobret_failed(
            self->job,
            xasprintf("The job ran longer than this minion allows (job_timeout_max) and was ended"));
    if (self->unread == -ENOMEM)
        return jobret_failed(self->job,
                             xasprintf("The job has run, but this minion has no memory for its return"));
    if (self->unread)
        return jobret_failed(
            self->job, xasprintf("The job has run, but what it returned or asked for can't be read: is it "
                                 "nested deeper than %d levels? Have the function return less, or write to "
                                 "a file instead",
                                 LIMIT_JSON_DEPTH));
    if (WIFEXITED(self->status) && WEXITSTATUS(self->status) == EXIT_NO_MEMORY)
        return jobret_failed(self->job,
                             xasprintf("The job ran out of memory before it returned; is the memory "
                                       "limit (job_memory_max) too small?"));
    if (WIFSIGNALED(self->status))
        return jobret_failed(self->job, xasprintf("The job was ended by signal %d (%s) before it returned",
                                                  WTERMSIG(self->status), strsignal(WTERMSIG(self->status))));
    return jobret_failed(self->job, xasprintf("The job's process ended with exit code %d before it returned",
                                              WEXITSTATUS(self->status)));
}

jobret_t *
job_return(job_proc_t *self)
{
    if (self->ret != NULL)
        return STEAL(self->ret);
    json_t *failed = job_failed(self);
    return jobret_make(&failed);
}

jobret_t *
job_interrupted(const json_t *job)
{
    json_t *ret = jobret_failed(job,
                                xasprintf("The minion was stopped while this job ran; it may be half done"));
    return jobret_make(&ret);
}
