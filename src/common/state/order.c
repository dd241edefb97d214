/* order.c - number and sort low chunks: Salt's order_chunks().
 *
 * Chunks without an order come after the highest number given; `first` is 0, `last` and negative numbers
 * count from the end. `names` adds a fraction. Ties go by module, name and function, as Salt's sort key does,
 * and then by position. O(n log n). */
#include "common/base/str.h"
#include "common/state/high.h"

/* Salt's constants: the gap behind the highest order, and the offset of `last`. */
enum { ORDER_STEP = 100, ORDER_LAST = 1000000 };

static double
order_number(const json_t *v)
{
    return json_is_boolean(v) ? json_is_true(v) : json_number_value(v);
}

/* Turns `order` into a number. "first" is 0, "last" and negative numbers count from behind all others, and a
 * state without one gets `cap`. States of one `names` list keep their order by a fraction. */
static void
number_chunk(json_t *chunk, json_int_t cap)
{
    json_t *order = json_object_get(chunk, "order");
    const json_t *nth;

    if (order == NULL) {
        json_object_set_new(chunk, "order", json_integer(cap));
        return;
    }

    /* Python's bool is an int */
    if (!json_is_number(order) && !json_is_boolean(order)) {
        const char *word = json_string_value(order);
        json_int_t n = str_eq(word, "last") ? cap + ORDER_LAST : str_eq(word, "first") ? 0 : cap;
        json_object_set_new(chunk, "order", json_integer(n));
    }

    nth = json_object_get(chunk, "name_order");
    if (nth != NULL) {
        double at = order_number(json_object_get(chunk, "order")) + order_number(nth) / 10000.0;
        json_object_set_new(chunk, "order", json_real(at));
        json_object_del(chunk, "name_order");
    }
    order = json_object_get(chunk, "order");
    if (order_number(order) < 0)
        json_object_set_new(chunk, "order",
                            json_is_real(order) ? json_real((double) (cap + ORDER_LAST) + order_number(order))
                                                : json_integer(cap + ORDER_LAST + json_integer_value(order)));
}

typedef struct place {
    double order;
    size_t i;
    char *text;
    json_t *chunk;
} place_t;

static int
order_by_order(const void *pa, const void *pb)
{
    const place_t *a = pa, *b = pb;

    if (a->order != b->order)
        return a->order < b->order ? -1 : 1;
    return a->i < b->i ? -1 : a->i > b->i;
}

static int
by_text(const void *pa, const void *pb)
{
    const place_t *a = pa, *b = pb;
    int by_words = strcmp(a->text, b->text);

    return by_words != 0 ? by_words : a->i < b->i ? -1 : a->i > b->i;
}

static void
order_add_text(buf_t *out, const json_t *v)
{
    if (json_is_string(v)) {
        buf_add(out, json_string_value(v), json_string_length(v));
    } else {
        AUTO_FREE char *text = value_pystr(v);
        buf_puts(out, text);
    }
}

/* Sort chunks of the same order by module, name and function. The keys are made only for ties. */
static void
sort_ties(place_t *places, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        buf_auto_t text = BUF_INIT;
        order_add_text(&text, json_object_get(places[i].chunk, "state"));
        order_add_text(&text, json_object_get(places[i].chunk, "name"));
        order_add_text(&text, json_object_get(places[i].chunk, "fun"));
        places[i].text = buf_steal(&text);
    }
    qsort(places, n, sizeof *places, by_text);
    for (size_t i = 0; i < n; i++)
        free(places[i].text);
}

void
low_order(json_t *chunks)
{
    json_int_t cap = 1;
    size_t n = json_array_size(chunks), i;
    place_t *places = xcalloc(n + 1, sizeof *places);
    json_t *chunk;

    /* Chunks that have no order come behind the highest number given. True counts as 1, as in Python. */
    json_array_foreach (chunks, i, chunk) {
        const json_t *order = json_object_get(chunk, "order");
        json_int_t given = json_is_true(order) ? 1 : json_is_integer(order) ? json_integer_value(order) : 0;
        if (given > cap - 1 && given > 0)
            cap = given + ORDER_STEP;
    }
    json_array_foreach (chunks, i, chunk) {
        number_chunk(chunk, cap);
        places[i] = (place_t){ order_number(json_object_get(chunk, "order")), i, NULL, json_incref(chunk) };
    }
    qsort(places, n, sizeof *places, order_by_order);
    for (size_t from = 0, to; from < n; from = to) {
        for (to = from + 1; to < n && places[to].order <= places[from].order; to++)
            ;
        if (to - from > 1)
            sort_ties(places + from, to - from);
    }
    for (i = 0; i < n; i++)
        json_array_set_new(chunks, i, places[i].chunk);
    free(places);
}
