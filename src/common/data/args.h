/* args.h - what a user types after the function: typed as YAML as salt.utils.args does.
 *
 * Layer      common/data
 * Tests      tests/unit/common/test_args.c (expectations recorded from Salt 3006)
 */
#ifndef COMMON_DATA_ARGS_H
#define COMMON_DATA_ARGS_H

#include "salt/base.h"

/* Reads a word: "5" is 5, "[1, 2]" a list, "true" a bool, "010" 10, "a: b" stays text, '' stays text. NEW. */
json_t *arg_type_word(const char *word);
/* The same of a word from somebody who is not trusted: NULL with -E2BIG when its value has more than
 * `max_nodes`. */
json_t *arg_type_word_within(const char *word, size_t max_nodes, fail_t *err);
/* Length of the name in "name=value" on one line, or 0 when this is not a keyword argument. "a==b" is none. */
size_t args_keyword_len(const char *word);
/* Words to Salt's list of arguments: positional values, then, when there are any, one object
 * {"__kwarg__": true, key: value, ...} that holds every key=value. Names in `no_parse` (array of text, may be
 * NULL) keep their value as text. NEW. */
json_t *args_parse(char *const *words, size_t n, const json_t *no_parse);
/* Split Salt's list again: *ret_args NEW list, *ret_kwargs NEW object without "__kwarg__". */
void args_split(const json_t *arg, json_t **ret_args, json_t **ret_kwargs);

/* The list as Salt shows it in events and returns: without the mark. NEW. */
json_t *args_shown(const json_t *arg);

#endif
