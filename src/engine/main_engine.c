/* main_engine.c - salt-engine: one engine. The daemon starts it with one argument: {"conf": folder, "side":
 * "master" or "minion", "name": of the option `engines`, "overrides"}. What the option says of it stays out
 * of the argument, which others see.
 *
 * With "login": true it is one log-in by a system in Python, which salt-auth asks for: {"system", "username",
 * "password"} on standard input, {"ok": bool, "groups"?, "rules"?, "why"?} on standard output.
 *
 * With "resolve": true it asks stores for values of a configuration (common/conf/conf_addresses.c). */
#include <fcntl.h>
#include <unistd.h>

#include "common/base/daemon.h"
#include "common/base/fs.h"
#include "common/base/memory.h"
#include "common/base/str.h"
#include "common/conf/engines.h"
#include "common/conf/startup.h"
#include "common/local/client.h"
#include "common/masterctx/masterctx.h"
#include "common/py/py_json.h"
#include "common/python/userfile.h"
#include "engine/resolve.h"
#include "minion/callbus.h"
#include "minion/grains_set.h"
#include "plugins/builtin.h"
#include "salt/limits.h"
#include "salt/log.h"
#include "salt/value.h"

enum { ARGUMENT_MAX = 64 * 1024 };

typedef struct engine {
    json_t *opts, *grains; /* opts BORROWED; grains owned, once asked for */
    registry_t *exec, *states, *engines, *returners;
    const char *name, *module;
    json_t *options; /* BORROWED */
    bool master;
} engine_t;

static json_t *
main_engine_collect(json_t *opts)
{
    size_t n;
    const plugin_t *const *rows = builtin_plugins(PLUGIN_GRAIN, &n);
    json_t *found = json_object();

    grains_collect(rows, n, GRAIN_CHEAP, "", opts, found);
    grains_finish(opts, found);
    return found;
}

static json_t *
main_engine_grains(void *cookie)
{
    engine_t *self = cookie;

    if (self->grains == NULL)
        self->grains = main_engine_collect(self->opts);
    return self->grains;
}

/* Asks the minion that started this process. */
static int
main_engine_host(void *cookie, json_t *request, json_t **ret_value, fail_t *err)
{
    const engine_t *self = cookie;

    return callbus_ask(value_str(self->opts, "sock_dir", ""), "the minion of this engine is away", request,
                       ret_value, err);
}

/* An event for the master's bus: of the master itself, or by way of the minion. */
static int
main_engine_fire(void *cookie, const char *tag, json_t *data, fail_t *err)
{
    engine_t *self = cookie;
    json_auto_t *value = NULL;

    if (!self->master) {
        json_auto_t *event = json_pack("{s:s, s:s, s:{s:s, s:O}}", "op", "event", "tag", "fire_master",
                                       "data", "tag", tag, "data", data);
        return main_engine_host(self, event, &value, err);
    }
    local_client_t *line = local_connect(value_str(self->opts, "sock_dir", ""), err);
    json_t *request = json_pack("{s:s, s:s, s:O}", "op", "fire", "tag", tag, "data", data);
    int rc = line != NULL ? local_call(line, &request, &value, err) : err->code;
    json_decref(request);
    local_client_destroy(&line);
    return rc;
}

/* ---- one that is built in ------------------------------------------------------------------------------ */

static int
main_engine_native(engine_t *self, fail_t *err)
{
    AUTO_FREE char *fun = xasprintf("%s.start", self->module);
    const call_env_t env = { .registry = self->engines,
                             .returners = self->returners,
                             .opts = self->opts,
                             .id = value_str(self->opts, "id", ""),
                             .grains = main_engine_grains,
                             .fire = main_engine_fire,
                             .cookie = self };
    AUTO(call_ctx) ctx = call_ctx_new(&env);
    json_auto_t *kwargs = json_copy(self->options), *arg = json_pack("[O]", kwargs), *value = NULL;

    json_object_set_new(kwargs, "__kwarg__", json_true());
    return call_function(ctx, fun, arg, NULL, &value, err);
}

/* ---- one in Python ------------------------------------------------------------------------------------- */

static int
main_engine_python(engine_t *self, call_ctx_t *ctx, fail_t *err)
{
    const userfile_t what = {
        .kind = "engines", .module = self->module, .fun = "start", .log_fails = true, .unlimited = true
    };
    AUTO(py) args = py_list();
    AUTO(py) kwargs = py_from_json(self->options);
    AUTO(py) said = userfile_call(ctx, &what, args, kwargs, NULL, err);

    return said != NULL ? 0 : err->code < 0 ? err->code : -EIO;
}

static int
main_engine_minion(engine_t *self, fail_t *err)
{
    const call_env_t env = { .registry = self->exec,
                             .states = self->states,
                             .opts = self->opts,
                             .id = value_str(self->opts, "id", ""),
                             .grains = main_engine_grains,
                             .fire = main_engine_fire,
                             .host = main_engine_host,
                             .cookie = self };
    AUTO(call_ctx) ctx = call_ctx_new(&env);

    return main_engine_python(self, ctx, err);
}

