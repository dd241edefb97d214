/* mdadm.c - grain mdadm: software RAID devices. */
#include "common/host/rootfs.h"
#include "common/base/str.h"
#include "salt/plugin.h"

/* A device is what stands before " : " in /proc/mdstat; two other lines look alike. */
static int
mdadm_collect(grain_ctx_t *ctx, json_t *out, fail_t *err)
{
    AUTO_FREE char *text = root_read(ctx->root, "/proc/mdstat");
    AUTO_FREE const char **names = NULL;
    size_t n = 0;

    if (text == NULL)
        return 0;
    for (char *at = text, *line; (line = line_next(&at)) != NULL;) {
        char *colon = strstr(line, " : ");
        if (colon == NULL || str_starts(line, "Personalities : ") || str_starts(line, "unused devices:"))
            continue;
        *colon = '\0';
        names = xrealloc(names, (n + 1) * sizeof(*names));
        names[n++] = line;
    }
    json_t *devices = json_array();
    if (n > 0)
        qsort(names, n, sizeof(*names), str_by_text);
    for (size_t i = 0; i < n; i++)
        json_array_append_new(devices, value_utf8(names[i], strlen(names[i])));
    json_object_set_new(out, "mdadm", devices);
    return 0;
}

static const char *const keys[] = { "mdadm", NULL };

PLUGIN(grain, mdadm, .doc = "Software RAID devices.", .collect = mdadm_collect, .cost = GRAIN_CHEAP,
       .keys = keys);
