/* mount.c - state mount.mounted, and the remount of what it watches. The other states of the module stand in
 * mount_fstab.c and mount_off.c. The steps: which device is wanted and which is mounted, by all of their
 * names; options that differ, which a remount mends; another device, which gives way; the mount itself; the
 * entry in fstab. Order and words are Salt's. */
#include <limits.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/match/regex.h"
#include "plugins/lib/call/subcall.h"
#include "plugins/lib/file/fileops.h"
#include "plugins/lib/system/mountopts.h"
#include "salt/state.h"

/* What a run of mount.mounted knows. */
typedef struct mounting {
    call_ctx_t *ctx;
    json_t *args, *ret;      /* BORROWED */
    json_t *opts;            /* owned: list */
    json_t *all;             /* owned: mount.active */
    json_t *devices;         /* owned: list of the names of the device that is mounted there */
    json_t *wanted;          /* owned: list of names, any of which is the device that is wanted */
    char *name, *real, *key; /* owned: without the last slash; without links; as the kernel shows it */
    bool cache;              /* what was mounted is to be kept */
    bool done;               /* the return is complete */
} mounting_t;

static const char *
device_of(const mounting_t *m)
{
    return value_str(m->args, "device", "");
}

static const json_t *
mount_present(const mounting_t *m)
{
    return value_get(m->all, m->key);
}

/* Ends the state. Returns 0. */
#define FINISH(m, result, ...) ((m)->done = true, state_ret_set((m)->ret, result, __VA_ARGS__))

/* Reads what is mounted: mount.active {mount point: {device, opts, superopts, fstype, alt_device, ...}}. */
static int
look_again(mounting_t *m, fail_t *err)
{
    json_decref(STEAL(m->all));
    m->all = sub_call(m->ctx, err, "mount.active", "{s:b}", "extended", 1);
    return m->all != NULL ? 0 : err->code;
}

/* ---- the device ------------------------------------------------------------------------------ */

/* Adds the options of a mount to those that are wanted; sorted, each once. */
static void
take_options(mounting_t *m, const json_t *active)
{
    static const char *const lists[] = { "opts", "superopts" };
    json_auto_t *all = json_copy(m->opts), *once = json_array();
    json_t *one;
    size_t i;

    for (i = 0; i < NELEMS(lists); i++) {
        if (json_is_array(value_get(active, lists[i])))
            json_array_extend(all, value_get(active, lists[i]));
    }
    json_array_foreach (all, i, one) {
        if (!value_has(once, one))
            json_array_append(once, one);
    }
    json_decref(m->opts);
    m->opts = value_sorted_texts(once);
}

/* The device below a folder that is bound: of the mount that it lies on; NEW. Its options are those of the
 * bind. */
static char *
bound_device(mounting_t *m)
{
    bool copy = value_bool(m->args, "bind_mount_copy_active_opts", true);
    const char *shown = value_str(mount_present(m), "device", "");
    AUTO_FREE char *at = xstrdup(device_of(m));

    for (;;) {
        AUTO_FREE char *key = str_replace(at, " ", "\\040");
        const json_t *active = value_get(m->all, key);
        if (active != NULL || *shown != '/' || strcmp(at, "/") == 0 || *at == '\0') {
            if (active != NULL && copy)
                take_options(m, active);
            return xstrdup(*shown != '/' || active == NULL ? shown : value_str(active, "device", ""));
        }
        char *up = fop_dirname(at);
        free(at);
        at = up;
    }
}

/* A logical volume "/dev/GROUP/VOLUME" by the name that device mapper has for it, where that is; dashes are
 * doubled there. NEW, or NULL. */
static char *
mapped_device(const char *device)
{
    const char *group = str_starts(device, "/dev/") ? device + strlen("/dev/") : "";
    const char *slash = strchr(group, '/');

    if (slash == NULL || slash == group || slash[1] == '\0' || strchr(slash + 1, '/') != NULL)
        return NULL;
    AUTO_FREE char *first = xstrndup(group, (size_t) (slash - group));
    AUTO_FREE char *a = str_replace(first, "-", "--"), *b = str_replace(slash + 1, "-", "--");
    char *path = xasprintf("/dev/mapper/%s-%s", a, b);
    if (fs_look(path, NULL) > 0)
        return path;
    free(path);
    return NULL;
}

