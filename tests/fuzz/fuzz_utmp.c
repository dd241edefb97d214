/* fuzz_utmp.c - any bytes as records of logins: an event for each that is whole, which is text that JSON can hold, and terminals
 * are remembered by what the records say. */
#include "plugins/lib/beacon/utmp.h"
#include "salt/value.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { RECORD = 384 };

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const utmp_kind_t kind = { "wtmp", "/var/log/wtmp", true };
    json_auto_t *config = json_object(), *context = json_object(), *events = json_array();
    beacon_look_t look = { .root = "", .config = config, .context = context, .events = events };
    salt_assert(utmp_take(&kind, &look, data, size) == size / RECORD * RECORD);
    salt_assert(json_array_size(events) == size / RECORD);
    AUTO_FREE char *text = value_dump(events);
    fail_auto_t err = FAIL_INIT;
    json_auto_t *again = value_parse(text, strlen(text), strlen(text), "events", &err);
    salt_assert(json_equal(events, again));
    return 0;
}
