/* disk.c - execution module `disk`: usage, devices and file systems, read from the output of df, blkid,
 * blockdev, hdparm, smartctl and iostat, whose figures stay texts where Salt's do. Devices are checked
 * before they reach a command line, so that none can be taken for an option. */
#include <ctype.h>
#include <math.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/host/procfs.h"
#include "common/host/prog.h"
#include "common/base/str.h"
#include "common/match/regex.h"
#include "plugins/lib/call/tool.h"
#include "salt/plugin.h"

/* A line of `df -P`: source, four figures, mount point. Sources and mount points may hold spaces, figures
 * never; the capacity is "-" where there are no blocks (proc), and the point begins with a slash. */
#define DF_LINE "(.*\\S)\\s+(\\S+)\\s+(\\S+)\\s+(\\S+)\\s+(\\d+%|-)\\s+(/.*)$"

/* 0, or an error for an empty device and for one that looks like an option. Whether there is such a device
 * is for the program to say. */
static int
need_device(const char *device, fail_t *err)
{
    if (*device != '\0' && *device != '-')
        return 0;
    return fail_kind(err, FAIL_INVOCATION, -EINVAL, "'%s' is not a device", device);
}

/* ---- df -------------------------------------------------------------------------------------- */

/* Adds the letters that df may get, or fails as Salt does. None means no letters. A letter that wants a
 * value (B, t, x) is allowed by Salt, and df refuses it. */
static int
clean_flags(json_t *args, const char *caller, buf_t *out, fail_t *err)
{
    AUTO_FREE char *text = value_pystr(value_get(args, "args"));

    if (json_is_null(value_get(args, "args")))
        return 0;
    if (text[strspn(text, "aBhHiklPtTxv")] != '\0')
        return fail_kind(err, FAIL_COMMAND, -EINVAL, "Invalid flag passed to %s", caller);
    buf_puts(out, text);
    return 0;
}

/* Puts one file system into the answer. w: source, four figures, mount point; BORROWED. */
typedef void row_fn(char *const w[6], json_t *out);

/* Hands the words of a line to `row`. A line without figures is left out, such as that of an automount point that
 * is not mounted yet. */
static void
df_line(rx_t *rx, const char *line, row_fn *row, json_t *out)
{
    char *words[6] = { NULL };

    if (rx_match(rx, line, strlen(line), 0, NULL) != 1)
        return;
    for (size_t i = 0; i < 6; i++)
        words[i] = rx_group_text(rx, line, i + 1);
    row(words, out);
    for (size_t i = 0; i < 6; i++)
        free(words[i]);
}

/* Runs df with POSIX output (-P, one line per file system) and passes each line to `row`. *ret_value NEW.
 * The exit code is not looked at: df fails when one of many file systems does not answer, and prints the
 * others. */
static int
df(const char *option, const char *flags, row_fn *row, json_t **ret_value, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;
    AUTO(rx) rx = rx_new(DF_LINE, 0, err);

    if (rx == NULL)
        return -EINVAL;
    prog_adds(&prog, "df", option, NULL);
    if (*flags != '\0')
        prog_addf(&prog, "-%s", flags);
    AUTO_FREE char *text = prog_stdout(&prog, NULL, err);
    if (text == NULL)
        return -EIO;
    char **lines = str_split(text, "\n", true);
    json_t *out = json_object();
    for (size_t i = 0; lines[i] != NULL; i++) {
        if (!str_starts(lines[i], "Filesystem"))
            df_line(rx, lines[i], row, out);
    }
    strv_free(lines);
    *ret_value = out;
    return 0;
}

/* The names are those of df's heading. With the letters h or B the figures are in other units, and the name
 * stays 1K-blocks: Salt's. */
static void
usage_row(char *const w[6], json_t *out)
{
    json_object_set_new(out, w[5],
                        json_pack("{s:s, s:s, s:s, s:s, s:s}", "filesystem", w[0], "1K-blocks", w[1], "used",
                                  w[2], "available", w[3], "capacity", w[4]));
}

/* `df -iP` has inodes in the columns of the blocks. */
static void
inode_row(char *const w[6], json_t *out)
{
    json_object_set_new(out, w[5],
                        json_pack("{s:s, s:s, s:s, s:s, s:s}", "inodes", w[1], "used", w[2], "free", w[3],
                                  "use", w[4], "filesystem", w[0]));
}

static void
percent_row(char *const w[6], json_t *out)
{
    json_object_set_new(out, w[5], json_string(w[4]));
}

static int
disk_usage(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    buf_auto_t flags = BUF_INIT;
    int rc = clean_flags(args, "disk.usage", &flags, err);

    return rc != 0 ? rc : df("-P", buf_str(&flags), usage_row, ret_value, err);
}

static int
disk_inodeusage(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    buf_auto_t flags = BUF_INIT;
    int rc = clean_flags(args, "disk.inodeusage", &flags, err);

    return rc != 0 ? rc : df("-iP", buf_str(&flags), inode_row, ret_value, err);
}

