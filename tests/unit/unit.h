/* unit.h - one main() for every unit test program: TAP output, --list, --run NAME. */
#ifndef TESTS_UNIT_H
#define TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "salt/base.h"

static inline bool
unit_below_memcheck(void)
{
    const char *checked_by = getenv("SAN");
    return checked_by && strcmp(checked_by, "valgrind") == 0;
}

/* Sanitizers and memcheck have memory of their own, which a limit would be one on and a search would find. */
#define SKIP_CHECKED()                                                                                       \
    do {                                                                                                     \
        if (SANITIZED || unit_below_memcheck())                                                              \
            skip();                                                                                          \
    } while (0)

/* UNIT_MAIN(cmocka_unit_test(test_a), cmocka_unit_test(test_b)) */
#define UNIT_MAIN(...)                                                                                       \
    int main(int argc, char **argv)                                                                          \
    {                                                                                                        \
        const struct CMUnitTest tests[] = { __VA_ARGS__ };                                                   \
        if (argc == 2 && strcmp(argv[1], "--list") == 0) {                                                   \
            for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)                                    \
                puts(tests[i].name);                                                                         \
            return 0;                                                                                        \
        }                                                                                                    \
        if (argc == 3 && strcmp(argv[1], "--run") == 0)                                                      \
            cmocka_set_test_filter(argv[2]);                                                                 \
        cmocka_set_message_output(CM_OUTPUT_TAP);                                                            \
        return cmocka_run_group_tests(tests, NULL, NULL);                                                    \
    }

#endif
