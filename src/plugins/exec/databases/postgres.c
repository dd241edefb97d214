/* postgres.c - execution module `postgres`: databases, tablespaces, extensions, schemas and languages of
 * PostgreSQL, by psql; roles, privileges and clusters are in files of their own (pgroles.h). Queries read
 * the catalogs of PostgreSQL 11 and later (pg_proc.prokind). psql_query asks for CSV, so every value in a
 * row is a text, also numbers and booleans ("t", "f"); a query that the server refuses has no rows, and the
 * log has its reason. */
#include "common/base/str.h"
#include "plugins/lib/database/pgroles.h"
#include "plugins/lib/database/pgrows.h"
#include "salt/log.h"

/* The rows of a query as {row[key]: the row without the key}. NEW, or NULL with *err. */
static json_t *
pg_list(pgconn_t *pg, const char *query, const char *key, fail_t *err)
{
    json_auto_t *rows = pgconn_query(pg, xstrdup(query), false, err);
    json_t *all, *row;
    size_t i;

    if (rows == NULL)
        return NULL;
    all = json_object();
    json_array_foreach (rows, i, row) {
        json_t *rest = json_copy(row);
        json_object_del(rest, key);
        json_object_set_new(all, value_str(row, key, ""), rest);
    }
    return all;
}

/* Sets the answer of a statement, True or False when the server took or refused it. `rc`: as pgconn_run()
 * returns. Returns 0, or negative with *err when psql could not be run. */
static int
pg_answer(int rc, json_t **ret_value)
{
    if (rc >= 0)
        *ret_value = json_boolean(rc);
    return rc < 0 ? rc : 0;
}

static const char *
postgres_name(const json_t *args)
{
    return value_str(args, "name", "");
}

/* ---- the row's list ---------------------------------------------------------------------------- */

/* A list that the server gives: its query, and the column that becomes the key of the answer. The row of a
 * function points to one of these, so that db_list and db_exists, or tablespace_list and tablespace_exists,
 * share it. */
typedef struct listing {
    const char *query, *key;
} listing_t;

/* The columns carry the names that `psql -l` shows: Salt's callers look them up by these. */
static const listing_t databases = {
    "SELECT datname as \"Name\", pga.rolname as \"Owner\", pg_encoding_to_char(encoding) as \"Encoding\", datcollate as "
    "\"Collate\", datctype as \"Ctype\", datacl as \"Access privileges\", spcname as \"Tablespace\" FROM pg_database "
    "pgd, pg_roles pga, pg_tablespace pgts WHERE pga.oid = pgd.datdba AND pgts.oid = pgd.dattablespace",
    "Name"
};
/* The folder is asked of a function: pg_tablespace has had no column for it since PostgreSQL 9.2. */
static const listing_t tablespaces = {
    "SELECT spcname as \"Name\", pga.rolname as \"Owner\", spcacl as \"ACL\", spcoptions as \"Opts\", "
    "pg_tablespace_location(pgts.oid) as \"Location\" FROM pg_tablespace pgts, pg_roles pga WHERE pga.oid = "
    "pgts.spcowner",
    "Name"
};

static int
list_all(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const listing_t *listing = ctx_row(ctx)->data.ptr;
    pgconn_auto_t pg;

    pgconn_of(&pg, ctx, args);
    *ret_value = pg_list(&pg, listing->query, listing->key, err);
    return *ret_value != NULL ? 0 : err->code;
}

/* db_exists and tablespace_exists. A server that can't be reached lists nothing, so the answer is False, as
 * Salt's. */
static int
is_listed(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *all = NULL;
    int rc = list_all(ctx, args, &all, err);

    if (rc == 0)
        *ret_value = json_boolean(value_get(all, postgres_name(args)) != NULL);
    json_decref(all);
    return rc;
}

/* The server's version, not psql's. The text is as psql read it, so it is made valid UTF-8 before it
 * becomes a value. */
static int
postgres_version(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    pgconn_auto_t pg;

    pgconn_of(&pg, ctx, args);
    AUTO_FREE char *version = pgconn_version(&pg, err);
    if (version == NULL)
        return err->code;
    *ret_value = value_utf8(version, strlen(version));
    return 0;
}

/* `write`: the statement, still a SELECT by its form, changes rows (WITH x AS (UPDATE ... RETURNING ...)),
 * so it is run in a transaction of its own that is allowed to write. */
static int
postgres_psql_query(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    pgconn_auto_t pg;

    pgconn_of(&pg, ctx, args);
    *ret_value = pgconn_query(&pg, xstrdup(value_str(args, "query", "")),
                              value_truthy(value_get(args, "write")), err);
    return *ret_value != NULL ? 0 : err->code;
}

/* ---- databases --------------------------------------------------------------------------------- */

/* CREATE DATABASE takes its options after one WITH. Names (tablespace, owner, template) are quoted as
 * names, the rest as texts. */
static int
postgres_db_create(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const struct {
        const char *name, *sql;
    } options[] = {
        { "tablespace", " TABLESPACE = ~" }, { "owner", " OWNER = ~" },
        { "template", " TEMPLATE = ~" },     { "encoding", " ENCODING = ?" },
        { "lc_collate", " LC_COLLATE = ?" }, { "lc_ctype", " LC_CTYPE = ?" },
    };
    buf_auto_t sql = BUF_INIT;
    bool with = false;
    pgconn_auto_t pg;

    pgconn_of(&pg, ctx, args);
    pgtext_add(&sql, "CREATE DATABASE ~", postgres_name(args));
    for (size_t i = 0; i < NELEMS(options); i++) {
        /* WITH stands before the first option that is given, and not at all without one. */
        const char *v = value_str(args, options[i].name, NULL);
        if (v == NULL)
            continue;
        buf_puts(&sql, with ? "" : " WITH");
        pgtext_add(&sql, options[i].sql, v);
        with = true;
    }
    return pg_answer(pgconn_run(&pg, buf_steal(&sql), false, err), ret_value);
}

