/* bareloop.c - the floor for a follower: the rows of FILE (fun, jid, return, id, success, full_ret, with tabs between them) into a server by
 * its own library alone, 500 in a transaction or a pipeline. reach.py builds it, where the headers of both libraries are.
 *
 *   bareloop pg CONNINFO FILE     bareloop redis SOCKET FILE     prints the seconds
 */
#if __has_include(<hiredis/hiredis.h>) && __has_include(<libpq-fe.h>)
#include <hiredis/hiredis.h>
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BATCH = 500, COLUMNS = 6, ROWS_MAX = 1000000 };

typedef struct row {
    const char *column[COLUMNS];
} row_t;

static void
die(const char *what)
{
    (void) fprintf(stderr, "bareloop: %s\n", what);
    exit(1);
}

static double
now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double) t.tv_sec + (double) t.tv_nsec / 1e9;
}

static size_t
read_rows(const char *path, row_t *rows)
{
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t room = 0, n = 0;

    while (file != NULL && getline(&line, &room, file) > 0 && n < ROWS_MAX) {
        char *rest = strdup(line);
        for (int i = 0; i < COLUMNS; i++)
            rows[n].column[i] = strsep(&rest, i + 1 < COLUMNS ? "\t" : "\n");
        n++;
    }
    if (n == 0 || rows[n - 1].column[COLUMNS - 1] == NULL)
        die("no rows");
    return n;
}

static void
postgres(const char *conninfo, const row_t *rows, size_t n)
{
    static const char sql[] =
        "INSERT INTO salt_returns (fun, jid, return, id, success, full_ret) VALUES ($1, $2, $3, $4, $5, $6)";
    PGconn *conn = PQconnectdb(conninfo);
    PGresult *result;

    if (PQstatus(conn) != CONNECTION_OK || PQenterPipelineMode(conn) != 1)
        die(PQerrorMessage(conn));
    for (size_t at = 0; at < n; at += BATCH) {
        int sent = 2;
        (void) PQsendQueryParams(conn, "BEGIN", 0, NULL, NULL, NULL, NULL, 0);
        for (size_t i = at; i < n && i < at + BATCH; i++, sent++)
            (void) PQsendQueryParams(conn, sql, COLUMNS, NULL, rows[i].column, NULL, NULL, 0);
        (void) PQsendQueryParams(conn, "COMMIT", 0, NULL, NULL, NULL, NULL, 0);
        if (PQpipelineSync(conn) != 1)
            die(PQerrorMessage(conn));
        for (; sent >= 0; sent--) {
            while ((result = PQgetResult(conn)) != NULL) {
                ExecStatusType status = PQresultStatus(result);
                PQclear(result);
                if (status == PGRES_PIPELINE_SYNC)
                    break;
                if (status != PGRES_COMMAND_OK)
                    die(PQerrorMessage(conn));
            }
        }
    }
    PQfinish(conn);
}

static void
redis(const char *path, const row_t *rows, size_t n)
{
    redisContext *line = redisConnectUnix(path);
    redisReply *reply;

    if (line == NULL || line->err != 0)
        die("redis: no connection");
    for (size_t at = 0; at < n; at += BATCH) {
        size_t sent = 0;
        for (size_t i = at; i < n && i < at + BATCH; i++, sent += 4) {
            const char *const *c = rows[i].column;
            redisAppendCommand(line, "HSET ret:%s %s %s", c[1], c[3], c[5]);
            redisAppendCommand(line, "EXPIRE ret:%s 86400", c[1]);
            redisAppendCommand(line, "SET %s:%s %s", c[3], c[0], c[1]);
            redisAppendCommand(line, "SADD minions %s", c[3]);
        }
        for (; sent > 0; sent--) {
            if (redisGetReply(line, (void **) &reply) != REDIS_OK || reply->type == REDIS_REPLY_ERROR)
                die("redis: an error");
            freeReplyObject(reply);
        }
    }
    redisFree(line);
}

int
main(int argc, char **argv)
{
    if (argc != 4)
        die("usage: bareloop pg|redis WHERE FILE");
    row_t *rows = calloc(ROWS_MAX, sizeof(*rows));
    size_t n = read_rows(argv[3], rows);
    double begun = now_s();
    if (strcmp(argv[1], "pg") == 0)
        postgres(argv[2], rows, n);
    else
        redis(argv[2], rows, n);
    (void) printf("%.3f\n", now_s() - begun);
    return 0;
}
#else
int
main(void)
{
    return 77; /* without the headers there is nothing to measure */
}
#endif
