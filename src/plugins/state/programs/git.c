/* git.c - state module `git`, function `latest`: brings a checkout to a revision of its remote. The state
 * asks the remote for its refs (git ls-remote), looks at the checkout, decides between fast-forward, reset
 * and refusal, and then fetches, checks out, merges and updates submodules through the execution module
 * `git`. Order of decisions and texts are those of Salt's states.git, whose documentation of `rev`, `branch`
 * and `force_reset` is the specification; revisions that both sides print are shortened to seven digits as
 * there. A bare repository or a mirror has no HEAD to compare: it is fetched, and that is all. Functions that
 * can complete the return answer 1 for "the return is made", 0 to go on, or a negative errno. */
#include "common/base/buf.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/host/prog.h"
#include "plugins/lib/git/gitlogin.h"
#include "plugins/lib/git/gitstate.h"
#include "plugins/lib/call/subcall.h"
#include "salt/state.h"

enum { SHORT_SHA = 7, SHA_LEN = 40 };

/* Kinds of `rev` as the remote's refs tell them. A remote HEAD counts as a SHA1, since no branch is
 * followed. */
typedef enum rev_kind { REV_NONE, REV_SHA, REV_BRANCH, REV_TAG } rev_kind_t;

/* A run. The remote's refs fill `remote_rev`, `kind`, `upstream`, `place` and `default_branch`; the checkout fills
 * the local ones. In an update `local_*` is what is checked out, `base_*` what the wanted branch has, which is
 * another one when `branch` names a branch that is not checked out. */
typedef struct git_latest {
    gitstate_t s;
    const char *name, *rev, *branch, *remote; /* branch NULL: whatever is checked out */
    bool bare, mirror, update_head, force_reset, reset_on_remote;
    bool local_changes, have_rev, match;
    int forward;                         /* 1 a fast-forward, 0 not, -1 not known yet */
    json_t *refs;                        /* owned: of the remote */
    json_t *branches;                    /* owned: local ones */
    json_t *tags;                        /* owned: local ones */
    json_t *remotes;                     /* owned */
    char *remote_rev, *upstream, *place; /* owned: the SHA1, "origin/main", "origin/main (0123abc)" */
    char *local_rev, *local_branch, *base_rev, *base_branch, *tracked; /* owned; NULL: none */
    char *default_branch;
    rev_kind_t kind;
    bool tracks_nothing; /* the remote HEAD is wanted: what is tracked stays */
} git_latest_t;

/* ---- words ----------------------------------------------------------------------------------- */

