/* jinja.c - execution module `jinja`: data that templates import from map files and others, rendered by a
 * small template of its own. */
#include "common/py/py_json.h"
#include "common/py/py_peer.h"
#include "common/render/render.h"
#include "plugins/lib/call/pyargs.h"
#include "salt/plugin.h"

/* The template's data without the order of its mappings. NEW, or NULL. */
static py_t *
jinja_rendered(call_ctx_t *ctx, const char *text, fail_t *err)
{
    const render_source_t source = {
        .text = text, .len = strlen(text), .path = ":string:", .sls = "", .saltenv = "base"
    };
    AUTO(py) v = render_data(render_of(ctx), &source, err);
    py_dumps_t how = PY_DUMPS_INIT;

    AUTO(py) json = v != NULL ? py_json_dumps(v, &how) : NULL;
    size_t len;
    const char *bytes = json != NULL ? py_text(json, &len) : NULL;
    return bytes != NULL ? py_peer_like(py_json_loads(bytes, len), &v, 1) : NULL;
}

static py_t *
jinja_load_map(call_ctx_t *ctx, py_t *args, fail_t *err)
{
    const char *path = pyarg_text(args, "path", ""), *value = pyarg_text(args, "value", "");
    AUTO_FREE char *text = xasprintf("{%% from \"%s\" import %s with context %%}\n{{ %s | tojson }}\n", path,
                                     value, value);

    return jinja_rendered(ctx, text, err);
}

static py_t *
jinja_import(call_ctx_t *ctx, py_t *args, fail_t *err)
{
    const char *tag = ctx_row(ctx)->data.text;
    AUTO_FREE char *text = xasprintf("{%% %s \"%s\" as imported %%}\n{{ imported | tojson }}\n", tag,
                                     pyarg_text(args, "path", ""));

    return jinja_rendered(ctx, text, err);
}

#define PATH_ROW ROW("path", ARG_ANY, ARG_REQUIRED, "The file's path below the file roots")
static const arg_t path_args[] = { PATH_ROW, ARGS_END };
static const arg_t map_args[] = { PATH_ROW,
                                  { "value", ARG_ANY, ARG_REQUIRED, "The variable of the map" },
                                  ARGS_END };

static const func_t funcs[] = {
    { "import_json", NATIVE(jinja_import), path_args, FN_READONLY | FN_NATIVE,
      "Return what ``import_json`` gives a template for this file." CLI_EXAMPLE(
          "salt '*' jinja.import_json myformula/foo.json"),
      .data.text = "import_json" },
    { "import_yaml", NATIVE(jinja_import), path_args, FN_READONLY | FN_NATIVE,
      "Return what ``import_yaml`` gives a template for this file." CLI_EXAMPLE(
          "salt '*' jinja.import_yaml myformula/foo.yaml"),
      .data.text = "import_yaml" },
    { "load_map", NATIVE(jinja_load_map), map_args, FN_READONLY | FN_NATIVE,
      "Return a variable of a map file, as a template that imports it sees it." CLI_EXAMPLE(
          "salt '*' jinja.load_map myformula/map.jinja myformula") },
};

PLUGIN(exec, jinja, .doc = "What templates import", FUNCS(funcs));
