/* session.h - one minion's conversation with one master: first contact, acceptance, jobs in, returns out.
 *
 * Has no loop of its own: the owner polls its sockets and calls session_step(). The minion runs one session
 * per master; the swarm of tests/bench runs thousands in a process.
 *
 * Layer      minion
 * Threads    one at a time
 * Ownership  callbacks get BORROWED values
 * Errors     everything that can go wrong with a master is a state, told through on_state with what to do
 * Tests      tests/unit/uplink/test_session.c (a scripted master), tests/t
 */
#ifndef UPLINK_SESSION_H
#define UPLINK_SESSION_H

#include "common/crypto/keys.h"
#include "common/net/wire.h"
#include "uplink/seen.h"
#include "salt/base.h"

typedef struct session session_t;

typedef enum session_state {
    SESSION_ASKING,     /* the master's key is not known: port 4507 is asked */
    SESSION_CONNECTING, /* no connection yet, or lost */
    SESSION_GREETING,   /* connected, hello sent */
    SESSION_PENDING,    /* waits for salt-key -a */
    SESSION_REFUSED,    /* rejected, denied, duplicate, full: asks again later */
    SESSION_STRANGER,   /* the master's key is not the one we know */
    SESSION_READY,
    SESSION_STATES
} session_state_t;

const char *session_state_name(session_state_t s);

typedef struct session_conf {
    const char *id;
    const char *role;   /* "minion" or "call" */
    const char *boot;   /* names this start of the process */
    const char *series; /* names the numbers of its events; NULL: `boot` does */
    const char *host;   /* the master */
    const char *name;   /* the same in `seen`; NULL: it is the only one */
    int port, publish_port, hello_port;
    const char *source;     /* the address to connect from; NULL or "": the system picks */
    const char *finger;     /* master_finger, "" when none */
    const char *known_file; /* where the master's public key is kept; NULL: only in memory */
    const char *sign_file;  /* the same of its signing key; NULL: none is remembered. See trust.h */
    bool verify_sign, always_verify;
    const uint8_t *known_key; /* NULL: read known_file */
    const key_pair_t *keys;
    seen_t *seen;             /* the minion's jobs, of all its sessions; NULL: it takes none */
    bool no_heartbeat;        /* thousands of sessions in one process: sock_no_heartbeat */
    int wait_ms, wait_max_ms; /* between attempts after a refusal */
    int retry_dns_ms; /* until a name that can't be resolved is tried again; 0: as any lost connection */
    /* Until a lost connection is tried again; then the pause doubles up to recon_max_ms. 0: a moment that
     * suits a fleet; recon_spread_ms: at most so much more, picked at random. */
    int recon_ms, recon_spread_ms, recon_max_ms;
    int look_ms; /* without a connection, until on_why is told why; 0: some seconds */
} session_conf_t;

/* Who does not want to be told leaves it NULL. */
typedef struct session_host {
    void (*on_state)(void *cookie, session_state_t state, const char *reason);
    void (*on_job)(void *cookie, json_t *job);
    void (*on_ack)(void *cookie, json_t *jids, json_t *events);
    /* To what was asked of this master, with the bytes behind it. */
    void (*on_answer)(void *cookie, wire_msg_t msg, json_t *body, const void *bytes, size_t n);
    json_t *(*pending)(void *cookie); /* NEW array of jids that run or wait */
    /* The master's key is another one now, vouched for. */
    void (*on_new_key)(void *cookie, const char *finger);
    /* There has been no connection for some seconds, and this is why (reach.h); again now and then. Who
     * wants it has the master's ports looked at. */
    void (*on_why)(void *cookie, const char *sentence);
    void *cookie;
} session_host_t;

/* `conf` is copied, its texts, keys and jobs are BORROWED while the session lives. NEW. */
session_t *session_new(void *zctx, const session_conf_t *conf, const session_host_t *host);
/* Says goodbye when connected. */
void session_destroy(session_t **self_p);

/* The minion has another key: a new connection is made with it. `keys` is BORROWED while the session lives. */
void session_set_keys(session_t *self, const key_pair_t *keys);

/* Do all that can be done now; returns milliseconds until it wants to be called again at the latest.
 * `only`: nothing is to be read but from this socket; NULL: from any. 0: there is more to read; else that
 * has been read to its end, and only the first socket may have been sent to since. */
int session_step(session_t *self, const void *only);
#define SESSION_SOCKETS 5
/* The libzmq sockets to poll for reading. They change only within session_step. */
size_t session_sockets(const session_t *self, void *out[SESSION_SOCKETS]);
/* Another master has the return for a job of this one, which is told; if it is not here, by the next hello. */
void session_elsewhere(session_t *self, const char *jid);
session_state_t session_state(const session_t *self);

/* Send to the master; -ENOTCONN unless READY (then nothing was sent: keep it and try again when READY).
 * `started` waits a moment and is left out when the return follows at once. */
int session_send(session_t *self, wire_msg_t msg, const json_t *body, fail_t *err);
/* The same with bytes behind it. */
int session_send_bytes(session_t *self, wire_msg_t msg, const json_t *body, const void *bytes, size_t n,
                       fail_t *err);

#endif
