/* test_pillar.c - the pillar compiler against Salt's own answers: tests/cases/pillar/compile.json was
 * recorded from Salt 3006. A case has files        {path: text}, written to a folder of its own, which every
 * text calls {T} opts         over {"pillar_roots": {"base": ["{T}/p"]}} saltenv, pillarenv, override and
 * what must come of it: pillar (as common/py/py_wire.h has it), or raises. Cases of tops.json, recorded from
 * Salt's _master_tops(), have `tops`: what the option master_tops says of the minion.
 */
#include "unit/unit.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/pillar/pillar.h"
#include "common/pillar/tops.h"
#include "common/py/py_error.h"
#include "common/py/py_json.h"
#include "common/py/py_wire.h"
#include "plugins/builtin.h"
#include "salt/log.h"
#include "salt/value.h"

#define CASES TEST_SOURCE_DIR "/tests/cases/pillar/compile.json"
#define TOPS  TEST_SOURCE_DIR "/tests/cases/pillar/tops.json"

static registry_t *registry;

/* NEW: `v` with {T} made real. */
static json_t *
placed(const json_t *v, const char *dir)
{
    AUTO_FREE char *text = value_dump(v);
    AUTO_FREE char *real = str_replace(text, "{T}", dir);

    return json_loads(real, JSON_DECODE_ANY, NULL);
}

static void
write_files(const json_t *files, const char *dir)
{
    const char *path;
    json_t *text;

    json_object_foreach ((json_t *) files, path, text) {
        AUTO_FREE char *full = fs_join(dir, path);
        AUTO_FREE char *folder = xstrndup(full, (size_t) (strrchr(full, '/') - full));
        assert_int_equal(fs_mkdirs(folder, 0755, NULL), 0);
        assert_int_equal(fs_write_quick(full, json_string_value(text), json_string_length(text), 0644, NULL),
                         0);
    }
}

static json_t *
grains(void)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:[s, s], s:[s]}", "id", "m001", "os", "Debian", "os_family",
                     "Debian", "role", "web", "ipv4", "10.1.2.3", "127.0.0.1", "ipv6", "::1");
}

static json_t *
opts_of(const json_t *one, const char *dir)
{
    json_auto_t *base = json_pack("{s:{s:[s]}, s:{s:[s]}, s:s, s:s, s:s}", "pillar_roots", "base", "{T}/p",
                                  "file_roots", "base", "{T}/p", "cachedir", "{T}/cache", "id", "master",
                                  "renderer", "jinja|yaml");

    json_object_update(base, value_get(one, "opts"));
    return placed(base, dir);
}

/* Our errors go on where Salt's end: which file it was. NEW. */
static char *
without_places(char *text)
{
    for (char *at; (at = strstr(text, "\\nin /")) != NULL;)
        memmove(at, at + strcspn(at, "\""), strlen(at + strcspn(at, "\"")) + 1);
    return text;
}

static void
compare(const json_t *one, json_t *got, const fail_t *err, const char *dir)
{
    const char *name = value_str(one, "name", "?");
    json_auto_t *want = placed(value_get(one, "pillar"), dir);

    if (value_get(one, "pillar") == NULL && got == NULL)
        return;
    if (got == NULL)
        fail_msg("%s: %s", name, fail_text(err));
    AUTO_FREE char *g = without_places(value_dump(got));
    if (value_get(one, "pillar") == NULL)
        fail_msg("%s: Salt raises, and we give %s", name, g);
    AUTO_FREE char *w = value_dump(want);
    if (strcmp(g, w) != 0)
        fail_msg("%s:\n  got  %s\n  want %s", name, g, w);
}

