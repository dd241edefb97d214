/* files.h - the file workers: threads that read, hash and list files for minions, chunk by chunk.
 *
 * The front loop passes requests in and sends what comes out; it reads no file. A request belongs to one
 * worker, chosen by its path, so that each worker caches the hashes of its files. A worker serves its
 * requests in turn, one chunk each. A chunk is read only after its receiver granted it (`credit`), so memory
 * is bounded by LIMIT_FILE_CREDIT chunks per connection and LIMIT_FILE_UNDER_WAY bytes in all.
 *
 *   files.c        requests, credit, what goes out      files_work.c   the threads
 *   files_update.c fetching from remotes, in a thread of its own
 *   files_names.c  names for completion at a prompt
 *   files_serve.c  one step of one request              files_take.c   a file that a minion pushes
 *   files_places.c places and bytes of each minion      files_say.c    messages about requests
 *
 * Layer      master
 * Threads    the front loop calls everything here; threads inside do the work. One lock guards what both use
 * Ownership  said per function
 * Errors     faults of a request are answered to its sender
 * Tests      tests/unit/master/test_files.c, tests/t/4000-files.bats
 */
#ifndef MASTER_FILES_FILES_H
#define MASTER_FILES_FILES_H

#include "common/files/fileserver.h"
#include "master/minions/peers.h"
#include "salt/base.h"

typedef struct files files_t;

/* Start the threads. `opts` is copied. NEW, or NULL with *err. */
files_t *files_new(json_t *opts, fail_t *err);
/* End the threads, waiting for reads under way. False when a fetch from a remote continues: then nothing is
 * freed. */
bool files_destroy(files_t **self_p);
/* The fetches from remotes since the last call; the descriptor tells of them. */
fileserver_fetch_t files_fetched(files_t *self);
void files_reload(files_t *self, json_t *opts); /* the configuration changed */
/* An eventfd, readable when files_next or files_names_next has something. BORROWED. */
int files_fd(const files_t *self);

/* Messages of a connection, see messages.def: open a request, grant credit, push a chunk, end a push,
 * stop. */
void files_open(files_t *self, const peer_t *peer, const json_t *body);
void files_more(files_t *self, const peer_t *peer, const json_t *body);
/* `bytes` BORROWED. */
void files_part(files_t *self, const peer_t *peer, const json_t *body, const void *bytes, size_t n);
void files_done(files_t *self, const peer_t *peer, const json_t *body);
void files_stop(files_t *self, const peer_t *peer, const json_t *body);
/* The connection is gone: end all its requests. */
void files_gone(files_t *self, const void *rid, size_t rid_len);

/* A query for names by a local connection, then its answer. */
typedef struct files_names {
    struct files_names *next;
    struct lconn *who;      /* BORROWED; NULL: it has closed */
    json_int_t n;           /* number of its request */
    char *prefix, *saltenv; /* owned; saltenv NULL: list environments, else state files */
    enum { NAMES_NEW, NAMES_BUSY, NAMES_DONE } state;
    json_t *found; /* owned */
} files_names_t;

/* Accept the request `names` of kind sls or saltenvs: 0, or negative with *err. Its answer comes by
 * files_names_next (NEW, files_names_free; NULL without one). */
int files_names(files_t *self, struct lconn *who, const json_t *request, fail_t *err);
files_names_t *files_names_next(files_t *self);
void files_names_free(files_names_t *q);
void files_names_gone(files_t *self, const struct lconn *who); /* the connection closes */

/* A message to send to a minion. */
typedef struct files_out {
    struct files_out *next;
    uint8_t rid[RID_MAX];
    size_t rid_len;
    char *data; /* owned, malloc */
    size_t len;
} files_out_t;

/* The oldest message, NEW (files_out_free); NULL without one. */
files_out_t *files_next(files_t *self);
void files_out_free(files_out_t *out);

#endif
