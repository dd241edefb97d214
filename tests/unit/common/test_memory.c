/* test_memory.c - a process that rests is smaller, and works as before. */
#include "common/base/memory.h"

#include "common/base/str.h"
#include "unit/unit.h"

/* Kilobytes of files' pages that this process has mapped. */
static long
mapped_kb(void)
{
    FILE *f = fopen("/proc/self/status", "re");
    char line[256];
    long kb = -1;

    assert_non_null(f);
    while (kb < 0 && fgets(line, sizeof(line), f))
        if (strncmp(line, "RssFile:", 8) == 0)
            kb = strtol(line + 8, NULL, 10);
    (void) fclose(f);
    return kb;
}

static void
test_rest(void **state)
{
    AUTO_FREE char *text = xstrdup("kept");
    long before = mapped_kb();

    (void) state;
    for (int i = 0; i < 3; i++) {
        memory_rest();
        assert_in_range(mapped_kb(), 1, before - 1);
        assert_string_equal(text, "kept");
    }
}

UNIT_MAIN(cmocka_unit_test(test_rest))
