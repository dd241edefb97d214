/* jinja.h - templates: Jinja 3.1's language with Salt's additions. Compiled once, rendered many times.
 *
 * Layer      common/jinja; salt/, common/base, common/data, common/match, common/py
 * Threads    an engine, its templates and their values belong to one thread
 * Ownership  said per function
 * Errors     a jinja_error_t: Python's exception, the line, and the templates that led there
 * Tests      tests/unit/common/test_jinja.c, tests/cases/jinja
 */
#ifndef COMMON_JINJA_JINJA_H
#define COMMON_JINJA_JINJA_H

#include "common/jinja/parse/lex.h"
#include "common/py/py_host.h"
#include "common/base/span.h"

/* ---- where templates come from ------------------------------------------------------------------------ */

typedef struct jinja_file {
    char *path; /* NEW: name in messages and key of the cache */
    char *text; /* NEW; NULL when `known_version` still holds */
    size_t len;
    int64_t version; /* changes when the text does: the file's mtime in nanoseconds */
} jinja_file_t;

/* Loads template `name`: 0; -ENOENT when there is none; or another negative errno with *err. `globals` is the
 * dict that this render's templates see; Salt's loader resolves "./x" with it and changes it. `known` gives
 * the version cached for a path, -1 when none is: with the same version the text may stay NULL. */
typedef int64_t jinja_known_fn(void *known_cookie, const char *path);
typedef int jinja_load_fn(void *cookie, const char *name, py_t *globals, jinja_known_fn *known,
                          void *known_cookie, jinja_file_t *ret_file, fail_t *err);
typedef struct jinja_loader {
    jinja_load_fn *load; /* NULL: there are no other templates */
    void *cookie;
} jinja_loader_t;

/* ---- engine ------------------------------------------------------------------------------------------- */

typedef struct jinja_options {
    jsyntax_t syntax;
    unsigned tags;             /* JTAG_* */
    bool sandboxed, immutable; /* attributes with "_" are unsafe; methods that change a value too */
    bool autoescape;
    bool peer_lenient; /* peers' values may become structure in the YAML and JSON that templates load */
    bool salt;         /* Salt's filters, tests, globals and way to print containers */
    const py_undef_class_t *undefined; /* NULL: Undefined */
    size_t output;                     /* bytes; 0: LIMIT_TEMPLATE_OUTPUT */
    size_t bytes;                      /* of values and texts at one time; 0: LIMIT_TEMPLATE_BYTES */
    int64_t time_ms;                   /* 0: LIMIT_TEMPLATE_TIME */
    uint64_t steps;                    /* 0: LIMIT_TEMPLATE_STEPS */
    void (*looked)(void *cookie,
                   const char *what); /* reports uses of filters and functions whose answers change by
                                       * themselves; may be NULL */
    void *cookie;                     /* of `looked` */
} jinja_options_t;

typedef struct jinja jinja_t;
/* NEW. `options` and `loader` are copied, texts in them too. */
jinja_t *jinja_new(const jinja_options_t *options, const jinja_loader_t *loader);
void jinja_destroy(jinja_t **self_p);
/* Syntax of its templates, defaults not filled in. BORROWED. */
const jsyntax_t *jinja_syntax(const jinja_t *self);
/* Settings that filters read: "urlize.rel", "truncate.leeway", "json.dumps_kwargs". BORROWED dict. */
py_t *jinja_policies(jinja_t *self);

/* ---- errors ------------------------------------------------------------------------------------------- */

typedef enum jinja_place { JINJA_TOP, JINJA_BLOCK, JINJA_INNER } jinja_place_t;
typedef struct jinja_frame {
    char *name; /* of the template for its loader; NULL: the text that was rendered */
    char *path; /* NULL too */
    int line;
    jinja_place_t place; /* the template itself, a block, or a macro or loop */
    char *label;         /* name of the block or macro; NULL: none */
} jinja_frame_t;
typedef struct jinja_error {
    char *cls, *message; /* "UndefinedError", "'x' is undefined" */
    const py_exc_t *type;
    jinja_frame_t *frames; /* innermost first */
    size_t n;
    char *text; /* of the template whose place Salt shows; NULL: the text that was rendered */
    char *hint; /* "Did you mean 'users'?", or NULL */
} jinja_error_t;
#define JINJA_ERROR_INIT ROW(NULL, NULL, NULL, NULL, 0, NULL, NULL)
/* The place that Salt shows: the innermost one that is not a block; NULL: none. BORROWED. */
const jinja_frame_t *jinja_error_place(const jinja_error_t *e);
void jinja_error_free(jinja_error_t *e);

extern const py_exc_t jinja_TemplateError, jinja_TemplateSyntaxError, jinja_TemplateAssertionError,
    jinja_TemplateRuntimeError, jinja_TemplateNotFound, jinja_TemplatesNotFound, jinja_SecurityError,
    jinja_FilterArgumentError;

/* ---- marks -------------------------------------------------------------------------------------------- */

/* Origin of a part of the output: from byte `at` on it comes from `line` of template `path`; verbatim text
 * continues over lines, the value of an expression does not. */
typedef struct jinja_mark {
    size_t at, path; /* of `paths`, less one; 0: the text that was rendered */
    int line;
    bool verbatim;
} jinja_mark_t;
typedef struct jinja_marks {
    jinja_mark_t *v;
    size_t n, cap;
    char **paths;
    size_t n_paths;
    bool full; /* there was more than LIMIT_TEMPLATE_MARKS */
} jinja_marks_t;
/* Line that made byte `at` of `text`, with the BORROWED path of its template (NULL: the rendered text); 0:
 * unknown. O(log n) plus the verbatim part. */
int jinja_marks_find(const jinja_marks_t *self, const char *text, size_t at, const char **ret_path);
void jinja_marks_free(jinja_marks_t *self);

/* ---- rendering ---------------------------------------------------------------------------------------- */

typedef struct jinja_source {
    const char *text;
    size_t len;
    const char *cache_key; /* NULL: compile, render, forget; else kept while `version` stays */
    int64_t version;
    jinja_marks_t *marks; /* filled when not NULL */
    spans_t *peer;        /* filled when not NULL: parts that come from peers (py_peer.h) */
} jinja_source_t;

/* `context` and `globals` are dicts, BORROWED; NULL: empty. What a loader changes in `globals` stays there.
 * Appends to `out`. 0, or -1 with *err. */
int jinja_render(jinja_t *self, const jinja_source_t *source, py_t *context, py_t *globals, buf_t *out,
                 jinja_error_t *err);
/* The value of one expression. NEW, or NULL with *err. */
py_t *jinja_evaluate(jinja_t *self, const jinja_source_t *source, py_t *context, py_t *globals,
                     jinja_error_t *err);
/* The globals that every template has: range, dict, namespace, ... NEW dict. */
py_t *jinja_globals(const jinja_t *self);

#endif
