/* state.c - execution module `state`: functions that run states. Each call opens a job (claim, options,
 * pillar), compiles the high data to chunks, and runs them. More functions: state_show.c shows what would
 * run, state_control.c steers runs, state_request.c stores runs for later. A refusal, an error of the
 * compilation and a broken pillar are returns, lists of texts with a retcode of their own, and no errors of
 * the job: that is how Salt's callers tell them from results. */
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/files/extmods.h"
#include "common/files/fileclient.h"
#include "common/plugin/call.h"
#include "common/plugin/keywords.h"
#include "common/py/py_json.h"
#include "common/py/py_peer.h"
#include "common/py/py_wire.h"
#include "plugins/lib/salt/eventwatch.h"
#include "plugins/lib/salt/statejob.h"
#include "plugins/lib/salt/stateopts.h"
#include "salt/log.h"
#include "salt/state.h"

enum { MODE_CACHE = 0600 };

/* ---- a run --------------------------------------------------------------------------------- */

/* Resources of one call, released when the function ends. */
typedef struct job {
    call_ctx_t *ctx;
    json_t *args, *kwargs; /* BORROWED */
    json_t *errors;        /* of the compilation */
    stateopts_t opts;
    stateclaim_t claim;
    bool test_before;
} job_t;

/* Undoes job_open(): test mode, claim and options. A zeroed job_t, whose opening failed early, is left
 * alone. */
static void
job_close(job_t *self)
{
    if (self->ctx == NULL)
        return;
    ctx_set_test(self->ctx, self->test_before);
    json_decref(self->errors);
    stateopts_close(&self->opts);
    statejob_release(&self->claim);
}
#define job_auto_t __attribute__((cleanup(job_close))) job_t

/* 0 to go on. 1: *ret_value is the return; a negative errno: *err. On every way out job_close() releases what
 * was opened; `dflt` is the environment when none is asked for, `top` the top file's URL (NULL: the usual
 * one). */
static int
job_open(job_t *self, call_ctx_t *ctx, json_t *args, const char *dflt, const char *top, json_t **ret_value,
         fail_t *err)
{
    int rc = statejob_conflict(ctx, args, ret_value, err);

    if (rc != 0)
        return rc;
    *self = (job_t){ .ctx = ctx,
                     .args = args,
                     .kwargs = value_get(args, "kwargs"),
                     .errors = json_array(),
                     .test_before = ctx_test(ctx) };
    ctx_set_test(ctx, statejob_test(ctx, args));
    statejob_claim(&self->claim, ctx, value_str(self->kwargs, "__pub_fun", "state.apply"));
    return top != NULL ? stateopts_open_top(&self->opts, ctx, self->kwargs, top, err)
                       : stateopts_open(&self->opts, ctx, self->kwargs, dflt, err);
}

/* Errors of the compilation are the return. */
static int
exec_state_give_errors(job_t *self, json_t **ret_value)
{
    ctx_set_retcode(self->ctx, STATE_COMPILER_ERROR);
    *ret_value = json_incref(self->errors);
    return 0;
}

/* 1 when the pillar is broken: *ret_value says how. States that run with half a pillar would do harm:
 * `force=True` leaves pillar_errors unset. */
static int
pillar_broken(job_t *self, json_t **ret_value)
{
    if (self->opts.pillar_errors == NULL)
        return 0;
    ctx_set_retcode(self->ctx, STATE_PILLAR_FAILURE);
    *ret_value = json_pack("[s]", "Pillar failed to render with the following messages:");
    json_array_extend(*ret_value, self->opts.pillar_errors);
    return 1;
}

/* Run what `high` has come to. `only_id` runs the chunks of one ID (NULL: all). */
static int
run_high(job_t *self, py_t *high, const char *only_id, json_t **ret_value)
{
    high_env_t env = { .natives = true,
                       .opts = ctx_opts(self->ctx),
                       .from = self->opts.high,
                       .orchestration_jid = value_str(self->kwargs, "orchestration_jid", NULL) };
    json_auto_t *chunks = high_to_low(high, &env, self->errors);

    if (json_array_size(self->errors) > 0)
        return exec_state_give_errors(self, ret_value);
    /* The states hand on values as JSON, which drops the marks; the whole call counts as a peer's words from
     * here on. */
    if (py_holds_peer(high))
        call_set_peer_args(self->ctx);
    /* States of the run ask `opts.ask` for the pillar of the call, not the minion's own. */
    json_t *running = statejob_run(self->ctx, chunks, self->opts.ask, only_id,
                                   value_truthy(value_get(self->kwargs, "mock")));
    ctx_set_retcode(self->ctx, state_succeeded(running, chunks) ? 0 : STATE_FAILURE);
    if (value_truthy(value_get(self->kwargs, "terse")) ||
        str_eq(value_str(ctx_opts(self->ctx), "state_data", ""), "terse")) {
        /* `terse`: only what has failed or changed. */
        json_t *out = json_object(), *ret;
        const char *tag;
        json_object_foreach (running, tag, ret) {
            if (!value_truthy(value_get(ret, "result")) || state_changed(ret))
                json_object_set(out, tag, ret);
        }
        *ret_value = out;

        json_decref(running);
    } else {
        *ret_value = running;
    }
    return 0;
}

