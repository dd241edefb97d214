/* git_detached.c - state git.detached: a checkout of one commit, on no branch. Clones without a checkout or
 * adjusts the remote, fetches unless the commit is known, resolves the revision, and checks it out. Each step
 * answers 1 when the return is made, which test mode does at the first step that would act. */
#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/file/fileops.h"
#include "plugins/lib/git/gitlogin.h"
#include "plugins/lib/git/gitstate.h"

enum { SHA_LEN = 40 };

/* Facts about the checkout that the steps share. */
typedef struct detached {
    gitstate_t s;
    const char *name, *remote;
    char *rev;      /* owned; a hash in lower case */
    bool hash;      /* rev is one */
    bool known;     /* and the checkout has it */
    char *was, *to; /* owned: the commit that is checked out (NULL: none), and the one that shall be */
} detached_t;

/* An option that is off by default. */
static bool
git_detached_asked(const detached_t *d, const char *key)
{
    return value_truthy(value_get(d->s.args, key));
}

/* Test mode ends at the first step that would do something. Returns 1. */
static int PRINTF(2, 3) git_detached_would(detached_t *d, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    AUTO_FREE char *text = xvasprintf(fmt, ap);
    va_end(ap);
    (void) state_ret_set(d->s.ret, STATE_NONE, "%s", text);
    return 1;
}

/* The state has failed: 1, or negative with *err. */
static int
git_failed(detached_t *d, const char *before)
{
    int rc = gitstate_failed(&d->s, before);

    return rc < 0 ? rc : 1;
}

/* ---- arguments ------------------------------------------------------------------------------- */

/* 1: ret is the answer; negative with *err. */
static int
git_detached_check_args(detached_t *d)
{
    json_t *ret = d->s.ret;
    const char *target = d->s.target;

    if (d->rev == NULL || *d->rev == '\0')
        state_ret_set(ret, STATE_FALSE, "'%s' is not a valid value for the 'rev' argument",
                      d->rev != NULL ? "" : "None");
    else if (*target == '\0')
        state_ret_set(ret, STATE_FALSE, "'%s' is not a valid value for the 'target' argument", d->rev);
    else if (*target != '/') {
        state_ret_set(ret, STATE_FALSE, "Target '%s' is not an absolute path", target);
    } else {
        int file = fs_look_file(target, d->s.err);
        if (file > 0)
            state_ret_set(ret, STATE_FALSE, "Target '%s' exists and is a regular file, cannot proceed",
                          target);
        return file;
    }
    return 1;
}

/* ---- a repository that is there --------------------------------------------------------------- */

/* Reads the present commit, and whether the checkout has the wanted hash already. */
static int
use_checkout(detached_t *d)
{
    json_auto_t *was = gitstate_soft(&d->s, "git.revision", NULL);

    d->was = json_is_string(was) ? xstrdup(json_string_value(was)) : NULL;
    if (!d->hash) {
        gitstate_t *s = &d->s;
        json_auto_t *remotes = gitstate_call(s, "git.remotes", json_pack("{s:b}", "redact_auth", 0), s->err);
        if (remotes == NULL)
            return s->err->code;
        const char *now = value_str(value_get(remotes, d->remote), "fetch", NULL);
        git_login_auto_t wanted = GIT_LOGIN_INIT;
        git_login_of(&wanted, d->name);
        if (now != NULL && strstr(now, wanted.url) != NULL)
            return 0;
        if (ctx_test(s->ctx))
            return git_detached_would(d, "Remote %s would be set to %s", d->remote, d->name);
        json_t *kwargs = gitstate_access(s);
        json_object_del(kwargs, "identity");
        json_object_del(kwargs, "saltenv");
        json_object_set_new(kwargs, "url", json_string(d->name));
        json_object_set_new(kwargs, "remote", json_string(d->remote));
        json_auto_t *done = gitstate_call(s, "git.remote_set", kwargs, s->err);
        if (done == NULL)
            return s->err->code;
        AUTO_FREE char *before = str_redacted(now != NULL ? now : "None");
        gitstate_note(s, "Remote %s updated from '%s' to '%s'", d->remote, before, d->name);
        return 0;
    }
    json_auto_t *described = gitstate_soft(&d->s, "git.describe", json_pack("{s:s}", "rev", d->rev));
    d->known = described != NULL;
    return 0;
}

