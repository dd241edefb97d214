/* test_conf.c - defaults, files in their order, what is refused and how it is said, ids, samples. */
#include <dirent.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/conf/conf.h"
#include "common/data/yaml.h"
#include "salt/limits.h"
#include "salt/value.h"
#include "unit/unit.h"

typedef struct stage {
    char dir[64];
    json_t *warnings;
    conf_t *conf;
    fail_t err;
} stage_t;

static int
setup(void **state)
{
    stage_t *s = xcalloc(1, sizeof(*s));

    str_copy(s->dir, sizeof(s->dir), "/tmp/halite-conf-XXXXXX");
    s->warnings = json_array();
    *state = s;
    return mkdtemp(s->dir) == NULL;
}

static int
teardown(void **state)
{
    stage_t *s = *state;
    int rc = fs_remove_tree(s->dir, NULL);

    conf_destroy(&s->conf);
    json_decref(s->warnings);
    fail_clear(&s->err);
    free(s);
    return rc;
}

static void
put(stage_t *s, const char *name, const char *text)
{
    AUTO_FREE char *path = fs_join(s->dir, name);
    AUTO_FREE char *folder = xstrdup(path);

    *strrchr(folder, '/') = '\0';
    assert_int_equal(fs_mkdirs(folder, 0755, NULL), 0);
    assert_int_equal(fs_write_quick(path, text, strlen(text), 0644, NULL), 0);
}

static conf_t *
load_with(stage_t *s, conf_side_t side, const json_t *overrides)
{
    conf_destroy(&s->conf);
    fail_clear(&s->err);
    json_array_clear(s->warnings);
    s->conf = conf_load(s->dir, side, overrides, s->warnings, &s->err);
    return s->conf;
}

static conf_t *
load(stage_t *s, conf_side_t side)
{
    conf_t *conf = load_with(s, side, NULL);

    if (conf == NULL)
        fail_msg("%s", fail_text(&s->err));
    return conf;
}

static conf_t *
load_text(stage_t *s, conf_side_t side, const char *text)
{
    put(s, side == CONF_MASTER ? "master" : "minion", text);
    put(s, "minion_id", "unit\n");
    return load(s, side);
}

static void
assert_json(const json_t *got, const char *want)
{
    AUTO_FREE char *text = value_dump(got);

    assert_string_equal(text, want);
}

static void
assert_warning(const stage_t *s, const char *part)
{
    size_t i;
    json_t *w;

    json_array_foreach (s->warnings, i, w) {
        if (strstr(json_string_value(w), part) != NULL)
            return;
    }
    fail_msg("no warning has '%s' among %zu", part, json_array_size(s->warnings));
}

/* ---- defaults -------------------------------------------------------------------------------- */

static void
test_defaults_master(void **state)
{
    conf_t *conf = load(*state, CONF_MASTER);

    assert_int_equal(conf_int(conf, "publish_port"), 4505);
    assert_int_equal(conf_int(conf, "ret_port"), 4506);
    assert_int_equal(conf_int(conf, "hello_port"), 4507);
    assert_int_equal(conf_int(conf, "keep_jobs_seconds"), 86400);
    assert_string_equal(conf_str(conf, "interface"), "0.0.0.0");
    assert_string_equal(conf_str(conf, "pki_dir"), "/etc/salt/pki/master");
    assert_string_equal(conf_str(conf, "cachedir"), "/var/cache/salt/master");
    assert_string_equal(conf_str(conf, "extension_modules"), "/var/cache/salt/master/extmods");
    assert_string_equal(conf_str(conf, "log_file"), "/var/log/salt/master");
    assert_string_equal(conf_str(conf, "log_level"), "warning");
    assert_string_equal(conf_str(conf, "no such option"), "");
    assert_string_equal(conf_str(conf, "__role"), "master");
    assert_false(conf_bool(conf, "auto_accept"));
    assert_true(conf_bool(conf, "client_acl_verify"));
    assert_json(conf_get(conf, "file_roots"), "{\"base\":[\"/srv/salt\"]}");
    assert_null(conf_get(conf, "master"));
    assert_true(str_ends(conf_str(conf, "id"), "_master"));
    assert_int_equal(json_array_size(((stage_t *) *state)->warnings), 0);
}

static void
test_defaults_minion(void **state)
{
    stage_t *s = *state;
    conf_t *conf = load_text(s, CONF_MINION, "");
    AUTO_FREE char *file = fs_join(s->dir, "minion");

    assert_string_equal(conf_str(conf, "master"), "salt");
    assert_int_equal(conf_int(conf, "master_port"), 4506);
    assert_true(conf_float(conf, "acceptance_wait_time") == 10.0);
    assert_string_equal(conf_str(conf, "pki_dir"), "/etc/salt/pki/minion");
    assert_string_equal(conf_str(conf, "conf_file"), file);
    assert_string_equal(conf_str(conf, "config_dir"), s->dir);
    assert_string_equal(conf_str(conf, "id"), "unit");
    assert_null(conf_get(conf, "ret_port"));
    assert_null(conf_get(conf, "output"));
}

