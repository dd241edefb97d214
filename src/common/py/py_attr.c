/* py_attr.c - names of types, attributes and calls. An attribute is a method of the type, or an entry of a
 * namespace, group or host. Calls count a level, so recursion of templates is bounded. */
#include "common/py/py_methods.h"
#include "common/py/py_as.h"

const char *
py_type_name(const py_t *v)
{
    static const char *const names[PY_TYPES] = {
        [PY_NONE] = "NoneType", [PY_BOOL] = "bool",           [PY_INT] = "int",     [PY_FLOAT] = "float",
        [PY_STR] = "str",       [PY_BYTES] = "bytes",         [PY_LIST] = "list",   [PY_TUPLE] = "tuple",
        [PY_SET] = "set",       [PY_DICT] = "dict",           [PY_RANGE] = "range", [PY_SLICE] = "slice",
        [PY_FUNC] = "function", [PY_NAMESPACE] = "Namespace",
    };
    static const char *const views[] = { "dict_keys", "dict_values", "dict_items" };
    static const char *const oviews[] = { "odict_keys", "odict_values", "odict_items" };
    const pyview_t *view = (const pyview_t *) v;
    const pyfunc_t *func = (const pyfunc_t *) v;

    switch (py_type(v)) {
    case PY_STR:
        return py_is_markup(v) ? "Markup" : "str";
    case PY_TUPLE:
        return py_is_group(v) ? "_GroupTuple" : "tuple";
    case PY_SET:
        return (v->flags & PY_F_FROZEN) != 0 ? "frozenset" : "set";
    case PY_DICT:
        return py_is_odict(v) ? "OrderedDict" : "dict";
    case PY_VIEW:
        return py_is_odict(view->dict) ? oviews[view->kind] : views[view->kind];
    case PY_GEN:
        return ((const pygen_t *) v)->cls->name;
    case PY_FUNC:
        if ((v->flags & PY_F_BOUND) != 0) {
            /* markupsafe defines some methods in Python. */
            bool python = py_is(func->self, PY_STR) && py_is_markup(func->self) &&
                          (func->method->flags & (PY_METHOD_ESCAPES | PY_METHOD_SAFE)) != 0;
            return python ? "method" : "builtin_function_or_method";
        }
        return func->cls->is_class ? "type" : func->cls->is_method ? "method" : "function";
    case PY_UNDEFINED:
        return py_undef_class(v)->name;
    case PY_HOST:
        return py_host_class(v)->name;
    default:
        return names[py_type(v)];
    }
}

/* ---- attributes ------------------------------------------------------------------------------ */

/* Names like `__x__` are not there. Any other attribute of a chainable undefined value is the value itself;
 * without chaining, reading it raises. */
static int
undefined_attr(py_t *v, py_t *name, py_t **ret_v)
{
    if (PY_LEN(name) >= 2 && memcmp(PY_TEXT(name), "__", 2) == 0)
        return 0;
    if ((py_undef_class(v)->flags & PY_UNDEF_CHAIN) != 0) {
        *ret_v = py_ref(v);
        return 1;
    }
    py_undef_raise(v);
    return -1;
}

int
py_find_attr(py_t *v, py_t *name, py_t **ret_v)
{
    switch (py_type(v)) {
    case PY_TUPLE: /* groupby's tuples have names for their two items */
        if (!py_is_group(v) || (!py_str_is(name, "grouper") && !py_str_is(name, "list")))
            break;
        *ret_v = py_ref(py_as_tuple(v)->v[py_str_is(name, "list")]);
        return 1;
    case PY_UNDEFINED:
        return undefined_attr(v, name, ret_v);
    case PY_HOST:
        return py_host_class(v)->find_attr != NULL ? py_host_class(v)->find_attr(v, name, ret_v) : 0;
    case PY_NAMESPACE: {
        py_t *found = py_dict_get(py_namespace_dict(v), name);
        *ret_v = py_ref(found);
        return found != NULL;
    }
    default:
        break;
    }
    const py_method_t *m = py_method_find(v, PY_TEXT(name), PY_LEN(name));
    if (m == NULL)
        return 0;
    if ((m->flags & PY_METHOD_PROPERTY) != 0)
        *ret_v = m->fn(v, NULL, NULL);
    else
        *ret_v = py_method_bind(m, v);
    return *ret_v != NULL ? 1 : -1;
}

/* Like the built-in getattr(): raises AttributeError for a name that is not there. */
py_t *
py_getattr(py_t *v, py_t *name)
{
    py_t *found = NULL;
    int rc = py_find_attr(v, name, &found);

    if (rc > 0)
        return found;
    const char *type = py_type_name(v);
    if (rc == 0) /* a method reports its function */
        py_raise(&py_AttributeError, "'%s' object has no attribute '%s'",
                 strcmp(type, "method") == 0 ? "function" : type, PY_TEXT(name));
    return NULL;
}

py_t *
py_getattrs(py_t *v, const char *name)
{
    AUTO(py) text = py_strz(name);

    return py_getattr(v, text);
}

int
py_setattr(py_t *v, py_t *name, py_t *value)
{
    py_t *found = NULL;

    if (py_is(v, PY_NAMESPACE))
        return py_dict_set(py_namespace_dict(v), name, value);
    if (py_is(v, PY_HOST) && py_host_class(v)->set_attr != NULL)
        return py_host_class(v)->set_attr(v, name, value);
    int rc = py_find_attr(v, name, &found);
    py_unref(found);
    if (rc < 0)
        return -1;
    return py_raise_int(&py_AttributeError,
                        rc > 0 ? "'%s' object attribute '%s' is read-only"
                               : "'%s' object has no attribute '%s'",
                        py_type_name(v), PY_TEXT(name));
}

/* ---- calls ------------------------------------------------------------------------------------ */

bool
py_callable(const py_t *v)
{
    return py_is(v, PY_FUNC) || py_is(v, PY_UNDEFINED) ||
           (py_is(v, PY_HOST) && py_host_class(v)->call != NULL);
}

py_t *
py_call(py_t *callee, const py_args_t *args)
{
    pyfunc_t *f = (pyfunc_t *) callee;
    py_t *v = NULL;

    if (py_is(callee, PY_UNDEFINED))
        return py_undef_raise(callee);
    if (!py_callable(callee))
        return py_raise(&py_TypeError, "'%s' object is not callable", py_type_name(callee));
    if (py_enter() < 0)
        return NULL;
    py_ref(callee); /* the callee may be replaced in its container while it runs */
    if (py_is(callee, PY_FUNC) && (callee->flags & PY_F_BOUND) != 0)
        v = py_method_call(f->method, f->self, args);
    else if (py_is(callee, PY_FUNC))
        v = f->cls->fn(f->data, args);
    else
        v = py_host_class(callee)->call(callee, args);
    py_unref(callee);
    py_leave();
    return v;
}

/* Like v.name(*args), without a bound method in between. */
py_t *
py_call_method(py_t *v, py_t *name, const py_args_t *args)
{
    const py_method_t *m = py_method_find(v, PY_TEXT(name), PY_LEN(name));

    if (m != NULL && (m->flags & PY_METHOD_PROPERTY) == 0)
        return py_method_call(m, v, args);
    AUTO(py) callee = py_getattr(v, name);
    return callee != NULL ? py_call(callee, args) : NULL;
}
