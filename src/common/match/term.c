/* term.c - the leaves of a target: one row of `kinds` per type, with its letter, needs, constructor and
 * matcher.
 *
 * term_parse splits "G;@os;Deb*" by these rows. Terms of untrusted callers are compiled with counted regular
 * expressions and pay for the bytes of their compiled form, as short patterns can become very large. */
#include "common/match/term.h"

#include "common/base/str.h"
#include "common/base/utf8.h"
#include "salt/limits.h"
#include "salt/value.h"

/* ---- making ---------------------------------------------------------------------------------- */

static int
init_glob(term_t *self, const char *text, const char *delim, fail_t *err)
{
    self->wild = wild_new(text, false);
    return 0;
}

static int
init_pcre(term_t *self, const char *text, const char *delim, fail_t *err)
{
    self->rx = rx_new(text, RX_MATCH | (self->counted ? RX_COUNTED : 0), err);
    return self->rx != NULL ? 0 : -EINVAL;
}

/* Adds an id to the set, which owns it as key and value. TAKES `id`. */
static void
add_id(term_t *self, char *id)
{
    if (map_get(self->ids, id) == NULL)
        map_set(self->ids, id, id);
    else
        free(id);
}

/* Salt separates ids by commas; white space is accepted as well, as the command line's -L does. */
static int
init_list(term_t *self, const char *text, const char *delim, fail_t *err)
{
    char **ids = str_split(text, ", \t\r\n", true);

    self->ids = map_new(free);
    for (size_t i = 0; ids[i] != NULL; i++)
        add_id(self, ids[i]);
    free(ids);
    return 0;
}

static int
init_subdict(term_t *self, const char *text, const char *delim, subdict_how_t how, fail_t *err)
{
    self->subdict = subdict_new(text, delim, how, self->counted, err);
    return self->subdict != NULL ? 0 : -EINVAL;
}

static int
init_data_glob(term_t *self, const char *text, const char *delim, fail_t *err)
{
    return init_subdict(self, text, delim, SUBDICT_GLOB, err);
}

static int
init_data_pcre(term_t *self, const char *text, const char *delim, fail_t *err)
{
    return init_subdict(self, text, delim, SUBDICT_REGEX, err);
}

static int
init_data_exact(term_t *self, const char *text, const char *delim, fail_t *err)
{
    return init_subdict(self, text, delim, SUBDICT_EXACT, err);
}

static int
init_ipcidr(term_t *self, const char *text, const char *delim, fail_t *err)
{
    return cidr_parse(&self->cidr, text, err);
}

/* ---- matching -------------------------------------------------------------------------------- */

static bool
match_glob_id(const term_t *self, const match_subject_t *subject)
{
    return wild_match_within(self->wild, subject->id, strlen(subject->id), subject->work);
}

static bool
match_pcre_id(const term_t *self, const match_subject_t *subject)
{
    return rx_match_within(self->rx, subject->id, strlen(subject->id), subject->work);
}

static bool
match_listed(const term_t *self, const match_subject_t *subject)
{
    return map_get(self->ids, subject->id) != NULL;
}

static bool
match_grains(const term_t *self, const match_subject_t *subject)
{
    return subdict_match(self->subdict, subject->grains, subject->work);
}

static bool
match_pillar(const term_t *self, const match_subject_t *subject)
{
    return subdict_match(self->subdict, subject->pillar, subject->work);
}

static bool
match_address(const term_t *self, const match_subject_t *subject)
{
    return cidr_match(&self->cidr, subject->grains, subject->work);
}

static const term_kind_t kinds[] = {
    { TGT_GLOB, "glob", 0, false, 0, init_glob, match_glob_id },
    { TGT_PCRE, "pcre", 'E', false, 0, init_pcre, match_pcre_id },
    { TGT_LIST, "list", 'L', false, 0, init_list, match_listed },
    { TGT_GRAIN, "grain", 'G', true, NEEDS_GRAINS | NEEDS_CLAIMS, init_data_glob, match_grains },
    { TGT_GRAIN_PCRE, "grain_pcre", 'P', true, NEEDS_GRAINS | NEEDS_CLAIMS, init_data_pcre, match_grains },
    { TGT_PILLAR, "pillar", 'I', true, NEEDS_PILLAR, init_data_glob, match_pillar },
    { TGT_PILLAR_PCRE, "pillar_pcre", 'J', true, NEEDS_PILLAR, init_data_pcre, match_pillar },
    { TGT_PILLAR_EXACT, "pillar_exact", 0, true, NEEDS_PILLAR, init_data_exact, match_pillar },
    { TGT_IPCIDR, "ipcidr", 'S', false, NEEDS_GRAINS | NEEDS_CLAIMS, init_ipcidr, match_address },
    { TGT_NODEGROUP, "nodegroup", 'N', false, 0, NULL, NULL },
    { TGT_COMPOUND, "compound", 0, false, 0, NULL, NULL },
};
_Static_assert(NELEMS(kinds) == TGT_TYPES, "one row for each type of target, in their order");

