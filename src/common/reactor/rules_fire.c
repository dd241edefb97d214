/* rules_fire.c - which reactions an event, or passing time, triggers; see rules.h.
 *
 * The state of a rule's group is an object:
 *   "seen"   [event or null for each condition]      of all and not_all
 *   "until"  stamp up to which once_within is silent
 *   "held"   the firing that once_after delays, "due" its time
 *
 * A clock that was ahead and has been corrected leaves stamps further in the future than any wait:
 * these are treated as wrong and reset. */
#include "common/reactor/rules_int.h"

#include "common/base/str.h"
#include "salt/limits.h"
#include "salt/log.h"
#include "salt/value.h"

static int64_t
rules_fire_stamp(const json_t *event)
{
    return value_int(event, "us", 0);
}

/* Notes when rules_due() must look again, at the earliest time that anything waits for. */
static void
rules_fire_wake(rules_t *self, int64_t us)
{
    if (self->next_due == 0 || us < self->next_due)
        self->next_due = us;
}

/* True when a time is further in the future than any wait of `span_us` can be. */
static bool
is_ahead(int64_t us, int64_t span_us, int64_t now_us)
{
    return us - now_us > span_us;
}

/* ---- groups -------------------------------------------------------------------------------------------- */

/* The value, or values, of the fields that group a rule's events. NEW. */
static json_t *
group_value(const rule_t *rule, const json_t *data)
{
    json_t *list = json_array(), *path;
    size_t i;

    json_array_foreach (rule->by, i, path) {
        json_t *v = value_path(data, json_string_value(path), ":");
        json_array_append(list, v != NULL ? v : json_null());
    }
    if (i > 1)
        return list;
    json_t *only = i == 1 ? json_incref(json_array_get(list, 0)) : json_null();
    json_decref(list);
    return only;
}

static size_t
rules_fire_bytes(const json_t *v)
{
    return json_dumpb(v, NULL, 0, JSON_COMPACT);
}

/* Account for `added` bytes in this group. `bytes` only grows between counts; above the limit it is counted
 * exactly, and other groups are forgotten, oldest first, until an eighth is free. If one group alone is too
 * large, it loses its oldest held events. */
static void
rules_fire_bound(rule_t *rule, json_t *group, size_t added)
{
    const size_t enough = LIMIT_REACTOR_MEMORY - LIMIT_REACTOR_MEMORY / 8;
    json_t *held = value_get(value_get(group, "held"), "events"), *one;
    const char *key;
    void *tmp;

    rule->bytes += added;
    if (rule->bytes <= LIMIT_REACTOR_MEMORY)
        return;
    rule->bytes = rules_fire_bytes(rule->groups);
    if (rule->bytes <= enough)
        return;
    log_warning("reactor: %s remembers more than %d MB of events and groups; the oldest are forgotten",
                rule->key, LIMIT_REACTOR_MEMORY / (1024 * 1024));
    json_object_foreach_safe (rule->groups, tmp, key, one)
        if (rule->bytes > enough && one != group) {
            rule->bytes -= rules_fire_bytes(one) + strlen(key);
            json_object_del(rule->groups, key);
        }
    while (rule->bytes > enough && json_array_size(held) > 1) {
        rule->bytes -= rules_fire_bytes(json_array_get(held, 0));
        json_array_remove(held, 0);
    }
}

/* The group of a value, made when there is none. BORROWED object. */
static json_t *
rules_fire_group(rule_t *rule, const json_t *value)
{
    AUTO_FREE char *key = value_dump(value);
    json_t *group = json_object_get(rule->groups, key);

    if (group != NULL)
        return group;
    if (json_object_size(rule->groups) >= LIMIT_REACTOR_GROUPS) {
        /* Forget a tenth of the groups, oldest first. */
        const char *name;
        json_t *old;
        void *tmp;
        log_warning("reactor: %s has more than %d groups; the oldest are forgotten", rule->key,
                    LIMIT_REACTOR_GROUPS);
        size_t drop = LIMIT_REACTOR_GROUPS / 10;
        json_object_foreach_safe (rule->groups, tmp, name, old)
            if (drop > 0 && drop-- > 0)
                json_object_del(rule->groups, name);
    }
    group = json_pack("{s:O}", "value", (json_t *) value);
    json_object_set_new(rule->groups, key, group);
    rules_fire_bound(rule, group, 2 * rules_fire_bytes(value)); /* the name and the value */
    return group;
}

