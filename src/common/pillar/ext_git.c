/* ext_git.c - external pillar `git`: branches of repositories as pillar environments, with the system's git.
 *
 * Below cachedir/git_pillar each repository has a bare copy, and each commit that was asked for a folder with
 * its files that never changes: a compile that runs meanwhile keeps what it reads. */
#include "common/pillar/pillar_int.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/base/digest.h"
#include "common/base/fs.h"
#include "common/base/proc.h"
#include "common/base/str.h"
#include "common/files/gitauth.h"
#include "common/py/py_json.h"
#include "common/py/py_merge.h"
#include "salt/log.h"

#define GIT_TIME_MS 60000
#define KEEP_S      86400 /* a commit's files that nobody asked for since */

/* "BRANCH URL" with what stands below it, over the git_pillar_* options. */
typedef struct remote {
    char *branch, *url;          /* owned */
    json_t *conf;                /* owned: its settings */
    const char *base, *fallback; /* BORROWED from it */
    char *root;                  /* owned: of its files only those below; "": all */
    char *env;                   /* owned */
    char *mount;                 /* owned: where its files stand in the environment; "": at the top */
    char *dir;                   /* owned: its pillar's folder */
} remote_t;

static void
s_remote_free(remote_t *r)
{
    free(r->branch);
    free(r->url);
    json_decref(r->conf);
    free(r->root);
    free(r->mount);
    free(r->env);
    free(r->dir);
}

/* ---- configuration ------------------------------------------------------------------------------------- */

/* What a remote may set; each is also an option git_pillar_*, but for the last three. */
static const char *const settings[] = { "root",       "base",          "fallback",   "env",
                                        "privkey",    "pubkey",        "passphrase", "user",
                                        "password",   "insecure_auth", "ssl_verify", "name",
                                        "mountpoint", "all_saltenvs" };

static bool
s_is_known(const char *key)
{
    for (size_t i = 0; i < NELEMS(settings); i++)
        if (strcmp(settings[i], key) == 0)
            return true;
    return false;
}

static int
s_take(json_t *conf, const json_t *own, const char *remote, fail_t *err)
{
    const char *key;
    json_t *v;

    json_object_foreach ((json_t *) own, key, v) {
        if (!s_is_known(key))
            return fail_set(err, -EINVAL, "remote '%s': '%s' can't be set for a remote", remote, key);
        json_object_set(conf, key, v);
    }
    return 0;
}

/* The remote's list of one-key mappings over the options. NEW, or NULL with *err. */
static json_t *
s_settings(const compile_t *self, const json_t *own, const char *remote, fail_t *err)
{
    json_auto_t *conf = json_object();
    json_t *one;
    size_t i;
    int rc = 0;

    for (i = 0; i < NELEMS(settings); i++) {
        AUTO_FREE char *option = xasprintf("git_pillar_%s", settings[i]);
        if (value_get(self->opts, option) != NULL)
            json_object_set(conf, settings[i], value_get(self->opts, option));
    }
    json_array_foreach (own, i, one)
        rc = rc == 0 ? s_take(conf, one, remote, err) : rc;
    if (rc == 0 && json_is_object(own))
        rc = s_take(conf, own, remote, err);
    return rc == 0 ? STEAL(conf) : NULL;
}

static char *
s_env_of(const compile_t *self, const remote_t *r, const char *configured, bool any)
{
    if (any)
        return xstrdup(compile_env(self));
    if (*configured)
        return xstrdup(strcmp(configured, "__env__") == 0 ? compile_env(self) : configured);
    return xstrdup(strcmp(r->branch, r->base) == 0 ? "base" : r->branch);
}

/* "web/server" of "salt://web/server/"; "" for none. `what` says whose setting it is. NEW, or NULL with *err. */
static char *
s_below(const char *text, const char *what, fail_t *err)
{
    text += str_starts(text, "salt://") ? strlen("salt://") : 0;
    text += strspn(text, "/");
    size_t n = strlen(text);
    while (n > 0 && text[n - 1] == '/')
        n--;
    AUTO_FREE char *path = xasprintf("/%.*s/", (int) n, text);
    if (strstr(path, "/../") != NULL || strstr(path, "/./") != NULL) {
        (void) fail_set(err, -EINVAL, "%s '%s' leads elsewhere", what, text);
        return NULL;
    }
    return xstrndup(text, n);
}

