/* salt_regex.c - Salt's filters with regular expressions, on match/regex.h. Common mistakes in an expression
 * are found by a small scan and reported in Python's words and position; others in PCRE2's. */
#include "common/jinja/salt/salt_filter.h"
#include "common/match/regex.h"
#include "common/py/py_obj.h"

static const py_exc_t re_error = { "error", NULL };

/* Bytes of memory that PCRE2 may take per byte of an expression. */
enum { RX_COST = 256 };

int
jregex_room(const char *pattern)
{
    return py_room(strlen(pattern) * RX_COST);
}

static int
need_text(py_t *v)
{
    if (py_is(v, PY_STR))
        return 0;
    return py_raise_int(&py_TypeError, "expected string or bytes-like object, got '%s'", py_type_name(v));
}

/* ---- what Python says of a bad expression ------------------------------------------------------------- */

/* State of the scan for mistakes in an expression. */
typedef struct scan {
    const char *p;
    size_t at;        /* in characters */
    size_t open[100]; /* groups, innermost last */
    size_t n;
    enum { NOTHING, ITEM, REPEATED, LAZY } last; /* what a "*" would repeat */
} scan_t;

/* Moves over a character. */
static void
salt_regex_step(scan_t *s)
{
    do
        s->p++;
    while (((unsigned char) *s->p & 0xc0) == 0x80);
    s->at++;
}

/* Skips a set after its "["; false when it does not end. */
static bool
skip_set(scan_t *s)
{
    if (*s->p == '^')
        salt_regex_step(s);
    if (*s->p == ']')
        salt_regex_step(s);
    for (; *s->p != '\0' && *s->p != ']'; salt_regex_step(s))
        if (*s->p == '\\' && s->p[1] != '\0')
            salt_regex_step(s);
    if (*s->p == '\0')
        return false;
    salt_regex_step(s);
    return true;
}

/* Scans an element of the expression; returns the problem, at *ret_at, or NULL. */
static const char *
scan_one(scan_t *s, size_t *ret_at)
{
    char c = *s->p;
    *ret_at = s->at;
    salt_regex_step(s);
    if (strchr("*+?", c) != NULL) {
        /* A repetition; returns the problem with it. */
        if (s->last == NOTHING)
            return "nothing to repeat";
        if (s->last == LAZY || (s->last == REPEATED && c == '*'))
            return "multiple repeat";
        s->last = s->last == ITEM ? REPEATED : LAZY;
        return NULL;
    }
    s->last = c != '(' && c != '|' && c != '^' ? ITEM : NOTHING;
    if (c == '\\') {
        if (*s->p == '\0')
            return "bad escape (end of pattern)";
        salt_regex_step(s);
    } else if (c == '[') {
        return skip_set(s) ? NULL : "unterminated character set";
    } else if (c == '(') {
        if (s->n == NELEMS(s->open))
            return "too many groups in each other";
        s->open[s->n++] = *ret_at;
        if (*s->p == '?')
            salt_regex_step(s);
    } else if (c == ')') {
        return s->n-- > 0 ? NULL : "unbalanced parenthesis";
    }
    return NULL;
}

/* Raises re.error: usual mistakes in Python's words, others in PCRE2's. NULL. */
static rx_t *
raise_bad(const char *pattern, const char *otherwise)
{
    scan_t s = { .p = pattern };
    size_t at = 0;
    const char *why = NULL;
    while (*s.p != '\0' && why == NULL)
        why = scan_one(&s, &at);
    if (why == NULL && s.n > 0) {
        why = "missing ), unterminated subpattern";
        at = s.open[s.n - 1];
    }
    return why != NULL && strchr(pattern, '\n') == NULL ? py_raise(&re_error, "%s at position %zu", why, at)
                                                        : py_raise(&re_error, "%s", otherwise);
}

/* ---- matches ------------------------------------------------------------------------------------------ */

/* Compiles a[1] with ignorecase and multiline at a[flags] and after it. NEW, or NULL raised. */
static rx_t *
salt_regex_compile(py_t *const *a, size_t flags)
{
    int ignore = jflag(a[flags], false), multi = jflag(a[flags + 1], false);
    if (ignore < 0 || multi < 0)
        return NULL;
    if (!py_is(a[1], PY_STR))
        return py_raise(&py_TypeError, "first argument must be string or compiled pattern");
    if (jregex_room(py_cstr(a[1])) < 0)
        return NULL;
    fail_auto_t err = FAIL_INIT;
    rx_t *rx = rx_new(py_cstr(a[1]), (ignore ? RX_IGNORECASE : 0) | (multi ? RX_MULTILINE : 0), &err);
    return rx != NULL ? rx : raise_bad(py_cstr(a[1]), fail_text(&err));
}

/* The groups of a match as texts, with their marks; None for those without a part in it. NEW. */
static py_t *
groups_of(const rx_t *rx, py_t *text)
{
    size_t len, start, end, n = rx_groups(rx);
    const char *s = py_text(text, &len);
    py_t *groups = py_tuple(n);
    for (size_t i = 0; i < n; i++) {
        AUTO(py)
        g = rx_group(rx, i + 1, &start, &end) ? py_part(text, s + start, end - start) : py_ref(PY_None);
        py_tuple_set(groups, i, g);
    }
    return groups;
}

