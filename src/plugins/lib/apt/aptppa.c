/* aptppa.c - "ppa:OWNER/NAME", Ubuntu's short form of a source: the line that it stands for, and what
 * Launchpad knows of it. */
#include "common/base/str.h"
#include "plugins/lib/apt/aptrepo.h"

/* By the grain `os`. */
bool
apt_is_ppa_host(call_ctx_t *ctx)
{
    static const char *const hosts[] = { "Ubuntu", "Mint", "neon" };

    for (size_t i = 0; i < NELEMS(hosts); i++) {
        if (str_eq(value_str(ctx_grains(ctx), "os", ""), hosts[i]))
            return true;
    }
    return false;
}

/* Owner and name behind "ppa:". False with *err. Both NEW. */
static bool
split_ppa(const char *repo, char **ret_owner, char **ret_name, fail_t *err)
{
    const char *rest = repo + strlen("ppa:"), *slash = strchr(rest, '/');

    if (slash == NULL) {
        fail_kind(err, FAIL_COMMAND, -EINVAL,
                  "Unable to get PPA info from argument. Expected format \"<PPA_OWNER>/<PPA_NAME>\" (e.g. "
                  "saltstack/salt) not found.  Received '%s' instead.",
                  rest);
        return false;
    }
    *ret_owner = xstrndup(rest, (size_t) (slash - rest));
    *ret_name = xstrdup(slash + 1);
    return true;
}

/* `auth` ("user:password") makes it a private one. NEW, or NULL with *err. */
char *
apt_ppa_line(call_ctx_t *ctx, const char *repo, const char *auth, fail_t *err)
{
    const char *dist = value_str(ctx_grains(ctx), "oscodename", "");
    AUTO_FREE char *owner = NULL;
    AUTO_FREE char *name = NULL;

    if (!split_ppa(repo, &owner, &name, err))
        return NULL;
    if (auth != NULL)
        return xasprintf("deb https://%s@private-ppa.launchpad.net/%s/%s/ubuntu %s main", auth, owner, name,
                         dist);
    return xasprintf("deb http://ppa.launchpad.net/%s/%s/ubuntu %s main", owner, name, dist);
}

/* Asks Launchpad. NEW, or NULL with *err. */
json_t *
apt_ppa_info(call_ctx_t *ctx, const char *repo, fail_t *err)
{
    AUTO_FREE char *owner = NULL;
    AUTO_FREE char *name = NULL;
    json_auto_t *answer = NULL;

    if (!split_ppa(repo, &owner, &name, err))
        return NULL;
    json_auto_t *list = json_pack("[o]",
                                  value_fmt("https://launchpad.net/api/1.0/~%s/+archive/%s", owner, name));
    json_auto_t *kwargs = json_pack("{s:b, s:s, s:{s:s}}", "decode", 1, "decode_type", "json", "header_dict",
                                    "Accept", "application/json");
    if (ctx_call(ctx, "http.query", list, kwargs, &answer, err) < 0)
        return NULL;
    json_t *info = value_get(answer, "dict");
    if (info == NULL)
        fail_kind(err, FAIL_COMMAND, -ENOENT, "Launchpad does not know about %s/%s: %s", owner, name,
                  value_str(answer, "error", ""));
    return json_incref(info);
}
