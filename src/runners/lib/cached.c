/* cached.c - see cached.h. */
#include "runners/lib/cached.h"

#include "runners/lib/ask.h"

int
cached_of(call_ctx_t *ctx, json_t *args, json_t *(*read)(master_api_t *api, const char *id, fail_t *err),
          json_t **ret_value, fail_t *err)
{
    json_auto_t *ask = json_copy(args);
    json_t *id, *one;
    size_t i;

    if (json_is_null(value_get(ask, "tgt")))
        json_object_set_new(ask, "tgt", json_string("*"));
    json_auto_t *ids = ask_targets(ctx, ask, err);
    json_auto_t *all = ids != NULL ? read(api_of(ctx), NULL, err) : NULL;
    if (all == NULL)
        return -EIO;
    *ret_value = json_object();
    json_array_foreach (ids, i, id)
        if ((one = json_object_get(all, json_string_value(id))) != NULL)
            json_object_set(*ret_value, json_string_value(id), one);
    return 0;
}
