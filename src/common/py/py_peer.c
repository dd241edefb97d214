/* py_peer.c - marks of peers' data on texts; see py_peer.h.
 *
 * Most marked texts are a peer's from end to end and point to a shared constant (`whole`); others have an
 * array of spans. Marking a value in place requires to know which texts only that value refers to:
 * mark_reached counts edges in the graph and copies texts that others share. Buffers hold their spans in
 * `notes` until they become values. */
#include "common/py/py_as.h"
#include "common/py/py_peer.h"
#include "salt/limits.h"

/* The spans of a marked text. */
struct pypeer {
    size_t n;
    span_t v[];
};

/* Shared constants for texts that are a peer's from end to end, by the flags of SPAN_KEPT. */
static pypeer_t whole[SPAN_KEPT + 1];

static bool
py_peer_is_whole(const pypeer_t *p)
{
    return p >= whole && p < whole + NELEMS(whole);
}

void
py_peer_free(pypeer_t *p)
{
    if (p != NULL && !py_peer_is_whole(p))
        py_release(p, sizeof(*p) + p->n * sizeof(p->v[0]));
}

static const pypeer_t *
peer_of(const py_t *v)
{
    return ((const pystr_t *) v)->peer;
}

static bool
py_peer_is_text(const py_t *v)
{
    return py_is(v, PY_STR) || py_is(v, PY_BYTES);
}

/* The i-th span of a marked text. */
static span_t
span_at(const py_t *v, size_t i)
{
    const pypeer_t *p = peer_of(v);

    return py_peer_is_whole(p) ? (span_t){ 0, PY_LEN(v), (unsigned) (p - whole) } : p->v[i];
}

static size_t
span_count(const py_t *v)
{
    const pypeer_t *p = peer_of(v);

    return p == NULL ? 0 : py_peer_is_whole(p) ? 1 : p->n;
}

/* The flags that all marks of `v` have. */
static unsigned
common_flags(const py_t *v)
{
    unsigned flags = SPAN_KEPT;

    for (size_t i = 0; i < span_count(v); i++)
        flags &= span_at(v, i).flags;
    return flags;
}

static void
set_spans(py_t *v, const spans_t *spans)
{
    pystr_t *s = (pystr_t *) v;

    if (__builtin_expect(spans->n == 0, 1))
        return;
    py_state.peers = true;
    py_peer_free(s->peer);
    if (spans->n == 1 && spans->v[0].from == 0 && spans->v[0].to == s->len) {
        s->peer = &whole[spans->v[0].flags & SPAN_KEPT];
        return;
    }
    s->peer = py_alloc(sizeof(*s->peer) + spans->n * sizeof(span_t));
    s->peer->n = spans->n;
    memcpy(s->peer->v, spans->v, spans->n * sizeof(span_t));
}

void
py_set_spans(py_t *v, spans_t *spans)
{
    set_spans(v, spans);
    spans_free(spans);
}

void
py_copy_spans(const py_t *v, size_t at, spans_t *spans)
{
    for (size_t i = 0; i < span_count(v); i++) {
        span_t s = span_at(v, i);
        spans_add(spans, at + s.from, at + s.to, s.flags);
    }
}

/* ---- values ------------------------------------------------------------------------------------- */

bool
py_is_peer(const py_t *v)
{
    return py_peer_is_text(v) && peer_of(v) != NULL;
}

unsigned
py_peer_flags(const py_t *v)
{
    return common_flags(v) & SPAN_OWN;
}

typedef enum said { SAID_NOT, SAID_OWN, SAID_OTHER } said_t;

/* State of a search for marks. At most `left` containers are visited, so cycles and repeated sharing end. */
typedef struct search {
    int left;
    said_t enough; /* the search ends at the first that is as foreign */
    said_t found;
} search_t;

static void py_peer_look(search_t *s, const py_t *v);

/* Looks at keys and values; a set has no values. */
static void
look_at_pairs(search_t *s, const py_t *v)
{
    py_t *key, *value;

    for (size_t i = 0; s->found < s->enough && py_dict_next(v, &i, &key, &value);) {
        py_peer_look(s, key);
        if (value != NULL)
            py_peer_look(s, value);
    }
}

