/* salt_runner.c - state module `salt` of orchestrations: runner and wheel functions of this master, one or
 * several at once. A call survives the end of the master process that ran it: read-only functions are
 * repeated, nested orchestrations are resumed by their journal, others are reported as unknown. */
#include <pthread.h>

#include "common/base/buf.h"
#include "common/base/str.h"
#include "common/output/output.h"
#include "master/api.h"
#include "runners/lib/failures.h"
#include "runners/lib/fleet.h"
#include "runners/lib/orchrun.h"
#include "salt/state.h"

enum { AGAIN_MAX = 1000, RUNNERS_MAX = 64 };

/* ---- one function -------------------------------------------------------------------------- */

/* A function of the master and what becomes of it. */
typedef struct call {
    master_api_t *api; /* of the thread that calls */
    bool wheel;
    const char *fun; /* BORROWED */
    json_t *list;    /* owned: Salt's list of arguments */
    json_t *note;    /* owned; NULL outside of an orchestration */
    bool readonly, nested, reruns;
    json_t *push; /* owned: {jid, return, success, ...} */
    fail_t err;
} call_t;

static void
call_close(call_t *self)
{
    json_decref(self->list);
    json_decref(self->note);
    json_decref(self->push);
    fail_clear(&self->err);
}
#define call_auto_t __attribute__((cleanup(call_close))) call_t

/* True for functions that keep a journal of their own. */
static bool
salt_runner_is_orchestration(const char *fun)
{
    return str_eq(fun, "state.orchestrate") || str_eq(fun, "state.orch") || str_eq(fun, "state.sls");
}

/* True when the function declares an argument of this name. */
static bool
salt_runner_takes(const func_t *f, const char *name)
{
    for (const arg_t *row = f != NULL ? f->args : NULL; row != NULL && row->text != NULL; row++) {
        if (str_eq(arg_name(row), name))
            return true;
    }
    return false;
}

/* Prepares a call: arguments as Salt's list, the note for the journal, and whether it may be repeated. */
static void
call_begin(call_t *self, call_ctx_t *ctx, bool wheel, const char *fun, const json_t *arg, const json_t *kwarg,
           const char *saltenv)
{
    const func_t *f = api_function(api_of(ctx), ctx, wheel, fun);
    json_auto_t *more = kwarg != NULL ? json_copy((json_t *) kwarg) : json_object();

    /* Adds the keywords that Salt's saltutil.runner adds. `saltenv`: the step's own. */
    const orchrun_t *run = orchrun_of(ctx);
    if (salt_runner_takes(f, "saltenv") && json_object_get(more, "saltenv") == NULL)
        json_object_set_new(more, "saltenv", json_string(saltenv != NULL ? saltenv : ctx_saltenv(ctx)));
    if (salt_runner_is_orchestration(fun) && run != NULL &&
        json_object_get(more, "orchestration_jid") == NULL)
        json_object_set_new(more, "orchestration_jid", json_string(orchrun_name(run)));

    *self = (call_t){ .api = api_of(ctx),
                      .wheel = wheel,
                      .fun = fun,
                      .list = fleet_args(arg, more),
                      .note = orchrun_note(ctx),
                      .readonly = f != NULL && (f->flags & FN_READONLY) != 0,
                      .nested = !wheel && salt_runner_is_orchestration(fun),
                      .reruns = orchrun_reruns(ctx) };
}

/* The same orchestration goes on where its own journal says. False: it never got to a journal. */
static bool
resume_nested(call_t *self, const char *jid)
{
    json_auto_t *row = api_run_row(self->api, jid, &self->err);
    json_t *resume = json_pack("{s:b, s:s}", "__kwarg__", true, "resume", jid);

    if (!json_is_object(row) || json_object_get(row, "plan") == NULL) {
        json_decref(resume);
        return false;
    }
    json_array_append_new(self->list, resume);
    return true;
}

/* Once, or as often as masters were killed meanwhile if that does no harm. 0, or a negative errno in
 * self->err. */
