/* attr.c - file's owners, modes and status: the conversions between ids and names, stats, chown, chmod.
 * Changes go through held objects (partfile.h), so that a link that is placed meanwhile can't redirect
 * them. */
#include "plugins/lib/file/attr.h"

#include <limits.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "common/base/digest.h"
#include "common/base/fs.h"
#include "common/host/passwd.h"
#include "common/base/str.h"
#include "plugins/lib/file/fileops.h"

/* ---- ids and names --------------------------------------------------------------------------- */

/* A number is taken as it is, a name is looked up. False when unknown. */
bool
fop_uid_of(const json_t *user, uid_t *ret_uid)
{
    passwd_space_auto_t space = { 0 };
    const struct passwd *pw;

    if (json_is_integer(user)) {
        *ret_uid = (uid_t) json_integer_value(user);
        return true;
    }
    if (!json_is_string(user) || (pw = passwd_user(&space, json_string_value(user))) == NULL)
        return false;
    *ret_uid = pw->pw_uid;
    return true;
}

bool
fop_gid_of(const json_t *group, gid_t *ret_gid)
{
    passwd_space_auto_t space = { 0 };
    const struct group *gr;

    if (json_is_integer(group)) {
        *ret_gid = (gid_t) json_integer_value(group);
        return true;
    }
    if (!json_is_string(group) || (gr = passwd_group(&space, json_string_value(group))) == NULL)
        return false;
    *ret_gid = gr->gr_gid;
    return true;
}

/* Name of the id, or the number where the id has no name. NEW. */
json_t *
fop_user_name(uid_t uid)
{
    passwd_space_auto_t space = { 0 };
    const struct passwd *pw = passwd_uid(&space, uid);

    return pw != NULL ? value_utf8(pw->pw_name, strlen(pw->pw_name)) : json_integer(uid);
}

json_t *
fop_group_name(gid_t gid)
{
    passwd_space_auto_t space = { 0 };
    const struct group *gr = passwd_gid(&space, gid);

    return gr != NULL ? value_utf8(gr->gr_name, strlen(gr->gr_name)) : json_integer(gid);
}

int
file_gid_to_group(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    /* A text of digits is a number here, as on a command line; anything else is a name. */
    json_t *given = value_get(args, "gid");
    long long n;
    bool digits = json_is_string(given) && str_to_int(json_string_value(given), 0, UINT32_MAX, &n);
    json_auto_t *gid = digits ? json_integer(n) : json_incref(given);
    gid_t id;

    *ret_value = fop_gid_of(gid, &id) ? fop_group_name(id) : json_string("");
    return 0;
}

int
file_group_to_gid(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    gid_t gid;

    *ret_value = fop_gid_of(value_get(args, "group"), &gid) ? json_integer(gid) : json_string("");
    return 0;
}

int
file_uid_to_user(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = fop_user_name((uid_t) value_int(args, "uid", 0));
    return 0;
}

int
file_user_to_uid(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *user = value_get(args, "user");
    uid_t uid = geteuid();

    if (json_is_null(user) || fop_uid_of(user, &uid))
        *ret_value = json_integer(uid);
    else
        *ret_value = json_string("");
    return 0;
}

/* ---- stat ------------------------------------------------------------------------------------ */

json_t *
fop_mode_text(mode_t mode)
{
    return value_fmt("%04o", (unsigned) (mode & 07777));
}

/* Salt's normalize_mode: quotes, "0o" and leading zeros go, then at least four digits. The result need not be
 * a mode: see fop_is_mode(). NEW; NULL for none. */
char *
fop_normalize_mode(const json_t *mode)
{
    if (mode == NULL || json_is_null(mode))
        return NULL;
    AUTO_FREE char *text = value_pystr(mode);
    AUTO_FREE char *plain = str_replace(text, "0o", "0");
    const char *start = plain + strspn(plain, "\"'");
    size_t len = strlen(start);
    while (len > 0 && strchr("\"'", start[len - 1]) != NULL)
        len--;
    while (len > 0 && *start == '0') {
        start++;
        len--;
    }
    return xasprintf("%.*s%.*s", len < 4 ? (int) (4 - len) : 0, "0000", (int) len, start);
}

