/* complete.c - see complete.h. */
#include "common/cli/complete.h"

#include "common/base/str.h"
#include "common/cli/optrow.h"
#include "salt/value.h"

/* Characters that every shell takes literally. A name with any other character is not offered: peers choose
 * names, and the shell would expand or run them. A name that begins with '-' would be read as an option. */
#define HARMLESS "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ._+@:,=-"

/* True for "PROG --complete ...", as the shells' scripts call it. The word to complete is the last. */
bool
complete_asked(int argc, char **argv)
{
    if (argc < 3 || !str_eq(argv[1], "--complete"))
        return false;
    /* When /dev/null cannot be opened, freopen() has closed stderr, which is silent as well. */
    FILE *silent = freopen("/dev/null", "w", stderr);
    (void) silent;
    return true;
}

/* ---- the words before ------------------------------------------------------------------------ */

/* The row that has this very name. A prefix of a name is not enough: the word before may be unfinished
 * too. */
static const opt_row_t *
row_named(const opt_spec_t *spec, const char *text, size_t text_len)
{
    const opt_row_t *row;
    const char *name;
    size_t len;

    for (size_t t = 0, r = 0; (row = optrow_next(spec, &t, &r)) != NULL;)
        for (const char *pos = row->names; (name = optrow_next_name(&pos, &len)) != NULL;)
            if (len == text_len && strncmp(name, text, len) == 0)
                return row;
    return NULL;
}

/* Stores an option as optparse.c does, without checking the value: a bad one is the program's to refuse
 * later. */
static void
complete_take_option(complete_t *self, const opt_row_t *row, const char *value)
{
    AUTO_FREE char *key = optrow_key(row);

    value = value != NULL ? value : row->value;
    json_object_set_new(self->values, key, value != NULL ? value_utf8(value, strlen(value)) : json_true());
}

/* Reads letters in a row ("-vt5"). Returns the row that wants the next word as its value, or NULL. */
static const opt_row_t *
take_letters(complete_t *self, const opt_spec_t *spec, const char *word)
{
    for (const char *c = word + 1; *c != '\0'; c++) {
        char name[3] = { '-', *c, '\0' };
        const opt_row_t *row = row_named(spec, name, 2);
        if (row == NULL)
            return NULL;
        if (optrow_takes_value(row) && c[1] == '\0')
            return row;
        complete_take_option(self, row, optrow_takes_value(row) ? c + 1 : NULL);
        if (optrow_takes_value(row))
            return NULL;
    }
    return NULL;
}

/* Reads "--timeout=5" or "--timeout". Returns the row that wants the next word as its value, or NULL. */
static const opt_row_t *
take_long(complete_t *self, const opt_spec_t *spec, const char *word)
{
    size_t len = strcspn(word, "=");
    const opt_row_t *row = row_named(spec, word, len);

    if (row == NULL)
        return NULL;
    if (optrow_takes_value(row) && word[len] == '\0')
        return row;
    complete_take_option(self, row, word[len] == '=' ? word + len + 1 : NULL);
    return NULL;
}

void
complete_begin(complete_t *self, const opt_spec_t *spec, int argc, char **argv)
{
    const char *last = argv[argc - 1];
    size_t len = strcspn(last, "=");

    *self = (complete_t){ .values = json_object(), .args = xcalloc(1, sizeof(char *)), .out = stdout };
    for (int i = 2; i < argc - 1; i++) {
        /* Takes one word before the one to complete. It is the value of the option before it, an argument,
         * or an option, whose row is kept when its value comes next. An unknown option is passed over. */
        char *word = argv[i];
        const opt_row_t *row = self->row;
        self->row = NULL;
        if (row != NULL) {
            complete_take_option(self, row, word);
        } else if (word[0] != '-' || word[1] == '\0') {
            self->args = xrealloc(self->args, (self->n_args + 2) * sizeof(*self->args));
            self->args[self->n_args++] = xstrdup(word);
            self->args[self->n_args] = NULL;
        } else {
            self->row = optrow_is_long(word) ? take_long(self, spec, word) : take_letters(self, spec, word);
        }
    }
    bool is_value = self->row == NULL && optrow_is_long(last) && last[len] == '=';
    if (is_value)
        self->row = row_named(spec, last, len);
    self->lead = xstrndup(last, is_value ? len + 1 : 0);
    self->part = xstrdup(last + strlen(self->lead));
}

void
complete_free(complete_t *self)
{
    json_decref(self->values);
    strv_free(self->args);
    free(self->lead);
    free(self->part);
}

/* ---- the word -------------------------------------------------------------------------------- */

/* Moves the first `n` bytes of the part into the lead, so that names are compared with the rest only. */
static void
move_lead(complete_t *self, size_t n)
{
    char *lead = xasprintf("%s%.*s", self->lead, (int) n, self->part), *part = xstrdup(self->part + n);

    free(self->lead);
    free(self->part);
    self->lead = lead;
    self->part = part;
}

/* In a list only the part behind the last separator is completed. */
void
complete_split(complete_t *self, char separator)
{
    const char *at = strrchr(self->part, separator);

    if (at != NULL)
        move_lead(self, (size_t) (at + 1 - self->part));
}

/* Passes over a text that the part begins with, such as a function's argument name. False: it does not. */
bool
complete_lead(complete_t *self, const char *text)
{
    if (!str_starts(self->part, text))
        return false;
    move_lead(self, strlen(text));
    return true;
}

/* Prints a name that fits and that every shell takes literally. */
void
complete_offer(complete_t *self, const char *name)
{
    if (*name != '\0' && *name != '-' && str_starts(name, self->part) && name[strspn(name, HARMLESS)] == '\0')
        (void) fprintf(self->out, "%s%s\n", self->lead, name);
}

void
complete_offer_all(complete_t *self, const json_t *names)
{
    size_t i;
    json_t *name;

    json_array_foreach ((json_t *) names, i, name)
        if (json_is_string(name))
            complete_offer(self, json_string_value(name));
}

/* ---- closed sets ----------------------------------------------------------------------------- */

static void
offer_words(complete_t *self, const char *words, const char *separator)
{
    char **list = str_split(words, separator, true);

    for (size_t i = 0; list[i] != NULL; i++)
        complete_offer(self, list[i]);
    strv_free(list);
}

/* Values of the option before, where they are a closed set. False: they are not. */
bool
complete_choices(complete_t *self)
{
    static const char *const outputters[] = {
#define OUTPUTTER(name, function, claimed, values) #name,
#include "common/output/outputters.def"
    };
    AUTO_FREE char *key = self->row != NULL ? optrow_key(self->row) : NULL;

    if (key == NULL)
        return false;
    if (self->row->choices != NULL)
        offer_words(self, self->row->choices, "|");
    else if (self->row->kind == OPT_BOOL)
        offer_words(self, "True False", " ");
    else if (str_eq(key, "output"))
        for (size_t i = 0; i < NELEMS(outputters); i++)
            complete_offer(self, outputters[i]);
    else
        return false;
    return true;
}

int
complete_options(const opt_spec_t *spec, int argc, char **argv)
{
    complete_t self;

    complete_begin(&self, spec, argc, argv);
    (void) complete_choices(&self);
    complete_free(&self);
    return 0;
}