/* Used share ("42%") by mount point, or that of one. A mount point that is not there is {}, as in Salt. */
static int
disk_percent(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *wanted = value_str(args, "args", "");
    json_auto_t *all = NULL;
    int rc = df("-P", "", percent_row, &all, err);

    if (rc != 0)
        return rc;
    if (*wanted == '\0')
        *ret_value = json_incref(all);
    else if (json_object_get(all, wanted) != NULL)
        *ret_value = json_incref(json_object_get(all, wanted));
    else
        *ret_value = json_object();
    return 0;
}

/* ---- block devices --------------------------------------------------------------------------- */

/* The KEY="value" words behind "/dev/sda1:". NEW. blkid writes a backslash before a quote and before a
 * backslash of the value, which are undone. */
static json_t *
blkid_attributes(const char *p)
{
    json_t *out = json_object();

    while (*p != '\0') {
        p += strspn(p, " ");
        size_t n = strcspn(p, "=");
        if (p[n] != '=' || p[n + 1] != '"')
            break;
        AUTO_FREE char *key = xstrndup(p, n);
        p += n + 2;
        buf_auto_t value = BUF_INIT;
        for (; *p != '\0' && *p != '"'; p++) {
            p += p[0] == '\\' && p[1] != '\0';
            buf_putc(&value, *p);
        }
        json_object_set_new(out, key, value_utf8(buf_str(&value), value.len));
        p += *p == '"';
    }
    return out;
}

/* Takes one line of blkid, `DEVICE: KEY="value" ...`, which is cut. */
static void
blkid_line(char *line, json_t *out)
{
    char *colon = strstr(line, ": ");

    if (colon == NULL)
        return;
    *colon = '\0';
    json_object_set_new(out, line, blkid_attributes(colon + 2));
}

/* blkid exits with 2 when nothing matches, which is an empty answer here. `device` wins over `token`, as in
 * Salt. */
static int
disk_blkid(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *device = value_str(args, "device", ""), *token = value_str(args, "token", "");
    prog_auto_t prog = PROG_INIT;
    int code = 0;

    if (tool_need("blkid", err) != 0 || (*device != '\0' && need_device(device, err) != 0))
        return -EINVAL;
    prog_add(&prog, "blkid");
    if (*device != '\0')
        prog_add(&prog, device);
    else if (*token != '\0')
        prog_adds(&prog, "-t", token, NULL);
    AUTO_FREE char *text = prog_stdout(&prog, &code, err);
    if (text == NULL)
        return -EIO;
    json_t *out = json_object();
    char **lines = str_split(code == 0 ? text : "", "\n", true);
    for (size_t i = 0; lines[i] != NULL; i++)
        blkid_line(lines[i], out);
    strv_free(lines);
    *ret_value = out;
    return 0;
}

/* Questions of blockdev in the order of the answer; each prints one line, and --report would leave some
 * out. */
static const char *const blockdev_questions[] = { "getro",    "getsz",     "getss",       "getpbsz",
                                                  "getiomin", "getioopt",  "getalignoff", "getmaxsect",
                                                  "getsize",  "getsize64", "getra",       "getfra" };

/* Everything that blockdev tells, or the members named in `wanted` (list; empty: all), texts as it prints
 * them. False when blockdev fails. A name that is no member is an error, Python's KeyError in Salt. */
static int
dump_device(const char *device, json_t *wanted, json_t **ret_value, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;
    int code = 0;

    prog_add(&prog, "blockdev");
    for (size_t i = 0; i < NELEMS(blockdev_questions); i++)
        prog_addf(&prog, "--%s", blockdev_questions[i]);
    prog_add(&prog, device);
    AUTO_FREE char *text = prog_stdout(&prog, &code, err);
    if (text == NULL)
        return -EIO;
    if (code != 0) {
        *ret_value = json_false();
        return 0;
    }
    char **lines = str_split(text, "\n", true);
    json_auto_t *all = json_object(), *some = json_object();
    for (size_t i = 0; i < NELEMS(blockdev_questions) && lines[i] != NULL; i++)
        json_object_set_new(all, blockdev_questions[i], json_string(lines[i]));
    strv_free(lines);
    for (size_t i = 0; i < json_array_size(wanted); i++) {
        AUTO_FREE char *name = value_pystr(json_array_get(wanted, i));
        json_t *v = json_object_get(all, name);
        if (v == NULL)
            return fail_set(err, -EINVAL, "'%s'", name);
        json_object_set(some, name, v);
    }
    *ret_value = json_incref(json_array_size(wanted) > 0 ? some : all);
    return 0;
}

