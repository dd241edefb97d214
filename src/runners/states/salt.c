/* salt.c - state module `salt` of orchestrations: functions and states on minions, and waiting for events.
 * salt_runner.c has what runs on the master. A step publishes jobs through fleet.h, collects the minions'
 * entries as they come, and turns them into one state return with Salt's texts, followed by the causes of
 * failures (failures.h). */
#include <math.h>

#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/match/match.h"
#include "common/state/run.h"
#include "master/api.h"
#include "runners/lib/ask.h"
#include "runners/lib/failures.h"
#include "runners/lib/fleet.h"
#include "runners/lib/orchrun.h"
#include "salt/log.h"
#include "salt/state.h"

enum { WAIT_TICK_MS = 1000, WAIT_MAX_S = 31536000 };

/* State of one step while it runs. */
typedef struct step {
    call_ctx_t *ctx;
    json_t *args, *ret; /* BORROWED, owned */
    json_t *may_fail;   /* owned: ids of fail_minions */
    size_t allowed;     /* allow_fail */
    bool expect;        /* expect_minions */
    failures_t *failures;
    /* Owned: {id: return}; ids that failed; those without changes (a function: those that it ran on). */
    json_t *changes, *fail, *quiet;
    json_t *causes; /* owned, of a function: {id: cause or null} */
} step_t;

/* An argument of the step; NULL when absent or None. BORROWED. */
static json_t *
states_salt_arg(const step_t *self, const char *key)
{
    json_t *v = value_get(self->args, key);

    return json_is_null(v) ? NULL : v;
}

static void
step_close(step_t *self)
{
    json_decref(self->may_fail);
    json_decref(self->changes);
    json_decref(self->fail);
    json_decref(self->quiet);
    json_decref(self->causes);
    failures_destroy(&self->failures);
}
#define step_auto_t __attribute__((cleanup(step_close))) step_t

/* False: the state's return is complete. */
static bool
step_open(step_t *self, call_ctx_t *ctx, json_t *args)
{
    *self = (step_t){ .ctx = ctx,
                      .args = args,
                      .ret = state_ret_args(args),
                      .failures = failures_new(),
                      .changes = json_object(),
                      .fail = json_array(),
                      .quiet = json_array(),
                      .causes = json_object() };
    /* Salt's order of keys. */
    json_object_del(self->ret, "comment");
    json_object_set_new(self->ret, "comment", json_string(""));
    json_object_del(self->ret, "result");
    json_object_set_new(self->ret, "result", json_true());
    self->expect = states_salt_arg(self, "expect_minions") == NULL ||
                   value_truthy(states_salt_arg(self, "expect_minions"));
    if (value_truthy(states_salt_arg(self, "ssh"))) {
        (void) state_ret_set(
            self->ret, STATE_FALSE,
            "ssh: there is no salt-ssh here. Run salt-minion on the target and leave 'ssh' out.");
        return false;
    }

    /* `fail_minions`: a list, or text with commas; anything else is passed over with a warning. */
    const json_t *v = states_salt_arg(self, "fail_minions");
    if (v != NULL && !json_is_string(v) && !json_is_array(v)) {
        state_ret_warn(self->ret, "'fail_minions' needs to be a list or a comma separated string. Ignored.");
        v = NULL;
    }
    self->may_fail = ask_split(v);

    /* Reads the numbers of failures that are allowed; a wrong one is the comment. */
    v = states_salt_arg(self, "allow_fail");
    long long n = 0;
    if (json_is_integer(v))
        n = json_integer_value(v);
    else if (v != NULL && !(json_is_string(v) && str_to_int(json_string_value(v), 0, INT32_MAX, &n)))
        n = -1;
    self->allowed = n > 0 ? (size_t) n : 0;
    if (n < 0)
        (void) state_ret_set(self->ret, STATE_FALSE, "Passed invalid value for 'allow_fail', must be an int");
    return n >= 0;
}