/* One entry of the list: text, or {text: settings}. */
static int
s_parse(const compile_t *self, const json_t *entry, remote_t *r, fail_t *err)
{
    void *it = json_is_object(entry) ? json_object_iter((json_t *) entry) : NULL;
    const char *text = it != NULL ? json_object_iter_key(it) : json_string_value(entry);
    const json_t *own = it != NULL ? json_object_iter_value(it) : NULL;
    const char *space = text != NULL ? strchr(text, ' ') : NULL;

    if (space == NULL)
        return fail_set(err, -EINVAL, "'%s' is no remote: a branch, a space and an URL are expected",
                        text != NULL ? text : "?");
    /* git would take these for options. */
    if (text[0] == '-' || space[1 + strspn(space + 1, " ")] == '-')
        return fail_set(err, -EINVAL, "'%s': neither branch nor URL may begin with '-'", text);
    AUTO_FREE char *word = xstrndup(text, (size_t) (space - text));
    bool any = strcmp(word, "__env__") == 0;
    r->url = xstrdup(space + 1 + strspn(space + 1, " "));
    r->conf = s_settings(self, own, text, err);
    if (r->conf == NULL || git_auth_check(r->conf, r->url, err) < 0)
        return -EINVAL;
    r->root = s_below(value_str(r->conf, "root", ""), "root", err);
    r->base = value_str(r->conf, "base", "master");
    r->fallback = value_str(r->conf, "fallback", "");
    r->mount = r->root != NULL ? s_below(value_str(r->conf, "mountpoint", ""), "mountpoint", err) : NULL;
    const char *env = compile_env(self), *everywhere = value_str(r->conf, "all_saltenvs", "");
    r->branch = xstrdup(!any                       ? word
                        : *everywhere != '\0'      ? everywhere
                        : strcmp(env, "base") == 0 ? r->base
                                                   : env);
    r->env = s_env_of(self, r, value_str(r->conf, "env", ""), any);
    return r->mount != NULL ? 0 : -EINVAL;
}

/* ---- git ----------------------------------------------------------------------------------------------- */

/* 0, or negative with what git said. `words` ends with NULL, `r` is NULL when no remote is needed. */
static int
s_git(const remote_t *r, const char *dir, const char *const *words, buf_t *out, fail_t *err)
{
    char **env = r != NULL ? git_environment(r->conf, r->url) : git_environment(NULL, "");
    proc_spec_t spec = PROC_SPEC_INIT;
    proc_result_t res = { 0 };

    spec.argv = (char *const *) words; /* execve's type; nothing writes to them */
    spec.env = env;
    spec.cwd = dir;
    spec.timeout_ms = GIT_TIME_MS;
    int rc = proc_run(&spec, &res, err);
    strv_free(env);
    if (rc == 0 && res.timed_out)
        rc = fail_set(err, -ETIMEDOUT, "git %s took longer than %d seconds", words[1], GIT_TIME_MS / 1000);
    else if (rc == 0 && res.status != 0)
        rc = fail_set(err, -EIO, "git %s: %s", words[1], buf_str(&res.errs));
    if (rc == 0 && out != NULL)
        buf_add(out, res.out.data, res.out.len);
    proc_result_free(&res);
    return rc;
}

static bool
s_is_fresh(const char *stamp, json_int_t seconds)
{
    struct stat st;

    return stat(stamp, &st) == 0 && time(NULL) - st.st_mtime < seconds;
}

/* The bare copy as new as git_pillar_update_interval wants it. A remote that does not answer is no failure
 * while there is a copy. */
static int
s_fetch(const compile_t *self, const remote_t *r, const char *dir, bool now, fail_t *err)
{
    const char *const init[] = { "git", "init", "-q", "--bare", ".", NULL };
    git_login_auto_t login = GIT_LOGIN_INIT;
    git_login_of(&login, r->url);
    const char *const fetch[] = { "git",
                                  "fetch",
                                  "-q",
                                  "--prune",
                                  "--force",
                                  "--",
                                  login.url,
                                  "+refs/heads/*:refs/heads/*",
                                  "+refs/tags/*:refs/tags/*",
                                  NULL };
    AUTO_FREE char *head = fs_join(dir, "HEAD");
    AUTO_FREE char *stamp = fs_join(dir, "fetched");
    fail_auto_t why = FAIL_INIT;

    if (!fs_exists(head) && s_git(NULL, dir, init, NULL, err) < 0)
        return -EIO;
    if (!now && s_is_fresh(stamp, value_int(self->opts, "git_pillar_update_interval", 60)))
        return 0;
    if (s_git(r, dir, fetch, NULL, &why) == 0)
        return fs_write_quick(stamp, "", 0, 0600, err);
    if (now || !fs_exists(stamp))
        return fail_set(err, -EIO, "%s: %s", r->url, fail_text(&why));
    log_error("ext_pillar git: %s: %s; what was fetched before is used", r->url, fail_text(&why));
    return 0;
}

