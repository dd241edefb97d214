/* saltcheck_find.c - see saltcheck_find.h. */
#include "plugins/lib/salt/saltcheck_find.h"

#include "common/base/str.h"
#include "common/files/backend.h"
#include "plugins/lib/call/subcall.h"
#include "salt/log.h"

struct saltcheck_find {
    call_ctx_t *ctx;
    const char *saltenv;
    char *location; /* as configured */
    char *folder;   /* the same as os.path.normpath has it */
    json_t *states; /* all SLS of the environment */
    json_t *found;  /* SLS whose folders hold tests */
    json_t *files;  /* {path: true}, those that were not taken yet */
};

/* ---- life --------------------------------------------------------------------------------------------- */

saltcheck_find_t *
saltcheck_find_new(call_ctx_t *ctx, const char *saltenv, fail_t *err)
{
    AUTO(saltcheck_find) self = xcalloc(1, sizeof(*self));
    json_auto_t *location = sub_call(ctx, err, "config.get", "{s:s, s:s}", "key", "saltcheck_test_location",
                                     "default", "saltcheck-tests");

    if (location == NULL)
        return NULL;
    if (!json_is_string(location) || *json_string_value(location) == '\0') {
        AUTO_FREE char *is = value_pystr(location);
        (void) fail_kind(err, FAIL_COMMAND, -EINVAL,
                         "saltcheck_test_location is a folder below those of the states, and not '%s'", is);
        return NULL;
    }
    self->ctx = ctx;
    self->saltenv = saltenv;
    self->location = xstrdup(json_string_value(location));
    self->folder = files_flatten(self->location);
    self->states = sub_call(ctx, err, "cp.list_states", "{s:s}", "saltenv", saltenv);
    self->found = json_array();
    self->files = json_object();
    return self->states != NULL ? STEAL(self) : NULL;
}

void
saltcheck_find_destroy(saltcheck_find_t **self_p)
{
    saltcheck_find_t *self = *self_p;

    if (self == NULL)
        return;
    free(self->location);
    free(self->folder);
    json_decref(self->states);
    json_decref(self->found);
    json_decref(self->files);
    free(self);
    *self_p = NULL;
}

/* ---- an SLS ------------------------------------------------------------------------------------------- */

/* The folders that may hold an SLS's tests, the longest path first, which is the nearest. NEW array of paths
 * below the file server's root; "" is the root's own. */
static json_t *
test_folders(const char *sls)
{
    AUTO_FREE char *path = str_replace(sls, ".", "/");
    const char *last = strrchr(path, '/');
    json_t *list = json_array();

    json_array_append_new(list, json_string(path));
    if (last == NULL) {
        json_array_append_new(list, json_string(""));
        return list;
    }
    json_array_append_new(list, json_stringn(path, (size_t) (last - path)));
    if (strchr(path, '/') != last)
        json_array_append_new(list, json_stringn(path, strcspn(path, "/")));
    return list;
}

/* How the path of a file ends that belongs to the SLS. NEW array of texts. */
static json_t *
test_endings(const saltcheck_find_t *self, const char *sls)
{
    AUTO_FREE char *path = str_replace(sls, ".", "/");
    char *last = strrchr(path, '/'), *first = strchr(path, '/');
    json_t *list = json_array();

    json_array_append_new(list, value_fmt("%s/%s/init.tst", path, self->folder));
    if (last == NULL) {
        json_array_append_new(list, value_fmt("%s/%s.tst", self->folder, path));
        json_array_append_new(list, value_fmt("%s/%s/%s.tst", path, self->folder, path));
        return list;
    }
    json_array_append_new(list,
                          value_fmt("%.*s/%s/%s.tst", (int) (last - path), path, self->folder, last + 1));
    json_array_append_new(list,
                          value_fmt("%.*s/%s/%s.tst", (int) (first - path), path, self->folder, first + 1));
    return list;
}

/* Fetches the tests of a folder. The root's own folder belongs to no state: of it counts the SLS's own file. NEW
 * array of cached paths, or NULL with *err. */
static json_t *
fetch_folder(const saltcheck_find_t *self, const char *sls, const char *folder, fail_t *err)
{
    const char *slash = *folder != '\0' ? "/" : "";
    AUTO_FREE char *url = xasprintf("salt://%s%s%s", folder, slash, self->location);
    AUTO_FREE char *own = xasprintf("%s/%s.tst", self->folder, sls);
    int retcode = ctx_retcode(self->ctx);
    json_t *got = sub_call(self->ctx, err, "cp.cache_dir", "{s:s, s:s, s:s}", "path", url, "saltenv",
                           self->saltenv, "include_pat", *folder != '\0' ? "*.tst" : own);

    ctx_set_retcode(self->ctx, retcode); /* a folder that is not there is no failure here */
    return got;
}

