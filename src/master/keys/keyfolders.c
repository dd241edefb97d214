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
    uint64_t stamp; /* of the folders when they were last read; 0: read them again */
} keyfolders_t;

/* The ids whose entries the folders don't agree with. NEW array, NULL when the folders can't be read. */
static json_t *
keyfolders_changed(front_t *front)
{
    static const key_state_t states[] = { KEY_ACCEPTED, KEY_REJECTED, KEY_PENDING };
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

void
keyfolders_look(front_t *front)
{
    keyfolders_t *self = front->own[PART_keyfolders];
    uint64_t stamp = keystore_stamp(front->keystore);
    size_t i;
    json_t *id;

    if (stamp != 0 && stamp == self->stamp)
        return;
    json_auto_t *changed = keyfolders_changed(front);
    self->stamp = changed != NULL ? stamp : 0;
    json_array_foreach (changed, i, id)
        (void) auth_heed(front, json_string_value(id));
}

static void
keyfolders_tick(front_t *front, int64_t now_ms)
{
    (void) now_ms;
    keyfolders_look(front);
}

const front_part_t part_keyfolders = {
    .name = "keyfolders", .size = sizeof(keyfolders_t), .tick = keyfolders_tick, .every_ms = LOOK_MS
};
