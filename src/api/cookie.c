/* cookie.c - see cookie.h. */
#include "api/cookie.h"

#include "api/api.h"

static char *
cookie_text(const api_t *api, const char *id, long age_s)
{
    time_t at = time(NULL) + age_s;
    struct tm tm;
    char when[64];

    (void) gmtime_r(&at, &tm);
    (void) strftime(when, sizeof(when), "%a, %d %b %Y %H:%M:%S GMT", &tm);
    return xasprintf(COOKIE_NAME "=%s; expires=%s; Max-Age=%ld; Path=%s/; HttpOnly; SameSite=Strict%s", id,
                     when, age_s > 0 ? age_s : 0, api->set->prefix, api->set->tls ? "; Secure" : "");
}

char *
cookie_of(const api_t *api, const char *id)
{
    return cookie_text(api, id, SESSION_IDLE_S);
}

char *
cookie_over(const api_t *api)
{
    return cookie_text(api, "over", -365L * 24 * 3600);
}
