/* reactor_stats.h - what each file of the reactor's rules has done since the master began, of a thousand files at
 * most. `file` is as it is configured.
 *
 * Layer      master, private to reactor*.c
 * Threads    any
 * Tests      tests/unit/master/test_reactor_stats.c, tests/t/6100-reactor.bats
 */
#ifndef MASTER_REACTOR_REACTOR_STATS_H
#define MASTER_REACTOR_REACTOR_STATS_H

#include "salt/base.h"

typedef struct rstats rstats_t;
rstats_t *rstats_new(void);
void rstats_destroy(rstats_t **self_p);
void rstats_fired(rstats_t *self, const json_t *firing);
void rstats_begun(rstats_t *self, const char *file);
void rstats_failed(rstats_t *self, const char *file, const char *why);
/* NEW {file: {events, begun, failed, per_minute, last?: {tag, seq, time}, last_error?}}. */
json_t *rstats_told(rstats_t *self);

#endif
