/* test_spool.c - marks and returns on the disk: order, files cut short at any point, damaged ones, a full
 * disk. */
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "uplink/spool.h"
#include "salt/value.h"
#include "unit/logged.h"
#include "unit/unit.h"

#define J1 "20261120100000000001"
#define J2 "20261120100000000002"
#define J3 "20261120100000000003"

static int reads_left = -1; /* of folders, until one fails; negative: none does */

struct dirent *
readdir(DIR *dir)
{
    struct dirent *(*real)(DIR *) = (struct dirent * (*) (DIR *) ) dlsym(RTLD_NEXT, "readdir");

    if (reads_left-- != 0)
        return real(dir);
    errno = EIO;
    return NULL;
}

typedef struct fixture {
    char *dir;
    spool_t *spool;
} fixture_t;

static int
set_up(void **state)
{
    fixture_t *f = xcalloc(1, sizeof(*f));
    fail_auto_t err = FAIL_INIT;

    f->dir = xstrdup("/tmp/halite-spool-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    f->spool = spool_new(f->dir, &err);
    assert_non_null(f->spool);
    *state = f;
    return 0;
}

static int
tear_down(void **state)
{
    fixture_t *f = *state;

    spool_destroy(&f->spool);
    assert_int_equal(fs_remove_tree(f->dir, NULL), 0);
    free(f->dir);
    free(f);
    return 0;
}

static void
again(fixture_t *f)
{
    spool_destroy(&f->spool);
    f->spool = spool_new(f->dir, NULL);
    assert_non_null(f->spool);
}

/* NEW: the returns that wait, oldest first. */
static json_t *
jids_of(fixture_t *f)
{
    again(f);
    return json_incref(spool_waiting(f->spool));
}

static bool
there(const fixture_t *f, const char *name)
{
    AUTO_FREE char *path = fs_join(f->dir, name);

    return fs_exists(path);
}

static void
put(const fixture_t *f, const char *name, const char *text, size_t len)
{
    AUTO_FREE char *path = fs_join(f->dir, name);

    assert_int_equal(fs_write_quick(path, text, len, 0600, NULL), 0);
}

static void
begin(fixture_t *f, const char *jid)
{
    json_auto_t *job = json_pack("{s:s, s:s}", "jid", jid, "fun", "test.ping");

    assert_int_equal(spool_begin(f->spool, job, NULL), 0);
}

/* NEW: a return's message. */
static jobret_t *
message(json_t *ret)
{
    json_t *value = json_incref(ret);

    return jobret_make(&value);
}

static int
end_with(spool_t *spool, json_t *ret, const char *asker)
{
    AUTO(jobret) said = message(ret);

    return spool_end(spool, said, asker, NULL);
}

static int
leave_with(const char *dir, json_t *ret, const char *asker)
{
    AUTO(jobret) said = message(ret);

    return spool_leave(dir, said, asker, NULL);
}

static void
end(fixture_t *f, const char *jid)
{
    json_auto_t *ret = json_pack("{s:s, s:s}", "jid", jid, "return", "x");

    assert_int_equal(end_with(f->spool, ret, NULL), 0);
}

/* One that is any master's. */
static json_t *
load(fixture_t *f, const char *jid, size_t *ret_size, fail_t *err)
{
    AUTO_FREE char *asker = NULL;
    json_t *ret = spool_load(f->spool, jid, &asker, ret_size, err);

    assert_null(asker);
    return ret;
}

static void
assert_jids(json_t *list, const char *expected)
{
    json_auto_t *own = list;
    AUTO_FREE char *text = value_dump(own);

    assert_string_equal(text, expected);
}

static void
test_life(void **state)
{
    fixture_t *f = *state;
    size_t size = 0;
    struct stat st;

    begin(f, J2);
    assert_true(there(f, J2 ".run"));
    end(f, J2);
    assert_false(there(f, J2 ".run"));
    end(f, J3);
    end(f, J1);
    assert_int_equal(spool_len(f->spool), 3);
    AUTO_FREE char *path = fs_join(f->dir, J1 ".ret");
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    /* Oldest first, whatever order the folder has. */
    assert_jids(jids_of(f), "[\"" J2 "\",\"" J3 "\",\"" J1 "\"]");
    json_auto_t *ret = load(f, J2, &size, NULL);
    assert_string_equal(value_str(ret, "return", ""), "x");
    assert_int_equal(size, strlen("{\"jid\":\"" J2 "\",\"return\":\"x\"}"));

    spool_forget(f->spool, J2);
    assert_int_equal(spool_len(f->spool), 2);
    spool_forget(f->spool, J2);
    assert_int_equal(spool_len(f->spool), 2);
    again(f);
    assert_int_equal(spool_len(f->spool), 2);
    fail_auto_t err = FAIL_INIT;
    assert_null(load(f, J2, &size, &err));
    assert_int_equal(err.code, -ENOENT);
}

static void
test_interrupted(void **state)
{
    fixture_t *f = *state;
    json_auto_t *damaged = json_array();

    begin(f, J1);
    begin(f, J2);
    end(f, J2);
    /* Killed between the return and the end of its mark. */
    begin(f, J2);
    /* Killed before the mark was written: that job never began. */
    put(f, J3 ".run", "", 0);
    again(f);
    json_auto_t *jobs = spool_interrupted(f->spool, damaged);
    assert_false(there(f, J3 ".run"));
    assert_int_equal(json_array_size(jobs), 1);
    assert_string_equal(value_str(json_array_get(jobs, 0), "jid", ""), J1);
    assert_int_equal(json_array_size(damaged), 0);
    assert_false(there(f, J2 ".run"));
    assert_jids(jids_of(f), "[\"" J2 "\"]");
}

/* It is of no job, and would be found again at each start. */
static void
test_mark_without_function(void **state)
{
    fixture_t *f = *state;
    json_auto_t *damaged = json_array();

    put(f, J1 ".run", "{\"jid\":\"" J1 "\"}", strlen("{\"jid\":\"" J1 "\"}"));
    again(f);
    json_auto_t *jobs = spool_interrupted(f->spool, damaged);
    assert_int_equal(json_array_size(jobs), 0);
    assert_int_equal(json_array_size(damaged), 1);
    assert_false(there(f, J1 ".run"));
    assert_true(there(f, J1 ".run.bad"));
}

/* A return, cut off at every byte of its text, or with one byte changed: never taken for a return, never
 * dropped. */
static void
test_cut_short(void **state)
{
    static const char text[] = "{\"jid\":\"" J1 "\",\"return\":{\"a\":[1,2]}}";
    fixture_t *f = *state;
    size_t size = 0;

    for (size_t len = 0; len < strlen(text); len++) {
        fail_auto_t err = FAIL_INIT;
        put(f, J1 ".ret", text, len);
        again(f);
        assert_int_equal(spool_len(f->spool), 1);
        json_auto_t *ret = load(f, J1, &size, &err);
        assert_null(ret);
        assert_int_equal(err.code, -EBADMSG);
        assert_false(there(f, J1 ".ret"));
        assert_true(there(f, J1 ".ret.bad"));
        assert_int_equal(spool_len(f->spool), 0);
    }
    put(f, J1 ".ret", text, strlen(text));
    json_auto_t *whole = load(f, J1, &size, NULL);
    assert_non_null(whole);
}

static void
test_damaged(void **state)
{
    static const char *const texts[] = {
        "", "null", "[]", "{}", "{\"jid\":\"" J2 "\"}", "{\"jid\":7}", "\xff\xfe\x00"
    };
    fixture_t *f = *state;
    size_t size = 0;

    for (size_t i = 0; i < NELEMS(texts); i++) {
        fail_auto_t err = FAIL_INIT;
        json_auto_t *damaged = json_array();
        put(f, J1 ".ret", texts[i], strlen(texts[i]));
        assert_null(load(f, J1, &size, &err));
        assert_int_equal(err.code, -EBADMSG);
        assert_non_null(strstr(fail_text(&err), J1 ".ret.bad"));
        put(f, J1 ".run", *texts[i] ? texts[i] : "{", *texts[i] ? strlen(texts[i]) : 1);
        again(f);
        json_auto_t *jobs = spool_interrupted(f->spool, damaged);
        assert_int_equal(json_array_size(jobs), 0);
        assert_int_equal(json_array_size(damaged), 1);
        assert_true(there(f, J1 ".run.bad"));
    }
}

/* What can't be read at the moment is not damaged. */
static void
test_unreadable(void **state)
{
    fixture_t *f = *state;
    fail_auto_t err = FAIL_INIT;
    struct rlimit old, none;
    size_t size = 0;

    end(f, J1);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    none = old;
    none.rlim_cur = 0;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    json_auto_t *ret = load(f, J1, &size, &err);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
    assert_null(ret);
    assert_int_equal(err.code, -EMFILE);
    assert_true(there(f, J1 ".ret"));
    assert_int_equal(spool_len(f->spool), 1);
}

/* Without descriptors a mark can't be read, and what leads round in a circle can't be looked at: nobody
 * knows what became of these jobs, and later it is known. */
/* A folder that can't be read to its end is not one that has no more. */
static void
test_unreadable_folder(void **state)
{
    fixture_t *f = *state;
    json_auto_t *ret = json_pack("{s:s, s:i}", "jid", J1, "return", 1);
    size_t wrong = 0;
    int n = 0;

    assert_int_equal(end_with(f->spool, ret, NULL), 0);
    spool_destroy(&f->spool);
    for (bool failed = true; failed; n++) {
        fail_auto_t err = FAIL_INIT;
        reads_left = n;
        f->spool = spool_new(f->dir, &err);
        failed = reads_left < 0;
        reads_left = -1;
        wrong += f->spool ? spool_len(f->spool) != 1 : err.code != -EIO;
        spool_destroy(&f->spool);
    }
    assert_true(n > 9); /* ".", "..", the return and the end, of three lists */
    assert_int_equal(wrong, 0);
    again(f);
}

static void
test_interrupted_unknown(void **state)
{
    fixture_t *f = *state;
    json_auto_t *damaged = json_array();
    AUTO_FREE char *ret = fs_join(f->dir, J2 ".ret");
    struct rlimit old, none;

    begin(f, J1);
    begin(f, J2);
    assert_int_equal(symlink(J2 ".ret", ret), 0);
    again(f);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    none = old;
    none.rlim_cur = 0;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    json_auto_t *jobs = spool_interrupted(f->spool, damaged);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
    assert_int_equal(json_array_size(jobs), 0);
    assert_true(there(f, J1 ".run") && there(f, J2 ".run"));
    assert_jids(json_incref(spool_marks(f->spool)), "[\"" J1 "\",\"" J2 "\"]");
    /* One that runs now is none of before. */
    begin(f, J3);
    json_auto_t *first = spool_interrupted(f->spool, damaged);
    assert_int_equal(json_array_size(first), 1);
    assert_string_equal(value_str(json_array_get(first, 0), "jid", ""), J1);
    assert_int_equal(unlink(ret), 0);
    json_auto_t *second = spool_interrupted(f->spool, damaged);
    assert_int_equal(json_array_size(second), 1);
    assert_string_equal(value_str(json_array_get(second, 0), "jid", ""), J2);
    assert_int_equal(json_array_size(damaged) + json_array_size(spool_marks(f->spool)), 0);
    json_auto_t *none_left = spool_interrupted(f->spool, damaged);
    assert_int_equal(json_array_size(none_left), 0);
}

static void
test_strange_files(void **state)
{
    fixture_t *f = *state;

    put(f, "notes.txt", "x", 1);
    put(f, "..ret", "x", 1);
    put(f, "abc.ret", "x", 1);
    put(f, J1 ".ret.bad", "x", 1);
    /* Left by a death in the middle of a write. */
    put(f, "." J1 ".ret.aB3dEf", "{\"jid\":", 7);
    again(f);
    assert_jids(jids_of(f), "[]");
    assert_int_equal(spool_len(f->spool), 0);
    assert_true(there(f, "notes.txt"));
    assert_true(there(f, J1 ".ret.bad"));
    assert_false(there(f, "." J1 ".ret.aB3dEf"));
}

/* A folder in the place of a file can't be removed as one, whoever asks. */
static void
test_what_can_not_be_removed_goes_later(void **state)
{
    fixture_t *f = *state;
    AUTO_FREE char *mark = fs_join(f->dir, J1 ".run"), *other = fs_join(f->dir, J3 ".run");

    assert_int_equal(mkdir(mark, 0700), 0);
    end(f, J1);
    spool_forget(f->spool, J1);
    assert_true(there(f, J1 ".run"));
    assert_int_equal(rmdir(mark), 0);
    put(f, J1 ".run", "{}", 2);
    /* Made again meanwhile: that is another one. */
    assert_int_equal(mkdir(other, 0700), 0);
    end(f, J3);
    spool_forget(f->spool, J3);
    assert_int_equal(rmdir(other), 0);
    end(f, J3);
    end(f, J2);
    spool_forget(f->spool, J2);
    assert_false(there(f, J1 ".run"));
    assert_true(there(f, J3 ".ret"));
    assert_int_equal(spool_len(f->spool), 1);
}

/* Whose return it is stands beside it, not in it. */
static void
test_asker(void **state)
{
    fixture_t *f = *state;
    json_auto_t *ret = json_pack("{s:s, s:s}", "jid", J1, "return", "x");
    AUTO_FREE char *asker = NULL;
    size_t size = 0;

    assert_int_equal(end_with(f->spool, ret, "boss1:4506"), 0);
    assert_null(value_get(ret, "asker"));
    again(f);
    json_auto_t *loaded = spool_load(f->spool, J1, &asker, &size, NULL);
    assert_true(json_equal(loaded, ret));
    assert_string_equal(asker, "boss1:4506");
}

/* What makes no sense is none. */
static void
test_elsewhere(void **state)
{
    fixture_t *f = *state;
    json_auto_t *list = json_pack("[[s, s]]", J1, "boss1:4506");

    assert_null(spool_elsewhere(f->spool, NULL));
    assert_int_equal(spool_elsewhere_keep(f->spool, list, NULL), 0);
    put(f, ".elsewhere.AbCdEf", "[", 1);
    again(f);
    assert_false(there(f, ".elsewhere.AbCdEf"));
    json_auto_t *kept = spool_elsewhere(f->spool, NULL);
    assert_true(json_equal(kept, list));
    AUTO_FREE char *path = fs_join(f->dir, "elsewhere");
    fail_auto_t err = FAIL_INIT;
    put(f, "elsewhere", "[", 1);
    assert_null(spool_elsewhere(f->spool, &err));
    assert_null(err.text);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_null(spool_elsewhere(f->spool, &err));
    assert_int_equal(err.code, -EISDIR); /* it can't be read */
}

static void
test_jids_are_checked(void **state)
{
    static const char *const jids[] = { "", "../x", J1 "/../x", "x", ".", "2026112010000000000" };
    fixture_t *f = *state;

    for (size_t i = 0; i < NELEMS(jids); i++) {
        json_auto_t *ret = json_pack("{s:s}", "jid", jids[i]);
        assert_int_equal(spool_begin(f->spool, ret, NULL), -EINVAL);
        assert_int_equal(end_with(f->spool, ret, NULL), -EINVAL);
        spool_forget(f->spool, jids[i]);
    }
}

/* In a child: no file may grow beyond 100 bytes. */
static int
full_disk(spool_t *spool)
{
    struct rlimit rl = { 100, 100 };
    json_auto_t *small = json_pack("{s:s}", "jid", J2);
    json_auto_t *large = json_pack(
        "{s:s, s:s}", "jid", J3, "return",
        "a text that is too long for the hundred bytes which are left on this disk, as it is nearly full");
    (void) signal(SIGXFSZ, SIG_IGN);
    if (setrlimit(RLIMIT_FSIZE, &rl) != 0)
        return 1;
    if (spool_begin(spool, small, NULL) != 0 || spool_begin(spool, large, NULL) != -EFBIG)
        return 2;
    if (end_with(spool, large, NULL) != -EFBIG || spool_len(spool) != 0)
        return 3;
    return end_with(spool, small, NULL) == 0 && spool_len(spool) == 1 ? 0 : 4;
}

static void
test_full_disk(void **state)
{
    fixture_t *f = *state;
    int status = 0;
    pid_t pid = fork();

    if (pid == 0)
        _exit(full_disk(f->spool));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    /* Nothing half is left behind. */
    again(f);
    assert_jids(jids_of(f), "[\"" J2 "\"]");
    assert_false(there(f, J3 ".run"));
    json_auto_t *damaged = json_array();
    json_auto_t *jobs = spool_interrupted(f->spool, damaged);
    assert_int_equal(json_array_size(jobs) + json_array_size(damaged), 0);
}

/* A job whose process goes on: no word of it while it lives, its return once that is there, and that it
 * was interrupted when it ended without one. */
static void
test_parted(void **state)
{
    fixture_t *f = *state;
    json_auto_t *damaged = json_array(),
                *job = json_pack("{s:s, s:s, s:[]}", "jid", J1, "fun", "test.ping", "arg");
    json_auto_t *other = json_pack("{s:s, s:s, s:[]}", "jid", J2, "fun", "test.ping", "arg");
    json_auto_t *ret = json_pack("{s:s, s:s, s:b}", "jid", J1, "fun", "test.ping", "return", 1);
    pid_t pids[2];

    for (int i = 0; i < 2; i++) {
        pids[i] = fork();
        while (pids[i] == 0)
            (void) pause();
    }
    assert_int_equal(spool_part(f->spool, job, pids[0], NULL) | spool_part(f->spool, other, pids[1], NULL),
                     0);
    again(f);
    json_auto_t *none = spool_interrupted(f->spool, damaged);
    assert_int_equal(json_array_size(none), 0);
    assert_int_equal(spool_parted(f->spool), 2);
    assert_jids(json_incref(spool_marks(f->spool)), "[\"" J1 "\",\"" J2 "\"]");
    assert_int_equal(leave_with(f->dir, ret, "boss"), 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(kill(pids[i], SIGKILL), 0);
        assert_int_equal(waitpid(pids[i], NULL, 0), pids[i]);
    }
    json_auto_t *cut = spool_interrupted(f->spool, damaged);
    assert_int_equal(json_array_size(cut), 1);
    assert_string_equal(value_str(json_array_get(cut, 0), "jid", ""), J2);
    assert_null(value_get(json_array_get(cut, 0), "parted"));
    assert_jids(spool_landed(f->spool), "[\"" J1 "\"]");
    assert_jids(spool_landed(f->spool), "[]");
    AUTO_FREE char *asker = NULL;
    size_t size;
    json_auto_t *loaded = spool_load(f->spool, J1, &asker, &size, NULL);
    assert_string_equal(asker, "boss");
    assert_true(json_equal(loaded, ret));
    assert_int_equal(json_array_size(damaged) + spool_parted(f->spool), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

/* What a death cut short stays where it can't be removed, or not be seen, and the log says so. */
static void
test_unswept(void **state)
{
    fixture_t *f = *state;
    AUTO_FREE char *cut = fs_join(f->dir, "." J1 ".ret.abcdef");
    AUTO_FREE char *want = xasprintf("cannot remove %s: Is a directory", cut);
    AUTO_FREE char *unread = xasprintf("cannot read the folder %s: Input/output error", f->dir);

    assert_int_equal(fs_mkdirs(cut, 0700, NULL), 0);
    logged_begin();
    spool_t *other = spool_new(f->dir, NULL);
    logged_end(want);
    spool_destroy(&other);
    logged_begin();
    reads_left = 0;
    other = spool_new(f->dir, NULL);
    reads_left = -1;
    logged_end(unread);
    spool_destroy(&other);
}

UNIT_MAIN(TEST(test_unswept), TEST(test_life), TEST(test_interrupted), TEST(test_mark_without_function),
          TEST(test_cut_short), TEST(test_damaged), TEST(test_what_can_not_be_removed_goes_later),
          TEST(test_unreadable), TEST(test_unreadable_folder), TEST(test_interrupted_unknown),
          TEST(test_strange_files), TEST(test_jids_are_checked), TEST(test_asker), TEST(test_elsewhere),
          TEST(test_full_disk), TEST(test_parted))
