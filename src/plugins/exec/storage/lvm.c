/* lvm.c - execution module `lvm`: LVM2's physical volumes, volume groups and logical volumes, by its
 * programs. What went wrong is part of the answer, as in Salt. The shape of the facts is the
 * colon-separated output of pvdisplay, vgdisplay and lvdisplay with -c, which lvm(8) keeps for scripts. */
#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/call/tool.h"
#include "common/host/rootfs.h"
#include "plugins/lib/file/fileops.h"
#include "salt/log.h"
#include "salt/plugin.h"

/* A volume of 10 TB is cleared by lvcreate in this time; the programs wait for the lock of a busy group,
 * too. */
#define LVM_MS (30 * 60 * 1000)

/* ---- what there is -------------------------------------------------------------------------- */

/* The columns of pvdisplay -c and its like, in their order. Their names, with the units in them, are Salt's
 * keys. */
typedef struct lvm_columns {
    const char *program, *argument; /* the function's argument */
    const char *names[18];          /* ends with NULL; the volume's own name is first */
} lvm_columns_t;

static const lvm_columns_t physical = {
    "pvdisplay",
    "pvname",
    { "Physical Volume Device", "Volume Group Name", "Physical Volume Size (kB)",
      "Internal Physical Volume Number", "Physical Volume Status", "Physical Volume (not) Allocatable",
      "Current Logical Volumes Here", "Physical Extent Size (kB)", "Total Physical Extents",
      "Free Physical Extents", "Allocated Physical Extents" }
};
static const lvm_columns_t groups = {
    "vgdisplay",
    "vgname",
    { "Volume Group Name", "Volume Group Access", "Volume Group Status", "Internal Volume Group Number",
      "Maximum Logical Volumes", "Current Logical Volumes", "Open Logical Volumes",
      "Maximum Logical Volume Size", "Maximum Physical Volumes", "Current Physical Volumes",
      "Actual Physical Volumes", "Volume Group Size (kB)", "Physical Extent Size (kB)",
      "Total Physical Extents", "Allocated Physical Extents", "Free Physical Extents", "UUID" }
};
static const lvm_columns_t logical = {
    "lvdisplay",
    "lvname",
    { "Logical Volume Name", "Volume Group Name", "Logical Volume Access", "Logical Volume Status",
      "Internal Logical Volume Number", "Open Logical Volumes", "Logical Volume Size",
      "Current Logical Extents Associated", "Allocated Logical Extents", "Allocation Policy",
      "Read Ahead Sectors", "Major Device Number", "Minor Device Number" }
};

/* Adds one line's volume under its own name; `real` looks behind symbolic links. A line with too few
 * columns is a message, not a volume. */
static void
add_volume(const lvm_columns_t *columns, char *line, bool real, json_t *into)
{
    char **values = str_split(str_trim(line), ":", false);
    json_auto_t *one = json_object();
    size_t n = 0;

    for (; columns->names[n] != NULL && values[n] != NULL; n++)
        json_object_set_new(one, columns->names[n], json_string(values[n]));
    if (columns->names[n] == NULL) {
        AUTO_FREE char *device = real ? fop_realpath(values[0]) : xstrdup(values[0]);
        if (real)
            json_object_set_new(one, "Real Physical Volume Device", json_string(device));
        json_object_set(into, device, one);
    }
    strv_free(values);
}

/* The volumes of that name, all for "". NEW, empty when there is none, which the program calls a failure;
 * NULL with *err. `quiet`: that there is none is no reason for a line in the log. */
static json_t *
volumes(call_ctx_t *ctx, const lvm_columns_t *columns, const char *name, bool quiet, bool real, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;

    if (tool_begin(&prog, columns->program, err) < 0)
        return NULL;
    prog_add(&prog, "-c");
    prog.timeout_ms = LIMIT_TOOL_MS;
    if (*name != '\0' && prog_operand(&prog, columns->argument, name, err) < 0)
        return NULL;
    json_auto_t *ran = tool_run(ctx, &prog, quiet ? TOOL_QUIET : 0, err);
    if (ran == NULL)
        return NULL;
    json_t *all = json_object();
    AUTO_FREE char *text = xstrdup(value_int(ran, "retcode", 1) == 0 ? value_str(ran, "stdout", "") : "");
    for (char *at = text, *line; (line = line_next(&at)) != NULL;) {
        /* A device without a group has this line first, as a notice. */
        if (strstr(line, "is a new physical volume") == NULL)
            add_volume(columns, line, real, all);
    }
    return all;
}

