/* gem.c - state module `gem`: packages of Ruby that are installed, or not, and their sources. gem.list
 * answers {name: [version, ...]}, the newest first. Changes are told before gem runs, as in test mode, and
 * taken back when it fails. */
#include "common/base/str.h"
#include "plugins/lib/call/subcall.h"
#include "plugins/lib/python/pep440.h"
#include "salt/state.h"

/* An operator at the beginning of a version, or NULL. */
static const char *
gem_operator(const char *version)
{
    static const char *const known[] = { ">=", ">", "<=", "<" };

    for (size_t i = 0; i < NELEMS(known); i++) {
        if (str_starts(version, known[i]))
            return known[i];
    }
    return NULL;
}

/* "default: 2.4" is a gem that came with Ruby. */
static const char *
bare_version(const char *listed)
{
    static const char brought[] = "default: ";

    return str_starts(listed, brought) ? listed + sizeof brought - 1 : listed;
}

/* The comment of an installed gem that is as wanted, else NULL. */
static const char *
why_enough(const json_t *versions, const json_t *wanted)
{
    AUTO_FREE char *version = value_pystr(wanted);
    const char *oper = gem_operator(version);
    json_t *one;
    size_t i;

    if (versions == NULL)
        return NULL;
    if (json_is_null(wanted))
        return "Gem is already installed.";
    if (oper != NULL) {
        AUTO_FREE char *bound = str_replace(version, oper, "");
        const char *first = bare_version(json_string_value(json_array_get(versions, 0)));
        return pep440_holds(first, oper, str_trim(bound)) ? "Installed Gem meets version requirements."
                                                          : NULL;
    }
    json_array_foreach (versions, i, one) {
        if (str_eq(bare_version(json_string_value(one)), version))
            return "Gem is already installed.";
    }
    return NULL;
}

/* {name: [version]} of gems like the state's. NEW, or NULL with *err. */
static json_t *
gems_like(call_ctx_t *ctx, const json_t *args, fail_t *err)
{
    return sub_call(ctx, err, "gem.list", "{s:O, s:O, s:O, s:O}", "prefix", value_get(args, "name"), "ruby",
                    value_get(args, "ruby"), "gem_bin", value_get(args, "gem_bin"), "runas",
                    value_get(args, "user"));
}

/* The version may be a range, as gem takes it; a gem of another version is installed beside it. */
static int
gem_installed(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = *ret_value = state_ret_args(args);
    const char *name = value_str(args, "name", "");
    json_auto_t *gems = gems_like(ctx, args, err);
    const char *enough = gems != NULL ? why_enough(value_get(gems, name), value_get(args, "version")) : NULL;

    if (gems == NULL)
        return err->code;
    if (enough != NULL)
        return state_ret_set(ret, STATE_TRUE, "%s", enough);
    state_change(ret, name, json_string("Installed"));
    if (ctx_test(ctx))
        return state_ret_set(ret, STATE_NONE, "The gem %s would have been installed", name);
    json_auto_t *call = json_copy(args);
    json_object_set(call, "gems", value_get(args, "name"));
    json_object_set(call, "runas", value_get(args, "user"));
    json_object_del(call, "name");
    json_object_del(call, "user");
    json_auto_t *done = NULL;
    if (ctx_call(ctx, "gem.install", NULL, call, &done, err) < 0)
        return err->code;
    if (value_truthy(done))
        return state_ret_set(ret, STATE_TRUE, "Gem was successfully installed");
    state_change_set(ret, json_object());
    return state_ret_set(ret, STATE_FALSE, "Could not install gem.");
}

/* All versions of the gem go. */
static int
gem_removed(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = *ret_value = state_ret_args(args);
    const char *name = value_str(args, "name", "");
    json_auto_t *gems = gems_like(ctx, args, err);

    if (gems == NULL)
        return err->code;
    if (value_get(gems, name) == NULL)
        return state_ret_set(ret, STATE_TRUE, "Gem is not installed.");
    state_change(ret, name, json_string("Removed"));
    if (ctx_test(ctx))
        return state_ret_set(ret, STATE_NONE, "The gem %s would have been removed", name);
    int done = sub_call_bool(ctx, err, "gem.uninstall", "{s:O, s:O, s:O, s:O}", "gems",
                             value_get(args, "name"), "ruby", value_get(args, "ruby"), "gem_bin",
                             value_get(args, "gem_bin"), "runas", value_get(args, "user"));
    if (done < 0)
        return done;
    if (done > 0)
        return state_ret_set(ret, STATE_TRUE, "Gem was successfully removed.");
    state_change_set(ret, json_object());
    return state_ret_set(ret, STATE_FALSE, "Could not remove gem.");
}

