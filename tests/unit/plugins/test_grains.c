/* test_grains.c - grains: each folder of tests/cases/grain is a small host; its expected.json is what Salt
 * 3006 finds there, with what later releases mended (tests/DIFFERENCES.md). */
#include "unit/unit.h"

#include <sys/stat.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/host/grainsfile.h"
#include "common/host/rootfs.h"
#include "common/base/str.h"
#include "minion/grains_set.h"
#include "plugins/builtin.h"

#define CASES TEST_SOURCE_DIR "/tests/cases/grain"

/* ---- hosts ----------------------------------------------------------------------------------- */

/* Those that read nothing but files under the root. */
static bool
reads_files_only(const plugin_t *plugin)
{
    static const char *const names[] = { "cpu",           "disks",      "dns",     "efi",
                                         "gateway",       "hardware",   "init",    "memory",
                                         "mdadm",         "os",         "selinux", "virtual",
                                         "transactional", "initiators", "kernel",  "identity" };

    for (size_t i = 0; i < NELEMS(names); i++) {
        if (str_eq(plugin->file, names[i]))
            return true;
    }
    return false;
}

/* What comes from the machine that runs the test. */
static void
drop_live(json_t *grains)
{
    static const char *const names[] = {
        "kernel",
        "nodename",
        "kernelrelease",
        "kernelversion",
        "cpuarch",
        "id",
        "master",
        "server_id",
        "localhost",
        "ps",
#if !defined(__x86_64__)
        "osarch",
#endif
    };

    for (size_t i = 0; i < NELEMS(names); i++)
        json_object_del(grains, names[i]);
}

static json_t *
grains_of(const char *root)
{
    size_t n, kept = 0;
    const plugin_t *const *all = builtin_plugins(PLUGIN_GRAIN, &n);
    AUTO_FREE const plugin_t **plugins = xcalloc(n, sizeof(*plugins));
    json_auto_t *opts = json_pack("{s:b, s:b, s:b}", "iscsi_grains", 1, "nvme_grains", 1,
                                  "fibre_channel_grains", 1);
    json_t *grains = json_pack("{s:s}", "cpuarch", "x86_64");

    for (size_t i = 0; i < n; i++) {
        if (reads_files_only(all[i]))
            plugins[kept++] = all[i];
    }
    grains_collect(plugins, kept, GRAIN_CHEAP, root, opts, grains);
    drop_live(grains);
    return grains;
}

static size_t
count_wrong(const char *host, const json_t *expected, const json_t *grains)
{
    const char *key;
    json_t *value;
    size_t wrong = 0;

    json_object_foreach ((json_t *) expected, key, value) {
        json_t *got = value_get(grains, key);
        if (got != NULL && json_equal(got, value))
            continue;
        AUTO_FREE char *want = json_dumps(value, JSON_ENCODE_ANY | JSON_SORT_KEYS);
        AUTO_FREE char *have = got != NULL ? json_dumps(got, JSON_ENCODE_ANY | JSON_SORT_KEYS)
                                           : xstrdup("nothing");
        print_message("# %s: %s is %s instead of %s\n", host, key, have, want);
        wrong++;
    }
    json_object_foreach ((json_t *) grains, key, value) {
        if (value_get(expected, key) == NULL) {
            print_message("# %s: %s is not expected\n", host, key);
            wrong++;
        }
    }
    return wrong;
}

static size_t
check_host(const char *name)
{
    AUTO_FREE char *root = fs_join(CASES, name), *path = fs_join(root, "expected.json");
    json_error_t error;
    json_auto_t *expected = json_load_file(path, 0, &error), *grains = grains_of(root);

    if (expected == NULL)
        fail_msg("%s:%d: %s", path, error.line, error.text);
#if !defined(__x86_64__)
    json_object_del(expected, "osarch");
#endif
    return count_wrong(name, expected, grains);
}

