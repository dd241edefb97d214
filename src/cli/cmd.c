/* cmd.c - what the modes of the salt command share: asking the master, and following a job. cmd_follow()
 * hands the news of a job to the mode's sink. */
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
#include "common/cli/term.h"
#include "common/match/match.h"
#include "common/data/yaml.h"
#include "common/output/output.h"
#include "salt/limits.h"
#include "salt/log.h"
#include "salt/value.h"

#define TICK_MS       1000 /* the progress line is looked after so often */
#define RUNNERS_SHOWN 5
#define WHERE_ROWS    10 /* minions with a line of their own */

enum { EXIT_REFUSED = 1 };

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

bool
cmd_is_file_here(const char *word)
{
    fail_auto_t err = FAIL_INIT;

    return word[strcspn(word, "*?[/ ")] == '\0' && fs_look(word, &err) == 1;
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

/* Hints at a function and a minion that stand in each other's place. */
static void
cli_cmd_suggest_order(cmd_t *self, const char *tgt)
{
    fail_auto_t err = FAIL_INIT;
    json_t *request = json_pack("{s:s, s:s, s:s}", "op", "match", "tgt", self->fun, "tgt_type", "glob");
    json_auto_t *reply = NULL;

    if (jobline_call(self->line, &request, &reply, &err) == 0 &&
        json_array_size(value_get(reply, "minions")) > 0)
        show_error(&self->show, "The target comes first: salt '%s' %s\n", self->fun, tgt);
}

/* Hints at a kind of target in small letters, g@os:Debian, which is taken for an id. */
static void
cli_cmd_suggest_kind(cmd_t *self, const char *tgt)
{
    static const char kinds[] = "gpijlnser";
    for (const char *at = tgt; *at != '\0'; at++)
        if ((at == tgt || strchr(" (", at[-1]) != NULL) && strchr(kinds, *at) != NULL && at[1] == '@') {
            show_error(&self->show, "'%c@' begins an id here; is '%c@' meant?\n", *at, *at - 'a' + 'A');
            return;
        }
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
        if (cmd_is_file_here(tgt))
            show_error(
                &self->show,
                "'%s' is a file of this folder: if the shell expanded the target's `*`, write '*' in quotes\n",
                tgt);
        else if (strchr(tgt, '.') != NULL && self->fun[strcspn(self->fun, ".")] == '\0')
            cli_cmd_suggest_order(self, tgt);
        else
            cli_cmd_suggest_id(self, tgt);
    }
    if (str_eq(value_str(asked, "tgt_type", ""), "compound"))
        cli_cmd_suggest_kind(self, tgt);

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

void
cmd_show_absent(cmd_t *self, const char *id, const json_t *push)
{
    const char *absent = value_str(push, "absent", "");

    if (*absent != '\0')
        show_error(&self->show, "%s: %s\n", id, absent);
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

void
cmd_show_where(cmd_t *self)
{
    buf_auto_t lines = BUF_INIT;

    if (self->where == NULL)
        return;
    where_text(self->where, clock_mono_ms(), term_columns(STDERR_FILENO), WHERE_ROWS, &lines);
    progress_above(self->show.progress, buf_str(&lines));
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
    cmd_show_where(self);
    AUTO_FREE char *who = counts.running > 0 ? follow_runners(job, RUNNERS_SHOWN) : NULL;
    AUTO_FREE char *note = who != NULL ? xasprintf("running: %s", who) : NULL;
    progress_note(self->show.progress, note);
    progress_update(self->show.progress, counts.returned + counts.silent, counts.targets);
}

void
cmd_where_news(cmd_t *self, const news_t *news)
{
    if (self->where != NULL && news->kind == NEWS_EVENT)
        where_take(self->where, news->push, clock_mono_ms());
    if (self->where != NULL && (news->kind == NEWS_RETURN || news->kind == NEWS_SILENT))
        where_over(self->where, news->id);
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
        cmd_where_news(self, &news);
        bool over = news.kind == NEWS_OVER;
        news_free(&news);
        if (over)
            return 0;
    }
}

bool
cmd_is_watched(const cmd_t *self)
{
    return isatty(STDERR_FILENO) == 1 && term_moves() && self->out != NULL && str_eq(self->out, "highstate");
}

void
cmd_watch(cmd_t *self, const char *jid)
{
    fail_auto_t err = FAIL_INIT;
    json_auto_t *reply = NULL;

    self->where = where_new(jid);
    AUTO_FREE char *tag = where_tag(self->where);
    json_t *request = json_pack("{s:s, s:s}", "op", "events", "tag", tag);
    if (jobline_call(self->line, &request, &reply, &err) < 0)
        log_debug("where the minions are will not be shown: %s", fail_text(&err));
}

int
cmd_follow(cmd_t *self, json_t **request_p, const cmd_sink_t *sink, void *state)
{
    fail_auto_t err = FAIL_INIT;
    follow_t *job = NULL;

    if (cmd_is_watched(self))
        json_object_set_new(*request_p, "watched", json_true());
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
    if (cmd_is_watched(self) && follow_counts(job).targets <= LIMIT_WATCHED)
        cmd_watch(self, follow_jid(job));
    int rc = take_news(self, job, sink, state);
    where_destroy(&self->where);
    self->show.held = false;
    show_flush(&self->show);
    self->show.progress = NULL;
    jobline_forget(self->line, &job);
    return rc;
}
