/* yumhold.c - holds: locks of the plug-in "versionlock" of dnf and yum. */
#include <strings.h>

#include "common/base/str.h"
#include "common/host/rootfs.h"
#include "common/match/regex.h"
#include "plugins/lib/call/tool.h"
#include "plugins/lib/packages/yum.h"

/* A name in a lock: parts with dots and hyphens. */
#define HOLD_PATTERN "[\\w+]+(?:[.-][^-]+)*"

/* The package that brings the plug-in; NULL where there is none. */
static const char *
plugin_package(call_ctx_t *ctx)
{
    const json_t *grains = ctx_grains(ctx);
    const char *release = value_str(grains, "osrelease", "0");
    json_int_t major = value_int(grains, "osmajorrelease", atoll(value_str(grains, "osmajorrelease", "0")));

    if (str_eq(yum_bin(), "tdnf"))
        return NULL;
    if (!yum_is_dnf())
        return major == 5 ? "yum-versionlock" : "yum-plugin-versionlock";
    if (strcasecmp(value_str(grains, "os", ""), "fedora") == 0)
        return atoll(release) >= 26 ? "python3-dnf-plugin-versionlock"
                                    : "python3-dnf-plugins-extras-versionlock";
    return major >= 8 ? "python3-dnf-plugin-versionlock" : "python2-dnf-plugin-versionlock";
}

/* Without the plug-in there is no command: Salt refuses, and so does this. */
static int
need_plugin(call_ctx_t *ctx, fail_t *err)
{
    const char *package = plugin_package(ctx);
    const json_t *known = package != NULL ? rpm_packages(ctx, NULL, false, err) : NULL;

    if (package == NULL)
        return fail_kind(err, FAIL_INVOCATION, -ENOENT, "Cannot proceed, no versionlock for tdnf");
    if (known == NULL)
        return err->code;
    if (value_get(known, package) == NULL)
        return fail_kind(err, FAIL_INVOCATION, -ENOENT, "Cannot proceed, %s is not installed.", package);
    return 0;
}

/* The part of a line that locks a package: "name-version-release.arch", behind an epoch with yum; without
 * `full` its name. NEW, or NULL for another line. */
static char *
hold_in(rx_t *rx, const char *line, bool full)
{
    if (rx_search(rx, line, strlen(line), 0, NULL) <= 0)
        return NULL;
    char *text = rx_group_text(rx, line, 1);
    if (full)
        return text;
    /* Without its architecture, release and version. */
    for (const char *c = ".--"; *c != '\0'; c++) {
        char *at = strrchr(text, *c);
        if (at != NULL)
            *at = '\0';
    }
    return text;
}

/* dnf's list has "name-version", yum's an epoch before it. */
json_t *
yum_holds(call_ctx_t *ctx, const char *pattern, bool full, fail_t *err)
{
    const char *name = pattern != NULL ? pattern : HOLD_PATTERN;
    AUTO_FREE char *expression = yum_is_dnf() ? xasprintf("(%s-\\S+)", name)
                                 : full       ? xasprintf("(\\d+:%s-\\S+)", name)
                                              : xasprintf("\\d+:(%s-\\S+)", name);

    if (need_plugin(ctx, err) < 0)
        return NULL;
    AUTO(rx) rx = rx_new(expression, 0, err);
    AUTO_FREE char *text = rx != NULL ? yum_stdout(ctx, err, "versionlock", "list", NULL) : NULL;
    json_t *ret = text != NULL ? json_array() : NULL;
    for (char *at = text, *line; ret != NULL && (line = line_next(&at)) != NULL;) {
        AUTO_FREE char *hold = hold_in(rx, line, full);
        if (hold != NULL)
            json_array_append_new(ret, json_string(hold));
    }
    return ret;
}

int
yum_list_holds(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *pattern = value_str(args, "pattern", NULL);

    *ret_value = yum_holds(ctx, pattern, value_truthy(value_get(args, "full")), err);
    return *ret_value != NULL ? 0 : err->code;
}