static double
attr_seconds(const struct timespec *t)
{
    return (double) t->tv_sec + (double) t->tv_nsec / 1e9;
}

static const char *
type_name(mode_t mode)
{
    static const struct {
        mode_t type;
        const char *name;
    } types[] = {
        { S_IFDIR, "dir" },  { S_IFCHR, "char" }, { S_IFBLK, "block" },   { S_IFREG, "file" },
        { S_IFLNK, "link" }, { S_IFIFO, "pipe" }, { S_IFSOCK, "socket" },
    };

    for (size_t i = 0; i < NELEMS(types); i++) {
        if ((mode & S_IFMT) == types[i].type)
            return types[i].name;
    }
    return "file";
}

/* See fileops.h. "target" is the resolved path, "type" Salt's word for the file type. */
json_t *
fop_stats(const char *path, const char *hash_type, bool follow, fail_t *err)
{
    struct stat st;
    char *sum = NULL;

    int there = follow ? fop_stat_or_link(path, &st, err) : fop_lstat(path, &st, err);
    if (there == 0)
        fail_kind(err, FAIL_COMMAND, -ENOENT, "Path not found: %s", path);
    if (there <= 0)
        return NULL;
    bool special = !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode); /* a pipe would be waited for */
    if (hash_type != NULL && !special && digest_file(path, hash_type, &sum, err) != 0)
        return NULL;
    json_t *ret = json_pack("{s:I, s:I, s:I, s:o, s:o, s:f, s:f, s:f, s:I, s:o}", "inode",
                            (json_int_t) st.st_ino, "uid", (json_int_t) st.st_uid, "gid",
                            (json_int_t) st.st_gid, "group", fop_group_name(st.st_gid), "user",
                            fop_user_name(st.st_uid), "atime", attr_seconds(&st.st_atim), "mtime",
                            attr_seconds(&st.st_mtim), "ctime", attr_seconds(&st.st_ctim), "size",
                            (json_int_t) st.st_size, "mode", fop_mode_text(st.st_mode));
    if (sum != NULL)
        json_object_set_new(ret, "sum", json_string(sum));
    free(sum);
    AUTO_FREE char *target = fop_realpath(path);
    json_object_set_new(ret, "type", json_string(type_name(st.st_mode)));
    json_object_set_new(ret, "target", value_utf8(target, strlen(target)));
    return ret;
}

/* Returns one field of file.stats of args["path"]. */
int
file_get_stat(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *field = ctx_row(ctx)->data.text;
    AUTO_FREE char *path = fop_path(args, "path");
    json_auto_t *all = fop_stats(path, NULL, value_bool(args, "follow_symlinks", true), err);

    if (all == NULL)
        return -ENOENT;
    *ret_value = json_incref(json_object_get(all, field));
    return 0;
}

int
file_stats(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *path = fop_path(args, "path");
    const char *hash_type = value_str(args, "hash_type", NULL);

    *ret_value = fop_stats(path, str_empty(hash_type) ? NULL : hash_type,
                           value_bool(args, "follow_symlinks", true), err);
    return *ret_value == NULL ? -ENOENT : 0;
}

int
file_lstat(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *path = fop_path(args, "path");
    struct stat st;

    if (fop_need_abs(path, "Path to file must be absolute.", err) != 0)
        return -EINVAL;
    if (lstat(path, &st) != 0)
        *ret_value = json_object();
    else
        *ret_value = json_pack("{s:f, s:f, s:I, s:I, s:f, s:I, s:I, s:I}", "st_atime",
                               attr_seconds(&st.st_atim), "st_ctime", attr_seconds(&st.st_ctim), "st_gid",
                               (json_int_t) st.st_gid, "st_mode", (json_int_t) st.st_mode, "st_mtime",
                               attr_seconds(&st.st_mtim), "st_nlink", (json_int_t) st.st_nlink, "st_size",
                               (json_int_t) st.st_size, "st_uid", (json_int_t) st.st_uid);
    return 0;
}

