/* outputter.c - helpers that several outputters share: sorted members, str(). */
#include "common/output/outputter.h"

#include "common/output/values.h"

static int
by_key(const void *a, const void *b)
{
    const output_pair_t *x = a, *y = b;

    /* Bytes of UTF-8 sort as code points do. */
    return strcmp(x->key, y->key);
}

output_pair_t *
output_sorted(json_t *object)
{
    size_t n = json_object_size(object), i = 0;
    bool in_order = true;

    if (n == 0)
        return NULL;
    output_pair_t *pairs = xcalloc(n, sizeof(*pairs));
    for (void *it = json_object_iter(object); it != NULL; it = json_object_iter_next(object, it)) {
        pairs[i] = (output_pair_t){ json_object_iter_key(it), json_object_iter_value(it) };
        in_order = in_order && (i == 0 || by_key(&pairs[i - 1], &pairs[i]) <= 0);
        i++;
    }
    if (!in_order)
        qsort(pairs, n, sizeof(*pairs), by_key);
    return pairs;
}

void
output_str(buf_t *out, const json_t *value)
{
    if (json_is_string(value)) {
        buf_add(out, json_string_value(value), json_string_length(value));
        return;
    }
    if (output_has_kinds((json_t *) value) && output_kind_str(out, value))
        return;
    AUTO_FREE char *text = value_pystr(value);
    buf_puts(out, text);
}
