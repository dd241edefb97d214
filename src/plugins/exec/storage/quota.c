/* quota.c - execution module `quota`: limits of disk space, by the programs of quota(1): repquota,
 * setquota, quotaon. Blocks are kibibytes; figures are texts, as repquota prints them. */
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/host/rootfs.h"
#include "plugins/lib/call/tool.h"
#include "plugins/lib/file/fileops.h"
#include "salt/plugin.h"

/* Counting the files of a large disk takes its time. */
#define QUOTA_MS (30 * 60 * 1000)

/* Runs a program with up to two words and a device, each of which may be NULL. NEW {retcode, stdout,
 * stderr}, or NULL with *err. */
static json_t *
quota_ran(call_ctx_t *ctx, const char *program, const char *option, const char *more, const char *device,
          unsigned flags, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;
    int rc = tool_begin(&prog, program, err);

    if (option != NULL)
        prog_add(&prog, option);
    if (more != NULL)
        prog_add(&prog, more);
    prog.timeout_ms = QUOTA_MS;
    rc = rc == 0 && device != NULL ? prog_operand(&prog, "device", device, err) : rc;
    return rc == 0 ? tool_run(ctx, &prog, flags, err) : NULL;
}

/* Adds a line "ann -- 20 100 200 0 5 10 20 0" of the table; the second word ("+-") tells what is exceeded,
 * and is left out, as in Salt. */
static void
add_quota(const char *line, json_t *into)
{
    static const char *const names[] = { "block-used", "block-soft-limit", "block-hard-limit", "block-grace",
                                         "file-used",  "file-soft-limit",  "file-hard-limit",  "file-grace" };
    char **words = str_split(line, " \t", true);
    json_auto_t *one = json_object();

    for (size_t i = 0; strv_len(words) >= NELEMS(names) + 2 && i < NELEMS(names); i++)
        json_object_set_new(one, names[i], value_utf8(words[i + 2], strlen(words[i + 2])));
    if (json_object_size(one) > 0)
        json_object_set(into, words[0], one);
    strv_free(words);
}

/* Reads `repquota -vp`, of users ("-u") or groups ("-g"): {"Users": {name: limits}, "Block Grace Time":
 * [...], ...}. -p: the end of a grace time in seconds since 1970. NEW, or NULL with *err. */
static json_t *
quotas_of(call_ctx_t *ctx, const char *mount, const char *option, fail_t *err)
{
    json_auto_t *ran = quota_ran(ctx, "repquota", "-vp", option, mount, TOOL_MERGE, err);
    const char *kind = strcmp(option, "-u") == 0 ? "Users" : "Groups";
    bool table = false, seen = false;

    if (ran == NULL)
        return NULL;
    json_auto_t *out = json_pack("{s:{}}", kind);
    AUTO_FREE char *text = xstrdup(value_str(ran, "stdout", ""));
    for (char *at = text, *line; *text != '\0' && (line = line_next(&at)) != NULL;) {
        char *semicolon = strchr(line, ';');
        if (table) {
            add_quota(line, value_get(out, kind));
        } else if (strstr(line, "Block grace time") != NULL && semicolon != NULL) {
            *semicolon = '\0';
            const char *block = strstr(line, ": "), *inode = strstr(semicolon + 1, ": ");
            json_object_set_new(out, "Block Grace Time", json_pack("[s]", block != NULL ? block + 2 : line));
            json_object_set_new(out, "Inode Grace Time",
                                json_pack("[s]", inode != NULL ? inode + 2 : semicolon + 1));
        } else {
            /* A line of hyphens ends the heading; the table goes on to the end. */
            seen = table = *line == '-';
        }
    }
    /* Without a table nobody's limits are known: quota.set would take those that it is not given for none. */
    if (!seen && value_int(ran, "retcode", 1) != 0) {
        (void) fop_failed(err, "The quotas of %s can't be read: %s", mount, value_str(ran, "stdout", ""));
        return NULL;
    }
    return STEAL(out);
}

