/* rsync.c - state module `rsync`: a tree that is equal to another one, by rsync(1). rsync itself finds the
 * differences; its words are three paragraphs: files, blank, sums. A test is a dry run. */
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/host/rootfs.h"
#include "plugins/lib/call/subcall.h"
#include "plugins/lib/file/fileops.h"
#include "salt/state.h"

/* The last paragraph of rsync's words, as a list: "- sent 100 bytes\n- received 35 bytes". NEW. */
static char *
rsync_summary(const char *said)
{
    const char *last = said, *next;
    buf_auto_t text = BUF_INIT;

    while ((next = strstr(last, "\n\n")) != NULL)
        last = next + 2;
    AUTO_FREE char *lines = str_replace(last, "  ", "\n");
    for (char *at = lines, *line; (line = line_next(&at)) != NULL;)
        if (*line != '\0')
            buf_printf(&text, "%s- %s", text.len > 0 ? "\n" : "", line);
    return xstrdup(text.len > 0 ? buf_str(&text) : "- ");
}

/* {"copied", "deleted"} of the first paragraph, N/A for none. NEW; NULL when nothing changed. */
static json_t *
rsync_changes(const char *said)
{
    static const char mark[] = "deleting ";
    const char *end = strstr(said, "\n\n");
    AUTO_FREE char *text = xstrndup(said, end != NULL ? (size_t) (end - said) : strlen(said));
    json_auto_t *copied = json_array(), *deleted = json_array();
    char *at = text;

    /* The first line says that the list begins. */
    (void) line_next(&at);
    for (char *line; (line = line_next(&at)) != NULL;) {
        bool gone = str_starts(line, mark);
        json_array_append_new(gone ? deleted : copied, json_string(gone ? line + sizeof mark - 1 : line));
    }
    json_auto_t *a = value_sorted_texts(copied), *b = value_sorted_texts(deleted);
    AUTO_FREE char *new_files = value_joined(a, "\n"), *old_files = value_joined(b, "\n");
    if (*new_files == '\0' && *old_files == '\0')
        return NULL;
    return json_pack("{s:s, s:s}", "copied", *new_files != '\0' ? new_files : "N/A", "deleted",
                     *old_files != '\0' ? old_files : "N/A");
}

/* rsync.rsync of the state's arguments to `dst`. NEW, or NULL with *err. */
static json_t *
rsync_call(call_ctx_t *ctx, const json_t *args, const char *dst, bool dry, fail_t *err)
{
    static const char *const passed[] = { "delete",  "force",       "update",         "passwordfile",
                                          "exclude", "excludefrom", "additional_opts" };
    json_auto_t *kwargs = json_pack("{s:O, s:s, s:b}", "src", value_get(args, "source"), "dst", dst, "dryrun",
                                    dry);
    json_t *ran = NULL;

    for (size_t i = 0; i < NELEMS(passed); i++)
        json_object_set(kwargs, passed[i], value_get(args, passed[i]));
    return ctx_call(ctx, "rsync.rsync", NULL, kwargs, &ran, err) == 0 ? ran : NULL;
}

/* Changes are read from rsync's own list of files, in a dry run as well. */
static int
rsync_synchronized(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = *ret_value = state_ret_args(args);
    const char *name = value_str(args, "name", "");
    bool dry = ctx_test(ctx) || value_truthy(value_get(args, "dryrun"));
    bool prepares = value_truthy(value_get(args, "prepare"));
    AUTO_FREE char *empty = xasprintf("%s/rsync-XXXXXX", fs_temp_dir());
    int there = fop_exists(name, err);

    if (there < 0)
        return there;
    if (there == 0 && !prepares && !value_truthy(value_get(args, "force")))
        return state_ret_set(ret, STATE_FALSE, "Destination directory %s was not found.", name);
    /* A folder that the run would make is foretold by an empty one. */
    bool stands_in = there == 0 && prepares && dry;
    if (stands_in && mkdtemp(empty) == NULL)
        return fs_fail(err, -errno, "make a folder like", empty);
    if (there == 0 && prepares && !dry && fs_mkdirs(name, 0777, err) < 0)
        return err->code;
    json_auto_t *ran = rsync_call(ctx, args, stands_in ? empty : name, dry, err);
    if (stands_in)
        (void) fs_remove_tree(empty, NULL);
    if (ran == NULL)
        return err->code;
    if (value_int(ran, "retcode", 1) != 0)
        return state_ret_set(ret, STATE_FALSE, "%s", value_str(ran, "stderr", ""));
    const char *said = value_str(ran, "stdout", "");
    AUTO_FREE char *summary = rsync_summary(said);
    json_t *changes = rsync_changes(said);
    if (changes != NULL)
        state_change_set(ret, changes);
    return state_ret_set(ret, dry && changes != NULL ? STATE_NONE : STATE_TRUE, "%s", summary);
}

static const char *
state_rsync_unavailable(call_ctx_t *ctx)
{
    return ctx_has(ctx, "rsync.rsync") ? NULL : "Command not found: rsync";
}

static const arg_t synchronized_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "The copy"),
    ARG("source", ARG_STR, ARG_REQUIRED, "The source: a path, HOST:PATH, rsync://..., salt://..."),
    ARG("delete", ARG_ANY, "false", "Delete what the source has not"),
    ARG("force", ARG_ANY, "false", "Delete folders that are not empty, too; the copy may be missing"),
    ARG("update", ARG_ANY, "false", "Leave files alone that are newer"),
    ARG("passwordfile", ARG_STR, "null", "A file with the password for a daemon"),
    ARG("exclude", ARG_ANY, "null", "Patterns of what is left out: a text, or a list"),
    ARG("excludefrom", ARG_STR, "null", "A file of such patterns, instead"),
    ARG("prepare", ARG_ANY, "false", "Make the folder, and those above it"),
    ARG("dryrun", ARG_ANY, "false", "Only say what would be copied"),
    ARG("additional_opts", ARG_ANY, "null", "A list of other options of rsync"),
    ARGS_END,
};

static const func_t funcs[] = {
    { "synchronized", rsync_synchronized, synchronized_args, 0,
      "Ensure that a folder has what the source has." },
};

PLUGIN(state, rsync, .doc = "Copies by rsync", FUNCS(funcs), .unavailable = state_rsync_unavailable);
