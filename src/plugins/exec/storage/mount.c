/* mount.c - execution module `mount`: what is mounted (/proc/self/mounts and mountinfo, proc(5)), fstab
 * (fstab(5)), mount and umount. Swap, the cache of options and autofs maps stand in mount_swap.c,
 * mount_cache.c and mount_auto.c. Blanks in names are \040 in the kernel's files and "\ " in Salt's
 * answers, but mount points stay as the kernel writes them: Salt's. */
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <sys/stat.h>

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

#define MOUNTS    "/proc/self/mounts"
#define MOUNTINFO "/proc/self/mountinfo"
#define FSTAB     "/etc/fstab"

#define NAME(args) value_str(args, "name", "")

/* ---- what is mounted ------------------------------------------------------------------------ */

/* The number of a user's or a group's name; a number, and a name that no account has, stay. NEW. */
static char *
id_text(bool user, const char *given)
{
    long long id;

    if (str_to_int(given, 0, UINT_MAX, &id))
        return xstrdup(given);
    const struct passwd *pw = user ? getpwnam(given) : NULL;
    const struct group *gr = user ? NULL : getgrnam(given);
    if (pw == NULL && gr == NULL)
        return xstrdup(given);
    return xasprintf("%u", pw != NULL ? pw->pw_uid : gr->gr_gid);
}

/* Options of a mount as a list, names behind uid= and gid= as numbers: fstab may have names, the kernel
 * never does, and states compare the two. NEW. */
static json_t *
mount_options_of(const char *text)
{
    char **words = str_split(text, ",", false);
    json_t *list = json_array();

    for (size_t i = 0; words[i] != NULL; i++) {
        bool user = str_starts(words[i], "uid="), group = str_starts(words[i], "gid=");
        AUTO_FREE char *id = user || group ? id_text(user, words[i] + 4) : NULL;
        AUTO_FREE char *word = id != NULL ? xasprintf("%.4s%s", words[i], id)
                                          : str_replace(words[i], "\\040", "\\ ");
        json_array_append_new(list, value_utf8(word, strlen(word)));
    }
    strv_free(words);
    return list;
}

/* Each mount point's device as mount(8) has it: {point: device}. NEW, empty where there is no such
 * program. It knows more than the kernel: the device behind a loop or a label. A line is "DEVICE on
 * POINT type ...". */
static json_t *
listed_devices(void)
{
    json_t *devices = json_object();
    prog_auto_t prog = PROG_INIT;
    fail_auto_t why = FAIL_INIT;

    if (tool_begin(&prog, "mount", &why) < 0)
        return devices;
    prog_add(&prog, "-l");
    prog.timeout_ms = LIMIT_TOOL_MS;
    AUTO_FREE char *out = prog_stdout(&prog, NULL, &why);
    for (char *at = out, *line; at != NULL && (line = line_next(&at)) != NULL;) {
        char **words = str_split(line, " \t", true);
        if (strv_len(words) >= 3)
            json_object_set_new(devices, words[2], value_utf8(words[0], strlen(words[0])));
        strv_free(words);
    }
    return devices;
}

/* A member of an object that may be missing, which is None then, as the object may be. NEW. */
static json_t *
or_none(const json_t *object, const char *key)
{
    json_t *value = value_get(object, key);

    return value != NULL ? json_incref(value) : json_null();
}

/* blkid's facts of all devices, once for a job: states look at the mounts again and again. BORROWED; empty
 * where there is no blkid. */
static const json_t *
known_devices(call_ctx_t *ctx)
{
    json_t *kept = value_get(ctx_context(ctx), "disk.blkid");
    fail_auto_t why = FAIL_INIT;

    if (kept != NULL)
        return kept;
    json_t *found = sub_call(ctx, &why, "disk.blkid", NULL);
    found = json_is_object(found) ? found : json_object();
    json_object_set_new(ctx_context(ctx), "disk.blkid", found);
    return found;
}

/* Python's lower() of a text of ASCII letters, as a UUID is; None for anything else. NEW. */
static json_t *
mount_lower(const json_t *text)
{
    if (!json_is_string(text))
        return json_null();
    AUTO_FREE char *copy = xstrdup(json_string_value(text));
    for (char *c = copy; *c != '\0'; c++)
        *c = *c >= 'A' && *c <= 'Z' ? (char) (*c + 'a' - 'A') : *c;
    return json_string(copy);
}

