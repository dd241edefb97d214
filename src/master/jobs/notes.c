/* notes.c - idempotent requests and work that waits for a commit.
 *
 * A queue ordered by store tickets holds callbacks, answers and fresh notes. The part's `committed` hook runs
 * the head of the queue up to the committed ticket. A note is found in `fresh` until its row is committed and
 * in the store from then on, so there is no moment at which a repeated request would start its job twice. */
#include "master/jobs/notes.h"

#include "common/base/str.h"
#include "master/operators/lconn.h"
#include "master/front/part.h"
#include "salt/value.h"

/* An entry of the queue; tickets never decrease from head to tail. */
typedef struct later {
    struct later *next;
    uint64_t ticket;
    later_fn *fn;
    lconn_t *conn;   /* BORROWED; NULL: without a connection, or it has closed */
    char *jid, *key; /* owned; the key of a note, or NULL */
    json_t *answer;  /* owned: pushed to `conn`; or NULL */
} later_t;

typedef struct notes {
    map_t *fresh; /* by key: the reply (json_t) to a request whose row is not committed yet */
    later_t *head, **tail;
} notes_t;

static notes_t *
notes_own(const front_t *front)
{
    return front->own[PART_notes];
}

static void
drop_json(void *p)
{
    json_decref(p);
}

static int
notes_start(front_t *front, fail_t *err)
{
    notes_t *self = notes_own(front);
    self->fresh = map_new(drop_json);
    self->tail = &self->head;
    return 0;
}

static later_t *
notes_take(notes_t *self)
{
    later_t *l = self->head;
    self->head = l->next;
    if (self->head == NULL)
        self->tail = &self->head;
    return l;
}

static void
notes_free(later_t *l)
{
    free(l->jid);
    free(l->key);
    json_decref(l->answer);
    free(l);
}

static bool
notes_destroy(front_t *front)
{
    notes_t *self = notes_own(front);
    while (self->head != NULL)
        notes_free(notes_take(self));
    map_destroy(&self->fresh);
    return true;
}

/* ---- notes ----------------------------------------------------------------------------------- */

static const char *const parts[] = { "kind", "ref", "part" };

/* The three fields joined by U+001F, the unit separator. */
static char *
notes_key(const json_t *note)
{
    return xasprintf("%s\x1f%s\x1f%s", value_str(note, parts[0], ""), value_str(note, parts[1], ""),
                     value_str(note, parts[2], ""));
}

/* The reply of the first request, rebuilt from its row in the store; `forgotten` when the job has expired
 * meanwhile and only its note is left. NEW. */
static json_t *
notes_again(front_t *self, const char *jid, fail_t *err)
{
    json_auto_t *row = store_job(self->reader, jid, err);
    if (row == NULL)
        return NULL;
    json_t *reply = json_pack("{s:s, s:b}", "jid", jid, "again", true);
    if (json_is_null(row))
        json_object_set_new(reply, "forgotten", json_true());
    static const char *const kept[] = { "minions", "missing", "tag" };
    for (size_t i = 0; i < NELEMS(kept); i++)
        if (value_get(row, kept[i]) != NULL)
            json_object_set(reply, kept[i], value_get(row, kept[i]));
    return reply;
}

/* Only administrators may give notes: a user's could take the place of a reaction's, which then would not
 * run. */
int
notes_find(front_t *self, const lconn_t *c, const json_t *request, json_t **ret_reply, fail_t *err)
{
    const json_t *note = value_get(request, "note");
    *ret_reply = NULL;
    if (note == NULL)
        return 0;
    if (!lconn_is_admin(c))
        return fail_set(err, -EACCES, "only root and the master's user may give a note");

    for (size_t i = 0; i < NELEMS(parts); i++) {
        const char *text = value_str(note, parts[i], "");
        if (*text && strlen(text) <= LIMIT_NOTE_LEN)
            continue;
        (void) fail_set(err, -EINVAL, "a note's '%s' is a text of 1 to %d bytes", parts[i], LIMIT_NOTE_LEN);
        return err->code;
    }

    AUTO_FREE char *key = notes_key(note);
    const json_t *fresh = map_get(notes_own(self)->fresh, key);
    if (fresh != NULL) {
        *ret_reply = json_copy((json_t *) fresh);
        json_object_set_new(*ret_reply, "again", json_true());
        return 1;
    }
    json_auto_t *jid = store_noted(self->reader, value_str(note, "kind", ""), value_str(note, "ref", ""),
                                   value_str(note, "part", ""), err);
    if (jid == NULL)
        return err->code;
    if (json_is_null(jid))
        return 0;
    *ret_reply = notes_again(self, json_string_value(jid), err);
    return *ret_reply ? 1 : err->code;
}

/* ---- after a commit -------------------------------------------------------------------------- */

/* row_ticket is the newest ticket of the front loop, so appending keeps the queue in order. */
static later_t *
notes_append(notes_t *self, uint64_t ticket, later_fn *fn, const char *jid, lconn_t *c)
{
    later_t *l = xcalloc(1, sizeof(*l));
    l->ticket = ticket;
    l->fn = fn;
    l->conn = c;
    l->jid = xstrdup(jid);
    *self->tail = l;
    self->tail = &l->next;
    return l;
}

/* Keeps `fresh` until the ticket of the job's row is committed: see notes_committed. */
void
notes_keep(front_t *self, const json_t *request, const json_t *reply)
{
    const json_t *note = value_get(request, "note");
    if (note == NULL)
        return;
    later_t *l = notes_append(notes_own(self), self->row_ticket, NULL, value_str(reply, "jid", ""), NULL);
    l->key = notes_key(note);
    map_set(notes_own(self)->fresh, l->key, json_deep_copy(reply));
}

static void
notes_committed(front_t *self)
{
    notes_t *notes = notes_own(self);
    uint64_t committed = store_committed(self->store);
    while (notes->head != NULL && notes->head->ticket <= committed) {
        later_t *l = notes_take(notes);
        if (l->key != NULL)
            (void) map_del(notes->fresh, l->key);
        if (l->fn != NULL)
            l->fn(self, l->jid, l->conn);
        if (l->answer != NULL && l->conn != NULL)
            (void) lconn_push(l->conn, l->answer);
        notes_free(l);
    }
}

/* Run the queue at once when nothing is pending: no commit would wake it. */
static void
turn_if_due(front_t *self)
{
    if (store_committed(self->store) >= self->row_ticket)
        notes_committed(self);
}

void
later_add(front_t *self, later_fn *fn, const char *jid, lconn_t *c)
{
    (void) notes_append(notes_own(self), self->row_ticket, fn, jid, c);
    turn_if_due(self);
}

void
later_answer(front_t *self, json_t *msg, lconn_t *c)
{
    notes_append(notes_own(self), self->row_ticket, NULL, "", c)->answer = msg;
    turn_if_due(self);
}

bool
later_waits(const front_t *self, const char *jid, const lconn_t *c)
{
    for (const later_t *l = notes_own(self)->head; l; l = l->next)
        if (l->conn == c && str_eq(l->jid, jid))
            return true;
    return false;
}

/* Entries of a closed connection stay in the queue, for their note's key, but call nothing. */
static void
notes_line_closed(front_t *self, lconn_t *c)
{
    for (later_t *l = notes_own(self)->head; l; l = l->next)
        if (l->conn == c) {
            l->fn = NULL;
            l->conn = NULL;
        }
}

const front_part_t part_notes = { .name = "notes",
                                  .size = sizeof(notes_t),
                                  .start = notes_start,
                                  .destroy = notes_destroy,
                                  .committed = notes_committed,
                                  .line_closed = notes_line_closed };
