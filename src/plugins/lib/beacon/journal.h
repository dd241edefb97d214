/* journal.h - an entry of the journal, as `journalctl --output=json` writes it.
 *
 * Layer      plugins/lib/beacon
 * Threads    any
 * Source     https://systemd.io/JOURNAL_EXPORT_FORMATS, systemd.journal-fields(7)
 * Tests      tests/cases/beacon/journald.json, tests/fuzz/fuzz_journal.c
 */
#ifndef PLUGINS_LIB_BEACON_JOURNAL_H
#define PLUGINS_LIB_BEACON_JOURNAL_H

#include "salt/base.h"

/* NEW object of a line, with numbers where python-systemd has them; NULL when it is none. */
json_t *journal_entry(const char *line, size_t len);

#endif
