/* roff.c - text as roff, in the macros of man(7). Texts are escaped here and nowhere else. */
#include <stdlib.h>

#include "common/base/str.h"
#include "manual/manual.h"

void
roff_text(buf_t *out, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        /* Some bytes would be interpreted or typeset by roff. A minus becomes \-, so that it can be
         * copied from the page. */
        unsigned char c = (unsigned char) text[i];
        static const char *const texts[128] = {
            ['\\'] = "\\e",  ['-'] = "\\-",   ['\''] = "\\(aq", ['`'] = "\\(ga",
            ['^'] = "\\(ha", ['~'] = "\\(ti", ['"'] = "\\(dq",
        };
        const char *escape = c < NELEMS(texts) ? texts[c] : NULL;

        if (escape != NULL)
            buf_puts(out, escape);
        else
            buf_putc(out, text[i]);
    }
}

/* Each line of the text by itself. */
static void
roff_put_lines(buf_t *out, const char *text)
{
    while (*text != '\0') {
        size_t len = strcspn(text, "\n");

        /* Appends a line of text; a dot at its start is escaped, as roff would take it for a request. */
        if (len > 0 && text[0] == '.')
            buf_puts(out, "\\&");
        roff_text(out, text, len);
        buf_putc(out, '\n');

        text += len + (text[len] == '\n' ? 1 : 0);
    }
}

/* The macro's name and one argument. */
static void
put_macro(buf_t *out, const char *macro, const char *text)
{
    buf_printf(out, "%s \"", macro);
    roff_text(out, text, strlen(text));
    buf_puts(out, "\"\n");
}

void
roff_head(buf_t *out, const char *name, int section, const char *date, const char *summary)
{
    AUTO_FREE char *title = xstrdup(name);

    for (char *p = title; *p != '\0'; p++)
        *p = (char) (*p >= 'a' && *p <= 'z' ? *p - 'a' + 'A' : *p);
    buf_puts(out, ".\\\" Printed by the build from Halite's tables: see src/manual.\n.TH \"");
    roff_text(out, title, strlen(title));
    buf_printf(out, "\" \"%d\" \"%s\" \"Halite %s\" \"Halite\"\n", section, date, HALITE_RELEASE);
    /* Hyphenation and justification are off: most words of these pages are typed by the reader. */
    buf_puts(out, ".nh\n.ad l\n.SH \"NAME\"\n");
    roff_text(out, name, strlen(name));
    buf_puts(out, " \\- ");
    roff_put_lines(out, summary);
}

void
roff_section(buf_t *out, const char *title)
{
    put_macro(out, ".SH", title);
}

void
roff_subsection(buf_t *out, const char *title)
{
    put_macro(out, ".SS", title);
}

/* True when the last line is a heading, after which man(7) begins a paragraph by itself. */
static bool
follows_heading(const buf_t *out)
{
    size_t at = out->len - 1;

    while (at > 0 && out->data[at - 1] != '\n')
        at--;
    return str_starts(out->data + at, ".SH ") || str_starts(out->data + at, ".SS ");
}

void
roff_paragraph(buf_t *out, const char *text)
{
    if (!follows_heading(out))
        buf_puts(out, ".PP\n");
    roff_put_lines(out, text);
}

void
roff_entry(buf_t *out, const char *term, const char *text)
{
    buf_puts(out, ".TP\n");
    put_macro(out, ".B", term);
    roff_put_lines(out, text);
}

void
roff_entries(buf_t *out, const entry_t *entries)
{
    for (; entries->term != NULL; entries++)
        roff_entry(out, entries->term, entries->text);
}

/* Lines as they are, indented by so many columns. */
void
roff_lines(buf_t *out, int indent, const char *text)
{
    buf_printf(out, ".RS %d\n.nf\n", indent);
    roff_put_lines(out, text);
    buf_puts(out, ".fi\n.RE\n");
}

/* References "NAME(SECTION)", separated by blanks, with commas between and names in bold. */
void
roff_see(buf_t *out, const char *pages)
{
    char **names = str_split(pages, " ", true);

    for (size_t i = 0; names[i] != NULL; i++) {
        size_t len = strcspn(names[i], "(");
        buf_puts(out, ".BR \"");
        roff_text(out, names[i], len);
        buf_printf(out, "\" \"%s%s\"\n", names[i] + len, names[i + 1] != NULL ? "," : "");
    }
    strv_free(names);
}
