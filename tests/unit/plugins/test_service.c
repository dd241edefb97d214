/* test_service.c - the providers of `service`: what the files of a made-up host tell, what systemctl prints,
 * and the command lines that each provider runs, by programs of our own on PATH. */
#include "unit/unit.h"

#include "common/host/rootfs.h"
#include "plugins/lib/service/service_api.h"
#include "plugins/lib/service/svcfiles.h"
#include "plugins/lib/service/systemctl.h"
#include "unit/plugins/fakes.h"

extern const plugin_t exec_service_systemd, exec_service_sysv, exec_service_none;

/* ---- a made-up host ---------------------------------------------------------------------------- */

/* A program that writes down how it was called, prints say/WORD and ends with the code in say/WORD.rc; WORD
 * is its first argument without a dash that is not a path. */
static void
add_program(const char *name)
{
    AUTO_FREE char *path = xasprintf("bin/%s", name);
    AUTO_FREE char *text = xasprintf(
        "#!/bin/sh\n"
        "echo \"%s $*\" >> %s/log\n"
        "word=%s\n"
        "for a in \"$@\"; do case $a in -*|/*) ;; *) word=$a; break ;; esac; done\n"
        "[ \"$1\" = --version ] && word=version\n"
        "cd %s/say || exit 99\n"
        "[ -f $word ] && cat $word\n"
        "[ -f $word.err ] && cat $word.err >&2\n"
        "[ -f $word.rc ] && exit $(cat $word.rc)\n"
        "exit 0\n",
        name, fakes_dir, name, fakes_dir);

    fakes_put(path, 0755, text);
}

static void
add_units(void)
{
    fakes_put("root/lib/systemd/system/web.service", 0644,
              "[Unit]\nDescription=A web server\nAfter=network.target \\\n  dbus.service\nAfter=time.target\n"
              "# a note\n[Service]\nExecStart=-/usr/sbin/webd -f\n[Install]\nWantedBy=multi-user.target\n");
    fakes_put("root/lib/systemd/system/off.service", 0644, "[Install]\nWantedBy=multi-user.target\n");
    fakes_put("root/lib/systemd/system/fixed.service", 0644, "[Service]\nExecStart=/bin/true\n");
    fakes_put("root/lib/systemd/system/get@.service", 0644, "[Install]\nWantedBy=getty.target\n");
    fakes_put("root/lib/systemd/system/web.socket", 0644, "[Socket]\n");
    fakes_put("root/lib/systemd/system/notes.txt", 0644, "no unit\n");
    fakes_put("root/etc/systemd/system/own.service", 0644, "[Install]\nAlias=mine.service\n");
    fakes_put("root/lib/systemd/system/also.service", 0644, "[Install]\nAlso=web.socket\n");
    fakes_link("root/etc/systemd/system/mine.service", "/etc/systemd/system/own.service");
    fakes_link("root/lib/systemd/system/other.service", "web.service");
    fakes_link("root/etc/systemd/system/multi-user.target.wants/web.service",
               "/lib/systemd/system/web.service");
    fakes_link("root/etc/systemd/system/getty.target.wants/get@tty1.service",
               "/lib/systemd/system/get@.service");
    fakes_link("root/etc/systemd/system/bad.service", "/dev/null");
    fakes_link("root/run/systemd/system/away.service", "/dev/null");
}

static void
add_scripts(void)
{
    fakes_put("root/etc/init.d/cron", 0755, "#!/bin/sh\n");
    fakes_put("root/etc/init.d/web", 0755, "#!/bin/sh\n");
    fakes_put("root/etc/init.d/idle", 0755, "#!/bin/sh\n");
    fakes_put("root/etc/init.d/README", 0644, "words\n");
    fakes_link("root/etc/rc2.d/S01cron", "../init.d/cron");
    fakes_link("root/etc/rc2.d/K01idle", "../init.d/idle");
    fakes_link("root/etc/rcS.d/S02urandom2", "../init.d/urandom2");
}

