/* test_rules.c - options that say who may do what: every wrong shape stops the load, and says where and
 * what is wrong. */
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/conf/conf.h"
#include "unit/unit.h"

static char dir[64];

static int
set_up(void **state)
{
    str_copy(dir, sizeof(dir), "/tmp/halite-rules-XXXXXX");
    return mkdtemp(dir) == NULL;
}

static int
tear_down(void **state)
{
    return fs_remove_tree(dir, NULL);
}

static void
put(const char *name, const char *text)
{
    AUTO_FREE char *path = fs_join(dir, name);

    assert_int_equal(fs_write_quick(path, text, strlen(text), 0644, NULL), 0);
}

/* NEW text of the refusal; NULL: it loads. */
static char *
refusal(conf_side_t side, const char *text)
{
    fail_auto_t err = FAIL_INIT;
    json_auto_t *warnings = json_array();

    put(side == CONF_MASTER ? "master" : "minion", text);
    put("minion_id", "unit\n");
    AUTO(conf) conf = conf_load(dir, side, NULL, warnings, &err);
    assert_true((conf == NULL) == (err.code != 0));
    return conf == NULL ? xstrdup(fail_text(&err)) : NULL;
}

typedef struct wrong {
    const char *text, *says;
} wrong_t;

static void
check_wrong(conf_side_t side, const wrong_t *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        AUTO_FREE char *said = refusal(side, rows[i].text);
        AUTO_FREE char *place = xasprintf("%s/%s", dir, side == CONF_MASTER ? "master" : "minion");

        if (said == NULL)
            fail_msg("loads: %s", rows[i].text);
        if (!str_starts(said, place) || strstr(said, "line 1") == NULL || strstr(said, rows[i].says) == NULL)
            fail_msg("%s: %s", rows[i].text, said);
    }
}

static void
check_right(conf_side_t side, const char *const *texts, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        AUTO_FREE char *said = refusal(side, texts[i]);

        if (said != NULL)
            fail_msg("%s: %s", texts[i], said);
    }
}

