/* fstate.c - what the states of `file` share: the frame of a call, arguments, owners, lists of texts,
 * accumulated text. A state function reports failures in its return (fstate_error) and uses *err for errors
 * of the call only. */
#include "plugins/lib/file/fstate.h"

#include <unistd.h>

#include "common/base/fs.h"
#include "common/host/passwd.h"
#include "common/base/str.h"
#include "common/base/utf8.h"
#include "plugins/lib/file/fileops.h"
#include "plugins/lib/file/tree.h"
#include "salt/log.h"

/* ---- a call ---------------------------------------------------------------------------------- */

/* Runs `body` with an expanded name and an empty return. A name that is empty or can't be looked at fails the
 * state before `body` runs. On an error of `body` the return is dropped. */
int
fstate_run(call_ctx_t *ctx, json_t *args, const char *nameless, fstate_fn *body, json_t **ret_value,
           fail_t *err)
{
    json_auto_t *copy = json_copy(args);
    AUTO_FREE char *shown = value_pystr(value_get(args, "name"));
    fstate_t s = { ctx, copy, fop_expanduser(shown), NULL, ctx_test(ctx) };
    int rc = 0;

    s.ret = state_ret(s.name);
    if (*s.name == '\0')
        fstate_error(&s, "%s", nameless);
    else if (fstate_lexists(&s, s.name) >= 0)
        rc = body(&s, err);
    free(s.name);
    if (rc == 0)
        *ret_value = s.ret;
    else
        json_decref(s.ret);
    return rc;
}

json_t *
fstate_arg(const fstate_t *s, const char *key)
{
    json_t *v = value_get(s->args, key);

    return json_is_null(v) ? NULL : v;
}

bool
fstate_on(const fstate_t *s, const char *key, bool dflt)
{
    json_t *v = value_get(s->args, key);

    return v == NULL ? dflt : value_truthy(v);
}

const char *
fstate_str(const fstate_t *s, const char *key)
{
    return json_string_value(value_get(s->args, key));
}

int
fstate_error(fstate_t *s, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    AUTO_FREE char *text = xvasprintf(fmt, ap);
    va_end(ap);
    return state_ret_set(s->ret, STATE_FALSE, "%s", text);
}

void
fstate_note(fstate_t *s, const char *key, const char *text)
{
    state_change(s->ret, key, value_utf8(text, strlen(text)));
}

json_t *
fstate_call(fstate_t *s, func_fn *fn, json_t *args, fail_t *err)
{
    json_auto_t *own = args;
    json_t *ret = NULL;

    return fn(s->ctx, own, &ret, err) == 0 ? ret : NULL;
}

/* ---- owners ---------------------------------------------------------------------------------- */

/* `user`, or Salt's tolerated misspelling `owner` with a warning. BORROWED. */
json_t *
fstate_user(const fstate_t *s)
{
    json_t *user = fstate_arg(s, "user"), *owner = value_get(value_get(s->args, "kwargs"), "owner");

    if (value_truthy(user) || owner == NULL || json_is_null(owner))
        return user;
    log_warning("Use of argument owner found, \"owner\" is invalid, please use \"user\"");
    return owner;
}

/* Salt's text about unknown users and groups, NEW, or NULL. In test mode an earlier state may be going to
 * create them, so they are logged only. */
char *
fstate_check_user(const fstate_t *s, const json_t *user, const json_t *group)
{
    buf_auto_t text = BUF_INIT;
    AUTO_FREE char *user_text = value_pystr(user), *group_text = value_pystr(group);
    uid_t uid;
    gid_t gid;

    if (value_truthy(user) && !fop_uid_of(user, &uid))
        buf_printf(&text, "User %s is not available ", user_text);
    if (value_truthy(group) && !fop_gid_of(group, &gid))
        buf_printf(&text, "Group %s is not available", group_text);
    if (text.len > 0 && s->test)
        log_warning("%s", buf_str(&text));
    return text.len > 0 && !s->test ? buf_steal(&text) : NULL;
}

