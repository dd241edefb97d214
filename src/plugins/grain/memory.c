/* memory.c - grains mem_total and swap_total, in megabytes. */
#include "common/host/rootfs.h"
#include "common/base/str.h"
#include "salt/plugin.h"

/* The kernel counts in kibibytes. A host without swap space has a grain of 0. */
static int
grain_memory_collect(grain_ctx_t *ctx, json_t *out, fail_t *err)
{
    static const struct {
        const char *line, *key;
    } rows[] = { { "MemTotal", "mem_total" }, { "SwapTotal", "swap_total" } };
    AUTO_FREE char *text = root_read(ctx->root, "/proc/meminfo");

    for (size_t i = 0; i < NELEMS(rows); i++)
        json_object_set_new(out, rows[i].key, json_integer(0));
    for (char *at = text, *line; (line = line_next(&at)) != NULL;) {
        const char *value = line_value(line, ':');
        for (size_t i = 0; value != NULL && i < NELEMS(rows); i++) {
            if (str_eq(line, rows[i].line))
                json_object_set_new(out, rows[i].key, json_integer(strtoll(value, NULL, 10) / 1024));
        }
    }
    return 0;
}

static const char *const keys[] = { "mem_total", "swap_total", NULL };

PLUGIN(grain, memory, .doc = "Memory and swap space in megabytes.", .collect = grain_memory_collect,
       .cost = GRAIN_CHEAP, .keys = keys);
