/* run_call.c - call one chunk: verify, conditions, the state function, check_cmd, retries; and build its
 * return as Salt does.
 *
 * Order of a call (Salt's State.call): state_verify() -> onlyif/unless/creates -> function -> check_cmd
 * -> unify -> log, refresh, times. Failures become returns with result False; nothing here fails the run.
 */
#include <sys/stat.h>

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/state/run_call.h"
#include "salt/log.h"
#include "salt/state.h"

#define US_PER_MS 1000.0
#define US_PER_S  1000000
#define RETRY_MAX 1000000000 /* seconds, or tries */

/* ---- the return ---------------------------------------------------------------------------- */

/* Local time "hh:mm:ss.uuuuuu", as Salt's start_time. */
static json_t *
run_call_stamp(int64_t wall_us)
{
    time_t seconds = (time_t) (wall_us / US_PER_S);
    struct tm tm;
    char text[sizeof("hh:mm:ss.uuuuuu") + 3 * sizeof(int)];

    (void) localtime_r(&seconds, &tm);
    (void) snprintf(text, sizeof(text), "%02d:%02d:%02d.%06d", tm.tm_hour, tm.tm_min, tm.tm_sec,
                    (int) (wall_us % US_PER_S));
    return json_string(text);
}

/* NEW reference to a key of the chunk; null where it has none, as in Salt's returns. */
static json_t *
or_null(const json_t *low, const char *key)
{
    json_t *v = value_get(low, key);

    return v != NULL ? json_incref(v) : json_null();
}

/* The keys that Salt's runner gives a return that no state function made. `skipped` marks it as not run,
 * which is why a requisite on it counts as neither met nor failed. */
json_t *
state_not_called(const json_t *low, bool result, const char *comment, bool skipped, size_t run_num)
{
    json_t *ret = json_pack("{s:{}, s:b, s:f, s:o, s:s}", "changes", "result", result, "duration", 0.0,
                            "start_time", run_call_stamp(clock_wall_us()), "comment", comment);

    if (skipped)
        json_object_set_new(ret, "__state_ran__", json_false());
    json_object_set_new(ret, "__run_num__", json_integer((json_int_t) run_num));
    json_object_set_new(ret, "__sls__", or_null(low, "__sls__"));
    json_object_set_new(ret, "__id__", or_null(low, "__id__"));
    json_object_set_new(ret, "name", or_null(low, "name"));
    return ret;
}

static json_t *
run_call_failed(const json_t *low, const char *comment)
{
    json_t *ret = json_pack("{s:b, s:o, s:{}}", "result", 0, "name", or_null(low, "name"), "changes");

    json_object_set_new(ret, "comment", value_utf8(comment, strlen(comment)));
    return ret;
}

static json_t *
raised(const json_t *low, const fail_t *err)
{
    AUTO_FREE char *text = xasprintf("An exception occurred in this state: %s", fail_text(err));

    return run_call_failed(low, text);
}

/* Describe why a return is malformed. NEW, or NULL when it is well-formed. */
static char *
malformed(const json_t *ret)
{
    static const char *const keys[] = { "name", "result", "changes", "comment" };
    buf_auto_t missing = BUF_INIT;

    if (!json_is_object(ret))
        return xstrdup("Malformed state return. Data must be a dictionary type.");
    if (!json_is_object(value_get(ret, "changes")))
        return xstrdup("'Changes' should be a dictionary.");
    for (size_t i = 0; i < NELEMS(keys); i++) {
        if (value_get(ret, keys[i]) == NULL)
            buf_printf(&missing, "%s%s", missing.len > 0 ? ", " : "", keys[i]);
    }
    return missing.len > 0
               ? xasprintf("The following keys were not present in the state return: %s.", buf_str(&missing))
               : NULL;
}

/* ---- the call ------------------------------------------------------------------------------ */

/* The option maps a state, function or "*" to compound targets. No entry for this state means no
 * condition. */
