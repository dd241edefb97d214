/* parted_partition.c - execution module `partition`: partition tables by parted, sfdisk and mkfs. Arguments
 * are checked against the lists of parted's manual, as in Salt, before a program sees them. A function
 * returns the lines that its program prints, errors among them, as in Salt: the exit code is not looked at,
 * so a caller has to read the lines. Most functions are a row of checks and words (parted_command_t). */
#include <ctype.h>
#include <sys/stat.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/host/rootfs.h"
#include "plugins/lib/call/tool.h"
#include "salt/plugin.h"

/* Making a file system, or looking for a lost partition, takes as long as the disk is large. */
#define PARTED_MS (60 * 60 * 1000)

/* ---- checks --------------------------------------------------------------------------------------- */

/* The lists are those that Salt accepts: parted itself knows more flags in newer versions, and a newer flag
 * is refused here. */
static const char *const units[] = { "s",  "B",   "kB", "MB",  "MiB", "GB",      "GiB",
                                     "TB", "TiB", "%",  "cyl", "chs", "compact", NULL };
/* Flags of a partition table, not of a partition. */
static const char *const disk_flags[] = { "cylinder_alignment", "pmbr_boot", "implicit_partition_table",
                                          NULL };
static const char *const flags[] = { "boot",     "root",      "swap",       "hidden", "raid",
                                     "lvm",      "lba",       "hp-service", "palo",   "prep",
                                     "msftres",  "bios_grub", "atvrecv",    "diag",   "legacy_boot",
                                     "msftdata", "irst",      "esp",        "type",   NULL };
static const char *const labels[] = { "aix", "amiga", "bsd",  "dvh", "gpt", "loop",
                                      "mac", "msdos", "pc98", "sun", NULL };
static const char *const systems[] = { "btrfs", "ext2",       "ext3",     "ext4", "fat",  "fat32",
                                       "fat16", "linux-swap", "reiserfs", "hfs",  "hfs+", "hfsx",
                                       "NTFS",  "ntfs",       "ufs",      "xfs",  NULL };
static const char *const parts[] = { "primary", "logical", "extended", NULL };
static const char *const alignments[] = { "minimal", "optimal", NULL };
static const char *const states[] = { "on", "off", NULL };

static bool
parted_is_among(const char *const *list, const char *text)
{
    while (*list != NULL && strcmp(*list, text) != 0)
        list++;
    return *list != NULL;
}

/* True for a block device, also when the path is a symbolic link to one (/dev/disk/by-id). The kind of
 * device does not matter: a disk and a partition pass alike, and the program refuses the wrong one. */
static bool
parted_is_block(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISBLK(st.st_mode);
}

/* One check of an argument; a command's checks are done in order, and the first that fails ends the call
 * with Salt's error. CHECK_NONE fills the rest of an array. */
typedef struct parted_check {
    enum {
        CHECK_NONE,
        CHECK_DEVICE,
        CHECK_WHOLE,
        CHECK_BOUNDARY,
        CHECK_ONE_OF,
        CHECK_MAYBE_ONE_OF,
        CHECK_NAME
    } kind;
    const char *argument, *said; /* said: as the error names it */
    const char *const *choices;
} parted_check_t;

/* Returns 0, or negative with *err. The value is checked as str() would write it, since numbers and texts
 * are both fine: start=1 and start='1MiB'. */
