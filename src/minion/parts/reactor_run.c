/* reactor_run.c - see reactor_run.h. A reaction that fails is logged and skips those that require it. */
#include "minion/parts/reactor_run.h"

#include "common/base/str.h"
#include "common/reactor/reaction.h"
#include "salt/log.h"
#include "salt/value.h"

/* Logs an error with the place in the file. */
static void
reactor_run_say(const json_t *where, const char *text)
{
    AUTO_FREE char *line = value_int(where, "line", 0) > 0
                               ? xasprintf(", line %d", (int) value_int(where, "line", 0))
                               : xstrdup("");
    AUTO_FREE char *id = *value_str(where, "id", "") ? xasprintf(", %s", value_str(where, "id", ""))
                                                     : xstrdup("");
    log_error("reactor: %s%s%s: %s", value_str(where, "file", ""), line, id, text);
}

/* False when the reaction is broken or one that it requires failed. */
static bool
may_run(const json_t *reaction, const bool *failed)
{
    json_t *index;
    size_t i;
    if (value_bool(reaction, "broken", false))
        return false;
    json_array_foreach (value_get(reaction, "require"), i, index)
        if (failed[json_integer_value(index)]) {
            reactor_run_say(reaction, "not run: what it requires failed");
            return false;
        }
    return true;
}

/* Calls one reaction's function; true when it succeeded. Its value goes to `out` under its ID. */
static bool
reactor_run_call(call_ctx_t *ctx, const json_t *reaction, json_t *out)
{
    fail_auto_t err = FAIL_INIT;
    json_t *value = NULL;
    ctx_set_retcode(ctx, 0);
    int rc = ctx_call(ctx, value_str(reaction, "fun", ""), value_get(reaction, "arg"),
                      value_get(reaction, "kwarg"), &value, &err);
    if (rc < 0)
        reactor_run_say(reaction, fail_text(&err));
    else
        json_object_set_new(out, value_str(reaction, "id", ""), value);
    return rc >= 0 && ctx_retcode(ctx) == 0;
}

/* NEW array of indices: each reaction after those it requires, else in the file's order. O(n^2) at worst; a
 * broken one is placed at once, as it does not run. Reactions in a cycle are left out. */
static json_t *
reactor_run_in_order(const json_t *list)
{
    size_t n = json_array_size(list), i, k;
    AUTO_FREE bool *placed = xcalloc(n + 1, sizeof(bool));
    json_t *order = json_array(), *index;
    for (bool moved = true; moved;) {
        moved = false;
        for (i = 0; i < n; i++) {
            bool ready = !placed[i];
            const json_t *one = json_array_get(list, i);
            if (!value_bool(one, "broken", false))
                json_array_foreach (value_get(one, "require"), k, index)
                    ready = ready && placed[json_integer_value(index)];
            if (!ready)
                continue;
            placed[i] = moved = true;
            json_array_append_new(order, json_integer((json_int_t) i));
        }
    }
    return order;
}

json_t *
reactor_run(call_ctx_t *ctx, const json_t *firing, int *ret_failed)
{
    reaction_env_t env = { ctx, ctx_files(ctx), render_of(ctx), NULL, NULL };
    json_auto_t *errors = json_array();
    json_auto_t *list = reaction_list(&env, firing, errors);
    json_auto_t *order = reactor_run_in_order(list);
    AUTO_FREE bool *failed = xcalloc(json_array_size(list) + 1, sizeof(bool));
    json_t *out = json_object(), *one;
    size_t i;
    *ret_failed = (int) json_array_size(errors);
    json_array_foreach (errors, i, one)
        reactor_run_say(one, value_str(one, "error", ""));
    json_array_foreach (order, i, one) {
        size_t at = (size_t) json_integer_value(one);
        const json_t *reaction = json_array_get(list, at);
        failed[at] = !may_run(reaction, failed) || !reactor_run_call(ctx, reaction, out);
        *ret_failed += failed[at];
    }
    return out;
}
