/* allow.c - which functions the files that the master renders may call.
 *
 * Pillar, reactor and orchestration files see values of minions and run with the master's rights, so their
 * calls are checked against two option lists: renderer_functions, and the one that call_renders() names for
 * the kind of file. Verdicts are cached per renderer. */
#include "common/base/str.h"
#include "common/match/match.h"
#include "common/py/py_ops.h"
#include "common/render/render_int.h"

enum { KNOWN_MAX = 4096 };
static const char option[] = "renderer_functions"; /* the other list is call_renders()'s */

/* Functions that call another one, with the prefix under which the lists name the inner function. */
static const struct {
    const char *fun, *prefix;
} callers[] = { { "saltutil.runner", "runner." }, { "saltutil.wheel", "wheel." } };

/* Applies a list to *yes: "cmd.*" allows, "not cmd.run" forbids, the last matching entry decides. */
static void
allow_decide(const json_t *list, const char *name, bool *yes)
{
    size_t i;
    json_t *one;

    json_array_foreach (list, i, one) {
        const char *text = json_string_value(one);
        bool no = text != NULL && str_starts(text, "not ");
        if (text != NULL &&
            match_glob(no ? text + strlen("not ") + strspn(text + strlen("not "), " ") : text, name))
            *yes = !no;
    }
}

static bool
allow_is_allowed(render_t *self, const char *own, const char *name)
{
    static char yes, no;
    const char *known = self->allowed != NULL ? map_get(self->allowed, name) : NULL;

    if (known != NULL)
        return known == &yes;

    json_t *opts = ctx_opts(self->ctx);
    bool found = false;
    allow_decide(value_get(opts, option), name, &found);
    allow_decide(value_get(opts, own), name, &found);

    if (self->allowed == NULL)
        self->allowed = map_new(NULL);
    if (map_len(self->allowed) >= KNOWN_MAX) /* names may come from events */
        map_clear(self->allowed);
    map_set(self->allowed, name, found ? &yes : &no);
    return found;
}

/* Name of the inner function as the lists spell it, from the first argument or `name`: NEW, or NULL. */
static char *
inner_name(const char *fun, const py_args_t *args)
{
    py_t *inner = args->n > 0 ? args->v[0] : NULL;

    for (size_t i = 0; i < args->nkw && inner == NULL; i++)
        if (py_is(args->names[i], PY_STR) && str_eq(py_cstr(args->names[i]), "name"))
            inner = args->kwv[i];
    for (size_t i = 0; i < NELEMS(callers); i++)
        if (str_eq(callers[i].fun, fun) && inner != NULL && py_is(inner, PY_STR))
            return xasprintf("%s%s", callers[i].prefix, py_cstr(inner));
    return NULL;
}

/* 0 when the call is allowed or no list applies (a minion renders its own files); else -EPERM with the option
 * to change. */
static int
allow_check(render_t *self, const char *name, const char *shown, fail_t *err)
{
    const char *own = call_renders(self->ctx);

    if (own == NULL || !str_eq(value_str(ctx_opts(self->ctx), "__role", ""), "master") ||
        allow_is_allowed(self, own, name))
        return 0;
    return fail_kind(err, FAIL_COMMAND, -EPERM,
                     "%s is not allowed in what the master renders (%s): add %s to the master's option %s",
                     shown, own + sizeof(option), name, own);
}

int
render_may_call(render_t *self, const char *fun, const py_args_t *args, fail_t *err)
{
    AUTO_FREE char *inner = inner_name(fun, args);
    AUTO_FREE char *shown = inner != NULL ? xasprintf("salt['%s']('%s')", fun, strchr(inner, '.') + 1)
                                          : xasprintf("salt['%s']", fun);
    int rc = allow_check(self, fun, shown, err);

    return rc == 0 && inner != NULL ? allow_check(self, inner, shown, err) : rc;
}

int
render_may_python(render_t *self, fail_t *err)
{
    return allow_check(self, "py", "Python (#!py)", err);
}
