/* gitauth.c - see gitauth.h. */
#include "common/files/gitauth.h"

#include <unistd.h>

#include "common/base/str.h"
#include "salt/value.h"

enum { OWN_MAX = 13 };

/* What git asks for user and password: they stand in its environment, which other users can't read. */
#define HELPER                                                                                               \
    "!f() { test \"$1\" = get && printf 'username=%s\\npassword=%s\\n' \"$HALITE_GIT_USER\" "                \
    "\"$HALITE_GIT_PASSWORD\"; }; f"

int
git_auth_check(const json_t *conf, const char *url, fail_t *err)
{
    bool user = *value_str(conf, "user", "") != '\0', password = *value_str(conf, "password", "") != '\0';

    if (user != password)
        return fail_set(err, -EINVAL, "remote '%s': user and password are set together, or neither", url);
    if (user && str_starts(url, "http://") && !value_bool(conf, "insecure_auth", false))
        return fail_set(err, -EINVAL,
                        "remote '%s': user and password would be sent in the clear; use https, or set "
                        "insecure_auth",
                        url);
    if (user && !str_starts(url, "http"))
        return fail_set(err, -EINVAL, "remote '%s': user and password are for https; ssh takes privkey", url);
    if (*value_str(conf, "passphrase", "") != '\0')
        return fail_set(
            err, -EINVAL,
            "remote '%s': a key with a passphrase can't be used: give it to ssh-agent, or use one "
            "without",
            url);
    return 0;
}

static char *
ssh_command(const char *key)
{
    AUTO_FREE char *quoted = str_shell_quote(key);

    return *key != '\0' ? xasprintf("GIT_SSH_COMMAND=ssh -oBatchMode=yes -oIdentitiesOnly=yes -i %s", quoted)
                        : xstrdup("GIT_SSH_COMMAND=ssh -oBatchMode=yes");
}

char **
git_environment(const json_t *conf)
{
    const char *user = value_str(conf, "user", "");
    size_t n = 0, kept = 0;

    while (environ[n] != NULL)
        n++;
    char **env = xcalloc(n + OWN_MAX, sizeof(*env));
    for (size_t i = 0; i < n; i++) {
        if (!str_starts(environ[i], "GIT_") && !str_starts(environ[i], "LC_") &&
            !str_starts(environ[i], "LANG"))
            env[kept++] = xstrdup(environ[i]);
    }
    env[kept++] = xstrdup("GIT_TERMINAL_PROMPT=0");
    env[kept++] = xstrdup("LC_ALL=C");
    /* Not ext::, whose addresses are commands, whatever git's own configuration says. */
    env[kept++] = xstrdup("GIT_ALLOW_PROTOCOL=file:git:http:https:ssh");
    env[kept++] = ssh_command(value_str(conf, "privkey", ""));
    if (getenv("GIT_CONFIG_NOSYSTEM") != NULL)
        env[kept++] = xstrdup("GIT_CONFIG_NOSYSTEM=1");
    if (!value_bool(conf, "ssl_verify", true))
        env[kept++] = xstrdup("GIT_SSL_NO_VERIFY=1");
    if (*user == '\0')
        return env;
    env[kept++] = xstrdup("GIT_CONFIG_COUNT=1");
    env[kept++] = xstrdup("GIT_CONFIG_KEY_0=credential.helper");
    env[kept++] = xstrdup("GIT_CONFIG_VALUE_0=" HELPER);
    env[kept++] = xasprintf("HALITE_GIT_USER=%s", user);
    env[kept] = xasprintf("HALITE_GIT_PASSWORD=%s", value_str(conf, "password", ""));
    return env;
}
