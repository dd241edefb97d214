/* pacman.c - see pacman.h: lists, files and groups as pacman prints them, and what it installs and removes.
 * Its output has no form for programs, so lines are cut at blanks. Salt's quirks that are kept: groups and
 * upgrades without a code are told, and errors of single packages are lines among the others. */
#include "plugins/lib/packages/pacman.h"

#include <fnmatch.h>

#include "common/base/str.h"
#include "common/host/rootfs.h"
#include "plugins/lib/call/tool.h"
#include "plugins/lib/packages/rpmver.h"

#define CONTEXT_KEY "pkg.list_pkgs"

/* ---- running ---------------------------------------------------------------------------------- */

/* `scope`: in a scope of systemd's, so that an upgrade of the minion itself is not ended with it. */
static int
pacman_begin(call_ctx_t *ctx, prog_t *prog, bool scope, fail_t *err)
{
    if (tool_need("pacman", err) < 0)
        return err->code;
    if (scope && pkg_wants_scope(ctx))
        prog_adds(prog, "systemd-run", "--scope", NULL);
    prog_add(prog, "pacman");
    return 0;
}

/* The folder of another system, as an argument or a keyword; NULL for the host's own. */
static const char *
pacman_root(const json_t *args)
{
    const char *root = value_str(args, "root", value_str(value_get(args, "kwargs"), "root", ""));

    return *root != '\0' ? root : NULL;
}

/* pacman works on the system below that folder. */
static void
add_root(prog_t *prog, const json_t *args)
{
    if (pacman_root(args) != NULL)
        prog_adds(prog, "-r", pacman_root(args), NULL);
}

/* What a short command with operands prints. NEW, or NULL with *err. */
static char *
pacman_text_of(call_ctx_t *ctx, const char *option, const json_t *operands, unsigned flags, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;

    if (pacman_begin(ctx, &prog, false, err) < 0)
        return NULL;
    prog_add(&prog, option);
    if (operands != NULL && prog_operands(&prog, "names", operands, err) < 0)
        return NULL;
    json_auto_t *out = tool_run(ctx, &prog, flags, err);
    return out != NULL ? xstrdup(value_str(out, "stdout", "")) : NULL;
}

/* The words of a line; at most `n`, the rest of them NULL. The line is cut. */
static void
cut(char *line, char **words, size_t n)
{
    char *rest = line;

    for (size_t i = 0; i < n; i++) {
        while (rest != NULL && *rest == ' ')
            rest++;
        words[i] = rest != NULL && *rest != '\0' ? strsep(&rest, " ") : NULL;
    }
}

/* ---- installed -------------------------------------------------------------------------------- */

/* {name: [version]}, read once per job. NEW, or NULL with *err. */
static json_t *
packages_now(call_ctx_t *ctx, const json_t *args, fail_t *err)
{
    json_t *use = value_get(value_get(args, "kwargs"), "use_context"),
           *known = value_get(ctx_context(ctx), CONTEXT_KEY);
    prog_auto_t prog = PROG_INIT;
    char *words[2];

    if (known != NULL && (use == NULL || value_truthy(use)))
        return json_incref(known);
    if (pacman_begin(ctx, &prog, false, err) < 0)
        return NULL;
    prog_add(&prog, "-Q");
    add_root(&prog, args);
    json_auto_t *out = tool_run(ctx, &prog, TOOL_MERGE, err);
    if (out == NULL)
        return NULL;
    AUTO_FREE char *text = xstrdup(value_str(out, "stdout", ""));
    known = json_object();
    for (char *at = text, *line; (line = line_next(&at)) != NULL;) {
        cut(line, words, NELEMS(words));
        if (words[1] != NULL && !str_eq(words[0], "error:"))
            pkg_add(known, words[0], json_string(words[1]));
    }
    json_object_set(ctx_context(ctx), CONTEXT_KEY, known);
    return known;
}

/* {name: version}. */
static json_t *
versions_now(call_ctx_t *ctx, const json_t *args, fail_t *err)
{
    json_auto_t *known = packages_now(ctx, args, err);
    json_t *ret = json_copy(known);

    if (ret != NULL)
        pkg_stringify(ret);
    return ret;
}

