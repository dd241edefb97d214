/* glob.c - Python's fnmatch, compiled to tokens: characters, any, star and sets of ranges.
 *
 * Matching keeps one point to retry from, that of the last star, so its time is at most the product of
 * pattern and text lengths. Patterns without wildcards are compared as plain text. Texts are UTF-8; a byte
 * that is not part of a character stands for itself. */
#include <locale.h>
#include <pthread.h>
#include <wctype.h>

#include "common/base/utf8.h"
#include "common/match/match.h"
#include "common/match/patterns.h"

typedef enum token_kind { TOKEN_CHAR, TOKEN_ANY, TOKEN_STAR, TOKEN_SET } token_kind_t;

typedef struct range {
    uint32_t low, high;
} range_t;

typedef struct token {
    token_kind_t kind;
    bool negated;
    uint32_t cp;     /* TOKEN_CHAR */
    size_t first, n; /* TOKEN_SET: its ranges */
} token_t;

struct wild {
    bool fold;
    char *literal; /* the whole pattern when it has no wildcard and case counts */
    token_t *tokens;
    size_t n_tokens;
    range_t *ranges;
    size_t n_ranges;
};

static locale_t fold_locale;

static void
make_fold_locale(void)
{
    fold_locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t) 0);
}

/* towlower of a fixed UTF-8 locale, so the process's locale has no influence. Only ASCII folds where that
 * locale is missing. */
uint32_t
match_fold(uint32_t cp)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    if (cp < 0x80)
        return cp >= 'A' && cp <= 'Z' ? cp + 32 : cp;
    pthread_once(&once, make_fold_locale);
    return fold_locale != (locale_t) 0 ? (uint32_t) towlower_l((wint_t) cp, fold_locale) : cp;
}

/* Next code point, folded on request. An invalid byte gets a value above the range of Unicode, so it equals
 * the same byte only. */
static uint32_t
next_cp(const char **at, const char *end, bool fold)
{
    uint32_t cp = (unsigned char) **at;
    size_t n = 1;

    if (cp >= 0x80) {
        n = utf8_next(*at, (size_t) (end - *at), &cp);
        if (n == 0) {
            cp = 0x110000 + (unsigned char) **at;
            n = 1;
        }
    }
    *at += n;
    return fold ? match_fold(cp) : cp;
}

bool
match_same_folded(const char *a, const char *b)
{
    const char *end_a = a + strlen(a), *end_b = b + strlen(b);

    while (a < end_a && b < end_b) {
        if (next_cp(&a, end_a, true) != next_cp(&b, end_b, true))
            return false;
    }
    return a == end_a && b == end_b;
}

/* ---- character sets -------------------------------------------------------------------------- */

/* Marks a hyphen that makes a range; a plain '-' is a member of the set. */
#define RANGE_HYPHEN UINT32_MAX

static void
glob_add_range(wild_t *self, uint32_t low, uint32_t high)
{
    self->ranges[self->n_ranges++] = (range_t){ low, high };
}

/* Adds the text between the brackets as one token. An empty set matches nothing, its negation every
 * character. */
static void
add_set(wild_t *self, uint32_t *set, size_t n)
{
    token_t *token = &self->tokens[self->n_tokens++];

    /* Marks the hyphens that fnmatch.translate takes for ranges: not at either end, and with two
     * characters between them. */
    size_t at = n > 0 && set[0] == '!' ? 2 : 1;
    while (at + 1 < n) {
        if (set[at] != '-') {
            at++;
            continue;
        }
        set[at] = RANGE_HYPHEN;
        at += 3;
    }

    /* Removes ranges that run backwards with both of their ends, from the right, as fnmatch.translate
     * does. */
    for (size_t i = n; i-- > 1;) {
        if (set[i] != RANGE_HYPHEN || i + 1 >= n || set[i - 1] <= set[i + 1])
            continue;
        memmove(set + i - 1, set + i + 2, (n - i - 2) * sizeof(*set));
        n -= 3;
    }

    token->kind = TOKEN_SET;
    token->first = self->n_ranges;
    if (n > 0 && set[0] == '!') {
        token->negated = true;
        set++;
        n--;
    }
    for (size_t i = 0; i < n; i++) {
        if (i + 2 < n && set[i + 1] == RANGE_HYPHEN) {
            glob_add_range(self, set[i], set[i + 2]);
            i += 2;
        } else {
            uint32_t cp = set[i] == RANGE_HYPHEN ? '-' : set[i];
            glob_add_range(self, cp, cp);
        }
    }
    token->n = self->n_ranges - token->first;
}

