/* hub.c - see hub.h. */
#include "api/hub.h"

#include "api/line.h"
#include "api/stats.h"
#include "common/base/map.h"
#include "common/base/plainwrite.h"
#include "common/base/str.h"
#include "salt/log.h"
#include "salt/value.h"

typedef struct event {
    char *text;
    size_t len, data; /* `data`: where "data:" begins */
} event_t;

struct hub {
    hubs_t *hubs;
    char *token;
    line_t *line;
    json_int_t become_n, events_n;
    bool ready;
    int busy; /* listeners are being told: it must not go meanwhile */
    listener_t *listeners;
    event_t ring[HUB_EVENTS];
    uint64_t first, end; /* numbers of the events that are there: first <= n < end */
    size_t bytes;
    view_t *view; /* NULL: nobody has listened to views */
    bool view_due;
    int64_t view_ms; /* monotonic: when it was told */
};

struct hubs {
    api_t *api;
    map_t *by_token;
    size_t n_listeners, n_views;
};

static void
hub_drop_first(hub_t *self)
{
    event_t *event = &self->ring[self->first % HUB_EVENTS];

    self->bytes -= event->len;
    free(event->text);
    self->first++;
}

/* map_free_fn: the token is wiped. Streams are not told; hub_end() has done that. */
static void
hub_free(void *p)
{
    hub_t *self = p;

    line_destroy(&self->line);
    while (self->first < self->end)
        hub_drop_first(self);
    view_destroy(&self->view);
    explicit_bzero(self->token, strlen(self->token));
    free(self->token);
    free(self);
}

hubs_t *
hubs_new(api_t *api)
{
    hubs_t *self = xcalloc(1, sizeof(*self));

    self->api = api;
    self->by_token = map_new(hub_free);
    return self;
}

void
hubs_destroy(hubs_t **self_p)
{
    hubs_t *self = STEAL(*self_p);

    if (self == NULL)
        return;
    map_destroy(&self->by_token);
    free(self);
}

size_t
hubs_listeners(const hubs_t *self)
{
    return self->n_listeners;
}

/* ---- listeners ---------------------------------------------------------------------------------------- */

/* Takes a stream off its hub. The caller rests the hub (hub_rest) once it does not walk over the list. */
static void
listener_off(listener_t *listener)
{
    hub_t *hub = listener->hub;

    if (listener->prev != NULL)
        listener->prev->next = listener->next;
    else
        hub->listeners = listener->next;
    if (listener->next != NULL)
        listener->next->prev = listener->prev;
    listener->next = listener->prev = NULL;
    listener->hub = NULL;
    hub->hubs->n_listeners--;
    hub->hubs->n_views -= listener->views;
}

/* Without listeners it goes. */
static void
hub_rest(hub_t *self)
{
    if (self->listeners == NULL && self->busy == 0)
        (void) map_del(self->hubs->by_token, self->token);
}

/* A stream ends by itself; the last one ends the hub, and with it the line to the master. */
void
hub_leave(listener_t *listener)
{
    hub_t *hub = listener->hub;

    if (hub == NULL)
        return;
    listener_off(listener);
    hub_rest(hub);
}

/* All listeners end: the token holds no more, or the master has gone. */
static void
hub_end(hub_t *self)
{
    bool ready = self->ready;
    listener_t *listeners = NULL, *listener;

    while ((listener = self->listeners) != NULL) {
        listener_off(listener);
        listener->next = listeners;
        listeners = listener;
    }
    (void) map_del(self->hubs->by_token, self->token);
    while ((listener = listeners) != NULL) {
        listeners = listener->next;
        listener->next = NULL;
        if (ready)
            listener->news(listener);
        else
            listener->begun(listener, false);
    }
}

/* The program ends: each stream gets an orderly end. */
void
hubs_end(hubs_t *self)
{
    const char *token;
    void *hub;

    for (size_t i = 0; map_next(self->by_token, &i, &token, &hub);)
        hub_end(hub);
}

/* ---- the master's line ---------------------------------------------------------------------------- */

/* Those who read events, or those who read views. */
static void
hub_tell(const hub_t *self, bool views)
{
    listener_t *next;

    for (listener_t *listener = self->listeners; listener != NULL; listener = next) {
        next = listener->next;
        if (listener->views == views)
            listener->news(listener);
    }
}

/* An event is formatted once, as Salt's /events has it, and shared by all streams of the token. */
static void
hub_add(hub_t *self, const json_t *push)
{
    json_auto_t *shown = json_pack("{s:O, s:O}", "tag", value_get(push, "tag"), "data",
                                   value_get(push, "data"));
    buf_auto_t json = BUF_INIT;

    if (shown == NULL || plain_add_blanks(shown, &json) < 0)
        return;
    /* A tag has no line ends here, as they would end the field of the stream. */
    AUTO_FREE char *tag = xstrdup(value_str(push, "tag", ""));
    for (char *c = tag; *c != '\0'; c++)
        if (*c == '\n' || *c == '\r')
            *c = ' ';
    event_t event = { .text = xasprintf("tag: %s\ndata: %s\n\n", tag, buf_str(&json)) };
    event.len = strlen(event.text);
    event.data = strlen("tag: \n") + strlen(tag);
    self->busy++;
    while (self->first < self->end &&
           (self->end - self->first == HUB_EVENTS || self->bytes + event.len > HUB_BYTES)) {
        /* End the streams whose reader has not taken the event that is about to be overwritten. */
        listener_t *next;
        for (listener_t *listener = self->listeners; listener != NULL; listener = next) {
            next = listener->next;
            if (listener->at > self->first)
                continue;
            log_info("a stream of events is too slow and ends");
            self->hubs->api->stats->streams_cut++;
            listener_off(listener);
            listener->news(listener);
        }
        hub_drop_first(self);
    }
    self->ring[self->end++ % HUB_EVENTS] = event;
    self->bytes += event.len;
    if (self->view != NULL) {
        view_take(self->view, value_str(push, "tag", ""), value_get(push, "data"));
        self->view_due = true;
    }
    hub_tell(self, false);
    self->busy--;
    hub_rest(self);
}

