/* hg.c - state module `hg`: a clone of a Mercurial repository at a revision. */
#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/call/subcall.h"
#include "plugins/lib/call/tool.h"
#include "plugins/lib/file/fileops.h"
#include "salt/state.h"

/* For the question to the repository in test mode, which may be far away. */
enum { HG_ASK_TIMEOUT_S = 300 };

/* A state's ret after a function of the module failed: its words as the comment. Other errors stay errors. */
static int
hg_failed(json_t *ret, fail_t *err)
{
    return err->kind == FAIL_COMMAND ? state_ret_fail(ret, err) : err->code;
}

/* The changeset at `rev`. NEW, or NULL with *err. */
static json_t *
hg_at(call_ctx_t *ctx, const json_t *args, const char *rev, fail_t *err)
{
    return sub_call_text(ctx, err, "hg.revision", "{s:O, s:O, s:s}", "cwd", value_get(args, "target"), "user",
                         value_get(args, "user"), "rev", rev);
}

/* hg.update to the revision of the state, by default the newest; 0 or negative with *err. */
static int
hg_checkout(call_ctx_t *ctx, const json_t *args, bool clean, fail_t *err)
{
    json_t *rev = value_get(args, "rev");
    json_auto_t *newest = json_string("tip"), *did = NULL;

    did = sub_call(ctx, err, "hg.update", "{s:O, s:O, s:b, s:O}", "cwd", value_get(args, "target"), "rev",
                   value_truthy(rev) ? rev : newest, "force", clean, "user", value_get(args, "user"));
    return did != NULL ? 0 : err->code;
}

/* The changeset that the state's revision has in the repository, for test mode; NULL where the repository
 * doesn't say. NEW. */
static json_t *
remote_changeset(call_ctx_t *ctx, const json_t *args, const char *rev)
{
    const char *key = value_str(args, "identity", ""), *name = value_str(args, "name", "");
    json_auto_t *line = json_pack("[s, s, s, s, s, s]", "hg", "id", "--debug", "-i", "-r", rev);
    fail_auto_t why = FAIL_INIT;

    if (*key != '\0') {
        AUTO_FREE char *quoted = str_shell_quote(key);
        json_array_append_new(line, json_string("--ssh"));
        json_array_append_new(line, value_fmt("ssh -i %s", quoted));
    }
    json_array_append_new(line, json_string(name));
    if (prog_check_operand("name", name, &why) < 0)
        return NULL;
    json_auto_t *ran = tool_words(ctx, line, NULL, value_str(args, "user", NULL), TOOL_QUIET,
                                  HG_ASK_TIMEOUT_S, &why);
    return value_int(ran, "retcode", 1) == 0 ? json_incref(value_get(ran, "stdout")) : NULL;
}

/* Pulls, then updates to the revision; with update_head=False only pulls. */
static int
update_clone(call_ctx_t *ctx, json_t *args, json_t *ret, fail_t *err)
{
    const char *target = value_str(args, "target", "");
    json_auto_t *before = hg_at(ctx, args, ".", err);

    if (before == NULL)
        return hg_failed(ret, err);
    if (!value_truthy(before))
        return state_ret_set(ret, STATE_FALSE, "Seems that %s is not a valid hg repo", target);
    if (ctx_test(ctx)) {
        /* Foretells an update. Where the repository doesn't say what it has there may be one, as Salt
         * says. */
        const char *rev = value_str(args, "rev", "");
        bool moves = !json_is_false(value_get(args, "update_head"));
        json_auto_t *after = remote_changeset(ctx, args, *rev != '\0' ? rev : "tip");
        if (!moves || (after != NULL && json_equal(before, after)))
            return 0;
        if (after != NULL)
            state_change(ret, "revision",
                         value_fmt("%s => %s", json_string_value(before), json_string_value(after)));
        return state_ret_set(ret, STATE_NONE,
                             "Repository %s update is probably required (current revision is %s)", target,
                             json_string_value(before));
    }
    json_auto_t *said = sub_call_text(ctx, err, "hg.pull", "{s:s, s:O, s:O, s:O, s:O}", "cwd", target, "user",
                                      value_get(args, "user"), "identity", value_get(args, "identity"),
                                      "opts", value_get(args, "opts"), "repository", value_get(args, "name"));
    if (said == NULL)
        return hg_failed(ret, err);
    if (json_is_false(value_get(args, "update_head")))
        return state_ret_set(ret, STATE_TRUE, "%s",
                             strstr(json_string_value(said), "no changes found") != NULL
                                 ? "No changes found and update_head=False so will skip updating."
                                 : "Update is probably required but update_head=False so we will skip "
                                   "updating.");
    json_auto_t *after = hg_checkout(ctx, args, value_truthy(value_get(args, "clean")), err) == 0
                             ? hg_at(ctx, args, ".", err)
                             : NULL;
    if (after == NULL)
        return hg_failed(ret, err);
    if (!json_equal(before, after)) {
        state_change(ret, "revision",
                     value_fmt("%s => %s", json_string_value(before), json_string_value(after)));
        return state_ret_set(ret, STATE_TRUE, "Repository %s updated.", target);
    }
    return strstr(json_string_value(said), "error:") == NULL
               ? 0
               : state_ret_set(ret, STATE_FALSE, "An error was thrown by hg:\n%s", json_string_value(said));
}

