/* gpus.c - grains num_gpus and gpus: graphics cards as lspci -vmm lists them. Nothing without lspci, or when
 * the configuration turns it off. */
#include <ctype.h>

#include "common/base/buf.h"
#include "common/host/proc.h"
#include "common/host/rootfs.h"
#include "common/base/str.h"
#include "salt/plugin.h"

/* A bus that hangs is not to hold up the minion. */
enum { TIMEOUT_MS = 5000 };

/* By lspci's class. */
static bool
is_gpu(const char *class)
{
    static const char *const classes[] = { "vga compatible controller", "3d controller",
                                           "display controller" };

    for (size_t i = 0; i < NELEMS(classes); i++) {
        if (strcasecmp(class, classes[i]) == 0)
            return true;
    }
    return false;
}

/* The first known maker that is a word of the name; "cirrus logic" can't be one, as in Salt. */
static const char *
vendor_of(const char *name)
{
    static const char *const known[] = { "nvidia",       "amd",    "ati",    "intel",
                                         "cirrus logic", "vmware", "matrox", "aspeed" };

    for (size_t i = 0; i < NELEMS(known); i++) {
        size_t len = strlen(known[i]);
        for (const char *at = name; *at != '\0'; at++) {
            bool starts = at == name || !isalnum((unsigned char) at[-1]);
            if (starts && strncasecmp(at, known[i], len) == 0 && !isalnum((unsigned char) at[len]) &&
                strchr(known[i], ' ') == NULL)
                return known[i];
        }
    }
    return "unknown";
}

/* At an empty line: adds the device if it is a graphics card. */
static void
end_device(json_t *device, json_t *gpus)
{
    const char *model = value_str(device, "Device", "");

    if (is_gpu(value_str(device, "Class", "")))
        json_array_append_new(gpus, json_pack("{s:s, s:s}", "vendor",
                                              vendor_of(value_str(device, "Vendor", "")), "model", model));
    json_object_clear(device);
}

static int
gpus_collect(grain_ctx_t *ctx, json_t *out, fail_t *err)
{
    bool wanted = value_bool(ctx->opts, "enable_lspci", true) &&
                  value_bool(ctx->opts, "enable_gpu_grains", true);
    AUTO_FREE char *lspci = wanted ? root_which(ctx->root, "lspci") : NULL;
    buf_auto_t printed = BUF_INIT;
    json_t *gpus = json_array();

    if (lspci != NULL) {
        AUTO_FREE char *program = root_path(ctx->root, lspci);
        if (proc_output(&printed, TIMEOUT_MS, program, "-vmm", NULL) == 0 && printed.len > 0) {
            /* A device is a block of lines `Key:      value`; an empty line ends it, and the end of the
             * output does, too. */
            json_auto_t *device = json_object();

            for (char *at = printed.data, *line; (line = line_next(&at)) != NULL;) {
                const char *value = line_value(line, ':');
                if (value != NULL)
                    json_object_set_new(device, line, value_utf8(value, strlen(value)));
                else if (line[0] == '\0')
                    end_device(device, gpus);
            }
            end_device(device, gpus);
        }
    }
    json_object_set_new(out, "num_gpus", json_integer((json_int_t) json_array_size(gpus)));
    json_object_set_new(out, "gpus", gpus);
    return 0;
}

static const char *const keys[] = { "num_gpus", "gpus", NULL };

PLUGIN(grain, gpus, .doc = "Graphics cards.", .collect = gpus_collect, .cost = GRAIN_SLOW, .keys = keys);
