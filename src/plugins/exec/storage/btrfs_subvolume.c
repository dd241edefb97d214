/* btrfs_subvolume.c - execution module `btrfs`: subvolumes and snapshots. */
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/host/rootfs.h"
#include "plugins/lib/system/btrfs.h"

/* Begins `btrfs subvolume WORD`. */
static int
subvolume_begin(prog_t *prog, const char *word, fail_t *err)
{
    if (tool_begin(prog, "btrfs", err) < 0)
        return err->code;
    prog_adds(prog, "subvolume", word, NULL);
    return 0;
}

/* Runs it; true is the answer when it did not fail. */
static int
subvolume_done(call_ctx_t *ctx, prog_t *prog, json_t **ret_value, fail_t *err)
{
    json_auto_t *ran = btrfs_run(ctx, prog, err);

    *ret_value = ran != NULL ? json_true() : NULL;
    return ran != NULL ? 0 : err->code;
}

/* 1 when the path is a subvolume, 0 when not, or a negative errno. */
static int
subvolume_is(call_ctx_t *ctx, const char *path, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;
    int code = -1;

    if (subvolume_begin(&prog, "show", err) < 0 || prog_operand(&prog, "path", path, err) < 0)
        return err->code;
    prog.timeout_ms = LIMIT_TOOL_MS;
    int rc = tool_retcode(ctx, &prog, TOOL_QUIET, &code, err);
    return rc < 0 ? rc : code == 0;
}

static int
subvolume_exists(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    int is = subvolume_is(ctx, value_str(args, "path", ""), err);

    *ret_value = is < 0 ? NULL : json_boolean(is > 0);
    return is < 0 ? is : 0;
}

static int
subvolume_create(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *groups = value_get(args, "qgroupids"), *one;
    const char *dest = value_str(args, "dest", ""), *given = value_str(args, "name", "");
    AUTO_FREE char *name = *dest != '\0' ? fs_join(dest, given) : xstrdup(given);
    prog_auto_t prog = PROG_INIT;
    size_t i;

    if (value_truthy(groups) && !json_is_array(groups))
        return fail_kind(err, FAIL_COMMAND, -EINVAL, "Qgroupids parameter must be a list");
    int is = subvolume_is(ctx, name, err);
    if (is != 0) {
        *ret_value = is > 0 ? json_false() : NULL;
        return is > 0 ? 0 : is;
    }
    if (subvolume_begin(&prog, "create", err) < 0)
        return err->code;
    json_array_foreach (groups, i, one)
        prog_add_option(&prog, "-i", one);
    if (prog_operand(&prog, "name", name, err) < 0)
        return err->code;
    return subvolume_done(ctx, &prog, ret_value, err);
}

static int
subvolume_delete(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = value_str(args, "name", ""), *commit = value_str(args, "commit", "");
    json_t *names = value_get(args, "names"), *one;
    json_auto_t *all = json_array(), *left = json_array();
    prog_auto_t prog = PROG_INIT;
    size_t i;

    if (*name == '\0' && !(json_is_array(names) && json_array_size(names) > 0))
        return fail_kind(err, FAIL_COMMAND, -EINVAL, "Provide a value for the name parameter");
    if (*commit != '\0' && strcmp(commit, "after") != 0 && strcmp(commit, "each") != 0)
        return fail_kind(err, FAIL_COMMAND, -EINVAL, "Value for commit not recognized");
    if (*name != '\0')
        json_array_append_new(all, json_string(name));
    if (json_is_array(names))
        json_array_extend(all, names);
    json_array_foreach (all, i, one) {
        int is = value_truthy(one) && json_is_string(one) ? subvolume_is(ctx, json_string_value(one), err)
                                                          : 0;
        if (is < 0)
            return is;
        if (is > 0)
            json_array_append(left, one);
    }
    *ret_value = json_false();
    if (json_array_size(left) == 0)
        return 0;
    json_decref(STEAL(*ret_value));
    if (subvolume_begin(&prog, "delete", err) < 0)
        return err->code;
    if (*commit != '\0')
        prog_addf(&prog, "--commit-%s", commit);
    if (prog_operands(&prog, "names", left, err) < 0)
        return err->code;
    return subvolume_done(ctx, &prog, ret_value, err);
}

