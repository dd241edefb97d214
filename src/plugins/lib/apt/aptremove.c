/* aptremove.c - pkg.remove, purge, autoremove, upgrade. Changes are the difference of the installed packages
 * before and after; a failed program is an error that carries the changes all the same, of remove and purge only
 * where apt-get said why, as in Salt. */
#include "common/base/buf.h"
#include "common/host/rootfs.h"
#include "common/base/str.h"
#include "plugins/lib/apt/apt.h"

/* ---- remove, purge ------------------------------------------------------------------------- */

/* The names among `params` that are in `pkgs`, appended to `targets`. */
static void
aptremove_add_present(json_t *targets, const json_t *params, const json_t *pkgs)
{
    const char *name;
    json_t *v;

    json_object_foreach ((json_t *) params, name, v) {
        if (value_get(pkgs, name) != NULL)
            json_array_append_new(targets, json_string(name));
    }
}

/* Only packages that are installed are passed to apt-get; purge also takes removed ones whose configuration
 * remains. */
int
apt_uninstall(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *action = ctx_row(ctx)->name;
    json_auto_t *params = NULL, *targets = json_array(), *errors = json_array();
    bool files, purge = str_eq(action, "purge");
    int rc = apt_targets(ctx, args, &params, &files, err);

    if (rc < 0)
        return rc;
    json_auto_t *old = apt_pkgs(ctx, 0, err), *old_removed = apt_pkgs(ctx, PKGS_REMOVED, err);
    if (old == NULL || old_removed == NULL)
        return err->code;
    aptremove_add_present(targets, params, old);
    if (purge)
        aptremove_add_present(targets, params, old_removed);
    if (json_array_size(targets) == 0) {
        *ret_value = json_object();
        return 0;
    }

    /* apt-get with the action. */
    const json_t *env = value_get(value_get(args, "kwargs"), "env");
    prog_auto_t prog = PROG_INIT;

    apt_env(&prog, env);
    apt_prog(ctx, &prog, true);
    prog_adds(&prog, "apt-get", "-q", "-y", action, NULL);
    prog_add_json(&prog, targets);
    json_auto_t *out = apt_run(&prog, err);

    if (out == NULL)
        return err->code;
    if (value_int(out, "retcode", 0) != 0 && *value_str(out, "stderr", "") != '\0')
        json_array_append(errors, value_get(out, "stderr"));
    apt_forget(ctx);
    json_auto_t *now = apt_pkgs(ctx, 0, err), *now_removed = apt_pkgs(ctx, PKGS_REMOVED, err);
    if (now == NULL || now_removed == NULL)
        return err->code;
    json_auto_t *ret = pkg_changes(old, now);
    if (purge)
        ret = json_pack("{s:o, s:o}", "removed", pkg_changes(old_removed, now_removed), "installed", ret);
    if (json_array_size(errors) > 0) {
        json_auto_t *info = json_pack("{s:O, s:O}", "errors", errors, "changes", ret);
        return pkg_fail_info(err, "Problem encountered removing package(s)", info);
    }
    *ret_value = STEAL(ret);
    return 0;
}

/* ---- autoremove ---------------------------------------------------------------------------- */

