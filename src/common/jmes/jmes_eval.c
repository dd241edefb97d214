/* jmes_eval.c - evaluates a JMESPath tree over a value.
 *
 * A table has a function for each kind of node. A mismatch of types gives None, as the language demands;
 * only functions raise. Steps and depth are charged to the surrounding limits. */
#include "common/jmes/jmes.h"

/* ---- truth and comparison ----------------------------------------------------------------------------- */

/* JMESPath's falsehood: None, false, and empty texts, lists and objects. Numbers are always true. */
static bool
is_false(py_t *v)
{
    size_t len;
    switch (py_type(v)) {
    case PY_NONE:
        return true;
    case PY_BOOL:
        return v == PY_False;
    case PY_STR:
        py_text(v, &len);
        return len == 0;
    case PY_LIST:
        return py_seq_len(v) == 0;
    case PY_DICT:
        return py_dict_len(v) == 0;
    default:
        return false;
    }
}

static bool
jmes_eval_is_number(py_t *v)
{
    return py_is(v, PY_INT) || py_is(v, PY_FLOAT);
}

/* jmespath.py's special case: Python takes 0 and 1 for False and True. */
static bool
is_zero_or_one(py_t *v)
{
    AUTO(py) zero = py_int(0);
    AUTO(py) one = py_int(1);
    return jmes_eval_is_number(v) && (py_eq(v, zero) > 0 || py_eq(v, one) > 0);
}

/* jmespath.py's equality: Python would say 0 == False and 1 == True. */
static int
equals(py_t *a, py_t *b)
{
    if (is_zero_or_one(a)) {
        if (py_is(b, PY_BOOL))
            return 0;
    } else if (is_zero_or_one(b) && py_is(a, PY_BOOL)) {
        return 0;
    }
    return py_eq(a, b);
}

/* Ordering is defined for numbers and texts only; None for other types. */
static py_t *
jmes_eval_compare(jmes_token_type_t op, py_t *a, py_t *b)
{
    static const py_cmp_t ops[JT_TYPES] = {
        [JT_LT] = PY_LT, [JT_LTE] = PY_LE, [JT_GT] = PY_GT, [JT_GTE] = PY_GE
    };
    int truth;
    if (op == JT_EQ || op == JT_NE) {
        truth = equals(a, b);
        return truth < 0 ? NULL : py_bool((truth > 0) == (op == JT_EQ));
    }
    if ((!jmes_eval_is_number(a) && !py_is(a, PY_STR)) || (!jmes_eval_is_number(b) && !py_is(b, PY_STR)))
        return py_ref(PY_None);
    truth = py_compare(a, b, ops[op]);
    return truth < 0 ? NULL : py_bool(truth > 0);
}

/* ---- nodes -------------------------------------------------------------------------------------------- */

/* A field of an object; None for other values, and for missing fields. */
static py_t *
eval_field(jmes_t *t, const jmes_node_t *n, py_t *v)
{
    py_t *found = py_is(v, PY_DICT) ? py_dict_get(v, n->value) : NULL;
    return py_ref(found != NULL ? found : PY_None);
}

/* Evaluates the left side, then the right side over its result. */
static py_t *
eval_chain(jmes_t *t, const jmes_node_t *n, py_t *v)
{
    AUTO(py) left = jmes_eval(t, n->left, v);
    return left != NULL ? jmes_eval(t, n->right, left) : NULL;
}

/* An element of a list, from the end for negative numbers; None when there is none. */
static py_t *
eval_index(jmes_t *t, const jmes_node_t *n, py_t *v)
{
    int64_t i, len = py_is(v, PY_LIST) ? (int64_t) py_seq_len(v) : 0;
    if (!py_to_int64(n->value, &i))
        return py_ref(PY_None);
    i = i < 0 ? i + len : i;
    return py_ref(i >= 0 && i < len ? py_seq_at(v, (size_t) i) : PY_None);
}

static py_t *
jmes_eval_slice(jmes_t *t, const jmes_node_t *n, py_t *v)
{
    return py_is(v, PY_LIST) ? py_getitem(v, n->value) : py_ref(PY_None);
}

/* Flattens a list by one level; elements that are not lists stay. */
static py_t *
eval_flatten(jmes_t *t, const jmes_node_t *n, py_t *v)
{
    AUTO(py) base = jmes_eval(t, n->left, v);
    if (base == NULL || !py_is(base, PY_LIST))
        return base != NULL ? py_ref(PY_None) : NULL;
    AUTO(py) out = py_list();
    for (size_t i = 0; i < py_seq_len(base); i++) {
        py_t *item = py_seq_at(base, i);
        if (py_tick() < 0)
            return NULL;
        if (!py_is(item, PY_LIST))
            py_append(out, item);
        else if (py_extend(out, item) < 0)
            return NULL;
    }
    return STEAL(out);
}

/* Applies a projection: evaluates the right side for each element that meets the condition, and drops None.
 */
static py_t *
jmes_eval_collect(jmes_t *t, const jmes_node_t *n, py_t *list)
{
    AUTO(py) out = py_list();
    for (size_t i = 0; i < py_seq_len(list); i++) {
        py_t *item = py_seq_at(list, i);
        AUTO(py) chosen = n->condition != NULL ? jmes_eval(t, n->condition, item) : py_ref(PY_True);
        if (chosen == NULL)
            return NULL;
        if (is_false(chosen))
            continue;
        AUTO(py) made = jmes_eval(t, n->right, item);
        if (made == NULL)
            return NULL;
        if (!py_is(made, PY_NONE))
            py_append(out, made);
    }
    return STEAL(out);
}