static bool
meets_global_conditions(call_ctx_t *ctx, const json_t *low, const char *full)
{
    json_t *table = value_get(ctx_opts(ctx), "global_state_conditions"), *conditions, *one;
    const char *pattern;
    bool asked = false;
    size_t i;

    json_object_foreach (table, pattern, conditions) {
        if (!str_eq(pattern, "*") && !str_eq(pattern, full) && !str_eq(pattern, value_str(low, "state", "")))
            continue;
        json_auto_t *list = json_is_array(conditions) ? json_incref(conditions)
                                                      : json_pack("[O]", conditions);
        json_array_foreach (list, i, one) {
            fail_auto_t err = FAIL_INIT;
            json_auto_t *args = json_pack("[O]", one), *matched = NULL;
            asked = true;
            if (ctx_call(ctx, "match.compound", args, NULL, &matched, &err) < 0)
                log_error("global_state_conditions: %s", fail_text(&err));
            else if (value_truthy(matched))
                return true;
        }
    }
    return !asked;
}

/* NEW return, with a warning for each argument that has no effect; or NULL with *err. */
static json_t *
call_function_of(state_caller_t *self, json_t *low, const char *full, fail_t *err)
{
    const func_t *f = ctx_find_state(self->ctx, full, err);
    json_auto_t *idle = json_object();
    json_auto_t *kwargs = f != NULL ? state_arguments(self->ctx, f, low, idle, err) : NULL;
    const json_t *mask = value_get(low, "__umask__");
    json_t *ret = NULL, *near;
    const char *key;

    if (kwargs == NULL)
        return NULL;
    if (self->mocked) {
        ret = json_pack("{s:O, s:s, s:{}, s:b}", "name", value_get(low, "name"), "comment",
                        "Not called, mocked", "changes", "result", 1);
    } else if (!meets_global_conditions(self->ctx, low, full)) {
        ret = json_pack("{s:O, s:s, s:{}, s:n}", "name", value_get(low, "name"), "comment",
                        "Failed to meet global state conditions. State not called.", "changes", "result");
    } else {
        if (state_slots(self->ctx, kwargs, err) < 0)
            return NULL;
        /* The umask is the process's: it is set for the time of the call. */
        mode_t before = mask != NULL ? umask((mode_t) json_integer_value(mask)) : 0;
        int rc = ctx_state(self->ctx, full, kwargs, &ret, err);
        if (mask != NULL)
            (void) umask(before);
        if (rc < 0)
            return NULL;
    }
    json_object_foreach (idle, key, near) {
        AUTO_FREE char *meant = json_is_string(near) ? xasprintf("; is '%s' meant?", json_string_value(near))
                                                     : xstrdup("");
        state_ret_warn(ret, "'%s' is not an argument of '%s', and has no effect%s", key, full, meant);
    }
    return ret;
}

/* Conditions, function, check_cmd. NEW return, or NULL with *err, which is an exception in Salt. */
static json_t *
conditions_and_function(state_caller_t *self, json_t *low, const char *full, fail_t *err)
{
    json_auto_t *ret = json_pack("{s:b, s:O, s:{}}", "result", 0, "name", value_get(low, "name"), "changes");

    /* A module with mod_run_check asks its conditions itself. */
    bool conditions = value_get(low, "unless") != NULL || value_get(low, "onlyif") != NULL ||
                      value_get(low, "creates") != NULL;
    if (conditions && !state_has(self->ctx, low, "mod_run_check")) {
        json_auto_t *said = state_cond_run(self->ctx, low, err);
        if (said == NULL)
            return NULL;
        json_object_update(ret, said);
    }
    if (!value_truthy(value_get(ret, "result"))) {
        json_decref(ret);
        ret = call_function_of(self, low, full, err);
    }
    if (ret != NULL && value_get(low, "check_cmd") != NULL) {
        /* So does a function with an argument check_cmd, in a module with mod_run_check_cmd. */
        fail_auto_t none = FAIL_INIT;
        const func_t *f = ctx_find_state(self->ctx, full, &none);
        if (f != NULL && state_declares(f, "check_cmd") && state_has(self->ctx, low, "mod_run_check_cmd"))
            return STEAL(ret);
        json_auto_t *said = state_cond_check_cmd(self->ctx, low, err);
        if (said == NULL)
            return NULL;
        json_object_update(ret, said);
    }
    return STEAL(ret);
}

/* Set the user for commands that name none: the state's conditions, and commands of modules that it calls.
 * TAKES it; NULL: none. NEW: the user before, or NULL. */
