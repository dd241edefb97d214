/* systemctl.c - systemctl's command lines and what it prints. Commands that start or stop units run within a
 * scope of their own (systemd-run --scope) where possible, so that a restart of the minion's own unit does
 * not kill them. */
#include "plugins/lib/service/systemctl.h"

#include <ctype.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/service/service_api.h"
#include "plugins/lib/call/tool.h"

enum { VERSION_WITH_SCOPE = 205, UNIT_COLUMNS = 4, STATE_COLUMN = 3 };

#define VERSION_KEY "salt.utils.systemd.version"

/* ---- what it prints --------------------------------------------------------------------------- */

/* Calls `line` for each line's words; a bullet before a unit is not a word. */
typedef void words_fn(char **words, size_t n, const char *state, json_t *out);

static json_t *
systemctl_by_words(const char *text, words_fn *line, const char *state)
{
    char **lines = str_split(text, "\n", true);
    json_auto_t *names = json_array();

    for (size_t i = 0; lines[i] != NULL; i++) {
        char **words = str_split(lines[i], " \t", true), **at = words;
        if (*at != NULL && (unsigned char) **at >= 0x80)
            at++;
        line(at, strv_len(at), state, names);
        strv_free(words);
    }
    strv_free(lines);
    return svc_sorted(names, NULL);
}

static void
add_unit(json_t *out, const char *unit)
{
    AUTO_FREE char *name = svc_unit_name(unit);

    if (name != NULL)
        json_array_append_new(out, value_utf8(name, strlen(name)));
}

static void
unit_file_line(char **words, size_t n, const char *state, json_t *out)
{
    if (n >= 2 && strcmp(words[1], state) == 0)
        add_unit(out, words[0]);
}

static void
unit_line(char **words, size_t n, const char *state, json_t *out)
{
    if (n >= UNIT_COLUMNS && strcmp(words[STATE_COLUMN], state) == 0)
        add_unit(out, words[0]);
}

json_t *
systemctl_unit_files(const char *text, const char *state)
{
    return systemctl_by_words(text, unit_file_line, state);
}

json_t *
systemctl_running(const char *text)
{
    return systemctl_by_words(text, unit_line, "running");
}

/* "{ path=/bin/x ; argv[]=/bin/x -d ; ... }". NEW. */
static json_t *
braces(const char *value)
{
    AUTO_FREE char *open = str_replace(value, "{", "");
    AUTO_FREE char *text = str_replace(open, "}", "");
    json_t *out = json_object();

    for (char *at = text; at != NULL;) {
        char *item = at, *end = strstr(at, " ; ");
        at = end != NULL ? end + strlen(" ; ") : NULL;
        if (end != NULL)
            *end = '\0';
        char *eq = strchr(item, '=');
        if (eq == NULL)
            continue;
        *eq = '\0';
        const char *name = str_trim(item), *rest = str_trim(eq + 1);
        json_object_set_new(out, name, value_utf8(rest, strlen(rest)));
    }
    return out;
}

/* "{ ... }" is a dict, some names are lists, everything else is text. */
static json_t *
property(const char *name, const char *value)
{
    static const char *const lists[] = { "Before", "After", "Wants" };

    if (*value == '{')
        return braces(value);
    bool is_list = false;
    for (size_t i = 0; i < NELEMS(lists); i++)
        is_list = is_list || strcmp(name, lists[i]) == 0;
    if (!is_list)
        return value_utf8(value, strlen(value));
    char **words = str_split(value, " \t", true);
    json_t *list = json_array();
    for (size_t i = 0; words[i] != NULL; i++)
        json_array_append_new(list, value_utf8(words[i], strlen(words[i])));
    strv_free(words);
    return list;
}

json_t *
systemctl_properties(const char *text)
{
    char **lines = str_split(text, "\n", true);
    json_t *out = json_object();

    for (size_t i = 0; lines[i] != NULL; i++) {
        char *eq = strchr(lines[i], '=');
        if (eq != NULL)
            *eq = '\0';
        json_object_set_new(out, lines[i], property(lines[i], eq != NULL ? eq + 1 : ""));
    }
    strv_free(lines);
    return out;
}