static int
call_go(call_t *self)
{
    bool resumed = false;

    for (unsigned n = 0; n < AGAIN_MAX; n++) {
        /* Runs the function; the n-th repetition has a note of its own. */
        json_t *request = json_pack("{s:s, s:s, s:O}", "op", self->wheel ? "wheel" : "runner", "fun",
                                    self->fun, "arg", self->list);

        if (self->note != NULL) {
            json_t *note = json_copy(self->note);
            if (n > 0)
                json_object_set_new(note, "part", value_fmt("%s/%u", value_str(self->note, "part", ""), n));
            json_object_set_new(request, "note", note);
        }
        json_decref(self->push);
        self->push = NULL;
        int rc = api_run_function(self->api, &request, &self->push, &self->err);

        if (rc < 0 || !value_bool(self->push, "unknown", false))
            return rc;
        if (self->nested) {
            AUTO_FREE char *jid = xstrdup(value_str(self->push, "jid", ""));
            resumed = resumed || resume_nested(self, jid);
        } else if (!self->readonly && !self->reruns) {
            return 0;
        }
    }
    return 0;
}

/* A return with the key "Error" is a failure even when the function reported success. */
static bool
call_succeeded(const call_t *self)
{
    const json_t *ret = value_get(self->push, "return");

    return value_bool(self->push, "success", false) && json_object_get(ret, "Error") == NULL;
}

/* ---- the state's return -------------------------------------------------------------------- */

/* Explains a failed call: an unknown outcome, the failures of a nested orchestration, or the text
 * returned. */
static void
add_reason(call_ctx_t *ctx, json_t *state, const call_t *self)
{
    json_t *ret = value_get(self->push, "return");
    AUTO(failures) failures = failures_new();

    if (value_bool(self->push, "unknown", false)) {
        AUTO_FREE char *text = orchrun_unsure(ctx);
        state_ret_add(state, "%s", text);
        return;
    }
    if (json_is_object(value_get(ret, "data"))) {
        /* Steps that failed in an orchestration that this one began. */
        const char *id;
        json_t *running;
        json_object_foreach (value_get(ret, "data"), id, running) {
            json_auto_t *causes = failures_states(running);
            failures_add(failures, id, causes);
        }
    }
    AUTO_FREE char *text = json_is_string(ret) ? xstrdup(json_string_value(ret)) : failures_text(failures);
    const char *shown = str_trim(text);
    if (*shown != '\0')
        state_ret_add(state, "%s", shown);
}

static int
salt_runner_outcome(call_ctx_t *ctx, json_t *state, const char *kind, const call_t *self)
{
    bool ok = call_succeeded(self);
    json_t *ret = value_get(self->push, "return");

    if (value_bool(self->push, "secret", false))
        orchrun_hush(ctx);
    state_change(state, "return", ret != NULL ? json_incref(ret) : json_null());
    (void) state_ret_set(state, ok ? STATE_TRUE : STATE_FALSE, "%s function '%s' %s.", kind, self->fun,
                         ok ? "executed" : "failed");
    if (!ok)
        add_reason(ctx, state, self);
    if (value_get(self->push, "jid") != NULL)
        json_object_set(state, "__jid__", value_get(self->push, "jid"));
    return 0;
}

static int
salt_run_function(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    bool wheel = ctx_row(ctx)->data.number;
    const char *kind = wheel ? "Wheel" : "Runner", *fun = value_str(args, "name", "");
    json_t *state = *ret_value = state_ret_args(args);
    call_auto_t call = { 0 };

    if (ctx_test(ctx))
        return state_ret_set(state, STATE_NONE, "%s function '%s' would be executed.", kind, fun);

    /* The step's keywords that are the function's. */
    json_auto_t *kwarg = json_object();
    json_t *v;
    const char *key;
    json_object_update(kwarg, value_get(args, "kwarg"));
    json_object_foreach (value_get(args, "kwargs"), key, v) {
        if (!str_starts(key, "__"))
            json_object_set(kwarg, key, v);
    }

    call_begin(&call, ctx, wheel, fun, value_get(args, "arg"), kwarg, value_str(args, "saltenv", NULL));
    return call_go(&call) < 0 ? state_ret_fail(state, &call.err)
                              : salt_runner_outcome(ctx, state, kind, &call);
}

