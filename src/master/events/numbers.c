/* numbers.c - reserve event numbers in the store, LIMIT_EVENTS_AHEAD at a time, and tell events only up to
 * the reserved number. A clean end stores the exact last number; after a kill, numbers continue behind the
 * reservation, and the gap is reported. Also remembers which of a minion's own event numbers were taken, so
 * that events sent again are recognised. */
#include "master/events/numbers.h"

#include "common/base/str.h"
#include "master/front/part.h"
#include "salt/limits.h"
#include "salt/log.h"
#include "salt/value.h"

/* STORE_NUMBERS is "N", the last number used, or "N ahead": numbers up to N may have been used. */
#define NUMBERS_AHEAD "ahead"
#define CALLS_KEPT    16 /* of a minion's salt-call runs: repeats come within seconds */

static numbers_t *
numbers_own(const front_t *front)
{
    return front->own[PART_numbers];
}

/* Queue a reservation; asked_ticket 0 (queue full) makes numbers_reserve try again. */
static void
numbers_ask(front_t *self)
{
    numbers_t *own = numbers_own(self);
    uint64_t upto = self->seq + LIMIT_EVENTS_AHEAD;
    AUTO_FREE char *text = xasprintf("%llu " NUMBERS_AHEAD, (unsigned long long) upto);
    own->asked_ticket = store_put_meta(self->store, STORE_NUMBERS, text);
    own->asked = upto;
}

/* True when the last run was killed. *ret_upto: numbers up to this may have been used. */
static bool
was_killed(const char *text, uint64_t *ret_upto)
{
    char *end = NULL;
    errno = 0;
    unsigned long long upto = strtoull(text, &end, 10);
    bool valid = errno == 0 && end != text && upto <= INT64_MAX / 2;
    *ret_upto = valid ? upto : 0;
    return valid && *end != '\0';
}

/* True when the store replaced a damaged one or a backup did: numbers continue from STORE_REPLACED. */
static bool
was_replaced(const char *text, uint64_t *ret_upto)
{
    *ret_upto = strtoull(text, NULL, 10);
    return *ret_upto > 0;
}

/* Set front->seq to the highest number that may have been used. */
static int
numbers_start(front_t *self, fail_t *err)
{
    numbers_t *own = numbers_own(self);
    uint64_t first = 0, upto = 0;
    json_auto_t *meta = store_meta(self->reader, STORE_NUMBERS, err);
    json_auto_t *replaced = meta != NULL ? store_meta(self->reader, STORE_REPLACED, err) : NULL;
    if (replaced == NULL || store_seq_range(self->reader, &first, &own->last, err) < 0)
        return err->code;
    bool anew = json_is_null(meta) && json_is_string(replaced);
    bool gap = anew                   ? was_replaced(json_string_value(replaced), &upto)
               : json_is_string(meta) ? was_killed(json_string_value(meta), &upto)
                                      : false;
    self->seq = upto > own->last ? upto : own->last;
    own->granted = self->seq; /* an earlier reservation already covers these */
    numbers_ask(self);
    if (gap && self->seq > own->last)
        own->why = anew ? "the store took another's place" : "the last master did not end itself";
    return 0;
}

bool
numbers_gap(front_t *self, uint64_t *ret_last, const char **ret_why)
{
    numbers_t *own = numbers_own(self);
    *ret_last = own->last;
    *ret_why = STEAL(own->why);
    return *ret_why != NULL;
}

void
numbers_reserve(front_t *self)
{
    numbers_t *own = numbers_own(self);
    if (own->asked_ticket == 0 && self->seq + LIMIT_EVENTS_AHEAD / 2 >= own->granted)
        numbers_ask(self);
}

/* Hook: a new store file has no reservation. */
static void
renewed(front_t *self)
{
    numbers_ask(self);
}

static void
numbers_committed(front_t *self)
{
    numbers_t *own = numbers_own(self);
    if (own->asked_ticket == 0 || own->asked_ticket > store_committed(self->store))
        return;
    own->granted = own->asked;
    own->asked_ticket = 0;
    numbers_reserve(self);
}

/* Destroy: no event is fired any more, so store the exact number. */
static bool
numbers_end(front_t *self)
{
    if (numbers_own(self)->asked == 0)
        return true;
    AUTO_FREE char *text = xasprintf("%llu", (unsigned long long) self->seq);
    (void) store_put_meta(self->store, STORE_NUMBERS, text);
    return true;
}

