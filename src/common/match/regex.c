/* regex.c - Python's `re` over PCRE2.
 *
 * A pattern is rewritten where the two dialects differ (inline flags, \Z, {,n}) and compiled with options
 * that give Python's meaning. LIMIT_REGEX_STEPS bounds one match; with RX_COUNTED a callout at every item of
 * the pattern charges the caller's work. Patterns that are used often are compiled to machine code.
 * Replacement templates follow re's parse_template. */
#include "common/match/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <ctype.h>
#include <strings.h>

#include "common/base/clock.h"
#include "common/base/utf8.h"
#include "salt/limits.h"

enum { PATTERN_SHOWN = 200 }; /* bytes of a refused pattern in a message */

struct rx {
    pcre2_code *code;
    char *pattern; /* owned; to compile `checked` later, with `flags` */
    unsigned flags;
    pcre2_code *checked; /* variant without UTF checks, for texts known to be valid; NULL: not compiled yet */
    int64_t deadline_ms; /* of rx_sub; 0: none */
    size_t at_most;      /* bytes that rx_sub makes */
    rx_put_fn *put;      /* of rx_sub; NULL: the bytes are appended */
    void *put_cookie;
    pcre2_match_data *match;
    pcre2_match_context *context;
    size_t groups; /* without group 0 */
    bool matched;  /* the last search succeeded: `match` holds offsets */
    bool utf;
    bool anchored; /* compiled for rx_match */
    bool counted;
    unsigned used;      /* so many times, as far as RX_JIT_AFTER */
    match_work_t *work; /* BORROWED while it matches */
    uint64_t price;     /* of each step */
};

/* Uses before JIT compilation, which takes as long as some hundred matches. */
#define RX_JIT_AFTER   16
/* Matches in one text before `checked` is compiled: PCRE2_MATCH_INVALID_UTF re-validates the rest of the text
 * at each match, which is quadratic for many of them. */
#define RX_CHECK_AFTER 16
/* A step may scan the whole text; so many bits of its length are free. */
#define RX_PRICE_SHIFT 8
/* Price of a match whose steps are not counted. */
#define RX_UNCOUNTED   64

static const struct {
    const char *name;
    char letter;
    unsigned flag;
    uint32_t option;
} flag_rows[] = {
    { "ASCII", 'a', RX_ASCII, 0 },
    { "IGNORECASE", 'i', RX_IGNORECASE, PCRE2_CASELESS },
    { "LOCALE", 'l', RX_LOCALE, 0 },
    /* Python's ^ also matches behind the last newline. */
    { "MULTILINE", 'm', RX_MULTILINE, PCRE2_MULTILINE | PCRE2_ALT_CIRCUMFLEX },
    { "DOTALL", 's', RX_DOTALL, PCRE2_DOTALL },
    { "UNICODE", 'u', RX_UNICODE, 0 },
    { "VERBOSE", 'x', RX_VERBOSE, PCRE2_EXTENDED },
};

static unsigned
flag_by_letter(char c)
{
    for (size_t i = 0; i < NELEMS(flag_rows); i++) {
        if (flag_rows[i].letter == tolower((unsigned char) c))
            return flag_rows[i].flag;
    }
    return 0;
}

unsigned
rx_flag(const char *name)
{
    for (size_t i = 0; i < NELEMS(flag_rows); i++) {
        if (strcasecmp(name, flag_rows[i].name) == 0)
            return flag_rows[i].flag;
    }
    return name[0] != '\0' && name[1] == '\0' ? flag_by_letter(name[0]) : 0;
}

/* Takes Python's global flags at the start of a pattern, "(?iu)", some of which PCRE2 does not know. Returns
 * the rest of the pattern. */
static const char *
take_inline_flags(const char *pattern, unsigned *flags)
{
    unsigned found = 0;
    const char *p = pattern;

    if (strncmp(p, "(?", 2) != 0)
        return pattern;
    for (p += 2; isalpha((unsigned char) *p); p++) {
        unsigned flag = flag_by_letter(*p);
        if (flag == 0)
            return pattern;
        found |= flag;
    }
    if (*p != ')' || found == 0)
        return pattern;
    *flags |= found;
    return p + 1;
}

/* Length of "{,5}", which Python reads as {0,5} and PCRE2 as text; 0 for other texts. */
static size_t
open_quantifier(const char *p)
{
    size_t n = 2;

    if (p[0] != '{' || p[1] != ',')
        return 0;
    while (isdigit((unsigned char) p[n]))
        n++;
    return n > 2 && p[n] == '}' ? n + 1 : 0;
}

