/* login.c - GET /, and the routes by which sessions and tokens begin and end: /login, /logout, /token. */
#include <microhttpd.h>

#include "api/api.h"
#include "api/ask.h"
#include "api/cookie.h"
#include "api/guesses.h"
#include "api/route.h"
#include "api/stats.h"
#include "common/base/clock.h"
#include "common/base/str.h"
#include "salt/value.h"

#define NOT_AUTHENTICATED "Could not authenticate using provided credentials"
#define NO_MASTER         "Salt request timed out. The master is not responding."
#define TOO_MANY          "Too many failed log-ins from this address; wait a second"

/* Salt's list of clients, which includes `ssh`: pages read it, whatever is enabled here. */
void
root_get(request_t *request)
{
    json_t *value = json_pack("{s:s, s:[s,s,s,s,s,s,s,s,s]}", "return", "Welcome", "clients", "local",
                              "local_async", "local_batch", "local_subset", "runner", "runner_async", "ssh",
                              "wheel", "wheel_async");

    reply_value(request, MHD_HTTP_OK, &value);
}

/* Credentials become the request `login`; NULL: a field is missing. NEW. */
static json_t *
login_question(const json_t *creds, const char *address)
{
    static const char *const wanted[] = { "username", "password", "eauth" };
    json_t *question = json_object();

    json_object_update(question, (json_t *) creds);
    json_object_set_new(question, "op", json_string("login"));
    guesses_sign(question, address);
    for (size_t i = 0; i < NELEMS(wanted); i++)
        if (!json_is_string(json_object_get(question, wanted[i]))) {
            json_decref(question);
            return NULL;
        }
    return question;
}

/* The answer when nobody is logged in: the master's refusal, or that there is none. True: it was given. */
static bool
login_failed(request_t *request, const json_t *reply, const char *text)
{
    const char *error = value_str(reply, "error", "");

    if (reply == NULL) {
        reply_error(request, MHD_HTTP_SERVICE_UNAVAILABLE, NO_MASTER);
    } else if (value_bool(reply, "ok", false)) {
        guesses_pardon(request->api->guesses, request->address);
        request->api->stats->logins++;
        return false;
    } else if (strstr(error, "too many") != NULL || strstr(error, "try again") != NULL) {
        reply_error(request, MHD_HTTP_TOO_MANY_REQUESTS, error);
    } else {
        request->api->stats->refused_logins++;
        reply_error(request, MHD_HTTP_UNAUTHORIZED, text);
    }
    return true;
}

/* ---- /login ------------------------------------------------------------------------------------- */

void
login_get(request_t *request)
{
    json_t *value = json_pack("{s:n, s:s}", "status", "return", "Please log in");

    request->challenge = "Session";
    reply_value(request, MHD_HTTP_OK, &value);
}

/* The client gets the id of a session, as Salt calls it a token; the master's own token stays in this
 * process. */
static void
login_answer(request_t *request, const json_t *reply, void *cookie)
{
    if (login_failed(request, reply, NOT_AUTHENTICATED))
        return;
    if (!settings_admits(request->api->set, value_str(reply, "user", ""), request->address)) {
        reply_error(request, MHD_HTTP_FORBIDDEN, "Bad IP");
        return;
    }
    const session_t *session = session_begin(request->api->sessions, reply, api_now());
    json_t *perms = value_get(reply, "perms"), *none = json_object(),
           *list = json_pack("[{s:s, s:O, s:O, s:s, s:s, s:O}]", "token", session->id, "expire",
                             value_get(reply, "expire"), "start", value_get(reply, "start"), "user",
                             session->user, "eauth", session->eauth, "perms",
                             json_array_size(perms) > 0 ? perms : none);
    json_decref(none);
    free(request->user);
    request->user = xstrdup(session->user);
    request->new_token = xstrdup(session->id);
    request->new_cookie = cookie_of(request->api, session->id);
    reply_return(request, &list);
}

