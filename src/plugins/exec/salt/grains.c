/* grains.c - execution module `grains`: look at the minion's grains and change those that are written in
 * CONFDIR/grains. Changes go through grains_write() into CONFDIR/grains, and the minion is told to read them;
 * what the host itself tells (core grains) can be hidden so but not removed. Refusals are texts or {result:
 * False} as returns, Salt's. */
#include <strings.h>

#include "common/base/str.h"
#include "common/py/py_traverse.h"
#include "plugins/lib/salt/filterby.h"
#include "plugins/lib/salt/grains_plan.h"
#include "plugins/lib/salt/grains_write.h"
#include "plugins/lib/call/pyargs.h"
#include "salt/plugin.h"

/* BORROWED, or NULL. */
static json_t *
exec_grains_look_up(call_ctx_t *ctx, const char *key, const char *delim)
{
    return value_path(ctx_grains(ctx), key, delim);
}

/* ":" for an empty one, which would part nothing. */
static const char *
delim_of(const json_t *args)
{
    const char *delim = value_str(args, "delimiter", ":");

    return delim[0] != '\0' ? delim : ":";
}

/* ---- looking --------------------------------------------------------------------------------- */

/* Python's values, so that types survive; the default only where there is nothing. */
static py_t *
grains_get(call_ctx_t *ctx, py_t *args, fail_t *err)
{
    const char *delim = pyarg_text(args, "delimiter", ":");
    py_t *found = py_traverse(ctx_native_grains(ctx), py_dict_gets(args, "key"),
                              *delim != '\0' ? delim : ":");

    return found != NULL || py_raised() != NULL ? found : py_ref(py_dict_gets(args, "default"));
}

/* A value of None or "" counts, as by Salt's traversal. */
static int
grains_has_value(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = json_boolean(exec_grains_look_up(ctx, value_str(args, "key", ""), ":") != NULL);
    return 0;
}

/* Salt's is_true: a number above zero, the word "true", or anything else that is true. */
static bool
is_true(const json_t *value)
{
    if (json_is_string(value))
        return strcasecmp(json_string_value(value), "true") == 0;
    return json_is_number(value) ? json_number_value(value) > 0 : value_truthy(value);
}

/* Masks sensitive grains: the last quarter of a serial number becomes X. For answers that are shown to
 * others: a report of a fault, a screenshot. */
static void
sanitize(json_t *grains)
{
    static const struct {
        const char *key, *text;
    } rows[] = {
        { "domain", "DOMAINNAME" }, { "fqdn", "MINION.DOMAINNAME" }, { "id", "MINION.DOMAINNAME" },
        { "host", "MINION" },       { "localhost", "MINION" },       { "nodename", "MINION" },
    };
    const char *serial = value_str(grains, "serialnumber", NULL);

    for (size_t i = 0; i < NELEMS(rows); i++) {
        if (value_get(grains, rows[i].key) != NULL)
            json_object_set_new(grains, rows[i].key, json_string(rows[i].text));
    }
    if (serial != NULL) {
        AUTO_FREE char *hidden = xstrdup(serial);
        size_t len = strlen(hidden), kept = len * 3 / 4;
        memset(hidden + kept, 'X', len - kept);
        json_object_set_new(grains, "serialnumber", value_utf8(hidden, len));
    }
}

/* With sanitize for showing them to others; the minion's own are not changed. */
static int
grains_items(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = json_copy(ctx_grains(ctx));
    if (is_true(value_get(args, "sanitize")))
        sanitize(*ret_value);
    return 0;
}

/* Several keys, each with its own traversal; "" for what is not there, unless a default is given. */
static int
grains_item(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const json_t *kwargs = value_get(args, "kwargs");
    json_t *dflt = value_get(kwargs, "default"), *key;
    size_t i;

    *ret_value = json_object();
    json_array_foreach (value_get(args, "args"), i, key) {
        AUTO_FREE char *name = value_pystr(key);
        json_t *value = exec_grains_look_up(ctx, name, delim_of(kwargs));
        if (value == NULL)
            value = dflt;
        json_object_set_new(*ret_value, name, value != NULL ? json_incref(value) : json_string(""));
    }
    if (is_true(value_get(kwargs, "sanitize")))
        sanitize(*ret_value);
    return 0;
}

/* Sorted, as Salt has it. */
static int
grains_ls(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *grains = ctx_grains(ctx), *value;
    AUTO_FREE const char **keys = xcalloc(json_object_size(grains) + 1, sizeof(*keys));
    const char *key;
    size_t n = 0;

    json_object_foreach (grains, key, value)
        keys[n++] = key;
    qsort(keys, n, sizeof(*keys), str_by_text);
    *ret_value = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(*ret_value, json_string(keys[i]));
    return 0;
}

