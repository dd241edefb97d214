/* mine.c - Salt's mine: values that minions publish for each other, kept by the master; and the request
 * `forget`, which drops data of minions.
 *
 * An entry may restrict its readers as in Salt: {"__saltmine_acl__", "__data__", "allow_tgt",
 * "allow_tgt_type"}. The option mine_get restricts which minions may ask for which names. */
#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/match/match.h"
#include "common/rules/rules.h"
#include "master/front/hooks.h"
#include "master/minions/miniondata.h"
#include "master/operators/lconn.h"
#include "master/minions/message.h"
#include "master/minions/post.h"
#include "master/front/request.h"
#include "master/jobs/targets.h"
#include "salt/log.h"
#include "salt/value.h"

#define GUESS_MS 10 /* charged to the asker's rate for each comparison with another minion's pillar */

#define ACL_ID   "__saltmine_acl__"
#define ACL_DATA "__data__"

/* ---- access ---------------------------------------------------------------------------------- */

/* A query under way. Minions of one kind often have equal restrictions, so the last answer is cached. */
typedef struct look {
    front_t *front;
    const char *id;     /* of the minion that asks; an operator's is the master's */
    match_work_t *work; /* budget of the query */
    bool all;           /* an operator asks: allow_tgt is for minions */
    json_t *tgt, *type;
    bool allowed;
} look_t;

/* True when the asking minion matches an entry's target. The entry's owner chose the target, so its work has
 * a budget of its own, and one minion can't use up another's query; it is charged to the query as well, since
 * both may be the same minion. */
static bool
minions_mine_is_target(look_t *look, json_t *tgt, const char *type_name)
{
    front_t *self = look->front;
    const char *id = look->id;
    fail_auto_t err = FAIL_INIT;
    tgt_type_t type;
    match_work_t work;
    minion_t *m = peers_by_id(self->peers, id);
    if (m == NULL || m->state != KEY_ACCEPTED || !tgt_type_parse(type_name, &type))
        return false;
    match_subject_t subject = { m->id, miniondata_grains(self, m), miniondata_get(self, m, STORE_PILLAR),
                                &work };
    match_work_begin(&work, LIMIT_WORK_ALLOW_STEPS, LIMIT_WORK_ALLOW_TIME);
    AUTO(target) target = target_new_within(tgt, type, conf_get(self->conf, "nodegroups"), NULL, &work, &err);
    bool is_target = target != NULL && target_match(target, &subject);
    (void) match_work_take(look->work, LIMIT_WORK_ALLOW_STEPS - work.steps);
    return is_target;
}

/* The value of an entry, BORROWED; NULL: hidden from the asking minion. */
static json_t *
minions_mine_visible(look_t *look, json_t *entry)
{
    json_t *tgt = value_get(entry, "allow_tgt"), *type = value_get(entry, "allow_tgt_type");
    if (value_get(entry, ACL_ID) == NULL)
        return entry;
    if (look->all)
        return value_get(entry, ACL_DATA);
    if (tgt != NULL && !(look->tgt != NULL && json_equal(tgt, look->tgt) &&
                         str_eq(json_string_value(type), json_string_value(look->type)))) {
        look->tgt = tgt;
        look->type = type;
        look->allowed = minions_mine_is_target(look, tgt,
                                               json_is_string(type) ? json_string_value(type) : "glob");
    }
    return tgt == NULL || look->allowed ? value_get(entry, ACL_DATA) : NULL;
}

/* Steps charged per rule: its expressions are compiled for each name. */
#define RULE_STEPS 200

/* Rules of the mine have no targets. */
static bool
covers_none(void *cookie, const char *target)
{
    return false;
}

/* Check the option mine_get: {expression of ids: [expression of names]}. Without it everything is allowed. */
static bool
name_allowed(const look_t *look, const char *name)
{
    fail_auto_t err = FAIL_INIT;
    json_t *rules = conf_get(look->front->conf, "mine_get"), *names;
    const rules_ask_t ask = { .fun = name, .covers = covers_none, .work = look->work };
    const char *ids;
    if (!json_is_object(rules))
        return true;
    json_object_foreach (rules, ids, names)
        if (match_work_take(look->work, RULE_STEPS) && match_pcre(ids, look->id, &err) &&
            rules_allow(names, &ask, NULL))
            return true;
    return false;
}

