/* check.c - validates patterns of a configuration when it is loaded, before anything relies on them.
 *
 * Some options accept either a glob or a regular expression, as salt.utils.stringutils.expr_match does; a
 * pattern is refused only when it is neither. */
#include "common/base/str.h"
#include "common/match/match.h"
#include "common/match/regex.h"

/* True for a pattern that is a glob but no regular expression, as "*.example": no special characters besides
 * the wildcards, and brackets that are closed. */
static bool
is_glob_only(const char *text)
{
    int open = 0;

    for (const char *at = text; *at != '\0'; at++) {
        if (strchr("(){}|+^$\\", *at) != NULL)
            return false;
        open += *at == '[' ? 1 : *at == ']' && open > 0 ? -1 : 0;
    }
    return open == 0 && match_has_glob(text);
}

bool
match_pcre_check(const char *pattern, bool glob, bool *ret_all, fail_t *err)
{
    fail_auto_t why = FAIL_INIT;
    rx_t *rx = rx_new(pattern, 0, &why);

    *ret_all = rx != NULL && rx_match(rx, "", 0, 0, NULL) == 1;
    bool ok = rx != NULL || (glob && is_glob_only(pattern));
    rx_destroy(&rx);
    if (!ok)
        fail_set(err, -EINVAL, "%s", fail_text(&why));
    return ok;
}

bool
match_expr_check(const char *expr, fail_t *err)
{
    bool all;

    return match_pcre_check(expr, true, &all, err);
}
