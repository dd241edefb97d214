/* yumgroup.c - groups of packages, as dnf and yum list them. */
#include <ctype.h>
#include <strings.h>

#include "common/base/str.h"
#include "common/host/rootfs.h"
#include "plugins/lib/packages/yum.h"

static const char *const kinds[] = { "mandatory", "optional", "default", "conditional" };

/* Sections follow their headings; "hidden" groups are asked for too. */
int
yum_group_list(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const char *const sections[][2] = { { "installed groups:", "installed" },
                                               { "available groups:", "available" },
                                               { "installed environment groups:", "installed environments" },
                                               { "available environment groups:", "available environments" },
                                               { "available language groups:", "available languages" } };
    AUTO_FREE char *text = yum_stdout(ctx, err, "grouplist", "hidden", NULL);
    json_t *section = NULL;

    if (text == NULL)
        return err->code;
    *ret_value = json_pack("{s:[], s:[], s:[], s:[], s:{}}", "installed", "available",
                           "installed environments", "available environments", "available languages");
    for (char *at = text, *line; (line = line_next(&at)) != NULL;) {
        bool heading = false;
        if (strcasecmp(line, "done") == 0)
            break;
        for (size_t i = 0; i < NELEMS(sections); i++) {
            if (strcasecmp(line, sections[i][0]) != 0)
                continue;
            section = value_get(*ret_value, sections[i][1]);
            heading = true;
        }
        if (heading || section == NULL || *line == '\0')
            continue;
        const char *language = str_trim(line);
        if (json_is_array(section)) {
            json_array_append_new(section, json_string(str_trim(line)));
            continue;
        }
        /* "French [fr]" */
        const char *open = strrchr(language, '['), *close = strrchr(language, ']');
        if (open == NULL || close == NULL || open - language < 2 || open[-1] != ' ' || close < open + 2)
            continue;
        json_object_set_new(section, language,
                            json_pack("{s:o, s:o}", "name",
                                      json_stringn(language, (size_t) (open - 1 - language)), "language",
                                      json_stringn(open + 1, (size_t) (close - open - 1))));
    }
    return 0;
}

/* ---- one group -------------------------------------------------------------------------------- */

/* Index in `kinds` of a line such as "Mandatory Packages:"; -1 for another. */
static int
kind_heading(const char *line)
{
    for (size_t i = 0; i < NELEMS(kinds); i++) {
        size_t len = strlen(kinds[i]);
        const char *rest = line + len;
        if (strncasecmp(line, kinds[i], len) == 0 &&
            (strcasecmp(rest, " groups:") == 0 || strcasecmp(rest, " packages:") == 0))
            return (int) i;
    }
    return -1;
}

/* Adds a text unless it is there. */
static void
add_once(json_t *list, const char *text)
{
    if (!value_lists(list, text))
        json_array_append_new(list, json_string(text));
}

/* Members with "Key: value" of the head. NEW. */
static json_t *
head_of(const char *text)
{
    AUTO_FREE char *copy = xstrdup(text);
    json_t *ret = json_object();

    for (char *at = copy, *line; (line = line_next(&at)) != NULL;) {
        char *colon = strchr(line, ':');
        if (colon == NULL || strchr(colon + 1, ':') != NULL)
            continue;
        *colon = '\0';
        char *key = str_trim(line);
        for (char *c = key; *c != '\0'; c++)
            *c = (char) tolower((unsigned char) *c);
        json_object_set_new(ret, key, json_string(str_trim(colon + 1)));
    }
    return ret;
}

static json_t *yumgroup_group_info(call_ctx_t *ctx, const char *name, bool expand, json_t *done, fail_t *err);

/* The members of a group that an environment has. */
static int
take_group(call_ctx_t *ctx, json_t *ret, const char *group, json_t *done, fail_t *err)
{
    AUTO_FREE char *name = xasprintf("@%s", group);
    json_t *v;
    size_t k;

    if (*group == '\0' || value_lists(done, group))
        return 0;
    json_array_append_new(done, json_string(group));
    json_auto_t *inner = yumgroup_group_info(ctx, name, true, done, err);
    if (inner == NULL)
        return err->code;
    for (size_t i = 0; i < NELEMS(kinds); i++)
        json_array_foreach (value_get(inner, kinds[i]), k, v)
            add_once(value_get(ret, kinds[i]), json_string_value(v));
    return 0;
}

/* pkg.group_info; `done` are the groups that were taken already. An environment has groups, whose members are
 * taken with `expand`; marks such as "=" and "+" before names are dropped. */
