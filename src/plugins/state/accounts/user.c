/* user.c - state module `user`: users of this host, their groups and passwords. The state compares the
 * account (user.info, shadow.info) with the SLS into {attribute: wish}, changes what differs through the
 * modules, and compares again. Password hashes are never shown. */
#include "common/base/buf.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/call/subcall.h"
#include "plugins/lib/system/accounts.h"
#include "salt/state.h"

#define REDACTED "XXX-REDACTED-XXX"

/* ---- what belongs to whom -------------------------------------------------------------------- */

/* Fields of the shadow file: the SLS's name, the file's name, the module's function. A field without a
 * `given` value (see wanted()) stays. */
static const struct aging {
    const char *arg, *key, *fun;
    const char *words; /* "last change date" */
    bool zero;         /* whether 0 is a wish for a new user too */
} agings[] = {
    { "date", "lstchg", "shadow.set_date", "last change date", true },
    { "mindays", "min", "shadow.set_mindays", "minimum days", false },
    { "maxdays", "max", "shadow.set_maxdays", "maximum days", false },
    { "inactdays", "inact", "shadow.set_inactdays", "inactive days", false },
    { "warndays", "warn", "shadow.set_warndays", "warn days", false },
    { "expire", "expire", "shadow.set_expire", "expire days", false },
};

/* Parts of passwd's comment field, with commas between (passwd(5)). None is left alone. */
static const char *const comment_fields[] = { "fullname", "roomnumber", "workphone", "homephone", "other" };

/* True when the SLS names the argument with a value. */
static bool
state_user_given(const json_t *args, const char *name)
{
    json_t *v = value_get(args, name);

    return v != NULL && !json_is_null(v);
}

static bool
wishes(const json_t *args, const char *name)
{
    return value_truthy(value_get(args, name));
}

/* Removes a name from a list of texts, wherever it stands. */
static void
state_user_drop(json_t *list, const char *name)
{
    for (size_t i = json_array_size(list); i-- > 0;) {
        if (str_eq(json_string_value(json_array_get(list, i)), name))
            json_array_remove(list, i);
    }
}

/* NEW: the members of several lists, each once, in order. */
static json_t *
sorted_union(json_t *const *lists, size_t n)
{
    json_auto_t *all = json_array();
    json_t *v, *out = json_array();
    size_t i;

    for (size_t k = 0; k < n; k++) {
        json_array_foreach (lists[k], i, v) {
            if (json_is_string(v) && !value_lists(all, json_string_value(v)))
                json_array_append(all, v);
        }
    }
    size_t count = json_array_size(all);
    AUTO_FREE const char **texts = xcalloc(count + 1, sizeof(*texts));
    json_array_foreach (all, i, v)
        texts[i] = json_string_value(v);
    qsort(texts, count, sizeof(*texts), str_by_text);
    for (i = 0; i < count; i++)
        json_array_append_new(out, json_string(texts[i]));
    return out;
}

/* ---- differences ----------------------------------------------------------------------------- */

/* One call of the state. */
typedef struct user {
    call_ctx_t *ctx;
    json_t *args, *ret; /* BORROWED */
    const char *name;
    json_t *optional; /* owned: those of optional_groups that exist */
    fail_t *err;
} user_t;

static json_t *
state_user_info_of(const user_t *u)
{
    return sub_call(u->ctx, u->err, "user.info", "{s:s}", "name", u->name);
}

/* The user's record of the shadow file. NEW; an empty object where the host has no shadow file. */
static json_t *
shadow_of(const user_t *u)
{
    return ctx_has(u->ctx, "shadow.info") ? sub_call(u->ctx, u->err, "shadow.info", "{s:s}", "name", u->name)
                                          : json_object();
}

/* Number of a group; -1: there is no such group, or it can't be looked up. */
static json_int_t
gid_of(const user_t *u, const char *group)
{
    fail_auto_t why = FAIL_INIT;
    json_auto_t *info = sub_call(u->ctx, &why, "group.info", "{s:s}", "name", group);

    return value_int(info, "gid", -1);
}

