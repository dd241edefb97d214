/* pkgver.h - Debian versions: order, validity, comparison operators. Pure.
 *
 * Layer      plugins/lib/packages
 * Threads    any
 * Ownership  texts are BORROWED for the call
 * Errors     -EINVAL with the reason for what dpkg refuses as a version
 * Tests      tests/unit/plugins/test_pkgver.c, with dpkg's own answers
 */
#ifndef PLUGINS_LIB_PACKAGES_PKGVER_H
#define PLUGINS_LIB_PACKAGES_PKGVER_H

#include "salt/base.h"

/* [epoch:]upstream[-revision] as places inside a text. */
typedef struct pkgver {
    long epoch;
    const char *upstream, *revision;
    size_t upstream_len, revision_len;
} pkgver_t;

/* 0, or -EINVAL where `dpkg --compare-versions` gives up: an epoch that is not a number, an empty part, inner
 * blanks. A character that Debian does not allow is only a warning there and is let through here. */
int pkgver_parse(const char *text, pkgver_t *out, fail_t *err);
/* Below 0, 0 or above 0. */
int pkgver_order(const pkgver_t *a, const pkgver_t *b);
/* -1, 0 or 1 in *ret_order. Empty is older than everything. `ignore_epoch` drops what is before the first
 * colon. */
int pkgver_cmp(const char *a, const char *b, bool ignore_epoch, int *ret_order, fail_t *err);

/* salt.utils.versions.compare: "<", "<=", "==", ">=", ">", "!="; false for other operators and for versions
 * that can't be compared. */
bool pkgver_holds(const char *a, const char *oper, const char *b, bool ignore_epoch);
/* True when `version` satisfies `desired`: an operator and a version (">= 1.2"), or a version alone. */
bool pkgver_wanted(const char *desired, const char *version, bool ignore_epoch);

#endif
