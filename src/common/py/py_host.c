/* py_host.c - constructors and accessors of functions, objects and undefined values, and the messages of
 * undefined values in Jinja's words. */
#include "common/py/py_host.h"

#include "common/py/py_methods.h"
#include "common/py/py_obj.h"

py_t *
py_func(const py_fn_class_t *cls, void *data)
{
    pyfunc_t *f = py_new_held(sizeof(*f), PY_FUNC);

    f->cls = cls;
    f->method = NULL;
    f->self = NULL;
    f->data = data;
    return &f->held.h;
}

const py_fn_class_t *
py_func_class(const py_t *v, void **ret_data)
{
    if (!py_is(v, PY_FUNC) || (v->flags & PY_F_BOUND) != 0)
        return NULL;
    *ret_data = ((const pyfunc_t *) v)->data;
    return ((const pyfunc_t *) v)->cls;
}

/* A method taken from a value without a call, `"x".upper`. NEW. */
py_t *
py_method_bind(const py_method_t *method, py_t *self)
{
    pyfunc_t *f = (pyfunc_t *) py_func(NULL, NULL);

    f->held.h.flags = PY_F_BOUND;
    f->method = method;
    f->self = py_ref(self);
    return &f->held.h;
}

const py_method_t *
py_method_of(const py_t *v, py_t **ret_self)
{
    if (!py_is(v, PY_FUNC) || (v->flags & PY_F_BOUND) == 0)
        return NULL;
    *ret_self = ((const pyfunc_t *) v)->self;
    return ((const pyfunc_t *) v)->method;
}

py_t *
py_host(const py_class_t *cls, void *data)
{
    pyhost_t *h = py_new_held(sizeof(*h), PY_HOST);

    h->cls = cls;
    h->data = data;
    return &h->held.h;
}

void *
py_host_data(const py_t *v, const py_class_t *cls)
{
    return py_is(v, PY_HOST) && ((const pyhost_t *) v)->cls == cls ? ((const pyhost_t *) v)->data : NULL;
}

const py_class_t *
py_host_class(const py_t *v)
{
    return ((const pyhost_t *) v)->cls;
}

/* ---- undefined -------------------------------------------------------------------------------- */

const py_undef_class_t py_Undefined = { "Undefined", 0, NULL };
const py_undef_class_t py_ChainableUndefined = { "ChainableUndefined", PY_UNDEF_CHAIN, NULL };
const py_undef_class_t py_DebugUndefined = { "DebugUndefined", PY_UNDEF_DEBUG, NULL };
const py_undef_class_t py_StrictUndefined = { "StrictUndefined", PY_UNDEF_STR | PY_UNDEF_TRUTH, NULL };

py_t *
py_undefined(const py_undef_class_t *cls, py_t *obj, py_t *name, const char *hint, const py_exc_t *exc)
{
    pyundef_t *u = py_new_held(sizeof(*u), PY_UNDEFINED);

    u->cls = cls;
    u->exc = exc != NULL ? exc : &py_UndefinedError;
    u->obj = py_ref(obj);
    u->name = py_ref(name);
    u->hint = hint != NULL ? xstrdup(hint) : NULL;
    return &u->held.h;
}

const py_undef_class_t *
py_undef_class(const py_t *v)
{
    return ((const pyundef_t *) v)->cls;
}

py_t *
py_undef_obj(const py_t *v)
{
    return ((const pyundef_t *) v)->obj;
}

py_t *
py_undef_name(const py_t *v)
{
    return ((const pyundef_t *) v)->name;
}

/* jinja2.utils.object_type_repr */
static void
describe(buf_t *out, const py_t *obj)
{
    if (py_is(obj, PY_NONE)) {
        buf_puts(out, "None");
        return;
    }
    if (py_is(obj, PY_HOST) && py_host_class(obj)->module != NULL)
        buf_printf(out, "%s.", py_host_class(obj)->module);
    else if (py_is(obj, PY_UNDEFINED) || py_is(obj, PY_NAMESPACE))
        buf_puts(out, py_is(obj, PY_UNDEFINED) ? "jinja2.runtime." : "jinja2.utils.");
    else if (py_is_markup(obj) || py_is_odict(obj))
        buf_puts(out, py_is_markup(obj) ? "markupsafe." : "salt.utils.odict.");
    buf_printf(out, "%s object", py_type_name(obj));
}

/* The repr, or as much of it as there is when an error occurs. */
static void
put_repr(buf_t *out, py_t *v)
{
    if (v == NULL)
        buf_puts(out, "None");
    else if (py_repr_to(out, v) < 0)
        py_clear(); /* the message matters more than this error */
}

/* jinja2's message; NEW. */
char *
py_undef_message(const py_t *v)
{
    const pyundef_t *u = (const pyundef_t *) v;
    buf_auto_t out = BUF_INIT, what = BUF_INIT;

    if (u->hint != NULL)
        return xstrdup(u->hint);
    if (u->obj == NULL) {
        put_repr(&out, u->name);
        buf_puts(&out, " is undefined");
        return buf_steal(&out);
    }
    describe(&what, u->obj);
    if (u->name != NULL && py_is(u->name, PY_STR)) {
        AUTO(py) text = py_str(buf_str(&what), what.len);
        put_repr(&out, text);
        buf_puts(&out, " has no attribute ");
    } else {
        buf_printf(&out, "%s has no element ", buf_str(&what));
    }
    put_repr(&out, u->name);
    return buf_steal(&out);
}

/* Also tells the class that the value was used, for its log. Always NULL. */
void *
py_undef_raise(py_t *v)
{
    const pyundef_t *u = (const pyundef_t *) v;

    if (u->cls->used != NULL)
        u->cls->used(v, true);
    AUTO_FREE char *message = py_undef_message(v);
    py_raise(u->exc, "%s", message);
    py_raise_about(v);
    return NULL;
}

/* Output of DebugUndefined: the expression again, as far as it is known. */
void
py_undef_debug(buf_t *out, const py_t *v)
{
    const pyundef_t *u = (const pyundef_t *) v;

    buf_puts(out, "{{ ");
    if (u->hint != NULL) {
        buf_printf(out, "undefined value printed: %s", u->hint);
    } else if (u->obj == NULL) {
        if (u->name != NULL && py_str_to(out, u->name) < 0)
            py_clear();
    } else {
        buf_puts(out, "no such element: ");
        describe(out, u->obj);
        buf_putc(out, '[');
        put_repr(out, u->name);
        buf_putc(out, ']');
    }
    buf_puts(out, " }}");
}