/* Gives a group of `have` the name that `wanted` has for its GID: groups of one GID are one group to the
 * kernel, which knows no names. NEW. */
static json_t *
named_as_wanted(const user_t *u, const json_t *have, const json_t *wanted)
{
    json_t *out = json_array(), *h, *w;
    size_t i, k;

    json_array_foreach (have, i, h) {
        json_t *name = h;
        bool known = value_has(wanted, h);
        json_int_t gid = known ? -1 : gid_of(u, json_string_value(h));
        json_array_foreach (known || gid < 0 ? NULL : wanted, k, w) {
            if (gid_of(u, json_string_value(w)) == gid)
                name = w;
        }
        if (!value_has(out, name) && (name == h || !value_has(have, name)))
            json_array_append(out, name);
    }
    return out;
}

/* Primary and own groups are left out on both sides, as they do not appear among the supplementary ones. */
static void
compare_groups(const user_t *u, json_t *info, const char *default_group, const char *old_group,
               json_t *change)
{
    /* An absent `groups` removes the user from no group; an empty list removes the user from all. */
    bool only = value_bool(u->args, "remove_groups", true) &&
                (state_user_given(u->args, "groups") || json_array_size(u->optional) > 0);
    json_t *have = value_get(info, "groups"), *v;
    json_t *lists[] = { value_get(u->args, "groups"), u->optional, only ? NULL : have };
    json_auto_t *wanted = sorted_union(lists, NELEMS(lists));
    bool missing = false;
    size_t i;

    state_user_drop(have, default_group);
    state_user_drop(have, old_group);
    if (!value_lists(wanted, u->name))
        state_user_drop(have, u->name);
    state_user_drop(wanted, default_group);
    json_auto_t *same = named_as_wanted(u, have, wanted);
    json_array_foreach (wanted, i, v)
        missing = missing || !value_lists(same, json_string_value(v));
    if (missing || (only && json_array_size(wanted) != json_array_size(same)))
        json_object_set(change, "groups", wanted);
}

/* enforce_password: False sets a password only where none has been set ("!"). */
static void
compare_password(const user_t *u, const json_t *shadow, json_t *change)
{
    const char *have = value_str(shadow, "passwd", ""), *wish = value_str(u->args, "password", "");
    bool empty = value_bool(u->args, "empty_password", false), locked = *have == '!';
    json_t *lock = value_get(u->args, "password_lock");

    if (*wish != '\0' && !empty &&
        (strcmp(have, "!") == 0 || value_bool(u->args, "enforce_password", true)) && strcmp(have, wish) != 0)
        json_object_set_new(change, "passwd", json_string(wish));
    if (empty && *have != '\0')
        json_object_set_new(change, "empty_password", json_true());
    if (json_is_boolean(lock) && json_is_true(lock) != locked)
        json_object_set(change, "password_lock", lock);
}

/* Name of a group by its number or name, "" for none. NEW. */
static char *
group_name(const user_t *u, json_t *gid)
{
    json_auto_t *name = sub_call(u->ctx, u->err, "file.gid_to_group", "{s:O}", "gid", gid);

    return xstrdup(json_is_string(name) ? json_string_value(name) : "");
}