/* By texts, so that 1 and "1" are equal: the value comes from a command line. */
static int
grains_equals(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *value = exec_grains_look_up(ctx, value_str(args, "key", ""), ":");
    AUTO_FREE char *have = value != NULL ? value_pystr(value) : xstrdup("");
    AUTO_FREE char *want = value_pystr(value_get(args, "value"));

    *ret_value = json_boolean(str_eq(have, want));
    return 0;
}

/* ---- filter_by ------------------------------------------------------------------------------- */

static py_t *
grains_filter_by(call_ctx_t *ctx, py_t *args, fail_t *err)
{
    return filter_by(ctx_native_grains(ctx), py_dict_gets(args, "grain"), args);
}

/* ---- writing --------------------------------------------------------------------------------- */

/* Writes one grain by grains_write(). */
static int
exec_grains_set_one(call_ctx_t *ctx, const char *key, json_t *value, bool destructive, bool refresh_pillar,
                    json_t **ret_value, fail_t *err)
{
    json_auto_t *grains = json_pack("{s:O}", key, value);

    return grains_write(ctx, grains, destructive, refresh_pillar, ret_value, err);
}

/* All in one write, with one refresh. */
static int
grains_setvals(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *grains = value_get(args, "grains");

    if (!json_is_object(grains))
        return fail_set(err, -EINVAL, "setvals grains must be a dictionary.");
    return grains_write(ctx, grains, value_bool(args, "destructive", false),
                        value_bool(args, "refresh_pillar", true), ret_value, err);
}

static int
grains_setval(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return exec_grains_set_one(ctx, value_str(args, "key", ""), value_get(args, "val"),
                               value_bool(args, "destructive", false),
                               value_bool(args, "refresh_pillar", true), ret_value, err);
}

/* A list deep inside a grain: every level above it is rebuilt around it, up to the grain itself, which is
 * written. A level that is no mapping is left as it is. */
static int
exec_grains_write_list(call_ctx_t *ctx, const char *path, json_t *list, const char *delim, json_t **ret_value,
                       fail_t *err)
{
    AUTO_FREE char *key = xstrdup(path);
    json_auto_t *value = json_incref(list);
    const char *rest;

    while ((rest = grains_cut_last(key, delim)) != NULL) {
        json_t *level = exec_grains_look_up(ctx, key, delim);
        json_t *outer = level != NULL ? json_deep_copy(level) : json_object();
        if (json_is_object(outer))
            json_object_set(outer, rest, value);
        json_decref(value);
        value = outer;
    }
    return exec_grains_set_one(ctx, key, value, false, true, ret_value, err);
}

/* A missing grain becomes a list; another type is refused unless `convert`. A list as the value adds its
 * elements: only the value as a whole is looked for before, as by Salt. */
static int
exec_grains_append(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *key = value_str(args, "key", "");
    json_t *value = value_get(args, "val"), *found = exec_grains_look_up(ctx, key, delim_of(args));
    json_auto_t *list = found != NULL ? json_deep_copy(found) : json_array();

    if (!json_is_array(list) && value_bool(args, "convert", false)) {
        json_t *converted = json_is_null(list) ? json_array() : json_pack("[O]", list);
        json_decref(list);
        list = converted;
    }
    if (!json_is_array(list)) {
        *ret_value = value_fmt("The key %s is not a valid list", key);
        return 0;
    }
    if (value_has(list, value)) {
        AUTO_FREE char *text = value_pystr(value);
        *ret_value = value_fmt("The val %s was already in the list %s", text, key);
        return 0;
    }
    if (json_is_array(value))
        json_array_extend(list, value);
    else
        json_array_append(list, value);
    return exec_grains_write_list(ctx, key, list, delim_of(args), ret_value, err);
}

/* Removes the first equal value. Refusals are texts in the return. */
static int
grains_remove(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *key = value_str(args, "key", "");
    json_t *value = value_get(args, "val"), *found = exec_grains_look_up(ctx, key, delim_of(args)), *item;
    json_auto_t *list = found != NULL ? json_deep_copy(found) : json_array();
    size_t i;

    if (!json_is_array(list)) {
        *ret_value = value_fmt("The key %s is not a valid list", key);
        return 0;
    }
    if (!value_has(list, value)) {
        AUTO_FREE char *text = value_pystr(value);
        *ret_value = value_fmt("The val %s was not in the list %s", text, key);
        return 0;
    }
    /* Further equal elements stay, as with Python's list.remove. */
    json_array_foreach (list, i, item) {
        if (value_equal(item, value)) {
            json_array_remove(list, i);
            break;
        }
    }
    return exec_grains_write_list(ctx, key, list, delim_of(args), ret_value, err);
}

/* ---- set, delval, delkey --------------------------------------------------------------------- */

