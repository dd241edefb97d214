/* health.c - /health: the program lives; /ready: the master answers, too. */
#include <microhttpd.h>

#include "api/api.h"
#include "api/ask.h"
#include "api/route.h"
#include "salt/value.h"

void
health_get(request_t *request)
{
    json_t *value = json_pack("{s:s}", "status", "ok");

    reply_value(request, MHD_HTTP_OK, &value);
}

/* Any answer will do, also that nobody may ask. */
static void
ready_answer(request_t *request, const json_t *reply, void *cookie)
{
    json_t *value = json_pack("{s:s}", "status", "ok");

    if (reply != NULL) {
        reply_value(request, MHD_HTTP_OK, &value);
        return;
    }
    json_decref(value);
    reply_error(request, MHD_HTTP_SERVICE_UNAVAILABLE, "The master does not answer");
}

void
ready_get(request_t *request)
{
    json_t *question = json_pack("{s:s}", "op", "status");

    ask_start(request, NULL, &question, ready_answer, NULL, NULL);
}
