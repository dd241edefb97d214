/* pcre.c - re.match for targets, on the project's own `re`. */
#include "common/base/str.h"
#include "common/match/match.h"
#include "common/match/regex.h"

bool
match_pcre(const char *pattern, const char *text, fail_t *err)
{
    rx_t *rx = rx_new(pattern, 0, err);

    if (rx == NULL)
        return false;
    bool matched = rx_match(rx, text, strlen(text), 0, err) == 1;
    rx_destroy(&rx);
    return matched;
}

/* Salt's expr_match(): a glob, or a regular expression that matches the whole text. */
bool
match_expr(const char *expr, const char *text)
{
    AUTO_FREE char *whole = xasprintf("(?:%s)\\Z", expr);
    fail_auto_t bad = FAIL_INIT;

    return match_glob(expr, text) || match_pcre(whole, text, &bad);
}

/* The same, without compiling anything for a plain name. */
bool
match_name(const char *expr, const char *text)
{
    return strpbrk(expr, "*?[](){}|+^$\\") == NULL ? str_eq(expr, text) : match_expr(expr, text);
}
