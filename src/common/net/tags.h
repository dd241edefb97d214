/* tags.h - which events a minion may fire: the master refuses others, and the minion checks before it sends
 * them.
 *
 * Layer      common/net
 * Threads    any
 * Errors     -EPERM with what to do
 * Tests      tests/unit/common/test_tags.c, tests/museum/wire.bats
 */
#ifndef COMMON_NET_TAGS_H
#define COMMON_NET_TAGS_H

#include "salt/base.h"

/* True when the minion `id` may fire this tag; false with *err for tags that are the master's or another
 * minion's. */
bool tags_of_minion(const char *tag, const char *id, fail_t *err);

#endif