/* Looks at `v` and what it holds, until enough was found or the limit of values is reached. */
static void
py_peer_look(search_t *s, const py_t *v)
{
    if (py_peer_is_text(v)) {
        /* The text is another machine's unless all of it is the machine's own. */
        said_t by = SAID_NOT;
        if (peer_of(v) != NULL)
            by = (common_flags(v) & SPAN_OWN) != 0 ? SAID_OWN : SAID_OTHER;
        s->found = by > s->found ? by : s->found;
        return;
    }
    if (py_type(v) < PY_LIST)
        return;
    if (--s->left < 0) {
        s->found = SAID_OTHER; /* unknown; assuming a mark is safe */
        return;
    }
    switch (py_type(v)) {
    case PY_LIST:
    case PY_TUPLE:
        for (size_t i = 0; i < py_seq_len(v) && s->found < s->enough; i++)
            py_peer_look(s, py_seq_at(v, i));
        return;
    case PY_DICT:
    case PY_SET:
        look_at_pairs(s, v);
        return;
    case PY_NAMESPACE:
        py_peer_look(s, py_namespace_dict(v));
        return;
    case PY_VIEW:
        py_peer_look(s, ((const pyview_t *) v)->dict);
        return;
    default:
        return;
    }
}

static said_t
said_by(const py_t *v, said_t enough)
{
    search_t s = { .left = LIMIT_PEER_LOOK, .enough = enough };

    py_peer_look(&s, v);
    return s.found;
}

static bool
is_marked(const py_t *v)
{
    return said_by(v, SAID_OWN) != SAID_NOT;
}

bool
py_holds_peer(const py_t *v)
{
    return py_state.peers && is_marked(v);
}

/* ---- marking all that a value holds ------------------------------------------------------------------ */

enum { TREE_DEPTH = 100 };

/* A value with more than one reference. */
typedef struct shared {
    py_t *v;
    int32_t edges;     /* references found within the searched value */
    bool before, done; /* `before`: it existed before; `done`: it was handled */
} shared_t;

typedef struct reach {
    unsigned flags;
    py_t **waiting; /* containers to visit */
    size_t n, cap;
    shared_t *shared;
    size_t n_shared, cap_shared;
    py_t *known; /* address -> number of it in `shared` */
} reach_t;

typedef void slot_fn(reach_t *r, py_t **slot);

/* Puts a container on the list of those to visit, so that depth costs no stack. */
static void
wait_for_turn(reach_t *r, py_t *v)
{
    if (py_peer_is_text(v))
        return;
    if (r->n == r->cap) {
        r->cap = r->cap * 2 + 16;
        r->waiting = xrealloc(r->waiting, r->cap * sizeof(*r->waiting));
    }
    r->waiting[r->n++] = v;
}

static void
each_entry(reach_t *r, pydict_t *d, slot_fn *fn)
{
    for (uint32_t i = 0; i < d->fill; i++) {
        if (d->entries[i].key == NULL)
            continue;
        fn(r, &d->entries[i].key); /* in place, as a mark changes neither hash nor equality */
        if (d->entries[i].value != NULL)
            fn(r, &d->entries[i].value);
    }
}

/* Calls `fn` for each place in a container that holds a value. */
static void
each_slot(reach_t *r, py_t *v, slot_fn *fn)
{
    py_t **items;

    switch (py_type(v)) {
    case PY_LIST:
    case PY_TUPLE:
        items = py_is(v, PY_LIST) ? py_as_list(v)->v : py_as_tuple(v)->v;
        for (size_t i = 0; i < py_seq_len(v); i++)
            fn(r, &items[i]);
        return;
    case PY_DICT:
    case PY_SET:
        each_entry(r, (pydict_t *) v, fn);
        return;
    case PY_VIEW:
        fn(r, &((pyview_t *) v)->dict);
        return;
    default:
        return;
    }
}

/* Calls `fn` for the slot and for those of all containers that it queues. */
static void
py_peer_traverse(reach_t *r, py_t **slot, slot_fn *fn)
{
    fn(r, slot);
    while (r->n > 0)
        each_slot(r, r->waiting[--r->n], fn);
}

static bool
may_hold(const py_t *v)
{
    return !py_small(v) && (py_peer_is_text(v) || v->type >= PY_LIST);
}