/* ---- the cache of the last high data --------------------------------------------------------- */

/* Path of CACHEDIR/NAME.cache.p; NULL for a name with a slash, which would leave the folder. NEW. */
static char *
cache_path(const job_t *self)
{
    AUTO_FREE char *name = xasprintf("%s.cache.p", value_str(self->kwargs, "cache_name", "highstate"));

    return strchr(name, '/') == NULL ? fs_join(value_str(ctx_opts(self->ctx), "cachedir", ""), name) : NULL;
}

/* NEW high data of the last highstate, where `cache` asks for it and there is one. Any trouble with the file
 * is logged, and the run compiles anew. */
static py_t *
cached_high(const job_t *self)
{
    AUTO_FREE char *path = cache_path(self);
    fail_auto_t err = FAIL_INIT;
    buf_auto_t text = BUF_INIT;

    if (!value_truthy(value_get(self->kwargs, "cache")) || path == NULL || fs_absent(path))
        return NULL;
    if (fs_read(path, LIMIT_FILE_READ, &text, &err) < 0) {
        log_error("%s", fail_text(&err));
        return NULL;
    }
    json_auto_t *high = value_parse(buf_str(&text), text.len, LIMIT_FILE_READ, path, &err);
    if (high == NULL)
        log_error("%s", fail_text(&err));
    return high != NULL ? py_from_wire(high) : NULL;
}

/* ---- sls ----------------------------------------------------------------------------------- */

/* SLS that state.disable names: Salt's texts. NEW array. */
static json_t *
disabled(call_ctx_t *ctx, const json_t *mods)
{
    json_t *patterns = value_get(ctx_grains(ctx), "state_runs_disabled"), *out = json_array(), *mod, *one;
    size_t i, j;

    json_array_foreach ((json_t *) mods, i, mod) {
        json_array_foreach (patterns, j, one) {
            /* "web.*" compares up to the first dot only, as by Salt: "web.a.*" disables all of web. */
            const char *pattern = json_string_value(one), *name = json_string_value(mod),
                       *dot = pattern != NULL ? strstr(pattern, ".*") : NULL;
            if (pattern == NULL || name == NULL)
                continue;
            if (dot != NULL && strncmp(name, pattern, strcspn(pattern, ".") + 1) == 0)
                json_array_append_new(out, value_fmt("The state file \"%s\" is currently disabled by \"%s\", "
                                                     "to re-enable, run state.enable %s.",
                                                     name, pattern, pattern));
            else if (dot == NULL && strcmp(name, pattern) == 0)
                json_array_append_new(out, value_fmt("The state file \"%s\" is currently disabled, to "
                                                     "re-enable, run state.enable %s.",
                                                     pattern, pattern));
        }
    }
    return out;
}

/* Applies `exclude` to the high data, in place. */
static void
exclude_from(py_t *high, const json_t *exclude)
{
    if (!value_truthy(exclude))
        return;
    json_auto_t *list = stateopts_split(exclude);
    high_exclude(high, list);
}

/* The state's own option for this run. None leaves the option of the configuration. */
static void
take_state_events(job_t *self)
{
    json_t *asked = value_get(self->args, "state_events");

    if (asked != NULL && !json_is_null(asked))
        json_object_set(ctx_opts(self->ctx), "state_events", asked);
}

/* Renders the SLS of `mods` in the run's environment. NEW high data; problems go into self->errors. */
static py_t *
exec_state_render_mods(job_t *self)
{
    json_auto_t *matches = json_object();

    json_object_set_new(matches, self->opts.saltenv, stateopts_split(value_get(self->args, "mods")));
    return highstate_render(self->opts.high, matches, self->errors);
}

