/* run.c - the salt-run command: begins a runner in the master, shows its progress, and prints its return.
 * state.event runs here, on a line of its own; documentation comes from the runner doc.runner. */
#include "cli/run.h"

#include <unistd.h>

#include "cli/eauth.h"
#include "cli/interrupt.h"
#include "cli/lists.h"
#include "cli/live.h"
#include "cli/opts.h"
#include "cli/show.h"
#include "cli/startup.h"
#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/cli/term.h"
#include "common/data/args.h"
#include "common/local/client.h"
#include "common/local/watch.h"
#include "common/plugin/call.h"
#include "salt/log.h"
#include "salt/value.h"

#define PROGRESS_TAGS   "salt/run/*/progress"
#define PROGRESS_SUFFIX "/progress"

enum { EXIT_USAGE = 64 };

typedef struct salt_run {
    startup_t start;
    show_t show;
    local_client_t *line;
    const char *fun; /* BORROWED from the command line; "" when there is none */
    char *jid;       /* owned; NULL until the master gave one */
    live_t *live;
} salt_run_t;

/* ---- returns, pure --------------------------------------------------------------------------- */

/* Exit code of a return, as Salt derives it: the return's own retcode, then the runner's, then 1 for a
 * failure. */
int
run_exit_code(const json_t *push)
{
    const json_t *value = value_get(push, "return");
    const json_t *inner = value_get(value, "retcode");

    if (inner == NULL)
        inner = value_get(value_get(value, "data"), "retcode");
    if (json_is_integer(inner))
        return startup_exit_code(json_integer_value(inner));
    int code = startup_exit_code(value_int(push, "retcode", 0));
    return code == 0 && value_bool(push, "failed", false) ? EXIT_FAILURE : code;
}

/* Data within a return that names its outputter; *ret_out NULL otherwise. BORROWED. */
const json_t *
run_unwrap(const json_t *value, const char **ret_out)
{
    const json_t *data = value_get(value, "data");

    *ret_out = value_str(value, "outputter", NULL);
    /* With a retcode beside it the whole is shown: the highstate outputter knows that shape. */
    return data != NULL && *ret_out != NULL && json_object_size(value) == 2 ? data : value;
}

/* Documentation of one function, of all functions of a module, or of everything for "". NEW. */
json_t *
run_docs_of(const json_t *docs, const char *arg)
{
    AUTO_FREE char *module = xasprintf("%s%s", arg, str_ends(arg, ".") ? "" : ".");
    json_t *found = json_object(), *text;
    const char *fun;

    json_object_foreach ((json_t *) docs, fun, text)
        if (*arg == '\0' || str_eq(fun, arg) || str_starts(fun, module))
            json_object_set(found, fun, text);
    return found;
}

/* ---- one runner ------------------------------------------------------------------------------ */

/* The line to the master failed: tells how to find the return later. */
static int
cli_run_broken(salt_run_t *self, const fail_t *err)
{
    show_error(&self->show, "%s\n", fail_text(err));
    if (self->jid != NULL)
        show_error(&self->show,
                   "This runner's jid is: %s\nTo look up its return later, run the following command:\n\n"
                   "salt-run jobs.lookup_jid %s\n",
                   self->jid, self->jid);
    return EXIT_NO_MASTER;
}