int
file_statvfs(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *path = fop_path(args, "path");
    struct statvfs v;

    if (fop_need_abs(path, "File path must be absolute.", err) != 0)
        return -EINVAL;
    if (statvfs(path, &v) != 0)
        return fop_failed(err, "Could not statvfs '%s'", path);
    *ret_value = json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "f_bavail",
                           (json_int_t) v.f_bavail, "f_bfree", (json_int_t) v.f_bfree, "f_blocks",
                           (json_int_t) v.f_blocks, "f_bsize", (json_int_t) v.f_bsize, "f_favail",
                           (json_int_t) v.f_favail, "f_ffree", (json_int_t) v.f_ffree, "f_files",
                           (json_int_t) v.f_files, "f_flag", (json_int_t) v.f_flag, "f_frsize",
                           (json_int_t) v.f_frsize, "f_namemax", (json_int_t) v.f_namemax);
    return 0;
}

/* Salt's letters, or the numbers of access(2). */
int
file_access(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const struct {
        const char *letter;
        int mode;
    } modes[] = { { "f", F_OK }, { "r", R_OK }, { "w", W_OK }, { "x", X_OK } };
    AUTO_FREE char *path = fop_path(args, "path");
    json_t *mode = value_get(args, "mode");

    if (fop_need_abs(path, "Path to link must be absolute.", err) != 0)
        return -EINVAL;
    for (size_t i = 0; i < NELEMS(modes); i++) {
        if (str_eq(json_string_value(mode), modes[i].letter) ||
            (json_is_integer(mode) && json_integer_value(mode) == modes[i].mode)) {
            *ret_value = json_boolean(access(path, modes[i].mode) == 0);
            return 0;
        }
    }
    return fop_invalid(err, "Invalid mode specified.");
}

/* ---- owner and mode -------------------------------------------------------------------------- */

/* An octal text to a mode; false when it is none. */
static bool
parse_mode(const char *text, mode_t *ret_mode)
{
    char *end = NULL;
    unsigned long mode = strtoul(text, &end, 8);

    if (*text < '0' || *text > '7' || *end != '\0' || mode > 07777)
        return false;
    *ret_mode = (mode_t) mode;
    return true;
}

bool
fop_is_mode(const char *mode)
{
    mode_t ignored;

    return parse_mode(mode, &ignored);
}

/* Opens the object at `path` into `file`. 0, also when nothing is there; a negative errno when root refuses
 * to follow the path. */
static int
find_meant(partfile_t *file, const char *path, int flags, fail_t *err)
{
    fail_auto_t why = FAIL_INIT;
    int rc = partfile_find(file, path, PARTFILE_ANY | flags, &why);

    return rc == -EPERM || rc == -ENOSYS ? fail_kind(err, why.kind, rc, "%s", fail_text(&why)) : 0;
}

/* The same; a link that leads to nothing is meant itself. */
static int
find_owned(partfile_t *file, const char *path, fail_t *err)
{
    int rc = find_meant(file, path, 0, err);

    if (rc != 0 || file->at != NULL)
        return rc;
    partfile_close(file);
    return find_meant(file, path, DESTPATH_LINK, err);
}

/* An invalid mode is the function's return, not an error, as in Salt. */
int
file_set_mode(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *path = fop_path(args, "path");
    const char *text = value_str(args, "mode", "");
    partfile_auto_t file = PARTFILE_INIT;
    struct stat st;
    mode_t mode;

    text += strspn(text, "0Oo");
    if (*text == '\0')
        text = "0";
    int rc = find_meant(&file, path, 0, err);
    if (rc != 0)
        return rc;
    if (file.at == NULL)
        return fop_failed(err, "%s: File not found", path);
    if (!parse_mode(text, &mode) || chmod(file.at, mode) != 0)
        *ret_value = value_fmt("Invalid Mode %s", text);
    else if (fstat(file.file, &st) == 0)
        *ret_value = fop_mode_text(st.st_mode);
    else
        return fop_oserror(err, errno, path);
    return 0;
}

