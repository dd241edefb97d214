/* sqlreturn.c - see sqlreturn.h. */
#include "plugins/lib/returner/sqlreturn.h"

#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/plugin/call.h"
#include "common/plugin/returning.h"
#include "salt/log.h"

/* ---- the connection ------------------------------------------------------------------------------------ */

/* The connection that a context keeps, and the options that it was made with. */
typedef struct sqlconn {
    const sqldriver_t *driver;
    json_t *opts; /* owned */
    void *conn;
} sqlconn_t;

/* The context ends, and its connection with it. */
static void
sqlconn_free(void *value)
{
    sqlconn_t *self = value;

    if (self->conn != NULL)
        self->driver->close(self->conn);
    json_decref(self->opts);
    free(self);
}

/* The row of the function says which returner it is: its statements, its options and its driver. */
static const sqlshape_t *
sql_shape(call_ctx_t *ctx)
{
    return ctx_row(ctx)->data.ptr;
}

/* BORROWED from the context, or NULL with *err. `ret`: whose ret_config and ret_kwargs count; NULL: none. It
 * is kept for the next call of the same process. Other options than before, or a connection that broke, make
 * a new one. */
static void *
sql_connect(call_ctx_t *ctx, const json_t *ret, fail_t *err)
{
    const sqlshape_t *shape = sql_shape(ctx);
    json_auto_t *opts = retopts(ctx, shape->prefix, ret, shape->options, shape->n_options);
    sqlconn_t *kept = call_attached(ctx, shape);

    if (kept == NULL) {
        kept = xcalloc(1, sizeof(*kept));
        kept->driver = shape->driver;
        call_attach(ctx, shape, kept, sqlconn_free);
    }
    if (kept->conn != NULL && !kept->driver->is_bad(kept->conn) && json_equal(kept->opts, opts))
        return kept->conn;
    if (kept->conn != NULL)
        kept->driver->close(STEAL(kept->conn));
    json_decref(kept->opts);
    kept->opts = json_incref(opts);
    kept->conn = kept->driver->open(ctx, opts, err);
    return kept->conn;
}

/* ---- values -------------------------------------------------------------------------------------------- */

/* Sets the JSON of a value, when the statement wants it: the text of a large return takes long to make. */
static void
set_json(json_t *values, const char *sql, const char *name, const json_t *v)
{
    size_t len = strlen(name);
    bool wants = false;

    for (const char *at = sql; !wants && (at = strchr(at, ':')) != NULL; at++)
        wants = strncmp(at + 1, name, len) == 0 && strspn(at + 1, "abcdefghijklmnopqrstuvwxyz_") == len;
    AUTO_FREE char *text = wants ? ret_json(v) : NULL;

    if (text != NULL)
        json_object_set_new(values, name, json_string(text));
}

/* Sets Python's str() of a member; "None" where there is none. */
static void
set_text(json_t *values, const char *name, const json_t *from, const char *key)
{
    json_t *v = value_get(from, key);
    AUTO_FREE char *text = v != NULL ? value_pystr(v) : xstrdup("None");

    json_object_set_new(values, name, json_string(text));
}

/* Seconds with six digits behind the point; each statement turns it into its own type of time. */
static void
set_now(json_t *values)
{
    int64_t us = clock_wall_us();

    json_object_set_new(values, "now",
                        value_fmt("%lld.%06lld", (long long) (us / 1000000), (long long) (us % 1000000)));
}

/* The values that a return's statement may name. `full_ret` is all that the minion sent; `return` is its answer alone;
 * `job_ret` is the answer as a text, with its code and whether it succeeded. */
static json_t *
values_of_ret(const sqlshape_t *shape, const json_t *ret)
{
    json_auto_t *values = json_object(), *job_ret = json_object();
    const json_t *success = value_get(ret, "success"), *given = value_get(ret, "return");
    AUTO_FREE char *text = value_pystr(given != NULL ? given : json_null());

    set_text(values, "fun", ret, "fun");
    set_text(values, "jid", ret, "jid");
    set_text(values, "id", ret, "id");
    set_now(values);
    json_object_set_new(values, "success",
                        json_string(value_truthy(success) ? shape->driver->yes : shape->driver->no));
    /* Python's str() of the answer, as in Salt's own. */
    json_object_set_new(job_ret, "return", json_string(text));
    if (value_get(ret, "retcode") != NULL)
        json_object_set(job_ret, "retcode", value_get(ret, "retcode"));
    if (success != NULL)
        json_object_set(job_ret, "success", (json_t *) success);
    set_json(values, shape->ret, "return", given);
    set_json(values, shape->ret, "full_ret", ret);
    set_json(values, shape->ret, "job_ret", job_ret);
    return STEAL(values);
}

