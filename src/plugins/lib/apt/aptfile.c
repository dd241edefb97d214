/* aptfile.c - package files of Debian: what `dpkg -I` tells of one. */
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/host/rootfs.h"
#include "plugins/lib/apt/apt.h"

/* The last word of the line " Name: value" of `dpkg -I`. NULL when there is no such line. NEW. */
static char *
info_line(const char *text, const char *name)
{
    AUTO_FREE char *copy = xstrdup(text);

    for (char *at = copy, *line; (line = line_next(&at)) != NULL;) {
        line = str_trim(line);
        const char *rest = line + strlen(name);
        if (!str_starts(line, name) || rest[strspn(rest, " ")] != ':')
            continue;
        const char *blank = strrchr(line, ' ');
        return xstrdup(blank != NULL ? blank + 1 : line);
    }
    return NULL;
}

/* {name, version, arch} of a package file, by dpkg -I. A foreign architecture becomes part of the name, on
 * amd64 only, as in Salt. NEW, or NULL with *err. */
json_t *
apt_deb_info(call_ctx_t *ctx, const char *path, fail_t *err)
{
    static const char *const rows[][2] = { { "name", "Package" },
                                           { "version", "Version" },
                                           { "arch", "Architecture" } };
    json_auto_t *ret = json_object();
    const char *osarch = value_str(ctx_grains(ctx), "osarch", "");

    int there = fs_look(path, err);
    if (there == 0)
        fail_kind(err, FAIL_COMMAND, -ENOENT, "%s does not exist on minion", path);
    if (there <= 0)
        return NULL;
    json_auto_t *out = apt_output(ctx, err, "dpkg", "-I", path, NULL);
    if (out == NULL)
        return NULL;
    const char *errors = value_str(out, "stderr", "");
    if (value_int(out, "retcode", 0) != 0) {
        fail_kind(err, FAIL_COMMAND, -EREMOTEIO, "Unable to get info for %s%s%s", path,
                  *errors != '\0' ? ": " : "", errors);
        return NULL;
    }
    for (size_t i = 0; i < NELEMS(rows); i++) {
        AUTO_FREE char *value = info_line(value_str(out, "stdout", ""), rows[i][1]);
        if (value == NULL) {
            fail_kind(err, FAIL_COMMAND, -EINVAL, "Unable to get %s for %s", rows[i][0], path);
            return NULL;
        }
        json_object_set_new(ret, rows[i][0], json_string(value));
    }
    const char *arch = value_str(ret, "arch", "");
    if (str_eq(value_str(ctx_grains(ctx), "cpuarch", ""), "x86_64") && str_eq(osarch, "amd64") &&
        !str_eq(arch, "all") && !str_eq(arch, osarch))
        json_object_set_new(ret, "name", value_fmt("%s:%s", value_str(ret, "name", ""), arch));
    return STEAL(ret);
}
