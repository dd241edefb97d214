/* registry.c - find plug-ins by the name that users type, and functions in their tables, over all sources.
 *
 * Several plug-ins may provide one module (apt and dnf provide pkg): the walk visits them in order of
 * precedence, and the first usable one that has the function is called. Look-ups of a module are O(1) in the
 * table source. */
#include "common/plugin/registry.h"

#include "common/base/str.h"
#include "common/plugin/registry_int.h"
#include "common/plugin/usable.h"
#include "salt/log.h"

/* ---- sources ------------------------------------------------------------------------------- */

registry_t *
registry_of(plugin_kind_t kind, plugin_source_t *const *sources, size_t n)
{
    registry_t *self = xcalloc(1, sizeof(*self));

    self->kind = kind;
    self->sources = xcalloc(n, sizeof(plugin_source_t *));
    for (size_t i = 0; i < n; i++)
        if (sources[i] != NULL)
            self->sources[self->n++] = sources[i];
    return self;
}

void
registry_destroy(registry_t **self_p)
{
    registry_t *self = STEAL(*self_p);

    if (self == NULL)
        return;
    for (size_t i = 0; i < self->n; i++)
        self->sources[i]->ops->destroy(self->sources[i]);
    free(self->sources);
    free(self);
}

plugin_kind_t
registry_kind(const registry_t *self)
{
    return self->kind;
}

int
registry_refresh(registry_t *self, call_ctx_t *ctx, fail_t *err)
{
    int first = 0;

    for (size_t i = 0; i < self->n; i++) {
        plugin_source_t *source = self->sources[i];
        int rc = source->ops->refresh != NULL ? source->ops->refresh(source, ctx, first == 0 ? err : NULL)
                                              : 0;
        first = first == 0 ? rc : first;
    }
    return first;
}

const plugin_t *
walk_next(walk_t *self)
{
    if (self->whole && self->module != NULL)
        return NULL;
    for (; self->i < self->registry->n; self->i++, self->at = NULL) {
        self->source = self->registry->sources[self->i];
        if (self->at == NULL)
            self->at = self->source->ops->plugins(self->source, self->ctx, self->module);
        if (self->at == NULL || *self->at == NULL)
            continue;
        self->whole = (*self->at)->whole;
        return *self->at++;
    }
    return NULL;
}

/* ---- one function -------------------------------------------------------------------------- */

const func_t *
plugin_function(const plugin_t *p, const char *name)
{
    for (size_t i = 0; i < p->n_funcs; i++) {
        if (strcmp(p->funcs[i].name, name) == 0)
            return &p->funcs[i];
    }
    return NULL;
}

/* The plug-in's own reason against use here, without the configuration's. NULL: usable. */
static const char *
own_reason(plugin_source_t *source, call_ctx_t *ctx, const plugin_t *p)
{
    if (source->ops->unavailable != NULL)
        return source->ops->unavailable(source, ctx, p);
    return p->unavailable != NULL ? p->unavailable(ctx) : NULL;
}

static const char *
why_unusable(plugin_source_t *source, call_ctx_t *ctx, const plugin_t *p)
{
    bool excluded = p->kind == PLUGIN_EXEC && !plugin_may_be_named(ctx, plugin_name(p));

    return excluded || plugin_is_disabled(ctx, p) ? "the configuration excludes it"
                                                  : own_reason(source, ctx, p);
}

/* The module's part of "mod.fun"; all of it when there is no dot. NEW. */
static char *
registry_module_of(const char *fun)
{
    return xstrndup(fun, strcspn(fun, "."));
}

/* A plug-in that is excluded by configuration is skipped as if it did not exist; one that declares itself
 * unusable gives its reason, if no other provides the module. The file of one that is broken is named. */
const func_t *
registry_find(const registry_t *self, call_ctx_t *ctx, const char *fun, fail_t *err)
{
    const char *dot = strchr(fun, '.'), *reason = NULL, *origin = "";
    AUTO_FREE char *module = registry_module_of(fun);
    walk_t walk = { .registry = self, .ctx = ctx, .module = module };
    const plugin_t *p;
    bool usable = false, broken = false;

    while (dot != NULL && (p = walk_next(&walk)) != NULL) {
        if (plugin_is_disabled(ctx, p))
            continue;
        const char *why = own_reason(walk.source, ctx, p);
        if (why != NULL) {
            origin = reason != NULL ? origin : plugin_origin(p);
            broken = reason != NULL ? broken : p->broken;
            reason = reason != NULL ? reason : why;
            continue;
        }
        usable = true;
        const func_t *f = plugin_function(p, dot + 1);
        if (f != NULL)
            return f;
    }
    if (!usable && reason != NULL && broken)
        fail_kind(err, FAIL_UNAVAILABLE, -ENOENT, "'%s' is not available: %s: %s", fun, origin, reason);
    else if (!usable && reason != NULL)
        fail_kind(err, FAIL_UNAVAILABLE, -ENOENT, "'%s' __virtual__ returned False%s%s", module,
                  *reason != '\0' ? ": " : "", reason);
    else
        fail_kind(err, FAIL_UNAVAILABLE, -ENOENT, "'%s' is not available.", fun);
    if (reason != NULL)
        log_debug("Could not LazyLoad %s: %s (%s)", fun, reason, origin);
    else
        log_debug("Could not LazyLoad %s: there is none", fun);
    return NULL;
}

const plugin_t *
registry_provider(const registry_t *self, call_ctx_t *ctx, const char *module)
{
    walk_t walk = { .registry = self, .ctx = ctx, .module = module };
    const plugin_t *p;

    while ((p = walk_next(&walk)) != NULL && why_unusable(walk.source, ctx, p) != NULL)
        ;
    return p;
}