/* list_only asks apt-get what it would remove, and lets it answer no. */
int
apt_autoremove(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    bool list_only = value_truthy(value_get(args, "list_only"));
    prog_auto_t prog = PROG_INIT;
    json_auto_t *old = list_only ? NULL : apt_pkgs(ctx, 0, err);

    if (!list_only && old == NULL)
        return err->code;
    apt_prog(ctx, &prog, true);
    prog_adds(&prog, "apt-get", list_only ? "--assume-no" : "--assume-yes", NULL);
    if (value_truthy(value_get(args, "purge")))
        prog_add(&prog, "--purge");
    prog_add(&prog, "autoremove");
    json_auto_t *out = apt_run(&prog, err);
    if (out == NULL)
        return err->code;
    if (list_only) {
        /* The names below "The following packages will be REMOVED:", sorted. */
        const char *text = value_str(out, "stdout", "");
        AUTO_FREE char *copy = xstrdup(text);
        buf_auto_t words = BUF_INIT;
        json_t *ret = json_array();
        bool inside = false;

        for (char *at = copy, *line; (line = line_next(&at)) != NULL;) {
            if (inside && *line == ' ')
                buf_printf(&words, "%s ", line);
            else if (inside)
                inside = false;
            else
                inside = strstr(line, "The following packages will be REMOVED:") != NULL;
        }
        char **names = str_split(buf_str(&words), " \t", true);
        qsort(names, strv_len(names), sizeof(*names), str_by_text);
        for (size_t i = 0; names[i] != NULL; i++)
            json_array_append_new(ret, json_string(names[i]));
        strv_free(names);
        *ret_value = ret;

        return 0;
    }
    apt_forget(ctx);
    json_auto_t *now = apt_pkgs(ctx, 0, err);
    if (now == NULL)
        return err->code;
    json_auto_t *ret = pkg_changes(old, now);
    int code = (int) value_int(out, "retcode", 0);
    if (code != 0) {
        const char *said = value_str(out, "stderr", "");
        json_t *why = *said != '\0' ? json_incref(value_get(out, "stderr"))
                                    : value_fmt("apt-get ended with exit code %d", code);
        json_auto_t *info = json_pack("{s:[o], s:O}", "errors", why, "changes", ret);
        return pkg_fail_info(err, "Problem encountered removing package(s)", info);
    }
    *ret_value = STEAL(ret);
    return 0;
}

/* ---- upgrade ------------------------------------------------------------------------------- */

/* After a failed upgrade the packages that were changed are told in the error. */
int
apt_upgrade(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;

    if (pkg_arg_true(args, "refresh")) {
        const json_t *valid = value_get(value_get(args, "kwargs"), "cache_valid_time");
        json_auto_t *done = apt_refresh(ctx, valid, false, err);
        if (done == NULL)
            return err->code;
    }
    json_auto_t *old = apt_pkgs(ctx, 0, err);
    if (old == NULL)
        return err->code;

    /* Changed configuration files are kept unless force_conf_new is given. */
    static const char *const switches[][2] = { { "force_yes", "--force-yes" },
                                               { "skip_verify", "--allow-unauthenticated" },
                                               { "download_only", "--download-only" },
                                               { "downloadonly", "--download-only" },
                                               { "allow_downgrades", "--allow-downgrades" } };
    const json_t *kwargs = value_get(args, "kwargs");

    apt_prog(ctx, &prog, true);
    prog_adds(&prog, "apt-get", "-q", "-y", NULL);
    if (value_truthy(value_get(kwargs, "force_conf_new")))
        prog_adds(&prog, "-o", "DPkg::Options::=--force-confnew", NULL);
    else
        prog_adds(&prog, "-o", "DPkg::Options::=--force-confold", "-o", "DPkg::Options::=--force-confdef",
                  NULL);
    for (size_t i = 0; i < NELEMS(switches); i++) {
        if (value_truthy(value_get(kwargs, switches[i][0])))
            prog_add(&prog, switches[i][1]);
    }
    prog_add(&prog, value_truthy(value_get(args, "dist_upgrade")) ? "dist-upgrade" : "upgrade");

    json_auto_t *out = apt_run(&prog, err);
    apt_forget(ctx);
    json_auto_t *now = out != NULL ? apt_pkgs(ctx, 0, err) : NULL;
    if (now == NULL)
        return err->code;
    json_auto_t *ret = pkg_changes(old, now);
    if (value_int(out, "retcode", 0) != 0) {
        json_auto_t *info = json_pack("{s:O, s:O}", "changes", ret, "result", out);
        return pkg_fail_info(err, "Problem encountered upgrading packages", info);
    }
    *ret_value = STEAL(ret);
    return 0;
}
