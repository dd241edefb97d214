/* figures.c - the request `metrics`: what the master counts, as Prometheus reads it (text format 0.0.4).
 *
 * Names are those of Salt 3008 (salt_jobs_published_total, ...) and of salt-exporter (salt_new_job_total,
 * ...), side by side, and halite_... for what the request `status` tells. Rows are by function; only with
 * `minions` by minion, too. A function whose name is not one, or that is the FUNCTIONS_MAX + 1st, counts as
 * "other". */
#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/base/map.h"
#include "common/base/plainwrite.h"
#include "common/base/str.h"
#include "master/front/figures.h"
#include "master/front/hooks.h"
#include "master/front/part.h"
#include "master/front/request.h"
#include "master/jobs/ret.h"
#include "salt/value.h"

enum { FUNCTIONS_MAX = 1000, NAME_MAX_LEN = FIGURES_LABEL_MAX };

/* Upper bounds of the buckets of a job's duration, in milliseconds. */
static const unsigned buckets[] = { 1, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10000, 30000, 60000 };

typedef struct figure {
    char *fun, *state; /* owned; `state`: the SLS of state.apply and its like, "" of others */
    uint64_t jobs, targets, ok, failed, scheduled_ok, scheduled_failed;
    uint64_t bucket[NELEMS(buckets)], timed, timed_ms, last_ms;
} figure_t;

typedef struct heard {
    uint64_t ok, failed;
    enum { STATUS_NONE, STATUS_GOOD, STATUS_BAD } highstate; /* its last one */
    int64_t at_us;
} heard_t;

/* Each return is counted, so that takes no look-up and no text: the figure of the job whose returns come
 * in is kept, and each minion's has a place by the minion's slot. */
typedef struct figures {
    map_t *by_fun;     /* "FUN STATE" to figure_t, which stays */
    map_t *by_minion;  /* id to heard_t */
    heard_t **by_slot; /* BORROWED of by_minion, by the minion's slot; NULL: not looked up yet */
    size_t n_slots;
    char *jid;        /* owned: of the last return's job; NULL: none */
    figure_t *of_jid; /* BORROWED */
} figures_t;

static void
figure_free(void *p)
{
    figure_t *self = p;

    free(self->fun);
    free(self->state);
    free(self);
}

static int
figures_start(front_t *front, fail_t *err)
{
    figures_t *self = front->own[PART_figures];

    self->by_fun = map_new(figure_free);
    self->by_minion = map_new(free);
    return 0;
}

static bool
figures_destroy(front_t *front)
{
    figures_t *self = front->own[PART_figures];

    map_destroy(&self->by_fun);
    map_destroy(&self->by_minion);
    free(self->by_slot);
    free(self->jid);
    return true;
}

bool
figures_label(const char *name)
{
    size_t len = strlen(name);

    return len > 0 && len <= NAME_MAX_LEN &&
           strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-:/@") == len;
}

static figure_t *
figure_of(figures_t *self, const char *fun, const char *state)
{
    fun = figures_label(fun) ? fun : "other";
    state = figures_label(state) ? state : "";
    AUTO_FREE char *key = xasprintf("%s %s", fun, state);
    figure_t *figure = map_get(self->by_fun, key);
    bool other = str_eq(fun, "other") && *state == '\0';

    if (figure != NULL)
        return figure;
    if (map_len(self->by_fun) >= FUNCTIONS_MAX && !other)
        return figure_of(self, "other", "");
    figure = xcalloc(1, sizeof(*figure));
    figure->fun = xstrdup(fun);
    figure->state = xstrdup(state);
    map_set(self->by_fun, key, figure);
    return figure;
}

