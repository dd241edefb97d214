/* span_oracle.h - whether spans fit a YAML text, by another way than the check's: both the text and one with
 * a word of its own for each span are loaded, and the values are compared.
 *
 * Where the loaded reference has a word, the text may have any scalar; all else is equal.
 */
#ifndef TESTS_UNIT_SPAN_ORACLE_H
#define TESTS_UNIT_SPAN_ORACLE_H

#include "common/base/span.h"
#include "common/py/py_error.h"
#include "common/py/py_ops.h"
#include "common/py/py_yaml.h"

#define ORACLE_WORD "qzx"

/* The text with a word for each span. */
static inline void
oracle_reference(const char *text, size_t len, const spans_t *spans, buf_t *out)
{
    size_t done = 0;

    for (size_t i = 0; i < spans->n; i++) {
        buf_add(out, text + done, spans->v[i].from - done);
        buf_puts(out, ORACLE_WORD);
        for (size_t n = i + 1; n > 0; n /= 26)
            buf_putc(out, (char) ('a' + n % 26));
        done = spans->v[i].to;
    }
    buf_add(out, text + done, len - done);
    buf_reserve(out, 1);
}

static inline bool
oracle_is_container(py_t *v)
{
    return py_is(v, PY_LIST) || py_is(v, PY_TUPLE) || py_is(v, PY_DICT) || py_is(v, PY_SET);
}

static inline bool
oracle_has_word(py_t *v)
{
    size_t n;
    const char *text = py_is(v, PY_STR) ? py_text(v, &n) : NULL;

    return text != NULL && memmem(text, n, ORACLE_WORD, strlen(ORACLE_WORD)) != NULL;
}

/* The word of a single span that may be a collection, and nothing besides. */
static inline bool
oracle_is_free(py_t *ref, const spans_t *spans)
{
    for (size_t i = 0; i < spans->n; i++) {
        const spans_t one = { &spans->v[i], 1, 1 };
        buf_auto_t word = BUF_INIT;
        buf_puts(&word, ORACLE_WORD);
        for (size_t n = i + 1; n > 0; n /= 26)
            buf_putc(&word, (char) ('a' + n % 26));
        if (!(one.v->flags & SPAN_TEXT) && py_str_is(ref, buf_str(&word)))
            return true;
    }
    return false;
}

static inline bool oracle_same(py_t *real, py_t *ref, const spans_t *spans, bool key);

static inline bool
oracle_same_pairs(py_t *real, py_t *ref, const spans_t *spans)
{
    py_t *k, *v, *ref_k, *ref_v;

    if (py_dict_len(real) != py_dict_len(ref))
        return false;
    for (size_t i = 0, j = 0; py_dict_next(real, &i, &k, &v) && py_dict_next(ref, &j, &ref_k, &ref_v);) {
        if (!oracle_same(k, ref_k, spans, true) || (v != NULL && !oracle_same(v, ref_v, spans, false)))
            return false;
    }
    return true;
}

static inline bool
oracle_same(py_t *real, py_t *ref, const spans_t *spans, bool key)
{
    if (oracle_has_word(ref))
        return !oracle_is_container(real) || (!key && oracle_is_free(ref, spans));
    if (py_is(ref, PY_FLOAT) && py_float_value(ref) != py_float_value(ref)) /* nan equals nothing */
        return py_is(real, PY_FLOAT) && py_float_value(real) != py_float_value(real);
    if (!oracle_is_container(ref))
        return !oracle_is_container(real) && py_eq(real, ref) == 1;
    if (py_type(real) != py_type(ref))
        return false;
    if (py_is(ref, PY_DICT) || py_is(ref, PY_SET))
        return oracle_same_pairs(real, ref, spans);
    if (py_seq_len(real) != py_seq_len(ref))
        return false;
    for (size_t i = 0; i < py_seq_len(ref); i++)
        if (!oracle_same(py_seq_at(real, i), py_seq_at(ref, i), spans, key))
            return false;
    return true;
}

/* What is wrong with spans that the check let pass, or NULL. Not for texts with merge keys, whose pairs
 * depend on other keys. */
static inline const char *
oracle_fault(const char *text, size_t len, const spans_t *spans)
{
    yproblem_t problem = YPROBLEM_INIT, ref_problem = YPROBLEM_INIT;
    buf_auto_t reference = BUF_INIT;
    const char *fault = NULL;

    oracle_reference(text, len, spans, &reference);
    AUTO(py) real = py_yaml_load(text, len, true, &problem);
    py_clear();
    AUTO(py) ref = py_yaml_load(reference.data, reference.len, true, &ref_problem);
    py_clear();
    if (real != NULL && ref != NULL)
        fault = oracle_same(real, ref, spans, false) ? NULL : "loads as something else";
    else if (real != NULL && ref_problem.cls < YAML_CONSTRUCTOR)
        fault = "can be loaded and its reference cannot";
    else if (ref != NULL && problem.cls < YAML_CONSTRUCTOR)
        fault = "cannot be loaded and its reference can";
    yproblem_free(&problem);
    yproblem_free(&ref_problem);
    return fault;
}

#endif
