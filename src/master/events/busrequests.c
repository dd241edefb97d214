/* busrequests.c - the requests `events` (listen) and `journal` (read past events). */
#include "master/operators/lconn.h"
#include "master/operators/sight.h"
#include "master/events/listen.h"
#include "master/front/request.h"

static json_t *
events(front_t *self, lconn_t *c, const json_t *request, fail_t *err)
{
    if (!lconn_may_match(c, request, err) || !lconn_listen(c, request, err))
        return NULL;
    return json_pack("{s:I}", "seq", (json_int_t) self->seq);
}

static void
listens(front_t *self, lconn_t *c, const request_done_t *done)
{
    lconn_begin(c);
}

const request_row_t request_events = { .fn = events, .answered = listens };

static json_t *
busrequests_journal(front_t *self, lconn_t *c, const json_t *request, fail_t *err)
{
    listen_may_fn *may = lconn_as(c) != NULL ? sight_shows : NULL;
    return lconn_may_match(c, request, err) ? listen_journal(self, request, !lconn_is_admin(c), may, c, err)
                                            : NULL;
}

const request_row_t request_journal = { .fn = busrequests_journal };