/* NEW {attribute: wish} of what differs; NULL: no such user (err->code 0), or *err. */
static json_t *
state_user_differences(const user_t *u, json_t *gid)
{
    json_auto_t *info = state_user_info_of(u), *shadow = shadow_of(u);
    json_auto_t *change = json_object();

    if (!value_truthy(info) || shadow == NULL)
        return NULL;
    AUTO_FREE char *old_group = group_name(u, value_get(info, "gid"));
    AUTO_FREE char *new_group = gid != NULL && !json_is_null(gid) ? group_name(u, gid) : xstrdup(old_group);

    /* A group may be given by name or number, and a number as text. */
    json_t *uid = value_get(u->args, "uid");

    if (value_truthy(uid) && !value_equal(uid, value_get(info, "uid")))
        json_object_set(change, "uid", uid);
    if (gid != NULL && !json_is_null(gid) && !value_equal(gid, value_get(info, "gid"))) {
        json_auto_t *number = sub_call(u->ctx, u->err, "file.group_to_gid", "{s:O}", "group", gid);
        AUTO_FREE char *given = value_pystr(gid), *have = value_pystr(value_get(info, "gid"));
        if (!value_equal(number, value_get(info, "gid")) && !str_eq(given, have))
            json_object_set(change, "gid", gid);
    }

    compare_groups(u, info, new_group, old_group, change);

    /* Besides another path, a missing home folder counts as a difference when createhome is on. */
    const char *dir = value_str(u->args, "home", ""), *home_now = value_str(info, "home", "");
    if (*dir != '\0' && strcmp(dir, home_now) != 0)
        json_object_set_new(change, "home", json_string(dir));
    dir = *dir != '\0' ? dir : home_now;
    int there = value_bool(u->args, "createhome", true) && *dir != '\0' ? fs_look_dir(dir, u->err) : 1;
    if (there == 0)
        json_object_set_new(change, "homeDoesNotExist", json_string(dir));
    if (there < 0)
        return NULL;
    if (wishes(u->args, "shell") && !value_equal(value_get(u->args, "shell"), value_get(info, "shell")))
        json_object_set(change, "shell", value_get(u->args, "shell"));
    if (json_object_size(shadow) > 0) {
        compare_password(u, shadow, change);

        /* "expire" follows truth, the others presence, as in Salt. */
        for (size_t i = 0; i < NELEMS(agings); i++) {
            json_t *wish = value_get(u->args, agings[i].arg);
            bool asked = strcmp(agings[i].arg, "expire") == 0 ? value_truthy(wish)
                                                              : state_user_given(u->args, agings[i].arg);
            if (asked && !value_equal(wish, value_get(shadow, agings[i].key)))
                json_object_set(change, agings[i].arg, wish);
        }
    }
    for (size_t i = 0; i < NELEMS(comment_fields); i++) {
        const char *field = comment_fields[i];
        if (state_user_given(u->args, field) &&
            !value_equal(value_get(u->args, field), value_get(info, field)))
            json_object_set(change, field, value_get(u->args, field));
    }
    return json_incref(change);
}

/* An id is only changed when the SLS says so twice. */
static bool
state_user_forbidden(const user_t *u, const json_t *change)
{
    static const char *const ids[][2] = { { "uid", "allow_uid_change" }, { "gid", "allow_gid_change" } };
    json_auto_t *info = state_user_info_of(u);
    buf_auto_t text = BUF_INIT;

    for (size_t i = 0; i < NELEMS(ids); i++) {
        if (value_get(change, ids[i][0]) == NULL || value_bool(u->args, ids[i][1], false))
            continue;
        AUTO_FREE char *have = value_pystr(value_get(info, ids[i][0]));
        AUTO_FREE char *wish = value_pystr(value_get(change, ids[i][0]));
        buf_printf(&text,
                   "%s- Changing %s (%s -> %s) not permitted, set %s to True to force this change. Note "
                   "that this will not change file ownership.",
                   text.len > 0 ? "\n" : "", ids[i][0], have, wish, ids[i][1]);
    }
    if (text.len == 0)
        return false;
    (void) state_ret_set(u->ret, STATE_FALSE,
                         "Encountered error checking for needed changes. Additional info "
                         "follows:\n\n%s",
                         buf_str(&text));
    return true;
}

/* ---- changing -------------------------------------------------------------------------------- */

/* Sets, empties, locks or unlocks the password, in this order: a lock holds for the new password. */
static int
change_password(const user_t *u, const json_t *change)
{
    json_t *lock = value_get(change, "password_lock");
    int rc = 0;

    if (value_get(change, "passwd") != NULL)
        rc = sub_call_bool(u->ctx, u->err, "shadow.set_password", "{s:s, s:O}", "name", u->name, "password",
                           value_get(change, "passwd"));
    if (rc >= 0 && value_get(change, "empty_password") != NULL)
        rc = sub_call_bool(u->ctx, u->err, "shadow.del_password", "{s:s}", "name", u->name);
    if (rc >= 0 && lock != NULL)
        rc = sub_call_bool(u->ctx, u->err,
                           json_is_true(lock) ? "shadow.lock_password" : "shadow.unlock_password", "{s:s}",
                           "name", u->name);
    return rc < 0 ? rc : 0;
}

