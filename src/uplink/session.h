/* session.h - one minion's conversation with one master: first contact, acceptance, jobs in, returns out.
 *
 * Has no loop of its own: the owner polls its sockets and calls session_step(). The minion runs one session
 * per master; the swarm of tests/bench runs thousands in a process.
 *
 * Layer      uplink
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
    SESSION_ASKING,     /* the master's key is unknown: it is requested from the hello port */
    SESSION_CONNECTING, /* no connection yet, or lost */
    SESSION_GREETING,   /* connected, hello sent */
    SESSION_PENDING,    /* the key waits for salt-key -a on the master */
    SESSION_REFUSED,    /* rejected, denied, duplicate, full: reconnects later */
    SESSION_STRANGER,   /* the master's key is not the known one: no connection */
    SESSION_READY,
    SESSION_STATES
} session_state_t;

const char *session_state_name(session_state_t s);

typedef struct session_conf {
    const char *id;
    const char *role;   /* "minion" or "call" */
    const char *boot;   /* identifies this start of the process */
    const char *series; /* identifies the numbering of its events; NULL: as `boot` */
    const char *host;   /* the master */
    const char *name;   /* the master's name in `seen` (masters.h); NULL: there is only one */
    int port, publish_port, hello_port;
    const char *source;     /* the address to connect from; NULL or "": the system picks */
    const char *finger;     /* master_finger, "" when none */
    const char *known_file; /* file of the master's public key; NULL: only in memory */
    const char *sign_file;  /* file of its signing key; NULL: none is remembered. See trust.h */
    bool verify_sign, always_verify;
    const uint8_t *known_key; /* NULL: read known_file */
    const key_pair_t *keys;
    seen_t *seen;             /* shared by all sessions of the minion; NULL: it takes no jobs */
    const json_t *claim;      /* claim_grains(), for the hello; NULL: none */
    bool no_heartbeat;        /* thousands of sessions in one process: sock_no_heartbeat */
    int wait_ms, wait_max_ms; /* between attempts after a refusal */
    int retry_dns_ms;         /* pause after a name that can't be resolved; 0: as any lost connection */
    /* Pause before a lost connection is retried, doubling up to recon_max_ms; 0: pauses that suit a fleet.
     * recon_spread_ms: at most so much is added at random. */
    int recon_ms, recon_spread_ms, recon_max_ms;
    int look_ms; /* without a connection, until the first on_why; 0: some seconds */
} session_conf_t;

/* Callbacks of the owner, called from within session_new(), session_step() and session_set_keys(). A NULL
 * member is not called. No callback may destroy the session. */
typedef struct session_host {
    void (*on_state)(void *cookie, session_state_t state, const char *reason);
    void (*on_job)(void *cookie, json_t *job);
    void (*on_ack)(void *cookie, json_t *jids, json_t *events);
    /* Every other message from the master while READY, such as answers to what the owner asked. `bytes`: the
     * binary payload behind the JSON body, n bytes; NULL: none. */
    void (*on_answer)(void *cookie, wire_msg_t msg, json_t *body, const void *bytes, size_t n);
    /* A pillar while READY, as the text of its message, which is not parsed here; NULL: on_answer has it. */
    void (*on_pillar)(void *cookie, const char *text, size_t len);
    json_t *(*pending)(void *cookie); /* NEW array of jids that run or wait */
    void (*kept)(void *cookie, size_t *ret_returns, size_t *ret_events); /* how many wait for a master */
    /* The master changed its key, and its signing key vouches for the new one. */
    void (*on_new_key)(void *cookie, const char *finger);
    /* No connection for some seconds: `sentence` names the cause and the remedy (connfail.h). Repeated at
     * growing intervals. Setting this callback makes the session probe the master's ports. */
    void (*on_why)(void *cookie, const char *sentence);
    void *cookie;
} session_host_t;

/* `conf` is copied; its texts, keys and `seen` are BORROWED while the session lives. Starts to connect at
 * once, or asks the hello port when no key is known. NEW. */
session_t *session_new(void *zctx, const session_conf_t *conf, const session_host_t *host);
/* Sends `bye` when READY, and gives libzmq half a second to send what is queued. NULL is allowed. */
void session_destroy(session_t **self_p);

/* Replaces this minion's key pair and reconnects with it. `keys` is BORROWED while the session lives; the old
 * pair may be freed afterwards. */
void session_set_keys(session_t *self, const key_pair_t *keys);

/* Runs everything that is due. Returns the milliseconds after which it must be called again at the latest; 0:
 * more messages are queued, call again at once. `only`: read from this socket alone; NULL: from every socket.
 * After a return above 0 the sockets are drained, so the caller may rely on libzmq's edge-triggered
 * descriptors, except for the dealer, to which this step may have sent. */
int session_step(session_t *self, const void *only);
#define SESSION_SOCKETS 5
/* Writes the libzmq sockets to poll for ZMQ_POLLIN and returns their number. The set changes only within
 * session_step() and session_set_keys(). */
size_t session_sockets(const session_t *self, void *out[SESSION_SOCKETS]);
/* Reports to this session's master, which asked for job `jid`, that another master stored the return. Sent
 * now when READY, with the welcome when a hello is under way; else the next hello carries it. */
void session_elsewhere(session_t *self, const char *jid);
session_state_t session_state(const session_t *self);

/* Sends one message: 0; -ENOTCONN unless READY (nothing was sent: keep it and send again when READY);
 * -EMSGSIZE with *err when it exceeds the message limits. `started` is delayed by 25 ms and dropped when the
 * return of the same job follows within that time. */
int session_send(session_t *self, wire_msg_t msg, const json_t *body, fail_t *err);
/* Sends the return of job `jid` that is a message already (jobret.h): 0, or -ENOTCONN as above. */
int session_send_return(session_t *self, const char *jid, const char *text, size_t len);
/* As session_send, with n bytes of binary payload behind the JSON body; -ENOTCONN also when the body can't be
 * encoded. */
int session_send_bytes(session_t *self, wire_msg_t msg, const json_t *body, const void *bytes, size_t n,
                       fail_t *err);

#endif
