/* mysql_grants.c - state module `mysql_grants`: what users may do in databases, by the functions of `mysql`,
 * which compare a grant with SHOW GRANTS. The name of the state is any text and the key of its changes. */
#include "common/base/str.h"
#include "plugins/lib/database/dbstate.h"
#include "plugins/lib/database/mysqlconn.h"
#include "plugins/lib/database/mysqlrows.h"

/* The request of the SLS. */
typedef struct grants {
    dbstate_t s;
    char *grant; /* owned: a list is joined by commas */
    const char *database, *user, *host;
} grants_t;

/* Arguments of a function about the grant. NEW. */
static json_t *
grant_call(const grants_t *g, const char *privileges)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:O, s:O}", "grant", privileges, "database", g->database, "user",
                     g->user, "host", g->host, "grant_option", value_get(g->s.args, "grant_option"), "escape",
                     value_get(g->s.args, "escape"));
}

/* Whether the user has the grant already: 1, 0 or negative. 0 is also the answer of a server that could not
 * be asked. */
static int
grant_there(grants_t *g)
{
    json_auto_t *more = grant_call(g, g->grant);

    return dbstate_ask_with(&g->s, "mysql.grant_exists", more);
}

/* Revokes all that the user has on the database of the grant. 0 or negative. */
static int
revoke_all(grants_t *g)
{
    json_auto_t *lines = dbstate_call(&g->s, "mysql.user_grants", "{s:s, s:s}", "user", g->user, "host",
                                      g->host);
    const char *dot = strrchr(g->database, '.');
    AUTO_FREE char *db = dot != NULL ? xstrndup(g->database, (size_t) (dot - g->database)) : xstrdup("");
    json_t *line;
    size_t i;

    if (lines == NULL)
        return g->s.err->code;
    json_array_foreach (lines, i, line) {
        json_auto_t *tokens = dbstate_call(&g->s, "mysql.tokenize_grant", "{s:O}", "grant", line);
        if (tokens == NULL)
            return g->s.err->code;
        AUTO_FREE char *plain = str_replace(value_str(tokens, "database", ""), "`", "");
        AUTO_FREE char *place = str_replace(plain, "\\", "");
        AUTO_FREE char *privileges = value_joined(value_get(tokens, "grant"), ",");
        /* USAGE is no privilege, and can't be revoked. */
        if (strcmp(place, g->database) != 0 || strcmp(privileges, "USAGE") == 0)
            continue;
        json_auto_t *more = grant_call(g, privileges);
        if (dbstate_ask_with(&g->s, "mysql.grant_revoke", more) < 0)
            return g->s.err->code;
    }
    return 0;
}

/* With revoke_first all other grants of the user on the database go before the new one comes. */
static int
mysql_grants_present_in(grants_t *g)
{
    dbstate_t *s = &g->s;
    const char *name = value_str(s->args, "name", "");
    int there = grant_there(g);

    if (there < 0 || (there == 0 && dbstate_mysql_failed(s, NULL)))
        return there;
    if (there == 1)
        return state_ret_set(s->ret, STATE_TRUE, "Grant %s on %s to %s@%s is already present", g->grant,
                             g->database, g->user, g->host);
    if (!ctx_test(s->ctx)) {
        if (value_truthy(value_get(s->args, "revoke_first")) && revoke_all(g) < 0)
            return s->err->code;
        json_auto_t *more = grant_call(g, g->grant);
        json_object_set(more, "ssl_option", value_get(s->args, "ssl_option"));
        int done = dbstate_ask_with(s, "mysql.grant_add", more);
        AUTO_FREE char *text = xasprintf("Failed to execute: \"GRANT %s ON %s TO %s@%s\"", g->grant,
                                         g->database, g->user, g->host);
        if (done < 0 || (done == 0 && dbstate_mysql_failed(s, "%s", text)))
            return done;
        if (done == 0)
            return state_ret_set(s->ret, STATE_FALSE, "%s", text);
    }
    state_change(s->ret, name, json_string("Present"));
    return ctx_test(s->ctx) ? state_ret_set(s->ret, STATE_NONE, "MySQL grant %s is set to be created", name)
                            : state_ret_set(s->ret, STATE_TRUE, "Grant %s on %s to %s@%s has been added",
                                            g->grant, g->database, g->user, g->host);
}