static void
run_case(const json_t *one)
{
    char dir[] = "/tmp/halite-pillar-XXXXXX";
    fail_auto_t err = FAIL_INIT;

    assert_non_null(mkdtemp(dir));
    write_files(value_get(one, "files"), dir);
    json_auto_t *opts = opts_of(one, dir);
    json_auto_t *facts = grains();
    json_auto_t *ask = json_pack("{s:O*, s:O*, s:O*}", "saltenv", value_get(one, "saltenv"), "pillarenv",
                                 value_get(one, "pillarenv"), "pillar", value_get(one, "override"));
    pillar_env_t env = { .opts = opts, .registry = registry, .id = "m001", .grains = facts };
    pillar_env_ask(&env, ask);
    AUTO(py) pillar = pillar_compile(&env, &err);
    json_auto_t *got = pillar != NULL ? py_to_wire(pillar) : NULL;
    py_unref(env.override);
    fs_remove_tree(dir, NULL);
    compare(one, got, &err, dir);
}

static void
test_as_salt(void **state)
{
    json_auto_t *cases = json_load_file(CASES, 0, NULL);
    const char *only = getenv("CASE");
    json_t *one;
    size_t i;

    assert_true(json_array_size(cases) > 70);
    json_array_foreach (cases, i, one)
        if (only == NULL || strcmp(only, value_str(one, "name", "")) == 0)
            run_case(one);
}

static void
test_tops_as_salt(void **state)
{
    json_auto_t *cases = json_load_file(TOPS, 0, NULL);
    json_t *one;
    size_t i;

    assert_true(json_array_size(cases) > 15);
    json_array_foreach (cases, i, one) {
        char dir[] = "/tmp/halite-tops-XXXXXX";
        assert_non_null(mkdtemp(dir));
        write_files(value_get(one, "files"), dir);
        json_auto_t *opts = opts_of(one, dir), *facts = grains();
        pillar_env_t env = { .opts = opts, .registry = registry, .id = "m001", .grains = facts };
        json_auto_t *got = tops_find(&env);
        fs_remove_tree(dir, NULL);
        if (!json_equal(got, value_get(one, "tops"))) {
            AUTO_FREE char *g = value_dump(got), *w = value_dump(value_get(one, "tops"));
            fail_msg("%s:\n  got  %s\n  want %s", value_str(one, "name", "?"), g, w);
        }
    }
}

/* A command that hangs ends with pillar_timeout; an id that could be an option of it runs nothing. */
static void
test_tops_bounds(void **state)
{
    json_auto_t *opts = json_pack("{s:{s:s}, s:i, s:s}", "master_tops", "ext_nodes", "sh -c 'sleep 60'",
                                  "pillar_timeout", 1, "cachedir", "/tmp/halite-none");
    json_auto_t *facts = grains();
    pillar_env_t env = { .opts = opts, .registry = registry, .id = "m001", .grains = facts };
    json_auto_t *got = tops_find(&env);
    assert_int_equal(json_object_size(got), 0);

    json_object_set_new(value_get(opts, "master_tops"), "ext_nodes", json_string("echo classes:"));
    env.id = "-v";
    json_auto_t *none = tops_find(&env);
    assert_int_equal(json_object_size(none), 0);
}

/* ---- what it was made from --------------------------------------------------------------------------- */

typedef struct kept {
    char dir[32];
    json_t *opts, *grains;
    pillar_reads_t *reads;
} kept_t;

static void
put(const kept_t *k, const char *path, const char *text)
{
    json_auto_t *files = json_pack("{s:s}", path, text);

    write_files(files, k->dir);
}

/* In place, by a text of the same length, with the time of before. */
static void
put_over(const kept_t *k, const char *path, const char *text)
{
    AUTO_FREE char *full = fs_join(k->dir, path);
    AUTO_FD fd = open(full, O_WRONLY | O_CLOEXEC);
    struct stat st;

    assert_int_equal(fstat(fd, &st), 0);
    usleep(20000); /* a kernel's times may be as coarse as that */
    assert_int_equal(pwrite(fd, text, strlen(text), 0), strlen(text));
    assert_int_equal(futimens(fd, (struct timespec[]){ st.st_atim, st.st_mtim }), 0);
}

