/* kmod.c - state module `kmod`: kernel modules that are loaded, or not, by modprobe(8); with `persist` also
 * in the file of modules for the next start. A module may load others: all of them are changes. Salt's
 * comment has a line for each kind of outcome. */
#include "common/base/buf.h"
#include "common/base/str.h"
#include "plugins/lib/call/subcall.h"
#include "salt/state.h"

/* The words of one direction. */
typedef struct kmod_words {
    const char *fun, *change;                                     /* of the module; the value of a change */
    const char *told_one, *told_more, *did_one, *did_more, *not ; /* sentences */
} kmod_words_t;

static const kmod_words_t loads = { "kmod.load",
                                    "loaded",
                                    "Kernel module %s is set to be loaded",
                                    "Kernel modules %s are set to be loaded",
                                    "Loaded kernel module %s",
                                    "Loaded kernel modules %s",
                                    "load" };
static const kmod_words_t removes = { "kmod.remove",
                                      "removed",
                                      "Kernel module %s is set to be removed",
                                      "Kernel modules %s are set to be removed",
                                      "Removed kernel module %s",
                                      "Removed kernel modules %s",
                                      "remove" };

/* Adds a line that names one module or several; none for none. */
static void
say_of(buf_t *comment, const json_t *mods, const char *one, const char *more)
{
    AUTO_FREE char *names = value_joined(mods, ", ");
    AUTO_FREE char *line = str_replace(json_array_size(mods) == 1 ? one : more, "%s", names);

    if (json_array_size(mods) > 0)
        buf_printf(comment, "%s%s", comment->len > 0 ? "\n" : "", line);
}

/* Names of `in` that `of` has, or has not; each once. NEW. */
static json_t *
kmod_those(const json_t *in, const json_t *of, bool has)
{
    json_t *list = json_array(), *one;
    size_t i;

    json_array_foreach (in, i, one) {
        if (value_has(of, one) == has && !value_has(list, one))
            json_array_append(list, one);
    }
    return list;
}

/* Loads or unloads each, and tells it. `ret` has the comment so far. */
static int
change_each(call_ctx_t *ctx, const json_t *args, const kmod_words_t *w, const json_t *mods, json_t *ret,
            buf_t *comment, fail_t *err)
{
    json_auto_t *yes = json_array(), *no = json_array(), *changes = json_object();
    buf_auto_t failed = BUF_INIT;
    json_t *mod, *other;
    size_t i, k;

    json_array_foreach (mods, i, mod) {
        if (w == &loads && value_get(changes, json_string_value(mod)) != NULL) { /* what another one needs */
            json_array_append(yes, mod);
            continue;
        }
        json_auto_t *did = sub_call(ctx, err, w->fun, "{s:O, s:O, s:O*}", "mod", mod, "persist",
                                    value_get(args, "persist"), "comment", value_get(args, "comment"));
        if (did == NULL)
            return err->code;
        json_array_foreach (did, k, other)
            json_object_set_new(changes, json_string_value(other), json_string(w->change));
        if (json_is_string(did))
            buf_printf(&failed, "\nFailed to %s kernel module %s: %s", w->not, json_string_value(mod),
                       json_string_value(did));
        else
            json_array_append(json_array_size(did) > 0 ? yes : no, mod);
    }
    if (failed.len > 0 || json_array_size(no) > 0)
        json_object_set_new(ret, "result", json_false());
    AUTO_FREE char *one = xasprintf("Failed to %s kernel module %%s", w->not ),
                   *more = xasprintf("Failed to %s kernel modules %%s", w->not );
    say_of(comment, yes, w->did_one, w->did_more);
    say_of(comment, no, one, more);
    if (failed.len > 0)
        buf_puts(comment, comment->len > 0 ? failed.data : failed.data + 1);
    state_change_set(ret, json_incref(changes));
    return 0;
}

/* What is to be changed, told in test mode. */
static void
foretell_each(const kmod_words_t *w, const json_t *mods, json_t *ret, buf_t *comment)
{
    json_t *mod;
    size_t i;

    json_array_foreach (mods, i, mod)
        state_change(ret, json_string_value(mod), json_string(w->change));
    if (comment->len > 0)
        buf_putc(comment, '\n');
    say_of(comment, mods, w->told_one, w->told_more);
    json_object_set_new(ret, "result", json_null());
}

