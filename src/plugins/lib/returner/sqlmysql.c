/* sqlmysql.c - the driver of returners on MySQL and MariaDB: names of values become "?" of mysqlconn.h. */
#include "common/base/buf.h"
#include "common/base/str.h"
#include "plugins/lib/database/mysqlconn.h"
#include "plugins/lib/returner/sqlreturn.h"

enum { VALUES_MAX = 12 };

typedef struct mysql_link {
    call_ctx_t *ctx; /* BORROWED: it keeps this */
    mysqlconn_t *conn;
    bool bad;
} mysql_link_t;

/* Numbers of errors that are about the values: too long, no such character, out of range, doubled, null, a
 * packet too large. */
static const int mysql_value_errors[] = { 1406, 1366, 1264, 1062, 1048, 1153, 1292 };

/* The error of the context as a failure. */
static int
mysql_failed(mysql_link_t *self, call_ctx_t *ctx, fail_t *err)
{
    json_auto_t *taken = mysql_error_take(ctx);
    const char *text = json_is_string(taken) ? json_string_value(taken) : "MySQL Error";
    int number = 0, code = -EIO;

    (void) sscanf(text, "MySQL Error %d:", &number);
    for (size_t i = 0; i < NELEMS(mysql_value_errors); i++)
        code = number == mysql_value_errors[i] ? -EBADMSG : code;
    if (self != NULL)
        self->bad = self->bad || code != -EBADMSG;
    return fail_kind(err, FAIL_COMMAND, code, "%s", text);
}

static void *
mysql_open(call_ctx_t *ctx, const json_t *opts, fail_t *err)
{
    json_auto_t *kwargs = json_object();
    const char *name;
    json_t *v;

    json_object_foreach ((json_t *) opts, name, v) {
        AUTO_FREE char *key = xasprintf("connection_%s", name), *text = value_pystr(v);
        if (str_starts(name, "ssl_") && value_truthy(v)) {
            (void) fail_kind(err, FAIL_INVOCATION, -ENOTSUP,
                             "mysql.%s: use Salt's own returner in Python for it", name);
            return NULL;
        }
        if (strcasecmp(text, "none") != 0)
            json_object_set_new(kwargs, key, json_string(text));
    }
    mysqlconn_t *conn = mysqlconn_open(ctx, kwargs);
    if (conn == NULL || mysqlconn_bound(conn) < 0) {
        (void) mysql_failed(NULL, ctx, err);
        mysqlconn_destroy(&conn);
        return NULL;
    }
    mysqlconn_as_text(conn);
    mysql_link_t *self = xcalloc(1, sizeof(*self));
    self->ctx = ctx;
    self->conn = conn;
    return self;
}

static void
mysql_close(void *conn)
{
    mysql_link_t *self = conn;

    mysqlconn_destroy(&self->conn);
    free(self);
}

static bool
mysql_is_bad(const void *conn)
{
    return ((const mysql_link_t *) conn)->bad;
}

/* The statement with a "?" for each name, and the values in their order. */
static void
mysql_marked(const char *sql, const json_t *values, buf_t *out, const char *found[VALUES_MAX])
{
    size_t n = 0;

    while (*sql != '\0') {
        size_t len = *sql == ':' ? strspn(sql + 1, "abcdefghijklmnopqrstuvwxyz_") : 0;
        if (len == 0) {
            buf_putc(out, *sql++);
            continue;
        }
        AUTO_FREE char *name = xstrndup(sql + 1, len);
        salt_assert(n < VALUES_MAX);
        found[n++] = value_str(values, name, "");
        buf_putc(out, '?');
        sql += len + 1;
    }
}

static int
mysql_run(void *conn, const char *sql, const json_t *values, json_t **ret_rows, long long *ret_count,
          fail_t *err)
{
    mysql_link_t *self = conn;
    const char *v[VALUES_MAX] = { NULL };
    buf_auto_t text = BUF_INIT;

    mysql_marked(sql, values, &text, v);
    if (mysqlconn_run(self->conn, buf_str(&text), v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8], v[9],
                      v[10], v[11]) < 0)
        return mysql_failed(self, self->ctx, err);
    if (ret_count != NULL)
        *ret_count = mysqlconn_count(self->conn);
    if (ret_rows != NULL)
        *ret_rows = json_deep_copy(mysqlconn_rows(self->conn));
    return 0;
}

static int
mysql_queue(void *conn, const char *sql, const json_t *values, fail_t *err)
{
    return mysql_run(conn, sql, values, NULL, NULL, err);
}

/* Nothing is queued: the protocol has an answer for each statement. */
static int
mysql_await(void *conn, fail_t *err)
{
    return 0;
}

const sqldriver_t sqldriver_mysql = {
    .open = mysql_open,
    .close = mysql_close,
    .is_bad = mysql_is_bad,
    .run = mysql_run,
    .queue = mysql_queue,
    .await = mysql_await,
    .yes = "1",
    .no = "0",
    .has_table =
        "SELECT 1 FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = :table",
    .make_followers =
        "CREATE TABLE IF NOT EXISTS halite_followers (name varchar(255) NOT NULL PRIMARY KEY, seq bigint NOT NULL) "
        "ENGINE=InnoDB",
    .begin = "START TRANSACTION",
    .add_follower = "INSERT IGNORE INTO halite_followers (name, seq) VALUES (:follower, :next)",
};
