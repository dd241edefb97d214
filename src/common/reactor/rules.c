/* rules.c - parse the option `reactor` into rules, and match events against conditions; see rules.h.
 *
 * Parsing is strict: unknown keys, empty lists and bad types are errors that name the entry. A rule's key
 * identifies it across restarts: its name, or its first tag and a digest of its content. */
#include "common/reactor/rules_int.h"

#include "common/base/digest.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/data/yaml.h"
#include "common/match/match.h"
#include "salt/limits.h"
#include "salt/value.h"

#define KEY_DIGITS 8 /* of a digest, in the key of a rule without a name */

void
rules_destroy(rules_t **self_p)
{
    rules_t *self = STEAL(*self_p);

    if (self == NULL)
        return;
    for (size_t i = 0; i < self->n; i++) {
        rule_t *rule = &self->rule[i];
        for (size_t k = 0; k < rule->n_conds; k++) {
            free(rule->conds[k].tag);
            json_decref(rule->conds[k].match);
        }
        free(rule->conds);
        free(rule->key);
        json_decref(rule->files);
        json_decref(rule->groups);
        json_decref(rule->by);
    }
    free(self->rule);
    free(self);
}

/* ---- parts of an entry --------------------------------------------------------------------------------- */

/* Accept a text or a list of texts. NEW list, or NULL with *err. */
static json_t *
rules_texts(const json_t *v, const char *what, fail_t *err)
{
    json_t *one;
    size_t i;

    if (json_is_string(v))
        return json_pack("[O]", v);
    bool ok = json_is_array(v);
    json_array_foreach (v, i, one)
        ok = ok && json_is_string(one) && json_string_length(one) > 0;
    if (ok)
        return json_copy((json_t *) v);
    (void) fail_set(err, -EINVAL, "%s is a text or a list of texts", what);
    return NULL;
}

/* Reads a time; a missing one leaves *ret_us as it is. */
static int
rules_seconds(const json_t *v, const char *what, int64_t *ret_us, fail_t *err)
{
    double seconds = json_number_value(v);

    if (v == NULL)
        return 0;
    if (!json_is_number(v) || seconds <= 0 || seconds > LIMIT_REACTOR_WINDOW)
        return fail_set(err, -EINVAL, "'%s' is a number of seconds above 0, and at most %d", what,
                        LIMIT_REACTOR_WINDOW);
    *ret_us = (int64_t) (seconds * 1e6);
    return 0;
}

/* Bound a tag like an event's own: the bus refuses a listener with a longer one. */
static int
rules_check_tag(const char *tag, fail_t *err)
{
    size_t n = strlen(tag);

    return n <= LIMIT_TAG_LEN ? 0
                              : fail_set(err, -EINVAL, "an event's tag has at most %d bytes, this one %zu",
                                         LIMIT_TAG_LEN, n);
}

/* A tag, or {tag: TAG, match: {path: value or values}}. */
static int
rules_cond(rule_t *rule, const json_t *v, fail_t *err)
{
    const char *tag = json_is_string(v) ? json_string_value(v) : value_str(v, "tag", "");
    json_t *match = value_get(v, "match"), *one;
    const char *key;

    if (*tag == '\0')
        return fail_set(err, -EINVAL, "a condition is an event's tag, or a mapping with 'tag' and 'match'");
    if (match != NULL && !json_is_object(match))
        return fail_set(err, -EINVAL, "'match' is a mapping: a field's path, and its value or values");
    if (rules_check_tag(tag, err) < 0)
        return -EINVAL;
    json_object_foreach ((json_t *) v, key, one)
        if (!str_eq(key, "tag") && !str_eq(key, "match"))
            return fail_set(err, -EINVAL, "a condition has 'tag' and 'match', not '%s'", key);
    rule->conds = xrealloc(rule->conds, (rule->n_conds + 1) * sizeof(*rule->conds));
    rule->conds[rule->n_conds++] = (cond_t){ xstrdup(tag), json_incref(match) };
    return 0;
}

static int
conds(rule_t *rule, const json_t *list, fail_t *err)
{
    int rc = 0;
    json_t *one;
    size_t i;

    if (!json_is_array(list) || json_array_size(list) == 0 || json_array_size(list) > LIMIT_REACTOR_CONDS)
        return fail_set(err, -EINVAL, "conditions are a list of 1 to %d", LIMIT_REACTOR_CONDS);
    json_array_foreach (list, i, one)
        rc = rc == 0 ? rules_cond(rule, one, err) : rc;
    return rc;
}

/* A single tag, or a list, is `any`. */
static int
rules_when(rule_t *rule, const json_t *when, fail_t *err)
{
    static const struct {
        const char *word;
        when_t when;
    } rows[] = { { "all", WHEN_ALL }, { "any", WHEN_ANY }, { "not_all", WHEN_NOT_ALL } };

    rule->when = WHEN_ANY;
    if (json_is_array(when))
        return conds(rule, when, err);
    if (json_is_string(when) || value_get(when, "tag") != NULL)
        return rules_cond(rule, when, err);
    for (size_t i = 0; i < NELEMS(rows); i++) {
        json_t *list = value_get(when, rows[i].word);
        if (list == NULL || json_object_size(when) != 1)
            continue;
        rule->when = rows[i].when;
        return conds(rule, list, err);
    }
    return fail_set(err, -EINVAL,
                    "'when' is a tag, a list of tags, or one of 'all', 'any', 'not_all' with a list");
}

