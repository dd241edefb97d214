/* ask.c - see ask.h. */
#include "api/ask.h"

#include "api/api.h"
#include "api/line.h"
#include "salt/value.h"

typedef struct ask {
    request_t *request;
    line_t *line;
    json_t *question; /* owned; NULL when it is sent */
    json_int_t n;     /* the reply that is awaited */
    ask_fn *fn;
    void *cookie;
    void (*free_cookie)(void *cookie);
} ask_t;

static void
ask_free(ask_t *self)
{
    line_destroy(&self->line);
    json_decref(self->question);
    free(self);
}

static void
ask_drop(void *work)
{
    ask_t *self = work;

    if (self->free_cookie != NULL)
        self->free_cookie(self->cookie);
    ask_free(self);
}

/* The answer is here: the function may begin other work for the request. */
static void
ask_end(ask_t *self, const json_t *reply)
{
    request_t *request = self->request;
    ask_fn *fn = self->fn;
    void *cookie = self->cookie;
    json_auto_t *kept = json_incref((json_t *) reply);

    request->work = NULL;
    request->drop = NULL;
    ask_free(self);
    fn(request, kept, cookie);
}

static void
ask_take(void *cookie, const json_t *msg)
{
    ask_t *self = cookie;

    if (msg == NULL) {
        ask_end(self, NULL);
    } else if (value_int(msg, "n", 0) == self->n) {
        if (self->question != NULL && value_bool(msg, "ok", false))
            self->n = line_ask(self->line, &self->question);
        else
            ask_end(self, msg);
    }
}

void
ask_start(request_t *request, const char *token, json_t **question_p, ask_fn *fn, void *cookie,
          void (*free_cookie)(void *cookie))
{
    ask_t *self = xcalloc(1, sizeof(*self));
    fail_auto_t err = FAIL_INIT;

    *self = (ask_t){ .request = request,
                     .question = STEAL(*question_p),
                     .fn = fn,
                     .cookie = cookie,
                     .free_cookie = free_cookie };
    request->work = self;
    request->drop = ask_drop;
    self->line = line_new(api_lines(request->api), token != NULL ? token : "", ask_take, self, &err);
    if (self->line == NULL) {
        ask_end(self, NULL);
        return;
    }
    json_t *become = token != NULL ? json_pack("{s:s, s:s}", "op", "become", "token", token) : NULL;
    self->n = line_ask(self->line, become != NULL ? &become : &self->question);
}
