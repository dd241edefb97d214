/* saltutil.c - execution module `saltutil`: the jobs of this minion, its caches and what it refreshes.
 *
 * Asks of the running minion (ctx_host):
 *   {"op": "running"}                      -> [{jid, fun, arg, tgt, tgt_type, ret, user, pid}], without this
 * job
 *   {"op": "signal", "jid", "signal"}      -> {"pid"}, or None when no such job runs
 *   {"op": "refresh_grains"}               -> True
 *   {"op": "refresh_pillar", "timeout", "clean_cache"} -> whether the new one came in time
 *   {"op": "clear_cache"}                  -> True
 *   {"op": "event", "tag", "data"}         -> True; tags pillar_refresh, module_refresh, beacons_refresh,
 * matchers_refresh
 */
#include "salt/plugin.h"

#include <dirent.h>
#include <fnmatch.h>
#include <signal.h>
#include <sys/stat.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "salt/log.h"

/* ---- jobs --------------------------------------------------------------------------------- */

/* NEW list. Where no minion runs (salt-call) there are no jobs. */
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
    (void) args, (void) err;
    *ret_value = running_jobs(ctx);
    return 0;
}

static int
saltutil_is_running(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *fun = value_str(args, "fun", "");
    json_auto_t *jobs = running_jobs(ctx);
    json_t *found = json_array(), *job;
    size_t i;

    (void) err;
    json_array_foreach (jobs, i, job) {
        if (fnmatch(fun, value_str(job, "fun", ""), FNM_NOESCAPE) == 0)
            json_array_append(found, job);
    }
    *ret_value = found;
    return 0;
}

static int
saltutil_find_job(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *jid = jid_arg(args);
    json_auto_t *jobs = running_jobs(ctx);
    json_t *found = NULL, *job;
    size_t i;

    (void) err;
    json_array_foreach (jobs, i, job) {
        if (found == NULL && strcmp(value_str(job, "jid", ""), jid) == 0)
            found = job;
    }
    *ret_value = found != NULL ? json_incref(found) : json_object();
    return 0;
}

/* The text that Salt returns; "" when no such job runs. NEW. */
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

static int
signal_one(call_ctx_t *ctx, const json_t *args, json_int_t sig, json_t **ret_value)
{
    AUTO_FREE char *jid = jid_arg(args);

    *ret_value = signal_job(ctx, jid, sig);
    return 0;
}

static int
signal_all(call_ctx_t *ctx, json_int_t sig, json_t **ret_value)
{
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
    (void) err;
    return signal_one(ctx, args, value_int(args, "sig", SIGTERM), ret_value);
}

static int
saltutil_term_job(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    (void) err;
    return signal_one(ctx, args, SIGTERM, ret_value);
}

static int
saltutil_kill_job(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    (void) err;
    return signal_one(ctx, args, SIGKILL, ret_value);
}

static int
saltutil_term_all_jobs(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    (void) args, (void) err;
    return signal_all(ctx, SIGTERM, ret_value);
}

static int
saltutil_kill_all_jobs(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    (void) args, (void) err;
    return signal_all(ctx, SIGKILL, ret_value);
}

/* ---- refresh ------------------------------------------------------------------------------ */

/* Whether the minion took the event. */
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

    (void) err;
    *ret_value = json_boolean(value_bool(args, "wait", false) ? await_pillar(ctx, args)
                                                              : refresh_pillar(ctx, clean));
    return 0;
}

static int
saltutil_refresh_beacons(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *data = json_object();

    (void) args, (void) err;
    *ret_value = json_boolean(tell_minion(ctx, "beacons_refresh", data));
    return 0;
}

static int
always_true(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    (void) ctx, (void) args, (void) err;
    *ret_value = json_true();
    return 0;
}

/* Keywords that Salt would complain about: all but its own and `allowed`. */
static int
check_keywords(json_t *kwargs, const char *allowed, fail_t *err)
{
    const char *key;
    json_t *v;

    json_object_foreach (kwargs, key, v) {
        AUTO_FREE char *text = value_pystr(v);
        if (!str_starts(key, "__") && strcmp(key, allowed) != 0)
            return fail_kind(err, FAIL_INVOCATION, -EINVAL,
                             "The following keyword arguments are not valid: %s=%s", key, text);
    }
    return 0;
}

