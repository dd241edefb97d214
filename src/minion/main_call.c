/* main_call.c - salt-call: runs one function in this process with the minion's modules; with a master unless
 * --local.
 *
 * salt-call stands in for the job server while its function runs: main_call_host() answers the requests that
 * a minion's parts would, from the connection to the master (callsession.h) or through the bus of a minion
 * that runs here (callbus.h). Grains and pillar are gathered on first use. The return is printed, and sent to
 * the master unless --no-return-event. */
#include <unistd.h>

#include "cli/show.h"
#include "common/output/suited.h"
#include "common/output/values.h"
#include "common/base/daemon.h"
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/str.h"
#include "common/cli/complete.h"
#include "common/cli/optparse.h"
#include "common/cli/ttyguard.h"
#include "common/cli/waitline.h"
#include "common/conf/startup.h"
#include "common/data/args.h"
#include "common/files/fileclient.h"
#include "common/plugin/call.h"
#include "common/py/py_wire.h"
#include "uplink/callsession.h"
#include "minion/callbus.h"
#include "minion/calloutput.h"
#include "minion/callcompletion.h"
#include "minion/jobs/jobcache.h"
#include "minion/jobs/returners.h"
#include "minion/grains_set.h"
#include "minion/opts.h"
#include "minion/parts/pillar_local.h"
#include "plugins/builtin.h"
#include "uplink/remotefiles.h"
#include "salt/log.h"
#include "salt/value.h"

#define SETTLE_MS 10000 /* for the master to store the return */

enum { EXIT_GENERIC = 1, EXIT_UNKNOWN_FUNCTION = 255 };

typedef struct caller {
    conf_t *conf;
    json_t *values;      /* parsed command line. BORROWED */
    json_t *grains;      /* gathered on first use */
    bool anew;           /* they are not taken from the minion's cache */
    waitline_t *waiting; /* progress on the terminal; NULL: none */
    callsession_t *master;
    fileclient_t *files;
    py_t *pillar; /* owned: the pillar in memory, once a function asked for it */
    registry_t *registry, *states, *returners;
    show_t show;
    char jid[CLOCK_STAMP_LEN];
} caller_t;

static int
main_call_fail(const char *text)
{
    (void) fprintf(stderr, "%s\n", text);
    return EXIT_GENERIC;
}

/* BORROWED grains, gathered on first use: cheap ones now, slow ones from the minion's cache unless it is
 * empty or --refresh-grains-cache. */
static json_t *
main_call_grains(void *cookie)
{
    caller_t *self = cookie;
    if (self->grains != NULL)
        return self->grains;
    size_t n;
    const plugin_t *const *rows = builtin_plugins(PLUGIN_GRAIN, &n);
    json_t *opts = conf_opts(self->conf);
    self->grains = json_object();
    if (value_bool(self->values, "skip_grains", false))
        return self->grains;
    grains_collect(rows, n, GRAIN_CHEAP, "", opts, self->grains);
    const char *cachedir = conf_str(self->conf, "cachedir");
    json_auto_t *slow = grains_cache_load(cachedir);
    if (json_object_size(slow) > 0 && !self->anew && !value_bool(self->values, "refresh_grains_cache", false))
        (void) json_object_update(self->grains, slow);
    else
        grains_collect(rows, n, GRAIN_SLOW, "", opts, self->grains);
    grains_finish(opts, self->grains);
    return self->grains;
}

/* Gathers the grains anew. NEW reference. */
static json_t *
grains_again(void *cookie)
{
    caller_t *self = cookie;
    json_decref(self->grains);
    self->grains = NULL;
    self->anew = true;
    return json_incref(main_call_grains(self));
}

static void
main_call_progress(void *cookie, size_t step, size_t of, const char *what)
{
    caller_t *self = cookie;
    waitline_step(self->waiting, step, of, what);
}

static int
main_call_fire(void *cookie, const char *tag, json_t *data, fail_t *err)
{
    caller_t *self = cookie;
    if (self->master == NULL)
        return fail_set(err, -ENOTCONN, "there is no master to send an event to (--local)");
    return callsession_event(self->master, tag, data, NULL, err);
}

/* Answers saltutil.revoke_auth. */
static int
host_revoke(caller_t *self, json_t *request, json_t **ret_value, fail_t *err)
{
    *ret_value = json_true();
    return callsession_revoke(self->master, value_bool(request, "preserve_minion_cache", false), err);
}

