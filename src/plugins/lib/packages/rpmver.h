/* rpmver.h - order of versions as rpm, pacman and apk have it. Pure.
 *
 * Layer      plugins/lib/packages
 * Threads    any
 * Ownership  texts are BORROWED for the call
 * Errors     none: every text has a place in the order
 * Tests      tests/unit/plugins/test_rpmver.c, with the answers of rpm, pacman and apk-tools
 */
#ifndef PLUGINS_LIB_PACKAGES_RPMVER_H
#define PLUGINS_LIB_PACKAGES_RPMVER_H

#include "salt/base.h"

/* rpmvercmp(3) of one part of a version, without epoch and release: -1, 0 or 1. */
int rpmver_part_cmp(const char *a, const char *b);
/* "[epoch:]version[-release]"; releases count when both have one. */
int rpmver_cmp(const char *a, const char *b, bool ignore_epoch);
/* The same by the rules of alpm, pacman's library (vercmp(8)). */
int alpmver_cmp(const char *a, const char *b, bool ignore_epoch);
/* Versions of Alpine: "1.2.3b_rc1-r0". */
int apkver_cmp(const char *a, const char *b, bool ignore_epoch);

#endif
