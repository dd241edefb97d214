/* mysql.c - execution module `mysql`: databases, users, grants and queries of MySQL and MariaDB servers. As
 * in Salt, a function whose connection or statement fails has no error of its own: it returns False, or an
 * empty list or dict; the reason is in the log and in the job's context (mysql.error), where the states
 * look for it. Every function connects anew. */
#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/call/subcall.h"
#include "plugins/lib/database/mysqlrows.h"
#include "plugins/lib/database/mysqltext.h"
#include "plugins/lib/database/mysqlusers.h"
#include "salt/log.h"

/* The connection of a call, closed at its end; NULL with the error in the context. */
#define MYSQL_OPEN(name) AUTO(mysqlconn) name = mysqlconn_open(ctx, mysql_access(args))

static const char *
name_of(const json_t *args)
{
    return value_str(args, "name", "");
}

/* ---- what the server tells: the row's statement ------------------------------------------------ */

/* The values of the first column. NEW list, empty after an error. */
static json_t *
first_column(const mysqlconn_t *my)
{
    json_t *list = json_array(), *row;
    size_t i;

    json_array_foreach (mysqlconn_rows(my), i, row)
        json_array_append(list, json_array_get(row, 0));
    return list;
}

/* A list of names: the first column of the row's statement (SHOW DATABASES, and the like). */
static int
list_column(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    MYSQL_OPEN(my);
    *ret_value = my != NULL && mysqlconn_run(my, ctx_row(ctx)->data.text) == 0 ? first_column(my)
                                                                               : json_array();
    return 0;
}

/* The rows of the row's statement, each as a dict by the names of the columns. */
static int
list_rows(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    MYSQL_OPEN(my);
    *ret_value = my != NULL && mysqlconn_run(my, ctx_row(ctx)->data.text) == 0 ? mysqlconn_dicts(my)
                                                                               : json_array();
    return 0;
}

/* The first row, or an empty list: the server is none of that kind. */
static int
mysql_first_row(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *rows = NULL;
    int rc = list_rows(ctx, args, &rows, err);

    *ret_value = json_array_size(rows) > 0 ? json_incref(json_array_get(rows, 0)) : json_array();
    json_decref(rows);
    return rc;
}

/* SHOW STATUS has two columns, name and value; the dict is made of them. The values stay the texts that the
 * server sends. */
static int
mysql_status(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    MYSQL_OPEN(my);
    json_t *row;
    size_t i;

    *ret_value = json_object();
    if (my == NULL || mysqlconn_run(my, "SHOW STATUS") < 0)
        return 0;
    json_array_foreach (mysqlconn_rows(my), i, row)
        json_object_set(*ret_value, json_string_value(json_array_get(row, 0)), json_array_get(row, 1));
    return 0;
}

/* An empty text where the server can't be reached. */
static int
mysql_version(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    MYSQL_OPEN(my);
    *ret_value = json_string(my != NULL ? mysqlconn_version(my) : "");
    return 0;
}

/* Connects as the user in question, to the same server. That the login is refused is an answer, so its
 * error does not stay in the context, where it would make the job look failed. */
static int
mysql_verify_login(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *access = json_copy(mysql_access(args));

    json_object_set(access, "connection_user", value_get(args, "user"));
    json_object_set(access, "connection_pass", value_get(args, "password"));
    AUTO(mysqlconn) my = mysqlconn_open(ctx, access);
    if (my == NULL)
        json_decref(mysql_error_take(ctx)); /* that it may not is the answer */
    *ret_value = json_boolean(my != NULL);
    return 0;
}

/* ---- databases -------------------------------------------------------------------------------- */

/* 1, 0, or -1 with the error in the context. */
static int
has_database(mysqlconn_t *my, const char *name)
{
    if (mysqlconn_run(my, "SELECT SCHEMA_NAME FROM INFORMATION_SCHEMA.SCHEMATA WHERE SCHEMA_NAME = ?", name) <
        0)
        return -1;
    return mysqlconn_count(my) == 1;
}

/* A server that can't be reached has no database: False, and the context tells the two apart. */
static int
mysql_db_exists(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    MYSQL_OPEN(my);
    *ret_value = json_boolean(my != NULL && has_database(my, name_of(args)) == 1);
    return 0;
}