/* "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue"; the words behind the
 * sixth, up to "-", are optional (proc(5)). NULL where the line is cut. */
static json_t *
long_mount(char **words, const json_t *listed, const json_t *known)
{
    size_t n = strv_len(words), dash = 6;

    while (dash < n && strcmp(words[dash], "-") != 0)
        dash++;
    char *colon = n > 2 ? strchr(words[2], ':') : NULL;
    if (dash + 2 >= n || colon == NULL)
        return NULL;
    const json_t *device = value_get(known, words[dash + 2]);
    AUTO_FREE char *shown = str_replace(words[dash + 2], "\\040", "\\ ");
    AUTO_FREE char *major = xstrndup(words[2], (size_t) (colon - words[2]));
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:o, s:s, s:s, s:o, s:o, s:o, s:o}", "mountid", words[0],
                     "parentid", words[1], "major", major, "minor", colon + 1, "root", words[3], "opts",
                     mount_options_of(words[5]), "fstype", words[dash + 1], "device", shown, "alt_device",
                     or_none(listed, words[4]), "superopts",
                     dash + 3 < n ? mount_options_of(words[dash + 3]) : json_array(), "device_uuid",
                     mount_lower(value_get(device, "UUID")), "device_label", or_none(device, "LABEL"));
}

/* {point: {device, alt_device, fstype, opts, and with `extended` more}}. NEW, or NULL with *err. A kernel
 * without mountinfo has the short form, as in Salt. Of several mounts on one point the last one is kept,
 * which is the one that is seen. */
static json_t *
active_mounts(call_ctx_t *ctx, bool extended, fail_t *err)
{
    fail_auto_t why = FAIL_INIT;
    json_auto_t *listed = listed_devices(), *mounts = json_object();
    buf_auto_t text = BUF_INIT;
    bool full = extended && fs_read(MOUNTINFO, LIMIT_FILE_READ, &text, &why) == 0;

    if (!full && fs_read(MOUNTS, LIMIT_FILE_READ, &text, err) < 0)
        return NULL;
    const json_t *known = full ? known_devices(ctx) : NULL;
    for (char *at = text.data, *line; at != NULL && (line = line_next(&at)) != NULL;) {
        char **words = str_split(line, " \t", true);
        /* Where the mount point stands in a line of either file. */
        size_t at_point = full ? 4 : 1;
        json_t *one = strv_len(words) < 4 ? NULL
                      : full              ? long_mount(words, listed, known)
                             : json_pack("{s:s, s:o, s:s, s:o}", "device", words[0], "alt_device",
                                         or_none(listed, words[1]), "fstype", words[2], "opts",
                                         mount_options_of(words[3]));
        if (one != NULL)
            json_object_set_new(mounts, words[at_point], one);
        strv_free(words);
    }
    return STEAL(mounts);
}

/* 1 when something is mounted on this very point, 0, or negative with *err. */
static int
mount_is_active(call_ctx_t *ctx, const char *name, fail_t *err)
{
    json_auto_t *mounts = active_mounts(ctx, false, err);

    return mounts == NULL ? err->code : value_get(mounts, name) != NULL;
}

/* The function of the same name; `extended` adds the members of mountinfo and blkid. */
static int
mount_active(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = active_mounts(ctx, value_bool(args, "extended", false), err);
    return *ret_value != NULL ? 0 : err->code;
}

static int
mount_is_mounted(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    int there = mount_is_active(ctx, NAME(args), err);

    if (there >= 0)
        *ret_value = json_boolean(there);
    return there < 0 ? there : 0;
}

/* The mount point that a path lies on: the nearest folder above it on another device than its parent's, or
 * the root. NEW. */
static char *
point_of(const char *path)
{
    char *at = fop_realpath(path);

    while (strcmp(at, "/") != 0) {
        struct stat own, above;
        char *up = fop_dirname(at);
        /* Python's os.path.ismount(): a symbolic link is none, a folder that is its own parent is the
         * root. */
        if (lstat(at, &own) == 0 && !S_ISLNK(own.st_mode) && lstat(up, &above) == 0 &&
            (own.st_dev != above.st_dev || own.st_ino == above.st_ino)) {
            free(up);
            break;
        }
        free(at);
        at = up;
    }
    return at;
}

