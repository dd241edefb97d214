/* error.c - runner `error`: fails on request, to show what failures look like. */
#include "common/plugin/raise.h"

PLUGIN(runner, error, .doc = "Fail on request", FUNCS(raise_funcs));
