/* page.c - GET / for browsers and /page/NAME: the page of our own, whose files are in the program. They are
 * given to anybody: what the page shows, it asks for as whoever has logged in. */
#include <microhttpd.h>

#include "api/api.h"
#include "api/route.h"
#include "common/base/digest.h"
#include "common/base/str.h"

/* The files of src/api/page: a literal each, as their bytes are. */
static const struct {
    const char *name, *text;
} files[] = {
#include "gen/page_files.inc"
};

#define INDEX  "index.html"
/* In index.html where root_prefix belongs: the address bar may lack the slash to which its links would be
 * relative. */
#define PREFIX "@PREFIX@"

/* Nothing but its own files runs or is loaded, text of minions can't become markup, and no page of others
 * frames it. */
#define POLICY                                                                                               \
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "          \
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "      \
    "trusted-types 'none'"

/* TAKES text. */
static void
page_send(request_t *request, const char *name, char *text)
{
    AUTO_FREE char *hex = digest_bytes("sha256", text, strlen(text), NULL);
    AUTO_FREE char *etag = xasprintf("\"%.32s\"", hex);
    const char *known = request_header(request, "If-None-Match");
    bool same = known != NULL && strstr(known, etag) != NULL;
    struct MHD_Response *response = MHD_create_response_from_buffer(same ? 0 : strlen(text), text,
                                                                    MHD_RESPMEM_MUST_FREE);
    static const char *const headers[][2] = {
        { "Content-Security-Policy", POLICY },
        { "Referrer-Policy", "no-referrer" },
        { "X-Frame-Options", "DENY" },
        { "Cross-Origin-Opener-Policy", "same-origin" },
        { "Cross-Origin-Resource-Policy", "same-origin" },
        { "Permissions-Policy", "camera=(), geolocation=(), microphone=()" },
        { "Cache-Control", "no-cache" }, /* the browser keeps it and asks each time whether it is the same */
        { "Vary", "Accept" },
    };

    if (response == NULL) {
        free(text);
        reply_error(request, MHD_HTTP_SERVICE_UNAVAILABLE, "No memory for an answer");
        return;
    }
    (void) MHD_add_response_header(response, "Content-Type",
                                   str_ends(name, ".html")  ? "text/html;charset=utf-8"
                                   : str_ends(name, ".css") ? "text/css;charset=utf-8"
                                   : str_ends(name, ".js")  ? "text/javascript;charset=utf-8"
                                                            : "image/svg+xml");
    (void) MHD_add_response_header(response, "ETag", etag);
    for (size_t i = 0; i < NELEMS(headers); i++)
        (void) MHD_add_response_header(response, headers[i][0], headers[i][1]);
    reply_response(request, same ? MHD_HTTP_NOT_MODIFIED : MHD_HTTP_OK, &response);
}

void
page_get(request_t *request)
{
    const char *name = *request->rest != '\0' ? request->rest : INDEX;

    for (size_t i = 0; i < NELEMS(files); i++)
        if (str_eq(files[i].name, name)) {
            /* The file's bytes, with root_prefix in the place that the build left for it. */
            const char *text = files[i].text;
            buf_auto_t out = BUF_INIT;
            for (const char *at; (at = strstr(text, PREFIX)) != NULL; text = at + strlen(PREFIX)) {
                buf_add(&out, text, (size_t) (at - text));
                buf_puts(&out, request->api->set->prefix);
            }
            buf_puts(&out, text);
            page_send(request, name, buf_steal(&out));
            return;
        }
    AUTO_FREE char *text = xasprintf("The path '%s' was not found.", request->path);
    reply_error(request, MHD_HTTP_NOT_FOUND, text);
}