/* The folder itself is made, but what an old one holds is not moved. */
static int
change_home(const user_t *u, const json_t *change)
{
    json_t *missing = value_get(change, "homeDoesNotExist"), *home = value_get(change, "home");

    if (missing == NULL && home == NULL)
        return 0;
    if (sub_call_bool(u->ctx, u->err, "user.chhome", "{s:s, s:O, s:b}", "name", u->name, "home",
                      missing != NULL ? missing : home, "persist", 0) < 0)
        return u->err->code;
    if (missing == NULL || fs_is_dir(json_string_value(missing)))
        return 0;
    json_auto_t *info = state_user_info_of(u);
    return info == NULL || sub_call_bool(u->ctx, u->err, "file.mkdir", "{s:O, s:O, s:O, s:i}", "dir_path",
                                         missing, "user", value_get(info, "uid"), "group",
                                         value_get(info, "gid"), "mode", 755) < 0
               ? u->err->code
               : 0;
}

/* Shadow fields, then uid, gid and shell, then the comment fields, then groups: a group is set after the uid
 * that it is for. */
static int
change_fields(const user_t *u, const json_t *change)
{
    static const char *const ids[] = { "uid", "gid", "shell" };
    json_t *groups = value_get(change, "groups");

    for (size_t i = 0; i < NELEMS(agings); i++) {
        json_t *wish = value_get(change, agings[i].arg);
        if (wish != NULL && sub_call_bool(u->ctx, u->err, agings[i].fun, "{s:s, s:O}", "name", u->name,
                                          agings[i].arg, wish) < 0)
            return u->err->code;
    }
    for (size_t i = 0; i < NELEMS(ids) + NELEMS(comment_fields); i++) {
        const char *field = i < NELEMS(ids) ? ids[i] : comment_fields[i - NELEMS(ids)];
        AUTO_FREE char *fun = xasprintf("user.ch%s", field);
        json_t *wish = value_get(change, field);
        if (wish != NULL &&
            sub_call_bool(u->ctx, u->err, fun, "{s:s, s:O}", "name", u->name, field, wish) < 0)
            return u->err->code;
    }
    if (groups != NULL &&
        sub_call_bool(u->ctx, u->err, "user.chgroups", "{s:s, s:O, s:b}", "name", u->name, "groups", groups,
                      "append", !value_bool(u->args, "remove_groups", true)) < 0)
        return u->err->code;
    return 0;
}

/* Adds the differences between both records to the state's changes. */
static void
state_user_tell_changes(const user_t *u, const json_t *before, const json_t *after)
{
    const char *key;
    json_t *v;

    json_object_foreach ((json_t *) after, key, v) {
        if (!value_equal(v, value_get(before, key)))
            state_change(u->ret, key, strcmp(key, "passwd") == 0 ? json_string(REDACTED) : json_incref(v));
    }
}

/* Applies the differences in the order password, home, ages, fields, then reports what changed and what could
 * not be changed. */
static int
change_user(const user_t *u, json_t *gid, const json_t *change)
{
    /* The password's hash is left out of what is shown. */
    buf_auto_t text = BUF_INIT;
    const char *key;
    json_t *v;

    json_object_foreach ((json_t *) change, key, v) {
        AUTO_FREE char *value = value_pystr(v);
        buf_printf(&text, "%s: %s\n", key, strcmp(key, "passwd") == 0 ? REDACTED : value);
    }
    if (ctx_test(u->ctx))
        return state_ret_set(u->ret, STATE_NONE, "The following user attributes are set to be changed:\n%s",
                             buf_str(&text));
    json_auto_t *info = state_user_info_of(u), *shadow = shadow_of(u);
    if (info == NULL || shadow == NULL || change_password(u, change) < 0 || change_home(u, change) < 0 ||
        change_fields(u, change) < 0)
        return u->err->code;
    json_auto_t *info_now = state_user_info_of(u), *shadow_now = shadow_of(u);
    state_user_tell_changes(u, info, info_now);
    state_user_tell_changes(u, shadow, shadow_now);
    json_auto_t *left = state_user_differences(u, gid);
    if (left == NULL)
        return u->err->code;
    if (json_object_size(left) > 0) {
        if (value_get(left, "passwd") != NULL)
            json_object_set_new(left, "passwd", json_string(REDACTED));
        AUTO_FREE char *rest = value_pystr(left);
        return state_ret_set(u->ret, STATE_FALSE, "These values could not be changed: %s", rest);
    }
    return state_ret_set(u->ret, STATE_TRUE,
                         state_changed(u->ret) ? "Updated user %s" : "User %s is present and up to date",
                         u->name);
}

