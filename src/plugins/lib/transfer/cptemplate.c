/* cptemplate.c - see cptemplate.h. */
#include "plugins/lib/transfer/cptemplate.h"

#include "common/base/str.h"
#include "common/py/py_host.h"
#include "common/py/py_json.h"
#include "common/render/render.h"
#include "plugins/lib/transfer/fetch.h"

/* Template engines that this implementation has, of those that Salt has for texts. */
bool
cptemplate_known(const char *engine)
{
    return render_is_template(engine);
}

/* Renders a file's text, or a text of the call when path is NULL; in the latter, what came from the job stays
 * marked as a minion's words. */
int
cptemplate_render(call_ctx_t *ctx, json_t *args, const char *engine, const char *path, const char *text,
                  size_t len, buf_t *out, fail_t *err)
{
    /* Further keywords are variables of the template; those in `context` go over them. */
    json_t *kwargs = value_get(args, "kwargs");
    json_auto_t *vars = json_is_object(kwargs) ? json_copy(kwargs) : json_object();
    json_auto_t *given = json_is_object(value_get(vars, "context")) ? json_incref(value_get(vars, "context"))
                                                                    : json_object();
    json_object_del(vars, "context");
    json_object_update(vars, given);
    fail_auto_t failed = FAIL_INIT;
    /* A pillar of the caller's wish: compiled anew, with the given one over it. */
    json_t *wish = value_get(kwargs, "pillar"), *env = value_get(kwargs, "pillarenv");
    json_auto_t *ask = json_pack("{s:O*, s:O*}", "pillar", wish, "pillarenv", env);
    AUTO(py) pillar = wish != NULL || env != NULL ? ctx_compile_pillar(ctx, ask, &failed) : NULL;

    if (failed.text != NULL)
        return fail_set(err, failed.code, "%s", fail_text(&failed));
    json_object_del(vars, "pillar");
    json_object_del(vars, "pillarenv");
    AUTO(py) context = py_from_json(vars);
    render_t *render = render_new(ctx, ctx_files(ctx));
    spans_auto_t said = SPANS_INIT;
    if (path == NULL) /* not a file's */
        call_text_spans(ctx, text, len, &said);
    const render_source_t what = { .text = text,
                                   .len = len,
                                   .path = path,
                                   .pipeline = engine,
                                   .fixed = true,
                                   .peer = &said,
                                   .saltenv = fetch_env(ctx, value_str(args, "saltenv", NULL)),
                                   .pillar = pillar,
                                   .context = context };
    int rc = render_text(render, &what, out, err);
    render_destroy(&render);
    return rc;
}

/* Replaces `path` and `dest` in args by their rendered texts, when the call names an engine. */
int
cptemplate_paths(call_ctx_t *ctx, json_t *args, fail_t *err)
{
    static const char *const names[] = { "path", "dest" };
    const char *engine = value_str(args, "template", "");

    if (*engine == '\0')
        return 0;
    if (!cptemplate_known(engine))
        return fail_kind(err, FAIL_COMMAND, -EINVAL,
                         "Attempted to render file paths with unavailable engine %s", engine);
    for (size_t i = 0; i < NELEMS(names); i++) {
        const char *text = value_str(args, names[i], "");
        buf_auto_t out = BUF_INIT;
        fail_auto_t why = FAIL_INIT;
        if (cptemplate_render(ctx, args, engine, NULL, text, strlen(text), &out, &why) < 0)
            return fail_kind(err, FAIL_COMMAND, -EINVAL, "Failed to render file path with error: %s",
                             fail_text(&why));
        json_object_set_new(args, names[i], value_utf8(buf_str(&out), out.len));
    }
    return 0;
}