/* {once_within: seconds} or {once_after: seconds}; group_by may stand in it or beside it. */
static int
throttle(rule_t *rule, const json_t *v, fail_t *err)
{
    static const struct {
        const char *word;
        throttle_t throttle;
    } rows[] = { { "once_within", THROTTLE_WITHIN }, { "once_after", THROTTLE_AFTER } };
    json_t *by = value_get(v, "group_by");

    if (v == NULL)
        return 0;
    if (by != NULL && rule->by != NULL)
        return fail_set(err, -EINVAL, "'group_by' stands beside 'throttle' or in it, not both");
    if (by != NULL && (rule->by = rules_texts(by, "'group_by'", err)) == NULL)
        return -EINVAL;
    for (size_t i = 0; i < NELEMS(rows); i++) {
        json_t *seconds = value_get(v, rows[i].word);
        if (seconds == NULL || json_object_size(v) != 1 + (by != NULL))
            continue;
        rule->throttle = rows[i].throttle;
        return rules_seconds(seconds, rows[i].word, &rule->throttle_us, err);
    }
    return fail_set(err, -EINVAL,
                    "'throttle' is a mapping with 'once_within' or 'once_after', and 'group_by'");
}

/* The key of a rule: its name, or a digest of its content without `do`, so that it is the same after a
 * restart. NEW. */
static char *
rules_key(const json_t *entry, const rule_t *rule)
{
    const char *name = value_str(entry, "name", "");
    json_auto_t *said = json_copy((json_t *) entry);

    if (*name != '\0')
        return xstrdup(name);
    json_object_del(said, "do");
    AUTO_FREE char *text = value_dump(said);
    AUTO_FREE char *hex = digest_bytes("sha256", text, strlen(text), NULL);
    return xasprintf("%s~%.*s", rule->conds[0].tag, KEY_DIGITS, hex);
}

/* ---- entries ------------------------------------------------------------------------------------------- */

static rule_t *
rules_add(rules_t *self)
{
    self->rule = xrealloc(self->rule, (self->n + 1) * sizeof(*self->rule));
    self->rule[self->n] = (rule_t){ .when = WHEN_TAG };
    return &self->rule[self->n++];
}

static int
no_surplus(const json_t *entry, fail_t *err)
{
    static const char *const words[] = { "name", "when", "do", "within", "group_by", "throttle" };
    const char *key;
    json_t *v;

    json_object_foreach ((json_t *) entry, key, v) {
        bool known = false;
        for (size_t i = 0; i < NELEMS(words); i++)
            known = known || str_eq(key, words[i]);
        if (!known)
            return fail_set(err, -EINVAL, "'%s' is not known beside 'when'", key);
    }
    return 0;
}

/* Salt's own form, TAG: [FILE]. Such a rule has no key: it keeps nothing from event to event. */
static int
rules_tag(rules_t *self, const char *tag, const json_t *files, fail_t *err)
{
    rule_t *rule = rules_add(self);

    rule->key = xstrdup("");
    rule->conds = xcalloc(1, sizeof(*rule->conds));
    rule->n_conds = 1;
    rule->conds[0].tag = xstrdup(tag);
    if (rules_check_tag(tag, err) < 0)
        return -EINVAL;
    if (json_is_null(files)) {
        rule->files = json_array();
        return 0;
    }
    rule->files = rules_texts(files, "what stands for a tag", err);
    if (rule->files == NULL)
        fail_prefix(err, "'%s': ", tag);
    return rule->files != NULL ? 0 : -EINVAL;
}

/* One entry of the list: a rule in the long form, with `when` and `do`, or Salt's mapping of tags to
 * files. */
static int
rules_entry(rules_t *self, const json_t *entry, fail_t *err)
{
    const char *tag;
    json_t *files;
    int rc = 0;

    if (!json_is_object(entry) || json_object_size(entry) == 0)
        return fail_set(err, -EINVAL, "it is a mapping of a tag to files, 'TAG: [FILE]'%s%s",
                        json_is_string(entry) ? ", not the text " : "",
                        json_is_string(entry) ? json_string_value(entry) : "");
    if (value_get(entry, "when") != NULL || value_get(entry, "do") != NULL) {
        /* Reads a rule in the long form. */
        rule_t *rule = rules_add(self);
        json_t *by = value_get(entry, "group_by");
        rule->groups = json_object();
        if (no_surplus(entry, err) < 0 || rules_when(rule, value_get(entry, "when"), err) < 0 ||
            rules_seconds(value_get(entry, "within"), "within", &rule->within_us, err) < 0 ||
            (by != NULL && (rule->by = rules_texts(by, "'group_by'", err)) == NULL) ||
            throttle(rule, value_get(entry, "throttle"), err) < 0)
            return -EINVAL;
        if (rule->when == WHEN_NOT_ALL && rule->within_us == 0)
            return fail_set(err, -EINVAL, "'not_all' needs 'within': how long to wait for the rest");
        if (rule->when == WHEN_ANY && rule->within_us != 0)
            return fail_set(err, -EINVAL, "'within' belongs to 'all' and 'not_all'");
        rule->files = rules_texts(value_get(entry, "do"), "'do'", err);
        if (rule->files == NULL)
            return -EINVAL;
        rule->key = rules_key(entry, rule);
        for (size_t i = 0; i + 1 < self->n; i++)
            if (str_eq(self->rule[i].key, rule->key))
                return fail_set(err, -EINVAL, "'%s' is there twice: give each a 'name'", rule->key);
        return 0;
    }
    json_object_foreach ((json_t *) entry, tag, files)
        rc = rc == 0 ? rules_tag(self, tag, files, err) : rc;
    return rc;
}

