/* keywords.h - keywords that a function does not name: typing errors, and what has no effect.
 *
 * A row's `takes` (salt/plugin.h) says which keywords **kwargs is read for.
 *
 * Layer      common/plugin
 * Threads    any
 * Tests      tests/unit/common/test_plugin.c, tests/cases/exec/state.single.json
 */
#ifndef COMMON_PLUGIN_KEYWORDS_H
#define COMMON_PLUGIN_KEYWORDS_H

#include "common/base/buf.h"
#include "salt/plugin.h"

typedef enum keyword_fit {
    KEYWORD_NAMED, /* an argument, or one that **kwargs is read for */
    KEYWORD_TAKEN, /* **kwargs takes it, whatever it is */
    KEYWORD_TYPO,  /* nearly one of those, which is not given itself */
    KEYWORD_NONE   /* has no effect, or there is no **kwargs */
} keyword_fit_t;

/* The names that a keyword may be a typing error of. All BORROWED. */
typedef struct keyword_names {
    const func_t *f;
    const func_t *also;        /* a function whose arguments count too; NULL: none */
    const char *const *common; /* names of every function of its kind */
    size_t n_common;
    const json_t *given; /* the keywords of the call */
} keyword_names_t;

/* True when `f` has **kwargs. */
bool keyword_any(const func_t *f);
/* *ret_near is NEW for a KEYWORD_TYPO, else NULL. */
keyword_fit_t keyword_fit(const keyword_names_t *names, const char *key, char **ret_near);
/* Appends "; is 'test' meant?" for each of {typed: meant}. */
void keyword_hints(const json_t *typos, buf_t *out);

#endif
