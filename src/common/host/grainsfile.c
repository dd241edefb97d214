/* grainsfile.c - path of the file with the grains that users set (grains.setval writes it, the minion reads
 * it). */
#include "common/host/grainsfile.h"

#include "common/base/fs.h"
#include "salt/value.h"

char *
grains_file_path(const json_t *opts)
{
    const char *conf = value_str(opts, "conf_file", "/etc/salt/minion");
    const char *slash = strrchr(conf, '/');

    if (fs_is_dir(conf))
        return fs_join(conf, "grains");
    AUTO_FREE char *folder = slash != NULL ? xstrndup(conf, (size_t) (slash - conf) + 1) : xstrdup(".");
    return fs_join(folder, "grains");
}