static int
saltutil_refresh_grains(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *kwargs = value_get(args, "kwargs"), *with_pillar = value_get(kwargs, "refresh_pillar");
    json_auto_t *request = json_pack("{s:s}", "op", "refresh_grains");
    json_auto_t *answer = NULL;
    fail_auto_t why = FAIL_INIT;

    if (check_keywords(kwargs, "refresh_pillar", err) < 0)
        return -EINVAL;
    if (ctx_host(ctx, request, &answer, &why) < 0)
        log_debug("saltutil.refresh_grains: %s", fail_text(&why));
    if (with_pillar == NULL || value_truthy(with_pillar))
        (void) refresh_pillar(ctx, true);
    *ret_value = json_true();
    return 0;
}

/* ---- sync --------------------------------------------------------------------------------- */

/* In Salt's order of sync_all. */
static const char *const sync_kinds[] = {
    "clouds",       "beacons",   "modules", "states",      "sdb",          "grains",
    "renderers",    "returners", "output",  "utils",       "log_handlers", "executors",
    "proxymodules", "engines",   "thorium", "serializers", "matchers",
};

/* Nothing of the file server's _modules and the like is taken over by this minion yet. */
static int
saltutil_sync_nothing(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    (void) ctx, (void) args, (void) err;
    *ret_value = json_array();
    return 0;
}

static bool
is_masterless(call_ctx_t *ctx)
{
    return strcmp(value_str(ctx_opts(ctx), "file_client", "remote"), "local") == 0;
}

static int
saltutil_sync_pillar(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    (void) args;
    if (!is_masterless(ctx))
        return fail_kind(err, FAIL_COMMAND, -EPERM,
                         "Pillar modules can only be synced to masterless minions");
    *ret_value = json_array();
    return 0;
}

static int
saltutil_sync_all(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = json_object();

    (void) err;
    for (size_t i = 0; i < NELEMS(sync_kinds); i++)
        json_object_set_new(ret, sync_kinds[i], json_array());
    if (is_masterless(ctx))
        json_object_set_new(ret, "pillar", json_array());
    if (value_bool(args, "refresh", true))
        (void) refresh_pillar(ctx, true);
    *ret_value = ret;
    return 0;
}

/* Calls `each` for the names in a folder, "." and ".." left out; an absent folder has none. */
static void
for_each_name(const char *dir, void (*each)(const char *path, const char *name, void *cookie), void *cookie)
{
    struct dirent **entries = NULL;
    int n = scandir(dir, &entries, NULL, alphasort);

    for (int i = 0; i < n; i++) {
        AUTO_FREE char *path = fs_join(dir, entries[i]->d_name);
        if (strcmp(entries[i]->d_name, ".") != 0 && strcmp(entries[i]->d_name, "..") != 0)
            each(path, entries[i]->d_name, cookie);
        free(entries[i]);
    }
    free(entries);
}

static void
add_stem(const char *path, const char *name, void *cookie)
{
    json_auto_t *stem = value_utf8(name, strcspn(name, "."));

    if (!fs_is_dir(path))
        json_array_append(cookie, stem);
}

static void
add_kind(const char *path, const char *name, void *cookie)
{
    json_t *stems = json_array();

    for_each_name(path, add_stem, stems);
    json_object_set_new(cookie, name, stems);
}

static int
saltutil_list_extmods(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *dir = fs_join(value_str(ctx_opts(ctx), "cachedir", ""), "extmods");
    json_t *ret = json_object();

    (void) args, (void) err;
    for_each_name(dir, add_kind, ret);
    *ret_value = ret;
    return 0;
}

/* ---- caches ------------------------------------------------------------------------------- */

static int
saltutil_clear_cache(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    fail_auto_t why = FAIL_INIT;
    json_auto_t *request = json_pack("{s:s}", "op", "clear_cache");
    json_t *answer = NULL;

    (void) args, (void) err;
    if (ctx_host(ctx, request, &answer, &why) == 0) {
        *ret_value = answer;
        return 0;
    }
    log_error("Attempt to clear cache with saltutil.clear_cache FAILED with: %s", fail_text(&why));
    *ret_value = json_false();
    return 0;
}

