/* postgres_privileges.c - state module `postgres_privileges`: what roles may do with objects. The privileges
 * of a role in a group are the group itself, so that for the type `group` comments name the object in the
 * privileges' place. */
#include "plugins/lib/database/dbstate.h"
#include "plugins/lib/database/pgconn.h"
#include "plugins/lib/database/pgrows.h"

/* Arguments of the module's functions; privileges are a list here and a text there. NEW. */
static json_t *
privileges_call(const json_t *args)
{
    static const char *const names[] = { "name", "object_name", "object_type", "grant_option", "prepend" };
    json_t *list = value_get(args, "privileges"), *call = json_object();

    for (size_t i = 0; i < NELEMS(names); i++) {
        if (value_get(args, names[i]) != NULL)
            json_object_set(call, names[i], value_get(args, names[i]));
    }
    AUTO_FREE char *text = value_truthy(list) ? value_joined(list, ",") : NULL;
    json_object_set_new(call, "privileges", text != NULL ? json_string(text) : json_null());
    return call;
}

/* Membership in a group counts as a privilege here: the group is its object. */
static int
privileges_in(dbstate_t *s, bool present)
{
    const char *name = value_str(s->args, "name", ""), *type = value_str(s->args, "object_type", "");
    json_auto_t *call = privileges_call(s->args);
    int there = dbstate_ask_with(s, "postgres.has_privileges", call);

    if (there < 0)
        return there;
    if ((there > 0) == present)
        return state_ret_set(s->ret, STATE_TRUE,
                             present ? "The requested privilege(s) are already set"
                                     : "The requested privilege(s) are not set so cannot be revoked");
    const char *which = strcasecmp(type, "group") == 0 ? value_str(s->args, "object_name", "")
                                                       : value_str(call, "privileges", "None");
    const char *did = present ? "granted to" : "revoked from";
    if (!ctx_test(s->ctx)) {
        int done = dbstate_ask_with(s, present ? "postgres.privileges_grant" : "postgres.privileges_revoke",
                                    call);
        if (done < 0)
            return done;
        if (done == 0)
            return state_ret_set(s->ret, STATE_FALSE, "Failed to %s privilege(s): %s %s %s",
                                 present ? "grant" : "revoke", which, present ? "to" : "from", name);
    }
    state_change(s->ret, name, json_string(present ? "Present" : "Absent"));
    return ctx_test(s->ctx)
               ? state_ret_set(s->ret, STATE_NONE, "The privilege(s): %s are set to be %s %s", which, did,
                               name)
               : state_ret_set(s->ret, STATE_TRUE, "The privilege(s): %s have been %s %s", which, did, name);
}

static int
privileges_run(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    dbstate_t s;

    dbstate_postgres(&s, ctx, args, *ret_value = state_ret_args(args), err);
    int rc = privileges_in(&s, ctx_row(ctx)->data.number != 0);
    return dbstate_end(&s, rc);
}

#define ROW_PRIVILEGES ARG("privileges", ARG_ANY, "null", "Privileges: a list; ALL for all")

static const arg_t present_args[] = {
    PG_ROWS_OBJECT, ROW_PRIVILEGES, ARG("grant_option", ARG_ANY, "null", "The role may grant them to others"),
    PG_ROW_PREPEND, PG_ROWS_STATE,  ARGS_END
};
static const arg_t absent_args[] = { PG_ROWS_OBJECT, ROW_PRIVILEGES, PG_ROW_PREPEND, PG_ROWS_STATE,
                                     ARGS_END };

static const func_t funcs[] = {
    { "absent", privileges_run, absent_args, 0, "The role does not have the privileges.", .data.number = 0 },
    { "present", privileges_run, present_args, 0, "The role has the privileges.", .data.number = 1 },
};

PLUGIN(state, postgres_privileges, .doc = "Privileges of PostgreSQL's roles", FUNCS(funcs),
       .unavailable = pg_states_missing);
