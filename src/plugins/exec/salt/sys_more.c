/* sys_more.c - more of execution module `sys`: renderers, returners, and JSON schemas of
 * states' arguments. */
#include "salt/plugin.h"

#include <fnmatch.h>

#include "common/base/str.h"
#include "common/python/userfile.h"
#include "common/render/render.h"

/* ---- renderers ---------------------------------------------------------------------------- */

/* True when a glob matches, or when there is none. Names are compared whole. */
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

/* Those that this program knows, and files in Python. */
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

/* As in Salt, a plain name means the functions of a module of that name, and renderers are none: a glob finds
 * them. {renderer: text}. */
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

/* ---- returners ---------------------------------------------------------------------------- */

/* True when a word of the caller means the function, or when there is none: a glob, or a module's name; with
 * `as_function` a function's name too. */
static bool
fits_function(const json_t *words, const char *name, bool as_function)
{
    size_t i;
    json_t *word;

    json_array_foreach (words, i, word) {
        AUTO_FREE char *text = value_pystr(word);
        size_t len = strlen(text);
        if (strpbrk(text, "*.") != NULL ? fnmatch(text, name, FNM_NOESCAPE) == 0
                                        : str_starts(name, text) && name[len] == '.')
            return true;
        if (as_function && (len == 0 || str_eq(text, name)))
            return true;
    }
    return json_array_size(words) == 0;
}

/* One of the two members that userfile_functions() tells of each function that is meant, by their names;
 * `member` NULL: null. NEW, or NULL with *err. Returners are files in Python here, and so is their
 * documentation; those that are built in have no functions to be called. */
static json_t *
returners_meant(call_ctx_t *ctx, const json_t *words, const char *member, fail_t *err)
{
    json_auto_t *all = userfile_functions(ctx, "returners", err);
    json_t *found = json_object(), *told;
    const char *name;

    json_object_foreach (all, name, told) {
        if (fits_function(words, name, member != NULL))
            json_object_set_new(found, name,
                                member != NULL ? json_incref(value_get(told, member)) : json_null());
    }
    if (all == NULL)
        json_decref(STEAL(found));
    return found;
}

/* Sorted names MODULE.FUNCTION. */
static int
sys_list_returner_functions(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *found = returners_meant(ctx, value_get(args, "args"), NULL, err);

    if (found == NULL)
        return -EIO;
    *ret_value = value_sorted_keys(found);
    return 0;
}

/* As in Salt a word is a glob of functions: of a plain name's file no function is called so. */
static int
sys_list_returners(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *all = userfile_functions(ctx, "returners", err), *names = json_object();
    const char *name;
    json_t *told;

    if (all == NULL)
        return -EIO;
    json_object_foreach (all, name, told) {
        AUTO_FREE char *module = xstrndup(name, strcspn(name, "."));
        if (fits_one(value_get(args, "args"), name))
            json_object_set_new(names, module, json_null());
    }
    *ret_value = value_sorted_keys(names);
    return 0;
}

/* Without words all of them; "mysql.returner" means one, "mysql" the file. */
static int
sys_returner_doc(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = returners_meant(ctx, value_get(args, "args"), "doc", err);
    return *ret_value != NULL ? 0 : -EIO;
}

/* `module` is a single word, as in sys.argspec. */
static int
sys_returner_argspec(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *words = json_pack("[O]", value_get(args, "module"));

    *ret_value = returners_meant(ctx, words, "argspec", err);
    return *ret_value != NULL ? 0 : -EIO;
}

/* ---- schemas ------------------------------------------------------------------------------ */

/* Schema of an argument, one of Salt's four types; a default of None carries no type. NEW. The types are
 * alternatives: a row does not say which one Salt's function wants. */
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

/* A schema of draft 4. Arguments without a default come first, so that defaults count from the end of the
 * list, as Python's do. NEW. */
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
    ARG("args", ARG_ANY, ARG_STAR, "Names or globs; all when there are none"),
    ARGS_END,
};
static const arg_t functions_args[] = {
    ARG("args", ARG_ANY, ARG_STAR, "Modules, functions or globs; all when there are none"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Not used"),
    ARGS_END,
};
static const arg_t module_args[] = {
    ARG("module", ARG_STR, "\"\"", "A module, a function or a glob"),
    ARGS_END,
};

static const func_t funcs[] = {
    { "list_renderers", sys_list_renderers, names_args, FN_READONLY,
      "List the renderers." CLI_EXAMPLE(
          "salt '*' sys.list_renderers\n    salt '*' sys.list_renderers 'yaml*'") },
    { "list_returner_functions", sys_list_returner_functions, functions_args, FN_READONLY,
      "List the functions of returners, which are files in Python." CLI_EXAMPLE(
          "salt '*' sys.list_returner_functions\n    salt '*' sys.list_returner_functions smtp") },
    { "list_returners", sys_list_returners, names_args, FN_READONLY,
      "List the returners, which are files in Python." CLI_EXAMPLE(
          "salt '*' sys.list_returners\n    salt '*' sys.list_returners 's*'") },
    { "renderer_doc", sys_renderer_doc, names_args, FN_READONLY,
      "Return the documentation of renderers." CLI_EXAMPLE(
          "salt '*' sys.renderer_doc\n    salt '*' sys.renderer_doc 'j*'"),
      ABSENT("args", "Nothing is called {}; 'sys.list_renderers' lists what there is") },
    { "returner_argspec", sys_returner_argspec, module_args, FN_READONLY,
      "Return the arguments and defaults of returners' functions." CLI_EXAMPLE(
          "salt '*' sys.returner_argspec smtp\n    salt '*' sys.returner_argspec smtp.returner"),
      ABSENT("module", "Nothing is called {}; 'sys.list_returner_functions' lists what there is") },
    { "returner_doc", sys_returner_doc, names_args, FN_READONLY,
      "Return the documentation of returners' functions." CLI_EXAMPLE(
          "salt '*' sys.returner_doc\n    salt '*' sys.returner_doc smtp"),
      ABSENT("args", "Nothing is called {}; 'sys.list_returner_functions' lists what there is") },
    { "state_schema", sys_state_schema, module_args, FN_READONLY,
      "Return a JSON schema for each state function." CLI_EXAMPLE(
          "salt '*' sys.state_schema\n    salt '*' sys.state_schema pkg.installed") },
};

PLUGIN(exec, sys_more, .provides = "sys", .doc = "Renderers, returners and schemas", FUNCS(funcs));
