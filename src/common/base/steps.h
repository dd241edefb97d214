/* steps.h - does openat2's work by hand, one name at a time, where the kernel lacks the call or a filter of
 * system calls denies it (RestrictSUIDSGID= of systemd, profiles of containers). Only common/base/beneath.c
 * uses it.
 *
 * The guarantee is openat2's. Each call sees a single name, follows no link, and looks the name up in an open
 * folder. So a rename meanwhile can change which thing inside is found, but never leads outside. The text of
 * a link is walked like any other names.
 *
 * Layer      common/base
 * Threads    any
 * Ownership  the descriptor is NEW
 * Errors     a negative errno, openat2's
 * Tests      tests/unit/common/test_beneath.c
 */
#ifndef COMMON_BASE_STEPS_H
#define COMMON_BASE_STEPS_H

#include "common/base/beneath.h"

/* `flags` and `mode` as for open(). A link at the end of the path is followed when `how` follows links. */
int steps_open(int root, const char *path, beneath_t how, int flags, mode_t mode);

#endif