/* ---- several at once ----------------------------------------------------------------------- */

/* One runner of parallel_runners, in its own thread. */
typedef struct lane {
    const char *id; /* BORROWED */
    call_t call;
    char *fun;
    pthread_t thread;
    bool begun;
} lane_t;

static void *
lane_main(void *arg)
{
    lane_t *lane = arg;

    (void) call_go(&lane->call);
    return NULL;
}

/* Changes anywhere in a highstate's data, as Salt finds them. NEW, or NULL. */
static json_t *
extract_changes(const json_t *v)
{
    json_t *changes = json_object_get(v, "changes"), *found, *one;
    const char *key;

    if (changes != NULL && str_eq(value_str(changes, "out", ""), "highstate") &&
        value_get(changes, "ret") != NULL)
        changes = value_get(changes, "ret");
    if (changes != NULL)
        return value_truthy(changes) ? json_incref(changes) : NULL;
    found = json_object();
    json_object_foreach ((json_t *) v, key, one) {
        json_t *inner = json_is_object(one) ? extract_changes(one) : NULL;
        if (inner != NULL)
            json_object_set_new(found, key, inner);
    }
    if (json_object_size(found) > 0)
        return found;
    json_decref(found);
    return NULL;
}

static bool
is_highstate(const lane_t *lane)
{
    const json_t *ret = value_get(lane->call.push, "return");

    return str_eq(value_str(ret, "outputter", ""), "highstate") && value_get(ret, "data") != NULL;
}

/* Joins the results. When all runners returned highstates, the changes are theirs; else the raw returns. */
static int
lanes_outcome(call_ctx_t *ctx, json_t *state, const lane_t *lanes, size_t n)
{
    json_auto_t *failed = json_array(), *all = json_object(), *changes = json_object();
    bool highstates = n > 0;

    for (size_t i = 0; i < n; i++) {
        json_t *ret = value_get(lanes[i].call.push, "return");
        json_t *found = extract_changes(value_get(ret, "data"));
        if (value_bool(lanes[i].call.push, "secret", false))
            orchrun_hush(ctx);
        highstates = highstates && is_highstate(&lanes[i]);
        json_object_set_new(all, lanes[i].id, ret != NULL ? json_incref(ret) : json_null());
        if (found != NULL)
            json_object_set_new(changes, lanes[i].id, found);
        if (!call_succeeded(&lanes[i].call))
            json_array_append_new(failed, json_string(lanes[i].id));
    }
    if (highstates)
        state_change_set(state, json_incref(changes));
    else
        state_change(state, "ret", json_incref(all));
    size_t k = json_array_size(failed);
    AUTO_FREE char *ids = failures_ids(failed);
    if (k == 0)
        return state_ret_set(state, STATE_TRUE, "All runner functions executed successfully.");
    (void) state_ret_set(state, STATE_FALSE, "Runner%s %s failed.", k == 1 ? "" : "s", ids);
    for (size_t i = 0; i < n; i++) {
        if (!call_succeeded(&lanes[i].call)) {
            /* Below the comment of one that failed. */
            const lane_t *lane = &lanes[i];
            output_opts_t how = OUTPUT_OPTS_INIT;
            buf_auto_t text = BUF_INIT;
            json_t *ret = value_get(lane->call.push, "return");
            if (value_bool(lane->call.push, "unknown", false)) {
                AUTO_FREE char *unsure = orchrun_unsure(ctx);
                state_ret_add(state, "Runner %s: %s", lane->id, unsure);
                continue;
            }
            if (ret != NULL)
                output_format(ret, &how, &text);
            while (text.len > 0 && strchr(" \n", text.data[text.len - 1]) != NULL)
                text.data[--text.len] = '\0';
            state_ret_add(state, "Runner %s failed with return value:\n%s", lane->id,
                          ret != NULL ? buf_str(&text) : fail_text(&lane->call.err));
        }
    }
    return 0;
}

