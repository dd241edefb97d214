/* ports.c - see ports.h. Monitors report accepted and ended connections by descriptor; they are read in order
 * per port before anything that depends on a descriptor. */
#include "master/minions/ports.h"

#include "common/net/sock.h"
#include "master/minions/gate.h"
#include "master/keys/identity.h"
#include "master/front/part.h"

#define PORT_EVENTS (ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_DISCONNECTED)
#define ROUTER_EVENTS                                                                                        \
    (PORT_EVENTS | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL)
#define PUB_EVENTS (PORT_EVENTS | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL)

typedef struct ports {
    void *hello;          /* NULL: closed */
    void *monitor[PORTS]; /* NULL: none */
} ports_t;

static ports_t *
ports_own(const front_t *front)
{
    return front->own[PART_ports];
}

/* ---- monitors -------------------------------------------------------------------------------- */

static void
router_event(front_t *self, int event, int value)
{
    if (event == ZMQ_EVENT_DISCONNECTED)
        peers_end(self->peers, value);
    if (event != ZMQ_EVENT_DISCONNECTED && event != ZMQ_EVENT_ACCEPTED)
        self->counters.handshakes_failed++;
}

static void
pub_event(front_t *self, int event, int value)
{
    if (event == ZMQ_EVENT_DISCONNECTED)
        peers_drop_sub(self->peers, value);
}

/* Read all monitors. Accepted connections enter the gate's table first; then the port's own handler updates
 * the tables of peers. */
void
ports_look(front_t *self)
{
    static void (*const told[PORTS])(
        front_t * self, int event, int value) = { [PORT_REQUEST] = router_event, [PORT_PUBLISH] = pub_event };
    const ports_t *own = ports_own(self);
    int event, value;
    for (port_t i = 0; own != NULL && i < PORTS; i++)
        while (own->monitor[i] != NULL && sock_monitor_next(own->monitor[i], &event, &value)) {
            if (event == ZMQ_EVENT_ACCEPTED)
                gate_connected(self, i, value);
            else if (event == ZMQ_EVENT_DISCONNECTED)
                gate_disconnected(self, i, value);
            else if (event == ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL)
                gate_handshake_failed(self, i, value);
            if (told[i] != NULL)
                told[i](self, event, value);
        }
}

void *
ports_hello(const front_t *self)
{
    return ports_own(self)->hello;
}

static void
ports_poll(front_t *self, void *sock, zloop_fn *fn)
{
    zmq_pollitem_t item = { sock, -1, ZMQ_POLLIN, 0 };
    if (sock == NULL)
        return;
    (void) zloop_poller(self->loop, &item, fn, self);
    zloop_poller_set_tolerant(self->loop, &item);
}

void
ports_serve(front_t *self, zloop_fn *request, zloop_fn *publish, zloop_fn *hello)
{
    ports_t *own = ports_own(self);
    ports_poll(self, self->router, request);
    ports_poll(self, self->pub, publish);
    ports_poll(self, own->hello, hello);
    for (port_t i = 0; i < PORTS; i++)
        ports_poll(self, own->monitor[i], request);
}

/* ---- life ------------------------------------------------------------------------------------ */

/* Monitors are opened before the sockets are bound, so that no connection is missed. */
static int
ports_open(front_t *self, fail_t *err)
{
    ports_t *own = ports_own(self);
    const key_pair_t *pair = identity_key(self)->pair;
    self->router = sock_new(self->zctx, SOCK_ROUTER_SERVER, pair, NULL, err);
    self->pub = self->router != NULL ? sock_new(self->zctx, SOCK_PUB_SERVER, pair, NULL, err) : NULL;
    own->monitor[PORT_REQUEST] = self->pub != NULL
                                     ? sock_monitor(self->zctx, self->router, "router", ROUTER_EVENTS, err)
                                     : NULL;
    own->monitor[PORT_PUBLISH] = own->monitor[PORT_REQUEST] != NULL
                                     ? sock_monitor(self->zctx, self->pub, "pub", PUB_EVENTS, err)
                                     : NULL;
    return own->monitor[PORT_PUBLISH] != NULL ? 0 : err->code;
}

static int
ports_start(front_t *self, fail_t *err)
{
    const char *host = conf_str(self->conf, "interface");
    bool ipv6 = conf_bool(self->conf, "ipv6");
    int hello_port = (int) conf_int(self->conf, "hello_port");
    int rc = ports_open(self, err);
    if (rc == 0)
        rc = sock_bind(self->pub, host, (int) conf_int(self->conf, "publish_port"), ipv6, err);
    if (rc == 0)
        rc = sock_bind(self->router, host, (int) conf_int(self->conf, "ret_port"), ipv6, err);
    if (rc < 0 || hello_port == 0)
        return rc;

    ports_t *own = ports_own(self);
    own->hello = sock_new(self->zctx, SOCK_HELLO_SERVER, NULL, NULL, err);
    own->monitor[PORT_HELLO] = own->hello != NULL
                                   ? sock_monitor(self->zctx, own->hello, "hello", PORT_EVENTS, err)
                                   : NULL;
    rc = own->monitor[PORT_HELLO] != NULL ? 0 : err->code;

    return rc == 0 ? sock_bind(ports_own(self)->hello, host, hello_port, ipv6, err) : rc;
}

static bool
ports_destroy(front_t *self)
{
    ports_t *own = ports_own(self);
    sock_unmonitor(self->router, &own->monitor[PORT_REQUEST]);
    sock_unmonitor(self->pub, &own->monitor[PORT_PUBLISH]);
    sock_unmonitor(own->hello, &own->monitor[PORT_HELLO]);
    sock_close(&own->hello);
    sock_close(&self->router);
    sock_close(&self->pub);
    return true;
}

/* Read the monitors first, as gate_tick cuts connections by descriptor. */
static void
ports_tick(front_t *self, int64_t now_ms)
{
    ports_look(self);
    gate_tick(self, now_ms);
}

const front_part_t part_ports = { .name = "ports",
                                  .size = sizeof(ports_t),
                                  .start = ports_start,
                                  .destroy = ports_destroy,
                                  .tick = ports_tick };
