/* exec.c - executes statements: output, branches, assignments, captured text.
 *
 * A table maps kinds of nodes to functions, which return 0 (JX_OK), JX_BREAK, JX_CONTINUE, or -1 raised.
 * r->line follows the statement, for error places. Output goes to r->out; capturing swaps that buffer. The
 * size of output is checked after each item. */
#include "common/jinja/eval.h"
#include "common/jinja/exec.h"
#include "common/jinja/yamlquote.h"
#include "common/py/py_peer.h"
#include "salt/limits.h"

/* ---- output ------------------------------------------------------------------------------------------- */

/* True when output is escaped: decided by the compiler, or by the context at run time. */
bool
jescapes(const jrun_t *r, uint8_t mode)
{
    return mode == ESCAPE_YES || (mode == ESCAPE_ASK && r->ctx->autoescape);
}

/* Raises LimitError when the output is over the engine's limit. */
int
jout_check(jrun_t *r, const buf_t *out)
{
    size_t limit = r->s->engine->options.output;
    if (out->len <= limit)
        return 0;
    return py_raise_int(&py_LimitError, "the template makes more than %zu bytes of text", limit);
}

/* repr() in Salt's printing: containers inside are shown as plain dicts, lists and tuples, whatever their
 * classes. */
static int
repr_plain(buf_t *out, py_t *v)
{
    /* Salt rebuilds containers by their class, which fails for groupby's tuples. */
    if (py_is_group(v))
        return py_raise_int(&py_TypeError,
                            "_GroupTuple.__new__() missing 1 required positional argument: 'list'");
    if (!py_is(v, PY_DICT) && !py_is(v, PY_LIST) && !py_is(v, PY_TUPLE))
        return py_repr_to(out, v);
    if (py_enter() < 0)
        return -1;
    int rc = py_is(v, PY_DICT) ? jprint_dict(out, v, true) : 0;
    bool list = py_is(v, PY_LIST);
    if (!py_is(v, PY_DICT)) {
        buf_putc(out, list ? '[' : '(');
        for (size_t i = 0; rc == 0 && i < py_seq_len(v); i++) {
            if (i > 0)
                buf_puts(out, ", ");
            rc = py_tick_out(out) < 0 ? -1 : repr_plain(out, py_seq_at(v, i));
        }
        buf_puts(out, list ? "]" : py_seq_len(v) == 1 ? ",)" : ")");
    }
    py_leave();
    return rc;
}

/* str() in Salt's printing: texts directly in a dict are quoted, nested dicts recurse. */
static int
str_plain(buf_t *out, py_t *v)
{
    if (!py_is(v, PY_DICT))
        return py_is(v, PY_LIST) || py_is(v, PY_TUPLE) ? repr_plain(out, v) : py_str_to(out, v);
    if (py_enter() < 0)
        return -1;
    int rc = jprint_dict(out, v, false);
    py_leave();
    return rc;
}

/* A text of several lines is quoted as YAML, where its line ends stay line ends; what is printed is mostly
 * read as YAML next. False for any other value. */
static bool
put_lines(buf_t *out, const py_t *v)
{
    size_t len = 0;
    const char *text = py_is(v, PY_STR) ? py_text(v, &len) : NULL;
    if (text == NULL || memchr(text, '\n', len) == NULL)
        return false;
    size_t at = out->len;
    yaml_quote_text(out, text, len);
    py_put_like(out, at, v);
    return true;
}

/* Keys are shown by repr(); texts as values are always quoted, other values by `repr`. */
int
jprint_dict(buf_t *out, py_t *dict, bool repr)
{
    py_t *key, *value;
    buf_putc(out, '{');
    bool first = true;
    for (size_t i = 0; py_dict_next(dict, &i, &key, &value); first = false) {
        if (!first)
            buf_puts(out, ", ");
        if (py_tick_out(out) < 0 || py_repr_to(out, key) < 0)
            return -1;
        buf_puts(out, ": ");
        if (put_lines(out, value))
            continue;
        if ((repr || py_is(value, PY_STR) ? repr_plain(out, value) : str_plain(out, value)) < 0)
            return -1;
    }
    buf_putc(out, '}');
    return 0;
}

/* Prints a value: containers in Salt's way in its environment, escaped when asked for. */
int
jprint(jrun_t *r, py_t *v, bool escape)
{
    bool plain = r->s->engine->options.salt && (py_is(v, PY_DICT) || py_is(v, PY_LIST) || py_is(v, PY_TUPLE));
    if (!escape)
        return plain ? str_plain(r->out, v) : py_str_to(r->out, v);
    AUTO(py) text = NULL;
    if (plain) {
        buf_auto_t b = BUF_INIT;
        if (str_plain(&b, v) < 0)
            return -1;
        text = py_str_buf(&b);
    }
    AUTO(py) safe = py_escape(plain ? text : v);
    return safe != NULL ? py_str_to(r->out, safe) : -1;
}

