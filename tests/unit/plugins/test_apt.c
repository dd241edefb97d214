/* test_apt.c - the functions of `pkg` that change things, on a made-up host: its files below $DPKG_ROOT, its
 * programs small scripts that keep a log of their words and change dpkg's status file. */
#include "unit/unit.h"

#include <sys/stat.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/plugin/call.h"
#include "plugins/builtin.h"
#include "plugins/lib/http/http.h"
#include "salt/log.h"
#include "salt/state.h"

static char root[64];
extern const plugin_t state_pkgrepo;

static char *old_path;
static registry_t *registry;
static const char *os_name = "Debian";
static json_t *more_opts;
static bool in_test_mode;

/* ---- the host ------------------------------------------------------------------------------ */

static void
put_mode(const char *path, const char *text, mode_t mode)
{
    AUTO_FREE char *full = xasprintf("%s%s", root, path);
    AUTO_FREE char *dir = xstrndup(full, (size_t) (strrchr(full, '/') - full));
    fail_auto_t err = FAIL_INIT;

    assert_int_equal(fs_mkdirs(dir, 0755, &err), 0);
    assert_int_equal(fs_write_quick(full, text, strlen(text), mode, &err), 0);
}

static void
put(const char *path, const char *text)
{
    put_mode(path, text, 0644);
}

static void
script(const char *name, const char *body)
{
    AUTO_FREE char *path = xasprintf("/bin/%s", name);
    AUTO_FREE char *text = xasprintf("#!/bin/sh\nS=$DPKG_ROOT/var/lib/dpkg/status\n"
                                     "say() { printf '\\nPackage: %%s\\nStatus: %%s\\nArchitecture: amd64\\n"
                                     "Version: %%s\\n' \"$1\" \"$2\" \"$3\" >> $S; }\n%s\n",
                                     body);

    put_mode(path, text, 0755);
}

/* NEW text of a file, "" when there is none. */
static char *
text_of(const char *path)
{
    AUTO_FREE char *full = xasprintf("%s%s", root, path);
    buf_t text = BUF_INIT;

    (void) fs_read(full, 65536, &text, NULL);
    return buf_steal(&text);
}

static void
assert_file(const char *path, const char *want)
{
    AUTO_FREE char *got = text_of(path);

    assert_string_equal(got != NULL ? got : "", want);
}

/* What the programs were called with since the last time. */
static void
assert_log(const char *want)
{
    assert_file("/log", want);
    put("/log", "");
}

#define APT_GET                                                                                              \
    "echo \"apt-get $*\" >> $DPKG_ROOT/log\n"                                                                \
    "[ -e $DPKG_ROOT/fail ] && { /bin/cat $DPKG_ROOT/fail >&2; exit 100; }\n"                                \
    "case \"$*\" in *update) /bin/cat $DPKG_ROOT/update; exit;;\n"                                           \
    "*--just-print*|*--assume-no*) /bin/cat $DPKG_ROOT/plan; exit;; esac\n"                                  \
    "action=\nfor w; do case $w in\n"                                                                        \
    "install|remove|purge) action=$w;;\n"                                                                    \
    "upgrade|dist-upgrade|autoremove) say kettle 'install ok installed' 9.1;;\n"                             \
    "-*) ;;\n"                                                                                               \
    "*) n=${w%%=*}; v=${w#*=}; [ \"$n\" = \"$w\" ] && v=1.0\n"                                               \
    "case $action in install) say ${n##*/} 'install ok installed' $v;;\n"                                    \
    "remove) say $n 'deinstall ok config-files' 2.0;;\npurge) say $n 'purge ok not-installed' 2.0;; esac;; " \
    "esac; done"

/* Launchpad, which says the file "launchpad"; the log has whom it was asked for. */
static int
fake_query(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *said = text_of("/launchpad"), *log = text_of("/log");
    AUTO_FREE char *longer = xasprintf("%squery %s\n", log, value_str(args, "url", ""));

    assert_true(value_bool(args, "decode", false));
    assert_string_equal(value_str(value_get(args, "header_dict"), "Accept", ""), "application/json");
    put("/log", longer);
    *ret_value = said != NULL ? json_pack("{s:o}", "dict", json_loads(said, 0, NULL))
                              : json_pack("{s:s}", "error", "HTTP 404: Not Found");
    return 0;
}
static const func_t fake_http_functions[] = { { "query", fake_query, http_query_args, 0, "" } };
static const plugin_t fake_http = { .kind = PLUGIN_EXEC, .file = "http", FUNCS(fake_http_functions) };

/* Of the file server there is what DIR/served holds; the log has what was asked for, word for word. */
static int
fake_cache_file(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *log = text_of("/log"), *words = value_dump(args);
    AUTO_FREE char *longer = xasprintf("%scache %s\n", log, words);
    AUTO_FREE char *served = xasprintf("%s/served", root);

    put("/log", longer);
    *ret_value = fs_exists(served) ? json_string(served) : json_string("");
    return 0;
}
static const arg_t fake_cache_args[] = { ARG("path", ARG_STR, ARG_REQUIRED, "x"),
                                         ARG("saltenv", ARG_STR, "null", "x"), ARGS_END };
static const func_t fake_cp_functions[] = { { "cache_file", fake_cache_file, fake_cache_args, 0, "" } };
static const plugin_t fake_cp = { .kind = PLUGIN_EXEC, .file = "cp", FUNCS(fake_cp_functions) };

/* The modules of the minion, but for those that ask the web and the file server. NEW. */
static registry_t *
modules(void)
{
    size_t n;
    const plugin_t *const *plugins = builtin_plugins(PLUGIN_EXEC, &n);
    const plugin_t **ours = xcalloc(n, sizeof(*ours));

    for (size_t i = 0; i < n; i++)
        ours[i] = str_eq(plugins[i]->file, "http") ? &fake_http
                  : str_eq(plugins[i]->file, "cp") ? &fake_cp
                                                   : plugins[i];
    registry_t *made = registry_new(PLUGIN_EXEC, ours, n);
    free(ours);
    return made;
}

static int
make_host(void **state)
{
    (void) str_copy(root, sizeof(root), "/tmp/halite-apt-XXXXXX");
    assert_non_null(mkdtemp(root));
    put("/var/lib/dpkg/status",
        "Package: kettle\nStatus: install ok installed\nArchitecture: all\nVersion: 9\n\n"
        "Package: teapot\nStatus: install ok installed\nArchitecture: amd64\n"
        "Version: 2.0\n\nPackage: cup\nStatus: hold ok installed\nArchitecture: amd64\n"
        "Version: 1.0\n");
    put("/log", "");
    script("apt-get", APT_GET);
    script("apt-cache", "echo \"apt-cache $*\" >> $DPKG_ROOT/log; /bin/cat $DPKG_ROOT/cache");
    script("dpkg", "read n s; echo \"dpkg $* $n $s\" >> $DPKG_ROOT/log; say $n \"$s ok installed\" 1.0");
    script("gpg", "echo \"gpg $*\" >> $DPKG_ROOT/log; case \"$*\" in *--recv-keys*) : > \"$3\";; esac\n"
                  "/bin/cat $DPKG_ROOT/gpg");
    script("systemd-run", "shift 3; exec \"$@\"");
    old_path = xstrdup(getenv("PATH"));
    AUTO_FREE char *path = xasprintf("%s/bin", root);
    assert_int_equal(setenv("PATH", path, 1), 0);
    assert_int_equal(setenv("DPKG_ROOT", root, 1), 0);
    log_init("test", LEVEL_QUIET, false);
    registry = modules();
    return 0;
}

