/* outbox.c - a doubly linked list in order of arrival, with a map from jid or "#number" to its items.
 *
 * Events of beacons, of which thousands may come at once, keep nothing else waiting: while BEACON_WINDOW bytes of
 * them are unacknowledged, further ones wait in a list of their own and get their numbers when they leave it, so
 * that what a job fires is sent before them. Those that already have numbers, as they came while no master was
 * connected, are passed by returns alone.
 *
 * `next` is a cursor: everything before it is under way, or can't go now because its master is away or its
 * file can't be read. outbox_pump() moves the cursor on, outbox_rewind() back to the first. An item leaves
 * the list only when it is acknowledged, replaced, or lost on disk.
 */
#include "uplink/outbox.h"

#include "common/base/clock.h"
#include "common/base/jsonread.h"
#include "common/base/map.h"
#include "common/base/str.h"
#include "common/net/wire.h"
#include "uplink/jobret.h"
#include "salt/limits.h"
#include "salt/log.h"
#include "salt/value.h"

#define PATIENCE_MS     30000  /* without an acknowledgement for so long, all under way is sent again */
#define PATIENCE_MAX_MS 600000 /* doubled up to this each time: copies do not help a slow line */
#define DISK_RETRY_MS   5000
#define SERIES_STEP     10000 /* numbers of events reserved at a time */
#define BEACON_WINDOW   (16 * 1024)
#define BEACON_TENTHS   9                              /* of all that may wait */
#define NUMBER_MAX      ((json_int_t) 999999999999999) /* of events, in as many digits as any */

/* A queued return or event. */
typedef struct item {
    struct item *prev, *next;
    char *key; /* in by_key: a return's jid, or "#" and an event's number */
    bool is_ret, is_beacon;
    json_int_t n;     /* an event's number */
    char *asker;      /* whose return it is; NULL: any master's */
    int master;       /* its index; -1: all */
    json_t *event;    /* owned; NULL: a return, or read it from the spool */
    jobret_t *ret;    /* owned: a return that the disk refused; NULL: read it from the spool */
    bool on_disk;     /* an event that is in the spool too */
    int64_t since_ms; /* monotonic: when it came */
    size_t size;      /* of its text */
    bool under_way;
} item_t;

struct outbox {
    spool_t *spool;
    outbox_send_fn *send;
    void *cookie;
    item_t *first, *last;       /* in the order in which they came */
    item_t *next;               /* cursor: nothing before it is to be sent; NULL: nothing is */
    item_t *first_event;        /* NULL: none */
    item_t *later, *later_last; /* events of beacons without a number yet, by their `next` */
    map_t *by_key;              /* -> item_t */
    json_t *masters;            /* owned: {name: index} */
    size_t n_items, n_events, n_later;
    size_t n_loose; /* events of the list that are in memory only */
    size_t event_bytes, kept_bytes, way_bytes, beacon_way_bytes;
    json_int_t next_n;
    unsigned listening;                       /* bits of masters */
    int64_t lost_ms[LIMIT_MASTERS];           /* monotonic: since when a master is away */
    int64_t away_ms;                          /* how long a return waits for its own master; 0: for ever */
    char *series;                             /* the name of the numbers; NULL: none is kept */
    json_int_t upto;                          /* reserved in it */
    int64_t alone_ms;                         /* monotonic: since when no master is connected, if none is */
    int64_t give_up_ms;                       /* monotonic: when the next return is redirected; 0: none */
    int64_t patience_ms, again_ms, disk_ms;   /* the last two monotonic; 0: not waiting */
    bool disk_told, events_told, series_told; /* the log says that the disk refuses these */
    int64_t unread_ms; /* monotonic: when unreadable items are read again; 0: none is */
    bool events_held;  /* an event is unreadable: later ones wait for it */
};

static void
outbox_free(item_t *it)
{
    json_decref(it->event);
    jobret_destroy(&it->ret);
    free(it->asker);
    free(it->key);
    free(it);
}

