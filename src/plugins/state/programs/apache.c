/* apache.c - state module `apache`: a file of Apache's configuration, made of data. */
#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/call/subcall.h"
#include "plugins/lib/file/partfile.h"
#include "salt/state.h"

/* True when both are the same but for white space at the ends. */
static bool
same_trimmed(const char *a, const char *b)
{
    AUTO_FREE char *left = xstrdup(a), *right = xstrdup(b);

    return strcmp(str_trim(left), str_trim(right)) == 0;
}

/* Salt's text has no newline at its end; the file gets one. */
static int
apache_configfile(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *path = value_str(args, "name", "");
    json_t *ret = *ret_value = state_ret_args(args);
    json_auto_t *text = sub_call_text(ctx, err, "apache.config", "{s:s, s:O, s:b}", "name", path, "config",
                                      value_get(args, "config"), "edit", 0);
    buf_auto_t before = BUF_INIT, after = BUF_INIT;

    if (text == NULL || fs_read_any(path, LIMIT_FILE_READ, &before, err) < 0)
        return err->code;
    if (same_trimmed(json_string_value(text), buf_str(&before)))
        return state_ret_set(ret, STATE_TRUE, "Configuration is up to date.");
    buf_printf(&after, "%s\n", json_string_value(text));
    if (!ctx_test(ctx) && partfile_put(path, after.data, after.len, 0644, err) < 0) {
        fail_clear(err);
        return state_ret_set(ret, STATE_FALSE, "Failed to create apache configuration.");
    }
    state_change(ret, "old", value_utf8(buf_str(&before), before.len));
    state_change(ret, "new", json_incref(text));
    return ctx_test(ctx) ? state_ret_set(ret, STATE_NONE, "Configuration will update.")
                         : state_ret_set(ret, STATE_TRUE, "Successfully created configuration.");
}

static const char *
state_apache_unavailable(call_ctx_t *ctx)
{
    return ctx_has(ctx, "apache.config") ? NULL : "apache module could not be loaded";
}

static const arg_t configfile_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "The file"),
    ARG("config", ARG_LIST, ARG_REQUIRED, "Directives and sections, as apache.config takes them"), ARGS_END
};

static const func_t funcs[] = {
    { "configfile", apache_configfile, configfile_args, 0, "Ensure that a file has this configuration." },
};

PLUGIN(state, apache, .doc = "Apache's configuration", FUNCS(funcs), .unavailable = state_apache_unavailable);
