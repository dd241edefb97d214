/* oldrelease.h - what the files of releases say that distributions had before os-release.
 *
 * Layer      common/host
 * Threads    any
 * Tests      tests/unit/plugins/test_grains.c (tests/cases/grain)
 */
#ifndef COMMON_HOST_OLDRELEASE_H
#define COMMON_HOST_OLDRELEASE_H

#include "salt/base.h"

/* "CentOS Linux release 7.9.2009 (Core)": name, version and codename, each owned and may be "". */
typedef struct old_release {
    char *name, *version, *codename;
} old_release_t;

/* Read the first line of the first file /etc/NAME-release or /etc/NAME_version, as Python's distro does. */
void oldrelease_read(const char *root, old_release_t *out);
void oldrelease_free(old_release_t *self);

/* Add lsb_distrib_id, _release and _codename (Synology: osfullname, osrelease) from the files of SUSE, ALT,
 * CentOS or Synology, the first that is there; nothing without any. */
void oldrelease_add_lsb(const char *root, json_t *out);

#endif