/* At most RUNNERS_MAX at once; the state waits for all of them. */
static int
salt_parallel_runners(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *state = *ret_value = state_ret_args(args), *given = value_get(args, "runners"), *config;
    json_auto_t *runners = json_is_string(given) ? json_pack("{s:{}}", json_string_value(given))
                                                 : json_incref(given);
    size_t n = json_object_size(runners), at = 0;
    const char *id;

    if (!json_is_object(runners))
        return state_ret_set(state, STATE_FALSE, "The runners parameter must be a string or dict.");
    if (n > RUNNERS_MAX)
        return state_ret_set(state, STATE_FALSE, "%zu runners, at most %d can run at one time", n,
                             RUNNERS_MAX);
    if (ctx_test(ctx))
        return state_ret_set(state, STATE_NONE, "%zu runner functions would be executed.", n);
    lane_t *lanes = xcalloc(n + 1, sizeof(*lanes));
    json_object_foreach (runners, id, config) {
        /* Starts the thread with its own connection to the master and its own copy of the arguments. */
        lane_t *lane = &lanes[at++];
        /* `[{name: x}, {kwarg: {...}}]`, or a dict of both, as one dict. */
        json_auto_t *whole = json_object();
        json_t *one;
        size_t i;
        json_object_update(whole, (json_t *) config);
        json_array_foreach ((json_t *) config, i, one)
            json_object_update(whole, one);
        lane->id = id;
        lane->fun = xstrdup(value_str(whole, "name", id));
        call_begin(&lane->call, ctx, false, lane->fun, value_get(whole, "arg"), value_get(whole, "kwarg"),
                   NULL);
        /* Trees are not shared between threads. */
        json_t *own = json_deep_copy(lane->call.list);
        json_decref(lane->call.list);
        lane->call.list = own;
        lane->call.api = api_another(api_of(ctx), &lane->call.err);
        lane->begun = lane->call.api != NULL && pthread_create(&lane->thread, NULL, lane_main, lane) == 0;
    }
    for (size_t i = 0; i < n; i++) {
        if (lanes[i].begun)
            (void) pthread_join(lanes[i].thread, NULL);
    }
    (void) lanes_outcome(ctx, state, lanes, n);
    for (size_t i = 0; i < n; i++) {
        api_destroy(&lanes[i].call.api);
        call_close(&lanes[i].call);
        free(lanes[i].fun);
    }
    free(lanes);
    return 0;
}

/* ---- the table ----------------------------------------------------------------------------- */

static const arg_t runner_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "The function"),
    ARG("arg", ARG_ANY, "null", "Its arguments, a list"),
    ARG("kwarg", ARG_DICT, "null", "Its keyword arguments"),
    ARG("saltenv", ARG_ANY, "null", "The environment, for functions that take one"),
    ARG("kwargs", ARG_DICT, ARG_STARSTAR, "More keyword arguments"),
    ARGS_END,
};
static const arg_t parallel_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "The step's name"),
    ARG("runners", ARG_ANY, ARG_REQUIRED, "{name: [{name: function}, {kwarg: {...}}]}, or a function's name"),
    ARG("kwargs", ARG_DICT, ARG_STARSTAR, "Accepted for Salt's sake", TAKES_NONE),
    ARGS_END,
};

static const func_t funcs[] = {
    { "parallel_runners", salt_parallel_runners, parallel_args, 0,
      "Run several runner functions at once." CLI_EXAMPLE(
          "both:\n      salt.parallel_runners:\n        - runners:\n            one:\n              - "
          "name: state.orchestrate\n              - kwarg: {mods: orch.one}\n            "
          "two:\n              - name: state.orchestrate\n              - kwarg: {mods: orch.two}") },
    { "runner", salt_run_function, runner_args, 0,
      "Run a runner function on this master." CLI_EXAMPLE(
          "who-is-up:\n      salt.runner:\n        - name: manage.up"),
      .data.number = false },
    { "wheel", salt_run_function, runner_args, 0,
      "Run a wheel function on this master." CLI_EXAMPLE(
          "accept:\n      salt.wheel:\n        - name: key.accept\n        - match: frank"),
      .data.number = true },
};

PLUGIN(state, salt_runner, .provides = "salt", .doc = "Work on the master, as steps of an orchestration",
       FUNCS(funcs));
