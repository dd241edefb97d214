/* fakes.h - for tests of modules that run programs and read a host's files: a folder with a made-up host in
 * root/ and programs of our own in bin/, which write down how they were called.
 *
 * Layer      tests/unit/minion; included once by a test program
 */
#ifndef TESTS_UNIT_PLUGINS_FAKES_H
#define TESTS_UNIT_PLUGINS_FAKES_H

#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/plugin/call.h"
#include "salt/log.h"

static char fakes_dir[] = "/tmp/halite-fakes-XXXXXX";

static void UNUSED
fakes_put(const char *path, mode_t mode, const char *text)
{
    AUTO_FREE char *full = fs_join(fakes_dir, path);
    AUTO_FREE char *folder = xstrndup(full, (size_t) (strrchr(full, '/') - full));

    assert_int_equal(fs_mkdirs(folder, 0755, NULL), 0);
    assert_int_equal(fs_write_quick(full, text, strlen(text), mode, NULL), 0);
}

static void UNUSED
fakes_link(const char *path, const char *target)
{
    AUTO_FREE char *full = fs_join(fakes_dir, path);
    AUTO_FREE char *folder = xstrndup(full, (size_t) (strrchr(full, '/') - full));

    assert_int_equal(fs_mkdirs(folder, 0755, NULL), 0);
    assert_int_equal(symlink(target, full), 0);
}

/* A program that adds its name and its words, in brackets each, to DIR/log, prints DIR/said on stderr and
 * ends with the code in DIR/code. */
static void UNUSED
fakes_program(const char *name)
{
    AUTO_FREE char *path = xasprintf("bin/%s", name);
    AUTO_FREE char *text = xasprintf("#!/bin/sh\n"
                                     "line=%s\n"
                                     "for a in \"$@\"; do line=\"$line [$a]\"; done\n"
                                     "echo \"$line\" >> %s/log\n"
                                     "[ -f %s/said ] && cat %s/said >&2\n"
                                     "[ -f %s/code ] && exit $(cat %s/code)\n"
                                     "exit 0\n",
                                     name, fakes_dir, fakes_dir, fakes_dir, fakes_dir, fakes_dir);

    fakes_put(path, 0755, text);
}

/* A new folder; its bin/ comes first on PATH. */
static int UNUSED
fakes_begin(void)
{
    log_init("test", LEVEL_QUIET, false);
    memcpy(strrchr(fakes_dir, '-'), "-XXXXXX", strlen("-XXXXXX"));
    assert_non_null(mkdtemp(fakes_dir));
    AUTO_FREE char *path = xasprintf("%s/bin:/usr/sbin:/usr/bin:/sbin:/bin", fakes_dir);
    return setenv("PATH", path, 1);
}

static int UNUSED
fakes_end(void **state)
{
    (void) state;
    return fs_remove_tree(fakes_dir, NULL);
}

/* NEW text with {root} made real. */
static char *UNUSED
fakes_placed(const char *text)
{
    AUTO_FREE char *root = fs_join(fakes_dir, "root");

    return str_replace(text, "{root}", root);
}

static void UNUSED
fakes_equal(const json_t *got, const char *want)
{
    AUTO_FREE char *text = value_dump(got);

    assert_string_equal(text, want);
}

/* What the programs wrote down since the last look. NEW. */
static char *UNUSED
fakes_log(void)
{
    AUTO_FREE char *path = fs_join(fakes_dir, "log");
    buf_auto_t log = BUF_INIT;

    fs_read(path, 1 << 20, &log, NULL);
    unlink(path);
    return xstrdup(buf_str(&log));
}

/* A call of one plug-in, wherever it runs. `args` and `kwargs` are JSON. NEW value, or NULL with *err. */
static json_t *UNUSED
fakes_call(const plugin_t *plugin, const char *fun, const char *args, const char *kwargs, fail_t *err)
{
    plugin_t usable = *plugin;
    const plugin_t *list[] = { &usable };
    AUTO_FREE char *placed = fakes_placed(kwargs);
    json_t *arg = json_loads(args, 0, NULL), *kw = json_loads(placed, 0, NULL), *value = NULL;

    usable.unavailable = NULL;
    json_object_set_new(kw, "__kwarg__", json_true());
    json_array_append_new(arg, kw);
    registry_t *registry = registry_new(PLUGIN_EXEC, list, 1);
    call_env_t env = { .registry = registry };
    call_ctx_t *ctx = call_ctx_new(&env);
    call_function(ctx, fun, arg, NULL, &value, err);
    call_ctx_destroy(&ctx);
    registry_destroy(&registry);
    json_decref(arg);
    return value;
}

/* A call, what it returns, and what it ran. */
typedef struct fakes_row {
    const char *fun, *args, *kwargs, *want, *log;
} fakes_row_t;

static void UNUSED
fakes_check(const plugin_t *plugin, const fakes_row_t *row)
{
    fail_auto_t err = FAIL_INIT;
    json_auto_t *value = fakes_call(plugin, row->fun, row->args, row->kwargs, &err);
    AUTO_FREE char *log = fakes_log();
    AUTO_FREE char *want = fakes_placed(row->log);

    if (value == NULL)
        fail_msg("%s: %s", row->fun, fail_text(&err));
    fakes_equal(value, row->want);
    assert_string_equal(log, want);
}

#endif
