/* tokens.h - tokens of logins: who may speak for whom, and until when. A token's text is 64 hexadecimal
 * digits that only its user has; here and in the store it is known by its SHA-256.
 *
 * A token is {"user", "eauth", "groups": [text], "start", "expire": seconds since 1970, "uid", "hash",
 * "rules"?, "granted"?, "granted_by"?}, the identity of acl.h.
 *
 * Layer      master
 * Threads    the front loop's
 * Tests      tests/t/1310-eauth.bats
 */
#ifndef MASTER_OPERATORS_TOKENS_H
#define MASTER_OPERATORS_TOKENS_H

#include "master/front/front.h"

#define TOKEN_TEXT 64 /* digits */

typedef struct tokens tokens_t;

/* With those that the store keeps. NEW, or NULL with *err. */
tokens_t *tokens_new(front_t *front, fail_t *err);
void tokens_destroy(tokens_t **self_p);
/* Keep one: `row` (TAKES) is a token without "hash". BORROWED; its text in `out`. NULL with *err: too many. */
const json_t *tokens_add(tokens_t *self, json_t *row, char out[TOKEN_TEXT + 1], fail_t *err);
/* The token with this text, or with this hash; BORROWED, NULL: there is none that holds. */
const json_t *tokens_by_text(tokens_t *self, const char *text);
const json_t *tokens_by_hash(tokens_t *self, const char *hash);
/* NEW list of those that hold, without their rules; of one user by one system (NULL: all). */
json_t *tokens_list(tokens_t *self, const char *user, const char *eauth);
/* It holds no more; connections that speak by it end. */
void tokens_drop(tokens_t *self, const char *hash);
void tokens_expire(tokens_t *self); /* drop those whose time is over */

#endif