/* ---- of minions' events ---------------------------------------------------------------------- */

static char *
minion_key(const char *id)
{
    return xasprintf("events_of/%s", id);
}

void
numbers_keep(front_t *self, const minion_t *m, json_int_t n)
{
    AUTO_FREE char *key = minion_key(m->id);
    AUTO_FREE char *text = xasprintf("%lld %s", (long long) n, m->series);
    /* Never refused: it belongs to the event just taken, see store_together. */
    (void) store_put_meta(self->store, key, text);
}

/* A stored number counts only within the same `series`, which the minion changes when it starts numbering
 * anew. */
int
numbers_kept(const front_t *self, minion_t *m)
{
    if (!m->events_unread)
        return 0;
    AUTO_FREE char *key = minion_key(m->id);
    fail_auto_t err = FAIL_INIT;
    json_auto_t *kept = store_meta(self->reader, key, &err);
    if (kept == NULL) {
        log_error("minion %s: its events have to wait: which of them were taken can't be read: %s", m->id,
                  fail_text(&err));
        return -EIO;
    }
    const char *text = json_is_string(kept) ? json_string_value(kept) : "";
    char *end = NULL;
    long long n = strtoll(text, &end, 10);
    if (end != text && *end == ' ' && str_eq(end + 1, m->series) && n > 0)
        m->last_event = m->kept_event = n;
    m->events_unread = false;
    return 0;
}

static char *
calls_key(const char *id)
{
    return xasprintf("calls_of/%s", id);
}

/* A minion's salt-call runs, read on first use, as few minions have any. BORROWED; NULL when unreadable. */
static json_t *
numbers_calls(const front_t *self, minion_t *m)
{
    if (m->calls != NULL)
        return m->calls;
    AUTO_FREE char *key = calls_key(m->id);
    fail_auto_t err = FAIL_INIT;
    json_auto_t *kept = store_meta(self->reader, key, &err);
    if (kept == NULL) {
        log_error("minion %s: its salt-call's events have to wait: %s", m->id, fail_text(&err));
        return NULL;
    }
    const char *text = json_is_string(kept) ? json_string_value(kept) : "";
    m->calls = *text ? value_parse(text, strlen(text), LIMIT_LOCAL_MSG, "store", NULL) : NULL;
    if (!json_is_object(m->calls)) {
        json_decref(m->calls);
        m->calls = json_object();
    }
    return m->calls;
}

int
numbers_call_kept(const front_t *self, minion_t *m, const char *boot, json_int_t n)
{
    const json_t *calls = numbers_calls(self, m);
    return calls != NULL ? n <= value_int(calls, boot, 0) : -EIO;
}

uint64_t
numbers_call_keep(front_t *self, minion_t *m, const char *boot, json_int_t n)
{
    json_t *calls = numbers_calls(self, m);
    if (calls == NULL)
        return 0;
    json_int_t last = value_int(calls, boot, 0);
    /* Order of insertion is age: move the run to the end, drop the oldest. */
    (void) json_object_del(calls, boot);
    while (json_object_size(calls) >= CALLS_KEPT)
        (void) json_object_del(calls, json_object_iter_key(json_object_iter(calls)));
    (void) json_object_set_new(calls, boot, json_integer(n > last ? n : last));
    AUTO_FREE char *key = calls_key(m->id), *text = value_dump(calls);
    return store_put_meta(self->store, key, text);
}

static void
numbers_forgotten(front_t *self, const char *id)
{
    AUTO_FREE char *key = minion_key(id), *calls = calls_key(id);
    (void) store_del_meta(self->store, key);
    (void) store_del_meta(self->store, calls);
}

uint64_t
numbers_last(const front_t *self)
{
    return self->seq < numbers_own(self)->granted ? self->seq : numbers_own(self)->granted;
}

bool
numbers_may_tell(const front_t *self)
{
    return self->seq <= numbers_own(self)->granted;
}

const front_part_t part_numbers = { .name = "numbers",
                                    .size = sizeof(numbers_t),
                                    .start = numbers_start,
                                    .destroy = numbers_end,
                                    .committed = numbers_committed,
                                    .renewed = renewed,
                                    .forgotten = numbers_forgotten };