/* 1 found, 0 not, -1 raised. */
static int
salt_regex_find(rx_t *rx, py_t *text, bool at_start)
{
    fail_auto_t err = FAIL_INIT;
    size_t len;
    const char *s = py_text(text, &len);
    int rc = at_start ? rx_match(rx, s, len, 0, &err) : rx_search(rx, s, len, 0, &err);
    return rc < 0 ? py_raise_int(&re_error, "%s", fail_text(&err)) : rc;
}

static py_t *
groups_found(py_t *const *a, bool at_start)
{
    AUTO(rx) rx = salt_regex_compile(a, 2);
    if (rx == NULL || need_text(a[0]) < 0)
        return NULL;
    int rc = salt_regex_find(rx, a[0], at_start);
    return rc < 0 ? NULL : rc == 0 ? py_ref(PY_None) : py_peer_like(groups_of(rx, a[0]), &a[1], 1);
}

JFILTER(regex_search)
{
    return groups_found(a, false);
}

JFILTER(regex_match)
{
    return groups_found(a, true);
}

/* rx_put_fn that keeps peers' marks: those of pieces of the text, and of a whole replacement. Escapes in a
 * replacement are already decoded, so a part of it gets the marks of all of it. */
static void
salt_regex_put_marked(void *cookie, buf_t *out, const char *piece, size_t len, bool of_text)
{
    py_t *const *a = cookie;
    size_t at = out->len;

    if (of_text) {
        py_put_part(out, a[0], piece, len);
    } else if (len == PY_LEN(a[2]) && memcmp(piece, PY_TEXT(a[2]), len) == 0) {
        py_put(out, a[2]);
    } else {
        buf_add(out, piece, len);
        py_put_like(out, at, a[2]);
    }
}

JFILTER(regex_replace)
{
    AUTO(rx) rx = salt_regex_compile(a, 3);
    if (rx == NULL || need_text(a[0]) < 0)
        return NULL;
    if (!py_is(a[2], PY_STR))
        return py_raise(&py_TypeError, "decoding to str: need a bytes-like object, %s found",
                        py_type_name(a[2]));
    fail_auto_t err = FAIL_INIT;
    buf_auto_t out = BUF_INIT;
    size_t len;
    const char *s = py_text(a[0], &len);
    rx_until(rx, py_deadline_ms());
    if (py_is_peer(a[0]) || py_is_peer(a[2]))
        rx_put_by(rx, salt_regex_put_marked, (void *) a);
    rx_at_most(rx, py_room_left());
    int rc = rx_sub(rx, py_cstr(a[2]), s, len, 0, &out, NULL, &err);
    if (rc < 0)
        return py_raise(rc == -ETIMEDOUT || rc == -E2BIG ? &py_LimitError : &re_error, "%s", fail_text(&err));
    return py_peer_like(py_str_buf(&out), &a[1], 1);
}

JFILTER(regex_escape)
{
    if (!py_is(a[0], PY_STR))
        return py_raise(&py_TypeError, "decoding to str: need a bytes-like object, %s found",
                        py_type_name(a[0]));
    char *text AUTO_FREE = rx_escape(py_cstr(a[0]));
    return py_strz(text);
}

py_t *
jtest_match(jcontext_t *ctx, py_t *const *a, const py_args_t *args)
{
    AUTO(rx) rx = salt_regex_compile(a, 2);
    if (rx == NULL || need_text(a[0]) < 0)
        return NULL;
    int rc = salt_regex_find(rx, a[0], true);
    return rc < 0 ? NULL : py_bool(rc > 0);
}

/* 1 if the whole text matches, 0 also for an expression that is no good, -1 raised. */
int
jregex_fullmatch(const char *pattern, py_t *text)
{
    if (jregex_room(pattern) < 0)
        return -1;
    char *whole AUTO_FREE = xasprintf("\\A%s\\Z", pattern);
    AUTO(rx) rx = rx_new(whole, 0, NULL);
    if (rx == NULL)
        return 0;
    int rc = salt_regex_find(rx, text, true);
    return rc;
}

static const jfilter_t rows[] = {
    { JROW("regex_escape", regex_escape, JP("value"), 1, 1, 0), 0, "As it is, inside an expression." },
    { JROW("regex_match", regex_match, JP("txt", "rgx", "ignorecase", "multiline"), 2, 4, 0), JF_MARKS,
      "Groups of a match at the beginning." },
    { JROW("regex_replace", regex_replace, JP("txt", "rgx", "val", "ignorecase", "multiline"), 3, 5, 0),
      JF_MARKS, "All matches replaced." },
    { JROW("regex_search", regex_search, JP("txt", "rgx", "ignorecase", "multiline"), 2, 4, 0), JF_MARKS,
      "Groups of the first match." },
};

const jfilter_table_t jfilters_salt_regex = JTABLE(rows);