static int
drop_host(void **state)
{
    setenv("PATH", old_path, 1);
    unsetenv("DPKG_ROOT");
    free(old_path);
    registry_destroy(&registry);
    return fs_remove_tree(root, NULL);
}

/* ---- calls --------------------------------------------------------------------------------- */

static json_t *
grains(void *cookie)
{
    return cookie;
}

/* `call` is JSON: a list of arguments, the last of which may be {"__kwarg__": true, ...}. NEW return. */
static json_t *
run(const char *fun, const char *call)
{
    json_auto_t *facts = json_pack("{s:s, s:s, s:s, s:s, s:s}", "os_family", "Debian", "os", os_name,
                                   "osarch", "amd64", "cpuarch", "x86_64", "oscodename", "trixie");
    json_auto_t *opts = json_pack("{s:s}", "id", "minion"), *args = json_loads(call, 0, NULL);
    json_object_update(opts, more_opts);
    call_env_t env = { .registry = registry,
                       .opts = opts,
                       .id = "minion",
                       .jid = "20261120093753793022",
                       .grains = grains,
                       .cookie = facts };
    call_result_t res;
    json_t *last = json_array_get(args, json_array_size(args) - 1);

    assert_non_null(args);
    if (json_is_object(last))
        json_object_set_new(last, "__kwarg__", json_true());
    call_ctx_t *ctx = call_ctx_new(&env);
    ctx_set_test(ctx, in_test_mode);
    call_run(ctx, fun, args, NULL, &res);
    call_ctx_destroy(&ctx);
    return res.value;
}

static void
expect(const char *fun, const char *call, const char *want)
{
    json_auto_t *got = run(fun, call), *wanted = json_loads(want, JSON_DECODE_ANY, NULL);
    AUTO_FREE char *shown = value_dump(got);

    assert_non_null(wanted);
    if (!value_equal(got, wanted))
        fail_msg("%s %s gives %s", fun, call, shown);
}

static void
expect_text(const char *fun, const char *call, const char *part)
{
    json_auto_t *got = run(fun, call);

    if (!json_is_string(got) || strstr(json_string_value(got), part) == NULL) {
        AUTO_FREE char *shown = value_dump(got);
        fail_msg("%s %s gives %s", fun, call, shown);
    }
}

#define BASE "apt-get -q -y -o DPkg::Options::=--force-confold -o DPkg::Options::=--force-confdef "
#define CACHE_TWO                                                                                            \
    "Package: jug\nVersion: 3.0\nDescription: x\n\nPackage: jug\nVersion: 2.5\n\nPackage: jug\nVersion: "    \
    "1.0\n"

/* ---- install ------------------------------------------------------------------------------- */

static void
test_install(void **state)
{
    expect("pkg.install", "[\"jug\"]", "{\"jug\": {\"old\": \"\", \"new\": \"1.0\"}}");
    assert_log(BASE "install jug\n");
    expect("pkg.install", "[\"jug:amd64,mug\"]", "{\"mug\": {\"old\": \"\", \"new\": \"1.0\"}}");
    assert_log(BASE "install jug mug\n");
    expect("pkg.install", "[\"jug\", {\"version\": 1.5}]", "{\"jug\": {\"old\": \"1.0\", \"new\": \"1.5\"}}");
    assert_log(BASE "install jug=1.5\n");
    expect(
        "pkg.install", "[{\"pkgs\": [{\"jug\": \"==1.7\"}, \"mug\", {\"kettle\": null}]}]",
        "{\"jug\": {\"old\": \"1.5\", \"new\": \"1.7\"}, \"kettle\": {\"old\": \"9\", \"new\": \"1.0,9\"}}");
    assert_log(BASE "install jug=1.7 mug kettle\n");
}

static void
test_options(void **state)
{
    put("/cache", "");
    json_auto_t *ret = run(
        "pkg.install", "[\"jug\", {\"fromrepo\": \"sid\", \"skip_verify\": true, \"force_conf_new\": true,"
                       "\"install_recommends\": false, \"only_upgrade\": true, \"force_yes\": true,"
                       "\"downloadonly\": true, \"allow_downgrades\": true}]");
    assert_true(json_is_object(ret));
    assert_log(
        "apt-get -q -y --force-yes -o DPkg::Options::=--force-confnew --no-install-recommends "
        "--only-upgrade --allow-unauthenticated --download-only --allow-downgrades -t sid install jug\n");
    json_auto_t *other = run("pkg.install", "[\"jug\", {\"install_recommends\": true, \"repo\": \"sid\"}]");
    assert_true(json_is_object(other));
    assert_log(BASE "--install-recommends -t sid install jug\n");
}

static void
test_comparisons(void **state)
{
    put("/cache", CACHE_TWO);
    expect("pkg.install", "[\"jug\", {\"version\": \"<3\"}]", "{\"jug\": {\"old\": \"\", \"new\": \"2.5\"}}");
    assert_log("apt-cache show jug\n" BASE "install jug=2.5\n");
    expect("pkg.install", "[\"jug\", {\"version\": \">9\"}]",
           "\"ERROR: Problem encountered installing package(s). Additional info follows:\\n\\nchanges:\\n    "
           "----------\\nerrors:\\n    - No version matching 'jug>9' could be found (available: 3.0, 2.5, "
           "1.0)\"");
}

static void
test_older_and_again(void **state)
{
    expect("pkg.install", "[\"teapot\", {\"version\": \"1.0\"}]",
           "{\"teapot\": {\"old\": \"2.0\", \"new\": \"1.0\"}}");
    assert_log(BASE "--force-yes install teapot=1.0\n");
    expect("pkg.install", "[\"teapot\", {\"reinstall\": true}]",
           "{\"teapot\": {\"old\": \"1.0\", \"new\": \"1.0\"}}");
    assert_log(BASE "install --reinstall teapot\n");
    expect("pkg.install", "[\"teapot\", {\"reinstall\": true, \"version\": \"1.0\"}]",
           "{\"teapot\": {\"old\": \"1.0\", \"new\": \"1.0\"}}");
    assert_log(BASE "install --reinstall teapot=1.0\n");
}

static void
test_held(void **state)
{
    expect("pkg.install", "[\"cup\", {\"version\": \"1.1\"}]",
           "{\"cup\": {\"old\": \"1.0\", \"new\": \"1.1\"}}");
    assert_log("dpkg --set-selections cup install\n" BASE
               "install cup=1.1\ndpkg --set-selections cup hold\n");
    expect("pkg.get_selections", "[{\"state\": \"hold\"}]", "{\"hold\": [\"cup\"]}");
    /* So is one that is brought back to an older version. */
    expect("pkg.install", "[\"cup\", {\"version\": \"0.9\"}]",
           "{\"cup\": {\"old\": \"1.0\", \"new\": \"0.9\"}}");
    assert_log("dpkg --set-selections cup install\n" BASE
               "--force-yes install cup=0.9\ndpkg --set-selections cup hold\n");
    expect("pkg.get_selections", "[{\"state\": \"hold\"}]", "{\"hold\": [\"cup\"]}");
}

