/* load.c - beacon load: averages of the load (/proc/loadavg) outside of their bounds [low, high]. With
 * `onchangeonly` only leaving the bounds is told, and `emitatstartup` says whether the first look counts as
 * that. */
#include "common/base/str.h"
#include "common/host/rootfs.h"
#include "salt/plugin.h"

static const char *const spans[] = { "1m", "5m", "15m" };

static char *
load_validate(const json_t *list, const json_t *config)
{
    static const char *const flags[] = { "emitatstartup", "onchangeonly" };
    json_t *averages = value_get(config, "averages");
    size_t known = 0;
    for (size_t i = 0; i < NELEMS(flags); i++)
        if (value_get(config, flags[i]) != NULL && !json_is_boolean(value_get(config, flags[i])))
            return xasprintf("Configuration for load beacon option %s must be a boolean.", flags[i]);
    if (averages == NULL)
        return xstrdup("Averages configuration is required for load beacon.");
    for (size_t i = 0; i < NELEMS(spans); i++)
        known += value_get(averages, spans[i]) != NULL;
    if (known == 0)
        return xstrdup("Averages configuration for load beacon must contain 1m, 5m or 15m items.");
    for (size_t i = 0; i < NELEMS(spans); i++) {
        json_t *pair = value_get(averages, spans[i]);
        if (pair == NULL)
            continue;
        if (!json_is_array(pair))
            return xstrdup(
                "Averages configuration for load beacon: 1m, 5m and 15m items must be a list of two items.");
        if (json_array_size(pair) != 2)
            return xstrdup(
                "Configuration for load beacon: 1m, 5m and 15m items must be a list of two items.");
        if (!json_is_number(json_array_get(pair, 0)) || !json_is_number(json_array_get(pair, 1)))
            return xstrdup("Configuration for load beacon: the two items of 1m, 5m and 15m are numbers.");
    }
    return NULL;
}

/* True when an average is outside of its bounds; with `last`, which is NULL otherwise, only when it has
 * crossed a bound since. As in Salt, leaving from exactly the bound is not told. */
static bool
load_is_out(const json_t *averages, const json_t *now, const json_t *last)
{
    for (size_t i = 0; i < NELEMS(spans); i++) {
        json_t *pair = value_get(averages, spans[i]);
        double low = json_number_value(json_array_get(pair, 0)),
               high = json_number_value(json_array_get(pair, 1)), v = value_num(now, spans[i], 0),
               before = value_num(last, spans[i], 0);
        if (pair == NULL)
            continue;
        if (last == NULL ? v < low || v > high : (v > high && before < high) || (v < low && before > low))
            return true;
    }
    return false;
}

static int
load_look(beacon_look_t *look, fail_t *err)
{
    char *loadavg = NULL;
    double v[3];
    if (root_text(look->root, "/proc/loadavg", &loadavg, err) < 0)
        return err->code;
    AUTO_FREE char *text = loadavg;
    if (text == NULL || sscanf(text, "%lf %lf %lf", &v[0], &v[1], &v[2]) != 3)
        return fail_set(err, -EIO, "/proc/loadavg is missing, or has no averages");
    json_auto_t *now = json_pack("{s:f, s:f, s:f}", spans[0], v[0], spans[1], v[1], spans[2], v[2]);
    bool edges = value_bool(look->config, "onchangeonly", false);
    json_t *last = value_get(look->context, "last");
    if (edges && last == NULL && !value_bool(look->config, "emitatstartup", true)) {
        json_object_set(look->context, "last", now);
        return 0;
    }

    /* At the first look of onchangeonly the averages count as new: what is outside then is told. */
    bool out = load_is_out(value_get(look->config, "averages"), now, edges ? last : NULL);
    json_object_set(look->context, "last", now);
    if (out)
        json_array_append(look->events, now);
    return 0;
}

static const beacon_row_t row = { .validate = load_validate, .look = load_look, .every_s = 5, .edges = true };

PLUGIN(beacon, load, .doc = "Averages of the load: fires while one of them is outside of its bounds.",
       .beacon = &row);