typedef struct sweep {
    int64_t before; /* seconds since the epoch */
    bool failed;
} sweep_t;

static void
remove_old(const char *path, const char *name, void *cookie)
{
    sweep_t *s = cookie;
    fail_auto_t why = FAIL_INIT;
    struct stat st;

    (void) name;
    if (lstat(path, &st) != 0 || !S_ISDIR(st.st_mode) || st.st_mtime >= s->before)
        return;
    if (fs_remove_tree(path, &why) < 0) {
        log_error("Attempt to clear cache with saltutil.clear_job_cache FAILED with: %s", fail_text(&why));
        s->failed = true;
    }
}

static int
saltutil_clear_job_cache(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *dir = fs_join(value_str(ctx_opts(ctx), "cachedir", ""), "minion_jobs");
    sweep_t s = { .before = (int64_t) time(NULL) - value_int(args, "hours", 24) * 3600 };

    (void) err;
    for_each_name(dir, remove_old, &s);
    *ret_value = json_boolean(!s.failed);
    return 0;
}

static int
saltutil_find_cached_job(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *jobs = fs_join(value_str(ctx_opts(ctx), "cachedir", ""), "minion_jobs");
    AUTO_FREE char *jid = jid_arg(args);
    AUTO_FREE char *dir = fs_join(jobs, jid);
    AUTO_FREE char *path = fs_join(dir, "return.json");
    buf_auto_t text = BUF_INIT;

    if (strchr(jid, '/') != NULL || !fs_is_dir(dir)) {
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

/* ---- table -------------------------------------------------------------------------------- */

static const arg_t jid_args[] = {
    { "jid", ARG_ANY, ARG_REQUIRED, "The job's id" },
    ARGS_END,
};
static const arg_t signal_args[] = {
    { "jid", ARG_ANY, ARG_REQUIRED, "The job's id" },
    { "sig", ARG_INT, ARG_REQUIRED, "Number of the signal" },
    ARGS_END,
};
static const arg_t fun_args[] = {
    { "fun", ARG_STR, ARG_REQUIRED, "A function, or a glob" },
    ARGS_END,
};
static const arg_t kwargs_args[] = {
    { "kwargs", ARG_ANY, ARG_STARSTAR, "refresh_pillar: also refresh pillar, True unless given" },
    ARGS_END,
};
static const arg_t modules_args[] = {
    { "kwargs", ARG_ANY, ARG_STARSTAR, "async: accepted for Salt's sake" },
    ARGS_END,
};
static const arg_t pillar_args[] = {
    { "wait", ARG_BOOL, "false", "Return when the new pillar is there" },
    { "timeout", ARG_INT, "30", "Seconds to wait at most" },
    { "clean_cache", ARG_BOOL, "true", "Drop what is cached" },
    ARGS_END,
};
static const arg_t hours_args[] = {
    { "hours", ARG_INT, "24", "Remove what is older" },
    ARGS_END,
};
static const arg_t sync_args[] = {
    { "saltenv", ARG_ANY, "null", "Environments of the file server" },
    { "refresh", ARG_BOOL, "true", "Refresh afterwards" },
    { "extmod_whitelist", ARG_ANY, "null", "Only these, by kind" },
    { "extmod_blacklist", ARG_ANY, "null", "Not these, by kind" },
    ARGS_END,
};

#define SYNC(kind)                                                                                           \
    {                                                                                                        \
        "sync_" kind, saltutil_sync_nothing, sync_args, 0,                                                   \
            "Return an empty list: this minion takes no " kind                                               \
            " from the file server yet." CLI_EXAMPLE("salt '*' saltutil.sync_" kind)                         \
    }

static const func_t funcs[] = {
    { "clear_cache", saltutil_clear_cache, NULL, 0,
      "Remove the files that this minion has cached from its master. Returns that wait for the master "
      "stay." CLI_EXAMPLE("salt '*' saltutil.clear_cache") },
    { "clear_job_cache", saltutil_clear_job_cache, hours_args, 0,
      "Remove the returns of old jobs that ``cache_jobs`` has kept." CLI_EXAMPLE(
          "salt '*' saltutil.clear_job_cache hours=12") },
    { "find_cached_job", saltutil_find_cached_job, jid_args, FN_READONLY,
      "Return what ``cache_jobs`` has kept of a job." CLI_EXAMPLE(
          "salt '*' saltutil.find_cached_job <job id>") },
    { "find_job", saltutil_find_job, jid_args, FN_READONLY,
      "Return a job that runs on this minion now, or an empty dictionary." CLI_EXAMPLE(
          "salt '*' saltutil.find_job <job id>") },
    { "is_running", saltutil_is_running, fun_args, FN_READONLY,
      "Return the jobs that run this function now." CLI_EXAMPLE(
          "salt '*' saltutil.is_running state.highstate") },
    { "kill_all_jobs", saltutil_kill_all_jobs, NULL, 0,
      "Kill all jobs of this minion (signal 9)." CLI_EXAMPLE("salt '*' saltutil.kill_all_jobs") },
    { "kill_job", saltutil_kill_job, jid_args, 0,
      "Kill a job of this minion (signal 9)." CLI_EXAMPLE("salt '*' saltutil.kill_job <job id>") },
    { "list_extmods", saltutil_list_extmods, NULL, FN_READONLY,
      "List the custom modules in the minion's cache." CLI_EXAMPLE("salt '*' saltutil.list_extmods") },
    { "refresh_beacons", saltutil_refresh_beacons, NULL, 0,
      "Make the minion read its beacons again." CLI_EXAMPLE("salt '*' saltutil.refresh_beacons") },
    { "refresh_grains", saltutil_refresh_grains, kwargs_args, 0,
      "Gather the grains again and, unless ``refresh_pillar=False``, the pillar." CLI_EXAMPLE(
          "salt '*' saltutil.refresh_grains") },
    { "refresh_matchers", always_true, NULL, FN_READONLY,
      "Return ``True``. Matchers are built in." CLI_EXAMPLE("salt '*' saltutil.refresh_matchers") },
    { "refresh_modules", always_true, modules_args, FN_READONLY,
      "Return ``True``. Modules are built in; there is nothing to load again." CLI_EXAMPLE(
          "salt '*' saltutil.refresh_modules") },
    { "refresh_pillar", saltutil_refresh_pillar, pillar_args, 0,
      "Make the minion fetch its pillar again." CLI_EXAMPLE("salt '*' saltutil.refresh_pillar") },
    { "running", saltutil_running, NULL, FN_READONLY,
      "Return the jobs that run on this minion now, without this one." CLI_EXAMPLE(
          "salt '*' saltutil.running") },
    { "signal_job", saltutil_signal_job, signal_args, 0,
      "Send a signal to a job of this minion." CLI_EXAMPLE("salt '*' saltutil.signal_job <job id> 15") },
    { "sync_all", saltutil_sync_all, sync_args, 0,
      "Return an empty list for each kind of custom module, for this minion takes none from the file server "
      "yet, and "
      "refresh the pillar." CLI_EXAMPLE("salt '*' saltutil.sync_all") },
    SYNC("beacons"),
    SYNC("clouds"),
    SYNC("engines"),
    SYNC("executors"),
    SYNC("grains"),
    SYNC("log_handlers"),
    SYNC("matchers"),
    SYNC("modules"),
    SYNC("output"),
    { "sync_pillar", saltutil_sync_pillar, sync_args, 0,
      "On a masterless minion, return an empty list: no pillar modules are taken from the file server "
      "yet." CLI_EXAMPLE("salt '*' saltutil.sync_pillar") },
    SYNC("proxymodules"),
    SYNC("renderers"),
    SYNC("returners"),
    SYNC("sdb"),
    SYNC("serializers"),
    SYNC("states"),
    SYNC("thorium"),
    SYNC("utils"),
    { "term_all_jobs", saltutil_term_all_jobs, NULL, 0,
      "End all jobs of this minion (signal 15)." CLI_EXAMPLE("salt '*' saltutil.term_all_jobs") },
    { "term_job", saltutil_term_job, jid_args, 0,
      "End a job of this minion (signal 15)." CLI_EXAMPLE("salt '*' saltutil.term_job <job id>") },
};

PLUGIN(exec, saltutil, .doc = "The jobs and caches of this minion", FUNCS(funcs));
