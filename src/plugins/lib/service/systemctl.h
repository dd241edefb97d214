/* systemctl.h - systemctl's command lines and what it prints.
 *
 * Layer      plugins/lib/service
 * Threads    any
 * Ownership  results are NEW
 * Errors     FAIL_COMMAND when systemctl is missing; its exit code is data
 * Tests      tests/unit/plugins/test_service.c
 */
#ifndef PLUGINS_LIB_SERVICE_SYSTEMCTL_H
#define PLUGINS_LIB_SERVICE_SYSTEMCTL_H

#include "salt/plugin.h"

typedef struct systemctl {
    const char *action; /* words with blanks between */
    const char *name;   /* a service as users name it; NULL for none */
    const char *root;   /* NULL: this host */
    bool scope;         /* out of the minion's own control group, when the minion may: systemd.scope */
    bool no_block;
    unsigned flags; /* TOOL_* */
} systemctl_t;

/* {"pid", "retcode", "stdout", "stderr"}, or NULL with *err. */
json_t *systemctl_run(call_ctx_t *ctx, const systemctl_t *what, fail_t *err);
/* True when it succeeded, or what it complained about as a CommandExecutionError. */
int systemctl_do(call_ctx_t *ctx, const systemctl_t *what, json_t **ret_value, fail_t *err);
/* The same for a run that is over. `ret` BORROWED. */
int systemctl_verdict(const json_t *ret, json_t **ret_value, fail_t *err);
/* systemd's version, or -1. */
int systemctl_version(call_ctx_t *ctx);

/* Names of the units in that state, from `list-unit-files`. */
json_t *systemctl_unit_files(const char *text, const char *state);
/* Names of the units that are active and running, from `list-units`. */
json_t *systemctl_running(const char *text);
/* {"Id": "x.service", "After": [...], "ExecStart": {"path": ...}, ...} from `show`. */
json_t *systemctl_properties(const char *text);
/* Without the lines about the scope it ran in. */
char *systemctl_strip_scope(const char *text);

#endif