/* The SLS that a job of states applies, as salt-exporter shows it. BORROWED. */
static const char *
figure_sls(const char *fun, const json_t *arg)
{
    const json_t *first = json_array_get(arg, 0);

    if (str_eq(fun, "state.highstate") || (str_eq(fun, "state.apply") && !json_is_string(first)))
        return "highstate";
    if (!str_eq(fun, "state.apply") && !str_eq(fun, "state.sls"))
        return "";
    return json_is_string(first) && strchr(json_string_value(first), '=') == NULL ? json_string_value(first)
                                                                                  : "";
}

/* ---- what happens -------------------------------------------------------------------------------- */

static figure_t *
figure_of_job(figures_t *self, const job_t *job)
{
    const char *fun = value_str(job->info, "fun", "other");

    return figure_of(self, fun, figure_sls(fun, value_get(job->info, "arg")));
}

static void
figures_published(front_t *front, const job_t *job)
{
    figure_t *figure = figure_of_job(front->own[PART_figures], job);

    figure->jobs++;
    figure->targets += job->n_targets;
}

static heard_t *
heard_of(figures_t *self, const minion_t *m)
{
    if (m->slot >= self->n_slots) {
        size_t n = (size_t) m->slot + m->slot / 2 + 64;
        self->by_slot = xrealloc(self->by_slot, n * sizeof(heard_t *));
        memset(self->by_slot + self->n_slots, 0, (n - self->n_slots) * sizeof(heard_t *));
        self->n_slots = n;
    }
    heard_t *heard = self->by_slot[m->slot];
    if (heard == NULL)
        heard = map_get(self->by_minion, m->id);
    if (heard == NULL)
        map_set(self->by_minion, m->id, heard = xcalloc(1, sizeof(*heard)));
    return self->by_slot[m->slot] = heard;
}

static void
figure_time(figure_t *self, const job_t *job, int64_t now_us)
{
    int64_t took_ms = (now_us - job->start_us) / 1000;

    if (took_ms < 0)
        return;
    self->timed++;
    self->timed_ms += (uint64_t) took_ms;
    self->last_ms = (uint64_t) took_ms;
    for (size_t i = 0; i < NELEMS(buckets); i++)
        self->bucket[i] += took_ms <= buckets[i];
}

static void
figures_returned(front_t *front, const minion_t *m, const job_t *job, const ret_t *ret)
{
    figures_t *self = front->own[PART_figures];
    bool good = ret->success && ret->retcode == 0;
    jtext_t fun = ret->field[RET_FUN];
    int64_t now_us = clock_wall_us();
    figure_t *figure;

    if (job != NULL) {
        /* Returns of a job come one after the other: the look-up of the last job is kept. */
        if (self->jid == NULL || !str_eq(self->jid, job->jid)) {
            free(self->jid);
            self->jid = xstrdup(job->jid);
            self->of_jid = figure_of_job(self, job);
        }
        figure = self->of_jid;
        figure_time(figure, job, now_us);
    } else {
        char name[NAME_MAX_LEN + 1] = "other";
        if (fun.at != NULL && fun.len > 2 && fun.len < sizeof(name) + 2 && fun.at[0] == '"')
            (void) snprintf(name, sizeof(name), "%.*s", (int) fun.len - 2, fun.at + 1);
        figure = figure_of(self, name, "");
    }
    figure->ok += good;
    figure->failed += !good;
    if (ret->field[RET_SCHEDULE].at != NULL)
        *(good ? &figure->scheduled_ok : &figure->scheduled_failed) += 1;

    heard_t *heard = heard_of(self, m);
    heard->ok += good;
    heard->failed += !good;
    heard->at_us = now_us;
    if (str_eq(figure->state, "highstate"))
        heard->highstate = good ? STATUS_GOOD : STATUS_BAD;
}

static void
figures_forgotten(front_t *front, const char *id)
{
    figures_t *self = front->own[PART_figures];
    const heard_t *heard = map_get(self->by_minion, id);

    for (size_t i = 0; heard != NULL && i < self->n_slots; i++)
        if (self->by_slot[i] == heard)
            self->by_slot[i] = NULL;
    (void) map_del(self->by_minion, id);
}

