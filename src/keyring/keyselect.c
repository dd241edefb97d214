/* keyselect.c - see keyselect.h: choice of ids by state, glob, exact name and action, on a key table {state
 * folder: [ids]}. Pure: nothing is read or changed. All results are NEW unless noted. */
#include "keyring/keyselect.h"

#include "common/base/buf.h"
#include "common/base/str.h"
#include "common/conf/conf.h"
#include "common/match/match.h"
#include "salt/value.h"

static const struct {
    const char *name, *done;
    unsigned from;    /* always */
    unsigned include; /* only when asked for */
} acts[KEY_ACTS] = {
    [KEY_ACT_ACCEPT] = { "accept", "accepted", KEY_BIT(KEY_PENDING),
                         KEY_BIT(KEY_REJECTED) | KEY_BIT(KEY_DENIED) },
    [KEY_ACT_REJECT] = { "reject", "rejected", KEY_BIT(KEY_PENDING),
                         KEY_BIT(KEY_ACCEPTED) | KEY_BIT(KEY_DENIED) },
    [KEY_ACT_DELETE] = { "delete", "deleted", KEY_ALL, 0 },
};

const char *
key_act_name(key_act_t act)
{
    return acts[act].name;
}

const char *
key_act_done(key_act_t act)
{
    return acts[act].done;
}

bool
key_act_parse(const char *name, key_act_t *ret_act)
{
    for (size_t i = 0; i < KEY_ACTS; i++) {
        if (str_eq(acts[i].name, name)) {
            *ret_act = (key_act_t) i;
            return true;
        }
    }
    return false;
}

/* Key states that the action takes: its own, and those of `include` that it may. */
unsigned
key_act_from(key_act_t act, unsigned include)
{
    return acts[act].from | (acts[act].include & include);
}

/* ---- globs --------------------------------------------------------------------------------------- */

/* NEW list of texts. A list is taken as it is: its elements may hold commas. */
static json_t *
glob_list(const json_t *globs)
{
    json_t *list = json_array();

    if (json_is_array(globs)) {
        size_t i;
        json_t *glob;

        json_array_foreach (globs, i, glob)
            if (json_is_string(glob))
                json_array_append(list, glob);
    } else if (json_is_string(globs)) {
        char **parts = str_split(json_string_value(globs), ",", false);

        for (size_t i = 0; parts[i] != NULL; i++)
            json_array_append_new(list, json_string(parts[i]));
        strv_free(parts);
    }
    return list;
}

static bool
keyselect_any_matches(const json_t *globs, const char *id)
{
    size_t i;
    json_t *glob;

    json_array_foreach (globs, i, glob)
        if (match_glob(json_string_value(glob), id))
            return true;
    return false;
}

/* Ids that match one of the globs, by state. Names that are not ids are never matched by a pattern. */
json_t *
keyselect_match(const json_t *table, const json_t *globs)
{
    json_auto_t *list = glob_list(globs);
    json_t *found = json_object(), *ids, *id;
    const char *state;
    size_t i;

    json_object_foreach ((json_t *) table, state, ids) {
        if (str_eq(state, KEY_UNFIT))
            continue;
        json_t *hits = json_array();

        json_array_foreach (ids, i, id)
            if (keyselect_any_matches(list, json_string_value(id)))
                json_array_append(hits, id);
        if (json_array_size(hits) > 0)
            json_object_set(found, state, hits);
        json_decref(hits);
    }
    return found;
}

/* ---- exact names ---------------------------------------------------------------------------------- */

/* Names that are not ids: all, or this one. NULL when there are none. */
json_t *
keyselect_unfit(const json_t *table, const char *name)
{
    json_t *all = json_object_get(table, KEY_UNFIT);

    if (name == NULL)
        return json_array_size(all) > 0 ? json_pack("{s:O}", KEY_UNFIT, all) : NULL;
    return value_lists(all, name) ? json_pack("{s:[s]}", KEY_UNFIT, name) : NULL;
}

/* A pattern, a list in a text, a number that YAML made of an id: none of them says which key is meant. */
static int
check_exact(const json_t *table, const json_t *id, fail_t *err)
{
    fail_auto_t why = FAIL_INIT;
    const char *text = json_string_value(id);

    if (text == NULL)
        return fail_kind(
            err, FAIL_INVOCATION, -EINVAL,
            "match: an id is a text, and so is each of a list: write it in quotes (in a template "
            "{{ data['id'] | json }})");
    if (conf_id_valid(text, &why) || value_lists(json_object_get(table, KEY_UNFIT), text))
        return 0;
    return fail_kind(
        err, FAIL_INVOCATION, -EINVAL,
        "match: '%s' is not an id, and names one key only: %s. For several, give a list of ids; for "
        "patterns, and several of them with commas, say glob: True as well",
        text, fail_text(&why));
}

/* NEW list. */
static json_t *
keyselect_id_list(const json_t *ids)
{
    return json_is_array(ids) ? json_incref((json_t *) ids) : json_pack("[O]", ids);
}

