/* mount_auto.c - execution module `mount`: a map of automount (autofs(5)) with the entries of Salt,
 * "/..POINT -fstype=TYPE,OPTS TYPE:DEVICE". The names of the files and the key "/.." are those of macOS'
 * automounter, and Salt uses them everywhere. */
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/host/rootfs.h"
#include "plugins/lib/call/subcall.h"
#include "plugins/lib/call/tool.h"
#include "plugins/lib/file/field.h"
#include "plugins/lib/file/fileops.h"
#include "plugins/lib/file/partfile.h"
#include "plugins/lib/system/fstab.h"
#include "salt/plugin.h"

#define MAP        "/etc/auto_salt"
#define MASTER_MAP "/etc/auto_master"
#define PREFIX     "/.."

/* The three fields of a line, NEW (strv_free); NULL for comments and what is no entry. */
static char **
map_fields(const char *line, size_t len)
{
    AUTO_FREE char *text = xstrndup(line, len);
    char **words = *text != '#' ? str_split(text, " \t\r\v\f", true) : NULL;

    if (words == NULL || strv_len(words) == 3)
        return words;
    strv_free(words);
    return NULL;
}

/* The mount point of a first field. NEW. */
static char *
map_point(const char *field)
{
    return str_replace(field, PREFIX, "");
}

/* The device of a third field: what is between the first two colons. NEW. */
static char *
map_device(const char *field)
{
    const char *colon = strchr(field, ':');

    return colon != NULL ? xstrndup(colon + 1, strcspn(colon + 1, ":")) : xstrdup("");
}

/* {point: {device, fstype, opts}}; {} without a file. fstype is the whole first word, "-fstype=ext4", as in
 * Salt. */
static int
mount_automaster(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *config = value_str(args, "config", MAP);
    buf_auto_t text = BUF_INIT;
    int there = fs_look_file(config, err);

    if (there < 0 || (there > 0 && (there = fs_read(config, LIMIT_FILE_READ, &text, err)) < 0))
        return there;
    *ret_value = json_object();
    for (char *at = text.data, *line; at != NULL && (line = line_next(&at)) != NULL;) {
        char **words = map_fields(line, strlen(line));
        if (words == NULL)
            continue;
        AUTO_FREE char *point = map_point(words[0]), *device = map_device(words[2]);
        char **opts = str_split(words[1], ",", false);
        json_t *list = json_array();
        for (size_t i = 1; opts[0] != NULL && opts[i] != NULL; i++)
            json_array_append_new(list, json_string(opts[i]));
        json_object_set_new(*ret_value, point,
                            json_pack("{s:s, s:s, s:o}", "device", device, "fstype", opts[0], "opts", list));
        strv_free(opts);
        strv_free(words);
    }
    return 0;
}

/* Copies what is not the entry of this point (and device, unless that is ""). True when there was such an
 * entry. */
static bool
map_without(const char *text, const char *name, const char *device, buf_t *out)
{
    bool found = false;

    for (const char *line = text; *line != '\0';) {
        size_t len = strcspn(line, "\n"), whole = len + (line[len] == '\n');
        char **words = map_fields(line, len);
        AUTO_FREE char *point = words != NULL ? map_point(words[0]) : NULL;
        AUTO_FREE char *from = words != NULL ? map_device(words[2]) : NULL;
        bool meant = str_eq(point, name) && (*device == '\0' || str_eq(from, device));
        if (!meant)
            buf_add(out, line, whole);
        found = found || meant;
        strv_free(words);
        line += whole;
    }
    return found;
}

/* Takes an entry out of the map and has automount read it again. True also when there was none: then
 * nothing is run. */
static int
mount_rm_automaster(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *config = value_str(args, "config", MAP), *device = value_str(args, "device", "");
    buf_auto_t before = BUF_INIT, after = BUF_INIT;
    prog_auto_t prog = PROG_INIT;
    fail_auto_t why = FAIL_INIT;
    int code, there = fs_look_file(config, err);

    if (there < 0 || (there > 0 && fstab_read(config, &before, err) < 0))
        return err->code;
    *ret_value = json_true();
    if (!map_without(buf_str(&before), value_str(args, "name", ""), device, &after))
        return 0;
    if (partfile_put(config, buf_str(&after), after.len, 0644, &why) < 0)
        return fop_failed(err, "Couldn't write to %s: %s", config, fail_text(&why));
    if (tool_begin(&prog, "automount", err) < 0)
        return err->code;
    prog_add(&prog, "-cv");
    prog.timeout_ms = LIMIT_TOOL_MS;
    return tool_retcode(ctx, &prog, TOOL_MERGE, &code, err);
}

/* Copies the map with the entry as it should be: "present", "change", or "new" when it was not there. An
 * entry with the same point or the same device is the one that is meant; `keep` leaves it. */