/* Index of the bracket that closes the set which starts at `i`, or `n`. */
static size_t
set_end(const uint32_t *cps, size_t n, size_t i)
{
    if (i < n && cps[i] == '!')
        i++;
    if (i < n && cps[i] == ']')
        i++;
    while (i < n && cps[i] != ']')
        i++;
    return i;
}

/* NEW; every text is a pattern. `fold`: case does not count. */
wild_t *
wild_new(const char *pattern, bool fold)
{
    wild_t *self = xcalloc(1, sizeof(*self));
    AUTO_FREE uint32_t *cps = NULL;

    self->fold = fold;
    if (!fold && !match_has_glob(pattern)) {
        self->literal = xstrdup(pattern);
        return self;
    }
    const char *at = pattern, *stop = pattern + strlen(pattern);
    size_t n = 0;
    cps = xcalloc(strlen(pattern) + 1, sizeof(*cps));
    while (at < stop)
        cps[n++] = next_cp(&at, stop, fold);
    self->tokens = xcalloc(n + 1, sizeof(*self->tokens));
    self->ranges = xcalloc(n + 1, sizeof(*self->ranges));

    /* Runs of stars become one. A "[" without "]" is an ordinary character. */
    for (size_t i = 0; i < n; i++) {
        token_t *last = self->n_tokens > 0 ? &self->tokens[self->n_tokens - 1] : NULL;
        if (cps[i] == '*') {
            if (last == NULL || last->kind != TOKEN_STAR)
                self->tokens[self->n_tokens++].kind = TOKEN_STAR;
            continue;
        }
        if (cps[i] == '?') {
            self->tokens[self->n_tokens++].kind = TOKEN_ANY;
            continue;
        }
        size_t end = cps[i] == '[' ? set_end(cps, n, i + 1) : n;
        if (end < n) {
            add_set(self, cps + i + 1, end - i - 1);
            i = end;
            continue;
        }
        self->tokens[self->n_tokens].kind = TOKEN_CHAR;
        self->tokens[self->n_tokens++].cp = cps[i];
    }

    return self;
}

void
wild_destroy(wild_t **self_p)
{
    wild_t *self = *self_p;

    if (self == NULL)
        return;
    free(self->literal);
    free(self->tokens);
    free(self->ranges);
    free(self);
    *self_p = NULL;
}

/* Characters compared with a pattern in the time of one step of work. */
#define TURNS_PER_STEP 16

/* ---- matching -------------------------------------------------------------------------------- */

static bool
token_takes(const wild_t *self, const token_t *token, uint32_t cp)
{
    if (token->kind == TOKEN_CHAR)
        return token->cp == cp;
    if (token->kind == TOKEN_ANY)
        return true;
    for (size_t i = 0; i < token->n; i++) {
        const range_t *range = &self->ranges[token->first + i];
        if (cp >= range->low && cp <= range->high)
            return !token->negated;
    }
    return token->negated;
}

bool
wild_match(const wild_t *self, const char *text, size_t len)
{
    return wild_match_within(self, text, len, NULL);
}

/* Greedy matching with one retry point: at a mismatch the last star takes one character more. Earlier stars
 * need no retry, as the later one can absorb any text between. */
bool
wild_match_within(const wild_t *self, const char *text, size_t len, match_work_t *work)
{
    const char *at = text, *end = text + len, *retry = NULL;
    size_t i = 0, star = SIZE_MAX, turns = 0;

    if (self->literal != NULL)
        return strncmp(self->literal, text, len) == 0 && self->literal[len] == '\0';
    while (at < end || i < self->n_tokens) {
        if (++turns % TURNS_PER_STEP == 0 && !match_work_take(work, 1))
            return false;
        if (i < self->n_tokens && self->tokens[i].kind == TOKEN_STAR) {
            star = i++;
            retry = at;
            if (i == self->n_tokens)
                return true;
            continue;
        }
        if (i < self->n_tokens && at < end) {
            const char *next = at;
            if (token_takes(self, &self->tokens[i], next_cp(&next, end, self->fold))) {
                at = next;
                i++;
                continue;
            }
        }
        if (star == SIZE_MAX || retry >= end)
            return false;
        next_cp(&retry, end, false);
        at = retry;
        i = star + 1;
    }
    return true;
}

bool
match_glob(const char *pattern, const char *text)
{
    wild_t *wild = wild_new(pattern, false);
    bool matched = wild_match(wild, text, strlen(text));

    wild_destroy(&wild);
    return matched;
}

/* True for a pattern that may match more than itself; "[" alone is taken for one, too. */
bool
match_has_glob(const char *pattern)
{
    return strpbrk(pattern, "*?[") != NULL;
}
