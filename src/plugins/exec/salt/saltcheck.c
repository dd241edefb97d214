/* saltcheck.c - execution module `saltcheck`: tests of states. A test calls a function and compares what it
 * returns with what is expected; tests are in .tst files beside the SLS, rendered as these are. This file collects the
 * tests of a call and what comes of them; saltcheck_find.h knows the files, saltcheck_run.h runs one test. */
#include <unistd.h>

#include "common/base/str.h"
#include "common/plugin/call.h"
#include "common/py/py_json.h"
#include "common/state/run.h"
#include "plugins/lib/call/pyargs.h"
#include "plugins/lib/call/subcall.h"
#include "plugins/lib/salt/saltcheck_find.h"
#include "plugins/lib/salt/saltcheck_report.h"
#include "plugins/lib/salt/saltcheck_run.h"
#include "plugins/lib/salt/stateopts.h"
#include "salt/log.h"

/* ---- the tests of a state ------------------------------------------------------------------------------- */

/* The value as it is behind a way through JSON, which Salt sends tests on: keys are texts, and mappings are
 * OrderedDicts. Texts keep their marks (py_peer.h). NEW, or NULL raised. */
static py_t *
as_json(py_t *v)
{
    bool dict = py_is(v, PY_DICT), list = py_is(v, PY_LIST) || py_is(v, PY_TUPLE);
    py_dumps_t how = PY_DUMPS_INIT;
    py_t *key, *value;

    if (!dict && !list)
        return py_ref(v);
    if (py_enter() < 0)
        return NULL;
    AUTO(py) made = dict ? py_odict() : py_list();
    bool whole = true;
    for (size_t i = 0; list && whole && i < py_seq_len(v); i++) {
        AUTO(py) item = as_json(py_seq_at(v, i));
        whole = item != NULL;
        if (whole)
            py_append(made, item);
    }
    for (size_t i = 0; dict && whole && py_dict_next(v, &i, &key, &value);) {
        AUTO(py) name = py_is(key, PY_STR) ? py_ref(key) : py_json_dumps(key, &how);
        AUTO(py) member = name != NULL ? as_json(value) : NULL;
        whole = member != NULL && py_dict_set(made, name, member) == 0;
    }
    py_leave();
    return whole ? STEAL(made) : NULL;
}

/* Renders a file of tests. NEW dict, or NULL with *err, which names the file. */
static py_t *
render_tests(call_ctx_t *ctx, const char *path, const char *url, const char *saltenv, fail_t *err)
{
    AUTO(py) place = py_str_utf8(path, strlen(path));
    AUTO(py) name = py_strz("saltenv");
    AUTO(py) value = py_strz(saltenv);
    const py_args_t args = { .n = 1, .v = &place, .nkw = 1, .names = &name, .kwv = &value };
    AUTO(py) rendered = ctx_call_native(ctx, "slsutil.renderer", &args, err);
    AUTO(py) tests = rendered != NULL ? as_json(rendered) : NULL;

    if (tests == NULL && err->code == 0)
        (void) fail_kind(err, FAIL_COMMAND, -EINVAL, "%s", py_raised_text());
    py_clear();
    if (tests == NULL) {
        err->kind = FAIL_COMMAND;
        fail_prefix(err, "%s: ", url);
        return NULL;
    }
    if (py_is(tests, PY_DICT))
        return STEAL(tests);
    (void) fail_kind(err, FAIL_COMMAND, -EINVAL,
                     "%s: tests are a mapping of names to tests, and not of the type %s", url,
                     py_type_name(tests));
    return NULL;
}

/* Reads the files that `find` has found. `tests` gets them by name, `from` their files; of two with the same name the
 * later one counts. */
static int
load_tests(call_ctx_t *ctx, saltcheck_find_t *find, const char *saltenv, py_t *tests, json_t *from,
           fail_t *err)
{
    json_auto_t *paths = saltcheck_find_take(find);
    py_t *name, *test;
    json_t *path;
    size_t i;

    json_array_foreach (paths, i, path) {
        AUTO_FREE char *url = saltcheck_find_url(find, json_string_value(path));
        AUTO(py) more = render_tests(ctx, json_string_value(path), url, saltenv, err);
        if (more == NULL)
            return err->code;
        for (size_t at = 0; py_dict_next(more, &at, &name, &test);) {
            const char *before = value_str(from, py_cstr(name), NULL);
            if (before != NULL)
                log_warning("Saltcheck: %s: test '%s' replaces the one of this name in %s", url,
                            py_cstr(name), before);
            (void) py_dict_set(tests, name, test);
            json_object_set_new(from, py_cstr(name), json_string(url));
        }
    }
    return 0;
}

/* ---- one after the other, or at the same time ----------------------------------------------------------- */

