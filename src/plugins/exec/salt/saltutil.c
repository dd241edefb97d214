/* saltutil.c - execution module `saltutil`: the jobs of this minion, its caches and what it refreshes.
 *
 * Asks of the running minion (ctx_host):
 *   {"op": "running"}                      -> [{jid, fun, arg, tgt, tgt_type, ret, user, pid}], without this
 * job
 *   {"op": "signal", "jid", "signal"}      -> {"pid"}, or None when no such job runs
 *   {"op": "refresh_grains"}               -> True
 *   {"op": "refresh_pillar", "timeout", "clean_cache"} -> whether the new one came in time
 *   {"op": "event", "tag", "data"}         -> True; tags pillar_refresh, module_refresh, beacons_refresh,
 * matchers_refresh
 */
#include "salt/plugin.h"

#include <fnmatch.h>
#include <signal.h>
#include <sys/stat.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "salt/log.h"

/* ---- jobs --------------------------------------------------------------------------------- */

/* NEW list. Where no minion runs (salt-call) there are no jobs. The minion leaves the asking job out. */
static json_t *
running_jobs(call_ctx_t *ctx)
{
    fail_auto_t why = FAIL_INIT;
    json_auto_t *request = json_pack("{s:s}", "op", "running");
    json_t *jobs = NULL;

    if (ctx_host(ctx, request, &jobs, &why) == 0 && json_is_array(jobs))
        return jobs;
    log_debug("saltutil.running: %s", fail_text(&why));
    json_decref(jobs);
    return json_array();
}

/* A jid typed on the command line may have become a number. NEW. */
static char *
jid_arg(const json_t *args)
{
    return value_pystr(value_get(args, "jid"));
}

static int
saltutil_running(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = running_jobs(ctx);
    return 0;
}

/* Jobs whose function the glob fits. */
static int
saltutil_is_running(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *fun = value_str(args, "fun", "");
    json_auto_t *jobs = running_jobs(ctx);
    json_t *found = json_array(), *job;
    size_t i;

    json_array_foreach (jobs, i, job) {
        if (fnmatch(fun, value_str(job, "fun", ""), FNM_NOESCAPE) == 0)
            json_array_append(found, job);
    }
    *ret_value = found;
    return 0;
}

/* {} when it has ended: the master asks so whether a minion still works. */
static int
saltutil_find_job(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *jid = jid_arg(args);
    json_auto_t *jobs = running_jobs(ctx);
    json_t *found = NULL, *job;
    size_t i;

    json_array_foreach (jobs, i, job) {
        if (found == NULL && strcmp(value_str(job, "jid", ""), jid) == 0)
            found = job;
    }
    *ret_value = found != NULL ? json_incref(found) : json_object();
    return 0;
}

/* The text that Salt returns; "" when no such job runs. NEW. -ENOTSUP: no minion runs here, so no job
 * either. */
static json_t *
signal_job(call_ctx_t *ctx, const char *jid, json_int_t sig)
{
    fail_auto_t why = FAIL_INIT;
    json_auto_t *request = json_pack("{s:s, s:s, s:I}", "op", "signal", "jid", jid, "signal", sig);
    json_auto_t *answer = NULL;
    int rc = ctx_host(ctx, request, &answer, &why);

    if (rc == -ENOTSUP || (rc == 0 && !json_is_object(answer)))
        return json_string("");
    if (rc < 0)
        return value_fmt("Job %s was not signalled: %s", jid, fail_text(&why));
    return value_fmt("Signal %d sent to job %s at pid %d", (int) sig, jid, (int) value_int(answer, "pid", 0));
}

/* "" is no success for a person who mistyped a jid: the retcode and a hint say so. */
static int
signal_one(call_ctx_t *ctx, const json_t *args, json_int_t sig, json_t **ret_value)
{
    AUTO_FREE char *jid = jid_arg(args);

    *ret_value = signal_job(ctx, jid, sig);
    if (!value_truthy(*ret_value))
        ctx_absent(ctx, "No job %s runs here; 'saltutil.running' lists the jobs that do", jid);
    return 0;
}

