/* sys_more.c - more of execution module `sys`: renderers, returners (there are none), and JSON schemas of
 * states' arguments. */
#include "salt/plugin.h"

#include <fnmatch.h>

#include "common/base/str.h"
#include "common/render/render.h"

/* ---- renderers ---------------------------------------------------------------------------- */

/* True when a glob matches, or when there is none. */
static bool
fits_one(const json_t *globs, const char *name)
{
    size_t i;
    json_t *glob;

    json_array_foreach (globs, i, glob) {
        AUTO_FREE char *text = value_pystr(glob);
        if (fnmatch(text, name, FNM_NOESCAPE) == 0)
            return true;
    }
    return json_array_size(globs) == 0;
}

static int
sys_list_renderers(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *docs = render_docs();
    json_t *list = json_array(), *doc;
    const char *name;

    json_object_foreach (docs, name, doc) {
        if (fits_one(value_get(args, "args"), name))
            json_array_append_new(list, json_string(name));
    }
    *ret_value = list;
    return 0;
}

/* As in Salt, a plain name means the functions of a module of that name, and renderers are none: a glob
 * finds them. */
static int
sys_renderer_doc(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *docs = render_docs(), *word, *globs = json_array(), *doc;
    const char *name;
    size_t i;
    void *next;

    json_array_foreach (value_get(args, "args"), i, word) {
        AUTO_FREE char *text = value_pystr(word);
        bool glob = strpbrk(text, "*.") != NULL;
        json_array_append_new(globs, glob ? json_incref(word) : value_fmt("%s.*", text));
    }
    json_object_foreach_safe (docs, next, name, doc) {
        if (!fits_one(globs, name))
            json_object_del(docs, name);
    }
    json_decref(globs);
    *ret_value = docs;
    return 0;
}

/* ---- returners: there are none ------------------------------------------------------------ */

static int
no_names(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = json_array();
    return 0;
}

static int
no_members(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = json_object();
    return 0;
}

/* ---- schemas ------------------------------------------------------------------------------ */

/* Schema of an argument, one of Salt's four types; a default of None carries no type. NEW. */
static json_t *
argument_schema(const char *name, json_t *dflt)
{
    static const char *const types[] = { "boolean", "integer", "number", "string" };
    json_t *one_of = json_array();

    for (size_t i = 0; i < NELEMS(types); i++) {
        json_t *one = json_pack("{s:s, s:s, s:s}", "type", types[i], "title", name, "description", name);
        if (dflt != NULL && !json_is_null(dflt))
            json_object_set(one, "default", dflt);
        json_array_append_new(one_of, one);
    }
    return json_pack("{s:o}", "oneOf", one_of);
}

/* NEW. */
static json_t *
function_schema(const char *fun, const json_t *spec)
{
    json_t *names = value_get(spec, "args"), *dflts = value_get(spec, "defaults"), *name;
    json_t *properties = json_object(), *order = json_array();
    size_t n = json_array_size(names), first = n - json_array_size(dflts), i;

    json_array_foreach (names, i, name) {
        const char *text = json_string_value(name);
        json_object_set_new(properties, text,
                            argument_schema(text, i >= first ? json_array_get(dflts, i - first) : NULL));
        json_array_append(order, name);
    }
    return json_pack("{s:s, s:s, s:s, s:s, s:o, s:o, s:b}", "$schema",
                     "http://json-schema.org/draft-04/schema#", "title", fun, "description", fun, "type",
                     "object", "properties", properties, "x-ordering", order, "additionalProperties", 0);
}

/* Schemas of the functions that sys.state_argspec lists. */
static int
sys_state_schema(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *specs = NULL;
    json_t *list, *spec;
    const char *fun;
    int rc = ctx_call(ctx, "sys.state_argspec", NULL, args, &specs, err);

    if (rc < 0)
        return rc;
    list = json_array();
    json_object_foreach (specs, fun, spec)
        json_array_append_new(list, function_schema(fun, spec));
    *ret_value = list;
    return 0;
}

/* ---- table -------------------------------------------------------------------------------- */

static const arg_t names_args[] = {
    { "args", ARG_ANY, ARG_STAR, "Names or globs; all when there are none" },
    ARGS_END,
};
static const arg_t functions_args[] = {
    { "args", ARG_ANY, ARG_STAR, "Modules, functions or globs; all when there are none" },
    { "kwargs", ARG_ANY, ARG_STARSTAR, "Not used" },
    ARGS_END,
};
static const arg_t module_args[] = {
    { "module", ARG_STR, "\"\"", "A module, a function or a glob" },
    ARGS_END,
};

static const func_t funcs[] = {
    { "list_renderers", sys_list_renderers, names_args, FN_READONLY,
      "List the renderers." CLI_EXAMPLE(
          "salt '*' sys.list_renderers\n    salt '*' sys.list_renderers 'yaml*'") },
    { "list_returner_functions", no_names, functions_args, FN_READONLY,
      "Return an empty list: the master keeps returns, there are no returners." CLI_EXAMPLE(
          "salt '*' sys.list_returner_functions") },
    { "list_returners", no_names, names_args, FN_READONLY,
      "Return an empty list: the master keeps returns, there are no returners." CLI_EXAMPLE(
          "salt '*' sys.list_returners") },
    { "renderer_doc", sys_renderer_doc, names_args, FN_READONLY,
      "Return the documentation of renderers." CLI_EXAMPLE(
          "salt '*' sys.renderer_doc\n    salt '*' sys.renderer_doc 'j*'"),
      .finds = "args", .absent = "Nothing is called {}; 'sys.list_renderers' lists what there is" },
    { "returner_argspec", no_members, module_args, FN_READONLY,
      "Return an empty dictionary: there are no returners." CLI_EXAMPLE("salt '*' sys.returner_argspec") },
    { "returner_doc", no_members, names_args, FN_READONLY,
      "Return an empty dictionary: there are no returners." CLI_EXAMPLE("salt '*' sys.returner_doc") },
    { "state_schema", sys_state_schema, module_args, FN_READONLY,
      "Return a JSON schema for each state function." CLI_EXAMPLE(
          "salt '*' sys.state_schema\n    salt '*' sys.state_schema pkg.installed") },
};

PLUGIN(exec, sys_more, .provides = "sys", .doc = "Renderers, returners and schemas", FUNCS(funcs));
