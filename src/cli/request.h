/* request.h - the words of salt's command line as the master's publish operation takes them. Pure.
 *
 * Layer      cli
 * Threads    any
 * Errors     an exit code with its text in *err: 64 for one that belongs behind the usage line, 42 for stderr
 *            as it is
 * Tests      tests/unit/cli/test_request.c
 */
#ifndef CLI_REQUEST_H
#define CLI_REQUEST_H

#include "salt/base.h"

enum {
    EXIT_INCOMPLETE = 42 /* Salt's code for a command line without target, function or arguments */
};

/* *ret NEW: {tgt, tgt_type, fun, arg, ...} for jobline_publish, from the options and the positional words. 0,
 * or the exit code with *err set. */
int request_build(const json_t *values, char *const *words, size_t n, json_t **ret, fail_t *err);

/* The target alone: {tgt, tgt_type, delimiter?}. NEW. */
json_t *request_target(const json_t *values, const char *target);
/* NEW: a copy of `request` for these ids. */
json_t *request_for(const json_t *request, json_t *ids);

/* The words of several functions' arguments, taken apart at the separator: *ret NEW array of arrays of text,
 * one per function. 0, or the exit code with *err set. */
int request_split(char *const *words, size_t n, const char *separator, size_t n_funs, json_t **ret,
                  fail_t *err);

#endif