/* The row's number is the signal: kill_all_jobs, term_all_jobs. This job is not among them. */
static int
saltutil_signal_all(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_int_t sig = ctx_row(ctx)->data.number;
    json_auto_t *jobs = running_jobs(ctx);
    json_t *texts = json_array(), *job;
    size_t i;

    json_array_foreach (jobs, i, job)
        json_array_append_new(texts, signal_job(ctx, value_str(job, "jid", ""), sig));
    *ret_value = texts;
    return 0;
}

static int
saltutil_signal_job(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return signal_one(ctx, args, value_int(args, "sig", SIGTERM), ret_value);
}

/* kill_job and term_job: as signal_job with the row's signal. */
static int
saltutil_end_job(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return signal_one(ctx, args, ctx_row(ctx)->data.number, ret_value);
}

/* ---- refresh ------------------------------------------------------------------------------ */

/* Sends an event to the minion. True when the minion accepted it. */
static bool
tell_minion(call_ctx_t *ctx, const char *tag, json_t *data)
{
    fail_auto_t why = FAIL_INIT;
    json_auto_t *request = json_pack("{s:s, s:s, s:O}", "op", "event", "tag", tag, "data", data);
    json_auto_t *answer = NULL;

    if (ctx_host(ctx, request, &answer, &why) == 0)
        return true;
    log_debug("%s: %s", tag, fail_text(&why));
    return false;
}

/* The event alone: the minion compiles it afterwards. */
static bool
refresh_pillar(call_ctx_t *ctx, bool clean_cache)
{
    json_auto_t *data = json_pack("{s:b}", "clean_cache", clean_cache);

    return tell_minion(ctx, "pillar_refresh", data);
}

/* Until the new one is there; as in Salt, one that does not come in time is only told in the log. */
static bool
await_pillar(call_ctx_t *ctx, json_t *args)
{
    fail_auto_t why = FAIL_INIT;
    json_auto_t *request = json_pack("{s:s, s:O*, s:O*}", "op", "refresh_pillar", "timeout",
                                     value_get(args, "timeout"), "clean_cache",
                                     value_get(args, "clean_cache"));
    json_auto_t *answer = NULL;

    if (ctx_host(ctx, request, &answer, &why) < 0) {
        log_debug("saltutil.refresh_pillar: %s", fail_text(&why));
        return false;
    }
    if (!json_is_true(answer))
        log_warning("saltutil.refresh_pillar: the new pillar did not come within %lld seconds",
                    (long long) value_int(args, "timeout", 30));
    return true;
}

static int
saltutil_refresh_pillar(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    bool clean = value_bool(args, "clean_cache", true);

    *ret_value = json_boolean(value_bool(args, "wait", false) ? await_pillar(ctx, args)
                                                              : refresh_pillar(ctx, clean));
    return 0;
}

/* The row's text is the event's tag. */
static int
saltutil_refresh(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *data = json_object();

    *ret_value = json_boolean(tell_minion(ctx, ctx_row(ctx)->data.text, data));
    return 0;
}

/* Returns at once: every job loads its modules anew, so `async=False` has nothing to await. */
static int
saltutil_refresh_modules(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *async = value_get(value_get(args, "kwargs"), "async");
    bool waits = async != NULL && !value_truthy(async);
    json_auto_t *data = waits ? json_pack("{s:b}", "notify", 1) : json_object();

    *ret_value = json_boolean(tell_minion(ctx, "module_refresh", data));
    return 0;
}

/* Always True, as by Salt. The pillar may depend on grains, so it is refreshed too unless the call says
 * no. */
