/* py_yaml_dump.c - Python values to YAML text. First a tree of nodes is built, in which a shared container is
 * one node; nodes that are met twice get anchors; then the writer emits it. Plain dicts are sorted, unknown
 * objects become NULL, as Salt's dumper does. Nodes count against the memory limit. */
#include <math.h>

#include "common/base/realtext.h"
#include "common/data/yaml_write.h"
#include "common/py/py_obj.h"
#include "common/py/py_peer.h"
#include "common/py/py_yaml.h"

enum {
    BASE64_LINE = 57,
    BLOCK = 16
}; /* bytes per line of base64 (76 characters); overhead of a block in the C library */

/* A node of the document, made in full before it is written, because anchors and styles depend on what
 * follows. */
typedef struct dnode {
    yaml_kind_t kind; /* of a scalar, or YAML_IS_SEQ, YAML_IS_MAP, YAML_IS_SET */
    bool flow, written;
    int visits, anchor;
    char *text; /* of a scalar */
    size_t len, room;
    bool peer;           /* from a peer */
    unsigned flags;      /* py_peer_flags() of the value */
    struct dnode **kids; /* elements; keys and values in turn */
    size_t n, cap;
} dnode_t;

/* State of a dump. */
typedef struct dumper {
    dnode_t **nodes; /* all of them */
    size_t n, cap;
    py_t *known; /* address of a value -> number of its node */
    py_yaml_flow_t flow;
    int anchors;
    yaml_writer_t *writer;
    bool peers;        /* some scalar is a peer's; the fields below are used then only */
    dnode_t **written; /* scalars in the order of their text */
    size_t n_written, cap_written;
} dumper_t;

/* ---- the tree --------------------------------------------------------------------------------- */

/* Every node is in d->nodes, which owns it, and counts for the memory limit. */
static dnode_t *
py_yaml_dump_node_new(dumper_t *d, yaml_kind_t kind)
{
    dnode_t *node = xcalloc(1, sizeof(*node));

    node->kind = kind;
    if (d->n == d->cap) {
        size_t cap = py_next_cap(d->cap, sizeof(dnode_t *));
        py_count((int64_t) ((cap - d->cap) * sizeof(dnode_t *)));
        d->cap = cap;
        d->nodes = xrealloc(d->nodes, d->cap * sizeof(dnode_t *));
    }
    d->nodes[d->n++] = node;
    py_count((int64_t) sizeof(*node) + BLOCK);
    return node;
}

static void
add_kid(dnode_t *node, dnode_t *kid)
{
    if (node->n == node->cap) {
        size_t cap = py_next_cap(node->cap, sizeof(dnode_t *));
        py_count((int64_t) ((cap - node->cap) * sizeof(dnode_t *)));
        node->cap = cap;
        node->kids = xrealloc(node->kids, node->cap * sizeof(dnode_t *));
    }
    node->kids[node->n++] = kid;
}

/* TAKES the text. */
static dnode_t *
py_yaml_dump_scalar(dumper_t *d, yaml_kind_t kind, buf_t *text)
{
    dnode_t *node = py_yaml_dump_node_new(d, kind);

    node->len = text->len;
    node->room = text->cap + BLOCK;
    py_count((int64_t) node->room);
    node->text = buf_steal(text);
    return node;
}

static dnode_t *
word(dumper_t *d, yaml_kind_t kind, const char *text)
{
    buf_auto_t copy = BUF_INIT;

    buf_puts(&copy, text);
    return py_yaml_dump_scalar(d, kind, &copy);
}

/* Notes on the node whether a peer wrote the value. */
static dnode_t *
of_peer(dumper_t *d, dnode_t *node, const py_t *v)
{
    if (py_is_peer(v)) {
        node->peer = d->peers = true;
        node->flags = py_peer_flags(v);
    }
    return node;
}

