/* mysqlgrants.c - see mysqlusers.h: what users may do. A grant that is asked for is compared with what the
 * server shows of the user's grants, privilege by privilege. */
#include "plugins/lib/database/mysqltext.h"
#include "plugins/lib/database/mysqlusers.h"
#include "common/base/str.h"
#include "salt/log.h"

/* All that ALL PRIVILEGES on *.* means to MySQL 8, which shows them one by one. */
static const char all_of_mysql8[] =
    "ALTER, ALTER ROUTINE, BACKUP_ADMIN, BINLOG_ADMIN, CONNECTION_ADMIN, CREATE, CREATE ROLE, CREATE ROUTINE, "
    "CREATE TABLESPACE, CREATE TEMPORARY TABLES, CREATE USER, CREATE VIEW, DELETE, DROP, DROP ROLE, "
    "ENCRYPTION_KEY_ADMIN, EVENT, EXECUTE, FILE, GROUP_REPLICATION_ADMIN, INDEX, INSERT, LOCK TABLES, "
    "PERSIST_RO_VARIABLES_ADMIN, PROCESS, REFERENCES, RELOAD, REPLICATION CLIENT, REPLICATION SLAVE, "
    "REPLICATION_SLAVE_ADMIN, RESOURCE_GROUP_ADMIN, RESOURCE_GROUP_USER, ROLE_ADMIN, SELECT, SET_USER_ID, "
    "SHOW DATABASES, SHOW VIEW, SHUTDOWN, SUPER, SYSTEM_VARIABLES_ADMIN, TRIGGER, UPDATE, XA_RECOVER_ADMIN";

/* A grant of a call, its texts ready for a statement. */
typedef struct grant {
    const char *user, *host;
    char *privileges, *object; /* owned */
} grant_t;

static void
grant_free(grant_t *g)
{
    free(g->privileges);
    free(g->object);
}

/* False, with the reason in the log and in the context. The caller frees *g in any case. */
static bool
grant_of(call_ctx_t *ctx, const json_t *args, grant_t *g)
{
    AUTO_FREE char *grant = value_joined(value_get(args, "grant"), ",");
    fail_auto_t why = FAIL_INIT;

    *g = (grant_t){ .user = value_str(args, "user", ""), .host = value_str(args, "host", "localhost") };
    g->privileges = mysqltext_privileges(grant, &why);
    if (g->privileges != NULL)
        g->object = mysqltext_object(value_str(args, "database", ""), value_bool(args, "escape", true), &why);
    if (g->object == NULL)
        mysql_error_set(ctx, "Error during grant generation: %s", fail_text(&why));
    return g->object != NULL;
}

/* The user's grants without passwords, as Salt shows them. NEW list; NULL: no such user, or an error. */
static json_t *
grants_of(mysqlconn_t *my, const char *user, const char *host)
{
    json_t *list, *row;
    size_t i;

    if (mysql_has_user(my, user, host) != 1 || mysqlconn_run(my, "SHOW GRANTS FOR ?@?", user, host) < 0)
        return NULL;
    list = json_array();
    json_array_foreach (mysqlconn_rows(my), i, row) {
        const char *text = json_string_value(json_array_get(row, 0));
        if (text == NULL)
            continue;
        const char *end = strstr(text, " IDENTIFIED BY");
        AUTO_FREE char *shown = end != NULL ? xstrndup(text, (size_t) (end - text)) : xstrdup(text);
        bool option = strstr(text, "WITH GRANT OPTION") != NULL && strstr(shown, "WITH GRANT OPTION") == NULL;
        json_array_append_new(list, value_fmt("%s%s", shown, option ? " WITH GRANT OPTION" : ""));
    }
    return list;
}

/* True when the user has the grant. */
static bool
mysqlgrants_is_granted(mysqlconn_t *my, const grant_t *g)
{
    const char *version = mysqlconn_version(my);
    json_auto_t *shown = *version != '\0' ? grants_of(my, g->user, g->host) : NULL, *have = json_array();
    const char *privileges = g->privileges;
    json_t *line;
    size_t i;

    if (shown == NULL)
        return false;
    if (strstr(privileges, "ALL") != NULL)
        privileges = strstr(version, "MariaDB") == NULL && mysqltext_version(version, 8, 0, 0) >= 0 &&
                             strcmp(g->object, "*.*") == 0
                         ? all_of_mysql8
                         : "ALL PRIVILEGES";
    json_array_foreach (shown, i, line) {
        json_t *tokens = mysqltext_tokens(json_string_value(line));
        mysqltext_aliases(value_get(tokens, "grant"), version);
        json_array_append_new(have, tokens);
    }
    AUTO_FREE char *text = xasprintf("GRANT %s ON %s TO", privileges, g->object);
    json_auto_t *wanted = mysqltext_tokens(text);
    mysqltext_aliases(value_get(wanted, "grant"), version);
    json_object_set_new(wanted, "user", json_string(g->user));
    json_object_set_new(wanted, "host", json_string(g->host));
    return mysqltext_covers(have, wanted);
}

int
mysql_user_grants(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO(mysqlconn) my = mysqlconn_open(ctx, mysql_access(args));
    json_t *list = my != NULL
                       ? grants_of(my, value_str(args, "user", ""), value_str(args, "host", "localhost"))
                       : NULL;

    *ret_value = list != NULL ? list : json_false();
    return 0;
}

int
mysql_tokenize_grant(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = mysqltext_tokens(value_str(args, "grant", ""));
    return 0;
}

int
mysql_grant_exists(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    grant_t g;
    AUTO(mysqlconn) my = grant_of(ctx, args, &g) ? mysqlconn_open(ctx, mysql_access(args)) : NULL;

    *ret_value = json_boolean(my != NULL && mysqlgrants_is_granted(my, &g));
    grant_free(&g);
    return 0;
}

int
mysql_grant_add(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    grant_t g;
    fail_auto_t why = FAIL_INIT;
    AUTO(mysqlconn) my = grant_of(ctx, args, &g) ? mysqlconn_open(ctx, mysql_access(args)) : NULL;
    AUTO_FREE char *require = mysqltext_require(value_get(args, "ssl_option"), &why);

    if (require == NULL)
        mysql_error_set(ctx, "Error during grant generation: %s", fail_text(&why));
    *ret_value = json_boolean(
        my != NULL && require != NULL &&
        mysqlconn_run(my, "GRANT $ ON $ TO ?@?$$", g.privileges, g.object, g.user, g.host, require,
                      value_truthy(value_get(args, "grant_option")) ? " WITH GRANT OPTION" : "") == 0 &&
        mysqlgrants_is_granted(my, &g));
    grant_free(&g);
    return 0;
}

int
mysql_grant_revoke(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    grant_t g;
    AUTO(mysqlconn) my = grant_of(ctx, args, &g) ? mysqlconn_open(ctx, mysql_access(args)) : NULL;
    bool option = value_truthy(value_get(args, "grant_option"));

    *ret_value = json_boolean(my != NULL &&
                              mysqlconn_run(my, "REVOKE $$ ON $ FROM ?@?", g.privileges,
                                            option ? ", GRANT OPTION" : "", g.object, g.user, g.host) == 0 &&
                              !mysqlgrants_is_granted(my, &g));
    grant_free(&g);
    return 0;
}
