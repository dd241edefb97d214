/* accounts.c - see accounts.h: users and groups of this host by the name services (NSS), or of another root
 * by its passwd and group files. */
#include "plugins/lib/system/accounts.h"

#include "common/base/buf.h"
#include "common/base/fs.h"
#include "common/host/passwd.h"
#include "common/base/str.h"
#include "salt/limits.h"

enum { USER_COLUMNS = 7, GROUP_COLUMNS = 4, GROUPS_AT_FIRST = 64, GROUPS_AT_MOST = 65536 };

/* A user without the groups. NEW. */
static json_t *
user_row(const struct passwd *pw)
{
    json_t *row = json_pack("{s:I, s:o, s:o, s:o, s:o, s:I}", "gid", (json_int_t) pw->pw_gid, "home",
                            value_utf8(pw->pw_dir, strlen(pw->pw_dir)), "name",
                            value_utf8(pw->pw_name, strlen(pw->pw_name)), "passwd",
                            value_utf8(pw->pw_passwd, strlen(pw->pw_passwd)), "shell",
                            value_utf8(pw->pw_shell, strlen(pw->pw_shell)), "uid", (json_int_t) pw->pw_uid);

    /* The five parts of the comment field. */
    const char *gecos = pw->pw_gecos != NULL ? pw->pw_gecos : "";
    static const char *const names[] = { "fullname", "roomnumber", "workphone", "homephone", "other" };
    for (size_t i = 0; i < NELEMS(names); i++) {
        /* The last part may hold commas itself. */
        size_t n = i + 1 < NELEMS(names) ? strcspn(gecos, ",") : strlen(gecos);
        json_object_set_new(row, names[i], value_utf8(gecos, n));
        gecos += n + (gecos[n] == ',');
    }

    return row;
}

/* ---- this host ------------------------------------------------------------------------------- */

static void
accounts_add_user(const struct passwd *pw, void *list)
{
    json_array_append_new(list, user_row(pw));
}

/* `list` of what a walk through the name services gave, or NULL with *err when that is not all. TAKES the
 * reference. */
static json_t *
accounts_whole(json_t *list, int rc, const char *what, fail_t *err)
{
    if (rc == 0)
        return list;
    json_decref(list);
    (void) fail_kind(err, FAIL_COMMAND, rc, "cannot list the %s: %s", what, strerror(-rc));
    return NULL;
}

/* NEW row of a group. */
static json_t *
host_group(const struct group *gr)
{
    json_t *members = json_array();

    for (char **m = gr->gr_mem; *m != NULL; m++)
        json_array_append_new(members, value_utf8(*m, strlen(*m)));
    return json_pack("{s:o, s:o, s:I, s:o}", "name", value_utf8(gr->gr_name, strlen(gr->gr_name)), "passwd",
                     value_utf8(gr->gr_passwd, strlen(gr->gr_passwd)), "gid", (json_int_t) gr->gr_gid,
                     "members", members);
}

static void
accounts_add_group(const struct group *gr, void *list)
{
    json_array_append_new(list, host_group(gr));
}

/* NULL: a look ended with this errno and found nobody. With *err when that is not an answer. */
static json_t *
none(int code, const char *what, const char *name, fail_t *err)
{
    if (code != 0)
        (void) fail_kind(err, FAIL_COMMAND, -code, "cannot tell whether there is a %s '%s': %s", what, name,
                         strerror(code));
    return NULL;
}

/* ---- below another root ---------------------------------------------------------------------- */

/* NEW value of one line's words, at least as many as its kind has; NULL when they are not of that kind. */
typedef json_t *row_fn(char **words);

/* Rows of a colon-separated file below a root; lines with too few words or bad numbers are skipped. NEW, or
 * NULL with *err. */
static json_t *
file_rows(const char *root, const char *file, size_t words_needed, row_fn *row, fail_t *err)
{
    AUTO_FREE char *path = xasprintf("%s/etc/%s", root, file);
    buf_auto_t text = BUF_INIT;

    if (fs_read(path, LIMIT_FILE_READ, &text, err) < 0)
        return NULL;
    json_t *list = json_array();
    char **lines = str_split(buf_str(&text), "\n", true);
    for (size_t i = 0; lines[i] != NULL; i++) {
        char **words = str_split(str_trim(lines[i]), ":", false);
        json_t *v = strv_len(words) >= words_needed ? row(words) : NULL;
        if (v != NULL)
            json_array_append_new(list, v);
        strv_free(words);
    }
    strv_free(lines);
    return list;
}

