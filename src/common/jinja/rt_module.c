/* rt_module.c - runs of roots and blocks; the module of an imported template; `self` and `super`.
 *
 * A module holds the exported names and the text of a template that was run. References to blocks (`self.x`,
 * super()) name a block and a depth in its stack of definitions. */
#include "common/jinja/run.h"

/* ---- functions of a template -------------------------------------------------------------------------- */

static void
set_self(jrun_t *r, const jfunc_t *func)
{
    if (func->has_self)
        jframe_set(r->frame, func->self_ref, jself_new(r->ctx));
}

/* Runs a template's body, then the parent that it extends, in the same context. */
int
jrun_root(jsession_t *s, jcontext_t *ctx, jtemplate_t *template, buf_t *out)
{
    const jtree_t *tree = &template->tree;
    jrun_t r;
    if (py_enter() < 0)
        return -1;
    jrun_push(&r, s, ctx, template, FUNC_ROOT, jframe_new(s, &tree->func, NULL), out);
    set_self(&r, &tree->func);
    jenter(&r, &tree->func.scope);
    int rc = jexec(&r, &tree->body);
    if (rc >= 0 && r.extended != NULL) {
        r.line = tree->parent_line;
        rc = jrun_root(s, ctx, r.extended->template, out);
    }
    if (rc >= 0)
        rc = jout_check(&r, out);
    jrun_pop(&r, rc < 0);
    py_leave();
    return rc < 0 ? -1 : 0;
}

/* Runs one definition of a block in a frame without outer variables: blocks see the context only. */
int
jrun_block(jcontext_t *ctx, const jblock_t *block, const char *name, buf_t *out)
{
    jsession_t *s = ctx->session;
    const jfunc_t *func = block->node->block->func;
    jrun_t r;
    if (py_enter() < 0)
        return -1;
    jrun_push(&r, s, ctx, block->template, FUNC_BLOCK, jframe_new(s, func, NULL), out);
    r.label = name;
    set_self(&r, func);
    if (func->has_super)
        jframe_set(r.frame, func->super_ref, jsuper_new(ctx, name, block->node));
    jenter(&r, &func->scope);
    int rc = jexec(&r, &block->node->block->body);
    jrun_pop(&r, rc < 0);
    py_leave();
    return rc < 0 ? -1 : 0;
}

/* ---- modules ------------------------------------------------------------------------------------------ */

/* An imported template: what it printed, and the names that it exports. */
typedef struct module {
    py_t *name, *body, *exported;
} module_t;

static void
module_free(void *data)
{
    module_t *m = data;
    py_unref(m->name);
    py_unref(m->body);
    py_unref(m->exported);
    free(m);
}

static void
module_walk(void *data, py_visit_fn *visit, void *cookie)
{
    module_t *m = data;
    visit(m->exported, cookie);
}

static int module_find(py_t *self, py_t *name, py_t **ret);
static int module_str(py_t *self, buf_t *out);
static int rt_module_repr(py_t *self, buf_t *out);
static py_t *module_html(py_t *self);

static const py_class_t module_class = {
    .name = "TemplateModule",
    .module = "jinja2.environment",
    .find_attr = module_find,
    .str = module_str,
    .repr = rt_module_repr,
    .html = module_html,
    .free = module_free,
    .walk = module_walk,
};

/* Attributes: the exported names, and `__name__`. */
static int
module_find(py_t *self, py_t *name, py_t **ret)
{
    module_t *m = py_host_data(self, &module_class);
    *ret = py_ref(py_str_is(name, "__name__") ? m->name : py_dict_get(m->exported, name));
    return *ret != NULL;
}

static int
module_str(py_t *self, buf_t *out)
{
    module_t *m = py_host_data(self, &module_class);
    return py_str_to(out, m->body);
}

static int
rt_module_repr(py_t *self, buf_t *out)
{
    module_t *m = py_host_data(self, &module_class);
    buf_puts(out, "<TemplateModule ");
    if (py_is(m->name, PY_NONE))
        buf_printf(out, "memory:%lx>", (unsigned long) (uintptr_t) m);
    else if (py_repr_to(out, m->name) == 0)
        buf_putc(out, '>');
    return py_raised() != NULL ? -1 : 0;
}

static py_t *
module_html(py_t *self)
{
    module_t *m = py_host_data(self, &module_class);
    return py_markup(m->body);
}

/* Collects the exported variables. TAKES the buffer's text. */
py_t *
jmodule_new(jcontext_t *ctx, jtemplate_t *template, buf_t *body)
{
    module_t *m = xcalloc(1, sizeof(*m));
    m->name = template->name != NULL ? py_strz(template->name) : py_ref(PY_None);
    m->body = py_str_buf(body);
    m->exported = py_dict();
    py_t *name, *unused;
    for (size_t i = 0; py_dict_next(ctx->exported, &i, &name, &unused);) {
        py_t *v = py_dict_get(ctx->vars, name);
        if (v != NULL)
            py_dict_set(m->exported, name, v);
    }
    return py_host(&module_class, m);
}

py_t *
jmodule_get(py_t *module, py_t *name)
{
    module_t *m = py_host_data(module, &module_class);
    return py_dict_get(m->exported, name);
}

