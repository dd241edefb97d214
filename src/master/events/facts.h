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

/* What is left of a peer's object without the names of facts. NEW object; empty for anything else. */
json_t *facts_claims(const json_t *said);

#endif
