/* ctx.c - the call context: options, grains, pillar, files, events and the host for a running function.
 *
 * Grains and pillar are fetched on first use and cached, as JSON and as Python's values; a setter drops both
 * caches. */
#include "common/plugin/ctx.h"
#include "common/plugin/usable.h"

#include "common/py/py_json.h"
#include "common/py/py_peer.h"
#include "common/py/py_wire.h"
#include "salt/log.h"

call_ctx_t *
call_ctx_new(const call_env_t *env)
{
    call_ctx_t *self = xcalloc(1, sizeof(*self));

    self->env = *env;
    self->opts = env->opts != NULL ? json_incref(env->opts) : json_object();
    self->context = json_object();
    self->nothing = json_object();
    self->test = value_bool(self->opts, "test", false);
    return self;
}

void
call_ctx_destroy(call_ctx_t **self_p)
{
    call_ctx_t *self = *self_p;

    if (self == NULL)
        return;
    ctx_drop_attached(self);
    json_decref(self->opts);
    json_decref(self->grains);
    json_decref(self->pillar);
    py_unref(self->native_grains);
    py_unref(self->native_pillar);
    json_decref(self->context);
    json_decref(self->nothing);
    free(self->absent);
    free(self);
    *self_p = NULL;
}

/* LIMIT_CALL_DEPTH bounds recursion between functions before the C stack ends. */
int
ctx_enter(call_ctx_t *ctx, const func_t *f, const func_t **ret_before, fail_t *err)
{
    if (ctx->depth >= LIMIT_CALL_DEPTH)
        return fail_kind(err, FAIL_COMMAND, -ELOOP, "%s: functions call each other more than %d deep",
                         f->name, LIMIT_CALL_DEPTH);
    *ret_before = ctx->row;
    ctx->row = f;
    ctx->depth++;
    return 0;
}

void
ctx_leave(call_ctx_t *ctx, const func_t *before)
{
    ctx->depth--;
    ctx->row = before;
}

const func_t *
ctx_row(const call_ctx_t *ctx)
{
    return ctx->row;
}

json_t *
ctx_opts(call_ctx_t *ctx)
{
    return ctx->opts;
}

/* Without a source of grains they are empty, so that callers need not ask whether there is one. */
json_t *
ctx_grains(call_ctx_t *ctx)
{
    if (ctx->grains == NULL) {
        json_t *found = ctx->env.grains != NULL ? ctx->env.grains(ctx->env.cookie) : NULL;
        ctx->grains = json_is_object(found) ? json_incref(found) : json_object();
    }
    return ctx->grains;
}

void
ctx_grains_changed(call_ctx_t *ctx)
{
    py_unref(ctx->native_grains);
    ctx->native_grains = NULL;
}

/* Grains that can't be gathered again leave the old ones in use. */
void
ctx_refresh_grains(call_ctx_t *ctx)
{
    json_t *found = ctx->env.grains_again != NULL ? ctx->env.grains_again(ctx->env.cookie) : NULL;

    if (!json_is_object(found)) {
        json_decref(found);
        return;
    }
    json_decref(ctx->grains);
    ctx->grains = found;
    py_unref(ctx->native_grains);
    ctx->native_grains = NULL;
}

/* Where the master renders for a minion, the grains are that minion's word, and carry its own mark. */
py_t *
ctx_native_grains(call_ctx_t *ctx)
{
    if (ctx->native_grains != NULL)
        return ctx->native_grains;
    ctx->native_grains = ctx->env.peer ? py_from_json_own(ctx_grains(ctx)) : py_from_json(ctx_grains(ctx));
    return ctx->native_grains;
}

