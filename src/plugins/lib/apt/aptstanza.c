/* aptstanza.c - sources in deb822 format (*.sources): a paragraph stands for every pairing of its types,
 * addresses and suites. Reading expands it into entries that remember their paragraph; writing copies
 * untouched paragraphs byte by byte and writes changed ones anew, one paragraph per set of entries that
 * differ in the suite alone. */
#include <ctype.h>
#include <strings.h>

#include "common/base/str.h"
#include "plugins/lib/apt/aptsources_int.h"
#include "plugins/lib/apt/deb822.h"
#include "salt/limits.h"
#include "salt/value.h"

/* Fields that an entry has a place of its own for. */
static const char *const own_fields[] = { "Types",         "URIs",      "Suites", "Components",
                                          "Architectures", "Signed-By", "Enabled" };

/* NEW array of the words of a field. */
static char **
aptstanza_words_of(const deb822_t *para, const char *name)
{
    AUTO_FREE char *text = deb822_text(para, name);

    return str_split(text != NULL ? text : "", " \t\r\n", true);
}

static void
aptstanza_add_words(json_t *list, const deb822_t *para, const char *name)
{
    char **words = aptstanza_words_of(para, name);

    for (size_t i = 0; words[i] != NULL; i++)
        json_array_append_new(list, value_utf8(words[i], strlen(words[i])));
    strv_free(words);
}

/* Bytes that are not UTF-8 are replaced, as the members are shown as JSON. */
static void
set_clean(char **slot, const char *text)
{
    json_auto_t *clean = value_utf8(text, strlen(text));

    apt_source_set(slot, json_string_value(clean));
}

/* One entry of a pairing, with the fields that all entries of the paragraph share. NEW. */
static apt_source_t *
aptstanza_entry_of(const deb822_t *para, const char *file, const char *type, const char *uri,
                   const char *dist)
{
    apt_source_t *entry = apt_source_empty(file);
    AUTO_FREE char *signedby = deb822_text(para, "Signed-By");
    AUTO_FREE char *enabled = deb822_text(para, "Enabled");

    set_clean(&entry->type, type);
    set_clean(&entry->uri, uri);
    set_clean(&entry->dist, dist);
    set_clean(&entry->signedby, signedby != NULL ? signedby : "");
    aptstanza_add_words(entry->comps, para, "Components");
    aptstanza_add_words(entry->archs, para, "Architectures");

    /* "Check-Valid-Until: no" as the option "check-valid-until=no". */
    for (size_t i = 0; i < para->n; i++) {
        const deb822_field_t *field = &para->fields[i];
        bool own = false;
        for (size_t k = 0; k < NELEMS(own_fields); k++)
            own = own || deb822_is(field, own_fields[k]);
        if (own || memchr(field->value, '\n', field->value_len) != NULL)
            continue;
        AUTO_FREE char *text = xasprintf("%.*s=%.*s", (int) field->name_len, field->name,
                                         (int) field->value_len, field->value);
        for (char *p = text; *p != '=' && *p != '\0'; p++)
            *p = (char) tolower((unsigned char) *p);
        for (char *p = text; *p != '\0'; p++)
            *p = *p == ' ' || *p == '\t' ? ',' : *p;
        json_array_append_new(entry->others, value_utf8(text, strlen(text)));
    }

    /* Words that apt reads as false (APT::StringToBool). */
    static const char *const no[] = { "no", "false", "without", "off", "disable", "0" };
    for (size_t i = 0; enabled != NULL && i < NELEMS(no); i++)
        entry->disabled = entry->disabled || strcasecmp(enabled, no[i]) == 0;
    apt_source_reline(entry);
    return entry;
}

/* Entries number their paragraph from 1; 0 is an entry that no paragraph has yet. LIMIT_APT_SOURCES bounds
 * the expansion. */
void
apt_stanzas_read(apt_sources_t *self, const char *file, const char *text, size_t len)
{
    deb822_auto_t para = DEB822_INIT;
    const char *at = text, *end = text + len;

    for (size_t stanza = 1; deb822_next(&para, &at, end); stanza++) {
        char **types = aptstanza_words_of(&para, "Types"), **uris = aptstanza_words_of(&para, "URIs");
        char **suites = aptstanza_words_of(&para, "Suites");
        for (size_t t = 0; types[t] != NULL; t++) {
            for (size_t u = 0; uris[u] != NULL; u++) {
                for (size_t s = 0; suites[s] != NULL && self->n < LIMIT_APT_SOURCES; s++) {
                    apt_source_t *entry = aptstanza_entry_of(&para, file, types[t], uris[u], suites[s]);
                    entry->stanza = stanza;
                    apt_sources_append(self, entry);
                }
            }
        }
        strv_free(types);
        strv_free(uris);
        strv_free(suites);
    }
}

/* ---- writing ------------------------------------------------------------------------------- */

/* The entries of one paragraph that are left. */
typedef struct group {
    apt_source_t **items;
    size_t n;
    bool intact;
} group_t;