/* {} for a database that is not there, [] after an error: Salt's answers. */
static int
mysql_db_get(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    MYSQL_OPEN(my);
    if (my == NULL || mysqlconn_run(my,
                                    "SELECT DEFAULT_CHARACTER_SET_NAME, DEFAULT_COLLATION_NAME FROM "
                                    "INFORMATION_SCHEMA.SCHEMATA WHERE SCHEMA_NAME = ?",
                                    name_of(args)) < 0)
        *ret_value = json_array();
    else
        *ret_value = mysqlconn_count(my) == 0
                         ? json_object()
                         : json_pack("{s:O, s:O}", "character_set", mysqlconn_first(my, 0), "collate",
                                     mysqlconn_first(my, 1));
    return 0;
}

/* False, not an empty list, for a database that is not there. */
static int
mysql_db_tables(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    MYSQL_OPEN(my);
    int there = my != NULL ? has_database(my, name_of(args)) : -1;

    if (there != 1) {
        log_info("Database '%s' does not exist", name_of(args));
        *ret_value = json_false();
        return 0;
    }
    *ret_value = mysqlconn_run(my, "SHOW TABLES IN ~", name_of(args)) == 0 ? first_column(my) : json_array();
    return 0;
}

/* Runs `verb` on the database with CHARACTER SET and COLLATE as far as they are given. Each of the four
 * statements is written out, since the texts of the user go in as values. Returns 0 or -1. */
static int
set_charset(mysqlconn_t *my, const char *verb, const json_t *args)
{
    const char *set = value_str(args, "character_set", NULL), *collate = value_str(args, "collate", NULL);

    if (!str_empty(set) && !str_empty(collate))
        return mysqlconn_run(my, "$ ~ CHARACTER SET ? COLLATE ?", verb, name_of(args), set, collate);
    if (!str_empty(set))
        return mysqlconn_run(my, "$ ~ CHARACTER SET ?", verb, name_of(args), set);
    if (!str_empty(collate))
        return mysqlconn_run(my, "$ ~ COLLATE ?", verb, name_of(args), collate);
    return mysqlconn_run(my, "$ ~", verb, name_of(args));
}

/* True only where it has been created by this call: a database that is there already is False, as in Salt,
 * also with the same character set. */
static int
mysql_db_create(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    MYSQL_OPEN(my);
    int there = my != NULL ? has_database(my, name_of(args)) : -1;

    if (there == 1)
        log_info("DB '%s' already exists", name_of(args));
    *ret_value = json_boolean(there == 0 && set_charset(my, "CREATE DATABASE IF NOT EXISTS", args) == 0);
    return 0;
}

/* Without a character set and collation there is nothing to alter; then the answer is whether there is such
 * a database. */
static int
mysql_alter_db(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    bool nothing = !value_truthy(value_get(args, "character_set")) &&
                   !value_truthy(value_get(args, "collate"));
    MYSQL_OPEN(my);

    *ret_value = json_boolean(my != NULL && (nothing ? has_database(my, name_of(args)) == 1
                                                     : set_charset(my, "ALTER DATABASE", args) == 0));
    return 0;
}

/* A database is looked up before and after: True means that it was there and now is not. */
static int
mysql_db_remove(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const char *const kept[] = { "mysql", "information_schema", "performance_schema", "sys" };
    const char *name = name_of(args);
    MYSQL_OPEN(my);
    bool remove = my != NULL && has_database(my, name) == 1;

    /* Salt spares the first alone (its second has a slip of the pen); without the others a server is as
     * broken. */
    for (size_t i = 0; remove && i < NELEMS(kept); i++) {
        if (strcmp(kept[i], name) == 0) {
            mysql_error_set(ctx, "DB '%s' may not be removed", name);
            remove = false;
        }
    }
    *ret_value = json_boolean(remove && mysqlconn_run(my, "DROP DATABASE ~", name) == 0 &&
                              has_database(my, name) == 0);
    return 0;
}