static void
test_publisher_acl(void **state)
{
    static const wrong_t rows[] = {
        { "publisher_acl: {fred: ['']}", "option 'publisher_acl': fred: item 1: an empty text" },
        { "publisher_acl: {fred: [' ']}", "an empty text" },
        { "publisher_acl: {fred: [test.ping, '']}", "fred: item 2: an empty text" },
        { "publisher_acl: {fred: ['cmd.run|']}", "'cmd.run|' matches everything" },
        { "publisher_acl: {fred: ['|cmd.run']}", "matches everything" },
        { "publisher_acl: {fred: ['t*']}", "'t*' matches everything" },
        { "publisher_acl: {fred: ['(test.ping)?']}", "matches everything" },
        { "publisher_acl: {fred: ['^']}", "matches everything" },
        { "publisher_acl: {fred: ['(?i)']}", "matches everything" },
        { "publisher_acl: {fred: ['x{0}']}", "matches everything" },
        { "publisher_acl: {fred: ['(test.ping']}", "fred: item 1: " },
        { "publisher_acl: {fred: ['test[.ping']}", "fred: item 1: " },
        { "publisher_acl: {fred: ['+test']}", "fred: item 1: " },
        { "publisher_acl: {fred: ['test.ping ']}", "has a blank" },
        { "publisher_acl: {fred: [' test.ping']}", "has a blank" },
        { "publisher_acl: {fred: ['test.ping, test.echo']}", "has a blank" },
        { "publisher_acl: {fred: [null]}",
          "item 1: wants a function, or a mapping of targets to lists of functions, not nothing" },
        { "publisher_acl: {fred: null}", "fred: wants a list of functions, not nothing" },
        { "publisher_acl: {fred: test.ping}", "fred: wants a list of functions, not the text 'test.ping'" },
        { "publisher_acl: {fred: {'web*': [test.ping]}}", "fred: wants a list of functions, not a mapping" },
        { "publisher_acl: {fred: true}", "not true" },
        { "publisher_acl: {fred: [5]}", "not a whole number" },
        { "publisher_acl: {fred: [[test.ping]]}", "not a list" },
        { "publisher_acl: {fred: [{'web*': [['test.ping']]}]}",
          "web*: item 1: wants a function or a pattern" },
        { "publisher_acl: {fred: [{'web*': ['']}]}", "item 1: web*: item 1: an empty text" },
        { "publisher_acl: {fred: [{'web*': ['t*']}]}", "matches everything" },
        { "publisher_acl: {fred: [{'web*': null}]}", "web*: wants a list of functions, not nothing" },
        { "publisher_acl: {fred: [{'web*': {args: []}}]}", "web*: wants a list of functions, not a mapping" },
        { "publisher_acl: {fred: [{'': [test.ping]}]}", "an empty text" },
        { "publisher_acl: {fred: [{'web* and': [test.ping]}]}", "the target 'web* and': " },
        { "publisher_acl: {fred: [{'E@(web': [test.ping]}]}", "the target 'E@(web': " },
        { "publisher_acl: {fred: [{'N@nosuch': [test.ping]}]}", "the target 'N@nosuch': " },
        { "publisher_acl: {'': [test.ping]}", "an empty text" },
        { "publisher_acl: {' ': [test.ping]}", "an empty text" },
        { "publisher_acl: {'fred ': [test.ping]}", "'fred ' has a blank" },
        { "publisher_acl: {'fred, ann': [test.ping]}", "has a blank" },
        { "publisher_acl: {'fr(ed': [test.ping]}", "option 'publisher_acl': " },
        { "publisher_acl: {'fr[ed': [test.ping]}", "option 'publisher_acl': " },
        { "publisher_acl: {'%wheel': [test.ping]}", "'%wheel' is a group" },
        { "publisher_acl: {'wheel%': [test.ping]}", "'wheel%' is a group" },
        { "publisher_acl: {1000: [test.ping]}", "'1000' is a number" },
        { "publisher_acl: [fred]", "option 'publisher_acl' wants a mapping" },
        { "publisher_acl: fred", "option 'publisher_acl' wants a mapping" },
        { "publisher_acl: {fred: [test.ping], fred: [cmd.run]}", "fred" },
        { "publisher_alc: {fred: [test.ping]}", "unknown option 'publisher_alc'; is 'publisher_acl' meant?" },
        { "client_acl: {fred: [test.ping]}", "option 'client_acl' cannot be switched on" },
    };
    static const char *const right[] = {
        "publisher_acl: {}\n",
        "publisher_acl:\n",
        "publisher_acl: {fred: []}\n",
        "publisher_acl: {fred: ['.*'], ann: ['*'], 'ops-.*': ['test.*', 'pkg.*'], '*': [test.ping]}\n",
        ("publisher_acl: {'fred|ann': ['test\\.(ping|echo)$', {'web* or G@os:Debian': [state.apply], "
         "'E@db[0-9]+': 'test.*'}]}\n"),
        "nodegroups: {webs: 'web*'}\npublisher_acl: {fred: [{'N@webs': [test.ping]}]}\n",
        "client_acl: {}\nclient_acl_blacklist: {}\n",
        "publisher_acl: {fred: [{'web*': ['t.x', {cmd.run: {args: [ls], kwargs: {cwd: null}}}]}]}\n",
    };

    check_wrong(CONF_MASTER, rows, NELEMS(rows));
    check_right(CONF_MASTER, right, NELEMS(right));
}

