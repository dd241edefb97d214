/* batch.c - --batch: runs the job on so many minions at a time and begins the next one as soon as a place is
 * free. The targets are matched once; each step publishes a job of its own for the ids that fill the free
 * places. A place rests for --batch-wait after its minion returned. */
#include "cli/cmd.h"

#include <math.h>

#include "cli/interrupt.h"
#include "cli/request.h"
#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/cli/progress.h"
#include "common/cli/ttyguard.h"
#include "common/match/batchsize.h"
#include "salt/log.h"
#include "salt/value.h"

#define WAIT_MAX_S 1e9 /* longer than anybody waits */

typedef struct batch {
    cmd_t *cmd;
    bool grouped; /* --static: everything in one piece at the end */
    bool failhard;
    int64_t wait_ms;  /* --batch-wait */
    size_t places;    /* how many run at one time */
    json_t *ids;      /* BORROWED: targets that are there */
    size_t next;      /* first of `ids` that was not started */
    size_t active;    /* started, not over */
    int64_t *resting; /* times when used places are free again, in order */
    size_t n_resting;
    json_t *all; /* object: returns, when grouped */
    int retcode; /* highest */
    bool stopped;
} batch_t;

/* ---- one return ------------------------------------------------------------------------------ */

/* The command ends with the highest code; a signal's negative one counts as 1. */
static void
batch_count(batch_t *self, int retcode)
{
    int code = retcode < 0 ? EXIT_FAILURE : startup_exit_code(retcode);

    self->retcode = code > self->retcode ? code : self->retcode;
}

/* Prints or collects one return. With --failhard a failure stops the run after the jobs that are under
 * way. */
static void
batch_take_return(batch_t *self, const news_t *news)
{
    int retcode = cmd_retcode(news->push);

    batch_count(self, retcode);
    if (self->grouped) {
        json_object_set(self->all, news->id, value_get(news->push, "return"));
    } else {
        json_auto_t *data = json_pack("{s:i, s:s}", "retcode", retcode, "jid", follow_jid(news->job));
        json_object_set(data, news->id, value_get(news->push, "return"));
        show_data(&self->cmd->show, data, cmd_outputter(self->cmd, news->push), 0);
    }
    cmd_show_absent(self->cmd, news->id, news->push);
    if (!self->failhard || retcode <= 0)
        return;
    log_error("Minion %s returned with non-zero exit code. Batch run stopped due to failhard", news->id);
    self->stopped = true;
}

/* A silent minion counts as failed only when it is mentioned. */
static void
take_silent(batch_t *self, const news_t *news)
{
    if (!cmd_mentions(self->cmd, news->outcome))
        return;
    batch_count(self, EXIT_FAILURE);
    json_auto_t *data = json_pack("{s:s}", news->id, news->text);
    if (self->grouped)
        json_object_update(self->all, data);
    else
        show_data(&self->cmd->show, data, "no_return", EXIT_FAILURE);
    self->stopped = self->stopped || self->failhard;
}

/* ---- the run ---------------------------------------------------------------------------------- */

/* Publishes the job for the next ids. 0, or the exit code. */
static int
start_next(batch_t *self)
{
    fail_auto_t err = FAIL_INIT;

    /* The ids of the next job. */
    json_auto_t *ids = json_array();
    size_t used = self->active + self->n_resting;
    for (; used < self->places && self->next < json_array_size(self->ids); used++)
        json_array_append(ids, json_array_get(self->ids, self->next++));

    follow_t *job = NULL;

    if (json_array_size(ids) == 0)
        return 0;
    json_auto_t *sorted = value_sorted_texts(ids);
    AUTO_FREE char *names = value_repr(sorted);
    if (!self->grouped)
        show_print(&self->cmd->show, "\nExecuting run on %s\n\n", names);
    json_t *request = request_for(self->cmd->request, ids), *id;
    size_t i;
    if (cmd_is_watched(self->cmd))
        json_object_set_new(request, "watched", json_true());
    if (jobline_publish(self->cmd->line, &request, &job, &err) < 0)
        return cmd_refused(self->cmd, &err);
    if (job == NULL) {
        /* Their keys were removed meanwhile. */
        show_error(&self->cmd->show, "%s: no longer accepted\n", names);
        batch_count(self, EXIT_FAILURE);
        return 0;
    }
    interrupt_job(follow_jid(job));
    self->active += json_array_size(ids);
    json_array_foreach (ids, i, id)
        where_begin(self->cmd->where, follow_jid(job), json_string_value(id), clock_mono_ms());
    return 0;
}

/* On a terminal: a line for each minion at work, and how many have returned or wait. */
static void
batch_draw(batch_t *self)
{
    progress_t *progress = self->cmd->show.progress;
    size_t all = json_array_size(self->ids), waiting = all - self->next;

    if (!progress_due(progress))
        return;
    cmd_show_where(self->cmd);
    AUTO_FREE char *note = waiting > 0 ? xasprintf("%zu wait for their turn", waiting) : NULL;
    progress_note(progress, note);
    progress_update(progress, self->next - self->active, all);
}