void
outbox_destroy(outbox_t **self_p)
{
    outbox_t *self = STEAL(*self_p);
    if (self == NULL)
        return;
    for (item_t *it = self->first, *next; it; it = next) {
        next = it->next;
        outbox_free(it);
    }
    for (item_t *it = self->later, *next; it; it = next) {
        next = it->next;
        outbox_free(it);
    }
    map_destroy(&self->by_key);
    json_decref(self->masters);
    free(self->series);
    spool_destroy(&self->spool);
    free(self);
}

/* The first event at or behind `it`; NULL: none. */
static item_t *
event_from(item_t *it)
{
    while (it != NULL && it->is_ret)
        it = it->next;
    return it;
}

static void
outbox_left(outbox_t *self, item_t *it)
{
    if (it->under_way) {
        self->way_bytes -= it->size;
        self->beacon_way_bytes -= it->is_beacon ? it->size : 0;
    }
    it->under_way = false;
}

/* Unlinks and frees an item, with its event file. A return's file is the caller's: it may be needed, gone
 * already, or replaced. */
static void
outbox_remove(outbox_t *self, item_t *it)
{
    *(it->prev != NULL ? &it->prev->next : &self->first) = it->next;
    *(it->next != NULL ? &it->next->prev : &self->last) = it->prev;
    if (self->next == it)
        self->next = it->next;
    if (self->first_event == it)
        self->first_event = event_from(it->next);
    outbox_left(self, it);
    (void) map_take(self->by_key, it->key);
    if (it->is_ret) {
        self->kept_bytes -= it->ret != NULL ? it->size : 0;
    } else {
        self->event_bytes -= it->size;
        self->n_events--;
        if (it->on_disk)
            spool_event_forget(self->spool, it->n);
        else
            self->n_loose--;
    }
    self->n_items--;
    outbox_free(it);
}

/* Puts an item behind all others; a return before the events of beacons at the end that are still to be sent. It is
 * sent in its turn: the cursor stays unless it was behind the item. Returns whether it was. */
static bool
outbox_append(outbox_t *self, item_t *it)
{
    item_t *before = self->last, *behind = NULL;
    bool turn = self->next == NULL;
    for (; it->is_ret && before != NULL && before->is_beacon && !before->under_way; before = before->prev) {
        turn |= self->next == before;
        behind = before;
    }
    it->prev = before;
    it->next = behind;
    *(before != NULL ? &before->next : &self->first) = it;
    *(behind != NULL ? &behind->prev : &self->last) = it;
    if (turn)
        self->next = it;
    if (self->first_event == NULL)
        self->first_event = event_from(it);
    map_set(self->by_key, it->key, it);
    self->n_items++;
    return turn;
}

/* Reads a return from the spool. NEW; NULL with *err, which is logged: missing, damaged, or unreadable for
 * now. It is read each time it is sent. The release that wrote it may have had larger message limits. */
static jobret_t *
outbox_load_return(outbox_t *self, item_t *it, fail_t *err)
{
    AUTO_FREE char *asker = NULL;
    json_t *v = spool_load(self->spool, it->key, &asker, &it->size, err);
    if (v == NULL) {
        log_error("%s", fail_text(err));
        return NULL;
    }
    if (it->asker == NULL)
        it->asker = STEAL(asker);
    return jobret_make(&v);
}

/* Reads an event, which then stays in memory. False with *err as above. */
static bool
outbox_load_event(outbox_t *self, item_t *it, fail_t *err)
{
    it->event = spool_event_load(self->spool, it->n, &it->size, err);
    if (it->event == NULL)
        log_error("%s", fail_text(err));
    else
        self->event_bytes += it->size;
    it->is_beacon = value_get(it->event, "bare") != NULL;
    return it->event != NULL;
}

/* True when reading again is pointless: the file is gone, or was damaged and moved aside. */
static bool
outbox_is_lost(const fail_t *err)
{
    return err->code == -EBADMSG || err->code == -ENOENT;
}

