/* ret.h - a minion's return as spans of its fields' JSON text, from which events and pushes are composed, so
 * that a return of any size is scanned once and not turned into values.
 *
 * A return whose JSON is not plain (common/base/plainjson.h) goes through values and means the same.
 *
 * Layer      master; pure
 * Threads    any
 * Ownership  spans point into the text, or into what `more` owns
 * Tests      tests/unit/master/test_ret.c, fuzz target tests/fuzz/fuzz_ret.c
 */
#ifndef MASTER_JOBS_RET_H
#define MASTER_JOBS_RET_H

#include "common/base/buf.h"
#include "common/base/plainjson.h"
#include "salt/limits.h"

/* Order of the fields in events. */
typedef enum ret_field {
    RET_SUCCESS,
    RET_RETURN,
    RET_RETCODE,
    RET_JID,
    RET_FUN,
    RET_FUN_ARGS,
    RET_TGT,
    RET_TGT_TYPE,
    RET_ARG,
    RET_METADATA,
    RET_SCHEDULE,
    RET_OUT,
    RET_ABSENT,
    RET_FIELDS
} ret_field_t;

typedef struct ret {
    char jid[LIMIT_JID_LEN];
    jtext_t field[RET_FIELDS]; /* JSON text; `at` NULL: absent */
    int retcode;               /* of several functions the worst */
    bool success;              /* of several functions: all succeeded */
    const char *text;          /* the message, BORROWED */
    size_t len;
    json_t *body; /* owned: the message as values, made on demand */
    buf_t more;   /* the fields' texts when `text` is not plain */
} ret_t;

/* Read the message `text`, BORROWED until ret_end. -EPROTO with *err when it is not JSON, or lacks a jid or a
 * function; -ENOMEM. Call ret_end in any case. */
int ret_begin(ret_t *self, const char *text, size_t len, fail_t *err);
void ret_end(ret_t *self);
/* The message as values. BORROWED; NULL without memory. Free of cost after a retcode other than 0, which
 * needs them anyway. */
const json_t *ret_body(ret_t *self);

/* Add the data of the event salt/job/JID/ret/ID to `out`. `user` NULL: unknown. `is_call`: the return of a
 * salt-call, whose event has no `success`, as in Salt. */
void ret_add_event(const ret_t *self, const char *id, const char *user, bool is_call, buf_t *out);
/* Add the push {push: "ret", jid, id, return, ...} for followers to `out`. */
void ret_add_push(const ret_t *self, const char *id, buf_t *out);

#endif
