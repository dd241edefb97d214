/* timezone.c - execution module `timezone`: the host's zone and whether its hardware clock keeps UTC, by
 * timedatectl where it is, else by /etc/localtime and the files of the family (adjtime(5)). A zone is its
 * path below /usr/share/zoneinfo. */
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/host/rootfs.h"
#include "plugins/lib/call/subcall.h"
#include "plugins/lib/call/tool.h"
#include "plugins/lib/file/fileops.h"
#include "plugins/lib/file/partfile.h"
#include "salt/plugin.h"

#define LOCALTIME "/etc/localtime"
#define ZONES     "/usr/share/zoneinfo/"
#define ADJTIME   "/etc/adjtime"

#define ZONE(args) value_str(args, "timezone", "")

static const char *
family_of(call_ctx_t *ctx)
{
    return value_str(ctx_grains(ctx), "os_family", "");
}

/* True when there is such a program, as in Salt, which does not ask whether systemd runs. */
static bool
has_timedatectl(void)
{
    AUTO_FREE char *path = fs_which("timedatectl");

    return path != NULL;
}

/* NEW file of a zone; NULL for a name that leads out of the zones. */
static char *
zone_file(const char *zone)
{
    AUTO_FREE char *framed = xasprintf("/%s/", zone);

    return strstr(framed, "/../") == NULL ? xasprintf(ZONES "%s", zone) : NULL;
}

/* ---- timedatectl ---------------------------------------------------------------------------- */

/* The value of the first line "LABEL: VALUE" of timedatectl, of any of the labels in small letters. NEW, or
 * NULL with *err. */
static char *
timedatectl_value(call_ctx_t *ctx, const char *const *labels, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;

    prog_add(&prog, "timedatectl");
    prog.timeout_ms = LIMIT_TOOL_MS;
    json_auto_t *out = tool_run(ctx, &prog, 0, err);
    if (out == NULL)
        return NULL;
    if (value_int(out, "retcode", 0) != 0) {
        fop_failed(err, "timedatectl failed: %s", value_str(out, "stderr", ""));
        return NULL;
    }
    AUTO_FREE char *text = xstrdup(value_str(out, "stdout", ""));
    for (char *at = text, *line; (line = line_next(&at)) != NULL;) {
        char *label = str_trim(line), *value = line_value(label, ':');
        for (const char *const *l = labels; value != NULL && *l != NULL; l++) {
            if (strcasecmp(label, *l) == 0)
                return xstrdup(value);
        }
    }
    /* Salt's text, its advice included. */
    fop_failed(err, "Failed to parse timedatectl output: %s\nPlease file an issue with SaltStack",
               value_str(out, "stdout", ""));
    return NULL;
}

/* Runs timedatectl VERB OPERAND; *ret_code is its exit code. 0, or negative with *err. */
static int
timedatectl_does(call_ctx_t *ctx, const char *verb, const char *operand, int *ret_code, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;

    prog_adds(&prog, "timedatectl", verb, NULL);
    prog.timeout_ms = LIMIT_TOOL_MS;
    int rc = prog_operand(&prog, "timezone", operand, err);
    return rc == 0 ? tool_retcode(ctx, &prog, 0, ret_code, err) : rc;
}

/* ---- files ---------------------------------------------------------------------------------- */

/* The value of the first line that has the word and "=", without quotes; comments count for nothing.
 * *ret_value is NULL where there is none, or no file. */
static int
assigned(const char *path, const char *word, char **ret_value, fail_t *err)
{
    buf_auto_t text = BUF_INIT;
    int rc = fs_read_any(path, LIMIT_HOST_FILE, &text, err);

    *ret_value = NULL;
    for (char *at = text.data, *raw; rc > 0 && at != NULL && (raw = line_next(&at)) != NULL;) {
        char *line = str_trim(raw), *equals = strrchr(line, '=');
        if (*line == '#' || equals == NULL || strstr(line, word) == NULL)
            continue;
        AUTO_FREE char *value = str_replace(equals + 1, "\"", "");
        *ret_value = str_replace(value, "'", "");
        return 0;
    }
    return rc < 0 ? rc : 0;
}

/* The zone that /etc/localtime is a link to. NEW, or NULL with *err. */
static char *
linked_zone(fail_t *err)
{
    char target[4096];
    ssize_t n = readlink(LOCALTIME, target, sizeof(target) - 1);

    if (n < 0 && fs_is_absence(-errno)) {
        fop_failed(err, LOCALTIME " does not exist");
        return NULL;
    }
    target[n > 0 ? n : 0] = '\0';
    AUTO_FREE char *joined = fop_join2("/etc", target), *path = fop_normpath(joined);
    if (n > 0 && str_starts(path, ZONES))
        return xstrdup(path + strlen(ZONES));
    fop_failed(err, "Unable to determine timezone");
    return NULL;
}

