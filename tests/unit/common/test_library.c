/* test_library.c - shared libraries by the symbols wanted of them. */
#include "unit/unit.h"

#include <dlfcn.h>

#include "common/host/library.h"

typedef struct maths {
    double (*cos)(double x);
    double (*sin)(double x);
} maths_t;

static const library_symbol_t wanted[] = { { "cos", offsetof(maths_t, cos) },
                                           { "sin", offsetof(maths_t, sin) } };
static const library_symbol_t lacking[] = { { "cos", offsetof(maths_t, cos) },
                                            { "cosines", offsetof(maths_t, sin) } };

static void
test_first_that_has_all(void **state)
{
    const char *const names[] = { "libnosuch.so.1", "libdl.so.2", "libm.so.6", NULL };
    fail_auto_t err = FAIL_INIT;
    maths_t maths = { 0 };
    void *library = library_open(names, wanted, NELEMS(wanted), &maths, &err);

    assert_non_null(library);
    assert_int_equal(err.code, 0);
    assert_true(maths.cos(0) > 0.999 && maths.sin(0) < 0.001);
    assert_int_equal(dlclose(library), 0);
}

static void
test_none(void **state)
{
    const char *const absent[] = { "libnosuch.so.1", NULL }, *const old[] = { "libnosuch.so.1", "libm.so.6",
                                                                              NULL };
    fail_auto_t gone = FAIL_INIT, lacks = FAIL_INIT;
    maths_t maths;

    assert_null(library_open(absent, wanted, NELEMS(wanted), &maths, &gone));
    assert_int_equal(gone.code, -ENOENT);
    assert_non_null(strstr(fail_text(&gone), "libnosuch.so.1: cannot open shared object file"));
    assert_null(library_open(old, lacking, NELEMS(lacking), &maths, &lacks));
    assert_string_equal(fail_text(&lacks), "libm.so.6 has no cosines");
    assert_null(library_open(absent, wanted, NELEMS(wanted), &maths, NULL));
}

UNIT_MAIN(cmocka_unit_test(test_first_that_has_all), cmocka_unit_test(test_none))
