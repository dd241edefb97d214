/* reaction_args.c - convert a low chunk to a reaction: its client, and its arguments from every layout that
 * Salt's reactor accepts (`args`, `arg` and `kwarg`, `kwargs`, keywords directly in the body). */
#include "common/reactor/reaction_int.h"

#include "common/base/str.h"
#include "common/plugin/registry.h"
#include "salt/value.h"

typedef struct layout {
    const reaction_env_t *env;
    const json_t *chunk;
    const func_t *row; /* of a runner's or wheel's function; NULL: not known here */
    json_t *arg, *kwarg, *ignored;
} layout_t;

static bool
reaction_args_is_one_of(const char *key, const char *const *words)
{
    for (; *words != NULL; words++)
        if (str_eq(key, *words))
            return true;
    return false;
}

/* Keys that the compiler adds or that are not arguments of any function. */
static bool
reaction_args_is_internal(const char *key)
{
    static const char *const words[] = { "__id__", "__sls__",    "__env__", "state",   "fun",          "name",
                                         "key",    "name_order", "order",   "require", REACTION_WORDS, NULL };

    return reaction_args_is_one_of(key, words);
}

static bool
is_layout(const char *key)
{
    static const char *const words[] = { "args", "arg", "kwarg", "kwargs", NULL };

    return reaction_args_is_one_of(key, words);
}

/* Take a mapping as keywords; a list of mappings and plain values as keywords and positional arguments. */
static void
reaction_args_take(layout_t *self, const json_t *v)
{
    json_t *one;
    size_t i;

    if (json_is_object(v)) {
        json_object_update(self->kwarg, (json_t *) v);
    } else if (json_is_array(v)) {
        json_array_foreach (v, i, one) {
            if (json_is_object(one))
                json_object_update(self->kwarg, one);
            else
                json_array_append(self->arg, one);
        }
    } else if (v != NULL && !json_is_null(v)) {
        json_array_append(self->arg, (json_t *) v);
    }
}

static void
take_positional(layout_t *self, const json_t *v)
{
    if (json_is_array(v))
        json_array_extend(self->arg, (json_t *) v);
    else if (v != NULL && !json_is_null(v))
        json_array_append(self->arg, (json_t *) v);
}

/* The argument of that name, not counting *args and **kwargs. BORROWED, or NULL. */
static const arg_t *
param(const func_t *row, const char *name)
{
    for (const arg_t *a = row != NULL ? row->args : NULL; a != NULL && a->text != NULL; a++)
        if (str_eq(arg_name(a), name) && !arg_is(a, ARG_STAR) && !arg_is(a, ARG_STARSTAR))
            return a;
    return NULL;
}

static const char *
reaction_args_next_key(void *cookie)
{
    const char *const **at = cookie;

    return **at != NULL ? *(*at)++ : NULL;
}

/* The key of a reaction that a typing error is near to: `arsg` left the function without its arguments, and
 * `tgt_tpye` the target a glob. NULL: none. */
static const char *
meant_key(const char *key)
{
    static const char *const keys[] = { "args",    "kwarg",    "tgt_type", "expr_form",
                                        "timeout", "metadata", "subset",   NULL };
    const char *const *at = keys;

    return str_typo_of(key, reaction_args_next_key, &at);
}

/* Take keywords directly from the body, the layout before `args`. Only keys that the function accepts. */
static int
take_direct(layout_t *self, fail_t *err)
{
    const char *key;
    bool any = false; /* the function takes every keyword */
    json_t *v;

    for (const arg_t *a = self->row->args; a != NULL && a->text != NULL; a++)
        any = any || arg_is(a, ARG_STARSTAR);
    json_object_foreach ((json_t *) self->chunk, key, v) {
        if (reaction_args_is_internal(key) || is_layout(key))
            continue;
        if (any || param(self->row, key) != NULL)
            json_object_set(self->kwarg, key, v);
        else if (str_eq(key, "queue")) /* an option of old Salt that serialised runners */
            json_array_append_new(self->ignored, json_string(key));
        else {
            const char *near = meant_key(key);
            return fail_set(err, -EINVAL, "'%s' is an invalid keyword argument for '%s'%s%s%s", key,
                            value_str(self->chunk, "fun", ""), near != NULL ? "; is '" : "",
                            near != NULL ? near : "", near != NULL ? "' meant?" : "");
        }
    }
    /* A function's `name` argument defaults to the declaration's name. */
    if (json_array_size(self->arg) == 0 && param(self->row, "name") != NULL &&
        value_get(self->kwarg, "name") == NULL && value_get(self->chunk, "kwarg") == NULL)
        json_object_set(self->kwarg, "name", value_get(self->chunk, "name"));
    return 0;
}

/* `args` wins over the older layouts, which are then reported as ignored. */
static int
reaction_args_layout(layout_t *self, fail_t *err)
{
    json_t *args = value_get(self->chunk, "args");

    take_positional(self, value_get(self->chunk, REACTION_WORDS));
    if (args != NULL) {
        static const char *const old[] = { "arg", "kwarg", "kwargs" };
        reaction_args_take(self, args);
        for (size_t i = 0; i < NELEMS(old); i++)
            if (value_get(self->chunk, old[i]) != NULL)
                json_array_append_new(self->ignored, json_string(old[i]));
        return 0;
    }
    take_positional(self, value_get(self->chunk, "arg"));
    reaction_args_take(self, value_get(self->chunk, "kwarg"));
    if (param(self->row, "kwargs") == NULL)
        reaction_args_take(self, value_get(self->chunk, "kwargs"));
    return self->row != NULL ? take_direct(self, err) : 0;
}

/* ---- clients ------------------------------------------------------------------------------------------- */

