/* test_accounts.c - users and groups below a made-up root, and the command lines of `user` and `group`, by
 * programs of our own on PATH. */
#include "unit/unit.h"

#include <dlfcn.h>

#include "common/host/passwd.h"
#include "plugins/lib/system/accounts.h"
#include "unit/plugins/fakes.h"

extern const plugin_t exec_user, exec_group, exec_shadow, state_user;

/* ---- name services in trouble ---------------------------------------------------------------------- */

static int user_code, group_code,
    list_code; /* errno of lookups of "games", and at the end of lists; 0: as they are */

int
getpwnam_r(const char *name, struct passwd *user, char *bytes, size_t size, struct passwd **ret_found)
{
    int (*real)(const char *, struct passwd *, char *, size_t, struct passwd **) = (int (*)(
        const char *, struct passwd *, char *, size_t, struct passwd **)) dlsym(RTLD_NEXT, "getpwnam_r");

    *ret_found = NULL;
    return user_code != 0 && strcmp(name, "games") == 0 ? user_code
                                                        : real(name, user, bytes, size, ret_found);
}

int
getgrnam_r(const char *name, struct group *group, char *bytes, size_t size, struct group **ret_found)
{
    int (*real)(const char *, struct group *, char *, size_t, struct group **) = (int (*)(
        const char *, struct group *, char *, size_t, struct group **)) dlsym(RTLD_NEXT, "getgrnam_r");

    *ret_found = NULL;
    return group_code != 0 && strcmp(name, "games") == 0 ? group_code
                                                         : real(name, group, bytes, size, ret_found);
}

/* A directory service that has the group 4242, which no list has. */
static bool with_directory;

int
getgrouplist(const char *user, gid_t own, gid_t *ids, int *n)
{
    int (*real)(const char *, gid_t, gid_t *,
                int *) = (int (*)(const char *, gid_t, gid_t *, int *)) dlsym(RTLD_NEXT, "getgrouplist");
    int room = *n, rc = real(user, own, ids, n);

    if (rc < 0 || !with_directory)
        return rc;
    if (*n == room) {
        *n = room + 1;
        return -1;
    }
    ids[(*n)++] = 4242;
    return *n;
}

int
getgrgid_r(gid_t gid, struct group *group, char *bytes, size_t size, struct group **ret_found)
{
    int (*real)(gid_t, struct group *, char *, size_t, struct group **) = (int (*)(
        gid_t, struct group *, char *, size_t, struct group **)) dlsym(RTLD_NEXT, "getgrgid_r");

    if (!with_directory || gid != 4242)
        return real(gid, group, bytes, size, ret_found);
    *group = (struct group){ .gr_name = (char *) "of-directory", .gr_gid = 4242 };
    *ret_found = group;
    return 0;
}

struct passwd *
getpwent(void)
{
    struct passwd *(*real)(void) = (struct passwd * (*) (void) ) dlsym(RTLD_NEXT, "getpwent");

    errno = list_code;
    return list_code != 0 ? NULL : real();
}

struct group *
getgrent(void)
{
    struct group *(*real)(void) = (struct group * (*) (void) ) dlsym(RTLD_NEXT, "getgrent");

    errno = list_code;
    return list_code != 0 ? NULL : real();
}

static void
check_untold(const plugin_t *plugin, const char *fun, const char *args, const char *text)
{
    fail_auto_t err = FAIL_INIT;
    json_auto_t *value = fakes_call(plugin, fun, args, "{}", &err);

    assert_null(value);
    assert_string_equal(fail_text(&err), text);
    assert_int_equal(err.kind, FAIL_COMMAND);
}

