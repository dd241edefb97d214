/* postgres_schema.c - state module `postgres_schema`: schemas of a database. Salt's return has the database
 * beside the name, and its functions name the access to the server otherwise than those of other states. */
#include "plugins/lib/database/dbabsent.h"
#include "plugins/lib/database/pgconn.h"
#include "plugins/lib/database/pgrows.h"

/* The return with the key "dbname". NEW. */
static json_t *
schema_ret(const json_t *args)
{
    json_t *ret = state_ret_args(args);

    json_object_set(ret, "dbname", value_get(args, "dbname"));
    return ret;
}

/* A schema that is there is enough: its owner is not compared. */
static int
postgres_schema_present_in(dbstate_t *s)
{
    const char *name = value_str(s->args, "name", ""), *db = value_str(s->args, "dbname", "");
    json_auto_t *schema = dbstate_call(s, "postgres.schema_get", "{s:s}", "name", name);

    if (schema == NULL)
        return s->err->code;
    if (!json_is_null(schema))
        return state_ret_set(s->ret, STATE_TRUE, "Schema %s already exists in database %s", name, db);
    if (!ctx_test(s->ctx)) {
        int done = dbstate_ask(s, "postgres.schema_create", "{s:s, s:O}", "name", name, "owner",
                               value_get(s->args, "owner"));
        if (done < 0)
            return done;
        if (done == 0)
            return state_ret_set(s->ret, STATE_FALSE, "Failed to create schema %s in database %s", name, db);
    }
    state_change(s->ret, name, json_string("Present"));
    return ctx_test(s->ctx)
               ? state_ret_set(s->ret, STATE_NONE, "Schema %s is set to be created in database %s.", name, db)
               : state_ret_set(s->ret, STATE_TRUE, "Schema %s has been created in database %s", name, db);
}

static int
postgres_schema_state_present(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    dbstate_t s;

    dbstate_schema(&s, ctx, args, *ret_value = schema_ret(args), err);
    int rc = postgres_schema_present_in(&s);
    return dbstate_end(&s, rc);
}

static int
postgres_schema_state_absent(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *db = value_str(args, "dbname", "");
    AUTO_FREE char *set = xasprintf("is set to be removed from database %s", db),
                   *gone = xasprintf("has been removed from database %s", db),
                   *missing = xasprintf("is not present in database %s, so it cannot be removed", db);
    const dbabsent_t texts = { .exists = "postgres.schema_exists",
                               .remove = "postgres.schema_remove",
                               .what = "Schema",
                               .set = set,
                               .gone = gone,
                               .missing = missing,
                               .stays = "failed to be removed" };
    dbstate_t s;

    dbstate_schema(&s, ctx, args, *ret_value = schema_ret(args), err);
    int rc = dbabsent_run(&s, &texts, NULL);
    return dbstate_end(&s, rc);
}

#define SCHEMA_ROWS ARG("dbname", ARG_STR, ARG_REQUIRED, "Name of the database"), PG_ROW_NAME("schema")

static const arg_t present_args[] = { SCHEMA_ROWS, ARG("owner", ARG_STR, "null", "Role that owns it"),
                                      PG_ROW_USER, PG_ROWS_DB, ARGS_END };
static const arg_t absent_args[] = { SCHEMA_ROWS, PG_ROW_USER, PG_ROWS_DB, ARGS_END };

static const func_t funcs[] = {
    { "absent", postgres_schema_state_absent, absent_args, 0, "The schema is not there." },
    { "present", postgres_schema_state_present, present_args, 0, "The schema is there." },
};

PLUGIN(state, postgres_schema, .doc = "Schemas of PostgreSQL's databases", FUNCS(funcs),
       .unavailable = pg_states_missing);