static int
mount_get_mount_from_path(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *point = point_of(value_str(args, "path", ""));

    *ret_value = value_utf8(point, strlen(point));
    return 0;
}

/* The device of the mount that a path lies on; None for a point that the kernel spells otherwise. */
static int
mount_get_device_from_path(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *point = point_of(value_str(args, "path", ""));
    json_auto_t *mounts = active_mounts(ctx, false, err);

    if (mounts == NULL)
        return err->code;
    *ret_value = or_none(value_get(mounts, point), "device");
    return 0;
}

/* ---- fstab ---------------------------------------------------------------------------------- */

/* {point: {device, fstype, opts, dump, pass}}; of two entries with one point the second gets a "_" behind
 * it. */
static int
mount_fstab(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *config = value_str(args, "config", FSTAB);
    buf_auto_t text = BUF_INIT;
    int there = fs_look_file(config, err);

    if (there < 0 || (there > 0 && (there = fs_read(config, LIMIT_FILE_READ, &text, err)) < 0))
        return there;
    *ret_value = json_object();
    for (char *at = text.data, *line; at != NULL && (line = line_next(&at)) != NULL;) {
        json_auto_t *entry = fstab_parse(line, strlen(line));
        if (entry == NULL)
            continue;
        char **opts = str_split(value_str(entry, "opts", ""), ",", false);
        json_t *list = json_array();
        for (size_t i = 0; opts[i] != NULL; i++)
            json_array_append_new(list, json_string(opts[i]));
        strv_free(opts);
        buf_auto_t name = BUF_INIT;
        buf_puts(&name, value_str(entry, "name", ""));
        while (value_get(*ret_value, buf_str(&name)) != NULL)
            buf_putc(&name, '_');
        json_object_set_new(*ret_value, buf_str(&name),
                            json_pack("{s:O, s:O, s:o, s:O, s:O}", "device", value_get(entry, "device"),
                                      "fstype", value_get(entry, "fstype"), "opts", list, "dump",
                                      value_get(entry, "dump"), "pass", value_get(entry, "pass_num")));
    }
    return 0;
}

/* Removes the line of the mount point, and with `device` only that of both. True also when there is none:
 * the file is then left alone. */
static int
mount_rm_fstab(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *config = value_str(args, "config", FSTAB);
    json_auto_t *criteria = json_pack("{s:O}", "name", value_get(args, "name"));
    buf_auto_t before = BUF_INIT, after = BUF_INIT;
    fail_auto_t why = FAIL_INIT;

    if (!json_is_null(value_get(args, "device")))
        json_object_set(criteria, "device", value_get(args, "device"));
    int rc = fstab_read(config, &before, err);
    if (rc < 0)
        return rc;
    if (fstab_edit(buf_str(&before), criteria, NULL, false, &after) == FSTAB_CHANGED &&
        partfile_put(config, buf_str(&after), after.len, 0644, &why) < 0)
        return fop_failed(err, "Couldn't write to %s: %s", config, fail_text(&why));
    *ret_value = json_true();
    return 0;
}

/* The arguments as an entry, each one field of the line. NEW, or NULL with *err. */
static json_t *
mount_entry_of(const json_t *args, fail_t *err)
{
    static const char *const names[] = { "device", "name", "fstype", "opts", "dump", "pass_num" };
    json_auto_t *entry = json_object();

    for (size_t i = 0; i < NELEMS(names); i++) {
        const json_t *given = value_get(args, names[i]);
        bool blanks = i != 2 && i < 4; /* these may have blanks, which are written as \040 */
        AUTO_FREE char *text = json_is_array(given) ? value_joined(given, ",") : value_pystr(given);
        if (field_check_text(names[i], text, blanks ? FIELD_LINE : FIELD_WORD, err) < 0)
            return NULL;
        AUTO_FREE char *field = fstab_field(text);
        /* fields are told apart by blanks alone, so an empty one would move the others. */
        if (*field == '\0') {
            fop_invalid(err, "%s: '' would leave out a field of the line; give a value", names[i]);
            return NULL;
        }
        json_object_set_new(entry, names[i], json_string(field));
    }
    return STEAL(entry);
}

