/* sight.c - see sight.h. Who began the newest jobs and functions is kept here by jid, as most of their events
 * do not tell; a user's rules are kept until the configuration is read again, as there may be thousands of
 * events a second. */
#include "master/operators/sight.h"

#include "common/base/str.h"
#include "common/match/match.h"
#include "common/rules/view.h"
#include "master/front/part.h"
#include "master/jobs/targets.h"
#include "master/minions/miniondata.h"
#include "master/operators/acl.h"
#include "salt/value.h"

#define BEGUN_MAX 10000 /* jids whose user is known */

typedef struct sight {
    json_t *begun; /* {jid: user}, oldest first */
    json_t *rules; /* {"EAUTH/USER/HASH": rules} */
} sight_part_t;

typedef struct seer {
    front_t *front;
    match_work_t *work;
} seer_t;

void
sight_begun(front_t *front, const lconn_t *c, const char *jid)
{
    sight_part_t *self = front->own[PART_sight];

    if (json_object_size(self->begun) >= BEGUN_MAX)
        json_object_del(self->begun, json_object_iter_key(json_object_iter(self->begun)));
    json_object_set_new(self->begun, jid, json_string(lconn_user(c)));
}

static const char *
sight_owner(void *cookie, const char *jid)
{
    const seer_t *seer = cookie;
    const sight_part_t *self = seer->front->own[PART_sight];
    job_t *job = jobs_get(seer->front->jobs, jid);

    return job != NULL ? value_str(job->info, "user", "") : value_str(self->begun, jid, NULL);
}

/* Of each minion alone, as an event mostly is of one. */
static bool
sight_covers_all(void *cookie, const char *text, const json_t *ids)
{
    const seer_t *seer = cookie;
    fail_auto_t err = FAIL_INIT;
    json_auto_t *rule = json_pack("{s:s, s:s}", "tgt", text, "tgt_type", "compound");
    json_auto_t *wanted = json_pack("{s:O, s:s}", "tgt", (json_t *) ids, "tgt_type", "list");
    json_auto_t *missing = NULL, *unmet = NULL;
    AUTO_FREE uint32_t *may = NULL, *wants = NULL;
    size_t n_may = 0, n = 0, i = 0;

    if (targets_match_within(seer->front, rule, seer->work, &may, &n_may, &missing, &err) < 0 ||
        targets_match_within(seer->front, wanted, seer->work, &wants, &n, &unmet, &err) < 0)
        return false;
    for (size_t k = 0; i < n && k < n_may; k++)
        i += wants[i] == may[k];
    return n > 0 && i == n && json_array_size(unmet) == 0;
}

/* BORROWED. */
static const json_t *
sight_rules(front_t *front, const lconn_t *c)
{
    sight_part_t *self = front->own[PART_sight];
    const json_t *as = lconn_as(c);
    AUTO_FREE char *key = xasprintf("%s/%s/%s", value_str(as, "eauth", ""), lconn_user(c),
                                    value_str(as, "hash", ""));
    json_t *rules = json_object_get(self->rules, key);

    if (rules != NULL)
        return rules;
    if (json_object_size(self->rules) >= LIMIT_LOCAL_CLIENTS)
        json_object_clear(self->rules);
    rules = acl_rules(front, lconn_user(c), as, NULL);
    json_object_set_new(self->rules, key, rules);
    return rules;
}

bool
sight_shows(front_t *front, void *cookie, const eframe_t *frame, const char *tag)
{
    const lconn_t *c = cookie;
    if (!acl_holds(front, lconn_as(c)))
        return false;
    const json_t *rules = sight_rules(front, c);
    match_work_t work;
    seer_t seer = { front, &work };

    if (rules_are_all(rules))
        return true;
    if (json_array_size(rules) == 0)
        return false;
    json_auto_t *event = eframe_value(frame);
    targets_work(front, false, &work);
    const rules_view_t view = { .user = lconn_user(c),
                                .rules = rules,
                                .unite = conf_bool(front->conf, "auth.enable_expanded_auth_matching"),
                                .owner = sight_owner,
                                .covers = sight_covers_all,
                                .cookie = &seer,
                                .work = &work };
    return event != NULL && rules_sees(&view, tag, value_get(event, "data"));
}

static int
sight_start(front_t *front, fail_t *err)
{
    sight_part_t *self = front->own[PART_sight];

    self->begun = json_object();
    self->rules = json_object();
    return 0;
}

static bool
sight_destroy(front_t *front)
{
    sight_part_t *self = front->own[PART_sight];

    json_decref(self->begun);
    json_decref(self->rules);
    return true;
}

static void
sight_reload(front_t *front)
{
    sight_part_t *self = front->own[PART_sight];

    json_object_clear(self->rules);
}

const front_part_t part_sight = { .name = "sight",
                                  .size = sizeof(sight_part_t),
                                  .start = sight_start,
                                  .destroy = sight_destroy,
                                  .reload = sight_reload };