/* Rewrites a pattern where Python and PCRE2 differ: Python's \Z is PCRE2's \z, {,n} becomes {0,n}. Classes
 * are copied as they are. */
static void
translate(const char *p, buf_t *out)
{
    bool in_class = false;

    while (*p != '\0') {
        size_t quantifier = in_class ? 0 : open_quantifier(p);
        if (p[0] == '\\' && p[1] != '\0') {
            buf_putc(out, '\\');
            buf_putc(out, p[1] == 'Z' && !in_class ? 'z' : p[1]);
            p += 2;
        } else if (quantifier > 0) {
            buf_puts(out, "{0,");
            buf_add(out, p + 2, quantifier - 2);
            p += quantifier;
        } else {
            if (!in_class && *p == '[') {
                in_class = true;
                buf_putc(out, *p++);
                if (*p == '^')
                    buf_putc(out, *p++);
                if (*p == ']') /* the first one stands for itself */
                    buf_putc(out, *p++);
                continue;
            }
            if (in_class && *p == ']')
                in_class = false;
            buf_putc(out, *p++);
        }
    }
}

/* PCRE2's options for the flags. `invalid` is PCRE2_MATCH_INVALID_UTF, or 0 for texts that were validated. */
static uint32_t
compile_options(unsigned flags, uint32_t invalid)
{
    uint32_t options = PCRE2_NEVER_BACKSLASH_C;

    for (size_t i = 0; i < NELEMS(flag_rows); i++) {
        if (flags & flag_rows[i].flag)
            options |= flag_rows[i].option;
    }
    if (flags & RX_MATCH)
        options |= PCRE2_ANCHORED; /* the JIT does not know it as an option of the search */
    if (flags & RX_COUNTED)
        options |= PCRE2_AUTO_CALLOUT;
    if (!(flags & RX_BYTES))
        options |= PCRE2_UTF | invalid | ((flags & RX_ASCII) ? 0 : PCRE2_UCP);
    return options;
}

/* Compiled pattern, or NULL with *err. LF is the only line break, as in Python. The caller frees it. */
static pcre2_code *
regex_compile(const char *pattern, unsigned flags, uint32_t invalid, fail_t *err)
{
    const char *body = take_inline_flags(pattern, &flags);
    buf_auto_t text = BUF_INIT;
    pcre2_compile_context *context = pcre2_compile_context_create(NULL);
    int code = 0;
    PCRE2_SIZE at = 0;

    if (context == NULL)
        salt_no_memory(sizeof(void *));
    translate(body, &text);
    pcre2_set_newline(context, PCRE2_NEWLINE_LF);
    pcre2_code *compiled = pcre2_compile((PCRE2_SPTR) buf_str(&text), text.len,
                                         compile_options(flags, invalid), &code, &at, context);
    pcre2_compile_context_free(context);
    if (compiled == NULL && code == PCRE2_ERROR_HEAP_FAILED)
        salt_no_memory(text.len);
    if (compiled == NULL) {
        PCRE2_UCHAR why[200];
        pcre2_get_error_message(code, why, sizeof(why));

        /* Length of a pattern in a message: at most PATTERN_SHOWN bytes, cut at a character. */
        size_t shown = strnlen(pattern, PATTERN_SHOWN);
        bool cut = shown == PATTERN_SHOWN;
        while (cut && shown > PATTERN_SHOWN - 4 && ((unsigned char) pattern[shown] & 0xc0) == 0x80)
            shown--;

        fail_set(err, -EINVAL, "%s at position %zu in the regular expression '%.*s%s'", (char *) why,
                 (size_t) at, (int) shown, pattern, pattern[shown] != '\0' ? "..." : "");
    }
    return compiled;
}

/* PCRE2's callout, called for each item of the pattern: aborts the match when the work is used up. */
static int
count_step(pcre2_callout_block *block, void *rx)
{
    rx_t *self = rx;

    return match_work_take(self->work, self->price) ? 0 : PCRE2_ERROR_CALLOUT;
}

rx_t *
rx_new(const char *pattern, unsigned flags, fail_t *err)
{
    pcre2_code *code = regex_compile(pattern, flags, PCRE2_MATCH_INVALID_UTF, err);
    uint32_t groups = 0;

    if (code == NULL)
        return NULL;
    rx_t *self = xcalloc(1, sizeof(*self));
    self->code = code;
    self->pattern = xstrdup(pattern);
    self->flags = flags;
    self->at_most = SIZE_MAX;
    self->utf = !(flags & RX_BYTES);
    self->anchored = (flags & RX_MATCH) != 0;
    self->match = pcre2_match_data_create_from_pattern(code, NULL);
    self->context = pcre2_match_context_create(NULL);
    if (self->match == NULL || self->context == NULL)
        salt_no_memory(sizeof(void *));
    pcre2_set_match_limit(self->context, LIMIT_REGEX_STEPS);
    self->counted = (flags & RX_COUNTED) != 0;
    if (self->counted)
        pcre2_set_callout(self->context, count_step, self);
    pcre2_pattern_info(code, PCRE2_INFO_CAPTURECOUNT, &groups);
    self->groups = groups;
    return self;
}