static int
main_engine_master(engine_t *self, fail_t *err)
{
    const masterctx_tables_t tables = { .modules = self->exec,
                                        .states = self->states,
                                        .grains = main_engine_collect };
    const masterctx_env_t env = {
        .tables = &tables, .opts = self->opts, .jid = "", .fire = main_engine_fire, .cookie = self
    };
    AUTO(masterctx) host = masterctx_new(&env);

    return main_engine_python(self, masterctx_ctx(host), err);
}

/* A user's file of the name precedes what is built in; Salt's own come last. */
static int
main_engine_run(engine_t *self, fail_t *err)
{
    const call_env_t env = { .registry = self->exec, .opts = self->opts };
    call_ctx_t *look = call_ctx_new(&env);
    bool named = userfile_is_named(look, "engines", self->module);
    const plugin_t *native = named ? NULL : registry_provider(self->engines, NULL, self->module);

    call_ctx_destroy(&look);
    if (native != NULL)
        return main_engine_native(self, err);
    return self->master ? main_engine_master(self, err) : main_engine_minion(self, err);
}

/* ---- a log-in by a system in Python -------------------------------------------------------------------- */

/* auth(username, password), groups(username, ...) or acl(username, ...) of the system's file, which get of
 * the log-in what they name. NEW, null for a function that the file does not have; NULL with *err. */
static json_t *
main_engine_ask(call_ctx_t *ctx, const char *fun, const json_t *question, fail_t *err)
{
    const char *system = value_str(question, "system", ""), *user = value_str(question, "username", ""),
               *password = value_str(question, "password", "");
    const userfile_t what = { .kind = "auth", .module = system, .fun = fun, .unlimited = true };
    bool checks = str_eq(fun, "auth");
    json_auto_t *words = checks ? json_pack("[s, s]", user, password) : json_pack("[s]", user);
    json_auto_t *named = checks ? json_object()
                                : json_pack("{s:s, s:s}", "password", password, "eauth",
                                            value_str(question, "eauth", system));
    AUTO(py) args = py_from_json(words);
    AUTO(py) kwargs = py_from_json(named);

    if (!userfile_has(ctx, &what, err))
        return checks || !str_empty(err->text) ? NULL : json_null();
    AUTO(py) said = userfile_call(ctx, &what, args, kwargs, NULL, err);
    return said != NULL ? py_to_json(said) : NULL;
}

/* Adds the rules that acl() gives: those of the user where it gives some of several, none at all for an empty
 * list. Without acl(), or with None of it, those of the configuration hold. False with *err. */
static bool
main_engine_rules(call_ctx_t *ctx, const json_t *question, json_t *answer, fail_t *err)
{
    json_auto_t *said = main_engine_ask(ctx, "acl", question, err);
    json_t *own = json_is_object(said) ? value_get(said, value_str(question, "username", "")) : said;

    if (json_is_array(own))
        json_object_set(answer, "rules", own);
    else if (json_is_object(said))
        json_object_set_new(answer, "rules", json_array());
    return said != NULL;
}

/* NEW answer. */
static json_t *
main_engine_check(call_ctx_t *ctx, const json_t *question)
{
    fail_auto_t err = FAIL_INIT, none = FAIL_INIT;
    bool rules_only = value_bool(question, "rules", false);
    json_auto_t *right = rules_only ? json_true() : main_engine_ask(ctx, "auth", question, &err);
    json_auto_t *answer = json_pack("{s:b}", "ok", right != NULL && value_truthy(right));

    if (right != NULL && !value_truthy(right))
        return json_incref(answer);
    json_auto_t *groups = right != NULL && !rules_only ? main_engine_ask(ctx, "groups", question, &none)
                                                       : NULL;
    if (json_is_array(groups))
        json_object_set(answer, "groups", groups);
    if (right == NULL || !main_engine_rules(ctx, question, answer, &err))
        return json_pack("{s:b, s:s}", "ok", false, "why",
                         !str_empty(err.text)
                             ? fail_text(&err)
                             : "there is no such system: salt-master.conf(5) has a list, at external_auth");
    return json_incref(answer);
}

static int
main_engine_login(engine_t *self, fail_t *err)
{
    const masterctx_tables_t tables = { .modules = self->exec,
                                        .states = self->states,
                                        .grains = main_engine_collect };
    const masterctx_env_t env = {
        .tables = &tables, .opts = self->opts, .jid = "", .fire = main_engine_fire, .cookie = self
    };
    buf_auto_t in = BUF_INIT;
    int rc = fs_read_fd(STDIN_FILENO, ARGUMENT_MAX, &in);
    json_auto_t *question = rc >= 0 ? value_parse(buf_str(&in), in.len, ARGUMENT_MAX, "standard input", err)
                                    : NULL;

    if (in.data != NULL)
        explicit_bzero(in.data, in.len);
    if (question == NULL)
        return rc < 0 ? fail_set(err, rc, "standard input: %s", strerror(-rc)) : err->code;
    AUTO(masterctx) host = masterctx_new(&env);
    json_auto_t *answer = main_engine_check(masterctx_ctx(host), question);
    AUTO_FREE char *text = value_dump(answer);
    return puts(text) < 0 || fflush(stdout) != 0 ? fail_set(err, -EIO, "standard output is closed") : 0;
}

