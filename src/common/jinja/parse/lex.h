/* lex.h - template text to tokens, one at a time, as Jinja 3.1's lexer cuts it.
 *
 * Layer      common/jinja; salt/, common/base
 * Threads    one at a time per lexer
 * Ownership  tokens and their texts belong to the arena
 * Errors     syntax_fail() does not return: it jumps to where the parser was entered
 * Tests      tests/unit/common/test_jinja_parse.c
 */
#ifndef COMMON_JINJA_PARSE_LEX_H
#define COMMON_JINJA_PARSE_LEX_H

#include <setjmp.h>

#include "common/base/span.h"
#include "common/jinja/arena.h"

/* Delimiters of a template. NULL or 0 in a field: Jinja's default. */
typedef struct jsyntax {
    const char *block_start, *block_end;
    const char *variable_start, *variable_end;
    const char *comment_start, *comment_end;
    const char *line_statement, *line_comment; /* NULL: none */
    const char *newline;
    bool trim_blocks, lstrip_blocks, keep_trailing_newline;
} jsyntax_t;

/* Kinds of tokens; their names in messages are in lex.c's table, in the same order. */
typedef enum tok {
    T_EOF,
    T_DATA,
    T_VARIABLE_BEGIN,
    T_VARIABLE_END,
    T_BLOCK_BEGIN,
    T_BLOCK_END,
    T_NAME,
    T_STRING,
    T_INTEGER,
    T_FLOAT,
    T_ADD,
    T_ASSIGN,
    T_COLON,
    T_COMMA,
    T_DIV,
    T_DOT,
    T_EQ,
    T_FLOORDIV,
    T_GT,
    T_GTEQ,
    T_LBRACE,
    T_LBRACKET,
    T_LPAREN,
    T_LT,
    T_LTEQ,
    T_MOD,
    T_MUL,
    T_NE,
    T_PIPE,
    T_POW,
    T_RBRACE,
    T_RBRACKET,
    T_RPAREN,
    T_SEMICOLON,
    T_SUB,
    T_TILDE,
    TOKENS
} tok_t;

/* A token; its text lives in the arena. */
typedef struct token {
    tok_t type;
    int line;
    const char *text; /* decoded for T_STRING, without "_" for numbers; a NUL follows */
    size_t len;
} token_t;

/* The first error of lexer, parser or scope analysis. */
typedef struct syntax_error {
    const char *cls; /* "TemplateSyntaxError" (also for NULL) or "TemplateAssertionError" */
    char *message;   /* in the arena */
    int line;
    jmp_buf out;
} syntax_error_t;

/* Records the error and jumps to e->out: callers must own nothing that a jump would leak. */
void syntax_fail(arena_t *arena, syntax_error_t *e, int line, const char *fmt, ...) PRINTF(4, 5) NORETURN;

typedef struct lexer lexer_t;
/* In the arena. `source` is copied. */
lexer_t *lexer_new(arena_t *arena, const jsyntax_t *syntax, const char *source, size_t len,
                   syntax_error_t *error);
/* The next token; T_EOF for ever after the end. */
token_t lexer_next(lexer_t *self);
/* The source with newlines normalised. BORROWED. */
const char *lexer_source(const lexer_t *self, size_t *ret_len);
/* Starts inside of an expression: the source has no tags. */
void lexer_start_expression(lexer_t *self);
/* Name of a token type in errors: "end of print statement", "name", "==". */
const char *tok_describe(tok_t type);
/* The same for a token; a name stands for itself. */
const char *token_describe(const token_t *token);

/* True when no span of a text contains or creates a delimiter once the text is read as a template, and spans
 * within tags are pieces of a string's text or integers; else *ret names one that does not fit. Linear. A
 * text that is not a template whatever its spans say fits, as the engine reports it. `ret_places` (may be NULL)
 * gets a place for each span, as far as the text could be read. */
typedef enum jspan_place { JSPAN_TEXT, JSPAN_RAW, JSPAN_COMMENT, JSPAN_TAG } jspan_place_t;
bool jinja_spans_fit(const char *text, size_t len, const jsyntax_t *syntax, const spans_t *spans,
                     jspan_place_t *ret_places, breakout_t *ret);
/* True when a text contains a start mark of a tag or a line statement. */
bool jinja_has_tags(const char *text, size_t len, const jsyntax_t *syntax);

/* Length in bytes of a white space character (Python's str.isspace) at `s`, 0 for none. */
size_t space_at(const char *s, const char *end);
/* End of the character at `s`, which is before `end`. */
const char *char_end(const char *s, const char *end);
/* Moves over one character; true when it is part of a word (\w). */
bool word_at(const char **s, const char *end);

#endif
