/* pglink.c - see pglink.h. libpq is loaded when it is first needed. Its calls that do not block are used, so
 * that a server that says nothing is given up after a time; the pipeline, of version 14, sends many
 * statements without awaiting each answer. */
#include "plugins/lib/database/pglink.h"

#include <pthread.h>
#include <poll.h>

#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/host/library.h"
#include "salt/limits.h"

/* ---- the library ------------------------------------------------------------------------------ */

typedef struct pg_handle pg_handle_t; /* PGconn */
typedef struct pg_result pg_result_t; /* PGresult */

/* ConnStatusType, ExecStatusType, and the codes of PQresultErrorField. */
enum { PG_CONNECTION_OK = 0 };
enum { PG_EMPTY = 0, PG_COMMAND_OK = 1, PG_TUPLES_OK = 2, PG_PIPELINE_SYNC = 10, PG_PIPELINE_ABORTED = 11 };
enum { PG_SQLSTATE = 'C', PG_PRIMARY = 'M' };

static struct pg_lib {
    pg_handle_t *(*connectdbParams)(const char *const *keywords, const char *const *values, int expand);
    void (*finish)(pg_handle_t *);
    int (*status)(const pg_handle_t *);
    char *(*errorMessage)(const pg_handle_t *);
    int (*socket)(const pg_handle_t *);
    int (*setnonblocking)(pg_handle_t *, int on);
    int (*flush)(pg_handle_t *);
    int (*consumeInput)(pg_handle_t *);
    int (*isBusy)(pg_handle_t *);
    int (*sendQueryParams)(pg_handle_t *, const char *sql, int n, const unsigned *types,
                           const char *const *values, const int *lengths, const int *formats,
                           int result_format);
    int (*sendPrepare)(pg_handle_t *, const char *name, const char *sql, int n, const unsigned *types);
    int (*sendQueryPrepared)(pg_handle_t *, const char *name, int n, const char *const *values,
                             const int *lengths, const int *formats, int result_format);
    pg_result_t *(*getResult)(pg_handle_t *);
    int (*resultStatus)(const pg_result_t *);
    char *(*resultErrorField)(const pg_result_t *, int code);
    void (*clear)(pg_result_t *);
    int (*ntuples)(const pg_result_t *);
    int (*nfields)(const pg_result_t *);
    char *(*getvalue)(const pg_result_t *, int row, int column);
    int (*getisnull)(const pg_result_t *, int row, int column);
    int (*getlength)(const pg_result_t *, int row, int column);
    char *(*cmdTuples)(pg_result_t *);
    int (*enterPipelineMode)(pg_handle_t *);
    int (*exitPipelineMode)(pg_handle_t *);
    int (*pipelineSync)(pg_handle_t *);
} pg_lib;
static bool pg_lib_loaded;

#define PG_SYMBOL(name) ROW("PQ" #name, offsetof(struct pg_lib, name))
static const library_symbol_t pg_symbols[] = {
    PG_SYMBOL(connectdbParams),
    PG_SYMBOL(finish),
    PG_SYMBOL(status),
    PG_SYMBOL(errorMessage),
    PG_SYMBOL(socket),
    PG_SYMBOL(setnonblocking),
    PG_SYMBOL(flush),
    PG_SYMBOL(consumeInput),
    PG_SYMBOL(isBusy),
    PG_SYMBOL(sendQueryParams),
    PG_SYMBOL(sendPrepare),
    PG_SYMBOL(sendQueryPrepared),
    PG_SYMBOL(getResult),
    PG_SYMBOL(resultStatus),
    PG_SYMBOL(resultErrorField),
    PG_SYMBOL(clear),
    PG_SYMBOL(ntuples),
    PG_SYMBOL(nfields),
    PG_SYMBOL(getvalue),
    PG_SYMBOL(getisnull),
    PG_SYMBOL(getlength),
    PG_SYMBOL(cmdTuples),
    PG_SYMBOL(enterPipelineMode),
    PG_SYMBOL(exitPipelineMode),
    PG_SYMBOL(pipelineSync),
};

/* Runners connect from several threads. The lock is held while the library is opened, so that nobody calls
 * through a table that is half filled. It stays loaded. */
static int
pg_load(fail_t *err)
{
    static const char *const names[] = { "libpq.so.5", NULL };
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    fail_auto_t why = FAIL_INIT;

    (void) pthread_mutex_lock(&lock);
    pg_lib_loaded = pg_lib_loaded ||
                    library_open(names, pg_symbols, NELEMS(pg_symbols), &pg_lib, &why) != NULL;
    int rc = pg_lib_loaded
                 ? 0
                 : fail_kind(err, FAIL_COMMAND, -ENOENT,
                             "The library libpq of PostgreSQL 14 or later can't be loaded (%s): install "
                             "the package libpq5 (Debian, Ubuntu, SUSE) or libpq (Fedora, RHEL)",
                             fail_text(&why));
    (void) pthread_mutex_unlock(&lock);
    return rc;
}

