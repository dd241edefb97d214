/* svn.c - state module `svn`: working copies and exports of a Subversion repository. */
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/host/prog.h"
#include "plugins/lib/file/fileops.h"
#include "plugins/lib/git/svncmd.h"
#include "salt/state.h"

/* The options that states share. NEW list. */
static json_t *
svn_options(const json_t *args, bool with_rev)
{
    json_t *opts = json_array(), *rev = value_get(args, "rev");
    AUTO_FREE char *number = value_pystr(rev);
    const char *failures = value_str(args, "trust_failures", "");

    if (with_rev && value_truthy(rev)) {
        json_array_append_new(opts, json_string("-r"));
        json_array_append_new(opts, json_string(number));
    }
    if (value_truthy(value_get(args, "force")))
        json_array_append_new(opts, json_string("--force"));
    if (json_is_false(value_get(args, "externals")))
        json_array_append_new(opts, json_string("--ignore-externals"));
    if (value_truthy(value_get(args, "trust")))
        json_array_append_new(opts, json_string("--trust-server-cert"));
    if (*failures != '\0') {
        json_array_append_new(opts, json_string("--trust-server-cert-failures"));
        json_array_append_new(opts, json_string(failures));
    }
    return opts;
}

/* The revision of a working copy or an address, at `rev` when it is not empty. NEW; NULL where svn says
 * none. */
static char *
revision_of(call_ctx_t *ctx, const json_t *args, const char *what, const char *rev)
{
    json_auto_t *words = json_array();
    fail_auto_t why = FAIL_INIT;

    if (*rev != '\0') {
        json_array_append_new(words, json_string("-r"));
        json_array_append_new(words, json_string(rev));
    }
    json_array_append_new(words, json_string(what));
    json_auto_t *text = svn_run(ctx, args, "info", json_incref(words), &why);
    return text != NULL ? svn_value(json_string_value(text), "Revision") : NULL;
}

/* svn COMMAND in the folder above the target. NEW output, or NULL with *err. */
static json_t *
above(call_ctx_t *ctx, const json_t *args, const char *command, const char *remote, fail_t *err)
{
    const char *target = value_str(args, "target", ""), *name = fop_basename(target);
    AUTO_FREE char *folder = fop_dirname(target);
    json_auto_t *copy = json_copy((json_t *) args);
    bool exports = strcmp(command, "export") == 0;
    json_t *words = svn_options(args, !exports), *rev = value_get(args, "rev");
    AUTO_FREE char *number = value_truthy(rev) ? value_pystr(rev) : xstrdup("HEAD");

    json_object_set_new(copy, "cwd", json_string(folder));
    if (remote != NULL)
        json_array_append_new(words, json_string(remote));
    if (*name != '\0')
        json_array_append_new(words, json_string(name));
    if (exports) {
        json_array_append_new(words, json_string("-r"));
        json_array_append_new(words, json_string(number));
    }
    return svn_run(ctx, copy, command, words, err);
}

/* True when the state ends with what is wrong with its arguments; a name that svn would take for an option is
 * an error. */
static bool
svn_refuses(const json_t *args, bool overwrites, json_t *ret, int *ret_rc, fail_t *err)
{
    const char *target = value_str(args, "target", "");

    *ret_rc = 0;
    if (*target == '\0')
        return state_ret_set(ret, STATE_FALSE, "Target option is required"), true;
    int there = fop_exists(target, err), folder = there > 0 ? fop_exists_as(target, S_IFDIR, err) : there;
    if (folder < 0 || prog_check_operand("name", value_str(args, "name", ""), err) < 0 ||
        prog_check_operand("target", fop_basename(target), err) < 0)
        return *ret_rc = err->code, true;
    if (there > 0 && folder == 0 && !overwrites)
        return state_ret_set(ret, STATE_FALSE, "The path \"%s\" exists and is not a directory.", target),
               true;
    return false;
}

