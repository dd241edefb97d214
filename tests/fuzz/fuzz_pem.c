/* fuzz_pem.c - the PEM parsers, fingerprint and Z85 over arbitrary bytes: a key that is accepted is written
 * and read back the same.
 */
#include "common/crypto/keys.h"
#include "common/crypto/pem.h"
#include "salt/limits.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check_pem(pem_kind_t kind, const char *text, size_t len)
{
    uint8_t key[KEY_BYTES], again[KEY_BYTES];
    char out[PEM_TEXT_MAX];
    fail_auto_t err = FAIL_INIT;

    if (pem_read(kind, text, len, key, &err) != 0) {
        salt_assert(err.text != NULL);
        return;
    }
    pem_write(kind, key, out);
    salt_assert(pem_read(kind, out, strlen(out), again, NULL) == 0);
    salt_assert(memcmp(key, again, KEY_BYTES) == 0);
}

static void
check_z85(const char *text)
{
    uint8_t key[KEY_BYTES];
    char out[KEY_Z85_LEN];

    if (key_from_z85(text, key)) {
        key_to_z85(key, out);
        salt_assert(strcmp(text, out) == 0);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char finger[FINGER_LEN];

    if (size > 2 * LIMIT_KEY_FILE)
        return 0;
    AUTO_FREE char *text = xstrndup((const char *) data, size);

    check_pem(PEM_PUBLIC, (const char *) data, size);
    check_pem(PEM_PRIVATE, (const char *) data, size);
    key_finger_pem((const char *) data, size, finger);
    salt_assert(strlen(finger) == FINGER_LEN - 1);
    check_z85(text);
    return 0;
}