static void
kept_stage(kept_t *k, const char *one)
{
    json_auto_t *none = json_object();

    memcpy(k->dir, "/tmp/halite-pillar-XXXXXX", sizeof("/tmp/halite-pillar-XXXXXX"));
    assert_non_null(mkdtemp(k->dir));
    put(k, "p/top.sls", "base:\n  '*': [one, 'web.*']\n");
    put(k, "p/one.sls", one);
    put(k, "p/web/a.sls", "a: 1\n");
    k->opts = opts_of(none, k->dir);
    k->grains = grains();
    k->reads = pillar_reads_new();
}

static void
kept_compile(kept_t *k)
{
    fail_auto_t err = FAIL_INIT;
    pillar_env_t env = {
        .opts = k->opts, .registry = registry, .id = "m001", .grains = k->grains, .reads = k->reads
    };
    AUTO(py) pillar = pillar_compile(&env, &err);
    assert_non_null(pillar);
}

static void
kept_begin(kept_t *k, const char *one)
{
    kept_stage(k, one);
    kept_compile(k);
}

static void
kept_end(kept_t *k)
{
    fs_remove_tree(k->dir, NULL);
    pillar_reads_destroy(&k->reads);
    json_decref(k->opts);
    json_decref(k->grains);
}

static void
test_reads(void **state)
{
    kept_t k;

    kept_begin(&k, "include: [two]\nx: {{ salt['pillar.get']('y', 1) }}\n");
    assert_true(pillar_reads_hold(k.reads, k.opts));
    assert_false(pillar_reads_world(k.reads));
    put(&k, "p/other.sls", "never: read\n");
    assert_false(pillar_reads_hold(k.reads, k.opts)); /* a glob looked at all names */
    kept_end(&k);

    kept_begin(&k, "{% import_yaml 'data.yaml' as d %}x: {{ d }}\n");
    put(&k, "p/data.yaml", "now: there\n");
    assert_false(pillar_reads_hold(k.reads, k.opts));
    kept_end(&k);

    kept_begin(&k, "x: 1\n");
    put(&k, "p/one.sls", "x: 22\n");
    assert_false(pillar_reads_hold(k.reads, k.opts));
    kept_end(&k);

    kept_begin(&k, "x: 1\n");
    put_over(&k, "p/one.sls", "x: 2\n");
    assert_false(pillar_reads_hold(k.reads, k.opts));
    kept_end(&k);

    kept_begin(&k, "x: {{ salt['test.rand_str']() }}\n");
    assert_true(pillar_reads_world(k.reads));
    kept_end(&k);

    kept_begin(&k, "#!py\ndef run():\n    return {'x': 1}\n"); /* Python may look at anything */
    assert_true(pillar_reads_world(k.reads));
    kept_end(&k);
}

/* An environment may be called as a branch is. */
static void
test_reads_of_branch(void **state)
{
    kept_t k;

    kept_stage(&k, "x: 1\n");
    AUTO_FREE char *root = fs_join(k.dir, "q");
    json_object_set_new(value_get(k.opts, "pillar_roots"), "feature/a", json_pack("[s]", root));
    put(&k, "p/top.sls", "feature/a:\n  '*': [late]\n");
    put(&k, "q/other.sls", "y: 1\n");
    kept_compile(&k);
    assert_true(pillar_reads_hold(k.reads, k.opts));
    put(&k, "q/late.sls", "x: 2\n");
    assert_false(pillar_reads_hold(k.reads, k.opts));
    kept_end(&k);
}

