/* mdadm_raid.c - execution module `raid`: arrays of Linux' software RAID, by mdadm(8). Its texts are read
 * by the shape that Salt reads them by: `--detail --scan` (lines of mdadm.conf(5)), `--detail`, and
 * `--examine` with its export format. */
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/host/rootfs.h"
#include "plugins/lib/call/subcall.h"
#include "plugins/lib/call/tool.h"
#include "plugins/lib/file/fileops.h"

/* mdadm waits for a device's lock; the initial image of the boot takes minutes on slow disks. */
enum { RAID_TIMEOUT_S = 30 * 60 };

/* Runs a command line, which is TAKEN: {retcode, stdout, stderr}. NEW, or NULL with *err. A program that is
 * missing is an error here. */
static json_t *
run_raid(call_ctx_t *ctx, json_t *line, unsigned flags, fail_t *err)
{
    json_auto_t *words = line;

    return tool_words(ctx, words, NULL, NULL, flags, RAID_TIMEOUT_S, err);
}

/* ---- what there is ------------------------------------------------------------------------------ */

/* The text that a command line prints. TAKES `line`. NEW, or NULL with *err. */
static char *
raid_text(call_ctx_t *ctx, json_t *line, unsigned flags, fail_t *err)
{
    json_auto_t *ran = run_raid(ctx, line, flags, err);

    return ran != NULL ? xstrdup(value_str(ran, "stdout", "")) : NULL;
}

/* "ARRAY /dev/md0 metadata=1.2 UUID=..." by device, keys in small letters. NEW, or NULL with *err. */
static json_t *
known_arrays(call_ctx_t *ctx, fail_t *err)
{
    AUTO_FREE char *text = raid_text(ctx, json_pack("[s, s, s]", "mdadm", "--detail", "--scan"), 0, err);
    json_t *all = text != NULL ? json_object() : NULL;

    for (char *at = text, *line; at != NULL && (line = line_next(&at)) != NULL;) {
        char **words = str_split(line, " \t", true);
        json_t *one = strv_len(words) > 1 ? json_pack("{s:s}", "device", words[1]) : NULL;
        for (size_t i = 2; one != NULL && words[i] != NULL; i++) {
            char **pair = str_split(words[i], "=", false);
            for (char *c = pair[0]; *c != '\0'; c++)
                *c = *c >= 'A' && *c <= 'Z' ? (char) (*c + 32) : *c;
            if (pair[1] != NULL)
                json_object_set_new(one, pair[0], json_string(pair[1]));
            strv_free(pair);
        }
        if (one != NULL)
            json_object_set_new(all, words[1], one);
        strv_free(words);
    }
    return all;
}

static int
raid_list(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = known_arrays(ctx, err);
    return *ret_value != NULL ? 0 : err->code;
}

/* Adds a line of the table at the end of `mdadm --detail`: "0  8  1  0  active sync  /dev/sda1": number,
 * major, minor, place in the array, states, device. */
static void
raid_add_member(char *line, json_t *members)
{
    char **words = str_split(line, " \t", true);
    size_t n = strv_len(words);
    buf_auto_t state = BUF_INIT;

    for (size_t i = 4; i + 1 < n; i++)
        buf_printf(&state, "%s%s", i > 4 ? " " : "", words[i]);
    if (n >= 4)
        json_object_set_new(members, words[0],
                            json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "device", words[n - 1], "major",
                                      words[1], "minor", words[2], "number", words[0], "raiddevice", words[3],
                                      "state", buf_str(&state)));
    strv_free(words);
}

/* Output of `mdadm --detail` as a dict: keys in small letters with underscores, {members: {number: ...}}.
 * NEW, or NULL with *err. */
