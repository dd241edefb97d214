/* state_show.c - execution module `state`, the functions that show what would run: top file, high data, low
 * chunks. See state.c for those that run it. Nothing runs here, but the pillar is compiled and templates are
 * rendered as for a run, with what they call. A broken pillar is an error of the job (stateopts_open_sound),
 * other than in state.c. */
#include "common/py/py_json.h"
#include "plugins/lib/salt/statejob.h"
#include "plugins/lib/salt/stateopts.h"
#include "salt/plugin.h"

/* ---- parts ----------------------------------------------------------------------------------- */

/* 0 to go on; 1 with *ret_value, or a negative errno: the function ends. A run under way is in the way of
 * these functions, too: rendering may read what it changes. Salt refuses as well. */
static int
state_show_begin(stateopts_t *self, call_ctx_t *ctx, json_t *args, const char *dflt, json_t **ret_value,
                 fail_t *err)
{
    int rc = statejob_conflict(ctx, args, ret_value, err);

    return rc != 0 ? rc : stateopts_open_sound(self, ctx, json_object_get(args, "kwargs"), dflt, err);
}

/* Maps the result of an opened call to the function's return code. */
static int
state_show_ended(int rc)
{
    return rc < 0 ? rc : 0;
}

/* The errors are the return. TAKES the reference. */
static int
state_show_give_errors(call_ctx_t *ctx, json_t *errors, json_t **ret_value)
{
    ctx_set_retcode(ctx, STATE_COMPILER_ERROR);
    *ret_value = errors;
    return 0;
}

/* The high data as JSON; what JSON can't say (a mapping with a list as its key) is an error. */
static int
give_py(py_t *v, json_t **ret_value, fail_t *err)
{
    *ret_value = py_to_json(v);
    if (*ret_value != NULL)
        return 0;
    int rc = fail_set(err, -EINVAL, "the high data can't be shown: %s", py_raised_text());
    py_clear();
    return rc;
}

/* Renders the SLS files that `mods` names: NEW high data, verified. Errors go into `errors`; what is returned
 * beside them is not complete. */
static py_t *
state_show_render_mods(const stateopts_t *self, const json_t *args, json_t *errors)
{
    json_auto_t *matches = json_object();
    high_env_t env = { .from = self->high };

    json_object_set_new(matches, self->saltenv, stateopts_split(json_object_get(args, "mods")));
    py_t *high = highstate_render(self->high, matches, errors);
    high_verify(high, &env, errors);
    return high;
}

/* Salt's compile_low_chunks(). NEW chunks, or errors. The steps are those of a run, in its order, so that
 * what is shown has the order of running. */
static json_t *
compile_low_chunks(call_ctx_t *ctx, const stateopts_t *self, json_t *errors)
{
    json_auto_t *ignored = json_array(); /* what is wrong with the top file, Salt leaves to show_top */
    json_auto_t *matches = highstate_top(self->high, ignored);
    AUTO(py) high = highstate_render(self->high, matches, errors);
    high_env_t env = { .opts = ctx_opts(ctx), .from = self->high };

    high_reconcile_extend(high, false, &env, errors);
    high_verify(high, &env, errors);
    high_requisite_in(high, &env, errors);
    high_apply_exclude(high);
    return json_array_size(errors) > 0 ? json_incref(errors) : high_compile(high, &env, errors);
}

/* ---- functions ------------------------------------------------------------------------------- */

/* {environment: [SLS]} of this minion; master_tops count. */
static int
state_show_top(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    stateopts_auto_t opts = { 0 };
    json_auto_t *errors = json_array();
    int rc = state_show_begin(&opts, ctx, args, NULL, ret_value, err);

    if (rc != 0)
        return state_show_ended(rc);
    json_auto_t *matches = highstate_top(opts.high, errors);
    if (json_array_size(errors) > 0)
        return state_show_give_errors(ctx, json_incref(errors), ret_value);
    *ret_value = json_incref(matches);
    return 0;
}

/* All SLS of the top file rendered and joined, before requisites are resolved. */
static int
state_show_highstate(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    stateopts_auto_t opts = { 0 };
    json_auto_t *errors = json_array();
    int rc = state_show_begin(&opts, ctx, args, NULL, ret_value, err);

    if (rc != 0)
        return state_show_ended(rc);
    json_auto_t *matches = highstate_top(opts.high, errors);
    AUTO(py) high = highstate_render(opts.high, matches, errors);
    if (json_array_size(errors) > 0)
        return state_show_give_errors(ctx, json_incref(errors), ret_value);
    /* Salt treats an empty result as a failure, as in a highstate. */
    if (py_truth(high) != 1)
        ctx_set_retcode(ctx, STATE_FAILURE);
    return give_py(high, ret_value, err);
}