/* ---- get -------------------------------------------------------------------------------------- */

/* NEW list of the words in "a,b". */
static json_t *
minions_mine_split(const char *text)
{
    json_t *all = json_array();
    char **words = str_split(text, ",", true);
    for (size_t i = 0; words[i]; i++)
        json_array_append_new(all, json_string(words[i]));
    strv_free(words);
    return all;
}

/* The allowed names of "a,b" or a list: NEW array, or NULL with *err. *ret_by_name: the answer is grouped by
 * name. */
static json_t *
minions_mine_names(const look_t *look, json_t *fun, bool *ret_by_name, fail_t *err)
{
    size_t i, n = json_array_size(fun);
    json_t *one;
    for (const char *at = json_string_value(fun); at != NULL && *at != '\0'; at = strchr(at + 1, ','))
        n++;
    if (n > LIMIT_MINE_NAMES) {
        (void) fail_set(err, -E2BIG, "it asks for %zu names: at most %d at once", n, LIMIT_MINE_NAMES);
        return NULL;
    }
    json_auto_t *all = json_is_array(fun)
                           ? json_incref(fun)
                           : minions_mine_split(json_is_string(fun) ? json_string_value(fun) : "");
    json_t *names = json_array();
    *ret_by_name = json_is_array(fun) || json_array_size(all) > 1;
    json_array_foreach (all, i, one)
        if (json_is_string(one) && name_allowed(look, json_string_value(one)))
            json_array_append(names, one);
    return names;
}

/* Put a minion's visible values into `found`: {id: value}, or {name: {id: value}}. */
static void
minions_mine_collect(look_t *look, minion_t *m, const json_t *names, bool by_name, json_t *found)
{
    json_t *mine = miniondata_get(look->front, m, STORE_MINE), *name;
    size_t i;
    json_array_foreach (names, i, name) {
        if (!match_work_take(look->work, 1))
            return;
        json_t *entry = value_get(mine, json_string_value(name));
        json_t *value = entry != NULL ? minions_mine_visible(look, entry) : NULL, *into = found;
        if (value == NULL)
            continue;
        if (by_name && (into = value_get(found, json_string_value(name))) == NULL) {
            into = json_object();
            json_object_set_new(found, json_string_value(name), into);
        }
        json_object_set(into, m->id, value);
    }
}

/* Answer a query of `id`, or of an operator (`all`): NEW, or NULL with *err. `work` is its budget; pillar
 * targets match exactly, as for users. */
static json_t *
minions_mine_ask(front_t *self, const char *id, bool all, const json_t *request, match_work_t *work,
                 fail_t *err)
{
    json_auto_t *missing = NULL;
    AUTO_FREE uint32_t *slots = NULL;
    size_t n = 0;
    bool by_name;
    look_t look = { .front = self, .id = id, .work = work, .all = all };
    json_auto_t *names = minions_mine_names(&look, value_get(request, "fun"), &by_name, err);
    json_auto_t *ask = json_copy((json_t *) request);
    json_object_set_new(ask, "pillar_exact", json_true());
    if (names == NULL)
        return NULL;
    int rc = targets_match_within(self, ask, work, &slots, &n, &missing, err);
    minion_t *asker = peers_by_id(self->peers, id);
    if (asker != NULL)
        rate_owe(&asker->mine, (double) work->guesses * GUESS_MS);
    if (rc < 0)
        return NULL;
    json_auto_t *found = json_object();
    for (size_t i = 0; i < n; i++)
        minions_mine_collect(&look, peers_by_slot(self->peers, slots[i]), names, by_name, found);
    if (work->spent) {
        (void) match_work_fail(err);
        return NULL;
    }
    return STEAL(found);
}

/* Let runners asked from now on wait for this row. */
static int
noted(front_t *self, uint64_t ticket, fail_t *err)
{
    if (ticket == 0)
        return fail_set(err, -EAGAIN, "the master's store takes no more at the moment: try again");
    self->row_ticket = ticket;
    return 0;
}

/* ---- minions' operations --------------------------------------------------------------------- */

