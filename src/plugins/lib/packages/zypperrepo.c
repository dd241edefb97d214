/* zypperrepo.c - repositories and locks of zypper, and package files that it fetches. */
#include "common/base/buf.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/host/rootfs.h"
#include "plugins/lib/call/tool.h"
#include "plugins/lib/file/field.h"
#include "plugins/lib/packages/repofile.h"
#include "plugins/lib/packages/xmltags.h"
#include "plugins/lib/packages/zypper.h"
#include "salt/log.h"

#define REPOS "/etc/zypp/repos.d"

/* {alias: options and "alias"} of all files. NEW, or NULL with *err. */
static json_t *
zypperrepo_configured(const char *root, fail_t *err)
{
    AUTO_FREE char *folder = root_path(root, REPOS);
    json_auto_t *ret = json_object();
    char **names = NULL;
    int rc = fs_names(folder, &names, err);
    const char *alias, *key;
    json_t *section, *v;

    for (char **name = names; rc >= 0 && name != NULL && *name != NULL; name++) {
        if (!str_ends(*name, ".repo"))
            continue;
        AUTO_FREE char *path = fs_join(folder, *name);
        json_auto_t *found = repofile_read(path, true, NULL, err);
        rc = found != NULL ? 0 : err->code;
        json_object_foreach (found, alias, section) {
            json_t *repo = json_pack("{s:s}", "alias", alias);
            /* As Salt reads options: "1" and "0" are truths, "NONE" is None. */
            json_object_foreach (section, key, v) {
                const char *text = json_is_string(v) ? json_string_value(v) : "";
                bool truth = str_eq(text, "0") || str_eq(text, "1");
                if (!str_eq(key, "comments"))
                    json_object_set_new(repo, key,
                                        truth                  ? json_boolean(*text == '1')
                                        : str_eq(text, "NONE") ? json_null()
                                                               : json_incref(v));
            }
            json_object_set_new(ret, alias, repo);
        }
    }
    strv_free(names);
    return rc < 0 ? NULL : STEAL(ret);
}

/* As zypper's files have them, with the options as Salt reads them. */
int
zypper_list_repos(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = zypperrepo_configured(zypper_root(args), err);
    return *ret_value != NULL ? 0 : err->code;
}

/* A repository that isn't there is {}, as in Salt. */
int
zypper_get_repo(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *repos = zypperrepo_configured(zypper_root(args), err);
    json_t *repo = value_get(repos, value_str(args, "repo", ""));

    if (repos == NULL)
        return err->code;
    *ret_value = repo != NULL ? json_incref(repo) : json_object();
    return 0;
}

/* {repo: True, "message"}. NEW, or NULL with *err. */
static json_t *
remove_repo(call_ctx_t *ctx, const char *repo, const char *root, fail_t *err)
{
    json_auto_t *repos = zypperrepo_configured(root, err);

    if (repos != NULL && value_get(repos, repo) == NULL)
        fail_kind(err, FAIL_COMMAND, -ENOENT, "Repository '%s' not found.", repo);
    if (value_get(repos, repo) == NULL || prog_check_operand("repo", repo, err) < 0)
        return NULL;
    json_auto_t *tags = zypper_elements(ctx, 0, root, err, "rr", "--loose-auth", "--loose-query", repo, NULL);
    json_auto_t *messages = xmltags_named(tags, "message"), *progress = xmltags_named(tags, "progress");
    if (tags != NULL && (json_array_size(messages) == 0 || json_array_size(progress) == 0))
        fail_kind(err, FAIL_COMMAND, -EREMOTEIO, "Repository '%s' not found.", repo);
    if (tags == NULL || json_array_size(messages) == 0 || json_array_size(progress) == 0)
        return NULL;
    return json_pack("{s:b, s:O}", repo, 1, "message", value_get(json_array_get(messages, 0), "text"));
}

/* zypper tells by messages whether it was there. */
int
zypper_del_repo(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = remove_repo(ctx, value_str(args, "repo", ""), zypper_root(args), err);
    return *ret_value != NULL ? 0 : err->code;
}

/* ---- mod_repo --------------------------------------------------------------------------------- */

