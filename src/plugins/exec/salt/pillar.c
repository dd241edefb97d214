/* pillar.c - execution module `pillar`: the pillar in memory, and one compiled for the question when an
 * environment is named. Values are Python's (py_t), so that integer keys, tuples and bytes stay what they
 * are. The pillar in memory is the one of the last refresh; what is compiled for a question does not replace
 * it. Keys may be paths ("a:b:0"), with another delimiter if asked for. */
#include "salt/plugin.h"

#include <sys/stat.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/py/py_error.h"
#include "common/py/py_json.h"
#include "common/py/py_merge.h"
#include "common/py/py_traverse.h"
#include "common/py/py_wire.h"
#include "common/py/py_yaml.h"
#include "common/render/render.h"
#include "plugins/lib/call/pyargs.h"
#include "plugins/lib/salt/filterby.h"
#include "salt/log.h"

#define NOT_SET "__unset__" /* Salt's word for a default that nobody gave */

static bool
truthy(py_t *v)
{
    return v != NULL && py_truth(v) == 1;
}

static bool
is_none(const py_t *v)
{
    return v == NULL || py_is(v, PY_NONE);
}

/* NULL for None. BORROWED. */
static const char *
text_or_null(const py_t *args, const char *key)
{
    const py_t *v = py_dict_gets(args, key);

    return v != NULL && py_is(v, PY_STR) && *py_cstr(v) != '\0' ? py_cstr(v) : NULL;
}

static const char *
delimiter_of(const py_t *args)
{
    const char *given = text_or_null(args, "delimiter");

    return given != NULL ? given : ":";
}

/* ---- compiling ----------------------------------------------------------------------------- */

/* Pillar environment of a compilation: the argument, else the configuration's, as pillarenv_from_saltenv
 * says. NULL: none, so that all environments count. */
static const char *
exec_pillar_env_of(call_ctx_t *ctx, const py_t *kwargs)
{
    const char *asked = text_or_null(kwargs, "pillarenv");
    json_t *opts = ctx_opts(ctx);

    if (asked != NULL)
        return asked;
    if (!value_bool(opts, "pillarenv_from_saltenv", false))
        return value_str(opts, "pillarenv", NULL);
    asked = text_or_null(kwargs, "saltenv");
    return asked != NULL ? asked : value_str(opts, "saltenv", NULL);
}

/* Adds the call's pillar override to the request, decrypted when pillar_enc names a renderer. A job's words
 * may be a peer's; their marks go along (py_to_wire_peer), so that a template does not evaluate them. */
static int
add_override(call_ctx_t *ctx, const py_t *kwargs, json_t *ask, fail_t *err)
{
    AUTO(py) override = py_ref(py_dict_gets(kwargs, "pillar"));
    const char *renderer = text_or_null(kwargs, "pillar_enc");

    if (!truthy(override))
        return 0;
    /* Only renderers that the configuration lists may run over what a caller sends. */
    if (renderer != NULL) {
        /* pillar_enc: the override came encrypted. */
        json_t *allowed = value_get(ctx_opts(ctx), "decrypt_pillar_renderers"), *one;
        AUTO(render) render = render_new(ctx, ctx_files(ctx));
        fail_auto_t why = FAIL_INIT;
        py_t *clear = NULL;
        bool ok = false;
        size_t i;

        json_array_foreach (allowed, i, one)
            ok = ok || str_eq(json_string_value(one), renderer);
        if (!ok)
            (void) fail_set(&why, -EINVAL, "'%s' is not a valid decryption renderer.", renderer);
        else
            clear = render_decrypt(render, renderer, override, &why);
        if (clear == NULL)
            (void) fail_kind(err, FAIL_COMMAND, -EINVAL, "Failed to decrypt pillar override: %s",
                             fail_text(&why));

        if (clear == NULL)
            return -EINVAL;
        py_unref(override);
        override = clear;
    }
    json_t *wire = py_to_wire_peer(override);
    if (wire == NULL)
        return fail_set(err, -EINVAL, "the pillar override can't be sent");
    json_object_set_new(ask, "pillar", wire);
    return 0;
}

