/* grainsid.c - see grainsid.h. */
#include "common/base/grainsid.h"

#define GRAIN "id"

/* Compares lengths as well: a JSON text may hold a NUL, and is a different id then. */
bool
grains_are_of(const json_t *grains, const char *id)
{
    const json_t *said = value_get(grains, GRAIN);

    return json_is_string(said) && json_string_length(said) == strlen(id) &&
           strcmp(json_string_value(said), id) == 0;
}

void
grains_set_id(json_t *grains, const char *id)
{
    if (!grains_are_of(grains, id))
        json_object_set_new(grains, GRAIN, value_utf8(id, strlen(id)));
}