static int
reaction_args_find(layout_t *self, const registry_t *registry, const char *client, fail_t *err)
{
    fail_auto_t why = FAIL_INIT;
    const char *fun = value_str(self->chunk, "fun", "");

    self->row = registry_find(registry, self->env->ctx, fun, &why);
    if (self->row != NULL)
        return 0;
    AUTO_FREE char *near = registry_suggest(registry, self->env->ctx, fun);
    bool meant = near != NULL && !str_eq(near, fun);
    return fail_set(err, -ENOENT, "%s '%s': function not available (%s)%s%s%s", client, fun, fail_text(&why),
                    meant ? "; is '" : "", meant ? near : "", meant ? "' meant?" : "");
}

static int
reaction_args_runner(layout_t *self, json_t *reaction, fail_t *err)
{
    return reaction_args_find(self, self->env->runners, "runner", err);
}

static int
reaction_args_wheel(layout_t *self, json_t *reaction, fail_t *err)
{
    return reaction_args_find(self, self->env->wheels, "wheel", err);
}

/* The local client: target, and the options of the publication. */
static int
reaction_args_local(layout_t *self, json_t *reaction, fail_t *err)
{
    static const char *const known[] = { "ret", "timeout", "metadata", "subset", NULL };
    static const char *const used[] = { "tgt", "tgt_type", "expr_form", NULL };
    json_t *tgt = value_get(self->chunk, "tgt"), *v;
    const char *type = value_str(self->chunk, "tgt_type", value_str(self->chunk, "expr_form", NULL)), *key;

    bool ok = json_is_array(tgt) || json_string_length(tgt) > 0;
    if (json_is_number(tgt)) {
        AUTO_FREE char *text = value_pystr(tgt);
        json_object_set_new(reaction, "tgt", json_string(text));
        ok = true;
    }
    if (!ok)
        return fail_set(err, -EINVAL, "local '%s': 'tgt' says which minions: there is none",
                        value_str(self->chunk, "fun", ""));
    if (value_get(reaction, "tgt") == NULL)
        json_object_set(reaction, "tgt", tgt);
    json_object_set_new(reaction, "tgt_type",
                        json_string(type != NULL         ? type
                                    : json_is_array(tgt) ? "list"
                                                         : "glob"));
    json_object_foreach ((json_t *) self->chunk, key, v) {
        if (reaction_args_is_one_of(key, known))
            json_object_set(reaction, key, v);
        else if (!reaction_args_is_internal(key) && !is_layout(key) && !reaction_args_is_one_of(key, used)) {
            const char *near = meant_key(key);
            if (near != NULL)
                return fail_set(err, -EINVAL, "local '%s': there is no key '%s'; is '%s' meant?",
                                value_str(self->chunk, "fun", ""), key, near);
            json_array_append_new(self->ignored, json_string(key));
        }
    }
    return 0;
}

static int
caller(layout_t *self, json_t *reaction, fail_t *err)
{
    return 0;
}

static const struct client {
    const char *name;
    bool master;
    int (*take)(layout_t *self, json_t *reaction, fail_t *err);
} clients[] = { { "local", true, reaction_args_local },
                { "runner", true, reaction_args_runner },
                { "wheel", true, reaction_args_wheel },
                { "caller", false, caller } };

/* `cmd` is Salt's older word for `local`. */
const char *
reaction_client(const char *state)
{
    return str_eq(state, "cmd") ? "local" : state;
}

static const struct client *
reaction_args_client(const reaction_env_t *env, const char *name, const char *fun, fail_t *err)
{
    bool master = env->runners != NULL;

    for (size_t i = 0; i < NELEMS(clients); i++) {
        if (!str_eq(clients[i].name, name))
            continue;
        if (clients[i].master == master)
            return &clients[i];
        (void) fail_set(err, -EINVAL,
                        master ? "'caller.%s' runs in a minion's reactor only; the master's has "
                                 "'local.%s' with 'tgt'"
                               : "a minion's reactor has 'caller.%s' only, not '%s'",
                        fun, master ? fun : name);
        return NULL;
    }
    (void) fail_set(err, -EINVAL, "'%s.%s': there is no client '%s'; it is %s", name, fun, name,
                    master ? "local, runner or wheel" : "caller");
    return NULL;
}

/* NEW {client, fun, arg, kwarg, ...}, or NULL with *err. */
json_t *
reaction_of(const reaction_env_t *env, const json_t *chunk, fail_t *err)
{
    const char *name = reaction_client(value_str(chunk, "state", "")), *fun = value_str(chunk, "fun", "");
    const struct client *client = reaction_args_client(env, name, fun, err);
    json_auto_t *arg = json_array(), *kwarg = json_object(), *ignored = json_array();
    layout_t layout = { env, chunk, NULL, arg, kwarg, ignored };

    if (client == NULL)
        return NULL;
    json_auto_t *reaction = json_pack("{s:s, s:s, s:O, s:O}", "client", client->name, "fun", fun, "arg", arg,
                                      "kwarg", kwarg);
    if (client->take(&layout, reaction, err) < 0 || reaction_args_layout(&layout, err) < 0)
        return NULL;

    /* An event's value must not become a keyword. */
    json_t *one;
    size_t i;
    json_array_foreach (arg, i, one) {
        if (value_get(one, "__kwarg__") == NULL)
            continue;
        (void) fail_set(
            err, -EINVAL,
            "%s: a mapping with __kwarg__ is not a positional argument; keywords stand below kwarg", fun);
        return NULL;
    }
    if (json_array_size(ignored) > 0)
        json_object_set(reaction, "ignored", ignored);
    return STEAL(reaction);
}
