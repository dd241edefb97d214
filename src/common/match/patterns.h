/* patterns.h - the compiled parts that a target is made of: wildcard, data path, network, node group.
 *
 * Layer      common/match, private to it
 * Threads    one at a time per object (a regular expression remembers its last match)
 * Ownership  *_new is NEW; the text given is copied
 * Errors     NULL and -EINVAL in *err with what is wrong and where
 * Tests      tests/unit/common/test_match.c
 */
#ifndef COMMON_MATCH_PATTERNS_H
#define COMMON_MATCH_PATTERNS_H

#include <netinet/in.h>

#include "common/match/work.h"
#include "salt/base.h"

/* Lower case of a code point, independent of the process's locale. */
uint32_t match_fold(uint32_t cp);
/* Python's a.lower() == b.lower(). */
bool match_same_folded(const char *a, const char *b);

/* Python's fnmatch pattern. `fold`: ignore the case of letters. Every text is a valid pattern. */
typedef struct wild wild_t;
wild_t *wild_new(const char *pattern, bool fold);
void wild_destroy(wild_t **self_p);
bool wild_match(const wild_t *self, const char *text, size_t len);
/* Counted variant, as rx_match_within: long patterns on long texts cost the product of their lengths. */
bool wild_match_within(const wild_t *self, const char *text, size_t len, match_work_t *work);

/* "a:b:pattern" against nested data. */
typedef enum subdict_how { SUBDICT_GLOB, SUBDICT_REGEX, SUBDICT_EXACT } subdict_how_t;
typedef struct subdict subdict_t;
/* `counted`: as RX_COUNTED. */
subdict_t *subdict_new(const char *expr, const char *delim, subdict_how_t how, bool counted, fail_t *err);
/* From now on the value is compared as plain text, ignoring case, whatever the pattern was. */
void subdict_exact(subdict_t *self);
void subdict_destroy(subdict_t **self_p);
bool subdict_match(const subdict_t *self, const json_t *data, match_work_t *work);
/* True when the first cut leaves exactly `key`: the expression looks at this top-level key. */
bool subdict_is_of(const subdict_t *self, const char *key);
/* Bytes of its compiled regular expressions. */
size_t subdict_size(const subdict_t *self);

/* An address or a network. */
typedef struct cidr {
    int family;    /* AF_INET or AF_INET6 */
    unsigned bits; /* of the prefix; all of them for an address */
    uint8_t addr[16];
} cidr_t;
/* 0, or -EINVAL with *err in words for the user. */
int cidr_parse(cidr_t *self, const char *text, fail_t *err);
/* Against the grains "ipv4" and "ipv6". */
bool cidr_match(const cidr_t *self, const json_t *grains, match_work_t *work);

/* ---- node groups ----------------------------------------------------------------------------- */

/* A word of a compound target and its origin, for messages. */
typedef struct word {
    char *text;
    size_t position; /* 1-based character in the expression; 0 for a word that came out of a node group or a
                        list */
} word_t;

typedef struct words {
    word_t *items;
    size_t n, cap;
} words_t;

void words_add(words_t *self, const char *text, size_t len, size_t position);
/* Split at white space. */
void words_split(words_t *self, const char *expr);
void words_free(words_t *self);

/* Appends `in` to `out` with every N@group replaced by its words in parentheses, at any depth. 0 or a
 * negative errno. */
int nodegroup_expand(const words_t *in, const json_t *nodegroups, words_t *out, fail_t *err);

#endif
