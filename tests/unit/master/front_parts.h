/* front_parts.h - some parts of a master, without its loop: a test starts those that it needs. */
#ifndef TESTS_UNIT_MASTER_FRONT_PARTS_H
#define TESTS_UNIT_MASTER_FRONT_PARTS_H

#include "master/front/part.h"
#include "unit/unit.h"

static inline void
start_part(front_t *front, part_id_t id, const front_part_t *part)
{
    fail_auto_t err = FAIL_INIT;

    if (part->size > 0)
        front->own[id] = xcalloc(1, part->size);
    if (part->start && part->start(front, &err) < 0)
        fail_msg("%s: %s", part->name, fail_text(&err));
}

static inline void
end_part(front_t *front, part_id_t id, const front_part_t *part)
{
    if (part->destroy)
        assert_true(part->destroy(front));
    if (part->size > 0)
        free(front->own[id]);
    front->own[id] = NULL;
}

#define START(front, name) start_part(front, PART_##name, &part_##name)
#define END(front, name)   end_part(front, PART_##name, &part_##name)

#endif
