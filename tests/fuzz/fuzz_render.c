/* fuzz_render.c - any text as an SLS file: its renderers, the environment that templates see, its data and
 * messages. Rendered twice, so that the second time comes from the cache of compiled templates.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/py/py_error.h"
#include "common/render/render.h"
#include "salt/log.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char library[] =
    "{% macro m(x) %}\nk: {{ x }}\n{% endmacro %}\n{% set v = {'a': [1, none]} %}\nz: 1\n";

/* The file server: every file is the same library of macros. */
static int
cache(void *self, const char *path, const char *saltenv, char **ret_local, fail_t *err)
{
    *ret_local = xasprintf("/proc/self/fd/%d", *(const int *) self);
    return 0;
}

static py_t *
echo(call_ctx_t *ctx, py_t *args, fail_t *err)
{
    return py_ref(py_dict_gets(args, "value"));
}

static const arg_t echo_args[] = { ARG("value", ARG_ANY, "null", "x"), ARGS_END };
static const func_t funcs[] = { { "echo", NATIVE(echo), echo_args, FN_NATIVE, "x" } };
static const plugin_t fake = { .kind = PLUGIN_EXEC, .file = "fake", .doc = "x", FUNCS(funcs) };
static const plugin_t *const plugins[] = { &fake };
static const fileclient_class_t file_class = { .cache = cache };

static void
render(render_t *self, const render_source_t *source)
{
    const py_limits_t limits = {
        .bytes = 64 << 20, .depth = 200, .steps = 20000, .deadline_ms = clock_mono_ms() + 2000
    };
    fail_auto_t err = FAIL_INIT;
    py_scope_t scope;

    py_scope_enter(&scope, &limits);
    AUTO(py) data = render_data(self, source, &err);
    py_destroy(&data);
    py_clear();
    py_scope_leave(&scope);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* Inputs that would query the network, walk the disk or run a program are skipped. */
    if (size > 4096 || memmem(data, size, "dns_check", 9) != NULL ||
        memmem(data, size, "list_files", 10) != NULL || memmem(data, size, "gpg", 3) != NULL)
        return 0;
    log_init("fuzz", LEVEL_QUIET, false);
    int fd = memfd_create("library", MFD_CLOEXEC);
    salt_assert(fd >= 0 && write(fd, library, strlen(library)) == (ssize_t) strlen(library));
    json_auto_t *opts = json_pack("{s:s, s:s}", "renderer", "jinja|yaml", "id", "m001");
    AUTO(registry) registry = registry_new(PLUGIN_EXEC, plugins, NELEMS(plugins));
    AUTO(fileclient) files = fileclient_new(&file_class, &fd);
    call_ctx_t *ctx = call_ctx_new(&(call_env_t){ .registry = registry, .opts = opts, .files = files });
    render_t *self = render_new(ctx, files);
    render_source_t source = { .text = (const char *) data,
                               .len = size,
                               .path = "/srv/salt/a/b.sls",
                               .sls = "a.b",
                               .tmplpath = "a/b.sls",
                               .version = 1 };

    render(self, &source);
    render(self, &source);
    render_destroy(&self);
    call_ctx_destroy(&ctx);
    (void) close(fd);
    return 0;
}
