/* names.h - what completion at a prompt is told: minions, functions, jobs and keys whose names begin as something typed.
 *
 * Layer      master
 * Threads    the front loop's
 * Ownership  answers are NEW arrays of texts, sorted, at most LIMIT_NAMES
 * Errors     NULL with *err
 * Tests      tests/unit/master/test_front.c
 */
#ifndef MASTER_NAMES_H
#define MASTER_NAMES_H

#include "master/front.h"

/* The requests `names` and `key_names` of requests.def. */
json_t *names_of(front_t *self, const json_t *request, fail_t *err);
json_t *names_of_keys(front_t *self, const json_t *request, fail_t *err);

#endif
