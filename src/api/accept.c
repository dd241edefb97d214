/* accept.c - see accept.h. A type's weight is that of the most specific range that covers it. */
#include "api/accept.h"

#include <math.h>
#include <strings.h>

typedef struct weight {
    double q;
    int how; /* specific: 3 named, 2 its group, 1 everything, 0 not covered */
} weight_t;

/* A media range of the Accept header (RFC 9110, 12.5.1), without white space around it. */
typedef struct range {
    const char *type;
    size_t len;
    double q;
} range_t;

static const char *
skip_blanks(const char *at)
{
    return at + strspn(at, " \t");
}

/* The weight among the parameters at `at`, which end at `end`: 1 unless there is a `q`. */
static double
weight_of(const char *at, const char *end)
{
    while (at < end) {
        at = skip_blanks(at + 1);
        if (end - at > 2 && (at[0] == 'q' || at[0] == 'Q') && at[1] == '=') {
            double q = strtod(at + 2, NULL);
            return isfinite(q) && q >= 0 && q <= 1 ? q : 0;
        }
        at += strcspn(at, ";,");
    }
    return 1;
}

/* The next range; *at moves behind it. False at the end. */
static bool
range_next(const char **at, range_t *ret)
{
    *at += strspn(*at, " \t,");
    if (**at == '\0')
        return false;
    const char *end = *at + strcspn(*at, ",");
    ret->type = *at;
    ret->len = strcspn(*at, " \t;,");
    ret->q = weight_of(*at + strcspn(*at, ";,"), end);
    *at = end;
    return true;
}

static int
range_covers(const range_t *range, const char *type)
{
    size_t group = strcspn(type, "/") + 1;

    if (range->len == strlen(type) && strncasecmp(range->type, type, range->len) == 0)
        return 3;
    if (range->len == group + 1 && range->type[group] == '*' && strncasecmp(range->type, type, group) == 0)
        return 2;
    return range->len == 3 && strncmp(range->type, "*/*", 3) == 0 ? 1 : 0;
}

static weight_t
accept_weigh(const char *accept, const char *type)
{
    weight_t best = { 0, 0 };
    range_t range;
    const char *at = accept == NULL || accept[strspn(accept, " \t")] == '\0' ? "*/*" : accept;

    for (int i = 0; i < ACCEPT_MAX && range_next(&at, &range); i++) {
        int how = range_covers(&range, type);
        if (how > best.how)
            best = (weight_t){ range.q, how };
    }
    return best;
}

/* The heavier of two names of YAML. */
static weight_t
weigh_yaml(const char *accept)
{
    weight_t a = accept_weigh(accept, "application/x-yaml"), b = accept_weigh(accept, "text/yaml");

    return b.how == 3 && b.q > a.q ? b : a;
}

form_t
accept_form(const char *accept)
{
    weight_t json = accept_weigh(accept, "application/json"), yaml = weigh_yaml(accept);

    if (json.q <= 0 && yaml.q <= 0)
        return FORM_NONE;
    if (yaml.q > json.q || (yaml.q >= json.q && yaml.how > json.how))
        return FORM_YAML;
    return FORM_JSON;
}

bool
accept_wants_html(const char *accept)
{
    weight_t html = accept_weigh(accept, "text/html"), json = accept_weigh(accept, "application/json");

    return html.how >= 2 && html.q > 0 && (html.q > json.q || (html.q >= json.q && json.how < 3));
}

form_t
accept_error_form(const char *accept)
{
    weight_t json = accept_weigh(accept, "application/json"), yaml = weigh_yaml(accept);

    if (accept_wants_html(accept) || (json.how < 3 && yaml.how < 3))
        return FORM_NONE;
    return accept_form(accept);
}
