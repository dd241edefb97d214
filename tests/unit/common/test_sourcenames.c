/* test_sourcenames.c - misspelled names in external_auth and ext_pillar are told, users' own are not. */
#include "unit/unit.h"

#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/conf/sourcenames.h"

static void
test_names(void **state)
{
    char dir[] = "/tmp/halite-names-XXXXXX";

    assert_non_null(mkdtemp(dir));
    AUTO_FREE char *kind = fs_join(dir, "auth"), *file = fs_join(kind, "badge.py");
    assert_int_equal(fs_mkdirs(kind, 0700, NULL), 0);
    static const char text[] = "\"\"\"Cards.\"\"\"\n__virtualname__ = \"card\"\n";
    assert_int_equal(fs_write_atomic(file, text, strlen(text), 0600, NULL), 0);
    json_auto_t *opts = json_pack("{s:s, s:{s:{}, s:{}, s:{}, s:{}, s:{}}, s:[{s:s}, {s:s}, {s:s}]}",
                                  "extension_modules", dir, "external_auth", "pam", "pamm", "badge", "card",
                                  "car", "ext_pillar", "stack", "a", "stak", "b", "git", "c");
    json_auto_t *said = sourcenames_unknown(opts);
    assert_int_equal(json_array_size(said), 3);
    assert_string_equal(json_string_value(json_array_get(said, 0)),
                        "external_auth: there is no system 'pamm'; is 'pam' meant?");
    assert_string_equal(json_string_value(json_array_get(said, 1)),
                        "external_auth: there is no system 'car'");
    assert_string_equal(json_string_value(json_array_get(said, 2)),
                        "ext_pillar: there is no source 'stak'; is 'stack' meant?");
    json_auto_t *none = json_object(), *nothing = sourcenames_unknown(none);
    assert_int_equal(json_array_size(nothing), 0);
    assert_int_equal(unlink(file), 0);
    assert_int_equal(rmdir(kind), 0);
    assert_int_equal(rmdir(dir), 0);
}

UNIT_MAIN(cmocka_unit_test(test_names))