static int
set_up(void **state)
{
    static const char *const programs[] = { "systemctl",   "systemd-run", "service",          "update-rc.d",
                                            "invoke-rc.d", "chroot",      "systemd-firstboot" };

    assert_int_equal(fakes_begin(), 0);
    add_units();
    add_scripts();
    fakes_put("say/version", 0644, "systemd 252 (252.39-1~deb12u2)\n+PAM\n");
    for (size_t i = 0; i < NELEMS(programs); i++)
        add_program(programs[i]);
    fakes_put("bin/systemd-run", 0755, "#!/bin/sh\nshift\nexec \"$@\"\n");
    fakes_put("bin/runlevel", 0755, "#!/bin/sh\necho N 2\n");
    fakes_put("root/usr/sbin/update-rc.d", 0755, "#!/bin/sh\n");
    return 0;
}

static char *
host(void)
{
    return fs_join(fakes_dir, "root");
}

/* ---- a call of one provider ----------------------------------------------------------------------- */

static void
check_call(const plugin_t *provider, const char *fun, const char *args, const char *kwargs, const char *want)
{
    fail_auto_t err = FAIL_INIT;
    json_auto_t *value = fakes_call(provider, fun, args, kwargs, &err);

    if (value == NULL)
        fail_msg("%s: %s", fun, fail_text(&err));
    fakes_equal(value, want);
}

static void
check_failure(const plugin_t *provider, const char *fun, const char *args, const char *want)
{
    fail_auto_t err = FAIL_INIT;
    json_auto_t *value = fakes_call(provider, fun, args, "{}", &err);

    assert_null(value);
    if (strstr(fail_text(&err), want) == NULL)
        fail_msg("%s: expected '%s', got '%s'", fun, want, fail_text(&err));
}

/* The last program that ran. */
static void
check_ran(const char *want)
{
    AUTO_FREE char *placed = fakes_placed(want);
    AUTO_FREE char *log = fakes_log();
    const char *text = str_trim(log), *last = strrchr(text, '\n');

    assert_string_equal(last != NULL ? last + 1 : text, placed);
}

/* ---- files ------------------------------------------------------------------------------------------ */

static void
test_units(void **state)
{
    static const struct {
        const char *name, *want;
    } rows[] = {
        { "web", "enabled" },
        { "web.service", "enabled" },
        { "off", "disabled" },
        { "fixed", "static" },
        { "get@", "enabled" },
        { "get@tty1", "enabled" },
        { "get@tty2", "disabled" },
        { "own", "enabled" },
        { "mine", "alias" },
        { "bad", "masked" },
        { "away", "masked-runtime" },
        { "other", "alias" },
        { "web.socket", "static" },
        { "nosuch", NULL },
        { "../x", NULL },
        { "also", "indirect" },
        { "cron", NULL },
        { "", NULL },
    };
    AUTO_FREE char *root = host();
    json_auto_t *all = svc_units(root, NULL);

    fakes_equal(
        all,
        "[\"also\",\"bad\",\"fixed\",\"get@\",\"mine\",\"off\",\"other\",\"own\",\"web\",\"web.socket\"]");
    for (size_t i = 0; i < NELEMS(rows); i++) {
        const char *got;
        assert_int_equal(svc_unit_state(root, rows[i].name, &got, NULL), 0);
        if (!str_eq(got, rows[i].want))
            fail_msg("%s: %s, not %s", rows[i].name, got != NULL ? got : "nothing",
                     rows[i].want != NULL ? rows[i].want : "nothing");
    }
    assert_true(svc_masked(root, "bad", false, NULL));
    assert_false(svc_masked(root, "bad", true, NULL));
    assert_true(svc_masked(root, "away", true, NULL));
    assert_false(svc_masked(root, "web", false, NULL));
}

static void
test_settings(void **state)
{
    AUTO_FREE char *root = host();
    json_auto_t *web = NULL;
    json_t *none;

    assert_int_equal(svc_unit_settings(root, "web", &web, NULL), 0);
    assert_int_equal(svc_unit_settings(root, "nosuch", &none, NULL), 0);

    fakes_equal(web,
                "{\"Id\":\"web.service\",\"FragmentPath\":\"/lib/systemd/system/web.service\","
                "\"LoadState\":\"loaded\",\"UnitFileState\":\"enabled\",\"Description\":\"A web server\","
                "\"After\":[\"network.target\",\"dbus.service\",\"time.target\"],"
                "\"ExecStart\":{\"path\":\"/usr/sbin/webd\",\"argv[]\":\"/usr/sbin/webd -f\","
                "\"ignore_errors\":\"yes\"},\"WantedBy\":\"multi-user.target\"}");
    assert_null(none);
}

