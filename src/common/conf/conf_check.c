/* conf_check.c - check one value against its row: type, conversion, bounds.
 *
 * The table at the end maps each conf_type_t to its check. A check returns a NEW value of the right type, or
 * NULL with *err naming file, line and option. */
#include "common/base/str.h"
#include "common/conf/conf_int.h"
#include "common/data/yaml_scalar.h"
#include "salt/log.h"
#include "salt/value.h"

/* Passes a number on when it lies within the row's bounds, else frees it and fails. TAKES `number`. */
static json_t *
in_bounds(const option_row_t *row, json_t *number, const char *where, fail_t *err)
{
    double d = json_number_value(number);

    if ((row->min == 0 && row->max == 0) || (d >= row->min && d <= row->max))
        return number;
    fail_set(err, -EINVAL, "%s: option '%s' is %.15g, which is not between %.15g and %.15g", where, row->name,
             d, row->min, row->max);
    json_decref(number);
    return NULL;
}

/* Numbers in quotes are accepted if YAML would read them as numbers without the quotes. */
static json_t *
check_int(const option_row_t *row, const json_t *v, const char *where, fail_t *err)
{
    AUTO_FREE char *digits = NULL;
    json_int_t n = json_integer_value(v);

    if (json_is_string(v) &&
        yaml_to_int(json_string_value(v), json_string_length(v), &n, &digits) != YAML_INT_64)
        return conf_refuse(row, v, "a whole number", where, err);
    if (!json_is_string(v) && !json_is_integer(v))
        return conf_refuse(row, v, "a whole number", where, err);
    return in_bounds(row, json_integer(n), where, err);
}

/* Accepts numbers, and texts that YAML would read as one. Infinity and NaN are refused: no wait or size can
 * use them. */
static json_t *
check_float(const option_row_t *row, const json_t *v, const char *where, fail_t *err)
{
    double d = 0.0;

    if (json_is_string(v) && !yaml_to_float(json_string_value(v), json_string_length(v), &d))
        return conf_refuse(row, v, "a number", where, err);
    if (json_is_string(v))
        return d - d == 0.0 ? in_bounds(row, json_real(d), where, err)
                            : conf_refuse(row, v, "a finite number", where, err);
    if (!json_is_number(v))
        return conf_refuse(row, v, "a number", where, err);
    return in_bounds(row, json_copy((json_t *) v), where, err);
}

/* A quoted boolean is refused: in Salt the text "False" is true. */
static json_t *
check_bool(const option_row_t *row, const json_t *v, const char *where, fail_t *err)
{
    bool yes;

    if (json_is_boolean(v))
        return json_boolean(json_is_true(v));
    if (json_is_string(v) && yaml_to_bool(json_string_value(v), json_string_length(v), &yes))
        return conf_refuse(row, v, "true or false without quotes", where, err);
    return conf_refuse(row, v, "true or false", where, err);
}

/* Accepts the name of a level in any case, and stores it as the log functions know it. */
static json_t *
check_level(const option_row_t *row, const json_t *v, const char *where, fail_t *err)
{
    log_level_t level;

    if (!json_is_string(v) || !log_level_parse(json_string_value(v), &level))
        return conf_refuse(
            row, v,
            "a log level (all, garbage, trace, debug, profile, info, warning, error, critical, quiet)", where,
            err);
    return json_string(log_level_name(level));
}

static json_t *
check_list(const option_row_t *row, const json_t *v, const char *where, fail_t *err)
{
    return json_is_array(v) ? json_deep_copy(v) : conf_refuse(row, v, "a list", where, err);
}

static json_t *
check_dict(const option_row_t *row, const json_t *v, const char *where, fail_t *err)
{
    return json_is_object(v) ? json_deep_copy(v) : conf_refuse(row, v, "a mapping (name: value)", where, err);
}

/* A path of this machine: the options that may name an address have another type. */
static json_t *
check_path(const option_row_t *row, const json_t *v, const char *where, fail_t *err)
{
    if (json_is_string(v) && strstr(json_string_value(v), "://") != NULL)
        return conf_refuse(row, v, "a path on this machine", where, err);
    return conf_check_text(row, v, where, err);
}

/* Accepts a path, or the address of a syslog daemon. A bad address fails now: taken for a path, it would
 * silently make a file of that name. */