/* Passes a request on to the minion that runs on this host. */
static int
host_minion(caller_t *self, json_t *request, json_t **ret_value, fail_t *err)
{
    static const struct {
        const char *op, *none; /* what to say where no minion runs */
    } rows[] = {
        { "beacons", "no minion runs here whose beacons those could be" },
        { "event", "no minion with a reactor runs here that would hear an event" },
        { "schedule", "no minion runs here whose schedule that could be; offline=True changes what its next "
                      "start reads" },
    };
    const char *op = value_str(request, "op", "?");
    AUTO_FREE char *usual = xasprintf("'%s' needs a running salt-minion, and none runs here", op);
    const char *none = usual;
    for (size_t i = 0; i < NELEMS(rows); i++)
        none = str_eq(op, rows[i].op) ? rows[i].none : none;
    return callbus_ask(conf_str(self->conf, "sock_dir"), none, request, ret_value, err);
}

/* Fires an event: "fire_master" goes to the master; any other is for the minion that runs here. */
static int
host_event(caller_t *self, json_t *request, json_t **ret_value, fail_t *err)
{
    json_t *data = value_get(request, "data");
    if (!str_eq(value_str(request, "tag", ""), "fire_master"))
        return host_minion(self, request, ret_value, err);
    if (self->master == NULL)
        return fail_set(err, -ENOTCONN, "there is no master to ask (--local)");
    *ret_value = json_true();
    return callsession_event(self->master, value_str(data, "tag", ""), value_get(data, "data"),
                             value_get(data, "preload"), err);
}

static int
host_ask(caller_t *self, json_t *request, json_t **ret_value, fail_t *err)
{
    return callsession_file(self->master, value_get(request, "ask"), ret_value, err);
}

/* Answers host requests, as a minion's parts would. Operations without a row are for jobs of a minion. */
static int
main_call_host(void *cookie, json_t *request, json_t **ret_value, fail_t *err)
{
    static const struct {
        const char *op;
        int (*fn)(caller_t *self, json_t *request, json_t **ret_value, fail_t *err);
        bool local; /* it may need no master */
    } rows[] = { { "ask", host_ask, false },
                 { "beacons", host_minion, true },
                 { "event", host_event, true },
                 { "refresh_grains", host_minion, true },
                 { "refresh_pillar", host_minion, true },
                 { "restart", host_minion, true },
                 { "revoke", host_revoke, false },
                 { "running", host_minion, true },
                 { "schedule", host_minion, true },
                 { "signal", host_minion, true },
                 { "stop", host_minion, true } };
    caller_t *self = cookie;
    const char *op = value_str(request, "op", "?");
    for (size_t i = 0; i < NELEMS(rows); i++) {
        if (!str_eq(op, rows[i].op))
            continue;
        if (self->master != NULL || rows[i].local)
            return rows[i].fn(self, request, ret_value, err);
        return fail_set(err, -ENOTCONN, "there is no master to ask (--local)");
    }
    return fail_kind(err, FAIL_COMMAND, -ENOTSUP,
                     "'%s' needs a running salt-minion, and this call does not come from one", op);
}

/* A pillar compiled for `ask`, here or by the master. NEW, or NULL with *err. */
static py_t *
compile_pillar(caller_t *self, json_t *ask, fail_t *err)
{
    json_t *opts = conf_opts(self->conf), *grains = main_call_grains(self);
    if (self->master == NULL)
        return pillar_local(opts, self->registry, conf_str(self->conf, "id"), grains, ask, self->pillar, err);
    json_auto_t *whole = pillar_ask_complete(opts, ask);
    json_object_set_new(whole, "jid", json_string(self->jid));
    json_auto_t *answer = callsession_pillar(self->master, whole, grains, err);
    return answer != NULL ? py_from_wire(answer) : NULL;
}

/* call_env's `tops`. */
static json_t *
main_call_tops(void *cookie, const char *saltenv, fail_t *err)
{
    caller_t *self = cookie;
    json_t *opts = conf_opts(self->conf), *grains = main_call_grains(self);
    if (self->master == NULL)
        return tops_local(opts, self->registry, conf_str(self->conf, "id"), grains, saltenv);
    json_auto_t *ask = json_pack("{s:b, s:s*, s:s}", "tops", true, "saltenv", saltenv, "jid", self->jid);
    json_auto_t *whole = pillar_ask_complete(opts, ask);
    return callsession_pillar(self->master, whole, grains, err);
}

