/* funcmore.h - what few functions have: their rows point to it. The tables of all functions are memory of each idle
 * minion, because their pointers are written to at its start.
 *
 * Layer      any code may use it
 * Tests      tests/t/3060-typing.bats (absent), tests/cases/exec/slsutil.renderer.json (undefined)
 */
#ifndef SALT_FUNCMORE_H
#define SALT_FUNCMORE_H

typedef struct func_more {
    /* The argument that names a thing, where an empty return ("", False, None, {}, a list with False) means
     * that it is not there, and what is then said, with "{}" for its value. Calls from a command line alone
     * end with 1 then. */
    const char *finds, *absent;
    const char *undefined; /* the return, as JSON, for an undefined value of a template; NULL: it fails */
    const char *out;       /* Salt's __outputter__, of files in Python */
} func_more_t;

/* Members of a row of functions. */
#define MORE_OF(...)          .more = (&(const func_more_t){ __VA_ARGS__ })
#define ABSENT(finds_, text)  MORE_OF(.finds = (finds_), .absent = (text))
#define UNDEFINED(undefined_) MORE_OF(.undefined = (undefined_))

#endif
