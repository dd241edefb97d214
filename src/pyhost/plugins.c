/* plugins.c - the functions of custom modules as plug-ins: rows made of what the interpreter says of a file.
 */
#include "common/base/map.h"
#include "common/base/str.h"
#include "common/plugin/call.h"
#include "common/python/userfile.h"
#include "pyhost/pyhost.h"
#include "salt/log.h"

/* A plug-in of one file under one of its names, with the texts of its rows. */
typedef struct pyplugin {
    plugin_t plugin; /* first: pyplugin_why() finds the rest by it */
    json_t *said;    /* owned: all texts are in it, but those of arguments */
    pyorigin_t origin;
    func_t *funcs;
    pyfunction_t *functions;
    arg_t **args;
    char **texts; /* of the rows of arguments */
    size_t n_texts;
} pyplugin_t;

typedef struct pyplugins {
    map_t *files; /* "modules/greeting" -> pyplugin_t of each of its names, as a list that ends with NULL */
    map_t *lists[PYKINDS][PYORIGINS]; /* answers of pyplugins() by module, "" for all; NULL: none yet */
    pyplugin_t **all;
    size_t n;
    const plugin_t ***given; /* every list that was given out */
    size_t n_given;
    unsigned describing; /* files that are being loaded, and whose questions are answered */
} pyplugins_t;

/* ---- one plug-in --------------------------------------------------------------------------------------- */

static void
pyplugin_free(pyplugin_t *self)
{
    for (size_t i = 0; i < self->plugin.n_funcs; i++)
        free(self->args[i]);
    for (size_t i = 0; i < self->n_texts; i++)
        free(self->texts[i]);
    free(self->args);
    free(self->texts);
    free(self->funcs);
    free(self->functions);
    json_decref(self->said);
    free(self);
}

const char *
pyplugin_why(const plugin_t *p)
{
    const pyplugin_t *self = (const pyplugin_t *) p;

    return value_str(self->said, "why", NULL);
}

/* A row of ARG_ANY, its text kept with the plug-in. */
static arg_t
kept_row(pyplugin_t *self, const char *name, const char *dflt)
{
    self->texts = xrealloc(self->texts, (self->n_texts + 1) * sizeof(*self->texts));
    self->texts[self->n_texts] = arg_text(name, dflt);
    return (arg_t){ self->texts[self->n_texts++] };
}

/* `row`: [name], or [name, default]. */
static void
add_row(pyplugin_t *self, arg_t **at, json_t *row)
{
    AUTO_FREE char *dflt = json_array_size(row) < 2 ? xstrdup(ARG_REQUIRED)
                                                    : value_dump(json_array_get(row, 1));

    *(*at)++ = kept_row(self, json_string_value(json_array_get(row, 0)), dflt);
}

static void
add_functions(pyplugin_t *self, pykind_t kind)
{
    json_t *list = value_get(self->said, "functions"), *one;
    size_t n = json_array_size(list), i;

    self->funcs = xcalloc(n + 1, sizeof(*self->funcs));
    self->functions = xcalloc(n + 1, sizeof(*self->functions));
    self->args = xcalloc(n + 1, sizeof(*self->args));
    json_array_foreach (list, i, one) {
        const char *name = value_str(one, "name", "");
        unsigned flags = FN_NATIVE | FN_ACCESS_ADMIN;
        flags |= value_get(one, "starstar") != NULL && !json_is_null(value_get(one, "starstar"))
                     ? FN_RAW_KWARGS
                     : 0;
        /* Rows of arguments: those that may be given by position, *args, those by keyword only, **kwargs. */
        json_t *pos = value_get(one, "pos"), *only = value_get(one, "only"), *row;
        const char *star = value_str(one, "star", NULL), *starstar = value_str(one, "starstar", NULL);
        arg_t *args = xcalloc(json_array_size(pos) + json_array_size(only) + 3, sizeof(*args)), *at = args;
        size_t k;

        json_array_foreach (pos, k, row)
            add_row(self, &at, row);
        if (star != NULL || json_array_size(only) > 0)
            *at++ = kept_row(self, star != NULL ? star : "*", ARG_STAR);
        json_array_foreach (only, k, row)
            add_row(self, &at, row);
        if (starstar != NULL)
            *at++ = kept_row(self, starstar, ARG_STARSTAR);
        self->args[i] = args;
        self->functions[i] = (pyfunction_t){ kind,
                                             value_str(self->said, "stem", ""),
                                             name,
                                             self->origin == PYORIGIN_SALT,
                                             value_get(self->said, "wants"),
                                             { .out = value_str(one, "out", NULL) } };
        self->funcs[i] = (func_t){ .name = name,
                                   .fn = NATIVE(pyhost_run),
                                   .args = self->args[i],
                                   .flags = flags,
                                   .doc = value_str(one, "doc", ""),
                                   .more = &self->functions[i].more,
                                   .data.ptr = &self->functions[i] };
    }
    self->plugin.funcs = self->funcs;
    self->plugin.n_funcs = n;
}

