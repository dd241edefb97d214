/* dpkg_int.h - what dpkg.c and dpkg_files.c share.
 *
 * Layer      plugins/lib/apt
 * Threads    one at a time per dpkg_t
 * Ownership  all fields are the dpkg_t's own
 * Errors     none
 * Tests      tests/unit/plugins/test_dpkg.c
 */
#ifndef PLUGINS_LIB_APT_DPKG_INT_H
#define PLUGINS_LIB_APT_DPKG_INT_H

#include "common/base/buf.h"
#include "plugins/lib/apt/dpkg.h"

typedef struct diversion {
    char *from, *to, *owner; /* owner ":" is the administrator */
} diversion_t;

struct dpkg {
    char *root, *dir;
    char native[64];
    buf_t *texts; /* the files the paragraphs point into */
    size_t n_texts;
    dpkg_pkg_t **pkgs;
    size_t n, n_all;
    bool diversions_read;
    diversion_t *diversions;
    size_t n_diversions;
};

void dpkg_diversions_free(dpkg_t *self);

#endif