/* What may be another value next time, though no file of the pillar's has changed. */
static void
test_world(void **state)
{
    static const struct {
        const char *text;
        bool world;
    } rows[] = {
        { "x: {{ salt['slsutil.file_exists']('a') }}", true },
        { "x: {{ salt['slsutil.dir_exists']('a') }}", true },
        { "x: {{ salt['slsutil.path_exists']('a') }}", true },
        { "x: {{ salt['slsutil.renderer'](string='a: 1') }}", true },
        { "x: {{ salt['slsutil.merge']({'a': 1}, {'b': 2}) | json }}", false },
        { "x: {{ salt['defaults.get']('nosuch:a') }}", true },
        { "x: {{ salt['defaults.merge']({'a': 1}, {'b': 2}) }}", false },
        { "x: {{ salt['pillar.file_exists']('one.sls') }}", true },
        { "x: {{ salt['hashutil.base64_encodefile']('/etc/hostname') | length }}", true },
        { "x: {{ salt['hashutil.base64_b64encode']('a') }}", false },
        { "x: {{ salt['sys.list_modules']() | length }}", true },
        { "x: {{ salt['grains.get']('id') }}{{ salt.config.get('a', 1) }}", false },
        { "x: {{ 'git.status' in salt }}", true },
        { "x: {{ 'pillar.get' in salt }}", false },
        { "x: '{{ none | strftime }}'", true },
        { "x: {{ [1, 2] | random }}", true },
        { "x: {{ [1, 2] | map('random_hash') | list }}", true },
        { "x: {{ '/etc/hostname' | is_text_file }}", true },
        { "x: {{ '/etc/hostname' | file_hashsum }}", true },
        { "x: {{ lipsum(1) | length }}", true },
        { "x: {{ [2, 1] | sort | unique | join(',') | sha256 }}", false },
        { "#!yaml|gpg\nx: |\n  -----BEGIN PGP MESSAGE-----\n\n  none\n  -----END PGP MESSAGE-----\n", true },
        { "#!yaml|gpg\nx: 1\n", false },
    };

    for (size_t i = 0; i < NELEMS(rows); i++) {
        kept_t k;
        kept_begin(&k, rows[i].text);
        if (pillar_reads_world(k.reads) != rows[i].world)
            fail_msg("%s", rows[i].text);
        kept_end(&k);
    }
}

/* ---- facts and claims --------------------------------------------------------------------------------- */

/* What a compile for m001 makes of these files when the minion says `claims` of itself. NEW text of JSON. */
static char *
compiled(const kept_t *k, const char *claims, const char *ask_text, pillar_claims_t *told)
{
    fail_auto_t err = FAIL_INIT;
    json_auto_t *said = json_loads(claims, 0, NULL), *ask = json_loads(ask_text, 0, NULL);
    pillar_env_t env = {
        .opts = k->opts, .registry = registry, .id = "m001", .grains = said, .claims = told
    };

    pillar_env_ask(&env, ask);
    AUTO(py) pillar = pillar_compile(&env, &err);
    json_auto_t *wire = pillar != NULL ? py_to_wire(pillar) : NULL;
    py_unref(env.override);
    if (wire == NULL)
        fail_msg("%s", fail_text(&err));
    return value_dump(wire);
}

/* The grain `id` is that of the minion whose pillar it is wherever a file can ask for it, whatever the
 * question's grains say. */
