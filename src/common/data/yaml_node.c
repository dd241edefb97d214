/* yaml_node.c - composes libyaml's events to a tree, with PyYAML's tags and Salt's merge keys.
 *
 * Nodes, texts and arrays live in chunks that belong to the document and are freed together. libyaml detects
 * syntax errors; limits of nodes and depth, aliases, anchors and merge keys are handled here. After the tree
 * is complete, merge keys are resolved in the order in which their mappings ended, so inner ones come first.
 */
#include "common/data/yaml_node.h"

#include "common/base/buf.h"
#include "common/base/map.h"
#include "common/data/yaml_span_int.h"
#include "salt/limits.h"

enum { CHUNK = 8192 };

typedef struct chunk {
    struct chunk *next;
    size_t used, size;
    max_align_t bytes[];
} chunk_t;

struct ydoc {
    chunk_t *chunks;
    bool refused; /* the thread's meter had no room for one of them */
    ynode_t *root;
};

typedef struct composer {
    yaml_parser_t parser;
    yproblem_t *problem;
    ydoc_t *doc;
    map_t *anchors;
    ynode_t **merging; /* mappings with a merge key, inner ones first */
    size_t n_merging, cap_merging;
    size_t nodes, max_nodes;
    bool graph; /* cycles are fine */
    yaml_said_t said;
} composer_t;

/* Memory that lives as long as the document, aligned for any type. The thread's meter (buf_meter) is asked
 * for each chunk; a refusal is recorded and reported by yaml_node_count(), since the callers of arena()
 * cannot fail. */