/* pvdisplay, vgdisplay and lvdisplay: the row has the columns. */
static int
lvm_display(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const lvm_columns_t *columns = ctx_row(ctx)->data.ptr;

    *ret_value = volumes(ctx, columns, value_str(args, columns->argument, ""),
                         value_bool(args, "quiet", false), value_bool(args, "real", false), err);
    return *ret_value != NULL ? 0 : err->code;
}

/* 1 when the device is a physical volume, 0 when it is not, or negative with *err. */
static int
is_physical(call_ctx_t *ctx, const char *device, bool quiet, fail_t *err)
{
    json_auto_t *all = volumes(ctx, &physical, device, quiet, false, err);

    return all == NULL ? err->code : json_object_size(all) > 0;
}

/* {"LVM version": ..., "Library version": ...}, as `lvm version` prints them. NEW, or NULL with *err. */
static json_t *
lvm_versions(call_ctx_t *ctx, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;
    json_auto_t *ran = NULL, *all = json_object();

    if (tool_begin(&prog, "lvm", err) < 0)
        return NULL;
    prog_add(&prog, "version");
    prog.timeout_ms = LIMIT_TOOL_MS;
    ran = tool_run(ctx, &prog, TOOL_MERGE, err);
    AUTO_FREE char *text = xstrdup(value_str(ran, "stdout", ""));
    for (char *at = text, *line; (line = line_next(&at)) != NULL;) {
        char *value = strchr(line, ':');
        if (value == NULL)
            continue;
        *value++ = '\0';
        /* Like Salt's split: the second of several parts. */
        value[strcspn(value, ":")] = '\0';
        json_object_set_new(all, str_trim(line), json_string(str_trim(value)));
    }
    return ran != NULL ? json_incref(all) : NULL;
}

static int
lvm_fullversion(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = lvm_versions(ctx, err);
    return *ret_value != NULL ? 0 : err->code;
}

static int
lvm_version(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *all = lvm_versions(ctx, err);

    if (all == NULL)
        return err->code;
    *ret_value = json_incref(value_get(all, "LVM version"));
    return *ret_value != NULL ? 0 : fail_kind(err, FAIL_COMMAND, -EPROTO, "lvm version names no LVM version");
}

/* ---- command lines -------------------------------------------------------------------------- */

/* A list, or a text with commas. NEW list. */
static json_t *
device_list(const json_t *devices)
{
    json_t *list = json_array();

    if (!json_is_string(devices))
        return json_decref(list), json_is_array(devices) ? json_incref((json_t *) devices) : json_array();
    char **names = str_split(json_string_value(devices), ",", false);
    for (size_t i = 0; names[i] != NULL; i++)
        json_array_append_new(list, json_string(names[i]));
    strv_free(names);
    return list;
}

/* True when the word is one of those in a text with blanks between. */
static bool
in_words(const char *words, const char *word)
{
    char **list = str_split(words, " ", true);
    bool found = false;

    for (size_t i = 0; list[i] != NULL; i++)
        found = found || strcmp(list[i], word) == 0;
    strv_free(list);
    return found;
}

/* Options of the program among the call's other keywords: those of `valued` with their value, those of `bare`
 * alone. `empty`: an option with an empty value is one, too. */
static void
lvm_add_options(prog_t *prog, const json_t *args, const char *valued, const char *bare, bool empty)
{
    const char *name;
    json_t *v;

    json_object_foreach (value_get(args, "kwargs"), name, v) {
        AUTO_FREE char *option = xasprintf("--%s", name);
        if (!empty && !value_truthy(v))
            continue;
        if (in_words(bare, name))
            prog_add(prog, option);
        else if (in_words(valued, name))
            prog_add_option(prog, option, v);
    }
}

/* `-qq` has LVM2's programs answer no to their questions, and `word` is the program's way to say yes, so
 * that neither waits for an answer. */