/* CHECK, REPAIR or OPTIMIZE of the row: of a table its lines, of all tables a list of these. */
static int
maintain(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *verb = ctx_row(ctx)->data.text, *table = value_str(args, "table", NULL);
    json_t *tables = NULL, *one;
    size_t i;

    /* The names are listed over a connection of their own, which is closed before the next one is
     * opened. */
    if (table == NULL && mysql_db_tables(ctx, args, &tables, err) < 0)
        return err->code;
    MYSQL_OPEN(my);
    json_auto_t *names = table != NULL ? json_pack("[s]", table) : tables;
    json_auto_t *all = json_array();
    json_array_foreach (names, i, one) {
        bool ok = my != NULL &&
                  mysqlconn_run(my, "$ TABLE ~.~", verb, name_of(args), json_string_value(one)) == 0;
        json_array_append_new(all, ok ? mysqlconn_dicts(my) : json_object());
    }
    /* For one table its rows alone, without the list around them. */
    *ret_value = json_incref(table != NULL ? json_array_get(all, 0) : all);
    return 0;
}

/* ---- plugins ---------------------------------------------------------------------------------- */

/* SHOW PLUGINS has name, status, type, library and licence; Salt returns the first two. */
static int
mysql_plugins_list(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    MYSQL_OPEN(my);
    json_t *row;
    size_t i;

    *ret_value = json_array();
    if (my == NULL || mysqlconn_run(my, "SHOW PLUGINS") < 0)
        return 0;
    json_array_foreach (mysqlconn_rows(my), i, row)
        json_array_append_new(*ret_value, json_pack("{s:O, s:O}", "name", json_array_get(row, 0), "status",
                                                    json_array_get(row, 1)));
    return 0;
}

/* "ACTIVE", "DISABLED" and the like; "" for a plugin that is not installed, and after an error. */
static int
mysql_plugin_status(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    MYSQL_OPEN(my);
    const char *state = my != NULL ? mysql_plugin_state(my, name_of(args)) : NULL;

    *ret_value = json_string(state != NULL ? state : "");
    return 0;
}

/* A plugin that is there already is True without a statement. The library is the plugin's name with .so, in
 * the server's plugin_dir, unless the caller names another. */
static int
mysql_plugin_add(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = name_of(args), *given = value_str(args, "soname", NULL);
    AUTO_FREE char *file = str_empty(given) ? xasprintf("%s.so", name) : xstrdup(given);
    MYSQL_OPEN(my);
    const char *state = my != NULL ? mysql_plugin_state(my, name) : NULL;

    *ret_value = json_boolean(
        state != NULL && (*state != '\0' || mysqlconn_run(my, "INSTALL PLUGIN ~ SONAME ?", name, file) == 0));
    return 0;
}

/* True also when it was not there. NULL (the state could not be asked) is False. */
static int
mysql_plugin_remove(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    MYSQL_OPEN(my);
    const char *state = my != NULL ? mysql_plugin_state(my, name_of(args)) : NULL;

    *ret_value = json_boolean(
        state != NULL && (*state == '\0' || mysqlconn_run(my, "UNINSTALL PLUGIN ~", name_of(args)) == 0));
    return 0;
}

/* ---- replication ------------------------------------------------------------------------------ */

/* The status of this server as a replica: NEW object; NULL: it is none, or an error, which *ret_error
 * tells. */
static json_t *
replica_status(mysqlconn_t *my, bool *ret_error)
{
    *ret_error = my == NULL || mysqlconn_run(my, "SHOW SLAVE STATUS") < 0;
    if (*ret_error)
        return NULL;
    json_auto_t *rows = mysqlconn_dicts(my);
    return json_array_size(rows) > 0 ? json_incref(json_array_get(rows, 0)) : NULL;
}

/* Seconds behind the master, or a negative number for a reason, as monitoring scripts know them of Salt. */
static int
mysql_slave_lag(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    enum { LAG_NO_ANSWER = -3, LAG_STOPPED = -2, LAG_NO_REPLICA = -1 };
    bool failed;
    MYSQL_OPEN(my);
    json_auto_t *status = replica_status(my, &failed);

    if (status == NULL)
        *ret_value = json_integer(failed ? LAG_NO_ANSWER : LAG_NO_REPLICA);
    else if (strcmp(value_str(status, "Slave_IO_Running", ""), "Yes") != 0)
        *ret_value = json_integer(LAG_STOPPED);
    else
        /* A number, or null while the replica is connecting. */
        *ret_value = json_incref(value_get(status, "Seconds_Behind_Master"));
    return 0;
}

