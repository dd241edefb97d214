/* minion.c - execution module `minion`: stops and restarts this minion; and lists the keys when the master
 * runs on the same host. This job is a child of the minion's server, so that it cannot end the minion by
 * itself: it asks, and the server ends after the job's return has been sent. */
#include "salt/plugin.h"

#include "common/base/fs.h"
#include "common/base/str.h"

enum { EX_SOFTWARE = 70 }; /* as sysexits.h has it */

/* ---- keys --------------------------------------------------------------------------------- */

/* Salt's order of keys. */
static int
minion_ignoring_case(const void *a, const void *b)
{
    const char *const *x = a, *const *y = b;

    return strcasecmp(*x, *y);
}

/* Adds the names of the files in a folder; an absent folder has none. Hidden files and folders are no
 * keys. */
static int
add_file_names(const char *dir, json_t *out, fail_t *err)
{
    char **names = NULL;
    int rc = fs_names(dir, &names, err);

    if (rc < 0)
        return rc;
    qsort(names, strv_len(names), sizeof(*names), minion_ignoring_case);
    for (char **name = names; rc == 0 && *name != NULL; name++) {
        AUTO_FREE char *path = fs_join(dir, *name);
        int file = **name != '.' ? fs_look_file(path, err) : 0;
        if (file > 0)
            json_array_append_new(out, value_utf8(*name, strlen(*name)));
        rc = file < 0 ? file : 0;
    }
    strv_free(names);
    return rc;
}

/* Names in the key folders of a master beside this minion's pki_dir, by folder. Salt guesses the master's
 * folder so from the minion's. */
static int
minion_list(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const char *const folders[] = { "minions", "minions_pre", "minions_rejected", "minions_denied" };
    AUTO_FREE char *pki = str_replace(value_str(ctx_opts(ctx), "pki_dir", ""), "minion", "master");
    json_auto_t *ret = json_object();
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < NELEMS(folders); i++) {
        AUTO_FREE char *dir = fs_join(pki, folders[i]);
        json_object_set_new(ret, folders[i], json_array());
        rc = add_file_names(dir, json_object_get(ret, folders[i]), err);
    }
    if (rc == 0)
        *ret_value = json_incref(ret);
    return rc;
}

/* ---- stop and restart --------------------------------------------------------------------- */

/* {"killed", "retcode", "comment"?}: the minion ends once this job's return is safe. NEW. Without a minion
 * that runs (salt-call) nothing was killed, and the retcode tells. */
static json_t *
ask_to_end(call_ctx_t *ctx, const char *op)
{
    fail_auto_t why = FAIL_INIT;
    json_auto_t *request = json_pack("{s:s}", "op", op);
    json_auto_t *answer = NULL;

    if (ctx_host(ctx, request, &answer, &why) < 0)
        return json_pack("{s:n, s:i, s:[s]}", "killed", "retcode", EX_SOFTWARE, "comment", fail_text(&why));
    return json_pack("{s:I, s:i}", "killed", value_int(answer, "pid", 0), "retcode", 0);
}

/* The service manager may start it again, as configured. */
static int
minion_kill(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = ask_to_end(ctx, "stop");
    return 0;
}

/* Run the configured command after the minion was asked to end. A command that failed leaves the minion to
 * end all the same; the retcode of the answer is the command's. */
static void
run_restart_command(call_ctx_t *ctx, json_t *command, json_t *ret, json_t *comment)
{
    fail_auto_t why = FAIL_INIT;
    json_auto_t *call = json_pack("[O]", command);
    json_auto_t *done = NULL;

    if (ctx_call(ctx, "cmd.run_all", call, NULL, &done, &why) < 0) {
        json_array_append_new(comment, value_fmt("Restart failed: %s", fail_text(&why)));
        json_object_set_new(ret, "retcode", json_integer(1));
        return;
    }
    json_int_t retcode = value_int(done, "retcode", 0);
    if (retcode != 0) {
        json_array_append_new(comment, json_string("Restart failed"));
        json_object_set_new(ret, "retcode", json_integer(retcode));
    }
    json_object_del(done, "pid");
    json_object_del(done, "retcode");
    json_object_set(ret, "restart", done);
}

/* With minion_restart_command, the minion is stopped and the command starts it; otherwise it starts itself
 * again. */
static int
minion_restart(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *command = value_get(ctx_opts(ctx), "minion_restart_command");
    bool own = json_is_array(command) && json_array_size(command) > 0;
    json_t *ret = ask_to_end(ctx, own ? "stop" : "restart");
    json_t *comment = json_array();

    if (own) {
        /* Adds Salt's text about the command line in use. */
        size_t i;
        json_t *word;
        json_array_append_new(comment, json_string("Using configuration minion_restart_command:"));
        json_array_foreach (command, i, word) {
            AUTO_FREE char *text = value_pystr(word);
            json_array_append_new(comment, value_fmt("    %s", text));
        }
    }
    json_array_extend(comment, value_get(ret, "comment"));
    json_object_set_new(ret, "restart", json_object());
    if (value_int(ret, "retcode", 0) != 0)
        json_array_append_new(comment, json_string("Kill failed - not restarting"));
    else if (own)
        run_restart_command(ctx, command, ret, comment);
    if (json_array_size(comment) > 0)
        json_object_set(ret, "comment", comment);
    json_decref(comment);
    *ret_value = ret;
    return 0;
}

/* ---- table -------------------------------------------------------------------------------- */

static const arg_t kill_args[] = {
    ARG("timeout", ARG_INT, "15", "Accepted for Salt's sake; the minion ends after this job"),
    ARGS_END,
};

static const func_t funcs[] = {
    { "kill", minion_kill, kill_args, 0,
      "Stop this minion. A service manager that restarts what ends starts it again.\n\n``killed`` is the "
      "process that ends, ``retcode`` 0 when it was told to." CLI_EXAMPLE("salt 'minion[12]' minion.kill") },
    { "list", minion_list, NULL, FN_READONLY,
      "Return the accepted, pending, rejected and denied keys, on the host of the master." CLI_EXAMPLE(
          "salt 'master' minion.list") },
    { "restart", minion_restart, NULL, 0,
      "Stop this minion and start it again: by the list of words in ``minion_restart_command``, else by "
      "itself." CLI_EXAMPLE("salt 'minion[12]' minion.restart") },
};

PLUGIN(exec, minion, .doc = "Stop and restart this minion", FUNCS(funcs));
