/* pillar_reads.c - records the inputs of a compile, so that a cached pillar can be checked for validity.
 *
 * A watching file client notes each file looked for with its inode, size and times, and each listing with a
 * hash; pillar_reads_hold asks again and compares. Anything else that may change (a function that is not in
 * `pure`, an external source, too many reads) sets `world`, and the pillar is reused only with pillar_cache. */
#include "common/pillar/pillar_int.h"

#include <sys/stat.h>

#include "common/base/digest.h"
#include "common/base/str.h"
#include "common/match/match.h"
#include "common/py/py_json.h"

struct pillar_reads {
    json_t *roots; /* owned: of the client that is watched */
    json_t *seen; /* {"F3:env/path" or "L3:env/prefix": what was there}; a "/" may be in an environment too */
    bool world;
};

/* Functions whose answer depends on arguments, configuration, grains and pillar only. Listed one by one, as
 * most of their modules also have functions that read files. */
static const char *const pure[] = {
    "config.backup_mode",
    "config.dot_vals",
    "config.get",
    "config.items",
    "config.manage_mode",
    "config.merge",
    "config.option",
    "config.valid_fileproto",
    "defaults.deepcopy",
    "defaults.merge",
    "defaults.update",
    "file.basename",
    "file.dirname",
    "file.join",
    "grains.equals",
    "grains.fetch",
    "grains.filter_by",
    "grains.get",
    "grains.has_value",
    "grains.item",
    "grains.items",
    "grains.ls",
    "hashutil.base64_b64decode",
    "hashutil.base64_b64encode",
    "hashutil.base64_decodestring",
    "hashutil.base64_encodestring",
    "hashutil.digest",
    "hashutil.github_signature",
    "hashutil.hmac_compute",
    "hashutil.hmac_signature",
    "hashutil.md5_digest",
    "hashutil.sha256_digest",
    "hashutil.sha512_digest",
    "log.*",
    "match.*",
    "network.calc_net",
    "pillar.data",
    "pillar.fetch",
    "pillar.filter_by",
    "pillar.get",
    "pillar.item",
    "pillar.items",
    "pillar.keys",
    "pillar.ls",
    "pillar.obfuscate",
    "pillar.raw",
    "slsutil.banner",
    "slsutil.boolstr",
    "slsutil.deserialize",
    "slsutil.merge",
    "slsutil.merge_all",
    "slsutil.serialize",
    "slsutil.update",
    "test.echo",
    "test.ping",
};

pillar_reads_t *
pillar_reads_new(void)
{
    pillar_reads_t *self = xcalloc(1, sizeof(*self));

    self->seen = json_object();
    return self;
}

void
pillar_reads_destroy(pillar_reads_t **self_p)
{
    pillar_reads_t *self = STEAL(*self_p);

    if (self == NULL)
        return;
    json_decref(self->roots);
    json_decref(self->seen);
    free(self);
}

bool
pillar_reads_world(const pillar_reads_t *self)
{
    return self->world;
}

void
reads_mark_world(pillar_reads_t *reads)
{
    if (reads != NULL)
        reads->world = true;
}

/* Templates ask for a module ("pillar.") on the way to its function; that is pure when the module has a pure
 * function. */
void
reads_called(pillar_reads_t *reads, const char *fun)
{
    bool module = str_ends(fun, ".");

    for (size_t i = 0; i < NELEMS(pure); i++)
        if (module ? str_starts(pure[i], fun) : match_glob(pure[i], fun))
            return;
    reads->world = true;
}

/* ---- what is there ------------------------------------------------------------------------------------- */

/* Fingerprint of a file, "" when there is none. NEW text. */
static char *
file_now(fileclient_t *inner, const char *path, const char *saltenv)
{
    AUTO_FREE char *local = NULL;
    struct stat st;
    fail_auto_t err = FAIL_INIT;

    if (fileclient_cache(inner, path, saltenv, &local, &err) < 0 || stat(local, &st) != 0)
        return xstrdup("");
    return xasprintf("%s %llu %lld %lld.%09ld %lld.%09ld", local, (unsigned long long) st.st_ino,
                     (long long) st.st_size, (long long) st.st_mtim.tv_sec, st.st_mtim.tv_nsec,
                     (long long) st.st_ctim.tv_sec, st.st_ctim.tv_nsec);
}

/* Hash of a listing; a listing that fails has the hash of an empty text. The kind is not recorded: a compile
 * lists nothing but files. NEW. */
