/* access.h - the log of requests: one line of JSON each, with who asked for what from where and what came of
 * it. Bodies, queries and tokens of requests are never written: they hold passwords and pillar data.
 *
 * Layer      api
 * Threads    one
 * Tests      tests/t/6310-api-strict.bats
 */
#ifndef API_ACCESS_H
#define API_ACCESS_H

#include "api/request.h"

typedef struct access access_t;

/* `path` "": lines go to the program's log at level info. NEW, or NULL with *err. */
access_t *access_new(const char *path, fail_t *err);
void access_destroy(access_t **self_p);
/* The file may have been renamed. */
void access_reopen(access_t *self);
void access_write(access_t *self, const request_t *request, int64_t took_ms);

#endif