/* The values that an event's statement may name. NEW. */
static json_t *
values_of_event(call_ctx_t *ctx, const sqlshape_t *shape, const json_t *event)
{
    json_auto_t *values = json_object();
    json_t *data = value_get(event, "data");

    json_object_set_new(values, "tag", json_string(value_str(event, "tag", "")));
    json_object_set_new(values, "master_id", json_string(ctx_id(ctx)));
    set_now(values);
    set_json(values, shape->event, "data", data);
    return STEAL(values);
}

/* The values that a load's statement may name. Columns that Salt fills with str() get "None" where the load has nothing.
 * NEW. */
static json_t *
values_of_load(const sqlshape_t *shape, const char *jid, const json_t *load)
{
    static const char *const texts[] = { "tgt_type", "cmd", "tgt", "kwargs", "ret", "user", "fun" };
    json_auto_t *values = json_pack("{s:s}", "jid", jid);
    AUTO_FREE char *started = ret_jid_time(jid);

    json_object_set_new(values, "started", json_string(started));
    for (size_t i = 0; i < NELEMS(texts); i++)
        set_text(values, texts[i], load, texts[i]);
    set_json(values, shape->load, "load", load);
    set_json(values, shape->load, "arg", value_get(load, "arg"));
    return STEAL(values);
}

/* ---- storing ------------------------------------------------------------------------------------------- */

/* Runs, or queues, one statement with the values, TAKES. */
static int
sql_store(const sqlshape_t *shape, void *conn, const char *sql, json_t *values, bool queue, fail_t *err)
{
    int rc = queue ? shape->driver->queue(conn, sql, values, err)
                   : shape->driver->run(conn, sql, values, NULL, NULL, err);

    json_decref(values);
    return rc;
}

/* A return of a minion, stored and answered for at once. */
int
sql_returner(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const sqlshape_t *shape = sql_shape(ctx);
    const json_t *ret = value_get(args, "ret");
    void *conn = sql_connect(ctx, ret, err);

    return conn != NULL ? sql_store(shape, conn, shape->ret, values_of_ret(shape, ret), false, err)
                        : err->code;
}

/* The load of a job, before any of its returns. One that is there already stays or is replaced as the
 * statement says. */
int
sql_save_load(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const sqlshape_t *shape = sql_shape(ctx);
    const char *jid = value_str(args, "jid", "");
    void *conn = sql_connect(ctx, NULL, err);

    if (conn == NULL)
        return err->code;
    return sql_store(shape, conn, shape->load, values_of_load(shape, jid, value_get(args, "load")), false,
                     err);
}

/* One write of a batch: an event, a load, or a return, with the load where it has none. `told`: jobs of the
 * batch whose loads it has (ret_told), and its answers are awaited at its end; NULL: it is answered now. */
static int
sql_write(call_ctx_t *ctx, void *conn, const json_t *write, json_t *told, fail_t *err)
{
    const sqlshape_t *shape = sql_shape(ctx);
    const json_t *event = value_get(write, "event"), *ret = value_get(write, "ret"),
                 *load = value_get(write, "load");
    const char *jid = value_str(ret != NULL ? ret : write, "jid", "");
    bool queue = told != NULL, fresh = event == NULL && load != NULL && !ret_told(told, jid);
    int rc = 0;

    if (event != NULL)
        return sql_store(shape, conn, shape->event, values_of_event(ctx, shape, event), queue, err);
    if (fresh || (load != NULL && ret == NULL))
        rc = sql_store(shape, conn, ret != NULL ? shape->load_new : shape->load,
                       values_of_load(shape, jid, load), queue, err);
    if (rc == 0 && ret != NULL)
        rc = sql_store(shape, conn, shape->ret, values_of_ret(shape, ret), queue, err);
    return rc;
}

/* A statement without values. */
static int
sql_plain(const sqlshape_t *shape, void *conn, const char *sql, fail_t *err)
{
    return shape->driver->run(conn, sql, NULL, NULL, NULL, err);
}

/* All writes in the transaction that is open, at once; or each within a savepoint, so that what the database
 * refuses is left out. */
