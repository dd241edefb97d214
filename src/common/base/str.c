/* str.c - text helpers. All work on bytes, and take UTF-8 as it is: no function here cuts a text at a place
 * that it did not find by an ASCII character, but for str_copy(), whose room is what it is. */
#include "common/base/str.h"

#include "common/base/buf.h"

#define SPACES " \t\n\v\f\r"

enum {
    SUGGEST_LEN = 128, /* longest word that gets a suggestion: the cost is quadratic */
    TYPO_LETTERS = 2,
    TYPO_SHORTEST = 4
};

bool
str_eq(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

bool
str_starts(const char *s, const char *prefix)
{
    return s != NULL && strncmp(s, prefix, strlen(prefix)) == 0;
}

bool
str_ends(const char *s, const char *suffix)
{
    if (s == NULL)
        return false;
    size_t len = strlen(s), tail = strlen(suffix);
    return len >= tail && memcmp(s + len - tail, suffix, tail) == 0;
}

int
str_by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *) a, *(const char *const *) b);
}

bool
str_empty(const char *s)
{
    return s == NULL || *s == '\0';
}

char *
str_trim(char *s)
{
    s += strspn(s, SPACES);
    size_t len = strlen(s);
    while (len > 0 && strchr(SPACES, s[len - 1]) != NULL)
        len--;
    s[len] = '\0';
    return s;
}

bool
str_copy(char *dst, size_t cap, const char *src)
{
    size_t len = strlen(src);
    bool fits = len < cap;

    salt_assert(cap > 0);
    if (!fits)
        len = cap - 1;
    memcpy(dst, src, len);
    dst[len] = '\0';
    return fits;
}

char **
str_split(const char *s, const char *seps, bool skip_empty)
{
    char **parts = xcalloc(8, sizeof(*parts));
    size_t n = 0, cap = 8;

    for (const char *p = s;; p++) {
        size_t len = strcspn(p, seps);
        if (len > 0 || !skip_empty) {
            if (n + 1 == cap) {
                cap *= 2;
                parts = xrealloc(parts, cap * sizeof(*parts));
            }
            parts[n++] = xstrndup(p, len);
        }
        p += len;
        if (*p == '\0')
            break;
    }
    parts[n] = NULL;
    return parts;
}

void
strv_free(char **v)
{
    for (char **p = v; p != NULL && *p != NULL; p++)
        free(*p);
    free(v);
}

size_t
strv_len(char *const *v)
{
    size_t n = 0;

    while (v != NULL && v[n] != NULL)
        n++;
    return n;
}

bool
strv_equal(char *const *a, char *const *b)
{
    for (; *a != NULL && *b != NULL; a++, b++) {
        if (strcmp(*a, *b) != 0)
            return false;
    }
    return *a == NULL && *b == NULL;
}

char *
str_replace(const char *s, const char *from, const char *to)
{
    buf_auto_t out = BUF_INIT;
    size_t from_len = strlen(from);

    if (from_len == 0)
        return xstrdup(s);
    for (const char *hit; (hit = strstr(s, from)) != NULL; s = hit + from_len) {
        buf_add(&out, s, (size_t) (hit - s));
        buf_puts(&out, to);
    }
    buf_puts(&out, s);
    return buf_steal(&out);
}

bool
str_to_int(const char *s, long long min, long long max, long long *ret_v)
{
    char *end;

    /* strtoll would skip white space and accept "". */
    if (s == NULL || s[strspn(s, "+-")] < '0' || s[strspn(s, "+-")] > '9')
        return false;
    errno = 0;
    long long v = strtoll(s, &end, 10);
    if (errno != 0 || end == s || *end != '\0' || v < min || v > max)
        return false;
    *ret_v = v;
    return true;
}

/* "cdw" for "cwd": in a short word only neighbours that are swapped are a typo. */
static bool
is_swap(const char *word, const char *candidate)
{
    size_t i = 0;

    while (word[i] != '\0' && word[i] == candidate[i])
        i++;
    return word[i] != '\0' && candidate[i] != '\0' && word[i] == candidate[i + 1] &&
           word[i + 1] == candidate[i] && strcmp(word + i + 2, candidate + i + 2) == 0;
}

