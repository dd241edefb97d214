/* mysql_user.c - state module `mysql_user`: users and their passwords, by the functions of `mysql`. Whether
 * the password is as wanted is asked of the server by its hash; a user with another authentication plugin
 * can't be compared. */
#include "plugins/lib/database/dbstate.h"
#include "plugins/lib/database/mysqlconn.h"
#include "plugins/lib/database/mysqlrows.h"

/* The request of the SLS: `passwordless` is no password given, `allowed` that this is meant, `by_socket` that
 * the operating system vouches for the user. */
typedef struct user {
    dbstate_t s;
    const char *name, *host;
    bool passwordless, allowed, by_socket;
} user_t;

/* mysql.user_exists: 1, 0, or negative. `with`: the password, or that there is none, has to be so too. */
static int
user_exists(user_t *u, bool with)
{
    dbstate_t *s = &u->s;
    json_auto_t *more = json_pack("{s:s, s:s, s:O}", "user", u->name, "host", u->host, "unix_socket",
                                  value_get(s->args, "unix_socket"));

    if (with) {
        json_object_set(more, "password_column", value_get(s->args, "password_column"));
        if (u->passwordless) {
            json_object_set_new(more, "passwordless", json_true());
        } else {
            json_object_set(more, "password", value_get(s->args, "password"));
            json_object_set(more, "password_hash", value_get(s->args, "password_hash"));
        }
    }
    return dbstate_ask_with(s, "mysql.user_exists", more);
}

/* Arguments of user_create and user_chpass. NEW. */
static json_t *
wanted(const user_t *u)
{
    static const char *const names[] = { "password", "password_hash", "allow_passwordless", "unix_socket",
                                         "password_column" };
    json_t *more = json_pack("{s:s, s:s}", "user", u->name, "host", u->host);

    for (size_t i = 0; i < NELEMS(names); i++)
        json_object_set(more, names[i], value_get(u->s.args, names[i]));
    return more;
}

/* Asks twice: for the user with this password, then for the user alone. */
static int
mysql_user_present_in(user_t *u)
{
    dbstate_t *s = &u->s;

    if (u->passwordless && !u->allowed && !u->by_socket)
        return state_ret_set(
            s->ret, STATE_FALSE,
            "Either password or password_hash must be specified, unless allow_passwordless is True");
    int there = user_exists(u, true);
    if (there < 0 || (there == 0 && dbstate_mysql_failed(s, NULL)))
        return there;
    if (there == 1) {
        /* The comment tells which way of logging in was compared. */
        json_t *ret = u->s.ret;
        const char *plugin = value_str(u->s.args, "auth_plugin", "");
        const char *how = "";
        if (u->passwordless)
            how = u->allowed ? " with passwordless login" : "";
        else if (strcmp(plugin, "mysql_native_password") != 0)
            how = ". Unable to verify password.";
        else
            how = value_truthy(value_get(u->s.args, "password")) ? " with the desired password"
                                                                 : " with the desired password hash";
        return state_ret_set(ret, STATE_TRUE, "User %s@%s is already present%s", u->name, u->host, how);
    }
    there = user_exists(u, false);
    if (there < 0 || (there == 0 && dbstate_mysql_failed(s, NULL)))
        return there;
    if (there == 1) {
        /* Gives a user who is there another password, or none. */
        const char *did = u->passwordless ? "cleared" : "changed";
        if (!ctx_test(s->ctx)) {
            json_auto_t *more = wanted(u);
            int done = dbstate_ask_with(s, "mysql.user_chpass", more);
            if (done < 0)
                return done;
            if (done == 0) {
                AUTO_FREE char *text = xasprintf("Failed to %s password for user %s@%s",
                                                 u->passwordless ? "clear" : "change", u->name, u->host);
                return dbstate_mysql_failed(s, "%s", text) ? 0
                                                           : state_ret_set(s->ret, STATE_FALSE, "%s", text);
            }
        }
        state_change(s->ret, u->name, json_string("Updated"));
        return ctx_test(s->ctx) ? state_ret_set(s->ret, STATE_NONE, "Password for user %s@%s is set to be %s",
                                                u->name, u->host, did)
                                : state_ret_set(s->ret, STATE_TRUE, "Password for user %s@%s has been %s",
                                                u->name, u->host, did);
    }
    const char *less = u->allowed ? " with passwordless login" : "",
               *sock = u->by_socket ? " using unix_socket" : "";
    if (!ctx_test(s->ctx)) {
        json_auto_t *more = wanted(u);
        json_object_set(more, "auth_plugin", value_get(s->args, "auth_plugin"));
        int done = dbstate_ask_with(s, "mysql.user_create", more);
        if (done < 0 ||
            (done == 0 && dbstate_mysql_failed(s, "Failed to create user %s@%s", u->name, u->host)))
            return done;
        if (done == 0)
            return state_ret_set(s->ret, STATE_FALSE, "Failed to create user %s@%s", u->name, u->host);
    }
    state_change(s->ret, u->name, json_string("Present"));
    return ctx_test(s->ctx) ? state_ret_set(s->ret, STATE_NONE, "User %s@%s is set to be added%s%s", u->name,
                                            u->host, less, sock)
                            : state_ret_set(s->ret, STATE_TRUE, "The user %s@%s has been added%s%s", u->name,
                                            u->host, less, sock);
}

