/* pgprivs.c - see pgroles.h: privileges of roles on objects. An object's access list is compared with what
 * is asked for. */
#include "common/base/str.h"
#include "plugins/lib/database/pgroles.h"
#include "salt/log.h"

/* What a call is about. Texts BORROWED; `type` owned. */
typedef struct object {
    const char *name, *object, *prepend;
    char *type;
    json_t *privileges;            /* owned list, upper case; empty for a group */
    bool grant_option, everything; /* everything: all tables or sequences of the schema */
} object_t;

static void
object_free(object_t *o)
{
    free(o->type);
    json_decref(o->privileges);
}
#define object_auto_t __attribute__((cleanup(object_free))) object_t

static char *
cased(const char *text, bool upper)
{
    char *out = xstrdup(text);

    for (char *c = out; *c != '\0'; c++) {
        if (upper && *c >= 'a' && *c <= 'z')
            *c = (char) (*c - 'a' + 'A');
        else if (!upper && *c >= 'A' && *c <= 'Z')
            *c = (char) (*c - 'A' + 'a');
    }
    return out;
}

/* Letters, digits and what the signature of a function is written with: nothing that ends a statement. */
static int
check_signature(const char *text, fail_t *err)
{
    for (const char *c = text; *c != '\0'; c++) {
        if (strchr(";'\"\\$-/*", *c) != NULL)
            return fail_kind(err, FAIL_INVOCATION, -EINVAL,
                             "object_name: '%s' is no function, like f(integer, text)", text);
    }
    return 0;
}

static int
check_privileges(const object_t *o, const char *given, fail_t *err)
{
    const char *letters = pgtext_letters_of(o->type);
    json_t *one;
    size_t i;

    if (strcmp(o->type, "group") == 0)
        return *given == '\0' ? 0
                              : fail_kind(err, FAIL_INVOCATION, -EINVAL,
                                          "The privileges option should not be set for object_type group");
    if (letters == NULL)
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "Invalid object_type: %s provided", o->type);
    json_auto_t *known = pgtext_letters(letters);
    json_array_foreach (o->privileges, i, one) {
        const char *name = json_string_value(one);
        if (strcmp(name, "ALL") != 0 && value_get(known, name) == NULL)
            return fail_kind(err, FAIL_INVOCATION, -EINVAL, "Invalid privilege(s): %s provided for object %s",
                             given, o->type);
    }
    return strcmp(o->type, "function") == 0 ? check_signature(o->object, err) : 0;
}

/* Reads the arguments. 0 or negative with *err; the caller frees *o in any case. */
static int
object_of(object_t *o, const json_t *args, fail_t *err)
{
    const char *given = value_str(args, "privileges", "");
    AUTO_FREE char *text = cased(given, true);

    *o = (object_t){ .name = value_str(args, "name", ""),
                     .object = value_str(args, "object_name", value_str(args, "name", "")),
                     .prepend = value_str(args, "prepend", "public"),
                     .type = cased(value_str(args, "object_type", ""), false),
                     .privileges = json_array(),
                     .grant_option = value_truthy(value_get(args, "grant_option")) };
    o->everything = (strcmp(o->type, "table") == 0 || strcmp(o->type, "sequence") == 0) &&
                    strcasecmp(o->object, "all") == 0;
    char **parts = str_split(text, ",", false);
    for (size_t i = 0; *text != '\0' && parts[i] != NULL; i++)
        json_array_append_new(o->privileges, json_string(str_trim(parts[i])));
    strv_free(parts);
    return check_privileges(o, given, err);
}

/* ---- what is granted -------------------------------------------------------------------------- */

