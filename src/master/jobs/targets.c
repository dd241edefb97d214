/* targets.c - match a request's target against the accepted minions. Compile the expression once
 * (common/match), then test each minion with its cached grains and pillar. Work is metered (match_work_t): an
 * expression, and what it is compared with, may be chosen to be slow, and the front loop must not stall. */
#include "master/jobs/targets.h"

#include "common/base/clock.h"
#include "common/match/match.h"
#include "master/minions/miniondata.h"
#include "salt/log.h"
#include "salt/value.h"

/* Load documents of an earlier run from the store before matching. The time is credited to `work`: the caller
 * is not charged for the master's cold cache. */
static void
read_known(front_t *self, const target_t *target, match_work_t *work)
{
    int64_t since_us = clock_thread_us();
    minion_t *m;
    for (uint32_t i = 0; i < peers_slots(self->peers); i++) {
        if ((m = peers_by_slot(self->peers, i)) == NULL || m->state != KEY_ACCEPTED)
            continue;
        if (target_needs_grains(target))
            miniondata_read(self, m, STORE_GRAINS);
        if (target_needs_pillar(target))
            miniondata_read(self, m, STORE_PILLAR);
    }
    match_work_excuse(work, since_us);
}

/* NEW list of ids that a list target names and no accepted minion has. */
static json_t *
targets_missing(front_t *self, const target_t *target)
{
    json_t *missing = json_array(), *id;
    json_auto_t *ids = target_ids(target);
    size_t i;
    json_array_foreach (ids, i, id) {
        minion_t *m = peers_by_id(self->peers, json_string_value(id));
        if (m == NULL || m->state != KEY_ACCEPTED)
            json_array_append(missing, id);
    }
    return missing;
}

void
targets_work(const front_t *self, bool admin, match_work_t *work)
{
    unsigned each_ms = (unsigned) (peers_count(self->peers, KEY_ACCEPTED) * LIMIT_WORK_EACH / 1000);
    if (admin)
        match_work_begin(work, LIMIT_WORK_ADMIN_STEPS, LIMIT_WORK_ADMIN_TIME);
    else
        match_work_begin(work, LIMIT_WORK_STEPS, LIMIT_WORK_TIME + each_ms);
}

/* The worker sets pillar_exact for users who are not administrators; see targets.h. */
static bool
is_admin(const json_t *request)
{
    return !value_bool(request, "pillar_exact", false);
}

int
targets_match(front_t *self, const json_t *request, uint32_t **ret_slots, size_t *ret_n, json_t **ret_missing,
              fail_t *err)
{
    match_work_t work;
    targets_work(self, is_admin(request), &work);
    return targets_match_within(self, request, &work, ret_slots, ret_n, ret_missing, err);
}

/* Limits the comparisons with a pillar of a sender who may not read it: whole values only, and few in one
 * target, as else all values of a short secret fit into one question. Adds them to `work`. False with *err.
 */
static bool
targets_guesses(target_t *target, match_work_t *work, fail_t *err)
{
    size_t n = target_pillar_terms(target);
    target_pillar_exact(target);
    work->guesses += n;
    if (n > LIMIT_PILLAR_TERMS)
        (void) fail_set(err, -E2BIG, "the target compares with the pillar %zu times: at most %d at once", n,
                        LIMIT_PILLAR_TERMS);
    return n <= LIMIT_PILLAR_TERMS;
}

/* For users the compilation is metered too, and pillar targets match exactly. Slots come out sorted, as the
 * walk is by slot. */
int
targets_match_within(front_t *self, const json_t *request, match_work_t *work, uint32_t **ret_slots,
                     size_t *ret_n, json_t **ret_missing, fail_t *err)
{
    tgt_type_t type;
    const char *word = value_str(request, "tgt_type", "glob"), *delim = value_str(request, "delimiter", NULL);
    json_t *expr = value_get(request, "tgt"), *groups = conf_get(self->conf, "nodegroups");
    bool admin = is_admin(request);
    if (!tgt_type_parse(word, &type))
        return fail_set(err, -EINVAL, "'%s' is not a kind of target", word);
    AUTO(target)
    target = admin ? target_new(expr, type, groups, delim, err)
                   : target_new_within(expr, type, groups, delim, work, err);
    if (target == NULL)
        return err->code;
    if (!admin && !targets_guesses(target, work, err))
        return err->code;
    if (target_needs_pillar(target) && !conf_bool(self->conf, "minion_data_cache"))
        return fail_set(
            err, -ENOTSUP,
            "a target by pillar needs what the master keeps of the minions' pillars: set "
            "'minion_data_cache: True' in its configuration, then run saltutil.refresh_pillar on them");
    uint32_t total = peers_slots(self->peers);
    AUTO_FREE uint32_t *slots = xcalloc(total ? total : 1, sizeof(*slots));
    *ret_n = 0;
    int64_t since_us = clock_mono_us();

    /* Append the matching slots, in order. */
    bool needs_grains = target_needs_grains(target), needs_pillar = target_needs_pillar(target);
    minion_t *m;
    read_known(self, target, work);
    for (uint32_t i = 0; i < peers_slots(self->peers); i++) {
        if ((m = peers_by_slot(self->peers, i)) == NULL || m->state != KEY_ACCEPTED)
            continue;
        match_subject_t subject = { m->id, needs_grains ? miniondata_grains(self, m) : NULL,
                                    needs_pillar ? miniondata_get(self, m, STORE_PILLAR) : NULL, work };
        if (target_match(target, &subject))
            slots[(*ret_n)++] = i;
        if (work->spent) {
            (void) match_work_fail(err);
            fail_prefix(err, "at minion %s: ", m->id);
            return err->code;
        }
    }

    /* Log a match at debug level. A pillar target contains a pillar value, which may be secret: not shown. */
    size_t n = *ret_n;
    if (log_wants(LEVEL_DEBUG)) {
        AUTO_FREE char *shown = target_needs_pillar(target) ? xstrdup("(by pillar)") : value_pystr(expr);
        log_debug("Target '%s' (%s): %zu of %zu minions in %.6f s", shown, word, n,
                  peers_count(self->peers, KEY_ACCEPTED), (double) (clock_mono_us() - since_us) / 1e6);
    }

    *ret_slots = STEAL(slots);
    *ret_missing = type == TGT_LIST ? targets_missing(self, target) : json_array();
    return 0;
}