/* Makes a replica a server of its own; its former master, if it is still there, begins a new log.
 * "promoted", "failed", or "" when the server could not be asked. */
static int
mysql_free_slave(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const char *const steps[] = { "STOP SLAVE", "RESET MASTER", "RESET SLAVE ALL" };
    bool failed;
    MYSQL_OPEN(my);
    json_auto_t *status = replica_status(my, &failed);

    *ret_value = json_string(failed ? "" : "failed");
    if (status == NULL)
        return 0;
    /* The master is reached with the same login at the address that the replica knows; a local socket would
     * lead back to the replica itself. */
    json_auto_t *access = json_copy(mysql_access(args));
    json_object_set(access, "connection_host", value_get(status, "Master_Host"));
    json_object_del(access, "connection_unix_socket");
    AUTO(mysqlconn) master = mysqlconn_open(ctx, access);
    /* A master that is down is the usual reason for a promotion, so its error is dropped. */
    if (master != NULL)
        (void) mysqlconn_run(master, "FLUSH LOGS");
    else
        json_decref(mysql_error_take(ctx));
    for (size_t i = 0; i < NELEMS(steps); i++) {
        if (mysqlconn_run(my, steps[i]) < 0)
            return 0;
    }
    /* The server is asked again: only when it has no master any more is it promoted. */
    json_auto_t *after = replica_status(my, &failed);
    if (after == NULL && !failed)
        json_string_set(*ret_value, "promoted");
    return 0;
}

/* ---- queries ---------------------------------------------------------------------------------- */

/* Python's round(x, digits) as text, so that "12.30" becomes "12.3" and "3" becomes "3.0". NEW. */
static char *
rounded(double x, int digits)
{
    AUTO_FREE char *text = xasprintf("%.*f", digits, x);

    return value_float_repr(strtod(text, NULL));
}

/* True when a statement returns rows by its first word, as Salt decides. Others (WITH, EXPLAIN, CALL) are
 * reported by the number of rows that they affect. */
static bool
returns_rows(const char *sql)
{
    static const char *const words[] = { "SELECT", "SHOW", "DESC" };

    sql += strspn(sql, " \t\r\n");
    for (size_t i = 0; i < NELEMS(words); i++) {
        if (strncasecmp(sql, words[i], strlen(words[i])) == 0)
            return true;
    }
    return false;
}

/* Runs a statement: NEW {query time, rows returned, columns, results} or {query time, rows affected}; NULL
 * with the error in the context. *ret_seconds: how long it took. */
static json_t *
run_query(mysqlconn_t *my, const char *sql, double *ret_seconds)
{
    int64_t start = clock_mono_us();

    if (mysqlconn_run_text(my, sql) < 0)
        return NULL;
    double seconds = *ret_seconds = (double) (clock_mono_us() - start) / 1e6;
    /* Below a fifth of a second the time is told in milliseconds. `raw` is a text here, and a number in
     * what file_query returns: Salt's. */
    AUTO_FREE char *number = seconds < 0.2 ? rounded(seconds * 1000, 1) : rounded(seconds, 2);
    AUTO_FREE char *raw = rounded(seconds, 5);
    json_t *ret = json_pack("{s:{s:o, s:s}}", "query time", "human",
                            value_fmt("%s%s", number, seconds < 0.2 ? "ms" : "s"), "raw", raw);
    if (returns_rows(sql) && mysqlconn_rows(my) != NULL) {
        json_object_set_new(ret, "rows returned", json_integer(mysqlconn_count(my)));
        json_object_set(ret, "columns", mysqlconn_columns(my));
        json_object_set(ret, "results", mysqlconn_rows(my));
    } else {
        json_object_set_new(ret, "rows affected", json_integer(mysqlconn_count(my)));
    }
    return ret;
}

