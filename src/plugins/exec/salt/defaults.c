/* defaults.c - execution module `defaults`: a formula's defaults (defaults.yaml or defaults.json below its
 * folder), and merging of trees. Works on Python values. Files come from the environment base of the file
 * server, as by Salt, whatever the environment of the SLS that asks. */
#include "common/base/fs.h"
#include "common/files/fileclient.h"
#include "common/py/py_json.h"
#include "common/py/py_merge.h"
#include "common/py/py_traverse.h"
#include "common/py/py_yaml.h"
#include "plugins/lib/call/pyargs.h"
#include "salt/limits.h"
#include "salt/plugin.h"

/* ---- get ---------------------------------------------------------------------------------------------- */

/* NEW, or NULL raised with the position of the error. An error in a formula's file is an error of the call,
 * other than a missing file. */
static py_t *
defaults_load_yaml(const char *url, const buf_t *text)
{
    yproblem_t problem = YPROBLEM_INIT;
    py_t *v = py_yaml_load(buf_str(text), text->len, false, &problem);

    if (v == NULL) {
        AUTO_FREE char *shown = yproblem_show(&problem, url, buf_str(text), text->len);
        py_clear();
        py_raise(&py_ValueError, "%s", shown);
    }
    yproblem_free(&problem);
    return v;
}

/* NEW, or NULL raised. */
static py_t *
defaults_load_json(const char *url, const buf_t *text)
{
    py_t *v = py_json_loads(buf_str(text), text->len);

    if (v == NULL) {
        AUTO_FREE char *why = xstrdup(py_raised_text());
        py_raise(&py_ValueError, "%s: %s", url, why);
    }
    return v;
}

/* The first of the formula's files that exists: 1 with NEW *ret_v, 0, or a negative errno, or -1 raised. A
 * file that is empty, or whose content counts as false, is {}. */
static int
defaults_load(call_ctx_t *ctx, const char *formula, py_t **ret_v, fail_t *err)
{
    static const struct {
        const char *ext;
        py_t *(*load)(const char *url, const buf_t *text);
    } rows[] = { { "yaml", defaults_load_yaml }, { "json", defaults_load_json } };

    for (size_t i = 0; ctx_files(ctx) != NULL && i < NELEMS(rows); i++) {
        AUTO_FREE char *url = xasprintf("salt://%s/defaults.%s", formula, rows[i].ext);
        AUTO_FREE char *local = NULL;
        buf_auto_t text = BUF_INIT;
        int rc = fileclient_cache(ctx_files(ctx), url, "base", &local, err);
        if (rc == -ENOENT)
            continue;
        if (rc < 0 || (rc = fs_read(local, LIMIT_FILE_READ, &text, err)) < 0)
            return rc;
        AUTO(py) v = rows[i].load(url, &text);
        if (v == NULL)
            return -EINVAL;
        *ret_v = py_truth(v) > 0 ? STEAL(v) : py_dict();
        return 1;
    }
    return 0;
}

/* The key is FORMULA or FORMULA:PATH. NEW, or NULL raised or with *err. None for a formula without such a
 * file, or the default for a path that is not in it. */
static py_t *
defaults_get(call_ctx_t *ctx, py_t *args, fail_t *err)
{
    if (!pyarg_defined(args, "key"))
        return NULL;
    const char *key = pyarg_text(args, "key", ""), *colon = strchr(key, ':');
    AUTO_FREE char *formula = colon != NULL ? xstrndup(key, (size_t) (colon - key)) : xstrdup(key);
    AUTO(py) all = NULL;
    int rc = defaults_load(ctx, formula, &all, err);

    if (rc < 0)
        return NULL;
    if (colon == NULL || colon[1] == '\0')
        return rc > 0 ? STEAL(all) : PY_None;
    AUTO(py) path = py_strz(colon + 1);
    py_t *found = rc > 0 ? py_traverse(all, path, ":") : NULL;
    return found != NULL || py_raised() != NULL ? found : py_ref(py_dict_gets(args, "default"));
}

/* ---- merge, update ------------------------------------------------------------------------------------ */

/* `v`, or an empty dict for a None that may be one. NEW. None comes from YAML's "key:" without a value. */
static py_t *
or_empty(py_t *v, bool convert_none)
{
    return convert_none && py_is(v, PY_NONE) ? py_dict() : py_ref(v);
}

/* Merges src into dest, or into a copy of it. NEW, or NULL raised. Nested mappings join; other values of src
 * replace those of dest. */
static py_t *
defaults_merge(call_ctx_t *ctx, py_t *args, fail_t *err)
{
    bool convert = pyarg_flag(args, "convert_none"), in_place = pyarg_flag(args, "in_place");
    py_t *given = py_dict_gets(args, "dest");
    AUTO(py) src = or_empty(py_dict_gets(args, "src"), convert);

    if (py_is(given, PY_NONE) && convert && in_place)
        return py_raise(&py_TypeError, "Can't perform in-place merge into NoneType");
    AUTO(py) dest = or_empty(given, convert);
    AUTO(py) merged = in_place ? py_ref(dest) : py_deepcopy(dest);
    return merged != NULL && py_update(merged, src, pyarg_flag(args, "merge_lists")) == 0 ? STEAL(merged)
                                                                                          : NULL;
}