/* pacman keeps nothing of packages that were removed. */
int
pacman_list_pkgs(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const json_t *kwargs = value_get(args, "kwargs");

    if (pkg_arg_true(kwargs, "removed") || pkg_arg_true(kwargs, "purge_desired"))
        *ret_value = json_object();
    else
        *ret_value = pkg_arg_true(args, "versions_as_list") ? packages_now(ctx, args, err)
                                                            : versions_now(ctx, args, err);
    return *ret_value != NULL ? 0 : err->code;
}

/* Versions of names as pkg.list_pkgs has them; a package that isn't there has an empty one. */
int
pacman_version(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *known = packages_now(ctx, args, err);

    if (known == NULL)
        return err->code;
    *ret_value = pkg_versions(known, value_get(args, "names"),
                              pkg_arg_true(value_get(args, "kwargs"), "versions_as_list"));
    return 0;
}

/* By alpm's own order: see rpmver.c. */
int
pacman_version_cmp(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *a = value_pystr(value_get(args, "pkg1"));
    AUTO_FREE char *b = value_pystr(value_get(args, "pkg2"));

    *ret_value = json_integer(alpmver_cmp(a, b, value_truthy(value_get(args, "ignore_epoch"))));
    return 0;
}

/* ---- available -------------------------------------------------------------------------------- */

/* pacman -Sy: what is new is True, what was new enough False. The mark of states goes first. Lines with "::"
 * are headings. */
static json_t *
refresh(call_ctx_t *ctx, const json_t *args, fail_t *err)
{
    AUTO_FREE char *mark = xasprintf("%s/pkg_refresh",
                                     value_str(ctx_opts(ctx), "cachedir", "/var/cache/salt/minion"));
    prog_auto_t prog = PROG_INIT;
    char *words[2];

    (void) remove(mark);
    if (pacman_begin(ctx, &prog, false, err) < 0)
        return NULL;
    prog_add(&prog, "-Sy");
    add_root(&prog, args);
    json_auto_t *out = tool_run(ctx, &prog, 0, err);
    if (out == NULL)
        return NULL;
    if (value_int(out, "retcode", 0) != 0) {
        fail_kind(err, FAIL_COMMAND, -EREMOTEIO, "Error refreshing package database: %s",
                  value_str(out, "stderr", ""));
        return NULL;
    }
    AUTO_FREE char *text = xstrdup(value_str(out, "stdout", ""));
    json_t *ret = json_object();
    for (char *at = text, *line; (line = line_next(&at)) != NULL;) {
        bool same = strstr(line, "is up to date") != NULL, fresh = strstr(line, "downloading") != NULL;
        if (str_starts(line + strspn(line, " "), "::"))
            continue;
        cut(line, words, NELEMS(words));
        if (same && words[0] != NULL)
            json_object_set_new(ret, words[0], json_false());
        /* "lab downloading..." since pacman 6, "downloading lab.db..." before it. */
        if (!same && fresh && words[1] != NULL) {
            char *name = str_starts(words[1], "downloading") ? words[0] : words[1];
            name[strcspn(name, ".")] = '\0';
            json_object_set_new(ret, name, json_true());
        }
    }
    return ret;
}

/* {database: True when it was new}. */
int
pacman_refresh_db(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = refresh(ctx, args, err);
    return *ret_value != NULL ? 0 : err->code;
}

/* `--needed` leaves out what is new enough, so a name that is not printed has no newer version. */
int
pacman_latest_version(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *names = value_get(args, "names"), *v;
    json_auto_t *ret = json_object(), *done = NULL;
    prog_auto_t prog = PROG_INIT;
    char *words[2];
    size_t i;

    if (json_array_size(names) == 0) {
        *ret_value = json_string("");
        return 0;
    }
    if (pkg_arg_true(value_get(args, "kwargs"), "refresh") && (done = refresh(ctx, args, err)) == NULL)
        return err->code;
    if (pacman_begin(ctx, &prog, false, err) < 0)
        return err->code;
    prog_adds(&prog, "-Sp", "--needed", "--print-format", "%n %v", NULL);
    if (prog_operands(&prog, "names", names, err) < 0)
        return err->code;
    add_root(&prog, args);
    json_auto_t *out = tool_run(ctx, &prog, 0, err);
    if (out == NULL)
        return err->code;
    json_array_foreach (names, i, v) {
        AUTO_FREE char *name = value_pystr(v);
        json_object_set_new(ret, name, json_string(""));
    }
    AUTO_FREE char *text = xstrdup(value_str(out, "stdout", ""));
    for (char *at = text, *line; (line = line_next(&at)) != NULL;) {
        cut(line, words, NELEMS(words));
        if (words[1] != NULL && value_get(ret, words[0]) != NULL)
            json_object_set_new(ret, words[0], json_string(words[1]));
    }
    *ret_value = json_incref(json_array_size(names) == 1 ? json_object_iter_value(json_object_iter(ret))
                                                         : ret);
    return 0;
}

