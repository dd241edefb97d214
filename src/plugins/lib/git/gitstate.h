/* gitstate.h - what the states of `git` share: calls of the module on a checkout, and a list of what was done
 * that becomes the comment.
 *
 * Layer      plugins/lib/git
 * Threads    as the context
 * Ownership  results are NEW
 * Errors     a failure of git is the state's failure: gitstate_failed()
 * Tests      tests/cases/state/git.*.json
 */
#ifndef PLUGINS_LIB_GIT_GITSTATE_H
#define PLUGINS_LIB_GIT_GITSTATE_H

#include "common/base/buf.h"
#include "salt/state.h"

/* All but `comments` BORROWED. */
typedef struct gitstate {
    call_ctx_t *ctx;
    json_t *args, *ret;
    fail_t *err;
    const char *target; /* the checkout */
    buf_t comments;     /* "Cloned. Fetched" */
    size_t n_comments;
} gitstate_t;

void gitstate_note(gitstate_t *self, const char *fmt, ...) PRINTF(2, 3);
/* All notes as one text. BORROWED. */
const char *gitstate_notes(gitstate_t *self);

/* result False, with what was noted. Return 0. */
int gitstate_fail(gitstate_t *self, const char *text);
/* As the module's function failed: its error without "Command '...' failed: ", which clears *err. Other
 * errors are returned. */
int gitstate_failed(gitstate_t *self, const char *before);

/* A function of the module on the checkout, with user and password. `more` is an object of further arguments,
 * or NULL: TAKES. NULL with *err. */
json_t *gitstate_call(gitstate_t *self, const char *fun, json_t *more, fail_t *err);
/* The same where the failure is an answer: NULL. */
json_t *gitstate_soft(gitstate_t *self, const char *fun, json_t *more);
/* Access arguments of functions that talk to a remote: the key, for https the user, the saltenv. */
json_t *gitstate_access(const gitstate_t *self);

/* True when the target has `dot` (".git", or a bare repository's file) or is in a worktree: 1, 0, or negative
 * with self->err. An unreadable folder is neither cloned into nor emptied. */
int gitstate_is_checkout(gitstate_t *self, const char *dot);
/* True when the checkout's folder is empty or missing: 1, 0, or negative with self->err. */
int gitstate_is_empty(const gitstate_t *self);
/* Remove what is in the checkout's folder; the folder stays, with its owner and mode, or as the link that
 * it is: the user who clones may not be allowed to make it again. Notes the change. 1: the state has
 * failed. */
int gitstate_empty(gitstate_t *self);

#endif
