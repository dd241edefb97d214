/* sys.c - execution module `sys`: which functions, states and runners there are, and how they are used, from
 * the registries of plug-ins. Rows name the kind that they ask about; runners are asked of a master on the
 * same host. A provider that can't be used on this host has no functions here. Documentation and argspecs
 * come from the rows of the tables, and from docstrings for files in Python. */
#include "salt/plugin.h"

#include <fnmatch.h>

#include "common/base/str.h"
#include "common/plugin/registry.h"
#include "common/python/userfile.h"
#include "plugins/lib/salt/masterline.h"
#include "salt/log.h"

/* As Python's fnmatch, in which a backslash is a character. */
static bool
sys_matches(const char *pattern, const char *name)
{
    return fnmatch(pattern, name, FNM_NOESCAPE) == 0;
}

/* `found` is an object or a list that the callbacks below fill. */
typedef struct query {
    json_t *wanted; /* patterns; empty: everything */
    json_t *found;
} query_t;

/* True when a pattern fits, or when there is none. */
static bool
sys_is_wanted(const query_t *q, bool (*fits)(const char *wanted, const char *name), const char *name)
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

/* The functions that the row is about: of execution modules, of states or of runners. NULL: none here. */
static registry_t *
registry_of_row(call_ctx_t *ctx)
{
    return ctx_registry(ctx, (plugin_kind_t) ctx_row(ctx)->data.number);
}

/* Calls `each` for every function of the row's kind. A word with a glob in the module's name could mean any
 * module, so that all are loaded; a plain module's name loads just that one. */
static void
sys_gather(call_ctx_t *ctx, registry_each_fn *each, query_t *q)
{
    const registry_t *registry = registry_of_row(ctx);
    bool all = json_array_size(q->wanted) == 0;
    json_t *word;
    size_t i;

    /* Modules that are loaded when they are asked for are asked for by name, or all of them. */
    json_array_foreach (registry != NULL ? q->wanted : NULL, i, word) {
        AUTO_FREE char *text = value_pystr(word);
        size_t len = strcspn(text, ".*?[");
        all = all || len == 0 || (text[len] != '.' && text[len] != '\0');
        text[len] = '\0';
        if (len > 0)
            (void) registry_provider(registry, ctx, text);
    }
    if (registry != NULL && all)
        userfile_load_all(ctx, (plugin_kind_t) ctx_row(ctx)->data.number);
    if (registry != NULL)
        registry_each(registry, ctx, each, q);
}

/* The answer of the runner `sys` to the same words. NULL: there is no master beside this minion. NEW. The
 * runner is called by salt.cmd, as the master's own `sys` knows its runners only there. */
static json_t *
of_master(call_ctx_t *ctx, json_t *words)
{
    fail_auto_t why = FAIL_INIT;
    json_auto_t *answer = NULL;
    json_t *arg = json_array();

    json_array_append_new(arg, value_fmt("sys.%s", ctx_row(ctx)->name));
    json_array_extend(arg, words);
    json_t *request = json_pack("{s:s, s:s, s:o}", "op", "runner", "fun", "salt.cmd", "arg", arg);
    if (masterline_ask(value_str(ctx_opts(ctx), "config_dir", "/etc/salt"), &request, &answer, &why) == 0 &&
        value_bool(answer, "success", false))
        return json_incref(value_get(answer, "return"));
    log_debug("sys.%s: %s", ctx_row(ctx)->name, fail_text(&why));
    return NULL;
}

/* Runners live in the master: a minion beside it asks it. `here`: what this process found. TAKES; NEW. Where
 * no master answers, what is here counts: an empty list. */
static json_t *
answer_of(call_ctx_t *ctx, json_t *words, json_t *here)
{
    bool away = ctx_row(ctx)->data.number == PLUGIN_RUNNER && registry_of_row(ctx) == NULL;
    json_t *there = away ? of_master(ctx, words) : NULL;

    if (there == NULL)
        return here;
    json_decref(here);
    return there;
}

/* ---- doc and argspec ---------------------------------------------------------------------- */

/* "sys" and "sys." mean the module, without sysctl; "sys.doc" a function; "sys.*" a glob. */
static bool
doc_fits(const char *wanted, const char *name)
{
    size_t len = strlen(wanted);

    if (strchr(wanted, '*') != NULL)
        return sys_matches(wanted, name);
    if (len == 0 || strcmp(wanted, name) == 0)
        return true;
    return str_starts(name, wanted) && (wanted[len - 1] == '.' || name[len] == '.');
}