static int
parted_check_one(call_ctx_t *ctx, const parted_check_t *check, json_t *args, fail_t *err)
{
    json_t *value = value_get(args, check->argument);
    AUTO_FREE char *text = value_pystr(value);
    size_t digits = strspn(text, "0123456789.");
    long long number;
    bool fine = true;

    switch (check->kind) {
    case CHECK_NONE:
        break;
    case CHECK_DEVICE:
        return parted_is_block(text)
                   ? 0
                   : fail_kind(err, FAIL_COMMAND, -ENOTBLK, "Invalid device passed to partition module.");
    case CHECK_WHOLE:
        /* Python's int() of a text: digits, with a sign and blanks around. */
        fine = str_to_int(str_trim(text), INT64_MIN, INT64_MAX, &number);
        break;
    case CHECK_BOUNDARY:
        /* "100MiB", "50%", "2048"; the number itself is parted's to judge ("1.2.3" passes, as in Salt). */
        return digits > 0 && (text[digits] == '\0' || parted_is_among(units, text + digits))
                   ? 0
                   : fail_kind(err, FAIL_COMMAND, -EINVAL, "Invalid partition boundary passed: \"%s\"", text);
    case CHECK_MAYBE_ONE_OF:
        /* An argument that may be left out. */
        fine = !value_truthy(value) || parted_is_among(check->choices, text);
        break;
    case CHECK_ONE_OF:
        fine = parted_is_among(check->choices, text);
        break;
    case CHECK_NAME:
        /* Letters and digits of ASCII, space, underscore and hyphen: no quote can end the one that parted
         * wants around the name. */
        for (const char *c = text; *c != '\0'; c++)
            fine = fine &&
                   ((isalnum((unsigned char) *c) && (unsigned char) *c < 0x80) || strchr(" _-", *c) != NULL);
        break;
    }
    return fine ? 0
                : fail_kind(err, FAIL_COMMAND, -EINVAL, "Invalid %s passed to partition.%s", check->said,
                            ctx_row(ctx)->name);
}

/* ---- programs ---------------------------------------------------------------------------------------- */

/* NEW lines, or NULL with *err. */
static json_t *
parted_printed(call_ctx_t *ctx, prog_t *prog, unsigned how, fail_t *err)
{
    prog->timeout_ms = PARTED_MS;
    json_auto_t *ran = tool_run(ctx, prog, how, err);
    if (ran == NULL)
        return NULL;
    AUTO_FREE char *text = xstrdup(value_str(ran, "stdout", ""));
    json_t *lines = json_array();

    for (char *at = text, *line; *text != '\0' && (line = line_next(&at)) != NULL;)
        json_array_append_new(lines, value_utf8(line, strlen(line)));
    return lines;
}

/* A function that is nothing but a command: checks, and words, of which "{x}" stands for the argument x.
 * Both arrays end with an empty element. */
typedef struct parted_command {
    parted_check_t checks[4];
    const char *words[9];
} parted_command_t;

/* The function of all such rows: checks in order, then the words, then the lines that the program
 * prints. */
static int
partition_command(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const parted_command_t *command = ctx_row(ctx)->data.ptr;
    prog_auto_t prog = PROG_INIT;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < NELEMS(command->checks); i++)
        rc = parted_check_one(ctx, &command->checks[i], args, err);
    rc = rc == 0 ? tool_begin(&prog, command->words[0], err) : rc;
    for (size_t i = 1; rc == 0 && i < NELEMS(command->words) && command->words[i] != NULL; i++) {
        const char *word = command->words[i];
        if (*word != '{') {
            prog_add(&prog, word);
            continue;
        }
        AUTO_FREE char *argument = xstrndup(word + 1, strlen(word) - 2);
        AUTO_FREE char *text = value_pystr(value_get(args, argument));
        /* An argument that begins with a hyphen is refused, and so is never an option. */
        rc = prog_operand(&prog, argument, text, err);
    }
    *ret_value = rc == 0 ? parted_printed(ctx, &prog, TOOL_MERGE, err) : NULL;
    return *ret_value != NULL ? 0 : err->code;
}

/* Without devices partprobe looks at all disks. `--` ends its options. */
static int
partition_probe(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;
    json_t *devices = value_get(args, "devices"), *device;
    size_t i;
    int rc = tool_begin(&prog, "partprobe", err);

    prog_add(&prog, "--");
    json_array_foreach (devices, i, device) {
        AUTO_FREE char *path = value_pystr(device);
        if (rc == 0 && !parted_is_block(path))
            rc = fail_kind(err, FAIL_COMMAND, -ENOTBLK, "Invalid device passed to partition module.");
        prog_add(&prog, path);
    }
    *ret_value = rc == 0 ? parted_printed(ctx, &prog, TOOL_MERGE, err) : NULL;
    return *ret_value != NULL ? 0 : err->code;
}