static void
test_external_auth(void **state)
{
    static const wrong_t rows[] = {
        { "external_auth: {pam: {fred: ['']}}", "option 'external_auth': pam: fred: item 1: an empty text" },
        { "external_auth: {pam: {fred: test.ping}}",
          "fred: wants a list of functions, not the text 'test.ping'" },
        { "external_auth: {pam: [fred]}", "pam: wants a mapping of users to lists of functions, not a list" },
        { "external_auth: [pam]", "option 'external_auth' wants a mapping" },
        { "external_auth: {'pam ': {fred: [test.ping]}}", "has a blank" },
        { "external_auth: {pam: {fred: ['*']}}", "fred: item 1: " },
        { "external_auth: {pam: {fred: ['t*']}}", "matches everything" },
        { "external_auth: {pam: {fred: ['@']}}", "an empty text" },
        { "external_auth: {pam: {fred: ['@run ner']}}", "has a blank" },
        { "external_auth: {pam: {fred: [{'web* and': [test.ping]}]}}", "the target 'web* and': " },
        { "external_auth: {pam: {fred: [{'a': [x.y], 'b': [x.y]}]}}",
          "a mapping of one name to its rules, not of 2" },
        { "external_auth: {pam: {fred: [{'a': [{x.y: {argz: [1]}}]}]}}", "argz" },
        { "external_auth: {pam: {fred: [{'a': [{x.y: {args: x}}]}]}}",
          "args: wants a list of regular expressions" },
        { "external_auth: {pam: {fred: [{'a': [{x.y: {args: [5]}}]}]}}",
          "wants a regular expression, not a whole number" },
        { "external_auth: {pam: {fred: [{'a': [{x.y: {kwargs: {k: '('}}}]}]}}", "kwargs: k: " },
        { "external_auth: {pam: {fred: [{'@runner': [{x.y: {}, z.w: {}}]}]}}", "a mapping of one name" },
        { "external_auth: {pam: {'(fred': [test.ping]}}", "pam: " },
        { "external_auth: {pam: {'%': [test.ping]}}", "'%' has no name" },
        { "external_auth: {file: {^filename: /x, ^hastype: sha256}}",
          "'^hastype' is not known; is '^hashtype' meant?" },
        { "external_auth: {file: {^password_feild: 2}}", "is '^password_field' meant?" },
        { "external_auth: {pam: {'': [test.ping]}}", "an empty text" },
        { "publisher_acl: {fred: [{'web*': [{cmd.run: {argz: [ls]}}]}]}", "argz" },
        { "publisher_acl: {fred: [{'web*': [{'': {}}]}]}", "an empty text" },
    };
    static const char *const right[] = {
        "external_auth: {}\n",
        "external_auth: {pam: {}}\n",
        ("external_auth: {pam: {fred: ['.*', '@runner', '@wheel', '@jobs', {'web* or G@os:Debian': [state.apply]}, {'a': x.y}], "
         "'ops%': [], '*': [test.ping], 'dev.*': []}, file: {^filename: /x, ^username_field: 2, ann: []}, mine: {^ldif: 1, ^filenames_of_mine: a}}\n"),
        ("external_auth: {pam: {fred: [{'@runner': ['jobs.*', {cache.grains: {kwargs: {tgt: null}}}]}, "
         "{'web*': [{cmd.run: [{args: ['ls']}, {args: [null, '.*'], kwargs: {cwd: '/tmp'}}]}]}]}}\n"),
        "nodegroups: {webs: 'web*'}\nexternal_auth: {ldap: {fred: [{'N@webs': [test.ping]}]}}\n",
    };

    check_wrong(CONF_MASTER, rows, NELEMS(rows));
    check_right(CONF_MASTER, right, NELEMS(right));
}

static void
test_blacklist(void **state)
{
    static const wrong_t rows[] = {
        { "publisher_acl_blacklist: {users: ['(root']}",
          "option 'publisher_acl_blacklist': users: item 1: " },
        { "publisher_acl_blacklist: {modules: ['cmd.*(']}", "modules: item 1: " },
        { "publisher_acl_blacklist: {modules: ['cmd.run', '[']}", "modules: item 2: " },
        { "publisher_acl_blacklist: {modules: ['*cmd(']}", "modules: item 1: " },
        { "publisher_acl_blacklist: {modules: ['']}", "an empty text" },
        { "publisher_acl_blacklist: {modules: [cmd]}", "'cmd' is not a function; write 'cmd.*'" },
        { "publisher_acl_blacklist: {modules: [{cmd: run}]}", "not a mapping" },
        { "publisher_acl_blacklist: {modules: {cmd: run}}", "wants a list of functions, not a mapping" },
        { "publisher_acl_blacklist: {modules: null}", "wants a list of functions, not nothing" },
        { "publisher_acl_blacklist: {modules: [null]}", "not nothing" },
        { "publisher_acl_blacklist: {modules: ['cmd.run ']}", "has a blank" },
        { "publisher_acl_blacklist: {module: [cmd.run]}",
          "'module' is not known here; known are users, modules; is 'modules' meant?" },
        { "publisher_acl_blacklist: {user: [root]}", "is 'users' meant?" },
        { "publisher_acl_blacklist: {functions: [cmd.run]}", "'functions' is not known here" },
        { "publisher_acl_blacklist: {'users ': [root]}", "is not known here" },
        { "publisher_acl_blacklist: {users: [1000]}", "not a whole number" },
        { "publisher_acl_blacklist: {users: ['1000']}", "is a number" },
        { "publisher_acl_blacklist: {users: ['%wheel']}", "is a group" },
        { "publisher_acl_blacklist: {users: [null]}", "not nothing" },
        { "publisher_acl_blacklist: [root]", "wants a mapping" },
        { "publisher_acl_blacklist: cmd.run", "wants a mapping" },
        { "publisher_acl_blaklist: {users: [root]}", "is 'publisher_acl_blacklist' meant?" },
        { "client_acl_blacklist: {users: [root]}", "option 'client_acl_blacklist' cannot be switched on" },
    };
    static const char *const right[] = {
        "publisher_acl_blacklist: {users: [root, '^(?!sudo_).*$'], modules: [cmd.run, 'cmd.*', '*.write']}\n",
        "publisher_acl_blacklist: {users: root, modules: 'cmd.*'}\n",
        "publisher_acl_blacklist: {modules: []}\n",
    };

    check_wrong(CONF_MASTER, rows, NELEMS(rows));
    check_right(CONF_MASTER, right, NELEMS(right));
}