/* The owner that Salt assumes: the minion's user and that user's group. Both NEW. */
void
fstate_default_owner(const fstate_t *s, json_t **ret_user, json_t **ret_group)
{
    json_t *user = fstate_user(s), *group = fstate_arg(s, "group");
    const char *own = value_str(ctx_opts(s->ctx), "user", NULL);

    if (user != NULL)
        *ret_user = json_incref(user);
    else
        *ret_user = !str_empty(own) ? json_string(own) : fop_user_name(geteuid());
    if (group != NULL) {
        *ret_group = json_incref(group);
        return;
    }
    AUTO_FREE char *name = value_pystr(*ret_user);
    passwd_space_auto_t space = { 0 };
    const struct passwd *pw = passwd_user(&space, name);
    *ret_group = fop_group_name(pw != NULL ? pw->pw_gid : 0);
}

/* ---- files ----------------------------------------------------------------------------------- */

/* Turns a failed look into a failed state: -1 means that s->ret holds the reason. */
static int
fstate_told(fstate_t *s, int there, const fail_t *why)
{
    if (there >= 0)
        return there;
    (void) fstate_error(s, "%s", fail_text(why));
    return -1;
}

int
fstate_exists(fstate_t *s, const char *path)
{
    fail_auto_t why = FAIL_INIT;
    int there = fop_exists(path, &why);

    return fstate_told(s, there, &why);
}

int
fstate_is_dir(fstate_t *s, const char *path)
{
    fail_auto_t why = FAIL_INIT;
    int is = fop_exists_as(path, S_IFDIR, &why);

    return fstate_told(s, is, &why);
}

int
fstate_is_file(fstate_t *s, const char *path)
{
    fail_auto_t why = FAIL_INIT;
    int is = fop_exists_as(path, S_IFREG, &why);

    return fstate_told(s, is, &why);
}

int
fstate_is_link(fstate_t *s, const char *path)
{
    fail_auto_t why = FAIL_INIT;
    int is = fop_lexists_as(path, S_IFLNK, &why);

    return fstate_told(s, is, &why);
}

int
fstate_lexists(fstate_t *s, const char *path)
{
    fail_auto_t why = FAIL_INIT;
    int there = fop_lexists(path, &why);

    return fstate_told(s, there, &why);
}

char *
fstate_check_file(const fstate_t *s)
{
    if (*s->name != '/')
        return xasprintf("Specified file %s is not an absolute path", s->name);
    fail_auto_t why = FAIL_INIT;
    int there = fop_exists(s->name, &why);

    if (there < 0)
        return xstrdup(fail_text(&why));
    return there > 0 ? NULL : xasprintf("%s: file not found", s->name);
}

int
fstate_makedirs(fstate_t *s, json_t *user, json_t *group, const char *mode, fail_t *err)
{
    json_auto_t *said = fstate_call(
        s, file_makedirs,
        json_pack("{s:s, s:O?, s:O?, s:s?}", "path", s->name, "user", user, "group", group, "mode", mode),
        err);

    return said == NULL ? -EIO : 0;
}

json_t *
fstate_texts(const json_t *v)
{
    json_t *list = json_array();
    size_t i;
    json_t *item;

    if (!json_is_array(v)) {
        AUTO_FREE char *text = json_is_string(v) ? NULL : value_pystr(v);
        json_array_append_new(list, text == NULL ? json_deep_copy(v) : value_utf8(text, strlen(text)));
        return list;
    }
    json_array_foreach (v, i, item) {
        AUTO_FREE char *text = json_is_string(item) ? NULL : value_pystr(item);
        json_array_append_new(list, text == NULL ? json_incref(item) : value_utf8(text, strlen(text)));
    }
    return list;
}

/* Length of the line break at `p`, 0 for none: what Python's str.splitlines() splits at. */
static size_t
fstate_line_break(const char *p, size_t left)
{
    static const char *const wide[] = { "\xC2\x85", "\xE2\x80\xA8", "\xE2\x80\xA9" };

    if (*p == '\r')
        return left > 1 && p[1] == '\n' ? 2 : 1;
    if (*p == '\n' || *p == '\v' || *p == '\f' || (*p >= 0x1C && *p <= 0x1E))
        return 1;
    for (size_t i = 0; (unsigned char) *p >= 0x80 && i < NELEMS(wide); i++) {
        size_t n = strlen(wide[i]);
        if (left >= n && memcmp(p, wide[i], n) == 0)
            return n;
    }
    return 0;
}

