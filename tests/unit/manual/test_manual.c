/* test_manual.c - manual pages and completion scripts have what the tables have. */
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/cli/optrow.h"
#include "manual/manual.h"
#include "plugins/builtin.h"
#include "unit/unit.h"

/* "\-\-timeout" as the page has it. NEW. */
static char *
in_roff(const char *text, size_t len)
{
    buf_t out = BUF_INIT;

    roff_text(&out, text, len);
    return buf_steal(&out);
}

static void
assert_has(const buf_t *page, const char *text)
{
    if (strstr(buf_str(page), text) == NULL)
        fail_msg("there is no '%s'", text);
}

static void
assert_options(const page_t *page, const buf_t *out, const char *before)
{
    const char *name;
    size_t len;

    for (size_t t = 0; page->spec->tables[t] != NULL; t++) {
        for (const opt_row_t *row = page->spec->tables[t]; row->names != NULL; row++) {
            for (const char *pos = row->names;
                 row->kind != OPT_GROUP && (name = optrow_next_name(&pos, &len)) != NULL;) {
                AUTO_FREE char *shown = in_roff(name, len);
                AUTO_FREE char *text = xasprintf("%s%s\\fR", before, shown);
                assert_int_equal(strstr(buf_str(out), text) != NULL, row->help != NULL);
            }
        }
    }
}

/* No line is a request that this did not mean, and none has a quote or a backslash that ends it early. */
static void
assert_requests(const buf_t *out)
{
    static const char *const known[] = { ".\\\"", ".TH ", ".SH ",  ".SS ",  ".TP\n", ".PP\n", ".B ",
                                         ".BR ",  ".RS ", ".RE\n", ".nf\n", ".fi\n", ".nh\n", ".ad l\n" };

    for (const char *line = buf_str(out); *line != '\0'; line += strcspn(line, "\n") + 1) {
        bool found = *line != '.' && *line != '\'';
        for (size_t i = 0; i < NELEMS(known); i++)
            found = found || str_starts(line, known[i]);
        if (!found)
            fail_msg("an odd line: %.60s", line);
    }
}

static void
test_pages(void **state)
{
    static const char *const sections[] = { "NAME",  "SYNOPSIS",    "DESCRIPTION", "OPTIONS", "EXAMPLES",
                                            "FILES", "EXIT STATUS", "ENVIRONMENT", "SEE ALSO" };
    size_t n;
    const page_t *pages = manual_pages(&n);
    AUTO(registry) none = registry_of(PLUGIN_RUNNER, NULL, 0);

    assert_int_equal(n, 8);
    for (size_t i = 0; i < n; i++) {
        buf_auto_t out = BUF_INIT;
        page_print(&pages[i], "2026-11-25", none, &out);
        assert_options(&pages[i], &out, "\\fB");
        assert_requests(&out);
        for (size_t k = 0; k < NELEMS(sections); k++) {
            AUTO_FREE char *heading = xasprintf("\n.SH \"%s\"\n", sections[k]);
            assert_has(&out, heading);
        }
        if (str_eq(pages[i].spec->prog, "salt")) /* of --help, and not among the page's own */
            assert_has(&out, "pkg.version openssl");
        if (str_eq(pages[i].spec->prog, "salt-run"))
            assert_null(strstr(buf_str(&out), "Others:"));
    }
}

typedef struct looked {
    const buf_t *out;
    size_t n;
} looked_t;

static void
look_for(void *cookie, const char *section, const option_row_t *row)
{
    looked_t *l = cookie;
    AUTO_FREE char *name = str_replace(row->name, "-", "\\-"); /* as troff has it */
    AUTO_FREE char *entry = row->effect == CONF_NEEDLESS ? xstrdup(name)
                                                         : xasprintf("\n.TP\n.B \"%s\"\n", name);

    assert_has(l->out, entry);
    l->n++;
}

static void
test_configuration(void **state)
{
    static const conf_side_t sides[] = { CONF_MASTER, CONF_MINION };

    for (size_t i = 0; i < NELEMS(sides); i++) {
        buf_auto_t out = BUF_INIT;
        looked_t looked = { &out, 0 };
        confpage_print(sides[i], "2026-11-25", &out);
        assert_requests(&out);
        conf_each(sides[i], look_for, &looked);
        assert_true(looked.n > 100);
    }
}