/* ---- a new one ------------------------------------------------------------------------------- */

/* 1: ret is the answer. */
static int
empty_target(detached_t *d)
{
    gitstate_t *s = &d->s;
    bool force = git_detached_asked(d, "force_clone");
    int empty = gitstate_is_empty(s);

    if (empty < 0)
        return empty;
    if (force && ctx_test(s->ctx))
        return git_detached_would(
            d,
            "Target directory %s exists. Since force_clone=True, the contents of %s would be "
            "deleted, and %s would be cloned into this directory.",
            s->target, s->target, d->name);
    if (force)
        return gitstate_empty(s);
    if (empty)
        return 0;
    AUTO_FREE char *in_the_way = xasprintf(
        "Target '%s' exists, is non-empty and is not a git repository. Set the 'force_clone' option "
        "to True to remove this directory's contents and proceed with cloning the remote repository",
        s->target);
    gitstate_fail(s, in_the_way);
    return 1;
}

/* Clones with --no-checkout; the commit is checked out later. */
static int
git_detached_make_clone(detached_t *d)
{
    gitstate_t *s = &d->s;
    int there = fs_look_dir(s->target, s->err), rc = there > 0 ? empty_target(d) : there;

    if (rc != 0)
        return rc;
    if (ctx_test(s->ctx))
        return git_detached_would(d, "Repository %s would be cloned to %s", d->name, s->target);
    json_t *kwargs = gitstate_access(s), *opts = json_pack("[s]", "--no-checkout");
    if (!str_eq(d->remote, "origin")) {
        json_array_append_new(opts, json_string("--origin"));
        json_array_append_new(opts, json_string(d->remote));
    }
    json_object_set_new(kwargs, "url", json_string(d->name));
    json_object_set_new(kwargs, "opts", opts);
    json_auto_t *done = gitstate_call(s, "git.clone", kwargs, s->err);
    if (done == NULL)
        return git_failed(d, "");
    gitstate_note(s, "%s cloned to %s", d->name, s->target);
    return 0;
}

/* ---- to the commit --------------------------------------------------------------------------- */

/* Fetches branches and tags with force. 1: the return is made. */
static int
git_detached_fetch(detached_t *d)
{
    gitstate_t *s = &d->s;

    if (d->known || json_is_false(value_get(s->args, "fetch_remote")))
        return 0;
    if (ctx_test(s->ctx))
        return git_detached_would(d, "Repository remote %s would be fetched", d->remote);
    json_t *kwargs = gitstate_access(s);
    json_object_del(kwargs, "https_user");
    json_object_del(kwargs, "https_pass");
    json_object_set_new(kwargs, "remote", json_string(d->remote));
    json_object_set_new(kwargs, "force", json_true());
    json_object_set_new(kwargs, "refspecs",
                        json_pack("[o, s]", value_fmt("refs/heads/*:refs/remotes/%s/*", d->remote),
                                  "+refs/tags/*:refs/tags/*"));
    json_auto_t *changes = gitstate_call(s, "git.fetch", kwargs, s->err);
    if (changes == NULL) {
        AUTO_FREE char *text = xasprintf("Fetch failed:\n\n%s", fail_text(s->err));
        if (s->err->kind != FAIL_COMMAND)
            return s->err->code;
        fail_clear(s->err);
        gitstate_fail(s, text);
        return 1;
    }
    if (value_truthy(changes))
        gitstate_note(s, "Remote %s was fetched, resulting in updated refs", d->remote);
    return 0;
}