static void
add_force(prog_t *prog, const json_t *args, const char *word)
{
    prog_add(prog, value_truthy(value_get(args, "force")) ? word : "-qq");
}

/* Runs the program: `done` when it ended well, else its errors, trimmed or as they are. TAKES `done`. NEW;
 * NULL with *err when it could not be run. */
static json_t *
lvm_said(call_ctx_t *ctx, prog_t *prog, bool trimmed, json_t *done, fail_t *err)
{
    json_auto_t *text = done;

    prog->timeout_ms = LVM_MS;
    json_auto_t *ran = tool_run(ctx, prog, 0, err);
    if (ran == NULL)
        return NULL;
    AUTO_FREE char *said = xstrdup(value_str(ran, "stderr", ""));
    return value_int(ran, "retcode", 1) == 0 ? json_incref(text)
                                             : json_string(trimmed ? str_trim(said) : said);
}

/* ---- physical volumes ------------------------------------------------------------------------- */

#define PV_VALUED                                                                                            \
    "metadatasize dataalignment dataalignmentoffset pvmetadatacopies metadatacopies metadataignore "         \
    "restorefile labelsector setphysicalvolumesize"

/* How the functions over several devices differ: which they take, and whether that shows afterwards. */
typedef struct lvm_each {
    const char *program;
    bool makes;      /* takes devices that are no physical volume; the others are skipped */
    bool is_checked; /* each device must have changed sides afterwards */
} lvm_each_t;
static const lvm_each_t each_create = { "pvcreate", true, true };
static const lvm_each_t each_remove = { "pvremove", false, true };
static const lvm_each_t each_resize = { "pvresize", false, false };

/* Adds the devices that the program is for and counts them in *ret_n. Returns 1 with the answer in
 * *ret_value when another one is in the way (not there, or on the wrong side and no `override`); 0; or
 * negative with *err. */
static int
add_devices(call_ctx_t *ctx, const json_t *args, const lvm_each_t *each, prog_t *prog, json_t *devices,
            size_t *ret_n, json_t **ret_value, fail_t *err)
{
    json_t *one;
    size_t i;

    json_array_foreach (devices, i, one) {
        AUTO_FREE char *device = value_pystr(one);
        int there = each->makes ? fop_exists(device, err) : 1;
        if (there == 0)
            *ret_value = value_fmt("%s does not exist", device);
        if (there <= 0)
            return there == 0 ? 1 : there;
        int is = is_physical(ctx, device, each->makes, err);
        if (is < 0 || (is == !each->makes && prog_operand(prog, "devices", device, err) < 0))
            return err->code;
        *ret_n += is == !each->makes;
        if (is == each->makes && !value_truthy(value_get(args, "override"))) {
            *ret_value = value_fmt(each->makes ? "Device \"%s\" is already an LVM physical volume."
                                               : "%s is not a physical volume",
                                   device);
            return 1;
        }
    }
    return 0;
}

/* pvcreate, pvremove and pvresize: True, or a text that tells why not. Devices that are on the right side
 * already are skipped with `override`, and nothing is run when none is left. */
static int
lvm_each_device(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const lvm_each_t *each = ctx_row(ctx)->data.ptr;
    json_auto_t *devices = device_list(value_get(args, "devices")), *said = NULL;
    prog_auto_t prog = PROG_INIT;
    size_t n = 0, i;
    json_t *one;

    if (each->makes && !value_truthy(value_get(args, "devices"))) {
        *ret_value = json_string("Error: at least one device is required");
        return 0;
    }
    if (tool_begin(&prog, each->program, err) < 0)
        return err->code;
    add_force(&prog, args, "--yes");
    int rc = add_devices(ctx, args, each, &prog, devices, &n, ret_value, err);
    if (rc != 0)
        return rc > 0 ? 0 : rc;
    if (n > 0) {
        lvm_add_options(&prog, args, PV_VALUED, "norestorefile", false);
        said = lvm_said(ctx, &prog, false, json_true(), err);
        if (said == NULL)
            return err->code;
        *ret_value = json_incref(said);
        if (!json_is_true(said))
            return 0;
    }
    /* The program's word is not enough: each device is looked at again. */
    json_array_foreach (n > 0 && each->is_checked ? devices : NULL, i, one) {
        AUTO_FREE char *device = value_pystr(one);
        int is = is_physical(ctx, device, !each->makes, err);
        /* The first device that stayed as it was is the answer. */
        if (is >= 0 && is != each->makes) {
            json_decref(*ret_value);
            *ret_value = value_fmt("Device \"%s\" was not affected.", device);
        }
        if (is != each->makes)
            return is < 0 ? is : 0;
    }
    if (n == 0)
        *ret_value = json_true();
    return 0;
}

