/* listen.c - deliver events to listeners.
 *
 * A listener has a place in the ring, from which listener_next gives iovecs of whole frames to send without
 * copying. Behind the ring it either reads the journal (`since`) or counts what it misses, to be told in one
 * message. `brief` listeners are users': comparing their patterns may take TURN_MS of a turn, since a user
 * may choose slow ones. */
#include "master/events/listen.h"

#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/local/client.h"
#include "common/match/match.h"
#include "master/events/numbers.h"
#include "salt/log.h"
#include "salt/value.h"

#define JOURNAL_PIECE                                                                                        \
    (256 * 1024) /* bytes of the journal that are read for one listener in a single turn, about */
#define TURN_MS                                                                                              \
    20 /* ms that a listener, or the request `journal` of a user who is not an administrator, takes per turn */

struct listener {
    front_t *front;
    listener_t *prev, *next;
    globs_t *tags, *except;      /* except: NULL: none */
    char *name;                  /* owned: of the follower that listens; NULL: none */
    uint64_t marks;              /* it is told where it is after so many that it doesn't want; 0: never */
    uint64_t wanted, told;       /* the last event that it wants, and the last mark */
    ring_at_t at;                /* nowhere: it reads the journal, */
    uint64_t after;              /* after this number */
    bool keeps;                  /* behind the ring it continues in the journal */
    char since[CLOCK_STAMP_LEN]; /* skip events before this time; "": no longer */
    uint64_t missed, m_first, m_last; /* number of missed events, first and last of them */
    size_t end;                       /* where listener_next stopped in its block */
    int64_t until;                    /* monotonic: end of its turn */
    bool brief;                       /* a turn is bounded in the ring, too: */
    bool looked;                      /* a tag was compared in this turn */
    bool more;                        /* the turn ended before anything was found */
    listen_may_fn *may;               /* NULL: it may see everything */
    void *cookie;
};

/* ---- the request ----------------------------------------------------------------------------- */

/* NEW list of patterns under the key "tags" or "except"; ["*"] when the request has neither tags nor tag. */
static json_t *
listen_patterns(const json_t *request, const char *key, fail_t *err)
{
    json_t *tag = value_get(request, "tag"), *one;
    json_auto_t *tags = json_incref(value_get(request, key));
    size_t i;
    if (tags == NULL)
        tags = tag != NULL ? json_pack("[O]", tag) : json_pack("[s]", "*");
    if (!json_is_array(tags) || json_array_size(tags) > LIMIT_LISTEN_TAGS) {
        (void) fail_set(err, -EINVAL, "'%s' is a list of at most %d patterns", key, LIMIT_LISTEN_TAGS);
        return NULL;
    }
    json_array_foreach (tags, i, one) {
        if (!json_is_string(one) || json_string_length(one) > LIMIT_TAG_LEN) {
            (void) fail_set(err, -EINVAL, "a pattern for tags is a text of at most %d bytes", LIMIT_TAG_LEN);
            return NULL;
        }
    }
    return json_incref(tags);
}

static globs_t *
globs(const json_t *request, const char *key, fail_t *err)
{
    json_auto_t *patterns = listen_patterns(request, key, err);
    return patterns != NULL ? globs_new(patterns) : NULL;
}

/* A number means seconds ago, a string a point in time. 0, or -EINVAL with *err. */
static int
since_us(const json_t *since, int64_t *ret_us, fail_t *err)
{
    if (json_is_number(since)) {
        *ret_us = clock_wall_us() - clock_us_of(json_number_value(since));
        return 0;
    }
    if (json_is_string(since) && clock_stamp_parse(json_string_value(since), ret_us))
        return 0;
    return fail_set(err, -EINVAL, "'since' is a number of seconds or a time such as 2026-11-20T10:00:00");
}