/* Order as in Salt: conflict, disabled SLS, synchronisation of modules, pillar, cache, rendering, run. */
static int
state_sls(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    job_auto_t job = { 0 };
    int rc = job_open(&job, ctx, args, "base", NULL, ret_value, err);

    if (rc != 0)
        return rc < 0 ? rc : 0;
    json_auto_t *mods = stateopts_split(value_get(args, "mods")), *off = disabled(ctx, mods);
    if (json_array_size(off) > 0) {
        ctx_set_retcode(ctx, STATE_COMPILER_ERROR);
        *ret_value = json_incref(off);
        return 0;
    }

    /* Modules of Salt's users' own are fetched before the run. */
    const json_t *asked = value_get(job.args, "sync_mods");
    json_auto_t *kinds = json_is_true(asked)                    ? json_pack("[s]", "all")
                         : asked == NULL || json_is_null(asked) ? json_array()
                                                                : stateopts_split(asked);
    /* An unknown kind, or a failure of the file server, is logged; the run goes on with the modules that are
     * there. */
    json_t *kind;
    size_t i;
    json_array_foreach (kinds, i, kind) {
        fail_auto_t why = FAIL_INIT;
        AUTO_FREE char *fun = xasprintf("saltutil.sync_%s", json_string_value(kind));
        json_auto_t *kwargs = json_pack("{s:s}", "saltenv", job.opts.saltenv), *done = NULL;
        if (!ctx_has(job.ctx, fun))
            log_warning("Invalid custom module type '%s', ignoring", json_string_value(kind));
        else if (ctx_call(job.ctx, fun, NULL, kwargs, &done, &why) < 0)
            log_error("%s: %s", fun, fail_text(&why));
    }

    take_state_events(&job);
    if (pillar_broken(&job, ret_value))
        return 0;
    AUTO(py) cached = cached_high(&job);
    if (cached != NULL)
        return run_high(&job, cached, NULL, ret_value);
    AUTO(py) high = exec_state_render_mods(&job);
    if (json_array_size(job.errors) > 0)
        return exec_state_give_errors(&job, ret_value);
    exclude_from(high, value_get(args, "exclude"));
    return run_high(&job, high, NULL, ret_value);
}

/* An empty result means that the ID was not found, which is an invocation error. The whole of the SLS is
 * compiled, so that requisites resolve, but only the ID runs. */
static int
state_sls_id(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    job_auto_t job = { 0 };
    AUTO_FREE char *id = value_pystr(value_get(args, "id_"));
    int rc = job_open(&job, ctx, args, "base", NULL, ret_value, err);

    if (rc != 0)
        return rc < 0 ? rc : 0;
    take_state_events(&job);
    if (pillar_broken(&job, ret_value))
        return 0;
    AUTO(py) high = exec_state_render_mods(&job);
    rc = run_high(&job, high, id, ret_value);
    if (!json_is_object(*ret_value) || json_object_size(*ret_value) > 0)
        return rc;
    AUTO_FREE char *mods = value_pystr(value_get(args, "mods"));
    json_decref(*ret_value);
    *ret_value = NULL;
    return fail_kind(err, FAIL_INVOCATION, -ENOENT,
                     "No matches for ID '%s' found in SLS '%s' within saltenv '%s'", id, mods,
                     job.opts.saltenv);
}

/* ---- highstate ----------------------------------------------------------------------------- */

/* Salt reports an empty run as a failed state. NEW. The key has the form of a state's, so that the outputter
 * highstate shows it as one. */
static json_t *
no_states(call_ctx_t *ctx, const char *comment)
{
    ctx_set_retcode(ctx, STATE_FAILURE);
    return json_pack("{s:{s:b, s:s, s:s, s:{}, s:i}}", "no_|-states_|-states_|-None", "result", 0, "comment",
                     comment, "name", "No States", "changes", "__run_num__", 0);
}

/* Only what `whitelist` names of what the top file gives. Every environment is narrowed by the same list. */
static void
keep_listed(json_t *matches, const json_t *whitelist)
{
    json_auto_t *wanted = value_truthy(whitelist) ? stateopts_split(whitelist) : NULL;
    json_t *mods, *mod, *one;
    const char *saltenv;
    size_t i, j;

    json_object_foreach (wanted != NULL ? matches : NULL, saltenv, mods) {
        json_t *kept = json_array();
        json_array_foreach (mods, i, mod) {
            json_array_foreach (wanted, j, one) {
                if (json_equal(mod, one))
                    json_array_append(kept, mod);
            }
        }
        json_object_set_new(matches, saltenv, kept);
    }
}

/* True when the file server has custom modules in these environments, or has had. A folder of before counts,
 * since files that are gone from the server must go here too. Asking first saves a walk through all kinds. */
