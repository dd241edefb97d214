/* py_yaml_load.c - a YAML tree to Python values.
 *
 * Containers are filled breadth first from a queue, as PyYAML's deferred constructors do, so the first
 * mistake that PyYAML finds is the one reported, and nesting does not become recursion. Nodes that aliases
 * share become one value, found by the node's address. Short texts are cached, as the same few names recur.
 */
#include "common/data/yaml_construct.h"
#include "common/py/methods/methods.h"
#include "common/py/py_peer.h"
#include "common/py/py_yaml.h"
#include "salt/limits.h"

/* Length at which a message's text ends; number and length of the texts that are kept for reuse. */
enum { LONG_MESSAGE = 4000, RECENT = 256, SHORT = 32 };

/* A container that exists but is not filled yet. */
typedef struct job {
    const ynode_t *node;
    py_t *into; /* owned: the values of a set have no other owner */
} job_t;

/* State of a load. */
typedef struct loader {
    yproblem_t *problem;
    bool ordered, safe; /* safe: by PyYAML's own rules for numbers and times */
    job_t *jobs;        /* containers still to be filled */
    size_t n, cap;
    size_t values;
    py_t *known;          /* address of a shared node -> what it is */
    py_t *recent[RECENT]; /* recent short texts by hash */
} loader_t;

/* ---- scalars ---------------------------------------------------------------------------------- */

/* Repeats the pending exception in the problem, which stays raised. NULL. */
static py_t *
py_yaml_load_failed(yproblem_t *problem, const ynode_t *node)
{
    yproblem_set(problem, YAML_CONSTRUCTOR, node->at, "%s", py_raised_text());
    return NULL;
}

static py_t *
py_yaml_load_make_str(const ynode_t *node, yproblem_t *problem)
{
    return py_str(node->text, node->n);
}

static py_t *
py_yaml_load_make_null(const ynode_t *node, yproblem_t *problem)
{
    return PY_None;
}

/* An explicit !!bool with another word is a KeyError, as in PyYAML. */
static py_t *
py_yaml_load_make_bool(const ynode_t *node, yproblem_t *problem)
{
    bool v;

    if (yaml_to_bool(node->text, node->n, &v))
        return py_bool(v);
    AUTO(py) text = py_str(node->text, node->n);
    AUTO(py) key = m_str_lower(text, NULL, NULL);
    py_raise_key(key);
    return py_yaml_load_failed(problem, node);
}

/* int() of one part of a number, for its exceptions. NEW, or NULL raised. */
static py_t *
int_part(const char *text, size_t len, int base)
{
    AUTO(py) part = py_str(text, len);

    return py_toint(part, base);
}

/* Base 60, "1:30:00". NEW, or NULL raised. */
static py_t *
py_yaml_load_sixties(const char *text)
{
    AUTO(py) total = py_int(0);

    for (const char *p = text, *colon; total != NULL && p != NULL; p = colon != NULL ? colon + 1 : NULL) {
        colon = strchr(p, ':');
        AUTO(py) part = int_part(p, colon != NULL ? (size_t) (colon - p) : strlen(p), 10);
        AUTO(py) higher = part != NULL ? py_binary(PY_MUL, total, py_int(60)) : NULL;
        py_unref(total);
        total = higher != NULL ? py_add(higher, part) : NULL;
    }
    return STEAL(total);
}

/* PyYAML's construct_yaml_int step by step, for texts that yaml_to_int refuses: some are integers after all,
 * others raise int()'s own message. Salt drops leading zeros first. NEW, or NULL raised. */
static py_t *
odd_int(const ynode_t *node, bool drop_zeros)
{
    buf_auto_t text = BUF_INIT;
    const char *from = node->text, *end = from + node->n;
    py_t *v;

    if (drop_zeros && node->n > 1 && *from == '0' && from[1] != 'b' && from[1] != 'x') {
        while (from < end && *from == '0')
            from++;
    }
    for (; from < end; from++) {
        if (*from != '_')
            buf_putc(&text, *from);
    }
    const char *p = buf_str(&text);
    bool negative = *p == '-';
    p += negative || *p == '+';
    if (p[0] == '0' && (p[1] == 'b' || p[1] == 'x'))
        v = int_part(p + 2, strlen(p + 2), p[1] == 'b' ? 2 : 16);
    else if (p[0] == '0')
        v = int_part(p, strlen(p), 8);
    else
        v = strchr(p, ':') != NULL ? py_yaml_load_sixties(p) : int_part(p, strlen(p), 10);
    AUTO(py) size = v;
    return size != NULL && negative ? py_unary(PY_NEG, size) : py_ref(size);
}

