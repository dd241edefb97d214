/* where.h - where the minions of a job are in their state runs, as lines for a terminal: "web01  2/3 cmd.run,
 * 4 s".
 *
 * The master hands on what minions say of a job that is watched (include/salt/messages.def): the event
 * salt/job/JID/at/ID with {step, of, what}. A minion has one line, until it has returned. A batch has a job for
 * each of its steps: there a minion has its line from where_begin on, "web01  at work, 4 s" until it says more.
 *
 * Pure. Layer      cli
 * Threads    one
 * Tests      tests/unit/cli/test_where.c, tests/t/8110-pictures.bats
 */
#ifndef CLI_WHERE_H
#define CLI_WHERE_H

#include "common/base/buf.h"
#include "salt/base.h"

typedef struct where where_t;

where_t *where_new(const char *jid);  /* NEW. NULL: of the jobs that where_begin names */
void where_destroy(where_t **self_p); /* accepts NULL */

/* The pattern of the events to ask for. NEW. */
char *where_tag(const where_t *self);
/* The minion has the job `jid` from now on; of a job of its own only (`jid` of where_new is NULL). */
void where_begin(where_t *self, const char *jid, const char *id, int64_t now_ms);
/* Takes a push of kind "event"; those of other jobs, and of more minions than LIMIT_WATCHED, are ignored. */
void where_take(where_t *self, const json_t *push, int64_t now_ms);
/* The minion has returned, or is given up. */
void where_over(where_t *self, const char *id);

/* Appends a line for each minion at work, `rows` at most, and then how many more there are. */
void where_text(const where_t *self, int64_t now_ms, size_t columns, size_t rows, buf_t *out);

#endif