static const char *
map_edit(const char *text, char *const *want, bool keep, buf_t *out)
{
    bool present = false, change = false;

    for (const char *line = text; *line != '\0';) {
        size_t len = strcspn(line, "\n"), whole = len + (line[len] == '\n');
        char **words = map_fields(line, len);
        bool meant = words != NULL && (strcmp(words[0], want[0]) == 0 || strcmp(words[2], want[2]) == 0);
        bool other = meant && !keep && !strv_equal(words, want);
        if (other)
            buf_printf(out, "%s\t%s\t%s\n", want[0], want[1], want[2]);
        else
            buf_add(out, line, whole);
        present = present || meant;
        change = change || other;
        strv_free(words);
        line += whole;
    }
    /* A last line without its end would otherwise swallow the new one. */
    if (!present)
        buf_printf(out, "%s%s\t%s\t%s\n", out->len > 0 && out->data[out->len - 1] != '\n' ? "\n" : "",
                   want[0], want[1], want[2]);
    return change ? "change" : present ? "present" : "new";
}

/* Makes the map and names it in the master map, as a direct one ("/-"). 0, or negative with *err. */
static int
map_announce(call_ctx_t *ctx, const char *config, fail_t *err)
{
    json_auto_t *touched = sub_call(ctx, err, "file.touch", "{s:s}", "name", config);
    json_auto_t *line = value_fmt("/-\t\t\t%s", config);
    json_auto_t *added = touched != NULL ? sub_call(ctx, err, "file.append", "{s:s, s:[O]}", "path",
                                                    MASTER_MAP, "args", line)
                                         : NULL;

    return added != NULL ? 0 : err->code;
}

static int
mount_set_automaster(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *config = value_str(args, "config", MAP), *fstype = value_str(args, "fstype", "");
    bool test = value_bool(args, "test", false);
    AUTO_FREE char *opts = json_is_array(value_get(args, "opts")) ? value_joined(value_get(args, "opts"), ",")
                                                                  : xstrdup(value_str(args, "opts", ""));
    AUTO_FREE char *point = xasprintf("%s%s", PREFIX, value_str(args, "name", ""));
    AUTO_FREE char *how = xasprintf("-fstype=%s,%s", fstype, opts);
    AUTO_FREE char *device = xasprintf("%s:%s", strcmp(fstype, "smbfs") == 0 ? "" : fstype,
                                       value_str(args, "device", ""));
    char *const want[] = { point, how, device, NULL };
    static const char *const names[] = { "name", "opts", "device" };
    buf_auto_t before = BUF_INIT, after = BUF_INIT;
    fail_auto_t why = FAIL_INIT;

    for (size_t i = 0; i < NELEMS(names); i++) {
        if (field_check_text(names[i], want[i], FIELD_WORD, err) < 0)
            return err->code;
    }
    int there = fs_look_file(config, err);
    if (there < 0 || (there == 0 && !test && map_announce(ctx, config, err) < 0))
        return err->code;
    if ((there > 0 || !test) && fstab_read(config, &before, err) < 0)
        return err->code;
    const char *did = map_edit(buf_str(&before), want, value_bool(args, "not_change", false), &after);
    if (strcmp(did, "present") != 0 && !test &&
        partfile_put(config, buf_str(&after), after.len, 0644, &why) < 0)
        return fop_failed(err, "File not writable %s", config);
    *ret_value = json_string(did);
    return 0;
}

#define NAME_ROW   ARG("name", ARG_STR, ARG_REQUIRED, "The mount point: /mnt/data")
#define CONFIG_ROW ARG("config", ARG_STR, "\"" MAP "\"", "The map")

static const arg_t automaster_args[] = { CONFIG_ROW, ARGS_END };
static const arg_t rm_args[] = { NAME_ROW, ARG("device", ARG_STR, ARG_REQUIRED, "Its device; \"\": any"),
                                 CONFIG_ROW, ARGS_END };
static const arg_t set_args[] = {
    NAME_ROW,
    ARG("device", ARG_STR, ARG_REQUIRED, "What is mounted"),
    ARG("fstype", ARG_STR, ARG_REQUIRED, "The type of the file system"),
    ARG("opts", ARG_ANY, "\"\"", "Options: a list, or a text with commas"),
    CONFIG_ROW,
    ARG("test", ARG_BOOL, "false", "Return what would be done"),
    ARG("not_change", ARG_BOOL, "false", "Leave an entry that is found as it is"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Accepted for Salt's sake", TAKES_NONE),
    ARGS_END
};

static const func_t funcs[] = {
    { "automaster", mount_automaster, automaster_args, FN_READONLY,
      "Return the entries of a map of automount." CLI_EXAMPLE("salt '*' mount.automaster") },
    { "rm_automaster", mount_rm_automaster, rm_args, 0,
      "Take an entry out of a map of automount." CLI_EXAMPLE(
          "salt '*' mount.rm_automaster /mnt/data /dev/sdb1") },
    { "set_automaster", mount_set_automaster, set_args, 0,
      "Make an entry of a map of automount what it should be; return new, change or present." CLI_EXAMPLE(
          "salt '*' mount.set_automaster /mnt/data /dev/sdb1 ext4") },
};

PLUGIN(exec, mount_auto, .provides = "mount", .doc = "A map of automount", FUNCS(funcs));