/* Salt's own event of what a step asks for. */
static void
fire_args(step_t *self, const char *type, const char *fun, const json_t *list)
{
    fail_auto_t err = FAIL_INIT;
    const orchrun_t *run = orchrun_of(self->ctx);

    if (run == NULL)
        return;
    AUTO_FREE char *tag = xasprintf("salt/run/%s/args", orchrun_name(run));
    json_auto_t *data = json_pack("{s:s, s:O, s:O, s:{s:s, s:O, s:O?}}", "type", type, "tgt",
                                  value_get(self->args, "tgt"), "name", value_get(self->args, "name"), "args",
                                  "fun", fun, "arg", list, "tgt_type", value_get(self->args, "tgt_type"));
    if (ctx_fire(self->ctx, tag, data, &err) < 0)
        log_debug("%s: %s", tag, fail_text(&err));
}

/* NEW answer of fleet_run, or NULL: the comment says why. */
static json_t *
run_on_minions(step_t *self, const char *fun, json_t *list, fleet_ask_t *ask)
{
    fail_auto_t err = FAIL_INIT;
    const json_t *old = states_salt_arg(self, "expr_form"),
                 *type = old != NULL ? old : states_salt_arg(self, "tgt_type");

    ask->tgt = value_get(self->args, "tgt");
    ask->tgt_type = json_is_string(type) ? json_string_value(type) : "glob";
    ask->fun = fun;
    ask->arg = list;
    ask->ret = states_salt_arg(self, "ret");
    ask->ret_config = states_salt_arg(self, "ret_config");
    ask->ret_kwargs = states_salt_arg(self, "ret_kwargs");
    ask->timeout = states_salt_arg(self, "timeout");
    ask->subset = states_salt_arg(self, "subset");
    ask->batch = states_salt_arg(self, "batch");
    ask->canary = states_salt_arg(self, "canary");
    ask->max_fail = states_salt_arg(self, "max_fail");
    ask->failhard = value_truthy(states_salt_arg(self, "failhard")) ||
                    value_bool(ctx_opts(self->ctx), "failhard", false);
    ask->cookie = self;
    if (json_is_array(ask->tgt) && str_eq(ask->tgt_type, "glob"))
        ask->tgt_type = "list";
    fire_args(self, str_starts(fun, "state.") ? "state" : "function", fun, list);
    json_t *answer = fleet_run(self->ctx, ask, &err);
    if (answer == NULL)
        (void) state_ret_set(self->ret, STATE_FALSE, "%s", fail_text(&err));
    else if (json_is_string(value_get(answer, "jid")))
        json_object_set(self->ret, "__jid__", value_get(answer, "jid"));
    return answer;
}

/* A minion that did not return, where that matters. */
static bool
is_silent(const step_t *self, const json_t *entry)
{
    return self->expect && fleet_silence(entry) != NULL;
}

/* Counts a failed minion unless fail_minions names it. */
static void
note_failure(step_t *self, const char *id, const json_t *causes)
{
    if (value_lists(self->may_fail, id))
        return;
    json_array_append_new(self->fail, json_string(id));
    failures_add(self->failures, id, causes);
}

/* Appends the failures, grouped by kind, and the minions left out, below Salt's own text. */
static void
add_failures(step_t *self, const json_t *answer)
{
    AUTO_FREE char *text = failures_text(self->failures);
    const char *stopped = value_str(answer, "stopped", NULL);

    if (*text != '\0')
        state_ret_add(self->ret, "%s", text);
    if (stopped != NULL)
        state_ret_add(self->ret, "%s", stopped);
}

/* "m001, m002" of an object's keys or of an array. NEW. */
static char *
states_salt_names(const json_t *v)
{
    json_auto_t *ids = json_array();
    const char *id;
    json_t *one;

    if (json_is_array(v))
        return failures_ids(v);
    json_object_foreach ((json_t *) v, id, one)
        json_array_append_new(ids, json_string(id));
    return failures_ids(ids);
}

/* Fails the step: the target matches nobody, with Salt's sentence and the target itself. */
static int
no_minions(step_t *self, const char *words)
{
    AUTO_FREE char *tgt = value_pystr(value_get(self->args, "tgt"));

    (void) state_ret_set(self->ret, STATE_FALSE, "%s", words);
    state_ret_add(self->ret, "The target %s (%s) matches no accepted minion.", tgt,
                  value_str(self->args, "tgt_type", "glob"));
    return 0;
}

