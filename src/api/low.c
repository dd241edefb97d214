/* low.c - see low.h. */
#include "api/low.h"

#include <microhttpd.h>

#include "api/api.h"
#include "api/guesses.h"
#include "api/refusal.h"
#include "common/base/clock.h"
#include "common/base/str.h"
#include "salt/value.h"

enum { TICK_MS = 100 };

static low_t *lows; /* all that are under way */

static void
low_free(low_t *self)
{
    if (self->prev != NULL)
        self->prev->next = self->next;
    else
        lows = self->next;
    if (self->next != NULL)
        self->next->prev = self->prev;
    line_destroy(&self->line);
    follow_destroy(&self->job);
    json_decref(self->chunks);
    json_decref(self->returns);
    json_decref(self->targets);
    json_decref(self->ret);
    free(self->jid);
    free(self);
}

static void
low_drop(void *work)
{
    low_free(work);
}

/* Takes the work off its request, which is going to be answered. */
static request_t *
low_leave(low_t *self)
{
    request_t *request = self->request;

    request->work = NULL;
    request->drop = NULL;
    return request;
}

/* Ends the whole request at its first failure: earlier chunks have run, and their returns are dropped. */
void
low_fail(low_t *self, unsigned status, const char *text)
{
    request_t *request = low_leave(self);

    reply_error(request, status, text);
    low_free(self);
}

/* A number, or a text that is one, as forms have only texts. -1: it is neither, negative, or absurdly large.
 */
double
low_number(const json_t *value)
{
    char *end = NULL;
    const char *text = json_string_value(value);
    double d = text != NULL ? strtod(text, &end) : json_is_number(value) ? json_number_value(value) : -1;

    if (text != NULL && (end == text || *end != '\0'))
        return -1;
    return d >= 0 && d < 1e9 ? d : -1;
}

static void low_begin(low_t *self);

/* The next chunk of the list, with nothing of the last one's left. A chunk with a login of its own has a line
 * of its own. */
void
low_next(low_t *self)
{
    follow_destroy(&self->job);
    json_decref(STEAL(self->targets));
    json_decref(STEAL(self->ret));
    free(STEAL(self->jid));
    self->until_ms = 0;
    self->work_n = 0;
    if (self->own)
        line_destroy(&self->line);
    self->at++;
    low_begin(self);
}

void
low_return(low_t *self, json_t **value_p)
{
    json_array_append_new(self->returns, STEAL(*value_p));
    low_next(self);
}

void
low_ask(low_t *self, json_t **request_p)
{
    self->work_n = line_ask(self->line, request_p);
}

/* ---- the line ---------------------------------------------------------------------------------- */

/* The master's refusal in Salt's words: which login it concerns depends on whether the chunk brought one. */
static void
low_refused(low_t *self, const char *text)
{
    if (refusal_is_denial(text)) {
        const char *user = self->request->user;
        AUTO_FREE char *denied = xasprintf(
            "Authentication failure of type \"%s\" occurred for user %s.",
            self->own && value_get(self->chunk, "token") == NULL ? "eauth" : "token",
            user != NULL ? user : value_str(self->chunk, "username", "UNKNOWN"));
        low_fail(self, MHD_HTTP_UNAUTHORIZED, self->client->denied != NULL ? self->client->denied : denied);
    } else if (self->client->refused == NULL || !self->client->refused(self, text))
        low_fail(self, refusal_status(text), text);
}

static void
low_take(void *cookie, const json_t *msg)
{
    low_t *self = cookie;
    json_int_t n = value_int(msg, "n", 0);
    bool ok = value_bool(msg, "ok", false);

    if (msg == NULL) {
        low_fail(self, MHD_HTTP_SERVICE_UNAVAILABLE, "The master has closed the connection");
    } else if (n != 0 && n == self->become_n) {
        /* The answer to `become`: the line speaks for the user now, or the login has failed. */
        self->become_n = 0;
        if (!ok) {
            /* The master does not know the token, or the password is wrong. */
            const char *text = value_str(msg, "error", "");
            const char *user = value_str(self->chunk, "username", "");

            if (!refusal_is_denial(text)) { /* the master is busy */
                low_fail(self,
                         strstr(text, "too many failed") != NULL ? MHD_HTTP_TOO_MANY_REQUESTS
                                                                 : MHD_HTTP_SERVICE_UNAVAILABLE,
                         text);
            } else if (!self->own) {
                session_leave(self->request->api->sessions, self->request->sid);
                low_fail(self, MHD_HTTP_UNAUTHORIZED, "No permission -- see authorization schemes");
            } else if (value_get(self->chunk, "token") != NULL) {
                low_fail(self, MHD_HTTP_UNAUTHORIZED, "Invalid token");
            } else {
                AUTO_FREE char *told = xasprintf(
                    "Authentication failure of type \"eauth\" occurred for user %s.", user);
                low_fail(self, MHD_HTTP_UNAUTHORIZED, told);
            }
            return;
        }
        if (self->own)
            guesses_pardon(self->request->api->guesses, self->request->address);
        (void) self->client->begin(self);
    } else if (n != 0 && n == self->work_n) {
        self->work_n = 0;
        if (ok)
            self->client->reply(self, msg);
        else
            low_refused(self, value_str(msg, "error", "the master refused"));
    } else if (n == 0 && self->client != NULL && self->client->push != NULL) {
        self->client->push(self, msg);
    }
}

