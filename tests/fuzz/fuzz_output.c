/* fuzz_output.c - every outputter over arbitrary JSON. The first two bytes choose options, the rest is the
 * data. The text must be the same twice, and the data unchanged.
 */
#include "common/output/output.h"
#include "salt/limits.h"
#include "salt/value.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_INPUT = 64 * 1024, FIRST_INDENT = -2 };

/* Sets the options from the bits. */
static void
choose(output_opts_t *opts, unsigned bits)
{
    static const char *const modes[] = {
        NULL, "full", "terse", "mixed", "changes", "filter", "terse_id", "x"
    };

    opts->colour = (bits & 1) != 0 ? PAINT_PLAIN : PAINT_NONE;
    opts->state_verbose = bits & 2;
    opts->state_tabular = bits & 4;
    opts->state_compress_ids = bits & 8;
    opts->state_output_profile = bits & 16;
    opts->state_output_diff = bits & 32;
    opts->state_output_pct = bits & 64;
    opts->strip_colors = bits & 128;
    opts->state_output = modes[bits >> 8 & 7];
    opts->retcode = (int) (bits >> 11 & 1);
    if ((bits >> 12) != 0)
        opts->indent = FIRST_INDENT + (int) (bits >> 12);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *const *names = output_names();

    if (size < 2 || size > MAX_INPUT)
        return 0;
    json_auto_t *value = value_parse((const char *) data + 2, size - 2, MAX_INPUT, "input", NULL);
    if (value == NULL)
        return 0;
    json_auto_t *copy = json_deep_copy(value);
    for (size_t i = 0; names[i] != NULL; i++) {
        output_opts_t opts = OUTPUT_OPTS_INIT;
        buf_auto_t out = BUF_INIT, again = BUF_INIT;
        choose(&opts, data[0] | (unsigned) data[1] << 8);
        opts.exclude = opts.terse = value_get(value, "filter");
        opts.out = names[i];
        output_format(value, &opts, &out);
        output_format(copy, &opts, &again);
        salt_assert(out.len == again.len && memcmp(buf_str(&out), buf_str(&again), out.len) == 0);
        /* The text may hold a NUL of a value, which Salt prints too; it still ends with one. */
        salt_assert(buf_str(&out)[out.len] == '\0');
    }
    salt_assert(json_equal(value, copy));
    return 0;
}
