/* acl.c - see acl.h. Whose rules they are is said here, and what a request's functions, arguments and minions
 * are; the rules are looked at by common/rules. A request is allowed if each of its functions is, those that
 * its arguments name (inner.h) included; a target restriction is checked by matching both targets and
 * comparing the minions. */
#include "master/operators/acl.h"

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/conf/conf.h"
#include "common/match/match.h"
#include "master/operators/inner.h"
#include "master/operators/lconn.h"
#include "master/front/noise.h"
#include "master/jobs/targets.h"
#include "salt/limits.h"
#include "salt/log.h"
#include "salt/value.h"

#define PUBLISHING "publish." /* functions of the module by which minions publish */
#define WORDS_MAX  500        /* bytes of a function or target in an error */

/* Who asks, and with what rules. */
typedef struct asker {
    const char *user;
    const json_t *as; /* BORROWED; NULL: a user of this host */
    json_t *rules;    /* owned */
    bool admin;
    bool minion; /* the rules are those of `peer` */
} asker_t;

#define asker_auto_t __attribute__((cleanup(asker_free))) asker_t

static void
asker_free(asker_t *self)
{
    json_decref(self->rules);
}

/* A request's minions, matched once for all rules that ask. */
typedef struct scope {
    front_t *front;
    const json_t *request;
    match_work_t *work;
    uint32_t *wants; /* owned */
    size_t n_wants;
    bool matched;
} scope_t;

#define scope_auto_t __attribute__((cleanup(scope_free))) scope_t

static void
scope_free(scope_t *self)
{
    free(self->wants);
}

/* ---- rules ------------------------------------------------------------------------------------- */

/* As in Salt: a user must be named literally, unless client_acl_verify allows patterns. */
static bool
acl_names(const front_t *self, const char *who, const char *user)
{
    return str_eq(who, user) || (conf_bool(self->conf, "client_acl_verify") && match_name(who, user));
}

static bool
acl_has(const front_t *self, const char *user)
{
    const char *who;
    json_t *entries;
    json_object_foreach (conf_get(self->conf, "publisher_acl"), who, entries)
        if (acl_names(self, who, user))
            return true;
    return false;
}

/* publisher_acl's for a user of this host. NEW. */
static json_t *
acl_local_rules(const front_t *self, const char *user, json_t *by)
{
    json_t *rules = json_array(), *entries, *entry;
    const char *who;
    size_t i;
    json_object_foreach (conf_get(self->conf, "publisher_acl"), who, entries) {
        if (!acl_names(self, who, user))
            continue;
        json_array_foreach (entries, i, entry) {
            json_array_append(rules, entry);
            json_array_append_new(by, json_string(who));
        }
    }
    return rules;
}

/* "ldap(...)" becomes the minions that the login has found there; their names are the directory's word, so
 * they are ids or left out. A place that is not known stays as it stands, and is nobody's. NEW; TAKES
 * `rules`. */
static json_t *
acl_with_places(json_t *rules, const json_t *places)
{
    json_t *all, *rule, *calls, *id;
    const char *tgt;
    size_t i, k;

    if (json_object_size(places) == 0)
        return rules;
    all = json_array();
    json_array_foreach (rules, i, rule) {
        json_t *shown = json_is_object(rule) ? json_object() : json_incref(rule);
        json_object_foreach (rule, tgt, calls) {
            buf_auto_t list = BUF_INIT;
            json_array_foreach (value_get(places, tgt), k, id)
                if (json_is_string(id) && conf_id_valid(json_string_value(id), NULL))
                    buf_printf(&list, "%s%s", list.len > 0 ? "," : "L@", json_string_value(id));
            json_object_set(shown, list.len > 0 ? buf_str(&list) : tgt, calls);
        }
        json_array_append_new(all, shown);
    }
    json_decref(rules);
    return all;
}

/* The rules that a system itself has given at the log-in: as in Salt they stand in the place of those of the
 * configuration. What `rest` says is added to the user's own entry; both being empty, it has said nothing.
 * NEW; NULL: none were given. */
static json_t *
acl_granted(const front_t *self, const char *user, const json_t *as, json_t *by)
{
    const json_t *granted = value_get(as, "granted"), *own = NULL;
    const char *system = value_str(as, "granted_by", "");
    json_t *rules = json_array(), *one;
    size_t i;

    if (str_eq(system, "rest"))
        own = value_get(value_get(conf_get(self->conf, "external_auth"), system), user);
    json_array_foreach (own, i, one) {
        json_array_append(rules, one);
        json_array_append_new(by, json_string(user));
    }
    json_array_foreach (granted, i, one) {
        json_array_append(rules, one);
        json_array_append_new(by, json_string(system));
    }
    if (granted != NULL && (json_array_size(rules) > 0 || !str_eq(system, "rest")))
        return rules;
    json_decref(rules);
    return NULL;
}

