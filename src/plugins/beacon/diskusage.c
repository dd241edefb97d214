/* diskusage.c - beacon diskusage: file systems that are fuller than their limit. It looks in a child, as one
 * of a server that does not answer keeps statvfs() waiting. */
#include <sys/statvfs.h>

#include "common/base/str.h"
#include "common/host/procfs.h"
#include "common/match/regex.h"
#include "plugins/lib/beacon/usage.h"
#include "salt/log.h"
#include "salt/plugin.h"

static char *
diskusage_validate(const json_t *list, const json_t *config)
{
    const char *mount;
    json_t *limit;
    double percent;
    json_object_foreach ((json_t *) config, mount, limit)
        if (*mount == '/' && !usage_limit(limit, &percent))
            return xasprintf("Configuration for diskusage beacon: the limit of %s is a percentage.", mount);
    return NULL;
}

/* Adds the event of a mount point that is as full as its limit, by psutil's reckoning: of what users may
 * fill. */
static void
diskusage_add(const char *point, double limit, json_t *events)
{
    struct statvfs fs;
    if (statvfs(point, &fs) != 0) {
        log_warning("%s is not a valid mount point.", point);
        return;
    }
    double used = (double) (fs.f_blocks - fs.f_bfree) * (double) fs.f_frsize,
           percent = usage_percent(used, used + (double) fs.f_bavail * (double) fs.f_frsize);
    if (percent >= limit)
        json_array_append_new(events, json_pack("{s:f, s:s}", "diskusage", percent, "mount", point));
}

static int
diskusage_look(beacon_look_t *look, fail_t *err)
{
    size_t n, i;
    json_t *item, *given;
    const char *mount;
    procfs_mount_t *mounts = procfs_mounts(&n, err);
    if (mounts == NULL)
        return err->code;
    /* Each key is a regular expression that is matched from a mount point's start with "$" behind it, as in
     * Salt: of alternatives (a|b) only the last is held to the end. A plain one matches itself. */
    json_array_foreach (look->list, i, item)
        json_object_foreach (item, mount, given) {
            double limit;
            fail_auto_t why = FAIL_INIT;
            if (!usage_limit(given, &limit))
                continue;
            AUTO_FREE char *whole = str_ends(mount, "$") ? xstrdup(mount) : xasprintf("%s$", mount);
            AUTO(rx) rx = rx_new(whole, 0, &why);
            if (rx == NULL)
                (void) fail_set(err, -EINVAL, "diskusage: %s: %s", mount, fail_text(&why));
            for (size_t k = 0; rx != NULL && k < n; k++)
                if (rx_match(rx, mounts[k].point, strlen(mounts[k].point), 0, NULL) == 1)
                    diskusage_add(mounts[k].point, limit, look->events);
        }
    procfs_mounts_free(mounts, n);
    return err->code;
}

static const beacon_row_t row = {
    .validate = diskusage_validate, .look = diskusage_look, .every_s = 30, .calls = true, .key = "mount"
};

PLUGIN(
    beacon, diskusage,
    .doc =
        "File systems, by mount point or a regular expression of mount points: fires from a limit of percent on.",
    .beacon = &row);