/* Removes the folder that is in the way. 1 when the state has ended, 0, or negative. */
static int
hg_make_room(call_ctx_t *ctx, const json_t *args, json_t *ret, fail_t *err)
{
    const char *target = value_str(args, "target", "");
    char **names = NULL;
    int rc = fs_names(target, &names, err);
    bool empty = strv_len(names) == 0;

    strv_free(names);
    if (rc < 0)
        return rc;
    if (!empty && !value_truthy(value_get(args, "force")))
        return state_ret_set(ret, STATE_FALSE, "Directory exists, and is not empty"), 1;
    return ctx_test(ctx) || fop_remove(target, err) >= 0 ? 0 : err->code;
}

/* A folder with .hg in it is a clone and is updated; another one is in the way unless `force` lets it be
 * removed. */
static int
hg_latest(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = *ret_value = state_ret_args(args);
    const char *name = value_str(args, "name", ""), *target = value_str(args, "target", "");
    AUTO_FREE char *mark = fs_join(target, ".hg");

    if (*target == '\0')
        return state_ret_set(ret, STATE_FALSE, "\"target option is required");
    int is_folder = fop_exists_as(target, S_IFDIR, err);
    int is_clone = is_folder > 0 ? fop_exists_as(mark, S_IFDIR, err) : is_folder;
    if (is_folder < 0 || is_clone < 0)
        return err->code;
    if (is_clone > 0)
        return update_clone(ctx, args, ret, err);
    int rc = is_folder > 0 ? hg_make_room(ctx, args, ret, err) : 0;
    if (rc != 0)
        return rc < 0 ? rc : 0;
    if (ctx_test(ctx)) {
        /* The repository may not say it, and the test goes on without it. */
        json_auto_t *tip = remote_changeset(ctx, args, "tip");
        state_change(ret, "new", json_string(name));
        if (tip != NULL)
            state_change(ret, "revision", json_incref(tip));
        return state_ret_set(ret, STATE_NONE, "Repository %s is about to be cloned to %s", name, target);
    }
    json_auto_t *did = sub_call(ctx, err, "hg.clone", "{s:s, s:s, s:O, s:O, s:O}", "cwd", target,
                                "repository", name, "user", value_get(args, "user"), "identity",
                                value_get(args, "identity"), "opts", value_get(args, "opts"));
    if (did == NULL || (value_truthy(value_get(args, "rev")) && hg_checkout(ctx, args, false, err) < 0))
        return hg_failed(ret, err);
    json_auto_t *now = hg_at(ctx, args, "tip", err);
    if (now == NULL)
        return hg_failed(ret, err);
    state_change(ret, "new", json_string(name));
    state_change(ret, "revision", json_incref(now));
    return state_ret_set(ret, STATE_TRUE, "Repository %s cloned to %s", name, target);
}

static const char *
state_hg_unavailable(call_ctx_t *ctx)
{
    return ctx_has(ctx, "hg.clone") ? NULL : "Command hg not found";
}

static const arg_t latest_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "Address of the repository"),
    ARG("rev", ARG_STR, "null", "A changeset, branch, tag or bookmark; by default the newest changeset"),
    ARG("target", ARG_STR, "null", "The clone"),
    ARG("clean", ARG_ANY, "false", "Discard changes of files in the clone"),
    ARG("user", ARG_STR, "null", "User to run hg as"),
    ARG("identity", ARG_STR, "null", "Private key for ssh, a file on this host"),
    ARG("force", ARG_ANY, "false", "Replace a folder that is no clone"),
    ARG("opts", ARG_ANY, "false", "Further options of hg, as a text"),
    ARG("update_head", ARG_ANY, "true", "False: pull changes, but leave the files as they are"),
    ARGS_END,
};

static const func_t funcs[] = {
    { "latest", hg_latest, latest_args, 0, "Ensure that a clone is there and has the repository's changes." },
};

PLUGIN(state, hg, .doc = "Repositories of Mercurial", FUNCS(funcs), .unavailable = state_hg_unavailable);