static int
subvolume_find_new(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *last_gen = value_pystr(value_get(args, "last_gen"));
    prog_auto_t prog = PROG_INIT;

    if (subvolume_begin(&prog, "find-new", err) < 0 ||
        prog_operand(&prog, "name", value_str(args, "name", ""), err) < 0 ||
        prog_operand(&prog, "last_gen", last_gen, err) < 0)
        return err->code;
    json_auto_t *ran = btrfs_run(ctx, &prog, err);
    if (ran == NULL)
        return err->code;
    json_auto_t *files = json_array();
    AUTO_FREE char *text = xstrdup(value_str(ran, "stdout", "")), *last = xstrdup("");
    for (char *at = text, *line; (line = line_next(&at)) != NULL;) {
        char *blank = strrchr(str_trim(line), ' ');
        char *word = blank != NULL ? blank + 1 : line;
        if (str_starts(line, "inode"))
            json_array_append_new(files, value_utf8(word, strlen(word)));
        free(last);
        last = xstrdup(word);
    }
    *ret_value = json_pack("{s:O, s:s}", "files", files, "transid", last);
    return 0;
}

static int
subvolume_get_default(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;

    if (subvolume_begin(&prog, "get-default", err) < 0 ||
        prog_operand(&prog, "path", value_str(args, "path", ""), err) < 0)
        return err->code;
    json_auto_t *ran = btrfs_run(ctx, &prog, err);
    if (ran == NULL)
        return err->code;
    char **words = str_split(value_str(ran, "stdout", ""), " \n", true);
    size_t n = strv_len(words);
    if (n > 1)
        *ret_value = json_pack("{s:s, s:s}", "id", words[1], "name", words[n - 1]);
    strv_free(words);
    return n > 1 ? 0 : fail_kind(err, FAIL_COMMAND, -EPROTO, "btrfs names no default subvolume");
}

/* Takes "KEY VALUE" off the beginning of *line_p; the rest of the line is a path's value, and two words are a
 * time. Nothing when it begins with something else. */
static void
subvolume_take(char **line_p, const char *key, json_t *into)
{
    AUTO_FREE char *name = xstrdup(key);
    char *line = *line_p;
    size_t n = strlen(key);

    if (strncmp(line, key, n) != 0 || line[n] != ' ')
        return;
    char *value = line + n + strspn(line + n, " ");
    char *end = strcmp(key, "path") == 0 ? value + strlen(value) : value + strcspn(value, " ");
    if (strcmp(key, "otime") == 0 && *end == ' ')
        end += 1 + strcspn(end + 1, " ");
    for (char *c = name; *c != '\0'; c++)
        *c = *c == 'I' ? 'i' : *c == 'D' ? 'd' : *c;
    json_object_set_new(into, name, value_utf8(value, (size_t) (end - value)));
    *line_p = end + strspn(end, " ");
}

/* Adds the sort keys, each of which must be one that btrfs knows. */
static int
subvolume_sort(prog_t *prog, const json_t *sort, fail_t *err)
{
    static const char *const known[] = { "rootid", "gen", "ogen", "path" };
    buf_auto_t keys = BUF_INIT;
    json_t *one;
    size_t i;

    if (value_truthy(sort) && !json_is_array(sort))
        return fail_kind(err, FAIL_COMMAND, -EINVAL, "Sort parameter must be a list");
    json_array_foreach (sort, i, one) {
        const char *key = json_is_string(one) ? json_string_value(one) : "";
        bool good = false;
        for (size_t k = 0; k < NELEMS(known); k++)
            good = good || strcmp(key + (*key != '\0' && strchr("+-", *key) != NULL), known[k]) == 0;
        if (!good)
            return fail_kind(err, FAIL_COMMAND, -EINVAL, "Value for sort not recognized");
        buf_printf(&keys, "%s%s", i > 0 ? "," : "", key);
    }
    if (keys.len > 0)
        prog_addf(prog, "--sort=%s", buf_str(&keys));
    return 0;
}

