/* test_htpasswd.c - passwords of Apache's files, with hashes that openssl passwd and Python's crypt made, and the system `file`. */
#include <unistd.h>

#include "auth/system.h"
#include "unit/unit.h"

static void
test_hashes(void **state)
{
    static const struct {
        const char *password, *hash;
        bool right;
    } cases[] = {
        { "password", "$apr1$8Salt.xx$5GkzoSHCf9oOiLJ1Lgde9.", true },
        { "Password", "$apr1$8Salt.xx$5GkzoSHCf9oOiLJ1Lgde9.", false },
        { "", "$apr1$8Salt.xx$FpZ2iqGnDW/TNADkacorp0", true },
        { "a", "$apr1$8Salt.xx$7gtylzMR/qy/3tix1GcWO.", true },
        { "a very long password of more than sixteen letters", "$apr1$8Salt.xx$4EjkUP8/6OwWt1vA9kJfS0",
          true },
        { "password", "$apr1$ab$vZXhMKiOqO1yMl8FLQFrs0", true },
        { "password", "$apr1$", false },
        { "password", "$apr1$$", false },
        { "password", "$1$abcdefgh$G//4keteveJp0qb8z2DxG/", true },
        { "password", "$5$abcdefgh$ZLdkj8mkc2XVSrPVjskDAgZPGjtj1VGVaa1aUkrMTU/", true },
        { "password",
          "$6$abcdefgh$yVfUwsw5T.JApa8POvClA1pQ5peiq97DUNyXCZN5IrF.BMSkiaLQ5kvpuEm/VQ1Tvh/KV2TcaWh8qinoW5dhA1",
          true },
        { "passwore",
          "$6$abcdefgh$yVfUwsw5T.JApa8POvClA1pQ5peiq97DUNyXCZN5IrF.BMSkiaLQ5kvpuEm/VQ1Tvh/KV2TcaWh8qinoW5dhA1",
          false },
        { "password", "$2b$05$abcdefghijklmnopqrstuuWG29KuyeAicPCJODk1zjyGvyQUU2awu", true },
        { "password", "abJnggxhB/yWI", true },
        { "password", "{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=", true },
        { "passwords", "{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=", false },
        { "password", "{SHA}", false },
        { "password", "password", false },
        { "password", "", false },
        { "", "", false },
        { "*0", "*0", false },
        { "x", "!", false },
    };

    for (size_t i = 0; i < NELEMS(cases); i++)
        if (htpasswd_verify(cases[i].password, cases[i].hash) != cases[i].right)
            fail_msg("%s %s: expected %d", cases[i].password, cases[i].hash, cases[i].right);
}

static void
test_same(void **state)
{
    assert_true(auth_same("", ""));
    assert_true(auth_same("abc", "abc"));
    assert_false(auth_same("abc", "abd"));
    assert_false(auth_same("abc", "ab"));
    assert_false(auth_same("ab", "abc"));
    assert_false(auth_same("abab", "ab"));
    assert_false(auth_same("a", ""));
    assert_false(auth_same("", "a"));
}

static const char *path;

static int
file_says(const char *config, const char *user, const char *password)
{
    json_auto_t *parsed = json_loads(config, 0, NULL), *found = json_object();
    const login_t login = { .user = user, .password = password, .config = parsed };
    fail_auto_t err = FAIL_INIT;

    assert_non_null(parsed);
    if (json_object_get(parsed, "filename") == NULL)
        json_object_set_new(parsed, "filename", json_string(path));
    return system_file(&login, found, &err);
}

static void
test_file(void **state)
{
    char name[] = "/tmp/halite-users.XXXXXX";
    int fd = mkstemp(name);
    static const char text[] =
        "ann:ann-pw\nbob:e10adc3949ba59abbe56e057f20f883e:x\nann:second\n"
        "1|carl|827ccb0eea8a706c4c34a16891f84e7b\ndan:salt:6ccd4a8cf15e5a2b59e7f1c8f2a37b4e\n";

    assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t) strlen(text));
    close(fd);
    path = name;
    assert_int_equal(file_says("{}", "ann", "ann-pw"), 1);
    assert_int_equal(file_says("{}", "ann", "second"), 0);
    assert_int_equal(file_says("{}", "ann", ""), 0);
    assert_true(file_says("{}", "nobody", "x") <= 0);
    assert_int_equal(file_says("{\"hashtype\": \"md5\"}", "bob", "123456"), 1);
    assert_int_equal(file_says("{\"hashtype\": \"md5\"}", "bob", "e10adc3949ba59abbe56e057f20f883e"), 0);
    assert_true(file_says("{\"hashtype\": \"nosuch\"}", "bob", "123456") < 0);
    /* A line without the field ends the search, as in Salt. */
    assert_true(file_says("{\"field_separator\": \"|\", \"username_field\": \"2\", \"password_field\": 3}",
                          "carl", "12345") < 0);
    assert_true(file_says("{\"filetype\": \"nosuch\"}", "ann", "ann-pw") < 0);
    assert_true(file_says("{\"filetype\": \"htdigest\"}", "dan", "x") < 0);
    assert_int_equal(file_says("{\"filetype\": \"htdigest\", \"realm\": \"salt\"}", "dan", "x"), 0);
    assert_int_equal(file_says("{\"filetype\": \"htpasswd\"}", "ann:ann-pw", ""), 0);
    assert_true(file_says("{\"filename\": \"/nonexistent/x\"}", "ann", "ann-pw") < 0);
    assert_true(file_says("{\"filename\": \"\"}", "ann", "ann-pw") < 0);
    (void) unlink(name);
}

UNIT_MAIN(cmocka_unit_test(test_hashes), cmocka_unit_test(test_same), cmocka_unit_test(test_file))
