/* wtmp.c - beacon wtmp: logins and logouts, as /var/log/wtmp gets them: records of utmp(5), read from where
 * the last look ended. */
#include "plugins/lib/beacon/utmp.h"

static const utmp_kind_t kind = { "wtmp", "/var/log/wtmp", true };

static char *
wtmp_validate(const json_t *list, const json_t *config)
{
    return utmp_validate(&kind, config);
}

static int
wtmp_look(beacon_look_t *look, fail_t *err)
{
    return utmp_look(&kind, look, err);
}

static void *
wtmp_open(beacon_look_t *look, fail_t *err)
{
    return utmp_open(&kind, look, err);
}

static const beacon_row_t row = { .validate = wtmp_validate,
                                  .look = wtmp_look,
                                  .edges = true,
                                  .open = wtmp_open,
                                  .fd = utmp_fd,
                                  .close = utmp_close,
                                  .again_ms = utmp_again_ms };

PLUGIN(beacon, wtmp, .doc = "Logins and logouts: fires each record, as it is written.", .beacon = &row);
