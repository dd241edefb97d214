/* system.c - execution module `system`: halt and boot, the clocks, the computer's names. Power functions
 * run the host's programs and return what these print; clocks are set by date and, where it can be set,
 * hwclock. Times are local ones unless utc_offset says otherwise, and seconds are the finest. */
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/system/datetime.h"
#include "plugins/lib/system/machineinfo.h"
#include "plugins/lib/call/tool.h"

#define MACHINE_INFO "/etc/machine-info"

/* Bytes of a time's text; modes of the files that are made here. */
enum { STAMP_LEN = 64, MACHINE_INFO_MODE = 0644, WITNESS_MODE = 0755 };

/* ---- halt and boot ---------------------------------------------------------------------------- */

/* Runs PROGRAM [WORD [WORD]] and returns what it prints, which is empty as a rule. */
static int
power(call_ctx_t *ctx, const char *program, const char *word, const char *word2, json_t **ret_value,
      fail_t *err)
{
    prog_auto_t prog = PROG_INIT;
    int rc = tool_begin(&prog, program, err);

    if (rc < 0)
        return rc;
    if (word != NULL)
        prog_adds(&prog, word, word2, (char *) NULL);
    return tool_text(ctx, &prog, ret_value, err);
}

/* halt and poweroff: the row has the program. */
static int
system_power_off(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return power(ctx, ctx_row(ctx)->data.text, NULL, NULL, ret_value, err);
}

/* The level is a letter that init(8) knows; with systemd as process 1 it is a link to systemctl that takes
 * the same. */
static int
system_init(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *level = value_str(args, "runlevel", "");

    if (strlen(level) != 1 || strchr("0123456789abcABCsSqQuU", *level) == NULL)
        return fail_kind(err, FAIL_INVOCATION, -EINVAL,
                         "'%s' is not a run level: give one of 0 to 6, S, or a letter that init knows",
                         level);
    return power(ctx, "init", level, NULL, ret_value, err);
}

/* `at_time`: "now", minutes ("+5", 5), or a time of day; the row says whether the host boots again. */
static int
system_shut_down(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *how = ctx_row(ctx)->data.text;
    json_t *at_time = value_get(args, "at_time");
    AUTO_FREE char *when = value_truthy(at_time) ? value_pystr(at_time) : xstrdup("now");

    if (*when == '-')
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "'%s' is not a time: give minutes, hh:mm or now",
                         when);
    return power(ctx, "shutdown", how, when, ret_value, err);
}

/* ---- clocks -------------------------------------------------------------------------------------- */

#define CLOCK(function, format)                                                                              \
    static int system_##function(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)             \
    {                                                                                                        \
        struct tm tm;                                                                                        \
        char text[STAMP_LEN];                                                                                \
        int rc = datetime_now(value_str(args, "utc_offset", NULL), &tm, err);                                \
        if (rc == 0) {                                                                                       \
            strftime(text, sizeof(text), format, &tm);                                                       \
            *ret_value = json_string(text);                                                                  \
        }                                                                                                    \
        return rc;                                                                                           \
    }
CLOCK(get_system_time, "%I:%M:%S %p")
CLOCK(get_system_date, "%a %m/%d/%Y")
CLOCK(get_system_date_time, "%Y-%m-%d %H:%M:%S")

/* Sets the hardware clock by the system's, or with `test` only tries. *ret_run NEW: what cmd.run_all
 * returns. 0, or negative with *err. */
static int
hwclock(call_ctx_t *ctx, bool test, json_t **ret_run, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;
    int rc = tool_begin(&prog, "hwclock", err);

    if (rc < 0)
        return rc;
    if (test)
        prog_add(&prog, "--test");
    prog_add(&prog, "--systohc");
    *ret_run = tool_run(ctx, &prog, test ? TOOL_QUIET : 0, err);
    return *ret_run != NULL ? 0 : -EIO;
}