/* buf_add with an inlined fast path. */
static inline void
exec_put(buf_t *out, const char *text, size_t len)
{
    if (len >= out->cap - out->len) {
        buf_add(out, text, len);
        return;
    }
    memcpy(out->data + out->len, text, len);
    out->len += len;
    out->data[out->len] = '\0';
}

/* Prints an expression. Conditions are resolved in place, so that the branch can be borrowed. Texts with
 * peers' marks are put with them. */
static int
put_value(jrun_t *r, const jnode_t *item, uint8_t escape)
{
    AUTO(py) hold = NULL;
    r->line = item->line;
    while (item->kind == N_COND && item->cond.otherwise != NULL) {
        int truth = jtruth(r, item->cond.test);
        if (truth < 0)
            return -1;
        item = truth > 0 ? item->cond.then : item->cond.otherwise;
    }
    py_t *v = jborrow(r, item, &hold);
    if (v == NULL)
        return -1;
    if (escape != ESCAPE_NO || !py_is(v, PY_STR))
        return jprint(r, v, jescapes(r, escape));
    if (PY_MARKED(v))
        py_put(r->out, v);
    else
        exec_put(r->out, PY_TEXT(v), PY_LEN(v));
    return 0;
}

/* `skip` and `check`: output of a template that extends another is dropped, known at compile time or only
 * now. */
static int
exec_output(jrun_t *r, const jnode_t *node)
{
    if (node->output.skip || (node->output.check && r->extended != NULL))
        return 0;
    const jlist_t *list = &node->output.list;
    for (size_t i = 0; i < list->n; i++) {
        const jnode_t *item = list->v[i];

        /* Records where this item's output begins, when the caller wants marks and this is the marked
         * buffer. */
        if (r->out == r->s->marked)
            jmarks_add(r->s->marks, r->out->len, item->line, r->template->path,
                       item->kind == N_DATA && !item->constant.folded);

        if (item->kind == N_DATA)
            exec_put(r->out, item->constant.text, item->constant.len);
        else if (put_value(r, item, node->op) < 0)
            return -1;
        if (jout_check(r, r->out) < 0)
            return -1;
    }
    return 0;
}

/* ---- branches ----------------------------------------------------------------------------------------- */

/* First true branch; `else` has no test. */
static int
exec_if(jrun_t *r, const jnode_t *node)
{
    for (size_t i = 0; i < node->branch.n; i++) {
        const jnode_t *test = node->branch.tests[i];
        if (test != NULL) {
            r->line = test->run_line;
            int truth = jtruth(r, test);
            if (truth < 0)
                return -1;
            if (truth == 0)
                continue;
        }
        return jexec(r, &node->branch.bodies[i]);
    }
    return JX_OK;
}

/* `break` and `continue` are results of statements, handled by the loop. */
static int
exec_break(jrun_t *r, const jnode_t *node)
{
    r->line = node->line;
    return node->kind == N_BREAK ? JX_BREAK : JX_CONTINUE;
}

/* Evaluates an expression for its effects. */
static int
exec_do(jrun_t *r, const jnode_t *node)
{
    r->line = node->line;
    py_t *v = jeval(r, node->pair.left);
    py_unref(v);
    return v != NULL ? 0 : -1;
}

/* ---- assignments -------------------------------------------------------------------------------------- */

/* Python's tuple unpacking; at most one element too many is read from an iterator. */
static int
unpack(jrun_t *r, const jnode_t *target, py_t *value)
{
    size_t n = target->list.n;
    AUTO(py) items = NULL;
    if (py_is(value, PY_LIST) || py_is(value, PY_TUPLE)) {
        items = py_ref(value);
    } else {
        if (!py_iterable(value) && !py_is(value, PY_UNDEFINED))
            return py_raise_int(&py_TypeError, "cannot unpack non-iterable %s object", py_type_name(value));
        items = py_list();
        py_iter_t it;
        if (py_iter_start(&it, value) < 0)
            return -1;
        for (py_t *v; py_seq_len(items) <= n && (v = py_iter_next(&it)) != NULL;)
            py_append_new(items, v);
        py_iter_end(&it);
        if (py_raised() != NULL)
            return -1;
    }
    size_t have = py_seq_len(items);
    if (have > n)
        return py_raise_int(&py_ValueError, "too many values to unpack (expected %zu)", n);
    if (have < n)
        return py_raise_int(&py_ValueError, "not enough values to unpack (expected %zu, got %zu)", n, have);
    for (size_t i = 0; i < n; i++)
        if (jassign(r, target->list.v[i], py_seq_at(items, i)) < 0)
            return -1;
    return 0;
}

