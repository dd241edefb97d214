/* exec_import.c - statements that involve other templates: blocks, extends, include, import.
 *
 * Templates are loaded by name once per session (jload). An import without context has one module per
 * session; with context the template runs anew with the local variables. */
#include "common/jinja/eval.h"
#include "common/jinja/exec.h"

/* Runs the most derived definition of a block, in a context with local variables when scoped. */
int
jexec_block(jrun_t *r, const jnode_t *node)
{
    const jnode_block_t *block = node->block;
    if (block->skip || (block->check && r->extended != NULL))
        return 0;
    r->line = node->line;
    const jblocks_t *stack = jcontext_blocks(r->ctx, block->name->text);
    if (block->required && (stack == NULL || stack->n <= 1))
        return py_raise_int(&jinja_TemplateRuntimeError, "Required block '%s' not found", block->name->text);
    if (stack == NULL)
        return 0;
    jcontext_t *ctx = block->scoped ? jcontext_derived(r, r->ctx->template, &block->locals, true)
                                    : jcontext_ref(r->ctx);
    if (ctx == NULL)
        return -1;
    int rc = jrun_block(ctx, &stack->v[0], block->name->text, r->out);
    jcontext_unref(ctx);
    return rc;
}

/* Only notes the parent and adds its blocks; jrun_root runs the parent after this template's body. */
int
jexec_extends(jrun_t *r, const jnode_t *node)
{
    if (node->extends.known || (node->extends.again && r->extended != NULL))
        return py_raise_int(&jinja_TemplateRuntimeError, "extended multiple times");
    r->line = node->line;
    AUTO(py) name = jeval(r, node->extends.template);
    jloaded_t *l = name != NULL ? jload(r->s, name) : NULL;
    if (l == NULL)
        return -1;
    r->extended = l;
    jcontext_add_blocks(r->ctx, l->template);
    return 0;
}

/* ---- modules ------------------------------------------------------------------------------------------ */

/* Runs a template and collects its exported names. NEW module. */
static py_t *
make_module(jsession_t *s, jcontext_t *ctx, jtemplate_t *t)
{
    buf_t body = BUF_INIT;
    if (jrun_root(s, ctx, t, &body) == 0)
        return jmodule_new(ctx, t, &body);
    buf_free(&body);
    return NULL;
}

/* Module of an import without context, made once per session. BORROWED. */
static py_t *
default_module(jsession_t *s, jloaded_t *l)
{
    if (l->module != NULL)
        return l->module;
    AUTO(py) globals = py_todict(s->globals);
    jcontext_t *ctx = jcontext_new(s, l->template, globals);
    jcontext_add_blocks(ctx, l->template);
    l->module = make_module(s, ctx, l->template);
    jcontext_unref(ctx);
    return l->module;
}

/* The module of an import, with or without context. NEW reference, or NULL raised. */
static py_t *
import_module(jrun_t *r, const jnode_t *node)
{
    const jnode_import_t *import = node->import;
    r->line = node->line;
    AUTO(py) name = jeval(r, import->template);
    jloaded_t *l = name != NULL ? jload(r->s, name) : NULL;
    if (l == NULL)
        return NULL;
    if (!import->with_context)
        return py_ref(default_module(r->s, l));
    jcontext_t *ctx = jcontext_derived(r, l->template, &import->locals, false);
    if (ctx == NULL)
        return NULL;
    py_t *module = make_module(r->s, ctx, l->template);
    jcontext_unref(ctx);
    return module;
}

/* An imported module is a variable but not exported, as in Jinja. */
int
jexec_import(jrun_t *r, const jnode_t *node)
{
    const jnode_import_t *import = node->import;
    py_t *module = import_module(r, node);
    if (module == NULL)
        return -1;
    if (import->toplevel) {
        py_dict_set(r->ctx->vars, import->target->str, module);
        py_dict_del(r->ctx->exported, import->target->str);
    }
    jframe_set(r->frame, import->target_ref, module);
    return 0;
}

/* `from x import name` of a missing name gives an undefined value, which raises when used. */
static py_t *
not_exported(jrun_t *r, const jnode_t *node, py_t *module, const jname_t *name)
{
    const char *in = r->template->name;
    AUTO(py) of = py_getattrs(module, "__name__");
    AUTO(py) shown = of != NULL ? py_repr(of) : NULL;
    if (shown == NULL)
        return NULL;
    char *hint AUTO_FREE = xasprintf(
        "the template %s (imported on line %d%s%s%s) does not export the requested name '%s'", py_cstr(shown),
        node->line, in != NULL ? " in '" : "", in != NULL ? in : "", in != NULL ? "'" : "", name->text);
    return jundefined(r->s, name->str, hint);
}

/* Names that the module lacks become undefined values. */
int
jexec_from(jrun_t *r, const jnode_t *node)
{
    const jnode_import_t *import = node->import;
    AUTO(py) module = import_module(r, node);
    if (module == NULL)
        return -1;
    for (size_t i = 0; i < import->n; i++) {
        py_t *v = py_ref(jmodule_get(module, import->names[i]->str));
        if (v == NULL)
            v = not_exported(r, node, module, import->names[i]);
        if (v == NULL)
            return -1;
        if (import->toplevel) {
            py_dict_set(r->ctx->vars, import->aliases[i]->str, v);
            py_dict_del(r->ctx->exported, import->aliases[i]->str);
        }
        jframe_set(r->frame, import->refs[i], v);
    }
    return 0;
}

/* ---- include ------------------------------------------------------------------------------------------ */

/* Without context the text of the default module is printed; with context the template runs with the local
 * variables. "ignore missing" passes over TemplateNotFound only. */
int
jexec_include(jrun_t *r, const jnode_t *node)
{
    const jnode_import_t *import = node->import;
    size_t trace = r->s->n_trace;
    r->line = node->line;
    AUTO(py) name = jeval(r, import->template);
    jloaded_t *l = name != NULL ? jload_select(r->s, name, node->op) : NULL;
    if (l == NULL) {
        if (!import->ignore_missing || !py_raised_is(&jinja_TemplateNotFound))
            return -1;
        py_clear();

        /* Forgets trace entries of an exception that was handled. */
        jsession_t *s = r->s;
        while (s->n_trace > trace) {
            free(s->trace[--s->n_trace].name);
            free(s->trace[s->n_trace].path);
            free(s->trace[s->n_trace].label);
        }
        free(STEAL(s->hint));

        return 0;
    }
    if (!import->with_context) {
        py_t *module = default_module(r->s, l);
        AUTO(py) text = module != NULL ? jmodule_text(module) : NULL;
        return text != NULL ? py_str_to(r->out, text) : -1;
    }
    jcontext_t *ctx = jcontext_derived(r, l->template, &import->locals, false);
    if (ctx == NULL)
        return -1;
    int rc = jrun_root(r->s, ctx, l->template, r->out);
    jcontext_unref(ctx);
    return rc;
}
