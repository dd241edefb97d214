/* view.c - see view.h. The kind of an event is in its tag, its function and minions are in its data; what
 * lacks one of them is not shown. */
#include "common/rules/view.h"

#include "common/base/str.h"
#include "salt/value.h"

typedef struct sight {
    const rules_view_t *view;
    const json_t *ids;
} sight_t;

static bool
sight_covers(void *cookie, const char *target)
{
    const sight_t *self = cookie;

    return json_array_size(self->ids) > 0 && self->view->covers(self->view->cookie, target, self->ids);
}

/* One of the functions, with its arguments. */
static bool
sight_allows(sight_t *self, rules_form_t form, const char *fun, const json_t *arg)
{
    const rules_ask_t ask = { .form = form,
                              .fun = fun,
                              .arg = arg,
                              .unite = self->view->unite,
                              .covers = sight_covers,
                              .cookie = self,
                              .work = self->view->work };

    return fun != NULL && rules_allow(self->view->rules, &ask, NULL);
}

static const json_t *
sight_arguments(const json_t *data)
{
    const json_t *arg = value_get(data, "arg");

    return arg != NULL ? arg : value_get(data, "fun_args");
}

static bool
sees_job(const rules_view_t *view, const json_t *data)
{
    const json_t *minions = value_get(data, "minions"), *id = value_get(data, "id"), *one;
    const json_t *fun = value_get(data, "fun"), *arg = sight_arguments(data);
    json_auto_t *ids = json_is_array(minions) ? json_incref((json_t *) minions) : json_pack("[O*]", id);
    sight_t sight = { view, ids };
    bool all = json_array_size(fun) > 0;
    size_t i;

    if (!json_is_array(fun))
        return sight_allows(&sight, RULES_LOCAL, json_string_value(fun), arg);
    json_array_foreach (fun, i, one)
        all = all && sight_allows(&sight, RULES_LOCAL, json_string_value(one), json_array_get(arg, i));
    return all;
}

static bool
sees_function(const rules_view_t *view, rules_form_t form, const char *prefix, const json_t *data)
{
    const char *fun = value_str(data, "fun", "");
    sight_t sight = { view, NULL };

    return str_starts(fun, prefix) && sight_allows(&sight, form, fun + strlen(prefix), sight_arguments(data));
}

bool
rules_sees(const rules_view_t *view, const char *tag, const json_t *data)
{
    static const struct {
        const char *tag, *prefix;
        rules_form_t form;
    } kinds[] = { { "salt/job/", "", RULES_LOCAL },
                  { "salt/run/", "runner.", RULES_RUNNER },
                  { "salt/wheel/", "wheel.", RULES_WHEEL } };

    for (size_t i = 0; i < NELEMS(kinds); i++) {
        if (!str_starts(tag, kinds[i].tag))
            continue;
        /* The jid of the tag, as an event's data may be of who fired it. */
        const char *from = tag + strlen(kinds[i].tag);
        AUTO_FREE char *jid = xstrndup(from, strcspn(from, "/"));
        if (str_eq(view->owner(view->cookie, jid), view->user))
            return true;
        return kinds[i].form == RULES_LOCAL ? sees_job(view, data)
                                            : sees_function(view, kinds[i].form, kinds[i].prefix, data);
    }
    return false;
}