/* Guesses are counted by address before the master is asked, which counts them by name. */
void
login_post(request_t *request)
{
    const json_t *creds = json_is_array(request->data) ? json_array_get(request->data, 0) : request->data;
    json_t *question = login_question(creds, request->address);

    if (!json_is_object(creds)) {
        json_decref(question);
        reply_error(request, MHD_HTTP_BAD_REQUEST, "Credentials are wanted: username, password and eauth");
    } else if (question == NULL) {
        reply_error(request, MHD_HTTP_UNAUTHORIZED, NOT_AUTHENTICATED);
    } else if (!guesses_admit(request->api->guesses, request->address, clock_mono_ms())) {
        json_decref(question);
        reply_error(request, MHD_HTTP_TOO_MANY_REQUESTS, TOO_MANY);
    } else {
        ask_start(request, NULL, &question, login_answer, NULL, NULL);
    }
}

/* ---- /logout ------------------------------------------------------------------------------------ */

/* The session is over whatever the master says. */
static void
logout_answer(request_t *request, const json_t *reply, void *cookie)
{
    json_t *value = json_pack("{s:s}", "return", "Your token has been cleared");

    reply_value(request, MHD_HTTP_OK, &value);
}

/* The session ends here at once, also when the master can't be asked to revoke the token. */
void
logout_post(request_t *request)
{
    json_t *question = json_pack("{s:s, s:s}", "op", "token_revoke", "token", request->token);

    session_leave(request->api->sessions, request->sid);
    free(request->new_cookie);
    request->new_cookie = cookie_over(request->api);
    ask_start(request, NULL, &question, logout_answer, NULL, NULL);
}

/* ---- /token: each of a list of credentials, one after the other ---------------------------------- */

typedef struct tokens {
    json_t *creds, *made; /* owned lists */
} tokens_t;

static void
tokens_free(void *cookie)
{
    tokens_t *self = cookie;

    json_decref(self->creds);
    json_decref(self->made);
    free(self);
}

static void tokens_next(request_t *request, tokens_t *self);

/* Takes the answer for a token of several; the count of tokens made says whose turn is next. */
static void
tokens_answer(request_t *request, const json_t *reply, void *cookie)
{
    tokens_t *self = cookie;
    const json_t *creds = json_array_get(self->creds, json_array_size(self->made));
    AUTO_FREE char *text = xasprintf("Authentication failure of type \"eauth\" occurred for user %s.",
                                     value_str(creds, "username", ""));

    if (login_failed(request, reply, text)) {
        tokens_free(self);
        return;
    }
    json_array_append_new(self->made,
                          json_pack("{s:O, s:O, s:O, s:O, s:O}", "start", value_get(reply, "start"), "expire",
                                    value_get(reply, "expire"), "name", value_get(reply, "user"), "eauth",
                                    value_get(reply, "eauth"), "token", value_get(reply, "token")));
    tokens_next(request, self);
}

/* Logins one after the other: several at once would be guesses for the price of one request. */
static void
tokens_next(request_t *request, tokens_t *self)
{
    const json_t *creds = json_array_get(self->creds, json_array_size(self->made));

    if (creds == NULL) {
        json_t *made = json_incref(self->made);
        tokens_free(self);
        reply_value(request, MHD_HTTP_OK, &made);
        return;
    }
    json_t *question = login_question(creds, request->address);
    if (question == NULL || !guesses_admit(request->api->guesses, request->address, clock_mono_ms())) {
        reply_error(request, question == NULL ? MHD_HTTP_BAD_REQUEST : MHD_HTTP_TOO_MANY_REQUESTS,
                    question == NULL ? "Require \"username\", \"password\", and \"eauth\" params" : TOO_MANY);
        json_decref(question);
        tokens_free(self);
        return;
    }
    ask_start(request, NULL, &question, tokens_answer, self, tokens_free);
}

void
token_post(request_t *request)
{
    const json_t *data = request->data;

    if (!json_is_object(data) && json_array_size(data) == 0) {
        reply_error(request, MHD_HTTP_BAD_REQUEST,
                    "Require \"username\", \"password\", and \"eauth\" params");
        return;
    }
    tokens_t *self = xcalloc(1, sizeof(*self));
    self->creds = json_is_array(data) ? json_incref((json_t *) data) : json_pack("[O]", data);
    self->made = json_array();
    tokens_next(request, self);
}