/* ---- the connection --------------------------------------------------------------------------- */

struct pglink {
    pg_handle_t *handle;
    char *
        prepared; /* owned: what the server has as its statement without a name, while in the pipeline; NULL: none */
    bool pipeline, bad;
};

/* The library's message of the connection, one line of it. After it the connection is no longer used: what of
 * the statement reached the server is not known. libpq says several lines where it tried several
 * addresses. */
static int
pglink_failed(pglink_t *self, int code, fail_t *err)
{
    AUTO_FREE char *text = xstrdup(pg_lib.errorMessage(self->handle));

    self->bad = true;
    text[strcspn(text, "\n")] = '\0';
    return fail_kind(err, FAIL_COMMAND, code, "PostgreSQL: %s", *text != '\0' ? text : strerror(-code));
}

pglink_t *
pglink_open(const json_t *settings, fail_t *err)
{
    enum { SETTINGS_MAX = 32 };
    const char *names[SETTINGS_MAX + 2], *values[SETTINGS_MAX + 2], *name;
    AUTO_FREE char *seconds = xasprintf("%d", LIMIT_SQL_CONNECT_S);
    size_t n = 0;
    json_t *v;

    if (pg_load(err) < 0)
        return NULL;
    json_object_foreach ((json_t *) settings, name, v) {
        if (n < SETTINGS_MAX && json_is_string(v)) {
            names[n] = name;
            values[n++] = json_string_value(v);
        }
    }
    /* Last, and so above one of the caller's: libpq takes the last of two. */
    names[n] = "connect_timeout";
    values[n++] = seconds;
    names[n] = values[n] = NULL;
    pglink_t *self = xcalloc(1, sizeof(*self));
    self->handle = pg_lib.connectdbParams(names, values, 0);
    salt_assert(self->handle != NULL);
    if (pg_lib.status(self->handle) == PG_CONNECTION_OK && pg_lib.setnonblocking(self->handle, 1) == 0)
        return self;
    (void) pglink_failed(self, -EIO, err);
    pglink_destroy(&self);
    return NULL;
}

void
pglink_destroy(pglink_t **self_p)
{
    pglink_t *self = STEAL(*self_p);

    if (self == NULL)
        return;
    pg_lib.finish(self->handle);
    free(self->prepared);
    free(self);
}

/* True when a new connection must be made before the next statement. */
bool
pglink_is_bad(const pglink_t *self)
{
    return self->bad || pg_lib.status(self->handle) != PG_CONNECTION_OK;
}

/* ---- statements ------------------------------------------------------------------------------- */

/* Sends what is waiting and reads until a result is there. */
static int
pglink_wait(pglink_t *self, int64_t until_ms, fail_t *err)
{
    for (;;) {
        int unsent = pg_lib.flush(self->handle);
        if (unsent < 0)
            return pglink_failed(self, -EIO, err);
        /* While something is unsent, reading goes on too: a server that waits for its answers to be taken
         * would never read the rest. */
        if (unsent == 0 && pg_lib.isBusy(self->handle) == 0)
            return 0;
        struct pollfd fd = { .fd = pg_lib.socket(self->handle),
                             .events = (short) (POLLIN | (unsent ? POLLOUT : 0)) };
        int64_t left_ms = until_ms - clock_mono_ms();
        int n = left_ms > 0 ? poll(&fd, 1, (int) left_ms) : 0;
        if (n == 0) {
            self->bad = true;
            return fail_kind(err, FAIL_COMMAND, -ETIMEDOUT, "PostgreSQL: no answer within %d s",
                             LIMIT_SQL_STORE_S);
        }
        if (n < 0 && errno != EINTR)
            return fail_set(err, -errno, "PostgreSQL: poll: %s", strerror(errno));
        if ((fd.revents & ~POLLOUT) != 0 && pg_lib.consumeInput(self->handle) == 0)
            return pglink_failed(self, -EIO, err);
    }
}

/* -EBADMSG when the values themselves are refused, so that the caller may leave out what is wrong and store
 * the rest; every other refusal is of the whole. */
static int
pg_refused(const pg_result_t *result, fail_t *err)
{
    static const char *const classes[] = { "22", "23",
                                           "54" }; /* data, integrity constraints, limits of the server */
    const char *state = pg_lib.resultErrorField(result, PG_SQLSTATE),
               *text = pg_lib.resultErrorField(result, PG_PRIMARY);
    int code = -EIO;

    for (size_t i = 0; state != NULL && i < NELEMS(classes); i++)
        code = strncmp(state, classes[i], 2) == 0 ? -EBADMSG : code;
    return fail_kind(err, FAIL_COMMAND, code, "PostgreSQL: %s (%s)", text != NULL ? text : "refused",
                     state != NULL ? state : "no code");
}