/* The pillar as a master (or this minion, without one) compiles it now. NEW. Without a master the minion
 * compiles by itself. */
static py_t *
fresh(call_ctx_t *ctx, const py_t *kwargs, fail_t *err)
{
    const char *env = exec_pillar_env_of(ctx, kwargs);
    json_auto_t *ask = json_pack("{s:s*}", "pillarenv", env);

    return add_override(ctx, kwargs, ask, err) < 0 ? NULL : ctx_compile_pillar(ctx, ask, err);
}

/* The one in memory, unless an environment is asked for. NEW. The other keywords of the call (an override) do
 * not count for it. */
static py_t *
chosen(call_ctx_t *ctx, const py_t *kwargs, fail_t *err)
{
    if (is_none(py_dict_gets(kwargs, "saltenv")) && is_none(py_dict_gets(kwargs, "pillarenv")))
        return py_ref(ctx_native_pillar(ctx));
    AUTO(py) only = py_dict();
    static const char *const envs[] = { "saltenv", "pillarenv" };
    for (size_t i = 0; i < NELEMS(envs); i++)
        if (py_dict_gets(kwargs, envs[i]) != NULL)
            py_dict_sets(only, envs[i], py_dict_gets(kwargs, envs[i]));
    return fresh(ctx, only, err);
}

/* ---- looking up ---------------------------------------------------------------------------- */

/* Value at `key`, or `dflt`. NEW, or NULL raised. `dflt` NULL: NULL without a raised error when there is
 * nothing. */
static py_t *
exec_pillar_look_up(py_t *pillar, py_t *key, const char *delimiter, py_t *dflt)
{
    py_t *found = py_traverse(pillar, key, delimiter);

    return found == NULL && py_raised() == NULL ? py_ref(dflt) : found;
}

/* A KeyError with Salt's text. Returns NULL. */
static py_t *
exec_pillar_missing(py_t *key)
{
    AUTO(py) words = py_strf("Pillar key not found: %s", py_cstr(key));

    return py_raise_key(words);
}

/* The default with the pillar's value over it. NEW; NULL: not to be merged, or raised. Different types can't
 * be merged; that is logged and the pillar's value counts, as by Salt. Of a list only elements that the
 * default lacks are added. */
static py_t *
exec_pillar_merged(call_ctx_t *ctx, const py_t *args, py_t *pillar, py_t *dflt)
{
    py_t *nested = py_dict_gets(args, "merge_nested_lists");
    bool lists = is_none(nested) ? value_bool(ctx_opts(ctx), "pillar_merge_lists", false) : truthy(nested);
    bool is_dict = py_is(dflt, PY_DICT);
    AUTO(py) none = is_dict ? py_dict() : py_list();
    AUTO(py)
    found = exec_pillar_look_up(pillar, py_dict_gets(args, "key"), delimiter_of(args), none);

    if (found == NULL || py_type(found) != py_type(dflt)) {
        if (found != NULL)
            log_error("pillar.get: the default is a %s, the pillar's value a %s: they are not merged",
                      py_type_name(dflt), py_type_name(found));
        return NULL;
    }
    AUTO(py) out = py_deepcopy(dflt);
    if (is_dict)
        return py_update(out, found, lists) < 0 ? NULL : STEAL(out);
    for (size_t i = 0; i < py_seq_len(found); i++)
        if (py_in(py_seq_at(found, i), out) == 0)
            py_append(out, py_seq_at(found, i));
    return STEAL(out);
}

/* Salt's order: merge with the default when asked, else the value, else the default; without one "" or, by
 * pillar_raise_on_missing, a KeyError. */
