/* zipfile.h - zip archives: what they hold, and one member's bytes. Format: PKWARE's APPNOTE, stored and
 * deflated members, zip64, the traditional encryption.
 *
 * Layer      plugins/lib/archive
 * Threads    one at a time per zipfile_t
 * Ownership  entries belong to the zipfile_t
 * Errors     -EBADMSG: "File is not a zip file", or a damaged member; -EACCES: a password is missing or wrong
 * Tests      tests/cases/exec/archive.list.json, archive.unzip.json
 */
#ifndef PLUGINS_LIB_ARCHIVE_ZIPFILE_H
#define PLUGINS_LIB_ARCHIVE_ZIPFILE_H

#include <sys/types.h>

#include "common/base/buf.h"
#include "salt/base.h"

typedef struct zip_entry {
    char *name;  /* as stored; a folder's ends with "/" */
    mode_t mode; /* st_mode, 0 when the archive has none */
    uint32_t crc;
    unsigned flags, method, time;
    uint64_t packed, size, offset;
} zip_entry_t;

typedef struct zipfile {
    int fd;
    zip_entry_t *v;
    size_t n;
} zipfile_t;

#define ZIPFILE_INIT   ROW(-1, NULL, 0)
#define zipfile_auto_t __attribute__((cleanup(zipfile_free))) zipfile_t

int zipfile_open(zipfile_t *self, const char *path, fail_t *err);
void zipfile_free(zipfile_t *self);
bool zip_is_encrypted(const zip_entry_t *entry);
/* Writes the member's bytes to a descriptor; never more than its stated size. `password` may be NULL. */
int zip_read(const zipfile_t *self, const zip_entry_t *entry, const char *password, int to, fail_t *err);
/* The same into memory, at most `limit` bytes. */
int zip_read_text(const zipfile_t *self, const zip_entry_t *entry, const char *password, size_t limit,
                  buf_t *out, fail_t *err);

#endif