/* Gives a database and all in it to an owner, whole or not at all: the statements are one transaction.
 * Returns NEW what psql returned, or NULL with *err. The server's own schemas stay whose they are;
 * information_schema.tables has the views too, and ALTER TABLE takes them. */
static json_t *
give_all(pgconn_t *pg, const char *db, const char *owner, fail_t *err)
{
#define OWN_SCHEMA "not in ('pg_catalog', 'information_schema', 'pg_toast')"
#define OWN_ROUTINES(kind)                                                                                   \
    "select p.oid::regprocedure::text as n from pg_catalog.pg_proc p join pg_catalog.pg_namespace ns on "    \
    "p.pronamespace=ns.oid where ns.nspname " OWN_SCHEMA " and p.prokind in (" kind ")"
    /* The names come quoted from the server (quote_ident, regprocedure), so they go into the statements as
     * they are. A procedure and an aggregate have statements of their own; a window function ('w') counts
     * as a function. */
    static const char *const parts[][2] = {
        { "schema",
          "select quote_ident(schema_name) as n from information_schema.schemata where schema_name " OWN_SCHEMA
          " and schema_name not like 'pg\\_%'" },
        { "table",
          "select quote_ident(table_schema)||'.'||quote_ident(table_name) as n from information_schema.tables "
          "where table_schema " OWN_SCHEMA },
        { "function", OWN_ROUTINES("'f', 'w'") },
        { "procedure", OWN_ROUTINES("'p'") },
        { "aggregate", OWN_ROUTINES("'a'") },
        { "sequence", "select quote_ident(sequence_schema)||'.'||quote_ident(sequence_name) as n from "
                      "information_schema.sequences" },
    };
    const char *before = pg->db;
    buf_auto_t sql = BUF_INIT;
    bool listed = true;

    /* Only psql in that very database sees what is in it; the connection is the caller's, who gets it back
     * as it was. */
    pg->db = db;
    pgtext_add(&sql, "alter database ~ owner to ~;\n", db, owner);
    for (size_t i = 0; listed && i < NELEMS(parts); i++) {
        /* A query that is refused lists nothing, as in Salt; only a psql that can't be run ends the
         * sequence. */
        json_auto_t *rows = pgconn_query(pg, xstrdup(parts[i][1]), false, err);
        json_t *row;
        size_t k;
        listed = rows != NULL;
        json_array_foreach (rows, k, row)
            pgtext_add(&sql, "alter $ $ owner to ~;\n", parts[i][0], value_str(row, "n", ""), owner);
    }
    /* One script for all: half of the objects with a new owner would be worse than none. */
    json_t *ran = listed ? pgconn_script(pg, buf_str(&sql), err) : NULL;
    pg->db = before;
    return ran;
}

/* Returns what psql returned ({pid, retcode, stdout, stderr}), as cmd.run_all does, and not True or
 * False. */
static int
postgres_owner_to(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    pgconn_auto_t pg;

    pgconn_of(&pg, ctx, args);
    *ret_value = give_all(&pg, value_str(args, "dbname", ""), value_str(args, "ownername", ""), err);
    return *ret_value != NULL ? 0 : err->code;
}

/* Owner first, then tablespace: a step that the server refuses ends it, and the answer is False. With
 * neither given there is nothing to do, which is True. */
static int
postgres_db_alter(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = postgres_name(args), *owner = value_str(args, "owner", ""),
               *tablespace = value_str(args, "tablespace", "");
    pgconn_auto_t pg;
    int rc = 1;

    pgconn_of(&pg, ctx, args);
    if (*owner != '\0' && value_truthy(value_get(args, "owner_recurse"))) {
        /* The database itself is the first statement of the script. */
        json_auto_t *ran = give_all(&pg, name, owner, err);
        rc = ran != NULL ? value_int(ran, "retcode", 1) == 0 : err->code;
    } else if (*owner != '\0') {
        rc = pgconn_run(&pg, pgtext_sql("ALTER DATABASE ~ OWNER TO ~", name, owner), false, err);
    }
    if (rc > 0 && *tablespace != '\0')
        rc = pgconn_run(&pg, pgtext_sql("ALTER DATABASE ~ SET TABLESPACE ~", name, tablespace), false, err);
    return pg_answer(rc, ret_value);
}

/* First no role may connect any more, then open connections are ended, then the database is dropped: with a
 * connection left DROP DATABASE is refused. The connection that asks is spared (maintenance_db is another
 * one). */
static int
postgres_db_remove(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const char *const steps[] = {
        "REVOKE CONNECT ON DATABASE ~ FROM public",
        "SELECT pid, pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = ? AND pid <> pg_backend_pid()",
        "DROP DATABASE ~",
    };
    pgconn_auto_t pg;
    int rc = 1;

    pgconn_of(&pg, ctx, args);
    for (size_t i = 0; rc > 0 && i < NELEMS(steps); i++)
        rc = pgconn_run(&pg, pgtext_sql(steps[i], postgres_name(args)), false, err);
    /* An error and not False: by then the database takes no connections, which the user has to know. */
    if (rc == 0)
        return fail_kind(err, FAIL_COMMAND, -EIO,
                         "database %s could not be removed: the log has what psql said", postgres_name(args));
    return pg_answer(rc, ret_value);
}

/* ---- tablespaces ------------------------------------------------------------------------------- */

/* Adds "NAME = VALUE, ..." of a dict. A number is written as it is, anything else as a quoted text. */
static void
add_tablespace_options(buf_t *sql, json_t *options)
{
    const char *key, *between = "";
    json_t *v;

    json_object_foreach (options, key, v) {
        AUTO_FREE char *text = value_pystr(v);
        pgtext_add(sql, json_is_number(v) ? "$~ = $" : "$~ = ?", between, key, text);
        between = ", ";
    }
}

