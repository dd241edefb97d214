/* ini.c - state module `ini`: options and sections of ini files. A run calls the module's functions one by
 * one, in Salt's order; test mode tells the same changes from what the file has. An option stands above all
 * sections or in one of them; its change is {"before", "after"}. The comment does not say what was done: the
 * changes do. */
#include "common/base/buf.h"
#include "common/base/str.h"
#include "plugins/lib/call/subcall.h"
#include "salt/state.h"

/* What the states work with. */
typedef struct ini_state {
    call_ctx_t *ctx;
    json_t *args, *ret; /* BORROWED */
    buf_t told;         /* owned: test mode's lines */
} ini_state_t;

/* Calls a function of the module on the file with another argument or two; NULL for none. NEW, or NULL with
 * *err. */
static json_t *
ini_ask(const ini_state_t *s, const char *fun, const char *key, json_t *value, const char *key2,
        json_t *value2, fail_t *err)
{
    json_auto_t *kwargs = json_pack("{s:O, s:O}", "file_name", value_get(s->args, "name"), "separator",
                                    value_get(s->args, "separator"));
    json_t *answer = NULL;

    if (key != NULL)
        json_object_set(kwargs, key, value);
    if (key2 != NULL)
        json_object_set(kwargs, key2, value2);
    return ctx_call(s->ctx, fun, NULL, kwargs, &answer, err) == 0 ? answer : NULL;
}

/* A line of test mode; one that changes something makes the result None. */
static void
tell(ini_state_t *s, const char *what, const char *name, const char *section, bool changes)
{
    bool in = section != NULL && *section != '\0';

    buf_printf(&s->told, "%s %s%s%s.\n", what, name, in ? " in section " : "", in ? section : "");
    if (changes)
        json_object_set_new(s->ret, "result", json_null());
}

/* The end of a state: the lines of test mode, or whether a run has changed something. */
static int
finish(ini_state_t *s, const char *nothing)
{
    if (ctx_test(s->ctx))
        state_ret_comment(s->ret, json_string(s->told.len > 0 ? s->told.data : nothing));
    else
        state_ret_comment(s->ret,
                          json_string(state_changed(s->ret) ? "Changes take effect" : "No anomaly detected"));
    buf_free(&s->told);
    return 0;
}

/* The change of one option; NULL for a side that has none. NEW. */
static json_t *
changed_from(json_t *before, json_t *after)
{
    return json_pack("{s:O?, s:O?}", "before", before, "after", after);
}

/* ---- options_present -------------------------------------------------------------------------- */

/* Options that are not wanted, removed with `strict`. They are added to `changes`. */
static int
remove_others(ini_state_t *s, json_t *section, const json_t *has, const json_t *wanted, json_t *changes,
              fail_t *err)
{
    const char *name, *title = json_string_value(section);
    json_t *value;

    json_object_foreach ((json_t *) has, name, value) {
        if (value_get(wanted, name) != NULL || json_is_object(value))
            continue;
        json_auto_t *option = json_string(name);
        json_auto_t *done = ctx_test(s->ctx)
                                ? json_true()
                                : ini_ask(s, "ini.remove_option", "section", section, "option", option, err);
        if (done == NULL)
            return err->code;
        if (ctx_test(s->ctx))
            tell(s, title != NULL ? "Deleted key" : "Removed key", name, title, true);
        json_object_set_new(changes, name, changed_from(value, NULL));
    }
    return 0;
}

/* Options that are set, told in test mode. NEW changes. */
static json_t *
foretell_options(ini_state_t *s, const char *section, const json_t *has, const json_t *wanted)
{
    json_t *changes = json_object(), *value;
    json_auto_t *all = json_object();
    const char *name;

    json_object_foreach ((json_t *) wanted, name, value) {
        AUTO_FREE char *text = value_pystr(value);
        json_auto_t *is = json_string(text);
        json_t *before = value_get(has, name);
        bool same = value_equal(before, is);
        tell(s, same ? "Unchanged key" : "Changed key", name, section, !same);
        if (!same)
            json_object_set_new(changes, name, changed_from(before, is));
        json_object_set(all, name, is);
    }
    if (has != NULL)
        return changes;
    if (json_object_size(all) == 0)
        tell(s, "Created new section", section, NULL, true);
    json_decref(changes);
    return changed_from(NULL, all);
}

