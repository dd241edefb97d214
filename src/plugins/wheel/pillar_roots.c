/* pillar_roots.c - wheel module `pillar_roots`: the files of the pillar, found, read and written. */
#include "plugins/wheel/lib/roots.h"

ROOTS_MODULE(pillar_roots);

PLUGIN(wheel, pillar_roots, .doc = "The files of the pillar, found, read and written", FUNCS(funcs));
