/* http.c - state module `http`: what a web server answers, compared. The function http.query of the execution
 * module asks; the return's "data" is its answer, and the result follows from `match` and `status`, of which
 * at least one must be given. A list of statuses asks for one of them. */
#include <poll.h>

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/match/regex.h"
#include "plugins/lib/call/subcall.h"
#include "salt/state.h"

#define PAUSE_MS 100 /* between questions, where the state says nothing */

/* How one thing is compared, and Salt's words for it. */
typedef struct compare {
    const char *argument, *type, *key; /* of the state; of the answer */
    bool part;                         /* a text: found within, not equal */
    const char *text, *pattern;        /* "{} was found" */
} compare_t;

static const compare_t comparisons[] = {
    { "match", "match_type", "text", true, "Match text \"%s\"", "Match pattern \"%s\"" },
    { "status", "status_type", "status", false, "Status %s", "Status pattern \"%s\"" },
};

/* Adds a sentence about a comparison to the comment: "Match text "x" was not found." */
static void
http_say(buf_t *comment, const char *what, const char *value, bool found)
{
    AUTO_FREE char *thing = str_replace(what, "%s", value);

    buf_printf(comment, "%s%s was %sfound.", comment->len > 0 ? " " : "", thing, found ? "" : "not ");
}

/* Any of a list. 1, or 0. */
static int
compare_list(const json_t *wanted, const char *have, buf_t *comment)
{
    AUTO_FREE char *shown = value_pystr(wanted);
    json_t *one;
    size_t i;
    int found = 0;

    json_array_foreach (wanted, i, one) {
        AUTO_FREE char *text = value_pystr(one);
        if (strcmp(text, have) != 0)
            continue;
        http_say(comment, "Status %s", text, true);
        found = 1;
    }
    if (found == 0)
        buf_printf(comment, "%sStatuses %s were not found.", comment->len > 0 ? " " : "", shown);
    return found;
}

/* 1 or 0 with its sentence, -EAGAIN for a type that compares nothing, or negative with *err. An answer
 * without that key (a failed connection has no text) compares as the empty text. */
static int
compare_one(const compare_t *c, const json_t *args, const json_t *data, buf_t *comment, fail_t *err)
{
    json_t *wanted = value_get(args, c->argument), *answered = value_get(data, c->key);
    AUTO_FREE char *text = value_pystr(wanted),
                   *have = answered != NULL ? value_pystr(answered) : xstrdup("");
    const char *type = value_str(args, c->type, "string");
    AUTO(rx) rx = NULL;
    int found = -EAGAIN;

    if (!c->part && strcmp(type, "list") == 0)
        return compare_list(wanted, have, comment);
    if (strcmp(type, "string") == 0)
        found = c->part ? strstr(have, text) != NULL : strcmp(have, text) == 0;
    if (strcmp(type, "pcre") == 0) {
        rx = rx_new(text, 0, err);
        found = rx != NULL ? rx_search(rx, have, strlen(have), 0, err) : err->code;
    }
    if (found >= 0)
        http_say(comment, rx != NULL ? c->pattern : c->text, text, found > 0);
    return found;
}

/* A state that changes nothing: its result is whether the answer is as wanted. */
static int
http_state_query(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = *ret_value = state_ret_args(args), *given = value_get(args, "kwargs");
    buf_auto_t comment = BUF_INIT;
    int found[NELEMS(comparisons)];
    bool some = false;

    json_object_set_new(ret, "data", json_object());
    for (size_t i = 0; i < NELEMS(comparisons); i++)
        some = some || !json_is_null(value_get(args, comparisons[i].argument));
    if (!some)
        return state_ret_set(ret, STATE_FALSE,
                             " Either match text (match) or a status code (status) is required.");
    /* Text and status are what is compared; a test asks the `test_url`, if there is one, or nothing. */
    json_auto_t *kwargs = json_copy(given), *data = NULL;
    json_t *wait = value_get(args, "wait_for");
    if (value_get(kwargs, "decode") == NULL)
        json_object_set_new(kwargs, "decode", json_false());
    json_object_set_new(kwargs, "text", json_true());
    json_object_set_new(kwargs, "status", json_true());
    json_object_set(kwargs, "url", value_get(args, "name"));
    if (ctx_test(ctx))
        json_object_set_new(kwargs, "test", json_true());
    if (value_truthy(wait))
        json_object_set(kwargs, "wait_for", wait);
    const char *fun = value_truthy(wait) ? "http.wait_for_successful_query" : "http.query";
    if (ctx_call(ctx, fun, NULL, kwargs, &data, err) < 0)
        return err->code;

    /* Both comparisons must hold; types that compare nothing leave the result None. */
    json_object_set_new(ret, "result", json_null());
    for (size_t i = 0; i < NELEMS(comparisons); i++) {
        found[i] = json_is_null(value_get(args, comparisons[i].argument))
                       ? -EAGAIN
                       : compare_one(&comparisons[i], args, data, &comment, err);
        if (found[i] < 0 && found[i] != -EAGAIN)
            return found[i];
        if (found[i] >= 0 && !json_is_false(value_get(ret, "result")))
            json_object_set_new(ret, "result", json_boolean(found[i] > 0));
    }
    json_object_set(ret, "data", data);
    if (ctx_test(ctx)) {
        const char *url = value_str(given, "test_url", NULL);
        json_object_set_new(ret, "result", json_null());
        buf_printf(&comment, " (TEST MODE%s%s)", url != NULL ? ", TEST URL WAS: " : "",
                   url != NULL ? url : "");
    }
    state_ret_comment(ret, json_string(buf_str(&comment)));
    return 0;
}