static void
test_scripts(void **state)
{
    AUTO_FREE char *root = host();
    json_auto_t *hide = json_pack("[s]", "web");
    json_auto_t *scripts = svc_scripts(root, hide, NULL);
    json_auto_t *enabled = svc_scripts_enabled(root, '2', NULL);

    fakes_equal(scripts, "[\"cron\",\"idle\"]");
    fakes_equal(enabled, "[\"cron\",\"urandom2\"]");
    assert_true(svc_script_enabled(root, '2', "cron", NULL));
    assert_false(svc_script_enabled(root, '2', "idle", NULL));
    assert_false(svc_script_enabled(root, '3', "cron", NULL));
    assert_false(svc_is_script(root, "README", NULL));
    assert_false(svc_is_script(root, "../init.d/cron", NULL));
}

/* Where a path of the host is a link to itself, nobody can say what it holds. */
static void
test_unreadable(void **state)
{
    static const struct {
        const char *path;
        bool all, unit, script, masked;
    } rows[] = {
        { "/etc/init.d", .all = true, .script = true },
        { "/etc/rc2.d", .script = true },
        { "/etc/inittab", .script = true },
        { "/usr/lib", .all = true, .script = true },
        { "/etc/systemd", .all = true, .unit = true, .script = true, .masked = true },
        { "/etc/systemd/system/x.target.wants", .unit = true },
        { "/lib/systemd/system/off.service", .unit = true },
    };

    for (size_t i = 0; i < NELEMS(rows); i++) {
        AUTO_FREE char *root = xasprintf("%s/loops", fakes_dir);
        AUTO_FREE char *path = root_path(root, rows[i].path);
        const char *is;
        fakes_put("loops/lib/systemd/system/off.service", 0644, "[Install]\nWantedBy=x.target\n");
        fakes_put("loops/etc/init.d/cron", 0755, "#!/bin/sh\n");
        assert_int_equal(fs_remove_tree(path, NULL), 0);
        assert_int_equal(fs_own_parent(path, NULL), 0);
        assert_int_equal(symlink(path, path), 0);

        json_auto_t *all = svc_all(root, NULL);
        assert_int_equal(all == NULL, rows[i].all);
        assert_int_equal(svc_unit_state(root, "off", &is, NULL), rows[i].unit ? -ELOOP : 0);
        assert_int_equal(svc_masked(root, "off", false, NULL), rows[i].masked ? -ELOOP : 0);
        json_auto_t *enabled = svc_scripts_enabled(root, svc_default_runlevel(root, NULL), NULL);
        bool script = enabled == NULL || svc_is_script_only(root, "cron", NULL) < 0;
        assert_int_equal(script, rows[i].script);
        assert_int_equal(fs_remove_tree(root, NULL), 0);
    }
}

static void
test_unreadable_call(void **state)
{
    static const struct {
        const plugin_t *plugin;
        const char *fun, *args;
    } rows[] = {
        { &exec_service_none, "service.get_all", "[]" },
        { &exec_service_none, "service.get_enabled", "[]" },
        { &exec_service_none, "service.enabled", "[\"cron\"]" },
        { &exec_service_none, "service.disabled", "[\"cron\"]" },
        { &exec_service_none, "service.enable", "[\"cron\"]" },
        { &exec_service_none, "service.disable", "[\"cron\"]" },
        { &exec_service_sysv, "service.get_all", "[]" },
        { &exec_service_sysv, "service.get_disabled", "[]" },
        { &exec_service_systemd, "service.get_all", "[]" },
        { &exec_service_systemd, "service.get_enabled", "[]" },
    };
    AUTO_FREE char *root = host();
    AUTO_FREE char *scripts = root_path(root, "/etc/init.d");
    AUTO_FREE char *want = xasprintf("%s: Too many levels of symbolic links; check the links in the path",
                                     scripts);

    assert_int_equal(fs_remove_tree(scripts, NULL), 0);
    assert_int_equal(symlink(scripts, scripts), 0);
    for (size_t i = 0; i < NELEMS(rows); i++) {
        fail_auto_t err = FAIL_INIT;
        json_auto_t *value = fakes_call(rows[i].plugin, rows[i].fun, rows[i].args, "{\"root\": \"{root}\"}",
                                        &err);
        assert_null(value);
        /* A script's path goes on behind the folder's. */
        if (strstr(fail_text(&err), scripts) == NULL || strstr(fail_text(&err), strchr(want, ':')) == NULL)
            fail_msg("row %zu, %s: %s", i, rows[i].fun, fail_text(&err));
    }
}