outbox_t *
outbox_new(spool_t **spool_p, outbox_send_fn *send, void *cookie)
{
    outbox_t *self = xcalloc(1, sizeof(*self));
    self->spool = STEAL(*spool_p);
    self->send = send;
    self->cookie = cookie;
    self->by_key = map_new(NULL);
    self->patience_ms = PATIENCE_MS;
    self->alone_ms = clock_mono_ms();

    /* Queues what earlier processes left in the spool. Damaged files are moved aside now, while an
     * operator who starts the minion reads the log; unreadable ones are read when they are sent. */
    size_t i;
    json_t *one;
    json_array_foreach (spool_waiting(self->spool), i, one) {
        fail_auto_t err = FAIL_INIT;
        item_t *it = xcalloc(1, sizeof(*it));
        it->is_ret = json_is_string(one);
        it->n = json_integer_value(one);
        it->key = it->is_ret ? xstrdup(json_string_value(one)) : xasprintf("#%lld", (long long) it->n);
        it->on_disk = !it->is_ret;
        it->master = -1; /* until outbox_masters() tells who there is */
        it->since_ms = clock_mono_ms();
        AUTO(jobret) ret = it->is_ret ? outbox_load_return(self, it, &err) : NULL;
        if (!it->is_ret)
            (void) outbox_load_event(self, it, &err);
        if (outbox_is_lost(&err)) {
            outbox_free(it);
            continue;
        }
        self->next_n = it->n > self->next_n ? it->n : self->next_n;
        self->n_events += !it->is_ret;
        (void) outbox_append(self, it);
    }

    return self;
}

/* Events that wait have numbers of an earlier process's series, which therefore goes on: masters take a
 * minion's events in their order. */
int
outbox_series(outbox_t *self, char series[LIMIT_BOOT], fail_t *err)
{
    AUTO_FREE char *old = NULL;
    json_int_t upto = 0;
    int rc = self->n_events > 0 ? spool_series(self->spool, &old, &upto, err) : 0;
    if (rc < 0)
        return rc;
    if (rc > 0 && str_copy(series, LIMIT_BOOT, old) && upto > self->next_n)
        self->next_n = upto;
    self->upto = self->next_n;
    self->series = xstrdup(series);
    return 0;
}

/* ---- sending --------------------------------------------------------------------------------- */

/* The index of a master's name; -1: any master, also for a name that is no longer configured. */
static int
outbox_index(const outbox_t *self, const char *asker)
{
    return asker != NULL ? (int) value_int(self->masters, asker, -1) : -1;
}

/* The configuration of masters may have changed: an asker that is no longer among them has no index, and its
 * return goes to any. */
void
outbox_masters(outbox_t *self, json_t *masters)
{
    json_decref(self->masters);
    self->masters = json_incref(masters);
    for (item_t *it = self->first; it; it = it->next)
        it->master = outbox_index(self, it->asker);
}

/* True when a master that may take this item is connected. */
static bool
outbox_heard(const outbox_t *self, const item_t *it)
{
    return it->master < 0 ? self->listening != 0 : (self->listening & (1u << it->master)) != 0;
}

/* Has the disk asked again in a while. */
static void
disk_later(outbox_t *self)
{
    self->disk_ms = self->disk_ms ? self->disk_ms : clock_mono_ms() + DISK_RETRY_MS;
}

/* Writes an event to disk, so that it survives this process. When the disk refuses, it stays in memory only, and
 * false is returned. The log tells the first refusal and the recovery, not each event between. */
static bool
keep_event(outbox_t *self, item_t *it)
{
    fail_auto_t err = FAIL_INIT;
    it->on_disk = spool_event_keep(self->spool, it->event, &err) == 0;
    self->n_loose -= it->on_disk;
    if (!it->on_disk && !self->events_told)
        log_warning("event %s, number %lld: it is kept in memory only: %s", value_str(it->event, "tag", ""),
                    (long long) it->n, fail_text(&err));
    else if (it->on_disk && self->events_told)
        log_warning("events can be kept on the disk again");
    self->events_told = !it->on_disk;
    if (!it->on_disk)
        disk_later(self);
    return it->on_disk;
}

