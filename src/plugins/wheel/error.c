/* error.c - wheel module `error`: fail on request, to see how failures look. */
#include "common/plugin/raise.h"

PLUGIN(wheel, error, .doc = "Fail on request", FUNCS(raise_funcs));