static int
sql_write_all(call_ctx_t *ctx, void *conn, const json_t *writes, fail_t *err)
{
    const sqlshape_t *shape = sql_shape(ctx);
    json_auto_t *told = json_object();
    const json_t *write;
    size_t i;
    int rc = 0;

    json_array_foreach ((json_t *) writes, i, write) {
        /* After a failure nothing more is queued; what is under way is awaited all the same. */
        rc = rc < 0 ? rc : sql_write(ctx, conn, write, told, err);
    }
    fail_auto_t why = FAIL_INIT;
    int answered = shape->driver->await(conn, &why);
    return rc < 0 ? rc : answered < 0 ? fail_kind(err, FAIL_COMMAND, answered, "%s", fail_text(&why)) : 0;
}

/* Slower, and only for a batch that was refused as a whole: a savepoint before each write, to which the
 * transaction goes back when that write is refused. What is left out stands in the log. */
static int
sql_write_each(call_ctx_t *ctx, void *conn, const json_t *writes, fail_t *err)
{
    const sqlshape_t *shape = sql_shape(ctx);
    const json_t *write;
    size_t i;

    json_array_foreach ((json_t *) writes, i, write) {
        fail_auto_t why = FAIL_INIT;
        int rc = sql_plain(shape, conn, "SAVEPOINT one", err);
        if (rc < 0)
            return rc;
        rc = sql_write(ctx, conn, write, NULL, &why);
        if (rc == 0)
            continue;
        if (rc != -EBADMSG)
            return fail_kind(err, FAIL_COMMAND, rc, "%s", fail_text(&why));
        AUTO_FREE char *text = returning_shown(write);
        log_error("%s: left out, as the database refuses it: %s: %s", shape->prefix, fail_text(&why), text);
        if ((rc = sql_plain(shape, conn, "ROLLBACK TO SAVEPOINT one", err)) < 0)
            return rc;
    }
    return 0;
}

/* ---- followers ----------------------------------------------------------------------------------------- */

/* The follower's name in the table: several masters may use one database. */
static json_t *
follower_values(call_ctx_t *ctx, const json_t *args)
{
    json_t *after = value_get(args, "after");

    return json_pack("{s:o, s:o, s:o}", "follower",
                     value_fmt("%s %s", ctx_id(ctx), value_str(args, "follower", "")), "after",
                     json_is_integer(after) ? value_fmt("%lld", (long long) json_integer_value(after))
                                            : json_null(),
                     "next", value_fmt("%lld", (long long) value_int(args, "next", 0)));
}

/* *ret_value NEW: the number that is stored, or null. */
static int
sql_stored(const sqlshape_t *shape, void *conn, const json_t *values, json_t **ret_value, fail_t *err)
{
    json_auto_t *rows = NULL;
    int rc = shape->driver->run(conn, "SELECT seq FROM halite_followers WHERE name = :follower", values,
                                &rows, NULL, err);

    if (rc < 0)
        return rc;
    const char *seq = json_string_value(json_array_get(json_array_get(rows, 0), 0));
    *ret_value = seq != NULL ? json_integer(strtoll(seq, NULL, 10)) : json_null();
    return 0;
}

/* 1: the table is there, or one that may be used by its name; 0, or negative with *err. */
static int
sql_has(const sqlshape_t *shape, void *conn, const char *table, fail_t *err)
{
    json_auto_t *values = json_pack("{s:s}", "table", table), *rows = NULL;
    int rc = shape->driver->run(conn, shape->driver->has_table, values, &rows, NULL, err);

    return rc < 0 ? rc : json_array_size(rows) > 0;
}

/* Looks for Salt's tables that a follower of the name fills. */
static int
sql_look_for_tables(const sqlshape_t *shape, void *conn, const char *follower, fail_t *err)
{
    static const char *const events[] = { "salt_events", NULL }, *const jobs[] = { "jids", "salt_returns",
                                                                                   NULL };
    buf_auto_t lacks = BUF_INIT;

    for (const char *const *one = str_starts(follower, "event_return.") ? events : jobs; *one != NULL;
         one++) {
        int rc = sql_has(shape, conn, *one, err);
        if (rc < 0)
            return rc;
        if (rc == 0)
            buf_printf(&lacks, "%s%s", lacks.len > 0 ? " and " : "", *one);
    }
    if (lacks.len == 0)
        return 0;
    return fail_kind(err, FAIL_COMMAND, -ENOENT,
                     "%s: the database lacks the table %s, which its administrator has to make: "
                     "examples/schemas/%s.sql in the documentation's folder has Salt's tables",
                     shape->prefix, buf_str(&lacks), shape->name);
}

/* Where a follower goes on. The table of cursors is made by the first that needs it; who may not make tables
 * uses one that somebody else has made. */
