/* mysql_query.c - state module `mysql_query`: queries, whose results go into a grain, a file, or the comment.
 * The query runs each time, unless `overwrite` is False and the place of the result is filled. The comment
 * shows the result of mysql.query as Python prints it, with a tuple of columns; a file gets lines
 * "COLUMN:VALUE". */
#include "common/base/buf.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/call/subcall.h"
#include "plugins/lib/database/dbstate.h"
#include "plugins/lib/database/mysqlconn.h"
#include "plugins/lib/database/mysqlrows.h"

enum { RESULT_MODE = 0644 };

/* The request of the SLS. `key` makes the grain a dict, of which the result is one value. */
typedef struct query {
    dbstate_t s;
    const char *database, *output, *grain, *key; /* BORROWED; NULL: not given */
    bool overwrite;
} query_t;

/* Where the result goes, as the comments name it. NEW. */
static char *
query_place(const query_t *q)
{
    if (q->output == NULL)
        return NULL;
    if (strcmp(q->output, "grain") != 0)
        return xstrdup(q->output);
    return q->key != NULL ? xasprintf("%s:%s", q->grain, q->key) : xstrdup(q->grain);
}

/* ---- before the query -------------------------------------------------------------------------- */

/* The grain's value, from which a key's may be taken: NEW; null: it is not set. */
static json_t *
grain_value(const query_t *q)
{
    json_t *v = value_get(ctx_grains(q->s.ctx), q->grain);

    return v != NULL ? json_incref(v) : json_null();
}

/* True when the result is there already and is to stay: the answer is made. 1, 0, or negative with *err. */
static int
query_done(query_t *q)
{
    json_t *ret = q->s.ret;

    if (q->output == NULL || q->overwrite)
        return 0;
    if (strcmp(q->output, "grain") == 0) {
        json_auto_t *v = grain_value(q);
        if (json_is_null(v) || (q->key != NULL && value_get(v, q->key) == NULL))
            return 0;
        state_ret_set(ret, STATE_TRUE, "No execution needed. Grain %s%s%s already set", q->grain,
                      q->key != NULL ? ":" : "", q->key != NULL ? q->key : "");
        return 1;
    }
    int there = fs_look(q->output, q->s.err);
    if (there > 0)
        state_ret_set(ret, STATE_TRUE, "No execution needed. File %s already set", q->output);
    return there;
}

/* The change of a query, in test mode too. */
static void
tell_executed(query_t *q)
{
    AUTO_FREE char *place = query_place(q);
    const char *kind = place == NULL                     ? ""
                       : strcmp(q->output, "grain") == 0 ? ". Output into grain: "
                                                         : ". Output into ";

    state_change(q->s.ret, "query", value_fmt("Executed%s%s", kind, place != NULL ? place : ""));
}

/* Test mode's answer: where the result would go. */
static int
foretell_query(query_t *q)
{
    AUTO_FREE char *place = query_place(q);

    tell_executed(q);
    if (place == NULL)
        return state_ret_set(q->s.ret, STATE_NONE, "Query would execute, not storing result");
    return state_ret_set(q->s.ret, STATE_NONE, "Query would execute, storing result in %s: %s",
                         strcmp(q->output, "grain") == 0 ? "grain" : "file", place);
}

/* ---- after the query --------------------------------------------------------------------------- */

/* The result as Python prints it, with the columns of a query as the tuple that they are there. NEW. */
static char *
query_comment(const json_t *result)
{
    json_t *columns = value_get(result, "columns");
    AUTO_FREE char *text = value_pystr(result), *list = value_repr(columns);
    bool one = json_array_size(columns) == 1;

    if (!json_is_string(json_array_get(columns, 0)))
        return STEAL(text);
    AUTO_FREE char *before = xasprintf("'columns': %s", list),
                   *after = xasprintf("'columns': (%.*s%s)", (int) strlen(list) - 2, list + 1,
                                      one ? "," : "");
    return str_replace(text, before, after);
}

