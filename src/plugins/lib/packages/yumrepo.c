/* yumrepo.c - repositories of dnf and yum: a section for each in files of the folders that their
 * configuration names.
 */
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/call/tool.h"
#include "plugins/lib/file/field.h"
#include "plugins/lib/packages/repofile.h"
#include "plugins/lib/packages/yum.h"

/* ---- folders ---------------------------------------------------------------------------------- */

/* The folders of repositories by the configuration of dnf or yum. NEW list, or NULL with *err. */
static json_t *
configured_folders(bool strict, fail_t *err)
{
    static const char *const files[] = { "/etc/yum/yum.conf", "/etc/yum.conf", "/etc/dnf/dnf.conf",
                                         "/etc/tdnf/tdnf.conf" };

    for (size_t i = 0; i < NELEMS(files); i++) {
        int there = fs_look(files[i], err);
        if (there < 0)
            return NULL;
        if (there == 0)
            continue;
        json_auto_t *conf = repofile_read(files[i], strict, NULL, err);
        json_t *folders = value_get(value_get(conf, "main"), "reposdir");
        if (conf == NULL)
            return NULL;
        return folders != NULL ? pkg_words(folders)
                               : json_pack("[s, s]", "/etc/yum/repos.d", "/etc/yum.repos.d");
    }
    fail_kind(
        err, FAIL_COMMAND, -ENOENT,
        "No suitable yum config file found in: ('/etc/yum/yum.conf', '/etc/yum.conf', '/etc/dnf/dnf.conf', "
        "'/etc/tdnf/tdnf.conf')");
    return NULL;
}

/* Salt's strict_config: a file that is wrong is an error unless it is False. */
static bool
is_strict(const json_t *kwargs)
{
    json_t *v = value_get(kwargs, "strict_config");

    return v == NULL || value_truthy(v);
}

/* `basedir` as the call has it, else the configuration's. NEW list, or NULL with *err. */
static json_t *
yumrepo_folders_of(const json_t *basedir, bool strict, fail_t *err)
{
    json_auto_t *given = value_truthy(basedir) ? pkg_words(basedir) : configured_folders(strict, err);

    if (given != NULL && json_array_size(given) == 0) {
        fail_kind(err, FAIL_INVOCATION, -EINVAL, "Could not determine any repo directories");
        return NULL;
    }
    return given != NULL ? json_incref(given) : NULL;
}

/* Adds the repositories of one folder. */
static int
repos_in(const char *folder, bool strict, json_t *ret, fail_t *err)
{
    char **names = NULL;
    int rc = fs_names(folder, &names, err);
    const char *name;
    json_t *repo;

    for (char **file = names; rc >= 0 && file != NULL && *file != NULL; file++) {
        if (!str_ends(*file, ".repo"))
            continue;
        AUTO_FREE char *path = xasprintf("%s/%s", folder, *file);
        json_auto_t *found = repofile_read(path, strict, NULL, err);
        rc = found != NULL ? 0 : err->code;
        json_object_foreach (found, name, repo) {
            json_object_set_new(repo, "file", json_string(path));
            json_object_set(ret, name, repo);
        }
    }
    strv_free(names);
    return rc < 0 ? rc : 0;
}

/* {repository: options and "file"}; of two with one name the last folder's counts. NEW, or NULL with *err. */
static json_t *
repos_of(const json_t *folders, bool strict, fail_t *err)
{
    json_auto_t *ret = json_object();
    json_t *v;
    size_t i;

    json_array_foreach (folders, i, v) {
        if (repos_in(json_string_value(v), strict, ret, err) < 0)
            return NULL;
    }
    return STEAL(ret);
}

json_t *
yum_repos(call_ctx_t *ctx, const json_t *basedir, fail_t *err)
{
    json_auto_t *folders = yumrepo_folders_of(basedir, true, err);

    return folders != NULL ? repos_of(folders, true, err) : NULL;
}

int
yum_list_repos(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    bool strict = is_strict(value_get(args, "kwargs"));
    json_auto_t *folders = yumrepo_folders_of(value_get(args, "basedir"), strict, err);

    *ret_value = folders != NULL ? repos_of(folders, strict, err) : NULL;
    return *ret_value != NULL ? 0 : err->code;
}

/* The id of "copr:OWNER/PROJECT" in its file; other names are their own. NEW. */
static char *
repo_id(const char *repo)
{
    const char *copr = str_starts(repo, "copr:") ? repo + strlen("copr:") : NULL, *slash;

    if (copr == NULL || (slash = strchr(copr, '/')) == NULL)
        return xstrdup(repo);
    return xasprintf("copr:copr.fedorainfracloud.org:%.*s:%s", (int) (slash - copr), copr, slash + 1);
}

