/* gitcopy.c - see gitcopy.h. Runs the system's git with a time limit. Stamps are files whose mtime counts;
 * flock() on the folder keeps other processes from fetching at the same time. */
#include "common/files/gitcopy.h"

#include <fcntl.h>
#include <ftw.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/host/proc.h"
#include "common/base/str.h"
#include "common/files/gitauth.h"

#define FETCHED   "fetched"
#define TRIED     "tried"
#define TRIED_MAX 65536
#define WALK_OPEN 16 /* descriptors */

int
git_copy_run(const git_copy_t *self, const char *cwd, const char *const *words, buf_t *out, fail_t *err)
{
    char **env = git_environment(self->conf, self->url, self->index);
    AUTO_FREE char *url = str_redacted(self->url);
    proc_spec_t spec = PROC_SPEC_INIT;
    proc_result_t res = { 0 };
    spec.argv = (char *const *) words; /* execve's type; nothing writes to them */
    spec.env = env;
    spec.cwd = cwd;
    spec.timeout_ms = self->time_ms;
    int rc = proc_run(&spec, &res, err);
    if (rc == 0 && res.timed_out)
        rc = fail_set(err, -ETIMEDOUT, "%s: git took longer than %d seconds", url,
                      (self->time_ms + 999) / 1000);
    else if (rc == 0 && res.dropped > 0)
        rc = fail_set(err, -EFBIG, "%s: git's answer is too long", url);
    else if (rc == 0 && res.status != 0) {
        /* git's message, or its exit code if it printed none. 1 is its word for "no": -ENODATA. */
        AUTO_FREE char *text = xstrdup(buf_str(&res.errs));
        const char *said = str_trim(text);
        int code = res.status == 1 ? -ENODATA : -EIO;
        rc = *said != '\0' ? fail_set(err, code, "%s: %s", url, said)
                           : fail_set(err, code, "%s: git ended with exit code %d", url, res.status);
    }
    if (rc == 0 && out != NULL)
        buf_add(out, buf_str(&res.out), res.out.len);
    proc_result_free(&res);
    strv_free(env);
    return rc;
}

/* *ret: NEW id of the commit that `object` names; NULL when there is none, which is no failure. */
int
git_copy_commit(const git_copy_t *self, const char *object, char **ret, fail_t *err)
{
    AUTO_FREE char *commit = xasprintf("%s^{commit}", object);
    const char *const words[] = { "git", "rev-parse", "-q", "--verify", commit, NULL };
    fail_auto_t why = FAIL_INIT;
    buf_auto_t out = BUF_INIT;
    int rc = git_copy_run(self, self->dir, words, &out, &why);
    *ret = rc == 0 ? xstrndup(buf_str(&out), strcspn(buf_str(&out), "\n")) : NULL;
    return rc == 0 || rc == -ENODATA ? 0 : fail_set(err, rc, "%s", fail_text(&why));
}

/* ---- when ------------------------------------------------------------------------------------ */

/* Read a stamp. 1; 0: it does not exist; or a negative errno. */
static int
gitcopy_stamp(const git_copy_t *self, const char *name, struct timespec *ret)
{
    AUTO_FREE char *path = fs_join(self->dir, name);
    struct stat st;
    if (stat(path, &st) != 0)
        return errno == ENOENT || errno == ENOTDIR ? 0 : -errno;
    *ret = st.st_mtim;
    return 1;
}

/* Time of the last good fetch in ns; 0: never. Whoever holds what was read before compares it. */
int
git_copy_stamp(const git_copy_t *self, int64_t *ret, fail_t *err)
{
    struct timespec at = { 0, 0 };
    int rc = gitcopy_stamp(self, FETCHED, &at);
    *ret = at.tv_sec * 1000000000LL + at.tv_nsec;
    return rc < 0 ? fail_set(err, rc, "%s/" FETCHED ": %s", self->dir, strerror(-rc)) : 0;
}