/* The server makes no folder for a tablespace: `location` is there, empty, and belongs to the server's
 * user. */
static int
postgres_tablespace_create(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *owner = value_str(args, "owner", "");
    json_t *options = value_get(args, "options");
    buf_auto_t sql = BUF_INIT;
    pgconn_auto_t pg;

    pgconn_of(&pg, ctx, args);
    pgtext_add(&sql, "CREATE TABLESPACE ~", postgres_name(args));
    if (*owner != '\0')
        pgtext_add(&sql, " OWNER ~", owner);
    pgtext_add(&sql, " LOCATION ?", value_str(args, "location", ""));
    if (json_object_size(options) > 0) {
        buf_puts(&sql, " WITH (");
        add_tablespace_options(&sql, options);
        buf_putc(&sql, ')');
    }
    return pg_answer(pgconn_run(&pg, buf_steal(&sql), false, err), ret_value);
}

/* ALTER TABLESPACE takes one change at a time: each that is asked for is a statement of its own, until the
 * server refuses one. */
static int
postgres_tablespace_alter(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = postgres_name(args), *new_name = value_str(args, "new_name", ""),
               *owner = value_str(args, "new_owner", ""), *reset = value_str(args, "reset_option", "");
    json_t *set = value_get(args, "set_option");
    pgconn_auto_t pg;
    int rc = 1;

    pgconn_of(&pg, ctx, args);
    if (*owner != '\0')
        rc = pgconn_run(&pg, pgtext_sql("ALTER TABLESPACE ~ OWNER TO ~", name, owner), false, err);
    if (rc > 0 && json_object_size(set) > 0) {
        buf_auto_t sql = BUF_INIT;
        pgtext_add(&sql, "ALTER TABLESPACE ~ SET (", name);
        add_tablespace_options(&sql, set);
        buf_putc(&sql, ')');
        rc = pgconn_run(&pg, buf_steal(&sql), false, err);
    }
    if (rc > 0 && *reset != '\0')
        rc = pgconn_run(&pg, pgtext_sql("ALTER TABLESPACE ~ RESET (~)", name, reset), false, err);
    /* The new name comes last, since the others go by the old one. */
    if (rc > 0 && *new_name != '\0')
        rc = pgconn_run(&pg, pgtext_sql("ALTER TABLESPACE ~ RENAME TO ~", name, new_name), false, err);
    return pg_answer(rc, ret_value);
}

/* A statement that needs nothing but a name; the row has its text. */
static int
named_statement(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    pgconn_auto_t pg;

    pgconn_of(&pg, ctx, args);
    return pg_answer(pgconn_run(&pg, pgtext_sql(ctx_row(ctx)->data.text, postgres_name(args)), false, err),
                     ret_value);
}

/* ---- extensions -------------------------------------------------------------------------------- */

/* The rows of functions point to one of these two texts, and functions below tell them apart by the
 * pointer: pg_available_extensions() calls an extension's name `name`, the catalog pg_extension calls it
 * `extname`. */
static const char available_query[] = "select * from pg_available_extensions()";
static const char installed_query[] =
    "select a.*, b.nspname as schema_name from pg_extension a, pg_namespace b where "
    "a.extnamespace = b.oid";

/* What one of the two queries lists, as {name: row}, with the name in the row too. NEW, or NULL with
 * *err. */
static json_t *
extensions(pgconn_t *pg, const char *query, fail_t *err)
{
    const char *key = query == available_query ? "name" : "extname";
    json_auto_t *rows = pgconn_query(pg, xstrdup(query), false, err);
    json_t *all, *row;
    size_t i;

    if (rows == NULL)
        return NULL;
    all = json_object();
    json_array_foreach (rows, i, row)
        json_object_set(all, value_str(row, key, ""), row);
    return all;
}

/* The entry called as the argument `name` in the dict that the function `list` answers, or None. The
 * `list` function is called in place, with the arguments of this call, so its row and connection are the
 * caller's. */
static int
pg_named(func_fn *list, call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *all = NULL;
    int rc = list(ctx, args, &all, err);
    json_t *one = value_get(all, postgres_name(args));

    if (rc == 0)
        *ret_value = one != NULL ? json_incref(one) : json_null();
    json_decref(all);
    return rc;
}

static int
list_extensions(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    pgconn_auto_t pg;

    pgconn_of(&pg, ctx, args);
    *ret_value = extensions(&pg, ctx_row(ctx)->data.text, err);
    return *ret_value != NULL ? 0 : err->code;
}

static int
get_extension(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return pg_named(list_extensions, ctx, args, ret_value, err);
}

/* An extension that can be installed is found whatever its letters' case, one that is installed only by its
 * very name, as in Salt. */
static int
is_extension(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    bool any_case = ctx_row(ctx)->data.text == available_query;
    json_t *all = NULL, *v;
    int rc = list_extensions(ctx, args, &all, err);
    const char *key, *name = postgres_name(args);
    bool found = value_get(all, name) != NULL;

    /* The names are few (about fifty in a server's contrib), so all of them are compared. */
    json_object_foreach (all, key, v)
        found = found || (any_case && strcasecmp(key, name) == 0);
    if (rc == 0)
        *ret_value = json_boolean(found);
    json_decref(all);
    return rc;
}

/* Compares an installed extension with the arguments. upgrade: its version is below ext_version. move: it
 * is in another schema than the argument's, and may be moved (extrelocatable). Both are false where it is
 * not installed. */
typedef struct extension {
    bool installed, upgrade, move;
} extension_t;

/* Fills *ext by a query of its own. Returns 0, or negative with *err. Also called after a statement, to see
 * whether the server has done what was asked. */