static py_t *
pillar_get(call_ctx_t *ctx, py_t *args, fail_t *err)
{
    py_t *key = py_dict_gets(args, "key");
    AUTO(py) dflt = py_ref(py_dict_gets(args, "default"));
    AUTO(py) pillar = chosen(ctx, args, err);
    bool given = !py_str_is(dflt, NOT_SET);
    bool raises = !given && value_bool(ctx_opts(ctx), "pillar_raise_on_missing", false);

    if (pillar == NULL)
        return NULL;
    if (!given) {
        py_unref(dflt);
        dflt = py_strz("");
    }
    /* Only mappings and lists merge; another default is logged, and the call goes on without. */
    if (truthy(py_dict_gets(args, "merge"))) {
        bool fits = py_is(dflt, PY_DICT) || py_is(dflt, PY_LIST);
        py_t *out = fits ? exec_pillar_merged(ctx, args, pillar, dflt) : NULL;
        if (out != NULL || py_raised() != NULL)
            return out;
        if (!fits)
            log_error("pillar.get: the default is a %s; only a dict or a list can be merged",
                      py_type_name(dflt));
    }
    py_t *found = exec_pillar_look_up(pillar, key, delimiter_of(args), raises ? NULL : dflt);
    return found == NULL && py_raised() == NULL ? exec_pillar_missing(key) : found;
}

/* Several keys by name, each "" (or kwargs' default) where there is nothing. */
static py_t *
pillar_item(call_ctx_t *ctx, py_t *args, fail_t *err)
{
    py_t *keys = py_dict_gets(args, "args"), *kwargs = py_dict_gets(args, "kwargs");
    AUTO(py) dflt = py_ref(py_dict_gets(kwargs, "default"));
    AUTO(py) pillar = chosen(ctx, kwargs, err);
    AUTO(py) out = py_dict();

    if (pillar == NULL)
        return NULL;
    if (dflt == NULL)
        dflt = py_strz("");
    for (size_t i = 0; i < py_seq_len(keys); i++) {
        py_t *key = py_seq_at(keys, i);
        AUTO(py) found = exec_pillar_look_up(pillar, key, delimiter_of(kwargs), dflt);
        if (found == NULL || py_dict_set(out, key, found) < 0)
            return NULL;
    }
    return STEAL(out);
}

/* Without arguments compiles a fresh pillar, as in Salt; with keys answers from memory. The override and its
 * environment are of that compilation alone. */
static py_t *
pillar_items(call_ctx_t *ctx, py_t *args, fail_t *err)
{
    AUTO(py) item_args = py_dict();
    AUTO(py) no_kwargs = py_dict();

    if (py_seq_len(py_dict_gets(args, "args")) == 0)
        return fresh(ctx, py_dict_gets(args, "kwargs"), err);
    py_dict_sets(item_args, "args", py_dict_gets(args, "args"));
    py_dict_sets(item_args, "kwargs", no_kwargs);
    return pillar_item(ctx, item_args, err);
}

/* The names on the top level, of a pillar compiled anew. */
static py_t *
pillar_ls(call_ctx_t *ctx, py_t *args, fail_t *err)
{
    AUTO(py) pillar = pillar_items(ctx, args, err);
    return pillar != NULL ? py_tolist(pillar) : NULL;
}

/* From memory without traversal, the whole of it or one top key; {} for a key that is not there. */
static py_t *
pillar_raw(call_ctx_t *ctx, py_t *args, fail_t *err)
{
    py_t *key = py_dict_gets(args, "key"), *pillar = ctx_native_pillar(ctx);

    if (!pyarg_defined(args, "key"))
        return NULL;
    if (!truthy(key))
        return py_copy(pillar);
    py_t *found = py_dict_get(pillar, key);
    return found != NULL ? py_ref(found) : py_raised() == NULL ? py_dict() : NULL;
}

/* A missing key raises whatever pillar_raise_on_missing says, as by Salt. */
static py_t *
pillar_keys(call_ctx_t *ctx, py_t *args, fail_t *err)
{
    py_t *key = py_dict_gets(args, "key");
    AUTO(py) found = py_traverse(ctx_native_pillar(ctx), key, delimiter_of(args));

    if (found == NULL)
        return py_raised() == NULL ? exec_pillar_missing(key) : NULL;
    if (!py_is(found, PY_DICT))
        return py_raise(&py_ValueError, "Pillar value in key %s is not a dict", py_cstr(key));
    return py_tolist(found);
}

/* ---- shown without its values -------------------------------------------------------------- */

