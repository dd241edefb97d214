/* sqlite3.c - driver `sqlite3` of sdb: values in a table of a SQLite database, as MessagePack. libsqlite3 is
 * loaded when it is asked for. */
#include <pthread.h>

#include "common/base/str.h"
#include "common/data/msgpack.h"
#include "common/host/library.h"
#include "common/py/py_json.h"
#include "plugins/lib/call/pyargs.h"
#include "plugins/lib/sdb/driver.h"

/* As https://sqlite.org/c3ref has them. */
enum { SQL_OK = 0, SQL_ROW = 100, SQL_DONE = 101, SQL_READ_WRITE_CREATE = 6, BUSY_MS = 5000 };
typedef void sql_free_fn(void *);
#define SQL_TRANSIENT ((sql_free_fn *) -1) /* the library copies what it is given */

static struct sql_lib {
    int (*open_v2)(const char *path, void **db, int flags, const char *vfs);
    int (*close)(void *db);
    int (*busy_timeout)(void *db, int ms);
    const char *(*errmsg)(void *db);
    int (*prepare_v2)(void *db, const char *sql, int len, void **statement, const char **tail);
    int (*bind_parameter_index)(void *statement, const char *name);
    int (*bind_text)(void *statement, int at, const char *text, int len, sql_free_fn *done);
    int (*bind_blob)(void *statement, int at, const void *bytes, int len, sql_free_fn *done);
    int (*step)(void *statement);
    const void *(*column_blob)(void *statement, int column);
    int (*column_bytes)(void *statement, int column);
    int (*finalize)(void *statement);
} sql_lib;
static bool sql_lib_loaded;
static pthread_mutex_t sql_lib_lock = PTHREAD_MUTEX_INITIALIZER;

#define SQL_SYMBOL(name) ROW("sqlite3_" #name, offsetof(struct sql_lib, name))
static const library_symbol_t sql_symbols[] = {
    SQL_SYMBOL(open_v2),     SQL_SYMBOL(close),        SQL_SYMBOL(busy_timeout),
    SQL_SYMBOL(errmsg),      SQL_SYMBOL(prepare_v2),   SQL_SYMBOL(bind_parameter_index),
    SQL_SYMBOL(bind_text),   SQL_SYMBOL(bind_blob),    SQL_SYMBOL(step),
    SQL_SYMBOL(column_blob), SQL_SYMBOL(column_bytes), SQL_SYMBOL(finalize),
};

static int
sdb_sqlite3_load(fail_t *err)
{
    static const char *const names[] = { "libsqlite3.so.0", NULL };

    (void) pthread_mutex_lock(&sql_lib_lock);
    sql_lib_loaded = sql_lib_loaded ||
                     library_open(names, sql_symbols, NELEMS(sql_symbols), &sql_lib, NULL) != NULL;
    bool loaded = sql_lib_loaded;
    (void) pthread_mutex_unlock(&sql_lib_lock);
    return loaded
               ? 0
               : fail_kind(
                     err, FAIL_COMMAND, -ENOENT,
                     "The library libsqlite3 is not there: install the package libsqlite3-0 (Debian, Ubuntu, "
                     "SUSE) or sqlite-libs (Fedora, RHEL)");
}

/* An identifier in quotes. NEW. */
static char *
sql_quoted(const char *name)
{
    AUTO_FREE char *twice = str_replace(name, "\"", "\"\"");

    return xasprintf("\"%s\"", twice);
}

/* Runs a statement with the key and the value's bytes, which may be NULL, where it has such parameters, and
 * adds the first column of its first row to *ret_row, which may be NULL: 1, 0 for no row, or negative with
 * *err. */
static int
sql_run(void *db, const char *sql, const char *key, const buf_t *value, buf_t *ret_row, fail_t *err)
{
    void *statement = NULL;
    int rc = sql_lib.prepare_v2(db, sql, -1, &statement, NULL);
    int at_key = rc == SQL_OK ? sql_lib.bind_parameter_index(statement, ":key") : 0,
        at_value = rc == SQL_OK ? sql_lib.bind_parameter_index(statement, ":value") : 0;

    if (at_key > 0 && key != NULL)
        rc = sql_lib.bind_text(statement, at_key, key, -1, SQL_TRANSIENT);
    if (rc == SQL_OK && at_value > 0 && value != NULL)
        rc = sql_lib.bind_blob(statement, at_value, value->data, (int) value->len, SQL_TRANSIENT);
    if (rc == SQL_OK)
        rc = sql_lib.step(statement);
    if (rc == SQL_ROW && ret_row != NULL)
        buf_add(ret_row, sql_lib.column_blob(statement, 0), (size_t) sql_lib.column_bytes(statement, 0));
    if (rc != SQL_ROW && rc != SQL_DONE)
        (void) fail_kind(err, FAIL_COMMAND, -EIO, "SQLite: %s", sql_lib.errmsg(db));
    (void) sql_lib.finalize(statement);
    return rc == SQL_ROW ? 1 : rc == SQL_DONE ? 0 : -EIO;
}