static void
check_rows(conf_side_t side)
{
    size_t n;
    const option_row_t *rows = conf_rows(&n);

    for (size_t i = 0; i < n; i++) {
        const option_row_t *row = &rows[i];
        json_auto_t *v = *row->dflt != '\0' ? json_loads(row->dflt, JSON_DECODE_ANY, NULL) : json_null();
        if (v == NULL)
            fail_msg("%s: the default is not JSON: %s", row->name, row->dflt);
        assert_true(strlen(row->help) > 3);
        assert_true(row->min <= row->max);
        for (size_t k = 0; k < i; k++) {
            if (str_eq(rows[k].name, row->name) && (rows[k].side & row->side & side) != 0)
                fail_msg("%s has two rows for one side", row->name);
        }
    }
}

static void
test_rows(void **state)
{
    check_rows(CONF_MASTER);
    check_rows(CONF_MINION);
}

/* Every default passes the check it stands for: set explicitly, it changes nothing. */
static void
check_defaults_legal(stage_t *s, conf_side_t side)
{
    json_auto_t *said = json_object();
    size_t n;
    const option_row_t *rows = conf_rows(&n);

    put(s, "minion_id", "unit\n");
    json_auto_t *before = json_deep_copy(conf_opts(load(s, side)));
    for (size_t i = 0; i < n; i++) {
        if ((rows[i].side & side) != 0 && *rows[i].dflt != '\0')
            json_object_set_new(said, rows[i].name, json_loads(rows[i].dflt, JSON_DECODE_ANY, NULL));
    }
    if (load_with(s, side, said) == NULL)
        fail_msg("%s", fail_text(&s->err));
    assert_true(json_equal(before, conf_opts(s->conf)));
}

static void
test_defaults_are_legal(void **state)
{
    check_defaults_legal(*state, CONF_MASTER);
    check_defaults_legal(*state, CONF_MINION);
}

/* ---- files ----------------------------------------------------------------------------------- */

static void
test_missing_folder(void **state)
{
    fail_auto_t err = FAIL_INIT;
    AUTO(conf) conf = conf_load("/nonexistent/halite", CONF_MASTER, NULL, NULL, &err);

    assert_non_null(conf);
    assert_int_equal(conf_int(conf, "publish_port"), 4505);
}

static void
test_conversions(void **state)
{
    conf_t *conf = load_text(
        *state, CONF_MINION,
        "user: 1000\nmaster_port: '4507'\nacceptance_wait_time: '2.5'\ndisable_grains: cmd\n"
        "start_event_grains: [1, a]\nlog_level: DEBUG\nhash_type: SHA512\nid: 17\ngrains:\n"
        "log_level_logfile:\n");

    assert_string_equal(conf_str(conf, "user"), "1000");
    assert_int_equal(conf_int(conf, "master_port"), 4507);
    assert_true(conf_float(conf, "acceptance_wait_time") == 2.5);
    assert_int_equal(conf_int(conf, "acceptance_wait_time"), 2);
    assert_json(conf_get(conf, "disable_grains"), "[\"cmd\"]");
    assert_json(conf_get(conf, "start_event_grains"), "[\"1\",\"a\"]");
    assert_string_equal(conf_str(conf, "log_level"), "debug");
    assert_string_equal(conf_str(conf, "hash_type"), "sha512");
    assert_string_equal(conf_str(conf, "id"), "17");
    assert_json(conf_get(conf, "grains"), "{}");
    assert_json(conf_get(conf, "log_level_logfile"), "null");
}

static void
test_default_include(void **state)
{
    stage_t *s = *state;

    put(s, "master.d/10-a.conf",
        "timeout: 10\npeer:\n  a: [x]\next_pillar:\n  - one: [a]\nnodegroups:\n  web: 'web*'\n");
    put(s, "master.d/20-b.conf", "timeout: 20\npeer:\n  b: [y]\next_pillar:\n  - two: [b]\n");
    put(s, "master.d/ignored.txt", "timeout: 99\n");
    conf_t *conf = load_text(s, CONF_MASTER, "timeout: 7\nshow_jid: true\npeer:\n  main: [z]\n");

    assert_int_equal(conf_int(conf, "timeout"), 20);
    assert_true(conf_bool(conf, "show_jid"));
    /* The included files add up among themselves; the main file's mapping is replaced. */
    assert_json(conf_get(conf, "peer"), "{\"a\":[\"x\"],\"b\":[\"y\"]}");
    assert_json(conf_get(conf, "ext_pillar"), "[{\"one\":[\"a\"]},{\"two\":[\"b\"]}]");
    assert_json(conf_get(conf, "nodegroups"), "{\"web\":\"web*\"}");
}

static void
test_include(void **state)
{
    stage_t *s = *state;

    put(s, "minion.d/a.conf", "master: from-d\nmaster_port: 1\n");
    put(s, "extra/x.conf", "master: from-include\ninclude: deeper.conf\n");
    put(s, "extra/deeper.conf", "acceptance_wait_time: 1\n");
    conf_t *conf = load_text(s, CONF_MINION, "include:\n  - extra/x*.conf\n  - none/*.conf\nmaster: main\n");

    assert_string_equal(conf_str(conf, "master"), "from-include");
    assert_int_equal(conf_int(conf, "master_port"), 1);
    assert_int_equal(conf_float(conf, "acceptance_wait_time"), 1);
    assert_warning(s, "none/*.conf' matches no file");
}

static void
test_include_circle(void **state)
{
    stage_t *s = *state;

    put(s, "a.conf", "include: b.conf\n");
    put(s, "b.conf", "include: a.conf\n");
    put(s, "master", "include: a.conf\n");
    assert_null(load_with(s, CONF_MASTER, NULL));
    assert_non_null(strstr(fail_text(&s->err), "is there a circle?"));
}

