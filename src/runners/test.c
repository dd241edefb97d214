/* test.c - runner `test`: whether the master runs runners, and what they see of their arguments. */
#include <poll.h>

#include "common/base/str.h"
#include "runners/lib/ask.h"
#include "salt/plugin.h"

enum { STREAM_EVENTS = 100, STREAM_PAUSE_MS = 100, SLEEP_MAX_S = 2000000 };

static int
test_raw_arg(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = json_incref(args);
    return 0;
}

/* Salt's own keywords stay hidden. */
static int
runners_test_arg(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *kwargs = json_object(), *v;
    const char *key;

    json_object_foreach (value_get(args, "kwargs"), key, v) {
        if (!str_starts(key, "__"))
            json_object_set(kwargs, key, v);
    }
    *ret_value = json_pack("{s:O, s:o}", "args", value_get(args, "args"), "kwargs", kwargs);
    return 0;
}

static int
runners_test_get_opts(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = json_incref(ctx_opts(ctx));
    return 0;
}

static int
test_metasyntactic(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *words = json_pack("{s:[s,s,s,s,s,s,s,s,s,s,s,s,s,s], s:[s,s,s,s]}", "us", "foo", "bar",
                                   "baz", "qux", "quux", "quuz", "corge", "grault", "garply", "waldo", "fred",
                                   "plugh", "xyzzy", "thud", "uk", "wibble", "wobble", "wubble", "flob");
    json_t *found = value_get(words, value_str(args, "locality", ""));

    *ret_value = found != NULL ? json_incref(found) : json_null();
    return 0;
}

static int
runners_test_sleep(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    double s = value_num(args, "s_time", 0);

    if (s < 0 || s > SLEEP_MAX_S)
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "sleep length must be from 0 to %d seconds",
                         SLEEP_MAX_S);
    poll(NULL, 0, (int) (s * 1000));
    *ret_value = json_true();
    return 0;
}

static int
test_stdout_print(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = json_string("bar");
    return ask_progress(ctx, "foo", err);
}

static int
test_stream(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    for (int i = 1; i < STREAM_EVENTS; i++) {
        AUTO_FREE char *text = xasprintf("Runner is %d%% done", i);
        int rc = ask_progress(ctx, text, err);
        if (rc < 0)
            return rc;
        poll(NULL, 0, STREAM_PAUSE_MS);
    }
    *ret_value = json_true();
    return 0;
}

static const arg_t any_args[] = { ARG("args", ARG_LIST, ARG_STAR, "Positional arguments"),
                                  ARG("kwargs", ARG_DICT, ARG_STARSTAR, "Keyword arguments"), ARGS_END };
static const arg_t metasyntactic_args[] = { ARG("locality", ARG_STR, "\"us\"", "us or uk"), ARGS_END };
static const arg_t sleep_args[] = { ARG("s_time", ARG_FLOAT, "10", "Seconds"), ARGS_END };

static const func_t funcs[] = {
    { "arg", runners_test_arg, any_args, FN_READONLY | FN_ACCESS_READ,
      "Return the arguments as the runner got them, without Salt's own "
      "keywords." CLI_EXAMPLE("salt-run test.arg foo bar=baz") },
    { "get_opts", runners_test_get_opts, NULL, FN_READONLY | FN_ACCESS_ADMIN,
      "Return the configuration of the master." CLI_EXAMPLE("salt-run test.get_opts") },
    { "metasyntactic", test_metasyntactic, metasyntactic_args, FN_READONLY | FN_ACCESS_READ,
      "Return the names that programmers like to give to things." CLI_EXAMPLE(
          "salt-run test.metasyntactic locality=uk") },
    { "raw_arg", test_raw_arg, any_args, FN_READONLY | FN_RAW_KWARGS | FN_ACCESS_READ,
      "Return the arguments as the runner got them." CLI_EXAMPLE("salt-run test.arg foo __bar=baz") },
    { "sleep", runners_test_sleep, sleep_args, FN_READONLY | FN_ACCESS_READ,
      "Sleep for so many seconds, then return ``True``." CLI_EXAMPLE("salt-run test.sleep s_time=5") },
    { "stdout_print", test_stdout_print, NULL, FN_READONLY | FN_ACCESS_READ,
      "Print 'foo' (as a progress event) and return 'bar'." CLI_EXAMPLE("salt-run test.stdout_print") },
    { "stream", test_stream, NULL, FN_READONLY | FN_ACCESS_READ,
      "Fire a stream of progress events within ten seconds, then return "
      "``True``." CLI_EXAMPLE("salt-run test.stream") },
};

PLUGIN(runner, test, .doc = "Try out the master's runners", FUNCS(funcs));