/* The database of the profile, with its table. What is there already can't be made once more, which is no
 * failure, as in Salt. NULL with *err. */
static void *
sql_open(py_t *profile, const char *table, fail_t *err)
{
    const char *path = pyarg_text(profile, "database", NULL);
    json_auto_t *own = py_dict_gets(profile, "create_statements") != NULL
                           ? py_to_json(py_dict_gets(profile, "create_statements"))
                           : NULL;
    AUTO_FREE char *index_name = xasprintf("%s_idx", table), *name = sql_quoted(table),
                   *index = sql_quoted(index_name);
    json_auto_t *usual = json_pack("[o, o]", value_fmt("CREATE TABLE %s (key text, value blob)", name),
                                   value_fmt("CREATE UNIQUE INDEX %s ON %s (key)", index, name));
    bool make = py_dict_gets(profile, "create_table") == NULL || pyarg_flag(profile, "create_table");
    json_t *statements = value_truthy(own) ? own : make ? usual : NULL, *one;
    void *db = NULL;
    size_t i;

    if (path == NULL) {
        (void) fail_kind(err, FAIL_COMMAND, -EINVAL, "The profile says no 'database': the path of its file");
        return NULL;
    }
    if (sdb_sqlite3_load(err) < 0)
        return NULL;
    if (sql_lib.open_v2(path, &db, SQL_READ_WRITE_CREATE, NULL) != SQL_OK) {
        (void) fail_kind(err, FAIL_COMMAND, -EIO, "SQLite: %s: %s", path,
                         db != NULL ? sql_lib.errmsg(db) : "no memory");
        (void) sql_lib.close(db);
        return NULL;
    }
    (void) sql_lib.busy_timeout(db, BUSY_MS);
    json_array_foreach (statements, i, one) {
        fail_auto_t why = FAIL_INIT;
        if (!json_is_string(one) || sql_run(db, json_string_value(one), NULL, NULL, NULL, &why) < 0)
            break;
    }
    return db;
}

static py_t *
sdb_sqlite3_get(call_ctx_t *ctx, py_t *profile, const char *key, fail_t *err)
{
    const char *table = pyarg_text(profile, "table", "sdb");
    AUTO_FREE char *name = sql_quoted(table), *usual = xasprintf("SELECT value FROM %s WHERE key=:key", name);
    void *db = sql_open(profile, table, err);
    buf_auto_t bytes = BUF_INIT;

    if (db == NULL)
        return NULL;
    int found = sql_run(db, pyarg_text(profile, "get_query", usual), key, NULL, &bytes, err);
    (void) sql_lib.close(db);
    if (found <= 0)
        return found < 0 ? NULL : py_ref(PY_None);
    json_auto_t *value = msgpack_get(bytes.data, bytes.len, err);
    return value != NULL ? py_from_json(value) : NULL;
}

static py_t *
sdb_sqlite3_set(call_ctx_t *ctx, py_t *profile, const char *key, py_t *value, fail_t *err)
{
    const char *table = pyarg_text(profile, "table", "sdb");
    AUTO_FREE char *name = sql_quoted(table),
                   *usual = xasprintf("INSERT OR REPLACE INTO %s VALUES (:key, :value)", name);
    json_auto_t *shown = py_to_json(value);
    void *db = shown != NULL ? sql_open(profile, table, err) : NULL;
    buf_auto_t bytes = BUF_INIT;

    if (db == NULL)
        return NULL;
    msgpack_put(&bytes, shown);
    int rc = sql_run(db, pyarg_text(profile, "set_query", usual), key, &bytes, NULL, err);
    (void) sql_lib.close(db);
    return rc >= 0 ? py_bool(true) : NULL;
}

const sdb_driver_t sdb_sqlite3 = { .name = "sqlite3", .get = sdb_sqlite3_get, .set = sdb_sqlite3_set };