json_t *
acl_rules(front_t *self, const char *user, const json_t *as, json_t **ret_by)
{
    json_t *kept = value_get(as, "rules");
    json_auto_t *by = json_array();
    json_t *rules = NULL;
    if (as == NULL)
        rules = acl_local_rules(self, user, by);
    else if (kept != NULL)
        rules = json_incref(kept);
    if (ret_by != NULL && rules != NULL)
        *ret_by = json_incref(by);
    if (rules != NULL)
        return rules;
    rules = acl_granted(self, user, as, by);
    if (rules != NULL && ret_by != NULL)
        *ret_by = json_incref(by);
    if (rules == NULL)
        rules = rules_of_user(value_get(conf_get(self->conf, "external_auth"), value_str(as, "eauth", "")),
                              user, value_get(as, "groups"), conf_bool(self->conf, "permissive_acl"), ret_by);
    return acl_with_places(rules, value_get(as, "places"));
}

/* NEW rules inside, for asker_free. */
static asker_t
acl_asker(front_t *self, const char *user, const json_t *as, bool admin)
{
    return (asker_t){ user, as, admin ? json_array() : acl_rules(self, user, as, NULL), admin, false };
}

bool
acl_may_read(front_t *self, const lconn_t *c)
{
    return lconn_is_admin(c) || lconn_as(c) != NULL || acl_has(self, lconn_user(c));
}

bool
acl_is_open(const front_t *self)
{
    return json_object_size(conf_get(self->conf, "publisher_acl")) > 0 ||
           json_object_size(conf_get(self->conf, "external_auth")) > 0;
}

bool
acl_may_come(front_t *self, const lconn_t *c)
{
    return acl_may_read(self, c) || json_object_size(conf_get(self->conf, "external_auth")) > 0;
}

/* ---- one function ------------------------------------------------------------------------------- */

/* True when the rule's target has minions and contains all minions of the request. Compared by minions, not
 * by text: "web* or db1" starts like "web*". */
static bool
covers(void *cookie, const char *target)
{
    scope_t *self = cookie;
    fail_auto_t err = FAIL_INIT;
    json_auto_t *rule = json_pack("{s:s, s:s}", "tgt", target, "tgt_type", "compound");
    json_auto_t *missing = NULL, *unmet = NULL;
    AUTO_FREE uint32_t *may = NULL;
    size_t n_may = 0, i = 0;
    int rc = targets_match_within(self->front, rule, self->work, &may, &n_may, &missing, &err);
    if (rc == 0 && !self->matched) {
        rc = targets_match_within(self->front, self->request, self->work, &self->wants, &self->n_wants,
                                  &unmet, &err);
        self->matched = rc == 0;
    }
    if (rc < 0) {
        /* Either target may be invalid, and a user may send such requests at will: rate-limited. */
        noise_warn(self->front,
                   "whether the rule's target '%s' covers a request can't be told, so it does not: %s",
                   target, fail_text(&err));
        return false;
    }
    for (size_t k = 0; i < self->n_wants && k < n_may; k++)
        i += self->wants[i] == may[k];
    return n_may > 0 && i == self->n_wants;
}

/* Salt's minions report about jobs by this function, which it lets everybody call who may call something. */
#define ALWAYS "saltutil.find_job"

/* The arguments of the function at this place of the request. BORROWED. */
static const json_t *
acl_arguments(const json_t *request, size_t i)
{
    const json_t *arg = value_get(request, "arg");
    return json_is_array(value_get(request, "fun")) ? json_array_get(arg, i) : arg;
}

/* NEW list of what the arguments of these functions name; NULL with *err. */
static json_t *
acl_named(const front_t *self, const json_t *request, const json_t *asked, match_work_t *work, fail_t *err)
{
    json_auto_t *named = json_array();
    json_t *one;
    size_t i;
    json_array_foreach (asked, i, one)
        if (json_is_string(one) && inner_functions(self->modules, json_string_value(one),
                                                   acl_arguments(request, i), work, named, err) < 0)
            return NULL;
    return json_incref(named);
}

/* True when a rule allows each of these functions; `named`: arguments name them, and what they are called
 * with is not known. */
