/* git_present.c - more of state module `git`: a repository that is there, and one that was cloned once. */
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/file/fileops.h"
#include "plugins/lib/git/gitstate.h"

/* ---- present --------------------------------------------------------------------------------- */

/* 1, 0, or negative with s->err. */
static int
is_repository(gitstate_t *s, bool bare)
{
    AUTO_FREE char *head = fs_join(s->target, "HEAD");

    return bare ? fs_look_file(head, s->err) : gitstate_is_checkout(s, ".git");
}

/* Clears the folder when `force` allows it. 1: s->ret is the answer. */
static int
clear_folder(gitstate_t *s, const char *bare)
{
    fail_auto_t why = FAIL_INIT;

    if (!value_truthy(value_get(s->args, "force"))) {
        int empty = gitstate_is_empty(s);
        if (empty != 0)
            return empty < 0 ? empty : 0;
        AUTO_FREE char *text = xasprintf(
            "Target '%s' exists, is non-empty, and is not a git repository. Set the 'force' option to True "
            "to remove this directory's contents and proceed with initializing a repository",
            s->target);
        gitstate_fail(s, text);
        return 1;
    }
    state_change(s->ret, "forced init", json_true());
    if (ctx_test(s->ctx)) {
        state_change(s->ret, "new", json_string(s->target));
        state_ret_set(
            s->ret, STATE_NONE,
            "Target directory %s exists. Since force=True, the contents of %s would be deleted, and "
            "a %srepository would be initialized in its place.",
            s->target, s->target, bare);
        return 1;
    }
    int rc = fs_remove_tree(s->target, &why); /* of a link the link itself */
    if (rc == 0)
        return 0;
    AUTO_FREE char *text = xasprintf("Unable to remove %s: %s", s->target, strerror(-rc));
    gitstate_fail(s, text);
    return 1;
}

/* Initialises the repository with the options of the SLS. */
static int
git_present_init(gitstate_t *s, const char *bare)
{
    const char *template = value_str(s->args, "template", ""),
               *apart = value_str(s->args, "separate_git_dir", "");
    json_t *opts = json_array();
    json_t *kwargs = json_pack("{s:O, s:o}", "bare", value_get(s->args, "bare"), "opts", opts);

    if (*template != '\0')
        json_array_append_new(opts, value_fmt("--template=%s", template));
    if (*apart != '\0')
        json_array_append_new(opts, value_fmt("--separate-git-dir=%s", apart));

    /* "--shared=0660" for a number, as git wants octal modes. */
    const json_t *shared = value_get(s->args, "shared");
    AUTO_FREE char *text = value_pystr(shared);
    if (json_is_true(shared))
        json_array_append_new(opts, json_string("--shared"));
    else if (value_truthy(shared))
        json_array_append_new(opts, value_fmt("--shared=%s%s", json_is_integer(shared) ? "0" : "", text));

    json_auto_t *done = gitstate_call(s, "git.init", kwargs, s->err);
    if (done == NULL)
        return s->err->code;
    gitstate_note(s, "Initialized %srepository in %s", bare, s->target);
    if (*template != '\0')
        gitstate_note(s, "Template directory set to %s", template);
    if (*apart != '\0')
        gitstate_note(s, "Gitdir set to %s", apart);
    state_change(s->ret, "new", json_string(s->target));
    return state_ret_set(s->ret, STATE_TRUE, "%s", gitstate_notes(s));
}

/* A folder that is a repository is left as it is, whatever its options are. */
static int
git_present(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    bool is_bare = value_truthy(value_get(args, "bare"));
    const char *bare = is_bare ? "bare " : "";
    json_t *ret = *ret_value = state_ret_args(args);
    gitstate_t s = {
        .ctx = ctx, .args = args, .ret = ret, .err = err, .target = value_str(args, "name", "")
    };
    int there = fs_look_dir(s.target, err), rc = there > 0 ? is_repository(&s, is_bare) : there;

    if (there > 0 && rc == 0)
        rc = clear_folder(&s, bare);
    if (rc == 0 && ctx_test(ctx)) {
        state_change(ret, "new", json_string(s.target));
        state_ret_set(ret, STATE_NONE, "New %srepository would be created", bare);
    } else if (rc == 0) {
        rc = git_present_init(&s, bare);
    }
    buf_free(&s.comments);
    return rc < 0 ? rc : 0;
}

/* ---- cloned ---------------------------------------------------------------------------------- */

/* A clone, and the branch that it shall be on. */
typedef struct clone {
    gitstate_t s;
    const char *name, *branch; /* branch NULL: the remote's */
} clone_t;

/* Clones; a failed clone leaves no changes in the return. */
static int
git_present_make_clone(clone_t *c)
{
    gitstate_t *s = &c->s;
    AUTO_FREE char *branch = c->branch != NULL ? xasprintf(" with branch '%s'", c->branch) : xstrdup("");
    json_t *kwargs = gitstate_access(s);

    state_change(s->ret, "new", value_fmt("%s => %s", c->name, s->target));
    if (ctx_test(s->ctx)) {
        json_decref(kwargs);
        return state_ret_set(s->ret, STATE_NONE, "%s would be cloned to %s%s", c->name, s->target, branch);
    }
    json_object_set_new(kwargs, "url", json_string(c->name));
    if (c->branch != NULL)
        json_object_set_new(kwargs, "opts", json_pack("[s, s]", "--branch", c->branch));
    json_auto_t *done = gitstate_call(s, "git.clone", kwargs, s->err);
    if (done != NULL)
        return state_ret_set(s->ret, STATE_TRUE, "%s cloned to %s%s", c->name, s->target, branch);
    state_change_set(s->ret, json_object());
    return gitstate_failed(s, "Clone failed: ");
}