static int
look_at_extension(pgconn_t *pg, const json_t *args, extension_t *ext, fail_t *err)
{
    json_auto_t *all = extensions(pg, installed_query, err);
    json_t *one = value_get(all, postgres_name(args)), *version = value_get(args, "ext_version");
    const char *schema = value_str(args, "schema", NULL);

    if (all == NULL)
        return err->code;
    *ext = (extension_t){ .installed = one != NULL };
    if (one == NULL)
        return 0;
    AUTO_FREE char *wanted = value_truthy(version) ? value_pystr(version) : NULL;
    /* A version above the wanted one stays, as in Salt: packages seldom have a script for the way down. */
    ext->upgrade = wanted != NULL && pgtext_version(value_str(one, "extversion", ""), wanted) < 0;
    ext->move = schema != NULL && strcmp(value_str(one, "extrelocatable", "f"), "t") == 0 &&
                strcmp(value_str(one, "schema_name", ""), schema) != 0;
    return 0;
}

/* Returns the names of Salt's constants in a list, the state of the extension first; Salt's state
 * compares these texts. */
static int
postgres_create_metadata(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    extension_t ext;
    pgconn_auto_t pg;

    pgconn_of(&pg, ctx, args);
    if (look_at_extension(&pg, args, &ext, err) < 0)
        return err->code;
    *ret_value = json_pack("[s]", ext.installed ? "EXTENSION INSTALLED" : "EXTENSION NOT INSTALLED");
    if (ext.upgrade)
        json_array_append_new(*ret_value, json_string("EXTENSION TO UPGRADE"));
    if (ext.move)
        json_array_append_new(*ret_value, json_string("EXTENSION TO MOVE"));
    return 0;
}

/* The statements that bring the extension to what is wanted. NEW; "": there are none. */
static char *
extension_sql(const json_t *args, const extension_t *ext)
{
    const char *name = postgres_name(args), *schema = value_str(args, "schema", NULL);
    json_t *version = value_get(args, "ext_version"), *from = value_get(args, "from_version");
    AUTO_FREE char *wanted = value_truthy(version) ? value_pystr(version) : NULL,
                   *old = value_truthy(from) ? value_pystr(from) : NULL;
    buf_auto_t sql = BUF_INIT;

    if (ext->installed) {
        if (ext->move)
            pgtext_add(&sql, "ALTER EXTENSION ~ SET SCHEMA ~;", name, schema);
        if (ext->upgrade)
            pgtext_add(&sql, "ALTER EXTENSION ~ UPDATE TO ?;", name, wanted);
        return buf_steal(&sql);
    }
    /* None counts as True: the caller has just seen that it is not installed, and another session may be
     * faster. */
    bool exists = json_is_null(value_get(args, "if_not_exists")) ||
                  value_truthy(value_get(args, "if_not_exists"));
    pgtext_add(&sql, "CREATE EXTENSION $~", exists ? "IF NOT EXISTS " : "", name);
    if (schema != NULL || wanted != NULL || old != NULL)
        buf_puts(&sql, " WITH");
    if (schema != NULL)
        pgtext_add(&sql, " SCHEMA ~", schema);
    if (wanted != NULL)
        pgtext_add(&sql, " VERSION ?", wanted);
    /* FROM adopts objects from before there were extensions; servers since PostgreSQL 13 refuse it. */
    if (old != NULL)
        pgtext_add(&sql, " FROM ?", old);
    return buf_steal(&sql);
}

/* True when the extension is then as it was asked for. The server's answer to a statement is not trusted:
 * the catalog is read again. An extension that the server does not offer gets no statement, and so is
 * False. */
static int
postgres_create_extension(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    extension_t ext;
    pgconn_auto_t pg;

    pgconn_of(&pg, ctx, args);
    json_auto_t *known = extensions(&pg, available_query, err);
    if (known == NULL || look_at_extension(&pg, args, &ext, err) < 0)
        return err->code;
    /* Changes of an installed extension are two statements in one text, and psql -c makes them one
     * transaction. */
    AUTO_FREE char *sql = value_get(known, postgres_name(args)) != NULL ? extension_sql(args, &ext)
                                                                        : xstrdup("");
    if (*sql != '\0' &&
        (pgconn_run(&pg, xstrdup(sql), false, err) < 0 || look_at_extension(&pg, args, &ext, err) < 0))
        return err->code;
    if (!ext.installed || ext.move || ext.upgrade)
        log_info("Failed to create ext: %s", postgres_name(args));
    *ret_value = json_boolean(ext.installed && !ext.move && !ext.upgrade);
    return 0;
}

/* CASCADE is the default, as in Salt: objects that depend on the extension go as well unless `restrict` is
 * given. True when it is then gone, or was not there at all. */
static int
postgres_drop_extension(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *cascade = value_get(args, "cascade");
    bool restricted = value_truthy(value_get(args, "restrict"));
    bool all = json_is_null(cascade) ? !restricted : value_truthy(cascade);
    extension_t ext;
    pgconn_auto_t pg;

    pgconn_of(&pg, ctx, args);
    if (look_at_extension(&pg, args, &ext, err) < 0)
        return err->code;
    if (ext.installed) {
        char *sql = pgtext_sql("DROP EXTENSION $~$",
                               value_truthy(value_get(args, "if_exists")) ? "IF EXISTS " : "",
                               postgres_name(args),
                               all          ? " CASCADE"
                               : restricted ? " RESTRICT"
                                            : "");
        if (pgconn_run(&pg, sql, false, err) < 0 || look_at_extension(&pg, args, &ext, err) < 0)
            return err->code;
    }
    *ret_value = json_boolean(!ext.installed);
    return 0;
}

/* ---- schemas ----------------------------------------------------------------------------------- */

