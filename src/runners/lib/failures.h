/* failures.h - why a step failed, for people: which minions, in which state, equal failures together.
 *
 *   997 minions (m0003, m0004, m0005, ...): state nginx (pkg.installed): The following packages failed ...
 *   m0001, m0002: not connected
 *
 * Pure. Layer      runners/lib
 * Threads    any
 * Tests      tests/unit/runners/test_failures.c
 */
#ifndef RUNNERS_LIB_FAILURES_H
#define RUNNERS_LIB_FAILURES_H

#include "salt/base.h"

/* "m1, m2" or, when there are many, the first ones and how many more. NEW text. */
char *failures_ids(const json_t *ids);

/* The causes in a minion's return of a state run: NEW array of texts. States that failed only because others
 * did are left out where these are there. A list is what could not be compiled. */
json_t *failures_states(const json_t *ret);

typedef struct failures failures_t;
failures_t *failures_new(void);
void failures_destroy(failures_t **self_p);
/* `causes`: text or array of texts, BORROWED. */
void failures_add(failures_t *self, const char *id, const json_t *causes);
/* A line for each kind of failure, those with most minions first. NEW, "" when nothing was added. */
char *failures_text(const failures_t *self);

#endif
