/* reply.c - answers: the form that the client takes, and the headers that every answer has. */
#include <microhttpd.h>

#include "api/api.h"
#include "api/origin.h"
#include "api/route.h"
#include "common/base/plainwrite.h"
#include "common/base/str.h"
#include "common/output/outputter.h"
#include "salt/value.h"

#define TYPE_HTML "text/html;charset=utf-8"

static void
put_header(struct MHD_Response *response, const char *name, const char *value)
{
    (void) MHD_add_response_header(response, name, value);
}

/* Which pages of others may read the answer. Without the header Origin no browser looks at these. */
static void
put_cors(const request_t *self, struct MHD_Response *response)
{
    const char *origin = request_header(self, "Origin");

    if (origin != NULL && !origin_admitted(self, origin))
        return;
    put_header(response, "Access-Control-Allow-Origin", origin != NULL ? origin : "*");
    put_header(response, "Access-Control-Expose-Headers", "GET, POST");
    put_header(response, "Access-Control-Allow-Credentials", "true");
}

void
reply_response(request_t *self, unsigned status, struct MHD_Response **response_p)
{
    struct MHD_Response *response = STEAL(*response_p);

    if (response == NULL)
        return;
    if (self->response != NULL) {
        MHD_destroy_response(response);
        return;
    }
    put_header(response, "Server", "salt-api");
    put_header(response, "X-Content-Type-Options", "nosniff");
    put_header(response, "Vary", "Accept-Encoding, Origin");
    if (self->route != NULL && !self->route->plain)
        put_header(response, "Allow", route_allows(self->route));
    if (self->private_answer)
        put_header(response, "Cache-Control", "private");
    if (self->new_token != NULL)
        put_header(response, "X-Auth-Token", self->new_token);
    if (self->challenge != NULL)
        put_header(response, "Www-Authenticate", self->challenge);
    if (self->new_cookie != NULL)
        put_header(response, "Set-Cookie", self->new_cookie);
    put_cors(self, response);
    self->status = status;
    self->response = response;
    self->wake(self);
}

void
reply_bytes(request_t *self, unsigned status, const char *type, buf_t *body)
{
    size_t len = body->len;
    char *bytes = buf_steal(body);
    struct MHD_Response *response = MHD_create_response_from_buffer(len, bytes, MHD_RESPMEM_MUST_FREE);

    if (response == NULL) {
        free(bytes);
        return;
    }
    put_header(response, "Content-Type", type);
    reply_response(self, status, &response);
}

/* The value in a form that is not FORM_NONE. */
static void
reply_in(request_t *self, unsigned status, form_t form, json_t *value)
{
    buf_auto_t out = BUF_INIT;
    output_opts_t opts = OUTPUT_OPTS_INIT;

    if (form == FORM_YAML) {
        (void) output_yaml(value, &opts, &out);
    } else {
        (void) plain_add_blanks(value, &out);
    }
    reply_bytes(self, status, form == FORM_YAML ? "application/x-yaml" : "application/json", &out);
}

void
reply_value(request_t *self, unsigned status, json_t **value_p)
{
    json_auto_t *value = STEAL(*value_p);
    const char *accept = request_header(self, "Accept");
    form_t form = accept_form(accept);

    if (form != FORM_NONE) {
        reply_in(self, status, form, value);
        return;
    }
    AUTO_FREE char *text = xasprintf("Your client sent this Accept header: %s. But this resource only emits "
                                     "these media types: application/json, application/x-yaml.",
                                     accept);
    reply_error(self, MHD_HTTP_NOT_ACCEPTABLE, text);
}

void
reply_return(request_t *self, json_t **list_p)
{
    json_t *value = json_pack("{s:o}", "return", STEAL(*list_p));

    reply_value(self, MHD_HTTP_OK, &value);
}

static void
put_html(buf_t *out, const char *text)
{
    for (; *text != '\0'; text++) {
        const char *entity = *text == '<' ? "&lt;" : *text == '>' ? "&gt;" : *text == '&' ? "&amp;" : NULL;
        if (entity == NULL)
            entity = *text == '"' ? "&quot;" : *text == '\'' ? "&#x27;" : NULL;
        if (entity != NULL)
            buf_puts(out, entity);
        else
            buf_putc(out, *text);
    }
}

void
reply_error(request_t *self, unsigned status, const char *text)
{
    form_t form = accept_error_form(request_header(self, "Accept"));
    buf_auto_t page = BUF_INIT;

    if (form != FORM_NONE) {
        json_auto_t *value = json_pack("{s:i, s:o}", "status", (int) status, "return",
                                       value_utf8(text, strlen(text)));
        reply_in(self, status, form, value);
        return;
    }
    const char *reason = MHD_get_reason_phrase_for(status);
    buf_printf(
        &page,
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>%u %s</title></head>\n"
        "<body><h2>%u %s</h2>\n<p>",
        status, reason, status, reason);
    put_html(&page, text);
    buf_puts(&page, "</p>\n</body></html>\n");
    reply_bytes(self, status, TYPE_HTML, &page);
}
