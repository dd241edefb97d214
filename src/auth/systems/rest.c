/* rest.c - the system `rest`: a web service is sent name and password as a form, and says 200 for a right
 * one. Its answer may be a list of rules in JSON, which the user has besides those of the configuration. It
 * is asked once, at the login. */
#include "auth/system.h"
#include "common/base/buf.h"
#include "common/base/str.h"
#include "plugins/lib/http/web.h"
#include "salt/value.h"

#define ANSWER_MAX (32 * 1024) /* bytes: the rules go to the master in one message */

/* A form's value: RFC 3986's unreserved characters as they are. */
static void
rest_field(buf_t *out, const char *name, const char *value)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~";

    buf_printf(out, "%s%s=", out->len > 0 ? "&" : "", name);
    for (; *value != '\0'; value++)
        if (strchr(plain, *value) != NULL)
            buf_putc(out, *value);
        else
            buf_printf(out, "%%%02X", (unsigned) (unsigned char) *value);
}

/* Sends the form. The status, or negative with *err. */
static int
rest_post(const login_t *login, const char *url, buf_t *answer, fail_t *err)
{
    web_auto_t web = WEB_INIT;
    buf_auto_t form = BUF_INIT;
    int rc = web_open(&web, CURLPROTO_HTTP | CURLPROTO_HTTPS, 0, answer, err);

    if (rc < 0)
        return rc;
    rest_field(&form, "username", login->user);
    rest_field(&form, "password", login->password);
    web_text(&web, CURLOPT_URL, url);
    web_seconds(&web, CURLOPT_TIMEOUT_MS, DEADLINE_S - 5);
    web_limit(&web, ANSWER_MAX);
    web_send(&web, &form);
    rc = web_run(&web, err);
    explicit_bzero(form.data, form.len);
    if (rc < 0)
        return rc;
    if (web.trouble != NULL)
        return fail_set(err, -EIO, "%s: %s", url, web.trouble);
    return (int) web.status;
}

int
system_rest(const login_t *login, json_t *found, fail_t *err)
{
    const char *url = value_str(login->config, "url", "");
    buf_auto_t answer = BUF_INIT;

    if (*url == '\0')
        return fail_set(err, -EINVAL, "external_auth:rest has no ^url");
    int status = rest_post(login, url, &answer, err);
    if (status != 200 && status >= 0)
        (void) fail_set(err, -EACCES, "%s answers with status %d", url, status);
    if (status != 200)
        return status < 0 ? status : 0;
    json_auto_t *rules = value_parse_peer(buf_str(&answer), answer.len, ANSWER_MAX, url, NULL);
    if (json_is_array(rules))
        json_object_set(found, "rules", rules);
    return 1;
}
