/* test_beneath.c - paths below a folder: what is let in, what the folder looks like afterwards, and ten thousand names
 * that want out of it while somebody swaps folders for links. */
#include "common/base/beneath.h"

#include "salt/limits.h"
#include "unit/hostile.h"

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

    (void) state;
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

#define T(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

UNIT_MAIN(cmocka_unit_test(test_check), T(test_files), T(test_links), T(test_hostile))
