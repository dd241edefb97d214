/* cpu.c - grains about the processors, from /proc/cpuinfo, whose keys differ by architecture: a table maps
 * them to grains. */
#include "common/host/rootfs.h"
#include "common/base/str.h"
#include "salt/plugin.h"

typedef void take_fn(json_t *out, char *value);

/* Each "processor" line is one. */
static void
count_one(json_t *out, char *value)
{
    json_object_set_new(out, "num_cpus", json_integer(value_int(out, "num_cpus", 0) + 1));
}

/* Architectures that write the number. */
static void
take_count(json_t *out, char *value)
{
    json_object_set_new(out, "num_cpus", json_integer(strtoll(value, NULL, 10)));
}

/* The last line that names a model remains. */
static void
take_model(json_t *out, char *value)
{
    json_object_set_new(out, "cpu_model", value_utf8(value, strlen(value)));
}

/* Old ARM kernels: one line for all processors, "ARMv6-compatible processor rev 7". */
static void
take_arm(json_t *out, char *value)
{
    json_object_set_new(out, "cpu_model", value_utf8(value, strcspn(value, "-")));
    json_object_set_new(out, "num_cpus", json_integer(1));
}

/* Names of the processor's features, which ARM's kernel calls Features. */
static void
take_flags(json_t *out, char *value)
{
    char **flags = str_split(value, " \t", true);
    json_t *list = json_array();

    for (size_t i = 0; flags[i] != NULL; i++)
        json_array_append_new(list, value_utf8(flags[i], strlen(flags[i])));
    strv_free(flags);
    json_object_set_new(out, "cpu_flags", list);
}

/* Keys of all architectures. `cpu` is that of PowerPC, `# processors` that of S/390. */
static const struct {
    const char *key;
    take_fn *take;
} rows[] = {
    { "processor", count_one },   { "# processors", take_count }, { "vendor_id", take_model },
    { "model name", take_model }, { "flags", take_flags },        { "Features", take_flags },
    { "Processor", take_arm },    { "cpu", take_model },
};

/* All three grains are there even where /proc/cpuinfo is not, as in a bare container. */
static int
cpu_collect(grain_ctx_t *ctx, json_t *out, fail_t *err)
{
    AUTO_FREE char *text = root_read(ctx->root, "/proc/cpuinfo");

    json_object_set_new(out, "num_cpus", json_integer(0));
    json_object_set_new(out, "cpu_model", json_string("Unknown"));
    json_object_set_new(out, "cpu_flags", json_array());
    for (char *at = text, *line; (line = line_next(&at)) != NULL;) {
        char *value = line_value(line, ':');
        for (size_t i = 0; value != NULL && i < NELEMS(rows); i++) {
            /* The flags of all processors are alike: the list of the first one is enough. */
            bool again = rows[i].take == take_flags && json_array_size(value_get(out, "cpu_flags")) > 0;
            if (str_eq(line, rows[i].key) && !again)
                rows[i].take(out, value);
        }
    }
    return 0;
}

static const char *const keys[] = { "num_cpus", "cpu_model", "cpu_flags", NULL };

PLUGIN(grain, cpu, .doc = "Processors: their number, model and features.", .collect = cpu_collect,
       .cost = GRAIN_CHEAP, .keys = keys);