static void
test_runlevel(void **state)
{
    AUTO_FREE char *root = host();

    assert_int_equal(svc_default_runlevel(root, NULL), '2');
    fakes_put("root/etc/init/rc-sysinit.conf", 0644, "# x\nenv DEFAULT_RUNLEVEL=4\n");
    assert_int_equal(svc_default_runlevel(root, NULL), '4');
    fakes_put("root/etc/inittab", 0644, "#id:5:initdefault:\nid:3:initdefault:\n");
    assert_int_equal(svc_default_runlevel(root, NULL), '3');
    assert_int_equal(svc_runlevel(root, NULL), '3');
    assert_int_equal(svc_runlevel(NULL, NULL), '2');
}

static void
test_init(void **state)
{
    AUTO_FREE char *root = host();
    AUTO_FREE char *run = fs_join(root, "run/systemd/system");

    fakes_put("root/proc/1/comm", 0644, "bash\n");
    assert_int_equal(svc_init(root, NULL), SVC_SYSTEMD);
    assert_int_equal(fs_remove_tree(run, NULL), 0);
    assert_int_equal(svc_init(root, NULL), SVC_NONE);
    fakes_put("root/proc/1/comm", 0644, "init\n");
    AUTO_FREE char *name = svc_init_name(root);
    assert_int_equal(svc_init(root, NULL), SVC_SYSV);
    assert_string_equal(name, "init");
}

/* A file that decides which init runs and leads in a circle. */
static void
check_untold(const char *root, const char *file)
{
    AUTO_FREE char *path = fs_join(root, file);
    fail_auto_t err = FAIL_INIT;

    assert_int_equal(fs_remove_tree(path, NULL), 0);
    assert_int_equal(symlink(path, path), 0);
    assert_int_equal(svc_init(root, &err), -ELOOP);
    assert_non_null(strstr(fail_text(&err), path));
    assert_int_equal(unlink(path), 0);
}

static void
test_init_that_nobody_can_tell(void **state)
{
    AUTO_FREE char *root = host();

    fakes_put("root/proc/1/comm", 0644, "init\n");
    check_untold(root, "run/systemd/system");
    assert_int_equal(svc_init(root, NULL), SVC_SYSV);
    check_untold(root, "etc/init.d");
    assert_int_equal(svc_init(root, NULL), SVC_NONE);
    check_untold(root, "proc/1/comm");
    assert_int_equal(svc_init(root, NULL), SVC_NONE);
}

static void
test_names(void **state)
{
    static const char *const units[][2] = { { "nginx", "nginx.service" },
                                            { "nginx.socket", "nginx.socket" },
                                            { "my.app", "my.app.service" },
                                            { "myservice", "myservice.service" },
                                            { "a@b", "a@b.service" } };
    static const char *const globs[] = { "a*", "?", "x[ab]" }, *const plain[] = { "a", "a[]", "[", "a]b" };

    for (size_t i = 0; i < NELEMS(units); i++) {
        AUTO_FREE char *unit = svc_unit(units[i][0]);
        assert_string_equal(unit, units[i][1]);
    }
    for (size_t i = 0; i < NELEMS(globs); i++)
        assert_true(svc_has_glob(globs[i]));
    for (size_t i = 0; i < NELEMS(plain); i++)
        assert_false(svc_has_glob(plain[i]));
    assert_null(svc_unit_name("notes.txt"));
}

/* ---- what systemctl prints -------------------------------------------------------------------- */

#define UNIT_FILES                                                                                           \
    "apt-daily.service                      static          -\n"                                             \
    "autovt@.service                        alias           -\n"                                             \
    "cron.service                           enabled         enabled\n"                                       \
    "dbus.socket                            static          -\n"                                             \
    "getty@.service                         enabled         enabled\n"                                       \
    "ssh.service                            disabled        enabled\n"                                       \
    "tmp.slice                              enabled         enabled\n"

