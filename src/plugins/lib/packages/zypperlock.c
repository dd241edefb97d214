/* zypperlock.c - holds: locks of zypper, which stand in /etc/zypp/locks as blocks of "key: value" lines. */
#include <fnmatch.h>
#include <strings.h>

#include "common/base/buf.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/host/rootfs.h"
#include "common/match/regex.h"
#include "plugins/lib/packages/xmltags.h"
#include "plugins/lib/packages/zypper.h"

#define LOCKS "/etc/zypp/locks"

/* {name: {"type", "match_type", "case_sensitive", "version", ...}}. NEW, or NULL with *err. */
static json_t *
locks_now(const char *root, fail_t *err)
{
    json_auto_t *ret = json_object(), *lock = json_object();
    AUTO_FREE char *text = NULL;

    if (root_text(root, LOCKS, &text, err) < 0)
        return NULL;
    for (char *at = text, *line; at != NULL;) {
        line = strsep(&at, "\n");
        char *value = line_value(line, ':');
        if (value != NULL)
            json_object_set_new(lock, line, value_utf8(value, strlen(value)));
        if (*line != '\0' && at != NULL)
            continue;
        AUTO_FREE char *name = xstrdup(value_str(lock, "solvable_name", ""));
        json_object_del(lock, "solvable_name");
        if (*name != '\0')
            json_object_set(ret, name, lock);
        json_decref(lock);
        lock = json_object();
    }
    return STEAL(ret);
}

/* The file's blocks as they are. */
int
zypper_list_locks(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = locks_now(zypper_root(args), err);
    return *ret_value != NULL ? 0 : err->code;
}

/* Locks that lock nothing go; zypper says how many in a sentence. */
int
zypper_clean_locks(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *root = zypper_root(args);
    AUTO_FREE char *path = root_path(root, LOCKS);
    json_t *removed = json_integer(0), *tag;
    size_t i;
    int there = fs_look(path, err);

    json_auto_t *tags = there > 0 ? zypper_elements(ctx, 0, root, err, "cl", NULL) : json_array();
    json_auto_t *messages = xmltags_named(tags, "message");
    json_array_foreach (messages, i, tag) {
        const char *text = value_str(tag, "text", "");
        if (strncasecmp(text, "removed ", strlen("removed ")) != 0)
            continue;
        const char *number = text + strlen("removed ");
        json_decref(removed);
        removed = json_stringn(number, strcspn(number, " "));
        break;
    }
    if (there < 0 || tags == NULL) {
        json_decref(removed);
        return err->code;
    }
    *ret_value = json_pack("{s:o}", "removed", removed);
    return 0;
}

/* ---- holds ------------------------------------------------------------------------------------ */

/* A package's entry of the return; without `was` nothing changes. TAKES the comment. */
static json_t *
zypperlock_answer(const char *name, bool result, const char *was, const char *now, json_t *comment)
{
    json_t *changes = was != NULL ? json_pack("{s:s, s:s}", "new", now, "old", was) : json_object();

    return json_pack("{s:s, s:o, s:b, s:o}", "name", name, "changes", changes, "result", result, "comment",
                     comment);
}

/* zypper removes a lock only by the words that it was added with, version and all. */
static json_t *
zypperlock_unhold(const char *name, const char *version, const json_t *lock, json_t *words)
{
    const char *held = value_str(lock, "version", NULL);

    if (lock == NULL)
        return zypperlock_answer(name, true, NULL, NULL, value_fmt("Package %s was already unheld.", name));
    held = held != NULL ? held + strspn(held, "= ") : NULL;
    if (version != NULL && !str_eq(held, version))
        return zypperlock_answer(
            name, false, NULL, NULL,
            value_fmt("Unable to unhold package %s as it is held with the other version.", name));
    json_array_append_new(words,
                          value_fmt("%s%s%s", name, held != NULL ? "=" : "", held != NULL ? held : ""));
    return zypperlock_answer(name, true, "hold", "", value_fmt("Package %s is no longer held.", name));
}