/* ---- volume groups ---------------------------------------------------------------------------- */

#define VG_VALUED                                                                                            \
    "addtag alloc autobackup clustered maxlogicalvolumes maxphysicalvolumes metadatatype vgmetadatacopies "  \
    "metadatacopies physicalextentsize zero"

/* vgcreate, whose answer has the new group too, and vgextend: the row has the program. */
static int
lvm_group(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *program = ctx_row(ctx)->data.ptr, *name = value_str(args, "vgname", "");
    bool makes = strcmp(program, "vgcreate") == 0;
    json_auto_t *devices = device_list(value_get(args, "devices"));
    AUTO_FREE char *key = xasprintf("Output from %s", program);
    prog_auto_t prog = PROG_INIT;

    if (*name == '\0' || !value_truthy(value_get(args, "devices"))) {
        *ret_value = json_string("Error: vgname and device(s) are both required");
        return 0;
    }
    /* The group's name stands before its devices. */
    if (tool_begin(&prog, program, err) < 0 || prog_operand(&prog, "vgname", name, err) < 0 ||
        prog_operands(&prog, "devices", devices, err) < 0)
        return err->code;
    add_force(&prog, args, "--yes");
    lvm_add_options(&prog, args, makes ? VG_VALUED : "", "", false);
    json_t *done = value_fmt("Volume group \"%s\" successfully %s", name, makes ? "created" : "extended");
    json_auto_t *said = lvm_said(ctx, &prog, true, done, err);
    json_auto_t *all = said == NULL ? NULL
                       : makes      ? volumes(ctx, &groups, name, false, false, err)
                                    : json_object();
    if (all == NULL)
        return err->code;
    json_object_set(all, key, said);
    *ret_value = json_incref(all);
    return 0;
}

/* The text of a success is made here, as in Salt, and not read from the program's output. */
static int
lvm_vgremove(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = value_str(args, "vgname", "");
    prog_auto_t prog = PROG_INIT;

    if (tool_begin(&prog, "vgremove", err) < 0 || prog_operand(&prog, "vgname", name, err) < 0)
        return err->code;
    add_force(&prog, args, "--yes");
    *ret_value = lvm_said(ctx, &prog, true, value_fmt("Volume group \"%s\" successfully removed", name), err);
    return *ret_value != NULL ? 0 : err->code;
}

/* ---- logical volumes -------------------------------------------------------------------------- */

#define LV_VALUED                                                                                            \
    "activate chunksize contiguous discards stripes stripesize minor persistent mirrors monitor permission " \
    "poolmetadatasize readahead regionsize type virtualsize zero"
#define LV_BARE "nosync noudevsync ignoremonitoring thin"

/* Salt's answer to arguments that exclude each other; NULL: there is nothing wrong. */
static const char *
lvcreate_wrong(const json_t *args)
{
    bool size = value_truthy(value_get(args, "size")), extents = value_truthy(value_get(args, "extents"));
    bool thin = value_truthy(value_get(args, "thinvolume"));

    if (size && extents)
        return "Error: Please specify only one of size or extents";
    if (thin && value_truthy(value_get(args, "thinpool")))
        return "Error: Please set only one of thinvolume or thinpool to True";
    if (extents && thin)
        return "Error: Thin volume size cannot be specified as extents";
    return size || extents ? NULL : "Error: Either size or extents must be specified";
}

/* The command line. A snapshot is of a volume in the same group; a thin volume has a virtual size (-V) and
 * no space of its own. 0, or negative with *err. */
