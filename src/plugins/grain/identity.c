/* identity.c - grains about which minion this is, and whose: id, master, server_id, machine_id, localhost. */
#include <unistd.h>

#include "common/base/digest.h"
#include "common/host/rootfs.h"
#include "salt/plugin.h"

static int
grain_identity_collect(grain_ctx_t *ctx, json_t *out, fail_t *err)
{
    const char *id = value_str(ctx->opts, "id", "");
    json_t *master = value_get(ctx->opts, "master"), *domain = value_get(ctx->opts, "append_domain");
    char name[256] = "";

    json_object_set_new(out, "id", json_string(id));
    json_object_set_new(out, "master", master != NULL ? json_deep_copy(master) : json_string(""));

    /* The SHA-256 of the id, as a number, modulo 2**31: its last 31 bits. */
    AUTO_FREE char *hex = digest_bytes("sha256", id, strlen(id), NULL);
    unsigned long number = strtoul(hex + strlen(hex) - 8, NULL, 16) & 0x7fffffffU;
    json_object_set_new(out, "server_id", json_integer((json_int_t) number));

    if (gethostname(name, sizeof(name) - 1) == 0)
        json_object_set_new(out, "localhost", value_utf8(name, strlen(name)));
    if (value_truthy(domain))
        json_object_set(out, "append_domain", domain);

    /* systemd's file, else the one of D-Bus, which hosts without systemd have. */
    static const char *const paths[] = { "/etc/machine-id", "/var/lib/dbus/machine-id" };
    AUTO_FREE char *text = NULL;
    for (size_t i = 0; i < NELEMS(paths) && text == NULL; i++)
        text = root_read_trimmed(ctx->root, paths[i]);
    if (text != NULL)
        json_object_set_new(out, "machine_id", value_utf8(text, strlen(text)));

    return 0;
}

static const char *const keys[] = { "id",         "master", "server_id", "localhost", "append_domain",
                                    "machine_id", NULL };

PLUGIN(grain, identity, .doc = "Which minion this is and whose.", .collect = grain_identity_collect,
       .cost = GRAIN_CHEAP, .keys = keys);
