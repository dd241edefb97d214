/* high.h - internals of the state compiler: one compilation's memory, errors, look-ups in high
 * data.
 *
 * Layer      common/state, private to compile.c, top*.c, high*.c, requisite*.c, order.c, low.c
 * Threads    the renderer's
 * Tests      tests/unit/common/test_state_compile.c
 */
#ifndef COMMON_STATE_HIGH_H
#define COMMON_STATE_HIGH_H

#include "common/base/map.h"
#include "common/py/py_error.h"
#include "common/py/py_ops.h"
#include "common/state/compile.h"

/* The SLS of one environment. */
typedef struct avail {
    json_t *list; /* sorted array */
    map_t *names;
    char *problem; /* why the list could not be read; NULL: it was read */
} avail_t;

/* An SLS that was rendered. */
typedef struct source {
    char *path; /* on this machine */
    char *url;  /* "nginx/init.sls", below the roots */
} source_t;

struct highstate {
    state_env_t env;
    json_t *opts;           /* BORROWED */
    map_t *avail;           /* environment to avail_t */
    json_t *envs;           /* array; NULL: not asked yet */
    json_t *includes;       /* {SLS: [what it includes]} of every SLS rendered */
    map_t *sources;         /* "base:nginx" to source_t, of every SLS rendered */
    py_t *kept;             /* what renderers keep from SLS to SLS; owned dict */
    json_t *loading;        /* {"base:nginx": true} of every SLS that is being rendered */
    struct render_run *run; /* the rendering that is under way; NULL: none */
    int (*include)(void *cookie, const char *saltenv, const char *sls,
                   fail_t *err); /* for it, as render_source_t has it */
    int64_t iorder;
    char *top_problem;  /* of the last highstate_top(); may be NULL */
    char *list_problem; /* the first list that could not be read; NULL: none failed */
};

/* ---- environments (compile.c) ---------------------------------------------------------------- */

/* Salt's order of environments. BORROWED array. */
json_t *highstate_envs(highstate_t *self);
bool highstate_has_env(highstate_t *self, const char *saltenv);
/* BORROWED; an unknown environment is an empty one. */
const avail_t *highstate_avail_env(highstate_t *self, const char *saltenv);
/* True when the environment's list of SLS could be read. A failure is an error of the compilation from now
 * on: see highstate_say_lists(). */
bool highstate_lists(highstate_t *self, const char *saltenv);
/* fnmatch.filter over the environment's SLS: NEW array. If the list failed, a name without a wildcard is
 * taken to exist, as loading it tells; for a wildcard this is NULL, and an error of the compilation. */
json_t *highstate_find(highstate_t *self, const char *saltenv, const char *pattern);
/* Append the list that failed, if any, to `errors`, once. */
void highstate_say_lists(const highstate_t *self, json_t *errors);
/* Find, read and render: an SLS, or (sls NULL) a file of the file server as the top file is one.
 * 1 with *ret_data NEW; 0 no such file; -1 with *err. */
int highstate_load(highstate_t *self, const char *sls, const char *url, const char *saltenv,
                   source_t **ret_source, py_t **ret_data, fail_t *err);
int source_load(highstate_t *self, const source_t *source, const char *sls, const char *saltenv,
                py_t **ret_data, fail_t *err);
void source_free(void *source);

/* ---- declarations of one SLS (high_decl.c) --------------------------------------------------- */

typedef struct decl {
    const char *sls, *saltenv;
    json_t *errors;
    const highstate_t *from; /* so that errors name file and line; may be NULL */
} decl_t;

/* An SLS may itself write "__extend__" or "__exclude__", the lists that the next two functions fill. A list
 * is kept; any other value is an error and removed. */
void decl_lists(const decl_t *self, py_t *state);
/* "extend:" moves to the list "__extend__", "exclude:" to "__exclude__"; states get split keys and their
 * origin. */
void decl_extend(const decl_t *self, py_t *state);
void decl_exclude(const decl_t *self, py_t *state);
void decl_states(const decl_t *self, py_t *state);
/* state_auto_order for the IDs of one SLS. */
void decl_order(py_t *bodies, int64_t *iorder);

/* ---- high data (high_look.c) ----------------------------------------------------------------- */

/* Salt's dunder entries: "__sls__", "__extend__". */
bool high_internal(const py_t *key);
/* BORROWED first key of a dict, or NULL. */
py_t *dict_first(const py_t *dict, py_t **ret_value);
/* BORROWED text of a member, or `dflt`. */
const char *dict_text(const py_t *dict, const char *key, const char *dflt);
/* NEW text: str() of a value. */
char *py_show(py_t *v);
void add_error(json_t *errors, const char *fmt, ...) PRINTF(2, 3);

/* Index from (state, name) and from SLS to IDs: built once, kept current while extensions change `high`. */
typedef struct names names_t;
names_t *names_new(py_t *high);
void names_destroy(names_t **self_p);
/* BORROWED list of IDs that have an argument of that value, or NULL. */
py_t *names_find(names_t *self, py_t *state, py_t *value);
/* BORROWED list of the IDs of an SLS, or NULL. */
py_t *names_of_sls(names_t *self, py_t *sls);
/* Tell the index that an argument of high[id][state] was added or removed. */
void names_add(names_t *self, py_t *id, py_t *state, py_t *arg);
void names_del(names_t *self, py_t *id, py_t *state, py_t *arg);

/* Salt's find_name(): NEW list of (ID, state) tuples. */
py_t *high_find_name(names_t *names, py_t *high, py_t *name, py_t *state, bool strict);
void high_reconcile(py_t *high, names_t *names, bool strict, const high_env_t *env, json_t *errors);

/* Requisites of SLS that have no chunks are of what they include instead (low_sls.c). */
void low_fill_sls(json_t *chunks, const json_t *includes);

/* ---- where an error is (high_place.c) -------------------------------------------------------- */

/* Append to the last error "\n    at salt://nginx/init.sls, line 4" for the ID; nothing when not known, and
 * nothing any more behind LIMIT_SUGGESTIONS errors: a file is read for each. */
void place_add(const high_env_t *env, json_t *errors, const char *saltenv, const char *sls, const char *id);
/* Append another line to the last error. */
void place_note(json_t *errors, const char *text);
/* Append "\n    Did you mean 'x'?" to the last error. */
void suggest_id(json_t *errors, const py_t *high, const char *id);
/* The same for an ID that may be meant as a declaration: include, extend, exclude. */
void suggest_declaration(json_t *errors, const char *id);
void suggest_sls(json_t *errors, const avail_t *avail, const char *sls);

#endif
