/* names.c - see names.h. Sorting first makes the first and the last name the extremes, whose common prefix is
 * everyone's. */
#include "master/operators/names.h"

#include "salt/limits.h"
#include "salt/value.h"

json_t *
names_bounded(json_t *all)
{
    size_t n = json_array_size(all), kept = n < LIMIT_NAMES ? n : LIMIT_NAMES;
    json_t *names = json_array();
    json_auto_t *sorted = value_sorted_texts(all);
    for (size_t i = 0; i + 1 < kept; i++)
        json_array_append(names, json_array_get(sorted, i));
    if (kept > 0)
        json_array_append(names, json_array_get(sorted, n - 1));
    json_decref(all);
    return names;
}
