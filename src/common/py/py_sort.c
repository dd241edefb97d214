/* py_sort.c - list.sort: a stable merge sort of (key, item) pairs with runs of 64 found and extended by
 * binary insertion, like the beginning of CPython's timsort, so that for short lists the same pair raises
 * first. Only `<` is used. */
#include "common/py/py_as.h"

/* Parts up to this length are sorted by insertion. */
enum { RUN = 64 };

/* An item and what it is sorted by, which is the item itself without a key function. */
typedef struct pair {
    py_t *key, *item;
} pair_t;

/* State of a sort; `spare` has room for as many pairs, for merging. */
typedef struct sorter {
    pair_t *v, *spare;
    bool failed;
} sorter_t;

/* Counts a step. After a failure nothing is less than anything, so that the sort comes to its end. */
static bool
less(sorter_t *s, const pair_t *a, const pair_t *b)
{
    int rc = s->failed ? 0 : py_compare(a->key, b->key, PY_LT);

    if (rc < 0 || py_tick() < 0)
        s->failed = true;
    return rc > 0;
}

static void
py_sort_reverse(pair_t *v, size_t n)
{
    for (size_t i = 0; i < n / 2; i++) {
        pair_t t = v[i];
        v[i] = v[n - 1 - i];
        v[n - 1 - i] = t;
    }
}

/* Length of the run at the start of v[0..n): ascending, or strictly descending and then reversed. */
static size_t
py_sort_find_run(sorter_t *s, pair_t *v, size_t n)
{
    size_t len = 2;

    if (n < 2)
        return n;
    if (!less(s, &v[1], &v[0])) {
        while (len < n && !less(s, &v[len], &v[len - 1]))
            len++;
        return len;
    }
    while (len < n && less(s, &v[len], &v[len - 1]))
        len++;
    py_sort_reverse(v, len);
    return len;
}

/* Merge sort; short parts by insertion, after the run that they begin with. */
static void
sort_part(sorter_t *s, size_t from, size_t to)
{
    if (to - from <= RUN) {
        size_t run = py_sort_find_run(s, s->v + from, to - from);

        /* Binary insertion of v[sorted..n) into the sorted part. */
        pair_t *v = s->v + from;
        size_t n = to - from;
        for (; run < n; run++) {
            pair_t pivot = v[run];
            size_t lo = 0, hi = run;
            while (lo < hi) {
                size_t mid = lo + (hi - lo) / 2;
                if (less(s, &pivot, &v[mid]))
                    hi = mid;
                else
                    lo = mid + 1;
            }
            memmove(v + lo + 1, v + lo, (run - lo) * sizeof(*v));
            v[lo] = pivot;
        }

        return;
    }
    size_t middle = from + (to - from) / 2;
    sort_part(s, from, middle);
    sort_part(s, middle, to);
    if (less(s, &s->v[middle], &s->v[middle - 1])) {
        /* Takes from the right part only if its item is less: the sort is stable. */
        size_t i = from, j = middle, n = 0;

        while (i < middle && j < to)
            s->spare[n++] = less(s, &s->v[j], &s->v[i]) ? s->v[j++] : s->v[i++];
        memcpy(s->spare + n, s->v + i, (middle - i) * sizeof(*s->v));
        n += middle - i;
        memcpy(s->v + from, s->spare, n * sizeof(*s->v));
    }
}

/* As CPython, `reverse` reverses before and after sorting, which keeps stability. */
int
py_sort(py_t *list, py_t *keys, bool reversed)
{
    pylist_t *l = py_as_list(list);
    size_t n = l->n;
    sorter_t s = { .failed = false };

    if (n < 2)
        return 0;
    if (py_room(2 * n * sizeof(pair_t)) < 0)
        return -1;
    s.v = py_alloc(n * sizeof(pair_t));
    s.spare = py_alloc(n * sizeof(pair_t));
    for (size_t i = 0; i < n; i++)
        s.v[i] = (pair_t){ keys != NULL ? py_seq_at(keys, i) : l->v[i], l->v[i] };
    if (reversed)
        py_sort_reverse(s.v, n);
    sort_part(&s, 0, n);
    if (reversed)
        py_sort_reverse(s.v, n);
    salt_assert(l->n == n); /* comparisons cannot change the list */
    for (size_t i = 0; i < n; i++)
        l->v[i] = s.v[i].item;
    py_release(s.v, n * sizeof(pair_t));
    py_release(s.spare, n * sizeof(pair_t));
    return s.failed ? -1 : 0;
}