/* Credentials of the chunk under way. NEW request, NULL: there are none. */
static json_t *
low_credentials(const low_t *self)
{
    static const char *const names[] = { "username", "password", "eauth" };
    const json_t *token = value_get(self->chunk, "token");

    if (!self->own)
        return json_pack("{s:s, s:s}", "op", "become", "token", self->request->token);
    if (json_is_string(token))
        return json_pack("{s:s, s:O}", "op", "become", "token", token);
    json_t *request = json_pack("{s:s}", "op", "become");
    guesses_sign(request, self->request->address);
    for (size_t i = 0; i < NELEMS(names); i++) {
        json_t *value = value_get(self->chunk, names[i]);
        if (json_is_string(value)) {
            json_object_set(request, names[i], value);
            continue;
        }
        json_decref(request);
        return NULL;
    }
    return request;
}

/* Connects and says who asks; the client's turn comes with the answer. */
static void
low_connect(low_t *self)
{
    api_t *api = self->request->api;
    fail_auto_t err = FAIL_INIT;
    json_t *become = low_credentials(self);

    if (become == NULL) {
        low_fail(self, MHD_HTTP_UNAUTHORIZED, "No authentication credentials given");
        return;
    }
    if (self->own && !guesses_admit(api->guesses, self->request->address, clock_mono_ms())) {
        json_decref(become);
        low_fail(self, MHD_HTTP_TOO_MANY_REQUESTS,
                 "Too many failed log-ins from this address; wait a second");
        return;
    }
    self->line = line_new(api_lines(api), value_str(become, "token", value_str(become, "username", "")),
                          low_take, self, &err);
    if (self->line == NULL) {
        json_decref(become);
        low_fail(self, MHD_HTTP_SERVICE_UNAVAILABLE, "Salt request timed out. The master is not responding.");
        return;
    }
    self->become_n = line_ask(self->line, &become);
}

/* ---- chunks ------------------------------------------------------------------------------------ */

static const client_t *
low_client(const api_t *api, const char *name)
{
    for (const client_t *const *row = api->clients; *row != NULL; row++)
        if (str_eq((*row)->name, name))
            return *row;
    return NULL;
}

/* Salt's checks, in its order. False: the request is answered. */
static bool
low_check(low_t *self)
{
    const settings_t *set = self->request->api->set;
    json_t *client = value_get(self->chunk, "client");
    AUTO_FREE char *name = client != NULL ? value_pystr(client) : xstrdup("None");

    self->client = low_client(self->request->api, name);
    if (self->client == NULL) {
        AUTO_FREE char *text = xasprintf("Invalid client specified: '%s'", name);
        low_fail(self, MHD_HTTP_BAD_REQUEST, text);
        return false;
    }
    if (!value_lists(set->clients, name)) {
        AUTO_FREE char *text = xasprintf(
            "Client disabled: '%s'. Add to 'netapi_enable_clients' master config "
            "option to enable.",
            name);
        low_fail(self, MHD_HTTP_BAD_REQUEST, text);
        return false;
    }
    json_t *kwarg = value_get(self->chunk, "kwarg");
    if (kwarg != NULL && !json_is_null(kwarg) && !json_is_object(kwarg)) {
        /* Left out, test=True would be, too. */
        low_fail(self, MHD_HTTP_BAD_REQUEST, "kwarg is a mapping of names to values, as {\"test\": true}");
        return false;
    }
    if (value_truthy(value_get(self->chunk, "raw_shell")) &&
        !value_bool(set->opts, "netapi_allow_raw_shell", false)) {
        low_fail(self, MHD_HTTP_BAD_REQUEST, "Raw shell option not allowed.");
        return false;
    }
    return true;
}

/* Checks and begins the chunk at `at`; behind the last one the request is done. `done` gets the returns after
 * the state is freed, as it may begin another. */
static void
low_begin(low_t *self)
{
    self->chunk = json_array_get(self->chunks, self->at);
    if (self->chunk == NULL) {
        json_auto_t *returns = json_incref(self->returns);
        low_done_fn *done = self->done;
        request_t *request = low_leave(self);
        low_free(self);
        done(request, returns);
        return;
    }
    if (!low_check(self))
        return;
    if (self->line == NULL)
        low_connect(self);
    else
        (void) self->client->begin(self);
}

/* TAKES *chunks_p. The list of all requests is for low_tick(); `drop` is called when the client goes away. */
void
low_start(request_t *request, json_t **chunks_p, bool own, low_done_fn *done)
{
    low_t *self = xcalloc(1, sizeof(*self));

    self->request = request;
    self->chunks = STEAL(*chunks_p);
    self->returns = json_array();
    self->own = own;
    self->done = done;
    self->next = lows;
    if (lows != NULL)
        lows->prev = self;
    lows = self;
    request->work = self;
    request->drop = low_drop;
    low_begin(self);
}

void
low_answer(request_t *request, json_t *returns)
{
    json_t *list = json_incref(returns);

    reply_return(request, &list);
}

/* Only requests with a job or a deadline need time; *ret_wait is lowered for them. The next one is kept, as
 * either call may free this one. */
void
low_tick(int64_t now_ms, int *ret_wait)
{
    low_t *next;

    for (low_t *self = lows; self != NULL; self = next) {
        next = self->next;
        if (self->job == NULL && self->until_ms == 0)
            continue;
        if (*ret_wait < 0 || *ret_wait > TICK_MS)
            *ret_wait = TICK_MS;
        if (self->until_ms != 0 && now_ms >= self->until_ms)
            low_fail(self, MHD_HTTP_GATEWAY_TIMEOUT, "rest_timeout has passed");
        else if (self->job != NULL && follow_over(self->job, self->timeout_ms, now_ms))
            self->client->push(self, NULL);
    }
}