/* Start it; its jid is self->jid then. 0, or the exit code. */
static int
cli_run_start(salt_run_t *self, const char *fun, json_t *arg, bool follow, fail_t *err)
{
    json_t *request = json_pack("{s:s, s:s, s:O, s:b}", "op", "runner", "fun", fun, "arg", arg, "follow",
                                follow);
    json_auto_t *reply = NULL;

    if (value_int(self->start.values, "timeout", 0) > 0)
        json_object_set_new(request, "timeout", json_integer(startup_timeout_ms(&self->start) / 1000));
    interrupt_asked();
    if (local_call(self->line, &request, &reply, err) < 0) {
        if (err->code != -EREMOTEIO)
            return cli_run_broken(self, err);
        show_text(&self->show, fail_text(err));
        return EXIT_FAILURE;
    }
    self->jid = xstrdup(value_str(reply, "jid", ""));
    /* An orchestration's name in the journal is the run that it resumes, or its own jid; others have none. */
    static const char *const funs[] = { "state.orchestrate", "state.orch", "state.sls",
                                        "state.orchestrate_high", "state.orchestrate_single" };
    const json_t *resume = value_get(json_array_get(arg, json_array_size(arg) - 1), "resume");
    size_t i = 0;

    while (i < NELEMS(funs) && !str_eq(fun, funs[i]))
        i++;
    AUTO_FREE char *run = i == NELEMS(funs)                         ? NULL
                          : resume != NULL && !json_is_null(resume) ? value_pystr(resume)
                                                                    : xstrdup(self->jid);
    if (run != NULL)
        interrupt_orchestration(self->jid, run);
    else
        interrupt_job(self->jid);

    json_int_t others = value_int(reply, "waits_for", 0);
    if (others > 0 && isatty(STDERR_FILENO) == 1)
        show_error(
            &self->show,
            "%lld functions are at work in the master; this one (jid %s) waits for one of them to end. "
            "'salt-run jobs.master' shows them.\n",
            (long long) others, self->jid);

    return 0;
}

/* Shows an event that the runner fired before it ends. */
static void
cli_run_show_event(salt_run_t *self, const char *suffix, json_t *event)
{
    json_auto_t *shown = json_pack("{s:s, s:O?}", "suffix", suffix, "event", event);
    show_data(&self->show, shown, value_str(event, "outputter", NULL), 0);
}

/* Until its push came: 0 and *ret_push NEW, or the exit code. */
static int
cli_run_await(salt_run_t *self, json_t **ret_push)
{
    for (;;) {
        fail_auto_t err = FAIL_INIT;
        json_auto_t *push = NULL;
        live_draw(self->live, clock_mono_ms());
        int rc = local_next(self->line, live_pause(self->live), &push, &err);
        if (rc == -EINTR || rc == 0)
            continue;
        if (rc < 0)
            return cli_run_broken(self, &err);
        const char *kind = value_str(push, "push", "");
        if (str_eq(kind, "event")) {
            live_clear(self->live);

            const char *tag = value_str(push, "tag", "");
            AUTO_FREE char *mine = xasprintf("salt/run/%s" PROGRESS_SUFFIX, self->jid);
            if (str_eq(tag, mine))
                cli_run_show_event(self, "progress", value_get(push, "data"));
        } else if (str_eq(kind, "progress") && value_get(push, "suffix") != NULL) {
            live_clear(self->live);
            cli_run_show_event(self, value_str(push, "suffix", ""), value_get(push, "event"));
        } else if (str_eq(kind, "progress")) {
            live_take(self->live, push, clock_mono_ms());
        } else if (str_eq(kind, "runner") && str_eq(value_str(push, "jid", ""), self->jid)) {
            *ret_push = STEAL(push);
            return 0;
        }
    }
}

/* Progress is asked for before the runner starts, so that none is missed. Without the right to listen it runs
 * all the same. 0, or the exit code. */
static int
listen_to_progress(salt_run_t *self)
{
    fail_auto_t err = FAIL_INIT;
    json_t *request = json_pack("{s:s, s:s}", "op", "events", "tag", PROGRESS_TAGS);
    json_auto_t *reply = NULL;

    int rc = local_call(self->line, &request, &reply, &err);
    if (rc == -EREMOTEIO)
        log_debug("no progress will be shown: %s", fail_text(&err));
    return rc == 0 || rc == -EREMOTEIO ? 0 : cli_run_broken(self, &err);
}