static bool
acl_allows_all(front_t *self, const asker_t *who, const json_t *funs, const json_t *request, bool named,
               match_work_t *work)
{
    scope_auto_t scope = { self, request, work, NULL, 0, false };
    json_t *one;
    size_t i;
    json_array_foreach (funs, i, one) {
        const char *fun = json_string_value(one);
        if (fun == NULL)
            return false;
        if (who->as != NULL && str_eq(fun, ALWAYS) && json_array_size(who->rules) > 0)
            continue;
        const rules_ask_t ask = { .form = RULES_LOCAL,
                                  .fun = fun,
                                  .arg = named ? NULL : acl_arguments(request, i),
                                  .loose = who->as == NULL && !who->minion,
                                  .unite = conf_bool(scope.front->conf, "auth.enable_expanded_auth_matching"),
                                  .covers = covers,
                                  .cookie = &scope,
                                  .work = scope.work };
        if (!rules_allow(who->rules, &ask, NULL))
            return false;
    }
    return true;
}

/* Salt's words, with what was asked. */
static int
acl_refuse(const asker_t *who, const char *op, const json_t *request, fail_t *err)
{
    /* "'test.ping' on 'web*'" of a job, else the operation's name in quotes. */
    const json_t *fun = value_get(request, "fun"), *tgt = value_get(request, "tgt");
    AUTO_FREE char *name = fun != NULL ? value_pystr(fun) : xstrdup(op);
    AUTO_FREE char *whom = tgt != NULL ? value_pystr(tgt) : NULL;
    AUTO_FREE char *asked = whom != NULL ? xasprintf("'%.*s' on '%.*s'", WORDS_MAX, name, WORDS_MAX, whom)
                                         : xasprintf("'%.*s'", WORDS_MAX, name);
    if (who->minion)
        return fail_set(err, -EACCES, "%s may not publish %s: no rule of peer allows it", who->user, asked);
    if (who->as != NULL && (str_eq(op, "runner") || str_eq(op, "wheel")))
        return fail_set(err, -EACCES,
                        "Authentication failure of type \"%s\" occurred for user %s: %s is not allowed; see "
                        "external_auth",
                        str_empty(value_str(who->as, "hash", "")) ? "eauth" : "token", who->user, asked);
    if (who->as != NULL)
        return fail_set(err, -EACCES,
                        "Authorization error occurred. User %s: %s is not allowed; see external_auth",
                        who->user, asked);
    return fail_set(err, -EACCES,
                    "Authentication failure of type \"user\" occurred for user %s: %s is not allowed; see "
                    "publisher_acl",
                    who->user, asked);
}

/* The verdict counts what the budget allowed to try: a pattern that was not tried has not matched. */
static int
acl_verdict(front_t *self, const asker_t *who, const json_t *funs, const json_t *request, bool named,
            match_work_t *work, fail_t *err)
{
    if (!who->admin && !acl_allows_all(self, who, funs, request, named, work))
        return acl_refuse(who, "publish", request, err);

    /* publisher_acl_blacklist applies to everyone's jobs, root's included. */
    const json_t *list = conf_get(self->conf, "publisher_acl_blacklist");
    json_t *one;
    size_t i;
    bool blocked = rules_forbid(value_get(list, "users"), who->user, work);
    json_array_foreach (funs, i, one) {
        blocked = blocked || (json_is_string(one) &&
                              rules_forbid(value_get(list, "modules"), json_string_value(one), work));
        /* As in Salt, or minions could have each other publish for ever. */
        if (who->minion && json_is_string(one) && str_starts(json_string_value(one), PUBLISHING))
            return fail_set(err, -EACCES, "%s may not publish what publishes in its turn", who->user);
    }
    if (!blocked)
        return 0;
    if (who->minion)
        return fail_set(err, -EACCES, "%s may not run what publisher_acl_blacklist names", who->user);
    log_error("%s may not run what publisher_acl_blacklist names", who->user);
    return fail_set(err, -EACCES, "Authorization error occurred.");
}

static bool
acl_reaches(const front_t *self, const json_t *funs)
{
    json_t *one;
    size_t i;
    json_array_foreach (funs, i, one)
        if (json_is_string(one) && self->modules != NULL &&
            registry_any(self->modules, json_string_value(one), FN_REACHES))
            return true;
    return false;
}

/* The request whose minions must be allowed what the arguments name: where one of the functions calls on
 * other minions (FN_REACHES), which ones is in the arguments too, so it is all. NEW. */