static int
subvolume_list(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const struct {
        const char *name, *option;
        bool valued;
    } options[] = { { "parent_id", "-p", false },     { "absolute", "-a", false },
                    { "ogeneration", "-c", false },   { "generation", "-g", false },
                    { "subvolumes", "-o", false },    { "uuid", "-u", false },
                    { "parent_uuid", "-q", false },   { "sent_subvolume_uuid", "-R", false },
                    { "snapshots", "-s", false },     { "readonly", "-r", false },
                    { "deleted", "-d", false },       { "generation_cmp", "-G", true },
                    { "ogeneration_cmp", "-C", true } };
    static const char *const columns[] = { "ID",    "gen",         "cgen",          "parent", "top level",
                                           "otime", "parent_uuid", "received_uuid", "uuid",   "path" };
    prog_auto_t prog = PROG_INIT;

    if (subvolume_begin(&prog, "list", err) < 0)
        return err->code;
    for (size_t i = 0; i < NELEMS(options); i++) {
        const json_t *given = value_get(args, options[i].name);
        if (!value_truthy(given))
            continue;
        if (options[i].valued)
            prog_add_option(&prog, options[i].option, given);
        else
            prog_add(&prog, options[i].option);
    }
    if (subvolume_sort(&prog, value_get(args, "sort"), err) < 0 ||
        prog_operand(&prog, "path", value_str(args, "path", ""), err) < 0)
        return err->code;
    json_auto_t *ran = btrfs_run(ctx, &prog, err);
    if (ran == NULL)
        return err->code;
    *ret_value = json_array();
    AUTO_FREE char *text = xstrdup(value_str(ran, "stdout", ""));
    for (char *at = text, *line; (line = line_next(&at)) != NULL;) {
        json_auto_t *one = json_object();
        for (size_t i = 0; i < NELEMS(columns); i++)
            subvolume_take(&line, columns[i], one);
        if (*line == '\0')
            json_array_append(*ret_value, one);
    }
    return 0;
}

static int
subvolume_set_default(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *id = value_pystr(value_get(args, "subvolid"));
    prog_auto_t prog = PROG_INIT;

    if (subvolume_begin(&prog, "set-default", err) < 0 || prog_operand(&prog, "subvolid", id, err) < 0 ||
        prog_operand(&prog, "path", value_str(args, "path", ""), err) < 0)
        return err->code;
    return subvolume_done(ctx, &prog, ret_value, err);
}

static int
subvolume_show(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;

    if (subvolume_begin(&prog, "show", err) < 0 ||
        prog_operand(&prog, "path", value_str(args, "path", ""), err) < 0)
        return err->code;
    json_auto_t *ran = btrfs_run(ctx, &prog, err);
    if (ran == NULL)
        return err->code;
    json_t *table = NULL;
    AUTO_FREE char *text = xstrdup(value_str(ran, "stdout", "")), *last = NULL;
    *ret_value = json_object();
    for (char *at = text, *line; (line = line_next(&at)) != NULL;) {
        char *value = table != NULL ? line_value(line, ':') : NULL;
        if (table == NULL) {
            table = json_object();
            json_object_set_new(*ret_value, str_trim(line), table);
        } else if (value != NULL) {
            free(last);
            last = xstrdup(str_trim(line));
            for (char *c = last; *c != '\0'; c++)
                *c = *c >= 'A' && *c <= 'Z' ? (char) (*c + 32) : *c;
            json_object_set_new(table, last, value_utf8(value, strlen(value)));
        } else if (last != NULL) {
            /* The names of snapshots stand below their head. */
            const char *above = value_str(table, last, "");
            AUTO_FREE char *more = xasprintf("%s%s%s", above, *above != '\0' ? "\n" : "", str_trim(line));
            json_object_set_new(table, last, value_utf8(more, strlen(more)));
        }
    }
    return 0;
}

