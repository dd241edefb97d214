/* fuzz_pyhost.c - any lines as the words of an interpreter with users' files: answers to tasks, and questions. The functions of
 * python.h are those of this file, so no interpreter is started.
 */
#include <fcntl.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/plugin/call.h"
#include "common/python/python.h"
#include "salt/value.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ---- an interpreter that says the input's lines ---- */

static const char *said, *said_end;

struct python {
    bool ended;
};

python_t *
python_new(const python_how_t *how, fail_t *err)
{
    if (said < said_end)
        return xcalloc(1, sizeof(python_t));
    (void) fail_set(err, -ENOENT, "no more lines");
    return NULL;
}

python_t *
python_new_at(const python_how_t *how, int door, fail_t *err)
{
    return python_new(how, err);
}

void
python_destroy(python_t **self_p)
{
    free(STEAL(*self_p));
}

bool
python_usable(const python_t *self)
{
    return !self->ended;
}

bool
python_is_forked(const python_t *self)
{
    return true; /* there is no program to be sent first */
}

int
python_fd(const python_t *self)
{
    return -1;
}

int
python_send(python_t *self, const json_t *message, fail_t *err)
{
    free(value_dump(message));
    return 0;
}

json_t *
python_receive(python_t *self, int64_t deadline_ms, fail_t *err)
{
    const char *nl = said < said_end ? memchr(said, '\n', (size_t) (said_end - said)) : NULL;
    size_t len = nl != NULL ? (size_t) (nl - said) : (size_t) (said_end - said);
    json_t *message = value_parse(said, len, 65536, "a line", err);

    said = nl != NULL ? nl + 1 : said_end;
    self->ended = message == NULL;
    return message;
}

/* ---- calls into it ---- */

static int
fuzz_fire(void *cookie, const char *tag, json_t *data, fail_t *err)
{
    free(value_dump(data));
    return 0;
}

/* Calls what the described file may have, its functions' rows as described. */
static void
run_all(const call_env_t *env)
{
    static const char *const names[] = { "x.f", "x.g", "y.f", "sys.doc" };
    AUTO(call_ctx) ctx = call_ctx_new(env);

    for (size_t i = 0; i < NELEMS(names); i++) {
        json_auto_t *words = json_pack("[i, {s:b, s:n}]", 1, "__kwarg__", true, "a");
        call_result_t res = { 0 };
        call_run(ctx, names[i], i < 2 ? words : NULL, NULL, &res);
        free(value_dump(res.value));
        call_result_free(&res);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const plugin_t *const none[] = { NULL };
    char folder[] = "/tmp/fuzz-pyhost-XXXXXX";

    if (size > 16384 || mkdtemp(folder) == NULL)
        return 0;
    AUTO_FREE char *file = fs_join(folder, "x.py");
    AUTO_FD fd = open(file, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    said = (const char *) data;
    said_end = said + size;
    json_auto_t *opts = json_pack("{s:[s], s:s, s:s}", "module_dirs", folder, "python_salt", folder,
                                  "cachedir", folder);
    registry_t *registry = registry_new(PLUGIN_EXEC, none, 0);
    registry_t *states = registry_new(PLUGIN_STATE, none, 0);
    const call_env_t env = {
        .registry = registry, .states = states, .opts = opts, .id = "m1", .fire = fuzz_fire
    };
    run_all(&env);
    registry_destroy(&registry);
    registry_destroy(&states);
    (void) unlink(file);
    (void) rmdir(folder);
    return 0;
}
