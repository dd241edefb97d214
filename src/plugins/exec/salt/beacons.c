/* beacons.c - execution module `beacons`: shows and changes the minion's beacons. They live in the minion's
 * main process, which is asked for them (minion/parts/mbeacon.c); those in Python are known to the
 * interpreter, which this function's context has. Refusals are answers {comment, result: False}, as in Salt,
 * not exceptions. A configuration is a list of dictionaries, Salt's odd form, of which beacon_list() and
 * beacon_module() make sense; what the minion holds is written to beacons.conf by save alone and is lost with
 * a restart otherwise. */
#include "common/base/buf.h"
#include "common/base/str.h"
#include "common/beacon/beacon.h"
#include "common/conf/conf_drop.h"
#include "common/data/diff.h"
#include "common/data/yaml.h"
#include "common/py/py_json.h"
#include "common/python/userfile.h"
#include "plugins/lib/salt/inorder.h"
#include "salt/plugin.h"
#include "salt/value.h"

/* ---- what functions share ----------------------------------------------------------------------------- */

static const char *
beacons_name(const json_t *args)
{
    return value_str(args, "name", "");
}

/* test=True of the call, or of the job as a whole. */
static bool
beacons_is_test(call_ctx_t *ctx, const json_t *args)
{
    return value_truthy(value_get(value_get(args, "kwargs"), "test")) || ctx_test(ctx);
}

/* NEW {comment, result}: `format` with the name where it has {}. The texts are Salt's, with its {} for the
 * name. */
static json_t *
beacons_said(bool result, const char *format, const char *name)
{
    AUTO_FREE char *text = str_replace(format, "{}", name);
    return json_pack("{s:s, s:b}", "comment", text, "result", result);
}

/* Asks the minion. TAKES the request. NEW, or NULL with *err. Where no minion runs (salt-call) the request is
 * an error: there are no beacons to speak of. */
static json_t *
beacons_ask(call_ctx_t *ctx, json_t *request, fail_t *err)
{
    json_auto_t *asked = request;
    json_t *value = NULL;
    json_object_set_new(asked, "op", json_string("beacons"));
    return ctx_host(ctx, asked, &value, err) < 0 ? NULL : value;
}

/* NEW {NAME: configuration}, or NULL with *err. Beacons of the pillar and those of the configuration lie over
 * one another; each can be left out of the answer, not of the minion. */
static json_t *
beacons_all(call_ctx_t *ctx, bool pillar, bool opts, fail_t *err)
{
    json_auto_t *said = beacons_ask(
        ctx, json_pack("{s:s, s:b, s:b}", "do", "list", "include_pillar", pillar, "include_opts", opts), err);
    return json_incref(value_get(said, "beacons"));
}

/* NEW names of what can be configured: built in, and in Python. A file in Python counts when it has the
 * function `beacon`; its other functions (validate) are no beacons. */
static json_t *
beacons_available(call_ctx_t *ctx, fail_t *err)
{
    fail_auto_t why = FAIL_INIT; /* without an interpreter there are those that are built in */
    json_auto_t *said = beacons_ask(ctx, json_pack("{s:s}", "do", "list_available"), err);
    json_auto_t *files = said != NULL ? userfile_functions(ctx, "beacons", &why) : NULL;
    json_t *names = said != NULL ? json_copy(value_get(said, "available")) : NULL, *v;
    const char *fun;
    json_object_foreach (files, fun, v) {
        const char *dot = strchr(fun, '.');
        AUTO_FREE char *name = dot != NULL ? xstrndup(fun, (size_t) (dot - fun)) : NULL;
        if (name != NULL && str_eq(dot, ".beacon") && !value_lists(names, name))
            json_array_append_new(names, json_string(name));
    }
    return names;
}

/* NEW reason why a configuration can't be used, or NULL; the minion asks those that are built in, the file's
 * own `validate` the others. NULL with *err when the minion could not be asked. A file without `validate` is
 * not checked, as by Salt. */
