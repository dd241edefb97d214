/* facts.h - the names in an event's data that tell facts: what the master knows of a job and of who sent the
 * event. A peer's own words stand beside them, and never under these names.
 *
 * Layer      master
 * Threads    any
 * Tests      tests/unit/master/test_facts.c, tests/museum/claims.bats
 */
#ifndef MASTER_EVENTS_FACTS_H
#define MASTER_EVENTS_FACTS_H

#include "salt/base.h"

/* Copies a peer's object without the members that are named as facts. NEW object; empty for any other value. */
json_t *facts_claims(const json_t *said);

#endif