static json_t *
details(call_ctx_t *ctx, const char *device, fail_t *err)
{
    int there = prog_check_operand("device", device, err) == 0 ? fop_exists(device, err) : -EINVAL;

    if (there == 0)
        (void) fail_kind(err, FAIL_COMMAND, -ENOENT, "Device %s doesn't exist!", device);
    AUTO_FREE char *text = there > 0
                               ? raid_text(ctx, json_pack("[s, s, s]", "mdadm", "--detail", device), 0, err)
                               : NULL;
    json_t *all = text != NULL ? json_pack("{s:{}}", "members") : NULL;
    for (char *at = text, *line; at != NULL && (line = line_next(&at)) != NULL;) {
        char *colon = strstr(line, " : ");
        /* The heading with the device's own name, and lines of one word. */
        if (str_starts(line, device) || strchr(line, ' ') == NULL)
            continue;
        /* A member's line has a device and no colon. */
        if (strchr(line, ':') == NULL && strstr(line, "/dev/") != NULL)
            raid_add_member(line, value_get(all, "members"));
        if (colon == NULL)
            continue;
        *colon = '\0';
        char *key = str_trim(line), *value = colon + strlen(" : "), *end = strstr(value, " : ");
        for (char *c = key; *c != '\0'; c++)
            *c = *c == ' ' ? '_' : *c >= 'A' && *c <= 'Z' ? (char) (*c + 32) : *c;
        if (end != NULL)
            *end = '\0';
        json_object_set_new(all, key, json_string(str_trim(value)));
    }
    return all;
}

static int
raid_detail(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = details(ctx, value_str(args, "device", ""), err);
    return *ret_value != NULL ? 0 : err->code;
}

/* "KEY=VALUE" lines of one device. `quiet`: a device without an array is no line in the log. */
static int
raid_examine(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *device = value_str(args, "device", "");
    unsigned flags = value_truthy(value_get(args, "quiet")) ? TOOL_QUIET : 0;

    if (prog_check_operand("device", device, err) < 0)
        return err->code;
    AUTO_FREE char *text = raid_text(ctx, json_pack("[s, s, s, s]", "mdadm", "-Y", "-E", device), flags, err);
    if (text == NULL)
        return err->code;
    *ret_value = json_object();
    for (char *at = text, *line; (line = line_next(&at)) != NULL;) {
        char *value = strchr(line, '=');
        if (value != NULL)
            *value++ = '\0';
        if (*line != '\0')
            json_object_set_new(*ret_value, line, json_string(value != NULL ? value : ""));
    }
    return 0;
}

/* ---- changes ------------------------------------------------------------------------------------ */

/* The path of mdadm's configuration: Debian has it in a folder. A constant. */
static const char *
config_file(call_ctx_t *ctx)
{
    return strcmp(value_str(ctx_grains(ctx), "os_family", ""), "Debian") == 0 ? "/etc/mdadm/mdadm.conf"
                                                                              : "/etc/mdadm.conf";
}

/* Text as a regular expression that fits only it. NEW. */
static char *
literal(const char *text)
{
    buf_auto_t out = BUF_INIT;

    for (const char *c = text; *c != '\0'; c++)
        buf_printf(&out, "%s%c", strchr("\\.^$|()[]{}*+?-", *c) != NULL ? "\\" : "", *c);
    return xstrdup(buf_str(&out));
}

/* Replaces the array's line of the configuration; a file that is not there has none. 0, or negative with
 * *err. */
static int
raid_replace_line(call_ctx_t *ctx, const char *pattern, const char *text, bool appends, fail_t *err)
{
    int there = fop_exists(config_file(ctx), err);
    json_auto_t *did = there > 0 ? sub_call(ctx, err, "file.replace", "{s:s, s:s, s:s, s:b}", "path",
                                            config_file(ctx), "pattern", pattern, "repl", text,
                                            "append_if_not_found", appends)
                                 : NULL;

    return there <= 0 ? there : did != NULL ? 0 : err->code;
}

/* Stops an array, clears its devices' superblocks and takes its line out of the configuration. True when
 * mdadm does not list it any more; False for a device that is not there. */
