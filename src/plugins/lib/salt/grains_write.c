/* grains_write.c - see grains_write.h: changes CONFDIR/grains. Reads the file, lays the grains over it,
 * writes it sorted as PyYAML would, updates the job's own grains, and has the minion gather them again. */
#include "plugins/lib/salt/grains_write.h"
#include "common/base/str.h"

#include "common/base/fs.h"
#include "common/host/grainsfile.h"
#include "common/base/grainsid.h"
#include "common/data/yaml.h"
#include "plugins/lib/file/partfile.h"

enum { YAML_INDENT = 2, NEW_FILE_MODE = 0644 };

/* NEW object; NULL with *err when the file is not YAML. What is not a mapping is written over, as in Salt. */
static json_t *
grains_write_read_file(const char *path, fail_t *err)
{
    buf_auto_t text = BUF_INIT;

    if (fs_absent(path))
        return json_object();
    if (fs_read(path, LIMIT_CONF_FILE, &text, err) < 0)
        return NULL;
    AUTO_FREE char *twice = NULL; /* told where the file is read for the grains */
    json_t *grains = yaml_load_repeated(buf_str(&text), text.len, path, NULL, &twice, err);
    if (grains != NULL && !json_is_object(grains)) {
        json_decref(grains);
        grains = json_object();
    }
    return grains;
}

/* PyYAML sorts the keys of a plain mapping. NEW. */
static json_t *
grains_write_sorted(const json_t *value)
{
    json_t *copy, *item;
    const char *key;
    size_t i, n = 0;

    if (json_is_array(value)) {
        copy = json_array();
        json_array_foreach (value, i, item)
            json_array_append_new(copy, grains_write_sorted(item));
        return copy;
    }
    if (!json_is_object(value))
        return json_deep_copy(value);
    AUTO_FREE const char **keys = xcalloc(json_object_size(value) + 1, sizeof(*keys));
    json_object_foreach ((json_t *) value, key, item)
        keys[n++] = key;
    qsort(keys, n, sizeof(*keys), str_by_text);
    copy = json_object();
    for (i = 0; i < n; i++)
        json_object_set_new(copy, keys[i], grains_write_sorted(value_get(value, keys[i])));
    return copy;
}

static int
grains_write_file(const char *path, const json_t *grains, fail_t *err)
{
    json_auto_t *ordered = grains_write_sorted(grains);
    AUTO_FREE char *text = yaml_dump(ordered, YAML_INDENT);
    fail_auto_t why = FAIL_INIT;
    int rc = partfile_put(path, text, strlen(text), NEW_FILE_MODE, &why);

    if (rc < 0)
        return fail_kind(err, FAIL_COMMAND, rc, "Unable to write to grains file at %s: %s", path,
                         fail_text(&why));
    return 0;
}

/* With `destructive` None removes a grain. */
static void
grains_write_lay_over(json_t *base, json_t *grains, bool destructive)
{
    const char *key;
    json_t *value;

    json_object_foreach (grains, key, value) {
        if (json_is_null(value) && destructive)
            json_object_del(base, key);
        else
            json_object_set_new(base, key, json_deep_copy(value));
    }
}

/* Nothing without a running minion (-ENOTSUP). */
static int
grains_write_refresh(call_ctx_t *ctx, bool refresh_pillar, fail_t *err)
{
    json_auto_t *request = json_pack("{s:s, s:b}", "op", "refresh_grains", "refresh_pillar", refresh_pillar);
    json_auto_t *reply = NULL;
    fail_auto_t why = FAIL_INIT;
    int rc = ctx_host(ctx, request, &reply, &why);

    if (rc < 0 && rc != -ENOTSUP)
        return fail_kind(err, FAIL_COMMAND, rc, "the grains are written but not gathered again: %s",
                         fail_text(&why));
    return 0;
}

/* An unreadable file is Salt's text in *ret_value, and nothing is written. */
int
grains_write(call_ctx_t *ctx, json_t *grains, bool destructive, bool refresh_pillar, json_t **ret_value,
             fail_t *err)
{
    AUTO_FREE char *path = grains_file_path(ctx_opts(ctx));
    fail_auto_t why = FAIL_INIT;
    const json_t *id = value_get(grains, "id");

    /* Earlier versions wrote such values; `destructive` may remove them. */
    if (id != NULL && !(json_is_null(id) && destructive))
        return fail_kind(
            err, FAIL_COMMAND, -EPERM,
            "the grain 'id' can't be set: it is always the minion's id, which the option 'id' in %s sets",
            value_str(ctx_opts(ctx), "conf_file", "/etc/salt/minion"));
    json_auto_t *written = grains_write_read_file(path, &why);

    if (written == NULL) {
        *ret_value = value_fmt("Unable to read existing grains file: %s", fail_text(&why));
        return 0;
    }
    grains_write_lay_over(written, grains, destructive);
    int rc = grains_write_file(path, written, err);
    if (rc == 0) {
        grains_write_lay_over(ctx_grains(ctx), grains, destructive);
        grains_set_id(ctx_grains(ctx), ctx_id(ctx));
        ctx_grains_changed(ctx);
        rc = grains_write_refresh(ctx, refresh_pillar, err);
    }
    if (rc == 0)
        *ret_value = json_deep_copy(grains);
    return rc;
}