/* Entries of one paragraph. It is intact when none was changed and none removed. */
static group_t
aptstanza_group_of(const apt_sources_t *self, const char *path, size_t stanza, size_t expected)
{
    group_t g = { xcalloc(self->n, sizeof(*g.items)), 0, true };

    for (size_t i = 0; i < self->n; i++) {
        apt_source_t *entry = self->items[i];
        if (!str_eq(entry->file, path) || entry->stanza != stanza || entry->invalid)
            continue;
        g.items[g.n++] = entry;
        g.intact = g.intact && !entry->changed;
    }
    g.intact = g.intact && g.n == expected;
    return g;
}

static void
put_words(buf_t *out, const char *name, const json_t *list)
{
    if (json_array_size(list) == 0)
        return;
    buf_printf(out, "%s:", name);
    for (size_t i = 0; i < json_array_size(list); i++)
        buf_printf(out, " %s", json_string_value(json_array_get(list, i)));
    buf_putc(out, '\n');
}

/* The fields in the order in which apt's own tools write them; a comment goes first. */
static void
put_paragraph(buf_t *out, const apt_source_t *entry, const json_t *suites)
{
    if (*entry->comment != '\0')
        buf_printf(out, "#%s\n", entry->comment);
    if (entry->disabled)
        buf_puts(out, "Enabled: no\n");
    buf_printf(out, "Types: %s\nURIs: %s\n", entry->type, entry->uri);
    put_words(out, "Suites", suites);
    put_words(out, "Components", entry->comps);
    put_words(out, "Architectures", entry->archs);
    if (*entry->signedby != '\0')
        buf_printf(out, "Signed-By:%s %s\n", strchr(entry->signedby, '\n') != NULL ? "\n" : "",
                   entry->signedby);

    /* Options of a line as fields: "trusted=yes" is "trusted: yes", names know no case. */
    const json_t *others = entry->others;
    for (size_t i = 0; i < json_array_size(others); i++) {
        const char *text = json_string_value(json_array_get(others, i)), *value = strchr(text, '=');
        if (value != NULL)
            buf_printf(out, "%.*s: %s\n", (int) (value - text), text, value + 1);
    }
}

/* Writes the entries, joining those that differ in the suite alone. Quadratic in the entries of one
 * paragraph. */
static void
put_group(buf_t *out, const group_t *g)
{
    bool *done = xcalloc(g->n, sizeof(*done));

    for (size_t i = 0; i < g->n; i++) {
        json_auto_t *suites = json_array();
        if (done[i])
            continue;
        for (size_t k = i; k < g->n; k++) {
            /* Entries that differ in the suite alone are of the same paragraph. */
            const apt_source_t *a = g->items[i], *b = g->items[k];
            if (done[k] || !str_eq(a->type, b->type) || !str_eq(a->uri, b->uri) ||
                !str_eq(a->signedby, b->signedby) || !str_eq(a->comment, b->comment) ||
                a->disabled != b->disabled || !json_equal(a->comps, b->comps) ||
                !json_equal(a->archs, b->archs))
                continue;
            done[k] = true;
            json_array_append_new(suites, json_string(g->items[k]->dist));
        }
        if (out->len > 0 &&
            !(out->len > 1 && out->data[out->len - 1] == '\n' && out->data[out->len - 2] == '\n'))
            buf_putc(out, '\n');
        put_paragraph(out, g->items[i], suites);
    }
    free(done);
}

/* The comment lines of a paragraph that is written anew. */
static void
put_comments(buf_t *out, const deb822_t *para)
{
    for (const char *p = para->start; p < para->end;) {
        const char *newline = memchr(p, '\n', (size_t) (para->end - p));
        const char *stop = newline != NULL ? newline : para->end;
        if (*p == '#') {
            buf_add(out, p, (size_t) (stop - p));
            buf_putc(out, '\n');
        }
        p = newline != NULL ? newline + 1 : para->end;
    }
}

/* Copies the text between changed paragraphs; new entries follow at the end. */
void
apt_stanzas_write(const apt_sources_t *self, const apt_file_t *file, buf_t *out)
{
    deb822_auto_t para = DEB822_INIT;
    const char *at = file->text, *end = file->text + file->len, *copied = file->text;

    for (size_t stanza = 1; deb822_next(&para, &at, end); stanza++) {
        /* A paragraph expands to one entry per type, address and suite. */
        static const char *const fields[] = { "Types", "URIs", "Suites" };
        size_t entries = 1;
        for (size_t i = 0; i < NELEMS(fields); i++) {
            char **words = aptstanza_words_of(&para, fields[i]);
            entries *= strv_len(words);
            strv_free(words);
        }
        group_t g = aptstanza_group_of(self, file->path, stanza, entries);
        if (!g.intact) {
            buf_auto_t body = BUF_INIT;
            put_group(&body, &g);
            buf_add(out, copied, (size_t) (para.start - copied));
            if (g.n > 0)
                put_comments(out, &para);
            buf_add(out, buf_str(&body), body.len);
            copied = para.end;
        }
        free(g.items);
    }
    buf_add(out, copied, (size_t) (end - copied));
    group_t added = aptstanza_group_of(self, file->path, 0, 0);
    put_group(out, &added);
    free(added.items);
}