/* A setting of the minion, its grains or pillar. NEW, or NULL with *err. */
static json_t *
setting(call_ctx_t *ctx, const char *name, fail_t *err)
{
    return sub_call(ctx, err, "config.get", "{s:s, s:n}", "key", name, "default");
}

/* How many tests may run at the same time: 1 unless saltcheck_parallel says otherwise, or a test applies states,
 * whose order matters. Negative with *err. */
static int
pool_size(call_ctx_t *ctx, const saltcheck_test_t *checks, size_t n, fail_t *err)
{
    json_auto_t *parallel = setting(ctx, "saltcheck_parallel", err);
    json_auto_t *processes = parallel != NULL ? setting(ctx, "saltcheck_processes", err) : NULL;
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);

    if (processes == NULL)
        return err->code;
    if (!value_truthy(parallel) || cpus < 2)
        return 1;
    for (size_t i = 0; i < n; i++) {
        const char *fun = py_is(checks[i].test, PY_DICT)
                              ? pyarg_text(checks[i].test, "module_and_function", "")
                              : "";
        if (strstr(fun, "state.apply") != NULL || str_eq(fun, SALTCHECK_STATE_APPLY)) {
            log_warning("Saltcheck: '%s' applies states: the tests run one after the other", checks[i].name);
            return 1;
        }
    }
    long pool = json_is_number(processes) && json_number_value(processes) >= 1
                    ? (long) json_number_value(processes)
                    : cpus;
    return (int) (pool < LIMIT_STATES_PARALLEL ? pool : LIMIT_STATES_PARALLEL);
}

/* For state_workers_t. */
static json_t *
check_work(call_ctx_t *ctx, void *work)
{
    return saltcheck_run(ctx, work);
}

/* At most `pool` tests at the same time, in children. One that dies has failed. */
static void
run_at_once(call_ctx_t *ctx, saltcheck_test_t *checks, size_t n, int pool, json_t *results)
{
    AUTO(state_fork) workers = state_fork_new(ctx);
    size_t started = 0, ended = 0;

    for (size_t i = 0; i < n; i++)
        json_object_set_new(results, checks[i].name,
                            json_object()); /* in the tests' order, whoever ends first */
    while (ended < n) {
        fail_auto_t err = FAIL_INIT;
        json_t *value = NULL;
        size_t id = started;
        int rc = 0;

        if (started < n && started - ended < (size_t) pool) {
            rc = state_fork_workers.start(workers, id, check_work, &checks[started++], &err);
            if (rc == 0)
                continue;
        } else {
            (void) state_fork_workers.next(workers, -1, &id, &value, &err);
        }
        if (value == NULL)
            value = json_pack("{s:o, s:f}", "status",
                              value_fmt("Fail: the test's process: %s", fail_text(&err)), "duration", 0.0);
        json_object_set_new(results, checks[id].name, value);
        ended++;
    }
}

/* Runs tests. NEW {name: result}, or NULL with *err. */
static json_t *
run_tests(call_ctx_t *ctx, py_t *tests, const json_t *from, bool details, fail_t *err)
{
    size_t n = 0;
    saltcheck_test_t *checks = xcalloc(py_dict_len(tests) + 1, sizeof(*checks));
    json_t *results = json_object();
    py_t *name, *test;

    for (size_t i = 0; py_dict_next(tests, &i, &name, &test); n++)
        checks[n] = (saltcheck_test_t){ .name = py_cstr(name),
                                        .from = value_str(from, py_cstr(name), NULL),
                                        .test = test,
                                        .details = details };
    int pool = pool_size(ctx, checks, n, err);
    for (size_t i = 0; pool == 1 && i < n; i++)
        json_object_set_new(results, checks[i].name, saltcheck_run(ctx, &checks[i]));
    if (pool > 1)
        run_at_once(ctx, checks, n, pool, results);
    free(checks);
    if (pool >= 0)
        return results;
    json_decref(results);
    return NULL;
}

/* ---- the states of a call --------------------------------------------------------------------------------- */

/* saltcheck_output_details: 1, 0, or negative with *err. */
static int
shows_details(call_ctx_t *ctx, fail_t *err)
{
    json_auto_t *details = setting(ctx, "saltcheck_output_details", err);

    return details != NULL ? value_truthy(details) : err->code;
}

/* Runs a state's tests, and puts what comes of them into `results`. A state that is named twice keeps what it has. 1
 * when its SLS can't be compiled. */