/* The members of the entry by which its line is found. NEW, or NULL with *err. */
static json_t *
criteria_of(const json_t *args, const json_t *entry, fail_t *err)
{
    static const char *const by_name[] = { "none",    "tmpfs",      "sysfs",    "proc",   "fusectl",
                                           "debugfs", "securityfs", "devtmpfs", "cgroup", "nfs",
                                           "nfs4",    "glusterfs",  "btrfs" };
    json_t *given = value_get(args, "match_on"), *key;
    json_auto_t *keys = json_is_array(given) ? json_incref(given) : json_pack("[O]", given);
    json_auto_t *criteria = json_object(), *unknown = json_array();
    size_t i;

    if (!json_is_string(given) && !json_is_array(given)) {
        fop_failed(err, "match_on must be a string or list of strings");
        return NULL;
    }
    /* These types have no device of their own, or several (btrfs): their line is found by its mount point.
     * Others are found by their device, so that a new mount point changes their line. */
    if (str_eq(json_string_value(given), "auto")) {
        bool name = false;
        for (i = 0; i < NELEMS(by_name); i++)
            name = name || str_eq(value_str(entry, "fstype", NULL), by_name[i]);
        json_array_set_new(keys, 0, json_string(name ? "name" : "device"));
    }
    json_array_foreach (keys, i, key) {
        const char *word = json_string_value(key);
        if (word != NULL && value_get(entry, word) != NULL)
            json_object_set(criteria, word, value_get(entry, word));
        else
            json_array_append(unknown, key);
    }
    if (json_array_size(unknown) == 0)
        return STEAL(criteria);
    AUTO_FREE char *shown = value_repr(unknown);
    fop_failed(err, "Unrecognized keys in match_on: \"%s\"", shown);
    return NULL;
}

/* "new", "present" or "change", also with test=True, when nothing is written. not_change leaves a line that
 * differs and says "present". */
static int
mount_set_fstab(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *config = value_str(args, "config", FSTAB);
    json_auto_t *entry = mount_entry_of(args, err);
    json_auto_t *criteria = entry != NULL ? criteria_of(args, entry, err) : NULL;
    buf_auto_t before = BUF_INIT, after = BUF_INIT;
    fail_auto_t why = FAIL_INIT;

    if (criteria == NULL)
        return err->code;
    int there = fs_look_file(config, err), rc;
    if (there <= 0)
        return there < 0 ? there : fop_failed(err, "Bad config file \"%s\"", config);
    if ((rc = fstab_read(config, &before, err)) < 0)
        return rc;
    fstab_edit_t did = fstab_edit(buf_str(&before), criteria, entry, value_bool(args, "not_change", false),
                                  &after);
    /* A last line without its end would otherwise swallow the new one. */
    if (did == FSTAB_NONE) {
        AUTO_FREE char *line = fstab_line(entry);
        buf_printf(&after, "%s%s", after.len > 0 && after.data[after.len - 1] != '\n' ? "\n" : "", line);
    }
    if (did != FSTAB_SAME && !value_bool(args, "test", false) &&
        partfile_put(config, buf_str(&after), after.len, 0644, &why) < 0)
        return fop_failed(err, "File not writable %s", config);
    *ret_value = json_string(did == FSTAB_NONE ? "new" : did == FSTAB_SAME ? "present" : "change");
    return 0;
}

static int
mount_filesystems(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = json_object(); /* the file is AIX's */
    return 0;
}

/* ---- mount and umount ----------------------------------------------------------------------- */

/* Runs the program as the call's `user`. The answer is True when it ended well, else what it says on
 * stderr, a text and not an error, as in Salt. 0, or negative with *err when it could not be run. */
static int
told(call_ctx_t *ctx, const json_t *args, prog_t *prog, json_t **ret_value, fail_t *err)
{
    prog->run_as = value_str(args, "user", NULL);
    prog->timeout_ms = LIMIT_TOOL_MS;
    json_auto_t *out = tool_run(ctx, prog, 0, err);
    if (out == NULL)
        return err->code;
    *ret_value = value_int(out, "retcode", 0) == 0 ? json_true() : json_incref(value_get(out, "stderr"));
    return 0;
}