static bool
has_custom(job_t *self, const json_t *envs)
{
    AUTO_FREE char *top = extmods_dir(self->ctx, "");
    struct fileclient *files = ctx_files(self->ctx);
    bool found = fs_look_dir(top, NULL) > 0;
    json_t *env;
    size_t i;

    json_array_foreach ((json_t *) envs, i, env) {
        fail_auto_t why = FAIL_INIT; /* the run itself meets it again */
        json_auto_t *paths = files != NULL && !found
                                 ? fileclient_list(files, FILES_FILES, json_string_value(env), "_", &why)
                                 : NULL;
        found = found || json_array_size(paths) > 0;
    }
    return found;
}

/* Fetches custom modules of the environments, as Salt does before a highstate. refresh=False, as by Salt:
 * what this run needs is refreshed below. */
static void
load_dynamic(job_t *self, json_t *matches)
{
    json_auto_t *envs = json_array(), *done = NULL;
    fail_auto_t why = FAIL_INIT;
    const char *env;
    json_t *mods;

    json_object_foreach (matches, env, mods)
        json_array_append_new(envs, json_string(env));
    if (!value_bool(ctx_opts(self->ctx), "autoload_dynamic_modules", true) || !has_custom(self, envs))
        return;
    json_auto_t *kwargs = json_pack("{s:O, s:b}", "saltenv", envs, "refresh", false);
    if (ctx_call(self->ctx, "saltutil.sync_all", NULL, kwargs, &done, &why) < 0)
        log_error("saltutil.sync_all: %s", fail_text(&why));
    /* New producers of grains may change what the top file and the SLS say. */
    if (json_array_size(value_get(done, "grains")) == 0)
        return;
    ctx_refresh_grains(self->ctx);
    call_refresh_modules(self->ctx); /* files in Python that are loaded already see the grains of before */
}

/* "There is no environment 'dve'; the file server has: base, dev". NEW; NULL: there is, or nobody can tell. */
static char *
no_env(const job_t *self)
{
    const char *env = self->opts.saltenv;
    json_auto_t *envs = env != NULL && ctx_files(self->ctx) != NULL
                            ? fileclient_envs(ctx_files(self->ctx), NULL)
                            : NULL;

    if (json_array_size(envs) == 0 || value_lists(envs, env) || value_lists(envs, "__env__"))
        return NULL;
    AUTO_FREE char *known = value_joined(envs, ", ");
    return xasprintf("There is no environment '%s'; the file server has: %s", env, known);
}

/* Common part of highstate and top, once the job is open. `cache=True` skips top file and rendering. */
static int
run_matches(job_t *self, json_t **ret_value)
{
    AUTO(py) cached = cached_high(self);

    if (cached != NULL)
        return run_high(self, cached, NULL, ret_value);
    json_auto_t *matches = highstate_top(self->opts.high, self->errors);
    if (json_object_size(matches) == 0 && json_array_size(self->errors) == 0) {
        const char *why = highstate_top_problem(self->opts.high);
        AUTO_FREE char *none = why == NULL ? no_env(self) : NULL;
        why = none != NULL ? none : why;
        AUTO_FREE char *text = xasprintf(
            "No Top file or master_tops data matches found. Please see master log "
            "for details.%s%s",
            why != NULL ? "\n" : "",
            why != NULL
                ? why
                : "\nNo top file of file_roots names states for this minion: write top.sls, or name the SLS: "
                  "state.apply SLS");
        *ret_value = no_states(self->ctx, text);
        return 0;
    }
    keep_listed(matches, value_get(self->kwargs, "whitelist"));
    load_dynamic(self, matches);
    AUTO(py) high = highstate_render(self->opts.high, matches, self->errors);
    if (json_array_size(self->errors) > 0)
        return exec_state_give_errors(self, ret_value);
    exclude_from(high, value_get(self->kwargs, "exclude"));
    if (py_truth(high) != 1) {
        *ret_value = no_states(self->ctx, "No states found for this minion");
        return 0;
    }

    /* Keeps the high data for `cache=True`. A failure is logged only: the run itself does not need the
     * file. */
    AUTO_FREE char *path = cache_path(self);
    fail_auto_t err = FAIL_INIT;
    json_auto_t *data = path != NULL ? py_to_wire_peer(high) : NULL;
    if (path != NULL && data == NULL)
        log_error("Unable to write to \"state.highstate\" cache file %s: %s", path, py_raised_text());
    py_clear();
    if (data != NULL) {
        AUTO_FREE char *text = value_dump(data);
        if (fs_write_quick(path, text, strlen(text), MODE_CACHE, &err) < 0)
            log_error("Unable to write to \"state.highstate\" cache file %s: %s", path, fail_text(&err));
    }

    return run_high(self, high, NULL, ret_value);
}

