/* initiators.c - grains iscsi_iqn, nvme_nqn and fc_wwn; each only when its option asks for it. */
#include "common/host/rootfs.h"
#include "common/base/str.h"
#include "salt/plugin.h"

/* Collects the text behind `prefix` on each line that starts with it; the whole line with `whole`. */
static json_t *
initiators_lines_of(const char *root, const char *path, const char *prefix, bool whole)
{
    AUTO_FREE char *text = root_read(root, path);
    json_t *list = json_array();

    for (char *at = text, *line; (line = line_next(&at)) != NULL;) {
        line = str_trim(line);
        if (str_starts(line, prefix)) {
            const char *value = whole ? line : line + strlen(prefix);
            json_array_append_new(list, value_utf8(value, strlen(value)));
        }
    }
    return list;
}

/* Comments and other settings of the file don't begin so. */
static json_t *
iscsi_iqn(const char *root)
{
    return initiators_lines_of(root, "/etc/iscsi/initiatorname.iscsi", "InitiatorName=", false);
}

/* The file has nothing but the name, of which the prefix is a part. */
static json_t *
nvme_nqn(const char *root)
{
    return initiators_lines_of(root, "/etc/nvme/hostnqn", "nqn.", true);
}

/* Each adapter of the host has a port with its own name. */
static json_t *
fc_wwn(const char *root)
{
    char **hosts = root_list(root, "/sys/class/fc_host");
    json_t *list = json_array();

    for (size_t i = 0; hosts[i] != NULL; i++) {
        AUTO_FREE char *path = xasprintf("/sys/class/fc_host/%s/port_name", hosts[i]);
        json_t *names = initiators_lines_of(root, path, "0x", false);
        json_array_extend(list, names);
        json_decref(names);
    }
    strv_free(hosts);
    return list;
}

static int
initiators_collect(grain_ctx_t *ctx, json_t *out, fail_t *err)
{
    /* Salt leaves the files of networks alone that most hosts don't have, unless told otherwise. */
    static const struct {
        const char *key, *option;
        json_t *(*read)(const char *root);
    } rows[] = {
        { "iscsi_iqn", "iscsi_grains", iscsi_iqn },
        { "nvme_nqn", "nvme_grains", nvme_nqn },
        { "fc_wwn", "fibre_channel_grains", fc_wwn },
    };

    for (size_t i = 0; i < NELEMS(rows); i++) {
        if (value_truthy(value_get(ctx->opts, rows[i].option)))
            json_object_set_new(out, rows[i].key, rows[i].read(ctx->root));
    }
    return 0;
}

static const char *const keys[] = { "iscsi_iqn", "nvme_nqn", "fc_wwn", NULL };

PLUGIN(grain, initiators, .doc = "Names of this host in iSCSI, NVMe and Fibre Channel networks.",
       .collect = initiators_collect, .cost = GRAIN_CHEAP, .keys = keys);
