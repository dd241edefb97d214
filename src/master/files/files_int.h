/* files_int.h - private to files*.c: a request, a worker, and who may touch what.
 *
 * Layer      master
 * Threads    fields marked L are guarded by files.lock; the others belong to the worker while `busy`, else to
 *            nobody
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
    ASKING_NEW,    /* nothing was looked at yet */
    ASKING_PREFIX, /* what the receiver has already is read for the tag */
    ASKING_DATA,   /* chunks go out while there is credit */
    ASKING_HASH,   /* the digest is made */
    ASKING_TAKE,   /* chunks come in */
    ASKING_DONE
} asking_state_t;

/* A chunk that has come and waits for the disk; of 0 bytes and with a tag: the end. */
typedef struct files_in {
    struct files_in *next;
    int64_t at;
    char *tag;
    size_t n;
    char bytes[];
} files_in_t;

/* What one minion has of the places and bytes that all share, however many connections it asks on. */
typedef struct files_share {
    size_t n_asking, n_open; /* L: requests; those with a file open */
    size_t under_way;        /* L: bytes */
} files_share_t;

typedef struct asking {
    struct asking *peer_next; /* L: in the connection's bucket */
    files_worker_t *worker;   /* constant */
    struct asking *next;      /* L: in its worker's ring */
    uint8_t rid[RID_MAX];     /* constant */
    size_t rid_len;
    json_int_t n;              /* constant: the sender's number */
    uint64_t serial;           /* constant: ours, of no other request */
    char *op, *path, *saltenv; /* constant, owned */
    int credit;                /* L: chunks that may go out */
    size_t under_way;          /* L: bytes that went out and were not granted again */
    int64_t heard_ms;          /* L: monotonic, last word of the receiver */
    bool busy, gone;           /* L */
    asking_state_t state;
    char *id;                  /* constant, owned: who asks */
    files_share_t *share;      /* constant once it is taken: its minion's */
    files_in_t *in, **in_tail; /* L: of what is pushed */
    int granted;               /* L: chunks that may still come */
    bool all_came;             /* L: the end of what is pushed has */
    int folder, taken;         /* descriptors: where it is put, and the file; -1: none */
    int unsaid, told;  /* chunks that were written and not granted again; those that the last step granted */
    char *name, *part; /* owned: in that folder; the path of what has come of it */
    served_t file;
    buf_t text; /* a list instead of a file */
    bool is_text;
    int64_t at, start, size; /* next byte; first byte sent; all bytes */
    int64_t known_size;      /* of a hash: no digest unless the size is this; -1: any */
    tag_t *tag;
    digest_t *digest;
} asking_t;

struct files_worker {
    struct files *owner;
    pthread_t thread;
    pthread_cond_t wake;
    asking_t *ring, **tail; /* L: requests in turn */
    int64_t swept_ms;       /* monotonic: when stalled ones were last looked for */
    char *fresh_opts;       /* L: JSON of a new configuration; NULL: none */
    json_t *opts;           /* the thread's own */
    fileserver_t *server;
};

#define FILES_WORKERS 2
#define FILES_BUCKETS 4096

struct files {
    pthread_mutex_t lock;
    files_worker_t workers[FILES_WORKERS];
    files_worker_t updater;           /* takes no requests */
    bool fetching;                    /* L: it is at work, on remotes */
    asking_t *buckets[FILES_BUCKETS]; /* L: requests by their connection */
    map_t *shares;                    /* L: id -> files_share_t of who asks for something */
    size_t n_workers;                 /* started */
    size_t n_asking, n_open;          /* L: requests; those with a file open */
    uint64_t serial;                  /* L: of the newest request */
    size_t under_way;                 /* L: bytes of all requests */
    files_out_t *out, **out_tail;     /* L */
    files_names_t *names;             /* L: questions of the local socket */
    int fd;                           /* eventfd */
    bool stop;                        /* L */
};

/* files_names.c: one question, if there is one; with the lock held, which is let go of meanwhile. */
bool files_names_step(files_worker_t *w);
/* What of these paths is a state file whose name begins so, up to the next dot behind that. NEW, as
 * names_bounded. */
json_t *files_sls_names(const json_t *paths, const char *prefix);

/* files_serve.c: do a little of what is asked; messages to send are appended to *out_tail in order. */
void asking_step(asking_t *self, const files_worker_t *worker, files_out_t ***out_tail);
/* files_take.c */
void take_begin(const json_t *opts); /* at the start: what is half written is nobody's */
void take_open(asking_t *self, json_t *opts, files_out_t ***out_tail);
void take_step(asking_t *self, files_out_t ***out_tail);
void take_free(asking_t *self); /* what is half written goes */
/* Whether a step has something to do; with the lock held. */
bool asking_can_step(const asking_t *self, const struct files *files);
void asking_free(asking_t *self);

/* files_say.c: a message of a request, `body` consumed; one that ends it, file_info or file_end; the end of one
 * by an error. */
files_out_t *asking_frame(const asking_t *self, char **text_p, size_t len); /* of a text: TAKES it */
files_out_t *asking_message(const asking_t *self, wire_msg_t msg, json_t *body);
files_out_t *asking_error(const asking_t *self, bool opened, int code, const char *text);
void asking_put(files_out_t ***tail, files_out_t *out);
void asking_fail(asking_t *self, bool opened, int code, const fail_t *err, files_out_t ***tail);

/* files_places.c, with the lock held: a message goes out; a request is out of the buckets and the counts; one
 * that nobody asked to end is ended; whether a place is one too many, by its minion or in all. */
void files_put(struct files *self, files_out_t *out);
void files_forget(struct files *self, asking_t *a);
void files_give_up(struct files *self, asking_t *a, int code, const char *why);
bool files_full(const struct files *self, const asking_t *a);
/* Where a connection's requests begin; so many bytes of one have arrived; each worker looks again. */
asking_t **files_bucket(struct files *self, const uint8_t *rid, size_t rid_len);
void files_received(struct files *self, asking_t *a, size_t bytes);
void files_wake_all(struct files *self);

/* files_update.c */
void *files_update(void *worker);
/* files_work.c: take a new configuration over; with the lock held. */
void files_take_opts(files_worker_t *w);

void *files_work(void *worker);

#endif
