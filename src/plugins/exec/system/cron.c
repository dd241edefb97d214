/* cron.c - execution module `cron`: crontabs of this host's users (crontab(5)). A tab is read by `crontab
 * -l`, parsed into entries, variables and untouched lines (crontab.h), changed, and written by `crontab`.
 * An entry is known by its identifier, which is a comment before it, else by its command. */
#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/system/crontab.h"
#include "plugins/lib/call/tool.h"
#include "salt/plugin.h"

/* NEW tab of args' user to be changed and written, or NULL with *err. `look`: only if it is not empty. */
static json_t *
tab_of(const json_t *args, bool look, fail_t *err)
{
    AUTO_FREE char *text = crontab_read(value_str(args, "user", ""), look, err);

    return text != NULL ? crontab_parse(text) : NULL;
}

/* NEW text to return, or NULL with *err. */
static json_t *
exec_cron_shown(const json_t *args, fail_t *err)
{
    AUTO_FREE char *text = crontab_read(value_str(args, "user", ""), true, err);

    return text != NULL ? value_utf8(text, strlen(text)) : NULL;
}

/* NEW tab to return, or NULL with *err. */
static json_t *
shown_tab(const json_t *args, fail_t *err)
{
    json_auto_t *text = exec_cron_shown(args, err);

    return text != NULL ? crontab_parse(json_string_value(text)) : NULL;
}

/* Write it. 0 with *ret_value NEW: `done`, or what crontab says against it. */
static int
exec_cron_store(call_ctx_t *ctx, const json_t *args, const json_t *tab, const char *done, json_t **ret_value,
                fail_t *err)
{
    AUTO_FREE char *text = crontab_text(tab), *said = NULL;
    int rc = crontab_write(ctx, value_str(args, "user", ""), text, &said, err);

    if (rc < 0)
        return rc;
    *ret_value = json_string(rc == 0 ? done : said);
    return 0;
}

/* The tab as text, without the heading that some programs print above it. */
static int
cron_raw_cron(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = exec_cron_shown(args, err);
    return *ret_value != NULL ? 0 : err->code;
}

static int
cron_list_tab(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = shown_tab(args, err);
    return *ret_value != NULL ? 0 : err->code;
}

/* The entry with that identifier or that command, False when there is none. */
static int
cron_get_entry(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const char *const groups[] = { "crons", "special" };
    json_auto_t *tab = shown_tab(args, err);
    bool by_id = value_truthy(value_get(args, "identifier"));
    json_t *wish = value_get(args, by_id ? "identifier" : "cmd"), *entry;
    size_t k;

    if (tab == NULL)
        return err->code;
    *ret_value = json_false();
    for (size_t i = 0; i < NELEMS(groups); i++) {
        json_array_foreach (value_get(tab, groups[i]), k, entry) {
            if (value_truthy(wish) && value_equal(value_get(entry, by_id ? "identifier" : "cmd"), wish)) {
                *ret_value = json_incref(entry);
                return 0;
            }
        }
    }
    return 0;
}

/* ---- set ------------------------------------------------------------------------------------- */

/* The fields by which an entry of "@daily" and the like differs from one with times. */
static const char *const special_fields[] = { "spec", NULL };

/* The list of the tab that has the entry, BORROWED, and the entry's place in it; NULL: no such entry. Both
 * kinds are looked through, so that an entry may turn from the one into the other. */
static json_t *
exec_cron_find_entry(const json_t *tab, const char *cmd, const char *identifier, size_t *ret_i)
{
    static const char *const groups[] = { "crons", "special" };
    json_t *entry;
    size_t i;

    for (size_t k = 0; k < NELEMS(groups); k++) {
        json_array_foreach (value_get(tab, groups[k]), i, entry) {
            *ret_i = i;
            if (crontab_is(entry, cmd, identifier))
                return value_get(tab, groups[k]);
        }
    }
    return NULL;
}

/* Copies the fields that the call leaves unset from the present entry into `wish`. True when the entry has
 * to change. */
static bool
exec_cron_keep(const json_t *old, json_t *wish, const char *const *fields)
{
    static const char *const common[] = { "comment", "commented", "cmd", "identifier", NULL };
    const char *const *groups[] = { common, fields };
    bool change = false;

    for (size_t k = 0; k < NELEMS(groups); k++) {
        for (const char *const *f = groups[k]; *f != NULL; f++) {
            json_t *have = value_get(old, *f);
            bool differs = crontab_differs(have, value_get(wish, *f));
            change = change || differs;
            if (!differs && have != NULL)
                json_object_set(wish, *f, have);
        }
    }
    return change;
}

/* Brings the entry `wish`, which is changed, into the tab: "new", "updated" or "present", or what crontab
 * says against it. `fields` tells the kind. 0, or negative with *err. */