/* The options of a list or a text with commas, as a text; None has none. NEW. */
static char *
joined_options(const json_t *opts)
{
    return json_is_array(opts)  ? value_joined(opts, ",")
           : json_is_null(opts) ? xstrdup("")
                                : value_pystr(opts);
}

/* Begins "mount -o OPTS -t FSTYPE DEVICE POINT", or, without a device, "mount POINT", for which fstab has
 * the rest: options and type would be in its way. 0, or negative with *err. */
static int
mount_words(prog_t *prog, const json_t *args, const char *opts, fail_t *err)
{
    const char *fstype = value_str(args, "fstype", "");
    int rc = tool_begin(prog, "mount", err);

    if (rc == 0 && value_truthy(value_get(args, "device"))) {
        if (*opts != '\0')
            prog_adds(prog, "-o", opts, NULL);
        if (*fstype != '\0')
            prog_adds(prog, "-t", fstype, NULL);
        rc = prog_operands(prog, "device", value_get(args, "device"), err);
    }
    return rc == 0 ? prog_operand(prog, "name", NAME(args), err) : rc;
}

/* Mounts by mount(8); mkmnt makes the folder when it is not there, as the same user. */
static int
mount_anew(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;
    AUTO_FREE char *opts = joined_options(value_get(args, "opts"));
    int rc = mount_words(&prog, args, opts, err), there = rc == 0 ? fs_look(NAME(args), err) : rc;

    if (there < 0)
        return there;
    if (there == 0 && value_bool(args, "mkmnt", false)) {
        json_auto_t *made = sub_call(ctx, err, "file.mkdir", "{s:O, s:O}", "dir_path",
                                     value_get(args, "name"), "user", value_get(args, "user"));
        if (made == NULL)
            return err->code;
    }
    return told(ctx, args, &prog, ret_value, err);
}

static int
mount_mount(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *util = value_str(args, "util", "mount");

    if (strcmp(util, "mount") == 0)
        return mount_anew(ctx, args, ret_value, err);
    /* Images are mounted by modules of their own; an unknown util is False. */
    *ret_value = json_false();
    if (strcmp(util, "guestfs") == 0)
        *ret_value = sub_call(ctx, err, "guestfs.mount", "{s:O, s:O}", "location", value_get(args, "name"),
                              "root", value_get(args, "device"));
    if (strcmp(util, "qemu_nbd") != 0)
        return *ret_value != NULL ? 0 : err->code;
    json_auto_t *mounts = sub_call(ctx, err, "qemu_nbd.init", "{s:O, s:O}", "image", value_get(args, "name"),
                                   "root", value_get(args, "device"));
    if (mounts == NULL)
        return err->code;
    const char *first = json_object_iter_key(json_object_iter(mounts));
    if (first == NULL)
        return 0;
    /* umount finds the image's mounts in the job's context by this name. */
    AUTO_FREE char *key = xasprintf("img.mnt_%s", first);
    json_object_set(ctx_context(ctx), key, mounts);
    *ret_value = json_string(first);
    return 0;
}

/* Remounts what is mounted on this point, and mounts it when nothing is. */
static int
mount_remount(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *opts = joined_options(value_get(args, "opts"));
    AUTO_FREE char *framed = xasprintf(",%s,", opts);
    prog_auto_t prog = PROG_INIT;
    int there = mount_is_active(ctx, NAME(args), err);

    if (there <= 0)
        return there < 0 ? there : mount_anew(ctx, args, ret_value, err);
    /* Commas around both sides find the word as a whole, not "remounted". */
    AUTO_FREE char *all = strstr(framed, ",remount,") != NULL
                              ? xstrdup(opts)
                              : xasprintf("%s%sremount", opts, *opts != '\0' ? "," : "");
    int rc = mount_words(&prog, args, all, err);
    return rc == 0 ? told(ctx, args, &prog, ret_value, err) : rc;
}