/* Adds a repository at an address that no other one has. */
static int
add_repo(call_ctx_t *ctx, const char *repo, const json_t *kwargs, const json_t *repos, const char *root,
         fail_t *err)
{
    const char *url = value_str(kwargs, "url",
                                value_str(kwargs, "mirrorlist", value_str(kwargs, "baseurl", "")));
    const char *colon = strchr(url, ':'), *alias;
    json_t *other;

    if (*url == '\0')
        return fail_kind(err, FAIL_COMMAND, -EINVAL,
                         "Repository '%s' not found, and neither 'baseurl' nor 'mirrorlist' was specified",
                         repo);
    if (colon == NULL || colon == url || strchr("/?#", *url) != NULL)
        return fail_kind(err, FAIL_COMMAND, -EINVAL,
                         "Repository '%s' not found and URL for baseurl/mirrorlist is malformed", repo);
    /* Addresses are the same when they differ in an empty host alone: "dir:///x" and "dir:/x". */
    AUTO_FREE char *wanted = str_replace(url, ":///", ":/");
    json_object_foreach ((json_t *) repos, alias, other) {
        AUTO_FREE char *own = str_replace(value_str(other, "baseurl", ""), ":///", ":/");
        if (str_eq(own, wanted))
            return fail_kind(err, FAIL_COMMAND, -EEXIST, "Repository '%s' already exists as '%s'.", repo,
                             alias);
    }
    if (prog_check_operand("baseurl", url, err) < 0 || prog_check_operand("repo", repo, err) < 0)
        return err->code;
    json_auto_t *done = zypper_elements(ctx, 0, root, err, "ar", url, repo, NULL);
    json_auto_t *now = done != NULL ? zypperrepo_configured(root, err) : NULL;
    if (now != NULL && value_get(now, repo) == NULL)
        return fail_kind(err, FAIL_COMMAND, -EREMOTEIO,
                         "Failed add new repository '%s' for unspecified reason. Please check zypper logs.",
                         repo);
    return now != NULL ? 0 : err->code;
}

/* Options of `zypper mr` from the keywords; their number. */
static size_t
zypperrepo_add_options(prog_t *prog, const json_t *kwargs)
{
    static const char *const truths[][3] = { { "enabled", "--enable", "--disable" },
                                             { "refresh", "--refresh", "--no-refresh" },
                                             { "cache", "--keep-packages", "--no-keep-packages" },
                                             { "gpgcheck", "--gpgcheck", "--no-gpgcheck" } };
    const json_t *name = value_get(kwargs, "name") != NULL ? value_get(kwargs, "name")
                                                           : value_get(kwargs, "humanname");
    size_t n = 0;

    for (size_t i = 0; i < NELEMS(truths); i++) {
        const json_t *v = value_get(kwargs, truths[i][0]);
        if (v != NULL)
            prog_add(prog, truths[i][value_truthy(v) ? 1 : 2]);
        n += v != NULL;
    }
    if (value_get(kwargs, "priority") != NULL) {
        AUTO_FREE char *text = value_pystr(value_get(kwargs, "priority"));
        prog_addf(prog, "--priority=%s", text);
        n++;
    }
    if (name != NULL)
        prog_add_option(prog, "--name", name);
    return n + (name != NULL);
}

/* Runs `zypper mr` when a keyword asks for a change; *ret_n tells how many do. */
static int
change_options(call_ctx_t *ctx, const char *repo, const json_t *kwargs, const char *root, size_t *ret_n,
               fail_t *err)
{
    const unsigned flags = ZYPPER_XML | ZYPPER_REFRESHES;
    prog_auto_t prog = PROG_INIT;

    if (zypper_begin(ctx, &prog, flags, root, err) < 0)
        return err->code;
    prog_add(&prog, "mr");
    *ret_n = zypperrepo_add_options(&prog, kwargs);
    if (prog_operand(&prog, "repo", repo, err) < 0)
        return err->code;
    json_auto_t *out = *ret_n > 0 ? zypper_run(ctx, &prog, flags, err) : json_null();
    return out != NULL ? 0 : err->code;
}

/* Adds a repository that is not there, then sets its options. A call that changes nothing says so in
 * "comment". */
int
zypper_mod_repo(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *repo = value_str(args, "repo", ""), *root = zypper_root(args);
    json_auto_t *kwargs = json_copy(value_get(args, "kwargs")), *repos = zypperrepo_configured(root, err),
                *done = NULL;
    json_t *have = value_get(repos, repo), *base = value_get(kwargs, "baseurl");
    bool added = false, gone = have != NULL && base != NULL && !value_equal(base, value_get(have, "baseurl"));
    size_t n = 0;

    if (repos == NULL)
        return err->code;
    if (gone) {
        /* Zypper changes no address: the repository is made anew with what it had. */
        json_auto_t *was = json_copy(have);
        json_object_del(was, "alias");
        json_object_update(was, kwargs);
        json_object_update(kwargs, was);
        if (value_get(kwargs, "cache") == NULL)
            json_object_set_new(kwargs, "cache", json_false());
        if ((done = remove_repo(ctx, repo, root, err)) == NULL)
            return err->code;
        json_object_del(repos, repo);
    }
    if (have == NULL || gone) {
        if (add_repo(ctx, repo, kwargs, repos, root, err) < 0)
            return err->code;
        added = true;
    }
    if (change_options(ctx, repo, kwargs, root, &n, err) < 0)
        return err->code;
    if (json_is_true(value_get(kwargs, "gpgautoimport"))) {
        json_auto_t *call = json_pack("{s:s?, s:O}", "root", root, "kwargs", kwargs);
        json_object_set_new(kwargs, "repos", json_string(repo));
        json_auto_t *fresh = zypper_refresh(ctx, call, err);
        if (fresh == NULL)
            return err->code;
        n++;
    }
    if (zypper_get_repo(ctx, args, ret_value, err) < 0)
        return err->code;
    if (!added && n == 0)
        json_object_set_new(*ret_value, "comment",
                            json_string("Specified arguments did not result in modification of repo"));
    return 0;
}

