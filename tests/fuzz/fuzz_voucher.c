/* fuzz_voucher.c - vouchers of a signing key: nothing is accepted as one but what that key has signed. Fields
 * of the input are also mixed into a genuine voucher.
 */
#include "common/crypto/voucher.h"

#include "salt/value.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static key_pair_t *signer;
    static json_t *good;
    static voucher_t made;
    fail_auto_t err = FAIL_INIT;
    voucher_t v;

    if (signer == NULL) {
        uint8_t key[KEY_BYTES] = { 1 };
        signer = key_pair_new_of(KEY_KIND_SIGN);
        voucher_make(&made, signer, key, 7);
        good = voucher_json(&made);
    }
    json_auto_t *said = value_parse((const char *) data, size, size, "voucher", NULL);
    int rc = voucher_parse(said, &v, &err);

    salt_assert((rc == 0) == (err.text == NULL));
    /* A genuine voucher with fields replaced may pass as this signer's only when they are unchanged. */
    json_auto_t *mixed = json_copy(good);
    if (json_is_object(said))
        (void) json_object_update(mixed, said);
    rc = voucher_parse(mixed, &v, NULL);
    if (rc == 0 && memcmp(v.signer, made.signer, KEY_BYTES) == 0)
        salt_assert(v.serial == made.serial && memcmp(v.key, made.key, KEY_BYTES) == 0);
    return 0;
}