/* True when the hardware clock can be set: tried with hwclock --test, which changes nothing. Virtual
 * machines and containers often have none. */
static bool
settable_hwclock(call_ctx_t *ctx)
{
    json_auto_t *run = NULL;
    fail_auto_t why = FAIL_INIT;

    return hwclock(ctx, true, &run, &why) == 0 && value_int(run, "retcode", 1) == 0;
}

static int
system_has_settable_hwclock(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = json_boolean(settable_hwclock(ctx));
    return 0;
}

/* Runs `date [-u] MMDDhhmmCCYY.ss`. Seconds are no POSIX, so it is tried without them too; the first
 * complaint is the error. 0, or negative with *err. */
static int
run_date(call_ctx_t *ctx, const datetime_t *c, bool utc, fail_t *err)
{
    AUTO_FREE char *first = NULL;

    for (int seconds = 1; seconds >= 0; seconds--) {
        prog_auto_t prog = PROG_INIT;
        int rc = tool_begin(&prog, "date", err);
        if (rc < 0)
            return rc;
        if (utc)
            prog_add(&prog, "-u");
        AUTO_FREE char *end = seconds ? xasprintf(".%02d", c->second) : xstrdup("");
        prog_addf(&prog, "%02d%02d%02d%02d%04d%s", c->month, c->day, c->hour, c->minute, c->year, end);
        json_auto_t *run = tool_run(ctx, &prog, 0, err);
        if (run == NULL)
            return -EIO;
        if (value_int(run, "retcode", 1) == 0)
            return 0;
        if (first == NULL)
            first = xstrdup(value_str(run, "stderr", ""));
    }
    return fail_kind(err, FAIL_COMMAND, -EIO, "date failed: %s", first);
}

/* Sets the system's clock, and the hardware clock where there is one. `c` is the time at the offset; local
 * without one. True, or negative with *err; the system's clock may be set by then. */
static int
set_clock(call_ctx_t *ctx, const datetime_t *c, const char *utc_offset, json_t **ret_value, fail_t *err)
{
    datetime_t wanted = *c;
    json_auto_t *run = NULL;
    int minutes = 0, rc = datetime_check(c, err);

    if (rc == 0 && utc_offset != NULL)
        rc = datetime_offset(utc_offset, &minutes, err);
    if (rc == 0 && utc_offset != NULL)
        wanted = datetime_shift(c, -minutes);
    if (rc == 0)
        rc = run_date(ctx, &wanted, utc_offset != NULL, err);
    /* Asked afterwards, as hwclock looks at the system's clock. */
    if (rc == 0 && settable_hwclock(ctx))
        rc = hwclock(ctx, false, &run, err);
    if (rc < 0)
        return rc;
    if (run != NULL && value_int(run, "retcode", 0) != 0)
        return fail_kind(err, FAIL_COMMAND, -EIO,
                         "hwclock failed to set hardware clock from software clock: %s",
                         value_str(run, "stderr", ""));
    *ret_value = json_true();
    return 0;
}

/* The present time at the offset, from which a part that is not given is taken. 0, or negative with
 * *err. */
static int
system_present(const char *utc_offset, datetime_t *ret, fail_t *err)
{
    struct tm tm;
    int rc = datetime_now(utc_offset, &tm, err);

    if (rc == 0)
        *ret = (datetime_t){ tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec };
    return rc;
}

static int
system_set_system_date_time(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *utc_offset = value_str(args, "utc_offset", NULL);
    datetime_t c;
    int rc = system_present(utc_offset, &c, err);
    const struct {
        const char *arg;
        int *to;
    } parts[] = { { "years", &c.year }, { "months", &c.month },   { "days", &c.day },
                  { "hours", &c.hour }, { "minutes", &c.minute }, { "seconds", &c.second } };

    if (rc < 0)
        return rc;
    for (size_t i = 0; i < NELEMS(parts); i++) {
        json_t *v = value_get(args, parts[i].arg);
        /* A part that is no number counts as not given, as None does. */
        if (json_is_integer(v))
            *parts[i].to = (int) json_integer_value(v);
    }
    return set_clock(ctx, &c, utc_offset, ret_value, err);
}