/* ---- salt.state ---------------------------------------------------------------------------- */

/* Salt's check_result(..., recurse=True): a dict, not empty, in which nothing is False. */
static bool
states_salt_succeeded(const json_t *ret)
{
    const char *key;
    json_t *one;

    if (json_object_size(ret) == 0)
        return false;
    json_object_foreach ((json_t *) ret, key, one) {
        const json_t *result = value_get(one, "result");
        if (json_is_false(result) || (json_is_object(one) && result == NULL && !states_salt_succeeded(one)))
            return false;
    }
    return true;
}

/* Verdict for the rollout (fleet_ask_t.failed), by the same rules as those of salt_state(). */
static bool
state_failed(void *cookie, const char *id, const json_t *entry)
{
    const step_t *self = cookie;

    if (value_lists(self->may_fail, id))
        return false;
    if (fleet_silence(entry) != NULL)
        return self->expect;
    return !states_salt_succeeded(value_get(entry, "return"));
}

static bool
has_changes(const json_t *ret)
{
    const char *tag;
    json_t *one;

    json_object_foreach ((json_t *) ret, tag, one) {
        if (value_truthy(value_get(one, "changes")))
            return true;
    }
    return false;
}

/* The function and its arguments. NEW list; NULL: the comment says why. */
static json_t *
state_call_for(step_t *self, const char **ret_fun)
{
    static const char *const passed[] = { "pillarenv", "saltenv", "exclude" };
    json_t *sls = states_salt_arg(self, "sls"), *top = states_salt_arg(self, "top"),
           *test = states_salt_arg(self, "test"), *what = NULL;
    json_auto_t *kwarg = json_object();

    if (value_truthy(states_salt_arg(self, "highstate"))) {
        *ret_fun = "state.highstate";
    } else if (value_truthy(top)) {
        *ret_fun = "state.top";
        what = json_incref(top);
    } else if (value_truthy(sls)) {
        *ret_fun = "state.sls";
        AUTO_FREE char *joined = json_is_array(sls) ? ask_joined(sls) : value_pystr(sls);
        what = json_string(joined);
    } else {
        (void) state_ret_set(self->ret, STATE_FALSE, "No highstate or sls specified, no execution made");
        return NULL;
    }
    if (test != NULL || ctx_test(self->ctx))
        json_object_set_new(kwarg, "test", test != NULL ? json_incref(test) : json_true());
    if (value_truthy(states_salt_arg(self, "pillar")))
        json_object_set(kwarg, "pillar", states_salt_arg(self, "pillar"));
    for (size_t i = 0; i < NELEMS(passed); i++) {
        if (states_salt_arg(self, passed[i]) != NULL)
            json_object_set(kwarg, passed[i], states_salt_arg(self, passed[i]));
    }
    json_object_set(kwarg, "queue", value_get(self->args, "queue"));
    json_object_set(kwarg, "concurrent", value_get(self->args, "concurrent"));
    json_auto_t *args = json_array();
    if (what != NULL)
        json_array_append_new(args, what);
    return fleet_args(args, kwarg);
}

