/* sharedsecret.c - the system `sharedsecret`: a program before the master has checked who somebody is, and
 * shows that by a secret that the master knows. */
#include "auth/system.h"
#include "salt/value.h"

int
system_sharedsecret(const login_t *login, json_t *found, fail_t *err)
{
    const char *secret = value_str(login->options, "sharedsecret", "");

    if (*secret == '\0')
        return fail_set(err, -ENOENT, "the option sharedsecret is not set");
    return auth_same(login->password, secret) ? 1 : 0;
}