/* Without since_seq or since, a listener starts at the ring's end. */
static int
begin_at(listener_t *self, const json_t *request, fail_t *err)
{
    json_t *seq = value_get(request, "since_seq"), *since = value_get(request, "since");
    int64_t us;
    self->keeps = seq != NULL || since != NULL;
    if (!self->keeps) {
        ring_to_end(self->front->bus->ring, &self->at);
        return 0;
    }
    if (seq != NULL && (!json_is_integer(seq) || json_integer_value(seq) < 0))
        return fail_set(err, -EINVAL, "'since_seq' is the number of an event");
    self->after = self->wanted = (uint64_t) json_integer_value(seq);
    if (since == NULL)
        return 0;
    int rc = since_us(since, &us, err);
    if (rc < 0)
        return rc;
    clock_stamp(self->since, us);
    return store_event_since(self->front->reader, us, &self->after, err);
}

/* Takes the members of the request that only followers may send: except, marks, follower. */
static int
begin_follower(listener_t *self, const json_t *request, fail_t *err)
{
    const char *name = value_str(request, "follower", NULL);
    json_int_t marks = value_int(request, "marks", 0);
    bool excepts = value_get(request, "except") != NULL;
    if (self->brief && (name != NULL || excepts || marks != 0))
        return fail_set(err, -EPERM,
                        "only root and the master's user may ask for 'except', 'marks' or 'follower'");
    self->marks = marks > 0 ? (uint64_t) marks : 0;
    self->name = name != NULL ? xstrdup(name) : NULL;
    self->except = excepts ? globs(request, "except", err) : NULL;
    return excepts && self->except == NULL ? -EINVAL : 0;
}

/* Listeners are in a list of the bus, since the ring must find those in a block that it drops. */
listener_t *
listener_new(front_t *front, const json_t *request, bool brief, fail_t *err)
{
    globs_t *tags = globs(request, "tags", err);
    if (tags == NULL)
        return NULL;
    listener_t *self = xcalloc(1, sizeof(*self));
    self->front = front;
    self->tags = tags;
    self->brief = brief;
    self->next = front->bus->listeners;
    if (self->next != NULL)
        self->next->prev = self;
    front->bus->listeners = self;
    if (begin_follower(self, request, err) < 0 || begin_at(self, request, err) < 0)
        listener_destroy(&self);
    return self;
}

void
listener_destroy(listener_t **self_p)
{
    listener_t *self = STEAL(*self_p);
    if (self == NULL)
        return;
    if (self->prev != NULL)
        self->prev->next = self->next;
    else
        self->front->bus->listeners = self->next;
    if (self->next != NULL)
        self->next->prev = self->prev;
    ring_leave(&self->at);
    globs_destroy(&self->tags);
    globs_destroy(&self->except);
    free(self->name);
    free(self);
}

/* With since or since_seq a new listener replaces the old one, only after it was made. */
bool
listener_again(listener_t **self_p, const json_t *request, fail_t *err)
{
    if (value_get(request, "since_seq") != NULL || value_get(request, "since") != NULL) {
        listener_t *fresh = listener_new((*self_p)->front, request, (*self_p)->brief, err);
        if (fresh == NULL)
            return false;
        listener_filter(fresh, (*self_p)->may, (*self_p)->cookie);
        listener_destroy(self_p);
        *self_p = fresh;
        return true;
    }
    globs_t *tags = globs(request, "tags", err);
    if (tags == NULL)
        return false;
    globs_destroy(&(*self_p)->tags);
    (*self_p)->tags = tags;
    return true;
}

void
listener_filter(listener_t *self, listen_may_fn *may, void *cookie)
{
    self->may = may;
    self->cookie = cookie;
}

size_t
listener_patterns(const listener_t *self)
{
    return globs_count(self->tags);
}

void
listener_turn(listener_t *self)
{
    self->until = clock_mono_ms() + TURN_MS;
    self->looked = false;
}

bool
listener_has_more(const listener_t *self)
{
    return self->more;
}

