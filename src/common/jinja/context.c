/* context.c - a template's context: its variables by name, and the stacks of blocks for inheritance.
 *
 * `parent` has globals and the caller's variables, `vars` what the template's top level assigned; look-ups
 * try `vars` first. Each block name has a stack of definitions, that of the most derived template first.
 * Contexts are linked into their session, which empties those that are left at its end. */
#include "common/jinja/run.h"

/* Links the new context into its session. `vars` and `exported` start empty. */
jcontext_t *
jcontext_new(jsession_t *s, jtemplate_t *template, py_t *parent)
{
    jcontext_t *ctx = xcalloc(1, sizeof(*ctx));
    ctx->refs = 1;
    ctx->session = s;
    ctx->template = jtemplate_ref(template);
    ctx->parent = py_ref(parent);
    ctx->vars = py_dict();
    ctx->exported = py_set(false);
    ctx->autoescape = s->engine->options.autoescape;
    ctx->next = s->contexts;
    if (ctx->next != NULL)
        ctx->next->prev = ctx;
    s->contexts = ctx;
    return ctx;
}

jcontext_t *
jcontext_ref(jcontext_t *ctx)
{
    ctx->refs++;
    return ctx;
}

void
jcontext_drop_blocks(jcontext_t *ctx)
{
    for (size_t i = 0; i < ctx->n_blocks; i++)
        free(ctx->blocks[i].v);
    free(ctx->blocks);
    ctx->blocks = NULL;
    ctx->n_blocks = 0;
}

/* A context whose session is over is no longer linked. */
void
jcontext_unref(jcontext_t *ctx)
{
    if (ctx == NULL || --ctx->refs > 0)
        return;
    if (ctx->session != NULL) {
        if (ctx->prev != NULL)
            ctx->prev->next = ctx->next;
        else
            ctx->session->contexts = ctx->next;
        if (ctx->next != NULL)
            ctx->next->prev = ctx->prev;
    }
    py_unref(ctx->parent);
    py_unref(ctx->vars);
    py_unref(ctx->exported);
    jcontext_drop_blocks(ctx);
    jtemplate_unref(ctx->template);
    free(ctx);
}

/* Context.resolve_or_missing of Jinja: the template's own assignments hide what was passed. */
py_t *
jcontext_get(const jcontext_t *ctx, py_t *name)
{
    py_t *v = py_dict_get(ctx->vars, name);
    return v != NULL ? v : py_dict_get(ctx->parent, name);
}

py_t *
jcontext_all(const jcontext_t *ctx)
{
    py_t *all = py_todict(ctx->parent);
    if (all != NULL)
        py_dict_update(all, ctx->vars);
    return all;
}

static void
jinja_context_add_block(jcontext_t *ctx, const char *name, jblock_t block)
{
    jblocks_t *b = jcontext_blocks(ctx, name);
    if (b == NULL) {
        ctx->blocks = xrealloc(ctx->blocks, (ctx->n_blocks + 1) * sizeof(*ctx->blocks));
        b = &ctx->blocks[ctx->n_blocks++];
        *b = (jblocks_t){ name, NULL, 0 };
    }
    b->v = xrealloc(b->v, (b->n + 1) * sizeof(*b->v));
    b->v[b->n++] = block;
}

void
jcontext_add_blocks(jcontext_t *ctx, jtemplate_t *template)
{
    for (const jnode_t *b = template->tree.blocks; b != NULL; b = b->block->next)
        jinja_context_add_block(ctx, b->block->name->text, (jblock_t){ template, b });
}

/* Linear: templates have few blocks. BORROWED until a block is added. */
jblocks_t *
jcontext_blocks(const jcontext_t *ctx, const char *name)
{
    for (size_t i = 0; i < ctx->n_blocks; i++)
        if (strcmp(ctx->blocks[i].name, name) == 0)
            return &ctx->blocks[i];
    return NULL;
}

/* Jinja's derived context: a copy of all variables with the local ones on top, for includes, imports with
 * context and scoped blocks. `same_blocks` keeps the block stacks. */
jcontext_t *
jcontext_derived(jrun_t *r, jtemplate_t *template, const jlocals_t *locals, bool same_blocks)
{
    AUTO(py) all = jcontext_all(r->ctx);
    if (all == NULL)
        return NULL;
    for (size_t i = 0; i < locals->n; i++) {
        py_t *v = *jframe_at(r->frame, locals->v[i].ref);
        if (v != NULL)
            py_dict_set(all, locals->v[i].name->str, v);
    }
    jcontext_t *ctx = jcontext_new(r->s, template, all);
    if (!same_blocks) {
        jcontext_add_blocks(ctx, template);
        return ctx;
    }
    ctx->autoescape = r->ctx->autoescape;
    for (size_t i = 0; i < r->ctx->n_blocks; i++)
        for (size_t k = 0; k < r->ctx->blocks[i].n; k++)
            jinja_context_add_block(ctx, r->ctx->blocks[i].name, r->ctx->blocks[i].v[k]);
    return ctx;
}
