/* selinux.c - grain selinux, where its tools are installed. */
#include "common/host/rootfs.h"
#include "common/base/str.h"
#include "salt/plugin.h"

/* Salt runs the two tools; the kernel's file says what they print. */
static int
selinux_collect(grain_ctx_t *ctx, json_t *out, fail_t *err)
{
    AUTO_FREE char *tool = root_which(ctx->root, "selinuxenabled"),
                   *shower = root_which(ctx->root, "getenforce");
    AUTO_FREE char *enforce = root_read_trimmed(ctx->root, "/sys/fs/selinux/enforce");

    if (tool == NULL)
        return 0;
    json_t *selinux = json_pack("{s:b}", "enabled", enforce != NULL);
    if (shower != NULL)
        json_object_set_new(selinux, "enforced",
                            json_string(enforce == NULL        ? "Disabled"
                                        : str_eq(enforce, "1") ? "Enforcing"
                                                               : "Permissive"));
    json_object_set_new(out, "selinux", selinux);
    return 0;
}

static const char *const keys[] = { "selinux", NULL };

PLUGIN(grain, selinux, .doc = "Whether SELinux is enabled and enforced.", .collect = selinux_collect,
       .cost = GRAIN_CHEAP, .keys = keys);