/* All that the top file gives this minion; a disabled highstate fails with Salt's text. */
static int
state_highstate(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    job_auto_t job = { 0 };
    json_auto_t *self = json_pack("[s]", "highstate"), *off = disabled(ctx, self);

    if (json_array_size(off) > 0) {
        ctx_set_retcode(ctx, STATE_COMPILER_ERROR);
        *ret_value = json_pack("{s:s, s:s, s:s}", "name",
                               "Salt highstate run is disabled. To re-enable, run state.enable highstate",
                               "result", "False", "comment", "Disabled");
        return 0;
    }
    int rc = job_open(&job, ctx, args, NULL, NULL, ret_value, err);
    if (rc != 0)
        return rc < 0 ? rc : 0;
    take_state_events(&job);
    return pillar_broken(&job, ret_value) ? 0 : run_matches(&job, ret_value);
}

/* As highstate, by another top file. */
static int
state_top(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    job_auto_t job = { 0 };
    AUTO_FREE char *topfn = xasprintf("salt://%s", value_str(args, "topfn", ""));
    int rc = job_open(&job, ctx, args, NULL, topfn, ret_value, err);

    if (rc != 0)
        return rc < 0 ? rc : 0;
    return pillar_broken(&job, ret_value) ? 0 : run_matches(&job, ret_value);
}

/* ---- data and templates ---------------------------------------------------------------------- */

/* The data come from the caller, complete as rendering would make them; high_pad() gives each ID what is left
 * out. */
static int
state_high(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    job_auto_t job = { 0 };
    int rc = job_open(&job, ctx, args, NULL, NULL, ret_value, err);

    if (rc != 0)
        return rc < 0 ? rc : 0;
    AUTO(py) high = py_from_json(value_get(args, "data"));
    high_pad(high, "high data", job.errors);
    if (json_array_size(job.errors) > 0)
        return exec_state_give_errors(&job, ret_value);
    return run_high(&job, high, NULL, ret_value);
}

/* A file of the minion or of the server, rendered as an SLS of its own: no top file, no includes' names. */
static int
state_template(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    job_auto_t job = { 0 };
    const char *tem = value_str(args, "tem", "");
    int rc = job_open(&job, ctx, args, NULL, NULL, ret_value, err);

    if (rc != 0)
        return rc < 0 ? rc : 0;
    if (job.opts.pillar_errors != NULL)
        return stateopts_pillar_fail(&job.opts, ctx, err);
    AUTO_FREE char *path = str_ends(tem, ".sls") ? xstrdup(tem) : xasprintf("%s.sls", tem);
    AUTO(py)
    high = highstate_render_file(job.opts.high, path, value_str(job.kwargs, "saltenv", "base"), job.errors);
    if (json_array_size(job.errors) > 0)
        return exec_state_give_errors(&job, ret_value);
    return run_high(&job, high, NULL, ret_value);
}

/* The text stands for an SLS. */
static int
state_template_str(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    job_auto_t job = { 0 };
    const char *text = value_str(args, "tem", "");
    int rc = job_open(&job, ctx, args, NULL, NULL, ret_value, err);

    if (rc != 0)
        return rc < 0 ? rc : 0;
    render_source_t source = { .text = text,
                               .len = strlen(text),
                               .saltenv = job.opts.saltenv != NULL ? job.opts.saltenv : "base" };
    AUTO(py) high = render_data(job.opts.render, &source, err);
    if (high == NULL)
        return err->code;
    high_pad(high, "<template-str>", job.errors);
    if (json_array_size(job.errors) > 0)
        return exec_state_give_errors(&job, ret_value);
    return run_high(&job, high, NULL, ret_value);
}

/* ---- one state ----------------------------------------------------------------------------- */

/* Keywords of the function itself, which the state does not get. */
static const char *const own_keywords[] = { "pillar",      "pillarenv", "pillar_enc",       "concurrent",
                                            "localconfig", "mock",      "orchestration_jid" };

/* 1 when the chunk can't run: *ret_value is the list of reasons. Requisites are no matter here: nothing else
 * runs beside it. */
static int
not_runnable(call_ctx_t *ctx, json_t *chunk, json_t **ret_value)
{
    json_t *errors = state_verify(ctx, chunk);

    if (json_array_size(errors) == 0) {
        json_decref(errors);
        return 0;
    }
    ctx_set_retcode(ctx, STATE_COMPILER_ERROR);
    *ret_value = errors;
    return 1;
}