/* ---- looking up ------------------------------------------------------------------------------ */

const char *
tgt_type_name(tgt_type_t t)
{
    return kinds[t].name;
}

bool
tgt_type_parse(const char *name, tgt_type_t *ret_t)
{
    for (size_t i = 0; i < NELEMS(kinds); i++) {
        if (str_eq(kinds[i].name, name)) {
            *ret_t = kinds[i].type;
            return true;
        }
    }
    return false;
}

const term_kind_t *
term_kind_of(tgt_type_t type)
{
    return &kinds[type];
}

/* A word that has no letter of a kind is a glob. `delim` is "" where the word names none. */
const term_kind_t *
term_parse(const char *word, char delim[8], const char **ret_text)
{
    const term_kind_t *kind = NULL;
    uint32_t cp;
    size_t n = 0;

    for (size_t i = 0; i < NELEMS(kinds) && kind == NULL; i++)
        kind = kinds[i].letter != 0 && kinds[i].letter == word[0] ? &kinds[i] : NULL;

    delim[0] = '\0';
    *ret_text = word;
    if (kind == NULL)
        return &kinds[TGT_GLOB];
    if (kind->has_delim && word[1] != '\0') {
        n = utf8_next(word + 1, strlen(word + 1), &cp);
        n = n > 0 && word[1 + n] == '@' && word[2 + n] != '\0' ? n : 0;
    }
    if (word[1 + n] != '@' || word[2 + n] == '\0')
        return &kinds[TGT_GLOB];
    memcpy(delim, word + 1, n);
    delim[n] = '\0';
    *ret_text = word + 2 + n;
    return kind;
}

/* Compiled bytes that cost one step: compiling a byte is much cheaper than matching, but a pattern of a few
 * letters may have 60 kB of them. */
#define BYTES_PER_STEP 8

/* NEW, or NULL with *err. With `work` the text is of an untrusted caller, and its length is bounded. */
term_t *
term_new(const term_kind_t *kind, const char *text, const char *delim, match_work_t *work, fail_t *err)
{
    if (work != NULL && kind->type != TGT_LIST && strlen(text) > LIMIT_TERM_LEN) {
        fail_set(err, -E2BIG, "\"%.100s...\" is longer than %d bytes", text, LIMIT_TERM_LEN);
        return NULL;
    }

    /* Makes the term; its kind reads the text. */
    bool counted = work != NULL;
    term_t *self = xcalloc(1, sizeof(*self));
    self->kind = kind;
    self->counted = counted;
    if (kind->init(self, text, str_empty(delim) ? ":" : delim, err) < 0)
        term_destroy(&self);

    /* Compiled regular expressions are paid by the byte. */
    size_t size = self != NULL && self->rx != NULL ? rx_size(self->rx) : 0;
    size += self != NULL && self->subdict != NULL ? subdict_size(self->subdict) : 0;
    if (self != NULL && !match_work_take(work, 1 + size / BYTES_PER_STEP)) {
        match_work_fail(err);
        term_destroy(&self);
    }
    return self;
}

/* Ids of an array, one item each: nothing in them separates. NEW. */
term_t *
term_new_list(const json_t *ids)
{
    term_t *self = xcalloc(1, sizeof(*self));
    size_t i;
    json_t *id;

    self->kind = &kinds[TGT_LIST];
    self->ids = map_new(free);
    json_array_foreach (ids, i, id)
        add_id(self, value_pystr(id));
    return self;
}

/* The id is known from the key, not from the minion's word: "G@id:x" needs no claims. */
unsigned
term_needs(const term_t *self)
{
    bool fact = self->subdict != NULL && subdict_is_of(self->subdict, "id");

    return fact ? self->kind->needs & ~(unsigned) NEEDS_CLAIMS : self->kind->needs;
}

void
term_destroy(term_t **self_p)
{
    term_t *self = *self_p;

    if (self == NULL)
        return;
    wild_destroy(&self->wild);
    rx_destroy(&self->rx);
    subdict_destroy(&self->subdict);
    map_destroy(&self->ids);
    free(self);
    *self_p = NULL;
}