static int
saltutil_refresh_grains(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *kwargs = value_get(args, "kwargs"), *with_pillar = value_get(kwargs, "refresh_pillar");
    json_auto_t *request = json_pack("{s:s}", "op", "refresh_grains");
    json_auto_t *answer = NULL;
    fail_auto_t why = FAIL_INIT;

    /* Keywords that Salt would complain about: all but its own and `allowed`. */
    const char *key;
    json_t *v;
    json_object_foreach (kwargs, key, v) {
        AUTO_FREE char *text = value_pystr(v);
        if (!str_starts(key, "__") && strcmp(key, "refresh_pillar") != 0) {
            (void) fail_kind(err, FAIL_INVOCATION, -EINVAL,
                             "The following keyword arguments are not valid: %s=%s", key, text);
            return -EINVAL;
        }
    }

    if (ctx_host(ctx, request, &answer, &why) < 0)
        log_debug("saltutil.refresh_grains: %s", fail_text(&why));
    if (with_pillar == NULL || value_truthy(with_pillar))
        (void) refresh_pillar(ctx, true);
    *ret_value = json_true();
    return 0;
}

/* ---- caches ------------------------------------------------------------------------------- */

/* Removes only what can be fetched or found again (archive_hash: which archives are extracted); returns that
 * wait for the master, backups and data.* are not caches. */
static int
saltutil_clear_cache(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const char *const parts[] = { "files",        "extrn_files", "localfiles",
                                         "archive_hash", "extmods",     "minion_jobs" };
    const char *cachedir = value_str(ctx_opts(ctx), "cachedir", "");
    bool all = true;

    for (size_t i = 0; i < NELEMS(parts) && *cachedir != '\0'; i++) {
        AUTO_FREE char *path = fs_join(cachedir, parts[i]);
        fail_auto_t why = FAIL_INIT;
        if (fs_remove_tree(path, &why) == 0)
            continue;
        log_error("Attempt to clear cache with saltutil.clear_cache FAILED with: %s", fail_text(&why));
        all = false;
    }
    *ret_value = json_boolean(all);
    return 0;
}

static double
exec_saltutil_seconds(const struct timespec *t)
{
    return (double) t->tv_sec + (double) t->tv_nsec / 1e9;
}

/* Folders older than `hours`, by their own times; other files of the place are left alone. False: not all of
 * the old ones went, and the log says why. */
static int
saltutil_clear_job_cache(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *dir = fs_join(value_str(ctx_opts(ctx), "cachedir", ""), "minion_jobs");
    fail_auto_t why = FAIL_INIT;
    char **names = NULL;
    struct timespec now;

    (void) clock_gettime(CLOCK_REALTIME, &now);
    double before = exec_saltutil_seconds(&now) - (double) value_int(args, "hours", 24) * 3600;
    bool all = fs_names(dir, &names, &why) == 0;
    for (char **name = names; name != NULL && *name != NULL; name++) {
        AUTO_FREE char *path = fs_join(dir, *name);
        struct stat st;
        if (lstat(path, &st) != 0)
            all = (fs_is_absence(-errno) || fs_fail(&why, -errno, "look at", path) == 0) && all;
        else if (S_ISDIR(st.st_mode) && exec_saltutil_seconds(&st.st_mtim) < before)
            all = fs_remove_tree(path, &why) == 0 && all;
    }
    strv_free(names);
    if (!all)
        log_error("Attempt to clear cache with saltutil.clear_job_cache FAILED with: %s", fail_text(&why));
    *ret_value = json_boolean(all);
    return 0;
}

