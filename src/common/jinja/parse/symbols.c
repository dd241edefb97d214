/* symbols.c - Jinja's rules of scope (its idtracking): a name read before it is set comes from the context; a
 * name set in some branches only may come from outside; a loop, a macro or a `with` has names of its own.
 *
 * ptab_t maps pointers to pointers in order of insertion: linear up to PTAB_LINEAR entries, then with a hash
 * index. A level of nesting in a function reuses its slots by name. */
#include "common/jinja/parse/ast_walk.h"
#include "common/jinja/parse/symbols.h"

/* ---- tables ------------------------------------------------------------------------------------------- */

enum { PTAB_LINEAR = 8 };

/* Slot of the index for a key, linear probing; the index is at most half full. */
static size_t
ptab_slot(const ptab_t *t, const void *key)
{
    size_t h = ((uintptr_t) key >> 4) * 0x9e3779b97f4a7c15u >> 20;
    for (;; h++) {
        uint32_t at = t->index[h & (t->cap - 1)];
        if (at == 0 || t->v[at - 1].key == key)
            return h & (t->cap - 1);
    }
}

void *
ptab_get(const ptab_t *t, const void *key)
{
    if (t->index != NULL) {
        uint32_t at = t->index[ptab_slot(t, key)];
        return at > 0 ? t->v[at - 1].value : NULL;
    }
    for (size_t i = 0; i < t->n; i++)
        if (t->v[i].key == key)
            return t->v[i].value;
    return NULL;
}

void
ptab_set(arena_t *arena, ptab_t *t, const void *key, void *value)
{
    for (size_t i = 0; t->index == NULL && i < t->n; i++)
        if (t->v[i].key == key) {
            t->v[i].value = value;
            return;
        }
    if (t->index != NULL) {
        size_t slot = ptab_slot(t, key);
        if (t->index[slot] > 0) {
            t->v[t->index[slot] - 1].value = value;
            return;
        }
    }
    t->v = arena_grow(arena, t->v, t->n, sizeof(*t->v));
    t->v[t->n].key = key;
    t->v[t->n++].value = value;
    if (t->index == NULL ? t->n > PTAB_LINEAR : 2 * t->n > t->cap) {
        /* Builds the index anew. */
        t->cap = t->cap == 0 ? 4 * PTAB_LINEAR : 4 * t->cap;
        t->index = arena_take(arena, t->cap * sizeof(*t->index));
        for (size_t i = 0; i < t->n; i++)
            t->index[ptab_slot(t, t->v[i].key)] = (uint32_t) i + 1;
    } else if (t->index != NULL)
        t->index[ptab_slot(t, key)] = (uint32_t) t->n;
}

static void
ptab_update(arena_t *arena, ptab_t *t, const ptab_t *more)
{
    for (size_t i = 0; i < more->n; i++)
        ptab_set(arena, t, more->v[i].key, more->v[i].value);
}

/* ---- names -------------------------------------------------------------------------------------------- */

symbols_t *
symbols_new(arena_t *arena, symbols_t *parent, func_vars_t *vars)
{
    symbols_t *s = arena_take(arena, sizeof(*s));
    s->arena = arena;
    s->parent = parent;
    s->vars = vars;
    s->level = parent != NULL ? parent->level + 1 : 0;
    return s;
}

/* A copy for a branch, which may define names of its own. */
static symbols_t *
symbols_copy(const symbols_t *s)
{
    symbols_t *copy = arena_take(s->arena, sizeof(*copy));
    *copy = (symbols_t){ .arena = s->arena, .vars = s->vars, .parent = s->parent, .level = s->level };
    ptab_update(s->arena, &copy->refs, &s->refs);
    ptab_update(s->arena, &copy->loads, &s->loads);
    ptab_update(s->arena, &copy->stores, &s->stores);
    return copy;
}

/* Gives a name a variable in this scope, with the load that fills it. */
static ident_t *
define(symbols_t *s, jname_t *name, jload_kind_t kind, ident_t *from)
{
    /* Variable of a name at this level of the function, made when new. Slots are limited to 16 bits. */
    func_vars_t *f = s->vars;
    while (f->n_levels <= s->level) {
        f->levels = arena_grow(s->arena, f->levels, f->n_levels, sizeof(*f->levels));
        f->levels[f->n_levels++] = (ptab_t){ .n = 0 };
    }
    ident_t *id = ptab_get(&f->levels[s->level], name);
    if (id == NULL) {
        if (f->func->slots == UINT16_MAX)
            syntax_fail(f->arena, f->error, f->line, "more than %d names in one macro, block or template",
                        UINT16_MAX);
        id = arena_take(s->arena, sizeof(*id));
        id->vars = f;
        f->func->names = arena_grow(f->arena, f->func->names, f->func->slots, sizeof(*f->func->names));
        f->func->names[f->func->slots] = name;
        id->slot = f->func->slots++;
        ptab_set(s->arena, &f->levels[s->level], name, id);
    }

    load_t *load = arena_take(s->arena, sizeof(*load));
    *load = (load_t){ kind, from, name };
    ptab_set(s->arena, &s->refs, name, id);
    ptab_set(s->arena, &s->loads, id, load);
    return id;
}

ident_t *
symbols_ref(const symbols_t *s, const jname_t *name)
{
    for (; s != NULL; s = s->parent) {
        ident_t *id = ptab_get(&s->refs, name);
        if (id != NULL)
            return id;
    }
    return NULL;
}

void
symbols_load(symbols_t *s, jname_t *name)
{
    if (symbols_ref(s, name) == NULL)
        define(s, name, LOAD_RESOLVE, NULL);
}