/* The schemas of the connection's database: {name: {owner, acl}}. NEW, or NULL with *err. LEFT JOIN: a
 * schema is listed also when its owner's role has been removed, with an empty owner. */
static json_t *
schemas(pgconn_t *pg, fail_t *err)
{
    return pg_list(
        pg,
        "SELECT pg_namespace.nspname as \"name\",pg_namespace.nspacl as \"acl\", pg_roles.rolname as "
        "\"owner\" FROM pg_namespace LEFT JOIN pg_roles ON pg_roles.oid = pg_namespace.nspowner",
        "name", err);
}

/* Returns 1, 0, or negative with *err. A server that refuses the query has no schema. */
static int
has_schema(pgconn_t *pg, const char *name, fail_t *err)
{
    json_auto_t *all = schemas(pg, err);

    return all != NULL ? value_get(all, name) != NULL : err->code;
}

/* Functions of schemas name their connection differently: `user` is the one on the machine, db_user the
 * role. */
static int
postgres_schema_list(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    pgconn_auto_t pg;

    pgconn_of_schema(&pg, ctx, args);
    *ret_value = schemas(&pg, err);
    return *ret_value != NULL ? 0 : err->code;
}

static int
postgres_schema_get(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return pg_named(postgres_schema_list, ctx, args, ret_value, err);
}

static int
postgres_schema_exists(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    pgconn_auto_t pg;

    pgconn_of_schema(&pg, ctx, args);
    return pg_answer(has_schema(&pg, postgres_name(args), err), ret_value);
}

/* False where the schema is there already, also with another owner, as in Salt. */
static int
postgres_schema_create(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = postgres_name(args), *owner = value_str(args, "owner", NULL);
    pgconn_auto_t pg;

    pgconn_of_schema(&pg, ctx, args);
    int there = has_schema(&pg, name, err);
    if (there > 0)
        log_info("'%s' already exists in '%s'", name, value_str(args, "dbname", ""));
    if (there != 0)
        return pg_answer(there < 0 ? there : 0, ret_value);
    return pg_answer(pgconn_run(&pg,
                                owner != NULL ? pgtext_sql("CREATE SCHEMA ~ AUTHORIZATION ~", name, owner)
                                              : pgtext_sql("CREATE SCHEMA ~", name),
                                false, err),
                     ret_value);
}

/* DROP SCHEMA without CASCADE: the server refuses a schema that is not empty, and then the answer is False.
 * The schema is looked up again, as the answer is about its being gone. */
static int
postgres_schema_remove(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = postgres_name(args);
    pgconn_auto_t pg;

    pgconn_of_schema(&pg, ctx, args);
    int there = has_schema(&pg, name, err);
    if (there == 0)
        log_info("Schema '%s' does not exist in '%s'", name, value_str(args, "dbname", ""));
    if (there <= 0)
        return pg_answer(there, ret_value);
    int rc = pgconn_run(&pg, pgtext_sql("DROP SCHEMA ~", name), false, err);
    if (rc >= 0)
        there = has_schema(&pg, name, err);
    return pg_answer(rc < 0 ? rc : there < 0 ? there : !there, ret_value);
}

/* ---- languages --------------------------------------------------------------------------------- */

/* The languages of the connection's database, {name: name} as Salt returns them. NEW, or NULL with *err. */
static json_t *
languages(pgconn_t *pg, fail_t *err)
{
    json_auto_t *rows = pgconn_query(pg, xstrdup("SELECT lanname AS \"Name\" FROM pg_language"), false, err);
    json_t *all, *row;
    size_t i;

    if (rows == NULL)
        return NULL;
    all = json_object();
    json_array_foreach (rows, i, row)
        json_object_set(all, value_str(row, "Name", ""), value_get(row, "Name"));
    return all;
}

static int
postgres_language_list(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    pgconn_auto_t pg;

    pgconn_of(&pg, ctx, args);
    *ret_value = languages(&pg, err);
    return *ret_value != NULL ? 0 : err->code;
}

static int
postgres_language_exists(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *all = NULL;
    int rc = postgres_language_list(ctx, args, &all, err);

    if (rc == 0)
        *ret_value = json_boolean(value_get(all, postgres_name(args)) != NULL);
    json_decref(all);
    return rc;
}

/* Creates or removes, as the row says: False where that is done already. The row's word begins the
 * statement too. */
static int
change_language(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    bool create = strcmp(ctx_row(ctx)->data.text, "CREATE") == 0;
    pgconn_auto_t pg;

    pgconn_of(&pg, ctx, args);
    json_auto_t *all = languages(&pg, err);
    if (all == NULL)
        return err->code;
    bool there = value_get(all, postgres_name(args)) != NULL;
    if (there == create) {
        log_info("Language %s %s in %s", postgres_name(args), there ? "already exists" : "does not exist",
                 value_str(args, "maintenance_db", ""));
        *ret_value = json_false();
        return 0;
    }
    return pg_answer(
        pgconn_run(&pg, pgtext_sql("$ LANGUAGE ~", ctx_row(ctx)->data.text, postgres_name(args)), false, err),
        ret_value);
}

/* ---- table ------------------------------------------------------------------------------------- */

static const arg_t access_args[] = { PG_ROWS_ACCESS, ARGS_END };
static const arg_t query_args[] = {
    ARG("query", ARG_STR, ARG_REQUIRED, "A SELECT"), PG_ROWS_ACCESS,
    ARG("write", ARG_ANY, "false", "It changes something: WITH x AS (UPDATE ...) SELECT"), ARGS_END
};
static const arg_t named_args[] = { PG_ROW_NAME("object"), PG_ROWS_ACCESS, ARGS_END };
static const arg_t db_create_args[] = { PG_ROW_NAME("database"),
                                        PG_ROWS_SERVER,
                                        PG_ROW_DB,
                                        PG_ROW_PASSWORD,
                                        ARG("tablespace", ARG_STR, "null", "Its tablespace"),
                                        ARG("encoding", ARG_STR, "null", "Its encoding"),
                                        ARG("lc_collate", ARG_STR, "null", "Its order of texts"),
                                        ARG("lc_ctype", ARG_STR, "null", "Its classes of characters"),
                                        ARG("owner", ARG_STR, "null", "Role that owns it"),
                                        ARG("template", ARG_STR, "null", "Database that it is copied from"),
                                        PG_ROW_RUNAS,
                                        ARGS_END };
