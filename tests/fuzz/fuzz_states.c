/* fuzz_states.c - any text as every SLS of a tree and as its top file: rendered, extended, verified, compiled
 * to low chunks.
 */
#include <unistd.h>

#include "common/base/fs.h"
#include "common/plugin/call.h"
#include "common/state/compile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ---- a file server where "a", "b.c" and "top" are the same file ---- */

static int
cache_file(void *self, const char *path, const char *saltenv, char **ret_local, fail_t *err)
{
    static const char *const names[] = { "a.sls", "b/c.sls", "b/init.sls", "top.sls" };

    for (size_t i = 0; i < NELEMS(names); i++) {
        if (strcmp(path, names[i]) != 0)
            continue;
        *ret_local = xstrdup(self);
        return 0;
    }
    return -ENOENT;
}

static json_t *
list_files(void *self, files_kind_t kind, const char *saltenv, const char *prefix, fail_t *err)
{
    return json_pack("[s, s, s, s]", "a.sls", "b/c.sls", "b/init.sls", "top.sls");
}

static json_t *
list_envs(void *self, fail_t *err)
{
    return json_pack("[s, s]", "base", "dev");
}

static const fileclient_class_t files_class = { .cache = cache_file, .list = list_files, .envs = list_envs };

/* Renders the SLS files of a match and compiles them. */
static void
compile(const state_env_t *env, json_t *matches)
{
    highstate_t *high = highstate_new(env);
    json_auto_t *errors = json_array();
    AUTO(py) data = highstate_render(high, matches, errors);
    high_env_t how = { .opts = env->opts, .from = high };

    json_decref(high_to_low(data, &how, errors));
    highstate_destroy(&high);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const plugin_t *const none[] = { NULL };
    char path[] = "/tmp/fuzz-states-XXXXXX";
    int fd = size > 4096 ? -1 : mkstemp(path);

    if (fd < 0)
        return 0;
    json_auto_t *opts = json_pack("{s:s, s:[s]}", "renderer", "yaml", "disabled_requisites", "use");
    json_auto_t *matches = json_pack("{s:[s, s]}", "base", "a", "b.*");
    registry_t *registry = registry_new(PLUGIN_EXEC, none, 0);
    call_ctx_t *ctx = call_ctx_new(&(call_env_t){ .registry = registry, .opts = opts, .id = "m1" });
    fileclient_t *files = fileclient_new(&files_class, path);
    render_t *render = render_new(ctx, files);
    state_env_t env = { .ctx = ctx, .files = files, .render = render, .opts = opts };
    if (fs_write_all(fd, data, size) == 0) {
        json_auto_t *errors = json_array();
        highstate_t *high = highstate_new(&env);
        json_auto_t *top = highstate_top(high, errors);
        highstate_destroy(&high);
        compile(&env, top);
        compile(&env, matches);
    }
    render_destroy(&render);
    fileclient_destroy(&files);
    call_ctx_destroy(&ctx);
    registry_destroy(&registry);
    (void) close(fd);
    (void) unlink(path);
    return 0;
}
