/* rules.h - may somebody call this function with these arguments on these minions? Pure: the caller says what
 * a target covers.
 *
 * Rules are a list in the forms of Salt's options publisher_acl, external_auth and peer:
 *   "FUNCTION"                    a regular expression that matches from the beginning; on every minion
 *   {TARGET: [CALL]}              a compound target that must have all minions of the request
 *   "@runner" "@runners"          every runner function; "@wheel" and "@wheels" likewise
 *   "@jobs"                       every function of the runner (or wheel) module `jobs`
 *   {"@runner": [CALL]}           such functions, by their whole names; {"@jobs": [CALL]}: by what follows the dot
 * and CALL is "FUNCTION" or {"FUNCTION": {"args": [regex or null, ...], "kwargs": {NAME: regex or null}}}, or
 * a list of such conditions, of which one must hold. The first rule that allows decides; nothing else does.
 *
 * What is not written in one of these forms allows nothing.
 *
 * Layer      common/rules
 * Threads    any
 * Ownership  all that is given is BORROWED for the call
 * Tests      tests/unit/common/test_who_may.c; tests/oracle/rules.py asks Salt's CkMinions the same
 */
#ifndef COMMON_RULES_RULES_H
#define COMMON_RULES_RULES_H

#include "common/match/work.h"
#include "salt/base.h"

typedef enum rules_form { RULES_LOCAL, RULES_RUNNER, RULES_WHEEL } rules_form_t;

/* True when the compound target has all minions of the request, and some. */
typedef bool rules_covers_fn(void *cookie, const char *target);

typedef struct rules_ask {
    rules_form_t form;
    const char *fun;
    const json_t *arg; /* as jobs have it: values and objects {"__kwarg__": true, NAME: value}; NULL: none */
    bool
        loose; /* functions in a list may be globs as well, and a mapping may have several targets: publisher_acl */
    bool unite; /* each minion of the request needs a rule, not all of them the same */
    rules_covers_fn *covers;
    void *cookie;
    match_work_t *work; /* what is not looked at for want of it has not matched; NULL: unlimited */
} rules_ask_t;

/* Which rule has decided; all BORROWED from the rules. */
typedef struct rules_found {
    size_t at;          /* its place in the list */
    const char *target; /* or "@..."; NULL: it is for every minion */
    const char *call;   /* the pattern of the function; NULL: "@..." alone */
} rules_found_t;

/* True when a rule allows it. `ret_found` may be NULL; of `unite` it is the first that adds minions. */
bool rules_allow(const json_t *rules, const rules_ask_t *ask, rules_found_t *ret_found);

/* True when an expression of a black list, a text or a list of texts, means this word: a glob, or a regular
 * expression for the whole of it. What can't be looked at any more is taken for named. */
bool rules_forbid(const json_t *exprs, const char *word, match_work_t *work);

/* The rules that one system of external_auth has for a user: of keys that name him (a name, or a pattern of
 * names), of "GROUP%" for each of his groups (NULL: none), and of "*" where no name did, or always when
 * `permissive`. Keys of parameters ("^filename") are no names. NEW list; *ret_by NEW: the key of each rule,
 * in the same order (may be NULL). */
json_t *rules_of_user(const json_t *system, const char *user, const json_t *groups, bool permissive,
                      json_t **ret_by);
/* The same as the API shows them: texts sorted, then the others, none twice. NEW. */
json_t *rules_shown(const json_t *rules);

/* True when the rules keep nothing back: every function on every minion, every runner and wheel function. */
bool rules_are_all(const json_t *rules);

#endif
