/* test_bank.c - what a bank answers when there is nothing, and when it can't be read. */
#include "unit/unit.h"

#include <stdlib.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "runners/lib/bank.h"
#include "salt/value.h"

static int
setup(void **state)
{
    char *dir = xstrdup("/tmp/halite-bank-XXXXXX");

    assert_non_null(mkdtemp(dir));
    *state = dir;
    return 0;
}

static int
teardown(void **state)
{
    fs_remove_tree(*state, NULL);
    free(*state);
    return 0;
}

/* "VALUE", or "error: WHY". NEW. TAKES value. */
static char *
shown(json_t *value, const fail_t *err)
{
    char *text = value != NULL && err->code == 0
                     ? value_dump(value)
                     : xasprintf("%s: %s", value ? "both" : "error", fail_text(err));

    json_decref(value);
    return text;
}

#define assert_answer(call, expected)                                                                        \
    do {                                                                                                     \
        fail_auto_t failure_ = FAIL_INIT;                                                                    \
        fail_t *err = &failure_;                                                                             \
        json_t *value_ = call;                                                                               \
        AUTO_FREE char *text_ = shown(value_, err);                                                          \
        assert_string_equal(text_, expected);                                                                \
    } while (0)

static void
test_values(void **state)
{
    const char *dir = *state;
    json_auto_t *data = json_pack("{s:i}", "a", 1);

    assert_answer(bank_fetch(dir, "b", "k", err), "{}");
    assert_answer(bank_list(dir, "b", err), "[]");
    assert_int_equal(bank_store(dir, "b", "k", data, NULL), 0);
    assert_int_equal(bank_store(dir, "b/inner", "k", data, NULL), 0);
    assert_answer(bank_fetch(dir, "b", "k", err), "{\"a\":1}");
    assert_answer(bank_list(dir, "b", err), "[\"inner\",\"k\"]");
    assert_answer(bank_list(dir, "b/k.json", err), "[]");
}

static void
test_no_cachedir(void **state)
{
    AUTO_FREE char *none = fs_join(*state, "none");
    AUTO_FREE char *expected = xasprintf("error: %s: No such file or directory", none);

    assert_answer(bank_fetch(none, "b", "k", err), expected);
    assert_answer(bank_list(none, "b", err), expected);
}

/* A bank that can't be opened is not an empty one. */
static void
test_link_in_the_way(void **state)
{
    AUTO_FREE char *banks = fs_join(*state, "banks"), *link = fs_join(banks, "b");
    AUTO_FREE char *why = xasprintf("error: %s: Too many levels of symbolic links", link);
    AUTO_FREE char *why_key = xasprintf("error: %s/k.json: Too many levels of symbolic links", link);

    assert_int_equal(fs_mkdirs(banks, 0700, NULL), 0);
    assert_int_equal(symlink("/", link), 0);
    assert_answer(bank_list(*state, "b", err), why);
    assert_answer(bank_fetch(*state, "b", "k", err), why_key);
}

UNIT_MAIN(cmocka_unit_test_setup_teardown(test_values, setup, teardown),
          cmocka_unit_test_setup_teardown(test_no_cachedir, setup, teardown),
          cmocka_unit_test_setup_teardown(test_link_in_the_way, setup, teardown))
