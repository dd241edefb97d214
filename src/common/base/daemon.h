/* daemon.h - process matters of both daemons: background, pid file, user, signals.
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

/* Call it before anything is opened. It opens /dev/null for each closed standard stream: otherwise a socket
 * would get the number, and with it the lines of the log. */
void daemon_stdio(void);
/* Protects the memory, which holds keys, pillar and passwords of jobs: no core file, and only root can read
 * it. Programs that it executes are not affected. */
void daemon_hide(void);
/* Goes to the background (-d). Returns in the child only; the parent waits for daemon_ready() and exits 0, or
 * 1 when the child dies first. */
int daemon_background(fail_t *err);
/* The daemon serves: the waiting parent ends, the terminal is given up, and the service manager is told
 * (notify.h). */
void daemon_ready(void);
/* Writes the pid file. -EEXIST when a live process of the same program holds it. */
int daemon_pid_file(const char *path, fail_t *err);
/* At the end: removes the pid file, or empties it when the daemon may not change its folder. */
void daemon_pid_remove(const char *path);
/* Looks `user` up; -ENOENT when there is no such user. */
int daemon_user_ids(const char *user, uid_t *ret_uid, gid_t *ret_gid, fail_t *err);
/* Becomes `user`; NULL, "" or the present user changes nothing. */
int daemon_user(const char *user, fail_t *err);
/* Blocks SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2 (and SIGCHLD when asked) and returns a descriptor to read
 * them from. */
int daemon_signals(bool with_child, fail_t *err);
/* The next pending signal from that descriptor; 0 when there is none. */
int daemon_next_signal(int fd);
/* Raises the soft limit on descriptors to `want`, within the hard limit. Returns the limit in force. */
long daemon_raise_files(long want);
/* -EMFILE when the limit in force is below `least`. libzmq aborts when it runs out of descriptors. */
int daemon_need_files(long least, fail_t *err);

#endif
