/* fuzz_spans.c - texts with pieces that peers said (spans), as JSON, template or YAML.
 *
 * The first byte chooses: j JSON, t template, l template with line statements, else YAML. In the rest byte 1
 * begins a piece, 2 begins one of text, 3 ends it; these bytes are removed. Checked: a piece that "fits"
 * changes nothing in what is read but the scalar that it is in, and where one word fits, other words fit too.
 */
#include <jansson.h>

#include "common/base/json_span.h"
#include "common/data/yaml_span.h"
#include "common/jinja/parse/lex.h"
#include "salt/limits.h"
#include "unit/span_oracle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LONGEST_LINE = 900 };

static const py_limits_t limits = { .bytes = 64 << 20, .depth = 250, .steps = 1000000 };
static const char *const words[] = { "k", "web-1.example.com", "/var/log/a b", "fe80::1",
                                     "J\xc3\xb6rg = x@y" };

/* Builds the text and its spans; `word` replaces each piece, NULL: the pieces as they are. */
static void
draw(const uint8_t *data, size_t size, const char *word, buf_t *text, spans_t *spans)
{
    size_t from = SIZE_MAX, said = 0;
    unsigned flags = 0;

    for (size_t i = 0; i <= size; i++) {
        bool mark = i == size || (data[i] >= 1 && data[i] <= 3);
        if (!mark && (from == SIZE_MAX || word == NULL))
            buf_putc(text, (char) data[i]);
        said += !mark;
        if (!mark)
            continue;
        if (from != SIZE_MAX) {
            const span_t *last = spans->n > 0 ? &spans->v[spans->n - 1] : NULL;
            bool goes_on = last != NULL && last->to == from && last->flags == flags;
            if (word != NULL && said > 0 && !goes_on)
                buf_puts(text, word);
            spans_add(spans, from, text->len, flags);
        }
        from = i < size && data[i] < 3 ? text->len : SIZE_MAX;
        said = 0;
        flags = i < size && data[i] == 2 ? SPAN_TEXT : 0;
    }
    buf_reserve(text, 1);
}

/* ---- YAML --------------------------------------------------------------------------------------------- */

/* True when a line may exceed YAML's limit of 1024 characters for a simple key once words are longer than the
 * pieces. */
static bool
has_long_line(const uint8_t *data, size_t size)
{
    size_t n = 0;

    for (size_t i = 0; i < size; i++) {
        n = data[i] == '\n' ? 0 : n + 1;
        if (n > LONGEST_LINE)
            return true;
    }
    return false;
}

/* True when the parser accepts the text; a constructor's error counts as accepted. */
static bool
can_be_loaded(const char *text, size_t len)
{
    yproblem_t problem = YPROBLEM_INIT;
    ydoc_t *doc = ydoc_new(text, len, LIMIT_YAML_NODES, &problem);
    bool fine = problem.cls == YAML_FINE || problem.cls >= YAML_CONSTRUCTOR;

    ydoc_destroy(&doc);
    yproblem_free(&problem);
    return fine;
}

/* True when a word fits in the place of the pieces; asserts that every other word then fits too. *ret_loads:
 * the text with the first word can be parsed. */
static bool
words_fit(const uint8_t *data, size_t size, bool *ret_loads)
{
    bool fit = false;

    for (size_t i = 0; i < NELEMS(words); i++) {
        buf_auto_t text = BUF_INIT;
        spans_auto_t spans = SPANS_INIT;
        breakout_t out;
        draw(data, size, words[i], &text, &spans);
        bool also = yaml_spans_fit(text.data, text.len, &spans, &out);
        if (i == 0) {
            fit = also;
            *ret_loads = can_be_loaded(text.data, text.len);
        }
        salt_assert(!fit || also || !*ret_loads);
        if (spans.n > 0 && yaml_spans_inert(text.data, text.len, &spans))
            salt_assert(yaml_spans_agree(text.data, text.len, &spans, &out));
        if (!fit || spans.n > 4)
            break;
    }
    return fit;
}

/* A callback that touches every byte of the paths, for the sanitizer. */
static void
count_place(void *cookie, const yaml_span_place_t *place)
{
    size_t *n = cookie;

    for (size_t i = 0; i < place->depth; i++)
        *n += strlen(place->path[i]);
}

static void
check_yaml(const uint8_t *data, size_t size)
{
    buf_auto_t text = BUF_INIT;
    spans_auto_t spans = SPANS_INIT;
    breakout_t out = { 0, 0, NULL };
    size_t n = 0;
    bool loads;

    draw(data, size, NULL, &text, &spans);
    yaml_spans_walk(text.data, text.len, &spans, count_place, &n);
    bool fit = yaml_spans_fit(text.data, text.len, &spans, &out);
    salt_assert(fit || (out.what != NULL && out.span < spans.n && out.at >= spans.v[out.span].from &&
                        out.at < spans.v[out.span].to));
    if (spans.n == 0 || has_long_line(data, size))
        return;
    bool word_fits = words_fit(data, size, &loads);
    salt_assert(!fit || word_fits || !can_be_loaded(text.data, text.len));
    if (!fit)
        return;
    if (yaml_spans_inert(text.data, text.len, &spans))
        salt_assert(yaml_spans_agree(text.data, text.len, &spans, &out));
    /* The oracle can judge neither merge keys, which depend on other keys, nor texts with its own word. */
    if (memmem(text.data, text.len, "<<", 2) != NULL || memmem(text.data, text.len, ":merge", 6) != NULL ||
        memmem(text.data, text.len, ORACLE_WORD, strlen(ORACLE_WORD)) != NULL)
        return;
    const char *fault = oracle_fault(text.data, text.len, &spans);
    if (fault != NULL)
        fprintf(stderr, "%s\n", fault);
    salt_assert(fault == NULL);
}

