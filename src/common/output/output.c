/* output.c - the table of outputters. */
#include "common/output/output.h"

#include "common/base/str.h"
#include "common/output/outputter.h"
#include "common/output/pytext.h"
#include "salt/value.h"

typedef struct outputter {
    const char *name;
    outputter_fn *print;
} outputter_t;

static const outputter_t outputters[] = {
#define OUTPUTTER(name, function) { #name, function },
#include "common/output/outputters.def"
};

static const char *const names[] = {
#define OUTPUTTER(name, function) #name,
#include "common/output/outputters.def"
    NULL
};

static const outputter_t *
find(const char *name)
{
    for (size_t i = 0; i < NELEMS(outputters); i++) {
        if (str_eq(name, outputters[i].name))
            return &outputters[i];
    }
    return NULL;
}

bool
output_known(const char *name)
{
    return find(name) != NULL;
}

const char *const *
output_names(void)
{
    return names;
}

void
output_format(const json_t *data, const output_opts_t *opts, buf_t *out)
{
    const outputter_t *outputter = find(opts->out);
    /* jansson iterates only objects that may be changed; no outputter changes them. */
    json_t *value = (json_t *) data;
    size_t start = out->len;

    if (outputter == NULL || !outputter->print(value, opts, out)) {
        out->len = start;
        (void) output_nested(value, opts, out);
    }
    if (out->len == start)
        return;
    out->len = start + pytext_rstrip(out->data + start, out->len - start);
    if (out->len > start)
        buf_putc(out, '\n');
    else
        out->data[start] = '\0';
}

static int
by_key(const void *a, const void *b)
{
    const output_pair_t *x = a, *y = b;

    /* Bytes of UTF-8 sort as code points do. */
    return strcmp(x->key, y->key);
}

output_pair_t *
output_sorted(json_t *object)
{
    size_t n = json_object_size(object), i = 0;
    bool in_order = true;

    if (n == 0)
        return NULL;
    output_pair_t *pairs = xcalloc(n, sizeof(*pairs));
    for (void *it = json_object_iter(object); it != NULL; it = json_object_iter_next(object, it)) {
        pairs[i] = (output_pair_t){ json_object_iter_key(it), json_object_iter_value(it) };
        in_order = in_order && (i == 0 || by_key(&pairs[i - 1], &pairs[i]) <= 0);
        i++;
    }
    if (!in_order)
        qsort(pairs, n, sizeof(*pairs), by_key);
    return pairs;
}

void
output_str(buf_t *out, const json_t *value)
{
    if (json_is_string(value)) {
        buf_add(out, json_string_value(value), json_string_length(value));
        return;
    }
    AUTO_FREE char *text = value_pystr(value);
    buf_puts(out, text);
}