static int
lvcreate_line(const json_t *args, prog_t *prog, fail_t *err)
{
    const char *group = value_str(args, "vgname", "");
    json_t *name = value_get(args, "lvname"), *snapshot = value_get(args, "snapshot");
    json_t *size = value_get(args, "size"), *pv = value_get(args, "pv");
    bool thin = value_truthy(value_get(args, "thinvolume"));

    if (tool_begin(prog, "lvcreate", err) < 0)
        return err->code;
    if (thin)
        prog_add(prog, "--thin");
    prog_add_option(prog, !thin && value_truthy(value_get(args, "thinpool")) ? "--thinpool" : "-n", name);
    if (prog_check_operand("vgname", group, err) < 0)
        return err->code;
    if (value_truthy(snapshot)) {
        AUTO_FREE char *from = value_pystr(snapshot);
        prog_add(prog, "-s");
        prog_addf(prog, "%s/%s", group, from);
    } else {
        prog_add(prog, group);
    }
    if (value_truthy(size))
        prog_add_option(prog, thin ? "-V" : "-L", size);
    else
        prog_add_option(prog, "-l", value_get(args, "extents"));
    if (value_truthy(pv) && prog_operands(prog, "pv", pv, err) < 0)
        return err->code;
    lvm_add_options(prog, args, LV_VALUED, LV_BARE, true);
    add_force(prog, args, "--yes");
    return 0;
}

/* The new volume by lvdisplay, and what lvcreate said. */
static int
lvm_lvcreate(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *wrong = lvcreate_wrong(args), *name = value_str(args, "lvname", "");
    prog_auto_t prog = PROG_INIT;

    if (wrong != NULL) {
        *ret_value = json_string(wrong);
        return 0;
    }
    if (lvcreate_line(args, &prog, err) < 0)
        return err->code;
    AUTO_FREE char *device = xasprintf("/dev/%s/%s", value_str(args, "vgname", ""), name);
    json_auto_t *said = lvm_said(ctx, &prog, true, value_fmt("Logical volume \"%s\" created.", name), err);
    json_auto_t *all = said != NULL ? volumes(ctx, &logical, device, false, false, err) : NULL;
    if (all == NULL)
        return err->code;
    json_object_set(all, "Output from lvcreate", said);
    *ret_value = json_incref(all);
    return 0;
}

/* The volume is named GROUP/NAME; the argument vgname is checked with it. */
static int
lvm_lvremove(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = value_str(args, "lvname", "");
    AUTO_FREE char *path = xasprintf("%s/%s", value_str(args, "vgname", ""), name);
    prog_auto_t prog = PROG_INIT;

    if (tool_begin(&prog, "lvremove", err) < 0 || prog_operand(&prog, "vgname", path, err) < 0)
        return err->code;
    add_force(&prog, args, "--yes");
    *ret_value = lvm_said(ctx, &prog, true, value_fmt("Logical volume \"%s\" successfully removed", name),
                          err);
    return *ret_value != NULL ? 0 : err->code;
}

/* lvresize, which may shrink, and lvextend: the row's text. An empty answer, and a line in the log, for a
 * call that says no size or two, as in Salt. */
static int
lvm_resize(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *program = ctx_row(ctx)->data.ptr, *path = value_str(args, "lvpath", "");
    bool shrinks = strcmp(program, "lvresize") == 0;
    json_t *size = value_get(args, "size"), *extents = value_get(args, "extents");
    AUTO_FREE char *key = xasprintf("Output from %s", program);
    prog_auto_t prog = PROG_INIT;

    if (value_truthy(size) == value_truthy(extents)) {
        log_error("%s", value_truthy(size) ? "Error: Please specify only one of size or extents"
                                           : "Error: Either size or extents must be specified");
        *ret_value = json_object();
        return 0;
    }
    if (*path == '\0')
        return fail_kind(err, FAIL_INVOCATION, -EINVAL,
                         "lvpath: the volume's device is missing, as in %s 12M /dev/vg/lv", program);
    if (tool_begin(&prog, program, err) < 0)
        return err->code;
    /* lvresize wants --force before it shrinks a volume with data. */
    add_force(&prog, args, shrinks ? "--force" : "--yes");
    if (value_truthy(value_get(args, "resizefs")))
        prog_add(&prog, "--resizefs");
    /* "+1G" and "50%FREE" go on as they are: lvm(8) knows more forms than are worth a check. */
    prog_add_option(&prog, value_truthy(size) ? "-L" : "-l", value_truthy(size) ? size : extents);
    if (prog_operand(&prog, "lvpath", path, err) < 0)
        return err->code;
    json_t *done = value_fmt("Logical volume \"%s\" successfully %s.", path,
                             shrinks ? "resized" : "extended");
    json_auto_t *said = lvm_said(ctx, &prog, true, done, err);
    *ret_value = said != NULL ? json_pack("{s:O}", key, said) : NULL;
    return said != NULL ? 0 : err->code;
}

