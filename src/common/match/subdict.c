/* subdict.c - salt.utils.data.subdict_match: "os:Deb*", "roles:web", "a:b:c", "a:*:c" against grains or
 * pillar.
 *
 * An expression may be cut in several places: "a:b:c" is the value of a:b, or "b:c" as a value of a. Every
 * text that can come to stand for a value is a suffix that starts behind a delimiter, so all of them are
 * compiled once and matching does not allocate for texts, numbers and booleans. */
#include <ctype.h>

#include "common/base/str.h"
#include "common/match/match.h"
#include "common/match/patterns.h"
#include "common/match/regex.h"
#include "salt/limits.h"
#include "salt/value.h"

/* Salt cuts at the user's delimiter on the first level and always at ":" below a nested object. */
enum { CUT_USER, CUT_COLON, CUTS };

typedef struct suffix {
    size_t start;   /* in expr */
    bool cut[CUTS]; /* it starts after a delimiter of that kind */
    wild_t *wild;
    rx_t *rx; /* NULL for a suffix that is not a regular expression: it matches nothing, as in Salt */
} suffix_t;

struct subdict {
    char *expr;
    subdict_how_t how;
    size_t sep_len[CUTS];
    suffix_t *suffixes; /* by start; the first is the whole expression */
    size_t n;
};

/* Budget of one evaluation: wildcards over nested objects multiply. */
typedef struct walk {
    const subdict_t *self;
    unsigned steps;
    match_work_t *work; /* of the whole question; may be NULL */
} walk_t;

/* ---- compiling ------------------------------------------------------------------------------- */

/* The suffix that starts at this offset, inserted in order when new. `suffixes` has room for all cuts. */
static suffix_t *
suffix_at(subdict_t *self, size_t start)
{
    size_t i = 0;

    while (i < self->n && self->suffixes[i].start < start)
        i++;
    if (i == self->n || self->suffixes[i].start != start) {
        memmove(self->suffixes + i + 1, self->suffixes + i, (self->n - i) * sizeof(*self->suffixes));
        memset(&self->suffixes[i], 0, sizeof(*self->suffixes));
        self->suffixes[i].start = start;
        self->n++;
    }
    return &self->suffixes[i];
}

static size_t
subdict_count(const char *text, const char *sep)
{
    size_t n = 0;

    for (const char *at = strstr(text, sep); at != NULL; at = strstr(at + strlen(sep), sep))
        n++;
    return n;
}

/* Notes every place behind a delimiter of the kind. */
static void
subdict_cut(subdict_t *self, const char *sep, int kind)
{
    self->sep_len[kind] = strlen(sep);
    for (const char *at = strstr(self->expr, sep); at != NULL; at = strstr(at, sep)) {
        at += strlen(sep);
        suffix_at(self, (size_t) (at - self->expr))->cut[kind] = true;
    }
}

/* Compiles every suffix, ignoring case. Salt lowers pattern and value; PCRE2's caseless mode does not turn
 * \S, \D and \W into their opposites. Fails only when no proper suffix compiles, since any of them may become
 * the value's pattern. */
static int
subdict_compile(subdict_t *self, bool counted, fail_t *err)
{
    fail_auto_t first = FAIL_INIT;
    unsigned flags = RX_IGNORECASE | RX_MATCH | (counted ? RX_COUNTED : 0);
    bool usable = false;

    for (size_t i = 0; i < self->n; i++) {
        const char *text = self->expr + self->suffixes[i].start;
        if (self->how == SUBDICT_GLOB)
            self->suffixes[i].wild = wild_new(text, true);
        if (self->how == SUBDICT_REGEX)
            self->suffixes[i].rx = rx_new(text, flags, i > 0 ? &first : NULL);
        if (i > 0 && (self->how != SUBDICT_REGEX || self->suffixes[i].rx != NULL))
            usable = true;
    }
    return usable ? 0 : fail_set(err, -EINVAL, "%s", fail_text(&first));
}

subdict_t *
subdict_new(const char *expr, const char *delim, subdict_how_t how, bool counted, fail_t *err)
{
    size_t cuts = subdict_count(expr, delim) + subdict_count(expr, ":");

    if (strstr(expr, delim) == NULL || cuts > LIMIT_TARGET_DEPTH) {
        if (cuts > LIMIT_TARGET_DEPTH)
            fail_set(err, -E2BIG, "\"%.100s...\" has more than %d parts", expr, LIMIT_TARGET_DEPTH);
        else
            fail_set(err, -EINVAL, "\"%.200s\" has no \"%s\": expected KEY%sVALUE", expr, delim, delim);
        return NULL;
    }
    subdict_t *self = xcalloc(1, sizeof(*self));
    self->expr = xstrdup(expr);
    self->how = how;
    self->suffixes = xcalloc(cuts + 1, sizeof(*self->suffixes));
    suffix_at(self, 0);
    subdict_cut(self, delim, CUT_USER);
    subdict_cut(self, ":", CUT_COLON);
    if (subdict_compile(self, counted, err) < 0)
        subdict_destroy(&self);
    return self;
}

