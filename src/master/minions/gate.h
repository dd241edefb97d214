/* gate.h - limit the connections at the minions' ports and the memory that each holds. Descriptors identify
 * connections: read the monitors (ports_look) before acting on one.
 *
 * Layer      master
 * Threads    the front loop's
 * Tests      tests/t/1270-load.bats, tests/t/1200-hostile-minion.bats
 */
#ifndef MASTER_MINIONS_GATE_H
#define MASTER_MINIONS_GATE_H

#include "master/front/front.h"

/* Time for a handshake; a storm of ten thousand minions takes half of it. */
#define GATE_SILENT_MS 60000

/* The minions' ports. */
typedef enum port { PORT_REQUEST, PORT_PUBLISH, PORT_HELLO, PORTS } port_t;

long gate_reserve(const front_t *front); /* descriptors reserved for operators, runners and the store */
void gate_connected(front_t *front, port_t port, int fd); /* a TCP connection was accepted */
/* The handshake of the connection that ends next at this port failed with this ZMQ_PROTOCOL_ERROR_*. */
void gate_handshake_failed(front_t *front, port_t port, int error);
void gate_received(front_t *front, int fd, size_t bytes); /* it sent a message */
/* True when a message of this size may be handled: large ones are rate-limited per minion. */
bool gate_within_rate(const peer_t *peer, size_t bytes);
void gate_accepted(front_t *front, int fd);   /* its key is accepted */
void gate_unaccepted(front_t *front, int fd); /* no longer */
/* Cut a connection; -1 is ignored. Read the monitors first, so that `fd` still is the connection meant. */
void gate_cut(front_t *front, int fd);
/* Cut the connections of a port that have not identified themselves. */
void gate_cut_strangers(front_t *front, port_t port);
void gate_sent(front_t *front, int fd, size_t bytes); /* it was sent a message */
/* Send one frame to a minion and count it; errors of sock_send_to. */
int gate_send(front_t *front, const peer_t *peer, const void *data, size_t len);
void gate_disconnected(front_t *front, port_t port, int fd);
void gate_all_disconnected(front_t *front);                   /* all of the request and publish ports */
bool gate_is_open(const front_t *front, port_t port, int fd); /* as far as the monitors have reported */
void gate_full(front_t *front,
               bool full); /* as many keys are pending as may be: unknown ones are turned away */
/* Cut connections over their time or share. Call after the monitors were read. */
void gate_tick(front_t *front, int64_t now_ms);

#endif