/* Sets a nested key; a refusal is reported as Salt does. grains_plan() decides by `force` and the kinds of
 * the values. */
static int
exec_grains_set_path(call_ctx_t *ctx, const char *path, json_t *new_value, const grains_setting_t *how,
                     json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *key = NULL, *why = NULL;
    json_auto_t *value = NULL;
    json_t *changes = NULL;

    switch (grains_plan(ctx, path, new_value, how, &key, &value, &why)) {
    case GRAINS_KEPT:
        *ret_value = json_pack("{s:s, s:{}, s:b}", "comment", "Grain is already set", "changes", "result", 1);
        return 0;
    case GRAINS_REFUSED:
        *ret_value = json_pack("{s:s, s:{}, s:b}", "comment", why, "changes", "result", 0);
        return 0;
    case GRAINS_CHANGED:
        break;
    }
    int rc = exec_grains_set_one(ctx, key, value, how->destructive, true, &changes, err);
    if (rc < 0)
        return rc;
    if (json_is_object(changes))
        *ret_value = json_pack("{s:s, s:o, s:b}", "comment", "", "changes", changes, "result", 1);
    else
        *ret_value = json_pack("{s:o, s:{}, s:b}", "comment", changes, "changes", "result", 0);
    return 0;
}

/* force writes over mappings and lists, which are refused otherwise. */
static int
grains_set_(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    /* A key with the delimiter names a value within a grain; the levels above it are made. */
    grains_setting_t how = { delim_of(args), value_bool(args, "force", false),
                             value_bool(args, "destructive", false) };

    return exec_grains_set_path(ctx, value_str(args, "key", ""), value_get(args, "val"), &how, ret_value,
                                err);
}

/* The value becomes None; with destructive the key goes. */
static int
grains_delval(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    grains_setting_t how = { ":", value_bool(args, "force", false), value_bool(args, "destructive", false) };
    json_auto_t *none = json_null();

    return exec_grains_set_path(ctx, value_str(args, "key", ""), none, &how, ret_value, err);
}

/* delval with destructive. */
static int
grains_delkey(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    grains_setting_t how = { ":", value_bool(args, "force", false), true };
    json_auto_t *none = json_null();

    return exec_grains_set_path(ctx, value_str(args, "key", ""), none, &how, ret_value, err);
}

/* ---- tables ---------------------------------------------------------------------------------- */

#define KEY_ROW         ARG("key", ARG_STR, ARG_REQUIRED, "The grain; a:b is b inside a")
#define DELIMITER_ROW   ARG("delimiter", ARG_STR, "\":\"", "What separates the levels of the key")
#define FORCE_ROW       ARG("force", ARG_BOOL, "false", "Write over dictionaries and lists too")
#define DESTRUCTIVE_ROW ARG("destructive", ARG_BOOL, "false", "Remove a key whose value is None")
#define REFRESH_ROW     ARG("refresh_pillar", ARG_BOOL, "true", "Render the pillar again, too")

static const arg_t get_args[] = {
    ARG("key", ARG_ANY, ARG_REQUIRED, "The grain; a:b is the member b of a"),
    ARG("default", ARG_ANY, "\"\"", "What to return when there is no such grain"),
    ARG("delimiter", ARG_ANY, "\":\"", "What separates the parts of the key"),
    ARG("ordered", ARG_ANY, "true", "Accepted; the order is always kept"),
    ARGS_END,
};
static const arg_t key_args[] = { KEY_ROW, ARGS_END };
static const arg_t items_args[] = { ARG("sanitize", ARG_ANY, "false", "Hide names and serial numbers"),
                                    ARGS_END };