/* The zone that a file with its name holds, as Debian's /etc/timezone. NEW, or NULL with *err. */
static char *
zone_of_file(const char *path, fail_t *err)
{
    buf_auto_t text = BUF_INIT;
    fail_auto_t why = FAIL_INIT;
    int rc = fs_read(path, LIMIT_HOST_FILE, &text, &why);

    if (rc < 0) {
        fop_failed(err, "Problem reading timezone file %s: %s", path, strerror(-rc));
        return NULL;
    }
    AUTO_FREE char *copy = buf_steal(&text);
    return xstrdup(copy != NULL ? str_trim(copy) : "");
}

/* The zone, by timedatectl or as the family has it. NEW, or NULL with *err. */
static char *
zone_by_files(call_ctx_t *ctx, fail_t *err)
{
    static const char *const labels[] = { "Time zone", "Timezone", NULL };
    const char *family = family_of(ctx);
    char *zone = NULL;

    if (has_timedatectl()) {
        AUTO_FREE char *value = timedatectl_value(ctx, labels, err);
        return value != NULL ? xstrndup(value, strcspn(value, " \t")) : NULL;
    }
    /* CentOS counts as RedHat below, and no longer has that family's file. */
    if (strcasecmp(value_str(ctx_grains(ctx), "os", ""), "centos") == 0 || strcmp(family, "Slackware") == 0)
        return linked_zone(err);
    if (strstr(family, "Debian") != NULL || strstr(family, "Gentoo") != NULL)
        return zone_of_file("/etc/timezone", err);
    if (strstr(family, "RedHat") == NULL && strstr(family, "Suse") == NULL) {
        fop_failed(err, "Unable to get timezone");
        return NULL;
    }
    if (assigned("/etc/sysconfig/clock", "ZONE", &zone, err) < 0)
        return NULL;
    if (zone == NULL)
        fop_failed(err, "Unable to get timezone from /etc/sysconfig/clock");
    /* An empty value stands for UTC, as in Salt. */
    return zone != NULL && *zone == '\0' ? (free(zone), xstrdup("UTC")) : zone;
}

/* Lines of configuration that name the zone, or say how the clock runs. */
typedef struct zone_line {
    const char *family, *file, *before, *after; /* sed's expressions; %s: the value */
} zone_line_t;

static const zone_line_t zone_lines[] = {
    { "RedHat", "/etc/sysconfig/clock", "^ZONE=.*", "ZONE=\"%s\"" },
    { "Suse", "/etc/sysconfig/clock", "^TIMEZONE=.*", "TIMEZONE=\"%s\"" },
};
static const zone_line_t clock_lines[] = {
    { "Debian", "/etc/default/rcS", "^UTC=.*", "UTC=%s" },
    { "Gentoo", "/etc/conf.d/hwclock", "^clock=.*", "clock=\"%s\"" },
    { "Slackware", "/etc/hardwareclock", "^(UTC|localtime)", "%s" },
};

/* Puts the value into the line of the row for the host's family; a family without a row, or a host without
 * the file, has none to write. 0, or negative with *err. */
static int
timezone_write_line(call_ctx_t *ctx, const zone_line_t *rows, size_t n, const char *value, fail_t *err)
{
    for (size_t i = 0; i < n; i++) {
        if (strstr(family_of(ctx), rows[i].family) == NULL || fs_absent(rows[i].file))
            continue;
        AUTO_FREE char *after = str_replace(rows[i].after, "%s", value);
        json_auto_t *done = sub_call(ctx, err, "file.sed", "{s:s, s:s, s:s}", "path", rows[i].file, "before",
                                     rows[i].before, "after", after);
        return done != NULL ? 0 : err->code;
    }
    return 0;
}

/* Points /etc/localtime at the file, at once: a program that looks at the clock meanwhile finds the old
 * zone or the new one. 0, or negative with *err. */
static int
link_zone(const char *file, fail_t *err)
{
    AUTO_FREE char *fresh = xasprintf(LOCALTIME ".%d", (int) getpid());

    if (symlink(file, fresh) == 0 && rename(fresh, LOCALTIME) == 0)
        return 0;
    int rc = -errno;
    (void) unlink(fresh);
    return fs_fail(err, rc, "replace", LOCALTIME);
}

/* ---- functions ------------------------------------------------------------------------------ */

