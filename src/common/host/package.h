/* package.h - where the package `salt` lies that files in Python import where no Salt is installed.
 *
 * Layer      common/host
 * Threads    any
 * Tests      tests/unit/plugins/test_grains.c, tests/t/3070-python-modules.bats
 */
#ifndef COMMON_HOST_PACKAGE_H
#define COMMON_HOST_PACKAGE_H

#include "salt/base.h"

/* The folder that has it: beside this program, as `make` or `make install` puts it. NEW; "" where it is not. */
char *package_folder(void);

#endif