/* Asks until the answer is as wanted, or the time is up; the last answer, or failure, counts. The arguments
 * of the comparison come in **kwargs here. A test asks once. */
static int
http_state_wait(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    int64_t until = clock_mono_ms() + (int64_t) (value_num(args, "wait_for", 300) * 1000);
    static const char *const own[] = { "match", "match_type", "status", "status_type" };
    json_auto_t *asked = json_copy(args), *kwargs = json_copy(value_get(args, "kwargs"));
    double pause = value_num(kwargs, "request_interval", PAUSE_MS / 1000.0);

    for (size_t i = 0; i < NELEMS(own); i++) {
        json_t *v = value_get(kwargs, own[i]);
        json_object_set(asked, own[i], v != NULL ? v : json_null());
        json_object_del(kwargs, own[i]);
    }
    json_object_del(kwargs, "request_interval");
    json_object_set(asked, "kwargs", kwargs);
    json_object_set_new(asked, "wait_for", json_null());
    for (;;) {
        fail_auto_t why = FAIL_INIT;
        json_t *ret = NULL;
        int rc = http_state_query(ctx, asked, &ret, &why);

        if ((rc == 0 && value_truthy(value_get(ret, "result"))) || ctx_test(ctx) || clock_mono_ms() > until) {
            *ret_value = ret;
            return rc < 0 ? fail_kind(err, why.kind, rc, "%s", fail_text(&why)) : 0;
        }
        json_decref(ret);
        (void) poll(NULL, 0, pause > 0 && pause < 86400 ? (int) (pause * 1000) : PAUSE_MS);
    }
}

/* What **kwargs is read for: what http.query takes. */
#define HTTP_WORDS                                                                                                    \
    "method params data data_file header_dict header_list header_file username password auth decode decode_type "     \
    "headers text cookies cookie_jar cookie_format persist_session session_cookie_jar data_render data_renderer "     \
    "header_render header_renderer template_dict test test_url node port opts backend ca_bundle verify_ssl cert "     \
    "text_out headers_out decode_out stream streaming_callback header_callback handle agent hide_fields raise_error " \
    "formdata formdata_fieldname formdata_filename decode_body request_interval"

#define URL_ROW ARG("name", ARG_STR, ARG_REQUIRED, "Where to")

static const arg_t query_args[] = {
    URL_ROW,
    ARG("match", ARG_ANY, "null", "What the answer holds"),
    ARG("match_type", ARG_STR, "\"string\"", "string, or pcre: a regular expression"),
    ARG("status", ARG_ANY, "null", "The answer's status"),
    ARG("status_type", ARG_STR, "\"string\"", "string, pcre, or list: one of them"),
    ARG("wait_for", ARG_ANY, "null", "Seconds to go on asking while there is no answer"),
    ARG("kwargs", ARG_DICT, ARG_STARSTAR, "What http.query takes", HTTP_WORDS),
    ARGS_END,
};
static const arg_t wait_args[] = {
    URL_ROW,
    ARG("wait_for", ARG_FLOAT, "300", "Seconds to go on asking"),
    ARG("kwargs", ARG_DICT, ARG_STARSTAR,
        "What the state http.query takes; request_interval: seconds between questions",
        HTTP_WORDS " match match_type status status_type"),
    ARGS_END,
};

static const func_t funcs[] = {
    { "query", http_state_query, query_args, 0, "Ask a web server, and compare the answer." },
    { "wait_for_successful_query", http_state_wait, wait_args, 0,
      "Ask a web server until the answer is as wanted." },
};

PLUGIN(state, http, .doc = "Answers of web servers", FUNCS(funcs));
