/* fuzz_journal.c - any bytes as fields of an entry of the journal, a line each: the entry stays within its budget. */
#include "plugins/lib/beacon/journal.h"
#include "salt/value.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    json_auto_t *entry = json_object();
    size_t budget = 4096, before;
    for (size_t at = 0, len; at < size; at += len + 1) {
        const uint8_t *end = memchr(data + at, '\n', size - at);
        len = end != NULL ? (size_t) (end - data) - at : size - at;
        before = budget;
        journal_field(entry, data + at, len, &budget);
        salt_assert(budget == before || budget + len == before);
    }
    AUTO_FREE char *text = value_dump(entry);
    salt_assert(text != NULL);
    return 0;
}
