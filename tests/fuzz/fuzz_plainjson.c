/* fuzz_plainjson.c - our JSON reader and writer against jansson's: they accept the same texts, make the same
 * values, and what one writes is the same value to the other; and a text that counts as plain JSON is JSON, with the value that was found
 * in it.
 */
#include <stddef.h>
#include <stdint.h>

#include "common/base/jsonread.h"
#include "common/base/plainjson.h"
#include "salt/value.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* jansson writes a double with 17 digits, we as few as do. */
static bool
has_real(const json_t *v)
{
    const char *key;
    json_t *one;
    size_t i;

    json_array_foreach (v, i, one)
        if (has_real(one))
            return true;
    json_object_foreach ((json_t *) v, key, one)
        if (has_real(one))
            return true;
    return json_is_real(v);
}

/* Compares down to the order of keys and the kind of number. Two differences are intended: our limit of
 * nesting is lower, and jansson ignores a NUL behind a number or a word. */
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
    json_auto_t *again = json_loads(first, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    salt_assert(has_real(ours) ? json_equal(again, theirs) : strcmp(first, second) == 0);
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