/* The return of a checkout that needs no change of revision, with the notes of what was done beside it. */
static int
uptodate(git_latest_t *l, bool changes)
{
    bool more = l->s.n_comments > 0;

    return state_ret_set(
        l->s.ret, STATE_TRUE, "Repository %s is up-to-date%s%s%s%s", l->s.target,
        changes ? ", but with uncommitted changes. Set 'force_reset' to True to purge uncommitted "
                  "changes."
                : "",
        more ? "\n\nChanges " : "", more ? (ctx_test(l->s.ctx) ? "that would be made: " : "made: ") : "",
        more ? gitstate_notes(&l->s) : "");
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* NEW text of git rev-parse; NULL: no such revision. */
static char *PRINTF(3, 4) parsed(git_latest_t *l, const char *opts, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    AUTO_FREE char *rev = xvasprintf(fmt, ap);
    va_end(ap);
    json_auto_t *value = gitstate_soft(&l->s, "git.rev_parse",
                                       json_pack("{s:s, s:s}", "rev", rev, "opts", opts));
    return json_is_string(value) ? xstrdup(json_string_value(value)) : NULL;
}

/* ---- the remote ------------------------------------------------------------------------------ */

/* Compares revisions; an abbreviated SHA1 of the SLS matches by prefix. Both NULL are equal. */
static bool
revs_equal(const char *have, const char *want, rev_kind_t kind)
{
    if (have == NULL || want == NULL)
        return have == want;
    return kind == REV_SHA ? str_starts(have, want) : strcmp(have, want) == 0;
}

/* SHA1 of PREFIX REV SUFFIX in the remote's refs. BORROWED, or NULL. */
static const char *
remote_ref(const git_latest_t *l, const char *prefix, const char *suffix)
{
    AUTO_FREE char *ref = xasprintf("%s%s%s", prefix, l->rev, suffix);

    return value_str(l->refs, ref, NULL);
}

/* Asks the remote for its refs and finds `rev` among them. A branch wins over a tag of the same name, and both
 * over digits that could be a commit: git ls-remote lists no commits, so a SHA1 is believed until the fetch.
 * 0: go on; 1: the return is made; negative. */
static int
ask_remote(git_latest_t *l)
{
    json_auto_t *kwargs = gitstate_access(&l->s);

    json_object_set_new(kwargs, "url", json_string(l->name));
    json_object_set(kwargs, "user", value_get(l->s.args, "user"));
    if (ctx_call(l->s.ctx, "git.remote_refs", NULL, kwargs, &l->refs, l->s.err) < 0)
        return gitstate_failed(&l->s, "Failed to check remote refs: ") < 0 ? l->s.err->code : 1;

    /* The default branch is the first one that has HEAD's commit: the answer does not tell what HEAD points to. */
    const char *head = value_str(l->refs, "HEAD", NULL), *sha, *ref;
    json_t *v;
    json_object_foreach (l->refs, ref, v) {
        if (head != NULL && l->default_branch == NULL && str_starts(ref, "refs/heads/") &&
            str_eq(json_string_value(v), head))
            l->default_branch = xstrdup(ref + strlen("refs/heads/"));
    }
    /* "^{}" is the commit that an annotated tag stands for; the tag's own SHA1 is never HEAD's. */
    if (!l->bare) {
        if (strcmp(l->rev, "HEAD") == 0) {
            l->kind = head != NULL ? REV_SHA : REV_NONE;
            l->tracks_nothing = head != NULL;
            l->remote_rev = head != NULL ? xstrdup(head) : NULL;
        } else if ((sha = remote_ref(l, "refs/heads/", "")) != NULL) {
            l->kind = REV_BRANCH;
            l->upstream = xasprintf("%s/%s", l->remote, l->rev);
            l->remote_rev = xstrdup(sha);
        } else if ((sha = remote_ref(l, "refs/tags/", "^{}")) != NULL ||
                   (sha = remote_ref(l, "refs/tags/", "")) != NULL) {
            l->kind = REV_TAG;
            l->remote_rev = xstrdup(sha);
        } else if (strlen(l->rev) <= SHA_LEN && l->rev[strspn(l->rev, "0123456789abcdefABCDEF")] == '\0') {
            l->kind = REV_SHA;
            l->remote_rev = xstrdup(l->rev);
            for (char *c = l->remote_rev; *c != '\0'; c++)
                *c = *c >= 'A' && *c <= 'F' ? (char) (*c + 32) : *c;
        }
        /* Name of the wanted revision in messages: "origin/main (0123abc)", or the SHA1 alone. */
        if (l->remote_rev != NULL && strcmp(l->rev, "HEAD") == 0)
            l->place = xasprintf("remote HEAD (%.*s)", SHORT_SHA, l->remote_rev);
        else if (l->remote_rev != NULL && l->kind == REV_SHA)
            l->place = xasprintf("%.*s", SHORT_SHA, l->remote_rev);
        else if (l->remote_rev != NULL)
            l->place = xasprintf("%s (%.*s)", l->kind == REV_BRANCH ? l->upstream : l->rev, SHORT_SHA,
                                 l->remote_rev);
    }

    /* git clone --depth takes --branch, which names no commit. An empty remote (no HEAD) is no fault. */
    if (!json_is_null(value_get(l->s.args, "depth")) && l->kind != REV_BRANCH && l->kind != REV_TAG) {
        (void) gitstate_fail(
            &l->s, "When 'depth' is used, 'rev' must be set to the name of a branch or tag on the remote "
                   "repository");
        return 1;
    }
    if (l->remote_rev == NULL && !l->bare && strcmp(l->rev, "HEAD") != 0) {
        AUTO_FREE char *text = xasprintf("No revision matching '%s' exists in the remote repository", l->rev);
        (void) gitstate_fail(&l->s, text);
        return 1;
    }
    return 0;
}

/* ---- the checkout ---------------------------------------------------------------------------- */

/* Replaces *slot by the text of `value`, or by NULL for another type. TAKES value. */
static void
state_git_take_text(char **slot, json_t *value)
{
    free(*slot);
    *slot = json_is_string(value) ? xstrdup(json_string_value(value)) : NULL;
    json_decref(value);
}

/* True when `branch` asks for another branch than the one that is checked out. */
static bool
other_branch(const git_latest_t *l)
{
    return l->branch != NULL && !str_eq(l->branch, l->local_branch);
}

/* Reads branches, tags, remotes, HEAD and local changes. base_rev is where the wanted branch stands now: the
 * local HEAD, the branch's own commit, or the remote's revision for a branch to be made. */
static int
look_at_checkout(git_latest_t *l)
{
    /* The remote's address is wanted with its password: fix_remote() compares it. */
    l->branches = gitstate_call(&l->s, "git.list_branches", NULL, l->s.err);
    l->tags = l->branches != NULL ? gitstate_call(&l->s, "git.list_tags", NULL, l->s.err) : NULL;
    l->remotes = l->tags != NULL
                     ? gitstate_call(&l->s, "git.remotes", json_pack("{s:b}", "redact_auth", 0), l->s.err)
                     : NULL;
    if (l->remotes == NULL)
        return l->s.err->code;
    state_git_take_text(&l->local_rev, gitstate_soft(&l->s, "git.revision", NULL));
    state_git_take_text(&l->local_branch, gitstate_soft(&l->s, "git.current_branch", NULL));
    l->base_rev = l->local_rev != NULL ? xstrdup(l->local_rev) : NULL;
    l->base_branch = l->local_branch != NULL ? xstrdup(l->local_branch) : NULL;
    /* Another branch than the one checked out is wanted: it may exist, or be made from the remote's
     * revision. */
    if (other_branch(l)) {
        free(l->base_rev);
        bool there = value_lists(l->branches, l->branch);
        l->base_rev = there                   ? parsed(l, "", "%s^{commit}", l->branch)
                      : l->remote_rev != NULL ? xstrdup(l->remote_rev)
                                              : NULL;
        if (there) {
            free(l->base_branch);
            l->base_branch = xstrdup(l->branch);
        }
    }
    l->match = revs_equal(l->local_rev, l->remote_rev, l->kind);
    /* A checkout that can't be compared is not reset; without a commit there is nothing to compare with. */
    bool compare = !l->bare && l->local_rev != NULL;
    json_auto_t *diff = compare
                            ? gitstate_call(&l->s, "git.diff", json_pack("{s:s}", "item1", "HEAD"), l->s.err)
                            : NULL;
    if (compare && diff == NULL && !l->force_reset)
        return l->s.err->code;
    fail_clear(l->s.err);
    l->local_changes = value_truthy(diff);
    l->tracked = l->base_branch != NULL ? parsed(l, "--abbrev-ref", "%s@{upstream}", l->base_branch) : NULL;
    return 0;
}

/* Sets l->forward by `git merge-base --is-ancestor`: no base at all counts as a fast-forward. */
static int
find_forward(git_latest_t *l)
{
    if (l->base_rev == NULL) {
        l->forward = 1;
        return 0;
    }
    json_auto_t *is = gitstate_call(
        &l->s, "git.merge_base",
        json_pack("{s:[s, s], s:b}", "refs", l->base_rev, l->remote_rev, "is_ancestor", 1), l->s.err);
    l->forward = value_truthy(is);
    return is != NULL ? 0 : l->s.err->code;
}

/* True when the local HEAD differs from the remote's revision and `update_head` forbids to move it. A branch
 * that is to be checked out moves HEAD in any case. */
static bool
head_stays(const git_latest_t *l)
{
    return !l->match && !l->update_head && !other_branch(l);
}

/* The return of a checkout whose HEAD stays where it is, by update_head=False. */
static int
tell_head_stays(git_latest_t *l)
{
    AUTO_FREE char *head = xasprintf("Remote head (%.*s)", SHORT_SHA, l->remote_rev);

    return state_ret_set(
        l->s.ret, STATE_TRUE,
        "%s is already present and local HEAD (%.*s) does not match, but update_head=False. HEAD has "
        "not been updated locally.",
        strcmp(l->rev, "HEAD") == 0 ? head : l->place, SHORT_SHA,
        l->local_rev != NULL ? l->local_rev : "None");
}

/* Refuses an update that is not a fast-forward, with Salt's advice how to force it or to avoid the need. */
static int
not_forward(git_latest_t *l)
{
    buf_auto_t text = BUF_INIT;
    bool mixed = l->local_changes && !str_eq(l->base_rev, l->remote_rev);

    buf_puts(&text, "Repository would be updated ");
    if (mixed)
        buf_printf(&text, "from %.*s ", SHORT_SHA, l->base_rev != NULL ? l->base_rev : "None");
    buf_printf(&text, "to %.*s", SHORT_SHA, l->remote_rev);
    if (other_branch(l))
        buf_printf(&text, " (after checking out local branch '%s')", l->branch);
    buf_printf(&text, ", but %s. Set 'force_reset' to True%s to force this update%s.",
               l->local_changes ? "there are uncommitted changes" : "this is not a fast-forward merge",
               l->local_changes ? " (or 'remote-changes')" : "",
               l->local_changes ? " and discard these changes" : "");
    /* Often the wrong branch is checked out: both hints name the `branch` argument that avoids the force. */
    if (l->branch == NULL && strcmp(l->rev, "HEAD") != 0 && !str_eq(l->local_branch, l->rev))
        buf_printf(
            &text,
            " The desired rev (%s) differs from the name of the local branch (%s), if the desired rev is a "
            "branch name then a forced update could possibly be avoided by setting the 'branch' argument to "
            "'%s' instead.",
            l->rev, l->local_branch != NULL ? l->local_branch : "None", l->rev);
    else if (l->branch == NULL && strcmp(l->rev, "HEAD") == 0 && l->default_branch != NULL &&
             !str_eq(l->local_branch, l->default_branch))
        buf_printf(
            &text,
            " The default remote branch (%s) differs from the local branch (%s). This could be caused by "
            "changing the default remote branch, or if the local branch was manually changed. Rather than "
            "forcing an update, it may be advisable to set the 'branch' argument to '%s' instead. To ensure "
            "that this state follows the '%s' branch instead of the remote HEAD, set the 'rev' argument to "
            "'%s'.",
            l->default_branch, l->local_branch != NULL ? l->local_branch : "None", l->default_branch,
            l->default_branch, l->default_branch);
    return gitstate_fail(&l->s, buf_str(&text));
}

/* ---- what the upstream branch should be ------------------------------------------------------ */

/* Change that the branch's upstream setting needs. */
typedef enum tracking { TRACK_KEEP, TRACK_SET, TRACK_CHANGE, TRACK_UNSET } tracking_t;

/* Compares the tracked upstream with the wanted one. A wanted remote HEAD tracks nothing and leaves the
 * setting alone. */
static tracking_t
tracking_of(const git_latest_t *l)
{
    if (l->upstream != NULL)
        return l->tracked == NULL                     ? TRACK_SET
               : strcmp(l->tracked, l->upstream) != 0 ? TRACK_CHANGE
                                                      : TRACK_KEEP;
    return l->tracked != NULL && !l->tracks_nothing ? TRACK_UNSET : TRACK_KEEP;
}

/* Notes a change of the upstream setting; `was` is "was" or, in test mode, "would be". */
static void
note_tracking(git_latest_t *l, tracking_t t, const char *was)
{
    if (t == TRACK_SET)
        gitstate_note(&l->s, "Tracking branch %s set to %s", was, l->upstream);
    else if (t == TRACK_CHANGE)
        gitstate_note(&l->s, "Tracking branch %s updated to %s", was, l->upstream);
    else if (t == TRACK_UNSET)
        gitstate_note(&l->s, "Tracking branch %s unset", was);
}

/* A clone whose HEAD names a branch that is not there has nothing that could track. 1: the return is made. */
static int
unborn(git_latest_t *l, tracking_t t)
{
    if (t == TRACK_KEEP || l->branch != NULL || l->local_rev != NULL)
        return 0;
    return gitstate_fail(
               &l->s,
               "Cannot set/unset upstream tracking branch, local HEAD refers to nonexistent branch. This may have "
               "been caused by cloning a remote repository for which the default branch was renamed or deleted. If "
               "you are unable to fix the remote repository, you can work around this by setting the 'branch' "
               "argument (which will ensure that the named branch is created if it does not already exist).") <
                   0
               ? l->s.err->code
               : 1;
}

/* Makes the change of the upstream setting in the branch that is checked out now. */
static int
set_tracking(git_latest_t *l, tracking_t t)
{
    /* A branch that has just been made from the remote's follows it already. */
    bool fresh = t != TRACK_UNSET && l->branch != NULL && !value_lists(l->branches, l->branch);

    if (t == TRACK_KEEP || fresh)
        return 0;
    json_auto_t *done = gitstate_call(&l->s, "git.branch",
                                      t == TRACK_UNSET
                                          ? json_pack("{s:[s]}", "opts", "--unset-upstream")
                                          : json_pack("{s:[s, s]}", "opts", "--set-upstream-to", l->upstream),
                                      l->s.err);
    if (done == NULL)
        return l->s.err->code;
    note_tracking(l, t, "was");
    return 0;
}

/* ---- test mode ------------------------------------------------------------------------------- */

/* Test mode's result: changes, or notes alone, or nothing to do. */
static int
test_answer(git_latest_t *l)
{
    if (state_changed(l->s.ret))
        return state_ret_set(l->s.ret, STATE_NONE, "%s", gitstate_notes(&l->s));
    if (!l->match && !l->update_head && l->s.n_comments > 0)
        return state_ret_set(l->s.ret, STATE_TRUE, "%s", gitstate_notes(&l->s));
    return uptodate(l, false);
}

/* The change "revision" of a test, when HEAD is to move. */
static void
test_revision(git_latest_t *l)
{
    if (!l->match && (l->update_head || other_branch(l)))
        state_change_from(l->s.ret, "revision", l->local_rev != NULL ? json_string(l->local_rev) : NULL,
                          json_string(l->remote_rev));
}

/* Word for the move that `forward` stands for; "updated" before the fetch, when the kind is not known yet. */
static const char *
merge_word(const git_latest_t *l)
{
    return l->forward == 0 ? "hard-reset" : l->forward > 0 ? "fast-forwarded" : "updated";
}

/* Lists in test mode what an update would do, in the order in which it would be done. */
static int
test_update(git_latest_t *l)
{
    const char *from = l->local_rev != NULL ? l->local_rev : "None";
    int rc = unborn(l, tracking_of(l));

    if (rc != 0)
        return rc < 0 ? rc : 0;
    if (!l->have_rev)
        gitstate_note(&l->s, "Remote '%s' would be fetched", l->remote);
    test_revision(l);
    if (other_branch(l) && !value_lists(l->branches, l->branch)) {
        gitstate_note(&l->s, "New branch '%s' would be checked out, with %s as a starting point", l->branch,
                      l->place);
        if (l->upstream != NULL)
            gitstate_note(&l->s, "Tracking branch would be set to %s", l->upstream);
    } else if (other_branch(l)) {
        gitstate_note(&l->s, "Branch '%s' would be checked out and %s to %.*s", l->branch, merge_word(l),
                      SHORT_SHA, l->remote_rev);
    } else if (!l->match && l->update_head) {
        gitstate_note(&l->s, "Repository would be %s from %.*s to %.*s",
                      l->forward > 0                  ? "fast-forwarded"
                      : l->force_reset && l->have_rev ? "hard-reset"
                                                      : "updated",
                      SHORT_SHA, from, SHORT_SHA, l->remote_rev);
    } else if (!l->match) {
        gitstate_note(
            &l->s,
            "Local HEAD (%.*s) does not match %s but update_head=False, HEAD would not be updated locally",
            SHORT_SHA, from, l->place);
    }
    note_tracking(l, tracking_of(l), "would be");
    return test_answer(l);
}

/* ---- update ---------------------------------------------------------------------------------- */

/* Gives the remote the wanted address, user and password. A test ends here, with notes of what would follow
 * the change. 1: the return is made. */
static int
fix_remote(git_latest_t *l)
{
    const char *have = value_str(value_get(l->remotes, l->remote), "fetch", NULL);
    git_login_auto_t want = GIT_LOGIN_INIT;

    if (gitlogin_of(&want, l->s.args, "https_user", "https_pass", l->name, l->s.err) < 0)
        return l->s.err->code;
    json_auto_t *where = json_pack("{s:s, s:O}", "cwd", l->s.target, "user", value_get(l->s.args, "user"));
    if (str_eq(have, want.url) && (want.password == NULL || gitlogin_is_kept(l->s.ctx, where, &want)))
        return 0;
    /* Neither address is shown with its password. */
    AUTO_FREE char *before = str_redacted(have != NULL ? have : "None");
    AUTO_FREE char *shown = gitlogin_shown(&want);
    if (ctx_test(l->s.ctx)) {
        gitstate_note(&l->s, "Remote '%s' would be changed from %s to %s", l->remote, before, shown);
        if (have == NULL)
            state_change(l->s.ret, "new", value_fmt("%s => %s", l->name, l->remote));
        if (!l->have_rev)
            gitstate_note(&l->s, "Remote would be fetched");
        if (!l->match && l->update_head) {
            test_revision(l);
            if (l->forward == 0)
                state_change(l->s.ret, "forced update", json_true());
            gitstate_note(&l->s, "Repository would be %s to %.*s", merge_word(l), SHORT_SHA, l->remote_rev);
        }
        return test_answer(l) < 0 ? l->s.err->code : 1;
    }
    /* git.remote_set takes the login, but neither a key nor its saltenv: no connection is made. */
    json_t *more = gitstate_access(&l->s);
    json_object_del(more, "identity");
    json_object_del(more, "saltenv");
    json_object_set_new(more, "url", json_string(l->name));
    json_object_set_new(more, "remote", json_string(l->remote));
    json_auto_t *done = gitstate_call(&l->s, "git.remote_set", more, l->s.err);
    if (done == NULL)
        return l->s.err->code;
    if (have == NULL) {
        gitstate_note(&l->s, "Remote '%s' set to %s", l->remote, shown);
        state_change(l->s.ret, "new", value_fmt("%s => %s", l->name, l->remote));
    } else {
        gitstate_note(&l->s, "Remote '%s' changed from %s to %s", l->remote, before, shown);
    }
    return 0;
}

/* Compares tags by name: what the remote alone has makes a fetch necessary, what the checkout alone has is
 * deleted if `sync_tags`. 0, or negative. */
static int
sync_tags(git_latest_t *l)
{
    json_auto_t *gone = json_array(), *fresh = json_array();
    const char *ref;
    json_t *v;
    size_t i;

    json_object_foreach (l->refs, ref, v) {
        if (str_starts(ref, "refs/tags/") && !str_ends(ref, "^{}") &&
            !value_lists(l->tags, ref + strlen("refs/tags/")))
            json_array_append_new(fresh, json_string(ref + strlen("refs/tags/")));
    }
    json_array_foreach (l->tags, i, v) {
        AUTO_FREE char *name = xasprintf("refs/tags/%s", json_string_value(v));
        if (value_get(l->refs, name) == NULL)
            json_array_append(gone, v);
    }
    if (json_array_size(fresh) > 0 || json_array_size(gone) > 0)
        l->have_rev = false;
    if (json_array_size(fresh) > 0)
        state_change(l->s.ret, "new_tags", json_incref(fresh));
    if (json_array_size(gone) == 0 || !value_bool(l->s.args, "sync_tags", true))
        return 0;
    buf_auto_t names = BUF_INIT;
    json_array_foreach (gone, i, v) {
        json_auto_t *done = gitstate_call(&l->s, "git.tag", json_pack("{s:O, s:s}", "name", v, "opts", "-d"),
                                          l->s.err);
        if (done == NULL)
            return l->s.err->code;
        buf_printf(&names, "%s%s", i > 0 ? ", " : "", json_string_value(v));
    }
    state_change(l->s.ret, "deleted_tags", json_incref(gone));
    gitstate_note(&l->s, "The following tags were removed from the local checkout: %s", buf_str(&names));
    return 0;
}

/* 1: the return is made. *ret_news: whether anything came. */
static int
state_git_fetch(git_latest_t *l, bool *ret_news)
{
    const char *branch = value_str(l->s.args, "refspec_branch", "*"),
               *tag = value_str(l->s.args, "refspec_tag", "*");
    /* Without tags git's own refspec of the remote is used: naming one would fetch nothing else. */
    json_t *refspecs = value_bool(l->s.args, "fetch_tags", true)
                           ? json_pack(
                                 "[o, o]",
                                 value_fmt("refs/heads/%s:refs/remotes/%s/%s", branch, l->remote, branch),
                                 value_fmt("+refs/tags/%s:refs/tags/%s", tag, tag))
                           : json_array();
    json_t *more = json_pack("{s:s, s:O, s:o, s:O, s:s}", "remote", l->remote, "force",
                             value_get(l->s.args, "force_fetch"), "refspecs", refspecs, "identity",
                             value_get(l->s.args, "identity"), "saltenv", ctx_saltenv(l->s.ctx));
    json_auto_t *news = gitstate_call(&l->s, "git.fetch", more, l->s.err);

    *ret_news = value_truthy(news);
    if (news != NULL)
        return 0;
    return gitstate_failed(
               &l->s, "Fetch failed. Set 'force_fetch' to True to force the fetch if the failure was due "
                      "to not being able to fast-forward. Output of the fetch command follows:\n\n") < 0
               ? l->s.err->code
               : 1;
}

/* git reset --hard. The revision comes from a remote or the SLS file: one that reads as an option is refused. */
static int
state_git_hard_reset(git_latest_t *l, const char *rev)
{
    if (prog_check_operand("rev", rev, l->s.err) < 0)
        return l->s.err->code;
    json_auto_t *done = gitstate_call(&l->s, "git.reset", json_pack("{s:[s, s]}", "opts", "--hard", rev),
                                      l->s.err);

    return done != NULL ? 0 : l->s.err->code;
}

/* HEAD becomes the remote's revision: the branch is checked out, what is in the way is reset or discarded, the
 * upstream is set, and the branch goes forward. 1: the return is made. */
static int
move_head(git_latest_t *l)
{
    tracking_t tracking = tracking_of(l);
    int rc;

    /* A new branch starts at the remote's revision. Local changes stop a checkout unless `force_checkout`. */
    if (other_branch(l)) {
        bool fresh = !value_lists(l->branches, l->branch),
             force = value_bool(l->s.args, "force_checkout", false);
        const char *rev = !fresh                        ? l->branch
                          : strcmp(l->rev, "HEAD") == 0 ? l->remote_rev
                          : l->upstream != NULL         ? l->upstream
                                                        : l->rev;
        if (l->local_changes && !force) {
            AUTO_FREE char *text = xasprintf(
                "Local branch '%s' has uncommitted changes. Set 'force_checkout' to True to "
                "discard them and proceed.",
                l->local_branch);
            return gitstate_fail(&l->s, text) < 0 ? l->s.err->code : 1;
        }
        json_auto_t *done = gitstate_call(
            &l->s, "git.checkout",
            fresh ? json_pack("{s:s, s:b, s:[s, s]}", "rev", rev, "force", force, "opts", "-b", l->branch)
                  : json_pack("{s:s, s:b}", "rev", rev, "force", force),
            l->s.err);
        if (done == NULL)
            return l->s.err->code;
        if (fresh)
            gitstate_note(&l->s, "New branch '%s' was checked out, with %s as a starting point", l->branch,
                          l->place);
        else
            gitstate_note(&l->s, "'%s' was checked out", rev);
    }
    /* No fast-forward: only `force_reset` comes here. With one, changes alone are in the way. */
    if (l->forward == 0) {
        if (state_git_hard_reset(l, l->remote_rev) < 0)
            return l->s.err->code;
        state_change(l->s.ret, "forced update", json_true());
        if (l->local_changes)
            gitstate_note(&l->s, "Uncommitted changes were discarded");
        gitstate_note(&l->s, "Repository was hard-reset to %s", l->place);
    } else if (l->forward > 0 && l->local_changes && l->force_reset) {
        json_auto_t *done = gitstate_call(&l->s, "git.discard_local_changes", NULL, l->s.err);
        if (done == NULL)
            return l->s.err->code;
        gitstate_note(&l->s, "Uncommitted changes were discarded");
    }
    rc = unborn(l, tracking);
    if (rc != 0)
        return rc;
    if (set_tracking(l, tracking) < 0)
        return l->s.err->code;
    if (l->forward <= 0 || revs_equal(l->base_rev, l->remote_rev, l->kind))
        return 0;

    /* A tag or commit has no upstream to merge: the branch is set to it. A branch is merged with --ff-only. */
    if (l->upstream == NULL && strcmp(l->rev, "HEAD") != 0) {
        if (state_git_hard_reset(l, l->rev) < 0)
            return l->s.err->code;
        gitstate_note(&l->s, "Repository was reset to %s (fast-forward)", l->rev);
        return 0;
    }
    json_auto_t *head = gitstate_soft(&l->s, "git.symbolic_ref",
                                      json_pack("{s:s, s:[s]}", "ref", "HEAD", "opts", "--quiet"));
    if (!value_truthy(head))
        return gitstate_fail(&l->s, "Unable to fast-forward, HEAD is detached") < 0 ? l->s.err->code : 1;
    json_auto_t *done = gitstate_call(
        &l->s, "git.merge", json_pack("{s:s, s:[s]}", "rev", l->remote_rev, "opts", "--ff-only"), l->s.err);
    if (done == NULL)
        return l->s.err->code;
    gitstate_note(&l->s, "Repository was fast-forwarded to %s", l->place);
    return 0;
}

/* git submodule update --init --recursive, if `submodules`. 1: the return is made. */
static int
update_submodules(git_latest_t *l)
{
    if (!value_bool(l->s.args, "submodules", false))
        return 0;
    json_auto_t *done = gitstate_call(&l->s, "git.submodule",
                                      json_pack("{s:s, s:[s, s], s:O}", "command", "update", "opts", "--init",
                                                "--recursive", "identity", value_get(l->s.args, "identity")),
                                      l->s.err);
    if (done != NULL)
        return 0;
    return gitstate_failed(&l->s, "Failed to update submodules: ") < 0 ? l->s.err->code : 1;
}

/* Reads the resulting revision and makes the return. */
static int
finish_update(git_latest_t *l)
{
    json_auto_t *now = gitstate_soft(&l->s, "git.revision", NULL);
    const char *rev = json_string_value(now);

    if (!l->bare && !revs_equal(rev, l->remote_rev, l->kind))
        return gitstate_fail(&l->s, "Failed to update repository");
    if (str_eq(l->local_rev, rev))
        return uptodate(l, false);
    state_change_from(l->s.ret, "revision", l->local_rev != NULL ? json_string(l->local_rev) : NULL,
                      json_incref(now));
    return state_ret_set(l->s.ret, STATE_TRUE, "%s", gitstate_notes(&l->s));
}

/* Compares the checkout with the remote: sets have_rev and, as far as that is known without a fetch, forward.
 * 1: the return is made. */
static int
state_git_compare(git_latest_t *l)
{
    /* Uncommitted changes on the wanted revision: without a force that is up to date, with a note. */
    if (l->local_changes && l->match) {
        if (!l->force_reset || l->reset_on_remote)
            return uptodate(l, true) < 0 ? l->s.err->code : 1;
        if (ctx_test(l->s.ctx)) {
            state_change(l->s.ret, "forced update", json_true());
            (void) state_ret_set(
                l->s.ret, STATE_NONE,
                "%s is up-to-date, but with uncommitted changes. Since 'force_reset' is set to True, these "
                "local changes would be reset. To only reset when there are changes in the remote "
                "repository, set 'force_reset' to 'remote-changes'.",
                l->s.target);
            return 1;
        }
    }

    /* The commit may be here while the remote-tracking branch or the tag is still elsewhere: that needs a fetch
     * as well. A tag that the remote has moved is not taken over without a force. */
    bool at_base = l->kind == REV_SHA && l->base_rev != NULL && str_starts(l->base_rev, l->remote_rev);
    AUTO_FREE char *commit = at_base ? NULL : parsed(l, "", "%s^{commit}", l->remote_rev);
    if (at_base || (commit != NULL && l->kind == REV_SHA)) {
        l->have_rev = true;
    } else if (commit != NULL && l->kind == REV_BRANCH && value_get(l->remotes, l->remote) != NULL) {
        AUTO_FREE char *copy = parsed(l, "", "%s", l->upstream);
        l->have_rev = str_eq(copy, l->remote_rev);
    } else if (commit != NULL && l->kind == REV_TAG && value_lists(l->tags, l->rev)) {
        AUTO_FREE char *sha = parsed(l, "", "%s^{commit}", l->rev);
        l->have_rev = str_eq(sha, l->remote_rev);
        if (!l->have_rev && !l->force_reset) {
            AUTO_FREE char *text = xasprintf(
                "'%s' is a tag, but the remote SHA1 for this tag (%.*s) doesn't match the local SHA1 (%.*s). "
                "Set 'force_reset' to True to force this update.",
                l->rev, SHORT_SHA, l->remote_rev, SHORT_SHA, sha != NULL ? sha : "None");
            (void) gitstate_fail(&l->s, text);
            return 1;
        }
    }

    /* Uncommitted changes are never a fast-forward, except where only the remote's changes reset. */
    l->forward = l->local_changes && !l->reset_on_remote ? 0 : -1;
    if (l->have_rev && head_stays(l))
        return tell_head_stays(l) < 0 ? l->s.err->code : 1;
    if (l->have_rev && l->forward != 0 && find_forward(l) < 0)
        return l->s.err->code;
    if (l->forward == 0 && !l->force_reset)
        return not_forward(l) < 0 ? l->s.err->code : 1;
    return 0;
}

/* Brings a present checkout up to date, from the inspection to the return. */
static int
state_git_update(git_latest_t *l)
{
    bool news;
    int rc;

    if (look_at_checkout(l) < 0)
        return gitstate_failed(&l->s, "");
    /* A bare repository has no HEAD: test mode can't tell whether a fetch would bring anything. */
    if (l->bare && ctx_test(l->s.ctx)) {
        gitstate_note(&l->s, "Bare repository at %s would be fetched", l->s.target);
        return uptodate(l, false);
    }
    if (l->bare) {
        if ((rc = state_git_fetch(l, &news)) != 0)
            return rc < 0 ? rc : 0;
        gitstate_note(&l->s, "Bare repository at %s was fetched%s", l->s.target,
                      news ? ", resulting in updated refs" : "");
        return finish_update(l);
    }
    if (l->remote_rev == NULL)
        return l->local_rev == NULL
                   ? uptodate(l, false)
                   : gitstate_fail(&l->s, "Remote repository is empty, cannot update from a non-empty to an "
                                          "empty repository");
    if ((rc = state_git_compare(l)) == 0)
        rc = fix_remote(l);
    if (rc == 0 && ctx_test(l->s.ctx))
        return test_update(l);
    if (rc == 0)
        rc = sync_tags(l);
    if (rc == 0 && !l->have_rev)
        rc = state_git_fetch(l, &news);
    /* After a fetch the commit must be here; the decisions of state_git_compare() are made again with it. */
    if (rc == 0 && !l->have_rev) {
        if (news)
            gitstate_note(&l->s, "%s was fetched, resulting in updated refs", l->name);
        AUTO_FREE char *commit = parsed(l, "", "%s^{commit}", l->remote_rev);
        if (commit == NULL) {
            AUTO_FREE char *text = xasprintf("Fetch did not successfully retrieve rev '%s' from %s", l->rev,
                                             l->name);
            return gitstate_fail(&l->s, text);
        }
        if (head_stays(l))
            return tell_head_stays(l);
        rc = find_forward(l);
        if (rc == 0 && !l->force_reset && (l->forward == 0 || l->local_changes))
            return not_forward(l);
    }
    if (rc == 0)
        rc = move_head(l);
    if (rc == 0)
        rc = update_submodules(l);
    if (rc < 0)
        return gitstate_failed(&l->s, "");
    return rc > 0 ? 0 : finish_update(l);
}

/* ---- clone ----------------------------------------------------------------------------------- */

/* The clone has the remote's default branch: make it what is wanted. 1: the return is made. */
static int
settle_clone(git_latest_t *l)
{
    l->branches = gitstate_call(&l->s, "git.list_branches", NULL, l->s.err);
    if (l->branches == NULL)
        return l->s.err->code;
    if (l->branch != NULL && !value_lists(l->branches, l->branch)) {
        const char *rev = strcmp(l->rev, "HEAD") == 0 ? l->remote_rev
                          : l->upstream != NULL       ? l->upstream
                                                      : l->rev;
        json_auto_t *done = gitstate_call(&l->s, "git.checkout",
                                          json_pack("{s:s, s:[s, s]}", "rev", rev, "opts", "-b", l->branch),
                                          l->s.err);
        if (done == NULL)
            return l->s.err->code;
        gitstate_note(&l->s, "Branch '%s' checked out, with %s as a starting point", l->branch, l->place);
        json_decref(l->branches);
        l->branches = gitstate_call(&l->s, "git.list_branches", NULL, l->s.err);
    }
    state_git_take_text(&l->local_rev, gitstate_soft(&l->s, "git.revision", NULL));
    state_git_take_text(&l->local_branch, gitstate_soft(&l->s, "git.current_branch", NULL));
    if (l->local_branch == NULL)
        return gitstate_fail(
                   &l->s,
                   "Remote HEAD refers to a ref that does not exist. This can happen when the default "
                   "branch on the remote repository is renamed or deleted. If you are unable to fix the "
                   "remote repository, you can work around this by setting the 'branch' argument (which "
                   "will ensure that the named branch is created if it does not already exist).") < 0
                   ? l->s.err->code
                   : 1;
    if (!revs_equal(l->local_rev, l->remote_rev, l->kind)) {
        if (state_git_hard_reset(l, l->remote_rev) < 0)
            return l->s.err->code;
        gitstate_note(&l->s, "Repository was reset to %s", l->place);
    }
    l->tracked = parsed(l, "--abbrev-ref", "%s@{upstream}", l->local_branch);
    return set_tracking(l, tracking_of(l));
}

/* Clones the remote into the target, from the room that it needs to the return. */
static int
clone_target(git_latest_t *l)
{
    bool force = value_bool(l->s.args, "force_clone", false);
    int there = fs_look_dir(l->s.target, l->s.err),
        empty = there > 0 && !force ? gitstate_is_empty(&l->s) : 0;

    if (there < 0 || empty < 0)
        return there < 0 ? there : empty;
    /* A folder that is no repository is in the way: `force_clone` deletes what is in it, even nothing. */
    if (there > 0 && empty == 0 && !force) {
        AUTO_FREE char *text = xasprintf(
            "Target '%s' exists, is non-empty and is not a git repository. Set the 'force_clone' option to "
            "True to remove this directory's contents and proceed with cloning the remote repository",
            l->s.target);
        return gitstate_fail(&l->s, text);
    }
    if (ctx_test(l->s.ctx)) {
        bool deletes = there > 0 && empty == 0;
        if (deletes)
            state_change(l->s.ret, "forced clone", json_true());
        state_change(l->s.ret, "new", value_fmt("%s => %s", l->name, l->s.target));
        if (!deletes)
            return state_ret_set(l->s.ret, STATE_NONE, "Repository %s would be cloned to %s", l->name,
                                 l->s.target);
        return state_ret_set(
            l->s.ret, STATE_NONE,
            "Target directory %s exists. Since force_clone=True, the contents of %s would be deleted, "
            "and %s would be cloned into this directory.",
            l->s.target, l->s.target, l->name);
    }
    int rc = there > 0 && empty == 0 ? gitstate_empty(&l->s) : 0;
    if (rc != 0)
        return rc < 0 ? rc : 0;

    json_t *more = gitstate_access(&l->s), *opts = json_array(), *depth = value_get(l->s.args, "depth");
    json_object_set_new(more, "url", json_string(l->name));
    json_object_set_new(more, "opts", opts);
    if (l->bare)
        json_array_append_new(opts, json_string(l->mirror ? "--mirror" : "--bare"));
    if (strcmp(l->remote, "origin") != 0) {
        json_array_append_new(opts, json_string("--origin"));
        json_array_append_new(opts, json_string(l->remote));
    }
    if (!json_is_null(depth)) {
        AUTO_FREE char *text = value_pystr(depth);
        json_auto_t *more_words = json_pack("[s, s, s, s]", "--depth", text, "--branch", l->rev);
        json_array_extend(opts, more_words);
    }
    json_auto_t *done = gitstate_call(&l->s, "git.clone", more, l->s.err);
    if (done == NULL)
        return gitstate_failed(&l->s, "Clone failed: ");
    state_change(l->s.ret, "new", value_fmt("%s => %s", l->name, l->s.target));
    gitstate_note(&l->s, "%s cloned to %s%s", l->name, l->s.target,
                  l->mirror ? " as mirror"
                  : l->bare ? " as bare repository"
                            : "");

    /* An empty remote has no branch to settle and no submodules. */
    if (!l->bare && l->remote_rev != NULL)
        rc = settle_clone(l);
    if (rc == 0 && l->remote_rev != NULL)
        rc = update_submodules(l);
    if (rc != 0)
        return rc < 0 ? gitstate_failed(&l->s, "") : 0;
    json_auto_t *now = gitstate_soft(&l->s, "git.revision", NULL);
    if (json_is_string(now))
        state_change_from(l->s.ret, "revision", NULL, json_incref(now));
    return state_ret_set(l->s.ret, STATE_TRUE, "%s", gitstate_notes(&l->s));
}

/* ---- the state ------------------------------------------------------------------------------- */

static int
git_latest(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = state_ret_args(args);
    json_t *reset = value_get(args, "force_reset");
    git_latest_t l = { .s = { .ctx = ctx,
                              .args = args,
                              .ret = *ret_value,
                              .err = err,
                              .target = value_str(args, "target", "") },
                       .name = value_str(args, "name", ""),
                       .rev = value_str(args, "rev", "HEAD"),
                       .branch = value_str(args, "branch", NULL),
                       .remote = value_str(args, "remote", "origin"),
                       .mirror = value_bool(args, "mirror", false),
                       .bare = value_bool(args, "bare", false) || value_bool(args, "mirror", false),
                       .update_head = value_bool(args, "update_head", true),
                       .force_reset = value_truthy(reset),
                       .reset_on_remote = json_is_string(reset) };
    /* The first invalid argument or combination of them is the answer. Nothing is owned yet. */
    AUTO_FREE char *why = NULL;
    if (*l.remote == '\0')
        why = xstrdup("'remote' argument is required");
    else if (*l.s.target == '\0')
        why = xstrdup("'target' argument is required");
    else if (*l.rev == '\0')
        why = xstrdup("'' is not a valid value for the 'rev' argument");
    else if (*l.s.target != '/')
        why = xasprintf("target '%s' is not an absolute path", l.s.target);
    else if (strcmp(l.rev, "HEAD") != 0 && l.bare)
        why = xstrdup("'rev' is not compatible with the 'mirror' and 'bare' arguments");
    else if (fs_look(l.s.target, NULL) > 0 && fs_look_dir(l.s.target, NULL) == 0)
        why = xasprintf("Target '%s' exists and is a regular file, cannot proceed", l.s.target);
    else if (!json_is_boolean(reset) && !str_eq(json_string_value(reset), "remote-changes"))
        why = xstrdup("'force_reset' must be one of True, False, or 'remote-changes'");
    if (why != NULL)
        return gitstate_fail(&l.s, why);

    /* The remote first: a revision that does not exist there is told before anything is touched here. */
    int rc = ask_remote(&l);
    if (rc == 0) {
        int there = gitstate_is_checkout(&l.s, l.bare ? "refs" : ".git");
        rc = there < 0 ? there : there > 0 ? state_git_update(&l) : clone_target(&l);
    }

    char **texts[] = { &l.remote_rev, &l.upstream, &l.place,       &l.local_rev,     &l.local_branch,
                       &l.base_rev,   &l.tracked,  &l.base_branch, &l.default_branch };

    json_decref(l.refs);
    json_decref(l.branches);
    json_decref(l.tags);
    json_decref(l.remotes);
    for (size_t i = 0; i < NELEMS(texts); i++)
        free(*texts[i]);
    buf_free(&l.s.comments);

    return rc < 0 ? rc : 0;
}

/* ---- table ----------------------------------------------------------------------------------- */

static const arg_t latest_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "The remote repository"),
    ARG("target", ARG_STR, ARG_REQUIRED, "The checkout's folder"),
    ARG("rev", ARG_STR, "\"HEAD\"", "A branch, tag or commit of the remote"),
    ARG("branch", ARG_STR, "null", "The local branch; None: the one that is checked out"),
    ARG("user", ARG_STR, "null", "Run git as this user"),
    ARG("password", ARG_STR, "null", "Of Windows only"),
    ARG("update_head", ARG_BOOL, "true", "Move a checkout that exists; False only fetches"),
    ARG("force_checkout", ARG_BOOL, "false", "Discard local changes when another branch is checked out"),
    ARG("force_clone", ARG_BOOL, "false", "Empty a folder that is not a repository"),
    ARG("force_fetch", ARG_BOOL, "false", "Also fetch what is not a fast-forward"),
    ARG("force_reset", ARG_ANY, "false",
        "Discard local commits and changes; remote-changes: only for something new"),
    ARG("submodules", ARG_BOOL, "false", "Update submodules too"),
    ARG("bare", ARG_BOOL, "false", "Clone as a bare repository"),
    ARG("mirror", ARG_BOOL, "false", "Clone as a mirror"),
    ARG("remote", ARG_STR, "\"origin\"", "What the remote is called"),
    ARG("fetch_tags", ARG_BOOL, "true", "Fetch all tags"),
    ARG("sync_tags", ARG_BOOL, "true", "Remove tags that the remote does not have"),
    ARG("depth", ARG_INT, "null", "Only so many commits"),
    ARG("identity", ARG_ANY, "null", "A private key for ssh; salt:// paths too"),
    ARG("https_user", ARG_STR, "null", "User of a https remote"),
    ARG("https_pass", ARG_STR, "null", "His password"),
    ARG("refspec_branch", ARG_STR, "\"*\"", "Which branches to fetch"),
    ARG("refspec_tag", ARG_STR, "\"*\"", "Which tags to fetch"),
    ARG("output_encoding", ARG_STR, "null", "Accepted; output is UTF-8"),
    ARGS_END,
};

static const func_t funcs[] = {
    { "latest", git_latest, latest_args, 0, "Ensure that a repository is cloned and as its remote." },
};

static const char *
state_git_unavailable(call_ctx_t *ctx)
{
    return ctx_has(ctx, "git.version") ? NULL : "git module could not be loaded";
}

PLUGIN(state, git, .doc = "Checkouts of git repositories", FUNCS(funcs),
       .unavailable = state_git_unavailable);