static json_t *
swap_runas(call_ctx_t *ctx, json_t *runas)
{
    json_t *context = ctx_context(ctx), *before = value_get(context, "runas");

    before = before != NULL ? json_incref(before) : NULL;
    if (runas != NULL)
        json_object_set_new(context, "runas", runas);
    else
        json_object_del(context, "runas");
    return before;
}

/* Call within the run's frame; `prereq` forces test mode. Frame, mode, user and exit code are restored.
 * NEW. */
static json_t *
call_body(state_caller_t *self, json_t *low, bool prereq)
{
    fail_auto_t err = FAIL_INIT;
    AUTO_FREE char *full = state_full_name(low);
    call_frame_t frame = { low, self->chunks, self->running, self->run_id };
    const call_frame_t *outer = call_set_frame(self->ctx, &frame);
    bool test = ctx_test(self->ctx);
    int retcode = ctx_retcode(self->ctx);
    json_t *runas = value_get(low, "runas");

    runas = swap_runas(self->ctx, runas != NULL ? json_incref(runas) : NULL);
    ctx_set_test(self->ctx, test || prereq);
    json_t *ret = conditions_and_function(self, low, full, &err);
    ctx_set_test(self->ctx, test);
    json_decref(swap_runas(self->ctx, runas));
    /* An exit code that a module sets is not the run's. */
    ctx_set_retcode(self->ctx, retcode);
    (void) call_set_frame(self->ctx, outer);
    if (ret == NULL)
        ret = err.kind == FAIL_ARGUMENTS ? run_call_failed(low, fail_text(&err)) : raised(low, &err);

    /* Salt's "unify": join a list of comments, make the result True, False or None, replace a malformed
     * return by an error. */
    AUTO_FREE char *wrong = malformed(ret);
    json_t *result = value_get(ret, "result"), *comment = value_get(ret, "comment"), *line;
    buf_auto_t text = BUF_INIT;
    size_t i;

    if (wrong != NULL) {
        fail_set(&err, -EINVAL, "%s", wrong);
        json_decref(ret);
        return raised(low, &err);
    }
    if (!json_is_null(result) && !json_is_boolean(result))
        json_object_set_new(ret, "result", json_boolean(value_truthy(result)));
    if (!json_is_array(comment))
        return ret;
    json_array_foreach (comment, i, line) {
        AUTO_FREE char *shown = value_pystr(line);
        buf_printf(&text, "%s%s", i > 0 ? "\n" : "", shown);
    }
    json_object_set_new(ret, "comment", value_utf8(buf_str(&text), text.len));
    return ret;
}

/* ---- after the call ------------------------------------------------------------------------ */

/* True when the state has changed what modules may be usable: packages, programs, files of modules. */
static bool
run_call_changed_modules(const json_t *low, const json_t *ret)
{
    static const char *const endings[] = { ".py", ".pyx", ".pyo", ".pyc", ".so" };
    const char *state = value_str(low, "state", ""), *fun = value_str(low, "fun", "");
    const char *name = value_str(low, "name", "");

    if (json_object_size(value_get(ret, "changes")) == 0)
        return value_truthy(value_get(low, "force_reload_modules"));
    for (size_t i = 0; str_eq(state, "file") && str_eq(fun, "managed") && i < NELEMS(endings); i++)
        if (str_ends(name, endings[i]))
            return true;
    return value_truthy(value_get(low, "reload_modules")) || value_truthy(value_get(low, "reload_grains")) ||
           value_truthy(value_get(low, "reload_pillar")) || str_eq(state, "pkg") || str_eq(state, "pip") ||
           (str_eq(state, "file") &&
            (str_eq(fun, "recurse") || (str_eq(fun, "symlink") && strstr(name, "bin"))));
}

/* A failed pillar is only logged: the old one stays. */
void
state_refresh(state_caller_t *self, const json_t *low, const json_t *ret)
{
    fail_auto_t err = FAIL_INIT;

    if (value_truthy(value_get(low, "reload_grains")))
        ctx_refresh_grains(self->ctx);
    if (value_truthy(value_get(low, "reload_pillar"))) {
        struct py *pillar = ctx_compile_pillar(self->ctx, self->pillar_ask, &err);
        if (pillar != NULL)
            ctx_set_pillar(self->ctx, pillar);
        else
            log_error("reload_pillar: %s", fail_text(&err));
        py_unref(pillar);
    }
    if (run_call_changed_modules(low, ret))
        call_refresh_modules(self->ctx);
}