static void
test_own_default_include(void **state)
{
    stage_t *s = *state;

    put(s, "other.d/x.conf", "timeout: 3\n");
    put(s, "master.d/x.conf", "timeout: 4\n");
    assert_int_equal(conf_int(load_text(s, CONF_MASTER, "default_include: other.d/*.conf\n"), "timeout"), 3);
}

static conf_t *
load_as_somebody(stage_t *s)
{
    assert_int_equal(seteuid(65534), 0);
    conf_t *conf = load_with(s, CONF_MASTER, NULL);
    assert_int_equal(seteuid(0), 0);
    return conf;
}

/* Files that nobody could look for are not files that are not there. */
static void
test_folder_out_of_reach(void **state)
{
    stage_t *s = *state;
    AUTO_FREE char *folder = fs_join(s->dir, "master.d"), *file = fs_join(folder, "x.conf");
    AUTO_FREE char *include = xasprintf("default_include: none.d/*.conf\ninclude: %s\n", file);
    AUTO_FREE char *roots = xasprintf("default_include: none.d/*.conf\nfile_roots: {base: ['%s/*']}\n",
                                      folder);
    AUTO_FREE char *want = xasprintf("cannot look into %s: Permission denied", folder);

    if (geteuid() != 0)
        skip();
    put(s, "master.d/x.conf", "timeout: 9\n");
    assert_int_equal(chmod(folder, 0700), 0);
    assert_int_equal(chmod(s->dir, 0755), 0);
    assert_int_equal(conf_int(load(s, CONF_MASTER), "timeout"), 9);
    assert_null(load_as_somebody(s));
    assert_true(str_starts(fail_text(&s->err), want));
    put(s, "master", include);
    assert_null(load_as_somebody(s));
    assert_non_null(strstr(fail_text(&s->err), file));
    /* Roots may be for others to read, but that is told. */
    put(s, "master", roots);
    assert_non_null(load_as_somebody(s));
    assert_warning(s, folder);
}

static void
test_no_descriptor_left(void **state)
{
    stage_t *s = *state;
    struct rlimit was, none;

    put(s, "master.d/x.conf", "timeout: 9\n");
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
    none = (struct rlimit){ 3, was.rlim_max };
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    conf_t *conf = load_with(s, CONF_MASTER, NULL);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
    assert_null(conf);
    assert_non_null(strstr(fail_text(&s->err), "master.d"));
}

static void
test_error_names_the_included_file(void **state)
{
    stage_t *s = *state;

    put(s, "master.d/ports.conf", "# ports\nret_port: many\n");
    assert_null(load_with(s, CONF_MASTER, NULL));
    AUTO_FREE char *want = xasprintf(
        "%s/master.d/ports.conf, line 2: option 'ret_port' wants a whole number, not the "
        "text 'many'",
        s->dir);
    assert_string_equal(fail_text(&s->err), want);
}

static void
test_overrides(void **state)
{
    stage_t *s = *state;
    json_auto_t *over = json_pack("{s:s, s:s}", "log_level", "error", "timeout", "9");
    json_auto_t *bad = json_pack("{s:s}", "timeout", "x");

    put(s, "master", "log_level: debug\ntimeout: 1\n");
    assert_non_null(load_with(s, CONF_MASTER, over));
    assert_string_equal(conf_str(s->conf, "log_level"), "error");
    assert_int_equal(conf_int(s->conf, "timeout"), 9);
    assert_null(load_with(s, CONF_MASTER, bad));
    assert_true(str_starts(fail_text(&s->err), "the command line: option 'timeout'"));
}

static void
test_unknown_options(void **state)
{
    stage_t *s = *state;
    conf_t *conf = load_text(s, CONF_MASTER, "\ntimout: 5\nzzzzzzzzzzzz: 1\nmysql.host: db\nmaster: x\n");

    assert_int_equal(json_array_size(s->warnings), 2);
    assert_warning(s, "master, line 2: unknown option 'timout'; is 'timeout' meant?");
    assert_warning(s, "master, line 3: unknown option 'zzzzzzzzzzzz'");
    assert_string_equal(conf_str(conf, "mysql.host"), "db");
    assert_int_equal(conf_int(conf, "timout"), 5);
}

/* Settings that a module reads by a name without a dot are known. */
static void
test_options_of_modules(void **state)
{
    load_text(
        *state, CONF_MINION,
        "x509_signing_policies: {www: [{CN: x}]}\nvenv_bin: virtualenv\ndocker-registries: {hub: {username: u}}\n"
        "hub-docker-registries: {}\nelasticsearch: {host: x}\nsplunk_http_forwarder: {token: x}\n");
    assert_int_equal(json_array_size(((stage_t *) *state)->warnings), 0);
}

static void
assert_note(const conf_t *conf, const char *part)
{
    AUTO_FREE char *text = value_dump(conf_notes(conf));

    if (strstr(text, part) == NULL)
        fail_msg("no note has '%s': %s", part, text);
}

/* A profile of sdb has a name of the user's choice, also one that is nearly an option's. */
static void
test_profiles_of_sdb(void **state)
{
    stage_t *s = *state;
    conf_t *conf = load_text(s, CONF_MASTER,
                             "secrets: {driver: env}\npeer_dat: {driver: yaml, files: [/srv/x]}\n");

    assert_int_equal(json_array_size(s->warnings), 0);
    assert_string_equal(value_str(conf_get(conf, "secrets"), "driver", ""), "env");
    (void) load_text(s, CONF_MINION, "secrets: {drivers: env}\nothers: {driver: 5}\n");
    assert_warning(s, "minion, line 1: unknown option 'secrets'");
    assert_warning(s, "minion, line 2: unknown option 'others'");
}

