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
#include "salt/value.h"

/* True when one of the function patterns matches. A single string is a regular expression, list items may be
 * globs as well. */
static bool
acl_functions(const json_t *patterns, const char *fun)
{
    size_t i;
    json_t *one;
    fail_auto_t err = FAIL_INIT;
    if (json_is_string(patterns))
        return match_pcre(json_string_value(patterns), fun, &err);
    json_array_foreach (patterns, i, one)
        if (json_is_string(one) &&
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
        return acl_functions(entry, fun);
    json_object_foreach ((json_t *) entry, scope, functions)
        if (acl_functions(functions, fun) && covers(self, scope, request, work))
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

/* NEW list of all functions that a request to publish calls: its own, and those that their arguments name. An
 * item that is not text is null. */
static json_t *
acl_called(const front_t *self, const json_t *request)
{
    json_t *fun = value_get(request, "fun"), *arg = value_get(request, "arg"), *one;
    bool several = json_is_array(fun);
    json_auto_t *funs = several ? json_incref(fun) : json_pack("[O*]", fun);
    json_t *called = json_array();
    size_t i;
    json_array_foreach (funs, i, one) {
        json_array_append_new(called, json_is_string(one) ? json_incref(one) : json_null());
        json_auto_t *inner = json_is_string(one) ? inner_functions(self->modules, json_string_value(one),
                                                                   several ? json_array_get(arg, i) : arg)
                                                 : NULL;
        json_array_extend(called, inner);
    }
    return called;
}

/* Every function that is called must be allowed, within one budget of work. */
bool
acl_lets(front_t *self, const char *user, const char *op, const json_t *request)
{
    json_auto_t *called = acl_called(self, request);
    json_t *one;
    size_t i;
    match_work_t work; /* of all rules and functions */
    if (!str_eq(op, "publish"))
        return false;
    targets_work(self, false, &work);
    json_array_foreach (called, i, one)
        if (!json_is_string(one) || !allows(self, user, json_string_value(one), request, &work))
            return false;
    return json_array_size(called) > 0;
}

static bool
on_blacklist(front_t *self, const char *list, const char *word)
{
    json_t *exprs = value_get(conf_get(self->conf, "publisher_acl_blacklist"), list), *one;
    size_t i;
    if (json_is_string(exprs))
        return match_expr(json_string_value(exprs), word);
    json_array_foreach (exprs, i, one)
        if (json_is_string(one) && match_expr(json_string_value(one), word))
            return true;
    return false;
}

/* publisher_acl_blacklist applies to everyone's jobs, root's included. */
bool
acl_blocks(front_t *self, const char *user, const json_t *request)
{
    json_auto_t *called = acl_called(self, request);
    json_t *one;
    size_t i;
    if (on_blacklist(self, "users", user))
        return true;
    json_array_foreach (called, i, one)
        if (json_is_string(one) && on_blacklist(self, "modules", json_string_value(one)))
            return true;
    return false;
}

bool
acl_may_read(front_t *self, const lconn_t *c)
{
    const char *who;
    json_t *entries;
    if (lconn_is_admin(c))
        return true;
    json_object_foreach (conf_get(self->conf, "publisher_acl"), who, entries)
        if (acl_names(self, who, lconn_user(c)))
            return true;
    return false;
}
