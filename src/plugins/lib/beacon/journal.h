/* journal.h - the journal of this machine, entry by entry as they are written, read by journald's own library,
 * since that alone knows all the forms of its files. It is loaded when a journal is opened.
 *
 * Layer      plugins/lib/beacon
 * Threads    one
 * Ownership  said per function
 * Errors     a negative errno with *err
 * Source     sd-journal(3), systemd.journal-fields(7), https://systemd.io/JOURNAL_EXPORT_FORMATS
 * Tests      tests/cases/beacon/journald.json, tests/fuzz/fuzz_journal.c, tests/installed/outside.bats
 */
#ifndef PLUGINS_LIB_BEACON_JOURNAL_H
#define PLUGINS_LIB_BEACON_JOURNAL_H

#include "salt/base.h"

typedef struct journal journal_t;

/* Begins behind the entry that `context` keeps, in "journal", and else at the present end. `root`: prefix of the
 * journal's folders; "" except in tests. `services`, {name: {field: value}}: entries that have the fields of none
 * of them may be left out. NEW, or NULL with *err. */
journal_t *journal_new(const char *root, json_t *services, json_t *context, fail_t *err);
/* `copied` as in beacon_row_t's close(). */
void journal_destroy(journal_t **self_p, bool copied);
int journal_fd(const journal_t *self);
/* beacon_row_t's again_ms. */
int journal_again_ms(const journal_t *self);
/* Calls `take` for each entry that has come, until LIMIT_BEACON_READ bytes of them were read or some time has
 * passed. After an error the journal is to be opened anew. */
typedef void journal_take_fn(void *cookie, json_t *entry);
int journal_read(journal_t *self, json_t *context, journal_take_fn *take, void *cookie, fail_t *err);

/* Adds a field, NAME=VALUE, to the entry: a number where python-systemd has one; bytes that are no text as the
 * list of them; null when there is no room for it in *budget, in bytes. Of several values of one name a list. */
void journal_field(json_t *entry, const void *field, size_t len, size_t *budget);

#endif
