/* npm.c - state module `npm`: packages of Node.js, of the machine or of a folder. npm.list tells npm's JSON
 * {name: {version, from or resolved}}. Names are written in many ways: NAME, @SCOPE/NAME, with @VERSION, as a
 * URL or a folder with a package.json. */
#include "common/base/buf.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/call/subcall.h"
#include "salt/state.h"

/* A failure of npm as the state's own. Other failures stay exceptions, as a wrong argument is none of npm's. */
static int
npm_failed(json_t *ret, fail_t *err, const char *doing, const char *name)
{
    if (err->kind != FAIL_COMMAND && err->kind != FAIL_PROGRAM)
        return err->code;
    (void) state_ret_set(ret, STATE_FALSE, "Error %s '%s': %s", doing, name, fail_text(err));
    fail_clear(err);
    return 0;
}

/* A package as a state names it, taken apart. */
typedef struct wish {
    char *name, *version; /* owned; version NULL: any */
} wish_t;

/* A folder's package.json says which package it is. */
static bool
take_folder(const char *dir, const char *text, wish_t *wish)
{
    AUTO_FREE char *folder = *text == '/' ? xstrdup(text) : fs_join(dir, text);
    AUTO_FREE char *path = fs_join(folder, "package.json");
    buf_auto_t bytes = BUF_INIT;

    if ((*text != '/' && *text != '.') || fs_read_any(path, LIMIT_HOST_FILE, &bytes, NULL) < 0 ||
        bytes.len == 0)
        return false;
    json_auto_t *package = value_parse(bytes.data, bytes.len, LIMIT_HOST_FILE, path, NULL);
    if (value_str(package, "name", NULL) == NULL)
        return false;
    wish->name = xstrdup(value_str(package, "name", ""));
    wish->version = value_str(package, "version", NULL) != NULL ? xstrdup(value_str(package, "version", ""))
                                                                : NULL;
    return true;
}

/* "NAME", "@SCOPE/NAME@VERSION", "git://...", "./FOLDER". */
static wish_t
wish_of(const char *dir, const char *text)
{
    static const char blank[] = " \t\n";
    wish_t wish = { 0 };
    size_t scope = *text == '@', n = scope + strcspn(text + scope, "@ \t\n");

    if (take_folder(dir, text, &wish))
        return wish;
    wish.name = xstrndup(text, n);
    if (text[n] == '@' && strcspn(text + n + 1, blank) > 0)
        wish.version = xstrndup(text + n + 1, strcspn(text + n + 1, blank));
    return wish;
}

/* True when a package comes from that URL: npm tells it as `from`, newer ones as `resolved`. */
static bool
is_from(const json_t *package, const char *url)
{
    const char *wanted = strstr(url, "://") + 3;
    const char *from = value_str(package, "from", value_str(package, "resolved", ""));
    const char *place = strstr(from, "://");

    if (place == NULL)
        return false;
    size_t n = strcspn(place + 3, "#");
    AUTO_FREE char *bare = xasprintf("%.*s", (int) n, place + 3);
    AUTO_FREE char *git = xasprintf("%s%s", bare,
                                    str_ends(bare, ".git") || !str_starts(url, "git://") ? "" : ".git");
    return strcmp(wanted, git) == 0 || strcmp(wanted, place + 3) == 0;
}

/* The installed package, BORROWED, and the name that npm has for it; NULL for none. */
static json_t *
npm_find(json_t *installed, const char *name, const char **ret_name)
{
    json_t *one = value_get(installed, name);
    const char *key;

    *ret_name = name;
    if (value_get(one, "version") != NULL)
        return one;
    if (strstr(name, "://") == NULL)
        return NULL;
    json_object_foreach (installed, key, one) {
        if (is_from(one, name)) {
            *ret_name = key;
            return one;
        }
    }
    return NULL;
}

