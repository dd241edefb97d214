/* fuzz_args.c - a command line's words, split at bytes of 1: never more arguments than words, and raw=, which
 * is in no_parse, stays a text.
 */
#include "common/base/str.h"
#include "common/data/args.h"
#include "salt/value.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    json_t *args, *kwargs;

    if (size > 16384)
        return 0;
    AUTO_FREE char *text = xstrndup((const char *) data, size);
    char **words = str_split(text, "\x01", false); /* words may have line breaks */
    json_auto_t *no_parse = json_pack("[s]", "raw");
    json_auto_t *list = args_parse(words, strv_len(words), no_parse);
    args_split(list, &args, &kwargs);
    salt_assert(json_array_size(args) <= strv_len(words));
    const json_t *raw = value_get(kwargs, "raw");
    salt_assert(raw == NULL || json_is_string(raw));
    free(value_dump(list));
    json_decref(args);
    json_decref(kwargs);
    strv_free(words);
    return 0;
}
