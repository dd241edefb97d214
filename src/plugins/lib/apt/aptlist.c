/* aptlist.c - installed packages (from dpkg's database, once per job) and available versions (from
 * apt-cache). */
#include <strings.h>

#include "common/host/rootfs.h"
#include "common/base/str.h"
#include "plugins/lib/apt/apt.h"
#include "plugins/lib/packages/pkgver.h"

#define CONTEXT_KEY "pkg.list_pkgs"

/* ---- installed ----------------------------------------------------------------------------- */

/* Adds a version in order, each once. */
static void
add_version(json_t *pkgs, const char *name, const char *version)
{
    json_t *versions = json_object_get(pkgs, name);
    size_t i;

    if (versions == NULL) {
        versions = json_array();
        json_object_set_new(pkgs, name, versions);
    }
    for (i = 0; i < json_array_size(versions); i++) {
        int order = strcmp(version, json_string_value(json_array_get(versions, i)));
        if (order == 0)
            return;
        if (order < 0)
            break;
    }
    json_array_insert_new(versions, i, value_utf8(version, strlen(version)));
}

/* Name of the list that a package belongs to, of three, or NULL. By dpkg's want and state, as Salt's regular
 * expressions have them. */
static const char *
aptlist_list_of(const dpkg_pkg_t *pkg)
{
    if ((strstr(pkg->want, "install") != NULL || str_eq(pkg->want, "hold")) &&
        strstr(pkg->status, "installed") != NULL)
        return "installed";
    if (str_eq(pkg->want, "deinstall"))
        return "removed";
    if (str_eq(pkg->want, "purge") && dpkg_installed(pkg))
        return "purge_desired";
    return NULL;
}

/* Installed packages of the kinds that `flags` ask for; PKGS_FRESH reads the database again. NEW, or NULL
 * with *err. */
json_t *
apt_pkgs(call_ctx_t *ctx, unsigned flags, fail_t *err)
{
    json_t *known = (flags & PKGS_FRESH) ? NULL : value_get(ctx_context(ctx), CONTEXT_KEY);

    if (known == NULL) {
        /* Sorts all packages into the three lists. Names of foreign architectures carry it as "name:arch" on
         * amd64 hosts, as in Salt. */
        AUTO(dpkg) db = apt_dpkg(err);
        const char *osarch = value_str(ctx_grains(ctx), "osarch", "");
        bool amd64 = str_eq(value_str(ctx_grains(ctx), "cpuarch", ""), "x86_64") && str_eq(osarch, "amd64");

        if (db == NULL)
            return NULL;
        known = json_pack("{s:{}, s:{}, s:{}}", "installed", "removed", "purge_desired");
        for (size_t i = 0; i < dpkg_count(db); i++) {
            const dpkg_pkg_t *pkg = dpkg_at(db, i);
            const char *list = aptlist_list_of(pkg);
            bool foreign = amd64 && !str_eq(pkg->arch, "all") && !str_eq(pkg->arch, osarch);
            if (list == NULL || *pkg->version == '\0' || *pkg->arch == '\0')
                continue;
            AUTO_FREE char *name = xasprintf("%s%s%s", pkg->name, foreign ? ":" : "",
                                             foreign ? pkg->arch : "");
            add_version(json_object_get(known, list), name, pkg->version);
        }

        if (known == NULL)
            return NULL;
        json_object_set_new(ctx_context(ctx), CONTEXT_KEY, known);
    }
    json_t *ret = json_copy(value_get(known, (flags & PKGS_REMOVED) ? "removed" : "purge_desired"));
    if (!(flags & (PKGS_REMOVED | PKGS_PURGE_DESIRED)))
        json_object_update(ret, value_get(known, "installed"));
    if (!(flags & PKGS_AS_LIST))
        pkg_stringify(ret);
    return ret;
}

/* The installed packages have changed: the next question reads the database again. */
void
apt_forget(call_ctx_t *ctx)
{
    json_object_del(ctx_context(ctx), CONTEXT_KEY);
}

static unsigned
aptlist_flags_of(const json_t *args)
{
    json_t *use_context = value_get(args, "use_context");
    unsigned flags = 0;

    if (pkg_arg_true(args, "versions_as_list"))
        flags |= PKGS_AS_LIST;
    if (pkg_arg_true(args, "removed"))
        flags |= PKGS_REMOVED;
    if (pkg_arg_true(args, "purge_desired"))
        flags |= PKGS_PURGE_DESIRED;
    if (use_context != NULL && !value_truthy(use_context))
        flags |= PKGS_FRESH;
    return flags;
}

