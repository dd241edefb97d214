/* audit.h - who did what to keys and with the master: one line of JSON each, appended to a file of its own.
 *
 *   {"time", "uid", "user", "pid", "program", "op", ...}  an operator's request (the column of requests.def)
 *   {"time", "minion", "address", "op": "key", "act", "finger"}   a key's change that a minion caused
 *   {"time", "op": "ended", "jid", "fun", "success", "retcode"}   a function of a runner or wheel module
 *   {"time", "op": "lost", "lines"}                               so many lines before could not be written
 *
 * Arguments, metadata, data of events, returns, and targets that look into pillar may be secret and are left
 * out. Requests that only read have a line when they are refused.
 *
 * Layer      keyring; also linked into salt-key for when no master runs
 * Threads    one at a time
 * Errors     a file that can't be written stops nobody; that it can't, and can again, is logged once
 * Tests      tests/unit/keyring/test_audit.c, tests/t/1120-audit.bats
 */
#ifndef KEYRING_AUDIT_H
#define KEYRING_AUDIT_H

#include "salt/base.h"

typedef struct audit audit_t;

audit_t *audit_new(const char *path); /* NEW; "": nothing is written */
void audit_destroy(audit_t **self_p);
/* The file may have been renamed, and the option changed. */
void audit_reopen(audit_t *self, const char *path);
/* Appends one line with the time in front. TAKES *line_p (an object). */
void audit_write(audit_t *self, json_t **line_p);
/* The same, for what anybody can cause: of many only some, and then how many more as "unsaid". Each crowd
 * by itself: none can keep another out of the file. */
typedef enum audit_crowd { AUDIT_STRANGERS, AUDIT_USERS, AUDIT_CROWDS } audit_crowd_t;
void audit_write_spare(audit_t *self, audit_crowd_t crowd, json_t **line_p);

/* NEW line of a request, whoever asks: op, what it names, whether it was allowed, and what came of it.
 * `reply` is NULL when it failed. */
json_t *audit_request(const json_t *request, bool allowed, const json_t *reply, const fail_t *err);

#endif