/* ---- firing -------------------------------------------------------------------------------------------- */

/* A firing goes out once for each file of its rule. */
static void
rules_fire_emit(const rule_t *rule, const json_t *firing, json_t *out)
{
    json_t *file;
    size_t i;

    json_array_foreach (rule->files, i, file) {
        json_t *one = json_copy((json_t *) firing);
        json_object_set(one, "file", file);
        json_array_append_new(out, one);
    }
}

/* Build the firing for these events. NEW. */
static json_t *
rules_fire_firing(const rule_t *rule, const json_t *group, const json_t *events)
{
    json_t *last = json_array_get(events, json_array_size(events) - 1), *one;
    json_t *shown = json_array();
    size_t i;

    json_array_foreach (events, i, one)
        json_array_append_new(shown, json_pack("{s:O, s:O, s:O}", "seq", value_get(one, "seq"), "tag",
                                               value_get(one, "tag"), "data", value_get(one, "data")));
    return json_pack("{s:s, s:O, s:O, s:O, s:o, s:I, s:O}", "rule", rule->key, "seq", value_get(last, "seq"),
                     "tag", value_get(last, "tag"), "data", value_get(last, "data"), "events", shown, "count",
                     (json_int_t) json_array_size(events), "group", value_get(group, "value"));
}

/* Apply the throttle to a firing at `us`: emit it now, hold it until it is quiet, or drop it. */
static void
throttled(rules_t *self, const rule_t *rule, json_t *group, json_t *firing, int64_t us, json_t *out)
{
    if (rule->throttle == THROTTLE_NONE) {
        rules_fire_emit(rule, firing, out);
        return;
    }
    if (rule->throttle == THROTTLE_WITHIN) {
        int64_t until = value_int(group, "until", 0);
        if (us < until && !is_ahead(until, rule->throttle_us, us)) {
            log_debug("reactor: rule '%s' is silent for %.3f s more (once_within)", rule->key,
                      (double) (until - us) / 1e6);
            return;
        }
        json_object_set_new(group, "until", json_integer(us + rule->throttle_us));
        rules_fire_wake(self, us + rule->throttle_us);
        rules_fire_emit(rule, firing, out);
        return;
    }
    json_t *held = value_get(group, "held");
    if (held != NULL) {
        /* Merge a firing into the held one; the newest LIMIT_REACTOR_EVENTS events stay. */
        json_t *events = value_get(held, "events"), *one;
        size_t i;
        json_array_foreach (value_get(firing, "events"), i, one)
            json_array_append(events, one);
        while (json_array_size(events) > LIMIT_REACTOR_EVENTS)
            json_array_remove(events, 0);
        json_object_set_new(held, "count",
                            json_integer(value_int(held, "count", 0) + value_int(firing, "count", 0)));
        static const char *const last[] = { "seq", "tag", "data", "missing" };
        for (size_t k = 0; k < NELEMS(last); k++)
            if (value_get(firing, last[k]) != NULL)
                json_object_set(held, last[k], value_get(firing, last[k]));
    } else {
        json_object_set(group, "held", firing);
    }
    json_object_set_new(group, "due", json_integer(us + rule->throttle_us));
    rules_fire_wake(self, us + rule->throttle_us);
    log_debug("reactor: rule '%s' waits for %.3f s without another such event (once_after)", rule->key,
              (double) rule->throttle_us / 1e6);
}

/* ---- conditions ---------------------------------------------------------------------------------------- */

/* The condition that an event fills: the first matching one that is empty, else (for `all`) the one that was
 * filled longest ago. -1: none. For `not_all` the first event stays, since its time is running, however often
 * it recurs. */