static char *
list_now(fileclient_t *inner, const char *prefix, const char *saltenv)
{
    fail_auto_t err = FAIL_INIT;
    json_auto_t *names = fileclient_list(inner, FILES_FILES, saltenv, prefix, &err);
    AUTO_FREE char *text = names != NULL ? value_dump(names) : xstrdup("");

    return digest_bytes("sha256", text, strlen(text), &err);
}

/* Records a fingerprint; TAKES `what`. The environment's length comes first in the key, as names may contain
 * '/'. */
static void
pillar_reads_note(pillar_reads_t *self, char kind, const char *path, const char *saltenv, char *what)
{
    AUTO_FREE char *key = xasprintf("%c%zu:%s/%s", kind, strlen(saltenv), saltenv, path);
    json_auto_t *print = value_utf8(what, strlen(what));
    const json_t *had = json_object_get(self->seen, key);

    /* A file that has changed between two reads has left some of each in the pillar, which none may have again. */
    if (json_object_size(self->seen) >= LIMIT_PILLAR_READS || (had != NULL && !json_equal(had, print)))
        self->world = true;
    else
        json_object_set(self->seen, key, print);
    free(what);
}

bool
pillar_reads_hold(const pillar_reads_t *self, json_t *opts)
{
    fileclient_t *inner = fileclient_local(opts, self->roots);
    const char *key;
    json_t *was;
    bool same = true;

    json_object_foreach (self->seen, key, was) {
        char *colon;
        size_t len = strtoul(key + 1, &colon, 10);
        AUTO_FREE char *saltenv = xstrndup(colon + 1, len);
        const char *path = colon + 1 + len + 1;
        AUTO_FREE char *now = key[0] == 'F' ? file_now(inner, path, saltenv) : list_now(inner, path, saltenv);
        same = str_eq(now, json_string_value(was));
        if (!same)
            break;
    }
    fileclient_destroy(&inner);
    return same;
}

/* ---- the watching client ------------------------------------------------------------------------------- */

typedef struct watch {
    pillar_reads_t *reads;
    fileclient_t *inner; /* owned */
} watch_t;

static int
pillar_reads_cache(void *cookie, const char *path, const char *saltenv, char **ret_local, fail_t *err)
{
    const watch_t *self = cookie;

    pillar_reads_note(self->reads, 'F', path, saltenv, file_now(self->inner, path, saltenv));
    return fileclient_cache(self->inner, path, saltenv, ret_local, err);
}

/* A file or URL that is copied elsewhere, and the list of environments, are not asked for again: the pillar
 * is not kept. */
static int
pillar_reads_get(void *cookie, const char *path, const char *saltenv, const char *dest, fail_t *err)
{
    const watch_t *self = cookie;

    self->reads->world = true;
    return fileclient_get(self->inner, path, saltenv, dest, err);
}

static json_t *
pillar_reads_list(void *cookie, files_kind_t kind, const char *saltenv, const char *prefix, fail_t *err)
{
    const watch_t *self = cookie;

    pillar_reads_note(self->reads, 'L', prefix, saltenv, list_now(self->inner, prefix, saltenv));
    return fileclient_list(self->inner, kind, saltenv, prefix, err);
}

static int
pillar_reads_hash(void *cookie, const char *path, const char *saltenv, int64_t size, json_t **ret_hash,
                  fail_t *err)
{
    const watch_t *self = cookie;

    pillar_reads_note(self->reads, 'F', path, saltenv, file_now(self->inner, path, saltenv));
    return fileclient_hash_of_size(self->inner, path, saltenv, size, ret_hash, err);
}

static json_t *
pillar_reads_envs(void *cookie, fail_t *err)
{
    const watch_t *self = cookie;

    self->reads->world = true;
    return fileclient_envs(self->inner, err);
}

static void
pillar_reads_free(void *cookie)
{
    watch_t *self = cookie;

    fileclient_destroy(&self->inner);
    free(self);
}

fileclient_t *
reads_watch(pillar_reads_t *reads, json_t *roots, fileclient_t **inner_p)
{
    static const fileclient_class_t cls = { pillar_reads_cache,
                                            pillar_reads_get,
                                            pillar_reads_list,
                                            pillar_reads_hash,
                                            pillar_reads_envs,
                                            NULL,
                                            NULL,
                                            pillar_reads_free };
    watch_t *self = xcalloc(1, sizeof(*self));

    json_decref(reads->roots);
    reads->roots = json_deep_copy(roots);
    self->reads = reads;
    self->inner = STEAL(*inner_p);
    return fileclient_new(&cls, self);
}
