/* git_worktree.c - execution module `git`, third part: worktrees, archives, and what a merge would give. */
#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/call/subcall.h"
#include "plugins/lib/git/gitcmd.h"
#include "plugins/lib/git/gitrows.h"

/* ---- archives and merges --------------------------------------------------------------------- */

/* A part of a repository is archived too: what lies below `cwd`. Its name is the prefix unless the call has
 * another one; "" is none. */
static int
git_archive(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *cwd = value_str(args, "cwd", ""), *format = value_str(args, "format", "");
    const char *slash = strrchr(cwd, '/'), *given = value_str(args, "prefix", NULL);
    AUTO_FREE char *prefix = given != NULL ? xstrdup(given)
                                           : xasprintf("%s/", slash != NULL ? slash + 1 : cwd);
    prog_auto_t prog = PROG_INIT;

    if (git_begin(ctx, args, "archive", &prog, err) < 0)
        return err->code;
    if (*prefix != '\0')
        prog_adds(&prog, "--prefix", prefix, NULL);
    if (*format != '\0')
        prog_adds(&prog, "--format", format, NULL);
    prog_adds(&prog, "--output", value_str(args, "output", ""), NULL);
    if (prog_operand(&prog, "rev", value_str(args, "rev", "HEAD"), err) < 0)
        return err->code;
    json_auto_t *answer = git_run(ctx, args, &prog, 0, err);
    *ret_value = answer != NULL ? json_true() : NULL;
    return answer != NULL ? 0 : err->code;
}

/* git's output, which is empty where nothing would be merged. */
static int
git_merge_tree(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *one = value_str(args, "ref1", ""), *other = value_str(args, "ref2", "");
    fail_auto_t why = FAIL_INIT;
    json_auto_t *base = value_str(args, "base", NULL) != NULL
                            ? json_incref(value_get(args, "base"))
                            : sub_call(ctx, &why, "git.merge_base", "{s:O, s:[s, s], s:O}", "cwd",
                                       value_get(args, "cwd"), "refs", one, other, "user",
                                       value_get(args, "user"));
    json_auto_t *refs = json_pack("[O?, s, s]", base, one, other);
    prog_auto_t prog = PROG_INIT;

    if (!json_is_string(base))
        return fail_kind(err, FAIL_COMMAND, -ENOENT, "Unable to determine merge base for %s and %s", one,
                         other);
    if (git_begin(ctx, args, "merge-tree", &prog, err) < 0 || prog_operands(&prog, "ref", refs, err) < 0)
        return err->code;
    *ret_value = git_text(ctx, args, &prog, 0, err);
    return *ret_value != NULL ? 0 : err->code;
}

/* ---- worktrees ------------------------------------------------------------------------------- */

/* A new branch of the worktree's name is made unless the call names another one or none (`detach`). */
static int
git_worktree_add(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *path = value_str(args, "worktree_path", ""), *slash = strrchr(path, '/');
    const char *branch = value_str(args, "branch", ""), *ref = value_str(args, "ref", "");
    bool detach = value_truthy(value_get(args, "detach"));
    prog_auto_t prog = PROG_INIT;

    if (detach && *branch != '\0')
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "Only one of 'branch' and 'detach' is allowed");
    if (git_begin(ctx, args, "worktree", &prog, err) < 0)
        return err->code;
    prog_add(&prog, "add");
    if (detach) {
        prog_add(&prog, "--detach");
    } else {
        prog_adds(&prog, value_truthy(value_get(args, "reset_branch")) ? "-B" : "-b",
                  *branch != '\0' ? branch
                  : slash != NULL ? slash + 1
                                  : path,
                  value_truthy(value_get(args, "force")) ? "--force" : NULL, NULL);
    }
    if (git_add_opts(&prog, value_get(args, "opts"), err) < 0 ||
        prog_operand(&prog, "worktree_path", path, err) < 0 ||
        (*ref != '\0' && prog_operand(&prog, "ref", ref, err) < 0))
        return err->code;
    *ret_value = git_text(ctx, args, &prog, GIT_MERGE, err);
    return *ret_value != NULL ? 0 : err->code;
}

