/* session.c - see session.h. */
#include "api/session.h"

#include <sys/random.h>

#include "common/base/map.h"
#include "salt/value.h"

struct sessions {
    map_t *by_id;
};

static void
session_free(void *p)
{
    session_t *session = p;

    explicit_bzero(session->token, strlen(session->token));
    free(session->token);
    free(session->user);
    free(session->eauth);
    free(session);
}

sessions_t *
sessions_new(void)
{
    sessions_t *self = xcalloc(1, sizeof(*self));

    self->by_id = map_new(session_free);
    return self;
}

void
sessions_destroy(sessions_t **self_p)
{
    sessions_t *self = STEAL(*self_p);

    if (self == NULL)
        return;
    map_destroy(&self->by_id);
    free(self);
}

static bool
session_over(const session_t *session, double now)
{
    return now >= session->expire || now - session->used > SESSION_IDLE_S;
}

void
sessions_sweep(sessions_t *self, double now)
{
    const char *id;
    void *session;

    for (size_t i = 0; map_next(self->by_id, &i, &id, &session);)
        if (session_over(session, now))
            (void) map_del(self->by_id, id);
}

/* Makes room: of those whose time is over, or else of the one that is idle for longest. */
static void
session_make_room(sessions_t *self, double now)
{
    session_t *oldest = NULL;
    const char *id;
    void *session;

    sessions_sweep(self, now);
    if (map_len(self->by_id) < SESSIONS_MAX)
        return;
    for (size_t i = 0; map_next(self->by_id, &i, &id, &session);)
        if (oldest == NULL || ((session_t *) session)->used < oldest->used)
            oldest = session;
    if (oldest != NULL)
        (void) map_del(self->by_id, oldest->id);
}

session_t *
session_begin(sessions_t *self, const json_t *login, double now)
{
    unsigned char bytes[SESSION_ID_LEN / 2];
    session_t *session = xcalloc(1, sizeof(*session));

    salt_assert(getrandom(bytes, sizeof(bytes), 0) == sizeof(bytes));
    for (size_t i = 0; i < sizeof(bytes); i++)
        (void) snprintf(session->id + 2 * i, 3, "%02x", bytes[i]);
    session->token = xstrdup(value_str(login, "token", ""));
    session->user = xstrdup(value_str(login, "user", ""));
    session->eauth = xstrdup(value_str(login, "eauth", ""));
    session->expire = value_num(login, "expire", 0);
    session->used = now;
    if (map_len(self->by_id) >= SESSIONS_MAX)
        session_make_room(self, now);
    map_set(self->by_id, session->id, session);
    return session;
}

session_t *
session_find(sessions_t *self, const char *id, double now)
{
    session_t *session = id != NULL ? map_get(self->by_id, id) : NULL;

    if (session == NULL)
        return NULL;
    if (session_over(session, now)) {
        (void) map_del(self->by_id, session->id);
        return NULL;
    }
    session->used = now;
    return session;
}

void
session_leave(sessions_t *self, const char *id)
{
    (void) map_del(self->by_id, id);
}

size_t
sessions_count(const sessions_t *self)
{
    return map_len(self->by_id);
}
