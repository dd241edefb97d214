/* network.c - runner `network`: wakes machines by their hardware addresses. A magic packet is six bytes 0xff
 * and sixteen times the address, sent by UDP broadcast. */
#include <arpa/inet.h>
#include <ctype.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "runners/lib/ask.h"
#include "salt/plugin.h"

enum {
    MAC_BYTES = 6,
    MAC_REPEATS = 16,
    MAC_PLAIN = 12,
    MAC_SPLIT = 17,
    PACKET = MAC_BYTES * (1 + MAC_REPEATS)
};

static int
runners_network_hex_digit(char c)
{
    const char *digits = "0123456789abcdef",
               *at = c != '\0' ? strchr(digits, tolower((unsigned char) c)) : NULL;

    return at != NULL ? (int) (at - digits) : -1;
}

/* Sends one packet. 0, or negative with *err. */
static int
runners_network_wake(const char *mac, const json_t *args, fail_t *err)
{
    uint8_t packet[PACKET], address[MAC_BYTES];
    const char *bcast = value_str(args, "bcast", "");
    json_int_t port = value_int(args, "destport", 0);
    struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons((uint16_t) port) };
    int one = 1;

    /* "080027136977", or with one separator throughout: "08-00-27-13-69-77". */
    size_t len = strlen(mac), step = len == MAC_SPLIT ? 3 : 2;

    if (len != MAC_PLAIN && len != MAC_SPLIT)
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "Invalid MAC address: %s", mac);
    for (size_t i = 0; i < MAC_BYTES; i++) {
        int high = runners_network_hex_digit(mac[i * step]),
            low = runners_network_hex_digit(mac[i * step + 1]);
        if (high < 0 || low < 0 || (step == 3 && i > 0 && mac[i * step - 1] != mac[2]))
            return fail_kind(err, FAIL_INVOCATION, -EINVAL, "Invalid MAC address: %s", mac);
        address[i] = (uint8_t) (high << 4 | low);
    }

    if (port < 1 || port > UINT16_MAX || inet_pton(AF_INET, bcast, &to.sin_addr) != 1)
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "%s port %lld is not an IPv4 address and port", bcast,
                         (long long) port);
    memset(packet, 0xff, MAC_BYTES);
    for (size_t i = 0; i < MAC_REPEATS; i++)
        memcpy(packet + MAC_BYTES * (i + 1), address, MAC_BYTES);
    AUTO_FD fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_BROADCAST, &one, sizeof(one)) < 0 ||
        sendto(fd, packet, sizeof(packet), 0, (struct sockaddr *) &to, sizeof(to)) < 0)
        return fail_set(err, -errno, "waking %s through %s: %s", mac, bcast, strerror(errno));
    return 0;
}

static int
runners_network_wol(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = json_true();
    return runners_network_wake(value_str(args, "mac", ""), args, err);
}

static int
network_wollist(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    buf_auto_t text = BUF_INIT;
    int rc = fs_read(value_str(args, "maclist", ""), LIMIT_FILE_READ, &text, err);

    if (rc < 0) {
        fail_prefix(err, "Failed to open the MAC file. Error: ");
        return rc;
    }
    *ret_value = json_array();
    char **lines = str_split(buf_str(&text), "\r\n", true);
    for (char **line = lines; *line != NULL && rc == 0; line++) {
        const char *mac = str_trim(*line);
        AUTO_FREE char *note = xasprintf("Waking up %s", mac);
        if (mac[0] == '\0')
            continue;
        rc = runners_network_wake(mac, args, err);
        if (rc == 0)
            rc = ask_progress(ctx, note, err);
        json_array_append_new(*ret_value, json_string(mac));
    }
    strv_free(lines);
    return rc;
}

static int
network_wolmatch(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *fields = json_pack("{s:O, s:O}", "tgt", value_get(args, "tgt"), "tgt_type",
                               value_get(args, "tgt_type"));
    json_auto_t *reply = ask_master_with(ctx, "grains", &fields, err);
    const char *id;
    json_t *grains;

    if (reply == NULL)
        return -EIO;
    *ret_value = json_array();
    json_object_foreach (value_get(reply, "grains"), id, grains) {
        /* Wakes one minion's interfaces; their addresses are returned. */
        const char *name;
        json_t *mac;

        json_object_foreach (value_get(grains, "hwaddr_interfaces"), name, mac) {
            if (strcmp(name, "lo") == 0 || !json_is_string(mac))
                continue;
            int rc = runners_network_wake(json_string_value(mac), args, err);
            if (rc < 0)
                return rc;
            json_array_append(*ret_value, mac);
        }
    }
    return 0;
}

#define ARG_BROADCAST                                                                                        \
    ARG("bcast", ARG_STR, "\"255.255.255.255\"", "Broadcast address"),                                       \
        ARG("destport", ARG_INT, "9", "UDP port")

static const arg_t wol_args[] = { ARG("mac", ARG_STR, ARG_REQUIRED, "Hardware address"), ARG_BROADCAST,
                                  ARGS_END };
static const arg_t wollist_args[] = {
    ARG("maclist", ARG_STR, ARG_REQUIRED, "File with one address in each line"), ARG_BROADCAST, ARGS_END
};
static const arg_t wolmatch_args[] = { ARG("tgt", ARG_ANY, ARG_REQUIRED, "Which minions"),
                                       ARG("tgt_type", ARG_STR, "\"glob\"", "How tgt is meant"),
                                       ARG_BROADCAST, ARGS_END };

static const func_t funcs[] = {
    { "wol", runners_network_wol, wol_args, FN_ACCESS_ADMIN,
      "Send a \"Magic Packet\" that wakes up one machine." CLI_EXAMPLE(
          "salt-run network.wol 08-00-27-13-69-77\n    salt-run network.wol 080027136977 255.255.255.255 "
          "7\n    salt-run network.wol 08:00:27:13:69:77 255.255.255.255 7") },
    { "wollist", network_wollist, wollist_args, FN_ACCESS_ADMIN,
      "Send a \"Magic Packet\" to each machine of a list. The file has one MAC address in each "
      "line." CLI_EXAMPLE("salt-run network.wollist '/path/to/maclist'\n    salt-run network.wollist "
                          "'/path/to/maclist' 255.255.255.255 7") },
    { "wolmatch", network_wolmatch, wolmatch_args, FN_ACCESS_ADMIN,
      "Send a \"Magic Packet\" to the minions that match, by the hardware addresses in their last known "
      "grains." CLI_EXAMPLE(
          "salt-run network.wolmatch minion_id\n    salt-run network.wolmatch 192.168.0.0/16 "
          "tgt_type='ipcidr' bcast=255.255.255.255 destport=7") },
};

PLUGIN(runner, network, .doc = "Wake machines up", FUNCS(funcs));
