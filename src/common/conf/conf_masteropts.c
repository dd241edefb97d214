/* conf_masteropts.c - the options that a master sends its minions for their state runs, and how a minion
 * applies them: values are checked as if they stood in its own file, and nothing changes if one is invalid.
 */
#include "common/base/str.h"
#include "common/conf/conf_int.h"
#include "salt/value.h"

/* Salt's _master_opts() without file_roots: minions need the environments' names only, which they request
 * separately. */
static const char *const names[] = {
    "default_top",      "env_order",         "failhard",   "jinja_env",         "jinja_lstrip_blocks",
    "jinja_sls_env",    "jinja_trim_blocks", "nodegroups", "renderer",          "state_aggregate",
    "state_auto_order", "state_events",      "state_top",  "state_top_saltenv", "top_file_merging_strategy",
};

/* Minions learn the names of master_tops, so that they ask for what those say; the values may be secrets. NEW. */
static json_t *
tops_told(const json_t *tops)
{
    json_t *told = json_object(), *value;
    const char *name;

    json_object_foreach ((json_t *) tops, name, value)
        json_object_set_new(told, name, json_true());
    return told;
}

/* On the master: the options that minions get, as far as they are set. NEW. */
json_t *
conf_master_opts(const json_t *opts)
{
    json_t *told = json_object();

    for (size_t i = 0; i < NELEMS(names); i++) {
        json_t *v = value_get(opts, names[i]);
        if (v != NULL)
            json_object_set(told, names[i], v);
    }
    json_object_set_new(told, "master_tops", tops_told(value_get(opts, "master_tops")));
    return told;
}

/* On a minion: 0 with all of them laid over `opts`, or a negative errno with none. */
int
conf_apply_master_opts(json_t *opts, const json_t *told, fail_t *err)
{
    json_auto_t *over = json_object();

    if (!json_is_object(told))
        return fail_set(err, -EPROTO, "the master's options are not a mapping");
    for (size_t i = 0; i < NELEMS(names); i++) {
        json_t *v = value_get(told, names[i]);
        /* A minion's own state_aggregate has precedence. */
        bool stays = str_eq(names[i], "state_aggregate") && value_truthy(value_get(opts, names[i]));
        if (v == NULL || stays)
            continue;
        /* Checked as the master's own configuration would; null means "not set". */
        json_t *checked = json_is_null(v) ? json_null()
                                          : conf_check(conf_row(names[i], CONF_MASTER), v, "the master", err);
        if (checked == NULL)
            return err->code;
        json_object_set_new(over, names[i], checked);
    }
    /* An older master tells none, and could not answer; a minion's own are for times without a master. */
    (void) json_object_del(opts, "master_tops");
    if (json_is_object(value_get(told, "master_tops")))
        json_object_set_new(over, "master_tops", tops_told(value_get(told, "master_tops")));
    return json_object_update(opts, over);
}