static const arg_t db_alter_args[] = { PG_ROW_NAME("database"),
                                       PG_ROWS_SERVER,
                                       PG_ROW_DB,
                                       PG_ROW_PASSWORD,
                                       ARG("tablespace", ARG_STR, "null", "Its tablespace"),
                                       ARG("owner", ARG_STR, "null", "Role that owns it"),
                                       ARG("owner_recurse", ARG_ANY, "false", "And all that is in it"),
                                       PG_ROW_RUNAS,
                                       ARGS_END };
static const arg_t owner_args[] = { ARG("dbname", ARG_STR, ARG_REQUIRED, "Name of the database"),
                                    ARG("ownername", ARG_STR, ARG_REQUIRED, "Role that is to own it"),
                                    PG_ROWS_SERVER,
                                    PG_ROW_PASSWORD,
                                    PG_ROW_RUNAS,
                                    ARGS_END };
static const arg_t space_create_args[] = { PG_ROW_NAME("tablespace"),
                                           ARG("location", ARG_STR, ARG_REQUIRED, "Its folder"),
                                           ARG("options", ARG_DICT, "null", "Its options"),
                                           ARG("owner", ARG_STR, "null", "Role that owns it"),
                                           PG_ROWS_ACCESS,
                                           ARGS_END };
static const arg_t space_alter_args[] = { PG_ROW_NAME("tablespace"),
                                          PG_ROWS_SERVER,
                                          PG_ROW_DB,
                                          PG_ROW_PASSWORD,
                                          ARG("new_name", ARG_STR, "null", "New name"),
                                          ARG("new_owner", ARG_STR, "null", "New owner"),
                                          ARG("set_option", ARG_DICT, "null", "Options to set"),
                                          ARG("reset_option", ARG_STR, "null", "An option to reset"),
                                          PG_ROW_RUNAS,
                                          ARGS_END };
#define ROW_RETURN_PASSWORD                                                                                  \
    ARG("return_password", ARG_ANY, "false", "With the passwords as the server keeps them")
static const arg_t user_list_args[] = { PG_ROWS_ACCESS, ROW_RETURN_PASSWORD, ARGS_END };
static const arg_t role_get_args[] = { PG_ROW_NAME("role"), PG_ROWS_ACCESS, ROW_RETURN_PASSWORD, ARGS_END };
#define ROW_USERNAME     ARG("username", ARG_STR, ARG_REQUIRED, "Name of the user")
#define ROW_GROUPNAME    ARG("groupname", ARG_STR, ARG_REQUIRED, "Name of the group")
#define ROW_ROLEPASSWORD ARG("rolepassword", ARG_ANY, "null", "Password of the role")
#define ROW_CONNLIMIT                                                                                        \
    ARG("connlimit", ARG_INT, "null", "How many connections the role may have; -1 for any number")
static const arg_t user_args[] = { ROW_USERNAME,   PG_ROWS_SERVER, PG_ROW_DB,        PG_ROW_PASSWORD,
                                   PG_ROWS_RIGHTS, ROW_CONNLIMIT,  ROW_ROLEPASSWORD, PG_ROW_UNTIL,
                                   PG_ROW_GROUPS,  PG_ROW_RUNAS,   ARGS_END };
static const arg_t group_args[] = { ROW_GROUPNAME,   PG_ROWS_SERVER, PG_ROW_DB,
                                    PG_ROW_PASSWORD, PG_ROWS_RIGHTS, ROW_ROLEPASSWORD,
                                    PG_ROW_GROUPS,   PG_ROW_RUNAS,   ARGS_END };
static const arg_t user_remove_args[] = { ROW_USERNAME, PG_ROWS_ACCESS, ARGS_END };
static const arg_t group_remove_args[] = { ROW_GROUPNAME, PG_ROWS_ACCESS, ARGS_END };
static const arg_t metadata_args[] = { PG_ROW_NAME("extension"),
                                       ARG("ext_version", ARG_ANY, "null", "Version that is wanted"),
                                       ARG("schema", ARG_STR, "null", "Schema that is wanted"),
                                       PG_ROWS_ACCESS, ARGS_END };
static const arg_t extension_args[] = { PG_ROW_NAME("extension"), PG_ROWS_EXTENSION, PG_ROWS_ACCESS,
                                        ARGS_END };
static const arg_t drop_args[] = { PG_ROW_NAME("extension"), PG_ROWS_DROP, PG_ROWS_ACCESS, ARGS_END };
#define ROW_DBNAME ARG("dbname", ARG_STR, ARG_REQUIRED, "Name of the database")
#define ROWS_SCHEMA_ACCESS                                                                                   \
    PG_ROW_USER, ARG("db_user", ARG_STR, "null", "User of the database"),                                    \
        ARG("db_password", ARG_STR, "null", "His password"),                                                 \
        ARG("db_host", ARG_STR, "null", "Host, or the folder of the server's socket"),                       \
        ARG("db_port", ARG_ANY, "null", "The server's port")
