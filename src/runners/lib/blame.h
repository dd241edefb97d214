/* blame.h - why a step failed, for people: which minions, in which state, equal failures together.
 *
 *   997 minions (m0003, m0004, m0005, ...): state nginx (pkg.installed): The following packages failed ...
 *   m0001, m0002: not connected
 *
 * Pure. Layer      runners/lib
 * Threads    any
 * Tests      tests/unit/runners/test_blame.c
 */
#ifndef RUNNERS_LIB_BLAME_H
#define RUNNERS_LIB_BLAME_H

#include "salt/base.h"

/* "m1, m2" or, when there are many, the first ones and how many more. NEW text. */
char *blame_ids(const json_t *ids);

/* The causes in a minion's return of a state run: NEW array of texts. States that failed only because others
 * did are left out where these are there. A list is what could not be compiled. */
json_t *blame_states(const json_t *ret);

typedef struct blame blame_t;
blame_t *blame_new(void);
void blame_destroy(blame_t **self_p);
/* `causes`: text or array of texts, BORROWED. */
void blame_add(blame_t *self, const char *id, const json_t *causes);
/* A line for each kind of failure, those with most minions first. NEW, "" when nothing was added. */
char *blame_text(const blame_t *self);

#endif