/* Among those that there are: git understands refs/heads/main~1 as well. */
static bool
s_is_ref(const char *dir, const char *ref)
{
    const char *const list[] = {
        "git", "for-each-ref", "--format=%(refname)", "refs/heads", "refs/tags", NULL
    };
    fail_auto_t unused = FAIL_INIT;
    buf_auto_t out = BUF_INIT;
    bool found = false;

    if (s_git(NULL, dir, list, &out, &unused) < 0)
        return false;
    char **refs = str_split(buf_str(&out), "\n", true);
    for (size_t i = 0; refs[i] != NULL && !found; i++)
        found = strcmp(refs[i], ref) == 0;
    strv_free(refs);
    return found;
}

/* NEW commit of a branch or tag; NULL: there is none. The name may be the environment that a minion asks for, which must
 * not lead to what was withdrawn since. */
static char *
s_commit(const char *dir, const char *name)
{
    static const char *const kinds[] = { "heads", "tags" };

    for (size_t i = 0; i < NELEMS(kinds); i++) {
        fail_auto_t unused = FAIL_INIT;
        buf_auto_t out = BUF_INIT;
        AUTO_FREE char *ref = xasprintf("refs/%s/%s", kinds[i], name);
        AUTO_FREE char *commit = xasprintf("%s^{commit}", ref);
        const char *const words[] = { "git", "rev-parse", "-q", "--verify", commit, NULL };
        if (s_is_ref(dir, ref) && s_git(NULL, dir, words, &out, &unused) == 0 && out.len >= 40)
            return xstrndup(buf_str(&out), strcspn(buf_str(&out), "\n"));
    }
    return NULL;
}

/* What of `half` is served goes below the mount point of `whole`. */
static int
s_mount_files(const remote_t *r, const char *half, const char *whole, fail_t *err)
{
    AUTO_FREE char *from = fs_join(half, r->root), *to = fs_join(whole, r->mount);
    AUTO_FREE char *above = xstrndup(to, (size_t) (strrchr(to, '/') - to));

    if (!fs_is_dir(from))
        return fail_set(err, -ENOENT, "%s has no folder '%s'", r->url, r->root);
    int rc = fs_mkdirs(above, 0700, err);
    return rc == 0 && rename(from, to) != 0 ? fail_set(err, -errno, "%s: %s", to, strerror(errno)) : rc;
}

/* A commit's files, all of them or none. */
static int
s_checkout(const remote_t *r, const char *dir, const char *commit, const char *tree, fail_t *err)
{
    AUTO_FREE char *half = xasprintf("%s.%d-%lx", tree, (int) getpid(), (unsigned long) (uintptr_t) &half);
    AUTO_FREE char *whole = *r->mount != '\0' ? xasprintf("%s.mount", half) : xstrdup(half);
    AUTO_FREE char *work = xasprintf("--work-tree=%s", half);
    const char *const read[] = { "git", work, "checkout", "-q", "-f", commit, "--", ".", NULL };

    int rc = fs_mkdirs(half, 0700, err);
    rc = rc == 0 ? s_git(NULL, dir, read, NULL, err) : rc;
    if (rc == 0 && *r->mount != '\0')
        rc = s_mount_files(r, half, whole, err);
    if (rc == 0 && rename(whole, tree) != 0 && errno != EEXIST && errno != ENOTEMPTY)
        rc = fail_set(err, -errno, "%s: %s", tree, strerror(errno));
    (void) fs_remove_tree(half, NULL);
    (void) fs_remove_tree(whole, NULL);
    return rc;
}

static void
s_forget_old(const char *trees, const char *commit)
{
    DIR *dir = opendir(trees);
    struct dirent *entry;

    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        AUTO_FREE char *path = fs_join(trees, entry->d_name);
        if (entry->d_name[0] != '.' && strcmp(entry->d_name, commit) != 0 && !s_is_fresh(path, KEEP_S))
            (void) fs_remove_tree(path, NULL);
    }
    if (dir != NULL)
        (void) closedir(dir);
}