static const arg_t schema_list_args[] = { ROW_DBNAME, ROWS_SCHEMA_ACCESS, ARGS_END };
static const arg_t schema_args[] = { ROW_DBNAME, PG_ROW_NAME("schema"), ROWS_SCHEMA_ACCESS, ARGS_END };
static const arg_t schema_create_args[] = { ROW_DBNAME, PG_ROW_NAME("schema"),
                                            ARG("owner", ARG_STR, "null", "Role that owns it"),
                                            ROWS_SCHEMA_ACCESS, ARGS_END };
#define ROW_IN_DB ARG("maintenance_db", ARG_STR, ARG_REQUIRED, "Database that the language is in")
static const arg_t language_list_args[] = { ROW_IN_DB, PG_ROWS_SERVER, PG_ROW_PASSWORD, PG_ROW_RUNAS,
                                            ARGS_END };
static const arg_t language_args[] = { PG_ROW_NAME("language"), ROW_IN_DB,    PG_ROWS_SERVER,
                                       PG_ROW_PASSWORD,         PG_ROW_RUNAS, ARGS_END };
#define ROW_PRIVILEGES   ARG("privileges", ARG_STR, "null", "Privileges, with commas between; ALL for all")
#define ROW_GRANT_OPTION ARG("grant_option", ARG_ANY, "null", "The role may grant them to others")
#define ROWS_PRIV_ACCESS PG_ROW_DB, PG_ROWS_SERVER, PG_ROW_PASSWORD, PG_ROW_RUNAS
static const arg_t privileges_list_args[] = { PG_ROW_NAME("object"),
                                              ARG("object_type", ARG_STR, ARG_REQUIRED, "Its type"),
                                              PG_ROW_PREPEND, ROWS_PRIV_ACCESS, ARGS_END };
static const arg_t grant_args[] = { PG_ROWS_OBJECT, ROW_PRIVILEGES,   ROW_GRANT_OPTION,
                                    PG_ROW_PREPEND, ROWS_PRIV_ACCESS, ARGS_END };
static const arg_t revoke_args[] = { PG_ROWS_OBJECT, ROW_PRIVILEGES, PG_ROW_PREPEND, ROWS_PRIV_ACCESS,
                                     ARGS_END };
static const arg_t datadir_args[] = { PG_ROW_NAME("folder"), ARGS_END };
static const arg_t init_args[] = { PG_ROW_NAME("folder"), PG_ROWS_INITDB_AUTH, PG_ROWS_INITDB, ARGS_END };
#define ROW_VERSION ARG("version", ARG_ANY, ARG_REQUIRED, "Version of PostgreSQL")
#define ROW_MAIN    ARG("name", ARG_STR, "\"main\"", "Name of the cluster")
static const arg_t cluster_args[] = { ROW_VERSION, ROW_MAIN, ARGS_END };
static const arg_t cluster_create_args[] = { ROW_VERSION, ROW_MAIN, PG_ROWS_CLUSTER, ARGS_END };
static const arg_t cluster_list_args[] = {
    ARG("verbose", ARG_ANY, "false", "With port, status, owner and folders"), ARGS_END
};
static const arg_t cluster_remove_args[] = { ROW_VERSION, ROW_MAIN,
                                             ARG("stop", ARG_ANY, "false", "Stop its server first"),
                                             ARGS_END };

#define PG_FN(name, fn, args, flags, doc, example, ...)                                                      \
    {                                                                                                        \
        name, fn, args, flags, doc CLI_EXAMPLE("salt '*' postgres." example) __VA_OPT__(, ) __VA_ARGS__      \
    }