/* So is one whose run can't be made; that is what is told. */
static void
test_held_and_failed(void **state)
{
    AUTO_FREE char *apt = xasprintf("%s/bin/apt-get", root);

    assert_int_equal(unlink(apt), 0);
    expect_text("pkg.install", "[\"cup\", {\"version\": \"1.1\"}]", "cannot run 'apt-get'");
    expect("pkg.get_selections", "[{\"state\": \"hold\"}]", "{\"hold\": [\"cup\"]}");
    assert_log("dpkg --set-selections cup install\ndpkg --set-selections cup hold\n");
}

/* Where systemd runs without the program that makes scopes, apt runs without one. */
static void
test_without_scope(void **state)
{
    AUTO_FREE char *run = xasprintf("%s/bin/systemd-run", root);

    assert_int_equal(unlink(run), 0);
    expect("pkg.install", "[\"jug\"]", "{\"jug\": {\"old\": \"\", \"new\": \"1.0\"}}");
    assert_log(BASE "install jug\n");
}

/* What is held under its architecture is, too: that of another one, and a package that there may be one of for each. */
static void
test_held_by_architecture(void **state)
{
    put("/var/lib/dpkg/status",
        "Package: jug\nArchitecture: i386\nStatus: hold ok installed\nMulti-Arch: same\nVersion: 1\n\n"
        "Package: jug\nArchitecture: amd64\nStatus: hold ok installed\nMulti-Arch: same\nVersion: 1\n");
    script("dpkg", "read n s; echo \"dpkg $* $n $s\" >> $DPKG_ROOT/log\n"
                   "/bin/sed -i \"/^Architecture: ${n#*:}\\$/{n;s/^Status: [a-z]*/Status: $s/}\" $S");
    json_auto_t *both = run("pkg.install", "[{\"pkgs\": [{\"jug\": \"2\"}, {\"jug:i386\": \"2\"}]}]");
    assert_true(json_is_object(both));
    assert_log("dpkg --set-selections jug:amd64 install\ndpkg --set-selections jug:i386 install\n" BASE
               "install jug=2 jug:i386=2\n"
               "dpkg --set-selections jug:amd64 hold\ndpkg --set-selections jug:i386 hold\n");
}

/* Package files: fetched by their address as it is written, and by nothing else of the call. */
static void
test_files(void **state)
{
    script("dpkg", "printf ' new debian package\\n Package: jug\\n Version: 3.0\\n Architecture: amd64\\n'");
    expect(
        "pkg.install",
        "[{\"sources\": [{\"jug\": \"http://127.0.0.1:8090/jug.deb\"}], \"reinstall\": false, \"saltenv\": \"dev\","
        "\"colour\": \"red\"}]",
        "\"ERROR: Unable to cache file 'http://127.0.0.1:8090/jug.deb' for package jug\"");
    assert_log("cache {\"path\":\"http://127.0.0.1:8090/jug.deb\",\"saltenv\":\"dev\"}\n");
    expect("pkg.install", "[{\"sources\": [{\"jug\": \"salt://gone/jug.deb\"}]}]",
           "\"ERROR: Unable to cache file 'salt://gone/jug.deb' for package jug\"");
    put("/served", "");
    put("/log", "");
    expect("pkg.install", "[{\"sources\": [{\"jug\": \"http://127.0.0.1:8090/jug.deb\"}]}]",
           "{\"served\": {\"old\": \"\", \"new\": \"1.0\"}}");
    AUTO_FREE char *want = xasprintf(
        "cache {\"path\":\"http://127.0.0.1:8090/jug.deb\",\"saltenv\":\"base\"}\n" BASE
        "install %s/served\n",
        root);
    assert_log(want);
}

static void
test_install_fails(void **state)
{
    put("/fail", "E: Unable to locate package jug\n");
    expect("pkg.install", "[\"jug\"]",
           "\"ERROR: Problem encountered installing package(s). Additional info follows:\\n\\nchanges:\\n    "
           "----------\\nerrors:\\n    - E: Unable to locate package jug\"");
    expect_text("pkg.remove", "[\"teapot\"]", "Problem encountered removing package(s)");
    expect_text("pkg.upgrade", "[{\"refresh\": false}]",
                "Problem encountered upgrading packages. Additional");
    expect("pkg.list_upgrades", "[{\"refresh\": false}]",
           "\"ERROR: Failed to get upgrades: E: Unable to locate package jug\"");
    expect("pkg.refresh_db", "[]", "\"ERROR: E: Unable to locate package jug\"");
}

static void
test_refresh_when_due(void **state)
{
    put("/update", "");
    put("/cache", "jug:\n  Candidate: 3.0\n");
    json_auto_t *first = run("pkg.install", "[\"jug\", {\"refresh\": true, \"version\": \"3.0\"}]");
    assert_true(json_is_object(first));
    assert_log("apt-cache -q policy jug\n" BASE "install jug=3.0\n");
    json_auto_t *second = run("pkg.install", "[\"jug\", {\"refresh\": true, \"version\": \"3.1\"}]");
    assert_true(json_is_object(second));
    assert_log("apt-cache -q policy jug\napt-get -q update\n" BASE "install jug=3.1\n");
    json_auto_t *third = run("pkg.install", "[\"mug\", {\"refresh\": true}]");
    assert_true(json_is_object(third));
    assert_log("apt-get -q update\n" BASE "install mug\n");
}

/* ---- remove, upgrade ----------------------------------------------------------------------- */

static void
test_remove(void **state)
{
    expect("pkg.remove", "[\"teapot,nothing\"]", "{\"teapot\": {\"old\": \"2.0\", \"new\": \"\"}}");
    assert_log("apt-get -q -y remove teapot\n");
    expect("pkg.list_pkgs", "[{\"removed\": true}]", "{\"teapot\": \"2.0\"}");
    expect("pkg.remove", "[\"teapot\"]", "{}");
    assert_log("");
    expect("pkg.purge", "[{\"pkgs\": [\"teapot\"]}]",
           "{\"removed\": {\"teapot\": {\"old\": \"2.0\", \"new\": \"\"}}, \"installed\": {}}");
    assert_log("apt-get -q -y purge teapot\n");
}

static void
test_upgrade(void **state)
{
    put("/update", "");
    put("/plan", "NOTE: simulation\nInst kettle [9] (9.1 Tea:12 [all])\nConf kettle (9.1 Tea:12 [all])\n"
                 "Conf  odd (\nThe following packages will be REMOVED:\n  teapot cup*\n  bowl\n0 upgraded\n");
    expect("pkg.list_upgrades", "[{\"fromrepo\": \"sid\"}]", "{\"kettle\": \"9.1\"}");
    assert_log("apt-get -q update\napt-get --just-print dist-upgrade -o APT::Default-Release=sid\n");
    expect("pkg.autoremove", "[{\"list_only\": true, \"purge\": true}]", "[\"bowl\", \"cup*\", \"teapot\"]");
    assert_log("apt-get --assume-no --purge autoremove\n");
    expect("pkg.upgrade", "[{\"dist_upgrade\": true, \"download_only\": true, \"refresh\": false}]",
           "{\"kettle\": {\"old\": \"9\", \"new\": \"9,9.1\"}}");
    assert_log(BASE "--download-only dist-upgrade\n");
    expect("pkg.autoremove", "[]", "{}");
    assert_log("apt-get --assume-yes autoremove\n");
}