static int
rules_entries(rules_t *self, const json_t *list, size_t *ret_entry, fail_t *err)
{
    json_t *entry;
    size_t i;

    *ret_entry = 0;
    if (!json_is_array(list))
        return fail_set(err, -EINVAL,
                        "'reactor' is a list of mappings: put '- ' before each tag, and its files below");
    json_array_foreach (list, i, entry) {
        *ret_entry = i;
        if (rules_entry(self, entry, err) < 0) {
            fail_prefix(err, "entry %zu of 'reactor': ", i + 1);
            return -EINVAL;
        }
    }
    return 0;
}

int
rules_check(const json_t *list, size_t *ret_entry, fail_t *err)
{
    AUTO(rules) self = xcalloc(1, sizeof(*self));

    return rules_entries(self, list, ret_entry, err);
}

json_t *
rules_list(const json_t *option, fail_t *err)
{
    if (json_is_string(option)) {
        /* Read the file of `reactor: /etc/salt/reactor.yaml`. */
        const char *path = json_string_value(option);
        buf_auto_t text = BUF_INIT;
        if (fs_read(path, LIMIT_CONF_FILE, &text, err) < 0)
            return NULL;
        return yaml_load(buf_str(&text), text.len, path, NULL, err);
    }
    return value_truthy(option) ? json_incref((json_t *) option) : json_array();
}

rules_t *
rules_new(const json_t *option, fail_t *err)
{
    AUTO(rules) self = xcalloc(1, sizeof(*self));
    const char *path = json_string_value(option);
    json_auto_t *list = rules_list(option, err);
    size_t entry;

    if (list == NULL)
        return NULL;
    if (rules_entries(self, list, &entry, err) < 0) {
        if (path != NULL)
            fail_prefix(err, "%s: ", path);
        return NULL;
    }
    return STEAL(self);
}

/* ---- looking at it ------------------------------------------------------------------------------------- */

/* The tags of rules that have files: the reactor listens to no other events. NEW. */
json_t *
rules_tags(const rules_t *self)
{
    json_auto_t *seen = json_object();
    json_t *tags = json_array();

    for (size_t i = 0; i < self->n; i++)
        for (size_t k = 0; json_array_size(self->rule[i].files) > 0 && k < self->rule[i].n_conds; k++) {
            const char *tag = self->rule[i].conds[k].tag;
            if (value_get(seen, tag) != NULL)
                continue;
            json_object_set_new(seen, tag, json_true());
            json_array_append_new(tags, json_string(tag));
        }
    return tags;
}

json_t *
rules_files(const rules_t *self)
{
    json_t *files = json_array(), *file;
    size_t k;

    for (size_t i = 0; i < self->n; i++) {
        const rule_t *rule = &self->rule[i];
        json_array_foreach (rule->files, k, file)
            json_array_append_new(files, json_pack("{s:O, s:s}", "file", file, "for",
                                                   rule->when == WHEN_TAG ? rule->conds[0].tag : rule->key));
    }
    return files;
}

/* ---- conditions ---------------------------------------------------------------------------------------- */

/* A list matches if one of its values does; a text is a glob over Python's str() of the field; others compare
 * by value. */
static bool
rules_value_fits(const json_t *want, const json_t *have)
{
    json_t *one;
    size_t i;

    json_array_foreach (want, i, one)
        if (rules_value_fits(one, have))
            return true;
    if (json_is_string(want) && have != NULL) {
        AUTO_FREE char *text = value_pystr(have);
        return match_glob(json_string_value(want), text);
    }
    return have != NULL && !json_is_array(want) && value_equal(want, have);
}

bool
cond_fits(const cond_t *cond, const char *tag, const json_t *data)
{
    const char *path;
    json_t *want;

    /* The reactor's own events match only conditions that name them: else an error would cause the next
     * one. */
    if (str_starts(tag, RULES_OWN_TAG) && !str_starts(cond->tag, RULES_OWN_TAG))
        return false;
    if (!match_glob(cond->tag, tag))
        return false;
    json_object_foreach (cond->match, path, want)
        if (!rules_value_fits(want, value_path(data, path, ":")))
            return false;
    return true;
}
