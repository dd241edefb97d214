/* postgres_group.c - state module `postgres_group`: roles that others are members of. */
#include "plugins/lib/database/pgconn.h"
#include "plugins/lib/database/pgrolestate.h"
#include "plugins/lib/database/pgrows.h"

static const arg_t present_args[] = {
    PG_ROW_NAME("group"),
    PG_ROWS_RIGHTS,
    ARG("password", ARG_ANY, "null", "The password, or what the server keeps of it"),
    ARG("refresh_password", ARG_ANY, "null", "Set the password without a look at what the server keeps"),
    PG_ROW_GROUPS,
    PG_ROWS_STATE,
    ARGS_END,
};
static const arg_t absent_args[] = { PG_ROW_NAME("group"), PG_ROWS_STATE, ARGS_END };

static const func_t funcs[] = {
    { "absent", pgrole_absent, absent_args, 0, "The group is not there.", .data.text = "group" },
    { "present", pgrole_present, present_args, 0, "The group is there, with these rights and groups.",
      .data.text = "group" },
};

PLUGIN(state, postgres_group, .doc = "Groups of PostgreSQL", FUNCS(funcs), .unavailable = pg_states_missing);
