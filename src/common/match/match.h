/* match.h - targets: parse once to a tree, evaluate per minion. Pure.
 *
 * Layer      common/match; of its files regex.c alone uses PCRE2
 * Threads    a parsed target may be evaluated by one thread at a time
 * Errors     -EINVAL with the position and what was expected; limits LIMIT_TARGET_LEN, _DEPTH,
 *            LIMIT_REGEX_STEPS; -EDQUOT when a question's work is used up
 * Tests      tests/unit/common/test_match.c, tests/cases/match; fuzz target tests/fuzz/fuzz_match.c
 */
#ifndef COMMON_MATCH_MATCH_H
#define COMMON_MATCH_MATCH_H

#include "common/match/work.h"
#include "salt/base.h"

/* Salt's tgt_type words: "glob", "pcre", "list", "grain", "grain_pcre", "pillar", "pillar_pcre",
 * "pillar_exact", "ipcidr", "nodegroup", "range" (refused), "compound". */
typedef enum tgt_type {
    TGT_GLOB,
    TGT_PCRE,
    TGT_LIST,
    TGT_GRAIN,
    TGT_GRAIN_PCRE,
    TGT_PILLAR,
    TGT_PILLAR_PCRE,
    TGT_PILLAR_EXACT,
    TGT_IPCIDR,
    TGT_NODEGROUP,
    TGT_COMPOUND,
    TGT_TYPES
} tgt_type_t;

/* BORROWED word; and false for a word that is none. */
const char *tgt_type_name(tgt_type_t t);
bool tgt_type_parse(const char *name, tgt_type_t *ret_t);

/* Facts about one minion, all BORROWED. `grains` and `pillar` may be NULL: terms on them then match nothing.
 */
typedef struct match_subject {
    const char *id;
    json_t *grains;
    json_t *pillar;
    match_work_t *work; /* the budget of the question; NULL: unlimited */
} match_subject_t;

typedef struct target target_t;

/* Parses a target. `expr` is text, an array of ids (TGT_LIST) or an array of words (TGT_COMPOUND).
 * `nodegroups` (object, may be NULL) is the configuration's, BORROWED for the call. `delim` is the separator
 * of grain and pillar paths, NULL for ":". NEW, or NULL with *err. */
target_t *target_new(const json_t *expr, tgt_type_t type, const json_t *nodegroups, const char *delim,
                     fail_t *err);
/* The same for a caller that is not trusted: `work` (BORROWED for the call) pays for compiling, and no term
 * but a list of ids may be longer than LIMIT_TERM_LEN. */
target_t *target_new_within(const json_t *expr, tgt_type_t type, const json_t *nodegroups, const char *delim,
                            match_work_t *work, fail_t *err);
void target_destroy(target_t **self_p);
/* False, whatever the target says, when the subject's work is used up. */
bool target_match(const target_t *self, const match_subject_t *subject);
/* True when evaluation reads grains or pillar, which the caller then has to load. */
bool target_needs_grains(const target_t *self);
bool target_needs_pillar(const target_t *self);
/* True when the target depends on a grain other than `id` (addresses included). Any minion can claim any
 * grain, so callers must not treat a match as proof of identity. */
bool target_needs_claims(const target_t *self);
/* From now on terms on the pillar compare whole values only, so that a caller who may not read a pillar
 * cannot discover its content with patterns. */
void target_pillar_exact(target_t *self);
/* How many terms compare with a pillar, those of node groups included: each is a guess. */
size_t target_pillar_terms(const target_t *self);
/* The group's expression with nested groups expanded: NEW expression for TGT_COMPOUND, or NULL with *err. */
json_t *nodegroup_target(const char *name, const json_t *nodegroups, fail_t *err);
/* The ids that a TGT_LIST or an exact id names, so that unknown ones can be reported: NEW array, or NULL for
 * other targets. */
json_t *target_ids(const target_t *self);

/* Python's fnmatch.fnmatchcase. */
bool match_glob(const char *pattern, const char *text);
/* Several such patterns (an array of texts), compiled once. NEW. */
typedef struct globs globs_t;
globs_t *globs_new(const json_t *patterns);
void globs_destroy(globs_t **self_p);
size_t globs_count(const globs_t *self);
bool globs_all(const globs_t *self); /* every text matches */
bool globs_match(const globs_t *self, const char *text, size_t len);
bool match_has_glob(const char *pattern); /* contains *, ? or [ */
/* Python's re.match (anchored at the start). False with *err for a bad pattern. */
bool match_pcre(const char *pattern, const char *text, fail_t *err);
/* salt.utils.stringutils.expr_match: a glob, or a regular expression for the whole text. */
bool match_expr(const char *expr, const char *text);
/* The same for rules that name somebody: an expression without a sign of a pattern other than "." is that name
 * alone, as "." is a letter of names. */
bool match_name(const char *expr, const char *text);
/* True when `expr` is a valid glob or regular expression; else *err says why not. */
bool match_expr_check(const char *expr, fail_t *err);
/* True when match_pcre accepts the pattern, or with `glob` also match_glob. *ret_all: as a regular expression
 * it matches the empty text, and so the start of every text. */
bool match_pcre_check(const char *pattern, bool glob, bool *ret_all, fail_t *err);
/* salt.utils.data.subdict_match: "os:Deb*", "a:b:c", lists, numbers. */
bool match_subdict(const json_t *data, const char *expr, const char *delim, bool regex, bool exact);
/* "10.0.0.0/8", "::1", "192.0.2.7" against the grains ipv4 and ipv6. */
bool match_ipcidr(const char *cidr, const json_t *grains);

#endif