/* Stops at the first refusal when all are asked for: a full disk would refuse each of thousands. */
static void
keep_events(outbox_t *self, bool beacons)
{
    bool kept = true;
    for (item_t *it = self->first_event; it != NULL && self->n_loose > 0 && (kept || !beacons); it = it->next)
        if (!it->is_ret && !it->on_disk && (beacons || !it->is_beacon))
            kept = keep_event(self, it);
}

static void
send_ret(outbox_t *self, const item_t *it, const jobret_t *ret)
{
    json_auto_t *frame = json_pack("{s:s, s:i, s:s}", "t", "ret", "master", it->master, "jid", ret->jid);
    self->send(self->cookie, frame, ret);
}

/* Sends an item. False: its file can't be read now. An item whose file is missing or damaged is removed. */
static bool
outbox_send(outbox_t *self, item_t *it)
{
    fail_auto_t err = FAIL_INIT;
    AUTO(jobret) read = it->is_ret && it->ret == NULL ? outbox_load_return(self, it, &err) : NULL;
    const jobret_t *ret = it->ret != NULL ? it->ret : read;
    bool there = it->is_ret ? ret != NULL : it->event != NULL || outbox_load_event(self, it, &err);
    if (!there && !outbox_is_lost(&err))
        return false;
    if (!there) {
        outbox_remove(self, it);
        return true;
    }
    if (it->is_ret)
        send_ret(self, it, ret);
    else {
        /* `oldest` tells the master which event numbers are gone: one that waits for a gap to fill need not
         * wait for these. */
        json_auto_t *frame = json_copy(it->event);
        json_object_set_new(frame, "t", json_string("event"));
        json_object_set_new(frame, "oldest", json_integer(self->first_event->n));
        self->send(self->cookie, frame, NULL);
    }
    it->under_way = true;
    self->way_bytes += it->size;
    self->beacon_way_bytes += it->is_beacon ? it->size : 0;
    return true;
}

/* Reserves SERIES_STEP event numbers on disk before the first is used, so that a start after a crash, which goes
 * on at the end of the reserve, never uses a number twice. One write per SERIES_STEP events. Where the disk
 * refuses, events go on without a reserve, and each one asks again. */
static void
outbox_reserve(outbox_t *self)
{
    fail_auto_t err = FAIL_INIT;
    if (self->series == NULL || self->next_n < self->upto)
        return;
    bool kept = spool_series_keep(self->spool, self->series, self->next_n + SERIES_STEP, &err) == 0;
    if (kept)
        self->upto = self->next_n + SERIES_STEP;
    else if (!self->series_told)
        log_warning("numbers of events can't be reserved: %s", fail_text(&err));
    self->series_told = !kept;
    if (!kept)
        disk_later(self);
}

/* Puts an event into the list, TAKEN, with the next number. */
static void
outbox_number(outbox_t *self, item_t *it)
{
    outbox_reserve(self);
    it->n = ++self->next_n;
    it->key = xasprintf("#%lld", (long long) it->n);
    json_object_set_new(it->event, "n", json_integer(it->n));
    self->n_events++;
    self->n_loose++;
    if (!self->listening)
        (void) keep_event(self, it);
    (void) outbox_append(self, it);
}

/* Gives the first event that waits for its number one. */
static void
outbox_feed(outbox_t *self)
{
    item_t *it = self->later;
    self->later = STEAL(it->next);
    self->later_last = self->later != NULL ? self->later_last : NULL;
    self->n_later--;
    outbox_number(self, it);
}

/* Sends from the cursor on. An unreadable return is skipped; an unreadable event holds up the events after it,
 * because masters take a minion's events in the order of their numbers. */
