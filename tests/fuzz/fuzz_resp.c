/* fuzz_resp.c - replies of a Redis server: however the bytes come, the parser ends, and says no more than it was given. */
#include "plugins/lib/database/resp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO_FREE char *bytes = xcalloc(1, size + 1);
    size_t at = 0;

    memcpy(bytes, data, size);
    for (int rc = 1; rc == 1 && at < size;) {
        fail_auto_t err = FAIL_INIT;
        json_t *value = NULL;
        size_t used = 0;
        rc = resp_parse(bytes + at, size - at, &used, &value, &err);
        salt_assert((rc == 1) == (value != NULL));
        salt_assert(rc != 1 || (used > 0 && used <= size - at));
        json_decref(value);
        at += used;
    }
    return 0;
}
