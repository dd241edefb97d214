/* fuzz_msgpack.c - MessagePack of a database: what is read is written, and read again, the same. */
#include "common/data/msgpack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fail_auto_t err = FAIL_INIT, none = FAIL_INIT;
    json_auto_t *value = msgpack_get(data, size, &err);
    buf_auto_t bytes = BUF_INIT;

    if (value == NULL) {
        salt_assert(err.code < 0);
        return 0;
    }
    msgpack_put(&bytes, value);
    json_auto_t *again = msgpack_get(bytes.data, bytes.len, &none);
    salt_assert(again != NULL && json_equal(value, again));
    return 0;
}
