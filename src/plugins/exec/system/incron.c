/* incron.c - execution module `incron`: tables of incron (incrontab(5)): a user's by incrontab(1), and for
 * the user "system" the file /etc/incron.d/salt. An entry is PATH MASK COMMAND; it is known by path and
 * command, and its mask may change. */
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/call/tool.h"
#include "plugins/lib/file/field.h"
#include "plugins/lib/file/fileops.h"
#include "plugins/lib/system/incrontab.h"

#define SYSTEM_FOLDER "/etc/incron.d"
#define SYSTEM_TAB    SYSTEM_FOLDER "/salt"

/* Seconds that incrontab may take; users may come from a directory that is slow. */
enum { INCRON_TIMEOUT_S = 300 };

/* ---- reading and writing ------------------------------------------------------------------------ */

/* Runs incrontab as the user: {retcode, stdout, stderr}. `more` may be NULL. NEW, or NULL with *err. */
static json_t *
run_incrontab(call_ctx_t *ctx, const char *user, const char *word, const char *more, fail_t *err)
{
    json_auto_t *line = json_pack("[s, s, s*]", "incrontab", word, more);

    if (prog_check_operand("user", user, err) < 0)
        return NULL;
    return tool_words(ctx, line, NULL, user, more != NULL ? TOOL_RAW : 0, INCRON_TIMEOUT_S, err);
}

/* The user's table as text, "" for a user without one. NEW, or NULL with *err. */
static char *
incron_text(call_ctx_t *ctx, const char *user, fail_t *err)
{
    buf_auto_t text = BUF_INIT;

    if (strcmp(user, "system") == 0)
        return fs_read_any(SYSTEM_TAB, LIMIT_HOST_FILE, &text, err) < 0 ? NULL : xstrdup(buf_str(&text));
    json_auto_t *ran = run_incrontab(ctx, user, "-l", user, err);
    return ran != NULL ? xstrdup(value_str(ran, "stdout", "")) : NULL;
}

/* Hands the table to incrontab by a file, which it reads as the user, who therefore owns it. {retcode,
 * stderr}: NEW, or NULL with *err. The file is removed in any case. */
static json_t *
incron_install(call_ctx_t *ctx, const char *user, const char *text, fail_t *err)
{
    AUTO_FREE char *path = xasprintf("%s/incrontab-XXXXXX", fs_temp_dir());
    int fd = mkstemp(path);

    if (fd < 0)
        return fs_fail(err, -errno, "make a file beside", path), NULL;
    int rc = fs_write_all(fd, text, strlen(text));
    json_auto_t *who = json_string(user), *ran = NULL;
    uid_t uid;
    if (rc == 0 && fop_uid_of(who, &uid) && fchown(fd, uid, (gid_t) -1) < 0)
        rc = -errno;
    close(fd);
    if (rc < 0)
        (void) fs_fail(err, rc, "write", path);
    else
        ran = run_incrontab(ctx, user, path, NULL, err);
    unlink(path);
    return ran != NULL ? json_incref(ran) : NULL;
}

/* Writes the table, the system's over its file whole or not at all. 0 with *ret_value NEW: `done`, or what
 * incrontab says against it; negative with *err. */
static int
incron_store(call_ctx_t *ctx, const char *user, const json_t *tab, const char *done, json_t **ret_value,
             fail_t *err)
{
    AUTO_FREE char *text = incrontab_text(tab);

    if (strcmp(user, "system") == 0) {
        int there = fs_look_dir(SYSTEM_FOLDER, err);
        if (there == 0)
            return fail_set(err, -ENOENT, "salt cannot be written. " SYSTEM_FOLDER "/ does not exist");
        if (there < 0 || fs_rewrite(SYSTEM_TAB, text, strlen(text), 0644, err) < 0)
            return err->code;
        *ret_value = json_string(done);
        return 0;
    }
    json_auto_t *ran = incron_install(ctx, user, text, err);
    if (ran == NULL)
        return err->code;
    *ret_value = value_int(ran, "retcode", 1) == 0 ? json_string(done)
                                                   : json_incref(value_get(ran, "stderr"));
    return 0;
}

/* ---- functions ---------------------------------------------------------------------------------- */

static int
incron_raw_incron(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *text = incron_text(ctx, value_str(args, "user", "system"), err);

    if (text == NULL)
        return err->code;
    *ret_value = value_utf8(text, strlen(text));
    return 0;
}

static int
incron_list_tab(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *text = incron_text(ctx, value_str(args, "user", ""), err);

    if (text == NULL)
        return err->code;
    *ret_value = incrontab_parse(text);
    return 0;
}

/* Installs a file as the table; the row says whether the answer is cmd.run_all's or True and False. */
static int
incron_write_file(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *path = value_str(args, "path", "");

    if (prog_check_operand("path", path, err) < 0)
        return err->code;
    json_auto_t *ran = run_incrontab(ctx, value_str(args, "user", ""), path, NULL, err);
    if (ran == NULL)
        return err->code;
    *ret_value = ctx_row(ctx)->data.number != 0 ? json_incref(ran)
                                                : json_boolean(value_int(ran, "retcode", 1) == 0);
    return 0;
}

/* set_job, and with the row's number rm_job, by which an entry goes that agrees in all three fields. "new",
 * "updated", "present", "removed", "absent", or what is wrong with the mask. */