char *
systemctl_strip_scope(const char *text)
{
    char **lines = str_split(text, "\n", false);
    buf_auto_t out = BUF_INIT;

    for (size_t i = 0; lines[i] != NULL; i++) {
        if (!str_ends(lines[i], ".scope"))
            buf_printf(&out, "%s\n", lines[i]);
    }
    strv_free(lines);
    AUTO_FREE char *all = buf_steal(&out);
    return xstrdup(all != NULL ? str_trim(all) : "");
}

/* ---- running it --------------------------------------------------------------------------------- */

/* Asked once per job; -1 when unknown. */
int
systemctl_version(call_ctx_t *ctx)
{
    json_t *known = value_get(ctx_context(ctx), VERSION_KEY);
    prog_auto_t prog = PROG_INIT;

    if (known != NULL)
        return (int) json_integer_value(known);
    prog_adds(&prog, "systemctl", "--version", NULL);
    AUTO_FREE char *text = prog_stdout(&prog, NULL, NULL);
    /* "systemd 252 (252.22-1~deb12u1)" */
    const char *blank = text != NULL ? strchr(text, ' ') : NULL;
    AUTO_FREE char *digits = blank != NULL ? xstrndup(blank + 1, strspn(blank + 1, "0123456789")) : NULL;
    long long found;
    int version = digits != NULL && str_to_int(digits, 0, INT32_MAX, &found) ? (int) found : -1;
    json_object_set_new(ctx_context(ctx), VERSION_KEY, json_integer(version));
    return version;
}

/* 1, 0, or negative with *err. */
static int
scope_possible(call_ctx_t *ctx, fail_t *err)
{
    AUTO_FREE char *run = fs_which("systemd-run");
    int init = run != NULL ? service_init(ctx, err) : SVC_NONE;

    if (init != SVC_SYSTEMD || systemctl_version(ctx) < VERSION_WITH_SCOPE)
        return init < 0 ? init : 0;
    /* config.get systemd.scope; yes unless it says no. */
    json_auto_t *args = json_pack("[s, b]", "systemd.scope", 1);
    json_auto_t *value = NULL;
    fail_auto_t why = FAIL_INIT;
    return ctx_call(ctx, "config.get", args, NULL, &value, &why) < 0 || value_truthy(value);
}

/* NEW {retcode, stdout, stderr}, or NULL with *err. */
json_t *
systemctl_run(call_ctx_t *ctx, const systemctl_t *what, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;
    int scope = what->scope ? scope_possible(ctx, err) : 0;

    if (scope < 0)
        return NULL;
    char **words = str_split(what->action, " ", true);
    if (scope > 0)
        prog_adds(&prog, "systemd-run", "--scope", NULL);
    int rc = tool_begin(&prog, "systemctl", err);
    if (what->no_block)
        prog_add(&prog, "--no-block");
    if (what->root != NULL)
        prog_adds(&prog, "--root", what->root, NULL);
    for (size_t i = 0; words[i] != NULL; i++)
        prog_add(&prog, words[i]);
    strv_free(words);
    if (strcmp(what->action, "status") == 0)
        prog_adds(&prog, "-n", "0", NULL);
    if (what->name != NULL) {
        AUTO_FREE char *unit = svc_unit(what->name);
        prog_adds(&prog, "--", unit, NULL);
    }
    return rc == 0 ? tool_run(ctx, &prog, what->flags, err) : NULL;
}

/* True for exit code 0, else a CommandExecutionError with systemctl's words. */
int
systemctl_verdict(const json_t *ret, json_t **ret_value, fail_t *err)
{
    if (value_int(ret, "retcode", 1) != 0) {
        AUTO_FREE char *text = systemctl_strip_scope(value_str(ret, "stderr", ""));
        return fail_kind(err, FAIL_COMMAND, -EIO, "%s",
                         *text != '\0' ? text : "systemctl failed and did not say why");
    }
    *ret_value = json_true();
    return 0;
}

int
systemctl_do(call_ctx_t *ctx, const systemctl_t *what, json_t **ret_value, fail_t *err)
{
    json_auto_t *ret = systemctl_run(ctx, what, err);

    return ret != NULL ? systemctl_verdict(ret, ret_value, err) : -EIO;
}
