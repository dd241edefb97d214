/* py_obj.h - the memory layout of values, for the files of this folder and an engine's innermost loops.
 *
 * Layer      common/py */
#ifndef COMMON_PY_PY_OBJ_H
#define COMMON_PY_PY_OBJ_H

#include <gmp.h>

#include "common/py/py.h"
#include "common/py/py_error.h"
#include "common/py/py_host.h"
#include "common/py/py_mem.h"
#include "common/py/py_ops.h"
#include "common/py/py_peer_int.h"

enum {
    PY_F_MARKUP = 1 << 0,  /* str */
    PY_F_FROZEN = 1 << 0,  /* set */
    PY_F_ORDERED = 1 << 0, /* dict */
    PY_F_GROUP = 1 << 0,   /* tuple of two, which have names too */
    PY_F_BOUND = 1 << 0,   /* func: a method with its self */
    PY_F_BUSY = 1 << 6,    /* being printed: it contains itself */
    PY_F_TRIED = 1 << 7    /* while cycles are searched */
};

#define PY_SMALL_MAX (INT64_MAX >> 1)
#define PY_SMALL_MIN (INT64_MIN >> 1)

static inline py_t *
py_small_new(int64_t v)
{
    return (py_t *) (((uintptr_t) v << 1) | 1);
}

static inline int64_t
py_small_value(const py_t *v)
{
    return (int64_t) (intptr_t) v >> 1;
}

typedef struct pyfloat {
    py_t h;
    double d;
} pyfloat_t;

/* An integer beyond 63 bits. `n` is the number of limbs, negative for a negative number, as in GMP. */
typedef struct pybig {
    py_t h;
    int n;
    mp_limb_t limbs[];
} pybig_t;

/* A text whose code points were not counted yet. */
#define PY_UNCOUNTED SIZE_MAX

/* str and bytes */
typedef struct pystr {
    py_t h;
    size_t len;
    size_t count;   /* code points, or PY_UNCOUNTED */
    uint64_t hash;  /* 0: not yet known */
    pypeer_t *peer; /* parts that come from a peer: py_peer.h; NULL: none */
    char text[];
} pystr_t;

/* Header of values that can hold others; linked into the scope's list. */
typedef struct pyheld {
    py_t h;
    struct pyheld *prev, *next;
} pyheld_t;

typedef struct pylist {
    pyheld_t held;
    size_t n, cap;
    py_t **v;
} pylist_t;

typedef struct pytuple {
    pyheld_t held;
    size_t n;
    py_t *v[];
} pytuple_t;

typedef struct pyentry {
    uint64_t hash;
    py_t *key, *value; /* key NULL: removed */
} pyentry_t;

/* dict and set: entries in order, found through `index` once there are more than PY_DICT_LINEAR. */
typedef struct pydict {
    pyheld_t held;
    uint32_t used, fill, cap; /* live entries; entries in use; room */
    uint32_t mask;            /* slots of the index, less one */
    pyentry_t *entries;
    int32_t *index; /* -1: free */
} pydict_t;
enum { PY_DICT_LINEAR = 8 };

typedef struct pyrange {
    py_t h;
    int64_t start, step;
    int64_t n;
    int64_t stop;
} pyrange_t;

typedef struct pyslice {
    pyheld_t held;
    py_t *start, *stop, *step;
} pyslice_t;

typedef enum pyview_kind { PY_KEYS, PY_VALUES, PY_ITEMS } pyview_kind_t;
/* A view is live: it shows what its dict has now. */
typedef struct pyview {
    pyheld_t held;
    py_t *dict;
    pyview_kind_t kind;
} pyview_t;

typedef struct pygen {
    pyheld_t held;
    const py_gen_class_t *cls;
    void *data;
} pygen_t;

struct py_method;
typedef struct pyfunc {
    pyheld_t held;
    const py_fn_class_t *cls;
    const struct py_method *method; /* with PY_F_BOUND */
    py_t *self;
    void *data;
} pyfunc_t;

typedef struct pyns {
    pyheld_t held;
    py_t *dict;
} pyns_t;

typedef struct pyundef {
    pyheld_t held;
    const py_undef_class_t *cls;
    const py_exc_t *exc;
    py_t *obj, *name;
    char *hint;
} pyundef_t;

typedef struct pyhost {
    pyheld_t held;
    const py_class_t *cls;
    void *data;
} pyhost_t;

/* ---- pieces shared by the files of this folder ----------------------------------------------- */

py_t *py_str_raw(size_t len); /* NEW str whose `len` bytes the caller fills */
size_t py_str_count(const py_t *v);
size_t py_str_offset(const py_t *v, size_t index); /* byte offset of a code point */
uint64_t py_str_hash(const py_t *v);
/* Reads a code point of our own text, surrogates included. Returns its length. */
size_t py_decode(const char *s, uint32_t *ret_cp);
void py_put_char(buf_t *out, uint32_t cp);

pyentry_t *py_dict_find(const py_t *dict, py_t *key, uint64_t hash, int *ret_bad);
int py_dict_put(py_t *dict, py_t *key, uint64_t hash, py_t *value);
py_t *py_dict_copy(const py_t *dict);

/* Integers of any size as GMP's; `z` is initialised by the caller. NEW value of z. */
void py_get_mpz(const py_t *v, mpz_t z);
py_t *py_from_mpz(const mpz_t z);
bool py_is_int(const py_t *v); /* int or bool */
int py_int_sign(const py_t *v);

py_t *py_int_binary(py_op_t op, py_t *a, py_t *b);
int py_int_compare(const py_t *a, const py_t *b);
int py_int_float_compare(const py_t *a, double d); /* d is no nan */
/* 0, or -1 raised: int too large to convert to float. */
int py_int_to_double(const py_t *v, double *ret_d);
py_t *py_int_from_double(double d); /* finite, truncated */
/* Digits in a base from 2 to 36, lower case, '-' in front. 0, or -1 raised: too many digits. */
int py_int_text(buf_t *out, const py_t *v, int base);
uint64_t py_double_hash(double d);

/* &amp; &lt; &gt; &#34; &#39; */
void py_put_escaped(buf_t *out, const char *s, size_t len);
/* Text of a printed DebugUndefined. */
void py_undef_debug(buf_t *out, const py_t *v);
/* | & ^ - of two iterables as sets. */
py_t *py_set_binary(py_op_t op, py_t *a, py_t *b);

#define PY_TEXT(v)   (((const pystr_t *) (v))->text)
#define PY_CHARS(v)  (((pystr_t *) (v))->text)
#define PY_LEN(v)    (((const pystr_t *) (v))->len)
/* True when a str or bytes has marks, which is rare. */
#define PY_MARKED(v) __builtin_expect(((const pystr_t *) (v))->peer != NULL, 0)

#endif
