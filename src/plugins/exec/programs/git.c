/* git.c - execution module `git`: repositories on this host, by the system's git. Simple functions are rows
 * of words (GIT_COMMAND) that name options and arguments in the order of the command line; functions that
 * parse output or handle logins have bodies. Passwords go through gitlogin.h to git's credential helper,
 * never onto the command line. Most functions answer with git's output; those of Salt that say True, or a
 * structure, are told at each. Commands run as `user`, with that user's own configuration; `identity` is a
 * key for ssh of this one call. */
#include "common/base/buf.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/git/gitlogin.h"
#include "plugins/lib/git/gitrows.h"

/* ---- one command, its output ----------------------------------------------------------------- */

/* A word of a command line: a text as it is, an argument's value when it has one, or a text when an argument
 * is true. */
typedef struct git_word {
    const char *text, *arg;
    bool placed;
} git_word_t;

#define WORD(text)         ROW(text, NULL, false)
#define WORD_IF(text, arg) ROW(text, arg, false)
#define OPERAND(arg)       ROW(NULL, arg, false) /* refused where git would take the value for an option */
#define PLACED(arg)        ROW(NULL, arg, true)  /* behind an option or "--", where it can be none */
#define OPTS               ROW(NULL, "opts", true)
#define END                ROW(NULL, NULL, false)

/* Appends one word: a literal, a literal whose argument is true, an argument's value, or the split `opts`. */
static int
exec_git_add_word(prog_t *prog, const json_t *args, const git_word_t *w, fail_t *err)
{
    json_t *v = w->arg != NULL ? value_get(args, w->arg) : NULL;

    if (w->arg == NULL)
        prog_add(prog, w->text);
    else if (w->text != NULL && value_truthy(v))
        prog_add(prog, w->text);
    else if (w->text == NULL && strcmp(w->arg, "opts") == 0)
        return git_add_opts(prog, v, err);
    /* A value at a place where git still reads options may not begin with "-", whoever wrote it. */
    else if (w->text == NULL && value_truthy(v) && !w->placed)
        return prog_operands(prog, w->arg, v, err);
    else if (w->text == NULL && value_truthy(v))
        prog_add_json(prog, v);
    return 0;
}

/* `login`: of the remote, or NULL. The words' end is a row of NULLs. */
static int
run_words(call_ctx_t *ctx, json_t *args, const char *command, const git_word_t *words, unsigned flags,
          const git_login_t *login, json_t **ret_value, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;

    if (git_begin(ctx, args, command, &prog, err) < 0)
        return err->code;
    if (login != NULL)
        gitlogin_use(&prog, login);
    for (const git_word_t *w = words; w->text != NULL || w->arg != NULL; w++) {
        if (exec_git_add_word(&prog, args, w, err) < 0)
            return err->code;
    }
    *ret_value = git_text(ctx, args, &prog, flags, err);
    return *ret_value != NULL ? 0 : err->code;
}

#define GIT_COMMAND(name, command, flags, ...)                                                               \
    static int git_##name(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)                    \
    {                                                                                                        \
        static const git_word_t words[] = { __VA_ARGS__, END };                                              \
        return run_words(ctx, args, command, words, flags, NULL, ret_value, err);                            \
    }

GIT_COMMAND(add, "add", 0, WORD("--verbose"), OPTS, WORD("--"), PLACED("filename"))
GIT_COMMAND(checkout_text, "checkout", GIT_MERGE, WORD_IF("--force", "force"), OPTS, OPERAND("rev"))
GIT_COMMAND(cherry_pick, "cherry-pick", 0, OPTS, OPERAND("commit"))
GIT_COMMAND(commit, "commit", 0, WORD("-m"), PLACED("message"), OPTS, WORD_IF("--", "filename"),
            PLACED("filename"))
GIT_COMMAND(current_branch, "rev-parse", 0, WORD("--abbrev-ref"), WORD("HEAD"))
GIT_COMMAND(describe, "describe", 0, WORD("--always"), OPTS, OPERAND("rev"))
GIT_COMMAND(diff_text, "diff", GIT_MERGE, OPTS, WORD_IF("--cached", "cached"), OPERAND("item1"),
            OPERAND("item2"), WORD_IF("--", "paths"), PLACED("paths"))
/* git tells by exit code 1 that files differ. */
GIT_COMMAND(diff_files, "diff", GIT_MERGE | GIT_SOFT, OPTS, WORD("--no-index"), WORD_IF("--", "paths"),
            PLACED("paths"))
GIT_COMMAND(discard_local_changes, "checkout", GIT_MERGE, WORD("--"), PLACED("path"))
GIT_COMMAND(init_text, "init", 0, WORD_IF("--bare", "bare"), PLACED("given"), OPTS, WORD("--"),
            PLACED("path"))
GIT_COMMAND(merge, "merge", 0, OPTS, OPERAND("rev"))
GIT_COMMAND(pull, "pull", 0, OPTS)
GIT_COMMAND(rebase_text, "rebase", 0, OPTS, OPERAND("rev"))
GIT_COMMAND(reset, "reset", 0, OPTS)
GIT_COMMAND(rev_parse, "rev-parse", 0, OPTS, OPERAND("rev"))
GIT_COMMAND(revision, "rev-parse", 0, WORD_IF("--short", "short"), OPERAND("rev"))
GIT_COMMAND(rm, "rm", 0, OPTS, WORD("--"), PLACED("filename"))
GIT_COMMAND(stash, "stash", 0, OPERAND("action"), OPTS)
GIT_COMMAND(symbolic_ref, "symbolic-ref", 0, OPTS, OPERAND("ref"), OPERAND("value"))
GIT_COMMAND(tag_text, "tag", 0, OPTS, WORD_IF("-m", "message"), PLACED("message"), OPERAND("name"),
            OPERAND("ref"))
