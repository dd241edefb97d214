/* target.c - targets of all types, parsed to a tree of terms.
 *
 * A table maps each type to its parsers for text and for arrays; types without a row are one term. Node
 * groups are compound targets of one N@ word. The needs of all terms are collected once, so that callers load
 * grains and pillar only when a term reads them. */
#include "common/base/str.h"
#include "common/match/compound.h"
#include "common/match/match.h"
#include "salt/limits.h"
#include "salt/value.h"

struct target {
    tgt_type_t type;
    node_t *root;
    char *exact; /* the id, for a glob without wildcards */
    unsigned needs;
};

/* Arguments of the parsers, with the budget that pays for them. */
typedef struct ask {
    const json_t *expr;
    tgt_type_t type;
    const json_t *nodegroups;
    const char *delim;
    match_work_t *work;
    fail_t *err;
} ask_t;

typedef node_t *parse_fn(const ask_t *ask);

static node_t *
parse_plain(const ask_t *ask)
{
    term_t *term = term_new(term_kind_of(ask->type), json_string_value(ask->expr), ask->delim, ask->work,
                            ask->err);

    return term != NULL ? node_of_term(&term) : NULL;
}

/* Expands node groups, then parses: a group may hold a part of an expression only as a whole. */
static node_t *
parse_words(const ask_t *ask, const words_t *words)
{
    words_t expanded = { NULL, 0, 0 };
    node_t *root = NULL;

    if (nodegroup_expand(words, ask->nodegroups, &expanded, ask->err) == 0)
        root = compound_parse(&expanded, ask->work, ask->err);
    words_free(&expanded);
    return root;
}

static node_t *
parse_compound(const ask_t *ask)
{
    words_t words = { NULL, 0, 0 };

    words_split(&words, json_string_value(ask->expr));
    node_t *root = parse_words(ask, &words);
    words_free(&words);
    return root;
}

static node_t *
parse_nodegroup(const ask_t *ask)
{
    words_t words = { NULL, 0, 0 };
    AUTO_FREE char *word = xasprintf("N@%s", json_string_value(ask->expr));

    words_add(&words, word, strlen(word), 0);
    node_t *root = parse_words(ask, &words);
    words_free(&words);
    return root;
}

static node_t *
parse_list_array(const ask_t *ask)
{
    term_t *term = term_new_list(ask->expr);

    return node_of_term(&term);
}

static node_t *
parse_compound_array(const ask_t *ask)
{
    words_t words = { NULL, 0, 0 };
    size_t i;
    json_t *item;

    json_array_foreach (ask->expr, i, item) {
        AUTO_FREE char *text = value_pystr(item);
        words_add(&words, text, strlen(text), 0);
    }
    node_t *root = parse_words(ask, &words);
    words_free(&words);
    return root;
}

static const struct {
    parse_fn *text, *array;
} parsers[TGT_TYPES] = {
    [TGT_LIST] = { parse_plain, parse_list_array },
    [TGT_COMPOUND] = { parse_compound, parse_compound_array },
    [TGT_NODEGROUP] = { parse_nodegroup, NULL },
};

static node_t *
target_parse(const ask_t *ask)
{
    tgt_type_t type = ask->type;
    parse_fn *fn = parsers[type].text != NULL ? parsers[type].text : parse_plain;
    size_t i, size = json_string_length(ask->expr);
    json_t *item;

    /* Items of an array count one more for their separator. */
    json_array_foreach (ask->expr, i, item)
        size += json_string_length(item) + 1;
    if (size > LIMIT_TARGET_LEN) {
        fail_set(ask->err, -E2BIG, "it is longer than %d bytes", LIMIT_TARGET_LEN);
        return NULL;
    }
    if (json_is_array(ask->expr))
        fn = parsers[type].array;
    else if (!json_is_string(ask->expr))
        fn = NULL;
    if (fn == NULL) {
        fail_set(ask->err, -EINVAL, "expected text%s", parsers[type].array != NULL ? " or a list" : "");
        return NULL;
    }
    return fn(ask);
}

target_t *
target_new(const json_t *expr, tgt_type_t type, const json_t *nodegroups, const char *delim, fail_t *err)
{
    return target_new_within(expr, type, nodegroups, delim, NULL, err);
}

/* `work` pays for parsing; NULL for targets of the configuration and of operators. NEW, or NULL with *err. */
target_t *
target_new_within(const json_t *expr, tgt_type_t type, const json_t *nodegroups, const char *delim,
                  match_work_t *work, fail_t *err)
{
    ask_t ask = { expr, type, nodegroups, delim, work, err };
    node_t *root = target_parse(&ask);

    if (root == NULL) {
        fail_prefix(err, "%s target: ", tgt_type_name(type));
        return NULL;
    }
    target_t *self = xcalloc(1, sizeof(*self));
    self->type = type;
    self->root = root;
    self->needs = node_needs(root);
    if (type == TGT_GLOB && !match_has_glob(json_string_value(expr)))
        self->exact = xstrdup(json_string_value(expr));
    return self;
}

void
target_destroy(target_t **self_p)
{
    target_t *self = *self_p;

    if (self == NULL)
        return;
    node_destroy(&self->root);
    free(self->exact);
    free(self);
    *self_p = NULL;
}

void
target_pillar_exact(target_t *self)
{
    node_pillar_exact(self->root);
}

size_t
target_pillar_terms(const target_t *self)
{
    return node_pillar_terms(self->root);
}

/* A used up budget makes a term false, which a "not" would turn to true; hence the second check. */
bool
target_match(const target_t *self, const match_subject_t *subject)
{
    return node_match(self->root, subject) && (subject->work == NULL || !subject->work->spent);
}

bool
target_needs_grains(const target_t *self)
{
    return (self->needs & NEEDS_GRAINS) != 0;
}

bool
target_needs_pillar(const target_t *self)
{
    return (self->needs & NEEDS_PILLAR) != 0;
}

bool
target_needs_claims(const target_t *self)
{
    return (self->needs & NEEDS_CLAIMS) != 0;
}

/* The ids of a target that names them all, so that callers need not try each minion. NEW array; NULL: it does
 * not. */
json_t *
target_ids(const target_t *self)
{
    const char *id;
    void *value;

    if (self->exact != NULL)
        return json_pack("[s]", self->exact);
    if (self->type != TGT_LIST)
        return NULL;
    json_t *ids = json_array();
    for (size_t i = 0; map_next(self->root->term->ids, &i, &id, &value);)
        json_array_append_new(ids, json_string(id));
    return ids;
}
