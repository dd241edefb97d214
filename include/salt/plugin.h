/* plugin.h - everything for the author of a built-in module: descriptors, argument rows, the call context.
 *
 * A plug-in is one .c file that ends in its table. `PLUGIN(exec, test, ...)` in plugins/exec/salt/test.c
 * defines `exec_test`. The build makes a row for each file name: a missing descriptor fails to link.
 *
 * Layer      any code may use it; knows neither daemon
 * Threads    a function runs in one thread (a job's child, salt-call, or a runner's worker)
 * Tests      tests/unit/common/test_plugin.c; each function has a case in tests/cases/exec
 */
#ifndef SALT_PLUGIN_H
#define SALT_PLUGIN_H

#include "salt/arg.h"
#include "salt/beacon.h"
#include "salt/funcmore.h"
#include "salt/grain.h"
#include "salt/limits.h"
#include "salt/value.h"

typedef struct call_ctx call_ctx_t;
struct py;         /* of common/py/py.h */
struct fileclient; /* common/files/fileclient.h */

/* ---- functions ------------------------------------------------------------------------------- */

/* `args` is an object with every declared argument: bound, converted and defaulted. BORROWED. On success set
 * *ret_value to a NEW reference and return 0. A job that failed is data: return 0 and set the retcode
 * (ctx_set_retcode). Return fail_set()/fail_kind() only when no reply can be made; its kind selects Salt's
 * wording ("ERROR: ...", "Passed invalid arguments to ..."). */
typedef int func_fn(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err);

/* The same on Python's values, which pass through a template unchanged (keys that are numbers, tuples). `args`
 * is a dict, BORROWED. NEW, or NULL with *err or an exception. Its row: NATIVE(fn) and FN_NATIVE. */
typedef struct py *native_fn(call_ctx_t *ctx, struct py *args, fail_t *err);
#define NATIVE(f) _Generic((f), native_fn * : (func_fn *) (void (*)(void))(f))

enum {
    FN_READONLY = 1 << 0,     /* changes nothing on the host */
    FN_RAW_KWARGS = 1 << 1,   /* **kwargs also receives Salt's own __pub_* keywords */
    FN_ACCESS_READ = 1 << 2,  /* runner or wheel: any operator who may talk to the master */
    FN_ACCESS_ADMIN = 1 << 3, /* runner or wheel: root or the master's own user */
    FN_NATIVE = 1 << 4,
    FN_PEER = 1 << 6,        /* returns data that others sent or gave a job as arguments: py_peer.h */
    FN_PEER_GRAINS = 1 << 7, /* returns grains, which may be another machine's */
    FN_PEER_PILLAR = 1 << 8, /* makes JSON of the pillar, parts of which others may have sent */
    FN_PEER_FILES = 1 << 9,  /* makes JSON or text of a template, which may print others' data */
    FN_HISTORY = 1 << 10,    /* runner: shows kept jobs; its own run is not kept as one more */
    FN_SECRET = 1 << 5,      /* runner or wheel: only the caller gets the return; events and jobs don't */
    FN_PRIVATE = 1 << 13,    /* the same of its arguments */
    FN_CALLS = 1 << 11,      /* calls functions that its arguments name: master/operators/inner.h */
    FN_REACHES = 1 << 12,    /* and does so on minions that its arguments name */
};

typedef struct func {
    const char *name; /* as the user types it: "list" even where C needs list_ */
    func_fn *fn;
    const arg_t *args; /* ends with ARGS_END; NULL for none */
    unsigned flags;
    const char *doc; /* as Salt's docstrings: sentence, blank line, details, "CLI Example:", an example */
    union {
        const void *ptr; /* a struct, or the handle of a function that is not C */
        const char *text;
        intptr_t number; /* a flag, or a value of an enum */
    } data;              /* what differs between rows with the same `fn`, which reads ctx_row(ctx)->data */
    const func_more_t *more; /* funcmore.h; NULL: nothing */
} func_t;

/* The end of a doc: "What it does." CLI_EXAMPLE("salt '*' test.ping"). More examples: "\n    salt ...". */
#define CLI_EXAMPLE(lines) "\n\nCLI Example:\n\n    " lines

/* ---- descriptors ----------------------------------------------------------------------------- */

/* Rows of kinds.def: PLUGIN_EXEC, ..., and the same by the word that PLUGIN() takes, PLUGIN_KIND_exec. */
#define MORE(word, programs, folder)
typedef enum plugin_kind {
#define KIND(NAME, word, programs, folder, checks) PLUGIN_##NAME,
#include "salt/kinds.def"
    PLUGIN_KINDS,
#undef KIND
#define KIND(NAME, word, programs, folder, checks) PLUGIN_KIND_##word = PLUGIN_##NAME,
#include "salt/kinds.def"
#undef KIND
} plugin_kind_t;
#undef MORE

typedef struct plugin {
    plugin_kind_t kind : 8;
    grain_cost_t cost : 8;
    bool whole : 1;       /* replaces a built-in module whole: what it has not is not there */
    bool broken : 1;      /* its file can't be loaded; the reason is an error's text */
    const char *file;     /* from PLUGIN() */
    const char *provides; /* the user's name for the module when it is not the file's ("pkg" by pkg_apt.c) */
    const char *doc;
    const func_t *funcs;
    size_t n_funcs;
    /* Salt's __virtual__: NULL when usable here, else the reason, which the error of a call includes. */
    const char *(*unavailable)(call_ctx_t *ctx);
    grain_fn *collect;
    const char *const *keys; /* grains produced, NULL-terminated */
    const beacon_row_t *beacon;
    const char *origin; /* path of the file it was read from; NULL: built in */
} plugin_t;

