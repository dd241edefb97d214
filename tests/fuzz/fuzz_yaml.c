/* fuzz_yaml.c - any bytes as a YAML document: a value, or an error with a place; and what was dumped loads as
 * the same value.
 */
#include "common/data/yaml.h"
#include "salt/value.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check_round_trip(const json_t *v, int indent)
{
    fail_auto_t err = FAIL_INIT;
    AUTO_FREE char *text = yaml_dump(v, indent);
    json_auto_t *again = yaml_load(text, strlen(text), "dump", NULL, &err);

    salt_assert(again != NULL && json_equal(v, again));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *) data;
    fail_auto_t err = FAIL_INIT;
    AUTO(yaml_lines) lines = NULL;

    if (size > 65536)
        return 0;
    json_auto_t *v = yaml_load(text, size, "input", &lines, &err);
    json_auto_t *scalar = yaml_scalar(text, size);
    salt_assert(scalar != NULL);
    salt_assert((v == NULL) == (err.code != 0) && (v == NULL) == (lines == NULL));
    if (v == NULL)
        return 0;
    yaml_line_of(lines, "a");
    check_round_trip(v, 0);
    check_round_trip(v, 4);
    return 0;
}
