/* postgres_tablespace.c - state module `postgres_tablespace`: tablespaces with owner and options. The folder
 * can't be changed: another one fails the state. Two comments have the line breaks and blanks of Salt's
 * source in them. */
#include "common/base/str.h"
#include "plugins/lib/database/dbabsent.h"
#include "plugins/lib/database/pgconn.h"
#include "plugins/lib/database/pgrows.h"

/* The wanted options that the server does not show as such. `shown` is the array of pg_tablespace,
 * "{random_page_cost=1.1,seq_page_cost=1}". NEW dict. */
static json_t *
other_options(json_t *options, const char *shown)
{
    json_auto_t *have = json_object();
    json_t *changed = json_object(), *v;
    const char *key;
    AUTO_FREE char *text = xstrndup(shown + (*shown == '{'), strcspn(shown + (*shown == '{'), "}"));
    char **parts = str_split(text, ",", true);

    for (size_t i = 0; parts[i] != NULL; i++) {
        char *equal = strchr(parts[i], '=');
        if (equal == NULL)
            continue;
        *equal = '\0';
        json_object_set_new(have, parts[i], json_string(equal + 1));
    }
    strv_free(parts);
    json_object_foreach (options, key, v) {
        AUTO_FREE char *want = value_pystr(v);
        if (strcmp(value_str(have, key, ""), want) != 0)
            json_object_set(changed, key, v);
    }
    return changed;
}

/* Owner and options alone can be changed. The comments have line breaks and blanks in them, as Salt's
 * have. */
static int
alter(dbstate_t *s, const char *name, const json_t *space)
{
    const char *owner = value_str(s->args, "owner", "");
    bool new_owner = *owner != '\0' && strcmp(owner, value_str(space, "Owner", "")) != 0,
         test = ctx_test(s->ctx);
    json_auto_t *options = other_options(value_get(s->args, "options"), value_str(space, "Opts", ""));
    json_t *changes = json_object();

    if (new_owner)
        json_object_set_new(changes, "owner", json_string(owner));
    if (json_object_size(options) > 0)
        json_object_set(changes, "options", options);
    if (json_object_size(changes) == 0) {
        json_decref(changes);
        return state_ret_set(s->ret, STATE_TRUE, "Tablespace %s is already present", name);
    }
    int done = test ? 1
                    : dbstate_ask(s, "postgres.tablespace_alter", "{s:s, s:s*, s:O}", "name", name,
                                  "new_owner", new_owner ? owner : NULL, "set_option", options);
    if (done <= 0) {
        json_decref(changes);
        return done < 0 ? done : state_ret_set(s->ret, STATE_FALSE, "Failed to alter tablespace %s", name);
    }
    state_change(s->ret, name, changes);
    if (test)
        return json_object_size(options) > 0
                   ? state_ret_set(s->ret, STATE_NONE,
                                   "Tablespace %s options to be\n                        altered", name)
                   : state_ret_set(s->ret, STATE_NONE, "Tablespace %s owner to be altered", name);
    return state_ret_set(s->ret, STATE_TRUE, "Tablespace %s %s changed", name,
                         json_object_size(options) > 0 ? "opts" : "owner");
}

/* A tablespace stays where it was made. */
static int
postgres_tablespace_present_in(dbstate_t *s)
{
    const char *name = value_str(s->args, "name", "");
    json_auto_t *all = dbstate_call(s, "postgres.tablespace_list", "{}");
    json_t *space = value_get(all, name);

    if (all == NULL)
        return s->err->code;
    if (space == NULL) {
        /* Owner and options go with the command that makes it. */
        if (!ctx_test(s->ctx)) {
            int done = dbstate_ask(s, "postgres.tablespace_create", "{s:s, s:O, s:O, s:O}", "name", name,
                                   "location", value_get(s->args, "directory"), "options",
                                   value_get(s->args, "options"), "owner", value_get(s->args, "owner"));
            if (done < 0)
                return done;
            if (done == 0)
                return state_ret_set(s->ret, STATE_FALSE, "Failed to create tablespace %s", name);
        }
        state_change(s->ret, name, json_string("Present"));
        return ctx_test(s->ctx)
                   ? state_ret_set(s->ret, STATE_NONE, "Tablespace %s is set to be created", name)
                   : state_ret_set(s->ret, STATE_TRUE, "The tablespace %s has been created", name);
    }
    if (strcmp(value_str(space, "Location", ""), value_str(s->args, "directory", "")) != 0)
        return state_ret_set(
            s->ret, STATE_FALSE,
            "Tablespace %s is not at the right location. This is\n            unfixable without "
            "dropping and recreating the tablespace.",
            name);
    return alter(s, name, space);
}

static int
postgres_tablespace_state_present(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    dbstate_t s;

    dbstate_postgres(&s, ctx, args, *ret_value = state_ret_args(args), err);
    int rc = postgres_tablespace_present_in(&s);
    return dbstate_end(&s, rc);
}

static int
postgres_tablespace_state_absent(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const dbabsent_t texts = { .exists = "postgres.tablespace_exists",
                                      .remove = "postgres.tablespace_remove",
                                      .what = "Tablespace",
                                      .set = "is set to be removed",
                                      .gone = "has been removed",
                                      .missing = "is not present, so it cannot be removed",
                                      .stays = "failed to be removed" };
    dbstate_t s;

    dbstate_postgres(&s, ctx, args, *ret_value = state_ret_args(args), err);
    int rc = dbabsent_run(&s, &texts, NULL);
    return dbstate_end(&s, rc);
}

static const arg_t present_args[] = { PG_ROW_NAME("tablespace"),
                                      ARG("directory", ARG_STR, ARG_REQUIRED, "Its folder"),
                                      ARG("options", ARG_DICT, "null", "Its options"),
                                      ARG("owner", ARG_STR, "null", "Role that owns it"),
                                      PG_ROWS_STATE,
                                      ARGS_END };
static const arg_t absent_args[] = { PG_ROW_NAME("tablespace"), PG_ROWS_STATE, ARGS_END };

static const func_t funcs[] = {
    { "absent", postgres_tablespace_state_absent, absent_args, 0, "The tablespace is not there." },
    { "present", postgres_tablespace_state_present, present_args, 0,
      "The tablespace is there, with this owner and these options." },
};

PLUGIN(state, postgres_tablespace, .doc = "Tablespaces of PostgreSQL", FUNCS(funcs),
       .unavailable = pg_states_missing);