/* ---- the text ------------------------------------------------------------------------------------ */

void
figures_head(buf_t *out, const char *name, const char *type, const char *help)
{
    buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

typedef uint64_t count_fn(const figure_t *figure);

static uint64_t
count_jobs(const figure_t *figure)
{
    return figure->jobs;
}

static uint64_t
count_targets(const figure_t *figure)
{
    return figure->targets;
}

static uint64_t
count_ok(const figure_t *figure)
{
    return figure->ok;
}

static uint64_t
count_failed(const figure_t *figure)
{
    return figure->failed;
}

static uint64_t
count_scheduled_ok(const figure_t *figure)
{
    return figure->scheduled_ok;
}

static uint64_t
count_scheduled_failed(const figure_t *figure)
{
    return figure->scheduled_failed;
}

/* Rows of one name; the format has a place for the function, and the SLS where `by_state`. */
static const struct family {
    const char *name, *help;
    bool begins; /* the head of the family precedes it */
    bool by_state;
    const char *more; /* further labels */
    count_fn *count;
} families[] = {
    { "salt_jobs_published_total", "Jobs published.", true, false, "", count_jobs },
    { "salt_jobs_completed_total", "Returns of jobs.", true, false, ",success=\"true\"", count_ok },
    { "salt_jobs_completed_total", "", false, false, ",success=\"false\"", count_failed },
    { "salt_new_job_total", "Jobs published.", true, true, "", count_jobs },
    { "salt_expected_responses_total", "Minions that jobs were for.", true, true, "", count_targets },
    { "salt_function_responses_total", "Returns of jobs.", true, true, ",success=\"true\"", count_ok },
    { "salt_function_responses_total", "", false, true, ",success=\"false\"", count_failed },
    { "salt_scheduled_job_return_total", "Returns of scheduled jobs.", true, true, ",success=\"true\"",
      count_scheduled_ok },
    { "salt_scheduled_job_return_total", "", false, true, ",success=\"false\"", count_scheduled_failed },
};

/* Sums up what differs only in the SLS, which the names of Salt 3008 do not have. NEW map; rows are its own.
 */
static map_t *
figures_by_function(const figures_t *self)
{
    map_t *sums = map_new(figure_free);
    const char *key;
    void *value;

    for (size_t i = 0; map_next(self->by_fun, &i, &key, &value);) {
        const figure_t *one = value;
        figure_t *sum = map_get(sums, one->fun);
        if (sum == NULL) {
            map_set(sums, one->fun, sum = xcalloc(1, sizeof(*sum)));
            sum->fun = xstrdup(one->fun);
            sum->state = xstrdup("");
        }
        sum->jobs += one->jobs;
        sum->targets += one->targets;
        sum->ok += one->ok;
        sum->failed += one->failed;
        sum->scheduled_ok += one->scheduled_ok;
        sum->scheduled_failed += one->scheduled_failed;
        sum->timed += one->timed;
        sum->timed_ms += one->timed_ms;
        for (size_t b = 0; b < NELEMS(buckets); b++)
            sum->bucket[b] += one->bucket[b];
    }
    return sums;
}

static void
figures_add_family(buf_t *out, const struct family *family, const map_t *rows)
{
    const char *key;
    void *value;

    if (family->begins)
        figures_head(out, family->name, "counter", family->help);
    for (size_t i = 0; map_next(rows, &i, &key, &value);) {
        const figure_t *one = value;
        if (family->by_state)
            buf_printf(out, "%s{function=\"%s\",state=\"%s\"%s} %llu\n", family->name, one->fun, one->state,
                       family->more, (unsigned long long) family->count(one));
        else
            buf_printf(out, "%s{fun=\"%s\"%s} %llu\n", family->name, one->fun, family->more,
                       (unsigned long long) family->count(one));
    }
}

static void
figures_add_durations(buf_t *out, const map_t *sums)
{
    static const char name[] = "salt_job_duration_milliseconds";
    const char *key;
    void *value;

    figures_head(out, name, "histogram", "From a job's publication to a minion's return.");
    for (size_t i = 0; map_next(sums, &i, &key, &value);) {
        const figure_t *one = value;
        for (size_t b = 0; b < NELEMS(buckets); b++)
            buf_printf(out, "%s_bucket{fun=\"%s\",le=\"%u\"} %llu\n", name, one->fun, buckets[b],
                       (unsigned long long) one->bucket[b]);
        buf_printf(
            out,
            "%s_bucket{fun=\"%s\",le=\"+Inf\"} %llu\n%s_sum{fun=\"%s\"} %llu\n%s_count{fun=\"%s\"} %llu\n",
            name, one->fun, (unsigned long long) one->timed, name, one->fun,
            (unsigned long long) one->timed_ms, name, one->fun, (unsigned long long) one->timed);
    }
}

static void
figures_add_counters(buf_t *out, const front_counters_t *counters)
{
    static const char *const results[AUTH_RESULTS] = { [AUTH_SUCCESS] = "success",
                                                       [AUTH_PENDING] = "pending",
                                                       [AUTH_INVALID_ID] = "invalid_id",
                                                       [AUTH_MAX_MINIONS] = "max_minions",
                                                       [AUTH_REJECTED] = "rejected" };

    figures_head(out, "salt_auth_attempts_total", "counter",
                 "Minions that came, by what their keys were good for.");
    for (size_t i = 0; i < AUTH_RESULTS; i++)
        buf_printf(out, "salt_auth_attempts_total{result=\"%s\"} %llu\n", results[i],
                   (unsigned long long) counters->auth[i]);
    figures_head(out, "salt_events_fired_total", "counter", "Events by the beginning of their tags.");
    for (size_t i = 0; i < counters->tags.n; i++)
        buf_printf(out, "salt_events_fired_total{tag_prefix=\"%s\"} %llu\n", counters->tags.rows[i].name,
                   (unsigned long long) counters->tags.rows[i].count);
    /* Messages by Salt's names of the requests that they are for, where it has one. */
    static const struct {
        wire_msg_t msg;
        const char *cmd;
    } salts[] = { { MSG_hello, "_auth" },           { MSG_ret, "_return" },
                  { MSG_event, "_minion_event" },   { MSG_pillar_ask, "_pillar" },
                  { MSG_file_open, "_serve_file" }, { MSG_peer_ask, "minion_pub" },
                  { MSG_revoke, "revoke_auth" } };

    figures_head(out, "salt_master_requests_handled_total", "counter",
                 "Requests of minions, and jobs (publish).");
    buf_printf(out, "salt_master_requests_handled_total{cmd=\"publish\"} %llu\n",
               (unsigned long long) counters->jobs);
    for (wire_msg_t msg = 0; msg < MSG_COUNT; msg++) {
        const char *cmd = wire_name(msg);
        for (size_t i = 0; i < NELEMS(salts); i++)
            cmd = salts[i].msg == msg ? salts[i].cmd : cmd;
        if (counters->handled[msg] > 0)
            buf_printf(out, "salt_master_requests_handled_total{cmd=\"%s\"} %llu\n", cmd,
                       (unsigned long long) counters->handled[msg]);
    }
}

void
figures_add_one(buf_t *out, const char *name, const char *type, const char *help, double value)
{
    figures_head(out, name, type, help);
    buf_printf(out, "%s %.17g\n", name, value);
}

/* Numbers of the reply `status`, as halite_PATH; names of ours have only letters and _. */
static void
figures_add_status(buf_t *out, const char *prefix, const json_t *value)
{
    const char *key;
    json_t *one;

    json_object_foreach ((json_t *) value, key, one) {
        AUTO_FREE char *name = xasprintf("%s_%s", prefix, key);
        if (json_is_object(one))
            figures_add_status(out, name, one);
        else if (json_is_number(one) || json_is_boolean(one))
            figures_add_one(out, name, "gauge", "A figure of the request status.",
                            json_is_number(one) ? json_number_value(one) : json_is_true(one));
    }
}

/* What `status` says of each follower and engine: their names are values of a label. A text counts as 1, its
 * absence as 0. */
static void
figures_add_programs(buf_t *out, const json_t *status)
{
    static const struct {
        const char *name, *type, *help, *of, *key;
    } rows[] = {
        { "halite_follower_behind", "gauge", "Events that a follower has still to look at or to store.",
          "followers", "behind" },
        { "halite_follower_failed", "gauge", "1: what it stores into takes nothing now.", "followers",
          "failed" },
        { "halite_follower_starts_total", "counter", "Starts of a follower's process.", "followers",
          "starts" },
        { "halite_engine_starts_total", "counter", "Starts of an engine's process.", "engines", "starts" },
    };
    const char *name;
    json_t *one;

    for (size_t i = 0; i < NELEMS(rows); i++) {
        json_t *all = value_get(status, rows[i].of);
        if (json_object_size(all) > 0)
            figures_head(out, rows[i].name, rows[i].type, rows[i].help);
        json_object_foreach (all, name, one) {
            const json_t *v = value_get(one, rows[i].key);
            buf_printf(out, "%s{name=\"", rows[i].name);
            plain_quote(name, out);
            buf_printf(out, "\"} %lld\n",
                       json_is_integer(v) ? (long long) json_integer_value(v) : (long long) (v != NULL));
        }
    }
}

static void
figures_add_minions(const front_t *front, const figures_t *self, buf_t *out)
{
    const char *id;
    void *value;

    figures_head(out, "salt_responses_total", "counter", "Returns of a minion.");
    for (size_t i = 0; map_next(self->by_minion, &i, &id, &value);) {
        const heard_t *one = value;
        buf_printf(out, "salt_responses_total{minion=\"%s\",success=\"true\"} %llu\n", id,
                   (unsigned long long) one->ok);
        buf_printf(out, "salt_responses_total{minion=\"%s\",success=\"false\"} %llu\n", id,
                   (unsigned long long) one->failed);
    }
    figures_head(out, "salt_function_status", "gauge", "1: a minion's last highstate has succeeded.");
    for (size_t i = 0; map_next(self->by_minion, &i, &id, &value);)
        if (((const heard_t *) value)->highstate != STATUS_NONE)
            buf_printf(
                out,
                "salt_function_status{minion=\"%s\",function=\"state.highstate\",state=\"highstate\"} %d\n",
                id, ((const heard_t *) value)->highstate == STATUS_GOOD);
    figures_head(out, "salt_responses_last_received_response", "gauge",
                 "When a minion's last return came, in seconds.");
    for (size_t i = 0; map_next(self->by_minion, &i, &id, &value);)
        buf_printf(out, "salt_responses_last_received_response{minion=\"%s\"} %lld\n", id,
                   (long long) (((const heard_t *) value)->at_us / 1000000));
}

static json_t *
figures_request(front_t *front, lconn_t *c, const json_t *request, fail_t *err)
{
    figures_t *self = front->own[PART_figures];
    AUTO(map) sums = figures_by_function(self);
    json_auto_t *status = json_pack("{s:{}}", "counters");
    buf_auto_t out = BUF_INIT;

    for (size_t i = 0; i < NELEMS(families); i++)
        figures_add_family(&out, &families[i], families[i].by_state ? self->by_fun : sums);
    figures_add_durations(&out, sums);
    /* salt-exporter's: of each function and SLS how long the last return took. */
    const char *key;
    void *value;

    figures_head(&out, "salt_job_duration_seconds", "gauge", "From a job's publication to its last return.");
    for (size_t i = 0; map_next(self->by_fun, &i, &key, &value);) {
        const figure_t *one = value;
        if (one->timed > 0)
            buf_printf(&out, "salt_job_duration_seconds{function=\"%s\",state=\"%s\"} %.3f\n", one->fun,
                       one->state, (double) one->last_ms / 1000);
    }
    figures_add_counters(&out, &front->counters);
    figures_add_one(&out, "salt_master_connected_minions_count", "gauge", "Minions that are connected.",
                    (double) peers_present(front->peers));
    figures_add_one(&out, "salt_health_minions_total", "gauge", "Minions whose keys are accepted.",
                    (double) peers_count(front->peers, KEY_ACCEPTED));
    /* The folder itself is open while it is read. */
    char **names = NULL;
    size_t n = fs_names("/proc/self/fd", &names, NULL) == 0 ? strv_len(names) : 0;
    strv_free(names);
    figures_add_one(&out, "salt_process_open_fds", "gauge", "Descriptors of the master.",
                    (double) (n > 0 ? n - 1 : 0));
    figures_add_one(&out, "halite_keys_pending", "gauge", "Keys that wait for acceptance.",
                    (double) peers_count(front->peers, KEY_PENDING));
    figures_add_one(&out, "halite_jobs_active", "gauge", "Jobs under way.", (double) jobs_len(front->jobs));
    figures_head(&out, "halite_verdicts_total", "counter", "Times that a job's minion got a verdict.");
    for (verdict_t v = 0; v < VERDICTS; v++)
        buf_printf(&out, "halite_verdicts_total{verdict=\"%s\"} %llu\n", verdict_name(v),
                   (unsigned long long) jobs_moved(front->jobs, v));
    figures_head(&out, "halite_jobs_minions", "gauge",
                 "Minions of jobs under way, by what is known of them.");
    for (verdict_t v = 0; v < VERDICTS; v++)
        if (!verdict_final(v))
            buf_printf(&out, "halite_jobs_minions{verdict=\"%s\"} %zu\n", verdict_name(v),
                       jobs_at(front->jobs, v));
    figures_add_one(&out, "halite_messages_in_total", "counter", "Messages of minions.",
                    (double) front->counters.in);
    figures_add_one(&out, "halite_messages_out_total", "counter", "Messages to minions.",
                    (double) front->counters.out);
    figures_add_one(&out, "halite_returns_total", "counter", "Returns that were kept.",
                    (double) front->counters.returns);
    figures_add_one(&out, "halite_refused_total", "counter", "Messages and connections that were refused.",
                    (double) front->counters.refused);
    hook_status(front, status);
    const json_t *counters = value_get(status, "counters");
    figures_add_one(&out, "halite_store_rows_total", "counter", "Rows that were committed.",
                    json_number_value(value_get(counters, "store_rows")));
    figures_add_one(&out, "halite_store_commits_total", "counter", "Commits.",
                    json_number_value(value_get(counters, "store_commits")));
    figures_add_one(&out, "halite_store_queued", "gauge", "Rows that wait for the disk.",
                    json_number_value(value_get(counters, "store_queued")));
    figures_add_programs(&out, status);
    json_object_del(status, "counters");
    json_object_del(status, "followers");
    json_object_del(status, "engines");
    figures_add_status(&out, "halite", status);
    if (value_bool(request, "minions", false))
        figures_add_minions(front, self, &out);
    hook_figures(front, &out, value_bool(request, "minions", false));
    return json_pack("{s:s}", "text", buf_str(&out));
}

const request_row_t request_metrics = { .fn = figures_request };

const front_part_t part_figures = { .name = "figures",
                                    .size = sizeof(figures_t),
                                    .start = figures_start,
                                    .destroy = figures_destroy,
                                    .published = figures_published,
                                    .returned = figures_returned,
                                    .forgotten = figures_forgotten };
