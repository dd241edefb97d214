/* completion.h - completion of salt, salt-run, salt-key and salt-cp: which names belong where on their
 * command lines. Minions, functions, runners, jobs, keys, state files and environments are asked of the
 * master. While none runs, the last two are the configuration's and its folders'.
 *
 * Layer      cli
 * Threads    one
 * Errors     none: who can't be asked has no names
 * Tests      tests/t/0320-completion.bats */
#ifndef CLI_COMPLETION_H
#define CLI_COMPLETION_H

#include "common/cli/complete.h"
#include "common/conf/conf.h"

typedef struct completion {
    complete_t c;
    conf_t *conf;
    const char *sls_env; /* BORROWED: saltenv= among the words before, or NULL */
} completion_t;

/* Offers the names that the master answers to a request. TAKES it, without "op" and "prefix". False: no
 * master runs. */
bool completion_ask(completion_t *self, const char *op, json_t *request);

/* Offers values of an option that no table has. A program that has such a function takes options alone. */
typedef void completion_value_fn(completion_t *self, const char *option);
extern completion_value_fn key_completion; /* salt-key's */

/* `value` may be NULL. Returns the exit code, 0. */
int completion_run(const opt_spec_t *spec, completion_value_fn *value, int argc, char **argv);

#endif
