/* filter.h - shared by the files of filters and tests: tables of rows, and helpers for arguments.
 *
 * Layer      common/jinja, private
 * Threads    one
 * Ownership  results are NEW, arguments BORROWED
 * Errors     NULL raised
 * Tests      tests/cases/jinja */
#ifndef COMMON_JINJA_FILTER_FILTER_H
#define COMMON_JINJA_FILTER_FILTER_H

#include "common/jinja/run.h"

/* Rows of one file. */
typedef struct jfilter_table {
    const jfilter_t *rows;
    size_t n;
} jfilter_table_t;
#define JTABLE(rows) ROW(rows, NELEMS(rows))
/* A list of parameters: JP("value", "width"). */
#define JP(...)      ((const char *const[]){ __VA_ARGS__, NULL })
/* { JROW("center", do_center, JP("value", "width"), 1, 2, 0), flags, doc } */
#define JROW(name, fn, params, min, max, sig_flags)                                                          \
    name, { fn },                                                                                            \
    {                                                                                                        \
#fn, params, min, max, sig_flags                                                                     \
    }

extern const jfilter_table_t jfilters_text, jfilters_markup, jfilters_sequence, jfilters_lazy, jfilters_value,
    jfilters_pprint, jfilters_wrap, jfilters_urlize, jtests_builtin;
extern const jfilter_table_t jfilters_salt_data, jfilters_salt_text, jfilters_salt_regex,
    jfilters_salt_serial, jfilters_salt_dict, jfilters_salt_hash, jfilters_salt_iter, jfilters_salt_net,
    jfilters_salt_time, jfilters_salt_python, jfilters_salt_xml, jfilters_salt_query, jfilters_salt_file,
    jfilters_salt_dns, jfilters_salt_call, jtests_salt;

/* An argument that may be absent. */
static inline py_t *
jarg(py_t *v, py_t *dflt)
{
    return v != NULL ? v : dflt;
}

/* Names of all filters and tests, for i = 0, 1, ...; NULL behind the last one. */
const char *jfilter_name(const jinja_t *engine, size_t i);
const char *jtest_name(const jinja_t *engine, size_t i);

/* v.name(a, b, ...) with `n` arguments behind. NEW. */
py_t *jmethod(py_t *v, const char *name, size_t n, ...);
/* str(v) unless it is a str already, Markup included. NEW. */
py_t *jsoft_str(py_t *v);
/* 1, 0, or -1 raised; `dflt` when `v` is NULL. */
int jflag(py_t *v, bool dflt);
/* v as a C number: 0 or -1. */
int jindex(py_t *v, int64_t dflt, int64_t *ret);
/* NEW value of a setting, or None. */
py_t *jpolicy(jcontext_t *ctx, const char *name);

/* The attribute that a filter looks at: "a.b.0", a number, or None for the element itself. */
typedef struct jgetter {
    jcontext_t *ctx;
    py_t *parts; /* list, or list of lists when there may be several */
    py_t *dflt;  /* BORROWED; NULL: none */
    bool several, ignore_case;
} jgetter_t;
int jgetter_init(jgetter_t *g, jcontext_t *ctx, py_t *attribute, bool several, bool ignore_case);
void jgetter_free(jgetter_t *g);
py_t *jgetter_get(const jgetter_t *g, py_t *item);
/* Keys of all elements, for sorting. NEW list. */
py_t *jgetter_keys(const jgetter_t *g, py_t *list);
/* env.call_filter and env.call_test: by name, with what `map` and `select` were given. */
py_t *jcall_named(jcontext_t *ctx, bool test, py_t *name, const py_args_t *args);

/* JSON text with < > & ' as escapes. NEW. */
py_t *jhtmlsafe_json(py_t *json);
/* Keys of a dict in order. NEW list. */
py_t *jsorted_keys(py_t *dict);
/* Python's pformat. NEW str. */
py_t *jpformat(py_t *v);

#endif
