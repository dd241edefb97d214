/* py_yaml_time.c - dates and times of a YAML document, kept as the text they were written with: equality,
 * hash and str() are the text's, which suffices to compare values and to dump them unchanged. */
#include "common/py/py_host.h"
#include "common/py/py_yaml.h"

static const py_class_t time_class;

py_t *
py_yaml_time(py_t *text)
{
    return py_host(&time_class, py_ref(text));
}

py_t *
py_yaml_time_text(const py_t *v)
{
    return py_host_data(v, &time_class);
}

static int
time_eq(py_t *self, py_t *other)
{
    py_t *text = py_yaml_time_text(other);

    return text != NULL ? py_eq(py_yaml_time_text(self), text) : 0;
}

static int
time_hash(py_t *self, uint64_t *ret_hash)
{
    return py_hash(py_yaml_time_text(self), ret_hash);
}

static int
time_str(py_t *self, buf_t *out)
{
    return py_str_to(out, py_yaml_time_text(self));
}

static void
time_free(void *data)
{
    py_unref(data);
}

static const py_class_t time_class = {
    .name = "datetime",
    .module = "datetime",
    .eq = time_eq,
    .hash = time_hash,
    .str = time_str,
    .free = time_free,
};
