/* mstatus.h - one line about the minion for the service manager (common/base/notify.h).
 *
 * Layer      minion
 * Threads    the job server's
 * Tests      tests/t/0055-service.bats, tests/t/1140-no-connection.bats
 */
#ifndef MINION_MSTATUS_H
#define MINION_MSTATUS_H

#include "minion/jobserver.h"

/* A session's news: {master, host, state, reason}. BORROWED. */
void mstatus_master(jobserver_t *self, const json_t *frame);
/* Why there is still no connection: {master, host, reason}, the reason one of minion/reach.h's sentences.
 * BORROWED. */
void mstatus_why(jobserver_t *self, const json_t *frame);
/* There is no networking process. */
void mstatus_nobody(jobserver_t *self);

#endif