/* YAML 1.1's float needs a dot in the mantissa: 1e+16 is 1.0e+16. */
static dnode_t *
float_node(dumper_t *d, double v)
{
    buf_auto_t text = BUF_INIT, dotted = BUF_INIT;

    if (!isfinite(v))
        return word(d, YAML_IS_FLOAT, isnan(v) ? ".nan" : v > 0 ? ".inf" : "-.inf");
    realtext_add(&text, v);
    const char *e = strchr(text.data, 'e');
    if (e == NULL || strchr(text.data, '.') != NULL)
        return py_yaml_dump_scalar(d, YAML_IS_FLOAT, &text);
    buf_printf(&dotted, "%.*s.0%s", (int) (e - text.data), text.data, e);
    return py_yaml_dump_scalar(d, YAML_IS_FLOAT, &dotted);
}

/* !!binary, in base64 with PyYAML's line length. */
static dnode_t *
bytes_node(dumper_t *d, const py_t *v)
{
    static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *p = (const unsigned char *) PY_TEXT(v);
    buf_auto_t out = BUF_INIT;
    size_t len = PY_LEN(v);

    for (size_t i = 0; i < len; i += 3) {
        uint32_t group = (uint32_t) p[i] << 16 | (uint32_t) (i + 1 < len ? p[i + 1] : 0) << 8 |
                         (i + 2 < len ? p[i + 2] : 0);
        for (size_t k = 0; k < 4; k++)
            buf_putc(&out, i + k <= len ? alphabet[group >> (18 - 6 * k) & 63] : '=');
        if (i % BASE64_LINE == BASE64_LINE - 3 || i + 3 >= len)
            buf_putc(&out, '\n');
    }
    return of_peer(d, py_yaml_dump_scalar(d, YAML_IS_BINARY, &out), v);
}

/* A text with surrogates raises what encode() raises, as PyYAML's output would. */
static dnode_t *
text_node(dumper_t *d, py_t *v)
{
    buf_auto_t text = BUF_INIT;
    const char *p = PY_TEXT(v), *end = p + PY_LEN(v);
    bool surrogate = false;

    /* A lone surrogate is ED A0 or above in Python's text; UTF-8 has none. */
    while (!surrogate && (p = memchr(p, 0xed, (size_t) (end - p))) != NULL)
        surrogate = (unsigned char) *++p >= 0xa0;
    if (surrogate) {
        AUTO(py) name = py_strz("encode");
        py_unref(py_call_method(v, name, &(py_args_t){ .n = 0 }));
        return NULL;
    }
    if (py_room(PY_LEN(v)) < 0)
        return NULL;
    buf_add(&text, PY_TEXT(v), PY_LEN(v));
    return of_peer(d, py_yaml_dump_scalar(d, YAML_IS_STR, &text), v);
}

static dnode_t *represent(dumper_t *d, py_t *v);

static int
py_yaml_dump_fill_list(dumper_t *d, dnode_t *node, const py_t *v)
{
    for (size_t i = 0; i < py_seq_len(v); i++) {
        dnode_t *kid = represent(d, py_seq_at(v, i));
        if (kid == NULL)
            return -1;
        add_kid(node, kid);
    }
    return 0;
}

/* Pairs of a mapping: sorted unless it is ordered or its keys cannot be compared. NEW, or NULL raised. */
static py_t *
py_yaml_dump_pairs_of(py_t *v)
{
    AUTO(py) pairs = py_list();
    py_t *key, *value;

    for (size_t i = 0; py_dict_next(v, &i, &key, &value);)
        py_append_new(pairs, py_tuple_of(2, key, value != NULL ? value : PY_None));
    if (py_is_odict(v))
        return STEAL(pairs);
    AUTO(py) sorted = py_tolist(pairs);
    if (sorted == NULL || py_sort(sorted, NULL, false) == 0)
        return STEAL(sorted);
    if (!py_raised_is(&py_TypeError))
        return NULL;
    py_clear();
    return STEAL(pairs);
}