/* ---- a new user ------------------------------------------------------------------------------ */

/* The password of a new user. A failure is the state's comment: the account is there all the same. */
static int
new_password(const user_t *u)
{
    const char *wish = value_str(u->args, "password", "");
    bool empty = value_bool(u->args, "empty_password", false);

    if (*wish == '\0' && !empty)
        return 0;
    int ok = *wish != '\0' && !empty ? sub_call_bool(u->ctx, u->err, "shadow.set_password", "{s:s, s:s}",
                                                     "name", u->name, "password", wish)
             : *wish == '\0' ? sub_call_bool(u->ctx, u->err, "shadow.del_password", "{s:s}", "name", u->name)
                             : 1;
    if (ok < 0)
        return ok;
    state_change(u->ret, "password", json_string(empty ? "" : REDACTED));
    if (ok == 0)
        (void) state_ret_set(u->ret, STATE_FALSE,
                             empty ? "User %s created but failed to empty password"
                                   : "User %s created but failed to set password to " REDACTED,
                             u->name);
    return 0;
}

/* Creates the account and sets what useradd can't. */
static int
state_user_add_user(const user_t *u)
{
    static const char *const passed[] = { "name",       "uid",       "gid",        "home",
                                          "shell",      "unique",    "system",     "fullname",
                                          "roomnumber", "workphone", "homephone",  "other",
                                          "createhome", "nologinit", "loginclass", "usergroup" };
    json_t *lists[] = { value_get(u->args, "groups"), u->optional };

    if (ctx_test(u->ctx))
        return state_ret_set(u->ret, STATE_NONE, "User %s set to be added", u->name);
    json_auto_t *kwargs = json_object();
    for (size_t i = 0; i < NELEMS(passed); i++) {
        json_t *v = value_get(u->args, passed[i]);
        /* user.add has texts that are empty where a state has None. */
        if (v != NULL && !json_is_null(v))
            json_object_set(kwargs, passed[i], v);
    }
    json_auto_t *groups = sorted_union(lists, NELEMS(lists));
    if (json_array_size(groups) > 0)
        json_object_set(kwargs, "groups", groups);
    json_auto_t *answer = NULL;
    if (ctx_call(u->ctx, "user.add", NULL, kwargs, &answer, u->err) < 0)
        return u->err->code;
    if (!json_is_true(answer))
        return json_is_string(answer)
                   ? state_ret_set(u->ret, STATE_FALSE, "%s", json_string_value(answer))
                   : state_ret_set(u->ret, STATE_FALSE, "Failed to create new user %s", u->name);
    json_t *info = state_user_info_of(u);
    if (info == NULL)
        return u->err->code;
    if (!value_bool(u->args, "createhome", true))
        json_object_set_new(info, "home", json_string(""));
    state_change_set(u->ret, info);
    (void) state_ret_set(u->ret, STATE_TRUE, "New user %s created", u->name);
    if (!ctx_has(u->ctx, "shadow.info"))
        return 0;
    if (new_password(u) < 0)
        return u->err->code;

    /* For a new user only `date` may be 0; other zeros mean nothing, as in Salt. */
    for (size_t i = 0; i < NELEMS(agings); i++) {
        const struct aging *a = &agings[i];
        json_t *wish = value_get(u->args, a->arg);
        if (!(a->zero ? state_user_given(u->args, a->arg) : value_truthy(wish)))
            continue;
        if (sub_call_bool(u->ctx, u->err, a->fun, "{s:s, s:O}", "name", u->name, a->arg, wish) < 0)
            return u->err->code;
        json_auto_t *shadow = shadow_of(u);
        AUTO_FREE char *text = value_pystr(wish);
        if (!value_equal(value_get(shadow, a->key), wish))
            (void) state_ret_set(u->ret, STATE_FALSE, "User %s created but failed to set %s to %s", u->name,
                                 a->words, text);
        state_change(u->ret, a->arg, json_incref(wish));
    }
    return 0;
}