void
subdict_exact(subdict_t *self)
{
    self->how = SUBDICT_EXACT;
}

void
subdict_destroy(subdict_t **self_p)
{
    subdict_t *self = *self_p;

    if (self == NULL)
        return;
    for (size_t i = 0; i < self->n; i++) {
        wild_destroy(&self->suffixes[i].wild);
        rx_destroy(&self->suffixes[i].rx);
    }
    free(self->suffixes);
    free(self->expr);
    free(self);
    *self_p = NULL;
}

bool
subdict_is_of(const subdict_t *self, const char *key)
{
    size_t len = strlen(key);

    return str_starts(self->expr, key) && self->n > 1 && self->suffixes[1].cut[CUT_USER] &&
           self->suffixes[1].start == len + self->sep_len[CUT_USER];
}

size_t
subdict_size(const subdict_t *self)
{
    size_t size = 0;

    for (size_t i = 0; i < self->n; i++)
        size += self->suffixes[i].rx != NULL ? rx_size(self->suffixes[i].rx) : 0;
    return size;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* Bytes of a value's text compared in the time of one step. */
#define BYTES_PER_STEP 64

static bool
text_matches(const walk_t *walk, const suffix_t *suffix, const char *text, size_t len)
{
    const subdict_t *self = walk->self;

    if (!match_work_take(walk->work, 1 + len / BYTES_PER_STEP))
        return false;
    if (self->how == SUBDICT_GLOB)
        return wild_match_within(suffix->wild, text, len, walk->work);
    if (self->how == SUBDICT_REGEX)
        return suffix->rx != NULL && rx_match_within(suffix->rx, text, len, walk->work);
    return match_same_folded(text, self->expr + suffix->start);
}

/* Compares Python's str(value) with the suffix. */
static bool
value_matches(const walk_t *walk, const suffix_t *suffix, const json_t *value)
{
    char number[24] = "";
    const char *text = number;

    switch (json_typeof(value)) {
    case JSON_STRING:
        return text_matches(walk, suffix, json_string_value(value), json_string_length(value));
    case JSON_INTEGER:
        snprintf(number, sizeof(number), "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        break;
    case JSON_TRUE:
        text = "True";
        break;
    case JSON_FALSE:
        text = "False";
        break;
    case JSON_NULL:
        text = "None";
        break;
    case JSON_REAL:
    case JSON_OBJECT:
    case JSON_ARRAY: {
        AUTO_FREE char *printed = value_pystr(value);
        return text_matches(walk, suffix, printed, strlen(printed));
    }
    }
    return text_matches(walk, suffix, text, strlen(text));
}

/* ---- walking --------------------------------------------------------------------------------- */

/* List members searched for a key in the time of one step. */
#define ITEMS_PER_STEP 16

/* Index of the suffix after the next delimiter of the kind, or `n`. */
static size_t
next_cut(const subdict_t *self, size_t from, int kind)
{
    size_t i = from + 1;

    while (i < self->n && !self->suffixes[i].cut[kind])
        i++;
    return i;
}

/* Index into a list from a key, negative ones from the end, as Python's int() and indexing. */
static bool
key_index(const char *key, size_t len, size_t size, size_t *ret_index)
{
    char text[24];
    long long index;

    if (len >= sizeof(text))
        return false;
    memcpy(text, key, len);
    text[len] = '\0';
    if (!str_to_int(text, -(long long) size, (long long) size - 1, &index))
        return false;
    *ret_index = (size_t) (index < 0 ? index + (long long) size : index);
    return true;
}

/* Goes one level down: an object's key; of a list, the key in the first member that has it, else an index. */
static json_t *
subdict_step(const json_t *at, const char *key, size_t len)
{
    size_t i;
    json_t *item;

    if (json_is_object(at))
        return json_object_getn(at, key, len);
    json_array_foreach (at, i, item) {
        json_t *found = json_object_getn(item, key, len);
        if (found != NULL)
            return found;
    }
    return key_index(key, len, json_array_size(at), &i) ? json_array_get(at, i) : NULL;
}

/* salt.utils.data.traverse_dict_and_list along the parts between two suffixes. BORROWED value, or NULL. */
static const json_t *
subdict_traverse(const walk_t *walk, const json_t *data, size_t from, size_t to, int kind)
{
    const subdict_t *self = walk->self;

    while (data != NULL && from != to) {
        size_t next = next_cut(self, from, kind);
        size_t start = self->suffixes[from].start;
        if (!match_work_take(walk->work, 1 + json_array_size(data) / ITEMS_PER_STEP))
            return NULL;
        data = subdict_step(data, self->expr + start,
                            self->suffixes[next].start - self->sep_len[kind] - start);
        from = next;
    }
    return data;
}

/* Charges one value to the walk and the question. False when either budget is used up. */
static bool
subdict_spend(walk_t *walk)
{
    if (walk->steps == 0 || !match_work_take(walk->work, 1))
        return false;
    walk->steps--;
    return true;
}

static bool match_from(walk_t *walk, const json_t *data, size_t from, int kind);

/* True when a member of the list is the value. */
static bool
member_matches(walk_t *walk, size_t at, const json_t *list)
{
    size_t i;
    json_t *item;

    json_array_foreach (list, i, item) {
        if (!subdict_spend(walk))
            return false;
        if (value_matches(walk, &walk->self->suffixes[at], item))
            return true;
    }
    return false;
}

/* True when the pattern matches a key of the object. */
static bool
key_matches(walk_t *walk, size_t at, const json_t *object)
{
    const char *key;
    json_t *value;

    if (walk->self->how == SUBDICT_EXACT)
        return false;
    json_object_foreach ((json_t *) object, key, value) {
        if (!subdict_spend(walk))
            return false;
        if (text_matches(walk, &walk->self->suffixes[at], key, strlen(key)))
            return true;
    }
    return false;
}

/* Matches an object against the suffix `at`: a key that fits, a match inside of it, or after "*:" one
 * level deeper. Mirrors subdict_match's _dict_match. */
static bool
object_matches(walk_t *walk, const json_t *object, size_t at)
{
    const subdict_t *self = walk->self;
    const char *text = self->expr + self->suffixes[at].start;
    bool deeper = str_starts(text, "*:");

    if (!subdict_spend(walk))
        return false;
    if (deeper) {
        at = next_cut(self, at, CUT_COLON);
        text += 2;
    }
    if (str_eq(text, "*") || json_object_get(object, text) != NULL ||
        match_from(walk, object, at, CUT_COLON) || key_matches(walk, at, object))
        return true;
    if (!deeper)
        return false;
    const char *key;
    json_t *value;
    json_object_foreach ((json_t *) object, key, value) {
        if (!subdict_spend(walk))
            return false;
        if (json_is_object(value)  ? object_matches(walk, value, at)
            : json_is_array(value) ? member_matches(walk, at, value)
                                   : value_matches(walk, &self->suffixes[at], value))
            return true;
    }
    return false;
}

/* True when a member of the list is the value, or an object that matches. */
static bool
subdict_list_matches(walk_t *walk, const json_t *list, size_t at)
{
    size_t i;
    json_t *item;

    json_array_foreach (list, i, item) {
        if (!subdict_spend(walk))
            return false;
        if (json_is_object(item) && object_matches(walk, item, at))
            return true;
        if (value_matches(walk, &walk->self->suffixes[at], item))
            return true;
    }
    return false;
}

/* Tries one cut: the parts from `from` to `at` are the key, the rest is the pattern for its value. */
static bool
match_cut(walk_t *walk, const json_t *data, size_t from, size_t at, int kind)
{
    const subdict_t *self = walk->self;
    size_t start = self->suffixes[from].start;
    size_t key_len = self->suffixes[at].start - self->sep_len[kind] - start;
    const json_t *value = data;

    if (key_len == 1 && self->expr[start] == '*')
        at = from; /* everything under the top level */
    else
        value = subdict_traverse(walk, data, from, at, kind);
    if (value == NULL)
        return false;
    if (json_is_object(value))
        return json_object_size(value) > 0 && object_matches(walk, value, at);
    if (json_is_array(value))
        return subdict_list_matches(walk, value, at);
    return value_matches(walk, &self->suffixes[at], value);
}

/* Tries every cut of the kind, the longest key first, as Salt does. */
static bool
match_from(walk_t *walk, const json_t *data, size_t from, int kind)
{
    const subdict_t *self = walk->self;

    for (size_t at = self->n; at-- > from + 1;) {
        if (self->suffixes[at].cut[kind] && match_cut(walk, data, from, at, kind))
            return true;
    }
    return false;
}

bool
subdict_match(const subdict_t *self, const json_t *data, match_work_t *work)
{
    walk_t walk = { self, LIMIT_MATCH_STEPS, work };

    return data != NULL && match_from(&walk, data, 0, CUT_USER);
}

bool
match_subdict(const json_t *data, const char *expr, const char *delim, bool regex, bool exact)
{
    subdict_how_t how = regex ? SUBDICT_REGEX : exact ? SUBDICT_EXACT : SUBDICT_GLOB;
    subdict_t *self = subdict_new(expr, delim != NULL ? delim : ":", how, false, NULL);

    if (self == NULL)
        return false;
    bool matched = subdict_match(self, data, NULL);
    subdict_destroy(&self);
    return matched;
}
