/* rabbitmq_user.c - state module `rabbitmq_user`: users of a RabbitMQ broker. */
#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/call/subcall.h"
#include "salt/state.h"

/* A command's failure as the state's own. */
static int
user_failed(json_t *ret, fail_t *err)
{
    if (err->kind != FAIL_COMMAND)
        return err->code;
    AUTO_FREE char *why = xstrdup(fail_text(err));
    fail_clear(err);
    return state_ret_set(ret, STATE_FALSE, "Error: %s", why);
}

/* Permissions are a list of {VHOST: [CONFIGURE, WRITE, READ]}. */
static bool
are_permissions(const json_t *perms)
{
    json_t *one, *perm;
    const char *vhost;
    size_t i;

    json_array_foreach (perms, i, one) {
        if (!json_is_object(one))
            return false;
        json_object_foreach (one, vhost, perm) {
            if (json_array_size(perm) != 3)
                return false;
        }
    }
    return true;
}

/* Sets the permissions that the broker has not, or has otherwise. A user who is yet to be made in test mode has
 * none. 0 or negative with *err. */
static int
set_permissions(call_ctx_t *ctx, const json_t *args, json_t *changes, bool there, fail_t *err)
{
    json_t *perms = value_get(args, "perms"), *one, *perm, *user = value_get(args, "name");
    const char *vhost;
    size_t i;

    if (!value_truthy(perms))
        return 0;
    json_auto_t *existing = !there && ctx_test(ctx)
                                ? json_object()
                                : sub_call(ctx, err, "rabbitmq.list_user_permissions", "{s:O, s:O}", "name",
                                           user, "runas", value_get(args, "runas"));
    if (existing == NULL)
        return err->code;
    json_array_foreach (perms, i, one) {
        json_object_foreach (one, vhost, perm) {
            /* As the broker lists it. */
            json_auto_t *now = json_pack("{s:O, s:O, s:O}", "configure", json_array_get(perm, 0), "write",
                                         json_array_get(perm, 1), "read", json_array_get(perm, 2));
            json_t *had = value_get(existing, vhost), *told = value_get(changes, "perms");
            if (value_equal(had, now))
                continue;

            /* Salt tells a new permission alone, in place of all before it; of another one the old side has
             * what the host had, without its name. */
            if (had == NULL || told == NULL) {
                told = json_pack("{s:{}}", "new");
                json_object_set_new(changes, "perms", told);
            }
            json_object_set(value_get(told, "new"), vhost, now);
            if (had != NULL && value_get(told, "old") == NULL)
                json_object_set_new(told, "old", json_object());
            if (had != NULL)
                json_object_update(value_get(told, "old"), had);

            json_auto_t *done = ctx_test(ctx)
                                    ? json_true()
                                    : sub_call(ctx, err, "rabbitmq.set_permissions",
                                               "{s:s, s:O, s:O, s:O, s:O, s:O}", "vhost", vhost, "user", user,
                                               "conf", json_array_get(perm, 0), "write",
                                               json_array_get(perm, 1), "read", json_array_get(perm, 2),
                                               "runas", value_get(args, "runas"));
            if (done == NULL)
                return err->code;
        }
    }
    return 0;
}

/* True when one of the lists has what the other has not; an empty text is no tag. */
static bool
tags_differ(const json_t *a, const json_t *b)
{
    const json_t *lists[] = { a, b };
    json_t *one;
    size_t i;

    for (size_t k = 0; k < NELEMS(lists); k++) {
        json_array_foreach (lists[k], i, one) {
            if (!value_has(lists[1 - k], one) && !str_empty(json_string_value(one)))
                return true;
        }
    }
    return false;
}

/* Tags come as a list or as words. Without any the user's are taken away; one that is new has [""] before, as
 * the broker lists it. */
static int
set_tags(call_ctx_t *ctx, const json_t *args, json_t *changes, bool there, fail_t *err)
{
    json_t *given = value_get(args, "tags"), *name = value_get(args, "name");
    json_auto_t *tags = json_is_array(given) ? json_copy(given) : json_array();
    json_auto_t *users = there || !ctx_test(ctx) ? sub_call(ctx, err, "rabbitmq.list_users", "{s:O}", "runas",
                                                            value_get(args, "runas"))
                                                 : json_object();

    if (users == NULL)
        return err->code;
    char **words = json_is_string(given) ? str_split(json_string_value(given), " \t\n", true) : NULL;
    for (size_t i = 0; words != NULL && words[i] != NULL; i++)
        json_array_append_new(tags, json_string(words[i]));
    strv_free(words);
    json_t *had = value_get(users, json_string_value(name));
    json_auto_t *none = json_pack("[s]", "");
    if (!tags_differ(tags, had != NULL ? had : none))
        return 0;
    json_object_set_new(changes, "tags",
                        json_pack("{s:O, s:O}", "old", had != NULL ? had : none, "new", tags));
    json_auto_t *done = ctx_test(ctx)
                            ? json_true()
                            : sub_call(ctx, err, "rabbitmq.set_user_tags", "{s:O, s:O, s:O}", "name", name,
                                       "tags", tags, "runas", value_get(args, "runas"));
    return done != NULL ? 0 : err->code;
}