static int
subvolume_snapshot(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *dest = value_str(args, "dest", ""), *name = value_str(args, "name", "");
    AUTO_FREE char *place = *dest == '\0'   ? xstrdup(name)
                            : *name == '\0' ? xstrdup(dest)
                                            : fs_join(dest, name);
    prog_auto_t prog = PROG_INIT;

    if (*place == '\0')
        return fail_kind(err, FAIL_COMMAND, -EINVAL, "Provide parameter dest, name, or both");
    if (subvolume_begin(&prog, "snapshot", err) < 0)
        return err->code;
    if (value_bool(args, "read_only", false))
        prog_add(&prog, "-r");
    if (prog_operand(&prog, "source", value_str(args, "source", ""), err) < 0 ||
        prog_operand(&prog, "name", place, err) < 0)
        return err->code;
    return subvolume_done(ctx, &prog, ret_value, err);
}

static int
subvolume_sync(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const json_t *ids = value_get(args, "subvolids");
    prog_auto_t prog = PROG_INIT;

    if (value_truthy(ids) && !json_is_array(ids))
        return fail_kind(err, FAIL_COMMAND, -EINVAL, "Subvolids parameter must be a list");
    if (subvolume_begin(&prog, "sync", err) < 0)
        return err->code;
    if (value_truthy(value_get(args, "sleep")))
        prog_add_option(&prog, "-s", value_get(args, "sleep"));
    if (prog_operand(&prog, "path", value_str(args, "path", ""), err) < 0)
        return err->code;
    if (json_is_array(ids))
        prog_add_json(&prog, ids);
    return subvolume_done(ctx, &prog, ret_value, err);
}

/* ---- the table ------------------------------------------------------------------------------ */

#define ROW_PATH ARG("path", ARG_STR, ARG_REQUIRED, "A path on the file system")

static const arg_t path_args[] = { ROW_PATH, ARGS_END };
static const arg_t create_args[] = { ARG("name", ARG_STR, ARG_REQUIRED, "Its name"),
                                     ARG("dest", ARG_STR, "null", "The folder; by default the current one"),
                                     ARG("qgroupids", ARG_ANY, "null", "A list of quota groups"), ARGS_END };
static const arg_t delete_args[] = {
    ARG("name", ARG_STR, "null", "One subvolume"), ARG("names", ARG_ANY, "null", "A list of them"),
    ARG("commit", ARG_STR, "null", "Wait for the transaction: after, or each"), ARGS_END
};
static const arg_t find_new_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "The subvolume"),
    ARG("last_gen", ARG_ANY, ARG_REQUIRED, "What is newer than this generation"), ARGS_END
};
static const arg_t list_args[] = {
    ROW_PATH,
    ARG("parent_id", ARG_BOOL, "false", "With the parent's ID"),
    ARG("absolute", ARG_BOOL, "false", "All of the file system, absolute paths marked"),
    ARG("ogeneration", ARG_BOOL, "false", "With the generation of their creation"),
    ARG("generation", ARG_BOOL, "false", "With the generation"),
    ARG("subvolumes", ARG_BOOL, "false", "Only those below the path"),
    ARG("uuid", ARG_BOOL, "false", "With the UUID"),
    ARG("parent_uuid", ARG_BOOL, "false", "With the UUID of what they are snapshots of"),
    ARG("sent_subvolume_uuid", ARG_BOOL, "false", "With the UUID of what was received"),
    ARG("snapshots", ARG_BOOL, "false", "Only snapshots"),
    ARG("readonly", ARG_BOOL, "false", "Only those that can't be written"),
    ARG("deleted", ARG_BOOL, "false", "Only those that are deleted and not gone yet"),
    ARG("generation_cmp", ARG_ANY, "null", "Only of that generation, +N: or later, -N: or before"),
    ARG("ogeneration_cmp", ARG_ANY, "null", "The same of the generation of their creation"),
    ARG("sort", ARG_ANY, "null", "A list of rootid, gen, ogen and path, each with + or - before it"),
    ARGS_END
};
static const arg_t set_default_args[] = { ARG("subvolid", ARG_ANY, ARG_REQUIRED, "Its ID"), ROW_PATH,
                                          ARGS_END };
