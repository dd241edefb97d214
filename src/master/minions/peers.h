/* peers.h - who is known and who is connected: minions by id, keys and connections. No sockets here, only
 * tables.
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
#include "master/minions/knowndoc.h"
#include "salt/limits.h"

#define RID_MAX 16

typedef struct minion minion_t;

/* One live connection to the ROUTER. */
typedef struct peer {
    uint8_t rid[RID_MAX];
    size_t rid_len;
    int fd; /* of the TCP connection, for cutting it; -1: it has ended */
    char z85[KEY_Z85_LEN];
    char *address;                             /* "10.0.0.7:51234" may be without the port */
    key_state_t state;                         /* KEY_UNKNOWN until hello */
    bool is_call;                              /* salt-call: may return and fire, receives nothing */
    bool over;                                 /* it said goodbye: what still comes is not looked at */
    char boot[LIMIT_BOOT], series[LIMIT_BOOT]; /* names of its start, and of the numbers of its events */
    char release[LIMIT_RELEASE];               /* the Halite that it says it is; "": before 1.0.0 */
    minion_t *minion;      /* the id it may speak for; NULL before hello or when refused: see peers_bind */
    json_t *hello;         /* owned: a rival's; else NULL */
    unsigned unproven;     /* messages while its key was not accepted */
    json_int_t lost_event; /* salt-call's: as a minion's */
    int64_t probed_ms;     /* monotonic: when it was last asked to say hello */
    int64_t since_ms;      /* wall clock */
    struct peer *next_ended;
} peer_t;

/* One known id: a key file in some state. */
struct minion {
    uint32_t
        slot; /* dense number, stable while the id is known; once it was accepted, nobody's afterwards: jobs know it */
    bool was_accepted;
    char *id;
    int64_t key_since_s;    /* wall clock: since when its key is in its state; 0: the file knows */
    int64_t renew_ms;       /* monotonic: when it may be asked for a new key again */
    bool expiring, expired; /* that was told of its key; it waits again because of that */
    char z85[KEY_Z85_LEN];
    char next_z85[KEY_Z85_LEN]; /* the key that takes this one's place when it comes; "": none */
    key_state_t state;          /* accepted, pending or rejected */
    peer_t *peer;               /* its connection, NULL when not connected */
    int sub_fd;                 /* of its newest SUB connection, -1 when none */
    unsigned n_subs;            /* SUB connections in all */
    bool seen;                  /* has connected since this master started */
    int64_t heard_ms;           /* monotonic: when its last message came */
    int64_t gone_ms;            /* the same: when its connection ended; 0: it never was here */
    known_t known;
    char boot[LIMIT_BOOT], series[LIMIT_BOOT]; /* of its last connection */
    char release[LIMIT_RELEASE];               /* the same */
    uint32_t starts;                           /* how often `series` changed */
    json_int_t last_event;                     /* number of its last event within `series` that was taken */
    json_int_t kept_event;                     /* the same of the last that is on the disk */
    bool events_unread;                        /* what the store has of the two is to be read first */
    json_int_t lost_event; /* the first that could not be taken: none above it is taken before it; 0: none */
    json_t *calls;         /* {start: number} of its newest salt-calls: numbers.c; NULL: not read yet */
    peer_t *rival;         /* a second connection that claims the same key, waiting for the first to answer */
    int64_t rival_until_ms; /* monotonic */
    int64_t twin_told_ms;   /* monotonic: when it was last told that another claims its id or key; 0: never */
    /* For gate.c: bytes of large messages that it may send, and when (monotonic) that was right; bytes
     * from and to it that libzmq and the kernel hold. */
    int64_t large_left, large_ms;
    uint64_t waiting, unread;
    rate_t rekeys; /* LIMIT_REKEY_EACH for each next key that it names */
    rate_t told;   /* KB of events that it causes, and of returns that nobody asked for */
    rate_t grains; /* KB of grains */
    rate_t rets;   /* milliseconds that the front loop may work for its returns of which values are made */
    rate_t mine;   /* milliseconds that the front loop may work for its questions to the mine */
};

/* Whether events that it causes, and returns that nobody asked for, of so many bytes have room in its
 * share of the journal, which is all minions'. */
bool minion_may_tell(minion_t *self, size_t len, int64_t now_ms);

typedef struct peers peers_t;

peers_t *peers_new(void);
void peers_destroy(peers_t **self_p);

/* Known ids. peers_know replaces key and state of an id that is there. */
minion_t *peers_know(peers_t *self, const char *id, const uint8_t key[KEY_BYTES], key_state_t state);
void peers_forget(peers_t *self, minion_t **m_p);
minion_t *peers_by_id(const peers_t *self, const char *id);
/* The id whose key this is, an accepted or rejected one before a pending one; NULL when none. */
minion_t *peers_by_key(const peers_t *self, const char *z85);
minion_t *peers_by_slot(const peers_t *self, uint32_t slot);
/* Slots are 0 .. peers_slots()-1; some may be empty. */
uint32_t peers_slots(const peers_t *self);
size_t peers_count(const peers_t *self, key_state_t state);
/* The accepted minion in a slot, BORROWED; NULL when none is connected there; and how many are. */
const minion_t *peers_there(const peers_t *self, uint32_t slot);
size_t peers_present(const peers_t *self);

/* Connections. peers_connect finds or makes the entry of a routing id; `fd` is -1 when the connection is
 * known to have ended already. What is there under the same routing id but has another key goes; what is
 * there under the same descriptor has ended. NULL: a routing id too long for one of libzmq's own. */
peer_t *peers_connect(peers_t *self, const void *rid, size_t rid_len, int fd, const char *z85,
                      const char *address);
peer_t *peers_by_rid(const peers_t *self, const void *rid, size_t rid_len);
peer_t *peers_by_fd(const peers_t *self, int fd);
/* The connection with this descriptor has ended: it stays until all that it sent has been read. */
void peers_end(peers_t *self, int fd);
/* One of those that have ended, for the caller to drop; NULL when there is none. */
peer_t *peers_next_ended(peers_t *self);
void peers_drop(peers_t *self, peer_t **peer_p);
/* The connection speaks for this id from now on (NULL: for none). No id keeps it as its connection or rival
 * then. */
void peers_bind(peer_t *peer, minion_t *m);
size_t peers_connected(const peers_t *self);
/* Connections of one key. */
size_t peers_of_key(const peers_t *self, const char *z85);

/* SUB connections of accepted keys, by descriptor. One minion may have several, each must be found to be cut.
 */
void peers_add_sub(peers_t *self, minion_t *m, int fd);
void peers_drop_sub(peers_t *self, int fd);
/* Forgets one of its SUB connections: the descriptor, -1 when none is left. */
int peers_take_sub(peers_t *self, minion_t *m);

/* Walk all connections: for (size_t i = 0; peers_next(p, &i, &peer);) */
bool peers_next(const peers_t *self, size_t *iter, peer_t **ret_peer);

#endif