/* Who asks no store has the defaults of our own options, and the text of those of modules. Who asks fails without
 * the program that does, and says for which value. */
static void
test_addresses_of_sdb(void **state)
{
    stage_t *s = *state;
    fail_auto_t err = FAIL_INIT;
    conf_t *conf = load_text(s, CONF_MASTER,
                             "store: {driver: env}\npublisher_acl: {ann: [{'web*': [sdb://store/funs]}]}\n"
                             "log_datefmt: sdb://store/form\nmysql.pass: sdb://store/word\n");

    assert_int_equal(json_array_size(s->warnings), 0);
    assert_int_equal(json_object_size(conf_get(conf, "publisher_acl")), 0);
    assert_string_equal(conf_str(conf, "log_datefmt"), "%H:%M:%S");
    assert_string_equal(conf_str(conf, "mysql.pass"), "sdb://store/word");
    assert_null(conf_load_whole(s->dir, CONF_MASTER, NULL, 1000, NULL, &err));
    assert_non_null(strstr(fail_text(&err), "master, line 2: option 'publisher_acl': there is no value from "
                                            "sdb://store/funs: the program salt-engine"));
}

/* What Salt would do and Halite does not is a warning; what is only about Salt's own machinery is a note;
 * what is set to its default, or to nothing, is neither. */
static void
test_options_without_effect(void **state)
{
    stage_t *s = *state;
    conf_t *conf = load_text(s, CONF_MASTER,
                             "fips_mode: True\nmax_minions: 5\nqueue_dirs: []\nmaster_roots:\n"
                             "cache: localfs\njob_cache: True\nrunner_returns: False\n"
                             "zmq_backlog: 5000\nworker_threads: 5\nsock_pool_size: 1\n");

    assert_int_equal(json_array_size(s->warnings), 3);
    assert_warning(s, "master, line 1: option 'fips_mode' has no effect in Halite: its cryptography");
    assert_warning(s, "master, line 2: option 'max_minions' has no effect in Halite: ");
    assert_warning(s, "master, line 7: option 'runner_returns' has no effect in Halite: runners always");
    assert_int_equal(json_array_size(conf_notes(conf)), 1);
    assert_note(conf, "master, line 8: option 'zmq_backlog' has no effect in Halite");
    assert_int_equal(conf_int(conf, "zmq_backlog"), 5000);
    conf = load_text(s, CONF_MINION,
                     "snapper_states: True\nschedule: {}\nmultiprocessing: False\nmax_minions: 5\n");
    assert_int_equal(json_array_size(s->warnings), 1);
    assert_warning(s, "minion, line 1: option 'snapper_states' has no effect in Halite: ");
    assert_note(conf, "minion, line 3: option 'multiprocessing'");
}

/* What nobody reads is no reason not to start. */
static void
test_wrong_value_without_effect(void **state)
{
    stage_t *s = *state;

    load_text(s, CONF_MASTER, "worker_threads: many\n");
    assert_int_equal(json_array_size(s->warnings), 1);
    assert_warning(
        s, "line 1: option 'worker_threads' wants a whole number, not the text 'many'; it has no effect");
}

static void
test_closed_sets(void **state)
{
    conf_t *conf = load_text(
        *state, CONF_MINION,
        "file_client: Local\nstartup_states: ''\nbackup_mode: no\nrenderer: ' jinja x=1 | yaml'\n"
        "hash_type: SHA512\nrenderer_blacklist: mako\ndecrypt_pillar_renderers: [gpg, jinja|gpg]\n"
        "state_queue: 3\nmine_functions: [test.ping]\n");

    assert_string_equal(conf_str(conf, "file_client"), "local");
    assert_string_equal(conf_str(conf, "startup_states"), "");
    assert_string_equal(conf_str(conf, "backup_mode"), "");
    assert_string_equal(conf_str(conf, "hash_type"), "sha512");
    assert_json(conf_get(conf, "renderer_blacklist"), "[\"mako\"]");
    assert_json(conf_get(conf, "decrypt_pillar_renderers"), "[\"gpg\",\"jinja|gpg\"]");
    assert_int_equal(conf_int(conf, "state_queue"), 3);
    conf = load_text(
        *state, CONF_MASTER,
        "renderer: yaml_jinja\nbatch: 12.5%\nhello_port: 0\nret_port: 4600\npublish_port: 4601\n");
    assert_string_equal(conf_str(conf, "renderer"), "yaml_jinja");
    assert_string_equal(conf_str(conf, "batch"), "12.5%");
}

