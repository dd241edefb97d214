/* userfile.h - users' files in Python whose functions no registry has: external pillars, renderers,
 * outputters, ... They run in the context's interpreter. src/pyhost has the code, as it is what knows the
 * folders of files.
 *
 * Layer      common/python
 * Threads    a context belongs to one thread
 * Errors     FAIL_UNAVAILABLE: no file gives the function, with the reason of one that is not usable ("":
 *            there is no such file); other kinds are those of the function's exception, whose text is the
 *            error
 * Tests      tests/t/3090-python-kinds.bats */
#ifndef COMMON_PYTHON_USERFILE_H
#define COMMON_PYTHON_USERFILE_H

#include "common/py/py.h"
#include "salt/plugin.h"

typedef struct userfile {
    const char *kind;   /* a row of pyhost/pykinds.def */
    const char *module; /* the file's name, or its __virtualname__ */
    const char *fun;
    bool log_fails; /* a failure is an error of the log, with its traceback; else of debug */
    bool packaged;  /* without a user's file, one of the package `salt` that is part of this program */
    bool unlimited; /* by the time and memory of a render: it is part of a job, whose limits hold */
    /* Renders another SLS file into what is being compiled; NULL: nothing is. 0 or a negative errno. */
    int (*include)(void *cookie, const char *saltenv, const char *sls, fail_t *err);
    void *cookie;
} userfile_t;

/* True when a user's file has the module's name: it precedes what is built in. Starts nothing. */
bool userfile_is_named(call_ctx_t *ctx, const char *kind, const char *module);
/* True when a file gives the function; else *err says why, as of userfile_call(). Starts the interpreter
 * where there is any file of the kind. */
bool userfile_has(call_ctx_t *ctx, const userfile_t *what, fail_t *err);
/* Call the function with a list and a dict, BORROWED, within the time of the innermost scope
 * (py_deadline_ms()) and LIMIT_PYTHON_MEMORY. *ret_grains, which may be NULL: a file that ran may have read
 * grains. NEW, or NULL with *err. */
py_t *userfile_call(call_ctx_t *ctx, const userfile_t *what, py_t *args, py_t *kwargs, bool *ret_grains,
                    fail_t *err);

/* NEW {"smtp.returner": {"doc": text, "argspec": {args, defaults, varargs, kwargs}}, ...}: the functions of
 * all files of the kind, users' and Salt's own; empty where there are none. NULL with *err. */
json_t *userfile_functions(call_ctx_t *ctx, const char *kind, fail_t *err);

/* Load all of Salt's own files whose functions are plug-ins of the kind, so that lists of functions have
 * them: seconds. Does nothing where they are not used. */
void userfile_load_all(call_ctx_t *ctx, plugin_kind_t kind);

/* True when a distribution that brings files (entry points of the group salt.loader: saltext-*) is installed
 * for the interpreter that the options name. Looked up once in a process: a daemon asks before it forks. */
bool userfile_extended(const json_t *opts);

/* Load the files of `names`, a list of "KIND.FILE" (BORROWED), so that the log says now which of them can't
 * be loaded, or will not be. Does nothing for kinds that are not called here. */
void userfile_check(call_ctx_t *ctx, const char *kind, const json_t *names);

#endif
