/* gitcopy.h - the bare copy of a remote, with the system's git: for gitfs and the external pillar `git`.
 *
 * One at a time fetches into it, threads and processes alike; others go on with what it has. Who fetches
 * removes the locks of a git that was killed: nobody else has any, as git tidies up before that ends and a
 * checkout has an index elsewhere. Beside it the time of the file `fetched` says when it was fetched, that of
 * `tried` when that failed last, and what stands in `tried` why.
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
    int time_ms;           /* that one call of git may take */
    const char *index;     /* the file of its index; NULL: the copy's */
} git_copy_t;

/* git in `cwd`; what it prints is appended to `out` (NULL: forgotten). `words` ends with NULL. -ENODATA:
 * it ended with 1, which is a "no" to some questions. */
int git_copy_run(const git_copy_t *self, const char *cwd, const char *const *words, buf_t *out, fail_t *err);
/* The time of the last fetch in nanoseconds; 0: there was none. */
int git_copy_stamp(const git_copy_t *self, int64_t *ret, fail_t *err);
/* NEW commit that git has for `object`; NULL: there is none. */
int git_copy_commit(const git_copy_t *self, const char *object, char **ret, fail_t *err);
/* Seconds until it is to be fetched again when that is done every `every` seconds, tries that failed
 * included; 0: now. A stamp of a time that is still to come counts as old. */
int git_copy_wait_s(const git_copy_t *self, int every);
/* Fetch. 0; 1: somebody else is at it; or negative, which is noted in `tried`. */
int git_copy_fetch(const git_copy_t *self, fail_t *err);
/* Why the last try failed; NULL: none has since the last fetch. */
char *git_copy_tried(const git_copy_t *self);
/* Note a failure. */
void git_copy_note(const git_copy_t *self, const char *why);

#endif
