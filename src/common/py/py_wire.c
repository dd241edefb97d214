/* py_wire.c - values to JSON and back without loss, by the tags in py_wire.h.
 *
 * Plain JSON stays plain; only values that JSON lacks get a tag. Marks of peers' data travel as a "peer" tag
 * per text, or as one around a container when all of its texts are a peer's. Reading is linear: the content
 * of a tag is converted once, whether or not the tag turns out to be valid. */
#include "common/py/py_wire.h"

#include <math.h>

#include "common/base/base64.h"
#include "common/base/str.h"
#include "common/data/yaml_scalar.h"
#include "common/py/py_json.h"
#include "common/py/py_obj.h"
#include "common/py/py_peer.h"
#include "salt/limits.h"
#include "salt/value.h"

#define TAG "$py"

/* ---- out ----------------------------------------------------------------------------------------------- */

static json_t *
tagged(const char *kind, json_t *content)
{
    json_auto_t *inside = content;

    return inside != NULL && py_json_count(inside, 0) == 0 ? json_pack("{s:[s, O]}", TAG, kind, inside)
                                                           : NULL;
}

/* Wraps a text, already JSON, with its peers' spans. TAKES `text`. */
static json_t *
wire_of_said(json_t *text, const spans_t *spans, size_t len)
{
    json_t *content = json_pack("[o]", text);
    bool all = spans->n == 1 && spans->v[0].from == 0 && spans->v[0].to == len && spans->v[0].flags == 0;

    for (size_t i = 0; content != NULL && !all && i < spans->n; i++) {
        json_array_append_new(content, json_integer((json_int_t) spans->v[i].from));
        json_array_append_new(content, json_integer((json_int_t) spans->v[i].to));
        json_array_append_new(content, json_integer((json_int_t) spans->v[i].flags));
    }
    return tagged("peer", content);
}

/* Spans of a text that travel with it; SPAN_OWN ones are dropped, as a machine's own words are no danger to
 * it. */
static void
foreign_spans(const py_t *v, spans_t *ret)
{
    spans_auto_t all = SPANS_INIT;

    if (!py_is_peer(v))
        return;
    py_peer_spans(v, &all);
    for (size_t i = 0; i < all.n; i++)
        if ((all.v[i].flags & SPAN_OWN) == 0)
            spans_add(ret, all.v[i].from, all.v[i].to, all.v[i].flags & SPAN_QUOTED);
}

/* True if a dict can be a JSON object: text keys without NUL, none that looks like a tag and, with `marks`,
 * none that a peer wrote. */
static bool
py_wire_is_plain(const py_t *dict, bool marks)
{
    py_t *key, *value;

    for (size_t i = 0; py_dict_next(dict, &i, &key, &value);)
        if (!py_is(key, PY_STR) || strlen(PY_TEXT(key)) != PY_LEN(key) || py_str_is(key, TAG) ||
            (marks && py_is_peer(key) && (py_peer_flags(key) & SPAN_OWN) == 0))
            return false;
    return true;
}

/* The dict as a JSON object. NEW, or NULL with an exception raised. */
static json_t *
wire_of_plain(const py_t *dict, py_json_fn *convert)
{
    json_auto_t *object = json_object();
    py_t *key, *value;

    for (size_t i = 0; py_dict_next(dict, &i, &key, &value);) {
        json_auto_t *name = py_to_json(key);
        json_auto_t *member = convert(value);
        if (member == NULL || py_json_count(member, json_string_length(name)) < 0)
            return NULL;
        json_object_set_nocheck(object, json_string_value(name), member);
    }
    return STEAL(object);
}

/* Any other dict: a tagged array of [key, value]. NEW, or NULL with an exception raised. */
static json_t *
wire_of_pairs(const py_t *dict, py_json_fn *convert)
{
    json_auto_t *pairs = json_array();
    py_t *key, *value;

    for (size_t i = 0; py_dict_next(dict, &i, &key, &value);) {
        json_auto_t *k = convert(key);
        json_auto_t *v = k != NULL ? convert(value) : NULL;
        if (v == NULL || py_json_count(k, 0) < 0 || py_json_count(v, 0) < 0)
            return NULL;
        json_array_append_new(pairs, json_pack("[O, O]", k, v));
    }
    return tagged("dict", STEAL(pairs));
}