/* {function: text}, for functions that one of the words means. */
static void
sys_add_doc(void *cookie, const char *name, const plugin_t *p, const func_t *f)
{
    query_t *q = cookie;

    if (!sys_is_wanted(q, doc_fits, name))
        return;
    AUTO_FREE char *doc = func_doc(f);
    json_object_set_new(q->found, name, json_string(doc));
}

/* A state module's own text comes before its functions'. */
static void
add_state_doc(void *cookie, const char *name, const plugin_t *p, const func_t *f)
{
    query_t *q = cookie;

    if (!sys_is_wanted(q, doc_fits, name))
        return;
    if (json_object_get(q->found, plugin_name(p)) == NULL)
        json_object_set_new(q->found, plugin_name(p), json_string(p->doc));
    sys_add_doc(cookie, name, p, f);
}

/* Without words everything; of states the modules' texts as well. */
static int
sys_doc(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    query_t q = { value_get(args, "args"), json_object() };

    sys_gather(ctx, ctx_row(ctx)->data.number == PLUGIN_STATE ? add_state_doc : sys_add_doc, &q);
    *ret_value = answer_of(ctx, q.wanted, q.found);
    return 0;
}

/* A name with a dot or a star is a glob over functions, another one a module. */
static bool
function_fits(const char *wanted, const char *name)
{
    size_t len = strlen(wanted);

    if (strpbrk(wanted, "*.") != NULL)
        return sys_matches(wanted, name);
    return str_starts(name, wanted) && name[len] == '.';
}

/* Salt's form: {"args", "varargs", "kwargs", "defaults"}. */
static void
add_argspec(void *cookie, const char *name, const plugin_t *p, const func_t *f)
{
    query_t *q = cookie;

    if (sys_is_wanted(q, function_fits, name))
        json_object_set_new(q->found, name, func_argspec(f));
}

/* `module` is one word here, with a glob perhaps, and "" means all. */
static int
sys_argspec(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *words = json_pack("[O]", value_get(args, "module"));
    query_t q = { words, json_object() };

    sys_gather(ctx, add_argspec, &q);
    *ret_value = answer_of(ctx, words, q.found);
    return 0;
}

/* ---- lists -------------------------------------------------------------------------------- */

/* An object as a set: names are unique and sorted at the end. */
static void
sys_add_function(void *cookie, const char *name, const plugin_t *p, const func_t *f)
{
    query_t *q = cookie;

    if (sys_is_wanted(q, function_fits, name))
        json_object_set_new(q->found, name, json_null());
}

/* A glob is matched against functions, a plain name against modules. */
static bool
module_fits(const char *wanted, const char *name)
{
    if (strchr(wanted, '*') != NULL)
        return sys_matches(wanted, name);
    return strlen(wanted) == strcspn(name, ".") && str_starts(name, wanted);
}

/* The module's name is that under which its functions are called (pkg), not its file's (apt). */
static void
sys_add_module(void *cookie, const char *name, const plugin_t *p, const func_t *f)
{
    query_t *q = cookie;

    if (sys_is_wanted(q, module_fits, name))
        json_object_set_new(q->found, plugin_name(p), json_null());
}

/* The names that `add` collects, sorted. */
static int
sys_list(call_ctx_t *ctx, registry_each_fn *add, json_t *args, json_t **ret_value)
{
    json_auto_t *found = json_object();
    query_t q = { value_get(args, "args"), found };

    sys_gather(ctx, add, &q);
    *ret_value = answer_of(ctx, q.wanted, value_sorted_keys(found));
    return 0;
}

/* "sys" lists that module's, "sys.list*" a glob. */
static int
sys_list_functions(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return sys_list(ctx, sys_add_function, args, ret_value);
}

static int
sys_list_modules(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return sys_list(ctx, sys_add_module, args, ret_value);
}

/* ---- other -------------------------------------------------------------------------------- */

/* Sources that can change while a job runs (files in Python) look again; the linked tables stay. */
static int
sys_reload_modules(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    int rc = registry_refresh(ctx_registry(ctx, PLUGIN_EXEC), ctx, err);

    *ret_value = rc == 0 ? json_true() : NULL;
    return rc;
}

/* ---- table -------------------------------------------------------------------------------- */