/* {} for a repository that is not there. The file is Salt's own bookkeeping and left out. */
int
yum_get_repo(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *repos = NULL;
    AUTO_FREE char *id = repo_id(value_str(args, "repo", ""));

    if (yum_list_repos(ctx, args, &repos, err) < 0)
        return err->code;
    json_t *repo = value_get(repos, id);
    json_object_del(repo, "file");
    *ret_value = repo != NULL ? json_incref(repo) : json_object();
    return 0;
}

/* ---- changing ---------------------------------------------------------------------------------- */

/* A file that has no other repository goes as a whole. */
int
yum_del_repo(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    bool strict = is_strict(value_get(args, "kwargs")), alone = true;
    json_auto_t *folders = yumrepo_folders_of(value_get(args, "basedir"), strict, err);
    json_auto_t *repos = folders != NULL ? repos_of(folders, strict, err) : NULL;
    AUTO_FREE char *id = repo_id(value_str(args, "repo", ""));
    const char *name;
    json_t *repo;

    if (repos == NULL)
        return err->code;
    if (value_get(repos, id) == NULL) {
        AUTO_FREE char *shown = value_repr(folders);
        *ret_value = value_fmt("Error: the %s repo does not exist in %s", id, shown);
        return 0;
    }
    AUTO_FREE char *path = xstrdup(value_str(value_get(repos, id), "file", ""));
    json_object_foreach (repos, name, repo)
        alone = alone && (str_eq(name, id) || !str_eq(value_str(repo, "file", ""), path));
    if (alone) {
        if (unlink(path) < 0)
            return fail_set(err, -errno, "cannot remove %s: %s", path, strerror(errno));
        *ret_value = value_fmt("File %s containing repo %s has been removed", path, id);
        return 0;
    }
    buf_auto_t header = BUF_INIT;
    json_auto_t *sections = repofile_read(path, strict, &header, err);
    json_object_del(sections, id);
    if (sections == NULL || repofile_write(path, buf_str(&header), sections, err) < 0)
        return err->code;
    *ret_value = value_fmt("Repo %s has been removed from %s", id, path);
    return 0;
}

/* ---- mod_repo --------------------------------------------------------------------------------- */

typedef struct mod {
    call_ctx_t *ctx;
    const char *given;          /* BORROWED */
    char *id;                   /* owned */
    json_t *set, *drop;         /* owned: options to write, names of those to remove */
    json_t *folders, *sections; /* owned */
    char *path;                 /* owned */
    buf_t header;
    bool strict;
} mod_t;

/* Empty values remove an option; baseurl and mirrorlist exclude each other. */
static int
split_options(mod_t *m, const json_t *kwargs, fail_t *err)
{
    static const char *const own[] = { "saltenv", "strict_config" };
    const char *key;
    json_t *v;

    json_object_foreach ((json_t *) kwargs, key, v) {
        if (str_starts(key, "__") || str_eq(key, own[0]) || str_eq(key, own[1]))
            continue;
        if (field_check_text("option", key, FIELD_WORD "=:[]#", err) < 0)
            return err->code;
        if (value_truthy(v) || json_is_false(v) || json_is_number(v))
            json_object_set(m->set, key, v);
        else
            json_array_append_new(m->drop, json_string(key));
    }
    bool list = value_get(m->set, "mirrorlist") != NULL, base = value_get(m->set, "baseurl") != NULL;
    if (list && base)
        return fail_kind(err, FAIL_INVOCATION, -EINVAL,
                         "Only one of 'mirrorlist' and 'baseurl' can be specified");
    if (list || base)
        json_array_append_new(m->drop, json_string(list ? "baseurl" : "mirrorlist"));
    if (value_lists(m->drop, "name"))
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "The repo name cannot be deleted");
    return 0;
}

/* `dnf copr enable` writes the file of "copr:OWNER/PROJECT". */
static int
enable_copr(mod_t *m, fail_t *err)
{
    const char *plugin = yum_is_dnf() ? "dnf-plugins-core" : "yum-plugin-copr",
               *project = m->given + strlen("copr:");
    const json_t *known = rpm_packages(m->ctx, NULL, false, err);
    prog_auto_t prog = PROG_INIT;

    if (known == NULL)
        return err->code;
    if (value_get(known, plugin) == NULL)
        return fail_kind(err, FAIL_INVOCATION, -ENOENT, "%s must be installed to use COPR", plugin);
    if (yum_begin(m->ctx, &prog, err) < 0)
        return err->code;
    prog_adds(&prog, "copr", "enable", NULL);
    if (prog_operand(&prog, "repo", project, err) < 0)
        return err->code;
    prog_add(&prog, "-y");
    json_auto_t *out = tool_run(m->ctx, &prog, 0, err);
    if (out == NULL)
        return err->code;
    if (value_int(out, "retcode", 0) != 0)
        return fail_kind(err, FAIL_COMMAND, -EREMOTEIO,
                         "Unable to add COPR '%s'. '%s' exited with status %d: '%s' ", project, yum_bin(),
                         (int) value_int(out, "retcode", 0), value_str(out, "stderr", ""));
    return 0;
}