static int
disk_dump(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *device = value_str(args, "device", "");
    json_t *wanted = value_get(args, "args");
    /* None is no list, and so is empty below. */
    json_auto_t *list = json_is_string(wanted) ? json_pack("[O]", wanted) : json_incref(wanted);

    if (need_device(device, err) != 0)
        return -EINVAL;
    return dump_device(device, list, ret_value, err);
}

/* Settings that disk.tune takes: its argument, the option of blockdev, and the question that reads it
 * back. */
static const struct tuning {
    const char *key, *set, *get;
    bool number; /* the value is given to blockdev */
} tunings[] = {
    { "read-ahead", "--setra", "getra", true },
    { "filesystem-read-ahead", "--setfra", "getfra", true },
    { "read-only", "--setro", "getro", false },
    { "read-write", "--setrw", "getro", false },
};

/* Sets the values and then reads them back: the answer holds the settings that were asked for. That
 * blockdev refuses one is not an error, as in Salt: the answer shows the old value. */
static int
disk_tune(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *device = value_str(args, "device", "");
    json_t *kwargs = value_get(args, "kwargs");
    json_auto_t *questions = json_array();
    prog_auto_t prog = PROG_INIT;

    if (need_device(device, err) != 0)
        return -EINVAL;
    prog_add(&prog, "blockdev");
    for (size_t i = 0; i < NELEMS(tunings); i++) {
        json_t *v = value_get(kwargs, tunings[i].key);
        /* read-only=False asks for nothing, it is not read-write. */
        if (v == NULL || (!tunings[i].number && !value_truthy(v)))
            continue;
        if (tunings[i].number)
            prog_add_option(&prog, tunings[i].set, v);
        else
            prog_add(&prog, tunings[i].set);
        json_array_append_new(questions, json_string(tunings[i].get));
    }
    prog_add(&prog, device);
    /* Without any setting this is disk.dump. */
    if (json_array_size(questions) > 0) {
        int code = prog_retcode(&prog, err);
        if (code < 0)
            return code;
    }
    return dump_device(device, questions, ret_value, err);
}

/* Runs a program on a device, which is its last word: True when it succeeded, else False. */
static int
run_on(prog_t *prog, const char *device, json_t **ret_value, fail_t *err)
{
    if (need_device(device, err) != 0)
        return -EINVAL;
    prog_add(prog, device);
    int code = prog_retcode(prog, err);
    if (code < 0)
        return code;
    *ret_value = json_boolean(code == 0);
    return 0;
}

/* Removes every signature that wipefs finds, without asking. */
static int
disk_wipe(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;

    prog_adds(&prog, "wipefs", "-a", NULL);
    return run_on(&prog, value_str(args, "device", ""), ret_value, err);
}

static int
disk_resize2fs(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;

    prog_add(&prog, "resize2fs");
    int rc = run_on(&prog, value_str(args, "device", ""), ret_value, err);
    if (rc == 0 && json_is_false(*ret_value))
        *ret_value = json_null(); /* as Salt's: True or nothing */
    return rc;
}

/* Makes the file system, then calls sync(2), as Salt runs `sync`: True means that it is on the disk. */
static int
disk_format(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *type = value_str(args, "fs_type", "ext4");
    prog_auto_t prog = PROG_INIT;

    if (tool_need("mkfs", err) != 0)
        return -ENOENT;
    if (*type == '-' || *type == '\0')
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "'%s' is not a type of file system", type);
    prog_adds(&prog, "mkfs", "-t", type, NULL);

    /* Options by type of file system; those that do not apply are ignored. */
    json_t *inode = value_get(args, "inode_size"), *lazy = value_get(args, "lazy_itable_init");
    json_int_t fat = value_int(args, "fat", 0);
    AUTO_FREE char *inode_text = value_pystr(inode), *lazy_text = value_pystr(lazy);
    bool ext = str_starts(type, "ext"), xfs = str_eq(type, "xfs");
    if (!json_is_null(inode) && ext)
        prog_adds(&prog, "-i", inode_text, NULL);
    else if (!json_is_null(inode) && xfs) {
        prog_add(&prog, "-i");
        prog_addf(&prog, "size=%s", inode_text);
    }
    if (!json_is_null(lazy) && ext) {
        prog_add(&prog, "-E");
        prog_addf(&prog, "lazy_itable_init=%s", lazy_text);
    }
    if ((fat == 12 || fat == 16 || fat == 32) && str_ends(type, "fat")) {
        prog_add(&prog, "-F");
        prog_addf(&prog, "%d", (int) fat);
    }
    if (value_bool(args, "force", false) && (ext || xfs))
        prog_add(&prog, ext ? "-F" : "-f");

    int rc = run_on(&prog, value_str(args, "device", ""), ret_value, err);
    if (rc == 0)
        sync();
    return rc;
}

/* ---- file systems ---------------------------------------------------------------------------- */

