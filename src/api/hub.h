/* hub.h - events of the master as one user sees them, for all streams that read by the same token.
 *
 * The master filters events by the rules of the user that a connection has become, so each token has a line of
 * its own, and its streams share it. Events lie in a ring, HUB_EVENTS of them and HUB_BYTES at most; a stream
 * has a place in it. A stream that is so slow that its place is overwritten ends.
 *
 * Layer      api
 * Threads    one
 * Ownership  a hub exists as long as it has listeners
 * Tests      tests/t/6330-api-streams.bats
 */
#ifndef API_HUB_H
#define API_HUB_H

#include "api/api.h"
#include "api/view.h"
#include "salt/base.h"

#define HUB_EVENTS 4096
#define HUB_BYTES  (16 * 1024 * 1024)
#define HUBS       512 /* tokens by which somebody listens: each takes a line to the master */
#define HUB_VIEWS  32  /* listeners of views: each may have VIEW_BYTES under way */
#define VIEW_MS    100 /* a view is told at most so often: it changes with each return of a job */

typedef struct hub hub_t;
typedef struct hubs hubs_t;

/* Who listens. A listener is part of its user's struct, who takes it off before freeing it. */
typedef struct listener {
    struct listener *next, *prev;
    hub_t *hub;  /* NULL: it has ended */
    uint64_t at; /* the event that it reads next, */
    size_t off;  /* and the bytes of it that it has */
    bool views;  /* it reads hub_view() instead; set before it joins */
    void (*begun)(struct listener *self,
                  bool lets);            /* the master takes the token, or not (then it has ended) */
    void (*news)(struct listener *self); /* there are events to read, or it has ended */
} listener_t;

hubs_t *hubs_new(api_t *api);
void hubs_destroy(hubs_t **self_p);
/* Listens by this token, from now on. False: there is no master, or no place for one more token or view;
 * nobody is called then. */
bool hub_join(hubs_t *self, const char *token, listener_t *listener);
/* Accepts one that has ended or never joined. */
void hub_leave(listener_t *listener);
/* The rest of the event that the listener reads, "tag: TAG\ndata: JSON\n\n"; NULL: none is there now. *ret_data:
 * where "data:" begins, from the event's start. BORROWED until the next turn of the poller. */
const char *hub_read(const listener_t *listener, size_t *ret_len, size_t *ret_data);
/* So many bytes of it are read. */
void hub_took(listener_t *listener, size_t n);
/* The picture that events since somebody listened to views make. BORROWED; NULL: the listener has ended. */
view_t *hub_view(const listener_t *listener);
/* Tells listeners of views that theirs has changed. In each turn of the loop; *ret_wait gets less when it
 * must turn sooner. */
void hubs_turn(hubs_t *self, int64_t now_ms, int *ret_wait);
/* All listeners end: the program does. */
void hubs_end(hubs_t *self);
size_t hubs_listeners(const hubs_t *self);

#endif