GIT_COMMAND(branch_text, "branch", 0, OPTS, OPERAND("name"))

/* True when one of the two words is among the options of the call. */
static bool
git_has_option(const json_t *args, const char *one, const char *other)
{
    prog_auto_t words = PROG_INIT;
    fail_auto_t why = FAIL_INIT; /* the command itself tells it again */
    bool found = false;

    (void) git_add_opts(&words, value_get(args, "opts"), &why);
    for (size_t i = 0; i < words.n; i++)
        found = found || str_eq(words.argv[i], one) || str_eq(words.argv[i], other);
    return found;
}

/* Without a revision git would only print what has changed. */
static int
git_checkout(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    if (value_str(args, "rev", NULL) == NULL && !git_has_option(args, "-b", "-B"))
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "'rev' argument is required unless -b or -B in opts");
    return git_checkout_text(ctx, args, ret_value, err);
}

/* `rev` may be several words: UPSTREAM BRANCH. */
static int
git_rebase(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    if (git_has_option(args, "-i", "--interactive"))
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "Interactive rebases are not supported");
    char **words = prog_split(value_str(args, "rev", ""), err);
    if (words == NULL)
        return err->code;
    json_t *list = json_array();
    for (size_t i = 0; words[i] != NULL; i++)
        json_array_append_new(list, json_string(words[i]));
    strv_free(words);
    json_object_set_new(args, "rev", list);
    return git_rebase_text(ctx, args, ret_value, err);
}

/* Two files, or folders, or what differs in the checkout. */
static int
git_diff(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *paths = value_get(args, "paths");
    bool files = value_truthy(value_get(args, "no_index"));

    if (files && value_truthy(value_get(args, "cached")))
        return fail_kind(err, FAIL_COMMAND, -EINVAL,
                         "The 'no_index' and 'cached' options cannot be used together");
    if (json_is_string(paths)) {
        char **parts = str_split(json_string_value(paths), ",", true);
        json_t *list = json_array();
        for (size_t i = 0; parts[i] != NULL; i++)
            json_array_append_new(list, json_string(parts[i]));
        strv_free(parts);
        json_object_set_new(args, "paths", list);
    }
    return files ? git_diff_files(ctx, args, ret_value, err) : git_diff_text(ctx, args, ret_value, err);
}

/* ---- commands that succeed or fail ----------------------------------------------------------- */

/* With a name it makes a tag, without one it lists them: git's output either way. */
static int
git_tag(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return git_tag_text(ctx, args, ret_value, err);
}

/* Salt returns True instead of git's output. */
static int
git_branch(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *text = NULL;

    if (git_branch_text(ctx, args, &text, err) < 0)
        return err->code;
    json_decref(text);
    *ret_value = json_true();
    return 0;
}

/* The target folder need not exist, so git runs without it as working directory. `cwd` becomes the
 * operand. */
static int
git_init(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const char *const given[][2] = { { "template", "--template" },
                                            { "separate_git_dir", "--separate-git-dir" },
                                            { "shared", "--shared" } };
    json_t *options = json_array();

    for (size_t i = 0; i < NELEMS(given); i++) {
        json_t *v = value_get(args, given[i][0]);
        AUTO_FREE char *text = v != NULL && !json_is_null(v) ? value_pystr(v) : NULL;
        /* A mode is octal for git, and a truth is written small. */
        if (text != NULL)
            json_array_append_new(options, value_fmt("%s=%s%s", given[i][1], json_is_integer(v) ? "0" : "",
                                                     json_is_true(v)    ? "true"
                                                     : json_is_false(v) ? "false"
                                                                        : text));
    }
    json_object_set_new(args, "given", options);
    json_object_set(args, "path", value_get(args, "cwd"));
    json_object_del(args, "cwd");
    return git_init_text(ctx, args, ret_value, err);
}

/* `cwd` is the checkout to be made, or with `name` the folder above it, where git runs. */
static int
git_clone(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const git_word_t words[] = { OPTS, WORD("--"), PLACED("url"), PLACED("name"), END };
    AUTO_FREE char *cwd = xstrdup(value_str(args, "cwd", ""));
    const char *name = value_str(args, "name", "");
    AUTO_FREE char *made = *name != '\0' ? fs_join(cwd, name) : xstrdup(cwd);
    char *slash = strrchr(cwd, '/');
    git_login_auto_t login = GIT_LOGIN_INIT;
    json_auto_t *text = NULL;

    if (gitlogin_of(&login, args, "https_user", "https_pass", value_str(args, "url", ""), err) < 0)
        return err->code;
    /* Without a name the last part of `cwd` is it, and git runs in the folder above. */
    if (*name == '\0' && slash != NULL && slash > cwd) {
        json_object_set_new(args, "name", json_string(cwd));
        *slash = '\0';
    }
    if (fs_mkdirs(cwd, 0755, err) < 0)
        return err->code;
    json_object_set_new(args, "cwd", json_string(cwd));
    json_object_set_new(args, "url", json_string(login.url));
    if (run_words(ctx, args, "clone", words, 0, &login, &text, err) < 0)
        return err->code;
    /* From here on the checkout is there, and the login is kept for its later fetches and pulls. */
    json_object_set_new(args, "cwd", json_string(made));
    /* Without a password nothing is kept, and git asks the user's own helpers. */
    if (login.password != NULL && gitlogin_keep(ctx, args, &login, err) < 0)
        return err->code;
    *ret_value = json_true();
    return 0;
}

