/* pgroles.c - see pgroles.h: roles, which are users when they may log in. */
#include "plugins/lib/database/pgroles.h"

#include "common/base/str.h"
#include "salt/log.h"

const char *
pg_method(const json_t *encrypted, fail_t *err)
{
    static const char *const names[] = { "md5", "scram-sha-256" };

    if (encrypted == NULL || json_is_null(encrypted) || json_is_true(encrypted))
        return "md5";
    if (json_is_false(encrypted))
        return "";
    AUTO_FREE char *text = value_pystr(encrypted);
    for (size_t i = 0; i < NELEMS(names); i++) {
        if (strcmp(names[i], text) == 0)
            return names[i];
    }
    (void) fail_set(err, -EINVAL, "Unknown password algorithm: %s", text);
    return NULL;
}

json_t *
pg_time(const char *text)
{
    static const char shape[] = "0000-00-00 00:00:00";

    if (strlen(text) != strlen(shape))
        return json_null();
    for (size_t i = 0; shape[i] != '\0'; i++) {
        bool digit = text[i] >= '0' && text[i] <= '9';
        if (shape[i] == '0' ? !digit : text[i] != shape[i])
            return json_null();
    }
    return json_string(text);
}

/* ---- what is there ---------------------------------------------------------------------------- */

static const char roles_query[] =
    "SELECT pg_roles.rolname as \"name\", pg_roles.rolsuper as \"superuser\", pg_roles.rolinherit as \"inherits "
    "privileges\", pg_roles.rolcreaterole as \"can create roles\", pg_roles.rolcreatedb as \"can create databases\", $ "
    "as \"can update system catalogs\", pg_roles.rolcanlogin as \"can login\", $ as \"replication\", "
    "pg_roles.rolconnlimit as \"connections\", (SELECT array_agg(pg_roles2.rolname) FROM pg_catalog.pg_auth_members "
    "JOIN pg_catalog.pg_roles pg_roles2 ON (pg_auth_members.roleid = pg_roles2.oid) WHERE pg_auth_members.member = "
    "pg_roles.oid) as \"groups\", pg_roles.rolvaliduntil::timestamp(0) as \"expiry time\", pg_roles.rolconfig as "
    "\"defaults variables\"$ FROM pg_roles$";
static const char password_column[] = ", COALESCE(pg_shadow.passwd, pg_authid.rolpassword) as \"password\"";
static const char password_tables[] =
    " LEFT JOIN pg_authid ON pg_roles.oid = pg_authid.oid LEFT JOIN pg_shadow ON pg_roles.oid = pg_shadow.usesysid";

/* A row of the query as the functions return it. NEW. */
static json_t *
role_of(const json_t *row, bool password)
{
    static const char *const flags[] = { "superuser",
                                         "inherits privileges",
                                         "can create roles",
                                         "can create databases",
                                         "can update system catalogs",
                                         "can login",
                                         "replication",
                                         "connections" };
    json_t *role = json_object();

    for (size_t i = 0; i < NELEMS(flags); i++) {
        const char *text = value_str(row, flags[i], "");
        json_object_set_new(role, flags[i],
                            strcmp(text, "t") == 0   ? json_true()
                            : strcmp(text, "f") == 0 ? json_false()
                                                     : json_null());
    }
    json_object_set_new(role, "expiry time", pg_time(value_str(row, "expiry time", "")));
    json_object_set(role, "defaults variables", value_get(row, "defaults variables"));
    if (password)
        json_object_set(role, "password", value_get(row, "password"));
    json_object_set_new(role, "groups", pgtext_array(value_str(row, "groups", "")));
    return role;
}

/* {name: role}. NEW; json_false() when the server does not answer; NULL with *err. */
static json_t *
roles_of(pgconn_t *pg, bool password, fail_t *err)
{
    AUTO_FREE char *version = pgconn_version(pg, err);
    json_t *all, *row;
    size_t i;

    if (version == NULL)
        return NULL;
    if (*version == '\0') {
        log_error("Could not retrieve Postgres version. Is Postgresql server running?");
        return json_false();
    }
    json_auto_t *rows = pgconn_query(
        pg,
        pgtext_sql(roles_query, pgtext_version(version, "9.5") >= 0 ? "NULL" : "pg_roles.rolcatupdate",
                   pgtext_version(version, "9.1") >= 0 ? "pg_roles.rolreplication" : "NULL",
                   password ? password_column : "", password ? password_tables : ""),
        false, err);
    if (rows == NULL)
        return NULL;
    all = json_object();
    json_array_foreach (rows, i, row)
        json_object_set_new(all, value_str(row, "name", ""), role_of(row, password));
    return all;
}