/* Whose plug-ins are made: of a kind, and of users' files or Salt's. */
typedef struct asked {
    pykind_t kind;
    plugin_kind_t plugin;
    bool salts;
} asked_t;

/* `name` NULL: a plug-in without functions under the file's name, which hides the built-in module. */
static pyplugin_t *
pyplugin_new(pyplugins_t *all, const asked_t *asked, json_t *said, const char *name)
{
    pyplugin_t *self = xcalloc(1, sizeof(*self));
    const char *stem = value_str(said, "stem", "");

    self->said = json_incref(said);
    self->plugin = (plugin_t){ .kind = asked->plugin,
                               .file = stem,
                               .provides = name != NULL ? name : stem,
                               .doc = value_str(said, "doc", ""),
                               .origin = value_str(said, "file", ""),
                               .broken = value_bool(said, "broken", false) };
    self->origin = asked->salts                          ? PYORIGIN_SALT
                   : str_eq(self->plugin.provides, stem) ? PYORIGIN_WHOLE
                                                         : PYORIGIN_ADDED;
    self->plugin.whole = self->origin == PYORIGIN_WHOLE;
    if (name != NULL)
        add_functions(self, asked->kind);
    all->all = xrealloc(all->all, (all->n + 1) * sizeof(*all->all));
    all->all[all->n++] = self;
    return self;
}

/* ---- all of a context ---------------------------------------------------------------------------------- */

static void
lists_forget(pyplugins_t *self)
{
    for (size_t kind = 0; kind < PYKINDS; kind++)
        for (size_t origin = 0; origin < PYORIGINS; origin++)
            map_destroy(&self->lists[kind][origin]);
}

static void
pyplugins_free(void *value)
{
    pyplugins_t *self = value;

    map_destroy(&self->files);
    lists_forget(self);
    for (size_t i = 0; i < self->n; i++)
        pyplugin_free(self->all[i]);
    for (size_t i = 0; i < self->n_given; i++)
        free(self->given[i]);
    free(self->all);
    free(self->given);
    free(self);
}

/* The context's plug-ins, which it keeps. BORROWED. */
static pyplugins_t *
pyplugins_of(call_ctx_t *ctx)
{
    static const char key;
    pyplugins_t *self = call_attached(ctx, &key);

    if (self != NULL)
        return self;
    self = xcalloc(1, sizeof(*self));
    self->files = map_new(free);
    call_attach(ctx, &key, self, pyplugins_free);
    return self;
}

void
pyplugins_forget(call_ctx_t *ctx)
{
    pyplugins_t *self = pyplugins_of(ctx);

    map_destroy(&self->files);
    lists_forget(self);
    self->files = map_new(free);
}

/* NEW start of the keys of a kind's files. */
static char *
prefix_of(pykind_t kind, bool salts)
{
    return xasprintf("%s%s/", salts ? "salt:" : "", pykind_name(kind));
}

/* Makes the plug-ins of one file, unless they are there. */
static void
pyplugins_take(pyplugins_t *self, const asked_t *asked, json_t *said)
{
    const char *stem = value_str(said, "stem", "");
    AUTO_FREE char *prefix = prefix_of(asked->kind, asked->salts), *key = xasprintf("%s%s", prefix, stem);
    json_t *names = value_get(said, "names"), *name;
    size_t n = 0, i;

    if (map_get(self->files, key) != NULL)
        return;
    pyplugin_t **list = xcalloc(json_array_size(names) + 2, sizeof(*list));
    if (!asked->salts && !value_lists(names, stem))
        list[n++] = pyplugin_new(self, asked, said, NULL);
    json_array_foreach (names, i, name)
        list[n++] = pyplugin_new(self, asked, said, json_string_value(name));
    map_set(self->files, key, list);
}

