/* backup.c - copies that edits left under cachedir/file_backup: list, restore, delete. A copy's time is part
 * of its name, and its id is its place among the copies of the file, the newest being 0. */
#include <dirent.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/file/fileops.h"
#include "plugins/lib/file/text.h"

typedef struct copy {
    char stamp[32]; /* sorts as time: YYYYMMDDhhmmssffffff */
    char *path, *shown;
    json_int_t size;
} copy_t;

typedef struct copies {
    copy_t *v;
    size_t n;
} copies_t;

static void
copies_free(copies_t *c)
{
    for (size_t i = 0; i < c->n; i++) {
        free(c->v[i].path);
        free(c->v[i].shown);
    }
    free(c->v);
}
#define copies_auto_t __attribute__((cleanup(copies_free))) copies_t

/* Folder that holds the backups of files in `folder`. NEW. */
static char *
backup_folder(call_ctx_t *ctx, const char *folder)
{
    AUTO_FREE char *root = fs_join(value_str(ctx_opts(ctx), "cachedir", "/var/cache/salt/minion"),
                                   "file_backup");

    return fs_join(root, folder);
}

static int
backup_newest_first(const void *a, const void *b)
{
    return strcmp(((const copy_t *) b)->stamp, ((const copy_t *) a)->stamp);
}

/* Copies of the file `name` in `folder`, newest first: their places in this order are their ids. */
static int
find_copies(const char *folder, const char *name, copies_t *out, fail_t *err)
{
    DIR *dir = opendir(folder);
    int rc;

    if (dir == NULL)
        return errno == ENOENT || errno == ENOTDIR ? 0 : fop_oserror(err, errno, folder);
    for (const struct dirent *entry; (entry = fs_next(dir, &rc)) != NULL;) {
        copy_t copy = { 0 };
        struct stat st;

        /* "NAME_Fri_Nov_20_10:00:00_123456_2026": the time behind NAME_. */
        const char *file = entry->d_name;
        struct tm tm = { 0 };
        int micros = 0, year = 0, used = 0;
        size_t n = strlen(name);

        if (strncmp(file, name, n) != 0 || file[n] != '_')
            continue;
        const char *rest = strptime(file + n + 1, "%a_%b_%d_%H:%M:%S_", &tm);
        if (rest == NULL || sscanf(rest, "%6d_%4d%n", &micros, &year, &used) != 2 || rest[used] != '\0')
            continue;
        tm.tm_year = year - 1900;
        tm.tm_isdst = -1;
        (void) mktime(&tm);
        char when[64];
        strftime(when, sizeof(when), "%a %b %d %Y %H:%M:%S", &tm);
        copy.shown = xasprintf("%s.%06d", when, micros);
        strftime(when, sizeof(when), "%Y%m%d%H%M%S", &tm);
        snprintf(copy.stamp, sizeof(copy.stamp), "%.14s%06d", when, micros);

        copy.path = fop_join2(folder, entry->d_name);
        copy.size = stat(copy.path, &st) == 0 ? st.st_size : 0;
        out->v = xrealloc(out->v, (out->n + 1) * sizeof(copy));
        out->v[out->n++] = copy;
    }
    closedir(dir);
    if (out->n > 0)
        qsort(out->v, out->n, sizeof(*out->v), backup_newest_first);
    return rc == 0 ? 0 : fop_oserror(err, -rc, folder);
}

/* {"0": {"Backup Time", "Size", "Location"}, ...} */
static json_t *
copies_json(const copies_t *copies, const json_t *limit)
{
    json_t *ret = json_object();
    AUTO_FREE char *text = value_pystr(limit);
    long long max = (long long) copies->n;

    (void) str_to_int(text, 0, INT32_MAX, &max);
    for (size_t i = 0; i < copies->n && (long long) i < max; i++) {
        char key[32];
        snprintf(key, sizeof(key), "%zu", i);
        json_object_set_new(ret, key,
                            json_pack("{s:s, s:I, s:o}", "Backup Time", copies->v[i].shown, "Size",
                                      copies->v[i].size, "Location",
                                      value_utf8(copies->v[i].path, strlen(copies->v[i].path))));
    }
    return ret;
}

static int
copies_of(call_ctx_t *ctx, const char *path, copies_t *out, fail_t *err)
{
    AUTO_FREE char *dir = fop_dirname(path);
    AUTO_FREE char *folder = backup_folder(ctx, dir);

    return find_copies(folder, fop_basename(path), out, err);
}