/* Replace a mine in memory and store, or in neither. TAKES *mine_p. */
static int
minions_mine_keep(front_t *self, minion_t *m, json_t **mine_p, fail_t *err)
{
    json_auto_t *mine = STEAL(*mine_p);
    char *text = value_dump(mine);
    if (strlen(text) > LIMIT_MINE) {
        free(text);
        return fail_set(err, -E2BIG, "the mine takes at most %d bytes of one minion", LIMIT_MINE);
    }
    int rc = noted(self, store_put_mine(self->store, m->id, &text), err);
    if (rc == 0)
        miniondata_set(self, m, STORE_MINE, mine);
    return rc;
}

static json_t *
minions_mine_get(front_t *self, minion_t *m, const json_t *body, fail_t *err)
{
    match_work_t work;
    targets_work(self, false, &work);
    return minions_mine_ask(self, m->id, false, body, &work, err);
}

/* mine.send and mine.update. True without keeping anything when the data cache is off, as in Salt. */
static json_t *
minions_mine_send(front_t *self, minion_t *m, const json_t *body, fail_t *err)
{
    json_t *data = value_get(body, "data");
    if (!json_is_object(data)) {
        (void) fail_set(err, -EINVAL, "'data' is an object of values by name");
        return NULL;
    }
    if (!value_nests(data, LIMIT_MINE_DEPTH + 1)) {
        (void) fail_set(err, -E2BIG, "a value of the mine is nested at most %d levels deep",
                        LIMIT_MINE_DEPTH);
        return NULL;
    }
    if (!conf_bool(self->conf, "minion_data_cache") && !conf_bool(self->conf, "enforce_mine_cache"))
        return json_true();
    json_t *old = miniondata_get(self, m, STORE_MINE);
    bool anew = old == NULL || value_bool(body, "clear", false);
    json_t *mine = anew ? json_object() : json_copy(old);
    json_object_update(mine, data);
    return minions_mine_keep(self, m, &mine, err) == 0 ? json_true() : NULL;
}

static json_t *
minions_mine_delete(front_t *self, minion_t *m, const json_t *body, fail_t *err)
{
    const char *name = value_str(body, "fun", "");
    json_t *old = miniondata_get(self, m, STORE_MINE);
    if (value_get(old, name) == NULL)
        return json_true();
    json_t *mine = json_copy(old);
    json_object_del(mine, name);
    return minions_mine_keep(self, m, &mine, err) == 0 ? json_true() : NULL;
}

static int
minions_mine_drop(front_t *self, minion_t *m, store_doc_t what, fail_t *err)
{
    int rc = noted(self, store_forget(self->store, m->id, what), err);
    if (rc == 0)
        miniondata_set(self, m, what, NULL);
    return rc;
}

static json_t *
minions_mine_flush(front_t *self, minion_t *m, const json_t *body, fail_t *err)
{
    return minions_mine_drop(self, m, STORE_MINE, err) == 0 ? json_true() : NULL;
}

static const struct {
    const char *name;
    json_t *(*fn)(front_t *self, minion_t *m, const json_t *body, fail_t *err); /* NEW, or NULL with *err */
} ops[] = { { "get", minions_mine_get },
            { "send", minions_mine_send },
            { "delete", minions_mine_delete },
            { "flush", minions_mine_flush } };

/* NEW, or NULL with *err. */
static json_t *
minions_mine_do(front_t *self, minion_t *m, const json_t *body, fail_t *err)
{
    for (size_t i = 0; i < NELEMS(ops); i++)
        if (str_eq(ops[i].name, value_str(body, "op", "")))
            return ops[i].fn(self, m, body, err);
    (void) fail_set(err, -EOPNOTSUPP, "the master knows no such operation on the mine");
    return NULL;
}

/* The message mine_ask. All time spent, answering included, is charged to the minion: a query of few bytes
 * may touch megabytes. */
