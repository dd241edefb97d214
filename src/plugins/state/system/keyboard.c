/* keyboard.c - states keyboard.system and keyboard.xorg: rows of one function over the module `keyboard`,
 * which asks localectl or the distribution's files. A change is told before it is made, and taken back when
 * it fails. */
#include "common/base/str.h"
#include "plugins/lib/call/subcall.h"
#include "salt/state.h"

/* What differs between the rows. */
typedef struct keyboard_row {
    const char *get, *set, *what, *layout;
} keyboard_row_t;

static const keyboard_row_t console = { "keyboard.get_sys", "keyboard.set_sys", "System", "system" };
static const keyboard_row_t xorg = { "keyboard.get_x", "keyboard.set_x", "XOrg", "XOrg" };

/* Both states are this function; its row says which layout it is about. */
static int
keyboard_layout(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const keyboard_row_t *row = ctx_row(ctx)->data.ptr;
    const char *name = value_str(args, "name", "");
    json_t *ret = *ret_value = state_ret_args(args);
    json_auto_t *now = sub_call(ctx, err, row->get, NULL);

    if (now == NULL)
        return err->code;
    if (str_eq(json_string_value(now), name))
        return state_ret_set(ret, STATE_TRUE, "%s layout %s already set", row->what, name);
    state_change(ret, "layout", json_string(name));
    if (ctx_test(ctx))
        return state_ret_set(ret, STATE_NONE, "%s layout %s needs to be set", row->what, name);
    int done = sub_call_bool(ctx, err, row->set, "{s:s}", "layout", name);
    if (done > 0)
        return state_ret_set(ret, STATE_TRUE, "Set %s keyboard layout %s", row->layout, name);
    state_change_set(ret, json_object());
    return done < 0 ? done : state_ret_set(ret, STATE_FALSE, "Failed to set %s keyboard layout", row->layout);
}

static const char *
state_keyboard_unavailable(call_ctx_t *ctx)
{
    return ctx_has(ctx, "keyboard.get_sys") ? NULL : "keyboard module could not be loaded";
}

static const arg_t name_args[] = { ARG("name", ARG_STR, ARG_REQUIRED, "The layout: dvorak"), ARGS_END };

static const func_t funcs[] = {
    { "system", keyboard_layout, name_args, 0, "Ensure that the console has a keyboard layout.",
      .data.ptr = &console },
    { "xorg", keyboard_layout, name_args, 0, "Ensure that X has a keyboard layout.", .data.ptr = &xorg },
};

PLUGIN(state, keyboard, .doc = "Keyboard layouts", FUNCS(funcs), .unavailable = state_keyboard_unavailable);
