/* hardware.c - grains about the machine, from its device tree or its firmware (DMI), of which the latter
 * wins. Root alone may read serial numbers; what can't be read is left out. */
#include <ctype.h>

#include "common/host/rootfs.h"
#include "common/base/str.h"
#include "salt/plugin.h"

#define DMI         "/sys/class/dmi/id"
#define DEVICE_TREE "/proc/device-tree"

/* Firmware may hold any bytes; only UTF-8 is fit for JSON. */
static void
hardware_set_text(json_t *out, const char *key, const char *text)
{
    json_object_set_new(out, key, value_utf8(text, strlen(text)));
}

/* Firmware comes after the device tree, and so overwrites what both have. */
static int
hardware_collect(grain_ctx_t *ctx, json_t *out, fail_t *err)
{
    if (root_is_dir(ctx->root, DEVICE_TREE)) {
        /* "maker,model" or just "model"; the serial number in either of two places, the second one better. */
        const char *root = ctx->root;
        static const char *const serials[] = { DEVICE_TREE "/system-id", DEVICE_TREE "/serial-number" };
        AUTO_FREE char *model = root_read_trimmed(root, DEVICE_TREE "/model");
        if (!str_empty(model)) {
            char *comma = strchr(model, ',');
            hardware_set_text(out, "productname", comma != NULL ? comma + 1 : model);
            if (comma != NULL) {
                *comma = '\0';
                hardware_set_text(out, "manufacturer", model);
            }
        }
        for (size_t i = 0; i < NELEMS(serials); i++) {
            AUTO_FREE char *serial = root_read_trimmed(root, serials[i]);
            if (!str_empty(serial))
                hardware_set_text(out, "serialnumber", serial);
        }
    }
    if (root_exists(ctx->root, DMI)) {
        /* Reads the firmware's files. */
        static const struct {
            const char *key, *file;
        } rows[] = {
            { "biosversion", DMI "/bios_version" }, { "biosvendor", DMI "/bios_vendor" },
            { "boardname", DMI "/board_name" },     { "productname", DMI "/product_name" },
            { "manufacturer", DMI "/sys_vendor" },  { "biosreleasedate", DMI "/bios_date" },
            { "uuid", DMI "/product_uuid" },        { "serialnumber", DMI "/product_serial" },
        };
        for (size_t i = 0; i < NELEMS(rows); i++) {
            AUTO_FREE char *text = root_read_trimmed(ctx->root, rows[i].file);
            if (text == NULL)
                continue;
            /* Firmware differs in the case of it; Salt has it in lower case. */
            for (char *c = text; str_eq(rows[i].key, "uuid") && *c != '\0'; c++)
                *c = (char) tolower((unsigned char) *c);
            hardware_set_text(out, rows[i].key, text);
        }
    }
    return 0;
}

static const char *const keys[] = { "biosversion", "biosvendor",   "boardname",
                                    "productname", "manufacturer", "biosreleasedate",
                                    "uuid",        "serialnumber", NULL };

PLUGIN(grain, hardware, .doc = "Maker, model, serial number and firmware of the machine.",
       .collect = hardware_collect, .cost = GRAIN_CHEAP, .keys = keys);
