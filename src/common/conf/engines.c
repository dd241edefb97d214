/* engines.c - see engines.h. */
#include "common/conf/engines.h"

#include "salt/log.h"

/* {name: {"module", "options"}}: two engines of one module have names of their own. */
static void
engines_add(json_t *all, const char *name, const json_t *options)
{
    json_t *own = json_is_object(options) ? json_copy((json_t *) options) : json_object();
    json_t *module = value_get(own, "engine_module");
    json_auto_t *named = json_is_string(module) ? json_incref(module) : json_string(name);

    json_object_del(own, "engine_module");
    if (*name == '\0' || value_get(all, name) != NULL)
        log_error("engines: '%s' is there twice; give one of them a name of its own, and engine_module",
                  name);
    else
        json_object_set_new(all, name, json_pack("{s:O, s:O}", "module", named, "options", own));
    json_decref(own);
}

static void
engines_add_all(json_t *all, const json_t *mapping)
{
    const char *name;
    json_t *options;

    json_object_foreach ((json_t *) mapping, name, options)
        engines_add(all, name, options);
}

/* The option `engines`, in each of Salt's forms: a name, a list of names or mappings, a mapping. NEW. */
json_t *
engines_of(const json_t *opts)
{
    const json_t *given = value_get(opts, "engines"), *one;
    json_t *all = json_object();
    size_t i;

    engines_add_all(all, given);
    if (json_is_string(given))
        engines_add(all, json_string_value(given), NULL);
    else if (given != NULL && !json_is_null(given) && !json_is_object(given) && !json_is_array(given))
        log_error("engines: this is neither a list nor a mapping of engines");
    json_array_foreach ((json_t *) given, i, one) {
        if (json_is_string(one))
            engines_add(all, json_string_value(one), NULL);
        else if (json_is_object(one))
            engines_add_all(all, one);
        else
            log_error("engines: element %zu is neither a name nor {name: options}", i + 1);
    }
    /* The schedule of a master is one more. */
    if (strcmp(value_str(opts, "__role", ""), "master") == 0 &&
        json_object_size(value_get(opts, "schedule")) > 0 && value_get(all, "schedule") == NULL)
        engines_add(all, "schedule", NULL);
    return all;
}
