/* args.c - turns the words of a command line into values, as salt.utils.args does.
 *
 * Each word is read as YAML, so that "5" is a number and "[1, 2]" a list. Exceptions keep free text whole:
 * words that YAML would shorten or reinterpret (comments, mappings without braces, "1_000") stay text.
 * Keyword arguments travel in one object behind the positional ones, marked by "__kwarg__", which is Salt's
 * wire format. */
#include "common/data/args.h"

#include "common/base/str.h"
#include "common/base/utf8.h"
#include "common/data/yaml.h"
#include "salt/limits.h"
#include "salt/value.h"

#define SPACES " \t\n\r\f\v"

static const char kwarg_mark[] = "__kwarg__";

/* Words that YAML would lose or change stay text: blanks, document marks, digits with underscores, tabs and
 * line breaks. */
static bool
is_plain_word(const char *word)
{
    static const char *const kept[] = { "", "---", "..." };
    const char *start = word + strspn(word, SPACES);
    size_t len = strlen(start);

    while (len > 0 && strchr(SPACES, start[len - 1]) != NULL)
        len--;
    for (size_t i = 0; i < NELEMS(kept); i++) {
        if (strlen(kept[i]) == len && memcmp(start, kept[i], len) == 0)
            return true;
    }
    if (strpbrk(word, "\t\r\n") != NULL)
        return true;
    return memchr(start, '_', len) != NULL && strspn(start, "0123456789_") >= len;
}

/* True when Salt keeps the value that YAML made of the word. Containers count only in their brackets ("a: b"
 * stays text), and a value that lost text to a "#" comment is discarded in favour of the word. */
static bool
args_takes(const json_t *v, const char *word)
{
    bool lost = json_is_null(v) || (json_is_string(v) && json_string_length(v) == 0);

    if (strchr(word, '#') != NULL)
        return !json_is_string(v) && !json_is_null(v);
    if (json_is_object(v))
        return *word == '{';
    if (json_is_array(v))
        return *word == '[';
    return !(lost && (str_eq(word, "|") || str_eq(word, "!")));
}

json_t *
arg_type_word_within(const char *word, size_t max_nodes, fail_t *err)
{
    size_t len = strlen(word);

    if (str_eq(word, "None"))
        return json_null();
    if (!is_plain_word(word)) {
        fail_auto_t why = FAIL_INIT;
        json_t *v = yaml_load_within(word, len, "argument", max_nodes, &why);
        if (v != NULL && args_takes(v, word))
            return v;
        json_decref(v);
        if (why.code == -E2BIG) {
            (void) fail_set(err, -E2BIG, "%s", fail_text(&why));
            return NULL;
        }
    }
    return value_utf8(word, len);
}

json_t *
arg_type_word(const char *word)
{
    json_t *v = arg_type_word_within(word, LIMIT_YAML_NODES, NULL);

    return v != NULL ? v : value_utf8(word, strlen(word));
}

/* Code points beyond ASCII that Python's \w does not match: punctuation, symbols, spaces, private use. */
static const struct {
    uint32_t from, to;
} not_words[] = {
    { 0x80, 0xa9 },     { 0xab, 0xb1 },     { 0xb4, 0xb4 },     { 0xb6, 0xb8 },       { 0xbb, 0xbb },
    { 0xbf, 0xbf },     { 0xd7, 0xd7 },     { 0xf7, 0xf7 },     { 0x2000, 0x206f },   { 0x207a, 0x207e },
    { 0x208a, 0x208e }, { 0x20a0, 0x20ff }, { 0x2190, 0x245f }, { 0x249c, 0x24e9 },   { 0x2500, 0x2775 },
    { 0x2794, 0x2bff }, { 0x2e00, 0x2e2e }, { 0x3000, 0x3004 }, { 0x3008, 0x3020 },   { 0xe000, 0xf8ff },
    { 0xfe10, 0xfe6f }, { 0xff00, 0xff0f }, { 0xfff0, 0xffff }, { 0x1f000, 0x1f0ff }, { 0x1f110, 0x1faff },
};

static bool
is_word_char(uint32_t cp)
{
    if (cp < 0x80)
        return cp == '_' || (cp >= '0' && cp <= '9') || ((cp | 0x20) >= 'a' && (cp | 0x20) <= 'z');
    for (size_t i = 0; i < NELEMS(not_words); i++) {
        if (cp >= not_words[i].from && cp <= not_words[i].to)
            return false;
    }
    return true;
}

/* salt.utils.args.KWARG_REGEX: a name of word characters (with '.' and '-' after the first), then '=' that no
 * second '=' follows, then the rest of one line; one newline at the very end is allowed, as Python's `$`
 * allows it. */
size_t
args_keyword_len(const char *word)
{
    const char *p = word, *end = word + strlen(word);
    uint32_t cp;

    for (size_t n; p < end && *p != '='; p += n) {
        n = utf8_next(p, (size_t) (end - p), &cp);
        bool fits = n > 0 && (is_word_char(cp) || (p > word && (cp == '.' || cp == '-')));
        if (!fits || (p == word && cp >= '0' && cp <= '9'))
            return 0;
    }
    if (p == word || p == end || p[1] == '=')
        return 0;
    const char *newline = strchr(p, '\n');
    return newline == NULL || newline + 1 == end ? (size_t) (p - word) : 0;
}

json_t *
args_parse(char *const *words, size_t n, const json_t *no_parse)
{
    json_t *args = json_array();
    json_auto_t *kwargs = json_object();

    json_object_set_new(kwargs, kwarg_mark, json_true());
    for (size_t i = 0; i < n; i++) {
        size_t name_len = args_keyword_len(words[i]);
        if (name_len > 0) {
            /* Adds one "name=value" word. A user cannot forge the mark: a keyword of that name is dropped. */
            const char *word = words[i];
            AUTO_FREE char *name = xstrndup(word, name_len);
            const char *text = word + name_len + 1;
            AUTO_FREE char *value = xstrndup(text, strcspn(text, "\n"));
            if (!str_eq(name, kwarg_mark))
                json_object_set_new(kwargs, name,
                                    value_lists(no_parse, name) ? value_utf8(value, strlen(value))
                                                                : arg_type_word(value));
        } else {
            json_array_append_new(args, arg_type_word(words[i]));
        }
    }
    if (json_object_size(kwargs) > 1)
        json_array_append(args, kwargs);
    return args;
}

void
args_split(const json_t *arg, json_t **ret_args, json_t **ret_kwargs)
{
    size_t i;
    json_t *item;

    *ret_args = json_array();
    *ret_kwargs = json_object();
    json_array_foreach (arg, i, item) {
        if (json_is_true(json_object_get(item, kwarg_mark)))
            json_object_update(*ret_kwargs, item);
        else
            json_array_append(*ret_args, item);
    }
    json_object_del(*ret_kwargs, kwarg_mark);
}

json_t *
args_shown(const json_t *arg)
{
    json_t *shown = json_is_array(arg) ? json_array() : json_incref((json_t *) arg), *item;
    size_t i;

    json_array_foreach (arg, i, item) {
        if (json_is_array(item)) { /* of one of several functions */
            json_array_append_new(shown, args_shown(item));
            continue;
        }
        json_t *copy = json_is_object(item) ? json_copy(item) : json_incref(item);
        if (json_is_object(copy))
            json_object_del(copy, kwarg_mark);
        json_array_append_new(shown, copy);
    }
    return shown;
}