/* The record of a shared value, made when new. */
static shared_t *
shared_of(reach_t *r, py_t *v)
{
    AUTO(py) address = py_int((int64_t) ((uintptr_t) v >> 3));
    const py_t *number = py_dict_get(r->known, address);
    int64_t i;

    if (number != NULL && py_to_int64(number, &i))
        return &r->shared[i];
    py_dict_set(r->known, address, py_int((int64_t) r->n_shared));
    if (r->n_shared == r->cap_shared) {
        r->cap_shared = r->cap_shared * 2 + 16;
        r->shared = xrealloc(r->shared, r->cap_shared * sizeof(*r->shared));
    }
    r->shared[r->n_shared] = (shared_t){ .v = v };
    return &r->shared[r->n_shared++];
}

/* Counts references from within; a shared value is visited at the first. */
static void
count_edge(reach_t *r, py_t **slot)
{
    py_t *v = *slot;

    if (may_hold(v) && (v->refs == 1 || shared_of(r, v)->edges++ == 0))
        wait_for_turn(r, v);
}

/* Notes values that existed before, which must not be marked. */
static void
note_before(reach_t *r, py_t **slot)
{
    py_t *v = *slot;

    if (!may_hold(v))
        return;
    if (v->refs != 1) {
        shared_t *s = shared_of(r, v);
        if (s->before)
            return;
        s->before = true;
    }
    wait_for_turn(r, v);
}

static void
mark_text(const reach_t *r, py_t **slot, bool own)
{
    py_t *v = *slot;

    if (PY_LEN(v) == 0)
        return; /* an empty text belongs to no one */
    if ((r->flags & SPAN_OWN) != 0 && peer_of(v) != NULL && (common_flags(v) & SPAN_OWN) == 0)
        return; /* it is another machine's already */
    if (!own) {
        py_t *copy = py_is(v, PY_STR) ? py_str(PY_TEXT(v), PY_LEN(v)) : py_bytes(PY_TEXT(v), PY_LEN(v));
        copy->flags |= v->flags & PY_F_MARKUP;
        py_unref(v);
        *slot = v = copy;
    }
    pystr_t *s = (pystr_t *) v;
    py_state.peers = true;
    py_peer_free(s->peer);
    s->peer = &whole[r->flags & SPAN_KEPT];
}

/* Marks a text, or queues a container, unless it existed before. A text that is referenced from elsewhere too
 * is replaced by a marked copy. */
static void
mark_slot(reach_t *r, py_t **slot)
{
    py_t *v = *slot;
    bool own = true;

    if (!may_hold(v))
        return;
    if (v->refs != 1) {
        shared_t *s = shared_of(r, v);
        own = s->edges == v->refs;
        if (s->before || (s->done && (own || !py_peer_is_text(v))))
            return;
        s->done = true;
    }
    if (py_peer_is_text(v))
        mark_text(r, slot, own);
    else
        wait_for_turn(r, v);
}

/* Marks the texts in `v`, which it TAKES: with `all` all of them, else only those that nothing outside of `v`
 * refers to, since the others existed before and have the marks they need. Three passes: count references,
 * find older values, mark. NEW. */
static py_t *
mark_reached(py_t *v, unsigned flags, bool all)
{
    reach_t r = { .flags = flags };

    if (py_peer_is_text(v) && v->refs == 1) {
        mark_text(&r, &v, true);
        return v;
    }
    r.known = py_dict();
    py_peer_traverse(&r, &v, count_edge);
    for (size_t i = 0, n = r.n_shared; !all && i < n; i++) {
        if (r.shared[i].edges != r.shared[i].v->refs)
            py_peer_traverse(&r, &r.shared[i].v, note_before);
    }
    py_peer_traverse(&r, &v, mark_slot);
    free(r.waiting);
    free(r.shared);
    py_unref(r.known);
    return v;
}

static py_t *mark_tree(py_t *v, const reach_t *r, int depth);

static void
mark_pairs(pydict_t *d, const reach_t *r, int depth)
{
    for (uint32_t i = 0; i < d->fill; i++) {
        if (d->entries[i].key == NULL)
            continue;
        d->entries[i].key = mark_tree(d->entries[i].key, r, depth);
        if (d->entries[i].value != NULL)
            d->entries[i].value = mark_tree(d->entries[i].value, r, depth);
    }
}

/* Marks a tree whose containers have one reference each, as freshly read data; parts that are shared are
 * handed to mark_reached. */
