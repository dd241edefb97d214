/* call.h - run one function as Salt would: bind arguments, run, turn failures into Salt's words.
 *
 * Layer      common/plugin
 * Threads    a context belongs to one thread
 * Tests      tests/unit/common/test_plugin.c
 */
#ifndef COMMON_PLUGIN_CALL_H
#define COMMON_PLUGIN_CALL_H

#include "common/base/span.h"
#include "common/plugin/registry.h"
#include "common/py/py_ops.h"
#include "salt/plugin.h"

/* The services that a process provides to the functions that it runs. Callbacks may be NULL. All BORROWED
 * while the context lives. */
typedef struct call_env {
    registry_t *registry;
    registry_t *states;    /* of PLUGIN_STATE; NULL: none */
    registry_t *runners;   /* of PLUGIN_RUNNER; NULL: none */
    registry_t *returners; /* of PLUGIN_RETURNER; NULL: none */
    registry_t *modules;   /* what minions have, where `registry` is of another kind; NULL: none */
    json_t *opts;
    const char *id;                        /* NULL: "" */
    const char *jid;                       /* NULL: "" */
    const char *user;                      /* on whose behalf a runner or a job runs; NULL: "" */
    const char *renders;                   /* call_renders() */
    json_t *(*grains)(void *cookie);       /* BORROWED object; asked once, on first use */
    json_t *(*grains_again)(void *cookie); /* NEW object, gathered now; NULL: they stay as they are */
    /* Compile the pillar for `ask` (as ctx_compile_pillar's), or return the current one for NULL. NEW dict,
     * or NULL with *err. */
    struct py *(*pillar)(void *cookie, json_t *ask, fail_t *err);
    /* The answer of master_tops for this minion: NEW {saltenv: [SLS]}, or NULL with *err. */
    json_t *(*tops)(void *cookie, const char *saltenv, fail_t *err);
    struct fileclient *files;
    void (*called)(void *cookie,
                   const char *fun); /* called for each function that another one or a template calls */
    int (*may)(void *cookie, const char *fun, fail_t *err); /* whether call_run may run it; NULL: it may */
    int (*fire)(void *cookie, const char *tag, json_t *data, fail_t *err);
    int (*host)(void *cookie, json_t *request, json_t **ret_value, fail_t *err);
    void (*progress)(void *cookie, size_t step, size_t of, const char *what);
    /* Shows an event that a runner fires to who waits for that runner. BORROWED. */
    void (*show)(void *cookie, const char *suffix, json_t *event);
    /* Called when a peer's value would have been more than a value where it was printed: {file?, line?,
     * value, becomes, error, refused}. BORROWED. */
    void (*refused)(void *cookie, json_t *what);
    bool peer;      /* grains and environments come from another machine: py_peer.h */
    bool peer_args; /* so do the function's arguments, including pillar= */
    bool wire;      /* call_function gives values that JSON lacks in py_wire's form */
    void *cookie;
    void *private_data; /* ctx_private */
} call_env_t;

call_ctx_t *call_ctx_new(const call_env_t *env); /* NEW; `env` is copied */
void call_ctx_destroy(call_ctx_t **self_p);

typedef struct call_result {
    json_t *value; /* owned: the return, or the text of the failure */
    int retcode;   /* 0, or the function's own, or 1 for a failure (254 where Salt gives 254) */
    bool success;
    fail_kind_t failed; /* meaningful when !success */
    const char *out;    /* the function's outputter, BORROWED from the context; NULL: it says none */
} call_result_t;

/* Run `fun` with Salt's argument list (`arg` as args_parse makes it) and Salt's own __pub_* keywords (object
 * or NULL; the keys may leave "__pub_" out). Never fails: a failure becomes the text that Salt's minion
 * returns. */
void call_run(call_ctx_t *ctx, const char *fun, json_t *arg, json_t *pub, call_result_t *res);
void call_result_free(call_result_t *res);

/* Replacements for events and questions to the host, in a child that can't use its parent's connection. */
typedef struct call_relay {
    int (*fire)(void *cookie, const char *tag, json_t *data, fail_t *err);
    int (*host)(void *cookie, json_t *request, json_t **ret_value, fail_t *err);
    int (*share)(void *cookie, const char *key, json_t *item, fail_t *err);
    void *cookie;
} call_relay_t;
void call_set_relay(call_ctx_t *ctx, const call_relay_t *relay); /* BORROWED */