/* True for `tset` and `test`, whose letters are the same ones. */
static bool
is_anagram(const char *a, const char *b)
{
    int count[UCHAR_MAX + 1] = { 0 };

    for (; *a != '\0'; a++)
        count[(unsigned char) *a]++;
    for (; *b != '\0'; b++)
        count[(unsigned char) *b]--;
    for (size_t i = 0; i < NELEMS(count); i++)
        if (count[i] != 0)
            return false;
    return true;
}

/* Refuses a keyword that the state does not name and that is nearly one of this function's own: `tset=True`
 * would run the state for real. Where the state takes any keyword, as module.run does, `text` is one of
 * those. */
static int
single_check(call_ctx_t *ctx, const char *fun, const json_t *kwargs, fail_t *err)
{
    static const arg_t own_args[] = { ARG("test", ARG_ANY, "null", "As of state.single"),
                                      ARG("queue", ARG_ANY, "null", "The same"),
                                      ARG("kwargs", ARG_ANY, ARG_STARSTAR, "The same", STATE_RUN_WORDS),
                                      ARGS_END };
    static const func_t own = { .name = "single", .args = own_args };
    fail_auto_t none = FAIL_INIT;
    keyword_names_t ours = { .f = &own, .given = kwargs },
                    its = { .f = ctx_find_state(ctx, fun, &none), .given = kwargs };
    const char *key;
    json_t *v;

    json_object_foreach (its.f != NULL ? (json_t *) kwargs : NULL, key, v) {
        AUTO_FREE char *near = NULL, *nearer = NULL;
        if (keyword_fit(&ours, key, &near) != KEYWORD_TYPO)
            continue;
        keyword_fit_t fit = keyword_fit(&its, key, &nearer);
        if (fit == KEYWORD_NAMED || (fit == KEYWORD_TAKEN && !is_anagram(key, near)))
            continue;
        AUTO_FREE char *text = value_pystr(v);
        return fail_kind(err, FAIL_INVOCATION, -EINVAL,
                         "The following keyword arguments are not valid: %s=%s; is '%s' meant?", key, text,
                         near);
    }
    return 0;
}

/* Builds one chunk from the keywords, verifies it and runs it without requisites. The answer has the key that
 * a run would give the state. */
static int
state_single(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    job_auto_t job = { 0 };
    const char *fun = value_str(args, "fun", ""), *dot = strchr(fun, '.');
    int rc = single_check(ctx, fun, value_get(args, "kwargs"), err);

    rc = rc == 0 ? job_open(&job, ctx, args, NULL, NULL, ret_value, err) : rc;
    if (rc != 0)
        return rc < 0 ? rc : 0;
    if (dot == NULL) {
        ctx_set_retcode(ctx, STATE_COMPILER_ERROR);
        *ret_value = json_string("Invalid function passed");
        return 0;
    }
    json_auto_t *chunk = json_copy(job.kwargs);
    for (size_t i = 0; i < NELEMS(own_keywords); i++)
        json_object_del(chunk, own_keywords[i]);
    json_object_set_new(chunk, "state", value_fmt("%.*s", (int) (dot - fun), fun));
    json_object_set_new(chunk, "fun", value_fmt("%.*s", (int) strcspn(dot + 1, "."), dot + 1));
    json_object_set(chunk, "__id__", value_get(args, "name"));
    json_object_set(chunk, "name", value_get(args, "name"));
    if (not_runnable(ctx, chunk, ret_value))
        return 0;
    AUTO_FREE char *tag = state_tag(chunk);
    json_t *ret = statejob_run_one(ctx, chunk, job.opts.ask, value_truthy(value_get(job.kwargs, "mock")));
    *ret_value = json_object();
    json_object_set_new(*ret_value, tag, ret);
    ctx_set_retcode(ctx, state_succeeded(*ret_value, NULL) ? 0 : STATE_FAILURE);
    return 0;
}

/* The caller brings the chunk; its ID is the name when it has none. */
static int
state_low(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    job_auto_t job = { 0 };
    int rc = job_open(&job, ctx, args, NULL, NULL, ret_value, err);

    if (rc != 0)
        return rc < 0 ? rc : 0;
    json_auto_t *chunk = json_copy(value_get(args, "data"));
    if (value_get(chunk, "__id__") == NULL && value_get(chunk, "name") != NULL)
        json_object_set(chunk, "__id__", value_get(chunk, "name"));
    if (not_runnable(ctx, chunk, ret_value))
        return 0;
    *ret_value = statejob_run_one(ctx, chunk, job.opts.ask, false);
    ctx_set_retcode(ctx, json_is_false(value_get(*ret_value, "result")) ? STATE_FAILURE : 0);
    return 0;
}

