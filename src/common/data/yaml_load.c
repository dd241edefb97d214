/* yaml_load.c - a YAML tree to JSON values.
 *
 * Containers are filled breadth first from a queue of jobs, as PyYAML's deferred constructors do, so neither
 * the nesting of the document nor that of its aliases becomes recursion. Each alias is built again, since
 * JSON values are not shared; the limit of nodes, LIMIT_YAML_TEXT and LIMIT_YAML_DEPTH count the values after
 * that expansion, which stops "billion laughs" documents. */
#include "common/base/buf.h"
#include "common/data/yaml.h"
#include "common/data/yaml_construct.h"
#include "salt/limits.h"
#include "salt/value.h"

struct yaml_lines {
    json_t *of;
};

typedef struct job {
    const ynode_t *node;
    json_t *into; /* borrowed: held by its parent */
    int depth;
} job_t;

typedef struct loader {
    yproblem_t *problem;
    job_t *jobs; /* containers still to be filled */
    size_t n, cap;
    size_t values, max_values, text; /* text: bytes */
    yproblem_t
        *twice; /* BORROWED: tells of a key that stands twice, whose last value counts; NULL: refuse it */
} loader_t;

void
yaml_lines_destroy(yaml_lines_t **self_p)
{
    if (*self_p == NULL)
        return;
    json_decref((*self_p)->of);
    free(*self_p);
    *self_p = NULL;
}

int
yaml_line_of(const yaml_lines_t *self, const char *key)
{
    return self != NULL ? (int) json_integer_value(json_object_get(self->of, key)) : 0;
}

/* ---- scalars --------------------------------------------------------------------------------- */

static json_t *
yaml_load_make_str(const ynode_t *node, yproblem_t *problem)
{
    return value_utf8(node->text, node->n);
}

static json_t *
yaml_load_make_null(const ynode_t *node, yproblem_t *problem)
{
    return json_null();
}

static void
yaml_load_not_a(yproblem_t *problem, const ynode_t *node, const char *what)
{
    int shown = node->n < 100 ? (int) node->n : 100; /* the text of yaml_scalar has no NUL behind it */

    yproblem_set(problem, YAML_CONSTRUCTOR, node->at, "'%.*s' is not %s", shown, node->text, what);
}

static json_t *
yaml_load_make_bool(const ynode_t *node, yproblem_t *problem)
{
    bool v;

    if (yaml_to_bool(node->text, node->n, &v))
        return json_boolean(v);
    yaml_load_not_a(problem, node, "a boolean");
    return NULL;
}

static json_t *
yaml_load_make_int(const ynode_t *node, yproblem_t *problem)
{
    AUTO_FREE char *digits = NULL;
    json_int_t v = 0;

    switch (yaml_to_int(node->text, node->n, &v, &digits)) {
    case YAML_INT_64:
        return json_integer(v);
    case YAML_INT_BIG:
        return json_string(digits);
    case YAML_INT_HUGE:
        yproblem_set(problem, YAML_CONSTRUCTOR, node->at, "an integer of more than 4300 digits");
        return NULL;
    case YAML_INT_BAD:
        break;
    }
    yaml_load_not_a(problem, node, "an integer");
    return NULL;
}

/* JSON has neither infinities nor NaN; they become the strings that yaml.h names. */
static json_t *
yaml_load_make_float(const ynode_t *node, yproblem_t *problem)
{
    double v;

    if (!yaml_to_float(node->text, node->n, &v)) {
        yaml_load_not_a(problem, node, "a number");
        return NULL;
    }
    if (v != v)
        return json_string(".nan");
    if (v - v != 0.0)
        return json_string(v > 0 ? ".inf" : "-.inf");
    return json_real(v);
}

/* !!binary to text: PyYAML first encodes the scalar as ASCII, which explains the first message; bytes that
 * are not UTF-8 become replacement characters (value_utf8). */
static json_t *
yaml_load_make_binary(const ynode_t *node, yproblem_t *problem)
{
    AUTO_FREE char *why = NULL;
    size_t len = 0;

    for (size_t i = 0; i < node->n; i++) {
        if ((node->text[i] & 0x80) != 0) {
            yproblem_set(problem, YAML_CONSTRUCTOR, node->at,
                         "failed to convert base64 data into ascii: byte %zu is not ASCII", i);
            return NULL;
        }
    }
    AUTO_FREE char *bytes = yaml_from_base64(node->text, node->n, &len, &why);
    if (bytes == NULL) {
        yproblem_set(problem, YAML_CONSTRUCTOR, node->at, "failed to decode base64 data: %s", why);
        return NULL;
    }
    return value_utf8(bytes, len);
}