/* A working copy is updated, anything else checked out. svn's own words are the comment. */
static int
svn_latest(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = *ret_value = state_ret_args(args);
    const char *name = value_str(args, "name", ""), *target = value_str(args, "target", "");
    int rc;

    if (svn_refuses(args, false, ret, &rc, err))
        return rc;
    int there = fop_exists(target, err);
    AUTO_FREE char *before = there > 0 ? revision_of(ctx, args, target, "") : NULL;
    if (ctx_test(ctx)) {
        /* Foretells svn.latest; `now` is the working copy's revision, NULL where there is none. */
        AUTO_FREE char *rev = value_truthy(value_get(args, "rev")) ? value_pystr(value_get(args, "rev"))
                                                                   : xstrdup("HEAD");
        AUTO_FREE char *then = revision_of(ctx, args, before != NULL ? target : name, rev);
        if (before == NULL) {
            state_change(ret, "new", json_string(name));
            state_change(ret, "revision", then != NULL ? json_string(then) : json_null());
            return state_ret_set(ret, STATE_NONE, "%s %s and is set to be checked out at revision %s.",
                                 target, (there > 0) ? "is no working copy" : "doesn't exist", rev);
        }
        if (then != NULL && strcmp(before, then) == 0)
            return 0;
        json_auto_t *words = json_pack("[s, o, s]", "-r", value_fmt("%s:%s", before, rev), target),
                    *diff = NULL;
        fail_auto_t why = FAIL_INIT;
        diff = svn_run(ctx, args, "diff", json_incref(words), &why);
        if (then != NULL)
            state_change(ret, "revision", value_fmt("%s => %s", before, then));
        return state_ret_set(ret, STATE_NONE, "%s", diff != NULL ? json_string_value(diff) : why.text);
    }
    json_auto_t *said = above(ctx, args, before != NULL ? "update" : "checkout", before != NULL ? NULL : name,
                              err);
    if (said == NULL)
        return err->code;
    AUTO_FREE char *after = revision_of(ctx, args, target, "");
    if (after == NULL)
        return fail_kind(err, FAIL_COMMAND, -EPROTO, "svn does not tell the revision of %s", target);
    if (before == NULL) {
        state_change(ret, "new", json_string(name));
        state_change(ret, "revision", json_string(after));
    } else if (strcmp(before, after) != 0) {
        state_change(ret, "revision", value_fmt("%s => %s", before, after));
    }
    return state_ret_set(ret, STATE_TRUE, "%s", json_string_value(said));
}

/* An export has no revision to compare, so each run exports again. */
static int
svn_export(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = *ret_value = state_ret_args(args);
    const char *name = value_str(args, "name", ""), *target = value_str(args, "target", "");
    int rc;

    if (svn_refuses(args, value_truthy(value_get(args, "overwrite")), ret, &rc, err))
        return rc;
    if (ctx_test(ctx)) {
        int there = fop_exists(target, err);
        if (there > 0 && !value_truthy(value_get(args, "force")))
            return state_ret_set(ret, STATE_FALSE, "%s exists; `force: True` exports over it", target);
        state_change(ret, "new", json_string(name));
        state_change(ret, "comment", value_fmt("%s was Exported to %s", name, target));
        return there < 0 ? there
                         : state_ret_set(ret, STATE_NONE,
                                         there > 0 ? "%s is set to be exported over."
                                                   : "%s doesn't exist and is set to be "
                                                     "checked out.",
                                         target);
    }
    json_auto_t *said = above(ctx, args, "export", name, err);
    if (said == NULL)
        return err->code;
    state_change(ret, "new", json_string(name));
    state_change(ret, "comment", value_fmt("%s was Exported to %s", name, target));
    return state_ret_set(ret, STATE_TRUE, "%s", json_string_value(said));
}

static const char *
state_svn_unavailable(call_ctx_t *ctx)
{
    return ctx_has(ctx, "svn.info") ? NULL : "Command not found: svn";
}

#define HEAD_ROWS                                                                                            \
    ARG("name", ARG_STR, ARG_REQUIRED, "Address of what is copied"),                                         \
        ARG("target", ARG_STR, "null", "The copy"),                                                          \
        ARG("rev", ARG_ANY, "null", "Revision; the newest by default"),                                      \
        ARG("user", ARG_STR, "null", "User to run svn as"),                                                  \
        ARG("username", ARG_STR, "null", "Login at the server"),                                             \
        ARG("password", ARG_ANY, "null", "Password at the server"),                                          \
        ARG("force", ARG_ANY, "false", "Over what is there already")
#define TAIL_ROWS                                                                                            \
    ARG("externals", ARG_ANY, "true", "False: without externals"),                                           \
        ARG("trust", ARG_ANY, "false", "Trust a certificate that is signed by nobody known"),                \
        ARG("trust_failures", ARG_STR, "null", "With which other failures: expired,not-yet-valid")

static const arg_t latest_args[] = { HEAD_ROWS, TAIL_ROWS, ARGS_END };
static const arg_t export_args[] = { HEAD_ROWS,
                                     ARG("overwrite", ARG_ANY, "false", "The target may be a file"),
                                     TAIL_ROWS, ARGS_END };

static const func_t funcs[] = {
    { "export", svn_export, export_args, 0, "Write a copy of a tree that is no working copy." },
    { "latest", svn_latest, latest_args, 0,
      "Ensure that a working copy is there and has the repository's changes." },
};

PLUGIN(state, svn, .doc = "Working copies of Subversion", FUNCS(funcs), .unavailable = state_svn_unavailable);