static json_t *to_wire_marked(py_t *v);

/* A list is an array; tuples and sets are tagged. */
static json_t *
wire_of_items(py_t *v, py_json_fn *convert)
{
    json_t *items = py_json_items(v, convert);

    if (py_is(v, PY_TUPLE))
        return tagged("tuple", items);
    if (py_is(v, PY_SET))
        return tagged((v->flags & PY_F_FROZEN) != 0 ? "frozenset" : "set", items);
    return items;
}

static json_t *
wire_of_container(py_t *v)
{
    if (!py_is(v, PY_DICT))
        return wire_of_items(v, py_to_wire);
    return py_wire_is_plain(v, false) ? wire_of_plain(v, py_to_wire) : wire_of_pairs(v, py_to_wire);
}

/* Bounded search of a value that may contain itself. */
typedef struct look {
    size_t texts, left; /* found so far; values left to visit */
    int depth;
} look_t;

static bool is_said(look_t *l, const py_t *v);

/* True when all texts in `v` are other machines' from end to end. */
static bool
is_said(look_t *l, const py_t *v)
{
    if (py_is(v, PY_STR)) {
        spans_auto_t spans = SPANS_INIT;

        if (PY_LEN(v) == 0)
            return true;
        l->texts++;
        foreign_spans(v, &spans);
        return spans.n == 1 && spans.v[0].from == 0 && spans.v[0].to == PY_LEN(v) && spans.v[0].flags == 0;
    }
    if (!py_is(v, PY_LIST) && !py_is(v, PY_DICT))
        return py_wire_plain(v);
    if (l->left == 0 || l->depth == LIMIT_PY_DEPTH)
        return false;
    l->left--;
    l->depth++;

    /* Looks at items, or at keys and values, up to the first that a peer did not write. */
    py_t *key, *value;
    bool all = true;

    for (size_t i = 0; all && py_is(v, PY_LIST) && i < py_seq_len(v); i++)
        all = is_said(l, py_seq_at(v, i));
    for (size_t i = 0; all && py_is(v, PY_DICT) && py_dict_next(v, &i, &key, &value);)
        all = is_said(l, key) && is_said(l, value);

    l->depth--;
    return all;
}

/* A container wholly of a peer gets a single tag; otherwise each text has its own. */
static json_t *
marked_container(py_t *v)
{
    look_t l = { .left = LIMIT_PEER_WIRE };
    if ((py_is(v, PY_LIST) || py_is(v, PY_DICT)) && is_said(&l, v) && l.texts > 0) {
        /* A single tag around the container: a tag for each key would nest too deep for a message. */
        json_t *inside = wire_of_container(v);
        return inside != NULL ? tagged("peer", json_pack("[o]", inside)) : NULL;
    }

    if (!py_is(v, PY_DICT))
        return wire_of_items(v, to_wire_marked);
    return py_wire_is_plain(v, true) ? wire_of_plain(v, to_wire_marked) : wire_of_pairs(v, to_wire_marked);
}

static json_t *
py_wire_of(py_t *v, py_json_fn *container)
{
    int64_t n;
    double d;

    switch (py_type(v)) {
    case PY_INT: /* a larger one is tagged, with its digits */
        return py_to_int64(v, &n) ? json_integer(n) : tagged("int", py_to_json(v));
    case PY_FLOAT: /* JSON has no nan or infinity, so these are tagged */
        d = py_float_value(v);
        if (isfinite(d))
            return json_real(d);
        return tagged("float", json_string(isnan(d) ? "nan" : d > 0 ? "inf" : "-inf"));
    case PY_BYTES: {
        AUTO_FREE char *text = base64_encode(PY_TEXT(v), PY_LEN(v), 0);
        return tagged("bytes", json_string(text));
    }
    case PY_LIST:
    case PY_TUPLE:
    case PY_SET:
    case PY_DICT:
        return py_json_within(v, container);
    case PY_UNDEFINED:
        return json_null();
    default:
        return py_to_json(v);
    }
}

/* Like to_wire, with tags that tell what peers wrote. */
static json_t *
to_wire_marked(py_t *v)
{
    spans_auto_t spans = SPANS_INIT;
    json_t *wire = py_wire_of(v, marked_container);

    foreign_spans(v, &spans);
    return wire != NULL && spans.n > 0 ? wire_of_said(wire, &spans, PY_LEN(v)) : wire;
}

