/* context.c - the variables of a template: salt, opts, grains, pillar, and those that tell its place.
 *
 * `salt` calls back into the loader: calls are checked (allow.c), and results of functions that got a peer's
 * value, or that read minions' files, are marked as peers' data. One `opts` dict is shared by all templates
 * of a renderer, with the current grains and pillar set before each run. */
#include "common/base/str.h"
#include "common/files/fileserver.h"
#include "common/plugin/registry.h"
#include "common/py/py_json.h"
#include "common/py/py_peer.h"
#include "common/render/render_int.h"

/* ---- salt --------------------------------------------------------------------------------------------- */

/* Salt's `'x' in salt`. A missing name is remembered for the error message. */
bool
render_has(render_t *self, const char *name)
{
    /* "pkg." asks for a module. */
    AUTO_FREE char *module = str_ends(name, ".") ? xstrndup(name, strlen(name) - 1) : NULL;
    fail_auto_t err = FAIL_INIT;
    bool found = module != NULL
                     ? registry_provider(ctx_registry(self->ctx, PLUGIN_EXEC), self->ctx, module) != NULL
                     : ctx_find_named(self->ctx, name, &err) != NULL;

    call_note(self->ctx, name); /* its presence depends on installed programs */
    if (!found) {
        free(self->missing);
        self->missing = module != NULL ? STEAL(module) : xstrdup(name);
    }
    return found;
}

/* Raises the Python exception that corresponds to a function's failure. NULL. */
static void *
raise_failure(const fail_t *err)
{
    static const py_exc_t exception = { "Exception", NULL };
    static const struct {
        fail_kind_t kind;
        const py_exc_t *type;
    } rows[] = { { FAIL_COMMAND, &jinja_CommandExecutionError },
                 { FAIL_INVOCATION, &jinja_SaltInvocationError },
                 { FAIL_ARGUMENTS, &py_TypeError } };

    for (size_t i = 0; i < NELEMS(rows); i++)
        if (rows[i].kind == err->kind)
            return py_raise(rows[i].type, "%s", fail_text(err));
    return py_raise(&exception, "%s", fail_text(err));
}

/* Calls a function. Marks of peers' arguments spread to the result, as the function may return them. */
py_t *
render_call(render_t *self, const char *name, const py_args_t *args)
{
    fail_auto_t err = FAIL_INIT;

    if (render_may_call(self, name, args, &err) < 0 || ctx_find_named(self->ctx, name, &err) == NULL)
        return raise_failure(&err);
    uint64_t sent = files_sent();
    py_t *value = ctx_call_native(self->ctx, name, args, &err);
    if (value != NULL && (files_sent() != sent || render_reads_peers(self, args)))
        value = py_peer(value, 0);
    value = py_peer_like(py_peer_like(value, args->v, args->n), args->kwv, args->nkw);

    return value == NULL && py_raised() == NULL ? raise_failure(&err) : value;
}

static bool
render_context_has(void *cookie, const char *name)
{
    return render_has(cookie, name);
}

static py_t *
render_context_call(void *cookie, const char *name, const py_args_t *args)
{
    return render_call(cookie, name, args);
}

/* ---- opts --------------------------------------------------------------------------------------------- */

/* The configuration with grains and pillar, as Salt's. One dict for all templates. BORROWED. */
static py_t *
render_context_opts_of(render_t *self, py_t *pillar)
{
    if (self->opts == NULL) {
        self->opts = py_from_json(ctx_opts(self->ctx));
        if (call_is_peer(self->ctx)) {
            /* Marks the options that a pillar's compile takes from the requesting minion. */
            py_t *opts = self->opts;
            static const char *const asked[] = { "saltenv", "pillarenv", "ext_pillar" };

            for (size_t i = 0; i < NELEMS(asked); i++) {
                py_t *v = py_ref(py_dict_gets(opts, asked[i]));
                if (v != NULL)
                    py_dict_sets_new(opts, asked[i], py_peer(v, SPAN_OWN));
            }
        }
        py_dict_sets(self->opts, "grains", ctx_native_grains(self->ctx));
        py_t *id = py_strz(ctx_id(self->ctx));
        py_dict_sets_new(self->opts, "id", call_is_peer(self->ctx) ? py_peer(id, SPAN_OWN) : id);
    }
    py_dict_sets(self->opts, "grains", ctx_native_grains(self->ctx));
    py_dict_sets(self->opts, "pillar", pillar);
    py_dict_sets(self->opts, "test", py_bool(ctx_test(self->ctx)));
    return self->opts;
}

/* ---- all of it ---------------------------------------------------------------------------------------- */

/* The caller's own variables come last of those that it may replace; the names of a file's place are set
 * after them, as in Salt. NEW, or NULL raised. */
py_t *
run_context(rendering_t *run)
{
    const render_source_t *s = run->source;
    render_t *self = run->render;
    py_t *pillar = s->pillar != NULL ? s->pillar : ctx_native_pillar(self->ctx);
    AUTO(py) context = py_dict();
    const jinja_funcs_t funcs = { render_context_has, render_context_call, self };

    if (self->salt == NULL)
        self->salt = jinja_salt_funcs(&funcs);
    py_dict_sets(context, "salt", self->salt);
    py_dict_sets(context, "grains", ctx_native_grains(self->ctx));
    py_dict_sets(context, "opts", render_context_opts_of(self, pillar));
    py_dict_sets(context, "pillar", pillar);
    py_dict_sets_new(context, "saltenv",
                     call_is_peer(self->ctx) ? py_str_own(self->saltenv, strlen(self->saltenv))
                                             : py_strz(self->saltenv));
    if (s->sls != NULL)
        py_dict_sets_new(context, "sls", py_strz(s->sls));
    py_dict_sets_new(context, "proxy", py_dict());
    if (s->context != NULL && py_dict_update(context, s->context) < 0)
        return NULL;
    if (s->sls != NULL) {
        jinja_salt_sls(context, s->tmplpath != NULL ? s->tmplpath : s->path, s->sls);
        if (s->path != NULL)
            py_dict_sets_new(context, "tplpath", py_str_utf8(s->path, strlen(s->path)));
    }
    return STEAL(context);
}
