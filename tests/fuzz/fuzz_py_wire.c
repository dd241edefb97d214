/* fuzz_py_wire.c - a pillar as the other side may send it: any JSON becomes a value, and encoding that value
 * and decoding it again changes nothing.
 */
#include "common/py/py_error.h"
#include "common/py/py_wire.h"
#include "salt/value.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    py_limits_t limits = { .bytes = 64 * 1024 * 1024, .depth = 400 };
    py_scope_t scope;
    json_auto_t *v = value_parse((const char *) data, size, 1 << 20, "fuzz", NULL);

    if (v == NULL)
        return 0;
    py_scope_enter(&scope, &limits);
    {
        AUTO(py) first = py_from_wire(v);
        salt_assert(first != NULL && py_raised() == NULL);
        json_auto_t *wire = py_to_wire(first);
        AUTO(py) second = py_from_wire(wire);
        json_auto_t *again = wire != NULL ? py_to_wire(second) : NULL;
        salt_assert(wire == NULL || (again != NULL && json_equal(wire, again)));
        py_clear();
    }
    py_scope_leave(&scope);
    return 0;
}
