/* daemon.h - what both daemons do with their process: background, pid file, user, signals.
 *
 * Layer      common/base; libc only
 * Threads    before any thread exists
 * Errors     negative errno with what to do
 * Tests      tests/t/0000-start.bats
 */
#ifndef COMMON_BASE_DAEMON_H
#define COMMON_BASE_DAEMON_H

#include <sys/types.h>

#include "salt/base.h"

/* Before anything is opened: a standard stream that is closed becomes /dev/null, or a socket would get its
 * number and the log's lines. */
void daemon_stdio(void);
/* Keys, pillar and passwords of jobs are in this memory: no core file, and nobody but root reads it. What
 * it executes is as other programs are. */
void daemon_hide(void);
/* Go to the background (-d): returns in the child only; the parent waits until daemon_ready() and exits 0, or
 * 1 when the child dies before. */
int daemon_background(fail_t *err);
/* The daemon serves: let the waiting parent go, and give up the terminal. Also tells the
 * service manager (notify.h). */
void daemon_ready(void);
/* Write the pid file; -EEXIST when a live process of the same program holds it. */
int daemon_pid_file(const char *path, fail_t *err);
/* The end: removes it, or empties it where its folder belongs to somebody else. */
void daemon_pid_remove(const char *path);
/* Who `user` is; -ENOENT when there is none of that name. */
int daemon_user_ids(const char *user, uid_t *ret_uid, gid_t *ret_gid, fail_t *err);
/* Become `user` (a name; NULL, "" or the present one: stay). */
int daemon_user(const char *user, fail_t *err);
/* Block SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2 (and SIGCHLD when asked) and read them from the returned
 * descriptor.
 */
int daemon_signals(bool with_child, fail_t *err);
/* The next pending signal from that descriptor; 0 when none. */
int daemon_next_signal(int fd);
/* Raise the soft limit on descriptors to `want`, as far as the hard limit goes. Returns the limit in force.
 */
long daemon_raise_files(long want);
/* -EMFILE when the limit in force is below `least`: libzmq ends a process that has none left at the wrong moment. */
int daemon_need_files(long least, fail_t *err);

#endif