static int
salt_state(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    step_auto_t self;
    const char *fun = "", *id;
    fleet_ask_t ask = { .failed = state_failed };
    json_t *entry;
    bool open = step_open(&self, ctx, args);

    *ret_value = self.ret;
    if (!open)
        return 0;
    if (!json_is_boolean(value_get(args, "concurrent")))
        return state_ret_set(self.ret, STATE_FALSE, "Must pass in boolean for value of 'concurrent'");
    json_auto_t *list = state_call_for(&self, &fun);
    json_auto_t *answer = list != NULL ? run_on_minions(&self, fun, list, &ask) : NULL;
    if (answer == NULL)
        return 0;
    if (json_object_size(value_get(answer, "minions")) == 0 && self.expect)
        return no_minions(&self, "No minions returned");
    json_object_foreach (value_get(answer, "minions"), id, entry) {
        /* Sorts one minion's entry into changes, failures or those without changes. */
        json_t *ret = value_get(entry, "return");
        if (fleet_silence(entry) != NULL) {
            json_auto_t *why = json_string(fleet_silence(entry));
            if (is_silent(&self, entry)) {
                note_failure(&self, id, why);
                json_object_set_new(self.changes, id, json_false());
            }
        } else if (!states_salt_succeeded(ret)) {
            json_auto_t *causes = failures_states(ret);
            note_failure(&self, id, causes);
            json_object_set_new(self.changes, id, ret != NULL ? json_incref(ret) : json_null());
        } else if (has_changes(ret)) {
            json_object_set(self.changes, id, ret);
        } else {
            json_array_append_new(self.quiet, json_string(id));
        }
    }

    /* Makes the return of salt.state: result, lists of minions, causes; test mode with changes is None. */
    AUTO_FREE char *changed = states_salt_names(self.changes), *quiet = states_salt_names(self.quiet),
                   *fail = states_salt_names(self.fail);
    bool any = json_object_size(self.changes) > 0, failed = json_array_size(self.fail) > self.allowed;
    if (any)
        state_change_set(self.ret, json_pack("{s:s, s:O}", "out", "highstate", "ret", self.changes));
    if (failed || value_str(answer, "stopped", NULL) != NULL)
        (void) state_ret_set(self.ret, STATE_FALSE, "Run failed on minions: %s", fail);
    else
        (void) state_ret_set(self.ret, STATE_TRUE, "States ran successfully.%s%s%s%s%s%s",
                             any ? " Updating " : "", any ? changed : "", any ? "." : "",
                             *quiet ? " No changes made to " : "", quiet, *quiet ? "." : "");
    add_failures(&self, answer);
    if ((value_truthy(states_salt_arg(&self, "test")) || ctx_test(self.ctx)) && any &&
        json_is_true(value_get(self.ret, "result")))
        json_object_set_new(self.ret, "result", json_null());

    return 0;
}

/* ---- salt.function ------------------------------------------------------------------------- */

/* Applies `fail_function`, a function of this master, to a minion's return. */
static bool
passes(step_t *self, json_t *ret, char **ret_why)
{
    fail_auto_t err = FAIL_INIT;
    const char *fun = json_string_value(states_salt_arg(self, "fail_function"));
    json_auto_t *args = json_pack("[O]", ret), *verdict = NULL;

    if (str_empty(fun))
        return true;
    if (ctx_call(self->ctx, fun, args, NULL, &verdict, &err) < 0)
        *ret_why = xasprintf("%s: %s", fun, fail_text(&err));
    else if (!value_truthy(verdict))
        *ret_why = xasprintf("%s says that it failed", fun);
    return *ret_why == NULL;
}

/* Why a minion's part of a function counts as failed: NEW json string, or NULL. */
static json_t *
function_cause(step_t *self, const json_t *entry)
{
    AUTO_FREE char *why = NULL;
    json_t *ret = value_get(entry, "return");
    json_int_t retcode = value_int(entry, "retcode", 0);

    if (fleet_silence(entry) != NULL)
        return is_silent(self, entry) ? json_string(fleet_silence(entry)) : NULL;
    if (retcode != 0) {
        AUTO_FREE char *text = ret != NULL ? value_pystr(ret) : xstrdup("");
        return value_fmt("exit code %lld%s%s", (long long) retcode, *text ? ": " : "", text);
    }
    if (json_is_false(ret))
        return json_string("it returned False");
    return passes(self, ret != NULL ? ret : json_object(), &why) ? NULL : json_string(why);
}

/* The same, looked for once: `fail_function` may take long, or do something. BORROWED, or NULL. */
static const json_t *
cause_of(step_t *self, const char *id, const json_t *entry)
{
    json_t *cause = json_object_get(self->causes, id);

    if (cause == NULL) {
        cause = function_cause(self, entry);
        json_object_set_new(self->causes, id, cause != NULL ? cause : json_null());
    }
    return json_is_null(cause) ? NULL : cause;
}

static bool
function_failed(void *cookie, const char *id, const json_t *entry)
{
    step_t *self = cookie;

    return !value_lists(self->may_fail, id) && cause_of(self, id, entry) != NULL;
}

