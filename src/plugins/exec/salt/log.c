/* log.c - execution module `log`: writes lines to the minion's log, for templates. Returns True. */
#include "common/py/py_ops.h"
#include "salt/log.h"
#include "salt/plugin.h"

/* The text of any value. BORROWED True, or NULL raised. The line bears this module's name, and the level
 * decides whether it is written at all. */
static py_t *
log_line(log_level_t level, py_t *args)
{
    AUTO(py) text = py_tostr(py_dict_gets(args, "message"));

    if (text == NULL)
        return NULL;
    log_at(level, "%s", py_cstr(text));
    return PY_True;
}

#define LEVEL_FUNCTION(name, level)                                                                          \
    static py_t *log_##name##_(call_ctx_t *ctx, py_t *args, fail_t *err)                                     \
    {                                                                                                        \
        return log_line(level, args);                                                                        \
    }
LEVEL_FUNCTION(debug, LEVEL_DEBUG)
LEVEL_FUNCTION(info, LEVEL_INFO)
LEVEL_FUNCTION(warning, LEVEL_WARNING)
LEVEL_FUNCTION(error, LEVEL_ERROR)
LEVEL_FUNCTION(critical, LEVEL_CRITICAL)

static const arg_t message_args[] = { ARG("message", ARG_ANY, ARG_REQUIRED, "What to log"), ARGS_END };

#define LEVEL_ROW(name, fn, what)                                                                            \
    ROW(name, NATIVE(fn), message_args, FN_READONLY | FN_NATIVE,                                             \
        "Log a message " what "." CLI_EXAMPLE("salt '*' log." name " 'a message'"), UNDEFINED("true"))
static const func_t funcs[] = {
    LEVEL_ROW("critical", log_critical_, "at level critical"),
    LEVEL_ROW("debug", log_debug_, "at level debug"),
    LEVEL_ROW("error", log_error_, "at level error"),
    LEVEL_ROW("exception", log_error_, "of an exception, at level error"),
    LEVEL_ROW("info", log_info_, "at level info"),
    LEVEL_ROW("warning", log_warning_, "at level warning"),
};

PLUGIN(exec, log, .doc = "Lines in the minion's log", FUNCS(funcs));
