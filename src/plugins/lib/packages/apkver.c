/* apkver.c - see rpmver.h: order of Alpine's versions, NUMBER{.NUMBER}[LETTER]{_SUFFIX[NUMBER]}[-rNUMBER], as
 * apk-tools compares them (src/version.c). */
#include <ctype.h>

#include "plugins/lib/packages/rpmver.h"

/* What a part of a version is, later kinds end sooner: "1.0" against "1.0a" or "1.0-r1". */
typedef enum token {
    TOKEN_NUMBER,
    TOKEN_LETTER,
    TOKEN_SUFFIX,
    TOKEN_SUFFIX_NUMBER,
    TOKEN_RELEASE,
    TOKEN_END
} token_t;

/* Suffixes in their order; those before none are of versions before the release. */
static const char *const suffixes[] = { "alpha", "beta", "pre", "rc", "", "cvs", "svn", "git", "hg", "p" };
enum { SUFFIX_NONE = 4 };

typedef struct reader {
    const char *at;
    token_t token;
    bool first;
} reader_t;

/* The number of the suffix at a place, its length in *ret_len; negative for none. */
static int
apkver_suffix_at(const char *at, size_t *ret_len)
{
    for (size_t i = 0; i < NELEMS(suffixes); i++) {
        size_t len = strlen(suffixes[i]);
        if (len > 0 && strncmp(at, suffixes[i], len) == 0 && !isalpha((unsigned char) at[len])) {
            *ret_len = len;
            return (int) i;
        }
    }
    return -1;
}

/* Skips what is between two parts; the token becomes the next part's. */
static void
next_part(reader_t *r)
{
    char c = *r->at;

    if ((r->token == TOKEN_NUMBER || r->token == TOKEN_LETTER) && c == '.' && r->token == TOKEN_NUMBER) {
        r->at++;
    } else if (r->token == TOKEN_NUMBER && islower((unsigned char) c)) {
        r->token = TOKEN_LETTER;
    } else if (r->token == TOKEN_SUFFIX && isdigit((unsigned char) c)) {
        r->token = TOKEN_SUFFIX_NUMBER;
    } else if (c == '_') {
        r->token = TOKEN_SUFFIX;
        r->at++;
    } else if (c == '-' && r->at[1] == 'r') {
        r->token = TOKEN_RELEASE;
        r->at += 2;
    } else {
        r->token = TOKEN_END;
    }
    r->first = false;
}

/* Digits as the text of a number without zeros in front. */
static const char *
number_at(reader_t *r, size_t *ret_len)
{
    const char *start = r->at + strspn(r->at, "0"), *end = start + strspn(start, "0123456789");

    r->at = end;
    *ret_len = (size_t) (end - start);
    return start;
}

/* By value, however long they are. */
static int
cmp_numbers(reader_t *a, reader_t *b)
{
    size_t n_a, n_b;
    const char *x = number_at(a, &n_a), *y = number_at(b, &n_b);
    int order = n_a != n_b ? (n_a > n_b ? 1 : -1) : memcmp(x, y, n_a);

    return (order > 0) - (order < 0);
}

/* One part of the same kind in both. */
static int
cmp_parts(reader_t *a, reader_t *b)
{
    size_t len_a = 0, len_b = 0;

    switch (a->token) {
    case TOKEN_NUMBER: {
        if (a->first || (*a->at != '0' && *b->at != '0'))
            return cmp_numbers(a, b);
        /* Digits behind a dot that begin with a zero are a fraction: 1.01 < 1.1. */
        size_t n_a = strspn(a->at, "0123456789"), n_b = strspn(b->at, "0123456789");
        int order = memcmp(a->at, b->at, n_a < n_b ? n_a : n_b);
        order = order != 0 ? order : (n_a > n_b) - (n_a < n_b);
        a->at += n_a;
        b->at += n_b;
        return (order > 0) - (order < 0);
    }
    case TOKEN_LETTER: {
        int order = *a->at - *b->at;
        a->at++;
        b->at++;
        return (order > 0) - (order < 0);
    }
    case TOKEN_SUFFIX: {
        int order = apkver_suffix_at(a->at, &len_a) - apkver_suffix_at(b->at, &len_b);
        a->at += len_a;
        b->at += len_b;
        return (order > 0) - (order < 0);
    }
    default:
        return cmp_numbers(a, b);
    }
}

int
apkver_cmp(const char *a, const char *b, bool ignore_epoch)
{
    reader_t x = { a, TOKEN_NUMBER, true }, y = { b, TOKEN_NUMBER, true };

    (void) ignore_epoch; /* apk has none */
    while (x.token == y.token && x.token != TOKEN_END) {
        int order = cmp_parts(&x, &y);
        if (order != 0)
            return order;
        next_part(&x);
        next_part(&y);
    }
    /* Where one goes on with a suffix of a version before the release it is older, else it is newer. */
    size_t len;
    if (x.token == y.token)
        return 0;
    if (x.token == TOKEN_SUFFIX && apkver_suffix_at(x.at, &len) < SUFFIX_NONE)
        return -1;
    if (y.token == TOKEN_SUFFIX && apkver_suffix_at(y.at, &len) < SUFFIX_NONE)
        return 1;
    return x.token > y.token ? -1 : 1;
}