static int
salt_function(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    step_auto_t self;
    fleet_ask_t ask = { .failed = function_failed };
    const char *fun = value_str(args, "name", ""), *id;
    json_t *given = value_get(args, "arg"), *entry;
    json_auto_t *words = NULL;
    bool open = step_open(&self, ctx, args);

    *ret_value = self.ret;
    if (!open)
        return 0;
    if (json_is_string(given)) {
        state_ret_warn(self.ret, "Please specify 'arg' as a list of arguments.");
        given = words = ask_words(json_string_value(given));
    }
    if (ctx_test(ctx)) {
        AUTO_FREE char *tgt = value_pystr(value_get(args, "tgt"));
        return state_ret_set(self.ret, STATE_NONE, "Function %s would be executed on target %s", fun, tgt);
    }
    json_auto_t *list = fleet_args(given, value_get(args, "kwarg"));
    json_auto_t *answer = run_on_minions(&self, fun, list, &ask);
    if (answer == NULL)
        return 0;
    json_object_foreach (value_get(answer, "minions"), id, entry) {
        /* Sorts one minion's entry of salt.function. Minions that returned count as run, failed or not, as
         * in Salt. */
        const json_t *cause = cause_of(&self, id, entry);
        json_t *ret = value_get(entry, "return");
        if (cause != NULL)
            note_failure(&self, id, cause);
        if (fleet_silence(entry) == NULL) {
            json_array_append_new(self.quiet, json_string(id));
            json_object_set_new(self.changes, id, ret != NULL ? json_incref(ret) : json_null());
        } else if (self.expect) {
            json_object_set_new(self.changes, id, json_false());
        }
    }
    if (json_object_size(self.changes) == 0)
        return no_minions(&self, "No minions responded");

    /* Makes the return of salt.function. */
    AUTO_FREE char *ran = states_salt_names(self.quiet), *fail = states_salt_names(self.fail);
    fun = value_str(self.args, "name", "");
    bool failed = json_array_size(self.fail) > self.allowed || value_str(answer, "stopped", NULL) != NULL;
    state_change_set(self.ret, json_pack("{s:O}", "ret", self.changes));
    if (failed)
        (void) state_ret_set(self.ret, STATE_FALSE, "Running function %s failed on minions: %s%s%s%s%s%s",
                             fun, fail, *ran ? " Function " : "", *ran ? fun : "", *ran ? " ran on " : "",
                             ran, *ran ? "." : "");
    else
        (void) state_ret_set(self.ret, STATE_TRUE, "Function ran successfully. Function %s ran on %s.", fun,
                             ran);
    add_failures(&self, answer);

    return 0;
}

/* ---- salt.wait_for_event ------------------------------------------------------------------- */

/* Takes what the event has of `ids` off it, and into `seen`. */
static void
take_seen(json_t *ids, const json_t *found, json_t *seen)
{
    json_auto_t *list = json_is_array(found) ? json_incref((json_t *) found) : json_pack("[O]", found);
    json_t *one, *id;
    size_t i, k;

    json_array_foreach (list, i, one) {
        json_array_foreach (ids, k, id) {
            if (!value_equal(id, one))
                continue;
            json_array_append(seen, id);
            json_array_remove(ids, k);
            break;
        }
    }
}

/* Value of `key` in the event's data, or one level deeper, where minions' own events carry it. */
static const json_t *
event_value(const json_t *event, const char *key)
{
    const json_t *data = value_get(event, "data"), *found = value_get(data, key);

    return found != NULL && !json_is_null(found) ? found : value_get(value_get(data, "data"), key);
}

/* Until all of `ids` were seen: 1, or 0 when the time is over, or a negative errno. */
static int
states_salt_wait_for(call_ctx_t *ctx, master_api_t *line, const char *tag, const char *key, json_t *ids,
                     json_t *seen, int64_t until_ms, fail_t *err)
{
    size_t all = json_array_size(ids);

    while (json_array_size(ids) > 0) {
        json_auto_t *event = NULL;
        int64_t left = until_ms - clock_mono_ms();
        if (left <= 0)
            return 0;
        int rc = api_next_event(line, (int) (left < WAIT_TICK_MS ? left : WAIT_TICK_MS), &event, err);
        if (rc < 0)
            return rc;
        const json_t *found = event != NULL && match_glob(tag, value_str(event, "tag", ""))
                                  ? event_value(event, key)
                                  : NULL;
        if (found != NULL && !json_is_null(found))
            take_seen(ids, found, seen);
        orchrun_at(ctx, all - json_array_size(ids), all);
    }
    return 1;
}