/* Every package is given to npm once anything is missing, as in Salt, and not just the missing ones. */
static int
npm_installed(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = *ret_value = state_ret_args(args), *pkgs = value_get(args, "pkgs");
    const char *name = value_str(args, "name", "");
    if (!value_truthy(pkgs) && *name == '\0')
        return state_ret_set(ret, STATE_FALSE, "no package is named: write `name` or `pkgs`");
    json_auto_t *wanted = value_truthy(pkgs) ? json_incref(pkgs) : json_pack("[s]", name);
    json_auto_t *there = json_array(), *missing = json_array();
    json_auto_t *installed = sub_call(ctx, err, "npm.list", "{s:O, s:O, s:O, s:i}", "dir",
                                      value_get(args, "dir"), "runas", value_get(args, "user"), "env",
                                      value_get(args, "env"), "depth", 0);

    if (installed == NULL)
        return npm_failed(ret, err, "looking up", name);

    /* Sorts the wished packages into those that are there, as NAME@VERSION, and those to install. */
    bool force = json_is_true(value_get(args, "force_reinstall"));
    json_t *pkg;
    size_t i;
    json_array_foreach (wanted, i, pkg) {
        wish_t wish = wish_of(value_str(args, "dir", ""), json_string_value(pkg));
        const char *own_name;
        json_t *one = force ? NULL : npm_find(installed, wish.name, &own_name);
        const char *version = value_str(one, "version", "");
        if (one != NULL && (wish.version == NULL || strcmp(wish.version, version) == 0))
            json_array_append_new(there, value_fmt("%s@%s", own_name, version));
        else
            json_array_append(missing, pkg);
        free(wish.name);
        free(wish.version);
    }
    if (json_array_size(missing) > 0)
        state_change_set(ret, json_pack("{s:[], s:O}", "old", "new", missing));
    if (ctx_test(ctx) || json_array_size(missing) == 0) {
        /* The comment of what is there, and of what is to be installed. */
        AUTO_FREE char *all = value_joined(wanted, ", "), *have = value_joined(there, ", "),
                       *need = value_joined(missing, ", ");
        bool some = json_array_size(there) > 0, set = json_array_size(missing) > 0;
        AUTO_FREE char *first = set ? xasprintf("NPM package(s) '%s' are set to be installed", need)
                                    : xstrdup("");
        AUTO_FREE char *second = some ? xasprintf("Package(s) '%s' satisfied by %s", all, have) : xstrdup("");
        return state_ret_set(ret, set ? STATE_NONE : STATE_TRUE, "%s%s%s", first, set && some ? ". " : "",
                             second);
    }
    json_auto_t *done = sub_call(ctx, err, "npm.install", "{s:O, s:O, s:O, s:O, s:O}", "dir",
                                 value_get(args, "dir"), "runas", value_get(args, "user"), "registry",
                                 value_get(args, "registry"), "env", value_get(args, "env"), "pkgs", wanted);
    AUTO_FREE char *all = value_joined(wanted, ", "), *need = value_joined(missing, ", ");
    if (done != NULL)
        return state_ret_set(ret, STATE_TRUE, "Package(s) '%s' successfully installed", need);
    state_change_set(ret, json_object());
    return npm_failed(ret, err, "installing", all);
}

/* Only the packages of the folder itself are looked at, not those below them. */
static int
npm_removed(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = *ret_value = state_ret_args(args);
    const char *name = value_str(args, "name", "");
    json_auto_t *installed = sub_call(ctx, err, "npm.list", "{s:O, s:O, s:i}", "dir", value_get(args, "dir"),
                                      "runas", value_get(args, "user"), "depth", 0);

    if (installed == NULL)
        return npm_failed(ret, err, "uninstalling", name);
    if (value_get(installed, name) == NULL)
        return state_ret_set(ret, STATE_TRUE, "Package '%s' is not installed", name);
    state_change(ret, name, json_string("Removed"));
    if (ctx_test(ctx))
        return state_ret_set(ret, STATE_NONE, "Package '%s' is set to be removed", name);
    int done = sub_call_bool(ctx, err, "npm.uninstall", "{s:s, s:O, s:O}", "pkg", name, "dir",
                             value_get(args, "dir"), "runas", value_get(args, "user"));
    if (done < 0)
        return done;
    if (done > 0)
        return state_ret_set(ret, STATE_TRUE, "Package '%s' was successfully removed", name);
    state_change_set(ret, json_object());
    return state_ret_set(ret, STATE_FALSE, "Error removing package '%s'", name);
}

/* True when what npm would do, or has done, is nothing: counts since version 7, lists before. */
static bool
npm_nothing(const json_t *said)
{
    static const char *const kinds[] = { "added", "removed", "changed", "updated", "moved" };

    for (size_t i = 0; json_is_object(said) && i < NELEMS(kinds); i++) {
        if (value_truthy(value_get(said, kinds[i])))
            return false;
    }
    return json_is_object(said) || !value_truthy(said);
}

/* npm tells what it would do unless it is silent: the dry run shows whether there is anything to do, for a
 * run too. */
static int
npm_bootstrap(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = *ret_value = state_ret_args(args);
    const char *name = value_str(args, "name", "");
    json_auto_t *told = sub_call(ctx, err, "npm.install", "{s:s, s:O, s:b, s:b}", "dir", name, "runas",
                                 value_get(args, "user"), "silent", 0, "dry_run", 1);

    if (told == NULL)
        return npm_failed(ret, err, "Bootstrapping", name);
    if (npm_nothing(told) && ctx_test(ctx))
        return state_ret_set(ret, STATE_TRUE, "%s is already bootstrapped", name);
    if (npm_nothing(told))
        return state_ret_set(ret, STATE_TRUE, "Directory is already bootstrapped");
    state_change(ret, name, json_string("Bootstrapped"));
    if (ctx_test(ctx))
        return state_ret_set(ret, STATE_NONE, "%s is set to be bootstrapped", name);
    json_auto_t *done = sub_call(ctx, err, "npm.install", "{s:s, s:O, s:O}", "dir", name, "runas",
                                 value_get(args, "user"), "silent", value_get(args, "silent"));
    if (done != NULL)
        return state_ret_set(ret, STATE_TRUE, "Directory was successfully bootstrapped");
    state_change_set(ret, json_object());
    return npm_failed(ret, err, "Bootstrapping", name);
}