/* By pacman_latest_version(): "" means that there is none. */
int
pacman_upgrade_available(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *latest = NULL,
                *call = json_pack("{s:[O], s:{}}", "names", value_get(args, "name"), "kwargs");
    int rc = pacman_latest_version(ctx, call, &latest, err);

    if (rc == 0)
        *ret_value = json_boolean(*json_string_value(latest) != '\0');
    return rc;
}

/* Three words are progress, two are a package. */
int
pacman_list_upgrades(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;
    char *words[3];

    if (pacman_begin(ctx, &prog, false, err) < 0)
        return err->code;
    prog_adds(&prog, "-S", "-p", "-u", "--print-format", "%n %v", NULL);
    add_root(&prog, args);
    if (value_truthy(value_get(args, "refresh")))
        prog_add(&prog, "-y");
    json_auto_t *out = tool_run(ctx, &prog, 0, err);
    if (out == NULL)
        return err->code;
    const char *errors = value_str(out, "stderr", ""), *printed = value_str(out, "stdout", "");
    if (value_int(out, "retcode", 0) != 0)
        return fail_kind(err, FAIL_COMMAND, -EREMOTEIO, "Error listing upgrades%s%s%s",
                         *errors != '\0' || *printed != '\0' ? ": " : "", errors, printed);
    AUTO_FREE char *text = xstrdup(printed);
    *ret_value = json_object();
    for (char *at = text, *line; (line = line_next(&at)) != NULL;) {
        cut(line, words, NELEMS(words));
        if (words[1] != NULL && words[2] == NULL && !str_eq(words[0], "downloading"))
            json_object_set_new(*ret_value, words[0], json_string(words[1]));
    }
    return 0;
}

/* {repo: {name: [versions]}} of some names and repositories; of all when these are empty. NEW, or NULL with
 * *err. */
static json_t *
repo_packages(call_ctx_t *ctx, const json_t *names, const json_t *repos, fail_t *err)
{
    AUTO_FREE char *text = pacman_text_of(ctx, "-Sl", NULL, TOOL_QUIET, err);
    json_t *ret = text != NULL ? json_object() : NULL, *v;
    char *words[3];
    size_t i;

    for (char *at = text, *line; ret != NULL && (line = line_next(&at)) != NULL;) {
        bool wanted = json_array_size(names) == 0;
        cut(line, words, NELEMS(words));
        if (words[2] == NULL || (json_array_size(repos) > 0 && !value_lists(repos, words[0])))
            continue;
        json_array_foreach (names, i, v)
            /* Names may be globs. */
            wanted = wanted || (json_is_string(v) && fnmatch(json_string_value(v), words[1], 0) == 0);
        if (!wanted)
            continue;
        if (value_get(ret, words[0]) == NULL)
            json_object_set_new(ret, words[0], json_object());
        pkg_add(value_get(ret, words[0]), words[1], json_string(words[2]));
    }
    return ret;
}

/* {name: [versions]} of all repositories, the newest first. NEW. */
static json_t *
merged(const json_t *by_repo)
{
    json_t *ret = json_object(), *packages, *versions, *v;
    const char *repo, *name;
    void *next;
    size_t i;

    json_object_foreach ((json_t *) by_repo, repo, packages)
        json_object_foreach (packages, name, versions)
            json_array_foreach (versions, i, v)
                pkg_add(ret, name, json_incref(v));
    json_object_foreach_safe (ret, next, name, versions)
        json_object_set_new(ret, name, pkg_newest_first(alpmver_cmp, versions));
    return ret;
}