/* `remote` may be an address. A login within it goes by the helper as well. */
static int
git_push(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const git_word_t words[] = { OPTS, OPERAND("remote"), OPERAND("ref"), END };
    git_login_auto_t login = GIT_LOGIN_INIT;

    git_login_of(&login, value_str(args, "remote", ""));
    json_object_set_new(args, "remote", json_string(login.url));
    return run_words(ctx, args, "push", words, GIT_MERGE, &login, ret_value, err);
}

/* A submodule may have the remote of the repository around it, whose login it inherits. */
static int
git_submodule(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;

    if (git_begin(ctx, args, "submodule", &prog, err) < 0)
        return err->code;
    gitlogin_inherit(ctx, args, &prog);
    if ((value_truthy(value_get(args, "command")) &&
         prog_operands(&prog, "command", value_get(args, "command"), err) < 0) ||
        git_add_opts(&prog, value_get(args, "opts"), err) < 0)
        return err->code;
    *ret_value = git_text(ctx, args, &prog, 0, err);
    return *ret_value != NULL ? 0 : err->code;
}

/* ---- lists ----------------------------------------------------------------------------------- */

/* Short names of all refs below a prefix, one per line. */
static int
list_refs(call_ctx_t *ctx, json_t *args, const char *below, json_t **ret_value, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;

    if (git_begin(ctx, args, "for-each-ref", &prog, err) < 0)
        return err->code;
    prog_adds(&prog, "--format", "%(refname:short)", below, NULL);
    json_t *text = git_text(ctx, args, &prog, 0, err);
    *ret_value = text != NULL ? git_lines(text) : NULL;
    return text != NULL ? 0 : err->code;
}

/* Local ones; with `remote` those of remotes, as REMOTE/NAME. */
static int
git_list_branches(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return list_refs(ctx, args, value_bool(args, "remote", false) ? "refs/remotes/" : "refs/heads/",
                     ret_value, err);
}

/* Tags of the checkout, not those of the remote. */
static int
git_list_tags(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return list_refs(ctx, args, "refs/tags/", ret_value, err);
}

/* {ref: sha} of `git ls-remote`. `heads`, `tags` and patterns narrow the list on the remote's side. Lines
 * without a tab are warnings. */
static int
remote_refs(call_ctx_t *ctx, json_t *args, const char *remote, const char *ref, json_t **ret_value,
            fail_t *err)
{
    prog_auto_t prog = PROG_INIT;
    git_login_auto_t login = GIT_LOGIN_INIT;
    json_t *line;
    size_t i;

    if (gitlogin_of(&login, args, "https_user", "https_pass", remote, err) < 0 ||
        git_begin(ctx, args, "ls-remote", &prog, err) < 0 ||
        git_add_opts(&prog, value_get(args, "opts"), err) < 0)
        return err->code;
    gitlogin_use(&prog, &login);
    if (value_bool(args, "heads", false))
        prog_add(&prog, "--heads");
    if (value_bool(args, "tags", false))
        prog_add(&prog, "--tags");
    prog_adds(&prog, "--", login.url, ref, NULL);
    json_t *text = git_text(ctx, args, &prog, 0, err);
    if (text == NULL)
        return err->code;
    json_auto_t *lines = git_lines(text);
    json_t *refs = json_object();
    json_array_foreach (lines, i, line) {
        const char *sha = json_string_value(line), *tab = strchr(sha, '\t');
        if (tab != NULL)
            json_object_set_new(refs, tab + 1, value_utf8(sha, (size_t) (tab - sha)));
    }
    *ret_value = refs;
    return 0;
}

/* By the address; no checkout is needed, and the working directory is any. */
static int
git_remote_refs(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return remote_refs(ctx, args, value_str(args, "url", ""), value_str(args, "filter", NULL), ret_value,
                       err);
}

/* By the name of a remote in a checkout, or an address. */
static int
git_ls_remote(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return remote_refs(ctx, args, value_str(args, "remote", "origin"), value_str(args, "ref", NULL),
                       ret_value, err);
}

/* ---- remotes --------------------------------------------------------------------------------- */

/* NEW {name: {"fetch": url, "push": url}}. A line is "NAME<tab>URL (fetch)". A password in an address is
 * shown as stars unless redact_auth is False. */
static json_t *
remotes_of(call_ctx_t *ctx, const json_t *args, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;
    json_t *line;
    size_t i;

    if (git_begin(ctx, args, "remote", &prog, err) < 0)
        return NULL;
    prog_add(&prog, "--verbose");
    json_t *text = git_text(ctx, args, &prog, 0, err);
    if (text == NULL)
        return NULL;
    json_auto_t *lines = git_lines(text);
    json_t *remotes = json_object();
    json_array_foreach (lines, i, line) {
        AUTO_FREE char *copy = xstrdup(json_string_value(line));
        char *url = strchr(copy, '\t'), *action = strrchr(copy, ' ');
        if (url == NULL || action == NULL || action < url)
            continue;
        *url++ = '\0';
        *action++ = '\0';
        AUTO_FREE char *shown = value_bool(args, "redact_auth", true) ? str_redacted(url) : xstrdup(url);
        if (value_get(remotes, copy) == NULL)
            json_object_set_new(remotes, copy, json_object());
        json_object_set_new(value_get(remotes, copy), str_starts(action, "(push") ? "push" : "fetch",
                            json_string(shown));
    }
    return remotes;
}

/* Every remote with its two addresses; git's own configuration (insteadOf, pushUrl) has been applied to
 * them. */
static int
git_remotes(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = remotes_of(ctx, args, err);
    return *ret_value != NULL ? 0 : err->code;
}

