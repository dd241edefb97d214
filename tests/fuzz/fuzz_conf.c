/* fuzz_conf.c - any YAML as a configuration, given as overrides so that no file is touched. The first byte
 * chooses master or minion. A configuration that is accepted has a valid id and ports in range.
 */
#include "common/conf/conf.h"
#include "common/data/yaml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fail_auto_t err = FAIL_INIT;

    if (size < 1 || size > 16384)
        return 0;
    conf_side_t side = data[0] % 2 == 0 ? CONF_MASTER : CONF_MINION;
    json_auto_t *said = yaml_load((const char *) data + 1, size - 1, "input", NULL, &err);
    json_auto_t *warnings = json_array();
    if (!json_is_object(said))
        return 0;
    if (json_object_get(said, "id") == NULL)
        json_object_set_new(said, "id", json_string("fuzz")); /* no resolver */
    AUTO(conf) conf = conf_load("/nonexistent/halite", side, said, warnings, &err);
    salt_assert((conf == NULL) == (err.code != 0));
    if (conf == NULL)
        return 0;
    salt_assert(conf_id_valid(conf_str(conf, "id"), NULL));
    salt_assert(conf_int(conf, "publish_port") >= 0 && conf_int(conf, "publish_port") <= 65535);
    salt_assert(*conf_str(conf, "cachedir") != '\0' || json_is_string(conf_get(conf, "cachedir")));
    return 0;
}