/* For texts that float() reads although YAML's pattern does not. */
static py_t *
odd_float(const ynode_t *node)
{
    buf_auto_t text = BUF_INIT;

    for (size_t i = 0; i < node->n; i++) {
        if (node->text[i] != '_')
            buf_putc(&text, node->text[i]);
    }
    AUTO(py) v = py_str(buf_str(&text), text.len);
    return py_tofloat(v);
}

static py_t *
py_yaml_load_make_int(const ynode_t *node, yproblem_t *problem)
{
    AUTO_FREE char *digits = NULL;
    json_int_t v = 0;

    switch (yaml_to_int(node->text, node->n, &v, &digits)) {
    case YAML_INT_64:
        return py_int(v);
    case YAML_INT_BIG:
        return py_int_digits(digits, strlen(digits));
    case YAML_INT_HUGE:
        py_raise(&py_ValueError,
                 "Exceeds the limit (4300 digits) for integer string conversion: value has %zu digits; "
                 "use sys.set_int_max_str_digits() to increase the limit",
                 node->n);
        return py_yaml_load_failed(problem, node);
    case YAML_INT_BAD:
        break;
    }
    py_t *odd = odd_int(node, true);
    return odd != NULL ? odd : py_yaml_load_failed(problem, node);
}

static py_t *
make_safe_int(const ynode_t *node, yproblem_t *problem)
{
    py_t *v = odd_int(node, false);

    return v != NULL ? v : py_yaml_load_failed(problem, node);
}

/* Dates and times keep the text with which they were written; see py_yaml_time.c. */
static py_t *
make_time(const ynode_t *node, yproblem_t *problem)
{
    if (!yaml_is_timestamp(node->text, node->n)) {
        py_raise(&py_ValueError, "'%.*s' is not a date or a time", node->n < 100 ? (int) node->n : 100,
                 node->text);
        return py_yaml_load_failed(problem, node);
    }
    AUTO(py) text = py_str(node->text, node->n);
    return py_yaml_time(text);
}

static py_t *
py_yaml_load_make_float(const ynode_t *node, yproblem_t *problem)
{
    double v;

    if (yaml_to_float(node->text, node->n, &v))
        return py_float(v);
    py_t *odd = odd_float(node);
    return odd != NULL ? odd : py_yaml_load_failed(problem, node);
}

static py_t *
py_yaml_load_make_binary(const ynode_t *node, yproblem_t *problem)
{
    AUTO_FREE char *why = NULL;
    AUTO(py) text = py_str(node->text, node->n);
    AUTO(py) ascii = py_strz("ascii");
    py_t *const encoding[2] = { ascii, NULL };
    AUTO(py) encoded = m_str_encode(text, encoding, NULL);
    size_t len = 0;

    if (encoded == NULL) {
        yproblem_set(problem, YAML_CONSTRUCTOR, node->at, "failed to convert base64 data into ascii: %s",
                     py_raised_text());
        py_clear();
        return NULL;
    }
    AUTO_FREE char *bytes = yaml_from_base64(node->text, node->n, &len, &why);
    if (bytes != NULL)
        return py_bytes(bytes, len);
    yproblem_set(problem, YAML_CONSTRUCTOR, node->at, "failed to decode base64 data: %s", why);
    return NULL;
}

/* ---- any node --------------------------------------------------------------------------------- */

typedef py_t *scalar_fn(const ynode_t *node, yproblem_t *problem);
typedef bool fill_fn(loader_t *l, const job_t *job);

static fill_fn py_yaml_load_fill_seq, py_yaml_load_fill_map, py_yaml_load_fill_set, py_yaml_load_fill_pairs;