/* An unknown remote is an error, other than by git_remotes, where it just lacks. */
static int
git_remote_get(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *remotes = remotes_of(ctx, args, err);
    const char *remote = value_str(args, "remote", "origin");

    if (remotes == NULL)
        return err->code;
    if (value_get(remotes, remote) == NULL)
        return fail_kind(err, FAIL_COMMAND, -ENOENT, "Remote '%s' not present in git checkout located at %s",
                         remote, value_str(args, "cwd", ""));
    *ret_value = json_incref(value_get(remotes, remote));
    return 0;
}

/* Runs one `git remote VERB [OPTION] REMOTE [URL]` command; OPTION and URL may be NULL. */
static int
run_remote(call_ctx_t *ctx, const json_t *args, const char *verb, const char *option, const char *remote,
           const char *url, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;

    if (git_begin(ctx, args, "remote", &prog, err) < 0)
        return err->code;
    prog_adds(&prog, verb, option, NULL);
    if (prog_operand(&prog, "remote", remote, err) < 0 ||
        (url != NULL && prog_operand(&prog, option != NULL ? "push_url" : "url", url, err) < 0))
        return err->code;
    json_auto_t *answer = git_run(ctx, args, &prog, 0, err);
    return answer != NULL ? 0 : err->code;
}

/* True when another remote uses the address, so that its login must stay. */
static bool
is_used(const json_t *remotes, const char *except, const char *url)
{
    const char *name, *action;
    json_t *urls, *other;

    json_object_foreach ((json_t *) remotes, name, urls) {
        json_object_foreach (urls, action, other) {
            if (strcmp(name, except) != 0 && strcmp(json_string_value(other), url) == 0)
                return true;
        }
    }
    return false;
}

/* Removes the stored credentials of a remote's addresses together with the remote. */
static int
forget_logins(call_ctx_t *ctx, const json_t *args, const json_t *remotes, const char *remote, fail_t *err)
{
    const char *action;
    json_t *url;

    json_object_foreach (value_get(remotes, remote), action, url) {
        git_login_auto_t none = { .url = xstrdup(json_string_value(url)) };
        if (!is_used(remotes, remote, none.url) && gitlogin_keep(ctx, args, &none, err) < 0)
            return err->code;
    }
    return 0;
}

/* The answer is what remote_get tells afterwards. */
static int
git_remote_set(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    /* The state before tells whether the name is taken, and which addresses have logins that may have to
     * go. */
    json_auto_t *remotes = remotes_of(ctx, args, err);
    const char *remote = value_str(args, "remote", "origin"), *push = value_str(args, "push_url", "");
    bool there = value_get(remotes, remote) != NULL;
    git_login_auto_t login = GIT_LOGIN_INIT, push_login = GIT_LOGIN_INIT;

    if (remotes == NULL ||
        gitlogin_of(&login, args, "https_user", "https_pass", value_str(args, "url", ""), err) < 0 ||
        (*push != '\0' &&
         gitlogin_of(&push_login, args, "push_https_user", "push_https_pass", push, err) < 0))
        return err->code;
    /* Removing the remote first drops its tracking refs, so that refs of the old address can't pass for those
     * of the new one. */
    int rc = there ? run_remote(ctx, args, "rm", NULL, remote, NULL, err) : 0;
    /* The new addresses may bring logins of their own, or none: the old ones go. */
    if (rc == 0 && there)
        rc = forget_logins(ctx, args, remotes, remote, err);
    if (rc == 0)
        rc = run_remote(ctx, args, "add", NULL, remote, login.url, err);
    if (rc == 0 && *push != '\0')
        rc = run_remote(ctx, args, "set-url", "--push", remote, push_login.url, err);
    if (rc == 0 && login.password != NULL)
        rc = gitlogin_keep(ctx, args, &login, err);
    if (rc == 0 && push_login.password != NULL)
        rc = gitlogin_keep(ctx, args, &push_login, err);
    return rc < 0 ? rc : git_remote_get(ctx, args, ret_value, err);
}

/* ---- fetch ----------------------------------------------------------------------------------- */

/* Parses one line of fetch's output: " * [new branch] name -> origin/name", " 0ab12..3cd45 name ->
 * origin/name". Other lines (deleted, forced, rejected) are not told, as by Salt. */
static void
take_update(json_t *found, const char *line)
{
    static const struct {
        const char *mark, *key;
    } marks[] = {
        { "[new tag]", "new tags" },
        { "[new branch]", "new branches" },
        { "[tag update]", "updated tags" },
    };
    const char *text = line + strspn(line, " \t*"), *arrow = strstr(text, "->");
    char old[65], new[65];
    int at = 0;

    if (arrow == NULL)
        return;
    for (size_t i = 0; i < NELEMS(marks); i++) {
        if (!str_starts(text, marks[i].mark))
            continue;
        const char *name = text + strlen(marks[i].mark);
        AUTO_FREE char *copy = xstrndup(name, (size_t) (arrow - name));
        json_array_append_new(git_list_in(found, marks[i].key), json_string(str_trim(copy)));
        return;
    }
    if (sscanf(text, "%64[0-9a-f]..%64[0-9a-f]%n", old, new, &at) != 2)
        return;
    AUTO_FREE char *copy = xstrndup(text + at, (size_t) (arrow - text - at));
    if (value_get(found, "updated branches") == NULL)
        json_object_set_new(found, "updated branches", json_object());
    json_object_set_new(value_get(found, "updated branches"), str_trim(copy),
                        json_pack("{s:s, s:s}", "old", old, "new", new));
}