/* The options above the sections (`section` None), or those of one. */
static int
set_options(ini_state_t *s, json_t *section, const json_t *has, json_t *wanted, json_t *into, fail_t *err)
{
    const char *title = json_string_value(section);
    json_auto_t *update = title != NULL ? json_pack("{s:O}", title, wanted) : json_incref(wanted);
    json_auto_t *changes = json_object(), *set = NULL;

    if (value_bool(s->args, "strict", false) && remove_others(s, section, has, wanted, changes, err) < 0)
        return err->code;
    if (ctx_test(s->ctx))
        set = foretell_options(s, title, has, wanted);
    else if ((set = ini_ask(s, "ini.set_option", "sections", update, NULL, NULL, err)) == NULL)
        return err->code;
    if (title != NULL && !ctx_test(s->ctx))
        json_object_update(changes, value_get(set, title));
    else
        json_object_update(changes, set);
    if (title == NULL)
        json_object_update(into, changes);
    else if (json_object_size(changes) > 0)
        json_object_set(into, title, changes);
    return 0;
}

/* Members of `sections` that are no objects are options above the first section. */
static int
ini_options_present(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    ini_state_t s = { ctx, args, *ret_value = state_ret_args(args), BUF_INIT };
    json_auto_t *ini = ini_ask(&s, "ini.get_ini", NULL, NULL, NULL, NULL, err);
    json_auto_t *above = json_object(), *none = json_null(), *changes = json_object();
    const char *name;
    json_t *body, *sections = value_get(args, "sections");

    if (ini == NULL)
        return err->code;
    json_object_foreach (sections, name, body) {
        if (!json_is_object(body))
            json_object_set(above, name, body);
    }
    int rc = value_truthy(sections) || !ctx_test(ctx) ? set_options(&s, none, ini, above, changes, err) : 0;
    json_object_foreach (sections, name, body) {
        json_auto_t *title = json_string(name);
        if (rc == 0 && json_is_object(body))
            rc = set_options(&s, title, value_get(ini, name), body, changes, err);
    }
    state_change_set(s.ret, json_incref(changes));
    (void) finish(&s, "");
    return rc;
}

/* ---- options_absent --------------------------------------------------------------------------- */

/* Removes an option, or tells it. NEW value, None where there is none; NULL with *err. */
static json_t *
take_option(ini_state_t *s, json_t *section, json_t *option, fail_t *err)
{
    json_t *value = ini_ask(s, ctx_test(s->ctx) ? "ini.get_option" : "ini.remove_option", "section", section,
                            "option", option, err);

    if (value == NULL || !ctx_test(s->ctx))
        return value;
    AUTO_FREE char *name = value_pystr(option);
    const char *title = json_string_value(section);
    if (value_truthy(value))
        tell(s, "Deleted key", name, title, true);
    else
        buf_printf(&s->told, "Key %s%s%s does not exist.\n", name, title != NULL ? " in section " : "",
                   title != NULL ? title : "");
    return value;
}

/* A section without a list of keys is itself an option above the first section. */
static int
ini_options_absent(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    ini_state_t s = { ctx, args, *ret_value = state_ret_args(args), BUF_INIT };
    json_auto_t *changes = json_object(), *none = json_null();
    const char *name;
    json_t *keys, *key;
    size_t i;

    json_object_foreach (value_get(args, "sections"), name, keys) {
        json_auto_t *title = json_string(name), *alone = json_pack("[s]", name), *gone = json_object();
        bool list = json_is_array(keys);
        json_array_foreach (list ? keys : alone, i, key) {
            json_auto_t *value = take_option(&s, list ? title : none, key, err);
            AUTO_FREE char *text = value_pystr(key);
            if (value == NULL) {
                buf_free(&s.told);
                return err->code;
            }
            if (value_truthy(value))
                json_object_set(list ? gone : changes, text, value);
        }
        if (json_object_size(gone) > 0)
            json_object_set(changes, name, gone);
    }
    state_change_set(s.ret, json_incref(changes));
    return finish(&s, "No changes detected.");
}

/* ---- sections --------------------------------------------------------------------------------- */

/* The sections that are named: a list, or the keys of a mapping, as options_present has it. NEW, or NULL with *err. */
static json_t *
names_of_sections(const json_t *args, fail_t *err)
{
    json_t *given = value_get(args, "sections"), *names, *body;
    const char *name;

    if (given == NULL || json_is_null(given))
        return json_array();
    if (json_is_array(given))
        return json_incref(given);
    if (!json_is_object(given)) {
        fail_set(err, -EINVAL, "'sections' must be a list of names");
        return NULL;
    }
    names = json_array();
    json_object_foreach (given, name, body)
        json_array_append_new(names, json_string(name));
    return names;
}

