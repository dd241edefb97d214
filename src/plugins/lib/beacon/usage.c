/* usage.c - see usage.h. */
#include "plugins/lib/beacon/usage.h"

#include "common/base/str.h"
#include "salt/value.h"

bool
usage_limit(const json_t *given, double *ret_limit)
{
    if (json_is_number(given)) {
        *ret_limit = json_number_value(given);
        return true;
    }
    if (!json_is_string(given))
        return false;
    AUTO_FREE char *text = str_replace(json_string_value(given), "%", "");
    char *word = str_trim(text), *end;
    *ret_limit = strtod(word, &end);
    return *word != '\0' && *end == '\0';
}

double
usage_percent(double used, double of)
{
    char text[64];
    if (of <= 0)
        return 0;
    (void) snprintf(text, sizeof(text), "%.1f", used / of * 100);
    return strtod(text, NULL);
}

char *
usage_validate(const char *module, const json_t *config)
{
    double limit;
    if (value_get(config, "percent") == NULL)
        return xasprintf("Configuration for %s beacon requires percent.", module);
    if (!usage_limit(value_get(config, "percent"), &limit))
        return xasprintf("Configuration for %s beacon: percent is a number, or one with a %% behind it.",
                         module);
    return NULL;
}

void
usage_event(json_t *events, const json_t *config, const char *name, double percent)
{
    double limit;
    if (usage_limit(value_get(config, "percent"), &limit) && percent >= limit)
        json_array_append_new(events, json_pack("{s:f}", name, percent));
}
