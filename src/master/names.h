/* names.h - what completion at a prompt is told: minions, functions, jobs and keys whose names begin as
 * something typed.
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

/* Sorted. Of too many the first ones and the last: what those have in common, all have. TAKES. Pure. */
json_t *names_bounded(json_t *all);
/* The requests `names`, but for files (files.h), and `key_names` of requests.def. */
json_t *names_of(front_t *self, const json_t *request, fail_t *err);
json_t *names_of_keys(front_t *self, const json_t *request, fail_t *err);

#endif