/* Salt's words; the module is linux_lvm there. */
static const char *
lvm_unavailable(call_ctx_t *ctx)
{
    AUTO_FREE char *lvm = fs_which("lvm");

    return lvm != NULL
               ? NULL
               : "The linux_lvm execution module cannot be loaded: the lvm binary is not in the path.";
}

/* ---- table ---------------------------------------------------------------------------------- */

#define DEVICES_ROW  ARG("devices", ARG_ANY, ARG_REQUIRED, "Devices: a list, or a text with commas")
#define OVERRIDE_ROW ARG("override", ARG_ANY, "true", "Skip devices that need nothing; False: stop there")
#define FORCE_ROW(value)                                                                                     \
    ARG("force", ARG_ANY, value, "Answer the program's questions with yes; by default with no")
#define GROUP_ROW   ARG("vgname", ARG_STR, ARG_REQUIRED, "The volume group")
#define QUIET_ROW   ARG("quiet", ARG_BOOL, "false", "Don't log that there is none")
#define NAME_ROW    ARG("lvname", ARG_STR, ARG_REQUIRED, "The logical volume's name")
#define SIZE_ROW    ARG("size", ARG_ANY, "null", "Its size, in MB unless it has a unit: 10G")
#define EXTENTS_ROW ARG("extents", ARG_ANY, "null", "Its size in extents, or in percent: 50%FREE")

static const arg_t pvdisplay_args[] = { ARG("pvname", ARG_STR, "\"\"", "The device; by default all"),
                                        ARG("real", ARG_BOOL, "false", "Name devices behind links"),
                                        QUIET_ROW, ARGS_END };
static const arg_t vgdisplay_args[] = { ARG("vgname", ARG_STR, "\"\"", "The group; by default all"),
                                        QUIET_ROW, ARGS_END };
static const arg_t lvdisplay_args[] = { ARG("lvname", ARG_STR, "\"\"", "The volume's device; by default all"),
                                        QUIET_ROW, ARGS_END };
static const arg_t pvcreate_args[] = { DEVICES_ROW, OVERRIDE_ROW, FORCE_ROW("true"),
                                       ARG("kwargs", ARG_ANY, ARG_STARSTAR,
                                           "Options of pvcreate: metadatasize, ...",
                                           PV_VALUED " norestorefile *"),
                                       ARGS_END };
