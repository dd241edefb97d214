/* eval.c - evaluates expressions.
 *
 * Each node has two functions chosen at compile time: `eval` gives a value, `truth` an answer without making
 * one (eval_logic.c). Nodes whose operands are variables or constants run directly; others count a step and a
 * level (py_tick, py_enter). Attribute access and str.format pass through the rules of Jinja's sandbox. */
#include "common/jinja/args.h"
#include "common/jinja/parse/ast_walk.h"
#include "common/jinja/eval.h"

enum { NAME_PRIVATE = '_' };

/* ---- names and attributes ----------------------------------------------------------------------------- */

/* NEW undefined value of the environment's class, with a name and a hint (either may be NULL). */
py_t *
jundefined(jsession_t *s, py_t *name, const char *hint)
{
    return py_undefined(s->engine->options.undefined, NULL, name, hint, NULL);
}

/* A variable of this function or one around; missing ones become undefined values. */
static py_t *
eval_name(jrun_t *r, const jnode_t *node)
{
    py_t *v = *jframe_at(r->frame, node->name.ref);
    return v != NULL ? py_ref(v) : jundefined(r->s, node->name.name->str, NULL);
}

/* The undefined value that the sandbox gives for a hidden attribute; its use raises SecurityError. */
static py_t *
unsafe(jsession_t *s, py_t *obj, py_t *name)
{
    char *hint AUTO_FREE = xasprintf("access to attribute '%s' of '%s' object is unsafe.", py_cstr(name),
                                     py_type_name(obj));
    return py_undefined(s->engine->options.undefined, obj, name, hint, &jinja_SecurityError);
}