/* NULL for numbers that are none. */
static json_t *
file_user(char **w)
{
    long long uid, gid;
    struct passwd pw = {
        .pw_name = w[0], .pw_passwd = w[1], .pw_gecos = w[4], .pw_dir = w[5], .pw_shell = w[6]
    };

    if (!str_to_int(w[2], 0, UINT32_MAX, &uid) || !str_to_int(w[3], 0, UINT32_MAX, &gid))
        return NULL;
    pw.pw_uid = (uid_t) uid;
    pw.pw_gid = (gid_t) gid;
    return user_row(&pw);
}

static json_t *
file_group(char **w)
{
    long long gid;
    char **names = str_split(w[3], ",", true);
    struct group gr = { .gr_name = w[0], .gr_passwd = w[1], .gr_mem = names };
    json_t *row = NULL;

    if (str_to_int(w[2], 0, UINT32_MAX, &gid)) {
        gr.gr_gid = (gid_t) gid;
        row = host_group(&gr);
    }
    strv_free(names);
    return row;
}

/* The row with that name. NEW, or NULL. */
static json_t *
accounts_pick(const json_t *list, const char *name)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *row = json_array_get(list, i);
        if (str_eq(value_str(row, "name", NULL), name))
            return json_incref(row);
    }
    return NULL;
}

/* ---- groups of a user -------------------------------------------------------------------------- */

/* Group ids as the name services report them. NEW array; *ret_n is 0 when they don't answer. */
static gid_t *
group_ids(const char *name, gid_t own, int *ret_n)
{
    int n = GROUPS_AT_FIRST;
    gid_t *ids = xcalloc((size_t) n, sizeof(*ids));

    while (getgrouplist(name, own, ids, &n) < 0) {
        if (n > GROUPS_AT_MOST) {
            n = 0;
            break;
        }
        ids = xrealloc(ids, (size_t) n * sizeof(*ids));
    }
    *ret_n = n;
    return ids;
}

/* Adds the names of those of `ids` that the list of groups leaves out, as directory services that list nobody
 * do. */
static void
add_unlisted(json_t *names, const json_t *groups, const gid_t *ids, int n)
{
    json_t *group;
    size_t k;

    for (int i = 0; i < n; i++) {
        passwd_space_auto_t space = { 0 };
        bool listed = false;
        json_array_foreach (groups, k, group)
            listed = listed || value_int(group, "gid", -2) == (json_int_t) ids[i];
        const struct group *gr = listed ? NULL : passwd_gid(&space, ids[i]);
        if (gr != NULL)
            json_array_append_new(names, value_utf8(gr->gr_name, strlen(gr->gr_name)));
    }
}

/* Groups that the user (NULL: unknown) belongs to, of `groups` and others that have no members listed. Sorted
 * and unique. NEW. */
static json_t *
groups_among(const char *root, const char *name, const json_t *user, const json_t *groups)
{
    json_int_t own = value_int(user, "gid", -1);
    int n_ids = 0;
    AUTO_FREE gid_t *ids = root == NULL && user != NULL ? group_ids(name, (gid_t) own, &n_ids) : NULL;
    json_auto_t *names = json_array();
    json_t *group;
    size_t i;

    json_array_foreach (groups, i, group) {
        /* The name services' own answer where there is one; else the first group, and those that list the name. */
        json_int_t gid = value_int(group, "gid", -2);
        bool in = n_ids <= 0 && (gid == own || value_lists(value_get(group, "members"), name));
        for (int k = 0; k < n_ids; k++)
            in = in || (json_int_t) ids[k] == gid;
        if (in && !value_has(names, value_get(group, "name")))
            json_array_append(names, value_get(group, "name"));
    }
    add_unlisted(names, groups, ids, n_ids);
    return value_sorted_texts(names);
}

/* ---- both ------------------------------------------------------------------------------------ */

/* Users without their groups. NEW, or NULL with *err. */
static json_t *
bare_users(const char *root, fail_t *err)
{
    if (root != NULL)
        return file_rows(root, "passwd", USER_COLUMNS, file_user, err);
    json_t *list = json_array();
    return accounts_whole(list, passwd_each_user(accounts_add_user, list), "users", err);
}

static json_t *
bare_user(const char *root, const char *name, fail_t *err)
{
    if (root == NULL) {
        passwd_space_auto_t space = { 0 };
        const struct passwd *pw = passwd_user(&space, name);
        return pw != NULL ? user_row(pw) : none(errno, "user", name, err);
    }
    json_auto_t *all = bare_users(root, err);
    return accounts_pick(all, name);
}

json_t *
account_groups(const char *root, fail_t *err)
{
    if (root != NULL)
        return file_rows(root, "group", GROUP_COLUMNS, file_group, err);
    json_t *list = json_array();
    return accounts_whole(list, passwd_each_group(accounts_add_group, list), "groups", err);
}

json_t *
account_group(const char *root, const char *name, fail_t *err)
{
    if (root == NULL) {
        passwd_space_auto_t space = { 0 };
        const struct group *gr = passwd_group(&space, name);
        return gr != NULL ? host_group(gr) : none(errno, "group", name, err);
    }
    json_auto_t *all = account_groups(root, err);
    return accounts_pick(all, name);
}

