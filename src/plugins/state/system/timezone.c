/* timezone.c - state timezone.system: the host's zone, and UTC in the hardware clock. `utc: False` leaves the
 * clock alone. Salt's text for a failed zone has no blank before an empty name. */
#include "common/base/buf.h"
#include "common/base/str.h"
#include "plugins/lib/call/subcall.h"
#include "salt/state.h"

/* Adds a sentence; several stand with commas between. */
static void
also(buf_t *comment, const char *text, const char *value)
{
    buf_printf(comment, "%s%s%s", comment->len > 0 ? ", " : "", text, value);
}

/* A timezone that can't be compared, as one without a file, fails the state; anything else is an error of the
 * function. */
static int
timezone_system(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = value_str(args, "name", "");
    json_t *ret = *ret_value = state_ret_args(args);
    bool utc = value_bool(args, "utc", true);
    json_auto_t *same = sub_call(ctx, err, "timezone.zone_compare", "{s:s}", "timezone", name);

    if (same == NULL && (err->kind == FAIL_COMMAND || err->kind == FAIL_INVOCATION)) {
        (void) state_ret_set(ret, STATE_FALSE,
                             "Unable to compare desired timezone '%s' to system timezone: %s", name,
                             fail_text(err));
        fail_clear(err);
        return 0;
    }
    json_auto_t *clock = same != NULL ? sub_call(ctx, err, "timezone.get_hwclock", NULL) : NULL;
    if (clock == NULL)
        return err->code;
    bool set_clock = utc && str_eq(json_string_value(clock), "localtime");
    if (!json_is_true(same) || set_clock) {
        /* Both changes, made or told. */
        buf_auto_t comment = BUF_INIT;
        bool test = ctx_test(ctx), ok = true;
        if (!json_is_true(same)) {
            json_auto_t *done = test ? json_true()
                                     : sub_call(ctx, err, "timezone.set_zone", "{s:s}", "timezone", name);
            if (done == NULL)
                return err->code;
            ok = json_is_true(done);
            if (ok)
                state_change(ret, "timezone", json_string(name));
            also(&comment,
                 test ? "Timezone "
                 : ok ? "Set timezone "
                      : "Failed to set timezone",
                 ok ? name : "");
            buf_puts(&comment, test ? " needs to be set" : "");
        }
        if (set_clock) {
            int done = test ? 1 : sub_call_bool(ctx, err, "timezone.set_hwclock", "{s:s}", "clock", "UTC");
            if (done < 0)
                return done;
            if (done > 0)
                state_change(ret, "utc", json_incref(value_get(args, "utc")));
            ok = ok && done > 0;
            also(&comment,
                 test       ? "UTC needs to be set to "
                 : done > 0 ? "Set UTC to "
                            : "Failed to set UTC to ",
                 "True");
        }
        return state_ret_set(ret, test ? STATE_NONE : ok ? STATE_TRUE : STATE_FALSE, "%s", buf_str(&comment));
    }
    return state_ret_set(ret, STATE_TRUE,
                         utc ? "Timezone %s already set, UTC already set to %s" : "Timezone %s already set",
                         name, name);
}

static const arg_t system_args[] = { ARG("name", ARG_STR, ARG_REQUIRED, "The zone: Europe/Berlin"),
                                     ARG("utc", ARG_BOOL, "true", "The hardware clock keeps UTC"), ARGS_END };

static const func_t funcs[] = {
    { "system", timezone_system, system_args, 0,
      "Ensure that the host has a zone, and its hardware clock UTC." },
};

PLUGIN(state, timezone, .doc = "The host's time zone", FUNCS(funcs));
