/* nfs3.c - execution module `nfs3`: folders that NFS exports, in /etc/exports (exports(5)). Only the lines of
 * a path that changes are written anew; comments and other lines stay. A line is "PATH CLIENT(OPTIONS)
 * CLIENT(OPTIONS)", and an answer {path: [{"hosts", "options"}]}. Continued lines and quoted paths are read
 * as Salt reads them: not at all. */
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/host/rootfs.h"
#include "plugins/lib/call/tool.h"
#include "plugins/lib/file/field.h"
#include "plugins/lib/file/partfile.h"
#include "salt/plugin.h"

#define BLANKS " \t\r\v\f"

/* ---- the file ----------------------------------------------------------------------------------- */

/* {"hosts", "options"} of "10.0.0.0/8(rw,sync)". NEW. A client without parentheses has no options: []. */
static json_t *
client_of(const char *word)
{
    size_t n = strcspn(word, "(");
    AUTO_FREE char *inside = str_replace(word[n] == '(' ? word + n + 1 : "", ")", "");
    char **options = word[n] == '(' ? str_split(inside, ",", false) : NULL;
    json_t *list = json_array();

    for (size_t i = 0; options != NULL && options[i] != NULL; i++)
        json_array_append_new(list, json_string(options[i]));
    strv_free(options);
    return json_pack("{s:o, s:o}", "hosts", json_stringn(word, n), "options", list);
}

/* Adds a line's exports to {path: [client]}: its first word is a path, and so are others that begin with a
 * slash. */
static void
take_exports(const char *line, json_t *all)
{
    char **words = str_split(line, BLANKS, true);

    for (size_t i = 0; words[i] != NULL; i++) {
        if (i > 0 && *words[i] != '/')
            continue;
        json_t *clients = value_get(all, words[i]) != NULL ? value_get(all, words[i]) : json_array();
        if (value_get(all, words[i]) == NULL)
            json_object_set_new(all, words[i], clients);
        for (size_t k = 1; words[k] != NULL; k++) {
            if (*words[k] != '/')
                json_array_append_new(clients, client_of(words[k]));
        }
    }
    strv_free(words);
}

/* {path: [client]} of the file's text. NEW. Clients of a path that has several lines are one list, in the
 * file's order. */
static json_t *
exports_of(const char *text)
{
    AUTO_FREE char *copy = xstrdup(text);
    json_t *all = json_object();

    for (char *at = copy, *line; (line = line_next(&at)) != NULL;) {
        if (*line != '#')
            take_exports(line, all);
    }
    return all;
}

/* Opens the file and reads it. The error is Python's, since Salt opens the file without asking whether there
 * is one. */
static int
read_exports(partfile_t *file, const json_t *args, buf_t *text, fail_t *err)
{
    const char *path = value_str(args, "exports", "");
    int rc = partfile_edit(file, path, err);

    if (rc == 0)
        return fail_set(err, -ENOENT, "[Errno 2] No such file or directory: '%s'", path);
    return rc < 0 ? rc : partfile_read(file, text, err);
}

/* The file is only read; it is found as for editing so that both functions tell the same errors. */
static int
nfs3_list_exports(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    partfile_auto_t file = PARTFILE_INIT;
    buf_auto_t text = BUF_INIT;

    if (read_exports(&file, args, &text, err) < 0)
        return err->code;
    *ret_value = exports_of(buf_str(&text));
    return 0;
}

/* Adds the line without the path; nothing when it was the line's only one. True when it was there. A line
 * with several paths keeps the others, with single blanks between its words. */
static bool
add_without_path(const char *line, const char *path, buf_t *out)
{
    char **words = *line != '#' ? str_split(line, BLANKS, true) : NULL;
    size_t paths = 0;
    bool found = false;

    for (size_t i = 0; words != NULL && words[i] != NULL; i++) {
        paths += i == 0 || *words[i] == '/';
        found = found || ((i == 0 || *words[i] == '/') && strcmp(words[i], path) == 0);
    }
    if (!found)
        buf_printf(out, "%s\n", line);
    for (size_t i = 0, n = 0; found && paths > 1 && words[i] != NULL; i++) {
        if (strcmp(words[i], path) != 0)
            buf_printf(out, "%s%s", n++ > 0 ? " " : "", words[i]);
    }
    if (found && paths > 1)
        buf_putc(out, '\n');
    strv_free(words);
    return found;
}

/* An unknown path is Python's KeyError by Salt. The answer is what the file now exports. */
static int
nfs3_del_export(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *path = value_str(args, "path", "");
    partfile_auto_t file = PARTFILE_INIT;
    buf_auto_t text = BUF_INIT, after = BUF_INIT;
    bool found = false;

    if (read_exports(&file, args, &text, err) < 0)
        return err->code;
    AUTO_FREE char *copy = xstrdup(buf_str(&text));
    for (char *at = copy, *line; (line = line_next(&at)) != NULL;)
        found = add_without_path(line, path, &after) || found;
    if (!found)
        return fail_set(err, -ENOENT, "'%s'", path);
    *ret_value = exports_of(buf_str(&after));
    return partfile_write(&file, buf_str(&after), after.len, &(landing_t){ .mode = 0644 }, err);
}