/* Adds or removes locks by one command for all of them; nothing is done in test mode. */
static int
set_locks(call_ctx_t *ctx, json_t *args, bool hold, json_t **ret_value, fail_t *err)
{
    json_t *pkgs = value_get(args, "pkgs"), *v;
    json_auto_t *one = json_pack("[O?]", value_get(args, "name")), *ret = json_object(),
                *words = json_array();
    prog_auto_t prog = PROG_INIT;
    size_t i;

    if (!value_truthy(value_get(args, "name")) && !value_truthy(pkgs))
        return fail_kind(err, FAIL_COMMAND, -EINVAL, "Name or packages must be specified.");
    json_auto_t *locks = locks_now(zypper_root(args), err);
    if (locks == NULL)
        return err->code;
    json_array_foreach (value_truthy(pkgs) ? pkgs : one, i, v) {
        /* A name, or {name: version}. */
        void *iter = json_object_iter(v);
        bool versioned = iter != NULL && value_truthy(json_object_iter_value(iter));
        AUTO_FREE char *version = versioned ? value_pystr(json_object_iter_value(iter)) : NULL;
        AUTO_FREE char *name = iter != NULL ? xstrdup(json_object_iter_key(iter)) : value_pystr(v);
        json_t *lock = value_get(locks, name);
        if (!hold)
            json_object_set_new(ret, name, zypperlock_unhold(name, version, lock, words));
        else if (lock != NULL)
            json_object_set_new(ret, name,
                                zypperlock_answer(name, true, NULL, NULL,
                                                  value_fmt("Package %s is already set to be held.", name)));
        else {
            json_array_append_new(
                words, value_fmt("%s%s%s", name, version != NULL ? "=" : "", version != NULL ? version : ""));
            json_object_set_new(
                ret, name,
                zypperlock_answer(name, true, "", "hold", value_fmt("Package %s is now being held.", name)));
        }
    }
    if (json_array_size(words) > 0 && !ctx_test(ctx)) {
        if (zypper_begin(ctx, &prog, 0, zypper_root(args), err) < 0)
            return err->code;
        prog_add(&prog, hold ? "al" : "rl");
        if (prog_operands(&prog, "pkgs", words, err) < 0)
            return err->code;
        json_auto_t *out = zypper_run(ctx, &prog, 0, err);
        if (out == NULL)
            return err->code;
    }
    *ret_value = STEAL(ret);
    return 0;
}

int
zypper_hold(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return set_locks(ctx, args, true, ret_value, err);
}

int
zypper_unhold(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return set_locks(ctx, args, false, ret_value, err);
}

/* "NAME-EPOCH:EDITION.*" of what is installed of a locked name. */
static void
add_holds(json_t *ret, const char *name, const json_t *versions, bool full, rx_t *rx)
{
    json_t *parts;
    size_t i;

    json_array_foreach (versions, i, parts) {
        const char *epoch = value_str(parts, "epoch", ""), *release = value_str(parts, "release", "");
        AUTO_FREE char *text = full ? xasprintf("%s-%s:%s%s%s-%s.*", name, *epoch != '\0' ? epoch : "0",
                                                epoch, *epoch != '\0' ? ":" : "",
                                                value_str(parts, "version", ""), release)
                                    : xstrdup(name);
        if (!value_lists(ret, text) && (rx == NULL || rx_match(rx, text, strlen(text), 0, NULL) > 0))
            json_array_append_new(ret, json_string(text));
    }
}

/* A lock may be a glob and is compared with what is installed; locks of patterns and the like are left
 * out. */
int
zypper_list_holds(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *pattern = value_str(args, "pattern", ""), *name, *locked;
    AUTO_FREE char *expression = xasprintf("%s-\\S+", pattern);
    AUTO(rx) rx = *pattern != '\0' ? rx_new(expression, 0, err) : NULL;
    json_auto_t *kwargs = json_pack("{s:s?}", "root", zypper_root(args)),
                *locks = locks_now(zypper_root(args), err);
    const json_t *known = locks != NULL ? rpm_packages(ctx, kwargs, false, err) : NULL;
    json_t *lock, *versions;

    if (known == NULL || (*pattern != '\0' && rx == NULL))
        return err->code;
    *ret_value = json_array();
    json_object_foreach (locks, locked, lock) {
        int flags = str_eq(value_str(lock, "case_sensitive", "on"), "on") ? 0 : FNM_CASEFOLD;
        if (!str_eq(value_str(lock, "type", "package"), "package"))
            continue;
        json_object_foreach ((json_t *) known, name, versions)
            if (fnmatch(locked, name, flags) == 0)
                add_holds(*ret_value, name, versions, value_truthy(value_get(args, "full")), rx);
    }
    return 0;
}
