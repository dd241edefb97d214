/* file_edit.c - states that edit lines: file.replace, line, comment, uncomment. The module's function does
 * the edit (a dry run in test mode) and returns the difference. */
#include <ctype.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/match/regex.h"
#include "plugins/lib/file/content.h"
#include "plugins/lib/file/edit.h"
#include "plugins/lib/file/fileops.h"
#include "plugins/lib/file/fstate.h"

/* Turns the module's result, a difference or True, into the state's return. */
static int
file_edit_conclude(fstate_t *s, json_t *changes, const char *test_comment)
{
    if (!value_truthy(changes))
        return state_ret_set(s->ret, STATE_TRUE, "No changes needed to be made");
    state_change(s->ret, "diff", json_incref(changes));
    return state_ret_set(s->ret, s->test ? STATE_NONE : STATE_TRUE, "%s",
                         s->test ? test_comment : "Changes were made");
}

/* The call's arguments for a function of the module. NEW. */
static json_t *
module_args(const fstate_t *s)
{
    json_t *args = json_copy(s->args);

    json_object_set_new(args, "path", value_utf8(s->name, strlen(s->name)));
    json_object_set_new(args, "dry_run", json_boolean(s->test));
    return args;
}

/* A missing file is success only with ignore_if_missing. */
static int
replace_body(fstate_t *s, fail_t *err)
{
    AUTO_FREE char *why = fstate_check_file(s);
    json_t *flags = fstate_arg(s, "flags");

    if (why != NULL && fstate_on(s, "ignore_if_missing", false) && strstr(why, "file not found") != NULL)
        return state_ret_set(s->ret, STATE_TRUE, "No changes needed to be made");
    if (why != NULL)
        return fstate_error(s, "%s", why);
    json_t *args = module_args(s);
    json_object_set_new(args, "flags", flags != NULL ? json_incref(flags) : json_integer(RX_MULTILINE));
    json_object_set_new(args, "preserve_inode", json_true());
    json_auto_t *changes = fstate_call(s, file_replace, args, err);
    return changes == NULL ? err->code : file_edit_conclude(s, changes, "Changes would have been made");
}

/* ---- line ---------------------------------------------------------------------------------------- */

/* In test mode a file that is not there yet is an empty one. */
static int
line_in(fstate_t *s, json_t *args, fail_t *err)
{
    AUTO_FREE char *empty = NULL;
    int there = s->test ? fstate_exists(s, s->name) : 1;

    if (there < 0)
        return 0;
    if (there == 0 && (empty = content_temp(NULL, "", "", 0, err)) == NULL)
        return err->code;
    if (empty != NULL)
        json_object_set_new(args, "path", json_string(empty));
    json_auto_t *changes = fstate_call(s, file_line, json_incref(args), err);
    if (empty != NULL)
        unlink(empty);
    return changes == NULL ? err->code : file_edit_conclude(s, changes, "Changes would be made");
}

/* file.managed creates the file and sets owner and mode first. Of a file that was there these are told too. */
static int
line_body(fstate_t *s, fail_t *err)
{
    static const char *const beside[] = { "user", "group", "mode" };
    json_auto_t *made = NULL;
    bool fresh = fstate_exists(s, s->name) == 0;
    json_auto_t *managed = json_pack("{s:s, s:b, s:O?, s:O?, s:O?, s:b}", "name", s->name, "create",
                                     fstate_on(s, "create", false), "user", fstate_arg(s, "user"), "group",
                                     fstate_arg(s, "group"), "mode", fstate_arg(s, "file_mode"), "replace",
                                     0);

    if (file_state_managed(s->ctx, managed, &made, err) != 0)
        return err->code;
    bool to_come = s->test && fresh && json_is_null(value_get(made, "result"));
    AUTO_FREE char *why = to_come ? NULL : fstate_check_file(s);
    AUTO_FREE char *mode = value_pystr(value_get(s->args, "mode"));
    for (char *p = mode; *p != '\0'; p++)
        *p = (char) tolower((unsigned char) *p);
    if (why != NULL)
        return fstate_error(s, "%s", why);
    if (fstate_arg(s, "mode") == NULL)
        return fstate_error(s, "Mode was not defined. How to process the file?");
    if (!str_eq(mode, "delete") && fstate_arg(s, "content") == NULL)
        return fstate_error(s, "Content can only be empty if mode is ['delete']");
    json_auto_t *args = module_args(s);
    json_object_set_new(args, "mode", json_string(mode));
    int rc = line_in(s, args, err);
    bool same = rc == 0 && !state_changed(s->ret);
    for (size_t i = 0; rc == 0 && !fresh && i < NELEMS(beside); i++) {
        json_t *v = value_get(value_get(made, "changes"), beside[i]);
        if (v != NULL)
            state_change(s->ret, beside[i], json_incref(v));
    }
    if (same && state_changed(s->ret))
        state_ret_set(s->ret, s->test ? STATE_NONE : STATE_TRUE,
                      s->test ? "Changes would be made" : "Changes were made");
    return rc;
}