bool
registry_any(const registry_t *self, const char *fun, unsigned flag)
{
    const char *dot = strchr(fun, '.');
    AUTO_FREE char *module = registry_module_of(fun);
    walk_t walk = { .registry = self, .module = module };
    const func_t *f = NULL;
    const plugin_t *p;

    while (dot != NULL && (f == NULL || (f->flags & flag) == 0) && (p = walk_next(&walk)) != NULL)
        f = plugin_function(p, dot + 1);
    return f != NULL && (f->flags & flag) != 0;
}

bool
registry_all(const registry_t *self, const char *fun, unsigned flag)
{
    const char *dot = strchr(fun, '.');
    AUTO_FREE char *module = registry_module_of(fun);
    walk_t walk = { .registry = self, .module = module };
    const plugin_t *p;
    bool found = false, all = true;

    while (dot != NULL && (p = walk_next(&walk)) != NULL) {
        const func_t *f = plugin_function(p, dot + 1);
        found = found || f != NULL;
        all = all && (f == NULL || (f->flags & flag) != 0);
    }
    return found && all;
}

/* ---- all of them --------------------------------------------------------------------------- */

/* True when calls of this function don't go to `p`, as another plug-in precedes it. */
static bool
registry_is_hidden(const registry_t *self, call_ctx_t *ctx, call_ctx_t *user, const plugin_t *p,
                   const func_t *f)
{
    walk_t walk = { .registry = self, .ctx = ctx, .module = plugin_name(p) };
    const plugin_t *other;

    while ((other = walk_next(&walk)) != NULL && other != p) {
        if (plugin_function(other, f->name) != NULL &&
            (user == NULL || why_unusable(walk.source, user, other) == NULL))
            return true;
    }
    return other == NULL;
}

/* registry_each() of what is usable for `user`; NULL: of all that `ctx` shows. */
static void
registry_each_of(const registry_t *self, call_ctx_t *ctx, call_ctx_t *user, registry_each_fn *each,
                 void *cookie)
{
    walk_t walk = { .registry = self, .ctx = ctx };
    const plugin_t *p;

    while ((p = walk_next(&walk)) != NULL) {
        if (user != NULL && why_unusable(walk.source, user, p) != NULL)
            continue;
        for (size_t k = 0; k < p->n_funcs; k++) {
            const func_t *f = &p->funcs[k];
            AUTO_FREE char *name = xasprintf("%s.%s", plugin_name(p), f->name);
            if (!registry_is_hidden(self, ctx, user, p, f))
                each(cookie, name, p, f);
        }
    }
}

void
registry_each(const registry_t *self, call_ctx_t *ctx, registry_each_fn *each, void *cookie)
{
    registry_each_of(self, ctx, ctx, each, cookie);
}

void
registry_each_plugin(const registry_t *self, call_ctx_t *ctx, registry_plugin_fn *each, void *cookie)
{
    walk_t walk = { .registry = self, .ctx = ctx };
    const plugin_t *p;

    while ((p = walk_next(&walk)) != NULL)
        each(cookie, p, why_unusable(walk.source, ctx, p));
}

/* Names of functions or modules, as a growing list that ends with NULL. */
typedef struct names {
    const char *prefix;
    char **v;
    size_t n;
} names_t;

static void
registry_add_name(names_t *self, const char *name)
{
    self->v = xrealloc(self->v, (self->n + 2) * sizeof(*self->v));
    self->v[self->n++] = xstrdup(name);
    self->v[self->n] = NULL;
}

static void
registry_add_function(void *cookie, const char *name, const plugin_t *p, const func_t *f)
{
    names_t *self = cookie;

    if (str_starts(name, self->prefix))
        registry_add_name(self, name);
}

static void
registry_add_module(void *cookie, const char *name, const plugin_t *p, const func_t *f)
{
    registry_add_name(cookie, plugin_name(p));
}

json_t *
registry_names(const registry_t *self, const char *prefix)
{
    json_t *out = json_array();
    names_t found = { .prefix = prefix };

    registry_each(self, NULL, registry_add_function, &found);
    if (found.n > 0)
        qsort(found.v, found.n, sizeof(*found.v), str_by_text);
    for (size_t i = 0; i < found.n; i++)
        json_array_append_new(out, json_string(found.v[i]));
    strv_free(found.v);
    return out;
}

static const char *
registry_next_name(void *cookie)
{
    char ***at = cookie;

    return *at != NULL && **at != NULL ? *(*at)++ : NULL;
}

/* True when both are functions of one module, or of two whose names are near: a function of the same name in
 * another module does something else. */
static bool
near_modules(const char *a, const char *b)
{
    AUTO_FREE char *module = xstrndup(a, strcspn(a, ".")), *other = xstrndup(b, strcspn(b, "."));
    char *names[] = { other, NULL }, **at = names;

    return str_eq(module, other) || str_suggest(module, registry_next_name, &at) != NULL;
}

char *
registry_suggest(const registry_t *self, call_ctx_t *ctx, const char *name)
{
    names_t known = { .prefix = "" };

    registry_each_of(self, ctx, NULL, strchr(name, '.') != NULL ? registry_add_function : registry_add_module,
                     &known);
    char **at = known.v;
    const char *near = str_suggest(name, registry_next_name, &at);
    char *found = near != NULL && near_modules(name, near) ? xstrdup(near) : NULL;
    strv_free(known.v);
    return found;
}
