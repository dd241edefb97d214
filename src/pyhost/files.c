/* files.c - where custom modules are: the folders of the options, and the names of the files in them. */
#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/files/extmods.h"
#include "common/host/pyinstall.h"
#include "common/python/userfile.h"
#include "pyhost/pyhost.h"
#include "salt/log.h"

enum { ENTRY_POINTS_MAX = 64 * 1024 };

static const struct {
    const char *name;
    plugin_kind_t plugin;
    const char *option;
} kinds[PYKINDS] = {
#define PYKIND(name, plugin, option) { #name, plugin, option },
#include "pyhost/pykinds.def"
#undef PYKIND
};

const char *
pykind_name(pykind_t kind)
{
    return kinds[kind].name;
}

pykind_t
pykind_of(plugin_kind_t kind)
{
    pykind_t i = 0;

    while (i < PYKINDS && kinds[i].plugin != kind)
        i++;
    return i;
}

json_t *
pyfiles_folders(call_ctx_t *ctx)
{
    json_t *opts = ctx_opts(ctx), *all = json_object();

    for (pykind_t i = 0; i < PYKINDS; i++) {
        json_t *folders = json_array();
        AUTO_FREE char *synced = extmods_dir(ctx, kinds[i].name);
        /* FOLDER/KIND and FOLDER/_KIND of each of module_dirs; the last one named comes first, as Salt has
         * it. */
        const json_t *module_dirs = value_get(opts, "module_dirs");
        const char *kind = kinds[i].name;
        AUTO_FREE char *under = xasprintf("_%s", kind);
        const char *const names[] = { under, kind };

        for (size_t d = 0; d < json_array_size(module_dirs); d++) {
            const char *top = json_string_value(json_array_get(module_dirs, d));
            for (size_t k = 0; top != NULL && k < NELEMS(names); k++) {
                AUTO_FREE char *folder = fs_join(top, names[k]);
                if (fs_look_dir(folder, NULL) > 0)
                    json_array_insert_new(folders, 0, json_string(folder));
            }
        }
        json_array_extend(folders, value_get(opts, kinds[i].option));
        json_array_append_new(folders, json_string(synced));
        json_object_set_new(all, kinds[i].name, folders);
    }
    return all;
}

/* The module's name of a file's, or of a folder's with an __init__.py. NEW; NULL: it is none. */
static char *
stem_of(const char *folder, const char *name)
{
    static const char *const endings[] = { ".py", ".pyc", ".so", ".zip" };

    if (*name == '_' || *name == '.')
        return NULL;
    for (size_t i = 0; i < NELEMS(endings); i++) {
        if (str_ends(name, endings[i]))
            return xstrndup(name, strcspn(name, "."));
    }
    AUTO_FREE char *inside = xasprintf("%s/%s/__init__.py", folder, name);
    return fs_absent(inside) ? NULL : xstrdup(name);
}

json_t *
pyfiles_stems(const json_t *folders)
{
    json_t *stems = json_object(), *folder;
    size_t i;

    json_array_foreach ((json_t *) folders, i, folder) {
        const char *path = json_string_value(folder);
        fail_auto_t err = FAIL_INIT;
        char **names = NULL;
        if (path != NULL && fs_names(path, &names, &err) < 0)
            log_error("custom modules are not looked for: %s", fail_text(&err));
        for (size_t k = 0; names != NULL && names[k] != NULL; k++) {
            AUTO_FREE char *stem = stem_of(path, names[k]);
            if (stem != NULL)
                json_object_set_new(stems, stem, json_true());
        }
        strv_free(names);
    }
    return stems;
}

json_t *
pyfiles_options(void)
{
    json_t *options = json_object();

    for (pykind_t i = 0; i < PYKINDS; i++)
        json_object_set_new(options, kinds[i].name, json_string(kinds[i].option));
    return options;
}

/* ---- installed extensions -------------------------------------------------------------------------------- */

/* True when one of the files that describe the distributions installed in the folder names the group. Each command
 * looks at its first call: one pass over the names, as most distributions have no such file. */
static bool
folder_has_extension(const char *folder)
{
    DIR *dir = opendir(folder);
    bool has = false;
    int rc = 0;

    for (struct dirent *entry; dir != NULL && !has && (entry = fs_next(dir, &rc)) != NULL;) {
        char path[NAME_MAX + sizeof("/entry_points.txt")];
        buf_auto_t text = BUF_INIT;
        if (!str_ends(entry->d_name, ".dist-info") && !str_ends(entry->d_name, ".egg-info"))
            continue;
        (void) stpcpy(stpcpy(path, entry->d_name), "/entry_points.txt");
        AUTO_FD fd = openat(dirfd(dir), path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
        has = fd >= 0 && fs_read_fd(fd, ENTRY_POINTS_MAX, &text) == 0 &&
              strstr(buf_str(&text), "[salt.loader]") != NULL;
    }
    if (dir != NULL)
        (void) closedir(dir);
    return has;
}

static bool
has_extension(const char *pattern)
{
    fail_auto_t err = FAIL_INIT;
    bool has = false;
    glob_t found;

    if (fs_glob(pattern, GLOB_BRACE, &found, &err) < 0)
        return false;
    for (size_t i = 0; i < found.gl_pathc && !has; i++)
        has = folder_has_extension(found.gl_pathv[i]);
    globfree(&found);
    return has;
}

bool
userfile_extended(const json_t *opts)
{
    static _Atomic int known = -1;
    json_auto_t *patterns = NULL;

    if (known < 0) {
        bool has = false;
        patterns = pyinstall_packages(value_str(opts, "python", ""));
        for (size_t i = 0; i < json_array_size(patterns) && !has; i++)
            has = has_extension(json_string_value(json_array_get(patterns, i)));
        known = has;
    }
    return known > 0;
}