static void
test_master_lists(void **state)
{
    static const wrong_t rows[] = {
        { "mine_get: {'*': [test.ping]}", "option 'mine_get': " },
        { "peer: {'*': [test.ping]}", "option 'peer': " },
        { "peer: {'.*': ['t*']}", "matches everything" },
        { "peer: {'.*': ['']}", "an empty text" },
        { "peer: {'.*': test.ping}", "not the text" },
        { "peer: {web1: [{'web*': [test.ping], 'db*': [test.ping]}]}", "option 'peer': " },
        { "peer: {web1: [{'web*': [{test.ping: {arg: [a]}}]}]}", "option 'peer': " },
        { "peer_run: {'.*': [{'web*': [manage.up]}]}", "option 'peer_run': " },
        { "peer_run: {'.*': ['manage.up|']}", "matches everything" },
        { "mine_get: {'web(': [test.ping]}", "option 'mine_get': " },
        { "mine_get: {'.*': ['net(']}", ".*: item 1: " },
        { "mine_get: {'.*': ['']}", "an empty text" },
        { "mine_get: {'.*': ['a|']}", "matches everything" },
        { "mine_get: {'w*': ['a']}", "'w*' matches everything" },
        { "mine_get: {'': ['a']}", "an empty text" },
        { "mine_get: {'.*': test.ping}", "wants a list of regular expressions, not the text" },
        { "mine_get: {'.*': null}", "not nothing" },
        { "mine_get: ['.*']", "wants a mapping" },
        { "mine_gett: {'.*': ['a']}", "is 'mine_get' meant?" },
        { "renderer_functions: ['']", "an empty text" },
        { "renderer_functions: [null]", "item 1: wants a glob of functions, not nothing" },
        { "renderer_functions: ['not ']", "an empty text" },
        { "renderer_functions: ['Not cmd.run']", "has a blank" },
        { "renderer_functions: ['!cmd.run']", "not a glob of functions" },
        { "renderer_functions: ['-cmd.run']", "not a glob of functions" },
        { "renderer_functions: ['not cmd\\.run']", "not a glob of functions" },
        { "renderer_functions: ['not (cmd|file).*']", "not a glob of functions" },
        { "renderer_functions: [{not: cmd.run}]", "item 1" },
        { "renderer_functions_pillar: ['not cmd.run, cp.get']", "has a blank" },
        { "renderer_functions_reactor: ['cmd.run ']", "has a blank" },
        { "renderer_functions_orchestrate: [1]", "not a whole number" },
        { "file_ignore_regex: ['(']", "option 'file_ignore_regex': item 1: " },
        { "file_ignore_regex: ['\\.key$', '*.pem']", "item 2: " },
        { "file_ignore_regex: ['']", "an empty text" },
        { "file_ignore_regex: [null]", "not nothing" },
        { "file_ignore_glob: ['']", "an empty text" },
        { "file_ignore_glob: [['*.key']]", "item 1" },
        { "gitfs_saltenv_whitelist: ['pro(d']", "item 1: " },
        { "gitfs_saltenv_blacklist: ['']", "an empty text" },
        { "gitfs_saltenv_blacklist: ['*dev(']", "item 1: " },
        { "gitfs_saltenv_blacklist: ['dev ']", "has a blank" },
        { "gitfs_remotes: [{'https://x': [{saltenv_blacklist: ['dev(']}]}]",
          "https://x: item 1: saltenv_blacklist: item 1: " },
        { "gitfs_remotes: [{'https://x': {saltenv_blacklist: dev}}]", "wants a list of globs" },
        { "gitfs_remotes: [{'https://x': [{saltenv_blaklist: [dev]}]}]", "is 'saltenv_blacklist' meant?" },
        { "gitfs_remotes: [null]", "not nothing" },
        { "on_demand_ext_pillar: ['*']", "'*' is not a module's name" },
        { "on_demand_ext_pillar: [null]", "not nothing" },
        { "on_demand_ext_pillar: ['']", "an empty text" },
        { "exclude_ext_pillar: ['cmd_*']", "not a module's name" },
        { "extmod_whitelist: {module: [a]}",
          "'module' is not a kind of custom modules; is 'modules' meant?" },
        { "extmod_blacklist: {modules: ['a*']}", "not a module's name" },
        { "extmod_blacklist: {modules: [a.py]}", "not a module's name" },
        { "extmod_blacklist: {modules: null}", "not nothing" },
        { "extmod_blacklist: {modules: 'a, b'}", "has a blank" },
        { "extmod_blacklist: {modules: {a: b}}", "not a mapping" },
        { "extmod_blacklist: [a]", "wants a mapping" },
    };
    static const char *const right[] = {
        "mine_get: {'.*': ['network\\..*', test.ping], 'web[0-9]': ['.*']}\n",
        "renderer_functions: ['cmd.*', 'not cmd.run', 'not   file.w[r]ite', py, runner.jobs.*, '*']\n",
        "renderer_functions_pillar: cmd.run\n",
        "file_ignore_regex: ['/\\.git($|/)', '\\.key$']\nfile_ignore_glob: ['*.pyc', '*/some dir/*']\n",
        "gitfs_saltenv_whitelist: [base, 'v1.*', 'mas\\w+', '*']\n",
        "gitfs_remotes: [u, {v: [{name: y}, {saltenv: [{d: [{ref: d}]}]}, {saltenv_whitelist: ['v*']}]}]\n",
        "on_demand_ext_pillar: []\nexclude_ext_pillar: cmd_json\n",
        "extmod_whitelist: {modules: [a, pkg.web], states: 'b,c', grains: []}\n",
    };

    check_wrong(CONF_MASTER, rows, NELEMS(rows));
    check_right(CONF_MASTER, right, NELEMS(right));
}