/* Empty texts, lists and dicts are "absent"; False and None are shown. */
static char *
shown_or_absent(const json_t *v)
{
    return value_truthy(v) || json_is_false(v) || json_is_null(v) ? value_pystr(v) : xstrdup("absent");
}

/* The text that Salt logs for a return. NEW. */
static char *
log_text(const json_t *ret)
{
    json_t *changes = value_get(ret, "changes"), *v;
    const char *diff = value_str(changes, "diff", NULL), *comment = value_str(ret, "comment", ""), *key;
    buf_auto_t text = BUF_INIT;

    if (json_object_size(changes) == 0 && *comment != '\0')
        return xstrdup(comment);
    if (json_object_size(changes) == 0)
        return xasprintf("No changes made for %s", value_str(ret, "name", ""));
    if (diff != NULL)
        return xasprintf("File changed:\n%s", diff);
    /* Shown one by one only if every change has the form {"old": ..., "new": ...}. */
    json_object_foreach (changes, key, v) {
        if (value_get(v, "old") == NULL || value_get(v, "new") == NULL)
            return value_pystr(changes);
    }
    buf_puts(&text, "Made the following changes:\n");
    json_object_foreach (changes, key, v) {
        AUTO_FREE char *before = shown_or_absent(value_get(v, "old")),
                       *after = shown_or_absent(value_get(v, "new"));
        buf_printf(&text, "'%s' changed from '%s' to '%s'\n", key, before, after);
    }
    return buf_steal(&text);
}

/* A master runs many orchestrations, whose failures stand in one log: each names its run and step. */
static void
log_return(const state_caller_t *self, const json_t *low, const json_t *ret)
{
    bool bad = json_is_false(value_get(ret, "result"));

    if (!log_wants(bad ? LEVEL_ERROR : LEVEL_INFO))
        return;
    AUTO_FREE char *text = log_text(ret);
    if (bad && str_eq(value_str(ctx_opts(self->ctx), "__role", ""), "master"))
        log_error("orchestration %s, step %s: %s", ctx_jid(self->ctx), value_str(low, "__id__", "?"), text);
    else
        log_at(bad ? LEVEL_ERROR : LEVEL_INFO, "%s", text);
}

/* A single attempt. A prereq's test run gets the bare return: it is not a result of the run and has no
 * number. */
static json_t *
call_once(state_caller_t *self, json_t *low, bool prereq)
{
    int64_t begin_us = clock_wall_us(), begin = clock_mono_us();
    json_auto_t *errors = state_verify(self->ctx, low);
    json_t *ret, *line;
    size_t i;

    if (json_array_size(errors) > 0) {
        /* A chunk that fails verification: each error is a line, and the return counts as one of the run. */
        buf_auto_t text = BUF_INIT;
        json_array_foreach (errors, i, line)
            buf_printf(&text, "%s\n", json_string_value(line));
        ret = run_call_failed(low, buf_str(&text));
        json_object_set_new(ret, "__run_num__", json_integer((json_int_t) self->run_num++));
        log_return(self, low, ret);
        return ret;
    }
    log_info("Executing state %s.%s for [%s]", value_str(low, "state", ""), value_str(low, "fun", ""),
             value_str(low, "name", ""));
    ret = call_body(self, low, prereq);
    if (prereq)
        return ret;
    json_object_set_new(ret, "__sls__", or_null(low, "__sls__"));
    json_object_set_new(ret, "__run_num__", json_integer((json_int_t) self->run_num++));
    log_return(self, low, ret);
    if (!self->elsewhere)
        state_refresh(self, low, ret);
    double ms = (double) (clock_mono_us() - begin) / US_PER_MS;
    json_object_set_new(ret, "start_time", run_call_stamp(begin_us));
    json_object_set_new(ret, "duration", json_real(ms));
    json_object_set_new(ret, "__id__", or_null(low, "__id__"));
    log_info("Completed state [%s] (duration_in_ms=%.3f)", value_str(low, "name", ""), ms);
    return ret;
}

/* ---- retry --------------------------------------------------------------------------------- */

typedef struct retry {
    bool until;
    json_int_t attempts, interval, splay;
} retry_t;

