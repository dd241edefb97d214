/* sock.h - libzmq sockets with the options that hold at ten thousand peers. The only user of libzmq beside
 * zap.c.
 *
 * Why each option is there:
 *   BACKLOG 4096            the default of 100 makes a fleet's reconnection overflow and time out
 *   no heartbeat on a server libzmq's timers are a linear list: pings to thousands of peers eat a core
 *   heartbeat on a client with RCVHWM 0: a full receive queue under heartbeats aborts libzmq 4.3.4
 *   ROUTER_MANDATORY        an unknown or full peer is an error that can be told, not a silent drop
 *   TCP keepalive + MAXRT   a peer behind a network hole goes away even with data unacknowledged
 *   MAXMSGSIZE              a huge frame ends its connection
 *   RCVHWM 16 on the ROUTER what one minion may have waiting there; more stays on its side of the wire
 *   routing ids by libzmq   ids that a client chooses are not bound to its key
 *
 * Layer      common/net
 * Threads    a socket belongs to one thread at a time
 * Ownership  sockets are closed by sock_close
 * Tests      tests/unit/common/test_sock.c
 */
#ifndef COMMON_NET_SOCK_H
#define COMMON_NET_SOCK_H

#include <zmq.h>

#include "common/crypto/keys.h"
#include "salt/base.h"

typedef enum sock_kind {
    SOCK_ROUTER_SERVER, /* the master's 4506: CURVE, ZAP domain "req" */
    SOCK_PUB_SERVER,    /* the master's 4505: XPUB, CURVE, ZAP domain "pub" */
    SOCK_HELLO_SERVER,  /* plaintext REP */
    SOCK_DEALER_CLIENT,
    SOCK_SUB_CLIENT,
    SOCK_HELLO_CLIENT /* plaintext REQ that may be asked again */
} sock_kind_t;

/* A CURVE socket of a server takes its own pair; a client its own pair and the server's public key.
 * NEW, or NULL with *err. */
void *sock_new(void *zctx, sock_kind_t kind, const key_pair_t *own, const uint8_t *server_key, fail_t *err);
void sock_close(void **sock_p);
/* "tcp://HOST:PORT"; a port in use says which and what to do. */
int sock_bind(void *sock, const char *host, int port, bool ipv6, fail_t *err);
/* A CURVE server has another key for whoever comes from now on. Connections that are there stay, and what
 * waits in the socket too. */
int sock_rekey(void *sock, const key_pair_t *own, fail_t *err);
int sock_connect(void *sock, const char *host, int port, fail_t *err);
/* The same from one of this host's addresses; NULL or "": the system picks. */
int sock_connect_from(void *sock, const char *source, const char *host, int port, fail_t *err);
/* Before it connects: one connection and no other. libzmq does not try again what failed or was lost,
 * though it says ZMQ_EVENT_CONNECT_RETRIED; what is sent from then on goes with the disconnect that has to
 * come before the next connection, so that nothing comes before that one's hello. */
void sock_once(void *sock);
/* Ends what sock_connect_from began with the same words; another may follow at once, on the same descriptors. */
int sock_disconnect(void *sock, const char *source, const char *host, int port);
/* The key of the server that the next connection leads to. */
void sock_expect(void *sock, const uint8_t server_key[KEY_BYTES]);
/* Before it connects: no heartbeats. libzmq keeps a thread's timers in one list and looks through all of
 * it for each message that comes: a process with thousands of connections spends a third of its time
 * there. */
void sock_no_heartbeat(void *sock);
/* Readable file descriptor for an event loop; edge-triggered as libzmq's ZMQ_FD is. */
int sock_fd(void *sock);
/* Watch connection events: NEW PAIR socket to read with sock_monitor_next. */
void *sock_monitor(void *zctx, void *sock, const char *name, int events, fail_t *err);
/* End that, before the socket is closed: with events and nobody to read them libzmq's thread would wait for
 * ever. NULL is no monitor. */
void sock_unmonitor(void *sock, void **monitor_p);
/* One event if there is one: true, the ZMQ_EVENT_*, its value (a descriptor or a code). Never blocks. */
bool sock_monitor_next(void *monitor, int *ret_event, int *ret_value);
/* Send one frame to a ROUTER's peer; 0, -EHOSTUNREACH (gone), -EAGAIN (its queue is full). Never blocks.
 * Without memory for it the process ends (salt_no_memory), as without memory for anything of our own. */
int sock_send_to(void *router, const void *rid, size_t rid_len, const void *data, size_t len);
int sock_send(void *sock, const void *data, size_t len);
/* The same with a frame that is there: TAKES it, sent or not. */
int sock_send_frame_to(void *router, const void *rid, size_t rid_len, zmq_msg_t *frame);
/* What a message of one frame is on the wire: ZMTP 3 (rfc.zeromq.org/spec/37) around CURVE's MESSAGE
 * (spec/26). */
size_t sock_wire_bytes(size_t len);
/* Texts to a thread of czmq's or from it, a frame each, NULL behind the last. Waits for room. As
 * zstr_sendx, which leaves out a frame that there is no memory for: here that ends the process. */
void sock_tell(void *actor, ...) __attribute__((sentinel));
/* The texts of one such message, NEW; what is not there is NULL. How many the message has; 0: libzmq ends.
 * As zstr_recvx, which loses a message that there is no memory for: here that ends the process. */
int sock_hear(void *actor, char **ret_texts, int n_texts);
/* Whether there are descriptors and a thread for an actor: without them CZMQ ends the process, or waits
 * for ever. */
bool sock_room_for_actor(void);

#endif
