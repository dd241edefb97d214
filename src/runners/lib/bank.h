/* bank.h - named values in banks, as files: cachedir/banks/BANK/KEY.json. A bank may have banks inside:
 * "a/b".
 *
 * Layer      runners
 * Threads    any
 * Errors     -EINVAL for a name that could lead elsewhere; a missing bank or key is not an error, a missing
 *            cachedir is one
 * Tests      tests/unit/runners/test_bank.c, tests/t/7010-runners-master.bats
 */
#ifndef RUNNERS_LIB_BANK_H
#define RUNNERS_LIB_BANK_H

#include "salt/base.h"

int bank_store(const char *cachedir, const char *bank, const char *key, const json_t *data, fail_t *err);
/* NEW; an empty object when there is none; NULL with *err. */
json_t *bank_fetch(const char *cachedir, const char *bank, const char *key, fail_t *err);
/* NEW sorted array of keys and of banks inside; an empty one when there is no such bank; NULL with *err. */
json_t *bank_list(const char *cachedir, const char *bank, fail_t *err);
/* `key` NULL: the whole bank. 1; 0 when it is not there. */
int bank_flush(const char *cachedir, const char *bank, const char *key, fail_t *err);

#endif
