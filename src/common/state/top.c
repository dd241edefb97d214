/* top.c - the top files: gathered from the environments, merged by the configured strategy, verified,
 * matched: Salt's get_tops(), merge_tops(), verify_tops() and highstate_match().
 *
 * Errors that Salt only logs yield an empty result; highstate_top_problem() keeps the first of them for
 * callers that report it.
 */
#include "common/state/top.h"

#include "common/base/str.h"
#include "common/match/match.h"
#include "common/plugin/call.h"
#include "common/py/py_json.h"
#include "salt/log.h"

/* ---- gathering ------------------------------------------------------------------------------- */

typedef struct gather {
    highstate_t *high;
    py_t *tops; /* environment to [top file, ...] */
    json_t *errors;
} gather_t;

/* Log why there is no top file, as Salt does, and keep the first reason for the caller. TAKES the text. */
static void
note_problem(highstate_t *high, char *text)
{
    log_error("%s", text);
    if (high->top_problem == NULL)
        high->top_problem = text;
    else
        free(text);
}

const char *
highstate_top_problem(const highstate_t *self)
{
    return self->top_problem;
}

/* Load a top file. 1 with *ret_top NEW; 0 where none exists, with an empty dict; -1 when it can't be used:
 * Salt logs that and goes on without any top file. */
static int
top_load_top(highstate_t *high, const char *sls, const char *url, const char *saltenv, py_t **ret_top)
{
    fail_auto_t err = FAIL_INIT;
    source_t *source = NULL;
    AUTO(py) data = NULL;
    int rc = highstate_load(high, sls, url, saltenv, &source, &data, &err);

    source_free(source);
    if (rc < 0) {
        note_problem(high, xasprintf("Unable to render top file: %s", fail_text(&err)));
        return -1;
    }
    if (rc > 0 && !py_is(data, PY_NONE) && !py_is(data, PY_DICT)) {
        note_problem(high,
                     xasprintf("Unable to render top file: %s of environment %s is a %s, not a dictionary",
                               url != NULL ? url : sls, saltenv, py_type_name(data)));
        return -1;
    }
    *ret_top = rc > 0 && py_is(data, PY_DICT) ? STEAL(data) : py_dict();
    return rc;
}

/* Loads the top file of an environment. False: top_load_top() has failed. */
static bool
gather_env(gather_t *self, const char *url, const char *saltenv)
{
    AUTO(py) top = NULL;
    AUTO(py) list = py_list();

    if (top_load_top(self->high, NULL, url, saltenv, &top) < 0)
        return false;
    py_append(list, top);
    py_dict_sets(self->tops, saltenv, list);
    return true;
}

/* Gather a single environment if saltenv or state_top_saltenv names it, all otherwise. */
static bool
gather_initial(gather_t *self)
{
    highstate_t *high = self->high;
    const char *only = high->env.saltenv;
    const char *url = high->env.state_top != NULL ? high->env.state_top
                                                  : value_str(high->opts, "state_top", "top.sls");
    json_t *saltenv;
    size_t i;

    url += *url == '/'; /* the option may be "/top.sls" */
    if (str_empty(only))
        only = high->env.state_top_saltenv != NULL ? high->env.state_top_saltenv
                                                   : value_str(high->opts, "state_top_saltenv", NULL);
    if (!str_empty(only))
        return gather_env(self, url, only);
    json_array_foreach (highstate_envs(high), i, saltenv) {
        if (!gather_env(self, url, json_string_value(saltenv)))
            return false;
    }
    return true;
}

/* Load an included top file once. 1 when it exists, 0 when not, -1 as top_load_top(). */
static int
include_top(gather_t *self, const char *env, const char *sls, py_t *list, py_t *done)
{
    AUTO(py) mark = py_strf("%s:%s", env, sls);
    AUTO(py) top = NULL;

    if (py_in(mark, done) == 1)
        return 1;
    int rc = top_load_top(self->high, sls, NULL, env, &top);
    if (rc > 0) {
        py_append(list, top);
        py_set_add(done, mark);
    }
    return rc;
}

/* Load all top files of an environment that one item of "include" names. */
static bool
include_tops(gather_t *self, const char *env, py_t *target, py_t *list, py_t *done)
{
    json_t *name;
    size_t i;

    if (!py_is(target, PY_STR)) {
        AUTO_FREE char *shown = py_show(target);
        add_error(self->errors,
                  "The include of the top file of environment %s holds %s, not the name of an SLS", env,
                  shown);
        return true; /* go on: all such errors are reported at once */
    }
    if (!match_has_glob(py_cstr(target))) {
        int rc = include_top(self, env, py_cstr(target), list, done);
        /* Only a list that could be read proves that the file does not exist. */
        if (rc == 0)
            (void) highstate_lists(self->high, env);
        return rc >= 0;
    }
    json_auto_t *found = highstate_find(self->high, env, py_cstr(target));
    json_array_foreach (found, i, name)
        if (include_top(self, env, json_string_value(name), list, done) < 0)
            return false;
    return true;
}

