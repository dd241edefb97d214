/* page.c - the manual page of a program: options from its table, runners from the registry, everything else
 * from the page's row in pages.c. */
#include "common/base/str.h"
#include "common/cli/optrow.h"
#include "common/host/rootfs.h"
#include "manual/manual.h"

/* An option without a help text is hidden. */
static void
page_put_option(const page_t *page, const opt_row_t *row, buf_t *out)
{
    if (row->help == NULL)
        return;
    AUTO_FREE char *text = str_replace(row->help, "%prog", page->spec->prog);

    /* "-t TIMEOUT, --timeout=TIMEOUT" with bold names and slanted values. */
    AUTO_FREE char *value = optrow_metavar(row);
    const char *name;
    size_t len, n = 0;
    buf_puts(out, ".TP\n");
    for (int pass = 0; pass < 2; pass++) {
        for (const char *pos = row->names; (name = optrow_next_name(&pos, &len)) != NULL;) {
            if (optrow_is_long(name) != (pass == 1))
                continue;
            buf_puts(out, n++ > 0 ? ", \\fB" : "\\fB");
            roff_text(out, name, len);
            buf_puts(out, "\\fR");
            if (!optrow_takes_value(row))
                continue;
            buf_puts(out, pass == 1 ? "=\\fI" : " \\fI");
            roff_text(out, value, strlen(value));
            buf_puts(out, "\\fR");
        }
    }
    buf_putc(out, '\n');

    roff_text(out, text, strlen(text));
    buf_putc(out, '\n');
}

/* The entry that is being gathered: a plug-in, and what it has. */
typedef struct runner {
    const plugin_t *plugin;
    buf_t functions;
    buf_t *out;
} runner_t;

/* Prints the gathered plug-in, if there is one. */
static void
put_runner(runner_t *self)
{
    if (self->plugin == NULL)
        return;
    AUTO_FREE char *text = xasprintf("%s.\n%s", self->plugin->doc, buf_str(&self->functions));
    roff_entry(self->out, plugin_name(self->plugin), text);
    buf_clear(&self->functions);
}

/* Callback of registry_each(), which lists functions by plug-in: a new plug-in prints the one before. */
static void
page_add_function(void *cookie, const char *name, const plugin_t *p, const func_t *f)
{
    runner_t *self = cookie;

    if (p != self->plugin)
        put_runner(self);
    buf_printf(&self->functions, "%s%s", p == self->plugin ? ", " : "", name);
    self->plugin = p;
}

static void
page_put_list(buf_t *out, const char *title, const entry_t *entries)
{
    roff_section(out, title);
    roff_entries(out, entries);
}

static bool
has_example(const page_t *page, const char *line)
{
    for (const entry_t *e = page->examples; e->term != NULL; e++) {
        if (strstr(e->term, line) != NULL)
            return true;
    }
    return false;
}

/* The page's own, each command below its explanation, unfilled; then those that only --help has. */
static void
put_examples(const page_t *page, buf_t *out)
{
    AUTO_FREE char *text = xstrdup(page->spec->examples != NULL ? page->spec->examples : "");
    buf_auto_t more = BUF_INIT;

    roff_section(out, "EXAMPLES");
    for (const entry_t *e = page->examples; e->term != NULL; e++) {
        roff_paragraph(out, e->text);
        roff_lines(out, ROFF_EXAMPLE, e->term);
    }
    /* Behind an empty line the help goes on with other things. */
    for (char *at = text, *line; (line = line_next(&at)) != NULL && *line != '\0';) {
        line = str_trim(line);
        if (!has_example(page, line))
            buf_printf(&more, "%s%s", more.len > 0 ? "\n" : "", line);
    }
    if (more.len == 0)
        return;
    roff_paragraph(out, "Others:");
    roff_lines(out, ROFF_EXAMPLE, buf_str(&more));
}

void
page_print(const page_t *page, const char *date, const registry_t *runners, buf_t *out)
{
    roff_head(out, page->spec->prog, page->section, date, page->summary);

    /* The program is bold, the rest of the usage line as it is. */
    const char *rest = page->spec->usage + strlen("%prog");
    salt_assert(str_starts(page->spec->usage, "%prog"));
    roff_section(out, "SYNOPSIS");
    buf_puts(out, "\\fB");
    roff_text(out, page->spec->prog, strlen(page->spec->prog));
    buf_puts(out, "\\fR");
    roff_text(out, rest, strlen(rest));
    buf_putc(out, '\n');

    roff_section(out, "DESCRIPTION");
    roff_paragraph(out, page->spec->description);
    for (const char *const *text = page->about; *text != NULL; text++)
        roff_paragraph(out, *text);

    /* As --help: what belongs to no group first. */
    roff_section(out, "OPTIONS");
    for (size_t t = 0; page->spec->tables[t] != NULL; t++)
        for (const opt_row_t *row = page->spec->tables[t]; row->names != NULL && row->kind != OPT_GROUP;
             row++)
            page_put_option(page, row, out);
    for (size_t t = 0; page->spec->tables[t] != NULL; t++) {
        bool grouped = false;
        for (const opt_row_t *row = page->spec->tables[t]; row->names != NULL; row++) {
            if (row->kind == OPT_GROUP) {
                grouped = true;
                roff_subsection(out, row->names);
                if (row->help != NULL)
                    roff_paragraph(out, row->help);
            } else if (grouped) {
                page_put_option(page, row, out);
            }
        }
    }

    if (page->runners) {
        /* Lists the runner modules. */
        runner_t last = { .functions = BUF_INIT, .out = out };
        roff_section(out, "RUNNERS");
        registry_each(runners, NULL, page_add_function, &last);
        put_runner(&last);
        buf_free(&last.functions);
    }

    put_examples(page, out);

    page_put_list(out, "FILES", page->files);
    page_put_list(out, "EXIT STATUS", page->exits);
    page_put_list(out, "ENVIRONMENT", page->variables);
    roff_section(out, "SEE ALSO");
    roff_see(out, page->see);
}