/* Return of a past job, which cache_jobs keeps. A jid with a slash is unknown. */
static int
saltutil_find_cached_job(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *jobs = fs_join(value_str(ctx_opts(ctx), "cachedir", ""), "minion_jobs");
    AUTO_FREE char *jid = jid_arg(args);
    AUTO_FREE char *dir = fs_join(jobs, jid);
    AUTO_FREE char *path = fs_join(dir, "return.json");
    buf_auto_t text = BUF_INIT;

    /* A slash in it would lead to another folder. */
    int there = strchr(jid, '/') == NULL ? fs_look_dir(dir, err) : 0;
    if (there < 0)
        return there;
    if (there == 0) {
        ctx_set_retcode(ctx, EXIT_FAILURE);
        *ret_value = value_bool(ctx_opts(ctx), "cache_jobs", false)
                         ? value_fmt("Local jobs cache directory %s not found", dir)
                         : json_string(
                               "Local jobs cache directory not found; you may need to enable cache_jobs on "
                               "this minion");
        return 0;
    }
    int rc = fs_read(path, LIMIT_FILE_READ, &text, err);
    if (rc < 0)
        return rc;
    *ret_value = value_parse(buf_str(&text), text.len, LIMIT_FILE_READ, path, err);
    return *ret_value != NULL ? 0 : -EBADMSG;
}

/* ---- other --------------------------------------------------------------------------------- */

/* Salt updates frozen builds by a library that packages do not come with. */
static int
saltutil_update(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = json_pack("{s:s}", "_error", "Esky not available as import");
    return 0;
}

/* Modules are the same in every environment. The environment is taken and has no effect. */
static int
saltutil_mmodule(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *fun = value_str(args, "fun", "");

    if (ctx_find_named(ctx, fun, err) == NULL)
        return -ENOENT;
    return ctx_call(ctx, fun, value_get(args, "args"), value_get(args, "kwargs"), ret_value, err);
}

/* ---- table -------------------------------------------------------------------------------- */

