/* syslogline.h - sends lines of the log as datagrams to a syslog daemon, local or remote. Nothing waits: a
 * line that the socket does not take at once is lost, as usual with syslog.
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

/* 0 when the address is valid. Resolves and connects nothing. */
int syslogline_check(const char *address, fail_t *err);
/* Sends to this address from now on. A host's name is resolved once. An address that is open already is left
 * alone. */
int syslogline_open(const char *address, const char *program, fail_t *err);
bool syslogline_is_open(void);

/* `severity` is one of <syslog.h>. */
void syslogline_send(int severity, const char *message);
/* Sends a process's last message, without stdio or memory. */
void syslogline_last(const char *line, size_t len);

#endif
