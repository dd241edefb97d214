/* http.c - execution module `http`: ask web servers. Requests are made by plugins/lib/http; this file has the
 * rows, and the function that waits. */
#include "plugins/lib/http/http.h"

#include <poll.h>

#include "common/base/clock.h"

#define PAUSE_MS 100 /* between questions, where the call says nothing */

/* An answer with an error, or none, is asked again until the time is up; then the last answer is returned, or
 * the last error is the job's. The question is asked at least once. A pause that is not a sensible number of
 * seconds is the default one. */
static int
http_wait(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    int64_t until = clock_mono_ms() + (int64_t) (value_num(args, "wait_for", 300) * 1000);
    double pause = value_num(value_get(args, "kwargs"), "request_interval", PAUSE_MS / 1000.0);

    for (;;) {
        fail_auto_t why = FAIL_INIT;
        json_t *answer = NULL;

        /* The arguments of http.query in **kwargs, with their defaults. */
        json_auto_t *kwargs = json_copy(value_get(args, "kwargs"));
        json_object_set(kwargs, "url", value_get(args, "url"));
        json_object_del(kwargs, "request_interval");
        int rc = ctx_call(ctx, "http.query", NULL, kwargs, &answer, &why);

        if ((answer != NULL && !value_truthy(value_get(answer, "error"))) || clock_mono_ms() > until) {
            *ret_value = answer;
            return rc < 0 ? fail_kind(err, why.kind, rc, "%s", fail_text(&why)) : 0;
        }
        json_decref(answer);
        (void) poll(NULL, 0, pause > 0 && pause < 86400 ? (int) (pause * 1000) : PAUSE_MS);
    }
}

static const arg_t wait_args[] = {
    ARG("url", ARG_STR, ARG_REQUIRED, "Where to"),
    ARG("wait_for", ARG_FLOAT, "300", "Seconds to go on asking"),
    ARG("kwargs", ARG_DICT, ARG_STARSTAR,
        "request_interval: seconds between questions; and what http.query takes"),
    ARGS_END,
};

static const func_t funcs[] = {
    { "query", http_query, http_query_args, 0,
      "Send a request and return the answer: ``body``, and what else was asked for; ``error`` when there was "
      "none.\n\nUser, password, headers and data are in no command line and in no log." CLI_EXAMPLE(
          "salt '*' http.query http://somelink.com/\n    salt '*' http.query http://somelink.com/ "
          "method=POST params='{\"key1\": \"val1\", \"key2\": \"val2\"}'\n    salt '*' http.query "
          "http://somelink.com/ method=POST data='<xml>somecontent</xml>'") },
    { "update_ca_bundle", http_update_ca_bundle, http_bundle_args, 0,
      "Fetch a bundle of certificates of authorities. The old one stays until the new one is "
      "whole." CLI_EXAMPLE("salt '*' http.update_ca_bundle\n    salt '*' http.update_ca_bundle "
                           "target=/path/to/cacerts.pem source=https://example.com/cacerts.pem") },
    { "wait_for_successful_query", http_wait, wait_args, 0,
      "Ask until there is an answer without an error, and return it; the last one when the time is "
      "up." CLI_EXAMPLE("salt '*' http.wait_for_successful_query http://somelink.com/ wait_for=160 "
                        "request_interval=1") },
};

PLUGIN(exec, http, .doc = "Ask web servers", FUNCS(funcs));