/* NEW rows of a result; bounded, or NULL with *err. All columns come as texts, in the format that PostgreSQL
 * prints. */
static json_t *
pglink_rows(const pg_result_t *result, fail_t *err)
{
    json_auto_t *rows = json_array();
    size_t held = 0;

    for (int i = 0; i < pg_lib.ntuples(result); i++) {
        json_t *row = json_array();
        json_array_append_new(rows, row);
        for (int k = 0; k < pg_lib.nfields(result); k++) {
            size_t len = (size_t) pg_lib.getlength(result, i, k);
            held += len;
            json_array_append_new(row, pg_lib.getisnull(result, i, k)
                                           ? json_null()
                                           : value_utf8(pg_lib.getvalue(result, i, k), len));
        }
        if (held > LIMIT_CMD_OUTPUT) {
            (void) fail_kind(err, FAIL_COMMAND, -EFBIG, "PostgreSQL: the answer is larger than %d bytes",
                             LIMIT_CMD_OUTPUT);
            return NULL;
        }
    }
    return STEAL(rows);
}

/* All results are taken, also after a refusal: libpq takes no statement before it has handed out NULL. */
int
pglink_run(pglink_t *self, const char *sql, const char *const *values, size_t n, json_t **ret_rows,
           long long *ret_count, fail_t *err)
{
    int64_t until_ms = clock_mono_ms() + LIMIT_SQL_STORE_S * 1000;
    pg_result_t *result;
    int rc = pg_lib.sendQueryParams(self->handle, sql, (int) n, NULL, values, NULL, NULL, 0)
                 ? 0
                 : pglink_failed(self, -EIO, err);

    while (rc != -ETIMEDOUT && !self->bad && (pglink_wait(self, until_ms, err) == 0) &&
           (result = pg_lib.getResult(self->handle)) != NULL) {
        int status = pg_lib.resultStatus(result);
        if (status != PG_COMMAND_OK && status != PG_TUPLES_OK)
            rc = pg_refused(result, err);
        if (rc == 0 && ret_rows != NULL && (*ret_rows = pglink_rows(result, err)) == NULL)
            rc = -EFBIG;
        if (rc == 0 && ret_count != NULL)
            *ret_count = strtoll(pg_lib.cmdTuples(result), NULL, 10);
        pg_lib.clear(result);
    }
    return rc < 0 ? rc : self->bad ? err->code : 0;
}

/* Statements are not answered before pglink_await(); only a connection that broke is told here. */
int
pglink_queue(pglink_t *self, const char *sql, const char *const *values, size_t n, fail_t *err)
{
    if (!self->pipeline && pg_lib.enterPipelineMode(self->handle) == 0)
        return pglink_failed(self, -EIO, err);
    self->pipeline = true;

    /* The server reads and plans a statement once for all values that follow. Without a name, nothing of it
     * stays in a connection that others use too (PgBouncer). libpq sends when it holds 64 kB. */
    if (!str_eq(self->prepared, sql)) {
        free(self->prepared);
        self->prepared = xstrdup(sql);
        if (pg_lib.sendPrepare(self->handle, "", sql, (int) n, NULL) == 0)
            return pglink_failed(self, -EIO, err);
    }
    return pg_lib.sendQueryPrepared(self->handle, "", (int) n, values, NULL, NULL, 0)
               ? 0
               : pglink_failed(self, -EIO, err);
}

/* The first refusal is the answer. Statements behind it are PIPELINE_ABORTED up to the sync, and say nothing
 * of themselves. */
int
pglink_await(pglink_t *self, fail_t *err)
{
    int64_t until_ms = clock_mono_ms() + LIMIT_SQL_STORE_S * 1000;
    int rc = !self->pipeline || pg_lib.pipelineSync(self->handle) ? 0 : pglink_failed(self, -EIO, err);

    for (bool synced = !self->pipeline; rc != -ETIMEDOUT && !self->bad && !synced;) {
        pg_result_t *result = pglink_wait(self, until_ms, err) == 0 ? pg_lib.getResult(self->handle) : NULL;
        int status = result != NULL ? pg_lib.resultStatus(result)
                                    : PG_EMPTY; /* NULL: the end of one statement */
        synced = status == PG_PIPELINE_SYNC;
        if (result != NULL && !synced && status != PG_COMMAND_OK && status != PG_TUPLES_OK &&
            status != PG_PIPELINE_ABORTED)
            rc = pg_refused(result, err);
        if (result != NULL)
            pg_lib.clear(result);
    }
    free(STEAL(self->prepared));
    if (!self->bad && self->pipeline)
        self->bad = pg_lib.exitPipelineMode(self->handle) == 0;
    self->pipeline = false;
    return rc < 0 ? rc : self->bad ? (err->code < 0 ? err->code : -EIO) : 0;
}