/* `refspecs`: a list, or a text with commas. */
static int
add_refspecs(prog_t *prog, const json_t *refspecs, fail_t *err)
{
    int rc = 0;

    /* Anything but a text or a list is none. */
    if (!json_is_string(refspecs))
        return json_is_array(refspecs) ? prog_operands(prog, "refspecs", refspecs, err) : 0;
    char **parts = str_split(json_string_value(refspecs), ",", true);
    for (char **p = parts; rc == 0 && *p != NULL; p++)
        rc = prog_operand(prog, "refspecs", *p, err);
    strv_free(parts);
    return rc;
}

/* Updates of refs as git prints them, by kind. {} when nothing was new. git prints them on stderr, hence both
 * streams. */
static int
git_fetch(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;
    json_t *line;
    git_login_auto_t login = GIT_LOGIN_INIT;
    size_t i;

    if (git_begin(ctx, args, "fetch", &prog, err) < 0)
        return err->code;
    git_login_of(&login, value_str(args, "remote", ""));
    gitlogin_use(&prog, &login);
    if (value_bool(args, "force", false))
        prog_add(&prog, "--force");
    if (git_add_opts(&prog, value_get(args, "opts"), err) < 0)
        return err->code;
    /* Without a remote git takes origin, or what the branch is configured with. */
    if ((*login.url != '\0' && prog_operand(&prog, "remote", login.url, err) < 0) ||
        add_refspecs(&prog, value_get(args, "refspecs"), err) < 0)
        return err->code;
    json_t *text = git_text(ctx, args, &prog, GIT_MERGE, err);
    if (text == NULL)
        return err->code;
    json_auto_t *lines = git_lines(text);
    *ret_value = json_object();
    json_array_foreach (lines, i, line)
        take_update(*ret_value, json_string_value(line));
    return 0;
}

/* ---- questions ------------------------------------------------------------------------------- */

/* A text, or the list of its parts with versioninfo. Parts that are no numbers ("rc1") stay texts. */
static int
git_version(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;

    if (git_begin(ctx, args, "--version", &prog, err) < 0)
        return err->code;
    json_auto_t *text = git_text(ctx, args, &prog, 0, err);
    if (text == NULL)
        return err->code;
    const char *number = strrchr(json_string_value(text), ' ');
    number = number != NULL ? number + 1 : json_string_value(text);
    if (!value_bool(args, "versioninfo", false)) {
        *ret_value = json_string(number);
        return 0;
    }
    *ret_value = json_array();
    char **parts = str_split(number, ".", true);
    for (char **p = parts; *p != NULL; p++) {
        long long n;
        json_array_append_new(*ret_value,
                              str_to_int(*p, 0, INT32_MAX, &n) ? json_integer(n) : json_string(*p));
    }
    strv_free(parts);
    return 0;
}

/* A worktree's .git is a file that names the repository. A folder that is no repository is False, and so is
 * one that is not there. A submodule's .git is a file too, but with a relative path. */
static int
git_is_worktree(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;
    buf_auto_t text = BUF_INIT;

    *ret_value = json_false();
    int rc = fs_look_dir(value_str(args, "cwd", ""), err);
    if (rc <= 0)
        return rc;
    if (git_begin(ctx, args, "rev-parse", &prog, err) < 0)
        return err->code;
    prog_add(&prog, "--show-toplevel");
    json_auto_t *answer = git_run(ctx, args, &prog, GIT_SOFT, err);
    if (answer == NULL)
        return err->code;
    AUTO_FREE char *file = fs_join(value_str(answer, "stdout", ""), ".git");
    rc = value_int(answer, "retcode", 1) == 0 ? fs_look_file(file, err) : 0;
    if (rc > 0)
        rc = fs_read(file, LIMIT_KEY_FILE, &text, err);
    if (rc < 0)
        return rc;
    if (str_starts(buf_str(&text), "gitdir: /"))
        *ret_value = json_true();
    return 0;
}

/* `is_ancestor` uses the exit code (0 or 1), which is therefore no error. The answer is the first base, or
 * with `all` their list. */
static int
git_merge_base(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const git_word_t words[] = {
        OPTS,
        WORD_IF("--all", "all"),
        WORD_IF("--octopus", "octopus"),
        WORD_IF("--is-ancestor", "is_ancestor"),
        WORD_IF("--independent", "independent"),
        WORD_IF("--fork-point", "fork_point"),
        OPERAND("fork_point"),
        END,
    };
    json_t *refs = value_get(args, "refs");
    prog_auto_t prog = PROG_INIT;
    bool ancestor = value_bool(args, "is_ancestor", false);

    if (git_begin(ctx, args, "merge-base", &prog, err) < 0)
        return err->code;
    for (const git_word_t *w = words; w->text != NULL || w->arg != NULL; w++) {
        if (exec_git_add_word(&prog, args, w, err) < 0)
            return err->code;
    }
    /* Told here, as git would print its usage. */
    if (ancestor && json_array_size(refs) != 2)
        return fail_kind(err, FAIL_INVOCATION, -EINVAL,
                         "Two refs/commits are required if 'is_ancestor' is True");
    if (prog_operands(&prog, "refs", refs, err) < 0)
        return err->code;
    json_auto_t *answer = git_run(ctx, args, &prog, ancestor ? GIT_SOFT : 0, err);
    if (answer == NULL)
        return err->code;
    if (ancestor) {
        *ret_value = json_boolean(value_int(answer, "retcode", 1) == 0);
        return 0;
    }
    /* One line for each base; git ends with 1 where there is none, which is an error of the call. */
    json_auto_t *bases = git_lines(json_incref(value_get(answer, "stdout")));
    *ret_value = json_incref(value_bool(args, "all", false) ? bases : json_array_get(bases, 0));
    return 0;
}