bool
listener_is_live(const listener_t *self)
{
    return self->at.block != NULL;
}

/* True when it wants each event, without a look. */
static bool
wants_all(const listener_t *self)
{
    return globs_all(self->tags) && self->except == NULL && !self->since[0] && self->may == NULL;
}

/* Stamps compare as text. The first event after `since` ends that test, as stamps grow. */
static bool
wants(listener_t *self, const eframe_t *frame)
{
    char tag[LIMIT_TAG_LEN + 1];
    if (self->since[0]) {
        if (memcmp(frame->stamp, self->since, EFRAME_STAMP) < 0)
            return false;
        self->since[0] = '\0';
    }
    size_t len = eframe_tag(frame, tag);
    bool wanted = (globs_all(self->tags) || globs_match(self->tags, tag, len)) &&
                  !(self->except != NULL && globs_match(self->except, tag, len)) &&
                  (self->may == NULL || self->may(self->front, self->cookie, frame, tag));
    if (wanted)
        self->wanted = frame->seq;
    else if (self->name != NULL)
        log_trace("follower %s: event %llu '%s' is not among those that it wants", self->name,
                  (unsigned long long) frame->seq, tag);
    return wanted;
}

/* Number of the event before its place in the ring. Only the newest block may be empty. */
static uint64_t
before(const listener_t *self)
{
    const ring_block_t *block = self->at.block;
    eframe_t frame;
    size_t left = block->len - self->at.offset;
    if (left > 0 && eframe_read(block->bytes + self->at.offset, left, &frame))
        return frame.seq - 1;
    if (block->len > 0)
        return block->last;
    return block->next != NULL ? block->next->first - 1 : self->front->seq;
}

listener_t *
listener_of(const front_t *front, const char *name)
{
    listener_t *self = front->bus->listeners;
    while (self != NULL && !str_eq(self->name, name))
        self = self->next;
    return self;
}

uint64_t
listener_looked(const listener_t *self)
{
    return self->at.block != NULL ? before(self) : self->after;
}

uint64_t
listener_wanted(const listener_t *self)
{
    return self->wanted;
}

/* ---- out of the ring ------------------------------------------------------------------------- */

size_t
listener_next(listener_t *self, struct iovec *iov, size_t max)
{
    self->more = false;
    while (self->at.block != NULL) {
        /* Fill iovecs with the wanted frames of the current block; adjacent frames share one. A listener
         * of everything gets the rest of the block as one piece, without a scan. */
        ring_block_t *block = self->at.block;
        size_t count = 0, at = self->at.offset;
        eframe_t frame;
        if (wants_all(self) && at < block->len) {
            self->wanted = block->last;
            iov[0] = (struct iovec){ block->bytes + at, block->len - at };
            self->end = block->len;
            return 1;
        }
        for (; at < block->len && eframe_read(block->bytes + at, block->len - at, &frame); at += frame.len) {
            /* A brief listener stops in time, but compares at least one frame, so that a slow pattern
             * still makes progress. */
            if (self->brief && self->looked && clock_mono_ms() >= self->until) {
                self->more = count == 0;
                break;
            }

            self->looked = true;
            if (!wants(self, &frame))
                continue;
            if (count > 0 && (char *) iov[count - 1].iov_base + iov[count - 1].iov_len == frame.at) {
                iov[count - 1].iov_len += frame.len;
                continue;
            }
            if (count == max)
                break;
            iov[count++] = (struct iovec){ block->bytes + at, frame.len };
        }
        self->end = at;
        if (count > 0)
            return count;

        self->at.offset = self->end;
        if (self->more)
            break;
        if (!ring_on(&self->at))
            break;
    }
    return 0;
}

/* The place moves behind the last frame that was begun; its unsent bytes are copied, as the block may be
 * dropped. */