/* ---- comment, uncomment ---------------------------------------------------------------------------- */

/* A pattern without a leading group of flags, its "^" and its "$". NEW. */
static char *
unanchored(const char *regex)
{
    if (strncmp(regex, "(?", 2) == 0 && regex[2] != '\0' && strchr("iLmsux", regex[2]) != NULL &&
        regex[3] == ')')
        regex += 4;
    if (*regex == '^')
        regex++;
    size_t n = strlen(regex);
    return xstrndup(regex, n > 0 && regex[n - 1] == '$' ? n - 1 : n);
}

/* A run of comment or uncomment. */
typedef struct mark {
    fstate_t *s;
    const char *regex, *mark;
    bool comment;
    char *done; /* what finds the lines afterwards */
} mark_t;

/* Comments or uncomments, then searches for the result to decide about success. */
static int
change_lines(mark_t *m, fail_t *err)
{
    fstate_t *s = m->s;
    buf_auto_t before = BUF_INIT, after = BUF_INIT;
    json_t *backup = value_get(s->args, "backup");
    int rc = fstate_read(s, &before, err);

    if (rc != 0)
        return rc;
    json_auto_t *changed = fstate_call(s, file_comment_line,
                                       json_pack("{s:s, s:s, s:s, s:b, s:o}", "path", s->name, "regex",
                                                 m->regex, "char", m->mark, "cmnt", m->comment, "backup",
                                                 backup != NULL ? json_incref(backup) : json_string(".bak")),
                                       err);
    if (changed == NULL)
        return err->code;
    rc = fstate_read(s, &after, err);
    if (rc != 0)
        return rc;
    fstate_diff(s, &before, &after, false);
    int found = fstate_search(s, m->done, err);
    if (found < 0)
        return err->code;
    const char *word = m->comment ? "Commented" : "Uncommented";
    if (found > 0)
        return state_ret_set(s->ret, STATE_TRUE, "%s lines successfully", word);
    return fstate_error(s, "Expected %s lines not found", m->comment ? "commented" : "uncommented");
}

/* Test mode's answer for both. */
static int
file_edit_tell(fstate_t *s)
{
    fstate_note(s, s->name, "updated");
    return state_ret_set(s->ret, STATE_NONE, "File %s is set to be updated", s->name);
}

/* Looks for lines that are not commented yet; without any, for commented ones. The pattern stands at a line's
 * start: amid a line it would find those that have another comment mark. */
static int
comment_body(fstate_t *s, fail_t *err)
{
    AUTO_FREE char *why = fstate_check_file(s);
    AUTO_FREE char *regex = value_pystr(value_get(s->args, "regex")), *bare = unanchored(regex);
    AUTO_FREE char *mark = fstate_arg(s, "char") != NULL ? value_pystr(fstate_arg(s, "char")) : xstrdup("#");
    AUTO_FREE char *open_lines = xasprintf("^(?!\\s*%s)\\s*%s", mark, bare),
                   *done = xasprintf("%s%s", mark, bare);
    mark_t m = { s, regex, mark, true, done };

    if (why != NULL)
        return fstate_error(s, "%s", why);
    int found = fstate_search(s, open_lines, err);
    if (found > 0)
        return s->test ? file_edit_tell(s) : change_lines(&m, err);
    int already = found == 0 ? fstate_search(s, done, err) : -1;
    if (already < 0)
        return err->code;
    if (already > 0)
        return state_ret_set(s->ret, STATE_TRUE, "Pattern already commented");
    if (fstate_on(s, "ignore_missing", false))
        return state_ret_set(s->ret, STATE_TRUE, "Pattern not found and ignore_missing set to True");
    return fstate_error(s, "%s: Pattern not found", bare);
}

/* Looks for commented lines first; without any, for lines in use, which is success. Neither is a failure. */
static int
uncomment_body(fstate_t *s, fail_t *err)
{
    AUTO_FREE char *why = fstate_check_file(s);
    AUTO_FREE char *regex = value_pystr(value_get(s->args, "regex"));
    AUTO_FREE char *mark = fstate_arg(s, "char") != NULL ? value_pystr(fstate_arg(s, "char")) : xstrdup("#");
    const char *bare = regex + strspn(regex, "^");
    AUTO_FREE char *marked = xasprintf("%s[ \t]*%s", mark, bare), *done = xasprintf("^[ \t]*%s", bare);
    mark_t m = { s, regex, mark, false, done };

    if (why != NULL)
        return fstate_error(s, "%s", why);
    int found = fstate_search(s, marked, err);
    if (found > 0)
        return s->test ? file_edit_tell(s) : change_lines(&m, err);
    int already = found == 0 ? fstate_search(s, done, err) : -1;
    if (already < 0)
        return err->code;
    if (already > 0)
        return state_ret_set(s->ret, STATE_TRUE, "Pattern already uncommented");
    return fstate_error(s, "%s: Pattern not found", regex);
}