/* Connects to the database that a query names; all values come as texts. NULL with the error in the
 * context. */
static mysqlconn_t *
open_database(call_ctx_t *ctx, const json_t *args)
{
    json_auto_t *access = json_copy(mysql_access(args));

    json_object_set(access, "connection_db", value_get(args, "database"));
    mysqlconn_t *my = mysqlconn_open(ctx, access);
    if (my != NULL)
        mysqlconn_as_text(my);
    return my;
}

/* A failed statement is False, a failed connection {}: Salt's answers. */
static int
mysql_query(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO(mysqlconn) my = open_database(ctx, args);
    double seconds;
    json_t *ret = my != NULL ? run_query(my, value_str(args, "query", ""), &seconds) : json_object();

    *ret_value = ret != NULL ? ret : json_false();
    return 0;
}

/* The script of a file, also one of the file server's. NEW, or NULL with *err; "" with the reason in the
 * context: there is none. */
static char *
script_of(call_ctx_t *ctx, const char *path, fail_t *err)
{
    static const char *const schemes[] = { "salt://", "http://", "https://", "swift://", "s3://" };
    json_auto_t *cached = NULL;
    buf_auto_t text = BUF_INIT;

    for (size_t i = 0; i < NELEMS(schemes); i++) {
        if (!str_starts(path, schemes[i]))
            continue;
        /* cp.cache_file returns the path in the minion's cache, or False; then the address itself is looked
         * for as a file, and is not found. */
        cached = sub_call(ctx, err, "cp.cache_file", "{s:s}", "path", path);
        if (cached == NULL)
            return NULL;
        path = json_is_string(cached) ? json_string_value(cached) : path;
    }
    int there = fs_look(path, err);
    if (there < 0)
        return NULL;
    if (there == 0) {
        mysql_error_set(ctx, "File \"%s\" does not exist", path);
        return xstrdup("");
    }
    return fs_read(path, LIMIT_FILE_READ, &text, err) < 0 ? NULL : buf_steal(&text);
}

/* Adds what one statement returned to what the file returns: the counts are summed, and columns and results
 * are lists with an element for each statement that had rows. A count of 0 is left out. */
static void
add_result(json_t *total, const json_t *one)
{
    static const char *const counts[] = { "rows returned", "rows affected" }, *const lists[] = { "columns",
                                                                                                 "results" };

    for (size_t i = 0; i < NELEMS(counts); i++) {
        json_int_t sum = value_int(total, counts[i], 0) + value_int(one, counts[i], 0);
        if (sum != 0)
            json_object_set_new(total, counts[i], json_integer(sum));
    }
    for (size_t i = 0; i < NELEMS(lists); i++) {
        json_t *v = value_get(one, lists[i]);
        if (v == NULL)
            continue;
        if (value_get(total, lists[i]) == NULL)
            json_object_set_new(total, lists[i], json_array());
        json_array_append(value_get(total, lists[i]), v);
    }
}

/* Runs the statements of a file one after another, until one fails: then the answer is False, and what was
 * done before stays done, as there is no transaction around it. */
static int
mysql_file_query(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *script = script_of(ctx, value_str(args, "file_name", ""), err);
    json_auto_t *total = json_object();
    double seconds, all = 0;
    json_t *sql;
    size_t i;

    if (script == NULL)
        return err->code;
    json_auto_t *statements = mysqltext_statements(script);
    *ret_value = json_false();
    if (*script == '\0')
        return 0;
    AUTO(mysqlconn) my = open_database(ctx, args);
    if (my == NULL)
        return 0;
    json_array_foreach (statements, i, sql) {
        json_auto_t *one = run_query(my, json_string_value(sql), &seconds);
        if (one == NULL)
            return 0;
        add_result(total, one);
        all += seconds;
    }
    AUTO_FREE char *human = rounded(all, 2), *raw = rounded(all, 5);
    json_object_set_new(total, "query time",
                        json_pack("{s:o, s:f}", "human", value_fmt("%ss", human), "raw", strtod(raw, NULL)));
    *ret_value = json_incref(total);
    return 0;
}

