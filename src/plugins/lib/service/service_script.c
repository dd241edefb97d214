/* service_script.c - init scripts, which run with or without an init: see service_api.h. */
#include "common/base/fs.h"
#include "plugins/lib/call/tool.h"
#include "plugins/lib/service/service_api.h"

int
service_script_name(const char *name, fail_t *err)
{
    if (*name == '\0' || strchr("-.", *name) != NULL || strchr(name, '/') != NULL)
        return fail_kind(err, FAIL_INVOCATION, -EINVAL,
                         "'%s' can't be a service: give the name of a script in /etc/init.d", name);
    return 0;
}

/* `service NAME ACTION` where there is such a program, else the script itself. */
int
service_script(call_ctx_t *ctx, const char *name, const char *action, unsigned flags, int *ret_code,
               fail_t *err)
{
    static const char *const programs[] = { "service", "invoke-rc.d" };
    prog_auto_t prog = PROG_INIT;
    int rc = service_script_name(name, err);

    rc = rc == 0 ? prog_check_operand("action", action, err) : rc;
    for (size_t i = 0; i < NELEMS(programs) && prog.n == 0; i++) {
        AUTO_FREE char *path = fs_which(programs[i]);
        if (path != NULL)
            prog_adds(&prog, programs[i], name, action, NULL);
    }
    if (prog.n == 0) {
        prog_addf(&prog, "/etc/init.d/%s", name);
        prog_add(&prog, action);
    }
    return rc == 0 ? tool_retcode(ctx, &prog, flags, ret_code, err) : rc;
}