py_t *
jmodule_text(py_t *v)
{
    const module_t *m = py_host_data(v, &module_class);
    return py_ref(m != NULL ? m->body : v);
}

/* A body that is a prefix of the source was printed verbatim, so its lines are the template's. */
const jtemplate_t *
jmodule_verbatim(const jsession_t *s, py_t *v)
{
    const module_t *m = py_host_data(v, &module_class);
    const jloaded_t *l = m != NULL ? map_get(s->loaded, py_cstr(m->name)) : NULL;
    size_t len;
    if (l == NULL || !py_is(m->body, PY_STR))
        return NULL;
    const char *body = py_text(m->body, &len);
    const jtree_t *tree = &l->template->tree;
    return len <= tree->source_len && memcmp(body, tree->source, len) == 0 ? l->template : NULL;
}

/* ---- self.block(), super() ---------------------------------------------------------------------------- */

/* `self`, `super`, or a block of either: the block of that name at `depth` in the line of templates. */
typedef struct block_ref {
    jcontext_t *ctx;
    char *name; /* NULL: `self` */
    size_t depth;
} block_ref_t;

static void
block_ref_free(void *data)
{
    block_ref_t *b = data;
    jcontext_unref(b->ctx);
    free(b->name);
    free(b);
}

static int block_find(py_t *self, py_t *name, py_t **ret);
static py_t *block_call(py_t *self, const py_args_t *args);
static int self_item(py_t *self, py_t *name, py_t **ret);
static int self_repr(py_t *self, buf_t *out);

static const py_class_t block_class = {
    .name = "BlockReference",
    .module = "jinja2.runtime",
    .find_attr = block_find,
    .call = block_call,
    .free = block_ref_free,
};
static const py_class_t self_class = {
    .name = "TemplateReference",
    .module = "jinja2.runtime",
    .find_item = self_item,
    .repr = self_repr,
    .free = block_ref_free,
};

static py_t *
rt_module_block_new(jcontext_t *ctx, const char *name, size_t depth)
{
    block_ref_t *b = xcalloc(1, sizeof(*b));
    b->ctx = jcontext_ref(ctx);
    b->name = xstrdup(name);
    b->depth = depth;
    return py_host(&block_class, b);
}

/* The definition at `depth` of a block's stack, or an undefined value when there is none. */
static py_t *
super_at(jcontext_t *ctx, const char *name, size_t depth)
{
    const jblocks_t *stack = jcontext_blocks(ctx, name);
    if (stack != NULL && depth < stack->n)
        return rt_module_block_new(ctx, name, depth);
    char *hint AUTO_FREE = xasprintf("there is no parent block called '%s'.", name);
    AUTO(py) super = py_strz("super");
    return jundefined(ctx->session, super, hint);
}

static int
block_find(py_t *self, py_t *name, py_t **ret)
{
    block_ref_t *b = py_host_data(self, &block_class);
    if (!py_str_is(name, "super") || b->ctx->session == NULL)
        return 0;
    *ret = super_at(b->ctx, b->name, b->depth + 1);
    return 1;
}

/* Runs the block and returns its text. A stale reference raises. */
static py_t *
block_call(py_t *self, const py_args_t *args)
{
    block_ref_t *b = py_host_data(self, &block_class);
    if (args->n + args->nkw > 0)
        return py_raise(&py_TypeError,
                        "BlockReference.__call__() takes 1 positional argument but %zu were given",
                        args->n + 1);
    if (b->ctx->session == NULL)
        return py_raise(&py_RuntimeError, "the block's template has ended");
    const jblocks_t *stack = jcontext_blocks(b->ctx, b->name);
    buf_t text = BUF_INIT;
    if (jrun_block(b->ctx, &stack->v[b->depth], b->name, &text) < 0) {
        buf_free(&text);
        return NULL;
    }
    AUTO(py) v = py_str_buf(&text);
    return b->ctx->autoescape ? py_markup(v) : STEAL(v);
}

/* `self.name`: the most derived definition of a block. */
static int
self_item(py_t *self, py_t *name, py_t **ret)
{
    block_ref_t *b = py_host_data(self, &self_class);
    if (jcontext_blocks(b->ctx, py_cstr(name)) == NULL)
        return 0;
    *ret = rt_module_block_new(b->ctx, py_cstr(name), 0);
    return 1;
}

static int
self_repr(py_t *self, buf_t *out)
{
    block_ref_t *b = py_host_data(self, &self_class);
    const char *name = b->ctx->template->name;
    buf_printf(out, name != NULL ? "<TemplateReference '%s'>" : "<TemplateReference None>", name);
    return 0;
}

py_t *
jself_new(jcontext_t *ctx)
{
    block_ref_t *b = xcalloc(1, sizeof(*b));
    b->ctx = jcontext_ref(ctx);
    return py_host(&self_class, b);
}

/* `super()` of the running definition: the next one in the stack. */
py_t *
jsuper_new(jcontext_t *ctx, const char *name, const jnode_t *block)
{
    const jblocks_t *stack = jcontext_blocks(ctx, name);
    size_t depth = 0;
    while (stack != NULL && depth < stack->n && stack->v[depth].node != block)
        depth++;
    return super_at(ctx, name, depth + 1);
}