/* How each kind is made: a scalar at once; a container empty now, and filled when its turn comes. */
static const struct kind_row {
    yshape_t shape;
    scalar_fn *scalar;
    fill_fn *fill;
} kinds[] = {
    [YAML_IS_STR] = { YSCALAR, py_yaml_load_make_str, NULL },
    [YAML_IS_NULL] = { YSCALAR, py_yaml_load_make_null, NULL },
    [YAML_IS_BOOL] = { YSCALAR, py_yaml_load_make_bool, NULL },
    [YAML_IS_INT] = { YSCALAR, py_yaml_load_make_int, NULL },
    [YAML_IS_FLOAT] = { YSCALAR, py_yaml_load_make_float, NULL },
    [YAML_IS_TIMESTAMP] = { YSCALAR, py_yaml_load_make_str, NULL },
    [YAML_IS_BINARY] = { YSCALAR, py_yaml_load_make_binary, NULL },
    [YAML_IS_SEQ] = { YSEQ, NULL, py_yaml_load_fill_seq },
    [YAML_IS_MAP] = { YMAP, NULL, py_yaml_load_fill_map },
    [YAML_IS_SET] = { YMAP, NULL, py_yaml_load_fill_set },
    [YAML_IS_PAIRS] = { YSEQ, NULL, py_yaml_load_fill_pairs },
    [YAML_IS_UNKNOWN] = { 0 },
};

/* The node's address as a key; NULL for a node that is not shared. NEW. */
static py_t *
py_yaml_load_address_of(const ynode_t *node)
{
    return node->shared ? py_int((int64_t) ((uintptr_t) node >> 3)) : NULL;
}

/* A long scalar; one that aliases share is kept in memory once. NEW. */
static py_t *
make_long(loader_t *l, scalar_fn *construct, const ynode_t *node)
{
    AUTO(py) address = py_yaml_load_address_of(node);
    py_t *v = address != NULL ? py_dict_get(l->known, address) : NULL;

    if (v != NULL)
        return py_ref(v);
    v = construct(node, l->problem);
    if (v != NULL && address != NULL)
        py_dict_set(l->known, address, v);
    return v;
}

/* NEW value, or NULL with the problem set. */
static py_t *
py_yaml_load_make(loader_t *l, const ynode_t *node)
{
    const struct kind_row *row = &kinds[node->kind];

    if (++l->values > LIMIT_YAML_NODES) {
        yproblem_set(l->problem, YAML_LIMIT, node->at, "more than the %d nodes allowed", LIMIT_YAML_NODES);
        return NULL;
    }
    if (py_tick() < 0)
        return py_yaml_load_failed(l->problem, node);
    if (row->scalar == NULL && row->fill == NULL) {
        yaml_unknown_tag(node, l->problem);
        return NULL;
    }
    if (row->scalar != NULL) {
        /* Makes a scalar by its kind. */
        const ynode_t *scalar = yaml_default_value(node);
        scalar_fn *construct = row->scalar;
        if (l->safe && row == &kinds[YAML_IS_INT])
            construct = make_safe_int;
        else if (l->safe && row == &kinds[YAML_IS_TIMESTAMP])
            construct = make_time;
        if (scalar->shape == YSCALAR && scalar->said != NULL) {
            /* A scalar with peers' marks. */
            AUTO(py) v = construct(scalar, l->problem);
            if (v != NULL && py_is(v, PY_STR))
                return py_str_spans(PY_TEXT(v), PY_LEN(v), scalar->said);
            return v != NULL && py_is(v, PY_BYTES) ? py_peer(STEAL(v), scalar->said->v[0].flags) : STEAL(v);
        }
        if (scalar->shape == YSCALAR && construct == py_yaml_load_make_str && scalar->n <= SHORT) {
            /* A short text, from the cache when it has it. */
            unsigned h = (unsigned) scalar->n;
            for (size_t i = 0; i < scalar->n; i++)
                h = h * 31 + (unsigned char) scalar->text[i];
            py_t **at = &l->recent[(h ^ h >> 8) % RECENT];
            if (*at == NULL || PY_LEN(*at) != scalar->n ||
                memcmp(PY_TEXT(*at), scalar->text, scalar->n) != 0) {
                py_unref(*at);
                *at = py_str(scalar->text, scalar->n);
            }
            return py_ref(*at);
        }
        if (scalar->shape == YSCALAR)
            return scalar->n > SHORT && scalar == node ? make_long(l, construct, node)
                                                       : construct(scalar, l->problem);
        yaml_wrong_shape(scalar, YSCALAR, l->problem);
        return NULL;
    }
    if (row->shape == node->shape) {
        /* An empty container, queued to be filled, or the one that its anchor made. */
        AUTO(py) address = py_yaml_load_address_of(node);
        py_t *v = address != NULL ? py_dict_get(l->known, address) : NULL;
        if (v != NULL)
            return py_ref(v);
        if (node->kind == YAML_IS_MAP)
            v = l->ordered ? py_odict() : py_dict();
        else
            v = node->kind == YAML_IS_SET ? py_set(false) : py_list();
        if (address != NULL)
            py_dict_set(l->known, address, v);
        if (l->n == l->cap) {
            size_t cap = py_next_cap(l->cap, sizeof(*l->jobs));
            py_count((int64_t) ((cap - l->cap) * sizeof(*l->jobs)));
            l->cap = cap;
            l->jobs = xrealloc(l->jobs, l->cap * sizeof(*l->jobs));
        }
        l->jobs[l->n++] = (job_t){ node, py_ref(v) };
        return v;
    }
    yaml_wrong_shape(node, row->shape, l->problem);
    return NULL;
}

