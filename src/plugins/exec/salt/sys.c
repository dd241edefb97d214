/* sys.c - execution module `sys`: which functions and states there are, and how they are used. */
#include "salt/plugin.h"

#include <fnmatch.h>

#include "common/base/str.h"
#include "common/plugin/usable.h"
#include "plugins/lib/salt/masterline.h"
#include "salt/log.h"

static bool
matches(const char *pattern, const char *name)
{
    return fnmatch(pattern, name, FNM_NOESCAPE) == 0;
}

/* Calls `each` for every function of these plug-ins that can be used here. */
typedef const plugin_t *const *plugins_fn(call_ctx_t *ctx, size_t *ret_n);
typedef void each_fn(const char *name, const plugin_t *p, const func_t *f, void *cookie);

static void
for_each(call_ctx_t *ctx, plugins_fn *of, each_fn *each, void *cookie)
{
    size_t n;
    const plugin_t *const *plugins = of(ctx, &n);

    for (size_t i = 0; i < n; i++) {
        if (!plugin_is_usable(ctx, plugins[i]))
            continue;
        for (size_t k = 0; k < plugins[i]->n_funcs; k++) {
            const func_t *f = &plugins[i]->funcs[k];
            AUTO_FREE char *name = xasprintf("%s.%s", plugin_name(plugins[i]), f->name);
            each(name, plugins[i], f, cookie);
        }
    }
}

typedef struct query {
    json_t *wanted; /* patterns; empty: everything */
    json_t *found;
} query_t;

static bool
is_wanted(const query_t *q, bool (*fits)(const char *wanted, const char *name), const char *name)
{
    size_t i;
    json_t *word;

    json_array_foreach (q->wanted, i, word) {
        AUTO_FREE char *text = value_pystr(word);
        if (fits(text, name))
            return true;
    }
    return json_array_size(q->wanted) == 0;
}

/* ---- doc and argspec ---------------------------------------------------------------------- */

/* "sys" and "sys." mean the module, without sysctl; "sys.doc" a function; "sys.*" a glob. */
static bool
doc_fits(const char *wanted, const char *name)
{
    size_t len = strlen(wanted);

    if (strchr(wanted, '*') != NULL)
        return matches(wanted, name);
    if (len == 0 || strcmp(wanted, name) == 0)
        return true;
    return str_starts(name, wanted) && (wanted[len - 1] == '.' || name[len] == '.');
}

static void
add_doc(const char *name, const plugin_t *p, const func_t *f, void *cookie)
{
    query_t *q = cookie;

    if (!is_wanted(q, doc_fits, name))
        return;
    AUTO_FREE char *doc = func_doc(f);
    json_object_set_new(q->found, name, json_string(doc));
}

static int
sys_doc(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    query_t q = { value_get(args, "args"), json_object() };

    for_each(ctx, ctx_plugins, add_doc, &q);
    *ret_value = q.found;
    return 0;
}

/* A state module's own text comes before its functions'. */
static void
add_state_doc(const char *name, const plugin_t *p, const func_t *f, void *cookie)
{
    query_t *q = cookie;

    if (!is_wanted(q, doc_fits, name))
        return;
    if (json_object_get(q->found, plugin_name(p)) == NULL)
        json_object_set_new(q->found, plugin_name(p), json_string(p->doc));
    add_doc(name, p, f, cookie);
}

static int
sys_state_doc(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    query_t q = { value_get(args, "args"), json_object() };

    for_each(ctx, ctx_state_plugins, add_state_doc, &q);
    *ret_value = q.found;
    return 0;
}

/* A name with a dot or a star is a glob over functions, another one a module. */
static bool
function_fits(const char *wanted, const char *name)
{
    size_t len = strlen(wanted);

    if (strpbrk(wanted, "*.") != NULL)
        return matches(wanted, name);
    return str_starts(name, wanted) && name[len] == '.';
}

static void
add_argspec(const char *name, const plugin_t *p, const func_t *f, void *cookie)
{
    query_t *q = cookie;

    if (is_wanted(q, function_fits, name))
        json_object_set_new(q->found, name, func_argspec(f));
}

