/* incrontab.h - a user's table of incron: what runs when something happens to a path.
 *
 * A tab is {"pre": [line], "crons": [{"path", "mask", "cmd"}]}; lines that are no entry, as comments, are in
 * `pre` and come first when it is written. Format: incrontab(5), "PATH MASK COMMAND" with blanks between.
 *
 * Layer      plugins/lib/system
 * Threads    pure
 * Ownership  results are NEW
 * Tests      tests/cases/exec/incron.set_job.json, tests/cases/state/incron.present.json
 */
#ifndef PLUGINS_LIB_SYSTEM_INCRONTAB_H
#define PLUGINS_LIB_SYSTEM_INCRONTAB_H

#include "salt/value.h"

typedef enum incrontab_match {
    INCRONTAB_ABSENT,
    INCRONTAB_OVERLAPS, /* an entry of that path and command has some of the events */
    INCRONTAB_PRESENT   /* ... all of them and no more */
} incrontab_match_t;

json_t *incrontab_parse(const char *text);
char *incrontab_text(const json_t *tab);
incrontab_match_t incrontab_look(const json_t *tab, const char *path, const char *mask, const char *cmd);
/* How one entry's events agree with those of `mask`, in any order. */
incrontab_match_t incrontab_compare(const char *mask, const char *other);
/* Events in capitals; the first that is none of incron's, NULL when all are. */
char *incrontab_mask(const char *events);
char *incrontab_bad_event(const char *mask);

#endif