/* Quotes a name for a statement of the caller's. `for_grants`: in GRANT an underscore of a database's name
 * is a wildcard unless it is escaped. */
static int
mysql_quote_identifier(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    bool for_grants = value_truthy(value_get(args, "for_grants"));
    AUTO_FREE char *name = str_replace(value_str(args, "identifier", ""), "_", for_grants ? "\\_" : "_");
    AUTO_FREE char *doubled = str_replace(name, "%", "%%"); /* as a Python driver's statement has it */
    buf_auto_t out = BUF_INIT;

    mysqltext_name(&out, doubled);
    *ret_value = json_string(buf_str(&out));
    return 0;
}

/* ---- table ------------------------------------------------------------------------------------ */

#define ROW_TABLE ARG("table", ARG_STR, "null", "A table; by default all of the database")
#define ROW_USER  ARG("user", ARG_STR, ARG_REQUIRED, "Name of the user")

static const arg_t access_args[] = { MYSQL_ROW_ACCESS, ARGS_END };
static const arg_t name_args[] = { MYSQL_ROW_DATABASE, MYSQL_ROW_ACCESS, ARGS_END };
static const arg_t charset_args[] = { MYSQL_ROW_DATABASE, MYSQL_ROWS_CHARSET, MYSQL_ROW_ACCESS, ARGS_END };
static const arg_t table_args[] = { MYSQL_ROW_DATABASE, ROW_TABLE, MYSQL_ROW_ACCESS, ARGS_END };
static const arg_t user_args[] = { ROW_USER, MYSQL_ROW_HOST, MYSQL_ROW_ACCESS, ARGS_END };
static const arg_t exists_args[] = {
    ROW_USER,
    MYSQL_ROW_HOST,
    MYSQL_ROWS_PASSWORD,
    ARG("passwordless", ARG_ANY, "false", "Only a user without a password"),
    MYSQL_ROW_SOCKET,
    MYSQL_ROW_COLUMN,
    MYSQL_ROW_ACCESS,
    ARGS_END,
};
static const arg_t create_args[] = {
    ROW_USER,         MYSQL_ROW_HOST,   MYSQL_ROWS_PASSWORD, MYSQL_ROW_PASSWORDLESS,
    MYSQL_ROW_SOCKET, MYSQL_ROW_COLUMN, MYSQL_ROW_PLUGIN,    MYSQL_ROW_ACCESS,
    ARGS_END,
};
static const arg_t chpass_args[] = {
    ROW_USER,         MYSQL_ROW_HOST,   MYSQL_ROWS_PASSWORD, MYSQL_ROW_PASSWORDLESS,
    MYSQL_ROW_SOCKET, MYSQL_ROW_COLUMN, MYSQL_ROW_ACCESS,    ARGS_END
};
static const arg_t grant_args[] = {
    ARG("grant", ARG_ANY, ARG_REQUIRED, "Privileges, with commas between"),
    ARG("database", ARG_STR, ARG_REQUIRED, "DATABASE.TABLE, DATABASE.* or *.*"),
    ROW_USER,
    MYSQL_ROW_HOST,
    MYSQL_ROWS_GRANT,
    MYSQL_ROW_ACCESS,
    ARGS_END,
};
static const arg_t grant_add_args[] = {
    ARG("grant", ARG_ANY, ARG_REQUIRED, "Privileges, with commas between"),
    ARG("database", ARG_STR, ARG_REQUIRED, "DATABASE.TABLE, DATABASE.* or *.*"),
    ROW_USER,
    MYSQL_ROW_HOST,
    MYSQL_ROWS_GRANT,
    MYSQL_ROW_SSL,
    MYSQL_ROW_ACCESS,
    ARGS_END,
};
static const arg_t tokenize_args[] = { ARG("grant", ARG_STR, ARG_REQUIRED, "A line of SHOW GRANTS"),
                                       ARGS_END };
static const arg_t quote_args[] = {
    ARG("identifier", ARG_STR, ARG_REQUIRED, "Name of a database, a table or a column"),
    ARG("for_grants", ARG_ANY, "false", "Escape _, which grants of a database take for any character"),
    ARGS_END,
};
static const arg_t login_args[] = { ROW_USER, ARG("password", ARG_ANY, "null", "The password to try"),
                                    MYSQL_ROW_ACCESS, ARGS_END };
