/* fuzz_local.c - bytes of the local socket, taken whole and cut in two at a place that the first byte names:
 * both ways give the same messages and the same verdict. Messages that are encoded again are read back the
 * same.
 */
#include "common/local/client.h"
#include "salt/value.h"

#define LIMIT 65536

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Takes every whole frame of the buffer into `out`; 0, or a negative errno for garbage. */
static int
take_all(buf_t *in, json_t *out)
{
    for (;;) {
        json_t *msg = NULL;
        fail_auto_t err = FAIL_INIT;
        int rc = frame_take(in, LIMIT, &msg, &err);
        salt_assert((rc == 1) == (msg != NULL) && (rc < 0) == (err.text != NULL));
        if (rc <= 0)
            return rc;
        json_array_append_new(out, msg);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    size_t n = size - 1, cut = n ? data[0] % n : 0;
    buf_auto_t whole = BUF_INIT, pieces = BUF_INIT, back = BUF_INIT;
    json_auto_t *a = json_array(), *b = json_array(), *c = json_array();

    buf_add(&whole, data + 1, n);
    int rc = take_all(&whole, a);
    buf_add(&pieces, data + 1, cut);
    int rc2 = take_all(&pieces, b);
    if (rc2 == 0) {
        buf_add(&pieces, data + 1 + cut, n - cut);
        rc2 = take_all(&pieces, b);
    }
    salt_assert(rc == rc2 && json_equal(a, b));

    size_t i;
    json_t *msg;
    json_array_foreach (a, i, msg)
        frame_add(&back, msg);
    if (back.len <= LIMIT) {
        salt_assert(take_all(&back, c) == 0);
        salt_assert(json_equal(a, c));
    }
    return 0;
}
