/* mysqlusers.c - see mysqlusers.h: users and their passwords. MySQL and MariaDB differ in the statements
 * that set a password, and both over their versions. */
#include "plugins/lib/database/mysqlusers.h"

#include "common/base/str.h"
#include "plugins/lib/database/mysqltext.h"
#include "salt/log.h"

/* A user as the call names it. All texts BORROWED; NULL: not given. */
typedef struct account {
    mysqlconn_t *my;
    const char *user, *host, *column;
    char *password, *hash;                           /* owned: a password may be a number in YAML */
    bool passwordless, unix_socket, mariadb, modern; /* modern: ALTER USER sets passwords */
} account_t;

/* None and empty texts are no passwords. NEW or NULL. */
static char *
given_text(const json_t *args, const char *name)
{
    json_t *v = value_get(args, name);

    return value_truthy(v) ? value_pystr(v) : NULL;
}

/* Fills an account from the arguments and connects. 0, or -1 with the error in the context. */
static int
account_open(account_t *a, call_ctx_t *ctx, const json_t *args)
{
    *a = (account_t){ .user = value_str(args, "user", ""),
                      .host = value_str(args, "host", "localhost"),
                      .column = value_str(args, "password_column", NULL),
                      .password = given_text(args, "password"),
                      .hash = given_text(args, "password_hash"),
                      .unix_socket = value_truthy(value_get(args, "unix_socket")) };
    /* The user's own password is tried where the configured one is not let in: a server that has just been installed,
     * and whose root's password is what the call sets. */
    a->my = mysqlconn_open(ctx, mysql_access(args));
    if (a->my == NULL && a->password != NULL) {
        json_auto_t *access = json_copy(mysql_access(args));
        json_object_set_new(access, "connection_pass", json_string(a->password));
        json_decref(mysql_error_take(ctx));
        a->my = mysqlconn_open(ctx, access);
    }
    if (a->my == NULL)
        return -1;
    const char *version = mysqlconn_version(a->my);
    if (*version == '\0')
        return -1;
    a->mariadb = strstr(version, "MariaDB") != NULL;
    a->modern = mysqltext_version(version, a->mariadb ? 10 : 8, a->mariadb ? 4 : 0, a->mariadb ? 0 : 11) >= 0;
    /* The column of mysql.user that keeps what proves a password: older servers have "Password". */
    if (str_empty(a->column)) {
        int rc = mysqlconn_run(
            a->my, "SELECT column_name FROM information_schema.COLUMNS WHERE table_schema = 'mysql' "
                   "AND table_name = 'user' AND column_name = 'Password'");
        a->column = rc == 0 && mysqlconn_count(a->my) == 0 ? "authentication_string" : "Password";
    }
    return 0;
}

static void
account_destroy(account_t *a)
{
    if (a->password != NULL)
        explicit_bzero(a->password, strlen(a->password));
    free(a->password);
    free(a->hash);
    mysqlconn_destroy(&a->my);
}

/* The row of mysql.user. NEW; NULL: an error. */
static char *
account_plugin(account_t *a)
{
    if (mysqlconn_run(a->my, "SELECT plugin FROM mysql.user WHERE User = ? AND Host = ?", a->user, a->host) <
        0)
        return NULL;
    const char *plugin = json_string_value(mysqlconn_first(a->my, 0));
    return xstrdup(str_empty(plugin) ? "mysql_native_password" : plugin);
}

const char *
mysql_plugin_state(mysqlconn_t *self, const char *name)
{
    if (mysqlconn_run(self, "SELECT PLUGIN_STATUS FROM INFORMATION_SCHEMA.PLUGINS WHERE PLUGIN_NAME = ?",
                      name) < 0)
        return NULL;
    json_t *state = mysqlconn_first(self, 0);
    return state != NULL && json_is_string(state) ? json_string_value(state) : "";
}

int
mysql_has_user(mysqlconn_t *self, const char *user, const char *host)
{
    if (mysqlconn_run(self, "SELECT User, Host FROM mysql.user WHERE User = ? AND Host = ?", user, host) < 0)
        return -1;
    return mysqlconn_count(self) == 1;
}

/* ---- exists ----------------------------------------------------------------------------------- */

