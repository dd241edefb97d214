/* registry.c - plug-ins by the name users type, functions in their tables. */
#include "common/plugin/registry.h"

#include "common/base/map.h"
#include "common/base/str.h"
#include "common/plugin/usable.h"
#include "salt/log.h"

typedef struct provider {
    const plugin_t *plugin;
    struct provider *next; /* of the same module name, in file name order */
} provider_t;

struct registry {
    plugin_kind_t kind;
    const plugin_t *const *plugins;
    size_t n;
    provider_t *providers; /* one per plug-in */
    map_t *modules;        /* module name to its first provider_t */
    char **names;          /* every "mod.fun", made by the first suggestion; ends with NULL */
};

const char *
plugin_name(const plugin_t *p)
{
    return p->provides != NULL ? p->provides : p->file;
}

registry_t *
registry_new(plugin_kind_t kind, const plugin_t *const *plugins, size_t n)
{
    registry_t *self = xcalloc(1, sizeof(*self));

    self->kind = kind;
    self->plugins = plugins;
    self->n = n;
    self->providers = xcalloc(n, sizeof(*self->providers));
    self->modules = map_new(NULL);
    for (size_t i = 0; i < n; i++) {
        provider_t *p = &self->providers[i];
        p->plugin = plugins[i];
        provider_t *first = map_get(self->modules, plugin_name(plugins[i]));
        if (first == NULL) {
            map_set(self->modules, plugin_name(plugins[i]), p);
            continue;
        }
        while (first->next != NULL)
            first = first->next;
        first->next = p;
    }
    return self;
}

void
registry_destroy(registry_t **self_p)
{
    registry_t *self = *self_p;

    if (self == NULL)
        return;
    map_destroy(&self->modules);
    strv_free(self->names);
    free(self->providers);
    free(self);
    *self_p = NULL;
}

plugin_kind_t
registry_kind(const registry_t *self)
{
    return self->kind;
}

const plugin_t *const *
registry_plugins(const registry_t *self, size_t *ret_n)
{
    *ret_n = self->n;
    return self->plugins;
}

static const func_t *
function_of(const plugin_t *p, const char *name)
{
    for (size_t i = 0; i < p->n_funcs; i++) {
        if (strcmp(p->funcs[i].name, name) == 0)
            return &p->funcs[i];
    }
    return NULL;
}

const func_t *
registry_find(const registry_t *self, call_ctx_t *ctx, const char *fun, const plugin_t **ret_plugin,
              fail_t *err)
{
    const char *dot = strchr(fun, '.'), *reason = NULL;
    AUTO_FREE char *module = dot != NULL ? xstrndup(fun, (size_t) (dot - fun)) : xstrdup(fun);
    bool usable = false;

    for (provider_t *p = map_get(self->modules, module); dot != NULL && p != NULL; p = p->next) {
        if (!plugin_is_allowed(ctx, p->plugin))
            continue;
        const char *why = p->plugin->unavailable != NULL ? p->plugin->unavailable(ctx) : NULL;
        if (why != NULL) {
            reason = reason != NULL ? reason : why;
            continue;
        }
        usable = true;
        const func_t *f = function_of(p->plugin, dot + 1);
        if (f == NULL)
            continue;
        if (ret_plugin != NULL)
            *ret_plugin = p->plugin;
        return f;
    }
    if (!usable && reason != NULL)
        fail_kind(err, FAIL_UNAVAILABLE, -ENOENT, "'%s' __virtual__ returned False: %s", module, reason);
    else
        fail_kind(err, FAIL_UNAVAILABLE, -ENOENT, "'%s' is not available.", fun);
    log_debug("Could not LazyLoad %s: %s", fun, reason != NULL ? reason : "there is none");
    return NULL;
}

/* The flags that all who provide "mod.fun" have set, or that any has. */
static unsigned
flags_of(const registry_t *self, const char *fun, bool all)
{
    const char *dot = strchr(fun, '.');
    AUTO_FREE char *module = dot != NULL ? xstrndup(fun, (size_t) (dot - fun)) : xstrdup(fun);
    unsigned flags = 0;
    bool found = false;

    for (provider_t *p = map_get(self->modules, module); dot != NULL && p != NULL; p = p->next) {
        const func_t *f = function_of(p->plugin, dot + 1);
        if (f == NULL)
            continue;
        flags = all && found ? flags & f->flags : flags | f->flags;
        found = true;
    }
    return flags;
}

bool
registry_only_reads(const registry_t *self, const char *fun)
{
    return (flags_of(self, fun, true) & FN_READONLY) != 0;
}

bool
registry_is_secret(const registry_t *self, const char *fun)
{
    return (flags_of(self, fun, false) & FN_SECRET) != 0;
}

static int
by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *) a, *(char *const *) b);
}

json_t *
registry_names(const registry_t *self, const char *prefix)
{
    json_t *names = json_array();
    char **found = xcalloc(1, sizeof(*found));
    size_t n = 0;

    for (size_t i = 0; i < self->n; i++) {
        for (size_t k = 0; k < self->plugins[i]->n_funcs; k++) {
            AUTO_FREE char *name = xasprintf("%s.%s", plugin_name(self->plugins[i]),
                                             self->plugins[i]->funcs[k].name);
            if (!str_starts(name, prefix))
                continue;
            found = xrealloc(found, (n + 2) * sizeof(*found));
            found[n++] = STEAL(name);
            found[n] = NULL;
        }
    }
    qsort(found, n, sizeof(*found), by_text);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || !str_eq(found[i], found[i - 1]))
            json_array_append_new(names, json_string(found[i]));
    strv_free(found);
    return names;
}

