/* notify.h - reports to the service manager that started a daemon (sd_notify of systemd, Type=notify): that
 * it serves, its state, and that its loop turns. Without a service manager nothing is sent.
 *
 * Layer      common/base; libc only
 * Threads    the daemon's first thread
 * Tests      tests/unit/common/test_notify.c, tests/t/0055-service.bats
 */
#ifndef COMMON_BASE_NOTIFY_H
#define COMMON_BASE_NOTIFY_H

#include "salt/base.h"

/* Takes NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID out of the environment, so that programs that jobs
 * start can't report in the daemon's name. */
void notify_begin(void);
/* Puts them back before the daemon executes itself anew. */
void notify_again(void);
/* True when there is a service manager to report to. */
bool notify_heard(void);
void notify_ready(void);
void notify_stopping(void);
/* Sets the line of `systemctl status`; sent only when it has changed. */
void notify_status(const char *fmt, ...) PRINTF(1, 2);
/* Call it at every turn of the loop. Sends a sign of life when half of the watchdog's time has passed. */
void notify_turn(int64_t now_ms);
/* The time of the next sign of life, in monotonic ms; 0: never. */
int64_t notify_next_ms(void);

#endif