static const func_t funcs[] = {
    PG_FN("available_extensions", list_extensions, access_args, FN_READONLY,
          "Return the extensions that can be installed.", "available_extensions",
          .data.text = available_query),
    PG_FN("cluster_create", pg_cluster_create, cluster_create_args, 0, "Make a cluster (Debian).",
          "cluster_create '15' 'main'"),
    PG_FN("cluster_exists", pg_cluster_exists, cluster_args, FN_READONLY,
          "True when the cluster is there (Debian).", "cluster_exists '15' 'main'"),
    PG_FN("cluster_list", pg_cluster_list, cluster_list_args, FN_READONLY, "Return the clusters (Debian).",
          "cluster_list verbose=True"),
    PG_FN("cluster_remove", pg_cluster_remove, cluster_remove_args, 0, "Remove a cluster (Debian).",
          "cluster_remove '15' 'main' stop=True"),
    PG_FN("create_extension", postgres_create_extension, extension_args, 0,
          "Install an extension, or bring it to a version or into a schema.", "create_extension 'adminpack'"),
    PG_FN("create_metadata", postgres_create_metadata, metadata_args, FN_READONLY,
          "Return what has to be done about an extension.", "create_metadata 'adminpack'"),
    PG_FN("datadir_exists", pg_datadir_exists, datadir_args, FN_READONLY,
          "True when the folder has been initialized.", "datadir_exists '/var/lib/pgsql/data'"),
    PG_FN("datadir_init", pg_datadir_init, init_args, 0, "Initialize a folder of data.",
          "datadir_init '/var/lib/pgsql/data'"),
    PG_FN("db_alter", postgres_db_alter, db_alter_args, 0, "Change owner and tablespace of a database.",
          "db_alter dbname owner=otheruser"),
    PG_FN("db_create", postgres_db_create, db_create_args, 0, "Create a database.", "db_create 'dbname'"),
    PG_FN("db_exists", is_listed, named_args, FN_READONLY, "True when the database is there.",
          "db_exists 'dbname'", .data.ptr = &databases),
    PG_FN("db_list", list_all, access_args, FN_READONLY, "Return the databases.", "db_list",
          .data.ptr = &databases),
    PG_FN("db_remove", postgres_db_remove, named_args, 0, "Remove a database; its connections are ended.",
          "db_remove 'dbname'"),
    PG_FN("drop_extension", postgres_drop_extension, drop_args, 0, "Remove an extension.",
          "drop_extension 'adminpack'"),
    PG_FN("get_available_extension", get_extension, named_args, FN_READONLY,
          "Return an extension that can be installed.", "get_available_extension plpgsql",
          .data.text = available_query),
    PG_FN("get_installed_extension", get_extension, named_args, FN_READONLY,
          "Return an extension that is installed.", "get_installed_extension plpgsql",
          .data.text = installed_query),
    PG_FN("group_create", pg_role_create, group_args, 0, "Create a group.", "group_create 'groupname'",
          .data.text = "group"),
    PG_FN("group_remove", pg_role_remove, group_remove_args, 0, "Remove a group.", "group_remove 'groupname'",
          .data.text = "group"),
    PG_FN("group_update", pg_role_update, group_args, 0, "Change a group.", "group_update 'groupname'",
          .data.text = "group"),
    PG_FN("has_privileges", pg_has_privileges, grant_args, FN_READONLY,
          "True when a role has the privileges.",
          "has_privileges user_name table_name table SELECT,INSERT maintenance_db=db_name"),
    PG_FN("installed_extensions", list_extensions, access_args, FN_READONLY,
          "Return the extensions that are installed.", "installed_extensions", .data.text = installed_query),
    PG_FN("is_available_extension", is_extension, named_args, FN_READONLY,
          "True when an extension can be installed.", "is_available_extension plpgsql",
          .data.text = available_query),
    PG_FN("is_installed_extension", is_extension, named_args, FN_READONLY,
          "True when an extension is installed.", "is_installed_extension plpgsql",
          .data.text = installed_query),
    PG_FN("language_create", change_language, language_args, 0, "Install a language into a database.",
          "language_create plpgsql dbname", .data.text = "CREATE"),
    PG_FN("language_exists", postgres_language_exists, language_args, FN_READONLY,
          "True when the database has the language.", "language_exists plpgsql dbname"),
    PG_FN("language_list", postgres_language_list, language_list_args, FN_READONLY,
          "Return the languages of a database.", "language_list dbname"),
    PG_FN("language_remove", change_language, language_args, 0, "Remove a language from a database.",
          "language_remove plpgsql dbname", .data.text = "DROP"),
    PG_FN("owner_to", postgres_owner_to, owner_args, 0, "Give a database and all that is in it to a role.",
          "owner_to 'dbname' 'username'"),
    PG_FN("privileges_grant", pg_privileges_grant, grant_args, 0, "Grant privileges on an object.",
          "privileges_grant user_name table_name table SELECT,UPDATE maintenance_db=db_name"),
    PG_FN("privileges_list", pg_privileges_list, privileges_list_args, FN_READONLY,
          "Return the privileges on an object.", "privileges_list table_name table maintenance_db=db_name"),
    PG_FN("privileges_revoke", pg_privileges_revoke, revoke_args, 0, "Revoke privileges on an object.",
          "privileges_revoke user_name table_name table SELECT,UPDATE maintenance_db=db_name"),
    PG_FN("psql_query", postgres_psql_query, query_args, 0, "Run a query and return its rows.",
          "psql_query 'select * from pg_stat_activity'"),
    PG_FN("role_get", pg_role_get, role_get_args, FN_READONLY, "Return a role.", "role_get postgres"),
    PG_FN("schema_create", postgres_schema_create, schema_create_args, 0, "Create a schema.",
          "schema_create dbname name owner='owner'"),
    PG_FN("schema_exists", postgres_schema_exists, schema_args, FN_READONLY, "True when the schema is there.",
          "schema_exists dbname schemaname"),
    PG_FN("schema_get", postgres_schema_get, schema_args, FN_READONLY, "Return a schema.",
          "schema_get dbname name"),
    PG_FN("schema_list", postgres_schema_list, schema_list_args, FN_READONLY,
          "Return the schemas of a database.", "schema_list dbname"),
    PG_FN("schema_remove", postgres_schema_remove, schema_args, 0, "Remove a schema.",
          "schema_remove dbname schemaname"),
    PG_FN("tablespace_alter", postgres_tablespace_alter, space_alter_args, 0, "Change a tablespace.",
          "tablespace_alter tsname new_owner=otheruser"),
    PG_FN("tablespace_create", postgres_tablespace_create, space_create_args, 0, "Create a tablespace.",
          "tablespace_create tablespacename '/path/datadir'"),
    PG_FN("tablespace_exists", is_listed, named_args, FN_READONLY, "True when the tablespace is there.",
          "tablespace_exists 'dbname'", .data.ptr = &tablespaces),
    PG_FN("tablespace_list", list_all, access_args, FN_READONLY, "Return the tablespaces.", "tablespace_list",
          .data.ptr = &tablespaces),
    PG_FN("tablespace_remove", named_statement, named_args, 0, "Remove a tablespace.",
          "tablespace_remove tsname", .data.text = "DROP TABLESPACE ~"),
    PG_FN("user_create", pg_role_create, user_args, 0, "Create a user.",
          "user_create 'username' rolepassword='secret'", .data.text = "user"),
    PG_FN("user_exists", pg_user_exists, named_args, FN_READONLY, "True when the user is there.",
          "user_exists 'username'"),
    PG_FN("user_list", pg_user_list, user_list_args, FN_READONLY, "Return the roles.", "user_list"),
    PG_FN("user_remove", pg_role_remove, user_remove_args, 0, "Remove a user.", "user_remove 'username'",
          .data.text = "user"),
    PG_FN("user_update", pg_role_update, user_args, 0, "Change a user.",
          "user_update 'username' createdb=True", .data.text = "user"),
    PG_FN("version", postgres_version, access_args, FN_READONLY, "Return the server's version.", "version"),
};

PLUGIN(exec, postgres, .doc = "PostgreSQL servers", FUNCS(funcs), .unavailable = pg_missing);
