/* python.c - grains about the Python that files in Python run by: pythonexecutable, pythonversion, pythonpath, and
 * saltpath, where they import the package `salt` from. Salt's minion is that Python itself. Here an interpreter is asked,
 * in the background and once: none of its kind stays. */
#include <stdio.h>
#include <stdlib.h>

#include "common/base/buf.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/host/package.h"
#include "common/host/proc.h"
#include "common/host/rootfs.h"
#include "salt/limits.h"
#include "salt/plugin.h"

/* An interpreter whose files are on a disk that does not answer is not to hold up the other grains. */
enum { TIMEOUT_MS = 10000 };

static const char question[] =
    "import importlib.util, json, sys\n"
    "spec = importlib.util.find_spec('salt')\n"
    "places = list(spec and spec.submodule_search_locations or [])\n"
    "print(json.dumps({'version': list(sys.version_info), 'path': sys.path, 'salt': places[0] if places else None}))";

/* [major, minor] as the file's name tells them ("python3.11"): NEW, or NULL. */
static json_t *
version_by_name(const char *root, const char *program)
{
    AUTO_FREE char *path = root_path(root, program);
    AUTO_FREE char *file = realpath(path, NULL);
    const char *base = file != NULL ? strrchr(file, '/') : NULL;
    const char *name = base != NULL ? strstr(base, "python") : NULL; /* Red Hat has platform-python3.6 */
    int major, minor, end = 0;

    if (name == NULL || sscanf(name, "python%2d.%3d%n", &major, &minor, &end) != 2 || name[end] != '\0')
        return NULL;
    return json_pack("[i, i]", major, minor);
}

/* What the interpreter says of itself. NEW; an empty object where it says nothing that can be read. */
static json_t *
ask_interpreter(const char *root, const char *program)
{
    AUTO_FREE char *path = root_path(root, program);
    buf_auto_t printed = BUF_INIT;
    fail_auto_t err = FAIL_INIT;
    json_t *said = NULL;

    if (proc_output(&printed, TIMEOUT_MS, path, "-I", "-B", "-c", question, NULL) == 0)
        said = value_parse(buf_str(&printed), printed.len, LIMIT_HOST_FILE, path, &err);
    if (json_is_object(said))
        return said;
    json_decref(said);
    return json_object();
}

/* The folder of the package `salt`: the one that python_salt names, else Salt's own, else the one beside this program.
 * NEW, or NULL. */
static char *
salt_folder(const grain_ctx_t *ctx, const char *installed)
{
    json_t *given = value_get(ctx->opts, "python_salt");
    const char *named = json_is_string(given) && json_string_value(given)[0] == '/' ? json_string_value(given)
                                                                                    : NULL;
    AUTO_FREE char *ours = package_folder();

    if (named != NULL)
        return fs_join(named, "salt");
    if (!json_is_false(given) && installed != NULL)
        return xstrdup(installed);
    AUTO_FREE char *inside = fs_join(ours, "salt");
    return *ours != '\0' ? realpath(inside, NULL) : NULL;
}

static int
python_collect(grain_ctx_t *ctx, json_t *out, fail_t *err)
{
    const char *chosen = value_str(ctx->opts, "python", "");
    AUTO_FREE char *program = *chosen != '\0' ? xstrdup(chosen) : root_which(ctx->root, "python3");

    if (program == NULL)
        return 0;
    json_auto_t *said = ask_interpreter(ctx->root, program);
    json_t *version = value_get(said, "version"), *path = value_get(said, "path");
    AUTO_FREE char *salt = salt_folder(ctx, value_str(said, "salt", NULL));

    json_object_set_new(out, "pythonexecutable", value_utf8(program, strlen(program)));
    version = json_is_array(version) ? json_incref(version) : version_by_name(ctx->root, program);
    if (version != NULL)
        json_object_set_new(out, "pythonversion", version);
    if (json_is_array(path))
        json_object_set(out, "pythonpath", path);
    if (salt != NULL)
        json_object_set_new(out, "saltpath", value_utf8(salt, strlen(salt)));
    return 0;
}

static const char *const keys[] = { "pythonexecutable", "pythonversion", "pythonpath", "saltpath", NULL };

PLUGIN(grain, python, .doc = "The Python that files in Python run by.", .collect = python_collect,
       .cost = GRAIN_SLOW, .keys = keys);