static py_t *
mark_tree(py_t *v, const reach_t *r, int depth)
{
    if (!may_hold(v))
        return v;
    if (py_peer_is_text(v)) {
        mark_text(r, &v, v->refs == 1);
        return v;
    }
    if (v->refs != 1 || depth > TREE_DEPTH)
        return mark_reached(v, r->flags, true);
    if (py_is(v, PY_DICT) || py_is(v, PY_SET)) {
        mark_pairs((pydict_t *) v, r, depth + 1);
        return v;
    }
    py_t **items = py_is(v, PY_LIST) ? py_as_list(v)->v : py_is(v, PY_TUPLE) ? py_as_tuple(v)->v : NULL;
    for (size_t i = 0; items != NULL && i < py_seq_len(v); i++)
        items[i] = mark_tree(items[i], r, depth + 1);
    return items != NULL ? v : mark_reached(v, r->flags, true);
}

py_t *
py_peer(py_t *v, unsigned flags)
{
    const reach_t r = { .flags = flags };

    return mark_tree(v, &r, 0);
}

py_t *
py_peer_like_(py_t *made, py_t *const *from, size_t n)
{
    if (made == NULL || !may_hold(made) || made->refs != 1 || is_marked(made))
        return made;
    said_t most = SAID_NOT;
    for (size_t i = 0; i < n && most < SAID_OTHER; i++) {
        said_t by = from[i] != NULL && from[i] != made ? said_by(from[i], SAID_OTHER) : SAID_NOT;
        most = by > most ? by : most;
    }
    return most == SAID_NOT ? made : mark_reached(made, most == SAID_OWN ? SPAN_OWN : 0, false);
}

void
py_peer_spans(const py_t *v, spans_t *ret)
{
    for (size_t i = 0; i < span_count(v); i++) {
        span_t s = span_at(v, i);
        spans_add(ret, s.from, s.to, s.flags);
    }
}

static py_t *
new_said(const char *text, size_t len, unsigned flags)
{
    py_t *v = py_str(text, len);

    py_state.peers = true;
    ((pystr_t *) v)->peer = len > 0 ? &whole[flags] : NULL;
    return v;
}

py_t *
py_str_peer(const char *text, size_t len)
{
    return new_said(text, len, 0);
}

py_t *
py_str_own(const char *text, size_t len)
{
    return new_said(text, len, SPAN_OWN);
}

py_t *
py_str_spans(const char *text, size_t len, const spans_t *spans)
{
    py_t *v = py_str(text, len);

    set_spans(v, spans);
    return v;
}

/* ---- texts in the making ------------------------------------------------------------------------ */

/* Spans of buffers, each at the index in the buffer's note. A dropped buffer leaves its spans here until the
 * scope ends. */
static _Thread_local struct {
    spans_t *v;
    size_t n, cap;
} notes;

/* Adds a span and counts its memory. */
static void
add_span(spans_t *spans, size_t from, size_t to, unsigned flags)
{
    size_t cap = spans->cap;

    spans_add(spans, from, to, flags);
    py_count((int64_t) ((spans->cap - cap) * sizeof(span_t)));
}

size_t
py_notes(void)
{
    return notes.n;
}

void
py_notes_drop(size_t from)
{
    while (notes.n > from) {
        spans_t *spans = &notes.v[--notes.n];
        py_count(-(int64_t) (spans->cap * sizeof(span_t)));
        spans_free(spans);
    }
    if (notes.n == 0) {
        free(notes.v);
        notes.v = NULL;
        notes.cap = 0;
    }
}

/* The buffer's spans, which are kept beside it under a number. Begins them if it has none. */
static spans_t *
notes_of(buf_t *out)
{
    if (out->note == 0) {
        if (notes.n == notes.cap) {
            notes.cap = notes.cap * 2 + 8;
            notes.v = xrealloc(notes.v, notes.cap * sizeof(*notes.v));
        }
        notes.v[notes.n++] = (spans_t){ .v = NULL };
        out->note = (unsigned) notes.n;
    }
    return &notes.v[out->note - 1];
}

/* Copies the spans of bytes [from, from + len) of `v`, which are now in `out` at `at`, unless the buffer had
 * no room for them. */
static void
note_part(buf_t *out, size_t at, const py_t *v, size_t from, size_t len)
{
    if (out->len != at + len)
        return;
    for (size_t i = 0; i < span_count(v); i++) {
        span_t s = span_at(v, i);
        size_t start = s.from > from ? s.from : from, end = s.to < from + len ? s.to : from + len;
        if (start < end)
            add_span(notes_of(out), at + start - from, at + end - from, s.flags);
    }
}

