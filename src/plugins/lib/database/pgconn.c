/* pgconn.c - see pgconn.h. */
#include "plugins/lib/database/pgconn.h"

#include <pwd.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/call/tool.h"
#include "salt/log.h"

#define PG_ERROR_KEY "postgres.error"
enum { PSQL_UNREACHED = 2 }; /* psql's exit code when it has no connection */

char *
pg_error_take(call_ctx_t *ctx)
{
    const char *text = value_str(ctx_context(ctx), PG_ERROR_KEY, NULL);
    char *error = text != NULL ? xstrdup(text) : NULL;

    json_object_del(ctx_context(ctx), PG_ERROR_KEY);
    return error;
}

char *
pg_option(call_ctx_t *ctx, const char *name)
{
    json_auto_t *call = json_pack("[s]", name), *v = NULL;

    (void) ctx_call(ctx, "config.option", call, NULL, &v, NULL);
    return value_truthy(v) ? value_pystr(v) : NULL;
}

char *
pg_program(call_ctx_t *ctx, const char *name)
{
    char *path = fs_which(name);
    AUTO_FREE char *dir = path == NULL ? pg_option(ctx, "postgres.bins_dir") : NULL;

    if (path != NULL || dir == NULL)
        return path;
    AUTO_FREE char *there = fs_join(dir, name);
    return fs_which(there);
}

const char *
pg_missing(call_ctx_t *ctx)
{
    AUTO_FREE char *psql = pg_program(ctx, "psql");

    return psql != NULL
               ? NULL
               : "psql was not found: install the package postgresql-client, or set postgres.bins_dir";
}

const char *
pg_states_missing(call_ctx_t *ctx)
{
    return pg_missing(ctx) == NULL ? NULL
                                   : "Unable to load postgres module.  Make sure `postgres.bins_dir` is set.";
}

int
pg_timeout_ms(call_ctx_t *ctx)
{
    AUTO_FREE char *option = pg_option(ctx, "postgres.timeout");
    long long s = 0;

    if (option != NULL && str_to_int(option, 1, LIMIT_SQL_ANSWER_S, &s))
        return (int) s * 1000;
    return LIMIT_SQL_ANSWER_S * 1000;
}

/* ---- arguments -------------------------------------------------------------------------------- */

static char *
given(call_ctx_t *ctx, const json_t *args, const char *name, const char *option)
{
    json_t *v = value_get(args, name);

    return value_truthy(v) ? value_pystr(v) : pg_option(ctx, option);
}

/* Reads the arguments by the names that they have in this function. */
static void
read_access(pgconn_t *self, call_ctx_t *ctx, const json_t *args, const char *const names[4])
{
    self->ctx = ctx;
    self->user = given(ctx, args, names[0], "postgres.user");
    self->host = given(ctx, args, names[1], "postgres.host");
    self->port = given(ctx, args, names[2], "postgres.port");
    self->password = given(ctx, args, names[3], "postgres.pass");
    if (self->runas == NULL && (self->host == NULL || *self->host == '/'))
        self->runas = "postgres"; /* whom the server lets in by its socket */
}

void
pgconn_of(pgconn_t *self, call_ctx_t *ctx, const json_t *args)
{
    static const char *const names[] = { "user", "host", "port", "password" };

    *self = (pgconn_t){ .runas = value_str(args, "runas", NULL),
                        .db = value_str(args, "maintenance_db", NULL) };
    read_access(self, ctx, args, names);
}

void
pgconn_of_schema(pgconn_t *self, call_ctx_t *ctx, const json_t *args)
{
    static const char *const names[] = { "db_user", "db_host", "db_port", "db_password" };

    *self = (pgconn_t){ .runas = value_str(args, "user", NULL), .db = value_str(args, "dbname", NULL) };
    read_access(self, ctx, args, names);
}

void
pgconn_free(pgconn_t *self)
{
    if (self->password != NULL)
        explicit_bzero(self->password, strlen(self->password));
    free(self->user);
    free(self->host);
    free(self->port);
    free(self->password);
}

/* ---- psql ------------------------------------------------------------------------------------- */

