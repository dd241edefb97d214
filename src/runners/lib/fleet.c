/* fleet.c - see fleet.h. Without batch, canary, max_fail or subset the function is published once to the
 * target; with them the target is matched first and the ids are published in waves, whose sizes rollout.h
 * decides by the failures so far. */
#include "runners/lib/fleet.h"

#include "common/base/clock.h"
#include "common/base/str.h"
#include "master/api.h"
#include "runners/lib/ask.h"
#include "runners/lib/orchrun.h"
#include "runners/lib/rollout.h"

enum { TIMEOUT_S = 5, TIMEOUT_MAX_S = 86400 };

/* One run of a function on a fleet, wave by wave. */
typedef struct fleet {
    call_ctx_t *ctx;
    const fleet_ask_t *ask;
    api_wait_t wait;
    json_t *minions, *missing, *jids; /* owned: so far */
    size_t of;                        /* minions in all */
    size_t failed;
} fleet_t;

static bool
fleet_given(const json_t *v)
{
    return v != NULL && !json_is_null(v);
}

/* Words for a minion that did not return; NULL for one that did. */
const char *
fleet_silence(const json_t *entry)
{
    static const struct word {
        const char *verdict, *text;
    } words[] = {
        { "returned", NULL },
        { "not_connected", "not connected" },
        { "not_delivered", "did not take the job" },
        { "lost", "was restarted, or lost the job" },
        { "elsewhere", "returned to another master" },
        { "not_begun", "had no turn: the batch was halted" },
        { "not_accepted", "its key is not accepted, or nobody has this id" },
    };
    const char *verdict = value_str(entry, "verdict", "");

    for (size_t i = 0; i < NELEMS(words); i++) {
        if (str_eq(words[i].verdict, verdict))
            return words[i].text;
    }
    return value_bool(entry, "away", false) ? "lost its connection while it had the job"
                                            : "did not return in time";
}

/* A value is not keywords, whoever said it. NEW. */
static json_t *
as_value(const json_t *v)
{
    json_t *plain = value_get(v, "__kwarg__") != NULL ? json_copy((json_t *) v) : json_incref((json_t *) v);

    if (plain != v)
        json_object_del(plain, "__kwarg__");
    return plain;
}

/* Positional arguments and keywords as one list; keywords are a last element marked __kwarg__. Marks within
 * values are removed, so that a value can't become keywords. NEW. */
json_t *
fleet_args(const json_t *arg, const json_t *kwarg)
{
    json_t *list = json_array(), *one;
    size_t i;

    json_array_foreach (arg, i, one)
        json_array_append_new(list, as_value(one));
    if (fleet_given(arg) && !json_is_array(arg))
        json_array_append_new(list, as_value(arg));
    if (json_object_size(kwarg) > 0) {
        json_t *marked = json_pack("{s:b}", "__kwarg__", true);
        json_object_update(marked, (json_t *) kwarg);
        json_array_append_new(list, marked);
    }
    return list;
}

/* ---- one wave ------------------------------------------------------------------------------ */

/* Reports progress over all waves, not only the current one. */
static void
tell_news(void *cookie, size_t returned, size_t of)
{
    const fleet_t *self = cookie;
    size_t before = json_object_size(self->minions);

    orchrun_at(self->ctx, before + returned, self->of > 0 ? self->of : of);
}

/* Records a minion's return, or that it can't return. */
static void
fleet_take_entry(fleet_t *self, const char *id, json_t *entry)
{
    self->failed += self->ask->failed(self->ask->cookie, id, entry);
    json_object_set(self->minions, id, entry);
}

/* Records minions whose turn came but whose key is gone. */
static void
take_missing(fleet_t *self, const json_t *missing)
{
    json_t *id;
    size_t i;

    json_array_foreach ((json_t *) missing, i, id) {
        json_auto_t *entry = json_pack("{s:s}", "verdict", "not_accepted");
        if (json_object_get(self->minions, json_string_value(id)) == NULL)
            fleet_take_entry(self, json_string_value(id), entry);
    }
}

/* A wave that was begun before a crash may have other minions than are asked for now: those count. */
static int
run_wave(fleet_t *self, const json_t *tgt, const char *tgt_type, fail_t *err)
{
    const fleet_ask_t *ask = self->ask;
    json_t *request = json_pack("{s:O, s:s, s:s, s:O}", "tgt", tgt, "tgt_type", tgt_type, "fun", ask->fun,
                                "arg", ask->arg);
    if (fleet_given(ask->ret))
        json_object_set(request, "ret", (json_t *) ask->ret);
    if (fleet_given(ask->ret_config))
        json_object_set(request, "ret_config", (json_t *) ask->ret_config);
    if (fleet_given(ask->ret_kwargs))
        json_object_set(request, "ret_kwargs", (json_t *) ask->ret_kwargs);
    json_t *note = orchrun_note(self->ctx);
    if (note != NULL)
        json_object_set_new(request, "note", note);
    json_t *entry;
    json_auto_t *answer = NULL;
    int rc = api_publish(api_of(self->ctx), &request, &self->wait, &answer, err);
    const char *id, *jid = value_str(answer, "jid", "");

    if (rc < 0)
        return rc;
    if (*jid != '\0')
        json_array_append_new(self->jids, json_string(jid));
    else
        orchrun_unnote(self->ctx);
    json_object_foreach (value_get(answer, "minions"), id, entry)
        fleet_take_entry(self, id, entry);
    json_t *missing = value_get(answer, "missing");
    take_missing(self, missing);
    json_array_extend(self->missing, missing);
    return 0;
}

