/* fuzz_netlink.c - any bytes as datagrams of the kernel about links and addresses: rows of text that JSON can hold. */
#include "common/host/netlink.h"
#include "common/host/netsettings.h"
#include "salt/value.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fail_auto_t err = FAIL_INIT;
    json_auto_t *settings = json_object(), *interfaces = json_object();
    AUTO_FREE char *copy = xcalloc(1, size + 1);
    memcpy(copy, data, size);
    (void) netsettings_take(copy, size, settings, &err);
    (void) netlink_take(copy, size, interfaces);
    free(value_dump(settings));
    free(value_dump(interfaces));
    return 0;
}