static void
test_minion_lists(void **state)
{
    static const wrong_t rows[] = {
        { "disable_modules: ['cmd*']", "'cmd*' is not a module's name" },
        { "disable_modules: [cmd.run]", "'cmd.run' is not a module's name" },
        { "disable_modules: ['']", "an empty text" },
        { "disable_modules: [null]", "item 1: wants a module's name, not nothing" },
        { "disable_modules: ['cmd ']", "has a blank" },
        { "disable_modules: 'cmd, file'", "has a blank" },
        { "disable_modules: [{cmd: run}]", "item 1" },
        { "disable_module: [cmd]", "is 'disable_modules' meant?" },
        { "whitelist_modules: ['']", "an empty text" },
        { "whitelist_modules: [null]", "not nothing" },
        { "whitelist_modules: ['*']", "not a module's name" },
        { "whitelist_module: [test]", "is 'whitelist_modules' meant?" },
        { "cmd_blacklist_glob: ['']", "an empty text" },
        { "cmd_blacklist_glob: ['rm *', null]", "item 2: wants a glob, not nothing" },
        { "cmd_blacklist_glob: [{rm: x}]", "item 1" },
        { "cmd_whitelist_glob: ['  ']", "an empty text" },
        { "cmd_blacklist_globs: ['rm *']", "is 'cmd_blacklist_glob' meant?" },
        { "disable_grains: ['core*']", "not a module's name" },
        { "grains_blacklist: ['cpu(']", "item 1: " },
        { "grains_blacklist: ['']", "an empty text" },
        { "grains_blacklist: [5]", "not a whole number" },
        { "global_state_conditions: {'pkg*': ['web*']}", "'pkg*' is neither a state module" },
        { "global_state_conditions: {pkg: []}", "pkg: an empty list says nothing" },
        { "global_state_conditions: {pkg: null}", "not nothing" },
        { "global_state_conditions: {pkg: ['G@os:Debian and']}", "the target 'G@os:Debian and'" },
        { "global_state_conditions: {pkg: ['']}", "an empty text" },
        { "global_state_conditions: {'': ['*']}", "an empty text" },
        { "mine_functions: {test.ping: {allow_tgt: ''}}", "test.ping: allow_tgt: an empty text" },
        { "mine_functions: {test.ping: [{allow_tgt: null}]}",
          "test.ping: item 1: allow_tgt: wants a target, not nothing" },
        { "mine_functions: {test.ping: [{allow_tgt: []}]}", "an empty list" },
        { "mine_functions: {test.ping: [{alow_tgt: 'web*'}]}", "is 'allow_tgt' meant?" },
        { "mine_functions: {test.ping: {allow_tgt: 'web*', allow_tgt_type: compond}}",
          "'compond' is not a type of targets" },
        { "mine_functions: [null]", "not nothing" },
        { "mine_functions: ['']", "an empty text" },
        { "extmod_blacklist: {modul: [a]}", "is not a kind of custom modules" },
        { "on_demand_ext_pillar: ['cmd yaml']", "has a blank" },
        { "file_ignore_regex: ['(']", "item 1: " },
    };
    static const char *const right[] = {
        "disable_modules: [cmd, cmdmod]\nwhitelist_modules: test\ndisable_grains: core\n",
        "cmd_blacklist_glob: ['rm -rf *', '[a-z]*']\ncmd_whitelist_glob: []\n",
        "grains_blacklist: ['cpu*', 'ip\\w+']\n",
        "global_state_conditions: {'*': 'not G@virtual:physical', pkg.installed: ['web*', 'N@webs']}\n",
        "mine_functions: {test.ping: [], a: {interface: eth0, allow_tgt: [a, b], allow_tgt_type: list}}\n",
        "mine_functions: {x: [{mine_function: cmd.run}, uptime, 5, {allow_tgt: 'G@role:lb'}], y: }\n",
        "mine_functions: [test.ping, network.interfaces]\n",
    };

    check_wrong(CONF_MINION, rows, NELEMS(rows));
    check_right(CONF_MINION, right, NELEMS(right));
}

