/* salt.c - the salt command: from the command line to the exit code. salt_build() makes the request,
 * salt_run_configured() opens the line to the master, run_mode() chooses how returns are printed (plain,
 * --static, --async, --batch, -d). All modes but --async follow their job through cmd_follow() (cmd.c). */
#include "cli/cmd.h"

#include "cli/interrupt.h"
#include "cli/opts.h"
#include "cli/request.h"
#include "cli/summary.h"
#include "common/output/suited.h"
#include "common/base/str.h"
#include "common/data/yaml.h"
#include "common/output/output.h"
#include "salt/log.h"
#include "salt/value.h"

enum { EXIT_USAGE = 64 };

/* ---- plain: every return as it comes --------------------------------------------------------- */

static void
show_one(cmd_t *self, const char *id, json_t *data, const char *out, int retcode)
{
    json_auto_t *one = json_object();

    json_object_set(one, id, data);
    show_data(&self->show, one, out, retcode);
    self->failed = self->failed || retcode != 0;
}

/* Prints one return as it comes. */
static void
plain_return(cmd_t *self, const char *id, json_t *push, void *state)
{
    int retcode = cmd_retcode(push);

    show_one(self, id, value_get(push, "return"), cmd_outputter(self, push), retcode);
    cmd_show_absent(self, id, push);
    summary_return(state, id, retcode);
}

static void
plain_silent(cmd_t *self, const char *id, outcome_t outcome, const char *text, void *state)
{
    json_auto_t *data = json_string(text);

    show_one(self, id, data, "no_return", EXIT_FAILURE);
    summary_silent(state, id, outcome);
}

/* With --progress, counts the return instead of printing it. */
static void
salt_count_return(cmd_t *self, const char *id, json_t *push, void *state)
{
    int retcode = cmd_retcode(push);

    self->failed = self->failed || retcode != 0;
    summary_return(state, id, retcode);
}

static void
count_silent(cmd_t *self, const char *id, outcome_t outcome, const char *text, void *state)
{
    self->failed = true;
    summary_silent(state, id, outcome);
}

/* With --progress only the summary is printed. */
static int
run_plain(cmd_t *self)
{
    static const cmd_sink_t plain = { plain_return, plain_silent, true };
    static const cmd_sink_t counting = { salt_count_return, count_silent, true };
    summary_t summary = SUMMARY_INIT;
    bool progress = value_bool(self->start.values, "progress", false);
    bool wanted = progress || (startup_flag(&self->start, "cli_summary", false) && self->show.output == NULL);

    int rc = cmd_follow(self, &self->request, progress ? &counting : &plain, &summary);
    if (rc == 0 && wanted) {
        buf_auto_t text = BUF_INIT;
        summary_format(&summary, self->verbose, &text);
        show_print(&self->show, "%s", buf_str(&text));
    }
    summary_free(&summary);
    return rc == 0 ? cmd_finish(self) : rc;
}

/* ---- --static: all returns in one piece ------------------------------------------------------ */

static void
group_return(cmd_t *self, const char *id, json_t *push, void *state)
{
    json_object_set(state, id, value_get(push, "return"));
    cmd_show_absent(self, id, push);
    self->failed = self->failed || cmd_retcode(push) != 0;
}

static void
group_silent(cmd_t *self, const char *id, outcome_t outcome, const char *text, void *state)
{
    json_object_set_new(state, id, json_string(text));
    self->failed = true;
}

/* ---- without waiting ------------------------------------------------------------------------- */

/* Publishes and prints the jid; the returns are left to the master. */
static int
salt_run_async(cmd_t *self)
{
    json_auto_t *reply = NULL;

    interrupt_asked();
    int rc = cmd_call(self, "publish", &self->request, &reply);

    if (rc != 0)
        return rc;
    if (str_empty(value_str(reply, "jid", "")))
        return cmd_no_match(self);
    show_print(&self->show, "Executed command with job ID: %s\n", value_str(reply, "jid", ""));
    return 0;
}