static int
quota_report(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *mount = value_str(args, "mount", "");
    json_auto_t *users = quotas_of(ctx, mount, "-u", err),
                *groups = users != NULL ? quotas_of(ctx, mount, "-g", err) : NULL;

    *ret_value = groups != NULL
                     ? json_pack("{s:{s:O, s:O}}", mount, "User Quotas", users, "Group Quotas", groups)
                     : NULL;
    return groups != NULL ? 0 : err->code;
}

/* Sets limits of a user or a group; those that are not given stay. Returns all of them under "User:
 * ann". */
static int
quota_set(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const char *const limits[] = { "block-soft-limit", "block-hard-limit", "file-soft-limit",
                                          "file-hard-limit" };
    const json_t *given = value_get(args, "kwargs");
    json_t *user = value_get(given, "user"), *group = value_get(given, "group");
    const char *device = value_str(args, "device", "");

    if (user != NULL && group != NULL)
        return fop_invalid(err, "Please specify a user or group, not both.");
    if (user == NULL && group == NULL)
        return fop_failed(err, "A valid user or group was not found");
    AUTO_FREE char *name = value_pystr(user != NULL ? user : group);
    json_auto_t *all = quotas_of(ctx, device, user != NULL ? "-u" : "-g", err);
    if (all == NULL)
        return err->code;
    json_t *known = value_get(value_get(all, user != NULL ? "Users" : "Groups"), name);
    json_auto_t *now = known != NULL ? json_incref(known) : json_object();
    prog_auto_t prog = PROG_INIT;
    int rc = tool_begin(&prog, "setquota", err);
    prog_add(&prog, user != NULL ? "-u" : "-g");
    rc = rc == 0 ? prog_operand(&prog, user != NULL ? "user" : "group", name, err) : rc;
    for (size_t i = 0; i < NELEMS(limits); i++) {
        json_t *limit = value_get(given, limits[i]);
        /* setquota wants all four: 0 is no limit. */
        if (limit != NULL || value_get(now, limits[i]) == NULL)
            json_object_set_new(now, limits[i], limit != NULL ? json_incref(limit) : json_integer(0));
        AUTO_FREE char *text = value_pystr(value_get(now, limits[i]));
        rc = rc == 0 ? prog_operand(&prog, limits[i], text, err) : rc;
    }
    prog.timeout_ms = QUOTA_MS;
    rc = rc == 0 ? prog_operand(&prog, "device", device, err) : rc;
    json_auto_t *ran = rc == 0 ? tool_run(ctx, &prog, 0, err) : NULL;
    if (ran == NULL)
        return err->code;
    if (value_int(ran, "retcode", 1) != 0)
        return fop_failed(err, "Unable to set desired quota. Error follows: \n%s",
                          value_str(ran, "stderr", ""));
    AUTO_FREE char *key = xasprintf("%s: %s", user != NULL ? "User" : "Group", name);
    *ret_value = json_pack("{s:O}", key, now);
    return 0;
}

/* quotaon, quotaoff and quotawarn: the row's text is the program; what it says is in the log only, as with
 * Salt, and so the answer is True in any case, or None for warn, which has no device. */
static int
quota_switch(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *ran = quota_ran(ctx, ctx_row(ctx)->data.text, NULL, NULL, value_str(args, "device", NULL),
                                 TOOL_MERGE, err);
    bool answers = value_get(args, "device") != NULL;

    *ret_value = ran == NULL ? NULL : answers ? json_true() : json_null();
    return ran != NULL ? 0 : err->code;
}

/* The lines "NAME: COUNT" of quotastats, counts of the kernel since boot. */
static int
quota_stats(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *ran = quota_ran(ctx, "quotastats", NULL, NULL, NULL, TOOL_MERGE, err);

    if (ran == NULL)
        return err->code;
    AUTO_FREE char *text = xstrdup(value_str(ran, "stdout", ""));
    *ret_value = json_object();
    for (char *at = text, *line; *text != '\0' && (line = line_next(&at)) != NULL;) {
        char *value = strstr(line, ": ");
        if (value == NULL)
            continue;
        *value = '\0';
        json_object_set_new(*ret_value, line, json_string(value + 2));
    }
    return 0;
}

