/* files.h - the file workers: threads that read, hash and list what minions ask for, chunk by chunk.
 *
 * The front loop hands requests over and sends what comes back; it reads no file. A request belongs to one
 * worker, by its path, so that each knows the hashes of its files. A worker serves its requests in turn, one
 * chunk each. A chunk is read only when its receiver has granted it (`credit`), so what waits in memory is
 * bounded by LIMIT_FILE_CREDIT chunks for a connection and LIMIT_FILE_UNDER_WAY bytes in all.
 *
 *   files.c        requests, credit, what goes out      files_work.c   the threads
 *   files_update.c fetching from remotes, in a thread of its own
 *   files_names.c  names for completion at a prompt
 *   files_serve.c  one step of one request              files_take.c   a file that a minion pushes
 *
 * Layer      master
 * Threads    all but the threads inside: the front loop's. One lock guards what both sides touch
 * Ownership  said per function
 * Errors     what is wrong with a request is answered to its sender
 * Tests      tests/unit/master/test_files.c, tests/t/4000-files.bats
 */
#ifndef MASTER_FILES_FILES_H
#define MASTER_FILES_FILES_H

#include "master/minions/peers.h"
#include "salt/base.h"

typedef struct files files_t;

/* NEW; `opts` is copied. */
files_t *files_new(json_t *opts, fail_t *err);
/* Ends the threads; a read under way is waited for. False when a fetch from a remote goes on all the same. */
bool files_destroy(files_t **self_p);
void files_reload(files_t *self, json_t *opts); /* the configuration changed */
/* Readable when files_next has something. */
int files_fd(const files_t *self);

/* What a connection says: see messages.def. */
void files_open(files_t *self, const peer_t *peer, const json_t *body);
void files_more(files_t *self, const peer_t *peer, const json_t *body);
/* `bytes` BORROWED. */
void files_part(files_t *self, const peer_t *peer, const json_t *body, const void *bytes, size_t n);
void files_done(files_t *self, const peer_t *peer, const json_t *body);
void files_stop(files_t *self, const peer_t *peer, const json_t *body);
/* The connection is gone: all that it asked for ends. */
void files_gone(files_t *self, const void *rid, size_t rid_len);

/* A question for names of files by a local connection, its answer when there is one. */
typedef struct files_names {
    struct files_names *next;
    struct lconn *who;      /* BORROWED; NULL: it is gone */
    json_int_t n;           /* its number */
    char *prefix, *saltenv; /* owned; saltenv NULL: environments are asked for, else state files */
    enum { NAMES_NEW, NAMES_BUSY, NAMES_DONE } state;
    json_t *found; /* owned */
} files_names_t;

/* The request `names` of the kinds sls and saltenvs: 0 when it is taken. Its answer comes by
 * files_names_next (NEW, files_names_free; NULL when there is none), and files_fd is readable then. */
int files_names(files_t *self, struct lconn *who, const json_t *request, fail_t *err);
files_names_t *files_names_next(files_t *self);
void files_names_free(files_names_t *q);
void files_names_gone(files_t *self, const struct lconn *who); /* the connection ends */

/* One message to send. */
typedef struct files_out {
    struct files_out *next;
    uint8_t rid[RID_MAX];
    size_t rid_len;
    char *data; /* owned, malloc */
    size_t len;
} files_out_t;

/* The oldest, NEW (files_out_free); NULL when there is none. */
files_out_t *files_next(files_t *self);
void files_out_free(files_out_t *out);

#endif