/* Assigns to a name, a tuple of targets, or a namespace's attribute. 0, or -1 raised. */
int
jassign(jrun_t *r, const jnode_t *target, py_t *value)
{
    if (target->kind == N_TUPLE)
        return unpack(r, target, value);
    if (target->kind == N_NSREF)
        return py_setattr(*jframe_at(r->frame, target->name.ref), target->name.attr->str, value);
    jframe_set(r->frame, target->name.ref, py_ref(value));
    return 0;
}

/* Exports all names of a target. */
static void
export_target(jrun_t *r, const jnode_t *target)
{
    if (target->kind == N_NAME) {
        /* Variables assigned at the top level go to the context too, and are exported unless private. */
        py_t *v = *jframe_at(r->frame, target->name.ref);
        if (v != NULL) {
            py_dict_set(r->ctx->vars, target->name.name->str, v);
            if (target->name.name->text[0] != '_')
                py_set_add(r->ctx->exported, target->name.name->str);
        }
    }
    for (size_t i = 0; target->kind == N_TUPLE && i < target->list.n; i++)
        export_target(r, target->list.v[i]);
}

/* Raises unless all `ns.attr` targets are namespaces. As in Jinja, checked before the value is evaluated. */
static int
check_namespaces(jrun_t *r, const jnode_t *target)
{
    for (size_t i = 0; target->kind == N_TUPLE && i < target->list.n; i++)
        if (check_namespaces(r, target->list.v[i]) < 0)
            return -1;
    if (target->kind != N_NSREF)
        return 0;
    const py_t *v = *jframe_at(r->frame, target->name.ref);
    if (v != NULL && py_is(v, PY_NAMESPACE))
        return 0;
    return py_raise_int(&jinja_TemplateRuntimeError, "cannot assign attribute on non-namespace object");
}

static int
assign_to(jrun_t *r, const jnode_t *target, py_t *value, bool toplevel)
{
    if (jassign(r, target, value) < 0)
        return -1;
    if (toplevel)
        export_target(r, target);
    return 0;
}

/* Evaluates, assigns and, at the top level, exports. */
static int
exec_assign(jrun_t *r, const jnode_t *node)
{
    r->line = node->line;
    if (check_namespaces(r, node->assign.target) < 0)
        return -1;
    py_t *v = jeval(r, node->assign.value);
    int rc = v != NULL ? assign_to(r, node->assign.target, v, node->assign.toplevel) : -1;
    py_unref(v);
    return rc;
}

/* ---- captured text ------------------------------------------------------------------------------------ */

/* Runs `body` into a buffer of its own. NEW str, or NULL; *ret_rc is the body's outcome. */
static py_t *
capture(jrun_t *r, const jlist_t *body, int *ret_rc)
{
    buf_t text = BUF_INIT, *out = r->out;
    r->out = &text;
    *ret_rc = jexec(r, body);
    r->out = out;
    if (*ret_rc == JX_OK)
        return py_str_buf(&text);
    buf_free(&text);
    return NULL;
}

/* The captured text is the operand of the block's filter, which has none of its own. */
static int
exec_filter_block(jrun_t *r, const jnode_t *node)
{
    int rc;
    jenter(r, &node->capture.scope);
    py_t *text = capture(r, &node->capture.body, &rc);
    if (rc == JX_OK) {
        py_t *before = r->captured;
        r->line = node->line;
        r->captured = text;
        py_t *v = jeval(r, node->capture.filter);
        r->captured = before;
        rc = v != NULL ? jprint(r, v, false) : -1;
        py_unref(v);
    }
    py_unref(text);
    jleave(r, &node->capture.scope);
    return rc;
}

/* `set x` with a body: the text, filtered and made Markup with autoescape, is assigned. */
static int
exec_assign_block(jrun_t *r, const jnode_t *node)
{
    int rc;
    jenter(r, &node->capture.scope);
    py_t *v = capture(r, &node->capture.body, &rc);
    r->line = rc == JX_OK ? node->line : r->line;
    if (rc == JX_OK && node->capture.filter != NULL) {
        py_t *before = r->captured;
        r->captured = v;
        py_t *filtered = jeval(r, node->capture.filter);
        r->captured = before;
        py_unref(v);
        v = filtered;
    }
    if (v != NULL && r->ctx->autoescape) {
        AUTO(py) text = py_tostr(v);
        py_unref(v);
        v = text != NULL ? py_markup(text) : NULL;
    }
    if (rc == JX_OK && (v == NULL || check_namespaces(r, node->capture.target) < 0 ||
                        assign_to(r, node->capture.target, v, node->capture.toplevel) < 0))
        rc = -1;
    py_unref(v);
    jleave(r, &node->capture.scope);
    return rc;
}