static void
test_own_id(void **state)
{
    static const char *const claims[] = { "{\"id\": \"db1\"}", "{\"id\": {\"db1\": 1}}",
                                          "{\"id\": [\"db1\"]}", "{}", "{\"id\": null, \"ID\": \"db1\"}" };
    static const char text[] =
        "g: {{ grains['id'] }}\nd: {{ grains.id }}\no: {{ opts.id }}\nog: {{ opts.grains.id }}\n"
        "f: {{ salt['grains.get']('id') }}\nm: {{ salt['match.grain']('id:db1') }}{{ "
        "salt['match.compound']('G@id:m001') }}\n"
        "b: {{ salt['grains.filter_by']({'db1': 'db1', 'm001': 'm001'}, grain='id') }}\ninclude: [of.{{ "
        "grains['id'] }}]\n";
    kept_t k;

    kept_stage(&k, text);
    put(&k, "p/top.sls",
        "base:\n  '*': [one]\n  G@id:db1: [secret]\n  'id:d.*':\n    - match: grain_pcre\n    - secret\n"
        "  'id:m001':\n    - match: grain\n    - mine\n{% if grains.id == 'db1' %}\n  'm*': [secret]\n{% "
        "endif %}\n");
    put(&k, "p/secret.sls", "secret: db1\n");
    put(&k, "p/mine.sls", "mine: 1\n");
    put(&k, "p/of/m001.sls", "of: m001\n");
    put(&k, "p/of/db1.sls", "of: db1\n");
    for (size_t i = 0; i < NELEMS(claims); i++) {
        AUTO_FREE char *got = compiled(&k, claims[i], "{}", NULL);
        assert_string_equal(got,
                            "{\"of\":\"m001\",\"g\":\"m001\",\"d\":\"m001\",\"o\":\"m001\",\"og\":\"m001\","
                            "\"f\":\"m001\",\"m\":\"FalseTrue\",\"b\":\"m001\",\"mine\":1}");
    }
    kept_end(&k);
}

/* With ext_pillar_first top file and templates go by what the sources say, and not by what the minion asks
 * to have laid over it, nor by a source that it named. */
static void
test_override_is_a_claim(void **state)
{
    kept_t k;

    kept_stage(&k, "role: {{ pillar.get('role', 'none') }}-{{ salt['pillar.get']('site', 'none') }}\n");
    put(&k, "p/top.sls", "base:\n  '*': [one]\n  I@claimed:db: [secret]\n  I@site:north: [north]\n");
    put(&k, "p/secret.sls", "secret: db1\n");
    put(&k, "p/north.sls", "north: 1\n");
    json_object_set_new(k.opts, "ext_pillar_first", json_true());
    json_object_set_new(k.opts, "ext_pillar", json_pack("[{s:s}]", "cmd_yaml", "echo 'site: north'"));
    json_object_set_new(k.opts, "on_demand_ext_pillar", json_pack("[s]", "cmd_json"));
    AUTO_FREE char *got = compiled(
        &k, "{}",
        "{\"pillar\": {\"claimed\": \"db\", \"site\": \"south\"}, \"ext\": {\"cmd_json\": "
        "\"echo '{\\\"role\\\": \\\"x\\\", \\\"claimed\\\": \\\"db\\\", \\\"y\\\": 1}'\"}}",
        NULL);
    assert_string_equal(
        got, "{\"claimed\":\"db\",\"site\":\"south\",\"role\":\"none-north\",\"y\":1,\"north\":1}");
    kept_end(&k);
}

/* NEW: the lines of a log that warn of claims, without their times, and without the folder. */
static char *
warnings_of(const kept_t *k, const char *log)
{
    buf_auto_t text = BUF_INIT, out = BUF_INIT;

    assert_int_equal(fs_read(log, LIMIT_CONF_FILE, &text, NULL), 0);
    AUTO_FREE char *folder = xasprintf("%s/p/", k->dir);
    char **lines = str_split(buf_str(&text), "\n", true);
    for (size_t i = 0; lines[i] != NULL; i++) {
        const char *at = strstr(lines[i], folder), *end = strstr(lines[i], " goes by a grain");
        if (at != NULL && end != NULL && strstr(lines[i], "WARNING") != NULL)
            buf_printf(&out, "%.*s\n", (int) (end - at - (long) strlen(folder)), at + strlen(folder));
    }
    strv_free(lines);
    return xstrdup(buf_str(&out));
}

/* Each place is told once, for all minions, until its file changes; of those that a template makes of
 * grains one. */