/* As in a job: without `ask` the pillar in memory, with `ask` one compiled for it. NEW reference. */
static py_t *
pillar(void *cookie, json_t *ask, fail_t *err)
{
    caller_t *self = cookie;
    if (self->pillar == NULL && (ask == NULL || self->master == NULL))
        self->pillar = compile_pillar(self, NULL, err);
    if (ask == NULL || !(self->pillar != NULL || self->master != NULL))
        return py_ref(self->pillar);
    return compile_pillar(self, ask, err);
}

/* Prints a failure in Salt's words and returns the exit code. */
static int
main_call_failed(const func_t *f, const char *fun, const fail_t *err)
{
    (void) fflush(stdout);
    /* The call itself was at fault, as the function or its binding says: its documentation is shown. Salt
     * looks at unknown keywords before, and says no more than which. */
    if (err->kind == FAIL_ARGUMENTS || (err->kind == FAIL_INVOCATION && err->code != -ENOKEY)) {
        (void) fprintf(stderr, "\nPassed invalid arguments: %s.\n\nUsage:\n", fail_text(err));
        AUTO_FREE char *doc = f != NULL ? func_docstring(f) : xstrdup("");
        (void) printf("%s\n", doc);
    } else if (err->kind == FAIL_COMMAND) {
        (void) fprintf(stderr, "Error running '%s': %s\n", fun, fail_text(err));
    } else if (err->kind == FAIL_PROGRAM) {
        (void) fprintf(stderr, "Command required for '%s' not found: %s\n", fun, fail_text(err));
    } else {
        (void) fprintf(stderr, "%s\n", fail_text(err));
    }
    return err->kind == FAIL_UNAVAILABLE ? EXIT_UNKNOWN_FUNCTION : EXIT_GENERIC;
}

/* NEW return of the call. */
static json_t *
main_call_return(const caller_t *self, const char *fun, char *const *words, size_t n, json_t *value,
                 int retcode)
{
    json_auto_t *arg = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(arg, json_string(words[i]));
    return json_pack("{s:s, s:s, s:O, s:O, s:O, s:i, s:b, s:s, s:s}", "jid", self->jid, "fun", fun,
                     "fun_args", arg, "arg", arg, "return", value, "retcode", retcode, "success",
                     retcode == 0, "tgt", conf_str(self->conf, "id"), "tgt_type", "glob");
}

/* Keeps the return in the job cache (cache_jobs) and sends it to the master unless --no-return-event. */
static void
main_call_keep_return(caller_t *self, json_t *ret)
{
    fail_auto_t err = FAIL_INIT;
    AUTO_FREE char *text = value_dump(ret);
    jobcache_keep_text(conf_opts(self->conf), self->jid, text, strlen(text));
    if (self->master == NULL || value_bool(self->values, "no_return_event", false))
        return;
    if (callsession_return(self->master, ret, &err) < 0 ||
        callsession_settle(self->master, SETTLE_MS, &err) < 0)
        log_error("%s", fail_text(&err));
}

/* The function's return code. As in Salt, a return with {"result": false} or {"success": false} counts as
 * failed. */
static int
main_call_retcode(call_ctx_t *ctx, const json_t *value)
{
    int retcode = ctx_retcode(ctx);
    bool ok = value_bool(value, "result", true) && value_bool(value, "success", true);
    return retcode != 0 ? retcode : ok ? 0 : EXIT_GENERIC;
}