/* ---- scopes ------------------------------------------------------------------------------------------- */

/* Values are evaluated in the outer scope, one after the other, then assigned in the inner one. */
static int
exec_with(jrun_t *r, const jnode_t *node)
{
    int rc = JX_OK;
    jenter(r, &node->with.scope);
    r->line = node->run_line;
    for (size_t i = 0; rc == JX_OK && i < node->with.values.n; i++) {
        py_t *v = jeval(r, node->with.values.v[i]);
        rc = v != NULL ? jassign(r, node->with.targets.v[i], v) : -1;
        py_unref(v);
    }
    if (rc == JX_OK)
        rc = jexec(r, &node->with.body);
    jleave(r, &node->with.scope);
    return rc;
}

/* The setting is restored also when the body breaks a loop. */
static int
exec_autoescape(jrun_t *r, const jnode_t *node)
{
    bool before = r->ctx->autoescape;
    jenter(r, &node->autoescape.scope);
    r->line = node->run_line;
    py_t *v = jeval(r, node->autoescape.value);
    int rc = v != NULL ? py_truth(v) : -1;
    py_unref(v);
    if (rc >= 0) {
        r->ctx->autoescape = rc > 0;
        rc = jexec(r, &node->autoescape.body);
        r->ctx->autoescape = before;
    }
    jleave(r, &node->autoescape.scope);
    return rc;
}

/* Makes the macro and assigns it; at the top level it is exported unless private. */
static int
exec_macro(jrun_t *r, const jnode_t *node)
{
    py_t *macro = jmacro_new(r, node);
    jname_t *name = node->macro.name;
    if (node->macro.toplevel) {
        py_dict_set(r->ctx->vars, name->str, macro);
        if (name->text[0] != '_')
            py_set_add(r->ctx->exported, name->str);
    }
    jframe_set(r->frame, node->macro.ref, macro);
    return 0;
}

/* The body becomes a macro that the called macro finds as `caller`. */
static int
exec_call_block(jrun_t *r, const jnode_t *node)
{
    r->line = node->line;
    py_t *before = r->caller;
    AUTO(py) caller = jmacro_new(r, node);
    r->caller = caller;
    py_t *v = jeval(r, node->macro.call);
    r->caller = before;
    int rc = v != NULL ? py_str_to(r->out, v) : -1;
    py_unref(v);
    return rc;
}

/* ---- dispatch ----------------------------------------------------------------------------------------- */

typedef int exec_fn(jrun_t *r, const jnode_t *node);
static exec_fn *const executors[N_KINDS] = {
    [N_OUTPUT] = exec_output,
    [N_FOR] = jexec_for,
    [N_IF] = exec_if,
    [N_MACRO] = exec_macro,
    [N_CALL_BLOCK] = exec_call_block,
    [N_FILTER_BLOCK] = exec_filter_block,
    [N_WITH] = exec_with,
    [N_BLOCK] = jexec_block,
    [N_EXTENDS] = jexec_extends,
    [N_INCLUDE] = jexec_include,
    [N_IMPORT] = jexec_import,
    [N_FROM] = jexec_from,
    [N_ASSIGN] = exec_assign,
    [N_ASSIGN_BLOCK] = exec_assign_block,
    [N_EXPR] = exec_do,
    [N_AUTOESCAPE] = exec_autoescape,
    [N_BREAK] = exec_break,
    [N_CONTINUE] = exec_break,
};

/* Runs a body. A single output statement, the common case, needs no level. */
int
jexec(jrun_t *r, const jlist_t *body)
{
    if (body->n == 0)
        return JX_OK;
    if (body->n == 1 && body->v[0]->kind == N_OUTPUT)
        return py_tick() < 0 ? -1 : exec_output(r, body->v[0]);
    if (py_enter() < 0)
        return -1;
    int rc = JX_OK;
    for (size_t i = 0; rc == JX_OK && i < body->n; i++) {
        const jnode_t *node = body->v[i];
        rc = py_tick() < 0 ? -1 : executors[node->kind](r, node);
    }
    py_leave();
    return rc;
}
