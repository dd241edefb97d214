/* notify.h - what a daemon tells the service manager that started it (sd_notify of systemd, Type=notify):
 * that it serves, how it is, and that it turns. Without one nothing is said.
 *
 * Layer      common/base; libc only
 * Threads    the daemon's first thread
 * Tests      tests/unit/common/test_notify.c, tests/t/0055-service.bats
 */
#ifndef COMMON_BASE_NOTIFY_H
#define COMMON_BASE_NOTIFY_H

#include "salt/base.h"

/* Takes NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID out of the environment: what a job starts is not to
 * speak for us. */
void notify_begin(void);
/* Puts them back, for who executes itself anew. */
void notify_again(void);
/* Whether there is somebody to tell. */
bool notify_heard(void);
void notify_ready(void);
void notify_stopping(void);
/* One line for `systemctl status`; sent when it is another one than the last. */
void notify_status(const char *fmt, ...) PRINTF(1, 2);
/* From the loop, at every turn: a sign of life when half of the watchdog's time is over. */
void notify_turn(int64_t now_ms);
/* When the next sign is due, in monotonic ms; 0: never. */
int64_t notify_next_ms(void);

#endif
