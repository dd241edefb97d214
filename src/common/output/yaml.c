/* yaml.c - outputter `yaml`, with sorted keys as Salt's. */
#include "common/data/yaml.h"

#include "common/data/yaml_write.h"
#include "common/output/outputter.h"
#include "common/output/values.h"
#include "common/py/py_error.h"
#include "common/py/py_wire.h"
#include "common/py/py_yaml.h"

enum { DEFAULT_INDENT = 2 };

/* Copy with sorted keys, since the dumper keeps the order. NEW. */
static json_t *
sorted_copy(json_t *v)
{
    if (json_is_object(v)) {
        AUTO_FREE output_pair_t *pairs = output_sorted(v);
        json_t *copy = json_object();
        for (size_t i = 0; i < json_object_size(v); i++)
            (void) json_object_set_new_nocheck(copy, pairs[i].key, sorted_copy(pairs[i].value));
        return copy;
    }
    if (json_is_array(v)) {
        json_t *copy = json_array(), *element;
        size_t i;
        json_array_foreach (v, i, element)
            (void) json_array_append_new(copy, sorted_copy(element));
        return copy;
    }
    return json_incref(v);
}

bool
output_yaml(json_t *data, const output_opts_t *opts, buf_t *out)
{
    int indent = opts->indent == OUTPUT_INDENT_DEFAULT ? DEFAULT_INDENT : opts->indent;

    if (output_has_kinds(data)) {
        const yaml_layout_t layout = { .indent = indent > 0 ? indent : 0 };
        AUTO(py) value = py_from_wire(data);
        AUTO(py) dumped = py_yaml_dump(value, indent < 0 ? PY_YAML_FLOW : PY_YAML_BLOCK, &layout);
        py_clear();
        buf_puts(out, dumped != NULL ? py_cstr(dumped) : "");
        return dumped != NULL;
    }
    json_auto_t *sorted = sorted_copy(data);
    AUTO_FREE char *text = yaml_dump(sorted, indent);

    buf_puts(out, text);
    return true;
}