/* ---- any node -------------------------------------------------------------------------------- */

typedef json_t *scalar_fn(const ynode_t *node, yproblem_t *problem);
typedef bool fill_fn(loader_t *l, const job_t *job);

static fill_fn yaml_load_fill_seq, yaml_load_fill_map, yaml_load_fill_set, yaml_load_fill_pairs;

/* How each kind is made: a scalar at once; a container empty now, and filled when its turn comes. */
static const struct kind_row {
    yshape_t shape;
    scalar_fn *scalar;
    json_t *(*empty)(void);
    fill_fn *fill;
} kinds[] = {
    [YAML_IS_STR] = { YSCALAR, yaml_load_make_str, NULL, NULL },
    [YAML_IS_NULL] = { YSCALAR, yaml_load_make_null, NULL, NULL },
    [YAML_IS_BOOL] = { YSCALAR, yaml_load_make_bool, NULL, NULL },
    [YAML_IS_INT] = { YSCALAR, yaml_load_make_int, NULL, NULL },
    [YAML_IS_FLOAT] = { YSCALAR, yaml_load_make_float, NULL, NULL },
    [YAML_IS_TIMESTAMP] = { YSCALAR, yaml_load_make_str, NULL, NULL },
    [YAML_IS_BINARY] = { YSCALAR, yaml_load_make_binary, NULL, NULL },
    [YAML_IS_SEQ] = { YSEQ, NULL, json_array, yaml_load_fill_seq },
    [YAML_IS_MAP] = { YMAP, NULL, json_object, yaml_load_fill_map },
    [YAML_IS_SET] = { YMAP, NULL, json_object, yaml_load_fill_set },
    [YAML_IS_PAIRS] = { YSEQ, NULL, json_array, yaml_load_fill_pairs },
    [YAML_IS_UNKNOWN] = { 0 },
};

/* Counts a scalar's bytes against LIMIT_YAML_TEXT, once for each place that an alias repeats it. */
static bool
count_text(loader_t *l, const ynode_t *node)
{
    l->text += node->n;
    return l->text <= LIMIT_YAML_TEXT ||
           yproblem_set(l->problem, YAML_LIMIT, node->at,
                        "more than %d bytes of text once aliases are followed", LIMIT_YAML_TEXT);
}

/* NEW value, or NULL with the problem set. */
static json_t *
yaml_load_make(loader_t *l, const ynode_t *node, int depth)
{
    const struct kind_row *row = &kinds[node->kind];

    if (++l->values > l->max_values || depth > LIMIT_YAML_DEPTH) {
        yproblem_set(l->problem, YAML_LIMIT, node->at, "more than %zu %s once aliases are followed",
                     depth > LIMIT_YAML_DEPTH ? (size_t) LIMIT_YAML_DEPTH : l->max_values,
                     depth > LIMIT_YAML_DEPTH ? "levels" : "nodes");
        return NULL;
    }
    if (row->scalar == NULL && row->fill == NULL) {
        yaml_unknown_tag(node, l->problem);
        return NULL;
    }
    if (row->scalar != NULL) {
        const ynode_t *scalar = yaml_default_value(node);
        if (scalar->shape == YSCALAR)
            return count_text(l, scalar) ? row->scalar(scalar, l->problem) : NULL;
        yaml_wrong_shape(scalar, YSCALAR, l->problem);
        return NULL;
    }
    if (row->shape != node->shape) {
        yaml_wrong_shape(node, row->shape, l->problem);
        return NULL;
    }
    json_t *v = row->empty();

    if (l->n == l->cap) {
        l->cap = l->cap * 2 + 16;
        l->jobs = xrealloc(l->jobs, l->cap * sizeof(*l->jobs));
    }
    l->jobs[l->n++] = (job_t){ node, v, depth };
    return v;
}

/* ---- containers ------------------------------------------------------------------------------ */

static bool
yaml_load_fill_seq(loader_t *l, const job_t *job)
{
    for (size_t i = 0; i < job->node->n; i++) {
        json_t *v = yaml_load_make(l, job->node->items[i], job->depth + 1);
        if (v == NULL)
            return false;
        json_array_append_new(job->into, v);
    }
    return true;
}

/* Canonical text of a key that is a number, since Python's dict takes 1, 1.0 and true for one key. NEW, or
 * NULL for other values. */