static int
incron_job(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    bool sets = ctx_row(ctx)->data.number == 0;
    const char *user = value_str(args, "user", ""), *path = value_str(args, "path", "");
    AUTO_FREE char *given = value_pystr(value_get(args, "mask")), *mask = incrontab_mask(given);
    AUTO_FREE char *text = NULL, *cmd = value_pystr(value_get(args, "cmd")), *bad = incrontab_bad_event(mask);
    json_t *one;
    size_t n_gone = 0;

    if (bad != NULL) {
        *ret_value = value_fmt("Invalid mask type: %s", bad);
        return 0;
    }
    if (field_check_text("path", path, FIELD_WORD, err) < 0 ||
        field_check_text("cmd", cmd, FIELD_LINE, err) < 0 || (text = incron_text(ctx, user, err)) == NULL)
        return err->code;
    json_auto_t *tab = incrontab_parse(text);
    json_t *crons = value_get(tab, "crons");
    if (sets && incrontab_look(tab, path, mask, cmd) == INCRONTAB_PRESENT) {
        *ret_value = json_string("present");
        return 0;
    }
    /* set_job takes out every entry that it replaces, rm_job the first that fits. */
    for (size_t i = 0; i < json_array_size(crons) && (sets || n_gone == 0);) {
        one = json_array_get(crons, i);
        bool same = strcmp(value_str(one, "path", ""), path) == 0 &&
                    strcmp(value_str(one, "cmd", ""), cmd) == 0;
        const char *have = value_str(one, "mask", "");
        bool goes = same &&
                    (sets ? incrontab_compare(mask, have) != INCRONTAB_ABSENT : strcmp(mask, have) == 0);
        n_gone += goes;
        if (goes)
            json_array_remove(crons, i);
        else
            i++;
    }
    if (!sets && n_gone == 0) {
        *ret_value = json_string("absent");
        return 0;
    }
    if (sets)
        json_array_append_new(crons, json_pack("{s:s, s:s, s:s}", "path", path, "mask", mask, "cmd", cmd));
    return incron_store(ctx, user, tab, !sets ? "removed" : n_gone > 0 ? "updated" : "new", ret_value, err);
}

static const char *
exec_incron_unavailable(call_ctx_t *ctx)
{
    AUTO_FREE char *path = fs_which("incrontab");

    return path != NULL || !fs_absent(SYSTEM_FOLDER) ? NULL
                                                     : "incron is not installed: there is no incrontab";
}

/* ---- table -------------------------------------------------------------------------------------- */

#define USER_ROW ARG("user", ARG_STR, ARG_REQUIRED, "Whose table; system: /etc/incron.d/salt")
static const arg_t user_args[] = { USER_ROW, ARGS_END };
static const arg_t file_args[] = { USER_ROW, ARG("path", ARG_STR, ARG_REQUIRED, "The file"), ARGS_END };
static const arg_t job_args[] = { USER_ROW, ARG("path", ARG_STR, ARG_REQUIRED, "What is watched"),
                                  ARG("mask", ARG_ANY, ARG_REQUIRED,
                                      "Events, with commas: IN_MODIFY,IN_DELETE"),
                                  ARG("cmd", ARG_ANY, ARG_REQUIRED, "The command"), ARGS_END };

#define LIST_DOC "Return a user's table." CLI_EXAMPLE("salt '*' incron.list_tab root")
#define RM_DOC                                                                                               \
    "Remove an entry that has this path, events and command. Says removed or absent." CLI_EXAMPLE(           \
        "salt '*' incron.rm_job root /root IN_MODIFY 'echo $@'")

static const func_t funcs[] = {
    { "list_tab", incron_list_tab, user_args, FN_READONLY, LIST_DOC },
    { "ls", incron_list_tab, user_args, FN_READONLY, LIST_DOC },
    { "raw_incron", incron_raw_incron, user_args, FN_READONLY,
      "Return a user's table as its text." CLI_EXAMPLE("salt '*' incron.raw_incron root") },
    { "raw_system_incron", incron_raw_incron, NULL, FN_READONLY,
      "Return the text of /etc/incron.d/salt." CLI_EXAMPLE("salt '*' incron.raw_system_incron") },
    { "rm", incron_job, job_args, 0, RM_DOC, .data.number = 1 },
    { "rm_job", incron_job, job_args, 0, RM_DOC, .data.number = 1 },
    { "set_job", incron_job, job_args, 0,
      "Add an entry, in the place of those with this path and command that have some of its events. Says new, "
      "updated or present." CLI_EXAMPLE("salt '*' incron.set_job root /root IN_MODIFY 'echo $@'") },
    { "write_incron_file", incron_write_file, file_args, 0,
      "Replace a user's table by a file." CLI_EXAMPLE("salt '*' incron.write_incron_file root /tmp/new") },
    { "write_incron_file_verbose", incron_write_file, file_args, 0,
      "Replace a user's table by a file; return what incrontab says." CLI_EXAMPLE(
          "salt '*' incron.write_incron_file_verbose root /tmp/new"),
      .data.number = 1 },
};

PLUGIN(exec, incron, .doc = "Tables of incron", FUNCS(funcs), .unavailable = exec_incron_unavailable);
