/* test_beneath.c - paths below a folder: what is let in, what the folder looks like afterwards, and ten
 * thousand names that want out of it while somebody swaps folders for links. */
#include "common/base/beneath.h"

#include "common/base/steps.h"
#include "salt/limits.h"
#include "unit/hostile.h"
#include "unit/refused.h"

static int
set_up(void **state)
{
    *state = hostile_new("in");
    return 0;
}

static int
tear_down(void **state)
{
    hostile_free(*state);
    return 0;
}

static void
test_check(void **state)
{
    static const struct {
        const char *path;
        int rc;
    } rows[] = { { "a", 0 },        { "a/b.c/..d", 0 },  { "...", 0 },
                 { "\xc0\xae", 0 }, { "", -EINVAL },     { ".", -EINVAL },
                 { "..", -EINVAL }, { "a/..", -EINVAL }, { "a/../b", -EINVAL },
                 { "/a", -EINVAL }, { "a/", -EINVAL },   { "a//b", -EINVAL },
                 { "./a", -EINVAL } };
    char deep[2 * LIMIT_FILE_DEPTH + 2], wide[NAME_MAX + 2];

    for (size_t i = 0; i < NELEMS(rows); i++)
        assert_int_equal(beneath_check(rows[i].path), rows[i].rc);
    for (size_t i = 0; i < sizeof(deep); i++)
        deep[i] = i % 2 == 0 ? 'x' : '/';
    deep[sizeof(deep) - 1] = '\0';
    assert_int_equal(beneath_check(deep), -ENAMETOOLONG);
    deep[2 * LIMIT_FILE_DEPTH - 1] = '\0';
    assert_int_equal(beneath_check(deep), 0);
    memset(wide, 'x', sizeof(wide));
    wide[NAME_MAX + 1] = '\0';
    assert_int_equal(beneath_check(wide), -ENAMETOOLONG);
    assert_true(beneath_is_name("a"));
    assert_false(beneath_is_name("a/b") || beneath_is_name("..") || beneath_is_name(""));
}

/* What a process of this one's id may have left when it was killed. */
static void
leave_temporary(int folder)
{
    for (int i = 0; i < 16; i++) {
        AUTO_FREE char *name = xasprintf(".new.%d.%x", (int) getpid(), i);
        AUTO_FD fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        assert_true(fd >= 0);
    }
}

