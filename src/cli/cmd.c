/* cmd.c - the salt command: from the command line to the exit code. cli_cmd_build() makes the request,
 * connect_and_run() opens the line to the master, run_mode() chooses how returns are printed (plain,
 * --static, --async, --batch, -d). All modes but --async follow their job through cmd_follow(), which hands
 * news to the mode's sink. */
#include "cli/cmd.h"

#include <unistd.h>

#include "cli/interrupt.h"
#include "cli/opts.h"
#include "cli/request.h"
#include "cli/summary.h"
#include "common/output/suited.h"
#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/match/match.h"
#include "common/data/yaml.h"
#include "common/output/output.h"
#include "salt/log.h"
#include "salt/value.h"

#define TICK_MS       1000 /* the progress line is looked after so often */
#define RUNNERS_SHOWN 5

enum { EXIT_USAGE = 64, EXIT_REFUSED = 1 };

/* ---- what every mode needs ------------------------------------------------------------------- */

/* A refusal by the master (-EREMOTEIO) is printed as it came; any other error means that no master
 * answers. */
int
cmd_refused(cmd_t *self, const fail_t *err)
{
    if (err->code == -EREMOTEIO) {
        show_text(&self->show, fail_text(err));
        return EXIT_REFUSED;
    }
    show_error(&self->show, "%s\n", fail_text(err));
    return EXIT_NO_MASTER;
}

int
cmd_call(cmd_t *self, const char *op, json_t **request_p, json_t **ret_reply)
{
    fail_auto_t err = FAIL_INIT;

    json_object_set_new(*request_p, "op", json_string(op));
    return jobline_call(self->line, request_p, ret_reply, &err) == 0 ? 0 : cmd_refused(self, &err);
}

/* Replaces a nodegroup by its compound target. 0, or the exit code. */
int
cmd_nodegroup(cmd_t *self, json_t *request)
{
    fail_auto_t err = FAIL_INIT;
    const char *group = value_str(request, "tgt", ""),
               *file = value_str(self->start.opts, "conf_file", "the configuration");
    json_t *groups = value_get(self->start.opts, "nodegroups");

    if (!str_eq(value_str(request, "tgt_type", ""), "nodegroup"))
        return 0;
    json_auto_t *target = nodegroup_target(group, groups, &err);
    if (target == NULL) {
        AUTO_FREE char *text = value_get(groups, group) == NULL
                                   ? xasprintf("Node group %s unavailable in %s", group, file)
                                   : xasprintf("%s: %s", file, fail_text(&err));
        show_text(&self->show, text);
        return EXIT_REFUSED;
    }
    json_object_set(request, "tgt", target);
    json_object_set_new(request, "tgt_type", json_string("compound"));
    return 0;
}

/* True for a word without wildcards that is a file's name in this folder: the shell may have put it there. */
static bool
is_file_here(const char *word)
{
    fail_auto_t err = FAIL_INIT;

    return word[strcspn(word, "*?[/ ")] == '\0' && fs_look(word, &err) == 1;
}

/* Refuses a target and a function that are both names of files here. 0, or the exit code. */
static int
cli_cmd_check_expanded(const cmd_t *self)
{
    char *const *args = self->start.res.args;

    if (self->start.res.n_args < 2 || !is_file_here(args[0]) || !is_file_here(args[1]))
        return 0;
    return optparse_error(
        &opts_salt,
        "'%s' and '%s' are files of this folder: the shell expanded the target's `*`; write '*' "
        "in quotes",
        args[0], args[1]);
}

static const char *
cli_cmd_next_id(void *cookie)
{
    json_t *ids = *(json_t **) cookie;
    size_t n = json_array_size(ids);
    const char *id = n > 0 ? json_string_value(json_array_get(ids, n - 1)) : NULL;

    /* The caller's list keeps the text alive; this one only counts down. */
    if (n > 0)
        (void) json_array_remove(ids, n - 1);
    return id;
}

