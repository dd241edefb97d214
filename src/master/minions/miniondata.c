/* miniondata.c - grains, pillar and mine of each minion in memory, backed by the store. After a start the
 * stored texts are taken over unparsed, and parsed on use or in slices of a tick. A write that the store's
 * queue refused is repeated by the tick. */
#include "master/minions/miniondata.h"

#include "common/base/clock.h"
#include "common/base/grainsid.h"
#include "master/front/noise.h"
#include "master/front/part.h"
#include "salt/limits.h"
#include "salt/log.h"

#define SLICE_US 5000 /* per tick */

typedef struct knowledge {
    valuepool_t *pool; /* interns the grains */
    json_t *bare;      /* view of a minion without grains: the id alone */
    uint32_t next;     /* first slot that may have unparsed texts */
    bool behind;       /* some documents are not in the store yet */
} miniondata_t;

static miniondata_t *
miniondata_own(const front_t *front)
{
    return front->own[PART_miniondata];
}

static const char *const names[STORE_DOCS] = {
    [STORE_GRAINS] = "grains", [STORE_PILLAR] = "pillar", [STORE_MINE] = "mine"
};

static void
miniondata_own_keep(front_t *front, minion_t *m, store_doc_t what, json_t *value)
{
    miniondoc_t *self = &m->known;
    if (what == STORE_GRAINS) {
        /* A claimed `id` that differs is corrected and reported: targets rely on it. */
        const char *claimed = value_str(value, "id", NULL);
        if (claimed != NULL && !grains_are_of(value, m->id))
            noise_warn(front,
                       "minion %s: its grains call it '%.100s'; the grain 'id' stays the id of its key",
                       m->id, claimed);
        grains_set_id(value, m->id);
        m->known.grains = valuepool_keep(miniondata_own(front)->pool, value);
    } else if (what == STORE_PILLAR)
        self->pillar = json_incref(value);
    else
        self->mine = json_incref(value);
}

void
miniondata_read(front_t *front, minion_t *m, store_doc_t what)
{
    fail_auto_t err = FAIL_INIT;
    AUTO_FREE char *text = STEAL(m->known.unread[what]);
    if (text == NULL)
        return;
    json_auto_t *value = value_parse(text, strlen(text), LIMIT_LOCAL_MSG, "store", &err);
    if (json_is_object(value))
        miniondata_own_keep(front, m, what, value);
    else
        log_warning("minion %s: its %s in the store can't be read: %s", m->id, names[what],
                    err.text != NULL ? fail_text(&err) : "it is not an object");
}

json_t *
miniondata_get(front_t *front, minion_t *m, store_doc_t what)
{
    miniondata_read(front, m, what);
    return miniondoc_view(&m->known, what);
}

json_t *
miniondata_grains(front_t *front, minion_t *m)
{
    json_t *grains = miniondata_get(front, m, STORE_GRAINS);
    if (grains != NULL)
        return grains;
    if (miniondata_own(front)->bare == NULL)
        miniondata_own(front)->bare = json_object();
    grains_set_id(miniondata_own(front)->bare, m->id);
    return miniondata_own(front)->bare;
}

void
miniondata_set(front_t *front, minion_t *m, store_doc_t what, json_t *value)
{
    json_auto_t *kept = json_incref(value); /* `value` may belong to what is dropped */
    miniondoc_drop(&m->known, what);
    if (kept != NULL)
        miniondata_own_keep(front, m, what, kept);
}

/* Queue a document for the store. False: no room, to be repeated. */
static bool
miniondata_put(front_t *front, minion_t *m, store_doc_t what)
{
    typedef uint64_t put_fn(store_t * store, const char *id, char **text_p);
    static put_fn *const put[STORE_DOCS] = {
        [STORE_GRAINS] = store_put_grains, [STORE_PILLAR] = store_put_pillar, [STORE_MINE] = store_put_mine
    };
    char *text = value_dump(miniondoc_view(&m->known, what));
    m->known.unkept[what] = put[what](front->store, m->id, &text) == 0;
    return !m->known.unkept[what];
}

void
miniondata_keep(front_t *front, minion_t *m, store_doc_t what, json_t *value)
{
    miniondata_set(front, m, what, value);
    if (!miniondata_put(front, m, what))
        miniondata_own(front)->behind = true;
}

bool
miniondata_is(const minion_t *m, store_doc_t what, const char *text, size_t len)
{
    const char *unread = m->known.unread[what];
    json_t *view = unread != NULL ? NULL : miniondoc_view(&m->known, what);
    AUTO_FREE char *dumped = view != NULL ? value_dump(view) : NULL;
    const char *have = unread != NULL ? unread : dumped;
    return have != NULL && strlen(have) == len && memcmp(have, text, len) == 0;
}

/* ---- after a start --------------------------------------------------------------------------- */

typedef struct load {
    front_t *front;
    store_doc_t what;
} load_t;

static void
miniondata_take_over(void *cookie, const char *id, const char *text)
{
    load_t *load = cookie;
    minion_t *m = peers_by_id(load->front->peers, id);
    if (m != NULL)
        m->known.unread[load->what] = xstrdup(text);
}

static int
miniondata_start(front_t *front, fail_t *err)
{
    int rc = 0;
    miniondata_own(front)->pool = valuepool_new();
    for (store_doc_t what = 0; what < STORE_DOCS && rc == 0; what++) {
        load_t load = { front, what };
        rc = store_docs_each(front->reader, what, miniondata_take_over, &load, err);
    }
    return rc;
}

/* Queue documents that the store refused. True when none are left. */
static bool
catch_up(front_t *front, int64_t until_us)
{
    for (uint32_t slot = 0; slot < peers_slots(front->peers); slot++) {
        minion_t *m = peers_by_slot(front->peers, slot);
        for (store_doc_t what = 0; m != NULL && what < STORE_DOCS; what++)
            if (m->known.unkept[what] && (clock_mono_us() >= until_us || !miniondata_put(front, m, what)))
                return false;
    }
    return true;
}

/* Parse some more stored texts, and repeat refused writes. */
static void
miniondata_tick(front_t *front, int64_t now_ms)
{
    miniondata_t *self = miniondata_own(front);
    int64_t until = clock_mono_us() + SLICE_US;
    if (self->behind)
        self->behind = !catch_up(front, until);
    while (self->next < peers_slots(front->peers) && clock_mono_us() < until) {
        minion_t *m = peers_by_slot(front->peers, self->next++);
        for (store_doc_t what = 0; m != NULL && what < STORE_DOCS; what++)
            miniondata_read(front, m, what);
    }
}

/* Runs before the minions are freed, as their grains belong to `pool`. */
static bool
miniondata_destroy(front_t *front)
{
    minion_t *m;
    for (uint32_t slot = 0; slot < peers_slots(front->peers); slot++)
        if ((m = peers_by_slot(front->peers, slot)))
            miniondoc_free(&m->known);
    valuepool_destroy(&miniondata_own(front)->pool);
    json_decref(miniondata_own(front)->bare);
    return true;
}

const front_part_t part_miniondata = { .name = "known",
                                       .size = sizeof(miniondata_t),
                                       .start = miniondata_start,
                                       .destroy = miniondata_destroy,
                                       .tick = miniondata_tick };
