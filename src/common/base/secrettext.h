/* secrettext.h - texts that nobody can guess, by getrandom(2).
 *
 * Layer      common/base
 * Threads    any
 * Errors     none: the process ends where the kernel gives no random bytes
 * Tests      tests/cases/exec/random.get_str.json, tests/t/7335-sdb.bats
 */
#ifndef COMMON_BASE_SECRETTEXT_H
#define COMMON_BASE_SECRETTEXT_H

#include "salt/base.h"

/* NEW text of `length` characters (code points) of `chars`, which is not empty; each is as likely as the others. */
char *secret_text(const char *chars, size_t length);

#endif