/* A place is checked only when both are given, as in Salt; a missing one is an empty word, and parted's
 * complaint about it is the answer. */
static int
partition_mkpart(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const parted_check_t checks[] = { { CHECK_DEVICE, "device", "device", NULL },
                                             { CHECK_ONE_OF, "part_type", "part_type", parts },
                                             { CHECK_MAYBE_ONE_OF, "fs_type", "fs_type", systems },
                                             { CHECK_BOUNDARY, "start", "start", NULL },
                                             { CHECK_BOUNDARY, "end", "end", NULL } };
    const json_t *start = value_get(args, "start"), *end = value_get(args, "end"),
                 *fs = value_get(args, "fs_type");
    bool both = !json_is_null(start) && !json_is_null(end);
    prog_auto_t prog = PROG_INIT;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < (both ? NELEMS(checks) : NELEMS(checks) - 2); i++)
        rc = parted_check_one(ctx, &checks[i], args, err);
    rc = rc == 0 ? tool_begin(&prog, "parted", err) : rc;
    if (rc < 0)
        return rc;
    AUTO_FREE char *from = json_is_null(start) ? xstrdup("") : value_pystr(start),
                   *to = json_is_null(end) ? xstrdup("") : value_pystr(end);
    /* Behind `--` no place is taken for an option: a single one is not checked. */
    prog_adds(&prog, "-m", "-s", "--", value_str(args, "device", ""), "mkpart",
              value_str(args, "part_type", ""), NULL);
    if (value_truthy(fs))
        prog_add(&prog, json_string_value(fs));
    prog_adds(&prog, from, to, NULL);
    *ret_value = parted_printed(ctx, &prog, TOOL_MERGE, err);
    return *ret_value != NULL ? 0 : err->code;
}

/* The program is named by the type. A missing one is a text and not an error, as in Salt. */
static int
partition_mkfs(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const parted_check_t checks[] = { { CHECK_DEVICE, "device", "device", NULL },
                                             { CHECK_ONE_OF, "fs_type", "fs_type", systems } };
    const char *type = value_str(args, "fs_type", "");
    prog_auto_t prog = PROG_INIT;
    int rc = parted_check_one(ctx, &checks[0], args, err);

    rc = rc == 0 ? parted_check_one(ctx, &checks[1], args, err) : rc;
    if (rc < 0)
        return rc;
    /* NTFS is parted's spelling, ntfs the one of mkfs. */
    AUTO_FREE char *program = strcmp(type, "linux-swap") == 0
                                  ? xstrdup("mkswap")
                                  : xasprintf("mkfs.%s", strcmp(type, "NTFS") == 0 ? "ntfs" : type);
    AUTO_FREE char *path = fs_which(program);
    if (path == NULL) {
        *ret_value = value_fmt("Error: %s is unavailable.", program);
        return 0;
    }
    prog_adds(&prog, program, value_str(args, "device", ""), NULL);
    *ret_value = parted_printed(ctx, &prog, TOOL_MERGE, err);
    return *ret_value != NULL ? 0 : err->code;
}

/* parted reads its own quotes in a name, so a name with a space has them inside its word; GPT, Mac and PC98
 * tables have names. */
static int
partition_name(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const parted_check_t checks[] = { { CHECK_DEVICE, "device", "device", NULL },
                                             { CHECK_WHOLE, "partition", "partition", NULL },
                                             { CHECK_NAME, "name", "characters", NULL } };
    prog_auto_t prog = PROG_INIT;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < NELEMS(checks); i++)
        rc = parted_check_one(ctx, &checks[i], args, err);
    rc = rc == 0 ? tool_begin(&prog, "parted", err) : rc;
    if (rc < 0)
        return rc;
    AUTO_FREE char *number = value_pystr(value_get(args, "partition")),
                   *name = value_pystr(value_get(args, "name")), *quoted = xasprintf("'%s'", name);
    prog_adds(&prog, "-m", "-s", value_str(args, "device", ""), "name", number, quoted, NULL);
    *ret_value = parted_printed(ctx, &prog, TOOL_MERGE, err);
    return *ret_value != NULL ? 0 : err->code;
}

