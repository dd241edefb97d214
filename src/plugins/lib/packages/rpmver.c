/* rpmver.c - see rpmver.h: order of versions of rpm (rpmio/rpmvercmp.c, "tilde" and "caret" of
 * rpm-version(7)) and of alpm (lib/libalpm/version.c), which had it from an older rpm. Nothing is
 * allocated. */
#include "plugins/lib/packages/rpmver.h"

#include <ctype.h>

#include "common/base/str.h"

/* Part of a text. */
typedef struct part {
    const char *at;
    size_t len;
} part_t;

static bool
is_digit_at(part_t p)
{
    return p.len > 0 && isdigit((unsigned char) *p.at);
}

static void
skip(part_t *p, size_t n)
{
    p->at += n;
    p->len -= n;
}

/* Bytes at the front that are all digits, or all letters. */
static size_t
run_of(part_t p, bool digits)
{
    size_t n = 0;

    while (n < p.len && (digits ? isdigit((unsigned char) p.at[n]) : isalpha((unsigned char) p.at[n])))
        n++;
    return n;
}

static int
rpmver_sign(long long n)
{
    return (n > 0) - (n < 0);
}

/* Two runs of the same kind: numbers of any length by value, letters by their bytes. */
static int
cmp_runs(part_t a, part_t b, bool digits)
{
    while (digits && a.len > 0 && *a.at == '0')
        skip(&a, 1);
    while (digits && b.len > 0 && *b.at == '0')
        skip(&b, 1);
    if (digits && a.len != b.len)
        return a.len > b.len ? 1 : -1;
    int order = memcmp(a.at, b.at, a.len < b.len ? a.len : b.len);
    return order != 0 ? rpmver_sign(order) : rpmver_sign((long long) a.len - (long long) b.len);
}

/* Characters at the front that part runs, but those in `but`. */
static size_t
separators(part_t p, const char *but)
{
    size_t n = 0;

    while (n < p.len && !isalnum((unsigned char) p.at[n]) && strchr(but, p.at[n]) == NULL)
        n++;
    return n;
}

/* One of both begins with `c`: 0 when both do, which is then skipped; 2 when none does. `end`: what stands
 * where a text has ended, against one that goes on with `c`. */
static int
cmp_mark(part_t *a, part_t *b, char c, int end)
{
    bool in_a = a->len > 0 && *a->at == c, in_b = b->len > 0 && *b->at == c;

    if (!in_a && !in_b)
        return 2;
    if (in_a && in_b) {
        skip(a, 1);
        skip(b, 1);
        return 0;
    }
    /* "1.0^" is newer than "1.0", and older than "1.0.1". */
    if (in_a)
        return b->len == 0 ? -end : -1;
    return a->len == 0 ? end : 1;
}

static int
part_cmp(part_t a, part_t b)
{
    while (a.len > 0 || b.len > 0) {
        skip(&a, separators(a, "~^"));
        skip(&b, separators(b, "~^"));
        int tilde = cmp_mark(&a, &b, '~', 1), caret = tilde == 2 ? cmp_mark(&a, &b, '^', -1) : 2;
        int mark = tilde != 2 ? tilde : caret;
        if (mark == 0)
            continue;
        if (mark != 2)
            return mark;
        if (a.len == 0 || b.len == 0)
            break;
        bool digits = is_digit_at(a);
        part_t x = { a.at, run_of(a, digits) }, y = { b.at, run_of(b, digits) };
        if (y.len == 0)
            return digits ? 1 : -1;
        int order = cmp_runs(x, y, digits);
        if (order != 0)
            return order;
        skip(&a, x.len);
        skip(&b, y.len);
    }
    return (a.len > 0) - (b.len > 0);
}

/* One part, as rpm compares versions of provides. */
int
rpmver_part_cmp(const char *a, const char *b)
{
    return part_cmp((part_t){ a, strlen(a) }, (part_t){ b, strlen(b) });
}

/* ---- whole versions --------------------------------------------------------------------------- */

typedef struct evr {
    part_t epoch, version, release;
} evr_t;

/* `last`: the release stands behind the last hyphen, as alpm has it, else behind the first. */
static evr_t
evr_of(const char *text, bool ignore_epoch, bool last)
{
    const char *colon = strchr(text, ':');
    evr_t ret = { .epoch = { "0", 1 } };

    if (colon != NULL && !ignore_epoch) {
        size_t digits = strspn(text, "0123456789");
        if (digits > 0 && text + digits == colon)
            ret.epoch = (part_t){ text, digits };
    }
    const char *at = colon != NULL ? colon + 1 : text, *hyphen = last ? strrchr(at, '-') : strchr(at, '-');
    ret.version = (part_t){ at, hyphen != NULL ? (size_t) (hyphen - at) : strlen(at) };
    if (hyphen != NULL)
        ret.release = (part_t){ hyphen + 1, strlen(hyphen + 1) };
    return ret;
}

typedef int part_cmp_fn(part_t a, part_t b);

/* Missing epochs are 0. */
static int
evr_cmp(const evr_t *a, const evr_t *b, part_cmp_fn *cmp)
{
    int order = cmp_runs(a->epoch, b->epoch, true);

    if (order == 0)
        order = cmp(a->version, b->version);
    if (order == 0 && a->release.len > 0 && b->release.len > 0)
        order = cmp(a->release, b->release);
    return order;
}

/* [epoch:]version[-release]; a release counts only when both have one. */
int
rpmver_cmp(const char *a, const char *b, bool ignore_epoch)
{
    evr_t x = evr_of(a, ignore_epoch, false), y = evr_of(b, ignore_epoch, false);

    return evr_cmp(&x, &y, part_cmp);
}

/* ---- alpm ------------------------------------------------------------------------------------- */

/* Differs from rpm's in what is left over: "1.0a" is older than "1.0", and more separators are newer. */
static int
alpm_part_cmp(part_t a, part_t b)
{
    while (a.len > 0 && b.len > 0) {
        size_t apart_a = separators(a, ""), apart_b = separators(b, "");
        skip(&a, apart_a);
        skip(&b, apart_b);
        if (a.len == 0 || b.len == 0)
            break;
        if (apart_a != apart_b)
            return apart_a < apart_b ? -1 : 1;
        bool digits = is_digit_at(a);
        part_t x = { a.at, run_of(a, digits) }, y = { b.at, run_of(b, digits) };
        if (y.len == 0)
            return digits ? 1 : -1;
        int order = cmp_runs(x, y, digits);
        if (order != 0)
            return order;
        skip(&a, x.len);
        skip(&b, y.len);
    }
    if (a.len == 0 && b.len == 0)
        return 0;
    /* What goes on with letters is a pre-release; numbers and separators are newer. */
    bool alpha_a = a.len > 0 && isalpha((unsigned char) *a.at);
    bool alpha_b = b.len > 0 && isalpha((unsigned char) *b.at);
    return (a.len == 0 && !alpha_b) || alpha_a ? -1 : 1;
}

/* As vercmp(8) of pacman. */
int
alpmver_cmp(const char *a, const char *b, bool ignore_epoch)
{
    evr_t x = evr_of(a, ignore_epoch, true), y = evr_of(b, ignore_epoch, true);

    return evr_cmp(&x, &y, alpm_part_cmp);
}
