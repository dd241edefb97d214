/* svcfiles.h - what a host's files tell about its services, whether or not an init runs: unit files of
 * systemd, init scripts and their links, masks, the default run level.
 *
 * Layer      plugins/lib/service
 * Threads    any
 * Ownership  results are NEW
 * Errors     what is missing is not there; what can't be read or looked at is an error, with *err
 * Tests      tests/unit/plugins/test_service.c
 */
#ifndef PLUGINS_LIB_SERVICE_SVCFILES_H
#define PLUGINS_LIB_SERVICE_SVCFILES_H

#include "salt/base.h"

/* `root` is NULL or "" for the host itself everywhere. */

typedef enum svc_init { SVC_NONE, SVC_SYSTEMD, SVC_SYSV, SVC_OPENRC, SVC_RUNIT } svc_init_t;
/* The running init, or negative with *err when it can't be determined. Never OpenRC, which the distribution
 * tells, nor runit, which the grain `init` tells. */
int svc_init(const char *root, fail_t *err);
/* Name of process 1, for a message. */
char *svc_init_name(const char *root);

/* "nginx" is "nginx.service"; a name that ends in a unit's type stays. */
char *svc_unit(const char *name);
/* Service users' name of a unit: without ".service". NULL when `unit` is none. */
char *svc_unit_name(const char *unit);

/* A list is NULL with *err; "whether" is 1, 0, or negative with *err. */

/* Sorted names of the units in /lib, /usr/lib and /etc; "service" units without their type. */
json_t *svc_units(const char *root, fail_t *err);
/* Sorted names of the init scripts that can be run, without those in `hide` (may be NULL). */
json_t *svc_scripts(const char *root, const json_t *hide, fail_t *err);
/* Services of both kinds. */
json_t *svc_all(const char *root, fail_t *err);
/* True when an executable init script has the name. */
int svc_is_script(const char *root, const char *name, fail_t *err);
/* Run level that init's program tells, or the default one: a letter or digit, or negative with *err. */
int svc_runlevel(const char *root, fail_t *err);
int svc_default_runlevel(const char *root, fail_t *err);
/* True when /etc/rcN.d has a start link of the script. `level` may be a negative run level, which is returned
 * as it is. */
int svc_script_enabled(const char *root, int level, const char *name, fail_t *err);
/* Sorted names that /etc/rcS.d and /etc/rcN.d start; `level` as above. */
json_t *svc_scripts_enabled(const char *root, int level, fail_t *err);

/* True when PREFIX/systemd/system/UNIT is a link to /dev/null; runtime: below /run instead of /etc. */
int svc_masked(const char *root, const char *name, bool runtime, fail_t *err);
/* Path of the unit file, below `root`; a template's for an instance. *ret_path is NULL when there is none. */
int svc_unit_path(const char *root, const char *name, char **ret_path, fail_t *err);
/* The unit that an alias leads to, itself for another one. *ret_unit NEW. */
int svc_real_unit(const char *root, const char *name, char **ret_unit, fail_t *err);
/* systemctl is-enabled's word, from the files: "enabled", "enabled-runtime", "static", "indirect",
 * "disabled", "masked", "masked-runtime", "alias"; NULL for no such unit. A constant. */
int svc_unit_state(const char *root, const char *name, const char **ret_state, fail_t *err);
/* The sections' settings, flat, as systemctl show names them; NULL when there is no such unit. */
int svc_unit_settings(const char *root, const char *name, json_t **ret_settings, fail_t *err);
/* True when an init script has the name, and no unit does. */
int svc_is_script_only(const char *root, const char *name, fail_t *err);

/* fnmatch of Salt's globs: whether `name` has one, and the elements of `names` that match. */
bool svc_has_glob(const char *name);
json_t *svc_filter(const json_t *names, const char *pattern);
/* Texts of `a`, without those in `b`, sorted and each once. */
json_t *svc_sorted(const json_t *a, const json_t *without);
bool svc_listed(const json_t *names, const char *name);

#endif