static char *
beacons_invalid(call_ctx_t *ctx, const char *name, json_t *data, fail_t *err)
{
    json_auto_t *said = beacons_ask(
        ctx, json_pack("{s:s, s:s, s:O}", "do", "validate_beacon", "name", name, "beacon_data", data), err);
    if (said == NULL)
        return NULL;
    if (!value_bool(said, "valid", false))
        return xstrdup(value_str(said, "vcomment", ""));
    if (value_bool(said, "native", false))
        return NULL;
    /* The minion's main process has no interpreter, so that files in Python are asked in this job. */
    const userfile_t what = { .kind = "beacons",
                              .module = beacon_module(name, data),
                              .fun = "validate",
                              .packaged = true,
                              .unlimited = true };
    fail_auto_t why = FAIL_INIT;
    json_auto_t *list = beacon_list(data), *words = json_pack("[O]", list);
    AUTO(py) args = py_from_json(words);
    AUTO(py) kwargs = py_dict();
    AUTO(py) answer = userfile_call(ctx, &what, args, kwargs, NULL, &why);
    json_auto_t *valid = answer != NULL ? py_to_json(answer) : NULL;
    if (valid == NULL)
        return why.kind == FAIL_UNAVAILABLE ? NULL : xstrdup(fail_text(&why));
    return value_truthy(json_array_get(valid, 0)) ? NULL : value_pystr(json_array_get(valid, 1));
}

/* Makes a change. NEW {complete, comment, beacons}, or NULL with *err. */
static json_t *
beacons_do(call_ctx_t *ctx, const char *what, const char *name, json_t *data, fail_t *err)
{
    return beacons_ask(ctx, json_pack("{s:s, s:s, s:O*}", "do", what, "name", name, "beacon_data", data),
                       err);
}

/* ---- seeing ------------------------------------------------------------------------------------------- */

/* NEW text {beacons: v} as PyYAML writes it. */
static json_t *
beacons_yaml(json_t *v)
{
    json_auto_t *whole = json_pack("{s:O}", "beacons", v), *sorted = inorder(whole);
    AUTO_FREE char *text = yaml_dump(sorted, 0);
    return json_string(text);
}

/* As YAML by default, which Salt made for people on a command line; states ask for the mapping. */
static int
beacons_list(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *all = beacons_all(ctx, value_bool(args, "include_pillar", true),
                                   value_bool(args, "include_opts", true), err);
    if (all == NULL)
        return err->code;
    *ret_value = value_bool(args, "return_yaml", true) ? beacons_yaml(all) : json_incref(all);
    return 0;
}

/* Names that beacons.add takes; whether this host can run each of them is another question. */
static int
beacons_list_available(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *names = beacons_available(ctx, err);
    if (names == NULL)
        return err->code;
    *ret_value = value_bool(args, "return_yaml", true) ? beacons_yaml(names) : json_incref(names);
    return 0;
}

/* ---- changing ----------------------------------------------------------------------------------------- */

/* True when every item of the configuration is in what the minion has now. Beacons of the pillar may have
 * members of their own beside those just added. */
static bool
beacons_holds(const json_t *now, const json_t *data)
{
    json_t *one;
    size_t i;
    if (!json_is_array(data))
        return value_equal(now, data);
    json_array_foreach (data, i, one)
        if (!value_has(now, one))
            return false;
    return now != NULL;
}

/* A name that is configured is left as it is, with True: beacons.modify changes it. The name is checked
 * before the configuration, and that before anything is sent. */
static int
beacons_add(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = beacons_name(args);
    json_t *data = value_get(args, "beacon_data");
    json_auto_t *all = beacons_all(ctx, true, true, err);
    if (all == NULL)
        return err->code;
    if (value_get(all, name) != NULL) {
        *ret_value = beacons_said(true, "Beacon {} is already configured.", name);
        return 0;
    }
    json_auto_t *names = beacons_available(ctx, err);
    if (names == NULL)
        return err->code;
    if (!value_lists(names, beacon_module(name, data))) {
        *ret_value = beacons_said(false, "Beacon \"{}\" is not available.", beacon_module(name, data));
        return 0;
    }
    if (beacons_is_test(ctx, args)) {
        *ret_value = beacons_said(true, "Beacon: {} would be added.", name);
        return 0;
    }
    AUTO_FREE char *why = beacons_invalid(ctx, name, data, err);
    if (why != NULL) {
        *ret_value = json_pack("{s:o, s:b}", "comment",
                               value_fmt("Beacon %s configuration invalid, not adding.\n%s", name, why),
                               "result", false);
        return 0;
    }
    json_auto_t *said = err->code == 0 ? beacons_do(ctx, "add", name, data, err) : NULL;
    if (said == NULL)
        return err->code;
    /* The minion refuses what the pillar configures; its comment says so. */
    if (!value_bool(said, "complete", false))
        *ret_value = beacons_said(false, value_str(said, "comment", ""), "");
    else if (beacons_holds(value_get(value_get(said, "beacons"), name), data))
        *ret_value = beacons_said(true, "Added beacon: {}.", name);
    else
        *ret_value = beacons_said(false, "Failed to add beacon {}.", name);
    return 0;
}

