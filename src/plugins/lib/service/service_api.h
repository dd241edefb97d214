/* service_api.h - the one interface of the module `service`, which has a provider for each kind of init:
 * arguments, and what the providers share. The rows stand in service_api.def.
 *
 * Layer      plugins/lib/service
 * Threads    a call belongs to one thread
 * Ownership  lists are NEW unless said
 * Errors     as Salt's service modules raise them
 * Tests      tests/unit/plugins/test_service.c, tests/cases/exec/service.*.json
 */
#ifndef PLUGINS_LIB_SERVICE_SERVICE_API_H
#define PLUGINS_LIB_SERVICE_SERVICE_API_H

#include "plugins/lib/service/svcfiles.h"
#include "salt/plugin.h"

extern const arg_t service_no_args[], service_name_args[], service_root_args[], service_name_root_args[];
extern const arg_t service_start_args[], service_force_reload_args[], service_stop_args[];
extern const arg_t service_status_args[], service_enable_args[], service_disable_args[];
extern const arg_t service_enabled_args[], service_mask_args[], service_firstboot_args[];

/* The argument `root`; NULL for the host itself. BORROWED. */
const char *service_root(const json_t *args);
const char *service_name(const json_t *args);

/* The running init, looked for once in a job: what a job does below /run makes no other of it. Negative with
 * *err. */
int service_init(call_ctx_t *ctx, fail_t *err);
/* For a module's __virtual__: NULL when this init runs, else `otherwise`, or why that is unknown. Valid until
 * the next call in this thread. */
const char *service_unless(call_ctx_t *ctx, svc_init_t init, const char *otherwise);

/* The failure of a function that only systemd has. Returns -ENOTSUP. */
int service_only_systemd(const char *function, fail_t *err);

/* The opposite of another function with the same arguments: disabled, missing. */
int service_not(func_fn *fn, call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err);

/* Checks one service for running. */
typedef int service_one_fn(call_ctx_t *ctx, const char *name, bool *ret_running, fail_t *err);
/* service.status: a bool, or {name: bool} when the name is a glob over `all`. TAKES `all`; NULL
 * is the failure in *err. */
int service_status(call_ctx_t *ctx, json_t *args, json_t *all, service_one_fn *one, json_t **ret_value,
                   fail_t *err);
/* A process whose command line holds the signature: status.pid. */
int service_by_signature(call_ctx_t *ctx, const char *sig, json_t **ret_value, fail_t *err);

/* `service NAME ACTION` where there is such a program, else the script itself: its exit code. `flags` are
 * TOOL_ bits. */
int service_script(call_ctx_t *ctx, const char *name, const char *action, unsigned flags, int *ret_code,
                   fail_t *err);
/* The name becomes part of a path: -EINVAL for what is no file's name. */
int service_script_name(const char *name, fail_t *err);

/* systemd-firstboot works on files and needs no init. */
int service_firstboot(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err);

#endif
