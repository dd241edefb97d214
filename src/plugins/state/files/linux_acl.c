/* linux_acl.c - state module `acl`: entries of access control lists of files, by getfacl(1) and setfacl(1).
 * An entry is of a type (user, group, mask, other, or one of these with "default:") and of a name;
 * permissions are compared as octal digits. acl.getfacl answers {path: {"comment", type: [{name: {"octal",
 * "permissions"}}], "defaults"}}. */
#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/file/facl.h"
#include "plugins/lib/file/fileops.h"
#include "salt/state.h"

/* ---- what is there -------------------------------------------------------------------------------- */

/* A state at work. */
typedef struct {
    json_t *args, *ret; /* BORROWED */
    json_t *all;        /* acl.getfacl's answer */
    const char *type;   /* without "default:" */
    bool is_default, recurses;
} acl_t;

static void
acl_done(acl_t *self)
{
    json_decref(self->all);
}
#define ACL_AUTO __attribute__((cleanup(acl_done))) acl_t

/* The entries of the state's type at a path: a list; NULL where it has none. BORROWED. */
static json_t *
acl_entries(const acl_t *self, const char *path)
{
    json_t *here = value_get(self->all, path);

    return value_get(self->is_default ? value_get(here, "defaults") : here, self->type);
}

/* The permissions of a name at a path, 0 to 7; -1 without an entry. */
static int
acl_octal(const acl_t *self, const char *path, const char *name)
{
    int octal = -1;
    json_t *entry;
    size_t i;

    json_array_foreach (acl_entries(self, path), i, entry)
        if (value_get(entry, name) != NULL)
            octal = (int) value_int(value_get(entry, name), "octal", 0);
    return octal;
}

/* setfacl's short name of a default entry's type, as getfacl writes it. BORROWED. */
static const char *
whole_type(const char *type)
{
    static const char *const types[] = { "user", "group", "mask", "other" };

    for (size_t i = 0; i < NELEMS(types); i++)
        if (type[0] == types[i][0] && type[1] == '\0')
            return types[i];
    return type;
}

/* Reads what the state is about. 1; 0 when the state has ended with a comment; negative with *err. */
static int
acl_look(call_ctx_t *ctx, acl_t *self, bool recurses, fail_t *err)
{
    const char *name = value_str(self->args, "name", ""), *type = value_str(self->args, "acl_type", "");
    int there = fop_exists(name, err);

    if (there < 0)
        return there;
    if (there == 0)
        return state_ret_set(self->ret, STATE_FALSE, "%s does not exist", name);
    self->is_default = str_starts(type, "d:") || str_starts(type, "default:");
    self->type = self->is_default ? whole_type(strchr(type, ':') + 1) : type;
    self->recurses = value_truthy(value_get(self->args, "recurse"));
    json_auto_t *path = json_pack("[s]", name),
                *kwargs = json_pack("{s:b}", "recursive", recurses && self->recurses);
    if (ctx_call(ctx, "acl.getfacl", path, kwargs, &self->all, err) < 0)
        return err->code;
    if (value_get(self->all, name) == NULL)
        return fail_kind(err, FAIL_COMMAND, -EPROTO, "getfacl says nothing of %s", name);
    if (json_array_size(acl_entries(self, name)) == 0 && !self->is_default)
        return state_ret_set(self->ret, STATE_FALSE, "ACL Type does not exist");
    return 1;
}

/* The name that getfacl lists an entry without a name under: the owner. BORROWED. */
static const char *
searched_name(const acl_t *self, const char *acl_name)
{
    json_t *facts = value_get(value_get(self->all, value_str(self->args, "name", "")), "comment");
    const char *key = strcmp(self->type, "user") == 0 ? "owner" : self->type;

    return *acl_name != '\0' ? acl_name : value_str(facts, key, "");
}

/* True when the name has an entry that can go at a path. The owner and the owning group are listed by their names
 * too, for an entry that every file has. */