/* ---- values of a configuration ----------------------------------------------------------------------- */

/* Standard output is the answer's alone: what programs and drivers print there goes to standard error. Lines
 * of the log have no form, since the program that reads the configuration logs them. NULL with *err. */
static json_t *
main_engine_question(int *ret_fd, fail_t *err)
{
    const log_form_t form = {
        .console = "%(message)s", .console_date = "", .file = LOG_FORM_FILE, .file_date = "", .jid = ""
    };
    buf_auto_t in = BUF_INIT;
    int rc = fs_read_fd(STDIN_FILENO, LIMIT_ADDRESSES, &in);

    log_init("salt-engine", LEVEL_WARNING, false);
    log_form(&form);
    *ret_fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (rc < 0 || *ret_fd < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
        (void) fail_set(err, rc < 0 ? rc : -errno, "standard streams: %s", strerror(rc < 0 ? -rc : errno));
        return NULL;
    }
    json_t *question = value_parse(buf_str(&in), in.len, LIMIT_ADDRESSES, "standard input", err);
    if (in.data != NULL)
        explicit_bzero(in.data, in.len);
    return question;
}

static int
main_engine_resolve(engine_t *self, json_t *question, int fd, fail_t *err)
{
    const call_env_t env = { .registry = self->exec,
                             .states = self->states,
                             .opts = self->opts,
                             .id = value_str(self->opts, "id", ""),
                             .grains = main_engine_grains,
                             .host = main_engine_host,
                             .cookie = self };
    AUTO(call_ctx) ctx = call_ctx_new(&env);

    return resolve_run(ctx, self->opts, question, fd, err);
}

int
main(int argc, char **argv)
{
    fail_auto_t err = FAIL_INIT;
    size_t n;

    memory_begin();
    daemon_stdio();
    json_auto_t *told = argc == 2 ? value_parse(argv[1], strlen(argv[1]), ARGUMENT_MAX, "the argument", &err)
                                  : NULL;
    if (told == NULL) {
        (void) fprintf(stderr, "salt-engine: salt-master and salt-minion start it, for engines: %s\n",
                       fail_text(&err));
        return 64;
    }
    engine_t self = { .name = value_str(told, "name", ""),
                      .master = str_eq(value_str(told, "side", ""), "master") };
    const char *dir = value_str(told, "conf", "");
    const conf_side_t side = self.master ? CONF_MASTER : CONF_MINION;
    bool login = value_bool(told, "login", false), resolve = value_bool(told, "resolve", false);
    int answers = -1;
    json_auto_t *question = resolve ? main_engine_question(&answers, &err) : NULL;
    AUTO(conf)
    conf = question != NULL ? conf_of(dir, side, value_get(question, "values"), &err)
           : !resolve       ? startup_conf("salt-engine", dir, side, value_get(told, "overrides"), &err)
                            : NULL;
    if (conf == NULL) {
        log_critical("%s", fail_text(&err));
        return 1;
    }
    self.opts = conf_opts(conf);
    json_auto_t *all = engines_of(self.opts);
    const json_t *own = value_get(all, self.name);
    self.module = value_str(own, "module", self.name);
    self.options = value_get(own, "options");
    const plugin_t *const *rows = builtin_plugins(PLUGIN_EXEC, &n);
    self.exec = registry_new(PLUGIN_EXEC, rows, n);
    rows = builtin_plugins(PLUGIN_STATE, &n);
    self.states = registry_new(PLUGIN_STATE, rows, n);
    rows = builtin_plugins(PLUGIN_ENGINE, &n);
    self.engines = registry_built_in(PLUGIN_ENGINE, rows, n);
    rows = builtin_plugins(PLUGIN_RETURNER, &n);
    self.returners = registry_built_in(PLUGIN_RETURNER, rows, n);
    if (!login && !resolve)
        log_debug("Engine %s starts, by the module %s", self.name, self.module);
    int rc = login         ? main_engine_login(&self, &err)
             : resolve     ? main_engine_resolve(&self, question, answers, &err)
             : own != NULL ? main_engine_run(&self, &err)
                           : fail_set(&err, -ENOENT, "the configuration names it no more");
    if (rc < 0 && (login || resolve))
        log_error("%s: %s", login ? "a log-in by a system in Python" : "values at addresses (sdb://)",
                  fail_text(&err));
    else if (rc < 0)
        log_critical("Engine(%s) could not be started! %s", self.name,
                     *fail_text(&err) != '\0' ? fail_text(&err) : "there is no such engine");
    registry_destroy(&self.exec);
    registry_destroy(&self.states);
    registry_destroy(&self.engines);
    registry_destroy(&self.returners);
    json_decref(self.grains);
    return rc < 0 ? 1 : 0;
}
