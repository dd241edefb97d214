/* gate.h - who has a place at the minions' ports, and how much of him waits in memory.
 *
 * Layer      master
 * Threads    the front loop's
 * Tests      tests/t/1270-load.bats, tests/t/1200-hostile-minion.bats
 */
#ifndef MASTER_MINIONS_GATE_H
#define MASTER_MINIONS_GATE_H

#include "master/front/front.h"

/* A handshake may take as long; a storm of ten thousand takes half of it. */
#define GATE_SILENT_MS 60000

/* The minions' ports. */
typedef enum port { PORT_REQUEST, PORT_PUBLISH, PORT_HELLO, PORTS } port_t;

long gate_reserve(const front_t *front); /* descriptors that are left for operators, runners and the store */
void gate_came(front_t *front, port_t port, int fd); /* a TCP connection */
/* The handshake of the connection that goes next at this port failed, by this ZMQ_PROTOCOL_ERROR_*. */
void gate_misspoke(front_t *front, port_t port, int error);
void gate_spoke(front_t *front, int fd, size_t bytes); /* it sent a message */
/* Whether a message of this size is looked at. One minion's large ones have a rate. */
bool gate_takes(const peer_t *peer, size_t bytes);
void gate_accepted(front_t *front, int fd); /* it is no stranger */
void gate_stranger(front_t *front, int fd); /* it is one again */
/* Ends a connection; -1 is none. Whoever keeps a descriptor reads the monitors first, so that it is still
 * the one he means. */
void gate_cut(front_t *front, int fd);
/* The same for the connections of a port that have not said anything by which they are known. */
void gate_cut_strangers(front_t *front, port_t port);
void gate_said(front_t *front, int fd, size_t bytes); /* it was sent a message */
/* Send one frame to a minion and count it: as sock_send_to. */
int gate_send(front_t *front, const peer_t *peer, const void *data, size_t len);
void gate_went(front_t *front, port_t port, int fd);
void gate_all_went(front_t *front);                           /* of the request and the publish port */
bool gate_is_open(const front_t *front, port_t port, int fd); /* as far as the monitors have told */
void gate_full(front_t *front,
               bool full); /* as many keys wait for acceptance as may: no unknown one comes in */
/* Connections that are over their time or their share are cut: after the monitors have been read. */
void gate_tick(front_t *front, int64_t now_ms);

#endif