static json_t *
acl_inner_request(const front_t *self, const json_t *request, const json_t *asked, const json_t *named)
{
    if (!acl_reaches(self, asked) && !acl_reaches(self, named))
        return json_incref((json_t *) request);
    json_t *whole = json_copy((json_t *) request);
    (void) json_object_update_new(whole, json_pack("{s:s, s:s}", "tgt", "*", "tgt_type", "glob"));
    return whole;
}

/* Arguments are looked at last, when it is known that the user may call the functions that have them: reading
 * them may take long. */
static int
acl_publishes(front_t *self, const asker_t *who, const json_t *request, fail_t *err)
{
    match_work_t work; /* of all rules, functions and arguments */
    if (!who->admin && json_array_size(who->rules) == 0 &&
        (who->as != NULL || who->minion || !acl_has(self, who->user)))
        return acl_refuse(who, "publish", request, err);

    /* The functions of a request, as a list. */
    json_t *fun = value_get(request, "fun");
    if (json_array_size(fun) > LIMIT_JOB_FUNCTIONS) {
        (void) fail_set(err, -E2BIG, "a job has at most %d functions, not %zu: publish several",
                        LIMIT_JOB_FUNCTIONS, json_array_size(fun));
        return err->code;
    }
    json_auto_t *asked = json_is_array(fun) ? json_incref(fun) : json_pack("[O*]", fun);

    if (asked == NULL)
        return err->code;
    targets_work(self, who->admin, &work);
    int rc = acl_verdict(self, who, asked, request, false, &work, err);
    bool looks = !who->admin || value_get(conf_get(self->conf, "publisher_acl_blacklist"), "modules");
    if (rc < 0 || !looks)
        return rc;
    json_auto_t *named = acl_named(self, request, asked, &work, err);
    if (named == NULL)
        return err->code;
    json_auto_t *inner = acl_inner_request(self, request, asked, named);
    return acl_verdict(self, who, named, inner, true, &work, err);
}

int
acl_lets_user(front_t *self, const char *user, const json_t *as, const json_t *request, fail_t *err)
{
    asker_auto_t who = acl_asker(self, user, as, false);
    return acl_publishes(self, &who, request, err);
}

/* ---- minions ------------------------------------------------------------------------------------- */

/* The rules of all keys of the option `peer` or `peer_run` that match the id from its beginning. NEW. */
static json_t *
acl_minion_rules(front_t *self, const char *option, const char *id)
{
    json_t *rules = json_array(), *entries;
    fail_auto_t err = FAIL_INIT;
    const char *ids;
    json_object_foreach (conf_get(self->conf, option), ids, entries)
        if (match_pcre(ids, id, &err))
            json_array_extend(rules, entries);
    return rules;
}

int
acl_lets_minion(front_t *self, const char *id, const char *user, const json_t *request, fail_t *err)
{
    asker_auto_t who = { user, NULL, acl_minion_rules(self, "peer", id), false, true };
    return acl_publishes(self, &who, request, err);
}

static bool
acl_covers_none(void *cookie, const char *target)
{
    return false;
}

/* A runner has no targets, and its rules are texts. */
int
acl_lets_minion_run(front_t *self, const char *id, const char *fun, fail_t *err)
{
    match_work_t work;
    json_auto_t *rules = acl_minion_rules(self, "peer_run", id);
    const rules_ask_t ask = { .fun = fun, .covers = acl_covers_none, .work = &work };
    targets_work(self, false, &work);
    if (rules_allow(rules, &ask, NULL))
        return 0;
    return fail_set(err, -EACCES, "minion %s may not run the runner '%.*s': no rule of peer_run allows it",
                    id, WORDS_MAX, fun);
}

/* ---- other requests ------------------------------------------------------------------------------ */

/* What somebody who has logged in needs for a request that reads or changes something: a rule for this
 * function, which gives or does the same. NULL: any rule; what is shown is chosen elsewhere. */
static const struct substitute {
    const char *op;
    rules_form_t form;
    const char *fun;
} substitutes[] = {
    { "status", RULES_LOCAL, NULL },
    { "metrics", RULES_LOCAL, NULL },
    { "match", RULES_LOCAL, NULL },
    { "names", RULES_LOCAL, NULL },
    { "events", RULES_LOCAL, NULL },
    { "journal", RULES_LOCAL, NULL },
    { "follow", RULES_RUNNER, "jobs.lookup_jid" },
    { "verdicts", RULES_RUNNER, "jobs.lookup_jid" },
    { "active", RULES_RUNNER, "jobs.active" },
    { "batch", RULES_RUNNER, "batch.status" },
    { "batch_stop", RULES_RUNNER, "batch.stop" },
    { "minions", RULES_RUNNER, "manage.status" },
    { "fire", RULES_RUNNER, "event.send" },
    { "token_list", RULES_RUNNER, "auth.list_tokens" },
    { "key_names", RULES_WHEEL, "key.list_all" },
    { "key_seen", RULES_WHEEL, "key.finger" },
    { "grains", RULES_LOCAL, "grains.items" },
    { "mine", RULES_LOCAL, "mine.get" },
};