/* ---- what there is ------------------------------------------------------------------------------------ */

/* True for any block device, whole or partition. */
static int
partition_exists(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = json_boolean(parted_is_block(value_str(args, "device", "")));
    return 0;
}

/* Names of the kernel, of whole devices only (-d), without RAM disks, loop devices and CD drives (majors 1,
 * 7, 11). */
static int
partition_get_block_device(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;
    int rc = tool_begin(&prog, "lsblk", err);

    prog_adds(&prog, "-n", "-io", "KNAME", "-d", "-e", "1,7,11", "-l", NULL);
    *ret_value = rc == 0 ? parted_printed(ctx, &prog, TOOL_MERGE, err) : NULL;
    return *ret_value != NULL ? 0 : err->code;
}

/* {"83": "Linux"} of `sfdisk -T`: the first word of each name, as Salt has it. Lines are "ID  NAME" below
 * the heading "Id  Name". */
static int
partition_system_types(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;
    int rc = tool_begin(&prog, "sfdisk", err);
    json_t *line;
    size_t i;

    prog_add(&prog, "-T");
    json_auto_t *lines = rc == 0 ? parted_printed(ctx, &prog, TOOL_MERGE, err) : NULL;
    if (lines == NULL)
        return err->code;
    *ret_value = json_object();
    json_array_foreach (lines, i, line) {
        char **words = str_split(json_string_value(line), " \t", true);
        if (strv_len(words) > 1 && !str_starts(json_string_value(line), "Id"))
            json_object_set_new(*ret_value, words[0], json_string(words[1]));
        strv_free(words);
    }
    return 0;
}

/* The id must be one that this sfdisk lists, as in Salt: sfdisk itself writes any number. */
static int
partition_set_id(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const parted_check_t checks[] = { { CHECK_DEVICE, "device", "device", NULL },
                                             { CHECK_WHOLE, "minor", "minor number", NULL } };
    AUTO_FREE char *minor = value_pystr(value_get(args, "minor")),
                   *id = value_pystr(value_get(args, "system_id"));
    json_auto_t *types = NULL;
    prog_auto_t prog = PROG_INIT;
    int rc = parted_check_one(ctx, &checks[0], args, err);

    rc = rc == 0 ? parted_check_one(ctx, &checks[1], args, err) : rc;
    rc = rc == 0 ? partition_system_types(ctx, args, &types, err) : rc;
    if (rc == 0 && value_get(types, id) == NULL)
        rc = fail_kind(err, FAIL_COMMAND, -EINVAL, "Invalid system_id passed to partition.set_id");
    if (rc < 0)
        return rc;
    prog_adds(&prog, "sfdisk", "--change-id", value_str(args, "device", ""), minor, id, NULL);
    *ret_value = parted_printed(ctx, &prog, TOOL_MERGE, err);
    return *ret_value != NULL ? 0 : err->code;
}

/* The one error of a line that does not have the shape of `parted -m`. */
static int
bad_output(fail_t *err)
{
    return fail_kind(err, FAIL_COMMAND, -EBADMSG, "Problem encountered while parsing output from parted");
}

/* Puts the columns by name into a dict. -EBADMSG when there are more or fewer than names. */
static int
put_columns(char *const *values, const char *const *names, size_t n, json_t *into, fail_t *err)
{
    if (strv_len(values) != n)
        return bad_output(err);
    for (size_t i = 0; i < n; i++)
        json_object_set_new(into, names[i], value_utf8(values[i], strlen(values[i])));
    return 0;
}

/* Adds one line of `parted -m print`: the disk "path:size:interface:512:512:gpt:model:flags;", then its
 * partitions, each "1:2048s:4095s:2048s:ext4:name:flags;" or "1:2048s:4095s:2048s:free;". */
