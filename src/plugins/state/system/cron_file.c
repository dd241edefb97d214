/* cron_file.c - state cron.file: a user's whole crontab from a file. The file is staged and compared as
 * file.managed does, on a copy that the minion owns, and then installed by crontab. */
#include <unistd.h>

#include "common/base/str.h"
#include "plugins/lib/file/content.h"
#include "plugins/lib/file/manage.h"
#include "plugins/lib/system/crontab.h"
#include "plugins/lib/call/subcall.h"
#include "salt/state.h"

/* The group of the user's files. NEW, or NULL. */
static char *
cron_file_group_of(call_ctx_t *ctx, const json_t *user)
{
    fail_auto_t why = FAIL_INIT;
    json_auto_t *info = sub_call(ctx, &why, "user.info", "{s:O}", "name", user);
    const char *group = json_string_value(json_array_get(value_get(info, "groups"), 0));

    return group != NULL ? xstrdup(group) : NULL;
}

/* Test mode: result and comment of file's own check, and what it would change. Nothing is fetched into
 * place. */
static int
tell_only(call_ctx_t *ctx, json_t *call, json_t *ret, fail_t *err)
{
    json_auto_t *said = NULL;
    json_t *changes = NULL;
    int rc = file_check_managed(ctx, call, &said, err);

    if (rc != 0)
        return rc;
    json_object_set(ret, "result", json_array_get(said, 0));
    state_ret_comment(ret, json_incref(json_array_get(said, 1)));
    if (!json_is_null(json_array_get(said, 0)))
        return 0;
    rc = file_check_managed_changes(ctx, call, &changes, err);
    if (rc == 0)
        state_change_set(ret, changes);
    return rc;
}

/* The crontab is its user's once it is installed: told where the copy, which is ours, has another owner. */
static int
tell_owner(call_ctx_t *ctx, const json_t *call, json_t *ret, fail_t *err)
{
    json_auto_t *info = sub_call(ctx, err, "user.info", "{s:O}", "name", value_get(call, "user"));

    if (info == NULL)
        return err->code;
    if (value_int(info, "uid", 0) != (json_int_t) geteuid())
        state_change(ret, "user", json_incref(value_get(call, "user")));
    if (value_int(info, "gid", 0) != (json_int_t) getegid())
        state_change(ret, "group", json_incref(value_get(call, "group")));
    return 0;
}

/* The temporary copy of the crontab becomes the new one. */
static int
update_copy(call_ctx_t *ctx, json_t *call, json_t *ret, fail_t *err)
{
    managed_auto_t m = MANAGED_INIT;
    AUTO_FREE char *source = NULL;
    json_auto_t *hash = NULL;
    fail_auto_t why = FAIL_INIT;
    int rc = source_pick(ctx, value_get(call, "source"), value_get(call, "source_hash"),
                         value_str(call, "saltenv", "base"), &source, &hash, err);

    if (rc != 0)
        return rc;
    json_object_set_new(call, "source", source != NULL ? json_string(source) : json_null());
    json_object_set(call, "source_hash", hash);
    rc = managed_get(ctx, call, &m, &why);
    if (rc == 0 && m.comment != NULL)
        return state_ret_set(ret, STATE_FALSE, "%s", m.comment);
    if (rc == 0) {
        /* The copy belongs to the minion's user: another owner could replace it before it is installed. */
        json_auto_t *args = json_copy((json_t *) call);
        json_object_del(args, "user");
        json_object_del(args, "group");
        rc = manage_file(ctx, args, &m, ret, &why);
    }
    if (rc == 0)
        return 0;
    state_change_set(ret, json_object());
    return state_ret_set(ret, STATE_FALSE, "Unable to manage file: %s", fail_text(&why));
}

/* Updates the copy, and installs it when it differs. A crontab that is as wanted has no changes, whatever
 * modes and owners the copy needed. */