/* A line of its own, on which the events come. NEW, or NULL with *err. */
static master_api_t *
states_salt_listen_to(call_ctx_t *ctx, const char *tag, fail_t *err)
{
    master_api_t *line = api_another(api_of(ctx), err);
    json_t *request = json_pack("{s:s, s:s}", "op", "events", "tag", tag);
    json_auto_t *reply = NULL;
    uint64_t since = orchrun_since(ctx);

    if (since > 0)
        json_object_set_new(request, "since_seq", json_integer((json_int_t) since));
    if (line == NULL)
        json_decref(request);
    else if (api_request(line, &request, &reply, err) < 0)
        api_destroy(&line);
    return line;
}

static json_t *
all_seen(double seconds)
{
    AUTO_FREE char *text = value_float_repr(seconds);

    return value_fmt("All events seen in %s seconds.", text);
}

/* Waits until an event of each id came. Events since the step began count (since_seq), so that an event
 * between the start and the subscription is not missed. */
static int
salt_wait_for_event(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *tag = value_str(args, "name", ""), *key = value_str(args, "event_id", "id");
    json_t *ret = *ret_value = state_ret_args(args), *given = value_get(args, "id_list"),
           *seen = json_array();
    json_auto_t *ids = json_is_array(given) ? json_copy(given) : ask_split(given);
    double timeout = value_num(args, "timeout", 0);
    int64_t begin = clock_mono_ms();

    if (ctx_test(ctx)) {
        json_decref(seen);
        return state_ret_set(ret, STATE_NONE, "Orchestration would wait for event '%s'", tag);
    }
    if (!(timeout >= 0 && timeout <= WAIT_MAX_S)) {
        json_decref(seen);
        return state_ret_set(ret, STATE_FALSE, "'timeout' is a number of seconds up to %d", WAIT_MAX_S);
    }
    __attribute__((cleanup(api_destroy))) master_api_t *line = states_salt_listen_to(ctx, tag, err);
    int rc = line == NULL ? -EIO
                          : states_salt_wait_for(ctx, line, tag, key, ids, seen,
                                                 begin + (int64_t) (timeout * 1000), err);
    if (json_array_size(seen) > 0)
        state_change(ret, "minions_seen", json_incref(seen));
    json_decref(seen);
    if (rc < 0)
        return state_ret_fail(ret, err);
    if (rc == 0)
        (void) state_ret_set(ret, STATE_FALSE, "Timeout value reached.");
    else
        state_ret_comment(ret, all_seen((double) (clock_mono_ms() - begin) / 1000));
    if (rc == 0) {
        AUTO_FREE char *left = states_salt_names(ids);
        state_ret_add(ret, "Not seen: %s", left);
    }
    return 0;
}

/* ---- the table ----------------------------------------------------------------------------- */

#define ARGS_TARGET                                                                                          \
    ARG("tgt", ARG_ANY, ARG_REQUIRED, "Which minions"),                                                      \
        ARG("ssh", ARG_BOOL, "false", "Refused: there is no salt-ssh"),                                      \
        ARG("tgt_type", ARG_STR, "\"glob\"", "glob, pcre, list, grain, pillar, compound and so on"),         \
        ARG("ret", ARG_ANY, "\"\"", "Returners, files in Python on the minions, that get each return too"),  \
        ARG("ret_config", ARG_ANY, "null", "The returner's configuration"),                                  \
        ARG("ret_kwargs", ARG_DICT, "null", "The returner's options")
#define ARGS_OUTCOME                                                                                         \
    ARG("expect_minions", ARG_ANY, "null",                                                                   \
        "False: minions that do not return count as nothing. They fail the step else"),                      \
        ARG("fail_minions", ARG_ANY, "null", "Minions that may fail: a list, or text with commas"),          \
        ARG("allow_fail", ARG_ANY, "0", "So many other minions may fail"),                                   \
        ARG("timeout", ARG_ANY, "null", "Seconds without news from anybody at work until the wait ends"),    \
        ARG("batch", ARG_ANY, "null", "So many minions at one time: a number, or a part as in 25%"),         \
        ARG("subset", ARG_ANY, "null", "Only so many of them, picked at random"),                            \
        ARG("canary", ARG_ANY, "null", "So many first; the others follow if these do not fail"),             \
        ARG("max_fail", ARG_ANY, "null", "More failures than these, a number or a part, stop the rest")