/* The date stays. A text that is no time is False here and an error of set_system_date: Salt's. */
static int
system_set_system_time(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const char *const formats[] = { "%I:%M:%S %p", "%I:%M %p", "%H:%M:%S", "%H:%M", NULL };
    const char *utc_offset = value_str(args, "utc_offset", NULL);
    datetime_t typed, c;

    if (!datetime_parse(value_str(args, "newtime", ""), formats, &typed)) {
        *ret_value = json_false();
        return 0;
    }
    int rc = system_present(utc_offset, &c, err);
    if (rc < 0)
        return rc;
    c.hour = typed.hour;
    c.minute = typed.minute;
    c.second = typed.second;
    return set_clock(ctx, &c, utc_offset, ret_value, err);
}

/* The time of day stays, to the second. */
static int
system_set_system_date(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const char *const formats[] = { "%Y-%m-%d", "%m-%d-%Y", "%m-%d-%y", "%m/%d/%Y",
                                           "%m/%d/%y", "%Y/%m/%d", NULL };
    const char *utc_offset = value_str(args, "utc_offset", NULL);
    datetime_t typed, c;

    if (!datetime_parse(value_str(args, "newdate", ""), formats, &typed))
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "Invalid date format");
    int rc = system_present(utc_offset, &c, err);
    if (rc < 0)
        return rc;
    c.year = typed.year;
    c.month = typed.month;
    c.day = typed.day;
    return set_clock(ctx, &c, utc_offset, ret_value, err);
}

/* ---- names ----------------------------------------------------------------------------------------- */

/* True when hostnamectl works: it asks a service of systemd, which has to be process 1. */
static bool
has_hostnamectl(void)
{
    AUTO_FREE char *path = fs_which("hostnamectl");

    return path != NULL && fs_is_dir("/run/systemd/system");
}

/* PRETTY_HOSTNAME of machine-info(5), False when none is set. hostnamectl shows backslashes as the file has
 * them, so they are undone. */
static int
system_get_computer_desc(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    buf_auto_t file = BUF_INIT;
    AUTO_FREE char *desc = NULL;

    if (has_hostnamectl()) {
        prog_auto_t prog = PROG_INIT;
        json_auto_t *said = NULL;
        prog_adds(&prog, "hostnamectl", "status", "--pretty", NULL);
        int rc = tool_text(ctx, &prog, &said, err);
        if (rc < 0)
            return rc;
        desc = machineinfo_unescape(json_string_value(said));
    } else if (fs_read(MACHINE_INFO, LIMIT_HOST_FILE, &file, NULL) == 0) {
        desc = machineinfo_get(buf_str(&file));
    }
    *ret_value = desc != NULL ? value_utf8(desc, strlen(desc)) : json_false();
    return 0;
}

/* By hostnamectl, or in /etc/machine-info where systemd does not run. A file that can't be read or written
 * is False, as in Salt. */
static int
system_set_computer_desc(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *desc = value_str(args, "desc", "");
    buf_auto_t file = BUF_INIT;

    if (has_hostnamectl()) {
        AUTO_FREE char *spelled = machineinfo_escape(desc);
        prog_auto_t prog = PROG_INIT;
        prog_adds(&prog, "hostnamectl", "set-hostname", "--pretty", "--", spelled, NULL);
        return tool_bool(ctx, &prog, 0, ret_value, err);
    }
    if (!fs_absent(MACHINE_INFO) && fs_read(MACHINE_INFO, LIMIT_HOST_FILE, &file, NULL) < 0) {
        *ret_value = json_false();
        return 0;
    }
    AUTO_FREE char *text = machineinfo_set(buf_str(&file), desc);
    *ret_value = json_boolean(fs_write_atomic(MACHINE_INFO, text, strlen(text), MACHINE_INFO_MODE, NULL) ==
                              0);
    return 0;
}