static json_t *
argspecs(call_ctx_t *ctx, plugins_fn *of, json_t *args)
{
    json_auto_t *wanted = json_pack("[O]", value_get(args, "module"));
    query_t q = { wanted, json_object() };

    for_each(ctx, of, add_argspec, &q);
    return q.found;
}

static int
sys_argspec(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = argspecs(ctx, ctx_plugins, args);
    return 0;
}

static int
sys_state_argspec(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = argspecs(ctx, ctx_state_plugins, args);
    return 0;
}

/* ---- lists -------------------------------------------------------------------------------- */

static void
add_function(const char *name, const plugin_t *p, const func_t *f, void *cookie)
{
    query_t *q = cookie;

    if (is_wanted(q, function_fits, name))
        json_object_set_new(q->found, name, json_null());
}

/* A glob is matched against functions, a plain name against modules. */
static bool
module_fits(const char *wanted, const char *name)
{
    if (strchr(wanted, '*') != NULL)
        return matches(wanted, name);
    return strlen(wanted) == strcspn(name, ".") && str_starts(name, wanted);
}

static void
add_module(const char *name, const plugin_t *p, const func_t *f, void *cookie)
{
    query_t *q = cookie;

    if (is_wanted(q, module_fits, name))
        json_object_set_new(q->found, plugin_name(p), json_null());
}

/* The names that `add` collects, sorted. */
static json_t *
listed(call_ctx_t *ctx, plugins_fn *of, each_fn *add, json_t *args)
{
    json_auto_t *found = json_object();
    query_t q = { value_get(args, "args"), found };

    for_each(ctx, of, add, &q);
    return value_sorted_keys(found);
}

static int
sys_list_functions(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = listed(ctx, ctx_plugins, add_function, args);
    return 0;
}

static int
sys_list_state_functions(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = listed(ctx, ctx_state_plugins, add_function, args);
    return 0;
}

static int
sys_list_modules(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = listed(ctx, ctx_plugins, add_module, args);
    return 0;
}

static int
sys_list_state_modules(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = listed(ctx, ctx_state_plugins, add_module, args);
    return 0;
}

/* ---- runners ------------------------------------------------------------------------------ */

/* They live in the master. A minion beside it asks it, and so has its answer; elsewhere there are none. */
static int
of_runners(call_ctx_t *ctx, const char *fun, json_t *words, json_t *here, json_t **ret_value)
{
    size_t n;
    fail_auto_t why = FAIL_INIT;
    json_auto_t *answer = NULL;

    *ret_value = here;
    if (ctx_runner_plugins(ctx, &n) != NULL)
        return 0;
    json_t *arg = json_pack("[s]", fun);
    json_array_extend(arg, words);
    json_t *request = json_pack("{s:s, s:s, s:o}", "op", "runner", "fun", "salt.cmd", "arg", arg);
    if (masterline_ask(value_str(ctx_opts(ctx), "config_dir", "/etc/salt"), &request, &answer, &why) == 0 &&
        value_bool(answer, "success", false)) {
        json_decref(here);
        *ret_value = json_incref(value_get(answer, "return"));
    } else {
        log_debug("%s: %s", fun, fail_text(&why));
    }
    return 0;
}

static int
sys_list_runners(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return of_runners(ctx, "sys.list_runners", value_get(args, "args"),
                      listed(ctx, ctx_runner_plugins, add_module, args), ret_value);
}

static int
sys_list_runner_functions(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return of_runners(ctx, "sys.list_runner_functions", value_get(args, "args"),
                      listed(ctx, ctx_runner_plugins, add_function, args), ret_value);
}

static int
sys_runner_doc(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    query_t q = { value_get(args, "args"), json_object() };

    for_each(ctx, ctx_runner_plugins, add_doc, &q);
    return of_runners(ctx, "sys.runner_doc", q.wanted, q.found, ret_value);
}

static int
sys_runner_argspec(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *words = json_pack("[O]", value_get(args, "module"));

    return of_runners(ctx, "sys.runner_argspec", words, argspecs(ctx, ctx_runner_plugins, args), ret_value);
}

/* ---- other -------------------------------------------------------------------------------- */

static int
sys_reload_modules(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = json_true();
    return 0;
}

/* ---- table -------------------------------------------------------------------------------- */