/* The query for owner and access list of the object, or of all of them. NEW. */
static char *
acl_query(const object_t *o)
{
    static const struct {
        const char *type, *sql;
    } queries[] = {
        { "schema",
          "SELECT r.rolname AS owner, nspacl AS name FROM pg_catalog.pg_namespace n JOIN pg_catalog.pg_roles "
          "r ON n.nspowner = r.oid WHERE nspname = ?" },
        { "tablespace", "SELECT r.rolname AS owner, spcacl AS name FROM pg_catalog.pg_tablespace t JOIN "
                        "pg_catalog.pg_roles r ON t.spcowner = r.oid WHERE spcname = ?" },
        { "language", "SELECT r.rolname AS owner, lanacl AS name FROM pg_catalog.pg_language l JOIN "
                      "pg_catalog.pg_roles r ON l.lanowner = r.oid WHERE lanname = ?" },
        { "database", "SELECT r.rolname AS owner, datacl AS name FROM pg_catalog.pg_database d JOIN "
                      "pg_catalog.pg_roles r ON d.datdba = r.oid WHERE datname = ?" },
    };
    static const char relation[] =
        "SELECT r.rolname AS owner, relacl AS name FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = "
        "c.relnamespace JOIN pg_catalog.pg_roles r ON c.relowner = r.oid WHERE nspname = ? AND relkind in ($)";
    static const char function[] =
        "SELECT r.rolname AS owner, proacl AS name FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = "
        "p.pronamespace JOIN pg_catalog.pg_roles r ON p.proowner = r.oid WHERE nspname = ? AND "
        "p.oid::regprocedure::text = ?";

    for (size_t i = 0; i < NELEMS(queries); i++) {
        if (strcmp(queries[i].type, o->type) == 0)
            return pgtext_sql(queries[i].sql, o->object);
    }
    if (strcmp(o->type, "function") == 0)
        return pgtext_sql(function, o->prepend, o->object);
    if (strcmp(o->type, "group") == 0)
        return pgtext_sql(
            "SELECT rolname, admin_option FROM pg_catalog.pg_auth_members m JOIN pg_catalog.pg_roles r ON "
            "m.member=r.oid WHERE m.roleid IN (SELECT oid FROM pg_catalog.pg_roles WHERE rolname=?) ORDER "
            "BY rolname",
            o->object);
    AUTO_FREE char *all = pgtext_sql(relation, o->prepend,
                                     strcmp(o->type, "sequence") == 0 ? "'S'" : "'r', 'v', 'p', 'm', 'f'");
    return o->everything ? STEAL(all) : pgtext_sql("$ AND relname = ?", all, o->object);
}

/* Members of the group, or access lists by role: of one row. NEW. */
static json_t *
row_privileges(const object_t *o, const json_t *rows, size_t i)
{
    json_t *row = json_array_get(rows, i);

    if (strcmp(o->type, "group") != 0)
        return pgtext_acl(value_str(row, "name", ""));
    return json_pack("{s:b}", value_str(row, "rolname", ""),
                     strcmp(value_str(row, "admin_option", ""), "t") == 0);
}

int
pg_privileges_list(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    pgconn_auto_t pg;
    object_auto_t o;

    pgconn_of(&pg, ctx, args);
    if (object_of(&o, args, err) < 0)
        return err->code;
    json_auto_t *rows = pgconn_query(&pg, acl_query(&o), false, err);
    if (rows == NULL)
        return err->code;
    *ret_value = json_object();
    for (size_t i = 0; i < json_array_size(rows); i++) {
        json_auto_t *some = row_privileges(&o, rows, i);
        json_object_update(*ret_value, some);
    }
    return 0;
}

/* True when what the role has, {privilege: grantable}, is what is asked for. */
static bool
is_enough(const object_t *o, const json_t *has)
{
    json_auto_t *all = NULL;
    json_t *one;
    size_t i;

    if (strcmp(o->type, "group") == 0)
        return has != NULL && (!o->grant_option || json_is_true(has));
    if (has == NULL)
        return false;
    all = pgtext_letters(pgtext_letters_of(o->type));
    bool any = value_lists(o->privileges, "ALL") || json_array_size(o->privileges) == 0;
    json_auto_t *names = json_object_size(all) > 0 && any ? value_sorted_keys(all)
                                                          : json_incref(o->privileges);
    json_array_foreach (names, i, one) {
        json_t *grantable = value_get(has, json_string_value(one));
        if (grantable == NULL || (o->grant_option && !json_is_true(grantable)))
            return false;
    }
    return true;
}