/* ---- package files ---------------------------------------------------------------------------- */

/* {package: {"repository-name", "repository-alias", "path"}}. NEW, or NULL with *err. */
static json_t *
fetch(call_ctx_t *ctx, const json_t *packages, const char *root, fail_t *err)
{
    json_auto_t *ret = json_object(), *missing = json_array();
    prog_auto_t prog = PROG_INIT;
    json_t *tag, *one = NULL, *v;
    const char *package = "";
    size_t i;

    if (zypper_begin(ctx, &prog, ZYPPER_XML, root, err) < 0)
        return NULL;
    prog_add(&prog, "download");
    if (prog_operands(&prog, "packages", packages, err) < 0)
        return NULL;
    json_auto_t *out = zypper_run(ctx, &prog, ZYPPER_XML, err);
    if (out == NULL)
        return NULL;
    json_auto_t *tags = xmltags_read(value_str(out, "stdout", ""));
    json_array_foreach (tags, i, tag) {
        const char *name = value_str(tag, "tag", "");
        if (str_eq(name, "download-result"))
            one = NULL;
        else if (str_eq(name, "name"))
            package = value_str(tag, "text", "");
        else if (str_eq(name, "repository")) {
            one = json_pack("{s:s, s:s, s:s}", "repository-name", xmltags_attr(tag, "name"),
                            "repository-alias", xmltags_attr(tag, "alias"), "path", "");
            json_object_set_new(ret, package, one);
        } else if (str_eq(name, "localfile") && one != NULL) {
            json_object_set_new(one, "path", json_string(xmltags_attr(tag, "path")));
        }
    }
    json_array_foreach (packages, i, v) {
        AUTO_FREE char *name = value_pystr(v);
        prog_auto_t check = PROG_INIT;
        int code = 1;
        json_t *found = value_get(ret, name);
        if (found != NULL) {
            if (rpm_begin(&check, NULL, err) < 0)
                return NULL;
            /* A file whose signature or digest is wrong counts as not fetched. */
            prog_adds(&check, "-K", "--quiet", value_str(found, "path", ""), NULL);
            if (tool_retcode(ctx, &check, TOOL_QUIET, &code, err) < 0)
                return NULL;
        }
        if (code != 0) {
            json_object_del(ret, name);
            json_array_append_new(missing, json_string(name));
        }
    }
    AUTO_FREE char *names = value_joined(missing, ", ");
    if (json_object_size(ret) == 0) {
        fail_kind(err, FAIL_COMMAND, -ENOENT, "Unable to download packages: %s", names);
        return NULL;
    }
    if (*names != '\0')
        json_object_set_new(ret, "_error",
                            value_fmt("The following package(s) failed to download: %s", names));
    return STEAL(ret);
}

/* Packages are fetched into zypper's cache. */
int
zypper_download(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *done = value_truthy(value_get(value_get(args, "kwargs"), "refresh"))
                            ? zypper_refresh(ctx, args, err)
                            : json_null();

    if (json_array_size(value_get(args, "packages")) == 0)
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "No packages specified");
    *ret_value = done != NULL ? fetch(ctx, value_get(args, "packages"), zypper_root(args), err) : NULL;
    return *ret_value != NULL ? 0 : err->code;
}

/* The packages of all files are fetched by one command; each file is then compared with its own. */
int
zypper_diff(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *ret = json_object(), *owners = json_object(), *packages = json_array(), *files = NULL;
    json_t *v;
    const char *path;
    size_t i;

    json_array_foreach (value_get(args, "paths"), i, v) {
        AUTO_FREE char *text = value_pystr(v);
        AUTO_FREE char *owner = rpm_owner_of(ctx, text, value_get(args, "kwargs"), err);
        if (owner == NULL)
            return err->code;
        if (*owner != '\0')
            json_object_set_new(owners, text, json_string(owner));
        else
            json_object_set_new(ret, text, json_string(fs_absent(text) ? "N/A" : "Not managed"));
    }
    json_object_foreach (owners, path, v)
        if (!value_has(packages, v))
            json_array_append(packages, v);
    if (json_array_size(packages) > 0 && (files = fetch(ctx, packages, zypper_root(args), err)) == NULL)
        return err->code;
    json_object_foreach (owners, path, v) {
        const char *file = value_str(value_get(files, json_string_value(v)), "path", NULL);
        AUTO_FREE char *text = file != NULL ? rpm_difference(ctx, file, path, err) : NULL;
        if (text == NULL)
            return file == NULL ? fail_kind(err, FAIL_COMMAND, -ENOENT, "%s", value_str(files, "_error", ""))
                                : err->code;
        json_object_set_new(ret, path, json_string(*text != '\0' ? text : "Unchanged"));
    }
    *ret_value = STEAL(ret);
    return 0;
}

/* Package files in zypper's cache, by name and version. */
int
zypper_list_downloaded(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *folder = root_path(zypper_root(args), "/var/cache/zypp/packages");
    json_auto_t *found = json_object();

    if (rpm_downloaded_in(ctx, folder, found, err) < 0)
        return err->code;
    *ret_value = STEAL(found);
    return 0;
}