static json_t *
yumgroup_group_info(call_ctx_t *ctx, const char *name, bool expand, json_t *done, fail_t *err)
{
    if (prog_check_operand("name", name, err) < 0)
        return NULL;
    AUTO_FREE char *text = yum_stdout(ctx, err, "--quiet", "groupinfo", name, NULL);
    json_auto_t *ret = json_pack("{s:[], s:[], s:[], s:[]}", "mandatory", "optional", "default",
                                 "conditional");
    if (text == NULL)
        return NULL;
    json_auto_t *head = head_of(text);
    const char *environment = value_str(head, "environment group", ""), *group = value_str(head, "group", "");
    const char *id = value_str(head, "environment-id", value_str(head, "group-id", NULL));
    bool whole = value_get(head, "environment group") != NULL;
    int kind = -1;

    if (whole || value_get(head, "group") != NULL)
        json_object_set_new(ret, "type", json_string(whole ? "environment group" : "package group"));
    group = *environment != '\0' ? environment : group;
    if (*group == '\0' && str_empty(id)) {
        fail_kind(err, FAIL_COMMAND, -ENOENT, "Group '%s' not found", name);
        return NULL;
    }
    json_object_set_new(ret, "group", *group != '\0' ? json_string(group) : json_null());
    json_object_set_new(ret, "id", id != NULL ? json_string(id) : json_null());
    json_object_set_new(ret, "description", json_string(value_str(head, "description", "")));
    for (char *at = text, *line; (line = line_next(&at)) != NULL;) {
        char *plain = str_trim(line);
        while (ispunct((unsigned char) *plain))
            plain++;
        int heading = kind_heading(plain);
        if (heading >= 0)
            kind = heading;
        else if (kind >= 0 && expand && whole && take_group(ctx, ret, plain, done, err) < 0)
            return NULL;
        else if (kind >= 0 && !(expand && whole) && *plain != '\0')
            add_once(value_get(ret, kinds[kind]), plain);
    }
    for (size_t i = 0; i < NELEMS(kinds); i++)
        json_object_set_new(ret, kinds[i], value_sorted_texts(value_get(ret, kinds[i])));
    return STEAL(ret);
}

/* `ignore_groups` are taken for done. */
int
yum_group_info(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ignored = value_get(args, "ignore_groups");
    json_auto_t *done = json_is_array(ignored) ? json_copy(ignored) : json_array();

    *ret_value = yumgroup_group_info(ctx, value_str(args, "name", ""),
                                     value_truthy(value_get(args, "expand")), done, err);
    return *ret_value != NULL ? 0 : err->code;
}

/* The members of a group, by what is installed. */
int
yum_group_diff(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *done = json_array(), *ret = json_object();
    const json_t *have = rpm_packages(ctx, NULL, false, err);
    json_auto_t *info = have != NULL ? yumgroup_group_info(ctx, value_str(args, "name", ""), true, done, err)
                                     : NULL;
    json_t *v;
    size_t k;

    if (info == NULL)
        return err->code;
    for (size_t i = 0; i < NELEMS(kinds); i++) {
        json_t *both = json_pack("{s:[], s:[]}", "installed", "not installed");
        json_array_foreach (value_get(info, kinds[i]), k, v)
            json_array_append(value_get(both, value_get(have, json_string_value(v)) != NULL
                                                  ? "installed"
                                                  : "not installed"),
                              v);
        json_object_set_new(ret, kinds[i], both);
    }
    *ret_value = STEAL(ret);
    return 0;
}

/* A list, or a text with commas. 0, or FAIL_INVOCATION. */
static int
list_argument(const json_t *args, const char *name, json_t **ret_list, fail_t *err)
{
    const json_t *v = value_get(args, name);

    if (json_is_string(v))
        *ret_list = *json_string_value(v) != '\0' ? pkg_words(v) : json_array();
    else if (json_is_array(v))
        *ret_list = json_copy((json_t *) v);
    else
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "'%s' must be a list",
                         str_eq(name, "name") ? "groups" : name);
    return 0;
}

/* Mandatory and default packages, without `skip` and with `include`; those that are installed are left
 * out. */
int
yum_group_install(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *groups = NULL, *skip = NULL, *include = NULL, *pkgs = json_array();
    const json_t *have;
    json_t *v, *member;
    size_t i, k;

    if (!value_truthy(value_get(args, "name")))
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "no groups specified");
    if (list_argument(args, "name", &groups, err) < 0 || list_argument(args, "skip", &skip, err) < 0 ||
        list_argument(args, "include", &include, err) < 0 ||
        (have = rpm_packages(ctx, NULL, false, err)) == NULL)
        return err->code;
    json_auto_t *wanted = json_array();
    json_array_foreach (groups, i, v) {
        AUTO_FREE char *name = value_pystr(v);
        json_auto_t *done = json_array(), *info = yumgroup_group_info(ctx, name, false, done, err);
        if (info == NULL)
            return err->code;
        json_array_extend(wanted, value_get(info, "mandatory"));
        json_array_foreach (value_get(info, "default"), k, member)
            if (!value_has(skip, member))
                json_array_append(wanted, member);
    }
    json_array_extend(wanted, include);
    json_array_foreach (wanted, i, v) {
        if (json_is_string(v) && value_get(have, json_string_value(v)) == NULL)
            add_once(pkgs, json_string_value(v));
    }
    if (json_array_size(pkgs) > 0)
        return yum_install_names(ctx, pkgs, value_get(args, "kwargs"), ret_value, err);
    *ret_value = json_object();
    return 0;
}