py_t *
ctx_compile_pillar(call_ctx_t *ctx, json_t *ask, fail_t *err)
{
    if (ctx->env.pillar == NULL)
        return py_dict();
    if (!ctx->env.peer_args || value_get(ask, "pillar") == NULL)
        return ctx->env.pillar(ctx->env.cookie, ask, err);
    /* The question's pillar override is a peer's data then, and is marked so. */
    AUTO(py) given = py_peer(py_from_wire(value_get(ask, "pillar")), 0);
    json_t *wire = py_to_wire_peer(given);
    if (wire == NULL) {
        (void) fail_set(err, -EINVAL, "the pillar override can't be sent: %s", py_raised_text());
        py_clear();
        return NULL;
    }
    json_auto_t *own = json_copy(ask);
    json_object_set_new(own, "pillar", wire);
    return ctx->env.pillar(ctx->env.cookie, own, err);
}

/* The JSON form is made again from the new pillar when a function asks for it. */
void
ctx_set_pillar(call_ctx_t *ctx, py_t *pillar)
{
    py_unref(ctx->native_pillar);
    ctx->native_pillar = py_ref(pillar);
    json_decref(ctx->pillar);
    ctx->pillar = NULL;
}

/* A pillar that fails to compile counts as empty here, and is logged; callers that must know compile it
 * themselves. */
py_t *
ctx_native_pillar(call_ctx_t *ctx)
{
    if (ctx->native_pillar == NULL) {
        fail_auto_t err = FAIL_INIT;
        AUTO(py) found = ctx->env.pillar != NULL ? ctx->env.pillar(ctx->env.cookie, NULL, &err) : NULL;
        if (err.code < 0)
            log_error("%s", fail_text(&err));
        ctx->native_pillar = found != NULL && py_is(found, PY_DICT) ? STEAL(found) : py_dict();
    }
    return ctx->native_pillar;
}

/* A pillar with a value that JSON can't express counts as empty as a whole, and is logged. */
json_t *
ctx_pillar(call_ctx_t *ctx)
{
    if (ctx->pillar == NULL) {
        ctx->pillar = py_to_json(ctx_native_pillar(ctx));
        if (ctx->pillar == NULL)
            log_error("the pillar counts as empty, JSON can't say it: %s", py_raised_text());
        py_clear();
        ctx->pillar = json_is_object(ctx->pillar) ? ctx->pillar : json_object();
    }
    return ctx->pillar;
}

struct fileclient *
ctx_files(call_ctx_t *ctx)
{
    return ctx->env.files;
}

bool
ctx_test(const call_ctx_t *ctx)
{
    return ctx->test;
}

void
ctx_set_test(call_ctx_t *ctx, bool test)
{
    ctx->test = test;
}

json_t *
ctx_context(call_ctx_t *ctx)
{
    return ctx->context;
}

const char *
ctx_id(call_ctx_t *ctx)
{
    return ctx->env.id != NULL ? ctx->env.id : "";
}

const char *
ctx_jid(call_ctx_t *ctx)
{
    return ctx->env.jid != NULL ? ctx->env.jid : "";
}

json_t *
call_tops(call_ctx_t *ctx, const char *saltenv, fail_t *err)
{
    if (ctx->env.tops == NULL || !value_truthy(value_get(ctx->env.opts, "master_tops")))
        return json_object();
    return ctx->env.tops(ctx->env.cookie, saltenv, err);
}

const char *
call_user(const call_ctx_t *ctx)
{
    return ctx->env.user != NULL ? ctx->env.user : "";
}

void
call_show(call_ctx_t *ctx, const char *suffix, json_t *event)
{
    if (ctx->env.show != NULL)
        ctx->env.show(ctx->env.cookie, suffix, event);
}

bool
call_is_peer(const call_ctx_t *ctx)
{
    return ctx->env.peer;
}

void
call_set_peer_args(call_ctx_t *ctx)
{
    ctx->env.peer_args = true;
}

bool
call_has_peer_args(const call_ctx_t *ctx)
{
    return ctx->env.peer_args;
}

void
call_refused(call_ctx_t *ctx, json_t *what)
{
    if (ctx->env.refused != NULL)
        ctx->env.refused(ctx->env.cookie, what);
}

const char *
call_renders(const call_ctx_t *ctx)
{
    return ctx->env.renders;
}