static void
test_refresh(void **state)
{
    put("/update",
        "Get:1 http://a s InRelease [151 kB]\nHit:2 http://b s InRelease\nIgn:3 http://c s InRelease\n"
        "Err:4 http://d s Release\n  404  Not Found\n\nReading package lists...\n");
    put("/var/lib/apt/lists/x", "");
    expect("pkg.refresh_db", "[]",
           "{\"http://a s InRelease\": true, \"http://b s InRelease\": null, \"http://c s InRelease\": false,"
           "\"http://d s Release\": false}");
    expect("pkg.refresh_db", "[{\"failhard\": true}]", "\"ERROR: Error getting repos: http://d s Release\"");
    put("/log", "");
    expect("pkg.refresh_db", "[3600]", "{}");
    assert_log("");
}

static void
test_latest(void **state)
{
    put("/cache", "teapot:\n  Installed: 2.0\n  Candidate: 2.1\n  Version table:\n");
    expect("pkg.latest_version", "[\"teapot\", {\"refresh\": false, \"fromrepo\": \"sid\"}]", "\"2.1\"");
    assert_log("apt-cache -q policy teapot -o APT::Default-Release=sid\n");
    put("/cache", "teapot:\n  Candidate: 2.1\nkettle:\n  Candidate: 9\njug:i386:\n  Candidate: 1\nnew:\n  "
                  "Candidate: (none)\n");
    expect(
        "pkg.latest_version",
        "[\"teapot:amd64\", \"kettle\", \"jug:i386\", \"new\", \"gone\", {\"refresh\": false}]",
        "{\"teapot:amd64\": \"2.1\", \"kettle\": \"\", \"jug:i386\": \"1\", \"new\": \"\", \"gone\": \"\"}");
    assert_log("apt-cache -q policy teapot:amd64 kettle jug:i386 new gone\n");
    expect("pkg.latest_version", "[\"kettle\", \"tea*\", {\"refresh\": false}]",
           "{\"kettle\": \"\", \"tea*\": \"2.1\"}");
    assert_log("apt-cache -q policy kettle\napt-cache -q policy tea*\n");
    put("/cache", "teapot:\n  Candidate: 2.0\n");
    expect("pkg.available_version", "[\"teapot\", {\"refresh\": false}]", "\"\"");
    expect("pkg.latest_version", "[\"teapot\", {\"refresh\": false, \"show_installed\": true}]", "\"2.0\"");
    put("/cache", "teapot:\n  Candidate: (none)\n");
    put("/update", "");
    expect("pkg.upgrade_available", "[\"jug\"]", "false");
    put("/cache", CACHE_TWO);
    expect("pkg.list_repo_pkgs", "[\"jug\"]", "{\"jug\": [\"3.0\", \"2.5\", \"1.0\"]}");
    expect("pkg.show", "[\"jug\", {\"filter\": \"description\"}]",
           "{\"jug\": {\"3.0\": {\"Description\": \"x\"}, \"2.5\": {}, \"1.0\": {}}}");
}

/* ---- selections ---------------------------------------------------------------------------- */

static void
test_hold(void **state)
{
    /* A state's test mode is not in the options. */
    in_test_mode = true;
    expect("pkg.hold", "[\"teapot\"]",
           "{\"teapot\": {\"name\": \"teapot\", \"changes\": {}, \"result\": null, "
           "\"comment\": \"Package teapot is set to be held.\"}}");
    expect("pkg.unhold", "[\"cup\"]",
           "{\"cup\": {\"name\": \"cup\", \"changes\": {}, \"result\": null, "
           "\"comment\": \"Package cup is set not to be held.\"}}");
    in_test_mode = false;
    assert_log("");
    expect("pkg.hold", "[{\"pkgs\": [\"teapot\", \"cup\"]}]",
           "{\"teapot\": {\"name\": \"teapot\", \"changes\": {\"old\": \"install\", \"new\": \"hold\"}, "
           "\"result\": "
           "true, \"comment\": \"Package teapot is now being held.\"}, \"cup\": {\"name\": \"cup\", "
           "\"changes\": "
           "{}, \"result\": true, \"comment\": \"Package cup is already set to be held.\"}}");
    assert_log("dpkg --set-selections teapot hold\n");
    expect("pkg.unhold", "[\"cup\"]",
           "{\"cup\": {\"name\": \"cup\", \"changes\": {\"old\": \"hold\", \"new\": \"install\"}, "
           "\"result\": true, "
           "\"comment\": \"Package cup is no longer being held.\"}}");
    put("/var/lib/dpkg/status", "Package: bowl\nStatus: hold ok not-installed\n");
    expect("pkg.get_selections", "[]", "{\"hold\": [\"bowl\"]}");
    expect("pkg.list_pkgs", "[{\"use_context\": false}]", "{}");
    put("/var/lib/dpkg/status",
        "Package: kettle\nStatus: install ok installed\nArchitecture: all\nVersion: 9\n");
    expect("pkg.set_selections", "[{\"selection\": {\"purge\": [\"kettle\", \"pan\"]}}]",
           "{\"kettle\": {\"old\": \"install\", \"new\": \"purge\"}, \"pan\": {\"old\": null, \"new\": "
           "\"purge\"}}");
}

/* ---- sources ------------------------------------------------------------------------------- */

#define LISTS "/etc/apt/sources.list.d/"

static void
test_repos(void **state)
{
    put("/update", "");
    put("/etc/apt/sources.list", "# by hand\ndeb [trusted=yes] http://a.example/ s main contrib\n");
    expect(
        "pkg.mod_repo",
        "[\"deb [signed-by=/k.gpg] http://b.example/x s main\", {\"file\": \"" LISTS
        "b.list\", \"comments\": "
        "[\"one\", \"two\"]}]",
        "{\"deb [signed-by=/k.gpg] http://b.example/x s main\": {\"file\": \"" LISTS
        "b.list\", \"comps\": [\"main\"], \"disabled\": false, \"type\": \"deb\", \"uri\": "
        "\"http://b.example/x\", \"line\": \"deb [signed-by=/k.gpg] http://b.example/x s main #one two\\n\", "
        "\"architectures\": [], \"signedby\": \"/k.gpg\"}}");
    assert_log("apt-get -q update\n");
    assert_file(LISTS "b.list", "deb [signed-by=/k.gpg] http://b.example/x s main #one two\n");
    assert_file("/etc/apt/sources.list", "# by hand\ndeb [trusted=yes] http://a.example/ s main contrib\n");
    expect_text("pkg.del_repo", "[\"deb http://b.example/x s other\"]",
                "Repo deb http://b.example/x s other doesn't exist in the sources.list(s)");
    expect("pkg.del_repo", "[\"deb http://b.example/x s main\"]",
           "\"File " LISTS "b.list containing repo 'deb http://b.example/x s main' has been removed.\"");
    AUTO_FREE char *gone = xasprintf("%s" LISTS "b.list", root);
    assert_false(fs_exists(gone));
    expect("pkg.del_repo", "[\"deb http://a.example/ s contrib\"]",
           "\"Repo 'deb http://a.example/ s contrib' has been removed from /etc/apt/sources.list.\\n\"");
    assert_file("/etc/apt/sources.list", "# by hand\ndeb [trusted=yes] http://a.example/ s main\n");
}