static char *
number_key(const json_t *v)
{
    double d = json_number_value(v);

    if (json_is_boolean(v))
        return xstrdup(json_is_true(v) ? "1" : "0");
    if (json_is_real(v) && (d < -0x1p63 || d >= 0x1p63 || d != (double) (long long) d))
        return value_float_repr(d);
    return json_is_number(v) ? xasprintf("%lld", json_is_real(v) ? (long long) d : json_integer_value(v))
                             : NULL;
}

typedef struct mapkey {
    const char *text;
    size_t len;
    char *owned;  /* buffer of `text`, NULL when the node owns it */
    char *number; /* see number_key */
} mapkey_t;

/* Text of a mapping's key: Python's str() of values that are not text. Containers, which Python cannot hash,
 * and NUL bytes are refused. */
static bool
yaml_load_make_key(loader_t *l, const ynode_t *node, int depth, mapkey_t *k)
{
    if (node->shape == YSCALAR &&
        (node->kind == YAML_IS_STR || node->kind == YAML_IS_TIMESTAMP || node->kind == YAML_IS_VALUE)) {
        k->text = node->text;
        k->len = node->n;
        if (memchr(k->text, '\0', k->len) != NULL)
            return yproblem_set(l->problem, YAML_CONSTRUCTOR, node->at,
                                "found unacceptable key: it has a NUL byte");
        return count_text(l, node);
    }
    json_auto_t *v = yaml_load_make(l, node, depth);
    if (v == NULL)
        return false;
    if (json_is_object(v) || json_is_array(v))
        return yproblem_set(l->problem, YAML_CONSTRUCTOR, node->at,
                            "found unacceptable key: a %s cannot be one%s", ynode_shape_name(node),
                            node->shape == YMAP ? "; possible double curly-brace" : "");
    k->owned = value_pystr(v);
    k->number = number_key(v);
    k->text = k->owned;
    if (node->kind == YAML_IS_FLOAT && json_is_string(v)) /* Python's str() of ".inf" is "inf" */
        memmove(strchr(k->owned, '.'), strchr(k->owned, '.') + 1, strlen(strchr(k->owned, '.')));
    k->len = strlen(k->text);
    return true;
}

/* Adds one pair, or refuses a duplicate key as Salt's loader does, unless it may be there. `numbers`, made
 * when first needed, holds the canonical texts of the mapping's numeric keys. Consumes `value`. */
static bool
yaml_load_add_pair(loader_t *l, const job_t *job, const ypair_t *pair, const mapkey_t *k, json_t **numbers,
                   json_t *value)
{
    bool known = json_object_getn(job->into, k->text, k->len) != NULL;

    if (k->number != NULL) {
        if (*numbers == NULL)
            *numbers = json_object();
        known = known || json_object_get(*numbers, k->number) != NULL;
        json_object_set_new(*numbers, k->number, json_true());
    }
    if (known && l->twice != NULL) {
        yproblem_free(l->twice);
        (void) yproblem_within(l->twice, YAML_CONSTRUCTOR, "while constructing a mapping", job->node->at,
                               pair->key->at, "found conflicting ID '%s', of which the last counts", k->text);
    } else if (known) {
        json_decref(value);
        return yproblem_within(l->problem, YAML_CONSTRUCTOR, "while constructing a mapping", job->node->at,
                               pair->key->at, "found conflicting ID '%s'", k->text);
    }
    json_object_setn_new_nocheck(job->into, k->text, k->len, value);
    return true;
}

static bool
yaml_load_fill_map(loader_t *l, const job_t *job)
{
    json_auto_t *numbers = NULL;

    for (size_t i = 0; i < job->node->n; i++) {
        const ypair_t *pair = &job->node->pairs[i];
        mapkey_t k = { NULL, 0, NULL, NULL };
        json_t *v = NULL;
        bool ok = yaml_load_make_key(l, pair->key, job->depth + 1, &k);
        if (ok)
            v = yaml_load_make(l, pair->value, job->depth + 1);
        ok = v != NULL && yaml_load_add_pair(l, job, pair, &k, &numbers, v);
        free(k.owned);
        free(k.number);
        if (!ok)
            return false;
    }
    return true;
}

/* A set's values are discarded; containers inside of them that are still queued are dropped too, since they
 * would be filled after their release. */
static bool
yaml_load_fill_set(loader_t *l, const job_t *job)
{
    size_t waiting = l->n;
    const char *key;
    json_t *v;

    if (!yaml_load_fill_map(l, job))
        return false;
    l->n = waiting;
    json_object_foreach (job->into, key, v)
        json_object_iter_set_new(job->into, json_object_key_to_iter(key), json_null());
    return true;
}