/* The section of salt-api: who may come from where, and what asks for no log-in. */
static void
test_api(void **state)
{
    static const wrong_t rows[] = {
        { "rest_cherrypy: {api_acl: {user: {fred: ['10.0.0.1']}}}",
          "option 'rest_cherrypy': api_acl: 'user' is not known here; known are users; is 'users' meant?" },
        { "rest_cherrypy: {api_acl: {fred: ['10.0.0.1']}}", "api_acl: 'fred' is not known here" },
        { "rest_cherrypy: {api_acl: {users: ['10.0.0.1']}}", "api_acl: users: wants a mapping of users" },
        { "rest_cherrypy: {api_acl: {users: null}}", "api_acl: users: wants a mapping of users" },
        { "rest_cherrypy: {api_acl: {users: {fred: '10.0.0.1'}}}", "fred: wants a list of addresses" },
        { "rest_cherrypy: {api_acl: {users: {fred: null}}}", "fred: wants a list of addresses, not nothing" },
        { "rest_cherrypy: {api_acl: {users: {fred: ['10.0.0.0/8']}}}",
          "users: fred: item 1: '10.0.0.0/8' is neither an address nor '*'" },
        { "rest_cherrypy: {api_acl: {users: {fred: ['10.0.0.*']}}}", "is neither an address" },
        { "rest_cherrypy: {api_acl: {users: {fred: ['']}}}", "an empty text" },
        { "rest_cherrypy: {api_acl: {users: {'': ['*']}}}", "an empty text" },
        { "rest_cherrypy: {api_acl: ['*']}", "api_acl: wants a mapping" },
        { "rest_cherrypy: {api_acll: {users: {fred: []}}}", "is 'api_acl' meant?" },
        { "rest_cherrypy: {authorised_ips: ['10.0.0.1']}", "is 'authorized_ips' meant?" },
        { "rest_cherrypy: {authorized_ips: ['web1']}", "authorized_ips: item 1: 'web1' is neither" },
        { "rest_cherrypy: {authorized_ips: {a: b}}", "authorized_ips: wants a list of addresses" },
        { "rest_cherrypy: {authorized_ips: [10]}", "item 1: wants an address or '*', not a whole number" },
        { "rest_cherrypy: {cors_origin: ['example.com']}", "cors_origin: item 1: 'example.com' is neither" },
        { "rest_cherrypy: {cors_origin: ['https://*.example.com']}", "cors_origin: item 1: " },
        { "rest_cherrypy: {cors_origin: [null]}", "not nothing" },
        { "rest_cherrypy: {webhook_disable_auth: 'false'}",
          "webhook_disable_auth: wants true or false, not the text" },
        { "rest_cherrypy: {webhok_disable_auth: true}", "is 'webhook_disable_auth' meant?" },
        { "rest_cherrypy: {stats_disable_auth: 1}", "wants true or false, not a whole number" },
        { "rest_cherrypy: {metrics_disable_auth: []}", "wants true or false, not a list" },
        { "rest_cherrypy: {disable_ssl: 'True'}", "wants true or false, not the text" },
        { "rest_tornado: {api_acl: {user: {}}}", "option 'rest_tornado': api_acl: 'user'" },
        { "rest_cherypy: {port: 8000}", "is 'rest_cherrypy' meant?" },
        { "rest_cherrypy: [8000]", "option 'rest_cherrypy' wants a mapping" },
    };
    static const char *const right[] = {
        "rest_cherrypy: {port: 8000, host: 127.0.0.1, disable_ssl: true, debug: false, page: false, other: 5}\n",
        ("rest_cherrypy: {api_acl: {users: {'*': ['*', '10.0.0.1', '::1'], fred: []}}, authorized_ips: '*', "
         "cors_origin: ['*', 'https://example.com:8443']}\n"),
        "rest_cherrypy: {api_acl: , authorized_ips: , webhook_disable_auth: }\n",
        "rest_cherrypy:\n",
        "rest_cherrypy: {stats_disable_auth: true, collect_stats: true, static: /s, app: /a, app_path: /b}\n",
    };

    check_wrong(CONF_MASTER, rows, NELEMS(rows));
    check_right(CONF_MASTER, right, NELEMS(right));
}

