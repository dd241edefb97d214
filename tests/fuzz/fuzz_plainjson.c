/* fuzz_plainjson.c - whatever is plain must be JSON for jansson too, and mean what it says. */
#include <stddef.h>
#include <stdint.h>

#include "common/data/plainjson.h"
#include "salt/limits.h"
#include "salt/value.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    plain_t p = plain_new((const char *) data, size);
    span_t value;
    bool has, empty;

    if (!plain_object(&p, "k", &value, &has, &empty) || !plain_end(&p))
        return 0;
    json_auto_t *parsed = value_parse(value.at, value.len, LIMIT_LOCAL_MSG, "fuzz", NULL);
    salt_assert(json_is_object(parsed));
    salt_assert(has == (value_get(parsed, "k") != NULL) && empty == (json_object_size(parsed) == 0));
    return 0;
}