void
py_put(buf_t *out, const py_t *v)
{
    size_t at = out->len;

    buf_add(out, PY_TEXT(v), PY_LEN(v));
    if (__builtin_expect(peer_of(v) != NULL, 0))
        note_part(out, at, v, 0, PY_LEN(v));
}

/* The buffer's spans are moved along with its bytes. */
void
py_put_buf(buf_t *out, buf_t *from)
{
    spans_t spans = { .v = NULL };
    size_t at = out->len;

    py_buf_spans(from, &spans);
    buf_add(out, buf_str(from), from->len);
    for (size_t i = 0; i < spans.n && out->len == at + from->len; i++)
        add_span(notes_of(out), at + spans.v[i].from, at + spans.v[i].to, spans.v[i].flags);
    spans_free(&spans);
    buf_free(from);
}

void
py_put_part_(buf_t *out, const py_t *v, const char *from, size_t len)
{
    size_t at = out->len;

    buf_add(out, from, len);
    if (__builtin_expect(peer_of(v) != NULL, 0))
        note_part(out, at, v, (size_t) (from - PY_TEXT(v)), len);
}

/* Marks everything from `at` on with one span, replacing those there. */
static void
note_all(buf_t *out, size_t at, unsigned flags)
{
    spans_t *mine = notes_of(out);

    while (mine->n > 0 && mine->v[mine->n - 1].from >= at)
        mine->n--;
    if (mine->n > 0 && mine->v[mine->n - 1].to > at)
        mine->v[mine->n - 1].to = at;
    add_span(mine, at, out->len, flags);
}

void
py_put_like(buf_t *out, size_t at, const py_t *v)
{
    if (py_is_peer(v) && out->len > at)
        note_all(out, at, common_flags(v));
}

void
py_put_made(buf_t *out, size_t at)
{
    if (py_state.peers && out->len > at)
        note_all(out, at, 0);
}

/* All that was added since `at` is a peer's if any part of `from` is. */
void
py_put_as(buf_t *out, size_t at, const buf_t *from)
{
    if (from->note == 0 || out->len <= at)
        return;
    const spans_t *spans = &notes.v[from->note - 1];
    unsigned flags = SPAN_OWN;
    for (size_t i = 0; i < spans->n; i++)
        flags &= spans->v[i].flags;
    note_all(out, at, flags);
}

void
py_buf_spans(buf_t *text, spans_t *ret)
{
    if (text->note == 0)
        return;
    spans_t *mine = &notes.v[text->note - 1];
    /* bytes cut off the buffer's end lose their spans */
    while (mine->n > 0 && mine->v[mine->n - 1].from >= text->len)
        mine->n--;
    if (mine->n > 0 && mine->v[mine->n - 1].to > text->len)
        mine->v[mine->n - 1].to = text->len;
    *ret = *mine;
    py_count(-(int64_t) (ret->cap * sizeof(span_t)));
    *mine = (spans_t){ .v = NULL };
    while (notes.n > 0 && notes.v[notes.n - 1].v == NULL && notes.n >= text->note)
        notes.n--;
    text->note = 0;
}

void
py_take_marks(py_t *v, buf_t *text)
{
    spans_t spans = { .v = NULL };

    py_buf_spans(text, &spans);
    py_set_spans(v, &spans);
}

py_t *
py_text_buf(const py_t *like, buf_t *text)
{
    py_t *v = py_is(like, PY_STR) ? py_str(buf_str(text), text->len) : py_bytes(buf_str(text), text->len);

    if (text->note != 0)
        py_take_marks(v, text);
    buf_free(text);
    return v;
}

/* A part of a text that is wholly a peer's needs no spans of its own. */
py_t *
py_part(const py_t *like, const char *from, size_t len)
{
    py_t *v = py_is(like, PY_STR) ? py_str(from, len) : py_bytes(from, len);

    if (__builtin_expect(peer_of(like) == NULL, 1))
        return v;
    if (py_peer_is_whole(peer_of(like))) {
        ((pystr_t *) v)->peer = len > 0 ? ((const pystr_t *) like)->peer : NULL;
        return v;
    }
    buf_t none = { .len = PY_LEN(v) };
    note_part(&none, 0, like, (size_t) (from - PY_TEXT(like)), len);
    if (none.note != 0)
        py_take_marks(v, &none);
    return v;
}
