/* btmp.c - beacon btmp: logins that failed, as /var/log/btmp gets them: records of utmp(5), which a watch on
 * the file makes known at once. Users, times and defaults of the configuration are those of wtmp
 * (plugins/lib/beacon/utmp.h). */
#include "plugins/lib/beacon/utmp.h"

static const utmp_kind_t kind = { "btmp", "/var/log/btmp", false };

static char *
btmp_validate(const json_t *list, const json_t *config)
{
    return utmp_validate(&kind, config);
}

static int
btmp_look(beacon_look_t *look, fail_t *err)
{
    return utmp_look(&kind, look, err);
}

static void *
btmp_open(beacon_look_t *look, fail_t *err)
{
    return utmp_open(&kind, look, err);
}

static const beacon_row_t row = { .validate = btmp_validate,
                                  .look = btmp_look,
                                  .edges = true,
                                  .open = btmp_open,
                                  .fd = utmp_fd,
                                  .close = utmp_close,
                                  .again_ms = utmp_again_ms };

PLUGIN(beacon, btmp, .doc = "Logins that failed: fires each record, as it is written.", .beacon = &row);
