/* spool.h - what must survive the minion's death: a mark per running job, returns that no master has
 * acknowledged, and events that were fired while none listened.
 *
 * DIR/JID.run  {jid, fun, arg, ...}: written before the child is forked, removed when its return is spooled
 *              and {parted: {pid, start}}: the process that goes on without the job server (parting.h), and its start
 * DIR/JID.ret  the return as it goes to the master, and `asker`, the name of the one that it is for, if it is one's:
 *              removed when a master says that it is stored
 * DIR/N.ev     an event {n, tag, data, more?}: the same
 * DIR/elsewhere  [[jid, asker]]: jobs whose returns another master has than the one that asked (seen.h)
 * DIR/series   {boot, upto}: under which name, and up to which number, a master may have seen events of this minion
 * The files' times, each later than the one before, are the order in which returns and events came. All that
 * outlives the death of processes. Of a machine that dies, what was written in its last seconds may be
 * missing, or be empty: an empty return counts as damaged, and to its master the job is lost.
 *
 * Layer      minion; files only
 * Threads    the job server's
 * Errors     negative errno with the path; a full disk keeps the return in memory (see jobserver.c)
 * Tests      tests/unit/uplink/test_spool.c
 */
#ifndef UPLINK_SPOOL_H
#define UPLINK_SPOOL_H

#include <sys/types.h>

#include "salt/base.h"

typedef struct spool spool_t;

spool_t *spool_new(const char *dir, fail_t *err); /* NEW, or NULL with *err; makes the folder (0700) */
void spool_destroy(spool_t **self_p);
int spool_begin(spool_t *self, const json_t *job, fail_t *err);
/* `ret` holds "jid". The return has its place before the mark goes. `asker`: NULL when it is any master's. */
int spool_end(spool_t *self, const json_t *ret, const char *asker, fail_t *err);
/* From the process of a job that goes on without the job server: its return, as above. */
int spool_leave(const char *dir, const json_t *ret, const char *asker, fail_t *err);
/* The mark of a job whose process `pid` goes on without this job server. */
int spool_part(spool_t *self, const json_t *job, pid_t pid, fail_t *err);
/* Mark and return. What can't be removed now goes with a later one. */
void spool_forget(spool_t *self, const char *jid);
/* One return, for whom it is (NEW; NULL: any master), and the size of its text. NEW, or NULL with *err:
 * -ENOENT, -EBADMSG when the file was damaged and is moved aside (JID.ret.bad), or why it can't be read
 * now. */
json_t *spool_load(spool_t *self, const char *jid, char **ret_asker, size_t *ret_size, fail_t *err);
/* NEW array: of the marks that were there when the spool was opened, the jobs without a return whose
 * process is gone, each once. A mark beside its return goes, and an empty one: the minion was killed
 * before that job began. Damaged ones are moved aside, never silently dropped: what happened is added to
 * `damaged` (array). What can't be looked at now stays in spool_marks(). */
json_t *spool_interrupted(spool_t *self, json_t *damaged);
/* NEW array: the jids of which a return has come since the spool was opened, found by spool_interrupted(),
 * each once. */
json_t *spool_landed(spool_t *self);
/* Of the marks of before, the jobs that still run. */
size_t spool_parted(const spool_t *self);
/* BORROWED array of jids: marks of before that spool_interrupted() has still to look at; those that run
 * among them. */
json_t *spool_marks(const spool_t *self);
int spool_event_keep(spool_t *self, const json_t *event, fail_t *err);
void spool_event_forget(spool_t *self, json_int_t n);
json_t *spool_event_load(spool_t *self, json_int_t n, size_t *ret_size, fail_t *err); /* as spool_load */
/* BORROWED array of what was there when the spool was opened, oldest first: a return's jid (text), or an
 * event's number. */
json_t *spool_waiting(const spool_t *self);
/* The series of the last start: 1, *ret_boot NEW, and the number to go on after; 0: none is kept; or a
 * negative errno: it can't be read now, and is not to be written over. */
int spool_series(const spool_t *self, char **ret_boot, json_int_t *ret_upto, fail_t *err);
int spool_series_keep(spool_t *self, const char *boot, json_int_t upto, fail_t *err);
/* NEW: the list that was kept last; NULL: none, or with *err: it can't be read now, as above. */
json_t *spool_elsewhere(const spool_t *self, fail_t *err);
int spool_elsewhere_keep(spool_t *self, const json_t *list, fail_t *err);
/* Returns on the disk. */
size_t spool_len(const spool_t *self);

#endif
