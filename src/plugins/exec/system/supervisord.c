/* supervisord.c - execution module `supervisord`: processes that supervisord keeps, by supervisorctl, which
 * is found on PATH or in a virtual environment when it is called. Most functions return the text that it
 * prints, which the state reads for "ERROR"; a failed run without that word gets it. */
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/host/rootfs.h"
#include "common/py/py_json.h"
#include "plugins/lib/call/ini_read.h"
#include "plugins/lib/call/tool.h"
#include "salt/plugin.h"

/* A command with a long start (startsecs) answers when that is over. */
#define CTL_MS (10 * 60 * 1000)

/* How a command's name of a process is written: "web:*" is a group. */
typedef enum ctl_name { CTL_PROCESS, CTL_GROUP, CTL_NONE } ctl_name_t;
/* A command of supervisorctl, to which a function's row points. */
typedef struct ctl_command {
    const char *word;
    ctl_name_t name;
} ctl_command_t;
static const ctl_command_t ctl_start = { "start", CTL_PROCESS };
static const ctl_command_t ctl_stop = { "stop", CTL_PROCESS };
static const ctl_command_t ctl_restart = { "restart", CTL_PROCESS };
static const ctl_command_t ctl_add = { "add", CTL_GROUP };
static const ctl_command_t ctl_remove = { "remove", CTL_GROUP };
static const ctl_command_t ctl_update = { "update", CTL_GROUP };
static const ctl_command_t ctl_reread = { "reread", CTL_NONE };

/* The path of supervisorctl: on PATH, in the folder of an environment (bin_env), or bin_env itself, which
 * is then the program. NEW, or NULL with *err. */
static char *
ctl_path(const json_t *args, fail_t *err)
{
    const char *env = value_str(args, "bin_env", "");
    AUTO_FREE char *inside = xasprintf("%s/bin/supervisorctl", env);
    int dir = *env != '\0' ? fs_look_dir(env, err) : 0;
    int file = dir > 0 ? fs_look_file(inside, err) : dir;
    char *found = *env == '\0' ? fs_which("supervisorctl") : dir == 0 ? xstrdup(env) : STEAL(inside);

    if (dir >= 0 && file >= 0 && found != NULL && (dir == 0 || file > 0))
        return found;
    free(found);
    if (dir >= 0 && file >= 0)
        (void) fail_kind(err, FAIL_COMMAND, -ENOENT, "Could not find a `supervisorctl` binary");
    return NULL;
}

/* supervisorctl [-c FILE] COMMAND [NAME]: what it prints, marked when it failed. NEW, or NULL with *err. */
static char *
ctl_run(call_ctx_t *ctx, const json_t *args, const char *command, const char *name, fail_t *err)
{
    AUTO_FREE char *path = ctl_path(args, err);
    prog_auto_t prog = PROG_INIT;

    if (path == NULL || tool_begin(&prog, path, err) < 0)
        return NULL;
    if (value_truthy(value_get(args, "conf_file")))
        prog_add_option(&prog, "-c", value_get(args, "conf_file"));
    if (prog_operand(&prog, "command", command, err) < 0 ||
        (*name != '\0' && prog_operand(&prog, "name", name, err) < 0))
        return NULL;
    prog.run_as = value_str(args, "user", NULL);
    prog.timeout_ms = CTL_MS;
    /* supervisorctl's status ends with 3 when a process does not run, and its lines are the answer all the
     * same. */
    bool asks = strncmp(command, "status", strlen("status")) == 0;
    json_auto_t *ran = tool_run(ctx, &prog, asks ? TOOL_QUIET : 0, err);
    if (ran == NULL)
        return NULL;
    const char *said = value_str(ran, "stdout", "");
    bool marked = asks || value_int(ran, "retcode", 0) == 0 || strstr(said, "ERROR") != NULL;
    return marked ? xstrdup(said) : xasprintf("ERROR: %s", said);
}

/* The row's command, on the process or group of the call, or on all. */
static int
supervisord_command(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const ctl_command_t *command = ctx_row(ctx)->data.ptr;
    AUTO_FREE char *name = xstrdup(command->name != CTL_NONE ? value_str(args, "name", "") : "");
    size_t n = strlen(name);

    /* "web:*" is what users write for a group; start takes "web:", add takes "web". */
    if (str_ends(name, ":*"))
        name[n - (command->name == CTL_GROUP ? 2 : 1)] = '\0';
    else if (command->name == CTL_GROUP && str_ends(name, ":"))
        name[n - 1] = '\0';
    AUTO_FREE char *said = ctl_run(ctx, args, command->word, name, err);
    *ret_value = said != NULL ? json_string(said) : NULL;
    return said != NULL ? 0 : err->code;
}