static void
test_printed(void **state)
{
    json_auto_t *enabled = systemctl_unit_files(UNIT_FILES, "enabled");
    json_auto_t *fixed = systemctl_unit_files(UNIT_FILES, "static");
    json_auto_t *running = systemctl_running("  cron.service     loaded active running Regular program\n"
                                             "\xe2\x97\x8f ssh.service loaded failed failed OpenSSH\n"
                                             "  dbus.socket      loaded active running D-Bus\n"
                                             "  -.mount          loaded active mounted Root Mount\n\n");
    json_auto_t *show = systemctl_properties(
        "Type=simple\nExecStart={ path=/usr/sbin/cron ; argv[]=/usr/sbin/cron -f $OPTS ; ignore_errors=no }\n"
        "After=a.target b.service\nWants=\nDescription=x = y\nBare\n");
    AUTO_FREE char *stripped = systemctl_strip_scope(
        "Running scope as unit: run-1.scope\nFailed to start x.service\n");

    fakes_equal(enabled, "[\"cron\",\"getty@\"]");
    fakes_equal(fixed, "[\"apt-daily\",\"dbus.socket\"]");
    fakes_equal(running, "[\"cron\",\"dbus.socket\"]");
    fakes_equal(
        show,
        "{\"Type\":\"simple\",\"ExecStart\":{\"path\":\"/usr/sbin/cron\",\"argv[]\":\"/usr/sbin/cron -f "
        "$OPTS\",\"ignore_errors\":\"no\"},\"After\":[\"a.target\",\"b.service\"],\"Wants\":[],"
        "\"Description\":\"x = y\",\"Bare\":\"\"}");
    assert_string_equal(stripped, "Failed to start x.service");
}

/* ---- systemd --------------------------------------------------------------------------------- */

static void
test_systemd_acts(void **state)
{
    static const plugin_t *p = &exec_service_systemd;
    static const char *const rows[][4] = {
        { "service.start", "[\"hlt-web\"]", "{}", "systemctl start -- hlt-web.service" },
        { "service.start", "[\"hlt-web.socket\", true]", "{}",
          "systemctl --no-block start -- hlt-web.socket" },
        { "service.stop", "[\"hlt-web\"]", "{\"no_block\": true}",
          "systemctl --no-block stop -- hlt-web.service" },
        { "service.restart", "[\"hlt-web\"]", "{}", "systemctl restart -- hlt-web.service" },
        { "service.reload", "[\"hlt-web\"]", "{}", "systemctl reload -- hlt-web.service" },
        { "service.force_reload", "[\"hlt-web\"]", "{}",
          "systemctl --no-block force-reload -- hlt-web.service" },
        { "service.status", "[\"hlt-web\"]", "{}", "systemctl is-active -- hlt-web.service" },
        { "service.enable", "[\"hlt-web\"]", "{\"root\": \"{root}\", \"runlevel\": 3}",
          "systemctl --root {root} enable -- hlt-web.service" },
        { "service.disable", "[\"hlt-web\"]", "{}", "systemctl disable -- hlt-web.service" },
        { "service.enabled", "[\"hlt-web\"]", "{}", "systemctl is-enabled -- hlt-web.service" },
        { "service.mask", "[\"hlt-web\", true]", "{}", "systemctl mask --runtime -- hlt-web.service" },
        { "service.unmask", "[\"bad\"]", "{\"root\": \"{root}\"}",
          "systemctl --root {root} unmask -- bad.service" },
        { "service.start", "[\"hlt-web\"]", "{\"unmask\": true}", "systemctl start -- hlt-web.service" },
        { "service.systemctl_reload", "[]", "{}", "systemctl --system daemon-reload" },
        { "service.firstboot", "[]", "{\"keymap\": \"jp\", \"machine_id\": \"5\"}",
          "systemd-firstboot --keymap=jp --machine-id=5" },
    };

    for (size_t i = 0; i < NELEMS(rows); i++) {
        check_call(p, rows[i][0], rows[i][1], rows[i][2], "true");
        check_ran(rows[i][3]);
    }
    check_call(p, "service.available", "[\"hlt-web\"]", "{}", "true");
    check_call(p, "service.disabled", "[\"hlt-web\"]", "{}", "false");
    check_call(p, "service.offline", "[]", "{}", "false");
}

