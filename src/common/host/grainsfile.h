/* grainsfile.h - path of the file with the grains that users set: CONFDIR/grains.
 *
 * Layer      common/host
 * Tests      tests/unit/plugins/test_grains.c
 */
#ifndef COMMON_HOST_GRAINSFILE_H
#define COMMON_HOST_GRAINSFILE_H

#include "salt/base.h"

/* Next to conf_file, or inside it when it is a folder. NEW. */
char *grains_file_path(const json_t *opts);

#endif