#define PLUGIN(kind_, id, ...)                                                                               \
    extern const plugin_t kind_##_##id;                                                                      \
    const plugin_t kind_##_##id = { .kind = PLUGIN_KIND_##kind_, .file = #id, __VA_ARGS__ }
#define FUNCS(table) .funcs = (table), .n_funcs = NELEMS(table)

/* ---- what a running function may ask of its host --------------------------------------------- */

/* The row that runs; the caller's again once ctx_call() has returned. BORROWED; NULL outside of a call. */
const func_t *ctx_row(const call_ctx_t *ctx);
/* The configuration as an object, defaults included. BORROWED. */
json_t *ctx_opts(call_ctx_t *ctx);
/* Grains and pillar; gathered on first use. BORROWED, never NULL (an empty object when there are none). */
json_t *ctx_grains(call_ctx_t *ctx);
void ctx_refresh_grains(call_ctx_t *ctx); /* gathers them again, where that is possible */
void ctx_grains_changed(call_ctx_t *ctx); /* call it after changing ctx_grains() in place */
json_t *ctx_pillar(call_ctx_t *ctx);
struct py *ctx_native_grains(call_ctx_t *ctx); /* the same as Python's values; BORROWED dict */
struct py *ctx_native_pillar(call_ctx_t *ctx);
/* Compiles the pillar again. `ask` (object, BORROWED; NULL: as configured): {saltenv, pillarenv, pillar:
 * override}. NEW dict, or NULL with *err. Only ctx_set_pillar() makes it ctx_pillar(). */
struct py *ctx_compile_pillar(call_ctx_t *ctx, json_t *ask, fail_t *err);
void ctx_set_pillar(call_ctx_t *ctx, struct py *pillar); /* BORROWED */
/* The file server's files. BORROWED; NULL where there is none (a runner without file roots). */
struct fileclient *ctx_files(call_ctx_t *ctx);
bool ctx_test(const call_ctx_t *ctx); /* states only report what they would change: __opts__["test"] */
void ctx_set_test(call_ctx_t *ctx, bool test);
/* Salt's __context__: an object that lives as long as the job. BORROWED. */
json_t *ctx_context(call_ctx_t *ctx);
const char *ctx_id(call_ctx_t *ctx);  /* the minion's id ("" in a runner) */
const char *ctx_jid(call_ctx_t *ctx); /* "" when there is none */
/* Salt's __context__["retcode"]: the job's exit code. */
void ctx_set_retcode(call_ctx_t *ctx, int retcode);
/* Says that a thing that the caller names is not there, beside a return that stays what programs expect: the
 * exit code is 1, and a command line shows the text on stderr. Nothing for a function inside another one. */
void ctx_absent(call_ctx_t *ctx, const char *fmt, ...) PRINTF(2, 3);
int ctx_retcode(const call_ctx_t *ctx);

/* Salt's __salt__["mod.fun"](*args, **kwargs). `args` (list) and `kwargs` (object) may be NULL; BORROWED.
 * On success *ret_value is NEW. */
int ctx_call(call_ctx_t *ctx, const char *fun, json_t *args, json_t *kwargs, json_t **ret_value, fail_t *err);
/* True when a function exists and its module is usable here. */
bool ctx_has(call_ctx_t *ctx, const char *fun);
/* Salt's __states__["mod.fun"](**kwargs), bare: no requisites, no retries. *ret_value NEW: a state's return. */
int ctx_state(call_ctx_t *ctx, const char *fun, json_t *kwargs, json_t **ret_value, fail_t *err);
/* The row of a function, one that a caller names, or a state; NULL: *err FAIL_UNAVAILABLE. */
const func_t *ctx_find(call_ctx_t *ctx, const char *fun, fail_t *err);
const func_t *ctx_find_named(call_ctx_t *ctx, const char *fun, fail_t *err);
const func_t *ctx_find_state(call_ctx_t *ctx, const char *fun, fail_t *err);
/* Sends an event to the master's bus. `data` BORROWED. */
int ctx_fire(call_ctx_t *ctx, const char *tag, json_t *data, fail_t *err);
/* Reports the progress of a long run to a user who waits at a terminal, if there is one. */
void ctx_progress(call_ctx_t *ctx, size_t step, size_t of, const char *fmt, ...) PRINTF(4, 5);
/* Asks the process that runs the jobs (see minion/jobs/jobserver.h): "running", "signal", "refresh_grains", ...
 * `request` BORROWED, *ret_value NEW. -ENOTSUP without such a process (salt-call, a runner). */
int ctx_host(call_ctx_t *ctx, json_t *request, json_t **ret_value, fail_t *err);
/* The pointer that a host passes to its own plug-ins (the runners' master API); NULL elsewhere. */
void *ctx_private(call_ctx_t *ctx);

/* All functions of a kind (common/plugin/registry.h), for `sys` and the like. BORROWED; NULL: none here. */
struct registry *ctx_registry(call_ctx_t *ctx, plugin_kind_t kind);
const char *plugin_name(const plugin_t *p); /* of its module, as users write it */
/* The path that a plug-in was read from, or "built in". */
const char *plugin_origin(const plugin_t *p);
/* A function's doc as `sys.doc` shows it: a line break, lines indented by four, a line of four spaces. NEW. */
char *func_doc(const func_t *f);
/* sys.argspec. NEW {"args": [...]|null, "defaults": [...]|null, "varargs": true|null, "kwargs": true|null} */
json_t *func_argspec(const func_t *f);

#endif