/* Seconds until the next fetch is due; a stamp of the future, from a clock that was wrong, does not count. */
int
git_copy_wait_s(const git_copy_t *self, int every)
{
    static const char *const names[] = { FETCHED, TRIED };
    time_t now = time(NULL), wait = 0;
    for (size_t i = 0; i < NELEMS(names); i++) {
        struct timespec at = { 0, 0 };
        if (gitcopy_stamp(self, names[i], &at) != 1 || at.tv_sec > now || now - at.tv_sec >= every)
            continue;
        time_t left = every - (now - at.tv_sec);
        wait = left > wait ? left : wait;
    }
    return (int) wait;
}

/* ---- fetching -------------------------------------------------------------------------------- */

char *
git_copy_tried(const git_copy_t *self)
{
    AUTO_FREE char *path = fs_join(self->dir, TRIED);
    buf_auto_t why = BUF_INIT;
    return fs_read(path, TRIED_MAX, &why, NULL) == 0 ? buf_steal(&why) : NULL;
}

void
git_copy_note(const git_copy_t *self, const char *why)
{
    AUTO_FREE char *path = fs_join(self->dir, TRIED);
    size_t n = strlen(why);
    (void) fs_write_quick(path, why, n < TRIED_MAX ? n : TRIED_MAX, 0600, NULL);
}

/* Remove a lock, or the temporary packed-refs, which git does not replace. Other folders hold neither. */
static int
unlock_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
    const char *name = path + at->base;
    bool top = at->level == 1;
    if (type == FTW_D && top && !str_eq(name, "refs"))
        return FTW_SKIP_SUBTREE;
    if (type == FTW_F && (str_ends(name, ".lock") || (top && str_eq(name, "packed-refs.new"))))
        (void) unlink(path);
    return FTW_CONTINUE;
}

/* 0; 1 when another process is fetching; or a negative errno with *err, which is noted beside the copy. */
int
git_copy_fetch(const git_copy_t *self, fail_t *err)
{
    fail_auto_t why = FAIL_INIT;
    int rc = fs_mkdirs(self->dir, 0700, err);
    if (rc < 0)
        return rc;
    AUTO_FD lock = open(self->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (lock < 0)
        return fail_set(err, -errno, "%s: %s", self->dir, strerror(errno));
    if (flock(lock, LOCK_EX | LOCK_NB) != 0)
        return errno == EWOULDBLOCK ? 1 : fail_set(err, -errno, "%s: %s", self->dir, strerror(errno));

    /* Remove the leftovers of a git that was killed. Safe, because only this process writes while it
     * fetches. */
    (void) nftw(self->dir, unlock_one, WALK_OPEN, FTW_PHYS | FTW_ACTIONRETVAL);

    AUTO_FREE char *head = fs_join(self->dir, "HEAD");
    const char *const init[] = { "git", "init", "-q", "--bare", ".", NULL };
    rc = fs_exists(head) ? 0 : git_copy_run(self, self->dir, init, NULL, &why);
    if (rc == 0) {
        /* Fetches the branches and tags. */
        AUTO_FREE char *fetched = fs_join(self->dir, FETCHED), *tried = fs_join(self->dir, TRIED);
        git_login_auto_t login = GIT_LOGIN_INIT;
        git_login_of(&login, self->url);
        const char *const words[] = { "git",
                                      "fetch",
                                      "-q",
                                      "--prune",
                                      "--force",
                                      "--no-auto-gc",
                                      "--",
                                      login.url,
                                      "+refs/heads/*:refs/heads/*",
                                      "+refs/tags/*:refs/tags/*",
                                      NULL };
        rc = git_copy_run(self, self->dir, words, NULL, &why);
        if (rc == 0)
            rc = fs_write_quick(fetched, "", 0, 0600, &why);
        if (rc == 0)
            (void) unlink(tried);
    }
    if (rc == 0) {
        /* Let git tidy up in the foreground, while this process holds the copy: background work would
         * leave locks that must not be removed. Failures are ignored; the next time will do. */
        static const char *const words[] = { "git", "-c", "gc.autoDetach=false", "gc", "--auto", "-q", NULL };
        (void) git_copy_run(self, self->dir, words, NULL, NULL);

        return 0;
    }
    git_copy_note(self, fail_text(&why));
    return fail_set(err, rc, "%s", fail_text(&why));
}