static FILE_STATE(file_state_replace, "Must provide name to file.replace", replace_body);
static FILE_STATE(file_state_line, "Must provide name to file.line", line_body);
static FILE_STATE(file_state_comment, "Must provide name to file.comment", comment_body);
static FILE_STATE(file_state_uncomment, "Must provide name to file.uncomment", uncomment_body);

/* ---- table ----------------------------------------------------------------------------------------- */

#define NAME_ROW STATE_ANY("name", ARG_REQUIRED, "The file")
#define MARK_ROWS                                                                                            \
    STATE_ANY("regex", ARG_REQUIRED, "Finds the lines"), STATE_ANY("char", "\"#\"", "What makes a comment"), \
        STATE_ANY("backup", "\".bak\"", "Extension of the copy made first; false for none")

static const arg_t replace_args[] = {
    NAME_ROW,
    STATE_ANY("pattern", ARG_REQUIRED, "Regular expression"),
    STATE_ANY("repl", ARG_REQUIRED, "The replacement; \\1 and \\g<name> are groups"),
    ARG("count", ARG_INT, "0", "At most this many replacements; 0: all"),
    STATE_ANY("flags", "8", "Number, name or list of names of Python's flags"),
    STATE_ANY("bufsize", "1", "Accepted; the file is read whole"),
    ARG("append_if_not_found", ARG_BOOL, "false", "Else add the text at the end"),
    ARG("prepend_if_not_found", ARG_BOOL, "false", "Else add the text at the start"),
    STATE_ANY("not_found_content", "null", "Text to add, when it is not repl"),
    STATE_ANY("backup", "\".bak\"", "Extension of the copy made first; false for none"),
    ARG("show_changes", ARG_BOOL, "true", "Show the difference"),
    ARG("ignore_if_missing", ARG_BOOL, "false", "A missing file is not a failure"),
    ARG("backslash_literal", ARG_BOOL, "false", "Backslashes in repl are themselves"),
    ARGS_END
};
static const arg_t line_args[] = { NAME_ROW,
                                   STATE_TEXT("content", "null", "The line"),
                                   STATE_TEXT("match", "null", "Finds the line to replace or delete"),
                                   STATE_TEXT("mode", "null", "insert, ensure, replace or delete"),
                                   STATE_ANY("location", "null", "start or end, for insert"),
                                   STATE_TEXT("before", "null", "Finds the line that comes after"),
                                   STATE_TEXT("after", "null", "Finds the line that comes before"),
                                   ARG("show_changes", ARG_BOOL, "true", "Show the difference"),
                                   STATE_ANY("backup", "false", "Keep a copy with the time in its name"),
                                   ARG("quiet", ARG_BOOL, "false", "A missing file is not a failure"),
                                   ARG("indent", ARG_BOOL, "true", "Take the neighbour's indentation"),
                                   STATE_ANY("create", "false", "Make the file if it is not there"),
                                   STATE_ANY("user", "null", "Its owner"),
                                   STATE_ANY("group", "null", "Its group"),
                                   STATE_ANY("file_mode", "null", "Its octal mode"),
                                   ARGS_END };
static const arg_t comment_args[] = { NAME_ROW, MARK_ROWS,
                                      STATE_ANY("ignore_missing", "false", "No such line is not a failure"),
                                      ARGS_END };
static const arg_t uncomment_args[] = { NAME_ROW, MARK_ROWS, ARGS_END };

static const func_t funcs[] = {
    { "comment", file_state_comment, comment_args, 0,
      "Make sure that the lines which a regular expression finds are comments." },
    { "line", file_state_line, line_args, 0,
      "Make sure that one line of a text is there, is another, or is not there." },
    { "replace", file_state_replace, replace_args, 0,
      "Replace what a regular expression finds in a text.\n\nThe state changes nothing when the expression "
      "finds nothing, or when the text is the same afterwards." },
    { "uncomment", file_state_uncomment, uncomment_args, 0,
      "Make sure that the lines which a regular expression finds are not comments." },
};

PLUGIN(state, file_edit, .provides = "file", .doc = "Manage files and folders", FUNCS(funcs));
