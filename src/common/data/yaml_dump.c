/* yaml_dump.c - jansson values to YAML text.
 *
 * Walks the value and hands each scalar, list and mapping to the writer (yaml_write.h), which chooses styles
 * and quotes as PyYAML's safe dumper does. Recursion is as deep as the value. */
#include "common/base/buf.h"
#include "common/data/yaml.h"
#include "common/data/yaml_write.h"
#include "salt/value.h"

typedef struct dumper {
    yaml_writer_t *writer;
    bool flow;
} dumper_t;

static void
yaml_dump_text(dumper_t *d, const char *text, size_t len)
{
    yaml_write_scalar(d->writer, NULL, YAML_IS_STR, text, len);
}

static void
dump_word(dumper_t *d, yaml_kind_t kind, const char *text)
{
    yaml_write_scalar(d->writer, NULL, kind, text, strlen(text));
}

/* YAML 1.1's float needs a dot in the mantissa: PyYAML writes Python's 1e+16 as 1.0e+16. */
static void
dump_real(dumper_t *d, double v)
{
    AUTO_FREE char *text = value_float_repr(v);
    const char *e = strchr(text, 'e');

    if (e == NULL || strchr(text, '.') != NULL) {
        dump_word(d, YAML_IS_FLOAT, text);
        return;
    }
    AUTO_FREE char *dotted = xasprintf("%.*s.0%s", (int) (e - text), text, e);
    dump_word(d, YAML_IS_FLOAT, dotted);
}

static void
dump_value(dumper_t *d, const json_t *v)
{
    json_t *object = (json_t *) v; /* for jansson's iterator; nothing is changed */
    size_t i;
    json_t *item;
    char number[32];

    switch (json_typeof(v)) {
    case JSON_OBJECT:
        yaml_write_map(d->writer, NULL, false, d->flow);
        for (void *it = json_object_iter(object); it != NULL; it = json_object_iter_next(object, it)) {
            yaml_dump_text(d, json_object_iter_key(it), json_object_iter_key_len(it));
            dump_value(d, json_object_iter_value(it));
        }
        yaml_write_map_end(d->writer);
        break;
    case JSON_ARRAY:
        yaml_write_list(d->writer, NULL, d->flow);
        json_array_foreach (v, i, item)
            dump_value(d, item);
        yaml_write_list_end(d->writer);
        break;
    case JSON_STRING:
        yaml_dump_text(d, json_string_value(v), json_string_length(v));
        break;
    case JSON_INTEGER:
        snprintf(number, sizeof(number), "%" JSON_INTEGER_FORMAT, json_integer_value(v));
        dump_word(d, YAML_IS_INT, number);
        break;
    case JSON_REAL:
        dump_real(d, json_real_value(v));
        break;
    case JSON_TRUE:
    case JSON_FALSE:
        dump_word(d, YAML_IS_BOOL, json_is_true(v) ? "true" : "false");
        break;
    case JSON_NULL:
        dump_word(d, YAML_IS_NULL, "null");
        break;
    }
}

char *
yaml_dump(const json_t *v, int indent)
{
    buf_auto_t out = BUF_INIT;
    const yaml_layout_t layout = { .indent = indent };
    dumper_t d = { yaml_writer_new(&out, &layout), indent < 0 };

    if (v != NULL)
        dump_value(&d, v);
    else
        dump_word(&d, YAML_IS_NULL, "null");
    yaml_writer_destroy(&d.writer);
    return buf_steal(&out);
}
