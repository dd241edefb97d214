/* jmes_filter.c - Jinja's filter json_query. */
#include "common/jinja/filter/filter.h"
#include "common/jmes/jmes.h"

/* The filter: parses the expression each time, and frees it unless a result refers to it. */
static py_t *
json_query(jcontext_t *ctx, py_t *const *a, const py_args_t *args)
{
    if (!py_is(a[1], PY_STR))
        return py_raise(&py_TypeError, "the expression must be a text, not '%s'", py_type_name(a[1]));
    jmes_t *tree = jmes_parse(a[1]);
    py_t *found = tree != NULL ? jmes_search(tree, a[0]) : NULL;
    jmes_unref(tree);
    return found;
}

static const jfilter_t rows[] = {
    { JROW("json_query", json_query, JP("data", "expr"), 2, 2, 0), 0, "What a JMESPath expression finds." },
};

const jfilter_table_t jfilters_salt_query = JTABLE(rows);