static const arg_t item_args[] = {
    ARG("args", ARG_ANY, ARG_STAR, "The grains"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "default, delimiter, sanitize", "default delimiter sanitize"),
    ARGS_END,
};
static const arg_t setvals_args[] = {
    ARG("grains", ARG_ANY, ARG_REQUIRED, "The new values by name"),
    DESTRUCTIVE_ROW,
    REFRESH_ROW,
    ARGS_END,
};
static const arg_t setval_args[] = {
    ARG("key", ARG_STR, ARG_REQUIRED, "The grain"),
    ARG("val", ARG_ANY, ARG_REQUIRED, "Its new value"),
    DESTRUCTIVE_ROW,
    REFRESH_ROW,
    ARGS_END,
};
static const arg_t append_args[] = {
    KEY_ROW,
    ARG("val", ARG_ANY, ARG_REQUIRED, "What to append; the members of a list one by one"),
    ARG("convert", ARG_BOOL, "false", "Make a list of a value that is none"),
    DELIMITER_ROW,
    ARGS_END,
};
static const arg_t remove_args[] = {
    KEY_ROW,
    ARG("val", ARG_ANY, ARG_REQUIRED, "The member to remove"),
    DELIMITER_ROW,
    ARGS_END,
};
static const arg_t set_args[] = {
    KEY_ROW,  ARG("val", ARG_ANY, "\"\"", "Its new value"), FORCE_ROW, DESTRUCTIVE_ROW, DELIMITER_ROW,
    ARGS_END,
};
static const arg_t delval_args[] = { KEY_ROW, DESTRUCTIVE_ROW, FORCE_ROW, ARGS_END };
static const arg_t delkey_args[] = { KEY_ROW, FORCE_ROW, ARGS_END };
static const arg_t equals_args[] = {
    KEY_ROW,
    ARG("value", ARG_ANY, ARG_REQUIRED, "What the grain should be"),
    ARGS_END,
};
static const arg_t filter_by_args[] = {
    ARG("lookup_dict", ARG_ANY, ARG_REQUIRED, "Values by grain; a key may be a glob"),
    ARG("grain", ARG_ANY, "\"os_family\"", "The grain to look up"),
    ARG("merge", ARG_ANY, "null", "A mapping laid over the value that is found"),
    ARG("default", ARG_ANY, "\"default\"", "The key of the value when none fits"),
    ARG("base", ARG_ANY, "null", "The key of a mapping that the value is laid over"),
    ARGS_END,
};

static const func_t funcs[] = {
    { "append", exec_grains_append, append_args, 0,
      "Append a value to a list in the grains file; the list is made when there is none." CLI_EXAMPLE(
          "salt '*' grains.append key val") },
    { "delkey", grains_delkey, delkey_args, 0,
      "Remove a grain, key and value." CLI_EXAMPLE("salt '*' grains.delkey key") },
    { "delval", grains_delval, delval_args, 0,
      "Set a grain to None; its key stays unless destructive=True." CLI_EXAMPLE(
          "salt '*' grains.delval key") },
    { "equals", grains_equals, equals_args, FN_READONLY,
      "Return whether a grain has this value." CLI_EXAMPLE("salt '*' grains.equals systemd:version 252") },
    { "fetch", NATIVE(grains_get), get_args, FN_READONLY | FN_NATIVE,
      "The same as grains.get." CLI_EXAMPLE("salt '*' grains.fetch pkg:apache") },
    { "filter_by", NATIVE(grains_filter_by), filter_by_args, FN_READONLY | FN_NATIVE,
      "Return the value that a mapping has for a grain of this minion." CLI_EXAMPLE(
          "salt '*' grains.filter_by '{Debian: Debheads rule, RedHat: I love my hat}'") },
    { "get", NATIVE(grains_get), get_args, FN_READONLY | FN_NATIVE,
      "Return a grain, or the default; keys of nested values are joined by a colon." CLI_EXAMPLE(
          "salt '*' grains.get pkg:apache") "\n    salt '*' grains.get abc::def|ghi delimiter='|'" },
    { "has_value", grains_has_value, key_args, FN_READONLY,
      "Return whether there is such a grain." CLI_EXAMPLE("salt '*' grains.has_value pkg:apache") },
    { "item", grains_item, item_args, FN_READONLY | FN_PEER_GRAINS,
      "Return one or more grains." CLI_EXAMPLE(
          "salt '*' grains.item os osrelease oscodename") "\n    salt '*' grains.item host sanitize=True" },
    { "items", grains_items, items_args, FN_READONLY | FN_PEER_GRAINS,
      "Return all grains of the minion." CLI_EXAMPLE(
          "salt '*' grains.items") "\n    salt '*' grains.items sanitize=True" },
    { "ls", grains_ls, NULL, FN_READONLY | FN_PEER_GRAINS,
      "Return the names of all grains." CLI_EXAMPLE("salt '*' grains.ls") },
    { "remove", grains_remove, remove_args, 0,
      "Remove a value from a list in the grains file." CLI_EXAMPLE("salt '*' grains.remove key val") },
    { "set", grains_set_, set_args, 0,
      "Set a grain, also one inside another; lists and mappings are kept unless force=True." CLI_EXAMPLE(
          "salt '*' grains.set 'apps:myApp:port' 2209") "\n    salt '*' grains.set 'apps:myApp' '{port: "
                                                        "2209}'" },
    { "setval", grains_setval, setval_args, 0,
      "Set a grain in the grains file." CLI_EXAMPLE(
          "salt '*' grains.setval key val") "\n    salt '*' grains.setval key \"{'sub-key': 'val'}\"" },
    { "setvals", grains_setvals, setvals_args, 0,
      "Set several grains in the grains file." CLI_EXAMPLE(
          "salt '*' grains.setvals \"{'key1': 'val1', 'key2': 'val2'}\"") },
};

PLUGIN(exec, grains, .doc = "Look at the minion's grains and change those in its grains file", FUNCS(funcs));