static int
raid_destroy(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *device = value_str(args, "device", ""), *number;
    json_auto_t *all = details(ctx, device, err), *zero = json_pack("[s, s]", "mdadm", "--zero-superblock");
    json_t *member;

    if (all == NULL && err->kind == FAIL_COMMAND) {
        fail_clear(err);
        *ret_value = json_false();
    }
    if (all == NULL)
        return err->code;
    json_auto_t *stopped = run_raid(ctx, json_pack("[s, s, s]", "mdadm", "--stop", device), 0, err);
    if (stopped == NULL)
        return err->code;
    json_object_foreach (value_get(all, "members"), number, member)
        json_array_append(zero, value_get(member, "device"));
    /* An array that could not be stopped is in use: its devices are left alone. */
    if (value_int(stopped, "retcode", 1) == 0 && json_array_size(zero) > 2) {
        json_auto_t *ran = run_raid(ctx, json_incref(zero), 0, err);
        if (ran == NULL)
            return err->code;
    }
    AUTO_FREE char *name = literal(device), *pattern = xasprintf("ARRAY %s .*", name);
    json_auto_t *left = raid_replace_line(ctx, pattern, "", false, err) == 0 ? known_arrays(ctx, err) : NULL;
    if (left == NULL)
        return err->code;
    *ret_value = json_boolean(value_get(left, device) == NULL);
    return 0;
}

/* Stops all arrays that are not in use. */
static int
raid_stop(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *ran = run_raid(ctx, json_pack("[s, s, s]", "mdadm", "--stop", "--scan"), 0, err);

    if (ran == NULL)
        return err->code;
    *ret_value = json_boolean(value_int(ran, "retcode", 1) == 0);
    return 0;
}

/* Adds a device to an array, as a spare or in the place of a failed one: mdadm decides. */
static int
raid_add(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = value_str(args, "name", ""), *device = value_str(args, "device", "");

    if (prog_check_operand("name", name, err) < 0 || prog_check_operand("device", device, err) < 0)
        return err->code;
    json_auto_t *ran = run_raid(ctx, json_pack("[s, s, s, s, s]", "mdadm", "--manage", name, "--add", device),
                                0, err);
    if (ran == NULL)
        return err->code;
    *ret_value = json_boolean(value_int(ran, "retcode", 1) == 0);
    return 0;
}

/* Adds the options that stand among the call's keywords; True has no value. */
static void
raid_add_options(json_t *line, const json_t *args)
{
    const char *name;
    json_t *v;

    json_object_foreach (value_get(args, "kwargs"), name, v) {
        AUTO_FREE char *text = value_pystr(v);
        if (str_starts(name, "__"))
            continue;
        json_array_append_new(line, value_fmt("--%s", name));
        if (!json_is_true(v))
            json_array_append_new(line, json_string(text));
    }
}

/* The command line itself in test mode, for raid.create as a text; else mdadm's words. TAKES `line`. */
static int
raid_make(call_ctx_t *ctx, const json_t *args, json_t *line, bool as_text, json_t **ret_value, fail_t *err)
{
    json_auto_t *words = line;

    if (value_truthy(value_get(args, "test_mode"))) {
        AUTO_FREE char *text = value_joined(words, " ");
        *ret_value = as_text ? json_string(text) : json_incref(words);
        return 0;
    }
    json_auto_t *ran = run_raid(ctx, json_incref(words), TOOL_MERGE, err);
    if (ran == NULL)
        return err->code;
    *ret_value = json_incref(value_get(ran, "stdout"));
    return 0;
}

/* Makes an array. `-R` has mdadm not ask whether devices that look used are meant. */
static int
raid_create(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = value_str(args, "name", "");
    json_t *devices = value_get(args, "devices"),
           *spare = value_get(value_get(args, "kwargs"), "spare-devices");
    AUTO_FREE char *level = value_pystr(value_get(args, "level")), *spares = value_pystr(spare);
    AUTO_FREE char *metadata = value_pystr(value_get(args, "metadata"));
    long long n_spares = 0;

    if (prog_check_operand("name", name, err) < 0 || prog_check_operands("devices", devices, err) < 0)
        return err->code;
    /* -n counts the active devices, so spares are taken off; the keyword itself goes on as an option. */
    if (spare != NULL && !str_to_int(spares, 0, INT32_MAX, &n_spares))
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "spare-devices: '%s' is no number", spares);
    json_t *line = json_pack("[s, s, s, s, s, s, s]", "mdadm", "-C", name, "-R", "-v", "-l", level);
    raid_add_options(line, args);
    json_array_append_new(line, json_string("-e"));
    json_array_append_new(line, json_string(metadata));
    json_array_append_new(line, json_string("-n"));
    json_array_append_new(line, value_fmt("%lld", (long long) json_array_size(devices) - n_spares));
    json_array_extend(line, devices);
    return raid_make(ctx, args, line, true, ret_value, err);
}