static const arg_t names_args[] = {
    ARG("args", ARG_ANY, ARG_STAR, "Modules, functions or globs; all when there are none"),
    ARGS_END,
};
static const arg_t functions_args[] = {
    ARG("args", ARG_ANY, ARG_STAR, "Modules, functions or globs; all when there are none"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Not used"),
    ARGS_END,
};
static const arg_t argspec_args[] = {
    ARG("module", ARG_STR, "\"\"", "A module, a function or a glob"),
    ARGS_END,
};

#define NO_FUNCTION(arg, module)                                                                             \
    ABSENT(arg, "Nothing is called {}; 'sys.list_" module "' lists what there is")

static const func_t funcs[] = {
    { "argspec", sys_argspec, argspec_args, FN_READONLY,
      "Return the arguments and defaults of functions." CLI_EXAMPLE(
          "salt '*' sys.argspec pkg.install\n    salt '*' sys.argspec sys\n    salt '*' sys.argspec "
          "'pkg.*'"),
      .data.number = PLUGIN_EXEC, NO_FUNCTION("module", "functions") },
    { "doc", sys_doc, names_args, FN_READONLY,
      "Return the documentation of functions." CLI_EXAMPLE(
          "salt '*' sys.doc\n    salt '*' sys.doc sys\n    salt '*' sys.doc sys.doc\n    "
          "salt '*' sys.doc network.traceroute user.info\n    salt '*' sys.doc 'sys.list_*'"),
      .data.number = PLUGIN_EXEC, NO_FUNCTION("args", "functions") },
    { "list_functions", sys_list_functions, functions_args, FN_READONLY,
      "List functions." CLI_EXAMPLE("salt '*' sys.list_functions\n    salt '*' sys.list_functions sys\n    "
                                    "salt '*' sys.list_functions 'sys.list_*'"),
      .data.number = PLUGIN_EXEC },
    { "list_modules", sys_list_modules, names_args, FN_READONLY,
      "List modules." CLI_EXAMPLE("salt '*' sys.list_modules\n    salt '*' sys.list_modules 's*'"),
      .data.number = PLUGIN_EXEC },
    { "list_runner_functions", sys_list_functions, functions_args, FN_READONLY,
      "List the functions of runners." CLI_EXAMPLE("salt '*' sys.list_runner_functions\n    "
                                                   "salt '*' sys.list_runner_functions 'state.*'"),
      .data.number = PLUGIN_RUNNER },
    { "list_runners", sys_list_modules, names_args, FN_READONLY,
      "List the runners of the master beside this minion." CLI_EXAMPLE(
          "salt '*' sys.list_runners\n    salt '*' sys.list_runners 'm*'"),
      .data.number = PLUGIN_RUNNER },
    { "list_state_functions", sys_list_functions, functions_args, FN_READONLY,
      "List the functions of state modules." CLI_EXAMPLE(
          "salt '*' sys.list_state_functions\n    salt '*' sys.list_state_functions file\n    "
          "salt '*' sys.list_state_functions 'file.s*'"),
      .data.number = PLUGIN_STATE },
    { "list_state_modules", sys_list_modules, names_args, FN_READONLY,
      "List state modules." CLI_EXAMPLE("salt '*' sys.list_state_modules\n    "
                                        "salt '*' sys.list_state_modules 's*'"),
      .data.number = PLUGIN_STATE },
    { "reload_modules", sys_reload_modules, NULL, FN_READONLY,
      "Look again for modules, where they can change; what is built in stays." CLI_EXAMPLE(
          "salt '*' sys.reload_modules") },
    { "runner_argspec", sys_argspec, argspec_args, FN_READONLY,
      "Return the arguments and defaults of runners." CLI_EXAMPLE(
          "salt '*' sys.runner_argspec state\n    salt '*' sys.runner_argspec 'winrepo.*'"),
      .data.number = PLUGIN_RUNNER, NO_FUNCTION("module", "runner_functions") },
    { "runner_doc", sys_doc, names_args, FN_READONLY,
      "Return the documentation of runners." CLI_EXAMPLE(
          "salt '*' sys.runner_doc\n    salt '*' sys.runner_doc cache cache.grains"),
      .data.number = PLUGIN_RUNNER, NO_FUNCTION("args", "runner_functions") },
    { "state_argspec", sys_argspec, argspec_args, FN_READONLY,
      "Return the arguments and defaults of states." CLI_EXAMPLE(
          "salt '*' sys.state_argspec pkg.installed\n    salt '*' sys.state_argspec file"),
      .data.number = PLUGIN_STATE, NO_FUNCTION("module", "state_functions") },
    { "state_doc", sys_doc, names_args, FN_READONLY,
      "Return the documentation of state modules and their functions." CLI_EXAMPLE(
          "salt '*' sys.state_doc\n    salt '*' sys.state_doc service\n    "
          "salt '*' sys.state_doc service.running 'file.*'"),
      .data.number = PLUGIN_STATE, NO_FUNCTION("args", "state_functions") },
};

PLUGIN(exec, sys, .doc = "The functions of this minion", FUNCS(funcs));
