/* fuzz_plist.c - any bytes as a property list: a value or an error, and what was read is the same after it was written
 * in either form and read again.
 */
#include "common/py/py_error.h"
#include "plugins/lib/call/plist.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const py_limits_t limits = { .bytes = 256 << 20, .depth = 250, .steps = 10000000 };

/* `first` is what a writer wrote: NULL when it raised, as XML has no None and no control characters. */
static void
check_again(py_t *first, py_t *(*write)(py_t *v, const plist_options_t *how), const plist_options_t *how)
{
    size_t len;

    salt_assert((first == NULL) == (py_raised() != NULL));
    if (first != NULL) {
        const char *bytes = py_text(first, &len);
        AUTO(py) again = plist_read(bytes, len);
        AUTO(py) second = again != NULL ? write(again, how) : NULL;
        salt_assert(py_raised_is(&py_LimitError) || (second != NULL && py_eq(first, second) == 1));
    }
    py_clear();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const plist_options_t how = { .unsorted = true };
    py_scope_t scope;

    if (size > 65536)
        return 0;
    py_scope_enter(&scope, &limits);
    py_t *v = plist_read((const char *) data, size);
    salt_assert((v == NULL) == (py_raised() != NULL));
    py_clear();
    if (v != NULL) {
        AUTO(py) xml = plist_write_xml(v, &how);
        check_again(xml, plist_write_xml, &how);
        AUTO(py) binary = plist_write_binary(v, &how);
        check_again(binary, plist_write_binary, &how);
    }
    py_unref(v);
    py_scope_leave(&scope);
    return 0;
}