static void
test_hosts(void **state)
{
    char **names = root_list("", CASES);
    size_t wrong = 0;

    assert_int_equal(setenv("PATH", "/usr/sbin:/usr/bin:/sbin:/bin", 1), 0);
    assert_true(strv_len(names) > 40);
    for (size_t i = 0; names[i] != NULL; i++)
        wrong += check_host(names[i]);
    strv_free(names);
    assert_int_equal(wrong, 0);
}

/* Programs that answer as the real ones do. */
static void
test_programs(void **state)
{
    size_t n, kept = 0;
    const plugin_t *const *all = builtin_plugins(PLUGIN_GRAIN, &n);
    AUTO_FREE const plugin_t **plugins = xcalloc(n, sizeof(*plugins));
    json_auto_t *opts = json_object(), *grains = json_object(), *without = json_object();
    json_auto_t *no_gpus = json_pack("{s:b}", "enable_gpu_grains", 0);
    json_auto_t *expected = json_load_file(CASES "-tools/expected.json", 0, NULL);

    assert_int_equal(setenv("PATH", "/usr/sbin:/usr/bin:/sbin:/bin", 1), 0);
    for (size_t i = 0; i < n; i++) {
        if (!str_eq(all[i]->file, "fqdn"))
            plugins[kept++] = all[i];
    }
    grains_collect(plugins, kept, GRAIN_SLOW, CASES "-tools", opts, grains);
    assert_int_equal(count_wrong("tools", expected, grains), 0);
    grains_collect(plugins, kept, GRAIN_SLOW, CASES "-tools", no_gpus, without);
    assert_int_equal(value_int(without, "num_gpus", -1), 0);
    json_auto_t *nothing = json_object();
    grains_collect(plugins, kept, GRAIN_SLOW, CASES "/empty", opts, nothing);
    assert_null(value_get(nothing, "systemd"));
    assert_null(value_get(nothing, "lvm"));
}

/* ---- the machine that runs the test ---------------------------------------------------------- */

static bool
is_declared(const plugin_t *plugin, const char *name)
{
    for (const char *const *key = plugin->keys; *key != NULL; key++) {
        if (str_eq(*key, name))
            return true;
    }
    return false;
}

static void
test_only_declared_keys(void **state)
{
    size_t n;
    const plugin_t *const *plugins = builtin_plugins(PLUGIN_GRAIN, &n);
    json_auto_t *opts = json_pack("{s:s, s:s, s:s}", "id", "m1", "master", "salt", "append_domain",
                                  "example.com");
    json_auto_t *grains = json_object();
    fail_auto_t err = FAIL_INIT;

    if (grains_check(plugins, n, &err) < 0)
        fail_msg("%s", fail_text(&err));
    for (size_t i = 0; i < n; i++) {
        json_auto_t *found = json_object();
        grain_ctx_t ctx = { "", opts, grains };
        const char *key;
        json_t *value;
        assert_int_equal(plugins[i]->collect(&ctx, found, &err), 0);
        json_object_foreach (found, key, value) {
            if (!is_declared(plugins[i], key))
                fail_msg("%s does not declare %s", plugins[i]->file, key);
        }
        json_object_update(grains, found);
    }
    /* Salt's own number for this id. */
    assert_int_equal(value_int(grains, "server_id", 0), 890885657);
    assert_int_equal(value_int(grains, "pid", 0), getpid());
    assert_string_equal(value_str(grains, "saltversion", ""), HALITE_VERSION);
    assert_string_equal(value_str(grains, "halite_version", ""), HALITE_RELEASE);
    assert_string_equal(value_str(grains, "append_domain", ""), "example.com");
    assert_non_null(value_get(value_get(grains, "ip4_interfaces"), "lo"));
    assert_true(json_is_array(value_get(grains, "fqdns")));
}

/* ---- the set --------------------------------------------------------------------------------- */

static int
collect_one(grain_ctx_t *ctx, json_t *out, fail_t *err)
{
    json_object_set_new(out, "shared", json_pack("{s:i}", "one", 1));
    json_object_set_new(out, "one", json_integer(1));
    return 0;
}

