/* parts.c - see parts.h. A row without its descriptor fails at link time. */
#include "minion/parts/parts.h"

#define PART(id) extern const minion_part_t minion_part_##id;
#include "minion/parts/parts.def"
#undef PART

#define PART(id) &minion_part_##id,
const minion_part_t *const minion_parts[] = {
#include "minion/parts/parts.def"
    NULL
};
