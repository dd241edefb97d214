/* beacon_run.c - see beacon_run.h. */
#include "minion/parts/beacon_run.h"

#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/py/py_json.h"
#include "common/python/userfile.h"
#include "salt/log.h"
#include "salt/value.h"

const beacon_row_t *
beacon_run_row(const plugin_t *const *plugins, size_t n, const char *module)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(plugins[i]->file, module))
            return plugins[i]->beacon;
    return NULL;
}

json_t *
beacon_run_look(call_ctx_t *ctx, const beacon_row_t *row, json_t *asked)
{
    fail_auto_t err = FAIL_INIT;
    json_t *context = value_get(asked, "context"), *did = json_object(), *events = json_array();
    beacon_look_t look = { .root = "",
                           .name = value_str(asked, "name", ""),
                           .list = value_get(asked, "list"),
                           .config = value_get(asked, "config"),
                           .opts = ctx_opts(ctx),
                           .context = context,
                           .events = events,
                           .ctx = ctx,
                           .mono_ms = clock_mono_ms() };
    if (row->look(&look, &err) < 0)
        json_object_set_new(did, "error", json_string(fail_text(&err)));
    json_object_set_new(did, "events", events);
    json_object_set(did, "context", context);
    return did;
}

/* Calls a function of a beacon's file. NEW value, or NULL with *err. */
static json_t *
python_call(call_ctx_t *ctx, const char *module, const char *fun, json_t *list, fail_t *err)
{
    const userfile_t what = {
        .kind = "beacons", .module = module, .fun = fun, .packaged = true, .unlimited = true
    };
    json_auto_t *args = json_pack("[O]", list);
    py_t *words = py_from_json(args), *nothing = py_dict();
    py_t *said = userfile_call(ctx, &what, words, nothing, NULL, err);
    json_t *value = said != NULL ? py_to_json(said) : NULL;
    py_unref(words);
    py_unref(nothing);
    py_unref(said);
    return value;
}

/* Validates once, and looks. NEW {events, error?, invalid?}. */
static json_t *
python_look(call_ctx_t *ctx, json_t *asked)
{
    fail_auto_t err = FAIL_INIT, why = FAIL_INIT;
    const char *name = value_str(asked, "name", ""), *module = value_str(asked, "module", "");
    json_t *list = value_get(asked, "list");
    if (value_bool(asked, "close", false)) {
        json_decref(python_call(ctx, module, "close", list, &err));
        return json_pack("{s:[]}", "events");
    }
    if (!value_bool(asked, "validated", false)) {
        json_auto_t *valid = python_call(ctx, module, "validate", list, &why);
        if (valid == NULL && why.kind != FAIL_UNAVAILABLE)
            return json_pack("{s:[], s:s}", "events", "error", fail_text(&why));
        if (valid == NULL)
            log_warning("No validate function found for %s, running basic beacon validation.", name);
        else if (!value_truthy(json_array_get(valid, 0))) {
            AUTO_FREE char *text = value_pystr(json_array_get(valid, 1));
            return json_pack("{s:[], s:s}", "events", "invalid", text);
        }
    }
    json_auto_t *found = python_call(ctx, module, "beacon", list, &err);
    if (found == NULL && err.kind == FAIL_UNAVAILABLE && *fail_text(&err) == '\0')
        return json_pack("{s:[], s:o}", "events", "error", value_fmt("there is no beacon %s", module));
    if (found == NULL)
        return json_pack("{s:[], s:s}", "events", "error", fail_text(&err));
    return json_pack("{s:o}", "events", json_is_array(found) ? json_incref(found) : json_array());
}

void
beacon_run_python(call_ctx_t *ctx)
{
    json_t *did = NULL;
    for (;;) {
        fail_auto_t err = FAIL_INIT;
        json_auto_t *request = json_pack("{s:s, s:o*}", "op", "beacon_next", "did", did), *asked = NULL;
        if (ctx_host(ctx, request, &asked, &err) < 0 || !json_is_object(asked))
            return;
        did = python_look(ctx, asked);
    }
}
