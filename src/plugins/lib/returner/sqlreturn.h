/* sqlreturn.h - returners on a database: what differs between them is a table of statements (sqlshape_t), and
 * a driver.
 *
 * Statements have names for values, ":jid". Of a return: fun jid return id success full_ret job_ret now. Of
 * an event: tag data master_id now. Of a load: jid load started tgt_type cmd tgt kwargs ret user arg fun. Of
 * a follower: follower after next. Of clean_old_jobs: before, a time in seconds.
 *
 * A batch is one transaction, in which the number of its last event goes into the table halite_followers:
 * what is stored, and how far, is one fact, and each event is stored once. That table a follower makes where it
 * lacks. Salt's own are an administrator's: they stay as they are, and a follower that lacks one says which
 * file (conf/schemas) has it, and waits.
 *
 * Layer      plugins/lib/returner
 * Threads    one per context, which keeps the connection
 * Errors     -EBADMSG when the database refuses the values; of a batch such writes are left out and logged.
 *            -ESTALE: somebody else has stored for this follower
 * Tests      tests/t/5310-postgres.bats
 */
#ifndef PLUGINS_LIB_RETURNER_SQLRETURN_H
#define PLUGINS_LIB_RETURNER_SQLRETURN_H

#include "plugins/lib/returner/retopts.h"

typedef struct sqldriver {
    void *(*open)(call_ctx_t *ctx, const json_t *opts, fail_t *err); /* NEW */
    void (*close)(void *conn);
    bool (*is_bad)(const void *conn);
    /* `values`: {name: text or null}. Both result pointers may be NULL. */
    int (*run)(void *conn, const char *sql, const json_t *values, json_t **ret_rows, long long *ret_count,
               fail_t *err);
    int (*queue)(void *conn, const char *sql, const json_t *values,
                 fail_t *err); /* as run, answered by await */
    int (*await)(void *conn, fail_t *err);
    const char *yes, *no;  /* how Python's drivers write True and False */
    const char *has_table; /* a row where the table `table` is there */
    const char *make_followers, *begin, *add_follower;
} sqldriver_t;

typedef struct sqlshape {
    const char *name;   /* the returner's; conf/schemas has NAME.sql */
    const char *prefix; /* of the options: "returner.pgjsonb" */
    const retopt_t *options;
    size_t n_options;
    const sqldriver_t *driver;
    const char *ret, *event, *load, *load_new; /* load_new: only where there is none */
    const char *get_load, *get_jid, *get_fun, *get_jids, *get_minions;
    const char *clean[4]; /* up to NULL */
    const char *const *
        columns; /* of get_load and get_jids: names of the load's members; NULL: the load is one text of JSON */
} sqlshape_t;

int sql_returner(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err);
int sql_event_return(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err);
int sql_save_load(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err);
int sql_get_load(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err);
int sql_get_jid(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err);
int sql_get_fun(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err);
int sql_get_jids(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err);
int sql_get_minions(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err);
int sql_clean_old_jobs(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err);
int sql_cursor(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err);
int sql_batch(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err);

#define SQL_FUNCS(shape)                                                                                     \
    RET_ROW_RETURNER(sql_returner, .data.ptr = &(shape)),                                                    \
        RET_ROW_EVENTS(sql_event_return, .data.ptr = &(shape)), RET_ROW_PREP,                                \
        RET_ROW_SAVE(sql_save_load, .data.ptr = &(shape)), RET_ROW_LOAD(sql_get_load, .data.ptr = &(shape)), \
        RET_ROW_JID(sql_get_jid, .data.ptr = &(shape)), RET_ROW_FUN(sql_get_fun, .data.ptr = &(shape)),      \
        RET_ROW_JIDS(sql_get_jids, .data.ptr = &(shape)),                                                    \
        RET_ROW_MINIONS(sql_get_minions, .data.ptr = &(shape)),                                              \
        RET_ROW_CLEAN(sql_clean_old_jobs, .data.ptr = &(shape)),                                             \
        RET_ROW_CURSOR(sql_cursor, .data.ptr = &(shape)), RET_ROW_BATCH(sql_batch, .data.ptr = &(shape))

/* PostgreSQL by libpq. Its options are named as libpq's keywords: host, port, user, password, dbname,
 * sslmode, ... */
extern const sqldriver_t sqldriver_postgres;
/* MySQL and MariaDB by mysqlconn.h, whose connection_* arguments its options are. */
extern const sqldriver_t sqldriver_mysql;

#endif
