/* download.h - files and lists from a master over a session: resumed after a lost connection, verified, and
 * renamed into place when complete.
 *
 * A download writes beside its destination, as .NAME.part, and grants the master a few chunks of credit at a
 * time, so memory is the same for files of any size. A part that an interrupted download left in the cache is
 * resumed: a keyed tag of its bytes is compared with the master's tag of the same range.
 *
 * A request: {"op", "path", "saltenv"}; op "hash" (with "size": no digest if the file's size is another),
 * "files", "dirs", "empty_dirs", "links", "envs", "options", "put" (see upload.h), or "get" with "dest" (a
 * path) or "cache" (a cachedir). Its answer: {"ok": true, "value"} or {"ok": false, "error", "code"}, code a
 * positive errno; ENOENT: no such file. Requests with "what": "mine" or "peer" are for mineask.h.
 *
 * Layer      uplink
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
    /* Request `id` is answered; called once per request that is not cancelled. `answer` BORROWED. */
    void (*done)(void *cookie, json_int_t id, json_t *answer);
    void *cookie;
} download_host_t;

downloads_t *downloads_new(const download_host_t *host); /* NEW */
void downloads_destroy(downloads_t **self_p);
/* Starts a request, also while disconnected. `id` is the caller's and unique among open requests; `ask`
 * BORROWED. It fails after LIMIT_FILE_STALL ms without progress. */
void downloads_ask(downloads_t *self, json_int_t id, const json_t *ask);
/* Ends a request without an answer. An unknown id is ignored. */
void downloads_cancel(downloads_t *self, json_int_t id);
/* The session entered READY; it left it. */
void downloads_ready(downloads_t *self);
void downloads_lost(downloads_t *self);
/* Takes the open requests of `from`, whose session is not READY. Files go on where they are; answers come
 * through this object's host. */
void downloads_take(downloads_t *self, downloads_t *from);
/* Handles file_info, file_data, file_end, mine and peer; other messages, and numbers of requests that are
 * over, are ignored. */
void downloads_message(downloads_t *self, wire_msg_t msg, const json_t *body, const void *bytes, size_t n);
/* Runs what is due; milliseconds until it must be called again at the latest. */
int downloads_step(downloads_t *self);

#endif
