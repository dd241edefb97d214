/* service.c - beacon service: whether services run, by service.status. Salt's options: onchangeonly,
 * emitatstartup, delay (seconds), and uncleanshutdown, a file that is there after a crash. */
#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "salt/plugin.h"

static char *
service_validate(const json_t *list, const json_t *config)
{
    json_t *services = value_get(config, "services"), *one;
    const char *name;
    if (services == NULL)
        return xstrdup("Configuration for service beacon requires services.");
    if (!json_is_object(services))
        return xstrdup("Services configuration item for service beacon must be a dictionary.");
    json_object_foreach (services, name, one)
        if (!json_is_object(one))
            return xstrdup("Configuration for service beacon must be a list of dictionaries.");
    return NULL;
}

/* Whether a change is told: `onchangeonly` needs one, `delay` lets it settle. `last`: {running, time}, kept. */
static bool
service_tells(const json_t *how, json_t *kept, const char *name, json_t *now, double at_s)
{
    double delay = value_num(how, "delay", 0);
    json_t *last = value_get(kept, name);
    bool told = false;
    if (!value_bool(how, "onchangeonly", false))
        return true;
    if (last == NULL && !value_bool(how, "emitatstartup", true)) {
        json_object_set_new(kept, name, json_copy(now));
        return false;
    }
    if (last == NULL || !json_equal(value_get(last, "running"), value_get(now, "running"))) {
        last = json_copy(now);
        json_object_set_new(kept, name, last);
        if (delay > 0)
            json_object_set_new(last, "time", json_real(at_s));
        else
            told = true;
    }
    if (value_get(last, "time") != NULL && at_s - value_num(last, "time", 0) > delay) {
        json_object_del(last, "time");
        told = true;
    }
    return told;
}

static int
service_look(beacon_look_t *look, fail_t *err)
{
    const char *name;
    json_t *how, *kept = value_get(look->context, "last");
    if (kept == NULL) {
        kept = json_object();
        json_object_set_new(look->context, "last", kept);
    }
    json_object_foreach (value_get(look->config, "services"), name, how) {
        json_auto_t *args = json_pack("[s]", name), *running = NULL;
        if (ctx_call(look->ctx, "service.status", args, NULL, &running, err) < 0)
            return err->code;
        json_auto_t *now = json_pack("{s:O}", "running", running);
        const char *file = value_str(how, "uncleanshutdown", NULL);
        if (file != NULL && !value_truthy(running)) {
            int there = fs_look(file, err);
            if (there < 0)
                return there;
            json_object_set_new(now, "uncleanshutdown", json_boolean(there == 1));
        }
        if (service_tells(how, kept, name, now, (double) look->mono_ms / 1000))
            json_array_append_new(look->events,
                                  json_pack("{s:O, s:s, s:s}", name, now, "service_name", name, "tag", name));
    }
    return 0;
}

static const beacon_row_t row = {
    .validate = service_validate, .look = service_look, .every_s = 30, .calls = true, .edges = true
};

PLUGIN(beacon, service, .doc = "Services: fires whether each runs; with onchangeonly, when that changes.",
       .beacon = &row);
