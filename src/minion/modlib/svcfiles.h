/* svcfiles.h - what a host's files tell about its services, whether or not an init runs: unit files of
 * systemd, init scripts and their links, masks, the default run level.
 *
 * Layer      minion/modlib
 * Threads    any
 * Ownership  results are NEW
 * Errors     what can't be read is not there
 * Tests      tests/unit/minion/test_service.c
 */
#ifndef MINION_MODLIB_SVCFILES_H
#define MINION_MODLIB_SVCFILES_H

#include "salt/base.h"

/* `root` is NULL or "" for the host itself everywhere. */

typedef enum svc_init { SVC_NONE, SVC_SYSTEMD, SVC_SYSV } svc_init_t;
/* Which init runs. *ret_name, when asked for, is what process 1 is called. */
svc_init_t svc_init(const char *root, char **ret_name);

/* "nginx" is "nginx.service"; a name that ends in a unit's type stays. */
char *svc_unit(const char *name);
/* Service users' name of a unit: without ".service". NULL when `unit` is none. */
char *svc_unit_name(const char *unit);

/* Sorted names of the units in /lib, /usr/lib and /etc; "service" units without their type. */
json_t *svc_units(const char *root);
/* Sorted names of the init scripts that can be run, without those in `hide` (may be NULL). */
json_t *svc_scripts(const char *root, const json_t *hide);
bool svc_is_script(const char *root, const char *name);
/* The run level as init's program tells, or the default one: a single letter or digit. */
char svc_runlevel(const char *root);
char svc_default_runlevel(const char *root);
/* Whether /etc/rcN.d has a link that starts it. */
bool svc_script_enabled(const char *root, char level, const char *name);
/* Sorted names that /etc/rcS.d and /etc/rcN.d start. */
json_t *svc_scripts_enabled(const char *root, char level);

/* Whether PREFIX/systemd/system/UNIT is a link to /dev/null; runtime: below /run instead of /etc. */
bool svc_masked(const char *root, const char *name, bool runtime);
/* Path of the unit file, below `root`; a template's for an instance. NULL when there is none. */
char *svc_unit_path(const char *root, const char *name);
/* systemctl is-enabled's word, from the files: "enabled", "enabled-runtime", "static", "indirect",
 * "disabled", "masked", "masked-runtime", "alias"; NULL for no such unit. A constant. */
const char *svc_unit_state(const char *root, const char *name);
/* The sections' settings, flat, as systemctl show names them; NULL when there is no such unit. */
json_t *svc_unit_settings(const char *root, const char *name);

/* fnmatch of Salt's globs: whether `name` has one, and the elements of `names` that match. */
bool svc_has_glob(const char *name);
json_t *svc_filter(const json_t *names, const char *pattern);
/* Texts of `a`, without those in `b`, sorted and each once. */
json_t *svc_sorted(const json_t *a, const json_t *without);
bool svc_listed(const json_t *names, const char *name);

#endif