static int
git_detached_missing(detached_t *d)
{
    state_ret_set(d->s.ret, STATE_FALSE, "Revision '%s' does not exist", d->rev);
    return 1;
}

/* A hash must exist in the checkout after the fetch; a name is looked up among the remote's branches, then among
 * the tags. */
static int
find_commit(detached_t *d)
{
    gitstate_t *s = &d->s;

    if (d->hash) {
        json_auto_t *described = gitstate_call(s, "git.describe", json_pack("{s:s}", "rev", d->rev), s->err);
        if (described == NULL)
            return s->err->code;
        d->to = xstrdup(d->rev);
        return value_truthy(described) ? 0 : git_detached_missing(d);
    }
    json_auto_t *kwargs = gitstate_access(s), *refs = NULL;
    AUTO_FREE char *branch = xasprintf("refs/remotes/%s/%s", d->remote, d->rev);
    AUTO_FREE char *tag = xasprintf("refs/tags/%s", d->rev);

    /* The checkout itself is asked. */
    json_object_del(kwargs, "https_user");
    json_object_del(kwargs, "https_pass");
    json_object_set_new(kwargs, "url", json_string(s->target));
    json_object_set(kwargs, "user", value_get(s->args, "user"));
    if (ctx_call(s->ctx, "git.remote_refs", NULL, kwargs, &refs, s->err) < 0) {
        AUTO_FREE char *text = xasprintf("Failed to list refs for %s: ", d->remote);
        return git_failed(d, text);
    }
    const char *sha = value_str(refs, branch, value_str(refs, tag, NULL));
    d->to = sha != NULL ? xstrdup(sha) : NULL;
    return sha != NULL ? 0 : git_detached_missing(d);
}

/* Resets the checkout where that is asked for, then goes to the commit. 1: the return is made. */
static int
git_detached_checkout(detached_t *d)
{
    gitstate_t *s = &d->s;
    bool reset = git_detached_asked(d, "hard_reset");

    /* Local changes would keep the commit from being checked out. */
    if (reset && ctx_test(s->ctx))
        return git_detached_would(d, "Hard reset to HEAD would be performed on %s", s->target);
    json_auto_t *gone = reset ? gitstate_call(s, "git.reset",
                                              json_pack("{s:[s, s]}", "opts", "--hard", "HEAD"), s->err)
                              : NULL;
    if (reset && gone == NULL)
        return s->err->code;
    if (reset)
        gitstate_note(s, "Repository was reset to HEAD before checking out revision");

    if (str_eq(d->to, d->was))
        return 0;
    if (ctx_test(s->ctx)) {
        state_change_from(s->ret, "HEAD", d->was != NULL ? json_string(d->was) : NULL, json_string(d->to));
        return git_detached_would(d, "Commit ID %s would be checked out at %s", d->to, s->target);
    }
    json_auto_t *done = gitstate_call(
        s, "git.checkout",
        json_pack("{s:s, s:b}", "rev", d->to, "force", git_detached_asked(d, "force_checkout")), s->err);
    if (done == NULL)
        return s->err->code;
    gitstate_note(s, "Commit ID %s was checked out at %s", d->to, s->target);
    json_auto_t *now = gitstate_soft(s, "git.revision", NULL);
    if (json_is_string(now))
        state_change_from(s->ret, "HEAD", d->was != NULL ? json_string(d->was) : NULL, json_incref(now));
    return 0;
}

/* Checks out the submodules of the commit, and theirs. 1: the return is made. */
static int
submodules(detached_t *d)
{
    gitstate_t *s = &d->s;

    if (!git_detached_asked(d, "submodules"))
        return 0;
    json_auto_t *done = gitstate_call(s, "git.submodule",
                                      json_pack("{s:s, s:[s, s], s:O}", "command", "update", "opts", "--init",
                                                "--recursive", "identity", value_get(s->args, "identity")),
                                      s->err);
    if (done == NULL)
        return s->err->code;
    gitstate_note(s, "Submodules were updated");
    return 0;
}