/* Runs args[0] with the other arguments, prints and keeps the return; the exit code. */
static int
main_call_run(caller_t *self, char *const *args, size_t n)
{
    fail_auto_t err = FAIL_INIT;
    const char *fun = args[0];
    clock_jid(self->jid);
    log_job(self->jid);
    call_env_t env = { .registry = self->registry,
                       .states = self->states,
                       .returners = self->returners,
                       .opts = conf_opts(self->conf),
                       .id = conf_str(self->conf, "id"),
                       .jid = self->jid,
                       .grains = main_call_grains,
                       .grains_again = grains_again,
                       .progress = main_call_progress,
                       .pillar = pillar,
                       .tops = main_call_tops,
                       .files = self->files,
                       .fire = main_call_fire,
                       .host = main_call_host,
                       .wire = true,
                       .cookie = self };
    AUTO(call_ctx) ctx = call_ctx_new(&env);
    const func_t *f = registry_find(self->registry, ctx, fun, &err);
    if (f == NULL) {
        /* An unknown function: prints the documentation of those whose names begin so, as of `salt-call
         * test`; else why it is not there. The exit code. */
        json_auto_t *docs = err.kind == FAIL_UNAVAILABLE ? call_unavailable(ctx, fun, &err) : NULL;
        if (!json_is_object(docs)) {
            AUTO_FREE char *text = call_unknown(ctx, fun, &err);
            (void) fprintf(stderr, "%s\n", text);
            return EXIT_UNKNOWN_FUNCTION;
        }
        json_auto_t *shown = json_pack("{s:O}", "local", docs);
        show_data(&self->show, shown, "nested", EXIT_GENERIC);
        return EXIT_GENERIC;
    }
    json_auto_t *arg = args_parse(args + 1, n - 1, value_get(self->values, "no_parse"));
    json_auto_t *pub = json_pack("{s:s, s:i, s:s, s:s}", "__pub_fun", fun, "__pub_pid", (int) getpid(),
                                 "__pub_jid", self->jid, "__pub_tgt", "salt-call");
    json_auto_t *value = NULL;
    bool prints = str_eq(fun, "state.event"); /* a line for each event, as it comes */
    self->waiting = prints ? NULL : waitline_new(STDERR_FILENO, fun);
    int rc = call_function(ctx, fun, arg, pub, &value, &err);
    waitline_destroy(&self->waiting);
    if (rc < 0)
        return main_call_failed(f, fun, &err);
    json_auto_t *plain = output_plain(value);
    int retcode = main_call_retcode(ctx, plain);
    json_auto_t *ret = main_call_return(self, fun, args + 1, n - 1, plain, retcode);
    main_call_keep_return(self, ret);
    returners_call(ctx, value_str(self->values, "return", value_str(conf_opts(self->conf), "return", "")),
                   self->values, ret);
    json_auto_t *shown = value_bool(self->values, "metadata", false)
                             ? json_pack("{s:{s:s, s:s, s:O, s:i}}", "local", "jid", self->jid, "fun", fun,
                                         "return", value, "retcode", retcode)
                             : json_pack("{s:O}", "local", value);
    self->show.opts.tuple = output_tuple(fun);
    const char *out = f->more != NULL ? f->more->out : NULL;
    show_data(&self->show, shown, prints ? "quiet" : out != NULL ? out : output_suited(fun), retcode);
    if (call_absent(ctx) != NULL)
        show_error(&self->show, "%s\n", call_absent(ctx));
    if (value_bool(self->values, "retcode_passthrough", false))
        return retcode;
    return retcode == 0 ? 0 : EXIT_GENERIC;
}

/* Runs the function, or the one behind -g (grains) and -d (sys.doc). */
static int
dispatch(caller_t *self, char **args, size_t n)
{
    static char sys_doc[] = "sys.doc";
    char *doc[] = { sys_doc, NULL, NULL };
    if (value_bool(self->values, "grains", false) && n > 0)
        return optparse_error(&opts_call, "-g/--grains does not accept any arguments");
    if (value_bool(self->values, "grains", false)) {
        json_auto_t *shown = json_pack("{s:O}", "local", main_call_grains(self));
        show_data(&self->show, shown, NULL, 0);
        return 0;
    }
    if (value_bool(self->values, "doc", false) && n > 1)
        return optparse_error(&opts_call, "You can only get documentation for one method at one time");
    if (value_bool(self->values, "doc", false)) {
        doc[1] = n > 0 ? args[0] : NULL;
        return main_call_run(self, doc, n > 0 ? 2 : 1);
    }
    if (n == 0)
        return optparse_error(&opts_call, "no function given; for example: salt-call test.ping");
    return main_call_run(self, args, n);
}

/* Connects unless --local, file_client local or no master is configured, then runs the function. */
static int
with_master(caller_t *self, char **args, size_t n)
{
    fail_auto_t err = FAIL_INIT;
    bool local = value_bool(self->values, "local", false) ||
                 str_eq(conf_str(self->conf, "file_client"), "local") ||
                 str_eq(conf_str(self->conf, "master_type"), "disable") ||
                 value_bool(self->values, "doc", false);
    if (!local) {
        /* With a master its files and pillar count, whatever the options name. */
        static const char *const options[] = { "file_root", "pillar_root" };
        static const char *const words[] = { "--file-root", "--pillar-root" };

        for (size_t i = 0; i < NELEMS(options); i++) {
            if (value_get(self->values, options[i]) != NULL)
                log_warning("%s has no effect without --local: files and pillar come from the master",
                            words[i]);
        }

        self->master = callsession_open(self->conf, main_call_grains(self),
                                        (int) conf_int(self->conf, "auth_timeout") * 1000, &err);
        if (self->master == NULL)
            return main_call_fail(fail_text(&err));
        if (callsession_grains(self->master, main_call_grains(self), &err) < 0)
            return main_call_fail(fail_text(&err));
        self->files = remotefiles_new(conf_str(self->conf, "cachedir"), callsession_file, self->master);
    } else {
        self->files = fileclient_local(conf_opts(self->conf), NULL);
    }
    int code = dispatch(self, args, n);
    fileclient_destroy(&self->files);
    callsession_destroy(&self->master);
    return code;
}

