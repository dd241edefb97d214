/* acl.c - see acl.h. publisher_acl maps users to functions, optionally within a compound target: {user:
 * [function pattern, or {target: [function pattern]}]}. A request is allowed if one entry matches each of its
 * functions, those that its arguments name (inner.h) included; a target restriction is checked by matching both
 * targets and comparing the minions. */
#include "master/operators/acl.h"

#include "common/base/str.h"
#include "common/match/match.h"
#include "master/operators/inner.h"
#include "master/operators/lconn.h"
#include "master/front/noise.h"
#include "master/jobs/targets.h"
#include "salt/limits.h"
#include "salt/log.h"
#include "salt/value.h"

#define WORDS_MAX 500 /* bytes of a function or target in an error */

/* True when one of the function patterns matches. A single string is a regular expression, list items may be
 * globs as well. */
static bool
acl_functions(const json_t *patterns, const char *fun, match_work_t *work)
{
    size_t i;
    json_t *one;
    fail_auto_t err = FAIL_INIT;
    if (json_is_string(patterns))
        return match_work_take(work, LIMIT_WORK_PATTERN) &&
               match_pcre(json_string_value(patterns), fun, &err);
    json_array_foreach (patterns, i, one)
        if (json_is_string(one) && match_work_take(work, LIMIT_WORK_PATTERN) &&
            (match_glob(json_string_value(one), fun) || match_pcre(json_string_value(one), fun, &err)))
            return true;
    return false;
}

/* True when the rule's target has minions and contains all minions of the request. Compared by minions, not
 * by text: "web* or db1" starts like "web*". */
static bool
covers(front_t *self, const char *scope, const json_t *request, match_work_t *work)
{
    fail_auto_t err = FAIL_INIT;
    json_auto_t *rule = json_pack("{s:s, s:s}", "tgt", scope, "tgt_type", "compound");
    json_auto_t *missing = NULL, *unmet = NULL;
    AUTO_FREE uint32_t *may = NULL, *wants = NULL;
    size_t n_may = 0, n_wants = 0, i = 0, k = 0;
    if (targets_match_within(self, rule, work, &may, &n_may, &missing, &err) < 0 ||
        targets_match_within(self, request, work, &wants, &n_wants, &unmet, &err) < 0) {
        /* Either target may be invalid, and a user may send such requests at will: rate-limited. */
        noise_warn(self, "publisher_acl: whether '%s' covers a request can't be told, so it does not: %s",
                   scope, fail_text(&err));
        return false;
    }
    for (; i < n_wants && k < n_may; k++)
        i += wants[i] == may[k];
    return n_may > 0 && i == n_wants;
}

static bool
acl_entry(front_t *self, const json_t *entry, const char *fun, const json_t *request, match_work_t *work)
{
    const char *scope;
    json_t *functions;
    if (json_is_string(entry))
        return acl_functions(entry, fun, work);
    json_object_foreach ((json_t *) entry, scope, functions)
        if (acl_functions(functions, fun, work) && covers(self, scope, request, work))
            return true;
    return false;
}

/* As in Salt: a user must be named literally, unless client_acl_verify allows patterns. */
static bool
acl_names(front_t *self, const char *who, const char *user)
{
    return str_eq(who, user) || (conf_bool(self->conf, "client_acl_verify") && match_name(who, user));
}

static bool
allows(front_t *self, const char *user, const char *fun, const json_t *request, match_work_t *work)
{
    const char *who;
    json_t *entries, *entry;
    size_t i;
    json_object_foreach (conf_get(self->conf, "publisher_acl"), who, entries) {
        if (!acl_names(self, who, user))
            continue;
        json_array_foreach (entries, i, entry)
            if (acl_entry(self, entry, fun, request, work))
                return true;
    }
    return false;
}

static bool
acl_has(front_t *self, const char *user)
{
    const char *who;
    json_t *entries;
    json_object_foreach (conf_get(self->conf, "publisher_acl"), who, entries)
        if (acl_names(self, who, user))
            return true;
    return false;
}

bool
acl_may_read(front_t *self, const lconn_t *c)
{
    return lconn_is_admin(c) || acl_has(self, lconn_user(c));
}

/* NEW list of what the arguments of these functions name; NULL with *err. */
static json_t *
acl_named(const front_t *self, const json_t *request, const json_t *asked, match_work_t *work, fail_t *err)
{
    json_t *arg = value_get(request, "arg"), *one;
    bool several = json_is_array(value_get(request, "fun"));
    json_auto_t *named = json_array();
    size_t i;
    json_array_foreach (asked, i, one)
        if (json_is_string(one) &&
            inner_functions(self->modules, json_string_value(one), several ? json_array_get(arg, i) : arg,
                            work, named, err) < 0)
            return NULL;
    return json_incref(named);
}