/* Events come only as they happen: `seq` of those before is not asked for. */
static void
hub_take(void *cookie, const json_t *msg)
{
    hub_t *self = cookie;
    json_int_t n = value_int(msg, "n", 0);

    if (msg == NULL || (n != 0 && !value_bool(msg, "ok", false))) {
        hub_end(self);
    } else if (n != 0 && n == self->become_n) {
        json_t *request = json_pack("{s:s}", "op", "events");
        self->events_n = line_ask(self->line, &request);
    } else if (n != 0 && n == self->events_n) {
        /* The master's answer to `events`: from here on nothing is missed. `busy` holds off the end of a hub
         * whose listeners may leave in their callback. */
        listener_t *next;
        self->busy++;
        self->ready = true;
        for (listener_t *listener = self->listeners; listener != NULL; listener = next) {
            next = listener->next;
            listener->begun(listener, true);
        }
        self->busy--;
        hub_rest(self);
    } else if (str_eq(value_str(msg, "push", ""), "event")) {
        hub_add(self, msg);
    }
}

/* The line becomes the token's user at the master, so that a stream shows what that user may see. NULL: the
 * master can't be asked. */
static hub_t *
hub_new(hubs_t *hubs, const char *token)
{
    hub_t *self = xcalloc(1, sizeof(*self));
    fail_auto_t err = FAIL_INIT;
    json_t *become = json_pack("{s:s, s:s}", "op", "become", "token", token);

    self->hubs = hubs;
    self->token = xstrdup(token);
    self->line = line_new(api_lines(hubs->api), token, hub_take, self, &err);
    if (self->line == NULL) {
        json_decref(become);
        hub_free(self);
        return NULL;
    }
    self->become_n = line_ask(self->line, &become);
    map_set(hubs->by_token, token, self);
    return self;
}

/* False: there are as many hubs or views as may be, or no master. `begun` is called at once when the master
 * has already agreed. */
bool
hub_join(hubs_t *self, const char *token, listener_t *listener)
{
    hub_t *hub = map_get(self->by_token, token);

    if (listener->views && self->n_views == HUB_VIEWS)
        return false;
    if (hub == NULL && map_len(self->by_token) < HUBS)
        hub = hub_new(self, token);
    if (hub == NULL)
        return false;
    if (listener->views && hub->view == NULL)
        hub->view = view_new();
    self->n_views += listener->views;
    listener->hub = hub;
    listener->at = listener->views ? UINT64_MAX : hub->end; /* a view is as it is: nobody falls behind */
    listener->off = 0;
    listener->prev = NULL;
    listener->next = hub->listeners;
    if (listener->next != NULL)
        listener->next->prev = listener;
    hub->listeners = listener;
    self->n_listeners++;
    if (hub->ready)
        listener->begun(listener, true);
    return true;
}

/* The rest of the event that the stream is at, BORROWED until the next event comes; NULL: it has read all. */
const char *
hub_read(const listener_t *listener, size_t *ret_len, size_t *ret_data)
{
    const hub_t *hub = listener->hub;

    if (hub == NULL || listener->at >= hub->end)
        return NULL;
    const event_t *event = &hub->ring[listener->at % HUB_EVENTS];
    *ret_len = event->len - listener->off;
    *ret_data = event->data;
    return event->text + listener->off;
}

/* The stream has written n bytes; a socket may take a part of an event. */
void
hub_took(listener_t *listener, size_t n)
{
    const event_t *event = &listener->hub->ring[listener->at % HUB_EVENTS];

    listener->off += n;
    if (listener->off < event->len)
        return;
    listener->off = 0;
    listener->at++;
    listener->hub->hubs->api->stats->events_sent++;
}

view_t *
hub_view(const listener_t *listener)
{
    return listener->hub != NULL ? listener->hub->view : NULL;
}

/* Views are told at most once in VIEW_MS, with whatever has changed by then: states may change with every
 * event. */
void
hubs_turn(hubs_t *self, int64_t now_ms, int *ret_wait)
{
    const char *token;
    void *p;

    for (size_t i = 0; self->n_views > 0 && map_next(self->by_token, &i, &token, &p);) {
        hub_t *hub = p;
        int64_t left = hub->view_ms + VIEW_MS - now_ms;
        if (!hub->view_due)
            continue;
        if (left > 0) {
            *ret_wait = *ret_wait < left ? *ret_wait : (int) left;
            continue;
        }
        hub->view_due = false;
        hub->view_ms = now_ms;
        hub->busy++;
        hub_tell(hub, true);
        hub->busy--;
        if (hub->listeners == NULL) {
            hub_rest(hub);
            i = 0; /* the map has changed */
        }
    }
}