static int
add_part_line(const char *line, bool chs, json_t *out, fail_t *err)
{
    static const char *const disk[] = {
        "disk",  "size",      "interface", "logical sector", "physical sector", "partition table",
        "model", "disk flags"
    };
    const char *names[7] = { "number", "start", "end" };
    size_t len = strlen(line), n = 3;

    while (len > 0 && line[len - 1] == ';')
        len--;
    AUTO_FREE char *text = xstrndup(line, len);
    char **values = str_split(text, ":", false);
    size_t count = strv_len(values);
    json_auto_t *one = json_object();
    int rc;
    /* The first line is the disk; parted before version 3 prints no flags of it. */
    if (json_object_size(value_get(out, "info")) == 0) {
        rc = count == 7 || count == 8 ? put_columns(values, disk, count, value_get(out, "info"), err)
                                      : bad_output(err);
        strv_free(values);
        return rc;
    }
    /* In cylinders, heads and sectors no size is printed. */
    if (!chs)
        names[n++] = "size";
    /* Free space, which ends with this one word, has neither file system nor name nor flags. */
    bool is_free = count > 0 && strcmp(values[count - 1], "free") == 0;
    if (is_free) {
        free(values[count - 1]);
        values[count - 1] = NULL;
    } else {
        names[n++] = "file system";
        names[n++] = "name";
        names[n++] = "flags";
    }
    rc = put_columns(values, names, n, one, err);
    if (rc == 0)
        json_object_set(value_get(out, "partitions"), values[0], one);
    strv_free(values);
    return rc;
}

/* Returns {"info": {...}, "partitions": {"1": {...}}}. Lines other than the data are an error here, so
 * stderr is not merged into them. */
static int
partition_list(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *device = value_str(args, "device", ""), *unit = value_str(args, "unit", "");
    json_auto_t *out = json_pack("{s:{}, s:{}}", "info", "partitions");
    prog_auto_t prog = PROG_INIT;
    json_t *line;
    size_t i;

    if (!parted_is_block(device))
        return fail_kind(err, FAIL_COMMAND, -ENOTBLK, "Invalid device passed to partition module.");
    if (*unit != '\0' && !parted_is_among(units, unit))
        return fail_kind(err, FAIL_COMMAND, -EINVAL, "Invalid unit passed to partition.part_list");
    int rc = tool_begin(&prog, "parted", err);
    prog_adds(&prog, "-m", "-s", device, NULL);
    if (*unit != '\0')
        prog_adds(&prog, "unit", unit, NULL);
    prog_add(&prog, "print");
    json_auto_t *lines = rc == 0 ? parted_printed(ctx, &prog, 0, err) : NULL;
    if (lines == NULL)
        return err->code;
    json_array_foreach (lines, i, line) {
        const char *text = json_string_value(line);
        /* The first line tells the unit in which the program counts, and is no data. */
        bool head = strcmp(text, "BYT;") == 0 || strcmp(text, "CHS;") == 0 || strcmp(text, "CYL;") == 0;
        rc = rc == 0 && !head ? add_part_line(text, strcmp(unit, "chs") == 0, out, err) : rc;
    }
    *ret_value = rc == 0 ? STEAL(out) : NULL;
    return rc;
}

/* Salt asks for these three; sfdisk and mkfs are looked for by the functions that need them. */
static const char *
exec_parted_partition_unavailable(call_ctx_t *ctx)
{
    static const struct {
        const char *program, *why;
    } needed[] = {
        { "parted", "The parted execution module failed to load parted binary is not in the path." },
        { "lsblk", "The parted execution module failed to load lsblk binary is not in the path." },
        { "partprobe", "The parted execution module failed to load partprobe binary is not in the path." }
    };

    for (size_t i = 0; i < NELEMS(needed); i++) {
        AUTO_FREE char *path = fs_which(needed[i].program);
        if (path == NULL)
            return needed[i].why;
    }
    return NULL;
}

/* ---- table ------------------------------------------------------------------------------------------- */

