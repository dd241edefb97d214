/* requests.c - operators' requests over the local socket: find the row of requests.def, check access
 * (administrators, readers, publisher_acl), run the handler, write the audit log and reply. */
#include "master/front/request.h"

#include "common/base/str.h"
#include "master/operators/acl.h"
#include "master/events/bus.h"
#include "master/front/hooks.h"
#include "master/operators/lconn.h"
#include "master/operators/lsock.h"
#include "master/operators/sight.h"
#include "master/jobs/notes.h"
#include "master/front/part.h"
#include "salt/log.h"
#include "salt/value.h"

typedef enum audited { AUDITED_QUIET, AUDITED_AUDIT } audited_t;

#define REQUEST(name, access, audit, doc) { #name, ACL_##access, AUDITED_##audit, &request_##name },
static const struct operation {
    const char *name;
    acl_access_t access;
    audited_t audited;
    const request_row_t *row;
} rows[] = {
#include "salt/requests.def"
};
#undef REQUEST

/* Audit one line per key that a request changed or failed to change; otherwise one line in all. Refusals by
 * users have a bounded share of the log. */
static void
requests_audit(front_t *self, lconn_t *c, const json_t *request, bool allowed, const json_t *reply,
               const fail_t *err)
{
    json_t *line = audit_request(request, allowed, reply, err), *done = value_get(reply, "done"), *one;
    const char *id;
    size_t i;
    lconn_sign(c, line);
    if (json_array_size(done) + json_object_size(value_get(reply, "failed")) == 0) {
        if (allowed)
            audit_write(self->audit, &line);
        else
            audit_write_spare(self->audit, AUDIT_USERS, &line);
        return;
    }
    json_array_foreach (done, i, one) {
        json_t *copy = json_copy(line);
        json_object_set(copy, "id", one);
        audit_write(self->audit, &copy);
    }
    json_object_foreach (value_get(reply, "failed"), id, one) {
        json_t *copy = json_copy(line);
        (void) json_object_update_new(
            copy, json_pack("{s:s, s:s, s:O}", "id", id, "outcome", "failed", "why", one));
        audit_write(self->audit, &copy);
    }
    json_decref(line);
}

/* Run the handler. For a request of a runner (`within`), other parts learn what it caused before listeners
 * get the events, hence bus_hold. */
static json_t *
requests_done(front_t *self, lconn_t *c, const request_row_t *row, const json_t *request, fail_t *err)
{
    const char *within = value_str(request, "within", "");
    uint64_t before = self->seq;
    if (!*within || !lconn_is_admin(c))
        return row->fn(self, c, request, err);
    bus_hold(self);
    json_t *reply = row->fn(self, c, request, err);
    hook_caused(self, within, value_str(reply, "jid", ""), before + 1, self->seq);
    bus_release(self);
    return reply;
}

/* True when the sender of a changing request has gone: it has been told that nothing happens
 * (cli/interrupt.h), and nobody would have the jid. */
static bool
is_taken_back(lconn_t *c, bool changes, const char *op, fail_t *err)
{
    if (!changes || !lconn_is_gone(c))
        return false;
    log_info("local socket: %s by %s is dropped: who asked did not wait for the answer", op, lconn_user(c));
    (void) fail_set(err, -EPIPE, "who asked did not wait for the answer");
    return true;
}

static void
operate(front_t *self, lconn_t *c, const struct operation *op, const json_t *request)
{
    fail_auto_t err = FAIL_INIT;
    json_t *reply = NULL;
    bool allowed = acl_lets(self, c, op->name, op->access, request, &err) == 0;
    if (allowed && !is_taken_back(c, op->audited == AUDITED_AUDIT, op->name, &err))
        reply = requests_done(self, c, op->row, request, &err);
    if (!allowed || op->audited == AUDITED_AUDIT)
        requests_audit(self, c, request, allowed, reply, &err);
    if (reply != NULL || err.code != 0) /* neither: the handler answers later */
    {
        /* Send the reply now, or after the commit that it waits for; then call `answered`. */
        const request_row_t *row = op->row;
        AUTO_FREE char *jid = xstrdup(value_str(reply, "jid", ""));
        request_done_t done = { request, jid, value_bool(reply, "again", false) };
        json_int_t n = value_int(request, "n", 0);
        bool ok = reply != NULL;
        if (*jid != '\0' && lconn_as(c) != NULL)
            sight_begun(self, c, jid);
        if (ok && row->waits != NULL && row->waits(request))
            later_answer(self, request_message(n, reply, &err), c);
        else
            request_answer(c, n, reply, &err);
        if (ok && row->answered != NULL)
            row->answered(self, c, &done);
    }
}

static void
requests_handle(front_t *self, lconn_t *c, const json_t *asked)
{
    fail_auto_t err = FAIL_INIT;
    json_auto_t *request = json_copy((json_t *) asked);
    const char *name = value_str(request, "op", "");
    /* Users must not explore pillars with patterns: their pillar targets match exactly. */
    if (!lconn_is_admin(c))
        json_object_set_new(request, "pillar_exact", json_true());
    /* Who asks is the connection's, whatever the request says. */
    (void) json_object_del(request, "as");
    if (lconn_as(c) != NULL)
        json_object_set(request, "as", (json_t *) lconn_as(c));
    for (size_t i = 0; i < NELEMS(rows); i++)
        if (str_eq(rows[i].name, name)) {
            operate(self, c, &rows[i], request);
            return;
        }
    (void) fail_set(&err, -EOPNOTSUPP,
                    "the master knows no operation '%s'; is this command of the same version?", name);
    request_answer(c, value_int(request, "n", 0), NULL, &err);
}

static bool
handle_text(front_t *self, lconn_t *c, const char *text, size_t len)
{
    if (!lconn_is_admin(c))
        return false;
    for (size_t i = 0; i < NELEMS(rows); i++)
        if (rows[i].row->text != NULL && rows[i].row->text(self, c, text, len))
            return true;
    return false;
}

static int
requests_start(front_t *self, fail_t *err)
{
    static const lsock_server_t server = {
        .handle = requests_handle, .handle_text = handle_text, .may_come = acl_may_come, .shows = sight_shows
    };
    lsock_serve(self, &server);
    return 0;
}

const front_part_t part_requests = { .name = "requests", .start = requests_start };
