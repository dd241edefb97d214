/* run.h - one run of the salt-run command: a runner on the master, followed until it returns.
 *
 * Layer      cli
 * Threads    one
 * Tests      tests/unit/cli/test_cli.c, tests/t/7000-runners.bats
 */
#ifndef CLI_RUN_H
#define CLI_RUN_H

#include "salt/base.h"

/* The whole program. Returns the exit code. */
int run_main(int argc, char **argv);

/* The exit code of a runner's push {return, retcode, success, failed}: a "retcode" in the return goes first.
 */
int run_exit_code(const json_t *push);
/* {"data": ..., "outputter": ...} is taken apart, other returns are shown as they are. `*ret_out` is the
 * outputter that the return names, or NULL. Both BORROWED. */
const json_t *run_unwrap(const json_t *value, const char **ret_out);
/* The functions of `docs` ({fun: text}) that `arg` asks for: all when empty, a function, or a module's. NEW.
 */
json_t *run_docs_of(const json_t *docs, const char *arg);

#endif
