/* saltutil_master.c - more of execution module `saltutil`: calls of the master's runners, wheel functions and
 * jobs from a minion on the master's host. The job's own process asks, not the minion's server, because the
 * answer may take long. They work for minions that stand beside a master and may open its local socket (root,
 * or the master's user), as by Salt; the master sees the user, and its rules apply. */
#include "salt/plugin.h"

#include "common/base/str.h"
#include "plugins/lib/salt/masterline.h"
#include "plugins/lib/salt/saidwords.h"

/* Salt's list of arguments. NEW. Keywords of the call itself ("more") win over `kwarg`; what the publisher
 * adds stays out. */
static json_t *
argument_list(json_t *arg, json_t *kwarg, json_t *more)
{
    json_t *list = json_is_array(arg) ? json_copy(arg) : json_array();
    json_auto_t *last = json_pack("{s:b}", "__kwarg__", 1);
    const char *key;
    json_t *v;

    json_object_update(last, kwarg);
    json_object_foreach (more, key, v) {
        if (!str_starts(key, "__"))
            json_object_set(last, key, v);
    }
    if (json_object_size(last) > 1)
        json_array_append(list, last);
    return list;
}

/* TAKES *request_p. The answer has no deadline but the job's own. */
static int
saltutil_master_ask_master(call_ctx_t *ctx, json_t **request_p, json_t **ret_answer, fail_t *err)
{
    fail_auto_t why = FAIL_INIT;
    if (saidwords_check(ctx, value_get(*request_p, "arg"), err) < 0) {
        json_decref(STEAL(*request_p));
        return err->code;
    }
    /* In the master's own context: what a runner begins does not wait behind others. */
    json_object_set_new(*request_p, "within", json_string(ctx_jid(ctx)));
    int rc = masterline_ask(value_str(ctx_opts(ctx), "config_dir", "/etc/salt"), request_p, ret_answer, &why);

    if (rc < 0)
        return fail_kind(err, FAIL_COMMAND, rc,
                         "This command can only be executed on a minion that is located on the master: %s",
                         fail_text(&why));
    return 0;
}

/* Publishes a job and waits for all returns. Minions that do not return in time are not in the answer. */
static int
saltutil_cmd(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const char *const passed[] = { "tgt", "tgt_type", "fun", "ret", "timeout" };
    static const char *const extra[] = { "subset", "batch", "metadata", "delimiter" };
    json_t *kwargs = value_get(args, "kwargs"), *request = json_pack("{s:s}", "op", "publish");
    json_auto_t *answer = NULL;

    /* Said before anything is published. */
    if (value_bool(args, "ssh", false)) {
        json_decref(request);
        return fail_kind(err, FAIL_INVOCATION, -ENOTSUP, "there is no salt-ssh here; leave ssh out");
    }
    for (size_t i = 0; i < NELEMS(passed); i++)
        json_object_set(request, passed[i], value_get(args, passed[i]));
    for (size_t i = 0; i < NELEMS(extra); i++) {
        if (value_get(kwargs, extra[i]) != NULL)
            json_object_set(request, extra[i], value_get(kwargs, extra[i]));
    }
    json_object_set_new(request, "arg",
                        argument_list(value_get(args, "arg"), value_get(args, "kwarg"), NULL));
    json_object_set_new(request, "peer", json_true()); /* as for a runner */
    int rc = saltutil_master_ask_master(ctx, &request, &answer, err);
    if (rc == 0) {
        /* {id: {"ret", "retcode", "jid"}} as Salt's local client gives it. */
        json_t *ret = json_object(), *one;
        const char *id;
        json_object_foreach (value_get(answer, "returns"), id, one) {
            json_t *v = value_get(one, "return");
            json_object_set_new(ret, id,
                                json_pack("{s:o, s:I, s:s}", "ret", v != NULL ? json_incref(v) : json_null(),
                                          "retcode", value_int(one, "retcode", 0), "jid",
                                          value_str(answer, "jid", "")));
        }
        *ret_value = ret;
    }
    return rc;
}