/* `pacman -Sl` lists all repositories; names and repositories are picked here. */
int
pacman_list_repo_pkgs(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const json_t *kwargs = value_get(args, "kwargs");
    json_auto_t *repos = value_truthy(value_get(kwargs, "fromrepo"))
                             ? pkg_words(value_get(kwargs, "fromrepo"))
                             : NULL;
    json_auto_t *done = value_truthy(value_get(kwargs, "refresh")) ? refresh(ctx, NULL, err) : json_null();
    json_auto_t *found = done != NULL ? repo_packages(ctx, value_get(args, "args"), repos, err) : NULL;

    if (found == NULL)
        return err->code;
    *ret_value = value_truthy(value_get(kwargs, "byrepo")) ? STEAL(found) : merged(found);
    return 0;
}

/* ---- files and groups ------------------------------------------------------------------------- */

/* Lines "package path", of which `take` gets both. Lines with "error" go to `errors`. */
static int
each_file(call_ctx_t *ctx, const json_t *args, json_t *errors, json_t *files, bool apart, fail_t *err)
{
    AUTO_FREE char *text = pacman_text_of(ctx, "-Ql", value_get(args, "packages"), TOOL_MERGE, err);

    if (text == NULL)
        return err->code;
    for (char *at = text, *line; (line = line_next(&at)) != NULL;) {
        char *blank = strchr(line, ' ');
        if (str_starts(line, "error")) {
            json_array_append_new(errors, json_string(line));
            continue;
        }
        if (blank == NULL)
            continue;
        *blank = '\0';
        if (apart)
            pkg_add(files, line, value_utf8(blank + 1, strlen(blank + 1)));
        else
            json_array_append_new(files, value_utf8(blank + 1, strlen(blank + 1)));
    }
    return 0;
}

int
pacman_file_list(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *errors = json_array(), *files = json_array();
    int rc = each_file(ctx, args, errors, files, false, err);

    if (rc == 0)
        *ret_value = json_pack("{s:O, s:O}", "errors", errors, "files", files);
    return rc;
}

int
pacman_file_dict(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *errors = json_array(), *files = json_object();
    int rc = each_file(ctx, args, errors, files, true, err);

    if (rc == 0)
        *ret_value = json_pack("{s:O, s:O}", "errors", errors, "packages", files);
    return rc;
}

/* A single path answers with its owner, several with an object. */
int
pacman_owner(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *ret = json_object();
    json_t *paths = value_get(args, "paths"), *v;
    size_t i;

    json_array_foreach (paths, i, v) {
        AUTO_FREE char *path = value_pystr(v);
        json_auto_t *one = json_pack("[s]", path);
        AUTO_FREE char *text = pacman_text_of(ctx, "-Qqo", one, 0, err);
        if (text == NULL)
            return err->code;
        json_object_set_new(ret, path, json_string(text));
    }
    if (json_array_size(paths) == 0)
        *ret_value = json_string("");
    else
        *ret_value = json_incref(json_object_size(ret) == 1 ? json_object_iter_value(json_object_iter(ret))
                                                            : ret);
    return 0;
}

/* {group: [packages]} of "group package" lines. NEW, or NULL with *err. */
static json_t *
pacman_groups_of(call_ctx_t *ctx, const char *option, const json_t *names, fail_t *err)
{
    AUTO_FREE char *text = pacman_text_of(ctx, option, names, TOOL_MERGE, err);
    json_t *ret = text != NULL ? json_object() : NULL;
    char *words[2];

    for (char *at = text, *line; ret != NULL && (line = line_next(&at)) != NULL;) {
        cut(line, words, NELEMS(words));
        if (words[1] != NULL && !str_eq(words[0], "error:"))
            pkg_add(ret, words[0], json_string(words[1]));
    }
    return ret;
}

/* Installed wholly, partly or not at all: by counting, as pacman lists a group's packages only. */
int
pacman_group_list(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *available = pacman_groups_of(ctx, "-Sgg", NULL, err);
    json_auto_t *installed = available != NULL ? pacman_groups_of(ctx, "-Qg", NULL, err) : NULL;
    json_auto_t *whole = json_array(), *partly = json_array();
    json_t *packages;
    const char *group;

    if (installed == NULL)
        return err->code;
    json_object_foreach (installed, group, packages) {
        size_t all = json_array_size(value_get(available, group));
        if (all > 0)
            json_array_append_new(json_array_size(packages) == all ? whole : partly, json_string(group));
        json_object_del(available, group);
    }
    *ret_value = json_pack("{s:o, s:o, s:o}", "installed", value_sorted_texts(whole), "partially_installed",
                           value_sorted_texts(partly), "available", value_sorted_keys(available));
    return 0;
}

