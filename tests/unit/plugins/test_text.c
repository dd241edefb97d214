/* test_text.c - files that are searched while somebody cuts them. */
#include "unit/folder.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/file/text.h"
#include "salt/value.h"

#define LARGE (1024 * 1024)

static const char *cut; /* the file that is cut as soon as a search begins; NULL: none */

static void
cut_now(void)
{
    const char *path = STEAL(cut);

    if (path != NULL)
        assert_int_equal(truncate(path, 0), 0);
}

void *
memmem(const void *hay, size_t len, const void *needle, size_t n)
{
    void *(*real)(const void *, size_t, const void *,
                  size_t) = (void *(*) (const void *, size_t, const void *, size_t)) dlsym(RTLD_NEXT,
                                                                                           "memmem");

    cut_now();
    return real(hay, len, needle, n);
}

int pcre2_match_8(const void *code, const unsigned char *text, size_t len, size_t from, uint32_t options,
                  void *match, void *context);

int
pcre2_match_8(const void *code, const unsigned char *text, size_t len, size_t from, uint32_t options,
              void *match, void *context)
{
    int (*real)(const void *, const unsigned char *, size_t, size_t, uint32_t, void *,
                void *) = (int (*)(const void *, const unsigned char *, size_t, size_t, uint32_t, void *,
                                   void *)) dlsym(RTLD_NEXT, "pcre2_match_8");

    cut_now();
    return real(code, text, len, from, options, match, context);
}

/* NEW path of a file of lines "xxx...", each of `line` bytes with its end, and `last` behind them. */
static char *
lines(size_t line, const char *last)
{
    char *path = fs_join(dir, "file");
    buf_auto_t text = BUF_INIT;

    for (size_t i = 1; i <= LARGE; i++)
        buf_putc(&text, i % line == 0 ? '\n' : 'x');
    buf_puts(&text, last);
    assert_int_equal(fs_write_quick(path, text.data, text.len, 0600, NULL), 0);
    return path;
}

static bool
holds(func_fn *fn, const char *path, const char *name, const char *what)
{
    json_auto_t *args = json_pack("{s:s, s:s}", "path", path, name, what), *ret = NULL;

    assert_int_equal(fn(NULL, args, &ret, NULL), 0);
    assert_true(json_is_boolean(ret));
    return json_is_true(ret);
}

static void
test_cut_meanwhile(void **state)
{
    AUTO_FREE char *path = lines(100, "");

    cut = path;
    assert_false(holds(file_contains, path, "text", "needle"));
    free(path);
    cut = path = lines(100, "");
    assert_false(holds(file_contains_regex, path, "regex", "needle"));
    free(path);
    cut = path = lines(100, "needle");
    json_auto_t *args = json_pack("{s:s, s:{s:s}}", "path", dir, "kwargs", "grep", "needle"), *found = NULL;
    assert_int_equal(file_find(NULL, args, &found, NULL), 0);
    assert_int_equal(json_array_size(found), 1);
    assert_null(cut);
}

/* Wherever the pieces end. */
static void
test_pieces(void **state)
{
    for (size_t more = 0; more < 8; more++) {
        AUTO_FREE char *end = xasprintf("%.*sneedle", (int) more, "........");
        AUTO_FREE char *path = lines(LARGE / 4 - 3, end);
        assert_true(holds(file_contains, path, "text", "x\nxxx"));
        assert_true(holds(file_contains, path, "text", "needle"));
        assert_false(holds(file_contains, path, "text", "needles"));
        assert_true(holds(file_contains_regex, path, "regex", "^x{1140}(?:x{9000}){29}\n"));
        assert_false(holds(file_contains_regex, path, "regex", "x\nx"));
        assert_true(holds(file_contains_regex, path, "regex", "needle$"));
        assert_int_equal(unlink(path), 0);
    }
}

/* A file that is searched in windows: at the end of the first one, on its edge and behind it. */
static void
test_find_in_a_large_file(void **state)
{
    static const off_t places[] = { LIMIT_FILE_READ - 20, LIMIT_FILE_READ - 3, LIMIT_FILE_READ + 5000000 };

    for (size_t i = 0; i < NELEMS(places); i++) {
        AUTO_FREE char *path = fs_join(dir, "large");
        AUTO_FD fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        assert_int_equal(pwrite(fd, "needle", 6, places[i]), 6);
        json_auto_t *args = json_pack("{s:s, s:{s:s}}", "path", dir, "kwargs", "grep", "needle"),
                    *found = NULL;
        assert_int_equal(file_find(NULL, args, &found, NULL), 0);
        assert_int_equal(json_array_size(found), 1);
        json_auto_t *other = json_pack("{s:s, s:{s:s}}", "path", dir, "kwargs", "grep", "needles"),
                    *none = NULL;
        assert_int_equal(file_find(NULL, other, &none, NULL), 0);
        assert_int_equal(json_array_size(none), 0);
        assert_int_equal(unlink(path), 0);
    }
}

static void
test_nothing(void **state)
{
    AUTO_FREE char *path = fs_join(dir, "empty"), *pipe = fs_join(dir, "pipe");

    assert_int_equal(fs_write_quick(path, "", 0, 0600, NULL), 0);
    assert_int_equal(mkfifo(pipe, 0600), 0);
    assert_true(holds(file_contains, path, "text", ""));
    assert_false(holds(file_contains, path, "text", "x"));
    assert_false(holds(file_contains_regex, path, "regex", "x"));
    assert_false(holds(file_contains, dir, "text", ""));
    assert_false(holds(file_contains, pipe, "text", "x"));
    assert_false(holds(file_contains_regex, pipe, "regex", "x"));
    assert_false(holds(file_contains_glob, pipe, "glob_expr", "x"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

UNIT_MAIN(TEST(test_cut_meanwhile), TEST(test_pieces), TEST(test_find_in_a_large_file), TEST(test_nothing))
