/* postgres_initdb.c - state module `postgres_initdb`: folders of data, made by initdb(1). A folder counts as
 * initialized when it has the file PG_VERSION; its contents are not compared. */
#include "plugins/lib/call/subcall.h"
#include "plugins/lib/database/pgrows.h"
#include "salt/state.h"

/* A folder with a PG_VERSION in it is a data directory; its options are not compared. */
static int
postgres_initdb_state_present(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = value_str(args, "name", "");
    json_t *ret = *ret_value = state_ret_args(args);
    int there = sub_call_bool(ctx, err, "postgres.datadir_exists", "{s:s}", "name", name);

    if (there < 0)
        return there;
    if (there > 0)
        return state_ret_set(ret, STATE_TRUE, "Postgres data directory %s is already present", name);
    if (!ctx_test(ctx)) {
        json_t *made = NULL;
        if (ctx_call(ctx, "postgres.datadir_init", NULL, args, &made, err) < 0)
            return err->code;
        bool done = value_truthy(made);
        json_decref(made);
        if (!done)
            return state_ret_set(ret, STATE_FALSE, "Postgres data directory %s initialization failed", name);
    }
    state_change(ret, name, json_string("Present"));
    return ctx_test(ctx)
               ? state_ret_set(ret, STATE_NONE, "Postgres data directory %s is set to be initialized", name)
               : state_ret_set(ret, STATE_TRUE, "Postgres data directory %s has been initialized", name);
}

static const arg_t present_args[] = { PG_ROW_NAME("folder"), PG_ROWS_INITDB_AUTH, PG_ROWS_INITDB, ARGS_END };

static const func_t funcs[] = {
    { "present", postgres_initdb_state_present, present_args, 0, "The folder has been initialized." },
};

PLUGIN(state, postgres_initdb, .doc = "Folders of PostgreSQL's data", FUNCS(funcs));
