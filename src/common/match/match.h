/* match.h - targets: parse once to a tree, evaluate per minion. Pure.
 *
 * Layer      common/match; the only user of PCRE2
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

const char *tgt_type_name(tgt_type_t t);
bool tgt_type_parse(const char *name, tgt_type_t *ret_t);

/* What is known of one minion. All BORROWED; `grains` and `pillar` may be NULL (then nothing of that kind
 * matches). */
typedef struct match_subject {
    const char *id;
    json_t *grains;
    json_t *pillar;
    match_work_t *work; /* of the question; NULL: nobody counts it */
} match_subject_t;

typedef struct target target_t;

/* `expr` is text, or an array of ids (TGT_LIST) or of words (TGT_COMPOUND). `nodegroups` (object, may be
 * NULL) is the configuration's; BORROWED for the call. `delim` is the separator of grain and pillar paths,
 * NULL for ":". NEW, or NULL with *err. */
target_t *target_new(const json_t *expr, tgt_type_t type, const json_t *nodegroups, const char *delim,
                     fail_t *err);
/* The same of somebody who is not trusted to ask for little: `work` (BORROWED for the call) pays for
 * making it, and no term but a list of ids is longer than LIMIT_TERM_LEN. */
target_t *target_new_within(const json_t *expr, tgt_type_t type, const json_t *nodegroups, const char *delim,
                            match_work_t *work, fail_t *err);
void target_destroy(target_t **self_p);
/* False, whatever the target says, when the subject's work is used up. */
bool target_match(const target_t *self, const match_subject_t *subject);
/* Whether evaluation reads grains or pillar. */
bool target_needs_grains(const target_t *self);
bool target_needs_pillar(const target_t *self);
/* Whether it goes by a grain other than `id` (an address is one too): every minion can say that it has it. */
bool target_needs_claims(const target_t *self);
/* Terms that look at the pillar compare whole values only from now on: who may not see a pillar must not find
 * out by patterns what is in it. */
void target_pillar_exact(target_t *self);
/* What a node group is, the groups in it expanded: NEW expression for TGT_COMPOUND, or NULL with *err. */
json_t *nodegroup_target(const char *name, const json_t *nodegroups, fail_t *err);
/* For TGT_LIST and an exact id: NEW array of the ids named, so that unknown ones can be told. NULL otherwise.
 */
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
/* Whether that is a glob or a regular expression; *err says why not. */
bool match_expr_check(const char *expr, fail_t *err);
/* Whether match_pcre takes it, or match_glob where it may be either (`glob`). *ret_all: as a regular
 * expression it matches the empty text, and so the beginning of every text. */
bool match_pcre_check(const char *pattern, bool glob, bool *ret_all, fail_t *err);
/* salt.utils.data.subdict_match: "os:Deb*", "a:b:c", lists, numbers. */
bool match_subdict(const json_t *data, const char *expr, const char *delim, bool regex, bool exact);
/* "10.0.0.0/8", "::1", "192.0.2.7" against the grains ipv4 and ipv6. */
bool match_ipcidr(const char *cidr, const json_t *grains);

#endif