/* Replaces every value by its type's name. NEW. Keys stay, and so do the containers; a string is "<str>". */
static py_t *
obfuscated(py_t *v)
{
    bool is_tuple = py_is(v, PY_TUPLE), is_set = py_is(v, PY_SET);
    py_t *key, *value;

    if (py_is(v, PY_DICT)) {
        AUTO(py) out = py_is_odict(v) ? py_odict() : py_dict();
        for (size_t i = 0; py_dict_next(v, &i, &key, &value);) {
            AUTO(py) hidden = obfuscated(value);
            (void) py_dict_set(out, key, hidden);
        }
        return STEAL(out);
    }
    if (!py_is(v, PY_LIST) && !is_tuple && !is_set)
        return py_strf("<%s>", py_type_name(v));
    AUTO(py) all = py_tolist(v);
    AUTO(py) out = py_list();
    for (size_t i = 0; i < py_seq_len(all); i++)
        py_append_new(out, obfuscated(py_seq_at(all, i)));
    return is_tuple ? py_totuple(out) : is_set ? py_toset(out, false) : STEAL(out);
}

static py_t *
pillar_obfuscate(call_ctx_t *ctx, py_t *args, fail_t *err)
{
    AUTO(py) pillar = pillar_items(ctx, args, err);

    return pillar != NULL ? obfuscated(pillar) : NULL;
}

/* ---- external sources, files, choices ------------------------------------------------------ */

/* Compiles the pillar with this external one, given as a dict or as YAML. NEW, or NULL raised or with *err.
 * For trying one before it is configured. The master takes it only where its configuration lets minions say
 * so. */
static py_t *
pillar_ext(call_ctx_t *ctx, py_t *args, fail_t *err)
{
    AUTO(py) external = py_ref(py_dict_gets(args, "external"));
    yproblem_t problem = YPROBLEM_INIT;

    if (py_is(external, PY_STR)) {
        py_t *parsed = py_yaml_load(py_cstr(external), strlen(py_cstr(external)), false, &problem);
        yproblem_free(&problem);
        if (parsed == NULL) {
            py_clear();
            (void) fail_kind(err, FAIL_INVOCATION, -EINVAL, "external: not YAML: %s", py_cstr(external));
            return NULL;
        }
        py_unref(external);
        external = parsed;
    }
    json_auto_t *said = py_to_json(external);
    json_auto_t *ask = json_pack("{s:s*, s:O*}", "saltenv", value_str(ctx_opts(ctx), "saltenv", NULL), "ext",
                                 said);
    if (said == NULL)
        return NULL; /* raised */
    return add_override(ctx, args, ask, err) < 0 ? NULL : ctx_compile_pillar(ctx, ask, err);
}

/* True when one of the folders has such a file. An absolute path is looked at as it is. */
static bool
exists_below(json_t *dirs, const char *path)
{
    json_t *dir;
    size_t i;

    json_array_foreach (dirs, i, dir) {
        AUTO_FREE char *full = path[0] == '/' ? xstrdup(path) : fs_join(json_string_value(dir), path);
        struct stat st;
        if (stat(full, &st) == 0 && S_ISREG(st.st_mode))
            return true;
    }
    return false;
}

/* Asked where pillar_roots are: on the master, or without one. */
static py_t *
pillar_file_exists(call_ctx_t *ctx, py_t *args, fail_t *err)
{
    json_t *roots = value_get(ctx_opts(ctx), "pillar_roots"), *dirs;
    const char *only = text_or_null(args, "saltenv"), *env;
    bool found = false;

    if (!pyarg_defined(args, "path"))
        return NULL;
    if (!value_truthy(roots)) {
        (void) fail_kind(err, FAIL_COMMAND, -ENOENT,
                         "No pillar_roots found. Are you running this on the master?");
        return NULL;
    }
    json_object_foreach (roots, env, dirs)
        if (only == NULL || strcmp(only, env) == 0)
            found = found || exists_below(dirs, py_cstr(py_dict_gets(args, "path")));
    return py_bool(found);
}

/* `over` laid on a copy of `base`. NEW, or NULL raised. */
static py_t *
laid_over(py_t *base, py_t *over)
{
    AUTO(py) out = py_deepcopy(base);

    return out == NULL || py_update(out, over, false) < 0 ? NULL : STEAL(out);
}