/* The locks that hold a package. NEW list. */
static json_t *
locks_of(const json_t *locks, const char *target, fail_t *err)
{
    AUTO_FREE char *expression = xasprintf("\\d+:(%s-\\S+)", HOLD_PATTERN);
    AUTO(rx) rx = rx_new(expression, 0, err);
    json_t *ret = json_array(), *v;
    size_t i;

    json_array_foreach (locks, i, v) {
        const char *lock = json_string_value(v);
        AUTO_FREE char *name = yum_is_dnf() || rx == NULL ? xstrdup(lock) : hold_in(rx, lock, false);
        if (str_eq(name, target))
            json_array_append(ret, v);
    }
    return ret;
}

/* Adds or removes the locks of one package. NEW {"name", "changes", "result", "comment"}, or NULL with *err. */
static json_t *
hold_one(call_ctx_t *ctx, const char *target, const json_t *locks, bool hold, fail_t *err)
{
    json_auto_t *found = hold || locks == NULL ? json_array() : locks_of(locks, target, err);
    bool already = hold ? value_lists(locks, target) : json_array_size(found) == 0;
    const char *done = hold ? "held" : "unheld";
    json_t *result = json_true(), *changes = json_object(), *comment;
    int code = 1;

    if (already) {
        comment = hold ? value_fmt("Package %s is already set to be held.", target)
                       : value_fmt("Package %s is not being held.", target);
    } else if (ctx_test(ctx)) {
        result = json_null();
        comment = value_fmt("Package %s is set to be %s.", target, done);
    } else {
        prog_auto_t prog = PROG_INIT;
        int rc = yum_begin(ctx, &prog, err);
        prog_add(&prog, "versionlock");
        if (!hold)
            prog_add(&prog, "delete");
        if (rc == 0 && hold)
            rc = prog_operand(&prog, "pkgs", target, err);
        prog_add_json(&prog, found);
        if (rc < 0 || tool_retcode(ctx, &prog, 0, &code, err) < 0) {
            json_decref(changes);
            return NULL;
        }
        result = json_boolean(code == 0);
        if (code == 0) {
            json_object_set_new(changes, "new", json_string(hold ? "hold" : ""));
            json_object_set_new(changes, "old", json_string(hold ? "" : "hold"));
        }
        comment = code == 0
                      ? value_fmt(hold ? "Package %s is now being held." : "Package %s is no longer held.",
                                  target)
                      : value_fmt("Package %s was unable to be %s.", target, done);
    }
    return json_pack("{s:s, s:o, s:o, s:o}", "name", target, "changes", changes, "result", result, "comment",
                     comment);
}

/* A command for each package, so that each has its own answer. */
json_t *
yum_set_hold(call_ctx_t *ctx, const json_t *targets, bool hold, fail_t *err)
{
    json_auto_t *locks = yum_holds(ctx, NULL, !hold && !yum_is_dnf(), err), *ret = json_object();
    json_t *v;
    size_t i;

    if (locks == NULL)
        return NULL;
    json_array_foreach (targets, i, v) {
        AUTO_FREE char *target = json_is_object(v) ? xstrdup(json_object_iter_key(json_object_iter(v)))
                                                   : value_pystr(v);
        json_t *answer = hold_one(ctx, target, locks, hold, err);
        if (answer == NULL)
            return NULL;
        json_object_set_new(ret, target, answer);
    }
    return STEAL(ret);
}

/* pkg.hold and pkg.unhold: the row's name tells. */
int
yum_hold_call(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    bool hold = str_eq(ctx_row(ctx)->name, "hold");
    json_t *name = value_get(args, "name"), *pkgs = value_get(args, "pkgs"),
           *sources = value_get(args, "sources");

    if (need_plugin(ctx, err) < 0)
        return err->code;
    if (!value_truthy(name) && !value_truthy(pkgs) && !value_truthy(sources))
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "One of name, pkgs, or sources must be specified.");
    if (value_truthy(pkgs) && value_truthy(sources))
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "Only one of pkgs or sources can be specified.");
    json_auto_t *targets = value_truthy(pkgs)      ? json_incref(pkgs)
                           : value_truthy(sources) ? json_incref(sources)
                                                   : json_pack("[O]", name);
    *ret_value = yum_set_hold(ctx, targets, hold, err);
    return *ret_value != NULL ? 0 : err->code;
}