/* Groups `git status --porcelain` by state; a combined state such as "AM" is its own key, as in Salt. A
 * renamed file stands as "OLD -> NEW" in one text. */
static int
git_status(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const struct {
        const char *mark, *key;
    } marks[] = { { "M", "modified" }, { "A", "new" }, { "D", "deleted" }, { "??", "untracked" } };
    prog_auto_t prog = PROG_INIT;
    size_t i;
    json_t *line;

    if (git_begin(ctx, args, "status", &prog, err) < 0)
        return err->code;
    prog_add(&prog, "--porcelain");
    json_t *text = git_text(ctx, args, &prog, 0, err);
    if (text == NULL)
        return err->code;
    json_auto_t *lines = git_lines(text);
    *ret_value = json_object();
    json_array_foreach (lines, i, line) {
        AUTO_FREE char *copy = xstrdup(json_string_value(line));
        char *state = copy + strspn(copy, " "), *name = state + strcspn(state, " ");
        if (*name == '\0')
            continue;
        *name++ = '\0';
        /* A name with odd characters stands in quotes, as git prints it. */
        const char *key = state;
        for (size_t k = 0; k < NELEMS(marks); k++)
            key = strcmp(marks[k].mark, state) == 0 ? marks[k].key : key;
        json_array_append_new(git_list_in(*ret_value, key), json_string(name + strspn(name, " ")));
    }
    return 0;
}

/* ---- table ----------------------------------------------------------------------------------- */

#define REMOTE_ROWS                                                                                          \
    ARG("identity", ARG_ANY, "null", "A private key for ssh; salt:// paths too"),                            \
        ARG("saltenv", ARG_STR, "\"base\"", "Environment of a salt:// path")
#define HTTPS_ROWS                                                                                           \
    ARG("https_user", ARG_STR, "null", "User of a https remote"),                                            \
        ARG("https_pass", ARG_STR, "null", "His password")

static const arg_t cwd_args[] = { GIT_ROW_CWD, GIT_ROWS_USER, ARGS_END };
static const arg_t file_args[] = { GIT_ROW_CWD, ARG("filename", ARG_STR, ARG_REQUIRED, "The file"),
                                   GIT_ROWS_OPTS, GIT_ROWS_USER, ARGS_END };
static const arg_t checkout_args[] = { GIT_ROW_CWD,
                                       ARG("rev", ARG_STR, "null", "A branch, tag or commit"),
                                       ARG("force", ARG_BOOL, "false", "Discard local changes"),
                                       GIT_ROWS_OPTS,
                                       GIT_ROWS_USER,
                                       ARGS_END };
static const arg_t pick_args[] = { GIT_ROW_CWD, ARG("commit", ARG_STR, ARG_REQUIRED, "The commit"),
                                   GIT_ROWS_OPTS, GIT_ROWS_USER, ARGS_END };
static const arg_t commit_args[] = { GIT_ROW_CWD,
                                     ARG("message", ARG_STR, ARG_REQUIRED, "The commit's message"),
                                     GIT_ROWS_OPTS,
                                     GIT_ROWS_USER,
                                     ARG("filename", ARG_STR, "null", "Only this file"),
                                     ARGS_END };
static const arg_t describe_args[] = { GIT_ROW_CWD, ARG("rev", ARG_STR, "\"HEAD\"", "The commit"),
                                       GIT_ROWS_OPTS, GIT_ROWS_USER, ARGS_END };
static const arg_t diff_args[] = { GIT_ROW_CWD,
                                   ARG("item1", ARG_STR, "null", "A revision"),
                                   ARG("item2", ARG_STR, "null", "Another"),
                                   GIT_ROWS_OPTS,
                                   GIT_ROWS_USER,
                                   ARG("cached", ARG_BOOL, "false", "What is staged"),
                                   ARG("paths", ARG_ANY, "null", "Only these: a list, or a text with commas"),
                                   ARG("no_index", ARG_BOOL, "false", "Compare the two `paths`"),
                                   ARGS_END };
static const arg_t discard_args[] = { GIT_ROW_CWD, ARG("path", ARG_STR, "\".\"", "Only this path"),
                                      GIT_ROWS_USER, ARGS_END };
static const arg_t init_args[] = {
    GIT_ROW_CWD,
    ARG("bare", ARG_BOOL, "false", "Make a bare repository"),
    ARG("template", ARG_STR, "null", "Folder whose files the repository begins with"),
    ARG("separate_git_dir", ARG_STR, "null", "Folder of the repository itself"),
    ARG("shared", ARG_ANY, "null", "Who else may write: group, all, a mode"),
    GIT_ROWS_OPTS,
    GIT_ROWS_USER,
    ARGS_END,
};
static const arg_t merge_args[] = {
    GIT_ROW_CWD,   ARG("rev", ARG_STR, "null", "What to merge; None: the tracked branch"),
    GIT_ROWS_OPTS, GIT_ROWS_USER,
    REMOTE_ROWS,   ARGS_END
};
static const arg_t rebase_args[] = {
    GIT_ROW_CWD,   ARG("rev", ARG_STR, "\"master\"", "Onto what; None: the tracked branch"),
    GIT_ROWS_OPTS, GIT_ROWS_USER,
    REMOTE_ROWS,   ARGS_END
};
static const arg_t pull_args[] = { GIT_ROW_CWD, GIT_ROWS_OPTS, GIT_ROWS_USER, REMOTE_ROWS, ARGS_END };
static const arg_t push_args[] = { GIT_ROW_CWD,
                                   ARG("remote", ARG_STR, "null", "The remote's name"),
                                   ARG("ref", ARG_STR, "null", "What to push"),
                                   GIT_ROWS_OPTS,
                                   GIT_ROWS_USER,
                                   REMOTE_ROWS,
                                   ARGS_END };