/* Any command of supervisorctl, a text. */
static int
supervisord_custom(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *said = ctl_run(ctx, args, value_str(args, "command", ""), "", err);

    *ret_value = said != NULL ? json_string(said) : NULL;
    return said != NULL ? 0 : err->code;
}

static int
supervisord_status_raw(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *said = ctl_run(ctx, args, "status", value_str(args, "name", ""), err);

    *ret_value = said != NULL ? json_string(said) : NULL;
    return said != NULL ? 0 : err->code;
}

/* {process: {"state", "reason"}} of "web RUNNING pid 7, uptime 0:01:02". `text` is cut. NEW. */
static json_t *
processes_of(char *text)
{
    json_t *all = json_object();

    for (char *at = text, *line; (line = line_next(&at)) != NULL;) {
        char *state = line + strcspn(line, " \t"), *reason;
        if (*state != '\0')
            *state++ = '\0';
        state += strspn(state, " \t");
        reason = state + strcspn(state, " \t");
        if (*reason != '\0')
            *reason++ = '\0';
        if (*line != '\0')
            json_object_set_new(all, line,
                                json_pack("{s:s, s:s}", "state", state, "reason", str_trim(reason)));
    }
    return all;
}

/* {process: {state, reason}}; `reason` is the pid and uptime of one that runs. */
static int
supervisord_status(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *said = ctl_run(ctx, args, "status", value_str(args, "name", ""), err);

    *ret_value = said != NULL ? processes_of(said) : NULL;
    return said != NULL ? 0 : err->code;
}

/* Whether the process is there, and in that state when one is given. */
static int
supervisord_status_bool(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = value_str(args, "name", ""), *expected = value_str(args, "expected_state", NULL);
    AUTO_FREE char *command = xasprintf("status %s", name), *said = ctl_run(ctx, args, command, "", err);

    if (said == NULL)
        return err->code;
    json_auto_t *all = processes_of(said);
    json_t *one = value_get(all, name);
    /* supervisorctl lists an unknown name too, with an error where others have the pid. */
    bool there = one != NULL && strcmp(value_str(one, "reason", ""), "(no such process)") != 0;
    *ret_value = json_boolean(there && (expected == NULL || str_eq(value_str(one, "state", ""), expected)));
    return 0;
}

/* ---- the configuration -------------------------------------------------------------------------- */

/* The file that the call names, or the first of the usual ones. BORROWED; NULL with *err. */
static const char *
config_path(const json_t *args, fail_t *err)
{
    static const char *const usual[] = { "/etc/supervisor/supervisord.conf", "/etc/supervisord.conf" };
    const char *given = value_str(args, "conf_file", "");
    int there = 0;

    if (*given != '\0')
        return given;
    for (size_t i = 0; i < NELEMS(usual) && there == 0; i++) {
        there = fs_look(usual[i], err);
        if (there > 0)
            return usual[i];
    }
    if (there == 0)
        (void) fail_kind(err, FAIL_COMMAND, -ENOENT, "No suitable config file found");
    return NULL;
}

/* A value without its comment (behind ";"): a number, True or False where it is one. NEW. */
static json_t *
option_value(const char *text)
{
    AUTO_FREE char *copy = xstrndup(text, strcspn(text, ";"));
    const char *bare = str_trim(copy);
    char *end = NULL;
    long long number;

    if (str_to_int(bare, INT64_MIN, INT64_MAX, &number))
        return json_integer(number);
    double real = strtod(bare, &end);
    if (*bare != '\0' && *end == '\0' && strspn(bare, "0123456789.eE+-") == strlen(bare))
        return json_real(real);
    if (strcasecmp(bare, "true") == 0 || strcasecmp(bare, "false") == 0)
        return json_boolean(strcasecmp(bare, "true") == 0);
    return json_string(bare);
}

/* The section [program:NAME] of the configuration. Files that it includes are not read, as in Salt. */
static int
supervisord_options(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *path = config_path(args, err), *name = value_str(args, "name", ""), *key;
    AUTO_FREE char *section = xasprintf("program:%s", name);
    buf_auto_t text = BUF_INIT;
    json_t *value;

    if (path == NULL || fs_read_any(path, LIMIT_FILE_READ, &text, err) < 0)
        return err->code;
    AUTO(py) ini = ini_read(buf_str(&text), text.len, py_odict());
    json_auto_t *all = ini != NULL ? py_to_json(ini) : NULL;
    if (all == NULL)
        return fail_kind(err, FAIL_COMMAND, -EINVAL, "%s: %s", path, py_raised_text());
    if (value_get(all, section) == NULL)
        return fail_kind(err, FAIL_COMMAND, -ENOENT, "Process '%s' not found", name);
    *ret_value = json_object();
    json_object_foreach (value_get(all, section), key, value)
        json_object_set_new(*ret_value, key, option_value(json_string_value(value)));
    return 0;
}