/* Adds the user, or sets or clears the password of one that is there. */
static int
set_user(call_ctx_t *ctx, const json_t *args, json_t *changes, bool there, bool again, fail_t *err)
{
    json_t *password = value_get(args, "password");
    bool none = json_is_null(password);

    if (there && !again)
        return 0;
    if (!there)
        json_object_set_new(changes, "user",
                            json_pack("{s:s, s:O}", "old", "", "new", value_get(args, "name")));
    else
        json_object_set_new(changes, "password",
                            none ? json_pack("{s:s, s:s}", "old", "Removed password.", "new", "")
                                 : json_pack("{s:s, s:s}", "old", "", "new", "Set password."));
    if (ctx_test(ctx))
        return 0;
    const char *fun = !there ? "rabbitmq.add_user"
                      : none ? "rabbitmq.clear_password"
                             : "rabbitmq.change_password";
    json_auto_t *done = sub_call(ctx, err, fun, "{s:O, s:O*, s:O}", "name", value_get(args, "name"),
                                 "password", none ? NULL : password, "runas", value_get(args, "runas"));
    return done != NULL ? 0 : err->code;
}

/* User and password, then tags, then permissions, since the broker has tags and permissions only of users it
 * knows. `force` sets the password even if the broker takes it as right. */
static int
rabbitmq_user_present(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = *ret_value = state_ret_args(args), *password = value_get(args, "password");
    const char *name = value_str(args, "name", "");
    bool force = value_truthy(value_get(args, "force")), again = force;
    json_auto_t *changes = json_object();

    if (!are_permissions(value_get(args, "perms")))
        return state_ret_set(
            ret, STATE_FALSE,
            "perms: a list of virtual hosts, each with three regular expressions: [{/: [conf, write, "
            "read]}]");
    int there = sub_call_bool(ctx, err, "rabbitmq.user_exists", "{s:s, s:O}", "name", name, "runas",
                              value_get(args, "runas"));
    if (there < 0)
        return user_failed(ret, err);
    /* The broker keeps a hash, so it is asked to try the password. */
    if (there > 0 && !json_is_null(password)) {
        int same = sub_call_bool(ctx, err, "rabbitmq.check_password", "{s:s, s:O, s:O}", "name", name,
                                 "password", password, "runas", value_get(args, "runas"));
        if (same < 0)
            return user_failed(ret, err);
        again = again || same == 0;
    }
    if (there > 0 && !again && !value_truthy(value_get(args, "perms")) &&
        !value_truthy(value_get(args, "tags")))
        return state_ret_set(ret, STATE_TRUE, "User '%s' is already present.", name);
    int rc = set_user(ctx, args, changes, there > 0, again, err);
    if (rc == 0 && !json_is_null(value_get(args, "tags")))
        rc = set_tags(ctx, args, changes, there > 0, err);
    rc = rc == 0 ? set_permissions(ctx, args, changes, there > 0, err) : rc;
    state_change_set(ret, json_incref(changes));
    if (rc != 0)
        return user_failed(ret, err);
    if (json_object_size(changes) == 0)
        return state_ret_set(ret, STATE_TRUE, "'%s' is already in the desired state.", name);
    if (ctx_test(ctx) && there == 0)
        return state_ret_set(ret, STATE_NONE, "User '%s' is set to be created.", name);
    if (ctx_test(ctx))
        return state_ret_set(ret, STATE_NONE, "Configuration for '%s' will change.", name);
    return state_ret_set(ret, STATE_TRUE, "'%s' was configured.", name);
}

/* A refusal takes the change back, which test mode tells as well. */
static int
rabbitmq_user_absent(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = *ret_value = state_ret_args(args), *runas = value_get(args, "runas");
    const char *name = value_str(args, "name", "");
    int there = sub_call_bool(ctx, err, "rabbitmq.user_exists", "{s:s, s:O}", "name", name, "runas", runas);

    if (there < 0)
        return user_failed(ret, err);
    if (there == 0)
        return state_ret_set(ret, STATE_TRUE, "The user '%s' is not present.", name);
    state_change_from(ret, "name", json_string(name), json_string(""));
    if (ctx_test(ctx))
        return state_ret_set(ret, STATE_NONE, "The user '%s' will be removed.", name);
    json_auto_t *done = sub_call(ctx, err, "rabbitmq.delete_user", "{s:s, s:O}", "name", name, "runas",
                                 runas);
    if (done != NULL)
        return state_ret_set(ret, STATE_TRUE, "The user '%s' was removed.", name);
    state_change_set(ret, json_object());
    return user_failed(ret, err);
}

static const char *
state_rabbitmq_user_unavailable(call_ctx_t *ctx)
{
    AUTO_FREE char *path = fs_which("rabbitmqctl");

    return path != NULL ? NULL : "Command not found: rabbitmqctl";
}

#define RABBIT_NAME_ROW  ARG("name", ARG_STR, ARG_REQUIRED, "The user")
#define RABBIT_RUNAS_ROW ARG("runas", ARG_STR, "null", "User to run rabbitmqctl as")

static const arg_t present_args[] = {
    RABBIT_NAME_ROW,
    ARG("password", ARG_ANY, "null", "The password; none: it can't log in by one"),
    ARG("force", ARG_ANY, "false", "Set the password again, or take it away"),
    ARG("tags", ARG_ANY, "null", "Tags: a text with blanks between, or a list"),
    ARG("perms", ARG_LIST, "[]", "Permissions: [{VHOST: [conf, write, read]}]"),
    RABBIT_RUNAS_ROW,
    ARGS_END,
};
static const arg_t absent_args[] = { RABBIT_NAME_ROW, RABBIT_RUNAS_ROW, ARGS_END };

static const func_t funcs[] = {
    { "absent", rabbitmq_user_absent, absent_args, 0, "Ensure that a user is not there." },
    { "present", rabbitmq_user_present, present_args, 0,
      "Ensure that a user is there, with password, tags and permissions." },
};

PLUGIN(state, rabbitmq_user, .doc = "Users of RabbitMQ", FUNCS(funcs),
       .unavailable = state_rabbitmq_user_unavailable);