static int
set_entry(call_ctx_t *ctx, const json_t *args, json_t *wish, const char *const *fields, json_t **ret_value,
          fail_t *err)
{
    json_auto_t *tab = crontab_check_entry(wish, err) == 0 ? tab_of(args, false, err) : NULL;
    bool special = fields == special_fields;
    size_t i = 0;

    if (tab == NULL)
        return err->code;
    json_t *list = exec_cron_find_entry(tab, value_str(wish, "cmd", ""), value_str(wish, "identifier", NULL),
                                        &i);
    /* "random" agrees with any number that stands there already, so a second run changes nothing. */
    bool change = list == NULL || exec_cron_keep(json_array_get(list, i), wish, fields);
    if (!change) {
        *ret_value = json_string("present");
        return 0;
    }
    if (list != NULL)
        json_array_remove(list, i);
    if (!special) {
        /* Replaces "random" by a number within the field's bounds. */
        const char *month;
        /* The month before the day, which it bounds: the 31st is not in every month. */
        for (size_t j = CRONTAB_TIMES; j-- > 0;) {
            /* The month before the day, which it bounds. */
            const char *field = crontab_times[j];
            month = value_str(wish, "month", "*");
            AUTO_FREE char *text = crontab_time(field, value_str(wish, field, "*"), month);
            json_object_set_new(wish, field, json_string(text));
        }
    }
    json_array_append(value_get(tab, special ? "special" : "crons"), wish);
    return exec_cron_store(ctx, args, tab, list != NULL ? "updated" : "new", ret_value, err);
}

/* The fields that entries of both kinds have, from the arguments. None and False are None. NEW. */
static json_t *
exec_cron_wish_of(const json_t *args)
{
    static const char *const fields[] = { "cmd", "comment", "identifier" };
    json_t *wish = json_pack("{s:b}", "commented", value_bool(args, "commented", false));

    for (size_t i = 0; i < NELEMS(fields); i++) {
        json_t *v = value_get(args, fields[i]);
        AUTO_FREE char *text = json_is_null(v) || json_is_false(v) ? NULL : value_pystr(v);
        json_object_set_new(wish, fields[i], text != NULL ? json_string(text) : json_null());
    }
    return wish;
}

static int
cron_set_job(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *wish = exec_cron_wish_of(args);

    for (size_t i = 0; i < CRONTAB_TIMES; i++) {
        AUTO_FREE char *text = value_pystr(value_get(args, crontab_times[i]));
        /* cron knows names of months and days in any case; small letters compare. */
        for (char *c = text; *c != '\0'; c++)
            *c = *c >= 'A' && *c <= 'Z' ? (char) (*c + 32) : *c;
        json_object_set_new(wish, crontab_times[i], json_string(text));
    }
    return set_entry(ctx, args, wish, crontab_times, ret_value, err);
}

static int
cron_set_special(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *wish = exec_cron_wish_of(args);

    json_object_set(wish, "spec", value_get(args, "special"));
    return set_entry(ctx, args, wish, special_fields, ret_value, err);
}

/* ---- remove ---------------------------------------------------------------------------------- */

/* True when the entry has the times that cron.rm names. None fits all, and "random" any number. */
static bool
times_fit(const json_t *entry, const json_t *args)
{
    for (size_t i = 0; i < CRONTAB_TIMES; i++) {
        json_t *wish = value_get(args, crontab_times[i]);
        if (wish == NULL || json_is_null(wish))
            continue;
        AUTO_FREE char *text = value_pystr(wish);
        const char *have = value_str(entry, crontab_times[i], "");
        if (strcmp(have, text) != 0 && (strcasecmp(text, "random") != 0 || strcmp(have, "*") == 0))
            return false;
    }
    return true;
}

/* Removes one entry of the row's kind: "removed" or "absent". */
static int
cron_remove(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *group = ctx_row(ctx)->data.text;
    json_auto_t *tab = tab_of(args, true, err);
    json_t *list = value_get(tab, group), *entry, *spec = value_get(args, "special");
    size_t i;

    if (tab == NULL)
        return err->code;
    AUTO_FREE char *cmd = value_pystr(value_get(args, "cmd"));
    json_array_foreach (list, i, entry) {
        bool fits = crontab_is(entry, cmd, value_str(args, "identifier", NULL)) && times_fit(entry, args) &&
                    (!value_truthy(spec) || value_equal(spec, value_get(entry, "spec")));
        if (fits && json_array_remove(list, i) == 0)
            return exec_cron_store(ctx, args, tab, "removed", ret_value, err);
    }
    *ret_value = json_string("absent");
    return 0;
}

