/* aptsources.h - apt's lists of sources, one-line (*.list) and paragraphs (*.sources): read, change, write.
 *
 * A paragraph is shown as one entry per type, address and suite. What is not changed is written back byte for
 * byte, and a file in which nothing changed is not written at all.
 *
 * Layer      plugins/lib/apt
 * Threads    one at a time per list
 * Ownership  entries belong to their list; texts of entries are owned by them
 * Errors     an entry that makes no sense is kept as `invalid`; negative errno when a file can't be written
 * Tests      tests/unit/plugins/test_aptsources.c; fuzz target tests/fuzz/fuzz_sources.c
 */
#ifndef PLUGINS_LIB_APT_APTSOURCES_H
#define PLUGINS_LIB_APT_APTSOURCES_H

#include "salt/base.h"

#define APT_MAIN_LIST "/etc/apt/sources.list"

typedef struct apt_source {
    char *file;    /* without the list's root */
    char *line;    /* one line without its newline: as read, or as a paragraph's part would be written */
    char *raw;     /* the same line's bytes in its file, with their end; NULL: it has not been in one */
    char *comment; /* behind the '#', or "" */
    char *type, *uri, *dist; /* "deb", ...; "" when invalid */
    char *signedby;          /* "" when not given */
    json_t *comps, *archs;   /* lists of text */
    json_t *others;          /* further options, "name=value" */
    bool disabled, invalid;
    bool changed;  /* set by whoever changes a field: it is written anew */
    size_t stanza; /* of a *.sources file, counted from 1; 0: a line */
} apt_source_t;

/* NEW; never NULL. `line` is one line, `file` its path (NULL: APT_MAIN_LIST). */
apt_source_t *apt_source_new(const char *line, const char *file);
void apt_source_destroy(apt_source_t **self_p);
/* The entry as one line, without newline. NEW. */
char *apt_source_render(const apt_source_t *self);
/* Make `line` what apt_source_render says. */
void apt_source_reline(apt_source_t *self);
/* Replace one text. */
void apt_source_set(char **slot, const char *text);

typedef struct apt_sources apt_sources_t;

/* ROOT/etc/apt/sources.list and what is in sources.list.d. NEW, or NULL with *err; files that are missing are
 * empty. */
apt_sources_t *apt_sources_new(const char *root, fail_t *err);
void apt_sources_destroy(apt_sources_t **self_p);
size_t apt_sources_count(const apt_sources_t *self);
/* BORROWED. */
apt_source_t *apt_sources_at(const apt_sources_t *self, size_t i);
/* TAKES *entry_p. */
void apt_sources_add(apt_sources_t *self, apt_source_t **entry_p);
void apt_sources_remove(apt_sources_t *self, size_t i);
/* Everything that `file` holds goes; nothing is written before apt_sources_save. */
void apt_sources_empty(apt_sources_t *self, const char *file);
/* An entry's file becomes another one. */
void apt_sources_move(apt_sources_t *self, apt_source_t *entry, const char *file);
/* Write each changed file whole, in one step. */
int apt_sources_save(apt_sources_t *self, fail_t *err);
/* Add the entries of `text`, which is what `file` holds: what apt_sources_new does per file. */
void apt_sources_read(apt_sources_t *self, const char *file, const char *text, size_t len);
/* NEW: what a save would write to `file`. */
char *apt_sources_text(const apt_sources_t *self, const char *file);

#endif
