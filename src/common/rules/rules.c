/* rules.c - see rules.h. A rule is looked at from the outside in: target or "@..." first by its form, then
 * function, then arguments; whether the target covers the request is asked last, as that is the dearest
 * question. */
#include "common/rules/rules.h"

#include "common/base/buf.h"
#include "common/base/str.h"
#include "common/data/args.h"
#include "common/match/match.h"
#include "salt/limits.h"
#include "salt/value.h"

/* ---- functions and arguments ------------------------------------------------------------------- */

static bool
rules_pattern(const rules_ask_t *ask, const char *pattern, const char *text, bool glob)
{
    fail_auto_t err = FAIL_INIT;

    if (!match_work_take(ask->work, LIMIT_WORK_PATTERN + strlen(text)))
        return false;
    return (glob && match_glob(pattern, text)) || match_pcre(pattern, text, &err);
}

/* Words NAME=VALUE are keywords for who gets them, in this order. False when a name comes twice: which of the
 * values counts is then not known here. */
static bool
rules_split(const json_t *arg, json_t **ret_args, json_t **ret_kwargs)
{
    json_auto_t *values = NULL, *kwargs = NULL;
    json_t *one, *args = *ret_args = json_array();
    size_t i, n = 0, len;

    args_split(arg, &values, &kwargs);
    json_array_foreach (arg, i, one)
        if (json_is_true(json_object_get(one, "__kwarg__")))
            n += json_object_size(one) - 1;
    bool clear = n == json_object_size(kwargs);
    json_array_foreach (values, i, one) {
        const char *text = json_string_value(one);
        if (text == NULL || (len = args_keyword_len(text)) == 0) {
            json_array_append(args, one);
            continue;
        }
        AUTO_FREE char *name = xstrndup(text, len);
        clear = clear && json_object_get(kwargs, name) == NULL;
        json_t *value = arg_type_word_within(text + len + 1, LIMIT_INNER_NODES, NULL);
        json_object_set_new(kwargs, name, value != NULL ? value : json_null());
    }
    *ret_kwargs = STEAL(kwargs);
    return clear;
}

/* One value against its pattern; null stands for any value. */
static bool
rules_value(const rules_ask_t *ask, const json_t *pattern, const json_t *value)
{
    if (value == NULL || json_is_null(pattern))
        return value != NULL;
    AUTO_FREE char *text = value_pystr(value);
    return json_is_string(pattern) && rules_pattern(ask, json_string_value(pattern), text, false);
}

static bool
rules_condition(const rules_ask_t *ask, const json_t *condition, const json_t *args, const json_t *kwargs)
{
    json_t *by_place = json_object_get(condition, "args"), *by_name = json_object_get(condition, "kwargs"),
           *one;
    bool good = json_is_object(condition) && (by_place == NULL || json_is_array(by_place)) &&
                (by_name == NULL || json_is_object(by_name));
    const char *name;
    size_t i;

    json_array_foreach (by_place, i, one)
        good = good && rules_value(ask, one, json_array_get(args, i));
    json_object_foreach (by_name, name, one)
        good = good && rules_value(ask, one, json_object_get(kwargs, name));
    return good;
}

/* Several conditions are alternatives. Arguments that can't be told apart meet none. */
static bool
rules_arguments(const rules_ask_t *ask, const json_t *conditions)
{
    json_auto_t *args = NULL, *kwargs = NULL;
    json_t *one;
    size_t i;
    bool clear = rules_split(ask->arg, &args, &kwargs);

    if (!json_is_array(conditions))
        return clear && rules_condition(ask, conditions, args, kwargs);
    json_array_foreach (conditions, i, one)
        if (clear && rules_condition(ask, one, args, kwargs))
            return true;
    return false;
}

/* One CALL of rules.h: BORROWED pattern, or NULL when it does not allow the function. */
static const char *
rules_call(const rules_ask_t *ask, const json_t *call, const char *fun, bool glob)
{
    const char *pattern = json_string_value(call);

    if (pattern != NULL)
        return rules_pattern(ask, pattern, fun, glob) ? pattern : NULL;
    if (json_object_size(call) != 1)
        return NULL;
    void *only = json_object_iter((json_t *) call);
    pattern = json_object_iter_key(only);
    return rules_pattern(ask, pattern, fun, glob) && rules_arguments(ask, json_object_iter_value(only))
               ? pattern
               : NULL;
}

/* The same of a list of them; a text alone is a list of one, and never a glob. */
static const char *
rules_calls(const rules_ask_t *ask, const json_t *calls, const char *fun)
{
    const char *found = NULL;
    json_t *one;
    size_t i;

    if (!json_is_array(calls))
        return rules_call(ask, calls, fun, false);
    for (i = 0; found == NULL && (one = json_array_get(calls, i)) != NULL; i++)
        found = rules_call(ask, one, fun, ask->loose);
    return found;
}

/* ---- minions ----------------------------------------------------------------------------------- */

/* Of one mapping {TARGET: [CALL]}. With `targets`, targets whose functions allow it are added there, and the
 * whole is asked for later. */
static bool
rules_scoped(const rules_ask_t *ask, const json_t *rule, buf_t *targets, rules_found_t *found)
{
    const char *target, *call;
    json_t *calls;

    if (!ask->loose && json_object_size(rule) != 1)
        return false;
    json_object_foreach ((json_t *) rule, target, calls) {
        if (*target == '@' || (call = rules_calls(ask, calls, ask->fun)) == NULL)
            continue;
        bool first = targets == NULL || targets->len == 0;
        if (first) {
            found->target = target;
            found->call = call;
        }
        if (targets != NULL)
            buf_printf(targets, "%s( %s )", first ? "" : " or ", target);
        else if (ask->covers(ask->cookie, target))
            return true;
    }
    return false;
}

