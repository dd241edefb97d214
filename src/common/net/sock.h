/* sock.h - libzmq sockets with the options that hold at ten thousand peers. All other files get their sockets
 * from here; zap.c and knock.c use libzmq too.
 *
 * Why each option is there:
 *   BACKLOG 4096            the default of 100 makes a fleet's reconnection overflow and time out
 *   no heartbeat on a server libzmq's timers are a linear list: pings to thousands of peers eat a core
 *   heartbeat on a client with RCVHWM 0: a full receive queue under heartbeats aborts libzmq 4.3.4
 *   ROUTER_MANDATORY        an unknown or full peer is an error that can be told, not a silent drop
 *   TCP keepalive + MAXRT   a peer behind a network hole goes away even with data unacknowledged
 *   MAXMSGSIZE              a huge frame ends its connection
 *   RCVHWM 16 on the ROUTER bound of one minion's queue there; more stays on its side of the wire
 *   routing ids by libzmq   ids that a client chooses are not bound to its key
 *   SNDHWM 20000 (server)   beyond it XPUB drops without a word; the default of 1000 is a short burst
 *   SNDHWM 0 on a client    a client's sends never fail for a full queue
 *   PROBE_ROUTER            an empty message opens each connection: the minion answers with its hello
 *   XPUB_VERBOSE            each minion's subscription is told, not the first alone: its SUB is up
 *   REQ_RELAXED, CORRELATE  hello may be asked again without its answer; a late one is dropped
 *   CONNECT_TIMEOUT 10 s    an address that does not answer is given up before the kernel does
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
/* Give a CURVE server another key for new connections. Existing connections and queued messages stay. */
int sock_rekey(void *sock, const key_pair_t *own, fail_t *err);
int sock_connect(void *sock, const char *host, int port, fail_t *err);
/* The same from one of this host's addresses; NULL or "": the system picks. */
int sock_connect_from(void *sock, const char *source, const char *host, int port, fail_t *err);
/* Before connecting: allow one connection only. libzmq does not retry a failed or lost connection, though it
 * reports ZMQ_EVENT_CONNECT_RETRIED; messages sent meanwhile are dropped by the disconnect that must precede
 * the next connection, so that nothing arrives before that connection's hello. */
void sock_once(void *sock);
/* End what sock_connect_from began with the same arguments; another may follow at once, on the same
 * descriptors. */
int sock_disconnect(void *sock, const char *source, const char *host, int port);
/* Set the server's key for the next connection. */
void sock_expect(void *sock, const uint8_t server_key[KEY_BYTES]);
/* Before connecting: send no heartbeats. libzmq keeps a thread's timers in one list and scans it for each
 * message: with thousands of connections that takes a third of the time. */
void sock_no_heartbeat(void *sock);
/* Readable file descriptor for an event loop; edge-triggered as libzmq's ZMQ_FD is. */
int sock_fd(void *sock);
/* Watch connection events: NEW PAIR socket to read with sock_monitor_next. */
void *sock_monitor(void *zctx, void *sock, const char *name, int events, fail_t *err);
/* End a monitor before its socket is closed: with unread events libzmq's thread would wait forever. NULL is
 * no monitor. */
void sock_unmonitor(void *sock, void **monitor_p);
/* Read one event if there is one: true, the ZMQ_EVENT_*, its value (a descriptor or a code). Never blocks. */
bool sock_monitor_next(void *monitor, int *ret_event, int *ret_value);
/* Send one frame to a ROUTER's peer; 0, -EHOSTUNREACH (gone), -EAGAIN (its queue is full). Never blocks.
 * Without memory for it the process ends (salt_no_memory), as without memory for anything of our own. */
int sock_send_to(void *router, const void *rid, size_t rid_len, const void *data, size_t len);
int sock_send(void *sock, const void *data, size_t len);
/* The same with an existing frame: TAKES it, sent or not. */
int sock_send_frame_to(void *router, const void *rid, size_t rid_len, zmq_msg_t *frame);
/* Size on the wire of a message of one frame: ZMTP 3 (rfc.zeromq.org/spec/37) around CURVE's MESSAGE
 * (spec/26). */
size_t sock_wire_bytes(size_t len);
/* Send texts to or from a czmq actor, a frame each, NULL behind the last. Blocks while the queue is full.
 * Unlike zstr_sendx, which skips a frame when memory is short, this ends the process. */
void sock_tell(void *actor, ...) __attribute__((sentinel));
/* Receive such a message: the texts NEW, missing ones NULL. Returns its number of frames; 0: libzmq ends.
 * Unlike zstr_recvx, which loses a message when memory is short, this ends the process. */
int sock_hear(void *actor, char **ret_texts, int n_texts);
/* True when there are descriptors and a thread for an actor: without them czmq aborts or waits forever. */
bool sock_room_for_actor(void);

#endif
