/* syslogline.h - lines of the log as datagrams to a syslog daemon, here or elsewhere. Nothing waits: what the
 * socket does not take at once is lost, as syslog has it.
 *
 *   udp://HOST[:PORT][/LOG_FACILITY]     port 514, LOG_USER
 *   file:///dev/log[/LOG_FACILITY]
 *
 * Layer      common/base; used by log.c only
 * Threads    syslogline_open before any thread; sending from any
 * Errors     0, or a negative errno with *err
 * Tests      tests/unit/common/test_syslogline.c
 */
#ifndef COMMON_BASE_SYSLOGLINE_H
#define COMMON_BASE_SYSLOGLINE_H

#include "salt/base.h"

/* Whether the address can be understood. Asks nobody. */
int syslogline_check(const char *address, fail_t *err);
/* Send to this address from now on; a host's name is resolved, once. An address that is open already stays
 * as it is. */
int syslogline_open(const char *address, const char *program, fail_t *err);
bool syslogline_is_open(void);

/* `severity` is one of <syslog.h>. */
void syslogline_send(int severity, const char *message);
/* The last words of a process: without stdio or memory. */
void syslogline_last(const char *line, size_t len);

#endif