static void
outbox_send_list(outbox_t *self)
{
    while (self->next != NULL && self->listening && self->way_bytes < LIMIT_UNDER_WAY) {
        item_t *it = self->next, *after = it->next;
        if (it->is_beacon && !it->under_way && self->beacon_way_bytes >= BEACON_WINDOW)
            return;
        if (!it->under_way && outbox_heard(self, it) && (it->is_ret || !self->events_held) &&
            !outbox_send(self, it)) {
            self->events_held = self->events_held || !it->is_ret;
            self->unread_ms = self->unread_ms ? self->unread_ms : clock_mono_ms() + PATIENCE_MS;
        }
        self->next = after;
    }
}

/* Sends until LIMIT_UNDER_WAY bytes are unacknowledged, or BEACON_WINDOW of beacons' events. */
static void
outbox_pump(outbox_t *self)
{
    outbox_send_list(self);
    while (self->later != NULL && self->listening && self->next == NULL && !self->events_held &&
           self->beacon_way_bytes < BEACON_WINDOW && self->way_bytes < LIMIT_UNDER_WAY) {
        outbox_feed(self);
        outbox_send_list(self);
    }
    if (self->way_bytes > 0 && self->again_ms == 0)
        self->again_ms = clock_mono_ms() + self->patience_ms;
}

static void
from_the_first(outbox_t *self)
{
    self->next = self->first;
    self->unread_ms = 0;
    self->events_held = false;
}

/* Marks everything as unsent: the connection that carried it is gone, or its acknowledgement is overdue. */
static void
outbox_rewind(outbox_t *self)
{
    for (item_t *it = self->first; it; it = it->next)
        it->under_way = false;
    self->way_bytes = self->beacon_way_bytes = 0;
    self->again_ms = 0;
    from_the_first(self);
}

int64_t
outbox_deaf_ms(const outbox_t *self)
{
    return self->listening ? 0 : self->alone_ms;
}

bool
outbox_is_heard(const outbox_t *self)
{
    return self->listening != 0;
}

/* When this return is redirected, monotonic; 0: never. A master that was away before the return came counts
 * from the return's arrival. */
static int64_t
given_up_ms(const outbox_t *self, const item_t *it)
{
    if (!it->is_ret || it->master < 0 || self->away_ms <= 0 || !self->listening || outbox_heard(self, it))
        return 0;
    int64_t since = self->lost_ms[it->master];
    return (since > it->since_ms ? since : it->since_ms) + self->away_ms;
}

/* Redirects the returns whose master was away for too long, and finds the time of the next. O(items). */
static void
outbox_give_up(outbox_t *self, int64_t now_ms)
{
    bool any = false;
    self->give_up_ms = 0;
    for (item_t *it = self->first; it; it = it->next) {
        int64_t when = given_up_ms(self, it);
        if (when > 0 && now_ms >= when) {
            log_warning("job %s: the master that asked is away: its return goes to another one", it->key);
            it->master = -1;
            outbox_left(self, it);
            any = true;
        } else if (when > 0 && (self->give_up_ms == 0 || when < self->give_up_ms)) {
            self->give_up_ms = when;
        }
    }
    if (any) {
        from_the_first(self);
        outbox_pump(self);
    }
}

void
outbox_patience(outbox_t *self, int64_t away_ms)
{
    self->away_ms = away_ms;
    outbox_give_up(self, clock_mono_ms());
}

void
outbox_connected(outbox_t *self, int master)
{
    self->listening |= 1u << master;
    self->patience_ms = PATIENCE_MS;
    outbox_rewind(self);
    outbox_give_up(self, clock_mono_ms());
    outbox_pump(self);
}

void
outbox_disconnected(outbox_t *self, int master)
{
    unsigned gone = self->listening & (master < 0 ? ~0u : 1u << master);
    self->listening &= ~gone;
    for (int i = 0; i < LIMIT_MASTERS; i++)
        if (gone >> i & 1)
            self->lost_ms[i] = clock_mono_ms();
    if (gone)
        outbox_give_up(self, clock_mono_ms());
    if (self->listening)
        return;
    if (gone)
        self->alone_ms = clock_mono_ms();
    outbox_rewind(self);
    keep_events(self, true);
    while (self->later != NULL)
        outbox_feed(self);
}

