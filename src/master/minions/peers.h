/* peers.h - tables of minions and connections: minions by id, key and slot, connections by routing id and
 * descriptor. No sockets here.
 *
 * A minion's identity is its key. An id is a claim that acceptance binds to a key; a connection belongs to a
 * key.
 *
 * Layer      master
 * Threads    the front loop's
 * Ownership  the tables own minions and peers; pointers are BORROWED until peers_forget or peers_drop
 * Tests      tests/unit/master/test_peers.c
 */
#ifndef MASTER_MINIONS_PEERS_H
#define MASTER_MINIONS_PEERS_H

#include "common/base/map.h"
#include "common/base/rate.h"
#include "common/crypto/keys.h"
#include "keyring/keystore.h"
#include "master/minions/miniondoc.h"
#include "salt/limits.h"

#define RID_MAX 16

typedef struct minion minion_t;

/* A live connection to the ROUTER. */
typedef struct peer {
    uint8_t rid[RID_MAX];
    size_t rid_len;
    int fd; /* of the TCP connection; -1: it has ended */
    char z85[KEY_Z85_LEN];
    char *address;                             /* "10.0.0.7:51234"; may lack the port */
    key_state_t state;                         /* KEY_UNKNOWN until hello */
    bool is_call;                              /* salt-call: may return and fire, receives nothing */
    bool over;                                 /* said goodbye: later messages are ignored */
    char boot[LIMIT_BOOT], series[LIMIT_BOOT]; /* names of its start, and of its series of event numbers */
    char release[LIMIT_RELEASE];               /* release that it claims; "": before 1.0.0 */
    minion_t *minion;      /* minion it may speak for; NULL before hello or when refused: see peers_bind */
    json_t *hello;         /* owned: a rival's hello; else NULL */
    unsigned unproven;     /* messages before its key was accepted */
    json_int_t lost_event; /* a salt-call's, as minion_t's */
    int64_t probed_ms;     /* monotonic: when it was last asked for its hello */
    int64_t since_ms;      /* wall clock */
    struct peer *next_ended;
} peer_t;

/* A known id, with a key file in some state. */
struct minion {
    uint32_t
        slot; /* dense number, stable while the id is known; not reused once accepted, as jobs refer to it */
    bool was_accepted;
    char *id;
    char *greeted;          /* owned: the address of its last greeting that was not accepted; NULL */
    int64_t key_since_s;    /* wall clock: since when the key is in its state; 0: ask the file */
    int64_t renew_ms;       /* monotonic: when it may be asked for a new key again */
    bool expiring, expired; /* was reported as ageing; is pending because it was too old */
    char z85[KEY_Z85_LEN];
    char next_z85[KEY_Z85_LEN]; /* replaces z85 when a connection has it; "": none */
    key_state_t state;          /* accepted, pending or rejected */
    peer_t *peer;               /* its connection, NULL when not connected */
    int sub_fd;                 /* its newest SUB connection; -1: none */
    unsigned n_subs;            /* number of SUB connections */
    bool seen;                  /* has connected since the start, or since the master's key changed */
    int64_t heard_ms;           /* monotonic: last message */
    int64_t gone_ms;            /* monotonic: end of its last connection; 0: never connected */
    miniondoc_t known;
    char boot[LIMIT_BOOT], series[LIMIT_BOOT]; /* of its last connection */
    char release[LIMIT_RELEASE];               /* the same */
    uint32_t starts;                           /* number of changes of `series` */
    json_int_t last_event;                     /* number of its last event in `series` that was taken */
    json_int_t kept_event;                     /* the last that is on the disk */
    bool events_unread;                        /* the stored value of these must be read first */
    json_int_t lost_event;  /* the first that could not be taken, which blocks later ones; 0: none */
    json_t *calls;          /* {start: number} of its newest salt-calls, see numbers.c; NULL: not read */
    peer_t *rival;          /* a second connection with its key, until the first answers */
    int64_t rival_until_ms; /* monotonic */
    int64_t twin_told_ms;   /* monotonic: last report that another claims its id or key; 0: never */
    /* For gate.c: tokens for large messages in bytes, and the monotonic time of that count; bytes from and to
     * the minion that libzmq and the kernel hold. */
    int64_t large_left, large_ms;
    uint64_t waiting, unread;
    rate_t rekeys; /* LIMIT_REKEY_EACH per named key */
    rate_t told;   /* KB of events and unasked returns */
    rate_t grains; /* KB of grains */
    rate_t rets;   /* ms of the front loop for returns that need values */
    rate_t mine;   /* ms of the front loop for its queries to the mine, and for jobs of its peers */
};