static int
mysql_grants_absent_in(grants_t *g)
{
    dbstate_t *s = &g->s;
    const char *name = value_str(s->args, "name", "");
    int there = grant_there(g);

    if (there < 0 ||
        (there == 0 && dbstate_mysql_failed(s, "Unable to determine if grant %s on %s for %s@%s exists",
                                            g->grant, g->database, g->user, g->host)))
        return there;
    if (there == 0)
        return state_ret_set(s->ret, STATE_TRUE,
                             "Grant %s on %s to %s@%s is not present, so it cannot be revoked", g->grant,
                             g->database, g->user, g->host);
    if (!ctx_test(s->ctx)) {
        json_auto_t *more = grant_call(g, g->grant);
        int done = dbstate_ask_with(s, "mysql.grant_revoke", more);
        AUTO_FREE char *text = xasprintf("Unable to revoke grant %s on %s for %s@%s", g->grant, g->database,
                                         g->user, g->host);
        if (done < 0 || (done == 0 && dbstate_mysql_failed(s, "%s", text)))
            return done;
        if (done == 0)
            return state_ret_set(s->ret, STATE_FALSE, "%s", text);
    }
    state_change(s->ret, name, json_string("Absent"));
    return ctx_test(s->ctx) ? state_ret_set(s->ret, STATE_NONE, "MySQL grant %s is set to be revoked", name)
                            : state_ret_set(s->ret, STATE_TRUE, "Grant %s on %s for %s@%s has been revoked",
                                            g->grant, g->database, g->user, g->host);
}

/* Both states, with the arguments checked that Salt's own functions would fail without. */
static int
grants_run(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const char *const needed[] = { "grant", "database", "user" };
    grants_t g = { .grant = value_joined(value_get(args, "grant"), ","),
                   .database = value_str(args, "database", ""),
                   .user = value_str(args, "user", ""),
                   .host = value_str(args, "host", "localhost") };
    int rc = 0;

    dbstate_mysql(&g.s, ctx, args, *ret_value = state_ret_args(args), err);
    for (size_t i = 0; i < NELEMS(needed); i++) {
        if (rc == 0 && !value_truthy(value_get(args, needed[i])))
            rc = fail_kind(err, FAIL_INVOCATION, -EINVAL, "%s: a grant needs it, give a value", needed[i]);
    }
    if (rc == 0)
        rc = ctx_row(ctx)->data.number ? mysql_grants_present_in(&g) : mysql_grants_absent_in(&g);
    free(g.grant);
    return dbstate_end(&g.s, rc);
}

#define GRANTS_ROWS                                                                                          \
    ARG("name", ARG_STR, ARG_REQUIRED, "Any text"),                                                          \
        ARG("grant", ARG_ANY, "null", "Privileges, with commas between"),                                    \
        ARG("database", ARG_STR, "null", "DATABASE.TABLE, DATABASE.* or *.*"),                               \
        ARG("user", ARG_STR, "null", "Name of the user"), MYSQL_ROW_HOST, MYSQL_ROWS_GRANT

static const arg_t present_args[] = {
    GRANTS_ROWS,   ARG("revoke_first", ARG_ANY, "false", "Revoke first what the user has on the database"),
    MYSQL_ROW_SSL, MYSQL_ROW_ACCESS,
    ARGS_END,
};
static const arg_t absent_args[] = { GRANTS_ROWS, MYSQL_ROW_ACCESS, ARGS_END };

static const func_t funcs[] = {
    { "absent", grants_run, absent_args, 0, "The privileges are not granted.", .data.number = 0 },
    { "present", grants_run, present_args, 0, "The privileges are granted.", .data.number = 1 },
};

PLUGIN(state, mysql_grants, .doc = "Privileges of users of MySQL and MariaDB", FUNCS(funcs),
       .unavailable = mysqlconn_missing);