int
sql_cursor(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const sqlshape_t *shape = sql_shape(ctx);
    json_auto_t *values = follower_values(ctx, args);
    fail_auto_t why = FAIL_INIT, made = FAIL_INIT;
    void *conn = sql_connect(ctx, NULL, err);

    if (conn == NULL)
        return err->code;
    int rc = sql_look_for_tables(shape, conn, value_str(args, "follower", ""), err);
    if (rc < 0)
        return rc;
    if ((rc = sql_has(shape, conn, "halite_followers", err)) < 0)
        return rc;
    /* Two followers may make the table at once: one of them fails, and has it all the same. */
    rc = rc == 0 ? sql_plain(shape, conn, shape->driver->make_followers, &made) : 0;
    if (sql_stored(shape, conn, values, ret_value, &why) == 0)
        return 0;
    return fail_kind(err, FAIL_COMMAND, rc < 0 ? rc : why.code, "%s", fail_text(rc < 0 ? &made : &why));
}

/* Moves the cursor inside the transaction. 1: the batch is stored already. "AND seq = :after" moves it only
 * from where this follower left it, so that no batch is stored twice, and none by two masters with one
 * name. */
static int
sql_move(const sqlshape_t *shape, void *conn, const json_t *values, fail_t *err)
{
    bool first = json_is_null(value_get(values, "after"));
    json_auto_t *stored = NULL;
    long long n = 0;
    int rc = shape->driver->run(
        conn,
        first ? shape->driver->add_follower
              : "UPDATE halite_followers SET seq = :next WHERE name = :follower AND seq = :after",
        values, NULL, &n, err);

    if (rc < 0 || n == 1)
        return rc;
    if ((rc = sql_stored(shape, conn, values, &stored, err)) < 0)
        return rc;
    AUTO_FREE char *seq = value_pystr(stored);
    if (str_eq(seq, value_str(values, "next", "")))
        return 1;
    return fail_kind(err, FAIL_COMMAND, -ESTALE,
                     "somebody else stores as '%s': event %s is the last one, not %s",
                     value_str(values, "follower", ""), seq, value_str(values, "after", "none"));
}

/* The cursor and the writes are one transaction: after a crash both are there or neither is. A batch that is
 * stored already changes nothing, and counts as done. */
static int
sql_transact(call_ctx_t *ctx, void *conn, const json_t *args, bool each, fail_t *err)
{
    const sqlshape_t *shape = sql_shape(ctx);
    json_auto_t *values = follower_values(ctx, args);
    const json_t *writes = value_get(args, "writes");
    fail_auto_t ignored = FAIL_INIT;
    int rc = sql_plain(shape, conn, shape->driver->begin, err);

    if (rc < 0)
        return rc;
    rc = sql_move(shape, conn, values, err);
    if (rc == 0)
        rc = each ? sql_write_each(ctx, conn, writes, err) : sql_write_all(ctx, conn, writes, err);
    if (rc == 0)
        return sql_plain(shape, conn, "COMMIT", err);
    (void) sql_plain(shape, conn, "ROLLBACK", &ignored);
    return rc < 0 ? rc : 0;
}

/* All at once; when values are refused, once more with each on its own, so that one bad value holds up
 * nothing behind it. */
int
sql_batch(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    fail_auto_t why = FAIL_INIT;
    void *conn = sql_connect(ctx, NULL, err);

    if (conn == NULL)
        return err->code;
    int rc = sql_transact(ctx, conn, args, false, &why);
    if (rc == -EBADMSG)
        return sql_transact(ctx, conn, args, true, err);
    return rc < 0 ? fail_kind(err, FAIL_COMMAND, rc, "%s", fail_text(&why)) : 0;
}

/* Salt's interface: all or nothing, without a cursor. */
int
sql_event_return(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const sqlshape_t *shape = sql_shape(ctx);
    json_auto_t *writes = json_array();
    fail_auto_t ignored = FAIL_INIT;
    json_t *event;
    size_t i;
    void *conn = sql_connect(ctx, NULL, err);

    json_array_foreach (value_get(args, "events"), i, event)
        json_array_append_new(writes, json_pack("{s:O}", "event", event));
    int rc = conn != NULL ? sql_plain(shape, conn, shape->driver->begin, err) : err->code;
    if (rc < 0)
        return rc;
    if ((rc = sql_write_all(ctx, conn, writes, err)) == 0)
        return sql_plain(shape, conn, "COMMIT", err);
    (void) sql_plain(shape, conn, "ROLLBACK", &ignored);
    return rc;
}

/* ---- reading ------------------------------------------------------------------------------------------- */