/* Options of one word that let or forbid: a slip in the name would leave their defaults. */
static void
test_guards(void **state)
{
    static const wrong_t masters[] = {
        { "netapi_disable_client: [wheel]", "is 'netapi_disable_clients' meant?" },
        { "netapi_disable_clients: [wheell]", "is 'wheel' meant?" },
        { "netapi_enable_client: [local]", "is 'netapi_enable_clients' meant?" },
        { "renderer_blaklist: [py]", "is 'renderer_blacklist' meant?" },
        { "renderer_whitelists: [yaml]", "is 'renderer_whitelist' meant?" },
        { "allow_minion_key_revok: false", "is 'allow_minion_key_revoke' meant?" },
        { "auto_acept: true", "is 'auto_accept' meant?" },
        { "shared_secret: x", "is 'sharedsecret' meant?" },
        { "client_acl_verfy: false", "is 'client_acl_verify' meant?" },
        { "permisive_acl: false", "is 'permissive_acl' meant?" },
        { "keep_acl_in_tokn: false", "is 'keep_acl_in_token' meant?" },
        { "token_expires: 60", "is 'token_expire' meant?" },
        { "key_expire_day: 30", "is 'key_expire_days' meant?" },
        { "file_recieve: false", "file_rec" },
        { "peer_datas: strict", "is 'peer_data' meant?" },
        { "fileserver_followsymlink: false", "is 'fileserver_followsymlinks' meant?" },
        { "auth.ldap.filtr: x", "is 'auth.ldap.filter' meant?" },
        { "auth.ldap.no_verfy: false", "is 'auth.ldap.no_verify' meant?" },
        { "auth.pam.servce: login", "is 'auth.pam.service' meant?" },
        { "eauth_acl_module: 'my rules'", "has a blank" },
        { "token_expire_user_override: {pam: fred}",
          "token_expire_user_override': pam: wants a list of users" },
        { "token_expire_user_override: {pam: [1]}", "pam: item 1: " },
        { "token_expire_user_override: {pam: ['']}", "an empty text" },
        { "token_expire_user_override: [fred]", "wants true or false, or a mapping" },
        { "token_expire_user_override: yess", "not the text" },
    };
    static const wrong_t minions[] = {
        { "master_fingr: 'aa:bb'", "is 'master_finger' meant?" },
        { "verify_master_pubkey_sig: true", "is 'verify_master_pubkey_sign' meant?" },
        { "always_verify_signatur: true", "is 'always_verify_signature' meant?" },
        { "lock_salt_env: true", "is 'lock_saltenv' meant?" },
        { "disable_returners: [mysql, 'x*']", "disable_returners': item 2: 'x*' is not a module's name" },
        { "disable_returner: [mysql]", "is 'disable_returners' meant?" },
        { "x509_signing_policies: {www: {minion: 'web*'}}", "www: 'minion' is not known here" },
        { "x509_signing_policies: {www: [{minions: ''}]}", "www: item 1: minions: an empty text" },
        { "x509_signing_policies: {www: [{minions: [web1]}]}", "minions: wants a glob" },
        { "vault: {polices: [a]}", "'polices' is not known here" },
        { "vault: {policies: ['']}", "policies: item 1: an empty text" },
        { "vault: {policies: all}", "policies: wants a list of policies" },
        { "vault: {auth: {allow_minion_override: maybe}}",
          "auth: allow_minion_override: wants true or false" },
    };
    static const char *const right_masters[] = {
        "token_expire_user_override: true\n",
        "vault: {url: x, policies: ['m/{minion}'], auth: {method: token, token: y, uses: 3}}\n",
        "token_expire_user_override: {pam: [fred, ann], ldap: []}\n",
        "auth.mine.filter: x\nauth.ldap.filter: x\nauthors: [a]\nmy.peer_datas: 1\n",
    };
    static const char *const right_minions[] = {
        "x509_signing_policies: {www: [{minions: 'web*'}, {CN: x}], own: {minions: 'G@a:b', O: y}}\n",
        "disable_returners: [mysql]\n",
    };

    check_wrong(CONF_MASTER, masters, NELEMS(masters));
    check_wrong(CONF_MINION, minions, NELEMS(minions));
    check_right(CONF_MASTER, right_masters, NELEMS(right_masters));
    check_right(CONF_MINION, right_minions, NELEMS(right_minions));
}

