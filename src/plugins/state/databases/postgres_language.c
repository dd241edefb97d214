/* postgres_language.c - state module `postgres_language`: procedural languages of a database (CREATE
 * LANGUAGE). Removal is that of all such states (plugins/lib/database/dbabsent.h). */
#include "plugins/lib/database/dbabsent.h"
#include "plugins/lib/database/pgconn.h"
#include "plugins/lib/database/pgrows.h"

static int
postgres_language_present_in(dbstate_t *s)
{
    const char *name = value_str(s->args, "name", "");
    int there = dbstate_ask(s, "postgres.language_exists", "{s:s}", "name", name);

    if (there < 0)
        return there;
    if (there > 0)
        return state_ret_set(s->ret, STATE_TRUE, "Language %s is already installed", name);
    if (!ctx_test(s->ctx)) {
        int done = dbstate_ask(s, "postgres.language_create", "{s:s}", "name", name);
        if (done < 0)
            return done;
        if (done == 0)
            return state_ret_set(s->ret, STATE_FALSE, "Failed to install language %s", name);
    }
    state_change(s->ret, name, json_string("Present"));
    return ctx_test(s->ctx) ? state_ret_set(s->ret, STATE_NONE, "Language %s is set to be installed", name)
                            : state_ret_set(s->ret, STATE_TRUE, "Language %s has been installed", name);
}

/* Both states; the row's number says which. */
static int
language_run(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const dbabsent_t texts = { .exists = "postgres.language_exists",
                                      .remove = "postgres.language_remove",
                                      .what = "Language",
                                      .set = "is set to be removed",
                                      .gone = "has been removed",
                                      .missing = "is not present so it cannot be removed",
                                      .stays = "failed to be removed" };
    dbstate_t s;

    dbstate_postgres(&s, ctx, args, *ret_value = state_ret_args(args), err);
    int rc = ctx_row(ctx)->data.number ? postgres_language_present_in(&s) : dbabsent_run(&s, &texts, NULL);
    return dbstate_end(&s, rc);
}

static const arg_t language_args[] = { PG_ROW_NAME("language"),
                                       ARG("maintenance_db", ARG_STR, ARG_REQUIRED, "Database that it is in"),
                                       PG_ROW_USER, PG_ROWS_DB, ARGS_END };

static const func_t funcs[] = {
    { "absent", language_run, language_args, 0, "The language is not there.", .data.number = 0 },
    { "present", language_run, language_args, 0, "The language is there.", .data.number = 1 },
};

PLUGIN(state, postgres_language, .doc = "Languages of PostgreSQL's databases", FUNCS(funcs),
       .unavailable = pg_states_missing);