static int
rules_fire_place(const rule_t *rule, const json_t *seen, const char *tag, const json_t *data)
{
    int place = -1;

    for (size_t i = 0; i < rule->n_conds; i++) {
        json_t *there = json_array_get(seen, i);
        if (!cond_fits(&rule->conds[i], tag, data))
            continue;
        if (!json_is_object(there))
            return (int) i;
        if (rule->when == WHEN_ALL &&
            (place < 0 || rules_fire_stamp(there) < rules_fire_stamp(json_array_get(seen, (size_t) place))))
            place = (int) i;
    }
    return place;
}

static int
by_seq(const void *a, const void *b)
{
    json_int_t x = value_int(*(json_t *const *) a, "seq", 0), y = value_int(*(json_t *const *) b, "seq", 0);

    return x < y ? -1 : x > y;
}

/* The events seen, by their number. NEW list. */
static json_t *
seen_events(const json_t *seen)
{
    size_t n = 0, i;
    AUTO_FREE json_t **events = xcalloc(json_array_size(seen) + 1, sizeof(json_t *));
    json_t *one, *list = json_array();

    json_array_foreach (seen, i, one)
        if (json_is_object(one))
            events[n++] = one;
    qsort(events, n, sizeof(*events), by_seq);
    for (i = 0; i < n; i++)
        json_array_append(list, events[i]);
    return list;
}

/* Handle events stamped by a clock that was ahead; their age is unknown. For `all` they are dropped, for
 * `not_all` their wait starts again now. */
static void
reset_ahead(const rule_t *rule, json_t *seen, int64_t us)
{
    json_t *one;
    size_t i;

    if (rule->within_us == 0)
        return;
    json_array_foreach (seen, i, one) {
        if (!json_is_object(one) || !is_ahead(rules_fire_stamp(one), rule->within_us, us))
            continue;
        json_t *now = rule->when == WHEN_NOT_ALL ? json_copy(one) : json_null();
        if (json_is_object(now))
            json_object_set_new(now, "us", json_integer(us));
        json_array_set_new(seen, i, now);
    }
}

/* Drop events that are too old to be complete within the rule's time. */
static void
age(const rule_t *rule, json_t *seen, int64_t us)
{
    json_t *one;
    size_t i;

    if (rule->within_us == 0)
        return;
    json_array_foreach (seen, i, one)
        if (json_is_object(one) && rules_fire_stamp(one) + rule->within_us < us)
            json_array_set_new(seen, i, json_null());
}

/* Feed an event to a rule with `all` or `not_all`; fires when all conditions are filled (`all`), or clears
 * the group (`not_all`: nothing is missing). */
static void
rules_fire_collect(rules_t *self, rule_t *rule, json_t *event, json_t *out)
{
    const char *tag = value_str(event, "tag", "");
    json_t *data = value_get(event, "data");
    json_auto_t *value = group_value(rule, data);
    json_t *group = rules_fire_group(rule, value), *seen = value_get(group, "seen"), *one;
    bool complete = true;
    size_t i;

    if (seen == NULL) {
        seen = json_array();
        for (i = 0; i < rule->n_conds; i++)
            json_array_append_new(seen, json_null());
        json_object_set_new(group, "seen", seen);
    }

    reset_ahead(rule, seen, rules_fire_stamp(event));
    if (rule->when == WHEN_ALL)
        age(rule, seen, rules_fire_stamp(event));
    int place = rules_fire_place(rule, seen, tag, data);
    if (place >= 0) {
        json_array_set(seen, (size_t) place, event);
        rules_fire_bound(rule, group, rules_fire_bytes(event));
    }
    if (rule->within_us > 0)
        rules_fire_wake(self, rules_fire_stamp(event) + rule->within_us);
    json_array_foreach (seen, i, one) {
        if (json_is_object(one))
            continue;
        complete = false;
        log_debug("reactor: rule '%s' still waits for an event '%s'", rule->key, rule->conds[i].tag);
    }
    if (!complete)
        return;
    if (rule->when == WHEN_ALL) {
        json_auto_t *events = seen_events(seen);
        json_auto_t *firing = rules_fire_firing(rule, group, events);
        json_object_del(group, "seen");
        throttled(self, rule, group, firing, rules_fire_stamp(event), out);
    } else {
        json_object_del(group, "seen");
    }
    if (json_object_size(group) == 1) { /* nothing but its name */
        AUTO_FREE char *key = value_dump(value);
        json_object_del(rule->groups, key);
    }
}

