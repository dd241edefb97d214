/* salt_iter.c - Python's itertools as Salt's filters: zip, product, permutations, combinations. Results are
 * computed at once, within the render's limits of steps and memory, and returned as an iterator. */
#include "common/jinja/salt/salt_filter.h"

/* All arguments as lists. NEW list of lists. */
static py_t *
salt_iter_pools_of(const py_args_t *args, size_t from)
{
    AUTO(py) pools = py_list();
    for (size_t i = from; i < args->n; i++) {
        py_t *pool = py_tolist(args->v[i]);
        if (pool == NULL)
            return NULL;
        py_append_new(pools, pool);
    }
    return STEAL(pools);
}

/* Iterator of a list, which it TAKES; NULL stays NULL. */
static py_t *
salt_iter_told(py_t *list)
{
    AUTO(py) own = list;
    return own != NULL ? py_iter(own) : NULL;
}

/* Tuples of the pools' elements up to the shortest, or with `longest` filled up. */
static py_t *
zipped(py_t *pools, bool longest, py_t *fill)
{
    size_t n = py_seq_len(pools), len = 0;
    for (size_t i = 0; i < n; i++) {
        size_t have = py_seq_len(py_seq_at(pools, i));
        len = i == 0 || (longest ? have > len : have < len) ? have : len;
    }
    AUTO(py) out = py_list();
    for (size_t k = 0; k < len; k++) {
        AUTO(py) tuple = py_tuple(n);
        if (py_tick() < 0)
            return NULL;
        for (size_t i = 0; i < n; i++) {
            py_t *pool = py_seq_at(pools, i);
            py_tuple_set(tuple, i, k < py_seq_len(pool) ? py_seq_at(pool, k) : fill);
        }
        py_append(out, tuple);
    }
    return STEAL(out);
}

JFILTER(zip)
{
    AUTO(py) pools = salt_iter_pools_of(args, 0);
    return pools != NULL ? salt_iter_told(zipped(pools, false, PY_None)) : NULL;
}

/* Short sequences are filled up with `fillvalue`. */
JFILTER(zip_longest)
{
    AUTO(py) pools = salt_iter_pools_of(args, 0);
    py_t *fill = PY_None;
    for (size_t i = 0; i < args->nkw; i++) {
        if (!py_str_is(args->names[i], "fillvalue"))
            return py_raise(&py_TypeError, "zip_longest() got an unexpected keyword argument");
        fill = args->kwv[i];
    }
    return pools != NULL ? salt_iter_told(zipped(pools, true, fill)) : NULL;
}

/* The elements whose counterpart in the second sequence is true. */
JFILTER(compress)
{
    AUTO(py) data = py_tolist(a[0]);
    AUTO(py) chosen = data != NULL ? py_tolist(a[1]) : NULL;
    AUTO(py) out = py_list();
    for (size_t i = 0; chosen != NULL && i < py_seq_len(data) && i < py_seq_len(chosen); i++) {
        int truth = py_truth(py_seq_at(chosen, i));
        if (truth < 0)
            return NULL;
        if (truth > 0)
            py_append(out, py_seq_at(data, i));
    }
    return chosen != NULL ? salt_iter_told(STEAL(out)) : NULL;
}

/* ---- choices ------------------------------------------------------------------------------------------ */

typedef enum choice { CHOOSE_ANY, CHOOSE_ONCE, CHOOSE_RISING, CHOOSE_NOT_FALLING } choice_t;

/* State of itertools' products, permutations and combinations. */
typedef struct chooser {
    py_t *pools; /* one per place */
    size_t *at;
    size_t n;
    choice_t how;
    py_t *out;
} chooser_t;

/* True when the element `i` may stand at `place` after those chosen before. */
static bool
salt_iter_allowed(const chooser_t *c, size_t place, size_t i)
{
    if (place > 0 && c->how == CHOOSE_RISING && i <= c->at[place - 1])
        return false;
    if (place > 0 && c->how == CHOOSE_NOT_FALLING && i < c->at[place - 1])
        return false;
    for (size_t k = 0; c->how == CHOOSE_ONCE && k < place; k++)
        if (c->at[k] == i)
            return false;
    return true;
}

