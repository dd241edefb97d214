/* ret.h - a minion's return, cut into the texts of its fields: what is told of it is put together from these,
 * so that a return of any size is read once and no value is made of it.
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

/* In the order in which events show them. */
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
    RET_FIELDS
} ret_field_t;

typedef struct ret {
    char jid[LIMIT_JID_LEN];
    jtext_t field[RET_FIELDS]; /* JSON text; `at` NULL: not there */
    int retcode;               /* of several functions the worst */
    bool success;              /* of several functions all */
    const char *text;          /* the whole, BORROWED */
    size_t len;
    json_t *body; /* the whole as values, once somebody has asked for it */
    buf_t more;   /* texts of fields, when `text` is not plain */
} ret_t;

/* `text`: a message ret, BORROWED while this lives. -EPROTO with *err when it is not JSON, or has no jid
 * or no function; -ENOMEM when its values are needed, and there is no memory for them. To be ended by
 * ret_end in any case. */
int ret_begin(ret_t *self, const char *text, size_t len, fail_t *err);
void ret_end(ret_t *self);
/* As values. BORROWED; NULL when there is no memory for them. With a `retcode` they are there already. */
const json_t *ret_body(ret_t *self);

/* Add the data of salt/job/JID/ret/ID. `user` NULL: not known. As in Salt, salt-call's does not say
 * whether it succeeded. */
void ret_add_event(const ret_t *self, const char *id, const char *user, bool is_call, buf_t *out);
/* Add {push: "ret", jid, id, return, ...}, what a follower is told. */
void ret_add_push(const ret_t *self, const char *id, buf_t *out);

#endif