static void
test_repo_changes(void **state)
{
    put(LISTS "a.sources",
        "# kept\nTypes: deb\nURIs: http://a\nSuites: s t\nComponents: main\nTrusted: yes\n");
    json_auto_t *ret = run("pkg.mod_repo",
                           "[\"deb [signed-by=/k] http://a/ t main\", {\"comps\": \"main,extra\", "
                           "\"refresh\": false, \"disabled\": true, \"architectures\": "
                           "\"amd64\"}]");
    assert_true(json_is_object(ret));
    assert_log("");
    assert_file(LISTS "a.sources",
                "# kept\nTypes: deb\nURIs: http://a\nSuites: s\nComponents: main\ntrusted: yes\n\n"
                "Enabled: no\nTypes: deb\nURIs: http://a/\nSuites: t\nComponents: main extra\n"
                "Architectures: amd64\nSigned-By: /k\ntrusted: yes\n");
    json_auto_t *found = run("pkg.get_repo", "[\"deb http://a/ t extra\"]");
    assert_string_equal(value_str(found, "file", ""), LISTS "a.sources");
    put("/etc/apt/sources.list", "deb http://c s main\n\n# deb http://c s extra\ndeb http://c s extra\n");
    json_auto_t *merged = run("pkg.mod_repo",
                              "[\"deb [signed-by=/k] http://c s main\", {\"consolidate\": true, "
                              "\"refresh\": false, \"comps\": \"main,extra\"}]");
    assert_true(json_is_object(merged));
    AUTO_FREE char *text = text_of("/etc/apt/sources.list");
    assert_non_null(strstr(text, "deb [signed-by=/k] http://c s main extra\n# deb http://c s extra\n"));
    assert_non_null(strstr(text, "\n# deb [arch=amd64 signed-by=/k trusted=yes] http://a/ t main extra\n"));
}

/* A state of pkgrepo with these keywords. NEW return. */
static json_t *
repo_state(const char *fun, const char *name, json_t *kwargs)
{
    json_auto_t *facts = json_pack("{s:s, s:s, s:s}", "os_family", "Debian", "os", os_name, "osarch",
                                   "amd64");
    json_auto_t *args = json_pack("{s:s, s:o}", "name", name, "kwargs", kwargs), *opts = json_object();
    const call_env_t env = { .registry = registry, .opts = opts, .grains = grains, .cookie = facts };
    call_ctx_t *ctx = call_ctx_new(&env);
    fail_auto_t err = FAIL_INIT;
    json_t *ret = NULL;
    size_t i = 0;

    while (!str_eq(state_pkgrepo.funcs[i].name, fun))
        i++;
    if (state_pkgrepo.funcs[i].fn(ctx, args, &ret, &err) != 0)
        fail_msg("%s: %s", name, fail_text(&err));
    call_ctx_destroy(&ctx);
    return ret;
}

static json_t *
manage_repo(const char *name, json_t *kwargs)
{
    return repo_state("managed", name, kwargs);
}

static void
assert_ret(const json_t *ret, state_result_t result, const char *comment)
{
    static const json_type types[] = { JSON_FALSE, JSON_TRUE, JSON_NULL };

    assert_string_equal(value_str(ret, "comment", ""), comment);
    assert_int_equal(json_typeof(value_get(ret, "result")), types[result]);
}

/* What a file had goes when what comes in its place is written, not before. */
static void
test_clean_file(void **state)
{
    static const char line[] = "deb [signed-by=/k] http://b s main", old[] = "# note\ndeb http://a s main\n";
    AUTO_FREE char *outside = xasprintf("%s/x.list", root);

    put("/x.list", old); /* also for who takes the path as it is */
    put(outside, old);
    json_auto_t *failed = manage_repo(
        "deb http://b s main", json_pack("{s:s, s:b, s:b}", "file", outside, "clean_file", 1, "refresh", 0));
    assert_true(json_is_false(value_get(failed, "result")));
    assert_file("/x.list", old);
    assert_file(outside, old);
    json_auto_t *done = manage_repo(
        line, json_pack("{s:s, s:b, s:b}", "file", outside, "clean_file", 1, "refresh", 0));
    assert_true(json_is_true(value_get(done, "result")));
    assert_file(outside, "deb [signed-by=/k] http://b s main\n");
    assert_file("/x.list", old);

    put(LISTS "c.list", "# note\ndeb http://a s main\n\nnonsense\n");
    put(LISTS "c.sources", "# note\nTypes: deb\nURIs: http://a\nSuites: s\nComponents: main\n\n# end\n");
    put(LISTS "d.list", old);
    for (size_t i = 0; i < 2; i++) {
        static const char *const calls[] = {
            "[\"deb [signed-by=/k] http://a s main\", {\"clean_file\": true, \"refresh\": false, "
            "\"file\": \"" LISTS "c.list\"}]",
            "[\"deb [signed-by=/k] http://e s main\", {\"clean_file\": true, \"refresh\": false, "
            "\"file\": \"" LISTS "c.sources\"}]",
        };
        json_auto_t *ret = run("pkg.mod_repo", calls[i]);
        assert_true(json_is_object(ret));
    }
    AUTO_FREE char *lines = text_of(LISTS "c.list");
    assert_true(str_starts(lines, "deb [signed-by=/k] http://a s main"));
    assert_ptr_equal(strchr(lines, '\n'), lines + strlen(lines) - 1);
    assert_file(LISTS "c.sources",
                "Types: deb\nURIs: http://e\nSuites: s\nComponents: main\nSigned-By: /k\n");
}

/* Options that Salt has no argument for: the wish's are written and then found, others stay and don't count. */
static void
test_source_options(void **state)
{
    static const struct {
        const char *name, *comment, *file;
    } rows[] = {
        { "deb [signed-by=/k trusted=yes] http://b ./",
          "Package repo 'deb [signed-by=/k trusted=yes] http://b ./' already configured",
          "deb [signed-by=/k trusted=yes] http://b ./\n" },
        { "deb [signed-by=/k] http://b ./",
          "Package repo 'deb [signed-by=/k] http://b ./' already configured",
          "deb [signed-by=/k trusted=yes] http://b ./\n" },
        { "deb [by-hash=no signed-by=/k] http://b ./",
          "Configured package repo 'deb [by-hash=no signed-by=/k] http://b ./'",
          "deb [signed-by=/k trusted=yes by-hash=no] http://b ./\n" },
        { "deb [by-hash=force signed-by=/k] http://b ./",
          "Configured package repo 'deb [by-hash=force signed-by=/k] http://b ./'",
          "deb [signed-by=/k trusted=yes by-hash=force] http://b ./\n" },
        { "deb [by-hash=force arch=amd64 signed-by=/k] http://b ./",
          "Configured package repo 'deb [by-hash=force arch=amd64 signed-by=/k] http://b ./'",
          "deb [arch=amd64 signed-by=/k trusted=yes by-hash=force] http://b ./\n" },
        { "deb [by-hash=force arch=amd64 signed-by=/k] http://b ./",
          "Package repo 'deb [by-hash=force arch=amd64 signed-by=/k] http://b ./' already configured",
          "deb [arch=amd64 signed-by=/k trusted=yes by-hash=force] http://b ./\n" },
    };

    put(LISTS "b.list", "deb [signed-by=/k trusted=yes] http://b ./\n");
    for (size_t i = 0; i < NELEMS(rows); i++) {
        json_auto_t *ret = manage_repo(rows[i].name,
                                       json_pack("{s:s, s:b}", "file", LISTS "b.list", "refresh", 0));
        assert_ret(ret, STATE_TRUE, rows[i].comment);
        assert_file(LISTS "b.list", rows[i].file);
    }
}

