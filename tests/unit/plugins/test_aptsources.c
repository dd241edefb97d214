/* test_aptsources.c - lists of sources: lines and paragraphs, changed and written again. */
#include "unit/unit.h"

#include <sys/stat.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/apt/aptsources.h"
#include "salt/value.h"

/* "type|uri|dist|comps|archs|signedby|others|disabled|comment" or "invalid". NEW. */
static char *
summary(const apt_source_t *s)
{
    AUTO_FREE char *comps = value_repr(s->comps), *archs = value_repr(s->archs),
                   *others = value_repr(s->others);

    if (s->invalid)
        return xstrdup("invalid");
    return xasprintf("%s|%s|%s|%s|%s|%s|%s|%s|%s", s->type, s->uri, s->dist, comps, archs, s->signedby,
                     others, s->disabled ? "off" : "on", s->comment);
}

static void
test_lines(void **state)
{
    static const char *const rows[][3] = {
        { "deb http://a/x s main contrib", "deb|http://a/x|s|['main', 'contrib']|[]||[]|on|",
          "deb http://a/x s main contrib" },
        { "  deb-src\thttp://a/x  s  main # why\n", "deb-src|http://a/x|s|['main']|[]||[]|on| why",
          "deb-src http://a/x s main # why" },
        { "# deb [arch=amd64,i386 signed-by=/k.gpg trusted=yes] http://a s",
          "deb|http://a|s|[]|['amd64', 'i386']|/k.gpg|['trusted=yes']|off|",
          "# deb [arch=amd64,i386 signed-by=/k.gpg trusted=yes] http://a s" },
        { "deb [ arch=amd64 ] http://[::1]/a ./", "deb|http://[::1]/a|./|[]|['amd64']||[]|on|",
          "deb [arch=amd64] http://[::1]/a ./" },
        { "deb cdrom:[Tea 12 _Pot_]/ s main", "deb|cdrom:[Tea 12 _Pot_]/|s|['main']|[]||[]|on|",
          "deb cdrom:[Tea 12 _Pot_]/ s main" },
        { "", "invalid", "" },
        { "# words about it", "invalid", "# words about it" },
        { "## deb http://a s main", "invalid", "## deb http://a s main" },
        { "deb http://a", "invalid", "deb http://a" },
        { "deb [arch=amd64 http://a s", "invalid", "deb [arch=amd64 http://a s" },
        { "dep http://a s main", "invalid", "dep http://a s main" },
    };

    for (size_t i = 0; i < NELEMS(rows); i++) {
        AUTO(apt_source) s = apt_source_new(rows[i][0], NULL);
        AUTO_FREE char *got = summary(s);
        AUTO_FREE char *line = apt_source_render(s);
        assert_string_equal(got, rows[i][1]);
        assert_string_equal(line, rows[i][2]);
        assert_string_equal(s->file, APT_MAIN_LIST);
    }
}

#define LIST  "/etc/apt/sources.list"
#define PARTS "/etc/apt/sources.list.d/tea.sources"
#define STANZAS                                                                                              \
    "# first\nTypes: deb deb-src\nURIs: http://a/x\nSuites: s s-updates\nComponents: main\n"                 \
    "Check-Valid-Until: no\n\n\nEnabled: no\nTypes: deb\nURIs: http://b\nSuites: ./\nArchitectures: amd64\n" \
    "Signed-By:\n -----BEGIN KEY-----\n .\n abc\n"

static apt_sources_t *
both(void)
{
    static const char lines[] =
        "# mine\ndeb http://a/x s main\n\n  deb [trusted=yes] http://c s main non-free  \n";
    apt_sources_t *all = apt_sources_new("/nonexistent-root", NULL);

    apt_sources_read(all, LIST, lines, strlen(lines));
    apt_sources_read(all, PARTS, STANZAS, strlen(STANZAS));
    return all;
}

static apt_source_t *
find(const apt_sources_t *all, const char *file, const char *type, const char *uri, const char *dist,
     size_t *ret_i)
{
    for (size_t i = 0; i < apt_sources_count(all); i++) {
        apt_source_t *s = apt_sources_at(all, i);
        if (str_eq(s->file, file) && str_eq(s->type, type) && str_eq(s->uri, uri) && str_eq(s->dist, dist)) {
            if (ret_i != NULL)
                *ret_i = i;
            return s;
        }
    }
    fail_msg("no %s %s %s in %s", type, uri, dist, file);
    return NULL;
}

static void
test_paragraphs(void **state)
{
    AUTO(apt_sources) all = both();

    assert_int_equal(apt_sources_count(all), 4 + 4 + 1);
    apt_source_t *s = find(all, PARTS, "deb-src", "http://a/x", "s-updates", NULL);
    assert_string_equal(s->line, "deb-src [check-valid-until=no] http://a/x s-updates main");
    s = find(all, PARTS, "deb", "http://b", "./", NULL);
    assert_true(s->disabled);
    assert_string_equal(s->line, "# deb [arch=amd64] http://b ./");
    assert_string_equal(s->signedby, "-----BEGIN KEY-----\n .\n abc");
}

static void
test_untouched(void **state)
{
    AUTO(apt_sources) all = both();
    AUTO_FREE char *parts = apt_sources_text(all, PARTS);
    AUTO_FREE char *list = apt_sources_text(all, LIST);

    assert_string_equal(parts, STANZAS);
    assert_string_equal(list,
                        "# mine\ndeb http://a/x s main\n\n  deb [trusted=yes] http://c s main non-free  \n");
}

