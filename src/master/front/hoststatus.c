/* hoststatus.c - the status line for the service manager (sd_notify STATUS=), shown by systemctl status.
 * Written once per second, only when a manager listens. */
#include "common/base/notify.h"
#include "master/front/part.h"

#define STATUS_MS 1000

static void
hoststatus_tick(front_t *front, int64_t now_ms)
{
    if (!notify_heard())
        return;
    notify_status("%zu of %zu minions connected, %zu keys wait (salt-key -L); ports %d, %d and %d at %s",
                  peers_present(front->peers), peers_count(front->peers, KEY_ACCEPTED),
                  peers_count(front->peers, KEY_PENDING), (int) conf_int(front->conf, "publish_port"),
                  (int) conf_int(front->conf, "ret_port"), (int) conf_int(front->conf, "hello_port"),
                  conf_str(front->conf, "interface"));
}

const front_part_t part_hoststatus = { .name = "hoststatus", .tick = hoststatus_tick, .every_ms = STATUS_MS };
