/* compile.h - the state compiler: top file, SLS files, high data, low chunks in the order in which they run.
 *
 * Pure: knows no state function and runs nothing. The steps are Salt's, one function each:
 *
 *   highstate_top     {"base": ["web", "db.server"]}                            what this minion shall have
 *   highstate_render  {"ID": {"__sls__", "__env__", "pkg": ["installed", {"order": 10000}]}, ...,
 *                      "__extend__": [...], "__exclude__": [...]}                high data
 *   high_to_low       [{"state", "name", "__sls__", "__env__", "__id__", "fun", "order", ...}, ...]
 *
 * High data stays in Python's values until the end: IDs and keys that are not text have Salt's error messages,
 * and what YAML aliases share is shared. All steps are linear in the number of states.
 *
 * Layer      common/state
 * Threads    the renderer's
 * Ownership  said per function
 * Errors     `errors` is an array that Salt's texts are appended to; a result beside new errors is as
 *            incomplete as Salt's. Some texts have further lines: the file and line to open, a suggestion.
 *            Where the file server can't list its environments or files, what needs the list is an error too
 * Tests      tests/unit/common/test_state_compile.c, tests/cases/state-compile
 */
#ifndef COMMON_STATE_COMPILE_H
#define COMMON_STATE_COMPILE_H

#include "common/files/fileclient.h"
#include "common/py/py.h"
#include "common/render/render.h"
#include "salt/plugin.h"

/* The inputs of a compilation. All BORROWED while the highstate_t lives. */
typedef struct state_env {
    call_ctx_t *ctx; /* id and grains for the top file's targets */
    fileclient_t *files;
    render_t *render;
    json_t *opts;                  /* NULL: ctx_opts(). Where a master decides them, its options */
    const char *saltenv;           /* Salt's opts["saltenv"]: this environment only; NULL: all */
    const char *state_top;         /* another top file, "salt://reverse_top.sls"; NULL: the option */
    const char *state_top_saltenv; /* NULL: the option */
    py_t *pillar;                  /* NULL: ctx_native_pillar() */
} state_env_t;

/* A compilation: remembers the environments' lists of SLS, and the automatic order. */
typedef struct highstate highstate_t;
highstate_t *highstate_new(const state_env_t *env); /* NEW; `env` is copied */
void highstate_destroy(highstate_t **self_p);

/* The top files, merged and matched: NEW object of arrays. Problems that Salt only logs come as an empty
 * object; what its verify_tops() says is in `errors`. */
json_t *highstate_top(highstate_t *self, json_t *errors);
/* The reason why a top file that exists was not used; Salt only logs it. BORROWED or NULL. */
const char *highstate_top_problem(const highstate_t *self);
/* Render the SLS of `matches` with wildcards, relative and cross-environment includes. NEW dict, never
 * NULL. */
py_t *highstate_render(highstate_t *self, json_t *matches, json_t *errors);
/* Render one local SLS file for state.template. NEW dict. */
py_t *highstate_render_file(highstate_t *self, const char *path, const char *saltenv, json_t *errors);
/* {"base": ["common.user", ...]}: every SLS of every environment. NEW, or NULL with *err. */
json_t *highstate_avail(highstate_t *self, fail_t *err);

/* ---- high data by itself: state.high, state.template_str and orchestrate begin here ---------- */

typedef struct high_env {
    json_t *opts;            /* BORROWED; NULL: none are set */
    const highstate_t *from; /* where the SLS came from, so that errors name file and line; may be NULL */
    const char *orchestration_jid; /* may be NULL */
    bool natives; /* chunks to run: ctx_native_arg() finds what JSON can't say. They are not to be shown */
} high_env_t;

/* Run Salt's steps before the run: extend, verify, requisite_in, exclude, low chunks, order. Changes `high`.
 * NEW array, empty when errors were added. `env` may be NULL, also below. */
json_t *high_to_low(py_t *high, const high_env_t *env, json_t *errors);
/* Salt's `exclude` argument: strings (SLS) and {"id": ...} or {"sls": ...}. `exclude` BORROWED array. */
void high_exclude(py_t *high, json_t *exclude);
/* Put "pkg.installed: [...]" and "pkg.installed" of a single template (state.template_str) into high data's
 * shape. */
void high_pad(py_t *high, const char *template, json_t *errors);

/* The same steps one by one, for functions that show them: state.show_low_sls verifies and compiles only. */
/* Merge "__extend__" into the IDs. `strict`: an extension's target must have that very state. */
void high_reconcile_extend(py_t *high, bool strict, const high_env_t *env, json_t *errors);
void high_verify(py_t *high, const high_env_t *env, json_t *errors);
/* Turn require_in, watch_in, prereq, use and their like into extensions, and merge those. */
void high_requisite_in(py_t *high, const high_env_t *env, json_t *errors);
/* Remove the IDs and SLS of "__exclude__". */
void high_apply_exclude(py_t *high);
/* Flatten to low chunks. NEW array in running order. */
json_t *high_compile(py_t *high, const high_env_t *env, json_t *errors);
/* Find the line of an SLS's source that declares an ID; 1-based, 0 when no line or no single line fits. */
size_t sls_line_of(const char *text, const char *id);
/* Sort chunks (array of objects) as Salt does, giving each its number. */
void low_order(json_t *chunks);

#endif
