/* mysql_database.c - state module `mysql_database`: databases with their character set and collation, by the
 * functions of `mysql`. A server may give a character set under another name than it was asked for ("utf8" is
 * "utf8mb3" since MariaDB 10.6), and fills in what is not given; a test asks information_schema for both, so
 * that it foretells what the run will show. */
#include "common/base/str.h"
#include "plugins/lib/database/dbstate.h"
#include "plugins/lib/database/mysqlconn.h"
#include "plugins/lib/database/mysqlrows.h"

/* What the database has. */
typedef struct charset {
    const char *set, *collate; /* BORROWED */
} charset_t;

/* "utf8" and its collations are "utf8mb3" in the answers of newer servers. */
static bool
same_charset(const char *want, const char *have)
{
    if (str_empty(want) || strcasecmp(want, have) == 0)
        return true;
    return str_starts(have, "utf8mb3") && strncasecmp(want, "utf8", 4) == 0 &&
           strcasecmp(want + 4, have + strlen("utf8mb3")) == 0;
}

/* A value that the server keeps of a character set. NEW; NULL: the server has no such set. */
static char *
charset_column(dbstate_t *s, const char *column, const char *set)
{
    if (set[strspn(set, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")] != '\0')
        return NULL;
    AUTO_FREE char *query = xasprintf("SELECT %s FROM CHARACTER_SETS WHERE CHARACTER_SET_NAME = '%s'", column,
                                      set);
    json_auto_t *found = dbstate_call(s, "mysql.query", "{s:s, s:s}", "database", "information_schema",
                                      "query", query);
    json_t *v = json_array_get(json_array_get(value_get(found, "results"), 0), 0);
    return json_is_string(v) ? xstrdup(json_string_value(v)) : NULL;
}

/* The name by which the server will show a character set or collation. NEW. */
static char *
shown_name(dbstate_t *s, const char *name)
{
    bool alias = strncasecmp(name, "utf8", 4) == 0 && (name[4] == '\0' || name[4] == '_');
    AUTO_FREE char *newer = alias ? charset_column(s, "CHARACTER_SET_NAME", "utf8mb3") : NULL;

    return newer != NULL ? xasprintf("%s%s", newer, name + 4) : xstrdup(name);
}

/* The change of the character set or the collation, if it is one. */
static void
tell_charset(dbstate_t *s, const char *key, const char *before, const char *now)
{
    if (now != NULL && !same_charset(now, before))
        state_change(s->ret, key, json_pack("{s:s, s:s}", "before", before, "now", now));
}

/* Compares character set and collation of a database that is there, and alters it. Salt's comments name the
 * first difference and add the second. */
static int
alter_present(dbstate_t *s, const char *name, const json_t *existing)
{
    const char *set = value_str(s->args, "character_set", NULL),
               *collate = value_str(s->args, "collate", NULL);
    charset_t have = { value_str(existing, "character_set", ""), value_str(existing, "collate", "") };
    bool new_set = !same_charset(set, have.set), new_collate = !same_charset(collate, have.collate);

    if (!new_set && !new_collate)
        return state_ret_set(s->ret, STATE_TRUE, "Database %s is already present", name);
    if (new_set)
        state_ret_set(s->ret, STATE_TRUE, "Database character set %s != %s needs to be updated", set,
                      have.set);
    else
        state_ret_set(s->ret, STATE_TRUE, "Database %s is already present", name);
    if (new_collate)
        state_ret_add(s->ret, "Database collate %s != %s needs to be updated", collate, have.collate);
    if (ctx_test(s->ctx)) {
        if (!new_collate)
            state_ret_add(s->ret, "Database %s is going to be updated", name);
        json_object_set_new(s->ret, "result", json_null());

        /* Tells what the change will make of it: what is not given follows from the other. */
        AUTO_FREE char *set_to_be = !str_empty(set) ? shown_name(s, set) : NULL;
        AUTO_FREE char *collate_to_be = !str_empty(collate)
                                            ? shown_name(s, collate)
                                            : charset_column(s, "DEFAULT_COLLATE_NAME", set_to_be);
        if (set_to_be == NULL)
            set_to_be = xstrndup(collate_to_be, strcspn(collate_to_be, "_"));
        tell_charset(s, "collate", have.collate, collate_to_be);
        tell_charset(s, "character_set", have.set, set_to_be);
        return 0;
    }
    int done = dbstate_ask(s, "mysql.alter_db", "{s:s, s:O, s:O}", "name", name, "character_set",
                           value_get(s->args, "character_set"), "collate", value_get(s->args, "collate"));
    if (done < 0 || (done == 0 && dbstate_mysql_failed(s, "Failed to alter database %s", name)))
        return done;
    json_auto_t *now = dbstate_call(s, "mysql.db_get", "{s:s}", "name", name);
    if (now == NULL)
        return s->err->code;
    tell_charset(s, "collate", have.collate, value_str(now, "collate", NULL));
    tell_charset(s, "character_set", have.set, value_str(now, "character_set", NULL));
    return 0;
}

static int
mysql_database_present_in(dbstate_t *s)
{
    const char *name = value_str(s->args, "name", "");
    json_auto_t *existing = dbstate_call(s, "mysql.db_get", "{s:s}", "name", name);

    if (existing == NULL)
        return s->err->code;
    /* No answer is no database, or a server that could not be asked: only the error in the context tells. */
    if (value_truthy(existing))
        return alter_present(s, name, existing);
    if (dbstate_mysql_failed(s, NULL))
        return 0;
    if (!ctx_test(s->ctx)) {
        int done = dbstate_ask(s, "mysql.db_create", "{s:s, s:O, s:O}", "name", name, "character_set",
                               value_get(s->args, "character_set"), "collate", value_get(s->args, "collate"));
        if (done < 0)
            return done;
        if (done == 0)
            return dbstate_mysql_failed(s, "Failed to create database %s", name)
                       ? 0
                       : state_ret_set(s->ret, STATE_FALSE, "Failed to create database %s", name);
    }
    state_change(s->ret, name, json_string("Present"));
    return ctx_test(s->ctx)
               ? state_ret_set(s->ret, STATE_NONE, "Database %s is not present and needs to be created", name)
               : state_ret_set(s->ret, STATE_TRUE, "The database %s has been created", name);
}

static int
mysql_database_state_present(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    dbstate_t s;

    dbstate_mysql(&s, ctx, args, *ret_value = state_ret_args(args), err);
    int rc = mysql_database_present_in(&s);
    return dbstate_end(&s, rc);
}

/* False may be an answer or a failure: the module leaves an error in the context, which decides. */
static int
mysql_database_absent_in(dbstate_t *s)
{
    const char *name = value_str(s->args, "name", "");
    int there = dbstate_ask(s, "mysql.db_exists", "{s:s}", "name", name);

    if (there < 0 || (there == 0 && dbstate_mysql_failed(s, NULL)))
        return there;
    if (there == 0)
        return state_ret_set(s->ret, STATE_TRUE, "Database %s is not present, so it cannot be removed", name);
    if (!ctx_test(s->ctx)) {
        int done = dbstate_ask(s, "mysql.db_remove", "{s:s}", "name", name);
        if (done < 0 || (done == 0 && dbstate_mysql_failed(s, "Unable to remove database %s", name)))
            return done;
        if (done == 0)
            return state_ret_set(s->ret, STATE_FALSE, "Unable to remove database %s", name);
    }
    state_change(s->ret, name, json_string("Absent"));
    return ctx_test(s->ctx)
               ? state_ret_set(s->ret, STATE_NONE, "Database %s is present and needs to be removed", name)
               : state_ret_set(s->ret, STATE_TRUE, "Database %s has been removed", name);
}

static int
mysql_database_state_absent(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    dbstate_t s;

    dbstate_mysql(&s, ctx, args, *ret_value = state_ret_args(args), err);
    int rc = mysql_database_absent_in(&s);
    return dbstate_end(&s, rc);
}

static const arg_t present_args[] = { MYSQL_ROW_DATABASE, MYSQL_ROWS_CHARSET, MYSQL_ROW_ACCESS, ARGS_END };
static const arg_t absent_args[] = { MYSQL_ROW_DATABASE, MYSQL_ROW_ACCESS, ARGS_END };

static const func_t funcs[] = {
    { "absent", mysql_database_state_absent, absent_args, 0, "The database is not there." },
    { "present", mysql_database_state_present, present_args, 0,
      "The database is there, with this character set and collation." },
};

PLUGIN(state, mysql_database, .doc = "Databases of MySQL and MariaDB", FUNCS(funcs),
       .unavailable = mysqlconn_missing);