static void
test_files(void **state)
{
    hostile_t *h = *state;
    const char *name;
    buf_auto_t text = BUF_INIT;
    struct stat st;

    atomic_store(&h->held, true);
    AUTO_FD folder = beneath_parent(h->dir, "x/y/z", BENEATH_NO_LINKS, 0700, &name);
    assert_true(folder >= 0);
    assert_string_equal(name, "z");
    leave_temporary(folder);
    assert_int_equal(beneath_put(folder, name, "abc", 3, 0640, true), 0);
    assert_int_equal(fstatat(h->dir, "x/y/z", &st, 0) | fstatat(h->dir, "x/y", &st, 0), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    assert_int_equal(beneath_read(h->dir, "x/y/z", 10, &text), 0);
    assert_string_equal(buf_str(&text), "abc");
    assert_int_equal(beneath_read(h->dir, "x/y/z", 2, &text), -EFBIG);
    assert_int_equal(beneath_read(h->dir, "x/y", 2, &text), -EINVAL);
    assert_int_equal(beneath_read(h->dir, "x/no", 2, &text), -ENOENT);
    assert_true(!beneath_absent(h->dir, "x/y") && beneath_absent(h->dir, "x/no"));
    assert_int_equal(beneath_remove(h->dir, "x"), 0);
    assert_int_equal(beneath_remove(h->dir, "x"), 0);
    assert_true(beneath_absent(h->dir, "x"));
}

static void
test_links(void **state)
{
    hostile_t *h = *state;
    buf_auto_t text = BUF_INIT;

    atomic_store(&h->held, true);
    assert_int_equal(beneath_read(h->dir, "link/secret", 99, &text), -ELOOP);
    assert_int_equal(beneath_open(h->dir, "link", BENEATH_LINKS, O_RDONLY, 0), -EXDEV);
    assert_int_equal(beneath_open(h->dir, "inner", BENEATH_NO_LINKS, O_RDONLY, 0), -ELOOP);
    AUTO_FD inner = beneath_open(h->dir, "inner/b", BENEATH_LINKS, O_RDONLY, 0);
    AUTO_FD made = beneath_folder(h->dir, "inner/new", BENEATH_LINKS, 0755);
    assert_true(inner >= 0 && made >= 0);
    assert_false(beneath_absent(h->dir, "a/new"));
    assert_int_equal(beneath_folder(h->dir, "link/new", BENEATH_LINKS, 0755), -EXDEV);
    assert_int_equal(beneath_remove(h->dir, "link"), 0); /* itself */
    assert_true(beneath_absent(h->dir, "link"));
    hostile_audit(h, "links");
    AUTO_FD out = beneath_open(h->dir, "a/../b", BENEATH_OUT, O_RDONLY, 0);
    assert_int_equal(out, -EINVAL);
}

/* One link after another, what the kernel says of each and what it opens: the same with and without openat2. */
static void
test_kinds_of_links(void **state)
{
    hostile_t *h = *state;
    AUTO_FREE char *far = fs_join(h->out, "secret");
    const struct {
        const char *name, *to, *path;
        beneath_t how;
        int flags, rc;
    } rows[] = {
        { "l1", "a/b", "l1", BENEATH_LINKS, O_RDONLY, 0 },
        { "l1", "a/b", "l1", BENEATH_LINKS, O_RDONLY | O_NOFOLLOW, -ELOOP },
        { "l1", "a/b", "l1", BENEATH_NO_LINKS, O_PATH, -ELOOP },
        { "l1", "a/b", "l1", BENEATH_NO_LINKS, O_RDONLY | O_DIRECTORY, -ELOOP },
        { "l1", "a/b", "l1", BENEATH_LINKS, O_PATH, 0 },
        { "l2", "leaf/", "l2", BENEATH_LINKS, O_RDONLY, -ENOTDIR },
        { "l3", "leaf", "l3/x", BENEATH_LINKS, O_RDONLY, -ENOTDIR },
        { "l3", "leaf", "l3", BENEATH_LINKS, O_RDONLY | O_DIRECTORY, -ENOTDIR },
        { "l4", "a/b/../../leaf", "l4", BENEATH_LINKS, O_RDONLY, 0 },
        { "a/l5", "..", "a/l5/leaf", BENEATH_LINKS, O_RDONLY, 0 },
        { "a/l5", "..", "a/l5", BENEATH_LINKS, O_RDONLY | O_DIRECTORY, 0 },
        { "l6", "..", "l6", BENEATH_LINKS, O_RDONLY, -EXDEV },
        { "l7", "a/../../in/leaf", "l7", BENEATH_LINKS, O_RDONLY, -EXDEV },
        { "l8", "l8", "l8", BENEATH_LINKS, O_RDONLY, -ELOOP },
        { "l9", "/", "l9", BENEATH_LINKS, O_RDONLY, -EXDEV },
        { "lA", "nothing", "lA", BENEATH_LINKS, O_RDONLY, -ENOENT },
        { "lA", "nothing", "lA", BENEATH_LINKS, O_RDWR | O_CREAT | O_EXCL, -EEXIST },
        { "lA", "nothing", "lA", BENEATH_NO_LINKS, O_RDWR | O_CREAT, -ELOOP },
        { "lA", "nothing", "lA", BENEATH_LINKS, O_RDWR | O_CREAT, 0 },
        { "lB", "../out/../in/leaf", "lB", BENEATH_OUT, O_RDONLY, 0 },
        { "lC", "/proc/self/root", "lC", BENEATH_OUT, O_RDONLY, -ELOOP },
        { "lD", "/proc/self/status", "lD", BENEATH_OUT, O_RDONLY, 0 },
        { "lE", far, "lE", BENEATH_LINKS, O_RDONLY, -EXDEV },
        { "lE", far, "lE", BENEATH_OUT, O_PATH, 0 },
        { "lF", ".", "lF/lF/./lF/leaf", BENEATH_LINKS, O_RDONLY, -EINVAL },
        { "lF", ".", "lF/lF/lF/leaf", BENEATH_LINKS, O_RDONLY, 0 },
        { "lG", "a//b/.//", "lG", BENEATH_LINKS, O_RDONLY, 0 },
        { "leaf", NULL, "leaf/x", BENEATH_NO_LINKS, O_RDONLY, -ENOTDIR },
        { "a", NULL, "a", BENEATH_NO_LINKS, O_RDWR, -EISDIR },
        { "a", NULL, "a", BENEATH_NO_LINKS, O_RDWR | O_CREAT | O_EXCL, -EEXIST },
    };

    atomic_store(&h->held, true);
    for (size_t i = 0; i < NELEMS(rows); i++) {
        if (rows[i].to != NULL)
            (void) !symlinkat(rows[i].to, h->dir, rows[i].name);
        AUTO_FD fd = beneath_open(h->dir, rows[i].path, rows[i].how, rows[i].flags, 0600);
        if ((fd < 0 ? fd : 0) != rows[i].rc)
            fail_msg("%s -> %s: %s gives %d", rows[i].name, rows[i].to, rows[i].path, fd);
        struct stat st;
        assert_true(fd < 0 || (fstat(fd, &st) == 0 && !S_ISLNK(st.st_mode)));
    }
}

/* A link of somebody else's in a folder for everybody leads nobody: by hand always, as the kernel may be
 * told to. */
static void
test_links_of_others(void **state)
{
    hostile_t *h = *state;

    if (geteuid() != 0)
        skip();
    atomic_store(&h->held, true);
    assert_int_equal(
        symlinkat("b", h->dir, "a/theirs") | fchownat(h->dir, "a/theirs", 1, 1, AT_SYMLINK_NOFOLLOW), 0);
    assert_int_equal(fchmodat(h->dir, "a", 01777, 0), 0);
    assert_int_equal(steps_open(h->dir, "a/theirs", BENEATH_LINKS, O_RDONLY, 0), -EACCES);
    assert_int_equal(fchmodat(h->dir, "a", 0755, 0), 0);
    AUTO_FD fd = steps_open(h->dir, "a/theirs", BENEATH_LINKS, O_RDONLY, 0);
    assert_true(fd >= 0);
}

/* Texts of links that ask for more steps than anybody needs, and for no more links than may be. */
static void
test_endless(void **state)
{
    hostile_t *h = *state;
    char text[PATH_MAX - 10] = "";

    atomic_store(&h->held, true);
    for (size_t n = 0; n + 6 < sizeof(text); n += 5)
        memcpy(text + n, "a/../", 6);
    for (int i = 0; i < 30; i++) {
        AUTO_FREE char *name = xasprintf("e%d", i), *to = xasprintf("%se%d", text + 5 * 5, i + 1);
        assert_int_equal(symlinkat(to, h->dir, name), 0);
    }
    assert_int_equal(steps_open(h->dir, "e0", BENEATH_LINKS, O_RDONLY, 0), -ELOOP);
    assert_int_equal(steps_open(h->dir, "e30", BENEATH_LINKS, O_RDONLY, 0), -ENOENT);
}

static void
one(hostile_t *h, const char *name)
{
    buf_auto_t text = BUF_INIT;
    const char *last;
    AUTO_FD strict = beneath_open(h->dir, name, BENEATH_NO_LINKS, O_RDWR | O_CREAT | O_NONBLOCK, 0600);
    AUTO_FD links = beneath_open(h->dir, name, BENEATH_LINKS, O_RDONLY | O_NONBLOCK, 0);
    AUTO_FD folder = beneath_folder(h->dir, name, BENEATH_NO_LINKS, 0700);
    AUTO_FD parent = beneath_parent(h->dir, name, BENEATH_LINKS, 0700, &last);

    if (parent >= 0)
        (void) beneath_put(parent, last, "x", 1, 0600, false);
    (void) beneath_read(h->dir, name, 1000, &text);
    assert_null(text.data != NULL ? strstr(text.data, HOSTILE_SECRET) : NULL);
    (void) beneath_absent(h->dir, name);
    (void) beneath_remove(h->dir, name);
}

static void
test_hostile(void **state)
{
    hostile_t *h = *state;

    for (int i = 0; i < hostile_names(); i++) {
        one(h, hostile_next(h));
        hostile_audit(h, "beneath");
        if (i % 16 == 0)
            hostile_furnish(h);
    }
}

static void
with_openat2_forbidden(void **state)
{
    refused_run(EPERM);
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

UNIT_MAIN(cmocka_unit_test(test_check), T(test_files), T(test_links), T(test_kinds_of_links),
          T(test_links_of_others), T(test_endless), T(test_hostile), cmocka_unit_test(without_openat2),
          cmocka_unit_test(with_openat2_forbidden))
