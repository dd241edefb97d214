/* cpu.c - beacon cpu: the share of time in which the processors work, between two looks, of the first line of
 * /proc/stat (proc(5)). The first look has nothing to compare with and tells nothing. */
#include "common/base/str.h"
#include "common/host/rootfs.h"
#include "plugins/lib/beacon/usage.h"
#include "salt/plugin.h"

static char *
cpu_validate(const json_t *list, const json_t *config)
{
    return usage_validate("cpu", config);
}

static int
cpu_look(beacon_look_t *look, fail_t *err)
{
    char *stat = NULL;
    unsigned long long v[8];
    if (root_text(look->root, "/proc/stat", &stat, err) < 0)
        return err->code;
    AUTO_FREE char *text = stat;
    if (text == NULL || sscanf(text, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &v[0], &v[1], &v[2],
                               &v[3], &v[4], &v[5], &v[6], &v[7]) != 8)
        return fail_set(err, -EIO, "/proc/stat is missing, or has no line of all processors");
    /* Columns: user, nice, system, idle, iowait, irq, softirq, steal. Waiting for disks is idle time. */
    double all = 0, idle = (double) (v[3] + v[4]);
    for (size_t i = 0; i < NELEMS(v); i++)
        all += (double) v[i];
    double all_before = value_num(look->context, "all", -1),
           idle_before = value_num(look->context, "idle", 0);
    json_object_set_new(look->context, "all", json_real(all));
    json_object_set_new(look->context, "idle", json_real(idle));
    if (all_before >= 0 && all > all_before)
        usage_event(look->events, look->config, "cpu",
                    usage_percent(all - all_before - (idle - idle_before), all - all_before));
    return 0;
}

static const beacon_row_t row = { .validate = cpu_validate, .look = cpu_look, .every_s = 5 };

PLUGIN(beacon, cpu, .doc = "Time in which processors work, in percent: fires from a limit on.",
       .beacon = &row);