/* "COLUMN:VALUE" lines of the rows, or of what the query said instead. NEW. */
static char *
mysql_query_result_text(const json_t *result)
{
    buf_auto_t out = BUF_INIT;
    json_t *rows = value_get(result, "results"), *one = json_array(), *row, *v;
    const char *key;
    size_t i;

    if (rows == NULL)
        json_array_append(one, (json_t *) result);
    json_array_foreach (rows != NULL ? rows : one, i, row) {
        json_object_foreach (row, key, v) {
            AUTO_FREE char *text = value_pystr(v);
            buf_printf(&out, "%s:%s\n", key, text);
        }
    }
    json_decref(one);
    return buf_steal(&out);
}

/* Runs `fun` of mysql on what `arg` names. */
static int
execute(query_t *q, const char *fun, const char *arg, const char *what)
{
    dbstate_t *s = &q->s;
    json_auto_t *result = dbstate_call(s, fun, "{s:s, s:s}", "database", q->database, arg, what);

    if (result == NULL)
        return s->err->code;
    if (!json_is_object(result) || json_object_size(result) == 0)
        return dbstate_mysql_failed(s, NULL) ? 0 : state_ret_set(s->ret, STATE_FALSE, "The query failed");
    if (value_get(result, "results") != NULL) {
        /* Makes each row a dict by its columns. */
        json_t *mapped = json_array(), *row, *column;
        size_t i, k;
        json_array_foreach (value_get(result, "results"), i, row) {
            json_t *line = json_object();
            json_array_foreach (value_get(result, "columns"), k, column) {
                AUTO_FREE char *name = value_pystr(column);
                json_object_set(line, name, json_array_get(row, k));
            }
            json_array_append_new(mapped, line);
        }
        json_object_set_new(result, "results", mapped);
    }
    AUTO_FREE char *comment = query_comment(result);
    state_ret_set(s->ret, STATE_TRUE, "%s", comment);
    tell_executed(q);

    /* 0 or negative with *err. */
    if (q->output == NULL)
        return 0;
    if (strcmp(q->output, "grain") != 0) {
        AUTO_FREE char *text = mysql_query_result_text(result);
        return fs_rewrite(q->output, text, strlen(text), RESULT_MODE, s->err);
    }
    json_auto_t *value = json_incref(result);
    if (q->key != NULL) {
        json_auto_t *now = grain_value(q);
        json_decref(value);
        value = json_is_object(now) ? json_copy(now) : json_object();
        json_object_set(value, q->key, result);
    }
    json_auto_t *set = sub_call(s->ctx, s->err, "grains.setval", "{s:s, s:O}", "key", q->grain, "val", value);
    return set != NULL ? 0 : s->err->code;
}

/* ---- the functions ----------------------------------------------------------------------------- */

/* True when the query may run: 1; 0: ret is the answer; negative with *err. */
static int
query_wanted(query_t *q, const char *shown)
{
    dbstate_t *s = &q->s;
    json_t *flags = value_get(s->args, "client_flags");

    if (!json_is_null(flags) && !json_is_array(flags))
        return state_ret_set(s->ret, STATE_FALSE, "Error: client_flags must be a list.");
    if (value_truthy(value_get(s->args, "check_db_exists"))) {
        int there = dbstate_ask(s, "mysql.db_exists", "{s:s}", "name", q->database);
        if (there < 0 || (there == 0 && dbstate_mysql_failed(s, NULL)))
            return there;
        if (there == 0)
            return state_ret_set(s->ret, STATE_NONE, "Database %s is not present", shown);
    }
    if (q->output != NULL && strcmp(q->output, "grain") == 0 && q->grain == NULL)
        return state_ret_set(s->ret, STATE_FALSE, "Error: output type 'grain' needs the grain parameter\n");
    int done = query_done(q);
    return done < 0 ? done : done == 0;
}

