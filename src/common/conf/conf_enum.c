/* conf_enum.c - options whose values come from a closed set of names, and pipelines of renderers made of
 * such names ("jinja|yaml"). An unknown name is an error with a suggestion. */
#include "common/base/buf.h"
#include "common/base/str.h"
#include "common/conf/conf_int.h"
#include "salt/value.h"

const char *const conf_renderers[] = {
#define RENDERER(name, fn, doc) #name,
#include "common/render/renderers.def"
    NULL
};

const char *const conf_renderers_known[] = {
#define RENDERER(name, fn, doc) #name,
#define ELSEWHERE(name, why)    #name,
#include "common/render/renderers.def"
    NULL
};

const char *const conf_outputters[] = {
#define OUTPUTTER(name, function, claimed, values) #name,
#include "common/output/outputters.def"
    NULL
};

/* Look up a name in any case. The table's spelling, or NULL. */
static const char *
conf_enum_name_of(const option_row_t *row, const char *text)
{
    for (const char *const *name = row->names; *name != NULL; name++)
        if (strcasecmp(*name, text) == 0)
            return *name;
    return NULL;
}

static const char *
conf_enum_next_name(void *cookie)
{
    const char *const **at = cookie;

    return **at != NULL ? *(*at)++ : NULL;
}

/* Refuses a name that is not in the option's closed set, lists the known ones and suggests the nearest. */
static void
refuse_name(const option_row_t *row, const char *text, const char *where, fail_t *err)
{
    buf_auto_t known = BUF_INIT;
    const char *const *at = row->names;
    const char *near = str_suggest(text, conf_enum_next_name, &at);

    for (const char *const *name = row->names; *name != NULL; name++)
        buf_printf(&known, "%s%s", known.len > 0 ? ", " : "", *name);
    AUTO_FREE char *hint = near != NULL           ? xasprintf("; is '%s' meant?", near)
                           : row->instead != NULL ? xasprintf("; %s", row->instead)
                                                  : xstrdup("");
    fail_set(err, -EINVAL, "%s: option '%s' is '%.100s'; known are %s%s", where, row->name, text,
             buf_str(&known), hint);
}

json_t *
conf_check_word(const option_row_t *row, const json_t *v, const char *where, fail_t *err)
{
    if (!value_truthy(v) && str_eq(row->dflt, "\"\""))
        return json_string("");
    json_auto_t *text = conf_check_text(row, v, where, err);
    if (text == NULL)
        return NULL;
    const char *name = conf_enum_name_of(row, json_string_value(text));
    if (name == NULL)
        refuse_name(row, json_string_value(text), where, err);
    return name != NULL ? json_string(name) : NULL;
}

/* True for the name of a user's renderer: not one of Salt's that is elsewhere, nor one of the known with a
 * slip of the hand. */
static bool
may_be_users(const option_row_t *row, const char *name)
{
    const char *const *at = row->names;
    bool elsewhere = false;

    for (size_t i = 0; conf_renderers_known[i] != NULL; i++)
        elsewhere = elsewhere || str_eq(conf_renderers_known[i], name);
    return !elsewhere && str_typo_of(name, conf_enum_next_name, &at) == NULL && *name != '\0' &&
           name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")] == '\0';
}

/* "jinja|yaml": each part a renderer of the closed set, or with `open` also one that may be a user's. */
static json_t *
check_pipeline(const option_row_t *row, const json_t *v, bool open, const char *where, fail_t *err)
{
    /* Old Salt's names of whole pipelines. */
    static const char *const old_names[] = {
#define PAIR(old, now) #old,
#include "common/render/renderers.def"
    };
    json_auto_t *text = conf_check_text(row, v, where, err);
    bool ok = text != NULL;

    for (size_t i = 0; ok && i < NELEMS(old_names); i++)
        if (str_eq(old_names[i], json_string_value(text)))
            return STEAL(text);
    if (!ok)
        return NULL;
    char **parts = str_split(json_string_value(text), "|", false);
    for (size_t i = 0; ok && parts[i] != NULL; i++) {
        char *name = str_trim(parts[i]);
        name[strcspn(name, " ")] = '\0';
        ok = conf_enum_name_of(row, name) != NULL || (open && may_be_users(row, name));
        if (!ok)
            refuse_name(row, name, where, err);
    }
    strv_free(parts);
    return ok ? STEAL(text) : NULL;
}

json_t *
conf_check_pipeline(const option_row_t *row, const json_t *v, const char *where, fail_t *err)
{
    return check_pipeline(row, v, false, where, err);
}

json_t *
conf_check_open_pipeline(const option_row_t *row, const json_t *v, const char *where, fail_t *err)
{
    return check_pipeline(row, v, true, where, err);
}

/* Check each item of a list (or a single text) with `check`. NEW list. */
static json_t *
check_each(const option_row_t *row, const json_t *v, conf_check_fn *check, const char *where, fail_t *err)
{
    json_auto_t *texts = conf_check_list_of_texts(row, v, where, err), *list = json_array();
    json_t *text;
    size_t i;

    if (texts == NULL)
        return NULL;
    json_array_foreach (texts, i, text) {
        json_t *checked = check(row, text, where, err);
        if (checked == NULL)
            return NULL;
        json_array_append_new(list, checked);
    }
    return STEAL(list);
}

json_t *
conf_check_words(const option_row_t *row, const json_t *v, const char *where, fail_t *err)
{
    return check_each(row, v, conf_check_word, where, err);
}

/* A name that may be a user's is taken as it is: whether it exists shows when it is used. */
static json_t *
check_open_word(const option_row_t *row, const json_t *v, const char *where, fail_t *err)
{
    return may_be_users(row, json_string_value(v)) ? json_incref((json_t *) v)
                                                   : conf_check_word(row, v, where, err);
}

json_t *
conf_check_open_words(const option_row_t *row, const json_t *v, const char *where, fail_t *err)
{
    return check_each(row, v, check_open_word, where, err);
}

json_t *
conf_check_pipelines(const option_row_t *row, const json_t *v, const char *where, fail_t *err)
{
    return check_each(row, v, conf_check_pipeline, where, err);
}
