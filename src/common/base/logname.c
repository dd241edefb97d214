/* logname.c - see logname.h. */
#include "common/base/logname.h"

#include <stdatomic.h>

#include "common/base/str.h"

typedef struct name_row {
    const char *prefix, *name;
    bool each;
} name_row_t;

#define WHOLE                      false
#define EACH                       true
#define LOGGER(prefix, name, each) { prefix, name, each },
static const name_row_t rows[] = {
#include "salt/loggers.def"
};

typedef struct level_rule {
    char *name;
    log_level_t level;
} level_rule_t;

/* The levels by name. Replaced ones are never freed: another thread may be reading them, and a lock could be
 * held forever in a forked child. A reload without changes makes no new ones, so they do not pile up. */
typedef struct level_rules {
    struct level_rules *before;
    log_level_t least;
    size_t n;
    level_rule_t v[];
} level_rules_t;

static level_rules_t *_Atomic rules_now;

void
logname_of(const char *file, char out[LOGNAME_LEN])
{
    const name_row_t *best = &rows[0];
    const char *base = strrchr(file, '/');

    for (size_t i = 0; i < NELEMS(rows); i++)
        if (str_starts(file, rows[i].prefix) && strlen(rows[i].prefix) > strlen(best->prefix))
            best = &rows[i];
    base = base != NULL ? base + 1 : file;
    if (best->each)
        (void) snprintf(out, LOGNAME_LEN, "%s.%.*s", best->name, (int) strcspn(base, "."), base);
    else
        (void) str_copy(out, LOGNAME_LEN, best->name);
}

/* True when `name` is `above` or lies below it. */
static bool
logname_is_below(const char *name, const char *above)
{
    size_t len = strlen(above);

    return strncmp(name, above, len) == 0 && (name[len] == '\0' || name[len] == '.');
}

bool
logname_known(const char *name)
{
    for (size_t i = 0; i < NELEMS(rows); i++)
        if (logname_is_below(rows[i].name, name) || (rows[i].each && logname_is_below(name, rows[i].name)))
            return true;
    return false;
}

void
logname_set_levels(const json_t *levels)
{
    level_rules_t *fresh = xcalloc(1, sizeof(*fresh) + json_object_size(levels) * sizeof(fresh->v[0]));
    const char *name;
    json_t *text;

    fresh->least = LEVEL_QUIET;
    json_object_foreach ((json_t *) levels, name, text) {
        level_rule_t *rule = &fresh->v[fresh->n++];
        *rule = (level_rule_t){ xstrdup(name), LEVEL_WARNING };
        (void) log_level_parse(json_string_value(text), &rule->level);
        if (rule->level < fresh->least)
            fresh->least = rule->level;
    }
    fresh->before = rules_now;

    /* No levels at all are the same as none before. */
    const level_rules_t *old = fresh->before;
    bool same = old != NULL ? old->n == fresh->n : fresh->n == 0;
    for (size_t i = 0; same && i < fresh->n; i++)
        same = old->v[i].level == fresh->v[i].level && str_eq(old->v[i].name, fresh->v[i].name);
    if (same) {
        for (size_t i = 0; i < fresh->n; i++)
            free(fresh->v[i].name);
        free(fresh);
    } else
        rules_now = fresh;
}

log_level_t
logname_level(const char *name, log_level_t otherwise)
{
    const level_rules_t *rules = rules_now;
    const level_rule_t *best = NULL;

    for (size_t i = 0; rules != NULL && i < rules->n; i++)
        if (logname_is_below(name, rules->v[i].name) &&
            (best == NULL || strlen(rules->v[i].name) > strlen(best->name)))
            best = &rules->v[i];
    return best != NULL ? best->level : otherwise;
}

log_level_t
logname_least(void)
{
    const level_rules_t *rules = rules_now;

    return rules != NULL ? rules->least : LEVEL_QUIET;
}
