/* zap.c - see zap.h. The actor owns its key table; the owner sends it "set" and "door" commands through the
 * pipe. Codes of ZAP: 200 accepted, 300 temporary failure (the client retries), 400 rejected. */
#include <czmq.h>

#include "common/crypto/keys.h"
#include "common/net/sock.h"
#include "common/net/zap.h"

#include "common/base/map.h"

struct zap {
    zactor_t *actor;
};

typedef struct table {
    map_t *keys; /* Z85 -> (void *) zap_verdict_t */
    zap_door_t door;
} table_t;

static void
zap_reply(zsock_t *handler, const char *version, const char *sequence, const char *code, const char *text,
          const char *user)
{
    sock_tell(handler, version, sequence, code, text, user, "", NULL);
}

static void
zap_request(table_t *table, zsock_t *handler)
{
    zmsg_t *msg = zmsg_recv(handler);
    if (msg == NULL)
        return;
    char *version = zmsg_popstr(msg), *sequence = zmsg_popstr(msg), *domain = zmsg_popstr(msg);
    char *address = zmsg_popstr(msg), *identity = zmsg_popstr(msg), *mechanism = zmsg_popstr(msg);
    zframe_t *key = zmsg_pop(msg);
    char z85[KEY_Z85_LEN];
    if (version != NULL && sequence != NULL && domain != NULL && mechanism != NULL &&
        strcmp(mechanism, "CURVE") == 0 && key != NULL && zframe_size(key) == KEY_BYTES) {
        key_to_z85(zframe_data(key), z85);

        /* Decides by the key, the domain and the door. */
        zap_verdict_t v = (zap_verdict_t) (uintptr_t) map_get(table->keys, z85);
        bool pub = strcmp(domain, "pub") == 0;
        if (v == ZAP_REJECTED || (pub && v != ZAP_ACCEPTED))
            zap_reply(handler, version, sequence, "400", "key not accepted", "");
        else if (table->door == ZAP_SHUT || (table->door == ZAP_KNOWN && v == ZAP_UNKNOWN))
            zap_reply(handler, version, sequence, "300", "no room", "");
        else
            zap_reply(handler, version, sequence, "200", "OK", z85);
    } else {
        /* An unanswered request would block the handler forever. */
        zap_reply(handler, version != NULL ? version : "1.0", sequence != NULL ? sequence : "", "400",
                  "only CURVE is spoken here", "");
    }
    zframe_destroy(&key);
    free(version), free(sequence), free(domain), free(address), free(identity), free(mechanism);
    zmsg_destroy(&msg);
}

/* Handle a command of the owner; false when the actor must end. */
static bool
zap_command(table_t *table, zsock_t *pipe)
{
    char *what = NULL, *key = NULL;
    int arg = 0;
    /* The actor's end, $TERM, comes as a single frame. */
    if (zsock_recv(pipe, "ssi", &what, &key, &arg) != 0 || what == NULL || key == NULL ||
        strcmp(what, "$TERM") == 0) {
        free(what), free(key);
        return false;
    }
    if (strcmp(what, "door") == 0)
        table->door = (zap_door_t) arg;
    else if (arg == ZAP_UNKNOWN)
        (void) map_del(table->keys, key);
    else
        map_set(table->keys, key, (void *) (uintptr_t) arg);
    free(what), free(key);
    return true;
}

static void
zap_actor(zsock_t *pipe, void *arg)
{
    zsock_t *handler = zsock_new_rep("inproc://zeromq.zap.01");
    table_t table = { map_new(NULL), ZAP_OPEN };
    zpoller_t *poller = zpoller_new(pipe, handler, NULL);
    zpoller_set_nonstop(poller, true);
    bool run = handler != NULL && poller != NULL;
    /* The first signal completes czmq's own handshake; its status is not checked. */
    (void) zsock_signal(pipe, 0);
    (void) zsock_signal(pipe, run ? 0 : 1);
    while (run) {
        (void) zpoller_wait(poller, -1);
        /* Commands first, so that a key accepted before the request is admitted, and one deleted before is
         * not. Therefore look for a request before taking the last commands. */
        bool asked = zsock_events(handler) & ZMQ_POLLIN;
        while (run && (zsock_events(pipe) & ZMQ_POLLIN))
            run = zap_command(&table, pipe);
        if (run && asked)
            zap_request(&table, handler);
    }
    zpoller_destroy(&poller);
    zsock_destroy(&handler);
    map_destroy(&table.keys);
}

zap_t *
zap_new(fail_t *err)
{
    zap_t *self = xcalloc(1, sizeof(*self));
    self->actor = sock_room_for_actor() ? zactor_new(zap_actor, NULL) : NULL;
    if (self->actor == NULL || zsock_wait(self->actor) != 0) {
        (void) fail_set(
            err, self->actor != NULL ? -EADDRINUSE : -ENOMEM, "the key handler could not start: %s",
            self->actor != NULL ? "this process has one already" : "no thread or no descriptors for it");
        zap_destroy(&self);
    }
    return self;
}

void
zap_destroy(zap_t **self_p)
{
    zap_t *self = STEAL(*self_p);
    if (self == NULL)
        return;
    zactor_destroy(&self->actor);
    free(self);
}

static void
zap_tell(zap_t *self, const char *what, const char *key, int arg)
{
    char number[16];
    (void) snprintf(number, sizeof(number), "%d", arg);
    sock_tell(self->actor, what, key, number, NULL);
}

void
zap_set(zap_t *self, const char *z85, zap_verdict_t verdict)
{
    zap_tell(self, "set", z85, (int) verdict);
}

void
zap_set_door(zap_t *self, zap_door_t door)
{
    zap_tell(self, "door", "", (int) door);
}
