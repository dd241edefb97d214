/* compound.h - and, or, not and parentheses over terms: parsed once, evaluated without allocating.
 *
 * Layer      common/match, private to it
 * Threads    one at a time per tree
 * Errors     -EINVAL with the character (or the word of a list) and what was expected
 * Tests      tests/unit/common/test_match.c, tests/cases/match/compound.json
 */
#ifndef COMMON_MATCH_COMPOUND_H
#define COMMON_MATCH_COMPOUND_H

#include "common/match/term.h"

typedef enum node_kind { NODE_TERM, NODE_NOT, NODE_AND, NODE_OR } node_kind_t;

typedef struct node node_t;
struct node {
    node_kind_t kind;
    term_t *term;  /* NODE_TERM */
    node_t *child; /* the first one */
    node_t *next;  /* the parent's next child */
};

/* NEW leaf. TAKES *term_p. */
node_t *node_of_term(term_t **term_p);
/* NEW, or NULL with *err. `words` have their node groups expanded; `work` as of target_new_within. */
node_t *compound_parse(const words_t *words, match_work_t *work, fail_t *err);
void node_destroy(node_t **self_p);
/* Evaluates the tree for one minion. No allocation; recursion is bounded by LIMIT_TARGET_DEPTH. */
bool node_match(const node_t *self, const match_subject_t *subject);
/* Makes terms that look at the pillar compare whole values only; see target_pillar_exact. */
void node_pillar_exact(node_t *self);
/* How many terms look at the pillar. */
size_t node_pillar_terms(const node_t *self);
/* NEEDS_* of all terms. */
unsigned node_needs(const node_t *self);

#endif