static int
run_state(call_ctx_t *ctx, saltcheck_find_t *find, const char *state, const char *saltenv, const json_t *args,
          json_t *results, fail_t *err)
{
    json_auto_t *from = json_object();
    AUTO(py) tests = py_dict();
    int details = shows_details(ctx, err);
    int broken = details >= 0
                     ? saltcheck_find_add(find, state, value_truthy(value_get(args, "check_all")), err)
                     : details;
    int rc = broken >= 0 ? load_tests(ctx, find, saltenv, tests, from, err) : broken;
    json_auto_t *done = rc >= 0 ? run_tests(ctx, tests, from, details > 0, err) : NULL;

    if (done == NULL)
        return err->code;
    if (json_object_size(value_get(results, state)) == 0)
        json_object_set(results, state, done);
    if (json_object_size(done) == 0 && broken == 0 && *state != '\0' && !saltcheck_find_is_state(find, state))
        ctx_absent(ctx, "There is neither an SLS nor a file of tests '%s' in the environment %s", state,
                   saltenv);
    return broken;
}

/* The environment of a call. BORROWED. */
static const char *
asked_saltenv(call_ctx_t *ctx, const json_t *args)
{
    const char *given = value_str(args, "saltenv", ""), *own = value_str(ctx_opts(ctx), "saltenv", "");

    return *given != '\0' ? given : *own != '\0' ? own : "base";
}

/* Runs the tests of the states. The exit code is 1 when a test has failed, or a state can't be compiled. */
static int
run_states(call_ctx_t *ctx, const json_t *states, const char *saltenv, const json_t *args, json_t **ret_value,
           fail_t *err)
{
    AUTO(saltcheck_find) find = saltcheck_find_new(ctx, saltenv, err);
    json_auto_t *results = json_object();
    bool broken = false;
    json_t *state;
    size_t i;

    if (find == NULL)
        return err->code;
    ctx_set_retcode(ctx, 0);
    json_array_foreach (states, i, state) {
        AUTO_FREE char *name = value_pystr(state);
        int rc = run_state(ctx, find, name, saltenv, args, results, err);
        if (rc < 0)
            return rc;
        broken = broken || rc > 0;
    }
    if (broken || saltcheck_failed(results))
        ctx_set_retcode(ctx, EXIT_FAILURE);
    *ret_value = value_truthy(value_get(args, "junit"))
                     ? saltcheck_junit(results)
                     : saltcheck_list(results, value_truthy(value_get(args, "only_fails")));
    return 0;
}

/* The SLS that the top file gives this minion in an environment. NEW array, or NULL with *err. */
static json_t *
top_states(call_ctx_t *ctx, const char *saltenv, fail_t *err)
{
    json_auto_t *top = sub_call(ctx, err, "state.show_top", "{s:s}", "saltenv", saltenv);
    json_t *states = value_get(top, saltenv);

    if (top == NULL)
        return NULL;
    if (json_is_array(top)) {
        AUTO_FREE char *why = value_joined(top, "\n");
        (void) fail_kind(err, FAIL_COMMAND, -EINVAL, "%s", why);
        return NULL;
    }
    return states != NULL ? json_incref(states) : json_array();
}

/* ---- functions -------------------------------------------------------------------------------------------- */

static py_t *
saltcheck_run_test(call_ctx_t *ctx, py_t *args, fail_t *err)
{
    py_t *test = py_dict_gets(py_dict_gets(args, "kwargs"), "test");
    int details = shows_details(ctx, err);

    if (details < 0)
        return NULL;
    if (test == NULL || !py_is(test, PY_DICT) || py_dict_len(test) == 0) {
        ctx_set_retcode(ctx, EXIT_FAILURE);
        return py_strz("Test argument must be a dictionary");
    }
    const saltcheck_test_t check = { .name = "", .test = test, .details = details > 0 };
    json_auto_t *result = saltcheck_run(ctx, &check);
    ctx_set_retcode(ctx, strncmp(value_str(result, "status", ""), "Fail", 4) == 0 ? EXIT_FAILURE : 0);
    return py_from_json(result);
}

static int
saltcheck_run_state_tests(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *states = stateopts_split(value_get(args, "state"));

    return run_states(ctx, states, asked_saltenv(ctx, args), args, ret_value, err);
}

/* Says that the top file gives this minion nothing: there is nothing to test then. */
static void
say_no_states(call_ctx_t *ctx, const char *saltenv)
{
    ctx_absent(ctx, "The top file gives this minion no states in the environment %s", saltenv);
}

/* Without states there is one without a name in Salt's return, which has no tests. */
static int
saltcheck_run_highstate_tests(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *saltenv = asked_saltenv(ctx, args);
    json_auto_t *states = top_states(ctx, saltenv, err);

    if (states == NULL)
        return err->code;
    bool none = json_array_size(states) == 0;
    if (none)
        json_array_append_new(states, json_string(""));
    int rc = run_states(ctx, states, saltenv, args, ret_value, err);
    if (none && rc == 0)
        say_no_states(ctx, saltenv);
    return rc;
}