static bool
acl_has_own(const acl_t *self, const char *path, const char *name)
{
    json_t *facts = value_get(value_get(self->all, path), "comment"), *entry;
    const char *owner = value_str(facts, strcmp(self->type, "user") == 0 ? "owner" : self->type, "");
    size_t n = 0, i;

    json_array_foreach (acl_entries(self, path), i, entry)
        n += value_get(entry, name) != NULL;
    return n > (strcmp(name, owner) == 0);
}

/* Letters of r, w, x and - as a number; negative with *err. */
static int
octal_of(const char *perms, fail_t *err)
{
    int octal = 0;

    for (const char *p = perms; *p != '\0'; p++) {
        int bit = *p == 'r' ? 4 : *p == 'w' ? 2 : *p == 'x' ? 1 : *p == '-' ? 0 : -1;
        if (bit < 0 || (octal & bit) != 0)
            return fail_kind(err, FAIL_COMMAND, -EINVAL,
                             "perms is '%s', which is not made of r, w, x and -, each once", perms);
        octal |= bit;
    }
    return octal;
}

/* True when the name's entry at the path is another than the state's, or, with `recurse`, that of something
 * below: a default entry of folders alone. Negative with *err. */
static int
acl_differs(const acl_t *self, const char *acl_name, int octal, fail_t *err)
{
    const char *name = value_str(self->args, "name", ""), *path;
    json_t *here;

    json_object_foreach (self->all, path, here) {
        int is_dir = self->is_default && strcmp(path, name) != 0 ? fs_look_dir(path, err) : 1;
        if (is_dir < 0)
            return is_dir;
        if (is_dir > 0 && acl_octal(self, path, acl_name) != octal)
            return 1;
    }
    return 0;
}

/* ---- changes ------------------------------------------------------------------------------------ */

/* One or several names' entries: set ("-m") or removed ("-x"); in test mode setfacl is asked whether it
 * would. 1; 0 with what it says in *ret_said, NEW; negative with *err. */
static int
acl_set(call_ctx_t *ctx, const acl_t *self, const char *option, const json_t *names, char **ret_said,
        fail_t *err)
{
    json_auto_t *path = json_pack("[O]", value_get(self->args, "name"));
    AUTO_FREE char *perms = value_pystr(value_get(self->args, "perms"));
    unsigned flags = (self->recurses ? FACL_RECURSIVE : 0) | (ctx_test(ctx) ? FACL_DRY : 0);
    bool wipes = value_truthy(value_get(self->args, "force"));
    size_t n = json_array_size(names);

    for (size_t i = 0; i < n + wipes; i++) {
        bool is_wipe = wipes && i == 0;
        AUTO_FREE char *name = is_wipe ? NULL : value_pystr(json_array_get(names, i - wipes));
        AUTO_FREE char *entry = is_wipe ? NULL
                                        : facl_entry(value_str(self->args, "acl_type", ""), name,
                                                     *option == '-' && option[1] == 'm' ? perms : NULL, err);
        if (err->code != 0)
            return err->code;
        json_auto_t *ran = facl_set(ctx, is_wipe ? "-b" : option, entry, path, flags, err);
        if (ran == NULL)
            return err->code;
        if (value_int(ran, "retcode", 1) != 0) {
            *ret_said = xstrdup(value_str(ran, "stdout", ""));
            return 0;
        }
    }
    return 1;
}

/* Sets the names' entries, or foretells it. `shown` and `joined` are the names as Salt writes them; `was` is
 * what one of them has, NULL for none. */
static int
acl_apply(call_ctx_t *ctx, const acl_t *self, const json_t *names, const char *shown, const char *joined,
          const char *was, json_t *now, fail_t *err)
{
    AUTO_FREE char *said = NULL, *perms = value_pystr(value_get(self->args, "perms"));
    json_t *type = value_get(self->args, "acl_type"), *ret = self->ret;
    int rc = acl_set(ctx, self, "-m", names, &said, err);

    if (rc > 0) {
        state_change(ret, "new",
                     json_pack("{s:s, s:O, s:O}", "acl_name", joined, "acl_type", type, "perms", now));
        if (was != NULL)
            state_change(ret, "old",
                         json_pack("{s:s, s:O, s:s}", "acl_name", joined, "acl_type", type, "perms", was));
    }
    json_decref(now);
    if (rc < 0)
        return rc;
    if (rc == 0)
        return state_ret_set(ret, STATE_FALSE, "Error updating permissions for %s: %s", shown, said);
    if (ctx_test(ctx) && was == NULL)
        return state_ret_set(ret, STATE_NONE, "New permissions will be applied for %s: %s", shown, perms);
    if (ctx_test(ctx))
        return state_ret_set(ret, STATE_NONE, "Updated permissions will be applied for %s: %s -> %s", shown,
                             was, perms);
    return was == NULL ? state_ret_set(ret, STATE_TRUE, "Applied new permissions for %s", joined)
                       : state_ret_set(ret, STATE_TRUE, "Updated permissions for %s", shown);
}

