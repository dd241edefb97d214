/* dpkg.h - dpkg's database read straight from its files: packages, their states, their files, diversions.
 *
 * Takes a few milliseconds where dpkg-query takes tens. Reads what an interrupted dpkg left in updates/ too.
 *
 * Layer      plugins/lib/apt
 * Threads    one at a time per dpkg_t
 * Ownership  everything BORROWED lives as long as the dpkg_t
 * Errors     negative errno: the status file can't be read
 * Tests      tests/unit/plugins/test_dpkg.c
 */
#ifndef PLUGINS_LIB_APT_DPKG_H
#define PLUGINS_LIB_APT_DPKG_H

#include "salt/base.h"

typedef struct dpkg dpkg_t;

typedef struct dpkg_pkg {
    char *name, *version, *arch; /* "" where there is none */
    char *want, *eflag, *status; /* "install", "ok", "installed" */
    bool same;                   /* Multi-Arch: same */
    const char *start, *end;     /* its paragraph */
} dpkg_pkg_t;

/* The database under ROOT/var/lib/dpkg, "" for the host's own. NEW, or NULL with *err. */
dpkg_t *dpkg_new(const char *root, fail_t *err);
void dpkg_destroy(dpkg_t **self_p);

/* Packages by name, then architecture. Behind them, up to dpkg_count_all, those that are not installed at all
 * and of which only a wish is known ("hold"). */
size_t dpkg_count(const dpkg_t *self);
size_t dpkg_count_all(const dpkg_t *self);
/* BORROWED. */
const dpkg_pkg_t *dpkg_at(const dpkg_t *self, size_t i);
/* The host's architecture, as the package dpkg itself has it; "" when unknown. BORROWED. */
const char *dpkg_native(const dpkg_t *self);

/* Matches a package against "name", "name:arch" or a glob of these, as dpkg-query does. */
bool dpkg_match(const dpkg_t *self, const dpkg_pkg_t *pkg, const char *pattern);
/* True when a package depends on, provides, ... this name: dpkg knows it although it is not installed. */
bool dpkg_mentioned(const dpkg_t *self, const char *name);

/* "libc6:amd64" for packages that may be there once per architecture, else the name: dpkg's binary:Package.
 * NEW. */
char *dpkg_binary_name(const dpkg_pkg_t *pkg);
bool dpkg_installed(const dpkg_pkg_t *pkg);
/* NEW value of a field of its paragraph, NULL when there is none. */
char *dpkg_field(const dpkg_pkg_t *pkg, const char *name);
/* `dpkg -L`: NEW list of lines, what a diversion moves included. */
json_t *dpkg_files(dpkg_t *self, const dpkg_pkg_t *pkg);
/* `dpkg -S`: NEW text "name, name" of the packages that own the first path that `pattern` finds, "" for
 * none. */
char *dpkg_owner(dpkg_t *self, const char *pattern);
/* NEW lines of /usr/share/doc/NAME/copyright that begin with "License:", distinct, sorted, joined by ", ". */
char *dpkg_license(const dpkg_t *self, const dpkg_pkg_t *pkg);
/* When NAME.list was written, in seconds since 1970; -1 when there is none of exactly this name. */
int64_t dpkg_installed_at(const dpkg_t *self, const char *name);

#endif