static const arg_t plugin_args[] = { ARG("name", ARG_STR, ARG_REQUIRED, "Name of the plugin"),
                                     MYSQL_ROW_ACCESS, ARGS_END };
static const arg_t plugin_add_args[] = { ARG("name", ARG_STR, ARG_REQUIRED, "Name of the plugin"),
                                         ARG("soname", ARG_STR, "null", "Its file; by default NAME.so"),
                                         MYSQL_ROW_ACCESS, ARGS_END };
static const arg_t query_args[] = { ARG("database", ARG_STR, ARG_REQUIRED, "Database to work in"),
                                    ARG("query", ARG_STR, ARG_REQUIRED, "One statement"), MYSQL_ROW_ACCESS,
                                    ARGS_END };
static const arg_t file_args[] = {
    ARG("database", ARG_STR, ARG_REQUIRED, "Database to work in"),
    ARG("file_name", ARG_STR, ARG_REQUIRED, "File of statements, or its address"), MYSQL_ROW_ACCESS, ARGS_END
};

#define MYSQL_FN(name, fn, args, flags, doc, example, ...)                                                   \
    {                                                                                                        \
        name, fn, args, flags, doc CLI_EXAMPLE("salt '*' mysql." example) __VA_OPT__(, ) __VA_ARGS__         \
    }