/* From dpkg's files, without a program. */
int
apt_list_pkgs(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = apt_pkgs(ctx, aptlist_flags_of(args), err);
    return *ret_value != NULL ? 0 : err->code;
}

int
apt_version(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *pkgs = apt_pkgs(ctx, aptlist_flags_of(args) | PKGS_AS_LIST, err);

    if (pkgs == NULL)
        return err->code;
    *ret_value = pkg_versions(pkgs, value_get(args, "names"), pkg_arg_true(args, "versions_as_list"));
    return 0;
}

/* ---- available ----------------------------------------------------------------------------- */

/* The word behind "Candidate:", "" for none. NEW. */
static char *
candidate_of(const char *policy)
{
    AUTO_FREE char *copy = xstrdup(policy);

    for (char *at = copy, *line; (line = line_next(&at)) != NULL;) {
        if (strstr(line, "Candidate") == NULL)
            continue;
        char *blank = strrchr(str_trim(line), ' ');
        return xstrdup(blank == NULL || strcasecmp(blank + 1, "(none)") == 0 ? "" : blank + 1);
    }
    return xstrdup("");
}

/* Output of `apt-cache policy` about some packages. NEW text, or NULL with *err. */
static char *
policy_of(call_ctx_t *ctx, const json_t *names, const char *fromrepo, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;

    apt_prog(ctx, &prog, false);
    prog_adds(&prog, "apt-cache", "-q", "policy", NULL);
    if (prog_operands(&prog, "names", names, err) < 0)
        return NULL;
    if (fromrepo != NULL) {
        prog_add(&prog, "-o");
        prog_addf(&prog, "APT::Default-Release=%s", fromrepo);
    }
    json_auto_t *out = apt_run(&prog, err);
    return out != NULL ? xstrdup(value_str(out, "stdout", "")) : NULL;
}

/* {name: candidate} of what it prints: a line "name:", then indented ones. The name that apt-cache prints may
 * be another one than was asked for ("name:arch"): see latest_of(). */
static json_t *
candidates_of(const char *policy)
{
    AUTO_FREE char *copy = xstrdup(policy);
    json_t *ret = json_object();
    const char *name = NULL;

    for (char *at = copy, *line; (line = line_next(&at)) != NULL;) {
        if (*line != ' ' && str_ends(line, ":")) {
            line[strlen(line) - 1] = '\0';
            name = line;
        } else if (name != NULL && strstr(line, "Candidate") != NULL) {
            AUTO_FREE char *candidate = candidate_of(line);
            json_object_set_new(ret, name, json_string(candidate));
            name = NULL;
        }
    }
    return ret;
}