/* ---- table ------------------------------------------------------------------------------------ */

#define NAME_ROW(value) ARG("name", ARG_STR, value, "The process; GROUP: or GROUP:* is a group")
#define REST_ROWS                                                                                            \
    ARG("user", ARG_STR, "null", "User to run supervisorctl as"),                                            \
        ARG("conf_file", ARG_STR, "null", "supervisord's configuration"),                                    \
        ARG("bin_env", ARG_STR, "null", "Path of supervisorctl, or of its virtual environment")

static const arg_t all_args[] = { NAME_ROW("\"all\""), REST_ROWS, ARGS_END };
static const arg_t one_args[] = { NAME_ROW(ARG_REQUIRED), REST_ROWS, ARGS_END };
static const arg_t none_args[] = { REST_ROWS, ARGS_END };
static const arg_t update_args[] = { REST_ROWS, NAME_ROW("null"), ARGS_END };
static const arg_t status_args[] = { NAME_ROW("null"), REST_ROWS, ARGS_END };
static const arg_t custom_args[] = { ARG("command", ARG_STR, ARG_REQUIRED, "A command of supervisorctl"),
                                     REST_ROWS, ARGS_END };
static const arg_t options_args[] = { NAME_ROW(ARG_REQUIRED),
                                      ARG("conf_file", ARG_STR, "null", "supervisord's configuration"),
                                      ARGS_END };
static const arg_t bool_args[] = { NAME_ROW(ARG_REQUIRED),
                                   ARG("expected_state", ARG_STR, "null", "RUNNING, STOPPED, ...; None: any"),
                                   REST_ROWS, ARGS_END };

static const func_t funcs[] = {
    { "add", supervisord_command, one_args, 0,
      "Have supervisord take up a process of its configuration." CLI_EXAMPLE("salt '*' supervisord.add web"),
      .data.ptr = &ctl_add },
    { "custom", supervisord_custom, custom_args, 0,
      "Run any command of supervisorctl." CLI_EXAMPLE("salt '*' supervisord.custom \"mstop '*gunicorn*'\"") },
    { "options", supervisord_options, options_args, FN_READONLY,
      "Return the settings of a process." CLI_EXAMPLE("salt '*' supervisord.options web") },
    { "remove", supervisord_command, one_args, 0,
      "Have supervisord forget a process." CLI_EXAMPLE("salt '*' supervisord.remove web"),
      .data.ptr = &ctl_remove },
    { "reread", supervisord_command, none_args, 0,
      "Have supervisord read its configuration, without a change." CLI_EXAMPLE("salt '*' supervisord.reread"),
      .data.ptr = &ctl_reread },
    { "restart", supervisord_command, all_args, 0,
      "Restart a process, or all." CLI_EXAMPLE("salt '*' supervisord.restart web"),
      .data.ptr = &ctl_restart },
    { "start", supervisord_command, all_args, 0,
      "Start a process, or all." CLI_EXAMPLE("salt '*' supervisord.start web"), .data.ptr = &ctl_start },
    { "status", supervisord_status, status_args, FN_READONLY,
      "Return the processes with their states." CLI_EXAMPLE("salt '*' supervisord.status") },
    { "status_bool", supervisord_status_bool, bool_args, FN_READONLY,
      "Return whether a process is in a state." CLI_EXAMPLE("salt '*' supervisord.status_bool web RUNNING") },
    { "status_raw", supervisord_status_raw, status_args, FN_READONLY,
      "Return what supervisorctl says of the processes." CLI_EXAMPLE("salt '*' supervisord.status_raw") },
    { "stop", supervisord_command, all_args, 0,
      "Stop a process, or all." CLI_EXAMPLE("salt '*' supervisord.stop web"), .data.ptr = &ctl_stop },
    { "update", supervisord_command, update_args, 0,
      "Have supervisord take up what has changed in its configuration." CLI_EXAMPLE(
          "salt '*' supervisord.update"),
      .data.ptr = &ctl_update },
};

PLUGIN(exec, supervisord, .doc = "Processes of supervisord", FUNCS(funcs));
