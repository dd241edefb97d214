/* test_keystore.c - the folders of keys, and the lists of ids to sign or reject by themselves. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "keyring/keystore.h"
#include "master/keys/autosign.h"
#include "salt/limits.h"
#include "salt/value.h"
#include "unit/unit.h"
#include "unit/key_state.h"

enum { NOBODY = 65534 };

typedef struct fixture {
    char *dir; /* holds pki and what surrounds it */
    char *pki;
    keystore_t *store;
} fixture_t;

static int names_left = -1; /* until the disk fails; below 0: it does not */

static int look_fails; /* the errno of fstatat(); names have no type then, as on some file systems */

/* For the code under test too. */
struct dirent *
readdir(DIR *dir)
{
    if (names_left != 0) {
        names_left -= names_left > 0;
        struct dirent *entry = (struct dirent *) readdir64(dir);
        if (entry != NULL && look_fails != 0)
            entry->d_type = DT_UNKNOWN;
        return entry;
    }
    errno = EIO;
    return NULL;
}

int
fstatat(int dir, const char *name, struct stat *st, int flags)
{
    if (look_fails == 0)
        return (int) syscall(SYS_newfstatat, dir, name, st, flags);
    errno = look_fails;
    return -1;
}

static bool sync_fails;
static char synced[256]; /* names of folders, each with a space behind it */

int
fsync(int fd)
{
    char link[64], path[256];

    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof(path) - 1);
    assert_true(n > 0);
    path[n] = '\0';
    errno = EIO;
    if (sync_fails)
        return -1;
    AUTO_FREE char *more = xasprintf("%s%s ", synced, strrchr(path, '/') + 1);
    str_copy(synced, sizeof(synced), more);
    return 0;
}

static const uint8_t key_one[KEY_BYTES] = { 1, 2, 3, 4, 5 };
static const uint8_t key_two[KEY_BYTES] = { 9, 8, 7 };

