/* order.c - the order in which low chunks run: Salt's order_chunks(). */
#include "common/base/str.h"
#include "common/state/high.h"

enum { ORDER_STEP = 100, ORDER_LAST = 1000000 };

static bool
is_number(const json_t *v)
{
    return json_is_number(v) || json_is_boolean(v); /* Python's bool is an int */
}

static double
number(const json_t *v)
{
    return json_is_boolean(v) ? json_is_true(v) : json_number_value(v);
}

/* What has no place of its own comes after the highest number given. */
static json_int_t
find_cap(const json_t *chunks)
{
    json_int_t cap = 1;
    json_t *chunk;
    size_t i;

    json_array_foreach (chunks, i, chunk) {
        const json_t *order = json_object_get(chunk, "order");
        json_int_t n = json_is_true(order) ? 1 : json_is_integer(order) ? json_integer_value(order) : 0;
        if (n > cap - 1 && n > 0)
            cap = n + ORDER_STEP;
    }
    return cap;
}

static void
number_chunk(json_t *chunk, json_int_t cap)
{
    json_t *order = json_object_get(chunk, "order");
    const json_t *nth;

    if (order == NULL) {
        json_object_set_new(chunk, "order", json_integer(cap));
        return;
    }
    if (!is_number(order)) {
        const char *word = json_string_value(order);
        json_int_t n = str_eq(word, "last") ? cap + ORDER_LAST : str_eq(word, "first") ? 0 : cap;
        json_object_set_new(chunk, "order", json_integer(n));
    }
    nth = json_object_get(chunk, "name_order");
    if (nth != NULL) {
        double at = number(json_object_get(chunk, "order")) + number(nth) / 10000.0;
        json_object_set_new(chunk, "order", json_real(at));
        json_object_del(chunk, "name_order");
    }
    order = json_object_get(chunk, "order");
    if (number(order) < 0)
        json_object_set_new(chunk, "order",
                            json_is_real(order) ? json_real((double) (cap + ORDER_LAST) + number(order))
                                                : json_integer(cap + ORDER_LAST + json_integer_value(order)));
}

typedef struct place {
    double order;
    size_t i;
    char *text;
    json_t *chunk;
} place_t;

static int
by_place(const void *pa, const void *pb)
{
    const place_t *a = pa, *b = pb;
    int by_text;

    if (a->order != b->order)
        return a->order < b->order ? -1 : 1;
    by_text = strcmp(a->text, b->text);
    return by_text != 0 ? by_text : a->i < b->i ? -1 : a->i > b->i;
}

static void
add_text(buf_t *out, const json_t *v)
{
    if (json_is_string(v)) {
        buf_add(out, json_string_value(v), json_string_length(v));
    } else {
        AUTO_FREE char *text = value_pystr(v);
        buf_puts(out, text);
    }
}

void
low_order(json_t *chunks)
{
    json_int_t cap = find_cap(chunks);
    size_t n = json_array_size(chunks), i;
    place_t *places = xcalloc(n + 1, sizeof *places);
    json_t *chunk;

    json_array_foreach (chunks, i, chunk) {
        buf_auto_t text = BUF_INIT;
        number_chunk(chunk, cap);
        add_text(&text, json_object_get(chunk, "state"));
        add_text(&text, json_object_get(chunk, "name"));
        add_text(&text, json_object_get(chunk, "fun"));
        places[i] = (place_t){ number(json_object_get(chunk, "order")), i, buf_steal(&text),
                               json_incref(chunk) };
    }
    qsort(places, n, sizeof *places, by_place);
    for (i = 0; i < n; i++) {
        json_array_set_new(chunks, i, places[i].chunk);
        free(places[i].text);
    }
    free(places);
}