/* 1, 0, or negative with *err. */
static int
pgprivs_is_granted(pgconn_t *pg, const object_t *o, fail_t *err)
{
    json_auto_t *rows = pgconn_query(pg, acl_query(o), false, err);
    bool group = strcmp(o->type, "group") == 0, found = o->everything;
    json_t *row;
    size_t i;

    if (rows == NULL)
        return err->code;
    json_array_foreach (rows, i, row) {
        json_auto_t *lists = row_privileges(o, rows, i);
        bool owner = !group && strcmp(value_str(row, "owner", ""), o->name) == 0;
        bool enough = owner || is_enough(o, value_get(lists, o->name));
        if (o->everything && !enough)
            return 0;
        found = o->everything || found || enough;
    }
    return found;
}

int
pg_has_privileges(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    pgconn_auto_t pg;
    object_auto_t o;

    pgconn_of(&pg, ctx, args);
    int rc = object_of(&o, args, err);
    rc = rc == 0 ? pgprivs_is_granted(&pg, &o, err) : rc;
    if (rc >= 0)
        *ret_value = json_boolean(rc);
    return rc < 0 ? rc : 0;
}

/* ---- grant and revoke ------------------------------------------------------------------------- */

/* "PRIVILEGES ON TYPE OBJECT". NEW. */
static char *
grant_target(const object_t *o)
{
    AUTO_FREE char *privileges = json_array_size(o->privileges) > 0 ? value_joined(o->privileges, ",")
                                                                    : xstrdup("ALL");
    AUTO_FREE char *type = cased(o->type, true);

    if (o->everything)
        return pgtext_sql("$ ON ALL $S IN SCHEMA ~", privileges, type, o->prepend);
    if (strcmp(o->type, "table") == 0 || strcmp(o->type, "sequence") == 0)
        return pgtext_sql("$ ON $ ~.~", privileges, type, o->prepend, o->object);
    if (strcmp(o->type, "function") == 0)
        return pgtext_sql("$ ON FUNCTION ~.$", privileges, o->prepend, o->object);
    return pgtext_sql("$ ON $ ~", privileges, type, o->object);
}

int
pg_privileges_grant(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    pgconn_auto_t pg;
    object_auto_t o;

    pgconn_of(&pg, ctx, args);
    int rc = object_of(&o, args, err);
    int has = rc == 0 ? pgprivs_is_granted(&pg, &o, err) : rc;
    if (has > 0)
        log_info("The object: %s of type: %s already has privileges: %s set", o.object, o.type,
                 value_str(args, "privileges", ""));
    if (has == 0 && strcmp(o.type, "group") == 0) {
        rc = pgconn_run(
            &pg, pgtext_sql("GRANT ~ TO ~$", o.object, o.name, o.grant_option ? " WITH ADMIN OPTION" : ""),
            false, err);
    } else if (has == 0) {
        AUTO_FREE char *target = grant_target(&o);
        rc = pgconn_run(
            &pg, pgtext_sql("GRANT $ TO ~$", target, o.name, o.grant_option ? " WITH GRANT OPTION" : ""),
            false, err);
    }
    if (has >= 0 && rc >= 0)
        *ret_value = json_boolean(has == 0 && rc > 0);
    return has < 0 ? has : rc < 0 ? rc : 0;
}

int
pg_privileges_revoke(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    pgconn_auto_t pg;
    object_auto_t o;

    pgconn_of(&pg, ctx, args);
    int rc = object_of(&o, args, err);
    int has = rc == 0 ? pgprivs_is_granted(&pg, &o, err) : rc;
    if (has == 0)
        log_info("The object: %s of type: %s does not have privileges: %s set", o.object, o.type,
                 value_str(args, "privileges", ""));
    if (has > 0 && strcmp(o.type, "group") == 0) {
        rc = pgconn_run(&pg, pgtext_sql("REVOKE ~ FROM ~", o.object, o.name), false, err);
    } else if (has > 0) {
        AUTO_FREE char *target = grant_target(&o);
        rc = pgconn_run(&pg, pgtext_sql("REVOKE $ FROM ~", target, o.name), false, err);
    }
    if (has >= 0 && rc >= 0)
        *ret_value = json_boolean(has > 0 && rc > 0);
    return has < 0 ? has : rc < 0 ? rc : 0;
}
