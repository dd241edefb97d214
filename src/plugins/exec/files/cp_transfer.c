/* cp_transfer.c - more of execution module `cp`: receives files that salt-cp sends (cprecv.h) and pushes
 * files to the master (cppush.h). Failures of single files are in the return, with retcode 1. */
#include "salt/plugin.h"

#include "plugins/lib/transfer/cpparts.h"
#include "plugins/lib/transfer/cppush.h"
#include "plugins/lib/transfer/cprecv.h"

/* ---- from salt-cp -------------------------------------------------------------------------- */

/* {path: whether it was written}; the text of an error as a whole. */
static int
cp_recv(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    bool failed = false;

    *ret_value = cprecv_files(value_get(args, "files"), value_str(args, "dest", ""), &failed);
    if (failed)
        ctx_set_retcode(ctx, 1);
    return 0;
}

/* salt-cp sends `copy`, `at` and `last`, which Salt's own salt-cp does not: a call without them appends or
 * replaces as Salt's minion does. */
static int
cp_recv_chunked(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    cprecv_chunk_t piece = { .dest = value_str(args, "dest", ""),
                             .chunk = value_str(args, "chunk", NULL),
                             .copy = value_str(args, "copy", NULL),
                             .cachedir = value_str(ctx_opts(ctx), "cachedir", "/var/cache/salt/minion"),
                             .id = value_str(ctx_opts(ctx), "id", "minion"),
                             .at = value_int(args, "at", 0),
                             .last = value_truthy(value_get(args, "last")),
                             .append = value_truthy(value_get(args, "append")),
                             .compressed = value_truthy(value_get(args, "compressed")),
                             .mode = (int) value_int(args, "mode", -1) };
    bool failed = false;

    *ret_value = cprecv_piece(&piece, &failed, err);
    if (failed)
        ctx_set_retcode(ctx, 1);
    return *ret_value != NULL ? 0 : -EINVAL;
}

/* Called by salt-cp when it gives a copy up. */
static int
cp_recv_forget(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = cpparts_forget(value_str(ctx_opts(ctx), "cachedir", "/var/cache/salt/minion"),
                                value_str(args, "copy", NULL));
    return 0;
}

/* ---- to the master ------------------------------------------------------------------------ */

/* False for each failure, with the reason in the log, as by Salt; the job succeeds. */
static int
cp_push(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const cppush_t what = { .path = value_str(args, "path", ""),
                            .upload_path = value_str(args, "upload_path", NULL),
                            .keep_symlinks = value_truthy(value_get(args, "keep_symlinks")),
                            .remove_source = value_truthy(value_get(args, "remove_source")) };

    *ret_value = json_boolean(cppush_file(ctx, &what));
    return 0;
}

/* Files below are pushed one by one, and one that fails makes the answer False. */
static int
cp_push_dir(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = json_boolean(cppush_dir(ctx, value_str(args, "path", ""), value_str(args, "glob", NULL),
                                         value_str(args, "upload_path", NULL)));
    return 0;
}

/* ---- the table ---------------------------------------------------------------------------- */

static const arg_t push_args[] = {
    ARG("path", ARG_STR, ARG_REQUIRED, "A file of the minion"),
    ARG("keep_symlinks", ARG_ANY, "false", "Its path as it is written, links in it not resolved"),
    ARG("upload_path", ARG_STR, "null", "Another path below the minion's folder on the master"),
    ARG("remove_source", ARG_ANY, "false", "Remove the file afterwards"),
    ARGS_END,
};
static const arg_t push_dir_args[] = {
    ARG("path", ARG_STR, ARG_REQUIRED, "A folder of the minion"),
    ARG("glob", ARG_STR, "null", "Only files whose names match"),
    ARG("upload_path", ARG_STR, "null", "Another folder below the minion's on the master"),
    ARGS_END,
};
static const arg_t recv_args[] = {
    ARG("files", ARG_DICT, ARG_REQUIRED, "Contents by path"),
    ARG("dest", ARG_STR, ARG_REQUIRED, "A path of the minion, or a folder"),
    ARGS_END,
};
static const arg_t recv_chunked_args[] = {
    ARG("dest", ARG_STR, ARG_REQUIRED, "A path of the minion"),
    ARG("chunk", ARG_STR, "null", "Bytes as base64; None: dest is an empty folder"),
    ARG("append", ARG_ANY, "false", "Behind what is there"),
    ARG("compressed", ARG_ANY, "true", "They are packed by gzip"),
    ARG("mode", ARG_INT, "null", "Permissions, with the first piece, or with the last of a copy"),
    ARG("copy", ARG_STR, "null",
        "Name of the copy that the piece is of: dest stays as it is until the last has come. `append` is not "
        "looked at"),
    ARG("at", ARG_INT, "0", "Of a copy: the byte that the piece begins at"),
    ARG("last", ARG_ANY, "false", "Of a copy: no piece follows"),
    ARGS_END,
};
static const arg_t recv_forget_args[] = {
    ARG("copy", ARG_STR, "null", "Name of the copy; None: all that have not grown for an hour"),
    ARGS_END,
};

static const func_t funcs[] = {
    { "push", cp_push, push_args, 0,
      "Send a file to the master, which keeps it in cachedir/minions/ID/files if its option file_recv allows "
      "it." CLI_EXAMPLE(
          "salt '*' cp.push /etc/fstab\n    salt '*' cp.push /etc/fstab upload_path='/new/path/fstab'"),
      ABSENT("path", "{} was not sent to the master; the log says why") },
    { "push_dir", cp_push_dir, push_dir_args, 0,
      "Send the files of a folder to the master, as cp.push does." CLI_EXAMPLE(
          "salt '*' cp.push_dir /etc/modprobe.d/ glob='*.conf'"),
      ABSENT("path", "{} was not sent to the master; the log says why") },
    { "recv", cp_recv, recv_args, 0,
      "Write files that salt-cp sends; return which were written." CLI_EXAMPLE("salt '*' cp.recv") },
    { "recv_chunked", cp_recv_chunked, recv_chunked_args, 0,
      "Write a piece of a file that salt-cp sends." CLI_EXAMPLE("salt '*' cp.recv_chunked") },
    { "recv_forget", cp_recv_forget, recv_forget_args, 0,
      "Remove what has come of files that salt-cp does not send to their end; return the paths. The minion "
      "does so itself now and then." CLI_EXAMPLE("salt '*' cp.recv_forget") },
};

PLUGIN(exec, cp_transfer, .provides = "cp", .doc = "Files from salt-cp and to the master", FUNCS(funcs));
