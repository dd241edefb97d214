/* file_roots.c - wheel module `file_roots`: the files that the master serves, found, read and written. */
#include "plugins/wheel/lib/roots.h"

ROOTS_MODULE(file_roots);

PLUGIN(wheel, file_roots, .doc = "The files that the master serves, found, read and written", FUNCS(funcs));
