/* http_status.c - beacon http_status: answers of web servers that are not as configured, asked by http.query.
 * A site has lists of conditions {value, comp, path} for `status`, `content` (the text) and `json_response`;
 * each that does not hold is an event, and so is a server that does not answer. */
#include "common/base/str.h"
#include "common/match/regex.h"
#include "salt/plugin.h"

static const char *const comparisons[] = { "==", "!=", "<", "<=", ">", ">=", "search" };

/* What is wrong with the conditions of a site. NEW text, or NULL. */
static char *
http_status_check(const char *url, const json_t *site)
{
    static const char *const formats[] = { "content", "json_response", "status" };
    json_t *list, *one;
    size_t i, k;
    if (!json_is_object(site) || json_object_size(site) == 0)
        return xasprintf("Sites config for http_status beacon: %s must be a dictionary of conditions.", url);
    for (i = 0; i < NELEMS(formats); i++) {
        list = value_get(site, formats[i]);
        if (list != NULL && !json_is_array(list))
            return xasprintf("Sites config for http_status beacon: %s of %s must be a list.", formats[i],
                             url);
        json_array_foreach (list, k, one) {
            const char *comp = value_str(one, "comp", "==");
            size_t c = 0;
            while (c < NELEMS(comparisons) && !str_eq(comparisons[c], comp))
                c++;
            if (!json_is_object(one) || value_get(one, "value") == NULL || c == NELEMS(comparisons))
                return xasprintf(
                    "Sites config for http_status beacon: %s of %s needs value, and comp: one of ==, !=, "
                    "<, <=, >, >=, search.",
                    formats[i], url);
        }
    }
    return NULL;
}

static char *
http_status_validate(const json_t *list, const json_t *config)
{
    json_t *sites = value_get(config, "sites"), *site;
    const char *url;
    if (sites == NULL)
        return xstrdup("Configuration for http_status beacon must contain sites option.");
    if (!json_is_object(sites))
        return xstrdup("Sites config for http_status beacon must be a dictionary.");
    json_object_foreach (sites, url, site) {
        char *why = http_status_check(url, site);
        if (why != NULL)
            return why;
    }
    return NULL;
}

/* True when `actual COMP expected` holds. Numbers compare as numbers, other values as texts; "search" is a
 * regular expression. */
static bool
http_status_holds(const json_t *actual, const char *comp, const json_t *expected)
{
    AUTO_FREE char *text = value_pystr(actual);
    AUTO_FREE char *wanted = value_pystr(expected);
    if (str_eq(comp, "search")) {
        fail_auto_t why = FAIL_INIT;
        AUTO(rx) rx = rx_new(wanted, 0, &why);
        return rx != NULL && rx_search(rx, text, strlen(text), 0, NULL) == 1;
    }
    bool numbers = json_is_number(actual) && json_is_number(expected);
    double order = numbers ? json_number_value(actual) - json_number_value(expected) : strcmp(text, wanted);
    if (comp[0] == '=' || comp[0] == '!')
        return (numbers ? order == 0 : value_equal(actual, expected)) == (comp[0] == '=');
    return comp[0] == '<' ? order < 0 || (comp[1] == '=' && order == 0)
                          : order > 0 || (comp[1] == '=' && order == 0);
}

/* Adds an event for each condition of one kind that does not hold. */
static void
http_status_compare(beacon_look_t *look, const char *url, const json_t *conditions, const char *kind,
                    json_t *actual)
{
    json_t *one;
    size_t i;
    json_array_foreach (conditions, i, one) {
        const char *comp = value_str(one, "comp", "=="), *path = value_str(one, "path", NULL);
        json_t *value = path != NULL ? value_path(actual, path, ":") : actual,
               *expected = value_get(one, "value");
        if (value != NULL && http_status_holds(value, comp, expected))
            continue;
        json_array_append_new(
            look->events,
            json_pack("{s:s, s:s, s:s, s:O, s:s, s:o}", "tag", url, "url", url, "error", kind, "expected",
                      expected, "comp", comp, "actual",
                      str_eq(kind, "content") || value == NULL ? json_null() : json_incref(value)));
    }
}

static int
http_status_look(beacon_look_t *look, fail_t *err)
{
    const char *url;
    json_t *site;
    json_object_foreach (value_get(look->config, "sites"), url, site) {
        json_auto_t *args = json_pack("[s]", url), *answer = NULL;
        json_auto_t *kwargs = json_pack("{s:b, s:b, s:b, s:i}", "status", true, "text", true, "raise_error",
                                        false, "timeout", (int) value_int(site, "timeout", 30));
        if (ctx_call(look->ctx, "http.query", args, kwargs, &answer, err) < 0)
            return err->code;
        json_t *status = value_get(answer, "status"), *error = value_get(answer, "error");
        /* http.query answers a status of 0, or none, where there was no answer at all. */
        if (status == NULL || json_integer_value(status) == 0) {
            json_array_append_new(look->events, json_pack("{s:s, s:s, s:s, s:O*}", "tag", url, "url", url,
                                                          "error", "unreachable", "text", error));
            continue;
        }
        json_t *text = value_get(answer, "text") != NULL ? value_get(answer, "text")
                                                         : value_get(answer, "body");
        http_status_compare(look, url, value_get(site, "status"), "status", status);
        http_status_compare(look, url, value_get(site, "content"), "content", text);
        if (value_get(site, "json_response") == NULL)
            continue;
        /* A body that is no JSON compares as null: the conditions fail then. */
        fail_auto_t why = FAIL_INIT;
        const char *body = text != NULL ? json_string_value(text) : "";
        json_auto_t *parsed = value_parse(body != NULL ? body : "", body != NULL ? strlen(body) : 0,
                                          LIMIT_FILE_READ, url, &why);
        json_auto_t *none = json_null();
        http_status_compare(look, url, value_get(site, "json_response"), "json_response",
                            parsed != NULL ? parsed : none);
    }
    return 0;
}

static const beacon_row_t row = {
    .validate = http_status_validate, .look = http_status_look, .every_s = 60, .calls = true, .key = "url"
};

PLUGIN(beacon, http_status, .doc = "Web servers: fires answers that are not as configured.", .beacon = &row);