static int
system_set_computer_name(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *call = json_pack("[s]", value_str(args, "hostname", ""));

    return ctx_call(ctx, "network.mod_hostname", call, NULL, ret_value, err);
}

static int
system_get_computer_name(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return ctx_call(ctx, "network.get_hostname", NULL, NULL, ret_value, err);
}

/* ---- a reboot that is due ------------------------------------------------------------------------------ */

/* The path of a file that the next boot removes, as it lies in memory. NI's Linux has its own place for
 * such files. BORROWED. */
static const char *
witness(call_ctx_t *ctx)
{
    bool nilrt = strcmp(value_str(ctx_grains(ctx), "os_family", ""), "NILinuxRT") == 0;

    return nilrt ? "/var/volatile/tmp/salt/reboot_witnessed" : "/run/salt/reboot_witnessed";
}

static int
system_get_reboot_required_witnessed(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = json_boolean(fs_exists(witness(ctx)));
    return 0;
}

/* The file alone matters, not its content. */
static int
system_set_reboot_required_witnessed(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *path = witness(ctx);
    AUTO_FREE char *folder = xstrndup(path, (size_t) (strrchr(path, '/') - path));
    fail_auto_t why = FAIL_INIT;
    int rc = fs_mkdirs(folder, WITNESS_MODE, &why);

    if (rc < 0)
        return fail_kind(err, FAIL_INVOCATION, rc, "Error creating %s (%d): %s", folder, rc, strerror(-rc));
    *ret_value = json_boolean(fs_write_quick(path, "", 0, MACHINE_INFO_MODE, NULL) == 0);
    return 0;
}

/* ---- the table ------------------------------------------------------------------------------- */

#define UTC_OFFSET_ROW                                                                                       \
    ARG("utc_offset", ARG_STR, "null",                                                                       \
        "Distance from UTC as +HHMM or -HHMM, in two pairs of quotes on a shell; None: local time")
#define AT_TIME_ROW ARG("at_time", ARG_ANY, "null", "Minutes to wait, or hh:mm; None for now")

static const arg_t init_args[] = { ARG("runlevel", ARG_STR, ARG_REQUIRED, "Run level"), ARGS_END };
static const arg_t at_time_args[] = { AT_TIME_ROW, ARGS_END };
static const arg_t offset_args[] = { UTC_OFFSET_ROW, ARGS_END };
static const arg_t time_args[] = { ARG("newtime", ARG_STR, ARG_REQUIRED,
                                       "HH:MM:SS or HH:MM, of 24 hours or with AM or PM"),
                                   UTC_OFFSET_ROW, ARGS_END };
static const arg_t date_args[] = { ARG("newdate", ARG_STR, ARG_REQUIRED,
                                       "YYYY-MM-DD, MM-DD-YYYY, MM-DD-YY, or the same with slashes"),
                                   UTC_OFFSET_ROW, ARGS_END };
static const arg_t date_time_args[] = { ARG("years", ARG_INT, "null",
                                            "Year; None leaves it, as for the others"),
                                        ARG("months", ARG_INT, "null", "Month"),
                                        ARG("days", ARG_INT, "null", "Day"),
                                        ARG("hours", ARG_INT, "null", "Hour"),
                                        ARG("minutes", ARG_INT, "null", "Minute"),
                                        ARG("seconds", ARG_INT, "null", "Second"),
                                        UTC_OFFSET_ROW,
                                        ARGS_END };
static const arg_t desc_args[] = { ARG("desc", ARG_STR, ARG_REQUIRED, "What people call it"), ARGS_END };
static const arg_t hostname_args[] = { ARG("hostname", ARG_STR, ARG_REQUIRED, "New name"), ARGS_END };