/* An alias is another name of its unit, which systemctl enables by its own alone. */
static void
test_alias(void **state)
{
    static const plugin_t *p = &exec_service_systemd;
    AUTO_FREE char *root = host();
    char *unit;

    fakes_link("root/etc/systemd/system/x-web.service", "/lib/systemd/system/web.service");
    fakes_link("root/etc/systemd/system/hlt-linked.service", "/opt/hlt/elsewhere.service");
    check_call(p, "service.enable", "[\"x-web\"]", "{\"root\": \"{root}\"}", "true");
    check_ran("systemctl --root {root} enable -- web.service");
    check_call(p, "service.enabled", "[\"x-web\"]", "{\"root\": \"{root}\"}", "true");
    check_ran("systemctl --root {root} is-enabled -- web.service");
    check_call(p, "service.disable", "[\"x-web\"]", "{\"root\": \"{root}\"}", "true");
    check_ran("systemctl --root {root} disable -- web.service");
    assert_int_equal(svc_real_unit(root, "hlt-linked", &unit, NULL), 0);
    assert_string_equal(unit, "hlt-linked.service");
    free(unit);
}

/* A unit file that systemd has not read in its present form is read first, once. */
static void
test_changed_unit(void **state)
{
    static const plugin_t *p = &exec_service_systemd;

    fakes_put("say/status", 0644,
              "Warning: The unit file changed on disk. Run 'systemctl daemon-reload' to reload units.\n");
    check_call(p, "service.restart", "[\"hlt-web\"]", "{}", "true");
    AUTO_FREE char *log = fakes_log();
    const char *reload = strstr(log, "daemon-reload"), *restart = strstr(log, "restart");
    assert_non_null(reload);
    assert_non_null(restart);
    assert_true(reload < restart);
}

static void
test_systemd_failures(void **state)
{
    static const plugin_t *p = &exec_service_systemd;
    static const char *const codes[] = { "start",      "stop", "is-active",    "disable",
                                         "is-enabled", "mask", "daemon-reload" };

    for (size_t i = 0; i < NELEMS(codes); i++) {
        AUTO_FREE char *path = xasprintf("say/%s.rc", codes[i]);
        fakes_put(path, 0644, "5");
    }
    fakes_put("say/status.rc", 0644, "4");
    fakes_put("say/start.err", 0644, "Running scope as unit: run-7.scope\nUnit hlt-web.service not found.\n");
    fakes_put("say/mask.err", 0644, "no right\n");
    check_failure(p, "service.start", "[\"hlt-web\"]", "Unit hlt-web.service not found.");
    check_failure(p, "service.mask", "[\"hlt-web\"]",
                  "Failed to mask service 'hlt-web'. Additional info follows:\n\nno right");
    check_failure(p, "service.systemctl_reload", "[]", "Problem performing systemctl daemon-reload: ");
    check_call(p, "service.stop", "[\"hlt-web\"]", "{}", "false");
    check_call(p, "service.disable", "[\"hlt-web\"]", "{}", "false");
    check_call(p, "service.status", "[\"hlt-web\"]", "{}", "false");
    check_call(p, "service.available", "[\"hlt-web\"]", "{}", "false");
    check_call(p, "service.missing", "[\"hlt-web\"]", "{}", "true");
    check_call(p, "service.enabled", "[\"hlt-web\"]", "{}", "false");
    check_call(p, "service.status", "[\"hlt-nosuch-*\"]", "{}", "{}");
}