static int
s_files(remote_t *r, const char *dir, fail_t *err)
{
    AUTO_FREE char *own = s_commit(dir, r->branch);
    AUTO_FREE char *commit = own == NULL && *r->fallback ? s_commit(dir, r->fallback)
                                                         : xstrdup(own ? own : "");
    AUTO_FREE char *trees = fs_join(dir, "trees");

    if (commit == NULL || !*commit)
        return fail_set(err, -ENOENT, "%s has no branch or tag '%s'", r->url, r->branch);
    /* The same files stand elsewhere for another mount point. */
    AUTO_FREE char *place = xasprintf("%s\n%s", r->root, r->mount);
    AUTO_FREE char *hash = digest_bytes("sha256", place, strlen(place), err);
    AUTO_FREE char *name = *r->mount != '\0' ? xasprintf("%s-%.16s", commit, hash) : xstrdup(commit);
    AUTO_FREE char *tree = fs_join(trees, name);
    if (!fs_is_dir(tree)) {
        if (fs_mkdirs(trees, 0700, err) < 0 || s_checkout(r, dir, commit, tree, err) < 0)
            return -EIO;
        s_forget_old(trees, name);
    }
    (void) utimensat(AT_FDCWD, tree, NULL, 0);
    r->dir = *r->mount != '\0' ? xstrdup(tree) : fs_join(tree, r->root);
    return 0;
}

/* The folder of a repository's copy, and a lock on it: one process or thread at a time works there. NEW path,
 * or NULL with *err. */
static char *
s_enter(const compile_t *self, const remote_t *r, int *ret_lock, fail_t *err)
{
    AUTO_FREE char *name = digest_bytes("sha256", r->url, strlen(r->url), err);
    AUTO_FREE char *base = fs_join(value_str(self->opts, "cachedir", "/var/cache/salt"), "git_pillar");
    AUTO_FREE char *dir = name != NULL ? fs_join(base, name) : NULL;

    if (dir == NULL || fs_mkdirs(dir, 0700, err) < 0)
        return NULL;
    AUTO_FREE char *lock = fs_join(dir, "lock");
    *ret_lock = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (*ret_lock >= 0 && flock(*ret_lock, LOCK_EX) == 0)
        return STEAL(dir);
    (void) fail_set(err, -errno, "%s: %s", lock, strerror(errno));
    return NULL;
}

static int
s_prepare(const compile_t *self, remote_t *r, fail_t *err)
{
    AUTO_FD lock = -1;
    AUTO_FREE char *dir = s_enter(self, r, &lock, err);
    int rc = dir != NULL ? s_fetch(self, r, dir, false, err) : -EIO;

    return rc == 0 ? s_files(r, dir, err) : rc;
}

/* ---- fetching on request ------------------------------------------------------------------------------- */

/* Whether a fetch brought anything: 1, 0, or negative with *err. */
static int
s_renew(const compile_t *self, const remote_t *r, fail_t *err)
{
    const char *const refs[] = { "git", "for-each-ref", NULL };
    AUTO_FD lock = -1;
    AUTO_FREE char *dir = s_enter(self, r, &lock, err);
    buf_auto_t before = BUF_INIT, after = BUF_INIT;
    fail_auto_t unused = FAIL_INIT;

    if (dir == NULL)
        return -EIO;
    (void) s_git(NULL, dir, refs, &before, &unused); /* nothing was fetched yet */
    int rc = s_fetch(self, r, dir, true, err);
    if (rc == 0)
        rc = s_git(NULL, dir, refs, &after, err);
    return rc < 0 ? rc : strcmp(buf_str(&before), buf_str(&after)) != 0;
}

/* One remote, if it is meant, into `done`. */
static int
s_renew_one(const compile_t *self, const json_t *entry, const char *branch, const char *repo, json_t *done,
            fail_t *err)
{
    remote_t r = { 0 };
    fail_auto_t why = FAIL_INIT;
    int rc = s_parse(self, entry, &r, err);
    const char *text = json_string_value(entry);

    if (rc == 0 && (branch == NULL || strcmp(branch, r.branch) == 0) &&
        (repo == NULL || strcmp(repo, r.url) == 0)) {
        AUTO_FREE char *whole = text != NULL ? xstrdup(text) : xasprintf("%s %s", r.branch, r.url);
        AUTO_FREE char *id = str_redacted(whole);
        int changed = s_renew(self, &r, &why);
        if (changed < 0)
            log_error("ext_pillar git: %s: %s", r.url, fail_text(&why));
        json_object_set_new(done, id, changed == 0 ? json_null() : json_boolean(changed > 0));
    }
    s_remote_free(&r);
    return rc;
}

