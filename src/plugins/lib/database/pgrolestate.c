/* pgrolestate.c - see pgrolestate.h. */
#include "plugins/lib/database/pgrolestate.h"

#include "common/base/str.h"
#include "plugins/lib/database/dbabsent.h"
#include "plugins/lib/database/pgroles.h"

typedef struct role {
    dbstate_t s;
    const char *name, *kind, *title; /* "user", "User" */
    json_t *now;                     /* owned: as it is; null: it is not there */
    json_t *password;                /* owned: to be set; null: it stays */
    const char *mode;                /* "create" or "update" */
} role_t;

/* What the password has to become: 0 or negative with *err. */
static int
want_password(role_t *r)
{
    json_t *args = r->s.args, *given = value_get(args, "password");
    const char *method = pg_method(value_get(args, "encrypted"), r->s.err);
    bool create = json_is_null(r->now), refresh = value_truthy(value_get(args, "refresh_password"));

    r->password = json_null();
    if (method == NULL)
        return r->s.err->code;
    if (create && (given == NULL || json_is_null(given)))
        given = value_get(args, "default_password");
    if (given == NULL || json_is_null(given))
        return 0;
    AUTO_FREE char *text = value_pystr(given);
    if (!create && !refresh && pgtext_verifies(r->name, text, value_str(r->now, "password", ""), method))
        return 0;
    AUTO_FREE char *kept = pgtext_password(r->name, text, method, r->s.err);
    if (kept == NULL)
        return r->s.err->code;
    r->password = json_string(kept);
    return 0;
}

/* The end of the password, as the server understands it, differs: 1, 0, or negative with *err. */
static int
other_end(role_t *r, const char *until)
{
    AUTO_FREE char *query = pgtext_sql("SELECT ?::timestamp(0) as dt", until);
    json_auto_t *rows = dbstate_call(&r->s, "postgres.psql_query", "{s:s}", "query", query);

    if (rows == NULL)
        return r->s.err->code;
    json_auto_t *want = pg_time(value_str(json_array_get(rows, 0), "dt", ""));
    return !json_equal(want, value_get(r->now, "expiry time"));
}

/* The groups that the role is not a member of. NEW list. */
static json_t *
missing_groups(const role_t *r)
{
    json_t *groups = value_get(r->s.args, "groups"), *missing = json_array();
    AUTO_FREE char *text = value_truthy(groups) ? value_joined(groups, ",") : xstrdup("");
    char **names = str_split(text, ",", true);

    for (size_t i = 0; names[i] != NULL; i++) {
        const char *group = str_trim(names[i]);
        if (!value_lists(value_get(r->now, "groups"), group))
            json_array_append_new(missing, json_string(group));
    }
    strv_free(names);
    return missing;
}

/* What an update changes: NEW dict, or NULL with *err. */
static json_t *
role_changes(role_t *r)
{
    static const char *const flags[][2] = {
        { "createdb", "can create databases" },
        { "inherit", "inherits privileges" },
        { "login", "can login" },
        { "createroles", "can create roles" },
        { "replication", "replication" },
        { "superuser", "superuser" },
    };
    const char *until = value_str(r->s.args, "valid_until", NULL);
    json_t *update = json_object();

    for (size_t i = 0; i < NELEMS(flags); i++) {
        json_t *want = value_get(r->s.args, flags[i][0]);
        if (want != NULL && !json_is_null(want) && !json_equal(want, value_get(r->now, flags[i][1])))
            json_object_set(update, flags[i][0], want);
    }
    if (!json_is_null(r->password))
        json_object_set_new(update, "password", json_true());
    int differs = until != NULL ? other_end(r, until) : 0;
    if (differs > 0)
        json_object_set_new(update, "valid_until", json_string(until));
    json_auto_t *groups = missing_groups(r);
    if (json_array_size(groups) > 0)
        json_object_set(update, "groups", groups);
    if (differs >= 0)
        return update;
    json_decref(update);
    return NULL;
}

/* user_create, user_update, group_create or group_update: 1, 0, or negative. */
static int
role_apply(role_t *r)
{
    static const char *const names[] = { "createdb", "createroles", "encrypted",   "superuser", "login",
                                         "inherit",  "replication", "valid_until", "groups" };
    AUTO_FREE char *fun = xasprintf("postgres.%s_%s", r->kind, r->mode);
    bool user = strcmp(r->kind, "user") == 0;
    json_auto_t *call = json_pack("{s:s, s:O}", user ? "username" : "groupname", r->name, "rolepassword",
                                  r->password);

    for (size_t i = 0; i < NELEMS(names); i++) {
        if (value_get(r->s.args, names[i]) != NULL)
            json_object_set(call, names[i], value_get(r->s.args, names[i]));
    }
    return dbstate_ask_with(&r->s, fun, call);
}

static int
pgrole_present_in(role_t *r)
{
    dbstate_t *s = &r->s;

    r->now = dbstate_call(s, "postgres.role_get", "{s:s, s:b}", "name", r->name, "return_password",
                          !value_truthy(value_get(s->args, "refresh_password")));
    if (r->now == NULL || want_password(r) < 0)
        return s->err->code;
    bool create = json_is_null(r->now);
    r->mode = create ? "create" : "update";
    json_auto_t *update = create ? json_object() : role_changes(r);
    if (update == NULL)
        return s->err->code;
    if (!create && json_object_size(update) == 0)
        return state_ret_set(s->ret, STATE_TRUE, "%s %s is already present", r->title, r->name);
    if (!ctx_test(s->ctx)) {
        int done = role_apply(r);
        if (done < 0)
            return done;
        if (done == 0)
            return state_ret_set(s->ret, STATE_FALSE, "Failed to %s %s %s", r->mode, r->kind, r->name);
    }
    state_change(s->ret, r->name, create ? json_string("Present") : json_incref(update));
    return ctx_test(s->ctx)
               ? state_ret_set(s->ret, STATE_NONE, "%s %s is set to be %sd", r->title, r->name, r->mode)
               : state_ret_set(s->ret, STATE_TRUE, "The %s %s has been %sd", r->kind, r->name, r->mode);
}

int
pgrole_present(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *kind = ctx_row(ctx)->data.text;
    role_t r = { .name = value_str(args, "name", ""),
                 .kind = kind,
                 .title = strcmp(kind, "user") == 0 ? "User" : "Group" };

    dbstate_postgres(&r.s, ctx, args, *ret_value = state_ret_args(args), err);
    int rc = pgrole_present_in(&r);
    json_decref(r.now);
    json_decref(r.password);
    return dbstate_end(&r.s, rc);
}

int
pgrole_absent(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    bool user = strcmp(ctx_row(ctx)->data.text, "user") == 0;
    const dbabsent_t texts = { .exists = "postgres.user_exists",
                               .remove = user ? "postgres.user_remove" : "postgres.group_remove",
                               .key = user ? "username" : "groupname",
                               .what = user ? "User" : "Group",
                               .set = "is set to be removed",
                               .gone = "has been removed",
                               .missing = "is not present, so it cannot be removed",
                               .stays = "failed to be removed" };
    dbstate_t s;

    dbstate_postgres(&s, ctx, args, *ret_value = state_ret_args(args), err);
    int rc = dbabsent_run(&s, &texts, NULL);
    return dbstate_end(&s, rc);
}
