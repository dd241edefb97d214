/* aptcmd.c - how apt and dpkg are run: environment, systemd scope, waiting for dpkg's lock; and small helpers
 * of the functions of `pkg`. */
#include <poll.h>
#include <strings.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/output/output.h"
#include "plugins/lib/file/field.h"
#include "plugins/lib/packages/apt.h"

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

/* Salt's is_true(): positive numbers, and the text "true" in any case. */
bool
apt_true(const json_t *v)
{
    if (json_is_number(v))
        return json_number_value(v) > 0;
    if (!json_is_string(v))
        return value_truthy(v);
    const char *text = json_string_value(v);
    char *end;
    double d = strtod(text, &end);
    return (*text != '\0' && *end == '\0') ? d > 0 : strcasecmp(text, "true") == 0;
}

/* A null counts as not given. BORROWED. */
json_t *
apt_arg(const json_t *args, const char *name)
{
    json_t *v = value_get(args, name);

    return json_is_null(v) ? NULL : v;
}

bool
apt_arg_true(const json_t *args, const char *name)
{
    json_t *v = apt_arg(args, name);

    return v != NULL && apt_true(v);
}

/* ---- running ------------------------------------------------------------------------------- */

/* By systemd.scope of the configuration, where systemd runs. */
static bool
wants_scope(call_ctx_t *ctx)
{
    fail_auto_t err = FAIL_INIT;
    json_auto_t *args = json_pack("[s, b]", "systemd.scope", 1), *ret = NULL;

    if (fs_absent("/run/systemd/system")) /* else without a scope the upgrade of the minion ends with it */
        return false;
    AUTO_FREE char *systemd_run = fs_which("systemd-run");
    if (systemd_run == NULL)
        return false;
    return ctx_call(ctx, "config.get", args, NULL, &ret, &err) < 0 || value_truthy(ret);
}

void
apt_prog(call_ctx_t *ctx, prog_t *prog, bool scope)
{
    static const char *const env[] = { "APT_LISTBUGS_FRONTEND=none", "APT_LISTCHANGES_FRONTEND=none",
                                       "DEBIAN_FRONTEND=noninteractive", "UCF_FORCE_CONFFOLD=1" };

    for (size_t i = 0; i < NELEMS(env); i++)
        prog_env(prog, env[i]);
    if (scope && wants_scope(ctx))
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

int
apt_fail_info(fail_t *err, const char *text, const json_t *info)
{
    output_opts_t opts = OUTPUT_OPTS_INIT;
    buf_auto_t shown = BUF_INIT;

    opts.out = "nested";
    output_format(info, &opts, &shown);
    while (shown.len > 0 && strchr(" \n", shown.data[shown.len - 1]) != NULL)
        shown.data[--shown.len] = '\0';
    return fail_kind(err, FAIL_COMMAND, -EREMOTEIO, "%s. Additional info follows:\n\n%s", text,
                     buf_str(&shown));
}

/* ---- names and changes --------------------------------------------------------------------- */

json_t *
apt_changes(const json_t *old, const json_t *now)
{
    json_t *ret = json_object(), *v;
    const char *name;

    json_object_foreach ((json_t *) now, name, v) {
        json_t *before = value_get(old, name);
        if (before == NULL)
            json_object_set_new(ret, name, json_pack("{s:s, s:O}", "old", "", "new", v));
        else if (!value_equal(before, v))
            json_object_set_new(ret, name, json_pack("{s:O, s:O}", "old", before, "new", v));
    }
    json_object_foreach ((json_t *) old, name, v) {
        if (value_get(now, name) == NULL)
            json_object_set_new(ret, name, json_pack("{s:s, s:O}", "new", "", "old", v));
    }
    return ret;
}

char *
apt_osarch(call_ctx_t *ctx)
{
    const char *grain = value_str(ctx_grains(ctx), "osarch", NULL);

    if (grain != NULL)
        return xstrdup(grain);
    AUTO(dpkg) db = apt_dpkg(NULL);
    return xstrdup(db != NULL ? dpkg_native(db) : "");
}

int
apt_check_name(const char *argument, const char *name, fail_t *err)
{
    int rc = prog_check_operand(argument, name, err);

    return rc == 0 ? field_check_text(argument, name, FIELD_WORD, err) : rc;
}

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

char *
apt_cache_file(call_ctx_t *ctx, const char *url, const char *saltenv, fail_t *err)
{
    json_auto_t *args = json_pack("[s, s]", url, saltenv), *ret = NULL;

    if (ctx_call(ctx, "cp.cache_file", args, NULL, &ret, err) < 0)
        return NULL;
    return xstrdup(json_is_string(ret) ? json_string_value(ret) : "");
}