static void *
arena(ydoc_t *doc, size_t size)
{
    chunk_t *c = doc->chunks;

    size = (size + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
    if (c == NULL || c->size - c->used < size) {
        size_t room = size > CHUNK ? size : CHUNK;
        size_t wanted = sizeof(*c) + room;
        doc->refused |= buf_meter.grant != NULL && !buf_meter.grant(wanted, &wanted);
        buf_meter.held += (int64_t) (sizeof(*c) + room);
        c = xrealloc(NULL, sizeof(*c) + room);
        c->used = 0;
        c->size = room;
        c->next = doc->chunks;
        doc->chunks = c;
    }
    void *p = (char *) c->bytes + c->used;
    c->used += size;
    return p;
}

static const char *
arena_text(ydoc_t *doc, const void *bytes, size_t len)
{
    char *p = arena(doc, len + 1);

    memcpy(p, bytes, len);
    p[len] = '\0';
    return p;
}

/* Room for one more element in an arena array that doubles at each power of two. */
static void *
arena_grow(ydoc_t *doc, void *old, size_t n, size_t size)
{
    if (n != 0 && (n < 4 || (n & (n - 1)) != 0))
        return old;
    void *p = arena(doc, (n == 0 ? 4 : n * 2) * size);
    if (n > 0)
        memcpy(p, old, n * size);
    return p;
}

void
ydoc_destroy(ydoc_t **self_p)
{
    ydoc_t *self = *self_p;

    if (self == NULL)
        return;
    for (chunk_t *c = self->chunks, *next; c != NULL; c = next) {
        next = c->next;
        buf_meter.held -= (int64_t) (sizeof(*c) + c->size);
        free(c);
    }
    free(self);
    *self_p = NULL;
}

ynode_t *
ydoc_root(const ydoc_t *self)
{
    return self->root;
}

const char *
ynode_shape_name(const ynode_t *node)
{
    static const char *const names[] = { [YSCALAR] = "scalar", [YSEQ] = "sequence", [YMAP] = "mapping" };

    return names[node->shape];
}

static ymark_t
yaml_node_mark_of(yaml_mark_t m)
{
    return (ymark_t){ (int) m.line, (int) m.column };
}

/* Line and column of a byte offset: libyaml's reader reports no mark for undecodable input. */
static ymark_t
mark_of_offset(const char *text, size_t len, size_t offset)
{
    ymark_t m = { 0, 0 };

    for (size_t i = 0; i < offset && i < len; i++) {
        if (text[i] == '\n')
            m = (ymark_t){ m.line + 1, 0 };
        else if (((unsigned char) text[i] & 0xc0) != 0x80)
            m.column++;
    }
    return m;
}

static const struct {
    yclass_t cls;
    const char *fallback;
} libyaml_errors[] = {
    [YAML_NO_ERROR] = { YAML_READER, "unreadable" },
    [YAML_MEMORY_ERROR] = { YAML_LIMIT, "out of memory" },
    [YAML_READER_ERROR] = { YAML_READER, "unreadable" },
    [YAML_SCANNER_ERROR] = { YAML_SCANNER, "not YAML" },
    [YAML_PARSER_ERROR] = { YAML_PARSER, "not YAML" },
    [YAML_COMPOSER_ERROR] = { YAML_COMPOSER, "not YAML" },
    [YAML_WRITER_ERROR] = { YAML_READER, "unreadable" },
    [YAML_EMITTER_ERROR] = { YAML_READER, "unreadable" },
};

/* Counts a node against the document's limit. False with the problem set. */
static bool
yaml_node_count(composer_t *c, ymark_t at)
{
    if (c->doc->refused)
        return yproblem_set(c->problem, YAML_LIMIT, at, "more memory than is left");
    if (++c->nodes <= c->max_nodes)
        return true;
    return yproblem_set(c->problem, YAML_LIMIT, at, "more than the %zu nodes allowed", c->max_nodes);
}

/* A node with its type: from the tag when there is one other than "!", else `dflt`. */
static ynode_t *
new_node(composer_t *c, yshape_t shape, const yaml_event_t *ev, const yaml_char_t *tag, yaml_kind_t dflt)
{
    ynode_t *node = arena(c->doc, sizeof(*node));

    *node = (ynode_t){ .shape = shape, .kind = dflt, .at = yaml_node_mark_of(ev->start_mark), .open = true };
    if (tag != NULL && strcmp((const char *) tag, "!") != 0) {
        node->tag = arena_text(c->doc, tag, strlen((const char *) tag));
        node->kind = yaml_kind_of_tag(node->tag);
    }
    return node;
}

/* Spans of peers' data within the scalar, shifted to its text. When the parsed text differs from the source
 * (escapes, folded lines, blocks), positions cannot be mapped and the whole scalar is marked. NULL when no
 * span touches it. */
static const spans_t *
said_of(composer_t *c, const yaml_event_t *ev)
{
    yaml_said_t *said = &c->said;
    bool plain = ev->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    size_t len = ev->data.scalar.length;

    if (said->spans == NULL || len == 0 || !yaml_said_next(said, ev))
        return NULL;
    spans_t *spans = arena(c->doc, sizeof(*spans) + said->n * sizeof(span_t));
    *spans = (spans_t){ .v = (span_t *) (spans + 1) };
    size_t from = said->from + !plain, to = said->to - !plain;
    bool as_written = to >= from && to - from == len &&
                      memcmp(said->place.text + from, ev->data.scalar.value, len) == 0;
    unsigned all = SPAN_KEPT;
    for (size_t i = 0; i < said->n; i++) {
        const span_t *span = &said->spans->v[said->first + i];
        size_t start = span->from > from ? span->from - from : 0, end = span->to < to ? span->to - from : len;
        all &= span->flags;
        if (start < end)
            spans->v[spans->n++] = (span_t){ start, end, span->flags & SPAN_KEPT };
    }
    if (!as_written) {
        spans->n = 1;
        spans->v[0] = (span_t){ 0, len, all };
    }
    return spans->n > 0 ? spans : NULL;
}

static bool
next_event(composer_t *c, yaml_event_t *ev)
{
    return yaml_parser_parse(&c->parser, ev) != 0;
}

static ynode_t *compose(composer_t *c, yaml_event_t *ev, int depth);

/* Next node of a container. NULL at the container's end (then *ret_end is true), or on failure. */
static ynode_t *
compose_next(composer_t *c, yaml_event_type_t end, int depth, bool *ret_end)
{
    yaml_event_t ev;

    *ret_end = false;
    if (!next_event(c, &ev))
        return NULL;
    if (ev.type == end) {
        yaml_event_delete(&ev);
        *ret_end = true;
        return NULL;
    }
    return compose(c, &ev, depth);
}

static bool
compose_pairs(composer_t *c, ynode_t *node, int depth)
{
    bool end, merges = false;

    for (;;) {
        ypair_t pair = { compose_next(c, YAML_MAPPING_END_EVENT, depth, &end), NULL };
        if (pair.key == NULL)
            break;
        pair.value = compose_next(c, YAML_NO_EVENT, depth, &end);
        if (pair.value == NULL)
            return false;
        merges = merges || pair.key->kind == YAML_IS_MERGE;
        node->pairs = arena_grow(c->doc, node->pairs, node->n, sizeof(*node->pairs));
        node->pairs[node->n++] = pair;
    }
    if (merges) {
        /* Queues a mapping for merge_mapping; called when the mapping is complete, so inner mappings come
         * first. */
        if (c->n_merging == c->cap_merging) {
            c->cap_merging = c->cap_merging * 2 + 8;
            c->merging = xrealloc(c->merging, c->cap_merging * sizeof(*c->merging));
        }
        c->merging[c->n_merging++] = node;
    }
    return end;
}

/* The node that the alias names. An alias within its own node is an error unless the caller asked for a
 * graph. */
static ynode_t *
compose_alias(composer_t *c, const yaml_event_t *ev)
{
    const char *name = (const char *) ev->data.alias.anchor;
    ynode_t *node = c->anchors != NULL ? map_get(c->anchors, name) : NULL;

    if (node == NULL) {
        yproblem_set(c->problem, YAML_COMPOSER, yaml_node_mark_of(ev->start_mark), "found undefined alias");
        return NULL;
    }
    if (node->open && !c->graph) {
        yproblem_within(c->problem, YAML_COMPOSER, "the anchor is on a node that is still open", node->at,
                        yaml_node_mark_of(ev->start_mark), "found unconstructable recursive node '%s'", name);
        return NULL;
    }
    node->shared = true;
    return node;
}

/* Records an anchor. A second one of the same name is an error in PyYAML, though YAML allows it. */
static bool
remember_anchor(composer_t *c, const yaml_char_t *anchor, ynode_t *node)
{
    const char *name = (const char *) anchor;

    if (name == NULL)
        return true;
    if (c->anchors == NULL)
        c->anchors = map_new(NULL);
    const ynode_t *first = map_get(c->anchors, name);
    if (first != NULL)
        return yproblem_within(c->problem, YAML_COMPOSER, "found duplicate anchor; first occurrence",
                               first->at, node->at, "second occurrence");
    map_set(c->anchors, name, node);
    return true;
}

/* Makes the node that an event starts: a complete scalar or alias, or a container that is still open. NULL
 * with the problem set. */
static ynode_t *
start_node(composer_t *c, const yaml_event_t *ev)
{
    const yaml_char_t *anchor;
    const char *text;
    size_t len;
    ynode_t *node;

    switch (ev->type) {
    case YAML_ALIAS_EVENT:
        return compose_alias(c, ev);
    case YAML_SCALAR_EVENT:
        text = (const char *) ev->data.scalar.value;
        len = ev->data.scalar.length;
        node = new_node(c, YSCALAR, ev, ev->data.scalar.tag,
                        ev->data.scalar.plain_implicit ? yaml_resolve(text, len) : YAML_IS_STR);
        node->n = len;
        node->text = arena_text(c->doc, text, len);
        node->said = said_of(c, ev);
        node->open = false;
        anchor = ev->data.scalar.anchor;
        break;
    case YAML_SEQUENCE_START_EVENT:
        node = new_node(c, YSEQ, ev, ev->data.sequence_start.tag, YAML_IS_SEQ);
        anchor = ev->data.sequence_start.anchor;
        break;
    default:
        node = new_node(c, YMAP, ev, ev->data.mapping_start.tag, YAML_IS_MAP);
        anchor = ev->data.mapping_start.anchor;
        break;
    }
    return remember_anchor(c, anchor, node) ? node : NULL;
}

/* Composes the node that starts with `ev`, which is consumed, with all its children. Recursion is bounded by
 * LIMIT_YAML_DEPTH. */
static ynode_t *
compose(composer_t *c, yaml_event_t *ev, int depth)
{
    ymark_t at = yaml_node_mark_of(ev->start_mark);
    bool ok = yaml_node_count(c, at), alias = ev->type == YAML_ALIAS_EVENT;

    if (ok && depth > LIMIT_YAML_DEPTH)
        ok = yproblem_set(c->problem, YAML_LIMIT, at, "nested deeper than the %d levels allowed",
                          LIMIT_YAML_DEPTH);
    ynode_t *node = ok ? start_node(c, ev) : NULL;
    yaml_event_delete(ev);
    if (node == NULL || !node->open || alias)
        return node;
    if (node->shape == YSEQ) {
        ynode_t *item;
        while ((item = compose_next(c, YAML_SEQUENCE_END_EVENT, depth + 1, &ok)) != NULL) {
            node->items = arena_grow(c->doc, node->items, node->n, sizeof(*node->items));
            node->items[node->n++] = item;
        }
    } else {
        ok = compose_pairs(c, node, depth + 1);
    }
    node->open = false;
    return ok ? node : NULL;
}

/* ---- merge keys ------------------------------------------------------------------------------ */

typedef struct pairs {
    ypair_t *v;
    size_t n;
} pairs_t;

static bool
add_pairs(composer_t *c, pairs_t *to, const ynode_t *from)
{
    for (size_t i = 0; i < from->n; i++) {
        if (!yaml_node_count(c, from->at))
            return false;
        if (from->pairs[i].key->kind == YAML_IS_MERGE)
            continue; /* a mapping that merges itself adds nothing */
        from->pairs[i].key->shared = from->pairs[i].value->shared = true;
        to->v = arena_grow(c->doc, to->v, to->n, sizeof(*to->v));
        to->v[to->n++] = from->pairs[i];
    }
    return true;
}

/* Pairs that `<<: value` adds, a mapping or a list of mappings. A list is taken from its end, so that its
 * first mapping wins, as in PyYAML's flatten_mapping. */
static bool
collect_merged(composer_t *c, const ynode_t *node, const ynode_t *value, pairs_t *out)
{
    static const char doing[] = "while constructing a mapping";

    if (value->shape == YMAP)
        return add_pairs(c, out, value);
    if (value->shape == YSCALAR)
        return yproblem_within(c->problem, YAML_CONSTRUCTOR, doing, node->at, value->at,
                               "expected a mapping or list of mappings for merging, but found %s",
                               ynode_shape_name(value));
    for (size_t i = 0; i < value->n; i++) {
        const ynode_t *item = value->items[i];
        if (item->shape != YMAP)
            return yproblem_within(c->problem, YAML_CONSTRUCTOR, doing, node->at, item->at,
                                   "expected a mapping for merging, but found %s", ynode_shape_name(item));
    }
    for (size_t i = value->n; i-- > 0;) {
        if (!add_pairs(c, out, value->items[i]))
            return false;
    }
    return true;
}

/* Replaces a mapping's merge keys by the merged pairs, placed before its own. Salt's loader leaves out merged
 * pairs whose key the mapping has itself. Inner and earlier mappings are already merged. */
static bool
merge_mapping(composer_t *c, ynode_t *node)
{
    json_auto_t *own = json_object();
    pairs_t merged = { NULL, 0 }, all = { NULL, 0 };
    size_t kept = 0;

    for (size_t i = 0; i < node->n; i++) {
        ypair_t *pair = &node->pairs[i];
        if (pair->key->kind == YAML_IS_MERGE) {
            if (!collect_merged(c, node, pair->value, &merged))
                return false;
            continue;
        }
        if (pair->key->shape == YSCALAR)
            json_object_setn_new_nocheck(own, pair->key->text, pair->key->n, json_true());
        node->pairs[kept++] = *pair;
    }
    node->n = kept;
    for (size_t i = 0; i < merged.n; i++) {
        const ynode_t *key = merged.v[i].key;
        if (key->shape != YSCALAR || json_object_getn(own, key->text, key->n) == NULL) {
            all.v = arena_grow(c->doc, all.v, all.n, sizeof(*all.v));
            all.v[all.n++] = merged.v[i];
        }
    }
    for (size_t i = 0; i < node->n; i++) {
        all.v = arena_grow(c->doc, all.v, all.n, sizeof(*all.v));
        all.v[all.n++] = node->pairs[i];
    }
    node->pairs = all.v;
    node->n = all.n;
    return true;
}

/* ---- documents ------------------------------------------------------------------------------- */

/* The stream's only document; false on failure. */
static bool
compose_stream(composer_t *c)
{
    yaml_event_t ev;
    ymark_t start;

    if (!next_event(c, &ev))
        return false;
    yaml_event_delete(&ev); /* the stream's start */
    if (!next_event(c, &ev))
        return false;
    yaml_event_type_t type = ev.type;
    start = yaml_node_mark_of(ev.start_mark);
    yaml_event_delete(&ev);
    if (type == YAML_STREAM_END_EVENT)
        return true;
    if (!next_event(c, &ev))
        return false;
    c->doc->root = compose(c, &ev, 1);
    if (c->doc->root == NULL || !next_event(c, &ev))
        return false;
    yaml_event_delete(&ev); /* the document's end */
    if (!next_event(c, &ev))
        return false;
    type = ev.type;
    ymark_t second = yaml_node_mark_of(ev.start_mark);
    yaml_event_delete(&ev);
    return type == YAML_STREAM_END_EVENT ||
           yproblem_within(c->problem, YAML_COMPOSER, "expected a single document in the stream", start,
                           second, "but found another document");
}

/* Parses, composes and merges. On failure the document is freed and the problem is set, from libyaml when no
 * other was found first. */
static ydoc_t *
compose_document(const char *text, size_t len, bool graph, size_t max_nodes, const spans_t *spans,
                 yproblem_t *problem)
{
    composer_t c = {
        .problem = problem, .doc = xcalloc(1, sizeof(ydoc_t)), .graph = graph, .max_nodes = max_nodes
    };

    c.said = (yaml_said_t){ .place = yaml_place_begin(&c.parser, text, len), .spans = spans };
    bool ok = compose_stream(&c);
    if (!ok && problem->cls == YAML_FINE) {
        /* Translates libyaml's error into PyYAML's exception classes and wording. Problems that were found
         * here stay as they are. */
        const yaml_parser_t *p = &c.parser;
        yclass_t cls = libyaml_errors[p->error].cls;
        const char *what = p->problem != NULL ? p->problem : libyaml_errors[p->error].fallback;

        if (cls == YAML_READER && p->problem_value >= 0)
            yproblem_set(c.problem, cls, mark_of_offset(text, len, p->problem_offset),
                         "unacceptable character #x%04x: %s", (unsigned) p->problem_value, what);
        else if (cls == YAML_READER)
            yproblem_set(c.problem, cls, mark_of_offset(text, len, p->problem_offset), "%s", what);
        else if (p->context != NULL)
            yproblem_within(c.problem, cls, p->context, yaml_node_mark_of(p->context_mark),
                            yaml_node_mark_of(p->problem_mark), "%s", what);
        else
            yproblem_set(c.problem, cls, yaml_node_mark_of(p->problem_mark), "%s", what);
    }
    yaml_parser_delete(&c.parser);
    for (size_t i = 0; ok && i < c.n_merging; i++)
        ok = merge_mapping(&c, c.merging[i]);
    free(c.merging);
    map_destroy(&c.anchors);
    if (!ok)
        ydoc_destroy(&c.doc);
    return c.doc;
}

ydoc_t *
ydoc_new(const char *text, size_t len, size_t max_nodes, yproblem_t *problem)
{
    return compose_document(text, len, false, max_nodes, NULL, problem);
}

ydoc_t *
ydoc_new_graph(const char *text, size_t len, const spans_t *spans, yproblem_t *problem)
{
    return compose_document(text, len, true, LIMIT_YAML_NODES, spans, problem);
}
