/* acks.c - a queue of acknowledgements ordered by store tickets, sent when a commit reaches them. While a
 * crowd of minions sends, acknowledgements are delayed up to ACK_MAX_MS: reading what has not been heard
 * comes first. */
#include "master/minions/acks.h"

#include "common/base/clock.h"
#include "common/base/map.h"
#include "master/minions/gate.h"
#include "master/front/part.h"
#include "master/minions/post.h"
#include "salt/log.h"

#define ACK_PAUSE_MS 60  /* ms between looks at the traffic; an interactive command has printed by then */
#define ACK_CROWD    192 /* messages within that: a crowd */
#define ACK_MAX_MS   500 /* longest delay for a crowd */

/* A row whose commit its sender waits for. */
typedef struct pending_ack {
    struct pending_ack *next;
    uint64_t ticket;
    int64_t since_ms;
    uint8_t rid[RID_MAX]; /* connection that it came on */
    size_t rid_len;
    uint32_t slot, starts; /* of the minion, see peers.h */
    bool is_call;
    size_t jid_len;
    char *key;        /* owned: a return's "JID/ID"; NULL: */
    json_int_t event; /* the number of an event */
} pending_ack_t;

/* In ticket order. */
typedef struct acks {
    pending_ack_t *first, **tail;
    map_t *uncommitted; /* owned keys "JID/ID" -> BORROWED pending_ack_t */
    bool timer;         /* ack_again is scheduled */
    bool crowded;       /* at the last look, */
    int64_t looked_ms;  /* monotonic, */
    uint64_t looked_in; /* number of messages read by then */
} acks_t;

static acks_t *
acks_own(const front_t *front)
{
    return front->own[PART_acks];
}

char *
acks_key(const char *jid, const char *id)
{
    size_t n = strlen(jid), size = strlen(id) + 1;
    char *key = xcalloc(1, n + 1 + size);
    memcpy(key, jid, n);
    key[n] = '/';
    memcpy(key + n + 1, id, size);
    return key;
}

/* Copies what identifies the connection, as the peer may be gone by the commit. */
void
acks_later(front_t *self, const peer_t *peer, uint64_t ticket, char **key_p, json_int_t event)
{
    acks_t *own = acks_own(self);
    pending_ack_t *a = xcalloc(1, sizeof(*a));
    a->ticket = ticket;
    a->since_ms = clock_mono_ms();
    a->key = STEAL(*key_p);
    a->jid_len = a->key != NULL ? strcspn(a->key, "/") : 0;
    a->event = event;
    a->slot = peer->minion->slot;
    a->starts = peer->minion->starts;
    a->is_call = peer->is_call;
    a->rid_len = peer->rid_len;
    memcpy(a->rid, peer->rid, peer->rid_len);
    if (a->key != NULL)
        map_set(own->uncommitted, a->key, a);
    *own->tail = a;
    own->tail = &a->next;
}

/* A jid needs no escaping in JSON, so the message is composed as text: there is one per return. */
void
acks_jid(front_t *self, peer_t *peer, const char *jid, size_t len)
{
    static const char head[] = "{\"m\":\"ack\",\"jids\":[\"", tail[] = "\"]}";
    char text[sizeof(head) + LIMIT_JID_LEN + sizeof(tail)];
    size_t at = sizeof(head) - 1, n = sizeof(tail) - 1;
    salt_assert(len <= LIMIT_JID_LEN);
    memcpy(text, head, at);
    memcpy(text + at, jid, len);
    memcpy(text + at + len, tail, n);
    self->counters.out++;
    (void) gate_send(self, peer, text, at + len + n);
}

void
acks_event(front_t *self, peer_t *peer, json_int_t n)
{
    json_auto_t *body = json_pack("{s:[I]}", "events", n);
    (void) post_send(self, peer, MSG_ack, body);
}

static pending_ack_t *
next_ack(acks_t *own)
{
    pending_ack_t *a = own->first;
    own->first = a->next;
    if (own->first == NULL)
        own->tail = &own->first;
    return a;
}

static void
free_ack(pending_ack_t *a)
{
    free(a->key);
    free(a);
}

/* True while a crowd sends and the oldest acknowledgement is younger than ACK_MAX_MS. */
static bool
crowded(front_t *self, int64_t now_ms)
{
    acks_t *line = acks_own(self);
    if (now_ms - line->looked_ms >= ACK_PAUSE_MS) {
        line->crowded = self->counters.in - line->looked_in > ACK_CROWD;
        line->looked_in = self->counters.in;
        line->looked_ms = now_ms;
    }
    return line->crowded && now_ms - line->first->since_ms < ACK_MAX_MS;
}

static void ack_all(front_t *self);

static int
ack_again(zloop_t *loop, int timer, void *arg)
{
    front_t *self = arg;
    acks_own(self)->timer = false;
    ack_all(self);
    return 0;
}

static void
ack_all(front_t *self)
{
    acks_t *line = acks_own(self);
    uint64_t committed = store_committed(self->store);
    if (line->first == NULL || line->first->ticket > committed || line->timer)
        return;
    if (crowded(self, clock_mono_ms())) {
        line->timer = zloop_timer(self->loop, ACK_PAUSE_MS, 1, ack_again, self) >= 0;
        return;
    }
    while (line->first != NULL && line->first->ticket <= committed) {
        pending_ack_t *a = next_ack(line);

        /* Send to the connection that the row came on, else to the minion's present one. An event's number
         * only makes sense to the same start of the minion. */
        minion_t *m = peers_by_slot(self->peers, a->slot);
        peer_t *peer = peers_by_rid(self->peers, a->rid, a->rid_len);
        bool same_start = m != NULL && m->starts == a->starts;
        if (peer == NULL && m != NULL && !a->is_call && (a->key != NULL || same_start))
            peer = m->peer;
        if (a->key != NULL)
            (void) map_take(acks_own(self)->uncommitted, a->key);
        else if (same_start && !a->is_call)
            m->kept_event = a->event;
        if (a->key != NULL)
            log_trace("job %.*s: the return of minion %s is on the disk%s", (int) a->jid_len, a->key,
                      a->key + a->jid_len + 1, peer != NULL ? ", and acknowledged" : "; the minion is gone");
        if (peer != NULL && a->key != NULL)
            acks_jid(self, peer, a->key, a->jid_len);
        else if (peer != NULL)
            acks_event(self, peer, a->event);

        free_ack(a);
    }
}

bool
acks_waits(const front_t *self, const char *key)
{
    return map_get(acks_own(self)->uncommitted, key) != NULL;
}

static int
acks_start(front_t *self, fail_t *err)
{
    acks_t *own = acks_own(self);
    own->tail = &own->first;
    own->uncommitted = map_new(NULL);
    return 0;
}

static bool
acks_destroy(front_t *self)
{
    acks_t *line = acks_own(self);
    while (line->first != NULL)
        free_ack(next_ack(line));
    map_destroy(&line->uncommitted);
    return true;
}

const front_part_t part_acks = {
    .name = "acks", .size = sizeof(acks_t), .start = acks_start, .destroy = acks_destroy, .committed = ack_all
};