/* True, or why not; None for an image, whose modules do the work. */
static int
mount_umount(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *util = value_str(args, "util", "mount");
    AUTO_FREE char *key = xasprintf("img.mnt_%s", NAME(args));
    json_t *image = value_get(ctx_context(ctx), key);
    bool guest = strcmp(util, "guestfs") == 0, nbd = strcmp(util, "qemu_nbd") == 0 && image != NULL;
    prog_auto_t prog = PROG_INIT;

    if (guest || nbd) {
        json_auto_t *done = guest ? sub_call(ctx, err, "guestfs.umount", "{s:O, s:O}", "name",
                                             value_get(args, "name"), "disk", value_get(args, "device"))
                                  : sub_call(ctx, err, "qemu_nbd.clear", "{s:O}", "mnt", image);
        *ret_value = done != NULL ? json_null() : NULL;
        return done != NULL ? 0 : err->code;
    }
    int rc = mount_is_active(ctx, NAME(args), err);
    if (rc == 0)
        *ret_value = value_fmt("%s does not have anything mounted", NAME(args));
    if (rc <= 0)
        return rc;
    /* With a device given, umount gets that, since several may lie on one point. */
    const char *which = value_truthy(value_get(args, "device")) ? "device" : "name";
    rc = tool_begin(&prog, "umount", err);
    rc = rc == 0 ? prog_operands(&prog, which, value_get(args, which), err) : rc;
    return rc == 0 ? told(ctx, args, &prog, ret_value, err) : rc;
}

/* True when a program is linked with libfuse, as ldd prints; False when it is not there at all. */
static int
mount_is_fuse_exec(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *path = fs_which(value_str(args, "cmd", ""));
    prog_auto_t prog = PROG_INIT;

    if (path == NULL) {
        *ret_value = json_false();
        return 0;
    }
    if (tool_need("ldd", err) < 0)
        return err->code;
    prog_adds(&prog, "ldd", path, NULL);
    prog.timeout_ms = LIMIT_TOOL_MS;
    json_auto_t *out = tool_run(ctx, &prog, TOOL_MERGE, err);
    if (out == NULL)
        return err->code;
    *ret_value = json_boolean(strstr(value_str(out, "stdout", ""), "libfuse") != NULL);
    return 0;
}

/* ---- table ---------------------------------------------------------------------------------- */

#define NAME_ROW   ARG("name", ARG_STR, ARG_REQUIRED, "The mount point: /mnt/data")
#define CONFIG_ROW ARG("config", ARG_STR, "\"" FSTAB "\"", "The file")
#define FSTYPE_ROW ARG("fstype", ARG_STR, "\"\"", "The type of the file system")
#define MKMNT_ROW  ARG("mkmnt", ARG_BOOL, "false", "Make the mount point where it is missing")
#define OPTS_ROW   ARG("opts", ARG_ANY, "\"defaults\"", "Options: a list, or a text with commas")
#define USER_ROW   ARG("user", ARG_STR, "null", "The user to mount as, who owns a new mount point")
#define UTIL_ROW                                                                                             \
    ARG("util", ARG_STR, "\"mount\"", "mount; guestfs or qemu_nbd for images, where these modules are")
#define PATH_ROW ARG("path", ARG_STR, ARG_REQUIRED, "Any path")

static const arg_t active_args[] = {
    ARG("extended", ARG_BOOL, "false", "With the facts of mountinfo and blkid"), ARGS_END
};
static const arg_t fstab_args[] = { CONFIG_ROW, ARGS_END };
static const arg_t filesystems_args[] = { ARG("config", ARG_STR, "\"/etc/filesystems\"", "The file"),
                                          ARGS_END };
static const arg_t name_args[] = { NAME_ROW, ARGS_END };
static const arg_t path_args[] = { PATH_ROW, ARGS_END };
static const arg_t cmd_args[] = { ARG("cmd", ARG_STR, ARG_REQUIRED, "A program: sshfs"), ARGS_END };
static const arg_t mount_args[] = {
    NAME_ROW,  ARG("device", ARG_ANY, "false", "What is mounted; by default as fstab says"),
    MKMNT_ROW, FSTYPE_ROW,
    OPTS_ROW,  USER_ROW,
    UTIL_ROW,  ARGS_END
};
static const arg_t remount_args[] = { NAME_ROW,  ARG("device", ARG_STR, ARG_REQUIRED, "What is mounted"),
                                      MKMNT_ROW, FSTYPE_ROW,
                                      OPTS_ROW,  USER_ROW,
                                      ARGS_END };
