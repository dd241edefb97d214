/* registry_check.c - check that every row is complete: help, docs, examples, access class, defaults that are
 * JSON, no duplicates. Used by lint and unit tests, not at run time. */
#include "common/plugin/registry_int.h"

/* The requirements of kinds.def per kind of plug-in. */
enum { NOTHING = 0, EXAMPLE = 1 << 0, ACCESS = 1 << 1 };
static const unsigned checks_of[PLUGIN_KINDS] = {
#define KIND(NAME, word, programs, folder, checks) [PLUGIN_##NAME] = (checks),
#define MORE(word, programs, folder)
#include "salt/kinds.def"
#undef KIND
#undef MORE
};

static int
registry_check_function(const registry_t *self, const plugin_t *p, const func_t *f, fail_t *err)
{
    if (f->fn == NULL || f->name == NULL)
        return fail_set(err, -EINVAL, "a row without name or function");
    if (f->doc == NULL || *f->doc == '\0')
        return fail_set(err, -EINVAL, "%s has no doc", f->name);
    for (const arg_t *row = f->args; (f->flags & FN_NATIVE) != 0 && row != NULL && row->text != NULL; row++) {
        if (arg_type(row) != ARG_ANY && !arg_is(row, ARG_REQUIRED) && *arg_dflt(row) != '*')
            return fail_set(err, -EINVAL, "%s: a native function converts '%s' itself", f->name,
                            arg_name(row));
    }
    if ((checks_of[self->kind] & EXAMPLE) != 0 && strstr(f->doc, "CLI Example") == NULL)
        return fail_set(err, -EINVAL, "the doc of %s has no CLI Example", f->name);
    if ((checks_of[self->kind] & ACCESS) != 0 && (f->flags & (FN_ACCESS_READ | FN_ACCESS_ADMIN)) == 0)
        return fail_set(err, -EINVAL, "%s has no access class", f->name);
    if (plugin_function(p, f->name) != f)
        return fail_set(err, -EINVAL, "two functions %s", f->name);

    /* Checks the row's arguments. */
    bool optional = false;
    for (const arg_t *row = f->args; row != NULL && row->text != NULL; row++) {
        for (const arg_t *before = f->args; before < row; before++) {
            if (strcmp(arg_name(before), arg_name(row)) == 0)
                return fail_set(err, -EINVAL, "%s: two arguments '%s'", f->name, arg_name(row));
        }
        bool literal = !arg_is(row, ARG_REQUIRED) && !arg_is(row, ARG_STAR) && !arg_is(row, ARG_STARSTAR);
        json_auto_t *v = literal ? json_loads(arg_dflt(row), JSON_DECODE_ANY, NULL) : NULL;
        if (literal && v == NULL)
            return fail_set(err, -EINVAL, "%s: the default of '%s' is not JSON: %s", f->name, arg_name(row),
                            arg_dflt(row));
        if (row > f->args && arg_is(row - 1, ARG_STARSTAR))
            return fail_set(err, -EINVAL, "%s: argument '%s' after the one that takes all keywords", f->name,
                            arg_name(row));
        if (arg_is(row, ARG_REQUIRED) && optional)
            return fail_set(err, -EINVAL, "%s: required argument '%s' after one with a default", f->name,
                            arg_name(row));
        optional = optional || (!arg_is(row, ARG_REQUIRED) && *arg_dflt(row) != '*');
    }
    return 0;
}

/* Refuse two always-usable plug-ins of one source with the same function: the order of files would decide.
 * `after`: the walk, standing at `p`. */
static int
check_clash(const walk_t *after, const plugin_t *p, const func_t *f, fail_t *err)
{
    const plugin_t *const *others = after->source->ops->plugins(after->source, NULL, plugin_name(p));

    while (*others != p)
        others++;
    while (p->unavailable == NULL && *++others != NULL) {
        if ((*others)->unavailable == NULL && plugin_function(*others, f->name) != NULL)
            return fail_set(err, -EINVAL, "%s.c has %s too", (*others)->file, f->name);
    }
    return 0;
}

static int
check_plugin(const walk_t *walk, const plugin_t *p, fail_t *err)
{
    int rc = 0;

    if (p->kind != walk->registry->kind)
        return fail_set(err, -EINVAL, "a plug-in of another kind");
    if (p->doc == NULL || *p->doc == '\0')
        return fail_set(err, -EINVAL, "no doc");
    for (size_t k = 0; rc == 0 && k < p->n_funcs; k++) {
        rc = registry_check_function(walk->registry, p, &p->funcs[k], err);
        rc = rc == 0 ? check_clash(walk, p, &p->funcs[k], err) : rc;
    }
    return rc;
}

int
registry_check(const registry_t *self, fail_t *err)
{
    walk_t walk = { .registry = self };
    const plugin_t *p;

    while ((p = walk_next(&walk)) != NULL) {
        fail_auto_t why = FAIL_INIT;
        if (check_plugin(&walk, p, &why) < 0)
            return p->origin != NULL ? fail_set(err, -EINVAL, "%s: %s", p->origin, fail_text(&why))
                                     : fail_set(err, -EINVAL, "%s.c: %s", p->file, fail_text(&why));
    }
    return 0;
}