void
listener_sent(listener_t *self, const struct iovec *iov, size_t n_iov, size_t sent, buf_t *rest)
{
    size_t i = 0;
    eframe_t frame;
    while (i < n_iov && sent >= iov[i].iov_len)
        sent -= iov[i++].iov_len;
    if (i == n_iov) {
        self->at.offset = self->end;
        return;
    }
    const char *at = iov[i].iov_base, *cut = at + sent;
    while (at < cut && eframe_read(at, iov[i].iov_len, &frame))
        at += frame.len;
    buf_add(rest, cut, (size_t) (at - cut));
    self->at.offset = (size_t) (at - self->at.block->bytes);
}

/* ---- out of the journal ---------------------------------------------------------------------- */

static void
miss(listener_t *self, uint64_t first, uint64_t last, uint64_t count)
{
    if (count == 0)
        return;
    if (self->missed == 0)
        self->m_first = first;
    self->m_last = last;
    self->missed += count;
}

static void
listen_tell_missed(listener_t *self, buf_t *out)
{
    if (self->missed == 0)
        return;
    json_auto_t *msg = json_pack("{s:s, s:I, s:I, s:I}", "push", "missed", "from", (json_int_t) self->m_first,
                                 "to", (json_int_t) self->m_last, "count", (json_int_t) self->missed);
    self->missed = 0;
    frame_add(out, msg);
}

/* Adds where it is, when it has not heard so for long. */
static void
tell_mark(listener_t *self, buf_t *out)
{
    uint64_t heard = self->told > self->wanted ? self->told : self->wanted, looked;
    if (self->marks == 0 || (looked = listener_looked(self)) < heard + self->marks)
        return;
    json_auto_t *msg = json_pack("{s:s, s:I}", "push", "mark", "seq", (json_int_t) looked);
    self->told = looked;
    frame_add(out, msg);
}

/* Add one block of the journal. False when nothing can be read now: the next event is not committed yet, or a
 * read failed. */
static bool
from_journal(listener_t *self, buf_t *out, size_t *budget)
{
    fail_auto_t err = FAIL_INIT;
    buf_auto_t block = BUF_INIT;
    uint64_t last;
    int rc = store_event_block(self->front->reader, self->after, &block, &last, &err);
    if (rc < 0)
        log_error("the journal of events can't be read: %s", fail_text(&err));
    if (rc <= 0)
        return false;
    /* Events missing before the first frame have expired from the journal. A listener from the beginning
     * expects that, and numbers before the event that reports a gap were never used. */
    eframe_t first;
    bool some = eframe_read(buf_str(&block), block.len, &first);
    bool reported = some && first.tag_len == strlen(EVENT_GAP) &&
                    memcmp(first.tag, EVENT_GAP, first.tag_len) == 0;
    if (some && !reported && first.seq > self->after + 1 && self->after > 0)
        miss(self, self->after + 1, first.seq - 1, first.seq - 1 - self->after);
    listen_tell_missed(self, out);

    /* Adds those frames of the block that the listener wants. */
    eframe_t frame;
    for (size_t at = 0; at < block.len && eframe_read(block.data + at, block.len - at, &frame);
         at += frame.len)
        if (wants(self, &frame))
            buf_add(out, frame.at, frame.len);

    self->after = last;
    *budget -= block.len < *budget ? block.len : *budget;
    return true;
}

/* From the journal to the ring: read blocks until the ring has the next event, within the budget of bytes and
 * the turn's time. Returns false at the ring, or when nothing more can be read now. */
bool
listener_fill(listener_t *self, buf_t *out)
{
    ring_t *ring = self->front->bus->ring;
    size_t budget = JOURNAL_PIECE;
    listen_tell_missed(self, out);
    tell_mark(self, out);
    while (self->at.block == NULL) {
        if (self->after >= self->front->seq)
            ring_to_end(ring, &self->at);
        else if (ring_to(ring, &self->at, self->after))
            break;
        else if (budget == 0 || clock_mono_ms() >= self->until)
            return true;
        else if (!from_journal(self, out, &budget))
            break;
    }
    return false;
}