/* Targets of the request. 0 with *ret_ids NEW, or the exit code. */
static int
matched(cmd_t *self, json_t **ret_ids)
{
    json_t *request = json_copy(self->request);
    json_auto_t *reply = NULL;
    int rc = cmd_call(self, "match", &request, &reply);

    *ret_ids = rc == 0 ? json_incref(value_get(reply, "minions")) : NULL;
    return rc;
}

/* ---- which mode ------------------------------------------------------------------------------ */

/* Rejects options that --async can't honour, so that none is ignored silently. 0, or the exit code. */
static int
check_async(const cmd_t *self)
{
    bool async = value_bool(self->start.values, "async", false);

    if (async && value_bool(self->start.values, "static", false))
        return optparse_error(
            &opts_salt, "--async shows no returns, so there are none for --static: leave out one of them");
    return 0;
}

/* Rejects a negative --subset. 0, or the exit code. */
static int
salt_check_subset(const cmd_t *self)
{
    json_int_t subset = value_int(self->start.values, "subset", 0);

    return subset >= 0 ? 0
                       : optparse_error(&opts_salt, "option --subset: %lld is not a number of minions",
                                        (long long) subset);
}

/* With --async the master drives the batch, and goes on when this command has ended. */
static int
cmd_run_batch(cmd_t *self, json_t *size)
{
    const json_t *values = self->start.values;

    if (!value_bool(values, "async", false))
        return batch_run(self, size);
    json_t *batch = json_pack("{s:O, s:b}", "size", size, "failhard",
                              startup_flag(&self->start, "failhard", false));
    static const char *const seconds[][2] = { { "batch_wait", "wait" }, { "timeout", "timeout" } };
    for (size_t i = 0; i < NELEMS(seconds); i++)
        if (value_get(values, seconds[i][0]) != NULL)
            json_object_set(batch, seconds[i][1], value_get(values, seconds[i][0]));
    json_object_set_new(self->request, "batch", batch);
    return salt_run_async(self);
}

/* Implements Salt's --batch-safe-limit: a target of at least that many minions runs in batches. *ret_done is
 * false when the plain mode shall go on. */
static int
run_safely(cmd_t *self, bool *ret_done)
{
    json_int_t limit = json_integer_value(startup_setting(&self->start, "batch_safe_limit"));
    json_auto_t *ids = NULL;

    *ret_done = false;
    if (limit <= 1)
        return 0;
    int rc = matched(self, &ids);
    *ret_done = rc != 0 || (json_int_t) json_array_size(ids) >= limit;
    if (rc != 0 || !*ret_done)
        return rc;
    show_print(&self->show, "\nNOTICE: Too many minions targeted, switching to batch execution.\n");
    return cmd_run_batch(self, startup_setting(&self->start, "batch_safe_size"));
}

static int
run_mode(cmd_t *self)
{
    const json_t *values = self->start.values;
    json_t *batch = startup_setting(&self->start, "batch");
    bool done = false;

    if (value_bool(values, "preview_target", false)) {
        /* Prints the targets and runs nothing. */
        json_auto_t *ids = NULL;
        int rc = matched(self, &ids);

        if (rc != 0)
            return rc;
        show_data(&self->show, ids, "nested", 0);
        if (json_array_size(ids) > 0)
            return 0;
        show_error(&self->show, "ERROR: No return received\n");
        return EXIT_NO_MASTER;
    }

    /* Narrows the request's target for --subset, before the mode is chosen. */
    json_int_t subset = value_int(self->start.values, "subset", 0);
    int rc = subset > 0 ? subset_choose(self, (size_t) subset) : 0;

    if (rc != 0)
        return rc;
    if (value_truthy(batch))
        return cmd_run_batch(self, batch);
    if (value_bool(values, "static", false)) {
        /* Collects all returns and prints them at the end. */
        static const cmd_sink_t sink = { group_return, group_silent, false };
        json_auto_t *all = json_object();
        rc = cmd_follow(self, &self->request, &sink, all);

        if (rc != 0)
            return rc;
        show_group(&self->show, all, self->fun);
        return cmd_finish(self);
    }
    rc = run_safely(self, &done);
    if (done)
        return rc;
    return value_bool(values, "async", false) ? salt_run_async(self)
           : str_eq(self->fun, "sys.doc")     ? doc_run(self)
                                              : run_plain(self);
}

