/* grainsfile.h - where the grains that users set are written down: CONFDIR/grains.
 *
 * Layer      common/base
 * Tests      tests/unit/plugins/test_grains.c
 */
#ifndef COMMON_HOST_GRAINSFILE_H
#define COMMON_HOST_GRAINSFILE_H

#include "salt/base.h"

/* Beside conf_file, or in it when it is a folder. NEW. */
char *grains_file_path(const json_t *opts);

#endif
