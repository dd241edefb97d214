/* txt.c - outputter `txt`: each line of text with the minion's id in front. */
#include "common/output/outputter.h"
#include "common/output/pytext.h"

bool
output_txt(json_t *data, const output_opts_t *opts, buf_t *out)
{
    if (json_is_string(data)) {
        output_str(out, data);
    } else if (!json_is_object(data)) {
        output_pformat(data, 1, out);
    } else {
        for (void *it = json_object_iter(data); it != NULL; it = json_object_iter_next(data, it)) {
            /* Appends "key: value", and for a text each line with the key before it, so that grep finds
             * whose line it is. */
            const char *key = json_object_iter_key(it);
            json_t *value = json_object_iter_value(it);
            const char *pos = json_string_value(value);
            const char *bound = colour_bound(opts->colour);
            pyline_t line;
            if (pos == NULL) {
                buf_printf(out, "%s%s: ", key, bound);
                size_t from = out->len;
                output_str(out, value);
                if (opts->tuple && json_is_array(value)) {
                    out->data[from] = '(';
                    out->data[out->len - 1] = ')';
                }
                buf_putc(out, '\n');
                continue;
            }
            for (const char *end = pos + json_string_length(value); pytext_line(&pos, end, &line);) {
                buf_printf(out, "%s%s: ", key, bound);
                buf_add(out, line.text, line.len);
                buf_putc(out, '\n');
            }
        }
    }
    return true;
}
