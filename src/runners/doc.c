/* doc.c - runner `doc`: documentation of runners and wheel modules, from the registries of this program, and
 * of execution modules, asked of all minions. */
#include "common/base/str.h"
#include "common/plugin/call.h"
#include "master/api.h"
#include "runners/lib/ask.h"
#include "salt/plugin.h"

static void
runners_doc_add_doc(void *cookie, const char *name, const plugin_t *p, const func_t *f)
{
    AUTO_FREE char *text = func_doc(f);

    json_object_set_new(cookie, name, json_string(text));
}

/* NEW {"mod.fun": text}; empty without a registry. */
static json_t *
docs_of(const registry_t *registry, call_ctx_t *ctx)
{
    json_t *out = json_object();

    if (registry != NULL)
        registry_each(registry, ctx, runners_doc_add_doc, out);
    return out;
}

static int
doc_runner(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = docs_of(ctx_registry(ctx, PLUGIN_RUNNER), ctx);
    return 0;
}

static int
doc_wheel(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = docs_of(api_wheels(api_of(ctx)), ctx);
    return 0;
}

/* Minions that do not return are left out; the last minion's text for a function remains. */
static int
doc_execution(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *everyone = json_string("*");
    json_auto_t *minions = ask_execute(ctx, everyone, "glob", "sys.doc", NULL, 0, err);
    const char *id;
    json_t *entry;

    if (minions == NULL)
        return -EIO;
    *ret_value = json_object();
    json_object_foreach (minions, id, entry) {
        if (str_eq(value_str(entry, "verdict", NULL), "returned") &&
            json_is_object(value_get(entry, "return")))
            json_object_update(*ret_value, value_get(entry, "return"));
    }
    return 0;
}

static const func_t funcs[] = {
    { "execution", doc_execution, NULL, FN_READONLY | FN_ACCESS_READ,
      "Gather the documentation of the execution modules from all minions." CLI_EXAMPLE(
          "salt-run doc.execution") },
    { "runner", doc_runner, NULL, FN_READONLY | FN_ACCESS_READ,
      "Return the documentation of the runners." CLI_EXAMPLE("salt-run doc.runner") },
    { "wheel", doc_wheel, NULL, FN_READONLY | FN_ACCESS_READ,
      "Return the documentation of the wheel modules." CLI_EXAMPLE("salt-run doc.wheel") },
};

PLUGIN(runner, doc, .doc = "Documentation of what is built in", FUNCS(funcs));