/* Who can't be looked up is not somebody that is not there. */
static void
test_untold(void **state)
{
    user_code = group_code = EIO;
    check_untold(&exec_user, "user.info", "[\"games\"]",
                 "cannot tell whether there is a user 'games': Input/output error");
    check_untold(&exec_user, "user.chuid", "[\"games\", 5]",
                 "cannot tell whether there is a user 'games': Input/output error");
    check_untold(&exec_user, "user.chfullname", "[\"games\", \"G\"]",
                 "cannot tell whether there is a user 'games': Input/output error");
    check_untold(&exec_user, "user.rename", "[\"games\", \"halite-none\"]",
                 "cannot tell whether there is a user 'games': Input/output error");
    check_untold(&exec_user, "user.list_groups", "[\"games\"]",
                 "cannot tell whether there is a user 'games': Input/output error");
    check_untold(&exec_group, "group.info", "[\"games\"]",
                 "cannot tell whether there is a group 'games': Input/output error");
    check_untold(&exec_group, "group.deluser", "[\"games\", \"root\"]",
                 "cannot tell whether there is a group 'games': Input/output error");
    /* These say that there is none: see getpwnam(3). */
    user_code = group_code = ENOENT;
    fakes_check(&exec_user, &(fakes_row_t){ "user.info", "[\"games\"]", "{}", "{}", "" });
    fakes_check(&exec_group, &(fakes_row_t){ "group.info", "[\"games\"]", "{}", "{}", "" });
    user_code = group_code = 0;
}

/* A group that only a look by its number finds. */
static void
test_directory(void **state)
{
    fail_auto_t err = FAIL_INIT;

    with_directory = true;
    json_auto_t *groups = fakes_call(&exec_user, "user.list_groups", "[\"root\"]", "{}", &err);
    with_directory = false;
    assert_true(value_lists(groups, "of-directory"));
    assert_true(value_lists(groups, "root"));
}

static void
test_untold_lists(void **state)
{
    list_code = EMFILE;
    check_untold(&exec_user, "user.list_users", "[]", "cannot list the users: Too many open files");
    check_untold(&exec_user, "user.info", "[\"root\"]", "cannot list the groups: Too many open files");
    check_untold(&exec_group, "group.getent", "[]", "cannot list the groups: Too many open files");
    list_code = 0;
}

static void
test_shadow(void **state)
{
    static const char nobody[] = "{\"name\":\"\",\"passwd\":\"\",\"lstchg\":\"\",\"min\":\"\",\"max\":\"\","
                                 "\"warn\":\"\",\"inact\":\"\",\"expire\":\"\"}";
    fail_auto_t err = FAIL_INIT;

    fakes_check(&exec_shadow,
                &(fakes_row_t){ "shadow.info", "[\"zoe\"]", "{\"root\": \"{root}\"}", nobody, "" });
    fakes_put("root/etc/shadow/in-its-place", 0644, "");
    json_auto_t *info = fakes_call(&exec_shadow, "shadow.info", "[\"zoe\"]", "{\"root\": \"{root}\"}", &err);
    assert_null(info);
    assert_non_null(strstr(fail_text(&err), "/root/etc/shadow: "));
}

static int
set_up(void **state)
{
    static const char *const programs[] = { "useradd",  "usermod",  "userdel", "groupadd",
                                            "groupmod", "groupdel", "gpasswd" };

    assert_int_equal(fakes_begin(), 0);
    fakes_put("code", 0644, "0");
    fakes_put("root/etc/passwd", 0644,
              "root:x:0:0:root:/root:/bin/bash\n"
              "zoe:x:1001:50:Zoe Z,12,34,56,o,p:/home/zoe:/bin/sh\n"
              "broken:x\n"
              "+nis::::::\n"
              "amy:x:1002:1002::/home/amy:/bin/sh\n");
    fakes_put("root/etc/group", 0644,
              "root:x:0:\nstaff:x:50:amy\nalso:x:50:\naudio:x:29:zoe,amy\nbroken:x\namy:x:1002:\n");
    fakes_put("root/etc/login.defs", 0644, "# USERGROUPS_ENAB no\nUSERGROUPS_ENAB\tyes\n");
    for (size_t i = 0; i < NELEMS(programs); i++)
        fakes_program(programs[i]);
    return 0;
}

/* ---- reading -------------------------------------------------------------------------------------- */

