/* gitfs_blob.c - the remotes' files by content, below cachedir/gitfs/blobs.
 *
 * A file gets its name once it is complete; after a crash the disk may still lose some of it, so each file is
 * verified against git's hash before its first use. Its atime notes the last use; mtime and ctime are not
 * touched by that. */
#include "common/files/gitfs_int.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/base/digest.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "salt/limits.h"
#include "salt/log.h"

#define LINK_MAX 4096
#define DAY_S    86400

/* ---- one file -------------------------------------------------------------------------------- */

/* Verify a file against git's name for it: the hash over "blob SIZE\0" and the content. */
static bool
gitfs_blob_is_whole(const char *path, const char *id)
{
    const char *kind = digest_of_len(strlen(id));
    AUTO(digest) digest = kind != NULL ? digest_new(kind, NULL) : NULL;
    AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    struct stat st;
    if (digest == NULL || fd < 0 || fstat(fd, &st) != 0)
        return false;
    AUTO_FREE char *head = xasprintf("blob %lld", (long long) st.st_size);
    digest_add(digest, head, strlen(head) + 1);
    if (digest_add_fd(digest, fd) < 0)
        return false;
    AUTO_FREE char *hex = digest_hex(digest);
    return strcmp(hex, id) == 0;
}

/* Let git write the file itself, so that its size is not limited by memory. */
static int
gitfs_blob_make(const git_remote_t *r, const char *id, const char *path, fail_t *err)
{
    AUTO_FREE char *dir = xasprintf("--git-dir=%s", r->dir);
    const char *const words[] = { "git", dir, "unpack-file", id, NULL };
    const git_copy_t copy = git_remote_copy(r);
    buf_auto_t out = BUF_INIT;
    int rc = git_copy_run(&copy, r->blobs, words, &out, err);
    if (rc < 0)
        return rc;
    AUTO_FREE char *name = xstrndup(buf_str(&out), strcspn(buf_str(&out), "\n"));
    AUTO_FREE char *temp = fs_join(r->blobs, name);
    rc = fs_settle(temp, path, err);
    if (rc == 0 && !gitfs_blob_is_whole(path, id))
        rc = fail_set(err, -EIO,
                      "%s: the object %s is damaged; salt-run fileserver.clear_cache has all fetched anew",
                      r->dir, id);
    return rc;
}

/* Path of a file's content, made by git when it is missing or damaged. NEW. */
int
git_blob(git_remote_t *r, const char *id, char **ret_path, fail_t *err)
{
    static char yes;
    AUTO_FREE char *path = fs_join(r->blobs, id);
    const struct timespec now[] = { { 0, UTIME_NOW }, { 0, UTIME_OMIT } };
    struct stat st;
    bool there = stat(path, &st) == 0;

    /* Its use is noted in the atime, at most once a day. */
    if (there && llabs((long long) time(NULL) - st.st_atime) > DAY_S)
        (void) utimensat(AT_FDCWD, path, now, 0);
    if (!there || map_get(r->whole, id) == NULL) {
        bool whole = there && gitfs_blob_is_whole(path, id);
        if (there && !whole)
            log_warning("gitfs: %s is damaged, and made anew", path);
        int rc = whole ? 0 : gitfs_blob_make(r, id, path, err);
        if (rc < 0)
            return rc;
        if (map_len(r->whole) >= LIMIT_FILE_HASHES)
            map_clear(r->whole);
        map_set(r->whole, id, &yes);
    }
    *ret_path = STEAL(path);
    return 0;
}

char *
git_link(git_remote_t *r, const char *id, fail_t *err)
{
    AUTO_FREE char *path = NULL;
    buf_auto_t text = BUF_INIT;
    struct stat st;
    if (git_blob(r, id, &path, err) < 0)
        return NULL;
    /* Said here, as who asked for the file gets the text, and the copy's place is the master's own affair. */
    if (stat(path, &st) == 0 && st.st_size > LINK_MAX) {
        (void) fail_set(err, -EFBIG, "a link of the repository has a target of more than %d bytes", LINK_MAX);
        return NULL;
    }
    if (fs_read(path, LINK_MAX, &text, err) < 0)
        return NULL;
    return buf_steal(&text);
}