/* Salt's form: a file reacts once, however many entries name it. */
static void
rules_fire_plain(const rule_t *rule, const json_t *event, json_t *named, json_t *out)
{
    json_auto_t *firing = json_pack("{s:s, s:O, s:O, s:O}", "rule", "", "seq", value_get(event, "seq"), "tag",
                                    value_get(event, "tag"), "data", value_get(event, "data"));
    json_auto_t *all = json_array();
    json_t *one;
    size_t i;

    rules_fire_emit(rule, firing, all);
    json_array_foreach (all, i, one) {
        const char *file = value_str(one, "file", "");
        if (value_get(named, file) != NULL)
            continue;
        json_object_set_new(named, file, json_true());
        json_array_append(out, one);
    }
}

/* NEW list of firings, one for each file; `us` is the event's time, by which waits are counted. */
json_t *
rules_event(rules_t *self, uint64_t seq, int64_t us, const char *tag, json_t *data)
{
    json_auto_t *event = json_pack("{s:I, s:I, s:s, s:O}", "seq", (json_int_t) seq, "us", (json_int_t) us,
                                   "tag", tag, "data", data);
    json_auto_t *named = json_object();
    json_t *out = json_array();

    for (size_t i = 0; i < self->n; i++) {
        rule_t *rule = &self->rule[i];
        bool fits = false;
        for (size_t k = 0; k < rule->n_conds && !fits; k++)
            fits = cond_fits(&rule->conds[k], tag, data);
        log_trace("reactor: event %llu '%s' %s '%s'", (unsigned long long) seq, tag,
                  fits ? "is one of" : "is none of", *rule->key != '\0' ? rule->key : rule->conds[0].tag);
        if (!fits)
            continue;
        if (rule->when == WHEN_TAG)
            rules_fire_plain(rule, event, named, out);
        else if (rule->when == WHEN_ANY) {
            /* Fires a rule with `any` for each event. */
            json_auto_t *value = group_value(rule, value_get(event, "data"));
            json_auto_t *lone = json_pack("{s:O}", "value", value);
            json_auto_t *events = json_pack("[O]", event);
            json_t *group = rule->throttle != THROTTLE_NONE ? rules_fire_group(rule, value) : lone;
            json_auto_t *firing = rules_fire_firing(rule, group, events);
            throttled(self, rule, group, firing, rules_fire_stamp(event), out);
            if (rule->throttle == THROTTLE_AFTER)
                rules_fire_bound(rule, group, rules_fire_bytes(firing)); /* which has the last event twice */
        } else {
            rules_fire_collect(self, rule, event, out);
        }
    }
    if (json_array_size(out) > 0)
        log_debug("reactor: event %llu '%s' sets off %zu files", (unsigned long long) seq, tag,
                  json_array_size(out));
    return out;
}

/* ---- time ---------------------------------------------------------------------------------------------- */

/* When the first event seen will have waited long enough. 0: no wait. */
static int64_t
rules_fire_deadline(const rule_t *rule, const json_t *seen)
{
    int64_t first = 0;
    json_t *one;
    size_t i;

    json_array_foreach (seen, i, one)
        if (json_is_object(one) && (first == 0 || rules_fire_stamp(one) < first))
            first = rules_fire_stamp(one);
    return first != 0 && rule->within_us > 0 ? first + rule->within_us : 0;
}

/* The wait is over and something is missing: fires with what came, and with the tags that did not. */
static void
not_all(rules_t *self, const rule_t *rule, json_t *group, json_t *seen, int64_t us, json_t *out)
{
    json_auto_t *events = seen_events(seen);
    json_auto_t *firing = rules_fire_firing(rule, group, events);
    json_t *missing = json_array(), *one;
    size_t i;

    json_array_foreach (seen, i, one)
        if (!json_is_object(one))
            json_array_append_new(missing, json_string(rule->conds[i].tag));
    json_object_set_new(firing, "missing", missing);
    json_object_del(group, "seen");
    throttled(self, rule, group, firing, us, out);
}