/* An init script without a unit goes by its links. */
static void
test_systemd_lists(void **state)
{
    static const plugin_t *p = &exec_service_systemd;

    fakes_put("say/list-unit-files", 0644, UNIT_FILES);
    fakes_put("say/show", 0644, "ExecStart={ path=/bin/x ; argv[]=/bin/x }\n");
    fakes_put("say/is-enabled.rc", 0644, "1");
    check_call(p, "service.get_enabled", "[]", "{\"root\": \"{root}\"}", "[\"cron\",\"getty@\"]");
    check_call(p, "service.get_disabled", "[]", "{\"root\": \"{root}\"}", "[\"idle\",\"ssh\"]");
    check_call(p, "service.get_static", "[]", "{\"root\": \"{root}\"}", "[\"apt-daily\",\"dbus.socket\"]");
    check_call(
        p, "service.get_all", "[]", "{\"root\": \"{root}\"}",
        "[\"also\",\"bad\",\"cron\",\"fixed\",\"get@\",\"idle\",\"mine\",\"off\",\"other\",\"own\",\"web\","
        "\"web.socket\"]");
    check_call(p, "service.enabled", "[\"cron\"]", "{\"root\": \"{root}\"}", "true");
    check_call(p, "service.enabled", "[\"idle\"]", "{\"root\": \"{root}\"}", "false");
    check_call(p, "service.enable", "[\"idle\"]", "{\"root\": \"{root}\"}", "true");
    check_ran("update-rc.d -f idle defaults");
    check_call(p, "service.show", "[\"hlt-web\"]", "{}",
               "{\"ExecStart\":{\"path\":\"/bin/x\",\"argv[]\":\"/bin/x\"}}");
    check_call(p, "service.execs", "[]", "{\"root\": \"{root}\"}",
               "{\"also\":\"/bin/x\",\"bad\":\"/bin/x\",\"cron\":\"/bin/x\",\"fixed\":\"/bin/x\",\"idle\":\"/"
               "bin/x\",\"mine\":"
               "\"/bin/x\",\"off\":\"/bin/x\",\"other\":\"/bin/x\",\"own\":\"/bin/x\",\"web\":\"/bin/x\","
               "\"web.socket\":\"/bin/x\"}");
}

/* ---- init scripts ---------------------------------------------------------------------------- */

static void
test_sysv(void **state)
{
    static const plugin_t *p = &exec_service_sysv;

    check_call(p, "service.get_all", "[]", "{\"root\": \"{root}\"}",
               "[\"cron\",\"idle\",\"urandom2\",\"web\"]");
    check_call(p, "service.get_enabled", "[]", "{\"root\": \"{root}\"}", "[\"cron\",\"urandom2\"]");
    check_call(p, "service.get_disabled", "[]", "{\"root\": \"{root}\"}", "[\"idle\",\"web\"]");
    check_call(p, "service.enabled", "[\"cron\"]", "{\"root\": \"{root}\"}", "true");
    check_call(p, "service.disabled", "[\"nosuch\"]", "{\"root\": \"{root}\"}", "false");
    check_call(p, "service.get_static", "[]", "{}", "[]");
    check_call(p, "service.start", "[\"cron\"]", "{}", "true");
    check_ran("service cron start");
    check_call(p, "service.force_reload", "[\"cron\"]", "{}", "true");
    check_ran("service cron force-reload");
    check_call(p, "service.run", "[\"cron\", \"initdb\"]", "{}", "true");
    check_ran("service cron initdb");
    fakes_put("say/cron.rc", 0644, "3");
    check_call(p, "service.status", "[\"cron\"]", "{}", "false");
    check_call(p, "service.stop", "[\"cron\"]", "{}", "false");
    check_call(p, "service.enable", "[\"web\"]", "{\"root\": \"{root}\"}", "true");
    check_ran("chroot -- {root} update-rc.d web enable");
    check_call(p, "service.disable", "[\"web\"]", "{}", "true");
    check_ran("update-rc.d web disable");
    fakes_put("say/service", 0644, " [ + ]  cron\n [ - ]  idle\n [ ? ]  web\n");
    check_call(p, "service.get_running", "[]", "{}", "[\"cron\"]");
    check_failure(p, "service.start", "[\"../../bin/sh\"]", "can't be a service");
    check_failure(p, "service.start", "[\"--status-all\"]", "can't be a service");
    check_failure(p, "service.mask", "[\"cron\"]", "service.mask asks systemd, but ");
    check_call(p, "service.masked", "[\"cron\"]", "{}", "false");
}

/* ---- no init --------------------------------------------------------------------------------- */