/* Names the minion that an id without wildcards may mean, if this user may ask for all of them. */
static void
cli_cmd_suggest_id(cmd_t *self, const char *tgt)
{
    fail_auto_t err = FAIL_INIT;
    json_t *request = json_pack("{s:s, s:s, s:s}", "op", "match", "tgt", "*", "tgt_type", "glob");
    json_auto_t *reply = NULL;

    if (jobline_call(self->line, &request, &reply, &err) < 0)
        return;
    json_t *ids = value_get(reply, "minions");
    json_auto_t *left = json_copy(ids);
    const char *near = str_suggest(tgt, cli_cmd_next_id, &left);
    if (near != NULL)
        show_error(&self->show, "No minion of the id '%s' is accepted; is '%s' meant?\n", tgt, near);
}

/* Salt's words for an empty target; sys.doc has words of its own. */
int
cmd_no_match(cmd_t *self)
{
    json_auto_t *nothing = json_object();

    show_print(&self->show, "No minions matched the target. No command was sent, no jid was assigned.\n");
    if (str_eq(self->fun, "sys.doc")) {
        show_error(&self->show, "No minions found to gather docs from\n");
        return EXIT_NO_MASTER;
    }
    show_data(&self->show, nothing, NULL, 0);

    /* Hints at the target that the operator may have meant, when nothing matches one without wildcards. */
    const opt_result_t *res = &self->start.res;
    json_auto_t *asked = res->n_args > 0 ? request_target(res->values, res->args[0]) : NULL;
    const char *tgt = value_str(asked, "tgt", "*");

    if (str_eq(value_str(asked, "tgt_type", ""), "glob") && tgt[strcspn(tgt, "*?[")] == '\0') {
        if (is_file_here(tgt))
            show_error(
                &self->show,
                "'%s' is a file of this folder: if the shell expanded the target's `*`, write '*' in quotes\n",
                tgt);
        else
            cli_cmd_suggest_id(self, tgt);
    }

    show_error(&self->show, "ERROR: No return received\n");
    return EXIT_NO_MASTER;
}

/* Exit code of a run whose returns are all printed. */
int
cmd_finish(cmd_t *self)
{
    if (!self->failed)
        return 0;
    show_error(&self->show, "ERROR: Minions returned with non-zero exit code\n");
    return EXIT_FAILURE;
}

/* Highest code of several functions. Codes beyond an int are 1. */
int
cmd_retcode(const json_t *push)
{
    json_t *code = value_get(push, "retcode"), *one;
    const char *fun;
    json_int_t max = 0;

    if (!json_is_object(code))
        max = json_is_boolean(code) ? json_is_true(code) : json_integer_value(code);
    json_object_foreach (code, fun, one)
        max = json_integer_value(one) > max ? json_integer_value(one) : max;
    return max == (int) max ? (int) max : EXIT_FAILURE;
}

const char *
cmd_outputter(const cmd_t *self, const json_t *push)
{
    return self->out != NULL ? self->out : output_claimed(value_str(push, "out", NULL));
}

/* Silent targets are shown when asked for; ids without a key always. */
bool
cmd_mentions(const cmd_t *self, outcome_t outcome)
{
    return self->show_silent || self->verbose || outcome == OUTCOME_NOT_ACCEPTED;
}

/* Returns that arrive together are written with one flush. */
static void
before_waiting(cmd_t *self, follow_t *job)
{
    self->show.held = jobline_more(self->line);
    if (self->show.held)
        return;
    show_flush(&self->show);

    /* The line on the terminal: how many returned, and who is at work. */
    follow_counts_t counts = follow_counts(job);
    if (counts.returned + counts.silent == counts.targets || !progress_due(self->show.progress))
        return;
    AUTO_FREE char *who = counts.running > 0 ? follow_runners(job, RUNNERS_SHOWN) : NULL;
    AUTO_FREE char *note = who != NULL ? xasprintf("running: %s", who) : NULL;
    progress_note(self->show.progress, note);
    progress_update(self->show.progress, counts.returned + counts.silent, counts.targets);
}