static int
acl_present(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    ACL_AUTO acl = { .args = args, .ret = *ret_value = state_ret_args(args) };
    AUTO_FREE char *acl_name = value_pystr(value_get(args, "acl_name")),
                   *perms = value_pystr(value_get(args, "perms"));
    int octal = octal_of(perms, err), rc = octal < 0 ? octal : acl_look(ctx, &acl, true, err);

    if (rc <= 0)
        return rc;
    const char *search = searched_name(&acl, acl_name);
    int have = acl_octal(&acl, value_str(args, "name", ""), search);
    int differs = acl_differs(&acl, search, octal, err);
    if (differs <= 0)
        return differs < 0 ? differs
                           : state_ret_set(acl.ret, STATE_TRUE, "Permissions are in the desired state");
    const char was[] = { have & 4 ? 'r' : '-', have & 2 ? 'w' : '-', have & 1 ? 'x' : '-', '\0' };
    json_auto_t *names = json_pack("[s]", acl_name);
    return acl_apply(ctx, &acl, names, acl_name, acl_name, have >= 0 ? was : NULL, json_string(perms), err);
}

/* The list of names, which must have some. BORROWED, or NULL with *err. */
static json_t *
acl_names_of(const json_t *args, fail_t *err)
{
    json_t *names = value_get(args, "acl_names");

    if (json_array_size(names) > 0)
        return names;
    (void) fail_kind(err, FAIL_COMMAND, -EINVAL, "acl_names is no list of users or groups");
    return NULL;
}

/* A permission for several names: they are set together as soon as one of them differs. */
static int
acl_list_present(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    ACL_AUTO acl = { .args = args, .ret = *ret_value = state_ret_args(args) };
    json_t *names = acl_names_of(args, err), *one;
    AUTO_FREE char *perms = value_pystr(value_get(args, "perms")), *was = NULL;
    AUTO_FREE char *shown = value_repr(names), *joined = value_joined(names, ", ");
    int octal = names == NULL ? err->code : octal_of(perms, err);
    int rc = octal < 0 ? octal : acl_look(ctx, &acl, false, err);
    bool differs = false;
    size_t i;

    if (rc <= 0)
        return rc;
    /* The last name that differs gives the state's words. */
    json_array_foreach (names, i, one) {
        AUTO_FREE char *name = value_pystr(one);
        int have = acl_octal(&acl, value_str(args, "name", ""), name);
        if (have == octal)
            continue;
        differs = true;
        free(was);
        was = have >= 0 ? xasprintf("%d", have) : NULL;
    }
    if (!differs)
        return state_ret_set(acl.ret, STATE_TRUE, "Permissions are in the desired state");
    return acl_apply(ctx, &acl, names, shown, joined, was,
                     was != NULL ? json_integer(octal) : json_string(perms), err);
}

/* ---- removal ------------------------------------------------------------------------------------ */