/* An empty name stands for the whole cache. */
static int
npm_cache_cleaned(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = *ret_value = state_ret_args(args);
    const char *name = value_str(args, "name", ""), *what = *name != '\0' ? name : "packages";
    json_auto_t *cached = sub_call(ctx, err, "npm.cache_list", "{s:O, s:O}", "path", value_get(args, "name"),
                                   "runas", value_get(args, "user"));

    if (cached == NULL && err->kind != FAIL_COMMAND)
        return err->code;
    /* Newer versions of npm have no list of the cache, which is a failure here. */
    if (cached == NULL) {
        AUTO_FREE char *why = xstrdup(fail_text(err));
        fail_clear(err);
        return state_ret_set(ret, STATE_FALSE, "Error looking up cached %s: %s", what, why);
    }
    AUTO_FREE char *part = xasprintf("/%s/", name);
    const char *list = json_is_string(cached) ? json_string_value(cached) : "";
    if (*name != '\0' && strstr(list, part) == NULL)
        return state_ret_set(ret, STATE_TRUE, "Package %s is not in the cache", name);
    if (*list == '\0')
        return state_ret_set(ret, STATE_TRUE, "The cache is empty");
    state_change(ret, *name != '\0' ? name : "cache", json_string("Removed"));
    if (ctx_test(ctx))
        return state_ret_set(ret, STATE_NONE, "Cached %s set to be removed", what);
    int done = sub_call_bool(ctx, err, "npm.cache_clean", "{s:O, s:O, s:O}", "path", value_get(args, "name"),
                             "runas", value_get(args, "user"), "force", value_get(args, "force"));
    if (done < 0)
        return done;
    if (done > 0)
        return state_ret_set(ret, STATE_TRUE, "Cached %s successfully removed", what);
    state_change_set(ret, json_object());
    return state_ret_set(ret, STATE_FALSE, "Error cleaning cached %s", what);
}

static const char *
state_npm_unavailable(call_ctx_t *ctx)
{
    return ctx_has(ctx, "npm.list") ? NULL : "'npm' binary not found on system";
}

#define DIR_ROW      ARG("dir", ARG_STR, "null", "Folder of the installation, by default the machine's")
#define NPM_USER_ROW ARG("user", ARG_STR, "null", "User to run npm as")

static const arg_t installed_args[] = {
    ARG("name", ARG_STR, "null",
        "The package: NAME, NAME@VERSION, a URL, a folder; or any name beside `pkgs`"),
    ARG("pkgs", ARG_LIST, "null", "Packages, instead of the name"),
    DIR_ROW,
    NPM_USER_ROW,
    ARG("force_reinstall", ARG_ANY, "false", "Install what is there, too"),
    ARG("registry", ARG_STR, "null", "Registry of packages"),
    ARG("env", ARG_ANY, "null", "Environment variables: a dictionary, or a list of them"),
    ARGS_END,
};
static const arg_t removed_args[] = { ARG("name", ARG_STR, ARG_REQUIRED, "The package"), DIR_ROW,
                                      NPM_USER_ROW, ARGS_END };
static const arg_t bootstrap_args[] = { ARG("name", ARG_STR, ARG_REQUIRED, "Folder of the application"),
                                        NPM_USER_ROW, ARG("silent", ARG_ANY, "true", "With --silent"),
                                        ARGS_END };
static const arg_t cleaned_args[] = { ARG("name", ARG_STR, "null", "The package, by default all"),
                                      NPM_USER_ROW,
                                      ARG("force", ARG_ANY, "false", "As npm since version 5 wants it"),
                                      ARGS_END };

static const func_t funcs[] = {
    { "bootstrap", npm_bootstrap, bootstrap_args, 0, "Ensure that a folder has the packages that it needs." },
    { "cache_cleaned", npm_cache_cleaned, cleaned_args, 0,
      "Ensure that a package, or any, is not in the cache." },
    { "installed", npm_installed, installed_args, 0, "Ensure that packages are installed." },
    { "removed", npm_removed, removed_args, 0, "Ensure that a package is not installed." },
};

PLUGIN(state, npm, .doc = "Packages of Node.js", FUNCS(funcs), .unavailable = state_npm_unavailable);