void
ctx_set_retcode(call_ctx_t *ctx, int retcode)
{
    ctx->retcode = retcode;
}

/* The last text counts. The exit code tells a script that nothing was found. A function that another one, a
 * state or a template calls has its return for that. */
void
ctx_absent(call_ctx_t *ctx, const char *fmt, ...)
{
    va_list ap;

    if (ctx->depth > 1)
        return;
    va_start(ap, fmt);
    free(ctx->absent);
    ctx->absent = xvasprintf(fmt, ap);
    va_end(ap);
    ctx->retcode = EXIT_FAILURE;
}

const char *
call_absent(const call_ctx_t *ctx)
{
    return ctx->absent;
}

int
ctx_retcode(const call_ctx_t *ctx)
{
    return ctx->retcode;
}

/* A tag is bounded here, before it goes out: a master refuses a longer one without a reply. */
int
ctx_fire(call_ctx_t *ctx, const char *tag, json_t *data, fail_t *err)
{
    if (ctx->relay == NULL && ctx->env.fire == NULL)
        return fail_set(err, -ENOTSUP, "no master to send the event '%s' to", tag);
    if (strlen(tag) > LIMIT_TAG_LEN)
        return fail_kind(err, FAIL_INVOCATION, -EMSGSIZE,
                         "the event tag has %zu bytes, at most %d are allowed", strlen(tag), LIMIT_TAG_LEN);
    if (ctx->relay != NULL)
        return ctx->relay->fire(ctx->relay->cookie, tag, data, err);
    return ctx->env.fire(ctx->env.cookie, tag, data, err);
}

void
ctx_progress(call_ctx_t *ctx, size_t step, size_t of, const char *fmt, ...)
{
    va_list ap;

    if (ctx->env.progress == NULL || ctx->relay != NULL)
        return;
    va_start(ap, fmt);
    AUTO_FREE char *what = xvasprintf(fmt, ap);
    va_end(ap);
    ctx->env.progress(ctx->env.cookie, step, of, what);
}

int
ctx_host(call_ctx_t *ctx, json_t *request, json_t **ret_value, fail_t *err)
{
    if (ctx->relay != NULL)
        return ctx->relay->host(ctx->relay->cookie, request, ret_value, err);
    if (ctx->env.host == NULL)
        return fail_kind(err, FAIL_COMMAND, -ENOTSUP,
                         "'%s' needs a running salt-minion, and this call does not come from one",
                         value_str(request, "op", "?"));
    return ctx->env.host(ctx->env.cookie, request, ret_value, err);
}

void
call_set_relay(call_ctx_t *ctx, const call_relay_t *relay)
{
    ctx->relay = relay;
}

void *
ctx_private(call_ctx_t *ctx)
{
    return ctx->env.private_data;
}

/* BORROWED, or NULL: this program has no functions of that kind. */
registry_t *
ctx_registry(call_ctx_t *ctx, plugin_kind_t kind)
{
    registry_t *const all[] = { ctx->env.registry, ctx->env.states, ctx->env.runners, ctx->env.returners };

    for (size_t i = 0; i < NELEMS(all); i++)
        if (all[i] != NULL && registry_kind(all[i]) == kind)
            return all[i];
    return NULL;
}

const func_t *
ctx_find(call_ctx_t *ctx, const char *fun, fail_t *err)
{
    return registry_find(ctx->env.registry, ctx, fun, err);
}

/* A function of a module that the options do not list is as good as absent for those who name it. */
const func_t *
ctx_find_named(call_ctx_t *ctx, const char *fun, fail_t *err)
{
    if (plugin_may_be_named(ctx, fun))
        return ctx_find(ctx, fun, err);
    (void) fail_kind(err, FAIL_UNAVAILABLE, -ENOENT, "'%s' is not available.", fun);
    return NULL;
}

bool
ctx_has(call_ctx_t *ctx, const char *fun)
{
    fail_auto_t err = FAIL_INIT;

    return ctx_find(ctx, fun, &err) != NULL;
}