/* Checks out the local branch, or creates it from origin's. */
static int
change_branch(clone_t *c, json_t *now)
{
    gitstate_t *s = &c->s;

    state_change_from(s->ret, "branch", json_incref(now), json_string(c->branch));
    if (ctx_test(s->ctx))
        return state_ret_set(s->ret, STATE_NONE, "Branch would be changed to '%s'", c->branch);
    json_auto_t *local = gitstate_soft(s, "git.rev_parse", json_pack("{s:s}", "rev", c->branch));
    json_t *kwargs = local != NULL ? json_pack("{s:s}", "rev", c->branch)
                                   : json_pack("{s:o, s:[s, s]}", "rev", value_fmt("origin/%s", c->branch),
                                               "opts", "-b", c->branch);
    json_auto_t *done = gitstate_call(s, "git.checkout", kwargs, s->err);
    if (done != NULL)
        return state_ret_set(s->ret, STATE_TRUE, "Branch changed to '%s'", c->branch);
    if (s->err->kind != FAIL_COMMAND)
        return s->err->code;
    state_change_set(s->ret, json_object());
    return state_ret_set(s->ret, STATE_FALSE, "Failed to change branch to '%s': %s", c->branch,
                         fail_text(s->err));
}

/* A clone that is there: only its branch matters. */
static int
look_at_clone(clone_t *c)
{
    gitstate_t *s = &c->s;
    json_auto_t *status = gitstate_call(s, "git.status", NULL, s->err);

    if (status == NULL)
        return state_ret_fail(s->ret, s->err);
    if (c->branch == NULL)
        return state_ret_set(s->ret, STATE_TRUE, "Repository already exists at %s", s->target);
    json_auto_t *now = gitstate_call(s, "git.current_branch", NULL, s->err);
    if (now == NULL)
        return s->err->code;
    if (str_eq(json_string_value(now), c->branch))
        return state_ret_set(s->ret, STATE_TRUE,
                             "Repository already exists at %s and is checked out to branch '%s'", s->target,
                             c->branch);
    int rc = change_branch(c, now);
    if (rc == 0)
        fail_clear(s->err);
    return rc;
}

/* A clone that is there is not updated; its branch alone is looked after. */
static int
git_cloned(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = *ret_value = state_ret_args(args);
    clone_t c = {
        .s = { .ctx = ctx, .args = args, .ret = ret, .err = err, .target = value_str(args, "target", NULL) },
        .name = value_str(args, "name", ""),
        .branch = value_str(args, "branch", NULL)
    };

    if (c.s.target == NULL)
        return state_ret_set(ret, STATE_FALSE, "'target' argument is required");
    if (*c.s.target != '/')
        return state_ret_set(ret, STATE_FALSE, "'target' path must be absolute");
    if (c.branch != NULL && *c.branch == '\0')
        return state_ret_set(ret, STATE_FALSE, "Invalid 'branch' argument");
    int there = fs_look(c.s.target, err);
    int rc = there < 0 ? there : there > 0 ? look_at_clone(&c) : git_present_make_clone(&c);
    buf_free(&c.s.comments);
    return rc;
}

/* ---- table ----------------------------------------------------------------------------------- */

#define RUN_ROWS                                                                                             \
    ARG("user", ARG_STR, "null", "Run git as this user"),                                                    \
        ARG("password", ARG_STR, "null", "Of Windows only"),                                                 \
        ARG("output_encoding", ARG_STR, "null", "Accepted; output is UTF-8")

static const arg_t present_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "The repository's folder"),
    ARG("force", ARG_ANY, "false", "Empty a folder that is not a repository"),
    ARG("bare", ARG_ANY, "true", "Without a checkout"),
    ARG("template", ARG_STR, "null", "A folder with what a new repository holds"),
    ARG("separate_git_dir", ARG_STR, "null", "Where .git is, when not in the folder"),
    ARG("shared", ARG_ANY, "null", "Who else may write: group, all, or an octal mode"),
    RUN_ROWS,
    ARGS_END,
};
static const arg_t cloned_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "The remote repository"),
    ARG("target", ARG_STR, "null", "The checkout's folder"),
    ARG("branch", ARG_STR, "null", "The branch to check out; None: the remote's"),
    ARG("identity", ARG_ANY, "null", "A private key for ssh; salt:// paths too"),
    ARG("https_user", ARG_STR, "null", "User of a https remote"),
    ARG("https_pass", ARG_STR, "null", "His password"),
    RUN_ROWS,
    ARGS_END,
};

static const func_t funcs[] = {
    { "cloned", git_cloned, cloned_args, 0,
      "Ensure that a repository is cloned, on that branch; what the remote has since does not matter." },
    { "present", git_present, present_args, 0, "Ensure that there is a repository." },
};

static const char *
git_present_unavailable(call_ctx_t *ctx)
{
    return ctx_has(ctx, "git.version") ? NULL : "git module could not be loaded";
}

PLUGIN(state, git_present, .provides = "git", .doc = "Checkouts of git repositories", FUNCS(funcs),
       .unavailable = git_present_unavailable);