static json_t *
check_log_file(const option_row_t *row, const json_t *v, const char *where, fail_t *err)
{
    fail_auto_t why = FAIL_INIT;

    if (!json_is_string(v) || !log_is_syslog(json_string_value(v)))
        return conf_check_text(row, v, where, err);
    if (log_check_syslog(json_string_value(v), &why) == 0)
        return json_copy((json_t *) v);
    fail_set(err, -EINVAL, "%s: option '%s': %s", where, row->name, fail_text(&why));
    return NULL;
}

/* Checks a format when it is read: a bad one would spoil every line of the log later. */
static json_t *
check_log_format(const option_row_t *row, const json_t *v, const char *where, fail_t *err)
{
    fail_auto_t why = FAIL_INIT;

    if (!json_is_string(v))
        return conf_refuse(row, v, "a format, as \"%(levelname)s %(message)s\"", where, err);
    if (log_check_format(json_string_value(v), &why) == 0)
        return json_copy((json_t *) v);
    fail_set(err, -EINVAL, "%s: option '%s': %s", where, row->name, fail_text(&why));
    return NULL;
}

/* Checks log_fmt_jid, which may hold no field but the jid. */
static json_t *
check_log_jid(const option_row_t *row, const json_t *v, const char *where, fail_t *err)
{
    AUTO_FREE char *others = json_is_string(v) ? str_replace(json_string_value(v), "%(jid)s", "") : NULL;

    if (others == NULL || strchr(others, '%') != NULL)
        return conf_refuse(row, v, "a text with no field but %(jid)s", where, err);
    return json_copy((json_t *) v);
}

/* Checks a mapping of names to levels. */
static json_t *
check_levels(const option_row_t *row, const json_t *v, const char *where, fail_t *err)
{
    json_auto_t *levels = json_object();
    const char *name;
    json_t *level;

    if (!json_is_object(v))
        return conf_refuse(row, v, "a mapping of names to log levels (salt.state: debug)", where, err);
    json_object_foreach ((json_t *) v, name, level) {
        json_t *checked = check_level(row, level, where, err);
        if (checked == NULL)
            return NULL;
        json_object_set_new(levels, name, checked);
    }
    return STEAL(levels);
}

static json_t *
check_any(const option_row_t *row, const json_t *v, const char *where, fail_t *err)
{
    return json_deep_copy(v);
}

/* Options of Salt that would weaken the program: they may be there, switched off. */
static json_t *
conf_check_forbidden(const option_row_t *row, const json_t *v, const char *where, fail_t *err)
{
    if (!value_truthy(v))
        return json_deep_copy(v);
    fail_set(err, -EINVAL, "%s: option '%s' cannot be switched on. %s", where, row->name, row->help);
    return NULL;
}

static conf_check_fn *const checks[] = {
    [CONF_STR] = conf_check_text,
    [CONF_PATH] = check_path,
    [CONF_INT] = check_int,
    [CONF_FLOAT] = check_float,
    [CONF_BOOL] = check_bool,
    [CONF_LEVEL] = check_level,
    [CONF_STRLIST] = conf_check_list_of_texts,
    [CONF_LIST] = check_list,
    [CONF_DICT] = check_dict,
    [CONF_WORD] = conf_check_word,
    [CONF_WORDS] = conf_check_words,
    [CONF_PIPELINE] = conf_check_pipeline,
    [CONF_OPEN_WORDS] = conf_check_open_words,
    [CONF_OPEN_PIPELINE] = conf_check_open_pipeline,
    [CONF_PIPELINES] = conf_check_pipelines,
    [CONF_SHAPES] = conf_check_shapes,
    [CONF_GROUPS] = conf_check_groups,
    [CONF_BATCH] = conf_check_batch,
    [CONF_LOGFILE] = check_log_file,
    [CONF_LOGFORMAT] = check_log_format,
    [CONF_LOGJID] = check_log_jid,
    [CONF_LEVELS] = check_levels,
    [CONF_ANY] = check_any,
    [CONF_FORBIDDEN] = conf_check_forbidden,
};

json_t *
conf_check(const option_row_t *row, const json_t *v, const char *where, fail_t *err)
{
    return checks[row->type](row, v, where, err);
}
