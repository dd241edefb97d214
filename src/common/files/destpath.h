/* destpath.h - resolve a path for writing: the folder at its end, held open, and the name in it.
 *
 * Links are followed, also the last one, so that the file that others share gets the change and the link
 * stays. The held folder can't be exchanged by another user. When root writes, a link that
 * root did not make, at the end of the path or on the way, may only lead to a file in a folder of one and the
 * same user's, who made it or has the folder that it is in: then nothing is done there that he could not do
 * himself. A link that root made is followed in anybody's folder, as state trees have such; that folder's
 * owner could give it another name. DESTPATH_STRICT does not let him: for files that lie in users' folders by
 * their nature.
 *
 * Layer      common/files
 * Threads    one at a time per destpath_t
 * Ownership  destpath_close frees what was found; the path is BORROWED until then
 * Errors     a negative errno; the caller words it, but for destpath_refused and destpath_make_folder
 * Tests      tests/unit/plugins/test_partfile.c, tests/unit/common/test_files.c
 */
#ifndef COMMON_FILES_DESTPATH_H
#define COMMON_FILES_DESTPATH_H

#include <sys/stat.h>

#include "salt/base.h"

/* Owner and mode of folders that are made. With an owner, the last one is given to him and those above it to
 * the owner of their parent; they are writable by nobody else. */
typedef struct destpath_made {
    mode_t mode; /* less the umask */
    uid_t uid;   /* (uid_t) -1: all are ours */
    gid_t gid;
} destpath_made_t;
extern const destpath_made_t destpath_made_ours; /* as mkdir -p makes them */

typedef struct destpath {
    const char *asked; /* BORROWED */
    int folder;        /* O_PATH; -1: not found */
    char *name;        /* owned: the last part, in `folder`; where the way ends: what is left of it */
    bool linked;       /* the last part of `asked` is a link's name */
    uid_t whose;       /* whose links led here; (uid_t) -1: none but root's and our own */
    int links;         /* how many were followed */
    const destpath_made_t *made; /* BORROWED: what is missing is made; NULL: it is not */
} destpath_t;

#define DESTPATH_INIT   ROW(NULL, -1, NULL, false, (uid_t) -1, 0, NULL)
#define destpath_auto_t __attribute__((cleanup(destpath_close))) destpath_t

/* Find the folder; the file in it is not opened. -EPERM: a stranger's link led away; -EISDIR: a folder has
 * the name. Close `self` in any case. */
int destpath_find(destpath_t *self, const char *path, int flags);
#define DESTPATH_LINK   2 /* a link at the end is not followed, but what is meant */
#define DESTPATH_STRICT 4 /* in a user's folder root's links count as his */
/* Make the missing folders of `path`. Behind strangers' links they can only be those strangers': else -EPERM,
 * before any is made. Sets *err itself. */
int destpath_make_folder(const char *path, int flags, const destpath_made_t *made, fail_t *err);
/* True when `rc` of destpath_find means that root does not follow a link; then *err says so, as FAIL_COMMAND.
 */
bool destpath_refused(const destpath_t *self, int rc, fail_t *err);
/* True when strangers' links led to something that is not theirs. */
bool destpath_astray(const destpath_t *self, const struct stat *there);
/* Path of the result, for messages. NEW. */
char *destpath_text(const destpath_t *self);
void destpath_close(destpath_t *self);

#endif