/* The role of this name: NEW, json_null() when there is none or no server, NULL with *err. */
static json_t *
role_named(pgconn_t *pg, const char *name, bool password, fail_t *err)
{
    json_auto_t *all = roles_of(pg, password, err);
    json_t *role = value_get(all, name);

    if (all == NULL)
        return NULL;
    if (json_is_false(all))
        log_error("Could not retrieve Postgres role. Is Postgres running?");
    return role != NULL ? json_incref(role) : json_null();
}

/* 1, 0, or negative with *err. */
static int
has_role(pgconn_t *pg, const char *name, fail_t *err)
{
    json_auto_t *role = role_named(pg, name, false, err);

    return role != NULL ? value_truthy(role) : err->code;
}

int
pg_user_list(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    pgconn_auto_t pg;

    pgconn_of(&pg, ctx, args);
    *ret_value = roles_of(&pg, value_truthy(value_get(args, "return_password")), err);
    return *ret_value != NULL ? 0 : err->code;
}

int
pg_role_get(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    pgconn_auto_t pg;

    pgconn_of(&pg, ctx, args);
    *ret_value = role_named(&pg, value_str(args, "name", ""),
                            value_truthy(value_get(args, "return_password")), err);
    return *ret_value != NULL ? 0 : err->code;
}

int
pg_user_exists(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    pgconn_auto_t pg;

    pgconn_of(&pg, ctx, args);
    int there = has_role(&pg, value_str(args, "name", ""), err);
    *ret_value = there >= 0 ? json_boolean(there) : NULL;
    return there < 0 ? there : 0;
}

/* ---- create, update, remove ------------------------------------------------------------------- */

/* " FLAG" or " NOFLAG"; `dflt` when the argument is None: -1 leaves it to the server. */
static void
pgrole_add_flag(buf_t *sql, const json_t *args, const char *name, const char *flag, int dflt)
{
    json_t *v = value_get(args, name);
    int on = v == NULL || json_is_null(v) ? dflt : value_truthy(v);

    if (on >= 0)
        buf_printf(sql, " %s%s", on ? "" : "NO", flag);
}

/* " ENCRYPTED PASSWORD '...'" as it is kept. 0 or negative with *err; *ret_secret: there is one. */
static int
pgrole_add_password(buf_t *sql, const json_t *args, const char *name, bool *ret_secret, fail_t *err)
{
    json_t *given = value_get(args, "rolepassword");
    const char *method = pg_method(value_get(args, "encrypted"), err);

    *ret_secret = value_truthy(given);
    if (method == NULL)
        return err->code;
    if (json_is_false(given))
        buf_puts(sql, " PASSWORD NULL");
    if (!*ret_secret)
        return 0;
    AUTO_FREE char *text = value_pystr(given), *kept = pgtext_password(name, text, method, err);
    if (kept == NULL)
        return err->code;
    pgtext_add(sql, " $PASSWORD ?", *method != '\0' ? "ENCRYPTED " : "", kept);
    return 0;
}

/* What follows CREATE or ALTER ROLE "name". `role`: as it is, or NULL; `user`: 1 a user, 0 a group, -1 is
 * not said. */