static const func_t funcs[] = {
    { "get_computer_desc", system_get_computer_desc, NULL, FN_READONLY,
      "Return PRETTY_HOSTNAME of /etc/machine-info; False when there is none." CLI_EXAMPLE(
          "salt '*' system.get_computer_desc") },
    { "get_computer_name", system_get_computer_name, NULL, FN_READONLY,
      "Return the name of the host." CLI_EXAMPLE("salt '*' system.get_computer_name") },
    { "get_reboot_required_witnessed", system_get_reboot_required_witnessed, NULL, FN_READONLY,
      "Return whether system.set_reboot_required_witnessed was called since the last boot." CLI_EXAMPLE(
          "salt '*' system.get_reboot_required_witnessed") },
    { "get_system_date", system_get_system_date, offset_args, FN_READONLY,
      "Return the date, as in Fri 11/20/2026." CLI_EXAMPLE("salt '*' system.get_system_date") },
    { "get_system_date_time", system_get_system_date_time, offset_args, FN_READONLY,
      "Return date and time, as in 2026-11-20 10:00:00." CLI_EXAMPLE(
          "salt '*' system.get_system_date_time \"'-0500'\"") },
    { "get_system_time", system_get_system_time, offset_args, FN_READONLY,
      "Return the time of day, as in 10:00:00 AM." CLI_EXAMPLE("salt '*' system.get_system_time") },
    { "halt", system_power_off, NULL, 0, "Halt the host." CLI_EXAMPLE("salt '*' system.halt"),
      .data.text = "halt" },
    { "has_settable_hwclock", system_has_settable_hwclock, NULL, FN_READONLY,
      "Return whether there is a hardware clock that can be set." CLI_EXAMPLE(
          "salt '*' system.has_settable_hwclock") },
    { "init", system_init, init_args, 0,
      "Change the run level of an init that has them." CLI_EXAMPLE("salt '*' system.init 3") },
    { "poweroff", system_power_off, NULL, 0, "Switch the host off." CLI_EXAMPLE("salt '*' system.poweroff"),
      .data.text = "poweroff" },
    { "reboot", system_shut_down, at_time_args, 0,
      "Boot the host again." CLI_EXAMPLE("salt '*' system.reboot"), .data.text = "-r" },
    { "set_computer_desc", system_set_computer_desc, desc_args, 0,
      "Set PRETTY_HOSTNAME of /etc/machine-info. False when that fails." CLI_EXAMPLE(
          "salt '*' system.set_computer_desc \"Michael's laptop\"") },
    { "set_computer_name", system_set_computer_name, hostname_args, 0,
      "Set the name of the host." CLI_EXAMPLE("salt '*' system.set_computer_name master.saltstack.com") },
    { "set_reboot_required_witnessed", system_set_reboot_required_witnessed, NULL, 0,
      "Remember until the next boot that one is due." CLI_EXAMPLE(
          "salt '*' system.set_reboot_required_witnessed") },
    { "set_system_date", system_set_system_date, date_args, 0,
      "Set the date; the time of day stays." CLI_EXAMPLE("salt '*' system.set_system_date '03-28-13'") },
    { "set_system_date_time", system_set_system_date_time, date_time_args, 0,
      "Set the clock, and the hardware clock by it." CLI_EXAMPLE(
          "salt '*' system.set_system_date_time 2015 5 12 11 37 53 \"'-0500'\"") },
    { "set_system_time", system_set_system_time, time_args, 0,
      "Set the time of day; the date stays. False for what is not a time." CLI_EXAMPLE(
          "salt '*' system.set_system_time \"'11:20'\"") },
    { "shutdown", system_shut_down, at_time_args, 0,
      "Shut the host down." CLI_EXAMPLE("salt '*' system.shutdown 5"), .data.text = "-h" },
};

PLUGIN(exec, system, .doc = "Halt, boot, clocks and names of the host", FUNCS(funcs));
