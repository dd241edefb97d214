/* high_place.c - error locations and suggestions: the line of the SLS file that declares an ID, and similar
 * names.
 *
 * Jinja and YAML lose the lines. The line is found again in the source: one that begins with the ID, or one
 * whose text around {{ expressions }} matches it. Files are read again for each error, so the number of
 * errors with a location is limited by LIMIT_SUGGESTIONS. */
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/match/match.h"
#include "common/state/high.h"

/* How well a line matches, worst first: by expressions alone (WILD), by expressions and text (PART),
 * literally but indented (INNER), literally at the margin (EXACT). Several WILD lines are ambiguous. */
typedef enum fit { FIT_NONE, FIT_WILD, FIT_PART, FIT_INNER, FIT_EXACT } fit_t;

typedef struct finder {
    const char *id;
    fit_t best;
    size_t line; /* 1-based, of the best */
    size_t same; /* lines that fit so */
} finder_t;

/* Turn the key of "key: value", "'key':" or "key:" into a glob: {{ expressions }} become "*", glob characters
 * are escaped. False when the line is not a key. */
static bool
key_pattern(const char *line, size_t len, buf_t *out, bool *ret_wild, bool *ret_text)
{
    char quote = len > 0 && (*line == '\'' || *line == '"') ? *line : '\0';

    for (size_t i = quote != '\0'; i < len; i++) {
        if (i + 1 < len && line[i] == '{' && line[i + 1] == '{') {
            while (i + 1 < len && (line[i] != '}' || line[i + 1] != '}'))
                i++;
            i++;
            buf_putc(out, '*');
            *ret_wild = true;
            continue;
        }
        if (quote != '\0' ? line[i] == quote : line[i] == ':' && (i + 1 == len || line[i + 1] == ' '))
            return out->len > 0;
        if (strchr("*?[", line[i]) != NULL)
            buf_printf(out, "[%c]", line[i]);
        else
            buf_putc(out, line[i]);
        *ret_text |= line[i] != ' ';
    }
    return false;
}

size_t
sls_line_of(const char *text, const char *id)
{
    finder_t finder = { .id = id };
    size_t number = 1;

    for (const char *line = text, *end; *line != '\0'; line = *end != '\0' ? end + 1 : end, number++) {
        end = strchrnul(line, '\n');

        /* Keep the best match and count the lines that match as well. */
        size_t len = (size_t) (end - line);
        buf_auto_t pattern = BUF_INIT;
        bool wild = false, words = false;
        size_t indent = 0;
        while (indent < len && line[indent] == ' ')
            indent++;
        while (len > indent && strchr(" \r", line[len - 1]) != NULL)
            len--;
        if (len == indent || line[indent] == '#' ||
            !key_pattern(line + indent, len - indent, &pattern, &wild, &words) ||
            !match_glob(buf_str(&pattern), finder.id))
            continue;
        fit_t fit = !wild ? (indent == 0 ? FIT_EXACT : FIT_INNER) : words ? FIT_PART : FIT_WILD;
        if (fit > finder.best) {
            finder.best = fit;
            finder.line = number;
            finder.same = 0;
        }
        finder.same += fit == finder.best;
    }
    return finder.best > FIT_WILD || (finder.best == FIT_WILD && finder.same == 1) ? finder.line : 0;
}

/* Places and hints belong to the error that was added last: they become further lines of its text. */
static void
append_to_last(json_t *errors, const char *text)
{
    size_t n = json_array_size(errors);

    if (n == 0 || *text == '\0')
        return;
    json_array_set_new(errors, n - 1,
                       value_fmt("%s%s", json_string_value(json_array_get(errors, n - 1)), text));
}

void
place_add(const high_env_t *env, json_t *errors, const char *saltenv, const char *sls, const char *id)
{
    buf_auto_t place = BUF_INIT, text = BUF_INIT;

    if (env == NULL || env->from == NULL || json_array_size(errors) > LIMIT_SUGGESTIONS)
        return;
    AUTO_FREE char *key = xasprintf("%s:%s", saltenv, sls);
    const source_t *source = map_get(env->from->sources, key);
    if (source == NULL)
        return;

    /* "at salt://web/init.sls, line 7". The line is searched in the source file, because the rendered data
     * has no lines; without one only the file is named. */
    bool is_base = strcmp(saltenv, "base") == 0;
    buf_printf(&place, "\n    at salt://%s%s%s", source->url,
               is_base ? "" : "?saltenv=", is_base ? "" : saltenv);
    size_t line = fs_read(source->path, LIMIT_TEMPLATE, &text, NULL) < 0 ? 0
                                                                         : sls_line_of(buf_str(&text), id);
    if (line > 0)
        buf_printf(&place, ", line %zu", line);
    append_to_last(errors, buf_str(&place));
}

void
place_note(json_t *errors, const char *text)
{
    AUTO_FREE char *line = xasprintf("\n    %s", text);

    if (json_array_size(errors) <= LIMIT_SUGGESTIONS)
        append_to_last(errors, line);
}

/* ---- suggestions ----------------------------------------------------------------------------- */

/* Appends the nearest word of a walk, if one is near enough (str_suggest()). */
static void
suggest(json_t *errors, const char *word, str_next_fn *next, void *cookie)
{
    const char *near = json_array_size(errors) > LIMIT_SUGGESTIONS ? NULL : str_suggest(word, next, cookie);

    if (near == NULL || strcmp(near, word) == 0)
        return;
    AUTO_FREE char *text = xasprintf("\n    Did you mean '%s'?", near);
    append_to_last(errors, text);
}

typedef struct id_walk {
    const py_t *high;
    size_t at;
} id_walk_t;

static const char *
next_id(void *cookie)
{
    id_walk_t *walk = cookie;
    py_t *id, *body;

    while (py_dict_next(walk->high, &walk->at, &id, &body))
        if (!high_internal(id) && py_is(id, PY_STR))
            return py_cstr(id);
    return NULL;
}

static const char *
next_declaration(void *cookie)
{
    const char *const **at = cookie;

    return **at != NULL ? *(*at)++ : NULL;
}

void
suggest_declaration(json_t *errors, const char *id)
{
    static const char *const declarations[] = { "include", "extend", "exclude", NULL };
    const char *const *at = declarations;

    suggest(errors, id, next_declaration, &at);
}

void
suggest_id(json_t *errors, const py_t *high, const char *id)
{
    id_walk_t walk = { high, 0 };
    suggest(errors, id, next_id, &walk);
}

typedef struct sls_walk {
    const json_t *list;
    size_t at;
} sls_walk_t;

static const char *
next_sls(void *cookie)
{
    sls_walk_t *walk = cookie;
    return json_string_value(json_array_get(walk->list, walk->at++));
}

void
suggest_sls(json_t *errors, const avail_t *avail, const char *sls)
{
    sls_walk_t walk = { avail->list, 0 };
    suggest(errors, sls, next_sls, &walk);
}