static const arg_t names_args[] = {
    { "args", ARG_ANY, ARG_STAR, "Modules, functions or globs; all when there are none" },
    ARGS_END,
};
static const arg_t functions_args[] = {
    { "args", ARG_ANY, ARG_STAR, "Modules, functions or globs; all when there are none" },
    { "kwargs", ARG_ANY, ARG_STARSTAR, "Not used" },
    ARGS_END,
};
static const arg_t argspec_args[] = {
    { "module", ARG_STR, "\"\"", "A module, a function or a glob" },
    ARGS_END,
};

static const func_t funcs[] = {
    { "argspec", sys_argspec, argspec_args, FN_READONLY,
      "Return the arguments and defaults of functions." CLI_EXAMPLE(
          "salt '*' sys.argspec pkg.install\n    salt '*' sys.argspec sys\n    salt '*' sys.argspec "
          "'pkg.*'") },
    { "doc", sys_doc, names_args, FN_READONLY,
      "Return the documentation of functions." CLI_EXAMPLE(
          "salt '*' sys.doc\n    salt '*' sys.doc sys\n    salt '*' sys.doc sys.doc\n    "
          "salt '*' sys.doc network.traceroute user.info\n    salt '*' sys.doc 'sys.list_*'") },
    { "list_functions", sys_list_functions, functions_args, FN_READONLY,
      "List functions." CLI_EXAMPLE("salt '*' sys.list_functions\n    salt '*' sys.list_functions sys\n    "
                                    "salt '*' sys.list_functions 'sys.list_*'") },
    { "list_modules", sys_list_modules, names_args, FN_READONLY,
      "List modules." CLI_EXAMPLE("salt '*' sys.list_modules\n    salt '*' sys.list_modules 's*'") },
    { "list_runner_functions", sys_list_runner_functions, functions_args, FN_READONLY,
      "List the functions of runners." CLI_EXAMPLE("salt '*' sys.list_runner_functions\n    "
                                                   "salt '*' sys.list_runner_functions 'state.*'") },
    { "list_runners", sys_list_runners, names_args, FN_READONLY,
      "List the runners of the master beside this minion." CLI_EXAMPLE(
          "salt '*' sys.list_runners\n    salt '*' sys.list_runners 'm*'") },
    { "list_state_functions", sys_list_state_functions, functions_args, FN_READONLY,
      "List the functions of state modules." CLI_EXAMPLE(
          "salt '*' sys.list_state_functions\n    salt '*' sys.list_state_functions file\n    "
          "salt '*' sys.list_state_functions 'file.s*'") },
    { "list_state_modules", sys_list_state_modules, names_args, FN_READONLY,
      "List state modules." CLI_EXAMPLE("salt '*' sys.list_state_modules\n    "
                                        "salt '*' sys.list_state_modules 's*'") },
    { "reload_modules", sys_reload_modules, NULL, FN_READONLY,
      "Return ``True``. Modules are built in; there is nothing to load again." CLI_EXAMPLE(
          "salt '*' sys.reload_modules") },
    { "runner_argspec", sys_runner_argspec, argspec_args, FN_READONLY,
      "Return the arguments and defaults of runners." CLI_EXAMPLE(
          "salt '*' sys.runner_argspec state\n    salt '*' sys.runner_argspec 'winrepo.*'") },
    { "runner_doc", sys_runner_doc, names_args, FN_READONLY,
      "Return the documentation of runners." CLI_EXAMPLE(
          "salt '*' sys.runner_doc\n    salt '*' sys.runner_doc cache cache.grains") },
    { "state_argspec", sys_state_argspec, argspec_args, FN_READONLY,
      "Return the arguments and defaults of states." CLI_EXAMPLE(
          "salt '*' sys.state_argspec pkg.installed\n    salt '*' sys.state_argspec file") },
    { "state_doc", sys_state_doc, names_args, FN_READONLY,
      "Return the documentation of state modules and their functions." CLI_EXAMPLE(
          "salt '*' sys.state_doc\n    salt '*' sys.state_doc service\n    "
          "salt '*' sys.state_doc service.running 'file.*'") },
};

PLUGIN(exec, sys, .doc = "The functions of this minion", FUNCS(funcs));
