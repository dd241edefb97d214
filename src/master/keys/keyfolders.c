/* keyfolders.c - key files that operators change by hand, as Salt's users do, with rm, mv, cp or their
 * configuration management. The folders' times tell that something has changed; then their names are held
 * against the table. A job sees a change at once, everything else within LOOK_MS. */
#include "master/keys/keyfolders.h"

#include "keyring/keystore.h"
#include "master/front/noise.h"
#include "master/front/part.h"
#include "master/keys/auth.h"
#include "master/minions/peers.h"
#include "salt/value.h"

#define LOOK_MS 1000

typedef struct keyfolders {
    uint64_t stamps[KEY_STATES]; /* of the folders when they were last read; 0: read them again */
} keyfolders_t;

/* An id with a file in several is in the first. */
static const key_state_t states[] = { KEY_ACCEPTED, KEY_REJECTED, KEY_PENDING };

/* The ids whose entries the folders don't agree with. NEW array, NULL when the folders can't be read. */
static json_t *
keyfolders_changed(front_t *front)
{
    json_auto_t *seen = json_object(), *changed = json_array();
    const minion_t *m;

    for (size_t k = 0; k < NELEMS(states); k++) {
        fail_auto_t err = FAIL_INIT;
        json_auto_t *ids = keystore_list(front->keystore, states[k], &err);
        size_t i;
        json_t *id;
        if (ids == NULL) {
            noise_warn(front, "%s", fail_text(&err));
            return NULL;
        }
        json_array_foreach (ids, i, id) {
            m = peers_by_id(front->peers, json_string_value(id));
            if (json_object_get(seen, json_string_value(id)) == NULL && (m == NULL || m->state != states[k]))
                json_array_append(changed, id);
            json_object_set(seen, json_string_value(id), id);
        }
    }
    for (uint32_t i = 0; i < peers_slots(front->peers); i++)
        if ((m = peers_by_slot(front->peers, i)) != NULL && json_object_get(seen, m->id) == NULL)
            json_array_append_new(changed, json_string(m->id));
    return STEAL(changed);
}

static bool
keyfolders_is_read(const front_t *front, key_state_t state)
{
    const keyfolders_t *self = front->own[PART_keyfolders];
    uint64_t stamp = keystore_stamp(front->keystore, state);

    return stamp != 0 && stamp == self->stamps[state];
}

static void
keyfolders_read(front_t *front)
{
    keyfolders_t *self = front->own[PART_keyfolders];
    uint64_t stamps[KEY_STATES] = { 0 };
    size_t i;
    json_t *id;

    for (i = 0; i < NELEMS(states); i++)
        stamps[states[i]] = keystore_stamp(front->keystore, states[i]);
    json_auto_t *changed = keyfolders_changed(front);
    if (changed != NULL)
        (void) memcpy(self->stamps, stamps, sizeof(stamps));
    json_array_foreach (changed, i, id)
        (void) auth_heed(front, json_string_value(id));
}

/* Jobs are for accepted keys: a flood of new ones does not make them wait. */
void
keyfolders_look(front_t *front)
{
    if (!keyfolders_is_read(front, KEY_ACCEPTED))
        keyfolders_read(front);
}

static void
keyfolders_tick(front_t *front, int64_t now_ms)
{
    bool read = true;

    for (size_t i = 0; i < NELEMS(states); i++)
        read = read && keyfolders_is_read(front, states[i]);
    if (!read)
        keyfolders_read(front);
}

const front_part_t part_keyfolders = {
    .name = "keyfolders", .size = sizeof(keyfolders_t), .tick = keyfolders_tick, .every_ms = LOOK_MS
};