/* ---- behind the ring ------------------------------------------------------------------------- */

/* Count what the listener misses in its block. For brief ones, tags are no longer compared after `until`:
 * every event counts as wanted. */
static void
count_rest(listener_t *self, int64_t until)
{
    ring_block_t *block = self->at.block;
    eframe_t frame;
    if (block->len == 0)
        return;
    if (wants_all(self)) {
        uint64_t first = before(self) + 1;
        miss(self, first, block->last, block->last + 1 - first);
        return;
    }
    for (size_t at = self->at.offset;
         at < block->len && eframe_read(block->bytes + at, block->len - at, &frame); at += frame.len)
        if ((self->brief && clock_mono_ms() >= until) || wants(self, &frame))
            miss(self, frame.seq, frame.seq, 1);
}

void
listen_dropped(void *front, ring_block_t *block)
{
    int64_t until = clock_mono_ms() + TURN_MS;
    for (listener_t *l = ((front_t *) front)->bus->listeners; l; l = l->next) {
        if (l->at.block != block)
            continue;
        if (l->keeps) {
            l->after = before(l);
            ring_leave(&l->at);
        } else {
            count_rest(l, until);
            (void) ring_on(&l->at);
        }
    }
}

/* ---- the operation `journal` ----------------------------------------------------------------- */

/* Add the frames after a number, from the ring or the journal: 1, 0 at the end, or a negative errno. */
static int
frames_after(front_t *self, uint64_t after, buf_t *out, uint64_t *ret_last, fail_t *err)
{
    ring_at_t at = { 0 };
    if (!ring_to(self->bus->ring, &at, after))
        return store_event_block(self->reader, after, out, ret_last, err);
    *ret_last = at.block->last;
    buf_add(out, at.block->bytes + at.offset, at.block->len - at.offset);
    bool some = at.offset < at.block->len;
    ring_leave(&at);
    return some;
}

/* Both limits, of bytes and time, stop after a whole block, so each request makes progress. The end is
 * numbers_last: later events must not be told yet. */
json_t *
listen_journal(front_t *self, const json_t *request, bool brief, listen_may_fn *may, void *cookie,
               fail_t *err)
{
    json_int_t last = (json_int_t) numbers_last(self), from = value_int(request, "from", 1),
               to = value_int(request, "to", last);
    uint64_t after = from > 1 ? (uint64_t) from - 1 : 0, end = (uint64_t) (to < last ? to : last);
    globs_t *tags = to >= 0 ? globs(request, "tags", err) : NULL;
    json_auto_t *events = json_array();
    int64_t until = brief ? clock_mono_ms() + TURN_MS : INT64_MAX;
    size_t bytes = 0;
    int rc = 1;
    if (tags == NULL)
        return to >= 0 ? NULL : json_pack("{s:[], s:i}", "events", "next", 0);
    while (rc > 0 && after < end && bytes < LIMIT_JOURNAL_PIECE && (bytes == 0 || clock_mono_ms() < until)) {
        buf_auto_t frames = BUF_INIT;
        rc = frames_after(self, after, &frames, &after, err);
        bytes += frames.len;

        char tag[LIMIT_TAG_LEN + 1];
        eframe_t frame;
        for (size_t at = 0; at < frames.len && eframe_read(frames.data + at, frames.len - at, &frame);
             at += frame.len) {
            if (frame.seq > end)
                break;
            bool wanted = globs_match(tags, tag, eframe_tag(&frame, tag)) &&
                          (may == NULL || may(self, cookie, &frame, tag));
            json_t *event = wanted ? eframe_value(&frame) : NULL;
            if (event != NULL)
                json_array_append_new(events, event);
        }
    }
    globs_destroy(&tags);
    if (rc < 0)
        return NULL;
    return json_pack("{s:O, s:I}", "events", events, "next",
                     rc > 0 && after < end ? (json_int_t) after + 1 : 0);
}
