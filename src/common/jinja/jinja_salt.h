/* jinja_salt.h - Salt's environment around its templates: names of files, variables of an SLS, `salt`,
 * errors.
 *
 * Layer      common/jinja
 * Threads    as jinja.h
 * Ownership  said per function
 * Errors     as jinja.h
 * Tests      tests/unit/common/test_jinja.c, tests/cases/jinja */
#ifndef COMMON_JINJA_JINJA_SALT_H
#define COMMON_JINJA_JINJA_SALT_H

#include "common/jinja/jinja.h"

/* Options of Salt's environment: sandboxed, undefined variables are errors unless `allow_undefined`. `env` is
 * the configured jinja_env or jinja_sls_env (may be NULL); its texts are BORROWED until jinja_new() has
 * copied them. */
void jinja_salt_options(jinja_options_t *o, const json_t *env, bool allow_undefined);

/* The path below the file roots that template `name` means: "./x" and "../x" are beside `tpldir` of
 * `globals`. NEW, or NULL: outside. */
char *jinja_salt_path(const char *name, py_t *globals);
/* After it was found: tplfile, tpldir and tpldot of `globals`. */
void jinja_salt_loaded(const char *name, const char *path, py_t *globals);

/* Adds slspath, tplfile, tpldir, ... for an SLS; `tmplpath` may be NULL. */
void jinja_salt_sls(py_t *context, const char *tmplpath, const char *sls);

/* `salt`: functions by callback. `has` answers whether there is a function (or, with a name that ends with
 * ".", one in that module). `call` gives a NEW value or NULL raised. NEW value. */
typedef struct jinja_funcs {
    bool (*has)(void *cookie, const char *name);
    py_t *(*call)(void *cookie, const char *name, const py_args_t *args);
    void *cookie;
} jinja_funcs_t;
py_t *jinja_salt_funcs(const jinja_funcs_t *funcs);

/* Renders as Salt does: a newline at the end of the source is one at the end of the text. */
int jinja_salt_render(jinja_t *self, const jinja_source_t *source, py_t *context, buf_t *out,
                      jinja_error_t *err);

/* The parts of Salt's SaltRenderError. */
typedef struct jinja_told {
    char *message; /* "Jinja variable 'x' is undefined" */
    int line;      /* 0: the message has the place itself */
    char *text;    /* all of it: the message, the line, the lines around it; then what may have been meant */
} jinja_told_t;
void jinja_salt_tell(const jinja_error_t *e, const char *source, size_t len, const char *sls,
                     jinja_told_t *ret_told);
void jinja_told_free(jinja_told_t *told);
/* NEW text: the lines around `line`, which is marked. */
char *jinja_salt_around(const char *text, size_t len, int line);

extern const py_exc_t jinja_SaltInvocationError, jinja_CommandExecutionError, jinja_SaltTemplateError;

#endif