/* ---- containers ------------------------------------------------------------------------------- */

static bool
py_yaml_load_fill_seq(loader_t *l, const job_t *job)
{
    for (size_t i = 0; i < job->node->n; i++) {
        py_t *v = py_yaml_load_make(l, job->node->items[i]);
        if (v == NULL)
            return false;
        py_append_new(job->into, v);
    }
    return true;
}

static void show_node(buf_t *out, ynode_t *node);

/* repr() of a node's value as PyYAML's node classes show it; "[...]" for a cycle and beyond LONG_MESSAGE
 * bytes. */
static void
show_value(buf_t *out, ynode_t *node)
{
    if (node->shape == YSCALAR) {
        AUTO(py) text = py_str(node->text, node->n);
        py_repr_to(out, text);
        return;
    }
    if (node->open || out->len > LONG_MESSAGE) {
        buf_puts(out, "[...]");
        return;
    }
    node->open = true;

    /* Shows the elements of a sequence or pairs of a mapping, up to LONG_MESSAGE bytes. */
    buf_putc(out, '[');
    for (size_t i = 0; i < node->n && out->len <= LONG_MESSAGE; i++) {
        buf_puts(out, i > 0 ? ", " : "");
        if (node->shape == YSEQ) {
            show_node(out, node->items[i]);
            continue;
        }
        buf_putc(out, '(');
        show_node(out, node->pairs[i].key);
        buf_puts(out, ", ");
        show_node(out, node->pairs[i].value);
        buf_putc(out, ')');
    }
    buf_putc(out, ']');

    node->open = false;
}

/* The node's repr in PyYAML, for messages. */
static void
show_node(buf_t *out, ynode_t *node)
{
    static const char *const classes[] = {
        [YSCALAR] = "ScalarNode", [YSEQ] = "SequenceNode", [YMAP] = "MappingNode"
    };
    static const char *const resolved[] = {
        [YAML_IS_STR] = "str",     [YAML_IS_NULL] = "null",   [YAML_IS_BOOL] = "bool",
        [YAML_IS_INT] = "int",     [YAML_IS_FLOAT] = "float", [YAML_IS_TIMESTAMP] = "timestamp",
        [YAML_IS_MERGE] = "merge", [YAML_IS_VALUE] = "value", [YAML_IS_SEQ] = "seq",
        [YAML_IS_MAP] = "map"
    };

    if (node->tag != NULL)
        buf_printf(out, "%s(tag='%s', value=", classes[node->shape], node->tag);
    else
        buf_printf(out, "%s(tag='tag:yaml.org,2002:%s', value=", classes[node->shape], resolved[node->kind]);
    show_value(out, node);
    buf_putc(out, ')');
}

/* NEW key, or NULL with the problem set. */
static py_t *
py_yaml_load_make_key(loader_t *l, const job_t *job, ynode_t *node)
{
    ynode_t plain;
    uint64_t hash;

    if (node->kind == YAML_IS_VALUE) { /* as a key, `=` is plain text */
        plain = *node;
        plain.kind = YAML_IS_STR;
        plain.shared = false; /* the copy's address does not last */
        return py_yaml_load_make(l, &plain);
    }
    py_t *key = py_yaml_load_make(l, node);
    if (key == NULL || py_is(key, PY_STR) || py_hash(key, &hash) == 0)
        return key;

    /* Salt's message for an unhashable key, which shows PyYAML's tree of the key. False. */
    buf_auto_t shown = BUF_INIT;
    py_clear();
    show_value(&shown, node);
    (void) yproblem_within(l->problem, YAML_CONSTRUCTOR, "while constructing a mapping", job->node->at,
                           node->at, "found unacceptable key %s", buf_str(&shown));

    py_unref(key);
    return NULL;
}

