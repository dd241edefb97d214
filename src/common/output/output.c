/* output.c - find an outputter by name and run it. If it can't show the data, its partial output is dropped
 * and `nested` shows it instead; trailing white space becomes one newline. */
#include "common/output/output.h"

#include "common/base/str.h"
#include "common/output/outputter.h"
#include "common/output/pytext.h"
#include "salt/value.h"

typedef struct outputter {
    const char *name;
    outputter_fn *print;
    bool claimed; /* a minion's return may name it */
} outputter_t;

static const outputter_t outputters[] = {
#define OUTPUTTER(name, function, claimed) { #name, function, claimed },
#include "common/output/outputters.def"
};

static const char *const names[] = {
#define OUTPUTTER(name, function, claimed) #name,
#include "common/output/outputters.def"
    NULL
};

static const outputter_t *
output_find(const char *name)
{
    for (size_t i = 0; i < NELEMS(outputters); i++) {
        if (str_eq(name, outputters[i].name))
            return &outputters[i];
    }
    return NULL;
}

const char *
output_claimed(const char *name)
{
    const outputter_t *found = name != NULL ? output_find(name) : NULL;
    return found != NULL && found->claimed ? found->name : NULL;
}

bool
output_known(const char *name)
{
    return output_find(name) != NULL;
}

const char *const *
output_names(void)
{
    return names;
}

void
output_format(const json_t *data, const output_opts_t *opts, buf_t *out)
{
    const outputter_t *outputter = output_find(opts->out);
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
