/* fstab.h - the lines of fstab(5): read, compared, changed one by one, the others left as they are.
 *
 * An entry is {"device", "name", "fstype", "opts", "dump", "pass_num"}, all texts as they stand in the file,
 * opts with commas between.
 *
 * Layer      plugins/lib/system
 * Threads    any
 * Ownership  results are NEW
 * Tests      tests/cases/exec/mount.fstab.json, mount.set_fstab.json, mount.rm_fstab.json
 */
#ifndef PLUGINS_LIB_SYSTEM_FSTAB_H
#define PLUGINS_LIB_SYSTEM_FSTAB_H

#include "common/base/buf.h"
#include "salt/value.h"

/* NULL for comments and what is no entry. */
json_t *fstab_parse(const char *line, size_t len);
/* The line of an entry, with its line break. */
char *fstab_line(const json_t *entry);
/* True when the entry has all members of `want`; the order of its options does not count. */
bool fstab_is(const json_t *entry, const json_t *want);
/* A value as a field: blanks as \040 and \011, and "\ " as well. */
char *fstab_field(const char *value);

/* Appends the whole of such a file, or of a map of automount. 0, or negative with *err in Salt's words. */
int fstab_read(const char *path, buf_t *out, fail_t *err);

/* What is done with an entry that is `criteria`. */
typedef enum fstab_edit { FSTAB_NONE, FSTAB_SAME, FSTAB_CHANGED } fstab_edit_t;
/* Copies `text` to `out`. Entries that have the members of `criteria` are replaced by the one of `entry` unless
 * they are it (or `keep`); NULL for `entry`: they are left out. */
fstab_edit_t fstab_edit(const char *text, const json_t *criteria, const json_t *entry, bool keep, buf_t *out);

#endif