/* A list of chunks, or of errors: both are lists, as by Salt, and the retcode stays 0. */
static int
state_show_lowstate(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    stateopts_auto_t opts = { 0 };
    json_auto_t *errors = json_array();
    int rc = state_show_begin(&opts, ctx, args, NULL, ret_value, err);

    if (rc != 0)
        return state_show_ended(rc);
    *ret_value = compile_low_chunks(ctx, &opts, errors);
    return 0;
}

/* The SLS of the low chunks, each once. */
static int
state_show_states(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    stateopts_auto_t opts = { 0 };
    json_auto_t *errors = json_array();
    json_auto_t *seen = json_object();
    int rc = state_show_begin(&opts, ctx, args, NULL, ret_value, err);
    const char *sls;
    json_t *chunk;
    size_t i;

    if (rc != 0)
        return state_show_ended(rc);
    json_auto_t *chunks = compile_low_chunks(ctx, &opts, errors);
    if (json_array_size(errors) > 0)
        return state_show_give_errors(ctx, json_incref(errors), ret_value);
    json_array_foreach (chunks, i, chunk)
        json_object_set(seen, value_str(chunk, "__sls__", ""), json_true());
    *ret_value = json_array();
    json_object_foreach (seen, sls, chunk)
        json_array_append_new(*ret_value, json_string(sls));
    return 0;
}

/* For each environment of the file server, which of its SLS the top file gives this minion. */
static int
state_show_state_usage(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    stateopts_auto_t opts = { 0 };
    json_auto_t *errors = json_array();
    int rc = state_show_begin(&opts, ctx, args, NULL, ret_value, err);
    const char *saltenv;
    json_t *list, *sls;
    size_t i;

    if (rc != 0)
        return state_show_ended(rc);
    json_auto_t *matches = highstate_top(opts.high, errors);
    if (json_array_size(errors) > 0)
        return state_show_give_errors(ctx, json_incref(errors), ret_value);
    json_auto_t *avail = highstate_avail(opts.high, err);
    if (avail == NULL)
        return err->code;
    *ret_value = json_object();
    json_object_foreach (avail, saltenv, list) {
        json_t *used = json_array(), *unused = json_array();
        json_array_foreach (list, i, sls) {
            bool is = value_lists(json_object_get(matches, saltenv), json_string_value(sls));
            json_array_append(is ? used : unused, sls);
        }
        json_t *usage = json_pack("{s:o, s:o, s:I, s:I, s:I}", "used", used, "unused", unused, "count_all",
                                  (json_int_t) json_array_size(list), "count_used",
                                  (json_int_t) json_array_size(used), "count_unused",
                                  (json_int_t) json_array_size(unused));
        json_object_set_new(*ret_value, saltenv, usage);
    }
    return 0;
}

/* As show_highstate for the SLS named, in the environment of the call, or base. */
static int
state_show_sls(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    stateopts_auto_t opts = { 0 };
    json_auto_t *errors = json_array();
    int rc = state_show_begin(&opts, ctx, args, "base", ret_value, err);

    if (rc != 0)
        return state_show_ended(rc);
    AUTO(py) high = state_show_render_mods(&opts, args, errors);
    if (json_array_size(errors) > 0)
        return state_show_give_errors(ctx, json_incref(errors), ret_value);
    return give_py(high, ret_value, err);
}

/* The chunks of the SLS named, in the order in which they would run. */
static int
state_show_low_sls(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    stateopts_auto_t opts = { 0 };
    json_auto_t *errors = json_array();
    high_env_t env = { 0 };
    int rc = state_show_begin(&opts, ctx, args, "base", ret_value, err);

    if (rc != 0)
        return state_show_ended(rc);
    AUTO(py) high = state_show_render_mods(&opts, args, errors);
    json_auto_t *chunks = json_array_size(errors) == 0 ? high_compile(high, &env, errors) : NULL;
    if (json_array_size(errors) > 0)
        return state_show_give_errors(ctx, json_incref(errors), ret_value);
    *ret_value = json_incref(chunks);
    return 0;
}

/* Whether they can be rendered: an SLS with an error in it "does not exist", which is how Salt tells. */
static int
state_sls_exists(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *shown = NULL;
    int rc = state_show_sls(ctx, args, &shown, err);

    if (rc == 0)
        *ret_value = json_boolean(json_is_object(shown));
    return rc;
}