/* True for attributes of every Python object, which the sandbox hides. */
static bool
eval_is_internal(const char *name)
{
    static const char *const names[] = { "__class__",  "__doc__",    "__init__",         "__new__",
                                         "__repr__",   "__str__",    "__hash__",         "__eq__",
                                         "__dir__",    "__reduce__", "__getattribute__", "__format__",
                                         "__sizeof__", "__ne__",     "__setattr__",      "__delattr__" };
    for (size_t i = 0; i < NELEMS(names); i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* Value of `__class__` outside of a sandbox: its name is all that templates use. */
static void
class_free(void *data)
{
    free(data);
}

static int class_find(py_t *self, py_t *name, py_t **ret);
static int class_repr(py_t *self, buf_t *out);
static const py_class_t class_class = {
    .name = "type", .find_attr = class_find, .repr = class_repr, .free = class_free
};

/* `x.__class__.__name__` is the only attribute of a class. */
static int
class_find(py_t *self, py_t *name, py_t **ret)
{
    if (!py_str_is(name, "__name__"))
        return 0;
    *ret = py_strz(py_host_data(self, &class_class));
    return 1;
}

static int
class_repr(py_t *self, buf_t *out)
{
    buf_printf(out, "<class '%s'>", (const char *) py_host_data(self, &class_class));
    return 0;
}

/* The few internal attributes that exist without a sandbox. NEW, or NULL. */
static py_t *
internal_attr(py_t *obj, const char *name)
{
    if (strcmp(name, "__class__") == 0)
        return py_host(&class_class, xstrdup(py_type_name(obj)));
    if (py_is(obj, PY_UNDEFINED) && strcmp(name, "_undefined_name") == 0) {
        py_t *missing = py_undef_name(obj);
        return py_ref(missing != NULL ? missing : PY_None);
    }
    return NULL;
}

/* Attribute of a value under the sandbox's rules: names with "_" are unsafe, and with `immutable` methods
 * that change a value. 1 with a NEW value (an unsafe one included), 0 absent, -1 raised. */
static int
find_attr(jsession_t *s, py_t *obj, py_t *name, py_t **ret)
{
    const jinja_options_t *o = &s->engine->options;
    const char *text = py_cstr(name);
    bool chain = py_is(obj, PY_UNDEFINED) && (py_undef_class(obj)->flags & PY_UNDEF_CHAIN) != 0;
    if (o->sandboxed && text[0] == NAME_PRIVATE && chain) {
        *ret = unsafe(s, obj, name);
        return 1;
    }
    if (o->sandboxed && text[0] == NAME_PRIVATE && !py_is(obj, PY_UNDEFINED)) {
        bool function = py_is(obj, PY_FUNC) && text[1] == NAME_PRIVATE;
        int found = eval_is_internal(text) || function ? 1 : py_find_attr(obj, name, ret);
        if (found <= 0)
            return found;
        py_unref(*ret);
        *ret = unsafe(s, obj, name);
        return 1;
    }
    if (!o->sandboxed && text[0] == NAME_PRIVATE && (*ret = internal_attr(obj, text)) != NULL)
        return 1;
    if (o->immutable) {
        size_t len;
        const char *t = py_text(name, &len);
        const py_method_t *m = py_is(obj, PY_HOST) ? NULL : py_method_find(obj, t, len);
        if (m != NULL && (m->flags & PY_METHOD_MUTATES) != 0) {
            *ret = unsafe(s, obj, name);
            return 1;
        }
    }
    return py_find_attr(obj, name, ret);
}

/* Jinja's environment.getattr: attribute first, then element, then undefined. NEW. */
py_t *
jgetattr(jsession_t *s, py_t *obj, py_t *name)
{
    py_t *v = NULL;
    int found = find_attr(s, obj, name, &v);
    if (found == 0)
        found = py_find_item(obj, name, &v);
    if (found < 0)
        return NULL;
    return found > 0 ? v : py_undefined(s->engine->options.undefined, obj, name, NULL, NULL);
}

/* Jinja's environment.getitem: element first, then attribute for text keys. NEW. */
py_t *
jgetitem(jsession_t *s, py_t *obj, py_t *key)
{
    py_t *v = NULL;
    int found = py_find_item(obj, key, &v);
    if (found == 0 && py_is(key, PY_STR))
        found = find_attr(s, obj, key, &v);
    if (found < 0)
        return NULL;
    return found > 0 ? v : py_undefined(s->engine->options.undefined, obj, key, NULL, NULL);
}

/* Method of a value's type by name. The name's last answer is cached with the type, since values at one place
 * mostly have one type. Views are excluded: their methods depend on more than the type. */
static const py_method_t *
eval_method_named(const py_t *obj, jname_t *name)
{
    unsigned key = 2 * (unsigned) py_type(obj) + (py_small(obj) ? 0 : obj->flags & 1u) + 1;
    if (py_is(obj, PY_VIEW))
        return py_method_find(obj, name->text, name->len);
    if (name->method_of != key) {
        name->method = py_method_find(obj, name->text, name->len);
        name->method_of = key;
    }
    return name->method;
}

/* `a.b`: attribute before element, as in Jinja. */
static py_t *
eval_getattr(jrun_t *r, const jnode_t *node)
{
    AUTO(py) hold = NULL;
    py_t *obj = jborrow(r, node->attr.node, &hold);
    jname_t *name = node->attr.name;
    if (obj == NULL)
        return NULL;
    /* Fast path: an element of a dict whose name is not a method of dicts. */
    if (py_is(obj, PY_DICT) && name->text[0] != NAME_PRIVATE && eval_method_named(obj, name) == NULL) {
        py_t *v = py_dict_get(obj, name->str);
        return v != NULL ? py_ref(v)
                         : py_undefined(r->s->engine->options.undefined, obj, name->str, NULL, NULL);
    }
    return jgetattr(r->s, obj, name->str);
}

/* `a['b']`: element before attribute; slices go to Python's rules directly. */
static py_t *
eval_getitem(jrun_t *r, const jnode_t *node)
{
    AUTO(py) hold = NULL;
    py_t *obj = jborrow(r, node->attr.node, &hold);
    if (obj == NULL)
        return NULL;
    AUTO(py) hold_key = NULL;
    py_t *key = jborrow(r, node->attr.arg, &hold_key);
    if (key == NULL)
        return NULL;
    return node->attr.arg->kind == N_SLICE ? py_getitem(obj, key) : jgetitem(r->s, obj, key);
}

/* A slice object; omitted parts are NULL. */
static py_t *
eval_slice(jrun_t *r, const jnode_t *node)
{
    AUTO(py) start = node->slice.start != NULL ? jeval(r, node->slice.start) : NULL;
    if (start == NULL && node->slice.start != NULL)
        return NULL;
    AUTO(py) stop = node->slice.stop != NULL ? jeval(r, node->slice.stop) : NULL;
    if (stop == NULL && node->slice.stop != NULL)
        return NULL;
    AUTO(py) step = node->slice.step != NULL ? jeval(r, node->slice.step) : NULL;
    if (step == NULL && node->slice.step != NULL)
        return NULL;
    return py_slice(start, stop, step);
}

/* ---- containers --------------------------------------------------------------------------------------- */

static py_t *
eval_tuple(jrun_t *r, const jnode_t *node)
{
    AUTO(py) tuple = py_tuple(node->list.n);
    for (size_t i = 0; i < node->list.n; i++) {
        AUTO(py) v = jeval(r, node->list.v[i]);
        if (v == NULL)
            return NULL;
        py_tuple_set(tuple, i, v);
    }
    return STEAL(tuple);
}

static py_t *
eval_list(jrun_t *r, const jnode_t *node)
{
    AUTO(py) list = py_list();
    for (size_t i = 0; i < node->list.n; i++) {
        py_t *v = jeval(r, node->list.v[i]);
        if (v == NULL)
            return NULL;
        py_append_new(list, v);
    }
    return STEAL(list);
}

/* Pairs are evaluated key, value, key, value, as in Python; later keys win. */
static py_t *
eval_dict(jrun_t *r, const jnode_t *node)
{
    AUTO(py) dict = py_dict();
    for (size_t i = 0; i < node->list.n; i += 2) {
        AUTO(py) key = jeval(r, node->list.v[i]);
        AUTO(py) value = key != NULL ? jeval(r, node->list.v[i + 1]) : NULL;
        if (value == NULL || py_dict_set(dict, key, value) < 0)
            return NULL;
    }
    return STEAL(dict);
}

/* ---- operators ---------------------------------------------------------------------------------------- */

/* Arithmetic on small integers without allocation; NULL when the general case is needed. */
static py_t *
eval_small_binary(uint8_t op, const py_t *a, const py_t *b)
{
    int64_t x = py_small_value(a), y = py_small_value(b), z;
    if (op == PY_ADD)
        return py_int(x + y);
    if (op == PY_SUB)
        return py_int(x - y);
    if (op == PY_MUL)
        return __builtin_mul_overflow(x, y, &z) ? NULL : py_int(z);
    return op == PY_MOD && x >= 0 && y > 0 ? py_small_new(x % y) : NULL;
}

/* Operands are borrowed, small integers are computed inline. */
static py_t *
eval_binary(jrun_t *r, const jnode_t *node)
{
    AUTO(py) x = NULL;
    py_t *left = jborrow(r, node->pair.left, &x);
    if (left == NULL)
        return NULL;
    AUTO(py) y = NULL;
    py_t *right = jborrow(r, node->pair.right, &y);
    if (right == NULL)
        return NULL;
    py_t *v = py_small(left) && py_small(right) ? eval_small_binary(node->op, left, right) : NULL;
    return v != NULL ? v : py_binary(node->op, left, right);
}

static py_t *
eval_unary(jrun_t *r, const jnode_t *node)
{
    AUTO(py) v = jeval(r, node->pair.left);
    return v != NULL ? py_unary(node->op, v) : NULL;
}

/* `~`: joins texts. With autoescape, Markup among the parts makes all others escaped. */
static py_t *
eval_concat(jrun_t *r, const jnode_t *node)
{
    AUTO(py) parts = py_list();
    bool markup = false;
    for (size_t i = 0; i < node->list.n; i++) {
        py_t *v = jeval(r, node->list.v[i]);
        if (v == NULL)
            return NULL;
        markup = markup || (node->op == ESCAPE_YES && py_is_markup(v));
        py_append_new(parts, v);
    }
    buf_auto_t b = BUF_INIT;
    for (size_t i = 0; i < node->list.n; i++) {
        py_t *part = py_seq_at(parts, i);
        AUTO(py) safe = markup ? py_escape(part) : py_ref(part);
        if (safe == NULL || py_room(b.len + (py_is(safe, PY_STR) ? PY_LEN(safe) : 0)) < 0 ||
            py_str_to(&b, safe) < 0)
            return NULL;
    }
    if (py_room(b.len) < 0)
        return NULL;
    AUTO(py) text = py_str_buf(&b);
    return markup ? py_markup(text) : STEAL(text);
}

/* Undefined value of a false condition without `else`. Not inlined, as it is rare. */
static py_t *__attribute__((noinline)) no_else(const jrun_t *r, const jnode_t *node)
{
    const char *name = r->template->name;
    char *hint AUTO_FREE = xasprintf(
        "the inline if-expression on line %d%s%s%s evaluated to false and no else section was defined.",
        node->line, name != NULL ? " in '" : "", name != NULL ? name : "", name != NULL ? "'" : "");
    return py_undefined(&py_Undefined, NULL, NULL, hint, NULL);
}

/* `a if b else c`: only the chosen branch is evaluated. */
static py_t *
eval_cond(jrun_t *r, const jnode_t *node)
{
    int truth = jtruth(r, node->cond.test);
    if (truth < 0)
        return NULL;
    const jnode_t *branch = truth > 0 ? node->cond.then : node->cond.otherwise;
    return branch != NULL ? jeval(r, branch) : no_else(r, node);
}

/* ---- filters and tests -------------------------------------------------------------------------------- */

void
jlooked(const jcontext_t *ctx, const char *what)
{
    const jinja_options_t *options = &ctx->session->engine->options;
    if (options->looked != NULL)
        options->looked(options->cookie, what);
}

/* Calls a filter or test; its result gets the marks of peers' arguments unless the filter handles marks
 * itself. */
static py_t *
eval_apply(jcontext_t *ctx, const jfilter_t *f, py_t *const *a, const py_args_t *args)
{
    if ((f->flags & JF_WORLD) != 0)
        jlooked(ctx, f->name);
    if ((f->flags & JF_TEST) == 0) {
        /* Salt's own filters look at their value at once, which a strictly undefined one refuses. */
        bool strict = args->n > 0 && py_is(args->v[0], PY_UNDEFINED) &&
                      (py_undef_class(args->v[0])->flags & PY_UNDEF_TRUTH) != 0;
        if (strict && (f->flags & JF_UNDEFINED) == 0 && jfilter_is_salts(f))
            return py_undef_raise(args->v[0]);
        py_t *v = f->fn(ctx, a, args);
        if ((f->flags & JF_MARKS) != 0)
            return v;
        v = py_peer_like(v, args->v, args->n);
        return args->nkw > 0 ? py_peer_like(v, args->kwv, args->nkw) : v;
    }
    int truth = f->test(ctx, a);
    return truth >= 0 ? py_bool(truth > 0) : NULL;
}

/* Binds the arguments to the row's signature. A row with JF_CONTEXT has a hidden first parameter, for which
 * None stands in. */
py_t *
jfilter_call(jcontext_t *ctx, const jfilter_t *f, const py_args_t *args)
{
    py_t *slots[PY_MAX_SLOTS + 1], *few[8];
    if ((f->flags & JF_CONTEXT) == 0)
        return py_bind(args, &f->sig, slots) == 0 ? eval_apply(ctx, f, slots, args) : NULL;
    size_t bytes = (args->n + 1) * sizeof(py_t *);
    py_t **room = bytes > sizeof(few) ? py_alloc_room(bytes) : few;
    if (room == NULL)
        return NULL;
    room[0] = PY_None;
    if (args->n > 0)
        memcpy(room + 1, args->v, args->n * sizeof(py_t *));
    const py_args_t a = { args->n + 1, room, args->nkw, args->names, args->kwv };
    py_t *v = py_bind(&a, &f->sig, slots) == 0 ? eval_apply(ctx, f, slots + 1, &a) : NULL;
    if (room != few)
        py_release(room, bytes);
    return v;
}

bool
jargs_plain(const jargs_t *args, const jfilter_t *f)
{
    int n = (int) args->pos.n + 1 + ((f->flags & JF_CONTEXT) != 0);
    return args->nkw == 0 && args->star == NULL && args->starkw == NULL &&
           (f->sig.flags & (PY_SIG_STAR | PY_SIG_STARKW)) == 0 && n >= f->sig.min && n <= f->sig.max;
}

/* Calls with positional arguments that need no binding; the slots are on the stack. TAKES `first`. */
static py_t *
call_plain(jrun_t *r, const jfilter_t *f, const jargs_t *args, py_t *first)
{
    py_t *slots[PY_MAX_SLOTS + 2];
    size_t hidden = (f->flags & JF_CONTEXT) != 0 ? 1 : 0, n = hidden;
    for (int i = 0; i <= f->sig.max; i++)
        slots[i] = NULL;
    slots[0] = PY_None;
    slots[n++] = first;
    for (size_t i = 0; i < args->pos.n; i++) {
        slots[n] = jeval(r, args->pos.v[i]);
        if (slots[n] == NULL)
            break;
        n++;
    }
    const py_args_t view = { n, slots, 0, NULL, NULL };
    py_t *v = n == hidden + 1 + args->pos.n ? eval_apply(r->ctx, f, slots + hidden, &view) : NULL;
    for (size_t i = hidden; i < n; i++)
        py_unref(slots[i]);
    return v;
}

/* Operand of a filter without one: the text of its block, as Markup when escaping is on. */
static py_t *
captured(jrun_t *r, uint8_t escape)
{
    py_t *text = py_ref(r->captured);
    if (!jescapes(r, escape))
        return text;
    py_t *safe = py_markup(text);
    py_unref(text);
    return safe;
}

/* Applies a filter or test. Unknown names, which the compiler let pass in branches, raise here. */
py_t *
jeval_filter(jrun_t *r, const jnode_t *node)
{
    bool test = node->kind == N_TEST;
    py_t *first = node->filter.node != NULL ? jeval(r, node->filter.node) : captured(r, node->op);
    if (first == NULL)
        return NULL;
    if (node->filter.row != NULL && jargs_plain(&node->filter.args, node->filter.row))
        return call_plain(r, node->filter.row, &node->filter.args, first);
    jcallargs_t args;
    py_t *v = NULL;
    if (jargs_eval(r, &node->filter.args, first, &args) == 0) {
        const py_args_t view = jargs_view(&args);
        if (node->filter.row == NULL)
            py_raise(&jinja_TemplateRuntimeError, "No %s named '%s' found.", test ? "test" : "filter",
                     node->filter.name->text);
        else
            v = jfilter_call(r->ctx, node->filter.row, &view);
    }
    jargs_free(&args);
    return v;
}

/* ---- calls -------------------------------------------------------------------------------------------- */

/* Looks a field of a format string up by the sandbox's rules. py_field_fn. */
static py_t *
format_field(void *cookie, py_t *obj, py_t *name, bool is_attr)
{
    return is_attr ? jgetattr(cookie, obj, name) : jgetitem(cookie, obj, name);
}

/* str.format and str.format_map: fields are looked up through the sandbox, which Python's own method would
 * bypass. */
static py_t *
sandboxed_format(jrun_t *r, py_t *text, bool map, const py_args_t *args)
{
    if (!map)
        return py_format_str(text, args, format_field, r->s);
    if (args->nkw > 0)
        return py_raise(&py_TypeError, "format_map() takes no keyword arguments");
    if (args->n != 1)
        return py_raise(&py_TypeError, "format_map() takes exactly one argument (%zu given)", args->n);
    AUTO(py) names = py_list();
    AUTO(py) values = py_list();
    if (!py_is(args->v[0], PY_DICT))
        return py_raise(&py_TypeError, "format_map() argument must be a mapping, not %s",
                        py_type_name(args->v[0]));
    py_t *key, *value;
    for (size_t i = 0; py_dict_next(args->v[0], &i, &key, &value);) {
        py_append(names, key);
        py_append(values, value);
    }
    size_t n = py_seq_len(names), bytes = (2 * n + 1) * sizeof(py_t *);
    py_t **room = py_alloc_room(bytes);
    if (room == NULL)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        room[i] = py_seq_at(names, i);
        room[n + i] = py_seq_at(values, i);
    }
    const py_args_t view = { 0, NULL, n, room, room + n };
    py_t *v = py_format_str(text, &view, format_field, r->s);
    py_release(room, bytes);
    return v;
}

/* Method of a built-in value that can be called without making a bound method; NULL when the general path is
 * needed. */
static const py_method_t *
direct_method(const jrun_t *r, py_t *obj, jname_t *name)
{
    if (py_is(obj, PY_HOST) || py_is(obj, PY_UNDEFINED) || name->text[0] == NAME_PRIVATE)
        return NULL;
    const py_method_t *m = eval_method_named(obj, name);
    unsigned refused = PY_METHOD_PROPERTY | (r->s->engine->options.immutable ? PY_METHOD_MUTATES : 0);
    return m != NULL && (m->flags & refused) == 0 ? m : NULL;
}

/* Calls a value. Jinja's own functions get the run; format methods go through the sandbox. */
static py_t *
call_value(jrun_t *r, py_t *callee, const py_args_t *args)
{
    py_t *self = NULL;
    void *data;
    const py_fn_class_t *cls = py_func_class(callee, &data);
    if (cls != NULL && (cls->marks & JFN_CONTEXT) != 0)
        return cls->fn(r, args);
    const py_method_t *m = py_method_of(callee, &self);
    if (m != NULL && r->s->engine->options.sandboxed && py_is(self, PY_STR) &&
        (strcmp(m->name, "format") == 0 || strcmp(m->name, "format_map") == 0))
        return sandboxed_format(r, self, m->name[6] != '\0', args);
    return py_call(callee, args);
}

/* Calls a method without a bound method; format methods go through the sandbox. */
static py_t *
call_direct(jrun_t *r, py_t *obj, const py_method_t *m, const py_args_t *args)
{
    if (r->s->engine->options.sandboxed && py_is(obj, PY_STR) && strncmp(m->name, "format", 6) == 0)
        return sandboxed_format(r, obj, m->name[6] != '\0', args);
    return py_method_call(m, obj, args);
}

/* Evaluates the callee, then the arguments. `caller` is forwarded to the call of a call block. */
static py_t *
eval_call(jrun_t *r, const jnode_t *node)
{
    const jnode_t *c = node->call.callee;
    AUTO(py) obj = NULL;
    AUTO(py) callee = NULL;
    const py_method_t *m = NULL;
    if (c->kind == N_GETATTR) {
        obj = jeval(r, c->attr.node);
        if (obj == NULL)
            return NULL;
        m = direct_method(r, obj, c->attr.name);
        if (m == NULL)
            callee = jgetattr(r->s, obj, c->attr.name->str);
    } else {
        callee = jeval(r, c);
    }
    if (m == NULL && callee == NULL)
        return NULL;
    jcallargs_t args;
    py_t *v = NULL;
    if (jargs_eval(r, &node->call.args, NULL, &args) == 0) {
        if (node->call.forward_caller)
            jargs_add_kw(&args, py_strz("caller"), py_ref(r->caller));
        const py_args_t view = jargs_view(&args);
        v = m != NULL ? call_direct(r, obj, m, &view) : call_value(r, callee, &view);
    }
    jargs_free(&args);
    if (v != NULL || !py_raised_is(&py_StopIteration))
        return v;

    /* A StopIteration of a callee becomes an undefined value, as in Jinja. */
    py_clear();
    return jundefined(r->s, NULL, "value was undefined because a callable raised a StopIteration exception");
}

/* ---- which of them ------------------------------------------------------------------------------------ */

static py_t *
eval_const(jrun_t *r, const jnode_t *node)
{
    return py_ref(node->constant.value);
}

static jeval_fn *const evaluators[N_KINDS] = {
    [N_CONST] = eval_const,     [N_NAME] = eval_name,       [N_TUPLE] = eval_tuple,
    [N_LIST] = eval_list,       [N_DICT] = eval_dict,       [N_BINARY] = eval_binary,
    [N_UNARY] = eval_unary,     [N_NOT] = jeval_truth,      [N_AND] = jeval_choice,
    [N_OR] = jeval_choice,      [N_COMPARE] = jeval_truth,  [N_CONCAT] = eval_concat,
    [N_GETATTR] = eval_getattr, [N_GETITEM] = eval_getitem, [N_SLICE] = eval_slice,
    [N_CALL] = eval_call,       [N_FILTER] = jeval_filter,  [N_TEST] = jeval_truth,
    [N_COND] = eval_cond,
};

/* Evaluates with a step and a level counted, for nodes whose operands evaluate something; others return at
 * once and need neither. */
static py_t *
eval_nested(jrun_t *r, const jnode_t *node)
{
    if (py_tick() < 0 || py_enter() < 0)
        return NULL;
    py_t *v = evaluators[node->kind](r, node);
    py_leave();
    return v;
}

static bool
is_leaf(jnode_t *node, void *cookie)
{
    return node->kind == N_CONST || node->kind == N_NAME;
}

/* Chooses `eval` by kind; nodes whose operands are leaves need no accounting, unless they call something. */
void
jeval_choose(jnode_t *node)
{
    bool leaves = ast_children(node, is_leaf, NULL), calls = node->kind == N_CALL || node->kind == N_FILTER;
    node->eval = leaves && !calls ? evaluators[node->kind] : eval_nested;
    jtruth_choose(node, leaves);
}