/* True when the line's only path is this one, so that a client may be added to it. */
static bool
is_line_of(const char *line, const char *path)
{
    char **words = str_split(line, BLANKS, true);
    bool is = words[0] != NULL && strcmp(words[0], path) == 0;

    for (size_t i = 1; is && words[i] != NULL; i++)
        is = *words[i] != '/';
    strv_free(words);
    return is;
}

/* Adds the text with the client at the end of the path's last line, or of a new one. The last line, since
 * exports(5) has clients of one path on one line and the file's end is what people add to. Two passes: which
 * line it is shows only at the end. */
static void
add_client(const char *text, const char *path, const char *client, buf_t *out)
{
    AUTO_FREE char *copy = xstrdup(text);
    size_t last = 0, n = 0;

    for (char *at = copy, *line; (line = line_next(&at)) != NULL;)
        last = ++n > 0 && is_line_of(line, path) ? n : last;
    AUTO_FREE char *again = xstrdup(text);
    n = 0;
    for (char *at = again, *line; (line = line_next(&at)) != NULL;) {
        if (++n == last)
            buf_printf(out, "%s %s\n", line, client);
        else
            buf_printf(out, "%s\n", line);
    }
    if (last == 0)
        buf_printf(out, "%s %s\n", path, client);
}

/* A blank within a path or a client would make it two words, of which the second is exported to. "CLIENT()"
 * for no options is valid and Salt's form. */
static int
nfs3_add_export(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *path = value_str(args, "path", "");
    json_t *hosts = value_get(args, "hosts"), *options = value_get(args, "options");
    json_auto_t *list = json_is_array(options) ? json_incref(options) : json_array();
    partfile_auto_t file = PARTFILE_INIT;
    buf_auto_t text = BUF_INIT, after = BUF_INIT;

    if (!json_is_string(hosts))
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "hosts argument must be a string");
    AUTO_FREE char *joined = value_joined(list, ",");
    AUTO_FREE char *client = xasprintf("%s(%s)", json_string_value(hosts), joined);
    if (*path == '\0')
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "path: the folder to export is missing");
    if (field_check_text("path", path, BLANKS, err) < 0 ||
        field_check_text("hosts", client, BLANKS, err) < 0 || read_exports(&file, args, &text, err) < 0)
        return err->code;
    add_client(buf_str(&text), path, client, &after);
    if (partfile_write(&file, buf_str(&after), after.len, &(landing_t){ .mode = 0644 }, err) < 0)
        return err->code;
    *ret_value = json_pack("{s:O, s:O}", "hosts", hosts, "options", list);
    return 0;
}

/* exportfs ends well whatever happens: what it says on stderr is the failure. */
static int
nfs3_reload_exports(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;

    if (tool_begin(&prog, "exportfs", err) < 0)
        return err->code;
    prog_add(&prog, "-r");
    prog.timeout_ms = LIMIT_TOOL_MS;
    json_auto_t *ran = tool_run(ctx, &prog, 0, err);
    if (ran == NULL)
        return err->code;
    *ret_value = json_pack("{s:O, s:O, s:b}", "stdout", value_get(ran, "stdout"), "stderr",
                           value_get(ran, "stderr"), "result", *value_str(ran, "stderr", "") == '\0');
    return 0;
}

static const char *
nfs3_unavailable(call_ctx_t *ctx)
{
    AUTO_FREE char *program = fs_which("showmount");

    return program != NULL
               ? NULL
               : "The nfs3 execution module failed to load: the showmount binary is not in the path.";
}

/* ---- table ------------------------------------------------------------------------------------ */

#define FILE_ROW ARG("exports", ARG_STR, "\"/etc/exports\"", "The file")
#define PATH_ROW ARG("path", ARG_STR, "null", "The folder")

static const arg_t list_args[] = { FILE_ROW, ARGS_END };
static const arg_t del_args[] = { FILE_ROW, PATH_ROW, ARGS_END };
static const arg_t add_args[] = {
    FILE_ROW, PATH_ROW, ARG("hosts", ARG_ANY, "null", "Who may mount it: a host, a network, a pattern"),
    ARG("options", ARG_ANY, "null", "A list of options"), ARGS_END
};

static const func_t funcs[] = {
    { "add_export", nfs3_add_export, add_args, 0,
      "Export a folder to hosts." CLI_EXAMPLE(
          "salt '*' nfs3.add_export path=/srv/test hosts=127.0.0.1 options=\"['rw']\"") },
    { "del_export", nfs3_del_export, del_args, 0,
      "Remove a folder's exports; return what is left." CLI_EXAMPLE(
          "salt '*' nfs3.del_export path=/media/storage") },
    { "list_exports", nfs3_list_exports, list_args, FN_READONLY,
      "Return the exports." CLI_EXAMPLE("salt '*' nfs3.list_exports") },
    { "reload_exports", nfs3_reload_exports, NULL, 0,
      "Have the kernel's server read the exports anew." CLI_EXAMPLE("salt '*' nfs3.reload_exports") },
};

PLUGIN(exec, nfs3, .doc = "Exports of NFS", FUNCS(funcs), .unavailable = nfs3_unavailable);
