/* error.c - runner `error`: fail on request, to see how failures look. */
#include "common/plugin/raise.h"

PLUGIN(runner, error, .doc = "Fail on request", FUNCS(raise_funcs));