/* The command line up to what psql is to do. */
static int
psql_begin(pgconn_t *self, prog_t *prog, fail_t *err)
{
    AUTO_FREE char *psql = pg_program(self->ctx, "psql"), *db = NULL;

    if (psql == NULL)
        return fail_kind(err, FAIL_COMMAND, -ENOENT, "%s", pg_missing(self->ctx));
    if (str_empty(self->db))
        db = pg_option(self->ctx, "postgres.maintenance_db");
    prog_adds(prog, psql, "--no-align", "--no-readline", "--no-psqlrc", "--no-password", NULL);
    if (self->user != NULL)
        prog_adds(prog, "--username", self->user, NULL);
    if (self->host != NULL)
        prog_adds(prog, "--host", self->host, NULL);
    if (self->port != NULL)
        prog_adds(prog, "--port", self->port, NULL);
    prog_adds(prog, "--dbname", !str_empty(self->db) ? self->db : db != NULL ? db : "postgres", NULL);
    prog_env(prog, "PGDATESTYLE=ISO,MDY");
    prog_env(prog, "PGCONNECT_TIMEOUT=" STRINGIFY(LIMIT_SQL_CONNECT_S));
    if (self->password != NULL) {
        AUTO_FREE char *line = xasprintf("PGPASSWORD=%s", self->password);
        prog_env(prog, line);
        explicit_bzero(line, strlen(line));
    }
    prog->run_as = self->runas;
    prog->timeout_ms = pg_timeout_ms(self->ctx);
    return 0;
}

/* Runs the program, and says in the log that the server refused. */
static json_t *
psql_run(pgconn_t *self, prog_t *prog, fail_t *err)
{
    json_t *ret = tool_run(self->ctx, prog, 0, err);

    int code = ret != NULL ? (int) value_int(ret, "retcode", 1) : 0;
    if (code != 0)
        log_error("Error connecting to Postgresql server");
    if (code == PSQL_UNREACHED)
        json_object_set(ctx_context(self->ctx), PG_ERROR_KEY, value_get(ret, "stderr"));
    return ret;
}

json_t *
pgconn_script(pgconn_t *self, const char *sql, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;

    if (psql_begin(self, &prog, err) < 0)
        return NULL;
    /* "terse" leaves out the statement that an error is about. */
    prog_adds(&prog, "-v", "ON_ERROR_STOP=1", "-v", "VERBOSITY=terse", "--single-transaction", "-f", "-",
              NULL);
    prog.in = sql;
    return psql_run(self, &prog, err);
}

int
pgconn_run(pgconn_t *self, char *sql, bool secret, fail_t *err)
{
    AUTO_FREE char *owned = sql;
    prog_auto_t prog = PROG_INIT;
    json_auto_t *ret = NULL;

    if (secret) {
        ret = pgconn_script(self, sql, err);
        explicit_bzero(sql, strlen(sql));
    } else if (psql_begin(self, &prog, err) == 0) {
        prog_adds(&prog, "-c", sql, NULL);
        ret = psql_run(self, &prog, err);
    }
    return ret != NULL ? value_int(ret, "retcode", 1) == 0 : err->code;
}

json_t *
pgconn_query(pgconn_t *self, char *sql, bool write, fail_t *err)
{
    AUTO_FREE char *owned = sql;
    prog_auto_t prog = PROG_INIT;
    char *text = str_trim(sql);
    size_t len = strlen(text);

    while (len > 0 && text[len - 1] == ';')
        text[--len] = '\0';
    if (psql_begin(self, &prog, err) < 0)
        return NULL;
    prog_adds(&prog, "-v", "datestyle=ISO,MDY", NULL);
    /* Of a transaction psql 15 and later tell every step, unless they are to be quiet. */
    if (write)
        prog_add(&prog, "--quiet");
    prog_add(&prog, "-c");
    prog_addf(&prog, "%sCOPY (%s) TO STDOUT WITH CSV HEADER%s", write ? "START TRANSACTION READ WRITE; " : "",
              text, write ? "; COMMIT TRANSACTION;" : "");
    json_auto_t *ret = psql_run(self, &prog, err);
    if (ret == NULL)
        return NULL;
    return value_int(ret, "retcode", 1) == 0 ? pgtext_csv(value_str(ret, "stdout", "")) : json_array();
}

char *
pgconn_version(pgconn_t *self, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;

    if (psql_begin(self, &prog, err) < 0)
        return NULL;
    prog_adds(&prog, "-c", "SELECT setting FROM pg_catalog.pg_settings WHERE name = 'server_version'", "-t",
              NULL);
    json_auto_t *ret = psql_run(self, &prog, err);
    const char *text = value_str(ret, "stdout", "");
    return ret != NULL ? xstrndup(text, strcspn(text, "\n")) : NULL;
}