static const arg_t umount_args[] = { NAME_ROW, ARG("device", ARG_STR, "null", "Unmount this device instead"),
                                     USER_ROW, UTIL_ROW, ARGS_END };
static const arg_t rm_fstab_args[] = { NAME_ROW, ARG("device", ARG_STR, "null", "Its device; None: any"),
                                       CONFIG_ROW, ARGS_END };
static const arg_t set_fstab_args[] = {
    NAME_ROW,
    ARG("device", ARG_STR, ARG_REQUIRED, "The first field: a device, UUID=, LABEL=, an export"),
    ARG("fstype", ARG_STR, ARG_REQUIRED, "The type of the file system"),
    OPTS_ROW,
    ARG("dump", ARG_ANY, "0", "The fifth field"),
    ARG("pass_num", ARG_ANY, "0", "The sixth field: the order of file system checks"),
    CONFIG_ROW,
    ARG("test", ARG_BOOL, "false", "Return what would be done"),
    ARG("match_on", ARG_ANY, "\"auto\"",
        "Fields by which the entry is found; auto: name or device, by the type"),
    ARG("not_change", ARG_BOOL, "false", "Leave an entry that is found as it is"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Accepted for Salt's sake", TAKES_NONE),
    ARGS_END,
};

static const func_t funcs[] = {
    { "active", mount_active, active_args, FN_READONLY,
      "Return what is mounted." CLI_EXAMPLE(
          "salt '*' mount.active\n    salt '*' mount.active extended=True") },
    { "filesystems", mount_filesystems, filesystems_args, FN_READONLY,
      "Return the entries of AIX's /etc/filesystems: none on Linux." CLI_EXAMPLE(
          "salt '*' mount.filesystems") },
    { "fstab", mount_fstab, fstab_args, FN_READONLY,
      "Return the entries of fstab." CLI_EXAMPLE("salt '*' mount.fstab") },
    { "get_device_from_path", mount_get_device_from_path, path_args, FN_READONLY,
      "Return the device that a path lies on." CLI_EXAMPLE("salt '*' mount.get_device_from_path /srv") },
    { "get_mount_from_path", mount_get_mount_from_path, path_args, FN_READONLY,
      "Return the mount point that a path lies on." CLI_EXAMPLE(
          "salt '*' mount.get_mount_from_path /srv/www") },
    { "is_fuse_exec", mount_is_fuse_exec, cmd_args, FN_READONLY,
      "Return whether a program mounts by FUSE." CLI_EXAMPLE("salt '*' mount.is_fuse_exec sshfs") },
    { "is_mounted", mount_is_mounted, name_args, FN_READONLY,
      "Return whether something is mounted there." CLI_EXAMPLE("salt '*' mount.is_mounted /mnt/data") },
    { "mount", mount_mount, mount_args, 0,
      "Mount a device; return True, or what mount says." CLI_EXAMPLE(
          "salt '*' mount.mount /mnt/data /dev/sdb1 True") },
    { "remount", mount_remount, remount_args, 0,
      "Mount a device with other options, or anew where it is not mounted." CLI_EXAMPLE(
          "salt '*' mount.remount /mnt/data /dev/sdb1 opts=noatime") },
    { "rm_fstab", mount_rm_fstab, rm_fstab_args, 0,
      "Take an entry out of fstab." CLI_EXAMPLE("salt '*' mount.rm_fstab /mnt/data /dev/sdb1") },
    { "set_fstab", mount_set_fstab, set_fstab_args, 0,
      "Make an entry of fstab what it should be; return new, change or present." CLI_EXAMPLE(
          "salt '*' mount.set_fstab /mnt/data /dev/sdb1 ext4") },
    { "umount", mount_umount, umount_args, 0,
      "Unmount what is mounted there; return True, or what umount says." CLI_EXAMPLE(
          "salt '*' mount.umount /mnt/data") },
};

PLUGIN(exec, mount, .doc = "Mounts and fstab", FUNCS(funcs));