static const struct substitute *
acl_substitute(const char *op)
{
    for (size_t i = 0; i < NELEMS(substitutes); i++)
        if (str_eq(substitutes[i].op, op))
            return &substitutes[i];
    return NULL;
}

/* A job that he began is his to follow. */
static bool
is_own_job(front_t *self, const asker_t *who, const json_t *request)
{
    const char *jid = value_str(request, "jid", "");
    job_t *job = *jid != '\0' ? jobs_get(self->jobs, jid) : NULL;
    json_auto_t *row = job == NULL && *jid != '\0' ? store_job_head(self->reader, jid, NULL) : NULL;
    return str_eq(value_str(job != NULL ? job->info : row, "user", ""), who->user);
}

/* An event of salt-api's hooks: salt/netapi/hook itself, or below it. */
static bool
acl_is_hook(const char *op, const json_t *request)
{
    static const char prefix[] = "salt/netapi/hook";
    const char *tag = value_str(request, "tag", "");
    return str_eq(op, "fire") && str_starts(tag, prefix) &&
           (tag[strlen(prefix)] == '/' || tag[strlen(prefix)] == '\0');
}

/* By what rule somebody who has logged in makes a request that publishes no job. */
static bool
acl_lets_other(front_t *self, const asker_t *who, const char *op, const json_t *request, match_work_t *work,
               fail_t *err)
{
    bool runs = str_eq(op, "runner"), wheels = str_eq(op, "wheel");
    const struct substitute *sub = acl_substitute(op);
    if (!runs && !wheels && sub == NULL)
        return false;
    /* What comes by salt-api's hooks is for the reactor, which knows that anybody may have sent it. */
    if (acl_is_hook(op, request) || (sub != NULL && sub->fun == NULL))
        return json_array_size(who->rules) > 0;
    if (sub != NULL && (str_eq(op, "follow") || str_eq(op, "verdicts")) && is_own_job(self, who, request))
        return true;
    scope_auto_t scope = { self, request, work, NULL, 0, false };
    const rules_ask_t ask = { .form = runs     ? RULES_RUNNER
                                      : wheels ? RULES_WHEEL
                                               : sub->form,
                              .fun = sub != NULL ? sub->fun : value_str(request, "fun", ""),
                              .arg = sub != NULL ? NULL : value_get(request, "arg"),
                              .unite = conf_bool(self->conf, "auth.enable_expanded_auth_matching"),
                              .covers = covers,
                              .cookie = &scope,
                              .work = work };
    return rules_allow(who->rules, &ask, NULL);
}

/* Fields of a request that are for root's own programs: who has logged in can't have them. */
static bool
is_plain(const json_t *request)
{
    static const char *const fields[] = { "note", "within", "peer" };
    for (size_t i = 0; i < NELEMS(fields); i++)
        if (value_get(request, fields[i]) != NULL)
            return false;
    return true;
}

static bool
acl_has_expired(const json_t *as)
{
    double expire = value_num(as, "expire", 0);
    return expire > 0 && (double) clock_wall_us() / 1e6 >= expire;
}

static bool
acl_knows_system(const front_t *self, const json_t *as)
{
    return value_get(conf_get(self->conf, "external_auth"), value_str(as, "eauth", "")) != NULL;
}

bool
acl_holds(const front_t *self, const json_t *as)
{
    return as == NULL || (!acl_has_expired(as) && acl_knows_system(self, as));
}

static int
acl_lets_become(front_t *self, const asker_t *who, const char *op, const json_t *request, fail_t *err)
{
    match_work_t work;
    if (acl_has_expired(who->as))
        return fail_set(err, -EACCES,
                        "Authentication failure of type \"token\" occurred for user %s: it has expired",
                        who->user);
    if (!acl_knows_system(self, who->as))
        return fail_set(err, -EACCES,
                        "Authentication failure of type \"token\" occurred for user %s: external_auth "
                        "does not name %s any more",
                        who->user, value_str(who->as, "eauth", ""));
    if (str_eq(op, "publish"))
        return acl_publishes(self, who, request, err);
    targets_work(self, false, &work);
    if (is_plain(request) && acl_lets_other(self, who, op, request, &work, err))
        return 0;
    return acl_refuse(who, op, request, err);
}