static int
cli_run_async(salt_run_t *self, json_t *arg)
{
    fail_auto_t err = FAIL_INIT;
    int rc = cli_run_start(self, self->fun, arg, false, &err);

    if (rc != 0)
        return rc;
    log_warning(
        "Running in asynchronous mode. Results of this execution may be collected by attaching to the master "
        "event bus or by examining the master job cache, if configured. This execution is running under tag "
        "salt/run/%s",
        self->jid);
    show_print(&self->show, "Executed command with job ID: %s\n", self->jid);
    return 0;
}

/* ---- documentation ---------------------------------------------------------------------------- */

/* *ret NEW: {fun: text} of all functions. 0, or the exit code. */
static int
fetch_docs(salt_run_t *self, json_t **ret)
{
    fail_auto_t err = FAIL_INIT;
    json_auto_t *push = NULL, *none = json_array();
    int rc = cli_run_start(self, "doc.runner", none, true, &err);

    if (rc == 0)
        rc = cli_run_await(self, &push);
    if (rc == 0)
        *ret = run_docs_of(value_get(push, "return"), "");
    return rc;
}

/* salt-run -d: plain text. */
static int
cli_run_print_docs(salt_run_t *self)
{
    json_auto_t *all = NULL, *docs = NULL, *sorted = NULL;
    int rc = fetch_docs(self, &all);
    json_t *text;
    const char *fun;

    if (rc != 0)
        return rc;
    docs = run_docs_of(all, self->fun);
    if (json_object_size(docs) == 0) {
        show_error(&self->show, "No runner is called '%s'; 'salt-run -d' lists what there is\n", self->fun);
        return EXIT_FAILURE;
    }
    AUTO_FREE char *flat = json_dumps(docs, JSON_SORT_KEYS);
    sorted = json_loads(flat, 0, NULL);
    json_object_foreach (sorted, fun, text) {
        json_auto_t *headline = value_fmt("%s:", fun);
        show_data(&self->show, headline, "text", 0);
        show_print(&self->show, "%s\n", json_is_string(text) ? json_string_value(text) : "");
    }
    return 0;
}

/* No function, or a module without one: what there is to choose from, through the outputter. */
static int
show_docs(salt_run_t *self)
{
    json_auto_t *all = NULL;
    int rc = fetch_docs(self, &all);

    if (rc != 0)
        return rc;
    json_auto_t *docs = run_docs_of(all, self->fun);
    if (json_object_size(docs) > 0) {
        show_data(&self->show, docs, "nested", 0);
        return 0;
    }
    /* The functions of that name in all runners. */
    AUTO_FREE char *ending = xasprintf(".%s", self->fun);
    buf_auto_t near = BUF_INIT;
    const char *fun;
    json_t *one;
    json_object_foreach (all, fun, one)
        if (str_ends(fun, ending))
            buf_printf(&near, "%s'%s'", near.len > 0 ? " or " : " Did you mean ", fun);
    AUTO_FREE char *text = xasprintf("'%s' is not available.%s%s", self->fun, buf_str(&near),
                                     near.len > 0 ? "?" : "");
    show_text(&self->show, text);
    return EXIT_FAILURE;
}

/* ---- what happens here, not in the master ---------------------------------------------------- */

/* The line of who has logged in; each request's time is set by its user. */
static local_client_t *
open_line(const char *sock_dir, fail_t *err)
{
    return eauth_connect(sock_dir, 0, err);
}

/* state.event: Ctrl-C ends a shell's whole list of commands, which this one is often part of, and it ends
 * without a word. */
static int
listen_to_events(salt_run_t *self, json_t *arg)
{
    static const func_t event = { .name = "event", .args = watch_args };
    fail_auto_t err = FAIL_INIT;
    json_t *args = NULL, *kwargs = NULL;

    args_split(arg, &args, &kwargs);
    json_auto_t *bound = bind_args(&event, args, kwargs, NULL, &err);
    json_decref(args);
    json_decref(kwargs);
    interrupt_default();
    watch_open_by(open_line);
    local_client_destroy(&self->line);
    int rc = bound != NULL ? watch_run(bound, self->start.opts, stdout, &err) : err.code;
    if (rc < 0 && rc != -EPIPE)
        show_error(&self->show, "%s\n", fail_text(&err));
    if (rc == 0 || rc == -EPIPE)
        return 0;
    return rc == -ECONNREFUSED || rc == -ENOENT ? EXIT_NO_MASTER : EXIT_FAILURE;
}

