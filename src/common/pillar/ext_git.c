/* ext_git.c - external pillar `git`: branches of repositories as pillar environments, with the system's git.
 *
 * Below cachedir/git_pillar each repository has a bare copy, named by the hash of its URL. Each commit in use
 * has a folder "trees/COMMIT-..." with its files, which never changes; so a compile keeps consistent files
 * while another process fetches. A checkout is made beside it and renamed into place; folders unused for
 * KEEP_S are removed. A lock per repository serialises making and removing them. */
#include "common/pillar/pillar_int.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/base/beneath.h"
#include "common/base/clock.h"
#include "common/base/digest.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/files/gitauth.h"
#include "common/files/gitcopy.h"
#include "common/py/py_json.h"
#include "common/py/py_merge.h"
#include "salt/log.h"

#define GIT_TIME_MS  60000
#define NAP_MS       50 /* between looks while another process fetches */
#define UPDATE_MIN_S 5
#define LINKS_STAY   "kept" /* in the name of a folder from which no link leads away */
#define KEEP_S       86400  /* age at which a commit's unused files are removed */

/* Reads an entry "BRANCH URL", or an URL alone, with its settings, which override the git_pillar_ options. */
typedef struct remote {
    char *branch, *url;          /* owned */
    json_t *conf;                /* owned: its settings */
    const char *base, *fallback; /* BORROWED from it */
    char *root;                  /* owned: folder within the repository that is used; "": all of it */
    char *env;                   /* owned */
    char *mount;                 /* owned: mount point of its files in the environment; "": the top */
    char *dir;                   /* owned: its pillar's folder */
} remote_t;

static void
ext_git_remote_free(remote_t *r)
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

/* Settings of a remote; each but the last three is also an option git_pillar_*. */
static const char *const settings[] = { "root",       "base",          "fallback",   "env",
                                        "privkey",    "pubkey",        "passphrase", "user",
                                        "password",   "insecure_auth", "ssl_verify", "name",
                                        "mountpoint", "all_saltenvs" };

/* Copies a remote's settings over `conf`; an unknown name is an error. */
static int
ext_git_take(json_t *conf, const json_t *own, const char *remote, fail_t *err)
{
    const char *key;
    json_t *v;

    json_object_foreach ((json_t *) own, key, v) {
        bool known = false;
        for (size_t i = 0; i < NELEMS(settings); i++)
            known = known || strcmp(settings[i], key) == 0;
        if (!known)
            return fail_set(err, -EINVAL, "remote '%s': '%s' can't be set for a remote", remote, key);
        json_object_set(conf, key, v);
    }
    return 0;
}

/* Normalises a path: "web/server" for "salt://web/server/", "" for none. "." and ".." are refused, since the
 * path must stay in the repository. `what` names the setting in messages. NEW, or NULL with *err. */
static char *
below(const char *text, const char *what, fail_t *err)
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

/* Parts the text of a remote: "BRANCH URL", or an URL, whose branch is git_pillar_branch. *ret_branch NEW. */
static int
ext_git_words(const compile_t *self, const char *text, remote_t *r, char **ret_branch, fail_t *err)
{
    const char *space = text != NULL ? strchr(text, ' ') : NULL;
    const char *url = space != NULL ? space + 1 + strspn(space + 1, " ") : text;

    if (str_empty(url))
        return fail_set(err, -EINVAL,
                        "'%s' is not a remote: an URL, or a branch, a space and an URL is expected",
                        text != NULL ? text : "?");
    *ret_branch = space != NULL ? xstrndup(text, (size_t) (space - text))
                                : xstrdup(value_str(self->opts, "git_pillar_branch", "master"));
    /* git would read such a branch or URL as an option. */
    if (**ret_branch == '-' || *url == '-')
        return fail_set(err, -EINVAL, "'%s': neither branch nor URL may begin with '-'", text);
    r->url = xstrdup(url);
    return 0;
}