static void
test_none(void **state)
{
    static const plugin_t *p = &exec_service_none;

    check_call(p, "service.get_enabled", "[]", "{\"root\": \"{root}\"}",
               "[\"cron\",\"get@\",\"own\",\"web\"]");
    check_call(p, "service.get_disabled", "[]", "{\"root\": \"{root}\"}", "[\"idle\",\"off\"]");
    check_call(p, "service.get_static", "[]", "{\"root\": \"{root}\"}", "[\"fixed\",\"web.socket\"]");
    check_call(p, "service.enabled", "[\"web\"]", "{\"root\": \"{root}\"}", "true");
    check_call(p, "service.disabled", "[\"off\"]", "{\"root\": \"{root}\"}", "true");
    check_call(p, "service.masked", "[\"bad\"]", "{\"root\": \"{root}\"}", "true");
    check_call(p, "service.execs", "[]", "{\"root\": \"{root}\"}",
               "{\"fixed\":\"/bin/true\",\"other\":\"/usr/sbin/webd\",\"web\":\"/usr/sbin/webd\"}");
    check_call(p, "service.enable", "[\"off\"]", "{\"root\": \"{root}\"}", "true");
    check_ran("systemctl --root {root} enable -- off.service");
    check_call(p, "service.enable", "[\"idle\"]", "{\"root\": \"{root}\"}", "true");
    check_ran("chroot -- {root} update-rc.d -f idle defaults");
    check_call(p, "service.enable", "[\"bad\"]", "{\"root\": \"{root}\", \"unmask\": true}", "true");
    check_call(p, "service.unmask", "[\"bad\"]", "{\"root\": \"{root}\"}", "true");
    check_ran("systemctl --root {root} unmask -- bad.service");
    check_call(p, "service.offline", "[]", "{}", "true");
    check_call(p, "service.missing", "[\"hlt-nosuch\"]", "{}", "true");
    check_failure(p, "service.start", "[\"../../bin/sh\"]", "can't be a service");
    check_call(p, "service.systemctl_reload", "[]", "{}", "true");
    check_call(p, "service.restart", "[\"cron\"]", "{}", "true");
    check_ran("service cron restart");
    check_call(p, "service.force_reload", "[\"cron\"]", "{}", "true");
    check_ran("service cron force-reload");
    check_call(p, "service.status", "[\"cron\"]", "{}", "true");
    fakes_put("say/hlt-nosuch.rc", 0644, "1");
    check_call(p, "service.start", "[\"hlt-nosuch\"]", "{}", "false");
    check_call(p, "service.status", "[\"hlt-nosuch\"]", "{}", "false");
    /* Without the program that runs scripts, systemctl says what it did; without both nothing can. */
    AUTO_FREE char *scripts = fs_join(fakes_dir, "bin/service"), *units = fs_join(fakes_dir, "bin/systemctl"),
                   *path = fs_join(fakes_dir, "bin"), *before = xstrdup(getenv("PATH"));
    fakes_put("bin/cat", 0755, "#!/bin/sh\nexec /bin/cat \"$@\"\n");
    assert_int_equal(unlink(scripts), 0);
    assert_int_equal(setenv("PATH", path, 1), 0);
    check_call(p, "service.stop", "[\"web\"]", "{}", "true");
    check_ran("systemctl stop -- web.service");
    check_call(p, "service.status", "[\"web\"]", "{}", "true");
    fakes_put("say/is-active.rc", 0644, "3");
    check_call(p, "service.status", "[\"web\"]", "{}", "false");
    assert_int_equal(unlink(units), 0);
    check_failure(p, "service.start", "[\"web\"]", "web: no service manager runs here (process 1");
    check_failure(p, "service.status", "[\"web\"]", "Boot this host");
    assert_int_equal(setenv("PATH", before, 1), 0);
    check_failure(p, "service.get_running", "[]", "no service manager runs here");
    check_failure(p, "service.show", "[\"hlt-nosuch\"]", "no unit file");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, fakes_end)
UNIT_MAIN(TEST(test_units), TEST(test_settings), TEST(test_scripts), TEST(test_unreadable),
          TEST(test_unreadable_call), TEST(test_runlevel), TEST(test_init),
          TEST(test_init_that_nobody_can_tell), TEST(test_names), TEST(test_printed), TEST(test_systemd_acts),
          TEST(test_alias), TEST(test_changed_unit), TEST(test_systemd_failures), TEST(test_systemd_lists),
          TEST(test_sysv), TEST(test_none))