json_t *
pillar_git_fetch(const pillar_env_t *env, const char *branch, const char *repo, fail_t *err)
{
    __attribute__((cleanup(compile_destroy))) compile_t *self = compile_new(env, true);
    json_auto_t *done = json_object();
    json_t *source, *entry;
    size_t i, k;

    json_array_foreach (value_get(env->opts, "ext_pillar"), i, source)
        json_array_foreach (value_get(source, "git"), k, entry)
            if (s_renew_one(self, entry, branch, repo, done, err) < 0)
                return NULL;
    return json_incref(done);
}

/* ---- pillar of the branches ---------------------------------------------------------------------------- */

/* The folders of one environment, this remote's first: its top file counts. */
static json_t *
s_roots(const compile_t *self, const remote_t *all, size_t n, const remote_t *mine)
{
    json_t *dirs = json_pack("[s]", mine->dir);

    for (size_t i = 0; value_bool(self->opts, "git_pillar_includes", true) && i < n; i++)
        if (&all[i] != mine && all[i].dir != NULL && strcmp(all[i].env, mine->env) == 0)
            json_array_append_new(dirs, json_string(all[i].dir));
    return json_pack("{s:o}", mine->env, dirs);
}

static py_t *
s_compile(compile_t *self, json_t *roots, const char *saltenv, fail_t *err)
{
    json_auto_t *opts = json_copy(self->opts);
    pillar_env_t env = *self->env;

    json_object_set(opts, "pillar_roots", roots);
    env.opts = opts;
    env.saltenv = saltenv;
    env.reads = NULL;
    env.override = NULL;
    env.ext = NULL;
    env.known = self->known;
    __attribute__((cleanup(compile_destroy))) compile_t *inner = compile_new(&env, true);
    return compile_run(inner, err);
}

static int
s_lay(compile_t *self, const remote_t *all, size_t n, const remote_t *r, py_t **into_p, fail_t *err)
{
    /* What is mounted elsewhere has no top file of its own. */
    if (r->dir == NULL || *r->mount != '\0' ||
        (self->pillarenv != NULL && strcmp(r->env, self->pillarenv) != 0))
        return 0;
    json_auto_t *roots = s_roots(self, all, n, r);
    AUTO(py) data = s_compile(self, roots, r->env, err);
    if (data == NULL)
        return -EINVAL;
    py_t *merged = py_merge(*into_p, data, self->strategy, self->merge_lists);
    if (merged == NULL)
        return compile_raised(err);
    py_unref(*into_p);
    *into_p = merged;
    return 0;
}

/* A branch that is not there is told and left out, as in Salt; the others count. */
static int
s_gather(compile_t *self, const json_t *args, remote_t *remotes, fail_t *err)
{
    json_t *entry;
    size_t i;

    json_array_foreach (args, i, entry) {
        if (s_parse(self, entry, &remotes[i], err) < 0)
            return -EINVAL;
        fail_auto_t why = FAIL_INIT;
        int rc = s_prepare(self, &remotes[i], &why);
        if (rc < 0)
            compile_error(self, "Failed to load ext_pillar git: %s", fail_text(&why));
    }
    return 0;
}

py_t *
ext_git(compile_t *self, py_t *pillar, const json_t *args, fail_t *err)
{
    size_t n = json_array_size(args);
    AUTO_FREE remote_t *remotes = xcalloc(n + 1, sizeof(*remotes));
    AUTO(py) out = py_dict();

    (void) pillar;
    reads_mark_world(self->env->reads);
    int rc = n > 0 ? s_gather(self, args, remotes, err)
                   : fail_set(err, -EINVAL, "a list of 'BRANCH URL' is expected");
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = s_lay(self, remotes, n, &remotes[i], &out, err);
    for (size_t i = 0; i < n; i++)
        s_remote_free(&remotes[i]);
    return rc < 0 ? NULL : STEAL(out);
}