static void
test_disabled_source(void **state)
{
    static const char line[] = "deb [signed-by=/k] http://b s main";

    put(LISTS "b.list", "deb [signed-by=/k] http://b s main\n");
    json_auto_t *off = manage_repo(line, json_pack("{s:b, s:b}", "disabled", 1, "refresh", 0));
    assert_ret(off, STATE_TRUE, "Configured package repo 'deb [signed-by=/k] http://b s main'");
    assert_true(json_is_true(value_get(value_get(value_get(off, "changes"), "disabled"), "new")));
    assert_file(LISTS "b.list", "# deb [signed-by=/k] http://b s main\n");
    json_auto_t *again = manage_repo(line, json_pack("{s:b, s:b}", "enabled", 0, "refresh", 0));
    assert_ret(again, STATE_TRUE, "Package repo 'deb [signed-by=/k] http://b s main' already configured");
    json_auto_t *on = manage_repo(line, json_pack("{s:b}", "refresh", 0));
    assert_ret(on, STATE_TRUE, "Configured package repo 'deb [signed-by=/k] http://b s main'");
    assert_file(LISTS "b.list", "deb [signed-by=/k] http://b s main\n");
}

/* What else the file has goes, though the source that is wanted is there; only lists of the folder itself count. */
static void
test_clean_file_of_configured(void **state)
{
    static const char line[] = "deb [signed-by=/k] http://b s main";
    static const char file[] = LISTS "b.list";

    put(LISTS "b.list", "deb http://a s main\ndeb [signed-by=/k] http://b s main\n");
    put(LISTS "old/c.list", "deb [signed-by=/k] http://c s main\n");
    put(LISTS "c.list.save", "deb [signed-by=/k] http://c s main\n");
    json_auto_t *repos = run("pkg.list_repos", "[]");
    assert_int_equal(json_object_size(repos), 2);
    json_auto_t *ret = manage_repo(line,
                                   json_pack("{s:s, s:b, s:b}", "file", file, "clean_file", 1, "refresh", 0));
    assert_ret(ret, STATE_TRUE, "Configured package repo 'deb [signed-by=/k] http://b s main'");
    assert_file(LISTS "b.list", "deb [signed-by=/k] http://b s main\n");
    AUTO_FREE char *changes = value_dump(value_get(ret, "changes"));
    assert_string_equal(changes, "{\"removed\":[\"deb http://a s main\"]}");
    json_auto_t *again = manage_repo(
        line, json_pack("{s:s, s:b, s:b}", "file", file, "clean_file", 1, "refresh", 0));
    assert_ret(again, STATE_TRUE, "Package repo 'deb [signed-by=/k] http://b s main' already configured");
}

/* Each property that the state names is compared; a `humanname` or a second name is none. */
static void
test_changed_properties(void **state)
{
    put(LISTS "b.list", "deb [signed-by=/k] http://b s main\n");
    json_auto_t *comps = manage_repo("deb [signed-by=/k] http://b s main extra",
                                     json_pack("{s:b}", "refresh", 0));
    assert_ret(comps, STATE_TRUE, "Configured package repo 'deb [signed-by=/k] http://b s main extra'");
    assert_file(LISTS "b.list", "deb [signed-by=/k] http://b s main extra\n");
    json_auto_t *key = manage_repo("deb [signed-by=/j] http://b s main extra",
                                   json_pack("{s:b}", "refresh", 0));
    assert_ret(key, STATE_TRUE, "Configured package repo 'deb [signed-by=/j] http://b s main extra'");
    assert_file(LISTS "b.list", "deb [signed-by=/j] http://b s main extra\n");
    json_auto_t *arch = manage_repo("deb [signed-by=/j arch=amd64] http://b s main extra",
                                    json_pack("{s:b, s:s}", "refresh", 0, "humanname", "b"));
    assert_ret(arch, STATE_TRUE,
               "Configured package repo 'deb [signed-by=/j arch=amd64] http://b s main extra'");
    json_auto_t *same = manage_repo("deb [signed-by=/j arch=amd64] http://b s main extra",
                                    json_pack("{s:b}", "refresh", 0));
    assert_ret(same, STATE_TRUE,
               "Package repo 'deb [signed-by=/j arch=amd64] http://b s main extra' already configured");
}

/* A source for another architecture is not the one that is there; slashes behind the address make no other. */
static void
test_absent_source(void **state)
{
    put("/update", "");
    put(LISTS "b.list", "deb http://b s main\ndeb [arch=amd64] http://c/d/ s main\n");
    json_auto_t *other = repo_state("absent", "deb [arch=arm64] http://b s main", json_object());
    assert_ret(other, STATE_TRUE, "Package repo deb [arch=arm64] http://b s main is absent");
    json_auto_t *any = repo_state("absent", "deb http://c/d s main", json_object());
    assert_ret(any, STATE_TRUE, "Package repo deb http://c/d s main is absent");
    assert_file(LISTS "b.list", "deb http://b s main\ndeb [arch=amd64] http://c/d/ s main\n");
    json_auto_t *gone = repo_state("absent", "deb [arch=amd64] http://c/d s main", json_object());
    assert_ret(gone, STATE_TRUE, "Removed repo deb [arch=amd64] http://c/d s main");
    assert_file(LISTS "b.list", "deb http://b s main\n");
}

/* ---- keys ---------------------------------------------------------------------------------- */

static mode_t
mode_of(const char *path)
{
    AUTO_FREE char *full = xasprintf("%s%s", root, path);
    struct stat st = { 0 };

    assert_int_equal(stat(full, &st), 0);
    return st.st_mode & 07777;
}

/* A source is written only with its key; apt's folder of keys is made, and apt's user may read what is in it. */
static void
test_key_folder(void **state)
{
    mode_t old = umask(077);

    script("gpg", "while [ \"$1\" != --output ]; do shift; done; echo ring > $2");
    json_auto_t *lost = manage_repo("deb [signed-by=/nowhere/z.gpg] http://b s main",
                                    json_pack("{s:s, s:b}", "key_text", "x", "refresh", 0));
    assert_ret(lost, STATE_FALSE,
               "Failed to configure repo 'deb [signed-by=/nowhere/z.gpg] http://b s main': "
               "Error: failed to add key:\nx");
    assert_file(LISTS "z.list", "");
    assert_file("/etc/apt/sources.list", "");
    json_auto_t *by_id = manage_repo(
        "deb [signed-by=/nowhere/z.gpg] http://b s main",
        json_pack("{s:s, s:s, s:b}", "keyid", "AB", "keyserver", "keys.example", "refresh", 0));
    assert_ret(by_id, STATE_FALSE,
               "Failed to configure repo 'deb [signed-by=/nowhere/z.gpg] http://b s main': "
               "Error: Could not add key: AB");
    json_auto_t *made = manage_repo("deb [signed-by=/etc/apt/keyrings/z.gpg] http://b s main",
                                    json_pack("{s:s, s:b}", "key_text", "x", "refresh", 0));
    umask(old);
    assert_ret(made, STATE_TRUE,
               "Configured package repo 'deb [signed-by=/etc/apt/keyrings/z.gpg] http://b s main'");
    assert_file("/etc/apt/keyrings/z.gpg", "ring\n");
    assert_int_equal(mode_of("/etc/apt/keyrings/z.gpg"), 0644);
    assert_int_equal(mode_of("/etc/apt/keyrings"), 0755);
    assert_file("/etc/apt/sources.list", "deb [signed-by=/etc/apt/keyrings/z.gpg] http://b s main\n");
}

