/* pep440.c - see pep440.h. A version becomes numbers that compare in order: epoch, release, and the ranks of
 * its pre-release, post-release and development release. */
#include "plugins/lib/python/pep440.h"

#include <ctype.h>
#include <limits.h>

#include "common/base/str.h"

enum { PARTS_MAX = 32, NONE_LOW = -1 };

typedef struct version {
    bool valid;
    long epoch, release[PARTS_MAX];
    size_t n;
    long pre_kind, pre, post, dev; /* pre_kind: -1 before every one, 0 a, 1 b, 2 rc, 3 none */
    const char *local;
} version_t;

static long
number(const char **p)
{
    char *end;
    long v = strtol(*p, &end, 10);

    *p = end;
    return v;
}

/* "-", "_" or "." and one of the words (the longest first); then a number, 0 when there is none. */
static bool
take_word(const char **p, const char *const *words, size_t *ret_which, long *ret_n)
{
    const char *q = *p + (**p != '\0' && strchr("-_.", **p) != NULL);

    for (size_t i = 0; words[i] != NULL; i++) {
        size_t n = strlen(words[i]);
        if (strncmp(q, words[i], n) != 0)
            continue;
        q += n;
        q += *q != '\0' && strchr("-_.", *q) != NULL && isdigit((unsigned char) q[1]);
        *ret_n = isdigit((unsigned char) *q) ? number(&q) : 0;
        *ret_which = i;
        *p = q;
        return true;
    }
    return false;
}

static void
read_suffixes(version_t *v, const char *p)
{
    static const char *const pres[] = { "alpha", "beta", "preview", "pre", "rc", "a", "b", "c", NULL };
    static const long kinds[] = { 0, 1, 2, 2, 2, 0, 1, 2 };
    static const char *const posts[] = { "post", "rev", "r", NULL }, *const devs[] = { "dev", NULL };
    size_t which = 0;
    long n = 0;
    bool pre = take_word(&p, pres, &which, &v->pre);

    v->pre_kind = pre ? kinds[which] : 3;
    bool post = take_word(&p, posts, &which, &n);
    if (!post && *p == '-' && isdigit((unsigned char) p[1])) {
        p++;
        n = number(&p);
        post = true;
    }
    v->post = post ? n : NONE_LOW;
    bool dev = take_word(&p, devs, &which, &n);
    v->dev = dev ? n : LONG_MAX;
    if (dev && !pre && !post)
        v->pre_kind = -1;
    v->local = *p == '+' ? p + 1 : NULL;
    v->valid = *p == '\0' || *p == '+';
}

/* `text` is in lower case, and outlives the result. */
static void
read_version(version_t *v, const char *text)
{
    const char *p = text + (*text == 'v');

    *v = (version_t){ 0 };
    if (!isdigit((unsigned char) *p))
        return;
    const char *bang = p + strspn(p, "0123456789");
    if (*bang == '!') {
        v->epoch = number(&p);
        p++;
    }
    while (v->n < PARTS_MAX && isdigit((unsigned char) *p)) {
        v->release[v->n++] = number(&p);
        if (*p != '.' || !isdigit((unsigned char) p[1]))
            break;
        p++;
    }
    read_suffixes(v, p);
}

static int
order(long a, long b)
{
    return (a > b) - (a < b);
}

/* Parts of a local version: numbers are newer than words, more parts than fewer. */
static int
cmp_local(const char *a, const char *b)
{
    if (a == NULL || b == NULL)
        return (a != NULL) - (b != NULL);
    while (*a != '\0' && *b != '\0') {
        size_t na = strcspn(a, ".-_"), nb = strcspn(b, ".-_");
        bool da = strspn(a, "0123456789") == na, db = strspn(b, "0123456789") == nb;
        int rc = da && db ? order(strtol(a, NULL, 10), strtol(b, NULL, 10)) : da - db;
        if (rc == 0 && !da)
            rc = strncmp(a, b, na < nb ? na : nb) != 0 ? strncmp(a, b, na < nb ? na : nb)
                                                       : order((long) na, (long) nb);
        if (rc != 0)
            return rc;
        a += na + (a[na] != '\0');
        b += nb + (b[nb] != '\0');
    }
    return (*a != '\0') - (*b != '\0');
}

static char *
lower(const char *text)
{
    char *copy = xstrdup(text);

    for (char *p = copy; *p != '\0'; p++)
        *p = (char) tolower((unsigned char) *p);
    return copy;
}

int
pep440_cmp(const char *a, const char *b)
{
    AUTO_FREE char *la = lower(a), *lb = lower(b);
    version_t x, y;

    read_version(&x, str_trim(la));
    read_version(&y, str_trim(lb));
    if (!x.valid || !y.valid)
        return x.valid - y.valid;
    int rc = order(x.epoch, y.epoch);
    for (size_t i = 0; rc == 0 && i < PARTS_MAX; i++) /* what is missing is 0 */
        rc = order(x.release[i], y.release[i]);
    rc = rc != 0 ? rc : order(x.pre_kind, y.pre_kind);
    rc = rc != 0 ? rc : order(x.pre, y.pre);
    rc = rc != 0 ? rc : order(x.post, y.post);
    rc = rc != 0 ? rc : order(x.dev, y.dev);
    return rc != 0 ? rc : cmp_local(x.local, y.local);
}

bool
pep440_holds(const char *version, const char *oper, const char *spec)
{
    int rc = pep440_cmp(version, spec);

    return strcmp(oper, "<") == 0    ? rc < 0
           : strcmp(oper, "<=") == 0 ? rc <= 0
           : strcmp(oper, "==") == 0 ? rc == 0
           : strcmp(oper, ">=") == 0 ? rc >= 0
           : strcmp(oper, ">") == 0  ? rc > 0
           : strcmp(oper, "!=") == 0 ? rc != 0
                                     : false;
}