static int
collect_two(grain_ctx_t *ctx, json_t *out, fail_t *err)
{
    json_object_set_new(out, "saw", json_integer(value_int(ctx->grains, "one", 0)));
    json_object_set_new(out, "shared", json_pack("{s:i}", "two", 2));
    return 0;
}

static int
collect_broken(grain_ctx_t *ctx, json_t *out, fail_t *err)
{
    json_object_set_new(out, "half", json_true());
    return fail_set(err, -EIO, "the disk is gone");
}

static const char *const one_keys[] = { "shared", "one", NULL },
                         *const two_keys[] = { "saw", "shared", NULL },
                         *const broken_keys[] = { "half", NULL };
static const plugin_t one = {
    .file = "a_one", .collect = collect_one, .cost = GRAIN_CHEAP, .keys = one_keys
};
static const plugin_t two = {
    .file = "b_two", .collect = collect_two, .cost = GRAIN_CHEAP, .keys = two_keys
};
static const plugin_t slow = {
    .file = "c_slow", .collect = collect_one, .cost = GRAIN_SLOW, .keys = one_keys
};
static const plugin_t broken = {
    .file = "a_broken", .collect = collect_broken, .cost = GRAIN_CHEAP, .keys = broken_keys
};
static const plugin_t *const set[] = { &slow, &two, &broken, &one };

static void
check_set(const char *opts_text, const char *expected)
{
    json_auto_t *opts = json_loads(opts_text, 0, NULL);
    json_auto_t *grains = json_object();

    assert_non_null(opts);
    grains_collect(set, NELEMS(set), GRAIN_CHEAP, "", opts, grains);
    AUTO_FREE char *text = json_dumps(grains, JSON_COMPACT | JSON_SORT_KEYS);
    assert_string_equal(text, expected);
}

static void
test_collect(void **state)
{
    fail_auto_t err = FAIL_INIT;

    check_set("{}", "{\"one\":1,\"saw\":1,\"shared\":{\"two\":2}}");
    check_set("{\"grains_deep_merge\": true}", "{\"one\":1,\"saw\":1,\"shared\":{\"one\":1,\"two\":2}}");
    check_set("{\"disable_grains\": [\"a_one\"]}", "{\"saw\":0,\"shared\":{\"two\":2}}");
    check_set("{\"grains_blacklist\": [\"sh*\", \"o.e\"]}", "{\"saw\":0}");
    assert_int_equal(grains_check(set, NELEMS(set), &err), -EEXIST);
    assert_string_equal(fail_text(&err), "the grain shared is produced by both c_slow and b_two");
}

static void
write_text(const char *folder, const char *name, const char *text)
{
    AUTO_FREE char *path = fs_join(folder, name);
    fail_auto_t err = FAIL_INIT;

    if (fs_write_quick(path, text, strlen(text), 0600, &err) < 0)
        fail_msg("%s", fail_text(&err));
}

static void
test_finish(void **state)
{
    char folder[] = "/tmp/test_grains.XXXXXX";
    json_auto_t *grains = json_pack("{s:s, s:s, s:s}", "a", "found", "b", "found", "c", "found");

    assert_non_null(mkdtemp(folder));
    json_auto_t *opts = json_pack("{s:o, s:s, s:{s:s}}", "conf_file", value_fmt("%s/minion", folder), "id",
                                  "m1", "grains", "c", "configured");
    write_text(folder, "grains", "b: written\nc: written\nroles:\n  - web\n");
    grains_finish(opts, grains);
    AUTO_FREE char *text = json_dumps(grains, JSON_COMPACT | JSON_SORT_KEYS);
    assert_string_equal(
        text, "{\"a\":\"found\",\"b\":\"written\",\"c\":\"configured\",\"id\":\"m1\",\"roles\":[\"web\"]}");
    write_text(folder, "grains", "b: [broken\n");
    grains_finish(opts, grains);
    assert_string_equal(value_str(grains, "b", ""), "written");
    AUTO_FREE char *path = grains_file_path(opts), *expected = fs_join(folder, "grains");
    assert_string_equal(path, expected);
    assert_int_equal(fs_remove_tree(folder, NULL), 0);
}