/* Lines that nobody changed keep bytes that are not UTF-8, and their ends. */
static void
test_bytes_stay(void **state)
{
    static const char lines[] =
        "# Fran\xe7ois\r\n  deb http://a/x s main # \xe7\r\ndeb http://c s main\r\n# the\rend";
    AUTO(apt_sources) all = apt_sources_new("/nonexistent-root", NULL);
    apt_source_t *fresh = apt_source_new("deb http://d s main", LIST);

    apt_sources_read(all, LIST, lines, strlen(lines));
    AUTO_FREE char *same = apt_sources_text(all, LIST);
    assert_string_equal(same, lines);
    find(all, LIST, "deb", "http://c", "s", NULL)->changed = true;
    apt_sources_add(all, &fresh);
    AUTO_FREE char *list = apt_sources_text(all, LIST);
    assert_string_equal(list,
                        "# Fran\xe7ois\r\n  deb http://a/x s main # \xe7\r\ndeb http://c s main\n# the\rend\n"
                        "deb http://d s main\n");
}

static void
test_changed_line(void **state)
{
    AUTO(apt_sources) all = both();
    apt_source_t *s = find(all, LIST, "deb", "http://c", "s", NULL);

    json_array_remove(s->comps, 1);
    s->disabled = s->changed = true;
    AUTO_FREE char *list = apt_sources_text(all, LIST);
    assert_string_equal(list, "# mine\ndeb http://a/x s main\n\n# deb [trusted=yes] http://c s main\n");
}

static void
test_split_paragraph(void **state)
{
    AUTO(apt_sources) all = both();
    size_t i = 0;

    find(all, PARTS, "deb-src", "http://a/x", "s", &i);
    apt_sources_remove(all, i);
    AUTO_FREE char *parts = apt_sources_text(all, PARTS);
    const char *rest = strstr(STANZAS, "\n\nEnabled");
    AUTO_FREE char *want = xasprintf("# first\nTypes: deb\nURIs: http://a/x\nSuites: s s-updates\n"
                                     "Components: main\ncheck-valid-until: no\n\n"
                                     "Types: deb-src\nURIs: http://a/x\nSuites: s-updates\n"
                                     "Components: main\ncheck-valid-until: no\n%s",
                                     rest);
    assert_string_equal(parts, want);
}

static void
test_keys_survive(void **state)
{
    AUTO(apt_sources) all = both();
    apt_source_t *s = find(all, PARTS, "deb", "http://b", "./", NULL);

    s->disabled = false;
    s->changed = true;
    AUTO_FREE char *parts = apt_sources_text(all, PARTS);
    assert_non_null(strstr(parts, "Types: deb\nURIs: http://b\nSuites: ./\nArchitectures: amd64\n"
                                  "Signed-By:\n -----BEGIN KEY-----\n .\n abc\n"));
    assert_null(strstr(parts, "Enabled"));
}

/* Whole files below a folder: a changed one is written, the others are not. */
static void
test_save(void **state)
{
    char root[] = "/tmp/halite-sources-XXXXXX";
    fail_auto_t err = FAIL_INIT;

    assert_non_null(mkdtemp(root));
    AUTO_FREE char *dir = xasprintf("%s/etc/apt/sources.list.d", root);
    AUTO_FREE char *one = fs_join(dir, "one.list"), *two = fs_join(dir, "two.sources");
    assert_int_equal(fs_mkdirs(dir, 0755, &err), 0);
    assert_int_equal(fs_write_quick(one, "deb http://a s main\n", 20, 0640, &err), 0);
    AUTO(apt_sources) all = apt_sources_new(root, &err);
    assert_int_equal(apt_sources_count(all), 1);
    AUTO(apt_source)
    fresh = apt_source_new("deb [signed-by=/k] http://b s main", "/etc/apt/sources.list.d/two.sources");
    apt_sources_add(all, &fresh);
    assert_null(fresh);
    assert_int_equal(unlink(one), 0);
    assert_int_equal(apt_sources_save(all, &err), 0);
    assert_false(fs_exists(one));
    buf_auto_t text = BUF_INIT;
    assert_int_equal(fs_read(two, 4096, &text, &err), 0);
    assert_string_equal(buf_str(&text),
                        "Types: deb\nURIs: http://b\nSuites: s\nComponents: main\nSigned-By: /k\n");
    apt_sources_move(all, apt_sources_at(all, 0), APT_MAIN_LIST);
    assert_int_equal(apt_sources_save(all, &err), 0);
    AUTO_FREE char *main_list = xasprintf("%s%s", root, APT_MAIN_LIST);
    buf_clear(&text);
    assert_int_equal(fs_read(main_list, 4096, &text, &err), 0);
    assert_string_equal(buf_str(&text), "deb http://a s main\n");
    /* A link stays one, and the file that it leads to changes. */
    AUTO_FREE char *shared = fs_join(root, "shared");
    struct stat st;
    assert_int_equal(rename(main_list, shared), 0);
    assert_int_equal(symlink("../../shared", main_list), 0);
    apt_sources_move(all, apt_sources_at(all, 1), APT_MAIN_LIST);
    assert_int_equal(apt_sources_save(all, &err), 0);
    assert_int_equal(lstat(main_list, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    buf_clear(&text);
    assert_int_equal(fs_read(shared, 4096, &text, &err), 0);
    assert_non_null(strstr(buf_str(&text), "http://b"));
    assert_int_equal(fs_remove_tree(root, &err), 0);
}

UNIT_MAIN(cmocka_unit_test(test_lines), cmocka_unit_test(test_paragraphs), cmocka_unit_test(test_untouched),
          cmocka_unit_test(test_bytes_stay), cmocka_unit_test(test_changed_line),
          cmocka_unit_test(test_split_paragraph), cmocka_unit_test(test_keys_survive),
          cmocka_unit_test(test_save))