json_t *
py_to_wire(py_t *v)
{
    return py_wire_of(v, wire_of_container);
}

/* Keys of the outermost dict stay plain: the receiver finds them by text. */
static json_t *
marked_members(py_t *v)
{
    return py_wire_is_plain(v, false) ? wire_of_plain(v, to_wire_marked) : wire_of_pairs(v, to_wire_marked);
}

json_t *
py_to_wire_peer(py_t *v)
{
    if (!py_state.peers)
        return py_to_wire(v);
    return py_is(v, PY_DICT) ? py_json_within(v, marked_members) : to_wire_marked(v);
}

/* True if the value goes over the wire as plain JSON, without a tag. */
bool
py_wire_plain(const py_t *v)
{
    py_t *key, *value;
    int64_t n;

    switch (py_type(v)) {
    case PY_INT:
        return py_to_int64(v, &n);
    case PY_FLOAT:
        return isfinite(py_float_value(v));
    case PY_LIST:
        for (size_t i = 0; i < py_seq_len(v); i++)
            if (!py_wire_plain(py_seq_at(v, i)))
                return false;
        return true;
    case PY_DICT:
        if (!py_wire_is_plain(v, false))
            return false;
        for (size_t i = 0; py_dict_next(v, &i, &key, &value);)
            if (!py_wire_plain(value))
                return false;
        return true;
    case PY_BYTES:
    case PY_TUPLE:
    case PY_SET:
        return false;
    default:
        return true;
    }
}

/* ---- in ------------------------------------------------------------------------------------------------ */

/* `said`: a tag around `v` marks all of it. */
static py_t *from_wire(const json_t *v, bool said);

static py_t *
from_items(const json_t *items, bool said)
{
    py_t *list = py_list();
    json_t *element;
    size_t i;

    json_array_foreach (items, i, element)
        py_append_new(list, from_wire(element, said));
    return list;
}

/* NULL, without an exception, if the content is not as wire_of_pairs() writes it. */
static py_t *
from_pairs(py_t *pairs)
{
    AUTO(py) dict = py_dict();

    for (size_t i = 0; i < py_seq_len(pairs); i++) {
        py_t *pair = py_seq_at(pairs, i);
        if (!py_is(pair, PY_LIST) || py_seq_len(pair) != 2 ||
            py_dict_set(dict, py_seq_at(pair, 0), py_seq_at(pair, 1)) < 0)
            return NULL;
    }
    return STEAL(dict);
}

static py_t *
from_set(py_t *items)
{
    return py_toset(items, false);
}

static py_t *
from_frozenset(py_t *items)
{
    return py_toset(items, true);
}

static py_t *
from_digits(py_t *text)
{
    return py_int_digits(PY_TEXT(text), PY_LEN(text));
}

static py_t *
from_float(py_t *text)
{
    if (py_str_is(text, "nan"))
        return py_float(NAN);
    return py_str_is(text, "inf") ? py_float(INFINITY) : py_str_is(text, "-inf") ? py_float(-INFINITY) : NULL;
}

/* NULL if it is not base64. */
static py_t *
from_bytes(py_t *text)
{
    size_t len = 0;
    AUTO_FREE char *why = NULL;
    AUTO_FREE char *bytes = yaml_from_base64(PY_TEXT(text), PY_LEN(text), &len, &why);

    return bytes != NULL ? py_bytes(bytes, len) : NULL;
}

/* Content of a "peer" tag, [text, from, to, flags, ...]; without places all of it is a peer's, and may be a
 * list or dict. NEW, or NULL. */