/* The packages of a group, all of them default ones. NEW, or NULL with *err. */
static json_t *
pacman_group_members(call_ctx_t *ctx, const char *name, fail_t *err)
{
    json_auto_t *names = json_pack("[s]", name);
    json_auto_t *groups = pacman_groups_of(ctx, "-Sgg", names, err);

    if (groups == NULL)
        return NULL;
    return value_get(groups, name) != NULL ? value_sorted_texts(value_get(groups, name)) : json_array();
}

int
pacman_group_info(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *members = pacman_group_members(ctx, value_str(args, "name", ""), err);

    if (members == NULL)
        return err->code;
    *ret_value = json_pack("{s:[], s:[], s:o, s:[]}", "mandatory", "optional", "default", members,
                           "conditional");
    return 0;
}

/* pacman's groups have no kinds of members: all are default ones. */
int
pacman_group_diff(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *known = packages_now(ctx, NULL, err), *there = json_array(), *missing = json_array();
    json_auto_t *members = known != NULL ? pacman_group_members(ctx, value_str(args, "name", ""), err) : NULL;
    json_t *v;
    size_t i;

    if (members == NULL)
        return err->code;
    json_array_foreach (members, i, v)
        json_array_append(value_get(known, json_string_value(v)) != NULL ? there : missing, v);
    *ret_value = json_pack("{s:{s:[], s:[]}, s:{s:[], s:[]}, s:{s:O, s:O}, s:{s:[], s:[]}}", "mandatory",
                           "installed", "not installed", "optional", "installed", "not installed", "default",
                           "installed", there, "not installed", missing, "conditional", "installed",
                           "not installed");
    return 0;
}

/* ---- install, upgrade, remove ----------------------------------------------------------------- */

/* Runs the command; its changes, or what went wrong with them. `upgrade`: any exit code but 0 is an error,
 * and the whole result is told. */
static int
pacman_carry_out(call_ctx_t *ctx, prog_t *prog, const char *failure, bool upgrade, json_t **ret_value,
                 fail_t *err)
{
    json_auto_t *old = versions_now(ctx, NULL, err), *out = old != NULL ? tool_run(ctx, prog, 0, err) : NULL;

    if (out == NULL)
        return err->code;
    json_object_del(ctx_context(ctx), CONTEXT_KEY);
    json_auto_t *now = versions_now(ctx, NULL, err);
    if (now == NULL)
        return err->code;
    json_auto_t *changes = pkg_changes(old, now);
    const char *errors = value_str(out, "stderr", "");
    if (value_int(out, "retcode", 0) != 0 && (upgrade || *errors != '\0')) {
        json_auto_t *info = upgrade ? json_pack("{s:O, s:O}", "changes", changes, "result", out)
                                    : json_pack("{s:[s], s:O}", "errors", errors, "changes", changes);
        return pkg_fail_info(err, failure, info);
    }
    *ret_value = STEAL(changes);
    return 0;
}

/* "name=1.2" for each wish; globs are resolved, and what has no version is a text in `errors`. */
static int
pacman_words(call_ctx_t *ctx, const json_t *params, bool fresh, json_t *words, json_t *errors, fail_t *err)
{
    json_auto_t *available = NULL;
    const char *name;
    json_t *wish, *v;
    size_t i;

    json_object_foreach ((json_t *) params, name, wish) {
        const char *text = json_is_string(wish) ? json_string_value(wish) : "";
        size_t signs = strspn(text, "<>=!");
        const char *version = text + signs + strspn(text + signs, " "), *found = NULL;
        bool equal = signs == 0 || (signs == 1 && *text == '=');
        if (*text == '\0') {
            json_array_append_new(words, json_string(name));
        } else if (strchr(version, '*') == NULL) {
            json_array_append_new(
                words, value_fmt("%s%.*s%s%s", name, (int) signs, text, signs == 0 ? "=" : "", version));
        } else if (!equal) {
            json_array_append_new(
                errors, value_fmt("Invalid wildcard for %s%.*s%s", name, (int) signs, text, version));
        } else {
            json_auto_t *one = json_pack("[s]", name);
            json_auto_t *done = fresh && available == NULL ? refresh(ctx, NULL, err) : json_null();
            json_decref(available);
            available = done != NULL ? repo_packages(ctx, one, NULL, err) : NULL;
            if (available == NULL)
                return err->code;
            json_auto_t *all = merged(available);
            json_t *candidates = value_get(all, name);
            json_array_foreach (candidates, i, v)
                if (found == NULL && fnmatch(version, json_string_value(v), 0) == 0)
                    found = json_string_value(v);
            AUTO_FREE char *list = candidates != NULL ? value_joined(candidates, ", ") : xstrdup("none");
            json_array_append_new(found != NULL ? words : errors,
                                  found != NULL ? value_fmt("%s=%s", name, found)
                                                : value_fmt("No version matching '%s' found for package '%s' "
                                                            "(available: %s)",
                                                            version, name, list));
        }
    }
    return 0;
}

