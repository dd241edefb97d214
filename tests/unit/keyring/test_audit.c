/* test_audit.c - the audit log: what a line has and has not, rotation, a disk that is full. */
#include <sys/resource.h>
#include <sys/stat.h>
#include <signal.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "keyring/audit.h"
#include "salt/value.h"
#include "unit/unit.h"

static char *dir, *path;

static int
setup(void **state)
{
    dir = xstrdup("/tmp/halite-audit-XXXXXX");
    if (mkdtemp(dir) == NULL)
        return 1;
    path = fs_join(dir, "audit");
    return 0;
}

static int
teardown(void **state)
{
    int rc = fs_remove_tree(dir, NULL);
    free(dir), free(path);
    return rc;
}

/* NEW list of the lines of a file, each of which must be JSON. */
static json_t *
lines_of(const char *file)
{
    buf_auto_t text = BUF_INIT;
    json_t *all = json_array();
    assert_int_equal(fs_read(file, 1 << 20, &text, NULL), 0);
    for (const char *p = buf_str(&text), *nl; *p; p = nl + 1) {
        nl = strchr(p, '\n');
        assert_non_null(nl);
        json_t *one = json_loadb(p, (size_t) (nl - p), 0, NULL);
        assert_non_null(one);
        json_array_append_new(all, one);
    }
    return all;
}

static void
say(audit_t *a, int n)
{
    json_t *line = json_pack("{s:i}", "n", n);
    audit_write(a, &line);
    assert_null(line);
}

static void
test_appends(void **state)
{
    AUTO(audit) a = audit_new(path);
    struct stat st;
    say(a, 1);
    audit_destroy(&a);
    a = audit_new(path);
    say(a, 2);
    json_auto_t *all = lines_of(path);
    assert_int_equal(json_array_size(all), 2);
    assert_int_equal(value_int(json_array_get(all, 1), "n", 0), 2);
    assert_int_equal(strlen(value_str(json_array_get(all, 0), "time", "")),
                     strlen("2026-11-20T10:00:00.123456"));
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0137, 0);
}

static void
test_rotated(void **state)
{
    AUTO(audit) a = audit_new(path);
    AUTO_FREE char *old = fs_join(dir, "audit.1");
    AUTO_FREE char *other = fs_join(dir, "other");
    say(a, 1);
    assert_int_equal(rename(path, old), 0);
    say(a, 2);
    audit_reopen(a, path);
    say(a, 3);
    audit_reopen(a, other);
    say(a, 4);
    audit_reopen(a, "");
    say(a, 5);
    json_auto_t *first = lines_of(old), *second = lines_of(path), *third = lines_of(other);
    /* Whoever rotates renames the file, and need not say so. */
    assert_int_equal(json_array_size(first), 1);
    assert_int_equal(json_array_size(second), 2);
    assert_int_equal(json_array_size(third), 1);
}

/* The file may not grow: as a full disk. */
static void
test_full(void **state)
{
    AUTO(audit) a = audit_new(path);
    struct rlimit was, small;
    (void) signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
    say(a, 1);
    small = was;
    small.rlim_cur = 60;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    for (int i = 2; i < 6; i++)
        say(a, i);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
    say(a, 6);
    say(a, 7);
    json_auto_t *all = lines_of(path);
    assert_int_equal(json_array_size(all), 4);
    assert_string_equal(value_str(json_array_get(all, 1), "op", ""), "lost");
    assert_int_equal(value_int(json_array_get(all, 1), "lines", 0), 4);
    assert_int_equal(value_int(json_array_get(all, 3), "n", 0), 7);
}

/* A path that has no folder to be made. */
static void
test_bare_name(void **state)
{
    AUTO_FREE char *was = getcwd(NULL, 0);
    assert_int_equal(chdir(dir), 0);
    AUTO(audit) a = audit_new("bare");
    say(a, 1);
    assert_int_equal(chdir(was), 0);
    AUTO_FREE char *file = fs_join(dir, "bare");
    json_auto_t *all = lines_of(file);
    assert_int_equal(json_array_size(all), 1);
}

static void
test_no_folder(void **state)
{
    AUTO_FREE char *sub = fs_join(dir, "sub");
    AUTO_FREE char *file = fs_join(sub, "audit");
    assert_int_equal(fs_write_quick(sub, "x", 1, 0600, NULL), 0);
    AUTO(audit) a = audit_new(file);
    say(a, 1);
    assert_int_equal(unlink(sub), 0);
    say(a, 2);
    json_auto_t *all = lines_of(file);
    assert_int_equal(json_array_size(all), 2);
}

static void
test_a_link_is_not_followed(void **state)
{
    AUTO_FREE char *victim = fs_join(dir, "victim");
    assert_int_equal(symlink(victim, path), 0);
    AUTO(audit) a = audit_new(path);
    say(a, 1);
    assert_false(fs_exists(victim));
}

static void
test_many_of_strangers(void **state)
{
    AUTO(audit) a = audit_new(path);
    for (int i = 0; i < 5000; i++) {
        json_t *line = json_pack("{s:i}", "n", i);
        audit_write_spare(a, AUDIT_STRANGERS, &line);
    }
    json_auto_t *all = lines_of(path);
    assert_true(json_array_size(all) >= 1000 && json_array_size(all) < 2000);
    /* Behind their noise a user of this host tries something. */
    json_t *line = json_pack("{s:s}", "op", "publish");
    audit_write_spare(a, AUDIT_USERS, &line);
    json_auto_t *now = lines_of(path);
    assert_int_equal(json_array_size(now), json_array_size(all) + 1);
}