/* Take `len` bytes from the minion's share of the journal, which all minions fill, for an event or unasked
 * return. False: the share is used up. */
bool minion_may_tell(minion_t *self, size_t len, int64_t now_ms);

typedef struct peers peers_t;

/* NEW; destroy takes all minions and connections along, whose pointers are BORROWED everywhere else. */
peers_t *peers_new(void);
void peers_destroy(peers_t **self_p);

/* Known ids. peers_know adds an id or replaces its key and state. BORROWED. */
minion_t *peers_know(peers_t *self, const char *id, const uint8_t key[KEY_BYTES], key_state_t state);
/* Frees the minion and empties its slot; its connections stay, and speak for nobody. */
void peers_forget(peers_t *self, minion_t **m_p);
minion_t *peers_by_id(const peers_t *self, const char *id);
/* The minion with this key; of several the rejected one, then the first that was accepted, then one that
 * waits. NULL without one. */
minion_t *peers_by_key(const peers_t *self, const char *z85);
/* A slot outlives a minion only as a number: jobs keep slots, and find NULL or another minion later. */
minion_t *peers_by_slot(const peers_t *self, uint32_t slot);
/* Slots are 0 .. peers_slots()-1; empty ones are NULL. */
uint32_t peers_slots(const peers_t *self);
/* Kept as a count, so that limits on keys that wait cost nothing. */
size_t peers_count(const peers_t *self, key_state_t state);
/* The accepted and connected minion of a slot, BORROWED, or NULL; and the number of them. */
const minion_t *peers_there(const peers_t *self, uint32_t slot);
size_t peers_present(const peers_t *self);

/* peers_connect finds or makes the entry of a routing id; `fd` -1: the connection has ended already. An entry
 * with the same routing id but another key is dropped; one with the same descriptor has ended. NULL: the
 * routing id is longer than libzmq's own. */
peer_t *peers_connect(peers_t *self, const void *rid, size_t rid_len, int fd, const char *z85,
                      const char *address);
/* BORROWED; NULL when no connection has it. A descriptor is reused as soon as its connection is closed, a
 * routing id is not. */
peer_t *peers_by_rid(const peers_t *self, const void *rid, size_t rid_len);
peer_t *peers_by_fd(const peers_t *self, int fd);
/* The connection with this descriptor has ended; its entry stays until its messages have been read. */
void peers_end(peers_t *self, int fd);
/* An ended connection for the caller to drop, or NULL. */
peer_t *peers_next_ended(peers_t *self);
/* Frees the entry; its minion, if it has one, is no longer connected. */
void peers_drop(peers_t *self, peer_t **peer_p);
/* Make the connection speak for `m` (NULL: nobody). Its former minion no longer refers to it, as connection
 * or rival. */
void peers_bind(peer_t *peer, minion_t *m);
size_t peers_connected(const peers_t *self);
/* Number of connections with this key. */
size_t peers_of_key(const peers_t *self, const char *z85);

/* SUB connections of accepted keys, by descriptor. A minion may have several, and each must be found to be
 * cut.
 */
void peers_add_sub(peers_t *self, minion_t *m, int fd);
/* The descriptor is closed: nothing may be cut by its number any more. */
void peers_drop_sub(peers_t *self, int fd);
/* Forget one SUB connection: its descriptor, -1 when none is left. */
int peers_take_sub(peers_t *self, minion_t *m);

/* Iterate over all connections: for (size_t i = 0; peers_next(p, &i, &peer);) */
bool peers_next(const peers_t *self, size_t *iter, peer_t **ret_peer);

#endif
