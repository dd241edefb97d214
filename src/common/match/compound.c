/* compound.c - the grammar of compound targets, with Python's precedence: not, and, or.
 *
 *   either = all { "or" all }
 *   all    = one { "and" one | one that starts with "not" }
 *   one    = [ "not" ] ( "(" either ")" | term )
 *
 * A recursive descent parser over words builds a tree of nodes; siblings are linked by `next`. Parentheses
 * count against LIMIT_TARGET_DEPTH, which bounds the recursion of parsing, matching and destruction. Words
 * keep their position in the user's expression for messages. */
#include "common/match/compound.h"

#include <strings.h>

#include "common/base/str.h"
#include "salt/limits.h"

typedef struct parser {
    const words_t *words;
    size_t at;
    unsigned depth;
    match_work_t *work;
    fail_t *err;
} parser_t;

static node_t *parse_either(parser_t *p);

static const char *
compound_peek(const parser_t *p)
{
    return p->at < p->words->n ? p->words->items[p->at].text : NULL;
}

static bool
next_is(const parser_t *p, const char *word)
{
    return str_eq(compound_peek(p), word);
}

static bool
compound_take(parser_t *p, const char *word)
{
    if (!next_is(p, word))
        return false;
    p->at++;
    return true;
}

/* Prefixes the error with the word's place in the expression: its character, or its number when the words
 * came as a list. */
static void
compound_fail_here(parser_t *p, size_t at)
{
    const word_t *word = at < p->words->n ? &p->words->items[at] : NULL;

    if (word == NULL)
        fail_prefix(p->err, "at the end: ");
    else if (word->position > 0)
        fail_prefix(p->err, "character %zu: ", word->position);
    else
        fail_prefix(p->err, "word %zu: ", at + 1);
}

/* -EINVAL with what was expected and found. An operator in upper case, a common mistake, gets a hint. */
static node_t *
fail_expected(parser_t *p, const char *what)
{
    static const char *const operators[] = { "and", "or", "not" };
    const char *word = compound_peek(p), *hint = "";

    for (size_t i = 0; word != NULL && i < NELEMS(operators); i++) {
        if (strcasecmp(word, operators[i]) == 0 && strcmp(word, operators[i]) != 0)
            hint = " (operators are lower case)";
    }
    if (word == NULL)
        fail_set(p->err, -EINVAL, "expected %s", what);
    else
        fail_set(p->err, -EINVAL, "expected %s instead of \"%.100s\"%s", what, word, hint);
    compound_fail_here(p, p->at);
    return NULL;
}

static node_t *
compound_node_new(node_kind_t kind, node_t *child)
{
    node_t *self = xcalloc(1, sizeof(*self));

    self->kind = kind;
    self->child = child;
    return self;
}

node_t *
node_of_term(term_t **term_p)
{
    node_t *self = compound_node_new(NODE_TERM, NULL);

    self->term = STEAL(*term_p);
    return self;
}

void
node_destroy(node_t **self_p)
{
    node_t *self = *self_p;

    while (self != NULL) {
        node_t *next = self->next;
        node_destroy(&self->child);
        term_destroy(&self->term);
        free(self);
        self = next;
    }
    *self_p = NULL;
}

/* Parses a leaf. Range targets (R@) are refused by name: Salt needs a range server for them. */
static node_t *
parse_term(parser_t *p)
{
    const char *word = compound_peek(p), *text;
    char delim[8];
    const term_kind_t *kind = term_parse(word, delim, &text);
    term_t *term = NULL;
    size_t len = strlen(word);

    /* "(web*" or "web*)": parentheses need spaces around them, and as a glob the word could match no id. */
    bool stuck = word[0] == '(' || (len > 0 && word[len - 1] == ')' && strchr(word, '(') == NULL);
    if (str_starts(word, "R@"))
        fail_set(p->err, -EINVAL,
                 "\"%.100s\": range targets need a range server and are not supported; use G@, L@ or N@",
                 word);
    else if (kind->type == TGT_GLOB && stuck)
        fail_set(p->err, -EINVAL, "\"%.100s\": put spaces around parentheses", word);
    else
        term = term_new(kind, text, delim, p->work, p->err);
    if (term == NULL) {
        compound_fail_here(p, p->at);
        return NULL;
    }
    p->at++;
    return node_of_term(&term);
}

