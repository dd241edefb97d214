/* tuned.c - execution module `tuned`: profiles of the machine's settings, by tuned-adm(8). The daemon has
 * to run for most verbs; tuned-adm says so in its text, which goes to the log. */
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/host/rootfs.h"
#include "plugins/lib/call/tool.h"
#include "salt/plugin.h"

/* Runs tuned-adm with a verb. NEW {retcode, stdout, stderr}, or NULL with *err. */
static json_t *
tuned_ran(call_ctx_t *ctx, const char *verb, unsigned flags, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;
    int rc = tool_begin(&prog, "tuned-adm", err);

    prog_add(&prog, verb);
    prog.timeout_ms = LIMIT_TOOL_MS;
    return rc == 0 ? tool_run(ctx, &prog, flags, err) : NULL;
}

/* Names of the lines "- balanced      - General non-specialized tuned profile" between the heading and the
 * line of the active one; a name may have hyphens, so the separator is "- ". */
static int
tuned_list(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *ran = tuned_ran(ctx, "list", TOOL_MERGE, err);

    if (ran == NULL)
        return err->code;
    AUTO_FREE char *text = xstrdup(value_str(ran, "stdout", ""));
    *ret_value = json_array();
    for (char *at = text, *line; (line = line_next(&at)) != NULL;) {
        if (strcmp(line, "** COLLECTED WARNINGS **") == 0)
            break;
        char *name = str_starts(line, "- ") ? line + 2 : str_starts(line, " - ") ? line + 3 : NULL;
        if (name == NULL)
            continue;
        char *more = strstr(name, "- ");
        if (more != NULL)
            *more = '\0';
        json_array_append_new(*ret_value, json_string(str_trim(name)));
    }
    return 0;
}

/* The active profile; "none" where tuned-adm ends with an exit code for that. */
static int
tuned_active(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const char head[] = "Current active profile: ";
    json_auto_t *ran = tuned_ran(ctx, "active", TOOL_QUIET, err);

    if (ran == NULL)
        return err->code;
    AUTO_FREE char *line = xstrdup(value_str(ran, "stdout", ""));
    line[strcspn(line, "\n")] = '\0';
    if (value_int(ran, "retcode", 1) != 0)
        *ret_value = json_string("none");
    else if (str_starts(line, head))
        *ret_value = json_string(line + strlen(head));
    else
        return fail_kind(err, FAIL_COMMAND, -EBADMSG, "tuned-adm names no active profile: '%s'", line);
    return 0;
}

static int
tuned_off(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *ran = tuned_ran(ctx, "off", 0, err);

    *ret_value = ran != NULL ? json_boolean(value_int(ran, "retcode", 1) == 0) : NULL;
    return ran != NULL ? 0 : err->code;
}

/* The profile's name when it could be made the active one, else False. */
static int
tuned_profile(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = value_str(args, "profile_name", "");
    prog_auto_t prog = PROG_INIT;
    int code = -1, rc = tool_begin(&prog, "tuned-adm", err);

    prog_add(&prog, "profile");
    prog.timeout_ms = LIMIT_TOOL_MS;
    rc = rc == 0 ? prog_operand(&prog, "profile_name", name, err) : rc;
    rc = rc == 0 ? tool_retcode(ctx, &prog, 0, &code, err) : rc;
    *ret_value = rc < 0 ? NULL : code == 0 ? json_string(name) : json_false();
    return rc;
}

static const char *
exec_tuned_unavailable(call_ctx_t *ctx)
{
    AUTO_FREE char *path = fs_which("tuned-adm");

    return path != NULL
               ? NULL
               : "The tuned execution module failed to load: the tuned-adm binary is not in the path.";
}

static const arg_t profile_args[] = { ARG("profile_name", ARG_STR, ARG_REQUIRED, "The profile"), ARGS_END };

static const func_t funcs[] = {
    { "active", tuned_active, NULL, FN_READONLY,
      "Return the active profile." CLI_EXAMPLE("salt '*' tuned.active") },
    { "list", tuned_list, NULL, FN_READONLY,
      "Return the profiles that there are." CLI_EXAMPLE("salt '*' tuned.list") },
    { "off", tuned_off, NULL, 0, "Turn all profiles off." CLI_EXAMPLE("salt '*' tuned.off") },
    { "profile", tuned_profile, profile_args, 0,
      "Make a profile the active one." CLI_EXAMPLE("salt '*' tuned.profile virtual-guest") },
};

PLUGIN(exec, tuned, .doc = "Profiles of tuned", .unavailable = exec_tuned_unavailable, FUNCS(funcs));