static void
test_files(void **state)
{
    AUTO_FREE char *root = fs_join(fakes_dir, "root");
    fail_auto_t err = FAIL_INIT;
    json_auto_t *groups = account_groups(root, &err);
    json_auto_t *users = account_users(root, &err);
    json_auto_t *zoe = account_user(root, "zoe", &err);
    json_auto_t *of_amy = account_groups_of(root, "amy", &err);
    json_auto_t *of_nobody = account_groups_of(root, "nosuch", &err);

    fakes_equal(groups, "[{\"name\":\"root\",\"passwd\":\"x\",\"gid\":0,\"members\":[]},"
                        "{\"name\":\"staff\",\"passwd\":\"x\",\"gid\":50,\"members\":[\"amy\"]},"
                        "{\"name\":\"also\",\"passwd\":\"x\",\"gid\":50,\"members\":[]},"
                        "{\"name\":\"audio\",\"passwd\":\"x\",\"gid\":29,\"members\":[\"zoe\",\"amy\"]},"
                        "{\"name\":\"amy\",\"passwd\":\"x\",\"gid\":1002,\"members\":[]}]");
    assert_int_equal(json_array_size(users), 3);
    fakes_equal(zoe,
                "{\"gid\":50,\"home\":\"/home/zoe\",\"name\":\"zoe\",\"passwd\":\"x\",\"shell\":\"/bin/sh\","
                "\"uid\":1001,\"fullname\":\"Zoe Z\",\"roomnumber\":\"12\",\"workphone\":\"34\","
                "\"homephone\":\"56\",\"other\":\"o,p\",\"groups\":[\"also\",\"audio\",\"staff\"]}");
    fakes_equal(of_amy, "[\"amy\",\"audio\",\"staff\"]");
    fakes_equal(of_nobody, "[]");
    assert_null(account_user(root, "broken", &err));
    assert_null(account_group(root, "broken", &err));
    assert_int_equal(err.code, 0);
    assert_null(account_users(fakes_dir, &err));
    assert_true(err.code < 0);
}

static void
test_names(void **state)
{
    static const char *const bad[] = { "", "-a", "a:b", "a,b", "a\nb" }, *const good[] = { "a", "a-b", "$x",
                                                                                           "a b" };

    for (size_t i = 0; i < NELEMS(bad); i++)
        assert_true(account_check_name(bad[i], NULL) < 0);
    for (size_t i = 0; i < NELEMS(good); i++)
        assert_int_equal(account_check_name(good[i], NULL), 0);
}

/* ---- command lines ---------------------------------------------------------------------------------- */

static void
test_user(void **state)
{
    static const fakes_row_t rows[] = {
        { "user.add", "[\"new\"]", "{\"root\": \"{root}\"}", "true",
          "useradd [-R] [{root}] [-m] [--] [new]\n" },
        { "user.add", "[\"new\", 1007, \"staff\"]",
          "{\"root\": \"{root}\", \"home\": \"/h\", \"shell\": \"/bin/sh\", \"unique\": false, \"system\": "
          "true,"
          " \"createhome\": false, \"nologinit\": true, \"usergroup\": false}",
          "true",
          "useradd [-R] [{root}] [-s] [/bin/sh] [-u] [1007] [-d] [/h] [-g] [staff] [-N] [-M] [-l] [-o] [-r] "
          "[--] "
          "[new]\n" },
        { "user.add", "[\"staff\"]", "{\"root\": \"{root}\", \"groups\": [\"staff\", \"audio\"]}", "true",
          "useradd [-R] [{root}] [-g] [50] [-m] [--] [staff]\n"
          "usermod [-R] [{root}] [-G] [staff,audio] [--] [staff]\n" },
        { "user.add", "[\"zoe\"]", "{\"root\": \"{root}\", \"fullname\": \"A B\", \"usergroup\": true}",
          "true",
          "useradd [-R] [{root}] [-U] [-m] [--] [zoe]\n"
          "usermod [-R] [{root}] [-c] [A B,12,34,56,o,p] [--] [zoe]\n" },
        { "user.delete", "[\"zoe\", true, true]", "{\"root\": \"{root}\"}", "true",
          "userdel [-R] [{root}] [-r] [-f] [--] [zoe]\n" },
        { "user.chuid", "[\"zoe\", 1001]", "{\"root\": \"{root}\"}", "true", "" },
        { "user.chuid", "[\"zoe\", 7]", "{\"root\": \"{root}\"}", "false",
          "usermod [-R] [{root}] [-u] [7] [--] [zoe]\n" },
        { "user.chgid", "[\"zoe\", \"staff\"]", "{\"root\": \"{root}\"}", "true", "" },
        { "user.chgid", "[\"zoe\", \"audio\"]", "{\"root\": \"{root}\"}", "false",
          "usermod [-R] [{root}] [-g] [29] [--] [zoe]\n" },
        { "user.chshell", "[\"zoe\", \"/bin/zsh\"]", "{\"root\": \"{root}\"}", "false",
          "usermod [-R] [{root}] [-s] [/bin/zsh] [--] [zoe]\n" },
        { "user.chhome", "[\"zoe\", \"/h\", true]", "{\"root\": \"{root}\"}", "false",
          "usermod [-R] [{root}] [-m] [-d] [/h] [--] [zoe]\n" },
        { "user.chgroups", "[\"zoe\", \"audio, also,staff\"]", "{\"root\": \"{root}\"}", "true", "" },
        { "user.chgroups", "[\"zoe\", \"audio\", true]", "{\"root\": \"{root}\"}", "true",
          "usermod [-R] [{root}] [-a] [-G] [audio] [--] [zoe]\n" },
        { "user.chworkphone", "[\"zoe\", 35]", "{\"root\": \"{root}\"}", "false",
          "usermod [-R] [{root}] [-c] [Zoe Z,12,35,56,o,p] [--] [zoe]\n" },
        { "user.chother", "[\"zoe\", null]", "{\"root\": \"{root}\"}", "false",
          "usermod [-R] [{root}] [-c] [Zoe Z,12,34,56] [--] [zoe]\n" },
        { "user.rename", "[\"zoe\", \"zora\"]", "{\"root\": \"{root}\"}", "false",
          "usermod [-R] [{root}] [-l] [zora] [--] [zoe]\n" },
    };

    for (size_t i = 0; i < NELEMS(rows); i++)
        fakes_check(&exec_user, &rows[i]);
}