static int
cron_file_replace(call_ctx_t *ctx, json_t *call, const char *path, json_t *ret, fail_t *err)
{
    const char *user = value_str(call, "user", "");
    int rc = update_copy(ctx, call, ret, err);

    if (rc != 0)
        return rc;
    if (value_get(value_get(ret, "changes"), "diff") != NULL) {
        /* Installs the crontab and tells its difference. */
        json_auto_t *said = sub_call(ctx, err, "cron.write_cron_file_verbose", "{s:s, s:s}", "user", user,
                                     "path", path);
        if (said == NULL)
            return err->code;
        if (value_int(said, "retcode", 1) == 0)
            return tell_owner(ctx, call, ret, err) < 0
                       ? err->code
                       : state_ret_set(ret, STATE_TRUE, "Crontab for user %s was updated", user);
        state_change_set(ret, json_object());
        return state_ret_set(ret, STATE_FALSE, "Unable to update user %s crontab %s. Error: %s", user, path,
                             value_str(said, "stderr", ""));
    }
    if (!value_truthy(value_get(ret, "result")))
        return 0;
    state_change_set(ret, json_object());
    return state_ret_set(ret, STATE_TRUE, "Crontab for user %s is in the correct state", user);
}

/* A crontab is made as a file in a temporary place by the machinery of file.managed, and then given to
 * crontab. */
static int
cron_file(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *user = value_str(args, "user", "");
    AUTO_FREE char *group = cron_file_group_of(ctx, value_get(args, "user"));
    json_t *ret = *ret_value = state_ret_args(args);

    if (group == NULL)
        return state_ret_set(ret, STATE_FALSE, "Could not identify group for user %s", user);
    AUTO_FREE char *now = crontab_read(user, false, err);
    if (now == NULL)
        return err->code;
    if (!value_truthy(value_get(args, "replace")) && *now != '\0')
        return state_ret_set(ret, STATE_TRUE, "User %s already has a crontab. No changes made", user);
    /* crontab refuses a last line without its end. */
    AUTO_FREE char *text = xasprintf("%s%s", now, str_ends(now, "\n") ? "" : "\n");
    AUTO_FREE char *path = content_temp(NULL, NULL, text, strlen(text), err);
    if (path == NULL)
        return err->code;

    /* Arguments of file's functions that make the crontab at `path` what `name` says. */
    json_auto_t *call = json_copy((json_t *) args);
    json_object_set(call, "source", value_get(args, "name"));
    json_object_set_new(call, "name", json_string(path));
    json_object_set_new(call, "group", json_string(group));
    json_object_set_new(call, "mode", json_string("0600"));
    json_object_set_new(call, "attrs", json_string(""));
    json_object_set_new(call, "saltenv", json_string(ctx_saltenv(ctx)));
    json_object_set_new(call, "show_changes", json_true());

    int rc = ctx_test(ctx) ? tell_only(ctx, call, ret, err) : cron_file_replace(ctx, call, path, ret, err);
    unlink(path);
    return rc;
}

/* ---- table ----------------------------------------------------------------------------------- */

static const arg_t file_arguments[] = {
    ARG("name", ARG_ANY, ARG_REQUIRED, "Where the crontab comes from: salt://..., a URL, a path, or a list"),
    ARG("source_hash", ARG_ANY, "\"\"", "Digest of a source from outside, or where it is written"),
    ARG("source_hash_name", ARG_STR, "null", "The source's name in a file of digests"),
    ARG("user", ARG_STR, "\"root\"", "Whose crontab"),
    ARG("template", ARG_STR, "null", "jinja or py: the file is a template"),
    ARG("context", ARG_ANY, "null", "Variables of the template"),
    ARG("replace", ARG_ANY, "true", "False: leave a user's crontab alone when there is one"),
    ARG("defaults", ARG_ANY, "null", "Variables that `context` does not have"),
    ARG("backup", ARG_ANY, "\"\"", "Accepted: crontab itself keeps no copy"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "More variables of the template", "*"),
    ARGS_END,
};

static const func_t funcs[] = {
    { "file", cron_file, file_arguments, 0, "Ensure that a user's crontab is what a file says." },
};

PLUGIN(state, cron_file, .provides = "cron", .doc = "Crontabs of users", FUNCS(funcs));
