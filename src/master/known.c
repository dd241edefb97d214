/* known.c - see known.h. */
#include "master/known.h"

#include "common/base/clock.h"
#include "common/base/grainsid.h"
#include "master/front.h"
#include "master/peers.h"
#include "master/store_read.h"
#include "salt/limits.h"
#include "salt/log.h"

#define SLICE_US 5000 /* of a tick */

static const char *const names[STORE_DOCS] = {
    [STORE_GRAINS] = "grains", [STORE_PILLAR] = "pillar", [STORE_MINE] = "mine"
};

static json_t *
s_view(const known_t *self, store_doc_t what)
{
    return what == STORE_GRAINS ? kept_view(self->grains) : what == STORE_PILLAR ? self->pillar : self->mine;
}

static void
s_drop(known_t *self, store_doc_t what)
{
    free(self->unread[what]);
    self->unread[what] = NULL;
    self->unkept[what] = false;
    if (what == STORE_GRAINS) {
        kept_destroy(&self->grains);
        return;
    }
    json_t **doc = what == STORE_PILLAR ? &self->pillar : &self->mine;
    json_decref(*doc);
    *doc = NULL;
}

static void
s_keep_grains(front_t *front, minion_t *m, json_t *grains)
{
    const char *claimed = value_str(grains, "id", NULL);
    if (claimed && !grains_are_of(grains, m->id))
        front_noise(front, "minion %s: its grains call it '%.100s'; the grain 'id' stays the id of its key",
                    m->id, claimed);
    grains_set_id(grains, m->id);
    m->known.grains = alike_keep(front->known.alike, grains);
}

static void
s_keep(front_t *front, minion_t *m, store_doc_t what, json_t *value)
{
    known_t *self = &m->known;
    if (what == STORE_GRAINS)
        s_keep_grains(front, m, value);
    else if (what == STORE_PILLAR)
        self->pillar = json_incref(value);
    else
        self->mine = json_incref(value);
}

void
known_read(front_t *front, minion_t *m, store_doc_t what)
{
    fail_auto_t err = FAIL_INIT;
    AUTO_FREE char *text = STEAL(m->known.unread[what]);
    if (!text)
        return;
    json_auto_t *value = value_parse(text, strlen(text), LIMIT_LOCAL_MSG, "store", &err);
    if (json_is_object(value))
        s_keep(front, m, what, value);
    else
        log_warning("minion %s: its %s in the store can't be read: %s", m->id, names[what],
                    err.text ? fail_text(&err) : "it is no object");
}

json_t *
known_get(front_t *front, minion_t *m, store_doc_t what)
{
    known_read(front, m, what);
    return s_view(&m->known, what);
}

json_t *
known_grains(front_t *front, minion_t *m)
{
    json_t *grains = known_get(front, m, STORE_GRAINS);
    if (grains)
        return grains;
    if (!front->known.bare)
        front->known.bare = json_object();
    grains_set_id(front->known.bare, m->id);
    return front->known.bare;
}

void
known_set(front_t *front, minion_t *m, store_doc_t what, json_t *value)
{
    json_auto_t *kept = json_incref(value); /* it may be a part of what is dropped */
    s_drop(&m->known, what);
    if (kept)
        s_keep(front, m, what, kept);
}

/* False: it has no room. */
static bool
s_put(front_t *front, minion_t *m, store_doc_t what)
{
    typedef uint64_t put_fn(store_t * store, const char *id, char **text_p);
    static put_fn *const put[STORE_DOCS] = {
        [STORE_GRAINS] = store_put_grains, [STORE_PILLAR] = store_put_pillar, [STORE_MINE] = store_put_mine
    };
    char *text = value_dump(s_view(&m->known, what));
    m->known.unkept[what] = put[what](front->store, m->id, &text) == 0;
    return !m->known.unkept[what];
}

void
known_keep(front_t *front, minion_t *m, store_doc_t what, json_t *value)
{
    known_set(front, m, what, value);
    if (!s_put(front, m, what))
        front->known.behind = true;
}

bool
known_is(const minion_t *m, store_doc_t what, const char *text, size_t len)
{
    const char *unread = m->known.unread[what];
    json_t *view = unread ? NULL : s_view(&m->known, what);
    AUTO_FREE char *dumped = view ? value_dump(view) : NULL;
    const char *have = unread ? unread : dumped;
    return have && strlen(have) == len && memcmp(have, text, len) == 0;
}

void
known_free(known_t *self)
{
    for (store_doc_t what = 0; what < STORE_DOCS; what++)
        s_drop(self, what);
}

/* ---- after a start --------------------------------------------------------------------------- */

typedef struct load {
    front_t *front;
    store_doc_t what;
} load_t;

static void
s_take_over(void *cookie, const char *id, const char *text)
{
    load_t *load = cookie;
    minion_t *m = peers_by_id(load->front->peers, id);
    if (m)
        m->known.unread[load->what] = xstrdup(text);
}

int
known_load(front_t *front, fail_t *err)
{
    int rc = 0;
    for (store_doc_t what = 0; what < STORE_DOCS && rc == 0; what++) {
        load_t load = { front, what };
        rc = store_docs_each(front->reader, what, s_take_over, &load, err);
    }
    front->known.next = 0;
    return rc;
}

/* Whether the store has got all of them. */
static bool
s_catch_up(front_t *front, int64_t until_us)
{
    for (uint32_t slot = 0; slot < peers_slots(front->peers); slot++) {
        minion_t *m = peers_by_slot(front->peers, slot);
        for (store_doc_t what = 0; m && what < STORE_DOCS; what++)
            if (m->known.unkept[what] && (clock_mono_us() >= until_us || !s_put(front, m, what)))
                return false;
    }
    return true;
}

void
known_tick(front_t *front)
{
    int64_t until = clock_mono_us() + SLICE_US;
    if (front->known.behind)
        front->known.behind = !s_catch_up(front, until);
    while (front->known.next < peers_slots(front->peers) && clock_mono_us() < until) {
        minion_t *m = peers_by_slot(front->peers, front->known.next++);
        for (store_doc_t what = 0; m && what < STORE_DOCS; what++)
            known_read(front, m, what);
    }
}