static const func_t funcs[] = {
    MYSQL_FN("alter_db", mysql_alter_db, charset_args, 0, "Change character set and collation of a database.",
             "alter_db testdb charset='latin1'"),
    MYSQL_FN("db_check", maintain, table_args, 0, "Check the tables of a database.",
             "db_check dbname dbtable", .data.text = "CHECK"),
    MYSQL_FN("db_create", mysql_db_create, charset_args, 0, "Create a database.",
             "db_create 'dbname' 'utf8' 'utf8_general_ci'"),
    MYSQL_FN("db_exists", mysql_db_exists, name_args, FN_READONLY, "True when the database is there.",
             "db_exists 'dbname'"),
    MYSQL_FN("db_get", mysql_db_get, name_args, FN_READONLY,
             "Return character set and collation of a database.", "db_get test"),
    MYSQL_FN("db_list", list_column, access_args, FN_READONLY, "Return the databases.", "db_list",
             .data.text = "SHOW DATABASES"),
    MYSQL_FN("db_optimize", maintain, table_args, 0, "Optimize the tables of a database.",
             "db_optimize dbname dbtable", .data.text = "OPTIMIZE"),
    MYSQL_FN("db_remove", mysql_db_remove, name_args, 0, "Remove a database.", "db_remove 'dbname'"),
    MYSQL_FN("db_repair", maintain, table_args, 0, "Repair the tables of a database.",
             "db_repair dbname dbtable", .data.text = "REPAIR"),
    MYSQL_FN("db_tables", mysql_db_tables, name_args, FN_READONLY, "Return the tables of a database.",
             "db_tables 'database'"),
    MYSQL_FN("file_query", mysql_file_query, file_args, 0, "Run the statements of a file.",
             "file_query mydb file_name=/tmp/sqlfile.sql"),
    MYSQL_FN("free_slave", mysql_free_slave, access_args, 0, "Make a replica a server of its own.",
             "free_slave"),
    MYSQL_FN("get_master_status", mysql_first_row, access_args, FN_READONLY, "Return the status of a master.",
             "get_master_status", .data.text = "SHOW MASTER STATUS"),
    MYSQL_FN("get_slave_status", mysql_first_row, access_args, FN_READONLY, "Return the status of a replica.",
             "get_slave_status", .data.text = "SHOW SLAVE STATUS"),
    MYSQL_FN("grant_add", mysql_grant_add, grant_add_args, 0, "Grant privileges.",
             "grant_add 'SELECT,INSERT,UPDATE' 'database.*' 'frank' 'localhost'"),
    MYSQL_FN("grant_exists", mysql_grant_exists, grant_args, FN_READONLY,
             "True when the privileges are granted.",
             "grant_exists 'SELECT,INSERT,UPDATE' 'database.*' 'frank' 'localhost'"),
    MYSQL_FN("grant_revoke", mysql_grant_revoke, grant_args, 0, "Revoke privileges.",
             "grant_revoke 'SELECT,INSERT,UPDATE' 'database.*' 'frank' 'localhost'"),
    MYSQL_FN("plugin_add", mysql_plugin_add, plugin_add_args, 0, "Install a plugin.",
             "plugin_add auth_socket"),
    MYSQL_FN("plugin_remove", mysql_plugin_remove, plugin_args, 0, "Uninstall a plugin.",
             "plugin_remove auth_socket"),
    MYSQL_FN("plugin_status", mysql_plugin_status, plugin_args, FN_READONLY,
             "Return the status of a plugin; empty when it is not installed.", "plugin_status auth_socket"),
    MYSQL_FN("plugins_list", mysql_plugins_list, access_args, FN_READONLY,
             "Return the plugins and their status.", "plugins_list"),
    MYSQL_FN("processlist", list_rows, access_args, FN_READONLY, "Return what the server's connections do.",
             "processlist", .data.text = "SHOW FULL PROCESSLIST"),
    MYSQL_FN("query", mysql_query, query_args, 0, "Run a statement.",
             "query mydb \"UPDATE mytable set myfield=1\""),
    MYSQL_FN("quote_identifier", mysql_quote_identifier, quote_args, FN_READONLY,
             "Quote a name for a statement.", "quote_identifier 'foo`bar'"),
    MYSQL_FN("showglobal", list_rows, access_args, FN_READONLY, "Return the server's global variables.",
             "showglobal", .data.text = "SHOW GLOBAL VARIABLES"),
    MYSQL_FN("showvariables", list_rows, access_args, FN_READONLY, "Return the server's variables.",
             "showvariables", .data.text = "SHOW VARIABLES"),
    MYSQL_FN(
        "slave_lag", mysql_slave_lag, access_args, FN_READONLY,
        "Return by how many seconds a replica is behind: -1 when it is none, -2 when it does not read, -3 when "
        "the server does not answer.",
        "slave_lag"),
    MYSQL_FN("status", mysql_status, access_args, FN_READONLY, "Return the server's counters.", "status"),
    MYSQL_FN("tokenize_grant", mysql_tokenize_grant, tokenize_args, FN_READONLY,
             "Return user, host, privileges and database of a grant.",
             "tokenize_grant \"GRANT SELECT, INSERT ON testdb.* TO 'testuser'@'localhost'\""),
    MYSQL_FN("user_chpass", mysql_user_chpass, chpass_args, 0, "Change the password of a user.",
             "user_chpass frank localhost newpassword"),
    MYSQL_FN("user_create", mysql_user_create, create_args, 0, "Create a user.",
             "user_create 'username' 'hostname' 'password'"),
    MYSQL_FN("user_exists", mysql_user_exists, exists_args, FN_READONLY,
             "True when the user is there, with the password if one is given.",
             "user_exists 'username' 'hostname' 'password'"),
    MYSQL_FN("user_grants", mysql_user_grants, user_args, FN_READONLY, "Return the grants of a user.",
             "user_grants 'frank' 'localhost'"),
    MYSQL_FN("user_info", mysql_user_info, user_args, FN_READONLY,
             "Return all that the server keeps of a user.", "user_info root localhost"),
    MYSQL_FN("user_list", list_rows, access_args, FN_READONLY, "Return the users.", "user_list",
             .data.text = "SELECT User,Host FROM mysql.user"),
    MYSQL_FN("user_remove", mysql_user_remove, user_args, 0, "Remove a user.", "user_remove frank localhost"),
    MYSQL_FN("verify_login", mysql_verify_login, login_args, FN_READONLY,
             "True when the server lets the user in with the password.", "verify_login root password"),
    MYSQL_FN("version", mysql_version, access_args, FN_READONLY, "Return the server's version.", "version"),
};

PLUGIN(exec, mysql, .doc = "MySQL and MariaDB servers", FUNCS(funcs), .unavailable = mysqlconn_missing);
