/* xstate.h - the part that all states of x509 have in common: what is asked against what is there, and the
 * file by file.managed, whose run is shown as a state of its own (sub_state_run).
 *
 * Layer      plugins/lib/x509
 * Ownership  an xstate_t owns its values: xstate_run frees them
 * Tests      tests/cases/state/x509.*.json
 */
#ifndef PLUGINS_LIB_X509_XSTATE_H
#define PLUGINS_LIB_X509_XSTATE_H

#include "plugins/lib/x509/issue.h"
#include "salt/state.h"

typedef struct xstate xstate_t;
/* One state: compare notes in `changes` how what is there (`real`) differs; make appends what is to be
 * there. */
typedef struct xstate_kind {
    const char *what;             /* "certificate", as comments say it */
    const char *mode;             /* a new file's; NULL: file.managed's */
    const char *const *re_encode; /* changes for which it is not made anew */
    int (*compare)(xstate_t *s, fail_t *err);
    int (*make)(xstate_t *s, bool anew, buf_t *out, fail_t *err);
} xstate_kind_t;

struct xstate {
    call_ctx_t *ctx;
    const xstate_kind_t *kind;
    json_t *args; /* what is asked, in the newer module's names */
    json_t *file; /* arguments of file.managed */
    json_t *changes, *ret;
    const char *name;
    json_t *real;        /* the path behind links; NULL: no such file */
    bool there, current; /* current: what is there could be read */
    issue_t issue;
    xdoc_t *doc;
    pkey_t *key;
    xkept_t kept;
};

/* The body of a state: 0 and *ret_value, as a func_fn. */
int xstate_run(call_ctx_t *ctx, const xstate_kind_t *kind, json_t *args, json_t **ret_value, fail_t *err);

#endif