/* Assembles an array that was made before. Its devices are a list, or a text with commas. */
static int
raid_assemble(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = value_str(args, "name", "");
    AUTO_FREE char *devices = value_joined(value_get(args, "devices"), ",");
    json_auto_t *line = json_pack("[s, s, s, s]", "mdadm", "-A", name, "-v"), *list = json_array();
    char **each = str_split(devices, ",", false);

    for (size_t i = 0; each[i] != NULL; i++)
        json_array_append_new(list, json_string(each[i]));
    strv_free(each);
    if (prog_check_operand("name", name, err) < 0 || prog_check_operands("devices", list, err) < 0)
        return err->code;
    raid_add_options(line, args);
    json_array_extend(line, list);
    return raid_make(ctx, args, json_incref(line), false, ret_value, err);
}

/* Takes name= and metadata= out of a line: Ubuntu's mdadm finds arrays again only without them. */
static void
drop_words(char *line)
{
    static const char *const bad[] = { " name=", " metadata=" };

    for (size_t i = 0; i < NELEMS(bad); i++)
        for (char *at; (at = strcasestr(line, bad[i])) != NULL && at[strlen(bad[i])] > ' ';) {
            char *end = at + strlen(bad[i]) + strcspn(at + strlen(bad[i]), " \t");
            memmove(at, end, strlen(end) + 1);
        }
}

/* Writes the arrays into the configuration, and has the boot's first file system made anew, which has a
 * copy. Returns what that program prints, None where there is none. */
static int
raid_save_config(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *family = value_str(ctx_grains(ctx), "os_family", "");
    bool ubuntu = strcmp(value_str(ctx_grains(ctx), "os", ""), "Ubuntu") == 0;
    AUTO_FREE char *text = raid_text(ctx, json_pack("[s, s, s]", "mdadm", "--detail", "--scan"), TOOL_MERGE,
                                     err);
    int there = text != NULL ? fop_exists(config_file(ctx), err) : err->code;
    json_auto_t *lines = json_array(), *made = NULL;

    for (char *at = text, *line; there >= 0 && (line = line_next(&at)) != NULL;) {
        if (ubuntu)
            drop_words(line);
        char **words = str_split(line, " \t", true);
        /* Lines are found by their device; its text may hold letters of expressions. */
        AUTO_FREE char *device = literal(strv_len(words) > 1 ? words[1] : "");
        AUTO_FREE char *pattern = xasprintf("^ARRAY\\s+%s\\s+.*$", device);
        if (*device != '\0' && there > 0 && raid_replace_line(ctx, pattern, line, true, err) < 0)
            there = err->code;
        json_array_append_new(lines, json_string(line));
        strv_free(words);
    }
    if (there < 0)
        return there;
    /* No file yet: all lines at once. */
    if (there == 0 && (made = sub_call(ctx, err, "file.write", "{s:s, s:O}", "path", config_file(ctx), "args",
                                       lines)) == NULL)
        return err->code;
    json_t *boot = strcmp(family, "Debian") == 0   ? json_pack("[s, s]", "update-initramfs", "-u")
                   : strcmp(family, "RedHat") == 0 ? json_pack("[s, s]", "dracut", "--force")
                                                   : NULL;
    json_auto_t *ran = boot != NULL ? run_raid(ctx, boot, TOOL_MERGE, err) : NULL;
    if (boot != NULL && ran == NULL)
        return err->code;
    *ret_value = ran != NULL ? json_incref(value_get(ran, "stdout")) : json_null();
    return 0;
}

