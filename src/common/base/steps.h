/* steps.h - openat2 by hand: a path below a folder, one name at a time, where the kernel has no such call or
 * a filter of system calls denies it (RestrictSUIDSGID= of systemd, profiles of containers). For
 * common/base/beneath.c alone.
 *
 * The promise is openat2's. No call here sees more than one name, none follows a link, and each name is
 * looked up in a folder that is open: who renames something meanwhile changes which of the folder's things is
 * found, and never leads out of it. A link's text is taken for names like any other.
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

/* `flags` and `mode` as open(); a link that the path ends in is followed when `how` follows links. */
int steps_open(int root, const char *path, beneath_t how, int flags, mode_t mode);

#endif