/* As grains.filter_by, matched against a pillar value. `base` lies below the value found, `merge` on top of
 * both; None is found when neither a pattern nor the default fits. */
static py_t *
pillar_filter_by(call_ctx_t *ctx, py_t *args, fail_t *err)
{
    py_t *lookup = py_dict_gets(args, "lookup_dict"), *merge = py_dict_gets(args, "merge");
    AUTO(py) none = py_list();
    AUTO(py) values = exec_pillar_look_up(ctx_native_pillar(ctx), py_dict_gets(args, "pillar"), ":", none);
    py_t *base = NULL, *found = NULL;

    if (values == NULL)
        return NULL;
    if (!py_is(lookup, PY_DICT)) {
        (void) fail_kind(err, FAIL_INVOCATION, -EINVAL, "lookup_dict must be a dict");
        return NULL;
    }
    found = filter_by_find(lookup, values);
    if (py_raised() != NULL)
        return NULL;
    found = found != NULL ? found : py_dict_get(lookup, py_dict_gets(args, "default"));
    base = truthy(py_dict_gets(args, "base")) ? py_dict_get(lookup, py_dict_gets(args, "base")) : NULL;
    AUTO(py) out = is_none(found) ? py_ref(base != NULL ? base : PY_None) : py_ref(found);
    if (!is_none(found) && base != NULL && py_is(base, PY_DICT)) {
        if (!py_is(found, PY_DICT)) {
            (void) fail_set(err, -EINVAL, "filter_by default and look-up values must both be dictionaries.");
            return NULL;
        }
        py_unref(out);
        out = laid_over(base, found);
    }
    if (out == NULL || !truthy(merge))
        return STEAL(out);
    if (!py_is(merge, PY_DICT)) {
        (void) fail_set(err, -EINVAL, "filter_by merge argument must be a dictionary.");
        return NULL;
    }
    return py_is(out, PY_NONE) ? py_ref(merge) : laid_over(out, merge);
}

/* ---- table --------------------------------------------------------------------------------- */

static const arg_t get_args[] = {
    ARG("key", ARG_ANY, ARG_REQUIRED, "The key, with `delimiter` between the levels: pkg:apache"),
    ARG("default", ARG_ANY, "\"" NOT_SET "\"", "Returned when there is no such key; \"\" unless given"),
    ARG("merge", ARG_ANY, "false", "Lay the pillar's value over the default, both dicts or both lists"),
    ARG("merge_nested_lists", ARG_ANY, "null",
        "Join lists inside instead of replacing them; pillar_merge_lists "
        "unless given"),
    ARG("delimiter", ARG_ANY, "\":\"", "What separates the levels of the key"),
    ARG("pillarenv", ARG_ANY, "null",
        "Compile the pillar of this environment instead of using the one in memory"),
    ARG("saltenv", ARG_ANY, "null", "The same where pillarenv_from_saltenv is on"),
    ARGS_END,
};

static const arg_t items_args[] = {
    ARG("args", ARG_ANY, ARG_STAR, "Keys: then the same as pillar.item"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "pillar: override, pillar_enc: its renderer, pillarenv, saltenv",
        "pillar pillar_enc pillarenv saltenv"),
    ARGS_END,
};

static const arg_t item_args[] = {
    ARG("args", ARG_ANY, ARG_STAR, "Keys, with `delimiter` between the levels"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "default, delimiter, pillarenv, saltenv",
        "default delimiter pillarenv saltenv"),
    ARGS_END,
};

static const arg_t raw_args[] = { ARG("key", ARG_ANY, "null", "Only what is below this key"), ARGS_END };

static const arg_t keys_args[] = {
    ARG("key", ARG_ANY, ARG_REQUIRED, "The key of a dict, with `delimiter` between the levels"),
    ARG("delimiter", ARG_ANY, "\":\"", "What separates the levels of the key"),
    ARGS_END,
};

static const arg_t ext_args[] = {
    ARG("external", ARG_ANY, ARG_REQUIRED, "One entry of ext_pillar: {name: arguments}"),
    ARG("pillar", ARG_ANY, "null", "Override"),
    ARGS_END,
};