/* The exit code is the number of states without tests. */
static int
saltcheck_report_highstate_tests(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *saltenv = asked_saltenv(ctx, args);
    json_auto_t *states = top_states(ctx, saltenv, err);
    AUTO(saltcheck_find) find = states != NULL ? saltcheck_find_new(ctx, saltenv, err) : NULL;
    json_auto_t *missing = json_array();
    json_t *state;
    size_t i;

    if (find == NULL)
        return err->code;
    json_array_foreach (states, i, state) {
        if (saltcheck_find_add(find, json_string_value(state), false, err) < 0)
            return err->code;
        if (!value_lists(saltcheck_find_found(find), json_string_value(state)))
            json_array_append(missing, state);
    }
    ctx_set_retcode(ctx, (int) json_array_size(missing));
    if (json_array_size(states) == 0)
        say_no_states(ctx, saltenv);
    *ret_value = json_pack("{s:{s:I, s:O, s:O}}", "TEST REPORT RESULTS", "Missing Tests",
                           (json_int_t) json_array_size(missing), "States missing tests", missing,
                           "States with tests", saltcheck_find_found(find));
    return 0;
}

static int
saltcheck_state_apply(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *list = json_pack("[O]", value_get(args, "state_name"));

    return ctx_call(ctx, "state.apply", list, value_get(args, "kwargs"), ret_value, err);
}

/* ---- table ------------------------------------------------------------------------------------------------ */

#define SALTENV                                                                                              \
    ARG("saltenv", ARG_STR, "null", "The environment; the option saltenv, or base, when there is none")
#define ONLY_FAILS ARG("only_fails", ARG_ANY, "false", "Leave out tests that pass or are skipped")
#define JUNIT      ARG("junit", ARG_ANY, "false", "Return a report in JUnit's XML")

static const arg_t test_args[] = {
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "test: the test, a mapping", "test"),
    ARGS_END,
};
static const arg_t states_args[] = {
    ARG("state", ARG_ANY, ARG_REQUIRED, "States, with commas or as a list"),
    SALTENV,
    ARG("check_all", ARG_ANY, "false", "All tests in the states' folders of tests"),
    ONLY_FAILS,
    JUNIT,
    ARGS_END,
};
static const arg_t highstate_args[] = { SALTENV, ONLY_FAILS, JUNIT, ARGS_END };
static const arg_t report_args[] = { SALTENV, ARGS_END };
static const arg_t apply_args[] = {
    ARG("state_name", ARG_ANY, ARG_REQUIRED, "SLS to apply"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "What state.apply takes", STATE_APPLY_WORDS),
    ARGS_END,
};

static const func_t funcs[] = {
    { "report_highstate_tests", saltcheck_report_highstate_tests, report_args, FN_PEER_FILES,
      "Which states of the top file have tests. The exit code is the number of those without." CLI_EXAMPLE(
          "salt '*' saltcheck.report_highstate_tests") },
    { "run_highstate_tests", saltcheck_run_highstate_tests, highstate_args, FN_PEER,
      "Run the tests of all states that the top file gives this minion." CLI_EXAMPLE(
          "salt '*' saltcheck.run_highstate_tests\n    salt '*' saltcheck.run_highstate_tests only_fails=True") },
    { "run_state_tests", saltcheck_run_state_tests, states_args, FN_PEER,
      "Run the tests of states and of what they include.\n\nA state web has them in web/saltcheck-tests/init.tst, "
      "web.conf in web/saltcheck-tests/conf.tst: name: {module_and_function, args, kwargs, assertion, "
      "expected_return, ...}." CLI_EXAMPLE(
          "salt '*' saltcheck.run_state_tests postfix,common\n    salt '*' saltcheck.run_state_tests web "
          "check_all=True") },
    { "run_state_tests_ssh", saltcheck_run_state_tests, states_args, FN_PEER,
      "Another name of run_state_tests." CLI_EXAMPLE("salt '*' saltcheck.run_state_tests_ssh postfix") },
    { "run_test", NATIVE(saltcheck_run_test), test_args, FN_NATIVE | FN_PEER | FN_CALLS,
      "Run one test." CLI_EXAMPLE(
          "salt '*' saltcheck.run_test test='{module_and_function: test.echo, args: [hi], "
          "assertion: assertEqual, expected_return: hi}'") },
    { "state_apply", saltcheck_state_apply, apply_args, FN_PEER_FILES,
      "Apply states, to set a test up or to clear away after it: state.apply, which who may call this one need not be "
      "allowed." CLI_EXAMPLE("salt '*' saltcheck.state_apply postfix") },
};

PLUGIN(exec, saltcheck, .doc = "Tests of states", FUNCS(funcs));
