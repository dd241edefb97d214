/* postgres_database.c - state module `postgres_database`: databases with owner and tablespace. Encoding and
 * locale are fixed when a database is made: other ones fail the state. */
#include "common/base/str.h"
#include "plugins/lib/database/dbabsent.h"
#include "plugins/lib/database/pgconn.h"
#include "plugins/lib/database/pgrows.h"

/* True when the argument is not given, or what the database has. */
static bool
is_so(const json_t *args, const char *arg, const json_t *db, const char *key)
{
    const char *want = value_str(args, arg, NULL), *have = value_str(db, key, "");

    return str_empty(want) || strcmp(want, have) == 0;
}

/* Encoding and locale are fixed when a database is made; only tablespace and owner can be changed later. */
static int
postgres_database_present_in(dbstate_t *s)
{
    const char *name = value_str(s->args, "name", ""), *encoding = value_str(s->args, "encoding", "");
    json_auto_t *all = dbstate_call(s, "postgres.db_list", "{}");
    json_t *db = value_get(all, name);

    if (all == NULL)
        return s->err->code;
    bool fixed = db == NULL ||
                 ((*encoding == '\0' || strcasecmp(encoding, value_str(db, "Encoding", "")) == 0) &&
                  is_so(s->args, "lc_collate", db, "Collate") && is_so(s->args, "lc_ctype", db, "Ctype"));
    if (!fixed)
        return state_ret_set(s->ret, STATE_FALSE,
                             "Database %s has wrong parameters which couldn't be changed on fly.", name);
    if (db != NULL && is_so(s->args, "tablespace", db, "Tablespace") && is_so(s->args, "owner", db, "Owner"))
        return state_ret_set(s->ret, STATE_TRUE, "Database %s is already present", name);
    state_change(s->ret, name, json_string(db == NULL ? "Present" : "Parameters changed"));
    if (ctx_test(s->ctx))
        return db == NULL ? state_ret_set(s->ret, STATE_NONE, "Database %s is set to be created", name)
                          : state_ret_set(s->ret, STATE_NONE,
                                          "Database %s exists, but parameters need to be changed", name);
    json_t *args = s->args;
    int done = db == NULL
                   ? dbstate_ask(s, "postgres.db_create", "{s:s, s:O, s:O, s:O, s:O, s:O, s:O}", "name", name,
                                 "tablespace", value_get(args, "tablespace"), "encoding",
                                 value_get(args, "encoding"), "lc_collate", value_get(args, "lc_collate"),
                                 "lc_ctype", value_get(args, "lc_ctype"), "owner", value_get(args, "owner"),
                                 "template", value_get(args, "template"))
                   : dbstate_ask(s, "postgres.db_alter", "{s:s, s:O, s:O, s:O}", "name", name, "tablespace",
                                 value_get(args, "tablespace"), "owner", value_get(args, "owner"),
                                 "owner_recurse", value_get(args, "owner_recurse"));
    /* The change was told beforehand, as the test has it; a failure changes nothing. */
    if (done <= 0)
        state_change_set(s->ret, json_object());
    if (done == 0)
        return db == NULL
                   ? state_ret_set(s->ret, STATE_FALSE, "Failed to create database %s", name)
                   : state_ret_set(s->ret, STATE_FALSE, "Failed to change parameters for database %s", name);
    if (done < 0)
        return done;
    return db == NULL
               ? state_ret_set(s->ret, STATE_TRUE, "The database %s has been created", name)
               : state_ret_set(s->ret, STATE_TRUE, "Parameters for database %s have been changed", name);
}

static int
postgres_database_state_present(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    dbstate_t s;

    dbstate_postgres(&s, ctx, args, *ret_value = state_ret_args(args), err);
    int rc = postgres_database_present_in(&s);
    return dbstate_end(&s, rc);
}

static int
postgres_database_state_absent(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const dbabsent_t texts = { .exists = "postgres.db_exists",
                                      .remove = "postgres.db_remove",
                                      .what = "Database",
                                      .set = "is set to be removed",
                                      .gone = "has been removed",
                                      .missing = "is not present, so it cannot be removed",
                                      .stays = "failed to be removed" };
    dbstate_t s;

    dbstate_postgres(&s, ctx, args, *ret_value = state_ret_args(args), err);
    int rc = dbabsent_run(&s, &texts, NULL);
    return dbstate_end(&s, rc);
}

static const arg_t present_args[] = {
    PG_ROW_NAME("database"),
    ARG("tablespace", ARG_STR, "null", "Its tablespace"),
    ARG("encoding", ARG_STR, "null", "Its encoding"),
    ARG("lc_collate", ARG_STR, "null", "Its order of texts"),
    ARG("lc_ctype", ARG_STR, "null", "Its classes of characters"),
    ARG("owner", ARG_STR, "null", "Role that owns it"),
    ARG("owner_recurse", ARG_ANY, "false", "And all that is in it, when the owner changes"),
    ARG("template", ARG_STR, "null", "Database that it is copied from"),
    PG_ROWS_STATE,
    ARGS_END,
};
static const arg_t absent_args[] = { PG_ROW_NAME("database"), PG_ROWS_STATE, ARGS_END };

static const func_t funcs[] = {
    { "absent", postgres_database_state_absent, absent_args, 0, "The database is not there." },
    { "present", postgres_database_state_present, present_args, 0,
      "The database is there, with this owner." },
};

PLUGIN(state, postgres_database, .doc = "Databases of PostgreSQL", FUNCS(funcs),
       .unavailable = pg_states_missing);