/* The expression after "(", its ")" included. `depth` counts open parentheses. */
static node_t *
compound_parse_group(parser_t *p)
{
    node_t *inner = NULL;

    if (p->depth++ == LIMIT_TARGET_DEPTH) {
        fail_set(p->err, -E2BIG, "parentheses are nested deeper than %d", LIMIT_TARGET_DEPTH);
        compound_fail_here(p, p->at);
        return NULL;
    }
    inner = parse_either(p);
    p->depth--;
    if (inner != NULL && !compound_take(p, ")")) {
        fail_expected(p, "\"and\", \"or\" or \")\"");
        node_destroy(&inner);
    }
    return inner;
}

/* An operand with or without "not"; the place of a missing one is told. */
static node_t *
parse_one(parser_t *p)
{
    bool negated = compound_take(p, "not");
    node_t *inner = NULL;

    if (compound_take(p, "("))
        inner = compound_parse_group(p);
    else if (compound_peek(p) == NULL || next_is(p, ")") || next_is(p, "and") || next_is(p, "or") ||
             next_is(p, "not"))
        return fail_expected(p, "a target");
    else
        inner = parse_term(p);
    return inner != NULL && negated ? compound_node_new(NODE_NOT, inner) : inner;
}

/* Parses operands of the next level, put under a single node if there are several. "not" may follow without
 * "and": Salt inserts the "and". */
static node_t *
parse_chain(parser_t *p, node_kind_t kind, const char *word, node_t *(*parse)(parser_t *) )
{
    node_t *first = parse(p), *last = first;

    while (last != NULL && (compound_take(p, word) || (kind == NODE_AND && next_is(p, "not")))) {
        last->next = parse(p);
        last = last->next;
        if (last == NULL)
            node_destroy(&first);
    }
    return first != NULL && first->next != NULL ? compound_node_new(kind, first) : first;
}

static node_t *
parse_all(parser_t *p)
{
    return parse_chain(p, NODE_AND, "and", parse_one);
}

static node_t *
parse_either(parser_t *p)
{
    return parse_chain(p, NODE_OR, "or", parse_all);
}

/* NEW tree of all words, or NULL with *err: words that are left over are an error. */
node_t *
compound_parse(const words_t *words, match_work_t *work, fail_t *err)
{
    parser_t p = { .words = words, .work = work, .err = err };
    node_t *root = parse_either(&p);

    if (root != NULL && p.at < words->n) {
        fail_expected(&p, "\"and\" or \"or\"");
        node_destroy(&root);
    }
    return root;
}

/* Short-circuit evaluation, as Python's; each node costs a step of work. When the work is used up, `false`
 * under a NOT would become true: target_match checks for it. */
bool
node_match(const node_t *self, const match_subject_t *subject)
{
    const node_t *child = self->child;

    if (!match_work_take(subject->work, 1))
        return false;
    switch (self->kind) {
    case NODE_TERM:
        return self->term->kind->match(self->term, subject);
    case NODE_NOT:
        return !node_match(child, subject);
    case NODE_AND:
        while (child != NULL && node_match(child, subject))
            child = child->next;
        return child == NULL;
    case NODE_OR:
        while (child != NULL && !node_match(child, subject))
            child = child->next;
        return child != NULL;
    }
    return false;
}

/* Minions' own targets compare pillar values exactly: a wildcard would let one guess another's secrets. */
void
node_pillar_exact(node_t *self)
{
    if (self->term != NULL && (self->term->kind->needs & NEEDS_PILLAR) != 0)
        subdict_exact(self->term->subdict);
    for (node_t *child = self->child; child != NULL; child = child->next)
        node_pillar_exact(child);
}

size_t
node_pillar_terms(const node_t *self)
{
    size_t n = self->term != NULL && (self->term->kind->needs & NEEDS_PILLAR) != 0;

    for (const node_t *child = self->child; child != NULL; child = child->next)
        n += node_pillar_terms(child);
    return n;
}

unsigned
node_needs(const node_t *self)
{
    unsigned needs = self->term != NULL ? term_needs(self->term) : 0;

    for (const node_t *child = self->child; child != NULL; child = child->next)
        needs |= node_needs(child);
    return needs;
}
