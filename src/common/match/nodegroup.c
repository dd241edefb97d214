/* nodegroup.c - splits compound targets into words and expands N@group by the configuration's nodegroups.
 *
 * A group's words are wrapped in parentheses; a group that lists plain ids becomes one L@ (or E@) term, as
 * salt.utils.minions.nodegroup_comp does. Recursion stops at a group that is already open, at
 * LIMIT_TARGET_DEPTH, and at LIMIT_TARGET_TERMS words in all. */
#include "common/base/buf.h"
#include "common/base/str.h"
#include "common/base/utf8.h"
#include "common/match/patterns.h"
#include "common/match/term.h"
#include "salt/limits.h"
#include "salt/value.h"

static const char SPACES[] = " \t\r\n\v\f";

void
words_add(words_t *self, const char *text, size_t len, size_t position)
{
    if (self->n == self->cap) {
        self->cap = self->cap == 0 ? 16 : self->cap * 2;
        self->items = xrealloc(self->items, self->cap * sizeof(*self->items));
    }
    self->items[self->n++] = (word_t){ xstrndup(text, len), position };
}

/* Positions count characters, not bytes. Each gap is counted once, so splitting is linear. */
void
words_split(words_t *self, const char *expr)
{
    const char *counted = expr;
    size_t position = 1;

    for (const char *at = expr + strspn(expr, SPACES); *at != '\0'; at += strspn(at, SPACES)) {
        size_t len = strcspn(at, SPACES);
        position += utf8_count(counted, (size_t) (at - counted));
        counted = at;
        words_add(self, at, len, position);
        at += len;
    }
}

void
words_free(words_t *self)
{
    for (size_t i = 0; i < self->n; i++)
        free(self->items[i].text);
    free(self->items);
    memset(self, 0, sizeof(*self));
}

/* ---- expansion ------------------------------------------------------------------------------- */

typedef struct expansion {
    const json_t *nodegroups;
    words_t *out;
    size_t position; /* of the word that is being expanded */
    const char *open[LIMIT_TARGET_DEPTH];
    size_t depth;
    fail_t *err;
} expansion_t;

static int expand_word(expansion_t *x, const char *word);

/* "L@" when the words are ids only: no operator, wildcard or letter among them; "E@" when one looks like a
 * regular expression. NULL for other words. */
static const char *
list_letter(const words_t *words)
{
    static const char *const operators[] = { "and", "or", "not", "(", ")" };
    const char *letter = "L@";

    for (size_t i = 0; i < words->n; i++) {
        const char *text = words->items[i].text, *rest;
        char delim[8];
        for (size_t k = 0; k < NELEMS(operators); k++)
            if (strcmp(text, operators[k]) == 0)
                return NULL;
        if (strchr(text, '*') != NULL)
            return NULL;
        if (term_parse(text, delim, &rest)->type != TGT_GLOB || str_starts(text, "R@"))
            return NULL;
        if (strpbrk(text, "([{\\?}])") != NULL)
            letter = "E@";
    }
    return letter;
}

/* Words of a group's definition: text is split, a list is taken item by item. Positions are unknown (0). */
static int
group_words(const expansion_t *x, const char *name, const json_t *group, words_t *words)
{
    size_t i;
    json_t *item;

    if (json_is_string(group)) {
        words_split(words, json_string_value(group));
    } else if (json_is_array(group)) {
        json_array_foreach (group, i, item) {
            AUTO_FREE char *text = value_pystr(item);
            words_add(words, text, strlen(text), 0);
        }
    } else {
        return fail_set(x->err, -EINVAL, "node group \"%.100s\" is neither text nor a list", name);
    }
    if (words->n == 0)
        return fail_set(x->err, -EINVAL, "node group \"%.100s\" is empty", name);
    return 0;
}

/* A list of ids is one term; other words stay a group of their own. */
static int
nodegroup_add_words(expansion_t *x, const words_t *words)
{
    const char *letter = list_letter(words);
    int rc = 0;

    if (letter != NULL) {
        buf_auto_t joined = BUF_INIT;
        buf_puts(&joined, letter);
        for (size_t i = 0; i < words->n; i++)
            buf_printf(&joined, "%s%s", i > 0 ? "," : "", words->items[i].text);
        words_add(x->out, buf_str(&joined), joined.len, x->position);
        return 0;
    }
    words_add(x->out, "(", 1, x->position);
    for (size_t i = 0; i < words->n && rc == 0; i++)
        rc = expand_word(x, words->items[i].text);
    words_add(x->out, ")", 1, x->position);
    return rc;
}

/* Appends a word, or the words of the group that it names. */
static int
expand_word(expansion_t *x, const char *word)
{
    if (x->out->n >= LIMIT_TARGET_TERMS)
        return fail_set(x->err, -E2BIG, "more than %d words after node groups are expanded",
                        LIMIT_TARGET_TERMS);
    if (str_starts(word, "N@") && word[2] != '\0') {
        /* `open` is the chain of groups that are being expanded. */
        const char *name = word + 2;
        const json_t *group = value_get(x->nodegroups, name);
        words_t words = { NULL, 0, 0 };
        if (group == NULL)
            return fail_set(x->err, -ENOENT, "node group \"%.100s\" is not in the configuration's nodegroups",
                            name);
        for (size_t i = 0; i < x->depth; i++) {
            if (strcmp(x->open[i], name) == 0)
                return fail_set(x->err, -ELOOP, "node group \"%.100s\" contains itself", name);
        }
        if (x->depth == LIMIT_TARGET_DEPTH)
            return fail_set(x->err, -E2BIG, "node groups are nested deeper than %d", LIMIT_TARGET_DEPTH);
        x->open[x->depth++] = name;
        int rc = group_words(x, name, group, &words);
        if (rc == 0)
            rc = nodegroup_add_words(x, &words);
        words_free(&words);
        x->depth--;
        return rc;
    }
    words_add(x->out, word, strlen(word), x->position);
    return 0;
}

int
nodegroup_expand(const words_t *in, const json_t *nodegroups, words_t *out, fail_t *err)
{
    expansion_t x = { .nodegroups = nodegroups, .out = out, .err = err };
    int rc = 0;

    for (size_t i = 0; i < in->n && rc == 0; i++) {
        x.position = in->items[i].position;
        rc = expand_word(&x, in->items[i].text);
        if (rc < 0 && x.position > 0)
            fail_prefix(err, "character %zu: ", x.position);
    }
    return rc;
}

/* Joins words to an expression: text, or a list when a word contains a space. NEW. */
static json_t *
words_target(const words_t *words)
{
    buf_auto_t text = BUF_INIT;
    json_t *list = json_array();
    bool plain = true;

    for (size_t i = 0; i < words->n; i++) {
        const char *word = words->items[i].text;
        plain = plain && strpbrk(word, SPACES) == NULL;
        buf_printf(&text, "%s%s", i > 0 ? " " : "", word);
        json_array_append_new(list, json_string(word));
    }
    if (!plain)
        return list;
    json_decref(list);
    return json_string(buf_str(&text));
}

/* The compound target that a group stands for, for programs that know no groups. NEW, or NULL with *err. */
json_t *
nodegroup_target(const char *name, const json_t *nodegroups, fail_t *err)
{
    words_t in = { NULL, 0, 0 }, out = { NULL, 0, 0 };
    AUTO_FREE char *word = xasprintf("N@%s", name);

    words_add(&in, word, strlen(word), 0);
    json_t *target = nodegroup_expand(&in, nodegroups, &out, err) == 0 ? words_target(&out) : NULL;
    words_free(&in);
    words_free(&out);
    return target;
}
