/* store_write.h - the writer's half of the store: queued rows become rows of tables.
 *
 * Layer      master; included by store*.c only
 * Threads    the writer's only
 * Errors     negative errno with *err set; then nothing of the batch is in the database
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

#define EVENT_BLOCK (128 * 1024) /* bytes of events in one row of the journal, about */

/* One row that waits. Texts and numbers are the parameters of its kind's statement, in order. Events are one
 * text of frames, which grows while it waits, and four numbers: the first and the last event's, and their
 * times. */
typedef struct row {
    struct row *next;
    struct row
        *with; /* owned: another row that is written if this one was not there, in the same transaction */
    uint64_t ticket;
    bool goes_on; /* the row behind it is committed together with it */
    row_kind_t kind;
    size_t size;
    size_t items;          /* rows that it stands for */
    size_t len, cap;       /* ROW_EVENTS: of text[0] */
    char *text[ROW_TEXTS]; /* owned, but for the first `inside`: they lie in `own` */
    int inside;
    int64_t num[ROW_NUMS];
    char own[];
} row_t;

/* Frees a chain. */
void rows_free(row_t *row);

typedef struct store_writer store_writer_t;

/* NEW, or NULL with *err. */
store_writer_t *store_writer_new(const char *path, fail_t *err);
void store_writer_destroy(store_writer_t **self_p);
/* All rows of the chain in one transaction, on the disk when this returns 0. */
int store_writer_commit(store_writer_t *self, const row_t *rows, uint64_t *ret_duplicates, fail_t *err);
/* The damaged database is moved aside and a new one begun. */
int store_writer_restart(store_writer_t *self, const char *why, fail_t *err);
/* What happened that must be told, once. NEW or NULL. */
char *store_writer_notice(store_writer_t *self);

/* A step of forgetting that takes about `for_us`, on the disk with the next commit: rows deleted, or a
 * negative errno.
 * *ret_more: there is more to do. */
int store_writer_expire(store_writer_t *self, const store_keep_t *keep, int64_t for_us, bool *ret_more,
                        fail_t *err);

#endif