static void
test_group(void **state)
{
    static const fakes_row_t rows[] = {
        { "group.add", "[\"new\"]", "{}", "true", "groupadd [--] [new]\n" },
        { "group.add", "[\"new\", 0, true]", "{\"root\": \"{root}\", \"non_unique\": true}", "true",
          "groupadd [-R] [{root}] [-g] [0] [-o] [-r] [--] [new]\n" },
        { "group.delete", "[\"new\"]", "{\"root\": \"{root}\"}", "true",
          "groupdel [-R] [{root}] [--] [new]\n" },
        { "group.chgid", "[\"staff\", 50]", "{\"root\": \"{root}\"}", "true", "" },
        { "group.chgid", "[\"staff\", 51]", "{\"root\": \"{root}\", \"non_unique\": true}", "false",
          "groupmod [-R] [{root}] [-og] [51] [--] [staff]\n" },
        { "group.adduser", "[\"staff\", \"zoe\"]", "{}", "true", "gpasswd [--add] [zoe] [--] [staff]\n" },
        { "group.deluser", "[\"staff\", \"zoe\"]", "{\"root\": \"{root}\"}", "true", "" },
        { "group.deluser", "[\"staff\", \"amy\"]", "{\"root\": \"{root}\"}", "true",
          "gpasswd [--root] [{root}] [--del] [amy] [--] [staff]\n" },
        { "group.members", "[\"staff\", \"amy, zoe\"]", "{}", "true",
          "gpasswd [--members] [amy,zoe] [--] [staff]\n" },
        { "group.members", "[\"staff\", []]", "{}", "true", "gpasswd [--members] [] [--] [staff]\n" },
    };

    for (size_t i = 0; i < NELEMS(rows); i++)
        fakes_check(&exec_group, &rows[i]);
}

static void
test_refusals(void **state)
{
    static const fakes_row_t refused[] = {
        { "user.add", "[\"new\"]", "{\"groups\": \"audio\"}", "false", "useradd [-m] [--] [new]\n" },
        { "user.delete", "[\"zoe\"]", "{}", "false", "userdel [--] [zoe]\n" },
    };
    static const fakes_row_t ldap = { "user.chgroups", "[\"zoe\", \"audio\"]", "{\"root\": \"{root}\"}",
                                      "false",
                                      "usermod [-R] [{root}] [-G] [audio] [--] [zoe]\n"
                                      "gpasswd [--root] [{root}] [-a] [zoe] [audio]\n" };

    fakes_put("code", 0644, "9");
    for (size_t i = 0; i < NELEMS(refused); i++)
        fakes_check(&exec_user, &refused[i]);
    fakes_put("said", 0644, "usermod: group 'audio' not found in /etc/group\n");
    fakes_check(&exec_user, &ldap);
}

