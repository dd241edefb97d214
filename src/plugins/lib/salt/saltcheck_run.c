/* saltcheck_run.c - see saltcheck_run.h. */
#include "plugins/lib/salt/saltcheck_run.h"

#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/plugin/call.h"
#include "common/py/py_json.h"
#include "plugins/lib/call/pyargs.h"
#include "plugins/lib/salt/saltcheck_assert.h"
#include "plugins/lib/salt/saltcheck_report.h"
#include "salt/log.h"

/* ---- is it a test? -------------------------------------------------------------------------------------- */

/* Says in the log what is wrong with a test, as Salt does, and which test it is. */
static void
log_check(const saltcheck_test_t *check, const char *what)
{
    if (check->from != NULL)
        log_error("Saltcheck: %s: test '%s': %s", check->from, check->name, what);
    else
        log_error("Saltcheck: %s", what);
}

/* Each assertion of a list is looked at, and the last one decides, as in Salt: another one that makes no sense
 * fails when it is tried. */
static bool
assertions_valid(const saltcheck_test_t *check, py_t *groups)
{
    bool valid = true;

    if (!py_is(groups, PY_LIST)) {
        log_check(check, "assertions is a list");
        return false;
    }
    for (size_t i = 0; i < py_seq_len(groups); i++) {
        AUTO_FREE char *what = saltcheck_objection(py_seq_at(groups, i));
        if (what != NULL)
            log_check(check, what);
        if (!py_is(py_seq_at(groups, i), PY_DICT))
            return false;
        valid = what == NULL;
    }
    return valid;
}

static bool
function_valid(call_ctx_t *ctx, const saltcheck_test_t *check)
{
    py_t *fun = py_dict_gets(check->test, "module_and_function");
    fail_auto_t err = FAIL_INIT;

    if (fun == NULL || !py_is(fun, PY_STR) || *py_cstr(fun) == '\0') {
        log_check(check, "missing module_and_function");
        return false;
    }
    if (ctx_find_named(ctx, py_cstr(fun), &err) != NULL)
        return true;
    AUTO_FREE char *what = call_unknown(ctx, py_cstr(fun), &err);
    log_check(check, what);
    return false;
}

/* Checks a test before its function is called. Each objection goes to the log. */
static bool
is_valid(call_ctx_t *ctx, const saltcheck_test_t *check)
{
    py_t *groups = py_is(check->test, PY_DICT) ? py_dict_gets(check->test, "assertions") : NULL;

    if (!py_is(check->test, PY_DICT)) {
        log_check(check, "a test is a mapping");
        return false;
    }
    if (str_eq(pyarg_text(check->test, "module_and_function", ""), SALTCHECK_STATE_APPLY))
        return true;
    bool valid = true;
    if (groups != NULL && py_truth(groups) > 0) {
        valid = assertions_valid(check, groups);
    } else {
        AUTO_FREE char *what = saltcheck_objection(check->test);
        valid = what == NULL;
        if (what != NULL)
            log_check(check, what);
    }
    return function_valid(ctx, check) && valid;
}

/* ---- the call ------------------------------------------------------------------------------------------- */

/* The keywords of the call: pillar_data is the one named pillar, which can't be given otherwise. NEW dict, or NULL
 * raised. */
static py_t *
keywords_of(py_t *test)
{
    py_t *given = py_dict_gets(test, "kwargs"), *pillar = py_dict_gets(test, "pillar_data");
    AUTO(py) kwargs = given != NULL && py_truth(given) > 0 ? py_todict(given) : py_dict();
    AUTO(py) name = py_strz("pillar");

    if (kwargs == NULL || py_dict_del(kwargs, name) < 0)
        return NULL;
    if (pillar == NULL)
        pillar = py_dict_gets(test, "pillar-data");
    if (pillar != NULL && py_truth(pillar) > 0)
        py_dict_sets(kwargs, "pillar", pillar);
    return STEAL(kwargs);
}

/* Calls with the elements of `list` and the members of `kwargs`. A pillar that they bring does not stay. NEW, or
 * NULL with *err or raised. */
