/* postgres_user.c - state module `postgres_user`: roles that may log in. */
#include "plugins/lib/database/pgconn.h"
#include "plugins/lib/database/pgrolestate.h"
#include "plugins/lib/database/pgrows.h"

static const arg_t present_args[] = {
    PG_ROW_NAME("user"),
    PG_ROWS_RIGHTS,
    ARG("password", ARG_ANY, "null", "The password, or what the server keeps of it"),
    ARG("default_password", ARG_ANY, "null", "The password of a new user, where no other is given"),
    ARG("refresh_password", ARG_ANY, "null", "Set the password without a look at what the server keeps"),
    PG_ROW_UNTIL,
    PG_ROW_GROUPS,
    PG_ROWS_STATE,
    ARGS_END,
};
static const arg_t absent_args[] = { PG_ROW_NAME("user"), PG_ROWS_STATE, ARGS_END };

static const func_t funcs[] = {
    { "absent", pgrole_absent, absent_args, 0, "The user is not there.", .data.text = "user" },
    { "present", pgrole_present, present_args, 0, "The user is there, with these rights and groups.",
      .data.text = "user" },
};

PLUGIN(state, postgres_user, .doc = "Users of PostgreSQL", FUNCS(funcs), .unavailable = pg_states_missing);