/* Load the includes of each environment's own top file; included files include no further ones. */
static bool
gather_includes(gather_t *self)
{
    py_t *saltenv, *list;
    AUTO(py) key = py_strz("include");
    AUTO(py) done = py_set(false);

    for (size_t at = 0; py_dict_next(self->tops, &at, &saltenv, &list);) {
        const char *env = py_cstr(saltenv);
        AUTO(py) includes = py_ref(py_dict_get(py_seq_at(list, 0), key));
        if (includes == NULL)
            continue;
        py_dict_del(py_seq_at(list, 0), key);
        if (!py_is(includes, PY_LIST))
            add_error(self->errors, "The include of the top file of environment %s is not formed as a list",
                      env);
        for (size_t i = 0; py_is(includes, PY_LIST) && i < py_seq_len(includes); i++)
            if (!include_tops(self, env, py_seq_at(includes, i), list, done))
                return false;
    }
    return true;
}

/* ---- verifying ------------------------------------------------------------------------------- */

/* Checks an entry of a top file. */
static void
verify_entry(py_t *saltenv, py_t *entry, json_t *errors)
{
    py_t *key, *value;

    if (py_is(entry, PY_STR) && py_str_is(entry, "")) {
        AUTO_FREE char *env = py_show(saltenv);
        add_error(errors, "Environment %s contains an empty sls index", env);
    }
    for (size_t at = 0; py_is(entry, PY_DICT) && py_dict_next(entry, &at, &key, &value);) {
        if (py_truth(value) != 0)
            continue;
        AUTO_FREE char *text = py_show(entry);
        AUTO_FREE char *what = py_show(value);
        add_error(errors, "Improperly formatted top file matcher in saltenv %s: %s file", text, what);
    }
}

/* Checks the targets of an environment. */
static void
verify_matches(py_t *saltenv, py_t *matches, json_t *errors)
{
    py_t *target, *list;

    for (size_t at = 0; py_dict_next(matches, &at, &target, &list);) {
        if (!py_is(list, PY_LIST)) {
            AUTO_FREE char *env_text = py_show(saltenv), *target_text = py_show(target);
            add_error(
                errors,
                "Malformed topfile (state declarations not formed as a list) in saltenv '%s' for target "
                "'%s'",
                env_text, target_text);
            continue;
        }
        for (size_t i = 0; i < py_seq_len(list); i++)
            verify_entry(saltenv, py_seq_at(list, i), errors);
    }
}

/* Joins the matches with what master_tops says: behind them, or before with master_tops_first. */
static void
join_tops(highstate_t *self, json_t *matches, json_t *errors)
{
    fail_auto_t err = FAIL_INIT;
    json_auto_t *tops = call_tops(self->env.ctx, self->env.saltenv, &err);
    bool first = value_bool(self->opts, "master_tops_first", false);
    const char *saltenv;
    json_t *list, *sls;
    size_t i;

    if (tops == NULL)
        add_error(errors, "What master_tops says of this minion is not known: %s", fail_text(&err));
    json_object_foreach (tops, saltenv, list) {
        json_t *own = json_object_get(matches, saltenv), *before = first ? list : own;
        json_t *joined = before != NULL ? json_copy(before) : json_array();
        json_array_foreach (first ? own : list, i, sls)
            if (!value_lists(before, json_string_value(sls)))
                json_array_append(joined, sls);
        json_object_set_new(matches, saltenv, joined);
    }
}

/* Gather, include, merge, verify, match. Errors of the top file's shape do not keep the rest from being
 * matched; errors while merging do. */
json_t *
highstate_top(highstate_t *self, json_t *errors)
{
    AUTO(py) tops = py_odict();
    gather_t gather = { self, tops, errors };
    size_t before = json_array_size(errors);
    const char *lacks = highstate_strategy_problem(self);

    free(STEAL(self->top_problem));
    if (lacks != NULL)
        note_problem(self, xstrdup(lacks));
    bool gathered = lacks == NULL && gather_initial(&gather) && gather_includes(&gather);
    highstate_say_lists(self, errors);
    AUTO(py) top = gathered ? highstate_merge(self, tops, errors) : py_dict();
    if (json_array_size(errors) > before)
        return json_object();

    /* Checks the shape of a top file: environments, and in each a mapping of targets to lists. */
    py_t *saltenv, *matches;
    for (size_t at = 0; py_dict_next(top, &at, &saltenv, &matches);) {
        AUTO_FREE char *env = py_show(saltenv);
        if (py_str_is(saltenv, "include"))
            continue;
        if (!py_is(saltenv, PY_STR))
            add_error(errors, "Environment %s in top file is not formed as a string", env);
        if (py_str_is(saltenv, ""))
            add_error(errors, "Empty saltenv statement in top file");
        if (py_is(matches, PY_DICT))
            verify_matches(saltenv, matches, errors);
        else
            add_error(errors, "The top file matches for saltenv %s are not formatted as a dict", env);
    }

    json_t *found = highstate_match(self, top);
    join_tops(self, found, errors);
    return found;
}