static py_t *
call_with(call_ctx_t *ctx, const saltcheck_test_t *check, py_t *list, py_t *kwargs, fail_t *err)
{
    const char *fun = pyarg_text(check->test, "module_and_function", "");
    size_t n = py_seq_len(list), nkw = 0;
    py_t **values = xcalloc(n + 2 * py_dict_len(kwargs) + 1, sizeof(py_t *)), **names = values + n,
         **kwv = names + py_dict_len(kwargs);
    AUTO(py) pillar = py_dict_len(kwargs) > 0 ? py_ref(ctx_native_pillar(ctx)) : NULL;
    int retcode = ctx_retcode(ctx);
    py_t *name, *value, *returned = NULL;
    bool texts = true;

    for (size_t i = 0; i < n; i++)
        values[i] = py_seq_at(list, i);
    for (size_t i = 0; py_dict_next(kwargs, &i, &name, &value); nkw++) {
        texts = texts && py_is(name, PY_STR);
        names[nkw] = name;
        kwv[nkw] = value;
    }
    const py_args_t args = { .n = n, .v = values, .nkw = nkw, .names = names, .kwv = kwv };
    ctx_set_retcode(ctx, 0);
    if (texts)
        returned = ctx_call_native(ctx, fun, &args, err);
    else
        (void) fail_set(err, -EINVAL, "keywords must be strings");
    free(values);
    if (pillar != NULL)
        ctx_set_pillar(ctx, pillar);
    if (ctx_retcode(ctx) != 0 && str_eq(fun, SALTCHECK_STATE_APPLY))
        log_check(check,
                  "its states have failed"); /* Salt's test passes all the same: the return is not empty */
    ctx_set_retcode(ctx, retcode);
    return returned;
}

/* Calls the function of a test. NEW return, or NULL with *err. */
static py_t *
call_for_check(call_ctx_t *ctx, const saltcheck_test_t *check, fail_t *err)
{
    py_t *given = py_dict_gets(check->test, "args");
    AUTO(py) list = given != NULL && py_truth(given) > 0 ? py_tolist(given) : py_list();
    AUTO(py) kwargs = list != NULL ? keywords_of(check->test) : NULL;
    py_t *returned = kwargs != NULL ? call_with(ctx, check, list, kwargs, err) : NULL;

    if (returned == NULL && err->code == 0)
        (void) fail_set(err, -EINVAL, "%s", py_raised_text());
    py_clear();
    return returned;
}

/* ---- a test --------------------------------------------------------------------------------------------- */

/* Tries the assertions of a list one by one: assertion1, assertion2, ... and the status of all. */
static void
assert_each(const saltcheck_call_t *call, py_t *groups, const char *name, py_t *result)
{
    const char *status = "Pass";

    for (size_t i = 0; i < py_seq_len(groups); i++) {
        AUTO_FREE char *key = xasprintf("assertion%zu", i + 1);
        AUTO(py) one = saltcheck_assert(call, py_seq_at(groups, i), name);
        if (!py_str_is(py_dict_gets(one, "status"), "Pass"))
            status = "Fail";
        py_dict_sets(result, key, one);
    }
    py_dict_sets_new(result, "status", py_strz(status));
}

/* Calls the function and tries the assertions. */
static void
try_test(call_ctx_t *ctx, const saltcheck_test_t *check, py_t *result)
{
    py_t *test = check->test, *groups = py_dict_gets(test, "assertions");
    fail_auto_t err = FAIL_INIT;
    AUTO(py) returned = call_for_check(ctx, check, &err);
    saltcheck_call_t call = { .fun = pyarg_text(test, "module_and_function", ""),
                              .args = py_dict_gets(test, "args"),
                              .returned = returned,
                              .details = check->details,
                              .print = true };
    const char *name = str_eq(call.fun, SALTCHECK_STATE_APPLY) ? "assertNotEmpty" : NULL;

    if (returned == NULL) {
        py_dict_sets_new(result, "status", py_strf("Fail: %s: %s", call.fun, fail_text(&err)));
        return;
    }
    if (py_dict_gets(test, "output_details") != NULL)
        call.details = pyarg_flag(test, "output_details");
    if (py_dict_gets(test, "print_result") != NULL)
        call.print = pyarg_flag(test, "print_result");
    if (groups != NULL && py_is(groups, PY_LIST) && py_seq_len(groups) > 0) {
        assert_each(&call, groups, name, result);
        return;
    }
    AUTO(py) one = saltcheck_assert(&call, test, name);
    (void) py_dict_update(result, one);
}

json_t *
saltcheck_run(call_ctx_t *ctx, const saltcheck_test_t *check)
{
    AUTO(py) result = py_dict();
    int64_t began = clock_mono_us();
    bool valid = is_valid(ctx, check);

    if (valid && pyarg_flag(check->test, "skip"))
        return json_pack("{s:s, s:f}", "status", "Skip", "duration", 0.0);
    if (valid)
        try_test(ctx, check, result);
    else
        py_dict_sets_new(result, "status", py_strz("Fail - invalid test"));
    py_dict_sets_new(result, "duration",
                     py_float(saltcheck_seconds((double) (clock_mono_us() - began) / 1e6)));
    json_t *made = py_to_json(result);
    py_clear();
    return made;
}