static int
set_up(void **state)
{
    fixture_t *f = xcalloc(1, sizeof(*f));
    fail_auto_t err = FAIL_INIT;

    f->dir = xstrdup("/tmp/halite-keystore-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    f->pki = xasprintf("%s/etc/pki", f->dir);
    f->store = keystore_new(f->pki, &err);
    assert_non_null(f->store);
    *state = f;
    return 0;
}

static int
tear_down(void **state)
{
    fixture_t *f = *state;

    keystore_destroy(&f->store);
    assert_int_equal(fs_remove_tree(f->dir, NULL), 0);
    free(f->pki);
    free(f->dir);
    free(f);
    return 0;
}

static char *
path_in(const fixture_t *f, const char *name)
{
    return fs_join(f->pki, name);
}

static void
put_text(const char *path, const char *text, mode_t mode)
{
    fail_auto_t err = FAIL_INIT;

    assert_int_equal(fs_write_quick(path, text, strlen(text), mode, &err), 0);
    assert_int_equal(chmod(path, mode), 0);
}

static void
assert_list(const fixture_t *f, key_state_t state, const char *json)
{
    fail_auto_t err = FAIL_INIT;
    json_auto_t *list = keystore_list(f->store, state, &err);

    assert_non_null(list);
    AUTO_FREE char *text = value_dump(list);
    json_auto_t *want = json_loads(json, 0, NULL);

    assert_non_null(want);
    if (!json_equal(list, want))
        fail_msg("%s is not %s", text, json);
}

static void
test_names(void **state)
{
    assert_string_equal(key_state_dir(KEY_ACCEPTED), "minions");
    assert_string_equal(key_state_dir(KEY_PENDING), "minions_pre");
    assert_string_equal(key_state_dir(KEY_REJECTED), "minions_rejected");
    assert_string_equal(key_state_dir(KEY_DENIED), "minions_denied");
    assert_string_equal(key_state_name(KEY_PENDING), "pending");
    for (int s = 0; s < KEY_STATES; s++)
        assert_int_equal(key_state_of_dir(key_state_dir((key_state_t) s)), s);
    assert_int_equal(key_state_of_dir("../etc"), KEY_UNKNOWN);
    assert_int_equal(key_state_of_dir(NULL), KEY_UNKNOWN);
}

static void
test_folders(void **state)
{
    fixture_t *f = *state;
    struct stat st;

    assert_string_equal(keystore_dir(f->store), f->pki);
    for (int s = 0; s < KEY_STATES; s++) {
        AUTO_FREE char *path = path_in(f, key_state_dir((key_state_t) s));

        assert_int_equal(stat(path, &st), 0);
        assert_int_equal(st.st_mode & 07777, 0700);
        assert_list(f, (key_state_t) s, "[]");
    }
}

static void
test_life(void **state)
{
    fixture_t *f = *state;
    fail_auto_t err = FAIL_INIT;
    uint8_t key[KEY_BYTES];

    assert_int_equal(key_state_of(f->store, "web1"), KEY_UNKNOWN);
    assert_false(keystore_get(f->store, "web1", KEY_PENDING, key, &err));
    assert_null(err.text); /* absent is an answer, not an error */
    assert_int_equal(keystore_put(f->store, "web1", KEY_PENDING, key_one, &err), 0);
    assert_int_equal(key_state_of(f->store, "web1"), KEY_PENDING);
    assert_true(keystore_get(f->store, "web1", KEY_PENDING, key, &err));
    assert_memory_equal(key, key_one, KEY_BYTES);

    AUTO_FREE char *pem = keystore_pem(f->store, "web1", KEY_PENDING, &err);
    AUTO_FREE char *want = key_public_pem(key_one);
    assert_string_equal(pem, want);

    assert_int_equal(keystore_move(f->store, "web1", KEY_PENDING, KEY_ACCEPTED, &err), 0);
    assert_int_equal(key_state_of(f->store, "web1"), KEY_ACCEPTED);
    assert_null(keystore_pem(f->store, "web1", KEY_PENDING, &err));
    assert_int_equal(keystore_put(f->store, "web1", KEY_REJECTED, key_two, &err), 0);
    assert_int_equal(key_state_of(f->store, "web1"), KEY_ACCEPTED); /* acceptance is looked at first */
    assert_int_equal(keystore_move(f->store, "web1", KEY_REJECTED, KEY_ACCEPTED, &err), 0); /* replaces */
    assert_true(keystore_get(f->store, "web1", KEY_ACCEPTED, key, &err));
    assert_memory_equal(key, key_two, KEY_BYTES);
    assert_int_equal(keystore_delete(f->store, "web1", KEY_ACCEPTED, &err), 0);
    assert_int_equal(key_state_of(f->store, "web1"), KEY_UNKNOWN);
    assert_null(err.text);

    assert_int_equal(keystore_delete(f->store, "web1", KEY_ACCEPTED, &err), -ENOENT);
    assert_non_null(strstr(err.text, "minions/web1"));
    fail_clear(&err);
    assert_int_equal(keystore_move(f->store, "web1", KEY_PENDING, KEY_ACCEPTED, &err), -ENOENT);
}

static void
test_list(void **state)
{
    static const char *const ids[] = { "b", "Web2", "web1", "A", "a", "web10", "c.example.org" };
    fixture_t *f = *state;
    AUTO_FREE char *dir = path_in(f, "minions/a_folder");
    AUTO_FREE char *link = path_in(f, "minions/a_link");
    AUTO_FREE char *hidden = path_in(f, "minions/.new.1234");
    AUTO_FREE char *spaced = path_in(f, "minions/a b");
    AUTO_FREE char *broken = path_in(f, "minions/a\xff"
                                        "b");

    for (size_t i = 0; i < NELEMS(ids); i++)
        assert_int_equal(keystore_put(f->store, ids[i], KEY_ACCEPTED, key_one, NULL), 0);
    assert_int_equal(mkdir(dir, 0700), 0);
    assert_int_equal(symlink("a", link), 0);
    put_text(hidden, "x", 0600);
    put_text(spaced, "x", 0600);
    put_text(broken, "x", 0600);
    assert_list(f, KEY_ACCEPTED, "[\"A\", \"a\", \"b\", \"c.example.org\", \"web1\", \"web10\", \"Web2\"]");
    assert_list(f, KEY_PENDING, "[]");
}

/* Names that would lead elsewhere are refused before any system call, whatever exists there. */
static void
test_bad_ids(void **state)
{
    static const char *const bad[] = {
        "",    ".",    "..",     "../minions/victim", "../../outside", "/etc/passwd", "a/b", ".hidden",
        "a b", "a\nb", "a\177b", "\xff\xfe",          "./victim"
    };
    fixture_t *f = *state;
    AUTO_FREE char *outside = xasprintf("%s/etc/outside", f->dir);
    AUTO_FREE char *longest = xcalloc(1, LIMIT_ID_LEN + 2);
    uint8_t key[KEY_BYTES];

    AUTO_FREE char *pem = key_public_pem(key_one);
    put_text(outside, pem, 0644);
    assert_int_equal(keystore_put(f->store, "victim", KEY_ACCEPTED, key_one, NULL), 0);
    for (size_t i = 0; i < NELEMS(bad) + 1; i++) {
        const char *id = i < NELEMS(bad) ? bad[i] : memset(longest, 'x', LIMIT_ID_LEN + 1);
        fail_auto_t err = FAIL_INIT;

        assert_false(keystore_get(f->store, id, KEY_PENDING, key, &err));
        assert_non_null(err.text);
        assert_null(keystore_pem(f->store, id, KEY_PENDING, NULL));
        assert_int_equal(key_state_of(f->store, id), KEY_UNKNOWN);
        assert_int_equal(keystore_put(f->store, id, KEY_PENDING, key_two, NULL), -EINVAL);
        assert_int_equal(keystore_move(f->store, id, KEY_PENDING, KEY_ACCEPTED, NULL), -EINVAL);
        assert_int_equal(keystore_delete(f->store, id, KEY_PENDING, NULL), -EINVAL);
    }
    assert_true(fs_exists(outside));
    assert_true(keystore_get(f->store, "victim", KEY_ACCEPTED, key, NULL));
    assert_memory_equal(key, key_one, KEY_BYTES);
    assert_list(f, KEY_PENDING, "[]");
}

/* Files of an older master: they are found whatever folder they are in, and go by the name that is shown. */
static void
test_unfit(void **state)
{
    static const char *const names[] = { "minions/web,*",        "minions_pre/*",
                                         "minions_pre/web,*",    "minions_next/m\xd0\xb0in",
                                         "minions_denied/x\xff", "minions/.new.1234" };
    fixture_t *f = *state;
    fail_auto_t err = FAIL_INIT;
    uint8_t key[KEY_BYTES];
    AUTO_FREE char *pem = key_public_pem(key_one);

    assert_int_equal(keystore_put(f->store, "web1", KEY_ACCEPTED, key_one, NULL), 0);
    for (size_t i = 0; i < NELEMS(names); i++) {
        AUTO_FREE char *path = path_in(f, names[i]);
        put_text(path, pem, 0600);
    }
    json_auto_t *unfit = keystore_unfit(f->store, &err);
    json_auto_t *want = json_pack("[s,s,s,s]", "*", "m\xd0\xb0in", "web,*", "x\xef\xbf\xbd");
    assert_true(json_equal(unfit, want));
    assert_list(f, KEY_ACCEPTED, "[\"web1\"]");
    assert_false(keystore_get(f->store, "web,*", KEY_ACCEPTED, key, NULL));
    assert_int_equal(key_state_of(f->store, "web,*"), KEY_UNKNOWN);
    assert_int_equal(keystore_move(f->store, "*", KEY_PENDING, KEY_ACCEPTED, NULL), -EINVAL);
    assert_int_equal(keystore_unfit_delete(f->store, "web1", NULL), -ENOENT);
    assert_int_equal(keystore_unfit_delete(f->store, "../minions/web1", NULL), -ENOENT);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(keystore_unfit_delete(f->store, json_string_value(json_array_get(want, i)), &err),
                         0);
    json_auto_t *none = keystore_unfit(f->store, &err);
    assert_int_equal(json_array_size(none), 0);
    assert_list(f, KEY_ACCEPTED, "[\"web1\"]");
    AUTO_FREE char *hidden = path_in(f, names[5]);
    assert_true(fs_exists(hidden));
}

/* A link in a key's place is neither read nor written through. */
static void
test_links(void **state)
{
    fixture_t *f = *state;
    AUTO_FREE char *secret = xasprintf("%s/secret", f->dir);
    AUTO_FREE char *link = path_in(f, "minions_pre/web1");
    AUTO_FREE char *pem = key_public_pem(key_one);
    fail_auto_t err = FAIL_INIT;
    buf_auto_t kept = BUF_INIT;
    uint8_t key[KEY_BYTES];

    put_text(secret, pem, 0600);
    assert_int_equal(symlink(secret, link), 0);
    assert_false(keystore_get(f->store, "web1", KEY_PENDING, key, &err));
    assert_non_null(strstr(err.text, "minions_pre/web1"));
    assert_null(keystore_pem(f->store, "web1", KEY_PENDING, NULL));
    assert_int_equal(keystore_put(f->store, "web1", KEY_PENDING, key_two, NULL),
                     0); /* replaces the link itself */
    assert_true(keystore_get(f->store, "web1", KEY_PENDING, key, NULL));
    assert_memory_equal(key, key_two, KEY_BYTES);
    assert_int_equal(fs_read(secret, LIMIT_KEY_FILE, &kept, NULL), 0);
    assert_string_equal(buf_str(&kept), pem);
}

static void
test_bad_files(void **state)
{
    fixture_t *f = *state;
    AUTO_FREE char *garbage = path_in(f, "minions_pre/garbage");
    AUTO_FREE char *empty = path_in(f, "minions_pre/empty");
    AUTO_FREE char *big = path_in(f, "minions_pre/big");
    AUTO_FREE char *folder = path_in(f, "minions_pre/folder");
    AUTO_FREE char *fifo = path_in(f, "minions_pre/fifo");
    fail_auto_t err = FAIL_INIT;
    uint8_t key[KEY_BYTES];

    put_text(garbage, "garbage", 0644);
    put_text(empty, "", 0644);
    put_text(big, "x", 0644);
    assert_int_equal(truncate(big, LIMIT_KEY_FILE + 1), 0);
    assert_int_equal(mkdir(folder, 0700), 0);
    assert_int_equal(mkfifo(fifo, 0600), 0);

    assert_false(keystore_get(f->store, "garbage", KEY_PENDING, key, &err));
    assert_non_null(strstr(err.text, "minions_pre/garbage: "));
    fail_clear(&err);
    assert_false(keystore_get(f->store, "empty", KEY_PENDING, key, &err));
    assert_null(err.text);
    assert_int_equal(key_state_of(f->store, "empty"), KEY_UNKNOWN);
    assert_false(keystore_get(f->store, "big", KEY_PENDING, key, &err));
    assert_non_null(err.text);
    assert_false(keystore_get(f->store, "folder", KEY_PENDING, key, NULL));
    assert_false(keystore_get(f->store, "fifo", KEY_PENDING, key, NULL)); /* and does not hang */
    assert_int_equal(keystore_delete(f->store, "garbage", KEY_PENDING, NULL), 0);
}

static void
test_unreadable(void **state)
{
    fixture_t *f = *state;
    AUTO_FREE char *file = fs_join(f->dir, "a_file");
    AUTO_FREE char *under = fs_join(file, "pki");
    fail_auto_t err = FAIL_INIT;

    put_text(file, "", 0600);
    assert_null(keystore_new(under, &err));
    assert_non_null(strstr(err.text, under));
    fail_clear(&err);
    /* Root may read everything, so the folder is tried as somebody else. */
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        if (chmod(f->pki, 0) != 0 || (geteuid() == 0 && setresuid(NOBODY, NOBODY, NOBODY) != 0))
            _exit(2);
        bool refused = keystore_new(f->pki, &err) == NULL && err.code == -EACCES &&
                       strstr(err.text, f->pki) != NULL && strstr(err.text, "run this as root") != NULL;
        _exit(refused ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_equal(chmod(f->pki, 0700), 0);
}

/* ---- autosign ------------------------------------------------------------------------------------ */

static void
test_listed(void **state)
{
    static const struct {
        const char *id;
        bool listed;
    } cases[] = {
        { "exact", true },
        { "exact2", false },
        { "web1", true },
        { "web12", true },
        { "xweb1", false },
        { "db7", true },
        { "db77", false },
        { "xdb7", false },
        { "db", false },
        { "commented", false },
        { "#commented", false },
        { "indented", true },
        { "host.example", true },
        { "hostXexample", false }, /* "." of a plain id is itself */
        { "mail.a.example", true },
        { "one", true },
        { "one_more", false },
        { "and_two", false },
        { "two", true },
        { "crlf", true },
        { "last", true },
        { "", false },
        { "../etc", false },
        { "(unbalanced", false },
    };
    fixture_t *f = *state;
    AUTO_FREE char *path = path_in(f, "autosign.conf");

    put_text(path,
             "# commented\n#commented\n   # db.*\n\nexact\nweb*\ndb[0-9]\n\t indented \nhost.example\n"
             "mail\\.[a-z]\\.example\none|two\ncrlf\r\n   \nlast",
             0644);
    for (size_t i = 0; i < NELEMS(cases); i++) {
        fail_auto_t err = FAIL_INIT;

        if (keystore_listed(path, cases[i].id, false, &err) != cases[i].listed)
            fail_msg("'%s' should %sbe listed", cases[i].id, cases[i].listed ? "" : "not ");
        assert_null(err.text);
    }
}

/* A line that is not a pattern names nobody, is told, and the others count. */
static void
test_listed_broken(void **state)
{
    fixture_t *f = *state;
    AUTO_FREE char *path = path_in(f, "autosign.conf");
    fail_auto_t before = FAIL_INIT, other = FAIL_INIT, after = FAIL_INIT;

    put_text(path, "web1\n(unbalanced\nweb2\n", 0644);
    assert_true(keystore_listed(path, "web1", false, &before));
    assert_null(before.text);
    assert_true(keystore_listed(path, "web2", false, &after));
    assert_non_null(strstr(fail_text(&after), "the line '(unbalanced' is not a pattern"));
    assert_false(keystore_listed(path, "unbalanced", false, &other));
    assert_non_null(strstr(fail_text(&other), "the line '(unbalanced' is not a pattern"));
}

/* What an editor puts before the first line is not of it; a NUL hides no line behind it: nothing is read then. */
static void
test_listed_bytes(void **state)
{
    static const char nul[] = "web1\nweb2\0\nweb3\n";
    fixture_t *f = *state;
    AUTO_FREE char *path = path_in(f, "autosign.conf");
    fail_auto_t bom = FAIL_INIT, err = FAIL_INIT;

    put_text(path, "\xef\xbb\xbfweb1\n", 0644);
    assert_true(keystore_listed(path, "web1", false, &bom));
    assert_null(bom.text);
    assert_int_equal(fs_write_quick(path, nul, sizeof(nul) - 1, 0644, NULL), 0);
    assert_false(keystore_listed(path, "web1", false, &err));
    assert_non_null(strstr(fail_text(&err), "autosign.conf: a NUL byte after 9 bytes"));
}

static void
test_listed_modes(void **state)
{
    static const struct {
        mode_t mode;
        bool strict, permissive;
    } cases[] = {
        { 0644, true, true },  { 0600, true, true },   { 0660, false, true },
        { 0664, false, true }, { 0646, false, false }, { 0666, false, false },
    };
    fixture_t *f = *state;
    AUTO_FREE char *path = path_in(f, "autosign.conf");

    put_text(path, "web*\n", 0644);
    for (size_t i = 0; i < NELEMS(cases); i++) {
        fail_auto_t strict = FAIL_INIT, permissive = FAIL_INIT;

        assert_int_equal(chmod(path, cases[i].mode), 0);
        assert_int_equal(keystore_listed(path, "web1", false, &strict), cases[i].strict);
        assert_int_equal(keystore_listed(path, "web1", true, &permissive), cases[i].permissive);
        assert_int_equal(strict.text == NULL, cases[i].strict);
        assert_int_equal(permissive.text == NULL, cases[i].permissive);
        if (strict.text != NULL)
            assert_non_null(strstr(strict.text, path));
    }
}

/* Grains that a peer claims: whole lines of the folder's own files count, and its names lead nowhere. */
static void
test_grains_listed(void **state)
{
    static const struct {
        const char *claim;
        bool listed;
    } cases[] = {
        { "{\"token\": \"long-random\"}", true },
        { "{\"other\": \"x\", \"token\": \"long-random\"}", true },
        { "{\"token\": \"5\"}", true },
        { "{\"token\": 5}", false },
        { "{\"token\": \"long-rando\"}", false },
        { "{\"token\": \"long-random2\"}", false },
        { "{\"token\": \"# long\"}", false },
        { "{\"token\": \"\"}", false },
        { "{\"token\": \" \"}", false },
        { "{\"token\": [\"long-random\"]}", false },
        { "{\"Token\": \"long-random\"}", false },
        { "{\"../grains/token\": \"long-random\"}", false },
        { "{\"token/\": \"long-random\", \".\": \"long-random\", \"..\": \"x\", \"\": \"long-random\"}",
          false },
        { "{\".hidden\": \"long-random\"}", false },
        { "{}", false },
        { "[\"token\"]", false },
        { "null", false },
    };
    fixture_t *f = *state;
    fail_auto_t err = FAIL_INIT, strict = FAIL_INIT, open = FAIL_INIT;
    AUTO_FREE char *folder = path_in(f, "grains");
    AUTO_FREE char *token = path_in(f, "grains/token"), *hidden = path_in(f, "grains/.hidden");
    json_auto_t *claim = json_pack("{s:s}", "token", "long-random"), *many = json_copy(claim);

    assert_int_equal(mkdir(folder, 0755), 0);
    put_text(token, "# long\n\n  long-random \r\n5\n", 0644);
    put_text(hidden, "long-random\n", 0644);
    for (size_t i = 0; i < NELEMS(cases); i++) {
        json_auto_t *one = json_loads(cases[i].claim, JSON_DECODE_ANY, NULL);
        if (keystore_grains_listed(folder, one, false, &err) != cases[i].listed)
            fail_msg("%s should %sbe listed", cases[i].claim, cases[i].listed ? "" : "not ");
        assert_null(err.text);
    }

    for (int i = 0; i < LIMIT_CLAIM_GRAINS; i++) {
        AUTO_FREE char *name = xasprintf("g%d", i);
        json_object_set_new(many, name, json_string("x"));
    }
    assert_false(keystore_grains_listed(folder, many, false, &err));
    assert_int_equal(chmod(token, 0666), 0);
    assert_false(keystore_grains_listed(folder, claim, false, &strict));
    assert_non_null(strstr(fail_text(&strict), "grains/token is ignored: everybody may write it"));
    assert_int_equal(chmod(token, 0644), 0);
    assert_int_equal(chmod(folder, 0777), 0);
    assert_false(keystore_grains_listed(folder, claim, false, &open));
    assert_non_null(strstr(fail_text(&open), "grains is ignored: everybody may write it"));
}

static void
test_listed_nowhere(void **state)
{
    fixture_t *f = *state;
    AUTO_FREE char *missing = path_in(f, "nosuch");
    fail_auto_t err = FAIL_INIT;

    assert_false(keystore_listed(missing, "web1", false, &err));
    assert_false(keystore_listed("", "web1", false, &err));
    assert_false(keystore_listed(NULL, "web1", false, &err));
    assert_null(err.text);
    assert_false(keystore_listed(f->pki, "web1", false, &err)); /* a folder */
    assert_non_null(err.text);
}

static void
test_autosign_files(void **state)
{
    fixture_t *f = *state;
    AUTO_FREE char *dir = path_in(f, "minions_autosign");
    AUTO_FREE char *stub = fs_join(dir, "web1");
    const struct timespec old[2] = { { .tv_sec = time(NULL) - 3600 }, { .tv_sec = time(NULL) - 3600 } };

    assert_false(keystore_take_autosign(f->pki, "web1", 120));
    assert_int_equal(fs_mkdirs(dir, 0755, NULL), 0);
    put_text(stub, "", 0600);
    assert_false(keystore_take_autosign(f->pki, "web2", 120));
    assert_false(keystore_take_autosign(f->pki, "../minions_autosign/web1", 120));
    assert_true(keystore_take_autosign(f->pki, "web1", 120));
    assert_false(keystore_take_autosign(f->pki, "web1", 120));
    put_text(stub, "", 0600);
    assert_int_equal(utimensat(AT_FDCWD, stub, old, 0), 0);
    assert_true(keystore_take_autosign(f->pki, "web1", 120));
    put_text(stub, "", 0600);
    assert_int_equal(utimensat(AT_FDCWD, stub, old, 0), 0);
    assert_false(keystore_take_autosign(f->pki, "web1", 30));
    assert_int_equal(access(stub, F_OK), -1);
    put_text(stub, "", 0600);
    assert_int_equal(utimensat(AT_FDCWD, stub, old, 0), 0);
    assert_true(keystore_take_autosign(f->pki, "web1", 0));
}

/* A folder of which the disk gives only a part is not one with fewer keys. */
static void
test_folder_that_breaks_off(void **state)
{
    fixture_t *f = *state;
    fail_auto_t err = FAIL_INIT;
    AUTO_FREE char *id = NULL;

    for (int i = 0; i < 5; i++) {
        free(id);
        id = xasprintf("web%d", i);
        assert_int_equal(keystore_put(f->store, id, KEY_ACCEPTED, key_one, &err), 0);
    }
    for (names_left = 6; names_left >= 0; names_left--) {
        int left = names_left;
        assert_null(keystore_list(f->store, KEY_ACCEPTED, &err));
        assert_int_equal(err.code, -EIO);
        fail_clear(&err);
        names_left = left;
    }
    json_auto_t *all = keystore_list(f->store, KEY_ACCEPTED, &err);
    assert_int_equal(json_array_size(all), 5);
}

/* A key that can't be looked at is neither unknown nor left out. */
static void
test_look_fails(void **state)
{
    fixture_t *f = *state;
    fail_auto_t err = FAIL_INIT, listed = FAIL_INIT;
    AUTO_FREE char *want = xasprintf("cannot look at %s/minions/web1: %s", f->pki, strerror(EIO));
    key_state_t is;

    assert_int_equal(keystore_put(f->store, "web1", KEY_PENDING, key_one, &err), 0);
    look_fails = EIO;
    int rc = keystore_state(f->store, "web1", &is, &err);
    json_auto_t *names = keystore_list(f->store, KEY_PENDING, &listed);
    look_fails = 0;
    assert_int_equal(rc, -EIO);
    assert_string_equal(fail_text(&err), want);
    assert_null(names);
    assert_int_equal(listed.code, -EIO);
    look_fails = ENOENT; /* gone meanwhile */
    rc = keystore_state(f->store, "web1", &is, NULL);
    json_auto_t *none = keystore_list(f->store, KEY_PENDING, NULL);
    look_fails = 0;
    assert_int_equal(rc, 0);
    assert_int_equal(is, KEY_UNKNOWN);
    assert_int_equal(json_array_size(none), 0);
    assert_non_null(none);
}

/* What an operator was told is not undone by a power cut, and a crowd of keys is one wait for the disk. */
static void
test_synced(void **state)
{
    fixture_t *f = *state;
    fail_auto_t err = FAIL_INIT;

    for (int i = 0; i < 5; i++) {
        AUTO_FREE char *id = xasprintf("web%d", i);
        assert_int_equal(keystore_put(f->store, id, KEY_ACCEPTED, key_one, &err), 0);
        assert_int_equal(keystore_move(f->store, id, KEY_ACCEPTED, KEY_REJECTED, &err), 0);
    }
    assert_string_equal(synced, "");
    assert_int_equal(keystore_sync(f->store, &err), 0);
    assert_string_equal(synced, "minions minions_rejected ");
    assert_int_equal(keystore_sync(f->store, &err), 0);
    assert_string_equal(synced, "minions minions_rejected ");
    assert_int_equal(keystore_delete(f->store, "web1", KEY_REJECTED, &err), 0);
    sync_fails = true;
    assert_int_equal(keystore_sync(f->store, &err), -EIO);
    assert_non_null(strstr(fail_text(&err), "minions_rejected: Input/output error"));
    sync_fails = false;
    assert_int_equal(keystore_sync(f->store, NULL), 0);
    assert_string_equal(synced, "minions minions_rejected minions_rejected ");
}

#define WITH_STORE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
UNIT_MAIN(cmocka_unit_test(test_names), WITH_STORE(test_folders), WITH_STORE(test_life),
          WITH_STORE(test_synced), WITH_STORE(test_list), WITH_STORE(test_folder_that_breaks_off),
          WITH_STORE(test_look_fails), WITH_STORE(test_bad_ids), WITH_STORE(test_unfit),
          WITH_STORE(test_links), WITH_STORE(test_bad_files), WITH_STORE(test_unreadable),
          WITH_STORE(test_listed), WITH_STORE(test_listed_modes), WITH_STORE(test_listed_bytes),
          WITH_STORE(test_listed_broken), WITH_STORE(test_listed_nowhere), WITH_STORE(test_grains_listed),
          WITH_STORE(test_autosign_files))