static const arg_t reset_args[] = { GIT_ROW_CWD, GIT_ROWS_OPTS, GIT_ROWS_USER, REMOTE_ROWS, ARGS_END };
static const arg_t parse_args[] = { GIT_ROW_CWD, ARG("rev", ARG_STR, "null", "A revision"), GIT_ROWS_OPTS,
                                    GIT_ROWS_USER, ARGS_END };
static const arg_t revision_args[] = { GIT_ROW_CWD, ARG("rev", ARG_STR, "\"HEAD\"", "A revision"),
                                       ARG("short", ARG_BOOL, "false", "A short SHA1"), GIT_ROWS_USER,
                                       ARGS_END };
static const arg_t stash_args[] = { GIT_ROW_CWD, ARG("action", ARG_STR, "\"save\"", "save, pop, list, ..."),
                                    GIT_ROWS_OPTS, GIT_ROWS_USER, ARGS_END };
static const arg_t submodule_args[] = {
    GIT_ROW_CWD,   ARG("command", ARG_STR, ARG_REQUIRED, "update, add, ..."),
    GIT_ROWS_OPTS, GIT_ROWS_USER,
    REMOTE_ROWS,   ARGS_END
};
static const arg_t symbolic_args[] = { GIT_ROW_CWD,
                                       ARG("ref", ARG_STR, ARG_REQUIRED, "The reference"),
                                       ARG("value", ARG_STR, "null", "What it shall point to"),
                                       GIT_ROWS_OPTS,
                                       GIT_ROWS_USER,
                                       ARGS_END };
static const arg_t tag_args[] = { GIT_ROW_CWD,
                                  ARG("name", ARG_STR, ARG_REQUIRED, "The tag"),
                                  ARG("ref", ARG_STR, "null", "What it names"),
                                  ARG("message", ARG_STR, "null", "Makes an annotated tag with this message"),
                                  GIT_ROWS_OPTS,
                                  GIT_ROWS_USER,
                                  ARGS_END };
static const arg_t branch_args[] = { GIT_ROW_CWD, ARG("name", ARG_STR, "null", "The branch"), GIT_ROWS_OPTS,
                                     GIT_ROWS_USER, ARGS_END };
static const arg_t clone_args[] = { GIT_ROW_CWD,
                                    ARG("url", ARG_STR, "null", "Where from"),
                                    ARG("name", ARG_STR, "null",
                                        "Folder below cwd; None: cwd itself is made"),
                                    GIT_ROWS_OPTS,
                                    GIT_ROWS_USER,
                                    REMOTE_ROWS,
                                    HTTPS_ROWS,
                                    ARGS_END };
static const arg_t branches_args[] = { GIT_ROW_CWD, ARG("remote", ARG_BOOL, "false", "Those of remotes"),
                                       GIT_ROWS_USER, ARGS_END };
static const arg_t refs_args[] = { ARG("url", ARG_STR, ARG_REQUIRED, "The repository"),
                                   ARG("heads", ARG_BOOL, "false", "Only branches"),
                                   ARG("tags", ARG_BOOL, "false", "Only tags"),
                                   GIT_ROWS_USER,
                                   REMOTE_ROWS,
                                   HTTPS_ROWS,
                                   ARG("filter", ARG_STR, "null", "A glob"),
                                   ARGS_END };
static const arg_t ls_args[] = { ARG("cwd", ARG_STR, "null", "The checkout's folder"),
                                 ARG("remote", ARG_STR, "\"origin\"", "A remote's name, or an URL"),
                                 ARG("ref", ARG_STR, "null", "Only this reference"),
                                 GIT_ROWS_OPTS,
                                 GIT_ROWS_USER,
                                 REMOTE_ROWS,
                                 HTTPS_ROWS,
                                 ARGS_END };
static const arg_t remotes_args[] = { GIT_ROW_CWD, GIT_ROWS_USER,
                                      ARG("redact_auth", ARG_BOOL, "true", "Leave users and passwords out"),
                                      ARGS_END };
static const arg_t remote_args[] = { GIT_ROW_CWD, ARG("remote", ARG_STR, "\"origin\"", "The remote's name"),
                                     GIT_ROWS_USER,
                                     ARG("redact_auth", ARG_BOOL, "true", "Leave users and passwords out"),
                                     ARGS_END };
static const arg_t remote_set_args[] = { GIT_ROW_CWD,
                                         ARG("url", ARG_STR, ARG_REQUIRED, "The URL"),
                                         ARG("remote", ARG_STR, "\"origin\"", "The remote's name"),
                                         GIT_ROWS_USER,
                                         HTTPS_ROWS,
                                         ARG("push_url", ARG_STR, "null", "Another URL to push to"),
                                         ARG("push_https_user", ARG_STR, "null", "User of a https push_url"),
                                         ARG("push_https_pass", ARG_STR, "null", "His password"),
                                         ARGS_END };
static const arg_t fetch_args[] = { GIT_ROW_CWD,
                                    ARG("remote", ARG_STR, "null", "The remote's name"),
                                    ARG("force", ARG_BOOL, "false", "Also what is not a fast-forward"),
                                    ARG("refspecs", ARG_ANY, "null",
                                        "What to fetch: a list, or a text with commas"),
                                    GIT_ROWS_OPTS,
                                    GIT_ROWS_USER,
                                    REMOTE_ROWS,
                                    ARGS_END };