/* Parses an entry of the list: text, or {text: settings}. On failure *r is partly filled; the caller frees it
 * anyway. */
static int
ext_git_parse(const compile_t *self, const json_t *entry, remote_t *r, fail_t *err)
{
    void *it = json_is_object(entry) ? json_object_iter((json_t *) entry) : NULL;
    const char *text = it != NULL ? json_object_iter_key(it) : json_string_value(entry);
    const json_t *own = it != NULL ? json_object_iter_value(it) : NULL;
    AUTO_FREE char *word = NULL;

    if (ext_git_words(self, text, r, &word, err) < 0)
        return -EINVAL;
    bool any = strcmp(word, "__env__") == 0;

    /* A remote's settings, a list of one-key mappings or a mapping, over the options. */
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
        rc = rc == 0 ? ext_git_take(conf, one, text, err) : rc;
    if (rc == 0 && json_is_object(own))
        rc = ext_git_take(conf, own, text, err);
    r->conf = rc == 0 ? STEAL(conf) : NULL;

    if (r->conf == NULL || git_auth_check(r->conf, r->url, err) < 0)
        return -EINVAL;
    r->root = below(value_str(r->conf, "root", ""), "root", err);
    r->base = value_str(r->conf, "base", "master");
    r->fallback = value_str(r->conf, "fallback", "");
    r->mount = r->root != NULL ? below(value_str(r->conf, "mountpoint", ""), "mountpoint", err) : NULL;
    const char *env = compile_env(self), *everywhere = value_str(r->conf, "all_saltenvs", "");
    r->branch = xstrdup(!any                       ? word
                        : *everywhere != '\0'      ? everywhere
                        : strcmp(env, "base") == 0 ? r->base
                                                   : env);
    /* Its environment: for branch `__env__` the requested one, else the setting `env`, else the branch's
     * name, with the base branch as "base". */
    const char *own_env = value_str(r->conf, "env", "");
    r->env = xstrdup(any || strcmp(own_env, "__env__") == 0 ? env
                     : *own_env != '\0'                     ? own_env
                     : strcmp(r->branch, r->base) == 0      ? "base"
                                                            : r->branch);
    return r->mount != NULL ? 0 : -EINVAL;
}

/* ---- git ----------------------------------------------------------------------------------------------- */

static git_copy_t
ext_git_copy(const remote_t *r, const char *dir)
{
    return (git_copy_t){ .url = r->url, .dir = dir, .conf = r->conf, .time_ms = GIT_TIME_MS };
}

/* Runs git in the copy with the remote's credentials; its output is appended to `out` (NULL: dropped). */
static int
ext_git_git(const git_copy_t *copy, const char *const *words, buf_t *out, fail_t *err)
{
    return git_copy_run(copy, copy->dir, words, out, err);
}

static int
interval(const compile_t *self)
{
    return (int) value_int(self->opts, "git_pillar_update_interval", 60);
}

/* Waits for a repository's first fetch while pillar_timeout allows, whichever process fetches. A failure is
 * noted with the copy, so that later compiles report it instead of waiting again. 0 or a negative errno. */
static int
ext_git_first(const compile_t *self, git_copy_t copy, fail_t *err)
{
    const struct timespec nap = { 0, NAP_MS * 1000000L };
    int64_t stamp;
    int rc = 1;

    while (rc == 1 && (rc = git_copy_stamp(&copy, &stamp, err)) == 0 && stamp == 0) {
        int64_t left = self->deadline_ms - clock_mono_ms();
        if (left <= 0) {
            AUTO_FREE char *url = str_redacted(copy.url);
            (void) fail_set(err, -ETIMEDOUT, "%s: the first fetch takes longer than pillar_timeout", url);
            git_copy_note(&copy, fail_text(err));
            return -ETIMEDOUT;
        }
        copy.time_ms = left < GIT_TIME_MS ? (int) left : GIT_TIME_MS;
        rc = git_copy_fetch(&copy, err);
        if (rc == 1)
            (void) nanosleep(&nap, NULL);
    }
    return rc < 0 ? rc : 0;
}