static int
mysql_user_state_present(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    user_t u = { .name = value_str(args, "name", ""),
                 .host = value_str(args, "host", "localhost"),
                 .passwordless = !value_truthy(value_get(args, "password")) &&
                                 !value_truthy(value_get(args, "password_hash")),
                 .allowed = value_truthy(value_get(args, "allow_passwordless")),
                 .by_socket = value_truthy(value_get(args, "unix_socket")) };

    dbstate_mysql(&u.s, ctx, args, *ret_value = state_ret_args(args), err);
    int rc = mysql_user_present_in(&u);
    return dbstate_end(&u.s, rc);
}

static int
mysql_user_absent_in(user_t *u)
{
    dbstate_t *s = &u->s;
    int there = dbstate_ask(s, "mysql.user_exists", "{s:s, s:s}", "user", u->name, "host", u->host);

    if (there < 0 || (there == 0 && dbstate_mysql_failed(s, NULL)))
        return there;
    if (there == 0)
        return state_ret_set(s->ret, STATE_TRUE, "User %s@%s is not present, so it cannot be removed",
                             u->name, u->host);
    if (!ctx_test(s->ctx)) {
        int done = dbstate_ask(s, "mysql.user_remove", "{s:s, s:s}", "user", u->name, "host", u->host);
        if (done < 0 || (done == 0 && dbstate_mysql_failed(s, NULL)))
            return done;
        if (done == 0)
            return state_ret_set(s->ret, STATE_FALSE, "User %s@%s could not be removed", u->name, u->host);
    }
    state_change(s->ret, u->name, json_string("Absent"));
    return ctx_test(s->ctx)
               ? state_ret_set(s->ret, STATE_NONE, "User %s@%s is set to be removed", u->name, u->host)
               : state_ret_set(s->ret, STATE_TRUE, "User %s@%s has been removed", u->name, u->host);
}

static int
mysql_user_state_absent(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    user_t u = { .name = value_str(args, "name", ""), .host = value_str(args, "host", "localhost") };

    dbstate_mysql(&u.s, ctx, args, *ret_value = state_ret_args(args), err);
    int rc = mysql_user_absent_in(&u);
    return dbstate_end(&u.s, rc);
}

#define USER_ROW ARG("name", ARG_STR, ARG_REQUIRED, "Name of the user")

static const arg_t present_args[] = {
    USER_ROW,         MYSQL_ROW_HOST,   MYSQL_ROWS_PASSWORD, MYSQL_ROW_PASSWORDLESS,
    MYSQL_ROW_SOCKET, MYSQL_ROW_COLUMN, MYSQL_ROW_PLUGIN,    MYSQL_ROW_ACCESS,
    ARGS_END
};
static const arg_t absent_args[] = { USER_ROW, MYSQL_ROW_HOST, MYSQL_ROW_ACCESS, ARGS_END };

static const func_t funcs[] = {
    { "absent", mysql_user_state_absent, absent_args, 0, "The user is not there." },
    { "present", mysql_user_state_present, present_args, 0, "The user is there, with this password." },
};

PLUGIN(state, mysql_user, .doc = "Users of MySQL and MariaDB", FUNCS(funcs),
       .unavailable = mysqlconn_missing);
