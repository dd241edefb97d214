/* test_complete.c - words of an unfinished command line, and which names may be offered at a prompt. */
#include "cli/opts.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/cli/complete.h"
#include "common/cli/optrow.h"
#include "salt/value.h"
#include "unit/unit.h"

static int
by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *) a, *(char *const *) b);
}

/* NEW. */
static char *
joined(char *const *words, const char *separator)
{
    buf_t out = BUF_INIT;

    for (size_t i = 0; words[i] != NULL; i++)
        buf_printf(&out, "%s%s", i > 0 ? separator : "", words[i]);
    return buf_steal(&out);
}

/* `words` with blanks between them; the last is the one to complete, "" when there is a blank at the end. */
static char **
begin(complete_t *c, const char *words)
{
    AUTO_FREE char *all = xasprintf("salt|--complete|%s", words);
    AUTO_FREE char *line = str_replace(all, " ", "|");
    char **argv = str_split(line, "|", false);

    complete_begin(c, &opts_salt, (int) strv_len(argv), argv);
    return argv;
}

static void
assert_read(const char *words, const char *values, const char *args, const char *option, const char *lead,
            const char *part)
{
    complete_t c;
    char **argv = begin(&c, words);
    AUTO_FREE char *shown = value_dump(c.values);
    AUTO_FREE char *args_shown = joined(c.args, ",");
    AUTO_FREE char *key = c.row != NULL ? optrow_key(c.row) : xstrdup("");

    assert_string_equal(shown, values);
    assert_string_equal(args_shown, args);
    assert_string_equal(key, option);
    assert_string_equal(c.lead, lead);
    assert_string_equal(c.part, part);
    complete_free(&c);
    strv_free(argv);
}

static void
test_words(void **state)
{
    assert_read("", "{}", "", "", "", "");
    assert_read("we", "{}", "", "", "", "we");
    assert_read("-t 5 --static web1 test.", "{\"timeout\":\"5\",\"static\":true}", "web1", "", "", "test.");
    assert_read("-vt5 -L a,b", "{\"verbose\":true,\"timeout\":\"5\",\"tgt_type\":\"list\"}", "", "", "",
                "a,b");
    assert_read("--timeout=5 --out ", "{\"timeout\":\"5\"}", "", "output", "", "");
    assert_read("web1 --out=js", "{}", "web1", "output", "--out=", "js");
    assert_read("web1 -vl wa", "{\"verbose\":true}", "web1", "log_level", "", "wa");
    assert_read("--nosuch=1 --nosuch -Z - x saltenv=d", "{}", "-,x", "", "", "saltenv=d");
    assert_read("--nosuch=d", "{}", "", "", "--nosuch=", "d");
}

/* NEW: all that is offered of these names, as it is printed. */
static char *
offered(const char *words, char separator, const char *const *names)
{
    complete_t c;
    char **argv = begin(&c, words), *text = NULL;
    size_t len = 0;

    c.out = open_memstream(&text, &len);
    if (separator != '\0')
        complete_split(&c, separator);
    for (; *names != NULL; names++)
        complete_offer(&c, *names);
    assert_int_equal(fclose(c.out), 0);
    complete_free(&c);
    strv_free(argv);
    return text;
}

static void
test_names(void **state)
{
    static const char *const odd[] = { "$(reboot)", "`id`",    "a b",   "a;b", "a'b", "a\"b", "a\\b",
                                       "-d",        "--out=x", "~root", "a*b", "a?b", "a[b",  "{a,b}",
                                       "a|b",       "a&b",     "a>b",   "a#b", "!a",  "a\nb", "a\033[2J",
                                       "a\xc3\xa4", "%1",      "",      "a/b", NULL };
    static const char *const names[] = {
        "web1", "web2", "db1", "web1.example.com", "test.ping", "a@b:c", NULL
    };

    AUTO_FREE char *none = offered("", '\0', odd);
    assert_string_equal(none, "");
    AUTO_FREE char *webs = offered("we", '\0', names);
    assert_string_equal(webs, "web1\nweb2\nweb1.example.com\n");
    AUTO_FREE char *listed = offered("db1,web2,we", ',', names);
    assert_string_equal(listed, "db1,web2,web1\ndb1,web2,web2\ndb1,web2,web1.example.com\n");
    AUTO_FREE char *other = offered("x", '\0', names);
    assert_string_equal(other, "");
}

static void
test_sls(void **state)
{
    static const struct {
        const char *words, *saltenv, *expected;
    } rows[] = {
        { "", NULL, "top\nweb\nweb.\n" },
        { "web.", NULL, "web.a\nweb.ng.\n" },
        { "top,web.ng.", NULL, "top,web.ng.b\n" },
        { "w", "dev", "wild\n" },
        { "w", "nosuch", "" },
        { "..", NULL, "" },
    };
    char dir[] = "/tmp/halite-complete-XXXXXX";

    assert_non_null(mkdtemp(dir));
    static const char *const files[] = { "base/top.sls",      "base/web/init.sls", "base/web/a.sls",
                                         "base/web/ng/b.sls", "base/web/not.txt",  "base/web/$(x).sls",
                                         "dev/wild.sls" };
    for (size_t i = 0; i < NELEMS(files); i++) {
        AUTO_FREE char *path = fs_join(dir, files[i]);
        AUTO_FREE char *folder = xstrndup(path, (size_t) (strrchr(path, '/') - path));
        assert_int_equal(fs_mkdirs(folder, 0755, NULL), 0);
        assert_int_equal(fs_write_quick(path, "", 0, 0644, NULL), 0);
    }
    AUTO_FREE char *base = fs_join(dir, "base");
    AUTO_FREE char *dev = fs_join(dir, "dev");
    json_auto_t *opts = json_pack("{s:{s:[s], s:[s, i]}}", "file_roots", "base", base, "dev", dev, 7);
    for (size_t i = 0; i < NELEMS(rows); i++) {
        complete_t c;
        char **argv = begin(&c, rows[i].words), *text = NULL;
        size_t len = 0;
        c.out = open_memstream(&text, &len);
        complete_sls(&c, opts, rows[i].saltenv);
        assert_int_equal(fclose(c.out), 0);
        char **lines = str_split(text, "\n", true);
        qsort(lines, strv_len(lines), sizeof(*lines), by_text);
        AUTO_FREE char *sorted = joined(lines, "\n");
        AUTO_FREE char *whole = xasprintf("%s%s", sorted, *sorted != '\0' ? "\n" : "");
        assert_string_equal(whole, rows[i].expected);
        free(text);
        strv_free(lines);
        complete_free(&c);
        strv_free(argv);
    }
    assert_int_equal(fs_remove_tree(dir, NULL), 0);
}

UNIT_MAIN(cmocka_unit_test(test_words), cmocka_unit_test(test_names), cmocka_unit_test(test_sls))
