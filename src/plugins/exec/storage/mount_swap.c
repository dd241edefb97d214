/* mount_swap.c - execution module `mount`: swap in use (/proc/swaps, proc(5)), swapon(8) and swapoff(8).
 * Sizes are texts, in kibibytes. Whether it has worked is read from /proc/swaps, not from the programs'
 * exit codes. */
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/host/rootfs.h"
#include "plugins/lib/call/tool.h"
#include "salt/plugin.h"

#define SWAPS "/proc/swaps"

/* {device: {type, size, used, priority}}. NEW, or NULL with *err. */
static json_t *
swaps_now(fail_t *err)
{
    buf_auto_t text = BUF_INIT;
    json_t *swaps = json_object();

    if (fs_read_any(SWAPS, LIMIT_HOST_FILE, &text, err) < 0) {
        json_decref(swaps);
        return NULL;
    }
    for (char *at = text.data, *line; at != NULL && (line = line_next(&at)) != NULL;) {
        char **words = str_split(line, " \t", true);
        if (strv_len(words) >= 5 && !str_starts(line, "Filename"))
            json_object_set_new(swaps, words[0],
                                json_pack("{s:s, s:s, s:s, s:s}", "type", words[1], "size", words[2], "used",
                                          words[3], "priority", words[4]));
        strv_free(words);
    }
    return swaps;
}

static int
mount_swaps(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = swaps_now(err);
    return *ret_value != NULL ? 0 : err->code;
}

/* Runs the program; what it says is in the log. 0, also when it failed; negative with *err. */
static int
swap_run(call_ctx_t *ctx, const char *program, const char *name, const json_t *priority, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;
    int code, rc = tool_begin(&prog, program, err);

    rc = rc == 0 ? prog_operand(&prog, "name", name, err) : rc;
    if (rc < 0)
        return rc;
    if (value_truthy(priority))
        prog_add_option(&prog, "-p", priority);
    prog.timeout_ms = LIMIT_TOOL_MS;
    return tool_retcode(ctx, &prog, TOOL_MERGE, &code, err);
}

/* {stats: ..., new: whether it was not in use}; {} when swapon failed. */
static int
mount_swapon(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = value_str(args, "name", "");
    json_auto_t *before = swaps_now(err);

    if (before == NULL)
        return err->code;
    bool fresh = value_get(before, name) == NULL;
    if (fresh && swap_run(ctx, "swapon", name, value_get(args, "priority"), err) < 0)
        return err->code;
    json_auto_t *after = swaps_now(err);
    if (after == NULL)
        return err->code;
    json_t *stats = value_get(after, name);
    *ret_value = stats != NULL ? json_pack("{s:O, s:b}", "stats", stats, "new", fresh) : json_object();
    return 0;
}

/* None when it was not in use, else whether it no longer is. */
static int
mount_swapoff(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = value_str(args, "name", "");
    json_auto_t *before = swaps_now(err);

    if (before == NULL)
        return err->code;
    if (value_get(before, name) == NULL) {
        *ret_value = json_null();
        return 0;
    }
    json_auto_t *after = swap_run(ctx, "swapoff", name, NULL, err) == 0 ? swaps_now(err) : NULL;
    if (after == NULL)
        return err->code;
    *ret_value = json_boolean(value_get(after, name) == NULL);
    return 0;
}

#define NAME_ROW ARG("name", ARG_STR, ARG_REQUIRED, "The device or file: /swapfile")

static const arg_t swapon_args[] = { NAME_ROW, ARG("priority", ARG_ANY, "null", "The priority"), ARGS_END };
static const arg_t swapoff_args[] = { NAME_ROW, ARGS_END };

static const func_t funcs[] = {
    { "swapoff", mount_swapoff, swapoff_args, 0,
      "End the use of a swap." CLI_EXAMPLE("salt '*' mount.swapoff /swapfile") },
    { "swapon", mount_swapon, swapon_args, 0,
      "Use a swap." CLI_EXAMPLE("salt '*' mount.swapon /swapfile priority=5") },
    { "swaps", mount_swaps, NULL, FN_READONLY,
      "Return the swap in use." CLI_EXAMPLE("salt '*' mount.swaps") },
};

PLUGIN(exec, mount_swap, .provides = "mount", .doc = "Swap", FUNCS(funcs));
