/* spool.h - what must survive the minion's death: a mark per running job, returns that no master has
 * acknowledged, and events fired while no master was connected.
 *
 * DIR/JID.run  {jid, fun, arg, ...}: written before the child is forked, removed when its return is spooled;
 *              with {parted: {pid, start}} when the job's process goes on without the job server (parting.h)
 * DIR/JID.ret  the return as it goes to the master, and `asker`, the name of the master that it is for, if
 *              only one may have it; removed when a master acknowledges it
 * DIR/N.ev     an event {n, tag, data, more?}; removed likewise
 * DIR/elsewhere  [[jid, asker]]: jobs whose returns went to another master than the one that asked (seen.h)
 * DIR/series   {boot, upto}: the name of the event numbers, and the highest that a master may have seen
 * The order in which returns and events came is kept in the files' times, each later than the one before.
 * Nothing is synced: files survive the death of processes. After a power failure those of the last seconds
 * may be missing or empty; an empty return counts as damaged, and its job never returns.
 *
 * Layer      uplink; files only
 * Threads    the job server's
 * Errors     negative errno with the path; a full disk keeps the return in memory (see outbox.h)
 * Tests      tests/unit/uplink/test_spool.c
 */
#ifndef UPLINK_SPOOL_H
#define UPLINK_SPOOL_H

#include <sys/types.h>

#include "salt/base.h"
#include "uplink/jobret.h"

typedef struct spool spool_t;

spool_t *spool_new(const char *dir, fail_t *err); /* NEW, or NULL with *err; creates the folder (0700) */
void spool_destroy(spool_t **self_p);
/* Writes the mark of a job that is about to be forked. */
int spool_begin(spool_t *self, const json_t *job, fail_t *err);
/* Writes the return, then removes the mark, so that a crash between never loses the job. `asker`: NULL when
 * any master may have it. -ENOSPC: LIMIT_SPOOL_FILES returns wait already. */
int spool_end(spool_t *self, const jobret_t *ret, const char *asker, fail_t *err);
/* Writes the return of a job that goes on without the job server, from its own process. The mark stays: the
 * next job server finds both and counts the return as landed. */
int spool_leave(const char *dir, const jobret_t *ret, const char *asker, fail_t *err);
/* Adds `pid` and its start time to the mark of a job whose process goes on without this job server. -ESRCH:
 * it is gone. */
int spool_part(spool_t *self, const json_t *job, pid_t pid, fail_t *err);
/* Removes mark and return. What can't be removed now is tried again at the next call. */
void spool_forget(spool_t *self, const char *jid);
/* Reads one return: NEW, with *ret_asker (NEW; NULL: any master) and the size of its text. NULL with *err:
 * -ENOENT; -EBADMSG when it was damaged and is moved aside (JID.ret.bad); another errno when it can't be read
 * now. */
json_t *spool_load(spool_t *self, const char *jid, char **ret_asker, size_t *ret_size, fail_t *err);
/* NEW array of the jobs that were interrupted: of the marks from before this start those without a return
 * whose process is gone, each reported once. A mark beside its return is removed, and an empty one: the
 * minion was killed before that job began. Damaged marks are moved aside, with a sentence each in `damaged`
 * (array). Marks that can't be examined now stay in spool_marks(); call again later. */
json_t *spool_interrupted(spool_t *self, json_t *damaged);
/* NEW array of the jids whose returns parted processes have left since the spool was opened, as found by
 * spool_interrupted(), each reported once. */
json_t *spool_landed(spool_t *self);
/* How many of the marks from before this start belong to processes that still run, as of the last
 * spool_interrupted(). */
size_t spool_parted(const spool_t *self);
/* BORROWED array of jids: marks from before this start that spool_interrupted() has not settled, those of
 * running processes among them. */
json_t *spool_marks(const spool_t *self);
int spool_event_keep(spool_t *self, const json_t *event, fail_t *err);
void spool_event_forget(spool_t *self, json_int_t n);
json_t *spool_event_load(spool_t *self, json_int_t n, size_t *ret_size, fail_t *err); /* as spool_load */
/* BORROWED array of what was there when the spool was opened, oldest first: a return's jid (text) or an
 * event's number (integer). */
json_t *spool_waiting(const spool_t *self);
/* Reads the series of an earlier start: 1 with *ret_boot NEW and the number to go on after; 0: none; a
 * negative errno: it can't be read now and must not be overwritten. */
int spool_series(const spool_t *self, char **ret_boot, json_int_t *ret_upto, fail_t *err);
int spool_series_keep(spool_t *self, const char *boot, json_int_t upto, fail_t *err);
/* NEW: the list kept last. NULL: none; or with *err: it can't be read now and must not be overwritten. */
json_t *spool_elsewhere(const spool_t *self, fail_t *err);
int spool_elsewhere_keep(spool_t *self, const json_t *list, fail_t *err);
/* How many returns are on disk. */
size_t spool_len(const spool_t *self);

#endif
