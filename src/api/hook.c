/* hook.c - POST /hook/...: what other programs report becomes an event salt/netapi/hook/..., for the
 * reactor. */
#include <microhttpd.h>

#include "api/api.h"
#include "api/ask.h"
#include "api/refusal.h"
#include "api/route.h"
#include "common/base/str.h"
#include "salt/limits.h"
#include "salt/value.h"

/* Python's str.title() of a header's name, as CherryPy has it. */
static void
hook_header(void *cookie, const char *name, const char *value)
{
    AUTO_FREE char *title = xstrdup(name);
    bool begins = true;

    for (char *c = title; *c != '\0'; c++) {
        bool letter = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z');
        if (letter)
            *c = (char) (begins ? *c & ~0x20 : *c | 0x20);
        begins = !letter;
    }
    /* A session's id is a secret of its user's, and events are read by others. */
    if (str_eq(title, "X-Auth-Token") || str_eq(title, "Cookie") || str_eq(title, "Authorization"))
        return;
    json_object_set_new(cookie, title, value_utf8(value, strlen(value)));
}

static void
hook_answer(request_t *request, const json_t *reply, void *cookie)
{
    const char *error = value_str(reply, "error", "");

    if (reply == NULL)
        reply_error(request, MHD_HTTP_SERVICE_UNAVAILABLE,
                    "Salt request timed out. The master is not responding.");
    else if (!value_bool(reply, "ok", false))
        reply_error(request, refusal_is_denial(error) ? MHD_HTTP_UNAUTHORIZED : refusal_status(error), error);
    else {
        json_t *value = json_pack("{s:b}", "success", 1);
        reply_value(request, MHD_HTTP_OK, &value);
    }
}

void
hook_post(request_t *request)
{
    AUTO_FREE char *tag = xasprintf("salt/netapi/hook%s%s", *request->rest != '\0' ? "/" : "", request->rest);
    json_t *headers = json_object(), *post = request->data, *none = json_object();

    if (strlen(tag) > LIMIT_TAG_LEN) {
        json_decref(headers);
        json_decref(none);
        reply_error(request, MHD_HTTP_URI_TOO_LONG, "The path is longer than an event's tag may be");
        return;
    }
    request_headers_each(request, hook_header, headers);
    json_object_set_new(headers, "Remote-Addr", json_string(request->address));
    json_t *question = json_pack("{s:s, s:o, s:{s:o, s:O, s:o}}", "op", "fire", "tag",
                                 value_utf8(tag, strlen(tag)), "data", "body",
                                 value_utf8(buf_str(&request->body), request->body.len), "post",
                                 value_truthy(post) ? post : none, "headers", headers);
    json_decref(none);
    ask_start(request, request->token, &question, hook_answer, NULL, NULL);
}