/* ---- the states ------------------------------------------------------------------------------ */

/* NEW: those of a list that are groups here, or those that are not. */
static json_t *
groups_that(const user_t *u, const json_t *names, bool exist)
{
    json_t *list = json_array(), *v;
    size_t i;

    json_array_foreach (names, i, v) {
        int there = sub_call_bool(u->ctx, u->err, "group.info", "{s:O}", "name", v);
        if (there >= 0 && (there > 0) == exist)
            json_array_append(list, v);
    }
    return list;
}

/* True in test mode for a group that a state before this one foretells. */
static bool
group_is_foretold(const user_t *u, const char *group)
{
    json_t *chunks = ctx_test(u->ctx) ? ctx_chunks(u->ctx) : NULL, *chunk;
    size_t i;

    json_array_foreach (chunks, i, chunk) {
        if (!str_eq(value_str(chunk, "state", ""), "group") ||
            !str_eq(value_str(chunk, "fun", ""), "present") || !str_eq(value_str(chunk, "name", ""), group))
            continue;
        AUTO_FREE char *tag = state_tag(chunk);
        if (json_is_null(value_get(value_get(ctx_running(u->ctx), tag), "result")))
            return true;
    }
    return false;
}

/* The salt of a hash and its method's name: "$6$SALT$HASH" has them, a hash with one more field (rounds,
 * or yescrypt's parameters) or of another method has not. NEW, or NULL. */
static char *
state_user_salt_of(const char *hash, const char **ret_method)
{
    static const char *const methods[][2] = { { "1", "md5" }, { "5", "sha256" }, { "6", "sha512" } };
    char **fields = str_split(hash, "$", false), *salt = NULL;
    size_t n = 0;

    while (fields[n] != NULL)
        n++;
    for (size_t i = 0; n == 4 && *fields[0] == '\0' && *fields[2] != '\0' && i < NELEMS(methods); i++) {
        if (strcmp(fields[1], methods[i][0]) != 0)
            continue;
        *ret_method = methods[i][1];
        salt = xstrdup(fields[2]);
    }
    strv_free(fields);
    return salt;
}

/* With hash_password the SLS has the password itself: hashed with the salt that is there, so that the same
 * password gives the same hash, or a new one. */
static int
hash_password(const user_t *u)
{
    const char *method = NULL;

    if (!wishes(u->args, "password") || !value_bool(u->args, "hash_password", false))
        return 0;
    json_auto_t *shadow = shadow_of(u);
    if (shadow == NULL)
        return u->err->code;
    AUTO_FREE char *salt = state_user_salt_of(value_str(shadow, "passwd", ""), &method);
    json_t *password = value_get(u->args, "password");
    json_auto_t *hash = salt != NULL
                            ? sub_call(u->ctx, u->err, "shadow.gen_password", "{s:O, s:s, s:s}", "password",
                                       password, "crypt_salt", salt, "algorithm", method)
                            : sub_call(u->ctx, u->err, "shadow.gen_password", "{s:O}", "password", password);
    if (hash == NULL)
        return u->err->code;
    if (!json_is_string(hash))
        return fail_kind(u->err, FAIL_COMMAND, -EINVAL,
                         "crypt makes no %s hash of the password of %s; give `password` as a hash, without "
                         "hash_password",
                         salt != NULL ? method : "sha512", u->name);
    json_object_set(u->args, "password", hash);
    return 0;
}