/* For templates, whose assignment does not copy. */
static py_t *
defaults_deepcopy(call_ctx_t *ctx, py_t *args, fail_t *err)
{
    return py_deepcopy(py_dict_gets(args, "source"));
}

/* {node: settings}: each node gets the defaults below its own settings. With in_place the mapping that was
 * given is changed, which a template sees. */
static py_t *
defaults_update(call_ctx_t *ctx, py_t *args, fail_t *err)
{
    bool convert = pyarg_flag(args, "convert_none"), in_place = pyarg_flag(args, "in_place");
    bool merge_lists = pyarg_flag(args, "merge_lists");
    py_t *given = py_dict_gets(args, "dest");

    if (in_place && py_is(given, PY_NONE))
        return py_raise(&py_TypeError, "Can't perform in-place update into NoneType");
    AUTO(py) dest = or_empty(given, convert);
    AUTO(py) nodes = in_place ? py_ref(dest) : py_deepcopy(dest);
    AUTO(py) defaults = or_empty(py_dict_gets(args, "defaults"), convert);
    if (nodes != NULL && !py_is(nodes, PY_DICT))
        return py_raise(&py_AttributeError, "'%s' object has no attribute 'items'", py_type_name(nodes));
    AUTO(py) names = nodes != NULL ? py_tolist(nodes) : NULL;
    for (size_t i = 0; names != NULL && i < py_seq_len(names); i++) {
        /* The node's settings over a copy of the defaults. */
        py_t *name = py_seq_at(names, i);
        AUTO(py) merged = py_deepcopy(defaults);
        AUTO(py) own = or_empty(py_dict_get(nodes, name), convert);

        if (merged == NULL || py_update(merged, own, merge_lists) < 0)
            return NULL;
        if (py_dict_set(nodes, name, merged) < 0)
            return NULL;
    }
    return names != NULL ? STEAL(nodes) : NULL;
}

/* ---- table -------------------------------------------------------------------------------------------- */

#define LISTS_ROW(dflt)                                                                                      \
    ARG("merge_lists", ARG_ANY, dflt, "Extend lists by what they lack instead of replacing them")
#define PLACE_ROW ARG("in_place", ARG_ANY, "true", "Change the first mapping; else a copy of it")
#define NONE_ROW  ARG("convert_none", ARG_ANY, "true", "None counts as an empty mapping")
static const arg_t get_args[] = {
    ARG("key", ARG_ANY, ARG_REQUIRED, "The formula, and the path in its defaults: core:users:root"),
    ARG("default", ARG_ANY, "\"\"", "When the path leads nowhere"),
    ARGS_END,
};
static const arg_t merge_args[] = {
    ARG("dest", ARG_ANY, ARG_REQUIRED, "The mapping that is laid over"),
    ARG("src", ARG_ANY, ARG_REQUIRED, "What is laid over it"),
    LISTS_ROW("false"),
    PLACE_ROW,
    NONE_ROW,
    ARGS_END,
};
static const arg_t deepcopy_args[] = { ARG("source", ARG_ANY, ARG_REQUIRED, "What to copy"), ARGS_END };
static const arg_t update_args[] = {
    ARG("dest", ARG_ANY, ARG_REQUIRED, "A mapping of mappings, such as nodes"),
    ARG("defaults", ARG_ANY, ARG_REQUIRED, "What each of them has unless it says otherwise"),
    LISTS_ROW("true"),
    PLACE_ROW,
    NONE_ROW,
    ARGS_END,
};

static const func_t funcs[] = {
    { "deepcopy", NATIVE(defaults_deepcopy), deepcopy_args, FN_READONLY | FN_NATIVE,
      "Copy a value with everything inside it." CLI_EXAMPLE("salt '*' defaults.deepcopy '{a: b}'") },
    { "get", NATIVE(defaults_get), get_args, FN_READONLY | FN_NATIVE,
      "Look up a value in ``defaults.yaml`` or ``defaults.json`` in a formula's folder." CLI_EXAMPLE(
          "salt '*' defaults.get core:users:root") },
    { "merge", NATIVE(defaults_merge), merge_args, FN_READONLY | FN_NATIVE,
      "Lay one mapping over another, at all depths." CLI_EXAMPLE(
          "salt '*' defaults.merge '{a: b}' '{d: e}'") },
    { "update", NATIVE(defaults_update), update_args, FN_READONLY | FN_NATIVE,
      "Give every member of a mapping the same defaults." CLI_EXAMPLE(
          "salt '*' defaults.update '{node1: {a: 1}}' '{b: 2}'") },
};

PLUGIN(exec, defaults, .doc = "A formula's defaults", FUNCS(funcs));
