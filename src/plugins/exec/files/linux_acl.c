/* linux_acl.c - execution module `acl`: access control lists of files, by getfacl and setfacl. getfacl(1)
 * prints a block for each file: lines "# key: value", then entries of acl(5) in their long form.
 * --absolute-names keeps the leading slash of paths, which are the answer's keys. */
#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/call/tool.h"
#include "plugins/lib/file/facl.h"

enum { GETFACL_TIMEOUT_S = 60 * 60 }; /* a large tree */

/* ---- what getfacl says ---------------------------------------------------------------------------- */

/* Undoes getfacl's writing of odd characters, a backslash and three octal digits, in place. */
static void
unquote_octal(char *text)
{
    char *to = text;

    for (const char *p = text; *p != '\0'; p++) {
        if (*p == '\\' && strspn(p + 1, "01234567") >= 3) {
            *to++ = (char) ((p[1] - '0') << 6 | (p[2] - '0') << 3 | (p[3] - '0'));
            p += 3;
        } else
            *to++ = *p;
    }
    *to = '\0';
}

/* "# owner: root": a fact of the file; "# file: /p" begins a new one. `*file` is the block's object from then
 * on. "# flags: sst" tells the three special bits, "-" for each that is not set, and is left out where none
 * is. */
static void
add_fact(json_t *all, json_t **file, char *line)
{
    char *key = line + strspn(line, "# "), *value = strstr(key, ": ");

    if (value == NULL)
        return;
    *value = '\0';
    value += strlen(": ");
    unquote_octal(value);
    if (strcmp(key, "file") == 0) {
        *file = json_pack("{s:{}, s:[], s:[]}", "comment", "user", "group");
        json_object_set_new(all, value, *file);
    }
    if (*file == NULL)
        return;
    json_object_set_new(value_get(*file, "comment"), key, value_utf8(value, strlen(value)));
    if (strcmp(key, "flags") != 0 || strlen(value) != 3)
        return;
    static const struct {
        char letter;
        const char *key;
    } flags[] = { { 's', "suid" }, { 's', "sgid" }, { 't', "sticky" } };
    for (size_t i = 0; i < NELEMS(flags); i++)
        if (value[i] == flags[i].letter)
            json_object_set_new(*file, flags[i].key, json_true());
}

/* "default:user:bob:r-x". An entry without a name is the owner's. Named entries of a kind are a list; owner,
 * mask and other replace theirs. Of an entry that the mask reduces ("user:bob:rwx #effective:r--") the last
 * field counts, which are the effective permissions, as by Salt. */
static void
add_entry(json_t *file, char *line)
{
    bool is_default = str_starts(line, "default:");
    char **part = str_split(line + (is_default ? strlen("default:") : 0), ":", false);

    if (strv_len(part) >= 3) {
        const char *kind = part[0], *perms = part[strv_len(part) - 1];
        bool read = strchr(perms, 'r') != NULL, write = strchr(perms, 'w') != NULL;
        bool execute = strchr(perms, 'x') != NULL,
             named = strcmp(kind, "user") == 0 || strcmp(kind, "group") == 0;
        const char *owners = value_str(value_get(file, "comment"),
                                       strcmp(kind, "user") == 0 ? "owner" : "group", "");
        if (is_default && value_get(file, "defaults") == NULL)
            json_object_set_new(file, "defaults", json_object());
        json_t *of = is_default ? value_get(file, "defaults") : file;
        if (!named || value_get(of, kind) == NULL)
            json_object_set_new(of, kind, json_array());
        json_t *entry = json_pack("{s:{s:b, s:b, s:b}, s:i}", "permissions", "read", read, "write", write,
                                  "execute", execute, "octal", read * 4 + write * 2 + execute);
        unquote_octal(part[1]);
        json_array_append_new(value_get(of, kind), json_pack("{s:o}",
                                                             !named             ? ""
                                                             : *part[1] != '\0' ? part[1]
                                                                                : owners,
                                                             entry));
    }
    strv_free(part);
}

/* Salt's words for a call without paths. */
static int
need_paths(const json_t *paths, fail_t *err)
{
    return json_array_size(paths) > 0
               ? 0
               : fail_kind(err, FAIL_COMMAND, -EINVAL,
                           "You need to specify at least one file or directory to work with!");
}

/* Entries that stand before the first block's "# file:" belong to no file and are dropped. */
static int
acl_getfacl(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *paths = value_get(args, "args"), *all, *file = NULL;
    json_auto_t *line = json_pack("[s, s, s*]", "getfacl", "--absolute-names",
                                  value_truthy(value_get(args, "recursive")) ? "-R" : NULL);

    if (need_paths(paths, err) < 0 || prog_check_operands("path", paths, err) < 0)
        return err->code;
    json_array_extend(line, paths);
    json_auto_t *ran = tool_words(ctx, line, NULL, NULL, TOOL_RAW, GETFACL_TIMEOUT_S, err);
    if (ran == NULL)
        return err->code;
    all = *ret_value = json_object();
    char **lines = str_split(value_str(ran, "stdout", ""), "\n", true);
    for (size_t i = 0; lines[i] != NULL; i++) {
        if (lines[i][0] == '#')
            add_fact(all, &file, lines[i]);
        else if (file != NULL)
            add_entry(file, lines[i]);
    }
    strv_free(lines);
    return 0;
}