/* ---- variables ------------------------------------------------------------------------------- */

/* The index of a variable in `list`, or the list's length. */
static size_t
exec_cron_find_env(const json_t *list, const json_t *name)
{
    size_t i;
    json_t *v;

    json_array_foreach (list, i, v) {
        if (value_equal(value_get(v, "name"), name))
            return i;
    }
    return json_array_size(list);
}

/* Sets a variable, which is in force for the entries below it: it is moved to the end of the variables when
 * it changes. */
static int
cron_set_env(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *value = value_get(args, "value");
    bool sound = crontab_check_env(value_get(args, "name"), value, err) == 0;
    json_auto_t *tab = sound ? tab_of(args, false, err) : NULL;
    json_t *list = value_get(tab, "env");
    size_t i = exec_cron_find_env(list, value_get(args, "name"));
    bool there = i < json_array_size(list);

    if (tab == NULL)
        return err->code;
    AUTO_FREE char *text = json_is_null(value) ? xstrdup("") : value_pystr(value);
    if (there && strcmp(value_str(json_array_get(list, i), "value", ""), text) == 0) {
        *ret_value = json_string("present");
        return 0;
    }
    if (there)
        json_array_remove(list, i);
    json_array_append_new(list, json_pack("{s:O, s:s}", "name", value_get(args, "name"), "value", text));
    return exec_cron_store(ctx, args, tab, there ? "updated" : "new", ret_value, err);
}

static int
cron_rm_env(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *tab = tab_of(args, true, err);
    json_t *list = value_get(tab, "env");
    size_t i = exec_cron_find_env(list, value_get(args, "name"));

    if (tab == NULL)
        return err->code;
    if (i == json_array_size(list)) {
        *ret_value = json_string("absent");
        return 0;
    }
    json_array_remove(list, i);
    return exec_cron_store(ctx, args, tab, "removed", ret_value, err);
}

/* ---- whole files ----------------------------------------------------------------------------- */

/* Installs a whole file as the user's tab. NEW as cmd.run_all, without a pid; NULL with *err. */
static json_t *
exec_cron_install(call_ctx_t *ctx, const json_t *args, fail_t *err)
{
    buf_auto_t text = BUF_INIT;
    AUTO_FREE char *said = NULL;

    if (fs_read(value_str(args, "path", ""), LIMIT_FILE_READ, &text, err) < 0)
        return NULL;
    int rc = crontab_write(ctx, value_str(args, "user", ""), buf_str(&text), &said, err);
    if (rc < 0)
        return NULL;
    return json_pack("{s:i, s:s, s:s}", "retcode", rc, "stdout", "", "stderr", said != NULL ? said : "");
}

static int
cron_write_cron_file(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *answer = exec_cron_install(ctx, args, err);

    if (answer == NULL)
        return err->code;
    *ret_value = json_boolean(value_int(answer, "retcode", 1) == 0);
    return 0;
}

static int
cron_write_cron_file_verbose(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = exec_cron_install(ctx, args, err);
    return *ret_value != NULL ? 0 : err->code;
}

static const char *
exec_cron_unavailable(call_ctx_t *ctx)
{
    AUTO_FREE char *path = fs_which("crontab");

    return path != NULL ? NULL : "Cannot load cron module: crontab command not found";
}

/* ---- table ----------------------------------------------------------------------------------- */

#define USER_ROW ARG("user", ARG_STR, ARG_REQUIRED, "Whose crontab")
#define CMD_ROW  ARG("cmd", ARG_ANY, ARG_REQUIRED, "The command")
#define COMMENT_ROWS                                                                                         \
    ARG("commented", ARG_BOOL, "false", "Keep the entry, but switched off"),                                 \
        ARG("comment", ARG_ANY, "null", "What to write above it"),                                           \
        ARG("identifier", ARG_ANY, "null", "What the entry is known by; else its command")
#define TIME_ROW(name, dflt, help) ARG(name, ARG_ANY, dflt, help)

static const arg_t user_args[] = { USER_ROW, ARGS_END };
static const arg_t get_entry_args[] = { USER_ROW,
                                        ARG("identifier", ARG_ANY, "null", "The entry's identifier"),
                                        ARG("cmd", ARG_ANY, "null", "Or its command"), ARGS_END };
