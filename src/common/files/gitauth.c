/* gitauth.c - see gitauth.h. Secrets reach git through its environment only (a credential helper reads them
 * there); the environment is otherwise stripped of GIT_ variables, so that the caller's settings have no
 * effect. */
#include "common/files/gitauth.h"

#include <ctype.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/str.h"
#include "salt/value.h"

enum { OWN_MAX = 8, LOGIN_MAX = 7 };

/* Credential helper that prints user and password. They are in git's environment, which other users can't
 * read. */
#define HELPER                                                                                               \
    "!f() { test \"$1\" = get && printf 'username=%s\\npassword=%s\\n' \"$HALITE_GIT_USER\" "                \
    "\"$HALITE_GIT_PASSWORD\"; }; f"

/* Refuses credentials that could not be used, or would go over the network in the clear. */
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

/* ---- user and password ------------------------------------------------------------------------ */

char *
git_decoded(const char *text)
{
    buf_auto_t out = BUF_INIT;

    for (const char *c = text; *c != '\0'; c++) {
        unsigned byte;
        if (c[0] == '%' && isxdigit((unsigned char) c[1]) && isxdigit((unsigned char) c[2]) &&
            sscanf(c + 1, "%2x", &byte) == 1) {
            buf_putc(&out, (char) byte);
            c += 2;
        } else {
            buf_putc(&out, *c);
        }
    }
    return xstrdup(buf_str(&out));
}

/* Takes user and password out of an URL of http: git would show them in process lists and messages. */
void
git_login_of(git_login_t *self, const char *url)
{
    const char *at = strstr(url, "://"), *host = at != NULL ? at + strlen("://") : url;
    size_t n = strcspn(host, "/?#");
    const char *end = memrchr(host, '@', n),
               *colon = end != NULL ? memchr(host, ':', (size_t) (end - host)) : NULL;

    *self = (git_login_t) GIT_LOGIN_INIT;
    /* A name alone is not a secret; in other protocols it is part of the address. */
    if ((!str_starts(url, "http://") && !str_starts(url, "https://")) || colon == NULL) {
        self->url = xstrdup(url);
        return;
    }
    AUTO_FREE char *user = xstrndup(host, (size_t) (colon - host));
    AUTO_FREE char *password = xstrndup(colon + 1, (size_t) (end - colon - 1));
    self->url = xasprintf("%.*s%s", (int) (host - url), url, end + 1);
    self->user = git_decoded(user);
    self->password = git_decoded(password);
}

void
git_login_free(git_login_t *self)
{
    free(self->url);
    free(self->user);
    if (self->password != NULL)
        explicit_bzero(self->password, strlen(self->password));
    free(self->password);
    *self = (git_login_t) GIT_LOGIN_INIT;
}

char **
git_login_env(const git_login_t *self)
{
    char **env = xcalloc(LOGIN_MAX + 1, sizeof(*env));
    size_t n = 0;

    if (self->password == NULL)
        return env;
    const char *host = strstr(self->url, "://");
    size_t len = host != NULL ? (size_t) (host - self->url) + 3 + strcspn(host + 3, "/?#") : 0;
    /* Only this host gets them, whatever the remote redirects to; no other helper is asked. */
    env[n++] = xstrdup("GIT_CONFIG_COUNT=2");
    env[n++] = xasprintf("GIT_CONFIG_KEY_0=credential.%.*s.helper", (int) len, self->url);
    env[n++] = xstrdup("GIT_CONFIG_VALUE_0=");
    env[n++] = xasprintf("GIT_CONFIG_KEY_1=credential.%.*s.helper", (int) len, self->url);
    env[n++] = xstrdup("GIT_CONFIG_VALUE_1=" HELPER);
    env[n++] = xasprintf("HALITE_GIT_USER=%s", self->user);
    env[n] = xasprintf("HALITE_GIT_PASSWORD=%s", self->password);
    return env;
}

/* ---- gitfs and the pillar --------------------------------------------------------------------- */

/* The login from the settings, or else from the address. NEW environment. */
static char **
login_of_settings(const json_t *conf, const char *url)
{
    const char *user = value_str(conf, "user", "");
    git_login_t login;

    git_login_of(&login, url);
    if (*user != '\0') {
        free(login.user);
        free(login.password);
        login.user = xstrdup(user);
        login.password = xstrdup(value_str(conf, "password", ""));
    }
    char **env = git_login_env(&login);
    git_login_free(&login);
    return env;
}

char **
git_environment(const json_t *conf, const char *url, const char *index)
{
    size_t n = 0, kept = 0;

    while (environ[n] != NULL)
        n++;
    char **env = xcalloc(n + OWN_MAX + LOGIN_MAX, sizeof(*env));
    for (size_t i = 0; i < n; i++) {
        if (!str_starts(environ[i], "GIT_") && !str_starts(environ[i], "LC_") &&
            !str_starts(environ[i], "LANG"))
            env[kept++] = xstrdup(environ[i]);
    }
    env[kept++] = xstrdup("GIT_TERMINAL_PROMPT=0");
    env[kept++] = xstrdup("LC_ALL=C");
    /* Forbid ext::, whose addresses are commands, whatever git's own configuration says. */
    env[kept++] = xstrdup("GIT_ALLOW_PROTOCOL=file:git:http:https:ssh");

    const char *key = value_str(conf, "privkey", "");
    AUTO_FREE char *quoted = str_shell_quote(key);
    env[kept++] = *key != '\0'
                      ? xasprintf("GIT_SSH_COMMAND=ssh -oBatchMode=yes -oIdentitiesOnly=yes -i %s", quoted)
                      : xstrdup("GIT_SSH_COMMAND=ssh -oBatchMode=yes");

    if (index != NULL)
        env[kept++] = xasprintf("GIT_INDEX_FILE=%s", index);
    if (getenv("GIT_CONFIG_NOSYSTEM") != NULL)
        env[kept++] = xstrdup("GIT_CONFIG_NOSYSTEM=1");
    if (!value_bool(conf, "ssl_verify", true))
        env[kept++] = xstrdup("GIT_SSL_NO_VERIFY=1");
    char **login = login_of_settings(conf, url);
    for (char **e = login; *e != NULL; e++)
        env[kept++] = *e;
    free(login);
    return env;
}