/* The device of "TYPE#DEVICE", as FUSE mounts are written. BORROWED, or NULL. */
static const char *
fuse_device(const char *device)
{
    size_t word = strspn(device, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");

    return word > 0 && device[word] == '#' && device[word + 1] != '\0' ? device + word + 1 : NULL;
}

/* The UUID of "UUID=...", with or without quotes, in small letters, as blkid prints it. NEW. */
static char *
uuid_of(const char *device)
{
    const char *from = strchr(device, '=') + 1;
    AUTO_FREE char *first = xstrndup(from, strcspn(from, "="));
    char *uuid = str_replace(first, "\"", "");

    for (char *c = uuid; *c != '\0'; c++)
        *c = *c >= 'A' && *c <= 'Z' ? (char) (*c + 'a' - 'A') : *c;
    return uuid;
}

/* Fills `wanted` with the names of the device of the SLS. A text that is no path, such as a server's export,
 * stands for itself. */
static int
find_wanted(mounting_t *m, fail_t *err)
{
    const char *device = device_of(m), *fuse = fuse_device(device);
    AUTO_FREE char *real = NULL, *mapped = mapped_device(device);

    if (*device == '/' && value_lists(m->opts, "bind") && mount_present(m) != NULL) {
        real = bound_device(m);
        json_array_append_new(value_get(mount_present(m), "opts"), json_string("bind"));
    } else if (*device == '/') {
        real = fop_realpath(device);
    } else if (strncasecmp(device, "UUID=", 5) == 0) {
        real = uuid_of(device);
    } else if (strncasecmp(device, "LABEL=", 6) == 0) {
        /* All devices with a label. */
        const char *label = device + 6;
        AUTO_FREE char *token = xasprintf("LABEL=%s", label);
        json_auto_t *found = sub_call(m->ctx, err, "disk.blkid", "{s:s}", "token", token);
        const char *path;
        json_t *facts;
        if (found == NULL)
            return err->code;
        json_object_foreach (found, path, facts)
            json_array_append_new(m->wanted, json_string(path));
        return json_object_size(found) > 0
                   ? 0
                   : FINISH(m, STATE_FALSE, "Unable to find device with label %s.", label);
    }
    const char *wanted = fuse != NULL ? fuse : mapped != NULL ? mapped : real != NULL ? real : device;
    json_array_append_new(m->wanted, value_utf8(wanted, strlen(wanted)));
    return 0;
}

/* ---- mounted with other options --------------------------------------------------------------- */

/* Calls mount.mount or mount.remount of the point. NEW: True or a text; NULL with *err. */
static json_t *
mount_by(const mounting_t *m, const char *fun, const char *point, bool user, fail_t *err)
{
    return sub_call(m->ctx, err, fun, "{s:s, s:O, s:O, s:O, s:O, s:O?}", "name", point, "device",
                    value_get(m->args, "device"), "mkmnt", value_get(m->args, "mkmnt"), "fstype",
                    value_get(m->args, "fstype"), "opts", m->opts, "user",
                    user ? value_get(m->args, "user") : NULL);
}

/* A text that a program said instead of success fails the state. */
static int
judge_said(mounting_t *m, const json_t *said, const fail_t *err)
{
    if (said == NULL)
        return err->code;
    return json_is_string(said) ? FINISH(m, STATE_FALSE, "%s", json_string_value(said)) : 0;
}

/* Mounts anew with the wanted options. `differ` is the list that is shown; `space` is a blank that one of
 * Salt's two texts has. 1: test mode has told it. */
static int
remount(mounting_t *m, const json_t *differ, bool space, fail_t *err)
{
    AUTO_FREE char *shown = value_joined(differ, ",");

    /* Some file systems take other options only when they are mounted anew. */
    const char *fstype = value_str(m->args, "fstype", "");
    bool anew = strcmp(fstype, "nfs") == 0 || strcmp(fstype, "cvfs") == 0 || str_starts(fstype, "fuse");

    m->cache = true;
    state_change(
        m->ret, "umount",
        value_fmt("Forced %s because options (%s) changed", anew ? "unmount and mount" : "remount", shown));
    if (ctx_test(m->ctx)) {
        (void) state_ret_set(m->ret, STATE_NONE, "Remount would be forced because options (%s)%schanged",
                             shown, space ? " " : "");
        return 1;
    }
    if (anew) {
        json_auto_t *off = sub_call(m->ctx, err, "mount.umount", "{s:s}", "name", m->real);
        if (off == NULL)
            return err->code;
        if (!json_is_true(off)) {
            AUTO_FREE char *why = value_pystr(off);
            return FINISH(m, STATE_FALSE, "Unable to unmount %s: %s.", m->real, why);
        }
    }
    json_auto_t *said = mount_by(m, anew ? "mount.mount" : "mount.remount", m->real, false, err);
    return judge_said(m, said, err);
}

/* Options that the minion asked for when it mounted this, and which are not wanted any more. NEW, or NULL
 * with *err; None where it has not mounted this. */
static json_t *
dropped_options(mounting_t *m, fail_t *err)
{
    json_auto_t *kept = sub_call(m->ctx, err, "mount.read_mount_cache", "{s:s}", "name", m->real);
    json_t *dropped = json_array(), *one;
    size_t i;

    if (kept == NULL || value_get(kept, "opts") == NULL) {
        json_decref(dropped);
        return kept != NULL ? json_null() : NULL;
    }
    json_array_foreach (value_get(kept, "opts"), i, one) {
        if (!value_has(m->opts, one))
            json_array_append(dropped, one);
    }
    return dropped;
}

/* 1: test mode has told a remount, and all else of the mount is left out. */
static int
compare_options(mounting_t *m, fail_t *err)
{
    json_auto_t *found = mountopts_changed(m->opts, mount_present(m), m->args),
                *changed = value_sorted_texts(found);
    int rc = json_array_size(changed) > 0 ? remount(m, changed, true, err) : 0;

    if (rc != 0 || m->done)
        return rc;
    json_auto_t *dropped = dropped_options(m, err);
    if (dropped == NULL)
        return err->code;
    m->cache = m->cache || json_is_null(dropped);
    return json_array_size(dropped) > 0 ? remount(m, dropped, false, err) : 0;
}

/* ---- another device is mounted there ------------------------------------------------------------ */

/* The name among those of the mounted device that an expression of device_name_regex matches. BORROWED, or
 * NULL. */
static const char *
ignored_device(const mounting_t *m, fail_t *err)
{
    json_t *pattern, *device;
    const char *found = NULL;
    size_t i, k;

    json_array_foreach (value_get(m->args, "device_name_regex"), i, pattern) {
        AUTO_FREE char *text = value_pystr(pattern);
        AUTO(rx) rx = rx_new(text, 0, err);
        if (rx == NULL)
            return NULL;
        json_array_foreach (m->devices, k, device) {
            if (found == NULL &&
                rx_match(rx, json_string_value(device), json_string_length(device), 0, err) > 0)
                found = json_string_value(device);
        }
    }
    return found;
}

/* True when any name of the mounted device is a name of the wanted one. */
static bool
is_wanted(const mounting_t *m)
{
    json_t *one;
    size_t i;

    json_array_foreach (m->wanted, i, one) {
        if (value_has(m->devices, one))
            return true;
    }
    return false;
}

/* The mount of another device gives way, so that the wanted one is mounted afterwards. */
static int
replace_device(mounting_t *m, fail_t *err)
{
    const char *device = device_of(m), *ignored = ignored_device(m, err);
    const char *wanted = json_string_value(json_array_get(m->wanted, 0));
    AUTO_FREE char *current = value_joined(m->devices, ", ");
    bool other = strcmp(wanted, device) != 0;

    if (err->code != 0)
        return err->code;
    if (ignored != NULL)
        return state_ret_set(m->ret, STATE_TRUE,
                             "An umount will not be forced because device matched device_name_regex: %s",
                             ignored);
    state_change(m->ret, "umount",
                 value_fmt("Forced unmount because devices don't match. Wanted: %s%s%s%s, current: %s",
                           device, other ? " (" : "", other ? wanted : "", other ? ")" : "", current));
    if (ctx_test(m->ctx)) {
        state_change(m->ret, "mount", json_true());
        return state_ret_set(m->ret, STATE_NONE,
                             "An umount would have been forced because devices do not match.  Watched: %s",
                             device);
    }
    json_auto_t *off = sub_call(m->ctx, err, "mount.umount", "{s:s, s:O}", "name", m->real, "user",
                                value_get(m->args, "user"));
    if (off == NULL || look_again(m, err) < 0)
        return err->code;
    m->cache = true;
    return mount_present(m) != NULL ? FINISH(m, STATE_FALSE, "Unable to unmount") : 0;
}

/* Something is mounted there: its options, then its device. Options are looked at first, as in Salt, also for
 * a mount that will be replaced. */
static int
compare_mount(mounting_t *m, fail_t *err)
{
    if (!value_bool(m->args, "mount", true))
        return 0;

    /* All names of the device that is mounted there. */
    static const char *const more[] = { "alt_device", "device_uuid", "device_label" };
    const json_t *active = mount_present(m);
    const char *device = value_str(active, "device", "");
    AUTO_FREE char *real = fop_realpath(device);
    json_array_append_new(m->devices, json_string(device));
    json_array_append_new(m->devices, value_utf8(real, strlen(real)));
    for (size_t i = 0; i < NELEMS(more); i++) {
        json_t *name = value_get(active, more[i]);
        if (value_truthy(name) && !value_has(m->devices, name))
            json_array_append(m->devices, name);
    }
    int rc = json_array_size(m->opts) > 0 ? compare_options(m, err) : 0;
    if (rc != 0 || m->done)
        return rc < 0 ? rc : 0;
    if (!is_wanted(m))
        return replace_device(m, err);
    return state_ret_set(m->ret, STATE_TRUE, "Target was already mounted");
}

/* ---- nothing is mounted there ----------------------------------------------------------------- */

/* The folder may be made on the way, but only when mkmnt asks for it. */
static int
foretell_mount(mounting_t *m, bool there)
{
    const char *name = m->name;
    bool mkmnt = value_bool(m->args, "mkmnt", false);

    if (there || mkmnt)
        state_change(m->ret, "mount", json_true());
    return state_ret_set(m->ret, STATE_NONE,
                         there   ? "%s would be mounted"
                         : mkmnt ? "%s would be created and mounted"
                                 : "%s does not exist and would not be created",
                         name);
}

/* The table of mounts is read again, as a helper of mount may succeed without having mounted. */
static int
mount_now(mounting_t *m, bool there, fail_t *err)
{
    if (!there && !value_bool(m->args, "mkmnt", false))
        return FINISH(m, STATE_FALSE, "Mount directory is not present");
    json_auto_t *said = mount_by(m, "mount.mount", m->name, true, err);
    if (said == NULL || look_again(m, err) < 0)
        return err->code;
    m->cache = true;
    if (json_is_string(said) || mount_present(m) == NULL)
        return FINISH(m, STATE_FALSE, "%s",
                      json_is_string(said) ? json_string_value(said) : "Target is not mounted");
    state_change(m->ret, "mount", json_true());
    return state_ret_set(m->ret, STATE_TRUE, "Target was successfully mounted");
}

/* `mount: False`: the mount point alone is looked after. */
static int
leave_unmounted(mounting_t *m, bool there, fail_t *err)
{
    bool test = ctx_test(m->ctx), mkmnt = value_bool(m->args, "mkmnt", false);

    if (there)
        return state_ret_set(m->ret, STATE_TRUE, test ? "%s would not be mounted" : "%s not mounted",
                             m->name);
    if (test)
        return state_ret_set(m->ret, STATE_NONE,
                             mkmnt ? "%s would be created, but not mounted"
                                   : "%s does not exist and would neither be created nor mounted",
                             m->name);
    if (!mkmnt)
        return state_ret_set(m->ret, STATE_TRUE, "%s not present and not mounted", m->name);
    json_auto_t *made = sub_call(m->ctx, err, "file.mkdir", "{s:s, s:O}", "dir_path", m->name, "user",
                                 value_get(m->args, "user"));
    if (made == NULL)
        return err->code;
    return state_ret_set(m->ret, STATE_TRUE, "%s was created, not mounted", m->name);
}

/* ---- fstab ------------------------------------------------------------------------------------ */

/* Test mode's words stand behind those of the mount, unless a change of the mount itself has been told. */
static int
foretell_entry(mounting_t *m, bool fresh)
{
    AUTO_FREE char *before = xstrdup(value_str(m->ret, "comment", ""));
    bool mounts = value_bool(m->args, "mount", true);

    if (state_changed(m->ret))
        return 0;
    if (fresh)
        return state_ret_set(
            m->ret, STATE_NONE,
            mounts ? "%s. %s is mounted, but needs to be written to the fstab in order to be made "
                     "persistent."
                   : "%s. %s needs to be written to the fstab in order to be made persistent.",
            before, m->name);
    return state_ret_set(m->ret, STATE_NONE,
                         mounts ? "%s. %s is mounted, but its fstab entry must be updated."
                                : "%s. The %s fstab entry must be updated.",
                         before, m->name);
}

/* ---- states ----------------------------------------------------------------------------------- */

/* The steps in their order; each may end the state. What was mounted may be gone after compare_mount(). */
static int
mounted_in_order(mounting_t *m, fail_t *err)
{
    int rc = look_again(m, err);

    rc = rc == 0 ? find_wanted(m, err) : rc;
    if (rc == 0 && !m->done && mount_present(m) != NULL)
        rc = compare_mount(m, err);
    if (rc == 0 && !m->done && mount_present(m) == NULL) {
        int there = fs_look(m->name, err);
        if (there < 0)
            return there;
        rc = !value_bool(m->args, "mount", true) ? leave_unmounted(m, there, err)
             : ctx_test(m->ctx)                  ? foretell_mount(m, there)
                                                 : mount_now(m, there, err);
    }
    if (!(rc == 0 && !m->done && value_bool(m->args, "persist", true)))
        return rc;
    json_auto_t *did = sub_call(
        m->ctx, err, "mount.set_fstab", "{s:s, s:O, s:O, s:O, s:O, s:O, s:O, s:b, s:O}", "name", m->name,
        "device", value_get(m->args, "device"), "fstype", value_get(m->args, "fstype"), "opts", m->opts,
        "dump", value_get(m->args, "dump"), "pass_num", value_get(m->args, "pass_num"), "config",
        value_get(m->args, "config"), "test", ctx_test(m->ctx), "match_on", value_get(m->args, "match_on"));
    bool test = ctx_test(m->ctx), fresh = str_eq(json_string_value(did), "new");
    if (did == NULL)
        return err->code;
    if (!test && m->cache) {
        json_auto_t *kept = sub_call(m->ctx, err, "mount.write_mount_cache", "{s:s, s:O, s:O, s:O, s:O}",
                                     "real_name", m->real, "device", value_get(m->args, "device"), "mkmnt",
                                     value_get(m->args, "mkmnt"), "fstype", value_get(m->args, "fstype"),
                                     "mount_opts", m->opts);
        if (kept == NULL)
            return err->code;
    }
    AUTO_FREE char *before = xstrdup(value_str(m->ret, "comment", ""));
    bool present = str_eq(json_string_value(did), "present");
    if (test && present)
        return 0;
    int told = test ? foretell_entry(m, fresh) : 0;
    if (!present)
        state_change(m->ret, "persist", json_string(fresh ? "new" : "update"));
    if (!test)
        state_ret_comment(m->ret, value_fmt("%s. %s", before,
                                            present ? "Entry already exists in the fstab."
                                            : fresh ? "Added new entry to the fstab."
                                                    : "Updated the entry in the fstab."));
    return told;
}

/* The name is compared without slashes at its end and with links resolved, with blanks written as
 * /proc/mounts has them. */
static int
mount_mounted(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const char *const needed[] = { "name", "device", "fstype" };
    const char *name = value_str(args, "name", "");
    json_t *ret = *ret_value = state_ret_args(args);
    size_t len = strlen(name);

    for (size_t i = 0; i < NELEMS(needed); i++) {
        if (!value_truthy(value_get(args, needed[i])))
            return state_ret_set(ret, STATE_FALSE, "Must provide %s to mount.mounted", needed[i]);
    }
    while (len > 1 && name[len - 1] == '/')
        len--;
    mounting_t m = { .ctx = ctx,
                     .args = args,
                     .ret = ret,
                     .opts = mountopts_list(value_get(args, "opts")),
                     .devices = json_array(),
                     .wanted = json_array(),
                     .name = xstrndup(name, len) };
    m.real = fop_realpath(m.name);
    m.key = str_replace(m.real, " ", "\\040");
    int rc = mounted_in_order(&m, err);
    json_decref(m.opts);
    json_decref(m.all);
    json_decref(m.devices);
    json_decref(m.wanted);
    free(m.name);
    free(m.real);
    free(m.key);
    return rc;
}

/* Remounts what has changed below the mount, such as its device. An empty list of options is "defaults". */
static int
mount_mod_watch(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const json_t *given = value_get(args, "kwargs");
    const char *name = value_str(args, "name", ""), *sfun = value_str(args, "sfun", "");
    json_auto_t *usual = json_string("defaults");
    json_t *opts = value_get(given, "opts");
    json_t *ret = *ret_value = state_ret_args(args);

    if (strcmp(sfun, "mounted") != 0)
        return state_ret_set(ret, STATE_TRUE, "Watch not supported in %s at this time", sfun);
    if (ctx_test(ctx))
        return state_ret_set(ret, STATE_NONE, "%s would be remounted", name);
    json_auto_t *said = sub_call(ctx, err, "mount.remount", "{s:O, s:O?, s:b, s:O?, s:O, s:O}", "name",
                                 value_get(args, "name"), "device", value_get(given, "device"), "mkmnt", 0,
                                 "fstype", value_get(given, "fstype"), "opts", opts != NULL ? opts : usual,
                                 "user", value_get(args, "user"));
    if (said == NULL)
        return err->code;
    if (json_is_true(said))
        return state_ret_set(ret, STATE_TRUE, "%s remounted", name);
    AUTO_FREE char *why = value_pystr(said);
    return state_ret_set(ret, STATE_FALSE, "%s failed to remount: %s", name, why);
}

/* ---- table ------------------------------------------------------------------------------------ */

#define USER_ROW ARG("user", ARG_STR, "null", "The user to mount as, who owns a new mount point")

static const arg_t mounted_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "The mount point"),
    ARG("device", ARG_STR, ARG_REQUIRED,
        "What is mounted: a device, UUID=, LABEL=, an export, a folder with opts: bind"),
    ARG("fstype", ARG_STR, ARG_REQUIRED, "The type of the file system"),
    ARG("mkmnt", ARG_BOOL, "false", "Make the mount point where it is missing"),
    ARG("opts", ARG_ANY, "\"defaults\"", "Options: a list, or a text with commas"),
    ARG("dump", ARG_ANY, "0", "The fifth field of fstab"),
    ARG("pass_num", ARG_ANY, "0", "The sixth field of fstab: the order of file system checks"),
    ARG("config", ARG_STR, "\"/etc/fstab\"", "The file"),
    ARG("persist", ARG_BOOL, "true", "Write it into fstab too"),
    ARG("mount", ARG_BOOL, "true", "False: write it into fstab only"),
    USER_ROW,
    ARG("match_on", ARG_ANY, "\"auto\"", "Fields by which the entry of fstab is found"),
    ARG("device_name_regex", ARG_LIST, "null", "Expressions for devices that may be mounted there instead"),
    ARG("extra_mount_invisible_options", ARG_LIST, "null", "More options that the kernel does not show"),
    ARG("extra_mount_invisible_keys", ARG_LIST, "null", "More such options with a value"),
    ARG("extra_mount_ignore_fs_keys", ARG_DICT, "null",
        "Options by type that need no remount: {ramfs: [size]}"),
    ARG("extra_mount_translate_options", ARG_DICT, "null", "Options under the name that the kernel shows"),
    ARG("hidden_opts", ARG_ANY, "null", "More options that are not compared"),
    ARG("bind_mount_copy_active_opts", ARG_BOOL, "true",
        "A bind that is mounted has the options of what lies below"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Accepted for Salt's sake", TAKES_NONE),
    ARGS_END,
};
static const arg_t watch_args[] = { ARG("name", ARG_STR, ARG_REQUIRED, "The mount point"),
                                    ARG("sfun", ARG_STR, "\"\"", "The state function that watches"), USER_ROW,
                                    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Its other arguments"), ARGS_END };

static const func_t funcs[] = {
    { "mod_watch", mount_mod_watch, watch_args, 0, "Mount again when something watched has changed." },
    { "mounted", mount_mounted, mounted_args, 0,
      "Ensure that a device is mounted, now and after the next start." },
};

PLUGIN(state, mount, .doc = "Mounts", FUNCS(funcs));