/* The words of one direction. */
typedef struct source_words {
    bool add;
    const char *fun, *change, *already, *told, *done, *failed;
} source_words_t;

static const source_words_t adds = { true,
                                     "gem.sources_add",
                                     "Installed",
                                     "Gem source is already added.",
                                     "The gem source %s would have been added.",
                                     "Gem source was successfully added.",
                                     "Could not add gem source." };
static const source_words_t removes = { false,
                                        "gem.sources_remove",
                                        "Removed",
                                        "Gem source is already removed.",
                                        "The gem source would have been removed.",
                                        "Gem source was successfully removed.",
                                        "Could not remove gem source." };

/* gem.sources_add and gem.sources_remove, by the words of the row. */
static int
gem_source(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const source_words_t *w = ctx_row(ctx)->data.ptr;
    json_t *ret = *ret_value = state_ret_args(args);
    const char *name = value_str(args, "name", "");
    json_auto_t *sources = sub_call(ctx, err, "gem.sources_list", "{s:O, s:O}", "ruby",
                                    value_get(args, "ruby"), "runas", value_get(args, "user"));

    if (sources == NULL)
        return err->code;
    if (value_lists(sources, name) == w->add)
        return state_ret_set(ret, STATE_TRUE, "%s", w->already);
    state_change(ret, name, json_string(w->change));
    if (ctx_test(ctx)) {
        AUTO_FREE char *told = str_replace(w->told, "%s", name);
        return state_ret_set(ret, STATE_NONE, "%s", told);
    }
    int done = sub_call_bool(ctx, err, w->fun, "{s:s, s:O, s:O}", "source_uri", name, "ruby",
                             value_get(args, "ruby"), "runas", value_get(args, "user"));
    if (done < 0)
        return done;
    if (done > 0)
        return state_ret_set(ret, STATE_TRUE, "%s", w->done);
    state_change_set(ret, json_object());
    return state_ret_set(ret, STATE_FALSE, "%s", w->failed);
}

#define NAME_ROW   ARG("name", ARG_STR, ARG_REQUIRED, "The gem")
#define SOURCE_ROW ARG("name", ARG_STR, ARG_REQUIRED, "URL of the source")
#define RUBY_ROW   ARG("ruby", ARG_STR, "null", "With RVM or rbenv: the Ruby, and its gemset")
#define GEM_BIN_ROW                                                                                          \
    ARG("gem_bin", ARG_STR, "null", "Path of the program, which goes by neither RVM nor rbenv")
#define GEM_USER_ROW ARG("user", ARG_STR, "null", "User to run gem as")

static const arg_t installed_args[] = {
    NAME_ROW,
    RUBY_ROW,
    GEM_BIN_ROW,
    GEM_USER_ROW,
    ARG("version", ARG_ANY, "null", "The version, or an operator and a version: >= 1.2"),
    ARG("rdoc", ARG_ANY, "false", "With RDoc documentation; since version 3 only together with ri"),
    ARG("ri", ARG_ANY, "false", "With RI documentation"),
    ARG("pre_releases", ARG_ANY, "false", "Versions before a release too"),
    ARG("proxy", ARG_STR, "null", "Proxy: http://hostname[:port]"),
    ARG("source", ARG_STR, "null", "Server of gems: http://hostname[:port]"),
    ARGS_END,
};
static const arg_t removed_args[] = { NAME_ROW, RUBY_ROW, GEM_USER_ROW, GEM_BIN_ROW, ARGS_END };
static const arg_t source_args[] = { SOURCE_ROW, RUBY_ROW, GEM_USER_ROW, ARGS_END };

static const func_t funcs[] = {
    { "installed", gem_installed, installed_args, 0, "Ensure that a gem is installed." },
    { "removed", gem_removed, removed_args, 0, "Ensure that a gem is not installed." },
    { "sources_add", gem_source, source_args, 0, "Ensure that gems may come from a source.",
      .data.ptr = &adds },
    { "sources_remove", gem_source, source_args, 0, "Ensure that gems do not come from a source.",
      .data.ptr = &removes },
};

PLUGIN(state, gem, .doc = "Packages of Ruby", FUNCS(funcs));