/* NEW rows, or NULL with *err. `name` and `value` are the statement's only value; NULL: it has none. */
static json_t *
sql_read(call_ctx_t *ctx, const char *sql, const char *name, const char *value, fail_t *err)
{
    const sqlshape_t *shape = sql_shape(ctx);
    json_auto_t *values = name != NULL ? json_pack("{s:s}", name, value) : NULL;
    json_t *rows = NULL;
    void *conn = sql_connect(ctx, NULL, err);

    return conn != NULL && shape->driver->run(conn, sql, values, &rows, NULL, err) == 0 ? rows : NULL;
}

/* The value that a column's text is; the text itself when it is no JSON. NEW. */
static json_t *
sql_value(const json_t *column)
{
    const char *text = json_string_value(column);
    json_t *v = text != NULL ? json_loads(text, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL) : NULL;

    return v != NULL ? v : json_incref((json_t *) column);
}

/* NEW load of a row whose load begins at the column `at`. */
static json_t *
sql_load(const sqlshape_t *shape, const json_t *row, size_t at)
{
    json_t *load = json_object();

    if (shape->columns == NULL) {
        json_decref(load);
        return sql_value(json_array_get(row, at));
    }
    for (size_t i = 0; shape->columns[i] != NULL; i++)
        json_object_set(load, shape->columns[i], json_array_get(row, i));
    return load;
}

int
sql_get_load(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const sqlshape_t *shape = sql_shape(ctx);
    json_auto_t *rows = sql_read(ctx, shape->get_load, "jid", value_str(args, "jid", ""), err);

    if (rows == NULL)
        return err->code;
    *ret_value = json_array_size(rows) > 0 ? sql_load(shape, json_array_get(rows, 0), 0) : json_object();
    return 0;
}

/* {first column: value of the second}. */
static int
sql_pairs(call_ctx_t *ctx, const char *sql, const char *name, const char *value, json_t **ret_value,
          fail_t *err)
{
    json_auto_t *rows = sql_read(ctx, sql, name, value, err);
    json_t *row;
    size_t i;

    if (rows == NULL)
        return err->code;
    *ret_value = json_object();
    json_array_foreach (rows, i, row)
        json_object_set_new(*ret_value, json_string_value(json_array_get(row, 0)),
                            sql_value(json_array_get(row, 1)));
    return 0;
}

int
sql_get_jid(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return sql_pairs(ctx, sql_shape(ctx)->get_jid, "jid", value_str(args, "jid", ""), ret_value, err);
}

int
sql_get_fun(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return sql_pairs(ctx, sql_shape(ctx)->get_fun, "fun", value_str(args, "fun", ""), ret_value, err);
}

int
sql_get_jids(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const sqlshape_t *shape = sql_shape(ctx);
    json_auto_t *rows = sql_read(ctx, shape->get_jids, NULL, NULL, err);
    json_t *row;
    size_t i;

    if (rows == NULL)
        return err->code;
    *ret_value = json_object();
    json_array_foreach (rows, i, row) {
        const char *jid = json_string_value(json_array_get(row, 0));
        json_auto_t *load = sql_load(shape, row, 1);
        if (json_is_string(value_get(load, "arg")))
            json_object_set_new(load, "arg", sql_value(value_get(load, "arg")));
        json_object_set_new(*ret_value, jid, ret_job_instance(jid, load));
    }
    return 0;
}

int
sql_get_minions(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *rows = sql_read(ctx, sql_shape(ctx)->get_minions, NULL, NULL, err);
    json_t *row;
    size_t i;

    if (rows == NULL)
        return err->code;
    *ret_value = json_array();
    json_array_foreach (rows, i, row)
        json_array_append(*ret_value, json_array_get(row, 0));
    return 0;
}

int
sql_clean_old_jobs(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const sqlshape_t *shape = sql_shape(ctx);
    json_int_t keep_s = value_int(ctx_opts(ctx), "keep_jobs_seconds", 0);
    json_auto_t *values = json_pack("{s:o}", "before",
                                    value_fmt("%lld", (long long) (clock_wall_us() / 1000000 - keep_s)));
    void *conn = keep_s > 0 ? sql_connect(ctx, NULL, err) : NULL;
    int rc = keep_s > 0 && conn == NULL ? err->code : 0;

    for (size_t i = 0; conn != NULL && rc == 0 && i < NELEMS(shape->clean) && shape->clean[i] != NULL; i++)
        rc = shape->driver->run(conn, shape->clean[i], values, NULL, NULL, err);
    return rc;
}
