/* datastore.c - see datastore.h: a JSON file in the cache folder. Each change reads the file and replaces it
 * atomically; there is no lock, so that of two changes at once the later one remains. */
#include "plugins/lib/salt/datastore.h"

#include <unistd.h>

#include "common/base/fs.h"
#include "salt/limits.h"
#include "salt/log.h"
#include "salt/value.h"

static char *
store_path(call_ctx_t *ctx)
{
    return fs_join(value_str(ctx_opts(ctx), "cachedir", "/var/cache/salt/minion"), "datastore");
}

/* An unreadable mapping counts as empty, with a warning; only a failed read is an error. NEW. */
json_t *
datastore_load(call_ctx_t *ctx, fail_t *err)
{
    AUTO_FREE char *path = store_path(ctx);
    fail_auto_t why = FAIL_INIT;
    buf_auto_t text = BUF_INIT;

    if (fs_absent(path))
        return json_object();
    if (fs_read(path, LIMIT_FILE_READ, &text, err) != 0)
        return NULL;
    json_t *data = value_parse(buf_str(&text), text.len, LIMIT_FILE_READ, path, &why);
    if (json_is_object(data))
        return data;
    log_warning("%s is not read: %s", path, why.code < 0 ? fail_text(&why) : "it holds no mapping");
    json_decref(data);
    return json_object();
}

int
datastore_save(call_ctx_t *ctx, json_t *data, fail_t *err)
{
    AUTO_FREE char *path = store_path(ctx);
    AUTO_FREE char *text = value_dump(data);
    AUTO_FREE char *folder = xstrndup(path, (size_t) (strrchr(path, '/') - path));
    int rc = fs_mkdirs(folder, 0755, err);

    return rc < 0 ? rc : fs_write_atomic(path, text, strlen(text), 0600, err);
}

int
datastore_set(call_ctx_t *ctx, const char *key, json_t *value, fail_t *err)
{
    json_auto_t *data = datastore_load(ctx, err);

    if (data == NULL)
        return err->code;
    json_object_set(data, key, value);
    return datastore_save(ctx, data, err);
}

int
datastore_clear(call_ctx_t *ctx, fail_t *err)
{
    AUTO_FREE char *path = store_path(ctx);

    if (unlink(path) < 0 && errno != ENOENT)
        return fail_set(err, -errno, "cannot remove %s: %s", path, strerror(errno));
    return 0;
}