static int
timezone_get_zone(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *zone = zone_by_files(ctx, err);

    *ret_value = zone != NULL ? value_utf8(zone, strlen(zone)) : NULL;
    return zone != NULL ? 0 : err->code;
}

/* date's answer in the format of the row. */
static int
timezone_date(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;
    int rc = tool_begin(&prog, "date", err);

    prog_add(&prog, ctx_row(ctx)->data.text);
    prog.timeout_ms = LIMIT_TOOL_MS;
    return rc == 0 ? tool_text(ctx, &prog, ret_value, err) : rc;
}

/* A zone without a file is a text and not an error, as in Salt. */
static int
timezone_set_zone(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *file = zone_file(ZONE(args)), *line = xasprintf("%s\n", ZONE(args));
    const char *family = family_of(ctx);
    int there = file != NULL ? fs_look(file, err) : 0, code;

    if (there == 0)
        *ret_value = value_fmt("Zone does not exist: " ZONES "%s", ZONE(args));
    if (there <= 0)
        return there;
    /* Its exit code is not looked at: the link is made below in any case, also where systemd does not
     * run. */
    if (has_timedatectl() && timedatectl_does(ctx, "set-timezone", ZONE(args), &code, err) < 0)
        return err->code;
    if (link_zone(file, err) < 0 ||
        timezone_write_line(ctx, zone_lines, NELEMS(zone_lines), ZONE(args), err) < 0)
        return err->code;
    if ((strstr(family, "Debian") != NULL || strstr(family, "Gentoo") != NULL) &&
        partfile_put("/etc/timezone", line, strlen(line), 0644, err) < 0)
        return err->code;
    *ret_value = json_true();
    return 0;
}

/* True when /etc/localtime has the same bytes as the zone's file: aliases (UTC and Etc/UTC) are equal. */
static int
timezone_zone_compare(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *file = zone_file(ZONE(args));
    buf_auto_t wanted = BUF_INIT, now = BUF_INIT;
    fail_auto_t why = FAIL_INIT;

    /* Arch may be without the file; then the names are compared. */
    if (strstr(family_of(ctx), "Arch") != NULL && fs_look_file(LOCALTIME, err) == 0) {
        AUTO_FREE char *zone = zone_by_files(ctx, err);
        *ret_value = zone != NULL ? json_boolean(strcmp(zone, ZONE(args)) == 0) : NULL;
        return zone != NULL ? 0 : err->code;
    }
    int rc = fs_read(LOCALTIME, LIMIT_HOST_FILE, &now, &why);
    if (rc < 0)
        return fop_failed(err, "Failed to read " LOCALTIME " to determine current timezone: %s",
                          strerror(-rc));
    rc = file != NULL ? fs_read(file, LIMIT_HOST_FILE, &wanted, &why) : -ENOENT;
    if (rc < 0)
        return fop_invalid(err, "Can't find a local timezone \"%s\"", ZONE(args));
    *ret_value = json_boolean(now.len == wanted.len && memcmp(buf_str(&now), buf_str(&wanted), now.len) == 0);
    return 0;
}

/* The third line of /etc/adjtime, UTC or LOCAL, which is its last. None where there is neither the file nor
 * a hardware clock. */
static int
clock_of_adjtime(json_t **ret_value, fail_t *err)
{
    buf_auto_t text = BUF_INIT;
    int there = fs_read_any(ADJTIME, LIMIT_HOST_FILE, &text, err);
    char *last = NULL;

    if (there < 0)
        return there;
    int clock = there == 0 ? fs_look("/dev/rtc", err) : 0;
    if (clock < 0)
        return clock;
    if (clock > 0)
        return fop_failed(err, "Unable to get hwclock timezone from " ADJTIME);
    for (char *at = text.data, *line; at != NULL && (line = line_next(&at)) != NULL;)
        last = *line != '\0' ? line : last;
    *ret_value = there == 0 ? json_null() : json_string(last != NULL ? str_trim(last) : "");
    return 0;
}

/* Whether the hardware clock keeps UTC or local time, as the family's files tell, in the family's own word.
 * 0, or negative with *err. */
static int
clock_by_files(call_ctx_t *ctx, json_t **ret_value, fail_t *err)
{
    const char *family = family_of(ctx);
    AUTO_FREE char *value = NULL;
    int rc = 0;

    if (strstr(family, "Debian") != NULL) {
        rc = assigned("/etc/default/rcS", "UTC", &value, err);
        if (value != NULL)
            *ret_value = json_string(strcasecmp(value, "yes") == 0 ? "UTC" : "localtime");
    } else if (strstr(family, "Gentoo") != NULL && fs_absent(ADJTIME)) {
        rc = assigned("/etc/conf.d/hwclock", "clock", &value, err);
        if (rc == 0 && value == NULL)
            return fop_failed(err, "Correct offset value not found in /etc/conf.d/hwclock");
        if (rc == 0)
            *ret_value = json_string(strcmp(value, "local") == 0 ? "LOCAL" : value);
    }
    return rc < 0 || *ret_value != NULL ? rc : clock_of_adjtime(ret_value, err);
}

