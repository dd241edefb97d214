/* disks.c - grains disks and ssds: block devices of hardware, divided by whether they rotate. */
#include <unistd.h>

#include "common/host/rootfs.h"
#include "common/base/str.h"
#include "salt/plugin.h"

/* Loop devices, RAM disks and the like are no hardware; where the link of /sys/block leads tells them
 * apart. */
static bool
is_virtual(const char *root, const char *name)
{
    AUTO_FREE char *path = xasprintf("%s/sys/block/%s", root, name);
    char target[256];
    ssize_t n = readlink(path, target, sizeof(target) - 1);

    if (n < 0)
        return false;
    target[n] = '\0';
    return str_starts(target, "../devices/virtual/");
}

/* The kernel says of each queue whether it rotates. A device without that file is in neither list. */
static int
disks_collect(grain_ctx_t *ctx, json_t *out, fail_t *err)
{
    char **names = root_list(ctx->root, "/sys/block");
    json_t *disks = json_array(), *ssds = json_array();

    for (size_t i = 0; names[i] != NULL; i++) {
        AUTO_FREE char *path = xasprintf("/sys/block/%s/queue/rotational", names[i]);
        AUTO_FREE char *flag = is_virtual(ctx->root, names[i]) ? NULL : root_read(ctx->root, path);
        if (str_starts(flag, "0"))
            json_array_append_new(ssds, json_string(names[i]));
        else if (str_starts(flag, "1"))
            json_array_append_new(disks, json_string(names[i]));
    }
    strv_free(names);
    json_object_set_new(out, "disks", disks);
    json_object_set_new(out, "ssds", ssds);
    return 0;
}

static const char *const keys[] = { "disks", "ssds", NULL };

PLUGIN(grain, disks, .doc = "Disks that rotate, and those that do not.", .collect = disks_collect,
       .cost = GRAIN_CHEAP, .keys = keys);