#define ON_DEVICE   ROW(CHECK_DEVICE, "device", "device", NULL)
#define MINOR_CHECK ROW(CHECK_WHOLE, "minor", "minor number", NULL)
/* Words of the rows below; the error of a failed check names its argument by the third field. */
static const parted_command_t align = { { ON_DEVICE,
                                          { CHECK_ONE_OF, "part_type", "part_type", alignments },
                                          { CHECK_WHOLE, "partition", "partition", NULL } },
                                        { "parted", "-m", "{device}", "align-check", "{part_type}",
                                          "{partition}" } };
static const parted_command_t check = { { ON_DEVICE, MINOR_CHECK },
                                        { "parted", "-m", "-s", "{device}", "check", "{minor}" } };
static const parted_command_t copy = { { ON_DEVICE,
                                         { CHECK_WHOLE, "from_minor", "minor number", NULL },
                                         { CHECK_WHOLE, "to_minor", "minor number", NULL } },
                                       { "parted", "-m", "-s", "{device}", "cp", "{from_minor}",
                                         "{to_minor}" } };
static const parted_command_t get_id = { { ON_DEVICE, MINOR_CHECK },
                                         { "sfdisk", "--print-id", "{device}", "{minor}" } };
static const parted_command_t make_label = { { { CHECK_ONE_OF, "label_type", "label_type", labels } },
                                             { "parted", "-m", "-s", "{device}", "mklabel",
                                               "{label_type}" } };
static const parted_command_t rescue = {
    { ON_DEVICE, { CHECK_BOUNDARY, "start", "start", NULL }, { CHECK_BOUNDARY, "end", "end", NULL } },
    { "parted", "-m", "-s", "{device}", "rescue", "{start}", "{end}" }
};
static const parted_command_t resize = { { ON_DEVICE,
                                           MINOR_CHECK,
                                           { CHECK_BOUNDARY, "start", "start", NULL },
                                           { CHECK_BOUNDARY, "end", "end", NULL } },
                                         { "parted", "-m", "-s", "--", "{device}", "resize", "{minor}",
                                           "{start}", "{end}" } };
static const parted_command_t rm = { { ON_DEVICE, MINOR_CHECK },
                                     { "parted", "-m", "-s", "{device}", "rm", "{minor}" } };
static const parted_command_t set_flag = { { ON_DEVICE,
                                             MINOR_CHECK,
                                             { CHECK_ONE_OF, "flag", "flag", flags },
                                             { CHECK_ONE_OF, "state", "state", states } },
                                           { "parted", "-m", "-s", "{device}", "set", "{minor}", "{flag}",
                                             "{state}" } };
static const parted_command_t toggle = { { ON_DEVICE,
                                           { CHECK_WHOLE, "partition", "partition number", NULL },
                                           { CHECK_ONE_OF, "flag", "flag", flags } },
                                         { "parted", "-m", "-s", "{device}", "toggle", "{partition}",
                                           "{flag}" } };
static const parted_command_t disk_set = {
    { ON_DEVICE, { CHECK_ONE_OF, "flag", "flag", disk_flags }, { CHECK_ONE_OF, "state", "state", states } },
    { "parted", "-m", "-s", "{device}", "disk_set", "{flag}", "{state}" }
};
static const parted_command_t disk_toggle = { { ON_DEVICE, { CHECK_ONE_OF, "flag", "flag", disk_flags } },
                                              { "parted", "-m", "-s", "{device}", "disk_toggle", "{flag}" } };

#define DEVICE_ROW    ARG("device", ARG_STR, ARG_REQUIRED, "Path of the disk: /dev/sda")
#define MINOR_ROW     ARG("minor", ARG_ANY, ARG_REQUIRED, "Number of the partition")
#define PARTITION_ROW ARG("partition", ARG_ANY, ARG_REQUIRED, "Number of the partition")
#define FLAG_ROW      ARG("flag", ARG_STR, ARG_REQUIRED, "Name of the flag")
#define STATE_ROW     ARG("state", ARG_ANY, ARG_REQUIRED, "on or off, as a text")
#define START_ROW     ARG("start", ARG_ANY, ARG_REQUIRED, "Where it begins: 1MiB")
#define END_ROW       ARG("end", ARG_ANY, ARG_REQUIRED, "Where it ends: 50%")