/* True when each word can only name one package, so that one command may ask for many. */
static bool
aptlist_is_plain(const json_t *names)
{
    json_t *v;
    size_t i;

    json_array_foreach (names, i, v) {
        const char *text = json_is_string(v) ? json_string_value(v) : "";
        if (*text == '\0' || text[strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789+.-:")] != '\0')
            return false;
    }
    return true;
}

/* "" when what is installed is as new. NEW. */
static json_t *
if_newer(const char *candidate, const json_t *have, bool show_installed)
{
    bool older = true;
    json_t *v;
    size_t i;

    json_array_foreach (have, i, v)
        older = older && !pkgver_holds(json_string_value(v), ">=", candidate, false);
    return json_string(show_installed || older ? candidate : "");
}

json_t *
apt_latest(call_ctx_t *ctx, const char *name, const char *fromrepo, bool show_installed,
           const json_t *installed, fail_t *err)
{
    json_auto_t *names = json_pack("[s]", name);
    AUTO_FREE char *policy = policy_of(ctx, names, fromrepo, err);

    if (policy == NULL)
        return NULL;
    AUTO_FREE char *candidate = candidate_of(policy);
    return if_newer(candidate, value_get(installed, name), show_installed);
}

/* {name: version or ""} of several, in one call where that is possible. */
static json_t *
latest_of(call_ctx_t *ctx, const json_t *args, const json_t *installed, fail_t *err)
{
    const char *fromrepo = value_str(args, "fromrepo", NULL);
    bool show_installed = pkg_arg_true(args, "show_installed");
    json_t *names = value_get(args, "names"), *v;
    bool together = json_array_size(names) > 1 && aptlist_is_plain(names);
    AUTO_FREE char *policy = together ? policy_of(ctx, names, fromrepo, err) : NULL;
    json_auto_t *ret = json_object(), *candidates = policy != NULL ? candidates_of(policy) : NULL;
    size_t i;

    if (together && policy == NULL)
        return NULL;
    json_array_foreach (names, i, v) {
        AUTO_FREE char *name = value_pystr(v);
        AUTO_FREE char *plain = apt_normal_name(ctx, name);
        const char *candidate = value_str(candidates, name, value_str(candidates, plain, ""));
        json_t *latest = together ? if_newer(candidate, value_get(installed, name), show_installed)
                                  : apt_latest(ctx, name, fromrepo, show_installed, installed, err);
        if (latest == NULL)
            return NULL;
        json_object_set_new(ret, name, latest);
    }
    return STEAL(ret);
}

/* Asks apt-cache once for several names, as each call takes long. */
int
apt_latest_version(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *names = value_get(args, "names");

    if (value_get(value_get(args, "kwargs"), "repo") != NULL)
        return fail_kind(err, FAIL_INVOCATION, -EINVAL,
                         "The 'repo' argument is invalid, use 'fromrepo' instead");
    if (json_array_size(names) == 0) {
        *ret_value = json_string("");
        return 0;
    }
    json_auto_t *pkgs = apt_pkgs(ctx, PKGS_AS_LIST, err);
    if (pkgs == NULL)
        return err->code;
    if (pkg_arg_true(args, "refresh")) {
        json_auto_t *done = apt_refresh(ctx, value_get(args, "cache_valid_time"), false, err);
        if (done == NULL)
            return err->code;
    }
    json_auto_t *ret = latest_of(ctx, args, pkgs, err);
    if (ret == NULL)
        return err->code;
    if (json_array_size(names) == 1)
        *ret_value = json_incref(json_object_iter_value(json_object_iter(ret)));
    else
        *ret_value = STEAL(ret);
    return 0;
}

/* By latest_version, which is empty when nothing is newer. */
int
apt_upgrade_available(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *latest = NULL;
    json_auto_t *call = json_pack("{s:[O], s:b, s:{}}", "names", value_get(args, "name"), "refresh", 1,
                                  "kwargs");
    int rc = apt_latest_version(ctx, call, &latest, err);

    if (rc == 0)
        *ret_value = json_boolean(*json_string_value(latest) != '\0');
    return rc;
}

/* {name: [versions]} of what `apt-cache show` and `apt-cache dump` print. */
static json_t *
aptlist_versions_of(const char *text)
{
    AUTO_FREE char *copy = xstrdup(text);
    AUTO_FREE char *name = NULL;
    json_t *ret = json_object();

    for (char *at = copy, *line; (line = line_next(&at)) != NULL;) {
        if (str_starts(line, "Package: ") && line[9] != '\0') {
            free(name);
            name = xstrdup(line + 9);
            continue;
        }
        line = str_trim(line);
        if (name == NULL || !str_starts(line, "Version:") || strchr(" \t", line[8]) == NULL ||
            line[8] == '\0')
            continue;
        char *version = str_trim(line + 8);
        json_t *versions = json_object_get(ret, name);
        if (versions == NULL) {
            versions = json_array();
            json_object_set_new(ret, name, versions);
        }
        json_array_append_new(versions, value_utf8(version, strlen(version)));
    }
    return ret;
}

/* Versions of these packages, or of all. NEW, or NULL with *err. */
json_t *
apt_repo_pkgs(call_ctx_t *ctx, const json_t *names, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;

    apt_prog(ctx, &prog, false);
    prog_adds(&prog, "apt-cache", json_array_size(names) > 0 ? "show" : "dump", NULL);
    if (prog_operands(&prog, "names", names, err) < 0)
        return NULL;
    json_auto_t *out = apt_run(&prog, err);
    return out != NULL ? aptlist_versions_of(value_str(out, "stdout", "")) : NULL;
}

int
apt_list_repo_pkgs(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = apt_repo_pkgs(ctx, value_get(args, "args"), err);
    return *ret_value != NULL ? 0 : err->code;
}
