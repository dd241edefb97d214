/* memusage.c - beacon memusage: memory that is not available, in percent, as psutil reckons it: MemTotal
 * without MemAvailable of /proc/meminfo, which leaves out what the kernel can give back. */
#include "common/base/str.h"
#include "common/host/procfs.h"
#include "common/host/rootfs.h"
#include "plugins/lib/beacon/usage.h"
#include "salt/plugin.h"

static char *
memusage_validate(const json_t *list, const json_t *config)
{
    return usage_validate("memusage", config);
}

static int
memusage_look(beacon_look_t *look, fail_t *err)
{
    char *text = NULL;
    if (root_text(look->root, "/proc/meminfo", &text, err) < 0)
        return err->code;
    AUTO_FREE char *meminfo = text;
    if (meminfo == NULL)
        return fail_set(err, -ENOENT, "there is no /proc/meminfo");
    double total = (double) procfs_field(meminfo, "MemTotal"),
           available = (double) procfs_field(meminfo, "MemAvailable");
    usage_event(look->events, look->config, "memusage", usage_percent(total - available, total));
    return 0;
}

static const beacon_row_t row = { .validate = memusage_validate, .look = memusage_look, .every_s = 5 };

PLUGIN(beacon, memusage, .doc = "Memory that is used, in percent: fires from a limit on.", .beacon = &row);