static const arg_t align_args[] = { DEVICE_ROW, ARG("part_type", ARG_STR, ARG_REQUIRED, "minimal or optimal"),
                                    PARTITION_ROW, ARGS_END };
static const arg_t minor_args[] = { DEVICE_ROW, MINOR_ROW, ARGS_END };
static const arg_t copy_args[] = { DEVICE_ROW,
                                   ARG("from_minor", ARG_ANY, ARG_REQUIRED, "Number of the partition"),
                                   ARG("to_minor", ARG_ANY, ARG_REQUIRED, "Number of the other one"),
                                   ARGS_END };
static const arg_t disk_set_args[] = { DEVICE_ROW, FLAG_ROW, STATE_ROW, ARGS_END };
static const arg_t disk_toggle_args[] = { DEVICE_ROW, FLAG_ROW, ARGS_END };
static const arg_t exists_args[] = { ARG("device", ARG_STR, "\"\"", "A path"), ARGS_END };
static const arg_t list_args[] = { DEVICE_ROW,
                                   ARG("unit", ARG_STR, "null", "Unit of the figures: s, MiB, %, ..."),
                                   ARGS_END };
static const arg_t mkfs_args[] = { DEVICE_ROW,
                                   ARG("fs_type", ARG_STR, ARG_REQUIRED, "ext4, xfs, linux-swap, ..."),
                                   ARGS_END };
static const arg_t label_args[] = { DEVICE_ROW, ARG("label_type", ARG_STR, ARG_REQUIRED, "gpt, msdos, ..."),
                                    ARGS_END };
static const arg_t mkpart_args[] = { DEVICE_ROW,
                                     ARG("part_type", ARG_STR, ARG_REQUIRED, "primary, logical or extended"),
                                     ARG("fs_type", ARG_STR, "null", "Kind of file system that it is for"),
                                     ARG("start", ARG_ANY, "null", "Where it begins: 1MiB"),
                                     ARG("end", ARG_ANY, "null", "Where it ends: 50%"),
                                     ARGS_END };
static const arg_t name_args[] = { DEVICE_ROW, PARTITION_ROW, ARG("name", ARG_STR, ARG_REQUIRED, "The name"),
                                   ARGS_END };
static const arg_t probe_args[] = { ARG("devices", ARG_ANY, ARG_STAR, "Paths of disks; none: all"),
                                    ARGS_END };
static const arg_t rescue_args[] = { DEVICE_ROW, START_ROW, END_ROW, ARGS_END };
static const arg_t resize_args[] = { DEVICE_ROW, MINOR_ROW, START_ROW, END_ROW, ARGS_END };
static const arg_t set_args[] = { DEVICE_ROW, MINOR_ROW, FLAG_ROW, STATE_ROW, ARGS_END };
static const arg_t set_id_args[] = { DEVICE_ROW, MINOR_ROW,
                                     ARG("system_id", ARG_ANY, ARG_REQUIRED, "Id of the system: 83"),
                                     ARGS_END };
static const arg_t toggle_args[] = { DEVICE_ROW, PARTITION_ROW, FLAG_ROW, ARGS_END };

