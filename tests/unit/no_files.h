/* no_files.h - a time in which this process can open nothing: -EMFILE, for root too. */
#ifndef TESTS_UNIT_NO_FILES_H
#define TESTS_UNIT_NO_FILES_H

#include <sys/resource.h>

#include "unit/unit.h"

static struct rlimit no_files_was;

static inline void
no_files_begin(void)
{
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &no_files_was), 0);
    struct rlimit none = { 0, no_files_was.rlim_max };
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
}

static inline void
no_files_end(void)
{
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &no_files_was), 0);
}

#endif