static const char *
next_name(void *cookie)
{
    char ***at = cookie;

    return **at != NULL ? *(*at)++ : NULL;
}

const char *
registry_suggest(registry_t *self, const char *fun)
{
    if (self->names == NULL) {
        size_t n = 0;
        for (size_t i = 0; i < self->n; i++)
            n += self->plugins[i]->n_funcs;
        self->names = xcalloc(n + 1, sizeof(*self->names));
        n = 0;
        for (size_t i = 0; i < self->n; i++) {
            for (size_t k = 0; k < self->plugins[i]->n_funcs; k++)
                self->names[n++] = xasprintf("%s.%s", plugin_name(self->plugins[i]),
                                             self->plugins[i]->funcs[k].name);
        }
    }
    char **at = self->names;
    return str_suggest(fun, next_name, &at);
}

/* ---- the check that lint and the unit tests run -------------------------------------------- */

static int
check_default(const plugin_t *p, const func_t *f, const arg_t *row, fail_t *err)
{
    if (row->dflt == ARG_REQUIRED || strcmp(row->dflt, ARG_STAR) == 0 || strcmp(row->dflt, ARG_STARSTAR) == 0)
        return 0;
    json_auto_t *v = json_loads(row->dflt, JSON_DECODE_ANY, NULL);
    if (v == NULL)
        return fail_set(err, -EINVAL, "%s.c: %s: the default of '%s' is not JSON: %s", p->file, f->name,
                        row->name, row->dflt);
    return 0;
}

static int
check_args(const plugin_t *p, const func_t *f, fail_t *err)
{
    bool optional = false;

    for (const arg_t *row = f->args; row != NULL && row->name != NULL; row++) {
        if (row->help == NULL || *row->help == '\0')
            return fail_set(err, -EINVAL, "%s.c: %s: argument '%s' has no help", p->file, f->name, row->name);
        for (const arg_t *before = f->args; before < row; before++) {
            if (strcmp(before->name, row->name) == 0)
                return fail_set(err, -EINVAL, "%s.c: %s: two arguments '%s'", p->file, f->name, row->name);
        }
        if (check_default(p, f, row, err) < 0)
            return -EINVAL;
        if (row->dflt == ARG_REQUIRED && optional)
            return fail_set(err, -EINVAL, "%s.c: %s: required argument '%s' after one with a default",
                            p->file, f->name, row->name);
        optional = optional || (row->dflt != ARG_REQUIRED && *row->dflt != '*');
    }
    return 0;
}

/* What kinds.def asks of every function of a kind. */
enum { NOTHING = 0, EXAMPLE = 1 << 0, ACCESS = 1 << 1 };
static const unsigned checks_of[PLUGIN_KINDS] = {
#define KIND(NAME, word, programs, folder, checks) [PLUGIN_##NAME] = (checks),
#define MORE(word, programs, folder)
#include "salt/kinds.def"
#undef KIND
#undef MORE
};

static int
check_function(const registry_t *self, const plugin_t *p, const func_t *f, fail_t *err)
{
    if (f->fn == NULL || f->name == NULL)
        return fail_set(err, -EINVAL, "%s.c: a row without name or function", p->file);
    if (f->doc == NULL || *f->doc == '\0')
        return fail_set(err, -EINVAL, "%s.c: %s has no doc", p->file, f->name);
    for (const arg_t *row = f->args; (f->flags & FN_NATIVE) != 0 && row != NULL && row->name != NULL; row++) {
        if (row->type != ARG_ANY && row->dflt != NULL && *row->dflt != '*')
            return fail_set(err, -EINVAL, "%s.c: %s: a native function converts '%s' itself", p->file,
                            f->name, row->name);
    }
    if ((checks_of[self->kind] & EXAMPLE) != 0 && strstr(f->doc, "CLI Example") == NULL)
        return fail_set(err, -EINVAL, "%s.c: the doc of %s has no CLI Example", p->file, f->name);
    if ((checks_of[self->kind] & ACCESS) != 0 && (f->flags & (FN_ACCESS_READ | FN_ACCESS_ADMIN)) == 0)
        return fail_set(err, -EINVAL, "%s.c: %s has no access class", p->file, f->name);
    if (function_of(p, f->name) != f)
        return fail_set(err, -EINVAL, "%s.c: two functions %s", p->file, f->name);
    return check_args(p, f, err);
}

/* Two plug-ins that are always usable can't offer one name. */
static int
check_clash(const provider_t *first, const func_t *f, fail_t *err)
{
    if (first->plugin->unavailable != NULL)
        return 0;
    for (const provider_t *p = first->next; p != NULL; p = p->next) {
        if (p->plugin->unavailable == NULL && function_of(p->plugin, f->name) != NULL)
            return fail_set(err, -EINVAL, "%s.c and %s.c: both have %s", first->plugin->file, p->plugin->file,
                            f->name);
    }
    return 0;
}

int
registry_check(const registry_t *self, fail_t *err)
{
    for (size_t i = 0; i < self->n; i++) {
        const plugin_t *p = self->plugins[i];
        if (p->kind != self->kind)
            return fail_set(err, -EINVAL, "%s.c: a plug-in of another kind", p->file);
        if (p->doc == NULL || *p->doc == '\0')
            return fail_set(err, -EINVAL, "%s.c: no doc", p->file);
        for (size_t k = 0; k < p->n_funcs; k++) {
            if (check_function(self, p, &p->funcs[k], err) < 0 ||
                check_clash(&self->providers[i], &p->funcs[k], err) < 0)
                return -EINVAL;
        }
    }
    return 0;
}
