/* keywords.c - see keywords.h. */
#include "common/plugin/keywords.h"

#include "common/base/str.h"
#include "common/plugin/place.h"

bool
keyword_any(const func_t *f)
{
    return shape_of(f).starstar != NULL;
}

static bool
has_word(char *const *words, const char *word)
{
    while (*words != NULL && strcmp(*words, word) != 0)
        words++;
    return *words != NULL;
}

/* The names one after the other: arguments and words that are not given, then the common ones. A template's
 * variable `users` beside `user` is none of its misspellings; `reqiure` beside `require` is. */
typedef struct name_walk {
    const keyword_names_t *names;
    const func_t *f;  /* the one whose rows are walked */
    const arg_t *row; /* NULL: behind the last one */
    char *const *word;
    size_t common;
} name_walk_t;

static const char *
next_own(name_walk_t *self)
{
    const func_t *first = self->names->f, *also = self->names->also;

    /* A mod_watch that is called itself is its own `also`: it is walked once. */
    for (; self->f != NULL; self->f = self->f == first && also != first ? also : NULL) {
        const arg_t *row = self->row != NULL ? self->row + 1 : self->f->args;
        while (row != NULL && row->text != NULL && *arg_dflt(row) == '*')
            row++;
        self->row = row != NULL && row->text != NULL ? row : NULL;
        if (self->row != NULL)
            return arg_name(self->row);
    }
    return *self->word != NULL ? *self->word++ : NULL;
}

static const char *
keywords_next_name(void *cookie)
{
    name_walk_t *self = cookie;
    const char *name;

    while ((name = next_own(self)) != NULL && value_get(self->names->given, name) != NULL)
        continue;
    if (name == NULL && self->common < self->names->n_common)
        name = self->names->common[self->common++];
    return name;
}

keyword_fit_t
keyword_fit(const keyword_names_t *names, const char *key, char **ret_near)
{
    shape_t shape = shape_of(names->f), also = { 0 };

    /* The words of `takes`. */
    const arg_t *row = shape.starstar;
    char **words = str_split(row != NULL ? arg_takes(row) : "", " ", true);

    bool free_for_all = shape.starstar != NULL && *arg_takes(shape.starstar) == '\0';
    name_walk_t walk = { .names = names, .f = free_for_all ? NULL : names->f, .word = words };
    keyword_fit_t fit = KEYWORD_NAMED;
    const char *near;

    *ret_near = NULL;
    if (names->also != NULL)
        also = shape_of(names->also);
    if (shape_named(&shape, key) != NULL || shape_named(&also, key) != NULL || has_word(words, key))
        fit = KEYWORD_NAMED;
    else if ((near = (shape.starstar != NULL ? str_typo_of : str_suggest)(key, keywords_next_name, &walk)) !=
             NULL) {
        *ret_near = xstrdup(near);
        fit = KEYWORD_TYPO;
    } else
        fit = free_for_all || has_word(words, "*") ? KEYWORD_TAKEN : KEYWORD_NONE;
    strv_free(words);
    return fit;
}

void
keyword_hints(const json_t *typos, buf_t *out)
{
    const char *typed;
    json_t *meant;

    json_object_foreach ((json_t *) typos, typed, meant) {
        buf_printf(out, "; is '%s' meant", json_string_value(meant));
        if (json_object_size(typos) > 1)
            buf_printf(out, " by '%s'", typed);
        buf_putc(out, '?');
    }
}
