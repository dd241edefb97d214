/* jobmsg.h - the fields of a job's message: the master sends no other, and a minion takes no other. What a
 * minion notes of its own jobs beside them is no master's to say.
 *
 * Pure. Layer      common/net
 * Threads    any
 * Tests      tests/unit/uplink/test_session.c, tests/t/3000-jobs.bats
 */
#ifndef COMMON_NET_JOBMSG_H
#define COMMON_NET_JOBMSG_H

#include "salt/base.h"

/* NEW object of the job's fields that `from` has; their values are shared with it. */
json_t *jobmsg_fields(const json_t *from);

#endif