/* First each rule by itself. With `unite`, the targets of all rules that allow the function are then joined
 * by `or` and asked for at once: together they may cover a job that none covers alone. */
static bool
rules_local(const json_t *rules, const rules_ask_t *ask, rules_found_t *found)
{
    buf_auto_t targets = BUF_INIT;
    json_t *rule;
    size_t i, first = 0;

    json_array_foreach (rules, i, rule) {
        const char *call = json_string_value(rule);
        *found = (rules_found_t){ i, NULL, call };
        if (call != NULL && rules_pattern(ask, call, ask->fun, false))
            return true;
        if (json_is_object(rule) && rules_scoped(ask, rule, NULL, found))
            return true;
    }
    if (!ask->unite)
        return false;
    json_array_foreach (rules, i, rule) {
        if (targets.len == 0)
            first = i;
        (void) rules_scoped(ask, rule, &targets, found);
    }
    found->at = first;
    return targets.len > 0 && ask->covers(ask->cookie, buf_str(&targets));
}

/* ---- runners and wheel functions ----------------------------------------------------------------- */

/* "@runner", "@runners", for a form; "@jobs" for the module. */
static bool
rules_means_form(const char *word, const char *form)
{
    size_t len = strlen(form);

    return *word == '@' && strncmp(word + 1, form, len) == 0 &&
           (word[1 + len] == '\0' || str_eq(word + 1 + len, "s"));
}

/* "@jobs" means the functions of the module `jobs`. */
static bool
rules_means_module(const char *word, const char *fun, size_t len)
{
    return *word == '@' && strlen(word + 1) == len && strncmp(word + 1, fun, len) == 0;
}

static bool
rules_special(const json_t *rules, const rules_ask_t *ask, const char *form, rules_found_t *found)
{
    const char *dot = strchr(ask->fun, '.');
    json_t *rule;
    size_t i;

    if (dot == NULL || strchr(dot + 1, '.') != NULL)
        return false;
    size_t len = (size_t) (dot - ask->fun);
    json_array_foreach (rules, i, rule) {
        const char *word = json_string_value(rule);
        *found = (rules_found_t){ i, word, NULL };
        if (word != NULL && (rules_means_form(word, form) || rules_means_module(word, ask->fun, len)))
            return true;
        if (json_object_size(rule) != 1)
            continue;
        void *only = json_object_iter(rule);
        const json_t *calls = json_object_iter_value(only);
        found->target = word = json_object_iter_key(only);
        if (rules_means_module(word, ask->fun, len) &&
            (found->call = rules_calls(ask, calls, dot + 1)) != NULL)
            return true;
        if (rules_means_form(word, form) && (found->call = rules_calls(ask, calls, ask->fun)) != NULL)
            return true;
    }
    return false;
}

bool
rules_allow(const json_t *rules, const rules_ask_t *ask, rules_found_t *ret_found)
{
    rules_found_t own, *found = ret_found != NULL ? ret_found : &own;

    switch (ask->form) {
    case RULES_RUNNER:
        return rules_special(rules, ask, "runner", found);
    case RULES_WHEEL:
        return rules_special(rules, ask, "wheel", found);
    case RULES_LOCAL:
        break;
    }
    return rules_local(rules, ask, found);
}

bool
rules_forbid(const json_t *exprs, const char *word, match_work_t *work)
{
    json_auto_t *all = json_is_string(exprs) ? json_pack("[O]", exprs) : json_incref((json_t *) exprs);
    json_t *one;
    size_t i;

    json_array_foreach (all, i, one)
        if (json_is_string(one) &&
            (!match_work_take(work, LIMIT_WORK_PATTERN) || match_expr(json_string_value(one), word)))
            return true;
    return false;
}

/* ---- a user's rules ------------------------------------------------------------------------------ */

/* `by` gets the key that each rule came from, at the same index. */
static void
rules_append(json_t *rules, json_t *by, const char *key, const json_t *some)
{
    json_t *one;
    size_t i;

    json_array_foreach (some, i, one) {
        json_array_append(rules, one);
        json_array_append_new(by, json_string(key));
    }
}

json_t *
rules_of_user(const json_t *system, const char *user, const json_t *groups, bool permissive, json_t **ret_by)
{
    json_t *rules = json_array(), *some;
    json_auto_t *by = json_array();
    bool named = false;
    const char *key;

    json_object_foreach ((json_t *) system, key, some) {
        bool his;
        if (*key == '^' || *key == '\0' || str_eq(key, "*"))
            continue;
        if (str_ends(key, "%")) { /* "GROUP%" */
            AUTO_FREE char *group = xstrndup(key, strlen(key) - 1);
            his = value_lists(groups, group);
        } else {
            named = (his = match_name(key, user)) || named;
        }
        if (his)
            rules_append(rules, by, key, some);
    }
    if (permissive || !named)
        rules_append(rules, by, "*", json_object_get(system, "*"));
    if (ret_by != NULL)
        *ret_by = STEAL(by);
    return rules;
}

json_t *
rules_shown(const json_t *rules)
{
    json_auto_t *texts = value_sorted_texts(rules);
    json_t *shown = json_array(), *one;
    size_t i;

    json_array_foreach (texts, i, one)
        if (!value_has(shown, one))
            json_array_append(shown, one);
    json_array_foreach (rules, i, one)
        if (!json_is_string(one) && !value_has(shown, one))
            json_array_append(shown, one);
    return shown;
}

bool
rules_are_all(const json_t *rules)
{
    bool all = value_lists(rules, ".*");

    return all && (value_lists(rules, "@runner") || value_lists(rules, "@runners")) &&
           (value_lists(rules, "@wheel") || value_lists(rules, "@wheels"));
}
