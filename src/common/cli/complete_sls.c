/* complete_sls.c - offers names of state files. Only one folder of each root is read, the one up to the last
 * dot of the word: a whole tree would make Tab slow. */
#include <dirent.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/cli/complete.h"
#include "salt/limits.h"
#include "salt/value.h"

#define SUFFIX ".sls"

/* A folder is offered with a dot behind, to go on inside, and as a state of its own when it has an
 * init.sls. */
static void
offer_entry(complete_t *self, const char *dir, const char *name)
{
    size_t len = strlen(name), end = strlen(SUFFIX);
    AUTO_FREE char *path = fs_join(dir, name);

    if (fs_is_dir(path)) {
        AUTO_FREE char *init = fs_join(path, "init" SUFFIX);
        AUTO_FREE char *inside = xasprintf("%s.", name);
        if (fs_exists(init))
            complete_offer(self, name);
        complete_offer(self, inside);
    } else if (len > end && str_eq(name + len - end, SUFFIX) && !str_eq(name, "init" SUFFIX)) {
        AUTO_FREE char *sls = xstrndup(name, len - end);
        complete_offer(self, sls);
    }
}

void
complete_sls(complete_t *self, const json_t *opts, const char *saltenv)
{
    const json_t *roots = value_get(value_get(opts, "file_roots"), saltenv != NULL ? saltenv : "base");
    size_t i;
    json_t *root;

    complete_split(self, ',');
    /* The folder of the part: "web.ng" gives "web/" and leaves "ng" to complete. */
    const char *dot = strrchr(self->part, '.');
    AUTO_FREE char *folder = dot != NULL ? xstrndup(self->part, (size_t) (dot + 1 - self->part))
                                         : xstrdup("");
    for (char *p = folder; *p != '\0'; p++)
        *p = *p == '.' ? '/' : *p;
    complete_split(self, '.');
    if (folder[0] == '/' || strstr(folder, "//") != NULL)
        return; /* a leading dot or two in a row: not a state's name */
    json_array_foreach ((json_t *) roots, i, root) {
        AUTO_FREE char *dir = json_is_string(root) ? fs_join(json_string_value(root), folder) : NULL;
        if (dir != NULL) {
            /* Offers what a folder holds. A missing folder offers nothing, as a root need not have it. */
            DIR *open = opendir(dir);
            struct dirent *entry;
            int rc = 0, n = 0;

            if (open != NULL) {
                while (n++ < LIMIT_NAMES_SEEN && (entry = fs_next(open, &rc)) != NULL)
                    if (entry->d_name[0] != '.' && str_starts(entry->d_name, self->part))
                        offer_entry(self, dir, entry->d_name);
                (void) closedir(open);
            }
        }
    }
}