/* True when an entry of publisher_acl allows each of these functions. */
static bool
acl_allows_all(front_t *self, const char *user, const json_t *funs, const json_t *request, match_work_t *work)
{
    json_t *one;
    size_t i;
    json_array_foreach (funs, i, one)
        if (!json_is_string(one) || !allows(self, user, json_string_value(one), request, work))
            return false;
    return true;
}

/* Whether an expression of the blacklist means the word; what can't be looked at any more is taken for named. */
static bool
on_blacklist(front_t *self, const char *list, const char *word, match_work_t *work)
{
    json_t *exprs = value_get(conf_get(self->conf, "publisher_acl_blacklist"), list), *one;
    json_auto_t *all = json_is_string(exprs) ? json_pack("[O]", exprs) : json_incref(exprs);
    size_t i;
    json_array_foreach (all, i, one)
        if (json_is_string(one) &&
            (!match_work_take(work, LIMIT_WORK_PATTERN) || match_expr(json_string_value(one), word)))
            return true;
    return false;
}

/* Salt's words, with what was asked. */
static int
acl_refuse(const char *user, const char *op, const json_t *request, fail_t *err)
{
    /* "'test.ping' on 'web*'" of a job, else the operation's name in quotes. */
    const json_t *fun = value_get(request, "fun"), *tgt = value_get(request, "tgt");
    AUTO_FREE char *name = fun != NULL ? value_pystr(fun) : xstrdup(op);
    AUTO_FREE char *whom = tgt != NULL ? value_pystr(tgt) : NULL;
    AUTO_FREE char *asked = whom != NULL ? xasprintf("'%.*s' on '%.*s'", WORDS_MAX, name, WORDS_MAX, whom)
                                         : xasprintf("'%.*s'", WORDS_MAX, name);

    return fail_set(err, -EACCES,
                    "Authentication failure of type \"user\" occurred for user %s: %s is not allowed; see "
                    "publisher_acl",
                    user, asked);
}

/* The verdict counts what the budget allowed to try: a pattern that was not tried has not matched. */
static int
acl_verdict(front_t *self, const char *user, bool admin, const json_t *funs, const json_t *request,
            match_work_t *work, fail_t *err)
{
    if (!admin && !acl_allows_all(self, user, funs, request, work))
        return acl_refuse(user, "publish", request, err);

    /* publisher_acl_blacklist applies to everyone's jobs, root's included. */
    json_t *one;
    size_t i;
    bool blocked = on_blacklist(self, "users", user, work);
    json_array_foreach (funs, i, one)
        blocked = blocked ||
                  (json_is_string(one) && on_blacklist(self, "modules", json_string_value(one), work));
    if (!blocked)
        return 0;
    log_error("%s may not run what publisher_acl_blacklist names", user);
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

/* The request whose minions must be allowed what the arguments name: where one of the functions calls on other
 * minions (FN_REACHES), which ones is in the arguments too, so it is all. NEW. */
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
acl_publishes(front_t *self, const char *user, bool admin, const json_t *request, fail_t *err)
{
    match_work_t work; /* of all rules, functions and arguments */
    if (!admin && !acl_has(self, user))
        return acl_refuse(user, "publish", request, err);

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
    targets_work(self, admin, &work);
    int rc = acl_verdict(self, user, admin, asked, request, &work, err);
    bool looks = !admin || value_get(conf_get(self->conf, "publisher_acl_blacklist"), "modules");
    if (rc < 0 || !looks)
        return rc;
    json_auto_t *named = acl_named(self, request, asked, &work, err);
    if (named == NULL)
        return err->code;
    json_auto_t *inner = acl_inner_request(self, request, asked, named);
    return acl_verdict(self, user, admin, named, inner, &work, err);
}

int
acl_lets_user(front_t *self, const char *user, const json_t *request, fail_t *err)
{
    return acl_publishes(self, user, false, request, err);
}

int
acl_lets(front_t *self, const lconn_t *c, const char *op, bool reads, const json_t *request, fail_t *err)
{
    if (str_eq(op, "publish"))
        return acl_publishes(self, lconn_user(c), lconn_is_admin(c), request, err);
    if (lconn_is_admin(c) || (reads && acl_may_read(self, c)))
        return 0;
    return acl_refuse(lconn_user(c), op, request, err);
}