/* An existing user is compared and changed, another one added. usergroup takes the group of the same name. */
static int
state_user_present(user_t *u)
{
    if (hash_password(u) < 0)
        return u->err->code;

    /* Texts that passwd's comment field can't hold. */
    static const char *const fields[] = { "fullname", "roomnumber", "workphone" };

    for (size_t i = 0; i < NELEMS(fields); i++) {
        const char *text = value_str(u->args, fields[i], "");
        if (strchr(text, ',') == NULL)
            continue;
        (void) state_ret_set(u->ret, STATE_FALSE, "Unsupported char ',' in %s", text);
        return 0;
    }

    /* Fails the state when a group of `groups` does not exist. */
    json_auto_t *missing = groups_that(u, value_get(u->args, "groups"), false);
    buf_auto_t text = BUF_INIT;
    size_t i;
    json_t *v;

    json_array_foreach (missing, i, v) {
        if (!group_is_foretold(u, json_string_value(v)))
            buf_printf(&text, "%s%s", text.len > 0 ? "," : "", json_string_value(v));
    }
    if (text.len > 0) {
        (void) state_ret_set(u->ret, STATE_FALSE, "The following group(s) are not present: %s",
                             buf_str(&text));
        return 0;
    }

    /* Optional groups that do not exist are left out. The group of `usergroup` is the user's own, if it is there. */
    u->optional = groups_that(u, value_get(u->args, "optional_groups"), true);
    json_t *gid = value_get(u->args, "gid");
    json_auto_t *own = value_truthy(value_get(u->args, "usergroup"))
                           ? sub_call(u->ctx, u->err, "file.group_to_gid", "{s:s}", "group", u->name)
                           : NULL;
    json_auto_t *own_name = json_string(u->name);
    if (json_is_integer(own))
        gid = own_name;
    json_auto_t *change = u->err->code < 0 ? NULL : state_user_differences(u, gid);
    if (u->err->code < 0)
        return u->err->code;
    if (change == NULL)
        return state_user_add_user(u);
    if (state_user_forbidden(u, change))
        return 0;
    if (json_object_size(change) > 0)
        return change_user(u, gid, change);
    return state_ret_set(u->ret, STATE_TRUE, "User %s is present and up to date", u->name);
}

static int
user_present(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = state_ret_args(args);
    user_t u = {
        .ctx = ctx, .args = args, .ret = *ret_value, .name = value_str(args, "name", ""), .err = err
    };
    int rc = state_user_present(&u);

    json_decref(u.optional);
    return rc;
}

/* 1 when userdel takes the user's own group along, as shadow's tools do: it has his name, he alone is in it, and
 * it is nobody else's primary one, which `force` does not ask. Negative with *err. */
static int
own_group_goes(const user_t *u, const json_t *info)
{
    fail_t *err = u->err;
    json_auto_t *group = account_own_groups(NULL) ? account_group(NULL, u->name, err) : NULL, *users = NULL;
    json_int_t gid = value_int(info, "gid", -1);
    json_t *v;
    size_t i;

    if (group == NULL || value_int(group, "gid", -2) != gid)
        return err->code;
    json_array_foreach (value_get(group, "members"), i, v)
        if (!str_eq(json_string_value(v), u->name))
            return 0;
    if (value_truthy(value_get(u->args, "force")))
        return 1;
    if ((users = account_users(NULL, err)) == NULL)
        return err->code;
    json_array_foreach (users, i, v)
        if (value_int(v, "gid", -1) == gid && !str_eq(value_str(v, "name", ""), u->name))
            return 0;
    return 1;
}

