/* store_write.h - the writer's side of the store: turn queued rows into rows of tables. Used by store.c's
 * thread only.
 *
 * Layer      master; included by store*.c only
 * Threads    the writer's only
 * Errors     negative errno with *err set; the transaction is rolled back, nothing of the batch is stored
 * Tests      tests/unit/master/test_store.c, tests/unit/master/test_store_write.c
 */
#ifndef MASTER_STORE_STORE_WRITE_H
#define MASTER_STORE_STORE_WRITE_H

#include "master/store/store.h"

typedef enum row_kind {
    ROW_JOB,
    ROW_RETURN,
    ROW_EVENTS,
    ROW_GRAINS,
    ROW_PILLAR,
    ROW_MINE,
    ROW_FORGET,
    ROW_FORGET_PILLAR,
    ROW_FORGET_MINE,
    ROW_META,
    ROW_FORGET_META,
    ROW_NOTE,
    ROW_RUN,
    ROW_RUN_END,
    ROW_STEP,
    ROW_KINDS
} row_kind_t;

enum { ROW_TEXTS = 5, ROW_NUMS = 4 };

#define EVENT_BLOCK (128 * 1024) /* target size of one row of the journal */

/* A queued row. Texts and numbers are the parameters of its kind's statement, in order. A row of events has
 * one text, the frames, which may grow while it waits, and four numbers: first and last event number, first
 * and last time. */
typedef struct row {
    struct row *next;
    struct row
        *with; /* owned: another row that is written if this one was not there, in the same transaction */
    uint64_t ticket;
    bool goes_on; /* commit it in one transaction with the next row */
    row_kind_t kind;
    size_t size;
    size_t items;          /* rows that it stands for */
    size_t len, cap;       /* ROW_EVENTS: length and capacity of text[0] */
    char *text[ROW_TEXTS]; /* owned, except the first `inside`, which lie in `own` */
    int inside;
    int64_t num[ROW_NUMS];
    char own[];
} row_t;

/* Free a chain and the rows with it. */
void rows_free(row_t *row);

typedef struct store_writer store_writer_t;

/* Open the database for writing, after a waiting backup took its place. NEW, or NULL with *err. */
store_writer_t *store_writer_new(const char *path, fail_t *err);
void store_writer_destroy(store_writer_t **self_p);
/* Write all rows of the chain in one transaction; durable when it returns 0. Rows stay the caller's.
 * *ret_duplicates: jobs and returns that were stored already. */
int store_writer_commit(store_writer_t *self, const row_t *rows, uint64_t *ret_duplicates, fail_t *err);
/* Move the damaged database aside and begin a new one; the notice says so. */
int store_writer_restart(store_writer_t *self, const char *why, fail_t *err);
/* A message for the operator, once. NEW or NULL. */
char *store_writer_notice(store_writer_t *self);

/* Run one step of expiry for about `for_us`; durable with the next commit. Rows deleted, or a negative errno.
 * *ret_more: there is more to do. */
int store_writer_expire(store_writer_t *self, const store_keep_t *keep, int64_t for_us, bool *ret_more,
                        fail_t *err);

#endif
