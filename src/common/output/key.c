/* key.c - outputter `key`: keys by state, as salt-key shows them. An unknown state makes it fall back to
 * `nested`. */
#include "common/base/str.h"
#include "common/output/outputter.h"
#include "common/output/pytext.h"
#include "salt/value.h"

typedef struct section {
    const char *status;
    const char *headline;
    colour_t head, key;
} section_t;

static const section_t sections[] = {
    { "local", "Local Keys:", COLOUR_LIGHT_MAGENTA, COLOUR_MAGENTA },
    { "minions", "Accepted Keys:", COLOUR_LIGHT_GREEN, COLOUR_GREEN },
    { "minions_denied", "Denied Keys:", COLOUR_LIGHT_MAGENTA, COLOUR_MAGENTA },
    { "minions_pre", "Unaccepted Keys:", COLOUR_LIGHT_RED, COLOUR_RED },
    { "minions_rejected", "Rejected Keys:", COLOUR_LIGHT_BLUE, COLOUR_BLUE },
    { "minions_unfit", "Refused, As Their Names Are No Ids:", COLOUR_LIGHT_MAGENTA, COLOUR_MAGENTA },
};

/* {state: [id, ...]} as a list of keys has it, or {state: {id: fingerprint}} as -f and -p have it; states
 * come in the order of their names. */
bool
output_key(json_t *data, const output_opts_t *opts, buf_t *out)
{
    AUTO_FREE output_pair_t *pairs = output_sorted(data);

    if (!json_is_object(data))
        return false;
    for (size_t i = 0; i < json_object_size(data); i++) {
        const section_t *s = NULL;
        for (size_t k = 0; k < NELEMS(sections); k++)
            if (str_eq(pairs[i].key, sections[k].status))
                s = &sections[k];
        if (s == NULL)
            return false;
        colour_add(out, s->head, opts->colour, s->headline);
        buf_putc(out, '\n');
        if (json_is_object(pairs[i].value)) {
            /* Show {id: fingerprint or key}. */
            json_t *keys = pairs[i].value;
            AUTO_FREE output_pair_t *rows = output_sorted(keys);
            for (size_t j = 0; j < json_object_size(keys); j++) {
                buf_puts(out, colour_code(s->key, opts->colour));
                pytext_add_safe(out, rows[j].key, strlen(rows[j].key));
                buf_printf(out, "%s:  ", colour_bound(opts->colour));
                output_str(out, rows[j].value);
                buf_puts(out, colour_code(COLOUR_ENDC, opts->colour));
                buf_putc(out, '\n');
            }
        } else {
            /* Show a list of ids, sorted. False when one is not text. */
            json_auto_t *sorted = value_sorted_texts(pairs[i].value);
            json_t *id;
            size_t k;
            if (!json_is_array(pairs[i].value) || json_array_size(sorted) != json_array_size(pairs[i].value))
                return false;
            json_array_foreach (sorted, k, id) {
                buf_puts(out, colour_code(s->key, opts->colour));
                pytext_add_safe(out, json_string_value(id), json_string_length(id));
                buf_puts(out, colour_code(COLOUR_ENDC, opts->colour));
                buf_putc(out, '\n');
            }
        }
    }
    return true;
}
