/* btrfs.c - see btrfs.h. */
#include "plugins/lib/system/btrfs.h"

#include <ctype.h>

#include "common/base/str.h"
#include "common/host/procfs.h"
#include "common/host/rootfs.h"

json_t *
btrfs_run(call_ctx_t *ctx, prog_t *prog, fail_t *err)
{
    prog->timeout_ms = BTRFS_MS;
    json_auto_t *ran = tool_run(ctx, prog, 0, err);

    if (ran == NULL)
        return NULL;
    if (value_int(ran, "retcode", 1) == 0 || *value_str(ran, "stderr", "") == '\0')
        return json_incref(ran);
    (void) fail_kind(err, FAIL_COMMAND, -EIO, "%s", value_str(ran, "stderr", ""));
    return NULL;
}

char *
btrfs_squeezed(const char *text)
{
    char **words = str_split(text, " \t", true);
    buf_t out = BUF_INIT;

    for (size_t i = 0; words[i] != NULL; i++)
        buf_printf(&out, "%s%s", i > 0 ? " " : "", words[i]);
    strv_free(words);
    return buf_steal(&out);
}

json_t *
btrfs_mounts(const char *type, fail_t *err)
{
    size_t n = 0;
    procfs_mount_t *mounts = procfs_mounts(&n, err);
    json_t *out = mounts != NULL ? json_object() : NULL;

    for (size_t i = 0; i < n; i++) {
        if (strcmp(mounts[i].type, type) != 0)
            continue;
        json_t *list = json_object_get(out, mounts[i].device), *options = json_array();
        if (list == NULL) {
            list = json_array();
            json_object_set_new(out, mounts[i].device, list);
        }
        char **words = str_split(mounts[i].options, ",", false);
        for (size_t k = 0; words[k] != NULL; k++)
            json_array_append_new(options, json_string(words[k]));
        strv_free(words);
        json_array_append_new(list,
                              json_pack("{s:s, s:o}", "mount_point", mounts[i].point, "options", options));
    }
    procfs_mounts_free(mounts, n);
    return out;
}

json_t *
btrfs_blkid(call_ctx_t *ctx, const char *type, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;

    if (tool_begin(&prog, "blkid", err) < 0)
        return NULL;
    prog_adds(&prog, "-o", "export", NULL);
    json_auto_t *ran = btrfs_run(ctx, &prog, err), *mounts = NULL;
    if (ran == NULL || (type != NULL && (mounts = btrfs_mounts(type, err)) == NULL))
        return NULL;

    json_t *out = json_object();
    AUTO_FREE char *text = xasprintf("%s\n\n", value_str(ran, "stdout", ""));
    json_auto_t *one = json_object();
    for (char *at = text, *line; (line = line_next(&at)) != NULL;) {
        char *value = strchr(line, '=');
        if (value != NULL) {
            *value++ = '\0';
            for (char *c = line; *c != '\0'; c++)
                *c = (char) tolower((unsigned char) *c);
            json_object_set_new(one, line, value_utf8(value, strlen(value)));
            continue;
        }
        AUTO_FREE char *name = xstrdup(value_str(one, "devname", ""));
        bool wanted = type == NULL || str_eq(value_str(one, "type", ""), type);
        (void) json_object_del(one, "devname");
        if (type != NULL)
            (void) json_object_del(one, "type");
        if (type != NULL && value_get(mounts, name) != NULL)
            json_object_set(one, "mounts", value_get(mounts, name));
        if (*name != '\0' && wanted)
            json_object_set_new(out, name, json_copy(one));
        json_object_clear(one);
    }
    return out;
}