/* Brings the copy up to date. On a master a thread fetches (pillar_git_update), so a compile waits only while
 * there is neither a copy nor a failed attempt; elsewhere each compile fetches when due. With a copy at hand
 * a failed fetch is only logged. */
static int
ext_git_refresh(const compile_t *self, const git_copy_t *copy, fail_t *err)
{
    int every = interval(self);
    bool due = !str_eq(value_str(self->opts, "__role", ""), "master") && git_copy_wait_s(copy, every) == 0;
    int64_t stamp;
    int rc = git_copy_stamp(copy, &stamp, err);

    if (rc < 0)
        return rc;
    if (stamp == 0) {
        AUTO_FREE char *tried = git_copy_tried(copy);
        return tried == NULL || due
                   ? ext_git_first(self, *copy, err)
                   : fail_set(err, -EAGAIN, "%s; it is tried again every %d seconds", tried, every);
    }
    fail_auto_t why = FAIL_INIT;
    if (due && git_copy_fetch(copy, &why) < 0)
        log_error("ext_pillar git: %s; what was fetched before is used", fail_text(&why));
    return 0;
}

/* 1 when `ref` is one of the copy's branches and tags, 0 when not, negative with *err. git itself would also
 * resolve "refs/heads/main~1". */
static int
is_ref(const git_copy_t *copy, const char *ref, fail_t *err)
{
    const char *const list[] = {
        "git", "for-each-ref", "--format=%(refname)", "refs/heads", "refs/tags", NULL
    };
    buf_auto_t out = BUF_INIT;
    int rc = ext_git_git(copy, list, &out, err);

    if (rc < 0)
        return rc;
    char **refs = str_split(buf_str(&out), "\n", true);
    for (size_t i = 0; refs[i] != NULL && rc == 0; i++)
        rc = strcmp(refs[i], ref) == 0;
    strv_free(refs);
    return rc;
}

/* NEW commit of a branch or tag; NULL when there is none. The name may be an environment that a minion asks
 * for, and must not reach older, withdrawn commits by git's revision syntax. */
static int
ext_git_commit(const git_copy_t *copy, const char *name, char **ret, fail_t *err)
{
    static const char *const kinds[] = { "heads", "tags" };
    int rc = 0;

    *ret = NULL;
    for (size_t i = 0; rc >= 0 && *ret == NULL && i < NELEMS(kinds); i++) {
        AUTO_FREE char *ref = xasprintf("refs/%s/%s", kinds[i], name);
        rc = is_ref(copy, ref, err);
        if (rc == 1)
            rc = git_copy_commit(copy, ref, ret, err);
    }
    return rc < 0 ? rc : 0;
}

/* Moves the served folder of `files` below the mount point of `whole`. */
static int
mount_files(const remote_t *r, const char *files, const char *whole, fail_t *err)
{
    AUTO_FREE char *from = fs_join(files, r->root), *to = fs_join(whole, r->mount);
    AUTO_FREE char *above = xstrndup(to, (size_t) (strrchr(to, '/') - to));

    int there = fs_look_dir(from, err);
    if (there <= 0)
        return there < 0 ? there : fail_set(err, -ENOENT, "%s has no folder '%s'", r->url, r->root);
    int rc = fs_mkdirs(above, 0700, err);
    return rc == 0 && rename(from, to) != 0 ? fail_set(err, -errno, "%s: %s", to, strerror(errno)) : rc;
}

/* Removes the links of a folder that leave the tree, or lead nowhere: a pillar file is opened with what its
 * links name, and the repository's author would choose files of this machine. `at` is the path below
 * `tree`. */
