/* no_return.c - outputter `no_return`: minions that did not answer, and why. */
#include "common/output/outputter.h"

#include "common/output/pytext.h"

/* Appends a text, or a dict with each value below its key. */
static void
no_return_show(json_t *v, const output_opts_t *opts, int indent, buf_t *out)
{
    if (json_is_string(v)) {
        /* Appends each line of a text in red, with its own colour codes, as Salt does. */
        const char *p = json_string_value(v), *end = p + json_string_length(v);
        for (;;) {
            const char *nl = memchr(p, '\n', (size_t) (end - p));
            const char *stop = nl != NULL ? nl : end;
            buf_puts(out, colour_code(COLOUR_RED, opts->colour));
            buf_fill(out, ' ', (size_t) indent);
            pytext_add_safe(out, p, (size_t) (stop - p));
            buf_puts(out, colour_code(COLOUR_ENDC, opts->colour));
            buf_putc(out, '\n');
            if (nl == NULL)
                return;
            p = nl + 1;
        }

        return;
    }
    AUTO_FREE output_pair_t *pairs = output_sorted(v);
    for (size_t i = 0; i < json_object_size(v); i++) {
        buf_puts(out, colour_code(COLOUR_CYAN, opts->colour));
        buf_fill(out, ' ', (size_t) indent);
        pytext_add_safe(out, pairs[i].key, strlen(pairs[i].key));
        buf_puts(out, colour_code(COLOUR_ENDC, opts->colour));
        buf_puts(out, ":\n");
        no_return_show(pairs[i].value, opts, indent + 4, out);
    }
}

bool
output_no_return(json_t *data, const output_opts_t *opts, buf_t *out)
{
    no_return_show(data, opts, 0, out);
    return true;
}
