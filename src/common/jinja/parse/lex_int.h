/* lex_int.h - the lexer's state, shared by lex.c (text and tags), lex_token.c (tokens inside of tags) and
 * lex_span.c (places of peers' values).
 *
 * Layer      common/jinja, private
 * Threads    one at a time per lexer
 * Ownership  everything belongs to the arena
 * Errors     as lex.h
 * Tests      tests/unit/common/test_jinja_parse.c */
#ifndef COMMON_JINJA_PARSE_LEX_INT_H
#define COMMON_JINJA_PARSE_LEX_INT_H

#include "common/jinja/parse/lex.h"

/* In the order of Jinja's names for them, which decides between marks of one length. */
typedef enum lex_state {
    LEX_TEXT,
    LEX_BLOCK,
    LEX_COMMENT,
    LEX_LINE_COMMENT,
    LEX_LINE_STATEMENT,
    LEX_RAW,
    LEX_VARIABLE
} lex_state_t;

/* A delimiter. */
typedef struct mark {
    const char *text;
    size_t len;
} mark_t;

/* A start mark and the state that it leads to. */
typedef struct rule {
    lex_state_t state;
    mark_t mark;
} rule_t;

/* The most brackets that may be open at once. */
enum { LEX_NEST = 1000 };

/* State of a lexer, which makes tokens on demand. */
struct lexer {
    arena_t *arena;
    syntax_error_t *error;
    const char *start, *p, *end;
    const char *newline;
    int line;      /* of p */
    int tag_line;  /* line of the pending tag */
    int last_line; /* of the last token */
    lex_state_t state;
    bool tag_pending, line_starting;
    bool trim_blocks, lstrip_blocks, has_line_rules;
    mark_t block_start, block_end, variable_end, comment_end;
    rule_t rules[5];
    size_t n_rules;
    bool first[256]; /* bytes that a tag may begin with */
    size_t depth;
    char closers[LEX_NEST]; /* brackets that are open */
};

/* A tag's start, or `{% raw %}` as a whole: its bytes [at, end), the state it leads to, and '-', '+' or 0. */
typedef struct lex_tag {
    const char *at, *end;
    lex_state_t state;
    char sign;
} lex_tag_t;

/* The first tag at or after p; false when there is none. */
bool lex_find_tag(const lexer_t *self, lex_tag_t *tag);
/* End of `+end`, `-end` with white space after it, or `end` with trimming, at p; NULL when none is there. */
const char *lex_match_close(const lexer_t *self, const char *p, const mark_t *end_mark, bool plus, bool trim);
/* The end of `{% endraw %}` at p, or NULL. */
const char *lex_match_endraw(const lexer_t *self, const char *p, char *ret_sign);
/* End of the current tag's end mark when it is at p; else NULL. */
const char *lex_match_tag_end(const lexer_t *self);
/* The token at p, where no white space is; false when there is none. */
bool lex_token(lexer_t *self, token_t *ret);

/* Number of line breaks in [s, end). */
int lex_count_lines(const char *s, const char *end);
const char *lex_skip_space(const char *p, const char *end);
void lex_fail(lexer_t *self, const char *message) NORETURN;

#endif