static const arg_t set_job_args[] = {
    USER_ROW,
    TIME_ROW("minute", ARG_REQUIRED, "0-59, or as crontab(5) says; random; A:B for one of a range"),
    TIME_ROW("hour", ARG_REQUIRED, "0-23, likewise"),
    TIME_ROW("daymonth", ARG_REQUIRED, "1-31, likewise"),
    TIME_ROW("month", ARG_REQUIRED, "1-12, likewise"),
    TIME_ROW("dayweek", ARG_REQUIRED, "0-6, likewise"),
    CMD_ROW,
    COMMENT_ROWS,
    ARGS_END,
};
static const arg_t set_special_args[] = {
    USER_ROW, ARG("special", ARG_STR, ARG_REQUIRED, "@daily, @reboot, ..."), CMD_ROW, COMMENT_ROWS, ARGS_END,
};
static const arg_t rm_job_args[] = {
    USER_ROW,
    CMD_ROW,
    TIME_ROW("minute", "null", "Only the entry with this minute"),
    TIME_ROW("hour", "null", "Likewise"),
    TIME_ROW("daymonth", "null", "Likewise"),
    TIME_ROW("month", "null", "Likewise"),
    TIME_ROW("dayweek", "null", "Likewise"),
    ARG("identifier", ARG_ANY, "null", "The entry's identifier"),
    ARGS_END,
};
static const arg_t rm_special_args[] = {
    USER_ROW,
    CMD_ROW,
    ARG("special", ARG_ANY, "null", "Only the entry with this word"),
    ARG("identifier", ARG_ANY, "null", "The entry's identifier"),
    ARGS_END,
};
static const arg_t set_env_args[] = { USER_ROW, ARG("name", ARG_STR, ARG_REQUIRED, "The variable"),
                                      ARG("value", ARG_ANY, "null", "Its value"), ARGS_END };
static const arg_t rm_env_args[] = { USER_ROW, ARG("name", ARG_STR, ARG_REQUIRED, "The variable"), ARGS_END };
static const arg_t file_args[] = { USER_ROW, ARG("path", ARG_STR, ARG_REQUIRED, "The file"), ARGS_END };

static const func_t funcs[] = {
    { "get_entry", cron_get_entry, get_entry_args, FN_READONLY,
      "Return an entry by its identifier or command; False when there is none." CLI_EXAMPLE(
          "salt '*' cron.get_entry root identifier=task1") },
    { "list_tab", cron_list_tab, user_args, FN_READONLY,
      "Return the contents of a user's crontab." CLI_EXAMPLE("salt '*' cron.list_tab root") },
    { "ls", cron_list_tab, user_args, FN_READONLY,
      "Another name of list_tab." CLI_EXAMPLE("salt '*' cron.ls root") },
    { "raw_cron", cron_raw_cron, user_args, FN_READONLY,
      "Return a user's crontab as it is." CLI_EXAMPLE("salt '*' cron.raw_cron root") },
    { "rm", cron_remove, rm_job_args, 0,
      "Another name of rm_job." CLI_EXAMPLE("salt '*' cron.rm root /usr/local/weekly"),
      .data.text = "crons" },
    { "rm_env", cron_rm_env, rm_env_args, 0,
      "Remove a variable from a user's crontab." CLI_EXAMPLE("salt '*' cron.rm_env root MAILTO") },
    { "rm_job", cron_remove, rm_job_args, 0,
      "Remove an entry. The times, when given, must be its own." CLI_EXAMPLE(
          "salt '*' cron.rm_job root /usr/local/weekly\n    "
          "salt '*' cron.rm_job root /usr/bin/foo dayweek=1"),
      .data.text = "crons" },
    { "rm_special", cron_remove, rm_special_args, 0,
      "Remove an entry that runs at @daily and the like." CLI_EXAMPLE(
          "salt '*' cron.rm_special root /usr/bin/foo"),
      .data.text = "special" },
    { "set_env", cron_set_env, set_env_args, 0,
      "Set a variable in a user's crontab." CLI_EXAMPLE(
          "salt '*' cron.set_env root MAILTO user@example.com") },
    { "set_job", cron_set_job, set_job_args, 0,
      "Add an entry, or change the one of that identifier or command. Says new, updated or "
      "present." CLI_EXAMPLE("salt '*' cron.set_job root '*' '*' '*' '*' 1 /usr/local/weekly") },
    { "set_special", cron_set_special, set_special_args, 0,
      "Add an entry that runs at @daily and the like." CLI_EXAMPLE(
          "salt '*' cron.set_special root @hourly 'echo foobar'") },
    { "write_cron_file", cron_write_cron_file, file_args, 0,
      "Replace a user's crontab by a file." CLI_EXAMPLE("salt '*' cron.write_cron_file root /tmp/new_cron") },
    { "write_cron_file_verbose", cron_write_cron_file_verbose, file_args, 0,
      "Replace a user's crontab by a file and return what crontab said." CLI_EXAMPLE(
          "salt '*' cron.write_cron_file_verbose root /tmp/new_cron") },
};

PLUGIN(exec, cron, .doc = "Crontabs of users", FUNCS(funcs), .unavailable = exec_cron_unavailable);