/* An assigned name that exists outside starts with the outer value. */
void
symbols_store(symbols_t *s, jname_t *name)
{
    ptab_set(s->arena, &s->stores, name, name);
    if (ptab_get(&s->refs, name) != NULL)
        return;
    ident_t *outer = s->parent != NULL ? symbols_ref(s->parent, name) : NULL;
    define(s, name, outer != NULL ? LOAD_ALIAS : LOAD_UNDEFINED, outer);
}

/* A parameter is set by the caller, not by a load. */
ident_t *
symbols_parameter(symbols_t *s, jname_t *name)
{
    ptab_set(s->arena, &s->stores, name, name);
    return define(s, name, LOAD_PARAMETER, NULL);
}

/* ---- branches ----------------------------------------------------------------------------------------- */

/* Merges branches into `s`. A name that not all three set also loads from outside, or from the context. */
static void
branch_update(symbols_t *s, symbols_t *const *branches, size_t n)
{
    ptab_t counts = { .n = 0 };
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < branches[i]->stores.n; k++) {
            const void *name = branches[i]->stores.v[k].key;
            if (ptab_get(&s->stores, name) == NULL)
                ptab_set(s->arena, &counts, name, (void *) ((uintptr_t) ptab_get(&counts, name) + 1));
        }
    for (size_t i = 0; i < n; i++) {
        ptab_update(s->arena, &s->refs, &branches[i]->refs);
        ptab_update(s->arena, &s->loads, &branches[i]->loads);
        ptab_update(s->arena, &s->stores, &branches[i]->stores);
    }
    for (size_t i = 0; i < counts.n; i++) {
        if ((uintptr_t) counts.v[i].value == 3)
            continue;
        jname_t *name = ptab_get(&s->stores, counts.v[i].key);
        ident_t *outer = s->parent != NULL ? symbols_ref(s->parent, name) : NULL;
        load_t *load = arena_take(s->arena, sizeof(*load));
        *load = (load_t){ outer != NULL ? LOAD_ALIAS : LOAD_RESOLVE, outer, name };
        ptab_set(s->arena, &s->loads, symbols_ref(s, name), load);
    }
}

/* As in Jinja, the branches are the first body, all elifs together, and else. */
static void
symbols_visit_if(symbols_t *s, jnode_t *node)
{
    size_t n = node->branch.n;
    bool otherwise = node->branch.tests[n - 1] == NULL;
    symbols_visit(s, node->branch.tests[0]);
    symbols_t *branches[3];
    for (size_t i = 0; i < 3; i++)
        branches[i] = symbols_copy(s);
    symbols_visit_list(branches[0], &node->branch.bodies[0]);
    for (size_t i = 1; i < n - (otherwise ? 1 : 0); i++) {
        symbols_visit(branches[1], node->branch.tests[i]);
        symbols_t *body = symbols_copy(branches[1]);
        symbols_visit_list(body, &node->branch.bodies[i]);
        branch_update(branches[1], &body, 1);
    }
    if (otherwise)
        symbols_visit_list(branches[2], &node->branch.bodies[n - 1]);
    branch_update(s, branches, 3);
}

static bool
visit_child(jnode_t *node, void *cookie)
{
    symbols_visit(cookie, node);
    return true;
}

static void
visit_name(symbols_t *s, const jnode_t *node)
{
    if (node->op == CTX_PARAM)
        symbols_parameter(s, node->name.name);
    else if (node->op == CTX_STORE)
        symbols_store(s, node->name.name);
    else
        symbols_load(s, node->name.name);
}

/* Records the effect of a statement on the names of its own scope; bodies with scopes of their own are not
 * entered. */
void
symbols_visit(symbols_t *s, jnode_t *node)
{
    switch (node->kind) {
    case N_NAME:
        visit_name(s, node);
        break;
    case N_NSREF:
        symbols_load(s, node->name.name);
        break;
    case N_IF:
        symbols_visit_if(s, node);
        break;
    case N_MACRO:
        symbols_store(s, node->macro.name);
        break;
    case N_IMPORT:
        symbols_visit(s, node->import->template);
        symbols_store(s, node->import->target);
        break;
    case N_FROM:
        symbols_visit(s, node->import->template);
        for (size_t i = 0; i < node->import->n; i++)
            symbols_store(s, node->import->aliases[i]);
        break;
    case N_ASSIGN:
        symbols_visit(s, node->assign.value);
        symbols_visit(s, node->assign.target);
        break;
    case N_FOR:
        symbols_visit(s, node->loop->iter);
        break;
    case N_CALL_BLOCK:
        symbols_visit(s, node->macro.call);
        break;
    case N_FILTER_BLOCK:
        symbols_visit(s, node->capture.filter);
        break;
    case N_WITH:
        symbols_visit_list(s, &node->with.values);
        break;
    case N_ASSIGN_BLOCK:
        symbols_visit(s, node->capture.target);
        break;
    case N_AUTOESCAPE:
    case N_BLOCK:
        break;
    default:
        ast_children(node, visit_child, s);
    }
}

void
symbols_visit_list(symbols_t *s, const jlist_t *list)
{
    for (size_t i = 0; i < list->n; i++)
        symbols_visit(s, list->v[i]);
}

static bool
visit_target(jnode_t *node, void *cookie)
{
    symbols_visit_target(cookie, node);
    return true;
}

void
symbols_visit_target(symbols_t *s, jnode_t *node)
{
    if (node->kind == N_NAME)
        symbols_parameter(s, node->name.name);
    else
        ast_children(node, visit_target, s);
}