/* tests/cases/bad/conf_NAME.SIDE: the first line says what the error must contain. */
static void
check_bad(stage_t *s, const char *name)
{
    AUTO_FREE char *path = xasprintf("%s/tests/cases/bad/%s", TEST_SOURCE_DIR, name);
    buf_auto_t text = BUF_INIT;
    conf_side_t side = str_ends(name, ".master") ? CONF_MASTER : CONF_MINION;
    static const char mark[] = "# expect: ";

    assert_int_equal(fs_read(path, LIMIT_CONF_FILE, &text, NULL), 0);
    assert_true(str_starts(buf_str(&text), mark));
    AUTO_FREE char *want = xstrndup(text.data + strlen(mark), strcspn(text.data, "\n") - strlen(mark));
    put(s, side == CONF_MASTER ? "master" : "minion", buf_str(&text));
    if (load_with(s, side, NULL) != NULL)
        fail_msg("%s: loaded", name);
    if (strstr(fail_text(&s->err), want) == NULL)
        fail_msg("%s: expected '%s', got: %s", name, want, fail_text(&s->err));
    assert_int_equal(s->err.code, -EINVAL);
}

static void
test_bad_files(void **state)
{
    DIR *dir = opendir(TEST_SOURCE_DIR "/tests/cases/bad");
    const struct dirent *entry;
    size_t n = 0;

    assert_non_null(dir);
    while ((entry = readdir(dir)) != NULL) {
        if (!str_starts(entry->d_name, "conf_"))
            continue;
        check_bad(*state, entry->d_name);
        n++;
    }
    closedir(dir);
    assert_true(n > 20);
}

/* ---- options that depend on others ----------------------------------------------------------- */

static void
test_root_dir(void **state)
{
    conf_t *conf = load_text(
        *state, CONF_MASTER,
        "root_dir: /opt//stage/./x/../\ncachedir: /opt/stage/cache\naudit_log: logs/m\n"
        "log_file: udp://loghost:514/LOG_USER\nautosign_file: /etc/salt/autosign.conf\n");

    assert_string_equal(conf_str(conf, "root_dir"), "/opt/stage");
    assert_string_equal(conf_str(conf, "pki_dir"), "/opt/stage/etc/salt/pki/master");
    assert_string_equal(conf_str(conf, "cachedir"), "/opt/stage/cache");
    assert_string_equal(conf_str(conf, "audit_log"), "/opt/stage/logs/m");
    assert_string_equal(conf_str(conf, "log_file"), "udp://loghost:514/LOG_USER");
    assert_string_equal(conf_str(conf, "autosign_file"), "/opt/stage/etc/salt/autosign.conf");
    assert_string_equal(conf_str(conf, "autoreject_file"), "");
    assert_string_equal(conf_str(conf, "extension_modules"), "/opt/stage/cache/extmods");
}

static void
test_relative_path(void **state)
{
    conf_t *conf = load_text(*state, CONF_MINION, "cachedir: var/cache\nextension_modules: /ext\n");

    assert_string_equal(conf_str(conf, "cachedir"), "/var/cache");
    assert_string_equal(conf_str(conf, "extension_modules"), "/ext");
}

static void
test_long_socket_folder(void **state)
{
    conf_t *conf = load_text(*state, CONF_MASTER,
                             "cachedir: /c\nsock_dir: /a/rather/long/folder/for/a/socket\n");

    assert_string_equal(conf_str(conf, "sock_dir"), "/c/.salt-unix");
}

static void
test_former_names(void **state)
{
    stage_t *s = *state;
    conf_t *conf = load_text(s, CONF_MASTER, "environment: dev\nkeep_jobs: 2\n");

    assert_string_equal(conf_str(conf, "saltenv"), "dev");
    assert_int_equal(conf_int(conf, "keep_jobs_seconds"), 7200);
    assert_warning(s, "option 'environment' is called 'saltenv' now");
    conf = load_text(s, CONF_MASTER, "environment: dev\nsaltenv: prod\nkeep_jobs: 2\nkeep_jobs_seconds: 5\n");
    assert_string_equal(conf_str(conf, "saltenv"), "prod");
    assert_string_equal(conf_str(conf, "environment"), "prod");
    assert_int_equal(conf_int(conf, "keep_jobs_seconds"), 5);
    assert_warning(s, "option 'environment' is ignored");
    conf = load_text(s, CONF_MINION, "keep_jobs: 44444444444444444\n"); /* the master's */
    assert_null(conf_get(conf, "keep_jobs_seconds"));
}

static void
test_lists_repacked(void **state)
{
    conf_t *conf = load_text(*state, CONF_MASTER,
                             "nodegroups:\n  - web: 'web*'\n  - db: [G@role:db, or, db1]\n"
                             "fileserver_backend: [roots, git]\n");

    assert_json(conf_get(conf, "nodegroups"), "{\"web\":\"web*\",\"db\":[\"G@role:db\",\"or\",\"db1\"]}");
    assert_json(conf_get(conf, "fileserver_backend"), "[\"roots\",\"gitfs\"]");
}

static void
test_empty_nodegroups(void **state)
{
    assert_json(conf_get(load_text(*state, CONF_MASTER, "nodegroups:\n"), "nodegroups"), "{}");
}

static void
test_roots(void **state)
{
    stage_t *s = *state;

    put(s, "formulas/b/init.sls", "");
    put(s, "formulas/a/init.sls", "");
    AUTO_FREE char *text = xasprintf(
        "file_roots:\n  base: [/srv/salt, '%s/formulas/*']\n  dev: /srv/dev\n  1: [/one]\n"
        "  none:\n",
        s->dir);
    AUTO_FREE char *want = xasprintf("{\"base\":[\"/srv/salt\",\"%s/formulas/a\",\"%s/formulas/b\"],\"dev\":["
                                     "\"/srv/dev\"],\"1\":[\"/one\"],\"none\":[]}",
                                     s->dir, s->dir);
    assert_json(conf_get(load_text(s, CONF_MASTER, text), "file_roots"), want);
}