/* A key twice is an error, as with Salt's loader. */
static bool
put_pair(loader_t *l, const job_t *job, const ynode_t *at, py_t *key, py_t *value)
{
    size_t before = py_dict_len(job->into);

    if (py_dict_set(job->into, key, value) < 0)
        return false;
    if (py_dict_len(job->into) > before)
        return true;
    AUTO(py) shown = py_tostr(key);
    return yproblem_within(l->problem, YAML_CONSTRUCTOR, "while constructing a mapping", job->node->at,
                           at->at, "found conflicting ID '%s'", shown != NULL ? py_cstr(shown) : "?");
}

static bool
py_yaml_load_fill_map(loader_t *l, const job_t *job)
{
    bool ok = true;

    for (size_t i = 0; ok && i < job->node->n; i++) {
        const ypair_t *pair = &job->node->pairs[i];
        AUTO(py) key = py_yaml_load_make_key(l, job, pair->key);
        AUTO(py) value = key != NULL ? py_yaml_load_make(l, pair->value) : NULL;
        ok = value != NULL && put_pair(l, job, pair->key, key, value);
    }
    return ok;
}

/* Fills a set. Keys are checked as a mapping's; values are constructed only to report errors in them. */
static bool
py_yaml_load_fill_set(loader_t *l, const job_t *job)
{
    AUTO(py) map = py_dict();
    const job_t as_map = { job->node, map };
    size_t i = 0;
    py_t *key, *unused;

    if (!py_yaml_load_fill_map(l, &as_map))
        return false;
    while (py_dict_next(map, &i, &key, &unused))
        py_set_add(job->into, key);
    return true;
}

static bool
py_yaml_load_fill_pairs(loader_t *l, const job_t *job)
{
    for (size_t i = 0; i < job->node->n; i++) {
        const ynode_t *item = job->node->items[i];
        if (!yaml_is_pair(item, job->node, l->problem))
            return false;
        AUTO(py) key = py_yaml_load_make(l, item->pairs[0].key);
        AUTO(py) value = key != NULL ? py_yaml_load_make(l, item->pairs[0].value) : NULL;
        if (value == NULL)
            return false;
        py_append_new(job->into, py_tuple_of(2, key, value));
    }
    return true;
}

/* Containers are filled from a list of jobs instead of by recursion, so that depth costs no stack. */
static py_t *
py_yaml_load_build(const ynode_t *root, bool ordered, bool safe, yproblem_t *problem)
{
    loader_t l = { .problem = problem, .ordered = ordered, .safe = safe, .known = py_dict() };
    AUTO(py) v = root != NULL ? py_yaml_load_make(&l, root) : PY_None;
    bool ok = v != NULL;

    for (size_t i = 0; i < l.n; i++) {
        const job_t job = l.jobs[i]; /* filling may move the list */
        ok = ok && kinds[job.node->kind].fill(&l, &job);
        py_unref(job.into);
    }
    py_count(-(int64_t) (l.cap * sizeof(*l.jobs)));
    free(l.jobs);
    py_unref(l.known);
    for (size_t i = 0; i < RECENT; i++)
        py_unref(l.recent[i]);
    return ok ? STEAL(v) : NULL;
}

py_t *
py_yaml_build(const ynode_t *root, bool ordered, yproblem_t *problem)
{
    return py_yaml_load_build(root, ordered, false, problem);
}

static py_t *
py_yaml_load_load(const char *text, size_t len, const spans_t *spans, bool ordered, bool safe,
                  yproblem_t *problem)
{
    ydoc_t *doc = ydoc_new_graph(text, len, spans, problem);
    py_t *v = doc != NULL ? py_yaml_load_build(ydoc_root(doc), ordered, safe, problem) : NULL;

    ydoc_destroy(&doc);
    return v;
}

py_t *
py_yaml_load(const char *text, size_t len, bool ordered, yproblem_t *problem)
{
    return py_yaml_load_load(text, len, NULL, ordered, false, problem);
}

py_t *
py_yaml_load_said(const char *text, size_t len, const spans_t *spans, yproblem_t *problem)
{
    return py_yaml_load_load(text, len, spans, true, false, problem);
}

py_t *
py_yaml_load_safe(const char *text, size_t len, yproblem_t *problem)
{
    return py_yaml_load_load(text, len, NULL, false, true, problem);
}
