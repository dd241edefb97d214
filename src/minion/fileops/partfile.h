/* partfile.h - a file that is changed where its links lead: edits and what is managed, whole or in part, such as
 * authorized_keys, hosts, apt's sources, sysctl.conf, the grains.
 *
 * Such a file keeps its place: a link at the end of its path is followed, here and nowhere else, so that the file that
 * others share gets the change and the link stays. Its owner, mode and extended attributes stay, and it is replaced whole.
 *
 * The folder that the links lead to is held open, and the file in it, and the file is read and replaced by way of them, so
 * nobody can put another one in its place meanwhile. When root writes, a link that root did not make, at the end of the path
 * or on the way, may only lead to a file in a folder of one and the same user's, who made it or has the folder that it is in:
 * then nothing is done there that he could not do himself. A link that root made is followed in anybody's folder, as state
 * trees have such; its owner could give it another name. PARTFILE_STRICT does not let him: for files that lie in users'
 * folders by their nature.
 *
 * Layer      minion/fileops
 * Threads    one at a time per partfile_t
 * Ownership  partfile_close frees what was found; the path is BORROWED until then
 * Errors     negative errno with Python's OSError text
 * Tests      tests/unit/minion/test_partfile.c
 */
#ifndef MINION_FILEOPS_PARTFILE_H
#define MINION_FILEOPS_PARTFILE_H

#include "common/base/buf.h"
#include "minion/fileops/content.h"

typedef struct partfile {
    const char *name; /* BORROWED: as it was asked for */
    char *path,
        *at; /* owned: the name in `folder`, where a file is put; what is open as `file`, NULL: none */
    int folder, file; /* -1: closed; no file there yet. Both O_PATH */
    bool special;     /* it is a pipe or a device: fop_rewrite writes to it */
    bool linked;      /* its name is a link's */
    uid_t whose;      /* whose links led here; (uid_t) -1: none but root's and our own */
    int links;        /* how many were followed */
} partfile_t;

#define PARTFILE_INIT                                                                                        \
    {                                                                                                        \
        NULL, NULL, NULL, -1, -1, false, false, (uid_t) -1, 0                                                \
    }
#define partfile_auto_t __attribute__((cleanup(partfile_close))) partfile_t

/* Find the file, or the place where it is to be: its folder must be there. -EPERM: a stranger's link led away. */
int partfile_find(partfile_t *self, const char *path, int flags, fail_t *err);
#define PARTFILE_SPECIAL 1 /* pipes and devices are taken too */
#define PARTFILE_LINK    2 /* a link at the end is not followed, but what will be replaced */
#define PARTFILE_STRICT  4 /* in a user's folder root's links count as his */
/* The same, strictly, for a regular file, or none yet. */
int partfile_open(partfile_t *self, const char *path, fail_t *err);
/* Find what is to be edited. 1; 0 when nothing can be found, of which nothing is said; or a negative errno. */
int partfile_edit(partfile_t *self, const char *path, fail_t *err);
void partfile_close(partfile_t *self);
/* Appends what it holds; nothing when there is none. */
int partfile_read(const partfile_t *self, buf_t *out, fail_t *err);
/* A new file gets owner and mode of `fresh`. */
int partfile_write(const partfile_t *self, const void *data, size_t len, const landing_t *fresh, fail_t *err);
/* Put content there as content_commit does: a device stays, a pipe gives way. */
int partfile_land(const partfile_t *self, const content_t *what, const landing_t *as, fail_t *err);
/* The same with a file of ours that is open as `fd` and has a path in the folder: it is not there afterwards. */
int partfile_take(const partfile_t *self, int fd, const char *temp, const landing_t *as, fail_t *err);
/* All at once, for who has read it before; `mode` is a new file's. */
int partfile_put(const char *path, const void *data, size_t len, mode_t mode, fail_t *err);

#endif