/* ---- queueing --------------------------------------------------------------------------------- */

/* Writes a return to disk: true when it is there. The log tells the first refusal and the recovery, not each
 * return between. */
static bool
spool(outbox_t *self, const item_t *it, const jobret_t *ret)
{
    fail_auto_t err = FAIL_INIT;
    bool ok = spool_end(self->spool, ret, it->asker, &err) == 0;
    if (!ok && !self->disk_told)
        log_error("job %s: its return is kept in memory only: %s", it->key, fail_text(&err));
    if (ok && self->disk_told)
        log_warning("returns can be kept on the disk again");
    self->disk_told = !ok;
    return ok;
}

void
outbox_return(outbox_t *self, jobret_t **ret_p, const char *asker)
{
    AUTO(jobret) ret = STEAL(*ret_p);
    item_t *old = map_get(self->by_key, ret->jid);
    if (old != NULL) {
        spool_forget(self->spool, ret->jid);
        outbox_remove(self, old);
    }
    item_t *it = xcalloc(1, sizeof(*it));
    it->key = xstrdup(ret->jid);
    it->is_ret = true;
    it->asker = asker != NULL ? xstrdup(asker) : NULL;
    it->master = outbox_index(self, asker);
    it->since_ms = clock_mono_ms();
    it->size = ret->len;
    /* Events that the job fired precede its return, so they must survive a crash as it does. */
    keep_events(self, false);
    bool kept = !spool(self, it, ret);
    if (kept) {
        self->kept_bytes += it->size;
        disk_later(self);
    }
    int64_t given_up = given_up_ms(self, it);
    if (given_up && (self->give_up_ms == 0 || given_up < self->give_up_ms))
        self->give_up_ms = given_up;
    bool turn = outbox_append(self, it);
    /* The usual case: send the text at hand instead of reading it back from disk. */
    if (turn && outbox_heard(self, it) && self->way_bytes < LIMIT_UNDER_WAY) {
        send_ret(self, it, ret);
        it->under_way = true;
        self->way_bytes += it->size;
        self->next = it->next;
    }
    if (kept)
        it->ret = STEAL(ret);
    outbox_pump(self);
}

/* Queues an event; `bare`: see outbox_beacon. */
static bool
outbox_put_event(outbox_t *self, const char *tag, json_t *data, json_t *more, json_t *bare)
{
    /* Numbers that come later, with more digits, have their room. */
    json_auto_t *event = json_pack("{s:I, s:I, s:s, s:O, s:O*, s:O*}", "n", NUMBER_MAX, "oldest", NUMBER_MAX,
                                   "tag", tag, "data", data, "more", more, "bare", bare);
    size_t size = json_dumpb(event, NULL, 0, JSON_COMPACT), len;
    AUTO_FREE char *message = wire_encode(MSG_event, event, &len, NULL);
    /* Masters refuse messages with more values. */
    bool fits = message != NULL && json_few(message, len, LIMIT_WIRE_VALUES);
    /* Beacons leave room for what jobs fire. */
    size_t tenths = bare != NULL ? BEACON_TENTHS : 10;
    if (!fits || self->n_events + self->n_later >= LIMIT_EVENTS_KEPT / 10 * tenths ||
        self->event_bytes + size > LIMIT_EVENTS_KEPT_BYTES / 10 * tenths)
        return false;
    item_t *it = xcalloc(1, sizeof(*it));
    it->master = -1;
    it->event = STEAL(event);
    it->size = size;
    it->is_beacon = bare != NULL;
    self->event_bytes += size;
    if (it->is_beacon && self->listening) {
        *(self->later_last != NULL ? &self->later_last->next : &self->later) = it;
        self->later_last = it;
        self->n_later++;
    } else
        outbox_number(self, it);
    outbox_pump(self);
    return true;
}

bool
outbox_event(outbox_t *self, const char *tag, json_t *data, json_t *more)
{
    return outbox_put_event(self, tag, data, more, NULL);
}

