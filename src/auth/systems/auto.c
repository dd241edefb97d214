/* auto.c - the system `auto`: whoever comes is let in. Salt has it for its tests. */
#include "auth/system.h"
#include "common/base/str.h"

int
system_auto(const login_t *login, json_t *found, fail_t *err)
{
    if (str_eq(getenv("HALITE_AUTH_AUTO"), "1"))
        return 1;
    (void) fail_set(
        err, -EPERM,
        "the system auto lets everybody in, without a password: it is for tests alone, where the master's "
        "environment has HALITE_AUTH_AUTO=1");
    return 0;
}
