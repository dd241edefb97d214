/* sourcenames.c - see sourcenames.h. */
#include "common/conf/sourcenames.h"

#include "common/base/buf.h"
#include "common/base/fs.h"
#include "common/base/str.h"

#define SOURCE_MAX (1024 * 1024)

/* All of Salt 3006, whether they are built in here or used where Salt's package is. */
static const char *const auth_names[] = { "auto", "django", "file", "keystone",     "ldap",   "mysql",
                                          "pam",  "pki",    "rest", "sharedsecret", "yubico", NULL };
static const char *const pillar_names[] = { "azureblob",
                                            "cmd_json",
                                            "cmd_yaml",
                                            "cmd_yamlex",
                                            "cobbler",
                                            "confidant",
                                            "consul",
                                            "csv",
                                            "csvpillar",
                                            "digicert",
                                            "django_orm",
                                            "ec2_pillar",
                                            "etcd",
                                            "extra_minion_data_in_pillar",
                                            "file_tree",
                                            "foreman",
                                            "git",
                                            "gpg",
                                            "hg",
                                            "hiera",
                                            "http_json",
                                            "http_yaml",
                                            "libvirt",
                                            "makostack",
                                            "mongo",
                                            "mysql",
                                            "nacl",
                                            "netbox",
                                            "neutron",
                                            "nodegroups",
                                            "pepa",
                                            "pillar_ldap",
                                            "postgres",
                                            "puppet",
                                            "reclass",
                                            "redis",
                                            "rethinkdb_pillar",
                                            "s3",
                                            "saltclass",
                                            "sql_base",
                                            "sqlcipher",
                                            "sqlite3",
                                            "stack",
                                            "svn",
                                            "varstack",
                                            "vault",
                                            "venafi",
                                            "virtkey",
                                            "vmware_pillar",
                                            NULL };

static const char *
next_name(void *cookie)
{
    const char *const **at = cookie;

    return **at != NULL ? *(*at)++ : NULL;
}

/* The line `__virtualname__ = "NAME"` of a file. */
static bool
takes_name(const char *file, const char *name)
{
    static const char word[] = "\n__virtualname__";
    fail_auto_t err = FAIL_INIT;
    buf_auto_t text = BUF_INIT;

    if (fs_read(file, SOURCE_MAX, &text, &err) < 0)
        return false;
    const char *at = strstr(buf_str(&text), word);
    if (at == NULL)
        return false;
    at += strlen(word);
    at += strspn(at, " =");
    size_t n = strlen(name);
    return (*at == '"' || *at == '\'') && strncmp(at + 1, name, n) == 0 && at[n + 1] == *at;
}

static bool
has_taker(const char *folder, const char *name)
{
    AUTO_FREE char *pattern = fs_join(folder, "*.py");
    fail_auto_t err = FAIL_INIT;
    bool has = false;
    glob_t found;

    if (fs_glob(pattern, 0, &found, &err) < 0)
        return false;
    for (size_t i = 0; i < found.gl_pathc && !has; i++)
        has = takes_name(found.gl_pathv[i], name);
    globfree(&found);
    return has;
}

/* A file, or a package, in Python of that kind. What can't be looked at may be one. */
static bool
has_file(const char *folder, const char *kind, const char *name)
{
    AUTO_FREE char *below = kind != NULL ? fs_join(folder, kind) : xstrdup(folder);
    AUTO_FREE char *package = fs_join(below, name), *file = xasprintf("%s.py", package);

    return fs_look(file, NULL) != 0 || fs_look(package, NULL) != 0 || has_taker(below, name);
}

static bool
users_own(const json_t *opts, const char *kind, const char *name)
{
    AUTO_FREE char *option = xasprintf("%s_dirs", kind);
    json_t *dir;
    size_t i;

    if (has_file(value_str(opts, "extension_modules", ""), kind, name))
        return true;
    json_array_foreach (value_get(opts, "module_dirs"), i, dir)
        if (json_is_string(dir) && has_file(json_string_value(dir), kind, name))
            return true;
    json_array_foreach (value_get(opts, option), i, dir)
        if (json_is_string(dir) && has_file(json_string_value(dir), NULL, name))
            return true;
    return false;
}

typedef struct kind {
    const char *option, *kind, *thing;
    const char *const *names;
} kind_t;

/* Appends a sentence unless there is such a name. */
static void
look_for(const json_t *opts, const kind_t *of, const char *name, json_t *said)
{
    const char *const *at = of->names;

    while (*at != NULL && strcmp(*at, name) != 0)
        at++;
    if (*at != NULL || users_own(opts, of->kind, name))
        return;
    at = of->names;
    const char *near = str_suggest(name, next_name, &at);
    json_array_append_new(said, value_fmt("%s: there is no %s '%s'%s%s%s", of->option, of->thing, name,
                                          near != NULL ? "; is '" : "", near != NULL ? near : "",
                                          near != NULL ? "' meant?" : ""));
}

json_t *
sourcenames_unknown(const json_t *opts)
{
    static const kind_t auth = { "external_auth", "auth", "system", auth_names },
                        pillar = { "ext_pillar", "pillar", "source", pillar_names };
    json_t *said = json_array(), *entry, *v;
    const char *name;
    size_t i;

    json_object_foreach (value_get(opts, "external_auth"), name, v)
        look_for(opts, &auth, name, said);
    json_array_foreach (value_get(opts, "ext_pillar"), i, entry)
        json_object_foreach (entry, name, v)
            look_for(opts, &pillar, name, said);
    return said;
}
