/* rpmkeys.c - keys that packages are signed with, which rpm keeps as packages of the name gpg-pubkey. */
#include <time.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/host/rootfs.h"
#include "plugins/lib/call/tool.h"
#include "plugins/lib/packages/rpm.h"

/* The members of `rpm -qi`. NEW, or NULL with *err. */
static json_t *
key_info(call_ctx_t *ctx, const char *key, const json_t *args, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;
    buf_auto_t description = BUF_INIT;
    bool describing = false;

    if (rpm_begin(&prog, args, err) < 0)
        return NULL;
    prog_add(&prog, "-qi");
    if (prog_operand(&prog, "key", key, err) < 0)
        return NULL;
    AUTO_FREE char *text = rpm_text(ctx, &prog, 0, err);
    json_t *ret = text != NULL ? json_object() : NULL;
    for (char *at = text, *line; ret != NULL && (line = line_next(&at)) != NULL;) {
        if (describing) {
            buf_printf(&description, "%s%s", description.len > 0 ? "\n" : "", line);
            describing = !str_starts(line, "-----END");
            if (!describing)
                json_object_set_new(ret, "Description", json_string(buf_str(&description)));
        } else if (str_starts(line, "Description")) {
            describing = true;
        } else if (*line != '\0') {
            const char *value = line_value(line, ':');
            long long size;
            /* `Mon 05 Jan 2026 10:00:00 AM UTC` is shown in its ISO form, another text as it is. */
            struct tm tm = { 0 };
            char iso[64] = "";
            const char *end = value != NULL ? strptime(value, "%a %d %b %Y %I:%M:%S %p", &tm) : NULL;
            if (end == NULL || strftime(iso, sizeof(iso), "%Y-%m-%dT%H:%M:%S", &tm) == 0)
                *iso = '\0';
            json_object_set_new(ret, line,
                                value == NULL                  ? json_string("")
                                : strstr(line, "Date") != NULL ? json_string(*iso != '\0' ? iso : value)
                                : strstr(line, "Size") != NULL && str_to_int(value, 0, INT64_MAX, &size)
                                    ? json_integer(size)
                                : strstr(value, "(none)") != NULL ? json_null()
                                                                  : json_string(value));
        }
    }
    return ret;
}

/* The lines of `rpm -qi`, the key itself as "Description". */
int
rpm_info_gpg_key(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = key_info(ctx, value_str(args, "key", ""), args, err);
    return *ret_value != NULL ? 0 : err->code;
}

int
rpm_list_gpg_keys(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    bool info = value_truthy(value_get(args, "info"));
    prog_auto_t prog = PROG_INIT;

    if (rpm_begin(&prog, args, err) < 0)
        return err->code;
    prog_adds(&prog, "-qa", "gpg-pubkey*", NULL);
    AUTO_FREE char *text = rpm_text(ctx, &prog, 0, err);
    if (text == NULL)
        return err->code;
    json_auto_t *ret = info ? json_object() : json_array();
    for (char *at = text, *key; (key = line_next(&at)) != NULL;) {
        json_t *told = info && *key != '\0' ? key_info(ctx, key, args, err) : NULL;
        if (err != NULL && err->code < 0)
            return err->code;
        if (told != NULL)
            json_object_set_new(ret, key, told);
        else if (*key != '\0')
            json_array_append_new(ret, json_string(key));
    }
    *ret_value = STEAL(ret);
    return 0;
}

/* rpm reads keys from files alone. */
static int
import_key(call_ctx_t *ctx, const char *key, const json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *path = xasprintf("%s/halite-key-XXXXXX", fs_temp_dir());
    prog_auto_t prog = PROG_INIT;
    int rc = rpm_begin(&prog, args, err), fd = rc == 0 ? mkstemp(path) : -1;

    if (rc < 0)
        return rc;
    if (fd < 0)
        return fail_set(err, -errno, "%s: %s", path, strerror(errno));
    rc = fs_write_all(fd, key, strlen(key));
    close(fd);
    if (rc < 0)
        fail_set(err, rc, "cannot write %s: %s", path, strerror(-rc));
    prog_adds(&prog, "--import", path, NULL);
    if (rc == 0)
        rc = tool_bool(ctx, &prog, 0, ret_value, err);
    (void) unlink(path);
    return rc;
}

int
rpm_import_gpg_key(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return import_key(ctx, value_str(args, "key", ""), args, ret_value, err);
}

/* A key is a package for rpm, so it is erased as one. */
int
rpm_remove_gpg_key(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;

    if (rpm_begin(&prog, args, err) < 0)
        return err->code;
    prog_add(&prog, "-e");
    if (prog_operand(&prog, "key", value_str(args, "key", value_str(args, "keyid", "")), err) < 0)
        return err->code;
    return tool_bool(ctx, &prog, 0, ret_value, err);
}

/* pkg.add_repo_key of Red Hat and SUSE. */
int
rpm_add_repo_key(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    enum { KEY_MAX = 1 << 20 };
    const char *path = value_str(args, "path", ""), *text = value_str(args, "text", "");
    buf_auto_t read = BUF_INIT;

    if (*path == '\0' && *text == '\0')
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "Provide a key to add");
    if (*path != '\0' && *text != '\0')
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "Add a key via path or key");
    if (*path != '\0') {
        AUTO_FREE char *local = pkg_cache_file(ctx, path, value_str(args, "saltenv", "base"), err);
        if (local == NULL)
            return err->code;
        if (*local == '\0') {
            *ret_value = json_false();
            return 0;
        }
        int rc = fs_read(local, KEY_MAX, &read, err);
        if (rc < 0)
            return rc;
        text = buf_str(&read);
    }
    return import_key(ctx, text, args, ret_value, err);
}