/* A number of `retry`. An invalid one is replaced by the default with a warning, as in Salt. */
static json_int_t
retry_number(const json_t *retry, const char *key, json_int_t dflt)
{
    const json_t *v = value_get(retry, key);
    json_int_t n = v == NULL ? dflt : json_is_integer(v) ? json_integer_value(v) : -1;

    if (n >= 0 && n <= RETRY_MAX)
        return n;
    log_warning("An invalid value was passed for the retry %s, using default value '%lld'", key,
                (long long) dflt);
    return dflt;
}

/* Retry until the result matches or the attempts are used up; the waits count into the duration, as in
 * Salt. */
static json_t *
call_again(state_caller_t *self, json_t *low, json_t *first, const retry_t *retry)
{
    json_t *last = json_incref(first);
    buf_auto_t comments = BUF_INIT;
    double ms = 0;

    for (json_int_t n = 1; n < retry->attempts; n++) {
        /* A result of None (a test run) matches neither way. */
        const json_t *result = value_get(last, "result");
        if (retry->until ? json_is_true(result) : json_is_false(result))
            break;
        json_int_t interval = retry->interval;
        if (retry->splay > 0)
            interval += (json_int_t) arc4random_uniform((uint32_t) retry->splay + 1);
        log_info("State result does not match retry until value, state will be re-run in %lld seconds",
                 (long long) interval);

        /* Wait through the run where there is one, so that workers' returns are collected meanwhile. */
        if (self->wait != NULL)
            self->wait(self->wait_cookie, interval * 1000);
        else
            clock_pause((double) interval);

        buf_printf(&comments,
                   "Attempt %lld: Returned a result of \"%s\", with the following comment: \"%s\"\n",
                   (long long) n,
                   json_is_true(result)    ? "True"
                   : json_is_false(result) ? "False"
                                           : "None",
                   value_str(last, "comment", ""));
        ms += value_num(last, "duration", 0) + (double) interval * 1000;
        json_decref(last);
        last = call_once(self, low, false);
    }

    /* The last return with the comments and durations of all attempts and the first start time. */
    buf_puts(&comments, value_str(last, "comment", ""));
    json_object_set_new(last, "comment", value_utf8(buf_str(&comments), comments.len));
    json_object_set_new(last, "duration", json_real(value_num(last, "duration", 0) + ms));
    json_object_set(last, "start_time", value_get(first, "start_time"));
    json_decref(first);
    return last;
}

json_t *
state_call(state_caller_t *self, json_t *low, bool prereq)
{
    json_t *ret = call_once(self, low, prereq);

    if (prereq || value_get(low, "retry") == NULL || value_get(ret, "duration") == NULL)
        return ret;

    /* Salt's defaults; a value out of range is logged and replaced by its default. Times in seconds. */
    const json_t *given = value_get(low, "retry"), *until = value_get(given, "until");
    if (!json_is_object(given))
        log_warning("State is set to retry, but a valid dict for retry configuration was not found.  Using "
                    "retry defaults");
    retry_t retry = (retry_t){ .until = until == NULL || !json_is_false(until),
                               .attempts = retry_number(given, "attempts", 2),
                               .interval = retry_number(given, "interval", 30),
                               .splay = retry_number(given, "splay", 0) };

    if (!ctx_test(self->ctx))
        return call_again(self, low, ret, &retry);

    /* In test mode the state is not repeated; its comment says how it would be. */
    AUTO_FREE char *text = xasprintf(
        "%s  The state would be retried every %lld seconds (with a splay of up to %lld seconds) a maximum of "
        "%lld times or until a result of %s is returned",
        value_str(ret, "comment", ""), (long long) retry.interval, (long long) retry.splay,
        (long long) retry.attempts, retry.until ? "True" : "False");
    json_object_set_new(ret, "comment", json_string(text));
    return ret;
}

/* Salt's rule for watch: call the function; only if that changed nothing, call mod_watch as well. */
json_t *
state_call_watched(state_caller_t *self, json_t *low, json_t *reqs)
{
    json_t *ret = state_call(self, low, false);

    if (value_truthy(value_get(ret, "changes")) || value_bool(ret, "skip_watch", false))
        return ret;
    json_auto_t *again = json_copy(low);
    json_object_set(again, "sfun", value_get(low, "fun"));
    json_object_set_new(again, "fun", json_string("mod_watch"));
    json_object_set(again, "__reqs__", reqs);
    json_decref(ret);
    return state_call(self, again, false);
}
