/* stateconf_order.c - states that `stateconf` adds, and requisites that keep the order of the file.
 *
 * Explicit requisites must agree with that order: a state can only require one before it. What an extension
 * of an ID requires counts for later files too, by the ID and the type of what is required, as in Salt. */
#include "common/base/str.h"
#include "common/render/stateconf.h"

static const char *const required[] = { "require", "watch", "listen", "onchanges", "onfail", NULL };
static const char *const required_in[] = { "require_in",   "watch_in",  "listen_in",
                                           "onchanges_in", "onfail_in", NULL };

/* The order of a file as it is gone through. */
typedef struct order {
    py_t *before, *after; /* dicts of tags: states that were there, and those that come */
    py_t *kept; /* {tag: [what it requires, ...]} of extensions, of `required` and of `required_in` */
    py_t *kept_in;
    py_t *last; /* {TYPE: ID} of the state before; NULL: none */
} order_t;

/* "ID:file" of a state "file.managed". NEW. */
static py_t *
order_tag(const py_t *id, const py_t *state)
{
    AUTO(py) type = stateconf_type(state);

    return py_strf("%s:%s", py_cstr(id), py_cstr(type));
}

/* The list or dict `key` of a dict, which is made where it is missing. BORROWED. */
static py_t *
order_made(py_t *dict, py_t *key, py_t *make(void))
{
    if (py_dict_get(dict, key) == NULL) {
        AUTO(py) fresh = make();
        py_dict_set(dict, key, fresh);
    }
    return py_dict_get(dict, key);
}

static py_t *
kept_dict(py_t *kept, const char *name)
{
    AUTO(py) key = py_strz(name);

    return order_made(kept, key, py_dict);
}

/* ---- what extensions require --------------------------------------------------------------------------- */

static void
keep_requisites(const py_t *id, py_t *args, const char *const *names, py_t *kept)
{
    for (stateconf_req_t req = { .args = args, .names = names }; stateconf_next_req(&req);) {
        AUTO(py) tag = order_tag(id, req.type);
        py_append_new(order_made(kept, tag, py_list), order_tag(req.id, req.type));
    }
}

/* ---- one state ----------------------------------------------------------------------------------------- */

/* NEW list of the tags that a state requires, by itself and by extensions. */
static py_t *
requisites_of(py_t *args, const char *const *names, const py_t *kept, py_t *tag)
{
    py_t *tags = py_list(), *more = py_dict_get(kept, tag);

    for (stateconf_req_t req = { .args = args, .names = names }; stateconf_next_req(&req);)
        py_append_new(tags, order_tag(req.id, req.type));
    if (more != NULL)
        py_extend(tags, more);
    return tags;
}

/* The first of the tags that is in `wrong`. BORROWED of the list, or NULL. */
static const py_t *
first_in(const py_t *tags, const py_t *wrong)
{
    for (size_t i = 0; i < py_seq_len(tags); i++)
        if (py_dict_get(wrong, py_seq_at(tags, i)) != NULL)
            return py_seq_at(tags, i);
    return NULL;
}

static int
check_order(const order_t *self, py_t *args, py_t *tag, fail_t *err)
{
    AUTO(py) tags = requisites_of(args, required, self->kept, tag);
    AUTO(py) tags_in = requisites_of(args, required_in, self->kept_in, tag);
    const py_t *late = first_in(tags, self->after), *early = first_in(tags_in, self->before);

    if (late != NULL)
        return fail_set(err, -EINVAL,
                        "State(%s) can't require/watch/listen/onchanges/onfail a state(%s) defined after it!",
                        py_cstr(tag), py_cstr(late));
    if (early != NULL)
        return fail_set(
            err, -EINVAL,
            "State(%s) can't require_in/watch_in/listen_in/onchanges_in/onfail_in a state(%s) defined before it!",
            py_cstr(tag), py_cstr(early));
    return 0;
}

/* Puts `last` before what the state requires. */
static void
require_last(py_t *args, py_t *last)
{
    py_t *list = NULL;
    for (size_t i = 0; list == NULL && i < py_seq_len(args); i++) {
        py_t *arg = py_seq_at(args, i);
        list = py_is(arg, PY_DICT) ? py_dict_gets(arg, "require") : NULL;
        list = list != NULL && py_is(list, PY_LIST) ? list : NULL;
    }
    AUTO(py) key = py_strz("require");

    if (list != NULL) {
        AUTO(py) zero = py_int(0);
        AUTO(py) name = py_strz("insert");
        py_unref(py_call_method(list, name, &(py_args_t){ .n = 2, .v = (py_t *[]){ zero, last } }));
        return;
    }
    AUTO(py) only = py_list();
    py_append(only, last);
    AUTO(py) arg = stateconf_pair(key, STEAL(only));
    py_append(args, arg);
}