/* Whatever the program says of its version, nothing breaks. */
static void
test_systemd_versions(void **state)
{
    static const char *const rows[][3] = {
        { "systemd 257~rc1 (257~rc1-4)\\n+PAM -ACL\\n", "257~rc1", "+PAM -ACL" },
        { "systemd 255\\n", "255", "" },
        { "systemd\\n+PAM\\n", "", "+PAM" },
        { "\\n\\n", "", "" },
        { "UNKNOWN", "", "" },
    };
    char root[] = "/tmp/halite-unit-XXXXXX";

    assert_non_null(mkdtemp(root));
    AUTO_FREE char *bin = fs_join(root, "usr/bin"), *program = fs_join(bin, "systemctl"),
                   *other = fs_join(bin, "localectl");
    assert_int_equal(fs_mkdirs(bin, 0755, NULL), 0);
    assert_int_equal(setenv("PATH", "/usr/bin:/bin", 1), 0);
    write_text(bin, "localectl", "");
    assert_int_equal(chmod(other, 0755), 0);
    for (size_t i = 0; i < NELEMS(rows); i++) {
        AUTO_FREE char *text = xasprintf("#!/bin/sh\nprintf '%s'\n", rows[i][0]);
        write_text(bin, "systemctl", text);
        assert_int_equal(chmod(program, 0755), 0);
        size_t n;
        const plugin_t *const *all = builtin_plugins(PLUGIN_GRAIN, &n);
        json_auto_t *opts = json_object(), *grains = json_object();
        for (size_t k = 0; k < n; k++) {
            if (str_eq(all[k]->file, "systemd"))
                grains_collect(&all[k], 1, GRAIN_SLOW, root, opts, grains);
        }
        assert_string_equal(value_str(value_get(grains, "systemd"), "version", "none"), rows[i][1]);
        assert_string_equal(value_str(value_get(grains, "systemd"), "features", "none"), rows[i][2]);
    }
    assert_int_equal(fs_remove_tree(root, NULL), 0);
}

/* The version is what the file is named after; no interpreter is started, and none is no grain. */
static void
test_python(void **state)
{
    static const struct {
        const char *file, *version;
    } rows[] = { { "python3.11", "[3, 11]" }, { "platform-python3.6", "[3, 6]" }, { "shim", NULL } };
    char root[] = "/tmp/halite-unit-XXXXXX";

    assert_non_null(mkdtemp(root));
    AUTO_FREE char *bin = fs_join(root, "usr/bin"), *link = fs_join(bin, "python3");
    assert_int_equal(fs_mkdirs(bin, 0755, NULL), 0);
    assert_int_equal(setenv("PATH", "/usr/bin:/bin", 1), 0);
    for (size_t i = 0; i <= NELEMS(rows); i++) {
        const char *file = i < NELEMS(rows) ? rows[i].file : NULL;
        (void) unlink(link);
        if (file != NULL) {
            AUTO_FREE char *path = fs_join(bin, file);
            write_text(bin, file, "");
            assert_int_equal(chmod(path, 0755), 0);
            assert_int_equal(symlink(file, link), 0);
        }
        size_t n;
        const plugin_t *const *all = builtin_plugins(PLUGIN_GRAIN, &n);
        json_auto_t *opts = json_object(), *grains = json_object();
        for (size_t k = 0; k < n; k++) {
            if (str_eq(all[k]->file, "environment"))
                grains_collect(&all[k], 1, GRAIN_CHEAP, root, opts, grains);
        }
        AUTO_FREE char *version = json_dumps(value_get(grains, "pythonversion"), JSON_ENCODE_ANY);
        json_auto_t *expected = file != NULL && rows[i].version != NULL ? json_loads(rows[i].version, 0, NULL)
                                                                        : NULL;
        if (!json_equal(value_get(grains, "pythonversion"), expected) &&
            (expected != NULL || value_get(grains, "pythonversion") != NULL))
            fail_msg("%s: %s", file != NULL ? file : "none", version);
        assert_string_equal(value_str(grains, "pythonexecutable", "none"),
                            file != NULL ? "/usr/bin/python3" : "none");
    }
    assert_int_equal(fs_remove_tree(root, NULL), 0);
}