/* Package files by -U, names by -S. Wishes with globs are resolved by the lists first. */
int
pacman_install(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const char failure[] = "Problem encountered installing package(s)";
    bool fresh = json_is_true(value_get(args, "refresh")), files;
    json_t *sysupgrade = value_get(args, "sysupgrade");
    json_auto_t *params = NULL, *words = json_array(), *errors = json_array();
    prog_auto_t prog = PROG_INIT;

    if (pkg_targets(ctx, args, NULL, &params, &files, err) < 0)
        return err->code;
    if (!value_truthy(params)) {
        *ret_value = json_object();
        return 0;
    }
    if (pacman_begin(ctx, &prog, true, err) < 0 ||
        (!files && pacman_words(ctx, params, fresh, words, errors, err) < 0))
        return err->code;
    if (json_array_size(errors) > 0) {
        json_auto_t *info = json_pack("{s:O, s:{}}", "errors", errors, "changes");
        return pkg_fail_info(err, failure, info);
    }
    /* A refresh without an upgrade breaks packages of a rolling system: sysupgrade is on with it unless the
     * call says otherwise. */
    prog_add(&prog, files ? "-U" : "-S");
    if (!files && fresh)
        prog_add(&prog, "-y");
    if (!files && (json_is_true(sysupgrade) || (json_is_null(sysupgrade) && fresh)))
        prog_add(&prog, "-u");
    prog_adds(&prog, "--noprogressbar", "--noconfirm", NULL);
    if (!files)
        prog_add(&prog, "--needed");
    prog_add_json(&prog, files ? params : words);
    add_root(&prog, args);
    return pacman_carry_out(ctx, &prog, failure, false, ret_value, err);
}

/* The whole system, as a rolling one has no other upgrade. */
int
pacman_upgrade(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;

    if (pacman_begin(ctx, &prog, true, err) < 0)
        return err->code;
    prog_adds(&prog, "-Su", "--noprogressbar", "--noconfirm", NULL);
    if (pkg_arg_true(args, "refresh"))
        prog_add(&prog, "-y");
    add_root(&prog, args);
    return pacman_carry_out(ctx, &prog, "Problem encountered upgrading packages", true, ret_value, err);
}

/* purge takes what depends on a package and what only it needed; removal fails at dependents. */
int
pacman_uninstall(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    bool purge = str_eq(ctx_row(ctx)->name, "purge"), files;
    json_auto_t *params = NULL, *known = packages_now(ctx, NULL, err), *words = json_array();
    json_auto_t *call = json_pack("{s:O?, s:O?}", "name", value_get(args, "name"), "pkgs",
                                  value_get(args, "pkgs"));
    prog_auto_t prog = PROG_INIT;
    const char *name;
    json_t *v;

    if (known == NULL || pkg_targets(ctx, call, NULL, &params, &files, err) < 0)
        return err->code;
    json_object_foreach (params, name, v)
        if (value_get(known, name) != NULL)
            json_array_append_new(words, json_string(name));
    if (json_array_size(words) == 0) {
        *ret_value = json_object();
        return 0;
    }
    if (pacman_begin(ctx, &prog, true, err) < 0)
        return err->code;
    prog_adds(&prog, purge ? "-Rsc" : "-R", "--noprogressbar", "--noconfirm", NULL);
    prog_add_json(&prog, words);
    return pacman_carry_out(ctx, &prog, "Problem encountered removing package(s)", false, ret_value, err);
}