/* True when the SLS have all of the IDs. Errors of the rendering are the job's error here. */
static int
state_id_exists(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *chunks = NULL;
    json_auto_t *ids = stateopts_split(json_object_get(args, "ids"));
    json_auto_t *found = json_object();
    json_t *item;
    size_t i;
    int rc = state_show_low_sls(ctx, args, &chunks, err);

    if (rc < 0)
        return rc;
    json_array_foreach (chunks, i, item) {
        if (json_is_string(item))
            return fail_kind(err, FAIL_COMMAND, -EINVAL, "%s", json_string_value(item));
        json_object_set_new(found, value_str(item, "__id__", ""), json_true());
    }
    bool all = true;
    json_array_foreach (ids, i, item)
        all = all && json_is_string(item) && json_object_get(found, json_string_value(item)) != NULL;
    *ret_value = json_boolean(all);
    return 0;
}

/* ---- table ----------------------------------------------------------------------------------- */

#define QUEUE ARG("queue", ARG_ANY, "null", "Wait for other state runs instead of refusing")
#define TEST  ARG("test", ARG_ANY, "null", "As if in test mode")
#define KWARGS                                                                                               \
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "saltenv, pillarenv, pillar, force, concurrent", STATE_APPLY_WORDS)

static const arg_t show_args[] = { QUEUE, KWARGS, ARGS_END };
static const arg_t mods_args[] = { ARG("mods", ARG_ANY, ARG_REQUIRED, "SLS, with commas or as a list"), TEST,
                                   QUEUE, KWARGS, ARGS_END };
static const arg_t id_args[] = { ARG("ids", ARG_ANY, ARG_REQUIRED, "IDs, with commas or as a list"),
                                 ARG("mods", ARG_ANY, ARG_REQUIRED, "SLS, with commas or as a list"),
                                 TEST,
                                 QUEUE,
                                 KWARGS,
                                 ARGS_END };

static const func_t funcs[] = {
    { "id_exists", state_id_exists, id_args, FN_READONLY,
      "Whether SLS have states with certain IDs.\n\nids\n    What to look for.\n\nmods\n    "
      "Where." CLI_EXAMPLE("salt '*' state.id_exists app_config,app_service web saltenv=dev") },
    { "show_highstate", state_show_highstate, show_args, FN_READONLY | FN_PEER_FILES,
      "The high data of this minion's top file: every SLS rendered and put together, nothing "
      "run." CLI_EXAMPLE("salt '*' state.show_highstate\n    salt '*' state.show_highstate "
                         "pillar='{\"version\": 3}'") },
    { "show_low_sls", state_show_low_sls, mods_args, FN_READONLY | FN_PEER_FILES,
      "The low chunks of SLS in their order, before extend and the requisites' _in forms are worked in.\n\n"
      "mods\n    SLS to show; `base` is their environment unless `saltenv` says another." CLI_EXAMPLE(
          "salt '*' state.show_low_sls web\n    salt '*' state.show_low_sls web saltenv=dev") },
    { "show_lowstate", state_show_lowstate, show_args, FN_READONLY | FN_PEER_FILES,
      "The low chunks that a highstate would run, in their order." CLI_EXAMPLE(
          "salt '*' state.show_lowstate") },
    { "show_sls", state_show_sls, mods_args, FN_READONLY | FN_PEER_FILES,
      "The high data of SLS, with what they include.\n\nmods\n    SLS to show; `base` is their environment "
      "unless `saltenv` says another." CLI_EXAMPLE("salt '*' state.show_sls core,edit.vim saltenv=dev") },
    { "show_state_usage", state_show_state_usage, show_args, FN_READONLY | FN_PEER_FILES,
      "Which SLS of each environment the top file gives this minion, and which not." CLI_EXAMPLE(
          "salt '*' state.show_state_usage") },
    { "show_states", state_show_states, show_args, FN_READONLY | FN_PEER_FILES,
      "The SLS that a highstate would run, in the order of their first state." CLI_EXAMPLE(
          "salt '*' state.show_states") },
    { "show_top", state_show_top, show_args, FN_READONLY | FN_PEER_FILES,
      "What the top file gives this minion, by environment." CLI_EXAMPLE("salt '*' state.show_top") },
    { "sls_exists", state_sls_exists, mods_args, FN_READONLY,
      "Whether SLS are there and compile.\n\nmods\n    SLS to look for." CLI_EXAMPLE(
          "salt '*' state.sls_exists core,edit.vim saltenv=dev") },
};

PLUGIN(exec, state_show, .provides = "state", .doc = "State runs, and what they are made from", FUNCS(funcs));
