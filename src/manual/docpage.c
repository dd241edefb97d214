/* docpage.c - the manual page of a document in docs: headings, paragraphs, indented examples and tables of
 * its Markdown, and nothing else of it. A table's row becomes an entry: its first cell, and below that the
 * others with the names of their columns. */
#include "common/base/str.h"
#include "manual/manual.h"

#define INDENT "    "
#define MOST   8 /* columns of a table */

typedef struct doc {
    buf_t *out;
    buf_t text;          /* paragraph or example that is being gathered */
    bool example;        /* which of the two */
    char *columns[MOST]; /* owned: names of the table's; all NULL outside of one */
} doc_t;

/* The text without the marks of code. NEW. */
static char *
doc_plain(const char *text, size_t len)
{
    buf_t out = BUF_INIT;

    for (size_t i = 0; i < len; i++)
        if (text[i] != '`')
            buf_putc(&out, text[i]);
    return buf_steal(&out);
}

static void
doc_flush(doc_t *self)
{
    while (self->text.len > 0 && self->text.data[self->text.len - 1] == '\n')
        self->text.len--;
    if (self->text.len > 0 && self->example)
        roff_lines(self->out, ROFF_EXAMPLE, buf_str(&self->text));
    else if (self->text.len > 0)
        roff_paragraph(self->out, buf_str(&self->text));
    buf_clear(&self->text);
}

static void
doc_end_table(doc_t *self)
{
    for (size_t i = 0; i < MOST; i++) {
        free(self->columns[i]);
        self->columns[i] = NULL;
    }
}

/* "| a | b |": the first row names the columns. */
static void
doc_row(doc_t *self, const char *line)
{
    char **cells = str_split(line + 1, "|", false);
    AUTO_FREE char *term = doc_plain(cells[0], strlen(cells[0]));
    bool names = self->columns[0] == NULL;
    buf_auto_t text = BUF_INIT;

    for (size_t i = 0; i < MOST && cells[i] != NULL; i++) {
        AUTO_FREE char *plain = doc_plain(cells[i], strlen(cells[i]));
        const char *cell = str_trim(plain);
        if (names)
            self->columns[i] = xstrdup(cell);
        else if (i > 0 && self->columns[i] != NULL && *cell != '\0')
            buf_printf(&text, "%s%s: %s", text.len > 0 ? "\n.br\n" : "", self->columns[i], cell);
    }
    strv_free(cells);
    if (names || str_starts(line, "|--"))
        return;
    roff_entry(self->out, str_trim(term), "");
    for (char *at = text.data, *next; at != NULL; at = next) {
        next = strstr(at, "\n.br\n");
        buf_printf(self->out, "%s", at == text.data ? "" : ".br\n");
        roff_text(self->out, at, next != NULL ? (size_t) (next - at) : strlen(at));
        buf_putc(self->out, '\n');
        next = next != NULL ? next + strlen("\n.br\n") : NULL;
    }
}

static void
doc_line(doc_t *self, const char *line)
{
    bool code = str_starts(line, INDENT);

    if (*line != '|')
        doc_end_table(self);
    if (*line == '#' || *line == '|' || (*line != '\0' && code != self->example))
        doc_flush(self);
    if (str_starts(line, "## ")) {
        /* Manual pages have their sections in capitals. */
        const char *text = line + 3;
        AUTO_FREE char *title = doc_plain(text, strlen(text));

        for (char *p = title; *p != '\0'; p++)
            *p = (char) (*p >= 'a' && *p <= 'z' ? *p - 'a' + 'A' : *p);
        roff_section(self->out, title);
    } else if (*line == '|') {
        doc_row(self, line);
    } else if (*line == '\0' && !self->example) {
        doc_flush(self);
    } else {
        self->example = *line != '\0' ? code : self->example;
        AUTO_FREE char *plain = self->example ? xstrdup(code ? line + strlen(INDENT) : "")
                                              : doc_plain(line, strlen(line));
        buf_printf(&self->text, "%s\n", plain);
    }
}

void
docpage_print(const char *name, const char *date, const char *text, buf_t *out)
{
    doc_t self = { .out = out, .text = BUF_INIT };
    char **lines = str_split(text, "\n", false);
    const char *title = lines[0] + strspn(lines[0], "# "), *colon = strstr(title, ": ");
    AUTO_FREE char *summary = doc_plain(colon != NULL ? colon + 2 : title,
                                        strlen(colon != NULL ? colon + 2 : title));

    if (*summary >= 'A' && *summary <= 'Z')
        *summary = (char) (*summary - 'A' + 'a');
    roff_head(out, name, 7, date, summary);
    roff_section(out, "DESCRIPTION");
    for (size_t i = 1; lines[0] != NULL && lines[i] != NULL; i++)
        doc_line(&self, lines[i]);
    doc_flush(&self);
    doc_end_table(&self);
    buf_free(&self.text);
    strv_free(lines);
    roff_section(out, "SEE ALSO");
    roff_see(out, "salt-master(8) salt-minion(8) salt-master.conf(5) salt-minion.conf(5) salt-run(1)");
}