static int
pgrole_add_options(buf_t *sql, const json_t *args, const char *name, const json_t *role, int user,
                   bool *ret_secret, fail_t *err)
{
    json_t *superuser = value_get(args, "superuser"), *until = value_get(args, "valid_until"),
           *limit = value_get(args, "connlimit");
    size_t bare = sql->len;

    buf_puts(sql, " WITH");
    size_t start = sql->len;
    pgrole_add_flag(sql, args, "inherit", "INHERIT", user >= 0 ? 1 : -1);
    pgrole_add_flag(sql, args, "createdb", "CREATEDB", -1);
    pgrole_add_flag(sql, args, "createroles", "CREATEROLE", -1);
    /* Only a superuser may say SUPERUSER, even where nothing changes. */
    if (role == NULL || value_truthy(superuser) != value_bool(role, "superuser", false))
        pgrole_add_flag(sql, args, "superuser", "SUPERUSER", -1);
    pgrole_add_flag(sql, args, "replication", "REPLICATION", -1);
    pgrole_add_flag(sql, args, "login", "LOGIN", user);
    if (limit != NULL && json_is_integer(limit))
        buf_printf(sql, " CONNECTION LIMIT %lld", (long long) json_integer_value(limit));
    int rc = pgrole_add_password(sql, args, name, ret_secret, err);
    if (value_truthy(until))
        pgtext_add(sql, " VALID UNTIL ?", json_string_value(until));
    if (sql->len == start)
        sql->data[sql->len = bare] = '\0'; /* nothing is set: WITH would be wrong */
    return rc;
}

static void
add_groups(buf_t *sql, const json_t *args, const char *name)
{
    json_t *groups = value_get(args, "groups");
    AUTO_FREE char *text = value_truthy(groups) ? value_joined(groups, ",") : xstrdup("");
    char **names = str_split(text, ",", true);

    for (size_t i = 0; names[i] != NULL; i++)
        pgtext_add(sql, "; GRANT ~ TO ~", str_trim(names[i]), name);
    strv_free(names);
}

int
pg_role_create(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *kind = ctx_row(ctx)->data.text;
    bool user = strcmp(kind, "user") == 0, secret = false;
    const char *name = value_str(args, user ? "username" : "groupname", "");
    pgconn_auto_t pg;
    buf_auto_t sql = BUF_INIT;

    pgconn_of(&pg, ctx, args);
    int rc = has_role(&pg, name, err);
    if (rc > 0)
        log_info("%s '%s' already exists", user ? "User" : "Group", name);
    if (rc == 0) {
        pgtext_add(&sql, "CREATE ROLE ~", name);
        rc = pgrole_add_options(&sql, args, name, NULL, user, &secret, err);
        add_groups(&sql, args, name);
        if (rc == 0)
            rc = pgconn_run(&pg, buf_steal(&sql), secret, err);
        if (rc >= 0)
            *ret_value = json_boolean(rc);
        return rc < 0 ? rc : 0;
    }
    *ret_value = rc > 0 ? json_false() : NULL;
    return rc > 0 ? 0 : rc;
}

int
pg_role_update(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    bool user = strcmp(ctx_row(ctx)->data.text, "user") == 0, secret = false;
    const char *name = value_str(args, user ? "username" : "groupname", "");
    pgconn_auto_t pg;
    buf_auto_t sql = BUF_INIT;

    pgconn_of(&pg, ctx, args);
    json_auto_t *role = role_named(&pg, name, false, err);
    if (role == NULL)
        return err->code;
    if (json_is_null(role)) {
        log_info("%s '%s' could not be found", user ? "User" : "Group", name);
        *ret_value = json_false();
        return 0;
    }
    pgtext_add(&sql, "ALTER ROLE ~", name);
    int rc = pgrole_add_options(&sql, args, name, role, -1, &secret, err);
    add_groups(&sql, args, name);
    if (rc == 0)
        rc = pgconn_run(&pg, buf_steal(&sql), secret, err);
    if (rc >= 0)
        *ret_value = json_boolean(rc);
    return rc < 0 ? rc : 0;
}

int
pg_role_remove(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = value_str(args,
                                 strcmp(ctx_row(ctx)->data.text, "user") == 0 ? "username" : "groupname", "");
    pgconn_auto_t pg;

    pgconn_of(&pg, ctx, args);
    int there = has_role(&pg, name, err);
    if (there == 0)
        log_info("User '%s' does not exist", name);
    int rc = there > 0 ? pgconn_run(&pg, pgtext_sql("DROP ROLE ~", name), false, err) : there;
    int left = rc >= 0 && there > 0 ? has_role(&pg, name, err) : rc;
    if (there == 0 || left >= 0)
        *ret_value = json_boolean(there > 0 && left == 0);
    return there == 0 ? 0 : left < 0 ? left : 0;
}