/* As keyselect_ids, after checking that each name can only mean one key. */
json_t *
keyselect_exact(const json_t *table, const json_t *ids, fail_t *err)
{
    json_auto_t *list = keyselect_id_list(ids);
    json_t *name;
    size_t i;

    json_array_foreach (list, i, name)
        if (check_exact(table, name, err) != 0)
            return NULL;
    return keyselect_ids(table, list);
}

/* Names that are in the table, in every state in which they are. */
json_t *
keyselect_ids(const json_t *table, const json_t *ids)
{
    json_auto_t *list = keyselect_id_list(ids);
    json_t *found = json_object(), *names, *name;
    const char *state;
    size_t i;

    json_object_foreach ((json_t *) table, state, names) {
        json_auto_t *hits = json_array();

        json_array_foreach (names, i, name)
            if (value_lists(list, json_string_value(name)))
                json_array_append(hits, name);
        if (json_array_size(hits) > 0)
            json_object_set(found, state, hits);
    }
    return found;
}

/* ---- states -------------------------------------------------------------------------------------- */

/* Ids in these states, in the order in which salt-key shows them: the pending ones first for an action. */
json_t *
keyselect_only(const json_t *table, unsigned from)
{
    static const key_state_t offered[] = { KEY_PENDING, KEY_ACCEPTED, KEY_REJECTED, KEY_DENIED };
    static const key_state_t stored[] = { KEY_ACCEPTED, KEY_PENDING, KEY_REJECTED, KEY_DENIED };
    const key_state_t *order = from == KEY_ALL ? stored : offered;
    json_t *only = json_object();

    for (size_t i = 0; i < KEY_STATES; i++) {
        json_t *ids = json_object_get(table, key_state_dir(order[i]));

        if ((from & KEY_BIT(order[i])) != 0 && json_array_size(ids) > 0)
            json_object_set(only, key_state_dir(order[i]), ids);
    }
    if (from == KEY_ALL && json_array_size(json_object_get(table, KEY_UNFIT)) > 0)
        json_object_set(only, KEY_UNFIT, json_object_get(table, KEY_UNFIT));
    return only;
}

static const struct {
    const char *prefix;
    unsigned states;
} words[] = {
    { "acc", KEY_BIT(KEY_ACCEPTED) }, { "pre", KEY_BIT(KEY_PENDING) }, { "un", KEY_BIT(KEY_PENDING) },
    { "rej", KEY_BIT(KEY_REJECTED) }, { "den", KEY_BIT(KEY_DENIED) },  { "all", KEY_ALL },
};

/* States that a word of -l means, by its first letters; 0 for none. */
static unsigned
word_states(const char *word)
{
    for (size_t i = 0; i < NELEMS(words); i++)
        if (str_starts(word, words[i].prefix))
            return words[i].states;
    return 0;
}

bool
keyselect_status_valid(const char *word)
{
    return word_states(word) != 0;
}

/* Ids of the states that the word means; NULL for an unknown word. */
json_t *
keyselect_status(const json_t *table, const char *word)
{
    unsigned asked = word_states(word);
    json_t *out, *ids;
    const char *state;

    if (asked == 0)
        return NULL;
    out = json_object();
    json_object_foreach ((json_t *) table, state, ids) {
        key_state_t s = key_state_of_dir(state);

        if (asked == KEY_ALL || (s != KEY_UNKNOWN && (asked & KEY_BIT(s)) != 0))
            json_object_set(out, state, ids);
    }
    return out;
}

/* ---- texts --------------------------------------------------------------------------------------- */

char *
keyselect_no_match(key_act_t act, unsigned include, const char *glob)
{
    buf_auto_t kinds = BUF_INIT;
    unsigned from = key_act_from(act, include);

    if (from == KEY_ALL)
        return xasprintf("The key glob '%s' does not match any keys.", glob);

    /* "unaccepted", "unaccepted or rejected", "unaccepted, rejected or denied" */
    static const struct {
        key_state_t state;
        const char *word;
    } order[] = {
        { KEY_PENDING, "unaccepted" },
        { KEY_ACCEPTED, "accepted" },
        { KEY_REJECTED, "rejected" },
        { KEY_DENIED, "denied" },
    };
    unsigned left = from;
    for (size_t i = 0; i < NELEMS(order); i++) {
        if ((from & KEY_BIT(order[i].state)) == 0)
            continue;
        left &= ~KEY_BIT(order[i].state);
        if (kinds.len > 0)
            buf_puts(&kinds, left != 0 ? ", " : " or ");
        buf_puts(&kinds, order[i].word);
    }

    return xasprintf("The key glob '%s' does not match any %s keys.", glob, buf_str(&kinds));
}

char *
keyselect_glob_text(const json_t *globs)
{
    json_auto_t *list = glob_list(globs);
    buf_auto_t text = BUF_INIT;
    size_t i;
    json_t *glob;

    json_array_foreach (list, i, glob)
        buf_printf(&text, "%s%s", i > 0 ? "," : "", json_string_value(glob));
    return xstrdup(buf_str(&text));
}
