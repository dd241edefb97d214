/* aptselect.c - dpkg's selections: hold, unhold, get_selections, set_selections. States are read from dpkg's
 * database and written by dpkg --set-selections, one package at a time, so that a refused one is known. */
#include "common/base/fs.h"
#include "common/host/rootfs.h"
#include "common/base/str.h"
#include "common/data/yaml.h"
#include "plugins/lib/apt/apt.h"

/* ---- reading ------------------------------------------------------------------------------- */

/* Adds the name to the state's list, creating it. */
static void
add_selection(json_t *selections, const char *state, const char *name)
{
    json_t *names = json_object_get(selections, state);

    if (names == NULL) {
        names = json_array();
        json_object_set_new(selections, state, names);
    }
    json_array_append_new(names, json_string(name));
}

json_t *
apt_selections(const char *pattern, const char *state, fail_t *err)
{
    AUTO(dpkg) db = apt_dpkg(err);

    if (db == NULL)
        return NULL;
    json_auto_t *all = json_object();
    for (size_t i = 0; i < dpkg_count_all(db); i++) {
        const dpkg_pkg_t *pkg = dpkg_at(db, i);
        if (str_eq(pkg->want, "unknown") || (pattern != NULL && !dpkg_match(db, pkg, pattern)))
            continue;
        AUTO_FREE char *name = dpkg_binary_name(pkg);
        add_selection(all, pkg->want, name);
    }
    if (state == NULL)
        return STEAL(all);
    json_t *names = json_object_get(all, state);
    return json_pack("{s:o}", state, names != NULL ? json_incref(names) : json_array());
}

/* {state: [names]}, as `dpkg --get-selections` has it. */
int
apt_get_selections(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *pattern = value_str(args, "pattern", ""), *state = value_str(args, "state", "");

    *ret_value = apt_selections(*pattern != '\0' ? pattern : NULL, *state != '\0' ? state : NULL, err);
    return *ret_value != NULL ? 0 : err->code;
}

/* ---- writing ------------------------------------------------------------------------------- */

/* {name: state} of all packages. */
static json_t *
states_by_name(fail_t *err)
{
    json_auto_t *selections = apt_selections(NULL, NULL, err);
    json_t *ret, *names, *v;
    const char *state;
    size_t i;

    if (selections == NULL)
        return NULL;
    ret = json_object();
    json_object_foreach (selections, state, names) {
        json_array_foreach (names, i, v)
            json_object_set_new(ret, json_string_value(v), json_string(state));
    }
    return ret;
}

/* Writes the selections that differ; test mode writes none. Changes go into `ret`. */
static int
aptselect_apply(call_ctx_t *ctx, const json_t *selection, json_t *ret, fail_t *err)
{
    json_auto_t *before = states_by_name(err);
    json_t *names, *v;
    const char *state;
    size_t i;

    if (before == NULL)
        return err->code;
    json_object_foreach ((json_t *) selection, state, names) {
        json_array_foreach (names, i, v) {
            AUTO_FREE char *name = value_pystr(v);
            json_t *old = value_get(before, name);
            if (pkg_check_name("selection", name, err) < 0)
                return err->code;
            if (str_eq(json_string_value(old), state) || ctx_test(ctx))
                continue;

            /* dpkg --set-selections for one package: 1 done, 0 refused. */
            prog_auto_t prog = PROG_INIT;
            AUTO_FREE char *line = xasprintf("%s %s", name, state);

            apt_prog(ctx, &prog, false);
            prog_adds(&prog, "dpkg", "--set-selections", NULL);
            prog.in = line;
            json_auto_t *out = apt_run(&prog, err);
            int rc = out == NULL ? err->code : value_int(out, "retcode", 0) == 0;

            if (rc < 0)
                return rc;
            if (rc > 0)
                json_object_set_new(ret, name, json_pack("{s:O?, s:s}", "old", old, "new", state));
        }
    }
    return 0;
}

/* All states that dpkg doesn't know are named at once, before anything is changed. */
static int
check_states(const json_t *selection, fail_t *err)
{
    static const char *const states[] = { "install", "hold", "deinstall", "purge" };
    buf_auto_t bad = BUF_INIT;
    const char *state;
    json_t *names;

    json_object_foreach ((json_t *) selection, state, names) {
        bool known = false;
        for (size_t i = 0; i < NELEMS(states); i++)
            known = known || str_eq(states[i], state);
        if (!known)
            buf_printf(&bad, "%s%s", bad.len > 0 ? ", " : "", state);
    }
    return bad.len > 0 ? fail_kind(err, FAIL_INVOCATION, -EINVAL, "Invalid state(s): %s", buf_str(&bad)) : 0;
}

/* Not in test mode. */
static int
clear_all(call_ctx_t *ctx, fail_t *err)
{
    if (ctx_test(ctx))
        return 0;
    json_auto_t *out = apt_output(ctx, err, "dpkg", "--clear-selections", NULL);
    if (out == NULL)
        return err->code;
    if (value_int(out, "retcode", 0) != 0)
        return fail_kind(err, FAIL_COMMAND, -EREMOTEIO, "Running dpkg --clear-selections failed: %s",
                         value_str(out, "stderr", ""));
    return 0;
}

/* Lines "name state", as `dpkg --get-selections` prints them. NEW {state: [names]}, or NULL with *err. */
static json_t *
selection_of_file(call_ctx_t *ctx, const json_t *args, fail_t *err)
{
    buf_auto_t text = BUF_INIT;
    AUTO_FREE char *path = pkg_cache_file(ctx, value_str(args, "path", ""),
                                          value_str(args, "saltenv", "base"), err);

    if (path == NULL || fs_read(path, LIMIT_FILE_READ, &text, err) < 0)
        return NULL;
    json_t *ret = json_object();
    for (char *at = text.data, *line; at != NULL && (line = line_next(&at)) != NULL;) {
        char **words = str_split(line, " \t\r", true);
        if (strv_len(words) == 2)
            add_selection(ret, words[1], words[0]);
        strv_free(words);
    }
    return ret;
}