/* ---- hashes of passwords ------------------------------------------------------------------------- */

/* What the shadow file has for everybody, and what the state asks for. */
static const char *in_shadow;
static char *asked;

static int
no_user(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = json_object();
    return 0;
}

static int
shadow_info(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = json_pack("{s:s}", "passwd", in_shadow);
    return 0;
}

static int
gen_password(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    free(asked);
    asked = xasprintf("%s %s", value_str(args, "algorithm", ""), value_str(args, "crypt_salt", "random"));
    *ret_value = str_eq(value_str(args, "password", ""), "unhashable") ? json_null() : json_string("$6$s$h");
    return 0;
}

static const arg_t name_args[] = { ARG("name", ARG_STR, ARG_REQUIRED, "x"), ARGS_END };
static const arg_t gen_args[] = { ARG("password", ARG_STR, ARG_REQUIRED, "x"),
                                  ARG("crypt_salt", ARG_STR, "null", "x"),
                                  ARG("algorithm", ARG_STR, "\"sha512\"", "x"), ARGS_END };
static const func_t user_funcs[] = { { "info", no_user, name_args, 0, "" } };
static const func_t shadow_funcs[] = { { "gen_password", gen_password, gen_args, 0, "" },
                                       { "info", shadow_info, name_args, 0, "" } };
static const plugin_t fake_user = {
    .kind = PLUGIN_EXEC, .file = "user", .doc = "", .funcs = user_funcs, .n_funcs = NELEMS(user_funcs)
};
static const plugin_t fake_shadow = {
    .kind = PLUGIN_EXEC, .file = "shadow", .doc = "", .funcs = shadow_funcs, .n_funcs = NELEMS(shadow_funcs)
};

/* user.present in test mode, with these plug-ins. */
static int
foretell(const plugin_t *const *list, size_t n, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *opts = json_pack("{s:b}", "test", 1);
    registry_t *registry = registry_new(PLUGIN_EXEC, list, n);
    const call_env_t env = { .registry = registry, .opts = opts };
    call_ctx_t *ctx = call_ctx_new(&env);
    size_t i = 0;

    while (!str_eq(state_user.funcs[i].name, "present"))
        i++;
    int rc = state_user.funcs[i].fn(ctx, args, ret_value, err);
    call_ctx_destroy(&ctx);
    registry_destroy(&registry);
    return rc;
}

/* With hash_password, of a user who is not there. */
static int
present_hashed(const char *password, fail_t *err)
{
    static const plugin_t *const list[] = { &fake_shadow, &fake_user };
    json_auto_t *args = json_pack("{s:s, s:s, s:b}", "name", "zoe", "password", password, "hash_password", 1);
    json_auto_t *ret = NULL;

    return foretell(list, NELEMS(list), args, &ret, err);
}

static void
test_salts(void **state)
{
    static const struct {
        const char *hash, *want;
    } rows[] = {
        { "$6$abc./XYZ$hash", "sha512 abc./XYZ" },
        { "$5$salt$hash", "sha256 salt" },
        { "$1$salt$hash", "md5 salt" },
        /* A second field that is not a salt but a parameter, or a method that is not ours. */
        { "$y$j9T$F5Jx5fExrKuPp53xLKQ..1$X3DX6M94c7o", "sha512 random" },
        { "$6$rounds=656000$abcdefgh$hash", "sha512 random" },
        { "$7$CU..../....salt$hash", "sha512 random" },
        { "$2b$10$saltandhash", "sha512 random" },
        { "$6$$hash", "sha512 random" },
        { "$6$salt", "sha512 random" },
        { "*", "sha512 random" },
        { "", "sha512 random" },
    };

    for (size_t i = 0; i < NELEMS(rows); i++) {
        fail_auto_t err = FAIL_INIT;
        in_shadow = rows[i].hash;
        assert_int_equal(present_hashed("secret", &err), 0);
        assert_string_equal(asked, rows[i].want);
    }
    fail_auto_t err = FAIL_INIT;
    assert_true(present_hashed("unhashable", &err) < 0);
    assert_non_null(strstr(fail_text(&err), "zoe"));
    assert_null(strstr(fail_text(&err), "unhashable"));
    free(asked);
}