/* Problems with names, and a missing file, are texts in *ret_value, as in Salt; only chown() itself fails. */
int
fop_chown(const char *path, const json_t *user, const json_t *group, json_t **ret_value, fail_t *err)
{
    buf_auto_t why = BUF_INIT;
    uid_t uid;
    gid_t gid;

    /* Ids of a chown. What is unknown is told in `why`. */
    uid = (uid_t) -1;
    gid = (gid_t) -1;
    if (json_is_null(user))
        uid = geteuid();
    else if (!fop_uid_of(user, &uid) && value_truthy(user))
        buf_puts(&why, "User does not exist\n");
    if (!fop_gid_of(group, &gid) && value_truthy(group))
        buf_puts(&why, "Group does not exist\n");

    int there = path != NULL ? fop_exists(path, err) : 0;
    if (there < 0)
        return there;
    if (there == 0)
        buf_puts(&why, "File not found");
    if (there > 0 && why.len == 0 && chown(path, uid, gid) != 0)
        return fop_oserror(err, errno, path);
    *ret_value = why.len > 0 ? json_string(buf_str(&why)) : json_null();
    return 0;
}

/* Changes the owner of the held object; `path` is the name that the caller gave, for messages. */
static int
change_held(const partfile_t *file, const char *path, const json_t *user, const json_t *group,
            json_t **ret_value, fail_t *err)
{
    int rc = fop_chown(file->at, user, group, ret_value, NULL);

    return rc == 0 ? 0 : fop_oserror(err, -rc, path);
}

int
file_chown(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *path = fop_path(args, "path");
    partfile_auto_t file = PARTFILE_INIT;
    int rc = find_owned(&file, path, err);

    return rc != 0
               ? rc
               : change_held(&file, path, value_get(args, "user"), value_get(args, "group"), ret_value, err);
}

/* In the folder where the link is: another link above it may have come. */
int
fop_lchown(const char *path, const json_t *user, const json_t *group, json_t **ret_value, fail_t *err)
{
    partfile_auto_t file = PARTFILE_INIT;
    int rc = partfile_find(&file, path, PARTFILE_ANY | DESTPATH_LINK, err);

    if (rc != 0)
        return rc;
    if (file.at == NULL)
        return fop_oserror(err, ENOENT, path);
    return change_held(&file, path, user, group, ret_value, err);
}

/* The link itself changes, wherever it leads. */
int
file_lchown(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *path = fop_path(args, "path");

    return fop_lchown(path, value_get(args, "user"), value_get(args, "group"), ret_value, err);
}

/* "" leaves the owner as it is: see fop_chown(). */
int
file_chgrp(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *path = fop_path(args, "path");
    json_auto_t *as_it_is = json_string("");
    partfile_auto_t file = PARTFILE_INIT;
    int rc = find_owned(&file, path, err);

    if (rc != 0)
        return rc;
    if (file.at == NULL)
        return fail_kind(err, FAIL_COMMAND, -ENOENT, "Path not found: %s", path);
    return change_held(&file, path, as_it_is, value_get(args, "group"), ret_value, err);
}

/* Owner first, as chown() clears the set-id bits. NULL, None and "" leave a part alone. */
int
fop_set_owner_mode(const char *path, const json_t *user, const json_t *group, const char *mode, fail_t *err)
{
    json_auto_t *why = NULL;
    json_auto_t *nobody = json_string("");
    mode_t bits;

    if (value_truthy(user) || value_truthy(group)) {
        int rc = fop_chown(path, value_truthy(user) ? user : nobody, value_truthy(group) ? group : nobody,
                           &why, err);
        if (rc != 0)
            return rc;
        if (json_is_string(why))
            return fop_failed(err, "%s: %s", path, json_string_value(why));
    }
    if (mode == NULL)
        return 0;
    if (!parse_mode(mode, &bits))
        return fop_failed(err, "Invalid Mode %s", mode);
    return chmod(path, bits) == 0 ? 0 : fop_oserror(err, errno, path);
}
