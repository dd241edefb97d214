/* z85.c - Z85, ZeroMQ RFC 32: 4 bytes as 5 printable characters, big endian. CURVE keys are shown so. Not
 * constant time: for public keys only. */
#include "common/crypto/keys.h"

#define GROUP_BYTES 4
#define GROUP_CHARS 5
#define BASE        85

static const char digits[] =
    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#";
_Static_assert(sizeof(digits) == BASE + 1, "one character per digit");
_Static_assert(KEY_BYTES / GROUP_BYTES * GROUP_CHARS + 1 == KEY_Z85_LEN, "a key is whole groups");

void
key_to_z85(const uint8_t key[KEY_BYTES], char out[KEY_Z85_LEN])
{
    for (size_t g = 0; g < KEY_BYTES / GROUP_BYTES; g++) {
        uint32_t v = 0;

        for (size_t i = 0; i < GROUP_BYTES; i++)
            v = v << 8 | key[g * GROUP_BYTES + i];
        for (size_t i = GROUP_CHARS; i-- > 0; v /= BASE)
            out[g * GROUP_CHARS + i] = digits[v % BASE];
    }
    out[KEY_Z85_LEN - 1] = '\0';
}

bool
key_from_z85(const char *z85, uint8_t out[KEY_BYTES])
{
    uint8_t key[KEY_BYTES];

    if (strnlen(z85, KEY_Z85_LEN) != KEY_Z85_LEN - 1)
        return false;
    for (size_t g = 0; g < KEY_BYTES / GROUP_BYTES; g++) {
        uint64_t v = 0;

        for (size_t i = 0; i < GROUP_CHARS; i++) {
            const char *d = strchr(digits, z85[g * GROUP_CHARS + i]);

            if (d == NULL)
                return false;
            v = v * BASE + (uint64_t) (d - digits);
        }
        if (v > UINT32_MAX)
            return false;
        for (size_t i = GROUP_BYTES; i-- > 0; v >>= 8)
            key[g * GROUP_BYTES + i] = (uint8_t) v;
    }
    memcpy(out, key, KEY_BYTES);
    return true;
}
