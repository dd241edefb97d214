/* download.h - files and lists from a master over a session: resumed after a lost connection, checked, put in
 * place at once.
 *
 * A download writes beside its place, as .NAME.part, and grants the master a few chunks at a time, so it
 * needs the same memory for any size. What an interrupted download left in the cache is taken up again.
 *
 * Asked with {"op", "path", "saltenv"}: op "hash" (with "size": no digest if the file's is another), "files",
 * "dirs", "empty_dirs", "links", "envs", "options", "put" (see upload.h), or "get" with "dest" (a path) or
 * "cache" (a cachedir). Answered with {"ok": true, "value"} or {"ok": false, "error", "code"}, code a
 * positive errno; ENOENT: no such file.
 *
 * What is asked with "what": "mine" is for mineask.h.
 *
 * Layer      minion
 * Threads    the session's
 * Tests      tests/unit/uplink/test_download.c, tests/t/4000-files.bats; fuzz target tests/fuzz/fuzz_files.c
 */
#ifndef UPLINK_DOWNLOAD_H
#define UPLINK_DOWNLOAD_H

#include "common/net/wire.h"
#include "salt/base.h"

typedef struct downloads downloads_t;

typedef struct download_host {
    /* 0, or a negative errno when there is no connection. `body` and `bytes` (NULL: none) BORROWED. */
    int (*send)(void *cookie, wire_msg_t msg, const json_t *body, const void *bytes, size_t n);
    /* The end of what was asked as `id`. `answer` BORROWED. */
    void (*done)(void *cookie, json_int_t id, json_t *answer);
    void *cookie;
} download_host_t;

downloads_t *downloads_new(const download_host_t *host); /* NEW */
void downloads_destroy(downloads_t **self_p);
void downloads_ask(downloads_t *self, json_int_t id, const json_t *ask);
void downloads_cancel(downloads_t *self, json_int_t id);
/* The session is ready; it is not any more. */
void downloads_ready(downloads_t *self);
void downloads_lost(downloads_t *self);
/* What `from`, whose session is not ready, was asked and has not answered becomes this one's: a file goes
 * on where it is, and the answer is told by this host. */
void downloads_take(downloads_t *self, downloads_t *from);
/* file_info, file_data, file_end; others are ignored. */
void downloads_message(downloads_t *self, wire_msg_t msg, const json_t *body, const void *bytes, size_t n);
/* Does what time brings; milliseconds until it wants to be called again at the latest. */
int downloads_step(downloads_t *self);

#endif
