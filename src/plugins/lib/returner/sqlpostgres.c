/* sqlpostgres.c - the driver of returners on PostgreSQL: names of values become $1, $2, ... */
#include "common/base/buf.h"
#include "plugins/lib/database/pglink.h"
#include "plugins/lib/returner/sqlreturn.h"

enum { VALUES_MAX = 16 };

static void *
postgres_open(call_ctx_t *ctx, const json_t *opts, fail_t *err)
{
    json_auto_t *settings = json_object();
    const char *name;
    json_t *v;

    json_object_foreach ((json_t *) opts, name, v) {
        AUTO_FREE char *text = value_pystr(v);
        json_object_set_new(settings, name, json_string(text));
    }
    return pglink_open(settings, err);
}

static void
postgres_close(void *conn)
{
    pglink_t *self = conn;

    pglink_destroy(&self);
}

static bool
postgres_is_bad(const void *conn)
{
    return pglink_is_bad(conn);
}

/* The statement with numbers for names, and the values in their order: how many. Names repeat as numbers do. */
static size_t
postgres_numbered(const char *sql, const json_t *values, buf_t *out, const char *found[VALUES_MAX])
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
        found[n++] = json_string_value(value_get(values, name));
        buf_printf(out, "$%zu", n);
        sql += len + 1;
    }
    return n;
}

static int
postgres_run(void *conn, const char *sql, const json_t *values, json_t **ret_rows, long long *ret_count,
             fail_t *err)
{
    const char *found[VALUES_MAX];
    buf_auto_t text = BUF_INIT;
    size_t n = postgres_numbered(sql, values, &text, found);

    return pglink_run(conn, buf_str(&text), found, n, ret_rows, ret_count, err);
}

static int
postgres_queue(void *conn, const char *sql, const json_t *values, fail_t *err)
{
    const char *found[VALUES_MAX];
    buf_auto_t text = BUF_INIT;
    size_t n = postgres_numbered(sql, values, &text, found);

    return pglink_queue(conn, buf_str(&text), found, n, err);
}

static int
postgres_await(void *conn, fail_t *err)
{
    return pglink_await(conn, err);
}

const sqldriver_t sqldriver_postgres = {
    .open = postgres_open,
    .close = postgres_close,
    .is_bad = postgres_is_bad,
    .run = postgres_run,
    .queue = postgres_queue,
    .await = postgres_await,
    .yes = "true",
    .no = "false",
    .has_table = "SELECT 1 WHERE to_regclass(CAST(:table AS text)) IS NOT NULL",
    /* The lock keeps a second follower that makes the table at once from an error in the server's log, the question
     * from a notice. */
    .make_followers =
        "DO $$ BEGIN PERFORM pg_advisory_xact_lock(hashtext('halite_followers')); "
        "IF to_regclass('halite_followers') IS NULL THEN "
        "CREATE TABLE halite_followers (name varchar(255) PRIMARY KEY, seq bigint NOT NULL); END IF; END $$",
    .begin = "BEGIN",
    .add_follower =
        "INSERT INTO halite_followers (name, seq) VALUES (:follower, :next) ON CONFLICT (name) DO NOTHING",
};
