/* zfs.c - grains zfs_support, zfs_feature_flags and zpool. */
#include <math.h>

#include "common/base/buf.h"
#include "common/host/proc.h"
#include "common/host/rootfs.h"
#include "common/base/str.h"
#include "salt/plugin.h"

/* Pools on disks that don't answer are not to hold up the minion. */
enum { TIMEOUT_MS = 30000 };

/* "10.9T" in bytes; what is not a size stays text. */
static json_t *
zfs_size_of(const char *text)
{
    static const char units[] = "KMGTPEZ";
    char *end = NULL;
    double number = strtod(text, &end);

    if (end == text)
        return json_string(text);
    const char *unit = *end != '\0' ? strchr(units, *end) : NULL;
    if (unit != NULL)
        number *= pow(1024, (double) (unit - units) + 1);
    return fabs(number) < 0x1p63 ? json_integer((json_int_t) number) : json_string(text);
}

/* Looks for zfs's manual page directly. Salt runs `man`, which takes longer to fail than all other grains
 * together. */
static bool
has_page(const char *root)
{
    static const char *const folders[] = { "/usr/share/man/man5",       "/usr/share/man/man7",
                                           "/usr/local/share/man/man5", "/usr/local/share/man/man7",
                                           "/usr/local/man/man5",       "/usr/local/man/man7" };
    bool found = false;

    for (size_t i = 0; !found && i < NELEMS(folders); i++) {
        char **names = root_list(root, folders[i]);
        for (char **name = names; *name != NULL && !found; name++)
            found = str_starts(*name, "zpool-features.");
        strv_free(names);
    }
    return found;
}

/* zfs_feature_flags follows from the documentation, as Salt has it, and is no matter of the running
 * system. */
static int
zfs_collect(grain_ctx_t *ctx, json_t *out, fail_t *err)
{
    AUTO_FREE char *zpool = root_which(ctx->root, "zpool"), *fuse = root_which(ctx->root, "zfs-fuse");
    AUTO_FREE char *man = root_which(ctx->root, "man");
    bool supported = zpool != NULL && (fuse != NULL || root_exists(ctx->root, "/sys/module/zfs"));
    bool documented = man != NULL && has_page(ctx->root);

    json_object_set_new(out, "zfs_support", json_boolean(supported));
    json_object_set_new(out, "zfs_feature_flags", json_boolean(documented));
    if (supported) {
        AUTO_FREE char *program = root_path(ctx->root, zpool);

        /* Adds the pools that zpool lists. */
        buf_auto_t printed = BUF_INIT;
        json_t *pools = json_object();
        proc_output(&printed, TIMEOUT_MS, program, "list", "-H", "-o", "name,size", NULL);
        for (char *at = printed.data, *line; (line = line_next(&at)) != NULL;) {
            char **words = str_split(line, " \t", true);
            if (strv_len(words) >= 2)
                json_object_set_new(pools, words[0], zfs_size_of(words[1]));
            strv_free(words);
        }
        if (json_object_size(pools) > 0)
            json_object_set(out, "zpool", pools);
        json_decref(pools);
    }
    return 0;
}

static const char *const keys[] = { "zfs_support", "zfs_feature_flags", "zpool", NULL };

PLUGIN(grain, zfs, .doc = "ZFS and its pools.", .collect = zfs_collect, .cost = GRAIN_SLOW, .keys = keys);