/* True when the user is there with the password; MySQL's newer plugins keep what can't be compared. */
static bool
has_password(account_t *a)
{
    AUTO_FREE char *plugin = NULL, *hash = NULL;
    bool on_server = a->mariadb || !a->modern;

    mysqlconn_secret(a->my);
    if (a->password != NULL && on_server)
        return mysqlconn_run(
                   a->my, "SELECT User, Host FROM mysql.user WHERE User = ? AND Host = ? AND ~ = PASSWORD(?)",
                   a->user, a->host, a->column, a->password) == 0 &&
               mysqlconn_count(a->my) == 1;
    if (a->password != NULL) {
        plugin = account_plugin(a);
        if (plugin == NULL)
            return false;
        if (strcmp(plugin, "mysql_native_password") != 0) {
            log_error("Unable to verify password.");
            return mysql_has_user(a->my, a->user, a->host) > 0;
        }
        hash = mysqltext_native_hash(a->password);
    }
    return mysqlconn_run(a->my, "SELECT User, Host FROM mysql.user WHERE User = ? AND Host = ? AND ~ = ?",
                         a->user, a->host, a->column, hash != NULL ? hash : a->hash) == 0 &&
           mysqlconn_count(a->my) == 1;
}

static bool
account_exists(account_t *a)
{
    if (a->passwordless && a->unix_socket)
        return mysqlconn_run(a->my,
                             "SELECT User, Host FROM mysql.user WHERE User = ? AND Host = ? AND plugin = ?",
                             a->user, a->host, a->mariadb ? "unix_socket" : "auth_socket") == 0 &&
               mysqlconn_count(a->my) == 1;
    if (a->passwordless)
        return mysqlconn_run(a->my,
                             "SELECT User, Host FROM mysql.user WHERE User = ? AND Host = ? AND ~ = ''",
                             a->user, a->host, a->column) == 0 &&
               mysqlconn_count(a->my) == 1;
    return a->password != NULL || a->hash != NULL ? has_password(a)
                                                  : mysql_has_user(a->my, a->user, a->host) > 0;
}

int
mysql_user_exists(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    account_t a;
    bool found = account_open(&a, ctx, args) == 0;

    a.passwordless = value_truthy(value_get(args, "passwordless"));
    *ret_value = json_boolean(found && account_exists(&a));
    account_destroy(&a);
    return 0;
}

int
mysql_user_info(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO(mysqlconn) my = mysqlconn_open(ctx, mysql_access(args));

    if (my == NULL || mysqlconn_run(my, "SELECT * FROM mysql.user WHERE User = ? AND Host = ?",
                                    value_str(args, "user", ""), value_str(args, "host", "localhost")) < 0) {
        *ret_value = json_false();
        return 0;
    }
    json_auto_t *rows = mysqlconn_dicts(my);
    *ret_value = json_array_size(rows) > 0 ? json_incref(json_array_get(rows, 0)) : json_null();
    return 0;
}

/* ---- create and change ------------------------------------------------------------------------ */

/* The server's plugin for who is let in by his user on the machine, when it can be used for this user;
 * else NULL with the error in the context. */
static const char *
socket_plugin(call_ctx_t *ctx, account_t *a)
{
    const char *name = a->mariadb ? "unix_socket" : "auth_socket", *state = mysql_plugin_state(a->my, name);

    if (state == NULL)
        return NULL;
    if (*state == '\0')
        mysql_error_set(ctx, "The %s plugin is not enabled.", name);
    else if (strcmp(a->host, "localhost") != 0)
        mysql_error_set(ctx, "Auth via unix_socket can be set only for host=localhost");
    else
        return name;
    return NULL;
}

static int
create_account(call_ctx_t *ctx, account_t *a, bool allow_passwordless, const char *plugin)
{
    mysqlconn_secret(a->my);
    if (a->unix_socket) {
        const char *name = socket_plugin(ctx, a);
        if (name == NULL)
            return -1;
        return mysqlconn_run(a->my, "CREATE USER ?@? IDENTIFIED $ $", a->user, a->host,
                             a->mariadb ? "VIA" : "WITH", name);
    }
    if (a->password == NULL && a->hash == NULL) {
        if (allow_passwordless)
            return mysqlconn_run(a->my, "CREATE USER ?@?", a->user, a->host);
        log_error("password or password_hash must be specified, unless allow_passwordless=True");
        return -1;
    }
    const char *proof = a->password != NULL ? a->password : a->hash;
    if (!a->mariadb && a->modern)
        return mysqlconn_run(a->my, "CREATE USER ?@? IDENTIFIED WITH ? $ ?", a->user, a->host, plugin,
                             a->password != NULL ? "BY" : "AS", proof);
    return mysqlconn_run(a->my, "CREATE USER ?@? IDENTIFIED BY $ ?", a->user, a->host,
                         a->password != NULL ? "" : "PASSWORD", proof);
}