/* Waits for one piece of news, at most until the next resting place wakes. */
static int
take_next(batch_t *self)
{
    fail_auto_t err = FAIL_INIT;
    int64_t until = clock_mono_ms() + 1000;
    news_t news;

    if (self->n_resting > 0 && self->resting[0] < until)
        until = self->resting[0];
    batch_draw(self);
    if (jobline_news(self->cmd->line, until, &news, &err) < 0)
        return cmd_refused(self->cmd, &err);
    cmd_where_news(self->cmd, &news);
    if (news.kind == NEWS_RETURN)
        batch_take_return(self, &news);
    else if (news.kind == NEWS_SILENT)
        take_silent(self, &news);
    if (news.kind == NEWS_RETURN || news.kind == NEWS_SILENT) {
        /* Frees a minion's place; with --batch-wait it rests first. */
        self->active--;
        if (self->wait_ms > 0)
            self->resting[self->n_resting++] = clock_mono_ms() + self->wait_ms;
    }
    follow_t *over = news.kind == NEWS_OVER ? news.job : NULL;
    jobline_forget(self->cmd->line, &over);
    news_free(&news);
    return 0;
}

/* ---- who takes part -------------------------------------------------------------------------- */

/* Reports a target that takes no part. Its text appears with the returns in --static mode only. */
static void
batch_leave_out(batch_t *self, const char *id, outcome_t outcome)
{
    AUTO_FREE char *text = outcome_text(outcome, false, "");

    if (!self->grouped)
        show_print(&self->cmd->show, "Minion %s%s did not respond. No job will be sent.\n", id,
                   ttyguard_bound(stdout));
    if (!cmd_mentions(self->cmd, outcome))
        return;
    batch_count(self, EXIT_FAILURE);
    json_object_set_new(self->all, id, json_string(text));
}

/* Connected, or on its way back after the master's start: the master waits for it when its turn comes. */
static bool
is_present(const json_t *minion)
{
    return value_bool(minion, "connected", false) || value_int(minion, "awaited_ms", 0) > 0;
}

/* The targets, and of them those that are there. *ret_ids NEW. */
static int
batch_gather(batch_t *self, json_t **ret_ids)
{
    json_t *request = json_copy(self->cmd->request), *state = json_object(), *id;
    json_auto_t *reply = NULL, *minions = NULL;
    size_t i;
    int rc = cmd_call(self->cmd, "match", &request, &reply);

    if (rc == 0)
        rc = cmd_call(self->cmd, "minions", &state, &minions);
    json_decref(state);
    *ret_ids = json_array();
    json_array_foreach (value_get(reply, "minions"), i, id) {
        const char *name = json_string_value(id);
        if (is_present(value_get(value_get(minions, "minions"), name)))
            json_array_append(*ret_ids, id);
        else if (rc == 0)
            batch_leave_out(self, name, OUTCOME_NOT_CONNECTED);
    }
    json_array_foreach (value_get(reply, "missing"), i, id)
        batch_leave_out(self, json_string_value(id), OUTCOME_NOT_ACCEPTED);
    if (rc == 0 && json_array_size(value_get(reply, "minions")) == 0)
        return cmd_no_match(self->cmd);
    return rc;
}

static int
run_gathered(batch_t *self, const json_t *size)
{
    size_t n = json_array_size(self->ids);
    long places = batch_size(size, n);
    AUTO_FREE char *text = value_pystr(size);

    if (places < 0) {
        show_error(&self->cmd->show,
                   "Invalid batch data sent: %s\nData must be in the form of %%10, 10%% or 3\n", text);
        return EXIT_FAILURE;
    }
    /* More places than minions are of no use. */
    self->places = (size_t) places < n ? (size_t) places : n;
    self->resting = xcalloc(self->places + 1, sizeof(*self->resting));

    AUTO(progress) progress = progress_new("minions returned");
    self->cmd->show.progress = progress;
    if (cmd_is_watched(self->cmd))
        cmd_watch(self->cmd, NULL);
    else
        self->cmd->where = where_new(NULL); /* lines without steps */

    /* Until all are started and over, or the run is stopped. */
    int rc = 0;
    while (rc == 0 && !self->stopped && (self->active > 0 || self->next < json_array_size(self->ids))) {
        /* Drops the resting places whose time is over, which lie at the front. */
        int64_t now_ms = clock_mono_ms();
        size_t count = 0;
        /* Places come to rest in the order of time. */
        while (count < self->n_resting && self->resting[count] <= now_ms)
            count++;
        self->n_resting -= count;
        memmove(self->resting, self->resting + count, self->n_resting * sizeof(*self->resting));

        rc = start_next(self);
        if (rc == 0 && (self->active > 0 || self->n_resting > 0))
            rc = take_next(self);
    }

    where_destroy(&self->cmd->where);
    self->cmd->show.progress = NULL;
    progress_destroy(&progress); /* before the group is shown */
    free(self->resting);
    if (rc != 0)
        return rc;
    if (!self->grouped)
        return self->retcode;
    show_group(&self->cmd->show, self->all, self->cmd->fun);
    self->cmd->failed = self->retcode != 0;
    return cmd_finish(self->cmd);
}

int
batch_run(cmd_t *cmd, const json_t *size)
{
    const json_t *values = cmd->start.values;
    json_auto_t *ids = NULL, *all = json_object();
    batch_t self = { .cmd = cmd,
                     .all = all,
                     .grouped = value_bool(values, "static", false),
                     .failhard = startup_flag(&cmd->start, "failhard", false),
                     .wait_ms = (int64_t) (fmax(0, fmin(value_num(values, "batch_wait", 0), WAIT_MAX_S)) *
                                           1000) };
    int rc = batch_gather(&self, &ids);

    self.ids = ids;
    return rc == 0 ? run_gathered(&self, size) : rc;
}