/* A key in letters stays so under its name, and becomes bytes under another. */
static void
test_armored_key(void **state)
{
    put("/served", "-----BEGIN PGP PUBLIC KEY BLOCK-----\n");
    script("gpg", "while [ \"$1\" != --output ]; do shift; done; echo ring > $2");
    json_auto_t *ret = manage_repo(
        "deb [signed-by=/etc/apt/keyrings/z.asc] http://b s main",
        json_pack("{s:s, s:b, s:b}", "key_url", "http://k/z.asc", "aptkey", 0, "refresh", 0));
    assert_ret(ret, STATE_TRUE,
               "Configured package repo 'deb [signed-by=/etc/apt/keyrings/z.asc] http://b s main'");
    assert_file("/etc/apt/keyrings/z.asc", "-----BEGIN PGP PUBLIC KEY BLOCK-----\n");
}

static void
test_keys(void **state)
{
    put("/etc/apt/keyrings/tea.gpg", "x");
    put("/gpg",
        "tru::1:2:0:3:1:5\npub:-:255:22:00AA11BB22CC33DD:1700000000:::-:::scSC:::::ed25519:::0:\n"
        "fpr:::::::::FFFF00AA11BB22CC33DD:\nuid:-::::1700000000::HASH::Tea <t@example.org>::::::::::0:\n"
        "sub:-:255:18:0123456789ABCDEF:1700000000::::::e:::::cv25519::\nfpr:::::::::EEEE:\n");
    expect(
        "pkg.get_repo_keys", "[{\"aptkey\": false}]",
        "{\"00AA11BB22CC33DD\": {\"algorithm\": 22, \"bits\": 255, \"capability\": \"scSC\", "
        "\"date_creation\": "
        "1700000000, \"date_expiration\": null, \"keyid\": \"00AA11BB22CC33DD\", \"validity\": \"-\", "
        "\"fingerprint\": \"FFFF00AA11BB22CC33DD\", \"uid\": \"Tea <t@example.org>\", \"uid_hash\": "
        "\"HASH\", "
        "\"subkey\": {\"algorithm\": 18, \"bits\": 255, \"capability\": \"e\", \"date_creation\": "
        "1700000000, "
        "\"date_expiration\": null, \"keyid\": \"0123456789ABCDEF\", \"validity\": \"-\", \"fingerprint\": "
        "\"EEEE\"}}}");
    expect("pkg.add_repo_key", "[{\"aptkey\": false, \"keyid\": \"22CC33DD\", \"keyserver\": \"k\"}]",
           "true");
    put("/log", "");
    expect("pkg.add_repo_key",
           "[{\"aptkey\": false, \"keyid\": \"ABCD\", \"keyserver\": \"keys.example\", \"keyfile\": "
           "\"zed.gpg\"}]",
           "true");
    AUTO_FREE char *want = xasprintf(
        "gpg --no-default-keyring --keyring %s/etc/apt/keyrings/tea.gpg --list-keys "
        "--with-colons\ngpg --no-default-keyring --keyring "
        "%s/etc/apt/keyrings/zed.gpg --keyserver keys.example --recv-keys ABCD\n",
        root, root);
    assert_log(want);
    expect("pkg.del_repo_key", "[{\"aptkey\": false, \"keyid\": \"22CC33DD\"}]", "\"22CC33DD\"");
    AUTO_FREE char *gone = xasprintf("%s/etc/apt/keyrings/tea.gpg", root);
    assert_false(fs_exists(gone));
}

static void
test_apt_key(void **state)
{
    put("/update", "");
    expect_text("pkg.mod_repo", "[\"deb http://b s main\", {\"refresh\": false}]",
                "missing 'signedby' option when apt-key is missing");
    script("apt-key", "echo \"apt-key $*\" >> $DPKG_ROOT/log\n[ \"$1\" = add ] && { echo OK; exit 0; }\n"
                      "[ \"$1\" = export ] || /bin/cat $DPKG_ROOT/gpg");
    put("/gpg", "pub:-:255:22:00AA11BB22CC33DD:1700000000:::-:::scSC::::::\n");
    json_auto_t *ret = run("pkg.mod_repo",
                           "[\"deb http://b s main\", {\"refresh\": false, \"keyid\": [\"AB\", 255], "
                           "\"keyserver\": \"keys.example\"}]");
    assert_true(json_is_object(ret));
    assert_log(
        "apt-key export AB\napt-key adv --batch --keyserver keys.example --logger-fd 1 --recv-keys AB\n"
        "apt-key export 0xff\n"
        "apt-key adv --batch --keyserver keys.example --logger-fd 1 --recv-keys 0xff\n");
    assert_file("/etc/apt/sources.list", "deb http://b s main\n");
    expect("pkg.add_repo_key", "[{\"text\": \"a key\"}]", "true");
    assert_log("apt-key add -\n");
    expect("pkg.del_repo_key", "[{\"keyid\": \"22CC33DD\"}]", "\"22CC33DD\"");
    assert_log("apt-key del 22CC33DD\n");
    json_auto_t *keys = run("pkg.get_repo_keys", "[]");
    assert_non_null(value_get(keys, "00AA11BB22CC33DD"));
    json_auto_t *moved = run("pkg.mod_repo",
                             "[\"deb http://b s main\", {\"refresh\": false, \"key_text\": \"k\", "
                             "\"uri\": \"http://c\"}]");
    assert_true(json_is_object(moved));
    assert_file("/etc/apt/sources.list", "deb http://c s main\n");
}

/* The proxy's password is in no argument. */
static void
test_key_proxy(void **state)
{
    script("apt-key", "echo \"apt-key $1\" >> $DPKG_ROOT/log");
    script("gpg", "[ \"$1\" = --homedir ] || exit 1\n"
                  "case \"$*\" in *secret*) echo seen >>$DPKG_ROOT/log;; esac\n"
                  "/bin/cat $2/gpg.conf >> $DPKG_ROOT/log; shift 2; echo \"gpg $*\" >> $DPKG_ROOT/log");
    const char *call = "[\"deb http://b s main\", {\"refresh\": false, \"keyid\": \"AB\", "
                       "\"keyserver\": \"keys.example\"}]";
    more_opts = json_pack("{s:s, s:i, s:s, s:s}", "proxy_host", "proxy.example", "proxy_port", 80,
                          "proxy_username", "me", "proxy_password", "secret");
    json_auto_t *ret = run("pkg.mod_repo", call);
    AUTO_FREE char *log = text_of("/log");
    json_decref(more_opts);
    more_opts = NULL;
    assert_true(json_is_object(ret));
    assert_null(strstr(log, "seen"));
    assert_non_null(strstr(log, "keyserver-options http-proxy=http://me:secret@proxy.example:80\ngpg --batch "
                                "--keyserver keys.example --logger-fd 1 --recv-keys AB\n"));
    assert_non_null(strstr(log, "--export AB\napt-key add\n"));
}