int
mysql_user_create(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    account_t a;
    bool made = account_open(&a, ctx, args) == 0 && mysql_has_user(a.my, a.user, a.host) == 0;

    if (!made && a.my != NULL && *mysql_error_text(ctx) == '\0')
        log_info("User '%s'@'%s' already exists", a.user, a.host);
    made = made && create_account(ctx, &a, value_truthy(value_get(args, "allow_passwordless")),
                                  value_str(args, "auth_plugin", "mysql_native_password")) == 0;
    made = made && (a.unix_socket || account_exists(&a));
    *ret_value = json_boolean(made);
    account_destroy(&a);
    return 0;
}

/* 0 or -1. A user keeps the plugin that proves the password, unless it is the socket's. */
static int
mysqlusers_change_password(call_ctx_t *ctx, account_t *a, bool by_socket)
{
    const char *plugin = by_socket ? socket_plugin(ctx, a) : NULL;
    const char *proof = a->password != NULL ? a->password : a->hash != NULL ? a->hash : "";

    if (by_socket && plugin == NULL)
        return -1;
    AUTO_FREE char *own = plugin == NULL && a->modern ? account_plugin(a) : NULL;
    if (plugin == NULL && a->modern && own == NULL)
        return -1;
    mysqlconn_secret(a->my);
    /* Servers before ALTER USER want the column itself set. */
    const char *before = a->password != NULL ? "PASSWORD(" : "", *after = a->password != NULL ? ")" : "";
    if (!a->modern && plugin == NULL)
        return mysqlconn_run(a->my, "UPDATE mysql.user SET ~ = $?$ WHERE User = ? AND Host = ?", a->column,
                             before, proof, after, a->user, a->host);
    if (!a->modern)
        return mysqlconn_run(a->my, "UPDATE mysql.user SET ~ = $?$, plugin = ? WHERE User = ? AND Host = ?",
                             a->column, before, proof, after, plugin, a->user, a->host);
    if (plugin != NULL)
        return mysqlconn_run(a->my, "ALTER USER ?@? IDENTIFIED $ $", a->user, a->host,
                             a->mariadb ? "VIA" : "WITH", plugin);
    /* A user of the socket who gets a password is let in by it from now on. */
    if (str_ends(own, "_socket")) {
        free(own);
        own = xstrdup("mysql_native_password");
    }
    if (a->mariadb)
        return mysqlconn_run(a->my, "ALTER USER ?@? IDENTIFIED VIA ~ USING $?$", a->user, a->host, own,
                             a->password != NULL ? "PASSWORD(" : "", proof, a->password != NULL ? ")" : "");
    if (*proof == '\0')
        return mysqlconn_run(a->my, "ALTER USER ?@? IDENTIFIED WITH ?", a->user, a->host, own);
    return mysqlconn_run(a->my, "ALTER USER ?@? IDENTIFIED WITH ? $ ?", a->user, a->host, own,
                         a->password != NULL ? "BY" : "AS", proof);
}

int
mysql_user_chpass(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    account_t a;
    bool passwordless = value_truthy(value_get(args, "allow_passwordless"));
    bool done = account_open(&a, ctx, args) == 0;
    int found = done ? mysql_has_user(a.my, a.user, a.host) : -1;

    if (found == 0)
        log_info("User '%s'@'%s' does not exists", a.user, a.host);
    if (found == 1 && a.password == NULL && a.hash == NULL && !passwordless && !a.unix_socket) {
        log_error("password or password_hash must be specified, unless allow_passwordless=True");
        found = 0;
    }
    done = found == 1 &&
           mysqlusers_change_password(ctx, &a, a.unix_socket && a.password == NULL && a.hash == NULL) == 0 &&
           (a.modern || mysqlconn_count(a.my) > 0);
    if (done)
        (void) mysqlconn_run(a.my, "FLUSH PRIVILEGES");
    *ret_value = json_boolean(done);
    account_destroy(&a);
    return 0;
}

int
mysql_user_remove(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *user = value_str(args, "user", ""), *host = value_str(args, "host", "localhost");
    AUTO(mysqlconn) my = mysqlconn_open(ctx, mysql_access(args));
    int found = my != NULL ? mysql_has_user(my, user, host) : -1;

    if (found == 0)
        mysql_error_set(ctx, "User '%s'@'%s' does not exists", user, host);
    *ret_value = json_boolean(found == 1 && mysqlconn_run(my, "DROP USER ?@?", user, host) == 0 &&
                              mysql_has_user(my, user, host) == 0);
    return 0;
}