static int
order_one(order_t *self, const stateconf_iter_t *it, fail_t *err)
{
    if (!py_is(it->args, PY_LIST))
        return 0;
    if (py_str_is(it->id, "extend"))
        return 0;
    AUTO(py) tag = order_tag(it->id, it->state);
    py_dict_del(self->after, tag);
    if (check_order(self, it->args, tag, err) < 0)
        return -EINVAL;
    if (self->last != NULL)
        require_last(it->args, self->last);
    py_dict_set(self->before, tag, PY_True);
    AUTO(py) type = stateconf_type(it->state);
    py_unref(self->last);
    self->last = stateconf_pair(type, py_ref(it->id));
    return 0;
}

/* ---- a file -------------------------------------------------------------------------------------------- */

static int
refuse_names(py_t *data, fail_t *err)
{
    for (stateconf_iter_t it = { .data = data }; stateconf_next(&it);) {
        for (size_t i = 0; py_is(it.args, PY_LIST) && i < py_seq_len(it.args); i++) {
            py_t *arg = py_seq_at(it.args, i);
            if (!py_str_is(it.id, "extend") && py_is(arg, PY_DICT) && py_dict_gets(arg, "names") != NULL)
                return fail_set(
                    err, -EINVAL,
                    "'names' declaration(found in state id: %s) is not supported with implicitly ordered states! You "
                    "should generate the states in a template for-loop instead.",
                    py_cstr(it.id));
        }
    }
    return 0;
}

/* Each state requires the one before it. `names` make several states of one, so they are refused. */
int
stateconf_order(py_t *data, py_t *kept, fail_t *err)
{
    AUTO(py) before = py_dict();
    AUTO(py) after = py_dict();
    order_t self = { before, after, kept_dict(kept, "required"), kept_dict(kept, "required_in"), NULL };
    py_t *extend = py_dict_gets(data, "extend");
    int rc = refuse_names(data, err);

    for (stateconf_iter_t it = { .data = data }; stateconf_next(&it);) {
        AUTO(py) tag = order_tag(it.id, it.state);
        py_dict_set(after, tag, PY_True);
    }
    for (stateconf_iter_t it = { .data = extend };
         extend != NULL && py_is(extend, PY_DICT) && stateconf_next(&it);) {
        keep_requisites(it.id, it.args, required, self.kept);
        keep_requisites(it.id, it.args, required_in, self.kept_in);
    }
    for (stateconf_iter_t it = { .data = data }; rc == 0 && stateconf_next(&it);)
        rc = order_one(&self, &it, err);
    py_unref(self.last);
    return rc;
}

/* ---- start and goal ------------------------------------------------------------------------------------ */

/* Adds an ID with a state that does nothing but hold a requisite. TAKES the list. */
static int
add_state(py_t *data, const char *id, const char *requisite, py_t *list)
{
    AUTO(py) key = py_strz(requisite);
    AUTO(py) fun = py_strz(STATECONF_SET);
    AUTO(py) args = py_list();

    py_append_new(args, stateconf_pair(key, list));
    py_dict_sets_new(data, id, stateconf_pair(fun, STEAL(args)));
    return 0;
}

/* NEW [{TYPE: ID}] of a state. */
static py_t *
order_reference(const stateconf_iter_t *it)
{
    AUTO(py) type = stateconf_type(it->state);

    return stateconf_pair(type, py_ref(it->id));
}

/* True when the ID belongs to the file: what `pydsl` has included says another one's name. */
static bool
order_is_own(const stateconf_iter_t *it, const char *sls)
{
    const py_t *origin = py_dict_gets(it->states, "__sls__");

    return !py_str_is(it->id, "extend") && (origin == NULL || (sls != NULL && py_str_is(origin, sls)));
}

/* Adds the state ".start", which the file's first state requires: others can wait for the file to begin. */
int
stateconf_start(py_t *data, const char *sls, fail_t *err)
{
    if (py_dict_gets(data, ".start") != NULL)
        return fail_set(err, -EINVAL,
                        "Can't generate start state(.start)! The same state id already exists!");
    if (py_dict_len(data) == 0)
        return 0;
    for (stateconf_iter_t it = { .data = data }; stateconf_next(&it);) {
        if (!order_is_own(&it, sls))
            continue;
        AUTO(py) list = py_list();
        py_append_new(list, order_reference(&it));
        return add_state(data, ".start", "require_in", STEAL(list));
    }
    return fail_set(err, -EINVAL, "Can't determine the first state in the sls file!");
}

/* Adds the state ".goal", which requires all of the file's: others can wait for the file to be done. */
int
stateconf_goal(py_t *data, fail_t *err)
{
    AUTO(py) list = py_list();

    if (py_dict_gets(data, ".goal") != NULL)
        return fail_set(err, -EINVAL, "Can't generate goal state(.goal)! The same state id already exists!");
    for (stateconf_iter_t it = { .data = data }; stateconf_next(&it);)
        if (order_is_own(&it, NULL))
            py_append_new(list, order_reference(&it));
    return add_state(data, ".goal", "require", STEAL(list));
}
