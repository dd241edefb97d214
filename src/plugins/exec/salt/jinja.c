/* jinja.c - execution module `jinja`: data that templates import from map files and others, rendered by a
 * small template of its own. A map file's variables can be had only by an import within a template, and that
 * is what is rendered here; the result passes through JSON so that it is data and no template's object. */
#include <ctype.h>

#include "common/base/buf.h"
#include "common/py/py_json.h"
#include "common/py/py_peer.h"
#include "common/render/render.h"
#include "plugins/lib/call/pyargs.h"
#include "salt/plugin.h"

/* The template's data without the order of its mappings. NEW, or NULL. Marks of a peer's words stay with the
 * data. */
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

/* Appends a text as a literal of Jinja, which ends at its quote alone whatever the text is. A path may hold
 * anything; as a literal it can't become code of the template. */
static void
jinja_add_literal(buf_t *out, const char *text)
{
    buf_putc(out, '"');
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\')
            buf_putc(out, '\\');
        buf_putc(out, *c);
    }
    buf_putc(out, '"');
}

/* True for the name of a variable: another text would be a piece of the template. */
static bool
is_variable(const char *name)
{
    size_t n = 0;

    while (isalnum((unsigned char) name[n]) || name[n] == '_' || (unsigned char) name[n] >= 0x80)
        n++;
    return n > 0 && name[n] == '\0' && !isdigit((unsigned char) name[0]);
}

/* The variable of a map file, with this minion's grains and pillar as its context. */
static py_t *
jinja_load_map(call_ctx_t *ctx, py_t *args, fail_t *err)
{
    const char *value = pyarg_text(args, "value", "");
    buf_auto_t text = BUF_INIT;

    if (!is_variable(value)) {
        (void) fail_kind(err, FAIL_INVOCATION, -EINVAL,
                         "'value' is the name of one variable of the map, not '%s'", value);
        return NULL;
    }
    buf_puts(&text, "{% from ");
    jinja_add_literal(&text, pyarg_text(args, "path", ""));
    buf_printf(&text, " import %s with context %%}\n{{ %s | tojson }}\n", value, value);
    return jinja_rendered(ctx, buf_str(&text), err);
}

/* import_yaml, import_json and import_text: the row's text is the statement. */
static py_t *
jinja_import(call_ctx_t *ctx, py_t *args, fail_t *err)
{
    buf_auto_t text = BUF_INIT;

    buf_printf(&text, "{%% %s ", ctx_row(ctx)->data.text);
    jinja_add_literal(&text, pyarg_text(args, "path", ""));
    buf_puts(&text, " as imported %}\n{{ imported | tojson }}\n");
    return jinja_rendered(ctx, buf_str(&text), err);
}

#define PATH_ROW ARG("path", ARG_ANY, ARG_REQUIRED, "The file's path below the file roots")
static const arg_t path_args[] = { PATH_ROW, ARGS_END };
static const arg_t map_args[] = { PATH_ROW, ARG("value", ARG_ANY, ARG_REQUIRED, "The variable of the map"),
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