/* "UTC" or "localtime"; timedatectl answers "RTC in local TZ: yes" or "no". */
static int
timezone_get_hwclock(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const char *const labels[] = { "RTC in local TZ", NULL };

    *ret_value = NULL;
    if (!has_timedatectl())
        return clock_by_files(ctx, ret_value, err);
    AUTO_FREE char *value = timedatectl_value(ctx, labels, err);
    if (value == NULL)
        return err->code;
    *ret_value = json_string(strcasecmp(value, "yes") == 0 ? "localtime" : "UTC");
    return 0;
}

static int
timezone_set_hwclock(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *clock = value_str(args, "clock", ""), *family = family_of(ctx);
    bool local = strcmp(clock, "localtime") == 0;
    int code = 0;

    if (!local && strcmp(clock, "UTC") != 0)
        return fop_invalid(err, "Only 'UTC' and 'localtime' are allowed");
    if (has_timedatectl()) {
        int rc = timedatectl_does(ctx, "set-local-rtc", local ? "true" : "false", &code, err);
        *ret_value = rc == 0 ? json_boolean(code == 0) : NULL;
        return rc;
    }
    /* Each family has a word of its own for the same thing: Debian's is the answer to "UTC=". */
    const char *value = strstr(family, "Debian") != NULL            ? local ? "no" : "yes"
                        : local && strstr(family, "Gentoo") != NULL ? "local"
                                                                    : clock;
    AUTO_FREE char *zone = zone_by_files(ctx, err), *file = zone != NULL ? zone_file(zone) : NULL;
    if (zone == NULL)
        return err->code;
    if (file == NULL || fs_absent(file))
        return fop_failed(err, "Zone '" ZONES "%s' does not exist", zone);
    /* The zone is written anew, as in Salt: some families have it in the same file. */
    if (link_zone(file, err) < 0 || timezone_write_line(ctx, zone_lines, NELEMS(zone_lines), zone, err) < 0 ||
        timezone_write_line(ctx, clock_lines, NELEMS(clock_lines), value, err) < 0)
        return err->code;
    *ret_value = json_true();
    return 0;
}

/* ---- table ---------------------------------------------------------------------------------- */

static const arg_t zone_args[] = { ARG("timezone", ARG_STR, ARG_REQUIRED, "The zone: Europe/Berlin"),
                                   ARGS_END };
static const arg_t clock_args[] = { ARG("clock", ARG_STR, ARG_REQUIRED, "UTC or localtime"), ARGS_END };

static const func_t funcs[] = {
    { "get_hwclock", timezone_get_hwclock, NULL, FN_READONLY,
      "Return whether the hardware clock keeps UTC or localtime." CLI_EXAMPLE(
          "salt '*' timezone.get_hwclock") },
    { "get_offset", timezone_date, NULL, FN_READONLY,
      "Return how far the zone is from UTC: +0200." CLI_EXAMPLE("salt '*' timezone.get_offset"),
      .data.text = "+%z" },
    { "get_zone", timezone_get_zone, NULL, FN_READONLY,
      "Return the zone: Europe/Berlin." CLI_EXAMPLE("salt '*' timezone.get_zone") },
    { "get_zonecode", timezone_date, NULL, FN_READONLY,
      "Return the zone's letters: CEST." CLI_EXAMPLE("salt '*' timezone.get_zonecode"), .data.text = "+%Z" },
    { "set_hwclock", timezone_set_hwclock, clock_args, 0,
      "Have the hardware clock keep UTC or localtime." CLI_EXAMPLE("salt '*' timezone.set_hwclock UTC") },
    { "set_zone", timezone_set_zone, zone_args, 0,
      "Set the zone; return True, or that there is none of the name." CLI_EXAMPLE(
          "salt '*' timezone.set_zone Europe/Berlin") },
    { "zone_compare", timezone_zone_compare, zone_args, FN_READONLY,
      "Return whether the host's zone is this one, by their files." CLI_EXAMPLE(
          "salt '*' timezone.zone_compare Europe/Berlin") },
};

PLUGIN(exec, timezone, .doc = "The host's time zone", FUNCS(funcs));