void
rx_destroy(rx_t **self_p)
{
    rx_t *self = *self_p;

    if (self == NULL)
        return;
    pcre2_match_data_free(self->match);
    pcre2_match_context_free(self->context);
    pcre2_code_free(self->code);
    pcre2_code_free(self->checked);
    free(self->pattern);
    free(self);
    *self_p = NULL;
}

/* 1: a match; 0: none; or -E2BIG with *err when LIMIT_REGEX_STEPS or the memory is used up. */
static int
run_code(rx_t *self, const pcre2_code *code, const char *text, size_t len, size_t from, uint32_t options,
         fail_t *err)
{
    int rc = pcre2_match(code, (PCRE2_SPTR) text, len, from, options, self->match, self->context);

    if (rc == PCRE2_ERROR_JIT_STACKLIMIT) /* the interpreter's frames are on the heap */
        rc = pcre2_match(code, (PCRE2_SPTR) text, len, from, options | PCRE2_NO_JIT, self->match,
                         self->context);
    self->matched = rc >= 0;
    if (rc >= 0)
        return 1;
    if (rc == PCRE2_ERROR_NOMATCH)
        return 0;
    PCRE2_UCHAR why[200];
    pcre2_get_error_message(rc, why, sizeof(why));
    return fail_set(err, -E2BIG, "the regular expression gave up: %s; make it simpler", (char *) why);
}

static int
regex_run(rx_t *self, const char *text, size_t len, size_t from, uint32_t options, fail_t *err)
{
    return run_code(self, self->code, text, len, from, options, err);
}

int
rx_search(rx_t *self, const char *text, size_t len, size_t from, fail_t *err)
{
    return regex_run(self, text, len, from, 0, err);
}

int
rx_match(rx_t *self, const char *text, size_t len, size_t from, fail_t *err)
{
    if (self->anchored && self->used < RX_JIT_AFTER && ++self->used == RX_JIT_AFTER)
        pcre2_jit_compile(self->code, PCRE2_JIT_COMPLETE); /* else the interpreter does the same */
    return regex_run(self, text, len, from, self->anchored ? 0 : PCRE2_ANCHORED, err);
}

/* A match that a budget pays for: false as well when it is used up, which the budget remembers. */
bool
rx_match_within(rx_t *self, const char *text, size_t len, match_work_t *work)
{
    self->work = work;
    self->price = 1 + (len >> RX_PRICE_SHIFT);
    bool matched = match_work_take(work, self->counted ? self->price : self->price * RX_UNCOUNTED) &&
                   rx_match(self, text, len, 0, NULL) == 1;
    self->work = NULL;
    return matched;
}

size_t
rx_size(const rx_t *self)
{
    size_t size = 0;

    pcre2_pattern_info(self->code, PCRE2_INFO_SIZE, &size);
    return size;
}

/* False for a group that is not there, or took no part in the match. */
bool
rx_group(const rx_t *self, size_t n, size_t *ret_start, size_t *ret_end)
{
    if (!self->matched || n > self->groups)
        return false;
    const PCRE2_SIZE *offsets = pcre2_get_ovector_pointer(self->match);
    if (offsets[2 * n] == PCRE2_UNSET)
        return false;
    *ret_start = offsets[2 * n];
    *ret_end = offsets[2 * n + 1];
    return true;
}

char *
rx_group_text(const rx_t *self, const char *text, size_t n)
{
    size_t start, end;

    return rx_group(self, n, &start, &end) ? xstrndup(text + start, end - start) : NULL;
}

int
rx_group_number(const rx_t *self, const char *name)
{
    int n = pcre2_substring_number_from_name(self->code, (PCRE2_SPTR) name);

    return n < 0 ? -1 : n;
}

size_t
rx_groups(const rx_t *self)
{
    return self->groups;
}

/* ---- replacement templates ------------------------------------------------------------------- */

/* A template is a list of literal texts and group numbers. */
typedef struct part {
    long group; /* -1: literal */
    size_t start, len;
} part_t;

typedef struct tmpl {
    buf_t literal;
    part_t *parts;
    size_t n;
} tmpl_t;