/* Sections are made empty; their options are the business of options_present. */
static int
ini_sections_present(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    ini_state_t s = { ctx, args, *ret_value = state_ret_args(args), BUF_INIT };
    json_auto_t *ini = ini_ask(&s, "ini.get_ini", NULL, NULL, NULL, NULL, err);
    json_auto_t *wanted = json_object(), *changes = json_object();
    json_auto_t *sections = ini == NULL ? NULL : names_of_sections(args, err);
    json_t *section;
    size_t i;

    if (sections == NULL)
        return err->code;
    json_array_foreach (sections, i, section) {
        const char *name = json_string_value(section);
        bool there = value_get(ini, name) != NULL;
        tell(&s, there ? "Section unchanged" : "Created new section", name, NULL, !there && ctx_test(ctx));
        json_object_set_new(wanted, name, json_object());
        if (!there)
            json_object_set_new(changes, name, json_pack("{s:n, s:{}}", "before", "after"));
    }
    json_auto_t *set = ctx_test(ctx) ? json_incref(changes)
                                     : ini_ask(&s, "ini.set_option", "sections", wanted, NULL, NULL, err);
    if (set != NULL)
        state_change_set(s.ret, json_incref(set));
    (void) finish(&s, "No changes detected.");
    if (!ctx_test(ctx))
        state_ret_comment(s.ret, json_string("Changes take effect"));
    return set != NULL ? 0 : err->code;
}

/* A section goes with all its options, which are its change. */
static int
ini_sections_absent(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    ini_state_t s = { ctx, args, *ret_value = state_ret_args(args), BUF_INIT };
    json_auto_t *ini = ini_ask(&s, "ini.get_ini", NULL, NULL, NULL, NULL, err), *changes = json_object();
    json_auto_t *sections = ini == NULL ? NULL : names_of_sections(args, err);
    json_t *section;
    size_t i;

    if (sections == NULL)
        return err->code;
    json_array_foreach (sections, i, section) {
        const char *name = json_string_value(section);
        json_auto_t *was = json_incref(value_get(ini, name));
        if (was == NULL)
            buf_printf(&s.told, "Section %s does not exist.\n", name);
        else
            tell(&s, "Deleted section", name, NULL, ctx_test(ctx));
        json_auto_t *gone = ctx_test(ctx)
                                ? json_true()
                                : ini_ask(&s, "ini.remove_section", "section", section, NULL, NULL, err);
        if (gone == NULL) {
            buf_free(&s.told);
            return err->code;
        }
        if (was != NULL)
            json_object_set(changes, name, was);
    }
    state_change_set(s.ret, json_incref(changes));
    return finish(&s, "No changes detected.");
}

#define NAME_ROW ARG("name", ARG_STR, ARG_REQUIRED, "The file")
#define SEP_ROW  ARG("separator", ARG_STR, "\"=\"", "What stands between an option and its value")

static const arg_t present_args[] = {
    NAME_ROW, ARG("sections", ARG_DICT, "null", "{section: {option: value}}, {option: value} above"), SEP_ROW,
    ARG("strict", ARG_BOOL, "false", "Remove other options"), ARGS_END
};
static const arg_t absent_args[] = {
    NAME_ROW, ARG("sections", ARG_DICT, "null", "{section: [option]}, {option: None} above"), SEP_ROW,
    ARGS_END
};
static const arg_t sections_args[] = { NAME_ROW, ARG("sections", ARG_ANY, "null", "Names of sections"),
                                       SEP_ROW, ARGS_END };

static const func_t funcs[] = {
    { "options_absent", ini_options_absent, absent_args, 0,
      "Ensure that an ini file has not these options." },
    { "options_present", ini_options_present, present_args, 0,
      "Ensure that options of an ini file have these values." },
    { "sections_absent", ini_sections_absent, sections_args, 0,
      "Ensure that an ini file has not these sections." },
    { "sections_present", ini_sections_present, sections_args, 0,
      "Ensure that an ini file has these sections." },
};

PLUGIN(state, ini, .doc = "Ini files", FUNCS(funcs));
