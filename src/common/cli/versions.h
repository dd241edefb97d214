/* versions.h - versions of this program, of its libraries and of the system.
 *
 * Layer      common/cli; loads nothing, opens only /etc/os-release
 * Threads    any
 * Tests      tests/unit/common/test_optparse.c
 */
#ifndef COMMON_CLI_VERSIONS_H
#define COMMON_CLI_VERSIONS_H

#include "common/base/buf.h"

/* "3006.0 (Halite 1.0.0)": the version of Salt that it speaks as, and Halite's own. BORROWED. */
const char *versions_product(void);
/* {"Salt Version": {"Halite": ..., "Salt": ...}, "Dependency Versions": {...}, "System Versions": {...}}.
 * NEW. */
json_t *versions_information(void);
/* The same as text, as Salt's --versions-report. */
void versions_report(buf_t *out);

#endif