static int
py_yaml_dump_fill_map(dumper_t *d, dnode_t *node, py_t *v)
{
    AUTO(py) pairs = py_yaml_dump_pairs_of(v);

    for (size_t i = 0; pairs != NULL && i < py_seq_len(pairs); i++) {
        for (size_t k = 0; k < 2; k++) {
            dnode_t *kid = represent(d, py_seq_at(py_seq_at(pairs, i), k));
            if (kid == NULL)
                return -1;
            add_kid(node, kid);
        }
    }
    return pairs != NULL ? 0 : -1;
}

static bool
may_be_shared(const py_t *v)
{
    return v->type >= PY_LIST && !(py_is(v, PY_TUPLE) && py_seq_len(v) == 0);
}

static dnode_t *
scalar_node(dumper_t *d, py_t *v)
{
    switch (py_type(v)) {
    case PY_NONE:
        return word(d, YAML_IS_NULL, "null");
    case PY_BOOL:
        return word(d, YAML_IS_BOOL, v->aux != 0 ? "true" : "false");
    case PY_INT: {
        buf_auto_t text = BUF_INIT;
        return py_int_text(&text, v, 10) < 0 ? NULL : py_yaml_dump_scalar(d, YAML_IS_INT, &text);
    }
    case PY_FLOAT:
        return float_node(d, py_float_value(v));
    case PY_STR:
        return py_is_markup(v) ? word(d, YAML_IS_NULL, "NULL") : text_node(d, v);
    case PY_BYTES:
        return bytes_node(d, v);
    case PY_HOST:
        if (py_yaml_time_text(v) != NULL)
            return of_peer(d, word(d, YAML_IS_TIMESTAMP, py_cstr(py_yaml_time_text(v))),
                           py_yaml_time_text(v));
        /* fall through */
    default:
        return word(d, YAML_IS_NULL, "NULL"); /* no representer */
    }
}

/* The node is known by its address before its children are made, so that it may contain itself. */
static dnode_t *
container_node(dumper_t *d, py_t *v)
{
    bool list = py_is(v, PY_LIST) || py_is(v, PY_TUPLE), set = py_is(v, PY_SET);
    dnode_t *node = py_yaml_dump_node_new(d, list ? YAML_IS_SEQ : set ? YAML_IS_SET : YAML_IS_MAP);

    if (may_be_shared(v)) {
        AUTO(py) address = py_int((int64_t) ((uintptr_t) v >> 3));
        py_dict_set(d->known, address, py_int((int64_t) d->n - 1));
    }
    if (py_enter() < 0)
        return NULL;
    int rc = list ? py_yaml_dump_fill_list(d, node, v) : py_yaml_dump_fill_map(d, node, v);
    py_leave();

    /* As PyYAML's default_flow_style: None means flow for containers of plain scalars only. */
    bool plain = true;
    for (size_t i = 0; i < node->n; i++)
        plain = plain && node->kids[i]->kind < YAML_IS_BINARY;
    node->flow = d->flow == PY_YAML_FLOW || (d->flow == PY_YAML_AUTO && plain);

    return rc == 0 ? node : NULL;
}

/* Node of a value, an existing one for a shared value. NULL raised. */
static dnode_t *
represent(dumper_t *d, py_t *v)
{
    int64_t i;

    if (py_tick() < 0)
        return NULL;
    if (py_small(v) || v->type < PY_LIST)
        return scalar_node(d, v);
    AUTO(py) address = py_int((int64_t) ((uintptr_t) v >> 3));
    const py_t *known = may_be_shared(v) ? py_dict_get(d->known, address) : NULL;
    if (known != NULL && py_to_int64(known, &i))
        return d->nodes[i];
    bool frozen = py_is(v, PY_SET) && (v->flags & PY_F_FROZEN) != 0;
    /* PyYAML has no representer for frozensets and groups. */
    if (!frozen && !py_is_group(v) &&
        (v->type == PY_LIST || v->type == PY_TUPLE || v->type == PY_DICT || v->type == PY_SET))
        return container_node(d, v);
    dnode_t *node = scalar_node(d, v);
    py_dict_set(d->known, address, py_int((int64_t) d->n - 1));
    return node;
}