static int
drop_links(const remote_t *r, int tree, const char *top, const char *at, fail_t *err)
{
    AUTO_FREE char *dir = fs_join(top, at);
    char **names = NULL;
    int rc = fs_names(dir, &names, err);

    for (size_t i = 0; rc == 0 && names[i] != NULL; i++) {
        AUTO_FREE char *path = *at != '\0' ? fs_join(at, names[i]) : xstrdup(names[i]);
        struct stat st;
        if (fstatat(tree, path, &st, AT_SYMLINK_NOFOLLOW) != 0)
            rc = fail_set(err, -errno, "%s: %s", path, strerror(errno));
        else if (S_ISDIR(st.st_mode))
            rc = drop_links(r, tree, top, path, err);
        if (rc != 0 || !S_ISLNK(st.st_mode))
            continue;
        AUTO_FD to = beneath_open(tree, path, BENEATH_LINKS, O_PATH, 0);
        if (to >= 0)
            continue;
        log_warning("git_pillar: %s: the link %s does not stay in the repository, and is left out", r->url,
                    path);
        if (unlinkat(tree, path, 0) != 0)
            rc = fail_set(err, -errno, "%s: %s", path, strerror(errno));
    }
    strv_free(names);
    return rc;
}

/* Checks out a commit to `tree`, atomically: into a folder beside it, then renamed. The index is private, as
 * that of the copy would stay locked if git were killed. Losing a race against another process is success. */
