/* prog.h - programs as modules run them: an argument vector, the C locale, output without its trailing white
 * space.
 *
 * There is no shell anywhere: what a user passes is one argument, whatever it contains. So that it is no
 * option either, a word from a value is an operand, unless its place says so already: behind "--" or an option.
 *
 * Layer      common/host, over proc.h
 * Threads    one at a time per prog_t
 * Ownership  words are copied; results are NEW
 * Errors     negative errno when the program could not be started; its exit code is data
 * Tests      tests/unit/common/test_prog.c
 */
#ifndef COMMON_HOST_PROG_H
#define COMMON_HOST_PROG_H

#include "common/host/proc.h"
#include "salt/base.h"

typedef struct prog {
    char **argv; /* owned, ends with NULL */
    size_t n;
    char **env; /* owned additions, "NAME=value" */
    size_t n_env;
    const char *cwd, *run_as, *in; /* BORROWED; NULL: as we are ("/" with run_as), as we are, /dev/null */
    int timeout_ms;                /* 0: none */
    bool merge_stderr;
} prog_t;

#define PROG_INIT   ROW(NULL, 0, NULL, 0, NULL, NULL, NULL, 0, false)
#define prog_auto_t __attribute__((cleanup(prog_free))) prog_t

void prog_free(prog_t *self);
void prog_add(prog_t *self, const char *word);
void prog_addf(prog_t *self, const char *fmt, ...) PRINTF(2, 3);
/* Several words, up to NULL. */
void prog_adds(prog_t *self, ...) __attribute__((sentinel));
/* Every element of a list, as Python's str(). A text alone is one word. */
void prog_add_json(prog_t *self, const json_t *words);
/* An option and its value, which is one word whatever it is, a list too. */
void prog_add_option(prog_t *self, const char *option, const json_t *value);

/* Words from values of `argument`, for the error alone. One that begins with "-" is refused with -EINVAL and
 * FAIL_INVOCATION; "-" itself, which no program takes for an option, passes. */
int prog_operand(prog_t *self, const char *argument, const char *word, fail_t *err);
/* Every element of a list, or a text alone. */
int prog_operands(prog_t *self, const char *argument, const json_t *words, fail_t *err);
/* The same rule for words that go into a command line later. */
int prog_check_operand(const char *argument, const char *word, fail_t *err);
int prog_check_operands(const char *argument, const json_t *words, fail_t *err);
/* "NAME=value". Wins over what is inherited. */
void prog_env(prog_t *self, const char *assignment);

/* The exit code and every byte of the output in *res, which the caller frees in any case. */
int prog_run(const prog_t *self, proc_result_t *res, fail_t *err);
/* cmd.run_all: {"pid", "retcode", "stdout", "stderr"}; stderr says so when the program took too long. NEW, or
 * NULL with *err. */
json_t *prog_run_all(const prog_t *self, fail_t *err);
/* NEW stdout without trailing white space, or NULL with *err. `ret_code` may be NULL. */
char *prog_stdout(const prog_t *self, int *ret_code, fail_t *err);
/* The exit code; output is dropped. */
int prog_retcode(const prog_t *self, fail_t *err);

/* Words of a POSIX shell line, quotes and backslashes removed, nothing expanded: shlex.split.
 * NEW array that ends with NULL, or NULL with *err. */
char **prog_split(const char *line, fail_t *err);

#endif