static const arg_t version_args[] = { ARG("versioninfo", ARG_BOOL, "false", "As a list"), ARGS_END };
static const arg_t base_args[] = { GIT_ROW_CWD,
                                   ARG("refs", ARG_LIST, "null", "The commits"),
                                   ARG("octopus", ARG_BOOL, "false", "Of all of them"),
                                   ARG("is_ancestor", ARG_BOOL, "false",
                                       "Whether the first is an ancestor of the second"),
                                   ARG("independent", ARG_BOOL, "false", "Those that no other one reaches"),
                                   ARG("fork_point", ARG_STR, "null", "Where a branch forked off"),
                                   GIT_ROWS_OPTS,
                                   GIT_ROWS_USER,
                                   ARG("all", ARG_BOOL, "false", "All of them, as a list"),
                                   ARGS_END };
static const func_t funcs[] = {
    GIT_ROW(add, file_args, 0, "Stage a file.", "add /path/to/repo foo/bar.py"),
    GIT_ROW(branch, branch_args, 0, "Make, change or remove a branch.", "branch /path/to/repo foo opts='-D'"),
    GIT_ROW(checkout, checkout_args, 0, "Check a revision out.",
            "checkout /path/to/repo somebranch user=jeff"),
    GIT_ROW(cherry_pick, pick_args, 0, "Apply a commit of another branch.",
            "cherry_pick /path/to/repo 0123abc"),
    GIT_ROW(clone, clone_args, 0, "Clone a repository.",
            "clone /path/to/checkout git://example.com/repo.git"),
    GIT_ROW(commit, commit_args, 0, "Commit what is staged.", "commit /path/to/repo 'The message'"),
    GIT_ROW(current_branch, cwd_args, FN_READONLY, "Return the branch that is checked out.",
            "current_branch /path/to/repo"),
    GIT_ROW(describe, describe_args, FN_READONLY, "Return a commit's name after the nearest tag.",
            "describe /path/to/repo"),
    GIT_ROW(diff, diff_args, FN_READONLY, "Return what differs.", "diff /path/to/repo HEAD~1"),
    GIT_ROW(discard_local_changes, discard_args, 0, "Undo what is not committed.",
            "discard_local_changes /path/to/repo"),
    GIT_ROW(fetch, fetch_args, 0, "Fetch from a remote and return what is new.",
            "fetch /path/to/repo upstream"),
    GIT_ROW(init, init_args, 0, "Make a repository.", "init /path/to/repo bare=True"),
    GIT_ROW(is_worktree, cwd_args, FN_READONLY, "Return whether a folder is in a worktree.",
            "is_worktree /path/to/repo"),
    GIT_ROW(list_branches, branches_args, FN_READONLY, "Return the branches.",
            "list_branches /path/to/repo remote=True"),
    GIT_ROW(list_tags, cwd_args, FN_READONLY, "Return the tags.", "list_tags /path/to/repo"),
    GIT_ROW(ls_remote, ls_args, FN_READONLY, "Return a remote's references.",
            "ls_remote /path/to/repo origin main"),
    GIT_ROW(merge, merge_args, 0, "Merge a revision into the current branch.",
            "merge /path/to/repo upstream/main"),
    GIT_ROW(merge_base, base_args, FN_READONLY, "Return the commit that others have in common.",
            "merge_base /path/to/repo HEAD upstream/main"),
    GIT_ROW(pull, pull_args, 0, "Fetch and merge.", "pull /path/to/repo opts='--rebase origin main'"),
    GIT_ROW(push, push_args, 0, "Push to a remote.", "push /path/to/repo origin main"),
    GIT_ROW(rebase, rebase_args, 0, "Rebase the current branch.", "rebase /path/to/repo main"),
    GIT_ROW(remote_get, remote_args, FN_READONLY, "Return a remote's URLs.",
            "remote_get /path/to/repo upstream"),
    GIT_ROW(remote_refs, refs_args, FN_READONLY, "Return the references of a repository that is elsewhere.",
            "remote_refs https://example.com/repo.git heads=True"),
    GIT_ROW(remote_set, remote_set_args, 0, "Add a remote, or change its URL.",
            "remote_set /path/to/repo git@example.com:user/repo.git"),
    GIT_ROW(remotes, remotes_args, FN_READONLY, "Return all remotes and their URLs.",
            "remotes /path/to/repo"),
    GIT_ROW(reset, reset_args, 0, "Reset the current branch.", "reset /path/to/repo opts='--hard HEAD~1'"),
    GIT_ROW(rev_parse, parse_args, FN_READONLY, "Return what git rev-parse says.",
            "rev_parse /path/to/repo HEAD"),
    GIT_ROW(revision, revision_args, FN_READONLY, "Return the SHA1 of a revision.",
            "revision /path/to/repo mybranch"),
    GIT_ROW(rm, file_args, 0, "Remove a file from the next commit on.", "rm /path/to/repo foo/bar.py"),
    GIT_ROW(stash, stash_args, 0, "Put local changes aside.", "stash /path/to/repo pop"),
    GIT_ROW(status, cwd_args, FN_READONLY, "Return what is changed and untracked.", "status /path/to/repo"),
    GIT_ROW(submodule, submodule_args, 0, "Work on submodules.",
            "submodule /path/to/repo update opts='--init'"),
    GIT_ROW(symbolic_ref, symbolic_args, 0, "Return or change a symbolic reference.",
            "symbolic_ref /path/to/repo HEAD"),
    GIT_ROW(tag, tag_args, 0, "Make or remove a tag.",
            "tag /path/to/repo v2016.8.0 message='Version 2016.8.0'"),
    GIT_ROW(version, version_args, FN_READONLY, "Return git's version.", "version"),
};

PLUGIN(exec, git, .doc = "Git repositories", FUNCS(funcs), .unavailable = git_missing);