static void
test_masters(void **state)
{
    conf_t *conf = load_text(*state, CONF_MINION, "master: [a, 'b:4510']\nreturn: [mysql, local]\n");

    assert_json(conf_get(conf, "master"), "[\"a\",\"b:4510\"]");
    assert_string_equal(conf_str(conf, "return"), "mysql,local");
}

/* ---- ids ------------------------------------------------------------------------------------- */

static void
test_id_valid(void **state)
{
    static const char *const good[] = { "a",     "web-1.example.com", "A_b",  "0",        "a.",
                                        "web_1", "xn--mller-kva.de",  "_dmz", "10.0.0.1", "db1:5432",
                                        "andy",  "fe80::1",           "nota", "w",        "G:x" };
    /* With what the refusal says of it. */
    static const char *const bad[][2] = {
        { "", "0 bytes" },
        { ".", "has '.' at position 1" },
        { "..", "has '.' at position 1" },
        { ".hidden", "has '.' at position 1" },
        { "a/b", "'a...' has '/' at position 2" },
        { "a b", "a byte 0x20 at position 2" },
        { "a\tb", "a byte 0x09" },
        { "a\nb", "a byte 0x0a" },
        { "a\x7f", "U+007F" },
        { "a\xff", "a byte 0xff" },
        { "a\xc3", "a byte 0xc3" },
        { "a\xc2\xa0", "U+00A0" },
        { "a\xe2\x80\xa8", "U+2028" },
        { "web-asg-1,*", "'web-asg-1...' has ',' at position 10" },
        { "*", "has '*'" },
        { "E@.*", "'E...' has '@' at position 2" },
        { "G@os:Linux", "'@'" },
        { "N@all", "'@'" },
        { "x@y", "'@'" },
        { "--all", "has '-' at position 1" },
        { "-A", "has '-' at position 1" },
        { ":a", "has ':' at position 1" },
        { "m[1-3]", "has '['" },
        { "m?", "has '?'" },
        { "m1|m2", "has '|'" },
        { "m1+", "has '+'" },
        { "(m1)", "has '('" },
        { "m1;reboot", "has ';'" },
        { "$(reboot)", "has '$'" },
        { "`reboot`", "has '`'" },
        { "m1&", "has '&'" },
        { "~", "has '~'" },
        { "a=b", "has '='" },
        { "m{1,2}", "has '{'" },
        { "m\\1", "has '\\'" },
        { "a\"b", "has '\"'" },
        { "a'b", "has '\047'" },
        { "a#b", "has '#'" },
        { "a!", "has '!'" },
        { "a%", "has '%'" },
        { "a<b", "has '<'" },
        { "^a", "has '^'" },
        { "m\xc3\xbcller", "U+00FC at position 2" },
        { "m\xc3\xbcller", "xn--" },
        { "m\xd0\xb0in", "U+0430" },  /* Cyrillic */
        { "web1\xcc\x81", "U+0301" }, /* a combining mark */
        { "\xe2\x80\xae"
          "1bew",
          "U+202E" }, /* from right to left */
        { "web\xe2\x80\x8b"
          "1",
          "U+200B" }, /* a space without width */
        { "\xef\xbd\x97"
          "eb1",
          "U+FF57" }, /* a letter of full width */
        { "and", "compound targets" },
        { "or", "compound targets" },
        { "NOT", "compound targets" },
    };
    char longest[LIMIT_ID_LEN + 2];

    for (size_t i = 0; i < NELEMS(good); i++)
        assert_true(conf_id_valid(good[i], NULL));
    for (size_t i = 0; i < NELEMS(bad); i++) {
        fail_auto_t err = FAIL_INIT;
        assert_false(conf_id_valid(bad[i][0], &err));
        assert_int_equal(err.code, -EINVAL);
        if (strstr(fail_text(&err), bad[i][1]) == NULL)
            fail_msg("'%s': %s", bad[i][0], fail_text(&err));
    }
    memset(longest, 'a', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = '\0';
    assert_false(conf_id_valid(longest, NULL));
    longest[LIMIT_ID_LEN] = '\0';
    assert_true(conf_id_valid(longest, NULL));
}

/* Every byte: an id has it, or is refused. */
static void
test_id_bytes(void **state)
{
    for (int c = 1; c < 256; c++) {
        char id[] = { 'a', (char) c, 'a', '\0' };
        bool is = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                  strchr("._-:", c) != NULL;

        if (conf_id_valid(id, NULL) != is)
            fail_msg("byte 0x%02x", (unsigned) c);
    }
}

/* A minion with such an id does not start, wherever it comes from, and is told which one would do. */
static void
test_id_refused(void **state)
{
    static const struct {
        const char *file, *minion_id, *where, *near;
    } rows[] = {
        { "id: 'web-asg-1,*'\n", "", "/minion, line 1: option 'id'", "`id: web-asg-1`" },
        { "log_level: error\nid: m[1-3]\n", "", "/minion, line 2: option 'id'", "`id: m-1-3`" },
        { "append_domain: '*'\n", "m1\n", "/minion_id: option 'id'", "`id: m1.`" },
        { "", "E@.*\n", "/minion_id: option 'id'", "`id: E-.`" },
        { "", "--all\n", "/minion_id: option 'id'", "`id: all`" },
        { "", "*\n", "/minion_id: option 'id'", "set another one in" },
        { "id: 'not'\n", "", "/minion, line 1: option 'id'", "set another one in" },
    };
    stage_t *s = *state;

    for (size_t i = 0; i < NELEMS(rows); i++) {
        put(s, "minion", rows[i].file);
        put(s, "minion_id", rows[i].minion_id);
        assert_null(load_with(s, CONF_MINION, NULL));
        if (strstr(fail_text(&s->err), rows[i].where) == NULL ||
            strstr(fail_text(&s->err), rows[i].near) == NULL)
            fail_msg("%s", fail_text(&s->err));
    }
    json_auto_t *given = json_pack("{s:s}", "id", "m1|m2");
    assert_null(load_with(s, CONF_MINION, given));
    assert_non_null(strstr(fail_text(&s->err), "the command line: option 'id'"));
}

static void
test_cached_id(void **state)
{
    stage_t *s = *state;

    put(s, "minion_id", "\xef\xbb\xbf  cached.example.com \nrest\n");
    assert_string_equal(conf_str(load(s, CONF_MINION), "id"), "cached.example.com");
    assert_string_equal(conf_str(load(s, CONF_MASTER), "id"), "cached.example.com_master");
    put(s, "minion", "id: named\n");
    assert_string_equal(conf_str(load(s, CONF_MINION), "id"), "named");
    put(s, "minion", "append_domain: lan\nid: named\n");
    assert_string_equal(conf_str(load(s, CONF_MINION), "id"), "named.lan");
    put(s, "minion", "append_domain: lan\nid: named.lan\n");
    assert_string_equal(conf_str(load(s, CONF_MINION), "id"), "named.lan");
}

/* The host's name would be another minion. */
static void
test_unreadable_id(void **state)
{
    stage_t *s = *state;
    AUTO_FREE char *path = fs_join(s->dir, "minion_id"), *want = xasprintf("cannot open %s: ", path);

    assert_int_equal(symlink("minion_id", path), 0);
    assert_null(load_with(s, CONF_MINION, NULL));
    assert_int_equal(strncmp(fail_text(&s->err), want, strlen(want)), 0);
    assert_int_equal(s->err.code, -ELOOP);
    fail_clear(&s->err);
    put(s, "minion", "id: named\n");
    assert_string_equal(conf_str(load(s, CONF_MINION), "id"), "named");
}

/* Whatever this host is called, the guess is a legal id. */
static void
test_guessed_id(void **state)
{
    stage_t *s = *state;

    put(s, "minion", "minion_id_caching: false\nminion_id_lowercase: true\nminion_id_remove_domain: true\n");
    put(s, "minion_id", "never.read\n");
    const char *id = conf_str(load(s, CONF_MINION), "id");
    assert_true(conf_id_valid(id, NULL));
    assert_string_not_equal(id, "never.read");
}

/* The grain `id` of a configuration is the id's, or it is told that it counts for nothing. */
static void
test_claimed_grain_id(void **state)
{
    stage_t *s = *state;

    put(s, "minion", "id: named\ngrains:\n  id: db1\n");
    assert_non_null(load(s, CONF_MINION));
    assert_int_equal(json_array_size(s->warnings), 1);
    assert_warning(s, "minion, line 2: option 'grains': its 'id' is ignored: the grain is always the "
                      "minion's id ('named')");
    put(s, "minion", "id: named\ngrains: {id: named, role: db}\n");
    assert_non_null(load(s, CONF_MINION));
    assert_int_equal(json_array_size(s->warnings), 0);
}

static void
test_configured_master_id(void **state)
{
    stage_t *s = *state;

    assert_string_equal(conf_str(load_text(s, CONF_MASTER, "id: central\n"), "id"), "central");
    put(s, "master", "id: cent*\n");
    assert_null(load_with(s, CONF_MASTER, NULL));
    put(s, "master", "");
    put(s, "minion_id", "m*x,y\n");
    assert_string_equal(conf_str(load(s, CONF_MASTER), "id"), "m-x-y_master");
    put(s, "minion_id", "\xd0\xb0\n");
    assert_string_equal(conf_str(load(s, CONF_MASTER), "id"), "salt_master");
}

/* ---- samples --------------------------------------------------------------------------------- */

/* The sample says nothing as it is, and with every option uncommented it is a legal configuration. */
static void
check_sample(stage_t *s, conf_side_t side)
{
    AUTO_FREE char *text = conf_sample(side);
    buf_auto_t open = BUF_INIT;
    size_t n;
    const option_row_t *rows = conf_rows(&n);

    put(s, "minion_id", "unit\n");
    put(s, side == CONF_MASTER ? "master" : "minion", text);
    json_auto_t *before = json_deep_copy(conf_opts(load(s, side)));
    for (const char *p = text; *p != '\0'; p += strcspn(p, "\n"), p += *p == '\n') {
        bool option = *p == '#' && p[1] != ' ' && p[1] != '#' && p[1] != '\n';
        bool item = *p == '#' && p[1] == ' ' && p[2] == ' ';
        buf_add(&open, p + (option || item), strcspn(p, "\n") - (option || item));
        buf_putc(&open, '\n');
    }
    put(s, side == CONF_MASTER ? "master" : "minion", buf_str(&open));
    assert_true(json_equal(before, conf_opts(load(s, side))));
    assert_int_equal(json_array_size(s->warnings), 0);
    for (size_t i = 0; i < n; i++) {
        AUTO_FREE char *line = xasprintf("\n#%s:", rows[i].name);
        if ((rows[i].side & side) != 0 && strstr(text, line) == NULL)
            fail_msg("%s is not in the sample", rows[i].name);
    }
}

static void
test_samples(void **state)
{
    check_sample(*state, CONF_MASTER);
    check_sample(*state, CONF_MINION);
}

static void
check_committed(const char *path, conf_side_t side)
{
    buf_auto_t have = BUF_INIT;
    AUTO_FREE char *want = conf_sample(side);

    assert_int_equal(fs_read(path, LIMIT_CONF_FILE, &have, NULL), 0);
    assert_string_equal(buf_str(&have), want);
}

/* conf/master and conf/minion are what the table says today. */
static void
test_committed_samples(void **state)
{
    check_committed(TEST_SOURCE_DIR "/conf/master", CONF_MASTER);
    check_committed(TEST_SOURCE_DIR "/conf/minion", CONF_MINION);
}

#define STAGED(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

/* ---- what a master tells ------------------------------------------------------------------------ */

static void
test_told(void **state)
{
    stage_t *s = *state;
    fail_auto_t err = FAIL_INIT;
    json_auto_t *own = json_pack("{s:b, s:s, s:[s], s:s}", "failhard", 1, "state_top", "own.sls",
                                 "state_aggregate", "pkg", "id", "web1");

    put(s, "master",
        "master_tops: {mongo: {password: word}}\nfailhard: False\nnodegroups: [{a: L@x}, {b: N@a}]\nstate_aggregate: True\n");
    load_with(s, CONF_MASTER, NULL);
    json_auto_t *told = conf_master_opts(conf_opts(s->conf));
    assert_int_equal(json_object_size(told), 16);
    assert_true(value_bool(value_get(told, "master_tops"), "mongo", false));
    assert_int_equal(conf_apply_master_opts(own, told, &err), 0);
    assert_string_equal(value_str(own, "state_top", ""), "top.sls");
    assert_false(value_bool(own, "failhard", true));
    assert_string_equal(value_str(value_get(own, "nodegroups"), "b", ""), "N@a");
    assert_true(json_is_null(value_get(own, "state_top_saltenv")));
    assert_int_equal(json_array_size(value_get(own, "state_aggregate")), 1);
    assert_string_equal(value_str(own, "id", ""), "web1");
}

/* One value of another shape, and nothing is taken; what is no such option is not looked at. */
static void
test_told_wrong(void **state)
{
    static const char *const wrong[] = { "[]",
                                         "{\"state_top\": []}",
                                         "{\"jinja_env\": \"x\"}",
                                         "{\"failhard\": {}}",
                                         "{\"nodegroups\": [1]}",
                                         "{\"nodegroups\": {\"a\": {}}}",
                                         "{\"renderer\": \"ymal\"}" };
    json_auto_t *own = json_pack("{s:s, s:{s:s}}", "id", "web1", "master_tops", "ext_nodes", "own");

    for (size_t i = 0; i < NELEMS(wrong); i++) {
        fail_auto_t err = FAIL_INIT;
        json_auto_t *told = json_loads(wrong[i], 0, NULL);
        if (json_is_object(told))
            json_object_set_new(told, "default_top", json_string("dev"));
        assert_true(conf_apply_master_opts(own, told, &err) < 0);
        assert_non_null(strstr(fail_text(&err), "the master"));
        assert_int_equal(json_object_size(own), 2);
    }
    /* A master that tells no sources, as older ones, is not asked; the minion's own are for times without one. */
    fail_auto_t err = FAIL_INIT;
    json_auto_t *other = json_pack("{s:s, s:s}", "id", "web2", "cachedir", "/tmp");
    assert_int_equal(conf_apply_master_opts(own, other, &err), 0);
    assert_string_equal(value_str(own, "id", ""), "web1");
    assert_int_equal(json_object_size(own), 1);
}

UNIT_MAIN(STAGED(test_defaults_master), STAGED(test_defaults_minion), cmocka_unit_test(test_rows),
          STAGED(test_defaults_are_legal), cmocka_unit_test(test_missing_folder), STAGED(test_conversions),
          STAGED(test_default_include), STAGED(test_include), STAGED(test_include_circle),
          STAGED(test_own_default_include), STAGED(test_folder_out_of_reach), STAGED(test_no_descriptor_left),
          STAGED(test_error_names_the_included_file), STAGED(test_overrides), STAGED(test_unknown_options),
          STAGED(test_options_of_modules), STAGED(test_profiles_of_sdb), STAGED(test_addresses_of_sdb),
          STAGED(test_options_without_effect), STAGED(test_wrong_value_without_effect),
          STAGED(test_closed_sets), STAGED(test_bad_files), STAGED(test_root_dir), STAGED(test_relative_path),
          STAGED(test_long_socket_folder), STAGED(test_former_names), STAGED(test_lists_repacked),
          STAGED(test_empty_nodegroups), STAGED(test_roots), STAGED(test_masters),
          cmocka_unit_test(test_id_valid), cmocka_unit_test(test_id_bytes), STAGED(test_id_refused),
          STAGED(test_cached_id), STAGED(test_unreadable_id), STAGED(test_guessed_id),
          STAGED(test_claimed_grain_id), STAGED(test_configured_master_id), STAGED(test_samples),
          cmocka_unit_test(test_committed_samples), STAGED(test_told), cmocka_unit_test(test_told_wrong))
