/* test_mysqltext.c - names, privileges and grants of MySQL's SQL: nothing that a name or a privilege holds ends the place
 * that it stands in. */
#include "unit/unit.h"

#include "plugins/lib/database/mysqltext.h"

static void
test_names(void **state)
{
    static const char *const rows[][2] = {
        { "a", "`a`" },
        { "a`b", "`a``b`" },
        { "`; DROP TABLE x; --", "```; DROP TABLE x; --`" },
        { "", "``" },
    };

    for (size_t i = 0; i < NELEMS(rows); i++) {
        buf_auto_t sql = BUF_INIT;
        mysqltext_name(&sql, rows[i][0]);
        assert_string_equal(buf_str(&sql), rows[i][1]);
    }
}

static void
test_objects(void **state)
{
    static const struct {
        const char *database;
        bool escape;
        const char *want; /* NULL: refused */
    } rows[] = {
        { "a_b.*", true, "`a\\_b`.*" },
        { "a_b.t_x", true, "`a_b`.`t_x`" },
        { "*.*", true, "*.*" },
        { "a.b`; x.*", true, "`a.b``; x`.*" },
        { "`a_b`.*", false, "`a_b`.*" },
        { "a.b", false, "a.b" },
        { "a.* TO x@y; --", false, NULL },
        { "`a.*", false, NULL },
        { "a.b'", false, NULL },
    };

    for (size_t i = 0; i < NELEMS(rows); i++) {
        fail_auto_t err = FAIL_INIT;
        AUTO_FREE char *got = mysqltext_object(rows[i].database, rows[i].escape, &err);
        if (rows[i].want == NULL)
            assert_null(got);
        else
            assert_string_equal(got, rows[i].want);
    }
}

static void
test_privileges(void **state)
{
    static const char *const rows[][2] = {
        { "select", "SELECT" },
        { " select ,\tinsert", "SELECT, INSERT" },
        { "all", "ALL PRIVILEGES" },
        { "lock  tables", "LOCK TABLES" },
        { "select(a, `b`),update", "SELECT (`a`, `b`), UPDATE" },
        { "select(a`) ON x)", NULL },
        { "select; drop table x", NULL },
        { "select`", NULL },
        { "nosuch", NULL },
        { "", "" },
    };

    for (size_t i = 0; i < NELEMS(rows); i++) {
        fail_auto_t err = FAIL_INIT;
        AUTO_FREE char *got = mysqltext_privileges(rows[i][0], &err);
        if (rows[i][1] == NULL)
            assert_null(got);
        else
            assert_string_equal(got, rows[i][1]);
    }
}

static void
test_require(void **state)
{
    fail_auto_t err = FAIL_INIT;
    json_auto_t *options = json_pack("[{s:b}, {s:b}, {s:s}]", "SSL", 1, "X509", 0, "subject", "/CN='x\\");
    json_auto_t *odd = json_pack("[{s:b}]", "nosuch", 1), *none = json_false();
    AUTO_FREE char *got = mysqltext_require(options, &err), *empty = mysqltext_require(none, &err);

    assert_string_equal(got, " REQUIRE SSL AND SUBJECT '/CN=x'");
    assert_string_equal(empty, "");
    assert_null(mysqltext_require(odd, &err));
    assert_string_equal(fail_text(&err), "Invalid SSL option : 'nosuch'");
}

static bool
covers(const char *granted, const char *wanted)
{
    json_auto_t *have = json_array(), *want = mysqltext_tokens(wanted);

    json_array_append_new(have, mysqltext_tokens(granted));
    return mysqltext_covers(have, want);
}

static void
test_covers(void **state)
{
    static const char granted[] = "GRANT SELECT, INSERT (`a`) ON `d\\_b`.* TO `u`@`h`";

    assert_true(covers(granted, "GRANT select ON `d_b`.* TO `u`@`h`"));
    assert_true(covers(granted, "GRANT INSERT (A) ON `d_b`.* TO `u`@`h`"));
    assert_false(covers(granted, "GRANT UPDATE ON `d_b`.* TO `u`@`h`"));
    assert_false(covers(granted, "GRANT SELECT ON `other`.* TO `u`@`h`"));
    assert_false(covers(granted, "GRANT SELECT ON `d_b`.* TO `u`@`%`"));
    assert_false(covers("GRANT `role` TO `u`@`h`", "GRANT SELECT ON `d_b`.* TO `u`@`h`"));
    assert_false(covers("", "GRANT SELECT ON `d_b`.* TO `u`@`h`"));
    assert_false(covers("GRANT 'open", "GRANT SELECT ON `d_b`.* TO `u`@`h`"));
}

static void
test_versions(void **state)
{
    assert_true(mysqltext_version("10.11.19-MariaDB-0+deb12u1", 10, 4, 0) > 0);
    assert_true(mysqltext_version("10.4.0-MariaDB", 10, 4, 0) == 0);
    assert_true(mysqltext_version("8.0.4", 8, 0, 11) < 0);
    assert_true(mysqltext_version("", 8, 0, 11) < 0);

    json_auto_t *list = json_pack("[s, s]", "REPLICATION CLIENT", "REPLICA MONITOR");
    json_auto_t *same = json_copy(list), *renamed = json_pack("[s, s]", "BINLOG MONITOR", "REPLICA MONITOR");
    mysqltext_aliases(list, "8.0.36");
    assert_true(json_equal(list, same));
    mysqltext_aliases(list, "10.5.8-MariaDB");
    assert_true(json_equal(list, renamed));
}

static void
test_hash(void **state)
{
    AUTO_FREE char *hash = mysqltext_native_hash("mypass");

    assert_string_equal(hash, "*6C8989366EAF75BB670AD8EA7A7FC1176A95CEF4"); /* of MySQL's manual */
}

static void
test_statements(void **state)
{
    json_auto_t *got = mysqltext_statements(
                    "-- a; comment\nSELECT ';' /* x; y */ FROM\n t; # more;\nINSERT `a;b`;;\n x"),
                *want = json_pack("[s, s, s]", "SELECT ';'   FROM\n t", "INSERT `a;b`", "x");

    assert_true(json_equal(got, want));
}

UNIT_MAIN(cmocka_unit_test(test_names), cmocka_unit_test(test_objects), cmocka_unit_test(test_privileges),
          cmocka_unit_test(test_require), cmocka_unit_test(test_covers), cmocka_unit_test(test_versions),
          cmocka_unit_test(test_hash), cmocka_unit_test(test_statements))