/* A file of ids: the line that is wrong is the file's. */
static void
test_lines(void **state)
{
    static const char *const options[] = { "autosign_file", "autoreject_file" };
    static const struct {
        const char *lines;
        int bad; /* 0: none */
    } rows[] = {
        { "# (comment\n\n  web*  \ndb[0-9]+\n*\n.*\nweb1.example.com\r\n", 0 },
        { "", 0 },
        { "web*\n(web\n", 2 },
        { "web[\n", 1 },
        { "*web)\n", 1 },
        { "web1\n\n# x\nweb1, web2\n", 4 },
        { "\xef\xbb\xbf# of an editor\nweb1\n", 0 },
        { "\xef\xbb\xbf(web\n", 1 },
    };

    for (size_t i = 0; i < NELEMS(rows) * NELEMS(options); i++) {
        const char *option = options[i % NELEMS(options)];
        int bad = rows[i / NELEMS(options)].bad;
        AUTO_FREE char *conf = xasprintf("%s: %s/ids\n", option, dir);
        AUTO_FREE char *says = xasprintf("/master, line 1: option '%s': %s/ids, line %d: ", option, dir, bad);

        put("ids", rows[i / NELEMS(options)].lines);
        AUTO_FREE char *said = refusal(CONF_MASTER, conf);
        assert_int_equal(said != NULL, bad != 0);
        if (bad != 0 && strstr(said, says) == NULL)
            fail_msg("%s", said);
    }
    for (size_t i = 0; i < NELEMS(options); i++) {
        AUTO_FREE char *conf = xasprintf("%s: %s/ids\n", options[i], dir), *path = fs_join(dir, "ids");
        AUTO_FREE char *pipe_conf = xasprintf("%s: %s/pipe\n", options[i], dir), *pipe = fs_join(dir, "pipe");
        assert_int_equal(fs_write_quick(path, "web1\0\nweb2\n", 11, 0600, NULL), 0);
        AUTO_FREE char *nul = refusal(CONF_MASTER, conf);
        assert_non_null(strstr(nul, "ids: a NUL byte after 4 bytes"));
        assert_true(mkfifo(pipe, 0600) == 0 || errno == EEXIST);
        AUTO_FREE char *waits = refusal(CONF_MASTER, pipe_conf);
        assert_non_null(strstr(waits, "pipe is a pipe or a socket, and not a file"));
    }
    AUTO_FREE char *includes = xasprintf("include: %s/pi*\n", dir);
    AUTO_FREE char *included = refusal(CONF_MASTER, includes);
    assert_non_null(strstr(included, "pipe is not a regular file"));
    AUTO_FREE char *absent = refusal(CONF_MASTER, "autosign_file: /nonexistent/ids\n");
    assert_null(absent);
    AUTO_FREE char *file = refusal(CONF_MASTER, "autosign_grains_dir: /dev/null\n");
    assert_non_null(file);
    assert_non_null(strstr(file, "/dev/null is not a folder"));
    AUTO_FREE char *rejects = refusal(CONF_MASTER, "autoreject_file: /nonexistent/ids\n");
    assert_non_null(strstr(rejects, "there is no file /nonexistent/ids"));
}

/* An option whose name says that it lets or forbids has a rule, or values that are checked against all
 * that there are. */
static void
test_all_have_rules(void **state)
{
    static const char *const words[] = { "acl",         "whitelist",    "blacklist",
                                         "autosign_",   "autoreject_",  "disable_",
                                         "ignore_glob", "ignore_regex", "renderer_functions",
                                         "mine_get",    "peer_run",     "mine_functions",
                                         "on_demand_",  "exclude_",     "_conditions" };
    size_t n, seen = 0;
    const option_row_t *rows = conf_rows(&n);

    for (size_t i = 0; i < n; i++) {
        bool is = false;

        for (size_t k = 0; k < NELEMS(words); k++)
            is = is || strstr(rows[i].name, words[k]) != NULL;
        if (!is || rows[i].effect != CONF_HEEDED || rows[i].names != NULL || rows[i].type == CONF_BOOL ||
            rows[i].type == CONF_FORBIDDEN || rows[i].type == CONF_INT)
            continue;
        if (rows[i].rule == NULL)
            fail_msg("%s has no rule", rows[i].name);
        seen++;
    }
    assert_true(seen >= 20);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
UNIT_MAIN(IN_FOLDER(test_publisher_acl), IN_FOLDER(test_blacklist), IN_FOLDER(test_master_lists),
          IN_FOLDER(test_external_auth), IN_FOLDER(test_minion_lists), IN_FOLDER(test_lines),
          IN_FOLDER(test_api), IN_FOLDER(test_guards), cmocka_unit_test(test_all_have_rules))