/* The selection given as a dictionary or as YAML text. NEW, or NULL with *err. */
static json_t *
selection_given(const json_t *v, fail_t *err)
{
    fail_auto_t why = FAIL_INIT;

    if (!json_is_string(v))
        return json_incref((json_t *) v);
    json_t *loaded = yaml_load(json_string_value(v), json_string_length(v), "selection", NULL, &why);
    if (loaded == NULL)
        fail_kind(err, FAIL_INVOCATION, -EINVAL, "Improperly-formatted selection: %s", fail_text(&why));
    return loaded;
}

/* Neither a file nor a selection is an empty answer. The selections are cleared only after the new ones were
 * checked. */
int
apt_set_selections(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const json_t *given = pkg_arg(args, "selection");
    bool path = *value_str(args, "path", "") != '\0';
    json_auto_t *ret = json_object();
    int rc = 0;

    if (path && value_truthy(given))
        return fail_kind(err, FAIL_INVOCATION, -EINVAL,
                         "The 'selection' and 'path' arguments to pkg.set_selections are mutually exclusive, "
                         "and cannot be specified together");
    if (path || value_truthy(given)) {
        json_auto_t *selection = path ? selection_of_file(ctx, args, err) : selection_given(given, err);
        if (selection == NULL)
            return err->code;
        if (json_object_size(selection) > 0 &&
            ((rc = check_states(selection, err)) < 0 ||
             (value_truthy(value_get(args, "clear")) && (rc = clear_all(ctx, err)) < 0) ||
             (rc = aptselect_apply(ctx, selection, ret, err)) < 0))
            return rc;
    }
    *ret_value = STEAL(ret);
    return 0;
}

/* ---- hold and unhold ----------------------------------------------------------------------- */

/* The words of one direction. */
typedef struct hold_texts {
    const char *state, *unknown, *would, *did, *already;
} hold_texts_t;

static const hold_texts_t hold_texts = { "hold", "Package {} not currently held.",
                                         "Package {} is set to be held.", "Package {} is now being held.",
                                         "Package {} is already set to be held." };
static const hold_texts_t unhold_texts = { "install", "Package {} does not have a state.",
                                           "Package {} is set not to be held.",
                                           "Package {} is no longer being held.",
                                           "Package {} is already set not to be held." };

/* NEW entry of the return, or NULL with *err. */
static json_t *
aptselect_hold_one(call_ctx_t *ctx, const char *name, const hold_texts_t *texts, fail_t *err)
{
    bool hold = texts == &hold_texts;
    json_auto_t *state = apt_selections(name, hold ? "hold" : NULL, err), *changes = json_object();
    json_t *result = json_false();
    const char *text = texts->already;

    if (state == NULL)
        return NULL;
    bool held = value_truthy(value_get(state, "hold"));
    if (json_object_size(state) == 0) {
        text = texts->unknown;
    } else if (held == hold) {
        result = json_true();
    } else if (ctx_test(ctx)) {
        result = json_null();
        text = texts->would;
    } else {
        json_auto_t *selection = json_pack("{s:[s]}", texts->state, name), *done = json_object();
        if (aptselect_apply(ctx, selection, done, err) < 0)
            return NULL;
        if (value_get(done, name) != NULL) {
            json_decref(changes);
            changes = json_incref(value_get(done, name));
            result = json_true();
        }
        text = value_get(done, name) != NULL ? texts->did : texts->unknown;
    }
    AUTO_FREE char *said = str_replace(text, "{}", name);
    return json_pack("{s:s, s:O, s:o, s:s}", "name", name, "changes", changes, "result", result, "comment",
                     said);
}

/* `targets` is a list of names and of {name: version}. NEW {name: entry}. */
json_t *
apt_set_hold(call_ctx_t *ctx, const json_t *targets, bool hold, fail_t *err)
{
    json_auto_t *ret = json_object();
    json_t *v;
    size_t i;

    json_array_foreach (targets, i, v) {
        const char *key = json_object_iter_key(json_object_iter(v));
        AUTO_FREE char *name = key != NULL ? xstrdup(key) : value_pystr(v);
        json_t *entry = aptselect_hold_one(ctx, name, hold ? &hold_texts : &unhold_texts, err);
        if (entry == NULL)
            return NULL;
        json_object_set_new(ret, name, entry);
    }
    return STEAL(ret);
}

/* pkg.hold and pkg.unhold: the row's number tells. */
int
apt_hold_call(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    bool hold = ctx_row(ctx)->data.number;
    const json_t *pkgs = pkg_arg(args, "pkgs"), *sources = pkg_arg(args, "sources");
    const json_t *name = pkg_arg(args, "name");

    if (!value_truthy(name) && !value_truthy(pkgs) && !value_truthy(sources))
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "One of name, pkgs, or sources must be specified.");
    if (value_truthy(pkgs) && value_truthy(sources))
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "Only one of pkgs or sources can be specified.");
    json_auto_t *targets = json_array();
    if (value_truthy(pkgs) || value_truthy(sources))
        json_array_extend(targets, (json_t *) (value_truthy(pkgs) ? pkgs : sources));
    else
        json_array_append(targets, (json_t *) name);
    *ret_value = apt_set_hold(ctx, targets, hold, err);
    return *ret_value != NULL ? 0 : err->code;
}
