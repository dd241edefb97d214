/* deb822.h - paragraphs of "Name: value" as dpkg and apt write them: status, available, *.sources. Pure.
 *
 * Layer      plugins/lib/apt
 * Threads    any
 * Ownership  a field's texts point into what was parsed, which is BORROWED and must live as long
 * Errors     a line that is neither field nor continuation is left out; more than LIMIT_DEB822_FIELDS fields
 *            in one paragraph: the rest is left out
 * Tests      tests/unit/plugins/test_dpkg.c; fuzz target tests/fuzz/fuzz_sources.c
 */
#ifndef PLUGINS_LIB_APT_DEB822_H
#define PLUGINS_LIB_APT_DEB822_H

#include "salt/base.h"

typedef struct deb822_field {
    const char *name, *value; /* the value with its continuation lines and comments between them, without
                               * white space at its ends */
    size_t name_len, value_len;
} deb822_field_t;

typedef struct deb822 {
    const char *start, *end; /* the paragraph's lines, comments included; ends before the empty line */
    deb822_field_t *fields;  /* owned */
    size_t n, cap;
    bool leaves_out; /* the line before was left out, and what continues it is, too */
} deb822_t;

#define DEB822_INIT   ROW(NULL, NULL, NULL, 0, 0, false)
#define deb822_auto_t __attribute__((cleanup(deb822_free))) deb822_t
void deb822_free(deb822_t *self);

/* The next paragraph at *at, which moves behind it; the field array is used again. False at the end. Lines
 * that begin with '#' are comments. A paragraph of comments alone has no fields. */
bool deb822_next(deb822_t *self, const char **at, const char *end);
/* BORROWED field by name, any case, or NULL. */
const deb822_field_t *deb822_get(const deb822_t *self, const char *name);
/* NEW value without the comments between its lines, NULL when there is none. */
char *deb822_text(const deb822_t *self, const char *name);
bool deb822_is(const deb822_field_t *field, const char *name);

#endif