static py_t *
from_peer(py_t *content)
{
    py_t *text = py_seq_len(content) > 0 ? py_seq_at(content, 0) : NULL;
    spans_auto_t spans = SPANS_INIT;
    int64_t from, to, flags;

    if (text != NULL && py_seq_len(content) == 1 && (py_is(text, PY_LIST) || py_is(text, PY_DICT)))
        return py_peer(py_ref(text), 0);
    if (text == NULL || (!py_is(text, PY_STR) && !py_is(text, PY_BYTES)) || py_seq_len(content) % 3 != 1)
        return NULL;
    for (size_t i = 1; i < py_seq_len(content); i += 3) {
        if (!py_to_int64(py_seq_at(content, i), &from) || !py_to_int64(py_seq_at(content, i + 1), &to) ||
            !py_to_int64(py_seq_at(content, i + 2), &flags))
            return NULL;
        int64_t least = spans.n > 0 ? (int64_t) spans.v[spans.n - 1].to : 0;
        if (from < least || to <= from || to > (int64_t) PY_LEN(text))
            return NULL;
        spans_add(&spans, (size_t) from, (size_t) to, (unsigned) flags & SPAN_QUOTED);
    }
    if (py_is(text, PY_STR) && spans.n > 0)
        return py_str_spans(PY_TEXT(text), PY_LEN(text), &spans);
    return py_peer(py_ref(text), 0);
}

/* The same within a tag that marks everything: the mark is set once, by the outer tag. */
static py_t *
from_said(py_t *content)
{
    py_t *v = py_seq_len(content) > 0 ? py_seq_at(content, 0) : NULL;

    return v != NULL && (py_is(v, PY_LIST) || py_is(v, PY_DICT) || py_is(v, PY_STR) || py_is(v, PY_BYTES))
               ? py_ref(v)
               : NULL;
}

/* Tagged values, by the name in the tag. */
static const struct kind {
    const char *name;
    py_type_t of;               /* type that the content must have */
    py_t *(*fn)(py_t *content); /* NEW, or NULL for what is no such thing */
} kinds[] = {
    { "dict", PY_LIST, from_pairs },
    { "tuple", PY_LIST, py_totuple },
    { "set", PY_LIST, from_set },
    { "int", PY_STR, from_digits },
    { "frozenset", PY_LIST, from_frozenset },
    { "float", PY_STR, from_float },
    { "bytes", PY_STR, from_bytes },
    { "peer", PY_LIST, from_peer },
};

/* Row of a tag, or NULL. */
static const struct kind *
py_wire_kind_of(const json_t *tag)
{
    const char *name = json_array_size(tag) == 2 ? json_string_value(json_array_get(tag, 0)) : NULL;

    for (size_t i = 0; name != NULL && i < NELEMS(kinds); i++)
        if (str_eq(name, kinds[i].name))
            return &kinds[i];
    return NULL;
}

/* Recursion is as deep as the parser of `v` allowed. */
static py_t *
from_wire(const json_t *v, bool said)
{
    if (json_is_object(v)) {
        /* An object whose only key is the tag, with a kind that is known, is a tagged value; others are
         * dicts. */
        json_t *object = (json_t *) v; /* for jansson's iterator; nothing is changed */
        const json_t *tag = json_object_size(v) == 1 ? json_object_get(v, TAG) : NULL;
        const struct kind *kind = py_wire_kind_of(tag);
        if (kind != NULL) {
            /* Converts the content once, whether or not the tag is valid; otherwise a peer could make each
             * level double the work of the one inside. */
            bool marks = kind->fn == from_peer;
            AUTO(py) content = from_wire(json_array_get(tag, 1), said || marks);
            py_t *out = py_is(content, kind->of) ? (marks && said ? from_said(content) : kind->fn(content))
                                                 : NULL;
            if (out != NULL)
                return out;
            py_clear();
            if (marks && !said)
                content = py_peer(content, 0); /* for the tags in it */
            AUTO(py) key = py_str(TAG, strlen(TAG));
            AUTO(py) list = py_list();
            py_append_new(list, py_str(kind->name, strlen(kind->name)));
            py_append_new(list, py_ref(content));
            out = py_dict();
            (void) py_dict_set(out, key, list);
            return out;
        }
        py_t *dict = py_dict();
        for (void *it = json_object_iter(object); it != NULL; it = json_object_iter_next(object, it)) {
            AUTO(py) key = py_str(json_object_iter_key(it), json_object_iter_key_len(it));
            AUTO(py) value = from_wire(json_object_iter_value(it), said);
            (void) py_dict_set(dict, key, value);
        }
        return dict;
    }
    return json_is_array(v) ? from_items(v, said) : py_from_json(v);
}

py_t *
py_from_wire(const json_t *v)
{
    return from_wire(v, false);
}