/* ---- JSON --------------------------------------------------------------------------------------------- */

/* Writes the document with a text for each span: quoted, unless the template's quotes are around it. */
static void
json_reference(const char *text, size_t len, const spans_t *spans, buf_t *out)
{
    bool quoted = false;

    for (size_t i = 0, k = 0; i < len;) {
        if (k < spans->n && i == spans->v[k].from) {
            buf_printf(out, quoted ? ORACLE_WORD "%zu" : "\"" ORACLE_WORD "%zu\"", k);
            i = spans->v[k++].to;
            continue;
        }
        size_t stop = k < spans->n ? spans->v[k].from : len;
        size_t n = quoted && text[i] == '\\' && i + 1 < stop ? 2 : 1;
        quoted ^= text[i] == '"';
        buf_add(out, text + i, n);
        i += n;
    }
    buf_reserve(out, 1);
}

/* True when both values have one structure, apart from texts and keys with the oracle's word. */
static bool
json_same(const json_t *real, const json_t *ref)
{
    const char *key;
    json_t *v;
    size_t i;

    if (json_is_string(ref) && strstr(json_string_value(ref), ORACLE_WORD) != NULL)
        return json_is_string(real) || strncmp(json_string_value(ref), ORACLE_WORD, strlen(ORACLE_WORD)) == 0;
    if (json_typeof(real) != json_typeof(ref))
        return false;
    if (!json_is_object(ref) && !json_is_array(ref))
        return json_equal(real, ref);
    if (json_array_size(real) != json_array_size(ref) || json_object_size(real) != json_object_size(ref))
        return false;
    json_array_foreach (ref, i, v)
        if (!json_same(json_array_get(real, i), v))
            return false;
    json_object_foreach ((json_t *) ref, key, v) /* a key with a word may be any other */
        if (strstr(key, ORACLE_WORD) == NULL && json_object_get(real, key) == NULL)
            return false;
    return true;
}

static void
check_json(const uint8_t *data, size_t size)
{
    buf_auto_t text = BUF_INIT, reference = BUF_INIT;
    spans_auto_t spans = SPANS_INIT;
    breakout_t out = { 0, 0, NULL };

    draw(data, size, NULL, &text, &spans);
    bool fit = json_spans_fit(text.data, text.len, &spans, &out);
    salt_assert(fit || (out.what != NULL && out.span < spans.n && out.at < text.len));
    /* jansson ignores a NUL behind a number. */
    if (!fit || memchr(text.data, '\0', text.len) != NULL || strstr(text.data, ORACLE_WORD) != NULL)
        return;
    json_reference(text.data, text.len, &spans, &reference);
    const size_t how = JSON_DECODE_ANY | JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES;
    json_auto_t *real = json_loadb(text.data, text.len, how, NULL);
    json_auto_t *ref = json_loadb(reference.data, reference.len, how, NULL);
    if (real != NULL)
        salt_assert(ref != NULL && json_same(real, ref));
}

/* ---- templates ---------------------------------------------------------------------------------------- */

/* The tokens as text, without data, in which pieces may be; false when there is a syntax error. */
static bool
tokens(const char *text, size_t len, const jsyntax_t *syntax, buf_t *out)
{
    syntax_error_t error = { .cls = NULL };
    AUTO(arena) arena = arena_new();
    lexer_t *lexer = lexer_new(arena, syntax, text, len, &error);

    if (setjmp(error.out) != 0)
        return false;
    for (token_t t = lexer_next(lexer); t.type != T_EOF; t = lexer_next(lexer)) {
        if (t.type == T_DATA)
            continue;
        buf_printf(out, "%d ", t.type);
        if (t.type == T_NAME || t.type == T_FLOAT)
            buf_add(out, t.text, t.len);
    }
    return true;
}

static void
check_template(const uint8_t *data, size_t size, const jsyntax_t *syntax)
{
    buf_auto_t text = BUF_INIT, tame = BUF_INIT, is = BUF_INIT, wanted = BUF_INIT;
    spans_auto_t spans = SPANS_INIT, tame_spans = SPANS_INIT;
    breakout_t out = { 0, 0, NULL };

    draw(data, size, NULL, &text, &spans);
    draw(data, size, "0", &tame, &tame_spans);
    bool fit = jinja_spans_fit(text.data, text.len, syntax, &spans, NULL, &out);
    salt_assert(fit || (out.what != NULL && out.span < spans.n && out.at < text.len));
    /* A template's last line break is dropped, so a piece at the end may change the tokens. */
    if (!fit || (spans.n > 0 && spans.v[spans.n - 1].to == text.len))
        return;
    bool reads = tokens(text.data, text.len, syntax, &is);
    salt_assert(reads == tokens(tame.data, tame.len, syntax, &wanted));
    salt_assert(!reads || strcmp(buf_str(&is), buf_str(&wanted)) == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const jsyntax_t usual = { 0 }, by_line = { .line_statement = "#", .line_comment = "##" };
    py_scope_t scope;

    if (size < 1 || size > 65536)
        return 0;
    py_scope_enter(&scope, &limits);
    if (data[0] == 'j')
        check_json(data + 1, size - 1);
    else if (data[0] == 't')
        check_template(data + 1, size - 1, &usual);
    else if (data[0] == 'l')
        check_template(data + 1, size - 1, &by_line);
    else
        check_yaml(data + 1, size - 1);
    py_clear();
    py_scope_leave(&scope);
    return 0;
}