/* ---- the state ------------------------------------------------------------------------------- */

/* 1: ret is the answer. */
static int
git_detached_run(detached_t *d)
{
    int rc = git_detached_check_args(d);

    if (rc != 0)
        return rc;

    /* Decides whether the revision is a hash, which is compared in lower case. */
    d->hash = strlen(d->rev) <= SHA_LEN && d->rev[strspn(d->rev, "0123456789abcdefABCDEF")] == '\0';
    for (char *c = d->rev; d->hash && *c != '\0'; c++)
        *c = *c >= 'A' && *c <= 'F' ? (char) (*c + 32) : *c;

    int there = gitstate_is_checkout(&d->s, ".git");
    rc = there < 0 ? there : there > 0 ? use_checkout(d) : git_detached_make_clone(d);
    if (rc == 0)
        rc = git_detached_fetch(d);
    if (rc == 0)
        rc = find_commit(d);
    if (rc == 0)
        rc = git_detached_checkout(d);
    if (rc == 0)
        rc = submodules(d);
    if (rc != 0)
        return rc;
    if (value_get(value_get(d->s.ret, "changes"), "HEAD") == NULL)
        gitstate_note(&d->s, "Already checked out at correct revision");
    return state_ret_set(d->s.ret, STATE_TRUE, "%s", gitstate_notes(&d->s));
}

static int
git_detached(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *rev = value_str(args, "rev", NULL);
    *ret_value = state_ret_args(args);
    detached_t d = { .s = { .ctx = ctx,
                            .args = args,
                            .ret = *ret_value,
                            .err = err,
                            .target = value_str(args, "target", "") },
                     .name = value_str(args, "name", ""),
                     .remote = value_str(args, "remote", "origin"),
                     .rev = rev != NULL ? xstrdup(rev) : NULL };
    int rc = git_detached_run(&d);

    buf_free(&d.s.comments);
    free(d.rev);
    free(d.was);
    free(d.to);
    return rc < 0 ? rc : 0;
}

/* ---- table ----------------------------------------------------------------------------------- */

static const arg_t detached_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "The remote repository"),
    ARG("rev", ARG_STR, ARG_REQUIRED, "A branch, tag or commit"),
    ARG("target", ARG_STR, ARG_REQUIRED, "The checkout's folder"),
    ARG("remote", ARG_STR, "\"origin\"", "What the remote is called"),
    ARG("user", ARG_STR, "null", "Run git as this user"),
    ARG("password", ARG_STR, "null", "Of Windows only"),
    ARG("force_clone", ARG_ANY, "false", "Empty a folder that is not a repository"),
    ARG("force_checkout", ARG_ANY, "false", "Discard local changes"),
    ARG("fetch_remote", ARG_ANY, "true", "Fetch first; a commit that is there needs no fetch"),
    ARG("hard_reset", ARG_ANY, "false", "Reset the checkout first"),
    ARG("submodules", ARG_ANY, "false", "Update submodules too"),
    ARG("identity", ARG_ANY, "null", "A private key for ssh; salt:// paths too"),
    ARG("https_user", ARG_STR, "null", "User of a https remote"),
    ARG("https_pass", ARG_STR, "null", "His password"),
    ARG("output_encoding", ARG_STR, "null", "Accepted; output is UTF-8"),
    ARGS_END,
};

static const func_t funcs[] = {
    { "detached", git_detached, detached_args, 0, "Ensure that a repository is checked out at one commit." },
};

static const char *
git_detached_unavailable(call_ctx_t *ctx)
{
    return ctx_has(ctx, "git.version") ? NULL : "git module could not be loaded";
}

PLUGIN(state, git_detached, .provides = "git", .doc = "Checkouts of git repositories", FUNCS(funcs),
       .unavailable = git_detached_unavailable);
