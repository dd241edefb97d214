/* content.h - new content for a file: how it differs from what is there, and how it gets there whole.
 *
 * Layer      plugins/lib/file
 * Threads    a job's child
 * Ownership  a content_t is BORROWED; texts are NEW
 * Errors     negative errno with Python's OSError text
 * Tests      tests/unit/plugins/test_content.c, tests/cases/state/file.managed.json
 */
#ifndef PLUGINS_LIB_FILE_CONTENT_H
#define PLUGINS_LIB_FILE_CONTENT_H

#include <sys/types.h>

#include "salt/plugin.h"

/* Bytes in memory, or a file of any size, which is read in pieces. */
typedef struct content {
    const char *path; /* NULL: data and len hold */
    const char *data;
    size_t len;
} content_t;

/* True when the file holds exactly these bytes. */
int content_same(const char *path, const content_t *with, bool *ret_same, fail_t *err);
/* Difference as file.get_diff shows it, without file names: NEW unified diff, "" when equal, or a sentence
 * about binary files. Large files are bounded as diff.h says. */
int content_diff(const char *path, const content_t *with, const char *names[2], char **ret_diff, fail_t *err);

/* Salt's text in place of a difference when the file can't be read. NEW. */
char *content_unreadable(const char *path, const fail_t *why);

/* Owner and mode of the file while it appears. */
typedef struct landing {
    uid_t uid; /* (uid_t) -1: as it comes */
    gid_t gid;
    mode_t mode;
    const char *like; /* extended attributes are taken from this file; NULL: none */
} landing_t;

/* Put the content at `dst`, which is a path without a link at its end or one that is to be replaced: a
 * temporary file beside it gets owner and mode, is synced and renamed. A mount point is rewritten in place.
 * When that fails nothing has changed. */
int content_commit(const char *dst, const content_t *from, const landing_t *as, fail_t *err);
/* The last steps of that, for who has written the temporary file himself: it is open as `fd`, and gone
 * afterwards in any case. 0 or a negative errno. */
int content_land(const char *dst, int fd, const char *temp, const landing_t *as);
/* NEW path of a temporary file (0600) that holds the text. The caller unlinks it. */
char *content_temp(const char *dir, const char *suffix, const void *data, size_t len, fail_t *err);

#endif