/* Each option that --help shows, as the shell's script names it; hidden ones in none. */
static void
assert_script(shell_t shell, const page_t *page, const char *name, size_t len, bool shown)
{
    buf_auto_t out = BUF_INIT;
    int dashes = optrow_is_long(name) ? 2 : 1;
    AUTO_FREE char *text = shell == SHELL_BASH ? xasprintf(" %.*s", (int) len, name)
                           : shell == SHELL_ZSH
                               ? xasprintf("'%.*s:", (int) len, name)
                               : xasprintf("-c %s %s %.*s ", page->spec->prog, dashes == 2 ? "-l" : "-s",
                                           (int) len - dashes, name + dashes);

    script_print(shell, page, &out);
    bool found = false;
    for (const char *at = buf_str(&out); (at = strstr(at, text)) != NULL; at++)
        found = found || shell != SHELL_BASH || strchr(" '", at[strlen(text)]) != NULL;
    if (found != shown)
        fail_msg("%s: %s%s", page->spec->prog, text, shown ? " is missing" : " is there");
}

static void
test_scripts(void **state)
{
    size_t n, len;
    const page_t *pages = manual_pages(&n);
    const char *name;

    for (size_t i = 0; i < n; i++)
        for (size_t t = 0; pages[i].spec->tables[t] != NULL; t++)
            for (const opt_row_t *row = pages[i].spec->tables[t]; row->names != NULL; row++)
                for (const char *pos = row->names;
                     row->kind != OPT_GROUP && (name = optrow_next_name(&pos, &len)) != NULL;)
                    for (shell_t shell = 0; shell < SHELLS; shell++)
                        assert_script(shell, &pages[i], name, len, row->help != NULL);
}

static void
test_text(void **state)
{
    buf_auto_t out = BUF_INIT;

    buf_puts(&out, ".SH \"A\"\n");
    roff_paragraph(&out, ".SH no request\n'nor this -x \\n");
    roff_paragraph(&out, "next");
    assert_string_equal(buf_str(&out), ".SH \"A\"\n\\&.SH no request\n\\(aqnor this \\-x \\en\n.PP\nnext\n");
}

/* The page of a document. */
static buf_t
page_of_document(const char *document)
{
    AUTO_FREE char *path = xasprintf(TEST_SOURCE_DIR "/docs/%s", document);
    buf_auto_t text = BUF_INIT;
    fail_auto_t err = FAIL_INIT;
    buf_t out = BUF_INIT;

    assert_int_equal(fs_read(path, 1 << 20, &text, &err), 0);
    docpage_print("salt-some", "2026-11-25", buf_str(&text), &out);
    return out;
}

/* True when the list of names, as ".B \"btmp, wtmp\"" has them, has this one. */
static bool
names_it(const char *line, const char *name)
{
    size_t n = strlen(name);

    for (const char *at = line; (at = strstr(at, name)) != NULL; at += n)
        if ((at[-1] == '"' || at[-1] == ' ') && (at[n] == '"' || at[n] == ','))
            return true;
    return false;
}

/* Every beacon has an entry with an example, */
static void
test_beacons(void **state)
{
    size_t n;
    const plugin_t *const *rows = builtin_plugins(PLUGIN_BEACON, &n);
    buf_auto_t page = page_of_document("beacons.md");
    char **lines = str_split(buf_str(&page), "\n", false);

    for (size_t i = 0; i < n; i++) {
        bool found = false;
        for (size_t k = 0; lines[k] != NULL && lines[k + 1] != NULL; k++)
            found |= str_starts(lines[k], ".B ") && names_it(lines[k], rows[i]->file) &&
                     str_starts(lines[k + 1], "example: ");
        if (!found)
            fail_msg("docs/beacons.md has no example of %s", rows[i]->file);
    }
    strv_free(lines);
}

/* and every returner a line of configuration, or of a command that names it. */
static void
test_returners(void **state)
{
    size_t n;
    const plugin_t *const *rows = builtin_plugins(PLUGIN_RETURNER, &n);
    buf_auto_t page = page_of_document("returners-and-engines.md");
    char **lines = str_split(buf_str(&page), "\n", false);

    for (size_t i = 0; i < n; i++) {
        bool found = false, example = false;
        AUTO_FREE char *comment = xasprintf("# %s:", rows[i]->file);
        for (size_t k = 0; lines[k] != NULL; k++) {
            example = str_eq(lines[k], ".nf") || (example && !str_eq(lines[k], ".fi"));
            found |= example && strstr(lines[k], rows[i]->file) != NULL && !str_starts(lines[k], comment);
        }
        if (!found)
            fail_msg("docs/returners-and-engines.md has no example of %s", rows[i]->file);
    }
    strv_free(lines);
}

UNIT_MAIN(cmocka_unit_test(test_beacons), cmocka_unit_test(test_returners), cmocka_unit_test(test_pages),
          cmocka_unit_test(test_configuration), cmocka_unit_test(test_scripts), cmocka_unit_test(test_text))