/* ---- changes ------------------------------------------------------------------------------------ */

/* modfacl, delfacl and wipefacls: rows that differ in setfacl's option. An option other than -b takes one
 * entry; that of a deletion has no permissions. */
static int
acl_change(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *option = ctx_row(ctx)->data.text;
    json_t *paths = value_get(args, "args");
    AUTO_FREE char *name = value_pystr(value_get(args, "acl_name")),
                   *perms = value_pystr(value_get(args, "perms"));
    AUTO_FREE char *entry = NULL;
    unsigned flags = value_truthy(value_get(args, "recursive")) ? FACL_RECURSIVE : 0;

    if (need_paths(paths, err) < 0)
        return err->code;
    if (strcmp(option, "-b") != 0)
        entry = facl_entry(value_str(args, "acl_type", ""), name, strcmp(option, "-m") == 0 ? perms : NULL,
                           err);
    if (err->code != 0)
        return err->code;
    json_auto_t *ran = facl_set(ctx, option, entry, paths, flags, err);
    if (ran == NULL)
        return err->code;
    if (value_int(ran, "retcode", 1) != 0 && value_truthy(value_get(args, "raise_err")))
        return fail_kind(err, FAIL_COMMAND, -EIO, "%s", value_str(ran, "stdout", ""));
    *ret_value = json_true();
    return 0;
}

/* "getfacl 2.3.1". */
static int
acl_version(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *line = json_pack("[s, s]", "getfacl", "--version");
    json_auto_t *ran = tool_words(ctx, line, NULL, NULL, 0, GETFACL_TIMEOUT_S, err);

    if (ran == NULL)
        return err->code;
    char **words = str_split(value_str(ran, "stdout", ""), " \n", true);
    *ret_value = strv_len(words) > 1 ? json_string(words[1]) : NULL;
    strv_free(words);
    return *ret_value != NULL ? 0
                              : fail_kind(err, FAIL_COMMAND, -EPROTO, "getfacl --version names no version");
}

static const char *
exec_acl_unavailable(call_ctx_t *ctx)
{
    AUTO_FREE char *path = fs_which("getfacl");

    return path != NULL
               ? NULL
               : "The linux_acl execution module cannot be loaded: the getfacl binary is not in the path.";
}

/* ---- table -------------------------------------------------------------------------------------- */

#define PATHS_ROW     ARG("args", ARG_ANY, ARG_STAR, "The files and folders")
#define RECURSIVE_ROW ARG("recursive", ARG_ANY, "false", "All that is below them, too")
#define TYPE_ROW                                                                                             \
    ARG("acl_type", ARG_STR, ARG_REQUIRED,                                                                   \
        "user, group, mask or other; after default: or d: what new files get")
#define NAME_ROW  ARG("acl_name", ARG_STR, "\"\"", "The user or group; empty: the owner")
#define RAISE_ROW ARG("raise_err", ARG_ANY, "false", "Fail when setfacl does")

static const arg_t getfacl_args[] = { PATHS_ROW, RECURSIVE_ROW, ARGS_END };
static const arg_t wipe_args[] = { PATHS_ROW, RECURSIVE_ROW, RAISE_ROW, ARGS_END };
static const arg_t modify_args[] = {
    TYPE_ROW,  NAME_ROW,      ARG("perms", ARG_ANY, "\"\"", "Letters of rwx, or a digit"),
    PATHS_ROW, RECURSIVE_ROW, RAISE_ROW,
    ARGS_END
};
static const arg_t delete_args[] = { TYPE_ROW, NAME_ROW, PATHS_ROW, RECURSIVE_ROW, RAISE_ROW, ARGS_END };

static const func_t funcs[] = {
    { "delfacl", acl_change, delete_args, 0,
      "Remove an entry of files." CLI_EXAMPLE("salt '*' acl.delfacl user bob /srv/www recursive=True"),
      .data.text = "-x" },
    { "getfacl", acl_getfacl, getfacl_args, FN_READONLY,
      "Return the entries of files, by path." CLI_EXAMPLE("salt '*' acl.getfacl /srv/www recursive=True") },
    { "modfacl", acl_change, modify_args, 0,
      "Add an entry to files, or change it." CLI_EXAMPLE(
          "salt '*' acl.modfacl default:group www rx /srv/www"),
      .data.text = "-m" },
    { "version", acl_version, NULL, FN_READONLY,
      "Return getfacl's version." CLI_EXAMPLE("salt '*' acl.version") },
    { "wipefacls", acl_change, wipe_args, 0,
      "Remove all entries that are not the owner's, the group's or the others'." CLI_EXAMPLE(
          "salt '*' acl.wipefacls /srv/www recursive=True"),
      .data.text = "-b" },
};

PLUGIN(exec, linux_acl, .provides = "acl", .doc = "Access control lists of files", FUNCS(funcs),
       .unavailable = exec_acl_unavailable);
