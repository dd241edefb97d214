/* yaml_span_walk.c - visits the scalars that contain peers' data, with the keys that lead to them.
 *
 * Runs through libyaml's events, keeping a stack of open collections and the path of keys. libyaml's marks
 * count characters; a yaml_place_t converts them to bytes by moving back and forth from the last place. */
#include "common/data/yaml_span_int.h"
#include "salt/limits.h"

/* An open collection. */
typedef struct level {
    bool mapping, at_value; /* the next node is a value */
    size_t keys;            /* on the path when it was opened */
} level_t;

typedef struct walk {
    yaml_said_t said;
    yaml_span_visit_fn *visit;
    void *cookie;
    level_t levels[LIMIT_YAML_DEPTH];
    size_t depth;
    char *path[LIMIT_YAML_DEPTH]; /* owned */
    size_t keys;
} walk_t;

yaml_place_t
yaml_place_of(const char *text, size_t len)
{
    /* libyaml does not count a byte order mark at the start. */
    bool marked = len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0;

    return (yaml_place_t){ .text = text, .len = len, .byte = marked ? 3 : 0 };
}

yaml_place_t
yaml_place_begin(yaml_parser_t *parser, const char *text, size_t len)
{
    if (!yaml_parser_initialize(parser))
        salt_no_memory(sizeof(*parser));
    yaml_parser_set_input_string(parser, (const unsigned char *) text, len);
    return yaml_place_of(text, len);
}

static bool
continues(const yaml_place_t *self)
{
    return self->byte < self->len && ((unsigned char) self->text[self->byte] & 0xc0) == 0x80;
}

size_t
yaml_place_byte(yaml_place_t *self, size_t letters)
{
    for (; self->letters < letters && self->byte < self->len; self->letters++)
        do
            self->byte++;
        while (continues(self));
    for (; self->letters > letters; self->letters--)
        do
            self->byte--;
        while (continues(self));
    return self->byte;
}

static void
cut_path(walk_t *w, size_t keys)
{
    while (w->keys > keys)
        free(w->path[--w->keys]);
}

/* `first` only advances, so all calls together are linear in the number of spans. */
bool
yaml_said_next(yaml_said_t *self, const yaml_event_t *ev)
{
    self->from = yaml_place_byte(&self->place, ev->start_mark.index);
    self->to = yaml_place_byte(&self->place, ev->end_mark.index);
    while (self->first < self->spans->n && self->spans->v[self->first].to <= self->from)
        self->first++;
    self->n = 0;
    while (self->first + self->n < self->spans->n && self->spans->v[self->first + self->n].from < self->to)
        self->n++;
    return self->n > 0;
}

/* Ends a node: in a mapping a value follows a key, and after a value its key leaves the path. */
static void
node_ends(walk_t *w)
{
    if (w->depth == 0)
        return;
    level_t *l = &w->levels[w->depth - 1];
    if (!l->mapping)
        return;
    if (l->at_value)
        cut_path(w, l->keys);
    l->at_value = !l->at_value;
}

static void
yaml_span_walk_add_key(walk_t *w, const char *text)
{
    w->path[w->keys++] = xstrdup(text);
}

static void
yaml_span_walk_scalar(walk_t *w, const yaml_event_t *ev)
{
    bool key = w->depth > 0 && w->levels[w->depth - 1].mapping && !w->levels[w->depth - 1].at_value;

    /* Calls the visitor when the scalar has bytes of a span. */
    yaml_said_t *said = &w->said;
    yaml_span_place_t place = { .path = (const char *const *) w->path,
                                .depth = w->keys,
                                .key = key,
                                .text = (const char *) ev->data.scalar.value,
                                .len = ev->data.scalar.length,
                                .quoted = true };

    if (yaml_said_next(said, ev)) {
        const span_t *span = &said->spans->v[said->first];
        place.at = span->from > said->from ? span->from : said->from;
        for (size_t i = 0; i < said->n; i++)
            place.quoted = place.quoted && (span[i].flags & SPAN_QUOTED);
        w->visit(w->cookie, &place);
    }

    if (key)
        yaml_span_walk_add_key(w, (const char *) ev->data.scalar.value);
    node_ends(w);
}

/* Ends a collection or an alias. As a key it has no text, and "" stands for it on the path. */
static void
unnamed_ends(walk_t *w)
{
    if (w->depth > 0 && w->levels[w->depth - 1].mapping && !w->levels[w->depth - 1].at_value)
        yaml_span_walk_add_key(w, "");
    node_ends(w);
}

/* Handles an event. False at the stream's end, or where the nesting is too deep to go on. */
static bool
yaml_span_walk_take(walk_t *w, const yaml_event_t *ev)
{
    switch (ev->type) {
    case YAML_SCALAR_EVENT:
        yaml_span_walk_scalar(w, ev);
        return true;
    case YAML_ALIAS_EVENT:
        unnamed_ends(w);
        return true;
    case YAML_SEQUENCE_START_EVENT:
    case YAML_MAPPING_START_EVENT:
        if (w->depth == LIMIT_YAML_DEPTH)
            return false;
        w->levels[w->depth++] = (level_t){ .mapping = ev->type == YAML_MAPPING_START_EVENT, .keys = w->keys };
        return true;
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        cut_path(w, w->levels[--w->depth].keys);
        unnamed_ends(w);
        return true;
    default:
        return ev->type != YAML_STREAM_END_EVENT;
    }
}

bool
yaml_spans_walk(const char *text, size_t len, const spans_t *spans, yaml_span_visit_fn *visitor, void *cookie)
{
    walk_t w = { .visit = visitor, .cookie = cookie };
    yaml_parser_t parser;
    yaml_event_t ev;

    w.said = (yaml_said_t){ .place = yaml_place_begin(&parser, text, len), .spans = spans };
    bool more = true, ended = false;
    while (more && yaml_parser_parse(&parser, &ev)) {
        more = yaml_span_walk_take(&w, &ev);
        ended = ev.type == YAML_STREAM_END_EVENT;
        yaml_event_delete(&ev);
    }
    yaml_parser_delete(&parser);
    cut_path(&w, 0);
    return ended;
}