int
file_list_backups(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *path = fop_path(args, "path");
    copies_auto_t copies = { NULL, 0 };
    int rc = copies_of(ctx, path, &copies, err);

    if (rc < 0)
        return rc;
    *ret_value = copies_json(&copies, value_get(args, "limit"));
    return 0;
}

/* A copy's file name without its stamp: everything before the sixth "_" from the end. NEW, or NULL. */
static char *
original_name(const char *file)
{
    size_t n = strlen(file);

    for (int left = 6; n > 0; n--) {
        if (file[n - 1] == '_' && --left == 0)
            return n > 1 ? xstrndup(file, n - 1) : NULL;
    }
    return NULL;
}

/* Groups the folder's copies by the file that they were made of. */
int
file_list_backups_dir(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *path = fop_path(args, "path");
    AUTO_FREE char *dir_part = fop_dirname(path);
    AUTO_FREE char *folder = backup_folder(ctx, dir_part);
    char **found = NULL;
    int rc = fs_names(folder, &found, err);
    json_auto_t *ret = json_object();

    for (size_t i = 0; found != NULL && found[i] != NULL; i++) {
        AUTO_FREE char *name = original_name(found[i]);
        if (rc == 0 && name != NULL && json_object_get(ret, name) == NULL) {
            copies_auto_t copies = { NULL, 0 };
            rc = find_copies(folder, name, &copies, err);
            if (copies.n > 0)
                json_object_set_new(ret, name, copies_json(&copies, value_get(args, "limit")));
        }
    }
    strv_free(found);
    if (rc == 0)
        *ret_value = json_incref(ret);
    return rc;
}

/* The copy that `backup_id` names, or NULL with Salt's reason in ret["comment"]. BORROWED from `copies`. */
static const copy_t *
backup_pick(const json_t *backup_id, const char *path, const copies_t *copies, json_t *ret)
{
    AUTO_FREE char *text = value_pystr(backup_id);
    long long n;

    if (!str_to_int(text, 0, INT32_MAX, &n)) {
        json_object_set_new(ret, "comment", value_fmt("Invalid backup_id '%s'", text));
        return NULL;
    }
    if ((size_t) n >= copies->n) {
        json_object_set_new(ret, "comment", value_fmt("backup_id '%s' does not exist for %s", text, path));
        return NULL;
    }
    return &copies->v[n];
}

int
file_restore_backup(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *path = fop_path(args, "path");
    copies_auto_t copies = { NULL, 0 };
    json_auto_t *ret = json_pack("{s:b, s:s}", "result", 0, "comment", "");
    fail_auto_t why = FAIL_INIT;

    int rc = copies_of(ctx, path, &copies, err);
    if (rc < 0)
        return rc;
    const copy_t *copy = backup_pick(value_get(args, "backup_id"), path, &copies, ret);
    if (copy != NULL) {
        /* The present file is backed up before the restore replaces it. */
        int there = fop_exists(path, err);
        if (there < 0 || (there > 0 && fop_backup_minion(ctx, path, path, err) != 0))
            return err->code;
        if (fop_copyfile(copy->path, path, &why) != 0) {
            json_object_set_new(
                ret, "comment",
                value_fmt("Unable to restore %s to %s: %s", copy->path, path, fail_text(&why)));
        } else {
            json_object_set_new(ret, "result", json_true());
            json_object_set_new(ret, "comment",
                                value_fmt("Successfully restored %s to %s", copy->path, path));
        }
    }
    *ret_value = json_incref(ret);
    return 0;
}

int
file_delete_backup(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *path = fop_path(args, "path");
    copies_auto_t copies = { NULL, 0 };
    json_auto_t *ret = json_pack("{s:b, s:s}", "result", 0, "comment", "");

    int rc = copies_of(ctx, path, &copies, err);
    if (rc < 0)
        return rc;
    const copy_t *copy = backup_pick(value_get(args, "backup_id"), path, &copies, ret);
    if (copy != NULL && unlink(copy->path) != 0) {
        json_object_set_new(ret, "comment",
                            value_fmt("Unable to remove %s: %s", copy->path, strerror(errno)));
    } else if (copy != NULL) {
        json_object_set_new(ret, "result", json_true());
        json_object_set_new(ret, "comment", value_fmt("Successfully removed %s", copy->path));
    }
    *ret_value = json_incref(ret);
    return 0;
}