static const char *
exec_raid_unavailable(call_ctx_t *ctx)
{
    AUTO_FREE char *path = fs_which("mdadm");

    return path != NULL ? NULL
                        : "The mdadm execution module cannot be loaded: the mdadm binary is not in the path.";
}

/* ---- table -------------------------------------------------------------------------------------- */

#define TEST_ROW ARG("test_mode", ARG_BOOL, "false", "Return the command line only")
#define OPTIONS_ROW                                                                                          \
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Long options of mdadm without the dashes: chunk=256", "*")

static const arg_t detail_args[] = { ARG("device", ARG_STR, "\"/dev/md0\"", "The array"), ARGS_END };
static const arg_t device_args[] = { ARG("device", ARG_STR, ARG_REQUIRED, "The array"), ARGS_END };
static const arg_t create_args[] = { ARG("name", ARG_STR, ARG_REQUIRED, "The array"),
                                     ARG("level", ARG_ANY, ARG_REQUIRED, "Its level: 0, 1, 5, 6, 10, linear"),
                                     ARG("devices", ARG_LIST, ARG_REQUIRED, "Its members; missing: one less"),
                                     ARG("metadata", ARG_ANY, "\"default\"", "Version of the metadata"),
                                     TEST_ROW,
                                     OPTIONS_ROW,
                                     ARGS_END };
static const arg_t assemble_args[] = { ARG("name", ARG_STR, ARG_REQUIRED, "The array"),
                                       ARG("devices", ARG_ANY, ARG_REQUIRED,
                                           "Its members: a list, or a text with commas"),
                                       TEST_ROW, OPTIONS_ROW, ARGS_END };
static const arg_t examine_args[] = { ARG("device", ARG_STR, ARG_REQUIRED, "The member"),
                                      ARG("quiet", ARG_ANY, "false", "A device that is none is no failure"),
                                      ARGS_END };
static const arg_t add_args[] = { ARG("name", ARG_STR, ARG_REQUIRED, "The array"),
                                  ARG("device", ARG_STR, ARG_REQUIRED, "The new member"), ARGS_END };

static const func_t funcs[] = {
    { "add", raid_add, add_args, 0,
      "Add a device to an array." CLI_EXAMPLE("salt '*' raid.add /dev/md0 /dev/sda1") },
    { "assemble", raid_assemble, assemble_args, 0,
      "Start an array of its members." CLI_EXAMPLE(
          "salt '*' raid.assemble /dev/md0 '[/dev/xvdd, /dev/xvde]'") },
    { "create", raid_create, create_args, 0,
      "Make an array. What is on the devices is lost." CLI_EXAMPLE(
          "salt '*' raid.create /dev/md0 level=1 chunk=256 devices='[/dev/xvdd, /dev/xvde]' test_mode=True") },
    { "destroy", raid_destroy, device_args, 0,
      "Stop an array, and clear what makes the devices its members." CLI_EXAMPLE(
          "salt '*' raid.destroy /dev/md0") },
    { "detail", raid_detail, detail_args, FN_READONLY,
      "Return what an array is." CLI_EXAMPLE("salt '*' raid.detail /dev/md0") },
    { "examine", raid_examine, examine_args, FN_READONLY,
      "Return what a device says of the array that it is of." CLI_EXAMPLE(
          "salt '*' raid.examine /dev/sda1") },
    { "list", raid_list, NULL, FN_READONLY, "Return the arrays." CLI_EXAMPLE("salt '*' raid.list") },
    { "save_config", raid_save_config, NULL, 0,
      "Write the arrays into mdadm's configuration, and into the boot's." CLI_EXAMPLE(
          "salt '*' raid.save_config") },
    { "stop", raid_stop, NULL, 0, "Stop all arrays that are not used." CLI_EXAMPLE("salt '*' raid.stop") },
};

PLUGIN(exec, mdadm_raid, .provides = "raid", .doc = "Arrays of Linux' software RAID", FUNCS(funcs),
       .unavailable = exec_raid_unavailable);
