/* swapusage.c - beacon swapusage: swap space that is used, in percent, of SwapTotal in /proc/meminfo; a
 * machine without swap space has 0. */
#include "common/base/str.h"
#include "common/host/procfs.h"
#include "common/host/rootfs.h"
#include "plugins/lib/beacon/usage.h"
#include "salt/plugin.h"

static char *
swapusage_validate(const json_t *list, const json_t *config)
{
    return usage_validate("swapusage", config);
}

static int
swapusage_look(beacon_look_t *look, fail_t *err)
{
    char *text = NULL;
    if (root_text(look->root, "/proc/meminfo", &text, err) < 0)
        return err->code;
    AUTO_FREE char *meminfo = text;
    if (meminfo == NULL)
        return fail_set(err, -ENOENT, "there is no /proc/meminfo");
    double total = (double) procfs_field(meminfo, "SwapTotal"),
           left = (double) procfs_field(meminfo, "SwapFree");
    usage_event(look->events, look->config, "swapusage", usage_percent(total - left, total));
    return 0;
}

static const beacon_row_t row = { .validate = swapusage_validate, .look = swapusage_look, .every_s = 5 };

PLUGIN(beacon, swapusage, .doc = "Swap space that is used, in percent: fires from a limit on.",
       .beacon = &row);
