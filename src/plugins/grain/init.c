/* init.c - grain init: systemd by its folder in /run, else the program of process 1, by its command line or
 * by a name found in its file. */
#include "common/base/fs.h"
#include "common/host/rootfs.h"
#include "common/base/str.h"
#include "salt/limits.h"
#include "salt/plugin.h"

#include <ctype.h>
#include <fcntl.h>
#include <unistd.h>

/* `word` is in lower case. */
static bool
contains_folded(const char *data, size_t len, const char *word)
{
    size_t n = strlen(word);

    for (size_t i = 0; i + n <= len; i++) {
        size_t j = 0;
        while (j < n && tolower((unsigned char) data[i + j]) == word[j])
            j++;
        if (j == n)
            return true;
    }
    return false;
}

static bool
has_word(char **words, const char *word)
{
    for (size_t i = 0; word != NULL && words[i] != NULL; i++) {
        if (str_eq(words[i], word))
            return true;
    }
    return false;
}

/* Programs that containers run as process 1 are known by their name. /sbin/init may be any of several, and
 * its file is searched for a name, as Salt searches it. */
static const char *
from_command_line(const char *root, char **words)
{
    static const struct {
        const char *program, *name;
    } rows[] = { { "supervisord", "supervisord" }, { "dumb-init", "dumb-init" }, { "tini", "tini" } };
    AUTO_FREE char *init = words[0] == NULL     ? NULL
                           : words[0][0] == '/' ? (root_exists(root, words[0]) ? xstrdup(words[0]) : NULL)
                                                : root_which(root, words[0]);

    if (str_ends(init, "bin/init")) {
        /* The first of the known names found in the program, block by block. */
        static const char *const names[] = { "upstart", "sysvinit", "systemd" };
        enum { BLOCK = 64 * 1024, EDGE = 7 };
        AUTO_FREE char *full = root_path(root, init);
        AUTO_FREE char *block = xcalloc(1, EDGE + BLOCK);
        AUTO_FD fd = open(full, O_RDONLY | O_CLOEXEC);
        ssize_t n;
        for (size_t total = 0;
             fd >= 0 && total < LIMIT_HOST_FILE && (n = read(fd, block + EDGE, BLOCK)) > 0;) {
            for (size_t i = 0; i < NELEMS(names); i++) {
                if (contains_folded(block, EDGE + (size_t) n, names[i]))
                    return names[i];
            }
            total += (size_t) n;
            memmove(block, block + n, EDGE); /* a name may lie across two blocks */
        }
        return "unknown";
    }
    for (size_t i = 0; i < NELEMS(rows); i++) {
        AUTO_FREE char *path = root_which(root, rows[i].program);
        if (has_word(words, path))
            return rows[i].name;
    }
    if ((has_word(words, "runit") && words[1] == NULL) || has_word(words, "/sbin/my_init"))
        return "runit";
    return "unknown";
}

static int
init_collect(grain_ctx_t *ctx, json_t *out, fail_t *err)
{
    const char *init = "systemd";

    AUTO_FREE char *run = root_path(ctx->root, "/run/systemd/system");
    int systemd = fs_look(run, err);

    if (systemd < 0)
        return systemd;
    if (systemd == 0) {
        AUTO_FREE char *line = root_read(ctx->root, "/proc/1/cmdline");
        char **words = str_split(line != NULL ? line : "", " \t\n", true);
        init = from_command_line(ctx->root, words);
        strv_free(words);
    }
    json_object_set_new(out, "init", json_string(init));
    return 0;
}

static const char *const keys[] = { "init", NULL };

PLUGIN(grain, init, .doc = "What runs as process 1.", .collect = init_collect, .cost = GRAIN_CHEAP,
       .keys = keys);
