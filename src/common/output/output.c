/* output.c - find an outputter by name and run it. If it can't show the data, its partial output is dropped
 * and `nested` shows it instead; trailing white space becomes one newline. */
#include "common/output/output.h"

#include "common/base/str.h"
#include "common/output/outputter.h"
#include "common/output/pytext.h"
#include "common/output/values.h"
#include "salt/value.h"

typedef struct outputter {
    const char *name;
    outputter_fn *print;
    bool claimed; /* a minion's return may name it */
    bool values;  /* it shows values that JSON lacks */
} outputter_t;

static const outputter_t outputters[] = {
#define OUTPUTTER(name, function, claimed, values) { #name, function, claimed, values },
#include "common/output/outputters.def"
};

static const char *const names[] = {
#define OUTPUTTER(name, function, claimed, values) #name,
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

/* A minion may name the outputter of its return, but only one that shows the data itself. */
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

/* The caller's own option outweighs the configuration. */
static bool
output_flag(const json_t *given, const json_t *conf, const char *name, bool dflt)
{
    const json_t *v = value_get(given, name);

    v = v != NULL ? v : value_get(conf, name);
    return v != NULL ? value_truthy(v) : dflt;
}

void
output_opts_read(output_opts_t *opts, const json_t *given, const json_t *conf)
{
    opts->state_output = value_str(given, "state_output", value_str(conf, "state_output", NULL));
    opts->state_verbose = output_flag(given, conf, "state_verbose", true);
    opts->state_tabular = output_flag(given, conf, "state_tabular", false);
    opts->state_compress_ids = output_flag(given, conf, "state_compress_ids", false);
    opts->state_output_profile = output_flag(given, conf, "state_output_profile", true);
    opts->state_output_diff = output_flag(given, conf, "state_output_diff", false);
    opts->state_output_pct = output_flag(given, conf, "state_output_pct", false);
    opts->strip_colors = output_flag(given, conf, "strip_colors", true);
    opts->exclude = value_get(conf, "state_output_exclude");
    opts->terse = value_get(conf, "state_output_terse");
}

void
output_format(const json_t *data, const output_opts_t *opts, buf_t *out)
{
    const outputter_t *outputter = output_find(opts->out);
    /* jansson iterates only objects that may be changed; no outputter changes them. */
    json_auto_t *plain = outputter != NULL && !outputter->values && output_has_kinds((json_t *) data)
                             ? output_plain(data)
                             : NULL;
    json_t *value = plain != NULL ? plain : (json_t *) data;
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