static void
minions_mine_asked(front_t *self, peer_t *peer, const inbound_t *in)
{
    const json_t *body = in->body;
    fail_auto_t err = FAIL_INIT;
    json_auto_t *value = NULL;
    json_t *n = value_get(body, "n");
    minion_t *m = peer->minion;
    int64_t since_us = clock_thread_us();
    if (m == NULL || !json_is_integer(n))
        return;
    if (rate_spare(&m->mine, clock_mono_ms()))
        value = minions_mine_do(self, m, body, &err);
    else
        (void) fail_set(
            &err, -EDQUOT,
            "the master has worked for %d ms on this minion's questions to the mine; ask again in a "
            "while",
            LIMIT_MINE_BURST);

    json_auto_t *answer = json_pack("{s:O, s:O*, s:s*}", "n", n, "value", value, "error",
                                    value != NULL ? NULL : fail_text(&err));
    if (post_send(self, peer, MSG_mine, answer) < 0) {
        json_auto_t *large = json_pack("{s:O, s:s}", "n", n, "error",
                                       "the answer is too large: ask for fewer minions or names at once");
        (void) post_send(self, peer, MSG_mine, large);
    }

    rate_owe(&m->mine, (double) (clock_thread_us() - since_us) / 1000);
}

/* ---- forgetting ------------------------------------------------------------------------------ */

/* Forget one named kind of data; other names are offered to other parts. */
static int
forget_named(front_t *self, minion_t *m, const char *name, fail_t *err)
{
    static const char *const names[STORE_DOCS] = {
        [STORE_GRAINS] = "grains", [STORE_PILLAR] = "pillar", [STORE_MINE] = "mine"
    };
    for (store_doc_t what = 0; what < STORE_DOCS; what++)
        if (str_eq(names[what], name))
            return minions_mine_drop(self, m, what, err);
    return hook_forget(self, m, name, err);
}

static int
minions_mine_forget(front_t *self, minion_t *m, const json_t *request, fail_t *err)
{
    const char *function = value_str(request, "mine_function", NULL);
    json_t *what;
    size_t i;
    int rc = 0;
    json_array_foreach (value_get(request, "what"), i, what)
        if (rc == 0 && json_is_string(what))
            rc = forget_named(self, m, json_string_value(what), err);
    json_t *old = miniondata_get(self, m, STORE_MINE);
    if (rc < 0 || function == NULL || value_get(old, function) == NULL)
        return rc;
    json_t *mine = json_copy(old);
    json_object_del(mine, function);
    return minions_mine_keep(self, m, &mine, err);
}

/* The request forget: {tgt, tgt_type, what, mine_function?}. NEW [id] of the targets, or of the minion that
 * is named by its id and whose key is not accepted; or NULL with *err. */
static json_t *
forget_all(front_t *self, const json_t *request, fail_t *err)
{
    json_auto_t *missing = NULL;
    AUTO_FREE uint32_t *slots = NULL;
    size_t n = 0;
    if (targets_match(self, request, &slots, &n, &missing, err) < 0)
        return NULL;
    json_auto_t *ids = json_array();
    const char *name = json_string_value(value_get(request, "tgt"));
    minion_t *named = n == 0 && name != NULL ? peers_by_id(self->peers, name) : NULL;
    for (size_t i = 0; i < n || (named != NULL && i == 0); i++) {
        minion_t *m = named != NULL ? named : peers_by_slot(self->peers, slots[i]);
        if (minions_mine_forget(self, m, request, err) < 0)
            return NULL;
        json_array_append_new(ids, json_string(m->id));
    }
    return STEAL(ids);
}

/* ---- operations ------------------------------------------------------------------------------ */

static json_t *
minions_mine(front_t *self, lconn_t *c, const json_t *request, fail_t *err)
{
    match_work_t work;
    /* Only who may do everything is an operator here: others of publisher_acl see what any minion sees. */
    bool all = lconn_is_admin(c) && !value_bool(request, "for_minion", false);
    targets_work(self, true, &work);
    json_t *value = minions_mine_ask(self, conf_str(self->conf, "id"), all, request, &work, err);
    return value != NULL ? json_pack("{s:o}", "mine", value) : NULL;
}

static json_t *
forget_asked(front_t *self, lconn_t *c, const json_t *request, fail_t *err)
{
    json_t *ids = forget_all(self, request, err);
    if (ids != NULL)
        log_info("cache: %zu minions' data forgotten by %s", json_array_size(ids), lconn_user(c));
    return ids != NULL ? json_pack("{s:o}", "minions", ids) : NULL;
}

const message_row_t message_mine_ask = { .body = minions_mine_asked, .most = LIMIT_WIRE_VALUES };
const request_row_t request_mine = { .fn = minions_mine };
const request_row_t request_forget = { .fn = forget_asked };