/* A new repository has a file of its own in the first folder that exists. */
static int
begin_new(mod_t *m, fail_t *err)
{
    const char *folder = NULL;
    json_t *v;
    size_t i;

    json_array_foreach (m->folders, i, v) {
        int there = folder == NULL ? fs_look(json_string_value(v), err) : 0;
        if (there < 0)
            return there;
        folder = there > 0 ? json_string_value(v) : folder;
    }
    if (folder == NULL) {
        AUTO_FREE char *shown = value_repr(m->folders);
        return fail_kind(err, FAIL_INVOCATION, -ENOENT,
                         "The repo does not exist and needs to be created, but none of the following basedir "
                         "directories exist: %s",
                         shown);
    }
    if (value_get(m->set, "name") == NULL)
        return fail_kind(err, FAIL_INVOCATION, -EINVAL,
                         "The repo does not exist and needs to be created, but a name was not given");
    if (value_get(m->set, "baseurl") == NULL && value_get(m->set, "mirrorlist") == NULL)
        return fail_kind(
            err, FAIL_INVOCATION, -EINVAL,
            "The repo does not exist and needs to be created, but either a baseurl or a mirrorlist needs "
            "to be given");
    m->path = xasprintf("%s/%s.repo", folder, m->id);
    m->sections = json_pack("{s:{}}", m->id);
    return 0;
}

/* The repository's file, which `dnf copr enable` may have to write first. */
static int
yumrepo_find(mod_t *m, fail_t *err)
{
    json_auto_t *repos = repos_of(m->folders, m->strict, err);

    if (repos == NULL)
        return err->code;
    if (value_get(repos, m->id) == NULL && !str_starts(m->given, "copr:"))
        return begin_new(m, err);
    if (value_get(repos, m->id) == NULL) {
        if (enable_copr(m, err) < 0)
            return err->code;
        json_decref(repos);
        repos = repos_of(m->folders, m->strict, err);
        if (value_get(repos, m->id) == NULL)
            return fail_kind(err, FAIL_COMMAND, -ENOENT, "%s has no file after `%s copr enable`", m->id,
                             yum_bin());
    }
    m->path = xstrdup(value_str(value_get(repos, m->id), "file", ""));
    m->sections = repofile_read(m->path, m->strict, &m->header, err);
    return m->sections != NULL ? 0 : err->code;
}

/* An option that takes the other's place may be removed, but one of baseurl and mirrorlist must stay. */
static int
yumrepo_change(mod_t *m, fail_t *err)
{
    json_t *section = value_get(m->sections, m->id), *v;
    const char *key;
    size_t i;

    static const char *const pair[] = { "baseurl", "mirrorlist" };
    for (i = 0; i < NELEMS(pair); i++) {
        const char *other = pair[1 - i];
        if (value_lists(m->drop, pair[i]) && value_get(m->set, other) == NULL &&
            value_get(section, other) == NULL)
            return fail_kind(err, FAIL_INVOCATION, -EINVAL, "Cannot delete %s without specifying %s", pair[i],
                             other);
    }
    json_array_foreach (m->drop, i, v)
        json_object_del(section, json_string_value(v));
    json_object_update(section, m->set);
    int rc = repofile_write(m->path, buf_str(&m->header), m->sections, err);
    json_object_foreach (m->sections, key, v)
        json_object_del(v, "comments");
    return rc;
}

/* The file's other repositories stay as they are; its whole content is the answer. */
int
yum_mod_repo(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *given = value_str(args, "repo", "");
    mod_t m = { .ctx = ctx,
                .given = given,
                .id = repo_id(given),
                .set = json_object(),
                .drop = json_array(),
                .strict = is_strict(value_get(args, "kwargs")) };
    int rc = field_check_text("repo", m.id, FIELD_LINE "/[]", err);

    if (rc == 0)
        rc = split_options(&m, value_get(args, "kwargs"), err);
    if (rc == 0 && (m.folders = yumrepo_folders_of(value_get(args, "basedir"), m.strict, err)) == NULL)
        rc = err->code;
    if (rc == 0 && (rc = yumrepo_find(&m, err)) == 0 && (rc = yumrepo_change(&m, err)) == 0)
        *ret_value = json_pack("{s:O}", m.path, m.sections);
    free(m.id);
    free(m.path);
    buf_free(&m.header);
    json_decref(m.set);
    json_decref(m.drop);
    json_decref(m.folders);
    json_decref(m.sections);
    return rc;
}