static void
regex_add_part(tmpl_t *t, part_t part)
{
    t->parts = xrealloc(t->parts, (t->n + 1) * sizeof(part));
    t->parts[t->n++] = part;
}

/* Neighbouring literals are one part. */
static void
add_literal(tmpl_t *t, const char *bytes, size_t n)
{
    if (t->n == 0 || t->parts[t->n - 1].group >= 0)
        regex_add_part(t, (part_t){ -1, t->literal.len, 0 });
    buf_add(&t->literal, bytes, n);
    t->parts[t->n - 1].len += n;
}

static int
regex_add_group(rx_t *self, tmpl_t *t, long group, size_t at, fail_t *err)
{
    if (group < 0 || (size_t) group > self->groups)
        return fail_set(err, -EINVAL, "invalid group reference %ld at position %zu", group, at);
    regex_add_part(t, (part_t){ group, 0, 0 });
    return 0;
}

/* Adds the character of an octal escape: as UTF-8 for text patterns, as a byte for bytes patterns. */
static void
add_code(rx_t *self, tmpl_t *t, unsigned code)
{
    char bytes[2] = { (char) code, 0 };

    if (!self->utf || code < 0x80) {
        add_literal(t, bytes, 1);
        return;
    }
    bytes[0] = (char) (0xc0 | (code >> 6));
    bytes[1] = (char) (0x80 | (code & 0x3f));
    add_literal(t, bytes, 2);
}

static bool
is_octal(char c)
{
    return c >= '0' && c <= '7';
}

/* Numeric escape: \0, \012 and \123 are characters, \1 and \12 groups, as in Python. `p` is after the
 * backslash. */
static const char *
parse_number(rx_t *self, tmpl_t *t, const char *p, size_t at, fail_t *err)
{
    size_t n = 1;

    if (p[0] == '0' || (p[0] <= '3' && is_octal(p[0]) && is_octal(p[1]) && is_octal(p[2]))) {
        unsigned code = 0;
        for (n = 0; n < 3 && is_octal(p[n]); n++)
            code = code * 8 + (unsigned) (p[n] - '0');
        add_code(self, t, code);
        return p + n;
    }
    long group = p[0] - '0';
    if (isdigit((unsigned char) p[1]))
        group = group * 10 + (p[n++] - '0');
    return regex_add_group(self, t, group, at + 1, err) == 0 ? p + n : NULL;
}

/* Group reference \g<name> or \g<5>. `p` is after the g. Returns the rest, or NULL with *err. */
static const char *
parse_named(rx_t *self, tmpl_t *t, const char *p, size_t at, fail_t *err)
{
    const char *end = *p == '<' ? strchr(p, '>') : NULL;

    if (end == NULL || end == p + 1) {
        fail_set(err, -EINVAL, "missing group name in the replacement at position %zu", at);
        return NULL;
    }
    AUTO_FREE char *name = xstrndup(p + 1, (size_t) (end - p - 1));
    char *rest = NULL;
    long group = strtol(name, &rest, 10);
    if (!isdigit((unsigned char) name[0]) || *rest != '\0') {
        group = rx_group_number(self, name);
        if (group < 0) {
            fail_set(err, -EINVAL, "unknown group name '%s'", name);
            return NULL;
        }
    }
    return regex_add_group(self, t, group, at + strlen("\\g<"), err) == 0 ? end + 1 : NULL;
}

/* Expands an escape of a template; `p` is after the backslash. Unknown ASCII letters are errors, other
 * characters keep their backslash, as in re. Returns the rest, or NULL with err. */
static const char *
parse_escape(rx_t *self, tmpl_t *t, const char *p, size_t at, fail_t *err)
{
    static const char from[] = "abfnrtv\\", to[] = "\a\b\f\n\r\t\v\\";

    if (*p == '\0') {
        fail_set(err, -EINVAL, "bad escape (end of pattern) at position %zu", at);
        return NULL;
    }
    if (*p == 'g')
        return parse_named(self, t, p + 1, at, err);
    if (isdigit((unsigned char) *p))
        return parse_number(self, t, p, at, err);
    const char *known = strchr(from, *p);
    if (known != NULL) {
        add_literal(t, to + (known - from), 1);
        return p + 1;
    }
    if (isalpha((unsigned char) *p)) {
        fail_set(err, -EINVAL, "bad escape \\%c at position %zu", *p, at);
        return NULL;
    }
    add_literal(t, p - 1, 2);
    return p + 1;
}