/* Runs a runner in the master. Without full_return only its return. */
static int
saltutil_runner(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *arg = argument_list(value_get(args, "arg"), value_get(args, "kwarg"), value_get(args, "kwargs"));
    /* An orchestration's step may hand on what a minion said. */
    json_t *request = json_pack("{s:s, s:s, s:o, s:b}", "op", "runner", "fun", value_str(args, "name", ""),
                                "arg", arg, "peer", true);
    json_auto_t *answer = NULL;
    int rc = saltutil_master_ask_master(ctx, &request, &answer, err);

    if (rc < 0)
        return rc;
    json_t *v = value_bool(args, "full_return", false) ? answer : value_get(answer, "return");
    *ret_value = v != NULL ? json_incref(v) : json_null();
    return 0;
}

/* The answer is the function's return with its tag and jid, as by Salt. */
static int
saltutil_wheel(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *arg = argument_list(value_get(args, "args"), NULL, value_get(args, "kwargs"));
    json_t *request = json_pack("{s:s, s:s, s:o}", "op", "wheel", "fun", value_str(args, "name", ""), "arg",
                                arg);

    return saltutil_master_ask_master(ctx, &request, ret_value, err);
}

static const arg_t cmd_args[] = {
    ARG("tgt", ARG_ANY, ARG_REQUIRED, "Which minions"),
    ARG("fun", ARG_STR, ARG_REQUIRED, "Which function"),
    ARG("arg", ARG_LIST, "[]", "Its arguments"),
    ARG("timeout", ARG_ANY, "null", "Seconds without news until the wait ends"),
    ARG("tgt_type", ARG_STR, "\"glob\"", "glob, list, grain, compound and so on"),
    ARG("ret", ARG_STR, "\"\"", "Returners, files in Python on the minions, that get each return too"),
    ARG("kwarg", ARG_DICT, "null", "Its keyword arguments"),
    ARG("ssh", ARG_BOOL, "false", "Refused: there is no salt-ssh"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "subset, batch, metadata, delimiter"),
    ARGS_END,
};
static const arg_t runner_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "The runner's function"),
    ARG("arg", ARG_LIST, "null", "Its arguments"),
    ARG("kwarg", ARG_DICT, "null", "Its keyword arguments"),
    ARG("full_return", ARG_BOOL, "false", "Return the outcome with jid and retcode"),
    ARG("saltenv", ARG_STR, "\"base\"", "Accepted for Salt's sake"),
    ARG("jid", ARG_STR, "null", "Accepted for Salt's sake"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "More keyword arguments"),
    ARGS_END,
};
static const arg_t wheel_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "The wheel's function"),
    ARG("args", ARG_ANY, ARG_STAR, "Its arguments"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Its keyword arguments"),
    ARGS_END,
};

static const func_t funcs[] = {
    { "cmd", saltutil_cmd, cmd_args, FN_PEER | FN_CALLS | FN_REACHES,
      "Run a function on other minions. Only on a minion on the master's host." CLI_EXAMPLE(
          "salt '*' saltutil.cmd '*' test.ping") },
    { "cmd_iter", saltutil_cmd, cmd_args, FN_PEER | FN_CALLS | FN_REACHES,
      "The same as saltutil.cmd: the returns come together." CLI_EXAMPLE(
          "salt '*' saltutil.cmd_iter '*' test.ping") },
    { "runner", saltutil_runner, runner_args, FN_PEER,
      "Run a runner. Only on a minion on the master's host." CLI_EXAMPLE(
          "salt master_minion saltutil.runner jobs.list_jobs\n    "
          "salt master_minion saltutil.runner test.arg arg=\"['baz']\" kwarg=\"{'foo': 'bar'}\"") },
    { "wheel", saltutil_wheel, wheel_args, FN_PEER,
      "Run a wheel function. Only on a minion on the master's host." CLI_EXAMPLE(
          "salt master_minion saltutil.wheel key.accept jerry") },
};

PLUGIN(exec, saltutil_master, .provides = "saltutil", .doc = "Ask the master from a minion on its host",
       FUNCS(funcs));