/* Removes the entries of those names that have one, at the path or, with `recurse`, below it. */
static int
acl_remove(call_ctx_t *ctx, const acl_t *self, const json_t *names, fail_t *err)
{
    json_auto_t *found = json_array();
    AUTO_FREE char *said = NULL;
    const char *path;
    json_t *one, *here;
    size_t i;

    json_array_foreach (names, i, one) {
        AUTO_FREE char *name = value_pystr(one);
        const char *search = searched_name(self, name);
        bool has = false;
        json_object_foreach (self->all, path, here)
            has = has || (*name != '\0' ? acl_has_own(self, path, name) : acl_octal(self, path, search) >= 0);
        if (has)
            json_array_append_new(found, json_string(name));
    }
    if (json_array_size(found) == 0)
        return state_ret_set(self->ret, STATE_TRUE, "Permissions are in the desired state");
    int rc = acl_set(ctx, self, "-x", found, &said, err);
    if (rc < 0)
        return rc;
    if (rc == 0)
        return state_ret_set(self->ret, STATE_FALSE, "Error removing permissions: %s", said);
    AUTO_FREE char *joined = value_joined(found, ", ");
    state_change(self->ret, "old",
                 json_pack("{s:s, s:O}", "acl_name", joined, "acl_type", value_get(self->args, "acl_type")));
    return state_ret_set(self->ret, ctx_test(ctx) ? STATE_NONE : STATE_TRUE, "Removing permissions");
}

static int
acl_absent(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    ACL_AUTO acl = { .args = args, .ret = *ret_value = state_ret_args(args) };
    json_auto_t *names = json_pack("[O]", value_get(args, "acl_name"));
    int rc = acl_look(ctx, &acl, true, err);

    return rc > 0 ? acl_remove(ctx, &acl, names, err) : rc;
}

static int
acl_list_absent(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    ACL_AUTO acl = { .args = args, .ret = *ret_value = state_ret_args(args) };
    json_t *names = acl_names_of(args, err);
    int rc = names == NULL ? err->code : acl_look(ctx, &acl, false, err);

    return rc > 0 ? acl_remove(ctx, &acl, names, err) : rc;
}

/* ---- table -------------------------------------------------------------------------------------- */

static const char *
state_acl_unavailable(call_ctx_t *ctx)
{
    AUTO_FREE char *getfacl = fs_which("getfacl"), *setfacl = fs_which("setfacl");

    return getfacl != NULL && setfacl != NULL
               ? NULL
               : "The linux_acl state cannot be loaded: the getfacl or setfacl binary is not in the path.";
}

#define PATH_ROW ARG("name", ARG_STR, ARG_REQUIRED, "The file or folder")
#define TYPE_ROW                                                                                             \
    ARG("acl_type", ARG_STR, ARG_REQUIRED, "user, group, mask or other; default:user for new files")
#define NAME_ROW    ARG("acl_name", ARG_STR, "\"\"", "The user or group; empty: the owner")
#define NAMES_ROW   ARG("acl_names", ARG_ANY, "null", "A list of users or groups")
#define PERMS_ROW   ARG("perms", ARG_ANY, "\"\"", "Letters of rwx")
#define RECURSE_ROW ARG("recurse", ARG_ANY, "false", "All that is below it, too")
#define FORCE_ROW   ARG("force", ARG_ANY, "false", "Remove all other entries when one is set")

static const arg_t present_args[] = { PATH_ROW,    TYPE_ROW,  NAME_ROW, PERMS_ROW,
                                      RECURSE_ROW, FORCE_ROW, ARGS_END };
static const arg_t absent_args[] = {
    PATH_ROW,    TYPE_ROW, NAME_ROW, ARG("perms", ARG_ANY, "\"\"", "Without effect: the whole entry goes"),
    RECURSE_ROW, ARGS_END
};
static const arg_t list_present_args[] = { PATH_ROW,    TYPE_ROW,  NAMES_ROW, PERMS_ROW,
                                           RECURSE_ROW, FORCE_ROW, ARGS_END };
static const arg_t list_absent_args[] = { PATH_ROW, TYPE_ROW, NAMES_ROW, RECURSE_ROW, ARGS_END };

static const func_t funcs[] = {
    { "absent", acl_absent, absent_args, 0, "Ensure that a user or group has no entry." },
    { "list_absent", acl_list_absent, list_absent_args, 0, "Ensure that several have no entry." },
    { "list_present", acl_list_present, list_present_args, 0,
      "Ensure that several have the same permissions." },
    { "present", acl_present, present_args, 0, "Ensure that a user or group has permissions." },
};

PLUGIN(state, linux_acl, .provides = "acl", .doc = "Access control lists of files", FUNCS(funcs),
       .unavailable = state_acl_unavailable);