static int
parse_template(rx_t *self, tmpl_t *t, const char *repl, fail_t *err)
{
    const char *p = repl;

    while (*p != '\0') {
        size_t plain = strcspn(p, "\\");
        if (plain > 0)
            add_literal(t, p, plain);
        p += plain;
        if (*p == '\0')
            break;
        p = parse_escape(self, t, p + 1, (size_t) (p - repl), err);
        if (p == NULL)
            return -EINVAL;
    }
    return 0;
}

/* Appends a piece within the limit of rx_at_most, through the callback of rx_put_by when there is one.
 * `of_text`: the piece comes from the subject, not from the template. */
static int
regex_put(const rx_t *self, buf_t *out, const char *text, size_t n, bool of_text, fail_t *err)
{
    if (out->len > self->at_most || n > self->at_most - out->len)
        return fail_set(err, -E2BIG, "the text with all matches replaced is longer than %zu bytes",
                        self->at_most);
    if (self->put != NULL)
        self->put(self->put_cookie, out, text, n, of_text);
    else
        buf_add(out, text, n);
    return 0;
}

/* Appends what the template makes of the last match. */
static int
regex_expand(const rx_t *self, const tmpl_t *t, const char *text, buf_t *out, fail_t *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < t->n; i++) {
        const part_t *part = &t->parts[i];
        size_t start, end;
        if (part->group < 0)
            rc = regex_put(self, out, t->literal.data + part->start, part->len, false, err);
        else if (rx_group(self, (size_t) part->group, &start, &end))
            rc = regex_put(self, out, text + start, end - start, true, err);
    }
    return rc;
}

/* re.subn's loop. Groups that took no part expand to nothing. A match that begins before the end of the last
 * one (\K in a lookahead) ends the loop. */
static int
replace_all(rx_t *self, const tmpl_t *t, const char *text, size_t len, size_t count, buf_t *out,
            size_t *ret_n, fail_t *err)
{
    size_t at = 0, copied = 0, n = 0;
    const pcre2_code *code = self->code;
    uint32_t options = 0, known = 0;

    while (count == 0 || n < count) {
        size_t start, end;
        if (self->deadline_ms != 0 && clock_mono_ms() > self->deadline_ms)
            return fail_set(err, -ETIMEDOUT, "the regular expression takes too long; make it simpler");
        if (n == RX_CHECK_AFTER && self->utf && utf8_valid(text, len)) {
            /* The text needs no further checks: from here on by `checked`, which is compiled when first
             * needed. */
            if (self->checked == NULL)
                self->checked = regex_compile(self->pattern, self->flags, 0, NULL);
            code = self->checked != NULL ? self->checked : code;
            known = self->checked != NULL ? PCRE2_NO_UTF_CHECK : 0;
        }
        int rc = run_code(self, code, text, len, at, options | known, err);
        if (rc < 0)
            return rc;
        if (rc == 0 || !rx_group(self, 0, &start, &end) || start < copied)
            break;
        if ((rc = regex_put(self, out, text + copied, start - copied, true, err)) < 0 ||
            (rc = regex_expand(self, t, text, out, err)) < 0)
            return rc;
        copied = at = end;
        n++;
        /* After an empty match the next one must not be empty at the same place; one that touches the last
         * match may be. */
        options = start == end ? PCRE2_NOTEMPTY_ATSTART : 0;
    }
    *ret_n = n;
    return regex_put(self, out, text + copied, len - copied, true, err);
}

int
rx_sub(rx_t *self, const char *repl, const char *text, size_t len, size_t count, buf_t *out, size_t *ret_n,
       fail_t *err)
{
    tmpl_t t = { BUF_INIT, NULL, 0 };
    size_t n = 0;
    int rc = parse_template(self, &t, repl, err);

    if (rc == 0)
        rc = replace_all(self, &t, text, len, count, out, &n, err);
    if (rc == 0 && ret_n != NULL)
        *ret_n = n;
    buf_free(&t.literal);
    free(t.parts);
    return rc;
}

void
rx_put_by(rx_t *self, rx_put_fn *fn, void *cookie)
{
    self->put = fn;
    self->put_cookie = cookie;
}

void
rx_at_most(rx_t *self, size_t bytes)
{
    self->at_most = bytes;
}

void
rx_until(rx_t *self, int64_t deadline_ms)
{
    self->deadline_ms = deadline_ms;
}

/* Python's re.escape(). NEW. */
char *
rx_escape(const char *text)
{
    buf_t out = BUF_INIT;

    for (; *text != '\0'; text++) {
        if (strchr("()[]{}?*+-|^$\\.&~# \t\n\r\v\f", *text) != NULL)
            buf_putc(&out, '\\');
        buf_putc(&out, *text);
    }
    return buf_steal(&out);
}