/* Chooses an element for each place in lexicographic order, recursively. */
static int
salt_iter_choose(chooser_t *c, size_t place)
{
    if (place == c->n) {
        /* Adds the current choice as a tuple. */
        AUTO(py) tuple = py_tuple(c->n);
        for (size_t k = 0; k < c->n; k++)
            py_tuple_set(tuple, k, py_seq_at(py_seq_at(c->pools, k), c->at[k]));
        py_append(c->out, tuple);
        return py_tick();
    }
    if (py_enter() < 0)
        return -1;
    size_t n = py_seq_len(py_seq_at(c->pools, place));
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < n; i++) {
        rc = py_tick();
        c->at[place] = i;
        if (rc == 0 && salt_iter_allowed(c, place, i))
            rc = salt_iter_choose(c, place + 1);
    }
    py_leave();
    return rc;
}

/* All ways to choose an element from each pool, as a list of tuples. NEW. */
static py_t *
choices(py_t *pools, choice_t how)
{
    chooser_t c = { pools, xcalloc(py_seq_len(pools) + 1, sizeof(size_t)), py_seq_len(pools), how,
                    py_list() };
    int rc = salt_iter_choose(&c, 0);
    free(c.at);
    if (rc == 0)
        return salt_iter_told(c.out);
    py_unref(c.out);
    return NULL;
}

/* Choices of `r` elements from one pool. */
static py_t *
choices_of(py_t *values, py_t *r, choice_t how)
{
    AUTO(py) pool = py_tolist(values);
    int64_t n;
    if (pool == NULL || jindex(r, (int64_t) py_seq_len(pool), &n) < 0)
        return NULL;
    if (n < 0)
        return py_raise(&py_ValueError, "r must be non-negative");
    AUTO(py) pools = py_list();
    if (how != CHOOSE_NOT_FALLING && n > (int64_t) py_seq_len(pool))
        return salt_iter_told(STEAL(pools));
    if (n > 1000)
        return py_raise(&py_LimitError, "more than 1000 elements in one choice");
    for (int64_t i = 0; i < n; i++)
        py_append(pools, pool);
    return choices(pools, how);
}

JFILTER(permutations)
{
    return choices_of(a[0], a[1] != NULL && py_is(a[1], PY_NONE) ? NULL : a[1], CHOOSE_ONCE);
}

JFILTER(combinations)
{
    return choices_of(a[0], a[1], CHOOSE_RISING);
}

JFILTER(combinations_with_replacement)
{
    return choices_of(a[0], a[1], CHOOSE_NOT_FALLING);
}

JFILTER(product)
{
    AUTO(py) pools = salt_iter_pools_of(args, 0);
    int64_t repeat = 1;
    for (size_t i = 0; i < args->nkw; i++)
        if (!py_str_is(args->names[i], "repeat") || jindex(args->kwv[i], 1, &repeat) < 0)
            return py_raise(&py_TypeError, "product() got an unexpected keyword argument");
    if (pools == NULL)
        return NULL;
    size_t n = py_seq_len(pools);
    if (repeat > 1000)
        return py_raise(&py_LimitError, "more than 1000 elements in one choice");
    AUTO(py) all = py_list();
    for (int64_t k = 0; k < repeat; k++)
        for (size_t i = 0; i < n; i++)
            py_append(all, py_seq_at(pools, i));
    return choices(all, CHOOSE_ANY);
}

static const jfilter_t rows[] = {
    { JROW("combinations", combinations, JP("iterable", "r"), 2, 2, 0), 0, "Each choice of r elements." },
    { JROW("combinations_with_replacement", combinations_with_replacement, JP("iterable", "r"), 2, 2, 0), 0,
      "The same with repetition." },
    { JROW("compress", compress, JP("data", "selectors"), 2, 2, 0), 0, "Elements whose selector is true." },
    { JROW("permutations", permutations, JP("iterable", "r"), 1, 2, 0), 0, "Each order of r elements." },
    { JROW("product", product, NULL, 1, 1, PY_SIG_STAR | PY_SIG_STARKW), 0,
      "Each tuple of one element of each." },
    { JROW("zip", zip, NULL, 1, 1, PY_SIG_STAR), 0, "Tuples of elements beside each other." },
    { JROW("zip_longest", zip_longest, NULL, 1, 1, PY_SIG_STAR | PY_SIG_STARKW), 0,
      "The same to the end of the longest." },
};

const jfilter_table_t jfilters_salt_iter = JTABLE(rows);