static const arg_t pv_args[] = { DEVICES_ROW, OVERRIDE_ROW, FORCE_ROW("true"), ARGS_END };
static const arg_t vgcreate_args[] = {
    GROUP_ROW, DEVICES_ROW, FORCE_ROW("false"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Options of vgcreate: clustered, ...", VG_VALUED " *"), ARGS_END
};
static const arg_t vgextend_args[] = { GROUP_ROW, DEVICES_ROW, FORCE_ROW("false"), ARGS_END };
static const arg_t vgremove_args[] = { GROUP_ROW, FORCE_ROW("true"), ARGS_END };
static const arg_t lvcreate_args[] = {
    NAME_ROW,
    GROUP_ROW,
    SIZE_ROW,
    EXTENTS_ROW,
    ARG("snapshot", ARG_ANY, "null", "The volume of the group that it is a snapshot of"),
    ARG("pv", ARG_ANY, "null", "The physical volume to take the room from"),
    ARG("thinvolume", ARG_ANY, "false", "A thin volume; vgname is GROUP/POOL"),
    ARG("thinpool", ARG_ANY, "false", "A pool for thin volumes"),
    FORCE_ROW("false"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Options of lvcreate: stripes, ...", LV_VALUED " " LV_BARE " *"),
    ARGS_END,
};
static const arg_t lvremove_args[] = { NAME_ROW, GROUP_ROW, FORCE_ROW("true"), ARGS_END };
static const arg_t resize_args[] = { SIZE_ROW,
                                     ARG("lvpath", ARG_STR, "null", "The volume's device"),
                                     EXTENTS_ROW,
                                     FORCE_ROW("false"),
                                     ARG("resizefs", ARG_ANY, "false", "Resize its file system, too"),
                                     ARGS_END };

static const func_t funcs[] = {
    { "fullversion", lvm_fullversion, NULL, FN_READONLY,
      "Return all versions that LVM2 names." CLI_EXAMPLE("salt '*' lvm.fullversion") },
    { "lvcreate", lvm_lvcreate, lvcreate_args, 0,
      "Make a logical volume, a snapshot, or a pool." CLI_EXAMPLE(
          "salt '*' lvm.lvcreate data my_vg size=10G") },
    { "lvdisplay", lvm_display, lvdisplay_args, FN_READONLY,
      "Return logical volumes." CLI_EXAMPLE("salt '*' lvm.lvdisplay /dev/my_vg/data"), .data.ptr = &logical },
    { "lvextend", lvm_resize, resize_args, 0,
      "Enlarge a logical volume." CLI_EXAMPLE("salt '*' lvm.lvextend +12M /dev/my_vg/data"),
      .data.ptr = "lvextend" },
    { "lvremove", lvm_lvremove, lvremove_args, 0,
      "Remove a logical volume." CLI_EXAMPLE("salt '*' lvm.lvremove data my_vg") },
    { "lvresize", lvm_resize, resize_args, 0,
      "Change the size of a logical volume." CLI_EXAMPLE("salt '*' lvm.lvresize 12M /dev/my_vg/data"),
      .data.ptr = "lvresize" },
    { "pvcreate", lvm_each_device, pvcreate_args, 0,
      "Make devices physical volumes." CLI_EXAMPLE("salt '*' lvm.pvcreate /dev/sdb1,/dev/sdb2"),
      .data.ptr = &each_create },
    { "pvdisplay", lvm_display, pvdisplay_args, FN_READONLY,
      "Return physical volumes." CLI_EXAMPLE("salt '*' lvm.pvdisplay /dev/md0"), .data.ptr = &physical },
    { "pvremove", lvm_each_device, pv_args, 0,
      "Remove the labels of physical volumes." CLI_EXAMPLE("salt '*' lvm.pvremove /dev/sdb1,/dev/sdb2"),
      .data.ptr = &each_remove },
    { "pvresize", lvm_each_device, pv_args, 0,
      "Give physical volumes the size of their devices." CLI_EXAMPLE("salt '*' lvm.pvresize /dev/sdb1"),
      .data.ptr = &each_resize },
    { "version", lvm_version, NULL, FN_READONLY,
      "Return the version of LVM2." CLI_EXAMPLE("salt '*' lvm.version") },
    { "vgcreate", lvm_group, vgcreate_args, 0,
      "Make a volume group of physical volumes." CLI_EXAMPLE("salt '*' lvm.vgcreate my_vg /dev/sdb1"),
      .data.ptr = "vgcreate" },
    { "vgdisplay", lvm_display, vgdisplay_args, FN_READONLY,
      "Return volume groups." CLI_EXAMPLE("salt '*' lvm.vgdisplay my_vg"), .data.ptr = &groups },
    { "vgextend", lvm_group, vgextend_args, 0,
      "Add physical volumes to a volume group." CLI_EXAMPLE("salt '*' lvm.vgextend my_vg /dev/sdb2"),
      .data.ptr = "vgextend" },
    { "vgremove", lvm_vgremove, vgremove_args, 0,
      "Remove a volume group." CLI_EXAMPLE("salt '*' lvm.vgremove my_vg") },
};

PLUGIN(exec, lvm, .doc = "LVM2's volumes", FUNCS(funcs), .unavailable = lvm_unavailable);