/* ---- waves --------------------------------------------------------------------------------- */

/* Picks a subset by a seed of the run and the function, so that a resumed run picks the same minions. TAKES
 * ids. */
static json_t *
pick_subset(const fleet_t *self, json_t *ids, fail_t *err)
{
    size_t want;
    orchrun_t *run = orchrun_of(self->ctx);

    if (rollout_number(self->ask->subset, "subset", json_array_size(ids), 1, ROLLOUT_ALL, &want, err) < 0) {
        json_decref(ids);
        return NULL;
    }
    AUTO_FREE char *seed = xasprintf("%s/%s", run != NULL ? orchrun_name(run) : ctx_jid(self->ctx),
                                     self->ask->fun);
    json_t *some = rollout_subset(ids, want, seed);
    json_decref(ids);
    return some;
}

/* The next `n` of the ids that nothing was asked of. NEW. */
static json_t *
fleet_next_ids(const fleet_t *self, const json_t *ids, size_t n)
{
    json_t *out = json_array(), *id;
    size_t i;

    json_array_foreach ((json_t *) ids, i, id) {
        if (json_array_size(out) < n && json_object_get(self->minions, json_string_value(id)) == NULL)
            json_array_append(out, id);
    }
    return out;
}

static int
read_rollout(const fleet_t *self, rollout_t *plan, fail_t *err)
{
    const fleet_ask_t *ask = self->ask;
    int rc = rollout_number(ask->batch, "batch", self->of, 1, ROLLOUT_ALL, &plan->batch, err);

    if (rc == 0)
        rc = rollout_number(ask->canary, "canary", self->of, 0, 0, &plan->canary, err);
    if (rc == 0)
        rc = rollout_number(ask->max_fail, "max_fail", self->of, 0, ask->failhard ? 0 : ROLLOUT_ALL,
                            &plan->max_fail, err);
    return rc;
}

/* Seconds without news, from the call or the configuration; 0 means the default. */
static int
read_timeout(fleet_t *self, fail_t *err)
{
    const json_t *v = self->ask->timeout;
    long long s = value_int(ctx_opts(self->ctx), "timeout", TIMEOUT_S);

    if (json_is_number(v))
        s = json_number_value(v) < 0 ? -1 : clock_us_of(json_number_value(v)) / 1000000;
    else if (fleet_given(v) && !(json_is_string(v) && str_to_int(json_string_value(v), 0, TIMEOUT_MAX_S, &s)))
        s = -1;
    if (s < 0 || s > TIMEOUT_MAX_S)
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "'timeout' is a number of seconds up to %d",
                         TIMEOUT_MAX_S);
    self->wait.timeout_ms = (int) (s > 0 ? s : TIMEOUT_S) * 1000;
    return 0;
}

json_t *
fleet_run(call_ctx_t *ctx, const fleet_ask_t *ask, fail_t *err)
{
    fleet_t self = {
        .ctx = ctx, .ask = ask, .minions = json_object(), .missing = json_array(), .jids = json_array()
    };
    json_t *left = NULL, *out = NULL;
    AUTO_FREE char *why = NULL;
    int rc = read_timeout(&self, err);

    self.wait.news = tell_news;
    self.wait.cookie = &self;
    if (rc == 0 && (fleet_given(ask->batch) || fleet_given(ask->canary) || fleet_given(ask->max_fail) ||
                    fleet_given(ask->subset))) {
        /* Runs the waves one after the other; minions whose turn never came are left. */
        rollout_t plan = { 0 };

        json_auto_t *all = NULL;
        json_t *fields = json_pack("{s:O, s:s}", "tgt", self.ask->tgt, "tgt_type", self.ask->tgt_type);
        json_auto_t *reply = ask_master_with(self.ctx, "match", &fields, err);
        size_t i;
        json_t *missing;

        if (reply != NULL) {
            json_array_foreach (value_get(reply, "missing"), i, missing)
                json_array_append(self.missing, missing);
            all = value_sorted_texts(value_get(reply, "minions"));
        }

        json_auto_t *ids = all != NULL ? pick_subset(&self, json_incref(all), err) : NULL;
        rc = ids != NULL ? 0 : -EINVAL;
        size_t n = 0;
        self.of = json_array_size(ids);
        if (rc == 0)
            rc = read_rollout(&self, &plan, err);
        while (rc == 0 &&
               (n = rollout_next(&plan, self.of, json_object_size(self.minions), self.failed, &why)) > 0) {
            json_auto_t *wave = fleet_next_ids(&self, ids, n);
            if (json_array_size(wave) == 0)
                break;
            rc = run_wave(&self, wave, "list", err);
        }
        left = why != NULL ? fleet_next_ids(&self, ids, SIZE_MAX) : json_array();
    } else if (rc == 0)
        rc = run_wave(&self, ask->tgt, ask->tgt_type, err);
    if (rc == 0) {
        take_missing(&self, self.missing);
        out = json_pack("{s:O?, s:O, s:O, s:O, s:o, s:s?}", "jid", json_array_get(self.jids, 0), "jids",
                        self.jids, "minions", self.minions, "missing", self.missing, "left",
                        left != NULL ? json_incref(left) : json_array(), "stopped", why);
    }
    json_decref(left);
    json_decref(self.minions);
    json_decref(self.missing);
    json_decref(self.jids);
    return out;
}
