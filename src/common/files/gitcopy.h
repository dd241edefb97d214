/* gitcopy.h - the bare copy of a remote, with the system's git: for gitfs and the external pillar `git`.
 *
 * Only one thread or process fetches into it at a time; others use its current content. The fetcher
 * removes the locks of a git that was killed: no others exist, as git tidies up before the fetch ends and a
 * checkout has its index elsewhere. The mtime of the file `fetched` is the time of the last fetch, that of
 * `tried` the time of the last failure, whose reason is in `tried`.
 *
 * Layer      common/files
 * Threads    any
 * Ownership  a git_copy_t owns nothing; results are NEW
 * Errors     negative errno with what git said
 * Tests      tests/unit/common/test_gitfs.c, tests/t/4100-pillar.bats
 */
#ifndef COMMON_FILES_GITCOPY_H
#define COMMON_FILES_GITCOPY_H

#include "salt/base.h"

#include "common/base/buf.h"

typedef struct git_copy {
    const char *url, *dir; /* BORROWED, as all here */
    const json_t *conf;    /* the remote's settings (gitauth.h) */
    int time_ms;           /* limit of one call of git */
    const char *index;     /* the file of its index; NULL: the copy's */
} git_copy_t;

/* Run git in `cwd`; its output is appended to `out` (NULL: dropped). `words` ends with NULL. -ENODATA: exit
 * code 1, which is a "no" for some questions. */
int git_copy_run(const git_copy_t *self, const char *cwd, const char *const *words, buf_t *out, fail_t *err);
/* The time of the last fetch in nanoseconds; 0: there was none. */
int git_copy_stamp(const git_copy_t *self, int64_t *ret, fail_t *err);
/* NEW commit that git has for `object`; NULL: there is none. */
int git_copy_commit(const git_copy_t *self, const char *object, char **ret, fail_t *err);
/* Seconds until the next fetch at an interval of `every` seconds, failed tries included; 0: now. A stamp in
 * the future counts as old. */
int git_copy_wait_s(const git_copy_t *self, int every);
/* Fetch. 0; 1: another process is fetching; or negative, with the reason noted in `tried`. */
int git_copy_fetch(const git_copy_t *self, fail_t *err);
/* The reason of the last failure; NULL: none since the last fetch. NEW. */
char *git_copy_tried(const git_copy_t *self);
/* Note a failure. */
void git_copy_note(const git_copy_t *self, const char *why);

#endif
