/* test_binary.c - which files are copied as they are though a template was asked for; answers are Salt 3006's. */
#include "unit/unit.h"

#include "common/base/binary.h"

static void
test_no_template(void **state)
{
    static const struct {
        const char *start;
        int len, filled; /* bytes of `start`, and how many of `with` go before it */
        char with;
        bool binary;
    } rows[] = {
        { "\260x{{ y", 6, 0, 0, true },
        { "plain {{ x }}", 13, 0, 0, false },
        { "", 0, 0, 0, false },
        { "\0{{ x }}", 8, 0, 0, false }, /* UTF-8, NUL or not, is a template */
        { "\377", 1, 3000, 'a', false }, /* what begins as text is an error of the template */
        { "\377", 1, 3000, '\1', true },
        { "\303\244\377", 3, 2047, 'a', true },
        { "\303\244\377", 3, 2046, 'a', false },
    };

    for (size_t i = 0; i < NELEMS(rows); i++) {
        char bytes[4096];
        memset(bytes, rows[i].with, (size_t) rows[i].filled);
        memcpy(bytes + rows[i].filled, rows[i].start, (size_t) rows[i].len);
        if (binary_no_template(bytes, (size_t) (rows[i].filled + rows[i].len)) != rows[i].binary)
            fail_msg("row %zu", i);
    }
}

UNIT_MAIN(cmocka_unit_test(test_no_template))