bool
outbox_beacon(outbox_t *self, const char *tag, json_t *data)
{
    return outbox_put_event(self, tag, data, NULL, json_true());
}

/* A master that acknowledges works, so the pause between repetitions is short again. */
void
outbox_acked(outbox_t *self, const json_t *jids, const json_t *events)
{
    size_t i;
    json_t *one;
    json_array_foreach (jids, i, one) {
        item_t *it = json_is_string(one) ? map_get(self->by_key, json_string_value(one)) : NULL;
        if (it != NULL && it->is_ret) {
            log_debug("job %s: its return is acknowledged", it->key);
            spool_forget(self->spool, it->key);
            outbox_remove(self, it);
        }
    }
    json_array_foreach (events, i, one) {
        AUTO_FREE char *key = xasprintf("#%lld", (long long) json_integer_value(one));
        item_t *it = map_get(self->by_key, key);
        if (it != NULL)
            outbox_remove(self, it);
    }
    self->patience_ms = PATIENCE_MS;
    self->again_ms = 0;
    outbox_pump(self);
}

/* ---- time ------------------------------------------------------------------------------------- */

/* Four timers: a full disk, masters that are given up, repetition of what has no acknowledgement, files that
 * could not be read. */
void
outbox_tick(outbox_t *self, int64_t now_ms)
{
    if (self->disk_ms && now_ms >= self->disk_ms) {
        /* Writes to disk the returns that it refused before, and frees their memory. Stops at the first
         * refusal. */
        for (item_t *it = self->first; it != NULL && self->kept_bytes > 0; it = it->next) {
            if (it->ret == NULL)
                continue;
            if (!spool(self, it, it->ret))
                break;
            self->kept_bytes -= it->size;
            jobret_destroy(&it->ret);
        }

        self->disk_ms = self->kept_bytes > 0 ? now_ms + DISK_RETRY_MS : 0;
        outbox_reserve(self);
        if (!self->listening)
            keep_events(self, true);
    }
    if (self->give_up_ms && now_ms >= self->give_up_ms)
        outbox_give_up(self, now_ms);
    if (self->again_ms && now_ms >= self->again_ms) {
        self->patience_ms = self->patience_ms * 2 < PATIENCE_MAX_MS ? self->patience_ms * 2 : PATIENCE_MAX_MS;
        outbox_rewind(self);
        outbox_pump(self);
    } else if (self->unread_ms && now_ms >= self->unread_ms) {
        from_the_first(self);
        outbox_pump(self);
    }
}

int64_t
outbox_next_ms(const outbox_t *self)
{
    const int64_t times[] = { self->again_ms, self->disk_ms, self->give_up_ms, self->unread_ms };
    int64_t next = 0;
    for (size_t i = 0; i < NELEMS(times); i++)
        next = times[i] > 0 && (next == 0 || times[i] < next) ? times[i] : next;
    return next;
}

/* ---- questions -------------------------------------------------------------------------------- */

/* {jid: its asker, or null}: the hello tells the masters which returns are still to come. */
json_t *
outbox_pending(const outbox_t *self)
{
    json_t *pending = json_object();
    for (const item_t *it = self->first; it; it = it->next)
        if (it->is_ret)
            json_object_set_new(pending, it->key, it->asker != NULL ? json_string(it->asker) : json_null());
    return pending;
}

const char *
outbox_asker(const outbox_t *self, const char *jid)
{
    const item_t *it = map_get(self->by_key, jid);
    return it != NULL ? it->asker : NULL;
}

bool
outbox_has(const outbox_t *self, const char *jid)
{
    return map_get(self->by_key, jid) != NULL;
}

size_t
outbox_returns(const outbox_t *self)
{
    return self->n_items - self->n_events;
}

size_t
outbox_len(const outbox_t *self)
{
    return self->n_items + self->n_later;
}

bool
outbox_full(const outbox_t *self)
{
    return self->kept_bytes > LIMIT_UNSPOOLED;
}

spool_t *
outbox_spool(outbox_t *self)
{
    return self->spool;
}
