/* aptlow.c - lowpkg.bin_pkg_info, list_pkgs, unpurge: dpkg without apt. */
#include "common/base/buf.h"
#include "common/base/str.h"
#include "plugins/lib/apt/apt.h"

int
apt_low_bin_pkg_info(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *path = NULL;
    int rc = pkg_local_file(ctx, args, &path, err);

    *ret_value = rc == 0 ? apt_deb_info(ctx, path, err) : NULL;
    return *ret_value != NULL ? 0 : err->code;
}

static int
pick_version(dpkg_t *db, const dpkg_pkg_t *pkg, void *cookie)
{
    AUTO_FREE char *name = dpkg_binary_name(pkg);

    if (dpkg_installed(pkg))
        json_object_set_new(cookie, name, json_string(pkg->version));
    return 0;
}

/* A pattern without a package gives dpkg's text, as in Salt. */
int
apt_low_list_pkgs(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *missing = NULL;
    AUTO(dpkg) db = apt_dpkg(err);
    json_auto_t *ret = json_object();

    if (db == NULL)
        return err->code;
    (void) apt_pick(db, value_get(args, "packages"), pick_version, ret, &missing);
    *ret_value = missing != NULL ? value_fmt("Error:  %s", missing) : STEAL(ret);
    return 0;
}

/* Packages that are to be purged are wanted again. One line for each: dpkg takes all or none. */
int
apt_low_unpurge(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *names = value_get(args, "packages"), *v;
    buf_auto_t lines = BUF_INIT;
    prog_auto_t prog = PROG_INIT;
    size_t i;

    json_array_foreach (names, i, v) {
        AUTO_FREE char *name = value_pystr(v);
        if (pkg_check_name("name", name, err) < 0)
            return err->code;
        buf_printf(&lines, "%s install\n", name);
    }
    json_auto_t *old = apt_pkgs(ctx, PKGS_PURGE_DESIRED, err);
    if (old == NULL)
        return err->code;
    if (lines.len > 0) {
        apt_prog(ctx, &prog, false);
        prog_adds(&prog, "dpkg", "--set-selections", NULL);
        prog.in = buf_str(&lines);
        json_auto_t *out = apt_run(&prog, err);
        if (out == NULL)
            return err->code;
        if (value_int(out, "retcode", 0) != 0)
            return fail_kind(err, FAIL_COMMAND, -EREMOTEIO, "Running dpkg --set-selections failed: %s",
                             value_str(out, "stderr", ""));
        apt_forget(ctx);
    }
    json_auto_t *now = apt_pkgs(ctx, PKGS_PURGE_DESIRED, err);
    if (now == NULL)
        return err->code;
    *ret_value = pkg_changes(old, now);
    return 0;
}
