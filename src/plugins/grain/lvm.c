/* lvm.c - grain lvm: volume groups and their logical volumes, where LVM is installed. */
#include "common/base/buf.h"
#include "common/host/proc.h"
#include "common/host/rootfs.h"
#include "common/base/str.h"
#include "salt/plugin.h"

enum { TIMEOUT_MS = 30000 };

/* Asks for the groups, then for the volumes of each. A group without volumes has an empty list. */
static int
lvm_collect(grain_ctx_t *ctx, json_t *out, fail_t *err)
{
    AUTO_FREE char *lvm = root_which(ctx->root, "lvm");
    buf_auto_t groups = BUF_INIT;

    if (lvm == NULL)
        return 0;
    AUTO_FREE char *program = root_path(ctx->root, lvm);
    json_t *found = json_object();
    proc_output(&groups, TIMEOUT_MS, program, "vgs", "-o", "vg_name", "--noheadings", NULL);
    for (char *at = groups.data, *line; (line = line_next(&at)) != NULL;) {
        const char *group = str_trim(line);
        buf_auto_t volumes = BUF_INIT;
        json_t *list = json_array();
        proc_output(&volumes, TIMEOUT_MS, program, "lvs", "-o", "lv_name", "--noheadings", group, NULL);
        for (char *next = volumes.data, *name; (name = line_next(&next)) != NULL;) {
            name = str_trim(name);
            json_array_append_new(list, value_utf8(name, strlen(name)));
        }
        json_object_set_new(found, group, list);
    }
    json_object_set_new(out, "lvm", found);
    return 0;
}

static const char *const keys[] = { "lvm", NULL };

PLUGIN(grain, lvm, .doc = "Volume groups and logical volumes.", .collect = lvm_collect, .cost = GRAIN_SLOW,
       .keys = keys);