static void
test_ppa(void **state)
{
    os_name = "Ubuntu";
    put("/update", "");
    put("/launchpad", "{\"signing_key_fingerprint\": \"0123456789ABCDEF\", \"private\": false}");
    script("apt-key", "echo \"apt-key $*\" >> $DPKG_ROOT/log");
    expect_text("pkg.mod_repo", "[\"ppa:tea\"]", "Unable to get PPA info from argument.");
    json_auto_t *ret = run("pkg.mod_repo", "[\"ppa:tea/pot\"]");
    assert_true(json_is_object(ret));
    assert_log(
        "query https://launchpad.net/api/1.0/~tea/+archive/pot\napt-key export 0123456789ABCDEF\n"
        "apt-key adv --batch --keyserver keyserver.ubuntu.com --logger-fd 1 --recv-keys 0123456789ABCDEF\n"
        "apt-get -q update\n");
    assert_file(LISTS "tea-pot-trixie.list", "deb http://ppa.launchpad.net/tea/pot/ubuntu trixie main\n");
    expect_text("pkg.mod_repo", "[\"ppa:tea/pot\", {\"ppa_auth\": \"me:x\", \"keyid\": \"A\"}]",
                "PPA is not private but auth credentials passed: ppa:tea/pot");
    json_auto_t *found = run("pkg.get_repo", "[\"ppa:tea/pot\"]");
    assert_string_equal(value_str(found, "dist", ""), "trixie");
    put("/log", "");
    expect("pkg.del_repo_key", "[{\"name\": \"ppa:tea/pot\", \"keyid_ppa\": true}]", "\"89ABCDEF\"");
    assert_log("query https://launchpad.net/api/1.0/~tea/+archive/pot\napt-key del 89ABCDEF\n");
    expect_text("pkg.del_repo", "[\"ppa:tea/pot\"]", "tea-pot-trixie.list containing repo");
    put("/log", "");
    script("apt-add-repository", "echo \"apt-add-repository $*\" >> $DPKG_ROOT/log");
    json_auto_t *added = run("pkg.mod_repo", "[\"ppa:tea/pot\", {\"refresh\": false}]");
    assert_int_equal(value_int(value_get(added, "ppa:tea/pot"), "retcode", -1), 0);
    assert_log("apt-add-repository -y ppa:tea/pot\n");
    os_name = "Debian";
}

static void
test_foreign(void **state)
{
    put("/var/lib/dpkg/status",
        "Package: jug\nStatus: install ok installed\nArchitecture: i386\nVersion: 1\n\n"
        "Package: jug\nStatus: install ok installed\nArchitecture: amd64\nVersion: 2\n\n"
        "Package: mug\nStatus: purge ok installed\nArchitecture: all\nVersion: 3\n\n"
        "Package: odd\nStatus: install ok unpacked\nArchitecture: all\nVersion: 4\n");
    expect("pkg.list_pkgs", "[]", "{\"mug\": \"3\", \"jug\": \"2\", \"jug:i386\": \"1\"}");
    expect("pkg.list_pkgs", "[{\"purge_desired\": true, \"versions_as_list\": true}]", "{\"mug\": [\"3\"]}");
    expect("pkg.version", "[\"jug*\"]", "{\"jug\": \"2\", \"jug:i386\": \"1\"}");
    expect("pkg.version", "[\"jug:i386\"]", "\"1\"");
}

/* dpkg's letters for its states, as dpkg-query prints them; what is to be purged, and is wanted again. */
static void
test_low(void **state)
{
    put("/var/lib/dpkg/status",
        "Package: jug\nStatus: install reinstreq half-configured\nMaintainer: Ann <ann@example.org>\n"
        "Architecture: i386\nSource: jugs (1.0)\nVersion: 1\nSection: tea\nOrigin: Us\n"
        "Homepage: http://jug.example\nInstalled-Size: 7\nDescription: a jug\n It holds\n water.\n\n"
        "Package: mug\nStatus: purge ok installed\nArchitecture: all\nVersion: 3\n\n"
        "Package: odd\nStatus: install ok unpacked\nArchitecture: all\nVersion: 4\n\n"
        "Package: old\nStatus: deinstall ok config-files\nArchitecture: all\nVersion: 5\n\n"
        "Package: pend\nStatus: install ok triggers-pending\nArchitecture: all\nVersion: 7\n\n"
        "Package: trig\nStatus: hold ok triggers-awaited\nArchitecture: all\nVersion: 6\n");
    put("/usr/share/doc/jug/copyright", "License: GPL-2\nLicense: BSD\n");
    expect(
        "lowpkg.info", "[\"jug\"]",
        "{\"jug\": {\"package\": \"jug\", \"architecture\": \"i386\", \"source\": \"jugs\", \"version\": \"1\", "
        "\"maintainer\": \"Ann <ann@example.org>\", \"section\": \"tea\", \"origin\": \"Us\", "
        "\"homepage\": \"http://jug.example\", \"status\": \"iFR\", "
        "\"description\": \"a jug\\n It holds\\n water.\\n\", \"license\": \"BSD, GPL-2\"}}");
    json_auto_t *all = run("lowpkg.info", "[]");
    static const char *const letters[][2] = {
        { "mug", "pi" }, { "odd", "iU" }, { "old", "rc" }, { "pend", "it" }, { "trig", "hW" }
    };
    for (size_t i = 0; i < NELEMS(letters); i++)
        assert_string_equal(value_str(value_get(all, letters[i][0]), "status", ""), letters[i][1]);
    expect("pkg.info_installed", "[\"jug\"]", "{}");
    expect("lowpkg.list_pkgs", "[]", "{\"mug\": \"3\"}");
    expect("lowpkg.list_pkgs", "[\"cup\"]", "\"Error:  dpkg-query: no packages found matching cup\"");

    script("dpkg",
           "echo \"dpkg $*\" >> $DPKG_ROOT/log; while read n s; do echo \"$n $s\" >> $DPKG_ROOT/log; done\n"
           "[ -e $DPKG_ROOT/fail ] && { /bin/cat $DPKG_ROOT/fail >&2; exit 2; }\n"
           "/bin/sed -i '/^Package: mug/,/^$/s/purge ok/install ok/' $S");
    expect("lowpkg.unpurge", "[]", "{}");
    assert_log("");
    put("/fail", "dpkg: no\n");
    expect_text("lowpkg.unpurge", "[\"mug\"]", "Running dpkg --set-selections failed: dpkg: no");
    put("/log", "");
    AUTO_FREE char *fail = xasprintf("%s/fail", root);
    assert_int_equal(unlink(fail), 0);
    expect("lowpkg.unpurge", "[\"mug\", \"odd\"]", "{\"mug\": {\"old\": \"3\", \"new\": \"\"}}");
    assert_log("dpkg --set-selections\nmug install\nodd install\n");
    expect_text("lowpkg.unpurge", "[\"mug install\\nodd\"]", "name");
    assert_log("");
}

#define ON_HOST(test) cmocka_unit_test_setup_teardown(test, make_host, drop_host)

UNIT_MAIN(ON_HOST(test_install), ON_HOST(test_options), ON_HOST(test_comparisons),
          ON_HOST(test_older_and_again), ON_HOST(test_held), ON_HOST(test_held_and_failed),
          ON_HOST(test_held_by_architecture), ON_HOST(test_files), ON_HOST(test_without_scope),
          ON_HOST(test_install_fails), ON_HOST(test_refresh_when_due), ON_HOST(test_remove),
          ON_HOST(test_upgrade), ON_HOST(test_refresh), ON_HOST(test_latest), ON_HOST(test_hold),
          ON_HOST(test_repos), ON_HOST(test_repo_changes), ON_HOST(test_clean_file),
          ON_HOST(test_clean_file_of_configured), ON_HOST(test_changed_properties), ON_HOST(test_armored_key),
          ON_HOST(test_keys), ON_HOST(test_disabled_source), ON_HOST(test_source_options),
          ON_HOST(test_absent_source), ON_HOST(test_key_folder), ON_HOST(test_apt_key),
          ON_HOST(test_key_proxy), ON_HOST(test_ppa), ON_HOST(test_foreign), ON_HOST(test_low))