/* Length of the line at `p`; *ret_break: of the line break behind it. */
static size_t
line_length(const char *p, size_t left, size_t *ret_break)
{
    size_t n = 0;

    *ret_break = 0;
    while (n < left && (*ret_break = fstate_line_break(p + n, left - n)) == 0)
        n++;
    return n;
}

/* As Python's str.splitlines(): also splits at vertical tab, form feed, NEL and the Unicode separators. */
json_t *
fstate_splitlines(const char *text, size_t len)
{
    json_t *lines = json_array();

    for (size_t at = 0, n, end; at < len; at += n + end) {
        n = line_length(text + at, len - at, &end);
        json_array_append_new(lines, value_utf8(text + at, n));
    }
    return lines;
}

void
fstate_end_lines(const char *text, size_t len, buf_t *out)
{
    for (size_t at = 0, n, end; at < len; at += n + end) {
        n = line_length(text + at, len - at, &end);
        buf_add(out, text + at, strnlen(text + at, n));
        buf_putc(out, '\n');
    }
}

json_t *
fstate_sorted(const json_t *list, bool backwards)
{
    size_t n = json_array_size(list);
    const char **texts = xcalloc(n + 1, sizeof(*texts));
    json_t *out = json_array();

    for (size_t i = 0; i < n; i++)
        texts[i] = json_string_value(json_array_get(list, i));
    qsort(texts, n, sizeof(*texts), str_by_text);
    for (size_t i = 0; i < n; i++)
        json_array_append_new(out, json_string(texts[backwards ? n - 1 - i : i]));
    free(texts);
    return out;
}

/* ---- accumulated text -------------------------------------------------------------------------- */

/* Key of the run's shared list: states that run in processes of their own add to it as well. */
static char *
shared_key(call_ctx_t *ctx)
{
    return xasprintf("file.accumulated:%s", ctx_run_id(ctx));
}

static json_t *
fstate_member(json_t *object, const char *key, json_t *fresh)
{
    json_t *have = json_object_get(object, key);

    if (have == NULL)
        json_object_set(object, key, have = fresh);
    json_decref(fresh);
    return have;
}

bool
fstate_has(const json_t *list, const json_t *v)
{
    size_t i;
    json_t *one;

    json_array_foreach (list, i, one) {
        if (value_equal(one, v))
            return true;
    }
    return false;
}

/* Sums up the items that were added since the last call; the counter "n" keeps the sum linear in the number
 * of items. BORROWED from the run's context. */
json_t *
fstate_accumulators(call_ctx_t *ctx)
{
    AUTO_FREE char *key = shared_key(ctx), *own = xasprintf("%s:sum", key);
    json_t *items = json_object_get(ctx_context(ctx), key), *all = json_object_get(ctx_context(ctx), own);

    if (all == NULL) {
        all = json_pack("{s:{}, s:{}, s:i}", "data", "deps", "n", 0);
        json_object_set_new(ctx_context(ctx), own, all);
    }
    size_t n = (size_t) value_int(all, "n", 0);
    for (; n < json_array_size(items); n++) {
        /* Merges one accumulated item into the sums: texts once each, requisites all. */
        const json_t *item = json_array_get(items, n);
        const char *file = value_str(item, "file", ""), *name = value_str(item, "name", "");
        json_t *texts = fstate_member(fstate_member(value_get(all, "data"), file, json_object()), name,
                                      json_array());
        json_t *deps = fstate_member(fstate_member(value_get(all, "deps"), file, json_object()), name,
                                     json_array()),
               *one;
        size_t i;
        json_array_extend(deps, value_get(item, "ids"));
        json_array_foreach (value_get(item, "texts"), i, one) {
            if (!fstate_has(texts, one))
                json_array_append(texts, one);
        }
    }
    json_object_set_new(all, "n", json_integer((json_int_t) n));
    return all;
}

int
fstate_accumulate(call_ctx_t *ctx, json_t *item, fail_t *err)
{
    AUTO_FREE char *key = shared_key(ctx);

    return ctx_share(ctx, key, item, err);
}
