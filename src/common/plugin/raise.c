/* raise.c - see raise.h. */
#include "common/plugin/raise.h"

/* Exceptions that have a wording of their own. */
static const struct kind {
    const char *name;
    fail_kind_t kind;
} kinds[] = {
    { "CommandExecutionError", FAIL_COMMAND },
    { "CommandNotFoundError", FAIL_PROGRAM },
    { "SaltInvocationError", FAIL_INVOCATION },
    { "TypeError", FAIL_ARGUMENTS },
};

static int
error_error(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = value_str(args, "name", NULL);
    const char *message = value_str(args, "message", "");

    if (name == NULL) {
        *ret_value = json_object();
        return 0;
    }
    for (size_t i = 0; i < NELEMS(kinds); i++) {
        if (strcmp(kinds[i].name, name) == 0)
            return fail_kind(err, kinds[i].kind, -ECANCELED, "%s", message);
    }
    return fail_set(err, -ECANCELED, "%s: %s", name[0] != '\0' ? name : "Exception", message);
}

static const arg_t error_args[] = { ARG("name", ARG_STR, "null", "Name of an exception"),
                                    ARG("message", ARG_STR, "\"\"", "Its text"), ARGS_END };

const func_t raise_funcs[1] = {
    { "error", error_error, error_args, FN_READONLY | FN_ACCESS_READ,
      "Return an empty dictionary when no name is given, else fail as the exception of that name "
      "does." CLI_EXAMPLE("salt-run error.error\n    salt-run error.error name=\"Exception\" "
                          "message=\"This is an error.\"") },
};
