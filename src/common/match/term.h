/* term.h - one leaf of a target: an id pattern, a list, a path into grains or pillar, a network.
 *
 * Layer      common/match, private to it
 * Threads    one at a time per term
 * Errors     -EINVAL with what is wrong; the caller adds where
 * Tests      tests/unit/common/test_match.c
 */
#ifndef COMMON_MATCH_TERM_H
#define COMMON_MATCH_TERM_H

#include "common/base/map.h"
#include "common/match/match.h"
#include "common/match/patterns.h"
#include "common/match/regex.h"

enum { NEEDS_GRAINS = 1 << 0, NEEDS_PILLAR = 1 << 1, NEEDS_CLAIMS = 1 << 2 };

typedef struct term term_t;
typedef struct term_kind {
    tgt_type_t type;
    const char *name;
    char letter;    /* as in G@; 0 when a compound target has none */
    bool has_delim; /* G;@a;b is legal */
    unsigned needs;
    int (*init)(term_t *self, const char *text, const char *delim, fail_t *err);
    bool (*match)(const term_t *self, const match_subject_t *subject);
} term_kind_t;

struct term {
    const term_kind_t *kind;
    bool counted; /* its regular expressions are RX_COUNTED */
    wild_t *wild;
    rx_t *rx;
    subdict_t *subdict;
    map_t *ids; /* of a list: key and value are both the id */
    cidr_t cidr;
};

/* Row of a type. Those of nodegroup and compound have no functions: they are made of terms. */
const term_kind_t *term_kind_of(tgt_type_t type);
/* Splits "G;@os;Deb*": the kind, the delimiter (*delim is "" or one character) and the rest. A word without a
 * letter is a glob. NULL for N@ and R@. */
const term_kind_t *term_parse(const char *word, char delim[8], const char **ret_text);

/* NEW, or NULL with *err; `work` (may be NULL) as of target_new_within. */
term_t *term_new(const term_kind_t *kind, const char *text, const char *delim, match_work_t *work,
                 fail_t *err);
term_t *term_new_list(const json_t *ids);
void term_destroy(term_t **self_p);
/* NEEDS_* of a term. NEEDS_CLAIMS: it reads a grain other than `id`. */
unsigned term_needs(const term_t *self);

#endif
