/* aptcmd.c - how apt and dpkg are run: environment, systemd scope, waiting for dpkg's lock; and small helpers
 * of the functions of `pkg`. */
#include <poll.h>
#include <strings.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/output/output.h"
#include "plugins/lib/file/field.h"
#include "plugins/lib/apt/apt.h"

/* DPKG_ROOT, which tests set. BORROWED; "" for the host. */
const char *
apt_root(void)
{
    const char *root = getenv("DPKG_ROOT");

    return root != NULL ? root : "";
}

dpkg_t *
apt_dpkg(fail_t *err)
{
    return dpkg_new(apt_root(), err);
}

/* ---- running ------------------------------------------------------------------------------- */

void
apt_prog(call_ctx_t *ctx, prog_t *prog, bool scope)
{
    static const char *const env[] = { "APT_LISTBUGS_FRONTEND=none", "APT_LISTCHANGES_FRONTEND=none",
                                       "DEBIAN_FRONTEND=noninteractive", "UCF_FORCE_CONFFOLD=1" };

    for (size_t i = 0; i < NELEMS(env); i++)
        prog_env(prog, env[i]);
    if (scope && pkg_wants_scope(ctx))
        prog_adds(prog, "systemd-run", "--scope", "--description", "\"salt.modules.aptpkg\"", NULL);
}

/* Environment of the call: a dict, or a list of dicts. */
void
apt_env(prog_t *prog, const json_t *env)
{
    json_t *element, *v;
    const char *key;
    size_t i;

    json_array_foreach (env, i, element)
        apt_env(prog, json_is_object(element) ? element : NULL);
    json_object_foreach ((json_t *) env, key, v) {
        AUTO_FREE char *text = value_pystr(v);
        AUTO_FREE char *assignment = xasprintf("%s=%s", key, text);
        prog_env(prog, assignment);
    }
}

/* dpkg's lock is waited for, longer each time, about half an hour in all. */
json_t *
apt_run(const prog_t *prog, fail_t *err)
{
    enum { TRIES = 10 };
    json_t *ret = prog_run_all(prog, err);

    for (int n = 1; ret != NULL && n <= TRIES; n++) {
        if (strstr(value_str(ret, "stderr", ""), "Could not get lock") == NULL)
            break;
        (void) poll(NULL, 0, 1000 << n);
        json_decref(ret);
        ret = prog_run_all(prog, err);
    }
    return ret;
}

/* Runs the words up to NULL. NEW {retcode, stdout, stderr}, or NULL with *err. */
json_t *
apt_output(call_ctx_t *ctx, fail_t *err, ...)
{
    prog_auto_t prog = PROG_INIT;
    const char *word;
    va_list ap;

    apt_prog(ctx, &prog, false);
    va_start(ap, err);
    while ((word = va_arg(ap, const char *)) != NULL)
        prog_add(&prog, word);
    va_end(ap);
    return apt_run(&prog, err);
}

/* ---- names --------------------------------------------------------------------------------- */

/* The grain, or dpkg's own word where grains are not known yet. */
char *
apt_osarch(call_ctx_t *ctx)
{
    const char *grain = value_str(ctx_grains(ctx), "osarch", NULL);

    if (grain != NULL)
        return xstrdup(grain);
    AUTO(dpkg) db = apt_dpkg(NULL);
    return xstrdup(db != NULL ? dpkg_native(db) : "");
}

/* "name:arch" of the machine's own architecture is "name". */
char *
apt_normal_name(call_ctx_t *ctx, const char *name)
{
    const char *colon = strrchr(name, ':');

    if (colon == NULL)
        return xstrdup(name);
    AUTO_FREE char *osarch = apt_osarch(ctx);
    bool usual = str_eq(colon + 1, osarch) || str_eq(colon + 1, "all") || str_eq(colon + 1, "any");
    return usual ? xstrndup(name, (size_t) (colon - name)) : xstrdup(name);
}

/* Names are normalised unless normalize=False. */
int
apt_targets(call_ctx_t *ctx, const json_t *args, json_t **ret_params, bool *ret_files, fail_t *err)
{
    const json_t *normalize = value_get(value_get(args, "kwargs"), "normalize");

    return pkg_targets(ctx, args, normalize == NULL || value_truthy(normalize) ? apt_normal_name : NULL,
                       ret_params, ret_files, err);
}