/* ---- others -------------------------------------------------------------------------------- */

/* One line for each state run under way. With `concurrent` nothing is in the way, and the list is empty. */
static int
state_running(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = value_bool(args, "concurrent", false) ? json_array() : statejob_running(ctx, err);
    return *ret_value != NULL ? 0 : -EIO;
}

/* state.sls with SLS, state.highstate without. */
static int
state_apply(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *mods = value_get(args, "mods"), *kwargs = value_get(args, "kwargs");

    if (!value_truthy(mods))
        return ctx_call(ctx, "state.highstate", NULL, kwargs, ret_value, err);
    json_auto_t *list = json_pack("[O]", mods);
    return ctx_call(ctx, "state.sls", list, kwargs, ret_value, err);
}

/* state.apply with test=True, whatever the call says of it. */
static int
state_test(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *kwargs = json_copy(value_get(args, "kwargs"));

    json_object_set_new(kwargs, "test", json_true());
    return ctx_call(ctx, "state.apply", value_get(args, "args"), kwargs, ret_value, err);
}

/* ---- table --------------------------------------------------------------------------------- */

#define KEYWORD(name, dflt, ...) ARG(name, ARG_ANY, dflt, __VA_ARGS__)
#define ROW_TEST                 KEYWORD("test", "null", "Only say what would be done")
#define ROW_QUEUE                                                                                            \
    KEYWORD("queue", "null", "Wait for other state runs instead of refusing; a number: while fewer wait")
#define ROW_EVENTS KEYWORD("state_events", "null", "Send an event after each state")
#define ROW_MODS   KEYWORD("mods", ARG_REQUIRED, "SLS, with commas or as a list")
#define ROW_KWARGS                                                                                           \
    KEYWORD("kwargs", ARG_STARSTAR,                                                                          \
            "pillar, pillarenv, saltenv, exclude, concurrent, terse, mock, cache, whitelist, force",         \
            STATE_APPLY_WORDS)

static const arg_t apply_args[] = {
    KEYWORD("mods", "null", "SLS, with commas or as a list; none: those of the top file"),
    ROW_KWARGS,
    ARGS_END,
};
static const arg_t any_args[] = {
    KEYWORD("args", ARG_STAR, "As state.apply's"),
    ROW_KWARGS,
    ARGS_END,
};
static const arg_t sls_args[] = {
    ROW_MODS,
    ROW_TEST,
    KEYWORD("exclude", "null",
            "SLS to leave out, or a list of {id: ID} and {sls: SLS}; wildcards are allowed"),
    ROW_QUEUE,
    KEYWORD("sync_mods", "null",
            "Kinds of the users' own modules to fetch before: \"states,modules\" or \"all\""),
    ROW_EVENTS,
    ROW_KWARGS,
    ARGS_END,
};
static const arg_t highstate_args[] = { ROW_TEST, ROW_QUEUE, ROW_EVENTS, ROW_KWARGS, ARGS_END };
static const arg_t top_args[] = {
    KEYWORD("topfn", ARG_REQUIRED, "Path of the top file below the roots"),
    ROW_TEST,
    ROW_QUEUE,
    ROW_KWARGS,
    ARGS_END,
};
static const arg_t sls_id_args[] = {
    KEYWORD("id_", ARG_REQUIRED, "The ID to run"),
    ROW_MODS,
    ROW_TEST,
    ROW_QUEUE,
    ROW_EVENTS,
    ROW_KWARGS,
    ARGS_END,
};
static const arg_t high_args[] = {
    ARG("data", ARG_DICT, ARG_REQUIRED, "High data: {ID: {state: [function, {argument: value}]}}"),
    ROW_TEST,
    ROW_QUEUE,
    ROW_KWARGS,
    ARGS_END,
};
static const arg_t low_args[] = {
    ARG("data", ARG_DICT, ARG_REQUIRED, "A low chunk: {state, fun, name, arguments}"),
    ROW_QUEUE,
    ROW_KWARGS,
    ARGS_END,
};
static const arg_t template_args[] = {
    ARG("tem", ARG_STR, ARG_REQUIRED, "Path of the SLS file on this host, or its text"),
    ROW_QUEUE,
    ROW_KWARGS,
    ARGS_END,
};
static const arg_t single_args[] = {
    ARG("fun", ARG_STR, ARG_REQUIRED, "The state function, such as pkg.installed"),
    KEYWORD("name", ARG_REQUIRED, "Its name argument"),
    ROW_TEST,
    ROW_QUEUE,
    KEYWORD("kwargs", ARG_STARSTAR, "Its other arguments; pillar, pillarenv, concurrent"),
    ARGS_END,
};
static const arg_t running_args[] = {
    ARG("concurrent", ARG_BOOL, "false", "Find nothing"),
    ARGS_END,
};

