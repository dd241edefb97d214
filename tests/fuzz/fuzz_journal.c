/* fuzz_journal.c - any bytes as lines of the journal: each is an object of the same fields, or nothing. */
#include "plugins/lib/beacon/journal.h"
#include "salt/value.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (size_t at = 0, len; at < size; at += len + 1) {
        const uint8_t *end = memchr(data + at, '\n', size - at);
        len = end != NULL ? (size_t) (end - data) - at : size - at;
        json_auto_t *entry = journal_entry((const char *) data + at, len);
        AUTO_FREE char *text = entry != NULL ? value_dump(entry) : NULL;
        json_auto_t *again = text != NULL ? journal_entry(text, strlen(text)) : NULL;
        salt_assert(entry == NULL || json_is_object(entry));
        salt_assert(again == NULL || json_object_size(again) == json_object_size(entry));
    }
    return 0;
}