#define ARG_OLD_TYPE ARG("expr_form", ARG_ANY, "null", "Old name of tgt_type")

static const arg_t state_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "The step's name"),
    ARGS_TARGET,
    ARG("highstate", ARG_ANY, "null", "Run state.highstate"),
    ARG("sls", ARG_ANY, "null", "Run state.sls: a list, or text"),
    ARG("top", ARG_ANY, "null", "Run state.top with this file"),
    ARG("saltenv", ARG_ANY, "null", "The environment"),
    ARG("test", ARG_ANY, "null", "Whether the minions only say what they would do"),
    ARG("pillar", ARG_DICT, "null", "Laid over the minions' pillar"),
    ARG("pillarenv", ARG_ANY, "null", "The pillar's environment"),
    ARG("exclude", ARG_ANY, "null", "SLS and IDs that are left out"),
    ARG("concurrent", ARG_ANY, "false", "Run beside other states on a minion"),
    ARG("queue", ARG_ANY, "false", "Wait on a minion until other states have ended"),
    ARG("orchestration_jid", ARG_ANY, "null", "Accepted for Salt's sake"),
    ARG("failhard", ARG_ANY, "null", "Stop after a failure"),
    ARGS_OUTCOME,
    ARG_OLD_TYPE,
    ARG("kwargs", ARG_DICT, ARG_STARSTAR, "Accepted for Salt's sake", TAKES_NONE),
    ARGS_END,
};

static const arg_t function_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "The function"),
    ARGS_TARGET,
    ARG("fail_function", ARG_STR, "null", "A function that is true where a minion's return is a success"),
    ARG("arg", ARG_ANY, "null", "Its arguments, a list"),
    ARG("kwarg", ARG_DICT, "null", "Its keyword arguments"),
    ARG("failhard", ARG_ANY, "null", "Stop after a failure"),
    ARGS_OUTCOME,
    ARG_OLD_TYPE,
    ARG("kwargs", ARG_DICT, ARG_STARSTAR, "Accepted for Salt's sake", TAKES_NONE),
    ARGS_END,
};

static const arg_t wait_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "A tag as a glob"),
    ARG("id_list", ARG_ANY, ARG_REQUIRED, "Whom to wait for: a list"),
    ARG("event_id", ARG_STR, "\"id\"", "The field of the event that tells who it is"),
    ARG("timeout", ARG_FLOAT, "300", "Seconds"),
    ARG("node", ARG_STR, "\"master\"", "Accepted for Salt's sake", TAKES_NONE),
    ARGS_END,
};

static const func_t funcs[] = {
    { "function", salt_function, function_args, 0,
      "Run a function on minions.\n\nThe step fails when a minion does not return, when the function's "
      "exit code is not 0, when it returns False, or when ``fail_function`` says so." CLI_EXAMPLE(
          "cmd.run:\n      salt.function:\n        - tgt: '*'\n        - arg:\n          - df -h /") },
    { "state", salt_state, state_args, 0,
      "Run states on minions.\n\nThe step fails when a minion does not return, or when one of its states "
      "fails." CLI_EXAMPLE(
          "webservers:\n      salt.state:\n        - tgt: 'web*'\n        - sls: [apache, django]\n"
          "        - batch: 25%\n        - canary: 1\n        - max_fail: 2") },
    { "wait_for_event", salt_wait_for_event, wait_args, 0,
      "Wait until an event of this tag has come from each of ``id_list``." CLI_EXAMPLE(
          "reboots:\n      salt.wait_for_event:\n        - name: salt/minion/*/start\n        - id_list: "
          "[jerry, stuart]") },
};

PLUGIN(state, salt, .doc = "Work on minions, as steps of an orchestration", FUNCS(funcs));
