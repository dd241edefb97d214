/* keychange.c - see keychange.h. Cutting goes by descriptor: monitors are read first, then request and
 * publish connections are shut down. */
#include "master/keys/keychange.h"

#include "common/base/str.h"
#include "master/events/bus.h"
#include "master/minions/gate.h"
#include "master/minions/ports.h"

void
keychange_tell(front_t *self, const peer_t *peer, const char *id, const char *act, json_t *more)
{
    json_t *data = json_pack("{s:b, s:s, s:s}", "result", true, "act", act, "id", id);
    json_t *line = json_pack("{s:s, s:s*, s:s, s:s}", "minion", id, "address",
                             peer != NULL ? peer->address : NULL, "op", "key", "act", act);
    (void) json_object_update(data, more);
    (void) json_object_update(line, more);
    json_decref(more);
    audit_write(self->audit, &line);
    (void) bus_fire(self, "salt/key", &data);
}

/* Cut every connection of a key. A connection to the publish port is known by its subscription only, which
 * libzmq serves before the master sees it. So when an accepted key ends, all connections there that have not
 * subscribed yet are cut, whoever they belong to; the others reconnect. */
void
keychange_cut(front_t *self, minion_t *m, const char *z85, bool was_accepted)
{
    peer_t *peer;
    ports_look(self);
    for (size_t i = 0; peers_next(self->peers, &i, &peer);)
        if (peer->minion == m || str_eq(peer->z85, z85)) {
            peers_bind(peer, NULL);
            peer->state = KEY_UNKNOWN;
            gate_cut(self, peer->fd);
        }
    for (int fd; (fd = peers_take_sub(self->peers, m)) >= 0;)
        gate_cut(self, fd);
    if (was_accepted)
        gate_cut_strangers(self, PORT_PUBLISH);
}
