/* newline_values_only.c - outputter of that name: the values without the minions' ids, one a line. */
#include "common/output/outputter.h"

static void
add_value(buf_t *out, size_t *n, const json_t *value)
{
    if ((*n)++ > 0)
        buf_putc(out, '\n');
    output_str(out, value);
}

bool
output_newline_values_only(json_t *data, const output_opts_t *opts, buf_t *out)
{
    size_t n = 0, i;
    json_t *element;

    if (!json_is_object(data))
        return false;
    for (void *it = json_object_iter(data); it != NULL; it = json_object_iter_next(data, it)) {
        json_t *value = json_object_iter_value(it);
        if (!json_is_array(value))
            add_value(out, &n, value);
        json_array_foreach (value, i, element)
            add_value(out, &n, element);
    }
    return true;
}