static void
test_claims_are_told(void **state)
{
    fail_auto_t err = FAIL_INIT;
    kept_t k;

    kept_stage(&k, "x: 1\n");
    put(&k, "p/top.sls",
        "include: [more]\nbase:\n  # 'role:web': a comment\n  '*': [one]\n  \"db*\": [one]\n  'role:web':\n"
        "    - match: grain\n    - one\n  G@id:m001: [one]\n  P@os:D.* and web*:\n    - one\n"
        "  'a:{{ grains.get('n', 0) }}':\n    - match: grain\n    - one\n  S@10.0.0.0/8: [one]\n");
    put(&k, "p/more.sls",
        "base:\n  N@web: [one]\n  N@ids: [one]\n  'role:web:eu':\n    - match: pillar\n    - one\n");
    json_object_set_new(k.opts, "nodegroups", json_pack("{s:s, s:s}", "web", "G@role:web", "ids", "L@a,b"));
    AUTO_FREE char *log = fs_join(k.dir, "log");
    assert_int_equal(log_open_file(log, LEVEL_WARNING, &err), 0);
    pillar_claims_t *told = pillar_claims_new();
    for (int n = 0; n < 5; n++) {
        AUTO_FREE char *said = xasprintf("{\"id\": \"m%d\", \"n\": %d}", n, n);
        free(compiled(&k, said, "{}", told));
    }
    free(compiled(&k, "{}", "{}", NULL)); /* nobody's but this process's own */
    AUTO_FREE char *first = warnings_of(&k, log);
    assert_string_equal(
        first,
        "top.sls:6: the pillar's target 'role:web'\ntop.sls:10: the pillar's target 'P@os:D.* and web*'\n"
        "top.sls: the pillar's target 'a:0'\ntop.sls:15: the pillar's target 'S@10.0.0.0/8'\n"
        "more.sls:2: the pillar's target 'N@web'\n");
    put(&k, "p/more.sls", "base:\n  '*': [one]\n\n  N@web: [one]\n");
    free(compiled(&k, "{}", "{}", told));
    AUTO_FREE char *all = warnings_of(&k, log);
    assert_string_equal(all + strlen(first), "more.sls:4: the pillar's target 'N@web'\n");
    pillar_claims_destroy(&told);
    assert_int_equal(log_open_file("/dev/null", LEVEL_QUIET, &err), 0);
    kept_end(&k);
}

/* Of a node group whose folder file_tree lays on the pillar too. */
static void
test_claims_of_file_tree(void **state)
{
    fail_auto_t err = FAIL_INIT;
    kept_t k;

    kept_stage(&k, "x: 1\n");
    put(&k, "p/nodegroups/web/key", "of-web");
    put(&k, "p/nodegroups/ids/key", "of-ids");
    AUTO_FREE char *root = fs_join(k.dir, "p"), *log = fs_join(k.dir, "log");
    json_object_set_new(k.opts, "nodegroups",
                        json_pack("{s:s, s:s}", "web", "G@role:web", "ids", "L@a,b or G@id:db1"));
    json_object_set_new(k.opts, "ext_pillar", json_pack("[{s:{s:s}}]", "file_tree", "root_dir", root));
    assert_int_equal(log_open_file(log, LEVEL_WARNING, &err), 0);
    pillar_claims_t *told = pillar_claims_new();
    for (int n = 0; n < 3; n++) {
        AUTO_FREE char *got = compiled(&k, "{\"id\": \"db1\"}", "{}", told);
        assert_string_equal(got, "{\"x\":1,\"a\":1}");
    }
    AUTO_FREE char *lines = warnings_of(&k, log);
    assert_string_equal(lines, "nodegroups/web: the pillar's target 'web'\n");
    pillar_claims_destroy(&told);
    assert_int_equal(log_open_file("/dev/null", LEVEL_QUIET, &err), 0);
    kept_end(&k);
}

/* ---- limits ------------------------------------------------------------------------------------------- */