/* A list projection or filter; None over anything but a list. */
static py_t *
eval_projection(jmes_t *t, const jmes_node_t *n, py_t *v)
{
    AUTO(py) base = jmes_eval(t, n->left, v);
    if (base == NULL || !py_is(base, PY_LIST))
        return base != NULL ? py_ref(PY_None) : NULL;
    return jmes_eval_collect(t, n, base);
}

/* An object projection, over the values in their order. */
static py_t *
eval_values(jmes_t *t, const jmes_node_t *n, py_t *v)
{
    AUTO(py) base = jmes_eval(t, n->left, v);
    if (base == NULL || !py_is(base, PY_DICT))
        return base != NULL ? py_ref(PY_None) : NULL;
    AUTO(py) values = py_list();
    py_t *key, *value;
    for (size_t i = 0; py_dict_next(base, &i, &key, &value);)
        py_append(values, value);
    return jmes_eval_collect(t, n, values);
}

static py_t *
eval_compare(jmes_t *t, const jmes_node_t *n, py_t *v)
{
    AUTO(py) left = jmes_eval(t, n->left, v);
    AUTO(py) right = left != NULL ? jmes_eval(t, n->right, v) : NULL;
    return right != NULL ? jmes_eval_compare(n->op, left, right) : NULL;
}

static py_t *
eval_current(jmes_t *t, const jmes_node_t *n, py_t *v)
{
    return py_ref(v);
}

static py_t *
eval_expref(jmes_t *t, const jmes_node_t *n, py_t *v)
{
    return jmes_expref(t, n->left, jmes_eval);
}

static py_t *
eval_literal(jmes_t *t, const jmes_node_t *n, py_t *v)
{
    return py_ref(n->value);
}

/* Evaluates each expression over the same value. NEW list. */
static py_t *
elements(jmes_t *t, const jmes_node_t *n, py_t *v)
{
    AUTO(py) out = py_list();
    for (size_t i = 0; i < n->n; i++) {
        py_t *item = jmes_eval(t, n->v[i], v);
        if (item == NULL)
            return NULL;
        py_append_new(out, item);
    }
    return STEAL(out);
}

/* Arguments are evaluated before the function is looked up. */
static py_t *
eval_function(jmes_t *t, const jmes_node_t *n, py_t *v)
{
    AUTO(py) list = elements(t, n, v);
    if (list == NULL)
        return NULL;
    py_t **args = xcalloc(n->n + 1, sizeof(py_t *));
    for (size_t i = 0; i < n->n; i++)
        args[i] = py_seq_at(list, i);
    py_t *result = jmes_call(py_cstr(n->value), args, n->n);
    free(args);
    return result;
}

static py_t *
jmes_eval_list(jmes_t *t, const jmes_node_t *n, py_t *v)
{
    return py_is(v, PY_NONE) ? py_ref(v) : elements(t, n, v);
}

/* Multi-select hash; None over None, as the specification says. */
static py_t *
eval_hash(jmes_t *t, const jmes_node_t *n, py_t *v)
{
    if (py_is(v, PY_NONE))
        return py_ref(v);
    AUTO(py) dict = py_dict();
    for (size_t i = 0; i < n->n; i++) {
        AUTO(py) item = jmes_eval(t, n->v[i], v);
        if (item == NULL || py_dict_set(dict, n->keys[i], item) < 0)
            return NULL;
    }
    return STEAL(dict);
}

/* `or` and `and`: the left value when it decides, else the right one. */
static py_t *
eval_or(jmes_t *t, const jmes_node_t *n, py_t *v)
{
    AUTO(py) left = jmes_eval(t, n->left, v);
    if (left == NULL)
        return NULL;
    bool enough = is_false(left) == (n->kind == JM_AND);
    return enough ? STEAL(left) : jmes_eval(t, n->right, v);
}

/* jmespath.py negates numbers to false, as they count as true, but uses Python's truth for the rest. */
static py_t *
eval_not(jmes_t *t, const jmes_node_t *n, py_t *v)
{
    AUTO(py) inner = jmes_eval(t, n->left, v);
    if (inner == NULL || jmes_eval_is_number(inner))
        return inner != NULL ? py_ref(PY_False) : NULL;
    int truth = py_truth(inner);
    return truth < 0 ? NULL : py_bool(truth == 0);
}

typedef py_t *eval_fn(jmes_t *t, const jmes_node_t *n, py_t *v);
static eval_fn *const evaluators[JM_KINDS] = {
    [JM_FIELD] = eval_field,
    [JM_CHAIN] = eval_chain,
    [JM_INDEX_EXPR] = eval_chain,
    [JM_INDEX] = eval_index,
    [JM_SLICE] = jmes_eval_slice,
    [JM_FLATTEN] = eval_flatten,
    [JM_VALUES] = eval_values,
    [JM_FILTER] = eval_projection,
    [JM_PROJECTION] = eval_projection,
    [JM_COMPARE] = eval_compare,
    [JM_CURRENT] = eval_current,
    [JM_EXPREF] = eval_expref,
    [JM_LITERAL] = eval_literal,
    [JM_FUNCTION] = eval_function,
    [JM_HASH] = eval_hash,
    [JM_LIST] = jmes_eval_list,
    [JM_OR] = eval_or,
    [JM_AND] = eval_or,
    [JM_NOT] = eval_not,
};

/* Each node costs a step and a level of the surrounding limits. */
py_t *
jmes_eval(jmes_t *self, const jmes_node_t *node, py_t *value)
{
    if (py_tick() < 0 || py_enter() < 0)
        return NULL;
    py_t *v = evaluators[node->kind](self, node, value);
    py_leave();
    return v;
}

py_t *
jmes_search(jmes_t *self, py_t *value)
{
    return jmes_eval(self, self->root, value);
}