/* NEW lines "key:value" of a configuration, as Salt compares them. */
static char *
beacons_lines(const json_t *given)
{
    json_auto_t *list = beacon_list(given);
    buf_auto_t text = BUF_INIT;
    const char *key;
    json_t *one, *v;
    size_t i;
    json_array_foreach (list, i, one)
        json_object_foreach (one, key, v) {
            AUTO_FREE char *shown = value_pystr(v);
            buf_printf(&text, "%s:%s\n", key, shown);
        }
    return xstrdup(buf_str(&text));
}

/* The difference is that of lines "key:value", in the order of the configuration; equal configurations change
 * nothing, in whatever form they are written. */
static int
beacons_modify(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = beacons_name(args);
    json_t *data = value_get(args, "beacon_data");
    json_auto_t *all = beacons_all(ctx, true, true, err);
    json_t *now = value_get(all, name);
    if (all == NULL)
        return err->code;
    if (now == NULL) {
        *ret_value = beacons_said(true, "Beacon {} is not configured.", name);
        return 0;
    }
    AUTO_FREE char *why = beacons_invalid(ctx, name, data, err);
    if (why != NULL) {
        *ret_value = json_pack("{s:o, s:b}", "comment",
                               value_fmt("Beacon %s configuration invalid, not modifying.\n%s", name, why),
                               "result", false);
        return 0;
    }
    if (err->code != 0)
        return err->code;
    if (value_equal(now, data)) {
        *ret_value = beacons_said(true, "Job {} in correct state", name);
        return 0;
    }
    AUTO_FREE char *before = beacons_lines(now);
    AUTO_FREE char *after = beacons_lines(data);
    AUTO_FREE char *diff = diff_texts(before, strlen(before), after, strlen(after), "", "");
    bool test = beacons_is_test(ctx, args);
    json_auto_t *said = test ? json_object() : beacons_do(ctx, "modify", name, data, err);
    if (said == NULL)
        return err->code;
    /* In test mode the same difference is told, with other words around it. */
    bool done = test || value_bool(said, "complete", false);
    const char *words = test ? "Beacon: {} would be modified." : "Modified beacon: {}.";
    *ret_value = beacons_said(done, done ? words : value_str(said, "comment", ""), name);
    json_object_set_new(*ret_value, "changes", json_pack("{s:s}", "diff", diff));
    return 0;
}

/* A beacon of the pillar can't be deleted here: the minion's comment is the answer. */
static int
beacons_delete(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = beacons_name(args);
    if (beacons_is_test(ctx, args)) {
        *ret_value = beacons_said(true, "Beacon: {} would be deleted.", name);
        return 0;
    }
    json_auto_t *said = beacons_do(ctx, "delete", name, NULL, err);
    if (said == NULL)
        return err->code;
    bool done = value_bool(said, "complete", false);
    *ret_value = beacons_said(done, done ? "Deleted beacon: {}." : value_str(said, "comment", ""), name);
    return 0;
}

/* Those of the pillar are left out: the next refresh brings them again. Without a beacon the file becomes
 * empty, so that old ones do not come back. */
static int
beacons_save(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    fail_auto_t why = FAIL_INIT;
    AUTO_FREE char *path = conf_drop_path(ctx_opts(ctx), "beacons.conf");
    json_auto_t *all = beacons_all(ctx, false, true, err);
    if (all == NULL)
        return err->code;
    if (beacons_is_test(ctx, args)) {
        *ret_value = beacons_said(true, "Beacons would be saved to {}.", path);
        return 0;
    }
    json_auto_t *text = json_object_size(all) > 0 ? beacons_yaml(all) : json_string("");
    bool done = conf_drop_write(path, json_string_value(text), &why) == 0;
    *ret_value = beacons_said(
        done, done ? "Beacons saved to {}." : "Unable to write to beacons file at {}. Check permissions.",
        path);
    return 0;
}

/* A switch: the change, and its words. */
typedef struct switching {
    const char *what, *test, *done;
    bool one; /* of one beacon, by name */
} switching_t;

static const switching_t enabling = { "enable", "Beacons would be enabled.", "Enabled beacons on minion.",
                                      false };
static const switching_t disabling = { "disable", "Beacons would be disabled.", "Disabled beacons on minion.",
                                       false };
static const switching_t resetting = { "reset", "Beacons would be reset.", "Beacon configuration reset.",
                                       false };
static const switching_t enabling_one = { "enable_beacon", "Beacon {} would be enabled.",
                                          "Enabled beacon {} on minion.", true };
static const switching_t disabling_one = { "disable_beacon", "Beacons would be disabled.",
                                           "Disabled beacon {} on minion.", true };