/* The nearest candidate that is at most `limit` letters away. `typo`: and that is likely meant. */
static const char *
nearest(const char *word, size_t limit, bool typo, str_next_fn *next, void *cookie)
{
    size_t len = strlen(word);
    const char *best = NULL, *candidate;

    if (len == 0 || len > SUGGEST_LEN)
        return NULL;
    while ((candidate = next(cookie)) != NULL) {
        size_t n = strlen(candidate);
        if (n > SUGGEST_LEN || n + limit < len || n > len + limit ||
            (typo && n < TYPO_SHORTEST && (n < 3 || !is_swap(word, candidate))))
            continue;

        /* A typo: who mistypes a word seldom does so with its first letter, but for a swap with the
         * second. */
        if (typo && word[0] != candidate[0] && (word[0] != candidate[1] || word[1] != candidate[0]))
            continue;

        /* Optimal string alignment: inserting, deleting, replacing, and swapping neighbours cost 1 each. */
        size_t rows[3][SUGGEST_LEN + 1];
        size_t *before = rows[0], *last = rows[1], *now = rows[2];

        for (size_t j = 0; j <= n; j++)
            last[j] = before[j] = j;
        for (size_t i = 1; i <= len; i++) {
            now[0] = i;
            for (size_t j = 1; j <= n; j++) {
                size_t replace = last[j - 1] + (word[i - 1] != candidate[j - 1]);
                size_t either = last[j] < now[j - 1] ? last[j] + 1 : now[j - 1] + 1;
                now[j] = either < replace ? either : replace;
                if (i > 1 && j > 1 && word[i - 1] == candidate[j - 2] && word[i - 2] == candidate[j - 1] &&
                    before[j - 2] + 1 < now[j])
                    now[j] = before[j - 2] + 1;
            }
            size_t *spare = before;
            before = last;
            last = now;
            now = spare;
        }
        size_t distance = last[n];

        /* Candidates that are as near: `content` means `contents` and not `context`. */
        if (distance > limit || (best != NULL && distance == limit && !str_starts(candidate, word)))
            continue;
        best = candidate;
        if (distance == 0)
            break;
        limit = distance;
    }
    return best;
}

const char *
str_suggest(const char *word, str_next_fn *next, void *cookie)
{
    size_t limit = strlen(word) / 3;

    return nearest(word, limit > 0 ? limit : 1, false, next, cookie);
}

const char *
str_typo_of(const char *word, str_next_fn *next, void *cookie)
{
    size_t limit = strlen(word) / 3;

    return limit > 0 ? nearest(word, limit < TYPO_LETTERS ? limit : TYPO_LETTERS, true, next, cookie) : NULL;
}

char *
str_shell_quote(const char *s)
{
    static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";

    if (*s != '\0' && s[strspn(s, safe)] == '\0')
        return xstrdup(s);
    AUTO_FREE char *inner = str_replace(s, "'", "'\"'\"'");
    return xasprintf("'%s'", inner);
}

char *
str_redacted(const char *text)
{
    buf_auto_t out = BUF_INIT;
    const char *from = text, *at;

    while ((at = strstr(from, "://")) != NULL) {
        const char *host = at + strlen("://");
        bool local = host - text >= 7 && strncmp(host - 7, "salt://", 7) == 0; /* has neither user nor host */

        /* User and password end at the last "@" before the path: a password may hold one itself. */
        const char *sign = local ? NULL : memrchr(host, '@', strcspn(host, "/ \t\n'\""));
        size_t n = sign != NULL ? (size_t) (sign - host) : 0;
        buf_add(&out, from, (size_t) (host - from));
        buf_puts(&out, n > 0 ? "<redacted>" : "");
        from = host + n;
    }
    buf_puts(&out, from);
    return xstrdup(buf_str(&out));
}
