/* partfile.h - a file that is changed where its links lead: edits and what is managed, whole or in part, such
 * as authorized_keys, hosts, apt's sources, sysctl.conf, the grains.
 *
 * The file is found by the rules of common/files/destpath.h, and held open itself: it is read and replaced by
 * way of what is held, so nobody can put another one in its place meanwhile. Its owner, mode and extended
 * attributes stay, and it is replaced whole.
 *
 * Layer      plugins/lib/file
 * Threads    one at a time per partfile_t
 * Ownership  partfile_close frees what was found; the path is BORROWED until then
 * Errors     negative errno with Python's OSError text
 * Tests      tests/unit/plugins/test_partfile.c */
#ifndef PLUGINS_LIB_FILE_PARTFILE_H
#define PLUGINS_LIB_FILE_PARTFILE_H

#include "common/base/buf.h"
#include "common/files/destpath.h"
#include "plugins/lib/file/content.h"

typedef struct partfile {
    destpath_t resolved;
    char *path,
        *at;      /* owned: the name in the folder, where a file is put; what is open as `file`, NULL: none */
    int file;     /* O_PATH; -1: no file there yet */
    bool special; /* it is a pipe or a device: fop_rewrite writes to it */
} partfile_t;

#define PARTFILE_INIT   ROW(DESTPATH_INIT, NULL, NULL, -1, false)
#define partfile_auto_t __attribute__((cleanup(partfile_close))) partfile_t

/* Find the file, or the place where it is to be: its folder must be there. -EPERM: a stranger's link led
 * away. */
int partfile_find(partfile_t *self, const char *path, int flags, fail_t *err);
#define PARTFILE_SPECIAL 1 /* beside those of destpath.h: pipes and devices are taken too */
#define PARTFILE_ANY     8 /* folders as well, and with DESTPATH_LINK a link itself, to be held */
/* The same, strictly, for a regular file, or none yet. */
int partfile_open(partfile_t *self, const char *path, fail_t *err);
/* Finds what is to be edited. 1; 0 without *err when nothing is found; or a negative errno. */
int partfile_edit(partfile_t *self, const char *path, fail_t *err);
void partfile_close(partfile_t *self);
/* Appends what it holds; nothing when there is none. */
int partfile_read(const partfile_t *self, buf_t *out, fail_t *err);
/* A new file gets owner and mode of `fresh`. */
int partfile_write(const partfile_t *self, const void *data, size_t len, const landing_t *fresh, fail_t *err);
/* Put content there as content_commit does: a device stays, a pipe gives way. */
int partfile_land(const partfile_t *self, const content_t *what, const landing_t *as, fail_t *err);
/* The same with an own file, open as `fd` under a path in the folder, which is gone afterwards. */
int partfile_take(const partfile_t *self, int fd, const char *temp, const landing_t *as, fail_t *err);
/* All at once, for who has read it before; `mode` is a new file's. */
int partfile_put(const char *path, const void *data, size_t len, mode_t mode, fail_t *err);

#endif