/* The word in line `row`, column `column` of a text, both from 0; NEW, "" when there is none. */
static char *
cell(const char *text, size_t row, size_t column)
{
    char **lines = str_split(text, "\n", false);
    char **words = str_split(strv_len(lines) > row ? lines[row] : "", " \t", true);
    char *word = xstrdup(strv_len(words) > column ? words[column] : "");

    strv_free(words);
    strv_free(lines);
    return word;
}

/* By lsblk, whose answer is empty where udev knows nothing of the device, else by df, which knows only what
 * is mounted. Programs that fail or are not there count as an empty answer. */
static int
disk_fstype(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *device = value_str(args, "device", "");
    prog_auto_t lsblk = PROG_INIT, df_prog = PROG_INIT;

    if (need_device(device, err) != 0)
        return -EINVAL;
    prog_adds(&lsblk, "lsblk", "-o", "fstype", device, NULL);
    AUTO_FREE char *text = prog_stdout(&lsblk, NULL, NULL);
    AUTO_FREE char *type = cell(text != NULL ? text : "", 1, 0);
    if (*type == '\0') {
        prog_adds(&df_prog, "df", "-T", device, NULL);
        AUTO_FREE char *table = prog_stdout(&df_prog, NULL, NULL);
        free(type);
        /* Line 1 is below the heading, and column 1 is the type. */
        type = cell(table != NULL ? table : "", 1, 1);
    }
    *ret_value = json_string(type);
    return 0;
}

/* The type of the file system that is mounted nearest above a path, "" when the path is not there. Symbolic
 * links are followed first. Of two mounts on one point the later one is seen, thus >=. */
static int
disk_get_fstype_from_path(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *path = realpath(value_str(args, "path", ""), NULL);
    size_t n = 0, best = 0;
    const char *type = "";
    procfs_mount_t *mounts = procfs_mounts(&n, err);

    if (mounts == NULL)
        return err->code;
    for (size_t i = 0; path != NULL && i < n; i++) {
        size_t len = strlen(mounts[i].point);
        bool above = str_eq(mounts[i].point, "/") ||
                     (strncmp(path, mounts[i].point, len) == 0 && (path[len] == '/' || path[len] == '\0'));
        if (above && len >= best) {
            best = len;
            type = mounts[i].type;
        }
    }
    *ret_value = json_string(type);
    procfs_mounts_free(mounts, n);
    return 0;
}

/* ---- hdparm ---------------------------------------------------------------------------------- */

/* Takes one line "key: value" or "key = value". Keys become lower case with underscores and lose " is"
 * ("drive state is: standby"), as in Salt. */
static void
hdparm_line(char *line, json_t *out)
{
    char *sep = strchr(line, ':') != NULL ? strchr(line, ':') : strchr(line, '=');

    if (sep == NULL)
        return;
    *sep = '\0';
    char *key = str_trim(line);
    if (str_ends(key, " is"))
        key[strlen(key) - 3] = '\0';
    AUTO_FREE char *name = str_replace(str_trim(key), " ", "_");
    for (char *p = name; *p != '\0'; p++)
        *p = (char) tolower((unsigned char) *p);

    /* "16 (on)": [16, "on"], and no more than the first word in the parentheses: "3 (32-bit w/sync)" is
     * [3, "32-bit"], as in Salt. "255/63/121601": [255, 63, 121601]; "a=1, b=2": {"a": "1", "b": "2"}; one value
     * alone. Several shapes may be in one line: "121601/255/63, sectors = 1953525168" is the three numbers and a
     * dict. */
    char *text = str_trim(sep + 1), *inside = text + strspn(text, "0123456789");
    bool noted = inside > text && str_starts(inside, " (") && strchr(inside, ')') != NULL;
    json_auto_t *list = json_array(), *named = json_object();
    if (noted) {
        *inside = '\0';
        inside[2 + strcspn(inside + 2, " )")] = '\0';
    }
    char **parts = str_split(text, "/,", true);
    for (size_t i = 0; parts[i] != NULL; i++) {
        char *part = str_trim(parts[i]), *eq = strchr(part, '=');
        long long n;
        if (*part == '\0')
            continue;
        if (str_to_int(part, INT64_MIN, INT64_MAX, &n)) {
            json_array_append_new(list, json_integer(n));
        } else if (eq == NULL) {
            json_array_append_new(list, value_utf8(part, strlen(part)));
        } else if (*str_trim(eq + 1) != '\0') {
            *eq = '\0';
            json_object_set_new(named, str_trim(part), json_string(str_trim(eq + 1)));
        }
    }
    if (noted)
        json_array_append_new(list, value_utf8(inside + 2, strlen(inside + 2)));
    strv_free(parts);
    if (json_object_size(named) > 0)
        json_array_append(list, named);
    json_auto_t *v = json_incref(json_array_size(list) == 1 ? json_array_get(list, 0) : list);

    /* A key without a value is left out. */
    if (!json_is_array(v) || json_array_size(v) > 0)
        json_object_set(out, name, v);
}

