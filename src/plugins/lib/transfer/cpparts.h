/* cpparts.h - what has come of a file that salt-cp sends in pieces: `.NAME.COPY.ID.part` beside its place
 * until the last piece is in, then the file itself. What was there before stays as it was until then.
 *
 * Each copy of a file has a name of its own (COPY), and ID is the minion's, so that two at the same time do
 * not mix, and minions that share a file system neither. A piece that does not follow what has come, or can't
 * be written, ends the copy: its part goes. salt-cp says when it gives one up; for one that was killed, or is
 * cut off, the name of each part stands in cachedir/cp_parts until it is gone, and the minion removes parts
 * that have not grown for LIMIT_COPY_IDLE when it starts and now and then (minion/parts/mcp.c).
 *
 * Layer      plugins/lib/transfer
 * Threads    one per copy
 * Ownership  all BORROWED
 * Errors     negative errno with *err
 * Tests      tests/unit/plugins/test_cpparts.c, tests/cases/exec/cp.recv_chunked.json, cp.recv_forget.json,
 *            tests/t/4000-files.bats, 4210-full-disk.bats
 */
#ifndef PLUGINS_LIB_TRANSFER_CPPARTS_H
#define PLUGINS_LIB_TRANSFER_CPPARTS_H

#include "plugins/lib/file/fileops.h"

typedef struct cppart {
    const char *cachedir, *id, *copy;
    const partfile_t *to; /* where the file will be */
} cppart_t;

/* True when the text is a valid name of a copy. */
bool cpparts_is_name(const char *copy);
/* The next piece, which begins at byte `at`: 0 makes the part. */
int cpparts_add(const cppart_t *self, int64_t at, const void *bytes, size_t n, fail_t *err);
/* All pieces are in: the part becomes the file, with the owner of the one it replaces. `mode` -1: as that
 * has it. */
int cpparts_land(const cppart_t *self, int mode, fail_t *err);
/* The same for what is in memory, or in a file. */
int cpparts_put(const partfile_t *to, const content_t *what, int mode, fail_t *err);
/* Removes the part of a copy; NULL: of all that were idle too long. NEW list of the removed paths. */
json_t *cpparts_forget(const char *cachedir, const char *copy);

#endif