/* Turns --file-root or --pillar-root into one folder of the environment base. */
static void
take_root(const json_t *values, const char *option, json_t *overrides, const char *roots)
{
    json_t *folder = value_get(values, option);
    if (folder != NULL)
        json_object_set_new(overrides, roots, json_pack("{s:[O]}", "base", folder));
}

/* The configuration. Whether --out names an outputter of a user's file is known only when it is read. */
static conf_t *
main_call_conf(const char *dir, json_t *overrides, fail_t *err)
{
    json_auto_t *out = json_incref(value_get(overrides, "output"));
    const char *name = json_string_value(out);

    if (name == NULL || output_known(name))
        return startup_conf("salt-call", dir, CONF_MINION, overrides, err);
    json_object_del(overrides, "output");
    conf_t *conf = startup_conf("salt-call", dir, CONF_MINION, overrides, err);
    if (conf == NULL || calloutput_has(conf_opts(conf), name))
        return conf;
    conf_destroy(&conf);
    json_object_set(overrides, "output", out);
    return startup_conf("salt-call", dir, CONF_MINION, overrides, err); /* which refuses it */
}

int
main(int argc, char **argv)
{
    fail_auto_t err = FAIL_INIT;
    opt_result_t opts = { 0 };
    memory_begin();
    ttyguard_begin();
    if (complete_asked(argc, argv)) {
        size_t n;
        const plugin_t *const *rows = builtin_plugins(PLUGIN_EXEC, &n);
        AUTO(registry) functions = registry_new(PLUGIN_EXEC, rows, n);
        return callcompletion_complete(functions, argc, argv);
    }
    int code = optparse_run(&opts_call, argc, argv, &opts);
    if (code >= 0) {
        opt_result_free(&opts);
        return code;
    }
    AUTO_FREE char *dir = startup_conf_dir(opts.values);
    json_auto_t *overrides = startup_overrides(opts.values);
    /* The flags --grains and --local must not override options of the same names. */
    json_object_del(overrides, "grains");
    json_object_del(overrides, "local");
    take_root(opts.values, "file_root", overrides, "file_roots");
    take_root(opts.values, "pillar_root", overrides, "pillar_roots");
    caller_t self = { .values = opts.values };
    self.conf = main_call_conf(dir, overrides, &err);
    /* Root works as the minion's user, so that no file appears that the minion can't read; its folders are
     * given to the user as at the minion's start. A call without a master needs no keys, and leaves no folder
     * for them, as in Salt. */
    bool keys = !value_bool(opts.values, "local", false) && self.conf != NULL &&
                !str_eq(conf_str(self.conf, "file_client"), "local");
    if (self.conf != NULL && geteuid() == 0 &&
        (startup_folders(self.conf, CONF_MINION, keys, &err) < 0 ||
         daemon_user(conf_str(self.conf, "user"), &err) < 0))
        conf_destroy(&self.conf);
    daemon_hide();
    /* Functions and templates recognise salt-call by __opts__['__cli']. */
    if (self.conf != NULL)
        json_object_set_new(conf_opts(self.conf), "__cli", json_string("salt-call"));
    if (self.conf == NULL || show_init(&self.show, opts.values, conf_opts(self.conf), &err) < 0) {
        code = main_call_fail(fail_text(&err));
    } else {
        size_t n;
        self.show.others = calloutput_print;
        const plugin_t *const *rows = builtin_plugins(PLUGIN_EXEC, &n);
        self.registry = registry_new(PLUGIN_EXEC, rows, n);
        rows = builtin_plugins(PLUGIN_STATE, &n);
        self.states = registry_new(PLUGIN_STATE, rows, n);
        rows = builtin_plugins(PLUGIN_RETURNER, &n);
        self.returners = registry_built_in(PLUGIN_RETURNER, rows, n);
        code = with_master(&self, opts.args, opts.n_args);
        registry_destroy(&self.registry);
        registry_destroy(&self.returners);
        registry_destroy(&self.states);
    }
    json_decref(self.grains);
    py_unref(self.pillar);
    conf_destroy(&self.conf);
    opt_result_free(&opts);
    return self.show.failed && code == 0 ? EXIT_GENERIC : code;
}
