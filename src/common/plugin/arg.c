/* arg.c - rows of arguments that no table has: those of functions in Python. */
#include "salt/arg.h"

#include "salt/base.h"

char *
arg_text(const char *name, const char *dflt)
{
    /* Three ends, as nothing is taken. */
    char *text = xcalloc(strlen(ARG_ANY_DIGIT) + strlen(name) + strlen(dflt) + 3, 1);

    (void) stpcpy(stpcpy(stpcpy(text, ARG_ANY_DIGIT), name) + 1, dflt);
    return text;
}