/* git tells what it removes on its standard error; versions before 2.36 on their output. */
static int
git_worktree_prune(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *expire = value_str(args, "expire", "");
    prog_auto_t prog = PROG_INIT;

    if (git_begin(ctx, args, "worktree", &prog, err) < 0)
        return err->code;
    prog_add(&prog, "prune");
    if (value_truthy(value_get(args, "dry_run")))
        prog_add(&prog, "--dry-run");
    if (value_truthy(value_get(args, "verbose")))
        prog_add(&prog, "--verbose");
    if (*expire != '\0')
        prog_adds(&prog, "--expire", expire, NULL);
    if (git_add_opts(&prog, value_get(args, "opts"), err) < 0)
        return err->code;
    *ret_value = git_text(ctx, args, &prog, GIT_MERGE, err);
    return *ret_value != NULL ? 0 : err->code;
}

/* Only a worktree's folder is removed, never a repository; what the repository knows of it goes by
 * worktree_prune. */
static int
git_worktree_rm(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *cwd = value_str(args, "cwd", "");
    int there = fs_look(cwd, err);

    if (there <= 0)
        return there < 0 ? there : fail_kind(err, FAIL_COMMAND, -ENOENT, "%s does not exist", cwd);
    int tree = sub_call_bool(ctx, err, "git.is_worktree", "{s:s, s:O}", "cwd", cwd, "user",
                             value_get(args, "user"));
    if (tree <= 0)
        return tree < 0 ? tree : fail_kind(err, FAIL_COMMAND, -EINVAL, "%s is not a git worktree", cwd);
    if (fs_remove_tree(cwd, err) < 0)
        return err->code;
    *ret_value = json_true();
    return 0;
}

/* Tags of the commit that a worktree without a branch has. 0, or negative with *err. */
static int
add_tags(call_ctx_t *ctx, const json_t *args, json_t *one, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;

    if (git_begin(ctx, args, "tag", &prog, err) < 0)
        return err->code;
    prog_adds(&prog, "--points-at", value_str(one, "HEAD", ""), NULL);
    json_t *text = git_text(ctx, args, &prog, 0, err);
    if (text == NULL)
        return err->code;
    json_auto_t *tags = git_lines(text);
    if (json_array_size(tags) > 0)
        json_object_set(one, "tags", tags);
    return 0;
}

/* A block of `git worktree list --porcelain`: "worktree PATH", "HEAD SHA", "branch REF" or "detached". NEW with
 * *ret_path, which is in `block`; NULL for one that lacks something, as a bare repository does. */
static json_t *
read_worktree(char *block, const char **ret_path)
{
    const char *head = NULL, *branch = NULL;
    bool detached = false;

    *ret_path = NULL;
    for (char *save = NULL, *line = strtok_r(block, "\n", &save); line != NULL;
         line = strtok_r(NULL, "\n", &save)) {
        detached = detached || str_eq(line, "detached");
        *ret_path = str_starts(line, "worktree ") ? line + strlen("worktree ") : *ret_path;
        head = str_starts(line, "HEAD ") ? line + strlen("HEAD ") : head;
        branch = str_starts(line, "branch ") ? line + strlen("branch ") : branch;
    }
    if (*ret_path == NULL || head == NULL || (branch == NULL && !detached))
        return NULL;
    if (branch != NULL && str_starts(branch, "refs/heads/"))
        branch += strlen("refs/heads/");
    return json_pack("{s:s, s:b, s:s?}", "HEAD", head, "detached", branch == NULL, "branch", branch);
}

/* {path: {stale, HEAD, detached, branch, tags}}: those whose folder is there, or with `stale` those where it is
 * gone, or with `all` both. */
static int
git_list_worktrees(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    bool all = value_truthy(value_get(args, "all")), stale = value_truthy(value_get(args, "stale"));
    prog_auto_t prog = PROG_INIT;

    if (all && stale)
        return fail_kind(err, FAIL_COMMAND, -EINVAL, "'all' and 'stale' cannot both be set to True");
    if (git_begin(ctx, args, "worktree", &prog, err) < 0)
        return err->code;
    prog_adds(&prog, "list", "--porcelain", NULL);
    json_auto_t *text = git_text(ctx, args, &prog, 0, err);
    if (text == NULL)
        return err->code;
    json_auto_t *found = json_object();
    AUTO_FREE char *blocks = xstrdup(json_string_value(text));
    for (char *block = blocks, *next; block != NULL; block = next) {
        const char *path;
        next = strstr(block, "\n\n");
        if (next != NULL) {
            *next = '\0';
            next += 2;
        }
        json_auto_t *one = read_worktree(block, &path);
        int there = one != NULL ? fs_look_dir(path, err) : 0;
        if (there < 0)
            return there;
        if (one == NULL || (!all && stale != (there == 0)))
            continue;
        json_object_set_new(one, "stale", json_boolean(there == 0));
        if (value_bool(one, "detached", false) && add_tags(ctx, args, one, err) < 0)
            return err->code;
        json_object_set(found, path, one);
    }
    *ret_value = json_incref(found);
    return 0;
}

