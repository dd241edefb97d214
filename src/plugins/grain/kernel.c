/* kernel.c - grains about the running kernel and how it was started. */
#include <sys/utsname.h>

#include "common/base/buf.h"
#include "common/host/rootfs.h"
#include "common/base/str.h"
#include "salt/plugin.h"

/* Next word of the kernel's command line, with shell quoting; NULL at the end. Salt splits it with Python's
 * shlex. NEW. */
static char *
kernel_next_word(const char **at)
{
    const char *p = *at + strspn(*at, " \t\r\n");
    buf_t word = BUF_INIT;
    char quote = '\0';

    if (*p == '\0')
        return NULL;
    for (; *p != '\0' && (quote != '\0' || strchr(" \t\r\n", *p) == NULL); p++) {
        if (*p == quote)
            quote = '\0';
        else if (quote == '\0' && (*p == '"' || *p == '\''))
            quote = *p;
        else if (*p == '\\' && quote != '\'' && p[1] != '\0')
            buf_putc(&word, *++p);
        else
            buf_putc(&word, *p);
    }
    *at = p;
    return word.len > 0 ? buf_steal(&word) : xstrdup("");
}

static int
kernel_collect(grain_ctx_t *ctx, json_t *out, fail_t *err)
{
    struct utsname name;

    if (uname(&name) == 0) {
        json_object_set_new(out, "kernel", json_string(name.sysname));
        json_object_set_new(out, "nodename", value_utf8(name.nodename, strlen(name.nodename)));
        json_object_set_new(out, "kernelrelease", json_string(name.release));
        json_object_set_new(out, "kernelversion", json_string(name.version));
        json_object_set_new(out, "cpuarch", json_string(name.machine));
    }

    /* Pairs of name and value. A value that has an equals sign itself is None, as Salt has it. */
    AUTO_FREE char *line = root_read(ctx->root, "/proc/cmdline");
    if (line == NULL)
        return 0;
    json_t *params = json_array();
    const char *at = line;
    for (char *word; (word = kernel_next_word(&at)) != NULL; free(word)) {
        char *equals = strchr(word, '=');
        json_t *value = json_null();
        if (equals != NULL && strchr(equals + 1, '=') == NULL)
            value = value_utf8(equals + 1, strlen(equals + 1));
        json_t *pair = json_array();
        json_array_append_new(pair, value_utf8(word, strcspn(word, "=")));
        json_array_append_new(pair, value);
        json_array_append_new(params, pair);
    }
    json_object_set_new(out, "kernelparams", params);

    return 0;
}

static const char *const keys[] = { "kernel",       "nodename", "kernelrelease", "kernelversion", "cpuarch",
                                    "kernelparams", NULL };

PLUGIN(grain, kernel, .doc = "The running kernel, its version and its parameters.", .collect = kernel_collect,
       .cost = GRAIN_CHEAP, .keys = keys);