static int
ext_git_checkout(const remote_t *r, const git_copy_t *copy, const char *commit, const char *tree, fail_t *err)
{
    AUTO_FREE char *half = xasprintf("%s.%d-%lx", tree, (int) getpid(), (unsigned long) (uintptr_t) &half);
    AUTO_FREE char *files = fs_join(half, "files"), *index = fs_join(half, "index");
    AUTO_FREE char *whole = *r->mount != '\0' ? fs_join(half, "mount") : xstrdup(files);
    AUTO_FREE char *work = xasprintf("--work-tree=%s", files);
    const char *const read[] = { "git", work, "checkout", "-q", "-f", commit, "--", ".", NULL };
    git_copy_t own = *copy;

    own.index = index;
    int rc = fs_mkdirs(files, 0700, err);
    rc = rc == 0 ? ext_git_git(&own, read, NULL, err) : rc;
    if (rc == 0 && *r->mount != '\0')
        rc = mount_files(r, files, whole, err);
    /* The tree never changes once it has its name: what its links name now they name for ever, and its files
     * are on the disk before the rename, since its content is trusted from then on. */
    AUTO_FD dir = rc == 0 ? open(whole, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (rc == 0 && dir < 0)
        rc = fail_set(err, -errno, "%s: %s", whole, strerror(errno));
    rc = rc == 0 ? drop_links(r, dir, whole, "", err) : rc;
    if (rc == 0 && syncfs(dir) != 0)
        rc = fail_set(err, -errno, "%s: %s", whole, strerror(errno));
    if (rc == 0 && rename(whole, tree) != 0 && errno != EEXIST && errno != ENOTEMPTY)
        rc = fail_set(err, -errno, "%s: %s", tree, strerror(errno));
    (void) fs_remove_tree(half, NULL);
    return rc;
}

/* True when the folder was used less than KEEP_S ago. A time in the future counts by its distance, since the
 * clock may have been wrong; one that cannot be read counts as fresh, as a reader may use the folder. */
static bool
is_fresh(const char *tree)
{
    struct stat st;

    if (stat(tree, &st) != 0)
        return !fs_is_absence(-errno);
    return llabs((long long) time(NULL) - st.st_mtime) < KEEP_S;
}

/* Provides the files of the remote's commit and sets r->dir. The folder's time of change records its last use
 * for is_fresh. */
static int
ext_git_files(remote_t *r, const git_copy_t *copy, fail_t *err)
{
    AUTO_FREE char *commit = NULL, *trees = fs_join(copy->dir, "trees");
    int rc = ext_git_commit(copy, r->branch, &commit, err);

    if (rc == 0 && commit == NULL && *r->fallback)
        rc = ext_git_commit(copy, r->fallback, &commit, err);
    if (rc < 0)
        return rc;
    if (commit == NULL)
        return fail_set(err, -ENOENT, "%s has no branch or tag '%s'", r->url, r->branch);
    /* The same commit with another mount point needs a folder of its own. */
    AUTO_FREE char *place = xasprintf("%s\n%s", r->root, r->mount);
    AUTO_FREE char *hash = digest_bytes("sha256", place, strlen(place), err);
    AUTO_FREE char *name = xasprintf("%s-%.16s", commit, *r->mount != '\0' ? hash : LINKS_STAY);
    AUTO_FREE char *tree = fs_join(trees, name);
    int there = fs_look_dir(tree, err);
    if (there < 0)
        return there;
    if (there == 0) {
        if (fs_mkdirs(trees, 0700, err) < 0 || ext_git_checkout(r, copy, commit, tree, err) < 0)
            return -EIO;

        /* Removes folders of other commits that are no longer fresh. Failures are logged only. */
        fail_auto_t why = FAIL_INIT;
        char **names = NULL;
        rc = fs_names(trees, &names, &why);
        for (size_t i = 0; names != NULL && names[i] != NULL; i++) {
            AUTO_FREE char *path = fs_join(trees, names[i]);
            if (names[i][0] != '.' && strcmp(names[i], name) != 0 && !is_fresh(path) &&
                fs_remove_tree(path, &why) < 0)
                rc = -EIO;
        }
        if (rc < 0)
            log_warning("git_pillar: old commits stay: %s", fail_text(&why));
        strv_free(names);
    }
    (void) utimensat(AT_FDCWD, tree, NULL, 0);
    r->dir = *r->mount != '\0' ? xstrdup(tree) : fs_join(tree, r->root);
    return 0;
}

/* Folder of a repository's copy, created when missing. NEW path, or NULL with *err. */
static char *
ext_git_dir(const compile_t *self, const remote_t *r, fail_t *err)
{
    AUTO_FREE char *name = digest_bytes("sha256", r->url, strlen(r->url), err);
    AUTO_FREE char *base = fs_join(value_str(self->opts, "cachedir", "/var/cache/salt"), "git_pillar");
    AUTO_FREE char *dir = name != NULL ? fs_join(base, name) : NULL;

    return dir != NULL && fs_mkdirs(dir, 0700, err) == 0 ? STEAL(dir) : NULL;
}

/* Locks a repository's trees against other processes and threads; closing the descriptor unlocks. -1 with
 * *err. */
static int
ext_git_enter(const char *dir, fail_t *err)
{
    AUTO_FREE char *lock = fs_join(dir, "lock");
    AUTO_FD fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

    if (fd < 0 || flock(fd, LOCK_EX) != 0)
        return fail_set(err, -errno, "%s: %s", lock, strerror(errno));
    int held = fd;
    fd = -1;
    return held;
}

/* Fetches when due and provides the files. The lock is taken after the network work, so it is held briefly.
 */
static int
ext_git_prepare(const compile_t *self, remote_t *r, fail_t *err)
{
    AUTO_FREE char *dir = ext_git_dir(self, r, err);
    const git_copy_t copy = ext_git_copy(r, dir);

    if (dir == NULL || ext_git_refresh(self, &copy, err) < 0)
        return -EIO;
    AUTO_FD lock = ext_git_enter(dir, err);
    return lock >= 0 ? ext_git_files(r, &copy, err) : -EIO;
}

/* The remotes of a source: a list, or one remote as a text. NEW list. */
static json_t *
ext_git_remotes(const json_t *args)
{
    return json_is_string(args) ? json_pack("[O]", args) : json_incref((json_t *) args);
}

/* ---- fetching beside compiles -------------------------------------------------------------------------- */

/* Fetches one remote when it is due. Returns the seconds until the next fetch; failures are logged. */
static int
ext_git_update(const compile_t *self, const json_t *entry)
{
    remote_t r = { 0 };
    fail_auto_t err = FAIL_INIT;
    int every = interval(self) > UPDATE_MIN_S ? interval(self) : UPDATE_MIN_S, wait_s = every;

    /* A malformed entry is reported by each pillar, not here. */
    AUTO_FREE char *dir = ext_git_parse(self, entry, &r, &err) == 0 ? ext_git_dir(self, &r, &err) : NULL;
    if (dir != NULL) {
        const git_copy_t copy = ext_git_copy(&r, dir);
        int left = git_copy_wait_s(&copy, every);
        wait_s = left > 0 ? left : every;
        if (left == 0 && git_copy_fetch(&copy, &err) < 0)
            log_error("ext_pillar git: %s", fail_text(&err));
    }
    ext_git_remote_free(&r);
    return wait_s;
}

/* Fetches every remote that is due; the seconds until the next one is. 0: there are no remotes. */
int
pillar_git_update(const pillar_env_t *env)
{
    __attribute__((cleanup(compile_destroy))) compile_t *self = compile_new(env, true);
    json_t *source, *entry;
    size_t i, k;
    int next = 0;

    json_array_foreach (value_get(env->opts, "ext_pillar"), i, source) {
        json_auto_t *remotes = ext_git_remotes(value_get(source, "git"));
        json_array_foreach (remotes, k, entry) {
            int wait_s = ext_git_update(self, entry);
            next = next == 0 || wait_s < next ? wait_s : next;
        }
    }
    return next;
}

/* ---- fetching on request ------------------------------------------------------------------------------- */

/* Fetches and compares the refs: 1 when anything changed, 0 when not, negative with *err. */
static int
renew(const compile_t *self, const remote_t *r, fail_t *err)
{
    const char *const refs[] = { "git", "for-each-ref", NULL };
    AUTO_FREE char *dir = ext_git_dir(self, r, err);
    const git_copy_t copy = ext_git_copy(r, dir);
    buf_auto_t before = BUF_INIT, after = BUF_INIT;
    fail_auto_t unused = FAIL_INIT;

    if (dir == NULL)
        return -EIO;
    (void) ext_git_git(&copy, refs, &before,
                       &unused); /* fails before the first fetch, with no refs to compare */
    /* Another process may be fetching: it is waited for, and then this one fetches again. */
    const struct timespec nap = { 0, NAP_MS * 1000000L };
    int64_t until = clock_mono_ms() + GIT_TIME_MS;
    int rc;
    while ((rc = git_copy_fetch(&copy, err)) == 1 && clock_mono_ms() < until)
        (void) nanosleep(&nap, NULL);
    if (rc == 1)
        return fail_set(err, -EBUSY, "it is being fetched for longer than %d seconds", GIT_TIME_MS / 1000);
    if (rc == 0)
        rc = ext_git_git(&copy, refs, &after, err);
    return rc < 0 ? rc : strcmp(buf_str(&before), buf_str(&after)) != 0;
}

/* Fetches one remote, when branch and URL select it, and records the outcome in `done`. Credentials in the
 * URL are redacted. */
static int
renew_one(const compile_t *self, const json_t *entry, const char *branch, const char *repo, json_t *done,
          fail_t *err)
{
    remote_t r = { 0 };
    fail_auto_t why = FAIL_INIT;
    int rc = ext_git_parse(self, entry, &r, err);
    const char *text = json_string_value(entry);

    if (rc == 0 && (branch == NULL || strcmp(branch, r.branch) == 0) &&
        (repo == NULL || strcmp(repo, r.url) == 0)) {
        AUTO_FREE char *whole = text != NULL ? xstrdup(text) : xasprintf("%s %s", r.branch, r.url);
        AUTO_FREE char *id = str_redacted(whole);
        int changed = renew(self, &r, &why);
        if (changed < 0)
            log_error("ext_pillar git: %s", fail_text(&why));
        json_object_set_new(done, id, changed == 0 ? json_null() : json_boolean(changed > 0));
    }
    ext_git_remote_free(&r);
    return rc;
}

json_t *
pillar_git_fetch(const pillar_env_t *env, const char *branch, const char *repo, fail_t *err)
{
    __attribute__((cleanup(compile_destroy))) compile_t *self = compile_new(env, true);
    json_auto_t *done = json_object();
    json_t *source, *entry;
    size_t i, k;

    json_array_foreach (value_get(env->opts, "ext_pillar"), i, source) {
        json_auto_t *remotes = ext_git_remotes(value_get(source, "git"));
        json_array_foreach (remotes, k, entry)
            if (renew_one(self, entry, branch, repo, done, err) < 0)
                return NULL;
    }
    return json_incref(done);
}

/* ---- pillar of the branches ---------------------------------------------------------------------------- */

/* Compiles the pillar of one remote and merges it into *into_p. */
static int
ext_git_lay(compile_t *self, const remote_t *all, size_t n, const remote_t *r, py_t **into_p, fail_t *err)
{
    /* A remote with a mount point has no top file of its own. */
    if (r->dir == NULL || *r->mount != '\0' ||
        (self->pillarenv != NULL && strcmp(r->env, self->pillarenv) != 0))
        return 0;

    /* pillar_roots for one remote: its own folder first, so that its top file counts, then with
     * git_pillar_includes those of the other remotes of the environment. */
    json_t *dirs = json_pack("[s]", r->dir);
    for (size_t i = 0; value_bool(self->opts, "git_pillar_includes", true) && i < n; i++)
        if (&all[i] != r && all[i].dir != NULL && strcmp(all[i].env, r->env) == 0)
            json_array_append_new(dirs, json_string(all[i].dir));
    json_auto_t *roots = json_pack("{s:o}", r->env, dirs);

    /* Compiles the pillar of one branch with a nested compile: no external sources, no override, and no
     * record of reads (the outer one is already marked). */
    json_auto_t *opts = json_copy(self->opts);
    pillar_env_t env = *self->env;

    json_object_set(opts, "pillar_roots", roots);
    env.opts = opts;
    env.saltenv = r->env;
    env.reads = NULL;
    env.override = NULL;
    env.ext = NULL;
    env.known = self->known;
    __attribute__((cleanup(compile_destroy))) compile_t *inner = compile_new(&env, true);
    AUTO(py) data = compile_run(inner, err);

    if (data == NULL)
        return -EINVAL;
    py_t *merged = py_merge(*into_p, data, self->strategy, self->merge_lists);
    if (merged == NULL)
        return compile_raised(err);
    py_unref(*into_p);
    *into_p = merged;
    return 0;
}

py_t *
ext_git(compile_t *self, py_t *pillar, const json_t *args, fail_t *err)
{
    json_auto_t *list = ext_git_remotes(args);
    size_t n = json_array_size(list);
    AUTO_FREE remote_t *remotes = xcalloc(n + 1, sizeof(*remotes));
    AUTO(py) out = py_dict();

    reads_mark_world(self->env->reads);
    int rc = n > 0 ? 0 : fail_set(err, -EINVAL, "a list of 'BRANCH URL' is expected");

    /* As in Salt, a remote without the branch or that cannot be fetched becomes an error of the pillar and is
     * left out; an entry that is no remote ends the source. */
    for (size_t i = 0; rc == 0 && i < n; i++) {
        fail_auto_t why = FAIL_INIT;
        rc = ext_git_parse(self, json_array_get(list, i), &remotes[i], err);
        if (rc == 0 && ext_git_prepare(self, &remotes[i], &why) < 0)
            compile_error(self, "Failed to load ext_pillar git: %s", fail_text(&why));
    }

    /* All files are there before the first branch is compiled: one may include another's SLS. */
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = ext_git_lay(self, remotes, n, &remotes[i], &out, err);
    for (size_t i = 0; i < n; i++)
        ext_git_remote_free(&remotes[i]);
    return rc < 0 ? NULL : STEAL(out);
}