/* Consumes news until the job is over, waking every TICK_MS for the progress line. */
static int
take_news(cmd_t *self, follow_t *job, const cmd_sink_t *sink, void *state)
{
    for (;;) {
        fail_auto_t err = FAIL_INIT;
        news_t news;
        before_waiting(self, job);
        if (jobline_news(self->line, clock_mono_ms() + TICK_MS, &news, &err) < 0) {
            /* Tells how to find the returns later: the job itself goes on. */
            show_error(
                &self->show,
                "%s\nThis job's jid is: %s\nThe minions keep what they return until the master is back. To look "
                "it up then, run the following command:\n\nsalt-run jobs.lookup_jid %s\n",
                fail_text(&err), follow_jid(job), follow_jid(job));
            return EXIT_NO_MASTER;
        }
        if (news.kind == NEWS_RETURN)
            sink->on_return(self, news.id, news.push, state);
        else if (news.kind == NEWS_SILENT && cmd_mentions(self, news.outcome))
            sink->on_silent(self, news.id, news.outcome, news.text, state);
        bool over = news.kind == NEWS_OVER;
        news_free(&news);
        if (over)
            return 0;
    }
}

int
cmd_follow(cmd_t *self, json_t **request_p, const cmd_sink_t *sink, void *state)
{
    fail_auto_t err = FAIL_INIT;
    follow_t *job = NULL;

    if (jobline_publish(self->line, request_p, &job, &err) < 0)
        return cmd_refused(self, &err);
    if (job == NULL)
        return cmd_no_match(self);
    interrupt_job(follow_jid(job));
    if (sink->announce) {
        /* Prints the jid as -v and --show-jid ask for it. */
        const char *jid = follow_jid(job);
        AUTO_FREE char *line = xasprintf("Executing job with jid %s", jid);
        buf_auto_t rule = BUF_INIT;

        buf_fill(&rule, '-', strlen(line));
        if (self->verbose)
            show_print(&self->show, "%s\n%s\n\n", line, buf_str(&rule));
        else if (startup_flag(&self->start, "show_jid", false))
            show_print(&self->show, "jid: %s\n", jid);
    }
    AUTO(progress) progress = progress_new("minions returned");
    self->show.progress = progress;
    int rc = take_news(self, job, sink, state);
    self->show.held = false;
    show_flush(&self->show);
    self->show.progress = NULL;
    jobline_forget(self->line, &job);
    return rc;
}

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
cli_cmd_count_return(cmd_t *self, const char *id, json_t *push, void *state)
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
    static const cmd_sink_t counting = { cli_cmd_count_return, count_silent, true };
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
cli_cmd_run_async(cmd_t *self)
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
cli_cmd_check_subset(const cmd_t *self)
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
    return cli_cmd_run_async(self);
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
run_waiting(cmd_t *self)
{
    return str_eq(self->fun, "sys.doc") ? doc_run(self) : run_plain(self);
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
    return value_bool(values, "async", false) ? cli_cmd_run_async(self) : run_waiting(self);
}

static void
print_help(void)
{
    static char prog[] = "salt", help[] = "--help";
    char *argv[] = { prog, help, NULL };
    opt_result_t res;

    (void) optparse_run(&opts_salt, 2, argv, &res);
    opt_result_free(&res);
    (void) fflush(stdout);
}

/* Builds the request. 0, or the exit code of a command line that does not make one. */
static int
cli_cmd_build(cmd_t *self)
{
    const opt_result_t *res = &self->start.res;
    fail_auto_t err = FAIL_INIT;
    bool preview = value_bool(res->values, "preview_target", false);

    if (preview && res->n_args > 0) {
        self->request = request_target(res->values, res->args[0]);
        self->fun = xstrdup("");
        return 0;
    }
    if (res->n_args <= 1 && !value_bool(res->values, "doc", false) && !preview)
        print_help();
    int rc = cli_cmd_check_expanded(self);
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
cli_cmd_run_configured(cmd_t *self)
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
    if ((rc = cli_cmd_build(self)) != 0)
        return rc;
    if ((rc = check_async(self)) != 0 || (rc = cli_cmd_check_subset(self)) != 0)
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
cmd_main(int argc, char **argv)
{
    cmd_t self = { .request = NULL };
    int rc = startup_options(&self.start, &opts_salt, argc, argv);

    interrupt_arm();
    if (rc < 0)
        rc = cli_cmd_run_configured(&self);
    if (rc == 0 && self.show.failed)
        rc = EXIT_FAILURE;
    jobline_destroy(&self.line);
    json_decref(self.request);
    free(self.fun);
    startup_free(&self.start);
    return rc;
}
