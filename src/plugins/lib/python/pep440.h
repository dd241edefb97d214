/* pep440.h - versions of Python packages: their order and their specifiers. Format: PEP 440.
 *
 * Layer      plugins/lib/python
 * Threads    any
 * Tests      tests/unit/plugins/test_pep440.c, with the answers of Python's packaging
 */
#ifndef PLUGINS_LIB_PYTHON_PEP440_H
#define PLUGINS_LIB_PYTHON_PEP440_H

#include "salt/base.h"

/* Below 0, 0 or above 0. What is no version is older than every one. */
int pep440_cmp(const char *a, const char *b);
/* Whether `version OPER spec` holds as Salt compares them: <, <=, ==, >=, >, != by order; false for another
 * one. */
bool pep440_holds(const char *version, const char *oper, const char *spec);

#endif
