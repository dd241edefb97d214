/* jmes_expref.c - "&expression" as a value. It brings its evaluator along, so that the functions that apply
 * it need not know that. */
#include "common/jmes/jmes.h"

/* &expression, as an argument; it keeps its tree alive. */
typedef struct expref {
    jmes_t *tree;
    const jmes_node_t *node;
    jmes_eval_fn *eval;
} expref_t;

static void
expref_free(void *data)
{
    expref_t *e = data;
    jmes_unref(e->tree);
    free(e);
}

static const py_class_t expref_class = { .name = "_Expression",
                                         .module = "jmespath.visitor",
                                         .free = expref_free };

/* The value keeps a reference to its tree, as it may outlive the search. */
py_t *
jmes_expref(jmes_t *self, const jmes_node_t *node, jmes_eval_fn *eval)
{
    expref_t *e = xcalloc(1, sizeof(*e));
    e->tree = self;
    self->refs++;
    e->node = node;
    e->eval = eval;
    return py_host(&expref_class, e);
}

/* Applies "&expression" to a value. NEW, or NULL raised. */
py_t *
jmes_apply(py_t *expref, py_t *value)
{
    const expref_t *e = py_host_data(expref, &expref_class);
    return e->eval(e->tree, e->node, value);
}