/* ---- output ----------------------------------------------------------------------------------- */

/* Numbers anchors in the order in which nodes are visited a second time, as PyYAML's serializer. */
static void
number_anchors(dumper_t *d, dnode_t *node)
{
    if (++node->visits > 1) {
        if (node->anchor == 0)
            node->anchor = ++d->anchors;
        return;
    }
    for (size_t i = 0; i < node->n; i++)
        number_anchors(d, node->kids[i]);
}

/* A shared node is written once, with an anchor, and afterwards as an alias. */
static void
write_node(dumper_t *d, dnode_t *node)
{
    char name[16];
    const char *anchor = node->anchor != 0 ? name : NULL;

    snprintf(name, sizeof(name), "id%03d", node->anchor);
    if (node->written && anchor != NULL) {
        yaml_write_alias(d->writer, anchor);
        return;
    }
    node->written = true;
    if (node->kind <= YAML_IS_BINARY) {
        /* Scalars in the order in which they are written, for marked(). */
        if (d->peers) {
            if (d->n_written == d->cap_written) {
                d->cap_written = d->cap_written * 2 + 16;
                d->written = xrealloc(d->written, d->cap_written * sizeof(*d->written));
            }
            d->written[d->n_written++] = node;
        }

        yaml_write_scalar(d->writer, anchor, node->kind, node->text, node->len);
        return;
    }
    bool list = node->kind == YAML_IS_SEQ;
    if (list)
        yaml_write_list(d->writer, anchor, node->flow);
    else
        yaml_write_map(d->writer, anchor, node->kind == YAML_IS_SET, node->flow);
    for (size_t i = 0; i < node->n; i++)
        write_node(d, node->kids[i]);
    if (list)
        yaml_write_list_end(d->writer);
    else
        yaml_write_map_end(d->writer);
}

/* NEW text with marks at peers' scalars. libyaml does not report where it writes, so the places are found by
 * scanning the text. */
static py_t *
marked(const dumper_t *d, buf_t *text)
{
    yaml_place_t *places = xcalloc(d->n_written + 1, sizeof(*places));
    spans_t spans = { .v = NULL };

    if (yaml_places(buf_str(text), text->len, places, d->n_written) < 0) {
        spans_add(&spans, 0, text->len, 0);
    } else {
        for (size_t i = 0; i < d->n_written; i++)
            if (d->written[i]->peer)
                spans_add(&spans, places[i].from, places[i].to, d->written[i]->flags);
    }
    py_t *v = py_str_spans(buf_str(text), text->len, &spans);
    spans_free(&spans);
    free(places);
    return v;
}

py_t *
py_yaml_dump(py_t *v, py_yaml_flow_t flow, const yaml_layout_t *layout)
{
    dumper_t d = { .known = py_dict(), .flow = flow };
    buf_auto_t out = BUF_INIT;
    dnode_t *root = represent(&d, v);

    if (root != NULL) {
        number_anchors(&d, root);
        d.writer = yaml_writer_new(&out, layout);
        write_node(&d, root);
        yaml_writer_destroy(&d.writer);
    }
    py_t *text = root == NULL ? NULL : d.peers ? marked(&d, &out) : py_str_buf(&out);

    /* Frees all nodes and gives back what they counted. */
    for (size_t i = 0; i < d.n; i++) {
        py_count(-(int64_t) (d.nodes[i]->room + d.nodes[i]->cap * sizeof(dnode_t *)));
        free(d.nodes[i]->text);
        free(d.nodes[i]->kids);
        free(d.nodes[i]);
    }
    py_count(-(int64_t) (d.n * (sizeof(dnode_t) + BLOCK) + d.cap * sizeof(dnode_t *)));
    free(d.nodes);
    free(d.written);
    py_unref(d.known);

    return text;
}