static const arg_t file_exists_args[] = {
    ARG("path", ARG_ANY, ARG_REQUIRED, "A path below pillar_roots"),
    ARG("saltenv", ARG_ANY, "null", "Look in this environment only"),
    ARGS_END,
};

static const arg_t filter_by_args[] = {
    ARG("lookup_dict", ARG_ANY, ARG_REQUIRED,
        "What to choose from; its keys are globs over the pillar's value"),
    ARG("pillar", ARG_ANY, ARG_REQUIRED, "The pillar key whose value chooses"),
    ARG("merge", ARG_ANY, "null", "A dict laid over what was chosen"),
    ARG("default", ARG_ANY, "\"default\"", "The key of lookup_dict when nothing fits"),
    ARG("base", ARG_ANY, "null", "The key of lookup_dict over which the chosen value is laid"),
    ARGS_END,
};

static const func_t funcs[] = {
    { "get", NATIVE(pillar_get), get_args, FN_READONLY | FN_NATIVE,
      "Return a value of the pillar in memory.\n\nThe levels of a key are separated by a colon: pkg:apache. "
      "What is not there is the default." CLI_EXAMPLE("salt '*' pillar.get pkg:apache") },
    { "fetch", NATIVE(pillar_get), get_args, FN_READONLY | FN_NATIVE,
      "The same as pillar.get, for templates." CLI_EXAMPLE("salt '*' pillar.fetch pkg:apache") },
    { "item", NATIVE(pillar_item), item_args, FN_READONLY | FN_NATIVE,
      "Return several values of the pillar in memory." CLI_EXAMPLE("salt '*' pillar.item foo bar:baz") },
    { "items", NATIVE(pillar_items), items_args, FN_READONLY | FN_NATIVE,
      "Return the whole pillar, compiled for this call.\n\npillar.raw returns the one in memory." CLI_EXAMPLE(
          "salt '*' pillar.items") },
    { "data", NATIVE(pillar_items), items_args, FN_READONLY | FN_NATIVE,
      "The same as pillar.items." CLI_EXAMPLE("salt '*' pillar.data") },
    { "obfuscate", NATIVE(pillar_obfuscate), items_args, FN_READONLY | FN_NATIVE,
      "Return the whole pillar with types instead of values." CLI_EXAMPLE("salt '*' pillar.obfuscate") },
    { "ls", NATIVE(pillar_ls), items_args, FN_READONLY | FN_NATIVE,
      "Return the keys of the pillar, compiled for this call." CLI_EXAMPLE("salt '*' pillar.ls") },
    { "raw", NATIVE(pillar_raw), raw_args, FN_READONLY | FN_NATIVE,
      "Return the pillar in memory, or what is below one of its keys." CLI_EXAMPLE(
          "salt '*' pillar.raw key='roles'") },
    { "keys", NATIVE(pillar_keys), keys_args, FN_READONLY | FN_NATIVE,
      "Return the keys of a dict in the pillar in memory." CLI_EXAMPLE("salt '*' pillar.keys web:sites") },
    { "ext", NATIVE(pillar_ext), ext_args, FN_READONLY | FN_NATIVE,
      "Return the pillar with one more external source.\n\nThe master decides which are allowed: "
      "on_demand_ext_pillar." CLI_EXAMPLE("salt '*' pillar.ext '{libvirt: _}'") },
    { "file_exists", NATIVE(pillar_file_exists), file_exists_args, FN_READONLY | FN_NATIVE,
      "Tell whether a file is below pillar_roots.\n\nThe answer is of the machine that is asked: useful on "
      "the master, or without one." CLI_EXAMPLE("salt '*' pillar.file_exists foo/bar.sls") },
    { "filter_by", NATIVE(pillar_filter_by), filter_by_args, FN_READONLY | FN_NATIVE,
      "Choose a value of a dict by a value of the pillar." CLI_EXAMPLE(
          "salt '*' pillar.filter_by '{web: Serve it up, db: I query, default: x_x}' role") },
};

PLUGIN(exec, pillar, .doc = "The pillar of this minion", FUNCS(funcs));