/* {mount point: {device, user: on, group: off}} of lines "user quota on /home (/dev/sda3) is on
 * (accounting)". Lines that begin with "quotaon:" tell that there is none. */
static int
quota_get_mode(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *device = value_str(args, "device", "");
    json_auto_t *ran = quota_ran(ctx, "quotaon", "-p", NULL, device, TOOL_MERGE, err), *out = json_object();

    if (ran == NULL)
        return err->code;
    AUTO_FREE char *text = xstrdup(value_str(ran, "stdout", ""));
    for (char *at = text, *line; *text != '\0' && (line = line_next(&at)) != NULL;) {
        char **words = str_split(line, " \t", true);
        size_t n = strv_len(words);
        if (n > 4 && str_starts(words[0], "quotaon")) {
            if (str_starts(words[1], "Mountpoint"))
                json_object_set_new(out, words[4], json_string("disabled"));
            else if (str_starts(words[1], "Cannot"))
                json_object_set_new(out, device, json_string("Not found"));
        } else if (n > 6) {
            AUTO_FREE char *open = str_replace(words[4], "(", ""), *source = str_replace(open, ")", "");
            if (value_get(out, words[3]) == NULL)
                json_object_set_new(out, words[3], json_pack("{s:s}", "device", source));
            json_object_set_new(value_get(out, words[3]), words[0], json_string(words[6]));
        }
        strv_free(words);
    }
    *ret_value = STEAL(out);
    return 0;
}

static const char *
exec_quota_unavailable(call_ctx_t *ctx)
{
    AUTO_FREE char *path = fs_which("setquota");

    return path != NULL
               ? NULL
               : "The quota execution module cannot be loaded: the module is only available on POSIX-like systems "
                 "with the setquota binary available.";
}

static const arg_t mount_args[] = { ARG("mount", ARG_STR, ARG_REQUIRED, "Where the disk is mounted"),
                                    ARGS_END };
static const arg_t device_args[] = { ARG("device", ARG_STR, ARG_REQUIRED, "The disk, or where it is mounted"),
                                     ARGS_END };
static const arg_t set_args[] = {
    ARG("device", ARG_STR, ARG_REQUIRED, "The disk, or where it is mounted"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "user or group; the limits",
        "user group block-soft-limit block-hard-limit file-soft-limit file-hard-limit"),
    ARGS_END
};

static const func_t funcs[] = {
    { "get_mode", quota_get_mode, device_args, FN_READONLY,
      "Return whether limits of users and groups are on." CLI_EXAMPLE("salt '*' quota.get_mode /home") },
    { "off", quota_switch, device_args, 0, "Turn limits off." CLI_EXAMPLE("salt '*' quota.off /home"),
      .data.text = "quotaoff" },
    { "on", quota_switch, device_args, 0, "Turn limits on." CLI_EXAMPLE("salt '*' quota.on /home"),
      .data.text = "quotaon" },
    { "report", quota_report, mount_args, FN_READONLY,
      "Return the limits of a disk, and what is used." CLI_EXAMPLE("salt '*' quota.report /home") },
    { "set", quota_set, set_args, 0,
      "Set limits of a user or a group." CLI_EXAMPLE(
          "salt '*' quota.set /home user=larry block-soft-limit=1048576\n    "
          "salt '*' quota.set /home group=painters file-hard-limit=1000") },
    { "stats", quota_stats, NULL, FN_READONLY,
      "Return the kernel's counts." CLI_EXAMPLE("salt '*' quota.stats") },
    { "warn", quota_switch, NULL, 0,
      "Mail those who have exceeded a limit." CLI_EXAMPLE("salt '*' quota.warn"), .data.text = "quotawarn" },
};

PLUGIN(exec, quota, .doc = "Limits of disk space", .unavailable = exec_quota_unavailable, FUNCS(funcs));
