/* fuzz_py_data.c - any bytes as JSON and as YAML in the template language's values: a value or an error, and
 * JSON that was written is read and written the same.
 */
#include "common/py/py_json.h"
#include "common/py/py_ops.h"
#include "common/py/py_yaml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const py_limits_t limits = { .bytes = 256 << 20, .depth = 250, .steps = 10000000 };

static void
check_json(const char *text, size_t len)
{
    const py_dumps_t how = PY_DUMPS_INIT;
    AUTO(py) input = py_str_utf8(text, len);
    size_t n;
    const char *clean = py_text(input, &n);
    AUTO(py) v = py_json_loads(clean, n);

    salt_assert((v == NULL) == (py_raised() != NULL));
    AUTO(py) first = v != NULL ? py_json_dumps(v, &how) : NULL;
    if (first != NULL) {
        clean = py_text(first, &n);
        AUTO(py) again = py_json_loads(clean, n);
        AUTO(py) second = again != NULL ? py_json_dumps(again, &how) : NULL;
        salt_assert(second != NULL && py_eq(first, second) == 1);
    }
    py_clear();
}

static void
check_yaml(const char *text, size_t len)
{
    yproblem_t problem = YPROBLEM_INIT;
    AUTO(py) v = py_yaml_load(text, len, true, &problem);

    salt_assert(v != NULL || problem.text != NULL);
    salt_assert(v == NULL || py_raised() == NULL);
    py_clear();
    AUTO(py) first = v != NULL ? py_yaml_dump(v, PY_YAML_AUTO, NULL) : NULL;
    if (v != NULL && py_raised() == NULL)
        json_decref(py_to_json(v));
    if (first != NULL) {
        size_t n;
        const char *again_text = py_text(first, &n);
        AUTO(py) again = py_yaml_load(again_text, n, true, &problem);
        AUTO(py) second = again != NULL ? py_yaml_dump(again, PY_YAML_AUTO, NULL) : NULL;
        salt_assert(py_raised_is(&py_LimitError) || again == NULL || second != NULL);
    }
    py_clear();
    yproblem_free(&problem);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    py_scope_t scope;

    if (size > 65536)
        return 0;
    py_scope_enter(&scope, &limits);
    check_json((const char *) data, size);
    check_yaml((const char *) data, size);
    py_scope_leave(&scope);
    salt_assert(py_state.live == 0);
    return 0;
}
