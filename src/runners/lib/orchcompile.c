/* orchcompile.c - see orchcompile.h. The master acts as a minion: a context with its own pillar, the SLS
 * files rendered, and compiled to chunks as a state run would be. */
#include "runners/lib/orchcompile.h"

#include "common/base/str.h"
#include "common/py/py_json.h"
#include "common/py/py_peer.h"
#include "common/state/compile.h"
#include "master/api.h"
#include "runners/lib/ask.h"

static int
orchcompile_fire(void *cookie, const char *tag, json_t *data, fail_t *err)
{
    return ctx_fire(cookie, tag, data, err);
}

/* None counts as not given. */
static bool
orchcompile_given(const json_t *v)
{
    return v != NULL && !json_is_null(v);
}

/* `pillar_enc`: the texts of the given pillar go through this renderer first. */
static int
decrypt(call_ctx_t *host, const json_t *args, json_t *ask, fail_t *err)
{
    const json_t *enc = value_get(args, "pillar_enc");

    if (!json_is_string(enc) || value_get(ask, "pillar") == NULL)
        return 0;
    AUTO(py) given_py = py_from_json(value_get(ask, "pillar"));
    AUTO(py) plain = render_decrypt(render_of(host), json_string_value(enc), given_py, err);
    if (plain == NULL)
        return err->code < 0 ? err->code : -EINVAL;
    json_t *said = py_to_json(plain);
    if (said == NULL) {
        int rc = fail_set(err, -EINVAL, "the pillar override can't be used: %s", py_raised_text());
        py_clear();
        return rc;
    }
    json_object_set_new(ask, "pillar", said);
    return 0;
}

/* Compiles the pillar with the run's override. NEW; NULL with *err, also on a master without state
 * modules. */
masterctx_t *
orch_context(call_ctx_t *ctx, const json_t *args, json_t *errors, fail_t *err)
{
    const json_t *pillar = value_get(args, "pillar"), *test = value_get(args, "test");
    masterctx_env_t env = { .tables = api_host(api_of(ctx)),
                            .opts = ctx_opts(ctx),
                            .jid = ctx_jid(ctx),
                            .peer = api_peer(api_of(ctx)),
                            .fire = orchcompile_fire,
                            .cookie = ctx,
                            .request = api_request_of,
                            .private_data = ctx_private(ctx) };

    if (orchcompile_given(pillar) && !json_is_object(pillar)) {
        (void) fail_kind(err, FAIL_INVOCATION, -EINVAL, "Pillar data must be formatted as a dictionary");
        return NULL;
    }
    if (env.tables == NULL) {
        (void) fail_kind(err, FAIL_COMMAND, -ENOTSUP, "This master has no state modules to orchestrate with");
        return NULL;
    }
    masterctx_t *self = masterctx_new(&env);
    call_ctx_t *host = masterctx_ctx(self);

    /* `ask` of ctx_compile_pillar from a runner's arguments. */
    const json_t *saltenv = value_get(args, "saltenv"), *pillarenv = value_get(args, "pillarenv");
    json_auto_t *ask = json_object();
    if (!orchcompile_given(pillarenv))
        pillarenv = value_get(ctx_opts(ctx), "pillarenv");
    if (!orchcompile_given(pillarenv) && value_bool(ctx_opts(ctx), "pillarenv_from_saltenv", false))
        pillarenv = saltenv;
    json_object_set_new(ask, "saltenv",
                        orchcompile_given(saltenv) ? json_incref((json_t *) saltenv) : json_null());
    json_object_set_new(ask, "pillarenv",
                        orchcompile_given(pillarenv) ? json_incref((json_t *) pillarenv) : json_null());
    if (orchcompile_given(value_get(args, "pillar")))
        json_object_set(ask, "pillar", value_get(args, "pillar"));

    AUTO(py) compiled = decrypt(host, args, ask, err) == 0 ? ctx_compile_pillar(host, ask, err) : NULL;
    if (compiled == NULL) {
        masterctx_destroy(&self);
        return NULL;
    }
    ctx_set_pillar(host, compiled);
    ctx_set_test(host,
                 orchcompile_given(test) ? value_truthy(test) : value_bool(ctx_opts(ctx), "test", false));
    json_object_set_new(ctx_opts(host), "test", json_boolean(ctx_test(host)));

    /* Texts in the pillar's _errors. */
    const json_t *found = value_get(ctx_pillar(host), "_errors");
    if (json_array_size(found) == 0)
        return self;
    json_array_append_new(errors, json_string("Pillar failed to render with the following messages:"));
    json_array_extend(errors, (json_t *) found);

    return self;
}

static json_t *
low_of(call_ctx_t *host, py_t *high, const highstate_t *from, const char *jid, json_t *errors)
{
    high_env_t env = { .opts = ctx_opts(host), .from = from, .orchestration_jid = jid, .natives = true };

    return high_to_low(high, &env, errors);
}

/* Renders and compiles `mods`. Errors are added to `errors`; the list is empty when there are any. NEW. */
json_t *
orch_chunks(call_ctx_t *host, const json_t *mods, const char *saltenv, const json_t *exclude, const char *jid,
            json_t *errors)
{
    render_t *render = render_new(host, ctx_files(host));
    state_env_t env = { .ctx = host, .files = ctx_files(host), .render = render, .saltenv = saltenv };
    highstate_t *state = highstate_new(&env);
    json_auto_t *matches = json_object(), *left_out = value_truthy(exclude) ? ask_split(exclude) : NULL;

    json_object_set_new(matches, saltenv, ask_split(mods));
    py_t *high = highstate_render(state, matches, errors);
    /* Steps hand on values as JSON, which drops the marks; the whole run counts as a minion's words from here
     * on. */
    if (high != NULL && py_holds_peer(high)) {
        api_set_peer(api_of(host), true);
        call_set_peer_args(host);
    }
    if (left_out != NULL)
        high_exclude(high, left_out);
    json_t *chunks = json_array_size(errors) == 0 ? low_of(host, high, state, jid, errors) : json_array();
    py_unref(high);
    highstate_destroy(&state);
    render_destroy(&render);
    return chunks;
}

/* Compiles given high data, of which no file is rendered. NEW. */
json_t *
orch_chunks_of(call_ctx_t *host, const json_t *high, const char *jid, json_t *errors)
{
    AUTO(py) data = api_peer(api_of(host)) ? py_from_json_peer(high) : py_from_json(high);

    high_pad(data, "high data", errors);
    return json_array_size(errors) == 0 ? low_of(host, data, NULL, jid, errors) : json_array();
}