/* Queries one disk and adds its members to `out` under the disk's name. hdparm fails for each question that
 * the disk can't answer, so its exit code says nothing. */
static int
hdparm_disk(const char *disk, const char *letters, json_t *out, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;
    AUTO_FREE char *title = xasprintf("%s:", disk);
    json_t *data = json_object();

    json_object_set_new(out, disk, data);
    prog_add(&prog, "hdparm");
    prog_addf(&prog, "-%s", letters);
    prog_add(&prog, disk);
    AUTO_FREE char *text = prog_stdout(&prog, NULL, err);
    if (text == NULL)
        return -EIO;
    char **lines = str_split(text, "\n", true);
    for (size_t i = 0; lines[i] != NULL; i++) {
        char *line = str_trim(lines[i]);
        /* The disk's name is the heading of the answer. */
        if (*line != '\0' && !str_eq(line, title))
            hdparm_line(line, data);
    }
    strv_free(lines);
    return 0;
}

/* Letters of hdparm's options, joined when given as a list; by default all that ask and change nothing.
 * NEW, or NULL with *err. Only letters and digits pass: they become one word behind a hyphen. */
static char *
hdparm_letters(const json_t *given, fail_t *err)
{
    buf_t out = BUF_INIT;

    if (given == NULL || json_is_null(given))
        return xstrdup("aAbBcCdgHiJkMmNnQrRuW");
    if (json_is_string(given))
        buf_puts(&out, json_string_value(given));
    for (size_t i = 0; i < json_array_size(given); i++) {
        AUTO_FREE char *part = value_pystr(json_array_get(given, i));
        buf_puts(&out, part);
    }
    if (out.len > 0 &&
        strspn(out.data, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == out.len)
        return buf_steal(&out);
    fail_kind(err, FAIL_INVOCATION, -EINVAL, "'%s' are not letters of hdparm's options", buf_str(&out));
    buf_free(&out);
    return NULL;
}

/* Asks each of the disks, a text or a list of texts, and fills `out` with {disk: members}. A name without
 * /dev gets it, as in Salt. 0, or negative with *err. */
static int
hdparm_all(const json_t *disks, const char *letters, json_t *out, fail_t *err)
{
    json_auto_t *list = json_is_array(disks) ? json_incref((json_t *) disks) : json_pack("[O]", disks);
    int rc = tool_need("hdparm", err);

    for (size_t i = 0; rc == 0 && i < json_array_size(list); i++) {
        AUTO_FREE char *name = value_pystr(json_array_get(list, i));
        AUTO_FREE char *disk = xasprintf("%s%s", str_starts(name, "/dev") ? "" : "/dev/", name);
        rc = hdparm_disk(disk, letters, out, err);
    }
    return rc;
}

static int
disk_hdparms(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *out = json_object();
    AUTO_FREE char *letters = hdparm_letters(value_get(args, "args"), err);
    int rc = letters == NULL ? -EINVAL : hdparm_all(value_get(args, "disks"), letters, out, err);

    if (rc == 0)
        *ret_value = json_incref(out);
    return rc;
}

/* Sectors that stay visible: all but `size`, which is a number of sectors or "25%". Hiding everything hides
 * nothing, as in Salt. */
static json_int_t
visible_for(const json_t *size, json_int_t total)
{
    AUTO_FREE char *text = value_pystr(size);
    char *end = NULL;
    json_int_t n = strtoll(text, &end, 10);
    json_int_t left = *end == '%' ? total * (100 - n) / 100 : total - n;

    return left <= 0 ? total : left;
}

/* Sets the number of visible sectors for good (the p in -Np: also after the next power cycle), for which
 * hdparm wants to be told that its user knows the danger. 0, or negative with *err. */
static int
set_visible(const char *disk, json_int_t sectors, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;

    prog_adds(&prog, "hdparm", "--yes-i-know-what-i-am-doing", NULL);
    prog_addf(&prog, "-Np%lld", (long long) sectors);
    prog_add(&prog, disk);
    json_auto_t *ret = prog_run_all(&prog, err);
    if (ret == NULL)
        return -EIO;
    if (value_int(ret, "retcode", -1) != 0)
        return fail_kind(err, FAIL_COMMAND, -EIO, "hdparm -Np%lld %s: %s", (long long) sectors, disk,
                         value_str(ret, "stderr", ""));
    return 0;
}

/* Host protected area: shows visible and total sectors, or with `size` hides that part of each disk; then
 * the answer is None. */
static int
disk_hpa(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *all = json_object(), *out = json_object();
    json_t *size = value_get(args, "size"), *data;
    const char *disk;
    int rc = hdparm_all(value_get(args, "disks"), "N", all, err);

    if (rc != 0)
        return rc;
    json_object_foreach (all, disk, data) {
        /* The one member is that of "max sectors = 586070255/586072368, HPA is enabled": visible, total,
         * state. A disk without the feature has less. */
        json_t *row = json_object_iter_value(json_object_iter(data));
        if (json_array_size(row) < 2)
            continue;
        json_int_t visible = json_integer_value(json_array_get(row, 0));
        json_int_t total = json_integer_value(json_array_get(row, 1));
        const char *state = json_string_value(json_array_get(row, 2));
        json_t *entry = json_pack("{s:I}", "total", total);
        if (visible != total && (state == NULL || strstr(state, "disabled") == NULL)) {
            json_object_set_new(entry, "visible", json_integer(visible));
            json_object_set_new(entry, "hidden", json_integer(total - visible));
        }
        json_object_set_new(out, disk, entry);
        if (!json_is_null(size) && (rc = set_visible(disk, visible_for(size, total), err)) != 0)
            return rc;
    }
    *ret_value = json_is_null(size) ? json_incref(out) : json_null();
    return 0;
}

/* ---- smartctl -------------------------------------------------------------------------------- */

/* A number, a list of numbers parted by spaces, or text. NEW. The first word that is no number makes all of
 * it a text. */
static json_t *
smart_value(const char *text)
{
    long long n;

    if (str_to_int(text, INT64_MIN, INT64_MAX, &n))
        return json_integer(n);
    char **words = str_split(text, " ", true);
    json_t *list = json_array();
    for (size_t i = 0; list != NULL && words[i] != NULL; i++) {
        if (str_to_int(words[i], INT64_MIN, INT64_MAX, &n)) {
            json_array_append_new(list, json_integer(n));
        } else {
            json_decref(list);
            list = NULL;
        }
    }
    strv_free(words);
    return list != NULL ? list : value_utf8(text, strlen(text));
}

/* True when the list has the value, and without a list: then everything is wanted. */
static bool
disk_is_listed(const json_t *list, const json_t *v)
{
    if (!json_is_array(list))
        return true;
    return value_has(list, v);
}

/* Adds one attribute's line, whose columns are named by the table's header: {"9": {"attribute_name": ...,
 * "raw_value": ...}}. `names` begin with the id, which is the key and no member. */
static void
smart_line(const char *line, char **names, json_t *args, json_t *out)
{
    AUTO_FREE char *copy = xstrdup(line);
    char *p = str_trim(copy), *end = NULL;
    json_auto_t *id = json_integer(strtoll(p, &end, 10));
    json_t *row = json_object();
    AUTO_FREE char *key = value_pystr(id);

    for (size_t i = 1; names[i] != NULL && *end != '\0'; i++) {
        char *word = end + strspn(end, " \t");
        /* The last column (raw_value) may hold spaces, and has the rest of the line. */
        size_t len = names[i + 1] == NULL ? strlen(word) : strcspn(word, " \t");
        json_auto_t *name = json_string(names[i]);
        end = word + len;
        char saved = *end;
        *end = '\0';
        if (disk_is_listed(value_get(args, "values"), name))
            json_object_set_new(row, names[i], smart_value(word));
        *end = saved;
    }
    /* `attributes` are numbers, and are compared as such. */
    if (disk_is_listed(value_get(args, "attributes"), id))
        json_object_set_new(out, key, row);
    else
        json_decref(row);
}

/* Reads the table between its "ID#" header and the first line that does not begin with a number. Names of
 * columns become lower case, as in Salt. */
static void
smart_table(char **lines, json_t *args, json_t *out)
{
    char **names = NULL;

    for (size_t i = 0; lines[i] != NULL; i++) {
        const char *start = lines[i] + strspn(lines[i], " \t");
        if (names == NULL && str_starts(start, "ID#")) {
            for (char *p = lines[i]; *p != '\0'; p++)
                *p = (char) tolower((unsigned char) *p);
            names = str_split(lines[i], " \t", true);
        } else if (names != NULL && isdigit((unsigned char) *start)) {
            smart_line(lines[i], names, args, out);
        } else if (names != NULL) {
            break;
        }
    }
    strv_free(names);
}

static int
disk_smart_attributes(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *given = value_str(args, "dev", "");
    prog_auto_t prog = PROG_INIT;

    if (need_device(given, err) != 0 || tool_need("smartctl", err) != 0)
        return -EINVAL;
    prog_adds(&prog, "smartctl", "--attributes", NULL);
    prog_addf(&prog, "%s%s", str_starts(given, "/dev/") ? "" : "/dev/", given);
    json_auto_t *ret = prog_run_all(&prog, err);
    if (ret == NULL)
        return -EIO;
    /* smartctl's exit code is a set of bits, some of which tell of a failing disk and not of a failed call;
     * Salt fails for each of them. */
    if (value_int(ret, "retcode", -1) != 0)
        return fail_kind(err, FAIL_COMMAND, -EIO, "%s", value_str(ret, "stderr", ""));
    char **lines = str_split(value_str(ret, "stdout", ""), "\n", false);
    *ret_value = json_object();
    smart_table(lines, args, *ret_value);
    strv_free(lines);
    return 0;
}

/* ---- iostat ---------------------------------------------------------------------------------- */

/* Adds a line's figures to the lists of samples: {name: {column: [samples]}}. `header` begins with a
 * heading, which names no column; `skip`: words before the first value. Lists are turned into means at the
 * end. */
static void
iostat_add(json_t *out, const char *name, char **header, char **values, size_t skip)
{
    json_t *row = json_object_get(out, name);

    if (row == NULL) {
        row = json_object();
        json_object_set_new(out, name, row);
    }
    for (size_t i = 0; header[i + 1] != NULL && values[i + skip] != NULL; i++) {
        json_t *list = json_object_get(row, header[i + 1]);
        if (list == NULL) {
            list = json_array();
            json_object_set_new(row, header[i + 1], list);
        }
        json_array_append_new(list, json_real(strtod(values[i + skip], NULL)));
    }
}

/* Parses the reports of one iostat run: "avg-cpu:" has its values on the next line, device tables end at an
 * empty line. The first report is the mean since boot, and counts as a sample, as in Salt. */
static void
iostat_table(char **lines, json_t *out)
{
    char **devices = NULL;

    for (size_t i = 0; lines[i] != NULL; i++) {
        char **words = str_split(lines[i], " \t", true);
        if (words[0] == NULL) {
            strv_free(devices);
            devices = NULL;
        } else if (str_eq(words[0], "avg-cpu:") && lines[i + 1] != NULL) {
            char **values = str_split(lines[++i], " \t", true);
            iostat_add(out, "sys", words, values, 0);
            strv_free(values);
        } else if (str_starts(words[0], "Device")) {
            strv_free(devices);
            /* The heading of the lines that follow; it is kept, the other lines are not. */
            devices = words;
            continue;
        } else if (devices != NULL) {
            iostat_add(out, words[0], devices, words, 1);
        }
        strv_free(words);
    }
    strv_free(devices);

    /* Replaces each list of samples by its mean, rounded to two digits as Salt does. */
    const char *name, *column;
    json_t *row, *list;
    void *next;
    json_object_foreach (out, name, row) {
        json_object_foreach_safe (row, next, column, list) {
            double sum = 0;
            size_t n = json_array_size(list);
            for (size_t i = 0; i < n; i++)
                sum += json_real_value(json_array_get(list, i));
            json_object_set_new(row, column, json_real(n > 0 ? rint(sum / (double) n * 100) / 100 : 0.0));
        }
    }
}

/* Runs for about interval * (count - 1) seconds. With disks given the processors are left out (-d). */
static int
disk_iostat(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *disks = value_get(args, "disks");
    prog_auto_t prog = PROG_INIT;

    if (tool_need("iostat", err) != 0)
        return -ENOENT;
    prog_adds(&prog, "iostat", value_truthy(disks) ? "-xd" : "-x", NULL);
    prog_addf(&prog, "%d", (int) value_int(args, "interval", 1));
    prog_addf(&prog, "%d", (int) value_int(args, "count", 5));
    if (value_truthy(disks) && prog_operands(&prog, "disks", disks, err) < 0)
        return err->code;
    AUTO_FREE char *text = prog_stdout(&prog, NULL, err);
    if (text == NULL)
        return -EIO;
    char **lines = str_split(text, "\n", false);
    *ret_value = json_object();
    iostat_table(lines, *ret_value);
    strv_free(lines);
    return 0;
}

/* ---- table ----------------------------------------------------------------------------------- */

static const arg_t flags_args[] = { ARG("args", ARG_ANY, "null", "Letters of df's options"), ARGS_END };
static const arg_t percent_args[] = { ARG("args", ARG_STR, "null", "Only this mount point"), ARGS_END };
static const arg_t blkid_args[] = { ARG("device", ARG_STR, "null", "Only this device"),
                                    ARG("token", ARG_STR, "null", "Only those with this NAME=value"),
                                    ARGS_END };
static const arg_t device_args[] = { ARG("device", ARG_STR, ARG_REQUIRED, "The device"), ARGS_END };
static const arg_t dump_args[] = { ARG("device", ARG_STR, ARG_REQUIRED, "The device"),
                                   ARG("args", ARG_ANY, "null", "Only these members"), ARGS_END };
static const arg_t tune_args[] = {
    ARG("device", ARG_STR, ARG_REQUIRED, "The device"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "read-ahead, filesystem-read-ahead, read-only, read-write"), ARGS_END
};
static const arg_t format_args[] = { ARG("device", ARG_STR, ARG_REQUIRED, "The device"),
                                     ARG("fs_type", ARG_STR, "\"ext4\"", "Type of file system"),
                                     ARG("inode_size", ARG_ANY, "null",
                                         "Bytes per inode (ext), size of one (xfs)"),
                                     ARG("lazy_itable_init", ARG_ANY, "null", "0 or 1, for ext"),
                                     ARG("fat", ARG_INT, "null", "12, 16 or 32, for fat"),
                                     ARG("force", ARG_BOOL, "false", "Even when it seems to be in use"),
                                     ARGS_END };
static const arg_t hdparms_args[] = { ARG("disks", ARG_ANY, ARG_REQUIRED, "One or a list"),
                                      ARG("args", ARG_ANY, "null", "Letters of hdparm's options"), ARGS_END };
static const arg_t hpa_args[] = { ARG("disks", ARG_ANY, ARG_REQUIRED, "One or a list"),
                                  ARG("size", ARG_ANY, "null", "Sectors or percents to hide"), ARGS_END };
static const arg_t smart_args[] = { ARG("dev", ARG_STR, ARG_REQUIRED, "The device"),
                                    ARG("attributes", ARG_ANY, "null", "Only these numbers"),
                                    ARG("values", ARG_ANY, "null", "Only these columns"), ARGS_END };
static const arg_t iostat_args[] = { ARG("interval", ARG_INT, "1", "Seconds between reports"),
                                     ARG("count", ARG_INT, "5", "How many reports"),
                                     ARG("disks", ARG_ANY, "null", "One or a list"), ARGS_END };
static const arg_t path_args[] = { ARG("path", ARG_STR, ARG_REQUIRED, "A path on the file system"),
                                   ARGS_END };

static const func_t funcs[] = {
    { "blkid", disk_blkid, blkid_args, FN_READONLY,
      "Return what blkid tells of the block devices." CLI_EXAMPLE(
          "salt '*' disk.blkid\n    salt '*' disk.blkid /dev/sda\n    salt '*' disk.blkid "
          "token='UUID=6a38ee5'") },
    { "dump", disk_dump, dump_args, FN_READONLY,
      "Return what blockdev tells of a device." CLI_EXAMPLE("salt '*' disk.dump /dev/sda1") },
    { "format", disk_format, format_args, 0,
      "Make a file system on a device." CLI_EXAMPLE("salt '*' disk.format /dev/sdX1") },
    { "fstype", disk_fstype, device_args, FN_READONLY,
      "Return the type of the file system on a device." CLI_EXAMPLE("salt '*' disk.fstype /dev/sdX1") },
    { "get_fstype_from_path", disk_get_fstype_from_path, path_args, FN_READONLY,
      "Return the type of the file system that holds a path." CLI_EXAMPLE(
          "salt '*' disk.get_fstype_from_path /root") },
    { "hdparms", disk_hdparms, hdparms_args, FN_READONLY,
      "Return the settings of disks, as hdparm tells them." CLI_EXAMPLE("salt '*' disk.hdparms /dev/sda") },
    { "hpa", disk_hpa, hpa_args, 0,
      "Return, or with ``size`` set, the hidden area of disks." CLI_EXAMPLE(
          "salt '*' disk.hpa /dev/sda\n    salt '*' disk.hpa /dev/sda 5%\n    salt '*' disk.hpa /dev/sda "
          "10543256") },
    { "inodeusage", disk_inodeusage, flags_args, FN_READONLY,
      "Return the usage of inodes per mount point." CLI_EXAMPLE("salt '*' disk.inodeusage") },
    { "iostat", disk_iostat, iostat_args, FN_READONLY,
      "Return means of what iostat reports during a few seconds." CLI_EXAMPLE(
          "salt '*' disk.iostat 1 5 disks=sda") },
    { "percent", disk_percent, percent_args, FN_READONLY,
      "Return the usage per mount point in percent." CLI_EXAMPLE("salt '*' disk.percent /var") },
    { "resize2fs", disk_resize2fs, device_args, 0,
      "Let an ext file system fill its device." CLI_EXAMPLE("salt '*' disk.resize2fs /dev/sda1") },
    { "smart_attributes", disk_smart_attributes, smart_args, FN_READONLY,
      "Return the SMART attributes of a disk." CLI_EXAMPLE(
          "salt '*' disk.smart_attributes /dev/sda\n    salt '*' disk.smart_attributes /dev/sda "
          "attributes=[1,5,9]") },
    { "tune", disk_tune, tune_args, 0,
      "Set read-ahead and write protection of a device." CLI_EXAMPLE(
          "salt '*' disk.tune /dev/sda1 read-ahead=1024 read-write=True") },
    { "usage", disk_usage, flags_args, FN_READONLY,
      "Return the usage per mount point." CLI_EXAMPLE("salt '*' disk.usage") },
    { "wipe", disk_wipe, device_args, 0,
      "Remove the signatures of file systems from a device." CLI_EXAMPLE("salt '*' disk.wipe /dev/sda1") },
};

PLUGIN(exec, disk, .doc = "Disk usage, devices and file systems", FUNCS(funcs));
