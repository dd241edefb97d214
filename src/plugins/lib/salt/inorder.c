/* inorder.c - see inorder.h. */
#include "plugins/lib/salt/inorder.h"

#include "salt/value.h"

json_t *
inorder(const json_t *v)
{
    size_t i;
    json_t *one;

    if (json_is_array(v)) {
        json_t *out = json_array();
        json_array_foreach (v, i, one)
            json_array_append_new(out, inorder(one));
        return out;
    }
    if (!json_is_object(v))
        return json_incref((json_t *) v);
    json_auto_t *keys = value_sorted_keys(v);
    json_t *out = json_object();
    json_array_foreach (keys, i, one)
        json_object_set_new(out, json_string_value(one), inorder(value_get(v, json_string_value(one))));
    return out;
}