/* enable and disable all, or one by name, and reset; the row has the words. One that is not configured can't
 * be switched. */
static int
beacons_switch(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const switching_t *how = ctx_row(ctx)->data.ptr;
    const char *name = beacons_name(args);
    if (how->one && *name == '\0') {
        *ret_value = beacons_said(false, "Beacon name is required.", "");
        return 0;
    }
    if (beacons_is_test(ctx, args)) {
        *ret_value = beacons_said(true, how->test, name);
        return 0;
    }
    json_auto_t *all = how->one ? beacons_all(ctx, true, true, err) : NULL;
    if (how->one && all == NULL)
        return err->code;
    if (how->one && value_get(all, name) == NULL) {
        *ret_value = beacons_said(false, "Beacon {} is not currently configured.", name);
        return 0;
    }
    json_auto_t *said = beacons_do(ctx, how->what, name, NULL, err);
    if (said == NULL)
        return err->code;
    bool done = value_bool(said, "complete", false);
    *ret_value = beacons_said(done, done ? how->done : value_str(said, "comment", ""), name);
    return 0;
}

/* ---- table -------------------------------------------------------------------------------------------- */

#define MORE_ROW                                                                                             \
    ARG("kwargs", ARG_DICT, ARG_STARSTAR, "test; and timeout, which is without effect here", "test timeout")
#define NAME_ROW ARG("name", ARG_STR, ARG_REQUIRED, "The beacon's name")
#define YAML_ROW ARG("return_yaml", ARG_BOOL, "true", "Return text of YAML")
#define DATA_ROW ARG("beacon_data", ARG_ANY, ARG_REQUIRED, "Its configuration: a list of dictionaries")

static const arg_t list_args[] = {
    YAML_ROW, ARG("include_pillar", ARG_BOOL, "true", "Those of the pillar"),
    ARG("include_opts", ARG_BOOL, "true", "Those of the minion's configuration"), MORE_ROW, ARGS_END
};
static const arg_t available_args[] = { YAML_ROW, MORE_ROW, ARGS_END };
static const arg_t data_args[] = { NAME_ROW, DATA_ROW, MORE_ROW, ARGS_END };
static const arg_t name_args[] = { NAME_ROW, MORE_ROW, ARGS_END };
static const arg_t more_args[] = { MORE_ROW, ARGS_END };

static const func_t funcs[] = {
    { "add", beacons_add, data_args, FN_CALLS,
      "Add a beacon." CLI_EXAMPLE(
          "salt '*' beacons.add ps \"[{'processes': {'salt-master': 'stopped'}}]\"") },
    { "delete", beacons_delete, name_args, 0, "Delete a beacon." CLI_EXAMPLE("salt '*' beacons.delete ps") },
    { "disable", beacons_switch, more_args, 0, "Let no beacon look." CLI_EXAMPLE("salt '*' beacons.disable"),
      .data.ptr = &disabling },
    { "disable_beacon", beacons_switch, name_args, 0,
      "Let a beacon not look." CLI_EXAMPLE("salt '*' beacons.disable_beacon ps"),
      .data.ptr = &disabling_one },
    { "enable", beacons_switch, more_args, 0,
      "Let beacons look again." CLI_EXAMPLE("salt '*' beacons.enable"), .data.ptr = &enabling },
    { "enable_beacon", beacons_switch, name_args, 0,
      "Let a beacon look again." CLI_EXAMPLE("salt '*' beacons.enable_beacon ps"),
      .data.ptr = &enabling_one },
    { "list", beacons_list, list_args, FN_READONLY | FN_PEER_PILLAR,
      "List the beacons that are configured." CLI_EXAMPLE("salt '*' beacons.list") },
    { "list_available", beacons_list_available, available_args, FN_READONLY,
      "List the beacons that can be configured." CLI_EXAMPLE("salt '*' beacons.list_available") },
    { "modify", beacons_modify, data_args, FN_CALLS,
      "Replace the configuration of a beacon." CLI_EXAMPLE(
          "salt '*' beacons.modify ps \"[{'processes': {'apache2': 'stopped'}}]\"") },
    { "reset", beacons_switch, more_args, 0,
      "Delete all beacons of the minion's configuration." CLI_EXAMPLE("salt '*' beacons.reset"),
      .data.ptr = &resetting },
    { "save", beacons_save, more_args, 0,
      "Keep the beacons in beacons.conf, beside the minion's other files of configuration." CLI_EXAMPLE(
          "salt '*' beacons.save") },
};

PLUGIN(exec, beacons, .doc = "The minion's beacons", FUNCS(funcs));
