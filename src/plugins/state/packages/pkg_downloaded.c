/* pkg_downloaded.c - more of state module `pkg`: packages that are fetched and not installed.
 * pkg.list_downloaded answers {name: {version: {path, size, ...}}}; pkg.install with `downloadonly` fetches.
 * The cache is read again afterwards. */
#include "common/base/str.h"
#include "plugins/lib/packages/pkgwant.h"
#include "plugins/lib/call/subcall.h"
#include "salt/state.h"

/* ---- downloaded ------------------------------------------------------------------------------ */

/* {name: [version]} of what is in the cache. NEW, or NULL with *err. */
static json_t *
in_cache(call_ctx_t *ctx, fail_t *err)
{
    json_auto_t *found = sub_call(ctx, err, "pkg.list_downloaded", NULL);
    json_t *have, *versions, *file;
    const char *name, *version;

    if (found == NULL)
        return NULL;
    have = json_object();
    json_object_foreach (found, name, versions) {
        json_t *list = json_array();
        json_object_foreach (versions, version, file)
            json_array_append_new(list, json_string(version));
        json_object_set_new(have, name, list);
    }
    return have;
}

/* A run of `downloaded`. */
typedef struct fetch {
    call_ctx_t *ctx;
    json_t *args, *ret;
    json_t *targets; /* owned: wanted, and not in the cache */
    bool spec;       /* some wish names a version */
    fail_t *err;
} fetch_t;

/* Members of `wanted` that `have` lacks. NEW, or NULL with *err. */
static json_t *
lacking(fetch_t *f, const json_t *wanted, const json_t *have)
{
    json_auto_t *out = json_object();
    const char *name;
    json_t *wish;

    json_object_foreach ((json_t *) wanted, name, wish) {
        json_t *versions = value_get(have, name);
        bool plain = !value_truthy(wish);
        int there = value_truthy(versions);
        if (there && !plain) {
            f->spec = true;
            there = str_eq(json_string_value(wish), "latest")
                        ? 1
                        : pkgwant_holds(f->ctx, versions, json_string_value(wish),
                                        value_get(f->args, "ignore_epoch"), false, f->err);
        }
        if (there < 0)
            return NULL;
        if (!there)
            json_object_set(out, name, wish);
    }
    return json_incref(out);
}

/* pkg.install with downloadonly. 0; 1 when the return is made; or negative. */
static int
download(fetch_t *f)
{
    json_auto_t *kwargs = pkgwant_kwargs(f->ctx, f->args);
    json_t *changes = NULL, *pkgs = value_get(f->args, "pkgs");

    json_object_set_new(kwargs, "downloadonly", json_true());
    json_object_set(kwargs, "fromrepo", value_get(f->args, "fromrepo"));
    json_object_set(kwargs, "ignore_epoch", value_get(f->args, "ignore_epoch"));
    json_object_set_new(
        kwargs, "pkgs",
        value_truthy(pkgs) ? json_incref(pkgs)
        : value_truthy(value_get(f->args, "version"))
            ? json_pack("[{s:O}]", value_str(f->args, "name", ""), value_get(f->args, "version"))
            : json_pack("[s]", value_str(f->args, "name", "")));
    if (ctx_call(f->ctx, "pkg.install", NULL, kwargs, &changes, f->err) < 0) {
        if (f->err->kind != FAIL_COMMAND)
            return f->err->code;
        (void) pkgwant_failed(f->ret, "downloading package(s)", f->err);
        return 1;
    }
    json_object_update(value_get(f->ret, "changes"), changes);
    json_decref(changes);
    return 0;
}

/* Looks into the cache again: packages that are still missing fail the state. */
static int
pkg_downloaded_verify(fetch_t *f)
{
    json_auto_t *have = in_cache(f->ctx, f->err);
    json_auto_t *failed = have != NULL ? lacking(f, f->targets, have) : NULL, *texts = json_array();
    const char *name;
    json_t *wish;

    if (failed == NULL)
        return f->err->code;
    json_object_foreach (failed, name, wish) {
        AUTO_FREE char *text = pkgwant_text(name, wish);
        json_array_append_new(texts, json_string(text));
    }
    AUTO_FREE char *list = pkgwant_keys(texts, false), *all = pkgwant_keys(f->targets, false);
    if (*list != '\0')
        return state_ret_set(f->ret, STATE_FALSE, "The following packages failed to download: %s", list);
    json_object_set_new(f->ret, "result", json_true());
    if (!state_changed(f->ret))
        (void) state_ret_set(f->ret, STATE_TRUE, "Packages downloaded: %s", all);
    return 0;
}

/* 0 when packages are missing in the cache; 1 when the return is made; or negative. */
static int
find_targets(fetch_t *f)
{
    json_auto_t *wanted = pkgwant_of(f->ctx, f->args, f->err), *have = NULL;

    if (wanted == NULL || (have = in_cache(f->ctx, f->err)) == NULL)
        return f->err->code;
    if (json_object_size(wanted) == 0) {
        state_ret_set(f->ret, STATE_FALSE, "Invalidly formatted pkgs parameter. See minion log.");
        return 1;
    }
    f->targets = lacking(f, wanted, have);
    if (f->targets == NULL)
        return f->err->code;
    if (json_object_size(f->targets) > 0)
        return 0;
    state_ret_set(f->ret, STATE_TRUE, "All specified packages%s are already downloaded",
                  f->spec ? " (matching specified versions)" : "");
    return 1;
}

/* The package manager may say success without having the files, so its list is read again. */
static int
pkg_downloaded(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = *ret_value = state_ret_args(args), *pkgs = value_get(args, "pkgs");
    fetch_t f = { .ctx = ctx, .args = args, .ret = ret, .err = err };

    if (!ctx_has(ctx, "pkg.list_downloaded"))
        return state_ret_set(ret, STATE_FALSE, "The pkg.downloaded state is not available on this platform");
    if (json_is_array(pkgs) && json_array_size(pkgs) == 0)
        return state_ret_set(ret, STATE_TRUE, "No packages to download provided");
    int rc = find_targets(&f);
    if (rc == 0 && ctx_test(ctx)) {
        AUTO_FREE char *list = pkgwant_keys(f.targets, false);
        rc = state_ret_set(ret, STATE_NONE, "The following packages would be downloaded: %s", list);
    } else if (rc == 0) {
        rc = download(&f);
        rc = rc == 0 ? pkg_downloaded_verify(&f) : rc;
    }
    json_decref(f.targets);
    return rc < 0 ? rc : 0;
}

/* ---- table ----------------------------------------------------------------------------------- */

static const arg_t downloaded_args[] = {
    ARG("name", ARG_STR, "null", "The package, or any name beside `pkgs`"),
    ARG("version", ARG_ANY, "null", "A version, with operators and globs"),
    ARG("pkgs", ARG_ANY, "null", "List of names, and of {name: version}"),
    ARG("fromrepo", ARG_STR, "null", "From this release"),
    ARG("ignore_epoch", ARG_ANY, "null", "Compare versions without their epochs"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "What pkg.install takes", "*"),
    ARGS_END,
};
static const func_t funcs[] = {
    { "downloaded", pkg_downloaded, downloaded_args, 0,
      "Ensure that packages are in the package manager's cache." },
};

PLUGIN(state, pkg_downloaded, .provides = "pkg", .doc = "Packages of the system", FUNCS(funcs));
