/* aptsources_int.h - what aptsources.c, aptsource.c and aptstanza.c share.
 *
 * Layer      plugins/lib/apt
 * Threads    one at a time per list
 * Ownership  as in aptsources.h
 * Errors     none
 * Tests      tests/unit/plugins/test_aptsources.c
 */
#ifndef PLUGINS_LIB_APT_APTSOURCES_INT_H
#define PLUGINS_LIB_APT_APTSOURCES_INT_H

#include "common/base/buf.h"
#include "plugins/lib/apt/aptsources.h"

/* A file as it was read. */
typedef struct apt_file {
    char *path, *text;
    size_t len;
    bool dirty;
} apt_file_t;

struct apt_sources {
    char *root;
    apt_source_t **items;
    size_t n;
    apt_file_t *files;
    size_t n_files;
};

apt_source_t *apt_source_empty(const char *file);
void apt_sources_append(apt_sources_t *self, apt_source_t *entry);
bool apt_is_stanzas(const char *path);
/* Entries of a *.sources file; and that file again, with what changed. */
void apt_stanzas_read(apt_sources_t *self, const char *file, const char *text, size_t len);
void apt_stanzas_write(const apt_sources_t *self, const apt_file_t *file, buf_t *out);

#endif