static const func_t funcs[] = {
    { "align_check", partition_command, align_args, FN_READONLY,
      "Return whether a partition begins where the disk likes it." CLI_EXAMPLE(
          "salt '*' partition.align_check /dev/sda minimal 1"),
      .data.ptr = &align },
    { "check", partition_command, minor_args, FN_READONLY,
      "Check the file system of a partition." CLI_EXAMPLE("salt '*' partition.check /dev/sda 1"),
      .data.ptr = &check },
    { "cp", partition_command, copy_args, 0,
      "Copy a file system to another partition." CLI_EXAMPLE("salt '*' partition.cp /dev/sda 2 3"),
      .data.ptr = &copy },
    { "disk_set", partition_command, disk_set_args, 0,
      "Set a flag of a disk." CLI_EXAMPLE("salt '*' partition.disk_set /dev/sda pmbr_boot '\"on\"'"),
      .data.ptr = &disk_set },
    { "disk_toggle", partition_command, disk_toggle_args, 0,
      "Turn a flag of a disk round." CLI_EXAMPLE("salt '*' partition.disk_toggle /dev/sda pmbr_boot"),
      .data.ptr = &disk_toggle },
    { "exists", partition_exists, exists_args, FN_READONLY,
      "Return whether there is such a disk or partition." CLI_EXAMPLE(
          "salt '*' partition.exists /dev/sdb1") },
    { "get_block_device", partition_get_block_device, NULL, FN_READONLY,
      "Return the names of the disks." CLI_EXAMPLE("salt '*' partition.get_block_device") },
    { "get_id", partition_command, minor_args, FN_READONLY,
      "Return the system id of a partition." CLI_EXAMPLE("salt '*' partition.get_id /dev/sda 1"),
      .data.ptr = &get_id },
    { "list", partition_list, list_args, FN_READONLY,
      "Return a disk's data and its partitions." CLI_EXAMPLE(
          "salt '*' partition.list /dev/sda\n    salt '*' partition.list /dev/sda unit=s") },
    { "mkfs", partition_mkfs, mkfs_args, 0,
      "Make a file system." CLI_EXAMPLE("salt '*' partition.mkfs /dev/sda2 ext4") },
    { "mklabel", partition_command, label_args, 0,
      "Make a new partition table." CLI_EXAMPLE("salt '*' partition.mklabel /dev/sda msdos"),
      .data.ptr = &make_label },
    { "mkpart", partition_mkpart, mkpart_args, 0,
      "Make a partition." CLI_EXAMPLE(
          "salt '*' partition.mkpart /dev/sda primary fs_type=ext4 start=1MiB end=50%") },
    { "mkpartfs", partition_mkpart, mkpart_args, 0,
      "The same as mkpart: parted makes no file systems any more." CLI_EXAMPLE(
          "salt '*' partition.mkpartfs /dev/sda primary ext4 1MiB 50%") },
    { "name", partition_name, name_args, 0,
      "Name a partition." CLI_EXAMPLE("salt '*' partition.name /dev/sda 1 'My Documents'") },
    { "probe", partition_probe, probe_args, 0,
      "Make the kernel read the partition tables again." CLI_EXAMPLE("salt '*' partition.probe /dev/sda") },
    { "rescue", partition_command, rescue_args, 0,
      "Look for a lost partition between two places." CLI_EXAMPLE(
          "salt '*' partition.rescue /dev/sda 0 8056"),
      .data.ptr = &rescue },
    { "resize", partition_command, resize_args, 0,
      "Resize a partition." CLI_EXAMPLE("salt '*' partition.resize /dev/sda 3 200 850"),
      .data.ptr = &resize },
    { "rm", partition_command, minor_args, 0,
      "Remove a partition." CLI_EXAMPLE("salt '*' partition.rm /dev/sda 5"), .data.ptr = &rm },
    { "set", partition_command, set_args, 0,
      "Set a flag of a partition." CLI_EXAMPLE("salt '*' partition.set /dev/sda 1 boot '\"on\"'"),
      .data.ptr = &set_flag },
    { "set_id", partition_set_id, set_id_args, 0,
      "Set the system id of a partition." CLI_EXAMPLE("salt '*' partition.set_id /dev/sda 1 83") },
    { "system_types", partition_system_types, NULL, FN_READONLY,
      "Return the system ids that sfdisk knows." CLI_EXAMPLE("salt '*' partition.system_types") },
    { "toggle", partition_command, toggle_args, 0,
      "Turn a flag of a partition round." CLI_EXAMPLE("salt '*' partition.toggle /dev/sda 1 boot"),
      .data.ptr = &toggle },
};

PLUGIN(exec, parted_partition, .provides = "partition", .doc = "Partition tables, by parted",
       .unavailable = exec_parted_partition_unavailable, FUNCS(funcs));