static const func_t funcs[] = {
    { "apply", state_apply, apply_args, FN_RAW_KWARGS | FN_PEER_FILES,
      "Apply SLS, or what the top file gives this minion.\n\nmods\n    SLS to apply; with them it is "
      "state.sls, without state.highstate, whose arguments are allowed too." CLI_EXAMPLE(
          "salt '*' state.apply\n    salt '*' state.apply stuff,pkgs test=True\n    "
          "salt '*' state.apply stuff pillar='{\"foo\": \"bar\"}'") },
    { "event", event_watch, watch_args_minion, FN_READONLY,
      WATCH_DOC CLI_EXAMPLE("salt-call --local state.event pretty=True") },
    { "high", state_high, high_args, FN_RAW_KWARGS | FN_PEER_FILES,
      "Run high data as it is, mostly to test states." CLI_EXAMPLE(
          "salt '*' state.high '{\"vim\": {\"pkg\": [\"installed\"]}}'") },
    { "highstate", state_highstate, highstate_args, FN_RAW_KWARGS | FN_PEER_FILES,
      "Apply what the top file gives this minion.\n\ntest\n    Only say what would be done.\n\npillar\n    "
      "Values over the pillar's own.\n\nexclude\n    SLS or IDs to leave out.\n\nwhitelist\n    Only these "
      "SLS of the top file." CLI_EXAMPLE(
          "salt '*' state.highstate\n    salt '*' state.highstate whitelist=sls1_to_run,sls2_to_run\n    "
          "salt '*' state.highstate exclude=\"[{'id': 'id_to_exclude'}, {'sls': 'sls_to_exclude'}]\"") },
    { "low", state_low, low_args, FN_RAW_KWARGS | FN_PEER_FILES,
      "Run one low chunk, mostly to test states." CLI_EXAMPLE(
          "salt '*' state.low '{\"state\": \"pkg\", \"fun\": \"installed\", \"name\": \"vi\"}'") },
    { "running", state_running, running_args, FN_READONLY | FN_PEER,
      "Texts about the state runs that are under way." CLI_EXAMPLE("salt '*' state.running") },
    { "single", state_single, single_args, FN_RAW_KWARGS | FN_PEER_FILES,
      "Run one state function." CLI_EXAMPLE("salt '*' state.single pkg.installed name=vim") },
    { "sls", state_sls, sls_args, FN_RAW_KWARGS | FN_PEER_FILES,
      "Apply SLS.\n\nmods\n    SLS to apply; `base` is their environment unless `saltenv` says "
      "another.\n\npillar\n    Values over the pillar's own." CLI_EXAMPLE(
          "salt '*' state.sls core,edit.vim saltenv=dev\n    salt '*' state.sls core exclude=edit.*") },
    { "sls_id", state_sls_id, sls_id_args, FN_RAW_KWARGS | FN_PEER_FILES,
      "Run one ID of SLS, with what it requires.\n\nid\n    Comes before the SLS." CLI_EXAMPLE(
          "salt '*' state.sls_id my_state my_module\n    salt '*' state.sls_id my_state "
          "my_module,a_common_module") },
    { "template", state_template, template_args, FN_RAW_KWARGS | FN_PEER_FILES,
      "Apply an SLS file of this host." CLI_EXAMPLE(
          "salt '*' state.template '<Path to template on the minion>'") },
    { "template_str", state_template_str, template_args, FN_RAW_KWARGS | FN_PEER_FILES,
      "Apply the text of an SLS." CLI_EXAMPLE("salt '*' state.template_str '<Template String>'") },
    { "test", state_test, any_args, FN_RAW_KWARGS | FN_PEER_FILES,
      "state.apply with test=True." CLI_EXAMPLE("salt '*' state.test stuff") },
    { "top", state_top, top_args, FN_RAW_KWARGS | FN_PEER_FILES,
      "Apply what another top file gives this minion.\n\ntopfn\n    Its path below the roots." CLI_EXAMPLE(
          "salt '*' state.top reverse_top.sls\n    salt '*' state.top prod_top.sls exclude=sls_to_exclude") },
};

PLUGIN(exec, state, .doc = "State runs, and what they are made from", FUNCS(funcs));