/* Builds the request. 0, or the exit code of a command line that does not make one. */
static int
salt_build(cmd_t *self)
{
    const opt_result_t *res = &self->start.res;
    fail_auto_t err = FAIL_INIT;
    bool preview = value_bool(res->values, "preview_target", false);

    if (preview && res->n_args > 0) {
        self->request = request_target(res->values, res->args[0]);
        self->fun = xstrdup("");
        return 0;
    }
    if (res->n_args <= 1 && !value_bool(res->values, "doc", false) && !preview) {
        /* Too few words: the help stands before the error. */
        static char prog[] = "salt", help[] = "--help";
        char *argv[] = { prog, help, NULL };
        opt_result_t parsed;

        (void) optparse_run(&opts_salt, 2, argv, &parsed);
        opt_result_free(&parsed);
        (void) fflush(stdout);
        if (res->n_args == 1)
            show_error(
                &self->show,
                strchr(res->args[0], '.') != NULL
                    ? "\nsalt: error: one word is given: salt '*' %s runs that function on all minions\n"
                    : "\nsalt: error: no function is given; for example: salt '%s' test.ping\n",
                res->args[0]);
    }
    /* A target and a function that are both names of files here are a `*` that the shell has expanded. */
    char *const *args = self->start.res.args;
    int rc =
        self->start.res.n_args < 2 || !cmd_is_file_here(args[0]) || !cmd_is_file_here(args[1])
            ? 0
            : optparse_error(
                  &opts_salt,
                  "'%s' and '%s' are files of this folder: the shell expanded the target's `*`; write '*' "
                  "in quotes",
                  args[0], args[1]);
    if (rc != 0)
        return rc;
    rc = request_build(res->values, res->args, res->n_args, &self->request, &err);
    if (rc == EXIT_USAGE)
        return optparse_error(&opts_salt, "%s", fail_text(&err));
    if (rc != 0)
        (void) fprintf(stderr, "%s", fail_text(&err));
    self->fun = xstrdup(value_str(self->request, "fun", ""));
    self->out = output_suited(self->fun);
    return rc;
}

static int
salt_run_configured(cmd_t *self)
{
    fail_auto_t err = FAIL_INIT;
    int rc = startup_configure(&self->start);

    if (rc >= 0)
        return rc;
    if (show_init(&self->show, self->start.values, self->start.opts, &err) < 0)
        return optparse_error(&opts_salt, "%s", fail_text(&err));
    self->verbose = value_bool(self->start.values, "verbose", false);
    self->show_silent = startup_flag(&self->start, "show_timeout", true);
    if (value_bool(self->start.values, "config_dump", false)) {
        AUTO_FREE char *flat = json_dumps(self->start.opts, JSON_SORT_KEYS | JSON_ENCODE_ANY);
        json_auto_t *sorted = json_loads(flat, JSON_DECODE_ANY, NULL);
        AUTO_FREE char *text = yaml_dump(sorted, 0);
        show_print(&self->show, "%s", text);
        return 0;
    }
    if ((rc = salt_build(self)) != 0)
        return rc;
    if ((rc = check_async(self)) != 0 || (rc = salt_check_subset(self)) != 0)
        return rc;
    show_args(&self->show, value_get(self->request, "arg"));

    rc = cmd_nodegroup(self, self->request);

    if (rc != 0)
        return rc;
    self->line = jobline_new(value_str(self->start.opts, "sock_dir", ""), startup_timeout_ms(&self->start),
                             &err);
    if (self->line == NULL)
        return cmd_refused(self, &err);
    return run_mode(self);
}

int
salt_main(int argc, char **argv)
{
    cmd_t self = { .request = NULL };
    int rc = startup_options(&self.start, &opts_salt, argc, argv);

    interrupt_arm();
    if (rc < 0)
        rc = salt_run_configured(&self);
    if (rc == 0 && self.show.failed)
        rc = EXIT_FAILURE;
    jobline_destroy(&self.line);
    json_decref(self.request);
    free(self.fun);
    startup_free(&self.start);
    return rc;
}