static const arg_t snapshot_args[] = { ARG("source", ARG_STR, ARG_REQUIRED, "The subvolume"),
                                       ARG("dest", ARG_STR, "null",
                                           "The folder; alone: the source's name in it"),
                                       ARG("name", ARG_STR, "null", "The snapshot's name"),
                                       ARG("read_only", ARG_BOOL, "false", "It can't be written"), ARGS_END };
static const arg_t sync_args[] = { ROW_PATH,
                                   ARG("subvolids", ARG_ANY, "null", "A list of IDs; by default all"),
                                   ARG("sleep", ARG_ANY, "null", "Seconds between looks"), ARGS_END };

static const func_t funcs[] = {
    { "subvolume_create", subvolume_create, create_args, 0,
      "Make a subvolume; False when there is one of that name." CLI_EXAMPLE(
          "salt '*' btrfs.subvolume_create var dest=/mnt/data") },
    { "subvolume_delete", subvolume_delete, delete_args, 0,
      "Delete subvolumes; False when none of them is there." CLI_EXAMPLE(
          "salt '*' btrfs.subvolume_delete /mnt/data/var commit=after") },
    { "subvolume_exists", subvolume_exists, path_args, FN_READONLY,
      "Whether the path is a subvolume." CLI_EXAMPLE("salt '*' btrfs.subvolume_exists /mnt/data/var") },
    { "subvolume_find_new", subvolume_find_new, find_new_args, FN_READONLY,
      "Files of a subvolume that changed since a generation." CLI_EXAMPLE(
          "salt '*' btrfs.subvolume_find_new /mnt/data/var 1024") },
    { "subvolume_get_default", subvolume_get_default, path_args, FN_READONLY,
      "The subvolume that is mounted by default." CLI_EXAMPLE(
          "salt '*' btrfs.subvolume_get_default /mnt/data") },
    { "subvolume_list", subvolume_list, list_args, FN_READONLY,
      "The subvolumes of a file system." CLI_EXAMPLE(
          "salt '*' btrfs.subvolume_list /mnt/data sort='[-rootid]'") },
    { "subvolume_set_default", subvolume_set_default, set_default_args, 0,
      "Choose the subvolume that is mounted by default." CLI_EXAMPLE(
          "salt '*' btrfs.subvolume_set_default 257 /mnt/data") },
    { "subvolume_show", subvolume_show, path_args, FN_READONLY,
      "Facts about a subvolume." CLI_EXAMPLE("salt '*' btrfs.subvolume_show /mnt/data/var") },
    { "subvolume_snapshot", subvolume_snapshot, snapshot_args, 0,
      "Make a snapshot of a subvolume." CLI_EXAMPLE(
          "salt '*' btrfs.subvolume_snapshot /mnt/data/var dest=/mnt/data/.snapshots name=monday") },
    { "subvolume_sync", subvolume_sync, sync_args, 0,
      "Wait until deleted subvolumes are gone." CLI_EXAMPLE("salt '*' btrfs.subvolume_sync /mnt/data") },
};

PLUGIN(exec, btrfs_subvolume, .provides = "btrfs", .doc = "Subvolumes of Btrfs", FUNCS(funcs));