/* No secret of a request is in its line, whatever it holds. */
static void
test_requests(void **state)
{
    static const struct {
        const char *request, *reply, *line; /* reply NULL: refused */
    } rows[] = {
        { "{\"op\":\"publish\",\"n\":1,\"tgt\":\"web*\",\"tgt_type\":\"glob\",\"fun\":\"cmd.run\",\"arg\":["
          "\"SECRET\"],"
          "\"metadata\":{\"SECRET\":1},\"ret\":\"\",\"kwarg\":{\"x\":\"SECRET\"}}",
          "{\"jid\":\"2026\",\"minions\":[\"web1\",\"web2\"],\"missing\":[]}",
          "{\"op\":\"publish\",\"fun\":\"cmd.run\",\"tgt_type\":\"glob\",\"tgt\":\"web*\",\"allowed\":true,"
          "\"jid\":\"2026\","
          "\"minions\":2,\"outcome\":\"ok\"}" },
        { "{\"op\":\"publish\",\"tgt\":\"password:SECRET\",\"tgt_type\":\"pillar\",\"fun\":\"test.ping\"}",
          NULL,
          "{\"op\":\"publish\",\"fun\":\"test.ping\",\"tgt_type\":\"pillar\",\"tgt\":\"(pillar)\","
          "\"allowed\":false,"
          "\"outcome\":\"refused\",\"why\":\"not you\"}" },
        { "{\"op\":\"publish\",\"tgt\":\"web* and "
          "I@a:SECRET\",\"tgt_type\":\"compound\",\"fun\":[\"test.ping\"]}",
          "{}",
          "{\"op\":\"publish\",\"fun\":[\"test.ping\"],\"tgt_type\":\"compound\",\"tgt\":\"(pillar)\","
          "\"allowed\":true,"
          "\"outcome\":\"ok\"}" },
        { "{\"op\":\"fire\",\"tag\":\"a/b\",\"data\":{\"x\":\"SECRET\"},\"events\":[{\"data\":\"SECRET\"}]}",
          "{\"seq\":4}", "{\"op\":\"fire\",\"tag\":\"a/b\",\"allowed\":true,\"outcome\":\"ok\"}" },
    };
    for (size_t i = 0; i < NELEMS(rows); i++) {
        fail_auto_t err = FAIL_INIT;
        (void) fail_set(&err, -EACCES, "not you");
        json_auto_t *request = json_loads(rows[i].request, 0, NULL);
        json_auto_t *reply = rows[i].reply ? json_loads(rows[i].reply, 0, NULL) : NULL;
        json_auto_t *line = audit_request(request, reply != NULL, reply, &err);
        AUTO_FREE char *text = value_dump(line);
        assert_string_equal(text, rows[i].line);
    }
}

/* What is long is there with its beginning. */
static void
test_long_requests(void **state)
{
    json_auto_t *funs = json_array(), *deep = json_object(), *text = json_object();
    fail_auto_t err = FAIL_INIT;

    for (int i = 0; i < 100000; i++)
        json_array_append_new(funs, json_string("test.ping"));
    json_object_set(deep, "fun", funs);
    json_auto_t *request = json_pack("{s:s, s:O, s:O}", "op", "publish", "fun", funs, "tgt", deep);
    json_auto_t *line = audit_request(request, false, NULL, &err);
    AUTO_FREE char *shown = value_dump(line);
    assert_true(strlen(shown) < 12000);
    assert_non_null(strstr(shown, "\"test.ping\",\"("));
    assert_non_null(strstr(shown, " more)\"]"));

    AUTO_FREE char *name = xcalloc(1, 100001);
    memset(name, 'x', 100000);
    json_object_set_new(text, "fun", json_string(name));
    json_auto_t *second = audit_request(text, false, NULL, &err);
    assert_string_equal(value_str(second, "fun", ""), "(100000 bytes)");
}

/* Controls beyond ASCII, marks of direction and invisible characters are escapes, which JSON reads back. */
static void
test_visible(void **state)
{
    static const char said[] = "m\xc3\xb6 \xc2\x9b"
                               "2J\xe2\x80\xae\xf3\xa0\x81\x81\x1b\n";
    audit_t *audit = audit_new(path);
    json_t *line = json_pack("{s:s}", "id", said);
    buf_auto_t text = BUF_INIT;

    audit_write(audit, &line);
    audit_destroy(&audit);
    assert_int_equal(fs_read(path, 1 << 20, &text, NULL), 0);
    assert_non_null(strstr(buf_str(&text), "\"m\xc3\xb6 \\u009b2J\\u202e\\udb40\\udc41\\u001B\\n\""));

    json_auto_t *read = json_loads(buf_str(&text), 0, NULL);
    assert_string_equal(value_str(read, "id", ""), said);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
UNIT_MAIN(TEST(test_appends), TEST(test_rotated), TEST(test_full), TEST(test_bare_name), TEST(test_no_folder),
          TEST(test_a_link_is_not_followed), TEST(test_many_of_strangers), TEST(test_requests),
          TEST(test_long_requests), TEST(test_visible))
