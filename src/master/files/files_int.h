/* files_int.h - private to files*.c: requests, workers, and which thread may use which field.
 *
 * Layer      master
 * Threads    fields marked L are guarded by files.lock; the others belong to the worker while `busy`, and to
 *            no thread otherwise
 * Tests      tests/unit/master/test_files.c
 */
#ifndef MASTER_FILES_FILES_INT_H
#define MASTER_FILES_FILES_INT_H

#include <pthread.h>

#include "common/base/buf.h"
#include "common/base/digest.h"
#include "common/base/map.h"
#include "common/crypto/tag.h"
#include "common/files/fileserver.h"
#include "common/net/wire.h"
#include "master/files/files.h"

typedef struct files_worker files_worker_t;

typedef enum asking_state {
    ASKING_NEW,    /* not examined yet */
    ASKING_PREFIX, /* the part that the receiver has is read for the tag */
    ASKING_DATA,   /* sends chunks while there is credit */
    ASKING_HASH,   /* computes the digest */
    ASKING_TAKE,   /* receives chunks */
    ASKING_DONE
} asking_state_t;

/* A received chunk to be written; n 0 with a tag: the end. */
typedef struct files_in {
    struct files_in *next;
    int64_t at;
    char *tag;
    size_t n;
    char bytes[];
} files_in_t;

/* A minion's share of the places and bytes, over all its connections. */
typedef struct files_share {
    size_t n_asking, n_open; /* L: requests; those with an open file */
    size_t under_way;        /* L: bytes */
} files_share_t;

/* One request of a minion, from its message to the last chunk: for a file, a list or a digest, or with a file
 * that the minion pushes. Its worker has it in a ring and takes one step of each in turn. */
typedef struct asking {
    struct asking *peer_next; /* L: in the connection's bucket */
    files_worker_t *worker;   /* constant */
    struct asking *next;      /* L: in its worker's ring */
    uint8_t rid[RID_MAX];     /* constant */
    size_t rid_len;
    json_int_t n;              /* constant: the sender's number */
    uint64_t serial;           /* constant: our number, unique */
    char *op, *path, *saltenv; /* constant, owned */
    int credit;                /* L: chunks that may be sent */
    size_t under_way;          /* L: bytes sent and not granted again */
    int64_t heard_ms;          /* L: monotonic, last message of the receiver */
    bool busy, gone;           /* L */
    asking_state_t state;
    char *id;                  /* constant, owned: the minion */
    files_share_t *share;      /* constant once accepted: its minion's */
    files_in_t *in, **in_tail; /* L: pushed chunks to be written */
    int granted;               /* L: chunks that may still be pushed */
    bool all_came;             /* L: the end of a push was received */
    int folder, taken;         /* descriptors: target folder, and the file that grows; -1: none */
    int to_grant, regranted;   /* chunks written and not granted again; those granted by the last step */
    char *name, *part;         /* owned: name in `folder`; path of the growing file */
    served_t file;
    buf_t text; /* a list, served like a file */
    bool is_text;
    bool sent;               /* a minion sent the file, or some of the list's names */
    int64_t at, start, size; /* next byte; first byte to send; all bytes */
    int64_t known_size;      /* for a hash: no digest unless the file has this size; -1: any */
    tag_t *tag;
    digest_t *digest;
} asking_t;

struct files_worker {
    struct files *owner;
    pthread_t thread;
    pthread_cond_t wake;
    asking_t *ring, **tail; /* L: its requests, in turn */
    int64_t swept_ms;       /* monotonic: last search for stalled requests */
    char *fresh_opts;       /* L: owned: JSON of a new configuration; NULL: none */
    json_t *opts;           /* used by the thread */
    fileserver_t *server;
};

#define FILES_WORKERS 2
#define FILES_BUCKETS 4096

struct files {
    pthread_mutex_t lock;
    files_worker_t workers[FILES_WORKERS];
    files_worker_t updater;           /* fetches remotes; takes no requests */
    bool fetching;                    /* L: it is fetching from remotes */
    fileserver_fetch_t fetch;         /* L: what it fetched since the front loop asked last */
    asking_t *buckets[FILES_BUCKETS]; /* L: requests by connection */
    map_t *shares;                    /* L: id -> files_share_t of minions with requests */
    size_t n_workers;                 /* started */
    size_t n_asking, n_open;          /* L: requests; those with an open file */
    uint64_t serial;                  /* L: of the newest request */
    size_t under_way;                 /* L: bytes of all requests */
    files_out_t *out, **out_tail;     /* L */
    files_names_t *names;             /* L: queries of local connections */
    int fd;                           /* eventfd */
    bool stop;                        /* L */
};

/* files_names.c. Lock held, released meanwhile: answer one query; false without one. */
bool files_names_step(files_worker_t *w);
/* The names of state files among `paths` that start with `prefix`, cut after the next dot. NEW, bounded as by
 * names_bounded. */
json_t *files_sls_names(const json_t *paths, const char *prefix);

/* files_serve.c: do one step of a request; messages to send are appended at *out_tail in order. */
void asking_step(asking_t *self, const files_worker_t *worker, files_out_t ***out_tail);
/* Lock held. True when a step would do something. */
bool asking_can_step(const asking_t *self, const struct files *files);
/* The request must be out of its bucket and ring. */
void asking_free(asking_t *self);

/* files_take.c */
void take_begin(const json_t *opts); /* at the start: delete unfinished pushes of earlier processes */
/* A push is written beside its place and renamed when its last byte has come, so that readers see the whole
 * file or none. */
void take_open(asking_t *self, json_t *opts, files_out_t ***out_tail);
void take_step(asking_t *self, files_out_t ***out_tail);
void take_free(asking_t *self); /* deletes an unfinished push */

/* files_say.c: build messages of a request. asking_message consumes `body`; asking_error ends a request, as
 * file_info before it was opened and as file_end after. */
files_out_t *asking_frame(const asking_t *self, char **text_p, size_t len); /* TAKES *text_p */
files_out_t *asking_message(const asking_t *self, wire_msg_t msg, json_t *body);
files_out_t *asking_error(const asking_t *self, bool opened, int code, const char *text);
void asking_put(files_out_t ***tail, files_out_t *out);
void asking_fail(asking_t *self, bool opened, int code, const fail_t *err, files_out_t ***tail);

/* files_places.c, lock held: queue a message; remove a request from buckets and counts; end a request with an
 * error; true when no place is left, for its minion or in all. */
void files_put(struct files *self, files_out_t *out);
void files_forget(struct files *self, asking_t *a);
void files_give_up(struct files *self, asking_t *a, int code, const char *why);
bool files_full(const struct files *self, const asking_t *a);
/* The head of a connection's list of requests; record arrived bytes; wake every worker. */
asking_t **files_bucket(struct files *self, const uint8_t *rid, size_t rid_len);
void files_received(struct files *self, asking_t *a, size_t bytes);
void files_wake_all(struct files *self);

/* files_update.c */
/* The thread of the updater: fetches remotes, which may take minutes, and serves nobody meanwhile. */
void *files_update(void *worker);
/* files_work.c. Lock held: apply a new configuration. */
void files_take_opts(files_worker_t *w);

/* The thread of a worker: steps through its ring of requests, one chunk each, so that a large file does not
 * keep others waiting. */
void *files_work(void *worker);

#endif
