/* nfs_export.c - state module `nfs_export`: folders that NFS exports, as exports(5) has them. The module nfs3
 * reads and writes the file; a line has a folder and [{"hosts", "options"}] of it. A line that differs is
 * removed and written anew, and exportfs takes the file over. */
#include "common/base/fs.h"
#include "plugins/lib/call/subcall.h"
#include "salt/state.h"

/* Reads the file anew into the kernel's server; its words are the comment of a failure. */
static int
reload(call_ctx_t *ctx, json_t *ret, const char *done, fail_t *err)
{
    json_auto_t *did = sub_call(ctx, err, "nfs3.reload_exports", NULL);

    if (did == NULL)
        return err->code;
    return json_is_true(value_get(did, "result"))
               ? state_ret_set(ret, STATE_TRUE, "%s", done)
               : state_ret_set(ret, STATE_FALSE, "%s", value_str(did, "stderr", ""));
}

/* True for the same clients in the same order. No options are written, and read, as one empty one. */
static bool
same_clients(const json_t *have, const json_t *want)
{
    json_auto_t *none = json_pack("[s]", "");
    json_t *one;
    size_t i;

    json_array_foreach ((json_t *) want, i, one) {
        json_t *was = json_array_get(have, i), *options = value_get(one, "options");
        if (!value_equal(value_get(was, "hosts"), value_get(one, "hosts")) ||
            !value_equal(value_get(was, "options"), value_truthy(options) ? options : none))
            return false;
    }
    return json_is_array(want) && json_array_size(have) == json_array_size(want);
}

static int
nfs_export_present(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *path = value_str(args, "name", "");
    json_t *ret = *ret_value = state_ret_args(args), *file = value_get(args, "exports"), *one;
    json_t *given = value_get(args, "clients"), *hosts = value_get(args, "hosts");
    size_t i;

    /* A list of clients wins over `hosts` and `options`, which stand for a single one. */
    json_auto_t *clients = value_truthy(given)   ? json_incref(given)
                           : value_truthy(hosts) ? json_pack("[{s:O, s:O}]", "hosts", hosts, "options",
                                                             value_get(args, "options"))
                                                 : NULL;
    if (clients == NULL)
        return state_ret_set(ret, STATE_FALSE, "Either 'clients' or 'hosts' must be defined");
    json_auto_t *all = sub_call(ctx, err, "nfs3.list_exports", "{s:O}", "exports", file);
    if (all == NULL)
        return err->code;
    json_t *old = value_get(all, path);
    if (old != NULL && same_clients(old, clients))
        return state_ret_set(ret, STATE_TRUE, "Export %s already configured", path);
    state_change(ret, "old", old != NULL ? json_incref(old) : json_null());
    state_change(ret, "new", json_incref(clients));
    if (ctx_test(ctx))
        return state_ret_set(ret, STATE_NONE, "Export %s would be %s", path,
                             old != NULL ? "changed" : "added");
    json_auto_t *gone = old != NULL ? sub_call(ctx, err, "nfs3.del_export", "{s:O, s:s}", "exports", file,
                                               "path", path)
                                    : json_null();
    if (gone == NULL)
        return err->code;
    json_array_foreach (clients, i, one) {
        json_auto_t *did = sub_call(ctx, err, "nfs3.add_export", "{s:O, s:s, s:O*, s:O*}", "exports", file,
                                    "path", path, "hosts", value_get(one, "hosts"), "options",
                                    value_get(one, "options"));
        if (did == NULL)
            return err->code;
    }
    return reload(ctx, ret, "", err);
}

/* The entry goes with all its clients. exportfs reads the file anew afterwards. */
static int
nfs_export_absent(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *path = value_str(args, "name", "");
    json_t *ret = *ret_value = state_ret_args(args), *file = value_get(args, "exports");
    json_auto_t *all = sub_call(ctx, err, "nfs3.list_exports", "{s:O}", "exports", file), *gone = NULL;
    AUTO_FREE char *done = xasprintf("Export %s removed", path);

    if (all == NULL)
        return err->code;
    if (value_get(all, path) == NULL)
        return state_ret_set(ret, STATE_TRUE, "Export %s already absent", path);
    state_change(ret, path, json_incref(value_get(all, path)));
    if (ctx_test(ctx))
        return state_ret_set(ret, STATE_NONE, "Export %s would be removed", path);
    gone = sub_call(ctx, err, "nfs3.del_export", "{s:O, s:s}", "exports", file, "path", path);
    return gone != NULL ? reload(ctx, ret, done, err) : err->code;
}

static const char *
nfs_export_unavailable(call_ctx_t *ctx)
{
    AUTO_FREE char *program = fs_which("exportfs");

    return program != NULL
               ? NULL
               : "The nfs_exports state module failed to load: the exportfs binary is not in the path";
}

#define NAME_ROW ARG("name", ARG_STR, ARG_REQUIRED, "The folder")
#define FILE_ROW ARG("exports", ARG_STR, "\"/etc/exports\"", "The file")

static const arg_t present_args[] = {
    NAME_ROW,
    ARG("clients", ARG_ANY, "null", "A list of {hosts: ..., options: [...]}"),
    ARG("hosts", ARG_ANY, "null", "Who may mount it, instead of clients"),
    ARG("options", ARG_ANY, "null", "A list of options for these hosts"),
    FILE_ROW,
    ARGS_END,
};
static const arg_t absent_args[] = { NAME_ROW, FILE_ROW, ARGS_END };

static const func_t funcs[] = {
    { "absent", nfs_export_absent, absent_args, 0, "Ensure that a folder is not exported." },
    { "present", nfs_export_present, present_args, 0,
      "Ensure that a folder is exported to these hosts alone." },
};

PLUGIN(state, nfs_export, .doc = "Exports of NFS", FUNCS(funcs), .unavailable = nfs_export_unavailable);
