/* state_graph.c - execution function state.graph: what the states of SLS files require of each other, as a
 * drawing. Salt has no such function; orchestrate.graph of the master is its like. */
#include "common/state/plan.h"
#include "plugins/lib/salt/statejob.h"
#include "plugins/lib/salt/stateopts.h"
#include "salt/plugin.h"

/* Errors of the compilation are the return. Edges are requisites, as the run would keep them. */
static int
state_graph(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    stateopts_auto_t opts = { 0 };
    json_auto_t *errors = json_array();
    high_env_t env = { .natives = true, .opts = ctx_opts(ctx) };
    int rc = stateopts_open_sound(&opts, ctx, value_get(args, "kwargs"), "base", err);

    if (rc < 0)
        return rc;
    env.from = opts.high;
    /* The SLS by environment: those that `mods` names, or the top file's. */
    json_t *mods = value_get(args, "mods");
    json_auto_t *matches = mods == NULL || json_is_null(mods)
                               ? highstate_top(opts.high, errors)
                               : json_pack("{s:o}", opts.saltenv, stateopts_split(mods));
    AUTO(py) high = highstate_render(opts.high, matches, errors);
    json_auto_t *chunks = high_to_low(high, &env, errors);
    if (json_array_size(errors) > 0) {
        ctx_set_retcode(ctx, STATE_COMPILER_ERROR);
        *ret_value = json_incref(errors);
        return 0;
    }
    AUTO(plan) plan = plan_new(chunks, NULL, false);
    AUTO_FREE char *text = plan_draw(plan, value_str(args, "format", "text"), err);
    if (text == NULL)
        return err->code;
    *ret_value = value_utf8(text, strlen(text));
    return 0;
}

static const arg_t graph_args[] = {
    ARG("mods", ARG_ANY, "null", "SLS, with commas or as a list; without them the top file's"),
    ARG("format", ARG_STR, "\"text\"", PLAN_FORMATS),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "saltenv, pillarenv, pillar, force",
        "saltenv pillarenv pillar pillar_enc force"),
    ARGS_END,
};

static const func_t funcs[] = {
    { "graph", state_graph, graph_args, FN_READONLY | FN_PEER_FILES,
      "Draw what the states of SLS require of each other, with the longest chain; nothing runs.\n\nmods\n    "
      "SLS to draw, with what they include; without them those of the top file.\n\nformat\n    text; dot, "
      "mermaid; or svg and html, which a browser shows." CLI_EXAMPLE(
          "salt web1 state.graph web\n    salt web1 state.graph format=html --out=newline_values_only "
          ">states.html") },
};

PLUGIN(exec, state_graph, .provides = "state", .doc = "State runs, and what they are made from",
       FUNCS(funcs));