/* ---- groups of a user who is there ----------------------------------------------------------------- */

static int
zoe_info(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = json_pack("{s:s, s:i, s:i, s:s, s:s, s:[s, s, s]}", "name", "zoe", "uid", 1001, "gid", 50,
                           "home", "/", "shell", "/bin/sh", "groups", "audio", "staff", "sudo");
    return 0;
}

static int
any_group(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = str_eq(value_str(args, "name", ""), "nosuch")
                     ? json_object()
                     : json_pack("{s:O}", "name", value_get(args, "name"));
    /* `sound` is audio's second name. */
    static const char *const gids[] = { "sudo", "audio", "sound", "video" };
    for (size_t i = 0; i < NELEMS(gids); i++) {
        if (str_eq(value_str(args, "name", ""), gids[i]))
            json_object_set_new(*ret_value, "gid", json_integer(i == 2 ? 1 : (json_int_t) i));
    }
    return 0;
}

static int
staff(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = json_string("staff");
    return 0;
}

static void
test_groups(void **state)
{
    static const struct {
        const char *args, *comment;
    } rows[] = {
        /* None named: those that there are stay. */
        { "{}", "User zoe is present and up to date" },
        { "{\"groups\": null, \"optional_groups\": []}", "User zoe is present and up to date" },
        { "{\"optional_groups\": [\"nosuch\"]}", "User zoe is present and up to date" },
        { "{\"groups\": [], \"remove_groups\": false}", "User zoe is present and up to date" },
        { "{\"groups\": [\"audio\"], \"remove_groups\": false}", "User zoe is present and up to date" },
        { "{\"groups\": [\"audio\", \"sudo\"]}", "User zoe is present and up to date" },
        { "{\"groups\": [\"sound\", \"sudo\"]}", "User zoe is present and up to date" },
        { "{\"groups\": [\"audio\", \"sound\", \"sudo\"], \"remove_groups\": false}",
          "The following user attributes are set to be changed:\ngroups: ['audio', 'sound', 'sudo']\n" },
        { "{\"groups\": [\"sound\", \"video\"]}",
          "The following user attributes are set to be changed:\ngroups: ['sound', 'video']\n" },
        { "{\"groups\": []}", "The following user attributes are set to be changed:\ngroups: []\n" },
        { "{\"groups\": [\"audio\"]}",
          "The following user attributes are set to be changed:\ngroups: ['audio']\n" },
        { "{\"optional_groups\": [\"audio\", \"nosuch\"]}",
          "The following user attributes are set to be changed:\ngroups: ['audio']\n" },
    };
    static const arg_t gid_args[] = { ARG("gid", ARG_ANY, ARG_REQUIRED, "x"), ARGS_END };
    static const func_t users[] = { { "info", zoe_info, name_args, 0, "" } };
    static const func_t groups[] = { { "info", any_group, name_args, 0, "" } };
    static const func_t files[] = { { "gid_to_group", staff, gid_args, 0, "" } };
    static const plugin_t user = {
        .kind = PLUGIN_EXEC, .file = "user", .doc = "", .funcs = users, .n_funcs = 1
    };
    static const plugin_t group = {
        .kind = PLUGIN_EXEC, .file = "group", .doc = "", .funcs = groups, .n_funcs = 1
    };
    static const plugin_t file = {
        .kind = PLUGIN_EXEC, .file = "file", .doc = "", .funcs = files, .n_funcs = 1
    };
    static const plugin_t *const list[] = { &file, &group, &user };

    for (size_t i = 0; i < NELEMS(rows); i++) {
        fail_auto_t err = FAIL_INIT;
        json_auto_t *args = json_loads(rows[i].args, 0, NULL), *ret = NULL;
        json_object_set_new(args, "name", json_string("zoe"));
        assert_int_equal(foretell(list, NELEMS(list), args, &ret, &err), 0);
        assert_string_equal(value_str(ret, "comment", ""), rows[i].comment);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, fakes_end)
UNIT_MAIN(TEST(test_files), TEST(test_names), TEST(test_user), TEST(test_group), TEST(test_refusals),
          TEST(test_untold), TEST(test_untold_lists), TEST(test_directory), TEST(test_shadow),
          cmocka_unit_test(test_salts), cmocka_unit_test(test_groups))