/* Groups that went with the user are changes too. */
static int
user_absent(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = *ret_value = state_ret_args(args), *v;
    user_t u = { .ctx = ctx, .args = args, .ret = ret, .name = value_str(args, "name", ""), .err = err };
    json_auto_t *info = state_user_info_of(&u);
    size_t i;

    if (info == NULL)
        return err->code;
    if (!value_truthy(info))
        return state_ret_set(ret, STATE_TRUE, "User %s is not present", u.name);
    if (ctx_test(ctx)) {
        AUTO_FREE char *own = xasprintf("%s group", u.name);
        int goes = own_group_goes(&u, info);
        if (goes < 0)
            return goes;
        if (goes > 0)
            state_change(ret, own, json_string("removed"));
        state_change(ret, u.name, json_string("removed"));
        return state_ret_set(ret, STATE_NONE, "User %s set for removal", u.name);
    }
    int gone = sub_call_bool(ctx, err, "user.delete", "{s:s, s:O, s:O}", "name", u.name, "remove",
                             value_get(args, "purge"), "force", value_get(args, "force"));
    if (gone < 0)
        return gone;
    if (!gone)
        return state_ret_set(ret, STATE_FALSE, "Failed to remove user %s", u.name);
    json_auto_t *groups = groups_that(&u, value_get(info, "groups"), false);
    json_array_foreach (groups, i, v) {
        AUTO_FREE char *key = xasprintf("%s group", json_string_value(v));
        state_change(ret, key, json_string("removed"));
    }
    state_change(ret, u.name, json_string("removed"));
    return state_ret_set(ret, STATE_TRUE, "Removed user %s", u.name);
}

/* ---- table ----------------------------------------------------------------------------------- */

static const arg_t present_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "The user"),
    ARG("uid", ARG_INT, "null", "The number; None: any"),
    ARG("gid", ARG_ANY, "null", "The default group, by number or name"),
    ARG("usergroup", ARG_ANY, "null", "Whether the user has a group of the same name"),
    ARG("groups", ARG_LIST, "null", "Groups that the user is in; all of them must exist"),
    ARG("optional_groups", ARG_LIST, "null", "The same; those that do not exist are left out"),
    ARG("remove_groups", ARG_BOOL, "true", "Leave all other groups"),
    ARG("home", ARG_STR, "null", "The home folder"),
    ARG("createhome", ARG_BOOL, "true", "Make the home folder"),
    ARG("password", ARG_STR, "null", "The password's hash"),
    ARG("hash_password", ARG_BOOL, "false", "`password` is the password itself"),
    ARG("enforce_password", ARG_BOOL, "true", "Change another password back to this one"),
    ARG("empty_password", ARG_BOOL, "false", "No password is asked for"),
    ARG("shell", ARG_STR, "null", "The login shell"),
    ARG("unique", ARG_BOOL, "true", "The number belongs to nobody else"),
    ARG("system", ARG_BOOL, "false", "Take a number of the system's range"),
    ARG("fullname", ARG_STR, "null", "The full name"),
    ARG("roomnumber", ARG_STR, "null", "The room"),
    ARG("workphone", ARG_STR, "null", "The telephone at work"),
    ARG("homephone", ARG_STR, "null", "The one at home"),
    ARG("other", ARG_STR, "null", "The last part of the comment field"),
    ARG("loginclass", ARG_STR, "null", "Of BSD only"),
    ARG("date", ARG_ANY, "null", "Day of the last change of the password, since 1970"),
    ARG("mindays", ARG_INT, "null", "Days before the password may change"),
    ARG("maxdays", ARG_INT, "null", "Days before it must change"),
    ARG("inactdays", ARG_INT, "null", "Days after that before the account ends"),
    ARG("warndays", ARG_INT, "null", "Days of warning"),
    ARG("expire", ARG_ANY, "null", "Day on which the account ends, since 1970"),
    ARG("nologinit", ARG_BOOL, "false", "Leave the user out of lastlog and faillog"),
    ARG("allow_uid_change", ARG_BOOL, "false", "Change the number of a user who exists"),
    ARG("allow_gid_change", ARG_BOOL, "false", "Change the default group of a user who exists"),
    ARG("password_lock", ARG_ANY, "null", "True locks the password, False unlocks it"),
    ARGS_END,
};
static const arg_t absent_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "The user"),
    ARG("purge", ARG_BOOL, "false", "Remove the home folder too"),
    ARG("force", ARG_BOOL, "false", "Even if the user is logged in"),
    ARGS_END,
};

static const func_t funcs[] = {
    { "absent", user_absent, absent_args, 0, "Ensure that a user does not exist." },
    { "present", user_present, present_args, 0, "Ensure that a user exists, with these properties." },
};

PLUGIN(state, user, .doc = "Users of this host", FUNCS(funcs));
