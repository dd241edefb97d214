/* local.c - fileclient_local: files directly from their folders, without a copy. See fileclient.h. */
#include "common/files/fileclient.h"

#include "common/base/str.h"
#include "common/files/fileserver.h"
#include "common/files/putfile.h"
#include "salt/value.h"

static int
local_cache(void *self, const char *path, const char *saltenv, char **ret_local, fail_t *err)
{
    served_auto_t file = SERVED_INIT;
    int rc = fileserver_find(self, path, saltenv, &file, err);
    if (rc == 0)
        *ret_local = STEAL(file.path);
    return rc;
}

static int
local_get(void *self, const char *path, const char *saltenv, const char *dest, fail_t *err)
{
    served_auto_t file = SERVED_INIT;
    int rc = fileserver_find(self, path, saltenv, &file, err);
    return rc < 0 ? rc : putfile_copy(file.fd, dest, err);
}

static json_t *
local_list(void *self, files_kind_t kind, const char *saltenv, const char *prefix, fail_t *err)
{
    return fileserver_list(self, kind, saltenv, prefix, err);
}

static int
local_hash(void *self, const char *path, const char *saltenv, int64_t size, json_t **ret_hash, fail_t *err)
{
    served_auto_t file = SERVED_INIT;
    AUTO_FREE char *hex = NULL;
    int rc = fileserver_find(self, path, saltenv, &file, err);
    if (rc == 0 && (size < 0 || size == file.size))
        rc = fileserver_hash(self, &file, &hex, err);
    if (rc == 0)
        *ret_hash = json_pack("{s:s, s:s*, s:i, s:I}", "hash_type", fileserver_hash_type(self), "hsum", hex,
                              "mode", (int) file.mode, "size", (json_int_t) file.size);
    return rc;
}

static json_t *
local_envs(void *self, fail_t *err)
{
    return fileserver_envs(self, err);
}

static void
local_free(void *self)
{
    fileserver_t *server = self;
    fileserver_destroy(&server);
}

fileclient_t *
fileclient_local(json_t *opts, json_t *roots)
{
    static const fileclient_class_t cls = { local_cache, local_get, local_list, local_hash,
                                            local_envs,  NULL,      NULL,       local_free };
    fileserver_t *server = fileserver_new(opts, roots);
    /* On the master a thread fetches remotes for all (master/files/files_update.c); elsewhere it is done
     * here. */
    fileserver_fetch_t fetch;
    if (!str_eq(value_str(opts, "__role", ""), "master"))
        (void) fileserver_update(server, false, &fetch);
    return fileclient_new(&cls, server);
}
