/* fuzz_plainjson.c - our reader and jansson's accept the same texts and make the same values of them; so
 * do our writer and jansson's; and whatever is plain is JSON and means what it says. */
#include <stddef.h>
#include <stdint.h>

#include "common/base/jsonread.h"
#include "common/base/plainjson.h"
#include "salt/value.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Equal down to the order of keys and whether a number has a fraction. Only depth is bounded more tightly
 * here, and jansson leaves out a byte 0 behind a number or a word. */
static void
check_value(const char *text, size_t len)
{
    json_bad_t bad;
    json_auto_t *ours = json_read(text, len, &bad);
    json_auto_t *theirs = json_loadb(text, len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_ALLOW_NUL,
                                     NULL);
    salt_assert((ours == NULL) == (bad.why != NULL) && bad.at <= len);
    if (ours == NULL) {
        salt_assert(theirs == NULL || strstr(bad.why, "nested deeper") != NULL ||
                    memchr(text, '\0', len) != NULL);
        return;
    }
    salt_assert(theirs != NULL && json_equal(ours, theirs));
    AUTO_FREE char *first = value_dump(ours), *second = json_dumps(theirs, JSON_COMPACT | JSON_ENCODE_ANY);
    salt_assert(strcmp(first, second) == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    plain_t p = plain_new((const char *) data, size);
    jtext_t value;
    bool has, empty;

    check_value((const char *) data, size);
    if (!plain_object(&p, "k", &value, &has, &empty) || !plain_end(&p))
        return 0;
    json_auto_t *parsed = json_loadb(value.at, value.len, JSON_REJECT_DUPLICATES, NULL);
    salt_assert(json_is_object(parsed));
    salt_assert(has == (value_get(parsed, "k") != NULL) && empty == (json_object_size(parsed) == 0));
    return 0;
}