/* Looks into the folders of an SLS: its files go into `cached`, and with `all` to those that are taken. */
static int
fetch_tests(saltcheck_find_t *self, const char *sls, bool all, json_t *cached, fail_t *err)
{
    json_auto_t *folders = test_folders(sls);
    json_t *folder, *path;
    size_t i, j;

    json_array_foreach (folders, i, folder) {
        if (value_lists(self->found, sls))
            return 0;
        json_auto_t *got = fetch_folder(self, sls, json_string_value(folder), err);
        if (got == NULL)
            return err->code;
        if (json_array_size(got) > 0 && !all)
            json_array_append_new(self->found, json_string(sls));
        json_array_foreach (got, j, path) {
            if (!json_is_string(path))
                continue;
            json_object_set_new(all ? self->files : cached, json_string_value(path), json_true());
        }
    }
    return 0;
}

/* Takes the files of one SLS from those fetched for the state and what it includes. */
static void
take_matching(saltcheck_find_t *self, const char *sls, json_t *cached)
{
    json_auto_t *endings = test_endings(self, sls);
    const char *path;
    json_t *v, *ending;
    void *next;
    size_t i;

    json_object_foreach_safe (cached, next, path, v) {
        bool is = false;
        json_array_foreach (endings, i, ending)
            is = is || str_ends(path, json_string_value(ending));
        if (is) {
            json_object_set_new(self->files, path, json_true());
            json_object_del(cached, path);
        }
    }
}

/* ---- a state ------------------------------------------------------------------------------------------ */

/* The SLS that a state is made of, each once, in the order of their chunks: {SLS: true}. 0 with *ret_sls NEW; 1
 * when it can't be compiled; or a negative errno. */
static int
sls_behind(saltcheck_find_t *self, const char *state, json_t **ret_sls, fail_t *err)
{
    json_auto_t *sls = json_object();
    json_t *chunk;
    size_t i;

    if (!saltcheck_find_is_state(self, state)) {
        json_object_set_new(sls, state, json_true()); /* tests without a state */
        *ret_sls = json_incref(sls);
        return 0;
    }
    json_auto_t *chunks = sub_call(self->ctx, err, "state.show_low_sls", "{s:s, s:s, s:b}", "mods", state,
                                   "saltenv", self->saltenv, "test", 1);
    if (chunks == NULL)
        return err->code;
    json_array_foreach (chunks, i, chunk) {
        if (json_is_object(chunk)) {
            json_object_set_new(sls, value_str(chunk, "__sls__", ""), json_true());
            continue;
        }
        AUTO_FREE char *text = value_pystr(chunk);
        log_error("saltcheck: the tests of %s can't be found: %s", state, text);
        return 1;
    }
    *ret_sls = json_incref(sls);
    return 0;
}

int
saltcheck_find_add(saltcheck_find_t *self, const char *state, bool all, fail_t *err)
{
    json_auto_t *sls = NULL, *cached = json_object();
    int rc = sls_behind(self, state, &sls, err);
    const char *name;
    json_t *v;

    json_object_foreach (sls, name, v) {
        if (rc == 0)
            rc = fetch_tests(self, name, all, cached, err);
        if (rc == 0)
            take_matching(self, name, cached);
    }
    return rc;
}

json_t *
saltcheck_find_take(saltcheck_find_t *self)
{
    json_t *paths = json_array(), *v;
    const char *path;

    json_object_foreach (self->files, path, v)
        json_array_append_new(paths, json_string(path));
    json_object_clear(self->files);
    return paths;
}

json_t *
saltcheck_find_found(const saltcheck_find_t *self)
{
    return self->found;
}

bool
saltcheck_find_is_state(const saltcheck_find_t *self, const char *name)
{
    return value_lists(self->states, name);
}

char *
saltcheck_find_url(const saltcheck_find_t *self, const char *path)
{
    AUTO_FREE char *base = xasprintf("%s/files/%s/", value_str(ctx_opts(self->ctx), "cachedir", ""),
                                     self->saltenv);

    return str_starts(path, base) ? xasprintf("salt://%s", path + strlen(base)) : xstrdup(path);
}