/* Emit the group's due firings. False: the group is empty and can go. */
static bool
due_group(rules_t *self, rule_t *rule, json_t *group, int64_t now_us, json_t *out)
{
    json_t *seen = value_get(group, "seen");
    reset_ahead(rule, seen, now_us);
    int64_t deadline = rules_fire_deadline(rule, seen);

    if (deadline != 0 && deadline <= now_us) {
        if (rule->when == WHEN_NOT_ALL)
            not_all(self, rule, group, seen, deadline, out);
        else
            age(rule, seen, now_us + 1);
        deadline = rules_fire_deadline(rule, value_get(group, "seen"));
    }
    int64_t due = value_int(group, "due", 0), until = value_int(group, "until", 0);
    if (due != 0 && is_ahead(due, rule->throttle_us, now_us)) {
        due = now_us + rule->throttle_us;
        json_object_set_new(group, "due", json_integer(due));
    }
    if (due != 0 && due <= now_us) {
        rules_fire_emit(rule, value_get(group, "held"), out);
        json_object_del(group, "held");
        json_object_del(group, "due");
        due = 0;
    }
    until = until <= now_us || is_ahead(until, rule->throttle_us, now_us) ? 0 : until;
    const int64_t left[] = { deadline, due, until };
    for (size_t i = 0; i < NELEMS(left); i++)
        if (left[i] != 0)
            rules_fire_wake(self, left[i]);
    return deadline != 0 || due != 0 || until != 0 ||
           (rule->within_us == 0 && value_get(group, "seen") != NULL);
}

json_t *
rules_due(rules_t *self, int64_t now_us)
{
    json_t *out = json_array(), *group;
    const char *key;
    void *tmp;

    if (self->next_due == 0)
        return out;

    /* A time further ahead than the longest wait of any rule is from a clock that was wrong. */
    int64_t span = 0;
    for (size_t i = 0; i < self->n; i++) {
        span = self->rule[i].within_us > span ? self->rule[i].within_us : span;
        span = self->rule[i].throttle_us > span ? self->rule[i].throttle_us : span;
    }
    if (now_us < self->next_due && !is_ahead(self->next_due, span, now_us))
        return out;
    self->next_due = 0;
    for (size_t i = 0; i < self->n; i++)
        json_object_foreach_safe (self->rule[i].groups, tmp, key, group)
            if (!due_group(self, &self->rule[i], group, now_us, out))
                json_object_del(self->rule[i].groups, key);
    return out;
}

int64_t
rules_next_due(const rules_t *self)
{
    return self->next_due;
}

/* ---- across restarts ----------------------------------------------------------------------------------- */

json_t *
rules_state(const rules_t *self)
{
    json_t *state = json_object();

    for (size_t i = 0; i < self->n; i++)
        if (json_object_size(self->rule[i].groups) > 0)
            json_object_set_new(state, self->rule[i].key, json_deep_copy(self->rule[i].groups));
    return state;
}

/* True when a saved group fits its rule: same number of conditions, complete fields. */
static bool
is_sound(const rule_t *rule, const json_t *group)
{
    json_t *seen = value_get(group, "seen");

    return json_is_object(group) && value_get(group, "value") != NULL &&
           (seen == NULL || json_array_size(seen) == rule->n_conds) &&
           (value_get(group, "held") == NULL || value_int(group, "due", 0) > 0);
}

/* Groups of rules that still have their key; those that do not fit are forgotten. */
void
rules_restore(rules_t *self, const json_t *state)
{
    const char *key;
    json_t *group;

    for (size_t i = 0; i < self->n; i++) {
        rule_t *rule = &self->rule[i];
        json_object_foreach (value_get(state, rule->key), key, group)
            if (rule->groups != NULL && is_sound(rule, group)) {
                json_object_set_new(rule->groups, key, json_deep_copy(group));
                rule->bytes += rules_fire_bytes(group) + strlen(key);
            }
    }
    self->next_due = 1; /* look at all of it once */
}
