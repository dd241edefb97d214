/* efi.c - grains efi and efi-secure-boot, from the firmware's variables in /sys. */
#include <glob.h>

#include "common/base/fs.h"
#include "common/host/rootfs.h"
#include "salt/limits.h"
#include "salt/plugin.h"

/* Exactly one variable of that name, whose last byte is 1: so Salt tells it, too. */
static bool
secure_boot(const char *root, const char *folder)
{
    AUTO_FREE char *pattern = xasprintf("%s%s/SecureBoot-*/data", root, folder);
    glob_t found = { 0 };
    buf_auto_t data = BUF_INIT;
    bool enabled = false;

    if (glob(pattern, 0, NULL, &found) == 0 && found.gl_pathc == 1 &&
        fs_read(found.gl_pathv[0], LIMIT_HOST_FILE, &data, NULL) == 0)
        enabled = data.len > 0 && data.data[data.len - 1] == 1;
    globfree(&found);
    return enabled;
}

static int
efi_collect(grain_ctx_t *ctx, json_t *out, fail_t *err)
{
    /* The newer file system of variables, and the older one of /sys. */
    static const char *const folders[] = { "/sys/firmware/efi/efivars", "/sys/firmware/efi/vars" };
    const char *folder = NULL;

    for (size_t i = 0; i < NELEMS(folders) && folder == NULL; i++) {
        if (root_exists(ctx->root, folders[i]))
            folder = folders[i];
    }
    json_object_set_new(out, "efi", json_boolean(folder != NULL));
    json_object_set_new(out, "efi-secure-boot",
                        json_boolean(folder != NULL && secure_boot(ctx->root, folder)));
    return 0;
}

static const char *const keys[] = { "efi", "efi-secure-boot", NULL };

PLUGIN(grain, efi, .doc = "Whether the host was started by EFI, and with secure boot.",
       .collect = efi_collect, .cost = GRAIN_CHEAP, .keys = keys);
