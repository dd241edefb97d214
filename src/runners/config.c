/* config.c - runner `config`: values of the master's configuration, by paths. */
#include "salt/plugin.h"

static int
runners_config_get(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *found = value_path(ctx_opts(ctx), value_str(args, "key", ""), value_str(args, "delimiter", ":"));

    *ret_value = json_incref(found != NULL ? found : value_get(args, "default"));
    return 0;
}

static const arg_t get_args[] = {
    ARG("key", ARG_STR, ARG_REQUIRED, "Option, with parts of its value behind it"),
    ARG("default", ARG_ANY, "\"\"", "What to return when there is no such option"),
    ARG("delimiter", ARG_STR, "\":\"", "What stands between the parts of the key"), ARGS_END
};

static const func_t funcs[] = {
    { "get", runners_config_get, get_args, FN_READONLY | FN_ACCESS_ADMIN,
      "Return an option of the master, or a part of its value.\n\ndefault\n    What to return when there is "
      "none.\n\ndelimiter\n    What stands between the parts of the "
      "key." CLI_EXAMPLE(
          "salt-run config.get gitfs_remotes\n    salt-run config.get file_roots:base\n    salt-run "
          "config.get file_roots,base delimiter=','") },
};

PLUGIN(runner, config, .doc = "The master's configuration", FUNCS(funcs));