static bool
yaml_load_fill_pairs(loader_t *l, const job_t *job)
{
    for (size_t i = 0; i < job->node->n; i++) {
        const ynode_t *item = job->node->items[i];
        if (!yaml_is_pair(item, job->node, l->problem))
            return false;
        json_t *key = yaml_load_make(l, item->pairs[0].key, job->depth + 2);
        json_t *value = key != NULL ? yaml_load_make(l, item->pairs[0].value, job->depth + 2) : NULL;
        if (value == NULL) {
            json_decref(key);
            return false;
        }
        json_array_append_new(job->into, json_pack("[o,o]", key, value));
    }
    return true;
}

/* NEW value of the whole document, or NULL with the problem set. The queue grows while it is worked off;
 * values are held by their parents, the root by `v`. */
static json_t *
load_root(const ynode_t *root, size_t max_values, yproblem_t *problem, yproblem_t *twice)
{
    loader_t l = { .problem = problem, .max_values = max_values, .twice = twice };
    json_t *v = root != NULL ? yaml_load_make(&l, root, 1) : json_null();
    bool ok = v != NULL;

    for (size_t i = 0; ok && i < l.n; i++) {
        const job_t job = l.jobs[i]; /* filling may move the list */
        ok = kinds[job.node->kind].fill(&l, &job);
    }
    free(l.jobs);
    if (ok)
        return v;
    json_decref(v);
    return NULL;
}

/* As yaml_load_repeated; without ret_twice a key that stands twice is an error. */
static json_t *
load_document(const char *text, size_t len, const char *source, size_t max_nodes, yaml_lines_t **ret_lines,
              char **ret_twice, fail_t *err)
{
    yproblem_t twice = YPROBLEM_INIT;
    yproblem_t problem = YPROBLEM_INIT;
    json_t *v = NULL;
    ydoc_t *doc = ydoc_new(text, len, max_nodes, &problem);

    if (doc != NULL)
        v = load_root(ydoc_root(doc), max_nodes, &problem, ret_twice != NULL ? &twice : NULL);
    if (v != NULL && ret_lines != NULL) {
        const ynode_t *root = ydoc_root(doc);
        yaml_lines_t *lines = xcalloc(1, sizeof(*lines));

        lines->of = json_object();
        for (size_t i = 0; root != NULL && root->shape == YMAP && i < root->n; i++) {
            const ynode_t *key = root->pairs[i].key;
            if (key->shape == YSCALAR)
                json_object_setn_new_nocheck(lines->of, key->text, key->n, json_integer(key->at.line + 1));
        }
        *ret_lines = lines;
    }
    ydoc_destroy(&doc);
    if (v == NULL) {
        AUTO_FREE char *why = yproblem_show(&problem, source, text, len);
        fail_set(err, problem.cls == YAML_LIMIT ? -E2BIG : -EINVAL, "%s", why);
    }
    if (ret_twice != NULL)
        *ret_twice = v != NULL && twice.cls != YAML_FINE ? yproblem_show(&twice, source, text, len) : NULL;
    yproblem_free(&twice);
    yproblem_free(&problem);
    return v;
}

json_t *
yaml_load(const char *text, size_t len, const char *source, yaml_lines_t **ret_lines, fail_t *err)
{
    return load_document(text, len, source, LIMIT_YAML_NODES, ret_lines, NULL, err);
}

json_t *
yaml_load_repeated(const char *text, size_t len, const char *source, yaml_lines_t **ret_lines,
                   char **ret_twice, fail_t *err)
{
    return load_document(text, len, source, LIMIT_YAML_NODES, ret_lines, ret_twice, err);
}

json_t *
yaml_load_within(const char *text, size_t len, const char *source, size_t max_nodes, fail_t *err)
{
    return load_document(text, len, source, max_nodes, NULL, NULL, err);
}

json_t *
yaml_scalar(const char *text, size_t len)
{
    const ynode_t node = { .shape = YSCALAR, .kind = yaml_resolve(text, len), .text = text, .n = len };
    const struct kind_row *row = &kinds[node.kind];
    yproblem_t problem = YPROBLEM_INIT;
    json_t *v = row->scalar != NULL ? row->scalar(&node, &problem) : NULL;

    yproblem_free(&problem);
    return v != NULL ? v : value_utf8(text, len);
}
