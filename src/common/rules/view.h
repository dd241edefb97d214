/* view.h - which events may a user see whose rules do not allow everything? Pure.
 *
 *   salt/job/JID/...             his own jobs'; of others those whose functions his rules allow on the event's minions
 *   salt/run/JID/..., wheel      his own runner and wheel functions'; of others those that his rules allow
 *   all others                   none: what minions, keys and programs say is for who may do everything
 *
 * Layer      common/rules
 * Threads    any
 * Tests      tests/unit/common/test_who_may.c
 */
#ifndef COMMON_RULES_VIEW_H
#define COMMON_RULES_VIEW_H

#include "common/rules/rules.h"

typedef struct rules_view {
    const char *user;
    const json_t *rules;
    bool unite; /* as of rules_ask_t */
    /* The user who began this job, BORROWED; NULL: nobody knows. */
    const char *(*owner)(void *cookie, const char *jid);
    /* True when the compound target has all of these minions (a list of ids). */
    bool (*covers)(void *cookie, const char *target, const json_t *ids);
    void *cookie;
    match_work_t *work;
} rules_view_t;

bool rules_sees(const rules_view_t *view, const char *tag, const json_t *data);

#endif