/* The argument `mods`, or the name alone. NEW. */
static json_t *
wanted_mods(const json_t *args)
{
    json_t *mods = value_get(args, "mods");

    return json_is_array(mods) ? json_incref(mods) : json_pack("[O]", value_get(args, "name"));
}

static void
end_comment(json_t *ret, const buf_t *comment)
{
    state_ret_comment(ret, json_string(buf_str(comment)));
}

/* What is loaded; with `persist` together with the file's names: both must have it (`all`), or one. NEW, or
 * NULL with *err. */
static json_t *
modules_now(call_ctx_t *ctx, const json_t *args, bool all, fail_t *err)
{
    json_auto_t *loaded = sub_call(ctx, err, "kmod.mod_list", NULL);

    if (loaded == NULL || !value_bool(args, "persist", false))
        return STEAL(loaded);
    json_auto_t *kept = sub_call(ctx, err, "kmod.mod_list", "{s:b}", "only_persist", 1);
    if (kept == NULL)
        return NULL;
    if (all)
        return kmod_those(loaded, kept, true);
    json_array_extend(loaded, kept);
    return STEAL(loaded);
}

/* Modules that the kernel does not have are told, and the others loaded all the same. */
static int
kmod_present(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = *ret_value = state_ret_args(args);
    json_auto_t *mods = wanted_mods(args), *now = modules_now(ctx, args, true, err);
    buf_auto_t comment = BUF_INIT;
    int rc = 0;

    if (now == NULL)
        return err->code;
    json_auto_t *there = kmod_those(mods, now, true), *missing = kmod_those(mods, now, false);
    say_of(&comment, there, "Kernel module %s is already present", "Kernel modules %s are already present");
    /* A test foretells unknown modules as well: Salt asks for the known ones only in a run. */
    if (json_array_size(missing) > 0) {
        json_auto_t *all = sub_call(ctx, err, "kmod.available", NULL);
        if (all == NULL)
            return err->code;
        json_auto_t *unknown = kmod_those(missing, all, false), *known = kmod_those(missing, all, true);
        if (ctx_test(ctx)) {
            foretell_each(&loads, missing, ret, &comment);
        } else {
            say_of(&comment, unknown, "Kernel module %s is unavailable", "Kernel modules %s are unavailable");
            json_object_set_new(ret, "result", json_boolean(json_array_size(unknown) == 0));
            rc = change_each(ctx, args, &loads, known, ret, &comment, err);
        }
    }
    end_comment(ret, &comment);
    return rc;
}

/* Only modules that are there are removed; what the test mode says is about these, too. */
static int
kmod_absent(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = *ret_value = state_ret_args(args);
    json_auto_t *mods = wanted_mods(args), *now = modules_now(ctx, args, false, err);
    buf_auto_t comment = BUF_INIT;
    int rc = 0;

    if (now == NULL)
        return err->code;
    json_auto_t *there = kmod_those(mods, now, true);
    if (json_array_size(there) == 0)
        say_of(&comment, mods, "Kernel module %s is already removed",
               "Kernel modules %s are already removed");
    else if (ctx_test(ctx))
        foretell_each(&removes, there, ret, &comment);
    else
        rc = change_each(ctx, args, &removes, there, ret, &comment, err);
    end_comment(ret, &comment);
    return rc;
}

static const char *
state_kmod_unavailable(call_ctx_t *ctx)
{
    return ctx_has(ctx, "kmod.available") ? NULL : "kmod module could not be loaded";
}

#define NAME_ROW    ARG("name", ARG_STR, ARG_REQUIRED, "The module")
#define PERSIST_ROW ARG("persist", ARG_BOOL, "false", "In the file for the next start too")
#define MODS_ROW    ARG("mods", ARG_ANY, "null", "A list of modules, instead of the name")

static const arg_t present_args[] = { NAME_ROW, PERSIST_ROW, MODS_ROW, ARGS_END };
static const arg_t absent_args[] = {
    NAME_ROW, PERSIST_ROW, ARG("comment", ARG_BOOL, "true", "Comment the line out instead of removing it"),
    MODS_ROW, ARGS_END
};

static const func_t funcs[] = {
    { "absent", kmod_absent, absent_args, 0, "Ensure that a kernel module is not loaded." },
    { "present", kmod_present, present_args, 0, "Ensure that a kernel module is loaded." },
};

PLUGIN(state, kmod, .doc = "Kernel modules", FUNCS(funcs), .unavailable = state_kmod_unavailable);