json_t *
account_users(const char *root, fail_t *err)
{
    json_auto_t *all = bare_users(root, err);
    json_auto_t *groups = all != NULL ? account_groups(root, err) : NULL;

    if (groups == NULL)
        return NULL;
    for (size_t i = 0; i < json_array_size(all); i++) {
        json_t *user = json_array_get(all, i);
        json_object_set_new(user, "groups", groups_among(root, value_str(user, "name", ""), user, groups));
    }
    return json_incref(all);
}

/* Looks one user up with his groups. NEW; NULL when unknown (err->code 0) or with *err. */
json_t *
account_user(const char *root, const char *name, fail_t *err)
{
    json_auto_t *user = bare_user(root, name, err);
    json_auto_t *groups = user != NULL ? account_groups(root, err) : NULL;

    if (groups == NULL)
        return NULL;
    json_object_set_new(user, "groups", groups_among(root, name, user, groups));
    return json_incref(user);
}

/* Names of the user's groups; those that list an unknown user. NEW, or NULL with *err. */
json_t *
account_groups_of(const char *root, const char *name, fail_t *err)
{
    fail_auto_t why = FAIL_INIT;
    json_auto_t *user = bare_user(root, name, &why);
    json_auto_t *groups = why.code == 0 ? account_groups(root, &why) : NULL;

    if (groups != NULL)
        return groups_among(root, name, user, groups);
    (void) fail_kind(err, FAIL_COMMAND, why.code, "%s", fail_text(&why));
    return NULL;
}

/* ---- programs --------------------------------------------------------------------------------- */

bool
account_own_groups(const char *root)
{
    AUTO_FREE char *path = xasprintf("%s/etc/login.defs", root != NULL ? root : "");
    buf_auto_t text = BUF_INIT;
    bool enabled = false;

    if (fs_read(path, LIMIT_CONF_FILE, &text, NULL) != 0)
        return false;
    char **lines = str_split(buf_str(&text), "\n", true);
    for (size_t i = 0; lines[i] != NULL; i++) {
        if (str_starts(str_trim(lines[i]), "USERGROUPS_ENAB"))
            enabled = strstr(lines[i], "yes") != NULL;
    }
    strv_free(lines);
    return enabled;
}

/* Begins the command; `root` goes to the program's own option. */
int
account_prog(prog_t *prog, const char *program, const char *root_option, const char *root, fail_t *err)
{
    int rc = tool_begin(prog, program, err);

    if (rc == 0 && root != NULL)
        prog_adds(prog, root_option, root, NULL);
    return rc;
}

int
account_run(call_ctx_t *ctx, prog_t *prog, int *ret_code, fail_t *err)
{
    return tool_retcode(ctx, prog, 0, ret_code, err);
}

/* Rejects names that would be options, or break the files' format. */
int
account_check_name(const char *name, fail_t *err)
{
    if (*name != '\0' && *name != '-' && name[strcspn(name, ":,\n")] == '\0')
        return 0;
    return fail_kind(err, FAIL_INVOCATION, -EINVAL, "'%s' is not a valid name for a user or group", name);
}

/* ---- what `user` and `group` do alike -------------------------------------------------------- */

/* NULL for the host. BORROWED. */
const char *
account_root(const json_t *args)
{
    const char *root = value_str(args, "root", NULL);

    return str_empty(root) ? NULL : root;
}

int
account_arg_name(const json_t *args, const char *key, const char **ret_name, fail_t *err)
{
    *ret_name = value_str(args, key, "");
    return account_check_name(*ret_name, err);
}

int
account_info(account_find_fn *find, const json_t *args, json_t **ret_value, fail_t *err)
{
    fail_auto_t why = FAIL_INIT;
    json_t *found = find(account_root(args), value_str(args, "name", ""), &why);

    if (why.code < 0)
        return fail_kind(err, FAIL_COMMAND, why.code, "%s", fail_text(&why));
    *ret_value = found != NULL ? found : json_object();
    return 0;
}

/* Entries are kept in the job's context until `refresh`; those of another root never are. */
int
account_getent(call_ctx_t *ctx, const char *key, account_all_fn *all, const json_t *args, json_t **ret_value,
               fail_t *err)
{
    const char *root = account_root(args);
    json_t *entries = root == NULL ? json_object_get(ctx_context(ctx), key) : NULL;

    if (entries != NULL && !value_bool(args, "refresh", false)) {
        *ret_value = json_incref(entries);
        return 0;
    }
    entries = all(root, err);
    if (entries == NULL)
        return -ENOENT;
    if (root == NULL)
        json_object_set(ctx_context(ctx), key, entries);
    *ret_value = entries;
    return 0;
}
