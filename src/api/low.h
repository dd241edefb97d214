/* low.h - carries out a list of chunks ("lowstate"), one after the other: who asks is told to the master, each
 * chunk becomes a request of its client, and the answers become the list `return`.
 *
 * Layer      api
 * Threads    one
 * Errors     the first chunk that fails answers the whole HTTP request
 * Tests      tests/t/6300-api.bats, tests/t/6320-api-transcripts.bats
 */
#ifndef API_LOW_H
#define API_LOW_H

#include "api/line.h"
#include "api/request.h"
#include "common/local/follow.h"

typedef struct low low_t;

/* What a client does with its chunk. */
typedef struct client {
    const char *name;
    bool (*begin)(low_t *low);                    /* asks the master; false: low_fail was called */
    void (*reply)(low_t *low, const json_t *msg); /* the master's "ok" reply */
    void (*push)(low_t *low, const json_t *push); /* NULL: it follows nothing */
    bool (*refused)(low_t *low,
                    const char *text); /* the master's text; true: it is the result. May be NULL */
    const char *denied;                /* the text for whom his rules do not let; NULL: one that names him */
} client_t;

/* The list is whole. `returns` is BORROWED. */
typedef void low_done_fn(request_t *request, json_t *returns);

struct low {
    request_t *request;
    json_t *chunks;  /* owned list */
    size_t at;       /* the chunk that is under way */
    json_t *chunk;   /* BORROWED */
    json_t *returns; /* owned list */
    low_done_fn *done;
    bool own; /* each chunk has its credentials (POST /run) */
    line_t *line;
    json_int_t become_n, work_n; /* replies that are awaited; 0: none */
    const client_t *client;
    follow_t *job;                /* that is followed; NULL: none */
    json_t *targets, *ret;        /* owned: ids of the job, and its returns */
    char *jid;                    /* owned; NULL: none yet */
    int64_t timeout_ms, until_ms; /* of the job; of a runner (0: none) */
    low_t *next, *prev;           /* all that are under way */
};

/* Begins; the request is answered later, by `done` or with an error. TAKES *chunks_p. */
void low_start(request_t *request, json_t **chunks_p, bool own, low_done_fn *done);
/* For low_start: answers {"return": [...]}. */
low_done_fn low_answer;
/* Ends jobs whose minions are silent, and what takes longer than rest_timeout. *ret_wait is lowered to the
 * milliseconds until it has to be called again. */
void low_tick(int64_t now_ms, int *ret_wait);

/* ---- for clients ------------------------------------------------------------------------------- */

extern const client_t *const low_clients[]; /* NULL-terminated */
extern const client_t client_local, client_subset, client_batch, client_async;
/* Asks the master for the chunk under way. TAKES *request_p. */
void low_ask(low_t *self, json_t **request_p);
/* The chunk's result: the next one begins. TAKES *value_p. */
void low_return(low_t *self, json_t **value_p);
/* The same without a result of its own: those of local_batch are there already. */
void low_next(low_t *self);
/* A number of a chunk from 0 to a billion, also as the text that a form has. -1: none. */
double low_number(const json_t *value);
/* Answers the request with an error. */
void low_fail(low_t *self, unsigned status, const char *text);

#endif
