/* arg.h - rows of arguments: what a function takes.
 *
 * Layer      any code may use it
 * Tests      tests/unit/common/test_plugin.c
 */
#ifndef SALT_ARG_H
#define SALT_ARG_H

#include <stdbool.h>
#include <string.h>

typedef enum arg_type { ARG_ANY, ARG_STR, ARG_INT, ARG_FLOAT, ARG_BOOL, ARG_LIST, ARG_DICT } arg_type_t;

/* A default is JSON text ("null", "\"\"", "5"), or one of these. */
#define ARG_REQUIRED "!"
#define ARG_STAR     "*"  /* takes all further positional arguments, as a list: Python's *args */
#define ARG_STARSTAR "**" /* takes all further keywords, as an object: Python's **kwargs */

/* `takes`, of a row with ARG_STARSTAR: the keywords that it is read for, with blanks between, and "*" when
 * others matter too (variables of a template). Of any other a user's typing error is refused, and the rest is
 * told to have no effect. Without it, whatever comes is meant. */
#define TAKES_NONE " " /* accepted for Salt's sake, without effect */

/* ARG("name", ARG_INT, "5", "help") or ARG("kwargs", ARG_DICT, ARG_STARSTAR, "help", "takes"). A value of another
 * type is converted as Python users expect ("5" for an int), or refused. None passes when the default is null;
 * otherwise it means the default.
 *
 * A row is one text, the type's digit and three fields that end with '\0', as each pointer of a table is written to
 * when a program starts: of four in each of 7,000 rows an idle minion had 240 kB. The help, which no row may lack, is
 * for who reads the table. */
typedef struct arg {
    const char *text; /* NULL: behind the last row */
} arg_t;

#define NO_HELP_(help) (0 * sizeof(char[sizeof("" help) > 1 ? 1 : -1])) /* 0, or no program */
#define ARG(name, type, dflt, help, ...)                                                                     \
    {                                                                                                        \
        .text = &(type##_DIGIT name "\0" dflt "\0" __VA_ARGS__ "")[NO_HELP_(help)]                           \
    }
#define ARG_ANY_DIGIT   "0"
#define ARG_STR_DIGIT   "1"
#define ARG_INT_DIGIT   "2"
#define ARG_FLOAT_DIGIT "3"
#define ARG_BOOL_DIGIT  "4"
#define ARG_LIST_DIGIT  "5"
#define ARG_DICT_DIGIT  "6"
#define ARGS_END        ROW(NULL)

/* The text of a row of ARG_ANY that is made at run time. NEW. */
char *arg_text(const char *name, const char *dflt);

/* The fields of a row. BORROWED. */
static inline arg_type_t
arg_type(const arg_t *row)
{
    return (arg_type_t) (*row->text - '0');
}

static inline const char *
arg_name(const arg_t *row)
{
    return row->text + 1;
}

static inline const char *
arg_dflt(const arg_t *row)
{
    return row->text + strlen(row->text) + 1;
}

/* "" where the row says nothing. */
static inline const char *
arg_takes(const arg_t *row)
{
    const char *dflt = arg_dflt(row);

    return dflt + strlen(dflt) + 1;
}

static inline bool
arg_is(const arg_t *row, const char *dflt)
{
    return strcmp(arg_dflt(row), dflt) == 0;
}

#endif