/* The path of the file on this machine. NEW; NULL: the answer is made, or *err. */
static char *
query_file(query_t *q)
{
    static const char *const schemes[] = { "http://", "https://", "salt://", "s3://", "swift://" };
    dbstate_t *s = &q->s;
    const char *path = value_str(s->args, "query_file", "");
    json_auto_t *cached = NULL;

    /* Files of the file server and of the web are fetched; other paths are this machine's. */
    for (size_t i = 0; i < NELEMS(schemes); i++) {
        if (!str_starts(path, schemes[i]))
            continue;
        cached = sub_call(s->ctx, s->err, "cp.cache_file", "{s:s, s:s}", "path", path, "saltenv",
                          value_str(s->args, "saltenv", ctx_saltenv(s->ctx)));
        if (cached == NULL)
            return NULL;
        path = json_is_string(cached) ? json_string_value(cached) : "False";
    }
    int there = fs_look(path, s->err);
    if (there == 0)
        state_ret_set(s->ret, STATE_FALSE, "File %s does not exist", path);
    return there > 0 ? xstrdup(path) : NULL;
}

/* A query runs only when its output, a grain or a file, is not there yet or may be overwritten. */
static int
query_run(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    bool by_file = ctx_row(ctx)->data.number != 0;
    query_t q = { .database = value_str(args, "database", ""),
                  .output = value_str(args, "output", NULL),
                  .grain = value_str(args, "grain", NULL),
                  .key = value_str(args, "key", NULL),
                  .overwrite = value_truthy(value_get(args, "overwrite")) };

    dbstate_mysql(&q.s, ctx, args, *ret_value = state_ret_args(args), err);
    AUTO_FREE char *file = by_file ? query_file(&q) : NULL;
    int rc = by_file && file == NULL ? err->code : 1;
    if (rc > 0)
        rc = query_wanted(&q, by_file ? q.database : value_str(args, "name", ""));
    if (rc > 0 && ctx_test(ctx))
        rc = foretell_query(&q);
    else if (rc > 0)
        rc = by_file ? execute(&q, "mysql.file_query", "file_name", file)
                     : execute(&q, "mysql.query", "query", value_str(args, "query", ""));
    return dbstate_end(&q.s, rc);
}

#define QUERY_ROWS_HEAD                                                                                      \
    ARG("name", ARG_STR, ARG_REQUIRED, "Any text"),                                                          \
        ARG("database", ARG_STR, ARG_REQUIRED, "Database to work in")
#define QUERY_ROWS                                                                                           \
    ARG("output", ARG_STR, "null", "grain, or a file; by default the comment has the result"),               \
        ARG("grain", ARG_STR, "null", "The grain, with output: grain"),                                      \
        ARG("key", ARG_STR, "null", "Key of the grain, which is a dictionary then"),                         \
        ARG("overwrite", ARG_ANY, "true", "Run it again where there is a result already")
#define QUERY_ROWS_TAIL                                                                                      \
    ARG("check_db_exists", ARG_ANY, "true", "Look for the database first"),                                  \
        ARG("client_flags", ARG_ANY, "null", "Capabilities that the client asks for: a list of names"),      \
        MYSQL_ROW_ACCESS

static const arg_t run_args[] = { QUERY_ROWS_HEAD, ARG("query", ARG_STR, ARG_REQUIRED, "The statement"),
                                  QUERY_ROWS, QUERY_ROWS_TAIL, ARGS_END };
static const arg_t file_args[] = {
    QUERY_ROWS_HEAD, ARG("query_file", ARG_STR, ARG_REQUIRED, "File of statements, or its address"),
    QUERY_ROWS,      ARG("saltenv", ARG_STR, "null", "Environment of the file server for the file"),
    QUERY_ROWS_TAIL, ARGS_END
};

static const func_t funcs[] = {
    { "run", query_run, run_args, 0, "Runs a query.", .data.number = 0 },
    { "run_file", query_run, file_args, 0, "Runs the statements of a file.", .data.number = 1 },
};

PLUGIN(state, mysql_query, .doc = "Queries of MySQL and MariaDB", FUNCS(funcs),
       .unavailable = mysqlconn_missing);
