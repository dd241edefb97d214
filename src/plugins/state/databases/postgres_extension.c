/* postgres_extension.c - state module `postgres_extension`: extensions of a database.
 * postgres.create_metadata answers a list: that the extension is installed or not, and what differs in
 * version and schema; a single entry for an installed one is no difference. */
#include "plugins/lib/database/dbabsent.h"
#include "plugins/lib/database/pgconn.h"
#include "plugins/lib/database/pgrows.h"

/* The module says what there is to do as a list of words: not installed, another schema, another version. */
static int
postgres_extension_present_in(dbstate_t *s)
{
    static const char *const verbs[2][3] = { { "install", "installed", "Installed" },
                                             { "upgrade", "upgraded", "Upgraded" } };
    const char *name = value_str(s->args, "name", "");
    json_t *args = s->args;
    json_auto_t *told = dbstate_call(s, "postgres.create_metadata", "{s:s, s:O, s:O}", "name", name, "schema",
                                     value_get(args, "schema"), "ext_version",
                                     value_get(args, "ext_version"));

    if (told == NULL)
        return s->err->code;
    bool missing = value_lists(told, "EXTENSION NOT INSTALLED");
    if (!missing && json_array_size(told) == 1)
        return state_ret_set(s->ret, STATE_TRUE, "Extension %s is already present", name);
    const char *const *verb = verbs[missing ? 0 : 1];
    if (!ctx_test(s->ctx)) {
        int done = dbstate_ask(s, "postgres.create_extension", "{s:s, s:O, s:O, s:O, s:O}", "name", name,
                               "if_not_exists", value_get(args, "if_not_exists"), "schema",
                               value_get(args, "schema"), "ext_version", value_get(args, "ext_version"),
                               "from_version", value_get(args, "from_version"));
        if (done < 0)
            return done;
        if (done == 0)
            return state_ret_set(s->ret, STATE_FALSE, "Failed to %s extension %s", verb[0], name);
    }
    state_change(s->ret, name, json_string(verb[2]));
    return ctx_test(s->ctx)
               ? state_ret_set(s->ret, STATE_NONE, "Extension %s is set to be %s", name, verb[1])
               : state_ret_set(s->ret, STATE_TRUE, "The extension %s has been %s", name, verb[1]);
}

static int
postgres_extension_state_present(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    dbstate_t s;

    dbstate_postgres(&s, ctx, args, *ret_value = state_ret_args(args), err);
    int rc = postgres_extension_present_in(&s);
    return dbstate_end(&s, rc);
}

/* Objects that depend on the extension keep it, unless `cascade` is set. */
static int
postgres_extension_absent_in(dbstate_t *s)
{
    const char *name = value_str(s->args, "name", "");
    int there = dbstate_ask(s, "postgres.is_installed_extension", "{s:s}", "name", name);

    if (there < 0)
        return there;
    if (there == 0)
        return state_ret_set(s->ret, STATE_TRUE, "Extension %s is not present, so it cannot be removed",
                             name);
    if (!ctx_test(s->ctx)) {
        int done = dbstate_ask(s, "postgres.drop_extension", "{s:s, s:O, s:O, s:O}", "name", name,
                               "if_exists", value_get(s->args, "if_exists"), "restrict",
                               value_get(s->args, "restrict"), "cascade", value_get(s->args, "cascade"));
        if (done < 0)
            return done;
        if (done == 0)
            return state_ret_set(s->ret, STATE_FALSE, "Extension %s failed to be removed", name);
    }
    state_change(s->ret, name, json_string("Absent"));
    return ctx_test(s->ctx) ? state_ret_set(s->ret, STATE_NONE, "Extension %s is set to be removed", name)
                            : state_ret_set(s->ret, STATE_TRUE, "Extension %s has been removed", name);
}

static int
postgres_extension_state_absent(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    dbstate_t s;

    dbstate_postgres(&s, ctx, args, *ret_value = state_ret_args(args), err);
    int rc = postgres_extension_absent_in(&s);
    return dbstate_end(&s, rc);
}

static const arg_t present_args[] = { PG_ROW_NAME("extension"), PG_ROWS_EXTENSION, PG_ROWS_STATE, ARGS_END };
static const arg_t absent_args[] = { PG_ROW_NAME("extension"), PG_ROWS_DROP, PG_ROWS_STATE, ARGS_END };

static const func_t funcs[] = {
    { "absent", postgres_extension_state_absent, absent_args, 0, "The extension is not installed." },
    { "present", postgres_extension_state_present, present_args, 0,
      "The extension is installed, in this version and schema." },
};

PLUGIN(state, postgres_extension, .doc = "Extensions of PostgreSQL's databases", FUNCS(funcs),
       .unavailable = pg_states_missing);