/* The state run around a state function, for the ctx_* functions of salt/state.h. All BORROWED. */
typedef struct call_frame {
    json_t *chunk, *chunks, *running;
    const char *run_id;
} call_frame_t;
/* Member of a chunk that holds, in py_wire's form, arguments that JSON can't express. */
#define CHUNK_NATIVES "__natives__"
/* BORROWED until replaced; NULL: no run. Returns the one before, to be set again. */
const call_frame_t *call_set_frame(call_ctx_t *ctx, const call_frame_t *frame);

/* ctx_absent()'s text of the last call, for who runs it to show; NULL: none. BORROWED. */
const char *call_absent(const call_ctx_t *ctx);

/* The bare failure for salt-call and salt-run, which word it differently: 0 with *ret_value NEW, or the
 * error. */
int call_function(call_ctx_t *ctx, const char *fun, json_t *arg, json_t *pub, json_t **ret_value,
                  fail_t *err);

/* ctx_call for a template: Python's values in and out, which only functions with FN_NATIVE see as they are.
 * NEW, or NULL with *err or an exception raised. */
struct py *ctx_call_native(call_ctx_t *ctx, const char *fun, const struct py_args *args, fail_t *err);
/* The same for a function of one of the context's registries. */
struct py *ctx_call_native_of(call_ctx_t *ctx, registry_t *registry, const char *fun,
                              const struct py_args *args, fail_t *err);

/* ctx_call for callers that keep JSON: *ret_said tells whether a peer's data is in the return. */
int call_said(call_ctx_t *ctx, const char *fun, json_t *args, json_t *kwargs, json_t **ret_value,
              bool *ret_said, fail_t *err);
/* Append the marks (spans of a peer's data) of a text that the running function got from a template, or the
 * running state from its file; none when it has no such text. */
void call_text_spans(call_ctx_t *ctx, const char *text, size_t len, spans_t *ret);

/* The answer of call_env's `tops`, {} without such sources. NEW {saltenv: [SLS]}, or NULL with *err. */
json_t *call_tops(call_ctx_t *ctx, const char *saltenv, fail_t *err);

/* call_env's `user`. BORROWED. */
const char *call_user(const call_ctx_t *ctx);
/* Call call_env's `show`, where there is one. */
void call_show(call_ctx_t *ctx, const char *suffix, json_t *event);

/* The option that names further functions that templates of this context may call on a master, besides
 * `renderer_functions`; NULL: no limit. BORROWED. */
const char *call_renders(const call_ctx_t *ctx);

/* call_env's `peer`. */
bool call_is_peer(const call_ctx_t *ctx);
/* From here on, arguments and pillar overrides count as a peer's, as with call_env's `peer_args`. */
void call_set_peer_args(call_ctx_t *ctx);
/* True when they do. Code that stores arguments to run them later must store this flag too. */
bool call_has_peer_args(const call_ctx_t *ctx);
/* Call call_env's `refused`. */
void call_refused(call_ctx_t *ctx, json_t *what);

/* Call call_env's `called` for something else that a template read. */
void call_note(call_ctx_t *ctx, const char *what);

/* Data that a library attaches to a context, with the address of an object of its own as key: BORROWED, or
 * NULL. It is freed before anything that the context borrows. */
void *call_attached(const call_ctx_t *ctx, const void *key);
void call_attach(call_ctx_t *ctx, const void *key, void *value, void (*free_value)(void *value));

/* The return for an unknown function, of which *err tells: the documentation of all functions whose names
 * begin so, and the error's text under its own; or else that text. NEW. */
json_t *call_unavailable(call_ctx_t *ctx, const char *fun, const fail_t *err);

/* Make the context look for functions again: files or programs have changed. A failure is logged. */
void call_refresh_modules(call_ctx_t *ctx);

/* Explain why `fun` ("mod.fun", or a module's name) can't be called, with a suggestion. NEW text. */
char *call_missing(call_ctx_t *ctx, const char *fun);
/* The same of a state function. */
char *call_missing_state(call_ctx_t *ctx, const char *fun);
/* The text of `err`, which says that a function that a user typed is not there, with what may be meant. NEW.
 */
char *call_unknown(call_ctx_t *ctx, const char *fun, const fail_t *err);

/* Bind positional and keyword values to the rows of `f`: NEW object, or NULL with FAIL_ARGUMENTS in Python's
 * words ("echo() missing 1 required positional argument: 'text'") or FAIL_INVOCATION and -ENOKEY ("The
 * following keyword arguments are not valid: nosuch=b"). */
json_t *bind_args(const func_t *f, json_t *args, json_t *kwargs, json_t *pub, fail_t *err);

/* func_doc as Salt's sources have it, with their ".. code-block:: bash" line. NEW. */
char *func_docstring(const func_t *f);

#endif