static const struct {
    const char *fun;
    int (*fn)(salt_run_t *self, json_t *arg);
} own[] = {
    { "state.event", listen_to_events },
};

/* ---- the program ------------------------------------------------------------------------------ */

static int
run_connected(salt_run_t *self)
{
    const opt_result_t *res = &self->start.res;
    json_auto_t *arg = NULL;

    self->live = live_new(STDERR_FILENO, term_utf8(), self->show.opts.colour == PAINT_MARKED);
    if (value_bool(res->values, "doc", false))
        return cli_run_print_docs(self);
    if (strchr(self->fun, '.') == NULL)
        return show_docs(self);
    arg = args_parse(res->args + 1, res->n_args - 1, value_get(res->values, "no_parse"));
    if (value_bool(res->values, "async", false))
        return cli_run_async(self, arg);
    for (size_t i = 0; i < NELEMS(own); i++)
        if (str_eq(self->fun, own[i].fun))
            return own[i].fn(self, arg);

    fail_auto_t err = FAIL_INIT;
    json_auto_t *push = NULL;
    const char *out;

    AUTO_FREE char *hint = NULL;

    int rc = listen_to_progress(self);
    if (rc == 0)
        rc = cli_run_start(self, self->fun, arg, true, &err);
    live_begin(self->live, self->fun, clock_mono_ms());
    if (rc == 0)
        rc = cli_run_await(self, &push);
    hint = live_hint(self->live);
    live_clear(self->live);
    if (rc != 0)
        return rc;
    int code = run_exit_code(push);
    const json_t *data = run_unwrap(value_get(push, "return"), &out);
    if (out != NULL || code != 0 || !lists_show(&self->show, self->fun, data))
        show_data(&self->show, data, out, 0);
    if (value_get(push, "absent") != NULL)
        show_error(&self->show, "%s\n", value_str(push, "absent", ""));
    if (!self->show.quiet && self->show.output == NULL && isatty(STDOUT_FILENO) == 1) {
        show_flush(&self->show);
        live_rest(self->live, clock_mono_ms());
    }
    if (hint != NULL)
        show_error(&self->show, "%s\n", hint);
    return code;
}

static int
cli_run_configured(salt_run_t *self)
{
    fail_auto_t err = FAIL_INIT;
    const opt_result_t *res = &self->start.res;
    int rc;

    if (value_bool(res->values, "doc", false) && res->n_args > 1)
        return optparse_error(&opts_run, "You can only get documentation for one method at one time");
    if ((rc = startup_configure(&self->start)) >= 0)
        return rc;
    if (show_init(&self->show, self->start.values, self->start.opts, &err) < 0)
        return optparse_error(&opts_run, "%s", fail_text(&err));
    self->fun = res->n_args > 0 ? res->args[0] : "";
    self->line = eauth_connect(value_str(self->start.opts, "sock_dir", ""), startup_timeout_ms(&self->start),
                               &err);
    if (self->line == NULL)
        return cli_run_broken(self, &err);
    return run_connected(self);
}

int
run_main(int argc, char **argv)
{
    salt_run_t self = { .fun = "" };
    int rc = startup_options(&self.start, &opts_run, argc, argv);

    interrupt_arm();
    if (rc < 0)
        rc = cli_run_configured(&self);
    if (rc == 0 && self.show.failed)
        rc = EXIT_FAILURE;
    live_destroy(&self.live);
    local_client_destroy(&self.line);
    free(self.jid);
    startup_free(&self.start);
    return rc;
}
