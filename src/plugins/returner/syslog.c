/* syslog.c - returner `syslog`: each return is a line of JSON for the system's log. Names of levels,
 * facilities and options are those of <syslog.h>. */
#include <syslog.h>

#include "common/base/str.h"
#include "plugins/lib/returner/retopts.h"

#define IDENT_MAX 32 /* letters of a tag, as in Salt */

static const retopt_t options[] = { { "level", NULL, "\"LOG_INFO\"" },
                                    { "facility", NULL, "\"LOG_USER\"" },
                                    { "tag", NULL, NULL },
                                    { "options", NULL, "[]" } };

#define SYSLOG_NAME(name) ROW(#name, name)
static const struct syslog_name {
    const char *name;
    int bits;
} syslog_names[] = {
    SYSLOG_NAME(LOG_EMERG),   SYSLOG_NAME(LOG_ALERT),    SYSLOG_NAME(LOG_CRIT),   SYSLOG_NAME(LOG_ERR),
    SYSLOG_NAME(LOG_WARNING), SYSLOG_NAME(LOG_NOTICE),   SYSLOG_NAME(LOG_INFO),   SYSLOG_NAME(LOG_DEBUG),
    SYSLOG_NAME(LOG_KERN),    SYSLOG_NAME(LOG_USER),     SYSLOG_NAME(LOG_MAIL),   SYSLOG_NAME(LOG_DAEMON),
    SYSLOG_NAME(LOG_AUTH),    SYSLOG_NAME(LOG_AUTHPRIV), SYSLOG_NAME(LOG_SYSLOG), SYSLOG_NAME(LOG_LPR),
    SYSLOG_NAME(LOG_NEWS),    SYSLOG_NAME(LOG_UUCP),     SYSLOG_NAME(LOG_CRON),   SYSLOG_NAME(LOG_LOCAL0),
    SYSLOG_NAME(LOG_LOCAL1),  SYSLOG_NAME(LOG_LOCAL2),   SYSLOG_NAME(LOG_LOCAL3), SYSLOG_NAME(LOG_LOCAL4),
    SYSLOG_NAME(LOG_LOCAL5),  SYSLOG_NAME(LOG_LOCAL6),   SYSLOG_NAME(LOG_LOCAL7), SYSLOG_NAME(LOG_PID),
    SYSLOG_NAME(LOG_CONS),    SYSLOG_NAME(LOG_NDELAY),   SYSLOG_NAME(LOG_NOWAIT), SYSLOG_NAME(LOG_PERROR),
};

/* Adds the bits of a name. */
static int
syslog_bits(const json_t *name, int *bits, fail_t *err)
{
    const char *text = json_string_value(name);

    for (size_t i = 0; text != NULL && i < NELEMS(syslog_names); i++) {
        if (strcmp(syslog_names[i].name, text) == 0) {
            *bits |= syslog_names[i].bits;
            return 0;
        }
    }
    return fail_kind(err, FAIL_INVOCATION, -EINVAL, "syslog has no attribute %s",
                     text != NULL ? text : "of that type");
}

static int
syslog_returner(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = value_get(args, "ret"), *name;
    json_auto_t *opts = retopts(ctx, "syslog", ret, options, NELEMS(options));
    int priority = 0, flags = 0;
    const char *tag = value_str(opts, "tag", NULL);
    size_t i;

    if (syslog_bits(value_get(opts, "level"), &priority, err) < 0 ||
        syslog_bits(value_get(opts, "facility"), &priority, err) < 0)
        return -EINVAL;
    json_array_foreach (value_get(opts, "options"), i, name) {
        if (syslog_bits(name, &flags, err) < 0)
            return -EINVAL;
    }
    if (tag != NULL && strlen(tag) > IDENT_MAX)
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "tag size is limited to %d characters", IDENT_MAX);
    AUTO_FREE char *text = ret_json(ret);
    /* The facility is part of the priority: openlog() takes only a default. */
    openlog(tag, flags, LOG_USER);
    syslog(priority, "%s", text);
    closelog();
    return 0;
}

static const func_t funcs[] = { RET_ROW_RETURNER(syslog_returner), RET_ROW_PREP };

PLUGIN(returner, syslog, .doc = "Write returns into the system's log", FUNCS(funcs));