/* ---- table ----------------------------------------------------------------------------------- */

static const arg_t archive_args[] = {
    GIT_ROW_CWD,
    ARG("output", ARG_STR, ARG_REQUIRED,
        "The archive to make; its name tells the format: .tar, .tar.gz, .zip"),
    ARG("rev", ARG_STR, "\"HEAD\"", "The revision"),
    ARG("prefix", ARG_STR, "null", "Begins each name in it, with its slash; by default the folder's name"),
    ARG("git_opts", ARG_ANY, "\"\"", "Options of git itself"),
    GIT_ROWS_USER,
    ARG("format", ARG_STR, "null", "Another format: tar, zip, tar.gz, tgz"),
    ARGS_END,
};
static const arg_t merge_tree_args[] = {
    GIT_ROW_CWD,
    ARG("ref1", ARG_STR, ARG_REQUIRED, "A revision"),
    ARG("ref2", ARG_STR, ARG_REQUIRED, "Another"),
    ARG("base", ARG_STR, "null", "Their common commit; None: found out"),
    GIT_ROWS_USER,
    ARGS_END,
};
static const arg_t list_args[] = {
    GIT_ROW_CWD,   ARG("stale", ARG_BOOL, "false", "Only those whose folder is gone"),
    GIT_ROWS_USER, ARG("all", ARG_BOOL, "false", "Those too"),
    ARGS_END,
};
static const arg_t add_args[] = {
    GIT_ROW_CWD,
    ARG("worktree_path", ARG_STR, ARG_REQUIRED, "Folder of the worktree"),
    ARG("ref", ARG_STR, "null", "What it begins with; None: HEAD"),
    ARG("reset_branch", ARG_ANY, "null", "True: the branch may be there and begins anew"),
    ARG("force", ARG_ANY, "null", "True: the branch may be checked out elsewhere"),
    ARG("detach", ARG_BOOL, "false", "Without a branch"),
    GIT_ROWS_OPTS,
    GIT_ROWS_USER,
    ARG("branch", ARG_STR, "null", "The new branch; by default the folder's name"),
    ARGS_END,
};
static const arg_t prune_args[] = {
    GIT_ROW_CWD,
    ARG("dry_run", ARG_BOOL, "false", "Only tell"),
    ARG("verbose", ARG_BOOL, "true", "Tell what is removed"),
    ARG("expire", ARG_STR, "null", "Only those that are older"),
    GIT_ROWS_OPTS,
    GIT_ROWS_USER,
    ARGS_END,
};
static const arg_t rm_args[] = {
    ARG("cwd", ARG_STR, ARG_REQUIRED, "Folder of the worktree"),
    ARG("user", ARG_STR, "null", "User to run git as"),
    ARG("output_encoding", ARG_STR, "null", "Accepted; output is UTF-8"),
    ARGS_END,
};

static const func_t funcs[] = {
    GIT_ROW(archive, archive_args, 0, "Make an archive of a revision.",
            "archive /path/to/repo /path/to/archive.tar"),
    GIT_ROW(list_worktrees, list_args, FN_READONLY, "Return a repository's worktrees.",
            "list_worktrees /path/to/repo all=True"),
    GIT_ROW(merge_tree, merge_tree_args, FN_READONLY, "Return what a merge of two revisions would change.",
            "merge_tree /path/to/repo HEAD upstream/dev"),
    GIT_ROW(worktree_add, add_args, 0, "Add a worktree.",
            "worktree_add /path/to/repo/main ../hotfix ref=origin/main"),
    GIT_ROW(worktree_prune, prune_args, 0, "Forget worktrees whose folder is gone.",
            "worktree_prune /path/to/repo dry_run=True"),
    GIT_ROW(worktree_rm, rm_args, 0, "Remove a worktree's folder.", "worktree_rm /path/to/worktree"),
};

PLUGIN(exec, git_worktree, .provides = "git", .doc = "Git repositories", FUNCS(funcs),
       .unavailable = git_missing);