/* What the API shows or takes without a log-in is whose ever asks on this host, too. */
static bool
acl_is_unauthenticated(const front_t *self, const char *op, const json_t *request)
{
    const json_t *rest = conf_get(self->conf, "rest_cherrypy");

    if (str_eq(op, "metrics"))
        return value_bool(rest, "metrics_disable_auth", false) || conf_int(self->conf, "metrics_port") > 0;
    return acl_is_hook(op, request) && value_bool(rest, "webhook_disable_auth", false);
}

int
acl_lets(front_t *self, const lconn_t *c, const char *op, acl_access_t access, const json_t *request,
         fail_t *err)
{
    if (access == ACL_ANY && acl_may_come(self, c))
        return 0;
    asker_auto_t who = acl_asker(self, lconn_user(c), lconn_as(c), lconn_is_admin(c));
    if (who.as != NULL)
        return acl_lets_become(self, &who, op, request, err);
    if (str_eq(op, "publish"))
        return acl_publishes(self, &who, request, err);
    if (who.admin || (access == ACL_READ && acl_may_read(self, c)) ||
        acl_is_unauthenticated(self, op, request))
        return 0;
    return acl_refuse(&who, op, request, err);
}

/* ---- explaining ----------------------------------------------------------------------------------- */

static const char *
explain_why(const asker_t *who, const json_t *request, bool allowed, bool forbidden)
{
    if (forbidden)
        return "publisher_acl_blacklist names it, which goes before all rules";
    if (who->admin)
        return "root and the master's user may do everything";
    if (allowed)
        return "this rule allows it";
    if (json_array_size(who->rules) == 0)
        return "the user has no rule";
    return "none of the user's rules allows it";
}

json_t *
acl_explain(front_t *self, const json_t *request, fail_t *err)
{
    static const char *const forms[] = { "local", "runner", "wheel" };
    const char *user = value_str(request, "user", ""), *fun = value_str(request, "fun", "");
    const json_t *as = value_get(request, "eauth") != NULL ? request : NULL;
    json_auto_t *by = NULL;
    match_work_t work;
    size_t form = 0;
    while (form < NELEMS(forms) && !str_eq(forms[form], value_str(request, "form", "local")))
        form++;
    if (form == NELEMS(forms) || *user == '\0' || *fun == '\0') {
        (void) fail_set(err, -EINVAL, "'user' and 'fun' are texts, and 'form' is local, runner or wheel");
        return NULL;
    }
    asker_auto_t who = { user, as, acl_rules(self, user, as, &by), false, false };
    who.admin = as == NULL && lconn_is_admin_name(self, user);
    targets_work(self, true, &work);
    scope_auto_t scope = { self, request, &work, NULL, 0, false };
    rules_found_t found = { 0, NULL, NULL };
    const rules_ask_t ask = { .form = (rules_form_t) form,
                              .fun = fun,
                              .arg = value_get(request, "arg"),
                              .loose = as == NULL,
                              .unite = conf_bool(self->conf, "auth.enable_expanded_auth_matching"),
                              .covers = covers,
                              .cookie = &scope,
                              .work = &work };
    const json_t *list = conf_get(self->conf, "publisher_acl_blacklist");
    bool forbidden = form == RULES_LOCAL && (rules_forbid(value_get(list, "users"), user, &work) ||
                                             rules_forbid(value_get(list, "modules"), fun, &work));
    bool ruled = (as != NULL || form == RULES_LOCAL) && rules_allow(who.rules, &ask, &found);
    json_t *told = json_pack("{s:b, s:s, s:s}", "allowed", !forbidden && (who.admin || ruled), "option",
                             forbidden    ? "publisher_acl_blacklist"
                             : as != NULL ? "external_auth"
                                          : "publisher_acl",
                             "why", explain_why(&who, request, ruled, forbidden));
    if (ruled && !forbidden && !who.admin) {
        json_object_set(told, "key", json_array_get(by, found.at));
        json_object_set(told, "rule", json_array_get(who.rules, found.at));
        if (found.target != NULL)
            json_object_set_new(told, "target", json_string(found.target));
        if (found.call != NULL)
            json_object_set_new(told, "call", json_string(found.call));
    }
    return told;
}
