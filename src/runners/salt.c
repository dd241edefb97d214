/* salt.c - runner `salt`: run functions on minions from within a runner, a schedule or an orchestration. */
#include "common/base/str.h"
#include "runners/lib/ask.h"
#include "salt/plugin.h"

/* NEW list of arguments: `arg`, then the keywords as Salt sends them. */
static json_t *
arg_list(json_t *arg, json_t *kwarg)
{
    json_t *list = json_is_array(arg) ? json_copy(arg) : json_array();

    if (!json_is_array(arg) && !json_is_null(arg))
        json_array_append(list, arg);
    if (value_truthy(kwarg)) {
        json_t *marked = json_copy(kwarg);
        json_object_set_new(marked, "__kwarg__", json_true());
        json_array_append_new(list, marked);
    }
    return list;
}

static int
salt_execute(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *arg = arg_list(value_get(args, "arg"), value_get(args, "kwarg"));
    json_auto_t *minions = ask_execute(ctx, value_get(args, "tgt"), value_str(args, "tgt_type", "glob"),
                                       value_str(args, "fun", ""), arg, value_int(args, "timeout", 0), err);
    const char *id;
    json_t *entry;

    if (minions == NULL)
        return -EIO;
    *ret_value = json_object();
    json_object_foreach (minions, id, entry) {
        if (str_eq(value_str(entry, "verdict", NULL), "returned"))
            json_object_set(*ret_value, id, value_get(entry, "return"));
    }
    return 0;
}

static const arg_t execute_args[] = {
    { "tgt", ARG_ANY, ARG_REQUIRED, "Which minions" },
    { "fun", ARG_STR, ARG_REQUIRED, "Execution function" },
    { "arg", ARG_ANY, "[]", "Its positional arguments" },
    { "timeout", ARG_INT, "null", "Seconds without news after which to stop waiting" },
    { "tgt_type", ARG_STR, "\"glob\"", "How tgt is meant" },
    { "ret", ARG_STR, "\"\"", "Accepted for Salt's sake" },
    { "jid", ARG_STR, "\"\"", "Accepted for Salt's sake: the master picks the jid" },
    { "kwarg", ARG_DICT, "null", "Its keyword arguments" },
    { "kwargs", ARG_DICT, ARG_STARSTAR, "Accepted for Salt's sake" },
    ARGS_END
};

static const func_t funcs[] = {
    { "execute", salt_execute, execute_args, FN_ACCESS_ADMIN,
      "Run ``fun`` on all minions that ``tgt`` and ``tgt_type`` match, and return what they "
      "return." CLI_EXAMPLE(
          "salt-run salt.execute '*' test.ping\n    salt-run salt.execute web1 cmd.run arg='[\"ls\"]' "
          "kwarg='{\"cwd\": \"/\"}'") },
};

PLUGIN(runner, salt, .doc = "Run functions on minions", FUNCS(funcs));
