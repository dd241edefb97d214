/* pkgver.c - see pkgver.h: Debian's order of versions ([epoch:]upstream[-revision], deb-version(7)), as dpkg
 * compares them. Parsed parts point into the text; nothing is allocated. */
#include "plugins/lib/packages/pkgver.h"

#include <limits.h>

#include "common/base/str.h"

static bool
pkgver_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static const char *
pkgver_skip_blanks(const char *p)
{
    return p + strspn(p, " \t");
}

/* White space around the version is skipped. -EINVAL with the reason for an invalid one. */
int
pkgver_parse(const char *text, pkgver_t *out, fail_t *err)
{
    const char *start = pkgver_skip_blanks(text), *end = start + strcspn(start, " \t");
    const char *colon = strchr(start, ':');

    *out = (pkgver_t){ 0 };
    if (*start == '\0')
        return fail_set(err, -EINVAL, "the version is empty");
    if (*pkgver_skip_blanks(end) != '\0')
        return fail_set(err, -EINVAL, "version '%s' contains white space", text);
    if (colon != NULL) {
        char *last;
        errno = 0;
        out->epoch = strtol(start, &last, 10);
        if (last == start)
            return fail_set(err, -EINVAL, "version '%s': the epoch is empty or no number", start);
        if (last != colon)
            return fail_set(err, -EINVAL, "version '%s': the epoch is not a number", start);
        if (out->epoch < 0 || out->epoch > INT_MAX || errno == ERANGE)
            return fail_set(err, -EINVAL, "version '%s': the epoch is out of range", start);
        start = colon + 1;
        if (start >= end)
            return fail_set(err, -EINVAL, "version '%s': nothing behind the colon", text);
    }
    const char *hyphen = memrchr(start, '-', (size_t) (end - start));
    out->upstream = start;
    out->upstream_len = (size_t) ((hyphen != NULL ? hyphen : end) - start);
    out->revision = hyphen != NULL ? hyphen + 1 : end;
    out->revision_len = (size_t) (end - out->revision);
    if (hyphen != NULL && out->revision_len == 0)
        return fail_set(err, -EINVAL, "version '%s': the revision is empty", text);
    if (out->upstream_len == 0)
        return fail_set(err, -EINVAL, "version '%s': nothing before the revision", text);
    return 0;
}

/* Weight of a character between numbers: a tilde before the end, the end before letters, letters before the
 * rest. */
static int
weight(const char *s, size_t len, size_t i)
{
    if (i >= len || pkgver_is_digit(s[i]))
        return 0;
    char c = s[i];
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))
        return s[i];
    return s[i] == '~' ? -1 : (unsigned char) s[i] + 256;
}

/* Compares non-digits and numbers in turns, as dpkg does. */
static int
order_of_parts(const char *a, size_t n_a, const char *b, size_t n_b)
{
    size_t i = 0, k = 0;

    while (i < n_a || k < n_b) {
        while ((i < n_a && !pkgver_is_digit(a[i])) || (k < n_b && !pkgver_is_digit(b[k]))) {
            int order = weight(a, n_a, i) - weight(b, n_b, k);
            if (order != 0)
                return order;
            i++;
            k++;
        }

        /* Numbers of any length: leading zeros are skipped, the longer one is greater, else the first
         * different digit decides. */
        int order = 0;

        while (i < n_a && a[i] == '0')
            ++i;
        while (k < n_b && b[k] == '0')
            ++k;
        while (i < n_a && pkgver_is_digit(a[i]) && k < n_b && pkgver_is_digit(b[k])) {
            if (order == 0)
                order = a[i] - b[k];
            ++i;
            ++k;
        }
        if (i < n_a && pkgver_is_digit(a[i]))
            return 1;
        if (k < n_b && pkgver_is_digit(b[k]))
            return -1;

        if (order != 0)
            return order;
    }
    return 0;
}

/* Epoch, then upstream, then revision. */
int
pkgver_order(const pkgver_t *a, const pkgver_t *b)
{
    if (a->epoch != b->epoch)
        return a->epoch < b->epoch ? -1 : 1;
    int order = order_of_parts(a->upstream, a->upstream_len, b->upstream, b->upstream_len);

    return order != 0 ? order : order_of_parts(a->revision, a->revision_len, b->revision, b->revision_len);
}

/* The part behind the colon, when epochs don't count. */
static const char *
without_epoch(const char *text, bool ignore_epoch)
{
    const char *colon = ignore_epoch ? strchr(text, ':') : NULL;

    return colon != NULL ? colon + 1 : text;
}

/* *ret_order is -1, 0 or 1. An empty version is less than any other. */
int
pkgver_cmp(const char *a, const char *b, bool ignore_epoch, int *ret_order, fail_t *err)
{
    pkgver_t va = { 0 }, vb = { 0 };
    int rc;

    a = without_epoch(a, ignore_epoch);
    b = without_epoch(b, ignore_epoch);
    if ((*a != '\0' && (rc = pkgver_parse(a, &va, err)) < 0) ||
        (*b != '\0' && (rc = pkgver_parse(b, &vb, err)) < 0))
        return rc;
    if (*a == '\0' || *b == '\0') {
        *ret_order = (*a != '\0') - (*b != '\0');
        return 0;
    }
    int order = pkgver_order(&va, &vb);
    *ret_order = (order > 0) - (order < 0);
    return 0;
}

/* ---- operators ----------------------------------------------------------------------------- */

typedef struct oper {
    const char *name;
    bool lesser, equal, greater;
} oper_t;

static const oper_t opers[] = {
    { "<", true, false, false }, { "<=", true, true, false }, { "==", false, true, false },
    { ">=", false, true, true }, { ">", false, false, true }, { "!=", true, false, true },
};

/* False for an unknown operator, and for versions that can't be parsed. */
bool
pkgver_holds(const char *a, const char *oper, const char *b, bool ignore_epoch)
{
    int order;

    if (pkgver_cmp(a, b, ignore_epoch, &order, NULL) < 0)
        return false;
    for (size_t i = 0; i < NELEMS(opers); i++) {
        if (str_eq(opers[i].name, oper))
            return order < 0 ? opers[i].lesser : order == 0 ? opers[i].equal : opers[i].greater;
    }
    return false;
}

/* `desired` may begin with an operator; without one, equality is meant. */
bool
pkgver_wanted(const char *desired, const char *version, bool ignore_epoch)
{
    /* Longest first; those that no comparison knows match nothing, as in Salt. */
    static const char *const words[] = { "<=>", "!=", ">=", "<=", ">>", "<<", "<>", ">", "<", "=" };

    for (size_t i = 0; i < NELEMS(words); i++) {
        size_t len = strlen(words[i]);
        const char *rest = desired + len;
        if (!str_starts(desired, words[i]))
            continue;
        rest += *rest == ' ' || *rest == '\t';
        if (*rest == '\0' || strpbrk(rest, "<>=") != NULL)
            break;
        return pkgver_holds(version, words[i], rest, ignore_epoch);
    }
    return pkgver_holds(version, "==", desired, ignore_epoch);
}