/* Ask the interpreter about a file, or about all of the kind. A failure is logged: the functions are not
 * there. */
static void
pyplugins_describe(call_ctx_t *ctx, pykind_t kind, const char *module, bool salts)
{
    asked_t asked = { .kind = kind, .salts = salts };
    fail_auto_t err = FAIL_INIT;
    json_auto_t *task = json_pack("{s:{s:s, s:s?, s:b}}", "describe", "kind", pykind_name(kind), "module",
                                  module, "salt", salts);
    pyplugins_t *self = pyplugins_of(ctx);
    json_t *one;
    size_t i;

    self->describing++;
    json_auto_t *last = pyhost_task(pyhost_of(ctx), task, &err);
    self->describing--;
    while (pykind_of(asked.plugin) != kind)
        asked.plugin++;
    if (last == NULL)
        log_debug("%s in Python are not known: %s", pykind_name(kind), fail_text(&err));
    json_array_foreach (value_get(last, "done"), i, one)
        pyplugins_take(self, &asked, one);
}

void
userfile_load_all(call_ctx_t *ctx, plugin_kind_t kind)
{
    if (pykind_of(kind) != PYKINDS && pyhost_salt(pyhost_of(ctx)) != NULL)
        pyplugins_describe(ctx, pykind_of(kind), NULL, true);
}

/* The plug-ins that pyplugins() is asked for, of those whose files are known. NEW list that ends with NULL.
 */
static const plugin_t **
gather(const pyplugins_t *self, pykind_t kind, const char *module, pyorigin_t origin)
{
    AUTO_FREE char *prefix = prefix_of(kind, origin == PYORIGIN_SALT);
    const plugin_t **list = xcalloc(1, sizeof(*list));
    const char *key;
    void *value;
    size_t n = 0;

    for (size_t i = 0; map_next(self->files, &i, &key, &value);) {
        for (pyplugin_t *const *at = value; str_starts(key, prefix) && *at != NULL; at++) {
            const plugin_t *p = &(*at)->plugin;
            if ((*at)->origin != origin || (module != NULL && !str_eq(p->provides, module)))
                continue;
            list = xrealloc(list, (n + 2) * sizeof(*list));
            list[n++] = p;
            list[n] = NULL;
        }
    }
    return list;
}

/* True when files may give the module functions. */
static bool
may_have(call_ctx_t *ctx, pykind_t kind, const char *module, pyorigin_t origin)
{
    if (origin == PYORIGIN_SALT)
        return module != NULL ? pyhost_salt(pyhost_of(ctx)) != NULL : map_len(pyplugins_of(ctx)->files) > 0;
    return pyhost_has(pyhost_of(ctx), kind, origin == PYORIGIN_WHOLE ? module : NULL);
}

const plugin_t *const *
pyplugins(call_ctx_t *ctx, pykind_t kind, const char *module, pyorigin_t origin)
{
    pyplugins_t *self = pyplugins_of(ctx);
    bool salts = origin == PYORIGIN_SALT, grows = salts && module == NULL;
    const char *key = module != NULL ? module : "";

    if (!may_have(ctx, kind, module, origin))
        return NULL;
    map_t **lists = &self->lists[kind][origin]; /* each state asks: no text is made for the question */
    const plugin_t *const *known = grows || *lists == NULL ? NULL : map_get(*lists, key);
    if (known != NULL)
        return known;
    if (!grows)
        pyplugins_describe(ctx, kind, origin == PYORIGIN_ADDED ? NULL : module, salts);
    const plugin_t **list = gather(self, kind, module, origin);
    self->given = xrealloc(self->given, (self->n_given + 1) * sizeof(*self->given));
    self->given[self->n_given++] = list;
    /* A file that is being loaded is not in a list that it asked for. */
    if (self->describing == 0 && *lists == NULL)
        *lists = map_new(NULL);
    if (self->describing == 0)
        map_set(*lists, key, list);
    return list;
}