/* What runs as process 1 is not told while nobody can say whether systemd runs. */
static void
test_init_untold(void **state)
{
    char root[] = "/tmp/halite-unit-XXXXXX";

    assert_non_null(mkdtemp(root));
    AUTO_FREE char *folder = fs_join(root, "run/systemd"), *run = fs_join(folder, "system"),
                   *proc = fs_join(root, "proc/1");
    assert_int_equal(fs_mkdirs(folder, 0755, NULL), 0);
    assert_int_equal(fs_mkdirs(proc, 0755, NULL), 0);
    write_text(proc, "cmdline", "runit");
    json_auto_t *told = grains_of(root);
    assert_string_equal(value_str(told, "init", ""), "runit");
    assert_int_equal(symlink(run, run), 0);
    json_auto_t *untold = grains_of(root);
    assert_null(value_get(untold, "init"));
    assert_int_equal(fs_remove_tree(root, NULL), 0);
}

/* Each place that may name an id: what was found, the file, the configuration, also when the producer of
 * the grain is off. */
static void
test_own_id(void **state)
{
    char folder[] = "/tmp/test_grains.XXXXXX";
    static const char *const claims[] = { "{\"id\": \"db1\"}",   "{\"id\": {\"db1\": 1}}",
                                          "{\"id\": [\"db1\"]}", "{\"id\": \"m1\\u0000\"}",
                                          "{\"id\": null}",      "{}" };

    assert_non_null(mkdtemp(folder));
    for (size_t i = 0; i < NELEMS(claims); i++) {
        json_auto_t *claim = json_loads(claims[i], JSON_ALLOW_NUL, NULL), *grains = json_deep_copy(claim);
        json_auto_t *opts = json_pack("{s:o, s:s, s:O, s:[s], s:[s], s:b}", "conf_file",
                                      value_fmt("%s/minion", folder), "id", "m1", "grains", claim,
                                      "grains_blacklist", "id", "disable_grains", "identity",
                                      "grains_deep_merge", true);
        write_text(folder, "grains", "id: db1\n");
        grains_finish(opts, grains);
        AUTO_FREE char *text = json_dumps(grains, JSON_COMPACT);
        assert_string_equal(text, "{\"id\":\"m1\"}");
    }
    assert_int_equal(fs_remove_tree(folder, NULL), 0);
}

static void
test_cache(void **state)
{
    char folder[] = "/tmp/test_grains.XXXXXX";
    json_auto_t *grains = json_pack("{s:s, s:[i, n]}", "fqdn", "a.b", "list", 1);
    fail_auto_t err = FAIL_INIT;

    assert_non_null(mkdtemp(folder));
    AUTO_FREE char *cachedir = fs_join(folder, "new/cache");
    json_auto_t *none = grains_cache_load(cachedir);
    assert_int_equal(json_object_size(none), 0);
    assert_int_equal(grains_cache_save(cachedir, grains, &err), 0);
    json_auto_t *loaded = grains_cache_load(cachedir);
    assert_true(json_equal(loaded, grains));
    write_text(cachedir, "grains.cache.json", "{\"half\": ");
    json_auto_t *damaged = grains_cache_load(cachedir);
    assert_int_equal(json_object_size(damaged), 0);
    assert_int_equal(fs_remove_tree(folder, NULL), 0);
}

UNIT_MAIN(cmocka_unit_test(test_hosts), cmocka_unit_test(test_programs),
          cmocka_unit_test(test_only_declared_keys), cmocka_unit_test(test_collect),
          cmocka_unit_test(test_finish), cmocka_unit_test(test_init_untold),
          cmocka_unit_test(test_systemd_versions), cmocka_unit_test(test_python),
          cmocka_unit_test(test_own_id), cmocka_unit_test(test_cache))