static const arg_t jid_args[] = {
    ARG("jid", ARG_ANY, ARG_REQUIRED, "The job's id"),
    ARGS_END,
};
static const arg_t signal_args[] = {
    ARG("jid", ARG_ANY, ARG_REQUIRED, "The job's id"),
    ARG("sig", ARG_INT, ARG_REQUIRED, "Number of the signal"),
    ARGS_END,
};
static const arg_t fun_args[] = {
    ARG("fun", ARG_STR, ARG_REQUIRED, "A function, or a glob"),
    ARGS_END,
};
static const arg_t kwargs_args[] = {
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "refresh_pillar: also refresh pillar, True unless given"),
    ARGS_END,
};
static const arg_t modules_args[] = {
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "async: False waits until it is done"),
    ARGS_END,
};
static const arg_t pillar_args[] = {
    ARG("wait", ARG_BOOL, "false", "Return when the new pillar is there"),
    ARG("timeout", ARG_INT, "30", "Seconds to wait at most"),
    ARG("clean_cache", ARG_BOOL, "true", "Drop what is cached"),
    ARGS_END,
};
static const arg_t mmodule_args[] = {
    ARG("saltenv", ARG_STR, ARG_REQUIRED, "Accepted for Salt's sake"),
    ARG("fun", ARG_STR, ARG_REQUIRED, "The function to call"),
    ARG("args", ARG_ANY, ARG_STAR, "Its arguments"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Its keyword arguments"),
    ARGS_END,
};
static const arg_t update_args[] = {
    ARG("version", ARG_ANY, "null", "Not used"),
    ARGS_END,
};
static const arg_t hours_args[] = {
    ARG("hours", ARG_INT, "24", "Remove what is older"),
    ARGS_END,
};
static const func_t funcs[] = {
    { "clear_cache", saltutil_clear_cache, NULL, 0,
      "Remove what this minion has cached: files from its master and from elsewhere, custom modules, returns "
      "that ``cache_jobs`` has kept. Returns that wait for the master stay." CLI_EXAMPLE(
          "salt '*' saltutil.clear_cache") },
    { "clear_job_cache", saltutil_clear_job_cache, hours_args, 0,
      "Remove the returns of old jobs that ``cache_jobs`` has kept." CLI_EXAMPLE(
          "salt '*' saltutil.clear_job_cache hours=12") },
    { "find_cached_job", saltutil_find_cached_job, jid_args, FN_READONLY | FN_PEER,
      "Return what ``cache_jobs`` has kept of a job." CLI_EXAMPLE(
          "salt '*' saltutil.find_cached_job <job id>") },
    { "find_job", saltutil_find_job, jid_args, FN_READONLY | FN_PEER,
      "Return a job that runs on this minion now, or an empty dictionary." CLI_EXAMPLE(
          "salt '*' saltutil.find_job <job id>") },
    { "is_running", saltutil_is_running, fun_args, FN_READONLY | FN_PEER,
      "Return the jobs that run this function now." CLI_EXAMPLE(
          "salt '*' saltutil.is_running state.highstate") },
    { "kill_all_jobs", saltutil_signal_all, NULL, 0,
      "Kill all jobs of this minion (signal 9)." CLI_EXAMPLE("salt '*' saltutil.kill_all_jobs"),
      .data.number = SIGKILL },
    { "kill_job", saltutil_end_job, jid_args, 0,
      "Kill a job of this minion (signal 9)." CLI_EXAMPLE("salt '*' saltutil.kill_job <job id>"),
      .data.number = SIGKILL },
    { "mmodule", saltutil_mmodule, mmodule_args, FN_CALLS,
      "Call a function with the modules of an environment; here they are the same in all." CLI_EXAMPLE(
          "salt '*' saltutil.mmodule base test.ping") },
    { "pillar_refresh", saltutil_refresh_pillar, pillar_args, 0,
      "Another name of saltutil.refresh_pillar." CLI_EXAMPLE("salt '*' saltutil.pillar_refresh") },
    { "refresh_beacons", saltutil_refresh, NULL, 0,
      "Make the minion read its beacons again." CLI_EXAMPLE("salt '*' saltutil.refresh_beacons"),
      .data.text = "beacons_refresh" },
    { "refresh_grains", saltutil_refresh_grains, kwargs_args, 0,
      "Gather the grains again and, unless ``refresh_pillar=False``, the pillar." CLI_EXAMPLE(
          "salt '*' saltutil.refresh_grains") },
    { "refresh_matchers", saltutil_refresh, NULL, FN_READONLY,
      "Tell the minion to load its matchers again." CLI_EXAMPLE("salt '*' saltutil.refresh_matchers"),
      .data.text = "matchers_refresh" },
    { "refresh_modules", saltutil_refresh_modules, modules_args, FN_READONLY,
      "Tell the minion to load its modules and grains again." CLI_EXAMPLE(
          "salt '*' saltutil.refresh_modules") },
    { "refresh_pillar", saltutil_refresh_pillar, pillar_args, 0,
      "Make the minion fetch its pillar again." CLI_EXAMPLE("salt '*' saltutil.refresh_pillar") },
    { "running", saltutil_running, NULL, FN_READONLY | FN_PEER,
      "Return the jobs that run on this minion now, without this one." CLI_EXAMPLE(
          "salt '*' saltutil.running") },
    { "signal_job", saltutil_signal_job, signal_args, 0,
      "Send a signal to a job of this minion." CLI_EXAMPLE("salt '*' saltutil.signal_job <job id> 15") },
    { "term_all_jobs", saltutil_signal_all, NULL, 0,
      "End all jobs of this minion (signal 15)." CLI_EXAMPLE("salt '*' saltutil.term_all_jobs"),
      .data.number = SIGTERM },
    { "term_job", saltutil_end_job, jid_args, 0,
      "End a job of this minion (signal 15)." CLI_EXAMPLE("salt '*' saltutil.term_job <job id>"),
      .data.number = SIGTERM },
    { "update", saltutil_update, update_args, FN_READONLY,
      "Say that this minion can't update itself: packages do. As Salt does without its library "
      "esky." CLI_EXAMPLE("salt '*' saltutil.update 0.10.3") },
};

PLUGIN(exec, saltutil, .doc = "The jobs and caches of this minion", FUNCS(funcs));