/* Small in the file and in memory, and more values than a pillar has where it is sent. */
static void
test_aliases_of_aliases(void **state)
{
    kept_t k;
    fail_auto_t err = FAIL_INIT;
    buf_auto_t text = BUF_INIT;

    buf_puts(&text, "a0: &a0 [x]\n");
    for (int i = 1; i <= 10; i++) {
        buf_printf(&text, "a%d: &a%d [x", i, i);
        for (int n = 0; n < 10; n++)
            buf_printf(&text, ", *a%d", i - 1);
        buf_puts(&text, "]\n");
    }
    kept_begin(&k, buf_str(&text));
    pillar_env_t env = { .opts = k.opts, .registry = registry, .id = "m001", .grains = k.grains };
    AUTO(py) pillar = pillar_compile(&env, &err);
    json_auto_t *wire = py_to_wire(pillar);
    assert_non_null(wire);
    assert_int_equal(json_array_size(value_get(wire, "_errors")), 1);
    assert_int_equal(json_integer_value(value_get(wire, "a")), 1); /* the other SLS is there */
    kept_end(&k);
}

static void
test_long_chain(void **state)
{
    kept_t k;
    fail_auto_t err = FAIL_INIT;

    kept_begin(&k, "x: 1\n");
    for (int i = 0; i < LIMIT_PILLAR_DEPTH + 5; i++) {
        AUTO_FREE char *path = xasprintf("p/c%d.sls", i);
        AUTO_FREE char *text = xasprintf("include: [c%d]\nv%d: 1\n", i + 1, i);
        put(&k, path, text);
    }
    put(&k, "p/one.sls", "include: [c0]\n");
    pillar_env_t env = { .opts = k.opts, .registry = registry, .id = "m001", .grains = k.grains };
    AUTO(py) pillar = pillar_compile(&env, &err);
    assert_null(pillar);
    assert_non_null(strstr(fail_text(&err), "include each other"));
    kept_end(&k);
}

static int
setup(void)
{
    size_t n;
    const plugin_t *const *rows = builtin_plugins(PLUGIN_EXEC, &n);

    log_init("test", LEVEL_QUIET, false);
    registry = registry_new(PLUGIN_EXEC, rows, n);
    return 0;
}

/* ---- values of peers --------------------------------------------------------------------------------- */

/* A serializer's text is ours but for the values in it: its brackets are a list or mapping, not the peer's. */
static void
test_serialized_peers(void **state)
{
    static const char sls[] =
        "yaml: {{ salt['slsutil.serialize']('yaml', {'own': 'a', 'os': grains['os']}, "
        "default_flow_style=True) }}\n"
        "json: {{ salt['slsutil.serialize']('json', {'own': 'a', 'os': grains['os']}) }}\n";
    fail_auto_t err = FAIL_INIT;
    kept_t k;

    kept_stage(&k, sls);
    pillar_env_t env = {
        .opts = k.opts, .registry = registry, .id = "m001", .grains = k.grains, .peer_grains = true
    };
    AUTO(py) pillar = pillar_compile(&env, &err);
    assert_non_null(pillar);
    json_auto_t *got = py_to_json(pillar);
    json_auto_t *want = json_pack("{s:s, s:s}", "own", "a", "os", "Debian");
    assert_true(json_equal(value_get(got, "yaml"), want));
    assert_true(json_equal(value_get(got, "json"), want));
    kept_end(&k);
}

static void
test_begin(void **state)
{
    assert_int_equal(setup(), 0);
}

static void
test_end(void **state)
{
    registry_destroy(&registry);
}

UNIT_MAIN(cmocka_unit_test(test_begin), cmocka_unit_test(test_as_salt), cmocka_unit_test(test_tops_as_salt),
          cmocka_unit_test(test_tops_bounds), cmocka_unit_test(test_reads),
          cmocka_unit_test(test_reads_of_branch), cmocka_unit_test(test_world), cmocka_unit_test(test_own_id),
          cmocka_unit_test(test_override_is_a_claim), cmocka_unit_test(test_claims_are_told),
          cmocka_unit_test(test_claims_of_file_tree), cmocka_unit_test(test_long_chain),
          cmocka_unit_test(test_aliases_of_aliases), cmocka_unit_test(test_serialized_peers),
          cmocka_unit_test(test_end))
